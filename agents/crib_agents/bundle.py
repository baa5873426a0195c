"""A trained player as a folder, and the bot that plays it: onnxruntime, never torch.

::

    model.onnx       observation float32 [B, D], action_mask int8 [B, 52]
                     -> logits float32 [B, 52] (masked), value float32 [B]
    spec.json        version, card order, observation pieces, crib tables, rules, tie-break
    vectors.jsonl    cases from view to observation to mask to card, for ports to other languages
    MODEL_CARD.md    how it was trained, and how it plays

``crib export`` makes the folder; a path to it is a player everywhere a name is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import BatchBot, BotError, encode
from crib_agents.uniform import check_seed, position_hash
from crib_env._jit import njit
from crib_env.cards import CARDS
from crib_env.errors import CribbageError
from crib_env.expectation import CRIB_MEANS
from crib_env.observation import layout, observation_size, offsets, recall
from crib_env.rules import SIX_CARD, Rules, get_rules
from crib_env.state import STATE_SIZE
from crib_env.view import SeatView

FORMAT = "cribbage-bundle"
VERSION = 1
"""Version of the folder's form; a bundle of another is refused."""
MODEL, SPEC, VECTORS, MODEL_CARD = "model.onnx", "spec.json", "vectors.jsonl", "MODEL_CARD.md"

_TIE_BREAK = "lowest index"
_MOST_HEAT = 100.0
_LONGEST_NAME = 64
_SAME = 1e-6
"""Numbers of an observation may differ by rounding between machines."""


class PieceSpec(msgspec.Struct, frozen=True):
    """A named part of the observation, as in `crib_env.observation.Piece`."""

    name: str
    offset: int
    length: int
    low: float
    high: float
    meaning: str


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """What a port to another language must know, and what this library checks.

    Attributes:
        format, version: `FORMAT` and `VERSION`.
        name: what to call the player.
        rules: the game that it plays, every field of `Rules`.
        cards: the 52 cards in the order of masks, logits and observation pieces.
        observation_size: numbers in an observation.
        observation: its pieces, in order.
        crib_means: mean points of the crib by the ranks thrown, ace to king, ``[13][13]``:
            of one's ``own`` crib and of the ``opponent``'s. The piece ``points`` adds the
            one and subtracts the other.
        tie_break: which of the cards with the highest logit is laid.
        logit_of_masked: logit of a card that may not be laid.
        value: what the output ``value`` says.
        opset: of the model.
        sha256: of the model's file.
    """

    format: str
    version: int
    name: str
    rules: dict[str, Any]
    cards: list[str]
    observation_size: int
    observation: list[PieceSpec]
    crib_means: dict[str, list[list[float]]]
    tie_break: str
    logit_of_masked: float
    value: str
    opset: int
    sha256: str


def describe(
    name: str, rules: Rules, logit_of_masked: float, value: str, opset: int, model: bytes
) -> Spec:
    """The spec of a player of this version of the library."""
    opponent, own = CRIB_MEANS
    return Spec(
        format=FORMAT,
        version=VERSION,
        name=name,
        rules=asdict(rules),
        cards=[str(card) for card in CARDS],
        observation_size=observation_size(rules),
        observation=_pieces(rules),
        crib_means={"own": own.tolist(), "opponent": opponent.tolist()},
        tie_break=_TIE_BREAK,
        logit_of_masked=logit_of_masked,
        value=value,
        opset=opset,
        sha256=hashlib.sha256(model).hexdigest(),
    )


def _pieces(rules: Rules) -> list[PieceSpec]:
    return [PieceSpec(**asdict(piece)) for piece in layout(rules)]


@njit
def _position_words(
    observations: np.ndarray, r: np.ndarray, at: np.ndarray, seed: int, out: np.ndarray
) -> None:
    s = np.zeros(STATE_SIZE, np.int64)
    for b in range(observations.shape[0]):
        recall(observations[b], r, at, s)
        out[b] = position_hash(s, seed)


class BundleBot(BatchBot):
    """A trained player. Made by `load_bundle`.

    With a temperature above 0 it draws its card by the softmax of ``logits /
    temperature``, by a chance that follows from the seed and the position alone.

    Args:
        session: an onnxruntime session of the model.
        spec: the bundle's.
        path: the bundle's folder.
        rules: the game that it plays.
        seed: of its chance.
        temperature: 0 for the best card always.
    """

    def __init__(
        self,
        session: Any,
        spec: Spec,
        path: Path,
        rules: Rules = SIX_CARD,
        seed: int = 0,
        temperature: float = 0.0,
    ) -> None:
        self.name = spec.name
        self.spec = spec
        self.path = path
        self.rules = rules
        self.seed = check_seed(seed)
        self.temperature = _check_temperature(temperature)
        self._session = session

    def __reduce__(self) -> tuple[Any, ...]:
        # A session does not travel to another process; the folder is there as well.
        return _reload, (self.path, self.rules, self.seed, self.temperature)

    def judge(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """What the network says of decisions.

        Args:
            observations: float32 ``[B, D]``.
            masks: int8 ``[B, 52]``.

        Returns:
            Logits float32 ``[B, 52]``, and values float32 ``[B]``, see `Spec.value`.
        """
        inputs = {
            "observation": np.ascontiguousarray(observations, np.float32),
            "action_mask": np.ascontiguousarray(masks, np.int8),
        }
        logits, values = self._session.run(["logits", "value"], inputs)
        return logits, values

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """One card for each of many decisions, see `Bot.actions`."""
        logits, _ = self.judge(observations, masks)
        if self.temperature == 0:
            return logits.argmax(1)
        return self._draw(np.ascontiguousarray(observations, np.float32), logits, masks)

    def _draw(
        self,
        observations: NDArray[np.float32],
        logits: NDArray[np.float32],
        masks: NDArray[np.int8],
    ) -> NDArray[np.int64]:
        words = np.zeros(len(observations), np.int64)
        _position_words(observations, self.rules.to_array(), offsets(self.rules), self.seed, words)
        chance = (words >> 11 & ((1 << 53) - 1)) / float(1 << 53)
        with np.errstate(over="ignore"):  # nearly cold, what is not the best has no chance
            heated = (logits.astype(np.float64) - logits.max(1, keepdims=True)) / self.temperature
        odds = np.where(masks != 0, np.exp(heated), 0.0).cumsum(1)
        return (odds > (chance * odds[:, -1])[:, None]).argmax(1)

    def options(self) -> dict[str, Any]:
        """Temperature and seed."""
        return {"temperature": self.temperature, "seed": self.seed}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Change temperature or seed."""
        changes = dict(options)
        seed = check_seed(changes.pop("seed", self.seed))
        temperature = _check_temperature(changes.pop("temperature", self.temperature))
        for name in changes:
            raise BotError(f"{self.name} has no option {name!r}: it has temperature and seed")
        self.seed, self.temperature = seed, temperature


def _check_temperature(value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= _MOST_HEAT:
        raise BotError(f"a temperature goes from 0 to {_MOST_HEAT:g}, not {value!r}")
    return float(value)


def _reload(path: Path, rules: Rules, seed: int, temperature: float) -> BundleBot:
    return load_bundle(path, rules, seed, temperature)


def load_bundle(
    path: str | Path, rules: Rules = SIX_CARD, seed: int = 0, temperature: float = 0.0
) -> BundleBot:
    """The player in a bundle's folder.

    Args:
        path: the folder.
        rules: the game that it is to play.
        seed, temperature: see `BundleBot`.

    Raises:
        BotError: when a file is missing or damaged, the bundle is of another version, or it
            was trained on other observations or for another game.
    """
    folder = Path(path)
    spec = read_spec(folder)
    _check_fits(spec, folder, rules)
    model = _read(folder, MODEL)
    if hashlib.sha256(model).hexdigest() != spec.sha256:
        raise BotError(f"bundle {folder}: {MODEL} is damaged: its checksum is not that of {SPEC}")
    return BundleBot(_session(model, spec, folder), spec, folder, rules, seed, temperature)


HARD = Path(__file__).parent / "weights" / "hard"
"""The bundle that comes with the library."""


def make_hard(rules: Rules = SIX_CARD, seed: int = 0, temperature: float = 0.0) -> BundleBot:
    """Hard, see `load_bundle`."""
    return load_bundle(HARD, rules, seed, temperature)


def _read(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except FileNotFoundError:
        raise BotError(f"{folder} is no bundle: it lacks {name}") from None
    except OSError as error:
        raise BotError(f"bundle {folder}: cannot read {name}: {error.strerror}") from None


def is_name(name: str) -> bool:
    """Whether a bundle may be called so: 1 to 64 printable characters."""
    return name.isprintable() and 0 < len(name) <= _LONGEST_NAME


class _Heading(msgspec.Struct, frozen=True):
    format: str
    version: int


def read_spec(folder: Path) -> Spec:
    """A bundle's spec.

    Raises:
        BotError: when it is missing, damaged, or of another version.
    """
    data = _read(folder, SPEC)
    try:
        heading = msgspec.json.decode(data, type=_Heading)
        if heading.format != FORMAT:
            raise BotError(f"{folder} is no bundle: its {SPEC} is of {heading.format!r}")
        if heading.version != VERSION:
            raise BotError(
                f"bundle {folder} is of version {heading.version}; this library reads {VERSION}"
            )
        spec = msgspec.json.decode(data, type=Spec)
        if not is_name(spec.name):
            raise BotError(f"bundle {folder}: {SPEC} is damaged: its name is {spec.name!r:.80}")
        return spec
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BotError(f"bundle {folder}: {SPEC} is damaged: {error}") from None


def _check_fits(spec: Spec, folder: Path, rules: Rules) -> None:
    """Refuse a bundle whose observations or game are not ours."""
    try:
        trained = get_rules(spec.rules)
    except CribbageError as error:
        raise BotError(f"bundle {folder}: {error}") from None
    differ = trained.differences_in_play(rules)
    if differ:
        raise BotError(f"bundle {folder} plays another game: its {', '.join(differ)} differ")
    if spec.cards != [str(card) for card in CARDS]:
        raise BotError(f"bundle {folder} has its cards in another order")
    if spec.tie_break != _TIE_BREAK:
        raise BotError(
            f"bundle {folder} lays of equal cards the one with the {spec.tie_break!r:.40}, here it "
            f"is the {_TIE_BREAK!r}"
        )
    ours = _pieces(rules)
    for index, piece in enumerate(ours):
        theirs = spec.observation[index] if index < len(spec.observation) else None
        if theirs != piece:
            raise BotError(
                f"bundle {folder} reads other observations: piece {piece.name!r} is not as here"
            )
    if spec.observation_size != observation_size(rules) or len(spec.observation) != len(ours):
        raise BotError(
            f"bundle {folder} reads observations of {spec.observation_size} numbers, "
            f"here they have {observation_size(rules)}"
        )
    tables = [spec.crib_means.get("opponent"), spec.crib_means.get("own")]
    if tables != CRIB_MEANS.tolist():
        raise BotError(f"bundle {folder} was trained with other tables of mean cribs")


def _session(model: bytes, spec: Spec, folder: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no base class of their own
        what = " ".join(str(error).split())[:160]
        raise BotError(f"bundle {folder}: {MODEL} cannot be loaded: {what}") from None
    inputs = {entry.name: (entry.type, entry.shape[1:]) for entry in session.get_inputs()}
    outputs = {entry.name for entry in session.get_outputs()}
    wanted = {
        "observation": ("tensor(float)", [spec.observation_size]),
        "action_mask": ("tensor(int8)", [len(CARDS)]),
    }
    if inputs != wanted or not {"logits", "value"} <= outputs:
        raise BotError(f"bundle {folder}: {MODEL} has other inputs or outputs than {SPEC} says")
    return session


class Case(msgspec.Struct, frozen=True):
    """One line of `VECTORS`.

    Attributes:
        view: what a seat sees, as on the wire.
        observation: that, as the network reads it.
        action_mask: 52 times 0 or 1.
        action: the card's index.
        card: the card.
    """

    view: dict[str, Any]
    observation: list[float]
    action_mask: list[int]
    action: int
    card: str


def make_case(bot: BatchBot, view: SeatView) -> Case:
    """The case of a decision that a view asks for."""
    observation, mask = encode(view)
    action = int(bot.actions(observation[None], mask[None])[0])
    numbers = [_shortest(number) for number in observation]
    return Case(view.to_json(), numbers, mask.tolist(), action, str(CARDS[action]))


def _shortest(number: np.float32) -> float:
    """The shortest number that reads back as the same float32."""
    return int(number) if number == int(number) else float(str(number))


def check_vectors(bot: BundleBot) -> int:
    """Go through the bundle's cases as a port to another language would.

    Returns:
        How many there are.

    Raises:
        BotError: for the first one that comes out otherwise.
    """
    lines = _read(bot.path, VECTORS).splitlines()
    for number, line in enumerate(lines, 1):
        try:
            case = msgspec.json.decode(line, type=Case)
            view = SeatView.from_json(case.view)
        except (msgspec.MsgspecError, UnicodeDecodeError, CribbageError) as error:
            raise BotError(f"{bot.path / VECTORS}, line {number}: {error}") from None
        if not _same(make_case(bot, view), case):
            raise BotError(f"{bot.path / VECTORS}, line {number}: the case comes out otherwise")
    return len(lines)


def _same(ours: Case, theirs: Case) -> bool:
    plain = (ours.action_mask, ours.action, ours.card)
    return (
        plain == (theirs.action_mask, theirs.action, theirs.card)
        and len(ours.observation) == len(theirs.observation)
        and np.allclose(ours.observation, theirs.observation, rtol=0, atol=_SAME)
    )

"""One heuristic, two settings: Medium is a sound club player, Easy one held back.

Discards: the mean show of each keep over every starter not seen, plus the mean
crib where it is ours, less it where it is not. The play: points now, less the
points that the next seat can be expected to make in reply if its cards are any
of those not seen, with a club player's caution about fives and twenty-ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crib_agents.bot import BatchBot, BotError, same_play
from crib_agents.uniform import check_seed, mask_to_set, pick, position_hash
from crib_env import engine
from crib_env import rules as R
from crib_env import state as S
from crib_env._jit import lean_njit, njit
from crib_env.bits import lowest, pip, popcount, rank_count
from crib_env.cards import FULL_DECK, N_CARDS
from crib_env.episodes import PlayOn
from crib_env.expectation import CRIB_MEANS, discard_values
from crib_env.observation import offsets, recall, seen_by
from crib_env.randomness import mix
from crib_env.rules import SIX_CARD, Rules
from crib_env.scoring import count_runs, play_parts, rank_points, suit_points

_DISCARD = int(S.Phase.DISCARD)
_MOST_POINTS = 32
"""No single card pegs as much."""


@dataclass(frozen=True)
class Settings:
    """How well the heuristic plays. All numbers are points unless said otherwise.

    Attributes:
        crib: how much of the crib's mean value it sees, 0 to 1.
        starters: whether it averages a keep over the starters to come, or counts
            just the four cards.
        runs: whether it sees runs, in the hand and in the play.
        reply: how much it minds a point expected for the reply.
        go: what it thinks the chance of an opponent's go is worth.
        five_count: how much it minds leaving a count of 5 or 21, where any ten scores.
        five_lead: how much it minds leading a five.
        keep_low: how much it likes to lay a high card first, per pip.
        errs: how often it lays any card instead, a probability.
    """

    crib: float = 1.0
    starters: bool = True
    runs: bool = True
    reply: float = 0.9
    go: float = 0.5
    five_count: float = 0.2
    five_lead: float = 0.5
    keep_low: float = 0.0
    errs: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "bool":
                if not isinstance(value, bool):
                    raise BotError(f"{field.name} is true or false, not {value!r}")
            elif isinstance(value, bool) or not isinstance(value, int | float):
                raise BotError(f"{field.name} is a number, not {value!r}")
            elif not 0 <= value <= (1 if field.name in ("crib", "errs") else 100):
                raise BotError(f"{field.name} is out of range: {value!r}")

    def to_array(self) -> NDArray[np.float64]:
        """The settings as the compiled chooser reads them, float64, in the order above."""
        return np.array([float(value) for value in asdict(self).values()])


_CRIB, _STARTERS, _RUNS, _REPLY, _GO, _FIVE_COUNT, _FIVE_LEAD, _KEEP_LOW, _ERRS = range(9)

MEDIUM = Settings()
EASY = Settings(
    crib=0.0,
    starters=False,
    runs=False,
    reply=0.0,
    go=0.0,
    five_count=0.0,
    five_lead=0.0,
    keep_low=0.0,
    errs=0.12,
)


@lean_njit
def _seen_points(hand: int, p: np.ndarray, r: np.ndarray) -> float:
    """What the cards kept show by themselves, to eyes that may miss runs."""
    points = rank_points(hand) + suit_points(hand, lowest(hand), False, r)
    if p[_RUNS] == 0.0:
        points -= count_runs(hand)
    return float(points)


@lean_njit
def _glance_values(s: np.ndarray, r: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
    """As `discard_values`, for a player who thinks neither of the starter nor of the crib."""
    out[:] = -1.0
    hand = s[S.HAND]
    left = r[R.THROWN] - popcount(s[S.THROWN_CARDS])
    firsts = hand
    while firsts:
        first = lowest(firsts)
        firsts &= firsts - 1
        if left == 1:
            out[first] = _seen_points(hand ^ (1 << first), p, r)
            continue
        seconds = firsts
        while seconds:
            second = lowest(seconds)
            seconds &= seconds - 1
            value = _seen_points(hand ^ (1 << first) ^ (1 << second), p, r)
            out[first] = max(out[first], value)
            out[second] = max(out[second], value)


@njit
def _choose_discard(
    s: np.ndarray, r: np.ndarray, cards: int, p: np.ndarray, crib_means: np.ndarray
) -> int:
    values = np.empty(N_CARDS, np.float64)
    if p[_STARTERS] != 0.0:
        discard_values(s, r, 0, crib_means, values)
    else:
        _glance_values(s, r, p, values)
    best = lowest(cards)
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if values[card] > values[best] + 1e-9:
            best = card
    return best


@lean_njit
def unseen_cards(s: np.ndarray) -> int:
    """The cards that the seat at place 0 has not seen, as a set."""
    seen = s[S.HAND] | s[S.THROWN_CARDS]
    if s[S.STARTER] >= 0:
        seen |= 1 << s[S.STARTER]
    for at in range(s[S.HISTORY_LENGTH]):
        card = engine.history_entry(s, at) & 63
        if card != S.SAID_GO:
            seen |= 1 << card
    return FULL_DECK & ~seen


@lean_njit
def _points_of(series: int, length: int, count: int, p: np.ndarray) -> int:
    fifteen, thirty_one, pairs, run = play_parts(series, length, count)
    if p[_RUNS] == 0.0:
        run = 0
    return fifteen + thirty_one + pairs + run


@lean_njit
def _next_with_cards(s: np.ndarray, r: np.ndarray) -> int:
    """The seat that replies: the next one that holds cards and has not said go; -1 for none."""
    for seat in range(1, r[R.PLAYERS]):
        if s[S.HELD + seat] > 0 and not (s[S.GONE] >> seat) & 1:
            return seat
    return -1


@lean_njit
def _none_held(unseen: int, wanted: int, held: int) -> float:
    """Chance that a hand of ``held`` unseen cards has none of ``wanted`` of them."""
    chance = 1.0
    for taken in range(held):
        chance *= max(unseen - wanted - taken, 0) / (unseen - taken)
    return chance


@njit
def _expected_reply(
    series: int, length: int, count: int, unseen: int, held: int, p: np.ndarray
) -> tuple[float, float]:
    """Mean of the best reply in points, and the chance that no card fits."""
    by_points = np.zeros(_MOST_POINTS, np.int64)
    playable = 0
    for rank in range(13):
        number = rank_count(unseen, rank)
        total = count + pip(4 * rank)
        if number and total <= 31:
            by_points[_points_of(series << 4 | rank, length + 1, total, p)] += number
            playable += number
    size = popcount(unseen)
    held = min(held, size)
    mean = 0.0
    better = 0
    none_better = 1.0
    for points in range(_MOST_POINTS - 1, 0, -1):
        if by_points[points]:
            better += by_points[points]
            none_now = _none_held(size, better, held)
            mean += points * (none_better - none_now)
            none_better = none_now
    return mean, _none_held(size, playable, held)


@lean_njit
def play_value(s: np.ndarray, r: np.ndarray, card: int, unseen: int, p: np.ndarray) -> float:
    """What laying a card is worth in the heuristic's eyes, in points.

    Args:
        s, r, p: see `choose`.
        card: a legal one.
        unseen: see `unseen_cards`.
    """
    series = s[S.SERIES] << 4 | card >> 2
    length = s[S.SERIES_LENGTH] + 1
    count = s[S.COUNT] + pip(card)
    value = float(_points_of(series, length, count, p)) + p[_KEEP_LOW] * pip(card)
    if length == 1 and card >> 2 == 4:
        value -= p[_FIVE_LEAD]
    replier = _next_with_cards(s, r)
    if count == 31:
        return value
    if replier < 0:
        return value + p[_GO]
    if count in (5, 21):
        value -= p[_FIVE_COUNT]
    reply, no_reply = _expected_reply(series, length, count, unseen, s[S.HELD + replier], p)
    ours = engine.side_of(r, replier) == engine.side_of(r, 0)
    sign = 1.0 if ours else -1.0
    return value + sign * (p[_REPLY] * reply - p[_GO] * no_reply)


@lean_njit
def _choose_play(s: np.ndarray, r: np.ndarray, cards: int, p: np.ndarray) -> int:
    unseen = unseen_cards(s)
    best = -1
    best_value = -1e9
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        value = play_value(s, r, card, unseen, p)
        if value > best_value + 1e-9:
            best = card
            best_value = value
    return best


@lean_njit
def choose(
    s: np.ndarray, r: np.ndarray, cards: int, p: np.ndarray, crib_means: np.ndarray, seed: int
) -> int:
    """The heuristic's card.

    Args:
        s: what the seat at place 0 knows, as `recall` makes it.
        r: the rules.
        cards: set of the legal cards.
        p: settings, see `Settings.to_array`.
        crib_means: float64 ``[2, 13, 13]``, see `crib_env.expectation.CRIB_MEANS`.
        seed: of the errors.
    """
    if p[_ERRS] > 0.0:
        word = position_hash(s, seed)
        if (word & 0xFFFFFF) < p[_ERRS] * 0x1000000:
            return pick(cards, mix(word))
    if s[S.PHASE] == _DISCARD:
        return _choose_discard(s, r, cards, p, crib_means)
    return _choose_play(s, r, cards, p)


@njit
def _heuristic_actions(
    observations: np.ndarray,
    masks: np.ndarray,
    r: np.ndarray,
    at: np.ndarray,
    p: np.ndarray,
    crib_means: np.ndarray,
    seed: int,
    out: np.ndarray,
) -> None:
    s = np.zeros(S.STATE_SIZE, np.int64)
    for b in range(observations.shape[0]):
        recall(observations[b], r, at, s)
        out[b] = choose(s, r, mask_to_set(masks[b]), p, crib_means, seed)


@lean_njit
def _heuristic_play_on(
    states: np.ndarray,
    r: np.ndarray,
    ev: engine.Events,
    known: np.ndarray,
    rows: np.ndarray,
    seat: int,
    one_deal: bool,
    skip_forced: bool,
    p: np.ndarray,
    crib_means: np.ndarray,
    seed: int,
) -> None:
    for k in range(rows.shape[0]):
        s = states[rows[k]]
        while engine.asks_another(s, seat):
            seen_by(s, r, s[S.TO_ACT], known)
            card = choose(known, r, engine.legal(s), p, crib_means, seed)
            engine.apply_on(s, r, card, one_deal, skip_forced, ev)


class HeuristicBot(BatchBot):
    """The heuristic with given settings.

    Args:
        name: what to call it.
        settings: how well it plays.
        rules: the game that it plays.
        seed: of its errors.
        crib_means: float64 ``[2, 13, 13]``, the table of mean cribs.
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        rules: Rules = SIX_CARD,
        seed: int = 0,
        crib_means: NDArray[np.float64] = CRIB_MEANS,
    ) -> None:
        self.name = name
        self.rules = rules
        self.seed = check_seed(seed)
        self.crib_means = crib_means
        self._known = np.zeros(S.STATE_SIZE, np.int64)
        self._use(settings)

    def _use(self, settings: Settings) -> None:
        self.settings = settings
        self._p = settings.to_array()
        self._weighted = self.crib_means * settings.crib

    def actions(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """One card for each of many decisions, see `Bot.actions`."""
        out = np.zeros(len(observations), np.int64)
        rows = np.ascontiguousarray(observations, np.float32)
        legal = np.ascontiguousarray(masks, np.int8)
        _heuristic_actions(
            rows,
            legal,
            self.rules.to_array(),
            offsets(self.rules),
            self._p,
            self._weighted,
            self.seed,
            out,
        )
        return out

    def in_engine(self, rules: Rules) -> PlayOn | None:
        """How it plays without observations, see `crib_env.episodes.Opponent`."""
        return self._play_on if same_play(self.rules, rules) else None

    def _play_on(
        self,
        states: NDArray[np.int64],
        rules_row: NDArray[np.int64],
        rows: NDArray[np.int64],
        seat: int,
        one_deal: bool,
        skip_forced: bool,
    ) -> None:
        _heuristic_play_on(
            states,
            rules_row,
            engine.NO_EVENTS,
            self._known,
            rows,
            seat,
            one_deal,
            skip_forced,
            self._p,
            self._weighted,
            self.seed,
        )

    def options(self) -> dict[str, Any]:
        """The settings, and the seed of the errors."""
        return {**asdict(self.settings), "seed": self.seed}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Change settings by name, see `Settings`."""
        changes = dict(options)
        seed = check_seed(changes.pop("seed", self.seed))
        known = {field.name for field in fields(Settings)}
        for name in changes:
            if name not in known:
                raise BotError(
                    f"{self.name} has no option {name!r}: it has {', '.join(sorted(known))}"
                )
        self._use(replace(self.settings, **changes))
        self.seed = seed


def make_medium(rules: Rules = SIX_CARD, seed: int = 0, **settings: Any) -> HeuristicBot:
    """Medium: the heuristic at its best; single settings may be changed by name."""
    return HeuristicBot("medium", replace(MEDIUM, **settings), rules, seed)


def make_easy(rules: Rules = SIX_CARD, seed: int = 0, **settings: Any) -> HeuristicBot:
    """Easy: the heuristic held back so that a beginner can win."""
    return HeuristicBot("easy", replace(EASY, **settings), rules, seed)

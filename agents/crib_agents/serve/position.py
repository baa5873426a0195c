"""From the wire's view, where much may be missing, to a `SeatView` and what is asked of it.

What is missing gets a neutral value and is named in ``assumed``. What can be
derived is derived by the engine, through `SeatView`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from crib_agents.serve.messages import Code, ViewMessage, WireError
from crib_env import state as S
from crib_env.cards import text
from crib_env.engine import history_entry
from crib_env.errors import (
    CribbageError,
    InvalidCardError,
    InvalidRulesError,
    InvalidViewError,
)
from crib_env.rules import PRESETS, Rules, get_rules
from crib_env.view import SeatView

Play = tuple[int, str]
"""A seat and the card it laid, or ``"go"``, as written on the wire."""


@dataclass(frozen=True)
class Question:
    """What a seat has to decide.

    Attributes:
        view: what it sees.
        asks: ``discard``, ``play``, or ``go`` where no card of its hand fits.
        assumed: names of the fields that were missing, and that it depends on.
    """

    view: SeatView
    asks: Literal["discard", "play", "go"]
    assumed: tuple[str, ...]

    @property
    def to_throw(self) -> int:
        """How many cards are still to be thrown."""
        return self.view.rules.thrown - len(self.view.discards)


def read_question(message: ViewMessage, standard: Rules) -> Question:
    """What a view asks for.

    Args:
        message: the view as it came.
        standard: the rules where it does not name any.

    Raises:
        WireError: when no game can come to this view, or it is not this seat's turn.
    """
    try:
        rules = _rules(message, standard)
        if message.plays is not None and message.series is not None:
            raise InvalidViewError("a view has plays or series, not both")
        assumed = _assumed(message, rules)
        return _first_that_fits(message, rules, assumed)
    except CribbageError as error:
        raise WireError(_code(error), str(error)) from None


def _code(error: CribbageError) -> str:
    if isinstance(error, InvalidCardError):
        return Code.INVALID_CARD
    return Code.INVALID_RULES if isinstance(error, InvalidRulesError) else Code.INVALID_VIEW


def _rules(message: ViewMessage, standard: Rules) -> Rules:
    rules = standard if message.rules is None else get_rules(message.rules)
    players = message.players
    if players is not None and players != rules.players:
        fitting = [preset for preset in PRESETS.values() if preset.players == players]
        if message.rules is not None or not fitting:
            raise InvalidRulesError(f"these rules are for {rules.players} players, not {players}")
        rules = fitting[0]
    if message.target is None or message.target == rules.target:
        return rules
    return _with_target(rules, message.target)


def _with_target(rules: Rules, target: int) -> Rules:
    """The same game to another target, without the skunks that it leaves no room for."""
    skunk = rules.skunk_line
    double = rules.double_skunk_line
    keeps_skunk = skunk is not None and skunk < target
    return replace(
        rules,
        target=target,
        skunk_line=skunk if keeps_skunk else None,
        double_skunk_line=double if keeps_skunk else None,
    )


def _in_play(message: ViewMessage, rules: Rules) -> bool:
    """Whether all have thrown, told by any sign of the play or by the size of the hand."""
    begun = message.starter is not None or message.plays or message.series
    if begun or any(message.earlier or ()):
        return True
    return len(message.hand) <= rules.kept and not message.discards


def _assumed(message: ViewMessage, rules: Rules) -> tuple[str, ...]:
    names = []
    if message.scores is None:
        names.append("scores")
    if _in_play(message, rules):
        in_play = ("discards", "starter", "plays") if rules.thrown else ("starter", "plays")
        names += [name for name in in_play if getattr(message, name) is None]
    if message.rules is None:
        names += [name for name in ("target", "rules", "players") if getattr(message, name) is None]
    return tuple(names)


def _first_that_fits(message: ViewMessage, rules: Rules, assumed: tuple[str, ...]) -> Question:
    """The question, with the likeliest number of earlier cards that makes one."""
    plays = _plays(message, rules)
    first_error: CribbageError | WireError | None = None
    for earlier in _earlier(message, rules, plays):
        try:
            view = _view(message, rules, plays, earlier)
            return Question(view, _asks(view), assumed)
        except (CribbageError, WireError) as error:
            first_error = first_error or error
    assert first_error is not None
    raise first_error


def _view(
    message: ViewMessage, rules: Rules, plays: list[Play], earlier: tuple[int, ...]
) -> SeatView:
    return SeatView.from_json(
        {
            "seat": message.seat,
            "dealer": message.dealer,
            "hand": message.hand,
            "scores": [0] * rules.sides if message.scores is None else message.scores,
            "discards": message.discards or (),
            "starter": message.starter,
            "plays": plays,
            "earlier": earlier,
            "rules": rules,
        }
    )


def _plays(message: ViewMessage, rules: Rules) -> list[Play]:
    if message.series is None:
        return message.plays or []
    owned = [entry for entry in message.series if isinstance(entry, tuple)]
    bare = [entry for entry in message.series if isinstance(entry, str)]
    if not bare:
        return owned
    if owned:
        raise InvalidViewError("a series has a seat for each of its cards, or for none")
    if rules.players != 2:
        raise InvalidViewError(
            f"with {rules.players} players a series needs its seats: [seat, card]"
        )
    return _with_owners(bare, message.seat)


def _with_owners(bare: list[str], seat: int) -> list[Play]:
    """Two players take turns, but not after a go; and now it is this seat's turn."""
    for leader in (1 - seat, seat):
        owned, next_to_act = _take_turns(bare, leader)
        if next_to_act == seat:
            break
    return owned  # the two ways end with different seats to act, so one of them was right


def _take_turns(bare: list[str], leader: int) -> tuple[list[Play], int]:
    owned: list[Play] = []
    turn, last = leader, leader
    gone: set[int] = set()
    for entry in bare:
        owned.append((turn, entry))
        if _is_go(entry):
            gone.add(turn)
        else:
            last = turn
        if len(gone) == 2:
            turn, gone = 1 - last, set()
        elif 1 - turn not in gone:
            turn = 1 - turn
    return owned, turn


def _is_go(entry: str) -> bool:
    return entry.strip().lower() == "go"


def _earlier(message: ViewMessage, rules: Rules, plays: list[Play]) -> Iterator[tuple[int, ...]]:
    """How many cards each seat may have laid before ``plays`` begin, likeliest first.

    The own hand tells of the own cards. Others have laid as many, or one more or
    less where the turn order has it so.
    """
    if message.earlier is not None:
        yield tuple(message.earlier)
        return
    seats = range(rules.players)
    if message.plays is not None or not _in_play(message, rules) or message.seat not in seats:
        yield ()
        return
    laid = [sum(1 for seat, card in plays if seat == at and not _is_go(card)) for at in seats]
    own = rules.kept - len(message.hand) - laid[message.seat]
    if own <= 0:  # the first series, or more cards than were kept, which `SeatView` refuses
        yield ()
    if own < 0 or (own == 0 and rules.players == 2):
        return
    leader = plays[0][0] if plays else message.seat

    def place(seat: int) -> int:
        """Turns from the dealer's left: who comes before the leader has laid one more."""
        return (seat - message.dealer - 1) % rules.players

    def distance(earlier: tuple[int, ...]) -> int:
        return sum(abs(earlier[seat] - expected[seat]) for seat in seats)

    ahead = [int(place(seat) < place(leader)) for seat in seats]
    expected = [own + ahead[seat] - ahead[message.seat] for seat in seats]
    choices = [
        [own] if seat == message.seat else list(range(max(rules.kept - laid[seat], 0) + 1))
        for seat in seats
    ]
    yield from sorted(product(*choices), key=distance)


def _asks(view: SeatView) -> Literal["discard", "play", "go"]:
    """What this seat has to do now.

    Raises:
        WireError: when it is not its turn.
    """
    rules = view.rules
    if view.phase == "over":
        raise WireError(
            Code.NOT_YOUR_TURN,
            f"the game is over: the score is {list(view.scores)} and {rules.target} wins",
        )
    if view.phase == "discard":
        if len(view.discards) < rules.thrown:
            return "discard"
        raise WireError(
            Code.NOT_YOUR_TURN,
            f"seat {view.seat} has thrown {text(view.discards)}: a view of the play has a starter",
        )
    if not view.hand:
        raise WireError(Code.NOT_YOUR_TURN, f"seat {view.seat} has no card left to play")
    if _pass_is_due(view):
        return "go"
    if view.phase == "play" and _may_lay(view):
        return "play"
    if view.phase == "play":
        raise WireError(Code.NOT_YOUR_TURN, f"it is the turn of seat {view.to_act}")
    raise WireError(Code.NOT_YOUR_TURN, "the play of this deal is over")


def _may_lay(view: SeatView) -> bool:
    try:
        return bool(view.legal())
    except InvalidViewError:  # the others could not have passed
        return False


def _pass_is_due(view: SeatView) -> bool:
    """Whether this seat has to say go and has not: the view has its go, the caller has not."""
    row = view.to_state()
    goes = []
    for at in range(int(row[S.HISTORY_LENGTH]) - 1, -1, -1):
        entry = int(history_entry(row, at))
        if entry & 63 != S.SAID_GO:
            break
        goes.append(entry >> 6)
    told = []
    for laid in reversed(view.plays):
        if laid.card is not None:
            break
        told.append(laid.seat)
    return view.seat in goes and view.seat not in told

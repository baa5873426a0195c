"""The variations of the game, each a plain field, and the named presets.

A `Rules` value is what a person reads and sets; `Rules.to_array` is the row of
integers that the compiled engine reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from crib_env.cards import N_CARDS
from crib_env.errors import InvalidRulesError

# Where the engine finds each setting in the row that `Rules.to_array` makes.
PLAYERS = 0
DEALT = 1
THROWN = 2
BLIND = 3
TARGET = 4
TEAMS = 5
HEELS_AT_SHOW = 6
CRIB_FLUSH_FOUR = 7
SHORT_FLUSH = 8
GO_CALLER_LEADS = 9
FIRST_AFTER_GO = 10
SINGLE_COUNT = 11
PONE_START = 12
LOW_CUT = 13
MANUAL_COUNT = 14
MUGGINS = 15
N_SETTINGS = 16


@dataclass(frozen=True)
class Rules:
    """How a game is played.

    Attributes:
        players: seats at the table, 2 to 4.
        dealt: cards dealt to each seat.
        thrown: cards that each seat throws to the crib.
        blind: cards that go from the deck to the crib unseen (one with three players).
        target: points that win the game.
        teams: with four players, partners sit opposite and share a score.
        skunk_line: a loser below this many points is skunked; None for no skunks.
        double_skunk_line: a loser below this many points is double skunked.
        heels_timing: the dealer's two points for a jack turned up are pegged at
            the ``"cut"`` or with his count at the ``"show"``.
        crib_flush: cards of one suit that a crib flush needs: ``"five"`` or ``"four"``.
        short_flush: hands of three pay a flush of three (the historic game).
        first_dealer: ``"random"`` or ``"low_cut"`` (lowest card, ace low, ties cut again).
        leader_after_reset: who leads after a go: the seat to the left of the one
            that laid the last card, or the first seat that said go. With two
            players both say the same.
        go_continuation: after a go ``"all"`` who can play go on in turn, or only
            the ``"first_after_go"``.
        play_single_count: the play ends at the first go or 31 (the historic game).
        pone_start: points that the seat to the first dealer's left starts with.
        counting: who counts at the show: ``"automatic"``, or the players, who claim
            a number and get no more than that (``"manual"``).
        muggins: with manual counting, the other side pegs what a claim missed.
        match_points: what a game, a skunk and a double skunk are worth in a match.
        match_target: match points that win a match; None where matches are not played.
        next_dealer: who deals first in the next game of a match: the other side than
            in the last (``"alternate"``), its loser (``"loser"``), or as in a first
            game (``"anew"``).
    """

    players: int = 2
    dealt: int = 6
    thrown: int = 2
    blind: int = 0
    target: int = 121
    teams: bool = False
    skunk_line: int | None = 91
    double_skunk_line: int | None = 61
    heels_timing: Literal["cut", "show"] = "cut"
    crib_flush: Literal["five", "four"] = "five"
    short_flush: bool = False
    first_dealer: Literal["random", "low_cut"] = "random"
    leader_after_reset: Literal["left_of_last", "go_caller"] = "left_of_last"
    go_continuation: Literal["all", "first_after_go"] = "all"
    play_single_count: bool = False
    pone_start: int = 0
    counting: Literal["automatic", "manual"] = "automatic"
    muggins: bool = False
    match_points: tuple[int, int, int] = (1, 2, 3)
    match_target: int | None = None
    next_dealer: Literal["alternate", "loser", "anew"] = "alternate"

    def __post_init__(self) -> None:
        _check(self)

    @property
    def kept(self) -> int:
        """Cards that each seat keeps for the play and the show."""
        return self.dealt - self.thrown

    @property
    def sides(self) -> int:
        """Separate scores: one for each seat, or two with teams."""
        return 2 if self.teams else self.players

    def side(self, seat: int) -> int:
        """The score that a seat pegs on."""
        return seat % 2 if self.teams else seat

    def differences_in_play(self, other: Rules) -> list[str]:
        """The settings that make a deal of the one another game than a deal of the other.

        Who deals first, who counts and what a game is worth do not.
        """
        return [
            field.name
            for field in fields(self)
            if field.name not in _OUTSIDE_A_DEAL
            and getattr(self, field.name) != getattr(other, field.name)
        ]

    def skunk(self, loser_points: int) -> int:
        """How badly a loser with that many points has lost: 1 a skunk, 2 a double, else 0."""
        if self.double_skunk_line is not None and loser_points < self.double_skunk_line:
            return 2
        if self.skunk_line is not None and loser_points < self.skunk_line:
            return 1
        return 0

    def worth(self, scores: Sequence[int]) -> int:
        """Match points that a finished game gives its winner.

        Every loser is judged by his own score: each one that is skunked adds what a
        skunk is worth more than a game. The winner, at the target, adds nothing.

        Args:
            scores: final points by side.

        >>> SIX_CARD.worth([121, 90]), THREE_PLAYER.worth([90, 121, 60])
        (2, 4)
        """
        game = self.match_points[0]
        return game + sum(self.match_points[self.skunk(points)] - game for points in scores)

    @cached_property
    def _row(self) -> NDArray[np.int64]:
        row = np.zeros(N_SETTINGS, np.int64)
        row[PLAYERS] = self.players
        row[DEALT] = self.dealt
        row[THROWN] = self.thrown
        row[BLIND] = self.blind
        row[TARGET] = self.target
        row[TEAMS] = self.teams
        row[HEELS_AT_SHOW] = self.heels_timing == "show"
        row[CRIB_FLUSH_FOUR] = self.crib_flush == "four"
        row[SHORT_FLUSH] = self.short_flush
        row[GO_CALLER_LEADS] = self.leader_after_reset == "go_caller"
        row[FIRST_AFTER_GO] = self.go_continuation == "first_after_go"
        row[SINGLE_COUNT] = self.play_single_count
        row[PONE_START] = self.pone_start
        row[LOW_CUT] = self.first_dealer == "low_cut"
        row[MANUAL_COUNT] = self.counting == "manual"
        row[MUGGINS] = self.muggins
        row.setflags(write=False)
        return row

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: an array would forget, copied, that it is not to be written."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def to_array(self) -> NDArray[np.int64]:
        """The settings as the engine reads them: int64 ``[N_SETTINGS]``, not to be written."""
        return self._row

    def to_json(self) -> str | dict[str, Any]:
        """The preset's name where one fits, else every field by name."""
        for name, rules in PRESETS.items():
            if rules == self:
                return name
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**found, "match_points": list(self.match_points)}


_OUTSIDE_A_DEAL = frozenset(
    {
        "first_dealer",
        "skunk_line",
        "double_skunk_line",
        "counting",
        "muggins",
        "match_points",
        "match_target",
        "next_dealer",
    }
)
_CHOICES = {
    "heels_timing": ("cut", "show"),
    "crib_flush": ("five", "four"),
    "first_dealer": ("random", "low_cut"),
    "leader_after_reset": ("left_of_last", "go_caller"),
    "go_continuation": ("all", "first_after_go"),
    "counting": ("automatic", "manual"),
    "next_dealer": ("alternate", "loser", "anew"),
}
_NUMBERS = {
    "players": (2, 4),
    "dealt": (2, 6),
    "thrown": (0, 2),
    "blind": (0, 4),
    "target": (1, 1000),
    "pone_start": (0, 100),
}
_SWITCHES = ("teams", "short_flush", "play_single_count", "muggins")


def _check(rules: Rules) -> None:
    """Refuse, in words, a value out of range or two that contradict each other."""
    for name, (low, high) in _NUMBERS.items():
        value = getattr(rules, name)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise InvalidRulesError(f"{name} is a whole number from {low} to {high}, not {value!r}")
    for name, choices in _CHOICES.items():
        value = getattr(rules, name)
        if value not in choices:
            raise InvalidRulesError(f"{name} is one of {', '.join(choices)}, not {value!r}")
    for name in _SWITCHES:
        value = getattr(rules, name)
        if not isinstance(value, bool):
            raise InvalidRulesError(f"{name} is true or false, not {value!r}")
    for name in ("skunk_line", "double_skunk_line"):
        value = getattr(rules, name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= rules.target:
            raise InvalidRulesError(
                f"{name} is a number of points from 1 to the target or nothing, not {value!r}"
            )
    if not 2 <= rules.kept <= 4:
        raise InvalidRulesError(
            f"each seat keeps 2 to 4 cards, but {rules.dealt} dealt less {rules.thrown} "
            f"thrown leaves {rules.kept}"
        )
    if rules.teams and rules.players != 4:
        raise InvalidRulesError(f"partners need four players, not {rules.players}")
    crib = rules.players * rules.thrown + rules.blind
    if crib > 4:
        raise InvalidRulesError(f"a crib holds up to 4 cards, not {crib}")
    if rules.players * rules.dealt + rules.blind >= N_CARDS:
        raise InvalidRulesError("the deck has too few cards for that")
    if rules.pone_start >= rules.target:
        raise InvalidRulesError("pone cannot start at or past the target")
    if rules.double_skunk_line is not None and (
        rules.skunk_line is None or rules.double_skunk_line >= rules.skunk_line
    ):
        raise InvalidRulesError("double_skunk_line lies below skunk_line")
    if rules.muggins and rules.counting != "manual":
        raise InvalidRulesError("muggins needs manual counting: an automatic count misses nothing")
    if rules.short_flush and rules.kept != 3:
        raise InvalidRulesError(f"a short flush is of three cards, but {rules.kept} are kept")
    _check_match(rules)


def _check_match(rules: Rules) -> None:
    worths = rules.match_points
    if (
        not isinstance(worths, tuple)
        or len(worths) != 3
        or any(isinstance(worth, bool) or not isinstance(worth, int) for worth in worths)
        or not 1 <= worths[0] <= worths[1] <= worths[2] <= 100
    ):
        raise InvalidRulesError(
            "match_points are what a game, a skunk and a double skunk are worth: three whole "
            f"numbers from 1, none below the one before, not {worths!r}"
        )
    target = rules.match_target
    if target is not None and (
        isinstance(target, bool) or not isinstance(target, int) or not 1 <= target <= 1000
    ):
        raise InvalidRulesError(
            f"match_target is a whole number from 1 to 1000 or nothing, not {target!r}"
        )


SIX_CARD = Rules()
"""The standard game of two: six cards each, two thrown, to 121."""

THREE_PLAYER = Rules(players=3, dealt=5, thrown=1, blind=1)
"""Five cards each and one to the crib, one more from the deck; everyone for himself."""

FOUR_PLAYER = Rules(players=4, dealt=5, thrown=1, teams=True)
"""Five cards each, one to the crib; partners sit opposite and share a score."""

FIVE_CARD = Rules(
    dealt=5,
    thrown=1,
    target=61,
    skunk_line=None,
    double_skunk_line=None,
    first_dealer="low_cut",
)
"""Five cards each, one thrown: four in hand, a crib of two, to 61."""

FIVE_CARD_HISTORIC = Rules(
    dealt=5,
    thrown=2,
    target=61,
    skunk_line=None,
    double_skunk_line=None,
    short_flush=True,
    play_single_count=True,
    pone_start=3,
)
"""Five cards each, two thrown: three in hand, a crib of four, one series only, to 61."""

COMMENT_JOUER = Rules(first_dealer="low_cut", double_skunk_line=None, match_points=(1, 2, 2))
BOITE_A_JEUX = Rules(
    heels_timing="show",
    skunk_line=90,
    double_skunk_line=None,
    match_points=(1, 2, 2),
    match_target=7,
)
REFERENCE_COMPLETE = Rules(first_dealer="low_cut", match_points=(1, 2, 3))
CONTRE_L_ORDINATEUR = Rules(skunk_line=None, double_skunk_line=None, match_points=(1, 1, 1))

PRESETS: dict[str, Rules] = {
    "six-card": SIX_CARD,
    "three-player": THREE_PLAYER,
    "four-player": FOUR_PLAYER,
    "five-card": FIVE_CARD,
    "five-card-historic": FIVE_CARD_HISTORIC,
    "comment-jouer": COMMENT_JOUER,
    "boite-a-jeux": BOITE_A_JEUX,
    "reference-complete": REFERENCE_COMPLETE,
    "contre-l-ordinateur": CONTRE_L_ORDINATEUR,
}
"""Named rules; the last four are the game as one text has it. ``six-card`` is the default."""


def get_rules(rules: str | Rules | Mapping[str, Any]) -> Rules:
    """Rules from a preset's name, a mapping of fields, or a `Rules` value.

    A mapping may name a preset to start from: ``{"preset": "six-card", "target": 61}``.

    Raises:
        InvalidRulesError: for an unknown preset or field, or a contradiction.

    >>> get_rules({"preset": "six-card", "target": 61, "double_skunk_line": None,
    ...            "skunk_line": None}).target
    61
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        if rules not in PRESETS:
            raise InvalidRulesError(f"no rules named {rules!r}; there are {', '.join(PRESETS)}")
        return PRESETS[rules]
    if not isinstance(rules, Mapping):
        raise InvalidRulesError(f"rules are a preset's name or fields, not {rules!r}")
    settings = dict(rules)
    base = get_rules(settings.pop("preset", "six-card"))
    known = {field.name for field in fields(Rules)}
    for name in settings:
        if name not in known:
            raise InvalidRulesError(f"rules have no field {name!r}")
    if isinstance(settings.get("match_points"), list):
        settings["match_points"] = tuple(settings["match_points"])
    return replace(base, **settings)

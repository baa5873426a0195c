"""The rules in words: what each setting means and where a preset takes it from."""

from __future__ import annotations

from collections.abc import Callable

from crib_env.rules import PRESETS, Rules

SOURCES = {
    "comment-jouer": "« Comment jouer : Cribbage »",
    "boite-a-jeux": "« Boîte à jeux/Cribbage »",
    "reference-complete": "« Règles du Cribbage — Référence Complète »",
    "contre-l-ordinateur": "« Cribbage contre l'ordinateur »",
}
"""The four texts, by the preset that plays as each says."""

_STANDARD = "standard game"
_UNSAID = "not said; as in the standard game"
_OLD = "historic game"

_COMMON = {
    "players": _STANDARD,
    "cards": _STANDARD,
    "target": _STANDARD,
    "first_dealer": _STANDARD,
    "heels_timing": _STANDARD,
    "crib_flush": _STANDARD,
    "go_continuation": "comment-jouer, boite-a-jeux",
    "leader_after_reset": "comment-jouer, contre-l-ordinateur",
    "skunk_line": "reference-complete",
    "match": "reference-complete",
    "next_dealer": _STANDARD,
    "counting": "contre-l-ordinateur",
}

ORIGINS: dict[str, dict[str, str]] = {
    "six-card": _COMMON,
    "three-player": {**_COMMON, "players": "comment-jouer, boite-a-jeux",
                     "cards": "comment-jouer, boite-a-jeux"},
    "four-player": {**_COMMON, "players": "comment-jouer (partners), boite-a-jeux",
                    "cards": "comment-jouer, boite-a-jeux"},
    "five-card": {**_COMMON, "cards": "comment-jouer", "target": "comment-jouer",
                  "first_dealer": "comment-jouer",
                  "skunk_line": "comment-jouer names none to 61"},
    "five-card-historic": {**_COMMON, "cards": _OLD, "target": _OLD, "skunk_line": _OLD,
                           "go_continuation": _OLD, "pone_start": _OLD, "short_flush": _OLD},
    "comment-jouer": {
        "players": "the text", "cards": "the text", "target": "the text",
        "first_dealer": "the text: the low card deals, ace low",
        "heels_timing": "the text: before the play begins",
        "crib_flush": "the text: four suited in the crib score nothing",
        "go_continuation": "the text: the other goes on alone",
        "leader_after_reset": "the text: who did not play last",
        "skunk_line": "the text: 90 holes not passed", "match": "the text: double",
        "next_dealer": _UNSAID,
        "counting": "ours; in the text the players count",
    },
    "boite-a-jeux": {
        "players": "the text", "cards": "the text", "target": "the text",
        "first_dealer": _UNSAID, "heels_timing": "the text names it with the count",
        "crib_flush": _UNSAID, "go_continuation": "the text: until nobody can play",
        "leader_after_reset": _UNSAID, "skunk_line": "the text: before 90",
        "match": "the text: seven games, a skunk worth two", "next_dealer": _UNSAID,
        "counting": "ours; in the text the players count",
    },
    "reference-complete": {
        "players": "the text", "cards": "the text", "target": "the text",
        "first_dealer": "the text: low cut, ties cut again",
        "heels_timing": "the text: at once", "crib_flush": "the text: all five cards",
        "go_continuation": "the text: while the other can", "leader_after_reset": _UNSAID,
        "skunk_line": "the text: below 91, below 61", "match": "the text: two, three",
        "next_dealer": _UNSAID,
        "counting": "ours; in the text the players count, muggins where agreed",
    },
    "contre-l-ordinateur": {
        "players": "the text", "cards": "the text", "target": "the text",
        "first_dealer": "the text: by chance", "heels_timing": "the text: when it is turned",
        "crib_flush": "the text: five", "go_continuation": "the text: the other goes on",
        "leader_after_reset": "the text: the other, if he holds cards",
        "skunk_line": "the text: no bonus", "match": "the text: no bonus",
        "next_dealer": _UNSAID,
        "counting": "the text: automatic, no muggins",
    },
}  # fmt: skip
"""Where each setting of a preset comes from: a text by its preset's name, or the common game."""


def _players(rules: Rules) -> str:
    if rules.teams:
        return "four players, partners opposite, who share a score"
    return f"{rules.players} players, each for himself"


def _cards(rules: Rules) -> str:
    crib = rules.players * rules.thrown + rules.blind
    words = f"{rules.dealt} cards each, {rules.thrown} thrown; a crib of {crib}"
    return words + (f", {rules.blind} of them from the deck" if rules.blind else "")


def _first_dealer(rules: Rules) -> str:
    if rules.first_dealer == "low_cut":
        return "the lowest card cut, ace low; ties cut again"
    return "by chance"


def _heels(rules: Rules) -> str:
    when = "as soon as it is turned" if rules.heels_timing == "cut" else "with his own count"
    return f"the dealer pegs two for a jack turned up, {when}"


def _crib_flush(rules: Rules) -> str:
    if rules.crib_flush == "five":
        return "a crib flush needs the starter too"
    return "four suited cards are a flush in the crib as well"


def _go(rules: Rules) -> str:
    if rules.play_single_count:
        return "the play is over at the first go or 31"
    if rules.go_continuation == "all":
        return "after a go, all who can play go on in turn"
    return "after a go, only the next seat that can play goes on"


def _leader(rules: Rules) -> str:
    if rules.leader_after_reset == "left_of_last":
        return "the seat to the left of the last card leads, if it holds cards"
    return "the first seat that said go leads, if it holds cards"


def _skunk(rules: Rules) -> str:
    if rules.skunk_line is None:
        return "no skunks"
    words = f"a loser below {rules.skunk_line} is skunked"
    if rules.double_skunk_line is not None:
        words += f", below {rules.double_skunk_line} doubly"
    return words


def _match(rules: Rules) -> str:
    game, skunk, double = rules.match_points
    words = f"a game is worth {game}"
    if rules.skunk_line is not None:
        words += f", a skunk {skunk}"
    if rules.double_skunk_line is not None:
        words += f", a double skunk {double}"
    return words + (f"; a match goes to {rules.match_target}" if rules.match_target else "")


def _next_dealer(rules: Rules) -> str:
    if rules.next_dealer == "alternate":
        return "the first deal passes to the left from game to game"
    if rules.next_dealer == "loser":
        return "the loser has the first deal of the next game"
    return "the first deal is decided anew in each game"


def _counting(rules: Rules) -> str:
    if rules.counting == "automatic":
        return "hands are counted by the referee"
    if rules.muggins:
        return "players count; what one misses the other side pegs"
    return "players count; what one misses is lost"


_LINES: tuple[tuple[str, str, Callable[[Rules], str]], ...] = (
    ("players", "Players", _players),
    ("cards", "Cards", _cards),
    ("target", "Target", lambda rules: f"the first at {rules.target} wins, at once"),
    ("first_dealer", "First dealer", _first_dealer),
    ("heels_timing", "Heels", _heels),
    ("go_continuation", "Go", _go),
    ("leader_after_reset", "New series", _leader),
    ("crib_flush", "Crib flush", _crib_flush),
    ("short_flush", "Flush", lambda rules: "three suited cards in hand, four with the starter"),
    ("pone_start", "Head start", lambda rules: f"pone begins with {rules.pone_start} points"),
    ("counting", "Counting", _counting),
    ("skunk_line", "Skunks", _skunk),
    ("match", "Match", _match),
    ("next_dealer", "Next game", _next_dealer),
)
_ONLY_WHERE_SET = ("short_flush", "pone_start")


def describe(preset: str) -> list[tuple[str, str, str]]:
    """A preset in words: (what, how it is played, where that comes from).

    >>> describe("five-card")[1]
    ('Cards', '5 cards each, 1 thrown; a crib of 2', 'comment-jouer')
    """
    rules = PRESETS[preset]
    origins = ORIGINS[preset]
    return [
        (title, words(rules), origins[name])
        for name, title, words in _LINES
        if (name not in _ONLY_WHERE_SET or getattr(rules, name))
        and not (name == "leader_after_reset" and rules.play_single_count)
    ]

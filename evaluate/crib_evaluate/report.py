"""A match as a table that reads well at 80 columns, on a screen or in a file."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import partial

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crib_env.rules import Rules
from crib_env.state import Source
from crib_evaluate.result import MatchResult, PlayerResult
from crib_evaluate.statistics import CONFIDENCE, Estimate

Cell = Callable[[PlayerResult], str]

_WIDTH = 79

_AS_DEALER = (
    ("hand", Source.HAND_DEALER),
    ("crib", Source.CRIB),
    ("play", Source.PLAY_DEALER),
    ("heels", Source.HEELS),
)
_AS_PONE = (("hand", Source.HAND_PONE), ("play", Source.PLAY_PONE))


def match_report(result: MatchResult) -> RenderableType:
    """The match: a table with one column for each player, and what to know about it."""
    first, second = result.players
    title = Text(f"{first.name} against {second.name}\n", style="bold")
    return Group(title, _table(result), Text(_notes(result), style="dim"))


def markdown(titles: list[str], cells: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [titles, ["---"] * len(titles), *cells]
    return "\n".join(
        "|" + "|".join(f" {text} " if text else " " for text in line) + "|" for line in lines
    )


def _table(result: MatchResult) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("")
    for player in result.players:
        table.add_column(Text(player.name), justify="right", overflow="fold", min_width=16)

    def row(label: str, cell: Cell, style: str = "") -> None:
        table.add_row(label, *(cell(player) for player in result.players), style=style)

    interval = f"  {CONFIDENCE:.0%} interval".replace("%", " %")
    row("Games won", lambda player: f"{player.wins:,}")
    row("Win rate", lambda player: _percent(player.win_rate.mean), "bold")
    row(interval, lambda player: _interval(player.win_rate, _percent), "dim")
    row("Mean margin, points", lambda player: f"{player.margin.mean:+.2f}")
    row(interval, lambda player: _interval(player.margin, "{:+.2f}".format), "dim")
    row("Match points a game", lambda player: f"{player.match_points.mean:.3f}")
    rules = result.rules
    if rules.skunk_line is not None:
        row("Skunks given", lambda player: f"{player.skunks:,}")
        row("Skunks taken", lambda player: f"{player.skunks_taken:,}")
    if rules.double_skunk_line is not None:
        row("Double skunks given", lambda player: f"{player.double_skunks:,}")
        row("Double skunks taken", lambda player: f"{player.double_skunks_taken:,}")
    table.add_section()
    pone = "pone" if rules.players == 2 else "non-dealer"
    for role, sources in (("dealer", _AS_DEALER), (pone, _AS_PONE)):
        whole = [source for _, source in sources]
        row(f"Points a deal as {role}", partial(_per_deal, whole))
        for label, source in sources:
            row(f"  {label}", partial(_per_deal, [source]), "dim")
    return table


def _notes(result: MatchResult) -> str:
    rules = result.rules
    name = rules.to_json()
    dealer = result.first_dealer
    interval = "" if dealer.low is None else f" ({_interval(dealer, _percent)})"
    explained = f"Intervals are over {_rounds(result)}. {_worths(rules)}{_counted(rules)}"
    return "\n".join(
        [
            "",
            f"{result.games:,} games in {result.rounds:,} mirrored {_rounds(result)}; "
            f"{name if isinstance(name, str) else 'own rules'}; seed {result.seed}",
            f"First dealer{_his_side(rules)} won {_percent(dealer.mean)}{interval}; "
            f"{result.deals_per_game:.2f} deals a game",
            *textwrap.wrap(explained, _WIDTH),
        ]
    )


def _rounds(result: MatchResult) -> str:
    games = result.games // result.rounds
    return "pairs" if games == 2 else f"rounds of {games}"


def _his_side(rules: Rules) -> str:
    return "'s side" if rules.teams else ""


def _worths(rules: Rules) -> str:
    """What a win is worth in a match under these rules, as `Rules.worth` has it."""
    game, skunk, double = rules.match_points
    words = f"A win is {game} match point{'s' if game > 1 else ''}"
    if rules.sides > 2:  # several may be skunked in one game
        skunk, double = skunk - game, double - game
    for line, worth, kind in (
        (rules.skunk_line, skunk, "skunk"),
        (rules.double_skunk_line, double, "double skunk"),
    ):
        if line is not None:
            words += f", a {kind} {worth}" if rules.sides == 2 else f", {worth} more for a {kind}"
    return words


def _counted(rules: Rules) -> str:
    over = "over whole deals" if rules.players == 2 else "of one seat over whole deals"
    if rules.double_skunk_line is not None:
        return f"; skunks are counted without double ones, points a deal {over}."
    return f"; points a deal are counted {over}."


def _percent(part: float) -> str:
    return f"{100 * part:.2f} %"


def _interval(estimate: Estimate, form: Callable[[float], str]) -> str:
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"{form(estimate.low).removesuffix(' %')} to {form(estimate.high)}"


def _per_deal(sources: Sequence[Source], player: PlayerResult) -> str:
    points = [player.points_per_deal[source] for source in sources]
    known = [mean for mean in points if mean is not None]
    return f"{sum(known):.2f}" if len(known) == len(points) else "-"

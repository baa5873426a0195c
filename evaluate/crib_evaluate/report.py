"""A match as a table that reads well at 80 columns, on a screen or in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crib_env.state import Source
from crib_evaluate.result import MatchResult, PlayerResult
from crib_evaluate.statistics import CONFIDENCE, Estimate

Cell = Callable[[PlayerResult], str]

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
    row("Skunks given", lambda player: f"{player.skunks:,}")
    row("Skunks taken", lambda player: f"{player.skunks_taken:,}")
    row("Double skunks given", lambda player: f"{player.double_skunks:,}")
    row("Double skunks taken", lambda player: f"{player.double_skunks_taken:,}")
    table.add_section()
    for role, sources in (("dealer", _AS_DEALER), ("pone", _AS_PONE)):
        whole = [source for _, source in sources]
        row(f"Points a deal as {role}", partial(_per_deal, whole))
        for label, source in sources:
            row(f"  {label}", partial(_per_deal, [source]), "dim")
    return table


def _notes(result: MatchResult) -> str:
    rules = result.rules.to_json()
    dealer = result.first_dealer
    interval = "" if dealer.low is None else f" ({_interval(dealer, _percent)})"
    return "\n".join(
        [
            "",
            f"{result.games:,} games in {result.pairs:,} mirrored pairs; "
            f"{rules if isinstance(rules, str) else 'own rules'}; seed {result.seed}",
            f"First dealer won {_percent(dealer.mean)}{interval}; "
            f"{result.deals_per_game:.2f} deals a game",
            "Intervals are over pairs. A win is 1 match point, a skunk 2, a double skunk 3;",
            "skunks are counted without double ones, points a deal over whole deals.",
        ]
    )


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

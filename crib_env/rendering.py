"""A table that a person can follow, drawn from a `SeatView`. No game logic."""

from __future__ import annotations

from crib_env.cards import text
from crib_env.view import SeatView

_WIDTH = 60


def ansi(view: SeatView) -> str:
    """The table as one seat sees it, as plain text."""
    rules = view.rules
    dealing = "you deal" if view.dealer == view.seat else f"seat {view.dealer} deals"
    lines = [f"-- {dealing}, {view.phase} ".ljust(_WIDTH, "-")]
    for side, points in enumerate(view.scores):
        own = side == rules.side(view.seat)
        name = "you" if own else f"{'side' if rules.teams else 'seat'} {side}"
        track = round(30 * points / rules.target)
        lines.append(f"  {name:8}{points:4} |{'#' * track:30}| {rules.target}")
    if view.starter is not None:
        lines.append(f"  starter {view.starter}")
        lines.append(f"  count   {view.count}: {text(view.series) or '-'}")
        if view.plays:
            said = [
                f"{'you' if seat == view.seat else seat}:{'go' if card is None else card}"
                for seat, card in view.plays
            ]
            lines.append(f"  played  {' '.join(said)}")
    for seat in range(rules.players):
        if seat != view.seat:
            lines.append(f"  seat {seat} holds {view.held[seat]} cards")
    if view.discards:
        lines.append(f"  thrown  {text(view.discards)}")
    lines.append(f"  hand    {text(view.hand) or '-'}")
    return "\n".join(lines) + "\n"

"""Measured discards as tables and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from crib_env.cards import Card, text
from crib_evaluate.discards import DealLoss, Loss
from crib_evaluate.problems import Solved
from crib_evaluate.statistics import CONFIDENCE, Estimate

Cells = tuple[list[str], list[list[str]]]
"""Titles and rows of a table."""

_INTERVAL = f"{CONFIDENCE:.0%} interval".replace("%", " %")


def losses(deals: Sequence[DealLoss]) -> dict[str, Loss]:
    """The mean losses: in all deals, and in either role where there is one."""
    roles = {
        "all deals": list(deals),
        "as dealer": [deal for deal in deals if deal.setting.dealing],
        "as pone": [deal for deal in deals if not deal.setting.dealing],
    }
    return {role: Loss.of(some) for role, some in roles.items() if some}


def loss_table(found: dict[str, Loss]) -> Cells:
    """The mean losses, a column for each role."""
    rows: list[list[str]] = [
        ["Deals", *(f"{loss.deals:,}" for loss in found.values())],
        ["Best by points thrown", *(f"{100 * loss.best:.1f} %" for loss in found.values())],
        ["Best furthest behind by mean", *(f"{loss.behind:.2f}" for loss in found.values())],
    ]
    for name, label, scale, form in (
        ("points", "Points lost a deal", 1, "{:.3f}"),
        ("points_most", "Points, at most", 1, "{:.3f}"),
        ("wins", "Chance to win lost a deal, %", 100, "{:.3f}"),
        ("wins_most", "Chance to win, at most, %", 100, "{:.3f}"),
    ):
        estimates = [getattr(loss, name) for loss in found.values()]
        rows.append([label, *(form.format(scale * one.mean) for one in estimates)])
        rows.append([f"  {_INTERVAL}", *(_interval(one, scale, form) for one in estimates)])
    return ["", *found], rows


def problem_table(solved: Sequence[Solved], line_end: str) -> Cells:
    """Each problem's throws with what they are worth, the player's first.

    Args:
        solved: the problems.
        line_end: between the lines of a cell.
    """
    titles = [
        "problem", "throw", "by", "points", "P(win), %",
        "points more than the player's", "P(win) more, %",
    ]  # fmt: skip
    rows = []
    for one in solved:
        setting = one.problem.setting
        role = "dealer" if setting.dealing else "pone"
        own, other = setting.scores
        where = f"{one.problem.name} {role} {own}-{other}{line_end}{text(setting.cards)}"
        for answer in one.answers:
            rows.append([
                where,
                answer.throw,
                ", ".join(answer.by),
                f"{answer.points.mean:+.2f}",
                f"{100 * answer.wins.mean:.2f}",
                _with_doubt(answer.more_points, 1),
                _with_doubt(answer.more_wins, 100),
            ])  # fmt: skip
            where = ""
    return titles, rows


def agreement(solved: Sequence[Solved]) -> str:
    """In how many problems the player throws as published, in one sentence."""
    agreed = sum(one.agrees for one in solved)
    others = ", ".join(one.problem.name for one in solved if not one.agrees)
    apart = f"; otherwise in {others}" if others else ""
    return f"Throws as published in {agreed} of {len(solved)} problems{apart}."


def plain(value: Any) -> Any:
    """Results as what JSON can hold: objects by their fields, cards by their names."""
    if isinstance(value, Card):
        return str(value)
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def _interval(one: Estimate, scale: float, form: str) -> str:
    if one.low is None or one.high is None:
        return "-"
    return f"{form.format(scale * one.low)} to {form.format(scale * one.high)}"


def _with_doubt(one: Estimate | None, scale: float) -> str:
    if one is None:
        return ""
    if one.low is None or one.high is None:
        return f"{scale * one.mean:+.2f}"
    return f"{scale * one.mean:+.2f} ± {scale * (one.high - one.low) / 2:.2f}"

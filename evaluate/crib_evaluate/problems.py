"""Published problems of discards: a player's answers, and what each answer is worth.

A file holds one problem a line, in JSON::

    {"id": "DP13", "cards": ["3C", ...], "role": "pone", "published": {"6T": ["Barlow"]},
     "note": "score 94-86*"}
    {"id": "BQ1", "cards": ["2C", ...], "published_keep": ["46TK"], "need": 9,
     "rule": "dealer wins on a J starter"}

``published`` names throws by their ranks, with who advises them; ``published_keep`` the
cards kept. The score is read from ``scores`` (own, other), or from a note in which the
dealer's score is starred; without either it is 0-0. ``need`` says how many points the pone
is short where the dealer, at 119, wins by his heels: the pone then has 121 less ``need``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click
import msgspec
import numpy as np

from crib_agents.bot import Bot
from crib_env.cards import RANKS, parse_cards
from crib_env.rules import SIX_CARD
from crib_evaluate.discards import WITHIN, candidates, narrow
from crib_evaluate.rollouts import Floats, Setting, Throw, play_out, throw_of
from crib_evaluate.statistics import Estimate, estimate

Progress = Callable[[float], None]
"""Told how many of the problems are done."""

_HEELS_RULE = "dealer wins on a J starter"
_DEALER_AT = SIX_CARD.target - 2
"""Two points short: his heels win."""
_STARRED = re.compile(r"(\d+)\*-(\d+)|(\d+)-(\d+)\*")
"""Scores with the dealer's starred."""


class _Line(msgspec.Struct, frozen=True):
    id: str
    cards: list[str]
    role: Literal["dealer", "pone"] = "pone"
    published: dict[str, list[str]] = {}
    published_keep: list[str] = []
    need: int | None = None
    rule: str = ""
    note: str = ""
    scores: tuple[int, int] | None = None


@dataclass(frozen=True)
class Problem:
    """A published problem.

    Attributes:
        name: its ``id``.
        setting: the discard to be made.
        published: throws by their ranks, with who advises them.
        note: what its file says of it.
    """

    name: str
    setting: Setting
    published: dict[str, tuple[str, ...]]
    note: str


@dataclass(frozen=True)
class Answer:
    """A throw and what it is worth by rollouts.

    Attributes:
        throw: its ranks.
        by: who advises it, and whether it is the player's, the best, or the best by
            ``wins`` or ``points`` alone.
        points: net points of the deal.
        wins: the chance to win.
        more_points, more_wins: than the player's throw, on the same deals; None for that
            itself.
    """

    throw: str
    by: tuple[str, ...]
    points: Estimate
    wins: Estimate
    more_points: Estimate | None
    more_wins: Estimate | None


@dataclass(frozen=True)
class Solved:
    """A problem with the throws that are of interest in it.

    Attributes:
        problem: what was asked.
        throw: the player's answer, by its ranks.
        answers: the player's first, then the others by their chance to win.
    """

    problem: Problem
    throw: str
    answers: tuple[Answer, ...]

    @property
    def agrees(self) -> bool:
        """Whether the player throws what is published."""
        return self.throw in self.problem.published


def ranks_of(throw: Throw) -> str:
    """The ranks of a throw: ``"6T"``."""
    return "".join(RANKS[card.rank] for card in throw)


def read_problems(path: Path) -> list[Problem]:
    """The problems in a file.

    Raises:
        click.UsageError: in one line, for a line that is no problem.
    """
    found = []
    for number, text in enumerate(path.read_bytes().splitlines(), 1):
        try:
            found.append(_problem(msgspec.json.decode(text, type=_Line)))
        except (msgspec.MsgspecError, ValueError) as error:
            raise click.UsageError(f"{path}, line {number}: {error}") from None
    if not found:
        raise click.UsageError(f"{path} holds no problems")
    return found


def _problem(line: _Line) -> Problem:
    cards = tuple(sorted(parse_cards(line.cards)))
    setting = Setting(cards, line.role == "dealer", _scores(line))
    if len(cards) != SIX_CARD.dealt:
        raise ValueError(f"six cards are dealt, not {len(cards)}")
    if max(setting.scores) >= SIX_CARD.target:
        raise ValueError(
            f"the game goes to {SIX_CARD.target}: nobody throws at {max(setting.scores)}"
        )
    setting.view()  # which refuses what else cannot be
    possible = {ranks_of(throw) for throw in setting.throws()}
    published = {_in_order(throw): tuple(by) for throw, by in line.published.items()}
    dealt = Counter(RANKS[card.rank] for card in cards)
    for keep in line.published_keep:
        thrown = "".join((dealt - Counter(keep)).elements())
        published[_in_order(thrown)] = ("published",)
    for throw in published:
        if throw not in possible:
            raise ValueError(f"{throw} is no discard from {' '.join(map(str, cards))}")
    if not published:
        raise ValueError("it says no throw that is published")
    return Problem(line.id, setting, published, line.note or line.rule)


def _in_order(ranks: str) -> str:
    return "".join(sorted(ranks, key=lambda rank: RANKS.find(rank)))


def _scores(line: _Line) -> tuple[int, int]:
    if line.scores is not None:
        return line.scores
    if line.need is not None:
        if line.rule != _HEELS_RULE or line.role != "pone":
            raise ValueError(f"need goes with the rule {_HEELS_RULE!r}, for the pone")
        return SIX_CARD.target - line.need, _DEALER_AT
    said = _STARRED.search(line.note)
    if said is None:
        return 0, 0
    dealer, pone = int(said[1] or said[4]), int(said[2] or said[3])
    return (dealer, pone) if line.role == "dealer" else (pone, dealer)


def solve(
    bot: Bot, problem: Problem, rollouts: int, seed: int = 0, within: float = WITHIN
) -> Solved:
    """Ask a player, and value its throw beside those published and the best.

    Args:
        bot: throws, and plays both sides of the rollouts.
        problem: what is asked.
        rollouts: for each discard.
        seed: of the hidden cards.
        within: points behind the best by exact mean beyond which a discard is not tried,
            but for those published and the player's. Of the others, those surely behind
            are given up early, see `narrow`.

    Raises:
        BotError: when the player fails.
    """
    setting = problem.setting
    thrown = throw_of(bot, setting)
    published = {throw for throw in setting.throws() if ranks_of(throw) in problem.published}
    kept = {thrown} | published
    random = np.random.default_rng(seed)
    tried = narrow(bot, setting, candidates(setting, kept, within), kept, rollouts, random)
    found = play_out(bot, setting, tried, rollouts, random)
    own = tried.index(thrown)
    by_wins = found.wins.mean(axis=1)
    by_points = found.points.mean(axis=1)
    words: dict[int, list[str]] = {own: ["player"]}
    for ranks, advisers in problem.published.items():
        same = [at for at, throw in enumerate(tried) if ranks_of(throw) == ranks]
        # Throws of equal ranks differ by suits: the player's own stands for them, or the best.
        at = own if own in same else max(same, key=lambda place: by_wins[place])
        words.setdefault(at, []).extend(advisers)
    best, most = int(by_wins.argmax()), int(by_points.argmax())
    words.setdefault(best, []).append("best" if best == most else "best by wins")
    if most != best:
        words.setdefault(most, []).append("best by points")
    order = sorted(words, key=lambda at: (at != own, -by_wins[at]))
    return Solved(
        problem,
        ranks_of(thrown),
        tuple(
            Answer(
                ranks_of(tried[at]),
                tuple(words[at]),
                estimate(found.points[at]),
                estimate(found.wins[at]),
                _more(found.points, at, own),
                _more(found.wins, at, own),
            )
            for at in order
        ),
    )


def _more(values: Floats, at: int, own: int) -> Estimate | None:
    return None if at == own else estimate(values[at] - values[own])


def solve_all(
    bot: Bot,
    problems: list[Problem],
    rollouts: int,
    seed: int = 0,
    within: float = WITHIN,
    progress: Progress | None = None,
) -> list[Solved]:
    """Every problem in turn, see `solve`."""
    solved = []
    for number, problem in enumerate(problems, 1):
        solved.append(solve(bot, problem, rollouts, seed, within))
        if progress is not None:
            progress(number)
    return solved

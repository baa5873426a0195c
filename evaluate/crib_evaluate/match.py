"""The measured match: mirrored games in chunks, here or in worker processes.

The games of a chunk follow from the match's seed and the number of the chunk
alone, and the chunks are put together in order: the numbers are the same
however many processes played them.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shlex
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crib_agents.bot import Bot, BotError
from crib_agents.registry import make_bot
from crib_agents.uniform import check_seed
from crib_env.rules import Rules, get_rules
from crib_evaluate.mirrored import Games, Progress, blame, name_of, play_mirrored, seatings
from crib_evaluate.result import MatchResult, summarize

Entrant = str | Path | Bot

ROUNDS_IN_CHUNK = 250
"""Enough that batches are quick, few enough that slow players spread over processes."""

_REHEARSED_ROUNDS = 10
_POOL_PAYS = 15.0
"""Seconds of play from which it is worth while to start worker processes."""


@dataclass(frozen=True)
class _Plan:
    """All that decides the games of a match. It travels to the worker processes."""

    entrants: tuple[Entrant, ...]
    rules: Rules
    seed: int
    rounds: int

    @property
    def chunks(self) -> int:
        return -(-self.rounds // ROUNDS_IN_CHUNK)

    @property
    def games(self) -> int:
        return self.rounds * len(seatings(self.rules))


def play_match(
    a: Entrant,
    b: Entrant,
    games: int = 10_000,
    seed: int = 0,
    rules: str | Rules | Mapping[str, Any] = "six-card",
    workers: int | None = 1,
    progress: Progress | None = None,
) -> MatchResult:
    """Play mirrored games between two players, who take the seats by turns.

    Two meet at the table for two. With partners each player has one side. Where
    three play, each for himself, the seats are shared out in every possible way,
    so that equal players win half of the games here too.

    A player that is named is made anew for each chunk of games, with a seed that
    follows from ``seed``, so even one that draws by chance gives the same numbers
    for any ``workers``. A player that is handed in as an object is asked as it is;
    other processes get copies of it.

    Args:
        a, b: names, folders of bundles, or bots.
        games: how many; rounded up to whole rounds: of two games, for three players of six.
        seed: equal seeds give equal matches.
        rules: of all the games; hands are always counted by the engine.
        workers: processes to play in; 1 for this one alone, None for as many as
            the machine has cores if the match is long enough. Bots that cannot
            be pickled are played here.
        progress: told how many games are over.

    Raises:
        BotError: when a bot cannot be made, fails, or answers with no legal card.
        InvalidRulesError: for unknown rules.
        ValueError: for a number of games or workers below 1.

    >>> play_match("medium", "medium", games=10).players[0].win_rate.mean
    0.5
    """
    plan = _plan((a, b), games, seed, rules)
    bots = _bots(plan, plan.seed)  # what cannot be made is refused before anything is played
    processes = _processes(plan, workers)
    parts = _play_here(plan, progress) if processes == 1 else _play_in(plan, processes, progress)
    return summarize(
        Games.merge(parts),
        plan.rules,
        _names(bots),
        [_options(bot) for bot in bots],
        plan.seed,
        _command(plan),
    )


def _plan(
    entrants: tuple[Entrant, ...],
    games: int,
    seed: int,
    rules: str | Rules | Mapping[str, Any],
) -> _Plan:
    # Bots lay cards and claim nothing.
    wanted = replace(get_rules(rules), counting="automatic", muggins=False)
    if games < 1:
        raise ValueError(f"a match has at least one game, not {games}")
    return _Plan(entrants, wanted, check_seed(seed), -(-games // len(seatings(wanted))))


def _bots(plan: _Plan, seed: int) -> list[Bot]:
    return [_bot(entrant, plan.rules, seed) for entrant in plan.entrants]


def _bot(entrant: Entrant, rules: Rules, seed: int) -> Bot:
    try:
        return make_bot(entrant, rules=rules, seed=seed)
    except BotError:
        raise
    except Exception as error:  # other people's bots are made by their own code
        raise blame(str(entrant), error) from error


def _names(bots: Sequence[Bot]) -> list[str]:
    names = [name_of(bot) for bot in bots]
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({number})" for number, name in enumerate(names, 1)]


def _options(bot: Bot) -> dict[str, Any]:
    """A bot's settings; its seed is left out, since that of the match stands for it."""
    options = getattr(bot, "options", None)
    found = dict(options()) if callable(options) else {}
    found.pop("seed", None)
    return found


def _command(plan: _Plan) -> str | None:
    preset = plan.rules.to_json()
    if not isinstance(preset, str):
        return None
    names = [str(entrant) for entrant in plan.entrants if isinstance(entrant, str | Path)]
    if len(names) < len(plan.entrants):
        return None
    settings = ["--games", str(plan.games), "--seed", str(plan.seed), "--rules", preset]
    return shlex.join(["crib", "evaluate", *names, *settings])


def _play_chunk(plan: _Plan, number: int, progress: Progress | None = None) -> Games:
    """Play one chunk of a match; which games they are depends on nothing else."""
    shuffles, chance = np.random.SeedSequence(plan.seed, spawn_key=(number,)).spawn(2)
    rounds = min(ROUNDS_IN_CHUNK, plan.rounds - number * ROUNDS_IN_CHUNK)
    seeds = np.random.default_rng(shuffles).integers(-(1 << 63), 1 << 63, rounds, np.int64)
    bots_seed = int(chance.generate_state(1, np.uint64)[0] >> np.uint64(1))
    return play_mirrored(_bots(plan, bots_seed), seeds, plan.rules, progress)


def _play_here(plan: _Plan, progress: Progress | None) -> list[Games]:
    parts: list[Games] = []
    done = 0
    for number in range(plan.chunks):
        parts.append(_play_chunk(plan, number, _after(done, progress)))
        done += parts[-1].winners.size
    return parts


def _after(done: int, progress: Progress | None) -> Progress | None:
    if progress is None:
        return None
    return lambda games: progress(done + games)


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processes(plan: _Plan, workers: int | None) -> int:
    """How many processes play: 1 stands for this one."""
    if workers is not None and workers < 1:
        raise ValueError(f"a match is played by at least one process, not {workers}")
    most = min(usable_cores() if workers is None else workers, plan.chunks)
    if most == 1 or not _travels(plan):
        return 1
    # Also compiles, once for all processes, and shows up a player that does not work.
    seconds = _rehearse(plan)
    return 1 if workers is None and seconds < _POOL_PAYS else most


def _travels(plan: _Plan) -> bool:
    try:
        pickle.dumps(plan)
    except Exception:  # pickling runs the bots' own code, which may raise anything
        return False
    return True


def _rehearse(plan: _Plan) -> float:
    """Seconds that the match would take here, from a few games that do not count."""
    few = replace(plan, rounds=_REHEARSED_ROUNDS)
    before = time.perf_counter()
    _play_chunk(few, 0)
    return (time.perf_counter() - before) * plan.games / few.games


def _play_in(plan: _Plan, processes: int, progress: Progress | None) -> list[Games]:
    try:
        with _pool(processes) as pool:
            with _interrupts_held():
                chunks = [pool.submit(_play_chunk, plan, n) for n in range(plan.chunks)]
            done = 0
            for chunk in as_completed(chunks):
                done += chunk.result().winners.size
                if progress is not None:
                    progress(done)
            return [chunk.result() for chunk in chunks]
    except BrokenProcessPool:
        raise BotError(
            "a worker process died: a player crashed it, or the memory is full"
        ) from None


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Worker processes that end with this block, at once if it is left by an error."""
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_begin_worker)
    # A worker may be ended in the middle of a result. The pool's thread then waits for the rest
    # while anybody can write to the pipe, which this process can, and Python waits for
    # the thread when it ends. There is no public way to close the pipe.
    results = getattr(getattr(pool, "_result_queue", None), "_writer", None)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        if results is not None:
            results.close()
        raise
    pool.shutdown()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits while workers are started, so that they inherit deaf ears.

    A terminal sends it to all processes, and one that is still importing would
    answer with a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed cannot stop its workers, and they would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)

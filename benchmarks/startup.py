"""What a fresh process takes to begin, and how much memory a batch of games takes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from benchmarks.measure import Sampler

_IMPORT = """
import time
begin = time.perf_counter()
import crib_env
print(time.perf_counter() - begin)
"""

_FIRST_STEP = """
import time
begin = time.perf_counter()
import gymnasium, crib_env
envs = gymnasium.make_vec("crib_env/Cribbage-v0", num_envs=1024, opponent="random")
_, infos = envs.reset(seed=0)
envs.step(infos["action_mask"].argmax(axis=1))
print(time.perf_counter() - begin)
"""

_MEMORY = """
import tracemalloc
import gymnasium, crib_env

def play(number, steps):
    envs = gymnasium.make_vec("crib_env/Cribbage-v0", num_envs=number, opponent="random")
    observations, infos = envs.reset(seed=0)
    for _ in range(steps):
        observations, rewards, ended, _, infos = envs.step(infos["action_mask"].argmax(axis=1))

    return tracemalloc.get_traced_memory()[{which}]

tracemalloc.start()
play(8, 100)  # loads all code and tables
tracemalloc.reset_peak()
before = tracemalloc.get_traced_memory()[0]
print((play({games}, 100) - before) / {games})
"""


def import_time() -> Sampler:
    """Seconds that ``import crib_env`` takes in a fresh process."""
    return _probe("seconds", _IMPORT)


def first_step() -> Sampler:
    """Seconds from nothing imported to the end of the first step of 1024 games."""
    return _probe("seconds", _FIRST_STEP)


def memory(games: int, peak: bool = False) -> Callable[[], Sampler]:
    """Bytes a game allocated for the vector environment in a fresh process.

    By ``tracemalloc``, which sees numpy's arrays; after 100 steps, in which whole games
    end, what the last one handed to the caller included. At the peak, amid a step,
    the caller holds what the step before handed out as well.
    """
    return lambda: _probe("bytes", _MEMORY.format(games=games, which=int(peak)))


def _probe(measure: str, code: str) -> Sampler:
    def sample(seconds: float) -> dict[str, float]:
        command = [sys.executable, "-c", code]
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
        return {measure: float(answer.stdout)}

    sample(0)  # whatever has to be compiled is compiled now
    return sample

"""MaskablePPO end to end: decisions a second, and how much of the time the environment takes.

Only the functions import torch.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import gymnasium

from benchmarks.environments import ID
from benchmarks.measure import Done, Work

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv

ENVS = 1024
STEPS = 16
EPOCHS = 3
SETTINGS: dict[str, Any] = {"n_steps": STEPS, "batch_size": 4096, "gamma": 1.0}
GAME: dict[str, Any] = {"opponent": "random", "episode": "deal", "reward": "win_probability"}


def through_the_bridge(envs: int = ENVS, epochs: int = EPOCHS) -> Work:
    """The vector environment through `as_vec_env`."""
    from crib_env.sb3 import as_vec_env

    envs_of_ours = gymnasium.make_vec(ID, num_envs=envs, **GAME)
    return _learn(as_vec_env(envs_of_ours, monitor=True), epochs)  # type: ignore[arg-type]


def through_dummy(envs: int = ENVS, epochs: int = EPOCHS) -> Work:
    """As many single environments in a ``DummyVecEnv``, by Stable-Baselines3's ``make_vec_env``."""
    from stable_baselines3.common.env_util import make_vec_env

    return _learn(make_vec_env(ID, envs, env_kwargs={"render_mode": None, **GAME}), epochs)


def as_crib_train_does(envs: int = ENVS) -> Work:
    """With the network, reward, fixed opponents and settings of ``crib train``."""
    from stable_baselines3.common.vec_env import VecMonitor

    from crib_agents import make_bot
    from crib_env.sb3 import as_vec_env
    from crib_env.vector import CribbageVectorEnv
    from crib_train.ppo import make_model
    from crib_train.reward import DealReward, ExpectedShow
    from crib_train.settings import PPOSettings
    from crib_train.training import use_one_core

    use_one_core()
    batch_size = min(PPOSettings.batch_size, envs * PPOSettings.steps)
    settings = PPOSettings(envs=envs, batch_size=batch_size)
    reward = DealReward(settings.reward_scale, settings.reward_clip, settings.luck_taken_out)
    opponents = [make_bot(name, seed=0) for name in settings.fixed_opponents]
    deals = CribbageVectorEnv(envs, opponents, reward=reward, episode="deal")
    timed = _timed(ExpectedShow(as_vec_env(deals), reward))
    return _work(make_model(settings, VecMonitor(timed)), timed, envs * settings.steps)


def _learn(env: VecEnv, epochs: int) -> Work:
    """One update after another with `SETTINGS` and the policy as it comes.

    Args:
        env: environments that are monitored.
        epochs: passes over what an update collected.
    """
    from sb3_contrib import MaskablePPO

    from crib_train.training import use_one_core

    use_one_core()
    timed = _timed(env)
    decisions = env.num_envs * STEPS
    batch_size = min(SETTINGS["batch_size"], decisions)
    settings = {**SETTINGS, "batch_size": batch_size, "n_epochs": epochs}
    model = MaskablePPO("MlpPolicy", timed, seed=0, device="cpu", **settings)
    return _work(model, timed, decisions)


def _work(model: Any, timed: Any, decisions: int) -> Work:
    while True:
        before = timed.inside
        model.learn(decisions, reset_num_timesteps=False)
        yield Done(0, decisions, timed.inside - before)


def _timed(env: VecEnv) -> Any:
    """Wrap an environment so that ``inside`` counts the seconds that its steps and masks take."""
    from stable_baselines3.common.vec_env import VecEnvWrapper

    class Timed(VecEnvWrapper):
        def __init__(self, venv: VecEnv) -> None:
            super().__init__(venv)
            self.inside = 0.0

        def reset(self) -> Any:
            return self.venv.reset()

        def step_async(self, actions: Any) -> None:
            begin = time.perf_counter()
            self.venv.step_async(actions)
            self.inside += time.perf_counter() - begin

        def step_wait(self) -> Any:
            begin = time.perf_counter()
            outcome = self.venv.step_wait()
            self.inside += time.perf_counter() - begin
            return outcome

        def env_method(self, *arguments: Any, **named: Any) -> Any:
            begin = time.perf_counter()
            answer = self.venv.env_method(*arguments, **named)
            self.inside += time.perf_counter() - begin
            return answer

    return Timed(env)

"""MaskablePPO on deals, against fixed players and past selves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from crib_agents import make_bot
from crib_env.sb3 import as_vec_env
from crib_env.vector import CribbageVectorEnv
from crib_train.checkpoint import Run
from crib_train.policy import RankPolicy
from crib_train.reward import DealReward, ExpectedShow
from crib_train.settings import PPOSettings
from crib_train.training import Report, Stop, Trainer


class PPOTrainer(Trainer):
    """A run of MaskablePPO, see `Trainer`."""

    settings: PPOSettings
    model: MaskablePPO

    def __init__(
        self,
        run: Run,
        settings: PPOSettings,
        report: Report | None = None,
        stop: Stop | None = None,
    ) -> None:
        super().__init__(run, settings, report, stop)
        self.reward = DealReward(
            settings.reward_scale, settings.reward_clip, settings.luck_taken_out
        )
        # Places for past selves are filled when the first deals begin.
        waiting = [make_bot("random")] * settings.past_selves
        self.deals = CribbageVectorEnv(
            settings.envs, [*self.fixed, *waiting], reward=self.reward, episode="deal"
        )
        env: VecEnv = VecMonitor(ExpectedShow(as_vec_env(self.deals), self.reward))
        self.model = make_model(settings, env)

    def begin_anew(self, seed: int, random: np.random.Generator) -> None:
        """Draw opponents and begin new deals."""
        past = self.pool.draw(self.settings.past_selves, random)
        self.deals.opponents[len(self.fixed) :] = past
        env = self.model.env
        assert env is not None
        env.seed(seed)
        self.model._last_obs = env.reset()  # type: ignore[assignment]
        self.model._last_episode_starts = np.ones(env.num_envs, np.bool_)


def small_model(settings: PPOSettings) -> MaskablePPO:
    """The learner with a small environment, to load a checkpoint into."""
    small = replace(settings, envs=1, steps=2, batch_size=2)
    return make_model(small, as_vec_env(CribbageVectorEnv(1, "random", episode="deal")))


def make_model(settings: PPOSettings, env: VecEnv) -> MaskablePPO:
    """The learner with a fresh network."""
    return MaskablePPO(
        RankPolicy,
        env,
        learning_rate=LinearSchedule(settings.learning_rate, settings.final_learning_rate, 1.0),
        n_steps=settings.steps,
        batch_size=settings.batch_size,
        n_epochs=settings.epochs,
        gamma=1.0,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip_range,
        ent_coef=settings.entropy,
        vf_coef=settings.value_weight,
        max_grad_norm=settings.max_grad_norm,
        policy_kwargs={"hidden": settings.hidden, "weight": settings.points_weight},
        seed=settings.seed,
        device="cpu",
    )

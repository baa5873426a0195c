"""What training pays for: the change in the chance to win, with the noise taken out.

Three things are done to ``win_probability`` that leave the ranking of choices as
it is and make it learnable:

- It is told as it happens. Points pegged change the chance to win at once, so they
  are paid at once; the payments of a deal add up to the change over the deal.
- It is measured in points. Near the end one point can be worth a tenth of a game,
  in a lost game nothing; dividing by what a point is worth at the scores with which
  the deal began puts all deals on one scale.
- The luck of the show is taken out. What the hands and the crib will count does not
  depend on the play, and what it depends on in the discard is known as an exact
  mean. So the show that came is subtracted, and the mean of the discard chosen is
  paid when it is chosen. Near the end of the game, where a show may come too late or
  be more than is needed, this would add noise and is faded out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from crib_env.observation import POINT, split
from crib_env.rewards import Change, deal_shows
from crib_env.rules import SIX_CARD
from crib_env.win_probability import win_probabilities

_SPAN = 3
"""Points to either side over which the worth of a point is measured."""
_LEAST_WORTH = 0.004
"""Win probability: a point is never taken to be worth less, lest lost games be blown up."""
_ENDGAME = (10, 40)
"""Points to go of the side ahead between which the show's luck begins to be taken out."""
_ONE_TO_THROW = 1
"""Place in the observation's ``phase`` of a hand with one card left to throw."""


class Scale:
    """What a point is worth at the start of a deal, by who deals and the scores.

    Args:
        luck_taken_out: how much of the show's luck is taken out far from the end, 0 to 1.
    """

    def __init__(self, luck_taken_out: float = 1.0) -> None:
        target = SIX_CARD.target
        shape = (2, target, target)
        dealing, own, other = (part.ravel() for part in np.indices(shape))
        up = win_probabilities(np.minimum(own + _SPAN, target), other, dealing == 1)
        down = win_probabilities(own, np.minimum(other + _SPAN, target), dealing == 1)
        true_worth = (up - down) / (2 * _SPAN)
        self.worth: NDArray[np.float64] = np.maximum(true_worth, _LEAST_WORTH).reshape(shape)
        """Win probability of a point, float64 ``[2, 121, 121]`` by ``[dealing, own, other]``."""
        to_go = target - np.maximum(own, other)
        low, high = _ENDGAME
        fade = np.clip((to_go - low) / (high - low), 0.0, 1.0)
        share = luck_taken_out * fade * np.minimum(true_worth / _LEAST_WORTH, 1.0)
        self.luck_share: NDArray[np.float64] = share.reshape(shape)
        """How much of the show's luck is taken out, 0 to 1, same shape."""


class DealReward:
    """The reward of a step, see the module. Rows are of the six-card game, one deal each.

    Args:
        scale: reward for as much win probability as one point is worth.
        clip: payments are cut to this many points' worth.
        luck_taken_out: see `Scale`.
    """

    def __init__(self, scale: float, clip: float, luck_taken_out: float = 1.0) -> None:
        self.scale = scale
        self.clip = clip
        self.table = Scale(luck_taken_out)

    def __call__(self, change: Change) -> NDArray[np.float64]:
        """Rewards, float64 ``[n]``."""
        rows = np.arange(len(change.side))
        own, other = change.side, 1 - change.side

        def chance(points: NDArray[np.int64], dealer: NDArray[np.int64]) -> NDArray[np.float64]:
            return win_probabilities(points[rows, own], points[rows, other], dealer == own)

        start = (
            (change.dealer_before == own).astype(np.int64),
            change.deal_before[rows, own],
            change.deal_before[rows, other],
        )
        gained = chance(change.after, change.dealer_after) - chance(
            change.before, change.dealer_before
        )
        points = gained / self.table.worth[start]
        ended = np.flatnonzero(change.deal_over)
        shows = deal_shows(change.games[ended], SIX_CARD)
        at = np.arange(len(ended))
        surplus = shows[at, own[ended]] - shows[at, other[ended]]
        points[ended] -= self.table.luck_share[start][ended] * surplus
        return self.scale * np.clip(points, -self.clip, self.clip)


class ExpectedShow(VecEnvWrapper):
    """Pays the exact mean of a discard when its last card is chosen.

    Together with what `DealReward` subtracts, the show's luck is gone and its mean
    remains.
    """

    def __init__(self, venv: VecEnv, reward: DealReward) -> None:
        super().__init__(venv)
        self.reward = reward
        self._bonus: NDArray[np.float32] = np.zeros(self.num_envs, np.float32)
        self._observations: NDArray[np.float32] = np.zeros((self.num_envs, 0), np.float32)

    def reset(self) -> VecEnvObs:
        """Begin all episodes."""
        self._observations = self._seen(self.venv.reset())
        return self._observations

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Lay cards, and remember what their discards are worth."""
        self._bonus = self._worth(actions)
        self.venv.step_async(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """The step with the reward made up."""
        observations, rewards, dones, infos = self.venv.step_wait()
        self._observations = self._seen(observations)
        return self._observations, rewards + self._bonus, dones, infos

    def _worth(self, actions: NDArray[np.int64]) -> NDArray[np.float32]:
        pieces = split(self._observations, SIX_CARD)
        throwing = np.flatnonzero(pieces["phase"][:, _ONE_TO_THROW] > 0)
        points = pieces["points"][throwing, actions[throwing]] / POINT
        scores = np.rint(pieces["scores"][throwing] * SIX_CARD.target).astype(np.int64)
        dealing = (pieces["dealer"][throwing, 0] > 0).astype(np.int64)
        share = self.reward.table.luck_share[dealing, scores[:, 0], scores[:, 1]]
        bonus = np.zeros(self.num_envs, np.float32)
        bonus[throwing] = self.reward.scale * share * points
        return bonus

    @staticmethod
    def _seen(observations: VecEnvObs) -> NDArray[np.float32]:
        assert isinstance(observations, np.ndarray)
        return observations

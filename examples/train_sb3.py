"""Train MaskablePPO from sb3-contrib on a thousand deals at once, then watch it play a game.

pip install ".[train]" && python examples/train_sb3.py [DECISIONS]
"""

import sys

import gymnasium
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback

import crib_env  # noqa: F401  (registers the environment)
from crib_env.sb3 import as_vec_env

ID = "crib_env/Cribbage-v0"
decisions = sys.argv[1] if len(sys.argv) > 1 else "200000"
if not decisions.isdecimal():
    sys.exit(f"DECISIONS is a whole number, not {decisions!r}")
torch.set_num_threads(1)  # for networks this small a second thread costs more than it brings

deals = {"episode": "deal", "reward": "margin"}  # points gained on the other side in a deal
training = gymnasium.make_vec(ID, num_envs=1024, opponent="random", **deals)
measuring = gymnasium.make_vec(ID, num_envs=256, opponent="easy", **deals)
against_easy = MaskableEvalCallback(
    as_vec_env(measuring, monitor=True), eval_freq=32, n_eval_episodes=2000
)
model = MaskablePPO(
    "MlpPolicy", as_vec_env(training, monitor=True), n_steps=16, batch_size=4096, n_epochs=4,
    learning_rate=2e-3, gamma=1.0, gae_lambda=0.8, policy_kwargs={"net_arch": [128, 128]}, seed=0,
)  # fmt: skip
model.learn(int(decisions), callback=against_easy)

game = gymnasium.make(ID, opponent="easy", render_mode="ansi")
observation, info = game.reset(seed=0)
over = False
while not over:
    card, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
    observation, _, over, _, info = game.step(int(card))
print(game.render())
print(f"{'won' if info['is_success'] else 'lost'} at {info['scores'][0]} to {info['scores'][1]}")

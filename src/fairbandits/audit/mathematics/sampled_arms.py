"""Rewards that arms sampled from recorded distributions would have earned."""

import numpy as np


def sampled_reward(
    rounds: np.ndarray, plays: np.ndarray, reward: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return each arm's reward at T with arms sampled from x(t), shape (n_replicates, n_arms).

    Between two recorded rounds the arms are drawn from the mean distribution there, and each is
    paid the mean reward that it had there. `plays` and `reward` are the recorded sums of
    probabilities and rewards, shape (n_replicates, n_rounds, n_arms).
    """
    plays, reward = (np.diff(one, axis=1, prepend=0.0) for one in (plays, reward))
    lengths = np.diff(rounds, prepend=0)
    pulls = rng.multinomial(lengths, plays / plays.sum(axis=-1, keepdims=True))
    paid = np.divide(reward, plays, out=np.zeros_like(reward), where=plays > 0)
    return (pulls * paid).sum(axis=1)

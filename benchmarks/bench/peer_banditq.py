"""Play and time the BanditQ of a checkout of Revenue_guaranteeing_bandits; prints JSON.

A script for a process of its own: ``python peer_banditq.py CHECKOUT INPUT.npz REPETITIONS``. The
input has the targets, the horizon that V is made of, the rewards by arm and number of pull, and a
uniform number per round.
"""

import importlib.util
import json
import sys
import time
from pathlib import Path

import numpy as np


def load(checkout):
    """Return their module of algorithms, whose package has the same name as ours."""
    file = Path(checkout) / "fairbandits" / "algo.py"
    spec = importlib.util.spec_from_file_location("revenue_guaranteeing_algo", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def play(policy, rewards, coins):
    """Return the arm of each round: the first whose cumulated probability exceeds the coin."""
    pulls = [0] * len(rewards)
    arms = []
    for coin in coins:
        x = policy.play()
        arm, cumulated = 0, x[0]
        while arm < len(pulls) - 1 and cumulated <= coin:
            arm += 1
            cumulated += x[arm]
        policy.update(arm, rewards[arm][pulls[arm]], x)
        pulls[arm] += 1
        arms.append(arm)
    return arms


def main(checkout, file, repetitions):
    """Return the arms of all rounds and the microseconds a round."""
    algo = load(checkout)
    data = np.load(file)
    rewards, coins = data["rewards"].tolist(), data["coins"].tolist()
    us = []
    for _ in range(int(repetitions)):
        policy = algo.BanditQ(data["targets"], int(data["horizon"]))
        start = time.process_time()
        arms = play(policy, rewards, coins)
        us.append((time.process_time() - start) / len(coins) * 1e6)
    return {"arms": arms, "us": us}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))

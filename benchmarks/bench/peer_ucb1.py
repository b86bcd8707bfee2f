"""Time a bandit policy of another library at its own interface; prints one line of JSON.

A script for the interpreter that has the library, which need not have anything of ours:
``python peer_ucb1.py LIBRARY [[ARMS,ROUNDS],...] SECONDS REPETITIONS``. UCB1 where a library has
it, otherwise its own policy of upper confidence bounds. A point is left out if a library would
take more than SECONDS for it.
"""

import contextlib
import importlib.metadata
import json
import random
import sys
import time


class SMPyBandits:
    """Its UCB, with ``choice`` and ``getReward``."""

    package, policy = "SMPyBandits", "UCB1"

    def __init__(self, arms):
        from SMPyBandits.Policies.UCB import UCB

        player = UCB(arms)
        player.startGame()
        self.choose, self.learn = player.choice, player.getReward


class MABWiser:
    """Its UCB1, with ``predict`` and ``partial_fit``; alpha = 1 is the textbook's width."""

    package, policy = "mabwiser", "UCB1"

    def __init__(self, arms):
        from mabwiser.mab import MAB, LearningPolicy

        player = MAB(list(range(arms)), LearningPolicy.UCB1(alpha=1.0))
        player.fit(list(range(arms)), [0.5] * arms)  # it wants data before the first choice
        self.choose = player.predict
        self.learn = lambda arm, reward: player.partial_fit([arm], [reward])


class BanditLab:
    """Its UCB on a ridge regression of one constant feature: it has no UCB1."""

    package, policy = "banditlab", "ridge UCB"

    def __init__(self, arms):
        import numpy as np
        from mab_framework.algorithms.non_contextual.ucb import UCBAlgorithm
        from mab_framework.models.linear_model import OnlineRidgeRegression

        player, context = UCBAlgorithm(arms, OnlineRidgeRegression(1)), np.ones(1)
        self.choose = lambda: player.select_arm(context)
        self.learn = lambda arm, reward: player.update(
            [{"action": arm, "reward": reward, "context": context}]
        )


class BayesianBandits:
    """Its upper confidence bounds of a normal model, by 1000 samples: it has no UCB1."""

    package, policy = "bayesianbandits", "Bayesian UCB"

    def __init__(self, arms):
        from bayesianbandits import Agent, Arm, NormalInverseGammaRegressor, UpperConfidenceBound

        learners = [Arm(k, learner=NormalInverseGammaRegressor()) for k in range(arms)]
        player = Agent(learners, UpperConfidenceBound(), random_seed=0)

        def choose():
            (arm,) = player.pull()
            return arm

        self.choose = choose
        self.learn = lambda arm, reward: player.select_for_update(arm).update([reward])


class RLBerry:
    """Its agent with an index, by default UCB1's, which plays whole runs in an environment."""

    package, policy = "rlberry", "UCB1"

    def __init__(self, arms):
        import gymnasium
        from rlberry.agents.bandits import IndexAgent

        class Rewards(gymnasium.Env):
            action_space, observation_space = map(gymnasium.spaces.Discrete, (arms, 1))
            pay = None

            def step(self, arm):
                return 0, self.pay(arm), False, False, {}

        player = IndexAgent(Rewards(), copy_env=False)

        def play(pay, rounds):
            player.env.unwrapped.pay = pay
            player.fit(rounds)

        self.play = play


LIBRARIES = {
    "SMPyBandits": SMPyBandits,
    "MABWiser": MABWiser,
    "banditlab": BanditLab,
    "bayesianbandits": BayesianBandits,
    "rlberry": RLBerry,
}


def microseconds(library, arms, rounds):
    """Return the time of a round: a choice, one of the rewards drawn beforehand, an update."""
    rng = random.Random(0)
    wins = [
        [float(rng.random() < (k + 1) / (2 * arms)) for _ in range(rounds)] for k in range(arms)
    ]
    pulls = [0] * arms

    def pay(arm):
        pulls[arm] += 1
        return wins[arm][pulls[arm] - 1]

    player = library(arms)
    start = time.process_time()
    if hasattr(player, "play"):
        player.play(pay, rounds)
    else:
        for _ in range(rounds):
            arm = int(player.choose())
            player.learn(arm, pay(arm))
    return (time.process_time() - start) / rounds * 1e6


def main(name, points, patience, repetitions):
    """Time the library, or say why it cannot be used."""
    library = LIBRARIES[name]
    try:
        with contextlib.redirect_stdout(sys.stderr):  # some print while they are imported
            version = importlib.metadata.version(library.package)
            library(2)
    except importlib.metadata.PackageNotFoundError:
        return {"absent": "not installed"}
    except Exception as error:  # whatever stops it from being used is what is said
        reason = str(error).partition(" (")[0]  # what follows is a path
        return {"absent": f"cannot be used: {reason}"}
    rows = []
    for arms, rounds in points:
        if microseconds(library, arms, 20) * rounds / 1e6 < patience:
            rows += [
                {"arms": arms, "rounds": rounds, "us": microseconds(library, arms, rounds)}
                for _ in range(repetitions)
            ]
    return {"version": version, "policy": library.policy, "rows": rows}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], *map(json.loads, sys.argv[2:]))))

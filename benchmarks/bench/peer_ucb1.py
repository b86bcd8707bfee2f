"""Time the UCB1 of another library at its own interface; prints one line of JSON.

A script for the interpreter that has the library, which need not have anything of ours:
``python peer_ucb1.py LIBRARY ARMS ROUNDS REPETITIONS``.
"""

import contextlib
import importlib.metadata
import json
import random
import sys
import time


class SMPyBandits:
    """Its UCB, with ``choice`` and ``getReward``."""

    package = "SMPyBandits"

    def __init__(self, arms):
        from SMPyBandits.Policies.UCB import UCB

        self.policy = UCB(arms)
        self.policy.startGame()
        self.choose, self.learn = self.policy.choice, self.policy.getReward


class MABWiser:
    """Its UCB1, with ``predict`` and ``partial_fit``; alpha = 1 is the textbook's width."""

    package = "mabwiser"

    def __init__(self, arms):
        from mabwiser.mab import MAB, LearningPolicy

        self.policy = MAB(list(range(arms)), LearningPolicy.UCB1(alpha=1.0))
        self.policy.fit(list(range(arms)), [0.5] * arms)  # it wants data before the first choice
        self.choose = self.policy.predict

    def learn(self, arm, reward):
        """Tell it of one pull."""
        self.policy.partial_fit([arm], [reward])


def microseconds(library, arms, rounds):
    """Return the time of a round: a choice, one of the rewards drawn beforehand, an update."""
    rng = random.Random(0)
    wins = [[float(rng.random() < (k + 1) / 20) for _ in range(rounds)] for k in range(arms)]
    pulls = [0] * arms
    player = library(arms)
    start = time.process_time()
    for _ in range(rounds):
        arm = int(player.choose())
        player.learn(arm, wins[arm][pulls[arm]])
        pulls[arm] += 1
    return (time.process_time() - start) / rounds * 1e6


def main(name, arms, rounds, repetitions):
    """Time the library, or say why it cannot be used."""
    library = {"SMPyBandits": SMPyBandits, "MABWiser": MABWiser}[name]
    try:
        with contextlib.redirect_stdout(sys.stderr):  # some print while they are imported
            version = importlib.metadata.version(library.package)
            library(arms)
    except importlib.metadata.PackageNotFoundError:
        return {"absent": "not installed"}
    except Exception as error:  # whatever stops it from being used is what the table says
        reason = str(error).partition(" (")[0]  # what follows is a path
        return {"absent": f"does not import: {reason}"}
    return {
        "version": version,
        "us": [microseconds(library, arms, rounds) for _ in range(repetitions)],
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], *map(int, sys.argv[2:]))))

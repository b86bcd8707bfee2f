"""Other people's code for the same problems, at its own interface, where it is installed.

Each peer runs in a process of its own, so that nothing of it enters this environment.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

import fairbandits as fb
import naive
from bench import HERE
from bench.cases import CASES, SEED, STREAM, Case
from bench.history import git
from bench.measure import nanoseconds, spread
from bench.ways import play_ours

REVENUE = "Revenue_guaranteeing_bandits"
UCB1 = ("SMPyBandits", "MABWiser")
UCB1_CASE, BANDITQ_CASE = "UCB1, N=10", "BanditQ, bandit, N=5"


def named(name: str) -> Case:
    """Return the case of this name."""
    (case,) = (case for case in CASES if case.name == name)
    return case


def script(interpreter: str, name: str, *words: object) -> dict[str, Any]:
    """Run one of the scripts beside this file; return what it says, or why it says nothing."""
    command = [interpreter, str(HERE / "bench" / f"{name}.py"), *map(str, words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)
    except OSError as error:
        return {"absent": f"{interpreter} cannot be run: {error.strerror}"}
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or [f"exit code {error.returncode}"])[-1]
        return {"absent": f"stopped: {last}"}


def ours_us(case: Case, repetitions: int) -> dict[str, Any]:
    """Return the microseconds a round of ours."""
    play_ours(case, len(case.means))  # compiles
    return spread(nanoseconds(play_ours, case, case.rounds) / 1000 for _ in range(repetitions))


def row(name: str, case: Case, answer: dict[str, Any], repetitions: int) -> dict[str, Any]:
    """Return a peer's row, with ours timed beside it unless the peer is absent."""
    absent = answer.get("absent")
    return {
        "name": name,
        "what": case.name,
        "absent": absent,
        "version": answer.get("version"),
        "us": None if absent else spread(answer["us"]),
        "ours_us": None if absent else ours_us(case, repetitions),
        "same_pulls": answer.get("same_pulls"),
    }


def measure_ucb1(interpreter: str | None, rounds: int, repetitions: int) -> list[dict[str, Any]]:
    """Return the rows of the libraries with UCB1, 10 Bernoulli arms."""
    case = named(UCB1_CASE)
    rows = []
    for name in UCB1:
        if interpreter is None:
            answer = {"absent": "no interpreter named (--peers PYTHON)"}
        else:
            answer = script(interpreter, "peer_ucb1", name, len(case.means), rounds, repetitions)
        rows.append(row(name, case, answer, repetitions))
    return rows


def measure_banditq(checkout: Path | None, rounds: int, repetitions: int) -> dict[str, Any]:
    """Return the row of the BanditQ of Revenue_guaranteeing_bandits, fed with our numbers."""
    case = named(BANDITQ_CASE)
    (policy,) = case.policies
    if checkout is None:
        answer = {"absent": "no checkout named (--revenue-guaranteeing PATH)"}
    else:
        arms, t = range(len(case.means)), range(1, rounds + 1)
        words = [[naive.draw(SEED, STREAM, 0, "reward", k, n) for n in t] for k in arms]
        coins = [naive.unit(naive.draw(SEED, STREAM, 0, "coin", 0, n)) for n in t]
        rewards = [
            [naive.reward(case.law, mu, word) for word in row]
            for mu, row in zip(case.means, words, strict=True)
        ]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "input.npz"
            np.savez(
                file,
                targets=np.array(policy.targets, dtype=float),
                horizon=round(policy.V**2),
                rewards=rewards,
                coins=coins,
            )
            answer = script(sys.executable, "peer_banditq", checkout, file, repetitions)
    if "arms" in answer:
        answer["same_pulls"] = answer["arms"] == our_arms(case, rounds)
        answer["version"] = git(checkout, "rev-parse", "--short=7", "HEAD") or "of unknown version"
    return row(REVENUE, case, answer, repetitions)


def our_arms(case: Case, rounds: int) -> list[int]:
    """Return the arm that ours pulls in each round."""
    (policy,) = case.policies
    instance = fb.Instance(case.means, law=case.law)
    every = range(1, rounds + 1)
    result = fb.run(policy, instance, rounds, seed=SEED, stream=STREAM, checkpoints=every)
    return np.diff(result.plays[0], axis=0, prepend=0).argmax(axis=1).tolist()


def measure_peers(
    cases: Collection[str],
    interpreter: str | None,
    checkout: Path | None,
    repetitions: int,
    *,
    quick: bool,
) -> list[dict[str, Any]]:
    """Return the rows of the peers of these cases."""
    rounds = 50 if quick else 5000
    rows = []
    if UCB1_CASE in cases:
        rows += measure_ucb1(interpreter, rounds, repetitions)
    if BANDITQ_CASE in cases:
        rows.append(measure_banditq(checkout, rounds, repetitions))
    return rows

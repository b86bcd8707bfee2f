"""Run one policy on one instance, checked and in several processes: `fairbandits.run`."""

import multiprocessing
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fairbandits import checks
from fairbandits.library import inputs, simulation
from fairbandits.library.compiling import Compiled
from fairbandits.library.identity import Saved
from fairbandits.library.instance import Instance, RandomInstance
from fairbandits.library.late import name_of, refuse_class
from fairbandits.library.processes import said_if_long, shared
from fairbandits.library.repeating import repeated
from fairbandits.library.results import Result, joined
from fairbandits.library.simulation import Setting, play
from fairbandits.library.worlds import World
from fairbandits.rationals import LONGEST, exact

#: Least number of pieces of the replicates: in all, so that progress shows, and per process, so
#: that none waits long for another.
PIECES, PIECES_EACH = 20, 4
#: Bound of replicate numbers, which are recorded in 32 bits.
REPLICATES = 2**31


def run(
    policy: Any,
    instance: Instance | RandomInstance | World,
    horizon: int,
    replicates: int | Sequence[int] = 1,
    *,
    seed: int = 0,
    checkpoints: Sequence[int] | None = None,
    stream: str = "run",
    quotas: Sequence | None = None,
    observe: Sequence[Any] = (),
    compiled: bool | None = None,
    n_jobs: int = 1,
    progress: bool = False,
) -> Result:
    """Run a policy on an instance.

    Parameters
    ----------
    policy : object
        A policy of `fairbandits.policies`, or any object with an attribute ``feedback`` ("bandit"
        or "full") and a method ``start(n_arms, horizon)``. `start` returns a fresh object with
        methods ``choose(t, coin)`` and ``learn(t, action, reward)``. With an attribute ``probes``
        (names) it also has ``probe(out)``. Such a policy runs in plain Python, on the same streams.
    instance : Instance, RandomInstance or World
        Means and reward law; a random instance is drawn once for each replicate. In a `World`
        policies are interpreted.
    horizon : int
        Number of rounds T, at least the number of arms and at most 2**53.
    replicates : int or sequence of int
        How many replicates, or their numbers (0-based, below 2**31).
    seed, stream : int, str
        Runs with the same seed and stream name share their rewards, arm by arm and pull by pull.
    checkpoints : sequence of int, optional
        Increasing rounds in 1..horizon at which to record; default `checkpoint_grid`.
    quotas : sequence of number or str, optional
        Quota of each arm, a fraction of the pulls, exact: 0.05, "1/3". They are measured (see
        `Result.deficits`); a policy has its own quotas.
    observe : sequence of object, optional
        Observers of `fairbandits.observers`, or any objects with ``probes`` (names) and a method
        ``start(policy, state, n_arms, horizon)``. `start` returns a fresh object with methods
        ``watch(state, t, action, reward)`` and ``report(state, out)``; `state` is that of the
        policy.
    compiled : bool, optional
        Whether a policy of this package runs compiled or interpreted, with the same results. By
        default the faster of the two; a policy of `fairbandits.compiled` is always compiled.
    n_jobs : int
        How many processes share the replicates, with the same results. The processes are copies of
        this one, so policies need not be importable.
    progress : bool
        Whether a line on standard error says how many replicates are done.

    Raises
    ------
    TypeError
        If the policy or an observer lacks an attribute or method, or an observer cannot watch this
        policy. A UserWarning is given if no policy can meet the targets on the instance.

    Examples
    --------
    >>> from fairbandits import UCB1, Instance, run
    >>> result = run(UCB1(), Instance((0.9, 0.1)), horizon=1000, replicates=2, checkpoints=[1000])
    >>> result.plays.sum(axis=2).tolist()
    [[1000], [1000]]
    """
    check(policy, instance)
    simulation.feedback_of(policy)
    numbers, n_arms = numbers_of(replicates), instance.n_arms
    horizon = checks.whole("horizon", horizon)
    if horizon > LONGEST:
        raise ValueError(f"horizon must be at most 2**53, got {horizon}")
    if horizon < n_arms:
        raise ValueError(f"horizon must be at least the number of arms ({n_arms}), got {horizon}")
    seed = checks.whole("seed", seed, at_least=0)
    if not inputs.is_text(stream):
        raise TypeError(f"stream must be a text, such as 'run', got {stream!r}")
    checks.whole("n_jobs", n_jobs, hint="; os.cpu_count() says how many processors there are")
    if quotas is not None:
        quotas = inputs.quotas(quotas, n_arms)
    if not isinstance(observe, Iterable):
        raise TypeError(f"observe must be a list of observers, got {observe!r}")
    observe = tuple(observe)
    for observer in observe:
        if isinstance(observer, type):
            name = observer.__name__
            raise TypeError(f"an observer is an object, and {name} is its class; write {name}(...)")
        if callable(getattr(observer, "start", None)):
            simulation.check_takes(observer, "start", ("policy", "state", "n_arms", "horizon"))
    rounds = _rounds(checkpoints, horizon)
    if isinstance(policy, Compiled) and compiled is not False:
        policy.compile(instance, quotas=quotas, observe=observe)
    if multiprocessing.current_process().daemon:  # as in a Pool, which may not start others
        n_jobs = 1
    alone = n_jobs == 1 and not progress
    n_pieces = 1 if alone else min(numbers.size, max(PIECES, PIECES_EACH * n_jobs))
    how = {"checkpoints": rounds, "seed": seed, "stream": stream, "compiled": compiled}
    setting = Setting(policy, observe, quotas)
    playing = partial(play, setting, instance, horizon, **how)
    pieces = np.array_split(numbers, n_pieces)
    parts: list[dict[str, Any]] = []
    begin = time.monotonic()
    checked = repeated(setting, instance, horizon, numbers, elsewhere=n_jobs > 1, **how)
    try:
        with checked:
            here = map(said_if_long()(playing), pieces)
            for part in here if n_jobs == 1 else shared(playing, pieces, n_jobs):
                parts.append(part)
                if progress:
                    done = sum(piece["replicates"].size for piece in parts)
                    _say(name_of(policy), done, numbers.size, time.monotonic() - begin)
    finally:
        if progress:
            print(file=sys.stderr)
    measured = None if quotas is None else exact("quotas", quotas)
    return Result(policy, instance, horizon, seed, stream, quotas=measured, **joined(parts))


def check(policy: Any, instance: Any) -> None:
    """Raise TypeError for a class, a name or the like in place of a policy or an instance."""
    if hasattr(policy, "feedback"):
        refuse_class(policy)
    if isinstance(policy, Saved) or isinstance(instance, Saved):
        raise TypeError("policy and instance of a loaded result describe them; make them again")
    if isinstance(policy, str):
        raise TypeError(f"a policy is an object, such as fairbandits.UCB1(), got {policy!r}")
    if not isinstance(instance, Instance | RandomInstance | World):
        raise TypeError(
            "instance must be an Instance, a RandomInstance or a World, such as "
            f"Instance(means=(0.7, 0.5)), got {instance!r}"
        )
    if isinstance(instance, World) and isinstance(policy, Compiled):
        raise TypeError(
            "in a World policies are interpreted; give the policy itself, not fairbandits.compiled"
        )


def numbers_of(replicates: int | Sequence[int]) -> np.ndarray:
    """Return the numbers of replicates, given as numbers or as a count."""
    if isinstance(replicates, int | np.integer):
        if checks.whole("replicates", replicates) > REPLICATES:
            raise ValueError(f"replicates must be at most 2**31, got {replicates}")
        return np.arange(replicates)
    fits = isinstance(replicates, Iterable) and not isinstance(replicates, Mapping)
    numbers = _whole([*replicates] if fits and getattr(replicates, "ndim", 1) else replicates)
    if not numbers.size or numbers.min() < 0 or np.unique(numbers).size != numbers.size:
        raise ValueError(
            f"replicates must be a number or distinct whole numbers of at least 0, "
            f"got {replicates!r}"
        )
    if numbers.max() >= REPLICATES:
        raise ValueError(f"replicates must have numbers below 2**31, got {numbers.max()}")
    return numbers.astype(np.int64)


def _rounds(checkpoints: Sequence[int] | None, horizon: int) -> np.ndarray:
    if checkpoints is None:
        return simulation.checkpoint_grid(horizon)
    rounds = _whole(checkpoints)
    fit = rounds.size and rounds[0] >= 1 and rounds[-1] <= horizon
    if not (fit and (rounds[1:] > rounds[:-1]).all()):
        raise ValueError(
            f"checkpoints must be increasing whole numbers in 1..{horizon}, got {checkpoints!r}"
        )
    return rounds.astype(np.int64)


def _whole(values: Any) -> np.ndarray:
    """Return a list of whole numbers as an array, an empty one for anything else."""
    array = np.asarray(values)
    truths = isinstance(values, Sequence) and any(isinstance(value, bool) for value in values)
    fits = array.ndim == 1 and np.issubdtype(array.dtype, np.integer)
    return array if fits and not truths and not np.ma.is_masked(values) else np.empty(0, int)


def _say(name: str, done: int, total: int, took: float) -> None:
    """Print how many replicates are done, and how long the others will take."""
    left = took * (total - done) / done
    line = f"{name}: {done} of {total} replicates, about {left:.0f} s left"
    print(f"\r{line:<70}", end="", file=sys.stderr, flush=True)

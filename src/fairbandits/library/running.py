"""Run one policy on one instance: `fairbandits.run`.

`fairbandits.library.simulation` plays the rounds; this module adds several processes, a progress
line and results with measures. Recorded runs bypass it.
"""

import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from fairbandits.library import simulation
from fairbandits.library.compiling import Compiled
from fairbandits.library.instance import Instance, RandomInstance
from fairbandits.library.results import OF_REPLICATES, Result, made_of
from fairbandits.rationals import exact

#: Least number of pieces of the replicates: in all, so that progress shows, and per process, so
#: that none waits long for another.
PIECES, PIECES_EACH = 20, 4

#: In a worker process: plays some replicates.
_play: Callable | None = None


def run(
    policy: Any,
    instance: Instance | RandomInstance,
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
        A policy of `fairbandits.policies`, or any object with attributes ``feedback``
        ("bandit" or "full"), optionally ``probes`` (names), and a method
        ``start(n_arms, horizon)`` that returns a fresh object with methods
        ``choose(t, coin)`` and ``learn(t, action, reward)``, plus ``probe(out)`` if it has
        probes. Such a policy runs in plain Python, on the same streams.
    instance : Instance or RandomInstance
        Means and reward law; a random instance is drawn once for each replicate.
    horizon : int
        Number of rounds T, at least the number of arms and at most 2**53.
    replicates : int or sequence of int
        How many replicates, or which (0-based numbers, below 2**31).
    seed : int
        Root seed.
    checkpoints : sequence of int, optional
        Increasing rounds in 1..horizon at which to record; default `checkpoint_grid`.
    stream : str
        Runs with the same seed and stream name share their rewards, arm by arm and pull by pull.
    quotas : sequence of number or str, optional
        Required fraction of pulls of each arm, exact: 0.05, "1/3". They only measure (see
        `Result.deficits`); a policy has its own.
    observe : sequence of object, optional
        Observers of `fairbandits.observers`, or any objects with ``probes`` (names) and a method
        ``start(policy, state, n_arms, horizon)``, `state` being what the policy's own ``start``
        returned, that returns a fresh object with methods ``watch(state, t, action, reward)`` and
        ``report(state, out)``. They only measure; their probes come after the policy's.
    compiled : bool, optional
        Whether a policy of this package runs compiled or in the interpreter; the numbers are the
        same. By default what takes less time: compiling takes seconds, once for each kind of
        policy, so that short runs are interpreted, but for a policy of `fairbandits.compiled`.
    n_jobs : int
        How many processes share the replicates, at least 1. The numbers are the same. It is worth
        it for policies in plain Python, which take some ten microseconds a round; they need not be
        importable, since the processes are copies of this one.
    progress : bool
        Whether a line on standard error says how many replicates are done, and how long the others
        will take.

    Returns
    -------
    Result

    Raises
    ------
    ValueError
        If an argument is out of its range.
    TypeError
        If the policy or an observer lacks a part, or an observer cannot watch this policy.

    Warns
    -----
    UserWarning
        If no policy can meet the policy's targets on the instance.

    Examples
    --------
    >>> from fairbandits import UCB1, Instance, run
    >>> result = run(UCB1(), Instance((0.9, 0.1)), horizon=1000, replicates=2, checkpoints=[1000])
    >>> result.plays.sum(axis=2).tolist()
    [[1000], [1000]]
    """
    check(policy, instance)
    if isinstance(policy, Compiled) and compiled is not False:
        policy.compile(instance, quotas=quotas, observe=observe)
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs < 1:
        raise ValueError(
            f"n_jobs must be a whole number of at least 1, got {n_jobs!r}; os.cpu_count() says how "
            "many processors there are"
        )
    if quotas is not None:
        quotas = tuple(quotas)
    play = partial(
        simulation.run,
        policy,
        instance,
        horizon,
        seed=seed,
        checkpoints=checkpoints,
        stream=stream,
        quotas=quotas,
        observe=observe,
        compiled=compiled,
    )
    if n_jobs == 1 and not progress:
        whole = play(replicates)
        return made_of(whole, [_replicates_of(whole)], quotas=_exact(quotas))
    _check_fresh(policy, observe, instance.n_arms, horizon)
    chosen = simulation._replicates(replicates)
    some = min(chosen.size, max(PIECES, PIECES_EACH * n_jobs))
    pieces = np.array_split(chosen, some)
    said = _said(type(policy).__name__, chosen.size) if progress else None
    played = _alone(play, pieces) if n_jobs == 1 else _shared(play, pieces, n_jobs)
    parts: dict[int, dict] = {}
    try:
        for number, part in played:
            parts[number] = part
            if said:
                said(sum(one["replicates"].size for one in parts.values()))
    finally:
        if said:
            print(file=sys.stderr)
    return made_of(
        None,
        [parts[number] for number in range(some)],
        policy=policy,
        instance=instance,
        horizon=int(horizon),
        seed=seed,
        stream=stream,
        rounds=parts[0]["rounds"],
        quotas=_exact(quotas),
    )


def check(policy: Any, instance: Any) -> None:
    """Raise TypeError for a class, a name or the like in place of a policy or an instance."""
    if isinstance(policy, type) and hasattr(policy, "feedback"):
        name = policy.__name__
        raise TypeError(f"a policy is an object, and {name} is its class; write {name}(...)")
    if isinstance(policy, str):
        raise TypeError(f"a policy is an object, such as fairbandits.UCB1(), got {policy!r}")
    if not isinstance(instance, Instance | RandomInstance):
        raise TypeError(
            "instance must be an Instance or a RandomInstance, such as "
            f"Instance(means=(0.7, 0.5)), got {instance!r}"
        )


def _exact(quotas: tuple | None) -> tuple | None:
    return None if quotas is None else exact("quotas", quotas)


def _check_fresh(policy: Any, observe: Sequence[Any], n_arms: int, horizon: Any) -> None:
    """Raise TypeError if replicates would share a state, which separate pieces cannot show."""
    simulation._feedback(policy)
    simulation._probes(policy, observe)
    if simulation._whole("horizon", horizon) < n_arms:
        return  # nothing is played
    before = simulation._started(policy, observe, n_arms, horizon, [])
    simulation._started(policy, observe, n_arms, horizon, before)


def _replicates_of(result: simulation.Result) -> dict[str, Any]:
    return {name: getattr(result, name) for name in (*OF_REPLICATES, "rounds")}


def _alone(play: Callable, pieces: Sequence[np.ndarray]) -> Iterator[tuple[int, dict]]:
    """Yield each piece's number and record, played in this process."""
    for number, piece in enumerate(pieces):
        yield number, _replicates_of(play(piece))


def _shared(
    play: Callable, pieces: Sequence[np.ndarray], n_jobs: int
) -> Iterator[tuple[int, dict]]:
    """Yield the same as `_alone`, played in several processes, in the order of completion.

    The processes are forks: they have the policy without pickling, so its class can be a
    notebook's.
    """
    pool = ProcessPoolExecutor(
        min(n_jobs, len(pieces)),
        mp_context=multiprocessing.get_context("fork"),
        initializer=_begin,
        initargs=(play,),
    )
    said = set()
    try:
        with _forking():
            futures = {pool.submit(_piece, piece): number for number, piece in enumerate(pieces)}
        for future in as_completed(futures):
            part, warned = future.result()
            for one in warned:
                if one not in said:
                    said.add(one)
                    warnings.warn_explicit(*one)
            yield futures[future], part
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _forking() -> Iterator[None]:
    """Silence the warning on forks beside threads: the copies only play rounds and hold no lock."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        yield


def _begin(play: Callable) -> None:
    global _play
    _play = play


def _piece(piece: np.ndarray) -> tuple[dict[str, Any], list[tuple]]:
    """Play some replicates; return their record and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        part = _replicates_of(_play(piece))
    warned = [(str(one.message), one.category, one.filename, one.lineno) for one in caught]
    return part, warned


def _said(name: str, total: int) -> Callable[[int], None]:
    """Return a function that prints how many replicates are done."""
    begin = time.monotonic()

    def say(done: int) -> None:
        left = (time.monotonic() - begin) * (total - done) / done
        words = f"{name}: {done} of {total} replicates, about {left:.0f} s left"
        print(f"\r{words:<70}", end="", file=sys.stderr, flush=True)

    return say

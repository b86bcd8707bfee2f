"""Measurements: a round's time in each way, and a process's first run."""

import ctypes
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from bench import HERE
from bench.cases import CASES, Case
from bench.ways import differences, play_c, play_ours, play_python, same_bits
from fairbandits.engine.vectors import LANES

#: As many replicates as a run plays at once, where the policy has a form for that.
EIGHT = LANES
#: Largest relative difference at which two implementations still agree.
AGREEMENT = 1e-6


def nanoseconds(
    play: Callable[[Case, int], Any], case: Case, rounds: int, replicates: int = 1
) -> float:
    """Return the processor time of a round of one replicate.

    On a quiet machine that is the time of the clock; on a busy one the waiting is left out.
    """
    start = time.process_time()
    play(case, rounds)
    return (time.process_time() - start) / (rounds * replicates) * 1e9


def spread(values: Iterable[float]) -> dict[str, Any]:
    """Return the median, the least and the largest of them, and all of them."""
    values = list(values)
    return {
        "median": statistics.median(values),
        "min": min(values),
        "max": max(values),
        "all": values,
    }


def ways_of(case: Case, library: ctypes.CDLL | None) -> dict[str, tuple[Callable, int]]:
    """Return how a case can be played, and in how many rounds it is timed."""
    eight = partial(play_ours, replicates=EIGHT)
    ways = {"ours": (play_ours, case.rounds), "eight": (eight, case.rounds)}
    if library is not None and case.in_c is not None:
        ways["c"] = (partial(play_c, library), case.rounds)
        if case.lazy:
            ways["c_lazy"] = (partial(play_c, library, lazy=True), case.rounds)
    if case.in_python is not None:
        ways["python"] = (play_python, case.python_rounds)
    return ways


def check(case: Case, library: ctypes.CDLL | None) -> dict[str, Any]:
    """Return how far C and plain Python are from ours, relatively, and whether lazy C is exact.

    ``None`` stands for what a case does not have.
    """
    ways = ways_of(case, library)
    ours = play_ours(case, case.rounds)  # compiles, too
    short = play_ours(case, case.python_rounds)
    in_python = (case.compared or case.in_python)(case, case.python_rounds)
    gaps = {"c": None, "python": differences(short, in_python), "lazy_is_exact": None}
    gaps["eight_is_exact"] = same_bits(ours, ways["eight"][0](case, case.rounds))
    if "c" in ways:
        in_c = ways["c"][0](case, case.rounds)
        gaps["c"] = differences(ours, in_c)
        if "c_lazy" in ways:
            gaps["lazy_is_exact"] = same_bits(in_c, ways["c_lazy"][0](case, case.rounds))
    return gaps


def plain_c(library: ctypes.CDLL | None) -> float | None:
    """Return the nanoseconds of a round of UCB1 with ten arms in plain C, a measure of the machine.

    Processor time differs by half between machines, and between hours of one: what is divided by
    this compares.
    """
    (case,) = (case for case in CASES if case.name == "UCB1, N=10")
    if library is None:
        return None
    times = [nanoseconds(partial(play_c, library), case, case.rounds) for _ in range(5)]
    return statistics.median(times)


def ratio(of: dict | None, to: dict | None) -> float | None:
    """Return the ratio of two medians, None without one of them."""
    return of["median"] / to["median"] if of and to else None


def met(case: Case, ours: float, c_over_ours: float | None) -> bool | None:
    """Return whether the case's targets are met, None if it has none or it cannot be said."""
    verdicts = []
    if case.target is not None:
        verdicts.append(ours <= case.target)
    if case.faster is not None:
        verdicts.append(None if c_over_ours is None else c_over_ours >= case.faster)
    if False in verdicts:
        return False
    return True if verdicts and None not in verdicts else None


def measure(case: Case, library: ctypes.CDLL | None, repetitions: int) -> dict[str, Any]:
    """Check one case, then time it in all ways in turn."""
    gaps = check(case, library)
    ways = ways_of(case, library)
    times = {way: [] for way in ways}
    for _ in range(repetitions):
        for way, (play, rounds) in ways.items():
            times[way].append(nanoseconds(play, case, rounds, EIGHT if way == "eight" else 1))
    ns = dict.fromkeys(("ours", "eight", "c", "c_lazy", "python"))
    ns |= {way: spread(values) for way, values in times.items()}
    c_over_ours = ratio(ns["c"], ns["ours"])
    faster = min(ns["ours"], ns["eight"], key=lambda times: times["median"])
    return {
        "name": case.name,
        "arms": len(case.means),
        "feedback": case.feedback,
        "rounds": case.rounds,
        "python_rounds": case.python_rounds,
        "target_ns": case.target,
        "target_ratio": case.faster,
        "met": met(case, faster["median"], ratio(ns["c"], faster)),
        "ns": ns,
        "c_over_ours": c_over_ours,
        "c_over_lazy": ratio(ns["c"], ns["c_lazy"]),
        "python_over_ours": ratio(ns["python"], ns["ours"]),
        "difference": gaps,
        "agree": gaps["lazy_is_exact"] is not False
        and gaps["eight_is_exact"]
        and all(gap is None or gap <= AGREEMENT for gap in (gaps["c"], gaps["python"])),
    }


# -------------------------------------------------------------------------- first runs


def first_run(index: int) -> float:
    """Return the seconds that the first run of a case takes in this process."""
    start = time.perf_counter()
    play_ours(CASES[index], len(CASES[index].means))
    return time.perf_counter() - start


def first_runs(index: int) -> tuple[float, float]:
    """Return the seconds of a fresh process's first run, with an empty and with a full cache."""
    code = (
        f"import sys; sys.path.insert(0, {str(HERE)!r}); "
        f"from bench.measure import first_run; print(first_run({index}))"
    )
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "-c", code],
                env=os.environ | {"FAIRBANDITS_CACHE_DIR": folder},
                capture_output=True,
                text=True,
                check=True,
            )
            seconds.append(float(done.stdout))
    empty, full = seconds
    return empty, full


# ----------------------------------------------------------------------------- machine


def load() -> float:
    """Return how many processes wanted to run, on average of the last minute."""
    return round(psutil.getloadavg()[0], 2)


def machine() -> dict[str, Any]:
    """Return the processor and its cores."""
    model = platform.processor() or platform.machine()
    if (cpuinfo := Path("/proc/cpuinfo")).exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return {
        "processor": model,
        "cores": psutil.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def machine_name(host: dict[str, Any]) -> str:
    """Return the name that measurements of one machine share."""
    return f"{host['processor']}, {host['cores']} cores"

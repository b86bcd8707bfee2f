"""Measure the speed of the round loops, side by side with plain C and plain Python.

Every case is first played by all three and the outcomes compared; then they are timed in turn on
one core, compilation excluded. `make bench` runs this file; ``--help`` lists the options.
"""

import ctypes
import dataclasses
import importlib.util
import json
import math
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numba
import numpy as np
import psutil

import fairbandits as fb

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SEED, STREAM, LAW = 0, "bench", "uniform02"
#: Largest relative difference at which two implementations still agree.
AGREEMENT = 1e-6


def _load(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


naive = _load(ROOT / "tests" / "naive.py")
plain = _load(HERE / "plain.py")

# ----------------------------------------------------------------------------------- cases


@dataclass(frozen=True)
class Case:
    """One row of the table: the same policy on the same instance, written three times.

    Attributes
    ----------
    name : str
        What it is called in the table.
    policy : object
        Our policy.
    means : sequence of float
        Means of the arms; the rewards are uniform on [0, 2 mean].
    rounds, python_rounds : int
        Rounds of a timed run of ours and of C, and of plain Python.
    in_c : tuple
        Name of the function of reference.c, and its own arguments: floats, or sequences of them.
    in_python : callable
        Returns a fresh policy of tests/naive.py.
    target : float, optional
        Nanoseconds a round to reach.
    """

    name: str
    policy: Any
    means: tuple[float, ...]
    rounds: int
    python_rounds: int
    in_c: tuple
    in_python: Callable[[], Any]
    target: float | None = None


def banditq(feedback: str, means: list[float], horizon: int, **rest) -> Case:
    """Return a case of BanditQ on the paper's kind of instance, with V of its horizon."""
    targets = [means[0] / 2, means[1] / 3] + [0.0] * (len(means) - 2)
    V = math.sqrt(horizon)
    twin = {"full": naive.BanditQFull, "bandit": naive.BanditQBandit}[feedback]
    constant = {"full": math.sqrt(0.5), "bandit": 1e-10}[feedback]  # step, tolerance
    return Case(
        name=f"BanditQ, {feedback}, N={len(means)}",
        policy=fb.BanditQ(targets, feedback=feedback, V=V),
        means=tuple(means),
        in_c=(f"banditq_{feedback}", targets, V, constant),
        in_python=lambda: twin(targets, V),
        **rest,
    )


def drawn_means(count: int) -> list[float]:
    """Return means drawn uniformly from [0, 1)."""
    words = (naive.draw(SEED, STREAM, 0, "instance", 0, n) for n in range(1, count + 1))
    return [naive.unit(word) for word in words]


SMALL, LARGE = naive.CODE4, drawn_means(1000)
TEN = tuple(k / 20 for k in range(1, 11))
INSTANCE_1 = (0.8, *((80 - i) / 100 for i in range(2, 11)))

# Targets are nanoseconds a round on one core of the 2-core machine they were set on.
CASES = (
    banditq("full", SMALL, 2_000_000, rounds=1_000_000, python_rounds=2000, target=150),
    banditq("bandit", SMALL, 2_000_000, rounds=500_000, python_rounds=2000, target=350),
    banditq("full", LARGE, 3_000_000, rounds=10_000, python_rounds=30, target=17_000),
    banditq("bandit", LARGE, 3_000_000, rounds=10_000, python_rounds=30, target=40_000),
    Case(
        name="UCB1, N=10",
        policy=fb.UCB1(),
        means=TEN,
        rounds=1_000_000,
        python_rounds=2000,
        in_c=("ucb1",),
        in_python=lambda: naive.UCB1(len(TEN)),
    ),
    Case(
        name="Fair-UCB, N=10",
        policy=fb.FairLearn(["1/20"] * 10),
        means=INSTANCE_1,
        rounds=1_000_000,
        python_rounds=2000,
        in_c=("fair_ucb", [1] * 10, 20, 0),
        in_python=lambda: plain.FairUCB([1] * 10, 20, 0),
        target=35,
    ),
)

# ------------------------------------------------------------------------- three ways to play
#
# Each returns the outcome by name: pulls (or plays, their expectation), rewards, and the probes.


def play_ours(case: Case, rounds: int) -> dict[str, np.ndarray]:
    """Play with the package."""
    instance = fb.Instance(case.means, law=LAW)
    horizon = max(rounds, instance.n_arms)
    result = fb.run(case.policy, instance, horizon, seed=SEED, stream=STREAM, checkpoints=[rounds])
    kind = "pulls" if case.policy.feedback == "bandit" else "plays"
    outcome = {kind: result.plays, "rewards": result.rewards, **result.probes}
    return {name: values[0, 0] for name, values in outcome.items()}


class Arms(ctypes.Structure):
    """What reference.c calls Arms."""

    _fields_ = (
        ("count", ctypes.c_int64),
        ("means", ctypes.c_void_p),
        ("base", ctypes.c_void_p),
        ("gamma", ctypes.c_void_p),
        ("coin_base", ctypes.c_uint64),
        ("coin_gamma", ctypes.c_uint64),
    )


class Outcome(ctypes.Structure):
    """What reference.c calls Outcome."""

    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in ("pulls", "plays", "rewards", "queue", "idleness", "queue_max", "probability")
    )


def play_c(library: ctypes.CDLL, case: Case, rounds: int) -> dict[str, np.ndarray]:
    """Play with reference.c."""
    n = len(case.means)
    keys = [naive.key(SEED, STREAM, 0, "reward", arm) for arm in range(n)]
    base, gamma = np.array(keys, dtype=np.uint64).T.copy()
    means = np.array(case.means)
    arms = Arms(
        n,
        means.ctypes.data,
        base.ctypes.data,
        gamma.ctypes.data,
        *naive.key(SEED, STREAM, 0, "coin", 0),
    )
    names = [name for name, _ in Outcome._fields_]
    outcome = {name: np.zeros(n, np.int64 if name == "pulls" else float) for name in names}
    function, *own = case.in_c
    numbers = [np.asarray(value, dtype=float) for value in own]
    getattr(library, function)(
        ctypes.byref(arms),
        ctypes.c_int64(rounds),
        *(
            ctypes.c_void_p(value.ctypes.data) if value.ndim else ctypes.c_double(float(value))
            for value in numbers
        ),
        ctypes.byref(Outcome(*(outcome[name].ctypes.data for name in names))),
    )
    return outcome


def play_python(case: Case, rounds: int) -> dict[str, np.ndarray]:
    """Play with tests/naive.py."""
    loop = {"bandit": naive.run_bandit, "full": naive.run_full}[case.policy.feedback]
    last = loop(case.in_python(), case.means, LAW, rounds, SEED, STREAM, 0)[-1]
    names = {"pulls": "pulls", "rewards": "accrued", "queue": "queue", "idleness": "idle"}
    return {name: np.array(last[theirs]) for name, theirs in names.items() if theirs in last}


def difference(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> float:
    """Return the largest relative difference of what both report; infinity if pulls differ."""
    gaps = []
    for name in ours.keys() & theirs.keys():
        gap = np.abs(ours[name] - theirs[name]).max() / max(1.0, np.abs(ours[name]).max())
        gaps.append(math.inf if name == "pulls" and gap else gap)
    return float(np.max(gaps))  # not a number if any of them is


# ------------------------------------------------------------------------------ C compiler


@dataclass(frozen=True)
class Compiler:
    """The library it made, or why there is none."""

    library: ctypes.CDLL | None
    description: str


def compile_reference(folder: Path) -> Compiler:
    """Compile reference.c into `folder` with $CC, cc, gcc or clang."""
    candidates = [os.environ.get("CC", ""), "cc", "gcc", "clang"]
    command = next(
        (words for words in map(shlex.split, candidates) if words and shutil.which(words[0])), None
    )
    if command is None:
        return Compiler(None, "no C compiler found (set CC), so without the column of C")
    target = folder / "reference.so"
    # No fused multiply-adds, which the package does not use either; never -ffast-math.
    flags = ["-std=c11", "-O2", "-ffp-contract=off", "-shared", "-fPIC"]
    for tuned in (["-march=native"], []):  # not every compiler knows its processor
        words = [*command, *flags, *tuned, str(HERE / "reference.c"), "-o", str(target), "-lm"]
        made = subprocess.run(words, capture_output=True, text=True, check=False)
        if made.returncode == 0:
            version = subprocess.run([*command, "--version"], capture_output=True, text=True)
            name = (version.stdout.splitlines() or [shlex.join(command)])[0]
            return Compiler(ctypes.CDLL(str(target)), f"{name}, {' '.join(flags[:3] + tuned)}")
    return Compiler(
        None, f"{shlex.join(command)} failed, so without the column of C:\n{made.stderr.strip()}"
    )


# ---------------------------------------------------------------------------- measurements


def nanoseconds(play: Callable, *arguments, rounds: int) -> float:
    """Return the time of a round."""
    start = time.perf_counter()
    play(*arguments, rounds)
    return (time.perf_counter() - start) / rounds * 1e9


def first_run(index: int) -> float:
    """Return the seconds that the first run of a case takes in this process."""
    start = time.perf_counter()
    play_ours(CASES[index], len(CASES[index].means))
    return time.perf_counter() - start


def first_runs(index: int) -> tuple[float, float]:
    """Return the seconds of a fresh process's first run, with an empty and with a full cache."""
    code = (
        f"import sys; sys.path.insert(0, {str(HERE)!r}); import run; print(run.first_run({index}))"
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


def check(case: Case, library: ctypes.CDLL | None) -> dict[str, float | None]:
    """Return how far C and plain Python are from ours, relatively; None without C."""
    ours = play_ours(case, case.rounds)  # compiles, too
    short = play_ours(case, case.python_rounds)
    return {
        "c": None if library is None else difference(ours, play_c(library, case, case.rounds)),
        "python": difference(short, play_python(case, case.python_rounds)),
    }


def measure(case: Case, library: ctypes.CDLL | None, repetitions: int) -> dict[str, Any]:
    """Check one case, then time it: ours and C in turn, plain Python in between."""
    gaps = check(case, library)
    times = {"ours": [], "c": [], "python": []}
    for _ in range(repetitions):
        times["ours"].append(nanoseconds(play_ours, case, rounds=case.rounds))
        if library is not None:
            times["c"].append(nanoseconds(play_c, library, case, rounds=case.rounds))
        times["python"].append(nanoseconds(play_python, case, rounds=case.python_rounds))
    middle = {who: statistics.median(values) if values else None for who, values in times.items()}
    return {
        "name": case.name,
        "arms": len(case.means),
        "feedback": case.policy.feedback,
        "rounds": case.rounds,
        "python_rounds": case.python_rounds,
        "target_ns": case.target,
        **{f"{who}_ns": value for who, value in middle.items()},
        "ours_over_c": middle["ours"] / middle["c"] if library else None,
        "python_over_ours": middle["python"] / middle["ours"],
        "difference": gaps,
        "agree": all(gap is None or gap <= AGREEMENT for gap in gaps.values()),
        "times_ns": times,
    }


def machine() -> dict[str, Any]:
    """Return the processor, its cores and how busy they are."""
    model = platform.processor() or platform.machine()
    if (cpuinfo := Path("/proc/cpuinfo")).exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return {
        "processor": model,
        "cores": psutil.cpu_count(),
        "load": round(psutil.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
    }


# ---------------------------------------------------------------------------------- output

COLUMNS = ("", "target", "ours", "C", "Python", "ours/C", "Python/ours", "cold", "cached")


def table(report: dict[str, Any]) -> str:
    """Return the report as lines of text."""
    rows = [COLUMNS]
    for case in report["cases"]:
        case = SimpleNamespace(**case)
        times = (case.target_ns, case.ours_ns, case.c_ns, case.python_ns)
        rows.append(
            (
                case.name + ("" if case.agree else " DISAGREE"),
                *("-" if value is None else f"{value:,.0f}" for value in times),
                "-" if case.ours_over_c is None else f"{case.ours_over_c:.2f}",
                f"{case.python_over_ours:,.0f}",
                *(
                    "-" if value is None else f"{value:.1f}"
                    for value in (case.cold_s, case.cached_s)
                ),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
    host, versions = report["machine"], report["versions"]
    return "\n".join(
        [
            *lines,
            "",
            f"Nanoseconds a round on one core, median of {report['repetitions']}; ratios; seconds "
            "of a fresh process's first run",
            "with an empty and with a full cache. DISAGREE: the outcomes differ by more than "
            f"{AGREEMENT:g}.",
            f"Machine: {host['processor']}, {host['cores']} cores, load {host['load']}, "
            f"{host['system']}",
            f"Versions: {', '.join(f'{name} {value}' for name, value in versions.items())}",
            f"C: {report['compiler']}",
            f"Command: {report['command']}",
        ]
    )


def write(path: Path, report: dict[str, Any]) -> None:
    """Write the report, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    partial.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


@click.command(help=__doc__.partition("\n")[0])
@click.option("--only", default="", help="Only the cases with this in their names.")
@click.option("--repetitions", default=7, show_default=True, type=click.IntRange(1))
@click.option("--quick", is_flag=True, help="Few rounds, once: only to see that everything runs.")
@click.option("--cold/--no-cold", default=True, help="Whether to time first runs (default: yes).")
@click.option(
    "--json",
    "path",
    default=ROOT / "results" / "bench" / "bench.json",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the numbers (default: results/bench/bench.json).",
)
def main(only: str, repetitions: int, quick: bool, cold: bool, path: Path) -> None:
    """Measure the cases, print the table and write the numbers."""
    chosen = {index: case for index, case in enumerate(CASES) if only in case.name}
    if not chosen:
        names = "; ".join(case.name for case in CASES)
        raise click.BadParameter(f"no case has {only!r} in its name; there are: {names}")
    if quick:
        repetitions = 1
    report = {
        "command": shlex.join(["python", *sys.argv]),
        "quick": quick,
        "repetitions": repetitions,
        "machine": machine(),
        "versions": {
            "fairbandits": fb.__version__,
            "python": platform.python_version(),
            "numba": numba.__version__,
            "numpy": np.__version__,
        },
    }
    with tempfile.TemporaryDirectory() as folder:
        compiler = compile_reference(Path(folder))
        report["compiler"] = compiler.description
        rows, loops = [], {}
        for index, case in chosen.items():
            if quick:
                case = dataclasses.replace(case, rounds=1000, python_rounds=5)
            row = measure(case, compiler.library, repetitions)
            loop = case.in_c[0]  # the same for any number of arms
            if cold and loop not in loops:
                loops[loop] = first_runs(index)
            row["cold_s"], row["cached_s"] = loops.get(loop, (None, None))
            rows.append(row)
    report["cases"] = rows
    write(path, report)
    click.echo(table(report))
    if not all(row["agree"] for row in rows):
        raise click.ClickException("the implementations disagree")


if __name__ == "__main__":
    main()

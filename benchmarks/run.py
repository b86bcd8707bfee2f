"""Measure the speed of the round loops, side by side with plain C and plain Python.

Every case is first played by all that have it, and the outcomes compared; then they are timed in
turn on one core, compilation excluded. `make bench` runs this file; ``--help`` lists the options.
"""

import ctypes
import dataclasses
import functools
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
from collections.abc import Callable, Sequence
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
SEED, STREAM = 0, "bench"
#: Largest relative difference at which two implementations still agree.
AGREEMENT = 1e-6


def _load(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


naive = _load(ROOT / "tests" / "naive.py")
plain = _load(HERE / "plain.py")
notebook = _load(HERE / "notebook.py")

# ----------------------------------------------------------------------------------- cases

#: What a policy did, by name: pulls (or plays, their expectation), rewards, and its probes.
Outcome = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """One row of the table: the same policies on the same instance, written several times.

    Attributes
    ----------
    name : str
        What it is called in the table.
    policies : tuple
        Our policies, one or several; a round of the case is a round of each.
    means : sequence of float
        Means of the arms.
    rounds, python_rounds : int
        Rounds of a timed run of ours and of C, and of plain Python.
    in_python : callable (case, rounds) -> list of dict
        Plays in plain Python; returns the outcome of each policy.
    in_c : tuple, optional
        Name of the function of reference.c, and its own arguments: floats, or sequences of them.
    law : str
        Law of the rewards; by default they are uniform on [0, 2 mean].
    compared : callable (case, rounds) -> list of dict, optional
        The outcomes to compare with ours where those of `in_python` have other random numbers.
    target : float, optional
        Nanoseconds a round to reach.
    """

    name: str
    policies: tuple[Any, ...]
    means: tuple[float, ...]
    rounds: int
    python_rounds: int
    in_python: Callable[["Case", int], list[Outcome]]
    in_c: tuple | None = None
    law: str = "uniform02"
    compared: Callable[["Case", int], list[Outcome]] | None = None
    target: float | None = None

    @property
    def feedback(self) -> str:
        """What the policies see."""
        (feedback,) = {policy.feedback for policy in self.policies}
        return feedback

    @property
    def compiled(self) -> frozenset:
        """What must be compiled for it: the same whatever the arms and the parameters."""
        return frozenset((type(policy), policy.feedback) for policy in self.policies)


def twin(fresh: Callable[[], Any]) -> Callable[[Case, int], list[Outcome]]:
    """Return how to play a policy that `fresh` makes, in the loops of tests/naive.py."""

    def play(case: Case, rounds: int) -> list[Outcome]:
        loop = {"bandit": naive.run_bandit, "full": naive.run_full}[case.feedback]
        last = loop(fresh(), case.means, case.law, rounds, SEED, STREAM, 0)[-1]
        names = {"pulls": "pulls", "rewards": "accrued", "queue": "queue", "idleness": "idle"}
        return [{name: np.array(last[theirs]) for name, theirs in names.items() if theirs in last}]

    return play


def banditq(feedback: str, means: list[float], horizon: int, **rest) -> Case:
    """Return a case of BanditQ on the paper's kind of instance, with V of its horizon."""
    targets = [means[0] / 2, means[1] / 3] + [0.0] * (len(means) - 2)
    V = math.sqrt(horizon)
    plain_policy = {"full": naive.BanditQFull, "bandit": naive.BanditQBandit}[feedback]
    constant = {"full": math.sqrt(0.5), "bandit": 1e-10}[feedback]  # step, tolerance
    return Case(
        name=f"BanditQ, {feedback}, N={len(means)}",
        policies=(fb.BanditQ(targets, feedback=feedback, V=V),),
        means=tuple(means),
        in_c=(f"banditq_{feedback}", targets, V, constant),
        in_python=twin(lambda: plain_policy(targets, V)),
        **rest,
    )


def bf_ucb(sizes: Sequence[int], means: Sequence[float], **rest) -> Case:
    """Return a case of BF-UCB as the paper states it."""
    quotas, delta = [2, 2], 0.01
    return Case(
        name=f"BF-UCB, N={sum(sizes)}",
        policies=(fb.BFUCB(sizes, ["2/5", "2/5"], delta=delta),),
        means=tuple(means),
        law="bernoulli",
        in_c=("bf_ucb", sizes, len(sizes), quotas, 5, delta),
        in_python=twin(lambda: plain.BFUCB(sizes, quotas, 5, delta)),
        **rest,
    )


def released(sizes: Sequence[int], means: Sequence[float], delta: float = 0.01, **rest) -> Case:
    """Return a case of BF-UCB and the policies beside it, all as its authors' program has them."""
    quotas = ["2/5", "2/5"]
    shadow = {"quotas": quotas, "shadow_means": means}
    settings = {"delta": delta, "version": "released"}
    policies = {
        notebook.BF: fb.BFUCB(sizes, quotas, **settings),
        notebook.UCB: fb.GroupUCB(sizes, **settings),
        notebook.MF: fb.FairXUCB(sizes, **shadow, **settings),
        notebook.GEF: fb.GroupUCB(sizes, quotas, **settings),
    }
    play = functools.partial(play_notebook, sizes=sizes, delta=delta)
    return Case(
        name=f"BF-UCB, UCB, MF, GEF as released, N={sum(sizes)}",
        policies=tuple(policies[name] for name in notebook.POLICIES),
        means=tuple(means),
        law="bernoulli",
        in_python=play,
        compared=functools.partial(play_notebook_twice, play=play),
        **rest,
    )


def play_notebook(
    case: Case, rounds: int, sizes: Sequence[int], delta: float, *, as_shadow: bool = False
) -> list[Outcome]:
    """Play the released program's loop on our streams.

    In ours MF has a BF-UCB of its own, with random numbers of its own; the loop's BF-UCB gets
    those if it is to play `as_shadow`.
    """
    # The program's numbering: the first arm of the first group, the second group, the rest.
    first, second = sizes
    order = [0, *range(first, first + second), *range(1, first)]
    groups = [[0, *range(1 + second, first + second)], list(range(1, 1 + second))]

    def word(t):
        return naive.draw(SEED, STREAM, 0, "coin", 0, t)

    def uniform(policy, t):
        shadow = as_shadow and policy == notebook.BF
        return naive.unit(naive.inner(word(t), 1) if shadow else word(t))

    def reward(policy, t, arm, n):
        if as_shadow and policy == notebook.BF:
            own = naive.inner(word(t), 2)
        else:
            own = naive.draw(SEED, STREAM, 0, "reward", order[arm], n)
        return naive.reward(case.law, case.means[order[arm]], own)

    means = [case.means[arm] for arm in order]
    tallies, _ = notebook.play(groups, [0.4, 0.4], means, delta, rounds, uniform, reward)
    ours = np.argsort(order)
    return [
        {name: getattr(tallies[policy], name)[ours] for name in ("pulls", "rewards", "share")}
        for policy in notebook.POLICIES
    ]


def play_notebook_twice(case: Case, rounds: int, play: Callable) -> list[Outcome]:
    """Return the released loop's outcomes: that of MF beside the BF-UCB that ours has."""
    outcomes = play(case, rounds)
    mf = notebook.POLICIES.index(notebook.MF)
    outcomes[mf] = play(case, rounds, as_shadow=True)[mf]
    return outcomes


def drawn_means(count: int) -> list[float]:
    """Return means drawn uniformly from [0, 1)."""
    words = (naive.draw(SEED, STREAM, 0, "instance", 0, n) for n in range(1, count + 1))
    return [naive.unit(word) for word in words]


SMALL, LARGE = naive.CODE4, drawn_means(1000)
TEN = tuple(k / 20 for k in range(1, 11))
INSTANCE_1 = (0.8, *((80 - i) / 100 for i in range(2, 11)))
# The last instance of BF-UCB's program, and one of its paper's setting with 50 and 10 arms.
LOW = (0.65, 0.799, 0.713, 0.62, 0.646, 0.681, 0.693, 0.792, 0.806, 0.621)
LOW += (0.6, 0.79, 0.751, 0.703, 0.829)
HIGH = [low + 0.3 * u for low, u in zip([0.7] * 50 + [0.5] * 10, LARGE[:60], strict=True)]

# Targets are nanoseconds a round on one core of the 2-core machine they were set on.
CASES = (
    banditq("full", SMALL, 2_000_000, rounds=1_000_000, python_rounds=2000, target=150),
    banditq("bandit", SMALL, 2_000_000, rounds=500_000, python_rounds=2000, target=350),
    banditq("full", LARGE, 3_000_000, rounds=10_000, python_rounds=30, target=17_000),
    banditq("bandit", LARGE, 3_000_000, rounds=10_000, python_rounds=30, target=40_000),
    Case(
        name="UCB1, N=10",
        policies=(fb.UCB1(),),
        means=TEN,
        rounds=1_000_000,
        python_rounds=2000,
        in_c=("ucb1",),
        in_python=twin(lambda: naive.UCB1(len(TEN))),
    ),
    Case(
        name="Fair-UCB, N=10",
        policies=(fb.FairLearn(["1/20"] * 10),),
        means=INSTANCE_1,
        rounds=1_000_000,
        python_rounds=2000,
        in_c=("fair_ucb", [1] * 10, 20, 0),
        in_python=twin(lambda: plain.FairUCB([1] * 10, 20, 0)),
        target=35,
    ),
    bf_ucb((10, 5), LOW, rounds=1_000_000, python_rounds=2000, target=80),
    bf_ucb((50, 10), HIGH, rounds=1_000_000, python_rounds=2000, target=150),
    released((10, 5), LOW, rounds=1_000_000, python_rounds=2000),
)

# ------------------------------------------------------------------------------ ways to play


def play_ours(case: Case, rounds: int) -> list[Outcome]:
    """Play with the package."""
    instance = fb.Instance(case.means, law=case.law)
    horizon = max(rounds, instance.n_arms)
    kind = "pulls" if case.feedback == "bandit" else "plays"
    outcomes = []
    for policy in case.policies:
        result = fb.run(policy, instance, horizon, seed=SEED, stream=STREAM, checkpoints=[rounds])
        outcome = {kind: result.plays, "rewards": result.rewards, **result.probes}
        outcomes.append({name: values[0, 0] for name, values in outcome.items()})
    return outcomes


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


class Filled(ctypes.Structure):
    """What reference.c calls Outcome."""

    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in ("pulls", "plays", "rewards", "queue", "idleness", "queue_max", "probability")
    )


def play_c(library: ctypes.CDLL, case: Case, rounds: int) -> list[Outcome]:
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
    names = [name for name, _ in Filled._fields_]
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
        ctypes.byref(Filled(*(outcome[name].ctypes.data for name in names))),
    )
    return [outcome]


def play_python(case: Case, rounds: int) -> list[Outcome]:
    """Play in plain Python."""
    return case.in_python(case, rounds)


def difference(ours: Outcome, theirs: Outcome) -> float:
    """Return the largest relative difference of what both report; infinity if pulls differ."""
    gaps = []
    for name in ours.keys() & theirs.keys():
        gap = np.abs(ours[name] - theirs[name]).max() / max(1.0, np.abs(ours[name]).max())
        gaps.append(math.inf if name == "pulls" and gap else gap)
    return float(np.max(gaps))  # not a number if any of them is


def differences(ours: list[Outcome], theirs: list[Outcome]) -> float:
    """Return the largest of all policies' differences."""
    return float(np.max([difference(*pair) for pair in zip(ours, theirs, strict=True)]))


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
    in_c = None if library is None else play_c(library, case, case.rounds)
    in_python = (case.compared or play_python)(case, case.python_rounds)
    return {
        "c": None if in_c is None else differences(ours, in_c),
        "python": differences(short, in_python),
    }


def measure(case: Case, library: ctypes.CDLL | None, repetitions: int) -> dict[str, Any]:
    """Check one case, then time it: ours and C in turn, plain Python in between."""
    if case.in_c is None:
        library = None
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
        "feedback": case.feedback,
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
            if cold and case.compiled not in loops:
                loops[case.compiled] = first_runs(index)
            row["cold_s"], row["cached_s"] = loops.get(case.compiled, (None, None))
            rows.append(row)
    report["cases"] = rows
    write(path, report)
    click.echo(table(report))
    if not all(row["agree"] for row in rows):
        raise click.ClickException("the implementations disagree")


if __name__ == "__main__":
    main()

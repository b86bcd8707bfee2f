"""Count which small faults the tests find: mutants of engine, policies and procedures of the audit.

A mutant is a function with one operator, comparison or number changed. The mutants that
benchmarks/mutants.csv lists are judged again if the code still has them, and a seed draws more. All
tests are run once, with the kernels interpreted, to see which functions each of them runs, and in
what time. A process of its own then runs, on each mutant, quick tests of its function, until one
fails. A test that never ends finds a mutant, too.

    python benchmarks/mutants.py --number 200
    python benchmarks/mutants.py --survivors

The first writes benchmarks/mutants.csv and prints the score; the second judges only the mutants
that no test found, or one that is gone. A command that was stopped goes on where it was, unless
code or tests have changed. A reason why no test can find a mutant is written into the list by hand,
in place of "survived" and beginning with "equivalent:". It stays until a test does find the mutant.
"""

import ast
import contextlib
import copy
import csv
import gc
import hashlib
import io
import json
import os
import resource
import signal
import sys
import tempfile
import time
import types
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from bench import HERE, ROOT

PACKAGE = ROOT / "src" / "fairbandits"
#: What is mutated, and nothing is computed in: tables of names, and what only Numba reads.
SOURCES = ("engine/*.py", "policies/*.py", "audit/procedures.py", "audit/exact.py")
SOURCES += ("audit/means.py", "audit/growth.py", "audit/limits.py", "audit/multiplicity.py")
WITHOUT = ("__init__", "own", "parameters", "protocol", "vectors", "kinds")
ROOMS = ("policies", "audit", "library", "engine", "measures", "theory")
TESTS = [f"tests/{room}" for room in ROOMS]
MARKS = "not workflow and not slow and not campaign and not slurm and not browser"
#: A node becomes one of another class.
OPERATORS = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult},
    **{ast.FloorDiv: ast.Mult, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
}
SURVIVED, NOT_RUN, EQUIVALENT = "survived", "survived: no test runs it", "equivalent:"
NEVER_ENDS = "it never ends"
#: At most so many tests are run on a mutant, of so many seconds in all.
MOST, SECONDS = 60, 20.0
LIST, STATE = HERE / "mutants.csv", ROOT / ".cache" / "mutants.json"
COLUMNS = ("file", "line", "function", "change", "which", "found_by")


class Mutant(NamedTuple):
    """A place in a file, and its change."""

    file: str
    line: int
    function: str
    change: str
    which: int  # of equal changes of the function
    place: int  # of all in the file
    start: int  # the line that the function begins in

    @property
    def key(self) -> str:
        """Return what names the mutant, also where other lines of its file change."""
        return f"{self.file}: {self.function}: {self.change} ({self.which})"

    def put_in(self) -> None:
        """Give the loaded function the changed code."""
        file = str(PACKAGE / self.file)
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
        _, _, node = list(places(tree))[self.place]
        vars(node).update(vars(changed(node)))
        mine = (self.function.rpartition(".")[2], self.start)
        codes = codes_in(compile(tree, file, "exec"))
        code = next(each for each in codes if (each.co_name, each.co_firstlineno) == mine)
        functions = [item for item in gc.get_objects() if isinstance(item, types.FunctionType)]
        for function in functions:
            its = function.__code__
            if (its.co_filename, its.co_name, its.co_firstlineno) == (file, *mine):
                function.__code__ = code


def mutants() -> list[Mutant]:
    """Return all mutants of the code as it stands."""
    made = []
    files = [file for some in SOURCES for file in sorted(PACKAGE.glob(some))]
    for file in (path for path in files if path.stem not in WITHOUT):
        name, seen = file.relative_to(PACKAGE).as_posix(), Counter()
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for at, (function, start, node) in enumerate(places(tree)):
            change = f"{ast.unparse(node)} -> {ast.unparse(changed(node))}"
            seen[function, change] += 1
            which = seen[function, change]
            made.append(Mutant(name, node.lineno, function, change, which, at, start))
    return made


def changed(node: ast.AST) -> ast.AST:
    """Return a copy of a node with another number, comparison or operator."""
    other = copy.copy(node)
    if isinstance(node, ast.Constant):
        other.value = node.value + 1
    elif isinstance(node, ast.Compare):
        other.ops = [OPERATORS[type(node.ops[0])](), *node.ops[1:]]
    else:
        other.op = OPERATORS[type(node.op)]()
    return other


def first_line(function: ast.FunctionDef) -> int:
    """Return the line that a function begins in, its decorators included."""
    return min(part.lineno for part in (function, *function.decorator_list))


def places(tree: ast.Module) -> Iterator[tuple[str, int, ast.AST]]:
    """Yield the nodes that can be changed, with the name and first line of their functions."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for block, prefix in ((tree, ""), *((kind, f"{kind.name}.") for kind in classes)):
        for function in (node for node in block.body if isinstance(node, ast.FunctionDef)):
            for node in (child for line in function.body for child in ast.walk(line)):
                operator = getattr(node, "op", None) or getattr(node, "ops", [None])[0]
                is_number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
                if type(operator) in OPERATORS or is_number:
                    yield f"{prefix}{function.name}", first_line(function), node


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code of all functions in compiled code."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from codes_in(constant)


class Watch:
    """Note what each test runs, and how long it takes, of the tests that pass."""

    def __init__(self):
        self.tests: dict[str, tuple[float, list[str]]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Note it of one test."""
        ran: set[types.CodeType] = set()
        self.passed = True
        start = time.process_time()
        sys.settrace(lambda frame, *_: ran.add(frame.f_code))  # of calls alone
        try:
            return (yield)
        finally:
            sys.settrace(None)
            names = {
                f"{Path(code.co_filename).relative_to(PACKAGE).as_posix()}:{code.co_firstlineno}"
                for code in ran
                if code.co_filename.startswith(str(PACKAGE))
            }
            if self.passed:
                self.tests[item.nodeid] = (time.process_time() - start, sorted(names))

    def pytest_runtest_logreport(self, report):
        """Note whether it passes."""
        self.passed = self.passed and report.passed


class FirstFailure:
    """Note which test fails first."""

    name = ""

    def pytest_runtest_logreport(self, report):
        """Note it."""
        if report.failed and not self.name:
            self.name = report.nodeid


def tested(arguments: list[str], plugin: object) -> int:
    """Run tests quietly."""
    usual = ["-q", "-p", "no:cacheprovider", "-m", MARKS]
    return pytest.main([*usual, *arguments], plugins=[plugin])


def in_processes(
    jobs: Iterable[tuple[str, Callable[[], str], float]], cores: int
) -> Iterator[tuple[str, str | None]]:
    """Yield the names of jobs with their answers; None if a job dies, as after so many seconds."""
    running = {}
    for name, work, seconds in jobs:
        if len(running) == cores:
            yield ended(running)
        answer = tempfile.NamedTemporaryFile("r+", encoding="utf-8")  # noqa: SIM115
        if child := os.fork():
            running[child] = name, answer
            continue
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        if seconds:
            limit = int(time.process_time() + seconds) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            signal.alarm(20 * limit)  # one that sleeps
        Path(answer.name).write_text(work(), encoding="utf-8")
        os._exit(0)
    while running:
        yield ended(running)


def ended(running: dict[int, tuple]) -> tuple[str, str | None]:
    """Wait for a process to end; return its name and answer."""
    child, status = os.wait()
    name, answer = running.pop(child)
    with answer:
        return name, answer.read() if status == 0 else None


def watched(room: str) -> str:
    """Return what the tests of a room run, as JSON."""
    watch = Watch()
    tested([room], watch)
    return json.dumps(watch.tests)


def judged(mutant: Mutant, tests: list[str]) -> str:
    """Return the test that finds a mutant, or that it survives."""
    mutant.put_in()
    first = FirstFailure()
    code = tested(["-x", *tests], first)
    return first.name or (SURVIVED if code == pytest.ExitCode.OK else f"pytest: {code!r}")


def quick_tests(tests: dict[str, tuple[float, list[str]]]) -> dict[str, list[tuple[float, str]]]:
    """Return the tests of each function: the quickest case of every test, then second cases."""
    running, cases = defaultdict(list), Counter()
    for name, (seconds, functions) in sorted(tests.items(), key=lambda item: item[1][0]):
        test = name.partition("[")[0]
        for function in functions:
            cases[function, test] += 1
            running[function].append((cases[function, test], seconds, name))
    return {name: [test[1:] for test in sorted(some)] for name, some in running.items()}


def jobs_of(chosen: list[Mutant], tests: dict) -> Iterator[tuple[str, Callable[[], str], float]]:
    """Yield the work on each mutant."""
    running = quick_tests(tests)
    for mutant in chosen:
        names, total = [], 0.0
        for seconds, name in running.get(f"{mutant.file}:{mutant.start}", [])[:MOST]:
            if not names or total + seconds < SECONDS:
                names.append(name)
                total += seconds
        work = partial(judged, mutant, names) if names else lambda: NOT_RUN
        yield mutant.key, work, 10 + 3 * total


def earlier() -> dict:
    """Return what an earlier command found for the same code and tests."""
    digest = hashlib.blake2b()
    for file in sorted((*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py"))):
        digest.update(file.read_bytes())
    state = json.loads(STATE.read_text(encoding="utf-8")) if STATE.exists() else {}
    empty = {"code": digest.hexdigest(), "tests": {}, "found": {}}
    return state if state.get("code") == empty["code"] else empty


def keep(state: dict) -> None:
    """Write what was found so far."""
    STATE.parent.mkdir(exist_ok=True)
    new = STATE.with_suffix(".new")
    new.write_text(json.dumps(state), encoding="utf-8")
    new.replace(STATE)


def listed() -> dict[str, str]:
    """Return what found the mutants of the list, or the reason why nothing can."""
    with LIST.open(encoding="utf-8", newline="") as lines:
        rows = [row | {"place": 0, "start": 0} for row in csv.DictReader(lines)]
    found_by = [row.pop("found_by") for row in rows]
    return {Mutant(**row).key: outcome for row, outcome in zip(rows, found_by, strict=True)}


@click.command(help=__doc__.partition("\n")[0])
@click.option("--number", default=200, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=1, show_default=True)
@click.option("--survivors", is_flag=True, help="Judge only those that no present test found.")
@click.option("--only", default="", help="Judge only files with this in their names.")
@click.option("--cores", default=2, show_default=True, type=click.IntRange(1))
def main(number: int, seed: int, survivors: bool, only: str, cores: int) -> None:
    """Draw the mutants, and write what finds each."""
    os.chdir(ROOT)
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # before anything imports Numba
    before, state = listed(), earlier()

    def order(mutant: Mutant) -> tuple[bool, bytes]:
        return mutant.key not in before, hashlib.blake2b(f"{seed} {mutant.key}".encode()).digest()

    every = sorted(mutants(), key=order)
    # the list only grows
    drawn = every[: max(number, sum(mutant.key in before for mutant in every))]
    chosen = [m for m in drawn if only in m.file and m.key not in state["found"]]
    with contextlib.redirect_stdout(io.StringIO()):
        tested(["--collect-only", *TESTS], object())  # all modules are loaded here, and once
    rooms = [(room, partial(watched, room), 0) for room in TESTS if room not in state["tests"]]
    for room, answer in in_processes(rooms, cores):
        if answer is None:
            raise click.ClickException(f"the tests of {room} did not end")
        state["tests"][room] = json.loads(answer)
        keep(state)
    tests = {name: its for room in TESTS for name, its in state["tests"][room].items()}
    if survivors:
        found = {*tests, NEVER_ENDS}
        chosen = [mutant for mutant in chosen if before.get(mutant.key) not in found]
    for key, answer in in_processes(jobs_of(chosen, tests), cores):
        state["found"][key] = NEVER_ENDS if answer is None else answer
        keep(state)
    write(drawn, before, state["found"])


def write(drawn: list[Mutant], before: dict[str, str], outcomes: dict[str, str]) -> None:
    """Write the list: what was found now or before, and reasons that no test contradicts."""
    for key, reason in before.items():
        if key not in outcomes or (SURVIVED in outcomes[key] and reason.startswith(EQUIVALENT)):
            outcomes[key] = reason
    known = [mutant for mutant in drawn if mutant.key in outcomes]
    rows = sorted((*mutant[: COLUMNS.index("found_by")], outcomes[mutant.key]) for mutant in known)
    with LIST.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([COLUMNS, *rows])
    report("listed before", [outcomes[mutant.key] for mutant in known if mutant.key in before])
    report("new", [outcomes[mutant.key] for mutant in known if mutant.key not in before])


def report(name: str, outcomes: list[str]) -> None:
    """Print how many of some mutants were found, of those that are not equivalent."""
    possible = [outcome for outcome in outcomes if not outcome.startswith(EQUIVALENT)]
    survived = sum(outcome.startswith(SURVIVED) for outcome in possible)
    same = len(outcomes) - len(possible)
    click.echo(f"{name}: {len(possible) - survived} of {len(possible)} found; {same} equivalent")


if __name__ == "__main__":
    main()

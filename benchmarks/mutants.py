"""Count which small faults the tests find: mutants of engine, policies and procedures of the audit.

A mutant is a function with one operator, comparison or number changed, drawn by a seed. All tests
are run once, with the kernels interpreted, to see which functions each of them runs, and in what
time. A process of its own then runs, on each mutant, the quickest tests that run its function,
until one fails. A test that never ends finds a mutant, too.

    python benchmarks/mutants.py --number 200

writes benchmarks/mutants.csv, and prints the score.
"""

import ast
import contextlib
import csv
import gc
import io
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import types
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from bench import HERE, ROOT

PACKAGE = ROOT / "src" / "fairbandits"
#: What is mutated, and nothing is computed in: tables of names, and what only Numba reads.
SOURCES = ("engine/*.py", "policies/*.py", "audit/procedures.py", "audit/exact.py")
SOURCES += ("audit/means.py", "audit/growth.py", "audit/limits.py", "audit/multiplicity.py")
WITHOUT = ("__init__", "own", "parameters", "protocol", "vectors", "kinds")
TESTS = [
    f"tests/{room}" for room in ("engine", "policies", "measures", "library", "theory", "audit")
]
MARKS = "not workflow and not slow and not campaign and not slurm and not browser"
#: A node becomes one of another class.
OPERATORS = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult},
    **{ast.FloorDiv: ast.Mult, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
}
SURVIVED, NOT_RUN = "survived", "survived: no test runs it"
#: At most so many tests are run on a mutant, of so many seconds in all.
MOST, SECONDS = 60, 20.0


class Mutant:
    """A place in a file that is changed."""

    def __init__(self, file: Path, number: int):
        self.name = file.relative_to(PACKAGE).as_posix()
        tree = ast.parse(file.read_text(encoding="utf-8"))
        function, node = list(places(tree))[number]
        before = ast.unparse(node)
        if isinstance(node, ast.Constant):
            node.value += 1
        elif isinstance(node, ast.Compare):
            node.ops[0] = OPERATORS[type(node.ops[0])]()
        else:
            node.op = OPERATORS[type(node.op)]()
        self.line, self.change = node.lineno, f"{before} -> {ast.unparse(node)}"
        self.file = str(file)
        self.code = next(
            code
            for code in codes_in(compile(tree, str(file), "exec"))
            if (code.co_name, code.co_firstlineno) == (function.name, first_line(function))
        )
        self.function = f"{self.name}:{self.code.co_firstlineno}"

    def put_in(self) -> None:
        """Give the loaded function the changed code."""
        mine = self.file, self.code.co_name, self.code.co_firstlineno
        functions = [one for one in gc.get_objects() if isinstance(one, types.FunctionType)]
        for one in functions:
            its = one.__code__
            if (its.co_filename, its.co_name, its.co_firstlineno) == mine:
                one.__code__ = self.code


def first_line(function: ast.FunctionDef) -> int:
    """Return the line that a function begins in, its decorators included."""
    return min(one.lineno for one in (function, *function.decorator_list))


def places(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, ast.AST]]:
    """Yield the nodes that can be changed, with the outermost functions they are in."""
    blocks = [tree, *(one for one in tree.body if isinstance(one, ast.ClassDef))]
    for function in (one for block in blocks for one in block.body):
        if isinstance(function, ast.FunctionDef):
            for node in (one for line in function.body for one in ast.walk(line)):
                operator = getattr(node, "op", None) or getattr(node, "ops", [None])[0]
                is_number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
                if type(operator) in OPERATORS or is_number:
                    yield function, node


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code of all functions in compiled code."""
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield one
            yield from codes_in(one)


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


def tested(words: list[str], plugin: object) -> int:
    """Run tests quietly."""
    usual = ["-q", "-p", "no:cacheprovider", "-m", MARKS]
    return pytest.main([*usual, *words], plugins=[plugin])


def in_a_process(work: Callable[[], str], seconds: float = 0) -> str | None:
    """Return what a forked process answers; None for one that dies, as after so many seconds."""
    with tempfile.NamedTemporaryFile("r+", encoding="utf-8") as answer:
        if not (child := os.fork()):
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            if seconds:
                limit = int(time.process_time() + seconds) + 1
                resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
                signal.alarm(20 * limit)  # one that sleeps
            Path(answer.name).write_text(work(), encoding="utf-8")
            os._exit(0)
        _, status = os.waitpid(child, 0)
        return answer.read() if status == 0 else None


def watched() -> str:
    """Return what all tests run, as JSON."""
    watch = Watch()
    tested(TESTS, watch)
    return json.dumps(watch.tests)


def judged(mutant: Mutant, tests: list[str]) -> str:
    """Return the test that finds a mutant, or that it survives."""
    mutant.put_in()
    first = FirstFailure()
    ended = tested(["-x", *tests], first)
    return first.name or (SURVIVED if ended == pytest.ExitCode.OK else f"pytest: {ended!r}")


@click.command(help=__doc__.partition("\n")[0])
@click.option("--number", default=200, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=1, show_default=True)
@click.option("--only", default="", help="Only files with this in their names.")
def main(number: int, seed: int, only: str) -> None:
    """Draw the mutants, and write what finds each."""
    os.chdir(ROOT)
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # before anything imports Numba
    files = [file for some in SOURCES for file in sorted(PACKAGE.glob(some))]
    known = [
        (file, place)
        for file in files
        if file.stem not in WITHOUT and only in file.name
        for place, _ in enumerate(places(ast.parse(file.read_text(encoding="utf-8"))))
    ]
    drawn = random.Random(seed).sample(known, min(number, len(known)))
    with contextlib.redirect_stdout(io.StringIO()):
        tested(["--collect-only", *TESTS], object())  # all modules are loaded here, and once
    tests = json.loads(in_a_process(watched) or "{}")
    running = defaultdict(list)
    for name, (seconds, functions) in tests.items():
        for function in functions:
            running[function].append((seconds, name))
    rows = []
    for mutant in (Mutant(*one) for one in drawn):
        chosen, total = [], 0.0
        for seconds, name in sorted(running[mutant.function])[:MOST]:
            if not chosen or total + seconds < SECONDS:
                chosen.append(name)
                total += seconds
        found = NOT_RUN
        if chosen:
            answer = in_a_process(lambda one=mutant, by=chosen: judged(one, by), 10 + 3 * total)
            found = "it never ends" if answer is None else answer
        rows.append((mutant.name, mutant.line, mutant.change, found))
        write(rows)
    survivors = [row for row in rows if row[-1] in (SURVIVED, NOT_RUN)]
    for file, count in sorted(Counter(row[0] for row in rows).items()):
        click.echo(f"{file}: {count - [row[0] for row in survivors].count(file)} of {count}")
    click.echo(f"{len(rows) - len(survivors)} of {len(rows)} found, seed {seed}")


def write(rows: list[tuple[str, int, str, str]]) -> None:
    """Write what was found so far."""
    with (HERE / "mutants.csv").open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerows([("file", "line", "change", "found_by"), *sorted(rows)])


if __name__ == "__main__":
    main()

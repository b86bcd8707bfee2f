"""Count which small faults the tests find: mutants of engine, policies and procedures of the audit.

A mutant is a file with one operator, comparison or constant changed, drawn by a seed. In a copy of
the checkout the tests that belong to the file are run on each, with the kernels interpreted; a test
that fails, or never ends, finds it. `python benchmarks/mutants.py --number 200` prints the score.
"""

import ast
import copy
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
from bench import ROOT

#: What is mutated.
SOURCES = ("engine/*.py", "policies/*.py", "audit/procedures.py", "audit/resampling.py")
SOURCES += ("audit/means.py", "audit/growth.py", "audit/limits.py", "audit/multiplicity.py")
#: Nothing is computed there: tables of names, and what only Numba reads.
WITHOUT = ("__init__", "own", "protocol", "parameters", "vectors", "inlining", "kinds")
#: A node becomes one of another class.
OPERATORS = dict(
    [
        *((ast.Add, ast.Sub), (ast.Sub, ast.Add), (ast.Mult, ast.Add), (ast.Div, ast.Mult)),
        *((ast.Lt, ast.LtE), (ast.LtE, ast.Lt), (ast.Gt, ast.GtE), (ast.GtE, ast.Gt)),
        *((ast.Eq, ast.NotEq), (ast.NotEq, ast.Eq), (ast.And, ast.Or), (ast.Or, ast.And)),
        (ast.FloorDiv, ast.Mult),
    ]
)
#: Most test files of a file, and seconds that they may take.
MOST, PATIENCE = 4, 600


def places(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes inside functions that can be changed, in the order of the file."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    for node in (one for function in functions for line in function.body for one in ast.walk(line)):
        operator = getattr(node, "op", None) or getattr(node, "ops", [None])[0]
        if type(operator) in OPERATORS or type(getattr(node, "value", None)) in (int, float):
            yield node


def mutated(text: str, number: int) -> tuple[str, int, str]:
    """Return a file with its place of this number changed, the line, and what was changed."""
    tree = ast.parse(text)
    node = list(places(tree))[number]
    before = copy.deepcopy(node)
    if isinstance(node, ast.Constant):
        node.value += 1
    elif isinstance(node, ast.Compare):
        node.ops[0] = OPERATORS[type(node.ops[0])]()
    else:
        node.op = OPERATORS[type(node.op)]()
    return ast.unparse(tree), node.lineno, f"{ast.unparse(before)} -> {ast.unparse(node)}"


def tests_of(file: Path) -> list[str]:
    """Return the test files that name most of what a source file defines, its own room's first."""
    names = [file.stem, *re.findall(r"^(?:def|class) ([A-Za-z]\w+)", file.read_text(), re.M)]
    words = re.compile(rf"\b({'|'.join(names)})\b")
    counts: Counter[str] = Counter()
    for test in sorted(ROOT.glob("tests/*/test_*.py")):
        if (room := test.parent.name) in ("audit", "engine", "policies", "library"):
            weight = 3 if room == file.parent.name else 1
            counts[str(test.relative_to(ROOT))] = weight * len({*words.findall(test.read_text())})
    return [test for test, count in counts.most_common(MOST) if count]


def copied(folder: Path) -> Path:
    """Return a copy of the checkout without what a run makes."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    for name in listed.stdout.decode().splitlines():
        if (ROOT / name).is_file() and not name.startswith("figures/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def passes(folder: Path, tests: list[str]) -> bool:
    """Return whether tests pass in a copy; what never ends does not."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {"PYTHONPATH": str(folder / "src"), "NUMBA_DISABLE_JIT": "1"}
    environment |= {"FAIRBANDITS_CACHE_DIR": str(folder / ".cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    marks = ["-m", "not workflow and not slow and not campaign and not slurm and not browser"]
    try:
        done = subprocess.run(
            [*command, *marks],
            cwd=folder,
            env=os.environ | environment,
            capture_output=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


@click.command(help=__doc__.partition("\n")[0])
@click.option("--number", default=200, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=1, show_default=True)
@click.option("--only", default="", help="Only files with this in their names.")
def main(number: int, seed: int, only: str) -> None:
    """Draw the mutants, and print which are not found."""
    package = ROOT / "src" / "fairbandits"
    files = [file for some in SOURCES for file in sorted(package.glob(some))]
    known = [
        (file, place)
        for file in files
        if file.stem not in WITHOUT and only in file.name and tests_of(file)
        for place, _ in enumerate(places(ast.parse(file.read_text())))
    ]
    drawn = sorted(random.Random(seed).sample(known, min(number, len(known))))
    killed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        folder = copied(Path(scratch))
        for file, place in drawn:
            name, tests = file.relative_to(package).as_posix(), tests_of(file)
            mutant = folder / file.relative_to(ROOT)
            if not total[name] and not passes(folder, tests):
                raise click.ClickException(f"{', '.join(tests)} fail without any mutant of {name}")
            text, line, change = mutated(file.read_text(), place)
            mutant.write_text(text)
            found = not passes(folder, tests)
            mutant.write_bytes(file.read_bytes())
            total[name] += 1
            killed[name] += found
            if not found:
                click.echo(f"not found: {name}:{line}: {change}")
    for name, count in total.items():
        click.echo(f"{name}: {killed[name]} of {count}")
    score = killed.total() / max(total.total(), 1)
    click.echo(f"{killed.total()} of {total.total()} found ({score:.0%}), seed {seed}")


if __name__ == "__main__":
    main()

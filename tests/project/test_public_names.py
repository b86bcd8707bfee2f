"""The public names: how they are imported, which there are, what a type checker sees of them."""

import ast
import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

import fairbandits as fb
from commands import process

PACKAGE = Path(fb.__file__).parent
SLOW = {"numba", "numpy", "pandas", "matplotlib", "seaborn", "importlib.metadata", "difflib"}
IMPORTS = {
    "fairbandits.contracts": "MinimumPulls",
    "fairbandits.instances": "fair_ucb",
    "fairbandits.metrics": "regret",
    "fairbandits.store": "read_footer",
}
#: The measures by their other name, and a module of them before its names.
MEASURES = """import fairbandits.measures
from fairbandits.measures import rates
assert fb.metrics.target_regret.__wrapped__ is rates.target_regret
from fairbandits.metrics import regret
import fairbandits.metrics as metrics
assert metrics.regret is regret is fb.metrics.regret
assert fb.store.read_table and fb.instances.banditq
"""
#: Programs of users: what a checker says of each, by line.
RIGHT = """
import numpy as np
import fairbandits as fb
import fairbandits.metrics
from fairbandits.contracts import MinimumPulls
from fairbandits.instances import fair_ucb
from fairbandits.store import read_footer
arms = fair_ucb(2)
rivals = [fb.UCB1(), fb.FairUCB(arms.quotas), fb.LFG(["1/5", 0.3, 0.25], eta=100)]
compared = fb.compare(rivals, arms, horizon=100, replicates=2)
compared.results["LFG"].plays.sum()
result = fb.run(fb.BanditQ(np.array([0.1, 0.2, 0])), arms, 100, replicates=2)
fairbandits.metrics.regret(result.plays, np.array(arms.means)).mean()
MinimumPulls(arms.quotas).price(arms.means) + fb.contracts.MinimumPulls(arms.quotas).price([0.1])
"""
WRONG = {
    'fb.run(fb.UCB1(), fb.instances.fair_ucb(2), "many")': 'has incompatible type "str"',
    "fb.UCB1(alpha=2)": 'Unexpected keyword argument "alpha" for "UCB1"',
    "fb.UCB2": 'Module has no attribute "UCB2"',
    "fb.instances.fair_ucb(1).quota": '"PublishedInstance" has no attribute "quota"',
    "fb.metrics.bounds": 'Module has no attribute "bounds"',
    "fb.run(fb.UCB1(), fb.instances.banditq(), 9).playz": '"Result" has no attribute "playz"',
}


@pytest.mark.parametrize("module", [*IMPORTS, "fairbandits.measures"])
def test_a_public_module_is_imported_by_its_name(module):
    """And the package without what takes time."""
    name = IMPORTS.get(module)
    script = (
        f"from {module} import {name}; import {module}\n"
        f"assert fb.{module[12:]}.{name} is {module}.{name} is {name}"
    )
    first = f"import sys, fairbandits as fb; assert not {SLOW} & {{*sys.modules}}\n"
    assert process(sys.executable, "-c", first + (script if name else MEASURES)).stderr == ""


def test_public_names_are_there():
    assert fb.__all__ == sorted(fb.__all__)
    assert dir(fb) == fb.__all__  # and nothing else
    for name in fb.__all__:
        assert getattr(fb, name) is not None


@pytest.mark.parametrize(("stub", "module"), [("__init__", fb), ("metrics", fb.metrics)])
def test_a_type_checker_sees_the_names_that_are_there(stub, module):
    tree = ast.parse((PACKAGE / f"{stub}.pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname: node.module for node in imports for alias in node.names}
    assert sorted(seen) == module.__all__, f"add a line to {stub}.pyi for each public name"
    for name, home in seen.items():
        public = inspect.unwrap(getattr(module, name))  # measures check their arguments
        assert getattr(importlib.import_module(home), name) is public


@pytest.mark.slow
def test_a_type_checker_finds_wrong_names_and_no_others(tmp_path):
    assert (PACKAGE / "py.typed").is_file()
    program = tmp_path / "program.py"
    program.write_text("\n".join([*RIGHT.strip().splitlines(), *WRONG]), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--cache-dir", tmp_path / "cache", program]
    done = process(*command, code=1, cwd=tmp_path)
    said = dict(re.findall(r"^program.py:(\d+): error: (.*)", done.stdout, re.MULTILINE))
    first = len(RIGHT.strip().splitlines()) + 1
    assert [*map(int, said)] == [*range(first, first + len(WRONG))], done.stdout + done.stderr
    for message, expected in zip(said.values(), WRONG.values(), strict=True):
        assert expected in message

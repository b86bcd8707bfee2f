"""What the library needs where it is installed without what runs the papers again."""

import subprocess
import sys
from importlib.metadata import distribution
from time import perf_counter

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from fairbandits.cli.main import REPLICATE

MOST = 25
SLOWEST = 0.5  # seconds


def needed(name):
    """Return what a distribution needs without extras, by the canonical names."""
    requirements = map(Requirement, distribution(name).requires or ())
    return {
        canonicalize_name(one.name)
        for one in requirements
        if one.marker is None or one.marker.evaluate({"extra": ""})
    }


def test_it_is_few_packages():
    found, waiting = set(), ["fairbandits"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += needed(name)
    assert len(found) <= MOST, sorted(found)
    assert not found & {"snakemake", "jupyter", "sphinx", "sympy"}


def test_the_import_is_quick_and_loads_nothing_of_the_workflow():
    code = (
        "import sys, fairbandits, fairbandits.audit.judging.run, fairbandits.arena.page;"
        " fairbandits.UCB1;"
        f" print(sorted(set({REPLICATE!r}) & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", "import fairbandits"], check=True)
    times = []
    for _ in range(5):
        begin = perf_counter()
        subprocess.run([sys.executable, "-c", "import fairbandits"], check=True)
        times.append(perf_counter() - begin)
    assert min(times) < SLOWEST
    said = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert said.strip() == "[]"

"""Fixtures for all tests."""

import hashlib
import inspect
import os
import signal
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

# What is compiled is kept for the next run, where no other checkout, and no edited copy of one,
# crowds it out; the package asks for the folder when it is imported.
os.environ.setdefault(
    "FAIRBANDITS_CACHE_DIR", str(Path(__file__).resolve().parents[1] / ".cache" / "tests")
)

from fairbandits.engine import kinds

# What the caller tells git and Snakemake is not for tests: a hook's GIT_DIR names this project.
for name in [*os.environ]:
    if name.startswith(("GIT_", "SNAKEMAKE_")):
        del os.environ[name]
os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
# below nohup a hangup is ignored, by what tests start as well
signal.signal(signal.SIGHUP, signal.SIG_DFL)

#: Tests of kernels are here, and compile short runs as well; all others run as users have it.
OF_KERNELS = ("engine", "policies")


@pytest.fixture(scope="module", autouse=True)
def compiling(request):
    """Compile whatever is run, where it is the kernels that a test is of."""
    if request.path.parent.name not in OF_KERNELS:
        yield
        return
    with mock.patch.multiple(kinds, COMPILING=0, LOADING=0, FIRST=0):
        yield


@pytest.fixture
def rng(request):
    """Return a generator seeded by the test's own id, so that no test depends on another."""
    name = request.node.nodeid.partition("::")[2]
    seed = f"tests/{request.node.path.name}::{name}"  # whatever folder the file is in
    digest = hashlib.blake2b(seed.encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


@pytest.fixture(autouse=True)
def global_random_state():
    """Fail a test that draws from NumPy's global generator, or seeds it."""
    before = _global_state()
    yield
    assert _global_state() == before, "the test moved NumPy's global random state"


def _global_state():
    name, words, *rest = np.random.get_state()  # noqa: NPY002
    return name, words.tobytes(), *rest


#: What compiled code is in, or runs through.
KERNELS = (
    "fairbandits.library.comparison",
    "fairbandits.library.compiling",
    "fairbandits.engine",
    "fairbandits.policies",
    "fairbandits.library.running",
    "fairbandits.library.simulation",
)


#: The files that take longest, in that order, then those that start the workflow.
LONGEST = (
    *(
        "test_workflow.py",
        "test_extending.py",
        "test_forms.py",
        "test_browser.py",
        "test_bf_ucb.py",
    ),
    *("test_first_hour_commands.py", "test_first_hour.py", "test_installed.py", "test_site.py"),
    *("test_compiling.py", "test_ht_ucb.py", "test_figures.py", "test_archive.py"),
)


def pytest_ignore_collect(collection_path, config):
    """Leave out a file that is slow as a whole, where slow tests are, before it is imported."""
    if collection_path.suffix == ".py" and "not slow" in config.option.markexpr:
        text = collection_path.read_text(encoding="utf-8")
        return "\npytestmark = pytest.mark.slow\n" in text or None
    return None


def pytest_collection_modifyitems(items):
    """Mark what runs kernels; begin with the longest files, so that nothing waits for one alone."""
    place = {name: at for at, name in enumerate(LONGEST)}

    def turn(item):
        at = place.get(item.path.name, len(place))
        return at, item.get_closest_marker("workflow") is None

    items.sort(key=turn)
    for item in items:
        if _runs_kernels(item.module):
            item.add_marker("kernels")


@cache
def _runs_kernels(module):
    """Return whether a test file names something of the kernels, or the whole package."""
    homes = {
        value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None) or ""
        for value in vars(module).values()
    }
    return any(home == "fairbandits" or home.startswith(KERNELS) for home in homes)

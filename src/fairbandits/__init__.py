"""Fair bandits: four published papers re-run at their published scale, and a bench for yours.

>>> import fairbandits as fb
>>> arms = fb.Instance(means=(0.3352, 0.2031, 0.2411, 0.7816, 0.6177), law="uniform02")
>>> policy = fb.BanditQ(targets=(0.1676, 0.0677, 0, 0, 0))
>>> frame = fb.run(policy, arms, horizon=10_000, replicates=3, checkpoints=[10_000]).to_frame()
>>> list(frame.columns)[:5]
['replicate', 'round', 'arm', 'plays', 'reward']
"""

import importlib
from collections.abc import Iterable

from fairbandits import metrics
from fairbandits.observers import CLASSES as OBSERVING
from fairbandits.policies import CLASSES

__version__ = "0.1.0"

_HOMES = {
    "fairbandits.aliases": ("FairUCB",),
    "fairbandits.comparison": ("Comparison", "compare"),
    "fairbandits.compiling": ("compiled",),
    "fairbandits.instance": ("Instance", "RandomInstance"),
    "fairbandits.metrics.penalties": ("penalty_rates",),
    "fairbandits.results": ("Result", "join"),
    "fairbandits.running": ("run",),
    "fairbandits.simulation": ("checkpoint_grid",),
    "fairbandits.engine.streams": ("inner", "unit"),
    "fairbandits.policies": tuple(CLASSES),
    "fairbandits.observers": tuple(OBSERVING),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("contracts", "instances", "metrics", "store")

#: What `fairbandits.metrics` offers by name. It stands here, and not in that package, since this
#: file is part of no run: a measure that is new here makes no recorded run stale.
_MEASURES = {
    "fairbandits.measures": (
        "group_deficits",
        "group_regret",
        "policy_distance",
        "r_regret",
        "realised_regret",
        "regret",
        "target_regret",
        "target_violation",
        "violation",
    ),
    "fairbandits.metrics.groups": ("jain_index", "per_group"),
    "fairbandits.metrics.penalised": (
        "mean_reward",
        "penalised_loss",
        "penalised_regret",
        "regret_parts",
        "unfairness",
        "unfairness_levels",
    ),
    "fairbandits.metrics.penalties": ("penalty_rates",),
    "fairbandits.metrics.rates": ("reward_rates",),
}
_MEASURE_FILES = ("groups", "penalised", "penalties", "pulls", "rates")
_MEASURE_OF = {name: home for home, names in _MEASURES.items() for name in names}

__all__ = sorted((*_HOME_OF, *_MODULES))


def __getattr__(name: str):
    # looked up on first use, so that the workflow can import the package without Numba
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    return _found(__name__, _HOME_OF, name)


def __dir__():
    return [*globals(), *__all__]


def _found(module: str, home_of: dict[str, str], name: str):
    if name not in home_of:
        # what Python asks of every module is answered without an import
        close = "" if name[0] == "_" else _nearest(name, [*home_of, *_MODULES])
        raise AttributeError(f"module {module!r} has no attribute {name!r}{close}")
    return getattr(importlib.import_module(home_of[name]), name)


def _nearest(name: str, known: Iterable[str]) -> str:
    """Return the question after a name that is unknown, or nothing where none is near."""
    import difflib

    spelt = {one.lower().replace("_", ""): one for one in known}
    close = difflib.get_close_matches(name.lower().replace("_", ""), spelt, n=1)
    return f"; did you mean {spelt[close[0]]!r}?" if close else ""


def _measure(name: str):
    if name in _MEASURE_FILES:
        return importlib.import_module(f"{metrics.__name__}.{name}")
    return _found(metrics.__name__, _MEASURE_OF, name)


metrics.__getattr__ = _measure
metrics.__dir__ = lambda: [*vars(metrics), *_MEASURE_FILES, *_MEASURE_OF]
metrics.__all__ = sorted(_MEASURE_OF)

"""Fair bandits: published papers re-run at their published scale, and a bench for yours.

>>> import fairbandits as fb
>>> arms = fb.Instance(means=(0.3352, 0.2031, 0.2411, 0.7816, 0.6177), law="uniform02")
>>> policy = fb.BanditQ(targets=(0.1676, 0.0677, 0, 0, 0))
>>> frame = fb.run(policy, arms, horizon=10_000, replicates=3, checkpoints=[10_000]).to_frame()
>>> list(frame.columns)[:5]
['replicate', 'round', 'arm', 'plays', 'reward']
"""

from functools import cache

__version__ = "1.2.0"

_HOMES = {
    "fairbandits.policies.fair_learn": ("FairUCB",),
    "fairbandits.library.comparison": ("Comparison", "compare"),
    "fairbandits.library.compiling": ("compiled",),
    "fairbandits.library.late": ("Batched", "Delayed"),
    "fairbandits.library.results": ("Result", "join"),
    "fairbandits.library.running": ("run",),
    "fairbandits.library.sweeping": ("Sweep", "sweep"),
    "fairbandits.library.arms": ("Instance", "RandomInstance", "World"),
    "fairbandits.library.simulation": ("checkpoint_grid",),
    "fairbandits.engine.streams": ("inner", "unit"),
}
_MODULES = ("contracts", "instances", "metrics", "store")
#: Modules that list the policies and the observers.
_REGISTRIES = ("policies", "observers")
_MODULE_OF = {name: f"{__name__}.{name}" for name in (*_MODULES, *_REGISTRIES)}


# All is looked up on first use, so that the package is imported at once, and by the workflow
# without Numba.


@cache
def _home_of() -> dict[str, str]:
    """Return the module of each public name."""
    from importlib import import_module

    homes = dict(_HOMES)
    for name in _REGISTRIES:
        registry = import_module(f"{__name__}.{name}")
        homes[registry.__name__] = tuple(registry.CLASSES)
    return {name: home for home, names in homes.items() for name in names}


def __getattr__(name: str):
    if name == "__all__":
        return sorted((*_home_of(), *_MODULES))
    from fairbandits.lookup import imported

    globals()[name] = value = imported(__name__, _home_of(), name, _MODULE_OF)
    return value


def __dir__():
    return __getattr__("__all__")

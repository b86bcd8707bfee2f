"""Fair bandits: published papers re-run at their published scale, and a bench for yours.

>>> import fairbandits as fb
>>> arms = fb.Instance(means=(0.3352, 0.2031, 0.2411, 0.7816, 0.6177), law="uniform02")
>>> policy = fb.BanditQ(targets=(0.1676, 0.0677, 0, 0, 0))
>>> frame = fb.run(policy, arms, horizon=10_000, replicates=3, checkpoints=[10_000]).to_frame()
>>> list(frame.columns)[:5]
['replicate', 'round', 'arm', 'plays', 'reward']
"""

from fairbandits.lookup import found
from fairbandits.observers import CLASSES as OBSERVING
from fairbandits.policies import CLASSES

__version__ = "1.0.0"

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
    "fairbandits.policies": tuple(CLASSES),
    "fairbandits.observers": tuple(OBSERVING),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

_MODULES = {one: f"{__name__}.{one}" for one in ("contracts", "instances", "metrics", "store")}

__all__ = sorted((*_HOME_OF, *_MODULES))


def __getattr__(name: str):
    # looked up on first use, so that the workflow can import the package without Numba
    return found(__name__, _HOME_OF, name, _MODULES)


def __dir__():
    return __all__

"""The observers, and the one place where they are registered; a file is imported on first use."""

from typing import Any

from fairbandits.lookup import imported
from fairbandits.policies import Registry, make_registered

#: Name in configuration files -> file and class. This line alone registers an observer. The code
#: fingerprint of a run has the lines of its own observers.
HOMES = {
    "banditq_inequalities": "banditq:BanditQInequalities",
    "group_deficits": "groups:GroupDeficits",
    "initial_phase": "groups:InitialPhase",
    "merit_regret": "merit_regret:MeritRegret",
    "optional_pulls": "groups:OptionalPulls",
    "plays_sum": "plays:PlaysSum",
    "queue_squares": "banditq:QueueSquares",
    "starvation": "plays:Starvation",
    "surrogate_gains": "surrogate_gains:SurrogateGains",
}
#: Class -> the file that it is in.
CLASSES = {home.partition(":")[2]: home.partition(":")[0] for home in HOMES.values()}

#: Name in configuration files -> observer.
OBSERVERS = Registry(__name__, HOMES)


def __getattr__(name: str) -> type:
    home_of = {key: f"{__name__}.{file}" for key, file in CLASSES.items()}
    return imported(__name__, home_of, name)


def make_observer(name: str, parameters: dict[str, Any], where: str = "") -> Any:
    """Return the registered observer `name`; a ValueError starts with `where`."""
    prefix = f"{where}: " if where else ""
    return make_registered("observer", OBSERVERS, name, parameters, prefix)

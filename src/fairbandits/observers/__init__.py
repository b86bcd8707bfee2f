"""The observers, one file each, and the one place where they are registered."""

from typing import Any

from fairbandits.observers.banditq_inequalities import BanditQInequalities
from fairbandits.observers.fair_learn_deficits import FairLearnDeficits
from fairbandits.observers.group_deficits import GroupDeficits
from fairbandits.observers.initial_phase import InitialPhase
from fairbandits.observers.merit_regret import MeritRegret
from fairbandits.observers.optional_pulls import OptionalPulls
from fairbandits.observers.plays_sum import PlaysSum
from fairbandits.observers.queue_squares import QueueSquares
from fairbandits.observers.starvation import Starvation
from fairbandits.observers.surrogate_gains import SurrogateGains
from fairbandits.policies import make_registered

#: Name in configuration files -> observer.
OBSERVERS = {
    "banditq_inequalities": BanditQInequalities,
    "fair_learn_deficits": FairLearnDeficits,
    "group_deficits": GroupDeficits,
    "initial_phase": InitialPhase,
    "merit_regret": MeritRegret,
    "optional_pulls": OptionalPulls,
    "plays_sum": PlaysSum,
    "queue_squares": QueueSquares,
    "starvation": Starvation,
    "surrogate_gains": SurrogateGains,
}


def make_observer(name: str, parameters: dict[str, Any], where: str = "") -> Any:
    """Return the registered observer `name` with these parameters.

    Raises
    ------
    ValueError
        If the name or a parameter is unknown, or a value is out of range; the message starts
        with `where`, the place in the configuration.
    """
    place = f"{where}: " if where else ""
    return make_registered("observer", OBSERVERS, name, parameters, place)

"""Claims about one's own policies: what is played, and the claims on it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairbandits.audit.claims import OWN, Paper

#: Suite of all runs of a study.
SUITE = "instances"


@dataclass
class Study(Paper):
    """Claims about one's own policies, and the runs that they are about.

    Every policy plays on every instance, on common random numbers. `fairbandits judge FILE` freezes
    the file, simulates, and judges.

    Parameters
    ----------
    title : str
        What the study asks.
    instances : mapping of str to Instance or RandomInstance, or to (instance, facts)
        What policies are played on, by name; facts are its quotas, targets, penalties or groups.
    policies : mapping of str to class, or to (class, parameters)
        Policies of this library or one's own, by name. Quotas, targets, penalties and groups that a
        policy needs and is not given are the instance's.
    horizon : int or sequence of int
        Number of rounds; of several each is recorded at its end.
    replicates : int
        Number of replicates of each, at least 2.
    observe : mapping of str to sequence of str, optional
        By policy what watches its runs: names in `fairbandits.observers`.
    level : float
        Confidence that no verdict on a primary claim is wrong, from 0.5 to below 1.
    """

    slug: str = field(default=OWN, kw_only=True)
    title: str = ""
    instances: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    policies: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    horizon: int | Sequence[int] = field(default=0, kw_only=True)
    replicates: int = field(default=0, kw_only=True)
    observe: Mapping[str, Sequence[str]] = field(default_factory=dict, kw_only=True)

    def claim(self, kind: str = "comparison", place: str = "own", **said: Any) -> Callable:
        """Register a function that yields tests, as `Paper.claim`; all own claims are primary."""
        return super().claim(kind, place, **{"primary": True} | said)

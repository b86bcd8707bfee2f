"""The fingerprint of exactly the code that a run goes through.

The workflow asks for it on every start, so neither Numba nor pandas is imported here.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from fairbandits.data import provenance
from fairbandits.data.provenance import COMPILED, RUNNING, fingerprint_of_use, homes, joint, used_by
from fairbandits.policies.own import is_own
from fairbandits.settings.spec import RunSpec

POLICIES, OBSERVERS = provenance.REGISTRIES
#: What makes the learner inside a policy, and the one that all have by default.
LEARNER, USUAL_LEARNER = "policies/learner.py", "ucb1"


def code_of(spec: RunSpec) -> str:
    """Return the fingerprint of the code that a run goes through, 16 hexadecimal digits.

    Of the registries only its own lines count. A user's policy can import anything, so all count.
    """
    policies = sorted(set(_policies(spec.policy, spec.parameters)))
    observers = sorted(name for name, _ in spec.observe)
    return _code(tuple(policies), tuple(observers))


def code_of_all(specs: Iterable[RunSpec]) -> str:
    """Return one fingerprint for several runs."""
    return joint(map(code_of, specs))


@cache
def _code(policies: tuple[str, ...], observers: tuple[str, ...]) -> str:
    parts, words = list(RUNNING), []
    for registry, names in ((POLICIES, policies), (OBSERVERS, observers)):
        for name in names:
            if is_own(name):
                parts += COMPILED
            else:
                parts.append(_file(registry, name))
                words.append(f"{registry} {name} {homes(registry)[name]}")
    return fingerprint_of_use(*dict.fromkeys(parts), words=tuple(words))


def _policies(name: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a policy and of the learners inside it."""
    yield name
    if not is_own(name) and LEARNER in used_by(_file(POLICIES, name)):
        inside = parameters.get("learner", USUAL_LEARNER)
        yield from _policies(inside, parameters.get("learner_parameters", {}))


def _file(registry: str, name: str) -> str:
    """Return the file of a registered name; ValueError for an unknown one."""
    known = homes(registry)
    if name not in known:
        raise ValueError(f"{registry} registers no {name!r}; it has {', '.join(known)}")
    return registry.replace("__init__", known[name].partition(":")[0])

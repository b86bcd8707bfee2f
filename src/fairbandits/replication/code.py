"""The fingerprint of exactly the code that a run goes through.

The workflow asks for it on every start, so neither Numba nor pandas is imported here.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from fairbandits import observers, policies
from fairbandits.data.provenance import COMPILED, RUNNING, fingerprint, joint, used_by
from fairbandits.policies.own import is_own
from fairbandits.settings.schemas import meant
from fairbandits.settings.spec import RunSpec

#: Package -> file and class of each name that it registers.
REGISTERED = {"policies": policies.HOMES, "observers": observers.HOMES}
#: What makes the learner inside a policy, and the one that all have by default.
LEARNER, USUAL_LEARNER = "policies/learner.py", "ucb1"


def code_of(spec: RunSpec) -> str:
    """Return the fingerprint of the code that a run goes through, 16 hexadecimal digits."""
    played = sorted(set(_policies(spec.policy, spec.parameters)))
    return _code(tuple(played), tuple(sorted(name for name, _ in spec.observe)))


def code_of_all(specs: Iterable[RunSpec]) -> str:
    """Return one fingerprint for several runs."""
    return joint(map(code_of, specs))


@cache
def _code(played: tuple[str, ...], watching: tuple[str, ...]) -> str:
    parts, lines = list(RUNNING), []
    for package, names in (("policies", played), ("observers", watching)):
        for name in names:
            if is_own(name):  # a user's policy can import anything
                parts += COMPILED
            else:
                parts.append(_file(package, name))
                lines.append(f"{package} {name} {REGISTERED[package][name]}")
    return fingerprint(*used_by(*dict.fromkeys(parts)), words=tuple(lines))


def _policies(name: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a policy and of the learners inside it."""
    yield name
    if not is_own(name) and LEARNER in used_by(_file("policies", name)):
        inside = parameters.get("learner", USUAL_LEARNER)
        yield from _policies(inside, parameters.get("learner_parameters", {}))


def _file(package: str, name: str) -> str:
    """Return the file of a registered name; ValueError for an unknown one."""
    known = REGISTERED[package]
    if name not in known:
        raise ValueError(f"{package}/__init__.py registers no {name!r}{meant(name, known)}")
    return f"{package}/{known[name].partition(':')[0]}.py"

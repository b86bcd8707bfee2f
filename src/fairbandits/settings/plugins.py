"""Policies of installed packages, by the names of their entry points.

The workflow lists them on every start, so none of their modules is imported here.
"""

from importlib.metadata import EntryPoint, entry_points

from fairbandits.policies import HOMES
from fairbandits.policies.own import is_own
from fairbandits.settings.schemas import ConfigError

#: The entry point group: ``[project.entry-points."fairbandits.policies"]`` in pyproject.toml.
GROUP = "fairbandits.policies"


def offered() -> list[str]:
    """Return the names under which installed packages offer policies."""
    return sorted(entry_points(group=GROUP).names - HOMES.keys())


def home_of(policy: str, place: str) -> str:
    """Return ``module:Class`` for the name of an installed package's policy, other names unchanged.

    Registered names always mean this package's policies. ConfigError if two packages offer
    different policies under one name.
    """
    if is_own(policy) or policy in HOMES:
        return policy
    homes = {f"{one.module}:{one.attr}": _package(one) for one in _entries(policy)}
    if len(homes) > 1:
        both = " and ".join(f"{home} of {package}" for home, package in homes.items())
        raise ConfigError(
            f"{place}.policy: {policy!r} is offered by several packages, {both}; name one of them "
            "as module:Class"
        )
    return next(iter(homes), policy)


def _entries(name: str) -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP, name=name), key=lambda one: (one.value, _package(one)))


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "an unknown package"

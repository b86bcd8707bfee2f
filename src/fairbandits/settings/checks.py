"""Checks of an experiment's values beyond their schema: lengths, ranges and sums."""

import itertools
from fractions import Fraction
from typing import Any

from fairbandits.policies import HOMES
from fairbandits.policies.own import check_arguments, is_own, source_hash
from fairbandits.rationals import quota_numerators, rational
from fairbandits.settings.plugins import offered
from fairbandits.settings.schemas import ConfigError, check, meant, schema_of
from fairbandits.settings.spec import OF_INSTANCE

#: Largest exponent of the horizon: 2**53 to that power is still finite.
LARGEST = 10
#: Parameters whose values can come from the instance.
KNOWN_OF_INSTANCE = (
    "means",
    "penalties",
    "reference",
    "shadow_means",
    "groups",
    "targets",
    "quotas",
    "fractions",
)


def check_range(low: float, high: float, laws: list[str], place: str) -> None:
    """Raise ConfigError unless a law can have means from `low` to `high`."""
    for law in laws:
        least = None if law in ("gaussian", "deterministic") else 0
        most = 1 if law in ("bernoulli", "beta") else None
        if (least is not None and low < least) or (most is not None and high > most):
            allowed = "in [0, 1]" if most else "at least 0"
            raise ConfigError(f"{place} must be {allowed} under law {law}, got {low} to {high}")


def check_rounds(rounds: list, least: int, most: int, place: str) -> None:
    """Raise ConfigError unless rounds increase and are in least..most."""
    if any(one >= after for one, after in itertools.pairwise(rounds)):
        raise ConfigError(f"{place} must increase, got {', '.join(map(str, rounds))}")
    if rounds[0] < least or rounds[-1] > most:
        wrong = rounds[0] if rounds[0] < least else rounds[-1]
        raise ConfigError(f"{place} must be whole numbers in {least}..{most}, got {wrong}")


def check_apart(apart: bool, horizons: list, block: dict[str, Any], place: str) -> None:
    """Raise ConfigError unless horizons that are run apart exist and can be."""
    if not apart:
        return
    if not horizons:
        raise ConfigError(f"{place}: there are no horizons; give them beside it")
    if "at" in block["checkpoints"]:
        raise ConfigError(f"{place} needs checkpoints for any horizon: linear and log, not at")
    if "drawn_means" in block:
        raise ConfigError(f"{place} needs fixed means; drawn ones belong to the replicate")


def check_sweep(sweep: dict[str, list], place: str) -> None:
    """Raise ConfigError unless all swept values are rational."""
    for key, values in sweep.items():
        for value in values:
            exact(value, f"{place}.{key}")


def exact(value: Any, place: str) -> Fraction:
    """Return a value as an exact fraction, or raise ConfigError."""
    try:
        return rational(place, value)
    except ValueError as error:
        raise ConfigError(str(error)) from None


def with_stand_ins(
    parameters: dict[str, Any], n_arms: int, given: dict[str, Any], place: str
) -> dict[str, Any]:
    """Return parameters for a check, with stand-ins for values from the instance."""
    stand_ins: dict[str, Any] = {}
    for key, value in parameters.items():
        if isinstance(value, dict):
            stand_ins[key] = with_stand_ins(value, n_arms, given, f"{place}.{key}")
        if value != OF_INSTANCE:
            continue
        if key not in KNOWN_OF_INSTANCE:
            known = f"{', '.join(KNOWN_OF_INSTANCE[:-1])} and {KNOWN_OF_INSTANCE[-1]}"
            raise ConfigError(f"{place}.{key}: only {known} can be those of the instance")
        if key in given and given[key] in (None, [], {}):
            what = {"fractions": "quotas"}.get(key, key)
            raise ConfigError(
                f"{place}.{key}: the experiment has no {what}; give them there, or here in place "
                "of 'instance'"
            )
        stand_ins[key] = {"penalties": 0, "groups": given["groups"]}.get(key, [0] * n_arms)
    return parameters | stand_ins


def check_streams(name: str, blocks: dict[str, Any], place: str) -> None:
    """Raise ConfigError if an experiment shares the streams of one with other means."""
    other = blocks[name].get("same_instances_as", name)
    place = f"{place}.same_instances_as"
    if other not in blocks:
        raise ConfigError(f"{place}: there is no experiment {other!r}{meant(other, list(blocks))}")
    for key in ("groups", "means", "drawn_means"):
        own, theirs = (_values(blocks[one].get(key)) for one in (name, other))
        if own != theirs:
            raise ConfigError(f"{place}: {key} must be those of experiments.{other}")


def _values(entry: Any) -> Any:
    """Return an entry's values without their provenance."""
    if not isinstance(entry, dict):
        return entry
    return entry.get("value", {key: _values(one) for key, one in entry.items()})


def check_instance(n_arms: int, horizon: int, place: str) -> None:
    """Raise ConfigError unless every arm can be pulled."""
    if horizon < n_arms:
        raise ConfigError(
            f"{place}.horizon must be at least the number of arms ({n_arms}), got {horizon}"
        )


def check_targets(means: list, targets: list, place: str) -> None:
    """Raise ConfigError unless the targets can be met."""
    if len(targets) != len(means):
        raise ConfigError(
            f"{place}.targets must have one entry per mean ({len(means)}), got {len(targets)}"
        )
    for k, (mean, target) in enumerate(zip(means, targets, strict=True), start=1):
        if target < 0 or (target > 0 and mean <= 0):
            raise ConfigError(
                f"{place}.targets must be at least 0, and 0 where the mean is 0, "
                f"got {target} for arm {k} with mean {mean}"
            )
    load = sum(target / mean for mean, target in zip(means, targets, strict=True) if target)
    if load > 1 + 1e-9:
        raise ConfigError(
            f"{place}.targets cannot be met: sum of target / mean must be at most 1, got {load:.4f}"
        )


def check_shares(shares: list, n_arms: int, place: str) -> None:
    """Raise ConfigError unless shares of the targets are at least 0 and sum to at most 1."""
    if len(shares) > n_arms:
        raise ConfigError(
            f"{place} must have at most one entry per mean ({n_arms}), got {len(shares)}"
        )
    total = sum(exact(share, place) for share in shares)
    if min(exact(share, place) for share in shares) < 0 or total > 1:
        raise ConfigError(f"{place} must be at least 0 and sum to at most 1, got {shares}")


def check_drawn_quotas(drawn: dict[str, Any], n_arms: int, place: str) -> None:
    """Raise ConfigError unless quotas of this kind can be drawn for this many arms."""
    least = 2 + (drawn["span"] != "kth")
    if n_arms < least:
        raise ConfigError(f"{place}.span {drawn['span']} needs at least {least} arms, got {n_arms}")
    if drawn["denominator"] < 2 * n_arms**2:
        raise ConfigError(
            f"{place}.denominator must be at least {2 * n_arms**2} with {n_arms} arms, "
            f"got {drawn['denominator']}"
        )


def check_quotas(n_arms: int, quotas: list, place: str) -> None:
    """Raise ConfigError unless there is one quota per arm, and they sum to less than 1."""
    if len(quotas) != n_arms:
        raise ConfigError(
            f"{place}.quotas must have one entry per mean ({n_arms}), got {len(quotas)}"
        )
    try:
        quota_numerators(quotas)
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from None


def _policies() -> list[str]:
    """Return the names of all registered policies."""
    return list(schema_of("policies")["$defs"])


def source_of(policy: str, place: str) -> str | None:
    """Return the hash of a user's policy file; None for a registered policy."""
    try:
        return source_hash(policy) if is_own(policy) else None
    except ValueError as error:
        raise ConfigError(f"{place}.policy: {error}") from None


def check_policy(
    policy: str, parameters: dict[str, Any], n_arms: int, given: dict[str, Any], place: str
) -> dict[str, Any]:
    """Return a policy's parameters, with stand-ins for values from the instance.

    Raises ConfigError for an unknown policy, or parameters that it cannot have.
    """
    if not is_own(policy) and policy not in (known := _policies()):
        if policy in HOMES:
            raise ConfigError(
                f"{place}.policy: {policy!r} has no schema yet; run `fairbandits schemas`"
            )
        known = [*known, *offered()]
        raise ConfigError(f"{place}.policy: {policy!r} is unknown{meant(policy, known)}")
    where = f"{place}.parameters"
    complete = with_stand_ins(parameters, n_arms, given, where)
    if not is_own(policy):
        check_parameters(policy, complete, n_arms, where)
        return complete
    try:
        check_arguments(policy, parameters)
    except ValueError as error:
        raise ConfigError(f"{place}.policy: {error}") from None
    return complete


#: Parameters that passed, by policy and number of arms: most recur in many cells.
_FITTING: set[tuple[str, int, str]] = set()


def check_parameters(policy: str, parameters: dict[str, Any], n_arms: int, place: str) -> None:
    """Raise ConfigError unless the parameters of a policy and its learner fit their schemas."""
    same = policy, n_arms, repr(parameters)
    if same in _FITTING:
        return
    check(parameters, f"policies/{policy}", place)
    learner = parameters.get("learner")
    # BF-UCB's learners are no policies; its own schema names them
    if learner and "enum" not in schema_of(f"policies/{policy}")["properties"]["learner"]:
        if learner not in (known := _policies()):
            raise ConfigError(f"{place}.learner: {learner!r} is unknown{meant(learner, known)}")
        inside = parameters.get("learner_parameters", {})
        check_parameters(learner, inside, n_arms, f"{place}.learner_parameters")
    _check_lengths(f"policies/{policy}", parameters, n_arms, place)
    _check_sums(f"policies/{policy}", parameters, place)
    _check_sizes(parameters, place)
    _FITTING.add(same)


def _check_sizes(parameters: dict[str, Any], place: str) -> None:
    """Raise ConfigError if a power of the horizon would overflow."""
    for key, value in parameters.items():
        if key.endswith("exponent") and isinstance(value, int | float) and abs(value) > LARGEST:
            raise ConfigError(f"{place}.{key} must be in -{LARGEST}..{LARGEST}, got {value}")


def _check_sums(schema: str, parameters: dict[str, Any], place: str) -> None:
    """Raise ConfigError unless fractions are >= 0 and sum to at most 1; quotas of arms below 1."""
    for key in ("quotas", "fractions"):
        if not isinstance(parameters.get(key), list):
            continue
        values = [exact(value, f"{place}.{key}") for value in parameters[key]]
        below = key == "quotas" and schema_of(schema)["properties"][key].get("perArm")
        if min(values, default=0) < 0 or sum(values) > 1 or (below and sum(values) == 1):
            most = "less than 1" if below else "at most 1"
            raise ConfigError(
                f"{place}.{key} must be at least 0 and sum to {most}, got {parameters[key]}"
            )


def _check_lengths(schema: str, parameters: dict[str, Any], n_arms: int, place: str) -> None:
    properties = schema_of(schema).get("properties", {})
    for key, value in parameters.items():
        if properties[key].get("perArm") and isinstance(value, list) and len(value) != n_arms:
            raise ConfigError(
                f"{place}.{key} must have one entry per arm ({n_arms}), got {len(value)}"
            )


def observers_of(observe: list, place: str) -> list[list]:
    """Return observers as pairs of name and parameters, without provenance."""
    found: list[list] = []
    for one in observe:
        ((name, given),) = one.items() if isinstance(one, dict) else [(one, {})]
        if name in [known for known, _ in found]:
            raise ConfigError(f"{place}: {name!r} is there twice")
        found.append([name, _values(given)])
    return found


def check_observer(
    name: str,
    given: dict[str, Any],
    policy: str,
    parameters: dict[str, Any],
    n_arms: int,
    place: str,
) -> None:
    """Raise ConfigError unless an observer's parameters fit its schema and the policy."""
    schema = f"observers/{name}"
    check(given, schema, f"{place}.{name}")
    _check_lengths(schema, given, n_arms, f"{place}.{name}")
    described = schema_of(schema)
    known = parameters | {"policy": policy}
    fitting = described.get("policies", [{}])
    if not any(all(known.get(key) in one[key] for key in one) for one in fitting):
        raise ConfigError(
            f"{place}: {name} can watch {described['watches']} only, got policy {policy}"
        )

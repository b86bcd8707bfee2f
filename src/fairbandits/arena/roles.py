"""Roles of the policies under each contract: papers/arena/arena.yaml."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairbandits.arena.settings import SLUG
from fairbandits.library.contracts import CONTRACTS
from fairbandits.settings.config import Config, Experiment
from fairbandits.settings.models import expect_known, validated
from fairbandits.settings.records import ArenaFile, NoRole
from fairbandits.settings.schemas import ROOT, ConfigError, paper_file, read_yaml

#: Role of a policy that was made for the contract.
OWN = "own"
#: Kinds of policies that are told the true means, the second of a user; kind of those that ignore
#: the contract.
ORACLE, TOLD, CONTROL = "oracle", "yours, told the true means", "control"
#: Translation of the policy that plays the optimum.
OPTIMUM = "knows_all"


@dataclass(frozen=True)
class Role:
    """How a policy meets a contract: by itself, by a translation, or not at all (empty)."""

    translation: str
    kind: str
    says: str


@dataclass(frozen=True)
class Terms:
    """A contract by its name in `CONTRACTS`, and the suites on whose instances it is judged."""

    name: str
    title: str
    says: str
    suites: tuple[str, ...]
    roles: dict[str, Role]
    unit: str  # of a shortfall


@dataclass(frozen=True)
class Arena:
    """The arena as configured, and its contracts."""

    config: Config
    terms: tuple[Terms, ...]
    reasons: dict[str, str]  # instance -> why it is there

    def instances(self, contract: str) -> tuple[Experiment, ...]:
        """Return a contract's instances, as the experiments of its shortest horizon."""
        return self.config.named(SLUG, self.of(contract).suites[0])

    def of(self, contract: str) -> Terms:
        """Return a contract's terms, or raise ConfigError naming the nearest."""
        known = {terms.name: terms for terms in self.terms}
        expect_known(contract, known, f"the arena has no contract {contract!r}")
        return known[contract]


def load_arena(config: Config, root: Path = ROOT) -> Arena:
    """Return the arena, or raise ConfigError if papers/arena/arena.yaml does not fit the suites."""
    file = paper_file(SLUG, "arena", root)
    where = str(file.relative_to(root))
    content = validated(read_yaml(file), ArenaFile, where)
    blocks = read_yaml(paper_file(SLUG, "experiments", root))["experiments"]
    suites: dict[str, dict[str, str]] = {name: {} for name in blocks}
    for experiment in config.experiments:
        suites[experiment.suite].update(experiment.labels)
    run = sorted(set().union(*suites.values()))
    for name in content.policies:
        expect_known(name, run, f"{where}: policies: no suite runs {name!r}")
    terms = []
    for name, contract in content.contracts.items():
        for suite in contract.suites:
            message = f"contracts.{name}.suites: {suite!r} is unknown"
            expect_known(suite, suites, f"{where}: {message}")
        ran = suites[contract.suites[0]]
        roles = {
            policy: _role(content, policy, name, policy in ran, where)
            for policy in dict.fromkeys([*ran, *content.policies])
        }
        fields = dict(contract) | {"suites": tuple(contract.suites), "unit": CONTRACTS[name].unit}
        terms.append(Terms(name, roles=roles, **fields))
    return Arena(config, tuple(terms), _reasons(blocks))


def _role(content: ArenaFile, policy: str, contract: str, ran: bool, where: str) -> Role:
    """Return how a policy meets a contract; `ran` says whether its suite runs the policy."""
    entry = f"{where}: policies.{policy}"
    role = content.policies.get(policy, {}).get(contract)
    if role is None:
        raise ConfigError(f"{entry}: it needs the key {contract}: own, a translation, or none")
    if isinstance(role, NoRole):
        return Role("", "not applicable", role.none)
    if not ran:
        raise ConfigError(f"{entry}.{contract}: the contract's suite does not run it; say none")
    if role == OWN:
        return Role(OWN, OWN, "made for this contract")
    translations = content.translations
    expect_known(role, [OWN, *translations], f"{entry}.{contract}: {role!r} is unknown")
    return Role(role, translations[role].kind, translations[role].says)


def _reasons(blocks: dict[str, Any]) -> dict[str, str]:
    """Return why each instance was chosen: the origin of its means."""
    instances = [named for block in blocks.values() for named in block["instances"].items()]
    means = {name: fields.get("means") or fields["drawn_means"] for name, fields in instances}
    return {name: of.get("source") or of["low"]["source"] for name, of in means.items()}

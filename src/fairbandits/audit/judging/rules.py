"""A file of claims about one's own policies: read, checked, and put in the form of a paper's."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from fairbandits.audit.claims import Ledger, listed
from fairbandits.audit.ledger import load_ledgers
from fairbandits.library import instances as named_instances
from fairbandits.library.instance import RandomInstance
from fairbandits.library.own_code import importable
from fairbandits.policies import own
from fairbandits.settings.canonical import rules_digest
from fairbandits.settings.config import LEDGER, Config, build_config
from fairbandits.settings.records import check
from fairbandits.settings.schemas import RULES, ConfigError, meant, read_yaml, with_shared_rules

#: Slug and suite of a user's own claims, in the place of a paper's.
OWN, SUITE = "own", "instances"
#: Recorded rounds of a run with one horizon.
CHECKPOINTS = {"linear": 100, "log": 50}
#: Optional facts of an instance, besides its means.
FACTS = ("quotas", "targets", "penalties", "groups")
#: Required settings, and the message where one is missing.
NEEDED = {
    "replicates": "how many replicates there are is every claim's n, e.g. replicates: 100",
    "horizon": "the number of rounds, e.g. horizon: 10000, or several: [1000, 10000]",
}


@dataclass(frozen=True)
class Rules:
    """Everything that decides the verdicts, fixed before the data."""

    file: Path
    title: str
    content: Mapping[str, Any]  # the file in canonical form
    digest: str  # its hash, from which the seed follows
    config: Config
    ledger: Ledger
    sources: tuple[Path, ...]  # files of the user's own policies

    @property
    def seed(self) -> int:
        return self.config.seed_of(self.config.experiments[0])

    @property
    def horizons(self) -> list[int]:
        return listed(self.content["horizon"])

    def small(self) -> tuple[Config, Ledger]:
        """Return rules with few rounds and two replicates, on a seed of their own."""
        arms = max(run.spec.n_arms for run in self.config.runs)
        few = [2 * arms + 50 * number for number in range(1, len(self.horizons) + 1)]
        horizon = [min(pair) for pair in zip(few, self.horizons, strict=True)]
        rehearsed = dict(self.content) | {"horizon": horizon, "replicates": 2}
        config, ledger = _built(rehearsed, self.file)
        return replace(config, seed=0), ledger


def load_rules(file: Path, seed: int | str = LEDGER) -> Rules:
    """Return the checked rules of a YAML file (docs/your-own-claims.md), or raise ConfigError."""
    where = str(file)
    given = read_yaml(file)
    for name, why in NEEDED.items():
        if name not in given:
            raise ConfigError(f"{where}: {name} is missing: {why}")
    check(given, "own_claims", where)
    sources: dict[str, Path] = {}
    policies = {
        name: _policy(block, file.parent, f"{where}: policies.{name}", sources)
        for name, block in given["policies"].items()
    }
    found = {
        name: _instance(block, f"{where}: instances.{name}")
        for name, block in given["instances"].items()
    }
    content = _complete(given, where) | {"instances": found, "policies": policies}
    try:
        digest = rules_digest(content)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None
    config, ledger = _built(content, file)
    _check_chosen(ledger, list(found), listed(content["horizon"]), where)
    own = tuple(replace(one, origin=digest) for one in config.experiments)
    config = replace(config, seed=seed, rules={OWN: digest}, experiments=own)
    ledger = replace(ledger, digest=digest)
    title = given["title"]
    return Rules(file, title, content, digest, config, ledger, tuple(sources.values()))


def _instance(block: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return an instance as plain facts, whether it is named or described."""
    own_facts = {name: value for name, value in block.items() if name not in ("named", "arguments")}
    ways = [name for name in ("named", "means", "arms") if name in block]
    if len(ways) != 1:
        raise ConfigError(
            f"{where}: exactly one of named, means and arms is needed, "
            f"got {' and '.join(ways) or 'none'}"
        )
    if "named" not in block:
        return {"law": "bernoulli"} | own_facts
    if wrong := sorted(own_facts.keys() - {*FACTS}):
        raise ConfigError(
            f"{where}.{wrong[0]}: a named instance has its own; what it can have besides are "
            f"{', '.join(FACTS)}, and `arguments`"
        )
    known = [name for name in named_instances.__all__ if name[0].islower()]
    name = block["named"]
    if name not in known:
        raise ConfigError(f"{where}.named: {name!r} is unknown{meant(name, known)}")
    try:
        made = getattr(named_instances, name)(**block.get("arguments", {}))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where}.arguments: {error}") from None
    return _facts(made) | own_facts


def _facts(made: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {"law": made.law}
    if made.law in ("gaussian", "beta"):
        facts["spread"] = made.spread
    for name in FACTS:
        value = getattr(made, name)
        if value not in (None, ()):
            facts[name] = list(value) if isinstance(value, tuple) else value
    if "quotas" in facts:  # as a file has them, and as the digest of the rules does
        facts["quotas"] = list(map(str, facts["quotas"]))
    if not isinstance(made, RandomInstance):
        return facts | {"means": list(made.means)}
    firsts = [sum(made.groups[:k]) for k in range(len(made.groups))]
    for name in ("low", "high"):
        end = getattr(made, name)
        facts[name] = [end[k] for k in firsts] if isinstance(end, tuple) else end
    facts |= {"arms": made.n_arms, "decimals": made.decimals}
    facts["fixed"] = list(map(list, made.fixed)) or None
    return {name: value for name, value in facts.items() if value is not None}


def _policy(
    block: Mapping[str, Any], folder: Path, where: str, sources: dict[str, Path]
) -> dict[str, Any]:
    """Return a policy's record; for a user's own, note its file and add the file's hash."""
    name = block["policy"]
    if not own.is_own(name):
        return dict(block)
    try:
        home = importable(name, folder)
        file = own._file(home)
        source = own.source_hash(home)
    except ValueError as error:
        raise ConfigError(f"{where}.policy: {error}") from None
    for other in sources.values():
        if other.name == file.name and other != file:
            raise ConfigError(f"{where}.policy: there is another {file.name}, {other}; rename one")
    sources[home] = file
    return dict(block) | {"module": home, "source": source}


def _complete(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the content with the defaults of a user's ledger filled in."""
    own = {kind: given.get(kind, {}) for kind in RULES}
    families = {name: {"what": name} | block for name, block in own["families"].items()}
    rules = {name: {"version": 1} | block for name, block in own["rules"].items()}
    shared = with_shared_rules({"families": families, "rules": rules})
    claims = {}
    for key, record in given["claims"].items():
        if "statement" not in record:
            raise ConfigError(f"{where}: claims.{key}: statement is missing: what is claimed")
        facts = {"place": where, "kind": "comparison", "primary": True}
        if "tests" in record:
            facts |= {"version": 1, "estimand": record["statement"]}
            # of its own one, or of none that is corrected
            facts |= {"family": next(iter(families or ["single"]))} if len(families) < 2 else {}
            cells = record.get("cells", {})
            if isinstance(cells, dict):  # the schema refuses anything else
                record = record | {"cells": {"experiments": [SUITE]} | cells}
        claims[key] = facts | record
    more = {"readings": given.get("readings", {}), **shared}
    return {**given, **more, "claims": claims}


def _check_chosen(
    ledger: Ledger, instances: Sequence[str], horizons: Sequence[int], where: str
) -> None:
    """Raise ConfigError if a test names an instance or a horizon that is not run."""
    known = {"instance": list(instances), "T": list(horizons)}
    tests = [(claim.id, test) for claim in ledger.claims.values() for test in claim.tests]
    for key, test in tests:
        for cells, name in product(test.selections, known):
            for one in listed(cells.wanted.get(name, [])):
                if one not in known[name]:
                    raise ConfigError(
                        f"{where}: claims.{key}.tests.{test.name}: {name} {one!r} is unknown"
                        f"{meant(str(one), list(map(str, known[name])))}"
                    )


def _built(content: Mapping[str, Any], file: Path) -> tuple[Config, Ledger]:
    """Return runs and ledger as for a paper; errors name places in the user's file."""
    folders = dict.fromkeys(("results", "figures", "logs", "benchmarks"), OWN)
    settings = {"seed": LEDGER, "scale": "paper", "papers": [OWN], "pathvars": folders}
    blocks = {name: _block(name, content) for name in content["instances"]}
    facts = {"paper": OWN, "title": content["title"]}
    parts = {
        "experiments": facts | {"experiments": {SUITE: {"instances": blocks}}},
        "claims": facts
        | {name: content[name] for name in ("readings", "families", "rules", "claims")},
    }
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "papers" / OWN
        home.mkdir(parents=True)
        for name, part in parts.items():
            text = yaml.safe_dump(part, sort_keys=False, allow_unicode=True)
            (home / f"{name}.yaml").write_text(text, encoding="utf-8")
        try:
            config = build_config(settings, str(file), Path(folder))
            return config, load_ledgers(config, Path(folder))[OWN]
        except ConfigError as error:
            raise type(error)(_placed(str(error), content, str(file))) from None


def _placed(message: str, content: Mapping[str, Any], where: str) -> str:
    message = message.replace(f"papers/{OWN}/claims.yaml", where)
    for name in sorted(content["instances"], key=len, reverse=True):
        begin = rf"^papers/{OWN}/experiments\.yaml: experiments\.{SUITE}(_|\.instances\.){name}\b"
        message = re.sub(begin, f"{where}: instances.{name}", message)
        # the merged content is checked again, which repeats its place
        message = message.replace(f": instances.{name}: experiments.{SUITE}", f": instances.{name}")
        for part in ("policies", "horizon", "replicates"):
            message = message.replace(f": instances.{name}.{part}", f": {part}")
    return message.replace(".value", "")


def _sourced(value: Any) -> dict[str, Any]:
    return {"value": value, "provenance": "chosen", "source": "the rules"}


def _block(name: str, content: Mapping[str, Any]) -> dict[str, Any]:
    facts, horizons = content["instances"][name], listed(content["horizon"])
    replicates = content["replicates"]
    several = {"horizons": _sourced(horizons)} if len(horizons) > 1 else {}
    found = {
        "title": name.replace("_", " "),
        "figures": [],
        "horizon": _sourced(horizons[-1]),
        "replicates": _sourced(replicates),
        "laws": _sourced([facts["law"]]),
        "checkpoints": CHECKPOINTS,
        # files small enough for processes to share, and large enough for blocks of replicates
        "chunk": max(8, -(-replicates // 16)),
        "policies": {
            key: {
                "policy": one.get("module", one["policy"]),
                "label": key,
                "parameters": _all_sourced(one.get("parameters", {})),
                **({"sweep": _all_sourced(one["sweep"])} if "sweep" in one else {}),
                **({"observe": list(map(_observer, one["observe"]))} if "observe" in one else {}),
                **several,
            }
            for key, one in content["policies"].items()
        },
    }
    if "means" not in facts:
        drawn = ("arms", "low", "high", "decimals", "fixed")
        found["drawn_means"] = _all_sourced({key: facts[key] for key in drawn if key in facts})
    if "spread" in facts:
        found["spread"] = {facts["law"]: _sourced(facts["spread"])}
    return found | _all_sourced({key: facts[key] for key in ("means", *FACTS) if key in facts})


def _all_sourced(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _sourced(value) for key, value in values.items()}


def _observer(given: Any) -> Any:
    if isinstance(given, str):
        return given
    return {name: _all_sourced(parameters) for name, parameters in given.items()}

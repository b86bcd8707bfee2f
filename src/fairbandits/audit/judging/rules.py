"""A file of claims about one's own policies: read, checked, and put in the form of a paper's."""

import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from fairbandits.audit.claims import Ledger, listed
from fairbandits.audit.ledger import load_ledgers
from fairbandits.library import instances as named_instances
from fairbandits.library.instance import RandomInstance
from fairbandits.library.own_code import importable
from fairbandits.policies import own
from fairbandits.settings.config import LEDGER, Config, build_config
from fairbandits.settings.models import expect_known, validated
from fairbandits.settings.records import OwnClaimsFile
from fairbandits.settings.schemas import ConfigError, read_yaml, with_shared_rules
from fairbandits.settings.seeds import rules_digest

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
    content: Mapping[str, Any]  # the file with all that it leaves out
    config: Config
    ledger: Ledger  # with the digest from which the seed follows
    sources: tuple[Path, ...]  # files of the user's own policies

    @property
    def digest(self) -> str:
        return self.ledger.digest

    @property
    def seed(self) -> int:
        return self.config.seed_of(self.config.experiments[0])

    def small(self) -> Config:
        """Return runs of few rounds and two replicates, on a seed of their own."""
        arms = max(run.spec.n_arms for run in self.config.runs)
        horizons = enumerate(listed(self.content["horizon"]), start=1)
        horizon = [min(2 * arms + 50 * number, one) for number, one in horizons]
        rehearsed = dict(self.content) | {"horizon": horizon, "replicates": 2}
        return replace(_as_paper(rehearsed, self.file)[0], seed=0)


def load_rules(file: Path, seed: int | str = LEDGER) -> Rules:
    """Return the checked rules of a YAML file (docs/your-own-claims.md), or raise ConfigError."""
    where = str(file)
    given = read_yaml(file)
    for name, why in NEEDED.items():
        if name not in given:
            raise ConfigError(f"{where}: {name} is missing: {why}")
    validated(given, OwnClaimsFile, where)
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
    config, ledger = _as_paper(content, file)
    own = tuple(replace(one, origin=digest) for one in config.experiments)
    config = replace(config, seed=seed, rules={OWN: digest}, experiments=own)
    return Rules(file, content, config, replace(ledger, digest=digest), tuple(sources.values()))


def _instance(block: Mapping[str, Any], where: str) -> dict[str, Any]:
    ways = [name for name in ("named", "means", "arms") if name in block]
    if len(ways) != 1:
        raise ConfigError(
            f"{where}: exactly one of named, means and arms is needed, "
            f"got {' and '.join(ways) or 'none'}"
        )
    if "named" not in block:
        return {"law": "bernoulli"} | block
    if wrong := sorted(block.keys() - {"named", "arguments", *FACTS}):
        raise ConfigError(
            f"{where}.{wrong[0]}: a named instance has its own; what it can have besides are "
            f"{', '.join(FACTS)}, and `arguments`"
        )
    known = [name for name in named_instances.__all__ if name[0].islower()]
    name = block["named"]
    expect_known(name, known, f"{where}.named: {name!r} is unknown")
    try:
        made = getattr(named_instances, name)(**block.get("arguments", {}))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where}.arguments: {error}") from None
    return _facts(made) | {name: block[name] for name in FACTS if name in block}


def _facts(made: Any) -> dict[str, Any]:
    """Return a named instance's facts as a file has them; those that it lacks are left out."""
    # quotas as the digest of the rules has them
    facts = {name: getattr(made, name) for name in FACTS} | {"quotas": [*map(str, made.quotas)]}
    facts |= {"law": made.law, "spread": made.spread if made.law in ("gaussian", "beta") else None}
    if isinstance(made, RandomInstance):
        firsts = [sum(made.groups[:k]) for k in range(len(made.groups))]
        for name in ("low", "high"):
            end = getattr(made, name)
            facts[name] = [end[k] for k in firsts] if isinstance(end, tuple) else end
        facts |= {"arms": made.n_arms, "decimals": made.decimals}
        facts["fixed"] = list(map(list, made.fixed))
    else:
        facts["means"] = made.means
    plain = {name: list(one) if isinstance(one, tuple) else one for name, one in facts.items()}
    return {name: one for name, one in plain.items() if one is not None and one != []}


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
    families = {name: {"what": name} | one for name, one in given.get("families", {}).items()}
    rules = {name: {"version": 1} | one for name, one in given.get("rules", {}).items()}
    usual = {"place": where, "kind": "comparison", "primary": True}
    tested = {"version": 1}
    if len(families) < 2:  # of the file's own family, or of one that is not corrected
        tested["family"] = next(iter(families), "single")
    claims = {}
    for key, record in given["claims"].items():
        if "statement" not in record:
            raise ConfigError(f"{where}: claims.{key}: statement is missing: what is claimed")
        claims[key] = usual | record
        if "tests" in record:
            claims[key] = usual | tested | {"estimand": record["statement"]} | record
            cells = record.get("cells", {})
            if isinstance(cells, dict):  # the schema refuses anything else
                claims[key]["cells"] = {"experiments": [SUITE]} | cells
    shared = with_shared_rules({"families": families, "rules": rules})
    return {**given, "readings": given.get("readings", {}), **shared, "claims": claims}


def _as_paper(content: Mapping[str, Any], file: Path) -> tuple[Config, Ledger]:
    """Return the runs and the ledger of a paper with this content; errors name the user's file."""
    folders = dict.fromkeys(("results", "figures", "logs", "benchmarks"), OWN)
    settings = {"seed": LEDGER, "scale": "paper", "papers": [OWN], "pathvars": folders}
    blocks = {name: _block(name, content) for name in content["instances"]}
    facts = {"paper": OWN, "title": content["title"]}
    ledger = {name: content[name] for name in ("readings", "families", "rules", "claims")}
    parts = {
        "experiments": facts | {"experiments": {SUITE: {"instances": blocks}}},
        "claims": facts | ledger,
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
            raise ConfigError(_placed(str(error), content, str(file))) from None


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


def _block(name: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return an instance's experiment, with all that a paper says of one."""
    facts, horizons = content["instances"][name], listed(content["horizon"])
    several = _sourced(horizons) if len(horizons) > 1 else None
    return {
        "title": name.replace("_", " "),
        "figures": [],
        "horizon": _sourced(horizons[-1]),
        "replicates": _sourced(content["replicates"]),
        "laws": _sourced([facts["law"]]),
        "checkpoints": CHECKPOINTS,
        # files small enough for processes to share, and large enough for blocks of replicates
        "chunk": max(8, -(-content["replicates"] // 16)),
        "policies": {
            key: {
                "policy": one.get("module", one["policy"]),
                "label": key,
                "parameters": _all_sourced(one.get("parameters", {})),
                "horizons": several,
                **_given(
                    sweep=_all_sourced(one.get("sweep", {})),
                    observe=list(map(_observer, one.get("observe", ()))),
                ),
            }
            for key, one in content["policies"].items()
        },
        **_given(
            drawn_means=_all_sourced(facts, ("arms", "low", "high", "decimals", "fixed")),
            spread={facts["law"]: _sourced(facts["spread"])} if "spread" in facts else {},
        ),
        **_all_sourced(facts, ("means", *FACTS)),
    }


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


def _observer(given: Any) -> Any:
    if isinstance(given, str):
        return given
    return {name: _all_sourced(parameters) for name, parameters in given.items()}


def _sourced(value: Any) -> dict[str, Any]:
    return {"value": value, "provenance": "chosen", "source": "the rules"}


def _all_sourced(values: Mapping[str, Any], names: Iterable[str] = ()) -> dict[str, Any]:
    return {key: _sourced(values[key]) for key in names or values if key in values}

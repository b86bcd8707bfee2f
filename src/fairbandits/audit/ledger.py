"""The ledger: every claim of a paper with the rule that judges it."""

import inspect
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from fairbandits.audit import measures
from fairbandits.audit.cells import COORDINATES, instance_of
from fairbandits.audit.claims import Claim, Ledger, Test, listed
from fairbandits.audit.expressions import CELLS, ExpressionError, parse, same_unit, unit_of
from fairbandits.audit.procedures import PROCEDURES, parameters_of
from fairbandits.policies.parameters import a, number, one_of
from fairbandits.settings import records
from fairbandits.settings.config import Config
from fairbandits.settings.models import Model, expect_known, validated
from fairbandits.settings.schemas import (
    ROOT,
    SHARED_RULES,
    ConfigError,
    meant,
    paper_file,
    read_yaml,
    with_shared_rules,
)

#: Keys of a record, or of one of its tests, that say which data it judges.
ASKING = ("cells", "with", "each", "over", "arms", "rounds", "keep", "reading")
#: A change's subject if it concerns every claim, and the prefix of a name that no longer exists.
ALL_CLAIMS = "all claims"
FORMERLY = "formerly "
#: Type of a setting in a procedure's signature -> its check; others are lists of numbers.
CHECKS = {bool: a(bool, "true or false"), float: number()}
LEVEL, NUMBERS = number(at_least=0.5, below=1), a(list, "a list of numbers")
#: Data parameters that must have the same unit.
LIKE = (("values", "against"), ("values", "printed"))
#: Each record has exactly one of these keys.
WAYS = ("tests", "alias_of", "judged_by", "untestable")


def load_ledgers(config: Config, root: Path = ROOT) -> dict[str, Ledger]:
    """Return the ledgers of all papers that have one, checked against each other."""
    if (root / SHARED_RULES).is_file():
        _content(root / SHARED_RULES, records.RulesFile, root)
    papers = dict.fromkeys(one.paper for one in config.experiments)
    files = {paper: paper_file(paper, "claims", root) for paper in papers}
    there = {paper: file for paper, file in files.items() if file.is_file()}
    ledgers = {paper: load_ledger(file, config, root) for paper, file in there.items()}
    check_references(ledgers, root)
    return ledgers


def load_ledger(file: Path, config: Config, root: Path = ROOT) -> Ledger:
    """Return one paper's ledger; references to other claims are checked by `load_ledgers`."""
    where, content = _content(file, records.ClaimsFile, root)
    own, paper = content.get("rules", {}), content["paper"]
    content = with_shared_rules(content, root)
    _need(paper == (name := file.parent.name), f"{where}: paper must be {name!r}, got {paper!r}")
    for name, rule in content["rules"].items():
        place = f"{where if name in own else SHARED_RULES}: rules.{name}"
        _check_rule(rule["procedure"], rule.get("settings", {}), place, complete=False)
        _check_versions(rule, place)
    ledger = Ledger(
        paper,
        content["title"],
        content["readings"],
        {name: records.FamilyBlock(**block) for name, block in content["families"].items()},
        {
            key: _claim(key, record, content, f"{where}: claims.{key}")
            for key, record in content["claims"].items()
        },
        config.rules.get(paper, ""),
        labels=_labels(paper, config),
        pinned=config.pinned,
    )
    _check_names(ledger, config, where)
    history = file.with_name("deviations.yaml")
    if history.is_file():
        where, block = _content(history, records.DeviationsFile, root)
        changes = [records.Deviation(**one) for one in block["changes"]]
        names = [*ledger.claims, *content["rules"], *_experiments(paper, config)]
        _check_changes(changes, names, where)
        ledger = replace(ledger, changes=changes)
    return ledger


def _content(file: Path, model: type[Model], root: Path) -> tuple[str, dict[str, Any]]:
    where = str(file.relative_to(root) if file.is_relative_to(root) else file)
    content = read_yaml(file)
    validated(content, model, where)
    return where, content


def _labels(paper: str, config: Config) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for one in config.experiments:
        if one.paper == paper:
            for name in {one.name, one.suite or one.name}:
                found.setdefault(name, {}).update(one.labels)
    return found


# --------------------------------------------------------------------------- claims and tests


def _claim(key: str, record: dict[str, Any], content: dict[str, Any], place: str) -> Claim:
    _check_versions(record, place)
    ways = [name for name in WAYS if name in record]
    found = " and ".join(ways) or "none"
    _need(len(ways) == 1, f"{place}: exactly one of {', '.join(WAYS)} is needed, got {found}")
    _need(
        ("between" in record) == (record["kind"] == "inconsistency"),
        f"{place}: an inconsistency, and nothing else, says between what it is; "
        f"kind is {record['kind']!r}, between is {record.get('between', 'not given')!r}",
    )
    basis = record.get("basis", "printed")
    _need(
        ("reconstructed" in record) == (basis != "printed"),
        f"{place}: a claim that is not printed, and no other, says what is reconstructed; "
        f"basis is {basis!r}",
    )
    tests = tuple(
        _test(name, block, record, content, f"{place}.tests.{name}")
        for name, block in record.get("tests", {}).items()
    )
    deciding = [test for test in tests if test.decides]
    _need(deciding or not tests, f"{place}.tests: at least one must decide")
    readings = record.get("readings", [])
    for test in tests:
        for name in test.reading if isinstance(test.reading, Mapping) else ():
            _entry(readings, name, f"{place}.tests.{test.name}.reading")
    for reading in readings if tests else ():
        asked = any(test.under([reading]) for test in deciding)
        _need(asked, f"{place}: no test decides under reading {reading!r}")
    plain = {name: one for name, one in record.items() if name not in ("changes", *ASKING)}
    read = dict.fromkeys(one for test in tests for one in test.experiments)
    plain |= {"id": key, "paper": content["paper"], "tests": tests, "experiments": tuple(read)}
    return Claim.model_construct(**plain)


def _test(
    name: str, block: dict[str, Any], record: dict[str, Any], content: dict[str, Any], place: str
) -> Test:
    rule = _entry(content["rules"], block["rule"], f"{place}.rule")
    procedure = rule["procedure"]
    settings = rule.get("settings", {}) | block.get("settings", {})
    family = content["families"].get(record.get("family"))
    if family and "level" in parameters_of(procedure)["settings"]:
        settings = {"level": family["level"]} | settings
    _check_rule(procedure, settings, place, complete=True)
    _check_known("inputs", block["inputs"], procedure, place)
    asks = {key: block.get(key, record.get(key)) for key in (*ASKING, "control")}
    for key in ("cells", "with"):
        asks[key] = record.get(key, {}) | block.get(key, {})
    both = [one["cells"]["where"] for one in (record, block) if "where" in one.get("cells", {})]
    if len(both) > 1:
        asks["cells"]["where"] = " and ".join(f"({one})" for one in both)
    asks = {key: value for key, value in asks.items() if value}
    if "control" in block:
        alone = "uncontrolled" not in block
        _need(alone, f"{place}: a test has a control, or says why there is none, not both")
        there = "cells" in asks
        _need(there, f"{place}.control: the test reads no cells that it could replace")
    rest = {key: value for key, value in block.items() if key not in (*ASKING, "control")}
    rest |= {"name": name, "version": rule["version"], "settings": settings}
    return Test(**rest, **asks, procedure=procedure, asks=asks)


def with_settings(test: Test, settings: Mapping[str, Any], place: str) -> Test:
    settings = {**test.settings, **settings}
    _check_rule(test.procedure, settings, place, complete=True)
    return test.model_copy(update={"settings": settings})


def _check_rule(procedure: str, settings: dict[str, Any], place: str, *, complete: bool) -> None:
    _entry(PROCEDURES, procedure, f"{place}: procedure")
    _check_known("settings", settings, procedure, place, complete=complete)
    signature = inspect.signature(PROCEDURES[procedure]).parameters
    for name, value in settings.items():
        wanted = signature[name].annotation
        is_choice = get_origin(wanted) is Literal
        check = one_of(*get_args(wanted)) if is_choice else CHECKS.get(wanted, NUMBERS)
        try:
            (LEVEL if name == "level" else check)(f"{place}.settings.{name}", value, "")
        except ValueError as error:
            raise ConfigError(str(error)) from None


def _check_known(
    key: str, given: Mapping[str, Any], procedure: str, place: str, *, complete: bool = True
) -> None:
    takes, what = parameters_of(procedure)[key], {"settings": "setting", "inputs": "data"}[key]
    for name in given:
        expect_known(name, takes, f"{place}.{key}: {procedure} has no {what} {name!r}")
    missing = ", ".join(name for name, needed in takes.items() if needed and name not in given)
    _need(not (complete and missing), f"{place}: {procedure} needs {missing} in its {key}")


def _check_versions(block: dict[str, Any], place: str) -> None:
    """Raise ConfigError unless each version after the first has its reason."""
    found = [change["version"] for change in block.get("changes", [])]
    wanted = list(range(2, block.get("version", 1) + 1))
    words = "changes must give the reason of each version after the first"
    _need(found == wanted, f"{place}: {words}, wanted {wanted}, got {found}")


# -------------------------------------------------------------------------------------- names


def _check_names(ledger: Ledger, config: Config, where: str) -> None:
    experiments = _experiments(ledger.paper, config)
    figures = [figure for paper, figure in config.figures if paper == ledger.paper]
    specs = [run.spec for run in config.runs]
    parameters = {name for spec in specs for name in (*spec.parameters, *spec.sweep)}
    for key, claim in ledger.claims.items():
        place = f"{where}: claims.{key}"
        for one in claim.experiments:
            _entry(experiments, one, f"{place}.experiments")
        for one in claim.readings:
            _entry(ledger.readings, one, f"{place}.readings")
        for test in claim.tests:
            here = f"{place}.tests.{test.name}"
            try:
                check_test(test, parameters | {"tolerance"})
            except ExpressionError as error:
                raise ConfigError(f"{here}: {error}") from None
            _check_runs(test, claim, config, here)
        if claim.family:
            _entry(ledger.families, claim.family, f"{place}.family")
        if claim.figure:
            _entry(figures, claim.figure, f"{place}.figure")


def check_test(test: Test, parameters: Iterable[str]) -> None:
    """Check every name and unit of a test; ExpressionError for the first that is wrong."""
    given = [name for name, values in test.each.items() if values]
    words = measures.vocabulary((*COORDINATES, *parameters, *given), test.companions)
    texts = [*test.each]
    for one in test.selections:
        texts += [*one.wanted, *(getattr(one, "match", None) or ()), one.where]
    for text in filter(None, texts):
        unit_of(parse(text), words)
    if test.is_joint and not test.over:
        raise ExpressionError(f"{CELLS}(x) needs cells that are stacked: say `over` what")
    for one in test.expressions:
        unit_of(one, words)
    if test.procedure == "exact":  # separate checks, which are not compared
        return
    units = {
        name: same_unit(unit_of(parse(text), words) for text in test.texts(name))
        for name in test.inputs
    }
    for pair in LIKE:
        try:
            same_unit(units.get(name, "") for name in pair)
        except ExpressionError as error:
            raise ExpressionError(f"{' and '.join(pair)}: {error}") from None


def _experiments(paper: str, config: Config) -> list[str]:
    """Return the names of all experiments and suites, after their paper if that is another."""
    return [
        name if one.paper == paper else f"{one.paper}/{name}"
        for one in config.experiments
        for name in (one.name, one.suite)
        if name
    ]


def _check_runs(test: Test, claim: Claim, config: Config, place: str) -> None:
    for selection in test.selections:
        names = selection.experiments or test.cells.experiments
        experiments = [one for name in names for one in config.named(claim.paper, name)]
        runs = [run for one in experiments for run in one.runs]
        there = {
            "policy": {run.name.removesuffix(f"-{run.spec.law}") for run in runs},
            "law": {run.spec.law for run in runs},
        }
        named = test.reading if isinstance(test.reading, str) else ""
        if named in there and selection is test.cells:
            for reading in claim.readings:
                _entry(sorted(there[named]), reading, f"{place}.reading: nobody runs it")
        there["instance"] = set(map(instance_of, experiments))
        if "T" in selection.wanted and config.scale_name == "paper":  # others have other horizons
            there["T"] = {run.spec.horizon_of(cell) for run in runs for cell in run.spec.cells}
        for name, values in there.items():
            for value in listed(selection.wanted.get(name, [])):
                _entry(sorted(values), value, f"{place}: {name} of {', '.join(names)}")


def _check_changes(changes: Sequence[records.Deviation], names: Sequence[str], where: str) -> None:
    names, earlier = list(dict.fromkeys([ALL_CLAIMS, *names])), ""
    for order, change in enumerate(changes):
        place, now = f"{where}: changes.{order}", change.when
        words = "changes must be in their true order"
        _need(now >= earlier, f"{place}.when: {words}, got {now} after {earlier}")
        earlier = now
        for name in change.where:
            gone = name.removeprefix(FORMERLY)
            if gone == name:
                _entry(names, name, f"{place}.where")
            words = f"there still is {gone!r}, so that it must stand without {FORMERLY.strip()!r}"
            _need(gone == name or gone not in names, f"{place}.where: {words}")


def check_references(ledgers: Mapping[str, Ledger], root: Path = ROOT) -> None:
    """Check ids across papers, aliases, and the claims that others rest on."""
    claims: dict[str, Claim] = {}
    for claim in (claim for ledger in ledgers.values() for claim in ledger.claims.values()):
        other = claims.setdefault(claim.id, claim)
        words = f"this id is already in papers/{other.paper}/claims.yaml"
        _need(other is claim, f"{_place(claim)}: {words}")
    known = list(claims)
    if not {name for claim in claims.values() for name in claim.rests_on} <= claims.keys():
        known += claims_elsewhere(ledgers, root)
    for key, claim in claims.items():
        place = _place(claim)
        if claim.alias_of:
            target = _entry(claims, claim.alias_of, f"{place}.alias_of")
            words = f"{target.id!r} is an alias itself, of {target.alias_of!r}; name that"
            _need(not target.alias_of, f"{place}.alias_of: {words}")
        for other in claim.judged_by:
            tests = _entry(claims, other, f"{place}.judged_by").tests
            _need(tests, f"{place}.judged_by: {other!r} has no tests of its own")
        for other in claim.rests_on:
            _entry(known, other, f"{place}.rests_on")
            _need(other != key, f"{place}.rests_on: {key!r} cannot rest on itself")
    try:
        TopologicalSorter({key: claim.bases for key, claim in claims.items()}).prepare()
    except CycleError as error:
        circle = error.args[1][:0:-1]  # from a claim to the one that it rests on, none twice
        start = next(n for n, key in enumerate(circle) if claims[key].rests_on)
        circle = circle[start:] + circle[:start]
        steps = " rests on ".join(map(repr, [*circle, circle[0]]))
        raise ConfigError(f"{_place(claims[circle[0]])}.rests_on: a circle: {steps}") from None


def _place(claim: Claim) -> str:
    return f"papers/{claim.paper}/claims.yaml: claims.{claim.id}"


def claims_elsewhere(papers: Container[str], root: Path = ROOT) -> list[str]:
    """Return the ids in the ledgers of all papers but some, configured or not."""
    files = sorted(root.glob("papers/*/claims.yaml"))
    others = [read_yaml(file) for file in files if file.parent.name not in papers]
    return [key for content in others for key in content.get("claims", {})]


def _entry(entries: Any, name: Any, place: str) -> Any:
    if name not in entries:
        raise ConfigError(f"{place}: {name!r} is unknown{meant(str(name), map(str, entries))}")
    return entries[name] if isinstance(entries, Mapping) else name


def _need(holds: Any, message: str) -> None:
    if not holds:
        raise ConfigError(message)

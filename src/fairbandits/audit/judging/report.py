"""Verdicts on a user's own claims as Markdown and as JSON."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from fairbandits.audit import words
from fairbandits.audit.finding import INCONCLUSIVE, TAGS
from fairbandits.audit.judging.history import Frozen, changes, others
from fairbandits.audit.judging.rules import OWN, Rules
from fairbandits.audit.ledger import Claim
from fairbandits.audit.procedures import STATISTICS
from fairbandits.audit.show import interval, number, tally
from fairbandits.data.provenance import git_commit, package_versions
from fairbandits.settings.config import LEDGER

Row = Mapping[str, Any]

#: The rule for what must hold in every replicate.
EXACT = {
    "procedure": "invariant",
    "settings": {"exact": False, "tolerance": 1e-9, "small": "reproduced"},
}


def seed_words(own: Frozen, seed: int) -> str:
    """Return the origin of the seed in words."""
    if own.seed == seed:
        return (
            f"Exploratory: the seed {seed} was chosen, and does not follow from the rules, so that "
            "the rules can be younger than the data."
        )
    return f"The seed {seed} follows from the rules."


def report(
    rules: Rules, own: Frozen, history: list[Frozen], rows: Sequence[Row], findings: list[Row]
) -> str:
    """Return the Markdown report of judged rules, with the history of their folder."""
    heads = [row for row in rows if row["headline"]]
    head = [
        f"# {rules.title}",
        f"Rules `{own.digest}` of `{own.file}`, frozen {own.frozen}, judged {own.judged}. "
        + seed_words(own, rules.config.seed_of(OWN)),
        f"{tally(heads)}.",
        "\n".join(_table(heads)),
        "## Other rules that were frozen in this folder",
        "\n".join(_others(own, *others(history, own))),
    ]
    parts = [_claim(claim, rules, rows, findings) for claim in rules.ledger.claims.values()]
    return "\n\n".join([*head, *parts, "## What was run", "\n".join(_run(rules))]) + "\n"


def _table(heads: Sequence[Row]) -> Iterator[str]:
    yield "| claim | verdict | number | limits | n | rule |"
    yield "|---|---|---|---|---|---|"
    for row in heads:
        cells = (row["claim"], row["verdict"], number(row["statistic"]), interval(row))
        yield _line(*cells, _n(row), row["rule"])


def _line(*cells: str) -> str:
    return " | ".join(["", *(cell.replace("|", "\\|") for cell in cells), ""]).strip()


def _n(row: Row) -> str:
    return "" if row["n"] is None else str(row["n"])


def _others(own: Frozen, before: Sequence[Frozen], after: Sequence[Frozen]) -> Iterator[str]:
    """Yield for each of the other rules what was seen of them, and what changed afterwards."""
    if not before and not after:
        yield "None."
    if before:
        yield f"{len(before)} before these. {seen_words(before)}"
    for one, later in zip(before, [*before[1:], own][: len(before)], strict=True):
        yield _other(one)
        changed = list(changes(one.rules, later.rules)) or ["nothing but the seed"]
        yield f"  Changed for `{later.digest}`:"
        yield from (f"  - {words}" for words in changed)
    if after:
        yield f"\n{len(after)} after these:"
        yield from map(_other, after)


def seen_words(before: Sequence[Frozen]) -> str:
    """Return whether verdicts were seen before these rules, and what that means."""
    if not any(one.judged for one in before):
        return "None of them was judged."
    return (
        "Verdicts by them were seen before these rules were frozen. The data of these are new: "
        "other rules have another seed."
    )


def _other(one: Frozen) -> str:
    seed = "" if one.seed == LEDGER else f", exploratory seed {one.seed}"
    verdicts = ", ".join(f"{count} {outcome}" for outcome, count in one.verdicts.items())
    judged = f"judged {one.judged}: {verdicts}" if one.judged else "never judged"
    return f"\n- `{one.digest}`{seed}, frozen {one.frozen}, {judged}."


def _claim(claim: Claim, rules: Rules, rows: Sequence[Row], findings: Sequence[Row]) -> str:
    head, *others = [row for row in rows if row["claim"] == claim.id]
    own = [one for one in findings if one["claim"] == claim.id]
    facts = [f"## {claim.id}", claim.statement, _verdict(head)]
    facts += [_verdict(row) for row in others]
    facts += words.qualifying(claim, own, number)
    facts += exact_instead(claim, own)
    facts += [f"Note: {claim.note}"] if claim.note else []
    if claim.untestable:
        facts.append(f"Not testable: {claim.untestable}")
    if own:
        facts.append("\n".join(_findings(own)))
    if record := words.record(claim, rules.ledger):
        facts.append(f"The record as it was judged:\n\n```yaml\n{record}\n```")
    return "\n\n".join(facts)


def exact_instead(claim: Claim, findings: Sequence[Row]) -> list[str]:
    """Return how to rewrite tests whose numbers are constant, since these are not random."""
    constant = {
        one["test"]
        for one in findings
        if one["claim"] == claim.id and one["verdict"] == INCONCLUSIVE and "CONSTANT" in one["tags"]
    }
    found = []
    for test in (one for one in claim.tests if one.name in constant):
        given = test.inputs
        parts = {"limit": given.get("limit"), "sample": given.get("sample")}
        if test.procedure == "paired_comparison":
            parts = {"limit": given["larger"], "sample": given["smaller"]}
        excess = "by how much the statement is broken: 0 or less where it holds"
        if None not in parts.values():
            above, below = (parts[key] for key in ("sample", "limit"))
            if test.settings.get("side") == "at least":
                above, below = below, above
            excess = f"({above}) - ({below})"
        content = {
            "rules": {"exact": EXACT},
            "claims": {claim.id: {"tests": {test.name: {"rule": "exact"}}}},
        }
        content["claims"][claim.id]["tests"][test.name]["inputs"] = {"excess": excess}
        found.append(
            f"{claim.id}, {test.name}: the number is the same in all replicates, so it has no "
            "interval. If no chance is in it, use the procedure for exact statements, `invariant`, "
            "which checks every replicate (`exact: true, tolerance: 0` where it is a whole number):"
            f"\n\n```yaml\n{yaml.safe_dump(content, sort_keys=False, width=100)}```"
        )
    return found


def _verdict(row: Row) -> str:
    under = f" under {row['reading']}" if row["reading"] else ""
    found = [f"**{row['verdict']}**{under}"]
    if row["statistic"] is not None and not math.isnan(row["statistic"]):
        found.append(words.evidence(row, number))
        if row["p"] is not None:
            found.append(f"p = {row['p']:.2g}")
        against = ", ".join(f"{key} {number(one)}" for key, one in row["against"].items())
        found.append(f"judged against {against} by rule {row['rule']} ({row['procedure']})")
        found += [row["each"]] if row["each"] else []
    tags = "".join(f" {tag}: {TAGS[tag]}." for tag in row["tags"])
    enough = words.replicates_that_decide(row)
    return "; ".join(found) + "." + tags + (f" Replicates: {enough}." if enough else "")


def _findings(found: Sequence[Row]) -> Iterator[str]:
    yield "| test | reading | case | verdict | what | number | limits | against | n | p |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for one in found:
        yield _line(
            one["test"] + ("" if one["decides"] else " (qualifies only)"),
            one["reading"],
            one["each"],
            " ".join([one["verdict"], *one["tags"]]),
            STATISTICS.get(one["procedure"], ""),
            number(one["statistic"]),
            interval(one),
            number(one["reference"]),
            _n(one),
            "" if one["p"] is None else f"{one['p']:.2g}",
        )


def _run(rules: Rules) -> Iterator[str]:
    horizons = ", ".join(map(str, rules.horizons))
    yield f"- {horizons} rounds, {rules.content['replicates']} replicates, common rewards."
    for name, facts in rules.content["instances"].items():
        yield f"- instance {name}: " + ", ".join(f"{key} {value}" for key, value in facts.items())
    for name, block in rules.content["policies"].items():
        given = block.get("parameters", {}) | block.get("sweep", {})
        facts = [block["policy"], *(f"{key} {value}" for key, value in given.items())]
        facts += [f"file with hash {block['source']}"] if "source" in block else []
        yield f"- policy {name}: {', '.join(facts)}"
    versions = ", ".join(f"{name} {version}" for name, version in package_versions().items())
    yield f"- {versions}, commit {git_commit()}"


def as_json(
    rules: Rules, own: Frozen, history: list[Frozen], rows: Sequence[Row], findings: list[Row]
) -> str:
    """Return the verdicts as JSON."""
    columns = ("reading", "verdict", "tags", "statistic", "low", "high", "n", "p", "against")
    columns += ("rule", "procedure", "settings", "test", "each", "message")
    content = {
        "title": rules.title,
        "file": own.file,
        "rules": own.digest,
        "frozen": own.frozen,
        "judged": own.judged,
        "seed": rules.config.seed_of(OWN),
        "exploratory": rules.config.exploratory,
        **{
            name: [
                {"rules": one.digest, "seed": one.seed, "frozen": one.frozen, "judged": one.judged}
                | {"verdicts": dict(one.verdicts)}
                for one in found
            ]
            for name, found in zip(("before", "after"), others(history, own), strict=True)
        },
        "claims": [
            {
                "id": claim.id,
                "statement": claim.statement,
                "verdicts": [_chosen(row, columns) for row in rows if row["claim"] == claim.id],
                "findings": [
                    _chosen(one, (*columns, "decides"))
                    for one in findings
                    if one["claim"] == claim.id
                ],
            }
            for claim in rules.ledger.claims.values()
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


def _chosen(row: Row, columns: Sequence[str]) -> dict[str, Any]:
    return {name: _finite(row[name]) for name in columns}


def _finite(value: Any) -> Any:
    """Return a value with NaN and infinity as null, since JSON has neither."""
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value

"""Verdicts on a user's own claims as Markdown and as JSON."""

import json
from collections.abc import Iterator, Sequence

import yaml

from fairbandits.audit.finding import INCONCLUSIVE
from fairbandits.audit.judging.history import Frozen, others
from fairbandits.audit.judging.rules import OWN, Rules
from fairbandits.audit.ledger import Claim
from fairbandits.audit.records import NUMBERS, Row, finite
from fairbandits.audit.show import tally
from fairbandits.audit.view import as_markdown, count, interval, markdown_table, number, sections
from fairbandits.data.provenance import git_commit, package_versions
from fairbandits.settings.config import LEDGER

#: The rule for what must hold in every replicate.
EXACT = "rounded"


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
    table = [["claim", "verdict", "number", "limits", "n", "rule"]]
    for row in heads:
        cells = (row["claim"], row["verdict"], number(row["statistic"]), interval(row))
        table.append([*cells, count(row), row["rule"]])
    parts = [
        f"# {rules.title}",
        f"Rules `{own.digest}` of `{own.file}`, frozen {own.frozen}, judged {own.judged}. "
        + seed_words(own, rules.seed),
        f"{tally(heads)}.",
        "\n".join(markdown_table(table)),
        "## Other rules that were frozen in this folder",
        "\n".join(_others(own, *others(history, own))),
    ]
    for claim in rules.ledger.claims.values():
        of_claim = [row for row in rows if row["claim"] == claim.id]
        parts.append(as_markdown(sections(claim, {OWN: rules.ledger}, of_claim, findings)))
        parts += exact_instead(claim, findings)
    return "\n\n".join([*parts, "## What was run", "\n".join(_run(rules))]) + "\n"


def _others(own: Frozen, before: Sequence[Frozen], after: Sequence[Frozen]) -> Iterator[str]:
    """Yield for each of the other rules what was seen of them, and what changed afterwards."""
    if not before and not after:
        yield "None."
    if before:
        yield f"{len(before)} before these. {seen_words(before)}"
    for one, later in zip(before, [*before[1:], own][: len(before)], strict=True):
        yield _other(one)
        yield f"  Changed for `{later.digest}`:"
        yield from (f"  - {words}" for words in one.changes_to(later))
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


def exact_instead(claim: Claim, findings: Sequence[Row]) -> list[str]:
    """Return how to rewrite tests whose numbers are constant, since these are not random."""
    constant = {
        one["test"]
        for one in findings
        if one["claim"] == claim.id and one["verdict"] == INCONCLUSIVE and "CONSTANT" in one["tags"]
    }
    found = []
    for test in (one for one in claim.tests if one.name in constant):
        values = "by how much the statement is broken: 0 or less where it holds"
        if test.procedure == "mean" and test.settings["claim"] != "equal":
            above, below = test.inputs["values"], test.inputs["against"]
            if test.settings["claim"] == "at least":
                above, below = below, above
            values = f"({above}) - ({below})"
        tests = {test.name: {"rule": EXACT, "inputs": {"values": values}}}
        content = {"claims": {claim.id: {"tests": tests}}}
        found.append(
            f"{claim.id}, {test.name}: the number is the same in all replicates, so it has no "
            "interval. If no chance is in it, use a rule for exact statements, "
            f"`{EXACT}`, which checks every replicate (`exact` where it is a whole number):"
            f"\n\n```yaml\n{yaml.safe_dump(content, sort_keys=False, width=100)}```"
        )
    return found


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
    columns = ("reading", "verdict", "tags", *NUMBERS, "against", "rule", "procedure")
    columns += ("settings", "test", "each", "message")

    def of(claim: Claim, some: Sequence[Row], *more: str) -> list[dict]:
        mine = (row for row in some if row["claim"] == claim.id)
        return [{name: finite(row[name]) for name in (*columns, *more)} for row in mine]

    def frozen(one: Frozen) -> dict:
        names = ("seed", "frozen", "judged", "verdicts")
        return {"rules": one.digest} | {name: getattr(one, name) for name in names}

    before, after = others(history, own)
    content = {
        "title": rules.title,
        "file": own.file,
        "rules": own.digest,
        "frozen": own.frozen,
        "judged": own.judged,
        "seed": rules.seed,
        "exploratory": rules.config.exploratory,
        "before": list(map(frozen, before)),
        "after": list(map(frozen, after)),
        "claims": [
            {
                "id": claim.id,
                "statement": claim.statement,
                "verdicts": of(claim, rows),
                "findings": of(claim, findings, "decides"),
            }
            for claim in rules.ledger.claims.values()
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)

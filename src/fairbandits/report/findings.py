"""The findings that matter most, at the top of README and of the report's first page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from html import unescape
from pathlib import Path

from fairbandits.audit.claims import Papers
from fairbandits.audit.finding import DEPENDS, OUTCOMES, TAGS
from fairbandits.audit.sentences import BASES, by_test
from fairbandits.figures import PAPERS
from fairbandits.report.audit import Audit, claims_elsewhere
from fairbandits.report.markup import render_text
from fairbandits.settings.models import validated
from fairbandits.settings.records import FindingsFile, Notable
from fairbandits.settings.schemas import ROOT, ConfigError, meant, read_yaml

FILE = Path("papers") / "findings.yaml"
#: README's marks, with the findings between them.
MARKED = re.compile("(<!--findings-->).*?(<!--/findings-->)", re.DOTALL)
#: A number's name in a finding's words.
NUMBER = re.compile(r"\{(\w+)\}")
#: Tags of a deciding test that a finding must name; other tags say how a case was decided.
LIMITING = ("PRE-ASYMPTOTIC", "TRIVIAL", "VACUOUS", "UNDERPOWERED", "CONDITIONAL", "EXPLORATORY")
CONDITIONAL = "CONDITIONAL"


def load_findings(papers: Papers, root: Path = ROOT) -> list[Notable]:
    """Return the findings that are about claims of these papers alone."""
    if not (root / FILE).is_file():
        return []
    findings = validated(read_yaml(root / FILE), FindingsFile, str(FILE)).findings
    claims = {key for paper in papers.values() for key in paper.claims}
    known = [*claims, *claims_elsewhere(papers, root)]
    files = sorted(root.glob("papers/*/numbers.yaml"))
    units = {name: one.get("unit", "") for file in files for name, one in read_yaml(file).items()}
    for place, finding in enumerate(findings, start=1):
        for problem in _misnamed(finding, known, units, root):
            raise ConfigError(f"{FILE}: finding {place}: {problem}")
    return [one for one in findings if one.claims.keys() <= claims]


def texts_of(finding: Notable) -> tuple[str, str, str]:
    return finding.says, finding.setting, finding.against


def _misnamed(
    finding: Notable, claims: Sequence[str], units: Mapping[str, str], root: Path
) -> Iterator[str]:
    """Yield each name in a finding that does not exist, or that its words do not say."""
    for key, verdict in finding.claims.items():
        if key not in claims:
            yield f"no claim {key!r}{meant(key, claims)}"
        if verdict not in OUTCOMES:
            yield f"no verdict {verdict!r}{meant(verdict, OUTCOMES)}"
    for text in texts_of(finding):
        for name in NUMBER.findall(text):
            if name not in units:
                yield f"no number {name!r}{meant(name, units)}"
            elif not units[name] or units[name] not in NUMBER.sub("", text):
                unit = f"its unit is {units[name]!r}" if units[name] else "it has none"
                yield f"the number {name} stands without a unit ({unit}): {text!r}"
    for key, qualifiers in finding.qualified_by.items():
        if key not in finding.claims:
            yield f"qualified_by: it does not stand on {key!r}{meant(key, finding.claims)}"
        for name, said in qualifiers.items():
            if not any(said in text for text in texts_of(finding)):
                yield f"qualified_by: {key}: {name}: it does not say {said!r}"
    if finding.figure:
        yield from _not_shown(finding, root)


def _not_shown(finding: Notable, root: Path) -> Iterator[str]:
    known = [f"{key}/{name}" for key, names in PAPERS.items() for name in names]
    if finding.figure not in known:
        yield f"no figure {finding.figure!r}{meant(finding.figure, known)}"
        return
    if finding.shows not in finding.says:
        yield f"{finding.figure} is to show {finding.shows!r}, of which the sentence does not speak"
    drawn = (root / "figures" / f"{finding.figure}.svg").read_text(encoding="utf-8")
    if not any(finding.shows in unescape(text) for text in re.findall(r">([^<>]+)</text>", drawn)):
        why = "no axis and no curve of it has the name"
        yield f"{finding.figure} does not show {finding.shows!r}: {why}"


def missing(finding: Notable, audit: Audit) -> list[str]:
    """Return a line for each verdict that contradicts a finding, or qualifier that it omits."""
    lines = []
    for key, verdict in finding.claims.items():
        if (judged := audit.headlines.get(key, "not judged")) != verdict:
            lines.append(f"{key} is {judged!r}, not {verdict!r}")
            continue
        carried, named = qualifiers(key, audit), finding.qualified_by.get(key, {})
        for name, why in carried.items():
            if name not in named:
                lines.append(f"{key}: {why}, and the finding does not name {name}")
        lines += [f"{key}: it does not carry {name!r}" for name in named if name not in carried]
    return lines


def qualifiers(key: str, audit: Audit) -> dict[str, str]:
    """Return the qualifiers of a claim's verdict: tag, or test that differs -> why, in words."""
    claim, own = audit.claims[key], audit.found(key)
    verdict = audit.headlines[key]
    tags = [tag for row in audit.under_readings(key) for tag in row["tags"]]
    tags += [tag for one in own if one["decides"] for tag in one["tags"] if tag in LIMITING]
    found = {tag: f"it carries {tag} ({TAGS[tag]})" for tag in dict.fromkeys(tags)}
    if claim.basis in BASES:
        found[CONDITIONAL] = f"it carries {CONDITIONAL} ({BASES[claim.basis]})"
    if verdict == DEPENDS:
        found[DEPENDS] = f"its verdict {DEPENDS}"
    if claim.about != "text":
        found[claim.about] = f"it is of the {claim.about}: the audited text does not make it"
    for test, cases in by_test(one for one in own if not one["decides"]).items():
        verdicts = {one["verdict"] for one in cases}
        if verdicts - {verdict}:
            said = " and ".join(one for one in OUTCOMES if one in verdicts)
            found[test] = f"its test {test!r} is {said}, the claim {verdict}"
    return found


def refuse(notable: Sequence[Notable], audit: Audit) -> None:
    """Raise ConfigError if a finding omits what its claims say against it (`missing`)."""
    lines = [
        f"finding {place}: {line}"
        for place, finding in enumerate(notable, start=1)
        for line in missing(finding, audit)
    ]
    if lines:
        raise ConfigError(f"{FILE}: " + "; ".join(lines))


def written(text: str, findings: Sequence[Notable]) -> str:
    """Return README with the findings between their marks, numbers still as marks."""
    cite = partial(NUMBER.sub, r"<!--n:\1-->?<!--/n-->")
    shown = render_text("notable.md", findings=findings, cite=cite)
    return MARKED.sub(lambda found: f"{found[1]}\n{shown}{found[2]}", text, count=1)

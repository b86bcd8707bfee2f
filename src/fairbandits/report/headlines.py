"""The findings that matter most, in docs/findings.md and on the report's first page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from html import unescape
from pathlib import Path

from fairbandits.audit.claims import Papers, elsewhere
from fairbandits.audit.finding import DEPENDS, OUTCOMES, TAGS
from fairbandits.audit.sentences import BASES, by_test
from fairbandits.figures import PAPERS
from fairbandits.report.audit import Audit
from fairbandits.report.markup import render_text
from fairbandits.settings.models import validated
from fairbandits.settings.records import Headline, HeadlinesFile
from fairbandits.settings.schemas import ROOT, ConfigError, meant, read_yaml

FILE = Path("papers") / "headlines.yaml"
#: Marks in docs/findings.md, with the headlines between them.
MARKED = re.compile("(<!--findings-->).*?(<!--/findings-->)", re.DOTALL)
#: A number's name in a headline's words.
NUMBER = re.compile(r"\{(\w+)\}")
#: Tags of a deciding test that a headline must name; other tags say how a case was decided.
LIMITING = ("PRE-ASYMPTOTIC", "TRIVIAL", "VACUOUS", "UNDERPOWERED", "CONDITIONAL")
CONDITIONAL = "CONDITIONAL"


def load_headlines(papers: Papers, root: Path = ROOT) -> list[Headline]:
    """Return the headlines that are about claims of these papers alone."""
    if not (root / FILE).is_file():
        return []
    headlines = validated(read_yaml(root / FILE), HeadlinesFile, str(FILE)).headlines
    claims = {key for paper in papers.values() for key in paper.claims}
    known = [*claims, *elsewhere(papers, root)]
    files = sorted(root.glob("papers/*/numbers.yaml"))
    units = {name: spec.get("unit", "") for file in files for name, spec in read_yaml(file).items()}
    for position, headline in enumerate(headlines, start=1):
        for problem in _misnamed(headline, known, units, root):
            raise ConfigError(f"{FILE}: headline {position}: {problem}")
    return [headline for headline in headlines if headline.claims.keys() <= claims]


def texts_of(headline: Headline) -> tuple[str, str, str]:
    return headline.says, headline.setting, headline.against


def _misnamed(
    headline: Headline, claims: Sequence[str], units: Mapping[str, str], root: Path
) -> Iterator[str]:
    """Yield each name in a headline that does not exist, or that its words do not say."""
    for key, verdict in headline.claims.items():
        if key not in claims:
            yield f"no claim {key!r}{meant(key, claims)}"
        if verdict not in OUTCOMES:
            yield f"no verdict {verdict!r}{meant(verdict, OUTCOMES)}"
    for text in texts_of(headline):
        for name in NUMBER.findall(text):
            if name not in units:
                yield f"no number {name!r}{meant(name, units)}"
            elif not units[name] or units[name] not in NUMBER.sub("", text):
                unit = f"its unit is {units[name]!r}" if units[name] else "it has none"
                yield f"the number {name} stands without a unit ({unit}): {text!r}"
    for key, qualifiers in headline.qualified_by.items():
        if key not in headline.claims:
            yield f"qualified_by: it does not stand on {key!r}{meant(key, headline.claims)}"
        for name, phrase in qualifiers.items():
            if not any(phrase in text for text in texts_of(headline)):
                yield f"qualified_by: {key}: {name}: it does not say {phrase!r}"
    if headline.figure:
        yield from _not_shown(headline, root)


def _not_shown(headline: Headline, root: Path) -> Iterator[str]:
    known = [f"{key}/{name}" for key, names in PAPERS.items() for name in names]
    if headline.figure not in known:
        yield f"no figure {headline.figure!r}{meant(headline.figure, known)}"
        return
    if headline.shows not in headline.says:
        silent = "of which the sentence does not speak"
        yield f"{headline.figure} is to show {headline.shows!r}, {silent}"
    drawn = (root / "figures" / f"{headline.figure}.svg").read_text(encoding="utf-8")
    texts = map(unescape, re.findall(r">([^<>]+)</text>", drawn))
    if not any(headline.shows in text for text in texts):
        why = "no axis and no curve of it has the name"
        yield f"{headline.figure} does not show {headline.shows!r}: {why}"


def missing(headline: Headline, audit: Audit) -> list[str]:
    """Return a line for each verdict that contradicts a headline, or qualifier that it omits."""
    lines = []
    for key, verdict in headline.claims.items():
        if (judged := audit.headlines[key]) != verdict:
            lines.append(f"{key} is {judged!r}, not {verdict!r}")
            continue
        carried, named = qualifiers(key, audit), headline.qualified_by.get(key, {})
        for name, why in carried.items():
            if name not in named:
                lines.append(f"{key}: {why}, and the headline does not name {name}")
        lines += [f"{key}: it does not carry {name!r}" for name in named if name not in carried]
    return lines


def qualifiers(key: str, audit: Audit) -> dict[str, str]:
    """Return the qualifiers of a claim's verdict: tag, or test that differs -> why, in words."""
    claim, findings = audit.claims[key], audit.found(key)
    verdict = audit.headlines[key]
    tags = [tag for row in audit.under_readings(key) for tag in row["tags"]]
    tags += [tag for row in findings if row["decides"] for tag in row["tags"] if tag in LIMITING]
    reasons = {tag: f"it carries {tag} ({TAGS[tag]})" for tag in dict.fromkeys(tags)}
    if claim.basis in BASES:
        reasons[CONDITIONAL] = f"it carries {CONDITIONAL} ({BASES[claim.basis]})"
    if verdict == DEPENDS:
        reasons[DEPENDS] = f"its verdict {DEPENDS}"
    if claim.about != "text":
        reasons[claim.about] = f"it is of the {claim.about}: the audited text does not make it"
    for test, cases in by_test(row for row in findings if not row["decides"]).items():
        verdicts = {row["verdict"] for row in cases}
        if verdicts - {verdict}:
            outcomes = " and ".join(outcome for outcome in OUTCOMES if outcome in verdicts)
            reasons[test] = f"its test {test!r} is {outcomes}, the claim {verdict}"
    return reasons


def refuse(headlines: Sequence[Headline], audit: Audit) -> None:
    """Raise ConfigError if a headline omits what its claims say against it (`missing`)."""
    lines = [
        f"headline {position}: {line}"
        for position, headline in enumerate(headlines, start=1)
        for line in missing(headline, audit)
    ]
    if lines:
        raise ConfigError(f"{FILE}: " + "; ".join(lines))


def written(text: str, headlines: Sequence[Headline]) -> str:
    """Return a page with the headlines between their marks, numbers still as marks."""
    cite = partial(NUMBER.sub, r"<!--n:\1-->?<!--/n-->")
    shown = render_text("headlines.md", headlines=headlines, cite=cite)
    return MARKED.sub(lambda match: f"{match[1]}\n{shown}{match[2]}", text, count=1)

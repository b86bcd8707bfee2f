"""The findings that matter most, as README and the report's first page begin with them.

They stand in papers/findings.yaml: a sentence, the setting that it holds in, what speaks most
against it, and the verdicts that it stands on. A finding is refused where it leaves out what its
claims' pages say against it, where a number has no unit, and where the figure shows another thing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

from fairbandits.audit.finding import DEPENDS, OUTCOMES, TAGS
from fairbandits.audit.ledger import Ledger, claims_elsewhere
from fairbandits.audit.show import stands_for
from fairbandits.audit.words import BASES
from fairbandits.figures.draw import PAPERS
from fairbandits.settings.schemas import ROOT, ConfigError, check, meant, read_yaml

FILE = Path("papers") / "findings.yaml"
#: Between these README has the findings.
MARKS = ("<!--findings-->", "<!--/findings-->")
#: A number in a finding's words.
NUMBER = re.compile(r"\{(\w+)\}")
#: Tags of a deciding test that a finding has to name; others say how a case was decided.
LIMITING = ("PRE-ASYMPTOTIC", "TRIVIAL", "VACUOUS", "UNDERPOWERED", "CONDITIONAL", "EXPLORATORY")
CONDITIONAL, EXTENSION = "CONDITIONAL", "extension"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Notable:
    """A finding that matters.

    Attributes
    ----------
    says, setting, against : str
        What was found, in one sentence; of which text, on what and with how many replicates; and
        what speaks most against it. Numbers by name in braces.
    claims : dict of str to str
        Ids of the claims that judge it -> the verdicts that it stands on.
    qualified_by : dict of str to dict
        Claim -> tag, or test that does not decide -> the finding's own words that say so.
    figure, shows : str
        The figure that shows it, e.g. ``banditq/fig2``, and which quantity; empty if none does.
    arena : str
        The contract of the arena that it is about, if it is about one.
    """

    says: str
    setting: str
    against: str
    claims: dict[str, str] = field(default_factory=dict)
    qualified_by: dict[str, dict[str, str]] = field(default_factory=dict)
    figure: str = ""
    shows: str = ""
    arena: str = ""

    @property
    def texts(self) -> tuple[str, str, str]:
        """All its words."""
        return self.says, self.setting, self.against

    @property
    def numbers(self) -> list[str]:
        """The names of its numbers."""
        return [name for text in self.texts for name in NUMBER.findall(text)]


def load_findings(ledgers: Mapping[str, Ledger], root: Path = ROOT) -> list[Notable]:
    """Return the findings that are about claims of these ledgers alone.

    Raises
    ------
    ConfigError
        For a file that cannot be read; a figure, quantity, claim, verdict or number that does not
        exist; a number whose unit does not stand beside it; or a qualifier whose words are missing.
    """
    if not (root / FILE).is_file():
        return []
    content = read_yaml(root / FILE)
    check(content, "findings", str(FILE))
    claims = {key for ledger in ledgers.values() for key in ledger.claims}
    known = [*claims, *claims_elsewhere(ledgers, root)]
    units = _units(root)
    found = [Notable(**block) for block in content["findings"]]
    for place, one in enumerate(found, start=1):
        for problem in _misnamed(one, known, units, root):
            raise ConfigError(f"{FILE}: finding {place}: {problem}")
    return [one for one in found if one.claims.keys() <= claims]


def _units(root: Path) -> dict[str, str]:
    """Return the unit of each number that pages can cite; empty for one that has none."""
    files = sorted(root.glob("papers/*/numbers.yaml"))
    return {name: one.get("unit", "") for file in files for name, one in read_yaml(file).items()}


def _misnamed(
    one: Notable, claims: Sequence[str], units: Mapping[str, str], root: Path
) -> Iterator[str]:
    """Yield what a finding names that does not exist, or that its words do not say."""
    for key, verdict in one.claims.items():
        if key not in claims:
            yield f"no claim {key!r}{meant(key, claims)}"
        if verdict not in OUTCOMES:
            yield f"no verdict {verdict!r}{meant(verdict, OUTCOMES)}"
    for text in one.texts:
        for name in NUMBER.findall(text):
            if name not in units:
                yield f"no number {name!r}{meant(name, list(units))}"
            elif not units[name] or units[name] not in NUMBER.sub("", text):
                unit = f"its unit is {units[name]!r}" if units[name] else "it has none"
                yield f"the number {name} stands without a unit ({unit}): {text!r}"
    for key, qualifiers in one.qualified_by.items():
        if key not in one.claims:
            yield f"qualified_by: it does not stand on {key!r}{meant(key, list(one.claims))}"
        for name, said in qualifiers.items():
            if not any(said in text for text in one.texts):
                yield f"qualified_by: {key}: {name}: it does not say {said!r}"
    if one.figure:
        yield from _not_shown(one, root)


def _not_shown(one: Notable, root: Path) -> Iterator[str]:
    """Yield why the figure of a finding does not show what the sentence is about."""
    paper, _, figure = one.figure.partition("/")
    if figure not in PAPERS.get(paper, ()):
        known = [f"{key}/{name}" for key, names in PAPERS.items() for name in names]
        yield f"no figure {one.figure!r}{meant(one.figure, known)}"
        return
    if one.shows not in one.says:
        yield f"{one.figure} is to show {one.shows!r}, of which the sentence does not speak"
    drawn = (root / "figures" / f"{one.figure}.svg").read_text(encoding="utf-8")
    texts = [unescape(text) for text in re.findall(r">([^<>]+)</text>", drawn)]
    if not any(one.shows in text for text in texts):
        yield f"{one.figure} does not show {one.shows!r}: no axis and no curve of it has the name"


# ------------------------------------------------------- what its claims say against a finding


def missing(
    one: Notable, ledgers: Mapping[str, Ledger], rows: Sequence[Row], findings: Sequence[Row]
) -> list[str]:
    """Return a line for each verdict that a finding does not stand on, or qualifier it leaves out.

    Parameters
    ----------
    one : Notable
        The finding.
    ledgers : mapping of str to Ledger
        Paper -> ledger.
    rows, findings : sequence of mapping
        Verdicts and findings (`fairbandits.audit.records`).
    """
    lines = []
    for key, verdict in one.claims.items():
        own = [row for row in rows if row["claim"] == key]
        judged = own[0]["verdict"] if own else "not judged"
        if judged != verdict:
            lines.append(f"{key} is {judged!r}, not {verdict!r}")
            continue
        carried = qualifiers(key, ledgers, own, findings)
        named = one.qualified_by.get(key, {})
        lines += [f"{key}: {why}, and the finding does not name {name}"
                  for name, why in carried.items() if name not in named]  # fmt: skip
        lines += [f"{key}: it does not carry {name!r}" for name in named if name not in carried]
    return lines


def qualifiers(
    key: str, ledgers: Mapping[str, Ledger], rows: Sequence[Row], findings: Sequence[Row]
) -> dict[str, str]:
    """Return what qualifies the verdict on a claim: tags, and tests that come out otherwise.

    Parameters
    ----------
    key : str
        The claim.
    ledgers : mapping of str to Ledger
        Paper -> ledger.
    rows : sequence of mapping
        Its verdicts, the headline first.
    findings : sequence of mapping
        Of all claims.

    Returns
    -------
    dict of str to str
        Tag or name of the test -> why, in words.
    """
    claim = next(one.claims[key] for one in ledgers.values() if key in one.claims)
    tested = stands_for(claim, ledgers)
    own = [one for one in findings if one["claim"] == tested.id]
    verdict = rows[0]["verdict"]
    tags = [tag for row in rows for tag in row["tags"]]
    tags += [tag for one in own if one["decides"] for tag in one["tags"] if tag in LIMITING]
    found = {tag: f"it carries {tag} ({TAGS[tag]})" for tag in dict.fromkeys(tags)}
    if claim.basis in BASES:
        found[CONDITIONAL] = f"it carries {CONDITIONAL} ({BASES[claim.basis]})"
    if verdict == DEPENDS:
        found[DEPENDS] = f"its verdict {DEPENDS}"
    if claim.extension:
        found[EXTENSION] = f"it is an {EXTENSION}, which the audited text does not make"
    for test in tested.tests:
        verdicts = {one["verdict"] for one in own if one["test"] == test.name}
        if not test.decides and verdicts - {verdict}:
            said = " and ".join(one for one in OUTCOMES if one in verdicts)
            found[test.name] = f"its test {test.name} is {said}, the claim {verdict}"
    return found


def refuse(
    found: Sequence[Notable],
    ledgers: Mapping[str, Ledger],
    rows: Sequence[Row],
    findings: Sequence[Row],
) -> None:
    """Raise ConfigError if findings leave out what their claims say against them (`missing`)."""
    lines = [
        f"finding {place}: {line}"
        for place, one in enumerate(found, start=1)
        for line in missing(one, ledgers, rows, findings)
    ]
    if lines:
        raise ConfigError(f"{FILE}: " + "; ".join(lines))


# ---------------------------------------------------------------------------------- for reading


def written(text: str, findings: Sequence[Notable]) -> str:
    """Return README with the findings between their marks, numbers still to be put in."""
    before, opening, rest = text.partition(MARKS[0])
    _, closing, after = rest.partition(MARKS[1])
    if not (opening and closing):
        return text
    items = [f"{place}. {_markdown(one)}" for place, one in enumerate(findings, start=1)]
    return "\n".join([before + opening, *items, closing + after])


def _markdown(one: Notable) -> str:
    says, setting, against = (NUMBER.sub(r"<!--n:\1-->?<!--/n-->", text) for text in one.texts)
    shown = [f"[{one.shows}](figures/{one.figure}.png)"] if one.figure else []
    shown += ["[arena](docs/arena.md)"] if one.arena else []
    links = ", ".join([*shown, *(f"`{key}`" for key in one.claims)])
    parts = [f"**{says}**", f"*Setting.* {setting}", f"*What speaks against it.* {against}", links]
    return "<br>\n   ".join(parts)

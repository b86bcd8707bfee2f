"""The page across papers: statements that several papers make, and claims that rest on claims."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from IPython.display import Markdown

from fairbandits.audit import finding
from fairbandits.audit.claims import Papers, elsewhere
from fairbandits.report.audit import Audit
from fairbandits.report.markup import Html, render
from fairbandits.settings.models import expect_known, validated
from fairbandits.settings.records import AcrossFile, SharedStatement
from fairbandits.settings.schemas import ROOT, ConfigError, read_yaml

FILE = Path("papers") / "across.yaml"
#: Verdicts with which a claim does not hold as stated.
BROKEN = (finding.NOT_REPRODUCED, finding.DEPENDS)


def load_shared(own: Papers, root: Path = ROOT) -> dict[str, SharedStatement]:
    """Return the statements of papers/across.yaml by name, with these papers' claims alone."""
    content = validated(read_yaml(root / FILE), AcrossFile, str(FILE))
    papers = {key: slug for slug, paper in own.items() for key in paper.claims}
    known = [*papers, *elsewhere(own, root)]
    statements = {}
    for name, block in content.statements.items():
        where = f"{FILE}: statements.{name}.claims"
        for key in block.claims:
            expect_known(key, known, f"{where}: {key!r} is unknown")
        here = [key for key in block.claims if key in papers]
        if len(here) == len(block.claims) and len({papers[key] for key in here}) < 2:
            raise ConfigError(f"{where}: all are of {papers[here[0]]!r}; two papers are needed")
        if here:
            statements[name] = block.model_copy(update={"claims": here})
    return statements


def shared(audit: Audit) -> Iterator[Html | Markdown]:
    """Yield each statement that several papers make, and a table of its claims."""
    for name, entry in load_shared(audit.papers).items():
        yield Html('<h3 id="{}">{}</h3>').format(name, entry.title)
        yield Markdown(entry.statement)
        counts = Counter(audit.headlines[key] for key in entry.claims)
        yield render("shared.html", name=name, audit=audit, keys=entry.claims, counts=counts)


def resting(audit: Audit) -> dict[str, list[str]]:
    """Return the claims that rest directly on each claim, for claims that carry any."""
    above: dict[str, list[str]] = {}
    for key, claim in audit.claims.items():
        for base in claim.bases:
            if base in audit.claims:  # and not of a paper that is not configured
                above.setdefault(base, []).append(key)
    return above


def carried(claim: str, above: Mapping[str, list[str]]) -> list[str]:
    """Return all claims that rest on a claim, directly or through others, the nearest first."""
    claims = list(above.get(claim, []))
    for base in claims:  # grows on the way
        claims += [key for key in above.get(base, []) if key not in claims]
    return claims


def tree(audit: Audit, paper: str) -> Html:
    above = {
        base: [key for key in keys if paper in (audit.claims[base].paper, audit.claims[key].paper)]
        for base, keys in resting(audit).items()
    }
    over = {key for keys in above.values() for key in keys}
    roots = [key for key in audit.claims if above.get(key) and key not in over]
    audited = audit.papers[paper]
    return render("tree.html", audit=audit, paper=audited, roots=roots, above=above)


def taken_along(audit: Audit, paper: str) -> Html:
    """Return a paper's claims that do not hold as said, with all claims that rest on each."""
    above, claims = resting(audit), audit.papers[paper].claims
    broken = [key for key in claims if audit.headlines[key] in BROKEN]
    lines = [(key, over) for key in broken if (over := carried(key, above))]
    return render("taken_along.html", audit=audit, paper=audit.papers[paper], lines=lines)

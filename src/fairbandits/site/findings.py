"""The findings that matter most, as README and the report's first page begin with them.

They stand in papers/findings.yaml, in words, with the verdicts that they stand on. Their numbers
are those of papers/*/numbers.yaml. With other verdicts, or at another scale than the published
one, a finding is not shown.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fairbandits.audit.finding import OUTCOMES
from fairbandits.audit.ledger import Ledger
from fairbandits.experiments.schemas import ROOT, ConfigError, check, meant, read_yaml
from fairbandits.figures.draw import PAPERS

FILE = Path("papers") / "findings.yaml"
#: Between these README has the findings.
MARKS = ("<!--findings-->", "<!--/findings-->")
#: A number in a finding's words.
NUMBER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Notable:
    """A finding that matters.

    Attributes
    ----------
    title, says : str
        In a sentence; in one or two more, numbers by name in braces.
    claims : dict of str to str
        Ids of the claims that judge it -> the verdicts that it stands on.
    figure : str
        The figure that shows it, e.g. ``banditq/fig2``; empty if none does.
    """

    title: str
    says: str
    claims: dict[str, str]
    figure: str = ""

    @property
    def numbers(self) -> list[str]:
        """The names of its numbers."""
        return NUMBER.findall(self.says)

    def differing(self, verdicts: Mapping[str, str]) -> list[str]:
        """Return a line for each claim that has another verdict than the finding stands on."""
        return [
            f"{claim} is {verdicts.get(claim, 'not judged')!r}, not {verdict!r}"
            for claim, verdict in self.claims.items()
            if verdicts.get(claim) != verdict
        ]


def load_findings(ledgers: Mapping[str, Ledger], root: Path = ROOT) -> list[Notable]:
    """Return the findings that are about claims of these ledgers alone.

    Raises
    ------
    ConfigError
        For a file that cannot be read, or names a figure or a verdict that does not exist.
    """
    if not (root / FILE).is_file():
        return []
    content = read_yaml(root / FILE)
    check(content, "findings", str(FILE))
    claims = {key for ledger in ledgers.values() for key in ledger.claims}
    found = [Notable(**block) for block in content["findings"]]
    for place, one in enumerate(found, start=1):
        where = f"{FILE}: finding {place}"
        paper, _, figure = one.figure.partition("/")
        if one.figure and figure not in PAPERS.get(paper, ()):
            known = [f"{key}/{name}" for key, names in PAPERS.items() for name in names]
            raise ConfigError(f"{where}: no figure {one.figure!r}{meant(one.figure, known)}")
        for verdict in one.claims.values():
            if verdict not in OUTCOMES:
                raise ConfigError(f"{where}: no verdict {verdict!r}{meant(verdict, OUTCOMES)}")
    return [one for one in found if one.claims.keys() <= claims]


def written(text: str, findings: Sequence[Notable], verdicts: Mapping[str, str]) -> str:
    """Return the text of README with the findings between their marks, numbers still to be put in.

    Raises
    ------
    ConfigError
        If a claim has another verdict than a finding stands on.
    """
    wrong = [line for one in findings for line in one.differing(verdicts)]
    if wrong:
        raise ConfigError(f"{FILE}: a finding is no longer so: {'; '.join(wrong)}")
    before, opening, rest = text.partition(MARKS[0])
    _, closing, after = rest.partition(MARKS[1])
    if not (opening and closing):
        return text
    items = [f"{place}. {_markdown(one)}" for place, one in enumerate(findings, start=1)]
    return "\n".join([before + opening, *items, closing + after])


def _markdown(one: Notable) -> str:
    says = NUMBER.sub(r"<!--n:\1-->?<!--/n-->", one.says)
    shown = [f"[figure](figures/{one.figure}.png)"] if one.figure else []
    return f"**{one.title}** {says} ({', '.join([*shown, *(f'`{key}`' for key in one.claims)])})"

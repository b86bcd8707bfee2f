"""The papers' figures: of each paper a module that draws, and a file with what is said of them.

The workflow, the data dictionary and the pages read the file alone: pandas and Matplotlib, which
drawing needs, take a second to import.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.settings.schemas import read_yaml

_SPREAD = "narrow band: 95 % t interval of the mean; wide band: 95 % of the replicates"
_VERSIONS = (
    "Left: as the paper prints {}, where nothing cuts optimistic means off at 1; "
    "right: as the released program has {}"
)
#: Words that captions share.
WORDS = {
    "spread": _SPREAD,
    "version": _VERSIONS.format("the policy", "it"),
    "versions": _VERSIONS.format("the policies", "them"),
}


class Declared(NamedTuple):
    """What is said of a figure."""

    function: str  # name of what draws it, in the paper's module
    label: str  # what it shows, in a few words that tell it from the paper's other figures
    template: str  # its caption
    beside: str  # the replay that is drawn beside its datasets, if any
    quantity: str  # what its curves have the mean of
    unit: str = ""
    reads: Sequence[str] = ()  # the recorded columns that it needs
    rows: str = ""  # name of a function in the module: from a footer to the rows that it needs

    def caption(self, shows: Sequence[Mapping[str, Any]]) -> str:
        """Return the caption with the facts of all that is shown, its own experiment's first."""
        import jinja2

        template = jinja2.Template(self.template, undefined=jinja2.StrictUndefined)
        first = shows[0]
        facts = {
            "what": first["title"].lower(),
            "mean": f"mean over {first.get('replicates')} replicates of {first['horizon']} rounds",
        }
        words = template.render(first | facts | WORDS, shows=shows, beside=self.beside)
        return " ".join(words.split())


def _declared(file: Path) -> dict[str, Declared]:
    found = {}
    for function, said in read_yaml(file).items():
        shows, template, beside = said.pop("shows"), said.pop("caption"), said.pop("beside", {})
        for name, label in shows.items():
            found[name] = Declared(function, label, template, beside.get(name, ""), **said)
    return found


#: Paper -> figure -> what is said of it.
PAPERS = {file.stem: _declared(file) for file in sorted(Path(__file__).parent.glob("*.yaml"))}

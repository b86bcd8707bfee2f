"""The papers' figures: one module per paper, one function with `@figure` for each, or for several.

Label, caption and columns of a figure are written at its function. The workflow, the data
dictionary and the pages read them from the source, since importing pandas and Matplotlib takes a
second.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.replication.reading import collect_code
from fairbandits.settings.config import Config
from fairbandits.settings.experiments import Experiment, Replay

_REPLAYED = "with the program's own random numbers; circles: read off the published figure"
_VERSIONS = (
    "Left: as the paper prints {}, where nothing cuts optimistic means off at 1; "
    "right: as the released program has {}"
)
#: Words that captions share.
WORDS = {
    "spread": "dark band: 95 % t interval of the mean; light band: 95 % of the replicates",
    "version": _VERSIONS.format("the policy", "it"),
    "versions": _VERSIONS.format("the policies", "them"),
}


class Declared(NamedTuple):
    """Label, caption and columns of a figure."""

    function: str  # name of what draws it, in the paper's module
    label: str  # what it shows, in a few words that tell it from the paper's other figures
    template: str  # its caption
    quantity: str  # what its curves have the mean of
    unit: str
    beside: str  # the replay that is drawn beside its datasets, if any

    def caption(self, shows: Sequence[Mapping[str, Any]]) -> str:
        """Return the caption with the facts of all that is shown, its own experiment's first."""
        import jinja2

        template = jinja2.Template(self.template, undefined=jinja2.StrictUndefined)
        first = shows[0]
        n, rounds = first.get("replicates"), f"{first['horizon']} rounds"
        mean = f"mean over {n} replicates of {rounds}"
        lines = f"{mean}; {WORDS['spread']}; thin line: one replicate"
        lines = lines if n else f"one run of {rounds} {_REPLAYED}"
        facts = {"what": first["title"].lower(), "mean": mean, "lines": lines}
        text = template.render(first | facts | WORDS, shows=shows, beside=self.beside)
        return " ".join(text.split())


def figure(*, reads: Sequence[str] = (), rows: Callable | None = None, **_: Any):
    """Make a function draw figures; its docstring after the first line is their caption.

    It needs the columns `reads`, and of a dataset's rows those that `rows` chooses by the footer.
    The others are read from the source: `quantity`, `unit`, the label of each figure, and `beside`,
    which maps a figure to the replay that it shows too.
    """

    def drawing(function: Callable) -> Callable:
        function.reads, function.rows = ["run", "round", *reads], rows
        return function

    return drawing


def figure_code(paper: str) -> str:
    """Return the fingerprint of the code that draws a paper's figures."""
    return collect_code("figures/draw.py", f"figures/{paper}.py")


@cache
def figures_of(paper: str) -> dict[str, Declared]:
    """Return label, caption and columns of a paper's figures, without importing their module."""
    shown = {}
    for node in ast.parse(Path(__file__).with_name(f"{paper}.py").read_bytes()).body:
        for call in getattr(node, "decorator_list", ()):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "figure":
                keywords = {
                    keyword.arg: ast.literal_eval(keyword.value)
                    for keyword in call.keywords
                    if keyword.arg not in ("reads", "rows")
                }
                about = keywords.pop("quantity"), keywords.pop("unit", "")
                beside = keywords.pop("beside", {})
                _, caption, *_ = [*(ast.get_docstring(node) or "").split("\n\n"), ""]
                for name, label in keywords.items():
                    shown[name] = Declared(node.name, label, caption, *about, beside.get(name, ""))
    return shown


#: Paper -> figure -> its label, caption and columns. A paper is a module of `fairbandits.figures`.
PAPERS = {
    slug: figures
    for slug in sorted(file.stem for file in Path(__file__).parent.glob("*.py"))
    if (figures := figures_of(slug))
}


def shown_by(config: Config, paper: str, figure: str) -> tuple[Sequence[Experiment], Replay | None]:
    """Return the experiments that a figure shows, its own first, and the replay that it shows."""
    replays = [replay for replay in config.replays if replay.paper == paper]
    if alone := next((replay for replay in replays if figure in replay.figures), None):
        return (), alone
    beside = PAPERS[paper][figure].beside
    replay = next((replay for replay in replays if replay.name == beside), None)
    return config.shown_in(paper, figure), replay

"""The page of all words that a ledger's expressions can use, made from the registry."""

from pathlib import Path

from jinja2 import Template

from fairbandits.audit.cells import COORDINATES
from fairbandits.audit.measures import functions, measures

#: Axes of a measure, in words.
AXES = {"r": "replicate", "t": "round", "a": "arm"}


def page() -> str:
    text = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
    words = {"measures": measures(), "functions": functions(), "coordinates": COORDINATES}
    template = Template(text, trim_blocks=True, keep_trailing_newline=True)
    return template.render(axes=AXES, **words)

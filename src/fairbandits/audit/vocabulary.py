"""The page of all words that a ledger's expressions can use, made from the registry."""

from collections.abc import Iterator

from fairbandits.audit.cells import COORDINATES
from fairbandits.audit.measures import functions, measures

#: Axes of a measure, in words.
AXES = {"r": "replicate", "t": "round", "a": "arm"}
HEAD = """# The words of the ledgers

What the expressions of `papers/*/claims.yaml` can name; see [adding a claim](adding-a-claim.md).
This page is made by `fairbandits vocabulary`.
"""


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield HEAD
    yield "## Measures\n"
    yield "| name | what it is | unit | has a value for each | read from |"
    yield "|---|---|---|---|---|"
    for name, one in sorted(measures().items()):
        axes = ", ".join(AXES[axis] for axis in one.axes) or "cell"
        columns = ", ".join(f"`{column}`" for column in one.columns)
        yield f"| `{name}` | {one.what} | {one.unit} | {axes} | {columns} |"
    yield "\n## Functions\n"
    yield "| name | what it gives |"
    yield "|---|---|"
    for name, function in sorted(functions().items()):
        yield f"| `{name}` | {function.what} |"
    yield "\n## Coordinates\n"
    yield "And every parameter of a policy.\n"
    yield "| name | what it is |"
    yield "|---|---|"
    for name, what in sorted(COORDINATES.items()):
        yield f"| `{name}` | {what} |"
    yield ""

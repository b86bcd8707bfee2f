"""The page of all words that a ledger's expressions can use, made from the registry."""

from fairbandits.audit.cells import COORDINATES
from fairbandits.audit.measures import functions, measures

#: Axes of a measure, in words.
AXES = {"r": "replicate", "t": "round", "a": "arm"}
HEAD = """# The words of the ledgers

What the expressions of `papers/*/claims.yaml` can name; see [adding a claim](adding-a-claim.md).
This page is made by `fairbandits vocabulary`.
"""


def page() -> str:
    lines = [HEAD, "## Measures\n"]
    lines.append("| name | what it is | unit | has a value for each | read from |")
    lines.append("|---|---|---|---|---|")
    for name, one in sorted(measures().items()):
        axes = ", ".join(AXES[axis] for axis in one.axes) or "cell"
        columns = ", ".join(f"`{column}`" for column in one.columns)
        lines.append(f"| `{name}` | {one.what} | {one.unit} | {axes} | {columns} |")
    lines += ["\n## Functions\n", "| name | what it gives |", "|---|---|"]
    lines += [f"| `{name}` | {one.what} |" for name, one in sorted(functions().items())]
    lines += ["\n## Coordinates\n", "And every parameter of a policy.\n"]
    lines += ["| name | what it is |", "|---|---|"]
    lines += [f"| `{name}` | {what} |" for name, what in sorted(COORDINATES.items())]
    return "\n".join([*lines, ""])

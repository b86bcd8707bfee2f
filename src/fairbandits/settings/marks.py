"""Labels of runs that are not the published ones, for figures and pages."""

from collections.abc import Mapping, Sequence
from typing import Any

#: Scale -> label for its numbers.
SCALES = {
    "preview": "Few replicates of the published numbers of rounds: the curves are what to expect, "
    "the intervals are wide, and no claim is decided by them.",
    "smoke": "A small run, to test the machinery. Its numbers and figures say nothing about the "
    "papers.",
    "large": "More rounds and replicates than the papers have, to lay beside the published scale. "
    "The rules of the audit were made for that one.",
    "variant": "Settings were changed: the numbers and figures are of other experiments than the "
    "papers'.",
}
#: Names of scales that need another label than "not results".
NAMES = {"large": "large scale: larger than published", "variant": "variant"}


def name_of_scale(scale: str) -> str:
    return NAMES.get(scale, f"{scale} scale: not results")


def mark(footers: Sequence[Mapping[str, Any]]) -> str:
    """Return the label for a figure of these datasets; empty at the published scale."""
    names = dict.fromkeys(name_of_scale(footer["scale"]) for footer in footers if "scale" in footer)
    changed: dict[str, list[str]] = {}
    for footer in footers:
        for change in footer.get("changed", ()):
            changed.setdefault(change, []).append(footer["experiment"])
    said = [
        change if len(few) == len(footers) else f"{change} ({', '.join(few)})"
        for change, few in changed.items()
    ]
    name, what = "; ".join(names), ", ".join(said)
    return (": " if name == "variant" else "; ").join(filter(None, [name, what]))

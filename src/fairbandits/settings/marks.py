"""How a run that is not the published one is called, in figures and on pages.

What it is stands in the footers of its datasets: ``scale``, and in ``changed`` what differs from
the published settings, in words. At the published scale there is neither.
"""

from collections.abc import Mapping, Sequence
from typing import Any

#: Scale -> what is said of its numbers.
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


#: What a scale is called, if not that its numbers are no results.
NAMES = {"large": "large scale: larger than published", "variant": "variant"}


def name_of_scale(scale: str) -> str:
    """Return what is said of a scale in a few words.

    Examples
    --------
    >>> name_of_scale("smoke"), name_of_scale("large")
    ('smoke scale: not results', 'large scale: larger than published')
    """
    return NAMES.get(scale, f"{scale} scale: not results")


def mark(footers: Sequence[Mapping[str, Any]]) -> str:
    """Return what a figure of these datasets is to be called; nothing at the published scale.

    Examples
    --------
    >>> mark([{"scale": "variant", "changed": ["horizon = 10 in place of 20"]}])
    'variant: horizon = 10 in place of 20'
    >>> mark([{"experiment": "full_information"}])
    ''
    """
    names = dict.fromkeys(name_of_scale(one["scale"]) for one in footers if "scale" in one)
    changed = dict.fromkeys(words for one in footers for words in one.get("changed", ()))
    name, what = "; ".join(names), ", ".join(changed)
    return (": " if name == "variant" else "; ").join(filter(None, [name, what]))


def mark_of_replay(last: int, footer: Mapping[str, Any]) -> str:
    """Return what a figure of a replay is to be called; nothing if it has all its rounds.

    Parameters
    ----------
    last : int
        The last round of it.
    footer : mapping
        Of the replay.
    """
    horizon = footer["horizon"]
    return "" if last == horizon else f"not results: {last} rounds in place of {horizon}"

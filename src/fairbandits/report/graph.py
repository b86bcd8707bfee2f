"""A graph of names in columns, as SVG: each name stands right of the names that it rests on."""

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from html import escape
from itertools import pairwise

#: Pixels: column distance, box width, gap below a box, line height, margin, and room for an arrow
#: that passes a column.
PITCH, WIDE, FREE, LINE, EDGE, PASSING = 134.0, 114.0, 7.0, 12.0, 4.0, 7.0
#: Most letters in a line of a box.
LETTERS = 16
#: Rounds of sorting the columns, and of moving boxes towards their neighbours.
SWEEPS = 12


@dataclass(frozen=True)
class Mark:
    """How one name is drawn."""

    name: str  # text in the box
    letter: str  # text in front of the box
    look: str  # suffix of its CSS class
    said: str  # tooltip
    link: Callable[[str], str]  # wraps some SVG in a link
    elsewhere: bool = False  # belongs to another graph: dashed box

    @property
    def lines(self) -> list[str]:
        """The name, broken into the lines of a box."""
        return textwrap.wrap(self.name, LETTERS, break_on_hyphens=True)


#: A place in a column: a name, or an arrow on its way, which is the pair of names and the column.
Place = str | tuple[str, str, int]


def columns_of(bases: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the column of each name: right of all names that it rests on.

    Examples
    --------
    >>> columns_of({"a": [], "b": ["a"], "c": ["a", "b"], "d": [], "e": ["c", "d"]})
    {'a': 0, 'd': 2, 'b': 1, 'c': 2, 'e': 3}
    """
    found: dict[str, int] = {}
    for name in TopologicalSorter(bases).static_order():
        found[name] = max((found[base] + 1 for base in bases.get(name, ())), default=0)
    for name in list(found):  # what rests on nothing stands next to what rests on it
        over = [found[other] for other, below in bases.items() if name in below]
        if not bases.get(name) and over:
            found[name] = min(over) - 1
    return found


def draw(
    bases: Mapping[str, Sequence[str]], marks: Mapping[str, Mark], broken: Iterable[str], words: str
) -> str:
    """Return a graph as SVG in the page's colours.

    `bases` maps each name to the names that it rests on, arrows of names in `broken` are drawn
    broken, `words` is the text for screen readers.
    """
    broken = set(broken)
    columns = columns_of(bases)
    arrows = [
        (base, name, _way(base, name, columns))
        for name, below in bases.items()
        for base in dict.fromkeys(below)
    ]
    tall = {name: LINE * len(mark.lines) + 8 for name, mark in marks.items()}
    centre: dict[Place, float] = {}
    low = EDGE
    for part in _parts(bases):
        names = [name for name in marks if name in part]
        own = _places(names, columns, [one for one in arrows if one[0] in part], tall)
        centre |= {place: low + height for place, height in own.items()}
        low = max(centre[name] + tall[name] / 2 for name in names) + 2 * FREE
    right = max(columns.values()) * PITCH + WIDE + 2 * EDGE
    parts = []
    for base, _, way in arrows:
        look = " fb-broken" if base in broken else ""
        parts.append(f'<path class="fb-arrow{look}" d="{_curve(way, columns, centre)}"/>')
    for name, mark in marks.items():
        parts.append(mark.link(_box(mark, columns[name], centre[name], tall[name])))
    return (
        f'<svg class="fb-graph" role="img" aria-label="{escape(words)}" '
        f'viewBox="0 0 {right:.0f} {low:.0f}" style="width:{right:.0f}px" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


def _parts(bases: Mapping[str, Sequence[str]]) -> list[set[str]]:
    """Return the connected parts of a graph, the largest first."""
    parts: list[set[str]] = []
    for name, below in bases.items():
        new = {name, *below}
        joined = [part for part in parts if part & new]
        parts = [part for part in parts if not part & new] + [new.union(*joined)]
    return sorted(parts, key=lambda part: (-len(part), min(part)))


def _way(base: str, name: str, columns: Mapping[str, int]) -> list[Place]:
    """Return the places that an arrow passes, its ends included."""
    between = range(columns[base] + 1, columns[name])
    return [base, *((base, name, column) for column in between), name]


def _places(
    names: Sequence[str],
    columns: Mapping[str, int],
    arrows: Sequence[tuple[str, str, list[Place]]],
    tall: Mapping[str, float],
) -> dict[Place, float]:
    """Return the height of each place's centre, so that arrows are short and seldom cross."""
    order: list[list[Place]] = [[] for _ in range(max(columns.values()) + 1)]
    for name in names:
        order[columns[name]].append(name)
    joined: dict[Place, tuple[list[Place], list[Place]]] = {name: ([], []) for name in names}
    for _, _, way in arrows:
        for place in way[1:-1]:
            order[place[2]].append(place)
            joined[place] = ([], [])
        for left, right in pairwise(way):
            joined[left][1].append(right)
            joined[right][0].append(left)
    needed = {place: tall[place] + FREE if place in tall else PASSING for place in joined}
    centre: dict[Place, float] = {}
    for column in order:
        _stack(column, needed, centre, {})
    for sweep in range(2 * SWEEPS):
        side = sweep % 2  # by what is on the left, then by what is on the right
        for column in order if side == 0 else reversed(order):
            wanted = {
                place: sum(centre[one] for one in joined[place][side]) / len(joined[place][side])
                if joined[place][side]
                else centre[place]
                for place in column
            }
            column.sort(key=wanted.__getitem__)
            _stack(column, needed, centre, wanted)
    top = min(centre[name] - tall[name] / 2 for name in names)
    return {place: height - top for place, height in centre.items()}


def _stack(
    column: Sequence[Place],
    needed: Mapping[Place, float],
    centre: dict[Place, float],
    wanted: Mapping[Place, float],
) -> None:
    """Stack a column's places without overlap, as near to the wanted heights as possible."""
    bottom = float("-inf") if wanted else 0.0
    for place in column:
        top = max(bottom, wanted.get(place, 0.0) - needed[place] / 2)
        centre[place] = top + needed[place] / 2
        bottom = top + needed[place]
    if wanted:
        shift = sum(wanted[place] - centre[place] for place in column) / len(column)
        for place in column:
            centre[place] += shift


def _curve(way: Sequence[Place], columns: Mapping[str, int], centre: Mapping[Place, float]) -> str:
    """Return the path of an arrow, with its head."""
    base, *between, name = way
    x, y = columns[base] * PITCH + WIDE + EDGE, centre[base]
    path = f"M{x:.1f} {y:.1f}"
    for place in between:
        left = place[2] * PITCH + EDGE
        path += _bend(x, y, left, centre[place]) + f"h{WIDE:.1f}"
        x, y = left + WIDE, centre[place]
    end, height = columns[name] * PITCH + EDGE, centre[name]
    return path + _bend(x, y, end, height) + "m-4.5 -3l4.5 3l-4.5 3"


def _bend(x: float, y: float, to_x: float, to_y: float) -> str:
    middle = (x + to_x) / 2
    return f"C{middle:.1f} {y:.1f} {middle:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"


def _box(mark: Mark, column: int, centre: float, tall: float) -> str:
    """Return a name in its box, with its letter in front."""
    x, y = column * PITCH + EDGE, centre - tall / 2
    first = y + 4 + 0.75 * LINE
    text = "".join(
        f'<text x="{x + 17:.1f}" y="{first + k * LINE:.1f}">{escape(line)}</text>'
        for k, line in enumerate(mark.lines)
    )
    dashed = " fb-elsewhere" if mark.elsewhere else ""
    return (
        f'<g class="fb-node fb-node-{mark.look}{dashed}"><title>{escape(mark.said)}</title>'
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{WIDE:.0f}" height="{tall:.0f}" rx="4"/>'
        f'<text class="fb-letter" x="{x + 9:.1f}" y="{first:.1f}">{mark.letter}</text>{text}</g>'
    )

"""The graph of the workflow's rules, as a person wants to see it."""

import re

#: Rules of which there is one for each bundle.
BUNDLED = re.compile(r"^(simulate|collect)_\w+$")


def joined(graph: str) -> str:
    """Return Snakemake's graph in Mermaid's language with the rules of all bundles as one.

    Examples
    --------
    >>> drawn = joined('''flowchart TB
    ... id0[collect_a_1]
    ... id1[simulate_a_1]
    ... id2[simulate_a_2]
    ... style id0 fill:#D95757
    ... id1 --> id0
    ... id2 --> id0''')
    >>> print(drawn, end="")
    flowchart TB
        collect
        simulate
        simulate --> collect
    """
    names = {key: BUNDLED.sub(r"\1", name) for key, name in re.findall(r"(id\d+)\[(\w+)\]", graph)}
    arrows = [(names[a], names[b]) for a, b in re.findall(r"(id\d+) --> (id\d+)", graph)]
    arrows = sorted({(a, b) for a, b in arrows if a != b})
    lines = ["flowchart TB", *dict.fromkeys(names.values()), *(f"{a} --> {b}" for a, b in arrows)]
    return "\n    ".join(lines) + "\n"

"""The graph of the workflow's rules, simplified for reading."""

import re

#: Rules that exist several times: for each bundle, or for each figure of a paper.
SEVERAL = re.compile(r"^(simulate|collect|\w+_fig)\w+$")


def joined(graph: str) -> str:
    """Return Snakemake's graph, in Mermaid's language, for Graphviz, with rules of a kind as one.

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
    digraph rules {
        rankdir=LR
        node [shape=box, style=rounded, fontname="sans-serif"]
        "simulate_*" -> "collect_*"
    }
    """
    names = {key: SEVERAL.sub(_kind, name) for key, name in re.findall(r"(id\d+)\[(\w+)\]", graph)}
    arrows = {(names[a], names[b]) for a, b in re.findall(r"(id\d+) --> (id\d+)", graph)}
    lines = [f'    "{a}" -> "{b}"' for a, b in sorted(arrows) if a != b]
    head = ["    rankdir=LR", '    node [shape=box, style=rounded, fontname="sans-serif"]']
    return "\n".join(["digraph rules {", *head, *lines, "}"]) + "\n"


def _kind(match: re.Match) -> str:
    kind = match.group(1)
    return f"{kind}*" if kind.endswith("_fig") else f"{kind}_*"

"""Turn Snakemake's graph of rules (Mermaid) into one for Graphviz, rules of one kind in one."""

import re
import sys

text = sys.stdin.read()
# rules that exist several times: for each bundle, or for each figure of a paper
several = re.compile(r"^(simulate_|collect_|\w+_fig)\w+$")
names = {key: several.sub(r"\1*", name) for key, name in re.findall(r"(id\d+)\[(\w+)\]", text)}
arrows = {(names[a], names[b]) for a, b in re.findall(r"(id\d+) --> (id\d+)", text)}
print("digraph rules {\n    rankdir=LR")
print('    node [shape=box, style=rounded, fontname="sans-serif"]')
for a, b in sorted(arrows):
    if a != b:
        print(f'    "{a}" -> "{b}"')
print("}")

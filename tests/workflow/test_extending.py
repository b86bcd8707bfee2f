"""What docs/adding-a-*.md tell to write is picked up: a policy, a paper, its figure and a claim."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: What is copied; the workflow reads no more to say what it would run.
COPIED = ("Snakefile", "config", "papers", "src", "workflow", "notebooks", "environment.yml")
DOCS = {
    name: ROOT / "docs" / f"adding-a-{name}.md" for name in ("policy", "paper", "figure", "claim")
}
#: A file that is shown whole: its place in bold, and its content in a block.
SHOWN = re.compile(r"^\*\*`(\S+)`\*\*\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.workflow


def text_of(doc):
    return DOCS[doc].read_text(encoding="utf-8")


class Extended:
    """A copy of the project with all that the documents show."""

    def __init__(self, folder):
        self.folder = folder
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            leave = (
                {"ignore": shutil.ignore_patterns("__pycache__")} if (ROOT / name).is_dir() else {}
            )
            copy(ROOT / name, folder / name, **leave)
        self.written = {}
        for doc in DOCS:
            self.written |= dict(SHOWN.findall(text_of(doc)))
        for name, content in self.written.items():
            assert not (folder / name).exists(), name
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
        (line,) = re.findall(r'`("\w+": "\w+:\w+",)`', text_of("policy"))
        self.insert("src/fairbandits/policies/__init__.py", "HOMES = {\n", f"    {line}\n")
        self.insert("config/config.yaml", "papers: [", "toy, ")
        self.said = self.run("-m", "fairbandits.cli", "schemas")

    def insert(self, file, after, text):
        path = self.folder / file
        before = path.read_text(encoding="utf-8")
        assert before.count(after) == 1
        path.write_text(before.replace(after, after + text), encoding="utf-8")

    def run(self, *words):
        found = {"PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env=os.environ | found,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    return Extended(tmp_path_factory.mktemp("extended"))


def test_documents_name_files_that_are_there(extended):
    for doc in DOCS:
        for name in re.findall(
            r"`((?:src|docs|workflow|papers|config|tests)/[\w./-]+)`", text_of(doc)
        ):
            made = "starvation" if "/observers/" in name else "explore_first"
            name = name.replace("SLUG", "toy").replace("NAME", made)
            parts = ("audit", "deviations", "published", "numbers")
            optional = name in [f"papers/toy/{part}.yaml" for part in parts]
            assert optional or any((one / name).exists() for one in (ROOT, extended.folder)), name
        for name in re.findall(r"\]\(([^)#:]+)\)", text_of(doc)):
            assert (ROOT / "docs" / name).is_file(), name
    assert len(extended.written) == 8
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert extended.written["my_policies.py"] in readme


def test_the_schemas_have_the_new_policy(extended):
    assert extended.said.strip().endswith("policies.schema.yaml")
    schemas = (extended.folder / "workflow/schemas/policies.schema.yaml").read_text()
    assert "\n  explore_first:\n" in schemas
    each = "each: {description: 'First pulls of each arm, at least 1.', type: integer, minimum: 1}"
    assert each in " ".join(schemas.split())


def test_the_workflow_would_run_them(extended):
    said = extended.run("-m", "snakemake", "-n", "toy_fig1", "report", "--quiet", "host")
    jobs = set(re.findall(r"^(?:local)?rule (\w+):$", said, re.MULTILINE))
    assert {"toy_fig1", "simulate_toy_figures_1", "collect_toy_figures_1"} <= jobs
    for made in (
        "figures/toy/fig1.svg",
        "results/toy/two_arms.parquet",
        "results/notebooks/toy.ipynb",
        "results/audit/toy.parquet",
    ):
        assert made in said


CODE = """
import json
from dataclasses import asdict
from pathlib import Path

import fairbandits
from fairbandits.audit import run
from fairbandits.experiments.datasets import collect
from fairbandits.experiments.simulate import write_chunk
from fairbandits.figures.draw import draw

config, ledgers = run.load([Path("config/config.yaml"), Path("config/smoke.yaml")])
one = config.experiment("toy", "two_arms")
results, seed = Path("tried"), config.seed_of("toy")
chunks = [results / run.chunk_file(run.chunks()[0]) for run in one.runs]
for each, file in zip(one.runs, chunks, strict=True):
    write_chunk(each.spec, seed, range(each.replicates), file, compiled=False)
collect(chunks, one.facts(), seed, results / one.dataset, config.ledger_of("toy"))
images = {kind: results / f"fig1.{kind}" for kind in ("svg", "png", "table")}
draw("toy", "fig1", [results / one.dataset], None, **images)
((answer,), scale, _) = run.find(config, ledgers, "toy", results)
print(json.dumps({
    "policies": [each.spec.policy for each in one.runs],
    "public": fairbandits.ExploreFirst(3).each,
    "message": answer.message,
    "n": answer.finding.n,
    "replicates": one.replicates,
    "labels": list(one.labels.values()),
}))
"""


def test_they_are_run_drawn_and_judged(extended):
    found = json.loads(extended.run("-c", CODE))
    assert found["policies"] == ["explore_first", "ucb1", "my_policies:Greedy"]
    assert found["public"] == 3
    assert not found["message"]
    assert found["n"] == found["replicates"] > 1
    drawn = (extended.folder / "tried" / "fig1.svg").read_text(encoding="utf-8")
    for label in found["labels"]:
        assert f">{label}</text>" in drawn

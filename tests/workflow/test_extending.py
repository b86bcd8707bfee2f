"""What docs/adding-a-*.md tell to write is picked up: policy, observer, paper, figure and claim."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import own_policy

ROOT = Path(__file__).resolve().parents[2]
#: What is copied; the workflow reads no more to say what it would run.
COPIED = ("Snakefile", "config", "papers", "src", "workflow", "notebooks", "environment.yml")
DOCS = {
    name: ROOT / "docs" / f"adding-a-{name}.md" for name in ("policy", "paper", "figure", "claim")
}
#: A file that is shown whole: its place in bold, and its content in a block.
SHOWN = re.compile(r"^\*\*`(\S+)`\*\*\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What is changed in a file that is there: what one text becomes; and a block at the end.
BECOMES = re.compile(r"^In \*\*`(\S+)`\*\*, `([^`]+)` becomes\s`([^`]+)`\.$", re.MULTILINE)
AT_END = re.compile(
    r"^At the end of \*\*`(\S+)`\*\*:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)

pytestmark = pytest.mark.workflow


def text_of(doc):
    return DOCS[doc].read_text(encoding="utf-8")


class Project:
    """A copy of the project with what some of the documents show."""

    def __init__(self, folder, copied, docs, without=()):
        self.folder = folder
        for name in copied:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, folder / name)
        self.written = {own_policy.NAME: own_policy.SOURCE}
        for doc in docs:
            self.written |= dict(SHOWN.findall(text_of(doc)))
        for name in without:
            del self.written[name]
        for name, content in self.written.items():
            assert not (folder / name).exists(), name
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
        for doc in docs:
            self.changed(text_of(doc))
        lines = re.findall(r'`("\w+": "\w+:\w+",)`', text_of("policy"))
        for room, line in zip(("policies", "observers"), lines, strict=True):
            if room not in str(without):
                self.insert(f"src/fairbandits/{room}/__init__.py", "HOMES = {\n", f"    {line}\n")
        self.insert("config/config.yaml", "bf_ucb", ", toy")

    def changed(self, text):
        """Change files as a document says."""
        for file, old, new in BECOMES.findall(text):
            self.replace(file, old, new)
        for file, block in AT_END.findall(text):
            with (self.folder / file).open("a", encoding="utf-8") as end:
                end.write(block)

    def insert(self, file, after, text):
        self.replace(file, after, after + text)

    def replace(self, file, old, new):
        path = self.folder / file
        before = path.read_text(encoding="utf-8")
        assert before.count(old) == 1, (file, old)
        path.write_text(before.replace(old, new), encoding="utf-8")

    def run(self, *words):
        found = {"PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        found["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
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

    def command(self, *words):
        return self.run("-c", "from fairbandits.cli.main import main; main()", *words)


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    made = Project(tmp_path_factory.mktemp("extended"), COPIED, DOCS)
    seen = "        observe: [last_pull]\n"
    made.insert("papers/toy/experiments.yaml", "        policy: explore_first\n", seen)
    return made


def test_documents_name_files_that_are_there(extended):
    for doc in DOCS:
        for name in re.findall(
            r"`((?:src|docs|workflow|papers|config|tests)/[\w./-]+)`", text_of(doc)
        ):
            made = "last_pull" if "/observers/" in name else "explore_first"
            name = name.replace("SLUG", "toy").replace("NAME", made)
            parts = ("audit.yaml", "glossary.yaml", "published.yaml", "numbers.yaml", "measures.py")
            optional = name in [f"papers/toy/{part}" for part in parts]
            assert optional or any((one / name).exists() for one in (ROOT, extended.folder)), name
        for name in re.findall(r"\]\(([^)#:]+)\)", text_of(doc)):
            assert (ROOT / "docs" / name).is_file(), name
    assert len(extended.written) == 7
    figure, claim = text_of("figure"), text_of("claim")
    assert [len(pattern.findall(figure)) for pattern in (BECOMES, AT_END)] == [2, 1]
    assert len(AT_END.findall(claim)) == 1


def test_the_workflow_would_run_them(extended):
    said = extended.run("-m", "snakemake", "-n", "toy_fig1", "report", "--quiet", "host")
    jobs = set(re.findall(r"^(?:local)?rule (\w+):$", said, re.MULTILINE))
    assert {"toy_fig1", "toy_fig2", "simulate_toy_figures_1", "collect_toy_figures_1"} <= jobs
    for made in (
        "figures/toy/fig1.svg",
        "figures/toy/fig2.svg",
        "results/toy/two_arms.parquet",
        "results/notebooks/toy.ipynb",
        "results/audit/toy.parquet",
    ):
        assert made in said


@pytest.mark.parametrize("paper", ["toy", "ht_ucb"])
def test_their_claims_pass_the_check(extended, paper):
    said = extended.command("check-claims", "--paper", paper)
    assert f"papers/{paper}/claims.py: " in said


CODE = """
import json
from dataclasses import asdict
from pathlib import Path

import fairbandits
from fairbandits.audit import run
from fairbandits.report.describing import describe
from fairbandits.replication.datasets import collect
from fairbandits.replication.simulate import write_chunk
from fairbandits.figures.draw import draw

config, papers = run.load([Path("config/config.yaml"), Path("config/smoke.yaml")])
one = config.experiment("toy", "two_arms")
results, seed = Path("tried"), config.seed_of(one)
chunks = [results / run.chunk_file(run.chunks()[0]) for run in one.runs]
for each, file in zip(one.runs, chunks, strict=True):
    write_chunk(each.spec, seed, range(each.replicates), file, compiled=False)
collect(chunks, one.facts(), seed, results / one.dataset, config.ledger_of(one))
for name in ("fig1", "fig2"):
    images = {kind: results / f"{name}.{kind}" for kind in ("svg", "png", "table")}
    draw("toy", name, [results / one.dataset], None, **images)
((answer,), scale, _) = run.find(config, papers["toy"], results)
print(json.dumps({
    "policies": [each.spec.policy for each in one.runs],
    "public": fairbandits.ExploreFirst(3).each,
    "message": answer.message,
    "n": answer.n,
    "replicates": one.replicates,
    "labels": list(one.labels.values()),
    "described": describe(results / "fig2.table"),
    "observed": describe(chunks[0]),
}))
"""


def test_they_are_run_drawn_and_judged(extended):
    found = json.loads(extended.run("-c", CODE))
    assert found["policies"] == ["explore_first", "ucb1", "my_policies:FairGreedy"]
    assert found["public"] == 3
    assert not found["message"]
    assert found["n"] == found["replicates"] > 1
    for name, quantity in (("fig1", "cumulative reward"), ("fig2", "pulls of arm 1")):
        drawn = (extended.folder / "tried" / f"{name}.svg").read_text(encoding="utf-8")
        for word in (*found["labels"], quantity):
            assert f">{word}</text>" in drawn
    assert "Mean over the replicates of the pulls of arm 1 up to round t" in found["described"]
    assert "last_pull (double, rounds)\n    Last round up to t in which" in found["observed"]
    notebook = json.loads((extended.folder / "notebooks/toy.ipynb").read_text(encoding="utf-8"))
    assert "fig2" in notebook["cells"][-1]["source"][-1]


#: As in `make test-fast`, one test at a time.
QUICK = "not browser and not workflow and not slow and not kernels and not campaign and not slurm"
KERNELS = [f"--ignore=tests/{room}" for room in ("engine", "policies", "library", "measures")]


@pytest.mark.slow
def test_the_quick_tests_pass_with_one_more_paper(tmp_path):
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = dict.fromkeys(name.partition("/")[0] for name in listed.stdout.splitlines())
    observer = "src/fairbandits/observers/last_pull.py"
    made = Project(tmp_path, names, ("policy", "paper"), [observer])
    found = "results/audit/toy.parquet"
    made.run("-m", "snakemake", "--cores", "1", "--", "toy_fig1", found)
    # the paper's rows follow those of the others, as a run of all papers would write them
    (tmp_path / "alone.json").write_text('{"papers": ["toy"]}')
    tables, alone = ["verdicts.parquet", "joint.parquet"], ["--config=config/config.yaml"]
    alone += ["--config=alone.json"]
    made.command("verdicts", *alone, found, "--out", tables[0], "--joint", tables[1])
    made.command("record", *alone, *tables, "alone")
    for name in ("verdicts.csv", "findings.csv"):
        _, *lines = (tmp_path / "alone" / name).read_text(encoding="utf-8").splitlines(True)
        with (tmp_path / "audit" / name).open("a", encoding="utf-8") as file:
            file.writelines(lines)
    lock = json.loads((tmp_path / "results.lock").read_text(encoding="utf-8"))
    for name in ("audit/verdicts.csv", "audit/findings.csv"):  # `fairbandits lock` after a run
        lock["files"][name] = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    (tmp_path / "results.lock").write_text(json.dumps(lock), encoding="utf-8")
    dictionary = made.command("describe")
    (tmp_path / "docs" / "data-dictionary.md").write_text(dictionary, encoding="utf-8")
    made.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", QUICK, *KERNELS)

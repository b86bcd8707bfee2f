"""What docs/adding-a-*.md tell to write is picked up: policy, paper, figure and claim."""

import hashlib
import json
import re

import pytest

import own_policy
from commands import Copy, process
from fairbandits.settings.schemas import ROOT

#: What is copied; the workflow reads no more to say what it would run.
COPIED = ("Snakefile", "config", "papers", "src", "workflow", "notebooks", "environment.yml")
DOCS = ("policy", "paper", "figure", "claim")
#: What is changed in a file that is there: what one text becomes; and a block at the end.
BECOMES = re.compile(r"^In \*\*`(\S+)`\*\*, `([^`]+)` becomes\s`([^`]+)`\.$", re.MULTILINE)
AT_END = re.compile(
    r"^At the end of \*\*`(\S+)`\*\*:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
#: A file of the project that a document names.
NAMED = re.compile(r"`((?:src|docs|workflow|papers|config|tests)/[\w./-]+)`")

pytestmark = pytest.mark.workflow


def text_of(doc):
    return (own_policy.DOCS / f"adding-a-{doc}.md").read_text(encoding="utf-8")


def project_with(folder, copied, docs):
    """Return a copy of the project with what some of the documents show."""
    made = Copy(folder, copied)
    made.written = {own_policy.NAME: own_policy.SOURCE}
    for doc in docs:
        made.written |= own_policy.shown(f"adding-a-{doc}.md")
    for name, content in made.written.items():
        assert not (folder / name).exists(), name
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    for text in map(text_of, docs):
        for file, old, new in BECOMES.findall(text):
            made.change(file, old, new)
        for file, block in AT_END.findall(text):
            with (folder / file).open("a", encoding="utf-8") as end:
                end.write(block)
    (line,) = re.findall(r'`("\w+": "\w+:\w+",)`', text_of("policy"))
    made.change("src/fairbandits/policies/__init__.py", "HOMES = {\n", f"HOMES = {{\n    {line}\n")
    made.change("config/config.yaml", "bf_ucb", "bf_ucb, toy")
    return made


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    return project_with(tmp_path_factory.mktemp("extended"), COPIED, DOCS)


def test_documents_name_files_that_are_there(extended):
    for doc in DOCS:
        for name in NAMED.findall(text_of(doc)):
            name = name.replace("SLUG", "toy").replace("observers/NAME", "observers/plays")
            name = name.replace("NAME", "explore_first")
            parts = ("audit.yaml", "glossary.yaml", "published.yaml", "numbers.yaml", "measures.py")
            optional = name in [f"papers/toy/{part}" for part in parts]
            assert optional or any((home / name).exists() for home in (ROOT, extended.folder)), name
        for name in re.findall(r"\]\(([^)#:]+)\)", text_of(doc)):
            assert (ROOT / "docs" / name).is_file(), name
    assert len(extended.written) == 6
    figure, claim = text_of("figure"), text_of("claim")
    assert [len(pattern.findall(figure)) for pattern in (BECOMES, AT_END)] == [2, 1]
    assert len(AT_END.findall(claim)) == 1


def test_the_workflow_would_run_them(extended):
    said = extended.python("-m", "snakemake", "-n", "toy_fig1", "report", "--quiet", "host")
    jobs = set(re.findall(r"^(?:local)?rule (\w+):$", said, re.MULTILINE))
    assert {"toy_fig1", "toy_fig2", "simulate_toy_figures_1", "collect_toy_figures_1"} <= jobs
    made = ("toy/two_arms.parquet", "notebooks/toy.ipynb", "audit/toy.parquet")
    for file in (*(f"figures/toy/fig{k}.svg" for k in (1, 2)), *(f"results/{f}" for f in made)):
        assert file in said


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
results, seed = Path("tried"), config.root_seed
chunks = [results / run.chunk_file(run.chunks()[0]) for run in one.runs]
for each, file in zip(one.runs, chunks, strict=True):
    write_chunk(each.spec, seed, range(each.replicates), file, compiled=False)
collect(chunks, one.facts(), seed, results / one.dataset)
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
}))
"""


def test_they_are_run_drawn_and_judged(extended):
    said = json.loads(extended.python("-c", CODE))
    assert said["policies"] == ["explore_first", "ucb1", "my_policies:FairGreedy"]
    assert said["public"] == 3
    assert not said["message"]
    assert said["n"] == said["replicates"] > 1
    for name, quantity in (("fig1", "cumulative reward"), ("fig2", "pulls of arm 1")):
        drawn = (extended.folder / "tried" / f"{name}.svg").read_text(encoding="utf-8")
        for word in (*said["labels"], quantity):
            assert f">{word}</text>" in drawn
    assert "Mean over the replicates of the pulls of arm 1 up to round t" in said["described"]
    notebook = json.loads((extended.folder / "notebooks/toy.ipynb").read_text(encoding="utf-8"))
    assert "fig2" in notebook["cells"][-1]["source"][-1]


#: As in `make test-fast`, of the files that read the configuration or the folders of papers.
QUICK = "not browser and not workflow and not slow and not kernels and not campaign and not slurm"
OF_PAPERS = re.compile(r"^(import|from) (real|small)\b|config\.yaml|papers/\*", re.M)


@pytest.mark.slow
def test_the_quick_tests_pass_with_one_more_paper(tmp_path):
    listed = process("git", "ls-files", cwd=ROOT).stdout.splitlines()
    names = dict.fromkeys(name.partition("/")[0] for name in listed)
    made = project_with(tmp_path, names, ("policy", "paper"))
    findings = "results/audit/toy.parquet"
    made.python("-m", "snakemake", "--cores", "1", "--", "toy_fig1", findings)
    # the paper's rows follow those of the others, as a run of all papers would write them
    (tmp_path / "alone.json").write_text('{"papers": ["toy"]}')
    tables, alone = ["verdicts.parquet", "joint.parquet"], ["--config=config/config.yaml"]
    alone += ["--config=alone.json"]
    made.command("verdicts", *alone, findings, "--out", tables[0], "--joint", tables[1])
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
    files = sorted(tmp_path.glob("tests/*/test_*.py"))
    files = [file for file in files if not file.name.startswith("test_measures_")]  # of one paper
    files = [file for file in files if OF_PAPERS.search(file.read_text(encoding="utf-8"))]
    made.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", QUICK, *files)

"""The workflow as a user meets it: run, rerun, killed, edited, misspelt, started twice."""

import html
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
import yaml

import real
from commands import Copy, process, wait_for
from fairbandits.data.store import read_table
from fairbandits.settings.schemas import ROOT, merge

SMOKE = ["config/config.yaml", "config/smoke.yaml"]
#: Where the jobs that simulate say what they do.
LOGS = "results/smoke/logs/simulate"
#: One replicate in a chunk, and few chunks in a process.
IN_PARTS = {"job_seconds": 0.1, "limits": {"chunk": 1}}
#: A suite of the audit in which one instance is edited.
SUITE = "suite_bandit"
#: What is run of the audit where a part is compared with the whole.
PART = "no_penalty_full"
#: What is made anew where there is another policy.
LISTING = {"manifest", "claims", "notebook", "site", "all"}

pytestmark = pytest.mark.workflow


class Project(Copy):
    def __init__(self, folder: Path, cache: Path):
        if not (ROOT / ".git").exists():
            pytest.skip("a copy has the files that git lists, and this is no checkout")
        listed = process("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).stdout
        names = [name for name in listed.splitlines() if (ROOT / name).is_file()]
        # its processes need not compile every module again
        names += [str(file.relative_to(ROOT)) for file in (ROOT / "src").rglob("*.pyc")]
        left_out = ("figures/", "audit/", "tests/")
        super().__init__(folder, [name for name in names if not name.startswith(left_out)])
        self.environment["FAIRBANDITS_CACHE_DIR"] = str(cache)

    def start(self, *command: str) -> subprocess.Popen:
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        how |= {"cwd": self.folder, "env": self.environment, "start_new_session": True}
        return subprocess.Popen(command, **how)

    def run(self, *command: str, code: int = 0) -> str:
        started = self.start(*command)
        output, _ = started.communicate(timeout=1800)
        assert started.returncode == code, output
        return output

    def replicate(self, *targets: str, code: int = 0) -> str:
        return self.run("fairbandits", "replicate", "--smoke", *targets, code=code)

    def dry_run(self, *targets: str) -> str:
        return self.run("snakemake", "-n", *targets, "--configfile", *SMOKE)

    def lock(self, *configs: str) -> dict[str, str]:
        options = [word for file in (*SMOKE, *configs) for word in ("--config", file)]
        self.run("fairbandits", "lock", *options, "--out", "found.lock")
        return json.loads((self.folder / "found.lock").read_text())["runs"]

    def merge(self, file: str, settings: dict) -> None:
        path = self.folder / file
        path.write_text(yaml.safe_dump(merge(yaml.safe_load(path.read_text()), settings)))

    def keep_a_part(self) -> None:
        """Leave one paper's figures and an experiment of the audit."""
        self.merge("config/config.yaml", {"papers": ["banditq"]})
        file = self.folder / "papers" / "banditq" / "audit.yaml"
        content = yaml.safe_load(file.read_text())
        content["experiments"] = {PART: content["experiments"][PART]}
        file.write_text(yaml.safe_dump(content))

    def cut_small(self) -> None:
        self.merge("config/smoke.yaml", IN_PARTS)

    def chunks(self) -> set[Path]:
        return set((self.folder / "results/smoke/cache").rglob("[!.]*.parquet"))

    def append(self, file: str, text: str) -> None:
        path = self.folder / file
        path.write_text(path.read_text() + text)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("numba")


@pytest.fixture(scope="module")
def finished(tmp_path_factory, cache):
    project = Project(tmp_path_factory.mktemp("finished"), cache)
    return project, project.replicate()


@pytest.fixture(scope="module")
def whole(finished):
    project, _ = finished
    return project.lock()


@pytest.fixture
def fresh(tmp_path, cache):
    return Project(tmp_path, cache)


def test_a_run_makes_figures_data_and_site_and_says_where(finished):
    project, output = finished
    smoke = project.folder / "results" / "smoke"
    figures = ["/".join(names) for names in real.config().figures]
    for name in figures:
        for file in (f"figures/{name}.svg", f"figures/{name}.png", f"{name}.parquet"):
            assert (smoke / file).is_file()
    assert f"{len(figures)} figures" in output
    assert f"figures {len(figures)} of {len(figures)}, almost done (site, " in output
    for name in ("findings.parquet", "verdicts.parquet", "verdicts.csv", "findings.csv"):
        assert (smoke / "audit" / name).is_file()
    # two of each random instance, of which `words` in config/smoke.yaml allows four
    rows = read_table(smoke / "audit" / "findings.parquet").to_pylist()
    assert [row["n"] for row in rows if row["claim"] == "htucb-eq7-lp"] == [8]
    (claims,) = (line for line in output.splitlines() if line.startswith("Audit: "))
    count = sum(len(paper.claims) for paper in real.papers().values())
    assert claims.startswith(f"Audit: {count} claims were judged; no verdict counts here; ")
    assert claims.endswith("; results/smoke/audit/verdicts.csv")
    assert "Its numbers and figures say nothing about the paper" in output
    assert "results/smoke/site/index.html" in output
    assert (smoke / "site" / "index.html").is_file()
    # nothing outside the folders of the smoke run
    assert {path.name for path in (project.folder / "results").iterdir()} == {"smoke"}
    assert not (project.folder / "figures").exists()
    assert not (project.folder / "audit").exists()


def test_what_is_deleted_is_made_anew(finished):
    project, _ = finished
    names = {"figures/banditq/fig1.png": "banditq_fig1", "site/banditq.html": "site"}
    files = [project.folder / "results" / "smoke" / name for name in names]
    moved = [file.rename(file.with_suffix(".aside")) for file in files]
    planned = project.dry_run()
    for file, aside in zip(files, moved, strict=True):
        aside.rename(file)  # as old as it was
    assert all(f"rule {rule}:" in planned for rule in names.values())
    assert "rule simulate" not in planned


def test_a_variant_is_drawn_in_its_own_folder_and_says_what_it_is(finished):
    project, _ = finished
    before = times_outside(project, "results/v06")
    change = "oracle_lfg.banditq.V_exponent"
    command = ["banditq_fig7", "--set", f"{change}=0.6", "--out", "results/v06"]
    output = project.replicate(*command)
    assert "Settings were changed" in output
    title = "banditq.V_exponent = 0.6 in place of 0.5"
    assert title in (project.folder / "results/v06/figures/banditq/fig7.svg").read_text()
    assert times_outside(project, "results/v06") == before
    assert "did you mean 'banditq_fig7'" in project.replicate("banditq_fig77", code=1)


def times_outside(project, folder):
    """Return when files were changed, but for those in a folder, Snakemake's and compiled ones."""
    folders = (project.folder / folder, project.folder / ".snakemake")
    paths = (path for path in project.folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {
        path: path.stat().st_mtime_ns
        for path in paths
        if not any(path.is_relative_to(folder) for folder in folders)
    }


@pytest.fixture(scope="module")
def in_chunks(tmp_path_factory, cache):
    """A part of the project after a run with other chunks, in other bundles, on one core."""
    project = Project(tmp_path_factory.mktemp("in_chunks"), cache)
    project.keep_a_part()
    (project.folder / "one.yaml").write_text(yaml.safe_dump(IN_PARTS))
    project.run("snakemake", "datasets", "--cores", "1", "--configfile", *SMOKE, "one.yaml")
    return project


def test_numbers_do_not_depend_on_cores_or_chunks(finished, whole, in_chunks):
    project, _ = finished
    logs = [list((run.folder / LOGS).glob("*_banditq_*.log")) for run in (project, in_chunks)]
    assert len(logs[1]) > 2 * len(logs[0])  # there were really more jobs, of a part of the work
    assert_same_numbers(in_chunks.lock("one.yaml"), whole)


def outputs(planned):
    lines = re.findall(r"^    output: (.*)$", planned, flags=re.MULTILINE)
    return {name for line in lines for name in line.split(", ")}


def assert_same_numbers(part, whole):
    assert any(key.startswith(f"banditq/{PART}_") for key in part)
    assert part == {key: whole[key] for key in part}


def kill_after_a_chunk(project):
    """Start a small run and kill it, jobs and all, at its first chunk."""
    before = project.chunks()
    # one job after another: many cores would finish all of them at once
    process = project.start("fairbandits", "replicate", "--smoke", "--cores", "1", "datasets")
    wait_for(lambda: project.chunks() - before or process.poll() is not None)
    at_work = process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    said, _ = process.communicate()
    assert at_work, said


def test_a_run_killed_three_times_ends_with_the_same_numbers(whole, fresh):
    fresh.keep_a_part()
    fresh.cut_small()
    for _ in range(3):
        kill_after_a_chunk(fresh)
    done = fresh.chunks()
    output = fresh.replicate("datasets")
    assert "taking up where it stopped" in output
    assert done < fresh.chunks()
    assert_same_numbers(fresh.lock(), whole)
    left_over = [path for path in fresh.folder.rglob(".*.parquet") if path.is_file()]
    assert "Nothing to be done" in fresh.dry_run("datasets"), left_over


def test_snakemake_and_the_command_refuse_each_other(fresh):
    lock = fresh.folder / ".snakemake" / "fairbandits.lock"
    command = ("fairbandits", "replicate", "--smoke", "datasets")
    snakemake = ("snakemake", "datasets", "--cores", "1", "--configfile", *SMOKE)
    # another scale makes other files, for which Snakemake has no lock
    preview = (*snakemake[:-1], "config/preview.yaml")
    # the command takes up what a killed Snakemake leaves, and not the other way round
    for started, others in ((snakemake, (command, preview)), (command, (command,))):
        first = fresh.start(*started)
        wait_for(lambda pid=str(first.pid): lock.exists() and pid in lock.read_text())
        for other in others:
            refused = fresh.run(*other, code=1)
            assert f"Another run is at work in this folder (process {first.pid} of " in refused
        assert first.poll() is None
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate()


def jobs_in(planned):
    """Return the rules that a dry run would carry out, each with its paper, if it has one."""
    blocks = re.split(r"^(?:local)?rule (?=\w+:$)", planned, flags=re.MULTILINE)[1:]
    return {
        (block.partition(":")[0], *re.findall(r"wildcards: paper=(\w+)", block)) for block in blocks
    }


def test_edits_make_stale_what_depends_on_them_and_nothing_else(finished):
    project, _ = finished
    source = project.folder / "src" / "fairbandits"
    files = ("figures/banditq.py", "engine/laws.py", "audit/exact.py")
    files += ("policies/bf_ucb.py", "policies/__init__.py")
    kept = {name: (source / name).read_text() for name in files}

    def restore():
        for name, text in kept.items():
            (source / name).write_text(text)

    for name in ("audit/exact.py", "figures/banditq.py", "policies/bf_ucb.py"):
        project.append(f"src/fairbandits/{name}", "A = 1\n")
    jobs = jobs_in(project.dry_run())
    rules = {rule for rule, *_ in jobs}
    assert {("audit_paper", paper) for paper in ("banditq", "fair_ucb", "ht_ucb")} <= jobs
    assert {"verdicts", "audit", "notebook", "banditq_fig1", "bf_ucb_fig1a"} <= rules
    assert "fair_ucb_fig2" not in rules
    simulated = " ".join(rule for rule in rules if rule.startswith(("simulate_", "collect_")))
    assert "simulate_bf_ucb" in simulated
    assert not any(f"_{paper}_" in simulated for paper in ("banditq", "fair_ucb", "ht_ucb"))
    folders = ["--results", "results/smoke"]
    assert "is stale" in project.run("fairbandits", "claims", *folders, code=1)
    restore()

    (source / "policies" / "mine.py").write_text("from fairbandits.policies import UCB1 as Mine\n")
    start, table = "HOMES = {\n", "src/fairbandits/policies/__init__.py"
    project.change(table, start, f'{start}    "me": "mine:Mine",\n')
    planned = project.dry_run()  # the page of the library lists policies
    assert {rule for rule, *_ in jobs_in(planned)} <= LISTING
    (source / "policies" / "mine.py").unlink()
    restore()

    project.append("src/fairbandits/engine/laws.py", "A = 1\n")
    assert "rule simulate" in project.dry_run()
    data = "results/smoke/banditq/full_information.parquet"
    out = ["--svg", "x.svg", "--png", "x.png", "--table", "x.parquet"]
    refused = project.run("fairbandits", "figure", "banditq", "fig1", data, *out, code=1)
    assert "is stale" in refused
    restore()
    assert "Nothing to be done" in project.dry_run()


def test_a_change_of_one_experiment_reruns_only_that(finished):
    """A parameter of one experiment, and a title in the audit, which is in the dataset alone."""
    project, _ = finished
    kept = {}
    for file, experiment, old, new in (
        ("experiments", "oracle_lfg", "eta: {value: 100,", "eta: {value: 50,"),
        ("audit", SUITE, "title: Growth with T under bandit", "title: Under bandit"),
    ):
        path = project.folder / "papers" / "banditq" / f"{file}.yaml"
        kept[path] = path.read_text()
        at = kept[path].index(f"  {experiment}:\n")
        path.write_text(kept[path][:at] + kept[path][at:].replace(old, new, 1))
        assert path.read_text() != kept[path]
    planned = project.dry_run("datasets")
    for path, text in kept.items():
        path.write_text(text)
    # nothing but their bundles, and no figure of another experiment
    jobs = {"simulate_banditq_figures_1", "collect_banditq_figures_1", "collect_banditq_evidence_1"}
    assert {rule for rule, *_ in jobs_in(planned) if rule not in ("datasets", "all")} == jobs
    for experiment in ("oracle_lfg", SUITE):
        assert any(f"banditq/{experiment}" in name for name in outputs(planned))


def test_a_mistake_in_a_claim_stops_at_once(fresh):
    file = fresh.folder / "papers" / "fair_ucb" / "claims.py"
    file.write_text(file.read_text().replace('run.end("r_regret")', 'run.end("r_regrets")'))
    target = "results/audit/fair_ucb.checked"
    output = fresh.run("snakemake", target, "--cores", "1", code=1)
    said = (fresh.folder / "logs" / "audit" / "fair_ucb_checked.log").read_text()
    assert "no measure 'r_regrets'; did you mean 'r_regret'?" in said
    assert "claims.py, line " in said
    assert "Traceback" not in output + said
    assert not (fresh.folder / target).exists()


def test_the_readme_shows_the_rule_graph(finished):
    project, _ = finished
    project.run("snakemake", "rulegraph", "--cores", "1", "--configfile", *SMOKE)
    drawn = (project.folder / "results" / "smoke" / "rules.dot").read_text()
    assert drawn == (ROOT / "docs" / "rules.dot").read_text()
    picture = (ROOT / "docs" / "rules.svg").read_text()  # dot -Tsvg docs/rules.dot
    arrows = re.findall(r'"(\S+)" -> "(\S+)"', drawn)
    titles = map(html.unescape, re.findall(r"<title>(.*)</title>", picture))
    assert sorted(title for title in titles if "->" in title) == [f"{a}->{b}" for a, b in arrows]

"""What the workflow's rules are given: files, fingerprints, needs, and the last words of a run."""

import os
import time
from functools import reduce

import pytest

import real
from fairbandits.audit.claims import claims_of
from fairbandits.audit.judge import Verdict
from fairbandits.audit.rows import read, verdict_row, write
from fairbandits.audit.totals import tally
from fairbandits.cli import workflow
from fairbandits.cli.workflow import FEW, Plan
from fairbandits.replication.progress import PROGRESS, Progress
from fairbandits.settings.schemas import ROOT, ConfigError, merge, read_yaml

FIGURES = ["banditq_fig1", "banditq_fig2"]


def settings(*more):
    return reduce(merge, more, read_yaml(ROOT / "config" / "config.yaml"))


@pytest.fixture(scope="module")
def plan():
    return Plan(settings(), ROOT)


@pytest.fixture(scope="module")
def variant():
    changes = {"oracle_lfg.banditq.V_exponent": 0.6}
    given = {"scale": "variant", "papers": ["banditq"], "changes": changes, "replicates": 20}
    return Plan(settings(given), ROOT)


@pytest.fixture
def placed(plan, tmp_path, monkeypatch):
    """Return the plan with all its folders in a temporary one, and nothing made yet."""
    folders = {name: str(tmp_path / name) for name in plan.config.folders}
    for name in folders:
        (tmp_path / name).mkdir()
    monkeypatch.setitem(plan.config.__dict__, "folders", folders)
    monkeypatch.setattr(Progress, "made", set())
    return plan


def test_a_variant_has_figures_and_datasets_alone(variant):
    assert variant.verdicts == variant.site_verdicts == []
    assert variant.arena_tables == variant.arena_datasets == []
    assert "fair_ucb" not in variant.pages
    assert variant.images
    made = [f"<results>/{file}" for job in variant.collections for file in job.outputs]
    assert sorted(made) == sorted(variant.datasets)


def test_figures_say_what_they_show(plan):
    drawings = [plan.drawing(paper, name) for paper, name in plan.config.figures]
    by_place = {drawing.place: drawing for drawing in drawings}
    first, both, replayed = (by_place[f"banditq/fig{k}"] for k in (1, 5, 8))
    other = by_place["bf_ucb/fig1b"]
    assert first.code == both.code == replayed.code != other.code
    assert (first.category, other.category) == ("BanditQ", "BF-UCB")
    assert other.labels == {"figure": "1b", "quantity": "reward regret, low separation"}
    results = "<results>/banditq"
    assert first.inputs == {"data": [f"{results}/full_information.parquet"]}
    assert both.inputs == {
        "data": [f"{results}/bandit_feedback.parquet"],
        "published": f"{results}/replay_5_bandit.parquet",
    }
    assert replayed.inputs == {
        "data": [],
        "published": f"{results}/replay_1000_full.parquet",
        "read_off": "papers/banditq/published.yaml",
    }
    assert len(by_place["fair_ucb/fig3"].inputs["data"]) == 4


def test_a_figure_that_nothing_draws_is_refused(plan, monkeypatch):
    monkeypatch.setitem(workflow.PAPERS, "ht_ucb", {"fig1": workflow.PAPERS["ht_ucb"]["fig1"]})
    with pytest.raises(
        ConfigError, match=r"has fig2, which nothing draws in .*ht_ucb\.py; did you"
    ):
        plan.drawing("ht_ucb", "fig2")


def test_jobs_ask_for_what_they_took_before(placed, tmp_path):
    job = placed.simulations[0]
    file = tmp_path / "benchmarks" / "simulate" / f"{job.name}.tsv"
    file.parent.mkdir(parents=True)
    file.write_text("s\tmax_rss\n1200\t4000\n")
    placed.expect(cores=3)
    assert PROGRESS.cores == 3
    assert PROGRESS.expected[job.name] == 1200
    assert PROGRESS.expected.keys() >= {task.name for task in placed.collections}
    assert placed.needs_of(f"simulate/{job.name}", 1) == {"mem_mb": 6000, "runtime": 60}


def test_a_run_says_last_what_it_made(placed, tmp_path, monkeypatch):
    figures, results = tmp_path / "figures", tmp_path / "results"
    assert placed.closing_lines() == f"Made in {results}"
    monkeypatch.setattr(Progress, "made", {*FIGURES, "site"})
    assert placed.closing_lines().splitlines() == [
        f"Figure: {figures}/banditq/fig1.svg",
        f"Figure: {figures}/banditq/fig2.svg",
        f"Report: {results}/site/index.html",
    ]
    names = [f"{paper}_{figure}" for paper, figure in placed.config.figures]
    monkeypatch.setattr(Progress, "made", set(names[: FEW + 1]))
    assert placed.closing_lines() == f"{FEW + 1} figures in {figures}"
    monkeypatch.setattr(Progress, "made", {"arena"})
    asked, answer, *_, page = placed.closing_lines().splitlines()
    assert asked.startswith("Which policy")
    assert answer.startswith("  minimum pulls: Fair-UCB, α = 0; keeps it for T = ")
    assert page.startswith(f"Page: {results}/site/arena.html")


def test_a_run_says_the_verdicts_of_its_own_results(placed, tmp_path, monkeypatch):
    monkeypatch.setattr(Progress, "made", {"audit"})
    table, judged = tmp_path / "audit" / "verdicts.csv", tmp_path / "results" / "audit"
    table.touch()
    assert placed.closing_lines() == f"Made in {tmp_path / 'results'}"
    papers, outcome = real.papers(), {"verdict": "reproduced", "grade": "measured"}
    verdicts = [
        Verdict(claim=claim, headline=True, **outcome) for claim in claims_of(papers).values()
    ]
    rows = [verdict_row(papers, verdict) for verdict in verdicts]
    write(judged / "verdicts.parquet", "verdicts", rows, papers, "paper")
    said = tally(read(judged / "verdicts.parquet", papers).rows)
    assert placed.closing_lines() == f"Audit: {said}; {table}"
    monkeypatch.setattr(Progress, "made", {"notebook", "site"})  # nothing had to be judged
    assert placed.closing_lines().startswith(f"Audit: {said}; {table}\nReport: ")


@pytest.mark.parametrize("chosen", [{"seed": 7}, {"salt": "x"}])
def test_other_data_are_not_written_over_what_is_published(chosen):
    given = settings({"papers": ["banditq"]}, chosen)
    with pytest.raises(ConfigError, match="would write over the published results and figures"):
        Plan(given, ROOT)


def test_numbers_are_read_where_snakemake_reads_texts():
    folders = dict.fromkeys(("results", "figures", "audit", "logs", "benchmarks"), "else")
    given = {"papers": ["banditq"], "scale": "variant", "seed": 1, "pathvars": folders}
    given |= {"salt": "1e3", "job_seconds": "1e1", "replicates": "2E1"}
    config = Plan(settings(given), ROOT).config
    assert (config.salt, config.job_seconds, config.runs[0].replicates) == ("1e3", 10, 20)


def test_a_paper_is_its_figures_and_findings(plan, variant):
    targets = plan.of_paper("ht_ucb")
    assert targets[-1] == "<results>/audit/ht_ucb.parquet"
    assert {target.split("/")[1] for target in targets[:-1]} == {"ht_ucb"}
    assert len(targets) == 1 + 3 * 4
    assert len(variant.of_paper("banditq")) == 3 * len(variant.config.figures)


def test_files_of_the_future_are_dated_now(placed, tmp_path):
    early, late = tmp_path / "results" / "early.parquet", tmp_path / "figures" / "late.svg"
    now = time.time()
    for file, when in ((early, now - 100), (late, now + 86400)):
        file.touch()
        os.utime(file, (when, when))
    placed.date_now()
    assert early.stat().st_mtime == pytest.approx(now - 100, abs=1)
    assert now - 1 <= late.stat().st_mtime <= time.time()

"""A run of more rounds and replicates, and the cut of the work: settings, and no code."""

import pytest

import shrunk
from fairbandits.replication.bundles import jobs_of
from fairbandits.settings import experiments
from fairbandits.settings.config import build_config, load_config
from fairbandits.settings.costs import seconds_of_replicate
from fairbandits.settings.marks import mark
from fairbandits.settings.schemas import ROOT, ConfigError

SMALL = shrunk.settings(["banditq"], 1)
BANDITQ = {key: value for key, value in SMALL.items() if key != "limits"} | {"scale": "paper"}
FACTORS = {"horizon": 10, "replicates": 10}


def test_a_large_run_multiplies_rounds_and_replicates_and_keeps_the_published_rounds():
    paper, large = (
        load_config([ROOT / "config" / name for name in names])
        for names in (["config.yaml"], ["config.yaml", "large.yaml"])
    )
    for small, big in zip(paper.experiments, large.experiments, strict=True):
        assert large.seed_of(big) == paper.seed_of(small)
    assert not set(large.folders.values()) & set(paper.folders.values())
    assert [run.key for run in large.runs] == [run.key for run in paper.runs]
    for small, big in zip(paper.runs, large.runs, strict=True):
        assert big.spec.horizon == 10 * small.spec.horizon
        assert big.replicates == 10 * small.replicates
        rounds, more = small.spec.checkpoints, big.spec.checkpoints
        if "at" in rounds:
            assert {*rounds["at"], big.spec.horizon} <= set(more["at"])
        assert set(small.spec.horizons) <= set(big.spec.horizons)
    assert large.scale_name == "large"
    assert large.scale != "paper"  # so that its verdicts do not take the place of the published
    jobs, _ = jobs_of(large)
    assert len(jobs) < 2000  # some minutes each


def test_a_large_run_is_called_larger_than_published():
    large = build_config(BANDITQ | {"scale": "large", "factors": FACTORS}, "test")
    said = mark([large.experiment("banditq", "oracle_lfg").facts()])
    assert said == (
        "large scale: larger than published; 3000000 rounds in place of 300000, "
        "5000 replicates in place of 500"
    )


def test_a_run_longer_than_its_round_numbers_are_exact_is_refused(monkeypatch):
    monkeypatch.setattr(experiments, "LONGEST", 2_999_999)
    with pytest.raises(ConfigError, match=r": horizon must be at most 2\*\*53, got \d{7,}$"):
        build_config(BANDITQ | {"scale": "large", "factors": FACTORS}, "test")


def test_a_finer_cut_has_more_jobs_of_the_same_replicates():
    usual, finer = (build_config(BANDITQ | more, "test") for more in ({}, {"job_seconds": 5}))
    seconds = {}
    for config in (usual, finer):
        jobs, _ = jobs_of(config)
        seconds[config.job_seconds] = [job.seconds for job in jobs]
    assert len(seconds[5]) > 5 * len(seconds[60])
    for run in finer.runs:
        assert run.chunk == 1 or run.chunk * seconds_of_replicate(run.spec) <= 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scale": "large"}, "scale large needs the factors of config/large.yaml"),
        ({"scale": "preview"}, "scale preview needs the limits of config/preview.yaml"),
        (
            {"scale": "variant", "seed": "ledger"},
            "scale variant needs changes, replicates or a seed",
        ),
        ({"replicates": 5}, "replicates needs scale variant, got paper"),
        ({"limits": {"replicates": 5}}, "limits need another scale than paper"),
        ({"scale": "variant", "replicates": 1}, "must be a whole number of at least 2"),
        ({"factors": FACTORS}, "factors need another scale than paper, such as large"),
        (SMALL | {"factors": FACTORS}, "limits and factors exclude each other"),
        ({"job_seconds": 0}, "job_seconds"),
        ({"factors": {"horizon": 0, "replicates": 1}}, "factors.horizon"),
    ],
)
def test_mistakes_are_named(settings, message):
    with pytest.raises(ConfigError, match="test: ") as refused:
        build_config(BANDITQ | settings, "test")
    assert message in str(refused.value)

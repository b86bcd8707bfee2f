"""The configuration: what it holds at each scale, and what is not there."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import real
from fairbandits.engine.laws import CODES
from fairbandits.replication.bundles import jobs_of
from fairbandits.settings.config import Run, build_config, load_config
from fairbandits.settings.marks import mark
from fairbandits.settings.papers import LAWS
from fairbandits.settings.schemas import ROOT, ConfigError, read_yaml

CONFIG = ROOT / "config" / "config.yaml"
FILES = [*ROOT.glob("papers/*/experiments.yaml"), *ROOT.glob("papers/*/audit.yaml")]


@pytest.fixture(scope="module")
def published():
    return real.config()


def at_scale(name):
    return load_config([CONFIG, ROOT / "config" / f"{name}.yaml"])


def numbers(tree, path=()):
    """Yield the path of each number in a tree, and the mapping nearest above it."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from numbers(value, (*path, key))
        elif isinstance(value, int | float | list) and not isinstance(value, bool):
            yield (*path, key), tree


@pytest.mark.parametrize("file", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_number_says_where_it_comes_from(file):
    experiments = read_yaml(file)["experiments"]
    sourced = 0
    for path, around in numbers(experiments):
        # how a run is cut into files and what it records decides no published number
        unsourced = {"figures", "companion_to", "checkpoints", "record"}
        if unsourced & set(path) or path[-1] in ("chunk", "observe"):
            continue
        if "value" in path[:-1]:  # inside a value that is a form of its own
            continue
        assert path[-1] == "value", path
        assert around.keys() == {"value", "provenance", "source"}, path
        sourced += 1
    assert sourced >= 4 * len(experiments)


def test_a_smoke_run_is_smaller(published):
    smoke, limits = at_scale("smoke"), read_yaml(ROOT / "config" / "smoke.yaml")["limits"]
    assert (smoke.scale, smoke.seed) == ("smoke", published.seed)
    for small, large in zip(smoke.experiments, published.experiments, strict=True):
        arms = large.drawn_means.get("arms", len(large.means))
        assert small.horizon == max(limits["horizon"], arms) < large.horizon
        assert small.replicates == min(limits["replicates"], large.replicates)
    for small, large in zip(smoke.runs, published.runs, strict=True):
        assert small.key == large.key
        assert small.chunk == min(limits["chunk"], large.chunk)
        most = max(limits["horizon"], large.spec.n_arms)
        cut = {"horizon": most, "checkpoints": limits["checkpoints"]}
        if "at" in large.spec.checkpoints:
            cut["checkpoints"] = {"at": cut_rounds(large.spec.checkpoints["at"], most)}
        if large.spec.horizons:
            cut["horizons"] = tuple(cut_rounds(large.spec.horizons, most))
        assert small.spec == replace(large.spec, **cut)


def cut_rounds(rounds, most):
    """Return the rounds that a smoke run keeps, when not all of them."""
    assert rounds[-1] > most
    return [checkpoint for checkpoint in rounds if checkpoint < most] + [most]


def test_a_preview_has_the_published_rounds_and_few_replicates(published):
    preview = at_scale("preview")
    for few, full in zip(preview.experiments, published.experiments, strict=True):
        assert few.replicates == min(3, full.replicates)
        if full.figures or full.companion_to:
            assert [run.spec for run in few.runs] == [run.spec for run in full.runs]
            cut = f"3 replicates in place of {full.replicates}"
            assert mark([few.facts()]) == f"preview scale: not results; {cut}"
        else:
            assert few.horizon == max(300, few.runs[0].spec.n_arms)


def test_a_large_run_multiplies_rounds_and_replicates_and_keeps_the_published_rounds(published):
    large = at_scale("large")
    assert large.root_seed == published.root_seed
    for small, big in zip(published.runs, large.runs, strict=True):
        assert big.key == small.key
        assert big.spec.horizon == 10 * small.spec.horizon
        assert big.replicates == 10 * small.replicates
        rounds, more = small.spec.checkpoints, big.spec.checkpoints
        if "at" in rounds:
            assert {*rounds["at"], big.spec.horizon} <= set(more["at"])
        assert set(small.spec.horizons) <= set(big.spec.horizons)
    assert large.scale_name == "large"
    assert large.scale != "paper"  # so that its verdicts do not take the place of the published
    said = mark([large.experiment("banditq", "oracle_lfg").facts()])
    assert said == (
        "large scale: larger than published; 3000000 rounds in place of 300000, "
        "5000 replicates in place of 500"
    )
    jobs, _ = jobs_of(large)
    assert len(jobs) < 2000  # some minutes each


@pytest.mark.parametrize("scale", ["smoke", "preview", "large"])
def test_each_scale_writes_into_folders_of_its_own(scale, published):
    folders = at_scale(scale).folders
    assert folders.keys() == published.folders.keys()
    for name, folder in folders.items():
        assert Path(folder).is_relative_to(f"results/{scale}"), name
        assert not Path(published.folders[name]).is_relative_to(f"results/{scale}")


@pytest.mark.parametrize(("replicates", "chunk"), [(1, 1), (4, 2), (5, 2), (3, 7), (100, 50)])
def test_chunks_hold_each_replicate_once(replicates, chunk):
    held = []
    for text in Run("paper", "experiment", "run", {}, replicates, chunk).chunks():
        first, last = map(int, text.split("-"))
        assert last - first < chunk
        held += range(first, last + 1)
    assert held == list(range(replicates))


def test_the_laws_are_those_of_the_engine():
    assert sorted(LAWS) == sorted(CODES)


def test_looking_up_what_is_not_there(published):
    wanted = "no experiment 'banditq/fullinformation'; did you mean 'banditq/full_information'?"
    with pytest.raises(ConfigError, match=re.escape(wanted)):
        published.experiment("banditq", "fullinformation")
    with pytest.raises(ConfigError, match="no figure 'banditq_fig9'; did you mean"):
        published.shown_in("banditq", "fig9")


def test_claims_that_are_gone_are_missed(tmp_path):
    for folder in ("audit", "papers/fair_ucb"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "papers" / "fair_ucb" / "claims.py").unlink()
    with pytest.raises(ConfigError) as error:
        build_config(read_yaml(CONFIG) | {"papers": ["fair_ucb"]}, "test", tmp_path)
    wanted = "papers/fair_ucb/claims.py does not exist, but audit/verdicts.csv has"
    assert str(error.value).startswith(wanted)

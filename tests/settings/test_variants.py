"""Runs that are not the published one: changed settings, few replicates, folders and marks."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from fairbandits.cli.launch import check_targets, check_used, targets_of_variant
from fairbandits.settings import variants
from fairbandits.settings.config import build_config
from fairbandits.settings.marks import mark
from fairbandits.settings.schemas import ConfigError

FOLDERS = dict.fromkeys(("results", "figures", "logs", "benchmarks"), "nowhere")


def configured(scale="variant", **settings):
    usual = {"seed": "frozen", "scale": scale, "papers": ["banditq"], "pathvars": FOLDERS}
    return build_config(usual | settings, "test")


@pytest.fixture(scope="module")
def published():
    return configured(scale="paper")


def refused(function, *arguments, **settings):
    """Return the line that says why something cannot be done."""
    with pytest.raises(ConfigError) as error:
        function(*arguments, **settings)
    text = str(error.value)
    assert "\n" not in text
    return text


def test_one_parameter_is_changed_and_nothing_else(published):
    variant = configured(changes={"oracle_lfg.banditq.V_exponent": 0.6}, replicates=20)
    assert variant.scale == "smoke"  # for all that must be of the published scale
    for run, before in zip(variant.runs, published.runs, strict=True):
        assert run.replicates == 20
        if run.key.startswith("banditq/oracle_lfg/banditq-"):
            parameters = {**before.spec.parameters, "V_exponent": 0.6}
            assert parameters != before.spec.parameters
            assert run.spec == replace(before.spec, parameters=parameters)
        else:
            assert run.spec == before.spec
    said = {each.name: each.changed for each in variant.experiments if each.figures}
    few = ("20 replicates in place of 200",)
    change = "banditq.V_exponent = 0.6 in place of 0.5"
    assert said == {
        "full_information": few,
        "bandit_feedback": few,
        "oracle_lfg": (change, "20 replicates in place of 500"),
    }
    facts = variant.experiment("banditq", "oracle_lfg").facts()
    assert mark([facts]) == f"variant: {change}, 20 replicates in place of 500"
    other = variant.experiment("banditq", "bandit_feedback").facts()
    said = f"{change} (oracle_lfg), 20 replicates in place of 500 (oracle_lfg), "
    assert mark([facts, other]) == f"variant: {said}{few[0]} (bandit_feedback)"
    assert mark([other, other | {"experiment": "full_information"}]) == f"variant: {few[0]}"


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("banditq.V_exponent", 0.6, "names no experiment; write full_information.banditq.V_exp"),
        ("oracle_lgf.horizon", 10, "'oracle_lgf.horizon' is of no experiment; did you mean"),
        ("banditq.oracle_lgf.horizon", 10, "did you mean 'oracle_lfg'?"),
        ("oracle_lfg", 10, "oracle_lfg has no setting ''; it has horizon, replicates, means"),
        ("oracle_lfg.banditq.V_exponnt", 0.6, "no setting 'banditq.V_exponnt'; did you mean"),
        ("oracle_lfg.checkpoints", 10, "oracle_lfg has no setting 'checkpoints'"),
        ("oracle_lfg.banditq.V_exponent", 0.5, "oracle_lfg.banditq.V_exponent is 0.5 already"),
        ("oracle_lfg.banditq.V_exponent", "much", "V_exponent must be a number, got 'much'"),
        ("oracle_lfg.horizon", 3, "horizon must be at least the number of arms (5), got 3"),
        ("oracle_lfg.laws", "bernoulli", '"], got bernoulli; write [bernoulli]'),
        ("oracle_lfg.means", 0.5, "a valid list, got 0.5; write a list, such as [0.5]"),
        ("oracle_lfg.lfg.constant", None, "constant must be a number, got None"),
    ],
)
def test_changes_that_cannot_be(name, value, says):
    line = refused(configured, changes={name: value})
    assert says in line
    assert line.startswith("test: changes")


def test_another_seed_is_a_variant_of_all_that_is_drawn(published):
    variant = configured(seed=7)
    assert variant.root_seed == 7
    facts = variant.experiment("banditq", "oracle_lfg").facts()
    assert mark([facts]) == "variant: seed 7 in place of the published one"
    assert [run.spec for run in variant.runs] == [run.spec for run in published.runs]
    figures = targets_of_variant(["banditq"], variant)
    assert figures == targets_of_variant([], variant)
    assert figures == [f"banditq_fig{n}" for n in range(1, 8)]  # those after are of a replay


def test_changes_of_the_command_line():
    given = ["a.b=0.6", 'a.c=["1/2", 0]', "a.d=1e3"]
    settings = variants.settings_of_variant("results/x", given, replicates=20, seed=0)
    folders = settings.pop("pathvars")
    assert folders["results"] == "results/x"
    assert all(Path(folder).is_relative_to("results/x") for folder in folders.values())
    changes = {"a.b": 0.6, "a.c": ["1/2", 0], "a.d": 1000}
    assert settings == {"scale": "variant", "changes": changes, "replicates": 20, "seed": 0}
    for wrong, says in (
        (["a.b"], "got 'a.b'"),
        (["a.b="], "got 'a.b='"),
        (["=3"], "got '=3'"),
        (["a.b=1", "a.b=2"], "--set has a.b twice"),
        (["a.b=["], "--set a.b is not valid YAML"),
        (["a.b=010"], "--set a.b has 010 in line 1"),
    ):
        assert says in refused(variants.settings_of_variant, "x", wrong)


def test_a_variant_has_a_folder_of_its_own(tmp_path):
    root = tmp_path / "project"
    (root / "config").mkdir(parents=True)
    (root / "config" / "smoke.yaml").touch()

    def folder(path):
        return variants.folder_of_variant(Path(path), root, "results", ["banditq"])

    assert folder(root / "results" / "v06") == "results/v06"
    assert folder(tmp_path / "elsewhere") == str(tmp_path / "elsewhere")
    for path in ("results", "figures/x", "results/../papers", "", "x"):
        assert "can hold other files" in refused(folder, root / path)
    for name in ("smoke", "banditq", "cache", "audit", "site"):
        assert "can hold other files" in refused(folder, root / "results" / name)
    other = tmp_path / "other"
    other.mkdir()
    assert folder(other) == str(other)
    (other / "mine.txt").touch()
    assert "has files of something else" in refused(folder, other)


def test_a_folder_has_one_variant(tmp_path):
    settings = variants.settings_of_variant("x", ["a.b=0.6"])
    file = variants.write_variant(settings, tmp_path)
    assert yaml.safe_load(file.read_text()) == json.loads(json.dumps(settings))
    before = file.stat().st_mtime_ns
    assert variants.write_variant(settings, tmp_path) == file  # to take up a run that was stopped
    assert file.stat().st_mtime_ns == before
    other = variants.settings_of_variant("x", ["a.b=0.7"])
    assert "has another variant" in refused(variants.write_variant, other, tmp_path)
    assert yaml.safe_load(file.read_text()) == settings


def test_targets(published):
    check_targets(["banditq_fig7", "figures", "simulate_banditq_figures_1", "x/y.svg"], published)
    line = refused(check_targets, ["figures", "banditq_fig77"], published)
    assert line == "there is nothing called 'banditq_fig77' to make; did you mean 'banditq_fig7'?"
    assert refused(check_targets, ["audits"], published).endswith("did you mean 'audit'?")
    check_targets(["banditq"], published)
    line = refused(check_targets, ["fig7"], published)
    assert "make; write banditq_fig7; there are all, figures, " in line
    assert "the papers banditq, and the figures banditq_fig1, " in line


def test_a_change_that_the_figures_asked_for_do_not_use(published):
    used = "oracle_lfg.banditq.V_exponent"
    for name in (used, f"banditq.{used}"):
        for targets in (["banditq_fig7"], ["banditq_fig2", "banditq_fig7"], ["datasets"], []):
            check_used([name], targets, published)
        line = refused(check_used, [name], ["banditq_fig2"], published)
        drawn = "banditq_fig2 draws full_information; write full_information.SETTING"
        assert line == f"--set {name}: {drawn}"

"""Suites: instances of an experiment, means and quotas by a rule or drawn; and what is refused."""

import copy
import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
import yaml

import naive
import real
from fairbandits import (
    BanditQ,
    BanditQInequalities,
    FairLearn,
    Instance,
    RandomInstance,
    SmallestDeficit,
    run,
)
from fairbandits.data.store import StoreError, read_footer, read_table, write_table
from fairbandits.library.instance import draw_quotas
from fairbandits.replication.datasets import collect, load_dataset
from fairbandits.replication.recorded import runs_of
from fairbandits.replication.simulate import instance_of, simulate_chunk, write_chunk
from fairbandits.settings.config import build_config
from fairbandits.settings.schemas import ConfigError
from fairbandits.settings.spec import depends_on_instance, filled

SEED = 20241121
FOLDERS = ("results", "figures", "logs", "benchmarks")
AUDIT = "papers/fair_ucb/audit.yaml"
PAPER = "papers/fair_ucb/experiments.yaml"


def sourced(value):
    return {"value": value, "provenance": "chosen", "source": "a test"}


def policy(name="fair_learn", **parameters):
    parameters = {key: sourced(value) for key, value in parameters.items()}
    return {"policy": name, "label": name, "parameters": parameters}


def experiment(**changes):
    """Return a small experiment that is right; a change to None leaves a key out."""
    block = {
        "title": "A test",
        "figures": [],
        "horizon": sourced(200),
        "replicates": sourced(3),
        "means": sourced([0.9, 0.5, 0.1]),
        "quotas": sourced(["1/5", "1/10", "1/20"]),
        "laws": sourced(["bernoulli"]),
        "checkpoints": {"at": [10, 200]},
        "chunk": 2,
        "policies": {"fair": policy(quotas="instance")},
    } | changes
    return {key: value for key, value in block.items() if value is not None}


def suite(instances, **changes):
    return experiment(**changes) | {"instances": instances}


@pytest.fixture
def configured(tmp_path):
    """Return a function that loads experiments of the audit, beside some of the paper."""

    def load(audit, paper=None):
        for file, experiments in ((AUDIT, audit), (PAPER, paper or {"main": experiment()})):
            content = {"paper": "fair_ucb", "title": "A test", "experiments": experiments}
            place = tmp_path / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(yaml.safe_dump(copy.deepcopy(content)), encoding="utf-8")
        settings = {"seed": SEED, "scale": "paper", "papers": ["fair_ucb"]}
        settings["pathvars"] = dict.fromkeys(FOLDERS, "nowhere")
        return build_config(settings, "test", tmp_path)

    return load


@pytest.fixture
def refused(configured):
    """Return a function that gives the message for experiments that cannot be run."""

    def message(audit, paper=None):
        with pytest.raises(ConfigError) as error:
            configured(audit, paper)
        assert "\n" not in str(error.value)
        return str(error.value)

    return message


def one(config, name="one"):
    return config.experiment("fair_ucb", name)


# ---------------------------------------------------------------------------------- instances


def test_instances_are_experiments_of_their_own(configured):
    instances = {
        "short": {"horizon": sourced(50), "checkpoints": {"at": [50]}},
        "two_arms": {"means": sourced([0.6, 0.4]), "quotas": sourced(["1/3", "1/4"])},
    }
    config = configured({"one": suite(instances), "two": experiment()})
    assert [found.name for found in config.experiments] == [
        "main",
        "one_short",
        "one_two_arms",
        "two",
    ]
    short, arms = config.named("fair_ucb", "one")
    assert (short.suite, arms.suite, one(config, "two").suite) == ("one", "one", "")
    assert (short.horizon, arms.horizon) == (50, 200)
    assert (short.means, arms.means) == ((0.9, 0.5, 0.1), (0.6, 0.4))
    assert [found.audit for found in config.experiments] == [False, True, True, True]
    assert [run.stream for run in short.runs] == ["fair_ucb/one_short"]
    assert [run.key for run in arms.runs] == ["fair_ucb/one_two_arms/fair-bernoulli"]
    assert config.named("fair_ucb", "one_short") == (short,)
    with pytest.raises(ConfigError, match=r"fair_ucb has no experiment 'on'; did you mean 'one'\?"):
        config.named("fair_ucb", "on")


def test_instances_can_share_their_rewards(configured):
    instances = {"a": {}, "b": {"quotas": sourced([0, 0, 0]), "same_instances_as": "one_a"}}
    first, second = configured({"one": suite(instances)}).named("fair_ucb", "one")
    assert first.runs[0].stream == second.runs[0].stream == "fair_ucb/one_a"
    # whichever of them stands first
    instances = {"b": instances["b"], "a": instances["a"]}
    first, second = configured({"one": suite(instances)}).named("fair_ucb", "one")
    assert first.runs[0].stream == second.runs[0].stream == "fair_ucb/one_a"


def test_the_audit_can_share_the_rewards_of_the_paper(configured):
    config = configured({"one": experiment(same_instances_as="main")})
    assert one(config).runs[0].stream == "fair_ucb/main"


INSTANCES = {
    "unknown key": (
        {"one": suite({"a": {"horizons": sourced(5)}})},
        "experiments.one.instances.a: experiments.one: unknown key 'horizons'; "
        "did you mean 'horizon'?",
    ),
    "missing key": (
        {"one": suite({"a": {}}, means=None)},
        "experiments.one.instances.a: experiments.one: 'means' is a required property",
    ),
    "wrong value": (
        {"one": suite({"a": {"horizon": sourced(0)}})},
        "experiments.one.instances.a: experiments.one.horizon.value: 0 is less than the minimum",
    ),
    "no instance": ({"one": suite({})}, "experiments.one.instances: {} should be non-empty"),
    "instance of an instance": (
        {"one": suite({"a": {"instances": {"b": {}}}})},
        "experiments.one.instances.a: an instance cannot have instances itself",
    ),
    "name": ({"one": suite({"A": {}})}, "experiments.one.instances: 'A' does not match"),
    "same name": (
        {"one_a": experiment(), "one": suite({"a": {}})},
        "experiments.one.instances.a: there is another experiment one_a",
    ),
    "name of the paper's": (
        {"main": experiment()},
        "experiments.main: there is another experiment main",
    ),
    "suite named as the paper's": (
        {"main": suite({"a": {}})},
        "experiments.main_a: there is another experiment main",
    ),
    "other means": (
        {"one": suite({"a": {}, "b": {"means": sourced([0.1] * 3), "same_instances_as": "one_a"}})},
        "experiments.one_b.same_instances_as: means must be those of experiments.one_a",
    ),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_instances_are_refused(name, refused):
    audit, words = INSTANCES[name]
    message = refused(audit)
    assert message.startswith(f"{AUDIT}: {words}")


def test_experiment_named_as_a_suite_of_the_paper(refused):
    message = refused({"one": experiment()}, {"one": suite({"a": {}})})
    assert message == f"{AUDIT}: experiments.one: there is another experiment one"


# ------------------------------------------------------------------- means and quotas by a rule


@pytest.mark.parametrize(
    ("form", "means"),
    [
        ({"evenly": {"first": 0.9, "last": 0.1, "arms": 2}}, [0.9, 0.1]),
        ({"evenly": {"first": 0.9, "last": 0.1, "arms": 5}}, [0.9, 0.7, 0.5, 0.3, 0.1]),
        ({"one_best": {"best": 0.9, "gap": 0.25, "arms": 3}}, [0.9, 0.65, 0.65]),
        ({"one_best": {"best": 0.5, "gap": 0, "arms": 2}}, [0.5, 0.5]),
    ],
)
def test_means_by_a_rule(form, means, configured):
    block = experiment(means=sourced(form), quotas=sourced({"of_equal_share": "1/2"}))
    found = one(configured({"one": block}))
    assert found.means == pytest.approx(means)
    assert found.runs[0].spec.means == found.means
    assert found.quotas == (str(Fraction(1, 2 * len(means))),) * len(means)


RULES = {
    "both": (
        {
            "evenly": {"first": 1, "last": 0, "arms": 2},
            "one_best": {"best": 1, "gap": 0, "arms": 2},
        },
        "means.value: {",
        "has too many properties",
    ),
    "neither": ({}, "means.value: {}", "should be non-empty"),
    "unknown": ({"even": {}}, "means.value: unknown key 'even'", "did you mean 'evenly'?"),
    "incomplete": (
        {"evenly": {"first": 0.9, "last": 0.1}},
        "means.value.evenly: 'arms' is a required property",
        "",
    ),
    "one arm": (
        {"one_best": {"best": 0.9, "gap": 0.1, "arms": 1}},
        "means.value.one_best.arms: 1 is less than the minimum of 2",
        "",
    ),
    "range of evenly": (
        {"evenly": {"first": 0.9, "last": 1.5, "arms": 3}},
        "means must be in [0, 1] under law bernoulli, got 0.9 to 1.5",
        "",
    ),
    "range of one_best": (
        {"one_best": {"best": 0.25, "gap": 0.5, "arms": 3}},
        "means must be in [0, 1] under law bernoulli, got -0.25 to 0.25",
        "",
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_means_by_a_rule_are_refused(name, refused):
    form, start, end = RULES[name]
    message = refused({"one": experiment(means=sourced(form))})
    assert message.startswith(f"{AUDIT}: experiments.one.{start}")
    assert end in message


def test_policies_can_have_a_part_of_the_equal_share(configured):
    fair = policy(quotas={"of_equal_share": 0.9}, learner="ucb1")
    found = one(configured({"one": experiment(policies={"fair": fair})}))
    assert found.runs[0].spec.parameters["quotas"] == ["3/10"] * 3
    assert found.quotas == ("1/5", "1/10", "1/20")


@pytest.mark.parametrize(
    ("first", "last", "steps", "values"),
    [
        (0, 1, 4, [0, 0.25, 0.5, 0.75, 1]),
        (10, 0, 2, [10, 5, 0]),
        (0, 0.3, 3, [0, 0.1, 0.2, 0.3]),  # not 0.30000000000000004 on the way
        (625, 0, 100, [(10000 - 100 * k) * 0.0625 for k in range(101)]),
    ],
)
def test_swept_values_can_be_evenly_spaced(first, last, steps, values, configured):
    fair = policy(quotas={"of_equal_share": 0.9}, learner="ucb1")
    form = {"evenly": {"first": first, "last": last, "steps": steps}}
    fair["sweep"] = {"tolerance": sourced(form)}
    found = one(configured({"one": experiment(policies={"fair": fair})})).runs[0].spec
    assert found.sweep["tolerance"] == values
    assert all(isinstance(one, int) == (one == int(one)) for one in found.sweep["tolerance"])


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"first": 1, "last": 1, "steps": 3}, ": first and last must differ, got 1 for both"),
        (
            {"first": 1, "last": 2, "steps": 0},
            ".value.evenly.steps: 0 is less than the minimum of 1",
        ),
        ({"first": 1, "last": 2}, ".value.evenly: 'steps' is a required property"),
        (
            {"first": 1, "last": 2, "stps": 2},
            ".value.evenly: unknown key 'stps'; did you mean 'steps'?",
        ),
    ],
)
def test_steps_of_a_sweep_are_refused(form, words, refused):
    fair = policy(quotas={"of_equal_share": 0.9}, learner="ucb1")
    fair["sweep"] = {"tolerance": sourced({"evenly": form})}
    message = refused({"one": experiment(policies={"fair": fair})})
    assert message == f"{AUDIT}: experiments.one.policies.fair.sweep.tolerance{words}"


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (1, "experiments.one: quotas must sum to less than 1, got 1"),
        (
            "half",
            "experiments.one.quotas must be a number such as 0.05 or \"1/3\", got 'half'",
        ),
        ([1], "experiments.one.quotas.value.of_equal_share: [1] is not of type"),
        ("-1/2", "experiments.one: quotas must be at least 0, got -1/6 for arm 1"),
    ],
)
def test_parts_of_the_equal_share_are_refused(part, words, refused):
    block = experiment(quotas=sourced({"of_equal_share": part}))
    assert refused({"one": block}).startswith(f"{AUDIT}: {words}")


# ---------------------------------------------------------------------------- drawn quotas


def largest_allowed(span, arms, denominator):
    """Return the least and the greatest numerator that the largest quota can have."""
    numbers = range(denominator)
    inside = {
        "kth": [n for n in numbers if n * arms < denominator],
        "wider": [n for n in numbers if n * arms >= denominator and n * (arms - 1) < denominator],
        "beyond": [n for n in numbers if n * (arms - 1) >= denominator],
    }[span]
    return inside[0], inside[-1]


@pytest.mark.parametrize("span", ["kth", "wider", "beyond"])
@pytest.mark.parametrize("arms", [2, 3, 5, 10, 20])
def test_drawn_quotas_are_in_their_range(span, arms):
    if arms == 2 and span != "kth":
        return
    for denominator in (2 * arms**2, 1000, 9973):
        least, most = largest_allowed(span, arms, denominator)
        for replicate in range(40):
            address = (SEED, f"{span}-{arms}", replicate)
            quotas = draw_quotas(arms, span, denominator, *address)
            assert len(quotas) == arms
            assert min(quotas) >= 0
            assert least <= max(quotas) <= most
            assert sum(quotas) < denominator
            assert quotas == draw_quotas(arms, span, denominator, *address)


def test_drawn_quotas_come_from_the_documented_stream():
    for replicate in (0, 5):
        words = [naive.draw(SEED, "mine", replicate, "quotas", 0, n) for n in range(1, 5)]
        drawn = draw_quotas(4, "kth", 1001, SEED, "mine", replicate)
        assert drawn == [word % 251 for word in words]  # 250/1001 is the last below 1/4


@pytest.mark.parametrize("span", ["kth", "wider", "beyond"])
def test_drawn_quotas_differ(span):
    addresses = [(1, "a", 0), (1, "a", 1), (1, "b", 0), (2, "a", 0)]
    draws = [tuple(draw_quotas(5, span, 10**6, *address)) for address in addresses]
    assert len(set(draws)) == 4


def test_drawn_quotas_fill_their_range():
    """Each arm can have the largest one, which is uniform."""
    arms, denominator = 4, 9973
    drawn = np.array([draw_quotas(arms, "wider", denominator, SEED, "w", k) for k in range(2000)])
    counts = np.bincount(drawn.argmax(axis=1), minlength=arms)
    assert ((counts - 500) ** 2 / 500).sum() < 16.3  # 0.999 quantile of chi-square, 3 degrees
    least, most = largest_allowed("wider", arms, denominator)
    cells = np.histogram(drawn.max(axis=1), bins=10, range=(least, most + 1))[0]
    assert (cells > 100).all()
    kth = np.array([draw_quotas(arms, "kth", denominator, SEED, "k", k) for k in range(500)])
    cells = np.histogram(kth, bins=10, range=(0, denominator / arms))[0]
    assert ((cells - 200) ** 2 / 200).sum() < 27.9  # 0.999 quantile, 9 degrees


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((3, "third", 100), "span must be one of kth, wider, beyond, got 'third'"),
        ((1, "kth", 100), "n_arms must be at least 2, got 1"),
        ((2, "wider", 100), "n_arms must be at least 3, got 2"),
        ((2, "beyond", 100), "n_arms must be at least 3, got 2"),
        ((10, "kth", 199), "denominator must be at least 200 with 10 arms, got 199"),
    ],
)
def test_drawn_quotas_are_refused(arguments, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        draw_quotas(*arguments, seed=1, stream="s", replicate=0)


DRAWN = {
    "both": (
        {"drawn_quotas": sourced({"span": "kth", "denominator": 100})},
        ": quotas and drawn_quotas exclude each other; give one of them",
    ),
    "span": (
        {"quotas": None, "drawn_quotas": sourced({"span": "k", "denominator": 100})},
        ".drawn_quotas.value.span: 'k' is unknown; known: kth, wider, beyond",
    ),
    "denominator": (
        {"quotas": None, "drawn_quotas": sourced({"span": "kth", "denominator": 17})},
        ".drawn_quotas.denominator must be at least 18 with 3 arms, got 17",
    ),
    "arms": (
        {
            "means": sourced([0.5, 0.4]),
            "quotas": None,
            "drawn_quotas": sourced({"span": "wider", "denominator": 100}),
        },
        ".drawn_quotas.span wider needs at least 3 arms, got 2",
    ),
    "missing": (
        {"quotas": None, "drawn_quotas": sourced({"span": "kth"})},
        ".drawn_quotas.value: 'denominator' is a required property",
    ),
    "none": (
        {"quotas": None},
        ".policies.fair.parameters.quotas: the experiment has no quotas; give them there, or here "
        "in place of 'instance'",
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_drawn_quotas_are_refused_in_the_configuration(name, refused):
    changes, words = DRAWN[name]
    assert refused({"one": experiment(**changes)}) == f"{AUDIT}: experiments.one{words}"


def drawn_spec(configured, **changes):
    means = {"arms": sourced(4), "low": sourced(0.1), "high": sourced(0.9)}
    drawn = {
        "means": None,
        "drawn_means": means,
        "quotas": None,
        "drawn_quotas": sourced({"span": "wider", "denominator": 997}),
    }
    found = one(configured({"one": experiment(**(drawn | changes))}))
    return found, found.runs[0].spec


def test_each_replicate_is_an_instance_of_its_own(configured):
    """Means and quotas are drawn, the policy has the quotas, and its learner too."""
    inside = {"quotas": "instance"}
    fair = policy(quotas="instance", learner="smallest_deficit", learner_parameters=inside)
    fair["sweep"] = {"tolerance": sourced([0, "1/2"])}
    _, spec = drawn_spec(configured, policies={"fair": fair})
    columns = simulate_chunk(spec, SEED, [4, 1])
    shape = (2, 2, 2, 4)  # tolerance, replicate, round, arm
    means = RandomInstance(4, 0.1, 0.9)
    for place, replicate in enumerate((4, 1)):
        address = (SEED, "fair_ucb/one", replicate)
        numerators = draw_quotas(4, "wider", 997, *address)
        instance = means.draw(*address)
        quotas = [f"{numerator}/997" for numerator in numerators]
        for cell, tolerance in enumerate((0, "1/2")):
            alone = run(
                FairLearn(quotas, tolerance, "smallest_deficit", {"quotas": quotas}),
                instance,
                200,
                [replicate],
                seed=SEED,
                stream="fair_ucb/one",
                checkpoints=[10, 200],
                quotas=quotas,
            )
            for name, values in alone.columns().items():
                found = columns[name].reshape(shape)[cell, place]
                assert found.tolist() == values.reshape(2, 4).tolist(), name
            assert (columns["mean"].reshape(shape)[cell, place] == instance.means).all()
            assert (columns["quota"].reshape(shape)[cell, place] == numerators).all()
        assert (columns["tolerance"].reshape(shape)[:, place, 0, 0] == [0, 0.5]).all()


def test_drawn_instances_become_a_dataset(configured, tmp_path):
    found, spec = drawn_spec(configured, record=["floor_deficit", "floor_deficit_sup"])
    files = [tmp_path / "fair-bernoulli" / f"{chunk}.parquet" for chunk in found.runs[0].chunks()]
    for file, replicates in zip(files, (range(2), range(2, 3)), strict=True):
        write_chunk(spec, SEED, replicates, file)
    collect(files, found.facts(), SEED, tmp_path / "one.parquet")
    table, footer = load_dataset(tmp_path / "one.parquet")
    assert footer["quotas"] == []
    assert {"mean", "quota", "floor_deficit", "floor_deficit_sup"} <= set(table.column_names)
    assert not {"deficit", "deficit_sup"} & set(table.column_names)
    (recorded,) = runs_of(table, footer)
    quotas = recorded.values["quota"]
    owed = quotas * recorded.rounds[:, None] // 997 - recorded.values["plays"]
    assert (recorded.values["floor_deficit"] == owed).all()
    assert (quotas == quotas[:, :1]).all()
    assert len({tuple(row) for row in quotas[:, 0].tolist()}) == 3


# ---------------------------------------------------------------------- what the instance gives


def test_learners_can_have_parameters_of_the_instance():
    known = {"quotas": [0, 0.5], "means": [1, 2]}
    nested = {
        "quotas": "instance",
        "learner_parameters": {"arm": 1, "learner_parameters": {"means": "instance"}},
    }
    assert depends_on_instance(nested)
    assert depends_on_instance({"learner_parameters": {"quotas": "instance"}})
    assert not depends_on_instance(
        {"quotas": [0], "learner": "ucb1", "learner_parameters": {"clock": "own"}}
    )
    assert filled(nested, known) == {
        "quotas": [0, 0.5],
        "learner_parameters": {"arm": 1, "learner_parameters": {"means": [1, 2]}},
    }


def test_learner_with_fixed_quotas_of_the_instance(configured):
    inside = {"quotas": "instance"}
    adversary = policy(quotas=[0, 0, "1/9"], learner="smallest_deficit", learner_parameters=inside)
    spec = one(configured({"one": experiment(policies={"fair": adversary})})).runs[0].spec
    columns = simulate_chunk(spec, SEED, [0])
    quotas = ("1/5", "1/10", "1/20")
    alone = run(
        FairLearn((0, 0, "1/9"), 0, "smallest_deficit", {"quotas": quotas}),
        Instance((0.9, 0.5, 0.1)),
        *(200, [0]),
        seed=SEED,
        stream="fair_ucb/one",
        checkpoints=[10, 200],
    )
    assert columns["plays"].tolist() == alone.plays.reshape(-1).tolist()
    other = run(SmallestDeficit(quotas), Instance((0.9, 0.5, 0.1)), 200, checkpoints=[10, 200])
    assert other.plays.tolist() != alone.plays.tolist()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (
            {"learner": "constant", "learner_parameters": {"arm": "instance"}},
            ".arm: only means, penalties, reference, shadow_means, groups, targets, quotas and "
            "fractions can be those of the instance",
        ),
        (
            {"learner": "lfg", "learner_parameters": {"fractions": "instance", "eat": 1}},
            ": unknown key 'eat'; did you mean 'eta'?",
        ),
        (
            {"learner": "banditq", "learner_parameters": {"targets": "instance"}},
            ".targets: the experiment has no targets; give them there, or here in place of "
            "'instance'",
        ),
    ],
)
def test_parameters_of_learners_are_refused(parameters, words, refused):
    fair = policy(quotas="instance", **parameters)
    message = refused({"one": experiment(policies={"fair": fair})})
    place = f"{AUDIT}: experiments.one.policies.fair.parameters.learner_parameters"
    assert message == f"{place}{words}"


# ------------------------------------------------------------------------------- target shares


def banditq(**changes):
    return experiment(quotas=None, policies={"q": policy("banditq", targets="instance")}, **changes)


def test_target_shares(configured):
    found = one(configured({"one": banditq(target_shares=sourced(["1/2", 0.25]))}))
    assert found.targets == (0.45, 0.125, 0)
    spec = found.runs[0].spec
    assert spec.targets_for([0.2, 0.4, 0.6]) == [0.1, 0.1, 0]


SHARES = {
    "both": (
        {"target_shares": sourced(["1/2"]), "targets": sourced([0.1, 0, 0])},
        ": targets and target_shares exclude each other; give one of them",
    ),
    "too many": (
        {"target_shares": sourced([0.1] * 4)},
        ".target_shares must have at most one entry per mean (3), got 4",
    ),
    "too much": (
        {"target_shares": sourced(["1/2", "2/3"])},
        ".target_shares must be at least 0 and sum to at most 1, got ['1/2', '2/3']",
    ),
    "negative": (
        {"target_shares": sourced([-0.5, 1])},
        ".target_shares must be at least 0 and sum to at most 1, got [-0.5, 1]",
    ),
    "words": (
        {"target_shares": sourced(["half"])},
        ".target_shares must be a number such as 0.05 or \"1/3\", got 'half'",
    ),
    "none": (
        {},
        ".policies.q.parameters.targets: the experiment has no targets; give them there, or here "
        "in place of 'instance'",
    ),
}


@pytest.mark.parametrize("name", SHARES)
def test_target_shares_are_refused(name, refused):
    changes, words = SHARES[name]
    assert refused({"one": banditq(**changes)}) == f"{AUDIT}: experiments.one{words}"


# ---------------------------------------------------------------------------- what is recorded

DEFICITS = ("deficit", "deficit_sup", "floor_deficit", "floor_deficit_sup")


@pytest.mark.parametrize("kept", [[], ["deficit_sup"], ["floor_deficit", "first_beyond"], None])
def test_only_what_is_asked_for_is_kept(kept, configured):
    changes = {} if kept is None else {"record": kept}
    observed = policy(quotas="instance") | {"observe": ["fair_learn_deficits"]}
    spec = one(configured({"one": experiment(policies={"fair": observed}, **changes)})).runs[0].spec
    columns = set(simulate_chunk(spec, SEED, [0])) - {"replicate", "round", "arm"}
    if kept is None:
        assert {*DEFICITS, "first_beyond", "crowding_k"} < columns
    else:
        assert columns == {"plays", "reward", *kept}


def test_unknown_records_are_refused(refused):
    message = refused({"one": experiment(record=["deficits"])})
    assert message == (
        f"{AUDIT}: experiments.one.record.0: 'deficits' is unknown; did you mean 'deficit'?"
    )


def watched(observe, name="fair_learn", **parameters):
    parameters = parameters or {"quotas": "instance"}
    return {"one": experiment(policies={"fair": policy(name, **parameters) | {"observe": observe}})}


def test_observers_are_run(configured):
    audit = watched(["plays_sum", {"starvation": {}}])
    spec = one(configured(audit)).runs[0].spec
    assert spec.observe == (["plays_sum", {}], ["starvation", {}])
    columns = simulate_chunk(spec, SEED, [0, 1])
    assert list(columns)[-2:] == ["plays_sum", "starvation"]
    plain = one(configured({"one": experiment()})).runs[0].spec
    assert plain.observe == ()
    for name, values in simulate_chunk(plain, SEED, [0, 1]).items():
        assert values.tobytes() == columns[name].tobytes()


@pytest.mark.parametrize("drawn", [False, True], ids=["fixed", "drawn"])
def test_observers_have_parameters_of_the_instance(drawn, configured):
    """The parameter is a means of each replicate, whose own benchmark decides the numbers."""
    inequalities = [{"banditq_inequalities": {"means": sourced("instance")}}]
    parameters = {"targets": [0.1, 0, 0], "feedback": "full"}
    audit = watched(inequalities, "banditq", **parameters)
    del audit["one"]["quotas"]  # they count pulls
    if drawn:
        del audit["one"]["means"]
        audit["one"]["drawn_means"] = {
            "arms": sourced(3),
            "low": sourced(0.3),
            "high": sourced(0.9),
        }
    spec = one(configured(audit)).runs[0].spec
    assert spec.observe == (["banditq_inequalities", {"means": "instance"}],)
    columns = simulate_chunk(spec, SEED, [0, 2])
    for place, replicate in enumerate((0, 2)):
        instance = instance_of(spec)
        stream = spec.stream_of({"horizon": 200})
        means = instance.draw(SEED, stream, replicate).means if drawn else instance.means
        options = {"seed": SEED, "stream": stream, "checkpoints": [10, 200]}
        options["observe"] = [BanditQInequalities(means)]
        alone = run(BanditQ(**parameters), Instance(means), 200, [replicate], **options)
        for name, values in alone.probes.items():
            ours = columns[name].reshape(2, -1)[place]
            assert ours.tobytes() == values.tobytes(), name


WRONG_OBSERVERS = {
    "unknown": (["starvatio"], ".0: 'starvatio' is unknown; did you mean 'starvation'?"),
    "unknown with parameters": (
        ["plays_sum", {"plays": {}}],
        ".1: 'plays' is unknown; did you mean 'plays_sum'?",
    ),
    "not a list": ("starvation", ": 'starvation' is not of type 'array'"),
    "none": ([], ": [] should be non-empty"),
    "twice": (["starvation", "plays_sum", "starvation"], ": 'starvation' is there twice"),
    "unfitting": (
        ["queue_squares"],
        ": queue_squares can watch BanditQ only, got policy fair_learn",
    ),
    "parameter that it has not": (
        [{"starvation": {"most": sourced(3)}}],
        ".starvation: unknown key 'most'; known: ",
    ),
    "parameter without a source": (
        [{"banditq_inequalities": {"means": "instance"}}],
        ".0.banditq_inequalities.means: 'instance' is not of type 'object'",
    ),
    "no parameter": (
        ["banditq_inequalities"],
        ".banditq_inequalities: 'means' is a required property",
    ),
    "parameter of wrong length": (
        [{"banditq_inequalities": {"means": sourced([0.5, 0.5])}}],
        ".banditq_inequalities.means must have one entry per arm (3), got 2",
    ),
    "no such parameter of the instance": (
        [{"starvation": {"most": sourced("instance")}}],
        ".starvation.most: only means, penalties, reference, shadow_means, groups, targets, "
        "quotas and fractions can be those of the instance",
    ),
}


@pytest.mark.parametrize("name", WRONG_OBSERVERS)
def test_wrong_observers_are_refused(name, refused):
    observe, words = WRONG_OBSERVERS[name]
    message = refused(watched(observe))
    assert message == f"{AUDIT}: experiments.one.policies.fair.observe{words}"


@pytest.mark.parametrize("name", DEFICITS)
@pytest.mark.parametrize("drawn", [False, True], ids=["fixed", "drawn"])
def test_each_deficit_is_checked_by_itself(name, drawn, configured, tmp_path):
    if drawn:
        found, spec = drawn_spec(configured, record=[name])
    else:
        found = one(configured({"one": experiment(record=[name])}))
        spec = found.runs[0].spec
    file = tmp_path / "fair-bernoulli" / "0-2.parquet"
    write_chunk(spec, SEED, range(3), file)
    collect([file], found.facts(), SEED, tmp_path / "one.parquet")
    table = read_table(file)
    columns = {key: table[key].to_numpy().copy() for key in table.column_names}
    columns[name][-1] -= 50
    write_table(file, pa.table(columns), read_footer(file))
    with pytest.raises(StoreError) as error:
        collect([file], found.facts(), SEED, tmp_path / "one.parquet")
    says = {
        "deficit": "that deficit = quota * t - plays",
        "floor_deficit": "that floor_deficit = floor(quota * t) - plays",
        "deficit_sup": "that deficit_sup never falls",
        "floor_deficit_sup": "that floor_deficit_sup is at least floor_deficit",
    }[name]
    assert f"{says} fails first in replicate 2, round 200" in str(error.value)


# --------------------------------------------------------------------------- the real suites


def test_the_audit_draws_no_figure_and_writes_little():
    config = real.config()
    audit = [found for found in config.experiments if found.audit]
    assert audit
    for found in audit:
        assert (found.figures, found.companion_to) == ((), ()), found.name
        if found.paper == "fair_ucb":
            rows = sum(
                len(one.spec.cells) * len(one.spec.checkpoints["at"]) * one.spec.n_arms
                for one in found.runs
            )
            assert rows * found.replicates < 500_000, found.name

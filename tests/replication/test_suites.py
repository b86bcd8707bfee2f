"""Suites: instances of an experiment, means and quotas by a rule or drawn; and what is refused."""

import copy
from fractions import Fraction

import pytest
import yaml

import naive
from fairbandits import BanditQ, BanditQInequalities, FairLearn, Instance, RandomInstance, run
from fairbandits.library.instance import draw_quotas
from fairbandits.replication.datasets import collect, load_dataset
from fairbandits.replication.recorded import runs_of
from fairbandits.replication.simulate import instance_of, simulate_chunk, write_chunk
from fairbandits.settings.config import build_config
from fairbandits.settings.schemas import ConfigError
from shrunk import FOLDERS, experiment, policy, sourced

SEED = 20241121
AUDIT = "papers/fair_ucb/audit.yaml"
PAPER = "papers/fair_ucb/experiments.yaml"


def suite(instances, **changes):
    return experiment(**changes) | {"instances": instances}


@pytest.fixture
def configured(tmp_path):
    def load(audit, paper=None):
        for file, experiments in ((AUDIT, audit), (PAPER, paper or {"main": experiment()})):
            content = {"paper": "fair_ucb", "title": "A test", "experiments": experiments}
            path = tmp_path / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(yaml.safe_dump(copy.deepcopy(content)), encoding="utf-8")
        settings = {"seed": SEED, "scale": "paper", "papers": ["fair_ucb"]}
        settings["pathvars"] = dict.fromkeys(FOLDERS, "nowhere")
        return build_config(settings, "test", tmp_path)

    return load


@pytest.fixture
def refused(configured):
    def message(audit, paper=None):
        with pytest.raises(ConfigError) as error:
            configured(audit, paper)
        assert "\n" not in str(error.value)
        return str(error.value)

    return message


def only(config, name="one"):
    return config.experiment("fair_ucb", name)


def test_instances_are_experiments_of_their_own(configured):
    instances = {
        "short": {"horizon": sourced(50), "checkpoints": {"at": [50]}},
        "two_arms": {"means": sourced([0.6, 0.4]), "quotas": sourced(["1/3", "1/4"])},
    }
    config = configured({"one": suite(instances), "two": experiment()})
    names = [each.name for each in config.experiments]
    assert names == ["main", "one_short", "one_two_arms", "two"]
    short, arms = config.named("fair_ucb", "one")
    assert (short.suite, arms.suite, only(config, "two").suite) == ("one", "one", "")
    assert (short.horizon, arms.horizon) == (50, 200)
    assert (short.means, arms.means) == ((0.9, 0.5, 0.1), (0.6, 0.4))
    assert [each.audit for each in config.experiments] == [False, True, True, True]
    assert [run.spec.stream for run in short.runs] == ["fair_ucb/one_short"]
    assert [run.key for run in arms.runs] == ["fair_ucb/one_two_arms/fair-bernoulli"]
    assert config.named("fair_ucb", "one_short") == (short,)
    with pytest.raises(ConfigError, match=r"fair_ucb has no experiment 'on'; did you mean 'one'\?"):
        config.named("fair_ucb", "on")


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
    made = only(configured({"one": block}))
    assert made.means == pytest.approx(means)
    assert made.runs[0].spec.means == made.means
    assert made.quotas == (str(Fraction(1, 2 * len(means))),) * len(means)


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
    fair = sweeping(first=first, last=last, steps=steps)
    spec = only(configured({"one": experiment(policies={"fair": fair})})).runs[0].spec
    assert spec.sweep["tolerance"] == values
    assert all(isinstance(value, int) == (value == int(value)) for value in spec.sweep["tolerance"])


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
        coins = [naive.draw(SEED, "mine", replicate, "quotas", 0, n) for n in range(1, 5)]
        drawn = draw_quotas(4, "kth", 1001, SEED, "mine", replicate)
        assert drawn == [word % 251 for word in coins]  # 250/1001 is the last below 1/4


def test_a_largest_quota_that_leaves_almost_nothing_is_not_drawn_again():
    largest = 0
    for replicate in range(20):
        address = (SEED, "mine", replicate)
        if naive.draw(*address, "quotas", 0, 1) % 2:  # 4, the larger of 3/5 and 4/5
            assert sorted(draw_quotas(3, "beyond", 5, *address)) == [0, 0, 4]
            largest += 1
    assert 0 < largest < 20


def drawn_spec(configured, **changes):
    means = {"arms": sourced(4), "low": sourced(0.1), "high": sourced(0.9)}
    drawn = {"means": None, "drawn_means": means} | drawing("wider", 997) | changes
    drawn = only(configured({"one": experiment(**drawn)}))
    return drawn, drawn.runs[0].spec


def test_each_replicate_is_an_instance_of_its_own(configured):
    """Means and quotas are drawn, the policy has the quotas, and its learner too."""
    inside = {"quotas": "instance"}
    fair = policy(quotas="instance", learner="smallest_deficit", learner_parameters=inside)
    fair["sweep"] = {"tolerance": sourced([0, "1/2"])}
    _, spec = drawn_spec(configured, policies={"fair": fair})
    columns = simulate_chunk(spec, SEED, [4, 1])
    shape = (2, 2, 2, 4)  # tolerance, replicate, round, arm
    means = RandomInstance(4, 0.1, 0.9)
    for at, replicate in enumerate((4, 1)):
        address = (SEED, "fair_ucb/one", replicate)
        numerators = draw_quotas(4, "wider", 997, *address)
        instance = means.draw(*address)
        quotas = [f"{numerator}/997" for numerator in numerators]
        for cell, tolerance in enumerate((0, "1/2")):
            fair = FairLearn(quotas, tolerance, "smallest_deficit", {"quotas": quotas})
            options = {"seed": SEED, "stream": "fair_ucb/one", "checkpoints": [10, 200]}
            alone = run(fair, instance, 200, [replicate], quotas=quotas, **options)
            for name, values in alone.columns().items():
                drawn_values = columns[name].reshape(shape)[cell, at]
                assert drawn_values.tolist() == values.reshape(2, 4).tolist(), name
            assert (columns["mean"].reshape(shape)[cell, at] == instance.means).all()
            assert (columns["quota"].reshape(shape)[cell, at] == numerators).all()
        assert (columns["tolerance"].reshape(shape)[:, at, 0, 0] == [0, 0.5]).all()


def test_drawn_instances_become_a_dataset(configured, tmp_path):
    drawn, spec = drawn_spec(configured, record=["floor_deficit", "floor_deficit_sup"])
    files = [tmp_path / "fair-bernoulli" / f"{chunk}.parquet" for chunk in drawn.runs[0].chunks()]
    for file, replicates in zip(files, (range(2), range(2, 3)), strict=True):
        write_chunk(spec, SEED, replicates, file)
    collect(files, drawn.facts(), SEED, tmp_path / "one.parquet")
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


@pytest.mark.parametrize("drawn", [False, True], ids=["fixed", "drawn"])
def test_observers_have_parameters_of_the_instance(drawn, configured):
    """The parameter is a means of each replicate, whose own benchmark decides the numbers."""
    inequalities = [{"banditq_inequalities": {"means": sourced("instance")}}]
    parameters = {"targets": [0.1, 0, 0], "feedback": "full"}
    banditq = policy("banditq", **parameters) | {"observe": inequalities}
    block = {"policies": {"fair": banditq}, "quotas": None}  # they count pulls
    if drawn:
        ends = {"arms": sourced(3), "low": sourced(0.3), "high": sourced(0.9)}
        block |= {"means": None, "drawn_means": ends}
    spec = only(configured({"one": experiment(**block)})).runs[0].spec
    assert spec.observe == (["banditq_inequalities", {"means": "instance"}],)
    columns = simulate_chunk(spec, SEED, [0, 2])
    for at, replicate in enumerate((0, 2)):
        instance = instance_of(spec)
        stream = spec.stream_of({"horizon": 200})
        means = instance.draw(SEED, stream, replicate).means if drawn else instance.means
        options = {"seed": SEED, "stream": stream, "checkpoints": [10, 200]}
        options["observe"] = [BanditQInequalities(means)]
        alone = run(BanditQ(**parameters), Instance(means), 200, [replicate], **options)
        for name, values in alone.probes.items():
            ours = columns[name].reshape(2, -1)[at]
            assert ours.tobytes() == values.tobytes(), name


def valued(**values):
    return {key: sourced(value) for key, value in values.items()}


def sweeping(**form):
    return policy(quotas={"of_equal_share": 0.9}, learner="ucb1") | {
        "sweep": {"tolerance": sourced({"evenly": form})}
    }


def learning(learner, **parameters):
    return {"fair": policy(quotas="instance", learner=learner, learner_parameters=parameters)}


def with_targets(**values):
    banditq = {"q": policy("banditq", targets="instance")}
    return {"quotas": None, "policies": banditq} | valued(**values)


def drawing(span, denominator):
    return {"quotas": None} | valued(drawn_quotas={"span": span, "denominator": denominator})


TWO, ONE_BEST = {"first": 1, "last": 0, "arms": 2}, {"best": 1, "gap": 0, "arms": 2}
BEYOND = {"evenly": {"first": 0.9, "last": 1.5, "arms": 3}}
OTHERS = {"means": sourced([0.1] * 3), "same_instances_as": "one_a"}
STEPS_OF_0 = sweeping(first=1, last=1, steps=3)
FIXED = valued(quotas=["1/5", "1/10", "1/20"])
FAIR = "one.policies.fair"
LEARNER = f"{FAIR}.parameters.learner_parameters"
SHARES = "one.target_shares must be at least 0 and sum to at most 1, got"
OF_INSTANCE = "only means, penalties, reference, shadow_means, groups, targets, quotas"
#: What is changed in the experiment, and how the message begins.
REFUSED = [
    ({"instances": {"a": {"instances": {"b": {}}}}}, "one.instances.a: an instance cannot have"),
    ({"instances": {"A": {}}}, "one.instances must be a text that matches [a-z0-9_]+, got 'A'"),
    ({"instances": {"a": {}, "b": OTHERS}}, "one_b.same_instances_as: means must be those of"),
    # means by a rule, steps of a sweep, parts of the equal share
    (valued(means={"evenly": TWO, "one_best": ONE_BEST}), "one.means.value must have either"),
    (valued(means=BEYOND), "one.means.value.1 must be in [0, 1] under law bernoulli, got 1.2"),
    ({"policies": {"fair": STEPS_OF_0}}, f"{FAIR}.sweep.tolerance.value must have each entry once"),
    (valued(quotas={"of_equal_share": "-1/2"}), "one: quotas must be at least 0, got -1/6 for"),
    # drawn quotas
    (drawing("kth", 100) | FIXED, "one: quotas and drawn_quotas exclude each other; give one of"),
    (drawing("k", 100), "one.drawn_quotas.value.span must be one of kth, wider, beyond, got 'k'"),
    (drawing("kth", 17), "one.drawn_quotas.denominator must be at least 18 with 3 arms, got 17"),
    (drawing("wider", 100) | valued(means=[0.5, 0.4]), "one.drawn_quotas.span wider needs at l"),
    ({"quotas": None}, f"{FAIR}.parameters.quotas: the experiment has no quotas; give them there"),
    # parameters of learners
    ({"policies": learning("constant", arm="instance")}, f"{LEARNER}.arm: {OF_INSTANCE}"),
    (
        {"policies": learning("banditq", targets="instance")},
        f"{LEARNER}.targets: the experiment has no targets; give them there, or here in place of",
    ),
    # target shares
    (with_targets(target_shares=["1/2"], targets=[0.1, 0, 0]), "one: targets and target_shares"),
    (with_targets(target_shares=["1/2", "2/3"]), f"{SHARES} ['1/2', '2/3']"),
    # observers
    *(
        ({"policies": {"fair": policy(quotas="instance") | {"observe": observe}}}, f"{FAIR}.{says}")
        for observe, says in [
            (["starvatio"], "observe: observer must be one of banditq_inequalities, "),
            (["starvation"] * 2, "observe must have each entry once, got 'starvation' twice"),
            (["queue_squares"], "observe: QueueSquares can watch BanditQ only, got FairLearn("),
            ([{"starvation": valued(most=3)}], "observe: observer starvation has no parameter 'mo"),
            ([{"starvation": valued(most="instance")}], f"observe.starvation.most: {OF_INSTANCE}"),
        ]
    ),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_what_cannot_be_run_is_refused(changes, message, refused):
    assert refused({"one": experiment(**changes)}).startswith(f"{AUDIT}: experiments.{message}")


SUITE = suite({"a": {}})


@pytest.mark.parametrize(
    ("audit", "paper", "message"),
    [
        ({"one_a": experiment(), "one": SUITE}, None, "one.instances.a: there is another exper"),
        ({"main": experiment()}, None, "main: there is another experiment main"),
        ({"main": SUITE}, None, "main_a: there is another experiment main"),
        ({"one": experiment()}, {"one": SUITE}, "one: there is another experiment one"),
    ],
)
def test_two_experiments_of_one_name_are_refused(audit, paper, message, refused):
    assert refused(audit, paper).startswith(f"{AUDIT}: experiments.{message}")


def test_a_suite_meets_the_instances_of_another(configured):
    instances = {"a": {}, "b": {"means": sourced([0.1] * 3)}}
    changes = {"horizon": sourced(70), "checkpoints": {"at": [10, 70]}}
    shorter = suite(instances, same_instances_as="one", **changes)
    experiments = configured({"one": suite(instances), "two": shorter}).experiments
    streams = {each.name: each.runs[0].spec.stream for each in experiments}
    for name in instances:
        assert streams[f"two_{name}"] == streams[f"one_{name}"] == f"fair_ucb/one_{name}"

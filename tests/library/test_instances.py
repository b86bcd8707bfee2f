"""The instances by name are those of the configuration, number for number."""

import dataclasses
from fractions import Fraction

import pytest

import fairbandits as fb
import real
from fairbandits.library import instance as engine
from fairbandits.library.instances import PublishedInstance, PublishedRandomInstance
from fairbandits.replication.simulate import instance_of

PAIRS = [
    (fb.instances.banditq, "banditq", "full_information"),
    (fb.instances.banditq, "banditq", "bandit_feedback"),
    (lambda: fb.instances.banditq("bernoulli"), "banditq", "bandit_feedback"),
    (lambda: fb.instances.fair_ucb(1), "fair_ucb", "r_regret"),
    (lambda: fb.instances.fair_ucb(1), "fair_ucb", "cost_of_fairness"),
    (lambda: fb.instances.fair_ucb(1, other_gaps=True), "fair_ucb", "r_regret_other_gaps"),
    (lambda: fb.instances.fair_ucb(2), "fair_ucb", "fairness"),
    *((lambda k=k: fb.instances.ht_ucb_a(k), "ht_ucb", f"non_critical_{k}") for k in (1, 2, 3)),
    *((lambda k=k: fb.instances.ht_ucb_b(k), "ht_ucb", f"critical_{k}") for k in (1, 2, 3)),
    (lambda: fb.instances.ht_ucb_a(2, "bernoulli"), "ht_ucb", "non_critical_2"),
    *(
        (lambda n=n, t=t: fb.instances.ht_ucb_c(n, f"0.{t}"), "ht_ucb", f"regret_{n}_0{t}")
        for n in (5, 20)
        for t in (2, 4, 8)
    ),
    *((lambda k=k: fb.instances.ht_ucb_d(k), "ht_ucb", f"paths_{k}") for k in (1, 2)),
    *(
        (lambda n=n, t=t, w=w: fb.instances.ht_ucb_e(n, t / 10, w), "ht_ucb", f"frontier_{n}_0{t}")
        for n in (5, 20)
        for t in (2, 5)
        for w in ("gaussian", "beta", "bernoulli")
    ),
    (fb.instances.bf_ucb_high, "bf_ucb", "high"),
    (fb.instances.bf_ucb_low, "bf_ucb", "low"),
    (lambda: fb.instances.bf_ucb_low(released=True), "bf_ucb", "low_released"),
    (fb.instances.bf_ucb_notebook, "bf_ucb", "port_check"),
]


def plain(instance):
    """Return an instance's fields as the simulation knows them."""
    is_drawn = isinstance(instance, engine.RandomInstance)
    base = fb.RandomInstance if is_drawn else fb.Instance
    fields = {field.name: getattr(instance, field.name) for field in dataclasses.fields(base)}
    if base is fb.RandomInstance:
        ends = instance._ranges()
        fields["low"], fields["high"] = ([float(end) for end in pair] for pair in zip(*ends))  # noqa: B905
        fields["fixed"] = tuple((arm, float(mean)) for arm, mean in instance.fixed)
    return base, fields


@pytest.mark.parametrize(("make", "paper", "name"), PAIRS)
def test_is_that_of_the_configuration(make, paper, name):
    instance = make()
    experiment = real.config().experiment(paper, name)
    specs = [run.spec for run in experiment.runs if run.spec.law == instance.law]
    assert specs
    for spec in specs:
        assert plain(instance) == plain(instance_of(spec))
        mine = instance.horizon, instance.groups, instance.penalties
        assert mine == (spec.horizon, spec.groups, spec.penalties)
        assert [Fraction(q) for q in instance.quotas] == [Fraction(str(q)) for q in spec.quotas]
    assert list(instance.targets) == list(experiment.targets or ())
    assert instance.source


def test_every_instance_is_compared():
    functions = set(fb.instances.__all__) - {"PublishedInstance", "PublishedRandomInstance"}
    assert len(functions) == 10
    named = {make().source for make, _, _ in PAIRS}
    defaults = {getattr(fb.instances, name)().source for name in functions}
    assert defaults <= named


def test_it_draws_and_pays_as_a_plain_one_does():
    instance = fb.instances.ht_ucb_c(5, 0.4)
    assert isinstance(instance, PublishedRandomInstance)
    _, fields = plain(instance)
    assert instance.draw(1, "s", 3) == fb.RandomInstance(**fields).draw(1, "s", 3)
    fixed = fb.instances.fair_ucb(2)
    assert isinstance(fixed, PublishedInstance)
    result, wanted = (
        fb.run(fb.UCB1(), arms, 50, 2, seed=4) for arms in (fixed, fb.Instance((0.7, 0.5, 0.4)))
    )
    assert result.rewards.tobytes() == wanted.rewards.tobytes()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: fb.instances.fair_ucb(3), "number must be one of 1, 2, got 3"),
        (lambda: fb.instances.fair_ucb(2, other_gaps=True), "leave it out for Instance 2"),
        (lambda: fb.instances.ht_ucb_a(4), "case must be one of 1, 2, 3, got 4"),
        (lambda: fb.instances.ht_ucb_b(0), "case must be one of 1, 2, 3, got 0"),
        (lambda: fb.instances.ht_ucb_c(7), "n_arms must be one of 5, 20, got 7"),
        (lambda: fb.instances.ht_ucb_c(5, 0.3), r"tau must be one of 0\.2, 0\.4, 0\.8, got 0\.3"),
        (lambda: fb.instances.ht_ucb_d(3), "setting must be one of 1, 2, got 3"),
        (lambda: fb.instances.ht_ucb_e(5, 0.8), r"tau must be one of 0\.2, 0\.5, got 0\.8"),
        (lambda: fb.instances.ht_ucb_e(law="uniform"), "law must be one of gaussian, beta"),
        (lambda: fb.instances.banditq("uniform"), "law must be one of uniform02"),
    ],
)
def test_what_is_in_no_paper_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()

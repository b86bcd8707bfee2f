"""Claims of hard-threshold UCB (the submission to ICLR 2022).

An arm is critical if A >= Delta > 0, and non-critical if Delta > A. Its shortfall, `lack`, is
(tau t - N)+ pulls, the paper's unfairness level.
"""

from functools import partial

import numpy as np

from fairbandits.claims import (
    Paper,
    arms,
    cases,
    clearly_larger,
    enumerated,
    exact,
    held_out,
    mean,
    paired,
    proof,
    proportional,
    reading,
    readings,
    rounded,
    share,
    slope,
)
from fairbandits.measures.penalised import penalised_regret
from fairbandits.theory import derivations, fair_learn_counts
from fairbandits.theory import penalised_instances as random_instances
from fairbandits.theory.bounds import committing_regret, least_worst_regret
from measures import frontier, has_quotas, largest_shortfall, steps, straightness

failed_steps = partial(derivations.failed_steps, "hard_threshold")
paper = Paper(
    "ht_ucb",
    "HT-UCB: a new look at fairness in stochastic multi-armed bandit problems",
    {
        "lfg_capped": "LFG's index is cut off at 1, as section 5 defines it.",
        "lfg_uncapped": "LFG's index is not cut off, by its rule of play; without pulls it is 1.",
        "lfg_infinite": "LFG's index is not cut off; without pulls it is infinite.",
        "clock_previous": r"In round $n$ HT-UCB's index has $\ln(n - 1)$; LFG's index is cut off.",
        "spread_sd": "Rewards have the standard deviation $1 / K^2$, and LFG's index is cut off.",
        "means_fixed": "All replicates have the same means, and LFG's index is cut off.",
        "gaussian": "Rewards of Experiments A and B are normal with standard deviation $1 / K$.",
        "bernoulli": "Rewards of Experiments A and B are 0 or 1.",
        "gaussian_line": "With normal rewards, proportional means on any straight line.",
        "bernoulli_line": "With rewards of 0 or 1, proportional means on any straight line.",
        "floors": r"A policy is fair if each arm gets $\lfloor \tau T \rfloor$ pulls.",
        "in_proportion": r"A policy is fair if $N / T$ tends to $\tau$ or more for each arm.",
        "constant_quotas": r"Quotas do not depend on $T$, and $O(K)$ may contain $1 / \Delta$.",
        "universal_constant": "Quotas do not depend on $T$, and $O(K)$ is $K$ times one number.",
        "falling_quotas": r"Quotas may fall like $\ln T / T$, which Theorem 2 does not exclude.",
    },
)


#: Laws of the rewards of Experiments A and B that are readings.
LAWS = ["gaussian", "bernoulli"]
#: Readings of LFG's index.
CUTS = ["lfg_capped", "lfg_uncapped"]
INDICES = [*CUTS, "lfg_infinite"]
#: Readings of asymptotic fairness, and of the quotas in Theorem 2.
FAIR, QUOTAS = ["floors", "in_proportion"], ["constant_quotas", "falling_quotas"]
#: Experiment C: 5 and 20 arms, three sums of quotas; the same for a million rounds; more policies.
PANELS, LONG, OPEN = ("regret_5_*", "regret_20_*"), "regret_long_*", "regret_open"

AGAINST = "The verdict is against the claim, and no control could make it worse."


def less_regret(ht_ucb, rival, t, whose, replicates=None, **said):
    phrase = f"penalised regret of {whose} minus HT-UCB's"
    ht_ucb, rival = (run.at("penalised_regret", t)[:replicates] for run in (ht_ucb, rival))
    return clearly_larger(phrase, rival, at_least=ht_ucb, unit="reward", **said)


def all_floors(run, where="", **said):
    """No arm has fewer pulls than the quota in whole pulls at T, in 99 % of the runs."""
    phrase = f"share of the runs in which all arms have their quota in whole pulls{where}"
    return share(phrase, has_quotas(run), at_least=0.99, **said)


def in_proportion(run, of, where="", **said):
    """Pulls of some arms are proportional to the inverse square of a gap."""
    gap, chosen = of(run)
    places = np.flatnonzero(chosen)[np.argsort(gap[chosen] ** -2, kind="stable")]
    phrase = f"growth exponent of pulls in the inverse square of the gap{where}"
    return proportional(phrase, gap[places] ** -2, run.end("plays")[:, places], **said)


def straight(run, of):
    gap, chosen = of(run)
    values = straightness(run.end("plays")[:, chosen], gap[chosen] ** -2)
    phrase = "correlation of pulls and the inverse square of the gap over the arms"
    return mean(phrase, values, at_least=0.95, most=1)


def proportional_pulls(runs, of, panels):
    for law in LAWS:
        for name in cases(of=panels):
            run = runs(name, law=law)
            uniform = runs(f"pulls_control_{name}", policy="uniform", law=law)
            with reading(law):
                yield in_proportion(run, of, name="slope").control(in_proportion(uniform, of))
            with reading(f"{law}_line"):
                yield straight(run, of).control(straight(uniform, of))


@paper.comparison(
    "abstract, last sentence; section 1, third sentence from the end; section 6",
    primary=True,
    readings=INDICES,
    figure="fig2",
    rests_on=["htucb-expC-vs-flearn", "htucb-expC-vs-lfg"],
)
def htucb_abs_superiority(runs):
    r"""In simulations HT-UCB has a smaller penalised regret than LFG and Flearn.

    The control is UCB1, which ignores quotas: where it too has less regret than the rival, the
    comparison supports nothing, and is printed again without a control. At the longest horizons
    HT-UCB has less regret than UCB1 (htucb-expC-ordering-crossover). LFG has the weight $\sqrt{T}$
    of Experiment C; the weight $T$ is ours.
    """
    for panel in runs(PANELS, OPEN).each("N", "tau"):
        shown, more = panel(PANELS), panel(OPEN)
        ht_ucb, lfg = shown(policy="ht_ucb"), shown(policy="lfg")
        flearn, ucb1, soft = (shown(policy=name) for name in ("flearn", "ucb1", "soft"))
        ways = {"lfg_capped": lfg(eta_exponent=0.5), "lfg_uncapped": more(policy="lfg")}
        ways["lfg_infinite"] = more(policy="lfg_infinite")
        for weighted in readings(ways):
            for rival in weighted.each("T"):
                control = less_regret(ucb1, rival, rival.T, "LFG")
                yield less_regret(ht_ucb, rival, rival.T, "LFG", name="than_lfg").control(control)
                yield less_regret(ht_ucb, rival, rival.T, "LFG", name="lfg_alone", beside=True)
        for rival in lfg(eta_exponent=1).each("T"):
            said = {"name": "than_heavier_lfg", "beside": True}
            yield less_regret(ht_ucb, rival, rival.T, "LFG with the weight $T$", **said)
        for t in cases(round=ht_ucb.rounds):
            control = less_regret(ucb1, flearn, t, "Flearn")
            yield less_regret(ht_ucb, flearn, t, "Flearn").control(control)
            said = {"name": "than_ucb1", "beside": True}
            yield less_regret(ht_ucb, ucb1, t, "UCB1, which ignores quotas,", **said)
            said = {"name": "than_soft", "beside": True}
            yield less_regret(ht_ucb, soft, t, "the soft threshold", **said)

    for panel in runs(LONG).each("N", "tau"):
        ht_ucb = panel(policy="ht_ucb")
        late = f"after {ht_ucb.T:,} rounds"
        for lfg in panel(policy="lfg").longest.each("eta_exponent"):
            yield less_regret(ht_ucb, lfg, lfg.T, f"LFG {late}", beside=True)
        yield less_regret(ht_ucb, panel(policy="flearn"), ht_ucb.T, f"Flearn {late}", beside=True)


paper.qualitative(
    "htucb-abs-corroborates",
    "abstract, last sentence",
    "Experiments agree with the theory.",
    judged_by=["htucb-expA-inverse-gap", "htucb-expB-inverse-gap", "htucb-expA-matches-thm2"],
)
paper.comparison(
    "htucb-abs-tradeoff",
    "abstract, sentence 4; contributions, last sentence",
    "HT-UCB has a better trade-off between reward and fairness than other methods.",
    alias_of="htucb-expE-frontier",
)


def up_to_k_pulls(blocks):
    for block in blocks.each("experiment"):
        ht_ucb, ucb1 = (
            block(policy=name).end("lack").max(axis=1) <= block.N for name in ("ht_ucb", "ucb1")
        )
        phrase = "share of the runs in which no arm is more than $K$ pulls short"
        yield share(phrase, ht_ucb, at_least=0.99).control(ucb1)


@paper.bound(
    "abstract, sentence 4; contributions, sentence 3; section 7",
    primary=True,
    rests_on=["htucb-thm1-fair"],
    readings=FAIR,
)
def htucb_abs_asymptotic_fairness(runs):
    r"""With large penalty rates HT-UCB is asymptotically fair.

    An arm that waits for others is short: with four arms by at most one pull, and with eleven arms
    that reach their quotas in the same round by 2.25 pulls. Theorem 1 is about whole pulls,
    $\lfloor \tau T \rfloor$, whereas the abstract may be about proportions.
    """
    with reading("floors"):
        yield all_floors(runs("blocked_four_arms", policy="ht_ucb"), uncontrolled=AGAINST)
    with reading("in_proportion"):
        yield from up_to_k_pulls(runs("blocked", "edge", "large_rates"))


paper.bound(
    "htucb-abs-nearly-optimal",
    "abstract, sentence 4; after Theorem 2; after Theorem 6",
    "HT-UCB's regret meets its upper bound up to a constant; the bound can hardly be improved.",
    primary=True,
    part="that the bounds of HT-UCB's own regret meet; not that no other algorithm does better",
    note=r"""Whether any other algorithm can do better is not tested, because Theorems 5 and 6 are
    about HT-UCB alone. With the factor $\Delta$ that is missing in Eq. 13 the bound holds wherever
    it is run (htucb-thm2-eq13-corrected).""",
    judged_by=["htucb-thm2-eq13-printed", "htucb-thm5-lb", "htucb-thm6-lb", "htucb-const8"],
)
paper.definition(
    "htucb-abs-bounds-exist",
    "abstract, sentences 5 and 6",
    "There are upper bounds on penalised regret, with and without gaps, and lower bounds.",
    untestable="The claim is that theorems exist. Each theorem is judged by itself.",
)
paper.literature(
    "htucb-intro-firstwork",
    "contributions, sentence 1",
    "No earlier work has a framework of fair bandits with a penalty term.",
    untestable="This is a claim of priority.",
)


@paper.qualitative("section 1, last sentence before contributions; section 7, sentence 2")
def htucb_intro_user_knob(runs):
    """With a penalty rate for each arm, the user can protect some arms more than others.

    Arms 2 and 3 have rates above their gaps and end at their quotas: nothing tells them apart.
    """
    run = runs("user_rates")  # arms 2 to 5: gap 0.3, quota 1/10, penalty rates 0.8, 0.5, 0.25, 0
    short = np.where(run.end("critical"), run.end("lack"), 0).max(axis=1)
    pulls = run.end("plays")
    phrase = "share of the runs in which no critical arm is more than a pull short"
    yield share(phrase, short <= 1, at_least=0.95)
    for arm in (2, 3):
        phrase = f"pulls of arm {arm + 1} minus those of arm {arm + 2}"
        yield mean(phrase, pulls[:, arm], at_least=pulls[:, arm + 1], unit="pulls")


@paper.invariant(
    """section 1, fourth sentence from the end before the contributions; section 3, sentence 2
    after Eq. 12"""
)
def htucb_intro_ucb_plus_term(runs):
    """HT-UCB is UCB with a term added for arms that are short of their quotas."""
    phrase = "largest difference from UCB1's pulls in any round"
    ucb1 = runs("plain", policy="ucb1")
    for run in runs("plain", policy=["no_rates", "no_quotas"]).each("policy"):
        yield exact(phrase, np.abs(run["plays"] - ucb1["plays"]).max(axis=2), unit="pulls")


@paper.qualitative(
    "section 1, fourth sentence from the end before the contributions; section 3, after Eq. 12",
    rests_on=["htucb-intro-ucb-plus-term"],
)
def htucb_intro_favours_below_level(runs):
    r"""HT-UCB's additional term makes it prefer arms that are short of their quotas.

    HT-UCB passes over a short arm only for an arm whose index is larger by more than the penalty
    rate. This is the algorithm's own rule, so it is asked of every round, without a limit of ours.
    """
    run = runs("each_of_many")
    n, before, pulled, short = steps(run)
    paid = np.pad(run["reward"], [(0, 0), (1, 0), (0, 0)])
    paid = paid[:, np.searchsorted(np.append(0, run.rounds), n - 1)]
    index = paid / np.maximum(before, 1) + np.sqrt(2 * np.log(n)[:, None] / np.maximum(before, 1))
    index = np.where(before > 0, index, np.inf)  # each arm first once
    taken = np.where(pulled, index, -np.inf).max(axis=2)
    passed = np.where(short, index + run["penalty"], -np.inf).max(axis=2)
    others = np.where(short, -np.inf, index).max(axis=2)
    asked = np.isfinite(taken) & np.isfinite(passed)
    served = (short & pulled).any(axis=2)
    over = asked & ~served
    phrase = "index of a short arm with its penalty rate minus that of an arm pulled in its place"
    yield rounded(phrase, passed[over] - taken[over])
    phrase = "1 minus the rounds of a run in which a short arm is pulled for the additional term"
    yield exact(phrase, 1 - (asked & served & (others > taken)).sum(axis=1), unit="rounds")


paper.rate(
    "htucb-intro-logT-regret",
    "contributions, sentence 4",
    r"HT-UCB's penalised regret is $O(\log T)$ for fixed gaps.",
    alias_of="htucb-thm2-logT",
)
paper.rate(
    "htucb-intro-maxdeficit-logT",
    "contributions, sentences 5 and 6",
    r"Under HT-UCB the largest shortfall of an arm in rounds 1 to $T$ is $O(\log T)$.",
    alias_of="htucb-thm3-growth",
)
paper.bound(
    "htucb-intro-gapfree",
    "contributions, sentence 7",
    "There is a bound on HT-UCB's penalised regret that does not depend on gaps.",
    alias_of="htucb-thm4-bound",
)
paper.opinion(
    "htucb-intro-harder-analysis",
    "contributions, sentence 8; section 5, technical challenges",
    "The analysis of HT-UCB is much harder than that of UCB.",
    untestable="This is a judgement about proofs.",
)


@paper.definition("section 2, sentence 4 and Eq. 2")
def htucb_sec2_constraint(runs):
    r"""A good policy has $N_k(t) \ge \tau_k t$ for all arms $k$ and all rounds $t$.

    After the first round one arm has a pull, and every arm with a quota above 0 needs one.
    """
    nine_arms, two_arms = ["1/20"] * 9, ["1/10"] * 2
    phrase = "most pulls in any round that all quotas need beyond those available"
    least_lack = random_instances.least_lack
    yield enumerated(phrase, least_lack, (nine_arms, 100), (two_arms, 100), unit="pulls")


@paper.invariant("section 2, Eq. 5")
def htucb_eq5_identity(runs):
    r"""A policy's loss, $\mu^* T$ minus its expected penalised reward, is the sum over arms of
    $\Delta N$ and $A (\tau T - N)^+$, in expectation.
    """
    for played in runs("fixed_gaps", "random_gaps").each("experiment"):
        best = [run["mu"].max(axis=2) * run.rounds for run in played]
        penalties = [(run["penalty"] * run["lack"]).sum(axis=2) for run in played]
        apart = [
            np.abs(most - (run["mean_reward"] - due) - run["penalised_loss"])
            for run, most, due in zip(played, best, penalties, strict=True)
        ]
        phrase = "largest difference between the loss and the sum of Eq. 5"
        yield rounded(phrase, *apart, scale=best, unit="reward")
        run = played(policy="ht_ucb")
        collected, expected = run.end("reward").sum(axis=1) / run.T, run.end("mean_reward") / run.T
        phrase = "reward minus expected reward of the arms pulled, per round"
        said = {"difference": [-0.001, 0.001], "unit": "reward per round"}
        yield mean(phrase, collected, equal_to=expected, **said)


@paper.invariant("section 2, list after Eq. 6")
def htucb_facts123(runs):
    r"""An arm's loss $\Delta y + A (\tau - y)^+$ is least for $y \ge \tau$ if $\Delta = 0$, at $y =
    \tau$ if $A \ge \Delta > 0$, and at 0 if $\Delta > A$. It is then 0, $\Delta \tau$ and $A \tau$.

    For $A = \Delta$ all $y$ up to $\tau$ are equally good. The statement names one of them.
    """
    phrase = "random arms whose loss is not least where section 2 says"
    yield enumerated(phrase, random_instances.wrong_minimisers, 10000, seed=runs.seed)


@paper.invariant("section 2, Eqs 7 and 9", rests_on=["htucb-facts123"])
def htucb_eq7_lp(runs):
    r"""The best division of the horizon gives their quotas to critical arms and to all best arms
    except one, which gets the rest. Others get nothing. The loss is $T \sum \min(\Delta, A) \tau$.
    """
    errors = random_instances.optimum_errors
    phrase = "largest distance of Eqs 7 and 9 from the linear programme's optimum, random instances"
    yield enumerated(phrase, errors, 500, seed=runs.seed, tolerance=1e-9, unit="reward per round")


@paper.invariant("section 2, Eq. 10")
def htucb_eq10_identity(runs):
    """The penalised regret is the sum of parts for optimal, critical and non-critical arms."""
    yield proof(failed_steps, "eq10")


@paper.invariant("Eq. 10 and the sentence before", rests_on=["htucb-eq5-identity", "htucb-eq7-lp"])
def htucb_eq10_nonneg(runs):
    """The penalised regret is a policy's loss beyond the least possible, so never below 0."""
    for played in runs(PANELS, "fixed_gaps").each("policy"):
        losses = [run["penalised_loss"] for run in played]
        lower = [run["prophet_loss"] - loss for run, loss in zip(played, losses, strict=True)]
        phrase = "largest amount by which a penalised loss is below the prophet's"
        yield rounded(phrase, *lower, scale=losses, unit="reward")
    prophet = runs("divided")
    losses = [run.end("penalised_loss") for run in prophet]
    apart = [
        np.abs(loss - run.end("prophet_loss")) for run, loss in zip(prophet, losses, strict=True)
    ]
    phrase = "largest difference between penalised loss and the prophet's, where quotas are whole"
    yield rounded(phrase, *apart, scale=losses, unit="reward")


@paper.definition("section 2, the three sets before Eq. 7")
def htucb_sets_partition(runs):
    """Every arm is in one of the three sets of optimal, critical and non-critical arms."""
    phrase = "largest distance from 1 of the number of sets that a random arm is in"
    yield enumerated(phrase, random_instances.not_one_set, 10000, seed=runs.seed)


@paper.bound("Theorem 1", primary=True, rests_on=["htucb-thm2-deficit-O1"])
def htucb_thm1_fair(runs):
    r"""If quotas are constant and $A - \Delta \ge \min(\sqrt{32 \ln T / (\tau T)}, 1)$ for every
    arm, HT-UCB gives all arms $\lfloor \tau T \rfloor$ pulls with a probability that tends to 1.

    The theorem fails by one pull, in rounds chosen for it. In round $10 m + 1$ all four arms cross
    their levels together, and are served in the order of $\mu + A$. In round $10 m + 2$ two of them
    have been served, and the last arm, with a quota of 1/2, is one pull short. This happens for
    every $m$, so the probability does not tend to 1. Up to $K$ pulls every arm has its quota
    (htucb-thm1-treats-every-arm-fairly). Proportions are a reading of the abstract
    (htucb-abs-asymptotic-fairness), and not of the theorem.
    """
    # T = 10 m + 2 with m = 10^4, quotas 1/10, 1/10, 1/10, 1/2, rates 0.35 or more above the gaps
    four_arms = runs("blocked_four_arms", policy="ht_ucb")
    yield all_floors(four_arms, uncontrolled=AGAINST)
    phrase = "share of the runs in which no arm is more than a pull short"
    yield share(phrase, four_arms.end("lack").max(axis=1) <= 1, at_least=0.99, beside=True)
    edge = ", with rates just as large as the theorem asks, where arms do not wait for others"
    yield all_floors(runs("edge", policy="ht_ucb"), edge, beside=True)
    for run in runs("large_rates", policy="ht_ucb").each("instance"):
        yield all_floors(run, ", with rates of 1", beside=True)


@paper.qualitative("sentence after Theorem 1", rests_on=["htucb-thm1-fair"])
def htucb_thm1_treats_every_arm_fairly(runs):
    """With rates well above the gaps HT-UCB gives every arm its quota up to $K$ pulls."""
    yield from up_to_k_pulls(runs("blocked", "large_rates"))


@paper.bound(
    "Theorem 2, display 1",
    primary=True,
    part="""A shortfall above $4 K$ pulls counts as $4 K$: how large it is in fewer than 1 % of the
    runs is not seen.""",
    rests_on=["htucb-proof-unit-deficit"],
)
def htucb_thm2_deficit_O1(runs):
    """Under HT-UCB the mean shortfall of an optimal or critical arm is bounded, whatever $T$.

    Any bound that does not grow with $T$ will do. One pull is none: of eleven arms that reach their
    quotas in the same round the last is short of more (htucb-proof-unit-deficit).
    """
    for block in runs("fixed_gaps", "random_gaps", "blocked").each("experiment"):
        most = 4 * block.N
        ht_ucb, ucb1 = (
            np.minimum(largest_shortfall(block(policy=name)), most) for name in ("ht_ucb", "ucb1")
        )
        phrase = "largest shortfall of an optimal or critical arm, cut off at $4 K$"
        yield mean(phrase, ht_ucb, at_most=block.N, most=most, unit="pulls").control(ucb1)


@paper.bound(
    "Theorem 2, display 2", primary=True, rests_on=["htucb-proof-eq20", "htucb-proof-eq21"]
)
def htucb_thm2_cr_count(runs):
    r"""HT-UCB's mean pulls of a critical arm are at most $\max(8 \ln T / \Delta^2, \tau T) + O(1)$.

    This does not need the last step of htucb-proof-eq20, which is false as printed.
    """

    def excess(run):  # of the worst critical arm, of those whose bound is less than T
        bound = run.end("pulls_bound")
        asked = run.end("critical") & (bound / run.T < 1)
        worst_of_run = np.where(asked, run.end("plays") - bound, 0).max(axis=1)
        return np.minimum(worst_of_run, 4 * run.N)

    for block in runs("fixed_gaps", "random_gaps").each("experiment"):
        ht_ucb, uniform = (excess(block(policy=name)) for name in ("ht_ucb", "uniform"))
        phrase = "largest excess of a critical arm's pulls over Theorem 2's bound, cut off at $4 K$"
        said = {"most": 4 * block.N, "unit": "pulls"}
        yield mean(phrase, ht_ucb, at_most=block.N, **said).control(uniform)

    ht_ucb, uniform = (runs("stress", policy=name) for name in ("ht_ucb", "uniform"))
    for arm in arms(np.flatnonzero(ht_ucb.end("critical"))):
        pulls, control = (run.end("plays")[:, arm] for run in (ht_ucb, uniform))
        bound = ht_ucb.end("pulls_bound")[0, arm]
        said = {"most": ht_ucb.T, "unit": "pulls"}
        yield mean("pulls of a critical arm", pulls, at_most=bound, **said).control(control)


def fewer_pulls(ht_ucb, uniform, arm, bound):
    """A non-critical arm has no more pulls than its bound, in all recorded rounds."""
    pulls, control = (run["plays"][:, :, arm] for run in (ht_ucb, uniform))
    said = {"most": ht_ucb.rounds, "unit": "pulls"}
    return mean("pulls of a non-critical arm", pulls, at_most=bound, **said).control(control)


@paper.bound("Theorem 2, display 3", primary=True, rests_on=["htucb-thm2-noncr-count-proofversion"])
def htucb_thm2_noncr_count(runs):
    r"""A non-critical arm's mean pulls are at most $\max(\min(8 \ln T / (\Delta - A)^2, \tau T), 8
    \ln T / \Delta^2) + O(1)$.
    """
    ht_ucb, uniform = (runs("fixed_gaps", policy=name) for name in ("ht_ucb", "uniform"))
    for arm in arms(np.flatnonzero(ht_ucb.end("non_critical"))):
        yield fewer_pulls(ht_ucb, uniform, arm, ht_ucb["pulls_bound"][0, :, arm])
    for block in runs("near_best").each("T"):  # the second arm is non-critical
        ht_ucb, uniform = (block(policy=name) for name in ("ht_ucb", "uniform"))
        yield fewer_pulls(ht_ucb, uniform, 1, ht_ucb["pulls_bound"][0, :, 1])

    ht_ucb, uniform = (runs("random_gaps", policy=name) for name in ("ht_ucb", "uniform"))
    for t in cases(round=ht_ucb.rounds):
        values, control = (
            np.where(
                run.end("non_critical"), run.at("plays", t) - run.at("pulls_bound", t), -t
            ).max(axis=1)
            for run in (ht_ucb, uniform)
        )
        phrase = "largest excess of a non-critical arm's pulls over Theorem 2's bound"
        yield mean(phrase, values, at_most=0, unit="pulls").control(control)


@paper.bound("proof of Theorem 2, third part", readings=QUOTAS)
def htucb_thm2_noncr_count_proofversion(runs):
    r"""A non-critical arm's mean pulls are at most $\min(8 \ln T / (\Delta - A)^2, \tau T) + O(1)$.

    An arm that has its quota is pulled as UCB pulls it. With rewards that do not vary this is at
    least $\ln T / \Delta^2$ times (appendix C). With a constant quota the minimum is the larger
    term from some $T$ on, and proof and theorem agree.
    """
    with reading("constant_quotas"):
        yield proof(failed_steps, "minimum_constant")
        ht_ucb, uniform = (runs("fixed_gaps", policy=name) for name in ("ht_ucb", "uniform"))
        bound = np.minimum(ht_ucb["raised_pulls"], ht_ucb["quota"] * ht_ucb.rounds[:, None])[0]
        for arm in arms(np.flatnonzero(ht_ucb.end("non_critical"))):
            yield fewer_pulls(ht_ucb, uniform, arm, bound[:, arm])
    with reading("falling_quotas"):
        yield proof(failed_steps, "minimum_free")


def within(run, bound, more=0, **said):
    """The penalised regret is at most a bound and `more`, in all recorded rounds."""
    bound, most = run[bound][0] + more, run["penalised_regret_most"][0]
    said |= {"at_most": bound, "most": most, "unit": "reward"}
    return mean("penalised regret", run["penalised_regret"], **said)


@paper.bound(
    "section 4.1, Eq. 13; sentence 2 after Theorem 6",
    primary=True,
    rests_on=[
        "htucb-thm2-deficit-O1",
        "htucb-thm2-cr-count",
        "htucb-thm2-noncr-count",
        "htucb-thm6-lb",
    ],
    readings=["constant_quotas", "universal_constant", "falling_quotas"],
)
def htucb_thm2_eq13_printed(runs):
    r"""HT-UCB's penalised regret $R$ is at most the sum over critical arms of $(8 \ln T / \Delta -
    \tau T)^+$, plus the sum over non-critical arms of $\max(\min(8 \ln T / (\Delta - A), (\Delta -
    A) \tau T), 8 \ln T / \Delta)$, plus $O(K)$.

    A factor $\Delta$ is missing before $\tau T$; Theorem 6 has it. Our text, which a program read
    from the PDF, lacks it in Eq. 13 and after Theorem 6. With constant quotas the factor changes
    the term by at most $8 (\ln(8 / (\Delta^2 \tau)) - 1) / \Delta$, so the bound stands if $O(K)$
    may contain that. With quotas of $8 \ln T / (\Delta T)$, which Theorem 6 allows for $\Delta <
    1/8$, Eq. 17 contradicts the bound. At any horizon a constant quota can have this size. The
    printed terms are then 0, and Eq. 17 grows as the gap falls: no number serves for all.
    """
    with reading("constant_quotas"):
        yield proof(failed_steps, "eq13_constant")
        ht_ucb, uniform = (runs("fixed_gaps", policy=name) for name in ("ht_ucb", "uniform"))
        control = within(uniform, "penalised_bound")
        yield within(ht_ucb, "penalised_bound", name="fixed_gaps").control(control)
    with reading("falling_quotas"):
        yield proof(failed_steps, "eq13_free")
    with reading("universal_constant"):
        yield proof(failed_steps, "eq13_family")


@paper.bound(
    "follows from the displays of Theorem 2, and Eq. 10",
    rests_on=["htucb-thm2-deficit-O1", "htucb-thm2-cr-count", "htucb-thm2-noncr-count"],
    about="project",
)
def htucb_thm2_eq13_corrected(runs):
    r"""HT-UCB keeps Eq. 13 with $(8 \ln T / \Delta - \Delta \tau T)^+$ for a critical arm."""
    for name in ("fixed_gaps", "stress"):
        yield within(runs(name, policy="ht_ucb"), "penalised_bound_corrected", name=name)
    run = runs("random_gaps", policy="ht_ucb")
    for t in cases(round=run.rounds):
        values = run.at("penalised_regret", t) - run.at("penalised_bound_corrected", t)
        phrase = "penalised regret minus the corrected bound of Eq. 13"
        yield mean(phrase, values, at_most=0, unit="reward")


@paper.rate("after Theorem 2, sentence 3", primary=True, rests_on=["htucb-thm2-eq13-printed"])
def htucb_thm2_logT(runs):
    r"""For fixed gaps HT-UCB's penalised regret $R$ is of order $\log T$."""
    ht_ucb, uniform = (
        runs("fixed_gaps", policy=name)["penalised_regret"] for name in ("ht_ucb", "uniform")
    )
    t = runs("fixed_gaps", policy="ht_ucb").rounds
    phrase = r"growth exponent of $R / \ln t$ in $t$, where $R$ is the penalised regret"
    yield slope(phrase, t, ht_ucb / np.log(t), at_most=0).control(uniform / np.log(t))


@paper.qualitative("after Theorem 2, sentence 1", rests_on=["htucb-thm2-deficit-O1"])
def htucb_thm2_critical_at_level(runs):
    r"""A critical arm with a rate well above its gap gets about $\tau T$ pulls or more.

    Arms with small gaps reach their quotas by learning alone, and could not have failed.
    """
    for run in runs("non_critical_*", "critical_*").each("experiment", "law"):
        for arm in arms(np.flatnonzero(run.end("critical"))):
            phrase = "share of the runs in which the arm is at most $K$ pulls short"
            yield share(phrase, run.end("lack")[:, arm] <= run.N, at_least=0.95)


@paper.qualitative("after Theorem 2, sentence 2", rests_on=["htucb-thm2-noncr-count"])
def htucb_thm2_noncr_below_level(runs):
    r"""A non-critical arm with a gap well above its rate can have fewer than $\tau T$ pulls."""
    for run in runs("non_critical_1", "non_critical_2").each("experiment", "law"):
        well_above = run.end("non_critical") & (run.end("gap") - run.end("penalty") > 0.1)
        for arm in arms(np.flatnonzero(well_above)):
            below = run.end("plays")[:, arm] < run.end("quota")[0, arm] * run.T
            phrase = "share of the runs in which the arm has fewer pulls than its quota"
            yield share(phrase, below, at_least=0.95)


@paper.bound("after Theorem 2, last sentence", rests_on=["htucb-thm2-eq13-printed"])
def htucb_thm2_A0_reduces(runs):
    r"""Without penalty rates HT-UCB is UCB, and its bound the known sum of $8 \ln T / \Delta$.

    Theorem 2 assumes $A \ge c_a > 0$, also for the best arm. Rates of 0 are outside it.
    """
    ht_ucb, ucb1 = (runs("plain", policy=name)["plays"] for name in ("no_rates", "ucb1"))
    phrase = "largest difference from UCB1's pulls in any round"
    yield exact(phrase, np.abs(ht_ucb - ucb1).max(axis=2), unit="pulls")
    yield within(runs("without_penalties"), "ucb1_bound")


def alone(run, least, first):
    """Rounds from `first` on in which one arm alone, with A_k >= Delta_k, is behind its quota.

    All other arms have more than `least` pulls. Also how often that arm is not pulled.
    """
    n, before, pulled, short = steps(run)
    alone_short = short & ~run["non_critical"]
    others = (short | (before <= least)) & ~alone_short
    holds = (alone_short.sum(axis=2) == 1) & ~others.any(axis=2) & (n >= first)
    return holds.sum(axis=1), (holds & ~(alone_short & pulled).any(axis=2)).sum(axis=1)


@paper.invariant("appendix B, Observation 3", rests_on=["htucb-proof-eq18"])
def htucb_proof_obs3(runs):
    r"""With high probability HT-UCB next pulls a critical arm that alone is short of its quota, if
    all others have more than $8 \ln T / c_a^2$ pulls.

    The four critical arms fall short in the same round and are pulled one after the other, so the
    last is alone every 25/3 rounds, 1200 times in the second half of a run.
    """
    run = runs("each_round_all_critical")  # optimal arms count as critical
    rounds, unserved = alone(run, 8 * np.log(run.T) / 0.6**2, run.T / 2)
    phrase = "late rounds in which a critical arm alone is short and another is pulled"
    yield exact(phrase, unserved[rounds > 0])
    yield proof(failed_steps, "eq18")


def outside(run, least, first):
    """Rounds from `first` on in which a non-critical arm with more than `least` pulls is pulled.

    Also in how many of them an arm with A_k >= Delta_k is short of its quota.
    """
    n, before, pulled, short = steps(run)
    taken = (pulled & (before > least) & run["non_critical"]).any(axis=2) & (n >= first)
    return taken.sum(axis=1), (taken & (short & ~run["non_critical"]).any(axis=2)).sum(axis=1)


@paper.invariant("appendix B, Observation 4", rests_on=["htucb-proof-eq18"])
def htucb_proof_obs4(runs):
    r"""With high probability HT-UCB pulls a non-critical arm with more than $8 \ln T / c_a^2$ pulls
    only when no critical arm is short of its quota.

    "Critical" must include optimal arms here.
    """
    run = runs("each_of_many")
    rounds, out_of_turn = outside(run, 8 * np.log(run.T) / 0.54**2, run.T / 2)
    phrase = "share of the runs in which no late round has a non-critical arm pulled and a "
    phrase += "critical arm short"
    yield share(phrase, out_of_turn[rounds >= 10] <= 0, at_least=0.99)


@paper.bound(
    "appendix B, last sentence of the first part of the proof of Theorem 2; proof of Lemma 1",
    rests_on=["htucb-proof-obs3", "htucb-proof-obs4", "htucb-proof-n1-exists", "htucb-proof-eq19"],
)
def htucb_proof_unit_deficit(runs):
    """With high probability no critical arm's shortfall exceeds one pull from some round on.

    Of eleven arms that reach their quotas in the same round the last waits for the others, and is
    2.25 pulls short. On random instances no run has such a shortfall in its second half.
    """
    run = runs("each_of_many")
    late = np.where(run["non_critical"], 0, run["lack"])[:, run.rounds >= run.T / 2]
    phrase = "share of the runs in which no optimal or critical arm is more than a pull short from "
    phrase += "round $T / 2$ on"
    yield share(phrase, late.max(axis=(1, 2)) <= 1, at_least=0.99)
    lack = runs("blocked_eleven_arms", policy="ht_ucb")["lack"]
    phrase = "share of the runs in which no arm is more than a pull short in the last rounds, "
    phrase += "where arms reach their quotas together"
    yield share(phrase, lack.max(axis=(1, 2)) <= 1, at_least=0.99)


@paper.qualitative(
    "proof of Theorem 2, second paragraph after Observation 4",
    rests_on=["htucb-proof-count-halfway", "htucb-proof-eq18"],
)
def htucb_proof_n1_exists(runs):
    r"""With high probability all critical arms have $\lfloor \tau n \rfloor$ pulls in some round
    $n$ from $c_0 T / 2$ on.
    """
    run = runs("each_of_many")
    behind = np.where(run["non_critical"], -1, run["owed"] - run["plays"]).max(axis=2)
    phrase = "share of the runs in which all critical arms have their quotas in some round from "
    phrase += "$T / 5$ on"
    yield share(phrase, (behind[:, run.rounds >= run.T / 5] <= 0).any(axis=1), at_least=0.99)


@paper.bound("proof of Theorem 2, display after n_1 is defined", rests_on=["htucb-proof-n1-exists"])
def htucb_proof_n1_bound(runs):
    r"""With probability above $1 - 2 K / T$ the first round from $c_0 T / 2$ on in which all
    critical arms have $\lfloor \tau n \rfloor$ pulls is at most $c_0 T / 2$, plus $8 \ln T / c_a^2$
    for each non-critical arm, plus $\tau T$ for each critical one.

    So many runs cannot show a probability this near 1; they show 99 %.
    """
    run = runs("each_of_many")
    outside, quota = run.end("non_critical")[0], run.end("quota")[0]
    bound = run.T / 5 + outside.sum() * 8 * np.log(run.T) / 0.54**2 + quota[~outside].sum() * run.T
    behind = np.where(run["non_critical"], -1, run["owed"] - run["plays"]).max(axis=2)
    early = (run.rounds >= run.T / 5) & (run.rounds <= bound)
    phrase = "share of the runs in which all critical arms have their quotas by the bound on $n_1$"
    yield share(phrase, (behind[:, early] <= 0).any(axis=1), at_least=0.99)


@paper.bound("appendix B and E, paragraphs before the definitions of n_1")
def htucb_proof_turn_probability(runs):
    r"""While a critical arm is short, an arm that has its quota and $8 \ln T / c_a^2$ pulls is
    pulled in round $n$ with probability less than $2 / T^2$.

    Eq. 18 gives $2 / n^2$, which is more in all rounds but the last.
    """
    yield proof(failed_steps, "two_over_T2")


@paper.bound("proof of Theorem 2, first paragraph after Observation 4")
def htucb_proof_count_halfway(runs):
    r"""If $T$ is large enough, every critical arm has $8 \ln T / c_a^2$ pulls in round $c_0 T / 2$.

    The corrected condition of htucb-inconsistency-09 requires about 28 000 rounds here. The
    statement already holds with 20 000 rounds.
    """
    run = runs("halfway")
    enough = run.at("plays", 0.2 * run.T).min(axis=1) >= 8 * np.log(run.T) / 0.6**2
    phrase = r"share of the runs in which all arms have $8 \ln T / 0.6^2$ pulls in round $0.2 T$"
    yield share(phrase, enough, at_least=0.99)


@paper.bound("appendix B, Eq. 18")
def htucb_proof_eq18(runs):
    r"""While a critical arm is short of its quota, another critical arm that is not short and has
    $8 \ln T / c_a^2$ pulls has the larger index with probability at most $2 / n^2$.

    This is for an arm with $\Delta > 0$. An optimal arm is at the border.
    """
    yield proof(failed_steps, "eq18")


@paper.bound(
    "appendix B, Eq. 19",
    part="""For a given number of pulls, with the critical arm's index at its mean, without width or
    noise.""",
)
def htucb_proof_eq19(runs):
    r"""With probability at most $2 / (c_0 T)$ a non-critical arm with at most $\ln(c_0 T / 2) / (2
    \Delta^2)$ pulls has a smaller index than a critical arm that has its quota.

    One line between the first and the last fails, and the last follows. The second line does not
    follow from the first as printed: $2 \ln n$ becomes $\ln n$, and Hoeffding's bound on the
    failure of that step is only $n^{-0.34}$. Directly, the sample mean must fall by $\sqrt{\ln n /
    (2 N)}$, and Hoeffding's bound on this is $1 / n$. Nothing is left for the critical arm's width.
    """
    yield proof(failed_steps, "eq19")


@paper.bound("appendix B, Eq. 20")
def htucb_proof_eq20(runs):
    r"""A critical arm that has $8 \ln T / \Delta^2 > \tau T$ pulls is pulled again with probability
    at most $1 / n^2 \le 1 / (8 \ln T / \Delta)^2 \le 1 / (\tau T)^2$.

    There $8 \ln T / \Delta$ is 147 and $\tau T$ is 200. With $\Delta^2$, a square that the reading
    of the PDF may have lost, all steps hold. The conclusion, htucb-thm2-cr-count, does not need the
    last step. The probability is that of both events; conditional on a rare event it can be larger.
    """
    yield proof(failed_steps, "eq20")


@paper.bound("appendix B, Eq. 21")
def htucb_proof_eq21(runs):
    r"""A critical arm that has $\tau T \ge 8 \ln T / \Delta^2$ pulls is pulled again with
    probability at most $1 / n^2 \le 1 / (\tau T)^2$.

    The probability is joint: that an arm has so many pulls and is pulled.
    """
    yield proof(failed_steps, "eq21")


@paper.bound("appendix B, before and after Eq. 19", rests_on=["htucb-proof-eq19"])
def htucb_proof_n2(runs):
    r"""If $\Delta - A \ge \sqrt{8 K \ln T / (c_0^2 T)}$, the inequality $n_2 - n_1 \le \sum \tau
    (n_2 - n_1) + \sum 8 \ln T / (\Delta - A)^2$ cannot hold for $n_2 - n_1 \ge c_0 T / 2$.

    With $\sum \tau (n_2 - n_1)$ moved to the left, the left side is $c_0^2 T / 2$, and the right
    side is up to $c_0^2 T (K - 1) / K$. This does not refute $n_2 \le n_1 + c_0 T / 2$, but the
    proof does not show it. A factor of 2 in the margin repairs the step.
    """
    yield proof(failed_steps, "second_time")


@paper.bound(
    "Theorem 3 and Eq. 14",
    primary=True,
    part="""One instance with five arms, whose first three arms have a bound below the largest
    shortfall possible.""",
    rests_on=[
        "htucb-thm3-recursion",
        "htucb-proof-eq31",
        "htucb-proof-eq33",
        "htucb-thm3-ordering-fact",
    ],
)
def htucb_thm3_bound(runs):
    r"""If the $j$-th arm by $\mu + A$ is optimal or critical, the mean of its largest shortfall
    under HT-UCB in rounds 1 to $T$ is at most $a_j \ln T + O(1)$.

    The shortfall is less than a pull, so far below the bound that runs could hardly contradict it.
    The proof is right for two arms: Eqs 29 to 32 and 34 to 36 hold, and Eq. 33 does not follow for
    a third (htucb-proof-eq33). UCB1, the control, breaks that of the second and third arm.
    """
    ht_ucb, ucb1 = (runs("ordered", policy=name) for name in ("ht_ucb", "ucb1"))
    for t in cases(round=ht_ucb.rounds):
        bound, most = ht_ucb["maximal_coefficient"] * np.log(t), ht_ucb.end("quota")[0] * t
        for arm in arms(np.flatnonzero(bound < most)):
            lack, control = (run.at("deficit_sup", t)[:, arm].clip(0) for run in (ht_ucb, ucb1))
            said = {"most": most[arm], "unit": "pulls"}
            test = mean("largest shortfall so far", lack, at_most=bound[arm], **said)
            yield test.control(control)


@paper.rate("contributions, sentence 6; Theorem 3", primary=True, rests_on=["htucb-thm3-bound"])
def htucb_thm3_growth(runs):
    r"""HT-UCB's largest shortfall in rounds 1 to $T$ grows no faster than $\ln T$.

    The shortfall does not grow at all here. Three decades do not show what $\ln T$ would do.
    """
    block = runs("ordered")
    most = 4 * block.N

    def late_rise(run):
        rise = run.end("deficit_sup") - run.at("deficit_sup", run.T / 1000)
        return np.minimum(rise.max(axis=1), most)

    ht_ucb, ucb1 = (late_rise(block(policy=name)) for name in ("ht_ucb", "ucb1"))
    phrase = "largest rise of an arm's largest shortfall after round $T / 1000$, cut off at $4 K$"
    yield mean(phrase, ht_ucb, at_most=1, most=most, unit="pulls").control(ucb1)


@paper.qualitative("section 4.1, sentence after Eq. 14", rests_on=["htucb-thm3-bound"])
def htucb_thm3_anyround_all(runs):
    r"""HT-UCB gives all arms $\tau t$ pulls in every round, up to $O(\log T)$.

    By Theorem 2 non-critical arms, which Theorem 3 leaves out, lack most of $\tau T$.
    """
    yield proof(failed_steps, "any_round")


@paper.invariant("appendix D, sentence after Eq. 31")
def htucb_thm3_ordering_fact(runs):
    r"""By $\mu + A$, largest first, optimal and critical arms come before all others."""
    phrase = r"random non-critical arms with $\mu + A$ not below all others"
    yield enumerated(phrase, random_instances.out_of_order, 10000, seed=runs.seed)


def recursion_excess(run):
    """Left minus right side of Eq. 29 for arms with A_k >= Delta_k, times the denominator."""
    numerators, denominator = (np.ravel(part) for part in run.config.exact_quotas)
    behind = run.rounds[:, None] * numerators - denominator * run["plays"].astype(np.int64)
    most, (*_, pulls, lacks) = np.maximum(behind, 0).max(axis=1), steps(run)
    earlier, ahead, waiting = 0, np.zeros(lacks.shape[:2], bool), 0
    for arm in np.argsort(-(run.end("mu") + run.end("penalty"))[0], kind="stable"):
        short, pulled = lacks[:, :, arm], pulls[:, :, arm]
        waiting = waiting + (short & ~ahead & ~pulled).sum(axis=1)
        if not run.end("non_critical")[0, arm]:
            yield most[:, arm] - (numerators[arm] + earlier + denominator * waiting)
        earlier, ahead = earlier + most[:, arm], ahead | short


@paper.invariant("appendix D, Eq. 29")
def htucb_thm3_recursion(runs):
    r"""On every path the largest shortfall of an optimal or critical arm is at most its quota, plus
    the largest shortfalls of all arms before it by $\mu + A$, plus its waiting rounds.
    """
    for run in runs("each_round").each("instance"):
        phrase = "left minus right side of Eq. 29, times the quotas' common denominator"
        yield exact(phrase, *recursion_excess(run), unit="pulls")


paper.bound(
    "htucb-proof-eq30",
    "appendix D, Eqs 25 to 28 and 30",
    "The rounds since an arm was last not short are counted by who was short and who was pulled.",
    note="These equations lead to Eq. 29 on every path. Eq. 30 is its expectation.",
    judged_by=["htucb-thm3-recursion"],
)


@paper.bound("appendix D, Eqs 31 and 34 to 36")
def htucb_proof_eq31(runs):
    r"""While no arm before it by $\mu + A$ is short, a short optimal or critical arm waits for each
    other arm in at most $8 \ln T / \delta^2 + O(1)$ rounds in expectation. Here $\delta$ is its
    $\mu + A$, minus $\mu$ of an arm before it or $\mu + A$ of an arm after it.
    """
    yield proof(failed_steps, "eq31")


@paper.bound("appendix D, Eq. 33")
def htucb_proof_eq33(runs):
    r"""The recursion $a_1 = b_1$ and $a_j = \sum_{d < j} a_d + \sum_{d \le j} b_d$ implies $a_j =
    \sum_{d \le j} (j - d + 1) b_d$.

    For $j = 3$ the recursion gives $4 b_1 + 2 b_2 + b_3$, the sum $3 b_1 + 2 b_2 + b_3$. So Eq.
    14's coefficients do not follow from the third arm on. With doubled weights they would.
    """
    yield proof(failed_steps, "eq33")


@paper.qualitative("appendix D, Remark", reported=True)
def htucb_thm3_ties_remark(runs):
    r"""When penalty rates are drawn at random, two sums $\mu + A$ differ with probability 0.

    This is a misprint for "are equal", as the sentence before it says.
    """
    yield proof(failed_steps, "ties")


@paper.invariant("Observation 1")
def htucb_obs1(runs):
    r"""If $A - \Delta \le 4 \sqrt{2 \ln T / T^{2/3}}$, then $(A - \Delta) (\tau T - N)^+ \le 4 \tau
    T^{2/3} \sqrt{2 \ln T}$.

    The statement follows from $(\tau T - N)^+ \le \tau T$.
    """
    yield proof(failed_steps, "observation_1")


@paper.bound("Lemma 1")
def htucb_lem1(runs):
    r"""If quotas are constant and $A - \Delta \ge 4 \sqrt{2 \ln T / T^{2/3}}$, the arm's expected
    shortfall under HT-UCB is $O(\tau K T^{2/3})$ pulls.

    The bound is 4000 pulls and the shortfall 0: no instance was found where the claim is at risk.
    One with a shortfall near the bound would decide, or a proof that a machine checks.
    """
    for run in runs("worst_gaps", policy="ht_ucb").each("instance", "penalties"):
        margin = 4 * np.sqrt(2 * np.log(run.T) / run.T ** (2 / 3))
        for arm in arms(np.flatnonzero(run.end("penalty") - run.end("gap") >= margin)):
            quota = run.end("quota")[0, arm]
            bound = 2 * quota * (run.N * run.T ** (2 / 3) + run.N) + 1
            said = {"most": quota * run.T, "unit": "pulls"}
            yield mean("shortfall", run.end("lack")[:, arm], at_most=bound, **said)


def regret_at_rates_of(ht_ucb, other):
    """Penalised regret of a policy that has no penalty rates, at those of another."""
    given = ht_ucb.config.means, ht_ucb.config.quotas, ht_ucb.end("penalty")[0]
    return penalised_regret(other.rounds, other["plays"], *given)


@paper.bound("Theorem 4 and Eq. 15", primary=True, rests_on=["htucb-obs1", "htucb-lem1"])
def htucb_thm4_bound(runs):
    r"""For constant quotas HT-UCB's penalised regret $R$ is at most $8 \sqrt{T \ln T} \sum
    \sqrt{\tau} + 8 \sqrt{(1 - \min \tau) K T \ln T} + (\max A) K T^{2/3} \sqrt{2 \ln T}$.

    HT-UCB does not know $T$, so one run shows all horizons. The regret is at most 2 % of the bound.
    It is largest with gaps of order $\sqrt{\ln T / T}$, where no policy can exceed the bound.
    """
    for block in runs("worst_gaps").each("instance"):
        uniform = block(policy="uniform")
        for ht_ucb in block(policy="ht_ucb").each("penalties"):
            control, most = regret_at_rates_of(ht_ucb, uniform), ht_ucb["penalised_regret_most"][0]
            could_fail = ht_ucb.rounds[ht_ucb["gap_free_bound"] < most]
            for t in cases(round=could_fail):
                regret, limit = ht_ucb.at("penalised_regret", t), ht_ucb.at("gap_free_bound", t)
                said = {"most": ht_ucb.pick(most, t, replicates=False), "unit": "reward"}
                test = mean("penalised regret", regret, at_most=limit, **said)
                yield test.control(ht_ucb.pick(control, t))

    block = runs("small_quotas")
    ht_ucb, second = (block(policy=name) for name in ("ht_ucb", "second"))
    said = {"most": ht_ucb.end("penalised_regret_most")[0], "unit": "reward"}
    phrase = "penalised regret with the quotas and gap that bring it closest to the bound"
    regret, bound = ht_ucb.end("penalised_regret"), ht_ucb.end("gap_free_bound")
    test = mean(phrase, regret, at_most=bound, **said)
    yield test.control(second.end("penalised_regret"))


@paper.rate("Theorem 4; section 4.2, last paragraph", primary=True, rests_on=["htucb-thm4-bound"])
def htucb_thm4_rate(runs):
    """Whatever the gaps, HT-UCB's penalised regret is $O(T^{2/3})$, up to logarithms.

    Gaps double from 0.02 to 0.64. Rates are up to 0.3 below and 0.5 above the gap.
    """
    ht_ucb, controls = [], []
    for block in runs("worst_gaps").each("instance"):
        uniform = block(policy="uniform")
        for run in block(policy="ht_ucb"):
            ht_ucb.append(run["penalised_regret"])
            controls.append(regret_at_rates_of(run, uniform))
    rounds = uniform.rounds

    def worst(settings):  # the one with the largest mean, at each round
        regrets = np.stack(settings, axis=2)
        return regrets[:, range(len(rounds)), regrets.mean(axis=0).argmax(axis=1)]

    phrase = "growth exponent of penalised regret in the worst setting, in $t$"
    test = slope(phrase, rounds, worst(ht_ucb), at_most=2 / 3, window="all")
    yield test.control(worst(controls))


@paper.qualitative("after Theorem 4", rests_on=["htucb-thm4-bound"])
def htucb_thm4_terms(runs):
    r"""The three terms of Theorem 4's bound cover, in turn, the penalty $A (\tau T - N)^+$ of
    non-critical arms, pulls beyond quotas, and the shortfall of optimal and critical arms.

    Arms that stay below their quotas have a shortfall that is a fixed share of $T$, while the term
    is of order $\sqrt{T \ln T}$. The regret of these arms, $(\Delta - A) N$, is within the term.
    """
    yield proof(failed_steps, "first_term")
    run = runs("fixed_gaps", policy="ht_ucb")
    due = np.where(run.end("non_critical"), run.end("penalty") * run.end("lack"), 0).sum(axis=1)
    most = (run.end("penalty") * run.end("quota")).sum() * run.T
    phrase = "penalty due for all non-critical arms"
    yield mean(phrase, due, at_most=run.end("gap_free_within"), most=most, unit="reward")


@paper.bound("proof of Lemma 1, Eq. 39")
def htucb_proof_eq39(runs):
    r"""While a very critical arm is short of its quota, an arm that is not short and has $T^{2/3}$
    pulls has the larger index with probability at most $2 / n^2$.
    """
    yield proof(failed_steps, "eq39")


@paper.bound("proof of Lemma 1, sentence after Eq. 39", rests_on=["htucb-thm5-lb"])
def htucb_proof_few_pulls(runs):
    r"""With high probability each arm that is not very critical has at most $O(T^{2/3})$ pulls.

    An arm with $\Delta - A = T^{-2/5}$ is not critical. By Theorem 5 it has at least
    $\ln T / (\Delta - A)^2$ pulls, which is of a larger order.
    """
    yield proof(failed_steps, "not_very_critical")


@paper.bound("proof of Lemma 1, displays on rounds c_0 T / 2 and n_1")
def htucb_proof_eq39_halfway(runs):
    r"""For $T \ge (4 K / c_0^2)^3$ the inequality
    $c_0 T / 2 - c_0^2 T / 4 \le \sum \tau c_0 T / 2 + K T^{2/3}$ fails, and
    $c_0 T / 2 + K T^{2/3} \le c_0 T$.

    The inequalities are right. That they are about pulls needs htucb-proof-few-pulls.
    """
    yield proof(failed_steps, "halfway")


paper.bound(
    "htucb-proof-eq42",
    "appendix E, Eq. 42",
    r"""A non-critical arm with $\Delta - A > 4 \sqrt{\ln T / (\tau T)}$ has a regret of at most
    $(\Delta - A) (8 \ln T / (\Delta - A)^2 + O(1))$.""",
    note="This is the bound on the arm's pulls, below its quota, times what a pull costs.",
    alias_of="htucb-thm2-noncr-count",
)


@paper.bound("appendix E, Eq. 40")
def htucb_proof_eq40(runs):
    r"""A non-critical arm with $N \le \tau T$ pulls has a regret of at most $(\Delta - A) (\tau T -
    N)$.

    Eq. 40 has the shortfall $\tau T - N$ where the regret has the pulls $N$.
    """
    yield proof(failed_steps, "eq40")


@paper.bound("appendix E, Eqs 41 and 43")
def htucb_proof_eq43(runs):
    r"""Above its quota a non-critical arm has a regret of $\Delta (N - \tau T) + (\Delta - A) \tau
    T$, which the bound on its pulls turns into Eq. 43.
    """
    yield proof(failed_steps, "eq41")


@paper.bound("appendix E, Eq. 44", rests_on=["htucb-proof-eq40", "htucb-proof-eq43"])
def htucb_proof_eq44(runs):
    r"""The regret of a non-critical arm is always at most $4 \sqrt{\ln T / T} \tau T + 4 \sqrt{\tau
    T \ln T} + 4 \sqrt{\ln T / T} (N - \tau T)^+$.

    Eq. 43 has $8 \ln T / \Delta$, which is not absorbed where the quota is small. For a fixed gap
    and a constant quota Eq. 44 holds from some $T$ on, but with gaps of order $\sqrt{\ln T / T}$ it
    fails however large $T$ is. That the fewest pulls are $\ln T / \Delta^2$ is the argument of
    appendix C, for rewards that do not vary. Theorem 4 has room for this.
    """
    yield proof(failed_steps, "eq44")
    run = runs("absorbed")
    t, pulls = run.T, run.end("plays")[:, 1]
    quota, gap, penalty = (run.end(name)[0, 1] for name in ("quota", "gap", "penalty"))
    owed, over = quota * t, np.maximum(pulls - quota * t, 0)
    regret = np.where(pulls > owed, gap * pulls - penalty * owed, (gap - penalty) * pulls)
    bound = 4 * np.sqrt(np.log(t) / t) * (owed + over) + 4 * np.sqrt(owed * np.log(t))
    phrase = "regret of arm 2 minus the bound of Eq. 44"
    yield mean(phrase, regret - bound, at_most=0, unit="reward")


@paper.bound("appendix E, Eq. 46")
def htucb_proof_eq46(runs):
    r"""An arm with $A - \Delta \le 4 \sqrt{2 \ln T / T^{2/3}}$ and fewer than $\tau T$ pulls has a
    regret of at most $4 \tau T^{2/3} \sqrt{\ln T}$.

    A factor $\sqrt{2}$ is lost. Observation 1 has it.
    """
    yield proof(failed_steps, "eq46")


@paper.bound("appendix E, Eqs 45, 47 and 48")
def htucb_proof_eq48(runs):
    r"""The regret of a critical arm is at most $\Delta \min(8 \ln T / \Delta^2 - \tau T, N - \tau
    T)$ plus a term of order $T^{2/3} \sqrt{\ln T}$.

    The positive part is missing, so for a constant quota the minimum falls like $-\tau T$. Eq. 49
    has it.
    """
    yield proof(failed_steps, "eq48")


@paper.bound("appendix E, Eq. 49", rests_on=["htucb-proof-eq44", "htucb-proof-eq48"])
def htucb_proof_eq49(runs):
    """All arms' terms add up to the first two of Theorem 4's bound, with the constants 8.

    The constant of the third term is not derived (htucb-inconsistency-12).
    """
    yield proof(failed_steps, "eq49")


paper.opinion(
    "htucb-thm4-open",
    "section 4.2, last sentence",
    "Whether the bound without gaps can be improved to $T^{1/2}$ is open.",
    untestable="This is an open question. htucb-thm4-rate has the measured exponent.",
)
paper.opinion(
    "htucb-gap-between-4-and-7",
    "section 4.2, last paragraph, sentences 1 to 4",
    "There is a gap between the bounds of Theorems 4 and 7, since it is hard to bound shortfalls.",
    rests_on=["htucb-thm4-bound", "htucb-thm7-universal"],
    untestable="This is a statement about bounds and proofs.",
)


@paper.bound("Theorem 5; appendix C", primary=True)
def htucb_thm5_lb(runs):
    r"""There are instances on which HT-UCB's penalised regret is at least the sum of $\ln T /
    (\Delta - A)$ over non-critical arms with $\tau > 0$.
    """
    for block in runs("lower_5").each("instance"):
        ht_ucb, prophet = block(policy="ht_ucb"), block(policy="prophet")
        width, quota = (ht_ucb.end("gap") - ht_ucb.end("penalty"))[0], ht_ucb.end("quota")[0]
        asked = 8 * np.log(ht_ucb.rounds) / width.max() ** 2 <= quota.max() * ht_ucb.rounds / 2
        for t in cases(round=ht_ucb.rounds[asked]):
            outside = ht_ucb.end("non_critical")[0]
            bound = (np.log(t) / width[outside]).sum()
            lower, control = (bound - run.at("penalised_regret", t) for run in (ht_ucb, prophet))
            phrase = "largest excess of Theorem 5's bound over the penalised regret"
            yield rounded(phrase, lower, unit="reward").control(control)
            for arm in arms(np.flatnonzero(outside & (8 * np.log(t) / width**2 <= quota * t / 2))):
                few, control = (
                    np.log(t) - run.at("plays", t)[:, arm] * width[arm] ** 2
                    for run in (ht_ucb, prophet)
                )
                phrase = r"$\ln t$ minus pulls times $(\Delta - A)^2$, of a non-critical arm"
                yield rounded(phrase, few).control(control)


@paper.bound("appendix C, Eq. 22")
def htucb_proof_eq22(runs):
    r"""For long horizons $2 \sqrt{\ln T / T} + \Delta$ is less than
    $A + (\Delta - A) \sqrt{2 \ln(T / 2) / \ln T}$.
    """
    yield proof(failed_steps, "eq22")


@paper.bound("Theorem 6 and Eq. 17; appendix C", primary=True)
def htucb_thm6_lb(runs):
    r"""There are instances on which HT-UCB's penalised regret is at least the sum over critical
    arms of $\Delta (\ln T / \Delta^2 - \tau T)$.
    """
    for block in runs("lower_6").each("instance", "T"):
        ht_ucb, prophet = block(policy="ht_ucb"), block(policy="prophet")
        gap, quota, critical = (ht_ucb.end(name)[0] for name in ("gap", "quota", "critical"))
        few = quota * ht_ucb.T * gap**2 <= np.log(ht_ucb.T)
        terms = np.log(ht_ucb.T) / gap[critical] - (gap * quota)[critical] * ht_ucb.T
        lower, control = (terms.sum() - run.end("penalised_regret") for run in (ht_ucb, prophet))
        phrase = "largest excess of Theorem 6's bound over the penalised regret"
        yield rounded(phrase, lower, unit="reward").control(control)
        for arm in arms(np.flatnonzero(critical & few)):
            lacks, control = (
                np.log(ht_ucb.T) - run.end("plays")[:, arm] * gap[arm] ** 2
                for run in (ht_ucb, prophet)
            )
            phrase = r"$\ln T$ minus pulls times $\Delta^2$, of a critical arm"
            yield rounded(phrase, lacks).control(control)


@paper.comparison(
    "after Theorem 6, sentences 1 and 2",
    rests_on=["htucb-thm2-eq13-printed", "htucb-thm5-lb", "htucb-thm6-lb"],
)
def htucb_const8(runs):
    r"""A non-critical arm below its quota has between $\ln T / (\Delta - A)^2$ and $8 \ln T /
    (\Delta - A)^2$ pulls, so the bounds on its pulls agree up to a factor of 8.

    The fluid law gives 2 in the limit. The tests concern non-critical arms at long horizons. In
    case 1 of Experiment B $N \Delta^2 / \ln T$ is 0.5 to 0.9 for critical arms above their quotas.
    """
    run = runs("far_non_critical")
    width = (run.end("gap") - run.end("penalty"))[0]
    for t in cases(round=run.rounds):
        for arm in arms(np.flatnonzero(run.end("non_critical"))):
            factor = run.at("plays", t)[:, arm] * width[arm] ** 2 / np.log(t)
            phrase = r"pulls times $(\Delta - A)^2 / \ln t$, against the"
            yield mean(f"{phrase} lower bound", factor, at_least=1, least=0)
            yield mean(f"{phrase} upper bound", factor, at_most=8)


@paper.bound(
    "after Theorem 6, sentence 2",
    rests_on=["htucb-thm2-eq13-printed", "htucb-thm6-lb"],
    readings=QUOTAS,
)
def htucb_near_optimal_critical(runs):
    r"""For critical arms Theorem 6 meets the term $(8 \ln T / \Delta - \tau T)^+$ up to a constant.

    As in Eq. 13 the factor $\Delta$ before $\tau T$ is missing. With falling quotas the upper bound
    is therefore 0, and the lower bound a multiple of $\ln T$. With constant quotas neither bound is
    above 0 in the end, so the sentence is true and says little. Before the end it can be wrong:
    with $\tau = 0.0056$, $\Delta = 0.02$ and $T = 10^6$ the term is 0 and the lower bound 579.
    """
    with reading("constant_quotas"):
        yield proof(failed_steps, "near_optimal_constant")
    with reading("falling_quotas"):
        yield proof(failed_steps, "near_optimal_critical")


#: $1 / (8 e \sqrt{2})$, to four digits.
PROOF_CONSTANT = 0.03252


@paper.bound("Theorem 7; appendix F", part="six policies, with five arms, at two horizons")
def htucb_thm7_implemented(runs):
    r"""Every policy has, on one of the two instances of Theorem 7's proof, a penalised regret of at
    least $(1 - 2 \max \tau) \sqrt{(K - 1) T / 2} / (8 e)$.

    The proof's constant is $1 / (8 e \sqrt{2}) = 0.0325$ once the divergence is counted correctly,
    with half a squared difference of means for each pull (htucb-inconsistency-13).
    """
    for pair in runs("twins").each("policy", "T"):
        regrets = np.stack([run.end("penalised_regret") for run in pair], axis=1)
        _, worse = held_out(regrets)  # half of the replicates choose the instance
        bound = least_worst_regret(5, 0.1, pair.T, PROOF_CONSTANT)
        phrase = "penalised regret on the worse of the two instances"
        yield mean(phrase, worse, at_least=bound, unit="reward")


@paper.bound("Theorem 7", primary=True, rests_on=["htucb-thm7-implemented"])
def htucb_thm7_universal(runs):
    r"""There is one constant $C > 0$ for all quotas and penalty rates, such that every policy has
    an instance with a penalised regret of at least $C(1 - 2 \max \tau) \sqrt{(K - 1) T}$.

    Where quotas leave next to nothing free, a policy that fills them loses next to nothing, so the
    bound has to shrink with $1 - \sum \tau$. The proof's two arms are enough only for $K = 2$.
    """
    gaps = [0.1, 0.3, 0.6, 1, 1.5, 2, 2.5, 3, 4, 6, 10]  # in units of sqrt(K / T)
    for t in cases(T=[100000, 1000000]):
        regrets = random_instances.committing_regrets(10, 0.01, t, gaps, 20000, seed=runs.seed)
        values = regrets[:, regrets.mean(axis=0).argmax()]
        bound = least_worst_regret(10, 0.099, t, PROOF_CONSTANT)
        phrase = "regret, with the worst gap, of a policy that fills equal quotas, then commits"
        yield mean(phrase, values, at_least=bound, unit="reward", uncontrolled=AGAINST)

    def excess(free, constant, horizon):
        quota = (1 - free) / 10
        bound = least_worst_regret(10, quota, horizon, constant)
        return bound - committing_regret(10, free, horizon)

    phrase = "Theorem 7's bound minus the most regret of a policy that fills quotas, then commits"
    shares = (1e-3, PROOF_CONSTANT, 10**6), (1e-5, 1e-3, 10**9), (1e-7, 1e-5, 10**12)
    against = "The verdict is against the claim, by arithmetic."
    said = {"tolerance": 1e-9, "unit": "reward", "uncontrolled": against}
    yield enumerated(phrase, excess, *shares, **said)


@paper.qualitative("section 5, hard threshold, last sentence", rests_on=["htucb-soft-continuous"])
def htucb_soft_unfair(runs):
    """With a soft threshold HT-UCB is not asymptotically fair.

    Exponents above 1 come from the window: early exploration fills part of the quotas, so the
    shortfall per round still rises. In the limit the exponent is at most 1.
    """
    soft, hard = (runs("thresholds", policy=name) for name in ("soft", "ht_ucb"))
    for arm in arms(np.flatnonzero(soft.end("critical"))):
        phrase = "growth exponent of a critical arm's shortfall in $t$, with the soft threshold"
        yield slope(phrase, soft.rounds, soft["lack"][:, :, arm], at_least=0.95)
    phrase = "share of the runs with the hard threshold in which no arm is more than a pull short"
    yield share(phrase, hard.end("lack").max(axis=1) <= 1, at_least=0.85)


@paper.rate("section 5, hard threshold, last sentence", rests_on=["htucb-soft-continuous"])
def htucb_soft_regret(runs):
    """With a soft threshold HT-UCB's penalised regret is not nearly optimal.

    The exponent above 1 comes from the window: shortfalls still rise (htucb-soft-unfair).
    """
    soft, hard = (runs("thresholds", policy=name) for name in ("soft", "ht_ucb"))
    phrase = "growth exponent of penalised regret in $t$, with the soft threshold"
    yield slope(phrase, soft.rounds, soft["penalised_regret"], at_least=0.95)
    yield less_regret(hard, soft, soft.T, "the soft threshold", materiality=0)


@paper.comparison("hard threshold, for Experiment C", about="project", figure="fig2")
def htucb_soft_published_scale(runs):
    """In Experiment C the hard threshold has a smaller penalised regret than the soft one.

    The paper's argument is about long horizons and does not say this (htucb-soft-regret).
    """
    for panel in runs(PANELS).each("N", "tau"):
        ht_ucb, soft = panel(policy="ht_ucb"), panel(policy="soft")
        for t in cases(round=ht_ucb.rounds):
            yield less_regret(ht_ucb, soft, t, "the soft threshold")


@paper.invariant("section 5, hard threshold, sentence 2")
def htucb_soft_continuous(runs):
    r"""At $\tau n$ pulls the soft index has no jump, and the hard index has one."""
    yield proof(failed_steps, "soft_threshold")


@paper.bound(
    "section 5, second paragraph",
    part="""The shortfalls in Theorems 1 to 3, with $b = 1/4$, 1/2 and 3/4; not their numbers of
    pulls, nor Theorem 4.""",
)
def htucb_tau_nonconstant(runs):
    """The paper's results also hold for quotas $T^{-b}$ that fall with the horizon, $0 < b < 1$.

    Quotas are $T^{-b}$ to four digits, the same for all arms. The smallest, $T^{-3/4}$, are worth
    10 and 18 pulls. Learning alone gives as many pulls, so they show little.
    """
    for run in runs("vanishing_quotas", policy="ht_ucb").each("instance", "T"):
        phrase = "share of the runs with no optimal or critical arm more than $K$ pulls short"
        yield share(phrase, largest_shortfall(run) <= run.N, at_least=0.99)


@paper.qualitative("section 5, technical challenges, sentence 4")
def htucb_moving_optimum(runs):
    r"""The arm with the largest $\mu + A [N < \tau n]$, its mean plus its penalty rate while it is
    behind its quota, changes as HT-UCB goes on.
    """
    for run in runs("each_round").each("instance"):
        n, *_, short = steps(run)
        leader = (run["mu"] + run["penalty"] * short).argmax(axis=2)
        changes = np.diff(leader, axis=1)[:, n[1:] >= run.T / 2] != 0
        phrase = r"share of the runs in which the arm with the largest $\mu + A [N < \tau n]$ "
        phrase += "changes at least ten times in the second half"
        yield share(phrase, changes.sum(axis=1) >= 10, at_least=0.85)


@paper.qualitative("section 5, connections to LASSO, sentence 4")
def htucb_lasso_threshold(runs):
    r"""Whether an arm gets $\tau T$ pulls depends on its penalty rate $A$ and gap $\Delta$, as the
    zeros of LASSO depend on the penalty and the true coefficients.
    """

    def kept(run):
        return run.end("owed") <= run.end("plays")

    played = runs("classified", policy="ht_ucb")
    ucb1 = kept(runs("classified", policy="ucb1")).mean(axis=1)
    higher, lower = (kept(played(penalties=rate)).mean(axis=1) for rate in (0.45, 0.2))
    phrase = "share of the arms that keep their quotas, at the higher rate minus at the lower"
    yield mean(phrase, higher, at_least=lower).control(mean(phrase, ucb1, at_least=ucb1))

    for run in played.each("penalties"):
        gap, penalty, quota = (run.end(name) for name in ("gap", "penalty", "quota"))
        near, far = (
            (kept(run) & chosen).mean(axis=1) / np.maximum(chosen.mean(axis=1), 0.01)
            for chosen in (gap <= penalty, gap > penalty)
        )
        phrase = (
            "share of the arms with gaps up to the rate that keep their quotas minus that of others"
        )
        yield mean(phrase, near, at_least=far)

        most = run["fluid_pulls"].max(axis=1, keepdims=True)
        bonus = np.sqrt(2 * np.log(run.T)) * ((quota * run.T) ** -0.5 - most**-0.5)
        for threshold, expected in [
            ("the fluid law's threshold", penalty > gap - bonus),
            (r"$A \ge \Delta$ alone", penalty >= gap),
        ]:
            phrase = f"share of the arms of which {threshold} says whether they keep their quotas"
            right = (kept(run) == expected).mean(axis=1)
            yield mean(phrase, right, at_least=0.97, most=1, beside=True)


@paper.qualitative("section 5, on Fair-Learn, last paragraph, sentence 1", readings=FAIR)
def htucb_flearn_alpha0(runs):
    """Flearn keeps all quotas only with a tolerance of 0.

    With any fixed tolerance an arm lacks at most that tolerance and one pull, so in proportion
    quotas are kept. Fair-Learn's own paper has quotas below $1 / K$, a condition that is left out
    here and that all experiments of this paper satisfy.
    """
    lacks, seed = fair_learn_counts.fair_learn_violations, runs.seed
    phrase = "most pulls that an arm lacks under Flearn without a tolerance, random quotas"
    yield enumerated(f"{phrase} below $1 / K$", lacks, (300, 400, 0, 1), seed=seed, unit="pulls")
    with_larger = f"{phrase}, some above $1 / K$"
    said = {"unit": "pulls", "beside": True}
    yield enumerated(with_larger, lacks, (300, 400, 0, 0), seed=seed, **said)

    def never_above(number, rounds, tolerance, most, *, seed):  # 1 if no arm ever lacks more
        return int(max(lacks(number, rounds, tolerance, 1, seed=seed)) <= most)

    with reading("floors"):
        for alpha in cases(alpha=["1/4", "1/2", "9/10", "1", "2", "10"]):
            phrase = "whether no pull is missing under Flearn with a tolerance, random quotas"
            yield enumerated(phrase, never_above, (100, 1000, alpha, 0), seed=seed)
    with reading("in_proportion"):
        for alpha in cases(alpha=[1, 2, 10]):
            phrase = r"whether at most $\alpha + 1$ pulls are missing under Flearn, random quotas"
            yield enumerated(phrase, never_above, (100, 1000, alpha, alpha + 1), seed=seed)


@paper.qualitative("section 5, on baselines, last paragraph, sentence 2", readings=FAIR)
def htucb_lfg_notfair(runs):
    r"""LFG fails to guarantee asymptotic fairness with any weight $\eta_0$ above 0.

    LFG fails by whole pulls with every weight tried, and is fair in proportion with every fixed
    weight. With weights up to 1 it fails by one pull, as HT-UCB does on its own instance
    (htucb-thm1-fair). With larger weights the shortfall is near the weight times the largest gap.
    Fairness in proportion is LFG's own guarantee, for rewards from 0 to 1 and also for the weight
    $\sqrt{T}$. It does not extend to Experiment D, whose weight is a share of $T$.
    """

    def proven(proof):  # 1 if no step fails
        return int(not any(failed_steps(proof)))

    with reading("floors"):
        for group in runs("lfg_nearly_full").each("policy"):
            control = has_quotas(group(eta=0))
            for ht_ucb in group.each("eta"):
                if ht_ucb.eta > 0:
                    phrase = "share of the runs in which all arms have their quota in whole pulls"
                    yield share(phrase, has_quotas(ht_ucb), at_most=0.9).control(control)
        for ht_ucb in runs("lfg_weights").each("policy", "eta"):
            if 0 < ht_ucb.eta <= 2:
                phrase = "share of the runs in which all arms have their quota in whole pulls, in "
                phrase += "setting 1 of Experiment D"
                yield share(phrase, has_quotas(ht_ucb), at_least=0.95, beside=True)
    with reading("in_proportion"):
        phrase = "whether LFG's queues are proven to be $o(T)$ on every instance"
        yield enumerated(phrase, proven, "lfg_in_proportion")
        for ht_ucb in runs("lfg_weights").each("policy", "eta"):
            if ht_ucb.eta >= 100:
                missing = (ht_ucb["lack"] / (ht_ucb["quota"] * ht_ucb.rounds[:, None])).max(axis=2)
                rise = ht_ucb.pick(missing, ht_ucb.T) - ht_ucb.pick(missing, ht_ucb.T / 10)
                phrase = "rise of the largest missing part of a quota from round $T / 10$ to $T$"
                yield mean(phrase, rise, at_least=0, beside=True)


paper.comparison(
    "htucb-neither-balances",
    "section 5, on baselines, last sentence",
    "Neither Flearn nor LFG balances rewards and fairness as well as HT-UCB.",
    alias_of="htucb-expE-frontier",
)


def below(run):
    """How far gaps are above the rates, and which non-critical arms are below their quotas.

    These are the arms that the fluid law puts more than 1 % below.
    """
    fluid, quota = run["fluid_pulls"][0], run.end("quota")[0] * run.T
    chosen = run.end("non_critical")[0] & (fluid < 0.99 * quota)
    return run.end("gap")[0] - run.end("penalty")[0], chosen


@paper.shape(
    "section 6, sentence 1 after the list of experiments; Fig. 1, upper row",
    primary=True,
    readings=[*LAWS, "gaussian_line", "bernoulli_line"],
)
def htucb_expA_inverse_gap(runs):
    r"""HT-UCB pulls non-critical arms below their quotas in proportion to $1 / (\Delta - A)^2$.

    At the published horizon pulls grow less than in proportion, and their line does not go through
    0. In case 3 the fluid law puts no arm below its quota, so there is no slope.
    """
    yield from proportional_pulls(runs, below, ["non_critical_1", "non_critical_2"])
    far = runs("far_non_critical")
    yield in_proportion(far, below, f", after {far.T:,} rounds", beside=True)


@paper.shape("Fig. 1, caption, sentence 3; upper row", readings=LAWS)
def htucb_expA_cap(runs):
    r"""HT-UCB stops pulling non-critical arms at $\tau T = 1000$ pulls."""
    for run in runs("non_critical_*", law=LAWS).each("experiment", reading="law"):
        above = run.end("plays") - run.end("quota") * run.T
        outside, width = run.end("non_critical"), run.end("gap") - run.end("penalty")
        for arm in arms(np.flatnonzero(outside)):
            phrase = "share of the runs in which the arm has at most a pull above its quota"
            yield share(phrase, above[:, arm] <= 1, at_least=0.95)
        for arm in arms(np.flatnonzero(outside & (width <= 0.05))):
            phrase = r"share of the runs in which an arm with $\Delta$ just above $A$ is at its "
            phrase += "quota, up to a pull"
            yield share(phrase, np.abs(above[:, arm]) <= 1, at_least=0.95)


@paper.bound(
    "section 6, sentence 3 after the list of experiments",
    rests_on=["htucb-thm2-noncr-count"],
    readings=LAWS,
    figure="fig1",
)
def htucb_expA_matches_thm2(runs):
    """HT-UCB's pulls in Experiment A match Theorem 2.

    The paper calls this a match, but the bound is only an upper one: pulls are about a fifth of it.
    The bound is four times the value of the fluid law.
    """
    cells = runs("non_critical_1", "non_critical_2", law=LAWS)
    for run in cells.each("experiment", reading="law"):
        below_quota = run.end("raised_pulls") < run.end("quota") * run.T
        for arm in arms(np.flatnonzero(run.end("non_critical") & below_quota)):
            said = {"at_most": run.end("pulls_bound")[0, arm], "most": run.T, "unit": "pulls"}
            yield mean("pulls of a non-critical arm", run.end("plays")[:, arm], **said)


@paper.shape(
    "section 6, sentence 2 after the list of experiments; Fig. 1, lower row",
    primary=True,
    readings=[*LAWS, "gaussian_line", "bernoulli_line"],
)
def htucb_expB_inverse_gap(runs):
    r"""HT-UCB pulls critical arms above their quotas in proportion to $1 / \Delta^2$.

    The verdict rests on three points of case 1: in cases 2 and 3 only one arm is above its quota.
    """

    def above(run):  # the arms that the fluid law puts more than 1 % above their quotas
        fluid, quota = run["fluid_pulls"][0], run.end("quota")[0] * run.T
        return np.maximum(run.end("gap")[0], 0.001), run.end("critical")[0] & (fluid > 1.01 * quota)

    yield from proportional_pulls(runs, above, ["critical_1"])
    far = runs("far_critical")
    yield in_proportion(far, above, f", after {far.T:,} rounds", beside=True)


@paper.invariant("Fig. 1, caption, sentence 3; lower row")
def htucb_expB_floor(runs):
    r"""HT-UCB gives critical arms at least $\tau T = 1000$ pulls."""
    for ht_ucb in runs("critical_*").each("experiment"):
        fewer = [
            np.where(run.end("critical"), run.end("owed") - run.end("plays"), -1).max(axis=1)
            for run in ht_ucb
        ]
        yield exact("most pulls that a critical arm lacks", *fewer, unit="pulls")


paper.qualitative(
    "htucb-fig1-agree-thm2",
    "section 6, sentence 3 after the list of experiments",
    "That pulls are proportional to inverse squared gaps in Fig. 1 matches Theorem 2.",
    rests_on=["htucb-thm2-noncr-count", "htucb-thm2-cr-count"],
    judged_by=["htucb-expA-inverse-gap", "htucb-expB-inverse-gap"],
)


#: Experiment C with another spread of the rewards, and with the same means in all replicates.
OTHER_WAYS = {"spread_sd": "regret_other_spread", "means_fixed": "regret_fixed_means"}
OTHER = (*OTHER_WAYS.values(),)
NO_UCB1 = "UCB1 was not run with these settings."


def less_in_a_cell(ht_ucb, rival, ucb1, t, whose, name):
    """Less regret in the published number of runs, with a control and without one."""
    said = {"replicates": 50}
    test = less_regret(ht_ucb, rival, t, whose, name=f"than_{name}", **said)
    yield test.control(less_regret(ucb1, rival, t, whose, **said))
    yield less_regret(ht_ucb, rival, t, whose, name=f"{name}_alone", beside=True, **said)


@paper.comparison(
    "section 6, sentence 4 after the list of experiments; Fig. 2",
    primary=True,
    readings=["lfg_capped", "clock_previous", "spread_sd", "means_fixed"],
)
def htucb_expC_vs_flearn(runs):
    """HT-UCB has a smaller penalised regret than Flearn in all cells of Experiment C.

    In short runs with small quotas the two policies do the same. The control is UCB1
    (htucb-abs-superiority). The first reading is the figure's: the cut of LFG's index has no effect
    on Flearn. By default each replicate has new means, and $1 / K^2$ is the variance.
    """
    for panel in runs(PANELS, OPEN).each("N", "tau"):
        shown, more = panel(PANELS), panel(OPEN)
        flearn, ucb1 = shown(policy="flearn"), shown(policy="ucb1")
        for ours in readings({"lfg_capped": shown, "clock_previous": more}):
            ht_ucb = ours(policy="ht_ucb")
            for t in cases(round=ht_ucb.rounds):
                yield from less_in_a_cell(ht_ucb, flearn, ucb1, t, "Flearn", "flearn")
    for panel in runs(OTHER).each("N", "tau"):
        for way in readings(OTHER_WAYS):
            ht_ucb, flearn = panel(way, policy="ht_ucb"), panel(way, policy="flearn")
            for t in cases(round=ht_ucb.rounds):
                said = {"name": "than_flearn", "uncontrolled": NO_UCB1}
                yield less_regret(ht_ucb, flearn, t, "Flearn", **said)


@paper.comparison(
    "section 6, sentence 4 after the list of experiments; Fig. 2",
    primary=True,
    readings=[*INDICES, "clock_previous", "spread_sd", "means_fixed"],
)
def htucb_expC_vs_lfg(runs):
    r"""HT-UCB has a smaller penalised regret than LFG in all cells of Experiment C.

    The control is UCB1, and LFG's weight is $\sqrt{T}$ (htucb-abs-superiority).
    """
    for panel in runs(PANELS, OPEN).each("N", "tau"):
        shown, more = panel(PANELS), panel(OPEN)
        ucb1, cut = shown(policy="ucb1"), shown(policy="lfg", eta_exponent=0.5)
        ways = {
            "lfg_capped": (shown, cut),
            "lfg_uncapped": (shown, more(policy="lfg")),
            "lfg_infinite": (shown, more(policy="lfg_infinite")),
            "clock_previous": (more, cut),
        }
        for ours, theirs in readings(ways):
            ht_ucb = ours(policy="ht_ucb")
            for lfg in theirs.each("T"):
                yield from less_in_a_cell(ht_ucb, lfg, ucb1, lfg.T, "LFG", "lfg")
    for panel in runs(OTHER).each("N", "tau"):
        for way in readings(OTHER_WAYS):
            ht_ucb = panel(way, policy="ht_ucb")
            for lfg in panel(way, policy="lfg", eta_exponent=0.5).each("T"):
                yield less_regret(ht_ucb, lfg, lfg.T, "LFG", name="than_lfg", uncontrolled=NO_UCB1)


@paper.qualitative(
    "section 6, sentence 5 after the list of experiments",
    rests_on=["htucb-expC-vs-flearn", "htucb-expC-vs-lfg"],
    about="project",
    figure="fig2",
)
def htucb_expC_good_under_penalty(runs):
    """HT-UCB has a smaller penalised regret than UCB1 in all cells of Experiment C.

    The paper calls HT-UCB a good learning algorithm under penalties, but has no such control. After
    a million rounds HT-UCB beats UCB1 (htucb-expC-ordering-crossover).
    """
    for panel in runs(PANELS).each("N", "tau"):
        ht_ucb, ucb1 = panel(policy="ht_ucb"), panel(policy="ucb1")
        for t in cases(round=ht_ucb.rounds):
            yield less_regret(ht_ucb, ucb1, t, "UCB1", name="than_ucb1")


@paper.rate("Fig. 2, curves of Flearn", about="project")
def htucb_expC_flearn_linear(runs):
    """Flearn's penalised regret grows linearly, since it fills the quotas of non-critical arms.

    The paper does not say this in words.
    """
    ucb1 = runs("regret_5_08", "regret_20_08", policy="ucb1")
    for run in runs("regret_5_08", "regret_20_08", policy="flearn").each("N"):
        filled = (run.end("gap") - run.end("penalty")) * run.end("quota")
        cost = np.where(run.end("non_critical"), filled, 0).sum(axis=1) * run.T
        phrase = "penalised regret divided by the cost of filling the quotas of non-critical arms"
        yield mean(phrase, run.end("penalised_regret"), equal_to=cost, ratio=[0.9, 1.1])
        phrase, of_control = "growth exponent of penalised regret in $t$", ucb1(N=run.N)
        test = proportional(phrase, run.rounds, run["penalised_regret"])
        yield test.control(of_control["penalised_regret"])


@paper.shape("Fig. 2, continued beyond its horizons", about="project")
def htucb_expC_ordering_crossover(runs):
    """HT-UCB has a smaller penalised regret than UCB1 after a million rounds.

    The paper does not claim this. It shows from which horizon on the term for quotas pays.
    """
    for panel in runs(LONG).each("N", "tau"):
        ht_ucb, ucb1 = panel(policy="ht_ucb"), panel(policy="ucb1")
        *earlier, last = ht_ucb.rounds
        said = {"materiality": 0, "name": "at_the_end"}
        yield less_regret(ht_ucb, ucb1, last, "UCB1", **said)
        said = {"materiality": 0, "name": "earlier", "beside": True}
        for t in cases(round=earlier):
            yield less_regret(ht_ucb, ucb1, t, "UCB1, at shorter horizons,", **said)


#: Experiment D, and with LFG's index not cut off.
PATHS, UNCUT_PATHS = ["paths_1", "paths_2"], "paths_uncut"


def kept(path):
    """Share of a policy's scale parameters at which an arm keeps its quota: (replicate, arm)."""
    return np.mean([run.end("keeps") for run in path], axis=0)


def evenly(path):
    """The scale parameters of LFG without two that are close to 1."""
    return [run for run in path if run.eta not in (1, 10)]


@paper.shape("section 6, last paragraph; Fig. 3, column 1", primary=True)
def htucb_expD_onebyone(runs):
    """As the scale parameter falls, HT-UCB lets arms become unfair one by one."""
    for path in runs(PATHS).each("experiment"):
        ht_ucb, flearn = (kept(path(policy=name)) for name in ("ht_ucb", "flearn"))
        rises, control = (np.diff(shares[:, 1:], axis=1) for shares in (ht_ucb, flearn))
        phrase = (
            "share of scale parameters at which an arm keeps its quota minus that of the arm before"
        )
        yield mean(phrase, rises, at_most=-0.01).control(control)
        apart, control = (shares[:, 1] - shares[:, 7] for shares in (ht_ucb, flearn))
        phrase = "share of scale parameters at which arm 2 keeps its quota minus that of arm 8"
        yield mean(phrase, apart, at_least=0.4).control(control)


def not_kept(paths, scale, **said):
    for run in paths(scale=scale).each("tau"):
        for arm in arms(np.flatnonzero(run.end("gap"))):
            phrase = f"share of the runs in which the arm lacks its quota at the scale {scale}"
            yield share(phrase, ~run.end("keeps")[:, arm], at_least=0.9, **said)


@paper.shape("section 6, last paragraph; Fig. 3, column 2")
def htucb_expD_flearn_sudden(runs):
    """Under Flearn all arms but the best become unfair once the scale parameter is below 1."""
    yield from not_kept(runs(PATHS, policy="flearn"), 0.99)


@paper.shape("section 6, last paragraph; Fig. 3, column 3", readings=CUTS)
def htucb_expD_lfg_sudden(runs):
    """All arms but the best suddenly become unfair under LFG when the scale parameter falls from 1.

    The verdict rests on arm 2, whose gap is the smallest. All other arms are unfair at 0.95 in
    nearly all runs. The scale parameter 0.95 is our limit for "once it decreases from 1".
    """
    for experiments in readings(lfg_capped=PATHS, lfg_uncapped=UNCUT_PATHS):
        lfg = runs(experiments, policy="lfg")
        yield from not_kept(lfg, 0.95)
        yield from not_kept(lfg, 0.99, beside=True)


@paper.shape("section 6, last paragraph, sentence 5", figure="fig3")
def htucb_expD_sparsity(runs):
    """HT-UCB keeps arms with small gaps fair and gives up others, a sparsity like LASSO's."""
    for path in runs(PATHS, policy="ht_ucb").each("experiment"):
        nearest = np.mean([run.end("keeps_nearest") for run in path], axis=0)
        phrase = "share of the runs in which the arms that keep their quotas are those of the "
        phrase += "smallest gaps, at 99 % of the scale parameters"
        yield share(phrase, nearest >= 0.99, at_least=0.85)


NO_THIRD = "The test compares HT-UCB's curves with those of its rivals, and no third policy has "
NO_THIRD += "such curves."


@paper.comparison("Fig. 3, caption, sentence 3", primary=True, readings=CUTS)
def htucb_expD_wider_range(runs):
    """All arms but the best are fair over a wider range of HT-UCB's parameter than its rivals'."""

    def wider(ht_ucb, rival, name):
        shares, others = kept(ht_ucb)[:50], kept(rival)[:50]
        for arm in arms(np.flatnonzero(ht_ucb[0].end("gap"))):
            phrase = "share of scale parameters at which HT-UCB keeps the arm's quota minus that "
            phrase += f"of {name}"
            said = {"least": -1, "uncontrolled": NO_THIRD}
            yield mean(phrase, shares[:, arm], at_least=others[:, arm], **said)

    for path in runs(PATHS, UNCUT_PATHS).each("tau"):
        ht_ucb, flearn = path(policy="ht_ucb"), path(policy="flearn")
        yield from wider(ht_ucb, flearn, "Flearn")
        for experiments in readings(lfg_capped=PATHS, lfg_uncapped=UNCUT_PATHS):
            yield from wider(ht_ucb, evenly(path(experiments, policy="lfg")), "LFG")


@paper.qualitative(
    "Fig. 3, caption, sentence 4",
    rests_on=["htucb-expD-flearn-sudden", "htucb-expD-lfg-sudden"],
    readings=CUTS,
)
def htucb_expD_others_break_easily(runs):
    """Flearn and LFG easily break the fairness of arms.

    The arm with the smallest gap counts too; LFG keeps its quota longest.
    """

    def broken(path):
        shares = kept(path)
        for arm in arms(np.flatnonzero(path[0].end("gap"))):
            phrase = "share of the runs in which the arm keeps its quota at less than 5 % of the "
            phrase += "scale parameters"
            yield share(phrase, shares[:, arm] < 0.05, at_least=0.85)

    for path in runs(PATHS, policy="flearn").each("policy", "tau"):
        yield from broken(path)
    for experiments in readings(lfg_capped=PATHS, lfg_uncapped=UNCUT_PATHS):
        for path in runs(experiments, policy="lfg").each("policy", "tau"):
            yield from broken(evenly(path))


@paper.qualitative("Experiment D, last paragraph", reported=True, figure="fig3")
def htucb_expD_direction(runs):
    """Near the scale parameter 1 all three policies exploit more, near 0 they put fairness first.

    A misprint: the paper's maps from the scale parameter to the policies' own parameters go the
    other way. Section 6 and the caption of Fig. 3 agree with the maps.
    """
    for path in runs(PATHS).each("experiment", "policy"):
        lacks = path.over("scale", lambda run: run.end("lack").sum(axis=1)).values
        phrase = "summed shortfall of all arms at the scale parameter 1 minus that at 0"
        said = {"name": "more_unfair_at_1", "unit": "pulls"}
        yield mean(phrase, lacks[-1], at_least=lacks[0], **said)


#: Experiment E, and with LFG's index not cut off; experiments and policy by reading.
FRONTIERS, UNCUT_FRONTIERS = ("frontier_5_*", "frontier_20_*"), "frontier_uncut"
LFG_FRONTIERS = {
    "lfg_capped": (FRONTIERS, "lfg"),
    "lfg_uncapped": (UNCUT_FRONTIERS, "lfg"),
    "lfg_infinite": (UNCUT_FRONTIERS, "lfg_infinite"),
}
LOST = """Horizon, replicates, reward distribution and the varied parameter are not printed for
    Experiment E. Horizon and parameters are those of Experiment D, on log-spaced grids. The sums of
    quotas are those of the caption."""


def curve_of(path):
    """Summed shortfall and mean reward of a policy at T, each (replicate, parameter)."""
    lacks = [run.end("lack").sum(axis=1) for run in path]
    return np.stack(lacks, axis=1), np.stack([run.end("mean_reward") for run in path], axis=1)


@paper.comparison(
    "section 6, last paragraph, sentence 6; Fig. 4, caption, last sentence",
    primary=True,
    basis="lost",
    reconstructed=LOST,
    readings=INDICES,
)
def htucb_expE_frontier(runs):
    """At the same unfairness HT-UCB always earns the highest total reward, in all settings.

    Undecided cases are mostly the most unfair. Parameters are log-spaced for Flearn and LFG. An
    even grid leaves a wide gap next to a weight of 0, and a straight line across it belongs to no
    policy.
    """

    def compared(ht_ucb, rivals, whose, **said):
        (x, y), (others, heights) = curve_of(ht_ucb), curve_of(rivals)
        x, y, others, heights = paired(x, y, others, heights)
        for level in cases(level=range(1, 21)):
            ours = frontier(x, y, others, level, 20)
            theirs = frontier(others, heights, x, level, 20)
            phrase = f"mean reward of HT-UCB minus that of {whose} at the same unfairness"
            said |= {"materiality": 0.001, "uncontrolled": NO_THIRD, "unit": "reward"}
            yield mean(phrase, ours, at_least=theirs, **said)

    for panel in runs(FRONTIERS, UNCUT_FRONTIERS).each("N", "tau", "law"):
        ht_ucb, flearn = panel(policy="ht_ucb"), panel(policy="flearn")
        yield from compared(ht_ucb, flearn, "Flearn", name="than_flearn")
        for experiments, policy in readings(LFG_FRONTIERS):
            lfg = panel(experiments, policy=policy)
            yield from compared(ht_ucb, lfg, "LFG", name="than_lfg")


paper.comparison(
    "htucb-expE-balance",
    "section 6, last sentence",
    "HT-UCB balances reward and fairness better than the other methods.",
    alias_of="htucb-expE-frontier",
)


@paper.shape(
    "Fig. 4, shape of the curves",
    basis="lost",
    reconstructed=LOST,
    readings=INDICES,
    about="project",
)
def htucb_expE_monotone(runs):
    """Along each policy's curve in Fig. 4 the reward rises with the unfairness.

    The paper shows this and does not say it.
    """

    def rising(path):
        x, y = curve_of(path)
        for level in cases(level=range(2, 11)):
            values, lower = (frontier(x, y, x, reached, 10) for reached in (level, level - 1))
            phrase = "mean reward at one of ten levels of unfairness minus that at the level below"
            yield mean(phrase, values, at_least=lower, materiality=0.001, unit="reward")

    of_curve = "N", "tau", "law", "policy"
    for path in runs(FRONTIERS, policy=["ht_ucb", "flearn"]).each(*of_curve):
        yield from rising(path)
    for experiments, policy in readings(LFG_FRONTIERS):
        for path in runs(experiments, policy=policy).each(*of_curve):
            yield from rising(path)


paper.comparison(
    "htucb-concl-balance",
    "section 7, sentence 4",
    "Unlike other algorithms HT-UCB is asymptotically fair and balances reward and fairness well.",
    primary=True,
    judged_by=["htucb-abs-asymptotic-fairness", "htucb-expE-frontier"],
)
paper.opinion(
    "htucb-concl-insight",
    "section 7, last sentence",
    "The results bring insight into fair learning.",
    untestable="This is an opinion.",
)
paper.inconsistency(
    "htucb-inconsistency-01",
    "Theorem 2, Eq. 13; after Theorem 6; Theorem 6, Eq. 17",
    r"Eq. 13 has $\tau T$ for a critical arm, Theorem 6 and the bound on pulls $\Delta \tau T$.",
    between=["Eq. 13: (8 ln T / Delta - tau T)^+", "Eq. 17: Delta (8 ln T / Delta^2 - tau T)^+"],
    judged_by=["htucb-thm2-eq13-printed"],
)


@paper.inconsistency(
    "Theorem 2; appendix B",
    between=["theorem: sqrt(8 K ln T / (c_a^2 T))", "proof: sqrt(8 K ln T / (c_0^2 T))"],
)
def htucb_inconsistency_02(runs):
    """The margin of non-critical arms has $c_a$ in Theorem 2 and $c_0$ at the end of its proof.

    As printed the theorem covers no case of Experiment A, which is meant to illustrate it.
    """

    def excess(c_a, margin):  # Theorem 2 asks for more than the largest margin of a case
        K, T = 9, 20000
        return np.sqrt(8 * K * np.log(T) / (c_a**2 * T)) - margin

    phrase = r"largest excess of the margin that Theorem 2 requires over the largest $\Delta - A$"
    cases_of_a = (0.15, 0.35), (0.06, 0.44), (0.15, 0.1)
    yield enumerated(phrase, excess, *cases_of_a, tolerance=1e-9, unit="reward per round")


@paper.inconsistency(
    "Eq. 12; Algorithm 1, line 8", between=["Eq. 12: ln n", "Algorithm 1: ln(n - 1)"]
)
def htucb_inconsistency_03(runs):
    r"""In round $n$ HT-UCB's index has $\ln n$ in Eq. 12 and $\ln(n - 1)$ in Algorithm 1."""
    phrase = r"penalised regret with $\ln(n - 1)$, divided by that with $\ln n$"
    for panel in runs(PANELS, OPEN, policy="ht_ucb").each("N", "tau"):
        usual, other = panel(PANELS), panel(OPEN)
        for t in cases(round=other.rounds):
            values, those = (run.at("penalised_regret", t) for run in (other, usual))
            yield mean(phrase, values, equal_to=those, ratio=[0.98, 1.02])


paper.inconsistency(
    "htucb-inconsistency-04",
    "Eqs 4, 11, 20 and 21; Theorem 2, display 3; Algorithm 1, lines 3 and 8",
    """The paper swaps the arguments of $N$, writes $t$ for $T$ and $k_j$ for $k$, misplaces a
    square, and has the same count in both bonuses. Algorithm 1 divides by 0 pulls.""",
    between=["Eq. 11: N_n(k)", "all others: N_k(n)"],
    note="These misprints have no bearing on the runs. One of them makes a step of Eq. 20 false.",
    judged_by=["htucb-proof-eq20"],
)
paper.inconsistency(
    "htucb-inconsistency-05",
    "Experiment D, last two paragraphs; section 6; caption of Fig. 3",
    """By the text, policies exploit at a scale parameter of 1. By the maps to their own parameters,
    they exploit at 0.""",
    between=[
        "last paragraph of Experiment D: 1 is exploitation, 0 fairness",
        "maps, section 6 and caption: arms become unfair as it falls from 1",
    ],
    judged_by=["htucb-expD-direction"],
)


@paper.inconsistency("Experiment D, tuning parameters", between=["Flearn: [0, 1]", "LFG: (0, 1]"])
def htucb_inconsistency_06(runs):
    """The range of the scale parameter includes 0 for Flearn and excludes it for LFG.

    At the end 0, which is left out, LFG's weight is $T$ and its index is defined. At the end 1,
    which is measured, the weight is 0. Queues alone then decide, whatever the rewards, so the arms
    take turns if quotas are equal, and it does not matter which arm wins ties.
    """
    last, first = (runs(f"lfg_ties_{best}").end("mean_reward") for best in ("last", "first"))
    phrase = "distance of LFG's expected rewards with the best arm last and with it first"
    yield rounded(phrase, np.abs(last - first), scale=[first], unit="reward")


paper.inconsistency(
    "htucb-inconsistency-07",
    "Experiment E; caption of Fig. 4",
    "The set of sums of quotas is garbled in the text of Experiment E.",
    between=["Experiment E: {0, 20.5}", "caption: 0.2 and 0.5"],
    note="The conversion of the PDF to text may have damaged this.",
    untestable="""20.5 cannot be a sum of quotas, which must be below 1. The sums of the caption are
    run.""",
)
paper.inconsistency(
    "htucb-inconsistency-08",
    "section 6; caption of Fig. 4",
    "Fig. 4 shows total regret by its caption, and total expected reward by the text.",
    between=["caption: total regret", "section 6: total reward, larger is better"],
    note="The text's reading, reward, is drawn and judged. Regret would reverse the claim.",
    judged_by=["htucb-expE-frontier"],
)


@paper.inconsistency(
    "appendix B, first paragraph after Observation 4",
    between=[
        "printed: T / ln T >= 16 c_0^2 K / c_a^2",
        "its inequality, c_0 T / 4 <= sum tau c_0 T / 4 + 8 K ln T / c_a^2: 32 K / (c_0^2 c_a^2)",
    ],
)
def htucb_inconsistency_09(runs):
    r"""Theorem 2's proof prints the condition on $T$ as $T / \ln T \ge 16 c_0^2 K / c_a^2$, while
    its inequality gives $32 K / (c_0^2 c_a^2)$.
    """

    def excess(K, c_0, c_a):
        printed = 16 * c_0**2 * K / c_a**2  # T / ln T
        return 0.5 * c_0 * printed / 4 + 8 * K / c_a**2 - c_0 * printed / 4

    phrase = r"right side minus left side of the proof's inequality, divided by $\ln T$"
    yield enumerated(phrase, excess, (5, 0.5, 0.3), tolerance=1e-9)


paper.inconsistency(
    "htucb-inconsistency-10",
    "Theorem 2, display 3; appendix B, third part",
    "Theorem 2 bounds pulls of non-critical arms by a maximum, its proof by one of its terms.",
    between=[
        "theorem: max(min(8 ln T / (Delta - A)^2, tau T), 8 ln T / Delta^2)",
        "proof: min(8 ln T / (Delta - A)^2, tau T)",
    ],
    judged_by=["htucb-thm2-noncr-count", "htucb-thm2-noncr-count-proofversion"],
)


@paper.inconsistency(
    "Observation 1, Lemma 1; appendix E",
    between=[
        "Lemma 1: 4 sqrt(2 ln T / T^(2/3))",
        "proof: 2 sqrt(2 ln T / T^(2/3)); T >= (4 K / c_0^2)^3",
    ],
)
def htucb_inconsistency_11(runs):
    r"""The threshold of the margin $A - \Delta$ has a factor 4 in Observation 1 and Lemma 1, and 2
    in the proof. Eq. 46 drops a factor 2 under the root. The proof needs $T \ge (4 K / c_0^2)^3$,
    beyond all published horizons.
    """

    def excess(K, c_0, longest):
        return (4 * K / c_0**2) ** 3 - longest

    phrase = "excess of the proof's least $T$ over the longest published horizon"
    yield enumerated(phrase, excess, (5, 0.2, 20000), tolerance=1e-9, unit="rounds")


paper.inconsistency(
    "htucb-inconsistency-12",
    "Theorem 4; appendix E, Eqs 40 to 49",
    """The third term's constant is 1 in Theorem 4. In its proof it is an $O$(.), without the factor
    2 under the root. Eq. 40 has the shortfall where the regret has pulls.""",
    between=["Theorem 4: max A K T^(2/3) (2 ln T)^(1/2)", "Eq. 49: O(.), with (ln T)^(1/2)"],
    judged_by=["htucb-thm4-bound", "htucb-thm4-terms"],
)
paper.inconsistency(
    "htucb-inconsistency-13",
    "Theorem 7; appendix F",
    """Theorem 7's proof lets a sum over arms run to $T$, counts the divergence of two normal laws
    as a quarter of its value, and treats two arms as if they were all.""",
    between=["appendix F: C = 1/2 for variance 1", "normal means 0 and 2 Delta: C = 2"],
    judged_by=["htucb-thm7-universal"],
)
paper.inconsistency(
    "htucb-inconsistency-14",
    "Theorem 1; appendix B, first line",
    r"""Theorem 1 allows margins that vanish, and its proof is that of Theorem 2, which needs a
    constant margin. The theorem promises $\lfloor \tau T \rfloor$ pulls, the proof a shortfall of
    up to one pull.""",
    between=[
        "Theorem 1: A - Delta >= min(sqrt(32 ln T / (tau T)), 1), floor(tau T) pulls",
        "Theorem 2: A - Delta >= c_a, a shortfall of O(1)",
    ],
    judged_by=["htucb-thm1-fair"],
)
paper.inconsistency(
    "htucb-inconsistency-15",
    "Theorem 3 and the sentence after it; appendix D; Experiment A",
    "Theorem 3 is about optimal and critical arms, the sentence after it about all arms.",
    between=["Theorem 3: optimal or critical arms", "next sentence: all arms"],
    note="Experiment A has two arms with the same mean and rate, for which $a_j$ is infinite.",
    judged_by=["htucb-thm3-anyround-all"],
)
paper.inconsistency(
    "htucb-inconsistency-16",
    "appendix D, Remark",
    r"The text says that sums $\mu + A$ differ with probability 0, where it means equal sums.",
    between=["Remark: sums that differ", "sense: sums that are equal"],
    judged_by=["htucb-thm3-ties-remark"],
)


@paper.inconsistency(
    "section 3, first paragraph; section 6, Experiment C; appendix A",
    between=["section 3: rewards in [0, 1]", "Experiments C, D and E: normal rewards"],
)
def htucb_inconsistency_17(runs):
    """The theory assumes rewards in [0, 1], while experiments have normal rewards.

    With standard deviations of $1 / K$ confidence bounds for a range of 1 are conservative.
    """
    for pair in runs("non_critical_1", "non_critical_2").each("experiment"):
        normal, bits = (pair(law=law) for law in LAWS)
        for arm in arms(np.flatnonzero(below(normal)[1])):
            phrase = "pulls with normal rewards divided by those with rewards of 0 or 1"
            values, others = (run.end("plays")[:, arm] for run in (normal, bits))
            yield mean(phrase, values, equal_to=others, ratio=[0.9, 1.1])


paper.inconsistency(
    "htucb-inconsistency-18",
    "section 6, Experiment C; appendix A",
    "The paper leaves open whether $1 / K^2$ is the rewards' variance or standard deviation.",
    readings=["lfg_capped", "spread_sd"],
    between=["N(mu, variance 1 / K^2)", "N(mu, standard deviation 1 / K^2)"],
    judged_by=["htucb-expC-vs-lfg", "htucb-expC-vs-flearn"],
)
paper.inconsistency(
    "htucb-inconsistency-19",
    "section 6, Experiments A and B; Experiment E",
    """The paper does not print the reward law and replicates of Experiments A and B, nor Experiment
    E's horizon, rates, replicates, law of the means and varied parameter.""",
    between=["Experiment C: all of these", "Experiments A, B and E: none of these"],
    untestable="They are missing. papers/ht_ucb/experiments.yaml says what is run in their place.",
)
paper.inconsistency(
    "htucb-inconsistency-20",
    "section 2, sentence after Eq. 3; section 6, Experiment C",
    "Penalty rates are known numbers, but half the range of unknown means in Experiment C.",
    between=["section 2: known penalty rates", "Experiment C: (max mu - min mu) / 2"],
    untestable="HT-UCB knows something here that its rivals do not. The paper's choice is run.",
)
paper.inconsistency(
    "htucb-inconsistency-21",
    "Theorem 1; section 5, on baselines",
    "LFG is called unfair by whole pulls, while its own guarantee concerns proportions.",
    between=["Theorem 1: floor(tau T) pulls", "LFG's guarantee: N / T in the mean over time"],
    note="""By neither standard HT-UCB is fair and LFG is not: by whole pulls each fails on an
    instance, and in proportion both are fair (htucb-abs-asymptotic-fairness).""",
    judged_by=["htucb-lfg-notfair", "htucb-thm1-fair"],
)
paper.inconsistency(
    "htucb-inconsistency-22",
    "section 5, on baselines, LFG",
    """The paper defines LFG's index with a cut at 1 and uses it without. It leaves open which
    round's pull leaves the queue.""",
    readings=CUTS,
    between=["first step: an index with a bar, cut at 1", "second step: the index without a bar"],
    note="""The verdict is that of htucb-expD-lfg-sudden. It is not tested which round's pull leaves
    the queue.""",
    judged_by=["htucb-expC-vs-lfg", "htucb-expD-lfg-sudden", "htucb-expE-frontier"],
)
paper.inconsistency(
    "htucb-inconsistency-23",
    "section 2, sentence 4 and Eq. 2",
    r"The constraint $N_k(t) \ge \tau_k t$ cannot be met in the first round.",
    between=["Eq. 2: N_k(t) >= tau_k t for all k and t", "one pull in a round"],
    judged_by=["htucb-sec2-constraint"],
)
paper.inconsistency(
    "htucb-inconsistency-24",
    "abstract; after Theorem 6",
    "HT-UCB's regret is called nearly optimal, while Theorems 5 and 6 are about HT-UCB alone.",
    between=["abstract: nearly optimal regret", "Theorems 5 and 6: bounds of HT-UCB"],
    untestable="""The paper does not say what others cannot do. htucb-abs-nearly-optimal judges the
    rest.""",
)

"""The data dictionary: meaning, unit, range and shape of each column of our tables.

This is its only source: files carry it as metadata of their columns, `fairbandits describe` prints
it, and ``docs/data-dictionary.md`` is made from it. No number depends on it, so that a better
wording makes nothing stale (`fairbandits.data.provenance`).
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple


class Column(NamedTuple):
    """What a column is."""

    meaning: str  # in words, with a formula if there is one
    unit: str = ""  # empty for names, texts and pure numbers
    range: str = ""  # possible values
    per: str = ""  # what has a value each, unless every row does


ANY, AT_LEAST_0 = "any", "at least 0"
ARMS = "whole number from 1 to the number of arms"
#: `per` of a dataset's column that has the same value at every arm.
ONE = "replicate and round; the same at every arm"
OF_GROUP = "replicate, round and group; the same at every arm of the group"

#: Columns of datasets and of the chunks that they are joined from.
RECORDED = {
    "run": Column(
        "Name of the run: a policy of the experiment, and the reward law where there are several"
    ),
    "policy": Column("Registered name of the policy, or `module:Class`"),
    "law": Column("Reward law, the distribution that rewards are drawn from"),
    "replicate": Column(
        "Number of the independent repetition; all policies of a replicate meet the same rewards",
        "",
        "whole number, counted from 0",
    ),
    "round": Column(
        "Round t after which the row was recorded", "rounds", "whole number from 1 to the horizon"
    ),
    "arm": Column("Number k of the arm, as in the papers", "", f"{ARMS}, counted from 1"),
    "plays": Column(
        "Pulls N_k(t) of the arm in rounds 1..t; with full information the sum of the arm's "
        "probabilities",
        "pulls",
        "0 to t; over all arms they sum to t",
    ),
    "reward": Column(
        "Reward R_k(t) that the arm has brought in rounds 1..t; with full information weighted "
        "with the arm's probabilities",
        "reward",
        "at least 0, but for laws with negative rewards (gaussian)",
    ),
    "mean": Column(
        "True mean reward mu_k of the arm in this replicate, where each replicate draws its own "
        "means (in a figure's table `mean` is another thing: a mean over replicates)",
        "reward per round",
        "as the experiment draws it",
        "replicate and arm; the same in every round",
    ),
    "quota": Column(
        "Numerator of the arm's quota in this replicate, where each replicate draws its own; the "
        "denominator stands in the footer, `drawn_quotas`",
        "",
        "whole number, at least 0",
        "replicate and arm; the same in every round",
    ),
    "horizon": Column(
        "Last round T of the run, where an experiment has several horizons", "rounds", "at least 1"
    ),
    "deficit": Column(
        "How far the arm is behind its quota r_k now: r_k t - N_k(t)",
        "pulls",
        "-t to t; negative when it is ahead",
    ),
    "deficit_sup": Column(
        "Largest `deficit` of the arm in any of the rounds 1..t", "pulls", "at least `deficit`"
    ),
    "floor_deficit": Column(
        "The same with whole pulls owed: floor(r_k t) - N_k(t)", "pulls", "whole number, -t to t"
    ),
    "floor_deficit_sup": Column(
        "Largest `floor_deficit` of the arm in any of the rounds 1..t",
        "pulls",
        "whole number, at least `floor_deficit`",
    ),
    "queue": Column(
        "Length Q_k(t) of the policy's queue for the arm: what it owes the arm and has not made "
        "up for",
        "reward (BanditQ, Hedge, queue UCB), pulls (LFG)",
        AT_LEAST_0,
    ),
    "queue_max": Column(
        "Largest `queue` of the arm in any of the rounds 1..t", "reward", "at least `queue`"
    ),
    "idleness": Column(
        "What the queue has lost by being cut off at 0, rounds 1..t: "
        "lambda_k t - R_k(t) = Q_k(t) - idleness, with lambda_k the arm's target",
        "reward",
        AT_LEAST_0,
    ),
    "probability": Column(
        "Sum over rounds 1..t of the probability that the arm was drawn with; BanditQ with full "
        "information has it in `plays`, and 0 here",
        "pulls",
        "0 to t",
    ),
    "share": Column(
        "Probability of the arm within its group (of FairX-UCB: among all arms) in the last round "
        "up to t in which the group drew by merit",
        "",
        "0 to 1; within a group they sum to 1, or are all 0 before the first such round",
    ),
    "plays_sum": Column("Sum of N_k(s) over rounds s = 1..t", "pulls x rounds", AT_LEAST_0),
    "squares": Column("Sum of Q_k(s)^2 over rounds s = 1..t", "reward squared", AT_LEAST_0),
    "starvation": Column(
        "Longest run of rounds up to t without a pull of the arm; with full information, of "
        "rounds in which its probability is at most 0.01",
        "rounds",
        "whole number, 0 to t",
    ),
    "eq6_excess": Column(
        "Largest lambda_k s - sum r_k x_k - Q_k(s) in rounds s <= t (after Eq. 6): the inequality "
        "holds where it is at most 0",
        "reward",
        ANY,
    ),
    "eq8_excess": Column(
        "Largest left less right side of Eq. 8 so far", "reward squared", ANY, ONE
    ),
    "eq11_excess": Column(
        "Largest left less right side of Eq. 11 so far", "reward squared", ANY, ONE
    ),
    "eq12_excess": Column(
        "Largest left less right side of Eq. 12 so far", "reward squared", ANY, ONE
    ),
    "eq13_excess": Column(
        "Largest left less right side of Eq. 13 so far", "reward squared", ANY, ONE
    ),
    "queue_excess": Column("Largest Q_k(s) - lambda_k s in rounds s <= t", "reward", ANY),
    "floor_excess": Column(
        "Largest -s less the pseudo-regret at s, rounds s <= t", "reward", ANY, ONE
    ),
    "gain_sum": Column(
        "Sum over rounds 1..t of the arm's surrogate reward g_k = (Q_k + V) r_k",
        "reward squared",
        AT_LEAST_0,
    ),
    "gain_squares": Column("Sum over rounds 1..t of g_k^2", "reward to the fourth", AT_LEAST_0),
    "gain_max": Column("Largest |g_k| in rounds 1..t", "reward squared", AT_LEAST_0),
    "gain_norm": Column(
        "Largest Euclidean norm of (g_1, ..., g_K) in rounds 1..t",
        "reward squared",
        AT_LEAST_0,
        ONE,
    ),
    "surrogate_regret": Column(
        "Largest sum of an arm's surrogate rewards less the sum of those earned, rounds 1..t",
        "reward squared",
        ANY,
        ONE,
    ),
    "crowding_k": Column(
        "Number of arms in the j highest of k deficit classes minus j, the largest over j and "
        "rounds 1..t; k is the number of arms",
        "arms",
        "whole number",
        ONE,
    ),
    "crowding_k_minus_1": Column("`crowding_k` with k - 1 classes", "arms", "whole number", ONE),
    "rise_k": Column(
        "By how many of k deficit classes the arm rose at most in a round without a pull of it",
        "classes",
        "whole number, at least 0",
    ),
    "rise_k_minus_1": Column("`rise_k` with k - 1 classes", "classes", "whole number, at least 0"),
    "pulled_excess": Column(
        "Largest q (r_k s - N_k(s) - alpha) at the end of a round s <= t with a pull of the arm; "
        "q is the common denominator of quotas and tolerance alpha",
        "pulls / q",
        "whole number; -2**62 before the first pull",
    ),
    "first_beyond": Column(
        "First round s <= t with floor(r_k s) - N_k(s) > alpha, the tolerance",
        "rounds",
        "whole number, 1 to t; 0 if there is none",
    ),
    "group_plays": Column(
        "Rounds 1..t in which the arm's group was served", "pulls", "whole number, 0 to t", OF_GROUP
    ),
    "group_deficit_sup": Column(
        "Largest floor(beta_g s) - N_g(s) of the arm's group in rounds s <= t, beta_g its quota",
        "pulls",
        "whole number",
        OF_GROUP,
    ),
    "initial_plays": Column(
        "Pulls of the arm in those of rounds 1..t that are initial rounds",
        "pulls",
        "whole number, 0 to `plays`",
    ),
    "initial_reward": Column(
        "Reward of the arm in those of rounds 1..t that are initial rounds", "reward", AT_LEAST_0
    ),
    "optional": Column(
        "Pulls of the arm after the initial rounds, in rounds when no group was behind its quota",
        "pulls",
        "whole number, 0 to `plays`",
    ),
    "merit_regret": Column(
        "Sum of |p_k - p*_k| over those of rounds 1..t that drew from the arm's group by merit: "
        "its probability less the one that the true means give it",
        "",
        "0 to t",
    ),
    "outside": Column(
        "How many of those rounds had the arm's true mean outside its confidence interval",
        "rounds",
        "whole number, 0 to t",
    ),
    "expected_root": Column(
        "Sum of p_k / sqrt(N_k) over those of rounds 1..t that drew from the arm's group by merit",
        "",
        AT_LEAST_0,
    ),
}

SERIES_QUANTITY = "the quantity that the figure shows of the series"
#: Columns of a figure's table: a row for each drawn point.
DRAWN = {
    "law": RECORDED["law"],
    "series": Column("Name of the curve: an arm, a group, a policy or a quantity"),
    "round": Column(
        "Round t of the point; in a figure over horizons, the horizon T", "rounds", "at least 1"
    ),
    "mean": Column(
        "Mean over the replicates of {quantity} (in a dataset `mean` is another thing: an arm's "
        "true mean reward)",
        "{unit}",
    ),
    "mean_low": Column("Lower end of the 95 % t interval of `mean`", "{unit}", "at most `mean`"),
    "mean_high": Column("Upper end of the 95 % t interval of `mean`", "{unit}", "at least `mean`"),
    "run_low": Column("2.5 % of the replicates lie below", "{unit}", "at most `run_high`"),
    "run_high": Column("2.5 % of the replicates lie above", "{unit}", "at least `run_low`"),
    "one_run": Column("The value in replicate 0, a single run", "{unit}"),
    "n_replicates": Column(
        "Number of replicates that the row summarises", "replicates", "whole number, at least 1"
    ),
    "value": Column("Value of {quantity} in the authors' own run, replayed", "{unit}"),
    "published": Column(
        "The number read off the published figure; none where none was read off", "{unit}"
    ),
    "sd": Column("Standard deviation of the value over the replicates", "{unit}", AT_LEAST_0),
    "policy": Column("Label of the policy, with what tells it from others of its kind"),
    "panel": Column("Which panel of the figure the point is in: an experiment or its setting"),
    "experiment": Column("Name of the experiment in `papers/PAPER/experiments.yaml`"),
    "version": Column(
        "Whether the policies are as the paper prints them (`paper`) or as its authors' program "
        "has them (`released`)"
    ),
    "baseline": Column("Label of the UCB that the rewards are divided by"),
    "rotated": Column("Label that the authors' notebook writes below the bars of this policy"),
    "arms": Column("Sizes of the groups, in words"),
    "group": Column(
        "Number g of the group; the minority is the last one", "", "whole number, counted from 1"
    ),
    "arm": Column("Number of the arm", "", f"{ARMS}, counted from 1"),
    "quota": Column(
        "Quota beta of each group, a fraction of the rounds (in a dataset `quota` is a numerator)",
        "",
        "0 to 1; none for a policy without",
    ),
    "tolerance": Column(
        "Tolerance alpha, pulls that an arm may be behind", "pulls", "none for a policy without"
    ),
    "eta": Column("LFG's weight eta of the rewards", "", "at least 0; none for other policies"),
    "parameter": Column(
        "Value of the policy's swept parameter: penalty rate (HT-UCB), tolerance (Flearn) or "
        "weight eta (LFG)",
        "",
        AT_LEAST_0,
    ),
    "unfairness": Column(
        "Mean over the replicates of sum_k (tau_k T - N_k(T))+, the pulls lacking in all",
        "pulls",
        AT_LEAST_0,
    ),
    "inverse_gap": Column(
        "1 / (gap)^2 of the arm, for a non-critical one 1 / (gap - penalty rate)^2",
        "rounds squared per reward squared",
        "above 0",
    ),
    "fluid": Column("Pulls of the arm by the fluid law of HT-UCB", "pulls", AT_LEAST_0),
}

#: Quantity of a figure's table, and its unit.
QUANTITIES = {
    ("banditq", "fig1", "fig4", "fig8", "fig11"): (
        "the arm's reward rate R_k(t) / t",
        "reward per round",
    ),
    ("banditq", "fig2", "fig5", "fig9", "fig12"): ("the arm's queue length Q_k(t)", "reward"),
    ("banditq", "fig3", "fig6", "fig10", "fig13"): (
        "the regret b* t - sum_k R_k(t), b* being the best fair reward of a round",
        "reward",
    ),
    ("banditq", "fig7"): (
        "the cumulative reward sum_k R_k(t), less b* t in series that say so",
        "reward",
    ),
    ("fair_ucb", "fig2"): (
        "the regret at the last round (series `regret`), or the largest deficit of any arm in any "
        "round (`violation`)",
        "reward (`regret`), pulls (`violation`)",
    ),
    ("fair_ucb", "fig3"): ("the r-Regret up to round t", "reward"),
    ("fair_ucb", "fig4"): (
        "the largest deficit of any arm: of round t (`now`), of rounds 1..t (`so far`), with whole "
        "pulls owed (`floored`), or divided by t (`per round`)",
        "pulls",
    ),
    ("ht_ucb", "fig1"): ("the arm's pulls at the last round", "pulls"),
    ("ht_ucb", "fig2"): ("the penalised regret R(T)", "reward"),
    ("ht_ucb", "fig3"): (
        "the pulls (tau_k T - N_k(T))+ that the arm lacks at the last round",
        "pulls",
    ),
    ("ht_ucb", "fig4"): ("the expected reward sum_k mu_k N_k(T) of the pulls", "reward"),
    ("bf_ucb", "fig1a", "fig1b"): (
        "the reward regret up to round t, of probabilities or of pulls, or its part between groups",
        "reward",
    ),
    ("bf_ucb", "fig2a", "fig2b"): (
        "the distance sum_k |p_k - p*_k| of the group's probabilities from the fair ones, 0 to 2",
        "",
    ),
    ("bf_ucb", "fig3a"): (
        "the expected reward after the initial rounds over that of the baseline",
        "",
    ),
    ("bf_ucb", "fig3b"): ("the group's pulls at the last round", "pulls"),
    ("bf_ucb", "fig3c"): ("the arm's pulls at the last round", "pulls"),
}

#: Columns of a replay of released programs: one run, no replicates.
REPLAYED = {
    "round": RECORDED["round"],
    "regret": Column("b* t - sum_k R_k(t), b* being the best fair reward of a round", "reward"),
    "queue_1": Column("Length of the queue of arm 1", "reward", AT_LEAST_0),
    "queue_2": Column("Length of the queue of arm 2", "reward", AT_LEAST_0),
    "rate_1": Column("Reward rate R_1(t) / t of arm 1", "reward per round", AT_LEAST_0),
    "rate_2": Column("Reward rate R_2(t) / t of arm 2", "reward per round", AT_LEAST_0),
}

_OUTCOMES = "reproduced, not reproduced, inconclusive, not testable or failed"
#: Columns of findings (a row per question of a test) and verdicts (a row per claim and reading):
#: the Parquet files, and the committed tables, which have fewer.
JUDGED = {
    "paper": Column("Slug of the paper"),
    "claim": Column("Id of the claim in `papers/PAPER/claims.yaml`"),
    "id": Column("Id of the claim in `papers/PAPER/claims.yaml`"),
    "reading": Column("Reading of what the paper leaves open; empty for all readings together"),
    "test": Column("Name of the test in the claim's record"),
    "each": Column("Coordinates of the case that the question is about"),
    "rule": Column("Name of the rule; in committed tables followed by its version"),
    "rule_version": Column("Version of the rule", "", "whole number, counted from 1"),
    "procedure": Column("Statistical procedure (docs/procedures.md)"),
    "settings": Column("Its settings: level, margin and so on; JSON"),
    "decides": Column("Whether the verdict rests on the test, or it only qualifies it"),
    "headline": Column("Whether the row is the verdict on the claim, not on one of its readings"),
    "verdict": Column("Outcome", "", f"{_OUTCOMES}; of a claim also: depends on the reading"),
    "place": Column("Where in the paper"),
    "statement": Column("The claim in words"),
    "kind": Column("Kind of claim, e.g. theorem or comparison"),
    "primary": Column("Whether it is one of the paper's main claims"),
    "extension": Column("Whether it goes beyond what the paper states"),
    "exploratory": Column("Whether its rules were written after the runs were seen"),
    "figure": Column("Figure of the paper that shows it"),
    "tags": Column("What qualifies the outcome, e.g. LOOSE, TIE, CONDITIONAL"),
    "what": Column("What the statistic is"),
    "statistic": Column(
        "The number that is judged, in the unit of the quantity tested (`fairbandits claims ID`)"
    ),
    "low": Column(
        "Lower one-sided limit of the statistic at the rule's level",
        "",
        "minus infinity where there is none",
    ),
    "high": Column(
        "Upper one-sided limit of the statistic at the rule's level",
        "",
        "infinity where there is none",
    ),
    "n": Column(
        "Replicates behind it, the fewest where numbers differ, or how many cases were checked",
        "replicates",
        "whole number, at least 0",
    ),
    "p": Column("p-value of the test", "", "0 to 1; none where the procedure has none"),
    "reference": Column("What the statistic is compared with first, in its unit"),
    "against": Column("All that it is compared with, by name, the reference first"),
    "also": Column("Further numbers of the procedure, by name; JSON"),
    "tightness": Column("Of a bound: the mean over the bound, where that is largest"),
    "data": Column("Datasets behind it, relative to the folder of results"),
    "data_hash": Column("Hash of what these datasets hold"),
    "code": Column("Fingerprint of the code that simulated them"),
    "seed": Column("Root seed, or `ledger` where it follows from the rules"),
    "rules": Column("Digest of the ledger whose rules judged"),
    "audit_code": Column("Fingerprint of the code that judged"),
    "message": Column("Why the test failed; else empty"),
}

_OF_MEASURES = "unit of the measure"
#: Columns of the arena's tables; `standings` has a row per contract, instance, policy and setting.
ARENA = {
    "contract": Column("Name of the contract, a key of `fairbandits.contracts.CONTRACTS`"),
    "instance": Column("Name of the instance, in papers/arena/experiments.yaml"),
    "policy": Column("Name of the policy there; in `pairs` its name on pages, of the first of two"),
    "label": Column("Name of the policy on pages"),
    "setting": Column("The swept parameter with its value; empty where nothing is swept"),
    "name": Column("`label` and `setting`"),
    "usual": Column("Whether this setting stands for the policy: the first of its sweep"),
    "kind": Column("own, oracle, plug-in, declared or control: what the translation needs"),
    "translation": Column(
        "How the policy meets the contract; own, or as in papers/arena/arena.yaml"
    ),
    "contract_regret": Column(
        "Mean over replicates of the regret against the best that keeps the contract", "reward"
    ),
    "shortfall": Column(
        "Mean over replicates of what is lacking at the last round, where most is",
        "pulls, or reward",
        AT_LEAST_0,
    ),
    "worst_shortfall": Column(
        "Mean over replicates of the largest shortfall of any round: of all rounds under "
        "minimum_pulls, else of those recorded",
        "pulls, or reward",
        AT_LEAST_0,
    ),
    "contract_regret_rank": Column(
        "Mean over replicates of the rank by contract regret, 1 for the least; usual settings only",
        "",
        "at least 1",
    ),
    "shortfall_rank": Column("The same by shortfall", "", "at least 1"),
    "kept": Column("Whether the upper end of `shortfall` is at most 0.1 % of the rounds"),
    "kept_always": Column("Whether that of `worst_shortfall` is at most 0.01 % of the rounds"),
    "dominated_by": Column("`name` of the one that dominates it; empty where nobody does"),
    "optimum": Column(
        "Reward of the best distribution that keeps the contract; the mean where means are drawn",
        "reward per round",
    ),
    "price": Column(
        "Reward that the contract costs whoever knows the means", "reward per round", AT_LEAST_0
    ),
    "horizon": Column("Number of rounds T", "rounds", "at least 1"),
    "replicates": Column("Number of replicates", "", "at least 2"),
    "measure": Column("contract_regret, shortfall or worst_shortfall: what the row is of"),
    "round": Column("Round t, of `paths`", "rounds", "at least 1"),
    "mean": Column("Mean over replicates of the measure", _OF_MEASURES),
    "other": Column("Second of two policies"),
    "difference": Column(
        "Mean over replicates of the first policy's measure less the second's", _OF_MEASURES
    ),
    "low": Column("Lower end of the 95 % t interval of `mean` or `difference`", _OF_MEASURES),
    "high": Column("Upper end of the 95 % t interval of `mean` or `difference`", _OF_MEASURES),
    "wins": Column("Part of the replicates in which the first policy has less", "", "0 to 1"),
    "suite": Column("Suite of instances that the policy is run on"),
    "nanoseconds": Column(
        "Time of a round, measured where the table was made", "nanoseconds", "above 0"
    ),
}
_ENDS = {"low": "Lower", "high": "Upper"}
_MEASURED = ("contract_regret", "shortfall", "worst_shortfall")
ARENA |= {
    f"{name}_{end}": Column(
        f"{_ENDS[end]} end of the 95 % t interval of `{name}`", ARENA[name].unit
    )
    for name in (*_MEASURED, *(f"{one}_rank" for one in _MEASURED[:2]))
    for end in _ENDS
}

#: Kind of a file, from its footer -> its possible columns.
KINDS: dict[str, dict[str, Column]] = {
    "dataset": RECORDED,
    "chunk": RECORDED,
    "figure": DRAWN,
    "replay": REPLAYED,
    "findings": JUDGED,
    "verdicts": JUDGED,
    "arena": ARENA,
}
#: Meaning of a row, by kind of file.
ROWS = {
    "dataset": "a run, replicate, recorded round and arm; what is summed is so from round 1 on",
    "chunk": "a replicate, recorded round and arm of one run",
    "figure": "a point of a curve",
    "replay": "a recorded round of the authors' own run",
    "findings": "a question of a test, and what was found",
    "verdicts": "a claim under a reading",
    "arena": "of `standings` a contract, instance, policy and setting; of `paths` also a measure "
    "and round; of `pairs` a contract, instance, measure and two policies; of `costs` a policy",
}
_CORRELATION = re.compile(r"correlation_(10+)")


def column_of(kind: str, name: str, footer: Mapping[str, Any]) -> Column | None:
    """Return a column's entry, None if the dictionary lacks it.

    `kind` is one of `KINDS`; the file's `footer` names swept parameters and the figure.
    """
    known = KINDS.get(kind, {}).get(name)
    if kind == "figure" and known:
        quantity, unit = quantity_of(footer.get("paper", ""), footer.get("figure", ""))
        return known._replace(
            meaning=known.meaning.format(quantity=quantity), unit=known.unit.format(unit=unit)
        )
    if known or KINDS.get(kind) is not RECORDED:
        return known
    if found := _CORRELATION.fullmatch(name):
        last = int(found[1])
        first = last // 10 + 1 if last > 10 else 1
        lags = f"lags {first} to {last}"
        return Column(
            f"Mean autocorrelation of the arm's surrogate reward g_k up to round t, {lags}",
            "",
            "about -1 to 1; 0 while there are fewer rounds",
        )
    runs = footer["runs"].values() if "runs" in footer else [footer.get("run", {})]
    if any(name in run.get("sweep", {}) for run in runs):
        return Column(
            f"Value of the policy's parameter `{name}`, which the experiment sweeps; none for "
            "runs without it",
            "",
            "",
            "run and cell of the sweep",
        )
    return None


def quantity_of(paper: str, figure: str) -> tuple[str, str]:
    """Return the quantity of a figure's table, and its unit."""
    for (slug, *figures), found in QUANTITIES.items():
        if slug == paper and figure in figures:
            return found
    return SERIES_QUANTITY, ""


def metadata_of(kind: str, name: str, footer: Mapping[str, Any]) -> dict[str, str]:
    """Return a column's entry as metadata of a Parquet file; empty if unknown."""
    column = column_of(kind, name, footer)
    if column is None:
        return {}
    words = column._asdict()
    return {"description": words.pop("meaning")} | {key: one for key, one in words.items() if one}

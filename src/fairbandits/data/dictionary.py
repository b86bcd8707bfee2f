"""The data dictionary: meaning, unit, range and shape of each column of our tables.

What policies, observers and figures write is described where they do, in the section ``Columns``
of a docstring, and read from the source; all else is here. Files carry it as metadata of their
columns, `fairbandits describe` prints it, and ``docs/data-dictionary.md`` is made from it. No
number depends on it: a better wording makes nothing stale (`fairbandits.data.provenance`).
"""

import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fairbandits.data.provenance import PACKAGE


class Column(NamedTuple):
    """What a column is."""

    meaning: str  # in words, with a formula if there is one
    unit: str = ""  # empty for names, texts and pure numbers
    range: str = ""  # possible values
    per: str = ""  # what has a value each, unless every row does
    grows: bool = False  # whether it never falls from round to round


#: The section of a docstring, an entry of it, and what a description can end with.
SECTION = re.compile(r"^    Columns\n    -------\n((?:    .*\n)+)", re.MULTILINE)
ENTRY = re.compile(r"^(\w+)(?: : (.+))?\n((?: +.*\n)+)", re.MULTILINE)
WORDS = re.compile(r"(.+?)\.(?: Range: (.+?)\.)?(?: One value for each (.+?)\.)?( Never falls\.)?")


def declared(*folders: str) -> dict[str, Column]:
    """Return the columns that docstrings in some folders of the package describe."""
    files = (file for folder in folders for file in sorted((PACKAGE / folder).glob("*.py")))
    found: dict[str, Column] = {}
    for name, column in (one for file in files for one in _described(file.read_text("utf-8"))):
        if name in found:
            raise ValueError(f"the column {name} is described twice in {' and '.join(folders)}")
        found[name] = column
    return found


def _described(source: str) -> Iterator[tuple[str, Column]]:
    for section in SECTION.findall(source):
        for name, unit, text in ENTRY.findall(textwrap.dedent(section)):
            meaning, range_of, per, grows = WORDS.fullmatch(" ".join(text.split())).groups("")
            yield name, Column(meaning, unit, range_of, per, bool(grows))


ANY, AT_LEAST_0 = "any", "at least 0"
ARMS = "whole number from 1 to the number of arms"

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
        grows=True,
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
        "Largest `deficit` of the arm in any of the rounds 1..t",
        "pulls",
        "at least `deficit`",
        grows=True,
    ),
    "floor_deficit": Column(
        "The same with whole pulls owed: floor(r_k t) - N_k(t)", "pulls", "whole number, -t to t"
    ),
    "floor_deficit_sup": Column(
        "Largest `floor_deficit` of the arm in any of the rounds 1..t",
        "pulls",
        "whole number, at least `floor_deficit`",
    ),
} | declared("policies", "observers")

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
    "policy": Column("Label of the policy, with what tells it from others of its kind"),
    "panel": Column("Which panel of the figure the point is in: an experiment or its setting"),
    "experiment": Column("Name of the experiment in `papers/PAPER/experiments.yaml`"),
} | declared("figures")

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
    "about": Column("Who makes it: the audited text, a later version, the project"),
    "exploratory": Column("Whether its rules were written after the runs were seen"),
    "figure": Column("Figure of the paper that shows it"),
    "grade": Column("Evidence of what is reproduced or not: exact, measured or consistent"),
    "control": Column("Verdict of the same question on the control's cells, where there is one"),
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


def column_of(kind: str, name: str, footer: Mapping[str, Any]) -> Column | None:
    """Return a column's entry, None if the dictionary lacks it.

    `kind` is one of `KINDS`; the file's `footer` names swept parameters and the figure.
    """
    known = KINDS.get(kind, {}).get(name)
    if kind == "figure" and known:
        said = {"quantity": footer.get("quantity", SERIES_QUANTITY), "unit": footer.get("unit", "")}
        words = known.meaning.format(**said), known.unit.format(**said)
        return known._replace(meaning=words[0], unit=words[1])
    if known or KINDS.get(kind) is not RECORDED:
        return known
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


def metadata_of(kind: str, name: str, footer: Mapping[str, Any]) -> dict[str, str]:
    """Return a column's entry as metadata of a Parquet file; empty if unknown."""
    column = column_of(kind, name, footer)
    if column is None:
        return {}
    given = {"unit": column.unit, "range": column.range, "per": column.per}
    return {"description": column.meaning} | {key: one for key, one in given.items() if one}

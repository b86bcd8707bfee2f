"""Tables and words of BF-UCB's page."""

import itertools
from collections.abc import Iterator
from html import escape
from types import SimpleNamespace
from typing import Any

import numpy as np
from IPython.display import HTML, Markdown

from fairbandits.figures.bf_ucb import (
    GROUPS,
    POLICIES,
    QUOTA,
    ROTATED,
    VERSIONS,
    at_quota,
    between_of,
    bf_ucb_at_quota,
    distance_of,
    each_run,
    exposures,
    is_bf_ucb,
    quota_of,
    ratios_to_ucb,
    regret_of,
    rows_of,
    sizes_of,
    version_of,
)
from fairbandits.measures.groups import jain_index, per_group, released_regret
from fairbandits.policies.bf_ucb import BFUCB
from fairbandits.policies.group_ucb import GroupUCB
from fairbandits.policies.initial_rounds import group_width, width_factors
from fairbandits.replication.recorded import Dataset, RunData
from fairbandits.report.comparison import over_replicates, published
from fairbandits.report.pages import Paper, listed, number, prose, span, value_table
from fairbandits.settings.spec import RunSpec

#: The versions in a table.
SHORT = {"paper": "as printed", "released": "as released"}
PORT = "port_check"


def datasets(paper: Paper, figure: str, columns: list[str], last: bool = False) -> list[Dataset]:
    """Return a figure's datasets, with the runs at Figure 2's quota or without one."""
    return [
        Dataset(*paper.dataset(one.name, ["run", "round", *columns], rows_of(at_quota, last)))
        for one in paper.shown_in(figure)
    ]


# ------------------------------------------------------------------------------ regret (Figure 1)


def regrets(
    paper: Paper, figure: str
) -> Iterator[tuple[str, float, RunData, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield version, quota, run, regret by probabilities and by pulls, and its first part."""
    columns = ["run", "round", "plays", "mean", "probability"]
    for one in paper.shown_in(figure):
        dataset = Dataset(*paper.dataset(one.name, columns, rows_of(is_bf_ucb)))
        for run, means in each_run(dataset, is_bf_ucb):
            values = regret_of(run, means)
            counted = regret_of(run, means, "plays")
            yield (
                *(version_of(run.spec), quota_of(run.spec), run, values, counted),
                between_of(run, means),
            )


def regret_table(paper: Paper, figure: str) -> HTML:
    """Return the final regret and its growth, for each quota and version."""
    groups: dict[str, list[list[str]]] = {}
    for version, quota, run, values, counted, between in regrets(paper, figure):
        end, pulls = over_replicates(values[:, -1]), over_replicates(counted[:, -1])
        mean, sd = end["mean"], values[:, -1].std(ddof=1)
        share = between[:, -1].mean() / mean
        grows = exponent(run.rounds, values.mean(axis=0))
        groups.setdefault(VERSIONS[version], []).append(
            [
                f"β = {quota:g}",
                number(mean),
                span(end["mean_low"], end["mean_high"]),
                number(pulls["mean"]),
                number(sd),
                f"{number(100 * share, 1)}\u00a0%",
                number(grows, 2) if np.isfinite(grows) else "none",
            ]
        )
    header = [
        "",
        "regret, mean",
        "95 % interval",
        "from pulls",
        "sd of runs",
        "of it between groups",
        "exponent, last decade",
    ]
    return value_table(groups, header, f"values-{figure}")


def exponent(rounds: np.ndarray, curve: np.ndarray) -> float:
    """Return the slope of a curve on logarithmic axes over its last decade, NaN below 0."""
    start = np.interp(rounds[-1] / 10, rounds, curve)
    return float(np.log10(curve[-1] / start)) if start > 0 and curve[-1] > 0 else np.nan


def order_words(paper: Paper, figure: str) -> Markdown:
    """Return the change of regret from one quota to the next, run by run."""
    found: dict[str, dict[float, np.ndarray]] = {}
    for version, quota, _, values, *_ in regrets(paper, figure):
        found.setdefault(version, {})[quota] = values[:, -1]
    words = []
    for version, ends in found.items():
        quotas = sorted(ends)
        for lower, higher in itertools.pairwise(quotas):
            over = over_replicates(ends[lower] - ends[higher])
            words.append(
                f"{VERSIONS[version]}, {lower:g} less {higher:g}: {number(over['mean'])} "
                f"({span(over['mean_low'], over['mean_high'])})"
            )
    return prose(
        "**Regret at the end, from one quota to the next**: paired differences, with 95 % "
        "intervals: "
        f"{listed(words)}."
    )


# --------------------------------------------------------- what the width does (Figures 1 and 3a)


def index_width(outside: bool, count: int, size: int, delta: float = BFUCB.delta) -> float:
    """Return w, where the optimistic mean of arm i adds w / sqrt(N_i) to its mean.

    `outside`: delta stands outside the logarithm, as released. `count` and `size` are the group's
    rounds and number of arms; all rounds and all arms for UCB.
    """
    log_factor, factor = width_factors(delta, outside)
    return group_width(SimpleNamespace(log_factor=log_factor, factor=factor), count, size)


def ucb_width(policy: GroupUCB, round_: int, n_arms: int) -> float:
    """Return UCB's w in a round (see `index_width`), for a choice among all arms."""
    if policy.index == "ucb1":  # no union over arms, no delta
        return group_width(SimpleNamespace(log_factor=1.0, factor=2.0), round_, 1)
    return index_width(policy.index == "released", round_, n_arms, policy.delta)


def by_width(paper: Paper) -> list[dict[str, Any]]:
    """Return BF-UCB's regret with each width on the notebook's instance, at Figure 2's quota.

    As printed first, then with more and more departures: ``width`` is the mean final w of the first
    group, ``half`` the half-width w / sqrt(N_i) of an arm with an equal share of the group's pulls,
    ``regret`` that of each replicate, by probabilities.
    """
    columns = ["run", "round", "plays", "probability"]
    data, footer = paper.dataset(PORT, columns, rows_of(bf_ucb_at_quota, last=True))
    found = []
    for run, means in each_run(Dataset(data, footer), bf_ucb_at_quota):
        parameters, size = run.spec.parameters, run.spec.groups[0]
        outside = parameters.get("width", version_of(run.spec)) == "released"
        delta = parameters.get("delta", BFUCB.delta)
        served = per_group(run.values["plays"][:, -1], run.spec.groups)[:, 0]
        widths = np.array([index_width(outside, count, size, delta) for count in served])
        found.append(
            {
                "name": _named(version_of(run.spec), footer["labels"][run.policy]),
                "width": float(widths.mean()),
                "half": float((widths * np.sqrt(size / served)).mean()),
                "regret": regret_of(run, means)[:, -1],
            }
        )
    return sorted(found, key=lambda one: (one["name"] == SHORT["released"], len(one["name"])))


def _named(version: str, label: str) -> str:
    """Return a version in words, with its departures from the paper."""
    _, *departures = label.split(", ")
    return " but ".join([SHORT[version], *departures])


def width_table(paper: Paper) -> HTML:
    """Return width and regret with each departure that changes the width, and with all of them."""
    found = by_width(paper)
    first = found[0]
    rows = []
    for one in found:
        over = over_replicates(one["regret"])
        rows.append(
            [
                one["name"],
                number(one["width"], 1),
                number(one["width"] / first["width"], 1),
                number(one["half"], 3),
                number(over["mean"]),
                span(over["mean_low"], over["mean_high"]),
                number(over["mean"] / first["regret"].mean(), 1),
            ]
        )
    header = [
        "",
        "width w, first group",
        "times printed",
        "w / √N of an arm",
        "regret, mean",
        "95 % interval",
        "times printed",
    ]
    heading = f"The instance that the notebook draws, β = {QUOTA:g}: n = {found[0]['regret'].size}"
    return value_table({heading: rows}, header, "values-width")


def width_words(paper: Paper) -> Markdown:
    """Return how much wider than printed the intervals are, and how much larger the regret."""
    first, *others = by_width(paper)
    words = [
        f"{one['name']}, {number(one['width'] / first['width'], 1)} times as wide and "
        f"{number(one['regret'].mean() / first['regret'].mean(), 1)} times the regret"
        for one in others
    ]
    return prose(
        "**The width sets the magnitude.** BF-UCB draws arms by the merit of optimistic means, and "
        "until the width is small beside the differences of the means all arms of a group look "
        "alike: the regret within the groups grows with it. On the same instance, beside what is "
        f"printed: {'; '.join(words)}."
    )


# ---------------------------------------------------------------------------- distance (Figure 2)


def distance_table(paper: Paper, figure: str) -> HTML:
    """Return the distance at some rounds for each group and version."""
    groups: dict[str, list[list[str]]] = {}
    columns = ["run", "round", "mean", "share"]
    rounds = np.zeros(0)
    for one in paper.shown_in(figure):
        dataset = Dataset(*paper.dataset(one.name, columns, rows_of(bf_ucb_at_quota)))
        for run, means in each_run(dataset, bf_ucb_at_quota):
            rounds, values = distance_of(run, means)
            places = _decades(rounds)
            for g, group in enumerate(GROUPS):
                over = over_replicates(values[:, -1, g])
                cells = [number(values[:, place, g].mean(), 4) for place in places]
                groups.setdefault(VERSIONS[version_of(run.spec)], []).append(
                    [group, *cells, span(over["mean_low"], over["mean_high"], 4)]
                )
    header = ["", *_heads(rounds), "95 % interval at the end"]
    return value_table(groups, header, f"values-{figure}")


def _decades(rounds: np.ndarray) -> list[int]:
    """Return the indices of the first round and of those nearest T / 100, T / 10 and T."""
    wanted = [rounds[-1] / 100, rounds[-1] / 10, rounds[-1]]
    return [0, *(int(np.abs(rounds - one).argmin()) for one in wanted)]


def _heads(rounds: np.ndarray) -> list[str]:
    """Return headings for these rounds; the first round differs between versions."""
    _, *places = _decades(rounds)
    return ["at first", *(f"round {number(rounds[place])}" for place in places)]


# ----------------------------------------------------------------------------- rewards (Figure 3a)


def rewards_table(paper: Paper) -> HTML:
    """Return rewards relative to UCB's at some rounds, and the maximum of their mean."""
    groups: dict[str, list[list[str]]] = {}
    heads: list[str] = []
    columns = ["plays", "mean", "initial_plays"]
    for version, label, baseline, run, ratio in ratios_to_ucb(datasets(paper, "fig3a", columns)):
        later = np.isfinite(ratio).all(axis=0) & (run.rounds >= run.rounds[-1] // 10000)
        rounds, curve = run.rounds[later], ratio[:, later].mean(axis=0)
        over = over_replicates(ratio[:, -1])
        places = _decades(rounds)
        heads = _heads(rounds)
        peak = curve.argmax()
        groups.setdefault(VERSIONS[version], []).append(
            [
                f"{label} over {baseline}",
                *(number(curve[place], 3) for place in places),
                span(over["mean_low"], over["mean_high"], 3),
                f"{number(curve[peak], 3)} in round {number(rounds[peak])}",
                str(len(ratio)),
            ]
        )
    header = ["", *heads, "95 % interval at the end", "largest", "n"]
    return value_table(groups, header, "values-fig3a")


def _is_ucb(spec: RunSpec) -> bool:
    return spec.policy == "group_ucb" and not spec.parameters.get("quotas")


def ties(paper: Paper) -> Iterator[dict[str, Any]]:
    """Yield how many arms tie at 1 under each UCB of Figure 3a, and the minority's pulls meanwhile.

    An arm ties in a round if its true mean plus its width over sqrt(N_i) is at least 1; an index
    without a cut has no ties. ``tied`` is the mean number of such arms (NaN without a cut),
    ``minority`` the mean share of the minority in the pulls, both of shape (n_rounds,).
    """
    for one in paper.shown_in("fig3a"):
        columns = ["run", "round", "plays", "mean"]
        dataset = Dataset(*paper.dataset(one.name, columns, rows_of(_is_ucb)))
        for run, means in each_run(dataset, _is_ucb):
            groups, parameters = run.spec.groups, run.spec.parameters
            given = {key: parameters[key] for key in ("index", "cap", "delta") if key in parameters}
            policy = GroupUCB(groups, version=version_of(run.spec), **given)
            pulls = run.values["plays"]
            n_arms = pulls.shape[-1]
            widths = np.array([ucb_width(policy, int(t), n_arms) for t in run.rounds])
            bonus = widths[:, None] / np.sqrt(np.maximum(pulls, 1))
            tied = (means[:, None] + bonus >= 1).sum(axis=-1).mean(axis=0)
            share = per_group(pulls, groups)[:, :, 1] / pulls.sum(axis=-1)
            label = dataset.footer["labels"][run.policy]
            yield {
                "name": f"UCB {SHORT[version_of(run.spec)]}" if label == "UCB" else label,
                "n": len(pulls),
                "rounds": run.rounds,
                "tied": tied if policy.cap else np.full(tied.shape, np.nan),
                "minority": share.mean(axis=0),
                "arms": n_arms,
            }


def ties_table(paper: Paper) -> HTML:
    """Return the number of arms that tie at 1, and the minority's share of UCB's pulls."""
    groups: dict[str, list[list[str]]] = {}
    heads: list[str] = []
    for one in ties(paper):
        _, *places = _decades(one["rounds"])
        heads = [f"round {number(one['rounds'][place])}" for place in places]
        tied, share = (one[key][places] for key in ("tied", "minority"))
        cells = [number(count, 1) if np.isfinite(count) else "nothing cut off" for count in tied]
        groups.setdefault(f"Arms at 1, of {one['arms']}", []).append(
            [one["name"], *cells, str(one["n"])]
        )
        groups.setdefault("Minority’s share of the pulls", []).append(
            [one["name"], *(number(value, 4) for value in share), str(one["n"])]
        )
    return value_table(groups, ["", *heads, "n"], "ties-fig3a")


def ties_words(paper: Paper) -> Markdown:
    """Return how arms tie at 1 under a UCB with a cut, and the minority's pulls meanwhile."""
    words = []
    for one in ties(paper):
        if np.isnan(one["tied"]).any():
            continue
        later = one["rounds"] >= one["rounds"][-1] // 10000
        rounds, tied, share = (one[key][later] for key in ("rounds", "tied", "minority"))
        most = int(share.argmax())
        words.append(
            f"under {one['name']}, {number(tied[most], 1)} of {one['arms']} arms are at 1 in round "
            f"{number(rounds[most])}, when the minority's share of the pulls is largest, "
            f"{number(share[most], 2)}, and {number(tied[-1], 1)} at the end, when it is "
            f"{number(share[-1], 4)}"
        )
    return prose(
        "**What a cut at 1 does to UCB.** At 1 all arms look the same, and their order decides, or "
        "chance; an arm of mean $\\mu$ stays there until it has $(w / (1 - \\mu))^2$ pulls. As "
        "long as UCB goes through arms that are worse it earns less, and the ratio of others to it "
        f"rises. As printed nothing is cut off, and no arms tie. Of the UCBs with a cut, "
        f"{'; '.join(words)}."
    )


# --------------------------------------------------------------------- exposure (Figures 3b and 3c)


def shares_table(paper: Paper) -> HTML:
    """Return the minority's share of the pulls."""
    groups: dict[str, list[list[str]]] = {}
    for dataset in datasets(paper, "fig3b", ["plays"], last=True):
        for version, label, _, pulls in exposures(dataset):
            share = per_group(pulls, dataset.footer["groups"])[:, 1] / pulls.sum(axis=1)
            over = over_replicates(share)
            groups.setdefault(f"{sizes_of(dataset.footer)}, {VERSIONS[version]}", []).append(
                [
                    label,
                    number(over["mean"], 4),
                    span(over["mean_low"], over["mean_high"], 4),
                    f"{(share < QUOTA).sum()} of {share.size}",
                ]
            )
    header = ["", "minority's share, mean", "95 % interval", "runs below its quota"]
    return value_table(groups, header, "values-fig3b")


def arms_table(paper: Paper) -> HTML:
    """Return the pulls of the minority's arms: mean, least, and evenness."""
    groups: dict[str, list[list[str]]] = {}
    for dataset in datasets(paper, "fig3c", ["plays"], last=True):
        for version, label, _, pulls in exposures(dataset):
            minority = pulls[:, dataset.footer["groups"][0] :]
            least, jain = over_replicates(minority.min(axis=1)), jain_index(minority)
            groups.setdefault(VERSIONS[version], []).append(
                [
                    label,
                    ROTATED[label],
                    number(minority.mean()),
                    number(least["mean"]),
                    span(least["mean_low"], least["mean_high"]),
                    number(minority.std(axis=0, ddof=1).mean()),
                    number(jain.mean(), 3),
                ]
            )
    header = [
        "",
        "label in the notebook's cell",
        "pulls of an arm, mean",
        "of the least pulled",
        "95 % interval",
        "sd over runs, mean of the arms",
        "Jain's index",
    ]
    return value_table(groups, header, "values-fig3c")


def rotation_words(paper: Paper) -> Markdown:
    """Return the minority's pulls under each policy, and the names in the notebook's cell."""
    words = []
    for dataset in datasets(paper, "fig3c", ["plays"], last=True):
        found: dict[str, dict[str, float]] = {}
        for version, label, _, pulls in exposures(dataset):
            mean = float(pulls[:, dataset.footer["groups"][0] :].mean())
            found.setdefault(version, {})[label] = mean
        for version, means in found.items():
            bars = (f"{label} {number(means[label])} ({ROTATED[label]})" for label in POLICIES)
            words.append(f"{VERSIONS[version]}, {', '.join(bars)}")
    return prose(
        "**Pulls of a minority's arm**, the mean of all arms and runs, with the name that the "
        f"notebook's cell writes below the bars: {listed(words)}. The text says of MF and, in the "
        "same paragraph, of UCB that it gives these arms the least exposure. That the labels of "
        "the figure are rotated is a hypothesis: the cell was not run in the released file."
    )


# ------------------------------------------------------------------------------------- guarantees


def deficit_table(paper: Paper) -> HTML:
    """Return the most pulls that a group was ever behind its quota, for BF-UCB."""
    groups: dict[str, list[list[str]]] = {}
    for one in paper.experiments:
        if "group_deficit_sup" not in paper.content["experiments"][one.name]["record"]:
            continue
        columns = ["run", "round", "group_deficit_sup"]
        dataset = Dataset(*paper.dataset(one.name, columns, rows_of(is_bf_ucb, last=True)))
        for run, _ in each_run(dataset, is_bf_ucb):
            worst = run.values["group_deficit_sup"][:, -1].max(axis=1)
            heading = f"{escape(one.title)}: n = {dataset.footer['replicates']}"
            groups.setdefault(heading, []).append(
                [
                    f"{escape(dataset.footer['labels'][run.policy])}, β = {quota_of(run.spec):g}, "
                    f"{SHORT[version_of(run.spec)]}",
                    str((worst > 0).sum()),
                    number(max(0.0, worst.max())),
                ]
            )
    header = ["", "runs with a group ever behind", "most pulls behind"]
    return value_table(groups, header, "deficits")


def deficit_words(paper: Paper) -> Markdown:
    """Return in how many runs of each version a group was ever behind."""
    violated = dict.fromkeys(VERSIONS, 0)
    runs = dict.fromkeys(VERSIONS, 0)
    for one in paper.experiments:
        if "group_deficit_sup" not in paper.content["experiments"][one.name]["record"]:
            continue
        columns = ["run", "round", "group_deficit_sup"]
        dataset = Dataset(*paper.dataset(one.name, columns, rows_of(is_bf_ucb, last=True)))
        for run, _ in each_run(dataset, is_bf_ucb):
            worst = run.values["group_deficit_sup"][:, -1].max(axis=1)
            violated[version_of(run.spec)] += int((worst > 0).sum())
            runs[version_of(run.spec)] += worst.size
    words = [
        f"{VERSIONS[version]} in {violated[version]} of {runs[version]} runs"
        for version in VERSIONS
    ]
    return prose(
        "**The guarantee** is $N_g(t) \\ge \\lfloor \\beta_g t "
        "\\rfloor$ in every round. Some group was behind, in whole pulls and in any round, "
        f"{listed(words)}. The released program serves one group after the other at the start."
    )


# ------------------------------------------------------------- published magnitudes (port check)


def port_check(paper: Paper) -> list[dict[str, Any]]:
    """Return the final values of the notebook's curves beside our runs on the same instance.

    A row for each quantity and run of BF-UCB, with ``mean`` and ``sd`` of ``n`` replicates;
    ``published`` and its reading ``error`` are NaN at another horizon.
    """
    known = published(paper.slug)
    columns = ["run", "round", "reward", "initial_reward", "share"]
    data, footer = paper.dataset(PORT, columns, rows_of(is_bf_ucb, last=True))
    comparable = footer["horizon"] == known["horizon"]
    distances = known["distance"]
    found = []
    for run, means in each_run(Dataset(data, footer), is_bf_ucb):
        quota, groups = quota_of(run.spec), run.spec.groups
        one = {
            "name": run.policy,
            "label": footer["labels"][run.policy],
            "version": version_of(run.spec),
            "quota": quota,
        }
        regret = released_regret(
            *(run.rounds, run.values["reward"], run.values["initial_reward"]),
            *(means[0], groups, run.spec.parameters["quotas"]),
        )
        quantities = [("regret as the notebook counts it", regret[:, -1], known["regret"], None)]
        if quota == distances["quota"]:
            _, values = distance_of(run, means)
            quantities += [
                (f"distance, group {g + 1}", values[:, -1, g], distances, g + 1)
                for g in range(len(groups))
            ]
        for what, values, entry, group in quantities:
            (value,) = (
                row["value"]
                for row in entry["values"]
                if row.get("quota", quota) == quota and row.get("group") == group
            )
            found.append(
                one
                | {"what": what, "n": len(values), "mean": values.mean()}
                | {"sd": values.std(ddof=1), "error": entry["reading_error"]}
                | {"published": value if comparable else np.nan}
            )
    return found


def version_words(row: dict[str, Any]) -> str:
    """Return the version of a row of the port check, in words."""
    return _named(row["version"], row["label"])


def port_table(paper: Paper) -> HTML:
    """Return the port check: our runs of each version beside the notebook's images."""
    groups: dict[str, list[list[str]]] = {}
    for row in port_check(paper):
        digits = 0 if row["what"].startswith("regret") else 4
        known = np.isfinite(row["published"])
        groups.setdefault(version_words(row), []).append(
            [
                f"{row['what']}, β = {row['quota']:g}",
                number(row["mean"], digits),
                number(row["sd"], digits),
                str(row["n"]),
                number(row["published"], digits) if known else "not comparable",
                number(row["error"], digits),
            ]
        )
    header = ["", "mean", "sd of runs", "n", "notebook's image", "reading error"]
    return value_table(groups, header, "port-check")


def origin_words(paper: Paper) -> Markdown:
    """Return the ratio of our values to those of the notebook's images."""
    rows = port_check(paper)
    if not all(np.isfinite(row["published"]) for row in rows):
        return prose(
            "**Our values over those of the notebook's images**: not to be said at this number of "
            "rounds."
        )
    ratios: dict[str, list[float]] = {}
    for row in rows:
        ratios.setdefault(version_words(row), []).append(row["mean"] / row["published"])
    words = [
        f"{name}, {number(min(some), 2)} to {number(max(some), 2)}" for name, some in ratios.items()
    ]
    return prose(
        f"**Our values over those of the notebook's images**: {listed(words)}. The paper's own "
        "figures were not at hand as images; that their magnitudes are those of the notebook is "
        "inferred."
    )

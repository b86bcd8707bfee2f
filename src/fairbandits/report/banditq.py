"""Tables and words of BanditQ's page."""

from typing import Any

import numpy as np
import pandas as pd
from IPython.display import HTML, Markdown

from fairbandits.data.store import read_footer
from fairbandits.library.style import LAW_TITLES
from fairbandits.measures.rates import realised_regret, reward_rates
from fairbandits.replication.recorded import RunData, runs_of
from fairbandits.report.comparison import LAW_WORDS, Curve, over_replicates, published
from fairbandits.report.pages import Paper, listed, number, prose, quantity, span, value_table
from fairbandits.theory.static import static_benchmark

PROTECTED = (0, 1)
#: Decimals of each figure's numbers.
DIGITS = {"rates": 5, "queues": 0, "regret": 0, "rewards": 0}
#: The parameters as the paper prints them.
PRINTED_MEANS = (0.335, 0.203, 0.241, 0.781, 0.617)
PRINTED_TARGETS = (0.167, 0.067, 0.0, 0.0, 0.0)


def curves(paper: Paper, name: str) -> list[Curve]:
    """Return a figure's quantity in every replicate."""
    shows = quantity(paper.slug, name)
    probes = ["queue", "queue_max"] if shows == "queues" else []
    columns = ["run", "round", "reward", *probes]
    data, footer = paper.dataset(paper.of_figure(name).name, columns)
    return [curve for run in runs_of(data, footer) for curve in _curves(run, footer, shows)]


def _curves(run: RunData, footer: dict[str, Any], shows: str) -> list[Curve]:
    reward = run.values["reward"]
    if shows == "rates":
        rates = reward_rates(run.rounds, reward)
        return [Curve(run.law, f"arm {k + 1}", run.rounds, rates[:, :, k]) for k in PROTECTED]
    if shows == "queues":
        queue, peak = run.values["queue"], run.values["queue_max"]
        return [
            Curve(run.law, f"arm {k + 1}", run.rounds, queue[:, :, k], peak[:, -1, k])
            for k in PROTECTED
        ]
    if shows == "regret":
        regret = realised_regret(run.rounds, reward, footer["means"], footer["targets"])
        return [Curve(run.law, "regret", run.rounds, regret)]
    label = footer["labels"][run.policy]
    return [Curve(run.law, label, run.rounds, reward.sum(axis=-1))]


def digits(paper: Paper, name: str) -> int:
    """Return the number of decimals that a figure's numbers need."""
    return DIGITS[quantity(paper.slug, name)]


def shortfalls(paper: Paper, experiment: str) -> pd.DataFrame:
    """Return how far protected arms end from their targets: a row per law, policy and arm.

    ``short`` is in percent of the target, with its 95 % t interval ``short_low`` to ``short_high``;
    ``below`` counts the replicates, of ``n``, that end below the target.
    """
    data, footer = paper.dataset(experiment, ["run", "round", "reward"])
    rows = []
    for run in runs_of(data, footer):
        for k in PROTECTED:
            target = footer["targets"][k]
            rates = run.values["reward"][:, -1, k] / run.rounds[-1]
            short = over_replicates(100 * (1 - rates / target))
            rows.append(
                {
                    "law": run.law,
                    "policy": footer["labels"][run.policy],
                    "arm": k + 1,
                    "target": target,
                    "rate": rates.mean(),
                    "short": short["mean"],
                    "short_low": short["mean_low"],
                    "short_high": short["mean_high"],
                    "below": int((rates < target).sum()),
                    "n": rates.size,
                }
            )
    return pd.DataFrame(rows)


def shortfall_table(short: pd.DataFrame, name: str) -> HTML:
    """Return the shortfalls as a table."""
    groups = {}
    for law, part in short.groupby("law", sort=False):
        groups[LAW_TITLES.get(law, law)] = [
            [
                f"{row.policy}, arm {row.arm}",
                number(row.target, 4),
                number(row.rate, 5),
                f"{number(row.short, 2)} %",
                f"{span(row.short_low, row.short_high, 2)} %",
                f"{row.below} of {row.n}",
            ]
            for row in part.itertuples()
        ]
    header = ["", "target rate", "mean rate", "short of target", "95 % interval", "runs below"]
    return value_table(groups, header, name)


def target_words(paper: Paper, name: str) -> Markdown:
    """Return in words how far a figure's curves end from the targets."""
    sentences = []
    for law, part in shortfalls(paper, paper.of_figure(name).name).groupby("law", sort=False):
        words = [
            f"arm {row.arm} ends {_aside(row.short)} its target of {number(row.target, 4)} in the "
            f"mean ({row.below} of {row.n} runs end below)"
            for row in part.itertuples()
        ]
        sentences.append(f"with {LAW_WORDS.get(law, law)}, {listed(words)}")
    return prose(f"**Are the targets met at the last round?** {_sentences(sentences)}")


def _aside(short: float) -> str:
    return f"{number(abs(short), 2)} % {'below' if short > 0 else 'above'}"


def _sentences(words: list[str]) -> str:
    return " ".join(f"{one[0].upper()}{one[1:]}." for one in words)


def lead_words(paper: Paper) -> Markdown:
    """Return BanditQ's lead in reward over oracle LFG, and the rates of the protected arms."""
    short = shortfalls(paper, "oracle_lfg").set_index(["law", "policy", "arm"])
    totals = {(one.law, one.series): one.values[:, -1] for one in curves(paper, "fig7")}
    sentences, unlike = [], False
    for law in dict.fromkeys(law for law, _ in totals):
        ahead = totals[law, "BanditQ"] - totals[law, "oracle LFG"]
        lead = over_replicates(ahead)
        sentences.append(
            f"with {LAW_WORDS.get(law, law)}, BanditQ's total reward is "
            f"{number(abs(lead['mean']))} {'above' if lead['mean'] > 0 else 'below'} oracle LFG's "
            "in the mean (95 % interval of the paired difference "
            f"{span(lead['mean_low'], lead['mean_high'])}), and higher in {(ahead > 0).sum()} of "
            f"{ahead.size} replicates"
        )
        for k in PROTECTED:
            ours, oracle = (short.loc[law, policy, k + 1] for policy in ("BanditQ", "oracle LFG"))
            if ours["short_low"] <= oracle["short_high"]:
                continue
            unlike = True
            sentences.append(
                f"in the same runs arm {k + 1}'s mean rate is {_aside(ours['short'])} its target "
                f"under BanditQ, and {_aside(oracle['short'])} it under oracle LFG"
            )
    words = _sentences(sentences)
    if unlike:
        words += (
            " So the two do not deliver the same rewards to the protected arms, and the figure does"
            " not say which of them earns more at equal protected rewards."
        )
    return prose(f"**What is compared.** {words}")


#: Columns of the replay that a figure shows, by series.
REPLAYED = {
    "fig5": {"arm 1": "queue_1", "arm 2": "queue_2"},
    "fig4": {"arm 1": "rate_1", "arm 2": "rate_2"},
    "fig6": {"regret": "regret"},
}


def compare_replay(paper: Paper) -> pd.DataFrame:
    """Return a row per published number of Figs 4 to 6: replayed run, difference.

    ``round`` and ``read_round`` are rounds of an extreme; ``error`` is the least reading error: 0.2
    % of the curve's span, which its axis exceeds. Empty if the replay has other rounds than the
    figures.
    """
    figures = published(paper.slug)["figures"]
    replay = paper.table("replay_5_bandit").set_index("round")
    rows = []
    for name, columns in REPLAYED.items():
        if replay.index[-1] != figures[name]["horizon"]:
            continue
        for one in figures[name]["values"]:
            line = replay[columns[one["series"]]]
            ours, where = _replayed(line, one["quantity"])
            rows.append(
                {
                    "figure": name,
                    "series": one["series"],
                    "quantity": one["quantity"],
                    "replay": ours,
                    "round": where,
                    "read": one["value"],
                    "read_round": one.get("round", 0) if where else 0,
                    "off": abs(ours - one["value"]),
                    "error": 0.002 * np.ptp(line),
                }
            )
    return pd.DataFrame(rows)


def replay_table(paper: Paper, compared: pd.DataFrame) -> HTML:
    """Return the replayed run beside the published numbers of Figs 4 to 6 as a table."""
    groups: dict[str, list[list[str]]] = {}
    for row in compared.itertuples():
        heading = f"Figure {row.figure.removeprefix('fig')}, {quantity(paper.slug, row.figure)}"
        places = 1 if row.figure == "fig5" else digits(paper, row.figure)
        groups.setdefault(heading, []).append(
            [
                f"{row.series}, {_QUANTITIES[row.quantity]}",
                number(row.replay, places) + _at(row.round),
                number(row.read, places) + _at(row.read_round),
                number(row.off, places),
            ]
        )
    return value_table(groups, ["", "replay", "published", "difference"], "values-replay")


def _at(round_: int) -> str:
    return f" (round {number(round_)})" if round_ else ""


def replay_words(paper: Paper, compared: pd.DataFrame) -> Markdown:
    """Return which figures show the replayed run, in words."""
    if compared.empty:
        return prose("Not compared: the replay has other rounds than the published figures.")
    sentences = []
    for name, part in compared[compared["quantity"] == "value"].groupby("figure", sort=False):
        places = 1 if name == "fig5" else digits(paper, name)
        apart = listed([number(off, places) for off in part["off"]])
        same = (part["off"] <= part["error"]).all()
        sentences.append(
            f"Figure {name.removeprefix('fig')}'s last round and the replay's are {apart} apart, "
            + ("no more than can be misread" if same else "more than can be misread")
            + (": by these numbers it shows this run" if same else ": it shows another run")
        )
    return prose(_sentences(sentences))


def compare_thousand(paper: Paper) -> pd.DataFrame:
    """Return a row per curve of Figs 8 to 13: the replay's distance from the points read off.

    ``points`` is how many were read, ``off_end`` and ``off`` the last and the largest difference,
    ``part`` the largest over the span of all the figure's curves. Empty if the replay has other
    rounds.
    """
    rows = []
    for replay in paper.replays:
        for name in replay.figures:
            curves = paper.table(name)
            if curves["round"].max() != published(paper.slug)["figures"][name]["horizon"]:
                continue
            for series, curve in curves.groupby("series", sort=False):
                read = curve.dropna(subset="published")
                off = (read["value"] - read["published"]).abs()
                rows.append(
                    {
                        "figure": name,
                        "series": series,
                        "points": len(read),
                        "replay": read["value"].iloc[-1],
                        "read": read["published"].iloc[-1],
                        "off_end": off.iloc[-1],
                        "off": off.max(),
                        "part": off.max() / np.ptp(curves["value"]),
                    }
                )
    return pd.DataFrame(rows)


#: Decimals of Figs 8 to 13, which were read more finely.
FINE = {"rates": 8, "queues": 4, "regret": 3}


def thousand_table(paper: Paper, compared: pd.DataFrame) -> HTML:
    """Return the replays beside the published curves of Figs 8 to 13 as a table."""
    groups: dict[str, list[list[str]]] = {}
    for row in compared.itertuples():
        shows = quantity(paper.slug, row.figure)
        replay = paper.replay_of_figure(row.figure)
        heading = f"Figure {row.figure.removeprefix('fig')}, {shows}: {replay.title.lower()}"
        groups.setdefault(heading, []).append(
            [
                row.series,
                *(number(one, FINE[shows]) for one in (row.replay, row.read)),
                *(number(one, FINE[shows] + 1) for one in (row.off_end, row.off)),
                f"{1e6 * row.part:.2g}",
            ]
        )
    header = [
        "",
        "replay ends at",
        "published",
        "difference",
        "largest of all",
        "millionths of span",
    ]
    return value_table(groups, header, "values-thousand")


def thousand_words(paper: Paper, compared: pd.DataFrame) -> Markdown:
    """Return whether Figs 8 to 13 show the replayed runs, and their message, in words."""
    if compared.empty:
        return prose("Not compared: the replays have other rounds than the published figures.")
    error = published(paper.slug)["thousand_arms"]["reading_error"]
    worst = compared.groupby("figure", sort=False)["part"].max()
    within = [name.removeprefix("fig") for name in worst.index if worst[name] <= error]
    sentences = [
        f"at the {compared['points'].sum()} points read off, replay and published curve are at "
        f"most {1e6 * worst.max():.2g} millionths of the figure's span apart"
    ]
    if within:
        sentences.append(
            f"in Figures {listed(within)} that is no more than can be misread, "
            f"{1e6 * error:.2g} millionths"
        )
    sentences += [
        f"in Figure {name.removeprefix('fig')} they are {1e6 * part:.2g} millionths apart, more "
        "than can be misread; why, we do not know"
        for name, part in worst.items()
        if part > error
    ]
    return prose(f"**Are these the published runs?** {_sentences(sentences)}")


def thousand_ends(paper: Paper, name: str) -> Markdown:
    """Return the last rates and regret of a replay with a thousand arms."""
    (replay,) = (one for one in paper.replays if one.name == name)
    line = paper.table(name).set_index("round")
    last = line.iloc[-1]
    targets = read_footer(paper.results / replay.table)["targets"]
    rates = [
        f"arm {k + 1} ends {_aside(100 * (1 - last[f'rate_{k + 1}'] / targets[k]))} its target "
        f"of {number(targets[k], 4)}"
        for k in PROTECTED
    ]
    lowest = line["regret"].idxmin()
    words = [
        listed(rates),
        f"of the rounds recorded, the regret is lowest in {number(lowest)}, "
        f"{number(line['regret'][lowest])}, and ends at {number(last['regret'])}, which is "
        f"{number(last['regret'] / line.index[-1], 4)} per round",
    ]
    return prose(f"**What they show.** {_sentences(words)}")


_QUANTITIES = {
    "value": "last round",
    "maximum": "maximum",
    "minimum": "minimum",
    "late minimum": "minimum of second half",
    "late maximum": "maximum of second half",
}


def _replayed(line: pd.Series, quantity: str) -> tuple[float, int]:
    """Return a quantity of the replay and, for an extreme, its round (else 0)."""
    if quantity == "value":
        return line.iloc[-1], 0
    part = line[line.index >= line.index[-1] / 2] if quantity.startswith("late ") else line
    place = part.idxmax() if quantity.endswith("maximum") else part.idxmin()
    return part[place], 0 if quantity.startswith("late ") else place


def digits_table(paper: Paper) -> HTML:
    """Return the instance as printed, as in the released program, and as drawn."""
    footer = paper.footers["full_information"]
    drawn = published(paper.slug)["drawn_targets"]["value"]
    printed = static_benchmark(PRINTED_MEANS, PRINTED_TARGETS)
    released = static_benchmark(footer["means"], footer["targets"])
    rows = []
    for k in PROTECTED:
        values = (PRINTED_TARGETS[k], footer["targets"][k], drawn[f"arm {k + 1}"])
        rows.append([f"target rate λ<sub>{k + 1}</sub>", *map(str, values)])
    rows.append(["static benchmark b*", number(printed.reward, 5), number(released.reward, 5), ""])
    header = ["", "printed digits", "released program", "drawn in Figs 1 and 4"]
    return value_table({"": rows}, header, "digits")

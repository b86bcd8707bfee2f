"""Which policy to use under a contract: the arena's answer in words, from its committed table."""

from bisect import bisect
from collections.abc import Iterator, Sequence
from fractions import Fraction

import pandas as pd

from fairbandits.arena.decisions import STRICTLY, Choice, choice, kept_for, with_symbols
from fairbandits.arena.roles import Arena, Terms
from fairbandits.arena.standings import COMMITTED, KEPT, maker_of
from fairbandits.numerals import number, significant
from fairbandits.rationals import Quotas, rational
from fairbandits.settings.config import Config, Experiment
from fairbandits.settings.schemas import ROOT, ConfigError

#: Stands for a number of rounds that is not known.
UNKNOWN = "unknown"


def committed(config: Config) -> pd.DataFrame:
    """Return the committed standings of policies that do not know the means, or ConfigError."""
    file = ROOT / config.folders["audit"] / COMMITTED
    if not file.is_file():
        raise ConfigError(f"{file} does not exist; `fairbandits replicate arena` makes it")
    return pd.read_csv(file, keep_default_na=False)


def rounds_of(text: str) -> int | None:
    """Return a number of rounds, None for `UNKNOWN`; ConfigError for anything else."""
    if text == UNKNOWN:
        return None
    try:
        rounds = rational("horizon", text)
    except ValueError:
        rounds = Fraction(0)
    if rounds < 1 or rounds.denominator > 1:
        wanted = f"a whole number of rounds such as 10000, or {UNKNOWN}"
        raise ConfigError(f"--horizon must be {wanted}, got {text!r}")
    return int(rounds)


def quota_of(text: str) -> Fraction:
    """Return the quota of each arm or group, or raise ConfigError."""
    try:
        quota = rational("--quota", text)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    if not 0 < quota < Fraction(1, 2):
        why = "at least two arms or groups have it"
        raise ConfigError(f"--quota must be above 0 and below 1/2, since {why}; got {text}")
    return quota


def lines(
    arena: Arena, terms: Terms, rows: pd.DataFrame, rounds: int | None, quota: Fraction | None
) -> Iterator[str]:
    """Yield the policy to use under a contract, how strictly it must hold, and what that rests on.

    Between two numbers of rounds that were judged it must keep the contract at both.
    """
    rows = rows[rows["contract"] == terms.name]
    judged = sorted(rows["horizon"].unique())
    horizons, note = _beside(judged, rounds)
    known = rounds is not None
    length = f"T = {number(rounds)}" if known else "T not known"
    yield f"{terms.title.capitalize()}, {length}"
    choices = {kept: choice(rows, kept, horizons, known) for kept in KEPT}
    yield pd.DataFrame([_row(terms, chosen) for chosen in choices.values()]).to_string(index=False)
    yield from [note] if note else []
    runs = rows[rows["horizon"].isin(horizons)].groupby("horizon")["replicates"].max()
    each = ", ".join(f"{number(horizon)} rounds (n = {n})" for horizon, n in runs.items())
    yield f"This rests on all {rows['instance'].nunique()} instances of the arena: {each}."
    if quota is not None:
        yield from _with_quota(arena, terms, quota, choices)


def answer(arena: Arena, rows: pd.DataFrame) -> Iterator[str]:
    """Yield for each contract the policy to use at the end of a run of unknown length."""
    horizons = sorted(rows["horizon"].unique())
    span = f"{number(horizons[0])} to {number(horizons[-1])}"
    yield f"Which policy, if a contract must hold at the end and T is not known ({span} rounds)?"
    for terms in arena.terms:
        standings = rows[rows["contract"] == terms.name]
        best = choice(standings, "kept", horizons, known=False)
        kept = "; ".join(filter(None, kept_for(best)))
        yield f"  {terms.title}: {_named(best)}; keeps it for T = {kept}"


def _named(chosen: Choice) -> str:
    return ("" if chosen.keeps else "none; nearest is ") + with_symbols(chosen.name)


def _row(terms: Terms, chosen: Choice) -> dict[str, str]:
    lack = chosen.judged[KEPT[chosen.kept][0]]
    regret = 1000 * chosen.judged["contract_regret"] / chosen.judged["horizon"]
    return {
        "it must hold": STRICTLY[chosen.kept],
        "use": _named(chosen),
        "needs T": "yes" if chosen.needs_horizon else "no",
        "keeps it for T =": kept_for(chosen)[0],
        "contract regret in 1000 rounds": f"{significant(regret.mean(), 3)} reward",
        "largest shortfall": f"{significant(lack.max(), 3)} {terms.unit}",
    }


def _beside(judged: Sequence[int], rounds: int | None) -> tuple[list[int], str]:
    """Return the judged horizons that answer for a number of rounds, and a note if it is none."""
    if rounds is None or rounds in judged:
        return list(judged) if rounds is None else [rounds], ""
    longer = bisect(judged, rounds)
    around = list(judged[max(0, longer - 1) : longer + 1])
    listed = " and ".join(map(number, around))
    return around, f"T = {number(rounds)} was not judged: the answer is that for {listed}."


def _with_quota(
    arena: Arena, terms: Terms, quota: Fraction, choices: dict[str, Choice]
) -> Iterator[str]:
    """Yield how the choices do on the instances with this quota for each arm or group."""
    each = [(case, _quota_of(terms, case)) for case in arena.instances(terms.name)]
    same = [case for case, its_quota in each if its_quota == quota]
    if not same:
        quotas = ", ".join(map(str, sorted({its_quota for _, its_quota in each if its_quota})))
        yield f"None of them has the quota {quota} for each; some have {quotas}."
        return
    titles = ", ".join(case.title for case in same)
    yield f"Of them, with the quota {quota} for each: {titles}. On these"
    for kept, chosen in choices.items():
        rows = chosen.judged[chosen.judged["instance"].isin([case.instance for case in same])]
        always = rows.groupby("horizon")[kept].all()
        at = ", ".join(map(number, always.index[always])) or "none"
        yield f"  {with_symbols(chosen.name)} keeps it {STRICTLY[kept]} for T = {at}."


def _quota_of(terms: Terms, experiment: Experiment) -> Fraction | None:
    """Return the quota that all arms or groups of an instance have, None if they differ."""
    spec = experiment.runs[0].spec
    quotas = spec.quotas
    if spec.groups:
        quotas = maker_of(terms.name, spec)([]).quotas
    distinct = {*Quotas(quotas).fractions}
    return distinct.pop() if len(distinct) == 1 else None

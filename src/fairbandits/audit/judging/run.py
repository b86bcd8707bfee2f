"""From a file of a user's own claims to verdicts: checked, frozen, simulated, judged, written."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fairbandits.audit.claims import Claim
from fairbandits.audit.finding import INCONCLUSIVE
from fairbandits.audit.judge import judge
from fairbandits.audit.judging import data
from fairbandits.audit.judging.rules import OWN, Rules, load_rules
from fairbandits.audit.records import finding_row, verdict_row, write_committed
from fairbandits.audit.run import WIDTH, exploratory_words, failures, find, width
from fairbandits.audit.show import TEMPLATES, explanation, listing, tally
from fairbandits.audit.tables import FINDINGS_TABLE, VERDICTS_TABLE, Row, write_text
from fairbandits.audit.totals import left_out
from fairbandits.data.provenance import git_commit, package_versions
from fairbandits.data.store import StoreError, replacing
from fairbandits.settings.canonical import canonical
from fairbandits.settings.config import LEDGER

REPORT, HISTORY = "report.md", "history.json"


@dataclass(frozen=True)
class Frozen:
    """Rules that were frozen before their data."""

    digest: str
    seed: int | str  # "ledger" where it follows from the rules
    file: str
    frozen: str  # times, UTC
    judged: str = ""  # empty until results were shown
    verdicts: Mapping[str, int] = field(default_factory=dict)  # number of claims of each
    rules: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return self.digest if self.seed == LEDGER else f"{self.digest}-seed-{self.seed}"


def read_history(out: Path) -> list[Frozen]:
    """Return all rules that were frozen in a folder, oldest first."""
    file = out / HISTORY
    try:
        return [Frozen(**one) for one in json.loads(file.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        if out.is_dir() and any(out.iterdir()):
            raise StoreError(
                f"{out} is not empty, and has no {HISTORY} of rules that were frozen there; name "
                "another folder with --out"
            ) from None
        return []
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(
            f"{file} cannot be read ({error}), so that it is not known which rules were judged "
            "here; bring it back, or name another folder with --out"
        ) from None


def _write(out: Path, history: list[Frozen]) -> None:
    text = json.dumps([asdict(one) for one in history], indent=1, ensure_ascii=False)
    write_text(out / HISTORY, text)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def freeze(out: Path, rules: Rules) -> tuple[list[Frozen], int]:
    """Record rules as frozen, unless they are; return the folder's history and their place."""
    history = read_history(out)
    own = Frozen(rules.digest, rules.config.seed, rules.file.name, _now())
    known = [one.key for one in history]
    if own.key in known:
        return history, known.index(own.key)
    for file in (rules.file, *rules.sources):
        with replacing(out / own.key / "frozen" / file.name) as temporary:
            temporary.write_bytes(file.read_bytes())
    history.append(replace(own, rules=canonical(rules.content)))
    _write(out, history)
    return history, len(known)


def changes(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Yield each difference of newer rules from older ones, a line each."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            here = f"{place}.{key}".lstrip(".")
            if key in old and key in new:
                yield from changes(old[key], new[key], here)
            else:
                yield f"{here}: {'left out' if key in old else 'added'}"
    elif old != new:
        yield f"{place}: {json.dumps(old)}, then {json.dumps(new)}"


def check(file: Path, seed: int | str = LEDGER) -> Rules:
    """Return a file's rules after all checks that need no data."""
    rules = load_rules(file, seed)
    data.rehearse(rules)
    return rules


def checked_words(rules: Rules) -> str:
    tests = sum(len(claim.tests) for claim in rules.ledger.claims.values())
    return (
        f"{rules.file}: {len(rules.ledger.claims)} claims, {tests} tests; rules {rules.digest}, "
        f"seed {rules.seed}"
    )


def judged(
    file: Path,
    out: Path,
    *,
    seed: int | str = LEDGER,
    cores: int = 1,
    say: Callable[[str], None] = lambda words: None,
    progress: bool = False,
) -> str:
    """Freeze a file's rules, simulate, judge its claims, write all of it; return the verdicts."""
    rules = check(file, seed)
    history, place = freeze(out, rules)
    own = history[place]
    say(f"Rules {own.digest}, frozen {own.frozen}. {_seed_words(rules)}")
    if not own.judged:
        frozen = TEMPLATES.get_template("judging/frozen.md").module
        if before := frozen.before(history[: place + 1], changes):
            say(before.rstrip())
    results = out / own.key
    if not data.simulate(rules.config, results, cores, progress=progress):
        say(f"The data of these rules are in {results}, and are used again.")
    rows, findings = _rows(rules, results)
    # recorded before anything is shown, so that every look at results leaves a trace
    own = replace(own, judged=own.judged or _now(), verdicts=tally(rows).counted)
    history = [own if one.key == own.key else one for one in read_history(out)]
    _write(out, history)
    place = history.index(own)
    write_committed(results, rows, findings, "paper")
    write_text(results / REPORT, _report(rules, history, place, rows, findings))
    for claim in rules.ledger.claims.values():
        for line in _exact_instead(claim, findings):
            say(line)
    files = [results / name for name in (REPORT, VERDICTS_TABLE, FINDINGS_TABLE)]
    say(f"Written: {', '.join(map(str, files))}.")
    return listing(rows, width(), {OWN: rules.ledger})


def _rows(rules: Rules, results: Path) -> tuple[list[Row], list[Row]]:
    """Return the rows of verdicts and findings; StoreError if a claim fails."""
    ledgers = {OWN: rules.ledger}
    found, _, made = find(rules.config, rules.ledger, results)
    if lines := "\n".join(failures(found)):
        failed = len({one.claim for one in found if one.finding is None})
        raise StoreError(
            f"{failed} claim{'s' * (failed > 1)} failed, so that no verdict is written or shown; "
            f"the data stay\n{lines}"
        )
    rows = [
        verdict_row(ledgers, one, made) | {"left_out": left_out(one.claim)}
        for one in judge(ledgers, found)
    ]
    return rows, [finding_row(rules.ledger, one, made) for one in found]


def _seed_words(rules: Rules) -> str:
    if rules.config.exploratory:
        return exploratory_words(str(rules.seed))
    return f"The seed {rules.seed} follows from the rules."


def _report(
    rules: Rules, history: list[Frozen], place: int, rows: Sequence[Row], findings: list[Row]
) -> str:
    given = {"rules": rules, "history": history, "place": place, "rows": rows, "findings": findings}
    given |= {"ledgers": {OWN: rules.ledger}, "width": WIDTH, "seed_words": _seed_words(rules)}
    given |= {"listing": listing, "explanation": explanation, "changes": changes}
    given |= {"hints": _exact_instead}
    given |= {"versions": package_versions(), "commit": git_commit()}
    return TEMPLATES.get_template("judging/report.md").render(given)


def _exact_instead(claim: Claim, findings: Iterable[Row]) -> Iterator[str]:
    """Yield a hint for each test with a constant number, since that is not random."""
    own = (one for one in findings if one["claim"] == claim.id and one["verdict"] == INCONCLUSIVE)
    for test in dict.fromkeys(one["test"] for one in own if "CONSTANT" in one["tags"]):
        yield (
            f"{claim.id}, {test}: the number is the same in all replicates, so it has no interval. "
            "If no chance is in it, use a rule for exact statements, `rounded` (`exact` where it "
            "is a whole number), which checks in every replicate by how much the statement is "
            "broken: 0 or less where it holds."
        )

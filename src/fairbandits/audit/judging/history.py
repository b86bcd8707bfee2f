"""History of a folder: the rules frozen there, when, and what was seen of the data afterwards."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fairbandits.audit.judging.rules import Rules
from fairbandits.audit.tables import write_text
from fairbandits.data.store import StoreError, replacing
from fairbandits.settings.canonical import canonical
from fairbandits.settings.config import LEDGER

FILE = "history.json"


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

    def changes_to(self, later: "Frozen") -> list[str]:
        return list(changes(self.rules, later.rules)) or ["nothing but the seed"]


def read_history(out: Path) -> list[Frozen]:
    """Return all rules that were frozen in a folder, oldest first."""
    file = out / FILE
    try:
        return [Frozen(**one) for one in json.loads(file.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        if out.is_dir() and any(out.iterdir()):
            raise StoreError(
                f"{out} is not empty, and has no {FILE} of rules that were frozen there; name "
                "another folder with --out"
            ) from None
        return []
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(
            f"{file} cannot be read ({error}), so that it is not known which rules were judged "
            "here; bring it back, or name another folder with --out"
        ) from None


def freeze(out: Path, rules: Rules) -> tuple[Frozen, list[Frozen]]:
    """Record rules as frozen, unless they are; return them, and all those of the folder."""
    history = read_history(out)
    own = Frozen(rules.digest, rules.config.seed, rules.file.name, _now())
    if known := next((one for one in history if one.key == own.key), None):
        return known, history
    own = replace(own, rules=canonical(rules.content))
    for file in (rules.file, *rules.sources):
        with replacing(out / own.key / "frozen" / file.name) as temporary:
            temporary.write_bytes(file.read_bytes())
    history = [*history, own]
    _write(out, history)
    return own, history


def others(history: list[Frozen], own: Frozen) -> tuple[list[Frozen], list[Frozen]]:
    """Return the other rules of a folder: those frozen earlier, and those frozen later."""
    place = [one.key for one in history].index(own.key)
    return history[:place], history[place + 1 :]


def note_judged(out: Path, own: Frozen, verdicts: Mapping[str, int]) -> Frozen:
    """Record the time at which frozen rules were first judged."""
    own = replace(own, judged=own.judged or _now(), verdicts=dict(verdicts))
    _write(out, [own if one.key == own.key else one for one in read_history(out)])
    return own


def _write(out: Path, history: list[Frozen]) -> None:
    text = json.dumps([asdict(one) for one in history], indent=1, ensure_ascii=False)
    write_text(out / FILE, text)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def changes(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Yield each difference of newer rules from older ones, a line each.

    >>> list(changes({"replicates": 20, "claims": {}}, {"replicates": 50, "claims": {}}))
    ['replicates: 20, then 50']
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            here = f"{place}.{key}".lstrip(".")
            if key in old and key in new:
                yield from changes(old[key], new[key], here)
            else:
                yield f"{here}: {'left out' if key in old else 'added'}"
    elif old != new:
        yield f"{place}: {json.dumps(old)}, then {json.dumps(new)}"

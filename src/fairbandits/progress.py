"""How long a run of the workflow still takes, from what its jobs are expected to take.

The workflow says what is expected of each rule; what finished jobs took corrects it on the way.
Only the standard library is imported here.
"""

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

#: Seconds of one job of what a rule's name has in it; of all others, and of what none is left.
EXPECTED = {"notebook": 7.0, "_fig": 4.0, "audit_paper": 20.0, "site": 6.0, "replay": 75.0}
OTHERS = 2.0
#: Seconds that a process takes to start.
START = 1.5


class Progress:
    """The jobs of a run: how many are done, and how long the others will take.

    Attributes
    ----------
    expected : dict of str to float
        Rule -> seconds of one of its jobs.
    """

    def __init__(self) -> None:
        self.expected: dict[str, float] = {}
        self._left: Counter[str] = Counter()
        self._all: Counter[str] = Counter()
        self._running: dict[int, tuple[str, float]] = {}
        self._begin = 0.0
        self._foreseen = self._taken = 30.0  # so that the first jobs do not decide alone

    def planned(self, counts: Mapping[str, int], now: float) -> str:
        """Take the number of jobs of each rule, before the first of them; return what to say."""
        self._all = Counter({rule: n for rule, n in counts.items() if rule not in ("total", "all")})
        self._left = self._all.copy()
        self._begin = now
        return f"{self._all.total()} jobs to do"

    def started(self, job: int, rule: str, now: float) -> None:
        """Take the start of a job."""
        self._running[job] = rule, now

    def finished(self, job: int, now: float) -> str:
        """Take the end of a job; return a line that says what is left."""
        rule, start = self._running.pop(job, ("", now))
        if rule not in self._left:  # the one that asks for everything
            return ""
        self._left[rule] -= 1
        self._foreseen += self._seconds(rule)
        self._taken += now - start
        total = self._all.total()
        done = f"[{total - self._left.total():{len(str(total))}} of {total}]"
        figures, drawn = (
            sum(n for rule, n in counter.items() if "_fig" in rule and "_figures" not in rule)
            for counter in (self._all, self._all - self._left)
        )
        shown = f" figures {drawn} of {figures}," if figures else ""
        return f"{done}{shown} {_words(self._still(now))} ({rule}, {now - start:.0f} s)"

    def _seconds(self, rule: str) -> float:
        if rule in self.expected:
            return self.expected[rule]
        return next((s for name, s in EXPECTED.items() if name in rule), OTHERS)

    def _still(self, now: float) -> float:
        """Return the seconds left."""
        pace = self._taken / self._foreseen
        work = sum(n * pace * self._seconds(rule) for rule, n in self._left.items())
        begun = sum(
            min(now - start, pace * self._seconds(rule)) for rule, start in self._running.values()
        )
        # as many at once as so far
        busy = self._taken - 30.0 + sum(now - start for _, start in self._running.values())
        at_once = max(1.0, busy / max(now - self._begin, 1e-9))
        return max(work - begun, 0.0) / at_once


def _words(seconds: float) -> str:
    if seconds < 5:
        return "almost done"
    if seconds < 90:
        return f"about {5 * round(seconds / 5)} s left"
    return f"about {round(seconds / 60)} min left"


def measured(file: Path) -> float | None:
    """Return the seconds in a benchmark file of an earlier run, None without a usable one."""
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            return float(next(csv.DictReader(lines, delimiter="\t"))["s"])
    except (OSError, StopIteration, KeyError, TypeError, ValueError):
        return None


#: Of the run in this process.
PROGRESS = Progress()

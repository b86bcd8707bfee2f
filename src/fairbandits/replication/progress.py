"""Time left of a workflow run, from the expected times of its jobs and those of finished ones."""

import csv
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from fairbandits.numerals import counted

#: Expected seconds of a job, by a part of its rule's name; of any other job.
EXPECTED = {"notebook": 7.0, "_fig": 4.0, "audit_paper": 20.0, "site": 6.0, "replay": 75.0}
OTHERS = 2.0
#: Seconds to start a process.
START = 1.5
#: Request to a cluster: megabytes if never measured (the largest simulation at the published scale
#: took 640), least megabytes, and least minutes.
MEMORY, LEAST_MEMORY, LEAST_MINUTES = 1500, 500, 10
#: Beginning of a rule's name -> what a dry run calls its jobs.
KINDS = {
    "simulate": "to simulate",
    "collect": "to collect datasets",
    "audit": "to judge",
    "verdicts": "to judge",
    "notebook": "to make pages",
    "site": "to make pages",
}
#: Seconds that count as foreseen and taken from the start, so that the first jobs do not decide
#: alone how fast this machine is.
BEFORE = 30.0
#: The total, and rules that only name targets, as those of papers do.
_NAMES_ALONE = ("total", "all", "figures", "datasets", "report")
INTERRUPTED = "Interrupted. The same command continues."


class Progress:
    """The jobs of a run: how many are done, and how long the others will take."""

    def __init__(self) -> None:
        self.expected: dict[str, float] = {}
        self.failures: list[str] = []
        self.interrupted = 0  # the signal
        self.papers: frozenset[str] = frozenset()  # rules that name the targets of a paper
        self.reached: set[str] = set()  # finished rules that only name targets
        self.cores, self.share = 1, 1.0  # the share of the usual seconds that a job takes
        self._left: Counter[str] = Counter()
        self._all: Counter[str] = Counter()
        self._running: dict[int, tuple[str, str, float]] = {}  # job -> rule, name, start
        self._begin = 0.0
        self._foreseen = self._taken = BEFORE

    def planned(self, counts: Mapping[str, int], now: float) -> str:
        """Record the number of jobs of each rule before the first starts; return a message."""
        self._all, self._begin = self._jobs(counts), now
        self._left = self._all.copy()
        return f"{counted(self._all.total(), 'job')} to do, {self._time(self._all)}"

    def foreseen(self, counts: Mapping[str, int]) -> str:
        """Return how many jobs of each kind a run would have, and its expected time."""
        counts = self._jobs(counts)
        figures = [rule for rule in counts if _is_figure(rule)]
        kinds: Counter[str] = Counter()
        for rule, n in counts.items():
            kinds[KINDS.get(rule.partition("_")[0], rule)] += n * (rule not in figures)
        lines = [f"{counted(counts.total(), 'job')}, {self._time(counts)}; nothing is written now"]
        lines += [f"  {kind}: {n}" for kind, n in kinds.items() if n]
        names = f" ({', '.join(figures)})" if len(figures) < 9 else ""
        lines += [f"  figures: {len(figures)}{names}"] if figures else []
        return "\n".join(lines)

    def _time(self, counts: Mapping[str, int]) -> str:
        """Return the expected time of jobs, in words."""
        seconds = sum(n * self._seconds(rule) for rule, n in counts.items()) / self.cores
        time = "less than a minute" if seconds < 60 else f"about {round(seconds / 60)} min"
        return f"{time} on {counted(self.cores, 'core')}"

    def _jobs(self, counts: Mapping[str, int]) -> Counter[str]:
        names = (*_NAMES_ALONE, *self.papers)
        return Counter({rule: n for rule, n in counts.items() if rule not in names})

    def started(self, job: int, rule: str, now: float, of: str = "") -> None:
        """Record the start of a job; `of` names its subject where its rule has several."""
        self._running[job] = rule, f"{rule} {of}".strip(), now

    def failed(self, job: int) -> str:
        """Record the failure of a job; return its name."""
        _, name, _ = self._running.pop(job, ("", "", 0.0))
        self.failures += [name] if name else []
        return name

    @property
    def made(self) -> Counter[str]:
        """Rule -> number of its finished jobs."""
        return self._all - self._left

    def finished(self, job: int, now: float) -> str:
        """Record the end of a job; return a line on jobs done, running and left."""
        rule, name, start = self._running.pop(job, ("", "", now))
        if rule not in self._left:
            self.reached.add(rule)
            return ""
        self._left[rule] -= 1
        self._foreseen += self._seconds(rule)
        self._taken += now - start
        return f"{self._standing(now)} ({name}, {now - start:.0f} s){self._runs()}"

    def waiting(self, now: float) -> str:
        """Return a line for a user who has waited; empty if no job runs."""
        runs = self._runs(now)
        return f"{self._standing(now)}{runs}" if runs else ""

    def bar(self, now: float, columns: int) -> str:
        """Return a bar with what is done and left, of so many columns; empty if no job runs."""
        runs = self._runs(now)
        done, total = self.made.total(), self._all.total()
        text = f" {done} of {total}, {_words(self._still(now))}"
        size = min(30, columns - len(text) - 2)
        filled = size * done // max(total, 1)
        drawn = f"[{'#' * filled}{'.' * (size - filled)}]" if size >= 5 else ""
        return f"{drawn}{text}{runs}".lstrip()[:columns].ljust(columns) if runs else ""

    def _standing(self, now: float) -> str:
        """Return how many jobs and figures are done, and the time left."""
        total, made = self._all.total(), self.made
        figures = sum(n for rule, n in self._all.items() if _is_figure(rule))
        drawn = sum(n for rule, n in made.items() if _is_figure(rule))
        shown = f" figures {drawn} of {figures}," if figures else ""
        return f"[{made.total():{len(str(total))}} of {total}]{shown} {_words(self._still(now))}"

    def _runs(self, now: float | None = None) -> str:
        """Return the running jobs, with their times so far if `now` is given."""
        known = [job for job in list(self._running.values()) if job[0] in self._left]
        times = ["" if now is None else f" ({round(now - start)} s)" for _, _, start in known]
        names = [name + time for (_, name, _), time in zip(known, times, strict=True)]
        return f"; running: {', '.join(names)}" if names else ""

    def _seconds(self, rule: str) -> float:
        usual = next((s for name, s in EXPECTED.items() if name in rule), OTHERS)
        return self.expected.get(rule, self.share * usual)

    def _still(self, now: float) -> float:
        """Return the seconds left, at the pace and with as many jobs at once as until now."""
        started = list(self._running.values())
        running = [(self._seconds(rule), now - start) for rule, _, start in started]
        late = [(expected, took) for expected, took in running if took > expected]
        foreseen, taken = map(sum, zip((self._foreseen, self._taken), *late, strict=True))
        pace = taken / foreseen
        work = sum(n * pace * self._seconds(rule) for rule, n in self._left.items())
        begun = sum(min(took, pace * expected) for expected, took in running)
        busy = self._taken - BEFORE + sum(took for _, took in running)
        at_once = max(1.0, busy / max(now - self._begin, 1e-9))
        return max(work - begun, 0.0) / at_once


def _is_figure(rule: str) -> bool:
    return "_fig" in rule and "_figures" not in rule


def _words(seconds: float) -> str:
    if seconds < 5:
        return "almost done"
    in_seconds, minutes = f"{5 * round(seconds / 5)} s", f"{round(seconds / 60)} min"
    return f"about {in_seconds if seconds < 90 else minutes} left"


def measured(file: Path, column: str = "s") -> float | None:
    """Return seconds, or ``max_rss`` in megabytes, of an earlier run's benchmark file; or None."""
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            return float(next(csv.DictReader(lines, delimiter="\t"))[column])
    except (OSError, StopIteration, KeyError, TypeError, ValueError):
        return None


def needs(file: Path, seconds: float) -> dict[str, int]:
    """Return a job's request to a cluster, in megabytes and minutes: more than it took before."""
    memory, before = measured(file, "max_rss"), measured(file)
    time = 20 * seconds if before is None else 3 * before  # the rule of thumb errs by up to 15
    return {
        "mem_mb": MEMORY if memory is None else max(LEAST_MEMORY, round(1.5 * memory)),
        "runtime": max(LEAST_MINUTES, math.ceil(time / 60)),
    }


#: The progress of the run in this process.
PROGRESS = Progress()

"""What a process plays now, in memory that the process which started it can read."""

import mmap
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

#: Bytes of the memory: the round, the time, and the words.
SIZE = 512


class Seen(NamedTuple):
    """What a process plays: words (none if nothing), the round (0 if unknown), and since when."""

    words: str
    round: int
    since: float  # of the monotonic clock, which is the same in all processes

    @property
    def place(self) -> str:
        """Words and round."""
        return f"{self.words}, round {self.round}" if self.round else self.words


class Place:
    """The memory; processes that are started later share it."""

    def __init__(self) -> None:
        memory = memoryview(mmap.mmap(-1, SIZE))
        self.round, self.since = memory[:8].cast("q"), memory[8:16].cast("d")
        self.words = memory[16:]

    def write(self, words: str) -> None:
        """Say what is played from now on; nothing if `words` are empty."""
        self.round[0], self.since[0] = 0, time.monotonic()
        self.words[:] = words.encode()[: len(self.words)].ljust(len(self.words), b"\0")

    def read(self) -> Seen:
        """Return what is played."""
        text = bytes(self.words).rstrip(b"\0").decode(errors="ignore")
        return Seen(text, self.round[0], self.since[0])


#: Of this process; a list, so that a process that is started can have its own, which is the last.
HERE = [Place()]


def begin(policy: Any, replicates: Sequence[int], after: float = 0.0) -> None:
    """Say that some replicates of a policy are played from now on.

    Its time counts `after` so many seconds: never where only code of this package is played.
    """
    name = type(getattr(policy, "_policy", policy)).__name__  # of what is compiled, the policy
    first, last = replicates[0], replicates[-1]
    several = f"s {first} to {last}" if len(replicates) > 1 else f" {first}"
    HERE[-1].write(f"{name}, replicate{several}")
    HERE[-1].since[0] += after

"""Processes for what calls users' code: they end with this one, and whatever ends them is said.

Users' code can end its process, be killed for the memory that it takes, or never end.
"""

import ctypes
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Any

from fairbandits.library.at_work import HERE, Place, Seen
from fairbandits.library.own_code import Ended, ended
from fairbandits.policies.own import described

#: Seconds of one replicate after which a line says so, and again after twice as many.
LONG = 10.0
#: Seconds between two looks at what is played, and those in which a process can clean up.
LOOK, CLEANING = 0.5, 5.0
#: Of Linux: a process gets this signal when the one that started it ends.
PR_SET_PDEATHSIG = 1
#: In a process for others' answers: what it says is sent to the one that started it.
_TO_PARENT: list[Connection] = []


class Stopped(KeyboardInterrupt):
    """A signal ends this process, which cleans up before."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number, self.at = number, HERE[-1].read().place


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stopped(number)


@contextmanager
def stopping() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise Stopped, unless they are ignored, as under nohup."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    heeded = {number: usual for number, usual in before.items() if usual != signal.SIG_IGN}
    for number in heeded:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, usual in heeded.items():
            signal.signal(number, usual)


def end_with(parent: int) -> None:
    """Let this process end with the one that started it, however that ends."""
    if _killed_by_system():
        if os.getppid() != parent:  # it ended before
            os._exit(1)
        return

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=look, daemon=True).start()


def _killed_by_system() -> bool:
    try:
        return ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL) == 0
    except (AttributeError, OSError):  # not Linux
        return False


class _Saying:
    """Says on standard error how long a replicate has been at work."""

    def __init__(self) -> None:
        self._since, self._next = 0.0, LONG

    def look(self, seen: Seen) -> float:
        """Return for how many seconds it has been."""
        if seen.since != self._since:
            self._since, self._next = seen.since, LONG
        took = time.monotonic() - seen.since if seen.words else 0.0
        if took >= self._next:
            self._next = 2 * took
            print(f"\r{seen.place}: at work for {took:.0f} s", file=sys.stderr, flush=True)
        return took


@contextmanager
def said_if_long() -> Iterator[None]:
    """Say how long a replicate is at work in this process, unless another one looks."""
    if _TO_PARENT:
        yield
        return
    done, saying = threading.Event(), _Saying()

    def look() -> None:
        while not done.wait(LOOK):
            saying.look(HERE[-1].read())

    threading.Thread(target=look, daemon=True).start()
    try:
        yield
    finally:
        done.set()


@contextmanager
def at(words: str) -> Iterator[None]:
    """Say what this process is at: users' code, which may never end."""
    HERE[-1].write(words)
    try:
        yield
    finally:
        HERE[-1].write("")


def tell(message: str) -> None:
    """Let the process that started this one say something."""
    _TO_PARENT[-1].send(("said", message))


def shared(
    answer: Callable[[Any], Any],
    questions: Sequence[Any],
    n_jobs: int,
    *,
    time_limit: float | None = None,
    say: Callable[[str], None] = lambda message: None,
) -> Iterator[Any]:
    """Yield what processes answer to questions, in order.

    Raise Ended, with the question, if a process ends without an answer, or if a replicate or an
    import takes longer than `time_limit` seconds. `say` takes what they `tell`.
    """
    left, answers, warned = deque(enumerate(questions)), {}, set()
    workers: list[_Worker] = []
    try:
        for _ in range(min(n_jobs, len(questions))):
            workers.append(_Worker(answer))  # noqa: PERF401, so that those that are there end
        for number in range(len(questions)):
            while number not in answers:
                for worker in workers:
                    if worker.asked is None and left:
                        worker.ask(left.popleft())
                busy = [worker for worker in workers if worker.asked]
                wait([worker.connection for worker in busy], LOOK)
                for worker in busy:
                    kind, content = worker.message(time_limit)
                    if kind == "found":
                        answers[worker.asked[0]], worker.asked = content, None
                    elif kind == "failed":
                        content.question = worker.asked[1]
                        raise content
                    elif kind == "said":
                        say(content)
                    elif kind == "warned" and content not in warned:
                        warned.add(content)
                        warnings.warn_explicit(*content)
            yield answers.pop(number)
    finally:
        _end(workers)


class _Worker:
    """A process that answers questions, seen from the one that started it."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        # forks have the policy without pickling, so that its class can be a notebook's
        fork = multiprocessing.get_context("fork")
        self.connection, child_end = fork.Pipe()
        self.asked: tuple[int, Any] | None = None
        self._place, self._saying = Place(), _Saying()
        arguments = answer, child_end, self._place, os.getpid()
        self.process = fork.Process(target=_answer, args=arguments)
        with warnings.catch_warnings():  # on forks beside threads: these play, and hold no lock
            threads = "This process .* is multi-threaded"
            warnings.filterwarnings("ignore", threads, DeprecationWarning)
            self.process.start()
        child_end.close()

    def ask(self, asked: tuple[int, Any]) -> None:
        self.asked = asked
        with suppress(BrokenPipeError):  # its end is seen as that of others
            self.connection.send(asked[1])

    def message(self, time_limit: float | None) -> tuple[str, Any]:
        """Return the kind and content of a message, empty if there is none; or raise Ended."""
        alive = self.process.is_alive()  # asked first: it can end right after its message
        with suppress(EOFError):
            if self.connection.poll():
                return self.connection.recv()
        seen = self._place.read()
        took = self._saying.look(seen)
        if not alive:
            reason = _end_in_words(self.process.exitcode or 0)
        elif time_limit is not None and took > time_limit:
            reason = f"it took more than {time_limit:g} s, the time limit"
        else:
            return "", None
        error = Ended(reason, seen.place)
        error.question = self.asked[1]
        raise error


def _end_in_words(code: int) -> str:
    how = f"ended with exit status {code}"
    if code < 0:
        memory = ", as when memory is used up" if -code == signal.SIGKILL else ""
        how = f"was ended by {signal.Signals(-code).name}{memory}"
    return f"its process {how}, and gave no answer"


def _end(workers: Iterable[_Worker]) -> None:
    for end in ("terminate", "kill"):
        alive = [worker.process for worker in workers if worker.process.is_alive()]
        for process in alive:
            getattr(process, end)()
        last = time.monotonic() + CLEANING
        for process in alive:
            process.join(max(0.0, last - time.monotonic()))
    for worker in workers:
        worker.connection.close()


def _answer(
    answer: Callable[[Any], Any], connection: Connection, place: Place, parent: int
) -> None:
    """Answer questions until this process is ended."""
    end_with(parent)
    HERE.append(place)
    _TO_PARENT.append(connection)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks decides
    try:
        with stopping():
            while True:
                question = connection.recv()
                with warnings.catch_warnings(record=True) as caught:
                    message = _message(answer, question)
                for warning in caught:
                    content = str(warning.message), warning.category
                    connection.send(("warned", (*content, warning.filename, warning.lineno)))
                connection.send(message)
    except Stopped as stopped:  # whoever asked is told which signal it was, and where
        HERE[-1].write(stopped.at)
        signal.signal(stopped.number, signal.SIG_DFL)
        os.kill(os.getpid(), stopped.number)


def _message(answer: Callable[[Any], Any], question: Any) -> tuple[str, Any]:
    """Return an answer or an error, which can be sent."""
    try:
        return "found", answer(question)
    except Stopped:
        raise
    except BaseException as error:
        failure = error if isinstance(error, Exception) else ended(error)
        failure.add_note(f"In another process:\n{traceback.format_exc()}")
        try:
            pickle.loads(pickle.dumps(failure))
        except Exception:  # a user's error can hold anything
            where = getattr(failure, "place", "")
            failure = RuntimeError(described(error), *failure.__notes__)
            failure.place = where
        return "failed", failure

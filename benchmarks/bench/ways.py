"""The ways to play a case: with the package, with C, with plain Python; and whether they agree."""

import ctypes
import math
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import fairbandits as fb
import naive
from bench import HERE
from bench.cases import SEED, STREAM, Case, Outcome

SOURCES = sorted((HERE / "c").glob("*.c"))


def play_ours(case: Case, rounds: int, replicates: int = 1) -> list[Outcome]:
    """Play with the package; return the outcome of the first replicate."""
    instance = fb.Instance(case.means, law=case.law)
    horizon = max(rounds, instance.n_arms)
    kind = "pulls" if case.feedback == "bandit" else "plays"
    outcomes = []
    for policy in case.policies:
        result = fb.run(
            policy,
            instance,
            horizon,
            replicates,
            seed=SEED,
            stream=STREAM,
            checkpoints=[rounds],
            compiled=True,
        )
        outcome = {kind: result.plays, "rewards": result.rewards, **result.probes}
        outcomes.append({name: values[0, 0] for name, values in outcome.items()})
    return outcomes


def play_python(case: Case, rounds: int) -> list[Outcome]:
    """Play in plain Python."""
    return case.in_python(case, rounds)


# --------------------------------------------------------------------------------------- C


@dataclass(frozen=True)
class Compiler:
    """The library it made, or why there is none."""

    library: ctypes.CDLL | None
    description: str


def compile_c(folder: Path) -> Compiler:
    """Compile the C files into `folder` with $CC, cc, gcc or clang."""
    candidates = [os.environ.get("CC", ""), "cc", "gcc", "clang"]
    command = next(
        (parts for parts in map(shlex.split, candidates) if parts and shutil.which(parts[0])), None
    )
    if command is None:
        return Compiler(None, "no C compiler found (set CC), so without the columns of C")
    target = folder / "reference.so"
    # No fused multiply-adds, which the package does not use either; never -ffast-math.
    flags = ["-std=c11", "-O3", "-ffp-contract=off"]
    for tuned in (["-march=native"], []):  # not every compiler knows its processor
        arguments = [*command, *flags, *tuned, "-shared", "-fPIC", *map(str, SOURCES)]
        made = subprocess.run(
            [*arguments, "-o", str(target), "-lm"], capture_output=True, text=True, check=False
        )
        if made.returncode == 0:
            version = subprocess.run([*command, "--version"], capture_output=True, text=True)
            name = (version.stdout.splitlines() or [shlex.join(command)])[0]
            return Compiler(ctypes.CDLL(str(target)), f"{name}, {' '.join(flags + tuned)}")
    return Compiler(
        None, f"{shlex.join(command)} failed, so without the columns of C:\n{made.stderr.strip()}"
    )


class Arms(ctypes.Structure):
    """What arms.h calls Arms."""

    _fields_ = (
        ("count", ctypes.c_int64),
        ("means", ctypes.c_void_p),
        ("base", ctypes.c_void_p),
        ("gamma", ctypes.c_void_p),
        ("coin_base", ctypes.c_uint64),
        ("coin_gamma", ctypes.c_uint64),
    )


class Filled(ctypes.Structure):
    """What arms.h calls Outcome."""

    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in ("pulls", "plays", "rewards", "queue", "idleness", "queue_max", "probability")
    )


def play_c(library: ctypes.CDLL, case: Case, rounds: int, *, lazy: bool = False) -> list[Outcome]:
    """Play with the C files: the plain loop, or the lazy one."""
    n = len(case.means)
    keys = [naive.key(SEED, STREAM, 0, "reward", arm) for arm in range(n)]
    base, gamma = np.array(keys, dtype=np.uint64).T.copy()
    means = np.array(case.means)
    arms = Arms(
        n,
        means.ctypes.data,
        base.ctypes.data,
        gamma.ctypes.data,
        *naive.key(SEED, STREAM, 0, "coin", 0),
    )
    names = [name for name, _ in Filled._fields_]
    outcome = {name: np.zeros(n, np.int64 if name == "pulls" else float) for name in names}
    function, *arguments = case.in_c
    numbers = [np.asarray(value, dtype=float) for value in arguments]
    getattr(library, function + "_lazy" * lazy)(
        ctypes.byref(arms),
        ctypes.c_int64(rounds),
        *(
            ctypes.c_void_p(value.ctypes.data) if value.ndim else ctypes.c_double(float(value))
            for value in numbers
        ),
        ctypes.byref(Filled(*(outcome[name].ctypes.data for name in names))),
    )
    return [outcome]


# ------------------------------------------------------------------------------ agreement


def difference(ours: Outcome, theirs: Outcome) -> float:
    """Return the largest relative difference of what both report; infinity if pulls differ."""
    gaps = []
    for name in ours.keys() & theirs.keys():
        gap = np.abs(ours[name] - theirs[name]).max() / max(1.0, np.abs(ours[name]).max())
        gaps.append(math.inf if name == "pulls" and gap else gap)
    return float(np.max(gaps))  # not a number if any of them is


def differences(ours: list[Outcome], theirs: list[Outcome]) -> float:
    """Return the largest of all policies' differences."""
    return float(np.max([difference(*pair) for pair in zip(ours, theirs, strict=True)]))


def same_bits(some: list[Outcome], other: list[Outcome]) -> bool:
    """Return whether all pulls and reward sums are the same to the last bit."""
    return all(
        a[name].tobytes() == b[name].tobytes()
        for a, b in zip(some, other, strict=True)
        for name in ("pulls", "plays", "rewards")
        if name in a.keys() & b.keys()
    )

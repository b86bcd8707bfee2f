"""The round loops for a block of replicates at once, one replicate in each lane.

The block's arrays are those of one replicate with one more axis, the lanes, at the end.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from fairbandits.engine import laws, normal
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.loops import NEVER, OPTIONS
from fairbandits.engine.protocol import choose, distribute, learn, probe
from fairbandits.engine.sources import StreamSource
from fairbandits.engine.vectors import (
    LANES,
    absolute,
    greatest,
    load,
    open_units,
    pick,
    put,
    select,
    store,
    units,
)
from fairbandits.engine.watching import Watched


class BlockSource(NamedTuple):
    """Rewards and coins of a block: a `StreamSource` for each lane.

    The last three are scratch: where the streams of rewards are, shape (n_arms, LANES), and rows of
    words and of numbers.
    """

    base: np.ndarray
    gamma: np.ndarray
    law: int
    first: np.ndarray
    second: np.ndarray
    coin_base: np.ndarray
    coin_gamma: np.ndarray
    at: np.ndarray
    words: np.ndarray
    numbers: np.ndarray


class BlockRecord(NamedTuple):
    """What a block has done so far, and its copies at the checkpoints.

    The fields are those of `fairbandits.engine.loops.Record`. All are numbers in floating point.
    """

    plays: np.ndarray
    rewards: np.ndarray
    checkpoints: np.ndarray
    plays_at: np.ndarray
    rewards_at: np.ndarray
    probes_at: np.ndarray
    quotas: np.ndarray
    denominator: int
    deficit_sup: np.ndarray
    deficit_sup_at: np.ndarray
    x: np.ndarray
    seen: np.ndarray


class Copies(NamedTuple):
    """The copies of one replicate at the checkpoints, as in `fairbandits.engine.loops.Record`."""

    plays_at: np.ndarray
    rewards_at: np.ndarray
    probes_at: np.ndarray
    deficit_sup_at: np.ndarray


def along_lanes(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return the arrays side by side, the lane as last axis, at an address vectors like."""
    stacked = np.stack(arrays, axis=-1)
    room = np.zeros(stacked.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    out = room[start : start + stacked.nbytes].view(stacked.dtype).reshape(stacked.shape)
    out[...] = stacked
    return out


def numbers_along_lanes(array: np.ndarray) -> np.ndarray:
    """Return an array of whole numbers in every lane, as numbers in floating point."""
    return along_lanes([array.astype(float)] * LANES)


def block_source(sources: Sequence[StreamSource]) -> BlockSource:
    """Return the sources of LANES replicates, whose law is the same, as one."""
    stacked = {
        name: along_lanes([np.atleast_1d(getattr(source, name)) for source in sources])
        for name in BlockSource._fields
        if name in StreamSource._fields and name != "law"
    }
    at, words = (
        along_lanes([np.zeros_like(sources[0].base)] * LANES),
        along_lanes([np.zeros(1, np.uint64)] * LANES),
    )
    return BlockSource(
        law=sources[0].law,
        at=at,
        words=words,
        numbers=along_lanes([np.zeros(3)] * LANES),
        **stacked,
    )


#: In a block whole numbers are numbers in floating point. Its runs have at most so many rounds, and
#: quotas in it at most such a denominator, so that all their multiples are exact, below 2**53.
MOST_ROUNDS, FINEST = 2**33, 2**20


def fits(denominator: int) -> bool:
    """Return whether quotas over this denominator are exact in a block."""
    return denominator <= FINEST


def new_block(
    n_arms: int,
    checkpoints: np.ndarray,
    n_probes: int,
    quotas: tuple[Sequence[int], int] | None = None,
) -> BlockRecord:
    """Return an empty record for LANES replicates, with quotas as in `new_record`."""

    def empty(*shape: int, of: float = 0.0) -> np.ndarray:
        return along_lanes([np.full(shape, float(of))] * LANES)

    shape = (checkpoints.size, n_arms)
    numerators, denominator = quotas or ((0,) * n_arms, 0)
    owed = np.array(numerators, float)
    return BlockRecord(
        empty(n_arms),
        empty(n_arms),
        checkpoints,
        empty(*shape),
        empty(*shape),
        empty(checkpoints.size, n_probes, n_arms),
        along_lanes([owed] * LANES),
        denominator,
        empty(n_arms, of=NEVER),
        empty(*shape, of=NEVER),
        empty(n_arms),
        empty(n_arms),
    )


#: Class of a state -> what makes its block, given a function that makes the block of a part.
_BLOCKS: dict[type, Callable[[Any, Callable], Any]] = {}


def plays_in_lanes(
    state_class: type,
    block_class: type | None = None,
    *,
    make: Callable[[Any, Callable], Any] | None = None,
) -> None:
    """Say that states of `state_class` can be played in lanes.

    Parameters
    ----------
    state_class : type
        Class of the state of one replicate.
    block_class : type, optional
        Class of the block's state, where that has the blocks of all fields.
    make : callable, optional
        Returns the block's state of one replicate's, given a function for the parts; None where
        replicates are played one by one, e.g. for the sake of other parameters.
    """
    _BLOCKS[state_class] = make or (lambda state, wide: block_class(*map(wide, state)))


class _NoBlock(Exception):
    """A state has no form for a block."""


def block_of(state: Any) -> Any:
    """Return the state of a block whose replicates start with `state`; None if it has no form."""
    # with what was copied: another array may come to stand where one is gone
    copies: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def wide(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            if id(value) not in copies:  # a state may name an array twice
                copies[id(value)] = value, along_lanes([value] * LANES)
            return copies[id(value)][1]
        if type(value) is tuple:
            return tuple(map(wide, value))
        if not isinstance(value, tuple):
            return value
        make = _BLOCKS.get(type(value))
        block = None if make is None else make(value, wide)
        if block is None:
            raise _NoBlock
        return block

    try:
        return wide(state) if isinstance(state, tuple) else None
    except _NoBlock:
        return None


plays_in_lanes(Watched, Watched)


@njit(**OPTIONS)
def full_information_block(state, source, record, start, stop):
    """Play rounds start+1 .. stop in every lane, seeing the rewards of all arms."""
    plays, rewards, checkpoints = record.plays, record.rewards, record.checkpoints
    x, seen = record.x, record.seen
    mark = 0
    while mark < checkpoints.size and checkpoints[mark] <= start:
        mark += 1
    due = checkpoints[mark] if mark < checkpoints.size else 0
    for k in range(x.shape[0]):
        store(source.at, k, load(source.base, k) + load(source.gamma, k) * np.uint64(start))
    for t in range(start + 1, stop + 1):
        distribute(state, t, _coins(source, t), x)
        _observe(source, seen)
        for k in range(x.shape[0]):
            played = load(x, k)
            store(plays, k, load(plays, k) + played)
            store(rewards, k, load(rewards, k) + played * load(seen, k))
        learn(state, t, x, seen)
        if t == due:
            copy_rows(record.plays_at[mark], plays)
            copy_rows(record.rewards_at[mark], rewards)
            probe(state, record.probes_at[mark])
            mark += 1
            due = checkpoints[mark] if mark < checkpoints.size else 0


@njit(**OPTIONS)
def bandit_block(state, source, record, start, stop):
    """Play rounds start+1 .. stop in every lane, seeing the reward of the pulled arm only."""
    plays, rewards, checkpoints = record.plays, record.rewards, record.checkpoints
    quotas, denominator, deficit_sup = record.quotas, record.denominator, record.deficit_sup
    mark = 0
    while mark < checkpoints.size and checkpoints[mark] <= start:
        mark += 1
    due = checkpoints[mark] if mark < checkpoints.size else 0
    for k in range(plays.shape[0]):
        for i in range(LANES):
            source.at[k, i] = source.base[k, i] + np.uint64(plays[k, i]) * source.gamma[k, i]
    for t in range(start + 1, stop + 1):
        arm = choose(state, t, _coins(source, t))
        before = pick(plays, arm)
        if denominator > 0 and t > 1:
            deficit = pick(quotas, arm) * (t - 1.0) - denominator * before
            put(deficit_sup, arm, greatest(pick(deficit_sup, arm), deficit))
        put(plays, arm, before + 1.0)
        at = pick(source.at, arm) + pick(source.gamma, arm)
        put(source.at, arm, at)
        reward = _reward(source, pick(source.first, arm), pick(source.second, arm), _mixed(at))
        put(rewards, arm, pick(rewards, arm) + reward)
        learn(state, t, arm, reward)
        if t == due:
            copy_rows(record.plays_at[mark], plays)
            copy_rows(record.rewards_at[mark], rewards)
            for k in range(plays.shape[0]):
                deficit = load(quotas, k) * float(t) - denominator * load(plays, k)
                store(record.deficit_sup_at[mark], k, greatest(load(deficit_sup, k), deficit))
            probe(state, record.probes_at[mark])
            mark += 1
            due = checkpoints[mark] if mark < checkpoints.size else 0


BLOCKS = {"bandit": bandit_block, "full": full_information_block}


def lane_of(record: BlockRecord, lane: int, feedback: str) -> Copies:
    """Return what one replicate of a block has recorded."""
    dtype = np.int64 if feedback == "bandit" else np.float64
    return Copies(
        record.plays_at[..., lane].astype(dtype),
        record.rewards_at[..., lane],
        record.probes_at[..., lane],
        record.deficit_sup_at[..., lane].astype(np.int64),
    )


@register_jitable(**INLINE)
def copy_rows(out, values):
    """Copy `values` into `out`, both of shape (n, LANES)."""
    for k in range(out.shape[0]):
        store(out, k, load(values, k))


@register_jitable(**INLINE)
def _coins(source, t):
    """Return the coins of round t, as numbers in [0, 1)."""
    return units(_mixed(load(source.coin_base, 0) + load(source.coin_gamma, 0) * np.uint64(t)))


@register_jitable(**INLINE)
def _observe(source, out):
    """Move all streams of rewards on by one word, and write the rewards."""
    for k in range(out.shape[0]):
        at = load(source.at, k) + load(source.gamma, k)
        store(source.at, k, at)
        first, second = load(source.first, k), load(source.second, k)
        store(out, k, _reward(source, first, second, _mixed(at)))


@register_jitable(**INLINE)
def _reward(source, first, second, words):
    """Return the rewards that words give, as `fairbandits.engine.laws.reward_of` does."""
    if source.law == laws.UNIFORM02:
        return first * units(words)
    if source.law == laws.BERNOULLI:
        return select(units(words) < first, 1.0, 0.0)
    if source.law == laws.GAUSSIAN:
        return first + second * _normal(source, words)
    numbers = source.numbers
    store(numbers, 0, first)
    store(numbers, 1, second)
    store(source.words, 0, words)
    for i in range(LANES):
        w = source.words[0, i]
        numbers[2, i] = laws.reward_of(source.law, numbers[0, i], numbers[1, i], w)
    return load(numbers, 2)


@register_jitable(**INLINE)
def _normal(source, words):
    """Return standard normal deviates, as `fairbandits.engine.streams.standard_normal` does.

    Most lanes are in the quantile's central branch, which all compute; the others are asked for it
    one by one.
    """
    p = open_units(words)
    store(source.numbers, 0, p)
    q = p - 0.5
    store(source.numbers, 1, absolute(q))
    store(source.numbers, 2, normal.central(q, normal.SQUARE - q * q))
    for i in range(LANES):
        if source.numbers[1, i] > normal.WIDTH:
            source.numbers[2, i] = normal.quantile(source.numbers[0, i])
    return load(source.numbers, 2)


@register_jitable(**INLINE)
def _mixed(z):
    """Return the words of these states of streams, as `fairbandits.engine.streams.word` does."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    return z ^ (z >> np.uint64(31))

"""Where a round loop takes its rewards and coins from: addressable streams, or a drawn tape."""

from typing import NamedTuple

import numpy as np
from numba.core import types
from numba.extending import overload

from fairbandits.engine import laws
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.streams import stream_key, stream_keys, unit, word


class StreamSource(NamedTuple):
    """Rewards and coins computed from their addresses."""

    base: np.ndarray
    gamma: np.ndarray
    law: int
    first: np.ndarray
    second: np.ndarray
    coin_base: np.uint64
    coin_gamma: np.uint64


class TapeSource(NamedTuple):
    """Numbers drawn beforehand for consecutive rounds, for replays of other programs.

    ``uniforms[s, k]`` gives arm k's reward ``scale[k] * uniforms[s, k]`` in the (s+1)-th round
    after ``start``; ``coins[s]`` is that round's coin.
    """

    start: int
    uniforms: np.ndarray
    scale: np.ndarray
    coins: np.ndarray


def stream_source(
    law: str, means: np.ndarray, spread: float, seed: int, stream: str, replicate: int
) -> StreamSource:
    """Return the source of one replicate; see `fairbandits.engine.streams` for the address."""
    base, gamma = stream_keys(seed, stream, replicate, "reward", means.size)
    coin_base, coin_gamma = stream_key(seed, stream, replicate, "coin", 0)
    code, first, second = laws.law_parameters(law, means, spread)
    return StreamSource(
        base, gamma, code, first, second, np.uint64(coin_base), np.uint64(coin_gamma)
    )


def coin_at(source, t):
    """Return the policy's coin of round `t`, a 64-bit word."""
    return _coin(source)(source, t)


def pull(source, t, arm, n):
    """Return the reward of the n-th pull of `arm`, made in round `t`."""
    return _pull(source)(source, t, arm, n)


def observe(source, t, out):
    """Write the rewards of all arms in round `t`."""
    return _observe(source)(source, t, out)


def _stream_coin(source, t):
    return word(source.coin_base, source.coin_gamma, t)


def _stream_pull(source, t, arm, n):
    return laws.reward_of(
        source.law,
        source.first[arm],
        source.second[arm],
        word(source.base[arm], source.gamma[arm], n),
    )


def _stream_observe(source, t, out):
    if source.law == laws.UNIFORM02:  # a loop without branches, for the compiler to vectorise
        for k in range(out.size):
            out[k] = source.first[k] * unit(word(source.base[k], source.gamma[k], t))
        return
    for k in range(out.size):
        w = word(source.base[k], source.gamma[k], t)
        out[k] = laws.reward_of(source.law, source.first[k], source.second[k], w)


def _tape_coin(source, t):
    return source.coins[t - source.start - 1]


def _tape_pull(source, t, arm, n):
    return source.scale[arm] * source.uniforms[t - source.start - 1, arm]


def _tape_observe(source, t, out):
    for k in range(out.size):
        out[k] = source.scale[k] * source.uniforms[t - source.start - 1, k]


def _is_stream(source) -> bool:
    if isinstance(source, types.BaseNamedTuple):
        return source.instance_class is StreamSource
    return isinstance(source, StreamSource)


def _coin(source):
    return _stream_coin if _is_stream(source) else _tape_coin


def _pull(source):
    return _stream_pull if _is_stream(source) else _tape_pull


def _observe(source):
    return _stream_observe if _is_stream(source) else _tape_observe


@overload(coin_at, jit_options=INLINE)
def _compiled_coin_at(source, t):
    return _coin(source)


@overload(pull, jit_options=INLINE)
def _compiled_pull(source, t, arm, n):
    return _pull(source)


@overload(observe, jit_options=INLINE)
def _compiled_observe(source, t, out):
    return _observe(source)

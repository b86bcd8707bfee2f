"""Sources of a round loop's rewards and coins: addressable streams, or a drawn tape."""

from typing import NamedTuple

import numpy as np
from numba.core import types
from numba.extending import overload, register_jitable

from fairbandits.engine import laws
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.streams import mixed, position, stream_key, stream_keys, unit, word


class StreamSource(NamedTuple):
    """Rewards and coins computed from their addresses, for one replicate or a block.

    ``at`` holds the positions of the reward streams.
    """

    base: np.ndarray
    gamma: np.ndarray
    law: int
    first: np.ndarray
    second: np.ndarray
    coin_base: np.ndarray
    coin_gamma: np.ndarray
    at: np.ndarray


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
    coins = (np.array([one], np.uint64) for one in (coin_base, coin_gamma))
    return StreamSource(base, gamma, code, first, second, *coins, base.copy())


def rewind(source, taken):
    """Move to the rewards of each arm after those already taken."""
    return _rewind(source)(source, taken)


def coin_at(source, t):
    """Return the policy's coin of round `t`, a 64-bit word."""
    return _coin(source)(source, t)


def pull(source, t, arm):
    """Return the reward of the next pull of `arm`, made in round `t`."""
    return _pull(source)(source, t, arm)


def observe(source, t, out):
    """Write the rewards of all arms in round `t`."""
    return _observe(source)(source, t, out)


def _stream_rewind(source, taken):
    for k in range(len(source.at)):
        source.at[k] = position(source.base[k], source.gamma[k], taken[k])


@register_jitable(**INLINE)
def _next_word(source, k):
    at = position(source.at[k], source.gamma[k], 1)
    source.at[k] = at
    return mixed(at)


def _stream_coin(source, t):
    return word(source.coin_base[0], source.coin_gamma[0], t)


def _stream_pull(source, t, arm):
    w = _next_word(source, arm)
    return laws.reward_of(source.law, source.first[arm], source.second[arm], w)


def _stream_observe(source, t, out):
    if source.law == laws.UNIFORM02:  # a loop without branches, for the compiler to vectorise
        for k in range(len(out)):
            out[k] = source.first[k] * unit(_next_word(source, k))
        return
    for k in range(len(out)):
        w = _next_word(source, k)
        out[k] = laws.reward_of(source.law, source.first[k], source.second[k], w)


def _tape_rewind(source, taken):
    pass


def _tape_coin(source, t):
    return source.coins[t - source.start - 1]


def _tape_pull(source, t, arm):
    return source.scale[arm] * source.uniforms[t - source.start - 1, arm]


def _tape_observe(source, t, out):
    for k in range(out.size):
        out[k] = source.scale[k] * source.uniforms[t - source.start - 1, k]


def _is_stream(source) -> bool:
    if isinstance(source, types.BaseNamedTuple):
        return source.instance_class is StreamSource
    return isinstance(source, StreamSource)


def _rewind(source):
    return _stream_rewind if _is_stream(source) else _tape_rewind


def _coin(source):
    return _stream_coin if _is_stream(source) else _tape_coin


def _pull(source):
    return _stream_pull if _is_stream(source) else _tape_pull


def _observe(source):
    return _stream_observe if _is_stream(source) else _tape_observe


@overload(rewind, jit_options=INLINE)
def _compiled_rewind(source, taken):
    return _rewind(source)


@overload(coin_at, jit_options=INLINE)
def _compiled_coin_at(source, t):
    return _coin(source)


@overload(pull, jit_options=INLINE)
def _compiled_pull(source, t, arm):
    return _pull(source)


@overload(observe, jit_options=INLINE)
def _compiled_observe(source, t, out):
    return _observe(source)

"""Sources of a round loop's rewards and coins: addressable streams, or a drawn tape.

Their verbs: ``coin_at(source, t)`` is the policy's coin of round `t`; ``pull(source, t, arm)`` the
next reward of `arm`; ``observe(source, t, x)`` writes the rewards of all arms in round `t`.
"""

from typing import NamedTuple

import numpy as np

from fairbandits.engine import laws
from fairbandits.engine.protocol import inlined, plays_in_lanes, verb
from fairbandits.engine.streams import mixed, position, stream_keys, unit, word

coin_at, pull, observe = map(verb, ("coin_at", "pull", "observe"))


@plays_in_lanes
class StreamSource(NamedTuple):
    """Rewards and coins computed from their addresses, for one replicate or a block."""

    at: np.ndarray  # positions of the reward streams, which pulls move on
    gamma: np.ndarray
    law: int
    first: np.ndarray
    second: np.ndarray
    coin_base: np.ndarray
    coin_gamma: np.ndarray

    def coin_at(source, t):
        return word(source.coin_base[0], source.coin_gamma[0], t)

    def pull(source, t, arm):
        w = _next_word(source, arm)
        return laws.reward_of(source.law, source.first[arm], source.second[arm], w)

    def observe(source, t, out):
        if source.law == laws.UNIFORM02:  # a loop without branches, for the compiler to vectorise
            for k in range(len(out)):
                out[k] = source.first[k] * unit(_next_word(source, k))
            return
        for k in range(len(out)):
            w = _next_word(source, k)
            out[k] = laws.reward_of(source.law, source.first[k], source.second[k], w)


class TapeSource(NamedTuple):
    """Numbers drawn beforehand for the rounds after ``start``, for replays of other programs."""

    start: int
    uniforms: np.ndarray
    scale: np.ndarray
    coins: np.ndarray

    def coin_at(source, t):
        return source.coins[t - source.start - 1]

    def pull(source, t, arm):
        return source.scale[arm] * source.uniforms[t - source.start - 1, arm]

    def observe(source, t, out):
        for k in range(out.size):
            out[k] = source.scale[k] * source.uniforms[t - source.start - 1, k]


def stream_source(
    law: str, means: np.ndarray, spread: float, seed: int, stream: str, replicate: int
) -> StreamSource:
    """Return the source of one replicate; see `fairbandits.engine.streams` for the address."""
    rewards = stream_keys(seed, stream, replicate, "reward", means.size)
    coins = stream_keys(seed, stream, replicate, "coin", 1)
    return StreamSource(*rewards, *laws.law_parameters(law, means, spread), *coins)


@inlined
def _next_word(source, k):
    at = position(source.at[k], source.gamma[k], 1)
    source.at[k] = at
    return mixed(at)

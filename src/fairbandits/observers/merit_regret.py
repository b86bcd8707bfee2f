"""BF-UCB's draws compared with those of a policy that knows the means."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits import checks
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.lanes import plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.width import absolute, anywhere, assign, where
from fairbandits.observers.refusal import refuse
from fairbandits.policies import bf_ucb, bf_ucb_sums
from fairbandits.policies import merit as merits
from fairbandits.policies.groups import GROUP


class WeightsState(NamedTuple):
    """Sums over the rounds, in rows as in the state of BF-UCB, which has a weight of every arm.

    ``mean``, ``inverse_root`` and ``width`` are those of the policy before the round.
    """

    reference: np.ndarray
    target: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    width: np.ndarray
    merit_regret: np.ndarray
    outside: np.ndarray
    expected_root: np.ndarray


class SumsState(NamedTuple):
    """The same for BF-UCB that has sums over its arms."""

    reference: np.ndarray
    target: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    width: np.ndarray
    merit_regret: np.ndarray
    outside: np.ndarray
    expected_root: np.ndarray


@dataclass(frozen=True)
class MeritRegret:
    """The distance of BF-UCB's probabilities from those of the true merits, and what bounds it.

    Parameters
    ----------
    reference : sequence of float
        True means, in [0, 1], at least one of each group with a merit above 0.

    Raises
    ------
    ValueError
        If a mean is out of its range, or a group has no merit.

    Notes
    -----
    The columns are of each arm i of a group: ``merit_regret`` sums |p_i - f(mu_i) / sum f(mu_j)|
    over the rounds that drew from the group by merit, ``outside`` counts those in which mu_i lay
    outside the confidence interval, ``expected_root`` sums p_i / sqrt(N_i).

    References
    ----------
    "Simultaneously achieving group exposure fairness and within-group meritocracy in stochastic
    bandits", AAMAS 2024, section 5.
    """

    reference: tuple[float, ...]
    probes: ClassVar[tuple[str, ...]] = ("merit_regret", "outside", "expected_root")

    def __post_init__(self):
        object.__setattr__(self, "reference", tuple(float(mu) for mu in self.reference))
        checks.means("reference", self.reference)

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> WeightsState | SumsState:
        """Return the state before the first round."""
        if not isinstance(state, bf_ucb.BFUCBState | bf_ucb_sums.BFUCBState):
            refuse(self, policy, "BF-UCB")
        checks.length("reference", self.reference, n_arms)
        reference, target = np.zeros((2, state.mean.size))
        reference[state.row_of] = self.reference
        kind, c = merits.MERITS[policy.merit], float(policy.merit_parameter)
        for g in range(state.served.size):
            arms = slice(state.start[g], state.start[g + 1])
            masses = np.array([merits.merit_of(mu, kind, c) for mu in self.reference[arms]])
            if not masses.any():
                raise ValueError(
                    f"reference must have a mean above 0 in every group, group {g + 1} has none"
                )
            target[state.row_of[arms]] = masses / sum(masses)  # in order, whatever the size
        own = WeightsState if isinstance(state, bf_ucb.BFUCBState) else SumsState
        before = state.mean.copy(), state.inverse_root.copy(), np.zeros(state.served.size)
        return own(reference, target, *before, *np.zeros((3, state.mean.size)))


@register_jitable(**INLINE)
def _drawn_by_merit(observer, state, t, g):
    """Return whether a round of group g draws by merit."""
    size = state.start[g + 1] - state.start[g]
    early = not state.sequential and (t - 1) // len(state.served) >= size
    return t > state.initial_rounds or early


@register_jitable(**INLINE)
def _add(observer, row, width, p, own):
    """Add the probability of the arm in a row, in a round that drew from its group."""
    inverse_root = observer.inverse_root[row]
    off = absolute(observer.mean[row] - observer.reference[row]) > width * inverse_root
    observer.merit_regret[row] += where(own, absolute(p - observer.target[row]), 0.0)
    observer.outside[row] += where(own & off, 1.0, 0.0)
    observer.expected_root[row] += where(own, p * inverse_root, 0.0)


@register_jitable(**INLINE)
def _take_over(observer, state, arm):
    """Copy the policy's present statistics."""
    row = state.row_of[arm]
    observer.mean[row] = state.mean[row]
    observer.inverse_root[row] = state.inverse_root[row]
    assign(observer.width, state.width)


@implements("watch", WeightsState)
def _watch_weights(observer, state, t, arm, reward):
    for g in range(len(state.served)):
        own = state.now[GROUP] == g
        if _drawn_by_merit(observer, state, t, g) and anywhere(own):
            for row in range(g * state.columns, (g + 1) * state.columns):
                _add(observer, row, observer.width[g], state.policy[row], own)
    _take_over(observer, state, arm)


@implements("watch", SumsState)
def _watch_sums(observer, state, t, arm, reward):
    for g in range(len(state.served)):
        own = state.now[GROUP] == g
        if _drawn_by_merit(observer, state, t, g) and anywhere(own):
            width = observer.width[g]
            for row in range(g * state.columns, (g + 1) * state.columns):
                bound = observer.mean[row] + width * observer.inverse_root[row]
                _add(observer, row, width, bound * state.last_share[g], own)
    _take_over(observer, state, arm)


def _report(observer, state, out):
    for g in range(len(state.served)):
        for arm in range(state.start[g], state.start[g + 1]):
            row = g * state.columns + arm - state.start[g]
            out[0][arm] = observer.merit_regret[row]
            out[1][arm] = observer.outside[row]
            out[2][arm] = observer.expected_root[row]


for state_class in (WeightsState, SumsState):
    plays_in_lanes(state_class)
    implements("report", state_class)(_report)

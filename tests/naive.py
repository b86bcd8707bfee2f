"""Reference implementations: obvious, slow and independent of the package.

Everything here is plain Python on lists, transcribed from the definitions (the tags A1.1 to A2.1
name the sections of the specification), and imports nothing from ``fairbandits``. Arms are
numbered from 0, rounds from 1. A full-information learner has a distribution ``x`` and a method
``advance(rewards)``; a bandit policy has ``choose(coin)``, called once in every round with the
round's 64-bit word, and ``advance(arm, reward)``, called in every round; a ``Policy`` hears of the
pull and of its reward apart. After a choice its ``x``, if it has one, is the distribution that the
arm was drawn from. What ``report()`` returns goes into the round's record.
"""

import math
from functools import cache
from hashlib import blake2b
from statistics import NormalDist

from numpy.random import RandomState

WORD = 2**64
GOLDEN_GAMMA = 0x9E3779B97F4A7C15
ALG1_STEP = 1 / math.sqrt(2)  # step constant of BanditQ Alg. 1; 1.0 is that of Theorem 1

# The five-arm instance, with the four-digit means of the released code.
CODE4 = [0.3352, 0.2031, 0.2411, 0.7816, 0.6177]
CODE4_TARGETS = [0.3352 / 2, 0.2031 / 3, 0.0, 0.0, 0.0]


# ------------------------------------------------------------------------------ streams


def mix64(z):
    """Scramble a 64-bit word (finaliser of SplitMix64; Steele, Lea and Flood 2014)."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % WORD
    return z ^ (z >> 31)


@cache
def key(seed, stream, replicate, kind, index):
    """Return (base, gamma) of the stream with this name; gamma is odd and not too regular."""
    text = f"fairbandits-1/{seed}/{stream}/{replicate}/{kind}/{index}"
    digest = blake2b(text.encode("utf-8"), digest_size=16).digest()
    base = int.from_bytes(digest[:8], "little")
    gamma = int.from_bytes(digest[8:], "little") | 1
    if (gamma ^ (gamma >> 1)).bit_count() < 24:
        gamma ^= 0xAAAAAAAAAAAAAAAA
    return base, gamma


def word(base, gamma, n):
    """Return the n-th word (n = 1, 2, ...) of a stream."""
    return mix64((base + n * gamma) % WORD)


def unit(w):
    """Map a word to [0, 1), a multiple of 2**-53."""
    return (w >> 11) * 2.0**-53


def word_of(u):
    """Return a word whose number in [0, 1) is u, of 53 bits."""
    return int(u * 2**53) << 11


def open_unit(w):
    """Map a word to (0, 1), an odd multiple of 2**-53."""
    return ((w >> 12) + 0.5) * 2.0**-52


def inner(w, j):
    """Return the j-th further word (j = 1, 2, ...) of a draw that needs more than one."""
    return mix64((w + j * GOLDEN_GAMMA) % WORD)


def draw(seed, stream, replicate, kind, index, n):
    """Return word n of a named stream."""
    base, gamma = key(seed, stream, replicate, kind, index)
    return word(base, gamma, n)


# -------------------------------------------------------------------------- reward laws


def ndtri(p):
    """Return the standard normal quantile of 0 < p < 1 (Python's own; Wichura's AS 241)."""
    return NormalDist().inv_cdf(p)


def standard_gamma(a, w, j):
    """Draw a Gamma(a, 1) variate from the inner stream of ``w`` after position j.

    Method of Marsaglia and Tsang (2000), with the usual power of a uniform when a < 1.
    Returns the variate and the position reached.
    """
    boost = 1.0
    if a < 1.0:
        j += 1
        boost = math.exp(math.log(open_unit(inner(w, j))) / a)
        a += 1.0
    d = a - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        j += 1
        x = ndtri(open_unit(inner(w, j)))
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        j += 1
        u = open_unit(inner(w, j))
        if math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v):
            return boost * d * v, j


def reward(law, mu, w, **par):
    """Return the reward of mean parameter ``mu`` that the word ``w`` stands for (A1.5)."""
    if law == "uniform02":
        return (2 * mu) * unit(w)
    if law == "uniform02_clipped":
        return min(1.0, (2 * mu) * unit(w))
    if law == "bernoulli":
        return 1.0 if unit(w) < mu else 0.0
    if law == "gaussian":
        return mu + par["sd"] * ndtri(open_unit(w))
    if law == "beta":
        m = par.get("m", 4)
        x, j = standard_gamma(mu * m, w, 0)
        y, j = standard_gamma((1 - mu) * m, w, j)
        return x / (x + y)
    if law == "deterministic":
        return mu
    raise ValueError(f"unknown reward law {law!r}")


def true_mean(law, mu):
    """Return the mean of a law; clipping is the only one that moves it away from ``mu``."""
    if law == "uniform02_clipped" and 2 * mu > 1:
        return 1 - 1 / (4 * mu)
    return mu


# --------------------------------------------------------------------------- small tools


def dot(a, b):
    """Return the inner product of two lists."""
    return sum(ai * bi for ai, bi in zip(a, b, strict=True))


def one_hot(arm, arms):
    """Return the point mass on ``arm``."""
    return [1.0 if i == arm else 0.0 for i in range(arms)]


def softmax(logs):
    """Return exp(logs) normalised to sum 1."""
    top = max(logs)
    weights = [math.exp(value - top) for value in logs]
    total = sum(weights)
    return [weight / total for weight in weights]


def first_argmax(values):
    """Return the lowest index of the maximum."""
    return values.index(max(values))


def sample(x, coin):
    """Return the first arm whose cumulated probability exceeds the coin, else the last (A1.4)."""
    u, cumulated = unit(coin), 0.0
    for arm, share in enumerate(x):
        cumulated += share
        if cumulated > u:
            return arm
    return len(x) - 1


def cover(bound, size):
    """Return the range bound: the first non-zero size, then doubled until it covers ``size``."""
    if size == 0:
        return bound
    if bound == 0:
        return size
    while bound < size:
        bound *= 2
    return bound


def project_simplex(y):
    """Return the point of the simplex nearest to ``y`` (A1.2, sorting method)."""
    s = sorted(y, reverse=True)
    for m in range(1, len(y)):
        tau = (sum(s[:m]) - 1) / m
        if tau >= s[m]:
            break
    else:
        tau = (sum(s) - 1) / len(y)
    return [max(value - tau, 0.0) for value in y]


def solve_opt(z, tol=1e-10):
    """Return the largest sum(log q) + <q, z> over the simplex, and its q (A1.4, OPT; Alg. 3).

    Newton's method on 1 + sum 1 / (z_i + e) = 0 from e = -max(z) - 1; q_i is -1 / (z_i + e).
    """
    e = -max(z) - 1
    while True:
        f = 1 + sum(1 / (zi + e) for zi in z)
        slope = -sum(1 / (zi + e) ** 2 for zi in z)
        previous, e = e, e - f / slope
        if abs(f) < tol or e >= previous:  # the steps go down until rounding stops them
            break
    q = [-1 / (zi + e) for zi in z]
    v = sum(math.log(qi) for qi in q) + dot(q, z)
    return v, q


# ------------------------------------------------- subroutines that see the whole vector


class OnlineGradientAscent:
    """Projected gradient ascent with steps step_c / sqrt(sum of squares) (A1.2, Eq. 10)."""

    def __init__(self, arms, step_c=ALG1_STEP):
        self.x = [1 / arms] * arms
        self.step_c = step_c
        self.squares = 0.0

    def advance(self, g):
        """Take one step along ``g``; stand still while every gradient has been zero."""
        self.squares += dot(g, g)
        if self.squares > 0:
            step = self.step_c / math.sqrt(self.squares)
            self.x = project_simplex([xi + step * gi for xi, gi in zip(self.x, g, strict=True)])


def mix(eta, losses):
    """Return exponential weights on cumulated losses, and the mix loss -log(mean exp) / eta.

    An infinite ``eta`` puts equal weights on the leaders.
    """
    best = min(losses)
    if eta == math.inf:
        weights = [1.0 if loss == best else 0.0 for loss in losses]
        mix_loss = best
    else:
        weights = [math.exp(-eta * (loss - best)) for loss in losses]
        mix_loss = best - math.log(sum(weights) / len(losses)) / eta
    total = sum(weights)
    return [weight / total for weight in weights], mix_loss


class AdaHedge:
    """AdaHedge on losses -g (de Rooij, van Erven, Grunwald and Koolen 2014).

    eta_t = ln N / Delta_{t-1}, with Delta the sum of the mixability gaps h_t - m_t.
    """

    def __init__(self, arms):
        self.x = [1 / arms] * arms
        self.losses = [0.0] * arms
        self.gap = 0.0

    def rate(self):
        """Return eta for the next round."""
        return math.log(len(self.x)) / self.gap if self.gap > 0 else math.inf

    def advance(self, g):
        eta = self.rate()
        hedge_loss = -dot(self.x, g)
        _, before = mix(eta, self.losses)
        self.losses = [loss - gi for loss, gi in zip(self.losses, g, strict=True)]
        _, after = mix(eta, self.losses)
        self.gap += max(0.0, hedge_loss - (after - before))
        self.x, _ = mix(self.rate(), self.losses)


def scaled_erfc(x):
    """Return exp(x^2) erfc(x) for x >= 0, beyond the underflow of erfc by continued fraction."""
    if x < 5:
        return math.exp(x * x) * math.erfc(x)
    tail = x
    for k in range(80, 0, -1):
        tail = x + (k / 2) / tail
    return 1 / (tail * math.sqrt(math.pi))


def squint_log_weight(regret, squares):
    """Return log of the integral of exp(eta R - eta^2 V) over eta in [0, 1/2].

    With a = R / (2 sqrt V) and b = a - sqrt(V) / 2 the integral is
    sqrt(pi) / (2 sqrt V) exp(a^2) (erf a - erf b); the largest exponential is taken out first.
    For tiny V, where the difference cancels, Simpson's rule.
    """
    end = regret / 2 - squares / 4  # a^2 - b^2, the exponent at eta = 1/2
    if squares < 1e-4:
        panels = 2000
        exponents = []
        for k in range(panels + 1):
            eta = 0.5 * k / panels
            exponents.append(eta * regret - eta * eta * squares)
        top = max(exponents)
        total = 0.0
        for k, exponent in enumerate(exponents):
            factor = 1 if k in (0, panels) else 4 if k % 2 else 2
            total += factor * math.exp(exponent - top)
        return top + math.log(total * 0.5 / panels / 3)
    root = math.sqrt(squares)
    a = regret / (2 * root)
    b = (regret - squares) / (2 * root)
    scale = math.log(math.sqrt(math.pi) / (2 * root))
    if b >= 0:
        return scale + end + math.log(scaled_erfc(b) - math.exp(-end) * scaled_erfc(a))
    if a <= 0:
        return scale + math.log(scaled_erfc(-a) - math.exp(end) * scaled_erfc(-b))
    return scale + a * a + math.log(math.erf(a) - math.erf(b))


class Squint:
    """Squint with the improper prior 1 / eta (Koolen and van Erven 2015) and range doubling.

    When the range bound moves, the learner starts afresh before it uses the round's gradient.
    """

    def __init__(self, arms):
        self.bound = 0.0
        self.restart(arms)

    def restart(self, arms):
        """Forget all regrets."""
        self.x = [1 / arms] * arms
        self.regrets = [0.0] * arms
        self.squares = [0.0] * arms

    def advance(self, g):
        """Update regrets r_i = (g_i - <x, g>) / B, their squares, and the weights."""
        arms = len(g)
        bound = cover(self.bound, max(abs(gi) for gi in g))
        if bound != self.bound:
            self.bound = bound
            self.restart(arms)
        if bound == 0:
            return
        mean = dot(self.x, g)
        for i in range(arms):
            r = (g[i] - mean) / bound
            self.regrets[i] += r
            self.squares[i] += r * r
        self.x = softmax([squint_log_weight(self.regrets[i], self.squares[i]) for i in range(arms)])


# --------------------------------------------------- subroutines that see one coordinate


class LogBarrierFTRL:
    """Scale-free adversarial bandit of Putta and Agrawal (2022), Alg. 1, on losses -g (A1.3).

    gamma_rule 1: min(1/2, sqrt(N / t)). gamma_rule 2: N / (2 N + sum of Gamma_s(gamma_{s-1})).
    """

    def __init__(self, arms, gamma_rule=1, tol=1e-10):
        self.p = [1 / arms] * arms
        self.gamma = 0.5
        self.eta = float(arms)
        self.stability = 1.0  # 1 + sum of M_s
        self.spent = 0.0  # sum of Gamma_s
        self.totals = [0.0] * arms  # sum of the estimated rewards
        self.rounds = 0
        self.gamma_rule = gamma_rule
        self.tol = tol

    @property
    def x(self):
        """Distribution of the next arm, (1 - gamma) p + gamma / N."""
        arms = len(self.p)
        return [(1 - self.gamma) * pi + self.gamma / arms for pi in self.p]

    def advance(self, arm, g):
        p, eta, arms = self.p, self.eta, len(self.p)
        self.rounds += 1
        played = self.x[arm]
        estimate = [g / played if i == arm else 0.0 for i in range(arms)]

        if self.gamma_rule == 1:
            self.gamma = min(0.5, math.sqrt(arms / self.rounds))
        else:
            self.spent += self.gamma * abs(g) / played
            self.gamma = arms / (2 * arms + self.spent)

        self.totals[arm] += estimate[arm]
        v, _ = solve_opt([eta * estimate[i] - 1 / p[i] for i in range(arms)], self.tol)
        log_p = sum(math.log(pi) for pi in p)
        m = (v + arms - eta * p[arm] * estimate[arm] - log_p) / eta
        self.stability += max(0.0, m)
        self.eta = arms / self.stability
        _, self.p = solve_opt([self.eta * total for total in self.totals], self.tol)


class Exp3P:
    """EXP3.P (Bubeck and Cesa-Bianchi 2012, Thm 3.3) on g / B, with range doubling.

    When the range bound moves, the gains are forgotten before the round is used; the estimate
    still divides by the probabilities that were played.
    """

    def __init__(self, arms, horizon, delta=0.01):
        log_arms = math.log(arms)
        self.beta = min(1.0, math.sqrt(math.log(arms / delta) / (horizon * arms)))
        self.eta = 0.95 * math.sqrt(log_arms / (horizon * arms))
        self.gamma = min(1.0, 1.05 * math.sqrt(arms * log_arms / horizon))
        self.gains = [0.0] * arms
        self.bound = 0.0

    @property
    def x(self):
        """Distribution of the next arm, (1 - gamma) softmax(eta G) + gamma / N."""
        arms = len(self.gains)
        weights = softmax([self.eta * gain for gain in self.gains])
        return [(1 - self.gamma) * weight + self.gamma / arms for weight in weights]

    def advance(self, arm, g):
        arms = len(self.gains)
        p = self.x
        bound = cover(self.bound, abs(g))
        if bound != self.bound:
            self.bound = bound
            self.gains = [0.0] * arms
        normalised = g / bound if bound > 0 else 0.0
        for i in range(arms):
            gain = normalised if i == arm else 0.0
            self.gains[i] += (gain + self.beta) / p[i]


# -------------------------------------------------------------------------------- BanditQ


class Queues:
    """Virtual queues of the protected arms, those with a positive target (Eq. 6).

    ``idle[i]`` is the total clipped by the positive part of queue i, so that
    t * target - accrued = length - idle (A1.8, E3).
    """

    def __init__(self, targets):
        self.targets = targets
        self.protected = [target > 0 for target in targets]
        self.length = [0.0] * len(targets)
        self.idle = [0.0] * len(targets)

    def serve(self, served):
        """Add each target, take off what was served, clip at zero."""
        for i, protected in enumerate(self.protected):
            if protected:
                level = self.length[i] + self.targets[i] - served[i]
                self.length[i] = max(0.0, level)
                self.idle[i] += max(0.0, -level)

    def report(self):
        return {"queue": list(self.length), "idleness": list(self.idle)}


class BanditQ:
    """Queues, and a subroutine that is given surrogate rewards (Q_i + V) r_i."""

    def __init__(self, targets, V, surrogate_index, subroutine):
        self.queues = Queues(targets)
        self.V = V
        self.surrogate_index = surrogate_index
        self.subroutine = subroutine

    @property
    def x(self):
        return self.subroutine.x

    def surrogates(self, rewards, served):
        """Serve the queues; return the surrogates, by the queues before or after it."""
        before = list(self.queues.length)
        self.queues.serve(served)
        lengths = self.queues.length if self.surrogate_index == "post" else before
        return [(q + self.V) * r for q, r in zip(lengths, rewards, strict=True)]

    def report(self):
        return self.queues.report()


class BanditQFull(BanditQ):
    """BanditQ with full information (BanditQ Alg. 1; A1.2)."""

    def __init__(self, targets, V, surrogate_index="post", step_c=ALG1_STEP, subroutine="oga"):
        if subroutine == "oga":
            learner = OnlineGradientAscent(len(targets), step_c)
        else:
            learner = {"adahedge": AdaHedge, "squint": Squint}[subroutine](len(targets))
        super().__init__(targets, V, surrogate_index, learner)

    def advance(self, rewards):
        """Serve the queues with r_i x_i, then step along g_i = (Q_i + V) r_i."""
        served = [r * x for r, x in zip(rewards, self.x, strict=True)]
        self.subroutine.advance(self.surrogates(rewards, served))


class BanditQBandit(BanditQ):
    """BanditQ with bandit feedback (A1.4)."""

    def __init__(self, targets, V, horizon=None, surrogate_index="post", subroutine="ftrl", **own):
        if subroutine == "ftrl":
            learner = LogBarrierFTRL(len(targets), **own)
        else:
            assert subroutine == "exp3p"
            learner = Exp3P(len(targets), horizon)
        super().__init__(targets, V, surrogate_index, learner)

    def choose(self, coin):
        return sample(self.x, coin)

    def advance(self, arm, reward):
        """Serve the pulled arm's queue with the reward, then feed (Q_a + V) r."""
        rewards = [reward if i == arm else 0.0 for i in range(len(self.queues.targets))]
        self.subroutine.advance(arm, self.surrogates(rewards, rewards)[arm])


# ------------------------------------------------------------------------- other policies


class Policy:
    """A bandit policy that by default learns nothing."""

    def pulled(self, arm):
        """Hear of a pull at once."""

    def heard(self, arm, reward):
        """Hear of the reward of a pull, when it arrives."""

    def advance(self, arm, reward):
        self.pulled(arm)
        self.heard(arm, reward)


class Exp3(Policy):
    """EXP3 of Auer, Cesa-Bianchi, Freund and Schapire (2002) for a known horizon (A1.7)."""

    def __init__(self, arms, horizon, scale=1.0):
        self.gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1) * horizon)))
        self.log_weights = [0.0] * arms
        self.scale = scale

    @property
    def x(self):
        """Distribution of the next arm, (1 - gamma) w / sum(w) + gamma / N."""
        arms = len(self.log_weights)
        shares = softmax(self.log_weights)
        return [(1 - self.gamma) * share + self.gamma / arms for share in shares]

    def choose(self, coin):
        return sample(self.x, coin)

    def heard(self, arm, reward):
        """Multiply the pulled arm's weight by exp(gamma rhat / N)."""
        estimate = reward / self.scale / self.x[arm]
        self.log_weights[arm] += self.gamma * estimate / len(self.log_weights)


class StaticOracle(Policy):
    """The static benchmark played as a policy: every arm is drawn from x* (A1.6)."""

    def __init__(self, x):
        self.x = list(x)

    def choose(self, coin):
        return sample(self.x, coin)


# ------------------------------------------------------------------------------- the loops


def play_bandit(policy, arms, horizon, reward_at, coin):
    """Play a bandit policy and return one record per round, after the round's update.

    ``reward_at(t, n, arm)`` is the reward of round t if it is the n-th pull of the arm, ``coin(t)``
    the round's word.
    """
    pulls, accrued, history = [0] * arms, [0.0] * arms, []
    for t in range(1, horizon + 1):
        arm = policy.choose(coin(t))
        x = list(getattr(policy, "x", ()))
        pulls[arm] += 1
        r = reward_at(t, pulls[arm], arm)
        accrued[arm] += r
        policy.advance(arm, r)
        record = {"t": t, "x": x, "arm": arm, "reward": r, "accrued": list(accrued)}
        history.append(record | {"pulls": list(pulls)} | getattr(policy, "report", dict)())
    return history


def play_full(learner, arms, horizon, reward_at):
    """Play a full-information learner and return one record per round, after the round's update.

    ``reward_at(t, arm)`` is the reward of an arm in round t.
    """
    accrued, history = [0.0] * arms, []
    for t in range(1, horizon + 1):
        x = list(learner.x)
        rewards = [reward_at(t, arm) for arm in range(arms)]
        accrued = [a + r * xi for a, r, xi in zip(accrued, rewards, x, strict=True)]
        learner.advance(rewards)
        record = {"t": t, "x": x, "rewards": rewards, "reward": dot(x, rewards)}
        history.append(record | {"accrued": accrued} | getattr(learner, "report", dict)())
    return history


def rewards_of(means, law, seed, stream, replicate, **par):
    """Return what gives reward n of an arm on the named streams."""

    def reward_at(arm, n):
        return reward(law, means[arm], draw(seed, stream, replicate, "reward", arm, n), **par)

    return reward_at


def coins_of(seed, stream, replicate):
    """Return what gives the word of a round."""
    return lambda t: draw(seed, stream, replicate, "coin", 0, t)


def run_bandit(policy, means, law, horizon, *address, **par):
    """Play a bandit policy on the named streams: reward n of an arm is that of its n-th pull."""
    reward_at = rewards_of(means, law, *address, **par)

    def by_pull(_t, n, arm):
        return reward_at(arm, n)

    return play_bandit(policy, len(means), horizon, by_pull, coins_of(*address))


def run_full(learner, means, law, horizon, *address, **par):
    """Play a full-information learner on the named streams: reward n of an arm is of round n."""
    reward_at = rewards_of(means, law, *address, **par)
    return play_full(learner, len(means), horizon, lambda t, arm: reward_at(arm, t))


# --------------------------------------------------------------------- benchmark and regret


def static_benchmark(means, targets):
    """Return (x*, b*): the best distribution that meets the targets, and its mean reward (A1.1)."""
    x = [0.0] * len(means)
    for i, target in enumerate(targets):
        if target > 0:
            x[i] = target / means[i]
    if sum(x) > 1 + 1e-9:  # Eq. 2
        raise ValueError(f"targets need a load of {sum(x)}, which exceeds 1")
    best = first_argmax(list(means))
    x[best] = 0.0
    x[best] = max(0.0, 1 - sum(x))
    return x, dot(x, means)


def earned_regret(history, benchmark):
    """Return b* t minus the rewards recorded up to t, for every t."""
    earned, curve = 0.0, []
    for t, record in enumerate(history, start=1):
        earned += record["reward"]
        curve.append(benchmark * t - earned)
    return curve


def regret_pseudo(history, x_star, means):
    """Return sum of <x* - x(s), mu> up to t, for every t (A1.1)."""
    total, curve = 0.0, []
    for record in history:
        total += sum(
            (best - x) * mu for best, x, mu in zip(x_star, record["x"], means, strict=True)
        )
        curve.append(total)
    return curve


# ---------------------------------------------------------------------------------- replay


def replay_source(arms=5):
    """Return the released program's generator, ready for round 1, and the means (A2.1).

    With 1000 arms the means come first from the generator; with 5 they are the four-digit ones.
    Then triples are drawn for the colour of a progress bar until one sums to [1.5, 2.8].
    """
    source = RandomState(100)
    means = list(CODE4) if arms == 5 else [float(u) for u in source.random_sample(arms)]
    while True:
        colour = sum(float(u) for u in source.random_sample(3))
        if 1.5 <= colour <= 2.8:
            return source, means


def replay_targets(means):
    """Return the released program's targets: half and a third of the first two means (A2.1)."""
    return [means[0] / 2, means[1] / 3] + [0.0] * (len(means) - 2)

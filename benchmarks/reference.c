/* The round loops in plain C: what straightforward compiled code costs, and a check.
 *
 * Written from the algorithms, on the same addressable streams, with loops as one would first
 * write them; rewards are uniform on [0, 2 mean], those of BF-UCB 0 or 1. Nothing here is shared
 * with the package. run.py compiles this file, compares the outcome with the package's, and times
 * both.
 *
 * Arms count from 0, rounds from 1. A policy is one function that plays all rounds; it takes the
 * arms, the number of rounds, its own parameters, and the outcome to fill, which comes zeroed.
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    int64_t count;
    const double *means;
    const uint64_t *base, *gamma; /* key of each arm's rewards */
    uint64_t coin_base, coin_gamma;
} Arms;

typedef struct {
    int64_t *pulls;      /* bandit feedback */
    double *plays;       /* full information: summed probabilities */
    double *rewards;     /* accrued by each arm */
    double *queue, *idleness, *queue_max; /* BanditQ */
    double *probability; /* summed over the rounds: BanditQ and BF-UCB */
} Outcome;

/* ------------------------------------------------------------------ streams and rewards */

static inline double unit(uint64_t base, uint64_t gamma, int64_t n)
{
    uint64_t z = base + (uint64_t)n * gamma;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z = z ^ (z >> 31);
    return (double)(int64_t)(z >> 11) * 0x1p-53;
}

static inline double reward_of(const Arms *arms, int64_t k, int64_t n)
{
    return 2.0 * arms->means[k] * unit(arms->base[k], arms->gamma[k], n);
}

static inline double win_of(const Arms *arms, int64_t k, int64_t n)
{
    return unit(arms->base[k], arms->gamma[k], n) < arms->means[k] ? 1.0 : 0.0;
}

static double *zeros(int64_t n)
{
    return calloc((size_t)n, sizeof(double));
}

/* ------------------------------------------------------------------------------ BanditQ */

static void serve(Outcome *out, int64_t k, double target, double served)
{
    double level = out->queue[k] + target - served;
    if (level < 0.0) {
        out->idleness[k] -= level;
        level = 0.0;
    }
    out->queue[k] = level;
    if (level > out->queue_max[k])
        out->queue_max[k] = level;
}

/* The nearest point of the simplex, by dropping what lies below the threshold until it stays. */
static void project(int64_t n, const double *y, double *x)
{
    double threshold = -INFINITY;
    int64_t active = n + 1, previous;
    do {
        previous = active;
        active = 0;
        double total = 0.0;
        for (int64_t k = 0; k < n; k++)
            if (y[k] > threshold) {
                active++;
                total += y[k];
            }
        threshold = (total - 1.0) / active;
    } while (active < previous); /* not !=, because rounding can bring one back */
    for (int64_t k = 0; k < n; k++)
        x[k] = y[k] > threshold ? y[k] - threshold : 0.0;
}

/* Full information: online gradient ascent on (Q + V) r. */
void banditq_full(const Arms *arms, int64_t rounds, const double *targets, double V, double step,
                  Outcome *out)
{
    int64_t n = arms->count;
    double *x = zeros(n), *y = zeros(n), *reward = zeros(n), *gain = zeros(n);
    double squares = 0.0;
    for (int64_t k = 0; k < n; k++)
        x[k] = 1.0 / n;
    for (int64_t t = 1; t <= rounds; t++) {
        for (int64_t k = 0; k < n; k++) {
            reward[k] = reward_of(arms, k, t);
            out->plays[k] += x[k];
            out->rewards[k] += x[k] * reward[k];
        }
        for (int64_t k = 0; k < n; k++) {
            if (targets[k] > 0.0)
                serve(out, k, targets[k], reward[k] * x[k]);
            gain[k] = (out->queue[k] + V) * reward[k];
            squares += gain[k] * gain[k];
        }
        if (squares > 0.0) {
            double rate = step / sqrt(squares);
            for (int64_t k = 0; k < n; k++)
                y[k] = x[k] + rate * gain[k];
            project(n, y, x);
        }
    }
    free(x), free(y), free(reward), free(gain);
}

/* Maximise sum log q + <q, z> over the simplex: q = 1 / (d - z) with d found by Newton's method,
 * measured from the largest z. Returns the maximum. */
static double log_barrier(int64_t n, const double *z, double tolerance, double *q)
{
    double top = z[0], shift = 1.0, excess;
    for (int64_t k = 1; k < n; k++)
        if (z[k] > top)
            top = z[k];
    do {
        double total = 0.0, squares = 0.0;
        for (int64_t k = 0; k < n; k++) {
            double share = 1.0 / (top - z[k] + shift);
            total += share;
            squares += share * share;
        }
        excess = total - 1.0;
        shift += excess / squares;
    } while (fabs(excess) >= tolerance);
    double value = 0.0;
    for (int64_t k = 0; k < n; k++) {
        q[k] = 1.0 / (top - z[k] + shift);
        value += log(q[k]) + q[k] * z[k];
    }
    return value;
}

/* Bandit feedback: scale-free follow-the-regularised-leader with a log barrier. */
void banditq_bandit(const Arms *arms, int64_t rounds, const double *targets, double V,
                    double tolerance, Outcome *out)
{
    int64_t n = arms->count;
    double *x = zeros(n), *p = zeros(n), *q = zeros(n), *z = zeros(n), *estimates = zeros(n);
    double gamma = 0.5, eta = n, mixability = 1.0;
    for (int64_t k = 0; k < n; k++)
        p[k] = 1.0 / n;
    for (int64_t t = 1; t <= rounds; t++) {
        for (int64_t k = 0; k < n; k++) {
            x[k] = (1.0 - gamma) * p[k] + gamma / n;
            out->probability[k] += x[k];
        }
        gamma = fmin(0.5, sqrt((double)n / t));

        double u = unit(arms->coin_base, arms->coin_gamma, t), cumulated = x[0];
        int64_t arm = 0;
        while (arm < n - 1 && cumulated <= u)
            cumulated += x[++arm];
        double reward = reward_of(arms, arm, ++out->pulls[arm]);
        out->rewards[arm] += reward;

        for (int64_t k = 0; k < n; k++)
            if (targets[k] > 0.0)
                serve(out, k, targets[k], k == arm ? reward : 0.0);
        double estimate = (out->queue[arm] + V) * reward / x[arm];
        estimates[arm] += estimate;

        double logs = 0.0;
        for (int64_t k = 0; k < n; k++) {
            z[k] = (k == arm ? eta * estimate : 0.0) - 1.0 / p[k];
            logs += log(p[k]);
        }
        double value = log_barrier(n, z, tolerance, q);
        mixability += fmax(0.0, (value + n - eta * p[arm] * estimate - logs) / eta);
        eta = n / mixability;
        for (int64_t k = 0; k < n; k++)
            z[k] = eta * estimates[k];
        log_barrier(n, z, tolerance, p);
    }
    free(x), free(p), free(q), free(z), free(estimates);
}

/* --------------------------------------------------------------------------------- UCB1 */

void ucb1(const Arms *arms, int64_t rounds, Outcome *out)
{
    int64_t n = arms->count;
    for (int64_t t = 1; t <= rounds; t++) {
        int64_t arm = 0;
        double best = -INFINITY, bonus = 2.0 * log(t);
        for (int64_t k = 0; k < n; k++) {
            double pulls = out->pulls[k];
            double index = pulls == 0 ? INFINITY : out->rewards[k] / pulls + sqrt(bonus / pulls);
            if (index > best) {
                best = index;
                arm = k;
            }
        }
        out->rewards[arm] += reward_of(arms, arm, ++out->pulls[arm]);
    }
}

/* ------------------------------------------------------------------------------ Fair-UCB */

void fair_ucb(const Arms *arms, int64_t rounds, const double *quotas, double denominator,
              double tolerance, Outcome *out)
{
    int64_t n = arms->count, whole = (int64_t)denominator;
    int64_t allowed = (int64_t)(tolerance * denominator);
    for (int64_t t = 1; t <= rounds; t++) {
        int64_t arm = 0, worst = INT64_MIN;
        for (int64_t k = 0; k < n; k++) {
            int64_t deficit = (int64_t)quotas[k] * (t - 1) - whole * out->pulls[k];
            if (deficit > worst) {
                worst = deficit;
                arm = k;
            }
        }
        if (worst <= allowed) {
            double best = -INFINITY, bonus = 2.0 * log(t);
            for (int64_t k = 0; k < n; k++) {
                double pulls = out->pulls[k];
                double index =
                    pulls == 0 ? INFINITY : out->rewards[k] / pulls + sqrt(bonus / pulls);
                if (index > best) {
                    best = index;
                    arm = k;
                }
            }
        }
        out->rewards[arm] += reward_of(arms, arm, ++out->pulls[arm]);
    }
}

/* -------------------------------------------------------------------------------- BF-UCB */

typedef struct {
    int64_t first, last; /* its arms, the last one left out */
    int64_t quota, served;
    double total, value; /* of the optimistic means: their sum, and what a round would earn */
} Group;

/* Work out the optimistic means of a group. */
static void look_up(Group *group, double delta, const double *mean, const double *root,
                    double *upper)
{
    double size = group->last - group->first;
    double width = sqrt(2.0 * log(4.0 * group->served * size / delta));
    double total = 0.0, squares = 0.0;
    for (int64_t k = group->first; k < group->last; k++) {
        double bound = mean[k] + width * root[k];
        upper[k] = bound < 1.0 ? bound : 1.0;
        total += upper[k];
        squares += upper[k] * upper[k];
    }
    group->total = total;
    group->value = squares / total;
}

/* As printed. Only the group that was served has new optimistic means. */
void bf_ucb(const Arms *arms, int64_t rounds, const double *sizes, double groups,
            const double *quotas, double denominator, double delta, Outcome *out)
{
    int64_t n = arms->count, m = (int64_t)groups, whole = (int64_t)denominator, largest = 0;
    double *mean = zeros(n), *root = zeros(n), *upper = zeros(n);
    Group *all = calloc((size_t)m, sizeof(Group));
    for (int64_t g = 0, k = 0; g < m; g++) {
        int64_t size = (int64_t)sizes[g];
        all[g] = (Group){.first = k, .last = k + size, .quota = (int64_t)quotas[g]};
        k += size;
        if (size > largest)
            largest = size;
    }
    for (int64_t k = 0; k < n; k++)
        root[k] = INFINITY;
    for (int64_t t = 1; t <= rounds; t++) {
        int64_t served = -1, arm;
        if (t <= m * largest) {
            served = (t - 1) % m;
        } else {
            int64_t most = 0;
            for (int64_t g = 0; g < m; g++) {
                int64_t owed = all[g].quota * (t - 1) - whole * all[g].served;
                if (owed > most) {
                    most = owed;
                    served = g;
                }
            }
            if (served < 0) {
                served = 0;
                for (int64_t g = 1; g < m; g++)
                    if (all[g].value > all[served].value)
                        served = g;
            }
        }
        Group *group = &all[served];
        arm = group->first + group->served;
        if (arm < group->last) { /* not pulled yet */
            out->probability[arm] += 1.0;
        } else {
            double share = 1.0 / group->total;
            for (int64_t k = group->first; k < group->last; k++)
                out->probability[k] += upper[k] * share;
            double goal = unit(arms->coin_base, arms->coin_gamma, t) * group->total;
            double cumulated = upper[arm = group->first];
            while (arm < group->last - 1 && cumulated <= goal)
                cumulated += upper[++arm];
        }
        out->rewards[arm] += win_of(arms, arm, ++out->pulls[arm]);
        mean[arm] = out->rewards[arm] / out->pulls[arm];
        root[arm] = 1.0 / sqrt(out->pulls[arm]);
        group->served++;
        look_up(group, delta, mean, root, upper);
    }
    free(mean), free(root), free(upper), free(all);
}

/* BanditQ; rewards are uniform on [0, 2 mean]. */

#include "arms.h"

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

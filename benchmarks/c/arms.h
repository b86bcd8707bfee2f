/* The round loops in plain C: what straightforward compiled code costs, and a check.
 *
 * Written from the algorithms, on the same addressable streams, with loops as one would first
 * write them. Nothing here is shared with the package, whose outcomes are compared with these.
 *
 * Arms count from 0, rounds from 1. A policy is one function that plays all rounds; it takes the
 * arms, the number of rounds, its own parameters, and the outcome to fill, which comes zeroed.
 * Shares and quotas are numerators over one denominator, so that they are compared in integers.
 */

#ifndef ARMS_H
#define ARMS_H

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
    double *queue, *idleness, *queue_max; /* BanditQ; LFG has the queue */
    double *probability; /* summed over the rounds, where arms are drawn */
} Outcome;

static inline double unit(uint64_t base, uint64_t gamma, int64_t n)
{
    uint64_t z = base + (uint64_t)n * gamma;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z = z ^ (z >> 31);
    return (double)(int64_t)(z >> 11) * 0x1p-53;
}

/* Uniform on [0, 2 mean]. */
static inline double reward_of(const Arms *arms, int64_t k, int64_t n)
{
    return 2.0 * arms->means[k] * unit(arms->base[k], arms->gamma[k], n);
}

/* 0 or 1. */
static inline double win_of(const Arms *arms, int64_t k, int64_t n)
{
    return unit(arms->base[k], arms->gamma[k], n) < arms->means[k] ? 1.0 : 0.0;
}

static inline double *zeros(int64_t n)
{
    return calloc((size_t)n, sizeof(double));
}

static inline int64_t *integers(const double *values, int64_t n)
{
    int64_t *whole = malloc((size_t)n * sizeof(int64_t));
    for (int64_t k = 0; k < n; k++)
        whole[k] = (int64_t)values[k];
    return whole;
}

/* What is known of the arms: an index is mean + bonus * root, with root = 1 / sqrt(pulls).
 *
 * Kept from pull to pull, since working them out anew for every arm in every round takes twice
 * the time. An arm never pulled has an infinite index, so that it goes first. */
typedef struct {
    int64_t count;
    double *mean, *root;
} Sample;

static inline Sample new_sample(int64_t n)
{
    Sample sample = {n, zeros(n), zeros(n)};
    for (int64_t k = 0; k < n; k++)
        sample.mean[k] = INFINITY;
    return sample;
}

static inline void free_sample(Sample sample)
{
    free(sample.mean), free(sample.root);
}

/* Pull an arm, whose reward is 0 or 1. */
static inline void pull(const Arms *arms, Outcome *out, Sample *sample, int64_t k)
{
    int64_t n = ++out->pulls[k];
    out->rewards[k] += win_of(arms, k, n);
    sample->mean[k] = out->rewards[k] / n;
    sample->root[k] = 1.0 / sqrt(n);
}

static inline double bonus_of(int64_t t)
{
    return sqrt(2.0 * log(t));
}

/* The arm of largest index, the lowest of several. */
static inline int64_t best_arm(const Sample *sample, double bonus)
{
    int64_t arm = 0;
    double best = -INFINITY;
    for (int64_t k = 0; k < sample->count; k++) {
        double index = sample->mean[k] + bonus * sample->root[k];
        if (index > best) {
            best = index;
            arm = k;
        }
    }
    return arm;
}

#endif

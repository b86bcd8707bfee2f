/* Policies that pull the arm of largest index, each with all indices in every round. */

#include "arms.h"

void ucb1(const Arms *arms, int64_t rounds, Outcome *out)
{
    Sample sample = new_sample(arms->count);
    for (int64_t t = 1; t <= rounds; t++)
        pull(arms, out, &sample, best_arm(&sample, bonus_of(t)));
    free_sample(sample);
}

void fair_ucb(const Arms *arms, int64_t rounds, const double *quotas, double denominator,
              double tolerance, Outcome *out)
{
    int64_t n = arms->count, whole = (int64_t)denominator, *quota = integers(quotas, n);
    int64_t allowed = (int64_t)(tolerance * denominator);
    Sample sample = new_sample(n);
    for (int64_t t = 1; t <= rounds; t++) {
        int64_t arm = 0, worst = INT64_MIN;
        for (int64_t k = 0; k < n; k++) {
            int64_t deficit = quota[k] * (t - 1) - whole * out->pulls[k];
            if (deficit > worst) {
                worst = deficit;
                arm = k;
            }
        }
        if (worst <= allowed)
            arm = best_arm(&sample, bonus_of(t));
        pull(arms, out, &sample, arm);
    }
    free(quota), free_sample(sample);
}

/* The index of an arm short of its quota is raised by the penalty. */
void ht_ucb(const Arms *arms, int64_t rounds, const double *quotas, double denominator,
            double penalty, Outcome *out)
{
    int64_t n = arms->count, whole = (int64_t)denominator, *quota = integers(quotas, n);
    Sample sample = new_sample(n);
    for (int64_t t = 1; t <= rounds; t++) {
        int64_t arm = 0;
        double best = -INFINITY, bonus = bonus_of(t);
        for (int64_t k = 0; k < n; k++) {
            double raised = quota[k] * t > whole * out->pulls[k] ? penalty : 0.0;
            double index = sample.mean[k] + raised + bonus * sample.root[k];
            if (index > best) {
                best = index;
                arm = k;
            }
        }
        pull(arms, out, &sample, arm);
    }
    free(quota), free_sample(sample);
}

/* Queues of missed pulls against bounds cut off at 1; an arm never pulled has the bound 1. */
void lfg(const Arms *arms, int64_t rounds, const double *fractions, double denominator, double eta,
         Outcome *out)
{
    int64_t n = arms->count, whole = (int64_t)denominator, *fraction = integers(fractions, n);
    int64_t *queue = calloc((size_t)n, sizeof(int64_t));
    Sample sample = new_sample(n);
    for (int64_t t = 1; t <= rounds; t++) {
        int64_t arm = 0;
        double best = -INFINITY, bonus = sqrt(1.5 * log(t));
        for (int64_t k = 0; k < n; k++) {
            double bound = sample.mean[k] + bonus * sample.root[k];
            double index = (double)queue[k] / whole + eta * (bound < 1.0 ? bound : 1.0);
            if (index > best) {
                best = index;
                arm = k;
            }
        }
        pull(arms, out, &sample, arm);
        queue[arm] -= whole;
        for (int64_t k = 0; k < n; k++) {
            queue[k] += fraction[k];
            if (queue[k] < 0)
                queue[k] = 0;
        }
    }
    for (int64_t k = 0; k < n; k++)
        out->queue[k] = (double)queue[k] / whole;
    free(fraction), free(queue), free_sample(sample);
}

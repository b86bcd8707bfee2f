/* Policies for arms in groups, as printed: BF-UCB, and GEF, UCB and MF beside it. */

#include "arms.h"

typedef struct {
    int64_t first, last; /* its arms, the last one left out */
    int64_t quota, served;
    double total, value; /* of the optimistic means: their sum, and what a round would earn */
} Group;

typedef struct {
    int64_t count, whole; /* the quotas' denominator */
    int64_t initial;      /* rounds in which the groups take turns */
    int64_t *of;          /* by arm */
    Group *list;
    double *upper, delta;
    Sample sample;
} Groups;

static Groups new_groups(const Arms *arms, const double *sizes, double groups,
                         const double *quotas, double denominator, double delta)
{
    int64_t m = (int64_t)groups, largest = 0, first = 0;
    Groups all = {.count = m, .whole = (int64_t)denominator, .delta = delta};
    all.list = calloc((size_t)m, sizeof(Group));
    all.of = calloc((size_t)arms->count, sizeof(int64_t));
    all.upper = zeros(arms->count);
    all.sample = new_sample(arms->count);
    for (int64_t g = 0; g < m; g++) {
        int64_t size = (int64_t)sizes[g];
        all.list[g] = (Group){.first = first, .last = first + size, .quota = (int64_t)quotas[g]};
        for (int64_t k = first; k < first + size; k++)
            all.of[k] = g;
        first += size;
        largest = size > largest ? size : largest;
    }
    all.initial = m * largest;
    return all;
}

static void free_groups(Groups all)
{
    free(all.list), free(all.of), free(all.upper), free_sample(all.sample);
}

/* Work out the optimistic means of a group. */
static void look_up(Groups *all, Group *group)
{
    double size = group->last - group->first;
    double width = sqrt(2.0 * log(4.0 * group->served * size / all->delta));
    double total = 0.0, squares = 0.0;
    for (int64_t k = group->first; k < group->last; k++) {
        double bound = all->sample.mean[k] + width * all->sample.root[k];
        all->upper[k] = bound < 1.0 ? bound : 1.0;
        total += all->upper[k];
        squares += all->upper[k] * all->upper[k];
    }
    group->total = total;
    group->value = squares / total;
}

/* The group furthest behind its quota, or -1. */
static int64_t most_owed(const Groups *all, int64_t t)
{
    int64_t group = -1, most = 0;
    for (int64_t g = 0; g < all->count; g++) {
        int64_t owed = all->list[g].quota * (t - 1) - all->whole * all->list[g].served;
        if (owed > most) {
            most = owed;
            group = g;
        }
    }
    return group;
}

/* Draw one of the arms first .. last - 1 by their optimistic means, which sum to total. */
static int64_t draw(const Arms *arms, const double *upper, int64_t first, int64_t last,
                    double total, int64_t t, double *probability)
{
    double share = 1.0 / total;
    for (int64_t k = first; k < last; k++)
        probability[k] += upper[k] * share;
    double goal = unit(arms->coin_base, arms->coin_gamma, t) * total;
    int64_t arm = first;
    double cumulated = upper[first];
    while (arm < last - 1 && cumulated <= goal)
        cumulated += upper[++arm];
    return arm;
}

/* Pull an arm of this group: one not pulled yet, or else one drawn. Only the group that is served
 * has new optimistic means. */
static void serve(const Arms *arms, Groups *all, int64_t g, int64_t t, Outcome *out)
{
    Group *group = &all->list[g];
    int64_t arm = group->first + group->served;
    if (arm < group->last)
        out->probability[arm] += 1.0;
    else
        arm = draw(arms, all->upper, group->first, group->last, group->total, t,
                   out->probability);
    pull(arms, out, &all->sample, arm);
    group->served++;
    look_up(all, group);
}

void bf_ucb(const Arms *arms, int64_t rounds, const double *sizes, double groups,
            const double *quotas, double denominator, double delta, Outcome *out)
{
    Groups all = new_groups(arms, sizes, groups, quotas, denominator, delta);
    for (int64_t t = 1; t <= rounds; t++) {
        int64_t g = t <= all.initial ? (t - 1) % all.count : most_owed(&all, t);
        if (g < 0) {
            g = 0;
            for (int64_t other = 1; other < all.count; other++)
                if (all.list[other].value > all.list[g].value)
                    g = other;
        }
        serve(arms, &all, g, t, out);
    }
    free_groups(all);
}

/* GEF; UCB if the quotas are 0. The arm of largest index, of the group owed most or of all. */
void group_ucb(const Arms *arms, int64_t rounds, const double *sizes, double groups,
               const double *quotas, double denominator, double delta, Outcome *out)
{
    Groups all = new_groups(arms, sizes, groups, quotas, denominator, delta);
    for (int64_t t = 1; t <= rounds; t++) {
        if (t <= all.initial) {
            serve(arms, &all, (t - 1) % all.count, t, out);
            continue;
        }
        int64_t g = most_owed(&all, t), first = g < 0 ? 0 : all.list[g].first;
        int64_t last = g < 0 ? arms->count : all.list[g].last;
        Sample *sample = &all.sample;
        Sample part = {last - first, sample->mean + first, sample->root + first};
        int64_t arm = first + best_arm(&part, bonus_of(t));
        pull(arms, out, sample, arm);
        all.list[all.of[arm]].served++;
    }
    free_groups(all);
}

/* MF. Any arm, drawn by optimistic means of a width that stays, so that one changes in a round. */
void fairx_ucb(const Arms *arms, int64_t rounds, const double *sizes, double groups,
               const double *quotas, double denominator, double delta, Outcome *out)
{
    Groups all = new_groups(arms, sizes, groups, quotas, denominator, delta);
    int64_t n = arms->count, horizon = rounds > n ? rounds : n, t = 1;
    const Sample *sample = &all.sample;
    double width = sqrt(2.0 * log(4.0 * horizon * n / delta));
    for (; t <= rounds && t <= all.initial; t++)
        serve(arms, &all, (t - 1) % all.count, t, out);
    for (int64_t k = 0; k < n; k++)
        all.upper[k] = fmin(1.0, sample->mean[k] + width * sample->root[k]);
    for (; t <= rounds; t++) {
        double total = 0.0;
        for (int64_t k = 0; k < n; k++)
            total += all.upper[k];
        int64_t arm = draw(arms, all.upper, 0, n, total, t, out->probability);
        pull(arms, out, &all.sample, arm);
        all.upper[arm] = fmin(1.0, sample->mean[arm] + width * sample->root[arm]);
    }
    free_groups(all);
}

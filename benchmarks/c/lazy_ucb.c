/* The same choices as in ucb.c, bit for bit, without all indices in every round.
 *
 * An index changes in two ways only: when its arm is pulled, and with the bonus, which grows from
 * round to round. Within a block of rounds `low` is the bonus of its first one and `high` that of
 * its last. Multiplication and addition round monotonely, and the logarithms of two whole numbers
 * are further apart than their errors; so an arm that is not pulled has an index of at most
 * mean + high * root throughout the block, as computed. While the leader's mean + low * root is
 * strictly above the largest of those (`rival`), it is pulled, whatever the rule for ties.
 */

#include "arms.h"

typedef struct {
    int64_t last; /* round */
    double low, high;
} Block;

static Block new_block(int64_t t, int64_t rounds)
{
    int64_t last = t + t / 4096 + 16; /* longer ones have looser bounds */
    last = last < rounds ? last : rounds;
    return (Block){last, bonus_of(t), bonus_of(last)};
}

static inline double at(const Sample *sample, int64_t k, double bonus)
{
    return sample->mean[k] + bonus * sample->root[k];
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The largest index that an arm but this one can have within the block. */
static double rival_of(const Sample *sample, int64_t arm, double high)
{
    double rival = -INFINITY;
    for (int64_t k = 0; k < sample->count; k++)
        if (k != arm)
            rival = larger(rival, at(sample, k, high));
    return rival;
}

void ucb1_lazy(const Arms *arms, int64_t rounds, Outcome *out)
{
    Sample sample = new_sample(arms->count);
    int64_t t = 1;
    for (; t <= rounds && t <= arms->count; t++)
        pull(arms, out, &sample, t - 1);
    while (t <= rounds) {
        Block block = new_block(t, rounds);
        while (t <= block.last) {
            int64_t leader = best_arm(&sample, bonus_of(t));
            double rival = rival_of(&sample, leader, block.high);
            do {
                pull(arms, out, &sample, leader);
                t++;
            } while (t <= block.last && at(&sample, leader, block.low) > rival);
        }
    }
    free_sample(sample);
}

/* ------------------------------------------------------------------------------ Fair-UCB */

/* Arms behind by more than allowed, the lowest last; a place has a column in each array. */
typedef struct {
    int64_t count;
    int64_t *arm, *quota, *served; /* served: pulls times the denominator */
    char *listed;                  /* by arm */
} AllLate;

/* The first round in which an arm with so many pulls is late. */
static inline int64_t late_from(int64_t quota, int64_t served, int64_t allowed)
{
    return quota > 0 ? (allowed + served) / quota + 2 : INT64_MAX;
}

static void add_late(AllLate *all, int64_t arm, int64_t quota, int64_t served)
{
    int64_t place = all->count++;
    for (; place > 0 && all->arm[place - 1] < arm; place--) {
        all->arm[place] = all->arm[place - 1];
        all->quota[place] = all->quota[place - 1];
        all->served[place] = all->served[place - 1];
    }
    all->arm[place] = arm, all->quota[place] = quota, all->served[place] = served;
    all->listed[arm] = 1;
}

static void remove_late(AllLate *all, int64_t place)
{
    all->listed[all->arm[place]] = 0;
    all->count--;
    for (; place < all->count; place++) {
        all->arm[place] = all->arm[place + 1];
        all->quota[place] = all->quota[place + 1];
        all->served[place] = all->served[place + 1];
    }
}

/* The place of the arm furthest behind in round t. */
static int64_t furthest_behind(const AllLate *all, int64_t t)
{
    int64_t worst = INT64_MIN, place = all->count - 1;
    for (int64_t i = 0; i < all->count; i++) {
        int64_t deficit = all->quota[i] * (t - 1) - all->served[i];
        worst = deficit > worst ? deficit : worst;
    }
    while (all->quota[place] * (t - 1) - all->served[place] != worst)
        place--;
    return place;
}

void fair_ucb_lazy(const Arms *arms, int64_t rounds, const double *quotas, double denominator,
                   double tolerance, Outcome *out)
{
    int64_t n = arms->count, whole = (int64_t)denominator, *quota = integers(quotas, n);
    int64_t allowed = (int64_t)(tolerance * denominator);
    int64_t *late = integers(quotas, n), unpulled = n, next_late = 0, leader = 0;
    size_t bytes = (size_t)n * sizeof(int64_t);
    AllLate all = {0, malloc(bytes), malloc(bytes), malloc(bytes), calloc((size_t)n, 1)};
    Sample sample = new_sample(n);
    Block block = {.last = 0};
    double rival = INFINITY;
    for (int64_t k = 0; k < n; k++)
        late[k] = late_from(quota[k], 0, allowed);
    for (int64_t t = 1; t <= rounds;) {
        if (t > block.last) {
            block = new_block(t, rounds);
            rival = INFINITY; /* ask for all indices */
        }
        if (t >= next_late) {
            next_late = INT64_MAX;
            for (int64_t k = 0; k < n; k++) {
                if (all.listed[k])
                    continue;
                if (late[k] <= t)
                    add_late(&all, k, quota[k], whole * out->pulls[k]);
                else if (late[k] < next_late)
                    next_late = late[k];
            }
        }
        if (all.count > 0) {
            int64_t place = furthest_behind(&all, t++), arm = all.arm[place];
            unpulled -= out->pulls[arm] == 0;
            pull(arms, out, &sample, arm);
            all.served[place] += whole;
            late[arm] = late_from(quota[arm], all.served[place], allowed);
            if (late[arm] > t) {
                remove_late(&all, place);
                next_late = late[arm] < next_late ? late[arm] : next_late;
            }
            if (arm != leader)
                rival = larger(rival, at(&sample, arm, block.high));
            continue;
        }
        if (unpulled > 0 || !(at(&sample, leader, block.low) > rival)) {
            leader = best_arm(&sample, bonus_of(t));
            rival = rival_of(&sample, leader, block.high);
            unpulled -= out->pulls[leader] == 0;
        }
        int64_t last = block.last < next_late - 1 ? block.last : next_late - 1;
        do {
            pull(arms, out, &sample, leader);
            t++;
        } while (t <= last && at(&sample, leader, block.low) > rival);
        late[leader] = late_from(quota[leader], whole * out->pulls[leader], allowed);
    }
    free(quota), free(late), free(all.arm), free(all.quota), free(all.served), free(all.listed);
    free_sample(sample);
}

/* -------------------------------------------------------------------------------- HT-UCB */

/* An arm short of its quota, and the bounds of its raised index within the block. */
typedef struct {
    int64_t arm;
    double low, high;
} Raised;

typedef struct {
    int64_t count;
    Raised *list; /* the largest bound comes last */
    char *listed; /* by arm */
} AllRaised;

static void raise_arm(AllRaised *all, const Sample *sample, const Block *block, double penalty,
                      int64_t k)
{
    double mean = sample->mean[k] + penalty;
    Raised one = {k, mean + block->low * sample->root[k], mean + block->high * sample->root[k]};
    int64_t place = all->count++;
    for (; place > 0 && all->list[place - 1].high > one.high; place--)
        all->list[place] = all->list[place - 1];
    all->list[place] = one;
    all->listed[k] = 1;
}

static void take_out(AllRaised *all, int64_t arm)
{
    int64_t place = all->count - 1;
    while (all->list[place].arm != arm)
        place--;
    all->count--;
    for (; place < all->count; place++)
        all->list[place] = all->list[place + 1];
    all->listed[arm] = 0;
}

/* The first round in which an arm with so many pulls is short. */
static inline int64_t short_from(int64_t quota, int64_t served)
{
    return quota > 0 ? served / quota + 1 : INT64_MAX;
}

/* The arm of largest index; `leader` becomes the one among the arms that are not raised, or -1. */
static int64_t best_raised(const Sample *sample, const AllRaised *all, double penalty,
                           double bonus, int64_t *leader)
{
    int64_t arm = 0;
    double best = -INFINITY, best_other = -INFINITY;
    *leader = -1;
    for (int64_t k = 0; k < sample->count; k++) {
        double raised = all->listed[k] ? penalty : 0.0;
        double index = sample->mean[k] + raised + bonus * sample->root[k];
        if (index > best) {
            best = index;
            arm = k;
        }
        if (!all->listed[k] && index > best_other) {
            best_other = index;
            *leader = k;
        }
    }
    return arm;
}

/* `rival` bounds the arms that are neither raised nor the leader. */
void ht_ucb_lazy(const Arms *arms, int64_t rounds, const double *quotas, double denominator,
                 double penalty, Outcome *out)
{
    int64_t n = arms->count, whole = (int64_t)denominator, *quota = integers(quotas, n);
    int64_t *scarce = integers(quotas, n), next_short = 0, leader = -1, t = 1;
    AllRaised all = {0, calloc((size_t)n, sizeof(Raised)), calloc((size_t)n, 1)};
    Sample sample = new_sample(n);
    Block block = {.last = 0};
    double rival = INFINITY;
    for (; t <= rounds && t <= n; t++)
        pull(arms, out, &sample, t - 1);
    for (int64_t k = 0; k < n; k++)
        scarce[k] = short_from(quota[k], whole * out->pulls[k]);
    while (t <= rounds) {
        if (t > block.last) {
            block = new_block(t, rounds);
            rival = INFINITY; /* ask for all indices */
            while (all.count > 0)
                take_out(&all, all.list[all.count - 1].arm);
            next_short = t;
        }
        if (t >= next_short) {
            next_short = INT64_MAX;
            for (int64_t k = 0; k < n; k++) {
                if (all.listed[k])
                    continue;
                if (scarce[k] <= t) {
                    raise_arm(&all, &sample, &block, penalty, k);
                    leader = k == leader ? -1 : leader;
                } else if (scarce[k] < next_short) {
                    next_short = scarce[k];
                }
            }
        }

        int64_t arm = -1;
        double top = -INFINITY;
        if (all.count > 0) {
            Raised first = all.list[all.count - 1];
            double other = all.count > 1 ? larger(rival, all.list[all.count - 2].high) : rival;
            if (leader >= 0)
                other = larger(other, at(&sample, leader, block.high));
            top = first.high;
            if (first.low > other)
                arm = first.arm;
        }
        double goal = larger(rival, top);
        if (arm < 0 && leader >= 0 && at(&sample, leader, block.low) > goal) {
            int64_t last = block.last < next_short - 1 ? block.last : next_short - 1;
            do {
                pull(arms, out, &sample, leader);
                t++;
            } while (t <= last && at(&sample, leader, block.low) > goal);
            scarce[leader] = short_from(quota[leader], whole * out->pulls[leader]);
            continue;
        }
        if (arm < 0) {
            arm = best_raised(&sample, &all, penalty, bonus_of(t), &leader);
            rival = -INFINITY;
            for (int64_t k = 0; k < n; k++)
                if (!all.listed[k] && k != leader)
                    rival = larger(rival, at(&sample, k, block.high));
        }
        pull(arms, out, &sample, arm);
        t++;
        scarce[arm] = short_from(quota[arm], whole * out->pulls[arm]);
        if (all.listed[arm]) {
            take_out(&all, arm);
            if (scarce[arm] <= t) {
                raise_arm(&all, &sample, &block, penalty, arm);
            } else {
                rival = larger(rival, at(&sample, arm, block.high));
                next_short = scarce[arm] < next_short ? scarce[arm] : next_short;
            }
        }
    }
    free(quota), free(scarce), free(all.list), free(all.listed), free_sample(sample);
}

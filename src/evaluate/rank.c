/* Orders that were predicted against the true ones. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate/rank_inside.h"
#include "foretell/rank.h"

enum { MAX_CHOICES = 64, DRAWS = 512 };

/* Rows of one item and choice, added up. */
struct choice_sums {
    double truth, value, low, high;
    double n;
};

struct choice_table {
    const char *choice[MAX_CHOICES];
    size_t n_choices;
    double loss[MAX_CHOICES];  /* sum of regrets when it is always taken */
    double first[MAX_CHOICES]; /* how often it is the best */
};

static int by_item(const void *a, const void *b)
{
    const ft_rank_row *x = *(const ft_rank_row *const *)a;
    const ft_rank_row *y = *(const ft_rank_row *const *)b;

    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return (x > y) - (x < y);
}

static size_t index_of(const struct choice_table *t, const char *choice)
{
    size_t i = 0;

    while (i < t->n_choices && strcmp(t->choice[i], choice) != 0)
        i++;
    return i;
}

static ft_status name_choices(struct choice_table *t, const ft_rank_row *row, size_t n,
                              ft_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (index_of(t, row[i].choice) < t->n_choices)
            continue;
        if (t->n_choices == MAX_CHOICES)
            return ft_fail(err, FT_EINVAL, 0, "more than %d choices", MAX_CHOICES);
        t->choice[t->n_choices++] = row[i].choice;
    }
    if (t->n_choices < 2)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "there is nothing to choose from: all rows are of %s",
                       t->n_choices ? t->choice[0] : "no device");
    return FT_OK;
}

/* The first rows of p[n] that are one item's, added up by choice; how many rows. */
static size_t gather(struct choice_sums *cell, const struct choice_table *t,
                     const ft_rank_row *const *p, size_t n)
{
    size_t len = 0;

    memset(cell, 0, t->n_choices * sizeof(*cell));
    for (; len < n && p[len]->item == p[0]->item; len++) {
        struct choice_sums *c = &cell[index_of(t, p[len]->choice)];

        c->truth += p[len]->truth;
        c->value += p[len]->value;
        c->low += p[len]->low;
        c->high += p[len]->high;
        c->n++;
    }
    for (size_t i = 0; i < t->n_choices; i++) {
        cell[i].truth /= cell[i].n;
        cell[i].value /= cell[i].n;
        cell[i].low /= cell[i].n;
        cell[i].high /= cell[i].n;
    }
    return len;
}

static bool is_complete(const struct choice_sums *cell, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(cell[i].n > 0))
            return false;
    return true;
}

static ft_status add_item(ft_rank_evaluation *out, struct choice_table *t,
                          const struct choice_sums *cell, ft_error *err)
{
    const ft_rank_options how = {.by = FT_RANK_BY_TIME, .n_draws = DRAWS};
    ft_rank_entry entry[MAX_CHOICES];
    ft_ranked ranked[MAX_CHOICES];
    size_t n = t->n_choices, best = 0, taken = 0;
    bool level = false;
    ft_status st;

    for (size_t i = 0; i < n; i++) {
        const ft_estimate e = {cell[i].value, cell[i].low, cell[i].high,
                               FT_BASIS_LEARNED, ""};

        entry[i] = (ft_rank_entry){.device = t->choice[i],
                                   .items = 1,
                                   .time = e,
                                   .memory_limit_bytes = NAN,
                                   .price_per_s = NAN,
                                   .co2_g_per_j = NAN};
        best = cell[i].truth < cell[best].truth ? i : best;
    }
    st = ft_rank(ranked, entry, n, &how, err);
    if (st)
        return st;
    for (size_t i = 0; i < n; i++) {
        t->loss[i] += cell[i].truth / cell[best].truth - 1;
        taken = ranked[i].place == 1 ? i : taken;
        level = level || ranked[i].level;
    }
    t->first[best]++;
    out->n_items++;
    out->right += !(cell[taken].truth > cell[best].truth);
    out->regret += cell[taken].truth / cell[best].truth - 1;
    out->expected_regret += ranked[taken].regret;
    out->level += level;
    out->regret_apart += level ? 0 : cell[taken].truth / cell[best].truth - 1;
    return FT_OK;
}

/* Sums become means. */
static void finish(ft_rank_evaluation *out, const struct choice_table *t)
{
    double n = (double)out->n_items;
    size_t best = 0, worst = 0;

    for (size_t i = 1; i < t->n_choices; i++) {
        best = t->loss[i] < t->loss[best] ? i : best;
        worst = t->loss[i] > t->loss[worst] ? i : worst;
    }
    snprintf(out->constant, sizeof(out->constant), "%s", t->choice[best]);
    out->constant_right = t->first[best] / n;
    out->constant_regret = t->loss[best] / n;
    out->worst_regret = t->loss[worst] / n;
    out->regret_apart /= n - out->level; /* NaN: none could be distinguished */
    out->right /= n;
    out->regret /= n;
    out->expected_regret /= n;
    out->level /= n;
}

ft_status ft__rank_evaluate(ft_rank_evaluation *out, const ft_rank_row *row, size_t n,
                            ft_error *err)
{
    const ft_rank_row **p = calloc(n + 1, sizeof(*p));
    struct choice_sums cell[MAX_CHOICES];
    struct choice_table t = {.n_choices = 0};
    ft_status st;

    *out = (ft_rank_evaluation){.n_rows = n};
    if (!p)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", n);
    st = name_choices(&t, row, n, err);
    for (size_t i = 0; i < n; i++)
        p[i] = &row[i];
    qsort(p, n, sizeof(*p), by_item);
    for (size_t i = 0; i < n && !st;) {
        i += gather(cell, &t, p + i, n - i);
        if (is_complete(cell, t.n_choices))
            st = add_item(out, &t, cell, err);
    }
    free(p);
    out->n_choices = t.n_choices;
    if (!st && !out->n_items)
        st = ft_fail(err, FT_ENOTFOUND, 0, "no operation was measured on all of them");
    if (!st)
        finish(out, &t);
    return st;
}

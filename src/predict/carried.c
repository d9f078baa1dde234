#include "predict/carried.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/carry.h"

static bool is_kin(const ft__dataset *a, const ft__dataset *b)
{
    const ft_device_facts *x, *y;

    if (!a->file || !b->file || strcmp(a->engine, b->engine))
        return false;
    x = ft_device_get(a->file);
    y = ft_device_get(b->file);
    return x->compute_capability == y->compute_capability;
}

/* The training dataset that has most rows, of the kin of d; n_datasets: none. */
static uint32_t source_of(uint32_t d, const ft__samples *s, const size_t *rows)
{
    uint32_t best = s->n_datasets;

    for (uint32_t i = 0; i < s->n_datasets; i++)
        if (rows[i] && is_kin(&s->dataset[i], &s->dataset[d]) &&
            (best == s->n_datasets || rows[i] > rows[best]))
            best = i;
    return best;
}

static ft_status templates(ft__carry **out, const ft__learner *l, const ft__samples *s,
                           const uint32_t *train, size_t n, uint32_t dataset,
                           ft_error *err)
{
    ft__carry_row *row = calloc(n + 1, sizeof(*row));
    size_t used = 0;
    ft_status st;

    if (!row)
        return ft_fail(err, FT_ENOMEM, 0, "%zu templates", n);
    for (size_t i = 0; i < n; i++) {
        const ft__sample *v = &s->v[train[i]];
        ft__terms t;

        if (v->dataset != dataset)
            continue;
        ft__base_terms(&l->base, &t, s, train[i]);
        row[used++] = (ft__carry_row){&v->op, v->value[FT__METRIC_TIME] - t.aside_s,
                                      t.total_s - t.aside_s};
    }
    st = ft__carry_make(out, row, used, err);
    free(row);
    return st;
}

static void apply(ft__answer *answer, const ft__learner *l, const ft__carry *c,
                  const ft__samples *s, const uint32_t *test, size_t n,
                  uint32_t dataset)
{
    for (size_t i = 0; i < n; i++) {
        const ft__sample *v = &s->v[test[i]];
        double ratio = ft__carry_ratio(c, &v->op), change;
        ft__terms t;

        if (v->dataset != dataset || isnan(ratio))
            continue;
        ft__base_terms(&l->base, &t, s, test[i]);
        change = ((t.total_s - t.aside_s) * exp(ratio) + t.aside_s) / answer[i].value;
        answer[i].value *= change;
        answer[i].low *= change;
        answer[i].high *= change;
    }
}

ft_status ft__carry_answers(ft__answer *answer, const ft__learner *l,
                            const ft__samples *s, const uint32_t *train, size_t n_train,
                            const uint32_t *test, size_t n_test, ft_error *err)
{
    size_t *rows = calloc(2 * s->n_datasets + 1u, sizeof(*rows)), *asked;
    ft_status st = FT_OK;

    if (!rows)
        return ft_fail(err, FT_ENOMEM, 0, "%u datasets", s->n_datasets);
    asked = rows + s->n_datasets;
    for (size_t i = 0; i < n_train; i++)
        rows[s->v[train[i]].dataset]++;
    for (size_t i = 0; i < n_test; i++)
        asked[s->v[test[i]].dataset]++;
    for (uint32_t d = 0; d < s->n_datasets && !st; d++) {
        uint32_t source = source_of(d, s, rows);
        ft__carry *c;

        if (!asked[d] || rows[d] || source == s->n_datasets)
            continue;
        st = templates(&c, l, s, train, n_train, source, err);
        if (!st)
            apply(answer, l, c, s, test, n_test, d);
        if (!st)
            ft__carry_free(c);
    }
    free(rows);
    return st;
}

/* A few measurements of a device, by which a family's answers for it are corrected. */
#include "predict/model/calibration_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op_inside.h"
#include "predict/model/few_shot.h"
#include "predict/query/op_query.h"

struct ft_known {
    ft__samples s;
};

ft_status ft__known_of_rows(ft_known **out, const ft__samples *s, const uint32_t *row,
                            size_t n, ft_error *err)
{
    ft_known *k = calloc(1, sizeof(*k));
    ft_status st;

    *out = NULL;
    if (!k)
        return ft_fail(err, FT_ENOMEM, 0, "measurements");
    st = ft__samples_subset(&k->s, s, row, n, err);
    if (st) {
        free(k);
        return st;
    }
    *out = k;
    return FT_OK;
}

ft_status ft_known_read(ft_known **out, ft_store *store, ft_error *err)
{
    ft_known *k = calloc(1, sizeof(*k));
    ft_status st;

    *out = NULL;
    if (!k)
        return ft_fail(err, FT_ENOMEM, 0, "measurements");
    st = ft__samples_read(&k->s, store, NULL, NULL, err);
    if (st) {
        free(k);
        return st;
    }
    *out = k;
    return FT_OK;
}

void ft_known_free(ft_known *k)
{
    if (k)
        ft__samples_free(&k->s);
    free(k);
}

static bool is_known(const ft__sample *v, ft__metric metric)
{
    return v->value[metric] > 0 && !ft__costs_nothing(&v->op);
}

size_t ft_known_count(const ft_known *k, const char *device)
{
    size_t n = 0;

    for (size_t i = 0; i < k->s.n; i++)
        n += is_known(&k->s.v[i], FT__METRIC_TIME) &&
             (!device || strcmp(k->s.dataset[k->s.v[i].dataset].device, device) == 0);
    return n;
}

static bool same(const char *asked, const char *known)
{
    return asked && strcmp(asked, known) == 0;
}

static size_t likeness(const ft__dataset *on, const ft__dataset *d)
{
    const size_t more_than_rows = (size_t)1 << 40;

    return more_than_rows * ((size_t)4 * same(on->policy, d->policy) +
                             (size_t)2 * same(on->engine, d->engine) +
                             (size_t)same(on->engine_version, d->engine_version)) +
           d->n;
}

const ft__dataset *ft__known_dataset(const ft_known *known, const ft__dataset *on)
{
    const ft__dataset *best = NULL;

    for (uint32_t i = 0; known && i < known->s.n_datasets; i++) {
        const ft__dataset *d = &known->s.dataset[i];

        if (strcmp(d->device, on->device) == 0 &&
            !ft__setting_differs(on->setting, d->setting) &&
            !ft__setting_differs(d->setting, on->setting) &&
            (!best || likeness(on, d) > likeness(on, best)))
            best = d;
    }
    return best;
}

bool ft__known_has(const ft_known *known, const ft__dataset *on, const ft_op *op)
{
    const ft__dataset *d = ft__known_dataset(known, on);
    const uint64_t hash = ft__op_hash(op);

    for (size_t i = 0; d && i < known->s.n; i++) {
        const ft__sample *v = &known->s.v[i];

        if (v->hash == hash && &known->s.dataset[v->dataset] == d &&
            is_known(v, FT__METRIC_TIME))
            return true;
    }
    return false;
}

/* ---- correcting ---- */

struct correcting {
    ft__metric metric;
    const ft__sample **of; /* the known samples that are used */
    uint32_t n;
    ft_op *op; /* theirs, then those asked */
    ft__answer *said;
    uint32_t *row;
    ft__samples s;
};

static void correcting_free(struct correcting *c)
{
    free(c->of);
    free(c->op);
    free(c->said);
    free(c->row);
    free(c->s.v);
    free(c->s.dataset);
}

static ft_status correcting_make(struct correcting *c, size_t n_known, size_t n,
                                 ft_error *err)
{
    size_t all = n_known + n + 1;

    c->of = calloc(all, sizeof(ft__sample *));
    c->op = calloc(all, sizeof(*c->op));
    c->said = calloc(all, sizeof(*c->said));
    c->row = calloc(all, sizeof(*c->row));
    return c->of && c->op && c->said && c->row
               ? FT_OK
               : ft_fail(err, FT_ENOMEM, 0, "%zu measurements", n_known);
}

/* Those of the dataset; where there are too many, every so manieth of them. */
static void take_known(struct correcting *c, const ft__samples *s, const ft__dataset *d)
{
    size_t n = 0, seen = 0, most;

    for (size_t i = 0; i < s->n; i++)
        n += &s->dataset[s->v[i].dataset] == d && is_known(&s->v[i], c->metric);
    most = n < FT__MOST_KNOWN ? n : FT__MOST_KNOWN;
    for (size_t i = 0; i < s->n; i++) {
        if (&s->dataset[s->v[i].dataset] != d || !is_known(&s->v[i], c->metric))
            continue;
        if (c->n < (seen + 1) * most / n) {
            c->of[c->n] = &s->v[i];
            c->op[c->n++] = s->v[i].op;
        }
        seen++;
    }
}

/* What was measured is known. */
static void take_measured(ft__answer *a, const struct correcting *c, const ft_op *op)
{
    const uint64_t hash = ft__op_hash(op);

    for (uint32_t i = 0; i < c->n; i++)
        if (c->of[i]->hash == hash)
            ft__answer_as_measured(a, c->of[i]->value[c->metric]);
}

static ft_status correct(struct correcting *c, ft__answer *said, const ft__family *f,
                         const ft__dataset *on, const ft_op *ops, size_t n,
                         ft_error *err)
{
    ft_status st = ft__family_ask(c->said, f, c->metric, on, c->op, NULL, c->n, err);

    if (st)
        return st;
    memcpy(c->op + c->n, ops, n * sizeof(*ops));
    memcpy(c->said + c->n, said, n * sizeof(*said));
    for (size_t i = 0; i < c->n + n; i++)
        c->row[i] = (uint32_t)i;
    st = ft__family_samples(&c->s, f, on, c->op, c->n + n, err);
    for (uint32_t i = 0; i < c->n && !st; i++)
        c->s.v[i].value[c->metric] = c->of[i]->value[c->metric];
    if (!st)
        st = ft__correct_answers(c->said, ft__family_learner(f, c->metric, on), &c->s,
                                 c->row, c->n, c->n + n, err);
    for (size_t i = 0; i < n && !st; i++) {
        if (!said[i].measured)
            said[i] = c->said[c->n + i];
        take_measured(&said[i], c, &ops[i]);
    }
    return st;
}

ft_status ft__known_correct(ft__answer *said, uint32_t *n_used, const ft__family *f,
                            ft__metric metric, const ft_known *known,
                            const ft__dataset *on, const ft_op *ops, size_t n,
                            ft_error *err)
{
    const ft__dataset *d = ft__known_dataset(known, on);
    struct correcting c = {.metric = metric};
    ft_status st;

    *n_used = 0;
    if (!d)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "what was measured of %s was so at other clocks or under "
                       "another cap: ask for those (--clock, --memory-clock, "
                       "--power-cap)",
                       on->device);
    st = correcting_make(&c, d->n, n, err);
    if (!st) {
        take_known(&c, &known->s, d);
        st = correct(&c, said, f, on, ops, n, err);
    }
    *n_used = st ? 0 : c.n;
    correcting_free(&c);
    return st;
}

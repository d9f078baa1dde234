/* What to measure next, and how good what is known is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "decide/choose.h"
#include "fleet/want.h"
#include "foretell/evaluate.h"

/* How far errors of one part say something of another's: the correlation of their
 * logarithms of time over work, over operations that both know. 0: of too few. */
static double alike(const ft__part *a, const ft__part *b)
{
    enum { LEAST = 16 };
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

    for (size_t i = 0; i < a->n_ops; i++) {
        const ft__wanted_op *o = ft__part_at(b, a->op[i].hash);
        const double u = a->op[i].log_ratio, v = o ? o->log_ratio : (double)NAN;

        if (!isnan(u + v)) {
            n++, x += u, y += v, xx += u * u, yy += v * v, xy += u * v;
        }
    }
    xx -= x * x / n, yy -= y * y / n, xy -= x * y / n;
    return n >= LEAST && xx > 0 && yy > 0 ? fmax(0, xy / sqrt(xx * yy)) : 0;
}

/* Of the deviation of each of p's operations, what other parts leave unknown of it. */
static void learn_of_others(double *left, const ft__part *p, const ft__part *all,
                            size_t n_parts)
{
    for (size_t i = 0; i < p->n_ops; i++)
        left[i] = 1;
    for (size_t k = 0; k < n_parts; k++) {
        const double r = &all[k] == p ? 0 : alike(p, &all[k]);
        const double unknown = sqrt(fmax(0, 1 - r * r));

        for (size_t i = 0; i < p->n_ops && r > 0; i++) {
            const ft__wanted_op *o = ft__part_at(&all[k], p->op[i].hash);

            if (o && (o->known || o->submitted))
                left[i] = fmin(left[i], unknown);
        }
    }
}

struct candidates {
    const ft__part *part;
    size_t *at; /* of the part's operations */
    size_t n;
};

/* Of operations as many as can be chosen among: those that are missing first, spread
 * over all. */
static void take_candidates(struct candidates *c)
{
    const ft__part *p = c->part;
    size_t of[2] = {0}, seen[2] = {0}, room[2];

    for (size_t i = 0; i < p->n_ops; i++)
        of[!ft__op_missing(&p->op[i])] += p->op[i].what == FT__OPERATION;
    room[0] = of[0] < FT__MOST_CHOOSABLE ? of[0] : FT__MOST_CHOOSABLE;
    room[1] = FT__MOST_CHOOSABLE - room[0];
    room[1] = of[1] < room[1] ? of[1] : room[1];
    for (size_t i = 0; i < p->n_ops; i++) {
        const size_t k = !ft__op_missing(&p->op[i]), s = seen[k];

        if (p->op[i].what != FT__OPERATION)
            continue;
        seen[k]++;
        if (s * room[k] / of[k] != (s + 1) * room[k] / of[k])
            c->at[c->n++] = i;
    }
}

static bool may_be_next(const void *user, size_t i)
{
    const struct candidates *c = user;

    return ft__op_missing(&c->part->op[c->at[i]]);
}

/* Which operations are hard to predict, by everything measured of this fleet's devices.
 * Without it the choice goes by what operations are. */
static void learn_errors(ft__choosing *c, const ft__part *all, size_t n_parts,
                         ft_store *store, const ft_fleet_options *opt)
{
    ft__samples s = {0};
    ft__buf where = {0};
    uint32_t *row = NULL;
    ft_error why;
    ft_status st;

    for (size_t k = 0; k < n_parts; k++)
        ft__buf_fmt(&where, "%s%s", k ? "," : "device=", all[k].kind->device);
    st = where.bad ? FT_ENOMEM : ft__samples_read(&s, store, NULL, where.s, &why);
    if (!st)
        st = ft__samples_know(&s, opt->data_dir, &why);
    if (!st)
        row = calloc(s.n + 1, sizeof(*row));
    for (size_t i = 0; row && i < s.n; i++)
        row[i] = (uint32_t)i;
    if (row && s.n >= FT__FIRST_LEARNED)
        (void)ft__choosing_learn(c, &s, row, s.n, 1, &why);
    free(row);
    ft__samples_free(&s);
    ft__buf_free(&where);
}

/* Networks and points are few, and each is wanted for itself: they come first. */
static double take_texts(size_t *chosen, size_t *n, const ft__part *p, double most_s,
                         size_t most)
{
    double sum_s = 0;

    *n = 0;
    for (size_t i = 0; i < p->n_ops && *n < most && sum_s < most_s; i++)
        if (p->op[i].what != FT__OPERATION && ft__op_missing(&p->op[i])) {
            chosen[(*n)++] = i;
            sum_s += p->op[i].cost_s;
        }
    return sum_s;
}

static void take_chosen(size_t *chosen, size_t *n, ft__choosing *choosing,
                        const struct candidates *c, double sum_s, double most_s,
                        size_t most)
{
    while (*n < most && sum_s < most_s) {
        const size_t i = ft__choosing_next(choosing, may_be_next, c);

        if (i == choosing->n)
            break;
        ft__choosing_know(choosing, i);
        chosen[(*n)++] = c->at[i];
        sum_s += c->part->op[c->at[i]].cost_s;
    }
}

ft_status ft__fleet_choose(size_t *chosen, size_t *n, const ft__part *p,
                           const ft__part *all, size_t n_parts, ft_store *store,
                           double most_s, size_t most, bool operations,
                           const ft_fleet_options *opt, ft_error *err)
{
    struct candidates c = {.part = p, .at = calloc(p->n_ops + 1, sizeof(*c.at))};
    double *left = calloc(p->n_ops + 1, sizeof(*left));
    double *weight = calloc(FT__MOST_CHOOSABLE, sizeof(*weight));
    ft_op *ops = calloc(FT__MOST_CHOOSABLE, sizeof(*ops));
    ft__choosing choosing = {0};
    const double texts_s = take_texts(chosen, n, p, most_s, most);
    ft_status st = FT_OK;

    if (!c.at || !left || !weight || !ops) {
        st = ft_fail(err, FT_ENOMEM, 0, "%zu operations", p->n_ops);
        goto done;
    }
    if (operations)
        take_candidates(&c);
    if (!c.n)
        goto done;
    learn_of_others(left, p, all, n_parts);
    for (size_t i = 0; i < c.n; i++) {
        ops[i] = p->op[c.at[i]].op;
        weight[i] = p->op[c.at[i]].count * left[c.at[i]];
    }
    st = ft__choosing_make(&choosing, ops, weight, c.n, FT_CRITERION_ACTIVE, 1, err);
    for (size_t i = 0; i < c.n && !st; i++)
        if (!may_be_next(&c, i))
            ft__choosing_know(&choosing, i);
    if (!st) {
        learn_errors(&choosing, all, n_parts, store, opt);
        take_chosen(chosen, n, &choosing, &c, texts_s, most_s, most);
    }
    ft__choosing_free(&choosing);
done:
    free(c.at);
    free(left);
    free(weight);
    free(ops);
    return st;
}

ft_status ft__part_judge(ft__part *p, ft_store *store, const ft_fleet_options *opt,
                         ft_error *err)
{
    enum { FIRST = 40 };
    ft_evaluate_options how = {.protocol = FT_PROTOCOL_FOLDS,
                               .data_dir = opt->data_dir,
                               .seed = 1,
                               .threads = 1};
    size_t known = 0;
    ft_evaluation e;
    char where[512];
    ft_status st;

    for (size_t i = 0; i < p->n_ops; i++)
        known += p->op[i].known && p->op[i].what == FT__OPERATION;
    if (known < FIRST || known < p->judged + p->judged / 4 || known == p->judged)
        return FT_OK;
    p->judged = known;
    snprintf(where, sizeof(where), "device=%s engine=%s %s", p->kind->device, p->engine,
             *p->held ? p->held : p->setting);
    how.where = where;
    st = ft_evaluate(&e, store, NULL, &how, err);
    if (st)
        return st == FT_ENOTFOUND ? FT_OK : st;
    p->error = e.all.learned.mape;
    ft_evaluation_free(&e);
    return FT_OK;
}

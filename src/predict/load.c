#include "predict/load.h"

#include <math.h>
#include <stdlib.h>

/* ---- one part ---- */

/* Estimates from specifications of what is asked of one part: its forward form, its
 * backward one, that of the weights alone, and forward and backward together. */
struct bare {
    double forward, backward, weights_only, both;
};

static double bare_of(const ft__prices *p, const ft_op *op, const ft__dataset *on,
                      ft_phase phase, uint8_t wrt)
{
    ft_op form = *op;
    double t;

    form.phase = phase;
    form.wrt = wrt;
    t = ft__prices_bare(p, &form, on);
    return isfinite(t) ? t : 0;
}

static void find_bare(struct bare *b, const ft__prices *p, const ft__piece *part,
                      const ft__dataset *on)
{
    const ft_op *op = &part->op;

    *b = (struct bare){0};
    if (op->phase != FT_PHASE_FORWARD) {
        b->forward = bare_of(p, op, on, op->phase, 0);
        return;
    }
    b->forward = bare_of(p, op, on, FT_PHASE_FORWARD, 0);
    b->backward = bare_of(p, op, on, FT_PHASE_BACKWARD, 0);
    if (part->weights_only > 0)
        b->weights_only = bare_of(p, op, on, FT_PHASE_BACKWARD, FT_WRT_WEIGHTS);
    b->both = b->forward + b->backward;
}

static ft__task_group group_of(const ft__prices *p, const ft__piece *part)
{
    if (part->relaid && !p->relaid[part->op.kind])
        return FT__TASK_RELAID;
    switch (ft_kind_class(part->op.kind)) {
    case FT_CLASS_CONV: return FT__TASK_CONV;
    case FT_CLASS_MATMUL: return FT__TASK_MATMUL;
    default: return FT__TASK_OTHER;
    }
}

static double runs_of(const ft__piece *part)
{
    return part->count > 0 ? part->count : part->backward + part->weights_only;
}

static void begin(ft__task *w, const ft__prices *p, const struct bare *b,
                  const ft__piece *part)
{
    const double runs = runs_of(part);

    *w = (ft__task){
        .group = group_of(p, part),
        .count = runs,
        .launches = part->op.phase == FT_PHASE_OPTIMIZER
                        ? 0
                        : (part->count + part->backward + part->weights_only) / runs,
        .bare_s = (part->count * b->forward + part->backward * b->backward +
                   part->weights_only * b->weights_only) /
                  runs,
        .alone_s = NAN,
        .power_w = NAN};
}

static bool knows(const ft__prices *p, ft_op *form, const ft_op *op, ft_phase phase)
{
    *form = *op;
    form->phase = phase;
    return ft__prices_know(p, form);
}

/* The form of a part that is known, and what share of its time one run of the part
 * takes; false: none is, or nothing moves and nothing is computed. */
static bool find_form(ft_op *form, double *share, const ft__prices *p,
                      const ft__piece *part, const ft__task *w, const struct bare *b)
{
    const bool train = part->backward + part->weights_only > 0;

    if (part->op.phase != FT_PHASE_FORWARD)
        return false;
    if (train && knows(p, form, &part->op, FT_PHASE_FORWARD_BACKWARD))
        *share = fmin(1, w->bare_s / b->both);
    else if (knows(p, form, &part->op, FT_PHASE_FORWARD))
        *share = w->bare_s / b->forward;
    else if (knows(p, form, &part->op, FT_PHASE_FORWARD_BACKWARD))
        *share = w->bare_s / b->both;
    else
        return false;
    return isfinite(*share);
}

/* ---- all parts ---- */

struct pricing {
    ft__task *task;
    ft_op *form;   /* known forms, in the order of their parts */
    double *share; /* of each part; NaN: its form is not known */
    ft__price *price;
};

static void pricing_free(struct pricing *w)
{
    free(w->task);
    free(w->form);
    free(w->share);
    free(w->price);
}

static ft_status pricing_make(struct pricing *w, size_t n, ft_error *err)
{
    *w = (struct pricing){.task = calloc(n + 1, sizeof(*w->task)),
                          .form = calloc(n + 1, sizeof(*w->form)),
                          .share = calloc(n + 1, sizeof(*w->share)),
                          .price = calloc(n + 1, sizeof(*w->price))};
    return w->task && w->form && w->share && w->price
               ? FT_OK
               : ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
}

static size_t find_forms(struct pricing *w, const ft__prices *p, const ft__piece *part,
                         size_t n, const ft__dataset *on)
{
    size_t known = 0;

    for (size_t i = 0; i < n; i++) {
        struct bare b;

        find_bare(&b, p, &part[i], on);
        begin(&w->task[i], p, &b, &part[i]);
        if (find_form(&w->form[known], &w->share[i], p, &part[i], &w->task[i], &b))
            known++;
        else
            w->share[i] = NAN;
    }
    return known;
}

static void take_prices(struct pricing *w, ft__sums *sums, const ft__prices *p,
                        size_t n)
{
    size_t at = 0;

    *sums = (ft__sums){0};
    for (size_t i = 0; i < n; i++) {
        ft__task *t = &w->task[i];

        sums->launches += t->count * t->launches;
        if (isnan(w->share[i]))
            continue;
        t->alone_s = w->share[i] * w->price[at].time_s;
        t->power_w = w->price[at].power_w;
        t->floor_s = w->share[i] * p->floor_s[w->form[at].phase][w->form[at].kind];
        at++;
        sums->time_s += t->count * t->alone_s;
        sums->energy_j += t->count * t->alone_s * t->power_w;
    }
}

static double cap_of(const ft__dataset *on, const ft_op *op)
{
    ft__chip chip;

    ft__chip_make(&chip, ft_device_get(on->file), on->setting, on->policy, op);
    return chip.power_w > 0 ? chip.power_w : INFINITY;
}

ft_status ft__load_price(ft__load *out, ft__sums *sums, const ft__prices *p,
                         const ft__piece *part, size_t n, const ft__dataset *on,
                         const char *session, bool blind, ft_error *err)
{
    struct pricing w;
    ft_status st = pricing_make(&w, n, err);
    size_t known;

    if (!st) {
        known = find_forms(&w, p, part, n, on);
        st = ft__prices_ask(p, w.price, w.form, known, on, session, blind, err);
    }
    if (!st) {
        take_prices(&w, sums, p, n);
        ft__schedule_load(out, w.task, n);
        out->typical_w = p->busy_w;
        out->cap_w = n ? cap_of(on, &part[0].op) : INFINITY;
    }
    pricing_free(&w);
    return st;
}

/* What a predictor says of itself. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "predict/family.h"
#include "predict/placed.h"
#include "predict/predictor.h"

static uint32_t count_parts(const ft_predictor *p)
{
    uint32_t n = 0;

    for (int m = 0; m < FT__N_METRICS; m++)
        for (int u = 0; u < 2; u++)
            n += p->family->learner[m][u] ? p->family->learner[m][u]->n_parts : 0;
    return n;
}

static uint32_t count_templates(const ft_predictor *p)
{
    size_t n = 0;

    for (uint32_t i = 0; i < p->family->n_datasets; i++)
        n += p->family->templates[i].n;
    return (uint32_t)n;
}

void ft_predictor_get_info(const ft_predictor *p, ft_predictor_info *out)
{
    const ft__info_image *i = p->info;

    if (p->family) {
        *out = (ft_predictor_info){.device = "",
                                   .setting = "",
                                   .engine = "",
                                   .engine_version = "",
                                   .peak_flops = NAN,
                                   .bandwidth = NAN,
                                   .launch_s = NAN,
                                   .context_bytes = NAN,
                                   .n_regressors = count_parts(p),
                                   .n_measured = count_templates(p),
                                   .n_datasets =
                                       p->family->n_datasets + p->family->clocked.n,
                                   .n_schedules = p->family->n_placed};
        return;
    }
    *out = (ft_predictor_info){.device = i->device,
                               .setting = i->setting,
                               .engine = i->engine,
                               .engine_version = i->engine_version,
                               .policy = i->policy,
                               .peak_flops = i->roof.peak_flops,
                               .bandwidth = i->roof.bandwidth[i->roof.n_points - 1],
                               .launch_s = i->roof.launch_s,
                               .context_bytes = i->context_bytes,
                               .n_regressors = p->n_regressors,
                               .n_measured = p->n_measured};
}

void ft_predictor_get_dataset(const ft_predictor *p, uint32_t i,
                              ft_predictor_dataset *out)
{
    const ft__family *f = p->family;
    const ft__dataset *d = &f->dataset[i];

    if (i >= f->n_datasets) {
        const ft__clocked *c = &f->clocked.v[i - f->n_datasets];

        *out = (ft_predictor_dataset){.device = c->device,
                                      .setting = "measured whole, at clocks",
                                      .engine = "",
                                      .engine_version = "",
                                      .policy = "",
                                      .n = c->n};
        return;
    }
    *out = (ft_predictor_dataset){.device = d->device,
                                  .setting = d->setting,
                                  .engine = d->engine,
                                  .engine_version = d->engine_version,
                                  .policy = d->policy,
                                  .n = d->n};
}

void ft_predictor_get_schedule(const ft_predictor *p, uint32_t i,
                               ft_predictor_schedule *out)
{
    const ft__placed *k = &p->family->placed[i];
    const ft__schedule *s = &k->schedule;

    *out = (ft_predictor_schedule){.device = k->device,
                                   .policy = k->policy,
                                   .engine = k->engine,
                                   .phase = k->phase,
                                   .n = k->n,
                                   .convolutions = s->scale[FT__TASK_CONV],
                                   .products = s->scale[FT__TASK_MATMUL],
                                   .others = s->scale[FT__TASK_OTHER],
                                   .relaid = s->scale[FT__TASK_RELAID],
                                   .bounded = s->bounded,
                                   .launch_s = s->launch_s,
                                   .idle_w = s->idle_w,
                                   .dynamic = s->dynamic,
                                   .error = k->error,
                                   .without = k->without,
                                   .interval_low = exp(k->time_low),
                                   .interval_high = exp(k->time_high)};
}

void ft__errors_put(double v[FT__N_ERRORS], const ft_errors *e)
{
    const double all[FT__N_ERRORS] = {
        (double)e->n, e->mape, e->median_ape,  e->p90_ape, e->within_10, e->max_ape,
        e->bias,      e->r2,   e->adjusted_r2, e->mae,     e->median_ae, e->max_ae};

    memcpy(v, all, sizeof(all));
}

ft_errors ft__errors_get(const double v[FT__N_ERRORS])
{
    /* A damaged file may say anything; NaN fails both comparisons. */
    return (ft_errors){.n = v[0] >= 0 && v[0] < 0x1p53 ? (size_t)v[0] : 0,
                       .mape = v[1],
                       .median_ape = v[2],
                       .p90_ape = v[3],
                       .within_10 = v[4],
                       .max_ape = v[5],
                       .bias = v[6],
                       .r2 = v[7],
                       .adjusted_r2 = v[8],
                       .mae = v[9],
                       .median_ae = v[10],
                       .max_ae = v[11]};
}

/* Regressor i of all learners, one behind the other. */
static void family_regressor(const ft__family *f, uint32_t i, ft_regressor_info *out)
{
    const ft__learner *l = f->learner[0][0];
    const ft__part *p;

    for (int m = 0; m < 2 * FT__N_METRICS; m++) {
        l = f->learner[m / 2][m % 2];
        if (l && i < l->n_parts)
            break;
        i -= l ? l->n_parts : 0;
    }
    p = &l->part[i];
    *out = (ft_regressor_info){.kind = ft__part_name(p),
                               .metric = ft__metric_name(l->opt.metric),
                               .phase = ft_phase_name(p->phase),
                               .unseen = l->opt.unseen,
                               .choice = p->fit.choice,
                               .forest = p->learned,
                               .constant = p->constant,
                               .roofline = p->physics,
                               .interval_low = exp(p->fit.low * p->fit.typical),
                               .interval_high = exp(p->fit.high * p->fit.typical)};
}

void ft_predictor_regressor(const ft_predictor *p, uint32_t i, ft_regressor_info *out)
{
    const ft__regressor_image *r;

    if (p->family) {
        family_regressor(p->family, i, out);
        return;
    }
    r = p->regressor[i].image;
    *out = (ft_regressor_info){
        .kind = r->kind,
        .metric = r->metric,
        .phase = "",
        .choice = p->regressor[i].mixture ? p->regressor[i].mixture->choice : "forest",
        .forest = ft__errors_get(r->forest),
        .constant = ft__errors_get(r->constant),
        .roofline = ft__errors_get(r->roofline),
        .interval_low = exp(r->interval_low * r->typical_spread),
        .interval_high = exp(r->interval_high * r->typical_spread)};
}

/* What a predictor says of itself. */
#include <math.h>
#include <string.h>

#include "foretell/names.h"
#include "predict/file/predictor.h"
#include "predict/model/family.h"
#include "predict/query/estimate.h"
#include "predict/schedule/networks_only.h"
#include "predict/schedule/schedule.h"

static uint32_t count_regressors(const ft_predictor *p)
{
    uint32_t n = 0;

    for (int m = 0; m < FT__N_METRICS; m++)
        for (int u = 0; u < 2; u++)
            n += p->family->model_set[m][u] ? p->family->model_set[m][u]->n_regressors
                                            : 0;
    return n;
}

static uint32_t count_kernels(const ft_predictor *p)
{
    const ft__kernel_models *k = p->family->kernels;

    return k ? (k->of[0].fit.n_rows > 0 ? 1u : 0u) + (k->of[1].fit.n_rows > 0) : 0;
}

static uint64_t count_launches(const ft__kernel_models *k)
{
    uint64_t n = 0;

    for (uint32_t i = 0; k && i < k->devices.n; i++)
        n += k->n_of[i];
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
    const ft__dataset *d = ft__family_machine(p->family);
    const ft__kernel_models *kernels = p->family->kernels;

    *out = (ft_predictor_info){.device = "",
                               .setting = "",
                               .engine = "",
                               .engine_version = "",
                               .policy = FT_POLICY_STRIDED_VIEWS,
                               .peak_flops = NAN,
                               .bandwidth = NAN,
                               .launch_s = NAN,
                               .context_bytes = NAN,
                               .n_regressors = count_regressors(p) + count_kernels(p),
                               .n_measured = count_templates(p),
                               .n_datasets = p->family->n_datasets +
                                             p->family->n_alone + p->family->clocked.n +
                                             (kernels ? kernels->devices.n : 0),
                               .n_launches = count_launches(kernels),
                               .n_schedules = p->family->n_device_schedules,
                               .unseen_part = NAN};
    if (p->family->unseen) {
        out->n_chips = (uint32_t)p->family->unseen->chips;
        out->unseen_part = p->family->unseen->part;
    }
    if (!d)
        return;
    out->device = d->device;
    out->setting = d->setting;
    out->engine = d->engine;
    out->engine_version = d->engine_version;
    out->policy = d->lowering;
    out->context_bytes = d->context_bytes;
    if (!d->roof)
        return;
    out->peak_flops = d->roof->peak_flops;
    out->bandwidth = d->roof->bandwidth[d->roof->n_points - 1];
    out->launch_s = d->roof->launch_s;
}

static void describe_alone(ft_predictor_dataset *out, const ft__alone *a)
{
    *out = (ft_predictor_dataset){.device = a->device,
                                  .setting = a->setting,
                                  .engine = a->engine,
                                  .engine_version = a->version,
                                  .policy = a->policy,
                                  .n = a->n};
}

static void describe_kernels(ft_predictor_dataset *out, const ft__kernel_models *k,
                             uint32_t i)
{
    *out = (ft_predictor_dataset){.device = k->devices.v[i],
                                  .setting = "kernels in PTX",
                                  .engine = "",
                                  .engine_version = "",
                                  .policy = "",
                                  .n = k->n_of[i]};
}

static void describe_clocked(ft_predictor_dataset *out, const ft__clocked *c)
{
    *out = (ft_predictor_dataset){.device = c->device,
                                  .setting = "measured whole, at clocks",
                                  .engine = "",
                                  .engine_version = "",
                                  .policy = "",
                                  .n = c->n};
}

void ft_predictor_get_dataset(const ft_predictor *p, uint32_t i,
                              ft_predictor_dataset *out)
{
    const ft__family *f = p->family;
    const ft__dataset *d = &f->dataset[i];

    if (i >= f->n_datasets) {
        i -= f->n_datasets;
        if (i < f->n_alone)
            describe_alone(out, &f->alone[i]);
        else if (i - f->n_alone < f->clocked.n)
            describe_clocked(out, &f->clocked.v[i - f->n_alone]);
        else
            describe_kernels(out, f->kernels, i - f->n_alone - f->clocked.n);
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
    const ft__device_schedule *k = &p->family->device_schedule[i];
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

static void describe_kernel_regressor(ft_regressor_info *out,
                                      const ft__kernel_models *k, uint32_t i)
{
    const uint32_t which = i + (k->of[0].fit.n_rows == 0);
    const ft__kernel_regressor *r = &k->of[which];

    *out = (ft_regressor_info){.kind = "kernel",
                               .metric = ft__metric_name(FT__METRIC_TIME),
                               .phase = "forward",
                               .unseen = which == FT__OF_DEVICES,
                               .choice = r->fit.choice,
                               .forest = r->learned,
                               .constant = r->constant,
                               .roofline = r->physics,
                               .interval_low = exp(r->fit.low * r->fit.typical),
                               .interval_high = exp(r->fit.high * r->fit.typical)};
}

/* Regressors are numbered model set by model set; kernels come last. */
void ft_predictor_regressor(const ft_predictor *p, uint32_t i, ft_regressor_info *out)
{
    const ft__family *f = p->family;
    const ft__model_set *l = f->model_set[0][0];
    const ft__regressor *part;

    if (i >= count_regressors(p)) {
        describe_kernel_regressor(out, f->kernels, i - count_regressors(p));
        return;
    }
    for (int m = 0; m < 2 * FT__N_METRICS; m++) {
        l = f->model_set[m / 2][m % 2];
        if (l && i < l->n_regressors)
            break;
        i -= l ? l->n_regressors : 0;
    }
    part = &l->part[i];
    *out =
        (ft_regressor_info){.kind = ft__regressor_name(part),
                            .metric = ft__metric_name(l->opt.metric),
                            .phase = ft_name(FT_NAMES_PHASE, part->phase),
                            .unseen = l->opt.unseen,
                            .choice = part->fit.choice,
                            .forest = part->learned,
                            .constant = part->constant,
                            .roofline = part->physics,
                            .interval_low = exp(part->fit.low * part->fit.typical),
                            .interval_high = exp(part->fit.high * part->fit.typical)};
}

/* Is there a regressor of its kind, from elements as wide as its own? */
static bool covers(const ft__model_set *l, const ft_op *op)
{
    float width = (float)ft_dtype_bits(op->dtype);

    for (uint32_t i = 0; i < l->n_regressors; i++) {
        const ft__regressor *p = &l->part[i];

        if (p->scope != FT__SCOPE_ALL && ft__regressor_has(p, op) &&
            p->least[FT__COLUMN_BITS] <= width && width <= p->most[FT__COLUMN_BITS])
            return true;
    }
    return false;
}

bool ft__predictor_serves(const ft_predictor *p, const ft_device *device)
{
    const ft__family *f = p->family;
    uint32_t n_gpus = 0;

    for (uint32_t i = 0; i < f->n_datasets; i++)
        n_gpus += strcmp(f->templates[i].hardware.type, "gpu") == 0;
    return !device || strcmp(ft_device_get(device)->type, "gpu") == 0 || !n_gpus ||
           n_gpus < f->n_datasets;
}

double ft__predictor_covers(const ft_predictor *p, const char *device,
                            const ft_graph *g)
{
    const ft__device_use on = {.name = device};
    const ft__model_set *l = ft__family_any(p->family, FT__METRIC_TIME);
    uint32_t n = 0, learned = 0;

    if (ft__graph_is_workload(g))
        return ft__clocked_covers(&p->family->clocked, g);
    if (ft__alone_find(p->family, &on, g))
        return 1;
    for (uint32_t i = 0; l && i < g->n_ops; i++) {
        ft_op op = g->op[i];

        if (ft__costs_nothing(&op))
            continue;
        n++;
        op.phase = FT_PHASE_FORWARD;
        op.wrt = 0;
        learned += covers(l, &op);
    }
    return n ? (double)learned / n : 0;
}

/* What was learned of several devices: looked up, and asked about operations. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op_inside.h"
#include "physics/setting.h"
#include "predict/model/family.h"
#include "predict/model/regressor.h"

ft_status ft__family_samples(ft__samples *s, const ft__family *f, const ft__dataset *on,
                             uint32_t index, const ft_op *ops, size_t n, ft_error *err)
{
    *s = (ft__samples){.n = n, .n_datasets = f->n_datasets + 1};
    s->v = calloc(n + 1, sizeof(*s->v));
    s->dataset = calloc(s->n_datasets, sizeof(*s->dataset));
    if (!s->v || !s->dataset)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    s->dataset[index] = *on;
    if (!on->roof && index < f->n_datasets)
        s->dataset[index].roof = f->dataset[index].roof;
    for (size_t i = 0; i < n; i++)
        s->v[i] =
            (ft__sample){.op = ops[i], .hash = ft__op_hash(&ops[i]), .dataset = index};
    return FT_OK;
}

/* Refuses a device whose file lacks facts that transfer needs. */
static ft_status check_device(const ft__dataset *on, const ft_op *ops, size_t n,
                              ft_error *err)
{
    const char *lacks;
    ft__hardware_spec chip;

    if (!on->file)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "%s: was not measured, and no device file tells of it",
                       on->device);
    if (n == 0)
        return FT_OK;
    /* What is wanted of a chip is so whatever it computes. */
    ft__hardware_spec_make(&chip, ft_device_get(on->file), on->setting, on->policy,
                           &ops[0]);
    lacks = ft__hardware_spec_lacks(&chip);
    return lacks ? ft_fail(err, FT_ENOTFOUND, 0,
                           "%s: was not measured, and its %s is not known", on->device,
                           lacks)
                 : FT_OK;
}

bool ft__family_holds(const ft__family *f, uint32_t dataset, const ft_op *op)
{
    return dataset < f->n_datasets &&
           !isnan(ft__templates_ratio(&f->templates[dataset], ft__op_hash(op)));
}

/* NVIDIA's compute capability says which architecture it is: equal or not, no more. */
static bool same_architecture(const ft__hardware *a, const ft__hardware *b)
{
    return *a->type && strcmp(a->vendor, b->vendor) == 0 &&
           (strcmp(a->chip, b->chip) == 0 || a->capability == b->capability);
}

/* Does dataset i hold measurements of the architecture, by the engine? */
static bool is_sibling(const ft__family *f, uint32_t i, const ft__hardware *own,
                       const ft__dataset *on)
{
    return f->templates[i].n && same_architecture(own, &f->templates[i].hardware) &&
           ft__is_named(on->engine, f->dataset[i].engine);
}

/* Another version of an engine has other kernels where they take more or less than the
 * estimate by more than that: they say nothing of the chip. Decided on an H200. */
static const double other_kernel_factor = 2;

static bool is_of_version(double ratio, const ft__dataset *d, const ft__dataset *on)
{
    return fabs(ratio) > log(other_kernel_factor) && on->engine_version &&
           strcmp(on->engine_version, d->engine_version) != 0;
}

/* Products of another version of the library have hardly anything in common: of a Titan
 * X (Pascal) with other Pascals 0.1 to 0.3, of these with each other 0.8. */
static bool is_other_product(const ft_op *op, bool library)
{
    return !library && (op->kind == FT_KIND_linear || op->kind == FT_KIND_matmul);
}

/* Of the siblings that measured the operation, one in the same run mode if there is
 * one, then by the same library, and then the one that measured most; NaN: none did.
 * *chip: has it the same chip? */
static double ratio_of_sibling(bool *chip, const ft__family *f, const ft__hardware *own,
                               const ft__dataset *on, const ft__sample *asked)
{
    int best_alike = 0;
    double best = NAN;
    size_t most = 0;

    for (uint32_t i = 0; i < f->n_datasets; i++) {
        const ft__dataset *d = &f->dataset[i];
        const double ratio = is_sibling(f, i, own, on)
                                 ? ft__templates_ratio(&f->templates[i], asked->hash)
                                 : NAN;
        bool library;
        int alike;

        if (isnan(ratio) || is_of_version(ratio, d, on))
            continue;
        library = ft__is_same_library(on->setting, d->setting);
        alike = 2 * ft__is_same_run_mode(on->setting, d->setting) + library;
        if (is_other_product(&asked->op, library) || alike < best_alike ||
            (alike == best_alike && f->templates[i].n <= most))
            continue;
        best = ratio;
        best_alike = alike;
        most = f->templates[i].n;
        *chip = strcmp(own->chip, f->templates[i].hardware.chip) == 0;
    }
    return best;
}

/* Numbers the devices of the datasets. */
static void number_devices(uint32_t *out, const ft__family *f)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->n_datasets; i++) {
        uint32_t first = 0;

        while (!ft__is_named(f->dataset[first].device, f->dataset[i].device))
            first++;
        out[i] = first < i ? out[first] : n++;
    }
}

/* The mean over datasets of one device. */
static void take_others(double *out, const ft__family *f, const uint32_t *device,
                        const ft__dataset *on, uint64_t hash)
{
    uint32_t n_of[FT__MOST_OTHERS] = {0};

    for (uint32_t d = 0; d < FT__MOST_OTHERS; d++)
        out[d] = NAN;
    for (uint32_t i = 0; i < f->n_datasets; i++) {
        const uint32_t d = device[i];
        double ratio;

        if (d >= FT__MOST_OTHERS || ft__is_named(on->device, f->dataset[i].device))
            continue;
        ratio = ft__templates_ratio(&f->templates[i], hash);
        if (isnan(ratio) || !ft__is_same_run_mode(on->setting, f->dataset[i].setting))
            continue;
        out[d] = n_of[d] ? out[d] + (ratio - out[d]) / (n_of[d] + 1) : ratio;
        n_of[d]++;
    }
}

ft_status ft__family_others(double *out, const ft__family *f, const ft__dataset *on,
                            const ft_op *ops, size_t n, ft_error *err)
{
    uint32_t *device = calloc(f->n_datasets + 1u, sizeof(*device));
    ft_status st = FT_OK;

    if (!device)
        return ft_fail(err, FT_ENOMEM, 0, "%u datasets", f->n_datasets);
    number_devices(device, f);
    for (uint32_t i = 0; i < f->n_datasets && !st; i++)
        st = ft__templates_check(&f->templates[i], err);
    for (size_t i = 0; i < n && !st; i++)
        take_others(out + i * FT__MOST_OTHERS, f, device, on, ft__op_hash(&ops[i]));
    free(device);
    return st;
}

/* aside_s: what a setting adds there and is no part of the operation. error: of what
 * was measured; below 0: another device did. */
static void take_over(ft__op_answer *a, double ratio, double aside_s, double error)
{
    double value = (a->base - aside_s) * exp(ratio) + aside_s;
    double change = value / a->value;

    a->value = value;
    a->low *= change;
    a->high *= change;
    if (error >= 0)
        ft__answer_as_measured(a, value, error);
}

/* Does dataset i hold measurements of the device as it is asked about, by whichever
 * engine? */
static bool is_alike(const ft__family *f, uint32_t i, const ft__dataset *on)
{
    const ft__dataset *d = &f->dataset[i];

    return f->templates[i].n && ft__is_named(on->device, d->device) &&
           ft__is_named(on->policy, d->policy) &&
           ft__is_same_operating_point(on->setting, d->setting);
}

/* Of an operation that the likest dataset lacks: the mean of what other engines took,
 * between the least and the most of them. */
static void take_other_engines(ft__op_answer *a, const ft__family *f, const bool *alike,
                               uint64_t hash, double aside_s)
{
    double sum = 0, least = INFINITY, most = -INFINITY;
    int n = 0;

    for (uint32_t i = 0; i < f->n_datasets; i++) {
        double ratio = alike[i] ? ft__templates_ratio(&f->templates[i], hash) : NAN;

        if (isnan(ratio))
            continue;
        sum += ratio;
        least = fmin(least, ratio);
        most = fmax(most, ratio);
        n++;
    }
    if (n == 0)
        return;
    take_over(a, sum / n, aside_s, 0);
    a->low *= exp(least - sum / n);
    a->high *= exp(most - sum / n);
}

/* Datasets whose measured operations are used as templates. */
struct templates {
    uint32_t own;  /* dataset; f->n_datasets: none is of the device */
    bool siblings; /* those of its architecture */
    bool *alike;   /* those of other engines on the device, as it is asked about */
};

static ft_status open_templates(struct templates *t, const ft__family *f,
                                const ft__dataset *on, uint32_t index, ft_error *err)
{
    const ft__hardware own = ft__hardware_of(on->file);
    ft_status st = FT_OK;

    t->own = index;
    t->siblings = t->own == f->n_datasets && !ft__family_knows(f, FT__METRIC_TIME, on);
    t->alike = calloc(f->n_datasets + 1u, sizeof(*t->alike));
    if (!t->alike)
        return ft_fail(err, FT_ENOMEM, 0, "%u datasets", f->n_datasets);
    for (uint32_t i = 0; i < f->n_datasets && !st; i++) {
        t->alike[i] = t->own < f->n_datasets && on->any_engine && is_alike(f, i, on);
        if (t->siblings ? is_sibling(f, i, &own, on) : i == t->own || t->alike[i])
            st = ft__templates_check(&f->templates[i], err);
    }
    return st;
}

static ft__others_ratio ratio_of_others(const ft__family *f, const double *weight,
                                        const bool *library, const ft__sample *asked)
{
    double sum = 0, weights = 0, most = 0;

    for (uint32_t i = 0; i < f->n_datasets; i++) {
        const double w = is_other_product(&asked->op, library[i]) ? 0 : weight[i];
        const double ratio =
            w > 0 ? ft__templates_ratio(&f->templates[i], asked->hash) : (double)NAN;

        if (isnan(ratio))
            continue;
        sum += w * ratio;
        weights += w;
        most = fmax(most, w);
    }
    return (ft__others_ratio){.mean = sum / weights, .weight = most};
}

static uint32_t chips_with_weight(const ft__family *f, const double *weight)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->n_datasets; i++) {
        uint32_t first = 0;

        while (!(weight[first] > 0) || strcmp(f->templates[first].hardware.chip,
                                              f->templates[i].hardware.chip) != 0)
            if (++first > i)
                break;
        n += first == i;
    }
    return n;
}

/* What other chips took, on a device that was not measured; a sibling's own time
 * replaces it. */
static ft_status use_others(ft__op_answer *out, const ft__family *f,
                            const ft__model_set *l, const ft__dataset *on,
                            const ft__samples *s, ft_error *err)
{
    const ft__hardware own = ft__hardware_of(on->file);
    const ft__chip_setting asked = ft__setting_read(on->setting);
    double *weight = calloc(f->n_datasets + 1u, sizeof(*weight));
    bool *library = calloc(f->n_datasets + 1u, sizeof(*library));
    ft__others_ratio *ratio = calloc(s->n + 1, sizeof(*ratio));
    ft_status st = weight && library && ratio
                       ? FT_OK
                       : ft_fail(err, FT_ENOMEM, 0, "%zu operations", s->n);

    for (uint32_t i = 0; i < f->n_datasets && !st; i++) {
        ft__chip_setting set;

        if (!ft__is_named(on->engine, f->dataset[i].engine))
            continue;
        set = ft__setting_read(f->dataset[i].setting);
        if (set.graph == asked.graph)
            weight[i] = ft__others_weight(&own, &f->templates[i].hardware);
        library[i] = set.cuda == asked.cuda;
        if (weight[i] > 0)
            st = ft__templates_check(&f->templates[i], err);
    }
    for (size_t i = 0; i < s->n && !st; i++)
        ratio[i] = ratio_of_others(f, weight, library, &s->v[i]);
    if (!st)
        ft__others_take(out, l, s, ratio, chips_with_weight(f, weight) < 3);
    free(weight);
    free(library);
    free(ratio);
    return st;
}

/* Which operations will be answered as they were measured on the device itself. */
static void find_measured(bool *out, const struct templates *t, const ft__family *f,
                          const ft__samples *s)
{
    for (size_t i = 0; i < s->n && t->own < f->n_datasets; i++)
        out[i] = !isnan(ft__templates_ratio(&f->templates[t->own], s->v[i].hash));
}

/* What was measured on the same chip misses an operation of a device by no more.
 * Chosen, not measured: few devices have one. */
static const double reach_of_sibling = 1.3;

static void use_templates(ft__op_answer *out, const struct templates *t,
                          const ft__family *f, const ft__dataset *on,
                          const ft__samples *s)
{
    const ft__hardware hardware = ft__hardware_of(on->file);
    const bool own = t->own < f->n_datasets;

    for (size_t i = 0; i < s->n && (own || t->siblings); i++) {
        const uint64_t hash = s->v[i].hash;
        bool chip = false;
        /* What the host takes of an operation is no affair of the chip. */
        const double busy = ft__device_share(&s->terms[i]);
        const double ratio =
            own ? ft__templates_ratio(&f->templates[t->own], hash)
                : busy * ratio_of_sibling(&chip, f, &hardware, on, &s->v[i]);

        if (!isnan(ratio)) {
            take_over(&out[i], ratio, s->terms[i].aside_s,
                      own ? ft__templates_error(&f->templates[t->own], hash) : -1);
            if (chip)
                ft__family_bound(&out[i], 1, 1, reach_of_sibling);
        } else if (own && on->any_engine)
            take_other_engines(&out[i], f, t->alike, hash, s->terms[i].aside_s);
    }
}

const ft__model_set *ft__family_model_set(const ft__family *f, ft__metric metric,
                                          const ft__dataset *on)
{
    /* What one device draws, as a share of its TDP, says less of another than the other
     * one's specification does. */
    const bool only_if_known = metric == FT__METRIC_POWER || f->model_set[metric][1];

    return f->model_set[metric][only_if_known && !ft__family_knows(f, metric, on)];
}

static bool same_params(const ft__physics_params *a, const ft__physics_params *b)
{
    for (int i = 0; i < FT__N_PHYSICS_PARAMS; i++)
        if (a->v[i] < b->v[i] || a->v[i] > b->v[i])
            return false;
    return true;
}

/* The physical estimate of all samples, as far as it is not known by the constants of
 * times, which are often those of power, too. */
static void find_terms(ft__terms *out, const ft__model_set *l, const ft__samples *s,
                       const ft__terms *known, const ft__model_set *times)
{
    for (size_t i = 0; i < s->n; i++) {
        const ft_op *op = &s->v[i].op;

        if (known && !s->dataset[s->v[i].dataset].roof && known[i].total_s > 0 &&
            (l == times ||
             same_params(ft__model_set_params(l, op), ft__model_set_params(times, op))))
            out[i] = known[i];
        else
            ft__base_terms_by(&l->base, ft__model_set_params(l, op), &out[i], s,
                              (uint32_t)i);
    }
}

/* Bounds times by the hardware's peaks, unless a device of the same architecture was
 * measured to be faster. */
static void bound_by_peaks(ft__op_answer *out, const ft__dataset *on,
                           const ft__samples *s)
{
    const ft__chip_setting set = ft__setting_read(on->setting);

    for (size_t i = 0; i < s->n; i++) {
        const ft__terms *t = &s->terms[i];
        ft__hardware_spec chip;
        double least;

        if (out[i].measured || s->dataset[s->v[i].dataset].roof || !(t->busy_s > 0))
            continue;
        ft__hardware_spec_set(&chip, ft_device_get(on->file), &set, on->policy,
                              &s->v[i].op);
        least = ft__physics_least(&s->v[i].op, &chip) * t->total_s / t->busy_s;
        if (least > out[i].value) {
            out[i].low *= least / out[i].value;
            out[i].high *= least / out[i].value;
            out[i].value = least;
        }
    }
}

ft_status ft__family_ask(ft__op_answer *out, const ft__family *f, ft__metric metric,
                         const ft__dataset *on, const ft_op *ops,
                         const ft__terms *known, size_t n, ft_error *err)
{
    const ft__model_set *l = ft__family_model_set(f, metric, on);
    struct templates t = {.own = f->n_datasets};
    uint32_t index, *row;
    ft__terms *terms;
    bool *measured;
    ft__samples s = {0};
    ft_status st = FT_OK;

    if (!l)
        return ft_fail(err, FT_ENOTFOUND, 0, "no %s was measured for this predictor",
                       ft__metric_name(metric));
    index = ft__family_index(f, on);
    row = calloc(n + 1, sizeof(*row));
    terms = calloc(n + 1, sizeof(*terms));
    measured = calloc(n + 1, sizeof(*measured));
    if (!row || !terms || !measured)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    for (size_t i = 0; i < n && row; i++)
        row[i] = (uint32_t)i;
    if (!st && index == f->n_datasets && !on->roof)
        st = check_device(on, ops, n, err);
    if (!st)
        st = ft__family_samples(&s, f, on, index, ops, n, err);
    if (!st)
        find_terms(terms, l, &s, known, ft__family_model_set(f, FT__METRIC_TIME, on));
    if (!st && metric == FT__METRIC_TIME)
        st = open_templates(&t, f, on, index, err);
    if (!st)
        find_measured(measured, &t, f, &s);
    s.terms = terms;
    s.measured = measured;
    if (!st)
        st = ft__model_set_predict(l, out, &s, row, n, err);
    if (!st && t.siblings)
        st = use_others(out, f, l, on, &s, err);
    if (!st && metric <= FT__METRIC_POWER)
        ft__family_fit_to_device(out, f, l, on, &s);
    if (!st && metric == FT__METRIC_TIME && on->file)
        bound_by_peaks(out, on, &s);
    if (!st)
        use_templates(out, &t, f, on, &s);
    free(t.alike);
    free(s.v);
    free(s.dataset);
    free(measured);
    free(terms);
    free(row);
    return st;
}

/* Independent errors, on a logarithmic scale. */
static void multiply(ft__op_answer *a, const ft__op_answer *b)
{
    double below = hypot(log(a->value / a->low), log(b->value / b->low));
    double above = hypot(log(a->high / a->value), log(b->high / b->value));

    a->value *= b->value;
    a->low = a->value * exp(-below);
    a->high = a->value * exp(above);
    a->constant *= b->constant;
    a->base *= b->base;
    a->far = a->far || b->far;
    a->measured = a->measured && b->measured;
}

static ft_status ask_energy(ft__op_answer *out, const ft__family *f,
                            const ft__dataset *on, const ft_op *ops,
                            const ft__terms *terms, size_t n, ft_error *err)
{
    ft__op_answer *power = calloc(n + 1, sizeof(*power));
    ft_status st = power ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);

    if (!st)
        st = ft__family_ask(out, f, FT__METRIC_TIME, on, ops, terms, n, err);
    if (!st)
        st = ft__family_ask(power, f, FT__METRIC_POWER, on, ops, NULL, n, err);
    for (size_t i = 0; i < n && !st; i++)
        multiply(&out[i], &power[i]);
    free(power);
    return st;
}

ft_status ft__family_query(ft__op_answer *out, const ft__family *f, ft__metric metric,
                           const ft__dataset *on, const ft_op *ops,
                           const ft__terms *terms, size_t n, ft_error *err)
{
    ft__buf setting = {0};
    ft__dataset all;
    ft_status st;

    ft__family_complete(&all, &setting, f, on);
    if (setting.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "setting");
    else
        st = metric == FT__METRIC_ENERGY
                 ? ask_energy(out, f, &all, ops, terms, n, err)
                 : ft__family_ask(out, f, metric, &all, ops, terms, n, err);
    ft__buf_free(&setting);
    return st;
}

void ft__family_free(ft__family *f)
{
    for (uint32_t i = 0; i < f->n_datasets; i++) {
        ft__dataset_free(&f->dataset[i]);
        free(f->templates[i].own);
    }
    free(f->dataset);
    free(f->templates);
    free(f->device_schedule);
    ft__clocked_free(&f->clocked);
    ft__kernels_free(f->kernels);
    free(f->alone);
    free(f->unseen);
    for (int m = 0; m < FT__N_METRICS; m++)
        for (int u = 0; u < 2; u++) {
            if (f->model_set[m][u])
                ft__model_set_free(f->model_set[m][u]);
            free(f->model_set[m][u]);
        }
    *f = (ft__family){0};
}

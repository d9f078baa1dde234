/* What a time is predicted relative to: constants of the physical estimate and
 * rooflines, fitted to the training rows. */
#include "predict/data/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "base/stats.h"
#include "graph/op_inside.h"
#include "predict/data/hosts.h"
#include "predict/data/shrinkage.h"

/* Rows of a device and group that constants are fitted to, and fewest that a roofline
 * and a group's constants are fitted to. */
enum { MOST_ROWS = 300, LEAST_ROWS = 20, GROUP_ROWS = 60 };
/* Fewer of a chip do not count where shares are chosen, nor do fewer that wait make one
 * of two hosts whose constants stay: which of them were drawn is luck. */
enum { CHIP_ROWS = 12 };

bool ft__is_narrow(const ft_op *op)
{
    ft_class class = ft_kind_class(op->kind);

    return (class == FT_CLASS_CONV || class == FT_CLASS_MATMUL) &&
           ft_dtype_bits(op->dtype) < 16;
}

uint32_t ft__group_of(const ft_op *op)
{
    if (op->kind == FT_KIND_moe)
        return FT__GROUP_MIXTURE;
    if (op->kind == FT_KIND_attention)
        return FT__GROUP_ATTENTION;
    return ft__is_narrow(op) ? FT__GROUP_NARROW : (uint32_t)ft_kind_class(op->kind);
}

const char *ft__group_name(uint32_t group)
{
    return group == FT__GROUP_NARROW      ? "narrow"
           : group == FT__GROUP_MIXTURE   ? "mixture"
           : group == FT__GROUP_ATTENTION ? "attention"
                                          : ft__class_name((ft_class)group);
}

static bool has_chip(const ft__samples *s, uint32_t i, ft__hardware_spec *chip)
{
    const ft__dataset *d = &s->dataset[s->v[i].dataset];

    if (d->roof || !d->file)
        return false;
    ft__hardware_spec_make(chip, ft_device_get(d->file), d->setting, d->policy,
                           &s->v[i].op);
    return ft__hardware_spec_lacks(chip) == NULL;
}

/* Is a row, one of n, among the about MOST_ROWS that are taken of them? */
static bool is_drawn(uint64_t seed, uint32_t row, size_t n)
{
    ft__prng p = ft__prng_stream(seed, row);

    return n <= MOST_ROWS || ft__prng_unit(&p) < (double)MOST_ROWS / (double)n;
}

/* The first dataset of the same device: one number a device. */
static uint32_t first_of_device(const ft__samples *s, uint32_t dataset)
{
    uint32_t d = 0;

    while (strcmp(s->dataset[d].device, s->dataset[dataset].device) != 0)
        d++;
    return d;
}

static uint32_t first_of_chip(const ft__samples *s, uint32_t dataset)
{
    const char *chip = ft__dataset_chip(&s->dataset[dataset]);
    uint32_t d = 0;

    while (strcmp(ft__dataset_chip(&s->dataset[d]), chip) != 0)
        d++;
    return d;
}

/* Rows of chips that are known, as many as are wanted. */
struct known_rows {
    ft__physics_row *row;
    ft__hardware_spec *chip;
    size_t n;
    uint32_t *first; /* of each dataset: the first of its chip */
    const ft__samples *s;
};

static ft_status find_known(struct known_rows *k, const ft__samples *s,
                            const uint32_t *row, size_t n, uint64_t seed, ft_error *err)
{
    size_t(*of)[FT__N_GROUPS] = calloc(s->n_datasets + 1u, sizeof(*of));

    *k = (struct known_rows){.row = calloc(n + 1, sizeof(*k->row)),
                             .chip = calloc(n + 1, sizeof(*k->chip)),
                             .first = calloc(s->n_datasets + 1u, sizeof(*k->first)),
                             .s = s};
    if (!k->row || !k->chip || !k->first || !of) {
        free(of);
        return ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", n);
    }
    for (uint32_t d = 0; d < s->n_datasets; d++)
        k->first[d] = first_of_chip(s, d);
    for (size_t i = 0; i < n; i++) {
        const ft__sample *v = &s->v[row[i]];

        of[first_of_device(s, v->dataset)][ft__group_of(&v->op)]++;
    }
    for (size_t i = 0; i < n; i++) {
        const ft__sample *v = &s->v[row[i]];
        const uint32_t device = first_of_device(s, v->dataset);

        if (!is_drawn(seed, row[i], of[device][ft__group_of(&v->op)]) ||
            !has_chip(s, row[i], &k->chip[k->n]))
            continue;
        k->row[k->n] = (ft__physics_row){.op = &v->op,
                                         .chip = &k->chip[k->n],
                                         .time_s = v->value[FT__METRIC_TIME],
                                         .weight = 1,
                                         .group = device};
        k->n++;
    }
    free(of);
    return FT_OK;
}

/* Rows of one group, or of all but those apart where it is FT__N_GROUPS. */
static size_t take_group(ft__physics_row *out, const struct known_rows *k,
                         uint32_t group)
{
    size_t n = 0;

    for (size_t i = 0; i < k->n; i++) {
        uint32_t own = ft__group_of(k->row[i].op);

        if (group == FT__N_GROUPS ? own < FT__GROUP_NARROW : own == group)
            out[n++] = k->row[i];
    }
    return n;
}

/* Constants between two others, in logarithms. */
static ft__physics_params between(const ft__physics_params *from,
                                  const ft__physics_params *to, double share)
{
    ft__physics_params p;

    for (int i = 0; i < FT__N_PHYSICS_PARAMS; i++)
        p.v[i] = from->v[i] * pow(to->v[i] / from->v[i], share);
    return p;
}

/* Mean |estimate / time - 1|; INFINITY of no row. */
static double error_of(const ft__physics_params *params, const ft__physics_row *row,
                       size_t n)
{
    double sum = 0;
    size_t m = 0;

    for (size_t i = 0; i < n; i++) {
        ft__terms t;
        double error;

        ft__physics(&t, row[i].op, row[i].chip, params);
        error = fabs(t.total_s / row[i].time_s - 1);
        if (isfinite(error)) {
            sum += error;
            m++;
        }
    }
    return m ? sum / (double)m : INFINITY;
}

static void take_host(ft__physics_params *out, const ft__physics_params *from)
{
    static const int host[] = {FT__C_floor_s,    FT__C_floor_linear, FT__C_floor_conv,
                               FT__C_floor_norm, FT__C_overlap,      FT__C_step_s};

    for (size_t i = 0; i < sizeof(host) / sizeof(*host); i++)
        out->v[host[i]] = from->v[host[i]];
}

/* Products of TensorFlow 1 wait for Session.run(), of which more is known than the
 * few hosts of rows say of another. What convolutions take besides is their own. */
static bool are_sessions(const ft__physics_row *row, size_t n)
{
    size_t i = 0;

    while (i < n && ft__is_session(row[i].op, row[i].chip->tensorflow))
        i++;
    return n && i == n;
}

/* As far as rows say something of hosts that they were not measured beside. */
static ft_status fit(ft__physics_params *params, const ft__physics_row *row, size_t n,
                     uint64_t seed, ft_error *err)
{
    const ft__physics_params start = *params;
    const ft_status st = ft__physics_fit(params, row, n, seed, err);

    if (are_sessions(row, n))
        take_host(params, &start);
    return st;
}

/* What constants fitted to the first `others` rows, *fitted, in part, err by on the
 * `own` behind them. */
static ft_status leave_out(ft__share_errors *out, ft__physics_params *fitted,
                           const ft__physics_params *start, const ft__physics_row *row,
                           size_t others, size_t own, uint64_t seed, ft_error *err)
{
    ft_status st;

    *fitted = *start;
    st = fit(fitted, row, others, seed, err);
    for (int q = 0; q < FT__N_SHARES && !st; q++) {
        const ft__physics_params p = between(start, fitted, ft__share(q));

        out->of[q] = error_of(&p, row + others, own);
    }
    return st;
}

/* What rows are left out by: a chip, by its first dataset, or a group. */
typedef uint32_t part_fn(const struct known_rows *k, const ft__physics_row *row);

static uint32_t chip_part(const struct known_rows *k, const ft__physics_row *row)
{
    return k->first[row->group];
}

static uint32_t group_part(const struct known_rows *k, const ft__physics_row *row)
{
    (void)k;
    return ft__group_of(row->op);
}

/* Rows of one part, behind those of the others; how many. out[n] */
static size_t set_apart(ft__physics_row *out, const ft__physics_row *row, size_t n,
                        const struct known_rows *k, part_fn *part, uint32_t which)
{
    size_t others = 0, own = 0;

    for (size_t i = 0; i < n; i++)
        if (part(k, &row[i]) == which)
            out[n - ++own] = row[i];
        else
            out[others++] = row[i];
    return own;
}

/* Is it of the type, GPU or processor, that most rows are of? Others say nothing of it.
 */
static bool is_usual(const ft__physics_row *of, const ft__physics_row *row, size_t n)
{
    size_t alike = 0;

    for (size_t i = 0; i < n; i++)
        alike += row[i].chip->gpu == of->chip->gpu;
    return 2 * alike >= n;
}

/* *params: what chips that nobody measured have, of *fitted in the share that serves
 * chips left out. own[d]: of each dataset the same of what others of another chip show,
 * *params where its chip or the others have no rows. */
static ft_status share_of_fit(ft__physics_params *params, ft__own_base *own,
                              const ft__physics_params *start,
                              const ft__physics_params *fitted,
                              const ft__physics_row *row, size_t n,
                              const struct known_rows *k, uint64_t seed, ft_error *err)
{
    ft__physics_row *scratch = calloc(n + 1, sizeof(*scratch));
    ft__share_errors *error = calloc(k->s->n_datasets + 1u, sizeof(*error));
    bool *left = calloc(k->s->n_datasets + 1u, sizeof(*left));
    ft_status st =
        scratch && error && left ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "training set");
    double share;
    size_t usual = 0;

    for (uint32_t c = 0; c < k->s->n_datasets && !st; c++) {
        const size_t of_chip =
            k->first[c] == c ? set_apart(scratch, row, n, k, chip_part, c) : 0;

        left[c] = of_chip && of_chip < n;
        if (!left[c])
            continue;
        st = leave_out(&error[usual], &own[c].without, start, scratch, n - of_chip,
                       of_chip, seed, err);
        usual += of_chip >= CHIP_ROWS && is_usual(&scratch[n - 1], row, n);
    }
    share = st ? 0 : ft__share_of_learned(error, usual, n);
    *params = between(start, fitted, share);
    for (uint32_t c = 0; c < k->s->n_datasets && !st; c++) {
        const ft__physics_params without =
            left[c] ? between(start, &own[c].without, share) : *params;

        for (uint32_t d = c; d < k->s->n_datasets; d++)
            if (k->first[d] == c)
                own[d].without = without;
    }
    free(error);
    free(scratch);
    free(left);
    return st;
}

static double known_host(double times)
{
    return isfinite(times) ? times : 1;
}

/* Of every device, to its datasets. */
static ft_status find_hosts(ft__own_base *own, const ft__physics_params *params,
                            const ft__physics_row *row, size_t n, const ft__samples *s,
                            ft_error *err)
{
    ft__terms *t = calloc(n + 1, sizeof(*t));
    double *host = calloc(2 * s->n_datasets + 1u, sizeof(*host));
    double *without = host ? host + s->n_datasets : NULL;
    ft_status st = t && host ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "training set");

    for (uint32_t d = 0; d < s->n_datasets && !st; d++) {
        host[d] = ft__host_of(row, n, d, params, t);
        without[d] = ft__host_of(row, n, d, &own[d].without, t);
    }
    if (!st && !are_sessions(row, n)) {
        ft__relate_hosts(host, s->n_datasets);
        ft__relate_hosts(without, s->n_datasets);
    }
    for (uint32_t d = 0; d < s->n_datasets && !st; d++) {
        own[d].host = known_host(host[first_of_device(s, d)]);
        own[d].host_without = known_host(without[first_of_device(s, d)]);
    }
    free(t);
    free(host);
    return st;
}

/* Of the constants fitted to rows beside two hosts those of hosts stay as they were:
 * the two tell apart neither their mean nor how far a third may be from it. */
static void keep_hosts(ft__base *b, uint32_t group, const ft__physics_params *start,
                       const ft__physics_row *row, size_t n, const ft__samples *s)
{
    ft__own_base *own = b->own + group * (size_t)b->n_datasets;
    int hosts = 0;

    for (uint32_t d = 0; d < s->n_datasets; d++)
        hosts += ft__rows_waiting(row, n, d, start) >= CHIP_ROWS;
    if (hosts != 2)
        return;
    take_host(&b->params[group], start);
    for (uint32_t d = 0; d < b->n_datasets; d++)
        take_host(&own[d].without, start);
}

static ft_status fit_groups(ft__base *b, const struct known_rows *k, uint64_t seed,
                            ft_error *err)
{
    ft__physics_row *row = calloc(k->n + 1, sizeof(*row));
    ft_status st = row ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "training set");

    for (uint32_t g = 0; g < FT__N_GROUPS && !st; g++) {
        size_t n = take_group(row, k, g);
        const ft__physics_params start = ft__physics_default();
        ft__physics_params fitted = start;
        ft__own_base *own = b->own + g * (size_t)b->n_datasets;

        for (uint32_t d = 0; d < b->n_datasets; d++)
            own[d].without = b->params[g];
        if (n >= GROUP_ROWS)
            st = fit(&fitted, row, n, seed, err);
        if (n >= GROUP_ROWS && !st)
            st =
                share_of_fit(&b->params[g], own, &start, &fitted, row, n, k, seed, err);
        if (!st && n >= GROUP_ROWS)
            keep_hosts(b, g, &start, row, n, k->s);
        if (!st)
            st = find_hosts(own, &b->params[g], row, n, k->s, err);
    }
    free(row);
    return st;
}

/* How much of constants that one group shows others have: each group is left out in
 * turn. Kernels of one kind alone bend what all have in common. */
static ft_status share_of_groups(double *share, const ft__physics_params *start,
                                 const ft__physics_row *row, size_t n,
                                 const struct known_rows *k, uint64_t seed,
                                 ft_error *err)
{
    ft__physics_row *scratch = calloc(n + 1, sizeof(*scratch));
    ft__share_errors error[FT__N_GROUPS];
    ft__physics_params fitted;
    ft_status st = scratch ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "training set");
    size_t groups = 0;

    for (uint32_t g = 0; g < FT__N_GROUPS && !st; g++) {
        const size_t own = set_apart(scratch, row, n, k, group_part, g);

        if (own >= GROUP_ROWS && n - own >= LEAST_ROWS)
            st = leave_out(&error[groups++], &fitted, start, scratch, n - own, own,
                           seed, err);
    }
    *share = !st && groups > 1 ? ft__share_of_learned(error, groups, n) : 1;
    free(scratch);
    return st;
}

static bool is_of_one_chip(const ft__physics_row *row, size_t n,
                           const struct known_rows *k)
{
    size_t i = 0;

    while (i < n && chip_part(k, &row[i]) == chip_part(k, &row[0]))
        i++;
    return i == n;
}

/* What groups with few rows have: of those apart only where there is nothing else; of
 * one chip alone, whose speed and host all groups share, as fitted. */
static ft_status fit_common(ft__physics_params *params, const struct known_rows *k,
                            uint64_t seed, ft_error *err)
{
    const ft__physics_params start = *params;
    ft__physics_row *own = calloc(k->n + 1, sizeof(*own));
    ft_status st = own ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "training set");
    size_t n = own ? take_group(own, k, FT__N_GROUPS) : 0;
    const ft__physics_row *of = n >= LEAST_ROWS ? own : k->row;
    double share = 1;

    n = n >= LEAST_ROWS ? n : k->n;
    if (!st && n >= LEAST_ROWS)
        st = fit(params, of, n, seed, err);
    if (!st && n >= LEAST_ROWS && !is_of_one_chip(of, n, k))
        st = share_of_groups(&share, &start, of, n, k, seed, err);
    *params = between(&start, params, share);
    free(own);
    return st;
}

static ft_status fit_parameters(ft__base *b, const ft__samples *s, const uint32_t *row,
                                size_t n, uint64_t seed, ft_error *err)
{
    struct known_rows k;
    ft_status st = find_known(&k, s, row, n, seed, err);

    if (!st)
        st = fit_common(&b->params[0], &k, seed, err);
    for (int g = 1; g < FT__N_GROUPS; g++)
        b->params[g] = b->params[0];
    if (!st)
        st = fit_groups(b, &k, seed, err);
    free(k.row);
    free(k.chip);
    free(k.first);
    return st;
}

static uint32_t roof_of(const ft__samples *s, uint32_t i)
{
    return 2 * s->v[i].dataset + (s->v[i].op.phase != FT_PHASE_FORWARD);
}

/* The rates that all but the luckiest rows stay below, and the time that next to none
 * stays below. rate: scratch of n. */
static void fit_roof(ft__roof *out, const ft__samples *s, const uint32_t *row, size_t n,
                     double *flops, double *bytes, double *time)
{
    for (size_t i = 0; i < n; i++) {
        const ft__sample *v = &s->v[row[i]];
        ft_cost c;

        ft_op_cost(&v->op, &c);
        time[i] = v->value[FT__METRIC_TIME];
        flops[i] = c.flops / time[i];
        bytes[i] = (c.bytes_read + c.bytes_written) / time[i];
    }
    ft__sort(time, n);
    ft__sort(flops, n);
    ft__sort(bytes, n);
    *out = ft__flat_roof(fmax(1, ft__quantile(flops, n, 0.99)),
                         fmax(1, ft__quantile(bytes, n, 0.9)),
                         ft__quantile(time, n, 0.02));
}

/* Those of index `first` and behind it. */
static ft_status fit_roofs(ft__base *b, uint32_t first, const ft__samples *s,
                           const uint32_t *row, size_t n, ft_error *err)
{
    double *v = calloc(3 * n + 1, sizeof(*v));
    uint32_t *own = calloc(n + 1, sizeof(*own));
    ft_status st = FT_OK;

    if (!v || !own)
        st = ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", n);
    for (uint32_t r = first; r <= 2 * b->n_datasets && !st; r++) {
        size_t m = 0;

        for (size_t i = 0; i < n; i++)
            if (r == 2 * b->n_datasets || roof_of(s, row[i]) == r)
                own[m++] = row[i];
        if (m >= LEAST_ROWS || (m && r == 2 * b->n_datasets))
            fit_roof(&b->roof[r], s, own, m, v, v + n, v + 2 * n);
    }
    free(v);
    free(own);
    return st;
}

static ft__own_base *own_new(uint32_t n_datasets)
{
    return calloc((size_t)n_datasets * FT__N_GROUPS + 1, sizeof(ft__own_base));
}

ft_status ft__base_fit(ft__base *out, const ft__samples *s, const uint32_t *row,
                       size_t n, uint64_t seed, ft_error *err)
{
    ft_status st;

    *out = (ft__base){.params = {ft__physics_default()}, .n_datasets = s->n_datasets};
    out->roof = calloc(2 * s->n_datasets + 1u, sizeof(*out->roof));
    out->own = own_new(s->n_datasets);
    if (!out->roof || !out->own) {
        ft__base_free(out);
        return ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", n);
    }
    st = fit_roofs(out, 0, s, row, n, err);
    if (!st)
        st = fit_parameters(out, s, row, n, seed, err);
    if (st)
        ft__base_free(out);
    return st;
}

ft_status ft__base_extend(ft__base *out, const ft__base *old, const ft__samples *s,
                          const uint32_t *row, size_t n, ft_error *err)
{
    size_t last = 2 * (size_t)s->n_datasets;
    ft_status st = FT_OK;

    *out = *old;
    out->n_datasets = s->n_datasets;
    out->roof = calloc(last + 1, sizeof(*out->roof));
    out->own = NULL;
    if (old->own && old->n_datasets == s->n_datasets)
        out->own = own_new(s->n_datasets);
    if (!out->roof || (old->own && !out->own)) {
        ft__base_free(out);
        return ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", n);
    }
    if (out->own)
        memcpy(out->own, old->own,
               (size_t)s->n_datasets * FT__N_GROUPS * sizeof(*out->own));
    memcpy(out->roof, old->roof, 2 * (size_t)old->n_datasets * sizeof(*out->roof));
    if (s->n_datasets > old->n_datasets)
        st = fit_roofs(out, 2 * old->n_datasets, s, row, n, err);
    out->roof[last] = old->roof[2 * (size_t)old->n_datasets];
    if (st)
        ft__base_free(out);
    return st;
}

void ft__base_free(ft__base *b)
{
    free(b->roof);
    free(b->own);
    b->roof = NULL;
    b->own = NULL;
}

static const ft__roof *known_roof(const ft__base *b, const ft__samples *s, uint32_t i)
{
    const ft__roof *probed = s->dataset[s->v[i].dataset].roof;
    const ft__roof *own = &b->roof[roof_of(s, i)];

    if (probed)
        return probed;
    return own->n_points ? own : &b->roof[2 * b->n_datasets];
}

void ft__base_terms(const ft__base *b, ft__terms *out, const ft__samples *s, uint32_t i)
{
    ft__base_terms_by(b, &b->params[ft__group_of(&s->v[i].op)], out, s, i);
}

/* NULL: it is not known. */
static const ft__own_base *own_of(const ft__base *b, const ft__samples *s, uint32_t i)
{
    const uint32_t d = s->v[i].dataset;

    return b->own && d < b->n_datasets
               ? &b->own[ft__group_of(&s->v[i].op) * (size_t)b->n_datasets + d]
               : NULL;
}

static void terms_on_host(const ft__base *b, ft__terms *out,
                          const ft__physics_params *params, double host,
                          const ft__samples *s, uint32_t i)
{
    ft__base_terms_by(b, params, out, s, i);
    if (out->launch_s > 0)
        ft__physics_with_host(out, host);
}

void ft__base_terms_on_host(const ft__base *b, ft__terms *out, const ft__samples *s,
                            uint32_t i)
{
    const ft__own_base *own = own_of(b, s, i);

    terms_on_host(b, out, &b->params[ft__group_of(&s->v[i].op)], own ? own->host : 1, s,
                  i);
}

double ft__base_without_chip(const ft__base *b, const ft__samples *s, uint32_t i)
{
    const ft__own_base *own = own_of(b, s, i);
    ft__terms t;

    if (!own)
        return NAN;
    terms_on_host(b, &t, &own->without, own->host_without, s, i);
    return t.total_s;
}

void ft__base_terms_by(const ft__base *b, const ft__physics_params *params,
                       ft__terms *out, const ft__samples *s, uint32_t i)
{
    ft__hardware_spec chip;

    if (has_chip(s, i, &chip)) {
        ft__physics(out, &s->v[i].op, &chip, params);
        if (out->total_s > 0)
            return;
    }
    *out = (ft__terms){.compute_s = NAN,
                       .cache_s = NAN,
                       .memory_s = NAN,
                       .launch_s = NAN,
                       .kernels = NAN,
                       .waves = NAN,
                       .fill = NAN,
                       .sustained = NAN,
                       .busy_s = NAN,
                       .total_s = ft__roofline(&s->v[i].op, known_roof(b, s, i)),
                       .drawing_s = NAN};
}

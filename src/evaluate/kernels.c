/* How well the predictor that users get answers for kernels in PTX that were held out:
 * hide kernels or GPUs, train on the launches that remain, ask for each hidden one as
 * users do. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/stats.h"
#include "evaluate/hold_out.h"
#include "foretell/names.h"
#include "predict/file/predictor.h"

struct kernels_evaluation {
    ft__arena room;
    const ft_evaluate_options *opt;
    ft__kernel_rows r;
    ft__splits split;  /* of rows */
    const char **chip; /* that goes with it; of kernels none */
    ft__dataset *on;   /* of every file */
    char **line;       /* of every row that was tested: what a launch file says */
    uint32_t *kernel;  /* of every row: its number */
    ft__name_list kernels;
    uint32_t *use; /* rows to learn from */
    ft__tested *tested;
    ft__op_answer *answer;
};

static const char *left_out_name(const struct kernels_evaluation *e, size_t i)
{
    const ft__kernel_row *row = &e->r.row[i];

    return e->opt->protocol == FT_PROTOCOL_DEVICE ? row->device->name : row->kernel;
}

static ft_status make_splits(struct kernels_evaluation *e, ft_error *err)
{
    ft_status st = ft__splits_make(&e->split, e->r.n, err);

    for (size_t i = 0; i < e->r.n && !st; i++) {
        const char *name = left_out_name(e, i);

        st = ft__names_add(&e->kernel[i], &e->kernels, e->r.row[i].kernel, err);
        if (st || (e->opt->only && strcmp(e->opt->only, name) != 0))
            continue;
        st = ft__splits_add(&e->split.of[i], &e->split, name, err);
        if (!st && !e->chip[e->split.of[i]])
            e->chip[e->split.of[i]] = e->r.row[i].device->chip;
    }
    if (!st && !e->split.n)
        st = ft_fail(err, FT_ENOTFOUND, 0, "nothing to leave out: no %s is %s",
                     ft_name(FT_NAMES_PROTOCOL, e->opt->protocol), e->opt->only);
    return st;
}

/* With a GPU all of its chip leave training. */
static bool is_learned_from(const struct kernels_evaluation *e, size_t i,
                            uint32_t split)
{
    if (e->opt->protocol == FT_PROTOCOL_DEVICE && !e->opt->siblings)
        return strcmp(e->r.row[i].device->chip, e->chip[split]) != 0;
    return !ft__split_is(&e->split, split, left_out_name(e, i));
}

/* By the estimate that the predictor begins with, alone. */
static double physics_of(const struct kernels_evaluation *e, const ft_predictor *p,
                         size_t i)
{
    const ft__kernel_row *r = &e->r.row[i];
    ft_kernel_estimate estimate;

    return ft__kernel_predict(&estimate, p->family->kernels, &r->work, r->device,
                              r->kernel, r->call, NULL)
               ? (double)NAN
               : estimate.physics_s;
}

/* Median of measured over estimated of the n rows learned from. */
static ft_status find_constant(double *out, const struct kernels_evaluation *e,
                               const ft_predictor *p, size_t n, ft_error *err)
{
    double *ratio = malloc((n + 1) * sizeof(*ratio));

    if (!ratio)
        return ft_fail(err, FT_ENOMEM, 0, "%zu launches", n);
    for (size_t i = 0; i < n; i++)
        ratio[i] = e->r.row[e->use[i]].time_s / physics_of(e, p, e->use[i]);
    *out = ft__median(ratio, n);
    free(ratio);
    return FT_OK;
}

static ft_status ask(ft__op_answer *out, const struct kernels_evaluation *e,
                     const ft_predictor *p, size_t i, double constant, ft_error *err)
{
    ft_kernel_estimate estimate;
    ft_kernel_query q;
    ft_ptx_counts counts;
    ft_status st = ft__kernel_rows_query(&q, &counts, &e->r, i, err);

    if (!st)
        st = ft__predict_kernel(&estimate, p, &q, err);
    if (st)
        return st;
    *out = (ft__op_answer){.value = estimate.time.value,
                           .low = estimate.time.low,
                           .high = estimate.time.high,
                           .basis = estimate.time.basis,
                           .base = estimate.physics_s,
                           .constant = constant * estimate.physics_s};
    return FT_OK;
}

static ft_status describe(struct kernels_evaluation *e, ft__tested *t, size_t i,
                          ft_error *err)
{
    const ft__kernel_file *f = &e->r.file[e->r.file_of[i]];
    const ft__kernel_timed *timed = &f->timed[e->r.index[i]];
    const char *line = f->text + timed->from;

    e->line[i] = strndup(line, timed->len);
    if (!e->line[i])
        return ft_fail(err, FT_ENOMEM, 0, "results");
    *t = (ft__tested){.on = &e->on[e->r.file_of[i]],
                      .spec = e->line[i],
                      .phase = ft_name(FT_NAMES_PHASE, FT_PHASE_FORWARD),
                      .kind = e->r.row[i].kernel,
                      .kind_order = e->kernel[i],
                      .device_order = e->r.file_of[i],
                      .hash = ft__checksum(line, timed->len),
                      .truth = e->r.row[i].time_s};
    return FT_OK;
}

/* Note which methods were chosen. */
static void note_choices(ft__test_results *r, const ft__kernel_models *k)
{
    const ft__fit *known = &k->of[FT__OF_KERNELS].fit,
                  *others = &k->of[FT__OF_DEVICES].fit;

    snprintf(r->chosen, sizeof(r->chosen),
             "kernels: %zu rows, %s\nkernels, other devices: %zu rows, %s\n",
             known->n_rows, known->choice, others->n_rows, others->choice);
}

static ft_status run_split(void *user, ft__test_results *out, uint32_t split,
                           ft_error *err)
{
    struct kernels_evaluation *e = user;
    const ft__kernels_options how = {.seed = e->opt->seed, .threads = e->opt->threads};
    ft_predictor *p = NULL;
    size_t n = 0, tested = 0;
    double constant = NAN;
    ft_status st;

    for (size_t i = 0; i < e->r.n; i++)
        if (is_learned_from(e, i, split))
            e->use[n++] = (uint32_t)i;
    st = ft__family_of_kernels(&p, e->r.row, e->use, n, &how, err);
    if (!st)
        st = find_constant(&constant, e, p, n, err);
    for (size_t i = 0; i < e->r.n && !st; i++) {
        if (e->split.of[i] != split)
            continue;
        st = describe(e, &e->tested[tested], i, err);
        if (!st)
            st = ask(&e->answer[tested++], e, p, i, constant, err);
    }
    if (!st)
        st = ft__results_add(out, e->tested, e->answer, tested, split, err);
    if (!st)
        note_choices(out, p->family->kernels);
    ft_predictor_free(p);
    out->n_learned += (double)n;
    out->n_splits++;
    return st;
}

static ft_status make_room(struct kernels_evaluation *e, ft_error *err)
{
    const size_t n = e->r.n + 1;

    e->chip = ft__arena_need(&e->room, n, sizeof(*e->chip));
    e->on = ft__arena_need(&e->room, e->r.n_files + 1, sizeof(*e->on));
    e->line = ft__arena_need(&e->room, n, sizeof(*e->line));
    e->kernel = ft__arena_need(&e->room, n, sizeof(*e->kernel));
    e->use = ft__arena_need(&e->room, n, sizeof(*e->use));
    e->tested = ft__arena_need(&e->room, n, sizeof(*e->tested));
    e->answer = ft__arena_need(&e->room, n, sizeof(*e->answer));
    if (e->room.bad)
        return ft_fail(err, FT_ENOMEM, 0, "%zu launches", n);
    for (size_t i = 0; i < e->r.n_files; i++)
        e->on[i] = (ft__dataset){
            .device =
                (char *)(e->r.file[i].device ? ft_device_get(e->r.file[i].device)->name
                                             : ""),
            .setting = (char *)"",
            .engine = (char *)"",
            .engine_version = (char *)"",
            .policy = (char *)""};
    return FT_OK;
}

static void finish(struct kernels_evaluation *e)
{
    for (size_t i = 0; e->line && i < e->r.n; i++)
        free(e->line[i]);
    ft__kernel_rows_free(&e->r);
    ft__names_free(&e->kernels);
    ft__splits_free(&e->split);
    ft__arena_free(&e->room);
}

ft_status ft__evaluate_kernels(ft_evaluation *out, const ft_evaluate_options *opt,
                               ft_error *err)
{
    struct kernels_evaluation e = {.opt = opt};
    ft_status st;

    if (opt->protocol != FT_PROTOCOL_KERNEL && opt->protocol != FT_PROTOCOL_DEVICE)
        return ft_fail(err, FT_EINVAL, 0,
                       "kernels in PTX are left out by kernel or device");
    st = ft__kernel_rows_read(&e.r, opt->kernels, opt->where, opt->data_dir, err);
    if (!st)
        st = make_room(&e, err);
    if (!st)
        st = make_splits(&e, err);
    if (!st)
        st = ft__splits_evaluate(out, &e.split, run_split, &e, FT__METRIC_TIME, opt,
                                 err);
    out->n_rows = e.r.n;
    out->n_datasets = (uint32_t)e.r.n_files;
    finish(&e);
    return st;
}

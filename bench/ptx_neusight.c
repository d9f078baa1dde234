/* How well times of kernels are foretold from what they execute, on a GPU (or of a
 * kernel) that was left out:
 *
 *   ptx_neusight DATA_DIR TABLE PTX_DIR [device|kernel [unknown|calls|CALL [SHARE]]]
 *   ptx_neusight DATA_DIR TABLE PTX_DIR train FILE
 *
 * TABLE is neusight_ops.csv.gz, whose elementwise, softmax and layer norm rows on GPUs
 * of NVIDIA's name grid and block; the torch_*.ptx of PTX_DIR
 * (examples/ptx/compiled/sm_80) stand for its kernels. What is known of the host of a
 * device left out: nothing, how long the smallest launches of every call take, or those
 * of one (mul). SHARE of the rows is drawn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/prng.h"
#include "base/stats.h"
#include "predict/kernels.h"
#include "predict/kernels_inside.h"
#include "ptx/ptx_inside.h"
#include "run/rows.h"

enum { MOST_DEVICES = 16, FLOAT = 4, N_MODULES = 3 };
enum { ELEMENTWISE, SOFTMAX, LAYER_NORM };
static const char *const kinds[] = {"elementwise", "softmax", "layer norm"};
static const char *const modules[] = {"torch_elementwise", "torch_softmax",
                                      "torch_layer_norm"};

struct table {
    ft_kernel_row *row;
    const char **kind;
    size_t n, cap;
    ft_device *device[MOST_DEVICES];
    char title[MOST_DEVICES][64];
    uint32_t n_devices;
    struct module {
        ft_ptx *ptx;
        ft_ptx_counter *counter;
    } module[N_MODULES];
    const char *data_dir;
    double counting_s;
};

_Noreturn static void die(const ft_error *err)
{
    fprintf(stderr, "ptx_neusight: %s\n", err->msg);
    exit(1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const ft_device_facts *device(struct table *t, const char *title)
{
    ft_error err;
    char name[80];
    uint32_t i = 0;

    while (i < t->n_devices && strcmp(t->title[i], title) != 0)
        i++;
    if (i == t->n_devices && i < MOST_DEVICES) {
        if (ft_device_find(name, sizeof(name), t->data_dir, title, &err) ||
            ft_device_load(&t->device[i], t->data_dir, name, &err))
            die(&err);
        snprintf(t->title[t->n_devices++], sizeof(t->title[0]), "%s", title);
    }
    return ft_device_get(t->device[i]);
}

/* ---- a row as a launch ---- */

static const struct op {
    const char *name, *kernel;
    int kind, reads; /* tensors */
    uint32_t n;      /* which parameter is the number of elements */
} ops[] = {
    {"add", "torch_add", ELEMENTWISE, 2, 3},
    {"addu", "torch_add_scalar", ELEMENTWISE, 1, 3},
    {"mul", "torch_mul", ELEMENTWISE, 2, 3},
    {"mulu", "torch_mul_scalar", ELEMENTWISE, 1, 3},
    {"div", "torch_div", ELEMENTWISE, 2, 3},
    {"divu", "torch_div_scalar", ELEMENTWISE, 1, 3},
    {"pow", "torch_pow", ELEMENTWISE, 2, 3},
    {"powu", "torch_pow_scalar", ELEMENTWISE, 1, 3},
    {"relu", "torch_relu", ELEMENTWISE, 1, 2},
    {"gelu", "torch_gelu", ELEMENTWISE, 1, 2},
    {"tanh", "torch_tanh", ELEMENTWISE, 1, 2},
    {"softmax", "torch_softmax", SOFTMAX, 1, 0},
    {"ln", "torch_layer_norm", LAYER_NORM, 1, 0},
};

static const struct op *find_op(const char *name)
{
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    return NULL;
}

struct launch {
    char kernel[40];
    int32_t rows, columns, n;
    ft_ptx_arg arg[12];
    ft_ptx_launch of;
    ft_kernel_space space;
    double launches;
};

static void whole(struct launch *l, uint32_t index, const int32_t *value)
{
    l->arg[l->of.n_args++] = (ft_ptx_arg){.index = index, .bytes = value, .size = 4};
}

/* Tensors of 2^31 bytes and more are cut in two until they are less. */
static void elementwise(struct launch *l, const struct op *op, double n)
{
    enum { OF_A_BLOCK = 512 };
    double tensors = op->reads + 1;

    snprintf(l->kernel, sizeof(l->kernel), "%s", op->kernel);
    l->launches = fmax(1, round(n / (l->of.grid[0] * (double)OF_A_BLOCK)));
    l->n = (int32_t)(n / l->launches);
    whole(l, op->n, &l->n);
    l->space.distinct_bytes = tensors * FLOAT * n / l->launches;
}

static void softmax(struct launch *l, double rows, double columns)
{
    int log2 = 0;

    while (1 << log2 < columns)
        log2++;
    l->rows = (int32_t)rows;
    l->columns = (int32_t)columns;
    l->space.distinct_bytes = 2 * FLOAT * rows * columns;
    l->space.block_bytes = l->space.distinct_bytes / l->of.grid[0];
    if (columns <= 1024) {
        snprintf(l->kernel, sizeof(l->kernel), "torch_softmax_%d", 1 << log2);
        whole(l, 2, &l->rows);
        whole(l, 3, &l->columns);
        return;
    }
    snprintf(l->kernel, sizeof(l->kernel), "torch_softmax_block");
    l->of.dynamic_shared = l->of.block[0] * FLOAT;
    whole(l, 2, &l->columns);
}

static void layer_norm(struct launch *l, double rows, double columns)
{
    snprintf(l->kernel, sizeof(l->kernel), "torch_layer_norm");
    l->columns = (int32_t)columns;
    l->of.dynamic_shared = l->of.block[1] * 3 / 2 * FLOAT;
    l->space.distinct_bytes = 2 * FLOAT * rows * columns + 2 * FLOAT * (columns + rows);
    l->space.block_bytes = 4 * FLOAT * columns;
    whole(l, 0, &l->columns);
}

static void make_launch(struct launch *l, const struct op *op, double rows,
                        double columns)
{
    l->launches = 1;
    switch (op->kind) {
    case SOFTMAX: softmax(l, rows, columns); break;
    case LAYER_NORM: layer_norm(l, rows, columns); break;
    default: elementwise(l, op, rows * columns);
    }
    l->of.kernel = l->kernel;
    l->of.arg = l->arg;
    l->space.shared_bytes = l->of.dynamic_shared;
}

/* ---- reading ---- */

static void open_module(struct module *m, const char *folder, const char *name)
{
    char path[4096];
    ft_error err;

    snprintf(path, sizeof(path), "%s/%s.ptx", folder, name);
    if (ft__ptx_open(&m->ptx, path, &err) ||
        ft__ptx_counter_new(&m->counter, m->ptx, &err))
        die(&err);
}

/* Tensors lie where cudaMalloc() puts them. */
static const uint64_t aligned[] = {1 << 20};

static void know_kernel(struct launch *l, const struct module *m)
{
    const ft_ptx_kernel *k = ft_ptx_get(m->ptx)->kernel;
    size_t n = ft_ptx_get(m->ptx)->n_kernels;
    ft_error err;

    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(k[i].name, l->kernel) != 0)
            continue;
        if (ft_ptx_registers(&l->space.registers, m->ptx, i, &err))
            die(&err);
        l->space.shared_bytes += k[i].shared_bytes;
        for (uint32_t p = 0; p < k[i].n_params; p++)
            if (k[i].param[p].size == sizeof(*aligned))
                l->arg[l->of.n_args++] =
                    (ft_ptx_arg){.index = p, .bytes = aligned, .size = 8};
    }
}

static void add(struct table *t, const struct op *op, struct launch *l,
                const char *device_title, double time_s)
{
    const ft_kernel_row row = {.device = device(t, device_title),
                               .kernel = op->name,
                               .call = op->name,
                               .launches = l->launches,
                               .time_s = time_s};
    ft_ptx_counts counts;
    ft_error err;
    const struct module *m = &t->module[op->kind];
    double begin;

    if (t->n == t->cap) {
        t->cap = 2 * t->cap + 1024;
        t->row = realloc(t->row, t->cap * sizeof(*t->row));
        t->kind = realloc(t->kind, t->cap * sizeof(*t->kind));
        if (!t->row || !t->kind)
            exit(1);
    }
    know_kernel(l, m);
    begin = now();
    if (ft__ptx_count(&counts, m->counter, &l->of, &err))
        die(&err);
    t->counting_s += now() - begin;
    t->row[t->n] = row;
    ft_kernel_work_make(&t->row[t->n].work, &counts, &l->space);
    t->kind[t->n++] = kinds[op->kind];
}

static void read_row(struct table *t, ft__rows *r)
{
    const char *title = ft__rows_text(r, (size_t)ft__rows_find(r, "device"));
    const struct op *op = find_op(ft__rows_text(r, (size_t)ft__rows_find(r, "op")));
    struct launch l = {.of = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};

    if (!op || strstr(title, "AMD"))
        return;
    if (sscanf(ft__rows_text(r, (size_t)ft__rows_find(r, "grid")), "%ux%ux%u",
               &l.of.grid[0], &l.of.grid[1], &l.of.grid[2]) != 3 ||
        sscanf(ft__rows_text(r, (size_t)ft__rows_find(r, "block")), "%ux%ux%u",
               &l.of.block[0], &l.of.block[1], &l.of.block[2]) != 3)
        return;
    make_launch(&l, op, atof(ft__rows_text(r, (size_t)ft__rows_find(r, "b"))),
                atof(ft__rows_text(r, (size_t)ft__rows_find(r, "h"))));
    add(t, op, &l, title, atof(ft__rows_text(r, (size_t)ft__rows_find(r, "time_s"))));
}

static void read_table(struct table *t, const char *path, double share)
{
    ft__rows *r = NULL;
    ft_error err;
    char *bytes = NULL;
    size_t len;
    bool more = true;

    if (ft__table_read(&bytes, &len, path, &err) ||
        ft__rows_open(&r, bytes, len, path, &err))
        die(&err);
    while (!ft__rows_next(r, &more, &err) && more) {
        ft__prng p = ft__prng_stream(1, ft__rows_count(r));

        if (ft__prng_unit(&p) < share)
            read_row(t, r);
    }
    ft__rows_close(r);
    free(bytes);
}

/* ---- figures ---- */

enum { SAID, PHYSICS, CONSTANT, ROOFLINE, N_ANSWERS };

struct figures {
    double *truth, *answer[N_ANSWERS], *wide;
    size_t n, covered;
};

static void line(const char *name, struct figures *f)
{
    ft_errors e[N_ANSWERS];
    ft_error err;

    if (!f->n)
        return;
    for (int a = 0; a < N_ANSWERS; a++)
        if (ft_errors_compute(&e[a], f->truth, f->answer[a], f->n, 0, &err))
            die(&err);
    printf("%-28s %7zu  %5.1f %5.1f %5.1f %5.1f %7.4f  %5.1f / %4.2f  %5.1f  %5.1f  "
           "%5.1f\n",
           name, f->n, 100 * e[SAID].mape, 100 * e[SAID].median_ape,
           100 * e[SAID].p90_ape, 100 * e[SAID].within_10, e[SAID].r2,
           100.0 * (double)f->covered / (double)f->n, ft__median(f->wide, f->n),
           100 * e[PHYSICS].median_ape, 100 * e[CONSTANT].median_ape,
           100 * e[ROOFLINE].median_ape);
}

/* kind or device NULL: any. */
static void figures(struct figures *f, const struct table *t,
                    const ft_kernel_said *said, const char *kind,
                    const ft_device_facts *of, const char *kernel)
{
    f->n = f->covered = 0;
    for (size_t i = 0; i < t->n; i++) {
        const ft_kernel_said *s = &said[i];
        double truth = t->row[i].time_s;

        if ((kind && strcmp(t->kind[i], kind) != 0) || (of && t->row[i].device != of) ||
            (kernel && strcmp(t->row[i].kernel, kernel) != 0))
            continue;
        f->truth[f->n] = truth;
        f->answer[SAID][f->n] = s->time_s;
        f->answer[PHYSICS][f->n] = s->physics_s;
        f->answer[CONSTANT][f->n] = s->constant_s;
        f->answer[ROOFLINE][f->n] = s->roofline_s;
        f->covered += truth >= s->low_s && truth <= s->high_s;
        f->wide[f->n++] = s->high_s / s->low_s;
    }
}

static void tables(const struct table *t, const ft_kernel_said *said)
{
    struct figures f = {.truth = calloc(t->n + 1, sizeof(double)),
                        .wide = calloc(t->n + 1, sizeof(double))};
    char name[80];

    for (int a = 0; a < N_ANSWERS; a++)
        f.answer[a] = calloc(t->n + 1, sizeof(double));
    printf("%-28s %7s  %5s %5s %5s %5s %7s  %12s  %5s  %5s  %5s\n", "%", "n", "MAPE",
           "med", "p90", "<10", "R2", "covered/wide", "phys", "const", "roof");
    for (int k = 0; k < 3; k++) {
        figures(&f, t, said, kinds[k], NULL, NULL);
        line(kinds[k], &f);
        for (uint32_t d = 0; d < t->n_devices; d++) {
            snprintf(name, sizeof(name), "  %s", ft_device_get(t->device[d])->name);
            figures(&f, t, said, kinds[k], ft_device_get(t->device[d]), NULL);
            line(name, &f);
        }
    }
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        figures(&f, t, said, NULL, NULL, ops[i].name);
        line(ops[i].name, &f);
    }
}

static void tell(void *user, const ft_regressor_attributes *of)
{
    (void)user;
    printf("importance:");
    for (size_t i = 0; i < of->n && i < 8; i++)
        printf(" %s %.1f;", of->attribute[i].name,
               100 * of->attribute[i].worth.increase);
    printf("\n");
}

/* Learned from everything, kept, and asked. */
static void train(const struct table *t, const ft_kernels_options *opt,
                  const char *path)
{
    enum { TIMES = 100000 };
    ft_kernels *k = NULL;
    ft_kernel_estimate e;
    ft_error err;
    double begin;

    if (ft__kernels_train(&k, t->row, t->n, opt, &err) ||
        ft__kernels_save(k, path, &err))
        die(&err);
    ft__kernels_free(k);
    if (ft__kernels_load(&k, path, &err))
        die(&err);
    printf("%s:", k->fit.choice);
    for (int i = 0; i < FT__N_KERNEL_CONSTANTS; i++)
        printf(" %s %.3g", ft__kernel_name(i), k->theta.v[i]);
    begin = now();
    for (size_t i = 0; i < TIMES; i++)
        if (ft__kernel_predict(&e, k, &t->row[i % t->n].work, t->row[i % t->n].device,
                               3e-5, &err))
            die(&err);
    printf("\n%.1f us to ask of one launch\n", 1e6 * (now() - begin) / TIMES);
    ft__kernels_free(k);
}

static void evaluate(const struct table *t, const ft_kernels_options *opt,
                     const char *host)
{
    ft_kernel_said *said = calloc(t->n + 1, sizeof(*said));
    ft_error err;
    double begin = now();

    if (!said)
        exit(1);
    if (ft_kernels_evaluate(said, t->row, t->n,
                            strcmp(host, "unknown") == 0 ? FT_KERNELS_HOST_UNKNOWN
                            : strcmp(host, "calls") == 0 ? FT_KERNELS_HOST_CALLS
                                                         : FT_KERNELS_HOST_ONE,
                            host, opt, &err))
        die(&err);
    printf("%zu launches counted in %.1f us each; learned and asked in %.1f s\n", t->n,
           1e6 * t->counting_s / (double)t->n, now() - begin);
    tables(t, said);
    free(said);
}

int main(int argc, char **argv)
{
    struct table t = {.data_dir = argc > 1 ? argv[1] : ""};
    const char *what = argc > 4 ? argv[4] : "device",
               *how = argc > 5 ? argv[5] : "unknown";
    ft_kernels_options opt = {.by_kernel = strcmp(what, "kernel") == 0,
                              .seed = 1,
                              .threads = 1,
                              .importance = tell};

    if (argc < 4)
        return fprintf(stderr, "ptx_neusight DATA_DIR TABLE PTX_DIR [device|kernel "
                               "[unknown|calls|CALL [SHARE]]]\n"),
               2;
    for (int m = 0; m < N_MODULES; m++)
        open_module(&t.module[m], argv[3], modules[m]);
    read_table(&t, argv[2], argc > 6 ? atof(argv[6]) : 1);
    if (strcmp(what, "train") == 0)
        train(&t, &opt, how);
    else
        evaluate(&t, &opt, how);
    return 0;
}

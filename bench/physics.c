/* How far the physical estimate alone is off, on devices that were left out:
 *
 *   physics DATA_DIR STORE [WHERE [ROWS [own|default]]]
 *
 * WHERE as in `foretell evaluate`; ROWS of each device, kind and phase are drawn; own:
 * constants fitted on the device itself, what the form can do at best; default: not
 * fitted at all. Constants come from devices of the same maker where there are others.
 * A line a device and kind: MAPE, median APE, mean log(estimate / time), all in
 * percent. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "base/stats.h"
#include "physics/physics.h"
#include "predict/data/sample.h"

enum { MAX_GROUPS = 48 };

struct bench {
    ft__samples samples;
    uint32_t *row; /* samples that are used */
    size_t n;
    ft__hardware_spec *chip; /* of each row */
    double *estimate;
    double *error;   /* scratch */
    uint32_t *group; /* of each dataset: the first one of the same device */
    int own, fixed;
};

_Noreturn static void die(const char *what, const ft_error *err)
{
    fprintf(stderr, "physics: %s: %s\n", what, err->msg);
    exit(1);
}

static const ft__dataset *dataset(const struct bench *b, size_t i)
{
    return &b->samples.dataset[b->samples.v[b->row[i]].dataset];
}

static const ft_op *op_of(const struct bench *b, size_t i)
{
    return &b->samples.v[b->row[i]].op;
}

static double time_of(const struct bench *b, size_t i)
{
    return b->samples.v[b->row[i]].value[FT__METRIC_TIME];
}

static uint32_t group(const struct bench *b, size_t i)
{
    return b->group[b->samples.v[b->row[i]].dataset];
}

static void find_groups(struct bench *b)
{
    for (uint32_t i = 0; i < b->samples.n_datasets; i++)
        while (strcmp(b->samples.dataset[b->group[i]].device,
                      b->samples.dataset[i].device) != 0)
            b->group[i]++;
}

static int same(const struct bench *b, size_t i, size_t j)
{
    return group(b, i) == group(b, j) && op_of(b, i)->kind == op_of(b, j)->kind &&
           op_of(b, i)->phase == op_of(b, j)->phase;
}

/* At most `most` rows of each device, kind and phase, in an order that is shuffled. */
static void draw(struct bench *b, size_t most)
{
    const ft__samples *s = &b->samples;
    size_t *drawn = calloc((size_t)s->n_datasets * FT_KIND_COUNT * FT_PHASE_COUNT + 1,
                           sizeof(*drawn));
    ft__prng rng = {1};
    size_t n = 0;

    if (!drawn)
        exit(1);
    for (size_t i = 0; i < s->n; i++)
        if (s->dataset[s->v[i].dataset].file && s->v[i].value[FT__METRIC_TIME] > 0)
            b->row[n++] = (uint32_t)i;
    for (size_t i = n; i > 1; i--) {
        uint32_t j = ft__prng_below(&rng, (uint32_t)i), keep = b->row[j];

        b->row[j] = b->row[i - 1];
        b->row[i - 1] = keep;
    }
    for (size_t i = 0; i < n; i++) {
        const ft_op *op = op_of(b, i);
        size_t cell =
            ((size_t)group(b, i) * FT_KIND_COUNT + (size_t)op->kind) * FT_PHASE_COUNT +
            (size_t)op->phase;

        if (drawn[cell]++ < most)
            b->row[b->n++] = b->row[i];
    }
    free(drawn);
}

static const char *maker(const struct bench *b, size_t i)
{
    return ft_device_get(dataset(b, i)->file)->vendor;
}

static int has_others(const struct bench *b, uint32_t out, const char *vendor)
{
    for (size_t i = 0; i < b->n; i++)
        if (group(b, i) != out && strcmp(maker(b, i), vendor) == 0)
            return 1;
    return 0;
}

static ft__physics_params fit(const struct bench *b, uint32_t out, const char *vendor)
{
    ft__physics_row *list = calloc(b->n + 1, sizeof(*list));
    ft__physics_params theta = ft__physics_default();
    int alike = has_others(b, out, vendor);
    ft_error err = {0};
    size_t n = 0;

    for (size_t i = 0; list && i < b->n; i++)
        if ((group(b, i) == out) == b->own &&
            (!alike || strcmp(maker(b, i), vendor) == 0))
            list[n++] = (ft__physics_row){op_of(b, i), &b->chip[i], time_of(b, i), 1,
                                          group(b, i) % MAX_GROUPS};
    if (!list || (!b->fixed && ft__physics_fit(&theta, list, n, 1, &err) != FT_OK))
        die("fit", &err);
    free(list);
    return theta;
}

static void line(const struct bench *b, size_t like, int whole)
{
    double sum = 0, bias = 0;
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++)
        if (whole ? group(b, i) == group(b, like) : same(b, i, like)) {
            bias += log(b->estimate[i] / time_of(b, i));
            sum += b->error[n++] = fabs(b->estimate[i] / time_of(b, i) - 1);
        }
    ft__sort(b->error, n);
    printf("%-24s %-14s %-10s %6zu  %6.1f %6.1f %+6.0f\n", dataset(b, like)->device,
           whole ? "all" : ft_kind_name(op_of(b, like)->kind),
           whole ? "" : ft_phase_name(op_of(b, like)->phase), n, 100 * sum / (double)n,
           100 * ft__quantile(b->error, n, 0.5), 100 * bias / (double)n);
}

static void device(struct bench *b, size_t first)
{
    uint32_t out = group(b, first);
    ft__physics_params theta = fit(b, out, maker(b, first));

    for (size_t i = 0; i < b->n; i++)
        if (group(b, i) == out) {
            ft__terms t;

            ft__physics(&t, op_of(b, i), &b->chip[i], &theta);
            b->estimate[i] = t.total_s;
        }
    line(b, first, 1);
    for (size_t i = 0; i < b->n; i++) {
        size_t j = 0;

        while (!same(b, i, j))
            j++;
        if (j == i && group(b, i) == out)
            line(b, i, 0);
    }
}

static void prepare(struct bench *b, char **argv, const char *where, size_t most)
{
    ft_store *store = NULL;
    ft_error err = {0};
    size_t room;

    if (ft_store_open(&store, argv[2], FT_STORE_READ, &err) != FT_OK ||
        ft__samples_read(&b->samples, store, NULL, where, &err) != FT_OK ||
        ft__samples_know(&b->samples, argv[1], &err) != FT_OK)
        die(argv[2], &err);
    ft_store_close(store);
    room = b->samples.n + 1;
    b->row = calloc(room, sizeof(*b->row));
    b->chip = calloc(room, sizeof(*b->chip));
    b->estimate = calloc(room, sizeof(*b->estimate));
    b->error = calloc(room, sizeof(*b->error));
    b->group = calloc(b->samples.n_datasets + 1, sizeof(*b->group));
    if (!b->group || !b->row || !b->chip || !b->estimate || !b->error)
        exit(1);
    find_groups(b);
    draw(b, most);
    for (size_t i = 0; i < b->n; i++)
        ft__hardware_spec_make(&b->chip[i], ft_device_get(dataset(b, i)->file),
                               dataset(b, i)->setting, dataset(b, i)->policy,
                               op_of(b, i));
}

int main(int argc, char **argv)
{
    struct bench b = {.own = argc > 5 && strcmp(argv[5], "own") == 0,
                      .fixed = argc > 5 && strcmp(argv[5], "default") == 0};

    if (argc < 3)
        return 2;
    prepare(&b, argv, argc > 3 ? argv[3] : "",
            argc > 4 ? strtoul(argv[4], NULL, 10) : 200);
    for (size_t i = 0; i < b.n; i++) {
        size_t j = 0;

        while (group(&b, j) != group(&b, i))
            j++;
        if (j == i)
            device(&b, i);
    }
    ft__samples_free(&b.samples);
    free(b.group);
    free(b.row);
    free(b.chip);
    free(b.estimate);
    free(b.error);
    return 0;
}

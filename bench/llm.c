/* Operators of language models on a device that was not measured: the physical estimate
 * alone, and what was measured elsewhere carried over.
 *
 *   llm STORE DATA_DIR KIND ENGINE PHASE METRIC TARGET DEVICE...
 *
 * KIND linear or attention; PHASE all, prefill or decode; METRIC time or power;
 * constants are fitted on DEVICEs alone, the last of which is carried from and lends
 * its own rates. bf16. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/learn.h"
#include "foretell/store.h"
#include "predict/carry.h"
#include "predict/physics.h"

enum { MOST_DEVICES = 8 };

struct row {
    ft_op op;
    ft__chip chip;
    uint32_t device; /* 0: the target */
    int power;       /* 1: value is W, otherwise s */
    double value;
    double estimate; /* with the constants of its own dataset; of the target: lent */
};

static struct row *rows;
static size_t n_rows, room;
static const char *device[MOST_DEVICES];
static ft_device *facts[MOST_DEVICES];
static uint32_t n_devices;
static const char *kind, *engine, *phase, *metric;

static void die(const char *what)
{
    fprintf(stderr, "llm: %s\n", what);
    exit(3);
}

static int wanted(const ft_op *op)
{
    int64_t queries;

    if (strcmp(ft_kind_name(op->kind), kind) || op->dtype != FT_DTYPE_bf16)
        return 0;
    if (op->kind != FT_KIND_attention || !strcmp(phase, "all"))
        return 1;
    queries = ft_op_shape(op, FT_K_x).dim[2];
    return (queries > 1) == !strcmp(phase, "prefill");
}

static int take(void *user, const ft_row *r)
{
    struct row *row;
    ft_error err;

    if (n_rows == room) {
        room = room ? 2 * room : 4096;
        rows = realloc(rows, room * sizeof(*rows));
        if (!rows)
            die("no memory");
    }
    row = &rows[n_rows];
    if (ft_op_parse(&row->op, r->key.spec, strlen(r->key.spec), &err) ||
        !wanted(&row->op))
        return 0;
    row->device = *(uint32_t *)user;
    row->value = r->m.value;
    row->power = !strcmp(r->key.metric, "power");
    ft__chip_make(&row->chip, ft_device_get(facts[row->device]), r->key.setting,
                  r->key.dtype_policy, &row->op);
    n_rows++;
    return 0;
}

static void read_device(ft_store *s, uint32_t i, const char *data)
{
    ft_key key = {.device = device[i], .engine = engine, .metric = "time"};
    ft_error err;

    if (ft_device_load(&facts[i], data, device[i], &err) ||
        ft_store_each(s, &key, 1, take, &i, &err))
        die(err.msg);
    key.metric = "power";
    if (!strcmp(metric, "power") && ft_store_each(s, &key, 1, take, &i, &err))
        die(err.msg);
}

static int asked(const struct row *r)
{
    return r->power == !strcmp(metric, "power");
}

/* Of all devices but the target (from 1), or of one. */
static ft__physics_row *training(size_t *n, uint32_t only)
{
    ft__physics_row *list = malloc((n_rows + 1) * sizeof(*list));

    *n = 0;
    for (size_t i = 0; list && i < n_rows; i++)
        if (!rows[i].power && (only ? rows[i].device == only : rows[i].device > 0))
            list[(*n)++] = (ft__physics_row){&rows[i].op, &rows[i].chip, rows[i].value,
                                             1, only ? 0 : rows[i].device - 1};
    return list;
}

static ft__carry *templates(uint32_t of)
{
    ft__carry_row *list = malloc((n_rows + 1) * sizeof(*list));
    ft__carry *c;
    size_t n = 0;
    ft_error err;

    for (size_t i = 0; list && i < n_rows; i++)
        if (rows[i].device == of && asked(&rows[i]))
            list[n++] = (ft__carry_row){&rows[i].op, rows[i].value, rows[i].estimate};
    if (ft__carry_make(&c, list, n, &err))
        die(err.msg);
    free(list);
    return c;
}

static void estimate_all(const ft__theta *own)
{
    for (size_t i = 0; i < n_rows; i++) {
        uint32_t d = rows[i].device ? rows[i].device : n_devices - 1;
        ft__terms t;

        ft__physics(&t, &rows[i].op, &rows[i].chip, &own[d]);
        rows[i].estimate =
            rows[i].power ? ft__physics_power(&t, &rows[i].chip, &own[d]) : t.total_s;
    }
}

static void report(const char *name, const ft__carry *c, double weight)
{
    double *truth = malloc(n_rows * sizeof(*truth)),
           *said = malloc(n_rows * sizeof(*said));
    size_t n = 0;
    ft_errors e;
    ft_error err;

    for (size_t i = 0; i < n_rows; i++) {
        double ratio = ft__carry_ratio(c, &rows[i].op);

        if (rows[i].device || isnan(ratio) || !asked(&rows[i]))
            continue;
        truth[n] = rows[i].value;
        said[n++] = rows[i].estimate * exp(weight * ratio);
    }
    if (ft_errors_compute(&e, truth, said, n, 1, &err))
        die(err.msg);
    printf("%-24s n %6zu  MAPE %6.2f  median %6.2f  p90 %6.2f  bias %+6.2f\n", name, n,
           100 * e.mape, 100 * e.median_ape, 100 * e.p90_ape, 100 * e.bias);
    free(truth);
    free(said);
}

static void fit_power(ft__theta *own, uint32_t only)
{
    ft__physics_power_row *list = malloc((n_rows + 1) * sizeof(*list));
    size_t n = 0;

    for (size_t i = 0; list && i < n_rows; i++) {
        if (!rows[i].power || rows[i].device != only)
            continue;
        list[n] =
            (ft__physics_power_row){.chip = &rows[i].chip, .power_w = rows[i].value};
        ft__physics(&list[n++].terms, &rows[i].op, &rows[i].chip, own);
    }
    ft__physics_power_fit(own, list, n);
    free(list);
}

static void fit(ft__theta *own)
{
    ft__theta common = ft__physics_default();
    ft__physics_row *list;
    size_t n;
    ft_error err;

    list = training(&n, 0);
    if (!n || ft__physics_fit(&common, list, n, 1, &err))
        die(n ? err.msg : "nothing to learn from");
    free(list);
    for (uint32_t d = 1; d < n_devices; d++) {
        own[d] = common;
        list = training(&n, d);
        if (ft__physics_adapt(&own[d], list, n, 1, &err))
            die(err.msg);
        free(list);
        fit_power(&own[d], d);
    }
}

int main(int argc, char **argv)
{
    ft__theta own[MOST_DEVICES];
    ft__carry *last, *other;
    ft_store *s;
    ft_error err;

    if (argc < 9 || argc > 7 + MOST_DEVICES)
        die("llm STORE DATA_DIR KIND ENGINE PHASE METRIC TARGET DEVICE...");
    kind = argv[3];
    engine = argv[4];
    phase = argv[5];
    metric = argv[6];
    if (ft_store_open(&s, argv[1], FT_STORE_READ, &err))
        die(err.msg);
    for (int i = 7; i < argc; i++) {
        device[n_devices] = argv[i];
        read_device(s, n_devices++, argv[2]);
    }
    fit(own);
    estimate_all(own);
    last = templates(n_devices - 1);
    report("physics", last, 0);
    report("carried", last, 1);
    if (n_devices > 2) {
        double weight;

        other = templates(n_devices - 2);
        weight = ft__carry_weight(other, last);
        printf("weight %.2f\n", weight);
        report("carried in part", last, weight);
        ft__carry_free(other);
    }
    ft__carry_free(last);
    for (uint32_t i = 0; i < n_devices; i++)
        ft_device_free(facts[i]);
    ft_store_close(s);
    free(rows);
    return 0;
}

/* A workload measured at its highest clocks, told at all others: what the workloads of
 * other benchmarks teach, in ten folds of benchmarks. Beside it the median ratio of the
 * others, and of clocks that are chosen for energy the best constant ones.
 *
 *   clocks STORE       with `foretell data import --from dvfs` in it */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "foretell/learn.h"
#include "foretell/store.h"
#include "predict/clock.h"

enum { MOST_SETS = 16, N_FOLDS = 10, MOST_CLOCKS = 64 };

struct row {
    char set[96]; /* device and source */
    char spec[400];
    ft__clock_row r;
    uint64_t group;
    uint32_t fold;
};

static struct row *rows;
static size_t n_rows, room;
static const char *const hints[] = {"dram_active", "fp32_active",   "fp64_active",
                                    "fp16_active", "tensor_active", "sm_active",
                                    "sm_occ"};
enum { N_HINTS = sizeof(hints) / sizeof(*hints) };

static void die(const char *what)
{
    fprintf(stderr, "clocks: %s\n", what);
    exit(3);
}

static double condition(const char *json, const char *name)
{
    char key[40];
    const char *at;

    snprintf(key, sizeof(key), "\"%s\":", name);
    at = json ? strstr(json, key) : NULL;
    if (!at)
        return NAN;
    at += strlen(key);
    return strtod(at + strspn(at, " \""), NULL);
}

static uint64_t hash(const char *text, size_t len)
{
    uint64_t h = 1469598103934665603u;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return h;
}

/* Time and power of one point are rows of their own: joined after sorting. */
static int take(void *user, const ft_row *r)
{
    const char *metric = r->key.metric, *name = strstr(r->key.spec, "name=");
    struct row *row;

    (void)user;
    if (strcmp(metric, "time") && strcmp(metric, "power") &&
        strcmp(metric, "relative_performance"))
        return 0;
    if (n_rows == room) {
        room = room ? 2 * room : 4096;
        rows = realloc(rows, room * sizeof(*rows));
        if (!rows)
            die("no memory");
    }
    row = &rows[n_rows++];
    *row = (struct row){.r = {.time_s = NAN, .power_w = NAN}};
    snprintf(row->set, sizeof(row->set), "%.40s %.40s", r->key.device,
             r->key.engine_version);
    snprintf(row->spec, sizeof(row->spec), "%.390s", r->key.spec);
    name = name ? name + 5 : r->key.spec;
    row->group = hash(name, strcspn(name, "/ "));
    row->r.core_hz = ft__pair_number(r->key.setting, "clock");
    row->r.memory_hz = ft__pair_number(r->key.setting, "memory");
    for (int i = 0; i < FT__CLOCK_HINTS; i++)
        row->r.hint[i] = i < N_HINTS ? condition(r->m.conditions, hints[i]) : NAN;
    if (!strcmp(metric, "time"))
        row->r.time_s = r->m.value;
    else if (!strcmp(metric, "power"))
        row->r.power_w = r->m.value;
    else
        row->r.time_s = 1 / r->m.value;
    return 0;
}

static double memory_of(const struct row *r)
{
    return isfinite(r->r.memory_hz) ? r->r.memory_hz : 0;
}

/* The highest clocks of a workload first. */
static int by_workload(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int c = strcmp(x->set, y->set);

    c = c ? c : strcmp(x->spec, y->spec);
    if (c)
        return c;
    if (x->r.core_hz != y->r.core_hz)
        return x->r.core_hz > y->r.core_hz ? -1 : 1;
    return (memory_of(x) < memory_of(y)) - (memory_of(x) > memory_of(y));
}

static void join(void)
{
    size_t n = 0;
    uint32_t workload = 0;

    qsort(rows, n_rows, sizeof(*rows), by_workload);
    for (size_t i = 0; i < n_rows; i++) {
        struct row *last = n ? &rows[n - 1] : NULL;

        if (last && by_workload(last, &rows[i]) == 0) {
            if (isfinite(rows[i].r.time_s))
                last->r.time_s = rows[i].r.time_s;
            if (isfinite(rows[i].r.power_w))
                last->r.power_w = rows[i].r.power_w;
            continue;
        }
        if (last &&
            (strcmp(last->set, rows[i].set) || strcmp(last->spec, rows[i].spec)))
            workload++;
        rows[n] = rows[i];
        rows[n++].r.workload = workload;
    }
    n_rows = n;
}

/* Which rows are a workload's first, that is measured: at its highest clocks. */
static const struct row *first(const struct row *r)
{
    while (r > rows && r[-1].r.workload == r->r.workload)
        r--;
    return r;
}

struct tally {
    double *truth, *said;
    size_t n;
};

static void count(struct tally *t, double truth, double said)
{
    if (!isfinite(truth) || !isfinite(said))
        return;
    t->truth[t->n] = truth;
    t->said[t->n++] = said;
}

static void print(const char *name, struct tally *t)
{
    ft_errors e;
    ft_error err;

    if (t->n && !ft_errors_compute(&e, t->truth, t->said, t->n, 1, &err))
        printf("  %-22s n %5zu  MAPE %5.1f  median %5.1f  p90 %5.1f\n", name, t->n,
               100 * e.mape, 100 * e.median_ape, 100 * e.p90_ape);
    t->n = 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median ratio of the other folds' workloads at the same clocks. */
static double usual(const struct row *r, size_t from, size_t to, int power)
{
    double *list = malloc((to - from) * sizeof(*list)), value;
    size_t n = 0;

    for (size_t i = from; i < to; i++) {
        const struct row *f = first(&rows[i]);
        double ratio =
            power ? rows[i].r.power_w / f->r.power_w : rows[i].r.time_s / f->r.time_s;

        if (rows[i].fold != r->fold && rows[i].r.core_hz == r->r.core_hz &&
            memory_of(&rows[i]) == memory_of(r) && isfinite(ratio))
            list[n++] = ratio;
    }
    qsort(list, n, sizeof(*list), by_value);
    value = n ? list[n / 2] : NAN;
    free(list);
    return value;
}

static ft__clocks *fitted(size_t from, size_t to, uint32_t without, int trees)
{
    ft__clock_row *list = malloc((to - from) * sizeof(*list));
    ft__clocks *c;
    size_t n = 0;
    ft_error err;

    for (size_t i = from; i < to; i++)
        if (rows[i].fold != without)
            list[n++] = rows[i].r;
    if (ft__clocks_fit(&c, list, n, trees, 1, &err))
        die(err.msg);
    free(list);
    return c;
}

enum { USUAL, FORMULAE, TREES, N_WAYS };
static const char *const ways[N_WAYS] = {"median of others", "formulae",
                                         "formulae and trees"};

/* Energy of a workload at the clock that estimates choose, over the least there is. */
static double regret(const struct row *f, size_t n, const ft__clocks *c)
{
    double core[MOST_CLOCKS], memory[MOST_CLOCKS], least = INFINITY, taken;
    size_t best;

    for (size_t i = 0; i < n; i++) {
        core[i] = f[i].r.core_hz;
        memory[i] = f[i].r.memory_hz;
        least = fmin(least, f[i].r.time_s * f[i].r.power_w);
    }
    best = ft__clocks_best(c, &f->r, core, memory, n, 0);
    taken = best < n ? f[best].r.time_s * f[best].r.power_w : NAN;
    return taken / least - 1;
}

/* The same of the one clock that takes least with the workloads of other folds. */
static double constant_regret(const struct row *f, size_t n, size_t from, size_t to)
{
    double least = INFINITY, cost = INFINITY, taken = NAN;

    for (size_t k = 0; k < n; k++) {
        double sum = 0;
        size_t same = 0;

        for (size_t i = from; i < to; i++) {
            const struct row *top = first(&rows[i]);

            if (rows[i].fold == f->fold || rows[i].r.core_hz != f[k].r.core_hz ||
                memory_of(&rows[i]) != memory_of(&f[k]))
                continue;
            sum += log(rows[i].r.time_s * rows[i].r.power_w /
                       (top->r.time_s * top->r.power_w));
            same++;
        }
        least = fmin(least, f[k].r.time_s * f[k].r.power_w);
        if (same && sum / (double)same < cost) {
            cost = sum / (double)same;
            taken = f[k].r.time_s * f[k].r.power_w;
        }
    }
    return taken / least - 1;
}

static void evaluate(size_t from, size_t to)
{
    struct tally t[N_WAYS][2];
    double sum = 0, constant = 0;
    size_t workloads = 0;

    for (int w = 0; w < N_WAYS; w++)
        for (int p = 0; p < 2; p++)
            t[w][p] = (struct tally){malloc((to - from) * sizeof(double)),
                                     malloc((to - from) * sizeof(double)), 0};
    for (uint32_t fold = 0; fold < N_FOLDS; fold++) {
        ft__clocks *c[2] = {fitted(from, to, fold, 0), fitted(from, to, fold, 1)};

        for (size_t i = from; i < to; i++) {
            const struct row *f = first(&rows[i]);
            ft__clock_ratio said[2];
            size_t n = 1;

            if (rows[i].fold != fold)
                continue;
            if (f == &rows[i]) {
                while (i + n < to && rows[i + n].r.workload == f->r.workload)
                    n++;
                if (n > 1 && n <= MOST_CLOCKS) {
                    sum += regret(f, n, c[1]);
                    constant += constant_regret(f, n, from, to);
                    workloads++;
                }
                continue;
            }
            for (int k = 0; k < 2; k++)
                said[k] =
                    ft__clocks_at(c[k], &f->r, rows[i].r.core_hz, rows[i].r.memory_hz);
            for (int k = 0; k < 2; k++) {
                count(&t[FORMULAE + k][0], rows[i].r.time_s,
                      f->r.time_s * said[k].time);
                count(&t[FORMULAE + k][1], rows[i].r.power_w,
                      f->r.power_w * said[k].power);
            }
            count(&t[USUAL][0], rows[i].r.time_s,
                  f->r.time_s * usual(&rows[i], from, to, 0));
            count(&t[USUAL][1], rows[i].r.power_w,
                  f->r.power_w * usual(&rows[i], from, to, 1));
        }
        ft__clocks_free(c[0]);
        ft__clocks_free(c[1]);
    }
    printf("%s\n", rows[from].set);
    for (int p = 0; p < 2; p++)
        for (int w = 0; w < N_WAYS; w++) {
            char name[60];

            snprintf(name, sizeof(name), "%s %s", p ? "power" : "time", ways[w]);
            print(name, &t[w][p]);
        }
    printf(
        "  energy at the clocks chosen over the least: +%.2f %%, best constant clocks "
        "+%.2f %%, %zu workloads\n",
        100 * sum / (double)workloads, 100 * constant / (double)workloads, workloads);
    for (int w = 0; w < N_WAYS; w++)
        for (int p = 0; p < 2; p++) {
            free(t[w][p].truth);
            free(t[w][p].said);
        }
}

static void deal(size_t from, size_t to)
{
    uint64_t *group = malloc((to - from) * sizeof(*group));
    uint32_t *fold = malloc((to - from) * sizeof(*fold));
    ft_error err;

    for (size_t i = from; i < to; i++)
        group[i - from] = rows[i].group;
    if (ft_folds_make(fold, group, to - from, N_FOLDS, 1, &err))
        die(err.msg);
    for (size_t i = from; i < to; i++)
        rows[i].fold = fold[i - from];
    free(group);
    free(fold);
}

int main(int argc, char **argv)
{
    ft_key key = {.engine = "cuda"};
    ft_store *s;
    ft_error err;

    if (argc != 2)
        die("clocks STORE");
    if (ft_store_open(&s, argv[1], FT_STORE_READ, &err) ||
        ft_store_each(s, &key, 1, take, NULL, &err))
        die(err.msg);
    ft_store_close(s);
    join();
    for (size_t from = 0, to; from < n_rows; from = to) {
        for (to = from; to < n_rows && !strcmp(rows[to].set, rows[from].set);)
            to++;
        deal(from, to);
        evaluate(from, to);
    }
    free(rows);
    return 0;
}

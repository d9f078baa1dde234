/* How far the physical estimate is off on devices that were left out:
 *
 *   physics DATA_DIR ROWS.tsv SOURCE [--in]
 *
 * Lines of ROWS: source, device, setting, spec, seconds, what. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/learn.h"
#include "predict/passes.h"

enum { MAX_ROWS = 400000, MAX_DEVICES = 40, MAX_WHATS = 80 };

struct row {
    ft_op op;
    ft__chip chip;
    char what[24];
    int what_id;
    int device;
    double time_s;
    double estimate;
    ft__terms terms;
};

static struct row *rows;
static size_t n_rows;
static char devices[MAX_DEVICES][64];
static ft_device *facts[MAX_DEVICES];
static int n_devices;
static char whats[MAX_WHATS][24];
static int n_whats;
static const char *only;

static int device_of(const char *name, const char *data)
{
    ft_error err;

    for (int i = 0; i < n_devices; i++)
        if (strcmp(devices[i], name) == 0)
            return i;
    snprintf(devices[n_devices], 64, "%s", name);
    if (ft_device_load(&facts[n_devices], data, name, &err))
        fprintf(stderr, "%s: no facts\n", name);
    return n_devices++;
}

static int what_of(const char *name)
{
    for (int i = 0; i < n_whats; i++)
        if (strcmp(whats[i], name) == 0)
            return i;
    snprintf(whats[n_whats], 24, "%s", name);
    return n_whats++;
}

static void read_rows(const char *path, const char *source, const char *data)
{
    FILE *f = fopen(path, "r");
    char line[4096];

    rows = calloc(MAX_ROWS, sizeof(*rows));
    while (f && fgets(line, sizeof(line), f)) {
        struct row *r = &rows[n_rows];
        char *field[6], *save = NULL, *p = line;
        ft_error err;

        for (int i = 0; i < 6; i++) {
            field[i] = p;
            p = strpbrk(p, "\t\n");
            *p++ = '\0';
        }
        (void)save;
        if (strcmp(field[0], source) || (only && strncmp(field[5], only, strlen(only))))
            continue;
        if (ft_op_parse(&r->op, field[3], strlen(field[3]), &err)) {
            fprintf(stderr, "%s: %s\n", field[3], err.msg);
            continue;
        }
        r->device = device_of(field[1], data);
        if (!facts[r->device])
            continue;
        r->time_s = strtod(field[4], NULL);
        snprintf(r->what, sizeof(r->what), "%s", field[5]);
        r->what_id = what_of(r->what);
        ft__chip_make(&r->chip, ft_device_get(facts[r->device]), field[2], "ieee",
                      &r->op);
        n_rows++;
    }
    if (f)
        fclose(f);
}

static int own_only;

/* Libraries are their makers': what one's devices say tells little of another's. */
static int same_maker(int a, int b)
{
    int n = 0;

    for (int i = 0; i < n_devices; i++)
        n += facts[i] && strcmp(ft_device_get(facts[i])->vendor,
                                ft_device_get(facts[b])->vendor) == 0;
    return n < 2 || strcmp(ft_device_get(facts[a])->vendor,
                           ft_device_get(facts[b])->vendor) == 0;
}

static ft__theta fit_without(int device)
{
    ft__theta theta = ft__physics_default();
    ft__physics_row *list = calloc(n_rows, sizeof(*list));
    double count[MAX_DEVICES][MAX_WHATS] = {{0}};
    size_t n = 0;

    for (size_t i = 0; i < n_rows; i++)
        count[rows[i].device][rows[i].what_id]++;
    for (size_t i = 0; i < n_rows; i++)
        if (device < 0 || ((rows[i].device == device) == own_only && same_maker(rows[i].device, device)))
            list[n++] =
                (ft__physics_row){&rows[i].op, &rows[i].chip, rows[i].time_s,
                                  1 / sqrt(count[rows[i].device][rows[i].what_id]),
                                  (uint32_t)rows[i].device};
    ft__physics_fit(&theta, list, n, 1, NULL);
    free(list);
    return theta;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void cell(int device, int what)
{
    double *e = malloc(n_rows * sizeof(*e)), sum = 0, bias = 0;
    size_t n = 0;

    for (size_t i = 0; i < n_rows; i++)
        if ((device < 0 || rows[i].device == device) &&
            (what < 0 || rows[i].what_id == what)) {
            e[n] = fabs(rows[i].estimate / rows[i].time_s - 1);
            bias += log(rows[i].estimate / rows[i].time_s);
            sum += e[n++];
        }
    if (n) {
        qsort(e, n, sizeof(*e), by_value);
        printf(" %5.1f/%4.1f(%+4.0f)", 100 * sum / (double)n, 100 * e[n / 2],
               100 * bias / (double)n);
    } else {
        printf(" %17s", "-");
    }
    free(e);
}

int main(int argc, char **argv)
{
    int in = argc > 4 && strcmp(argv[4], "--in") == 0;
    ft__theta all;

    if (argc < 4)
        return 2;
    only = argc > 6 ? argv[6] : getenv("ONLY");
    read_rows(argv[2], argv[3], argv[1]);
    own_only = getenv("OWN") != NULL;
    all = fit_without(-1);
    for (int d = 0; d < n_devices; d++) {
        ft__theta theta = in ? all : fit_without(d);

        for (size_t i = 0; i < n_rows; i++)
            if (rows[i].device == d) {
                ft__physics(&rows[i].terms, &rows[i].op, &rows[i].chip, &theta);
                rows[i].estimate = rows[i].terms.total_s;
            }
    }
    for (int i = 0; i < FT__N_THETA; i++)
        printf("%s %.4g%s", ft__physics_name(i), all.v[i], i % 6 == 5 ? "\n" : "  ");
    printf("\n%-16s", "");
    for (int d = 0; d < n_devices; d++)
        printf(" %17.17s", devices[d]);
    printf("\n");
    for (int w = -1; w < n_whats; w++) {
        printf("%-16.16s", w < 0 ? "all" : whats[w]);
        for (int d = 0; d < n_devices; d++)
            cell(d, w);
        cell(-1, w);
        printf("\n");
    }
    if (argc > 5) {
        FILE *f = fopen(argv[5], "w");
        char spec[400];

        for (size_t i = 0; i < n_rows; i++) {
            ft_op_print(&rows[i].op, spec, sizeof(spec));
            fprintf(f, "%s,%s,%s,%g,%g,%g,%g,%g,%g,%g\n", devices[rows[i].device],
                    rows[i].what, spec, rows[i].time_s, rows[i].estimate,
                    rows[i].terms.compute_s, rows[i].terms.cache_s,
                    rows[i].terms.memory_s, rows[i].terms.launch_s,
                    rows[i].terms.waves);
        }
        fclose(f);
    }
    return 0;
}

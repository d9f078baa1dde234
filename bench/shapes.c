/* What the importer says of ONNX files, for bench/onnx-suite:
 *
 *   shapes [--values] [FILE...]     one line for each result of the network (or
 *                                   each named value), fields between tabs:
 *                                   file, number, name, dtype, shape
 *                                   or file, error, sentence
 *   shapes --time RUNS [FILE...]    file, median seconds of processor time of an
 *                                   import of bytes in memory, nodes of the file
 *
 * Without FILEs their names are read from standard input. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/stats.h"
#include "import/graph_inside.h"
#include "import/onnx/onnx.h"

enum { MAX_RUNS = 1000, SMALL_BYTES = 10000, KEPT_BYTES = 1 << 28 };

struct options {
    bool values;
    int runs;
};

/* The bytes of a file; NULL: it cannot be read. */
static uint8_t *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    uint8_t *p = NULL;
    long size = -1;

    if (f && fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0)
        p = malloc((size_t)size + 1);
    *n = size < 0 ? 0 : (size_t)size;
    if (p) {
        rewind(f);
        if (fread(p, 1, *n, f) != *n) {
            free(p);
            p = NULL;
        }
    }
    if (f)
        fclose(f);
    return p;
}

/* ?N for a dimension that depends on data and is N at most, * where not even the rank
 * is known. */
static void print_shape(const ft_shape *s, uint32_t open)
{
    if (open & FT_OPEN_RANK)
        putchar('*');
    for (uint32_t i = 0; i < s->rank && !(open & FT_OPEN_RANK); i++)
        printf("%s%s%lld", i ? "," : "", open >> i & 1 ? "?" : "",
               (long long)s->dim[i]);
    putchar('\n');
}

static void print_type(ft_dtype t, uint32_t container)
{
    bool optional = container & FT_CONTAINER_OPTIONAL,
         sequence = container & FT_CONTAINER_SEQUENCE;

    printf("%s%s%s%s%s\t", optional ? "opt(" : "", sequence ? "seq(" : "",
           container & FT_CONTAINER_MAP ? "map" : ft_dtype_name(t), sequence ? ")" : "",
           optional ? ")" : "");
}

static void see(void *file, const ft__onnx_value *v)
{
    if (v->state == FT__UNDEFINED)
        return;
    printf("%s\t0\t%.*s\t", (const char *)file, (int)v->name.n, v->name.s);
    print_type(v->dtype, v->container);
    print_shape(&v->shape, v->open);
}

static void print_outputs(const char *file, const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_outputs; i++) {
        const ft_tensor *t = &g->tensor[g->output[i]];

        printf("%s\t%u\t%s\t", file, i, t->name);
        print_type(t->dtype, t->container);
        print_shape(&t->shape, t->open);
    }
}

/* Nodes of the file's main graph: what an import is spread over. */
static unsigned count_nodes(const uint8_t *p, size_t n)
{
    ft__pb_doc doc = {.base = p, .len = n};
    unsigned count = 0;

    for (ft__onnx_pb f = ft__pb_open(&doc, (ft__bytes){p, n}); ft__pb_next(&f);)
        if (f.field == 7 && f.wire == FT__PB_BYTES)
            for (ft__onnx_pb g = ft__pb_open(&doc, f.bytes); ft__pb_next(&g);)
                count += g.field == 1;
    return count;
}

/* Of this thread: what else runs on the machine does not count. */
static double processor_time_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ft_status time_import(const char *file, const uint8_t *p, size_t n, int runs,
                             ft_error *err)
{
    /* Looking at the clock takes a third of a small import. */
    int each = n < SMALL_BYTES ? 10 : 1;
    double took_s[MAX_RUNS];
    ft_graph *g;

    for (int i = 0; i < runs; i++) {
        double start_s = processor_time_s();

        for (int k = 0; k < each; k++) {
            ft_status st = ft__onnx_import(&g, p, n, file, NULL, err);

            if (st)
                return st;
            ft_graph_free(g);
        }
        took_s[i] = (processor_time_s() - start_s) / each;
    }
    printf("%s\t%.9f\t%u\n", file, ft__median(took_s, (size_t)runs), count_nodes(p, n));
    return FT_OK;
}

static void show(const char *file, const struct options *opt)
{
    size_t n;
    uint8_t *p = read_file(file, &n);
    ft_status st = FT_OK;
    ft_error err = {0};
    ft_graph *g;

    if (!p) {
        printf("%s\terror\tcannot be read\n", file);
        return;
    }
    if (opt->runs) {
        st = time_import(file, p, n, opt->runs, &err);
    } else if (opt->values) {
        ft__onnx_values(p, n, file, see, (void *)file, &err);
    } else {
        st = ft__onnx_import(&g, p, n, file, NULL, &err);
        if (st == FT_OK)
            print_outputs(file, g);
        ft_graph_free(g);
    }
    if (st)
        printf("%s\terror\t%s\n", file, err.msg);
    free(p);
}

int main(int argc, char **argv)
{
    struct options opt = {0};
    char line[4096];
    int i = 1;

    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--values") == 0)
            opt.values = true;
        else if (strcmp(argv[i], "--time") == 0 && i + 1 < argc)
            opt.runs = atoi(argv[++i]);
        else
            break;
    }
    if (opt.runs < 0 || opt.runs > MAX_RUNS || (i < argc && argv[i][0] == '-')) {
        fprintf(stderr, "usage: %s [--values|--time RUNS] [FILE...]\n", argv[0]);
        return 2;
    }
    /* As in any process that has worked for a while: memory given back is kept, not
     * returned to the kernel to be cleared again. */
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    (void)mallopt(M_MMAP_THRESHOLD, KEPT_BYTES / 16);
    for (int k = i; k < argc; k++)
        show(argv[k], &opt);
    while (i == argc && fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        show(line, &opt);
    }
    return 0;
}

/* foretell ops --diff: what changed between two models. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ops/ops.h"
#include "report/units.h"

enum { A, B, BOTH };

/* One operation in both models; a count of 0: not there. */
struct diff_entry {
    char *spec;
    uint64_t count[BOTH];
    double flops; /* of one */
    double bytes;
};

struct ops_diff {
    const ft__cli *c;
    const ft_graph *g[BOTH];
    ft_totals sum[BOTH];
    ft_memory memory[BOTH];
    struct diff_entry *entry; /* those that differ, the most work first */
    size_t n;
    uint64_t top;
};

static bool add_ops(struct ops_diff *d, int side)
{
    char spec[FT__SPEC_MAX];

    for (uint32_t i = 0; i < d->g[side]->n_ops; i++) {
        struct diff_entry *e = &d->entry[d->n];
        ft_cost c;

        ft_op_print(&d->g[side]->op[i], spec, sizeof(spec));
        ft_op_cost(&d->g[side]->op[i], &c);
        *e = (struct diff_entry){.spec = strdup(spec),
                                 .flops = c.flops,
                                 .bytes = c.bytes_read + c.bytes_written};
        if (!e->spec)
            return false;
        e->count[side] = d->g[side]->op_count[i];
        d->n++;
    }
    return true;
}

static int by_spec(const void *a, const void *b)
{
    const struct diff_entry *p = a, *q = b;

    return strcmp(p->spec, q->spec);
}

static double fewer_or_more(const struct diff_entry *e)
{
    return fabs((double)e->count[B] - (double)e->count[A]);
}

/* The largest change of arithmetic first, then of bytes. */
static int by_change(const void *a, const void *b)
{
    const struct diff_entry *p = a, *q = b;
    double f = fewer_or_more(p) * p->flops - fewer_or_more(q) * q->flops;
    double m = fewer_or_more(p) * p->bytes - fewer_or_more(q) * q->bytes;

    return f < 0 ? 1 : f > 0 ? -1 : m < 0 ? 1 : m > 0 ? -1 : by_spec(a, b);
}

static void compare(struct ops_diff *d)
{
    size_t n = 0;

    qsort(d->entry, d->n, sizeof(*d->entry), by_spec);
    for (size_t i = 0; i < d->n; i++) {
        if (i + 1 < d->n && by_spec(&d->entry[i], &d->entry[i + 1]) == 0) {
            d->entry[i + 1].count[A] += d->entry[i].count[A];
            d->entry[i + 1].count[B] += d->entry[i].count[B];
            free(d->entry[i].spec);
        } else if (d->entry[i].count[A] == d->entry[i].count[B]) {
            free(d->entry[i].spec);
        } else {
            d->entry[n++] = d->entry[i];
        }
    }
    d->n = n;
    qsort(d->entry, d->n, sizeof(*d->entry), by_change);
}

static void diff_free(struct ops_diff *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->entry[i].spec);
    free(d->entry);
}

static ft_status diff_make(struct ops_diff *d, ft_error *err)
{
    static const ft_memory_policy exact = {0};
    size_t most = (size_t)d->g[A]->n_ops + d->g[B]->n_ops;
    ft_status st = FT_OK;

    d->entry = calloc(most + 1, sizeof(*d->entry));
    if (!d->entry || !add_ops(d, A) || !add_ops(d, B))
        return ft_fail(err, FT_ENOMEM, 0, "operations");
    compare(d);
    for (int side = A; side < BOTH && !st; side++) {
        ft_graph_totals(d->g[side], &d->sum[side]);
        st = ft_memory_make(&d->memory[side], d->g[side], &exact, err);
    }
    return st;
}

static uint64_t n_operations(const ft_graph *g)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < g->n_ops; i++)
        n += g->op_count[i];
    return n;
}

static void sum_row(ft__table *t, const char *name, double a, double b,
                    const char *unit)
{
    ft__formatted change = {"-"};

    if (a <= b && a >= b)
        change = (ft__formatted){"same"};
    else if (a > 0)
        snprintf(change.s, sizeof(change.s), "%s%.40s", b > a ? "+" : "",
                 ft__text_percent(b / a - 1).s);
    ft__table_row(t, name, ft__text_in(unit, a).s, ft__text_in(unit, b).s, change.s);
}

static bool print_sums(const struct ops_diff *d)
{
    const ft_totals *a = &d->sum[A], *b = &d->sum[B];
    ft__table *t = ft__table_new("|A>|B>|change>");

    sum_row(t, "operations", (double)n_operations(d->g[A]),
            (double)n_operations(d->g[B]), "1");
    sum_row(t, "unique", d->g[A]->n_ops, d->g[B]->n_ops, "1");
    sum_row(t, "FLOPs", a->flops, b->flops, "FLOP");
    sum_row(t, "bytes moved", a->bytes_read + a->bytes_written,
            b->bytes_read + b->bytes_written, "B");
    sum_row(t, "parameters", a->parameters, b->parameters, "k");
    sum_row(t, "weights", a->weight_bytes, b->weight_bytes, "B");
    sum_row(t, "memory at its peak", (double)d->memory[A].peak_bytes,
            (double)d->memory[B].peak_bytes, "B");
    putchar('\n');
    return ft__table_print_take(t, stdout);
}

/* 0: only in A, 1: only in B, 2: in both. */
static int section_of(const struct diff_entry *e)
{
    return !e->count[B] ? A : !e->count[A] ? B : BOTH;
}

static ft__formatted signed_text(double v, const char *unit)
{
    ft__formatted out;

    snprintf(out.s, sizeof(out.s), "%s%.40s", v > 0 ? "+" : "", ft__text_in(unit, v).s);
    return out;
}

static bool print_section(const struct ops_diff *d, int section, const char *title)
{
    const bool both = section == BOTH;
    ft__table *t;
    uint64_t n = 0, shown = 0;

    for (size_t i = 0; i < d->n; i++)
        n += section_of(&d->entry[i]) == section;
    if (!n)
        return true;
    printf("\n%" PRIu64 " %s\n\n", n, title);
    /* What is in one model only: its work; what is in both: the difference. */
    t = ft__table_new("operation<|?A>u|?B>u|?count>u|FLOPs>|moved>", both, both, !both);
    for (size_t i = 0; i < d->n && shown < d->top; i++) {
        const struct diff_entry *e = &d->entry[i];
        double more = (double)e->count[B] - (double)e->count[A];

        if (section_of(e) != section)
            continue;
        if (!both)
            more = fabs(more);
        ft__table_row(t, e->spec, e->count[A], e->count[B], e->count[A] + e->count[B],
                      both ? signed_text(more * e->flops, "FLOP").s
                           : ft__text_flops(more * e->flops).s,
                      both ? signed_text(more * e->bytes, "B").s
                           : ft__text_bytes(more * e->bytes).s);
        shown++;
    }
    if (!ft__table_print_take(t, stdout))
        return false;
    if (shown < n)
        printf("and %" PRIu64 " with less work: --top %" PRIu64 " lists them\n",
               n - shown, n);
    return true;
}

static void print_model(const struct ops_diff *d, int side)
{
    ft__put_line(stdout, side == A ? "A: " : "B: ", d->c->args.v[side]);
    ft__model_print_bounded(d->g[side]);
    ft__model_print_assumptions(d->g[side]);
}

static bool print_text(const struct ops_diff *d)
{
    print_model(d, A);
    print_model(d, B);
    if (!print_sums(d))
        return false;
    if (!d->n) {
        puts("\nno difference: A and B run the same operations, equally often");
        return true;
    }
    return print_section(d, A, "only in A") && print_section(d, B, "only in B") &&
           print_section(d, BOTH, "in both, but not equally often");
}

static json_t *side_json(const struct ops_diff *d, int side)
{
    const ft_graph *g = d->g[side];
    const ft_totals *s = &d->sum[side];

    return ft__json("model:s assumptions:o bounded:o operations:u unique:n flops:g "
                    "bytes_read:g bytes_written:g parameters:g weight_bytes:g memory:o",
                    d->c->args.v[side], ft__json_texts(g->assumption, g->n_assumptions),
                    ft__json_texts(g->bounded, g->n_bounded), n_operations(g), g->n_ops,
                    s->flops, s->bytes_read, s->bytes_written, s->parameters,
                    s->weight_bytes, ft__memory_json(&d->memory[side]));
}

static const char entry_fields[] = "spec:s count_a:u count_b:u flops:g bytes:g";

static json_t *section_json(const struct ops_diff *d, int section, FILE *csv)
{
    ft__records r = ft__records_begin(entry_fields, csv);

    for (size_t i = 0; i < d->n; i++) {
        const struct diff_entry *e = &d->entry[i];

        if (csv || section_of(e) == section)
            ft__records_add(&r, e->spec, e->count[A], e->count[B], e->flops, e->bytes);
    }
    return r.array;
}

static bool print_json(const struct ops_diff *d)
{
    return ft__cli_json_take(
        d->c, ft__json("identical:b a:o b:o only_a:o only_b:o changed:o", d->n == 0,
                       side_json(d, A), side_json(d, B), section_json(d, A, NULL),
                       section_json(d, B, NULL), section_json(d, BOTH, NULL)));
}

int ft__ops_diff(ft__cli *c, const ft_graph *a, const ft_graph *b, uint64_t top)
{
    struct ops_diff d = {.c = c, .g = {a, b}, .top = top};
    bool good = false;
    ft_status st = diff_make(&d, &c->err);

    if (!st)
        good = c->json  ? print_json(&d)
               : c->csv ? !section_json(&d, BOTH, stdout)
                        : print_text(&d);
    diff_free(&d);
    return st ? ft__cli_check_asked(c, st) : ft__cli_done(c, good);
}

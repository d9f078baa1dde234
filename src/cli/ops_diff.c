/* foretell ops --diff: what changed between two models. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ops.h"
#include "report/units.h"

enum { A, B, BOTH };

/* One operation in both models; a count of 0: not there. */
struct entry {
    char *spec;
    uint64_t count[BOTH];
    double flops; /* of one */
    double bytes;
};

struct diff {
    const ft__cli *c;
    const ft_graph *g[BOTH];
    ft_totals sum[BOTH];
    ft_memory memory[BOTH];
    struct entry *entry; /* those that differ, the most work first */
    size_t n;
    uint64_t top;
};

/* ---- finding out ---- */

static bool add_ops(struct diff *d, int side)
{
    char spec[FT__SPEC_MAX];

    for (uint32_t i = 0; i < d->g[side]->n_ops; i++) {
        struct entry *e = &d->entry[d->n];
        ft_cost c;

        ft_op_print(&d->g[side]->op[i], spec, sizeof(spec));
        ft_op_cost(&d->g[side]->op[i], &c);
        *e = (struct entry){.spec = strdup(spec),
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
    const struct entry *p = a, *q = b;

    return strcmp(p->spec, q->spec);
}

static double fewer_or_more(const struct entry *e)
{
    return fabs((double)e->count[B] - (double)e->count[A]);
}

/* The largest change of arithmetic first, then of bytes. */
static int by_change(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;
    double f = fewer_or_more(p) * p->flops - fewer_or_more(q) * q->flops;
    double m = fewer_or_more(p) * p->bytes - fewer_or_more(q) * q->bytes;

    return f < 0 ? 1 : f > 0 ? -1 : m < 0 ? 1 : m > 0 ? -1 : by_spec(a, b);
}

/* Join what both have, keep what differs. */
static void compare(struct diff *d)
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

static void diff_free(struct diff *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->entry[i].spec);
    free(d->entry);
}

static ft_status diff_make(struct diff *d, ft_error *err)
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

/* ---- text ---- */

static uint64_t n_operations(const ft_graph *g)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < g->n_ops; i++)
        n += g->op_count[i];
    return n;
}

static void sum_row(ft__table *t, const char *name, double a, double b,
                    ft__text (*text)(double))
{
    ft__table_cell(t, "%s", name);
    ft__table_cell(t, "%s", text(a).s);
    ft__table_cell(t, "%s", text(b).s);
    if (a <= b && a >= b)
        ft__table_cell(t, "same");
    else if (a > 0)
        ft__table_cell(t, "%s%s", b > a ? "+" : "", ft__text_percent(b / a - 1).s);
    else
        ft__table_cell(t, "-");
}

static ft__text whole(double v)
{
    ft__text t;

    snprintf(t.s, sizeof(t.s), "%.0f", v);
    return t;
}

static bool print_sums(const struct diff *d)
{
    const ft_totals *a = &d->sum[A], *b = &d->sum[B];
    ft__table *t = ft__table_new("|A>|B>|change>");

    sum_row(t, "operations", (double)n_operations(d->g[A]),
            (double)n_operations(d->g[B]), whole);
    sum_row(t, "unique", d->g[A]->n_ops, d->g[B]->n_ops, whole);
    sum_row(t, "FLOPs", a->flops, b->flops, ft__text_flops);
    sum_row(t, "bytes moved", a->bytes_read + a->bytes_written,
            b->bytes_read + b->bytes_written, ft__text_bytes);
    sum_row(t, "parameters", a->parameters, b->parameters, ft__text_count);
    sum_row(t, "weights", a->weight_bytes, b->weight_bytes, ft__text_bytes);
    sum_row(t, "memory at its peak", (double)d->memory[A].peak_bytes,
            (double)d->memory[B].peak_bytes, ft__text_bytes);
    putchar('\n');
    return ft__table_print_take(t, stdout);
}

/* 0: only in A, 1: only in B, 2: in both. */
static int section_of(const struct entry *e)
{
    return !e->count[B] ? A : !e->count[A] ? B : BOTH;
}

static ft__text signed_text(double v, ft__text (*text)(double))
{
    ft__text t = text(v), out;

    snprintf(out.s, sizeof(out.s), "%s%.40s", v > 0 ? "+" : "", t.s);
    return out;
}

/* What is in one model only: its work; what is in both: the difference. */
static void entry_row(ft__table *t, const struct entry *e)
{
    double more = (double)e->count[B] - (double)e->count[A];
    bool both = section_of(e) == BOTH;

    ft__table_cell(t, "%s", e->spec);
    if (both) {
        ft__table_cell(t, "%" PRIu64, e->count[A]);
        ft__table_cell(t, "%" PRIu64, e->count[B]);
        ft__table_cell(t, "%s", signed_text(more * e->flops, ft__text_flops).s);
        ft__table_cell(t, "%s", signed_text(more * e->bytes, ft__text_bytes).s);
    } else {
        ft__table_cell(t, "%.0f", fabs(more));
        ft__table_cell(t, "%s", ft__text_flops(fabs(more) * e->flops).s);
        ft__table_cell(t, "%s", ft__text_bytes(fabs(more) * e->bytes).s);
    }
}

static bool print_section(const struct diff *d, int section, const char *title)
{
    ft__table *t;
    uint64_t n = 0, shown = 0;

    for (size_t i = 0; i < d->n; i++)
        n += section_of(&d->entry[i]) == section;
    if (!n)
        return true;
    printf("\n%" PRIu64 " %s\n\n", n, title);
    t = ft__table_new(section == BOTH ? "operation<|A>|B>|FLOPs>|moved>"
                                      : "operation<|count>|FLOPs>|moved>");
    for (size_t i = 0; i < d->n && shown < d->top; i++)
        if (section_of(&d->entry[i]) == section) {
            entry_row(t, &d->entry[i]);
            shown++;
        }
    if (!ft__table_print_take(t, stdout))
        return false;
    if (shown < n)
        printf("and %" PRIu64 " with less work: --top %" PRIu64 " lists them\n",
               n - shown, n);
    return true;
}

static void print_model(const struct diff *d, int side)
{
    printf("%c: ", "AB"[side]);
    ft__put_clean(stdout, d->c->args.v[side]);
    putchar('\n');
    ft__model_print_bounded(d->g[side]);
    ft__model_print_assumptions(d->g[side]);
}

static bool print_text(const struct diff *d)
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

/* ---- JSON and CSV ---- */

static json_t *side_json(const struct diff *d, int side)
{
    const ft_graph *g = d->g[side];
    const ft_totals *s = &d->sum[side];

    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "model",
        ft__json_text(d->c->args.v[side]), "assumptions", ft__model_assumptions_json(g),
        "bounded", ft__model_bounded_json(g), "operations",
        ft__json_count(n_operations(g)), "unique", ft__json_count(g->n_ops), "flops",
        ft__json_real(s->flops), "bytes_read", ft__json_real(s->bytes_read),
        "bytes_written", ft__json_real(s->bytes_written), "parameters",
        ft__json_real(s->parameters), "weight_bytes", ft__json_real(s->weight_bytes),
        "memory", ft__memory_json(&d->memory[side]));
}

static json_t *section_json(const struct diff *d, int section)
{
    json_t *all = json_array();

    for (size_t i = 0; i < d->n; i++) {
        const struct entry *e = &d->entry[i];

        if (section_of(e) == section)
            ft__json_append_take(&all,
                                 json_pack("{s:s, s:o, s:o, s:o, s:o}", "spec", e->spec,
                                           "count_a", ft__json_count(e->count[A]),
                                           "count_b", ft__json_count(e->count[B]),
                                           "flops", ft__json_real(e->flops), "bytes",
                                           ft__json_real(e->bytes)));
    }
    return all;
}

static bool print_json(const struct diff *d)
{
    return ft__json_print_take(
        json_pack("{s:b, s:o, s:o, s:o, s:o, s:o}", "identical", d->n == 0, "a",
                  side_json(d, A), "b", side_json(d, B), "only_a", section_json(d, A),
                  "only_b", section_json(d, B), "changed", section_json(d, BOTH)),
        stdout);
}

static bool print_csv(const struct diff *d)
{
    puts("spec,count_a,count_b,flops,bytes");
    for (size_t i = 0; i < d->n; i++)
        ft__csv_row(stdout, "suugg", d->entry[i].spec, d->entry[i].count[A],
                    d->entry[i].count[B], d->entry[i].flops, d->entry[i].bytes);
    return true;
}

int ft__ops_diff(ft__cli *c, const ft_graph *a, const ft_graph *b, uint64_t top)
{
    struct diff d = {.c = c, .g = {a, b}, .top = top};
    ft_error err = {0};
    bool good = false;
    ft_status st = diff_make(&d, &err);

    if (!st)
        good = c->json ? print_json(&d) : c->csv ? print_csv(&d) : print_text(&d);
    diff_free(&d);
    return st ? ft__cli_fail_asked(c, st, &err) : ft__cli_done(c, good);
}

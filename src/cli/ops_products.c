/* foretell ops --products: the convolutions and matrix products inside all
 * operations, so that graphs can be compared whatever their importer calls things. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ops.h"
#include "report/units.h"

struct entry {
    char *text; /* the product's spec */
    uint64_t count;
    double flops; /* of all occurrences */
};

struct list {
    struct entry *entry;
    size_t n;
    double flops;
};

static void list_free(struct list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->entry[i].text);
    free(l->entry);
}

static bool add_op(struct list *l, const ft_graph *g, uint32_t i)
{
    ft_product p[FT_MAX_PRODUCTS];
    uint32_t n = ft_op_products(&g->op[i], p);
    char text[FT__SPEC_MAX];

    for (uint32_t k = 0; k < n; k++) {
        struct entry *e = &l->entry[l->n];

        ft_op_print(&p[k].op, text, sizeof(text));
        e->text = strdup(text);
        if (!e->text)
            return false;
        e->count = p[k].count * g->op_count[i];
        e->flops = ft_product_flops(&p[k]) * (double)g->op_count[i];
        l->flops += e->flops;
        l->n++;
    }
    return true;
}

static int by_text(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;

    return strcmp(p->text, q->text);
}

static int by_flops(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;

    return p->flops < q->flops ? 1 : p->flops > q->flops ? -1 : by_text(a, b);
}

static void merge(struct list *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) {
        if (n && strcmp(l->entry[n - 1].text, l->entry[i].text) == 0) {
            l->entry[n - 1].count += l->entry[i].count;
            l->entry[n - 1].flops += l->entry[i].flops;
            free(l->entry[i].text);
        } else {
            l->entry[n++] = l->entry[i];
        }
    }
    l->n = n;
}

static bool list_make(struct list *l, const ft_graph *g)
{
    size_t most = (size_t)g->n_ops * FT_MAX_PRODUCTS;

    *l = (struct list){.entry = calloc(most + 1, sizeof(*l->entry))};
    if (!l->entry)
        return false;
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (!add_op(l, g, i)) {
            list_free(l);
            return false;
        }
    qsort(l->entry, l->n, sizeof(*l->entry), by_text);
    merge(l);
    qsort(l->entry, l->n, sizeof(*l->entry), by_flops);
    return true;
}

static void row(ft__table *t, uint64_t count, double flops, double all)
{
    ft__table_cell(t, "%" PRIu64, count);
    ft__table_cell(t, "%s", ft__text_flops(flops).s);
    ft__table_cell(t, "%s", ft__text_percent(flops / all).s);
}

static bool print_table(const struct list *l, uint64_t top)
{
    ft__table *t = ft__table_new("product<|count>|FLOPs>|share>");
    uint64_t count = 0, rest_count = 0;
    double rest = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct entry *e = &l->entry[i];

        count += e->count;
        if (i < top) {
            ft__table_cell(t, "%s", e->text);
            row(t, e->count, e->flops, l->flops);
        } else {
            rest_count += e->count;
            rest += e->flops;
        }
    }
    if (l->n > top) {
        ft__table_cell(t, "%zu others (--top %zu lists all)", l->n - (size_t)top, l->n);
        row(t, rest_count, rest, l->flops);
    }
    ft__table_rule(t);
    ft__table_cell(t, "%zu different", l->n);
    row(t, count, l->flops, l->flops);
    return ft__table_print_take(t, stdout);
}

static bool print_text(const ft_graph *g, const struct list *l, double other,
                       uint64_t top)
{
    ft__model_print_bounded(g);
    ft__model_print_assumptions(g);
    ft__put_clean(stdout, g->name);
    if (!l->n) {
        puts(": no convolution and no matrix product");
        return true;
    }
    puts(": convolutions and matrix products inside all operations; a product and its\n"
         "transpose are one, biases and layouts are left out\n");
    if (!print_table(l, top))
        return false;
    printf("\nall other work: %s\n", ft__text_flops(other).s);
    return true;
}

static json_t *entries_json(const struct list *l)
{
    json_t *all = json_array();

    for (size_t i = 0; i < l->n; i++)
        ft__json_append_take(&all,
                             ft__json("product:s count:u flops:g", l->entry[i].text,
                                      l->entry[i].count, l->entry[i].flops));
    return all;
}

static bool print_json(const ft_graph *g, const struct list *l, double other)
{
    return ft__json_print_take(
        ft__json("model:s assumptions:o bounded:o flops:g flops_other:g products:o",
                 g->name, ft__model_assumptions_json(g), ft__model_bounded_json(g),
                 l->flops, other, entries_json(l)),
        stdout);
}

static const char row_fields[] = "product:s count:u flops:g";

static bool print_csv(const struct list *l)
{
    ft__csv_head(stdout, row_fields);
    for (size_t i = 0; i < l->n; i++)
        ft__csv_row(stdout, row_fields, l->entry[i].text, l->entry[i].count,
                    l->entry[i].flops);
    return true;
}

bool ft__ops_products(const ft__cli *c, const ft_graph *g, uint64_t top)
{
    struct list l;
    ft_totals sum;
    bool good;

    if (!list_make(&l, g))
        return false;
    ft_graph_totals(g, &sum);
    good = c->json  ? print_json(g, &l, sum.flops - l.flops)
           : c->csv ? print_csv(&l)
                    : print_text(g, &l, sum.flops - l.flops, top);
    list_free(&l);
    return good;
}

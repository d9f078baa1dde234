/* ops --products: the convolutions and matrix products inside all operations, so that
 * graphs can be compared whatever their importer calls things. */
#include <stdlib.h>
#include <string.h>

#include "cli/ops/ops.h"
#include "report/units.h"

struct product_entry {
    char *text; /* the product's spec */
    uint64_t count;
    double flops; /* of all occurrences */
};

struct product_list {
    struct product_entry *entry;
    size_t n;
    double flops;
};

static void products_free(struct product_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->entry[i].text);
    free(l->entry);
}

static bool add_products(struct product_list *l, const ft_graph *g, uint32_t i)
{
    ft_product p[FT_MAX_PRODUCTS];
    uint32_t n = ft_op_products(&g->op[i], p);
    char text[FT__SPEC_MAX];

    for (uint32_t k = 0; k < n; k++) {
        struct product_entry *e = &l->entry[l->n];

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

static int by_product(const void *a, const void *b)
{
    const struct product_entry *p = a, *q = b;

    return strcmp(p->text, q->text);
}

static int by_product_flops(const void *a, const void *b)
{
    const struct product_entry *p = a, *q = b;

    return p->flops < q->flops ? 1 : p->flops > q->flops ? -1 : by_product(a, b);
}

static void merge_products(struct product_list *l)
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

static bool products_make(struct product_list *l, const ft_graph *g)
{
    size_t most = (size_t)g->n_ops * FT_MAX_PRODUCTS;

    *l = (struct product_list){.entry = calloc(most + 1, sizeof(*l->entry))};
    if (!l->entry)
        return false;
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (!add_products(l, g, i)) {
            products_free(l);
            return false;
        }
    qsort(l->entry, l->n, sizeof(*l->entry), by_product);
    merge_products(l);
    qsort(l->entry, l->n, sizeof(*l->entry), by_product_flops);
    return true;
}

static bool print_product_table(const struct product_list *l, uint64_t top)
{
    ft__table *t = ft__table_new("product<|count>u|FLOPs>FLOP|share>%");
    uint64_t count = 0, rest_count = 0;
    char name[64];
    double rest = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct product_entry *e = &l->entry[i];

        count += e->count;
        if (i < top) {
            ft__table_row(t, e->text, e->count, e->flops, e->flops / l->flops);
        } else {
            rest_count += e->count;
            rest += e->flops;
        }
    }
    snprintf(name, sizeof(name), "%zu others (--top %zu lists all)", l->n - (size_t)top,
             l->n);
    if (l->n > top)
        ft__table_row(t, name, rest_count, rest, rest / l->flops);
    ft__table_rule(t);
    snprintf(name, sizeof(name), "%zu different", l->n);
    ft__table_row(t, name, count, l->flops, l->flops / l->flops);
    return ft__table_print_take(t, stdout);
}

static bool print_products_text(const ft_graph *g, const struct product_list *l,
                                double other, uint64_t top)
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
    if (!print_product_table(l, top))
        return false;
    printf("\nall other work: %s\n", ft__text_flops(other).s);
    return true;
}

static json_t *products_json(const struct product_list *l, FILE *csv)
{
    ft__records r = ft__records_begin("product:s count:u flops:g", csv);

    for (size_t i = 0; i < l->n; i++)
        ft__records_add(&r, l->entry[i].text, l->entry[i].count, l->entry[i].flops);
    return r.array;
}

static bool print_products_json(const ft__cli *c, const ft_graph *g,
                                const struct product_list *l, double other)
{
    return ft__cli_json_take(
        c, ft__json("model:s assumptions:o bounded:o flops:g flops_other:g products:o",
                    g->name, ft__json_texts(g->assumption, g->n_assumptions),
                    ft__json_texts(g->bounded, g->n_bounded), l->flops, other,
                    products_json(l, NULL)));
}

bool ft__ops_products(const ft__cli *c, const ft_graph *g, uint64_t top)
{
    struct product_list l;
    ft_totals sum;
    bool good;

    if (!products_make(&l, g))
        return false;
    ft_graph_totals(g, &sum);
    good = c->json  ? print_products_json(c, g, &l, sum.flops - l.flops)
           : c->csv ? !products_json(&l, stdout)
                    : print_products_text(g, &l, sum.flops - l.flops, top);
    products_free(&l);
    return good;
}

/* Specs and how often each occurs: of a graph's products, or of a file that
 * tools/make-joint wrote from torch's graph. */
#ifndef SPEC_COUNTS_H
#define SPEC_COUNTS_H

#include "check.h"
#include "foretell/graph.h"

enum { MAX_LINES = 512, SPEC = 256 };

struct list {
    struct line {
        char spec[SPEC];
        unsigned long long count;
    } line[MAX_LINES];
    size_t n;
    double flops;
};

static inline void add(struct list *l, const char *spec, unsigned long long count)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->line[i].spec, spec) == 0) {
            l->line[i].count += count;
            return;
        }
    CHECK(CMP(l->n, <, MAX_LINES));
    if (l->n == MAX_LINES)
        return;
    snprintf(l->line[l->n].spec, SPEC, "%s", spec);
    l->line[l->n++].count = count;
}

static inline void read_golden(struct list *l, const char *path)
{
    char text[512], spec[SPEC];
    unsigned long long count;
    FILE *fp = fopen(path, "r");

    l->n = 0;
    l->flops = 0;
    CHECK(fp != NULL);
    while (fp && fgets(text, sizeof(text), fp)) {
        if (sscanf(text, "%llu %255[^\n]", &count, spec) == 2)
            add(l, spec, count);
        else if (sscanf(text, "flops %lf", &l->flops) != 1)
            CHECK_EQ(text[0], '#');
    }
    if (fp)
        fclose(fp);
}

/* Of the gradient of a grouped convolution's filters torch's counter counts as
 * many FLOPs as if there were no groups. */
static inline double as_torch_counts(const ft_product *p)
{
    double flops = ft_product_flops(p);

    if (p->op.phase == FT_PHASE_BACKWARD && ft_op_wrt(&p->op) == FT_WRT_WEIGHTS)
        flops *= (double)ft_op_at(&p->op, FT_K_groups, 0);
    return flops;
}

static inline void products_of(struct list *l, const ft_graph *g)
{
    l->n = 0;
    l->flops = 0;
    for (uint32_t i = 0; i < g->n_ops; i++) {
        ft_product p[FT_MAX_PRODUCTS];
        uint32_t n = ft_op_products(&g->op[i], p);

        for (uint32_t k = 0; k < n; k++) {
            char spec[SPEC];

            ft_op_print(&p[k].op, spec, sizeof(spec));
            add(l, spec, p[k].count * g->op_count[i]);
            l->flops += as_torch_counts(&p[k]) * (double)g->op_count[i];
        }
    }
}

static inline unsigned long long count_of(const struct list *l, const char *spec)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->line[i].spec, spec) == 0)
            return l->line[i].count;
    return 0;
}

static inline void compare(const char *name, const struct list *ours,
                           const struct list *theirs)
{
    const struct list *const list[] = {ours, theirs};
    int differ = 0;

    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < list[k]->n; i++) {
            const char *spec = list[k]->line[i].spec;

            if (count_of(ours, spec) == count_of(theirs, spec))
                continue;
            fprintf(stderr, "%s: %llu for %llu of %s\n", name, count_of(ours, spec),
                    count_of(theirs, spec), spec);
            differ++;
        }
    CHECK(EQ(differ, 0) && CMP(theirs->n, >, 0));
    CHECK_NEAR(ours->flops, theirs->flops, 0);
}

#endif

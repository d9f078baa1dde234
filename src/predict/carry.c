/* Operations measured on one device, as templates for another. */
#include "predict/carry.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_COMMON = 20 };

struct entry {
    uint64_t hash;
    size_t order; /* of its row: sums do not depend on how sorting breaks ties */
    double ratio;
};

struct ft__carry {
    size_t n;
    struct entry entry[]; /* ascending by hash */
};

static int by_hash(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Runs of one operation become one entry with their mean. */
static size_t join(struct entry *e, size_t n)
{
    size_t out = 0;

    for (size_t i = 0; i < n;) {
        size_t end = i;
        double sum = 0;

        for (; end < n && e[end].hash == e[i].hash; end++)
            sum += e[end].ratio;
        e[out++] = (struct entry){.hash = e[i].hash, .ratio = sum / (double)(end - i)};
        i = end;
    }
    return out;
}

ft_status ft__carry_make(ft__carry **out, const ft__carry_row *row, size_t n,
                         ft_error *err)
{
    ft__carry *c = malloc(sizeof(*c) + n * sizeof(*c->entry));
    size_t used = 0;

    *out = NULL;
    if (!c)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu templates", n);
    for (size_t i = 0; i < n; i++) {
        double ratio = log(row[i].value / row[i].estimate);

        if (row[i].value > 0 && row[i].estimate > 0 && isfinite(ratio))
            c->entry[used++] = (struct entry){
                .hash = ft_op_hash(row[i].op), .order = i, .ratio = ratio};
    }
    qsort(c->entry, used, sizeof(*c->entry), by_hash);
    c->n = join(c->entry, used);
    *out = c;
    return FT_OK;
}

void ft__carry_free(ft__carry *c)
{
    free(c);
}

static double ratio_of(const ft__carry *c, uint64_t hash)
{
    size_t low = 0, high = c->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->entry[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->n && c->entry[low].hash == hash ? c->entry[low].ratio : NAN;
}

double ft__carry_ratio(const ft__carry *c, const ft_op *op)
{
    return ratio_of(c, ft_op_hash(op));
}

double ft__carry_weight(const ft__carry *from, const ft__carry *to)
{
    double both = 0, square = 0;
    size_t common = 0;

    for (size_t i = 0; i < from->n; i++) {
        double here = from->entry[i].ratio, there = ratio_of(to, from->entry[i].hash);

        if (isnan(there))
            continue;
        both += here * there;
        square += here * here;
        common++;
    }
    if (common < LEAST_COMMON || !(square > 0))
        return 1;
    return fmin(fmax(both / square, 0), 1);
}

/* Which points are not compared, and which values they have in common. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explore/explore.h"

enum { SHOWN_POINTS = 3, SHOWN_VALUES = 6, MOST_VALUES = 4096, POINT_TEXT = 4096 };

static size_t value_index(const ft_parameter *p, double v)
{
    return (size_t)(p->value ? v : v - p->low);
}

/* seen[v]: 0, no point has value v; 1, none of those with in[i]; 3, one of them has it.
 * False where the parameter does not tell them apart, or is inactive in one of them. */
static bool tells_apart(unsigned char *seen, const ft_parameter *p, size_t k,
                        const ft__rows *r, const unsigned char *in)
{
    bool apart = false;

    memset(seen, 0, p->n_values);
    for (size_t i = 0; i < r->n; i++) {
        if (isnan(r->point[i][k]) && in[i])
            return false;
        if (!isnan(r->point[i][k]))
            seen[value_index(p, r->point[i][k])] |= in[i] ? 3 : 1;
    }
    for (size_t v = 0; v < p->n_values; v++)
        apart |= seen[v] == 1;
    return apart;
}

static void print_values(FILE *fp, const ft_parameter *p, const unsigned char *seen)
{
    size_t shown = 0;

    fprintf(fp, " %s=", p->name);
    for (size_t v = 0; v < p->n_values && shown <= SHOWN_VALUES; v++) {
        if (seen[v] != 3)
            continue;
        if (shown++ == SHOWN_VALUES)
            fputs(",...", fp);
        else if (p->value)
            fprintf(fp, "%s%s", shown > 1 ? "," : "", p->value[v]);
        else
            fprintf(fp, "%s%.0f", shown > 1 ? "," : "", p->low + (double)v);
    }
}

/* " device=jetson-tk1", what all of them have and not all others; like[i] = 1: point i
 * has it, too. */
static void print_common(FILE *fp, unsigned char *like, unsigned char *seen,
                         const ft_exploration *x, const ft__rows *r,
                         const unsigned char *in)
{
    const ft_exploration_facts *f = ft_exploration_get(x);

    memset(like, 1, r->n);
    for (size_t k = 0; k < f->n_params; k++) {
        const ft_parameter *p = &f->param[k];

        if (p->n_values == 0 || p->n_values > MOST_VALUES ||
            !tells_apart(seen, p, k, r, in))
            continue;
        print_values(fp, p, seen);
        for (size_t i = 0; i < r->n; i++)
            like[i] = like[i] && !isnan(r->point[i][k]) &&
                      seen[value_index(p, r->point[i][k])] == 3;
    }
}

static void print_examples(FILE *fp, const ft_exploration *x, const ft__rows *r,
                           const unsigned char *in)
{
    char text[POINT_TEXT];
    size_t shown = 0, n = 0;

    for (size_t i = 0; i < r->n; i++) {
        n += in[i];
        if (!in[i] || shown == SHOWN_POINTS)
            continue;
        ft_point_print(x, r->point[i], text, sizeof(text));
        fprintf(fp, "%s%s", shown++ ? "; " : "", text);
    }
    if (n > shown)
        fprintf(fp, "; and %zu more", n - shown);
}

static void print_which(FILE *fp, const char *common, const unsigned char *like,
                        const ft_exploration *x, const ft__rows *r,
                        const unsigned char *in)
{
    bool all = *common != '\0';

    for (size_t i = 0; i < r->n && all; i++)
        all = in[i] || !like[i];
    if (all)
        fprintf(fp, "those with%s", common);
    else
        print_examples(fp, x, r, in);
}

char *ft__points_describe(const ft_exploration *x, const ft__rows *r,
                          const unsigned char *in)
{
    unsigned char *seen = malloc(MOST_VALUES), *like = malloc(r->n + 1);
    char *common = NULL, *which = NULL;
    size_t size;
    FILE *fp = seen && like ? open_memstream(&common, &size) : NULL;
    bool good = fp != NULL;

    if (fp)
        print_common(fp, like, seen, x, r, in);
    good = fp && fclose(fp) == 0;
    fp = good ? open_memstream(&which, &size) : NULL;
    if (fp)
        print_which(fp, common, like, x, r, in);
    good = fp && fclose(fp) == 0;
    free(seen);
    free(like);
    free(common);
    if (good)
        return which;
    free(which);
    return NULL;
}

/* Would it be compared if all of it were known? */
static bool may_be_compared(const ft__explored *e, const double *value)
{
    for (size_t k = 0; k < e->n_objectives; k++) {
        const ft_objective *o = &e->objective[k];

        if (o->maximize ? value[k] < o->limit : value[k] > o->limit)
            return false;
    }
    return true;
}

static bool add_unknown(ft__explored *e, uint32_t w, size_t k, const ft__rows *r,
                        unsigned char *in)
{
    ft__unknown u = {.workload = w, .objective = k};

    for (size_t i = 0; i < r->n; i++) {
        const bool compared = may_be_compared(e, r->value[i]);

        in[i] = compared && isnan(r->value[i][k]);
        u.points += in[i];
        u.known += isnan(r->value[i][k]) ? 0 : 1;
    }
    if (u.points == 0)
        return true;
    u.which = ft__points_describe(e->x, r, in);
    e->unknown[e->n_unknown++] = u;
    return u.which != NULL;
}

bool ft__explored_find_unknown(ft__explored *e, uint32_t w, const ft__rows *r)
{
    unsigned char *in = malloc(r->n + 1);
    bool good = in != NULL;

    if (!e->unknown)
        e->unknown = calloc(e->n_workloads * e->n_objectives + 1, sizeof(*e->unknown));
    good = good && e->unknown;
    for (size_t k = 0; k < e->n_objectives && good; k++)
        good = add_unknown(e, w, k, r, in);
    free(in);
    return good;
}

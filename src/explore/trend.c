#include "explore/trend.h"

#include <math.h>
#include <string.h>

#include "base/solve.h"

enum {
    MOST_VALUES = 8, /* of a category that has columns of its own */
    PENALTY = 1,
};

/* Columns that the parameters take, with squares or without. */
static size_t count(const ft_space *s, bool squares)
{
    size_t n = 1;

    for (size_t k = 0; k < s->n; k++) {
        const ft_param *p = &s->param[k];

        if (p->type == FT_PARAM_CATEGORICAL)
            n += p->n_values > MOST_VALUES || p->n_values == 1 ? 0 : p->n_values;
        else
            n += p->n_values == 1 ? 0 : squares && p->n_values != 2 ? 2 : 1;
    }
    return n;
}

size_t ft__trend_columns(const ft_space *s, const double *point, double *column)
{
    const bool squares = count(s, true) <= FT__MAX_TREND;
    double unit[FT__MAX_PARAMS];
    size_t n = 0;

    column[n++] = 1;
    if (!squares && count(s, false) > FT__MAX_TREND)
        return n;
    ft_space_to_unit(s, unit, point);
    for (size_t k = 0; k < s->n; k++) {
        const ft_param *p = &s->param[k];
        const double x = isnan(point[k]) ? 0 : 2 * unit[k] - 1;

        if (p->n_values == 1)
            continue;
        if (p->type != FT_PARAM_CATEGORICAL) {
            column[n++] = x;
            if (squares && p->n_values != 2)
                column[n++] = x * x;
        } else if (p->n_values <= MOST_VALUES) {
            for (uint32_t v = 0; v < p->n_values; v++)
                column[n++] = point[k] == v;
        }
    }
    return n;
}

void ft__trend_fit(ft__trend *t, const double *row, size_t columns, const double *y,
                   size_t n)
{
    double a[FT__MAX_TREND * FT__MAX_TREND] = {0};

    memset(t->weight, 0, sizeof(t->weight));
    t->n = columns;
    for (size_t i = 0; i < n; i++, row += columns)
        for (size_t j = 0; j < columns; j++) {
            t->weight[j] += row[j] * y[i];
            for (size_t k = 0; k <= j; k++)
                a[j * columns + k] += row[j] * row[k];
        }
    for (size_t j = 0; j < columns; j++)
        a[j * columns + j] += j ? PENALTY : 1e-9;
    ft__solve(a, t->weight, (int)columns);
}

double ft__trend_at(const ft__trend *t, const double *column)
{
    double sum = 0;

    for (size_t j = 0; j < t->n; j++)
        sum += t->weight[j] * column[j];
    return sum;
}

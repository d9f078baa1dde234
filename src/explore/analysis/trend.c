#include "explore/analysis/trend.h"

#include <math.h>
#include <string.h>

#include "base/solve.h"
#include "explore/explore_inside.h"

enum {
    MOST_VALUES = 8, /* of a category that has columns of its own */
    PENALTY = 1,
};

static bool is_number(const ft_parameter *p)
{
    return p->type != FT_PARAM_CATEGORICAL && p->n_values != 1;
}

static bool is_choice(const ft_parameter *p)
{
    return p->type == FT_PARAM_CATEGORICAL && p->n_values > 1 &&
           p->n_values <= MOST_VALUES;
}

/* Columns with what is asked for besides the parameters themselves. */
static size_t count(const ft_space *s, bool squares, bool products)
{
    size_t n = 1, numbers = 0;

    for (size_t k = 0; k < s->n; k++) {
        const ft_parameter *p = &s->param[k];

        n += is_choice(p) ? p->n_values : 0;
        n += is_number(p) ? (squares && p->n_values != 2 ? 2 : 1) : 0;
        numbers += is_number(p);
    }
    return n + (products ? numbers * (numbers - 1) / 2 : 0);
}

size_t ft__trend_columns(const ft_space *s, const double *point, double *column)
{
    const bool squares = count(s, true, false) <= FT__MAX_TREND;
    const bool products = squares && count(s, true, true) <= FT__MAX_TREND;
    double x[FT__MAX_PARAMS];
    size_t n = 0, numbers = 0;

    column[n++] = 1;
    if (count(s, squares, false) > FT__MAX_TREND)
        return n;
    ft__space_to_unit(s, x, point);
    for (size_t k = 0; k < s->n; k++) {
        const ft_parameter *p = &s->param[k];

        for (uint32_t v = 0; is_choice(p) && v < p->n_values; v++)
            column[n++] = point[k] == v;
        if (!is_number(p))
            continue;
        x[numbers] = isnan(point[k]) ? 0 : 2 * x[k] - 1;
        column[n++] = x[numbers];
        if (squares && p->n_values != 2)
            column[n++] = x[numbers] * x[numbers];
        for (size_t j = 0; products && j < numbers; j++)
            column[n++] = x[j] * x[numbers];
        numbers++;
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

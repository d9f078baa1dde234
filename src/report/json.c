#include "report/json.h"
#include "foretell/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *ft__json_real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

json_t *ft__json_text(const char *s)
{
    json_t *v = json_string(s);
    char *copy;

    if (v)
        return v;
    copy = strdup(s);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    v = copy ? json_string(copy) : NULL;
    free(copy);
    return v;
}

json_t *ft__json_count(uint64_t n)
{
    return n <= INT64_MAX ? json_integer((json_int_t)n) : json_real((double)n);
}

json_t *ft__json_estimate(const ft_estimate *e, const char *unit)
{
    const char *basis = ft_name(FT_NAMES_BASIS, e->basis);

    if (e->basis == FT_BASIS_UNAVAILABLE)
        return json_pack("{s:n, s:n, s:n, s:s, s:s, s:o}", "value", "low", "high",
                         "unit", unit, "basis", basis, "why", ft__json_text(e->why));
    return json_pack("{s:o, s:o, s:o, s:s, s:s}", "value", ft__json_real(e->value),
                     "low", ft__json_real(e->low), "high", ft__json_real(e->high),
                     "unit", unit, "basis", basis);
}

json_t *ft__json_errors(const ft_errors *e)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "n",
        ft__json_count(e->n), "mape", ft__json_real(e->mape), "median_ape",
        ft__json_real(e->median_ape), "p90_ape", ft__json_real(e->p90_ape), "within_10",
        ft__json_real(e->within_10), "max_ape", ft__json_real(e->max_ape), "bias",
        ft__json_real(e->bias), "r2", ft__json_real(e->r2), "adjusted_r2",
        ft__json_real(e->adjusted_r2), "mae", ft__json_real(e->mae), "median_ae",
        ft__json_real(e->median_ae), "max_ae", ft__json_real(e->max_ae));
}

void ft__json_append_take(json_t **array, json_t *value)
{
    if (json_array_append_new(*array, value)) {
        json_decref(*array);
        *array = NULL;
    }
}

bool ft__json_print_take(json_t *v, FILE *fp)
{
    bool good = v && json_dumpf(v, fp, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0;

    if (good)
        fputc('\n', fp);
    json_decref(v);
    return good;
}

json_t *ft__json_join_take(json_t *a, json_t *b)
{
    bool good = a && b && json_object_update(a, b) == 0;

    json_decref(b);
    if (good)
        return a;
    json_decref(a);
    return NULL;
}

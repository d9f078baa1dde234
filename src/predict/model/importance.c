#include "predict/model/importance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME = 48 };

ft_status ft__importance_want(ft__fit_options *how, const ft__importance_to *to,
                              uint32_t n_columns, ft_error *err)
{
    how->importance = NULL;
    if (!to)
        return FT_OK;
    how->importance = calloc(n_columns + 1u, sizeof(*how->importance));
    return how->importance ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "importance");
}

static int by_worth(const void *a, const void *b)
{
    const ft_attribute *x = a, *y = b;
    double p = x->worth.increase, q = y->worth.increase;

    /* In order of columns where they are worth the same. */
    return p != q ? (p < q) - (p > q) : (x->name > y->name) - (x->name < y->name);
}

ft_status
ft__importance_tell_named(const ft__importance_to *to,
                          const ft_regressor_attributes *of, const ft_importance *worth,
                          void (*name)(const void *with, char out[NAME], uint32_t i),
                          const void *with, ft_error *err)
{
    ft_regressor_attributes all = *of;
    ft_attribute *a = calloc(of->n + 1, sizeof(*a));
    char(*text)[NAME] = calloc(of->n + 1, sizeof(*text));
    bool good = a && text;

    for (uint32_t i = 0; good && i < of->n; i++) {
        name(with, text[i], i);
        a[i] = (ft_attribute){.name = text[i], .worth = worth[i]};
    }
    if (good) {
        qsort(a, of->n, sizeof(*a), by_worth);
        all.attribute = a;
        to->tell(to->user, &all);
    }
    free(text);
    free(a);
    return good ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "importance");
}

static void name_column(const void *with, char out[NAME], uint32_t i)
{
    if (with)
        ft__columns_name(with, out, i);
    else
        snprintf(out, NAME, "%s", ft__feature_name(i));
}

ft_status ft__importance_tell(const ft__importance_to *to,
                              const ft_regressor_attributes *of,
                              const ft_importance *worth, const ft__columns *columns,
                              ft_error *err)
{
    return to ? ft__importance_tell_named(to, of, worth, name_column, columns, err)
              : FT_OK;
}

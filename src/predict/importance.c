#include "predict/importance.h"

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

ft_status ft__importance_tell(const ft__importance_to *to,
                              const ft_regressor_attributes *of,
                              const ft_importance *worth, const ft__columns *columns,
                              ft_error *err)
{
    ft_regressor_attributes all = *of;
    ft_attribute *a;
    char(*name)[NAME];
    bool good;

    if (!to)
        return FT_OK;
    a = calloc(of->n + 1, sizeof(*a));
    name = calloc(of->n + 1, sizeof(*name));
    good = a && name;
    for (uint32_t i = 0; good && i < of->n; i++) {
        if (columns)
            ft__columns_name(columns, name[i], i);
        else
            snprintf(name[i], NAME, "%s", ft__feature_name(i));
        a[i] = (ft_attribute){.name = name[i], .worth = worth[i]};
    }
    if (good) {
        qsort(a, of->n, sizeof(*a), by_worth);
        all.attribute = a;
        to->tell(to->user, &all);
    }
    free(name);
    free(a);
    return good ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "importance");
}

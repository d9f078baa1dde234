/* What the columns of a regressor are worth, told to whoever asks. */
#include "predict/model/importance.h"

#include <stdlib.h>

enum { NAME = 48 };

static int by_worth(const void *a, const void *b)
{
    const ft_attribute *x = a, *y = b;
    double p = x->worth.increase, q = y->worth.increase;

    /* In order of columns where they are worth the same. */
    return p != q ? (p < q) - (p > q) : (x->name > y->name) - (x->name < y->name);
}

static ft_status tell(const ft__importance_of *ask, const ft_importance *worth,
                      ft_error *err)
{
    ft_regressor_attributes all = ask->of;
    ft_attribute *a = calloc(all.n + 1, sizeof(*a));
    char(*text)[NAME] = calloc(all.n + 1, sizeof(*text));
    bool good = a && text;

    for (uint32_t i = 0; good && i < all.n; i++) {
        ask->name(ask->with, text[i], i);
        a[i] = (ft_attribute){.name = text[i], .worth = worth[i]};
    }
    if (good) {
        qsort(a, all.n, sizeof(*a), by_worth);
        all.attribute = a;
        ask->to->tell(ask->to->user, &all);
    }
    free(text);
    free(a);
    return good ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "importance");
}

ft_status ft__importance_fit(ft__fit *f, double *out, double *residual_scale,
                             const ft__matrix *x, const double *y,
                             const uint64_t *group, const ft__fit_options *opt,
                             const ft__importance_of *ask, ft_error *err)
{
    ft__fit_options how = *opt;
    ft_status st = FT_OK;

    how.importance = NULL;
    if (ask->to) {
        how.importance = calloc(ask->of.n + 1u, sizeof(*how.importance));
        if (!how.importance)
            return ft_fail(err, FT_ENOMEM, 0, "importance");
    }
    st = ft__fit_make(f, out, residual_scale, x, y, group, &how, err);
    if (!st && ask->to)
        st = tell(ask, how.importance, err);
    free(how.importance);
    return st;
}

/* Options of an import against what a model leaves open: messages that all file
 * formats share. */
#include "import/options.h"

#include <string.h>

#include "base/limits.h"
#include "import/table.h"

bool ft__options_are_sizes(ft__build *b, const ft_import_options *opt)
{
    if (opt->batch < 0 || opt->batch > FT__MAX_ELEMENTS)
        ft__build_fail(b, FT_EINVAL, 0, "--batch %lld is no batch size",
                       (long long)opt->batch);
    for (size_t i = 0; i < opt->n_dims; i++)
        if (opt->dims[i].value < 1 || opt->dims[i].value > FT__MAX_ELEMENTS)
            ft__build_fail(b, FT_EINVAL, 0, "--dim %s=%lld is no size",
                           opt->dims[i].name, (long long)opt->dims[i].value);
    return !ft__build_failed(b);
}

static bool is_listed(const ft__dim_names *d, const char *name, size_t len)
{
    for (size_t at = 0, n; at < d->n; at += n + 2) {
        n = strcspn(d->text + at, ",");
        if (n == len && memcmp(d->text + at, name, n) == 0)
            return true;
    }
    return false;
}

void ft__dim_names_add(ft__dim_names *d, const char *name, size_t len)
{
    if (is_listed(d, name, len))
        return;
    if (d->more || d->n + len + 3 > sizeof(d->text)) {
        d->more = true;
        return;
    }
    if (d->n) {
        memcpy(d->text + d->n, ", ", 2);
        d->n += 2;
    }
    memcpy(d->text + d->n, name, len);
    d->n += len;
}

static bool is_repeated(const ft_import_options *opt, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(opt->dims[k].name, opt->dims[i].name) == 0)
            return true;
    return false;
}

void ft__options_are_used(ft__build *b, const ft_import_options *opt, const bool *used,
                          const ft__dim_names *there, const ft__fixed_batch *fixed)
{
    if (fixed)
        ft__build_fail(b, FT_EINVAL, 0,
                       "--batch %lld: the file fixes the first dimension of input "
                       "\"%.*s\" at %lld; export it with an open batch",
                       (long long)opt->batch, ft__shown(fixed->length, 200),
                       fixed->input, (long long)fixed->size);
    for (size_t i = 0; i < opt->n_dims; i++)
        if (!used[i] && is_repeated(opt, i))
            ft__build_fail(b, FT_EINVAL, 0, "--dim %s=%lld: it is said twice",
                           opt->dims[i].name, (long long)opt->dims[i].value);
        else if (!used[i])
            ft__build_fail(
                b, FT_EINVAL, 0,
                "--dim %s=%lld: no input has an open dimension of that name; "
                "%s%s%s",
                opt->dims[i].name, (long long)opt->dims[i].value,
                there->n ? "there is " : "the model leaves none open", there->text,
                there->more ? ", ..." : "");
}

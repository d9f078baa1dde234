#include "foretell/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "foretell/version.h"

ft_status ft_fail(ft_error *err, ft_status st, uint64_t pos, const char *fmt, ...)
{
    if (err) {
        va_list ap;

        err->status = st;
        err->pos = pos;
        va_start(ap, fmt);
        vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
        va_end(ap);
    }
    return st;
}

const char *ft_version(void)
{
    return FT_VERSION;
}

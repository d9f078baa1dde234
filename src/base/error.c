#include "foretell/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error_inside.h"
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

const char *ft__status_name(ft_status st)
{
    switch (st) {
    case FT_OK: return "ok";
    case FT_ENOMEM: return "out of memory";
    case FT_EINVAL: return "invalid argument";
    case FT_EIO: return "input/output error";
    case FT_EFORMAT: return "malformed input";
    case FT_EUNSUPPORTED: return "not supported";
    case FT_ENOTFOUND: return "not found";
    case FT_EBACKEND: return "engine failed";
    case FT_ENEEDED: return "a value is needed";
    }
    return "unknown status";
}

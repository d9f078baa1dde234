/* Messages and progress, to the caller's ft_log. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void ft__log(const ft_log *log, ft_log_level lv, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    if (!log || !log->message)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    log->message(log->user, lv, text);
}

void ft__progress(const ft_log *log, uint64_t done, uint64_t total, const char *what)
{
    if (log && log->progress)
        log->progress(log->user, done, total, what);
}

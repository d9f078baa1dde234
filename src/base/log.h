#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "foretell/error.h"

/* Say something through the caller's ft_log; silent when log is NULL. */
FT_PRINTF(3, 4) void ft__log(const ft_log *log, ft_log_level lv, const char *fmt, ...);
void ft__progress(const ft_log *log, uint64_t done, uint64_t total, const char *what);

#endif

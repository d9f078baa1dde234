#ifndef FT_ERROR_H
#define FT_ERROR_H

/* FT_CDEF: declarations alone, for readers of C such as cffi:
 * cc -E -P -DFT_CDEF -I... foretell.h. What all headers need of libc is here. */
#ifndef FT_CDEF
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
#define FT_BEGIN_DECLS extern "C" {
#define FT_END_DECLS }
#else
#define FT_BEGIN_DECLS
#define FT_END_DECLS
#endif
#ifdef FT_CDEF
#define FT_API
#define FT_PRINTF(fmt, args)
#else
#define FT_API __attribute__((visibility("default")))
#define FT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#endif

FT_BEGIN_DECLS

/* Outcome of a call. Values are stable: bindings turn them into exceptions. */
typedef enum ft_status {
    FT_OK = 0,
    FT_ENOMEM = -1,
    FT_EINVAL = -2,       /* the caller broke the documented contract */
    FT_EIO = -3,          /* a file is missing or the operating system refused */
    FT_EFORMAT = -4,      /* the input is not what it claims to be */
    FT_EUNSUPPORTED = -5, /* valid input, but not implemented here */
    FT_ENOTFOUND = -6,    /* no such device, engine, predictor or sensor */
    FT_EBACKEND = -7,     /* an engine failed; msg carries its words */
    FT_ENEEDED = -8,      /* the model leaves a value open; msg says which flag */
} ft_status;

/* Details of a failure, filled in by the callee. Callers own the struct and
 * may pass NULL where they do not care. Untouched on success. */
typedef struct ft_error {
    ft_status status;
    uint64_t pos; /* byte offset in the input, 0 when there is none */
    char msg[1000];
} ft_error;

/* Fill *err (unless NULL) and return st, so that a failure is one line. */
FT_API FT_PRINTF(4, 5) ft_status
ft_fail(ft_error *err, ft_status st, uint64_t pos, const char *fmt, ...);


/* How the library reports while it works: it never prints. Both functions may
 * be NULL; a NULL ft_log * is silent. Called from the calling thread only. */
typedef enum ft_log_level { FT_LOG_WARN, FT_LOG_INFO, FT_LOG_DEBUG } ft_log_level;

typedef struct ft_log {
    void (*message)(void *user, ft_log_level level, const char *text);
    /* `done` of `total` units are finished; `what` names the current one. */
    void (*progress)(void *user, uint64_t done, uint64_t total, const char *what);
    void *user;
} ft_log;

FT_END_DECLS

#endif

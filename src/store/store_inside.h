#ifndef STORE_STORE_INSIDE_H
#define STORE_STORE_INSIDE_H

#include "foretell/store.h"

/* A run groups what one command measured; begin one before putting.
 * `environment` is free text (JSON by custom) describing machine and versions. */
ft_status ft__store_begin_run(ft_store *s, int64_t *run, const char *command,
                              const char *environment, ft_error *err);
/* 1 in *found when a measurement with exactly this key exists. */
ft_status ft__store_has(ft_store *s, const ft_key *key, int *found, ft_error *err);
/* When it returns, the measurement outlives this process. Readings (may be
 * none) are kept as they are. FT_EINVAL for infinite figures. */
ft_status ft__store_put(ft_store *s, int64_t run, const ft_key *key,
                        const ft_measurement *m, const ft_reading *readings,
                        size_t n_readings, ft_error *err);
/* An operation of a network. FT_EINVAL: incomplete, or no count. */
ft_status ft__store_add_member(ft_store *s, const ft_member *member, ft_error *err);
/* Facts about a device that this store measured or was given, one number each
 * ("peak_flops_fp32", "bandwidth_bytes_per_s"): the newest value wins. */
ft_status ft__store_put_fact(ft_store *s, const char *device, const char *name,
                             double value, ft_error *err);
/* Raw values of one row; *out is the caller's to free(). */
ft_status ft__store_readings(ft_store *s, int64_t id, ft_reading **out, size_t *n,
                             ft_error *err);

#endif

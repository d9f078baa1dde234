#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>

#include "foretell/store.h"
#include "store/database.h"
#include "store/store_inside.h"

/* Statements used again and again: prepared at their first use, kept in the
 * handle. In all of them ?1 to ?8 are the members of ft_key in their order. */
typedef enum ft__sql {
    FT__SQL_ADD_DEVICE,
    FT__SQL_ADD_SETTING,
    FT__SQL_ADD_ENGINE,
    FT__SQL_ADD_OPERATION,
    FT__SQL_ADD_RUN,
    FT__SQL_ADD_MEASUREMENT,
    FT__SQL_ADD_READINGS,
    FT__SQL_ADD_FACT,
    FT__SQL_FIND_KEY,
    FT__SQL_GET_READINGS,
    FT__SQL_GET_FACT,
    FT__SQL_ADD_MEMBER,
    FT__N_SQL
} ft__sql;

struct ft_store {
    const ft__database *kind;
    void *db;   /* sqlite3, PGconn */
    char *path; /* as it may be shown */
    bool writable;
    int64_t version;
    ft__query *kept[FT__N_SQL];
};

/* ft_store_open() with another list of migrations: steps[v] takes a store from
 * version v to v + 1. */
ft_status ft__store_open(ft_store **out, const char *path, ft_store_mode mode,
                         const char *const *steps, int n_steps, ft_error *err);

/* A store of SQLite's own, gone when it is closed; on disk where it grows. */
ft_status ft__store_open_temporary(ft_store **out, ft_error *err);

/* Everything from a store that a CSV file was read into; *n_rows measurements of it
 * were not there. */
ft_status ft__store_take_import(uint64_t *n_rows, ft_store *into, ft_store *from,
                                ft_error *err);

/* Measurements with their names. */
#define FT__STORE_JOINED                                                               \
    " FROM measurement m JOIN device d ON d.id = m.device_id"                          \
    " JOIN setting s ON s.id = m.setting_id JOIN engine e ON e.id = m.engine_id"       \
    " JOIN operation o ON o.id = m.operation_id"

/* Every write lies between these two; end rolls back when `st` is a failure
 * and returns what came of it. */
ft_status ft__store_begin(ft_store *s, ft_error *err);
ft_status ft__store_end(ft_store *s, ft_status st, ft_error *err);

/* Parts of a write, within a transaction. */
/* What a member is called where a metric is wanted. */
#define FT__MEMBER "member"

/* Raw readings of the measurement with this number. */
ft_status ft__store_add_readings(ft_store *s, int64_t id, const ft_reading *r, size_t n,
                                 ft_error *err);

#endif

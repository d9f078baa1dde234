#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "foretell/store.h"
#include "store/store_inside.h"

/* Statements used again and again: prepared at their first use, kept in the
 * handle. In all of them ?1 to ?8 are the members of ft_key in their order. */
typedef enum ft__sql {
    FT__SQL_BEGIN,
    FT__SQL_COMMIT,
    FT__SQL_ROLLBACK,
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
    sqlite3 *db;
    char *path;
    bool writable;
    sqlite3_stmt *kept[FT__N_SQL];
};

/* ft_store_open() with another list of migrations: steps[v] takes a store from
 * version v to v + 1. */
ft_status ft__store_open(ft_store **out, const char *path, ft_store_mode mode,
                         const char *const *steps, int n_steps, ft_error *err);

/* Measurements with their names. */
#define FT__STORE_JOINED                                                               \
    " FROM measurement m JOIN device d ON d.id = m.device_id"                          \
    " JOIN setting s ON s.id = m.setting_id JOIN engine e ON e.id = m.engine_id"       \
    " JOIN operation o ON o.id = m.operation_id"
/* Text of a row; "" for NULL. */
static inline const char *ft__store_text(sqlite3_stmt *row, int column)
{
    const unsigned char *t = sqlite3_column_text(row, column);

    return t ? (const char *)t : "";
}

/* Say what SQLite has just refused, in our words. */
ft_status ft__store_fail(const ft_store *s, ft_error *err);

/* Every write lies between these two; end rolls back when `st` is a failure
 * and returns what came of it. */
ft_status ft__store_begin(ft_store *s, ft_error *err);
ft_status ft__store_end(ft_store *s, ft_status st, ft_error *err);

/* Parts of a write, within a transaction. */
/* What a member is called where a metric is wanted. */
#define FT__MEMBER "member"
/* FT_EINVAL: incomplete, or no count. */
ft_status ft__store_add_member(ft_store *s, const ft_member *member, ft_error *err);

/* Raw readings of the measurement with this number. */
ft_status ft__store_add_readings(ft_store *s, int64_t id, const ft_reading *r, size_t n,
                                 ft_error *err);

#endif

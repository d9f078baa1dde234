/* Many measurements at once: the numbers of names are kept in memory, so that a row
 * costs one insertion and, where its operation was there before, one look-up. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/index.h"
#include "store/store.h"

enum { DEVICE, SETTING, ENGINE, OPERATION, N_NAMES };
enum { RUN = N_NAMES, N_TABLES };

struct ft__bulk {
    ft_store *s;
    int64_t last_row; /* of those that were there before */
    int64_t last_op;
    ft__arena arena; /* names */
    ft__index names[N_TABLES];
    ft__index seen; /* rows whose operation was there before: how often */
    sqlite3_stmt *find[N_NAMES], *make[N_NAMES], *count, *add;
};

/* ---- statements ---- */

static const char *const find_sql[N_NAMES] = {
    "SELECT id FROM device WHERE name = ?1", "SELECT id FROM setting WHERE name = ?1",
    "SELECT id FROM engine WHERE name = ?1 AND version = ?2",
    "SELECT id FROM operation WHERE spec = ?1"};
static const char *const make_sql[N_NAMES] = {
    "INSERT INTO device(name) VALUES(?1)", "INSERT INTO setting(name) VALUES(?1)",
    "INSERT INTO engine(name, version) VALUES(?1, ?2)",
    "INSERT INTO operation(spec) VALUES(?1)"};
static const char count_sql[] =
    "SELECT count(*) FROM measurement WHERE operation_id = ?1 AND device_id = ?2"
    " AND engine_id = ?3 AND setting_id = ?4 AND phase = ?5 AND dtype_policy = ?6"
    " AND metric = ?7 AND taken_at = ?8 AND value IS ?9"
    " AND id <= ?10";
static const char add_sql[] =
    "INSERT INTO measurement(operation_id, device_id, engine_id, setting_id, phase,"
    " dtype_policy, metric, taken_at, value, conditions, run_id, unit, error, mad,"
    " mean, std, n, iterations, calibration) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
    " ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";

static bool prepare(ft__bulk *b, sqlite3_stmt **out, const char *sql)
{
    return sqlite3_prepare_v3(b->s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out,
                              NULL) == SQLITE_OK;
}

static void text(sqlite3_stmt *st, int at, const char *s)
{
    sqlite3_bind_text(st, at, s, -1, SQLITE_STATIC);
}

/* The first number of the only row; *found. Failures show in the database's code. */
static int64_t number(sqlite3_stmt *st, bool *found)
{
    int64_t v = 0;

    *found = sqlite3_step(st) == SQLITE_ROW;
    if (*found)
        v = sqlite3_column_int64(st, 0);
    return v;
}

static ft_status last_rows(ft__bulk *b, ft_error *err)
{
    sqlite3_stmt *st = NULL;
    bool ok = prepare(b, &st,
                      "SELECT coalesce((SELECT max(id) FROM measurement), 0),"
                      " coalesce((SELECT max(id) FROM operation), 0)") &&
              sqlite3_step(st) == SQLITE_ROW;

    if (ok) {
        b->last_row = sqlite3_column_int64(st, 0);
        b->last_op = sqlite3_column_int64(st, 1);
    }
    ok = sqlite3_finalize(st) == SQLITE_OK && ok;
    return ok ? FT_OK : ft__store_fail(b->s, err);
}

static void bulk_free(ft__bulk *b)
{
    for (int i = 0; i < N_NAMES; i++) {
        sqlite3_finalize(b->find[i]);
        sqlite3_finalize(b->make[i]);
    }
    for (int i = 0; i < N_TABLES; i++)
        ft__index_free(&b->names[i]);
    sqlite3_finalize(b->count);
    sqlite3_finalize(b->add);
    ft__index_free(&b->seen);
    ft__arena_free(&b->arena);
    free(b);
}

ft_status ft__bulk_begin(ft__bulk **out, ft_store *s, ft_error *err)
{
    ft__bulk *b = calloc(1, sizeof(*b));
    bool ok = true;
    ft_status st;

    *out = NULL;
    if (!b)
        return ft_fail(err, FT_ENOMEM, 0, "store %s", s->path);
    b->s = s;
    st = ft__store_begin(s, err);
    if (st) {
        bulk_free(b);
        return st;
    }
    for (int i = 0; i < N_NAMES && ok; i++)
        ok = prepare(b, &b->find[i], find_sql[i]) &&
             prepare(b, &b->make[i], make_sql[i]);
    ok = ok && prepare(b, &b->count, count_sql) && prepare(b, &b->add, add_sql);
    st = ok ? last_rows(b, err) : ft__store_fail(s, err);
    if (st)
        return ft__bulk_end(b, st, err);
    *out = b;
    return FT_OK;
}

ft_status ft__bulk_end(ft__bulk *b, ft_status st, ft_error *err)
{
    ft_store *s = b ? b->s : NULL;

    if (!b)
        return st;
    bulk_free(b); /* before the transaction ends: SQLite waits for its statements */
    return ft__store_end(s, st, err);
}

/* ---- rows ---- */

/* The number of a name in the store; made when there is none. `more`: an engine's
 * version, else NULL. */
static ft_status name_number(ft__bulk *b, int which, const char *name, const char *more,
                             int64_t *out, ft_error *err)
{
    uint64_t h = ft__hash_text(FT__HASH_BEGIN, name);
    ft__index_slot *slot;
    const char *kept = name;
    char both[256];
    bool found;

    if (more) {
        snprintf(both, sizeof(both), "%.120s/%.120s", name, more);
        h = ft__hash_text(h, more);
        kept = both;
    }
    slot = ft__index_at(&b->names[which], h, kept);
    if (slot && slot->hash) {
        *out = slot->number;
        return FT_OK;
    }
    if (!slot || !(kept = ft__arena_strndup(&b->arena, kept, strlen(kept))))
        return ft_fail(err, FT_ENOMEM, 0, "store %s", b->s->path);
    text(b->find[which], 1, name);
    if (more)
        text(b->find[which], 2, more);
    *out = number(b->find[which], &found);
    if (sqlite3_reset(b->find[which]) != SQLITE_OK)
        return ft__store_fail(b->s, err);
    if (!found) {
        text(b->make[which], 1, name);
        if (more)
            text(b->make[which], 2, more);
        sqlite3_step(b->make[which]);
        if (sqlite3_reset(b->make[which]) != SQLITE_OK)
            return ft__store_fail(b->s, err);
        *out = sqlite3_last_insert_rowid(b->s->db);
    }
    *slot = (ft__index_slot){h, kept, *out};
    b->names[which].n++;
    return FT_OK;
}

/* The number of the run called `command`, made at its first use. */
static ft_status run_number(ft__bulk *b, const char *command, int64_t *out,
                            ft_error *err)
{
    uint64_t h = ft__hash_text(FT__HASH_BEGIN, command);
    ft__index_slot *slot = ft__index_at(&b->names[RUN], h, command);
    const char *kept = command;
    ft_status st;

    if (slot && slot->hash) {
        *out = slot->number;
        return FT_OK;
    }
    if (!slot || !(kept = ft__arena_strndup(&b->arena, command, strlen(command))))
        return ft_fail(err, FT_ENOMEM, 0, "store %s", b->s->path);
    st = ft__store_find_run(b->s, out, command, "", err);
    *slot = (ft__index_slot){h, kept, *out};
    b->names[RUN].n++;
    return st;
}

/* What count_sql and add_sql have in common. */
static void bind_row(sqlite3_stmt *st, const int64_t id[N_NAMES],
                     const ft__bulk_row *row)
{
    sqlite3_bind_int64(st, 1, id[OPERATION]);
    sqlite3_bind_int64(st, 2, id[DEVICE]);
    sqlite3_bind_int64(st, 3, id[ENGINE]);
    sqlite3_bind_int64(st, 4, id[SETTING]);
    text(st, 5, row->key.phase);
    text(st, 6, row->key.dtype_policy);
    text(st, 7, row->key.metric);
    sqlite3_bind_int64(st, 8, row->taken_at);
    sqlite3_bind_double(st, 9, row->m.value);
}

static uint64_t hash_row(const int64_t id[N_NAMES], const ft__bulk_row *row)
{
    uint64_t h = ft__hash_bytes(FT__HASH_BEGIN, id, N_NAMES * sizeof(*id));

    h = ft__hash_text(ft__hash_text(h, row->key.phase), row->key.dtype_policy);
    h = ft__hash_text(h, row->key.metric);
    h = ft__hash_bytes(h, &row->taken_at, sizeof(row->taken_at));
    return ft__hash_bytes(h, &row->m.value, sizeof(row->m.value));
}

/* Whether the store had this row before: of n equal ones, at least n. */
static ft_status is_present(ft__bulk *b, const int64_t id[N_NAMES],
                            const ft__bulk_row *row, bool *out, ft_error *err)
{
    ft__index_slot *slot;
    int64_t before;
    uint64_t h;
    bool found;

    *out = false;
    if (id[OPERATION] > b->last_op)
        return FT_OK;
    h = hash_row(id, row);
    slot = ft__index_at(&b->seen, h, NULL);
    if (!slot)
        return ft_fail(err, FT_ENOMEM, 0, "store %s", b->s->path);
    b->seen.n += slot->hash == 0;
    slot->hash = h;
    slot->number++;
    bind_row(b->count, id, row);
    sqlite3_bind_int64(b->count, 10, b->last_row);
    before = number(b->count, &found);
    *out = before >= slot->number;
    return sqlite3_reset(b->count) == SQLITE_OK ? FT_OK : ft__store_fail(b->s, err);
}

static ft_status add(ft__bulk *b, const int64_t id[N_NAMES], const ft__bulk_row *row,
                     ft_error *err)
{
    const ft_measurement *m = &row->m;
    sqlite3_stmt *st = b->add;
    int64_t run;
    ft_status rc = run_number(b, row->command, &run, err);

    if (rc)
        return rc;
    bind_row(st, id, row);
    text(st, 10, m->conditions ? m->conditions : "");
    sqlite3_bind_int64(st, 11, run);
    text(st, 12, m->unit);
    sqlite3_bind_double(st, 13, m->error);
    sqlite3_bind_double(st, 14, m->mad);
    sqlite3_bind_double(st, 15, m->mean);
    sqlite3_bind_double(st, 16, m->std);
    sqlite3_bind_int64(st, 17, (int64_t)m->n);
    sqlite3_bind_int64(st, 18, (int64_t)m->iterations);
    sqlite3_bind_double(st, 19, m->calibration_s > 0 ? m->calibration_s : NAN);
    sqlite3_step(st);
    if (sqlite3_reset(st) != SQLITE_OK)
        return ft__store_fail(b->s, err);
    return row->n_readings
               ? ft__store_add_readings(b->s, sqlite3_last_insert_rowid(b->s->db),
                                        row->readings, row->n_readings, err)
               : FT_OK;
}

ft_status ft__bulk_put(ft__bulk *b, const ft__bulk_row *row, bool *fresh, ft_error *err)
{
    const char *const name[N_NAMES] = {row->key.device, row->key.setting,
                                       row->key.engine, row->key.spec};
    int64_t id[N_NAMES];
    bool present = false;
    ft_status st = FT_OK;

    *fresh = false;
    for (int i = 0; i < N_NAMES && !st; i++)
        st = name_number(b, i, name[i], i == ENGINE ? row->key.engine_version : NULL,
                         &id[i], err);
    if (!st)
        st = is_present(b, id, row, &present, err);
    if (!st && !present)
        st = add(b, id, row, err);
    *fresh = !st && !present;
    return st;
}

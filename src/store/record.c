/* Measurements, readings, runs, facts and members: written to a store and read back,
 * by prepared statements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "store/blob.h"
#include "store/store.h"
#include "store/store_inside.h"

#define JOINED                                                                         \
    " FROM measurement m JOIN device d ON d.id = m.device_id"                          \
    " JOIN setting s ON s.id = m.setting_id JOIN engine e ON e.id = m.engine_id"       \
    " JOIN operation o ON o.id = m.operation_id"
#define SAME_KEY                                                                       \
    " WHERE d.name = ?1 AND s.name = ?2 AND e.name = ?3 AND e.version = ?4"            \
    " AND o.spec = ?5 AND m.phase = ?6 AND m.dtype_policy = ?7 AND m.metric = ?8"

static const char *const sql_text[FT__N_SQL] = {
    [FT__SQL_BEGIN] = "BEGIN IMMEDIATE",
    [FT__SQL_COMMIT] = "COMMIT",
    [FT__SQL_ROLLBACK] = "ROLLBACK",
    [FT__SQL_ADD_DEVICE] = "INSERT OR IGNORE INTO device(name) VALUES(?1)",
    [FT__SQL_ADD_SETTING] = "INSERT OR IGNORE INTO setting(name) VALUES(?2)",
    [FT__SQL_ADD_ENGINE] = "INSERT OR IGNORE INTO engine(name, version) VALUES(?3, ?4)",
    [FT__SQL_ADD_OPERATION] = "INSERT OR IGNORE INTO operation(spec) VALUES(?5)",
    [FT__SQL_ADD_RUN] =
        "INSERT INTO run(command, environment, began_at) VALUES(?1, ?2, ?3)",
    [FT__SQL_ADD_MEASUREMENT] =
        "INSERT INTO measurement(device_id, setting_id, engine_id, operation_id, phase,"
        " dtype_policy, metric, run_id, taken_at, unit, value, error, mad, mean, std,"
        " n, iterations, calibration, conditions) SELECT d.id, s.id, e.id, o.id, ?6,"
        " ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20 FROM "
        "device d, setting s, engine e, operation o"
        " WHERE d.name = ?1 AND s.name = ?2 AND e.name = ?3 AND e.version = ?4"
        " AND o.spec = ?5",
    [FT__SQL_ADD_READINGS] = "INSERT INTO reading(measurement_id, data, rounds)"
                             " VALUES(?1, ?2, ?3)",
    [FT__SQL_ADD_FACT] = "INSERT OR REPLACE INTO fact(device_id, name, value, taken_at)"
                         " SELECT id, ?2, ?3, ?4 FROM device WHERE name = ?1",
    [FT__SQL_FIND_RUN] =
        "SELECT max(id) FROM run WHERE command = ?1 AND environment = ?2",
    [FT__SQL_FIND_KEY] = "SELECT 1" JOINED SAME_KEY " LIMIT 1",
    [FT__SQL_GET_READINGS] =
        "SELECT data, rounds FROM reading WHERE measurement_id = ?1",
    [FT__SQL_GET_FACT] =
        "SELECT f.value FROM fact f JOIN device d ON d.id = f.device_id"
        " WHERE d.name = ?1 AND f.name = ?2",
    [FT__SQL_ADD_MEMBER] =
        "INSERT INTO member(source, whole, phase, part, count, note)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT(source, whole, phase, part)"
        " DO UPDATE SET count = excluded.count, note = excluded.note",
};

/* One use of a statement. Failure is sticky: once something went wrong, binding
 * does nothing more and step() reports it. */
struct use {
    ft_store *s;
    sqlite3_stmt *st;
    int rc;
};

static struct use use(ft_store *s, ft__sql which)
{
    struct use u = {.s = s, .rc = SQLITE_OK};

    if (!s->kept[which])
        u.rc = sqlite3_prepare_v3(s->db, sql_text[which], -1, SQLITE_PREPARE_PERSISTENT,
                                  &s->kept[which], NULL);
    u.st = s->kept[which];
    return u;
}

static void bind_text(struct use *u, int at, const char *text)
{
    if (u->rc == SQLITE_OK)
        u->rc = sqlite3_bind_text(u->st, at, text, -1, SQLITE_STATIC);
}

static void bind_i64(struct use *u, int at, int64_t value)
{
    if (u->rc == SQLITE_OK)
        u->rc = sqlite3_bind_int64(u->st, at, value);
}

/* NaN becomes NULL, and -0 becomes 0, of SQLite's own accord. */
static void bind_f64(struct use *u, int at, double value)
{
    if (u->rc == SQLITE_OK)
        u->rc = sqlite3_bind_double(u->st, at, value);
}

/* As many members of the key as the statement asks for. */
static void bind_key(struct use *u, const ft_key *k)
{
    const char *const part[] = {k->device,         k->setting, k->engine,
                                k->engine_version, k->spec,    k->phase,
                                k->dtype_policy,   k->metric};
    int n = sqlite3_bind_parameter_count(u->st);

    for (int i = 0; i < 8 && i < n; i++)
        bind_text(u, i + 1, part[i]);
}

/* *row: a row came, and the caller ends the use when it has been read.
 * Otherwise the use is over. */
static ft_status step(struct use *u, bool *row, ft_error *err)
{
    ft_status st = FT_OK;

    *row = false;
    if (u->rc == SQLITE_OK)
        u->rc = sqlite3_step(u->st);
    if (u->rc == SQLITE_ROW) {
        *row = true;
        return FT_OK;
    }
    if (u->rc != SQLITE_DONE)
        st = ft__store_fail(u->s, err);
    sqlite3_reset(u->st);
    return st;
}

static void end(struct use *u)
{
    sqlite3_reset(u->st);
}

static ft_status run(struct use *u, ft_error *err)
{
    bool row;

    return step(u, &row, err);
}

/* Whether there is any row. */
static ft_status exists(struct use *u, bool *found, ft_error *err)
{
    ft_status st = step(u, found, err);

    if (*found)
        end(u);
    return st;
}

ft_status ft__store_begin(ft_store *s, ft_error *err)
{
    struct use u;

    if (!s->writable)
        return ft_fail(err, FT_EINVAL, 0, "store %s was opened for reading", s->path);
    u = use(s, FT__SQL_BEGIN);
    return run(&u, err);
}

ft_status ft__store_end(ft_store *s, ft_status st, ft_error *err)
{
    if (st == FT_OK) {
        struct use u = use(s, FT__SQL_COMMIT);

        st = run(&u, err);
    }
    /* After some failures SQLite has rolled back by itself. */
    if (st != FT_OK && !sqlite3_get_autocommit(s->db)) {
        struct use u = use(s, FT__SQL_ROLLBACK);

        (void)run(&u, NULL);
    }
    return st;
}

static ft_status add_run(ft_store *s, int64_t *id, const char *command,
                         const char *environment, ft_error *err)
{
    struct use u = use(s, FT__SQL_ADD_RUN);
    ft_status st;

    bind_text(&u, 1, command);
    bind_text(&u, 2, environment);
    bind_i64(&u, 3, (int64_t)time(NULL));
    st = run(&u, err);
    *id = st == FT_OK ? sqlite3_last_insert_rowid(s->db) : 0;
    return st;
}

ft_status ft__store_find_run(ft_store *s, int64_t *id, const char *command,
                             const char *environment, ft_error *err)
{
    struct use u = use(s, FT__SQL_FIND_RUN);
    ft_status st;
    bool row;

    *id = 0;
    bind_text(&u, 1, command);
    bind_text(&u, 2, environment);
    st = step(&u, &row, err);
    if (row) {
        *id = sqlite3_column_int64(u.st, 0);
        end(&u);
    }
    if (st == FT_OK && *id == 0)
        st = add_run(s, id, command, environment, err);
    return st;
}

ft_status ft__store_begin_run(ft_store *s, int64_t *id, const char *command,
                              const char *environment, ft_error *err)
{
    ft_status st = ft__store_begin(s, err);

    *id = 0;
    if (st != FT_OK)
        return st;
    return ft__store_end(s, add_run(s, id, command, environment, err), err);
}

/* Takes data. */
static void bind_blob(struct use *u, int at, unsigned char *data, uint64_t size)
{
    if (u->rc == SQLITE_OK && data)
        u->rc = sqlite3_bind_blob64(u->st, at, data, size, free);
    else
        free(data);
}

ft_status ft__store_add_readings(ft_store *s, int64_t id, const ft_reading *r, size_t n,
                                 ft_error *err)
{
    struct use u = use(s, FT__SQL_ADD_READINGS);
    int bad;
    unsigned char *data = ft__readings_encode(r, n);
    unsigned char *rounds = ft__rounds_encode(r, n, &bad);
    ft_status st;

    if (!data || bad) {
        free(data);
        free(rounds);
        return ft_fail(err, FT_ENOMEM, 0, "%zu readings", n);
    }
    bind_i64(&u, 1, id);
    bind_blob(&u, 2, data, n * FT__READING_BYTES);
    bind_blob(&u, 3, rounds, n * FT__ROUND_BYTES);
    st = run(&u, err);
    /* Let go of the copy that the statement keeps. */
    sqlite3_clear_bindings(u.st);
    return st;
}

/* Names first, then the measurement that refers to them. */
static ft_status add_names(ft_store *s, const ft_key *key, ft_error *err)
{
    static const ft__sql names[] = {FT__SQL_ADD_DEVICE, FT__SQL_ADD_SETTING,
                                    FT__SQL_ADD_ENGINE, FT__SQL_ADD_OPERATION};
    ft_status st = FT_OK;

    for (size_t i = 0; st == FT_OK && i < sizeof(names) / sizeof(*names); i++) {
        struct use u = use(s, names[i]);

        bind_key(&u, key);
        st = run(&u, err);
    }
    return st;
}

static ft_status add_measurement(ft_store *s, int64_t run_id, int64_t taken_at,
                                 const ft_key *key, const ft_measurement *m,
                                 const ft_reading *readings, size_t n_readings,
                                 ft_error *err)
{
    const double figure[] = {m->value, m->error, m->mad, m->mean, m->std};
    ft_status st = add_names(s, key, err);
    struct use u;

    if (st != FT_OK)
        return st;
    u = use(s, FT__SQL_ADD_MEASUREMENT);
    bind_key(&u, key);
    bind_i64(&u, 9, run_id);
    bind_i64(&u, 10, taken_at);
    bind_text(&u, 11, m->unit);
    for (int i = 0; i < 5; i++)
        bind_f64(&u, 12 + i, figure[i]);
    bind_i64(&u, 17, (int64_t)m->n);
    bind_i64(&u, 18, (int64_t)m->iterations);
    bind_f64(&u, 19, m->calibration_s > 0 ? m->calibration_s : NAN);
    bind_text(&u, 20, m->conditions ? m->conditions : "");
    st = run(&u, err);
    if (st == FT_OK && n_readings)
        st = ft__store_add_readings(s, sqlite3_last_insert_rowid(s->db), readings,
                                    n_readings, err);
    return st;
}

static bool whole(const ft_key *k)
{
    return k->device && k->setting && k->engine && k->engine_version && k->spec &&
           k->phase && k->dtype_policy && k->metric;
}

/* CSV has no word for infinity, SQLite none for counts above INT64_MAX. */
static bool sound(const ft_measurement *m, const ft_reading *r, size_t n)
{
    const double figure[] = {m->value, m->error, m->mad,
                             m->mean,  m->std,   m->calibration_s};

    for (int i = 0; i < 6; i++)
        if (isinf(figure[i]))
            return false;
    for (size_t i = 0; i < n; i++)
        if (isinf(r[i].value) || isinf(r[i].start_s) || r[i].iterations > INT64_MAX)
            return false;
    return m->unit && m->n <= INT64_MAX && m->iterations <= INT64_MAX;
}

ft_status ft__store_put(ft_store *s, int64_t run_id, const ft_key *key,
                        const ft_measurement *m, const ft_reading *readings,
                        size_t n_readings, ft_error *err)
{
    ft_status st;

    if (!whole(key) || !sound(m, readings, n_readings))
        return ft_fail(err, FT_EINVAL, 0,
                       "a measurement needs a complete key, a unit and finite figures");
    st = ft__store_begin(s, err);
    if (st != FT_OK)
        return st;
    st = add_measurement(s, run_id, (int64_t)time(NULL), key, m, readings, n_readings,
                         err);
    return ft__store_end(s, st, err);
}

ft_status ft__store_has(ft_store *s, const ft_key *key, int *found, ft_error *err)
{
    struct use u = use(s, FT__SQL_FIND_KEY);
    bool any;
    ft_status st;

    *found = 0;
    if (!whole(key))
        return ft_fail(err, FT_EINVAL, 0, "the key is not complete");
    bind_key(&u, key);
    st = exists(&u, &any, err);
    *found = any;
    return st;
}

ft_status ft__store_add_member(ft_store *s, const ft_member *m, ft_error *err)
{
    struct use u;

    if (!m->source || !m->whole || !m->phase || !m->part || !isfinite(m->count))
        return ft_fail(err, FT_EINVAL, 0,
                       "a member needs a source, a whole, a phase, a part and a count");
    u = use(s, FT__SQL_ADD_MEMBER);
    bind_text(&u, 1, m->source);
    bind_text(&u, 2, m->whole);
    bind_text(&u, 3, m->phase);
    bind_text(&u, 4, m->part);
    bind_f64(&u, 5, m->count);
    bind_text(&u, 6, m->note ? m->note : "");
    return run(&u, err);
}

ft_status ft__store_put_fact(ft_store *s, const char *device, const char *name,
                             double value, ft_error *err)
{
    ft_status st;
    struct use u;

    if (!isfinite(value))
        return ft_fail(err, FT_EINVAL, 0, "%s of %s must be a finite number", name,
                       device);
    st = ft__store_begin(s, err);
    if (st != FT_OK)
        return st;
    u = use(s, FT__SQL_ADD_DEVICE);
    bind_text(&u, 1, device);
    st = run(&u, err);
    if (st == FT_OK) {
        u = use(s, FT__SQL_ADD_FACT);
        bind_text(&u, 1, device);
        bind_text(&u, 2, name);
        bind_f64(&u, 3, value);
        bind_i64(&u, 4, (int64_t)time(NULL));
        st = run(&u, err);
    }
    return ft__store_end(s, st, err);
}

ft_status ft_store_fact(ft_store *s, const char *device, const char *name,
                        double *value, ft_error *err)
{
    struct use u = use(s, FT__SQL_GET_FACT);
    ft_status st;
    bool row;

    *value = NAN;
    bind_text(&u, 1, device);
    bind_text(&u, 2, name);
    st = step(&u, &row, err);
    if (row) {
        *value = sqlite3_column_double(u.st, 0);
        end(&u);
    }
    return st;
}

/* The columns of a row of readings; a size that is no multiple is damage. */
static ft_status decode(struct use *u, ft_reading **out, size_t *n, ft_error *err)
{
    const unsigned char *data = sqlite3_column_blob(u->st, 0);
    size_t size = (size_t)sqlite3_column_bytes(u->st, 0);
    const unsigned char *rounds = sqlite3_column_blob(u->st, 1);
    size_t more = (size_t)sqlite3_column_bytes(u->st, 1);

    if (sqlite3_errcode(u->s->db) == SQLITE_NOMEM)
        return ft__store_fail(u->s, err);
    if (size % FT__READING_BYTES ||
        (rounds && more != size / FT__READING_BYTES * FT__ROUND_BYTES))
        return ft_fail(err, FT_EFORMAT, 0, "store %s: readings are damaged",
                       u->s->path);
    *out = size ? malloc(size / FT__READING_BYTES * sizeof(**out)) : NULL;
    if (size && !*out)
        return ft_fail(err, FT_ENOMEM, 0, "%zu bytes of readings", size);
    *n = size / FT__READING_BYTES;
    ft__readings_decode(*out, *n, data);
    if (rounds)
        ft__rounds_decode(*out, *n, rounds);
    return FT_OK;
}

ft_status ft__store_readings(ft_store *s, int64_t id, ft_reading **out, size_t *n,
                             ft_error *err)
{
    struct use u = use(s, FT__SQL_GET_READINGS);
    ft_status st;
    bool row;

    *out = NULL;
    *n = 0;
    bind_i64(&u, 1, id);
    st = step(&u, &row, err);
    if (!row)
        return st;
    st = decode(&u, out, n, err);
    end(&u);
    return st;
}

/* The statement of ft_store_each(): only the members that are asked for appear,
 * so that the index can serve them. */
static void each_text(ft__buf *sql, const ft_key *f, int latest)
{
    const struct {
        const char *value, *condition;
    } part[] = {
        {f ? f->device : NULL, " AND d.name = ?1"},
        {f ? f->setting : NULL, " AND s.name = ?2"},
        {f ? f->engine : NULL, " AND e.name = ?3"},
        {f ? f->engine_version : NULL, " AND e.version = ?4"},
        {f ? f->spec : NULL, " AND o.spec = ?5"},
        {f ? f->phase : NULL, " AND m.phase = ?6"},
        {f ? f->dtype_policy : NULL, " AND m.dtype_policy = ?7"},
        {f ? f->metric : NULL, " AND m.metric = ?8"},
    };

    ft__buf_str(sql,
                "SELECT d.name, s.name, e.name, e.version, o.spec, m.phase,"
                " m.dtype_policy, m.metric, m.unit, m.value, m.error, m.mad, m.mean,"
                " m.std, m.n, m.iterations, m.id, m.run_id, m.taken_at, m.calibration,"
                " m.conditions" JOINED " WHERE 1");
    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
        if (part[i].value && *part[i].value)
            ft__buf_str(sql, part[i].condition);
    if (latest)
        ft__buf_str(sql, " AND NOT EXISTS(SELECT 1 FROM measurement x"
                         " WHERE x.operation_id = m.operation_id"
                         " AND x.device_id = m.device_id AND x.engine_id = m.engine_id"
                         " AND x.setting_id = m.setting_id AND x.phase = m.phase"
                         " AND x.dtype_policy = m.dtype_policy AND x.metric = m.metric"
                         " AND (x.taken_at, x.id) > (m.taken_at, m.id))");
    ft__buf_str(sql, " ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, m.taken_at, m.id");
}

static const char *text_at(sqlite3_stmt *st, int column)
{
    const unsigned char *t = sqlite3_column_text(st, column);

    return t ? (const char *)t : "";
}

static double f64_at(sqlite3_stmt *st, int column)
{
    return sqlite3_column_type(st, column) == SQLITE_NULL
               ? NAN
               : sqlite3_column_double(st, column);
}

static ft_row row_of(sqlite3_stmt *st)
{
    return (ft_row){
        .key = {.device = text_at(st, 0),
                .setting = text_at(st, 1),
                .engine = text_at(st, 2),
                .engine_version = text_at(st, 3),
                .spec = text_at(st, 4),
                .phase = text_at(st, 5),
                .dtype_policy = text_at(st, 6),
                .metric = text_at(st, 7)},
        .m = {.unit = text_at(st, 8),
              .value = f64_at(st, 9),
              .error = f64_at(st, 10),
              .mad = f64_at(st, 11),
              .mean = f64_at(st, 12),
              .std = f64_at(st, 13),
              .n = (uint64_t)sqlite3_column_int64(st, 14),
              .iterations = (uint64_t)sqlite3_column_int64(st, 15),
              .calibration_s = f64_at(st, 19),
              .conditions = text_at(st, 20)},
        .id = sqlite3_column_int64(st, 16),
        .run = sqlite3_column_int64(st, 17),
        .taken_at = sqlite3_column_int64(st, 18),
    };
}

ft_status ft_store_each(ft_store *s, const ft_key *filter, int latest,
                        int (*each)(void *user, const ft_row *row), void *user,
                        ft_error *err)
{
    struct use u = {.s = s, .rc = SQLITE_NOMEM};
    ft_status st = FT_OK;
    ft__buf sql = {0};
    bool row;

    /* A statement of its own, so that `each` may call us again. */
    each_text(&sql, filter, latest);
    if (sql.bad) {
        ft__buf_free(&sql);
        return ft_fail(err, FT_ENOMEM, 0, "store %s", s->path);
    }
    u.rc = sqlite3_prepare_v2(s->db, sql.s, -1, &u.st, NULL);
    ft__buf_free(&sql);
    if (filter)
        bind_key(&u, filter);
    for (;;) {
        ft_row r;

        st = step(&u, &row, err);
        if (!row)
            break;
        r = row_of(u.st);
        if (sqlite3_errcode(s->db) == SQLITE_NOMEM) {
            st = ft__store_fail(s, err);
            break;
        }
        if (each(user, &r))
            break;
        u.rc = SQLITE_OK; /* was SQLITE_ROW: go on */
    }
    sqlite3_finalize(u.st);
    return st;
}

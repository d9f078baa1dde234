/* Measurements, readings, runs, facts and members written to a store, single ones read
 * back, by prepared statements; what SQLite refuses put into words. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "store/store.h"

/* ---- failures ---- */

/* The folder a store lies in; the caller frees it. NULL when memory is short. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* SQLite only says "unable to open database file"; find out why. */
static ft_status cannot_open(const ft_store *s, ft_error *err)
{
    const char *path = s->path, *verb = s->writable ? "write" : "read";
    char *dir = folder_of(path);
    ft_status st;

    if (!dir)
        return ft_fail(err, FT_ENOMEM, 0, "opening store %s", path);
    if (access(dir, F_OK))
        st = ft_fail(err, FT_EIO, 0,
                     "store %s: there is no folder %s; create it with: mkdir -p %s",
                     path, dir, dir);
    else if (access(path, F_OK) && !s->writable)
        st = ft_fail(err, FT_EIO, 0,
                     "there is no store %s; name another with --db, or measure "
                     "something into this one first",
                     path);
    else if (access(path, F_OK) == 0 && access(path, s->writable ? W_OK : R_OK))
        st = ft_fail(err, FT_EIO, 0,
                     "store %s: no permission to %s it; as its owner: chmod u+rw %s",
                     path, verb, path);
    else if (access(dir, W_OK | X_OK))
        st = ft_fail(err, FT_EIO, 0,
                     "store %s: its folder must be writable too, to %s it; "
                     "chmod u+rwx %s, or name a store elsewhere with --db",
                     path, verb, dir);
    else
        st = ft_fail(err, FT_EIO, 0, "store %s: %s", path, sqlite3_errmsg(s->db));
    free(dir);
    return st;
}

ft_status ft__store_fail(const ft_store *s, ft_error *err)
{
    const char *why = sqlite3_errmsg(s->db);

    switch (sqlite3_errcode(s->db)) {
    case SQLITE_NOMEM: return ft_fail(err, FT_ENOMEM, 0, "store %s", s->path);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY: return cannot_open(s, err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return ft_fail(err, FT_EIO, 0,
                       "store %s is being written by another process; try again when "
                       "that is done",
                       s->path);
    case SQLITE_FULL:
        return ft_fail(err, FT_EIO, 0, "store %s: the disk is full; make room there",
                       s->path);
    case SQLITE_CONSTRAINT: /* of those there are only a reference can fail */
        return ft_fail(err, FT_EINVAL, 0,
                       "store %s: a measurement belongs to a run that was begun there",
                       s->path);
    case SQLITE_TOOBIG:
    case SQLITE_MISUSE: return ft_fail(err, FT_EINVAL, 0, "store %s: %s", s->path, why);
    case SQLITE_NOTADB:
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s is not a foretell store, or its beginning is damaged",
                       s->path);
    case SQLITE_CORRUPT:
    case SQLITE_ERROR: /* a table or column is missing */
        return ft_fail(err, FT_EFORMAT, 0,
                       "store %s is damaged (%s); restore a copy, or save what is left "
                       "with: sqlite3 %s .recover",
                       s->path, why, s->path);
    default: return ft_fail(err, FT_EIO, 0, "store %s: %s", s->path, why);
    }
}

/* ---- statements ---- */

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
    [FT__SQL_FIND_KEY] = "SELECT 1" FT__STORE_JOINED SAME_KEY " LIMIT 1",
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

ft_status ft__store_begin_run(ft_store *s, int64_t *id, const char *command,
                              const char *environment, ft_error *err)
{
    ft_status st = ft__store_begin(s, err);

    *id = 0;
    if (st != FT_OK)
        return st;
    return ft__store_end(s, add_run(s, id, command, environment, err), err);
}

/* ---- readings as bytes ---- */

/* Little-endian: 24 bytes each of value, start_s and iterations; apart from them, where
 * any is not 0, 8 bytes each of round and marks. */
enum { READING_BYTES = 24, ROUND_BYTES = 8 };

static void put_bytes(unsigned char *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (unsigned char)(v >> (8 * i));
}

static uint64_t get_bytes(const unsigned char *p, int bytes)
{
    uint64_t v = 0;

    for (int i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

static void put_f64(unsigned char *p, double d)
{
    uint64_t v;

    memcpy(&v, &d, sizeof(v));
    put_bytes(p, v, 8);
}

static double get_f64(const unsigned char *p)
{
    uint64_t v = get_bytes(p, 8);
    double d;

    memcpy(&d, &v, sizeof(d));
    return d;
}

/* The caller's to free(); NULL when memory is short. */
static unsigned char *encode_readings(const ft_reading *r, size_t n)
{
    unsigned char *data =
        n <= SIZE_MAX / READING_BYTES ? malloc(n * READING_BYTES + 1) : NULL;

    for (size_t i = 0; data && i < n; i++) {
        unsigned char *p = data + i * READING_BYTES;

        put_f64(p, r[i].value);
        put_f64(p + 8, r[i].start_s);
        put_bytes(p + 16, r[i].iterations, 8);
    }
    return data;
}

/* NULL and *bad 0: all rounds and marks are 0. */
static unsigned char *encode_rounds(const ft_reading *r, size_t n, int *bad)
{
    unsigned char *data;
    size_t zero = 0;

    while (zero < n && r[zero].round == 0 && r[zero].marks == 0)
        zero++;
    *bad = 0;
    if (zero == n)
        return NULL;
    data = malloc(n * ROUND_BYTES);
    *bad = data == NULL;
    for (size_t i = 0; data && i < n; i++) {
        put_bytes(data + i * ROUND_BYTES, r[i].round, 4);
        put_bytes(data + i * ROUND_BYTES + 4, r[i].marks, 4);
    }
    return data;
}

static void decode_readings(ft_reading *r, size_t n, const unsigned char *data)
{
    for (size_t i = 0; i < n; i++, data += READING_BYTES)
        r[i] = (ft_reading){.value = get_f64(data),
                            .start_s = get_f64(data + 8),
                            .iterations = get_bytes(data + 16, 8)};
}

static void decode_rounds(ft_reading *r, size_t n, const unsigned char *data)
{
    for (size_t i = 0; i < n; i++, data += ROUND_BYTES) {
        r[i].round = (uint32_t)get_bytes(data, 4);
        r[i].marks = (uint32_t)get_bytes(data + 4, 4);
    }
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
    unsigned char *data = encode_readings(r, n);
    unsigned char *rounds = encode_rounds(r, n, &bad);
    ft_status st;

    if (!data || bad) {
        free(data);
        free(rounds);
        return ft_fail(err, FT_ENOMEM, 0, "%zu readings", n);
    }
    bind_i64(&u, 1, id);
    bind_blob(&u, 2, data, n * READING_BYTES);
    bind_blob(&u, 3, rounds, n * ROUND_BYTES);
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
    if (size % READING_BYTES || (rounds && more != size / READING_BYTES * ROUND_BYTES))
        return ft_fail(err, FT_EFORMAT, 0, "store %s: readings are damaged",
                       u->s->path);
    *out = size ? malloc(size / READING_BYTES * sizeof(**out)) : NULL;
    if (size && !*out)
        return ft_fail(err, FT_ENOMEM, 0, "%zu bytes of readings", size);
    *n = size / READING_BYTES;
    decode_readings(*out, *n, data);
    if (rounds)
        decode_rounds(*out, *n, rounds);
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

/* Measurements, readings, runs, facts and members written to a store, single ones read
 * back, by prepared statements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/store.h"

#define SAME_KEY                                                                       \
    " WHERE d.name = ?1 AND s.name = ?2 AND e.name = ?3 AND e.version = ?4"            \
    " AND o.spec = ?5 AND m.phase = ?6 AND m.dtype_policy = ?7 AND m.metric = ?8"

static const char *const sql_text[FT__N_SQL] = {
    [FT__SQL_ADD_DEVICE] = "INSERT INTO device(name) VALUES(?1) ON CONFLICT DO NOTHING",
    [FT__SQL_ADD_SETTING] =
        "INSERT INTO setting(name) VALUES(?2) ON CONFLICT DO NOTHING",
    [FT__SQL_ADD_ENGINE] =
        "INSERT INTO engine(name, version) VALUES(?3, ?4) ON CONFLICT DO NOTHING",
    [FT__SQL_ADD_OPERATION] =
        "INSERT INTO operation(spec) VALUES(?5) ON CONFLICT DO NOTHING",
    [FT__SQL_ADD_RUN] = "INSERT INTO run(command, environment, began_at)"
                        " VALUES(?1, ?2, ?3) RETURNING id",
    [FT__SQL_ADD_MEASUREMENT] =
        "INSERT INTO measurement(device_id, setting_id, engine_id, operation_id, phase,"
        " dtype_policy, metric, run_id, taken_at, unit, value, error, mad, mean, std,"
        " n, iterations, calibration, conditions) SELECT d.id, s.id, e.id, o.id, ?6,"
        " ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20 FROM "
        "device d, setting s, engine e, operation o"
        " WHERE d.name = ?1 AND s.name = ?2 AND e.name = ?3 AND e.version = ?4"
        " AND o.spec = ?5 RETURNING id",
    [FT__SQL_ADD_READINGS] = "INSERT INTO reading(measurement_id, data, rounds)"
                             " VALUES(?1, ?2, ?3)",
    [FT__SQL_ADD_FACT] =
        "INSERT INTO fact(device_id, name, value, taken_at)"
        " SELECT id, ?2, ?3, ?4 FROM device WHERE name = ?1 ON CONFLICT(device_id, "
        "name)"
        " DO UPDATE SET value = excluded.value, taken_at = excluded.taken_at",
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

static ft__query *kept(ft_store *s, ft__sql which)
{
    if (!s->kept[which])
        s->kept[which] = ft__query_new(s, sql_text[which], FT__KEPT);
    return s->kept[which];
}

ft_status ft__store_begin(ft_store *s, ft_error *err)
{
    return s->writable
               ? s->kind->exec(s, s->kind->begin, NULL, err)
               : ft_fail(err, FT_EINVAL, 0, "store %s was opened for reading", s->path);
}

ft_status ft__store_end(ft_store *s, ft_status st, ft_error *err)
{
    if (st == FT_OK)
        st = s->kind->exec(s, "COMMIT", NULL, err);
    /* After some failures the database has rolled back by itself. */
    if (st != FT_OK && s->kind->in_transaction(s))
        (void)s->kind->exec(s, "ROLLBACK", NULL, NULL);
    return st;
}

static ft_status add_run(ft_store *s, int64_t *id, const char *command,
                         const char *environment, ft_error *err)
{
    ft__query *q = kept(s, FT__SQL_ADD_RUN);
    bool found;

    ft__bind_text(q, 1, command);
    ft__bind_text(q, 2, environment);
    ft__bind_i64(q, 3, (int64_t)time(NULL));
    return ft__run_i64(q, id, &found, err);
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

ft_status ft__store_add_readings(ft_store *s, int64_t id, const ft_reading *r, size_t n,
                                 ft_error *err)
{
    ft__query *q = kept(s, FT__SQL_ADD_READINGS);
    int bad;
    unsigned char *data = encode_readings(r, n);
    unsigned char *rounds = encode_rounds(r, n, &bad);
    ft_status st = FT_OK;

    if (!data || bad)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu readings", n);
    else {
        ft__bind_i64(q, 1, id);
        ft__bind(
            q, 2,
            &(ft__value){.type = FT__BLOB, .bytes = data, .size = n * READING_BYTES});
        ft__bind(q, 3,
                 &(ft__value){.type = FT__BLOB,
                              .null = !rounds,
                              .bytes = rounds,
                              .size = n * ROUND_BYTES});
        st = ft__run(q, err);
    }
    free(data);
    free(rounds);
    return st;
}

/* Names first, then the measurement that refers to them. */
static ft_status add_names(ft_store *s, const ft_key *key, ft_error *err)
{
    static const ft__sql names[] = {FT__SQL_ADD_DEVICE, FT__SQL_ADD_SETTING,
                                    FT__SQL_ADD_ENGINE, FT__SQL_ADD_OPERATION};
    ft_status st = FT_OK;

    for (size_t i = 0; st == FT_OK && i < sizeof(names) / sizeof(*names); i++) {
        ft__bind_key(kept(s, names[i]), key);
        st = ft__run(kept(s, names[i]), err);
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
    ft__query *q = st ? NULL : kept(s, FT__SQL_ADD_MEASUREMENT);
    int64_t id = 0;
    bool found;

    if (st != FT_OK)
        return st;
    ft__bind_key(q, key);
    ft__bind_i64(q, 9, run_id);
    ft__bind_i64(q, 10, taken_at);
    ft__bind_text(q, 11, m->unit);
    for (int i = 0; i < 5; i++)
        ft__bind_f64(q, 12 + i, figure[i]);
    ft__bind_i64(q, 17, (int64_t)m->n);
    ft__bind_i64(q, 18, (int64_t)m->iterations);
    ft__bind_f64(q, 19, m->calibration_s > 0 ? m->calibration_s : NAN);
    ft__bind_text(q, 20, m->conditions ? m->conditions : "");
    st = ft__run_i64(q, &id, &found, err);
    if (st == FT_OK && n_readings)
        st = ft__store_add_readings(s, id, readings, n_readings, err);
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
    ft__query *q = kept(s, FT__SQL_FIND_KEY);
    int64_t one;
    bool any;
    ft_status st;

    *found = 0;
    if (!whole(key))
        return ft_fail(err, FT_EINVAL, 0, "the key is not complete");
    ft__bind_key(q, key);
    st = ft__run_i64(q, &one, &any, err);
    *found = any;
    return st;
}

ft_status ft__store_add_member(ft_store *s, const ft_member *m, ft_error *err)
{
    ft__query *q = kept(s, FT__SQL_ADD_MEMBER);

    if (!m->source || !m->whole || !m->phase || !m->part || !isfinite(m->count))
        return ft_fail(err, FT_EINVAL, 0,
                       "a member needs a source, a whole, a phase, a part and a count");
    ft__bind_text(q, 1, m->source);
    ft__bind_text(q, 2, m->whole);
    ft__bind_text(q, 3, m->phase);
    ft__bind_text(q, 4, m->part);
    ft__bind_f64(q, 5, m->count);
    ft__bind_text(q, 6, m->note ? m->note : "");
    return ft__run(q, err);
}

static ft_status put_fact(ft_store *s, const char *device, const char *name,
                          double value, ft_error *err)
{
    ft__query *q = kept(s, FT__SQL_ADD_DEVICE);
    ft_status st;

    ft__bind_text(q, 1, device);
    st = ft__run(q, err);
    if (st)
        return st;
    q = kept(s, FT__SQL_ADD_FACT);
    ft__bind_text(q, 1, device);
    ft__bind_text(q, 2, name);
    ft__bind_f64(q, 3, value);
    ft__bind_i64(q, 4, (int64_t)time(NULL));
    return ft__run(q, err);
}

ft_status ft__store_put_fact(ft_store *s, const char *device, const char *name,
                             double value, ft_error *err)
{
    ft_status st;

    if (!isfinite(value))
        return ft_fail(err, FT_EINVAL, 0, "%s of %s must be a finite number", name,
                       device);
    st = ft__store_begin(s, err);
    return st ? st : ft__store_end(s, put_fact(s, device, name, value, err), err);
}

ft_status ft_store_fact(ft_store *s, const char *device, const char *name,
                        double *value, ft_error *err)
{
    ft__query *q = kept(s, FT__SQL_GET_FACT);
    ft_status st;
    bool row;

    *value = NAN;
    ft__bind_text(q, 1, device);
    ft__bind_text(q, 2, name);
    st = ft__step(q, &row, err);
    if (row) {
        *value = ft__f64(q, 0);
        ft__reset(q);
    }
    return st;
}

/* The columns of a row of readings; a size that is no multiple is damage. */
static ft_status decode(ft__query *q, ft_reading **out, size_t *n, ft_error *err)
{
    ft__value data = q->s->kind->column(q, 0), rounds = q->s->kind->column(q, 1);
    size_t size = data.size;

    if (q->bad)
        return ft_fail(err, FT_ENOMEM, 0, "readings of store %s", q->s->path);
    if (size % READING_BYTES ||
        (rounds.bytes && rounds.size != size / READING_BYTES * ROUND_BYTES))
        return ft_fail(err, FT_EFORMAT, 0, "store %s: readings are damaged",
                       q->s->path);
    *out = size ? malloc(size / READING_BYTES * sizeof(**out)) : NULL;
    if (size && !*out)
        return ft_fail(err, FT_ENOMEM, 0, "%zu bytes of readings", size);
    *n = size / READING_BYTES;
    decode_readings(*out, *n, data.bytes);
    if (rounds.bytes)
        decode_rounds(*out, *n, rounds.bytes);
    return FT_OK;
}

ft_status ft__store_readings(ft_store *s, int64_t id, ft_reading **out, size_t *n,
                             ft_error *err)
{
    ft__query *q = kept(s, FT__SQL_GET_READINGS);
    ft_status st;
    bool row;

    *out = NULL;
    *n = 0;
    ft__bind_i64(q, 1, id);
    st = ft__step(q, &row, err);
    if (!row)
        return st;
    st = decode(q, out, n, err);
    ft__reset(q);
    return st;
}

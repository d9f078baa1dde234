/* Measurements as CSV back into a store. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/index.h"
#include "base/limits.h"
#include "base/number.h"
#include "foretell/names.h"
#include "foretell/op.h"
#include "store/columns.h"
#include "store/csv.h"
#include "store/store.h"

/* What one record says; text is borrowed from the cursor. */
struct record {
    const char *command; /* names the run, which is made with its first new row */
    uint64_t run;        /* as the file numbers it */
    uint64_t taken_at;
    ft_key key;
    ft_measurement m;
    ft_reading *readings;
    size_t n_readings;
};

/* Many measurements in one transaction, about a hundred thousand a second: the numbers
 * of names are kept in memory, so that a row costs one insertion and, where its
 * operation was there before, one look-up. A row that is there already is not put
 * again; of rows that are equal within what is put here, as many are kept as were put:
 * putting all of them a second time changes nothing. Rows are equal in key, taken_at
 * and value; exports of older versions have no conditions. */
/* Names of a row, and the run that it belongs to. */
enum { DEVICE, SETTING, ENGINE, OPERATION, N_NAMES, RUN = N_NAMES, N_TABLES };

struct bulk {
    ft_store *s;
    int64_t last_row; /* of those that were there before */
    int64_t new_row;  /* of those put here */
    int64_t last_op;
    int64_t last[N_TABLES]; /* numbers of names and runs */
    ft__arena arena;        /* names */
    ft__index names[N_TABLES];
    ft__index seen; /* rows whose operation was there before: how often */
    ft__query *find[N_TABLES], *make[N_TABLES], *count, *add;
};

static const char newest_run[] = "SELECT id FROM run WHERE command = ?1"
                                 " AND environment = '' ORDER BY id DESC LIMIT 1";
static const char *const find_sql[N_TABLES] = {
    "SELECT id FROM device WHERE name = ?1", "SELECT id FROM setting WHERE name = ?1",
    "SELECT id FROM engine WHERE name = ?1 AND version = ?2",
    "SELECT id FROM operation WHERE spec = ?1", newest_run};
static const char *const make_sql[N_TABLES] = {
    "INSERT INTO device(name, id) VALUES(?1, ?2)",
    "INSERT INTO setting(name, id) VALUES(?1, ?2)",
    "INSERT INTO engine(name, version, id) VALUES(?1, ?2, ?3)",
    "INSERT INTO operation(spec, id) VALUES(?1, ?2)",
    "INSERT INTO run(command, environment, began_at, id) VALUES(?1, '', ?2, ?3)"};
static const char last_sql[] = "SELECT (SELECT max(id) FROM device),"
                               " (SELECT max(id) FROM setting),"
                               " (SELECT max(id) FROM engine),"
                               " (SELECT max(id) FROM operation),"
                               " (SELECT max(id) FROM run),"
                               " (SELECT max(id) FROM measurement)";
static const char count_sql[] =
    "SELECT count(*) FROM measurement WHERE operation_id = ?1 AND device_id = ?2"
    " AND engine_id = ?3 AND setting_id = ?4 AND phase = ?5 AND dtype_policy = ?6"
    " AND metric = ?7 AND taken_at = ?8 AND value IS ?9"
    " AND id <= ?10";
static const char add_sql[] =
    "INSERT INTO measurement(operation_id, device_id, engine_id, setting_id, phase,"
    " dtype_policy, metric, taken_at, value, conditions, run_id, unit, error, mad,"
    " mean, std, n, iterations, calibration, id) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
    " ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)";

static ft_status last_rows(struct bulk *b, ft_error *err)
{
    ft__query *q = ft__query_new(b->s, last_sql, FT__ONCE);
    bool row;
    ft_status st = ft__step(q, &row, err);

    for (int i = 0; row && i < N_TABLES; i++)
        b->last[i] = ft__i64(q, i); /* 0 for NULL */
    if (row)
        b->last_row = b->new_row = ft__i64(q, N_TABLES);
    b->last_op = b->last[OPERATION];
    return ft__finish(q, st, err);
}

static void bulk_free(struct bulk *b)
{
    for (int i = 0; i < N_TABLES; i++) {
        (void)ft__finish(b->find[i], FT_OK, NULL);
        (void)ft__finish(b->make[i], FT_OK, NULL);
        ft__index_free(&b->names[i]);
    }
    (void)ft__finish(b->count, FT_OK, NULL);
    (void)ft__finish(b->add, FT_OK, NULL);
    ft__index_free(&b->seen);
    ft__arena_free(&b->arena);
    free(b);
}

/* Ends the transaction, undoing all where st is a failure; frees b (may be NULL);
 * returns what came of it. */
static ft_status bulk_end(struct bulk *b, ft_status st, ft_error *err)
{
    ft_store *s = b ? b->s : NULL;

    if (!b)
        return st;
    bulk_free(b); /* before the transaction ends: SQLite waits for its statements */
    return ft__store_end(s, st, err);
}

static ft_status bulk_begin(struct bulk **out, ft_store *s, ft_error *err)
{
    struct bulk *b = calloc(1, sizeof(*b));
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
    for (int i = 0; i < N_TABLES; i++) {
        b->find[i] = ft__query_new(s, find_sql[i], FT__KEPT);
        b->make[i] = ft__query_new(s, make_sql[i], FT__KEPT);
    }
    b->count = ft__query_new(s, count_sql, FT__KEPT);
    b->add = ft__query_new(s, add_sql, FT__KEPT);
    st = last_rows(b, err);
    if (st)
        return bulk_end(b, st, err);
    *out = b;
    return FT_OK;
}

static ft_status make_name(struct bulk *b, int which, const char *name,
                           const char *more, int64_t *out, ft_error *err)
{
    ft__query *q = b->make[which];

    ft__bind_text(q, 1, name);
    if (more)
        ft__bind_text(q, 2, more);
    if (which == RUN)
        ft__bind_i64(q, 2, (int64_t)time(NULL));
    *out = ++b->last[which];
    ft__bind_i64(q, more || which == RUN ? 3 : 2, *out);
    return ft__run(q, err);
}

/* The number of a name in the store, of a run the newest; made when there is none.
 * `more`: an engine's version, else NULL. */
static ft_status name_number(struct bulk *b, int which, const char *name,
                             const char *more, int64_t *out, ft_error *err)
{
    uint64_t h = ft__hash_text(FT__HASH_BEGIN, name);
    ft__index_slot *slot;
    const char *kept = name;
    char both[256];
    bool found;
    ft_status st;

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
    ft__bind_text(b->find[which], 1, name);
    if (more)
        ft__bind_text(b->find[which], 2, more);
    st = ft__run_i64(b->find[which], out, &found, err);
    if (!st && !found)
        st = make_name(b, which, name, more, out, err);
    if (st)
        return st;
    *slot = (ft__index_slot){h, kept, *out};
    b->names[which].n++;
    return FT_OK;
}

/* What count_sql and add_sql have in common. */
static void bind_row(ft__query *q, const int64_t id[N_NAMES], const struct record *row)
{
    ft__bind_i64(q, 1, id[OPERATION]);
    ft__bind_i64(q, 2, id[DEVICE]);
    ft__bind_i64(q, 3, id[ENGINE]);
    ft__bind_i64(q, 4, id[SETTING]);
    ft__bind_text(q, 5, row->key.phase);
    ft__bind_text(q, 6, row->key.dtype_policy);
    ft__bind_text(q, 7, row->key.metric);
    ft__bind_i64(q, 8, (int64_t)row->taken_at);
    ft__bind_f64(q, 9, row->m.value);
}

static uint64_t hash_row(const int64_t id[N_NAMES], const struct record *row)
{
    uint64_t h = ft__hash_bytes(FT__HASH_BEGIN, id, N_NAMES * sizeof(*id));

    h = ft__hash_text(ft__hash_text(h, row->key.phase), row->key.dtype_policy);
    h = ft__hash_text(h, row->key.metric);
    h = ft__hash_bytes(h, &row->taken_at, sizeof(row->taken_at));
    return ft__hash_bytes(h, &row->m.value, sizeof(row->m.value));
}

/* Whether the store had this row before: of n equal ones, at least n. */
static ft_status is_present(struct bulk *b, const int64_t id[N_NAMES],
                            const struct record *row, bool *out, ft_error *err)
{
    ft__index_slot *slot;
    int64_t before = 0;
    uint64_t h;
    bool found;
    ft_status st;

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
    ft__bind_i64(b->count, 10, b->last_row);
    st = ft__run_i64(b->count, &before, &found, err);
    *out = before >= slot->number;
    return st;
}

static ft_status add(struct bulk *b, const int64_t id[N_NAMES],
                     const struct record *row, ft_error *err)
{
    const ft_measurement *m = &row->m;
    ft__query *q = b->add;
    int64_t run;
    ft_status st = name_number(b, RUN, row->command, NULL, &run, err);

    if (st)
        return st;
    bind_row(q, id, row);
    ft__bind_text(q, 10, m->conditions ? m->conditions : "");
    ft__bind_i64(q, 11, run);
    ft__bind_text(q, 12, m->unit);
    ft__bind_f64(q, 13, m->error);
    ft__bind_f64(q, 14, m->mad);
    ft__bind_f64(q, 15, m->mean);
    ft__bind_f64(q, 16, m->std);
    ft__bind_i64(q, 17, (int64_t)m->n);
    ft__bind_i64(q, 18, (int64_t)m->iterations);
    ft__bind_f64(q, 19, m->calibration_s > 0 ? m->calibration_s : NAN);
    ft__bind_i64(q, 20, ++b->new_row);
    st = ft__run(q, err);
    if (!st && row->n_readings)
        st = ft__store_add_readings(b->s, b->new_row, row->readings, row->n_readings,
                                    err);
    return st;
}

/* Strings as ft__store_put() wants them. *fresh: it was not there. */
static ft_status bulk_put(struct bulk *b, const struct record *row, bool *fresh,
                          ft_error *err)
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

/* What is read: where each column stands, the number of columns: nowhere. */
struct reader {
    ft__csv *csv;
    size_t n_columns;
    const char *source;
    size_t at[FT__N_COLUMNS];
    ft_error *err;
};

/* "" where the file has no such column. */
static const char *text_of(const struct reader *c, enum ft__csv_column column)
{
    size_t at = c->at[column];

    return at < c->n_columns ? ft__csv_text(c->csv, at) : "";
}

/* Complain about a field of the row. */
static ft_status bad_field(const struct reader *c, enum ft__csv_column column,
                           const char *what)
{
    return ft__csv_bad(c->csv, c->at[column], what, c->err);
}

/* What stands behind the key and the value: rows written by hand lack it. */
static bool may_lack(enum ft__csv_column c)
{
    return c > FT__COL_value;
}

static ft_status place_columns(struct reader *c)
{
    size_t n = c->n_columns;
    bool known[FT__N_COLUMNS + 1] = {0};

    for (enum ft__csv_column i = 0; i < FT__N_COLUMNS; i++) {
        int at = ft__csv_find(c->csv, ft__column_name[i]);

        c->at[i] = at < 0 ? n : (size_t)at;
        if (at >= 0 && at < FT__N_COLUMNS)
            known[at] = true;
        if (at < 0 && !may_lack(i))
            return ft_fail(
                c->err, FT_EFORMAT, 1,
                "%s, line 1: there is no column \"%s\"; docs/data.md has the "
                "columns of a file of measurements, and the tools that make "
                "one of published tables",
                c->source, ft__column_name[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (i >= FT__N_COLUMNS || !known[i])
            return ft__csv_bad(c->csv, i, "measurements have no such column", c->err);
    return FT_OK;
}

/* What predictions are made of: one row that cannot be read or is in another unit would
 * spoil what is learned from all of them. Other metrics may be of anything. */
static ft_status check_learned(const struct reader *c, const ft_key *k,
                               const char *unit)
{
    static const char *const learned[][2] = {
        {"time", "s"}, {"power", "W"}, {"energy", "J"}, {"memory", "B"}};
    const size_t n = sizeof(learned) / sizeof(*learned);
    ft_error why = {0};
    ft_op op;
    char text[80];
    size_t i = 0;

    while (i < n && strcmp(k->metric, learned[i][0]) != 0)
        i++;
    if (i == n)
        return FT_OK;
    if (!*k->device)
        return bad_field(c, FT__COL_device, "the device that was measured is missing");
    if (*unit && strcmp(unit, learned[i][1]) != 0) {
        snprintf(text, sizeof(text), "%s is in %s", learned[i][0], learned[i][1]);
        return bad_field(c, FT__COL_unit, text);
    }
    if (ft_op_parse(&op, k->spec, strlen(k->spec), &why))
        return bad_field(c, FT__COL_spec, why.msg);
    if (op.kind == FT_KIND_network || op.kind == FT_KIND_kernel) {
        i = (size_t)snprintf(text, sizeof(text), "a phase is ");
        for (int p = 0; p < FT_PHASE_COUNT; p++) {
            const char *name = ft_name(FT_NAMES_PHASE, (ft_phase)p);

            if (strcmp(k->phase, name) == 0)
                return FT_OK;
            i += (size_t)snprintf(text + i, sizeof(text) - i, "%s%s",
                                  !p                       ? ""
                                  : p + 1 < FT_PHASE_COUNT ? ", "
                                                           : " or ",
                                  name);
        }
        return bad_field(c, FT__COL_phase, text);
    }
    if (strcmp(k->phase, ft_name(FT_NAMES_PHASE, op.phase)) == 0)
        return FT_OK;
    snprintf(text, sizeof(text), "the spec is of phase=%s",
             ft_name(FT_NAMES_PHASE, op.phase));
    return bad_field(c, FT__COL_phase, text);
}

/* NULL: such a value may be measured. */
static const char *refuse_value(const char *metric, double v)
{
    if (strcmp(metric, "time") == 0)
        return v > 0 && v < 1e9 ? NULL : "a time is above 0 s and below 1e9 s";
    if (strncmp(metric, "power", 5) == 0 || strncmp(metric, "energy", 6) == 0 ||
        strncmp(metric, "memory", 6) == 0)
        return v >= 0 && v < 1e18
                   ? NULL
                   : "power, energy and memory are at least 0 and below 1e18";
    return NULL;
}

static bool parse_number(const char *s, double *v)
{
    if (*s)
        return ft__number_parse(s, v);
    *v = NAN;
    return true;
}

static bool parse_count(const char *s, uint64_t *v)
{
    errno = 0;
    *v = strtoull(s, NULL, 10);
    return *s && !s[strspn(s, "0123456789")] && errno == 0 && *v <= INT64_MAX;
}

/* The piece up to the next colon of *rest, cut off; NULL: there is none left. */
static char *cut_piece(char **rest)
{
    char *piece = *rest, *colon = piece ? strchr(piece, ':') : NULL;

    if (colon)
        *colon++ = '\0';
    *rest = colon;
    return piece;
}

static bool parse_u32(const char *s, uint32_t *v)
{
    uint64_t wide;

    if (!parse_count(s, &wide) || wide > UINT32_MAX)
        return false;
    *v = (uint32_t)wide;
    return true;
}

static bool parse_reading(char *text, ft_reading *r)
{
    char *value = cut_piece(&text), *iterations = cut_piece(&text);
    char *start = cut_piece(&text), *round = cut_piece(&text);
    char *marks = cut_piece(&text);

    *r = (ft_reading){.start_s = NAN};
    return !text && iterations && parse_number(value, &r->value) &&
           parse_count(iterations, &r->iterations) &&
           (!start || (round && !*start) || ft__number_parse(start, &r->start_s)) &&
           (!round || parse_u32(round, &r->round)) &&
           (!marks || parse_u32(marks, &r->marks));
}

/* Readings with one blank between them; `text` is cut into pieces.
 * *out is the caller's to free. NULL or what is wrong. */
static const char *parse_readings(char *text, ft_reading **out, size_t *n)
{
    size_t most = *text != '\0';

    for (const char *p = text; *p; p++)
        most += *p == ' ';
    *n = 0;
    *out = most ? malloc(most * sizeof(**out)) : NULL;
    if (most && !*out)
        return "memory is short";
    for (char *next = most ? text : NULL; next;) {
        char *one = next;

        next = strchr(one, ' ');
        if (next)
            *next++ = '\0';
        if (!parse_reading(one, &(*out)[(*n)++]))
            return "readings are value:iterations[:start_s[:round[:marks]]], with "
                   "one blank between them";
    }
    return NULL;
}

static ft_status read_measurement(const struct reader *c, struct record *r)
{
    const struct {
        enum ft__csv_column column;
        double *number;
        uint64_t *count;
    } part[] = {
        {FT__COL_value, &r->m.value, NULL},
        {FT__COL_error, &r->m.error, NULL},
        {FT__COL_mad, &r->m.mad, NULL},
        {FT__COL_mean, &r->m.mean, NULL},
        {FT__COL_std, &r->m.std, NULL},
        {FT__COL_n, NULL, &r->m.n},
        {FT__COL_iterations, NULL, &r->m.iterations},
        {FT__COL_taken_at, NULL, &r->taken_at},
        {FT__COL_run, NULL, &r->run},
        {FT__COL_calibration, &r->m.calibration_s, NULL},
    };
    const char *wrong = NULL;

    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++) {
        const char *text = text_of(c, part[i].column);

        if (part[i].number && !parse_number(text, part[i].number))
            return bad_field(c, part[i].column, "not a finite decimal number");
        if (part[i].count && c->at[part[i].column] < c->n_columns &&
            !parse_count(text, part[i].count))
            return bad_field(c, part[i].column, "not a whole number from 0 to 2^63-1");
    }
    if (*text_of(c, FT__COL_readings))
        wrong = parse_readings(ft__csv_text(c->csv, c->at[FT__COL_readings]),
                               &r->readings, &r->n_readings);
    if (wrong)
        return bad_field(c, FT__COL_readings, wrong);
    wrong =
        isnan(r->m.value) ? NULL : refuse_value(text_of(c, FT__COL_metric), r->m.value);
    if (wrong)
        return bad_field(c, FT__COL_value, wrong);
    r->key =
        (ft_key){text_of(c, FT__COL_device),       text_of(c, FT__COL_setting),
                 text_of(c, FT__COL_engine),       text_of(c, FT__COL_engine_version),
                 text_of(c, FT__COL_spec),         text_of(c, FT__COL_phase),
                 text_of(c, FT__COL_dtype_policy), text_of(c, FT__COL_metric)};
    r->m.unit = text_of(c, FT__COL_unit);
    r->m.conditions = text_of(c, FT__COL_conditions);
    return check_learned(c, &r->key, r->m.unit);
}

/* A part of a network is written as a row of no device: docs/data.md. */
static bool is_member(const ft_key *k)
{
    return strcmp(k->metric, FT__MEMBER) == 0 && !*k->device;
}

static ft_status add_member(ft_store *s, const struct reader *c, const struct record *r)
{
    const ft_member m = {.source = r->key.engine,
                         .whole = r->key.setting,
                         .phase = r->key.phase,
                         .part = r->key.spec,
                         .count = r->m.value,
                         .note = r->m.conditions};

    if (isnan(m.count))
        return bad_field(c, FT__COL_value, "a member needs a count");
    return ft__store_add_member(s, &m, c->err);
}

/* Runs of the file become runs here, found again when the rest of the same file
 * comes later. */
static ft_status add_record(ft_store *s, struct bulk *b, const struct reader *c,
                            struct record *r, uint64_t *n_rows)
{
    ft__buf command = {0};
    ft_status st;
    bool fresh;

    if (is_member(&r->key))
        return add_member(s, c, r);
    ft__buf_fmt(&command, "import %s, run %llu", c->source, (unsigned long long)r->run);
    if (command.bad)
        return ft_fail(c->err, FT_ENOMEM, 0, "%s", c->source);
    r->command = command.s;
    st = bulk_put(b, r, &fresh, c->err);
    ft__buf_free(&command);
    *n_rows += fresh;
    return st;
}

static ft_status add_records(ft_store *s, struct bulk *b, const struct reader *c,
                             uint64_t *n_rows)
{
    bool more = true;
    ft_status st = ft__csv_next(c->csv, &more, c->err);

    while (st == FT_OK && more) {
        struct record r = {0};

        st = read_measurement(c, &r);
        if (st == FT_OK)
            st = add_record(s, b, c, &r, n_rows);
        free(r.readings);
        if (st == FT_OK)
            st = ft__csv_next(c->csv, &more, c->err);
    }
    return st;
}

/* Into a store of SQLite's own, and from there in a few statements. */
static ft_status import_staged(ft_store *s, const void *csv, size_t len,
                               const char *source, uint64_t *n_rows, ft_error *err)
{
    ft_store *stage;
    ft_status st = ft__store_open_temporary(&stage, err);

    if (!st)
        st = ft_store_import_csv(stage, csv, len, source, n_rows, err);
    if (!st)
        st = ft__store_take_import(n_rows, s, stage, err);
    ft_store_close(stage);
    return st;
}

ft_status ft_store_import_csv(ft_store *s, const void *csv, size_t len,
                              const char *source, uint64_t *n_rows, ft_error *err)
{
    struct reader c = {.source = source, .err = err};
    uint64_t taken = 0;
    struct bulk *b = NULL;
    ft_status st;

    *n_rows = 0;
    if (s->kind->staged)
        return import_staged(s, csv, len, source, n_rows, err);
    st = ft__csv_open(&c.csv, &c.n_columns, csv, len, source, err);
    if (st == FT_OK)
        st = place_columns(&c);
    if (st == FT_OK)
        st = bulk_begin(&b, s, err);
    if (st == FT_OK)
        st = add_records(s, b, &c, &taken);
    st = bulk_end(b, st, err);
    ft__csv_close(c.csv);
    if (st == FT_OK)
        *n_rows = taken;
    return st;
}

ft_status ft_store_import_file(ft_store *s, const char *path, uint64_t *n_rows,
                               ft_error *err)
{
    size_t len = 0;
    char *bytes;
    ft_status st = ft__file_read(&bytes, &len, path, FT__MAX_TABLE_FILE, err);

    *n_rows = 0;
    if (st == FT_OK)
        st = ft_store_import_csv(s, bytes, len, path, n_rows, err);
    free(bytes);
    return st;
}

static bool is_sqlite(const char *path)
{
    static const char magic[] = "SQLite format 3"; /* with its zero */
    char head[sizeof(magic)];
    FILE *fp = fopen(path, "rb");
    bool is = fp && fread(head, 1, sizeof(head), fp) == sizeof(head) &&
              memcmp(head, magic, sizeof(magic)) == 0;

    if (fp)
        fclose(fp);
    return is;
}

ft_status ft_store_open_any(ft_store **out, const char *path, ft_store_mode mode,
                            ft_error *err)
{
    uint64_t rows;
    ft_status st;

    if (ft_store_shown(NULL, 0, path) || is_sqlite(path))
        return ft_store_open(out, path, mode, err);
    st = ft_store_open(out, ":memory:", FT_STORE_WRITE, err);
    if (!st)
        st = ft_store_import_file(*out, path, &rows, err);
    if (st) {
        ft_store_close(*out);
        *out = NULL;
    }
    return st;
}

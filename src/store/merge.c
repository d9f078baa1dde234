/* Stores brought together. Every table of the other store is copied into a temporary
 * one
 * ("from_...") within the transaction that merges it, so that the rest is plain SQL
 * over both, whichever databases the two lie in. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "store/trial.h"

/* Facts are measured, so those of one machine scatter; further apart than this they
 * are of two. The shortest usable batch is not compared: it varies with load. */
#define FACT_RATIO "4"

/* With the version of stores that has it first. */
static const struct {
    const char *name;
    int since;
} tables[] = {{"device", 1},     {"setting", 1},     {"engine", 1},
              {"operation", 1},  {"run", 1},         {"measurement", 1},
              {"reading", 1},    {"fact", 1},        {"fact_past", 3},
              {"member", 4},     {"exploration", 6}, {"trial", 6},
              {"trial_value", 6}};
enum { MEASUREMENT = 5, READING, FACT_PAST = 8, MEMBER, TRIAL = 11, N_TABLES = 13 };

/* What a measurement said when it was taken; the first seven are never NULL. It is the
 * same one where all of this is equal, and the raw readings too if both have them:
 * exports may leave those out. */
static const char *const core[] = {"phase", "dtype_policy", "metric", "taken_at",
                                   "unit",  "iterations",   "n",      "value",
                                   "error", "mad",          "mean",   "std"};
enum { N_CORE = sizeof(core) / sizeof(*core), FIRST_NULLABLE = 7 };

enum { MANY = 1000 }; /* measurements, of which the planner shall know */

struct merge {
    ft_store *to;
    const ft_merge_options *opt;
    ft_merge_report *out;
    bool import;               /* from a file: what it lists of networks holds */
    int64_t version;           /* of the other store */
    ft__buf columns[N_TABLES]; /* that both have: "id,name" */
    ft_error *err;
};

/* Run one statement; *changed (may be NULL) rows. Takes the text. */
static ft_status run_take(struct merge *k, ft__buf *sql, uint64_t *changed)
{
    ft_status st = FT_OK;

    if (sql->bad)
        st = ft_fail(k->err, FT_ENOMEM, 0, "merging into %s", k->to->path);
    else
        st = k->to->kind->exec(k->to, sql->s, changed, k->err);
    ft__buf_free(sql);
    return st;
}

static ft_status run(struct merge *k, const char *text, uint64_t *changed)
{
    ft__buf sql = {0};

    ft__buf_str(&sql, text);
    return run_take(k, &sql, changed);
}

/* The first number of the first row. */
static ft_status ask(struct merge *k, const char *sql, uint64_t *out)
{
    ft__query *q = ft__query_new(k->to, sql, FT__ONCE);
    int64_t number = 0;
    bool found;
    ft_status st = ft__finish(q, ft__run_i64(q, &number, &found, k->err), k->err);

    *out = (uint64_t)number;
    return st;
}

/* The names of a table's columns, each followed by a comma. */
static ft_status columns_of(struct merge *k, ft__buf *out, ft_store *s,
                            const char *table)
{
    char sql[128];
    const char *name;
    ft__query *q;
    bool row;
    ft_status st;

    snprintf(sql, sizeof(sql), "SELECT * FROM main.%s LIMIT 0", table);
    q = ft__query_new(s, sql, FT__ONCE);
    st = ft__step(q, &row, k->err);
    for (int i = 0; !st && (name = s->kind->column_name(q, i)) != NULL; i++)
        ft__buf_fmt(out, "%s,", name);
    return ft__finish(q, st, k->err);
}

/* Whether a list has this column of `len` letters. */
static bool lists(const char *list, const char *column, size_t len)
{
    for (; *list; list += strcspn(list, ",") + 1)
        if (strcspn(list, ",") == len && strncmp(list, column, len) == 0)
            return true;
    return false;
}

static ft_status find_columns(struct merge *k, ft_store *from, int table)
{
    ft__buf here = {0}, there = {0}, *both = &k->columns[table];
    ft_status st = columns_of(k, &here, k->to, tables[table].name);

    both->len = 0;
    if (!st)
        st = columns_of(k, &there, from, tables[table].name);
    if (!st && (here.bad || there.bad))
        st = ft_fail(k->err, FT_ENOMEM, 0, "reading %s", from->path);
    for (const char *at = here.s; !st && *at; at += strcspn(at, ",") + 1) {
        size_t len = strcspn(at, ",");

        if (lists(there.s, at, len))
            ft__buf_fmt(both, "%s%.*s", both->len ? "," : "", (int)len, at);
    }
    ft__buf_free(&here);
    ft__buf_free(&there);
    return st;
}

static ft_status copy_rows(struct merge *k, ft__query *rows, ft__query *add)
{
    const ft__database *from = rows ? rows->s->kind : NULL;
    bool more = true;
    ft_status st = FT_OK;

    while (!st && more) {
        st = ft__step(rows, &more, k->err);
        if (st || !more)
            break;
        for (int i = 0; add && i < add->n_parameters; i++) {
            ft__value v = from->column(rows, i);

            ft__bind(add, i + 1, &v);
        }
        if (!rows->bad)
            st = ft__run(add, k->err);
    }
    st = ft__finish(add, st, k->err);
    return ft__finish(rows, st, k->err);
}

static ft_status copy_table(struct merge *k, ft_store *from, int table)
{
    const char *name = tables[table].name;
    ft__buf make = {0}, get = {0}, put = {0};
    ft_status st = find_columns(k, from, table);
    const char *list = k->columns[table].s;
    int n = 1;

    ft__buf_fmt(&make, "CREATE TEMP TABLE from_%s AS SELECT %s FROM main.%s LIMIT 0",
                name, list, name);
    ft__buf_fmt(&get, "SELECT %s FROM main.%s", list, name);
    ft__buf_fmt(&put, "INSERT INTO temp.from_%s(%s) VALUES(?1", name, list);
    for (const char *p = list; p && *p; p++)
        if (*p == ',')
            ft__buf_fmt(&put, ",?%d", ++n);
    ft__buf_str(&put, ")");
    if (!st && (get.bad || put.bad || k->columns[table].bad))
        st = ft_fail(k->err, FT_ENOMEM, 0, "merging into %s", k->to->path);
    if (st)
        ft__buf_free(&make);
    else
        st = run_take(k, &make, NULL);
    if (!st)
        st = copy_rows(k, ft__query_new(from, get.s, FT__ROWS),
                       ft__query_new(k->to, put.s, FT__FILL));
    ft__buf_free(&get);
    ft__buf_free(&put);
    return st;
}

/* One moment of the other store. A CSV file knows of a run no more than a number, so
 * a run that was imported began when the first of its measurements was taken:
 * importing the file again finds it again. */
static ft_status copy_store(struct merge *k, ft_store *from)
{
    ft_status st = from->kind->exec(from, from->kind->snapshot, NULL, k->err);

    k->version = from->version;
    for (int i = 0; i < N_TABLES && !st; i++)
        if (tables[i].since <= k->version)
            st = copy_table(k, from, i);
    if (from->kind->in_transaction(from))
        (void)from->kind->exec(from, "ROLLBACK", NULL, NULL);
    if (!st)
        st = run(k,
                 "UPDATE temp.from_run SET began_at = coalesce((SELECT min(taken_at)"
                 " FROM temp.from_measurement WHERE run_id = from_run.id), began_at)"
                 " WHERE command LIKE 'import %' AND environment = '';",
                 NULL);
    return st;
}

static void drop_copies(struct merge *k)
{
    static const char *const ours[] = {"row", "place"};
    enum { N_OURS = sizeof(ours) / sizeof(*ours) };
    char sql[64];

    for (int i = 0; i < N_TABLES + N_OURS; i++) {
        snprintf(sql, sizeof(sql), "DROP TABLE IF EXISTS temp.from_%s",
                 i < N_TABLES ? tables[i].name : ours[i - N_TABLES]);
        (void)k->to->kind->exec(k->to, sql, NULL, NULL);
    }
    for (int i = 0; i < N_TABLES; i++)
        ft__buf_free(&k->columns[i]);
}

static ft_status rename_devices(struct merge *k)
{
    ft__query *q = ft__query_new(
        k->to, "UPDATE temp.from_device SET name = ?1 WHERE name = ?2", FT__ONCE);
    ft_status st = FT_OK;

    for (size_t i = 0; i < k->opt->n_renames && !st; i++) {
        ft__bind_text(q, 1, k->opt->renames[i].to);
        ft__bind_text(q, 2, k->opt->renames[i].from);
        st = ft__run(q, k->err);
    }
    return ft__finish(q, st, k->err);
}

/* The same name for two machines: their facts are too far apart. */
static ft_status find_conflict(struct merge *k, const ft_store *from)
{
    static const char sql[] =
        "SELECT d.name, f.name, f.value, g.value FROM temp.from_fact f"
        " JOIN temp.from_device e ON e.id = f.device_id JOIN device d ON d.name = "
        "e.name"
        " JOIN fact g ON g.device_id = d.id AND g.name = f.name"
        " WHERE f.name NOT LIKE 'proportional_from_s%' AND (abs(f.value) > " FACT_RATIO
        " * abs(g.value)"
        " OR abs(g.value) > " FACT_RATIO
        " * abs(f.value) OR (f.value < 0) <> (g.value < 0))"
        " ORDER BY 1, 2";
    ft__query *q;
    ft_status st;
    bool row;

    if (k->opt->same_devices)
        return FT_OK;
    q = ft__query_new(k->to, sql, FT__ONCE);
    st = ft__step(q, &row, k->err);
    if (row)
        st = ft_fail(
            k->err, FT_EINVAL, 0,
            "%s and %s both have a device %s, but these look like two machines: "
            "%s is %g there and %g here; give theirs another name with --rename "
            "%s=NAME, or say --same if it is one machine",
            from->path, k->to->path, ft__text(q, 0), ft__text(q, 1), ft__f64(q, 2),
            ft__f64(q, 3), ft__text(q, 0));
    return ft__finish(q, st, k->err);
}

/* Where each of their measurements is here: in `there` the row that is the same, if
 * there was one before; the numbers of names are those here. */
static ft_status find_rows(struct merge *k, const ft_store *from)
{
    ft__buf sql = {0};
    uint64_t rows = 0, placed = 0;
    ft_status st;

    ft__buf_str(&sql,
                "CREATE TEMP TABLE from_row AS SELECT m.id AS id, d.id AS device_id,"
                " s.id AS setting_id, e.id AS engine_id, o.id AS operation_id,"
                " m.run_id AS run_id, CAST(NULL AS BIGINT) AS place, 0 AS fresh,"
                " row_number() OVER (ORDER BY m.id) AS nth"
                " FROM temp.from_measurement m"
                " JOIN temp.from_device fd ON fd.id = m.device_id"
                " JOIN device d ON d.name = fd.name"
                " JOIN temp.from_setting fs ON fs.id = m.setting_id"
                " JOIN setting s ON s.name = fs.name"
                " JOIN temp.from_engine fe ON fe.id = m.engine_id"
                " JOIN engine e ON e.name = fe.name AND e.version = fe.version"
                " JOIN temp.from_operation fo ON fo.id = m.operation_id"
                " JOIN operation o ON o.spec = fo.spec"
                " JOIN temp.from_run r ON r.id = m.run_id ORDER BY m.id;"
                "CREATE INDEX from_row_id ON from_row(id);"
                "CREATE INDEX from_measurement_id ON from_measurement(id);"
                "CREATE INDEX from_reading_id ON from_reading(measurement_id);"
                "UPDATE temp.from_row SET place = (SELECT h.id FROM measurement h"
                " JOIN temp.from_measurement m ON m.id = from_row.id"
                " LEFT JOIN reading a ON a.measurement_id = h.id"
                " LEFT JOIN temp.from_reading b ON b.measurement_id = m.id"
                " WHERE h.operation_id = from_row.operation_id"
                " AND h.device_id = from_row.device_id"
                " AND h.engine_id = from_row.engine_id"
                " AND h.setting_id = from_row.setting_id"
                " AND (a.data IS NULL OR b.data IS NULL OR a.data = b.data)");
    for (int i = 0; i < N_CORE; i++)
        ft__buf_fmt(&sql,
                    i < FIRST_NULLABLE ? " AND h.%s = m.%s"
                                       : " AND h.%s IS NOT DISTINCT FROM m.%s",
                    core[i], core[i]);
    ft__buf_str(&sql, " ORDER BY a.data IS NULL, h.id LIMIT 1)");
    st = run_take(k, &sql, NULL);
    if (!st)
        st = ask(k, "SELECT count(*) FROM temp.from_measurement", &rows);
    if (!st)
        st = ask(k, "SELECT count(*) FROM temp.from_row", &placed);
    if (!st && rows != placed)
        st = ft_fail(k->err, FT_EFORMAT, 0,
                     "store %s is damaged: %llu measurements lack their names or runs",
                     from->path,
                     (unsigned long long)(rows > placed ? rows - placed : 0));
    return st;
}

static bool is_core(const char *column, size_t len)
{
    for (int i = 0; i < N_CORE; i++)
        if (strlen(core[i]) == len && strncmp(core[i], column, len) == 0)
            return true;
    return false;
}

static bool is_number_of_row(const char *column, size_t len)
{
    return (len == 2 && strncmp(column, "id", 2) == 0) ||
           (len > 3 && strncmp(column + len - 3, "_id", 3) == 0);
}

/* The columns that both versions of a table have, but for numbers of rows, each
 * written by `add`; `others`: only those that a measurement can be without. */
static void add_columns(struct merge *k, ft__buf *sql, int table, bool others,
                        void (*add)(ft__buf *, const char *))
{
    const char *at = k->columns[table].s;

    while (at && *at) {
        size_t len = strcspn(at, ",");
        char name[64];

        snprintf(name, sizeof(name), "%.*s", (int)len, at);
        if (!is_number_of_row(at, len) && !(others && is_core(at, len)))
            add(sql, name);
        at += len + (at[len] == ',');
    }
}

static void target(ft__buf *sql, const char *name)
{
    ft__buf_fmt(sql, ", %s", name);
}

static void source(ft__buf *sql, const char *name)
{
    ft__buf_fmt(sql, ", f.%s", name);
}

/* What is missing here and known there. */
static void completion(ft__buf *sql, const char *name)
{
    ft__buf_fmt(sql,
                "UPDATE measurement SET %s = (SELECT f.%s FROM"
                " temp.from_measurement f JOIN temp.from_row r ON r.id = f.id"
                " WHERE r.place = measurement.id AND CAST(f.%s AS TEXT) <> '' LIMIT 1)"
                " WHERE coalesce(CAST(%s AS TEXT), '') = '' AND id IN (SELECT r.place"
                " FROM temp.from_row r JOIN temp.from_measurement f ON f.id = r.id"
                " WHERE r.fresh = 0 AND CAST(f.%s AS TEXT) <> '');",
                name, name, name, name, name);
}

/* Runs: all there are, but of imported ones only those that bring something. Several
 * that began in the same second are distinguished by their order. */
static ft_status add_runs(struct merge *k)
{
    static const char here[] =
        "WITH here AS (SELECT *, row_number() OVER (PARTITION BY command, environment,"
        " began_at ORDER BY id) AS nth FROM run),"
        " there AS (SELECT *, row_number() OVER (PARTITION BY command, environment,"
        " began_at ORDER BY id) AS nth FROM temp.from_run) ";
    static const char both[] = " FROM there t LEFT JOIN here h ON h.command = t.command"
                               " AND h.environment = t.environment"
                               " AND h.began_at = t.began_at AND h.nth = t.nth ";
    ft__buf sql = {0};
    ft_status st;

    ft__buf_fmt(
        &sql,
        "%sINSERT INTO run(command, environment, began_at)"
        " SELECT t.command, t.environment, t.began_at%sWHERE h.id IS NULL"
        " AND (NOT (t.command LIKE 'import %%' AND t.environment = '') OR EXISTS"
        " (SELECT 1 FROM temp.from_row w WHERE w.run_id = t.id AND w.fresh = 1))"
        " ORDER BY t.id",
        here, both);
    st = run_take(k, &sql, &k->out->runs);
    ft__buf_fmt(&sql,
                "CREATE TEMP TABLE from_place AS %sSELECT t.id AS id, h.id AS place%s;"
                "CREATE INDEX from_place_id ON from_place(id);"
                "UPDATE temp.from_row SET run_id = (SELECT place FROM temp.from_place p"
                " WHERE p.id = from_row.run_id) WHERE fresh = 1",
                here, both);
    if (!st)
        return run_take(k, &sql, NULL);
    ft__buf_free(&sql);
    return st;
}

static ft_status copy_fresh(struct merge *k)
{
    ft__buf sql = {0};

    ft__buf_str(&sql, "INSERT INTO measurement(id, device_id, setting_id, engine_id,"
                      " operation_id, run_id");
    add_columns(k, &sql, MEASUREMENT, false, target);
    ft__buf_str(&sql, ") SELECT r.place, r.device_id, r.setting_id, r.engine_id,"
                      " r.operation_id, r.run_id");
    add_columns(k, &sql, MEASUREMENT, false, source);
    ft__buf_str(&sql, " FROM temp.from_row r JOIN temp.from_measurement f"
                      " ON f.id = r.id WHERE r.fresh = 1 ORDER BY r.place");
    return run_take(k, &sql, &k->out->measurements);
}

/* Raw readings of what is new, and of what came here without them. */
static ft_status copy_readings(struct merge *k)
{
    ft__buf sql = {0};

    ft__buf_str(&sql, "INSERT INTO reading(measurement_id");
    add_columns(k, &sql, READING, false, target);
    ft__buf_str(&sql, ") SELECT r.place");
    add_columns(k, &sql, READING, false, source);
    ft__buf_str(&sql, " FROM temp.from_row r JOIN temp.from_reading f"
                      " ON f.measurement_id = r.id WHERE true ON CONFLICT DO NOTHING");
    return run_take(k, &sql, NULL);
}

static ft_status complete(struct merge *k)
{
    ft__buf sql = {0};

    add_columns(k, &sql, MEASUREMENT, true, completion);
    return sql.len || sql.bad ? run_take(k, &sql, NULL) : FT_OK;
}

static ft_status number_fresh(struct merge *k)
{
    ft__buf sql = {0};

    ft__buf_fmt(&sql,
                "UPDATE temp.from_row SET fresh = 1, place = %s WHERE place IS NULL",
                k->to->kind->measurement);
    return run_take(k, &sql, NULL);
}

static ft_status add_measurements(struct merge *k, const ft_store *from)
{
    ft_status st = run(
        k,
        "INSERT INTO device(name) SELECT name FROM temp.from_device"
        " WHERE true ORDER BY id ON CONFLICT DO NOTHING;"
        "INSERT INTO setting(name) SELECT name FROM temp.from_setting"
        " WHERE true ORDER BY id ON CONFLICT DO NOTHING;"
        "INSERT INTO engine(name, version) SELECT name, version FROM temp.from_engine"
        " WHERE true ORDER BY id ON CONFLICT DO NOTHING;"
        "INSERT INTO operation(spec) SELECT spec FROM temp.from_operation"
        " WHERE true ORDER BY id ON CONFLICT DO NOTHING;",
        NULL);
    uint64_t present = 0, repeats = 0;

    if (!st)
        st = find_rows(k, from);
    if (!st)
        st = ask(k, "SELECT count(*) FROM temp.from_row WHERE place IS NOT NULL",
                 &present);
    if (!st)
        st = ask(k,
                 "SELECT count(*) FROM temp.from_row r JOIN temp.from_measurement f"
                 " ON f.id = r.id WHERE r.place IS NULL AND EXISTS(SELECT 1"
                 " FROM measurement h WHERE h.operation_id = r.operation_id"
                 " AND h.device_id = r.device_id AND h.engine_id = r.engine_id"
                 " AND h.setting_id = r.setting_id AND h.phase = f.phase"
                 " AND h.dtype_policy = f.dtype_policy AND h.metric = f.metric)",
                 &repeats);
    if (!st)
        st = number_fresh(k);
    if (!st)
        st = add_runs(k);
    if (!st)
        st = copy_fresh(k);
    if (!st)
        st = copy_readings(k);
    if (!st)
        st = complete(k);
    /* Otherwise the planner guesses, and the next merge takes the square of the time.
     */
    if (!st && k->to->kind->many && k->out->measurements >= MANY)
        st = run(k, k->to->kind->many, NULL);
    k->out->present += present;
    k->out->repeats += repeats;
    return st;
}

/* The newer one holds; the one that gives way is kept behind it. */
static ft_status add_facts(struct merge *k)
{
    static const char past[] =
        "INSERT INTO fact_past(device_id, name, value, taken_at) SELECT ";
    static const char both[] =
        " FROM temp.from_fact f JOIN temp.from_device e ON e.id = f.device_id"
        " JOIN device d ON d.name = e.name"
        " LEFT JOIN fact g ON g.device_id = d.id AND g.name = f.name WHERE ";
    ft__buf sql = {0};
    ft_status st = FT_OK;

    if (tables[FACT_PAST].since <= k->version)
        st = run(
            k,
            "INSERT INTO fact_past(device_id, name, value, taken_at)"
            " SELECT d.id, f.name, f.value, f.taken_at FROM temp.from_fact_past f"
            " JOIN temp.from_device e ON e.id = f.device_id"
            " JOIN device d ON d.name = e.name WHERE NOT EXISTS(SELECT 1 FROM fact g"
            " WHERE g.device_id = d.id AND g.name = f.name AND g.value = f.value)"
            " ON CONFLICT DO NOTHING",
            &k->out->facts);
    ft__buf_fmt(&sql,
                "%sd.id, f.name, f.value, f.taken_at%sf.value <> g.value"
                " AND f.taken_at <= g.taken_at ON CONFLICT DO NOTHING",
                past, both);
    if (!st)
        st = run_take(k, &sql, &k->out->facts);
    ft__buf_fmt(&sql,
                "%sd.id, g.name, g.value, g.taken_at%sf.value <> g.value"
                " AND f.taken_at > g.taken_at ON CONFLICT DO NOTHING",
                past, both);
    if (!st)
        st = run_take(k, &sql, NULL);
    ft__buf_fmt(&sql,
                "INSERT INTO fact(device_id, name, value, taken_at)"
                " SELECT d.id, f.name, f.value, f.taken_at%s(g.value IS NULL"
                " OR (f.value <> g.value AND f.taken_at > g.taken_at))"
                " ON CONFLICT(device_id, name)"
                " DO UPDATE SET value = excluded.value, taken_at = excluded.taken_at",
                both);
    if (!st)
        return run_take(k, &sql, &k->out->facts);
    ft__buf_free(&sql);
    return st;
}

/* What is listed here stays as it is listed here, but a file that lists it anew
 * replaces it. */
static ft_status add_members(struct merge *k)
{
    ft__buf sql = {0};

    ft__buf_fmt(&sql,
                "INSERT INTO member(source, whole, phase, part, count, note)"
                " SELECT source, whole, phase, part, count, note FROM temp.from_member"
                " WHERE true ORDER BY id ON CONFLICT(source, whole, phase, part) DO %s",
                k->import ? "UPDATE SET count = excluded.count, note = excluded.note"
                          : "NOTHING");
    return run_take(k, &sql, &k->out->members);
}

/* Runs of explorations. */
static ft_status add_trials(struct merge *k)
{
    ft_status st = FT_OK;

    for (const char *const *sql = ft__trial_merge; *sql && !st; sql++)
        st = run(k, *sql, sql[1] && !sql[2] ? &k->out->trials : NULL);
    return st;
}

static ft_status merge_one(struct merge *k, ft_store *from)
{
    ft_status st = copy_store(k, from);

    if (!st)
        st = rename_devices(k);
    if (!st)
        st = find_conflict(k, from);
    if (!st)
        st = add_measurements(k, from);
    if (!st)
        st = add_facts(k);
    if (!st && tables[MEMBER].since <= k->version)
        st = add_members(k);
    if (!st && tables[TRIAL].since <= k->version)
        st = add_trials(k);
    drop_copies(k);
    return st;
}

static ft_status merge_all(struct merge *k, ft_store *const *from, size_t n)
{
    ft_status st = ft__store_begin(k->to, k->err);

    if (st)
        return st;
    for (size_t i = 0; i < n && !st; i++)
        st = merge_one(k, from[i]);
    return ft__store_end(k->to, st, k->err);
}

ft_status ft_store_merge(ft_merge_report *out, ft_store *into, ft_store *const *from,
                         size_t n, const ft_merge_options *opt, ft_error *err)
{
    static const ft_merge_options plain = {0};
    ft_merge_report report = {0};
    struct merge k = {
        .to = into, .opt = opt ? opt : &plain, .out = &report, .err = err};
    ft_status st = merge_all(&k, from, n);

    *out = st ? (ft_merge_report){0} : report;
    return st;
}

ft_status ft__store_take_import(uint64_t *n_rows, ft_store *into, ft_store *from,
                                ft_error *err)
{
    static const ft_merge_options plain = {.same_devices = 1};
    ft_merge_report report = {0};
    struct merge k = {
        .to = into, .opt = &plain, .out = &report, .import = true, .err = err};
    ft_status st = merge_all(&k, &from, 1);

    *n_rows = st ? 0 : report.measurements;
    return st;
}

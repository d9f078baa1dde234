/* Stores brought together. Every table of the other store is copied as it is into a
 * temporary one ("from_...") within the transaction that merges it, so that the rest
 * is plain SQL over both, columns that only one version knows included. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "store/trial.h"

/* Facts are measured, so those of one machine scatter; further apart than this they
 * are of two. The shortest usable batch is not compared: it varies with load. */
#define FACT_RATIO "4"

static const char *const tables[] = {
    "device", "setting",   "engine", "operation",   "run",   "measurement", "reading",
    "fact",   "fact_past", "member", "exploration", "trial", "trial_value"};
enum { N_TABLES = sizeof(tables) / sizeof(*tables), N_OLDEST = N_TABLES - 5 };

/* What a measurement said when it was taken. It is the same one where all of this is
 * equal, and the raw readings too if both have them: exports may leave those out. */
static const char *const core[] = {"phase", "dtype_policy", "metric",     "taken_at",
                                   "unit",  "value",        "error",      "mad",
                                   "mean",  "std",          "iterations", "n"};
enum { N_CORE = sizeof(core) / sizeof(*core) };

struct merge {
    ft_store *to;
    const ft_merge_options *opt;
    ft_merge_report *out;
    ft_error *err;
};

/* ---- statements ---- */

/* Run one statement; *changed (may be NULL) rows. Takes the text. */
static ft_status run_take(struct merge *k, ft__buf *sql, uint64_t *changed)
{
    ft_status st = FT_OK;

    if (sql->bad)
        st = ft_fail(k->err, FT_ENOMEM, 0, "merging into %s", k->to->path);
    else if (sqlite3_exec(k->to->db, sql->s, NULL, NULL, NULL) != SQLITE_OK)
        st = ft__store_fail(k->to, k->err);
    if (!st && changed)
        *changed += (uint64_t)sqlite3_changes(k->to->db);
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
    sqlite3_stmt *q;
    int rc = sqlite3_prepare_v2(k->to->db, sql, -1, &q, NULL);

    if (rc == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW)
        *out = (uint64_t)sqlite3_column_int64(q, 0);
    if (rc == SQLITE_OK)
        rc = sqlite3_finalize(q);
    return rc == SQLITE_OK ? FT_OK : ft__store_fail(k->to, k->err);
}

/* ---- the other store, copied ---- */

static bool has_table(sqlite3 *db, const char *name)
{
    return sqlite3_table_column_metadata(db, "main", name, NULL, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

/* Names from a store that may come from anywhere, before they become SQL. */
static bool plain_names(sqlite3_stmt *rows)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";

    for (int i = 0; i < sqlite3_column_count(rows); i++) {
        const char *name = sqlite3_column_name(rows, i);

        if (!name || !*name || name[strspn(name, letters)])
            return false;
    }
    return true;
}

/* An empty temporary table with the columns of `rows`, and how to fill it. */
static ft_status make_copy(struct merge *k, const char *table, sqlite3_stmt *rows,
                           sqlite3_stmt **add)
{
    ft__buf make = {0}, fill = {0};
    int n = sqlite3_column_count(rows);
    ft_status st;

    ft__buf_fmt(&make, "CREATE TEMP TABLE from_%s(", table);
    ft__buf_fmt(&fill, "INSERT INTO temp.from_%s VALUES(", table);
    for (int i = 0; i < n; i++) {
        ft__buf_fmt(&make, "%s%s", i ? "," : "", sqlite3_column_name(rows, i));
        ft__buf_str(&fill, i ? ",?" : "?");
    }
    ft__buf_str(&make, ")");
    ft__buf_str(&fill, ")");
    st = run_take(k, &make, NULL);
    if (!st && fill.bad)
        st = ft_fail(k->err, FT_ENOMEM, 0, "merging into %s", k->to->path);
    if (!st && sqlite3_prepare_v2(k->to->db, fill.s, -1, add, NULL) != SQLITE_OK)
        st = ft__store_fail(k->to, k->err);
    ft__buf_free(&fill);
    return st;
}

static ft_status copy_rows(struct merge *k, const ft_store *from, sqlite3_stmt *rows,
                           sqlite3_stmt *add)
{
    int n = sqlite3_column_count(rows), rc;

    while ((rc = sqlite3_step(rows)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        for (int i = 0; i < n && rc == SQLITE_OK; i++)
            rc = sqlite3_bind_value(add, i + 1, sqlite3_column_value(rows, i));
        if (rc != SQLITE_OK || sqlite3_step(add) != SQLITE_DONE)
            return ft__store_fail(k->to, k->err);
        sqlite3_reset(add);
    }
    return rc == SQLITE_DONE ? FT_OK : ft__store_fail(from, k->err);
}

static ft_status copy_table(struct merge *k, const ft_store *from, const char *table)
{
    sqlite3_stmt *rows = NULL, *add = NULL;
    ft__buf sql = {0};
    ft_status st = FT_OK;

    ft__buf_fmt(&sql, "SELECT * FROM main.%s", table);
    if (sql.bad)
        st = ft_fail(k->err, FT_ENOMEM, 0, "reading %s", from->path);
    else if (sqlite3_prepare_v2(from->db, sql.s, -1, &rows, NULL) != SQLITE_OK)
        st = ft__store_fail(from, k->err);
    ft__buf_free(&sql);
    if (!st && !plain_names(rows))
        st = ft_fail(k->err, FT_EFORMAT, 0, "store %s is damaged: odd columns in %s",
                     from->path, table);
    if (!st)
        st = make_copy(k, table, rows, &add);
    if (!st)
        st = copy_rows(k, from, rows, add);
    sqlite3_finalize(rows);
    sqlite3_finalize(add);
    return st;
}

/* One moment of the other store. A CSV file knows of a run no more than a number, so
 * a run that was imported began when the first of its measurements was taken:
 * importing the file again finds it again. */
static ft_status copy_store(struct merge *k, ft_store *from)
{
    ft_status st = FT_OK;

    if (sqlite3_exec(from->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return ft__store_fail(from, k->err);
    for (int i = 0; i < N_TABLES && !st; i++)
        if (i < N_OLDEST || has_table(from->db, tables[i]))
            st = copy_table(k, from, tables[i]);
    sqlite3_exec(from->db, "ROLLBACK", NULL, NULL, NULL);
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
                 i < N_TABLES ? tables[i] : ours[i - N_TABLES]);
        sqlite3_exec(k->to->db, sql, NULL, NULL, NULL);
    }
}

/* ---- devices ---- */

static ft_status rename_devices(struct merge *k)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < k->opt->n_renames && !st; i++) {
        char *sql =
            sqlite3_mprintf("UPDATE temp.from_device SET name = %Q WHERE name = %Q",
                            k->opt->renames[i].to, k->opt->renames[i].from);

        st = sql ? run(k, sql, NULL) : ft_fail(k->err, FT_ENOMEM, 0, "renaming");
        sqlite3_free(sql);
    }
    return st;
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
        " OR abs(g.value) > " FACT_RATIO " * abs(f.value) OR f.value * g.value < 0)"
        " ORDER BY 1, 2";
    sqlite3_stmt *q;
    ft_status st = FT_OK;

    if (k->opt->same_devices)
        return FT_OK;
    if (sqlite3_prepare_v2(k->to->db, sql, -1, &q, NULL) != SQLITE_OK)
        return ft__store_fail(k->to, k->err);
    if (sqlite3_step(q) == SQLITE_ROW)
        st = ft_fail(
            k->err, FT_EINVAL, 0,
            "%s and %s both have a device %s, but these look like two machines: "
            "%s is %g there and %g here; give theirs another name with --rename "
            "%s=NAME, or say --same if it is one machine",
            from->path, k->to->path, (const char *)sqlite3_column_text(q, 0),
            (const char *)sqlite3_column_text(q, 1), sqlite3_column_double(q, 2),
            sqlite3_column_double(q, 3), (const char *)sqlite3_column_text(q, 0));
    if (sqlite3_finalize(q) != SQLITE_OK && !st)
        st = ft__store_fail(k->to, k->err);
    return st;
}

/* ---- measurements ---- */

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
                " m.run_id AS run_id, NULL AS place, 0 AS fresh"
                " FROM temp.from_measurement m"
                " JOIN temp.from_device fd ON fd.id = m.device_id"
                " JOIN device d ON d.name = fd.name"
                " JOIN temp.from_setting fs ON fs.id = m.setting_id"
                " JOIN setting s ON s.name = fs.name"
                " JOIN temp.from_engine fe ON fe.id = m.engine_id"
                " JOIN engine e ON e.name = fe.name AND e.version = fe.version"
                " JOIN temp.from_operation fo ON fo.id = m.operation_id"
                " JOIN operation o ON o.spec = fo.spec"
                " JOIN temp.from_run r ON r.id = m.run_id;"
                "CREATE INDEX temp.from_row_id ON from_row(id);"
                "CREATE INDEX temp.from_measurement_id ON from_measurement(id);"
                "CREATE INDEX temp.from_reading_id ON from_reading(measurement_id);"
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
        ft__buf_fmt(&sql, " AND h.%s IS m.%s", core[i], core[i]);
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

static bool is_core(const char *column)
{
    for (int i = 0; i < N_CORE; i++)
        if (strcmp(core[i], column) == 0)
            return true;
    return false;
}

static bool is_number_of_row(const char *column)
{
    size_t n = strlen(column);

    return strcmp(column, "id") == 0 || (n > 3 && strcmp(column + n - 3, "_id") == 0);
}

/* The columns that both versions of a table have, but for numbers of rows, each
 * written by `fmt`; `others`: only those that a measurement can be without. */
static ft_status add_columns(struct merge *k, ft__buf *sql, const char *table,
                             bool others, void (*add)(ft__buf *, const char *))
{
    sqlite3_stmt *q;
    char *text = sqlite3_mprintf(
        "SELECT name FROM pragma_table_info(%Q, 'main') WHERE name IN"
        " (SELECT name FROM pragma_table_info('from_%q', 'temp')) ORDER BY cid",
        table, table);
    int rc = text ? sqlite3_prepare_v2(k->to->db, text, -1, &q, NULL) : SQLITE_NOMEM;

    sqlite3_free(text);
    if (rc != SQLITE_OK)
        return ft__store_fail(k->to, k->err);
    while (sqlite3_step(q) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(q, 0);

        if (name && !is_number_of_row(name) && !(others && is_core(name)))
            add(sql, name);
    }
    return sqlite3_finalize(q) == SQLITE_OK ? FT_OK : ft__store_fail(k->to, k->err);
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
                " WHERE r.place = measurement.id AND f.%s <> '' LIMIT 1)"
                " WHERE coalesce(%s, '') = '' AND id IN (SELECT r.place FROM"
                " temp.from_row r JOIN temp.from_measurement f ON f.id = r.id"
                " WHERE NOT r.fresh AND f.%s <> '');",
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
        " (SELECT 1 FROM temp.from_row w WHERE w.run_id = t.id AND w.fresh))"
        " ORDER BY t.id",
        here, both);
    st = run_take(k, &sql, &k->out->runs);
    ft__buf_fmt(&sql,
                "CREATE TEMP TABLE from_place AS %sSELECT t.id AS id, h.id AS place%s;"
                "CREATE INDEX temp.from_place_id ON from_place(id);"
                "UPDATE temp.from_row SET run_id = (SELECT place FROM temp.from_place p"
                " WHERE p.id = from_row.run_id) WHERE fresh",
                here, both);
    if (!st)
        return run_take(k, &sql, NULL);
    ft__buf_free(&sql);
    return st;
}

static ft_status copy_fresh(struct merge *k)
{
    ft__buf sql = {0};
    ft_status st;

    ft__buf_str(&sql, "INSERT INTO measurement(id, device_id, setting_id, engine_id,"
                      " operation_id, run_id");
    st = add_columns(k, &sql, "measurement", false, target);
    ft__buf_str(&sql, ") SELECT r.place, r.device_id, r.setting_id, r.engine_id,"
                      " r.operation_id, r.run_id");
    if (!st)
        st = add_columns(k, &sql, "measurement", false, source);
    ft__buf_str(&sql, " FROM temp.from_row r JOIN temp.from_measurement f"
                      " ON f.id = r.id WHERE r.fresh ORDER BY r.place");
    if (!st)
        return run_take(k, &sql, &k->out->measurements);
    ft__buf_free(&sql);
    return st;
}

/* Raw readings of what is new, and of what came here without them. */
static ft_status copy_readings(struct merge *k)
{
    ft__buf sql = {0};
    ft_status st;

    ft__buf_str(&sql, "INSERT OR IGNORE INTO reading(measurement_id");
    st = add_columns(k, &sql, "reading", false, target);
    ft__buf_str(&sql, ") SELECT r.place");
    if (!st)
        st = add_columns(k, &sql, "reading", false, source);
    ft__buf_str(&sql, " FROM temp.from_row r JOIN temp.from_reading f"
                      " ON f.measurement_id = r.id");
    if (!st)
        return run_take(k, &sql, NULL);
    ft__buf_free(&sql);
    return st;
}

static ft_status complete(struct merge *k)
{
    ft__buf sql = {0};
    ft_status st = add_columns(k, &sql, "measurement", true, completion);

    if (st || !sql.len) {
        ft__buf_free(&sql);
        return st;
    }
    return run_take(k, &sql, NULL);
}

static ft_status add_measurements(struct merge *k, const ft_store *from)
{
    ft_status st = run(
        k,
        "INSERT OR IGNORE INTO device(name) SELECT name FROM temp.from_device;"
        "INSERT OR IGNORE INTO setting(name) SELECT name FROM temp.from_setting;"
        "INSERT OR IGNORE INTO engine(name, version)"
        " SELECT name, version FROM temp.from_engine;"
        "INSERT OR IGNORE INTO operation(spec) SELECT spec FROM temp.from_operation;",
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
        st = run(k,
                 "UPDATE temp.from_row SET fresh = 1, place = (SELECT"
                 " coalesce(max(id), 0) FROM measurement) + from_row.rowid"
                 " WHERE place IS NULL",
                 NULL);
    if (!st)
        st = add_runs(k);
    if (!st)
        st = copy_fresh(k);
    if (!st)
        st = copy_readings(k);
    if (!st)
        st = complete(k);
    k->out->present += present;
    k->out->repeats += repeats;
    return st;
}

/* ---- facts ---- */

/* The newer one holds; the one that gives way is kept behind it. */
static ft_status add_facts(struct merge *k)
{
    static const char past[] =
        "INSERT OR IGNORE INTO fact_past(device_id, name, value, taken_at) SELECT ";
    static const char both[] =
        " FROM temp.from_fact f JOIN temp.from_device e ON e.id = f.device_id"
        " JOIN device d ON d.name = e.name"
        " LEFT JOIN fact g ON g.device_id = d.id AND g.name = f.name WHERE ";
    bool theirs =
        sqlite3_table_column_metadata(k->to->db, "temp", "from_fact_past", NULL, NULL,
                                      NULL, NULL, NULL, NULL) == SQLITE_OK;
    ft__buf sql = {0};
    ft_status st = FT_OK;

    if (theirs)
        st = run(
            k,
            "INSERT OR IGNORE INTO fact_past(device_id, name, value, taken_at)"
            " SELECT d.id, f.name, f.value, f.taken_at FROM temp.from_fact_past f"
            " JOIN temp.from_device e ON e.id = f.device_id"
            " JOIN device d ON d.name = e.name WHERE NOT EXISTS(SELECT 1 FROM fact g"
            " WHERE g.device_id = d.id AND g.name = f.name AND g.value = f.value)",
            &k->out->facts);
    ft__buf_fmt(&sql,
                "%sd.id, f.name, f.value, f.taken_at%sf.value <> g.value"
                " AND f.taken_at <= g.taken_at",
                past, both);
    if (!st)
        st = run_take(k, &sql, &k->out->facts);
    ft__buf_fmt(&sql,
                "%sd.id, g.name, g.value, g.taken_at%sf.value <> g.value"
                " AND f.taken_at > g.taken_at",
                past, both);
    if (!st)
        st = run_take(k, &sql, NULL);
    ft__buf_fmt(&sql,
                "INSERT OR REPLACE INTO fact(device_id, name, value, taken_at)"
                " SELECT d.id, f.name, f.value, f.taken_at%sg.value IS NULL"
                " OR (f.value <> g.value AND f.taken_at > g.taken_at)",
                both);
    if (!st)
        return run_take(k, &sql, &k->out->facts);
    ft__buf_free(&sql);
    return st;
}

/* ---- parts of networks ---- */

/* What is listed here stays as it is listed here. */
static ft_status add_members(struct merge *k)
{
    if (sqlite3_table_column_metadata(k->to->db, "temp", "from_member", NULL, NULL,
                                      NULL, NULL, NULL, NULL) != SQLITE_OK)
        return FT_OK; /* from an older store */
    return run(k,
               "INSERT OR IGNORE INTO member(source, whole, phase, part, count, note)"
               " SELECT source, whole, phase, part, count, note"
               " FROM temp.from_member ORDER BY id",
               &k->out->members);
}

/* Runs of explorations. */
static ft_status add_trials(struct merge *k)
{
    ft_status st = FT_OK;

    if (sqlite3_table_column_metadata(k->to->db, "temp", "from_trial", NULL, NULL, NULL,
                                      NULL, NULL, NULL) != SQLITE_OK)
        return FT_OK; /* from an older store */
    for (const char *const *sql = ft__trial_merge; *sql && !st; sql++)
        st = run(k, *sql, sql[1] && !sql[2] ? &k->out->trials : NULL);
    return st;
}

/* ---- all of it ---- */

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
    if (!st)
        st = add_members(k);
    if (!st)
        st = add_trials(k);
    drop_copies(k);
    return st;
}

ft_status ft_store_merge(ft_merge_report *out, ft_store *into, ft_store *const *from,
                         size_t n, const ft_merge_options *opt, ft_error *err)
{
    static const ft_merge_options plain = {0};
    ft_merge_report report = {0};
    struct merge k = {into, opt ? opt : &plain, &report, err};
    ft_status st = ft__store_begin(into, err);

    *out = report;
    if (st)
        return st;
    for (size_t i = 0; i < n && !st; i++)
        st = merge_one(&k, from[i]);
    st = ft__store_end(into, st, err);
    if (!st)
        *out = report;
    return st;
}

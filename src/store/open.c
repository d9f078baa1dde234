/* A store opened: the file identified, migrated to the newest schema, failures of
 * SQLite put into words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "store/store.h"

enum {
    APPLICATION_ID = 0x46545354, /* "FTST", in the header of the file */
    BUSY_MS = 10000,
};

/* What a store is made of. Names and specs are kept once and referred to by
 * number. The raw readings of a measurement are one blob, since they are only
 * ever read as a whole and a row for each would cost a key and an insertion
 * each; the blob lies in a table apart, so that scanning measurements does not
 * page it in. A step that was released is never edited: add another. */
static const char *const migrations[] = {
    "CREATE TABLE device(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE setting(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE engine(id INTEGER PRIMARY KEY, name TEXT NOT NULL,"
    " version TEXT NOT NULL, UNIQUE(name, version));"
    "CREATE TABLE operation(id INTEGER PRIMARY KEY, spec TEXT NOT NULL UNIQUE);"
    "CREATE TABLE run(id INTEGER PRIMARY KEY, command TEXT NOT NULL,"
    " environment TEXT NOT NULL, began_at INTEGER NOT NULL);"
    "CREATE INDEX run_command ON run(command);"
    "CREATE TABLE measurement(id INTEGER PRIMARY KEY,"
    " device_id INTEGER NOT NULL REFERENCES device,"
    " setting_id INTEGER NOT NULL REFERENCES setting,"
    " engine_id INTEGER NOT NULL REFERENCES engine,"
    " operation_id INTEGER NOT NULL REFERENCES operation,"
    " phase TEXT NOT NULL, dtype_policy TEXT NOT NULL, metric TEXT NOT NULL,"
    " run_id INTEGER NOT NULL REFERENCES run, taken_at INTEGER NOT NULL,"
    " unit TEXT NOT NULL, value REAL, error REAL, mad REAL, mean REAL, std REAL,"
    " n INTEGER NOT NULL, iterations INTEGER NOT NULL);"
    "CREATE INDEX measurement_key ON measurement(operation_id, device_id, engine_id,"
    " setting_id, phase, dtype_policy, metric, taken_at);"
    "CREATE TABLE reading(measurement_id INTEGER PRIMARY KEY REFERENCES measurement,"
    " data BLOB NOT NULL);"
    "CREATE TABLE fact(device_id INTEGER NOT NULL REFERENCES device,"
    " name TEXT NOT NULL, value REAL NOT NULL, taken_at INTEGER NOT NULL,"
    " PRIMARY KEY(device_id, name)) WITHOUT ROWID;",
    "ALTER TABLE measurement ADD COLUMN calibration REAL;"
    "ALTER TABLE measurement ADD COLUMN conditions TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE reading ADD COLUMN rounds BLOB;",
    /* Facts that gave way when stores were merged. */
    "CREATE TABLE fact_past(device_id INTEGER NOT NULL REFERENCES device,"
    " name TEXT NOT NULL, value REAL NOT NULL, taken_at INTEGER NOT NULL,"
    " PRIMARY KEY(device_id, name, taken_at, value)) WITHOUT ROWID;",
    /* What networks that were measured whole consist of. */
    "CREATE TABLE member(id INTEGER PRIMARY KEY, source TEXT NOT NULL,"
    " whole TEXT NOT NULL, phase TEXT NOT NULL, part TEXT NOT NULL,"
    " count REAL NOT NULL, note TEXT NOT NULL, UNIQUE(source, whole, phase, part));",
    /* Who asks for a device asks for all of its operations. */
    "CREATE INDEX measurement_device"
    " ON measurement(device_id, setting_id, engine_id,"
    " metric);",
    /* Points of a design space, run by run (trial.h). */
    "CREATE TABLE exploration(id INTEGER PRIMARY KEY, name TEXT NOT NULL,"
    " print INTEGER NOT NULL, plan TEXT NOT NULL, UNIQUE(name, print));"
    "CREATE TABLE trial(id INTEGER PRIMARY KEY,"
    " exploration_id INTEGER NOT NULL REFERENCES exploration,"
    " run_id INTEGER NOT NULL REFERENCES run, workload TEXT NOT NULL,"
    " point TEXT NOT NULL, taken_at INTEGER NOT NULL, failure TEXT NOT NULL,"
    " output TEXT NOT NULL, conditions TEXT NOT NULL);"
    "CREATE INDEX trial_exploration ON trial(exploration_id, workload, point);"
    "CREATE TABLE trial_value(trial_id INTEGER NOT NULL REFERENCES trial,"
    " name TEXT NOT NULL, value REAL NOT NULL, PRIMARY KEY(trial_id, name))"
    " WITHOUT ROWID;",
};

static int connect_to(ft_store *s, const char *name, int flags)
{
    int rc;

    sqlite3_close(s->db);
    rc = sqlite3_open_v2(name, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_timeout(s->db, BUSY_MS);
    /* A store may come from anywhere: its schema is not trusted to call
     * functions (check_schema() compares it), and its pages are checked as they are
     * read. */
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(s->db,
                          "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;"
                          "PRAGMA foreign_keys=ON;",
                          NULL, NULL, NULL);
    if (rc == SQLITE_OK && !s->writable)
        rc = sqlite3_exec(s->db, "PRAGMA query_only=ON", NULL, NULL, NULL);
    return rc;
}

struct identity {
    int64_t application;
    int64_t version;
    int64_t tables;
    char *schema; /* what created tables, indexes, views and triggers */
};

/* One statement, so that all of it is of one moment. */
static int identify(sqlite3 *db, struct identity *id)
{
    sqlite3_stmt *st;
    int rc = sqlite3_prepare_v2(
        db,
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master),"
        " (SELECT group_concat(type || ' ' || name || ' ' || sql, ';') FROM"
        "  (SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND"
        "   NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4'))"
        "   ORDER BY name, type))"
        " FROM pragma_application_id, pragma_user_version",
        -1, &st, NULL);
    const char *schema;

    if (rc == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW) {
        id->application = sqlite3_column_int64(st, 0);
        id->version = sqlite3_column_int64(st, 1);
        id->tables = sqlite3_column_int64(st, 2);
        schema = (const char *)sqlite3_column_text(st, 3);
        free(id->schema);
        id->schema = strdup(schema ? schema : "");
    }
    /* Of a failed step, finalize repeats the code. */
    return rc == SQLITE_OK ? sqlite3_finalize(st) : rc;
}

/* Write-ahead mode needs to create files beside the store. Where that is not
 * permitted nobody with our rights writes it, so it may be read as immutable,
 * unless changes lie in the log still. */
static bool may_be_immutable(const ft_store *s)
{
    ft__buf log = {0};
    struct stat st;
    bool empty;

    ft__buf_fmt(&log, "%s-wal", s->path);
    empty = !log.bad && (stat(log.s, &st) || st.st_size == 0);
    ft__buf_free(&log);
    return !s->writable && access(s->path, R_OK) == 0 && empty;
}

static int connect_immutable(ft_store *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789/._-";
    ft__buf name = {0};
    int rc = SQLITE_NOMEM;

    ft__buf_str(&name, "file:");
    for (const char *p = s->path; *p; p++) {
        if (strchr(plain, *p))
            ft__buf_add(&name, p, 1);
        else
            ft__buf_fmt(&name, "%%%02X", (unsigned)(unsigned char)*p);
    }
    ft__buf_str(&name, "?immutable=1");
    if (!name.bad)
        rc = connect_to(s, name.s, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    ft__buf_free(&name);
    return rc;
}

static ft_status connect_and_identify(ft_store *s, struct identity *id, ft_error *err)
{
    /* A reader opens for writing as well, where it may: only then does SQLite
     * recover and tidy up after a process that was killed. query_only keeps it
     * from writing anything else. */
    int rc = connect_to(s, s->path,
                        SQLITE_OPEN_READWRITE | (s->writable ? SQLITE_OPEN_CREATE : 0));

    if (rc == SQLITE_OK)
        rc = identify(s->db, id);
    if ((rc == SQLITE_CANTOPEN || rc == SQLITE_READONLY) && may_be_immutable(s)) {
        rc = connect_immutable(s);
        if (rc == SQLITE_OK)
            rc = identify(s->db, id);
    }
    return rc == SQLITE_OK ? FT_OK : ft__store_fail(s, err);
}

/* A view in place of a table may run for ever, a trigger may write: the schema must be
 * the one that these steps make. */
static ft_status check_schema(const ft_store *s, const struct identity *id,
                              const char *const *steps, ft_error *err)
{
    struct identity wanted = {0};
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, NULL);
    ft_status st = FT_OK;

    for (int64_t v = 0; v < id->version && rc == SQLITE_OK; v++)
        rc = sqlite3_exec(db, steps[v], NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = identify(db, &wanted);
    if (rc != SQLITE_OK || !wanted.schema || !id->schema)
        st = ft_fail(err, FT_ENOMEM, 0, "store %s", s->path);
    else if (strcmp(wanted.schema, id->schema) != 0)
        st = ft_fail(err, FT_EFORMAT, 0,
                     "store %s has other tables than foretell makes: something else "
                     "changed it",
                     s->path);
    sqlite3_close(db);
    free(wanted.schema);
    return st;
}

/* Whether the file is one of ours, and of a version we know. */
static ft_status judge(const ft_store *s, const struct identity *id, ft_store_mode mode,
                       int newest, ft_error *err)
{
    bool blank = id->application == 0 && id->version == 0 && id->tables == 0;

    if (id->application != APPLICATION_ID && !blank)
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s is an SQLite file, but not a foretell store", s->path);
    if (id->version > newest)
        return ft_fail(
            err, FT_EFORMAT, 0,
            "store %s has version %lld, written by a newer foretell; this one "
            "knows versions up to %d: update it",
            s->path, (long long)id->version, newest);
    if (s->writable)
        return FT_OK;
    if (blank)
        return ft_fail(err, FT_EFORMAT, 0,
                       "store %s is empty; measure something into it first", s->path);
    if (id->version < newest && mode != FT_STORE_MERGE)
        return ft_fail(
            err, FT_EFORMAT, 0,
            "store %s has the older version %lld; any command that writes to "
            "it brings it to version %d",
            s->path, (long long)id->version, newest);
    return FT_OK;
}

/* Readers do not wait for the writer, nor it for them. In this mode NORMAL
 * outlives the death of the process at any moment; only a power cut may take
 * back the last transactions. File systems that cannot do it stay with a
 * rollback journal. While several processes create one store SQLite reports
 * BUSY here without waiting, hence the patience. */
static ft_status write_ahead(const ft_store *s, ft_error *err)
{
    const struct timespec pause = {0, 10 * 1000 * 1000};
    int rc, tries = BUSY_MS / 10;

    do {
        rc = sqlite3_exec(s->db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL",
                          NULL, NULL, NULL);
    } while (rc == SQLITE_BUSY && --tries && nanosleep(&pause, NULL) == 0);
    return rc == SQLITE_OK ? FT_OK : ft__store_fail(s, err);
}

static ft_status migrate(ft_store *s, const char *const *steps, int n_steps,
                         ft_error *err)
{
    ft_status st = ft__store_begin(s, err);
    struct identity id = {0};
    char sql[128];

    if (st != FT_OK)
        return st;
    /* Asked again now that nobody else can be migrating. */
    if (identify(s->db, &id) != SQLITE_OK)
        return ft__store_end(s, ft__store_fail(s, err), err);
    free(id.schema);
    for (int64_t v = id.version; v < n_steps; v++)
        if (sqlite3_exec(s->db, steps[v], NULL, NULL, NULL) != SQLITE_OK)
            return ft__store_end(s, ft__store_fail(s, err), err);
    if (id.version < n_steps) {
        snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d",
                 APPLICATION_ID, n_steps);
        if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
            return ft__store_end(s, ft__store_fail(s, err), err);
    }
    return ft__store_end(s, FT_OK, err);
}

ft_status ft__store_open(ft_store **out, const char *path, ft_store_mode mode,
                         const char *const *steps, int n_steps, ft_error *err)
{
    ft_store *s = calloc(1, sizeof(*s));
    struct identity id = {0};
    ft_status st;

    *out = NULL;
    if (!s || !(s->path = strdup(path))) {
        st = ft_fail(err, FT_ENOMEM, 0, "store %s", path);
        goto fail;
    }
    s->writable = mode == FT_STORE_WRITE;
    st = connect_and_identify(s, &id, err);
    if (st == FT_OK)
        st = judge(s, &id, mode, n_steps, err);
    if (st == FT_OK)
        st = check_schema(s, &id, steps, err);
    if (st == FT_OK && s->writable)
        st = write_ahead(s, err);
    if (st == FT_OK && s->writable)
        st = migrate(s, steps, n_steps, err);
    if (st != FT_OK)
        goto fail;
    free(id.schema);
    *out = s;
    return FT_OK;

fail:
    free(id.schema);
    ft_store_close(s);
    return st;
}

ft_status ft_store_open(ft_store **out, const char *path, ft_store_mode mode,
                        ft_error *err)
{
    *out = NULL;
    if (!*path)
        return ft_fail(err, FT_EINVAL, 0, "a store needs a file name");
    return ft__store_open(out, path, mode, migrations,
                          (int)(sizeof(migrations) / sizeof(*migrations)), err);
}

void ft_store_close(ft_store *s)
{
    if (!s)
        return;
    for (int i = 0; i < FT__N_SQL; i++)
        sqlite3_finalize(s->kept[i]);
    sqlite3_close(s->db);
    free(s->path);
    free(s);
}

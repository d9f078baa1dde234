/* A store in a file of SQLite's: opened, identified, failures put into words. */
#include <errno.h>
#include <sqlite3.h>
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

/* The folder a store lies in; the caller frees it. NULL when memory is short. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static bool is_read_only(const char *path)
{
    return access(path, W_OK) && errno == EROFS;
}

static bool is_folder(const char *path)
{
    struct stat is;

    return stat(path, &is) == 0 && S_ISDIR(is.st_mode);
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
    else if (is_folder(path))
        st = ft_fail(err, FT_EIO, 0, "store %s: it is a folder; name a file in it",
                     path);
    else if (is_read_only(path) || is_read_only(dir))
        st = ft_fail(err, FT_EIO, 0,
                     "store %s: its file system is read-only; name a store elsewhere "
                     "with --db",
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

static ft_status fail(const ft_store *s, ft_error *err)
{
    const char *why = sqlite3_errmsg(s->db);
    const int code = sqlite3_errcode(s->db);
    /* Of a file beside it; after other errors the number is an older one's. */
    const int number = sqlite3_system_errno(s->db);
    const bool system = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;

    if (system && number == EFBIG)
        return ft_fail(err, FT_EIO, 0,
                       "store %s: files may not grow to that size here (ulimit -f)",
                       s->path);
    switch (system && number == ENOSPC ? SQLITE_FULL : code) {
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

static int connect_to(ft_store *s, const char *name, int flags)
{
    sqlite3 *db = NULL;
    int rc;

    sqlite3_close(s->db);
    rc = sqlite3_open_v2(name, &db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    s->db = db;
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

/* One statement, so that all of it is of one moment. */
static int identify_file(sqlite3 *db, ft__identity *id)
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
        id->ours = sqlite3_column_int64(st, 0) == APPLICATION_ID;
        id->version = sqlite3_column_int64(st, 1);
        id->blank = sqlite3_column_int64(st, 0) == 0 && id->version == 0 &&
                    sqlite3_column_int64(st, 2) == 0;
        schema = (const char *)sqlite3_column_text(st, 3);
        free(id->schema);
        id->schema = strdup(schema ? schema : "");
    }
    /* Of a failed step, finalize repeats the code. */
    return rc == SQLITE_OK ? sqlite3_finalize(st) : rc;
}

static ft_status identify(ft_store *s, ft__identity *id, ft_error *err)
{
    return identify_file(s->db, id) == SQLITE_OK ? FT_OK : fail(s, err);
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
    return !s->writable && access(s->path, R_OK) == 0 && !is_folder(s->path) && empty;
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

static ft_status connect_file(ft_store *s, const char *path, ft__identity *id,
                              ft_error *err)
{
    /* A reader opens for writing as well, where it may: only then does SQLite
     * recover and tidy up after a process that was killed. query_only keeps it
     * from writing anything else. */
    int rc = connect_to(s, path,
                        SQLITE_OPEN_READWRITE | (s->writable ? SQLITE_OPEN_CREATE : 0));

    if (rc == SQLITE_OK)
        rc = identify_file(s->db, id);
    if ((rc == SQLITE_CANTOPEN || rc == SQLITE_READONLY) && may_be_immutable(s)) {
        rc = connect_immutable(s);
        if (rc == SQLITE_OK)
            rc = identify_file(s->db, id);
    }
    return rc == SQLITE_OK ? FT_OK : fail(s, err);
}

/* A view in place of a table may run for ever, a trigger may write: the schema must be
 * the one that these steps make. */
static ft_status check_schema(ft_store *s, const ft__identity *id,
                              const char *const *steps, ft_error *err)
{
    ft__identity wanted = {0};
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, NULL);
    ft_status st = FT_OK;

    for (int64_t v = 0; v < id->version && rc == SQLITE_OK; v++)
        rc = sqlite3_exec(db, steps[v], NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = identify_file(db, &wanted);
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

/* Readers do not wait for the writer, nor it for them. In this mode NORMAL
 * outlives the death of the process at any moment; only a power cut may take
 * back the last transactions. File systems that cannot do it stay with a
 * rollback journal. While several processes create one store SQLite reports
 * BUSY here without waiting, hence the patience. */
static ft_status write_ahead(ft_store *s, ft_error *err)
{
    const struct timespec pause = {0, 10 * 1000 * 1000};
    int rc, tries = BUSY_MS / 10;

    do {
        rc = sqlite3_exec(s->db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL",
                          NULL, NULL, NULL);
    } while (rc == SQLITE_BUSY && --tries && nanosleep(&pause, NULL) == 0);
    return rc == SQLITE_OK ? FT_OK : fail(s, err);
}

static void close_database(ft_store *s)
{
    sqlite3_close(s->db);
}

struct query {
    ft__query q;
    sqlite3_stmt *st;
    const char *sql; /* of one that is kept */
    int rc;
};

static struct query *of(ft__query *q)
{
    return (struct query *)q;
}

static ft_status exec(ft_store *s, const char *sql, uint64_t *changed, ft_error *err)
{
    if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return fail(s, err);
    if (changed)
        *changed += (uint64_t)sqlite3_changes(s->db);
    return FT_OK;
}

static bool in_transaction(ft_store *s)
{
    return !sqlite3_get_autocommit(s->db);
}

static void prepare(struct query *q, const char *sql)
{
    q->rc = sqlite3_prepare_v3(q->q.s->db, sql, -1,
                               q->sql ? SQLITE_PREPARE_PERSISTENT : 0, &q->st, NULL);
    q->q.n_parameters = q->st ? sqlite3_bind_parameter_count(q->st) : 0;
    q->q.bad = q->rc != SQLITE_OK;
}

static ft__query *query(ft_store *s, const char *sql, ft__query_kind kind)
{
    struct query *q = calloc(1, sizeof(*q));

    if (!q)
        return NULL;
    q->q.s = s;
    q->sql = kind == FT__KEPT ? sql : NULL;
    prepare(q, sql);
    return &q->q;
}

static void bind(ft__query *base, int at, const ft__value *v)
{
    struct query *q = of(base);

    if (q->rc != SQLITE_OK)
        return;
    if (v->null)
        q->rc = sqlite3_bind_null(q->st, at);
    else
        switch (v->type) {
        case FT__INTEGER: q->rc = sqlite3_bind_int64(q->st, at, v->i64); break;
        case FT__REAL: q->rc = sqlite3_bind_double(q->st, at, v->f64); break;
        case FT__TEXT:
            q->rc = sqlite3_bind_text(q->st, at, v->bytes, -1, SQLITE_STATIC);
            break;
        case FT__BLOB:
            q->rc = sqlite3_bind_blob64(q->st, at, v->bytes, v->size, SQLITE_STATIC);
            break;
        }
    base->bad = q->rc != SQLITE_OK;
}

static void reset(ft__query *base)
{
    struct query *q = of(base);

    sqlite3_reset(q->st);
    if (!q->st && q->sql)
        prepare(q, q->sql); /* perhaps it was locked or memory was short */
    q->rc = q->st ? SQLITE_OK : q->rc;
    base->bad = q->rc != SQLITE_OK;
}

static ft_status step(ft__query *base, bool *row, ft_error *err)
{
    struct query *q = of(base);
    ft_status st = FT_OK;

    if (q->rc == SQLITE_OK)
        q->rc = sqlite3_step(q->st);
    *row = q->rc == SQLITE_ROW;
    if (*row) {
        q->rc = SQLITE_OK;
        return FT_OK;
    }
    if (q->rc != SQLITE_DONE)
        st = q->rc == SQLITE_NOMEM
                 ? ft_fail(err, FT_ENOMEM, 0, "store %s", base->s->path)
                 : fail(base->s, err);
    reset(base);
    return st;
}

static ft_status finish(ft__query *base, ft_error *err)
{
    (void)err;
    sqlite3_finalize(of(base)->st);
    free(base);
    return FT_OK;
}

static ft__value column(ft__query *base, int at)
{
    struct query *q = of(base);
    ft__value v = {0};

    switch (sqlite3_column_type(q->st, at)) {
    case SQLITE_INTEGER: v.i64 = sqlite3_column_int64(q->st, at); break;
    case SQLITE_FLOAT:
        v.type = FT__REAL;
        v.f64 = sqlite3_column_double(q->st, at);
        break;
    case SQLITE_TEXT:
        v.type = FT__TEXT;
        v.bytes = sqlite3_column_text(q->st, at);
        break;
    case SQLITE_BLOB:
        v.type = FT__BLOB;
        v.bytes = sqlite3_column_blob(q->st, at);
        v.size = (size_t)sqlite3_column_bytes(q->st, at);
        break;
    default: v.null = true; return v;
    }
    if (v.type == FT__TEXT && !v.bytes) {
        v.null = base->bad = true;
        q->rc = SQLITE_NOMEM;
    }
    return v;
}

static const char *column_name(ft__query *base, int at)
{
    return at < sqlite3_column_count(of(base)->st)
               ? sqlite3_column_name(of(base)->st, at)
               : NULL;
}

const ft__database ft__sqlite = {
    .begin = "BEGIN IMMEDIATE",
    .snapshot = "BEGIN",
    .mark = "PRAGMA application_id=1179931476; PRAGMA user_version=%d",
    .foreign = "is an SQLite file",
    .measurement = "(SELECT coalesce(max(id), 0) FROM measurement) + from_row.nth",
    .connect = connect_file,
    .identify = identify,
    .check = check_schema,
    .before_writing = write_ahead,
    .close = close_database,
    .exec = exec,
    .in_transaction = in_transaction,
    .query = query,
    .bind = bind,
    .step = step,
    .reset = reset,
    .finish = finish,
    .column = column,
    .column_name = column_name,
};

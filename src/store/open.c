/* A store opened: judged by what it says of itself, migrated to the newest schema. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/store.h"

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

/* Whether the file is one of ours, and of a version we know. */
static ft_status judge(const ft_store *s, const ft__identity *id, ft_store_mode mode,
                       int newest, ft_error *err)
{
    if (!id->ours && !id->blank)
        return ft_fail(err, FT_EFORMAT, 0, "%s %s, but not a foretell store", s->path,
                       s->kind->foreign);
    if (id->version > newest)
        return ft_fail(
            err, FT_EFORMAT, 0,
            "store %s has version %lld, written by a newer foretell; this one "
            "knows versions up to %d: update it",
            s->path, (long long)id->version, newest);
    if (s->writable)
        return FT_OK;
    if (id->blank)
        return ft_fail(err, mode == FT_STORE_READ_ANY ? FT_ENOTFOUND : FT_EFORMAT, 0,
                       "store %s is empty; measure something into it first", s->path);
    if (id->version < newest && mode != FT_STORE_MERGE)
        return ft_fail(
            err, FT_EFORMAT, 0,
            "store %s has the older version %lld; any command that writes to "
            "it brings it to version %d",
            s->path, (long long)id->version, newest);
    return FT_OK;
}

static ft_status take_steps(ft_store *s, const char *const *steps, int n_steps,
                            ft_error *err)
{
    ft__identity id = {0};
    char sql[256];
    /* Asked again now that nobody else can be migrating. */
    ft_status st = s->kind->identify(s, &id, err);

    free(id.schema);
    s->version = n_steps;
    if (st || id.version == n_steps)
        return st;
    if (id.version == 0 && s->kind->first)
        st = s->kind->exec(s, s->kind->first, NULL, err);
    for (int64_t v = id.version; v < n_steps && !st; v++)
        st = s->kind->exec(s, steps[v], NULL, err);
    snprintf(sql, sizeof(sql), s->kind->mark, n_steps);
    if (!st)
        st = s->kind->exec(s, sql, NULL, err);
    return st || !s->kind->views ? st : s->kind->exec(s, s->kind->views, NULL, err);
}

static ft_status migrate(ft_store *s, const char *const *steps, int n_steps,
                         ft_error *err)
{
    ft_status st = ft__store_begin(s, err);

    return st ? st : ft__store_end(s, take_steps(s, steps, n_steps, err), err);
}

static bool is_on_server(const char *path)
{
    return strncmp(path, "postgresql://", 13) == 0 ||
           strncmp(path, "postgres://", 11) == 0;
}

/* Where in the connection string `at` a password begins; its end if there is none. */
static const char *find_password(const char *at, const char **end)
{
    const char *user = strstr(at, "://"), *word;

    if (user) { /* user:password@, as far as it may go if it should have been encoded */
        word = user + 3 + strcspn(user + 3, ":@/?");
        *end = word + strcspn(word, "?");
        while (*end > word && **end != '@')
            --*end;
        if (*word == ':' && *end > word)
            return word + 1;
    }
    word = strstr(at, "password=");
    *end = at + strlen(at);
    if (!word)
        return *end;
    word += strlen("password=");
    *end = word + strcspn(word, "&");
    return word;
}

int ft_store_shown(char *out, size_t size, const char *path)
{
    const char *rest = path, *word, *end;
    const bool on_server = is_on_server(path);
    size_t n = 0;

    while (on_server && size && *(word = find_password(rest, &end))) {
        int some = snprintf(out + n, size - n, "%.*s", (int)(word - rest), rest);

        n += some < 0 || (size_t)some >= size - n ? size - n - 1 : (size_t)some;
        rest = end;
    }
    if (size)
        snprintf(out + n, size - n, "%s", rest);
    return on_server;
}

static ft_status open_and_judge(ft_store *s, const char *path, ft_store_mode mode,
                                const char *const *steps, int n_steps, ft_error *err)
{
    ft__identity id = {0};
    ft_status st = s->kind->connect(s, path, &id, err);

    s->version = id.version;
    if (!st)
        st = judge(s, &id, mode, n_steps, err);
    if (!st && s->kind->check)
        st = s->kind->check(s, &id, steps, err);
    if (!st && s->writable && s->kind->before_writing)
        st = s->kind->before_writing(s, err);
    if (!st && s->writable)
        st = migrate(s, steps, n_steps, err);
    free(id.schema);
    return st;
}

ft_status ft__store_open(ft_store **out, const char *path, ft_store_mode mode,
                         const char *const *steps, int n_steps, ft_error *err)
{
    ft_store *s = calloc(1, sizeof(*s));
    size_t size = strlen(path) + 1;
    ft_status st;

    *out = NULL;
    if (!s || !(s->path = malloc(size))) {
        free(s);
        return ft_fail(err, FT_ENOMEM, 0, "a store");
    }
    s->kind = ft_store_shown(s->path, size, path) ? &ft__postgres : &ft__sqlite;
    s->writable = mode == FT_STORE_WRITE;
    st = open_and_judge(s, path, mode, steps, n_steps, err);
    if (st)
        ft_store_close(s);
    else
        *out = s;
    return st;
}

static ft_status open_newest(ft_store **out, const char *path, ft_store_mode mode,
                             ft_error *err)
{
    return ft__store_open(out, path, mode, migrations,
                          (int)(sizeof(migrations) / sizeof(*migrations)), err);
}

ft_status ft_store_open(ft_store **out, const char *path, ft_store_mode mode,
                        ft_error *err)
{
    const bool any = mode == FT_STORE_READ_ANY;
    ft_status st = FT_ENOTFOUND;

    *out = NULL;
    if (!*path)
        return ft_fail(err, FT_EINVAL, 0, "a store needs a file name");
    if (!any || is_on_server(path) || access(path, F_OK) == 0)
        st = open_newest(out, path, mode, err);
    return any && st == FT_ENOTFOUND ? open_newest(out, ":memory:", FT_STORE_WRITE, err)
                                     : st;
}

ft_status ft__store_open_temporary(ft_store **out, ft_error *err)
{
    ft_status st = open_newest(out, "", FT_STORE_WRITE, err);

    if (!st) {
        free((*out)->path);
        (*out)->path = strdup("in a temporary file");
    }
    return st;
}

void ft_store_close(ft_store *s)
{
    if (!s)
        return;
    for (int i = 0; i < FT__N_SQL; i++)
        (void)ft__finish(s->kept[i], FT_OK, NULL);
    s->kind->close(s);
    free(s->path);
    free(s);
}

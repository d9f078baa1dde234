/* foretell data merge: what was measured elsewhere, brought into one store. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/data.h"

static bool is_store(const char *path)
{
    static const char sqlite[] = "SQLite format 3"; /* with its zero */
    char head[sizeof(sqlite)];
    FILE *fp = fopen(path, "rb");
    bool is = fp && fread(head, 1, sizeof(head), fp) == sizeof(head) &&
              memcmp(head, sqlite, sizeof(sqlite)) == 0;

    if (fp)
        fclose(fp);
    return is;
}

/* A store, or a CSV file as a store that is gone when it is closed. */
static ft_status open_source(ft_store **out, const char *path, ft_error *err)
{
    ft_store *csv = NULL;
    uint64_t rows;
    ft_status st;

    *out = NULL;
    if (is_store(path))
        return ft_store_open(out, path, FT_STORE_MERGE, err);
    st = ft_store_open(&csv, ":memory:", FT_STORE_WRITE, err);
    if (!st)
        st = ft_store_import_file(csv, path, &rows, err);
    if (st) {
        ft_store_close(csv);
        return st;
    }
    *out = csv;
    return FT_OK;
}

static bool report(const ft__cli *c, const ft_merge_report *r, const char *path)
{
    if (c->json)
        return ft__json_print_take(
            ft__json(
                "store:s measurements:u repeats:u present:u runs:u facts:u trials:u",
                path, r->measurements, r->repeats, r->present, r->runs, r->facts,
                r->trials),
            stdout);
    printf("%" PRIu64 " measurements taken (%" PRIu64 " of them repeats), %" PRIu64
           " were there; %" PRIu64 " runs and %" PRIu64 " facts taken\n",
           r->measurements, r->repeats, r->present, r->runs, r->facts);
    if (r->trials)
        printf("%" PRIu64 " runs of explorations taken\n", r->trials);
    printf("store: %s\n", path);
    return true;
}

/* "OLD=NEW" in two; *text is the caller's to free, and the names point into it. */
static bool split(ft_rename *out, char **text, const char *arg)
{
    char *equals;

    *text = strdup(arg);
    equals = *text ? strchr(*text, '=') : NULL;
    if (!equals || equals == *text || !equals[1])
        return false;
    *equals = '\0';
    *out = (ft_rename){*text, equals + 1};
    return true;
}

/* The store is opened last: a source that cannot be read leaves none behind. */
static ft_status merge(ft_merge_report *r, const char *path, const ft__texts *from,
                       const ft_merge_options *how, ft_error *err)
{
    ft_store **store = calloc(from->n + 1, sizeof(*store)), *into = NULL;
    size_t n = 0;
    ft_status st = FT_OK;

    if (!store)
        return ft_fail(err, FT_ENOMEM, 0, "merging");
    while (n < from->n && !st) {
        st = open_source(&store[n], from->v[n], err);
        n += !st;
    }
    if (!st)
        st = ft_store_open(&into, path, FT_STORE_WRITE, err);
    if (!st)
        st = ft_store_merge(r, into, store, n, how, err);
    ft_store_close(into);
    for (size_t i = 0; i < n; i++)
        ft_store_close(store[i]);
    free(store);
    return st;
}

int ft__data_merge(ft__cli *c, const char *path, const ft__texts *from,
                   const ft__texts *renames, bool same)
{
    ft_rename *rename = calloc(renames->n + 1, sizeof(*rename));
    char **text = calloc(renames->n + 1, sizeof(*text));
    ft_merge_options how = {rename, renames->n, same};
    ft_merge_report r = {0};
    int code = rename && text ? FT__EXIT_GOOD : ft__cli_done(c, false);
    ft_status st = FT_OK;

    for (size_t i = 0; i < renames->n && !code; i++)
        if (!split(&rename[i], &text[i], renames->v[i]))
            code = ft__usage(c, "--rename wants OLD=NEW, not \"%s\"", renames->v[i]);
    if (!code) {
        st = merge(&r, path, from, &how, &c->err);
        code = st ? ft__cli_check(c, st) : ft__cli_done(c, report(c, &r, path));
    }
    for (size_t i = 0; text && i < renames->n; i++)
        free(text[i]);
    free(text);
    free(rename);
    return code;
}

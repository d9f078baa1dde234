/* What --correct names: a store, or a file in our CSV. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "foretell/store.h"
#include "query/data.h"

static bool is_store(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof(magic)] = "";
    FILE *fp = fopen(path, "rb");
    bool is = fp && fread(head, 1, sizeof(head), fp) == sizeof(head) &&
              memcmp(head, magic, sizeof(magic)) == 0;

    if (fp)
        fclose(fp);
    return is;
}

static ft_status open_csv(ft_store **store, const char *path, ft_error *err)
{
    uint64_t rows;
    ft_status st = ft_store_open(store, ":memory:", FT_STORE_WRITE, err);

    return st ? st : ft_store_import_file(*store, path, &rows, err);
}

ft_status ft__known_open(ft_known **out, const char *path, ft_error *err)
{
    ft_store *store = NULL;
    ft_status st = is_store(path) ? ft_store_open(&store, path, FT_STORE_READ, err)
                                  : open_csv(&store, path, err);

    *out = NULL;
    if (!st)
        st = ft_known_read(out, store, err);
    ft_store_close(store);
    if (st || ft_known_count(*out, NULL))
        return st;
    ft_known_free(*out);
    *out = NULL;
    return ft_fail(err, FT_EFORMAT, 0, "--correct %s: it holds no operation's time",
                   path);
}

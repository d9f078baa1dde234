/* What --correct names: a store, or a file in our CSV. */
#include <stdio.h>
#include <string.h>

#include "cli/estimate.h"
#include "foretell/dataset.h"

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

static ft_status open_csv(ft_store **store, const char *path, const char *data_dir,
                          ft_error *err)
{
    ft_dataset_report report;
    ft_status st = ft_store_open(store, ":memory:", FT_STORE_WRITE, err);

    return st ? st : ft_dataset_import(&report, *store, "csv", path, data_dir, err);
}

int ft__known_open(ft__cli *c, ft_known **out, const char *path, const char *data_dir)
{
    ft_store *store = NULL;
    ft_error err = {0};
    ft_status st;

    *out = NULL;
    if (!path)
        return FT__EXIT_GOOD;
    st = is_store(path) ? ft_store_open(&store, path, FT_STORE_READ, &err)
                        : open_csv(&store, path, *data_dir ? data_dir : NULL, &err);
    if (!st)
        st = ft_known_read(out, store, &err);
    ft_store_close(store);
    if (st)
        return ft__cli_fail(c, st, &err);
    if (ft_known_count(*out, NULL))
        return FT__EXIT_GOOD;
    return ft__cli_exit(c, FT__EXIT_INPUT, "--correct %s: it holds no operation's time",
                        path);
}

const ft_known *ft__known_of(const ft_known *known, const char *device)
{
    return known && ft_known_count(known, device) ? known : NULL;
}

int ft__known_none(ft__cli *c, const char *path)
{
    return ft__cli_exit(c, FT__EXIT_INPUT,
                        "--correct %s: it holds no operation of a device that is asked "
                        "for and that a predictor for a family answers for",
                        path);
}

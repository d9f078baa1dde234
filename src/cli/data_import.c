/* foretell data import: what export wrote, into a store. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/data.h"

/* What publishes tables that a program of tools/datasets converts. */
static const char converters[] = "neusight, justus, aic, deepbench, thesis, dvfs, timm";

int ft__data_from(ft__cli *c, const char *from)
{
    const char *list = converters;
    char name[64], near[64];
    bool any;

    if (!from || strcmp(from, "csv") == 0)
        return FT__EXIT_GOOD;
    while (ft__word_next(name, sizeof(name), &list))
        if (strcmp(name, from) == 0)
            return ft__cli_exit(c, FT__EXIT_USAGE,
                                "--from %s: such tables are converted first, by "
                                "tools/datasets/%s TABLE... -o measured.csv, and then "
                                "foretell data import measured.csv takes them "
                                "(docs/data.md)",
                                from, from);
    any = ft__suggest(near, from, converters);
    return ft__cli_exit(c, FT__EXIT_USAGE,
                        "--from %s: import reads csv, as export writes it%s%s%s", from,
                        any ? "; did you mean the converter tools/datasets/" : "",
                        any ? near : "", any ? "?" : "");
}

/* Each file whole or not at all; the first that fails ends it. */
ft_status ft__data_import(ft__cli *c, ft_store *store, bool *printed, ft_error *err)
{
    json_t *all = json_array();
    ft_status st = FT_OK;

    for (size_t i = 1; i < c->args.n && !st; i++) {
        const char *path = c->args.v[i];
        uint64_t rows;

        st = ft_store_import_file(store, path, &rows, err);
        if (st)
            break;
        if (!c->json)
            printf("%" PRIu64 " measurements taken from %s\n", rows, path);
        ft__json_append_take(&all, ft__json("file:s measurements:u", path, rows));
    }
    if (c->json && !st)
        *printed = ft__json_print_take(ft__json("files:o", all), stdout);
    else
        json_decref(all);
    return st;
}

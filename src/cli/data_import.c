/* foretell data import: what export wrote, into a store. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/data.h"

/* What publishes tables that a program of tools/datasets converts. */
static const char *const converters[] = {"neusight", "justus", "aic", "deepbench",
                                         "thesis",   "dvfs",   "timm"};
enum { N_CONVERTERS = sizeof(converters) / sizeof(*converters) };

int ft__data_from(ft__cli *c, const char *from)
{
    const char *near;

    if (!from || strcmp(from, "csv") == 0)
        return FT__EXIT_GOOD;
    near = ft__suggest(from, converters, N_CONVERTERS);
    for (size_t i = 0; i < N_CONVERTERS; i++)
        if (strcmp(converters[i], from) == 0)
            return ft__cli_exit(c, FT__EXIT_USAGE,
                                "--from %s: such tables are converted first, by "
                                "tools/datasets/%s TABLE... -o measured.csv, and then "
                                "foretell data import measured.csv takes them "
                                "(docs/data.md)",
                                from, from);
    return ft__cli_exit(c, FT__EXIT_USAGE,
                        "--from %s: import reads csv, as export writes it%s%s%s", from,
                        near ? "; did you mean the converter tools/datasets/" : "",
                        near ? near : "", near ? "?" : "");
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
        ft__json_append_take(&all, json_pack("{s:o, s:o}", "file", ft__json_text(path),
                                             "measurements", ft__json_count(rows)));
    }
    if (c->json && !st)
        *printed = ft__json_print_take(json_pack("{s:o}", "files", all), stdout);
    else
        json_decref(all);
    return st;
}

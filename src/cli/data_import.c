/* foretell data import: measurements from files of our own form and of others'. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/data.h"
#include "foretell/dataset.h"

ft_status ft__data_read_file(char **out, size_t *len, const char *path, ft_error *err)
{
    FILE *fp = fopen(path, "rb");
    long size = -1;

    *out = NULL;
    *len = 0;
    if (fp && fseek(fp, 0, SEEK_END) == 0)
        size = ftell(fp);
    if (size < 0) {
        ft_fail(err, FT_EIO, 0, "cannot read %s: %s", path, strerror(errno));
        goto fail;
    }
    rewind(fp);
    *out = malloc((size_t)size + 1);
    if (!*out) {
        ft_fail(err, FT_ENOMEM, 0, "%s", path);
        goto fail;
    }
    *len = fread(*out, 1, (size_t)size, fp);
    fclose(fp);
    return FT_OK;
fail:
    if (fp)
        fclose(fp);
    return err->status;
}

enum { MAX_SOURCES = 32 };

int ft__data_from(ft__cli *c, const char **from)
{
    const char *name;
    char list[400] = "", near[64];
    size_t len = 0;
    bool any;

    if (!*from)
        *from = "csv";
    for (size_t n = 0; n < MAX_SOURCES && (name = ft_dataset_source(n)); n++) {
        if (strcmp(name, *from) == 0)
            return FT__EXIT_GOOD;
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", n ? ", " : "",
                                name);
    }
    any = ft__suggest(near, *from, list);
    return ft__cli_exit(c, FT__EXIT_USAGE, "--from %s: not one of %s%s%s%s", *from,
                        list, any ? "; did you mean " : "", near, any ? "?" : "");
}

/* What one file brought, as a line of text or as JSON. */
static json_t *report_json(const char *path, const ft_dataset_report *r)
{
    return ft__json("file:s rows:u measurements:u present:u members:u unknown_ops:u "
                    "unknown_devices:s",
                    path, r->rows, r->measurements, r->present, r->members,
                    r->unknown_ops, r->unknown_devices);
}

static void report_text(const char *path, const ft_dataset_report *r)
{
    printf("%" PRIu64 " measurements taken from %s", r->measurements, path);
    if (r->present)
        printf(", %" PRIu64 " were here before", r->present);
    if (r->members)
        printf(", %" PRIu64 " parts of networks", r->members);
    puts("");
}

static void warn(const ft__cli *c, const char *path, const ft_dataset_report *r)
{
    if (c->quiet)
        return;
    if (*r->unknown_devices)
        fprintf(stderr,
                "note: %s: no device file knows %s; measurements are kept under these "
                "names\n",
                path, r->unknown_devices);
    if (r->unknown_ops)
        fprintf(stderr,
                "note: %s: %" PRIu64 " rows are of operations without a kind here: "
                "generic\n",
                path, r->unknown_ops);
}

/* Each file whole or not at all; the first that fails ends it. */
ft_status ft__data_import(ft__cli *c, ft_store *store, const char *from, bool *printed,
                          ft_error *err)
{
    char data[FT__PATH_MAX];
    json_t *all = json_array();
    ft_status st = FT_OK;

    ft__path_data(c, data);
    for (size_t i = 1; i < c->args.n && !st; i++) {
        const char *path = c->args.v[i];
        ft_dataset_report r;

        st = ft_dataset_import(&r, store, from, path, *data ? data : NULL, err);
        if (st)
            break;
        if (!c->json)
            report_text(path, &r);
        warn(c, path, &r);
        ft__json_append_take(&all, report_json(path, &r));
    }
    if (c->json && !st)
        *printed = ft__json_print_take(ft__json("files:o", all), stdout);
    else
        json_decref(all);
    return st;
}

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { MAX_DIMS = 64, MAX_STDIN = 64 << 20 };

/* "seq=128" -> name and value. `name` points into a copy that the caller frees. */
static bool parse_dim(ft_dim_value *out, char *text)
{
    char *equals = strchr(text, '='), *end;

    if (!equals || equals == text)
        return false;
    *equals = '\0';
    errno = 0;
    out->name = text;
    out->value = strtoll(equals + 1, &end, 10);
    return equals[1] && !*end && !errno && out->value >= 1;
}

static ft_status read_all(char **out, size_t *len, FILE *fp, ft_error *err)
{
    size_t cap = 1 << 16;
    char *s = malloc(cap);

    *len = 0;
    while (s && !feof(fp) && !ferror(fp) && cap <= MAX_STDIN) {
        *len += fread(s + *len, 1, cap - *len, fp);
        if (*len == cap) {
            char *grown = realloc(s, cap *= 2);

            if (!grown)
                free(s);
            s = grown;
        }
    }
    *out = s;
    if (!s)
        return ft_fail(err, FT_ENOMEM, 0, "standard input");
    if (ferror(fp))
        return ft_fail(err, FT_EIO, 0, "standard input: %s", strerror(errno));
    if (cap > MAX_STDIN)
        return ft_fail(err, FT_EFORMAT, 0, "standard input: more than 64 MiB of text");
    return FT_OK;
}

static ft_status read_stdin(ft_graph **out, ft_error *err)
{
    char *text;
    size_t len;
    ft_status st = read_all(&text, &len, stdin, err);

    if (!st)
        st = ft_import_ops(out, text, len, "standard input", err);
    free(text);
    return st;
}

static ft_status import(ft_graph **out, const char *path, const ft_import_options *opt,
                        ft_error *err)
{
    if (strcmp(path, "-") == 0)
        return read_stdin(out, err);
    return ft_import_file(out, path, opt, err);
}

int ft__model_read(ft__cli *c, ft_graph **out, const char *path,
                   const ft__model_options *opt)
{
    ft_dim_value dims[MAX_DIMS];
    ft_import_options how = {.batch = (int64_t)opt->batch, .dims = dims};
    char *copy[MAX_DIMS];
    ft_error err = {0};
    int code = FT__EXIT_GOOD;
    ft_status st;

    *out = NULL;
    for (; how.n_dims < opt->dims.n && how.n_dims < MAX_DIMS; how.n_dims++) {
        copy[how.n_dims] = strdup(opt->dims.v[how.n_dims]);
        if (!copy[how.n_dims])
            break;
        if (!parse_dim(&dims[how.n_dims], copy[how.n_dims]))
            code = ft__cli_exit(c, FT__EXIT_USAGE,
                                "--dim wants NAME=N, such as seq=128, not \"%s\"",
                                opt->dims.v[how.n_dims]);
    }
    if (how.n_dims < opt->dims.n)
        code =
            ft__cli_exit(c, FT__EXIT_USAGE, "more than %d values for --dim", MAX_DIMS);
    if (!code) {
        st = import(out, path, &how, &err);
        if (st)
            code = ft__cli_fail(c, st, &err);
    }
    while (how.n_dims)
        free(copy[--how.n_dims]);
    return code;
}

void ft__model_print_assumptions(const ft_graph *g)
{
    for (uint32_t i = 0; i < ft_graph_n_assumptions(g); i++) {
        printf("assumed: ");
        ft__put_clean(stdout, ft_graph_assumption(g, i));
        putchar('\n');
    }
}

void ft__model_print_bounded(const ft_graph *g)
{
    for (uint32_t i = 0; i < ft_graph_n_bounded(g); i++) {
        printf("bounded by the bytes it moves: ");
        ft__put_clean(stdout, ft_graph_bounded(g, i));
        putchar('\n');
    }
}

json_t *ft__model_assumptions_json(const ft_graph *g)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < ft_graph_n_assumptions(g); i++)
        ft__json_append_take(&all, ft__json_text(ft_graph_assumption(g, i)));
    return all;
}

json_t *ft__model_bounded_json(const ft_graph *g)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < ft_graph_n_bounded(g); i++)
        ft__json_append_take(&all, ft__json_text(ft_graph_bounded(g, i)));
    return all;
}

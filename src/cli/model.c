#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { MAX_VALUES = 64, MAX_STDIN = 64 << 20 };

/* The options as the importer takes them; names point into copies of the texts. */
struct parsed {
    ft_dim_value dim[MAX_VALUES];
    ft_input_shape input[MAX_VALUES];
    char *copy[2 * MAX_VALUES];
    size_t n_copies;
    ft_import_options how;
};

/* "seq=128" -> name and value. */
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

/* "ids=1x128", or the shape alone. */
static bool parse_input(ft_input_shape *out, char *text)
{
    char *equals = strrchr(text, '='), *at = equals ? equals + 1 : text;

    *out = (ft_input_shape){.name = ""};
    if (equals == text)
        return false;
    if (equals) {
        *equals = '\0';
        out->name = text;
    }
    for (;;) {
        char *end;

        errno = 0;
        if (*at < '0' || *at > '9' || out->shape.rank == FT_MAX_RANK)
            return false;
        out->shape.dim[out->shape.rank] = strtoll(at, &end, 10);
        if (errno || out->shape.dim[out->shape.rank++] < 1)
            return false;
        if (!*end)
            return true;
        if (*end != 'x')
            return false;
        at = end + 1;
    }
}

/* A copy to cut names from; NULL: out of memory. */
static char *copy_of(struct parsed *p, const char *text)
{
    char *copy = strdup(text);

    if (copy)
        p->copy[p->n_copies++] = copy;
    return copy;
}

static ft_status parse(struct parsed *p, const ft__model_options *opt, ft_error *err)
{
    p->how = (ft_import_options){.batch = (int64_t)opt->batch,
                                 .trips = (int64_t)opt->trips,
                                 .dims = p->dim,
                                 .inputs = p->input};
    if (opt->dims.n > MAX_VALUES || opt->inputs.n > MAX_VALUES)
        return ft_fail(err, FT_EINVAL, 0, "more than %d values for --%s", MAX_VALUES,
                       opt->dims.n > MAX_VALUES ? "dim" : "input");
    for (size_t i = 0; i < opt->dims.n; i++) {
        char *copy = copy_of(p, opt->dims.v[i]);

        if (!copy)
            return ft_fail(err, FT_ENOMEM, 0, "options");
        if (!parse_dim(&p->dim[p->how.n_dims++], copy))
            return ft_fail(err, FT_EINVAL, 0,
                           "--dim wants NAME=N, such as seq=128, not \"%s\"",
                           opt->dims.v[i]);
    }
    for (size_t i = 0; i < opt->inputs.n; i++) {
        char *copy = copy_of(p, opt->inputs.v[i]);

        if (!copy)
            return ft_fail(err, FT_ENOMEM, 0, "options");
        if (!parse_input(&p->input[p->how.n_inputs++], copy))
            return ft_fail(
                err, FT_EINVAL, 0,
                "--input wants NAME=SHAPE, such as x=1x3x224x224, not \"%s\"",
                opt->inputs.v[i]);
    }
    return FT_OK;
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

static ft_status read_stdin(ft_graph **out, const ft_import_options *opt, ft_error *err)
{
    char *text;
    size_t len;
    ft_status st;

    if (opt->batch || opt->n_dims || opt->n_inputs)
        return ft_fail(
            err, FT_EINVAL, 0,
            "standard input: a list of operations has its sizes in its lines: "
            "--batch, --dim and --input do not apply");
    st = read_all(&text, &len, stdin, err);
    if (!st)
        st = ft_import_ops(out, text, len, "standard input", err);
    free(text);
    return st;
}

static ft_status import(ft_graph **out, const char *path, const ft_import_options *opt,
                        ft_error *err)
{
    if (strcmp(path, "-") == 0)
        return read_stdin(out, opt, err);
    return ft_import_file(out, path, opt, err);
}

/* In place of *g. */
static ft_status cast(ft_graph **g, ft_dtype to, ft_error *err)
{
    ft_graph *made;
    ft_status st = ft_graph_cast(&made, *g, to, err);

    ft_graph_free(*g);
    *g = made;
    return st;
}

ft_status ft__model_import(ft_graph **out, const char *path,
                           const ft__model_options *opt, ft_error *err)
{
    struct parsed p = {0};
    ft_dtype dtype =
        opt->dtype ? ft_dtype_from_name(opt->dtype, strlen(opt->dtype)) : FT_DTYPE_NONE;
    ft_status st = parse(&p, opt, err);

    *out = NULL;
    if (!st && opt->dtype && dtype == FT_DTYPE_NONE)
        st = ft_fail(err, FT_EINVAL, 0, "there is no element type \"%s\"", opt->dtype);
    if (!st)
        st = import(out, path, &p.how, err);
    if (!st && opt->dtype)
        st = cast(out, dtype, err);
    while (p.n_copies)
        free(p.copy[--p.n_copies]);
    /* Nothing is missing here: the file holds what is not taken. */
    return st == FT_EUNSUPPORTED ? FT_EFORMAT : st;
}

int ft__model_read(ft__cli *c, ft_graph **out, const char *path,
                   const ft__model_options *opt)
{
    ft_error err = {0};
    ft_status st = ft__model_import(out, path, opt, &err);

    return st ? ft__cli_fail_asked(c, st, &err) : FT__EXIT_GOOD;
}

int ft__batches_parse(ft__cli *c, uint64_t *batch, size_t *n, const char *list,
                      const ft__model_options *opt)
{
    batch[0] = opt->batch;
    *n = 1;
    if (!list)
        return FT__EXIT_GOOD;
    if (opt->batch)
        return ft__cli_exit(c, FT__EXIT_USAGE, "--batch or --batches, not both");
    if (!ft__counts_from_text(batch, n, FT__MAX_BATCHES, list))
        return ft__cli_exit(c, FT__EXIT_USAGE,
                            "--batches %s: whole numbers from 1, joined by commas, at "
                            "most %d",
                            list, FT__MAX_BATCHES);
    return FT__EXIT_GOOD;
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
        const char *what = ft_graph_bounded(g, i);

        printf("bounded: ");
        ft__put_clean(stdout, what);
        /* What has no rule is only named. */
        puts(strstr(what, "), ") ? "" : ", by the bytes it moves");
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

/* Models and their options: reading, steps, assumptions, memory by part. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/ask/models.h"
#include "cli/cli.h"
#include "report/units.h"

const ft__option ft__model_table[] = {
    FT__COUNT(ft__model_options, batch, "batch", "N",
              "batch size, where the model leaves it open"),
    FT__TEXTS(ft__model_options, dims, "dim", "NAME=N",
              "value of a symbolic dimension; may be repeated"),
    FT__TEXT(ft__model_options, dtype, "dtype", "T",
             "element type: fp64, fp32, fp16, bf16, or mixed precision: amp-bf16, "
             "amp-fp16; the model's own"),
    FT__TEXTS(ft__model_options, inputs, "input", "NAME=AxBx...",
              "shape of an input; may be repeated"),
    FT__COUNT(ft__model_options, trips, "trips", "N",
              "rounds of loops that end when data says so"),
    {0},
};

const ft__option ft__step_table[] = {
    FT__TEXT(ft_step_names, mode, "mode", "M",
             "inference, or training: forward, loss, backward, optimizer"),
    FT__TEXT(ft_step_names, optimizer, "optimizer", "O",
             "with training: none, sgd (the default), momentum, adam, adamw, "
             "adamw8bit"),
    FT__TEXT(ft_step_names, loss, "loss", "L",
             "with training: auto (the default), none, cross_entropy, mse"),
    FT__TEXT(ft_step_names, loss_on, "loss-on", "R",
             "with training: first (the default) or all results"),
    {0},
};

enum { MAX_STDIN = 64 << 20 };

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
    /* None is drafted, which only a served model may have to say. */
    return equals[1] && !*end && !errno &&
           out->value >= (strcmp(text, "mtp") == 0 ? 0 : 1);
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
static char *copy_of(ft__model_values *v, const char *text)
{
    char *copy = strdup(text);

    if (copy)
        v->copy[v->n_copies++] = copy;
    return copy;
}

ft_status ft__model_values_add(ft__model_values *v, ft_query *q, const char *name,
                               uint64_t value, ft_error *err)
{
    for (size_t i = 0; i < q->n_dims; i++)
        if (strcmp(v->dim[i].name, name) == 0)
            return ft_fail(err, FT_EINVAL, 0, "--dim %s says what another option says",
                           name);
    if (q->n_dims == FT__MAX_VALUES)
        return ft_fail(err, FT_EINVAL, 0, "more than %d values for --dim",
                       FT__MAX_VALUES);
    v->dim[q->n_dims++] = (ft_dim_value){name, (int64_t)value};
    q->dims = v->dim;
    return FT_OK;
}

static ft_status add_step(ft__model_values *v, ft_query *q,
                          const ft__model_options *opt, ft_error *err)
{
    ft_status st = FT_OK;

    if (opt->tp)
        st = ft__model_values_add(v, q, "tp", opt->tp, err);
    if (!st && opt->ep)
        st = ft__model_values_add(v, q, "ep", opt->ep, err);
    if (!st && opt->weight_bits)
        st = ft__model_values_add(v, q, "weight_bits", opt->weight_bits, err);
    return st;
}

ft_status ft__model_values_read(ft__model_values *v, ft_query *q,
                                const ft__model_options *opt, ft_error *err)
{
    v->n_copies = 0;
    q->batch = (int64_t)opt->batch;
    q->trips = (int64_t)opt->trips;
    q->dtype = opt->dtype;
    q->dims = v->dim;
    q->inputs = v->input;
    if (opt->dims.n > FT__MAX_VALUES || opt->inputs.n > FT__MAX_VALUES)
        return ft_fail(err, FT_EINVAL, 0, "more than %d values for --%s",
                       FT__MAX_VALUES, opt->dims.n > FT__MAX_VALUES ? "dim" : "input");
    for (size_t i = 0; i < opt->dims.n; i++) {
        char *copy = copy_of(v, opt->dims.v[i]);

        if (!copy)
            return ft_fail(err, FT_ENOMEM, 0, "options");
        if (!parse_dim(&v->dim[q->n_dims++], copy))
            return ft_fail(err, FT_EINVAL, 0,
                           "--dim wants NAME=N, such as seq=128, not \"%s\"",
                           opt->dims.v[i]);
    }
    for (size_t i = 0; i < opt->inputs.n; i++) {
        char *copy = copy_of(v, opt->inputs.v[i]);

        if (!copy)
            return ft_fail(err, FT_ENOMEM, 0, "options");
        if (!parse_input(&v->input[q->n_inputs++], copy))
            return ft_fail(
                err, FT_EINVAL, 0,
                "--input wants NAME=SHAPE, such as x=1x3x224x224, not \"%s\"",
                opt->inputs.v[i]);
    }
    return add_step(v, q, opt, err);
}

void ft__model_values_free(ft__model_values *v)
{
    while (v->n_copies)
        free(v->copy[--v->n_copies]);
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

ft_status ft__model_import(ft_graph **out, const char *path,
                           const ft__model_options *opt, ft_error *err)
{
    ft_query q = FT_QUERY_INIT;
    ft__model_values v;
    char *text = NULL;
    ft_status st = ft__model_values_read(&v, &q, opt, err);

    *out = NULL;
    q.model = path;
    if (!st && strcmp(path, "-") == 0) {
        st = read_all(&text, &q.list_len, stdin, err);
        q.list = text;
        q.model = "standard input";
    }
    if (!st)
        st = ft_query_import(out, &q, err);
    free(text);
    ft__model_values_free(&v);
    return st;
}

int ft__model_read(ft__cli *c, ft_graph **out, const char *path,
                   const ft__model_options *opt)
{
    ft_status st = c->reply ? ft__models_read(c->reply->models, out, path, opt, &c->err)
                            : ft__model_import(out, path, opt, &c->err);

    return ft__cli_check_asked(c, st);
}

bool ft__is_language_model(const char *path)
{
    struct stat st;
    char text[64];
    const bool once = stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
    FILE *fp = once ? NULL : fopen(path, "rb");
    size_t n = fp ? fread(text, 1, sizeof(text), fp) : 0;

    if (fp)
        fclose(fp);
    return n == 0 || ft_is_language_model(text, n);
}

int ft__check_language_model(ft__cli *c, const char *path, const ft__option *asked)
{
    if (!asked || strcmp(path, "-") == 0 || ft__is_language_model(path))
        return FT__EXIT_GOOD;
    return ft__usage(
        c,
        "--%s is for language models (a config.json or GGUF file), and \"%s\" is none",
        asked->name, path);
}

void ft__model_close(const ft__cli *c, ft_graph *g)
{
    if (c->reply)
        ft__models_close(c->reply->models, g);
    else
        ft_graph_free(g);
}

int ft__step_parse(ft__cli *c, ft_step *out, const ft_step_names *names)
{
    ft_status st = ft_step_read(out, names, &c->err);

    return ft__cli_check_asked(c, st);
}

int ft__batches_parse(ft__cli *c, uint64_t *batch, size_t *n, const char *list,
                      const ft__model_options *opt)
{
    batch[0] = opt->batch;
    *n = 1;
    if (!list)
        return FT__EXIT_GOOD;
    if (opt->batch)
        return ft__usage(c, "--batch or --batches, not both");
    if (!ft__counts_from_text(batch, n, FT__MAX_BATCHES, list))
        return ft__usage(
            c, "--batches %s: whole numbers from 1, joined by commas, at most %d", list,
            FT__MAX_BATCHES);
    return FT__EXIT_GOOD;
}

void ft__model_print_assumptions(const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_assumptions; i++)
        ft__put_line(stdout, "assumed: ", g->assumption[i]);
}

/* "NonZero (node where), its size bounded": the operator, then the reason; ""
 * where it has no rule and is only named. */
static size_t operator_length(const char *what)
{
    const char *node = strstr(what, " (node ");

    return node ? (size_t)(node - what) : strlen(what);
}

static const char *said_of(const char *what)
{
    const char *how = strstr(what, "), ");

    return how ? how + 1 : "";
}

static bool is_bounded_alike(const char *a, const char *b)
{
    const size_t n = operator_length(a);

    return n == operator_length(b) && memcmp(a, b, n) == 0 &&
           strcmp(said_of(a), said_of(b)) == 0;
}

/* One line an operator, with the count of its nodes and the first of them. */
static void print_alike(const ft_graph *g, uint32_t first, uint32_t count)
{
    const char *what = g->bounded[first];

    fputs("bounded: ", stdout);
    if (count > 1)
        printf("%u times, the first is ", count);
    ft__put_clean(stdout, what);
    puts(*said_of(what) ? "" : ", by the bytes it moves");
}

void ft__model_print_bounded(const ft_graph *g)
{
    bool *done = calloc((size_t)g->n_bounded + 1, sizeof(*done));

    for (uint32_t i = 0; i < g->n_bounded; i++) {
        uint32_t count = 1;

        if (done && done[i])
            continue;
        for (uint32_t k = i + 1; done && k < g->n_bounded; k++)
            if (!done[k] && is_bounded_alike(g->bounded[i], g->bounded[k])) {
                done[k] = true;
                count++;
            }
        print_alike(g, i, count);
    }
    free(done);
}

void ft__memory_print_rules(double two_largest, double twice_mean)
{
    printf("rough rules of others, for comparison: the two largest layers %s, twice "
           "the mean layer %s\n",
           ft__text_bytes(two_largest).s, ft__text_bytes(twice_mean).s);
}

json_t *ft__memory_json(const ft_memory *m)
{
    json_t *o = ft__json("peak:u", m->peak_bytes);

    for (uint32_t p = 0; p < FT_PART_COUNT; p++)
        ft__json_set_take(&o, ft_name(FT_NAMES_PART, p), ft__json_count(m->part[p]));
    return ft__json_join_take(o, ft__json("two_largest:g twice_mean:g",
                                          m->two_largest_bytes, m->twice_mean_bytes));
}

void ft__ops_free(ft__ops *s)
{
    free(s->op);
    free(s->count);
    *s = (ft__ops){0};
}

static bool reserve(ft__ops *s, size_t more)
{
    size_t cap = s->cap ? s->cap : 256;
    ft_op *op;
    uint64_t *count;

    while (cap < s->n + more)
        cap *= 2;
    op = realloc(s->op, cap * sizeof(*op));
    if (op)
        s->op = op;
    count = realloc(s->count, cap * sizeof(*count));
    if (count)
        s->count = count;
    if (op && count)
        s->cap = cap;
    return op && count;
}

static bool add_graph(ft__ops *s, const ft_graph *g)
{
    if (!reserve(s, g->n_ops))
        return false;
    for (uint32_t i = 0; i < g->n_ops; i++) {
        s->op[s->n] = g->op[i];
        s->count[s->n++] = g->op_count[i];
    }
    return true;
}

int ft__model_add_ops(ft__cli *c, ft__ops *s, const char *path,
                      const ft__model_options *opt, const ft_step *step,
                      uint32_t policy)
{
    ft_graph *g, *lowered = NULL;
    ft_status st = FT_OK;
    int code = ft__model_read(c, &g, path, opt);

    if (code)
        return code;
    if (step)
        st = ft_step_lower(&lowered, g, policy, step, &c->err);
    if (!st && !add_graph(s, lowered ? lowered : g))
        st = ft_fail(&c->err, FT_ENOMEM, 0, "operations");
    ft_graph_free(lowered);
    ft__model_close(c, g);
    return ft__cli_check_asked(c, st);
}

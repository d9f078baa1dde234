/* An exported program: its graph, its signature, its weights, and its inputs with the
 * symbols that their sizes leave open. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "import/options.h"
#include "import/pt2/pt2.h"

/* {"s77": {"min_val": 2, "max_val": null}}. */
static void read_ranges(ft__pt2 *p, ft__json *r)
{
    ft__text name;

    if (!ft__pt2_object(r))
        return;
    while (!ft__build_failed(p->b) && ft__json_member(r, &name)) {
        ft__pt2_symbol *s = ft__pt2_symbol_of(p, name);

        if (!s || !ft__json_object(r)) {
            ft__json_skip(r, NULL);
            continue;
        }
        while (ft__json_member(r, &name)) {
            int64_t max;

            if (!FT__IS(name, "max_val") || ft__json_peek(r) != '0')
                ft__json_skip(r, NULL);
            else if (ft__json_int(r, &max) && max >= 0 && max < FT__MAX_ELEMENTS)
                s->max = max;
        }
    }
}

/* The whole text: the graph, and what stands beside it. */
static void read_text(ft__pt2 *p, ft__pt2_body *body)
{
    ft__json r = ft__json_open(&p->doc, (ft__text){p->doc.base, p->doc.len});
    ft__text name;
    bool found = false;

    if (!ft__json_object(&r)) {
        ft__json_skip(&r, NULL);
        if (!p->doc.why)
            ft__build_fail(p->b, FT_EFORMAT, 0, "its graph is no JSON object");
        return;
    }
    while (!ft__build_failed(p->b) && ft__json_member(&r, &name)) {
        if (FT__IS(name, "range_constraints"))
            read_ranges(p, &r);
        else if (FT__IS(name, "graph_module") && !found)
            found = ft__pt2_read_module(p, &r, body);
        else
            ft__json_skip(&r, NULL);
    }
    if (!ft__build_failed(p->b))
        ft__json_done(&r);
    if (!found && !p->doc.why)
        ft__build_fail(p->b, FT_EFORMAT, 0, "it holds no graph_module.graph");
}

static bool requires_grad(ft__pt2 *p, const ft__pt2_value *v)
{
    ft__json r = ft__pt2_rest(p, v);
    bool yes = true;
    ft__text name;

    while (v->rest.n && ft__json_member(&r, &name))
        if (FT__IS(name, "requires_grad")) {
            ft__json_bool(&r, &yes);
            return yes;
        } else {
            ft__json_skip(&r, NULL);
        }
    return yes;
}

static void name_parameter(ft__pt2 *p, const ft__pt2_spec *s)
{
    ft__table_slot *slot = ft__table_at(&p->parameters, &p->arena, s->of.s, s->of.n);

    if (!slot || slot->value)
        return;
    slot->value = s->value;
    p->parameters.n++;
}

/* Weights; inputs come when their sizes are known. */
static void define_weights(ft__pt2 *p)
{
    for (uint32_t i = 0; i < p->n_inputs && !ft__build_failed(p->b); i++) {
        ft__pt2_spec *s = &p->input[i];

        if (!s->value || !s->value->typed || FT__IS(s->kind, "user_input"))
            continue;
        s->value->trainable =
            FT__IS(s->kind, "parameter") && requires_grad(p, s->value);
        if (ft__pt2_resolve(p, s->value, 1))
            s->value->state = FT__PT2_WEIGHT;
        if (FT__IS(s->kind, "parameter"))
            name_parameter(p, s);
    }
}

struct symbol_binding {
    ft__pt2 *p;
    bool *used; /* per dimension of the options */
    bool open_batch;
    const ft__pt2_value *first; /* an input, for messages */
};

static int shown(ft__text t)
{
    return ft__shown(t.n, 100);
}

/* The symbol that is the whole size of an axis; NULL: a number, or a formula. */
static ft__pt2_symbol *symbol_at(ft__pt2 *p, const ft__pt2_value *v, uint32_t axis)
{
    int64_t dim = v->shape.dim[axis];

    return dim < 0 ? ft__pt2_symbol_of(p, p->expr[-1 - dim]->text) : NULL;
}

static bool is_input(const ft__pt2_spec *s)
{
    return FT__IS(s->kind, "user_input") && s->value && s->value->typed;
}

/* The batch: the first dimension of an input, and no other dimension of any. */
static bool is_batch(ft__pt2 *p, const ft__pt2_symbol *symbol)
{
    bool first = false;

    for (uint32_t i = 0; i < p->n_inputs; i++)
        for (uint32_t k = 0;
             is_input(&p->input[i]) && k < p->input[i].value->shape.rank; k++) {
            if (symbol_at(p, p->input[i].value, k) != symbol)
                continue;
            if (k > 0)
                return false;
            first = true;
        }
    return first;
}

static void bind_symbol(struct symbol_binding *b, ft__pt2_symbol *s, int64_t value,
                        const char *from)
{
    if (s->bound && s->value != value)
        ft__build_fail(b->p->b, FT_EINVAL, 0,
                       "%s=%lld: the model says that this size is the same as one that "
                       "is %lld",
                       from, (long long)value, (long long)s->value);
    if (s->max >= 0 && value > s->max)
        ft__build_fail(b->p->b, FT_EINVAL, 0,
                       "%s=%lld: the file allows %lld at most; export it with a larger "
                       "range",
                       from, (long long)value, (long long)s->max);
    s->bound = true;
    s->value = value;
}

/* --dim s77=4 or --dim ids.1=4. */
static void apply_dims(struct symbol_binding *b, const ft__pt2_value *v, uint32_t axis,
                       ft__pt2_symbol *s)
{
    const ft_import_options *opt = &b->p->opt;

    for (size_t i = 0; i < opt->n_dims; i++) {
        const char *name = opt->dims[i].name;
        size_t n = strlen(name);
        char number[16], text[160];

        snprintf(number, sizeof(number), ".%u", axis);
        if (!ft__text_is(s->name, name, n) &&
            (n != v->name.n + strlen(number) ||
             memcmp(name, v->name.s, v->name.n) != 0 ||
             strcmp(name + v->name.n, number) != 0))
            continue;
        b->used[i] = true;
        snprintf(text, sizeof(text), "--dim %.100s", name);
        bind_symbol(b, s, opt->dims[i].value, text);
    }
}

/* --input ids=4x128. */
static void apply_shape(struct symbol_binding *b, const ft__pt2_value *v,
                        const ft_shape *given)
{
    char text[160];

    if (given->rank != v->shape.rank) {
        ft__build_fail(b->p->b, FT_EINVAL, 0, "--input %.*s: it has %u dimensions",
                       shown(v->name), v->name.s, v->shape.rank);
        return;
    }
    for (uint32_t k = 0; k < given->rank; k++) {
        ft__pt2_symbol *s = symbol_at(b->p, v, k);

        snprintf(text, sizeof(text), "--input %.*s, dimension %u", shown(v->name),
                 v->name.s, k);
        if (s)
            bind_symbol(b, s, given->dim[k], text);
        else if (v->shape.dim[k] >= 0 && v->shape.dim[k] != given->dim[k])
            ft__build_fail(b->p->b, FT_EINVAL, 0,
                           "%s: the file fixes it at %lld; export it with this "
                           "dimension open",
                           text, (long long)v->shape.dim[k]);
    }
}

/* Without a name the only input is meant. */
static bool is_meant(const ft__pt2 *p, const ft_input_shape *given,
                     const ft__pt2_value *v)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_inputs; i++)
        n += is_input(&p->input[i]);
    return *given->name ? ft__text_is(v->name, given->name, strlen(given->name))
                        : n == 1;
}

/* Names of the inputs, as many as there is room for. */
static void list_inputs(const ft__pt2 *p, char *text, size_t size)
{
    size_t n = 0;

    *text = '\0';
    for (uint32_t i = 0; i < p->n_inputs && n + 100 < size; i++) {
        const ft__pt2_value *v = p->input[i].value;

        if (is_input(&p->input[i]))
            n += (size_t)snprintf(text + n, size - n, "%s\"%.*s\"", n ? ", " : "",
                                  shown(v->name), v->name.s);
    }
}

static void check_names(struct symbol_binding *b)
{
    const ft_import_options *opt = &b->p->opt;

    for (size_t i = 0; i < opt->n_inputs; i++) {
        char all[600];
        bool found = false;

        for (uint32_t k = 0; k < b->p->n_inputs && !found; k++)
            found = is_input(&b->p->input[k]) &&
                    is_meant(b->p, &opt->inputs[i], b->p->input[k].value);
        if (found)
            continue;
        list_inputs(b->p, all, sizeof(all));
        if (*opt->inputs[i].name)
            ft__build_fail(b->p->b, FT_EINVAL, 0,
                           "--input %.80s: the model has no such input, but %s",
                           opt->inputs[i].name, all);
        else
            ft__build_fail(b->p->b, FT_EINVAL, 0,
                           "--input: the model has several inputs, say NAME=SHAPE: %s",
                           all);
    }
}

static void apply_given(struct symbol_binding *b, const ft__pt2_value *v)
{
    const ft_import_options *opt = &b->p->opt;

    for (size_t i = 0; i < opt->n_inputs; i++)
        if (is_meant(b->p, &opt->inputs[i], v))
            apply_shape(b, v, &opt->inputs[i].shape);
    for (uint32_t k = 0; k < v->shape.rank; k++) {
        ft__pt2_symbol *s = symbol_at(b->p, v, k);

        if (s)
            apply_dims(b, v, k, s);
    }
}

/* Symbols of the inputs that no flag has set: the batch is 1, others stop. */
static void apply_defaults(struct symbol_binding *b, const ft__pt2_value *v)
{
    ft__pt2 *p = b->p;

    for (uint32_t k = 0; k < v->shape.rank && !ft__build_failed(p->b); k++) {
        ft__pt2_symbol *s = symbol_at(p, v, k);
        bool batch = s && !s->data && is_batch(p, s);

        if (batch) {
            if (s->bound && p->opt.batch && s->value != p->opt.batch)
                ft__build_fail(p->b, FT_EINVAL, 0,
                               "--batch %lld: another flag sets it to %lld",
                               (long long)p->opt.batch, (long long)s->value);
            if (!s->bound && !p->opt.batch && !b->open_batch)
                ft__build_assume(
                    p->b, "batch 1 (the model leaves it open; --batch N sets it)");
            b->open_batch = true;
            if (!s->bound)
                bind_symbol(b, s, p->opt.batch ? p->opt.batch : 1, "--batch");
        } else if (s && !s->bound && !s->data) {
            ft__build_fail(p->b, FT_ENEEDED, 0,
                           "dimension %u of input \"%.*s\" is open: add --dim "
                           "%.*s.%u=N",
                           k, shown(v->name), v->name.s, shown(v->name), v->name.s, k);
        }
    }
}

static void define_input(ft__pt2 *p, ft__pt2_value *v)
{
    if (v->state != FT__PT2_UNDEFINED) {
        ft__build_fail(p->b, FT_EFORMAT, 0, "\"%.*s\" is made twice", shown(v->name),
                       v->name.s);
        return;
    }
    if (!ft__pt2_resolve(p, v, 1))
        return;
    ft__pt2_batch_input(p, v);
    v->state = FT__PT2_ACTIVATION;
    v->tensor = ft__build_tensor(p->b, v->name.s, v->name.n, FT_ROLE_INPUT, v->dtype,
                                 &v->shape);
    ft__build_open(p->b, v->tensor, v->open);
}

/* Some input has exactly the batch asked for. */
static bool has_batch(const ft__pt2 *p)
{
    for (uint32_t i = 0; i < p->n_inputs; i++)
        if (is_input(&p->input[i]) && p->input[i].value->shape.rank &&
            p->input[i].value->shape.dim[0] == p->opt.batch)
            return true;
    return false;
}

static void check_options(struct symbol_binding *b)
{
    const ft_import_options *opt = &b->p->opt;
    const ft__pt2_value *v = b->first;
    bool fixed =
        opt->batch && !b->open_batch && !has_batch(b->p) && !b->p->fixed_batch && v;
    ft__dim_names there = {.n = 0};

    for (uint32_t i = 0; i < b->p->n_inputs; i++) {
        const ft__pt2_value *in = b->p->input[i].value;

        for (uint32_t k = 0; is_input(&b->p->input[i]) && k < in->shape.rank; k++)
            if (symbol_at(b->p, in, k)) {
                char name[96];

                snprintf(name, sizeof(name), "%.*s.%u", shown(in->name), in->name.s, k);
                ft__dim_names_add(&there, name, strlen(name));
            }
    }
    ft__options_are_used(
        b->p->b, opt, b->used, &there,
        fixed ? &(ft__fixed_batch){v->name.s, v->name.n, v->shape.dim[0]} : NULL);
}

/* The first dimension of an input; below 0: it is open, or an option says it. */
static int64_t first_dim(ft__pt2 *p, const ft__pt2_spec *s)
{
    if (!is_input(s))
        return 0;
    for (size_t i = 0; i < p->opt.n_inputs; i++)
        if (is_meant(p, &p->opt.inputs[i], s->value))
            return -1;
    return s->value->shape.rank ? s->value->shape.dim[0] : 0;
}

static void unfix_batch(ft__pt2 *p)
{
    int64_t *first = ft__pt2_alloc(p, p->n_inputs, sizeof(*first));

    for (uint32_t i = 0; first && i < p->n_inputs; i++)
        first[i] = first_dim(p, &p->input[i]);
    if (first)
        p->fixed_batch = ft__batch_unfix(p->b, p->opt.batch, first, p->n_inputs);
}

/* Symbols by their own names: numbers that are inputs, and what depends on data. */
static void apply_names(struct symbol_binding *b)
{
    const ft_import_options *opt = &b->p->opt;

    for (size_t i = 0; i < opt->n_dims; i++) {
        const char *name = opt->dims[i].name;
        ft__table_slot *slot =
            ft__table_at(&b->p->symbols, &b->p->arena, name, strlen(name));

        if (!slot || !slot->value)
            continue;
        b->used[i] = true;
        bind_symbol(b, slot->value, opt->dims[i].value, name);
    }
}

/* Those of every size, so that a flag can name them. */
static void find_symbols(ft__pt2 *p)
{
    ft__pt2_symbol *open;
    bool data;

    for (uint32_t i = 0; i < p->n_exprs && !ft__build_failed(p->b); i++)
        (void)ft__pt2_value_of(p, -1 - (int64_t)i, &data, &open);
}

static void define_inputs(ft__pt2 *p)
{
    struct symbol_binding b = {.p = p};

    if (!ft__options_are_sizes(p->b, &p->opt))
        return;
    b.used = ft__pt2_alloc(p, p->opt.n_dims, sizeof(*b.used));
    if (!b.used)
        return;
    find_symbols(p);
    apply_names(&b);
    check_names(&b);
    for (uint32_t i = 0; i < p->n_inputs; i++)
        if (is_input(&p->input[i])) {
            apply_given(&b, p->input[i].value);
            if (!b.first && p->input[i].value->shape.rank)
                b.first = p->input[i].value;
        }
    for (uint32_t i = 0; i < p->n_inputs && !ft__build_failed(p->b); i++)
        if (is_input(&p->input[i]))
            apply_defaults(&b, p->input[i].value);
    if (!ft__build_failed(p->b))
        unfix_batch(p);
    if (!ft__build_failed(p->b))
        check_options(&b);
    for (uint32_t i = 0; i < p->n_inputs && !ft__build_failed(p->b); i++)
        if (is_input(&p->input[i]))
            define_input(p, p->input[i].value);
}

bool ft__pt2_read_program(ft__pt2 *p, ft__pt2_body *body)
{
    read_text(p, body);
    if (!ft__pt2_import_failed(p)) {
        define_weights(p);
        define_inputs(p);
    }
    return !ft__pt2_import_failed(p);
}

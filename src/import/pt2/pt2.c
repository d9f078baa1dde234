/* The model: its signature, its phases, its nodes in order, subgraphs. */
#include "import/pt2/pt2.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "import/graph_inside.h"
#include "import/pt2/zip.h"

static const ft__pt2_rule rules[] = {
#define FT__ATEN(run, arg, operators) {operators, ft__aten_##run, arg},
#include "import/pt2/aten.def"
#undef FT__ATEN
};

/* Whether a word is one of a list, in which spaces lie between them. */
static bool lists(const char *list, ft__text word)
{
    for (const char *end; *list; list = *end ? end + 1 : end) {
        end = list + strcspn(list, " ");
        if (ft__text_is(word, list, (size_t)(end - list)))
            return true;
    }
    return false;
}

static const ft__pt2_rule *search(ft__text op)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        if (lists(rules[i].operators, op))
            return &rules[i];
    return NULL;
}

/* Networks repeat themselves: most operators were looked for before. */
const ft__pt2_rule *ft__pt2_find_rule(ft__pt2 *p, ft__text op)
{
    static const ft__pt2_rule none = {0};
    ft__table_slot *s = ft__table_at(&p->operators, &p->arena, op.s, op.n);
    const ft__pt2_rule *rule = s ? s->value : NULL;

    if (!rule) {
        rule = search(op);
        rule = rule ? rule : &none;
        if (s) {
            s->value = (void *)(uintptr_t)rule;
            p->operators.n++;
        }
    }
    return rule->run ? rule : NULL;
}

/* ---- signature ---- */

/* {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}}. */
static void read_spec(ft__pt2 *p, ft__json *r, ft__pt2_spec *s)
{
    ft__text name, text;

    *s = (ft__pt2_spec){.kind = {"", 0}, .of = {"", 0}};
    if (!ft__json_object(r)) {
        ft__json_skip(r, NULL);
        return;
    }
    while (ft__json_member(r, &s->kind)) {
        if (!ft__json_object(r)) {
            ft__json_skip(r, NULL);
            continue;
        }
        while (ft__json_member(r, &name)) {
            ft__pt2_arg a = {0};

            if (FT__IS(name, "arg")) {
                ft__text slice;
                ft__json copy, inner;

                if (!ft__json_skip(r, &slice))
                    return;
                /* {"name": "x"}, or an Argument. */
                copy = inner = ft__json_open(&p->doc, slice);
                if (ft__json_object(&inner) && ft__json_member(&inner, &name) &&
                    FT__IS(name, "name") && ft__json_peek(&inner) == '"' &&
                    ft__json_string(&inner, &text))
                    s->value = ft__pt2_name(p, text);
                else if (!p->doc.why && ft__pt2_read_arg(p, &copy, &a) && a.n)
                    s->value = a.value[0];
            } else if (name.n > 5 && memcmp(name.s + name.n - 5, "_name", 5) == 0 &&
                       ft__json_peek(r) == '"') {
                ft__json_string(r, &s->of);
            } else {
                ft__json_skip(r, NULL);
            }
        }
    }
}

static void read_specs(ft__pt2 *p, ft__json *r, ft__pt2_spec **out, uint32_t *n)
{
    uint32_t cap = 0;

    if (!ft__json_array(r)) {
        ft__json_skip(r, NULL);
        return;
    }
    while (!ft__build_failed(p->b) && ft__json_element(r)) {
        if (*n == cap) {
            ft__pt2_spec *more =
                ft__pt2_alloc(p, cap ? 2 * (size_t)cap : 64, sizeof(*more));

            if (!more)
                return;
            if (*n)
                memcpy(more, *out, *n * sizeof(*more));
            *out = more;
            cap = cap ? 2 * cap : 64;
        }
        read_spec(p, r, &(*out)[(*n)++]);
    }
}

static void read_signature(ft__pt2 *p, ft__json *r)
{
    ft__text name;

    if (!ft__json_object(r)) {
        ft__json_skip(r, NULL);
        return;
    }
    while (!ft__build_failed(p->b) && ft__json_member(r, &name)) {
        if (FT__IS(name, "input_specs"))
            read_specs(p, r, &p->input, &p->n_inputs);
        else if (FT__IS(name, "output_specs"))
            read_specs(p, r, &p->output, &p->n_outputs);
        else
            ft__json_skip(r, NULL);
    }
}

/* {"s77": {"min_val": 2, "max_val": null}}. */
static void read_ranges(ft__pt2 *p, ft__json *r)
{
    ft__text name;

    if (!ft__json_object(r)) {
        ft__json_skip(r, NULL);
        return;
    }
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

static void read_program(ft__pt2 *p, ft__pt2_body *body)
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
        if (FT__IS(name, "range_constraints")) {
            read_ranges(p, &r);
        } else if (FT__IS(name, "graph_module") && ft__json_object(&r)) {
            while (!ft__build_failed(p->b) && ft__json_member(&r, &name)) {
                if (FT__IS(name, "graph") && !found) {
                    found = true;
                    ft__pt2_read_graph(p, &r, body);
                } else if (FT__IS(name, "signature")) {
                    read_signature(p, &r);
                } else {
                    ft__json_skip(&r, NULL);
                }
            }
        } else {
            ft__json_skip(&r, NULL);
        }
    }
    if (!ft__build_failed(p->b))
        ft__json_done(&r);
    if (!found && !p->doc.why)
        ft__build_fail(p->b, FT_EFORMAT, 0, "it holds no graph_module.graph");
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
            FT__IS(s->kind, "parameter") && ft__pt2_requires_grad(p, s->value);
        if (ft__pt2_resolve(p, s->value, 1))
            s->value->state = FT__PT2_WEIGHT;
        if (FT__IS(s->kind, "parameter"))
            name_parameter(p, s);
    }
}

/* ---- phases ---- */

static void want(ft__pt2_value *v)
{
    if (v)
        v->wanted = true;
}

static void want_operands(const ft__pt2_node *n)
{
    for (uint32_t i = 0; i < n->n_args; i++)
        for (uint32_t k = 0; k < n->arg[i].n; k++)
            want(n->arg[i].value[k]);
}

static bool is_view(const ft__pt2_node *n)
{
    return n->rule && (n->rule->run == ft__aten_view || n->rule->run == ft__aten_copy ||
                       n->rule->run == ft__aten_detach);
}

/* In a joint graph all that leads to no loss, result or buffer is backward. Views
 * of what will be a gradient are one as well. */
static void find_phases(ft__pt2 *p, ft__pt2_body *body)
{
    bool joint = false;

    for (uint32_t i = 0; i < p->n_outputs; i++) {
        const ft__pt2_spec *s = &p->output[i];
        const ft__table_slot *slot;

        if (FT__IS(s->kind, "gradient_to_parameter") ||
            FT__IS(s->kind, "gradient_to_user_input")) {
            joint = true;
            if (s->value && FT__IS(s->kind, "gradient_to_parameter")) {
                slot = ft__table_at(&p->parameters, &p->arena, s->of.s, s->of.n);
                s->value->gradient = slot ? slot->value : NULL;
            }
        } else {
            want(s->value);
        }
    }
    for (uint32_t i = body->n_nodes; joint && i-- > 0;) {
        ft__pt2_node *n = &body->node[i];
        bool wanted = false;

        for (uint32_t k = 0; k < n->n_out; k++)
            wanted |= n->out[k] && n->out[k]->wanted;
        n->backward = !wanted;
        if (wanted)
            want_operands(n);
        else if (is_view(n) && n->n_out && n->out[0] && n->out[0]->gradient &&
                 ft__pt2_in(n, 0))
            ft__pt2_in(n, 0)->gradient = n->out[0]->gradient;
    }
}

/* ---- nodes ---- */

/* Operands are made before, in the file's order, or never. */
static bool operands_are_there(const ft__pt2_node *n)
{
    for (uint32_t i = 0; i < n->n_args; i++) {
        const ft__pt2_arg *a = &n->arg[i];

        if (a->type != FT__PT2_TENSOR && a->type != FT__PT2_TENSORS)
            continue;
        for (uint32_t k = 0; k < a->n; k++) {
            const ft__pt2_value *v = a->value[k];

            if (!v || v->state != FT__PT2_UNDEFINED)
                continue;
            ft__pt2_fail(n, FT_EFORMAT, "it reads \"%.*s\", which nothing has made",
                         ft__shown(v->name.n, 100), v->name.s);
            return false;
        }
    }
    return true;
}

static int64_t largest_operand(const ft__pt2_node *n)
{
    int64_t most = 1;

    for (uint32_t i = 0; i < n->n_args; i++)
        for (uint32_t k = 0; k < n->arg[i].n; k++) {
            const ft__pt2_value *v = n->arg[i].value[k];
            int64_t elements = v && v->resolved ? ft_shape_elements(&v->shape) : 0;

            most = elements > most ? elements : most;
        }
    return most;
}

/* Shapes of the results are known before a rule runs. */
static bool results_are_known(const ft__pt2_node *n)
{
    for (uint32_t i = 0; i < n->n_out; i++) {
        ft__pt2_value *v = n->out[i];

        if (!v || !v->typed)
            continue; /* a number, a token, an object */
        if (v->state != FT__PT2_UNDEFINED) {
            ft__pt2_fail(n, FT_EFORMAT, "\"%.*s\" is made twice",
                         ft__shown(v->name.n, 100), v->name.s);
            return false;
        }
        if (!ft__pt2_resolve(n->import, v, largest_operand(n)))
            return false;
    }
    return true;
}

static bool makes_tensors(const ft__pt2_node *n)
{
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] && n->out[i]->typed)
            return true;
    return false;
}

/* What is made from parameters has a gradient. */
static void mark_learned(const ft__pt2_node *n)
{
    bool learned = false;

    for (uint32_t i = 0; i < n->n_args; i++)
        for (uint32_t k = 0; k < n->arg[i].n; k++) {
            const ft__pt2_value *v = n->arg[i].value[k];

            learned = learned || (v && (v->trainable || v->learned));
        }
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i])
            n->out[i]->learned = learned;
}

/* A result in place of an operand, which later nodes know by either name. */
static void write_over(ft__pt2 *p, ft__pt2_value *x, ft__pt2_value *out)
{
    if (ft__pt2_import_failed(p) || !x || !out || x->state != FT__PT2_ACTIVATION ||
        out->state != FT__PT2_ACTIVATION)
        return;
    ft__build_alias(p->b, out->tensor, x->tensor);
    x->tensor = out->tensor;
}

/* Most rules need a first operand and a first result; where these are missing the
 * generic rule takes over. */
static void run_rule(ft__pt2_node *n)
{
    static void (*const others[])(ft__pt2_node *) = {
        ft__aten_fill,      ft__aten_concat,         ft__aten_einsum,
        ft__aten_meshgrid,  ft__aten_cond,           ft__aten_inline,
        ft__aten_loop,      ft__aten_while,          ft__aten_conv_grad,
        ft__aten_norm_grad, ft__aten_batchnorm_grad, ft__aten_attention_grad,
        ft__aten_binary,    ft__aten_compare,        ft__aten_rsub,
        ft__aten_grid_grad, ft__aten_weight_norm};
    bool runs;

    n->x = ft__pt2_in(n, 0);
    n->y = ft__pt2_in(n, 1);
    runs = n->x && ft__pt2_out(n, 0);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        runs |= n->rule->run == others[i];
    if (runs)
        n->rule->run(n);
}

static void run_node(ft__pt2_node *n)
{
    /* Assertions, sizes as numbers and what is done with them: free. */
    if (!makes_tensors(n))
        return;
    if (!operands_are_there(n) || !results_are_known(n))
        return;
    mark_learned(n);
    ft__pt2_scope(n);
    ft__build_phase(n->import->b, n->backward ? FT_PHASE_BACKWARD : FT_PHASE_FORWARD);
    if (n->rule)
        run_rule(n);
    if (!ft__pt2_failed(n))
        ft__pt2_emit_generic(n); /* what no rule has made */
    if (n->in_place)
        write_over(n->import, ft__pt2_in(n, 0), ft__pt2_out(n, 0));
}

void ft__pt2_run(ft__pt2 *p, ft__pt2_body *body)
{
    for (uint32_t i = 0; i < body->n_nodes && !ft__pt2_import_failed(p); i++)
        run_node(&body->node[i]);
}

static void mark_outputs(ft__pt2 *p)
{
    for (uint32_t i = 0; i < p->n_outputs && !ft__pt2_import_failed(p); i++) {
        const ft__pt2_spec *s = &p->output[i];
        bool result = FT__IS(s->kind, "user_output") || FT__IS(s->kind, "loss_output");

        if (s->value && result && s->value->typed &&
            s->value->state != FT__PT2_UNDEFINED)
            ft__build_output(p->b, ft__pt2_graph_tensor(p, s->value));
        else if (s->value && s->value->typed && s->value->state == FT__PT2_UNDEFINED)
            ft__build_fail(p->b, FT_EFORMAT, 0, "nothing makes the output \"%.*s\"",
                           ft__shown(s->value->name.n, 100), s->value->name.s);
    }
}

static void import_text(ft__pt2 *p)
{
    ft__pt2_body body = {0};

    read_program(p, &body);
    if (ft__pt2_import_failed(p))
        return;
    define_weights(p);
    ft__pt2_inputs(p);
    find_phases(p, &body);
    ft__pt2_run(p, &body);
    mark_outputs(p);
}

ft_status ft__import_pt2_text(ft_graph **out, const char *text, size_t len,
                              const char *name, const ft_import_options *opt,
                              ft_error *err)
{
    ft__pt2 p = {.b = ft__build_new(name), .doc = {.base = text, .len = len}};
    ft_error inner = {0};
    ft_status st;

    *out = NULL;
    if (!p.b)
        return ft_fail(err, FT_ENOMEM, 0, "%s: out of memory", name);
    if (opt)
        p.opt = *opt;
    for (int i = 0; i < FT_DTYPE_COUNT; i++)
        p.scalar[i] = FT_NONE;
    import_text(&p);
    if (p.doc.why)
        ft__build_fail(p.b, FT_EFORMAT, p.doc.pos,
                       "its graph is no valid JSON: byte %zu: %s", p.doc.pos,
                       p.doc.why);
    ft__arena_free(&p.arena);
    st = ft__build_finish_take(out, p.b, &inner);
    return st ? ft_fail(err, st, inner.pos, "%s: %.900s", name, inner.msg) : FT_OK;
}

ft_status ft__import_pt2(ft_graph **out, const void *data, size_t len, const char *name,
                         const ft_import_options *opt, ft_error *err)
{
    const char *text;
    char *own;
    size_t n;
    ft_status st = ft__zip_graph(&text, &n, &own, data, len, name, err);

    *out = NULL;
    if (st == FT_OK)
        st = ft__import_pt2_text(out, text, n, name, opt, err);
    free(own);
    return st;
}

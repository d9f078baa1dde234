/* The model: each node in order, by the rule that its operator has; operators that hold
 * graphs, which are written out in place (a loop's body once, with the number of times
 * it runs where that is known); the phases of a joint graph. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/graph_inside.h"
#include "import/options.h"
#include "import/pt2/pt2.h"
#include "import/pt2/zip.h"

enum { MAX_SCOPE = 1000, MAX_GRAPHS = 2 };

/* The rule of a node that holds a graph goes through the nodes of that graph. */
static void find_rules(ft__pt2 *p, ft__pt2_body *body);
static void run_body(ft__pt2 *p, ft__pt2_body *body);

/* The graphs of a node, and all tensors that it gives them. */
struct graph_call {
    ft__text graph[MAX_GRAPHS]; /* {"name": "true_graph_0", "graph": {...}} */
    uint32_t n_graphs;
    ft__pt2_value **in;
    uint32_t n_in;
};

/* Operands stand behind the graphs; some operators wrap them in lists. */
static bool read_call(const ft__pt2_node *n, struct graph_call *c)
{
    uint32_t count = 0;

    *c = (struct graph_call){0};
    for (uint32_t i = 0; i < n->n_args; i++)
        count += n->arg[i].n;
    c->in = ft__pt2_alloc(n->import, count, sizeof(*c->in));
    for (uint32_t i = 0; c->in && i < n->n_args; i++) {
        const ft__pt2_arg *a = &n->arg[i];

        if (a->type == FT__PT2_GRAPH && c->n_graphs < MAX_GRAPHS)
            c->graph[c->n_graphs++] = a->text;
        for (uint32_t k = 0; c->n_graphs && k < a->n; k++)
            c->in[c->n_in++] = a->value[k];
    }
    return c->n_graphs > 0 && !ft__pt2_failed(n);
}

/* A graph's own names for what it is given. */
static void bind(ft__pt2 *p, const ft__pt2_body *body, ft__pt2_value *const *in,
                 uint32_t n_in)
{
    for (uint32_t i = 0; i < body->n_in && i < n_in; i++) {
        ft__pt2_value *inner = body->in[i], *outer = in[i];

        if (!inner || !outer || inner->state != FT__PT2_UNDEFINED)
            continue;
        if (!outer->typed) { /* a number */
            inner->number = outer->number;
            continue;
        }
        inner->tensor = ft__pt2_graph_tensor(p, outer);
        inner->state = outer->state;
        inner->of = outer->state == FT__PT2_WEIGHT ? outer : NULL;
        inner->dtype = outer->dtype;
        inner->shape = outer->shape;
        inner->filed = outer->filed;
        inner->batched = outer->batched;
        inner->axis = outer->axis;
        inner->inner = outer->inner;
        inner->typed = inner->resolved = true;
    }
}

/* The nodes of a graph; false: the import has failed. */
static bool write(const ft__pt2_node *n, ft__text graph, ft__pt2_value *const *in,
                  uint32_t n_in, ft__pt2_body *body)
{
    ft__name_table names = n->import->names;
    ft__pt2_value *newest = n->import->newest;
    ft__json r = ft__json_open(&n->import->doc, graph);

    *body = (ft__pt2_body){0};
    n->import->inlined += graph.n;
    if (++n->import->depth > FT__MAX_DEPTH || n->import->inlined > FT__MAX_INLINED) {
        ft__pt2_fail(n, "graphs inside it are nested too deep, or too "
                        "large");
    } else {
        n->import->names = (ft__name_table){0};
        n->import->newest = NULL;
        if (!ft__pt2_read_module(n->import, &r, body))
            ft__build_fail(n->import->b, FT_EFORMAT,
                           (uint64_t)(graph.s - n->import->doc.base),
                           "its graph is no JSON object");
        if (!ft__pt2_failed(n))
            bind(n->import, body, in, n_in);
        for (uint32_t i = 0; i < body->n_nodes; i++)
            body->node[i].backward = n->backward;
        find_rules(n->import, body);
        run_body(n->import, body);
        n->import->names = names;
        n->import->newest = newest;
    }
    n->import->depth--;
    return !ft__pt2_failed(n);
}

/* What a graph gives becomes what the node gives. */
static void hand_over(ft__pt2_node *n, const ft__pt2_body *body)
{
    for (uint32_t i = 0; i < n->n_out && i < body->n_out; i++) {
        ft__pt2_value *from = body->out[i], *to = n->out[i];

        if (from && to && to->typed && from->state != FT__PT2_UNDEFINED &&
            ft_shape_elements(&from->shape) == ft_shape_elements(&to->shape))
            ft__pt2_emit_view(n, from, to);
    }
}

/* Operators that only say how a graph is to run. */
static void aten_inline(ft__pt2_node *n)
{
    ft__pt2_body body;
    struct graph_call c;

    if (read_call(n, &c) && write(n, c.graph[0], c.in, c.n_in, &body))
        hand_over(n, &body);
}

struct graph_place {
    ft__build_mark mark;
    ft__pt2_value *lazy;
    uint32_t scalar[FT_DTYPE_COUNT];
};

static struct graph_place here(const ft__pt2 *p)
{
    struct graph_place at = {.mark = ft__build_here(p->b), .lazy = p->lazy};

    memcpy(at.scalar, p->scalar, sizeof(at.scalar));
    return at;
}

/* Constants that only what is gone had read are forgotten as well. */
static void take_back(ft__pt2 *p, const struct graph_place *at)
{
    for (; p->lazy != at->lazy; p->lazy = p->lazy->lazy)
        p->lazy->tensor = FT_NONE;
    memcpy(p->scalar, at->scalar, sizeof(at->scalar));
    ft__build_rollback(p->b, &at->mark);
}

static double cost_of(const ft__pt2_node *n, const struct graph_call *c,
                      uint32_t branch)
{
    struct graph_place start = here(n->import);
    double flops = 0, bytes = 0;
    ft__pt2_body body;

    if (write(n, c->graph[branch], c->in, c->n_in, &body))
        ft__build_cost(n->import->b, start.mark.n_nodes, &flops, &bytes);
    take_back(n->import, &start);
    return flops + bytes;
}

/* cond(predicate, true graph, false graph, operands): the costlier one counts. */
static void aten_cond(ft__pt2_node *n)
{
    ft__pt2_body body;
    struct graph_call c;
    uint32_t taken;

    if (!read_call(n, &c) || c.n_graphs != 2)
        return;
    taken = cost_of(n, &c, 1) > cost_of(n, &c, 0);
    ft__build_bounded(n->import->b, "cond (node %.*s), its dearer branch taken",
                      ft__shown(n->name.n, 200), n->name.s);
    if (write(n, c.graph[taken], c.in, c.n_in, &body))
        hand_over(n, &body);
}

/* while_loop(condition, body, carried, others): how often is not known. */
static void aten_while(ft__pt2_node *n)
{
    ft__pt2_body body;
    struct graph_call c;

    if (!read_call(n, &c) || c.n_graphs != 2 ||
        !write(n, c.graph[0], c.in, c.n_in, &body) ||
        !write(n, c.graph[1], c.in, c.n_in, &body))
        return;
    ft__build_bounded(n->import->b, "while_loop (node %.*s), counted as one round",
                      ft__shown(n->name.n, 200), n->name.s);
    hand_over(n, &body);
}

/* One element of what a loop runs over. */
static ft__pt2_value *element(const ft__pt2_node *n, ft__pt2_value *x)
{
    ft_shape s = x->shape;
    ft__pt2_value *v;
    ft_op op;

    s.rank--;
    memmove(s.dim, s.dim + 1, s.rank * sizeof(s.dim[0]));
    v = ft__pt2_temp(n, x, x->dtype, &s);
    op = ft__pt2_op(FT_KIND_slice, FT_DTYPE_NONE, x, NULL, v);
    if (v)
        ft__pt2_emit_to(n, &op, &x, 1, v);
    return v;
}

/* What every round gives, one behind the other. */
static void stack(const ft__pt2_node *n, ft__pt2_value *each, ft__pt2_value *out)
{
    ft_op op = ft__pt2_op(FT_KIND_expand, out->dtype, each, NULL, out);

    ft__pt2_emit_to(n, &op, &each, 1, out);
}

/* map(graph, xs, others) and scan(graph, initial, xs, others). arg: which argument xs
 * is; what was carried comes first among the results. */
static void aten_loop(ft__pt2_node *n)
{
    uint32_t list = (uint32_t)n->rule->arg;
    const ft__pt2_arg *xs = ft__pt2_arg_at(n, list);
    uint32_t carried = list > 1 && n->n_args > 1 ? n->arg[1].n : 0, at = carried;
    uint32_t first = ft__build_here(n->import->b).n_nodes;
    int64_t rounds;
    ft__pt2_body body;
    struct graph_call c;

    if (!xs || xs->type != FT__PT2_TENSORS || !xs->n || !xs->value[0] ||
        !xs->value[0]->shape.rank || !read_call(n, &c))
        return;
    rounds = xs->value[0]->shape.dim[0];
    for (uint32_t i = 0; i < xs->n && at < c.n_in && !ft__pt2_failed(n); i++, at++)
        if (c.in[at] && c.in[at]->typed && c.in[at]->shape.rank)
            c.in[at] = element(n, c.in[at]);
    if (rounds < 1 || ft__pt2_failed(n) || !write(n, c.graph[0], c.in, c.n_in, &body))
        return;
    ft__build_repeat_from(n->import->b, first, (uint64_t)rounds);
    for (uint32_t i = 0; i < n->n_out && i < body.n_out; i++) {
        ft__pt2_value *from = body.out[i], *to = n->out[i];

        if (!from || !to || !to->typed || from->state == FT__PT2_UNDEFINED)
            continue;
        if (i < carried)
            ft__pt2_emit_view(n, from, to);
        else
            stack(n, from, to);
    }
}

static const ft__pt2_rule graph_rules[] = {
    {"higher_order.cond", aten_cond, 0, FT__PT2_ANY},
    {"higher_order.hints_wrapper higher_order.invoke_subgraph "
     "higher_order.strict_mode higher_order.tag_activation_checkpoint "
     "higher_order.wrap higher_order.wrap_with_autocast "
     "higher_order.wrap_with_set_grad_enabled",
     aten_inline, 0, FT__PT2_ANY},
    {"higher_order.map higher_order.map_impl", aten_loop, 1, FT__PT2_ANY},
    {"higher_order.scan", aten_loop, 2, FT__PT2_ANY},
    {"higher_order.while_loop", aten_while, 0, FT__PT2_ANY},
    {NULL, NULL, 0, 0},
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
    static const ft__pt2_rule *const tables[] = {
        ft__pt2_loss_rules,  ft__pt2_math_rules,   ft__pt2_move_rules,
        ft__pt2_layer_rules, ft__pt2_window_rules, graph_rules};

    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        for (const ft__pt2_rule *rule = tables[i]; rule->operators; rule++)
            if (lists(rule->operators, op))
                return rule;
    return NULL;
}

/* Networks repeat themselves: most operators were looked for before. */
static const ft__pt2_rule *rule_of(ft__pt2 *p, ft__text op)
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

/* An operator in place, which ends in _, has the rule of the one it is named after. */
static void find_rules(ft__pt2 *p, ft__pt2_body *body)
{
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        ft__pt2_node *n = &body->node[i];

        n->rule = rule_of(p, n->op);
        if (!n->rule && n->op.n > 1 && n->op.s[n->op.n - 1] == '_') {
            n->rule = rule_of(p, (ft__text){n->op.s, n->op.n - 1});
            n->in_place = n->rule != NULL;
        }
    }
}

/* Cut the text at the first `c`, which is dropped; what stood before it. */
static ft__text until(ft__text *t, char c)
{
    const char *at = t->n ? memchr(t->s, c, t->n) : NULL;
    ft__text head = *t;

    if (!at) {
        *t = (ft__text){"", 0};
        return head;
    }
    head.n = (size_t)(at - t->s);
    *t = (ft__text){at + 1, t->n - head.n - 1};
    return head;
}

/* "L__self__,,Net;L__self__layer1,layer1,Sequential;L__self__layer1.0@1,..." ->
 * "layer1/layer1.0@1": the first field names the call, @ counts those of one
 * module. The network itself is no call. */
static void set_scope(const ft__pt2_node *n)
{
    static const char self[] = "L__self__";
    char scope[MAX_SCOPE];
    ft__text rest = n->modules;
    size_t len = 0;

    until(&rest, ';');
    while (rest.n) {
        ft__text entry = until(&rest, ';'), call = until(&entry, ',');
        size_t skip = sizeof(self) - 1;

        if (call.n > skip && memcmp(call.s, self, skip) == 0)
            call = (ft__text){call.s + skip, call.n - skip};
        if (call.n == 0 || len + call.n + 1 > sizeof(scope))
            break;
        if (len)
            scope[len++] = '/';
        memcpy(scope + len, call.s, call.n);
        len += call.n;
    }
    ft__build_scope(n->import->b, scope, len);
}

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
            ft__pt2_fail(n, "it reads \"%.*s\", which nothing has made",
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
            ft__pt2_fail(n, "\"%.*s\" is made twice", ft__shown(v->name.n, 100),
                         v->name.s);
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
    n->x = ft__pt2_in(n, 0);
    n->y = ft__pt2_in(n, 1);
    if (n->rule->traits & FT__PT2_ANY || (n->x && ft__pt2_out(n, 0)))
        n->rule->run(n);
}

static void run_node(ft__pt2_node *n)
{
    /* Assertions, sizes as numbers and what is done with them: free. */
    if (!makes_tensors(n))
        return;
    if (!operands_are_there(n) || !results_are_known(n))
        return;
    ft__pt2_carry_batch(n);
    mark_learned(n);
    set_scope(n);
    ft__build_phase(n->import->b, n->backward ? FT_PHASE_BACKWARD : FT_PHASE_FORWARD);
    if (n->rule)
        run_rule(n);
    if (!ft__pt2_failed(n))
        ft__pt2_emit_generic(n); /* what no rule has made */
    if (n->in_place)
        write_over(n->import, ft__pt2_in(n, 0), ft__pt2_out(n, 0));
}

static void run_body(ft__pt2 *p, ft__pt2_body *body)
{
    for (uint32_t i = 0; i < body->n_nodes && !ft__pt2_import_failed(p); i++)
        run_node(&body->node[i]);
}

static bool is_view(const ft__pt2_node *n)
{
    return n->rule && n->rule->traits & FT__PT2_VIEW;
}

/* In a joint graph all behind what makes the last loss, result or buffer is backward.
 * Views of what will be a gradient are one as well. */
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
            if (s->value)
                s->value->wanted = true;
        }
    }
    for (uint32_t i = body->n_nodes; joint && i-- > 0;) {
        ft__pt2_node *n = &body->node[i];

        for (uint32_t k = 0; k < n->n_out; k++)
            if (n->out[k] && n->out[k]->wanted)
                return;
        n->backward = true;
        if (is_view(n) && n->n_out && n->out[0] && n->out[0]->gradient &&
            ft__pt2_in(n, 0))
            ft__pt2_in(n, 0)->gradient = n->out[0]->gradient;
    }
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

    if (!ft__pt2_read_program(p, &body))
        return;
    find_rules(p, &body);
    find_phases(p, &body);
    run_body(p, &body);
    mark_outputs(p);
}

/* A program's text, and how it is imported. */
struct program {
    ft__text text;
    ft_import_options opt;
};

static ft_status import(ft_graph **out, const struct program *f, int64_t batch,
                        int64_t *fixed, const char *name, ft_error *err)
{
    ft__pt2 p = {.b = ft__build_new(name),
                 .doc = {.base = f->text.s, .len = f->text.n},
                 .opt = f->opt};
    ft_error inner = {0};
    ft_status st;

    *out = NULL;
    if (!p.b)
        return ft_fail(err, FT_ENOMEM, 0, "%s: out of memory", name);
    p.opt.batch = batch;
    for (int i = 0; i < FT_DTYPE_COUNT; i++)
        p.scalar[i] = FT_NONE;
    import_text(&p);
    *fixed = p.fixed_batch;
    if (p.doc.why)
        ft__build_fail(p.b, FT_EFORMAT, p.doc.pos,
                       "its graph is no valid JSON: byte %zu: %s", p.doc.pos,
                       p.doc.why);
    ft__arena_free(&p.arena);
    st = ft__build_finish_take(out, p.b, &inner);
    return st ? ft_fail(err, st, inner.pos, "%s: %.900s", name, inner.msg) : FT_OK;
}

static ft_status import_at(ft_graph **out, const void *file, int64_t batch,
                           const char *name, ft_error *err)
{
    return import(out, file, batch, &(int64_t){0}, name, err);
}

ft_status ft__import_pt2_text(ft_graph **out, const char *text, size_t len,
                              const char *name, const ft_import_options *opt,
                              ft_error *err)
{
    struct program f = {.text = {text, len}};
    ft_error inner = {0};
    int64_t fixed = 0;
    ft_status st;

    if (opt)
        f.opt = *opt;
    st = import(out, &f, f.opt.batch, &fixed, name, &inner);
    return ft__batch_settle(
        out, st, &inner,
        &(ft__batch_file){import_at, &f, name, f.opt.batch, fixed, true}, err);
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

/* Bodies of nodes, written out in place; branches. */
#include "base/limits.h"
#include "import/onnx/onnx.h"

bool ft__onnx_go_deeper(const ft__onnx_node *n)
{
    if (++n->import->depth <= FT__MAX_DEPTH)
        return true;
    return ft__onnx_fail(n, "branches and functions are nested more than %d deep",
                         FT__MAX_DEPTH);
}

/* Bodies name their inputs in field 11; `arg` is what they mean now. */
static void bind_inputs(ft__onnx *o, ft__bytes graph, ft__onnx_value *const *arg,
                        uint32_t n)
{
    uint32_t i = 0;

    for (ft__onnx_pb f = ft__pb_open(&o->doc, graph); ft__pb_next(&f);) {
        ft__str name = {"", 0};

        if (f.field != 11)
            continue;
        for (ft__onnx_pb v = ft__pb_open(&o->doc, f.bytes); ft__pb_next(&v);)
            if (v.field == 1)
                name = ft__str_of(v.bytes);
        if (i < n && arg[i])
            ft__onnx_bind(o, name, arg[i]);
        else
            ft__onnx_hide(o, name);
        i++;
    }
}

bool ft__inline(const ft__onnx_node *n, ft__bytes graph, uint64_t salt,
                ft__onnx_value *const *arg, uint32_t n_arg, ft__body *out)
{
    uint64_t scope = n->import->scope;

    *out = (ft__body){0};
    if (ft__onnx_go_deeper(n)) {
        n->import->scope = ft__scope_inside(n, salt);
        bind_inputs(n->import, graph, arg, n_arg);
        ft__onnx_read_graph(n->import, graph, true, out);
        if (!ft__failed(n) && !n->import->doc.bad)
            ft__onnx_run(n->import, out);
        n->import->scope = scope;
    }
    n->import->depth--;
    return !ft__failed(n) && !n->import->doc.bad;
}

void ft__onnx_hand_over(ft__onnx_node *n, const ft__body *body)
{
    for (uint32_t i = 0; i < n->n_out && !ft__failed(n); i++) {
        ft__onnx_value *v = i < body->n_out ? body->out[i] : NULL;

        if (!n->out[i])
            continue;
        if (!v || v->state == FT__UNDEFINED)
            ft__onnx_fail(n, "its body does not make result %u", i + 1);
        else
            ft__emit_view(n, v, n->out[i], &v->shape);
    }
}

/* ---- what was written may be taken back ---- */

ft__onnx_place ft__here(const ft__onnx *o)
{
    return (ft__onnx_place){ft__build_here(o->b), o->lazy};
}

void ft__take_back(ft__onnx *o, const ft__onnx_place *p)
{
    /* Constants that only what is gone had read. */
    for (; o->lazy != p->lazy; o->lazy = o->lazy->next) {
        ft__onnx_value *v = o->lazy->value;

        v->tensor = FT_NONE;
        if (v->memory != FT_NONE && v->memory >= p->mark.n_tensors)
            v->memory = FT_NONE;
        if (v->root && v->root->memory != FT_NONE &&
            v->root->memory >= p->mark.n_tensors)
            v->root->memory = FT_NONE;
    }
    ft__build_rollback(o->b, &p->mark);
}

/* ---- If ---- */

struct branch {
    ft__bytes graph;
    ft__body body;
    double flops;
    double bytes;
    bool good;
};

static const char *const branch_names[] = {"then_branch", "else_branch"};

static void enter(const ft__onnx_node *n, struct branch *b, uint64_t salt)
{
    uint32_t first = ft__build_here(n->import->b).n_nodes;

    b->good = ft__inline(n, b->graph, salt, NULL, 0, &b->body);
    ft__build_cost(n->import->b, first, &b->flops, &b->bytes);
}

/* One that may turn out not to fit: then the other one counts. */
static void try_branch(const ft__onnx_node *n, struct branch *b, uint64_t salt)
{
    bool trying = n->import->trying;

    n->import->trying = true;
    enter(n, b, salt);
    n->import->trying = trying;
    n->import->gave_up = false;
}

static bool dearer(const struct branch *a, const struct branch *b)
{
    if (a->good != b->good)
        return a->good;
    return a->flops > b->flops || (a->flops == b->flops && a->bytes > b->bytes);
}

static bool results_differ(const ft__onnx_node *n, const struct branch *b)
{
    for (uint32_t i = 0; i < n->n_out; i++) {
        const ft__onnx_value *x = i < b[0].body.n_out ? b[0].body.out[i] : NULL,
                             *y = i < b[1].body.n_out ? b[1].body.out[i] : NULL;

        if (!x || !y || !ft_shape_equal(&x->shape, &y->shape))
            return true;
    }
    return false;
}

/* Both are written once, to see which one costs more: that one stays. */
static void take_dearer(ft__onnx_node *n, struct branch *b)
{
    ft__onnx_place start = ft__here(n->import);
    unsigned taken;

    n->import->weighed = true;
    try_branch(n, &b[0], 0);
    ft__take_back(n->import, &start);
    try_branch(n, &b[1], 1);
    taken = dearer(&b[1], &b[0]);
    if (b[0].good && b[1].good && results_differ(n, b)) {
        /* Its results are a guess, which the second import makes otherwise. */
        n->import->guesses++;
        for (uint32_t i = 0; i < n->n_out; i++)
            if (n->out[i])
                n->out[i]->guessed = true;
        taken ^= n->import->low;
    }
    if (!taken || !b[1].good) {
        ft__take_back(n->import, &start);
        enter(n, &b[taken], taken);
    }
    ft__build_bounded(n->import->b, "If (node %.*s), its dearer branch taken",
                      ft__shown(n->name.n, 200), n->name.s);
    if (b[taken].good)
        ft__onnx_hand_over(n, &b[taken].body);
}

void ft__rule_if(ft__onnx_node *n)
{
    const ft__num *condition = n->in[0]->guessed ? NULL : ft__data(n, n->in[0]);
    bool known = condition && ft_shape_elements(&n->in[0]->shape) == 1;
    struct branch b[2] = {0};
    unsigned taken = known && !condition->i;

    for (unsigned i = 0; i < 2; i++)
        if (!ft__attr_message(n, branch_names[i], 6, &b[i].graph)) {
            ft__onnx_fail(n, "it has no %s", branch_names[i]);
            return;
        }
    if (!known) {
        take_dearer(n, b);
        return;
    }
    enter(n, &b[taken], taken);
    if (b[taken].good)
        ft__onnx_hand_over(n, &b[taken].body);
}

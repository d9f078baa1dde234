/* Branches and loops: nodes that hold graphs. A branch is written out in place; the
 * body of a loop stands once, with the number of times it runs. */
#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/onnx/compose.h"

struct place {
    ft__build_mark mark;
    ft__lazy *lazy;
};

static struct place here(const ft__onnx *o)
{
    return (struct place){ft__build_here(o->b), o->lazy};
}

static void take_back(ft__onnx *o, const struct place *p)
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

struct branch {
    ft__bytes graph;
    ft__body body;
    double flops, bytes;
    bool good;
};

static const char *const branch_names[] = {"then_branch", "else_branch"};

static void enter(const ft__onnx_node *n, struct branch *b, uint64_t salt)
{
    uint32_t first = ft__build_here(n->import->b).n_nodes;

    b->good = n->import->write_graph(n, b->graph, salt, NULL, 0, &b->body);
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
    struct place start = here(n->import);
    unsigned taken;

    n->import->weighed = true;
    try_branch(n, &b[0], 0);
    take_back(n->import, &start);
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
        take_back(n->import, &start);
        enter(n, &b[taken], taken);
    }
    ft__build_bounded(n->import->b, "If (node %.*s), its dearer branch taken",
                      ft__shown(n->name.n, 200), n->name.s);
    if (b[taken].good)
        ft__emit_results(n, &b[taken].body);
}

static void rule_if(ft__onnx_node *n)
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
        ft__emit_results(n, &b[taken].body);
}

/* What both have: a body that gets and gives `n_carried` values. */
struct body_loop {
    ft__bytes graph;
    ft__body body;
    ft__onnx_value **arg;   /* of the body; carried ones from `first` on */
    ft__onnx_value **start; /* what the carried ones are before the first round */
    uint32_t n_arg, first, n_carried;
    uint32_t given;  /* results of the body before the carried ones */
    int64_t trips;   /* as counted */
    bool exact;      /* and it is no guess */
    uint32_t begins; /* the first node of the body */
    uint64_t rounds; /* that the body was written for trial */
};

/* Something that a round gets, known by dtype and shape only. */
static ft__onnx_value *opaque(const ft__onnx_node *n, ft_dtype t, const ft_shape *s)
{
    ft__onnx_value *v = ft__onnx_temp(n, n->out[0]);
    ft_op op;

    ft__op_init(&op, FT_KIND_fill, t);
    ft__op_set_shape(&op, FT_K_out, s);
    if (v)
        ft__emit(n, &op, &(ft__onnx_call){.out = &v, .n_out = 1, .shape = s});
    return v;
}

/* A carried value inside: what it is before, but not known element by element. */
static ft__onnx_value *carried(const ft__onnx_node *n, ft__onnx_value *start,
                               const ft_shape *s)
{
    ft__onnx_value *v;

    if (start->container) {
        v = ft__onnx_temp(n, start);
        if (v) {
            ft__emit_view(n, start, v, &start->shape);
            v->empty = start->listed && !start->n_parts;
            v->listed = false;
        }
        return v;
    }
    if (start->state == FT__ACTIVATION && ft_shape_equal(&start->shape, s))
        return start;
    return opaque(n, start->dtype, s);
}

static bool write_body(ft__onnx_node *n, struct body_loop *l)
{
    l->begins = ft__build_here(n->import->b).n_nodes;
    if (!n->import->write_graph(n, l->graph, l->rounds++, l->arg, l->n_arg, &l->body))
        return false;
    for (uint32_t i = 0; i < l->given + l->n_carried; i++)
        if (i >= l->body.n_out || l->body.out[i]->state == FT__UNDEFINED)
            return ft__onnx_fail(n, "its body does not make result %u", i + 1);
    return true;
}

static bool set_carried(const ft__onnx_node *n, struct body_loop *l,
                        const ft_shape *shape)
{
    for (uint32_t i = 0; i < l->n_carried; i++) {
        l->arg[l->first + i] = carried(n, l->start[i], &shape[i]);
        if (!l->arg[l->first + i] || ft__failed(n))
            return false;
    }
    return true;
}

/* How much a carried value grows in a round; false: not by sizes alone. */
static bool growth(const ft_shape *before, const ft_shape *after, ft_shape *by)
{
    if (before->rank != after->rank)
        return false;
    *by = *before;
    for (uint32_t i = 0; i < before->rank; i++)
        by->dim[i] = after->dim[i] - before->dim[i];
    return true;
}

static bool grown(const ft_shape *start, const ft_shape *by, int64_t rounds,
                  ft_shape *out)
{
    *out = *start;
    for (uint32_t i = 0; i < start->rank; i++) {
        if (by->dim[i] &&
            rounds > FT__MAX_ELEMENTS / 2 / (by->dim[i] < 0 ? 1 : by->dim[i]))
            return false;
        out->dim[i] += rounds * by->dim[i];
    }
    return ft__shape_fits(out);
}

/* A list that grows from round to round is written for its last one: the shapes
 * there, where every value grows by as much each time. */
static bool last_round(const struct body_loop *l, ft_shape *shape)
{
    bool changed = false;

    for (uint32_t i = 0; i < l->n_carried; i++) {
        const ft__onnx_value *out = l->body.out[l->given + i];
        ft_shape by;

        shape[i] = l->start[i]->shape;
        if (l->start[i]->container || ft_shape_equal(&shape[i], &out->shape))
            continue;
        changed = true;
        if (!growth(&shape[i], &out->shape, &by) ||
            !grown(&l->start[i]->shape, &by, l->trips - 1, &shape[i]))
            return false;
    }
    return changed;
}

/* The body, for the first round, or for the last one where shapes grow. */
static bool write_round(ft__onnx_node *n, struct body_loop *l)
{
    ft_shape *shape = ft__onnx_alloc(n->import, l->n_carried, sizeof(*shape));
    struct place start = here(n->import);

    for (uint32_t i = 0; shape && i < l->n_carried; i++)
        shape[i] = l->start[i]->shape;
    if (!shape || !set_carried(n, l, shape) || !write_body(n, l))
        return false;
    if (!l->exact || l->trips < 2 || !last_round(l, shape))
        return true;
    take_back(n->import, &start);
    return set_carried(n, l, shape) && write_body(n, l);
}

/* The shape of a carried value behind the loop is a fact when it does not change,
 * or grows by as much in the last round as in all others. */
static bool settled(const struct body_loop *l, uint32_t i)
{
    const ft_shape *start = &l->start[i]->shape, *in = &l->arg[l->first + i]->shape,
                   *out = &l->body.out[l->given + i]->shape;
    ft_shape by, expected;

    if (ft_shape_equal(in, out) && ft_shape_equal(start, in))
        return true;
    return l->exact && growth(in, out, &by) && grown(start, &by, l->trips, &expected) &&
           ft_shape_equal(out, &expected);
}

static void give_carried(ft__onnx_node *n, struct body_loop *l)
{
    for (uint32_t i = 0; i < l->n_carried && i < n->n_out && !ft__failed(n); i++) {
        ft__onnx_value *v = l->body.out[l->given + i];
        bool fact = v->container || settled(l, i);

        if (!n->out[i])
            continue;
        if (!fact) {
            n->import->guesses++;
            n->out[i]->guessed = true;
            v = n->import->low ? l->start[i] : v;
        }
        if (v->container || v->state == FT__ACTIVATION) {
            ft__emit_view(n, v, n->out[i], &v->shape);
        } else {
            /* A constant that the last round gives; what it holds is not known. */
            ft_op op;

            ft__op_init(&op, FT_KIND_fill, v->dtype);
            ft__op_set_shape(&op, FT_K_out, &v->shape);
            ft__emit(
                n, &op,
                &(ft__onnx_call){.out = &n->out[i], .n_out = 1, .shape = &v->shape});
        }
        if (n->out[i]->container)
            n->out[i]->listed = false;
    }
}

/* What every round gives, one behind the other. */
static void stack(const ft__onnx_node *n, ft__onnx_value *each, ft__onnx_value *out,
                  const ft_shape *all, uint32_t open)
{
    ft_shape s = ft__guess(n->import, all, open);
    ft_op op;

    if (each->container) {
        ft__onnx_fail(n, "a result of every round is no tensor");
        return;
    }
    op = ft__op_xto(FT_KIND_expand, each, &s);
    ft__make_of(n, &op, FT__VALUES(each), &s, out);
    out->guessed |= open != 0;
    out->open |= open;
}

static void loop_condition(const ft__onnx_node *n, struct body_loop *l)
{
    const ft__num *c =
        ft__in(n, 1) && !n->in[1]->guessed ? ft__data(n, n->in[1]) : NULL;
    bool starts = !ft__in(n, 1) || (c && c->i), never = c && !c->i;
    ft_shape scalar = {0};

    l->arg[0] = opaque(n, FT_DTYPE_int64, &scalar);
    if (!starts) {
        l->arg[1] = opaque(n, FT_DTYPE_bool, &scalar);
        l->trips = never ? 0 : l->trips;
        l->exact = never;
        return;
    }
    l->arg[1] = ft__onnx_temp(n, n->out[0]);
    if (!l->arg[1])
        return;
    ft__define_constant(n, l->arg[1], FT_DTYPE_bool, &scalar);
    ft__fold_fill(n, l->arg[1], (ft__num){.i = 1}, (ft__num){0});
}

/* How often it runs: its operand, what the user says, or once. */
static void loop_count(const ft__onnx_node *n, struct body_loop *l)
{
    int64_t most;

    if (ft__in(n, 0) && !n->in[0]->guessed && ft__ints(n, n->in[0], &most, 1) == 1 &&
        most <= FT__MAX_TRIPS) {
        l->trips = most < 0 ? 0 : most;
        l->exact = true;
    } else if (n->import->opt.trips) {
        l->trips = n->import->opt.trips;
    } else {
        l->trips = 1;
    }
}

static void name_guess(const ft__onnx_node *n, const struct body_loop *l)
{
    const ft__str name = n->name.n || !n->out[0] ? n->name : n->out[0]->name;

    ft__build_bounded(n->import->b,
                      "%.*s (node %.*s), counted %lld time%s: how often it runs "
                      "depends on data (--trips N sets it)",
                      ft__shown(n->op.n, 40), n->op.s, ft__shown(name.n, 200), name.s,
                      (long long)l->trips, l->trips == 1 ? "" : "s");
}

/* Nothing runs: the carried values pass, the rest is empty. */
static void skip_loop(ft__onnx_node *n, struct body_loop *l, const struct place *p)
{
    uint32_t n_out = l->body.n_out - l->given;
    ft_shape *shape = ft__onnx_alloc(n->import, n_out, sizeof(*shape));
    ft_dtype *dtype = ft__onnx_alloc(n->import, n_out, sizeof(*dtype));

    for (uint32_t i = 0; shape && dtype && i < n_out; i++) {
        shape[i] = l->body.out[l->given + i]->shape;
        dtype[i] = l->body.out[l->given + i]->dtype;
    }
    take_back(n->import, p);
    for (uint32_t i = 0; shape && dtype && i < n->n_out && i < n_out; i++) {
        if (!n->out[i] || ft__failed(n))
            continue;
        if (i < l->n_carried) {
            ft__emit_view(n, l->start[i], n->out[i], &l->start[i]->shape);
            continue;
        }
        ft__insert_dim(n, &shape[i], 0, 0);
        if (!ft__failed(n))
            ft__define_constant(n, n->out[i], dtype[i], &shape[i]);
    }
}

static bool loop_goes_on(const ft__onnx_node *n, const struct body_loop *l)
{
    ft__onnx_value *v = l->body.out[0];
    const ft__num *c = v->guessed ? NULL : ft__data(n, v);

    return c && c->i && ft_shape_elements(&v->shape) == 1;
}

static bool read_loop(const ft__onnx_node *n, struct body_loop *l)
{
    *l = (struct body_loop){
        .first = 2, .given = 1, .n_carried = n->n_in > 2 ? n->n_in - 2 : 0};
    l->n_arg = 2 + l->n_carried;
    l->arg = ft__onnx_alloc(n->import, l->n_arg, sizeof(ft__onnx_value *));
    l->start = n->in + 2;
    if (!ft__attr_message(n, "body", 6, &l->graph))
        ft__onnx_fail(n, "it has no body");
    for (uint32_t i = 0; i < l->n_carried; i++)
        if (!l->start[i])
            ft__onnx_fail(n, "its operand %u is missing", i + 3);
    return l->arg && !ft__failed(n);
}

static void rule_loop(ft__onnx_node *n)
{
    struct place start = here(n->import);
    struct body_loop l;

    if (!read_loop(n, &l))
        return;
    loop_count(n, &l);
    loop_condition(n, &l);
    if (!write_round(n, &l))
        return;
    if (l.exact && l.trips == 0) {
        skip_loop(n, &l, &start);
        return;
    }
    l.exact = l.exact && loop_goes_on(n, &l);
    if (!l.exact)
        name_guess(n, &l);
    ft__build_repeat_from(n->import->b, l.begins, (uint64_t)l.trips);
    give_carried(n, &l);
    for (uint32_t i = l.n_carried; i < n->n_out && !ft__failed(n); i++) {
        ft__onnx_value *each =
            l.given + i < l.body.n_out ? l.body.out[l.given + i] : NULL;
        ft_shape s;

        if (!each || each->state == FT__UNDEFINED) {
            ft__onnx_fail(n, "its body does not make result %u", l.given + i + 1);
            return;
        }
        s = each->shape;
        ft__insert_dim(n, &s, 0, l.trips);
        if (n->out[i] && !ft__failed(n))
            stack(n, each, n->out[i], &s, l.exact ? 0 : 1u);
    }
}

struct scan {
    struct body_loop l;
    uint32_t n_scanned;
    ft__onnx_value **scanned;
    bool batched; /* opset 8: an axis before all others */
    int64_t batch, length;
};

static int64_t axis_of(const ft__onnx_node *n, const char *name, uint32_t i,
                       uint32_t rank, bool batched)
{
    int64_t axes[FT__MAX_PARTS], have;

    if (batched)
        return 1;
    have = ft__attr_ints(n, name, axes, FT__MAX_PARTS);
    return ft__axis(n, (int64_t)i < have && i < FT__MAX_PARTS ? axes[i] : 0, rank);
}

/* x without its first `lead` axes, or without axis `axis`: what a round gets. */
static ft__onnx_value *round_of(const ft__onnx_node *n, ft__onnx_value *x,
                                uint32_t from, uint32_t count)
{
    ft__onnx_value *cut = ft__onnx_temp(n, x), *v = ft__onnx_temp(n, x);
    ft_shape s = x->shape;
    ft_op op;

    if (!cut || !v)
        return NULL;
    for (uint32_t i = from; i < from + count; i++)
        s.dim[i] = 1;
    op = ft__op_xto(FT_KIND_slice, x, &s);
    ft__make_of(n, &op, FT__VALUES(x), NULL, cut);
    ft__drop_dim(&s, from, count);
    if (!ft__failed(n))
        ft__emit_view(n, cut, v, &s);
    return v;
}

static bool read_scan(const ft__onnx_node *n, struct scan *s)
{
    uint32_t skip;
    int64_t scanned = ft__attr_int(n, "num_scan_inputs", 0);

    *s = (struct scan){.batched = n->import->opset < 9, .batch = 1, .length = -1};
    skip = s->batched;
    if (scanned < 1 || scanned > (int64_t)n->n_in - skip)
        return ft__onnx_fail(n, "num_scan_inputs is not 1 to %u", n->n_in - skip);
    s->n_scanned = (uint32_t)scanned;
    s->l.n_carried = n->n_in - skip - s->n_scanned;
    s->l.n_arg = n->n_in - skip;
    s->l.start = ft__onnx_alloc(n->import, s->l.n_carried, sizeof(ft__onnx_value *));
    s->l.arg = ft__onnx_alloc(n->import, s->l.n_arg, sizeof(ft__onnx_value *));
    s->scanned = n->in + skip + s->l.n_carried;
    if (!ft__attr_message(n, "body", 6, &s->l.graph))
        ft__onnx_fail(n, "it has no body");
    for (uint32_t i = skip; i < n->n_in; i++)
        if (!n->in[i] || n->in[i]->container ||
            n->in[i]->shape.rank < (i < skip + s->l.n_carried ? skip : skip + 1u))
            ft__onnx_fail(n, "its operand %u has no axis to scan", i + 1);
    return s->l.start && s->l.arg && !ft__failed(n);
}

/* States and slices of the first round; false: failed. */
static bool enter_scan(const ft__onnx_node *n, struct scan *s)
{
    for (uint32_t i = 0; i < s->l.n_carried; i++) {
        ft__onnx_value *v = n->in[s->batched + i];

        s->batch = s->batched ? v->shape.dim[0] : 1;
        s->l.start[i] = s->batched ? round_of(n, v, 0, 1) : v;
        if (!s->l.start[i])
            return false;
    }
    for (uint32_t i = 0; i < s->n_scanned; i++) {
        ft__onnx_value *x = s->scanned[i];
        uint32_t axis =
            (uint32_t)axis_of(n, "scan_input_axes", i, x->shape.rank, s->batched);

        if (ft__failed(n))
            return false;
        s->batch = s->batched ? x->shape.dim[0] : 1;
        if (s->length >= 0 && s->length != x->shape.dim[axis])
            ft__onnx_fail(n, "its operands differ in length");
        s->length = x->shape.dim[axis];
        s->l.arg[s->l.n_carried + i] =
            s->batched ? round_of(n, x, 0, 2) : round_of(n, x, axis, 1);
        if (!s->l.arg[s->l.n_carried + i] || ft__failed(n))
            return false;
    }
    s->l.trips = s->length;
    s->l.exact = true;
    return true;
}

/* Result i of the body as result i of the node. */
static void give_scanned(ft__onnx_node *n, struct scan *s, uint32_t i)
{
    ft__onnx_value *each = i < s->l.body.n_out ? s->l.body.out[i] : NULL;
    bool state = i < s->l.n_carried;
    ft_shape all;
    uint32_t at = 0;

    if (!each || each->state == FT__UNDEFINED) {
        ft__onnx_fail(n, "its body does not make result %u", i + 1);
        return;
    }
    all = each->shape;
    if (!state) {
        if (!s->batched)
            at = (uint32_t)axis_of(n, "scan_output_axes", i - s->l.n_carried,
                                   all.rank + 1, false);
        if (!ft__failed(n))
            ft__insert_dim(n, &all, at, s->length);
    }
    if (s->batched && !ft__failed(n))
        ft__insert_dim(n, &all, 0, s->batch);
    if (!ft__failed(n) && n->out[i])
        stack(n, each, n->out[i], &all, 0);
}

static void rule_scan(ft__onnx_node *n)
{
    uint32_t first = ft__build_here(n->import->b).n_nodes;
    struct scan s;

    if (!read_scan(n, &s) || !enter_scan(n, &s) || !write_round(n, &s.l))
        return;
    if (s.length > FT__MAX_ELEMENTS / (s.batch > 1 ? s.batch : 1))
        ft__onnx_fail(n, "it runs too often");
    else
        ft__build_repeat_from(n->import->b, first, (uint64_t)(s.length * s.batch));
    if (!s.batched)
        give_carried(n, &s.l);
    for (uint32_t i = s.batched ? 0 : s.l.n_carried; i < n->n_out && !ft__failed(n);
         i++)
        give_scanned(n, &s, i);
}

static const ft__operator_rule rules[] = {
    {"If", rule_if, 0, 1, FT__BODY},
    {"Loop", rule_loop, 0, 0, FT__BODY},
    {"Scan", rule_scan, 0, 0, FT__BODY},
};

const ft__rule_table ft__rules_control = {rules, sizeof(rules) / sizeof(*rules)};

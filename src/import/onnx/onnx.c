/* The model: its parts, its nodes in order, graphs and functions written out in place
 * of nodes, and which dimensions of the result rest on a guess. */
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "import/graph_inside.h"
#include "import/onnx/compose.h"
#include "import/options.h"

enum {
    MODEL_IR_VERSION = 1,
    MODEL_GRAPH = 7,
    MODEL_OPSET = 8,
    MODEL_FUNCTION = 25,
    FUNCTION_OPSET = 9,
    OLDEST_OPSET = 1,
    FIRST_BYTES = 24 * 1024, /* of the arena: enough for small models */
    MODERN_OPSET = 7,        /* from here on operators are as the rules know them */
    NO_OPSET = 1 << 20,      /* nothing stated: taken to be the newest */
};

static int64_t default_opset(ft__onnx *o, ft__bytes message, uint32_t field,
                             int64_t fallback)
{
    int64_t opset = fallback;

    for (ft__onnx_pb f = ft__pb_open(&o->doc, message); ft__pb_next(&f);) {
        ft__str domain = {"", 0};
        int64_t version = fallback;

        if (f.field != field)
            continue;
        for (ft__onnx_pb s = ft__pb_open(&o->doc, f.bytes); ft__pb_next(&s);) {
            if (s.field == 1)
                domain = ft__str_of(s.bytes);
            else if (s.field == 2)
                version = (int64_t)s.num;
        }
        if (domain.n == 0 || ft__str_is(domain, "ai.onnx"))
            opset = version;
    }
    return opset;
}

static int compare_names(ft__str a, ft__str b)
{
    int c = memcmp(a.s, b.s, a.n < b.n ? a.n : b.n);

    return c ? c : (a.n > b.n) - (a.n < b.n);
}

static int compare_functions(const void *a, const void *b)
{
    const ft__function *f = a, *g = b;
    int c = compare_names(f->name, g->name);

    return c ? c : compare_names(f->domain, g->domain);
}

static const ft__function *find_function(const ft__onnx_node *n)
{
    ft__function like = {.name = n->op, .domain = n->domain};

    if (!n->import->n_functions)
        return NULL;
    return bsearch(&like, n->import->function, n->import->n_functions, sizeof(like),
                   compare_functions);
}

static uint64_t mixed(uint64_t a, uint64_t b)
{
    const uint64_t prime = 0x9fb21c651e98df25u;

    a = (a ^ b) * prime;
    return a ^ a >> 32;
}

/* The names of a function, branch or body are apart from those of others. */
static uint64_t scope_inside(const ft__onnx_node *n, uint64_t salt)
{
    uint64_t place = (uint64_t)((const uint8_t *)n->op.s - n->import->doc.base);

    return mixed(mixed(n->import->scope + 1, place), salt);
}

static bool go_deeper(const ft__onnx_node *n)
{
    if (++n->import->depth <= FT__MAX_DEPTH)
        return true;
    return ft__onnx_fail(n, "branches and functions are nested more than %d deep",
                         FT__MAX_DEPTH);
}

static bool calls_itself(const ft__onnx_node *n)
{
    for (const ft__onnx_node *c = n->caller; c; c = c->caller)
        if (!compare_names(c->op, n->op) && !compare_names(c->domain, n->domain))
            return true;
    return false;
}

/* The nodes of a body, folded, fused and emitted. */
static void run_body(ft__onnx *o, ft__body *body);

static void inline_body(ft__onnx_node *n, const ft__function *f)
{
    ft__body body;

    n->import->opset =
        default_opset(n->import, f->body, FUNCTION_OPSET, n->import->opset);
    n->import->scope = scope_inside(n, 0);
    n->import->caller = n;
    n->import->defaults = f->body;
    ft__onnx_read_body(n->import, f->body, n, true, &body);
    run_body(n->import, &body);
    ft__emit_results(n, &body);
}

/* A function has names and an opset of its own. */
static void inline_function(ft__onnx_node *n, const ft__function *f)
{
    ft__name_table outside = n->import->names;
    uint64_t scope = n->import->scope;
    int64_t opset = n->import->opset;
    const ft__onnx_node *caller = n->import->caller;
    ft__bytes defaults = n->import->defaults;

    if (calls_itself(n)) {
        ft__onnx_fail(n, "its function is recursive");
        return;
    }
    if (go_deeper(n)) {
        n->import->names = (ft__name_table){0};
        inline_body(n, f);
        n->import->names = outside;
        n->import->opset = opset;
        n->import->scope = scope;
        n->import->caller = caller;
        n->import->defaults = defaults;
    }
    n->import->depth--;
}

/* Operands are made before, in the file's order, or never. */
static bool operands_are_there(const ft__onnx_node *n)
{
    uint32_t need = n->rule ? n->rule->min_in : 0;

    for (uint32_t i = 0; i < n->n_in || i < need; i++) {
        const ft__onnx_value *v = ft__in(n, i);

        if (!v && i < need)
            return ft__onnx_fail(n, "its operand %u of %u is missing", i + 1, need);
        if (!v || v->state != FT__UNDEFINED)
            continue;
        ft__onnx_fail(n, "it reads \"%.*s\", which %s", ft__shown(v->name.n, 100),
                      v->name.s,
                      v->producer ? "is made only later: the nodes are out of order or "
                                    "form a cycle"
                                  : "nothing makes");
        return false;
    }
    return true;
}

static bool takes_its_operands(const ft__onnx_node *n)
{
    bool any = n->rule->traits & (FT__BODY | FT__CONTAINERS);

    for (uint32_t i = 0; i < n->n_in && !any; i++)
        if (n->in[i] && n->in[i]->container)
            return ft__onnx_fail(n, "its operand %u is no tensor", i + 1);
    return true;
}

/* Opsets 1 to 6: Add and its like matched the second operand with the axes from `axis`
 * on: as broadcasting is now, it has ones behind. */
static void align(ft__onnx_node *n)
{
    int64_t axis = ft__attr_int(n, "axis", -1);
    ft__onnx_value *x = ft__in(n, 0), *y = ft__in(n, 1), *aligned;
    ft_shape s;

    if (!x || !y || axis < 0 || !ft__attr_int(n, "broadcast", 0) ||
        axis >= (int64_t)x->shape.rank - (int64_t)y->shape.rank)
        return;
    s = y->shape;
    for (; axis + s.rank < x->shape.rank; s.rank++)
        s.dim[s.rank] = 1;
    aligned = ft__onnx_temp(n, y);
    if (!aligned)
        return;
    ft__emit_view(n, y, aligned, &s);
    n->in[1] = aligned;
}

/* A rule whose operand has a guessed shape may find that nothing fits; then its
 * result is a guess as well. */
static void run_rule(ft__onnx_node *n)
{
    bool guessed = false, before = n->import->trying, mine;

    for (uint32_t i = 0; i < n->n_in; i++)
        guessed |= n->in[i] && n->in[i]->guessed;
    mine = guessed && !(n->rule->traits & FT__BODY);
    n->import->trying = before || mine;
    if (n->import->opset < MODERN_OPSET && (n->rule->traits & FT__ALIGNED))
        align(n);
    if (takes_its_operands(n))
        n->rule->run(n);
    n->import->trying = before;
    if (n->import->gave_up && mine) {
        n->import->gave_up = false;
        ft__emit_unknown(n);
    }
    /* What a rule leaves open since an operand is missing or of an odd kind. */
    for (uint32_t i = 0; i < n->n_out && !ft__failed(n); i++)
        if (i == 0 && n->out[0]->state == FT__UNDEFINED)
            ft__emit_unknown(n);
        else if (n->out[i] && n->out[i]->state == FT__UNDEFINED)
            ft__emit_extra(n, i, FT_DTYPE_NONE, NULL);
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i])
            n->out[i]->guessed |= guessed;
}

static void run_node(ft__onnx_node *n)
{
    const ft__function *f;

    if (n->n_out == 0) {
        ft__onnx_fail(n, "it has no result");
        return;
    }
    if (!n->out[0])
        n->out[0] = ft__onnx_temp(n, NULL);
    if (!n->out[0] || !operands_are_there(n))
        return;
    if (n->rule)
        run_rule(n);
    else if ((f = find_function(n)) != NULL)
        inline_function(n, f);
    else
        ft__emit_unknown(n);
    n->done = true;
}

/* Not one that may have to run although its operands are constants: branches
 * and layers with parameters. */
static bool folds(const ft__onnx_node *n)
{
    bool constant = n->rule && (n->n_in > 0 || (n->rule->traits & FT__SOURCE)) &&
                    !(n->rule->traits & (FT__BODY | FT__LAYER));

    for (uint32_t i = 0; constant && i < n->n_in; i++)
        constant = !n->in[i] || n->in[i]->state == FT__CONSTANT;
    return constant;
}

static void run_body(ft__onnx *o, ft__body *body)
{
    /* Constants first: the chains that are fused are known by them. */
    for (uint32_t i = 0; i < body->n_nodes && !ft__onnx_failed(o); i++) {
        ft__onnx_node *n = &body->node[i];

        if (folds(n))
            run_node(n);
    }
    if (!o->see)
        ft__onnx_fuse(o, body);
    for (uint32_t i = 0; i < body->n_nodes && !ft__onnx_failed(o); i++)
        if (!body->node[i].done)
            run_node(&body->node[i]);
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

static bool write_graph(const ft__onnx_node *n, ft__bytes graph, uint64_t salt,
                        ft__onnx_value *const *arg, uint32_t n_arg, ft__body *out)
{
    uint64_t scope = n->import->scope;

    *out = (ft__body){0};
    if (go_deeper(n)) {
        n->import->scope = scope_inside(n, salt);
        bind_inputs(n->import, graph, arg, n_arg);
        ft__onnx_read_body(n->import, graph, NULL, true, out);
        if (!ft__failed(n) && !n->import->doc.bad)
            run_body(n->import, out);
        n->import->scope = scope;
    }
    n->import->depth--;
    return !ft__failed(n) && !n->import->doc.bad;
}

static void read_functions(ft__onnx *o, uint32_t count)
{
    o->function = ft__onnx_alloc(o, count, sizeof(*o->function));
    if (!o->function)
        return;
    for (ft__onnx_pb f = ft__pb_open(&o->doc, o->model); ft__pb_next(&f);) {
        ft__function *to = &o->function[o->n_functions];

        if (f.field != MODEL_FUNCTION)
            continue;
        to->body = f.bytes;
        to->name = to->domain = (ft__str){"", 0};
        for (ft__onnx_pb x = ft__pb_open(&o->doc, f.bytes); ft__pb_next(&x);) {
            if (x.field == 1)
                to->name = ft__str_of(x.bytes);
            else if (x.field == 10)
                to->domain = ft__str_of(x.bytes);
        }
        o->n_functions++;
    }
    qsort(o->function, o->n_functions, sizeof(*o->function), compare_functions);
}

static void mark_outputs(ft__onnx *o, const ft__body *body)
{
    for (uint32_t i = 0; i < body->n_out && !ft__build_failed(o->b); i++) {
        ft__onnx_value *v = body->out[i];
        uint32_t tensor;

        if (v->state == FT__UNDEFINED)
            ft__build_fail(o->b, FT_EFORMAT, 0, "output \"%.*s\" is made by nothing",
                           ft__shown(v->name.n, 100), v->name.s);
        if (ft__build_failed(o->b))
            return;
        tensor = ft__onnx_tensor(o, v);
        if (v->container && !ft__build_failed(o->b))
            ft__build_container(o->b, tensor, v->container);
        ft__build_output(o->b, tensor);
    }
}

/* The parts of the file; false: it is no model. */
static bool find_graph(ft__onnx *o, ft__bytes *graph, bool *versioned)
{
    uint32_t functions = 0;
    bool found = false;

    for (ft__onnx_pb f = ft__pb_open(&o->doc, o->model); ft__pb_next(&f);) {
        *versioned |= f.field == MODEL_IR_VERSION && f.wire == FT__PB_VARINT;
        functions += f.field == MODEL_FUNCTION;
        if (f.field == MODEL_GRAPH && f.wire == FT__PB_BYTES) {
            *graph = f.bytes;
            found = true;
        }
    }
    if (!o->doc.bad && functions)
        read_functions(o, functions);
    return found;
}

static void read_model(ft__onnx *o, bool *versioned)
{
    ft__bytes graph = {0};
    ft__body body;

    if (!find_graph(o, &graph, versioned)) {
        ft__build_fail(o->b, FT_EFORMAT, 0, "not an ONNX model: it holds no graph");
        return;
    }
    o->opset = default_opset(o, o->model, MODEL_OPSET, NO_OPSET);
    if (o->opset < OLDEST_OPSET) {
        ft__build_fail(o->b, FT_EUNSUPPORTED, 0,
                       "opset %lld is older than %d: convert the model to a newer one",
                       (long long)o->opset, OLDEST_OPSET);
        return;
    }
    ft__onnx_read_body(o, graph, NULL, false, &body);
    if (!ft__build_failed(o->b) && !o->doc.bad)
        ft__onnx_inputs(o, graph, body.n_in);
    if (!ft__build_failed(o->b) && !o->doc.bad)
        run_body(o, &body);
    if (!ft__build_failed(o->b) && !o->doc.bad && !o->low)
        mark_outputs(o, &body);
}

/* Which dimensions are facts and which rest on a guess.
 * Some results have as many elements as the data says: what is not zero, what
 * is left of overlapping boxes. The import takes the most there can be, and the
 * rest of the network follows from that, shapes computed from shapes included.
 * Where there was any such guess, the file is imported a second time with other
 * guesses, as low as can be; every dimension that comes out differently depends
 * on the data. No rule has to know about it. */
/* Values by scope and name; of two with the same the newer one. */
struct value_table {
    const ft__onnx_value **slot;
    uint64_t mask;
};

static bool same(const ft__onnx_value *a, const ft__onnx_value *b)
{
    return a->scope == b->scope && a->name.n == b->name.n &&
           memcmp(a->name.s, b->name.s, a->name.n) == 0;
}

static const ft__onnx_value **find(const struct value_table *t, const ft__onnx_value *v)
{
    uint64_t at = mixed(v->scope, ft__str_hash(v->name)) & t->mask;

    while (t->slot[at] && !same(t->slot[at], v))
        at = (at + 1) & t->mask;
    return &t->slot[at];
}

static bool fill(ft__onnx *high, const ft__onnx *low, struct value_table *t)
{
    uint64_t n = 0, size = 64;

    for (const ft__onnx_value *v = low->values; v; v = v->next)
        n++;
    while (size < 2 * n)
        size *= 2;
    t->slot = ft__onnx_alloc(high, size, sizeof(*t->slot));
    t->mask = size - 1;
    if (!t->slot)
        return false;
    for (const ft__onnx_value *v = low->values; v; v = v->next) {
        const ft__onnx_value **slot = find(t, v);

        if (!*slot)
            *slot = v;
    }
    return true;
}

static uint32_t difference(const ft__onnx_value *a, const ft__onnx_value *b)
{
    uint32_t open = 0;

    if (!b || b->state == FT__UNDEFINED)
        return a->guessed ? FT_OPEN_RANK : 0;
    if (a->shape.rank != b->shape.rank)
        return FT_OPEN_RANK;
    for (uint32_t i = 0; i < a->shape.rank; i++)
        open |= (uint32_t)(a->shape.dim[i] != b->shape.dim[i]) << i;
    return open;
}

/* Where no node reads what was guessed, that is all that is open; false: some does. */
static bool mark_unread(ft__onnx *o)
{
    for (const ft__onnx_value *v = o->values; v; v = v->next)
        if (v->guessed && (v->reader || !v->open))
            return false;
    for (const ft__onnx_value *v = o->values; v; v = v->next)
        if (v->open && v->tensor != FT_NONE)
            ft__build_open(o->b, v->tensor, v->open);
    return true;
}

/* `high` guessed the most, `low` the least: what differs is open. */
static void mark_open(ft__onnx *high, const ft__onnx *low)
{
    struct value_table t;

    if (!fill(high, low, &t))
        return;
    for (ft__onnx_value *v = high->values; v; v = v->next)
        if (v->state != FT__UNDEFINED) {
            v->open |= difference(v, *find(&t, v));
            if (v->open && v->tensor != FT_NONE)
                ft__build_open(high->b, v->tensor, v->open);
        }
}

/* Again with the least where the most was guessed; a failure there only means
 * that nothing more is known. */
static void find_open(ft__onnx *o)
{
    ft__onnx low = {
        .doc = {.base = o->doc.base, .len = o->doc.len, .mapped = o->doc.mapped},
        .model = o->model,
        .opt = o->opt,
        .b = ft__build_new(""),
        .write_graph = o->write_graph,
        .see = o->see,
        .sizes = o->sizes,
        .ranks = o->ranks,
        .low = true,
        .dry = !o->weighed};
    bool versioned = false;

    if (!low.b) {
        ft__build_fail(o->b, FT_ENOMEM, 0, "out of memory");
        return;
    }
    read_model(&low, &versioned);
    mark_open(o, &low);
    ft__arena_free(&low.arena);
    ft__build_free(low.b);
}

static ft_status import(ft__onnx *o, ft_graph **out, const char *name, ft_error *err)
{
    alignas(max_align_t) unsigned char first[FIRST_BYTES];
    bool versioned = false;
    ft_error inner;
    ft_status st;

    *out = NULL;
    inner.msg[0] = '\0';
    ft__arena_lend(&o->arena, first, sizeof(first));
    o->doc.base = o->model.p;
    o->doc.len = o->model.n;
    o->b = ft__build_new(name);
    if (!o->b)
        return ft_fail(err, FT_ENOMEM, 0, "%s: out of memory", name);
    o->write_graph = write_graph;
    if (o->model.n == 0)
        ft__build_fail(o->b, FT_EFORMAT, 0, "the file is empty");
    else
        read_model(o, &versioned);
    if (o->guesses && !ft__build_failed(o->b) && !o->doc.bad && !mark_unread(o))
        find_open(o);
    for (uint32_t i = 0; o->see && i < o->names.n_slots; i++)
        if (o->names.slot[i].value)
            o->see(o->user, o->names.slot[i].value);
    ft__arena_free(&o->arena);
    st = ft__build_finish_take(out, o->b, &inner);
    if (o->doc.bad) {
        ft_graph_free(*out);
        *out = NULL;
        return ft_fail(err, FT_EFORMAT, o->doc.pos, "%s: %s: %s (byte %zu)", name,
                       versioned ? "a damaged ONNX model" : "not an ONNX model",
                       o->doc.why, o->doc.pos);
    }
    return st ? ft_fail(err, st, inner.pos, "%s: %.400s", name, inner.msg) : FT_OK;
}

static ft_status import_at(ft_graph **out, const void *file, int64_t batch,
                           const char *name, ft_error *err)
{
    const ft__onnx *o = file;
    ft__onnx at = {.doc.mapped = o->doc.mapped, .model = o->model, .opt = o->opt};

    at.opt.batch = batch;
    return import(&at, out, name, err);
}

ft_status ft__import_onnx(ft_graph **out, const void *data, size_t len, bool mapped,
                          const char *name, const ft_import_options *opt, ft_error *err)
{
    ft__onnx o = {.doc.mapped = mapped, .model = {data, len}};
    ft_error inner = {0};
    ft_status st;

    if (opt)
        o.opt = *opt;
    st = import(&o, out, name, &inner);
    return ft__batch_settle(
        out, st, &inner,
        &(ft__batch_file){import_at, &o, name, o.opt.batch, o.fixed_batch, false}, err);
}

ft_status ft__onnx_import(ft_graph **out, const void *data, size_t len,
                          const char *name, const ft_import_options *opt, ft_error *err)
{
    return ft__import_onnx(out, data, len, false, name, opt, err);
}

ft_status ft__onnx_values(const void *data, size_t len, const char *name,
                          ft__see_fn *see, void *user, ft_error *err)
{
    ft__onnx o = {.model = {data, len}, .see = see, .user = user};
    ft_graph *g;
    ft_status st = import(&o, &g, name, err);

    ft_graph_free(g);
    return st;
}

/* The model: its parts, its nodes in order, branches and functions inlined. */
#include "import/onnx/onnx.h"
#include "import/graph_inside.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

enum {
    MODEL_IR_VERSION = 1,
    MODEL_GRAPH = 7,
    MODEL_OPSET = 8,
    MODEL_FUNCTION = 25,
    FUNCTION_OPSET = 9,
    OLDEST_OPSET = 1,
    FIRST_BYTES = 16 * 1024, /* of the arena: enough for small models */
    MODERN_OPSET = 7,        /* from here on operators are as the rules know them */
    NO_OPSET = 1 << 20,      /* nothing stated: taken to be the newest */
};

#define FT__RULE(op, run, arg, min_in) FT__RULE_OF(#op, ft__rule_##run, arg, min_in),
static const ft__operator_rule rules[] = {
#include "import/onnx/rules.def"
};
static const ft__operator_rule ml_rules[] = {
#include "import/onnx/rules_ml.def"
};
static const ft__operator_rule microsoft_rules[] = {
#include "import/onnx/rules_microsoft.def"
};
static const ft__operator_rule preview_rules[] = {
#include "import/onnx/rules_preview.def"
};
static const ft__operator_rule training_rules[] = {
#include "import/onnx/rules_training.def"
};
#undef FT__RULE

static const struct domain {
    const char *name;
    const ft__operator_rule *rule;
    size_t n;
} domains[] = {
    {"", rules, sizeof(rules) / sizeof(*rules)},
    {"ai.onnx", rules, sizeof(rules) / sizeof(*rules)},
    {"com.microsoft", microsoft_rules, sizeof(microsoft_rules) / sizeof(*rules)},
    {"ai.onnx.ml", ml_rules, sizeof(ml_rules) / sizeof(*rules)},
    {"ai.onnx.preview", preview_rules, sizeof(preview_rules) / sizeof(*rules)},
    {"ai.onnx.preview.training", training_rules,
     sizeof(training_rules) / sizeof(*rules)},
};

static const ft__operator_rule *find_rule(const struct domain *d, ft__str op)
{
    size_t low = 0, high = d->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        size_t n = d->rule[mid].len;
        int c = memcmp(d->rule[mid].op, op.s, n < op.n ? n : op.n);

        if (c == 0)
            c = (n > op.n) - (n < op.n);
        if (c == 0)
            return &d->rule[mid];
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

const ft__operator_rule *ft__onnx_rule(ft__str domain, ft__str op)
{
    for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++)
        if (ft__str_is(domain, domains[i].name))
            return find_rule(&domains[i], op);
    return NULL;
}

/* ---- nodes ---- */

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

static bool calls_itself(const ft__onnx_node *n)
{
    for (const ft__onnx_node *c = n->caller; c; c = c->caller)
        if (!compare_names(c->op, n->op) && !compare_names(c->domain, n->domain))
            return true;
    return false;
}

static void inline_body(ft__onnx_node *n, const ft__function *f)
{
    ft__body body;

    n->import->opset =
        default_opset(n->import, f->body, FUNCTION_OPSET, n->import->opset);
    n->import->scope = ft__scope_inside(n, 0);
    n->import->caller = n;
    n->import->defaults = f->body;
    ft__onnx_read_function(n->import, f->body, n, &body);
    ft__onnx_run(n->import, &body);
    ft__onnx_hand_over(n, &body);
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
        ft__onnx_fail(n, "functions call each other in a circle");
        return;
    }
    if (ft__onnx_go_deeper(n)) {
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

static bool is_one_of(const ft__operator_rule *rule, const ft__rule_fn *run,
                      size_t count)
{
    bool found = false;

    for (size_t i = 0; i < count && !found; i++)
        found = rule->run == run[i];
    return found;
}

bool ft__rule_has_body(const ft__operator_rule *rule)
{
    static const ft__rule_fn bodies[] = {ft__rule_if, ft__rule_loop, ft__rule_scan,
                                         ft__rule_sequence_map, ft__rule_ms_search};

    return is_one_of(rule, bodies, sizeof(bodies) / sizeof(*bodies));
}

/* Few operators take anything but tensors. */
static bool takes_its_operands(const ft__onnx_node *n)
{
    static const ft__rule_fn any[] = {ft__rule_identity,
                                      ft__rule_sequence_construct,
                                      ft__rule_sequence_at,
                                      ft__rule_sequence_erase,
                                      ft__rule_sequence_insert,
                                      ft__rule_sequence_length,
                                      ft__rule_concat_from_sequence,
                                      ft__rule_optional,
                                      ft__rule_optional_get_element,
                                      ft__rule_optional_has_element};
    bool good = ft__rule_has_body(n->rule) ||
                is_one_of(n->rule, any, sizeof(any) / sizeof(*any));

    for (uint32_t i = 0; i < n->n_in && !good; i++)
        if (n->in[i] && n->in[i]->container)
            return ft__onnx_fail(n, "its operand %u is no tensor", i + 1);
    return true;
}

/* A rule whose operand has a guessed shape may find that nothing fits; then its
 * result is a guess as well. */
static void run_rule(ft__onnx_node *n)
{
    bool guessed = false, before = n->import->trying, mine;

    for (uint32_t i = 0; i < n->n_in; i++)
        guessed |= n->in[i] && n->in[i]->guessed;
    mine = guessed && !ft__rule_has_body(n->rule);
    n->import->trying = before || mine;
    if (n->import->opset < MODERN_OPSET)
        ft__onnx_modernise(n);
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
    static const ft__rule_fn layers[] = {ft__rule_conv,      ft__rule_matmul,
                                         ft__rule_einsum,    ft__rule_gather_nd,
                                         ft__rule_gemm,      ft__rule_gather,
                                         ft__rule_batchnorm, ft__rule_layernorm,
                                         ft__rule_groupnorm, ft__rule_instancenorm};
    bool constant = n->rule && (n->n_in > 0 || n->rule->run == ft__rule_constant) &&
                    !ft__rule_has_body(n->rule) &&
                    !is_one_of(n->rule, layers, sizeof(layers) / sizeof(*layers));

    for (uint32_t i = 0; constant && i < n->n_in; i++)
        constant = !n->in[i] || n->in[i]->state == FT__CONSTANT;
    return constant;
}

void ft__onnx_run(ft__onnx *o, ft__body *body)
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

/* ---- the model ---- */

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
    ft__onnx_read_graph(o, graph, false, &body);
    if (!ft__build_failed(o->b) && !o->doc.bad)
        ft__onnx_inputs(o, graph, body.n_in);
    if (!ft__build_failed(o->b) && !o->doc.bad)
        ft__onnx_run(o, &body);
    if (!ft__build_failed(o->b) && !o->doc.bad && !o->low)
        mark_outputs(o, &body);
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
    ft__mark_open(o, &low);
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
    if (o->model.n == 0)
        ft__build_fail(o->b, FT_EFORMAT, 0, "the file is empty");
    else
        read_model(o, &versioned);
    if (o->guesses && !ft__build_failed(o->b) && !o->doc.bad && !ft__mark_unread(o))
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

ft_status ft__import_onnx(ft_graph **out, const void *data, size_t len, bool mapped,
                          const char *name, const ft_import_options *opt, ft_error *err)
{
    ft__onnx o = {.doc.mapped = mapped, .model = {data, len}};

    if (opt)
        o.opt = *opt;
    return import(&o, out, name, err);
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

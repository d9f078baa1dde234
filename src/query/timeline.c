/* The nodes of a network in time, and sums over its modules. */
#include "foretell/timeline.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/index.h"
#include "graph/graph_inside.h"

struct timeline {
    ft_timeline t; /* what callers see */
    ft__arena room;
    ft_module *module; /* a list that grows, then the arena's */
    size_t cap;
    ft_run *run;
    ft__index index; /* path -> module */
    ft__index named; /* node or weight -> module */
};

/* What an operation takes each time it runs; times are the device's. */
struct op_sums {
    ft_cost cost;
    double product_flops;
    ft_estimate time, energy;
    double power_w;
};

/* The path of the innermost module of a scope ("layer1/layer1.0/conv1@1"), or what an
 * ONNX node's name says before its last '/': "/layer1/layer1.0/conv1/Conv", where a
 * part may repeat the path so far. `out` is longer than both. */
static size_t path_of(char *out, const ft_node *node)
{
    const char *s = node->name, *end;
    size_t len = 0;

    if (*node->scope) {
        s = strrchr(node->scope, '/');
        s = s ? s + 1 : node->scope;
        len = strcspn(s, "@");
        memcpy(out, s, len);
        return len;
    }
    for (; (end = strchr(s, '/')); s = end + 1) {
        const size_t n = (size_t)(end - s);

        if (len && n > len && s[len] == '.' && memcmp(s, out, len) == 0)
            len = 0;
        else if (len && n)
            out[len++] = '.';
        memcpy(out + len, s, n);
        len += n;
    }
    return len;
}

/* A module that is not there yet; FT_NONE: memory is short. */
static uint32_t add_module(struct timeline *x, const char *path, uint32_t parent)
{
    ft_module *list = ft__list_grow(x->module, x->t.n_modules, &x->cap, sizeof(*list));
    char *own = ft__arena_strndup(&x->room, path, strlen(path));
    const char *dot = own ? strrchr(own, '.') : NULL;
    uint32_t depth;

    if (list)
        x->module = list;
    if (!list || !own)
        return FT_NONE;
    depth = parent == FT_NONE ? 0 : list[parent].depth + 1;
    if (depth == FT_MAX_MODULE_DEPTH)
        dot = own + strlen(list[parent].path);
    list[x->t.n_modules] = (ft_module){
        .path = own, .name = dot ? dot + 1 : own, .parent = parent, .depth = depth};
    return x->t.n_modules++;
}

/* The module of a path, with all above it. */
static uint32_t module_of(struct timeline *x, char *path, size_t len)
{
    uint32_t at = 0;

    path[len] = '\0';
    for (size_t end = 0; len && at != FT_NONE && end < len; end++) {
        const bool last = x->module[at].depth + 1 == FT_MAX_MODULE_DEPTH;
        ft__index_slot *slot;
        uint64_t hash;

        end = last ? len : end + strcspn(path + end, ".");
        if (end == 0) /* "" is the network */
            continue;
        path[end] = '\0';
        hash = ft__hash_text(FT__HASH_BEGIN, path);
        slot = ft__index_at(&x->index, hash, path);
        if (slot && !slot->hash) {
            const uint32_t made = add_module(x, path, at);

            if (made == FT_NONE)
                return FT_NONE;
            *slot = (ft__index_slot){hash, x->module[made].path, made};
            x->index.n++;
        }
        at = slot ? (uint32_t)slot->number : FT_NONE;
        if (end < len)
            path[end] = '.';
    }
    return at;
}

/* A node or weight is of the module; the first one of a name counts. */
static bool remember(struct timeline *x, const char *name, uint32_t module)
{
    const uint64_t hash = ft__hash_text(FT__HASH_BEGIN, name);
    ft__index_slot *slot = ft__index_at(&x->named, hash, name);

    if (slot && !slot->hash) {
        *slot = (ft__index_slot){hash, name, module};
        x->named.n++;
    }
    return slot != NULL;
}

/* Nodes of the backward pass have the name of those of the forward pass, updates that
 * of their weight, and no scope. */
static bool find_module(struct timeline *x, const ft_graph *g, uint32_t i, char *path)
{
    const ft_node *node = &g->node[i];
    const ft__index_slot *slot =
        *node->scope
            ? NULL
            : ft__index_find(&x->named, ft__hash_text(FT__HASH_BEGIN, node->name),
                             node->name);
    const uint32_t m =
        slot ? (uint32_t)slot->number : module_of(x, path, path_of(path, node));
    bool good = m != FT_NONE;

    x->run[i].module = m;
    if (slot || !good || m == 0)
        return good;
    good = remember(x, node->name, m);
    for (uint32_t k = 0; good && k < node->n_params; k++)
        good = remember(x, g->tensor[node->params[k]].name, m);
    return good;
}

static bool find_modules(struct timeline *x, const ft_graph *g)
{
    size_t most = 0;
    char *path;

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const size_t scope = strlen(g->node[i].scope), name = strlen(g->node[i].name);

        most = scope > most ? scope : most;
        most = name > most ? name : most;
    }
    path = ft__arena_alloc(&x->room, most + 2);
    if (!path || add_module(x, "", FT_NONE) == FT_NONE)
        return false;
    x->module[0].name = g->name;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (!find_module(x, g, i, path))
            return false;
    return true;
}

/* Children right behind their parents: to[] is where a module goes. */
static void find_order(const struct timeline *x, uint32_t *to, uint32_t *size)
{
    const uint32_t n = x->t.n_modules;

    for (uint32_t i = 0; i < n; i++)
        size[i] = 1;
    for (uint32_t i = n; i-- > 1;)
        size[x->module[i].parent] += size[i];
    /* Parents come first: size[] becomes the place of a module's next child. */
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t parent = x->module[i].parent;

        to[i] = i ? size[parent] : 0;
        if (i)
            size[parent] += size[i];
        size[i] = to[i] + 1;
    }
}

static bool order_modules(struct timeline *x)
{
    const uint32_t n = x->t.n_modules;
    uint32_t *to = ft__arena_need(&x->room, n, sizeof(*to));
    uint32_t *size = ft__arena_need(&x->room, n, sizeof(*size));
    ft_module *sorted = ft__arena_need(&x->room, n, sizeof(*sorted));

    if (x->room.bad)
        return false;
    find_order(x, to, size);
    for (uint32_t i = 0; i < n; i++) {
        sorted[to[i]] = x->module[i];
        if (i)
            sorted[to[i]].parent = to[x->module[i].parent];
    }
    for (uint32_t i = 0; i < x->t.n_runs; i++)
        x->run[i].module = to[x->run[i].module];
    free(x->module);
    x->module = sorted;
    x->cap = 0; /* the arena's now */
    return true;
}

static ft_estimate times(const ft_estimate *e, double factor)
{
    return (ft_estimate){e->value * factor, e->low * factor, e->high * factor, e->basis,
                         ""};
}

static struct op_sums sums_of(const ft_graph *g, uint32_t i, const ft_answer *a)
{
    struct op_sums s = {.power_w = NAN};
    ft_product product[FT_MAX_PRODUCTS];
    const uint32_t n = ft_op_products(&g->op[i], product);

    ft_op_cost(&g->op[i], &s.cost);
    for (uint32_t k = 0; k < n; k++) {
        ft_cost c;

        ft_op_cost(&product[k].op, &c);
        s.product_flops += c.flops * (double)product[k].count;
    }
    if (g->op[i].phase != FT_PHASE_FORWARD)
        s.cost.weight_elements = 0;
    if (!a || !(a->op[i]->device_time.value > 0))
        return s;
    s.time = a->op[i]->device_time;
    s.energy = times(&a->op[i]->energy, s.time.value / a->op[i]->time.value);
    s.power_w = a->op[i]->power.value;
    return s;
}

static void add_estimate(ft_estimate *sum, const ft_estimate *e, double n)
{
    sum->value += n * e->value;
    sum->low += n * e->low;
    sum->high += n * e->high;
}

static void add_node(ft_module *m, const struct op_sums *s, const ft_run *run,
                     uint64_t repeat)
{
    const double n = (double)repeat;
    double alive = 0;

    for (int p = 0; p < FT_PART_COUNT; p++)
        alive += isnan(run->bytes[p]) ? 0 : run->bytes[p];
    m->n_ops += repeat;
    m->flops += n * s->cost.flops;
    m->product_flops += n * s->product_flops;
    m->bytes += n * (s->cost.bytes_read + s->cost.bytes_written);
    m->parameters += n * s->cost.weight_elements;
    m->peak_bytes = fmax(m->peak_bytes, alive);
    add_estimate(&m->time, &s->time, n);
    add_estimate(&m->energy, &s->energy, n);
}

static void finish_estimate(ft_estimate *e, const ft_estimate *of)
{
    *e = of ? (ft_estimate){e->value, e->low, e->high, of->basis, of->why}
            : (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, "no device was named"};
    if (of && of->basis == FT_BASIS_UNAVAILABLE)
        e->value = e->low = e->high = NAN;
}

static void sum_modules(struct timeline *x, const ft_graph *g, const ft_answer *a,
                        const struct op_sums *op)
{
    for (uint32_t i = 0; i < g->n_nodes; i++)
        for (uint32_t m = x->run[i].module; m != FT_NONE; m = x->module[m].parent)
            add_node(&x->module[m], &op[g->node[i].op], &x->run[i], g->node[i].repeat);
    for (uint32_t i = 0; i < x->t.n_modules; i++) {
        finish_estimate(&x->module[i].time, a ? &a->time : NULL);
        finish_estimate(&x->module[i].energy, a ? &a->energy : NULL);
    }
}

/* When each node is issued and begins: the device takes one behind the other, each as
 * soon as it is issued. Returns the gaps between them. */
static double lay_out(struct timeline *x, const ft_graph *g, const ft_answer *a,
                      const struct op_sums *op, double scale)
{
    double launches = 0, issued = 0, end = 0, gaps = 0;

    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (op[g->node[i].op].time.value > 0)
            launches += (double)g->node[i].repeat;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        ft_run *run = &x->run[i];
        const double n = (double)g->node[i].repeat;

        run->time_s = n * scale * op[g->node[i].op].time.value;
        run->power_w = op[g->node[i].op].power_w;
        if (run->time_s > 0 && a->host_s > 0)
            issued += a->host_s * n / launches;
        run->issued_s = a->host_s > 0 ? issued : (double)NAN;
        run->begin_s = run->time_s > 0 ? fmax(end, issued) : end;
        gaps += run->begin_s - end;
        end = run->begin_s + run->time_s;
    }
    return gaps;
}

/* Gaps become what the answer has beside the device's time; before the first operation,
 * where there were none. */
static void fit_gaps(struct timeline *x, double gaps, double idle_s)
{
    double end = 0, now = gaps > 0 ? 0 : idle_s;

    for (uint32_t i = 0; i < x->t.n_runs; i++) {
        ft_run *run = &x->run[i];
        const double gap = run->begin_s - end;

        end = run->begin_s + run->time_s;
        now += gaps > 0 ? gap * (idle_s / gaps) : 0;
        run->begin_s = now;
        run->issued_s = fmin(run->issued_s, now);
        now += run->time_s;
    }
}

/* Idle power is what energy the operations leave, at most what the least of them draws;
 * theirs is scaled to the rest. */
static void fit_power(struct timeline *x, const ft_answer *a, double idle_s)
{
    double joules = 0, least = INFINITY, scale;

    for (uint32_t i = 0; i < x->t.n_runs; i++)
        if (x->run[i].time_s > 0) {
            joules += x->run[i].power_w * x->run[i].time_s;
            least = fmin(least, x->run[i].power_w);
        }
    x->t.idle_w = idle_s > 0 ? fmax(0, fmin(least, (a->energy.value - joules) / idle_s))
                             : (double)NAN;
    scale = (a->energy.value - (idle_s > 0 ? x->t.idle_w * idle_s : 0)) / joules;
    for (uint32_t i = 0; i < x->t.n_runs; i++)
        x->run[i].power_w *= scale;
}

static void run_in_time(struct timeline *x, const ft_graph *g, const ft_answer *a,
                        const struct op_sums *op)
{
    double sum = 0, busy, idle_s;

    for (uint32_t i = 0; i < g->n_nodes; i++)
        sum += (double)g->node[i].repeat * op[g->node[i].op].time.value;
    busy = fmin(a->busy_s > 0 ? a->busy_s : sum, a->time.value);
    /* Rounding is no gap. */
    idle_s = a->time.value - busy;
    idle_s = idle_s > 1e-9 * a->time.value ? idle_s : 0;
    fit_gaps(x, lay_out(x, g, a, op, sum > 0 ? (a->time.value - idle_s) / sum : 0),
             idle_s);
    fit_power(x, a, idle_s);
}

static ft_status find_memory(struct timeline *x, const ft_graph *g, const ft_answer *a,
                             ft_error *err)
{
    const ft_memory_policy policy = {a ? a->memory_policy : FT_POLICY_EAGER};
    uint64_t(*part)[FT_PART_COUNT] =
        ft__arena_array(&x->room, (size_t)g->n_nodes + 1, sizeof(*part));
    double workspace = 0, most = -1;
    ft_status st;

    if (!part)
        return ft_fail(err, FT_ENOMEM, 0, "timeline of %s", g->name);
    st = ft__memory_over(part, g, &policy, err);
    for (uint32_t i = 0; !st && i < g->n_nodes; i++) {
        double sum = 0;

        for (int p = 0; p < FT_PART_COUNT; p++)
            sum += x->run[i].bytes[p] = (double)part[i][p];
        if (sum > most)
            workspace = (double)part[i][FT_PART_WORKSPACE];
        most = fmax(most, sum);
    }
    /* What libraries keep from the first operation on. */
    if (!st && a)
        for (uint32_t i = 0; i < g->n_nodes; i++)
            x->run[i].bytes[FT_PART_WORKSPACE] +=
                a->part_bytes[FT_PART_WORKSPACE] - workspace;
    return st;
}

static ft_status make(struct timeline *x, const ft_graph *g, const ft_answer *a,
                      ft_error *err)
{
    struct op_sums *op = ft__arena_need(&x->room, (size_t)g->n_ops + 1, sizeof(*op));
    ft_status st;

    x->run = ft__arena_need(&x->room, (size_t)g->n_nodes + 1, sizeof(*x->run));
    if (x->room.bad || !find_modules(x, g) || !order_modules(x))
        return ft_fail(err, FT_ENOMEM, 0, "timeline of %s", g->name);
    for (uint32_t i = 0; i < g->n_ops; i++)
        op[i] = sums_of(g, i, a);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        x->run[i].issued_s = x->run[i].begin_s = x->run[i].time_s = x->run[i].power_w =
            NAN;
    if (a)
        run_in_time(x, g, a, op);
    st = find_memory(x, g, a, err);
    if (!st)
        sum_modules(x, g, a, op);
    return st;
}

ft_status ft_timeline_make(ft_timeline **out, const ft_graph *g,
                           const ft_answer *answer, ft_error *err)
{
    struct timeline *x;
    ft_status st;

    *out = NULL;
    if (answer && (!answer->op || answer->graph != g))
        return ft_fail(err, FT_EINVAL, 0,
                       "a timeline is of an answer with operations and its graph");
    x = calloc(1, sizeof(*x));
    if (!x)
        return ft_fail(err, FT_ENOMEM, 0, "timeline of %s", g->name);
    x->t = (ft_timeline){.n_runs = g->n_nodes,
                         .time_s = answer ? answer->time.value : (double)NAN,
                         .idle_w = NAN};
    st = make(x, g, answer, err);
    ft__index_free(&x->index);
    ft__index_free(&x->named);
    x->t.module = x->module;
    x->t.run = x->run;
    *out = &x->t;
    if (st) {
        ft_timeline_free(*out);
        *out = NULL;
    }
    return st;
}

void ft_timeline_free(ft_timeline *t)
{
    struct timeline *x = (struct timeline *)(void *)t;

    if (!x)
        return;
    if (x->cap)
        free(x->module);
    ft__arena_free(&x->room);
    free(x);
}

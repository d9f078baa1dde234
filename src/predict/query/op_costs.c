/* Many networks as lists of operations, each operation priced once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/index.h"
#include "graph/graph_inside.h"
#include "graph/op_inside.h"
#include "predict/file/predictor.h"
#include "predict/model/family.h"
#include "predict/query/network.h"
#include "predict/query/op_costs.h"
#include "predict/query/op_query.h"

/* So many of one operation's weights are counted here; more by the graph. */
static const double MOST_ELEMENTS = 0x1p50;

/* A line of a list, without its count. */
struct list_line {
    uint32_t op;       /* unique operation, or SLOW */
    uint64_t bytes;    /* alive while it runs, but weights */
    double weights[2]; /* elements, and how wide they are: */
    ft_dtype dtype[2];
};
enum { SLOW = -1 };

static const ft_brief unknown = {NAN, NAN, NAN, NAN, FT_OK, ""};

struct ft__op_costs {
    const ft_predictor *p;
    ft__device_use on;
    bool slow; /* nothing can be remembered: a CPU's scratch memory, measurements */
    ft__arena arena;
    ft__index lines; /* text to line */
    struct list_line *line;
    size_t n_lines, cap_lines;
    ft__index ops; /* hash to operation */
    ft_op *op;
    ft__tasks known; /* of each operation */
    uint32_t n_ops;
    size_t cap_ops, cap_tasks;
    uint32_t *seen; /* by operation: in which network last, and as which of it */
    uint32_t *place;
    size_t cap_seen, cap_place;
    uint32_t network;
    ft__op_task *task; /* of one network */
    size_t cap_task;
    ft__buf fresh; /* lines that are to be priced */
    uint32_t n_fresh;
};

ft_status ft__op_costs_new(ft__op_costs **out, const ft_predictor *p,
                           const ft__device_use *on, ft_error *err)
{
    const char *type = ft_device_get(on->device)->type;
    ft__op_costs *x = calloc(1, sizeof(*x));

    *out = NULL;
    if (!x)
        return ft_fail(err, FT_ENOMEM, 0, "prices");
    if (p && ft__family_machine(p->family)) {
        free(x);
        return ft_fail(err, FT_EINVAL, 0,
                       "lists are priced by a predictor for a family of devices, or by "
                       "specifications");
    }
    x->p = p;
    ft__op_costs_reuse(x, on);
    x->slow = !type || strcmp(type, "gpu") != 0;
    *out = x;
    return FT_OK;
}

void ft__op_costs_reuse(ft__op_costs *x, const ft__device_use *on)
{
    x->on = *on;
    x->on.known = NULL;
}

void ft__op_costs_free(ft__op_costs *x)
{
    if (!x)
        return;
    ft__arena_free(&x->arena);
    ft__index_free(&x->lines);
    ft__index_free(&x->ops);
    ft__buf_free(&x->fresh);
    free(x->line);
    free(x->op);
    free(x->known.task);
    free(x->seen);
    free(x->place);
    free(x->task);
    free(x);
}

static ft_status by_graph(ft_brief *out, const ft__op_costs *x, const ft__listed *l,
                          ft_error *err)
{
    ft_graph *g = NULL, *lowered = NULL;
    ft__network_estimate e;
    ft_status st = ft_import_ops(&g, l->text, l->len, "list", err);

    if (!st)
        st = ft__graph_lower(&lowered, g, FT_POLICY_STRIDED_VIEWS, err);
    if (!st)
        st = ft__predict_network(&e, x->p, &x->on, lowered, err);
    if (!st) {
        *out = (ft_brief){e.time.value,   e.energy.value, e.power.value,
                          e.memory.value, FT_OK,          ""};
        ft__network_estimate_free(&e);
    }
    ft_graph_free(g);
    ft_graph_free(lowered);
    return st;
}

/* The next line of text; without its comment, and its count cut off. */
struct list_cursor {
    const char *at, *end, *line;
    size_t len;
    double count; /* 0: it is none that is understood here */
};

/* An empty list may have no text. */
static struct list_cursor cursor_of(const ft__listed *list)
{
    const char *text = list->len ? list->text : "";

    return (struct list_cursor){.at = text, .end = text + list->len};
}

static size_t trimmed(const char *s, size_t len)
{
    while (len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t' || s[len - 1] == '\r'))
        len--;
    return len;
}

/* Where the star of " *COUNT" stands; len: there is none. */
static size_t star_of(const char *line, size_t len)
{
    size_t at = len;

    while (at > 0 && line[at - 1] >= '0' && line[at - 1] <= '9')
        at--;
    return at > 0 && line[at - 1] == '*' ? at - 1 : len;
}

static void cut_count(struct list_cursor *c)
{
    size_t star = star_of(c->line, c->len), end = c->len;

    c->count = 1;
    if (star == end)
        return;
    c->count = 0;
    for (size_t i = star + 1; i < end && c->count < MOST_ELEMENTS; i++)
        c->count = c->count * 10 + (c->line[i] - '0');
    c->len = trimmed(c->line, star);
    /* A second count is none. */
    if (c->count >= MOST_ELEMENTS || star_of(c->line, c->len) < c->len)
        c->count = 0;
}

/* False: there are no more. */
static bool next_line(struct list_cursor *c)
{
    do {
        const char *newline, *comment;

        if (c->at >= c->end)
            return false;
        newline = memchr(c->at, '\n', (size_t)(c->end - c->at));
        c->line = c->at;
        c->len = (size_t)((newline ? newline : c->end) - c->at);
        c->at += c->len + 1;
        comment = memchr(c->line, '#', c->len);
        c->len = trimmed(c->line, comment ? (size_t)(comment - c->line) : c->len);
    } while (c->len == 0);
    cut_count(c);
    return true;
}

/* Room for one more of a list whose elements are moved; false: no memory. */
#define GROW(list, n, cap) grow((void **)&(list), (n), &(cap), sizeof(*(list)))
static bool grow(void **list, size_t n, size_t *cap, size_t size)
{
    void *grown = n < *cap ? *list : ft__list_grow(*list, n, cap, size);

    if (grown)
        *list = grown;
    return grown != NULL;
}

/* Its number, noted as fresh when it is new; FT_NONE: no memory. */
static uint32_t line_of(ft__op_costs *x, const struct list_cursor *c)
{
    uint64_t hash = ft__hash_bytes(FT__HASH_BEGIN, c->line, c->len);
    ft__index_slot *slot;
    const char *text;

    /* Hashes of 64 bits stand for the texts. */
    slot = ft__index_at(&x->lines, hash, NULL);
    if (!slot)
        return FT_NONE;
    if (slot->hash)
        return (uint32_t)slot->number;
    text = ft__arena_strndup(&x->arena, c->line, c->len);
    if (!text || !GROW(x->line, x->n_lines, x->cap_lines))
        return FT_NONE;
    *slot = (ft__index_slot){hash, NULL, (int64_t)x->n_lines};
    x->lines.n++;
    x->line[x->n_lines] = (struct list_line){.op = (uint32_t)SLOW};
    ft__buf_add(&x->fresh, c->line, c->len);
    ft__buf_str(&x->fresh, "\n");
    x->n_fresh++;
    return x->fresh.bad ? FT_NONE : (uint32_t)x->n_lines++;
}

static void count_weights(struct list_line *l, const ft_graph *g, const ft_node *n)
{
    for (uint32_t j = 0; j < n->n_params && j < 2; j++) {
        const ft_tensor *t = &g->tensor[n->params[j]];

        l->weights[j] = (double)ft_shape_elements(&t->shape);
        l->dtype[j] = t->dtype;
    }
}

static uint64_t bytes_of(const ft_graph *g, const uint32_t *tensor, uint32_t n,
                         uint32_t *counted, uint32_t *n_counted)
{
    uint64_t sum = 0;

    for (uint32_t j = 0; j < n; j++) {
        uint32_t s = g->tensor[tensor[j]].storage, k = 0;
        const ft_tensor *t = &g->tensor[s];

        while (k < *n_counted && counted[k] != s)
            k++;
        if (k < *n_counted)
            continue;
        counted[(*n_counted)++] = s;
        sum += (uint64_t)ft_tensor_bytes(&t->shape, t->dtype);
    }
    return sum;
}

/* An operation's number; FT_NONE: no memory. */
static uint32_t op_of(ft__op_costs *x, const ft_op *op, const ft__op_task *task)
{
    ft__index_slot *slot = ft__index_at(&x->ops, ft__op_hash(op), NULL);

    if (!slot)
        return FT_NONE;
    if (slot->hash)
        return (uint32_t)slot->number;
    if (!GROW(x->op, x->n_ops, x->cap_ops) ||
        !GROW(x->known.task, x->n_ops, x->cap_tasks) ||
        !GROW(x->seen, x->n_ops, x->cap_seen) ||
        !GROW(x->place, x->n_ops, x->cap_place))
        return FT_NONE;
    x->op[x->n_ops] = *op;
    x->known.task[x->n_ops] = *task;
    x->seen[x->n_ops] = 0;
    *slot = (ft__index_slot){ft__op_hash(op), NULL, x->n_ops};
    x->ops.n++;
    return x->n_ops++;
}

/* Lines from `first` on, one a node of both graphs. */
static bool learn(ft__op_costs *x, uint32_t first, const ft_graph *g,
                  const ft_graph *lowered, const ft__op_task *task)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *n = &lowered->node[i];
        uint32_t counted[2 * FT_OP_MAX_OPERANDS], n_counted = 0;
        struct list_line *l = &x->line[first + i];

        if (n->phase != FT_PHASE_FORWARD)
            continue;
        count_weights(l, g, &g->node[i]);
        l->bytes = bytes_of(lowered, n->in, n->n_in, counted, &n_counted) +
                   bytes_of(lowered, n->out, n->n_out, counted, &n_counted);
        l->op = op_of(x, &lowered->op[n->op], &task[n->op]);
        if (l->op == FT_NONE)
            return false;
    }
    return true;
}

/* Prices lines that stand in `text`; those that are none stay slow. */
static ft_status price_text(ft__op_costs *x, uint32_t first, uint32_t n,
                            const char *text, size_t len, ft_error *err)
{
    ft_graph *g = NULL, *lowered = NULL;
    ft__tasks fresh = {0};
    ft_error why = {0};
    ft_status st = ft_import_ops(&g, text, len, "list", &why);

    if (!st)
        st = ft__graph_lower(&lowered, g, FT_POLICY_STRIDED_VIEWS, &why);
    if (!st && (g->n_nodes != n || lowered->n_nodes != n))
        st = ft_fail(&why, FT_EFORMAT, 0, "lines that are not one operation each");
    if (!st) {
        fresh.task = calloc(lowered->n_ops + 1u, sizeof(*fresh.task));
        st = !fresh.task ? ft_fail(&why, FT_ENOMEM, 0, "%u operations", n)
                         : ft__network_tasks(&fresh, x->p, &x->on, lowered,
                                             FT_PHASE_FORWARD, &why);
    }
    if (!st) {
        x->known.schedule = fresh.schedule;
        x->known.cap_w = fresh.cap_w;
        x->known.call = fresh.call;
        if (!learn(x, first, g, lowered, fresh.task))
            st = ft_fail(&why, FT_ENOMEM, 0, "%u operations", n);
    }
    free(fresh.task);
    ft_graph_free(g);
    ft_graph_free(lowered);
    return st == FT_ENOMEM ? ft_fail(err, st, 0, "%s", why.msg) : FT_OK;
}

static bool is_priced(const ft__op_costs *x, uint32_t first)
{
    return x->line[first].op != (uint32_t)SLOW;
}

/* All fresh lines at once; where one of them is no operation, halves of them. */
static ft_status price_fresh(ft__op_costs *x, uint32_t first, uint32_t n,
                             const char *text, size_t len, ft_error *err)
{
    ft_status st;
    size_t half = 0;

    if (n == 0)
        return FT_OK;
    st = price_text(x, first, n, text, len, err);
    if (st || is_priced(x, first) || n == 1)
        return st;
    for (uint32_t i = 0; i < n / 2; i++) /* each line ends with one */
        half = (size_t)((const char *)memchr(text + half, '\n', len - half) - text) + 1;
    st = price_fresh(x, first, n / 2, text, half, err);
    return st ? st
              : price_fresh(x, first + n / 2, n - n / 2, text + half, len - half, err);
}

/* Weights of so many layers, B; NaN: the graph has to count them. */
static double weight_bytes(const struct list_line *l, double count)
{
    double sum = 0;

    for (int j = 0; j < 2; j++) {
        double elements = l->weights[j] * count;
        ft_shape s = {.rank = 1};

        if (elements > MOST_ELEMENTS)
            return NAN;
        s.dim[0] = (int64_t)elements;
        sum += elements > 0 ? (double)ft_tensor_bytes(&s, l->dtype[j]) : 0;
    }
    return sum;
}

/* Of a list all of whose lines are known; false: it has another, or too much. */
static bool by_lines(ft_brief *out, ft__op_costs *x, const ft__listed *list)
{
    struct list_cursor c = cursor_of(list);
    uint32_t n = 0;
    double weights = 0, most = 0;
    bool products = false;
    ft__network_load load;

    x->network++;
    while (next_line(&c)) {
        uint32_t i = c.count > 0 ? line_of(x, &c) : FT_NONE;
        const struct list_line *l;

        if (i == FT_NONE || x->line[i].op == (uint32_t)SLOW)
            return false;
        l = &x->line[i];
        weights += weight_bytes(l, c.count);
        most = fmax(most, (double)l->bytes);
        products |= ft_kind_class(x->op[l->op].kind) == FT_CLASS_MATMUL;
        if (x->seen[l->op] == x->network) {
            x->task[x->place[l->op]].count += c.count;
            continue;
        }
        if (!GROW(x->task, n, x->cap_task))
            return false;
        x->seen[l->op] = x->network;
        x->place[l->op] = n;
        x->task[n] = x->known.task[l->op];
        x->task[n++].count = c.count;
    }
    if (n == 0 || isnan(weights))
        return false;
    load = ft__schedule_no_load(x->known.cap_w, x->known.call);
    ft__schedule_load(&load, x->task, n);
    ft__estimate_brief(out, &load, &x->known.schedule);
    out->memory_bytes =
        weights + most + ft__gpu_bytes(ft_device_get(x->on.device), products);
    return true;
}

/* Lines that no list had before. */
static ft_status find_fresh(ft__op_costs *x, const ft__listed *list, size_t n,
                            ft_error *err)
{
    uint32_t first = (uint32_t)x->n_lines;

    x->n_fresh = 0;
    x->fresh.len = 0;
    for (size_t i = 0; i < n; i++) {
        struct list_cursor c = cursor_of(&list[i]);

        while (next_line(&c))
            if (c.count > 0 && line_of(x, &c) == FT_NONE)
                return ft_fail(err, FT_ENOMEM, 0, "%zu lists", n);
    }
    return price_fresh(x, first, x->n_fresh, x->fresh.s, x->fresh.len, err);
}

ft_status ft__op_costs_of_lists(ft__op_costs *x, ft__listed *list, size_t n,
                                ft_error *err)
{
    ft_status st = x->slow ? FT_OK : find_fresh(x, list, n, err);

    for (size_t i = 0; i < n && !st; i++) {
        ft_error why = {0};

        list[i].brief = unknown;
        list[i].status = FT_OK;
        list[i].why[0] = '\0';
        if (!x->slow && by_lines(&list[i].brief, x, &list[i]))
            continue;
        list[i].brief = unknown;
        list[i].status = by_graph(&list[i].brief, x, &list[i], &why);
        if (list[i].status)
            snprintf(list[i].why, sizeof(list[i].why), "%.200s", why.msg);
        if (list[i].status == FT_ENOMEM)
            st = ft_fail(err, FT_ENOMEM, 0, "%s", why.msg);
    }
    return st;
}

ft_status ft__op_list(ft_graph **out, const ft_op *const *op, uint32_t n, ft_error *err)
{
    ft__buf text = {0};
    ft_status st;

    for (uint32_t i = 0; i < n; i++) {
        char spec[1024];

        ft_op_print(op[i], spec, sizeof(spec));
        ft__buf_fmt(&text, "%s\n", spec);
    }
    st = text.bad ? ft_fail(err, FT_ENOMEM, 0, "%u operations", n)
                  : ft_import_ops(out, text.s, text.len, "list", err);
    ft__buf_free(&text);
    if (st || (*out)->n_nodes == n)
        return st;
    st = ft_fail(err, FT_EUNSUPPORTED, 0, "a list of %u operations has %u nodes", n,
                 (*out)->n_nodes);
    ft_graph_free(*out);
    *out = NULL;
    return st;
}

/* Operations of the steps that a load may take, at the points of grids. A step of a
 * language model is a sum of parts, each of which depends on two sizes at most: what is
 * done for every token alike is found by comparing steps that decode with steps of one
 * prompt of as many tokens; the rest is of the sequences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "graph/op_inside.h"
#include "import/list.h"
#include "import/llm/llm.h"
#include "query/data.h"
#include "serve/serve.h"

enum { MAX_DIMS = 32 };

static void grid_add(ft__serve_grid *g, double at)
{
    if (g->n < FT__SERVE_GRID && (g->n == 0 || at > g->at[g->n - 1]))
        g->at[g->n++] = at;
}

/* From `least` on, each so many times the one before, to the first that is `most`. */
static void grid_powers(ft__serve_grid *g, double least, double most, double factor)
{
    double at = least;

    while (at < most) {
        grid_add(g, at);
        at = ceil(at * factor);
    }
    grid_add(g, most);
}

/* Beyond 128 rows multiples of those that tiles of products have: 64, beyond 384 128.
 */
static void grid_rows(ft__serve_grid *g, double most)
{
    static const double first[] = {1,  2,  4,   8,   16,  24,  32, 48,
                                   64, 96, 128, 192, 256, 320, 384};
    double at = 512;

    for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
        grid_add(g, first[i]);
    while (at < most) {
        grid_add(g, at);
        grid_add(g, at * 1.5);
        at *= 2;
    }
    grid_add(g, at);
}

static void grid_seqs(ft__serve_grid *g, double most)
{
    double at = 1;

    while (at < most) {
        grid_add(g, at);
        if (at >= 16 && 1.5 * at < most)
            grid_add(g, 1.5 * at);
        at *= 2;
    }
    grid_add(g, most);
}

static void make_grids(ft_serve_plan *p)
{
    const ft__serve_bounds *b = &p->bounds;
    const double most = (double)b->most_context;
    double least = 2, chunk = 16;

    while (2 * least <= (double)b->least_prompt)
        least *= 2;
    while (chunk < (double)b->tokens)
        chunk *= 2;
    grid_rows(&p->rows, (double)b->tokens);
    grid_seqs(&p->seqs, (double)b->seqs);
    grid_powers(&p->context, least, fmax(most, 2 * least), most > 8 * least ? 4 : 2);
    grid_powers(&p->chunk, 16, chunk, 2);
    grid_add(&p->before, 0);
    grid_add(&p->before, ceil(most / 4));
    grid_add(&p->before, most);
}

uint32_t ft__serve_number_of(const ft_serve_plan *p, const ft_op *op)
{
    uint64_t hash = ft__op_quick_hash(op);
    const ft__index_slot *at;

    while ((at = ft__index_find(&p->op_of, hash, NULL)) &&
           !ft_op_equal(&p->op[at->number], op))
        hash++;
    return at ? (uint32_t)at->number : FT_NONE;
}

/* Its number, added when it is new; FT_NONE: memory is short. */
static uint32_t number_of(ft_serve_plan *p, const ft_op *op)
{
    const uint32_t known = ft__serve_number_of(p, op);
    uint64_t hash = ft__op_quick_hash(op);
    ft_op *grown;
    ft__index_slot *at;

    if (known != FT_NONE)
        return known;
    grown = ft__list_grow(p->op, p->n_ops, &p->cap_ops, sizeof(*grown));
    p->op = grown ? grown : p->op;
    while ((at = ft__index_at(&p->op_of, hash, NULL)) && at->hash)
        hash++;
    if (!grown || !at)
        return FT_NONE;
    *at = (ft__index_slot){.hash = hash, .number = p->n_ops};
    p->op_of.n++;
    grown[p->n_ops] = *op;
    return p->n_ops++;
}

/* Its operations, each alone. */
static ft_status make_list(ft_serve_plan *p, ft_error *err)
{
    ft__build *b = ft__build_new("steps");

    if (!b)
        return ft__serve_no_memory(err);
    for (uint32_t i = 0; i < p->n_ops; i++)
        ft__list_op(b, "", 0, &p->op[i], 1);
    ft__build_language_model(b, 0, 0);
    return ft__build_finish_take(&p->list, b, err);
}

static ft_status add_entry(ft_serve_plan *p, ft__serve_cell *cell, const ft_op *op,
                           double count, ft_error *err)
{
    ft__serve_entry *grown;
    uint32_t number;

    if (ft_kind_class(op->kind) == FT_CLASS_VIEW || !(count > 0))
        return FT_OK;
    number = number_of(p, op);
    grown = ft__list_grow(p->entry, p->n_entries, &p->cap_entries, sizeof(*grown));
    if (number == FT_NONE || !grown)
        return ft__serve_no_memory(err);
    p->entry = grown;
    grown[p->n_entries++] = (ft__serve_entry){number, count};
    cell->n++;
    return FT_OK;
}

/* What is asked for steps of it. */
struct plan_model {
    ft_query q;
    ft__llm *read;
    ft_dim_value dim[MAX_DIMS];
    size_t n_dims;
    bool never_drafts;
    double few; /* tokens of a sequence where they do not matter: from this many on
                   indexers of compressed attention have an entry to pick, and all
                   steps are of the same operations */
    unsigned char *common; /* of each node of a step that decodes: is it of tokens? */
    unsigned char *head;
    uint32_t n_nodes;
};

static ft_status step_graph(ft_graph **out, struct plan_model *m, int once,
                            double batch, double tokens, double context, ft_error *err)
{
    m->dim[m->n_dims] = (ft_dim_value){"tokens", (int64_t)tokens};
    m->dim[m->n_dims + 1] = (ft_dim_value){"context", (int64_t)context};
    m->dim[m->n_dims + 2] = (ft_dim_value){"once", once};
    m->q.batch = (int64_t)batch;
    m->q.dims = m->dim;
    m->q.n_dims = m->n_dims + 3;
    return ft__query_import(out, &m->q, m->read, err);
}

static bool is_head(const ft_node *n)
{
    return strcmp(n->name, "lm_head") == 0;
}

/* How often each operation of g is still to be accounted for. */
static double *counts_of(const ft_graph *g)
{
    double *left = calloc(g->n_ops + 1u, sizeof(*left));

    for (uint32_t i = 0; i < g->n_ops && left; i++)
        left[i] = (double)g->op_count[i];
    return left;
}

static uint32_t find_op(const ft_graph *g, const ft_op *op)
{
    uint32_t i = 0;

    while (i < g->n_ops && !ft_op_equal(&g->op[i], op))
        i++;
    return i;
}

/* Two sequences that decode, and one with two new tokens: what both have is of tokens.
 */
static ft_status find_common(struct plan_model *m, ft_error *err)
{
    ft_graph *decode, *prefill = NULL;
    double *left = NULL;
    ft_status st = step_graph(&decode, m, FT__LLM_COUNTED, 2, 1, m->few, err);

    if (!st)
        st = step_graph(&prefill, m, FT__LLM_COUNTED, 1, 2, m->few, err);
    if (!st) {
        m->n_nodes = decode->n_nodes;
        m->common = calloc(m->n_nodes + 1u, 1);
        m->head = calloc(m->n_nodes + 1u, 1);
        left = counts_of(prefill);
        if (!m->common || !m->head || !left)
            st = ft__serve_no_memory(err);
    }
    for (uint32_t i = 0; !st && i < decode->n_nodes; i++) {
        const ft_node *n = &decode->node[i];
        const uint32_t same = find_op(prefill, &decode->op[n->op]);

        m->head[i] = is_head(n);
        if (same < prefill->n_ops && left[same] >= (double)n->repeat && !m->head[i]) {
            left[same] -= (double)n->repeat;
            m->common[i] = 1;
        }
    }
    free(left);
    ft_graph_free(decode);
    ft_graph_free(prefill);
    return st;
}

/* Classes of the nodes of a decoding step. */
typedef enum which { COMMON, HEAD, OWN } which;

static ft_status add_nodes(ft_serve_plan *p, ft__serve_cell *cell,
                           const struct plan_model *m, const ft_graph *g, which of,
                           ft_error *err)
{
    double *count = calloc(g->n_ops + 1u, sizeof(*count));
    ft_status st = count ? FT_OK : ft__serve_no_memory(err);

    if (g->n_nodes != m->n_nodes)
        st = ft_fail(err, FT_EINVAL, 0,
                     "%s: its steps are not all of the same operations", g->name);
    *cell = (ft__serve_cell){(uint32_t)p->n_entries, 0};
    for (uint32_t i = 0; i < g->n_nodes && !st; i++)
        if ((m->common[i] ? COMMON : m->head[i] ? HEAD : OWN) == of)
            count[g->node[i].op] += (double)g->node[i].repeat;
    for (uint32_t i = 0; i < g->n_ops && !st; i++)
        st = add_entry(p, cell, &g->op[i], count[i], err);
    free(count);
    return st;
}

/* Of a prompt's step what is not of its tokens: its attention, or the rest. */
static ft_status add_own(ft_serve_plan *p, ft__serve_cell *cell,
                         const struct plan_model *m, const ft_graph *g,
                         const ft_graph *tokens, bool attention, ft_error *err)
{
    double *left = counts_of(g);
    ft_status st = left ? FT_OK : ft__serve_no_memory(err);

    *cell = (ft__serve_cell){(uint32_t)p->n_entries, 0};
    for (uint32_t i = 0; i < tokens->n_nodes && !st; i++)
        if (m->common[i]) {
            const uint32_t same = find_op(g, &tokens->op[tokens->node[i].op]);

            if (same < g->n_ops)
                left[same] -= (double)tokens->node[i].repeat;
        }
    for (uint32_t i = 0; i < g->n_nodes && !st; i++)
        if (is_head(&g->node[i]))
            left[g->node[i].op] -= (double)g->node[i].repeat;
    for (uint32_t i = 0; i < g->n_ops && !st; i++)
        if ((g->op[i].kind == FT_KIND_attention) == attention)
            st = add_entry(p, cell, &g->op[i], left[i], err);
    free(left);
    return st;
}

static uint64_t layers_of(const ft_graph *g)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < g->n_nodes; i++)
        n += strcmp(g->node[i].name, "input_norm") == 0 ? g->node[i].repeat : 0;
    return n;
}

/* Operations that Python issues for a prompt, where experts are among them. */
static uint64_t issued_of(const ft_graph *g)
{
    bool mixture = false;
    uint64_t n = 0;

    for (uint32_t i = 0; i < g->n_ops; i++) {
        mixture = mixture || g->op[i].kind == FT_KIND_moe;
        n += ft_kind_class(g->op[i].kind) == FT_CLASS_VIEW ? 0 : g->op_count[i];
    }
    return mixture ? n : 0;
}

static bool has_block_experts(const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (ft__serve_block_experts(&g->op[i]))
            return true;
    return false;
}

static ft_status plan_decode(ft_serve_plan *p, struct plan_model *m, ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < p->seqs.n && !st; i++)
        for (size_t k = 0; k < p->context.n && !st; k++) {
            const double context = fmax(p->context.at[k], m->few);
            ft_graph *g;

            st = step_graph(&g, m, FT__LLM_COUNTED, p->seqs.at[i], 1, context, err);
            if (!st)
                st = add_nodes(p, &p->cell[FT__SERVE_DECODE][i * p->context.n + k], m,
                               g, OWN, err);
            if (!st && k == 0)
                st = add_nodes(p, &p->cell[FT__SERVE_HEAD][i], m, g, HEAD, err);
            if (!st && i == p->seqs.n / 2 && k == p->context.n / 2) {
                p->layers = layers_of(g);
                st = step_graph(&p->decode, m, FT__LLM_ALIKE_ONCE, p->seqs.at[i], 1,
                                p->context.at[k], err);
                p->decode_step =
                    (ft_serve_step){.decode_seqs = p->seqs.at[i],
                                    .decode_context = p->seqs.at[i] * p->context.at[k]};
            }
            ft_graph_free(g);
        }
    return st;
}

static ft_status plan_chunk(ft_serve_plan *p, struct plan_model *m, size_t i,
                            const ft_graph *tokens, ft_error *err)
{
    const double n = p->chunk.at[i];
    const bool middle = n >= (double)p->bounds.least_prompt || i + 1 == p->chunk.n;
    ft_status st = FT_OK;

    for (size_t k = 0; k < p->before.n && !st; k++) {
        const size_t at = i * p->before.n + k;
        ft_graph *g;

        st = step_graph(&g, m, FT__LLM_COUNTED, 1, n, n + p->before.at[k], err);
        if (!st)
            st = add_own(p, &p->cell[FT__SERVE_PREFILL][at], m, g, tokens, false, err);
        if (!st)
            st = add_own(p, &p->cell[FT__SERVE_ATTENTION][at], m, g, tokens, true, err);
        if (!st && k == 0 && middle && !p->prefill) {
            p->issued = issued_of(g);
            p->block_experts = has_block_experts(g);
            st = step_graph(&p->prefill, m, FT__LLM_ALIKE_ONCE, 1, n, n, err);
            p->prefill_step = (ft_serve_step){.prefill_tokens = n,
                                              .prefill_pairs = n * (n + 1) / 2,
                                              .prefill_seqs = 1};
        }
        ft_graph_free(g);
    }
    return st;
}

/* A step of so many tokens stands for those of prompts, too: all sizes of chunks are
 * among those of rows. */
static ft_status plan_tokens(ft_serve_plan *p, struct plan_model *m, ft_error *err)
{
    size_t chunk = 0;
    ft_status st = FT_OK;

    for (size_t i = 0; i < p->rows.n && !st; i++) {
        ft_graph *g;

        st = step_graph(&g, m, FT__LLM_COUNTED, p->rows.at[i], 1, m->few, err);
        if (!st)
            st = add_nodes(p, &p->cell[FT__SERVE_ROWS][i], m, g, COMMON, err);
        if (!st && chunk < p->chunk.n && p->chunk.at[chunk] == p->rows.at[i])
            st = plan_chunk(p, m, chunk++, g, err);
        ft_graph_free(g);
    }
    return st;
}

/* Ranks that do not divide the model are no failure. */
static void plan_more_ranks(ft_serve_plan *p, struct plan_model *m, double context)
{
    const uint64_t ranks = p->ranks / p->stages;
    size_t tp = 0;

    while (tp < m->n_dims && strcmp(m->dim[tp].name, "tp") != 0)
        tp++;
    if (tp == m->n_dims)
        m->dim[m->n_dims++].name = "tp";
    for (uint64_t n = 2 * ranks; n <= FT__SERVE_MOST_RANKS; n += ranks) {
        ft_graph *g;

        m->dim[tp].value = (int64_t)n;
        if (step_graph(&g, m, FT__LLM_COUNTED, 1, 1, context, NULL) == FT_OK)
            ft__llm_memory_of_step(&p->divided[n], g);
        ft_graph_free(g);
    }
}

/* A sequence with the most context tells what a token takes of the cache. */
static ft_status plan_memory(ft_serve_plan *p, struct plan_model *m, ft_error *err)
{
    const double context = p->context.at[p->context.n - 1];
    ft_status st;

    m->q.dims = m->dim;
    m->q.n_dims = m->n_dims;
    st = ft__llm_memory_sizes(&p->sizes, &m->q, context, err);
    p->kv_bytes_per_token = p->sizes.cache / context;
    if (!st)
        plan_more_ranks(p, m, context);
    return st;
}

static ft_status not_of_one(ft_error *err)
{
    return ft_fail(err, FT_EINVAL, 0,
                   "batch, tokens and context are of one step, and serving, which "
                   "--prompt, --concurrency and others ask, has many: leave either "
                   "out");
}

/* Does the model have speculative layers whose acceptance rate is unknown? */
static bool may_draft(struct plan_model *m)
{
    ft_graph *g = NULL;
    bool has;

    if (m->never_drafts)
        return false;
    m->dim[m->n_dims++] = (ft_dim_value){"mtp", 1};
    has = step_graph(&g, m, FT__LLM_COUNTED, 1, 1, FT__SERVE_PROMPT, NULL) == FT_OK;
    m->n_dims--;
    ft_graph_free(g);
    return has;
}

static ft_status read_model(struct plan_model *m, const ft_query *q, ft_serve_plan *p,
                            ft_error *err)
{
    ft_status st;

    if (q->n_dims > MAX_DIMS - 5)
        return ft_fail(err, FT_EINVAL, 0, "more than %d dimensions", MAX_DIMS - 5);
    m->q = *q;
    m->q.graph = NULL;
    m->q.device = NULL;
    m->read = malloc(sizeof(*m->read));
    st = m->read ? ft__query_read_llm(m->read, q, err) : ft__serve_no_memory(err);
    if (st)
        return st;
    if (m->read->encoder)
        return ft_fail(err, FT_EINVAL, 0,
                       "%s: an encoder is not served step by step: it answers in one "
                       "pass, --batch N --dim tokens=N",
                       ft__base_name(q->model));
    m->few = 2;
    for (int64_t i = 0; i < m->read->layers; i++)
        if (m->read->layer[i].indexed)
            m->few = fmax(m->few, (double)m->read->layer[i].compress);
    if (q->mode && strcmp(q->mode, "training") == 0)
        return ft_fail(err, FT_EINVAL, 0,
                       "serving trains nothing: --mode training goes with --gpus N or "
                       "--dim train=1, and without --prompt and the like");
    if (q->batch)
        return not_of_one(err);
    for (size_t i = 0; i < q->n_dims; i++) {
        const ft_dim_value *d = &q->dims[i];

        if (strcmp(d->name, "tokens") == 0 || strcmp(d->name, "context") == 0)
            return not_of_one(err);
        if (strcmp(d->name, "mtp") == 0 && d->value > 0)
            return ft_fail(err, FT_EINVAL, 0,
                           "serving knows nothing of how many drafted tokens are "
                           "accepted: --dim mtp is of one step, or 0");
        if (strcmp(d->name, "mtp") == 0) {
            m->never_drafts = true;
            continue;
        }
        if (strcmp(d->name, "once") == 0)
            continue;
        if (strcmp(d->name, "tp") == 0 || strcmp(d->name, "pp") == 0)
            p->ranks *= (uint64_t)(d->value > 0 ? d->value : 1);
        if (strcmp(d->name, "dp") == 0 && d->value > 0)
            p->replicas = (uint64_t)d->value;
        if (strcmp(d->name, "pp") == 0 && d->value > 0)
            p->stages = (uint64_t)d->value;
        m->dim[m->n_dims++] = *d;
    }
    if (!q->dtype)
        m->dim[m->n_dims++] = (ft_dim_value){"served", 1};
    return FT_OK;
}

static void raise(uint64_t *most, uint64_t x)
{
    *most = x > *most ? x : *most;
}

static ft_status read_loads(ft_serve_plan *p, const ft_serve_load *load, size_t n,
                            ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < n && !st; i++) {
        ft__serve_bounds b;
        ft_serve_load l;

        st = ft__serve_load_read(&l, &load[i], INFINITY, err);
        if (st)
            return st;
        ft__serve_bounds_of(&b, &l);
        if (i == 0)
            p->bounds = b;
        if (b.least_prompt < p->bounds.least_prompt)
            p->bounds.least_prompt = b.least_prompt;
        raise(&p->bounds.most_prompt, b.most_prompt);
        raise(&p->bounds.most_context, b.most_context);
        raise(&p->bounds.seqs, b.seqs);
        raise(&p->bounds.tokens, b.tokens);
    }
    return n ? FT_OK : ft_fail(err, FT_EINVAL, 0, "no load");
}

static ft_status make_cells(ft_serve_plan *p, ft_error *err)
{
    const size_t n[FT__SERVE_PARTS] = {
        [FT__SERVE_ROWS] = p->rows.n,
        [FT__SERVE_HEAD] = p->seqs.n,
        [FT__SERVE_DECODE] = p->seqs.n * p->context.n,
        [FT__SERVE_PREFILL] = p->chunk.n * p->before.n,
        [FT__SERVE_ATTENTION] = p->chunk.n * p->before.n,
    };

    for (int i = 0; i < FT__SERVE_PARTS; i++) {
        p->cell[i] = calloc(n[i] + 1, sizeof(*p->cell[i]));
        if (!p->cell[i])
            return ft__serve_no_memory(err);
    }
    return FT_OK;
}

ft_status ft_serve_plan_open(ft_serve_plan **out, const ft_query *asked,
                             const ft_serve_load *load, size_t n, ft_error *err)
{
    struct plan_model m = {.n_nodes = 0};
    ft_serve_plan *p = calloc(1, sizeof(*p));
    ft_query q;
    ft_status st = p ? ft__query_read(&q, asked, err) : ft__serve_no_memory(err);

    *out = NULL;
    if (!st) {
        p->ranks = p->replicas = p->stages = 1;
        st = read_model(&m, &q, p, err);
    }
    if (!st)
        st = read_loads(p, load, n, err);
    if (!st) {
        make_grids(p);
        st = make_cells(p, err);
    }
    if (!st)
        p->may_draft = may_draft(&m);
    if (!st)
        st = find_common(&m, err);
    if (!st)
        st = plan_tokens(p, &m, err);
    if (!st)
        st = plan_decode(p, &m, err);
    if (!st)
        st = plan_memory(p, &m, err);
    if (!st)
        st = make_list(p, err);
    free(m.common);
    free(m.head);
    free(m.read);
    if (st)
        ft_serve_plan_close(p);
    else
        *out = p;
    return st;
}

void ft_serve_plan_close(ft_serve_plan *p)
{
    if (!p)
        return;
    free(p->op);
    free(p->entry);
    for (int i = 0; i < FT__SERVE_PARTS; i++)
        free(p->cell[i]);
    ft__index_free(&p->op_of);
    ft_graph_free(p->list);
    ft_graph_free(p->decode);
    ft_graph_free(p->prefill);
    free(p);
}

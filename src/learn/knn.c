/* Nearest neighbours among standardised samples, found exactly with a k-d tree
 * (Friedman, Bentley, Finkel 1977). Of equally near samples the earlier one counts. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/training_set.h"

enum {
    LANES = 8, /* samples of a block, whose distances are taken at once */
    MAX_NEIGHBOURS = 64,
};

/* A body: this, columns, nodes, blocks. A node is in charge of a range of blocks and
 * has its halves' nodes at 2 i + 1 and 2 i + 2; the first half is the smaller where
 * they differ, and holds the samples up to `cut`. One block needs no node. */
struct knn {
    uint32_t n_columns, n_rows, n_blocks, n_nodes;
    uint32_t k, zero;
};

struct node {
    uint32_t column;
    float cut;
};

/* LANES samples; behind it their values, column by column. Lanes that only fill up the
 * last block have the id NONE. */
struct block {
    double y[LANES], w[LANES];
    uint32_t id[LANES];
};

static const uint32_t NONE = UINT32_MAX;

struct parts {
    const struct knn *head;
    const ft__column *column;
    const struct node *node;
    const char *block;
    size_t block_bytes;
};

static size_t block_bytes(uint32_t n_columns)
{
    return sizeof(struct block) + (size_t)n_columns * LANES * sizeof(float);
}

/* Nodes that an implicit tree over n blocks reaches: 2^ceil(log2 n) - 1. */
static uint32_t count_nodes(uint32_t n_blocks)
{
    uint32_t leaves = 1;

    while (leaves < n_blocks)
        leaves *= 2;
    return leaves - 1;
}

static struct parts parts_of(const void *body)
{
    const struct knn *h = body;
    struct parts p = {.head = h, .column = (const ft__column *)(h + 1)};

    p.node = (const struct node *)(p.column + h->n_columns);
    p.block = (const char *)(p.node + h->n_nodes);
    p.block_bytes = block_bytes(h->n_columns);
    return p;
}

static const struct block *block_at(const struct parts *p, uint32_t i)
{
    return (const struct block *)(p->block + i * p->block_bytes);
}

static size_t body_bytes(const struct knn *h)
{
    return sizeof(*h) + h->n_columns * sizeof(ft__column) +
           h->n_nodes * sizeof(struct node) + h->n_blocks * block_bytes(h->n_columns);
}

struct grow {
    const ft__training_set *l;
    ft__key *key; /* the rows, in the order of their blocks in the end */
    struct node *node;
};

/* The column in which n rows differ most. */
static uint32_t widest(const struct grow *g, const ft__key *key, uint32_t n)
{
    uint32_t best = 0;
    float most = -1;

    for (uint32_t j = 0; j < g->l->n_cols; j++) {
        float lo = FLT_MAX, hi = -FLT_MAX;

        for (uint32_t i = 0; i < n; i++) {
            const float v = g->l->u[(size_t)key[i].row * g->l->n_cols + j];

            lo = v < lo ? v : lo;
            hi = v > hi ? v : hi;
        }
        if (hi - lo > most) {
            most = hi - lo;
            best = j;
        }
    }
    return best;
}

/* Blocks first .. first + n - 1 under node `at`; as deep as 2^21 rows are halved. */
static void grow(struct grow *g, uint32_t at, uint32_t first, uint32_t n)
{
    const uint32_t begin = first * LANES, half = n / 2;
    ft__key *key = g->key + begin;
    uint32_t rows = g->l->n_rows - begin, column;

    if (n == 1)
        return;
    rows = rows < n * LANES ? rows : n * LANES;
    column = widest(g, key, rows);
    for (uint32_t i = 0; i < rows; i++)
        key[i].x =
            g->l->n_cols ? g->l->u[(size_t)key[i].row * g->l->n_cols + column] : 0;
    ft__keys_sort(key, rows);
    g->node[at] = (struct node){column, key[half * LANES - 1].x};
    grow(g, 2 * at + 1, first, half);
    grow(g, 2 * at + 2, first + half, n - half);
}

static void fill_block(struct block *b, const ft__training_set *l, const ft__key *key,
                       uint32_t n)
{
    float *x = (float *)(b + 1);

    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t row = i < n ? key[i].row : NONE;

        b->id[i] = row;
        b->y[i] = i < n ? l->y[row] : 0;
        b->w[i] = i < n ? l->w[row] : 0;
        for (uint32_t j = 0; j < l->n_cols; j++)
            x[j * LANES + i] = i < n ? l->u[(size_t)row * l->n_cols + j] : 0;
    }
}

static ft_status write_body(ft__draft *out, const ft__training_set *l, ft__key *key,
                            uint32_t k, ft_error *err)
{
    struct knn h = {.n_columns = l->n_cols,
                    .n_rows = l->n_rows,
                    .n_blocks = (l->n_rows + LANES - 1) / LANES,
                    .k = k};
    struct grow g = {.l = l, .key = key};
    char *body, *at;

    h.n_nodes = count_nodes(h.n_blocks);
    body = ft__draft_body(out, body_bytes(&h));
    if (!body)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %u samples", h.n_rows);
    memcpy(body, &h, sizeof(h));
    at = body + sizeof(h);
    memcpy(at, l->column, h.n_columns * sizeof(*l->column));
    at += h.n_columns * sizeof(*l->column);
    g.node = (struct node *)at;
    grow(&g, 0, 0, h.n_blocks);
    at += h.n_nodes * sizeof(struct node);
    for (uint32_t i = 0; i < h.n_blocks; i++, at += block_bytes(h.n_columns)) {
        const uint32_t begin = i * LANES, left = h.n_rows - begin;

        fill_block((struct block *)at, l, key + begin, left < LANES ? left : LANES);
    }
    return FT_OK;
}

static ft_status fit(ft__draft *out, const ft__task *t, uint32_t k, ft_error *err)
{
    ft__training_set l;
    ft__key *key;
    ft_status st;

    if (k > MAX_NEIGHBOURS)
        return ft_fail(err, FT_EINVAL, 0, "%u neighbours are more than %d", k,
                       MAX_NEIGHBOURS);
    st = ft__training_set_new(&l, t, err);
    if (st)
        return st;
    key = calloc(l.n_rows, sizeof(*key));
    for (uint32_t i = 0; key && i < l.n_rows; i++)
        key[i].row = i;
    st = key ? write_body(out, &l, key, k, err)
             : ft_fail(err, FT_ENOMEM, 0, "no memory for %u samples", l.n_rows);
    free(key);
    ft__training_set_free(&l);
    return st;
}

static ft_status knn_fit(ft__draft *out, const ft__task *t, ft_error *err)
{
    return fit(out, t, ft__or_u32(t->opt->neighbours, 5), err);
}

static ft_status template_fit(ft__draft *out, const ft__task *t, ft_error *err)
{
    return fit(out, t, 1, err);
}

static ft_status check_block(const ft__learn_model *m, const struct parts *p,
                             uint32_t i, ft_error *err)
{
    const struct block *b = block_at(p, i);
    const float *x = (const float *)(b + 1);

    for (uint32_t j = 0; j < LANES; j++) {
        const uint32_t row = i * LANES + j;

        if ((b->id[j] == NONE) != (row >= p->head->n_rows))
            return ft__model_damaged(m, &b->id[j], err, "sample %u is numbered %u", row,
                                     b->id[j]);
        if (!isfinite(b->y[j]) || !(b->w[j] >= 0 && isfinite(b->w[j])))
            return ft__model_damaged(m, &b->y[j], err, "sample %u is %g", row, b->y[j]);
    }
    for (uint32_t j = 0; j < p->head->n_columns * LANES; j++)
        if (!isfinite(x[j]))
            return ft__model_damaged(m, &x[j], err, "a sample's column is %g",
                                     (double)x[j]);
    return FT_OK;
}

static ft_status check_head(const ft__learn_model *m, ft_error *err)
{
    const struct knn *h = m->body;

    if (m->len < sizeof(*h))
        return ft__model_damaged(m, m->body, err, "%zu bytes", m->len);
    if (h->k == 0 || h->k > MAX_NEIGHBOURS)
        return ft__model_damaged(m, &h->k, err, "%u neighbours", h->k);
    if (h->n_columns > m->head->width || h->n_rows == 0 || h->n_rows >= m->len ||
        h->n_blocks != (h->n_rows + LANES - 1) / LANES ||
        h->n_nodes != count_nodes(h->n_blocks) || m->len != body_bytes(h))
        return ft__model_damaged(m, h, err, "%u samples of %u columns in %zu bytes",
                                 h->n_rows, h->n_columns, m->len);
    return FT_OK;
}

static ft_status knn_open(ft__learn_model *m, ft_error *err)
{
    ft_status st = check_head(m, err);
    struct parts p;

    if (st)
        return st;
    p = parts_of(m->body);
    st = ft__columns_check(m, p.column, p.head->n_columns, err);
    for (uint32_t i = 0; !st && i < p.head->n_nodes; i++)
        if ((p.node[i].column && p.node[i].column >= p.head->n_columns) ||
            !isfinite(p.node[i].cut))
            st =
                ft__model_damaged(m, &p.node[i], err, "a node asks for column %u of %u",
                                  p.node[i].column, p.head->n_columns);
    for (uint32_t i = 0; !st && i < p.head->n_blocks; i++)
        st = check_block(m, &p, i, err);
    return st;
}

struct found {
    float d; /* squared distance */
    uint32_t id;
    double y, w;
};

struct search {
    const struct parts *p;
    const float *q;
    float *apart; /* by column: how far the query lies outside of the range searched */
    struct found best[MAX_NEIGHBOURS]; /* the nearest first */
    uint32_t n, k;
};

static bool nearer(float d, uint32_t id, const struct found *than)
{
    return d < than->d || (d == than->d && id < than->id);
}

static void offer(struct search *s, float d, const struct block *b, uint32_t lane)
{
    const uint32_t id = b->id[lane];
    uint32_t i = s->n < s->k ? s->n++ : s->k;

    if (i == s->k && !nearer(d, id, &s->best[--i]))
        return;
    while (i > 0 && nearer(d, id, &s->best[i - 1])) {
        s->best[i] = s->best[i - 1];
        i--;
    }
    s->best[i] = (struct found){d, id, b->y[lane], b->w[lane]};
}

static void search_block(struct search *s, uint32_t i)
{
    const struct block *b = block_at(s->p, i);
    const float *x = (const float *)(b + 1);
    float d[LANES] = {0};

    for (uint32_t j = 0; j < s->p->head->n_columns; j++, x += LANES) {
        for (int lane = 0; lane < LANES; lane++) {
            const float t = x[lane] - s->q[j];

            d[lane] += t * t;
        }
    }
    for (uint32_t lane = 0; lane < LANES; lane++)
        if (b->id[lane] != NONE)
            offer(s, d[lane], b, lane);
}

/* Whether something at least so far away (squared) may still count. The bound is a sum
 * of roundings of its own: a hair less is safe. */
static bool worth(const struct search *s, float bound)
{
    return s->n < s->k || !(bound * 0.9999F > s->best[s->k - 1].d);
}

/* Blocks first .. first + n - 1 under node `at`, `bound` away (squared) at least. */
static void search(struct search *s, uint32_t at, uint32_t first, uint32_t n,
                   float bound)
{
    const uint32_t half = n / 2;
    const struct node *node = &s->p->node[at];
    float over, before, further;

    if (n == 1) {
        search_block(s, first);
        return;
    }
    over = s->p->head->n_columns ? s->q[node->column] - node->cut : 0;
    before = s->apart[node->column];
    further = bound - before * before + over * over;
    if (over <= 0)
        search(s, 2 * at + 1, first, half, bound);
    else
        search(s, 2 * at + 2, first + half, n - half, bound);
    if (!worth(s, further))
        return;
    s->apart[node->column] = over;
    if (over <= 0)
        search(s, 2 * at + 2, first + half, n - half, further);
    else
        search(s, 2 * at + 1, first, half, further);
    s->apart[node->column] = before;
}

/* The mean of what was found, weighted by inverse distance; of those that are equal to
 * the query alone, where there are any. */
static double mean_of(const struct search *s)
{
    double sum = 0, all = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        const struct found *f = &s->best[i];
        double w = f->w;

        if (s->best[0].d > 0)
            w /= sqrt((double)f->d);
        else if (f->d > 0)
            break;
        sum += w * f->y;
        all += w;
    }
    return s->n == 1 || !(all > 0) || isinf(all) ? s->best[0].y : sum / all;
}

static void knn_predict(const ft__learn_model *m, const float *rows, size_t n,
                        double *out)
{
    const struct parts p = parts_of(m->body);
    float q[FT__MAX_COLUMNS], apart[FT__MAX_COLUMNS] = {0};

    for (size_t i = 0; i < n; i++) {
        struct search s = {.p = &p, .q = q, .apart = apart, .k = p.head->k};

        ft__columns_apply(q, p.column, p.head->n_columns, rows + i * m->head->width);
        search(&s, 0, 0, p.head->n_blocks, 0);
        out[i] = mean_of(&s);
    }
}

const ft__method_ops ft__method_knn = {NULL, knn_fit, knn_open, knn_predict};
const ft__method_ops ft__method_template = {NULL, template_fit, knn_open, knn_predict};

/* Neighbours of operations on a grid of sizes: looked up in an image, which is made of
 * the rows of a kind or lies in a file; and the regressor of those rows that have some.
 */
#include "predict/model/neighbours.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/prng.h"
#include "learn/learn_inside.h"
#include "predict/model/regressor.h"

/* Values of an operation that may be sizes: as many as a mask has bits. */
enum { MOST_VALUES = 64 };
/* An axis needs a neighbour for one in so many rows. */
enum { LEAST_PART = 5 };

static uint32_t values_of(const ft_op *op)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < FT_OP_MAX_KEYS; i++)
        n += op->count[i];
    return n;
}

static uint32_t possible(const ft_op *op)
{
    uint32_t n = values_of(op);

    return n < MOST_VALUES ? n : MOST_VALUES;
}

/* Of one kind and phase. Files keep it, so that the dtype is given by its name; layouts
 * and the order of a kind's keys stay as they are (predictor.h). */
static uint64_t rest_of(const ft__sample *v, uint64_t mask)
{
    const ft_op *op = &v->op;
    const uint32_t n = values_of(op);
    const uint32_t head[] = {v->dataset, (uint32_t)op->layout, op->wrt, op->in_place};
    uint64_t h = ft__hash_text(FT__HASH_BEGIN, ft_dtype_name(op->dtype));

    h = ft__hash_bytes(h, head, sizeof(head));
    h = ft__hash_bytes(h, op->count, sizeof(op->count));
    for (uint32_t i = 0; i < n; i++)
        if (i >= MOST_VALUES || !(mask >> i & 1))
            h = ft__hash_bytes(h, &op->value[i], sizeof(op->value[i]));
    return h;
}

static int64_t size_of(const ft_op *op, uint64_t mask)
{
    return mask ? op->value[__builtin_ctzll(mask)] : 0;
}

/* Of n rows: bits of the values that are, in all rows that have both, what value `at`
 * is; 0 where an earlier one is, or where it never changes. */
static uint64_t mask_of(uint32_t at, const ft__samples *s, const uint32_t *row,
                        size_t n)
{
    uint64_t same = ~0ull;
    bool changes = false;

    for (size_t i = 0; i < n; i++) {
        const ft_op *op = &s->v[row[i]].op;
        const uint32_t values = possible(op);

        if (at >= values)
            continue;
        for (uint32_t k = 0; k < values; k++)
            if (op->value[k] != op->value[at])
                same &= ~(1ull << k);
        changes |= op->value[at] != s->v[row[0]].op.value[at];
    }
    return changes && (same & ((1ull << at) - 1)) == 0 ? same : 0;
}

static uint32_t most_values(const ft__samples *s, const uint32_t *row, size_t n)
{
    uint32_t most = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t values = possible(&s->v[row[i]].op);

        most = values > most ? values : most;
    }
    return most;
}

struct axis_entry {
    uint64_t rest;
    int64_t size;
    size_t order; /* of its row: means do not depend on how sorting breaks ties */
    double target;
};

static int by_rest(const void *a, const void *b)
{
    const struct axis_entry *x = a, *y = b;

    if (x->rest != y->rest)
        return x->rest < y->rest ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Equal operations become one with their mean; how many are left. *paired: rows that
 * have a neighbour. */
static size_t merge(struct axis_entry *e, size_t n, size_t *paired)
{
    size_t out = 0, rows = 0; /* of a group's first operation */
    bool same;

    *paired = 0;
    for (size_t i = 0; i < n;) {
        size_t end = i;
        double sum = 0;

        for (; end < n && e[end].rest == e[i].rest && e[end].size == e[i].size; end++)
            sum += e[end].target;
        same = out && e[out - 1].rest == e[i].rest;
        if (same)
            *paired += rows + end - i;
        rows = same ? 0 : end - i;
        e[out] = e[i];
        e[out++].target = sum / (double)(end - i);
        i = end;
    }
    return out;
}

static size_t make_axis(struct axis_entry *e, size_t *paired, uint64_t mask,
                        const ft__samples *s, const uint32_t *row, const double *target,
                        size_t n)
{
    for (size_t i = 0; i < n; i++)
        e[i] = (struct axis_entry){rest_of(&s->v[row[i]], mask),
                                   size_of(&s->v[row[i]].op, mask), i, target[i]};
    qsort(e, n, sizeof(*e), by_rest);
    return merge(e, n, paired);
}

struct choice {
    uint64_t mask[FT__MOST_AXES];
    size_t paired[FT__MOST_AXES];
    uint32_t n;
};

/* Keep it among those with most neighbours, in the order of values. */
static void consider(struct choice *c, uint64_t mask, size_t paired)
{
    uint32_t least = 0;

    if (c->n < FT__MOST_AXES) {
        c->mask[c->n] = mask;
        c->paired[c->n++] = paired;
        return;
    }
    for (uint32_t i = 1; i < c->n; i++)
        if (c->paired[i] < c->paired[least])
            least = i;
    if (paired <= c->paired[least])
        return;
    memmove(&c->mask[least], &c->mask[least + 1],
            (c->n - least - 1) * sizeof(*c->mask));
    memmove(&c->paired[least], &c->paired[least + 1],
            (c->n - least - 1) * sizeof(*c->paired));
    c->mask[c->n - 1] = mask;
    c->paired[c->n - 1] = paired;
}

static struct choice choose_axes(struct axis_entry *scratch, const ft__samples *s,
                                 const uint32_t *row, const double *target, size_t n)
{
    const uint32_t values = most_values(s, row, n);
    struct choice c = {.n = 0};

    for (uint32_t at = 0; at < values; at++) {
        uint64_t mask = mask_of(at, s, row, n) &
                        (values < MOST_VALUES ? (1ull << values) - 1 : ~0ull);
        size_t paired;

        if (!mask)
            continue;
        make_axis(scratch, &paired, mask, s, row, target, n);
        if (paired >= n / LEAST_PART)
            consider(&c, mask, paired);
    }
    return c;
}

static size_t axis_bytes(size_t n)
{
    return n * (sizeof(uint64_t) + sizeof(int64_t)) + (n + 1) / 2 * 2 * sizeof(float);
}

static void put_axis(unsigned char *at, const struct axis_entry *e, size_t n)
{
    uint64_t *rest = (uint64_t *)(void *)at;
    int64_t *size = (int64_t *)(rest + n);
    float *target = (float *)(size + n);

    for (size_t i = 0; i < n; i++) {
        rest[i] = e[i].rest;
        size[i] = e[i].size;
        target[i] = (float)e[i].target;
    }
}

/* Room for all axes as if no operations were equal. */
static ft_status write_image(ft__neighbours *out, const struct choice *c,
                             struct axis_entry *scratch, const ft__samples *s,
                             const uint32_t *row, const double *target, size_t n,
                             ft_error *err)
{
    const size_t head =
        sizeof(ft__neighbours_image) + c->n * sizeof(ft__neighbours_axis_image);
    unsigned char *image = calloc(1, head + c->n * axis_bytes(n));
    ft__neighbours_axis_image *axis = (void *)(image + sizeof(ft__neighbours_image));
    size_t at = head, paired;

    if (!image)
        return ft_fail(err, FT_ENOMEM, 0, "neighbours of %zu rows", n);
    for (uint32_t a = 0; a < c->n; a++) {
        size_t kept = make_axis(scratch, &paired, c->mask[a], s, row, target, n);

        axis[a] = (ft__neighbours_axis_image){c->mask[a], kept};
        put_axis(image + at, scratch, kept);
        at += axis_bytes(kept);
    }
    *(ft__neighbours_image *)(void *)image = (ft__neighbours_image){c->n, at};
    ft__neighbours_open(out, image, at);
    out->own = image;
    return FT_OK;
}

ft_status ft__neighbours_make(ft__neighbours *out, const ft__samples *s,
                              const uint32_t *row, const double *target, size_t n,
                              ft_error *err)
{
    struct axis_entry *scratch = malloc((n + 1) * sizeof(*scratch));
    struct choice c;
    ft_status st = FT_OK;

    *out = (ft__neighbours){0};
    if (!scratch)
        return ft_fail(err, FT_ENOMEM, 0, "neighbours of %zu rows", n);
    c = choose_axes(scratch, s, row, target, n);
    if (c.n)
        st = write_image(out, &c, scratch, s, row, target, n, err);
    free(scratch);
    return st;
}

bool ft__neighbours_open(ft__neighbours *out, const void *image, size_t len)
{
    const unsigned char *begin = image;
    const ft__neighbours_image *head = image;
    const ft__neighbours_axis_image *axis = (const void *)(begin + sizeof(*head));
    size_t at;

    *out = (ft__neighbours){0};
    if (len < sizeof(*head) || head->n_axes > FT__MOST_AXES || head->bytes > len)
        return false;
    at = sizeof(*head) + head->n_axes * sizeof(*axis);
    if (at > head->bytes)
        return false;
    for (uint32_t a = 0; a < head->n_axes; a++) {
        const size_t left = (size_t)head->bytes - at;
        ft__neighbours_axis *to = &out->axis[a];

        if (axis[a].n > left / sizeof(uint64_t) || axis_bytes(axis[a].n) > left)
            return false;
        *to = (ft__neighbours_axis){.mask = axis[a].mask, .n = (size_t)axis[a].n};
        to->rest = (const void *)(begin + at);
        to->size = (const void *)(to->rest + to->n);
        to->target = (const void *)(to->size + to->n);
        at += axis_bytes(to->n);
    }
    out->image = image;
    out->bytes = (size_t)head->bytes;
    out->n_axes = (uint32_t)head->n_axes;
    return true;
}

/* The first entry that is not before (rest, size). */
static size_t place_of(const ft__neighbours_axis *a, uint64_t rest, int64_t size)
{
    size_t low = 0, high = a->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (a->rest[middle] < rest ||
            (a->rest[middle] == rest && a->size[middle] < size))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Tables of files are not looked through when they are opened. */
static bool serves(const ft__neighbours_axis *a, size_t i, uint64_t rest)
{
    return i < a->n && a->rest[i] == rest && a->size[i] >= 0 && isfinite(a->target[i]);
}

static float octaves(int64_t from, int64_t to)
{
    return (float)log2((1 + (double)to) / (1 + (double)from));
}

bool ft__neighbours_fill(const ft__neighbours *n, float *columns, const ft__sample *v)
{
    bool any = false;

    for (uint32_t i = 0; i < n->n_axes; i++, columns += FT__AXIS_COLUMNS) {
        const ft__neighbours_axis *a = &n->axis[i];
        const uint64_t rest = rest_of(v, a->mask);
        const int64_t size = size_of(&v->op, a->mask);
        const size_t at = place_of(a, rest, size);
        size_t above = at;

        for (uint32_t k = 0; k < FT__AXIS_COLUMNS; k++)
            columns[k] = NAN;
        if (above < a->n && a->rest[above] == rest && a->size[above] == size)
            above++;
        if (at > 0 && serves(a, at - 1, rest)) {
            columns[0] = a->target[at - 1];
            columns[2] = octaves(a->size[at - 1], size);
            any = true;
        }
        if (serves(a, above, rest)) {
            columns[1] = a->target[above];
            columns[3] = octaves(size, a->size[above]);
            any = true;
        }
    }
    return any;
}

/* Fewer rows with neighbours are not worth one, nor is a gain below this. */
enum { LEAST_WIDE = 200 };
static const double least_gain = 0.03;

/* Rows that have neighbours: in the order of the part's, of[m] which they are. */
struct wide {
    float *x;
    double *y, *out, *residual_scale;
    uint64_t *group;
    size_t *of;
    uint32_t width;
    size_t m;
};

static void wide_free(struct wide *w)
{
    free(w->x);
    free(w->y);
    free(w->out);
    free(w->residual_scale);
    free(w->group);
    free(w->of);
}

static ft_status wide_make(struct wide *w, size_t n, uint32_t width, ft_error *err)
{
    *w = (struct wide){.x = malloc((n + 1) * width * sizeof(float)),
                       .y = malloc((n + 1) * sizeof(double)),
                       .out = malloc((n + 1) * sizeof(double)),
                       .residual_scale = malloc((n + 1) * sizeof(double)),
                       .group = malloc((n + 1) * sizeof(uint64_t)),
                       .of = malloc((n + 1) * sizeof(size_t)),
                       .width = width};
    if (w->x && w->y && w->out && w->residual_scale && w->group && w->of)
        return FT_OK;
    wide_free(w);
    return ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", n);
}

static void take_wide(struct wide *w, const ft__neighbours *neighbours,
                      const ft__model_set *l, const struct regressor_rows *r,
                      const ft__samples *s)
{
    const uint32_t plain = l->columns.n;

    for (size_t i = 0; i < r->m; i++) {
        float *row = w->x + w->m * w->width;

        if (!ft__neighbours_fill(neighbours, row + plain, &s->v[r->index[r->of[i]]]))
            continue;
        memcpy(row, r->px + i * plain, plain * sizeof(float));
        w->y[w->m] = r->py[i];
        w->group[w->m] = r->group[i];
        w->of[w->m++] = i;
    }
}

/* Mean deviation out of fold of the kind's regressor, where rows have neighbours. */
static double deviation_without(const struct wide *w, const struct regressor_rows *r)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < w->m; i++)
        if (isfinite(r->pout[w->of[i]])) {
            sum += fabs(w->y[i] - r->pout[w->of[i]]);
            n++;
        }
    return sum / (double)n;
}

static ft_status copy_range(ft__regressor *out, const ft__regressor *kind,
                            uint32_t width, ft_error *err)
{
    out->least = malloc(width * sizeof(float));
    out->most = malloc(width * sizeof(float));
    if (!out->least || !out->most)
        return ft_fail(err, FT_ENOMEM, 0, "regressor");
    memcpy(out->least, kind->least, width * sizeof(float));
    memcpy(out->most, kind->most, width * sizeof(float));
    return FT_OK;
}

/* A few trees, with and without neighbours, on a fifth of the rows that they have not
 * seen: most of what neighbours say nothing of is found out in a tenth of the time. */
enum { FEW_TREES = 12 };
static const double held_share = 0.2;

static bool is_held(uint64_t seed, uint64_t group)
{
    ft__prng p = ft__prng_stream(seed ^ 0x6e656172, group);

    return ft__prng_unit(&p) < held_share;
}

/* Mean deviation of trees on the rows of weight 0 that `tested` names. */
static ft_status deviation_of(double *out, const ft__matrix *x, const double *y,
                              const double *weight, const size_t *tested, size_t n,
                              const ft__fit_options *how, ft_error *err)
{
    const ft__learn_model_options trees = {.method = FT_METHOD_EXTRA,
                                           .forest = {.n_trees = FEW_TREES,
                                                      .min_leaf = 1,
                                                      .seed = how->seed,
                                                      .threads = how->threads}};
    ft__learn_model *model;
    double sum = 0;
    ft_status st = ft__model_fit(&model, x, y, weight, &trees, err);

    if (st)
        return st;
    for (size_t i = 0; i < n; i++) {
        double predicted;

        ft__model_predict(model, x->x + tested[i] * x->n_cols, 1, &predicted);
        sum += fabs(y[tested[i]] - predicted);
    }
    ft__model_free(model);
    *out = n ? sum / (double)n : 0;
    return FT_OK;
}

static ft_status find_gain(bool *gains, const struct wide *w, const ft__model_set *l,
                           const struct regressor_rows *r, const ft__fit_options *how,
                           ft_error *err)
{
    const ft__matrix with = {w->x, w->m, w->width};
    const ft__matrix without = {r->px, r->m, l->columns.n};
    double *weight = calloc(w->m + r->m + 1, sizeof(*weight)), *other;
    size_t *held = malloc((2 * w->m + 1) * sizeof(*held)), n = 0;
    double a = 0, b = 0;
    ft_status st = FT_OK;

    if (!weight || !held)
        st = ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", w->m);
    other = weight ? weight + w->m : NULL;
    for (size_t i = 0; i < w->m && !st; i++) {
        if (is_held(how->seed,
                    how->blocks ? w->group[i] >> FT__BLOCK_BITS : w->group[i])) {
            held[n] = i;
            held[w->m + n++] = w->of[i];
        } else
            weight[i] = other[w->of[i]] = 1;
    }
    if (!st && n && n < w->m)
        st = deviation_of(&a, &with, w->y, weight, held, n, how, err);
    if (!st && n && n < w->m)
        st = deviation_of(&b, &without, r->py, other, held + w->m, n, how, err);
    *gains = a < (1 - least_gain) * b;
    free(weight);
    free(held);
    return st;
}

static double deviation_of_all(const struct regressor_rows *r)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < r->m; i++)
        if (isfinite(r->pout[i])) {
            sum += fabs(r->py[i] - r->pout[i]);
            n++;
        }
    return sum / (double)n;
}

/* Cross-validation that looks at some of many rows flatters neighbours, which stay as
 * near as they are: both have to be held against all rows, too. easier: what the kind's
 * regressor errs where rows have neighbours, against everywhere. */
static bool is_better(const ft__fit *with, const ft__fit *without, double easier)
{
    return !with->refused &&
           with->deviation < (1 - least_gain) * without->deviation * easier;
}

/* The bytes of a fit's models in a predictor file. */
static size_t bytes_of(const ft__fit *f)
{
    size_t len = 0, sum = 0;

    for (uint32_t k = 0; k < f->n_models; k++) {
        ft__model_image(f->model[k], &len);
        sum += len;
    }
    if (f->residual_scale) {
        ft__model_image(f->residual_scale, &len);
        sum += len;
    }
    return sum;
}

/* Is there room in the file for it beside the kind's own regressor? */
static bool has_room(const ft__model_set *l, const ft__regressor *neighbours,
                     const ft__regressor *kind, size_t m)
{
    size_t bytes = bytes_of(&kind->fit) + bytes_of(&neighbours->fit) +
                   neighbours->neighbours.bytes;

    return !(l->opt.row_bytes > 0) || (double)bytes <= l->opt.row_bytes * (double)m;
}

static void say(ft__fit *f)
{
    const size_t len = strlen(f->choice);

    snprintf(f->choice + len, sizeof(f->choice) - len, ", with neighbours");
}

static ft_status fit_wide(ft__regressor *out, bool *made, struct wide *w,
                          const ft__model_set *l, struct regressor_rows *r,
                          const ft__regressor *kind, const ft__fit_options *how,
                          ft_error *err)
{
    const ft__matrix x = {w->x, w->m, w->width};
    ft__fit_options with = *how;
    const double without = deviation_without(w, r);
    bool gains;
    ft_status st = find_gain(&gains, w, l, r, how, err);

    if (st || !gains)
        return st;
    with.ceiling = (1 - least_gain) * without;
    st = ft__fit_make(&out->fit, w->out, w->residual_scale, &x, w->y, w->group, &with,
                      err);
    if (st || !is_better(&out->fit, &kind->fit, without / deviation_of_all(r)) ||
        !has_room(l, out, kind, r->m))
        return st;
    *made = true;
    ft__widen_for_few_sizes(&out->fit, r->sizes);
    say(&out->fit);
    for (size_t i = 0; i < r->m; i++)
        r->pout[i] = r->presidual_scale[i] = NAN;
    for (size_t i = 0; i < w->m; i++) {
        r->pout[w->of[i]] = w->out[i];
        r->presidual_scale[w->of[i]] = w->residual_scale[i];
    }
    st = copy_range(out, kind, l->columns.n, err);
    return st ? st : ft__regressor_errors(out, l, r, err);
}

/* In all rows of the kind, also those that are not drawn: they take little room. */
static ft_status find_neighbours(ft__neighbours *out, const ft__samples *s,
                                 const struct regressor_rows *r,
                                 const ft__regressor *kind, ft_error *err)
{
    uint32_t *row = malloc((r->n + 1) * sizeof(*row));
    double *target = malloc((r->n + 1) * sizeof(*target));
    size_t n = 0;
    ft_status st;

    for (size_t i = 0; i < r->n && row && target; i++)
        if (ft__regressor_has(kind, &s->v[r->index[i]].op)) {
            row[n] = r->index[i];
            target[n++] = r->y[i];
        }
    st = row && target ? ft__neighbours_make(out, s, row, target, n, err)
                       : ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", r->n);
    free(row);
    free(target);
    return st;
}

ft_status ft__regressor_with_neighbours(ft__regressor *out, bool *made,
                                        const ft__model_set *l,
                                        struct regressor_rows *r, const ft__samples *s,
                                        const ft__regressor *kind,
                                        const ft__fit_options *how, ft_error *err)
{
    struct wide w = {0};
    ft_status st = FT_OK;

    *out = (ft__regressor){.scope = FT__SCOPE_NEIGHBOURS,
                           .which = kind->which,
                           .phase = kind->phase,
                           .rows = kind->rows};
    *made = false;
    if (r->m < LEAST_WIDE || !kind->fit.n_models)
        return FT_OK;
    st = find_neighbours(&out->neighbours, s, r, kind, err);
    if (!st && out->neighbours.n_axes)
        st = wide_make(&w, r->m,
                       l->columns.n + ft__neighbours_columns(&out->neighbours), err);
    if (!st && out->neighbours.n_axes)
        take_wide(&w, &out->neighbours, l, r, s);
    if (!st && w.m >= LEAST_WIDE)
        st = fit_wide(out, made, &w, l, r, kind, how, err);
    wide_free(&w);
    if (st || !*made)
        ft__regressor_free(out);
    return st;
}

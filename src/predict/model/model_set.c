/* A model set is made: a regressor for each kind and class that has rows enough, what
 * kinds share, which of an older set are kept, and the intervals of all. */
#include "predict/model/model_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "base/stats.h"
#include "foretell/names.h"
#include "graph/op_inside.h"
#include "learn/learn_inside.h"
#include "predict/file/image.h"
#include "predict/model/regressor.h"

/* Rows of a phase above which kinds share no regressor; fewest rows of a regressor. */
enum { POOLED_ROWS = 1500, LEAST_ROWS = 12 };

/* About so many of n rows, equal operations together; what answers for rare kinds is
 * made of few of those that kinds are made of. */
static bool is_drawn(const ft__model_set *l, const ft__regressor *part, uint64_t hash,
                     size_t n)
{
    ft__prng p = ft__prng_stream(l->opt.fit.seed ^ 0xd4a3, hash);
    size_t most = l->opt.part_rows;

    if (most && part->scope > FT__SCOPE_KIND && !l->opt.single)
        most = ft__class_rows(most);
    return !most || n <= most || ft__prng_unit(&p) * (double)n < (double)most;
}

/* Folds hold whole layers, for intervals are about layers that were never measured at
 * any batch: where there are so many, or of a kind two, if those beside the largest
 * have rows enough to learn from. Else they hold operations. */
enum { LEAST_LAYERS = 5, LEAST_OF_KIND = 2 };

/* The index of v in seen[n]; n: it is not there. */
static size_t find(const uint64_t *seen, size_t n, uint64_t v)
{
    size_t i = 0;

    while (i < n && seen[i] != v)
        i++;
    return i;
}

static bool has_layers(const uint64_t *layer, size_t n, bool one_kind)
{
    uint64_t seen[LEAST_LAYERS];
    size_t rows[LEAST_LAYERS] = {0}, n_seen = 0, largest = 0;

    for (size_t i = 0, j; i < n && n_seen < LEAST_LAYERS; i++) {
        j = find(seen, n_seen, layer[i]);
        if (j == n_seen)
            seen[n_seen++] = layer[i];
        rows[j]++;
        largest = rows[j] > largest ? rows[j] : largest;
    }
    return n_seen == LEAST_LAYERS ||
           (one_kind && n_seen >= LEAST_OF_KIND && n - largest >= LEAST_ROWS);
}

/* Of fewer layers, measured at many batches each, another one lies beyond the sizes of
 * most: where folds hold single layers, each has some of its size beside it. Set, not
 * fitted. */
enum { FEW_LAYERS = 50, MANY_BATCHES = 10 };

/* Of an operation's rows on several devices, at several clocks, one counts. */
static bool are_few(const struct regressor_rows *r, const ft__samples *s)
{
    uint64_t layer[FEW_LAYERS], op[FEW_LAYERS * MANY_BATCHES];
    size_t layers = 0, ops = 0;

    for (size_t i = 0; i < r->m && layers < FEW_LAYERS; i++) {
        const uint64_t hash = s->v[r->index[r->of[i]]].hash;

        if (find(layer, layers, r->group[i]) == layers)
            layer[layers++] = r->group[i];
        if (ops < FEW_LAYERS * MANY_BATCHES && find(op, ops, hash) == ops)
            op[ops++] = hash;
    }
    return layers < FEW_LAYERS && ops >= MANY_BATCHES * layers;
}

/* Layers whose weights are of one power of two are left out together (blocked
 * cross-validation), where there are as many of these as layers are wanted. Of fewer
 * sizes no less is unknown; beside a single one all others are far. */
static void block_by_size(struct regressor_rows *r, uint32_t width)
{
    const float *size = r->px + FT__F_weight_elements; /* a logarithm to base 2 */
    uint64_t octaves = 0;
    uint32_t n = 0;

    for (size_t i = 0; i < r->m; i++)
        octaves |= (uint64_t)1 << (int)size[i * width];
    for (; octaves; octaves &= octaves - 1)
        n++;
    if (n < 2)
        return;
    r->blocks = n >= LEAST_LAYERS;
    r->sizes = r->blocks ? n : LEAST_LAYERS;
    for (size_t i = 0; i < r->m && r->blocks; i++)
        r->group[i] = (r->group[i] & (((uint64_t)1 << FT__BLOCK_BITS) - 1)) |
                      (uint64_t)size[i * width] << FT__BLOCK_BITS;
}

/* Few rows, of several kinds, with nothing said about how to learn from them. */
static bool is_shared(const ft__model_set *l, const ft__samples *s, const uint32_t *row,
                      size_t n_rows, ft_phase phase)
{
    const ft_op *first = NULL;
    size_t n = 0, most = l->opt.part_rows;
    bool several = false;

    for (size_t i = 0; i < n_rows; i++) {
        const ft_op *op = &s->v[row[i]].op;

        if (op->phase != phase)
            continue;
        n++;
        first = first ? first : op;
        several |= op->kind != first->kind;
    }
    return several && n <= POOLED_ROWS && (!most || n <= ft__class_rows(most)) &&
           !l->opt.fit.methods && !l->opt.single && !l->opt.unseen;
}

/* With fewer rows beside its largest kind a part does not tell what kinds say of
 * others: how much is taken of all its rows would hang on these few. Set, not fitted.
 */
enum { LEAST_BESIDE = 100 };

/* Does a part answer for kinds that it has no rows of alone, and are its rows, known
 * devices', of several? Of times only: nothing tells what kinds have in common of bytes
 * or power, where no answer is 0 bytes or the TDP. */
static bool is_for_other_kinds(const ft__model_set *l, const struct regressor_rows *r,
                               const ft__samples *s, const ft__regressor *p)
{
    size_t rows[FT__N_KIND_NUMBERS] = {0}, largest = 0, kinds = 0;

    if (l->opt.metric != FT__METRIC_TIME || p->scope <= FT__SCOPE_KIND ||
        l->opt.single || l->opt.unseen ||
        (p->scope == FT__SCOPE_ALL && is_shared(l, s, r->index, r->n, p->phase)))
        return false;
    for (size_t i = 0; i < r->m; i++) {
        const size_t n = ++rows[ft__kind_number(&s->v[r->index[r->of[i]]].op)];

        kinds += n == LEAST_ROWS;
        largest = n > largest ? n : largest;
    }
    return kinds > 1 && r->m - largest >= LEAST_BESIDE;
}

/* Each chip's rows are sampled independently, so that leave-one-chip-out tests
 * operations that are mostly absent from training. */
static uint64_t drawn_by(const ft__model_set *l, const ft__samples *s, uint32_t i)
{
    const char *chip = ft__dataset_chip(&s->dataset[s->v[i].dataset]);

    return l->opt.unseen ? s->v[i].hash ^ ft__checksum(chip, strlen(chip))
                         : s->v[i].hash;
}

static size_t take_regressor_rows(struct regressor_rows *r, const ft__model_set *l,
                                  const ft__samples *s, const ft__regressor *p)
{
    uint32_t width = l->columns.n;
    uint32_t common = p->scope == FT__SCOPE_ALL ? 0 : l->columns.n_common;
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        n += ft__regressor_has(p, &s->v[r->index[i]].op);
    r->all = n;
    r->m = r->sizes = 0;
    r->blocks = false;
    for (size_t i = 0; i < r->n; i++) {
        const ft__sample *v = &s->v[r->index[i]];

        if (!ft__regressor_has(p, &v->op) ||
            !is_drawn(l, p, drawn_by(l, s, r->index[i]), n))
            continue;
        memcpy(r->px + r->m * width, r->x + i * width, width * sizeof(float));
        /* What never changes is not learned from. */
        for (uint32_t j = width - common; j < width; j++)
            r->px[r->m * width + j] = 0;
        r->py[r->m] = r->y[i];
        r->group[r->m] = ft__op_layer_hash(&v->op);
        r->ppooled[r->m] = r->pooled[i];
        r->of[r->m++] = (uint32_t)i;
    }
    r->by_kind = is_for_other_kinds(l, r, s, p);
    if (r->by_kind)
        for (size_t i = 0; i < r->m; i++)
            r->group[i] = ft__kind_number(&s->v[r->index[r->of[i]]].op);
    else if (!has_layers(r->group, r->m, p->scope == FT__SCOPE_KIND))
        for (size_t i = 0; i < r->m; i++)
            r->group[i] = s->v[r->index[r->of[i]]].hash;
    else if (!l->opt.unseen && p->scope == FT__SCOPE_KIND && are_few(r, s))
        block_by_size(r, width);
    return r->m;
}

static uint64_t sum_of_text(const char *text)
{
    return ft__checksum(text, strlen(text));
}

/* A number that another value, operation or dataset would change. */
static uint64_t sum_of_sample(const ft__samples *s, uint32_t i, ft__metric metric)
{
    const ft__dataset *d = &s->dataset[s->v[i].dataset];
    uint64_t all[7] = {s->v[i].hash,           0,
                       sum_of_text(d->device), sum_of_text(d->setting),
                       sum_of_text(d->engine), sum_of_text(d->engine_version),
                       sum_of_text(d->policy)};

    memcpy(&all[1], &s->v[i].value[metric], sizeof(all[1]));
    return ft__checksum(all, sizeof(all));
}

static uint64_t sum_of_rows(const struct regressor_rows *r, const ft__samples *s,
                            ft__metric m)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < r->m; i++)
        sum += sum_of_sample(s, r->index[r->of[i]], m);
    return sum;
}

/* The same regressor as it was, or NULL. */
static const ft__regressor *regressor_before(const ft__model_set *l,
                                             const ft__regressor *wanted)
{
    const ft__model_set *b = l->opt.before;

    for (uint32_t i = 0; b && i < b->n_regressors; i++)
        if (b->part[i].scope == wanted->scope && b->part[i].which == wanted->which &&
            b->part[i].phase == wanted->phase)
            return &b->part[i];
    return NULL;
}

/* Is an old regressor as good as it was? Not where it shares what has been made anew:
 * of a phase without rows nothing is. */
static bool is_kept(const ft__model_set *l, const ft__regressor *old,
                    const struct regressor_rows *r, const ft__samples *s)
{
    uint32_t g = ft__model_set_pooled(l, old->phase);
    bool any = false;

    for (size_t i = 0; i < r->n; i++)
        any |= s->v[r->index[i]].op.phase == old->phase;
    return !old->pooled || !any || (g < l->n_regressors && l->part[g].stored.section);
}

static ft_status mix_pooled(ft__regressor *p, struct regressor_rows *r, ft_error *err)
{
    if (p->scope != FT__SCOPE_KIND || !p->fit.n_models)
        return FT_OK;
    for (size_t i = 0; i < r->m; i++)
        if (!isfinite(r->ppooled[i]) || !isfinite(r->pout[i]))
            return FT_OK;
    p->pooled = ft__pooled_share(r->pout, r->ppooled, r->py, r->m);
    return p->pooled ? ft__pooled_recalibrate(&p->fit, p->pooled, r->pout, r->py,
                                              r->presidual_scale, r->m, err)
                     : FT_OK;
}

static void name_column(const void *with, char out[48], uint32_t i)
{
    ft__columns_name(with, out, i);
}

/* Finds the range of each column over rows of r. */
static ft_status find_range(ft__regressor *p, const float *x, size_t m, uint32_t width,
                            ft_error *err)
{
    p->least = malloc(width * sizeof(float));
    p->most = malloc(width * sizeof(float));
    if (!p->least || !p->most)
        return ft_fail(err, FT_ENOMEM, 0, "regressor");
    memcpy(p->least, x, width * sizeof(float));
    memcpy(p->most, x, width * sizeof(float));
    for (size_t i = 1; i < m; i++)
        for (uint32_t j = 0; j < width; j++) {
            p->least[j] = fminf(p->least[j], x[i * width + j]);
            p->most[j] = fmaxf(p->most[j], x[i * width + j]);
        }
    return FT_OK;
}

void ft__widen_for_few_sizes(ft__fit *f, uint32_t sizes)
{
    const double wider = sizes ? ft__student(sizes - 1) / FT__Z90 : 1;

    f->low *= wider;
    f->high *= wider;
}

static ft_status fit_regressor(ft__regressor *p, const ft__model_set *l,
                               struct regressor_rows *r, const ft__samples *s,
                               const ft__fit_options *how, ft_error *err)
{
    const ft__matrix x = {r->px, r->m, l->columns.n};
    const ft__importance_of ask = {.to = l->opt.importance,
                                   .of = {.kind = ft__regressor_name(p),
                                          .metric = ft__metric_name(l->opt.metric),
                                          .phase = ft_name(FT_NAMES_PHASE, p->phase),
                                          .unseen = l->opt.unseen,
                                          .n = l->columns.n},
                                   .name = name_column,
                                   .with = &l->columns};
    ft_status st;

    p->rows = sum_of_rows(r, s, l->opt.metric);
    st = ft__importance_fit(&p->fit, r->pout, r->presidual_scale, &x, r->py, r->group,
                            how, &ask, err);
    if (!st)
        st = mix_pooled(p, r, err);
    ft__widen_for_few_sizes(&p->fit, r->sizes);
    if (!st && l->opt.unseen)
        st = ft__transfer_part(p, r, s, err);
    else if (!st && r->by_kind)
        st = ft__transfer_to_kinds(p, r, s, err);
    if (!st)
        st = find_range(p, r->px, r->m, l->columns.n, err);
    if (!st)
        st = ft__regressor_errors(p, l, r, err);
    return st;
}

/* Each residual counts for the most specific regressor of its row. */
static void take_residuals(struct regressor_rows *r, ft__scope scope)
{
    for (size_t i = 0; i < r->m; i++)
        if (scope < r->scope[r->of[i]] &&
            (scope != FT__SCOPE_NEIGHBOURS || isfinite(r->pout[i]))) {
            r->scope[r->of[i]] = scope;
            r->out[r->of[i]] = r->pout[i];
            r->residual_scale[r->of[i]] = r->presidual_scale[i];
        }
}

static ft__regressor *new_regressor(ft__model_set *l, ft_error *err)
{
    ft__regressor *p = realloc(l->part, (l->n_regressors + 1) * sizeof(*p));

    if (!p) {
        ft_fail(err, FT_ENOMEM, 0, "regressors");
        return NULL;
    }
    l->part = p;
    return p + l->n_regressors;
}

/* The kind's regressor is the last one. */
static ft_status add_neighbours(ft__model_set *l, struct regressor_rows *r,
                                const ft__samples *s, const ft__fit_options *how,
                                ft_error *err)
{
    ft__regressor *p = new_regressor(l, err);
    bool made;
    ft_status st;

    if (!p)
        return FT_ENOMEM;
    st = ft__regressor_with_neighbours(p, &made, l, r, s, p - 1, how, err);
    if (st || !made)
        return st;
    l->n_regressors++;
    take_residuals(r, FT__SCOPE_NEIGHBOURS);
    return FT_OK;
}

/* Of a stored one, of so many columns. */
static ft_status copy_regressor(ft__regressor *out, const ft__regressor *p,
                                uint32_t width, ft_error *err)
{
    *out = *p;
    atomic_init(&out->opened, NULL);
    out->least = malloc((width + 1u) * sizeof(float));
    out->most = malloc((width + 1u) * sizeof(float));
    if (!out->least || !out->most) {
        ft__regressor_free(out);
        return ft_fail(err, FT_ENOMEM, 0, "regressor");
    }
    memcpy(out->least, p->least, width * sizeof(float));
    memcpy(out->most, p->most, width * sizeof(float));
    return FT_OK;
}

static ft_status keep_regressor(ft__model_set *l, const ft__regressor *old,
                                ft_error *err)
{
    ft__regressor *p = new_regressor(l, err);
    ft_status st = p ? copy_regressor(p, old, l->columns.n, err) : FT_ENOMEM;

    l->n_regressors += st == FT_OK;
    return st;
}

static ft_status keep_regressors(ft__model_set *l, const ft__regressor *old,
                                 ft_error *err)
{
    const ft__model_set *b = l->opt.before;
    const uint32_t neighbours = ft__model_set_neighbours_of(b, old);
    ft_status st = keep_regressor(l, old, err);

    return st || neighbours == b->n_regressors
               ? st
               : keep_regressor(l, &b->part[neighbours], err);
}

static ft_status add_regressor(ft__model_set *l, struct regressor_rows *r,
                               const ft__samples *s, const ft__regressor *wanted,
                               ft_error *err)
{
    size_t n = take_regressor_rows(r, l, s, wanted);
    const ft__regressor *old = regressor_before(l, wanted);
    const bool kept = old && is_kept(l, old, r, s);
    ft__fit_options how;
    ft__regressor *p;
    ft_status st;

    if (old && (n || !kept) && r->all < old->fit.n_rows)
        return ft_fail(
            err, FT_ENOTFOUND, 0,
            "%s %s was learned from %zu operations, of which the store holds "
            "%zu: old and new ones have to be in one store",
            ft__regressor_name(wanted), ft_name(FT_NAMES_PHASE, wanted->phase),
            old->fit.n_rows, r->all);
    if (n < LEAST_ROWS && !old)
        return FT_OK;
    how = ft__transfer_how(l, r, s);
    how.no_residual_scale |= r->by_kind;
    how.blocks = r->blocks;
    if (kept && (!n || old->rows == sum_of_rows(r, s, l->opt.metric)))
        return keep_regressors(l, old, err);
    p = new_regressor(l, err);
    if (!p)
        return FT_ENOMEM;
    *p = *wanted;
    p->by_kind = r->by_kind;
    st = fit_regressor(p, l, r, s, &how, err);
    if (st) {
        ft__regressor_free(p);
        return st;
    }
    l->n_regressors++;
    take_residuals(r, wanted->scope);
    if (wanted->scope != FT__SCOPE_KIND || l->opt.plain || l->opt.unseen)
        return FT_OK;
    return add_neighbours(l, r, s, &how, err);
}

static bool is_asked(const ft__model_set *l, const ft__regressor *wanted,
                     const ft__samples *s, const uint32_t *ask, size_t n_ask)
{
    if (n_ask == 0)
        return true;
    for (size_t i = 0; i < n_ask; i++) {
        const ft_op *op = &s->v[ask[i]].op;

        uint32_t p = ft__model_set_regressor(l, op);

        if (ft__regressor_has(wanted, op) &&
            (p == l->n_regressors || l->part[p].scope > wanted->scope))
            return true;
    }
    return false;
}

/* The regressors of all kinds, of which kinds take a share: before those of kinds. */
static ft_status add_pooled(ft__model_set *l, struct regressor_rows *r,
                            const ft__samples *s, ft_error *err)
{
    ft_status st = FT_OK;

    for (int phase = 0; phase < FT_PHASE_COUNT && !st; phase++)
        if (is_shared(l, s, r->index, r->n, (ft_phase)phase))
            st = add_regressor(
                l, r, s,
                &(ft__regressor){.scope = FT__SCOPE_ALL, .phase = (ft_phase)phase},
                err);
    memcpy(r->pooled, r->out, r->n * sizeof(*r->pooled));
    return st;
}

static uint32_t scope_size(ft__scope scope)
{
    return scope == FT__SCOPE_KIND    ? FT__N_KIND_NUMBERS
           : scope == FT__SCOPE_CLASS ? FT_CLASS_COUNT
                                      : 1;
}

static ft_status add_regressors(ft__model_set *l, struct regressor_rows *r,
                                const ft__samples *s, const uint32_t *ask, size_t n_ask,
                                ft_error *err)
{
    size_t rows_of[FT__N_KIND_NUMBERS][FT_PHASE_COUNT] = {0};
    ft_status st = add_pooled(l, r, s, err);
    int first = l->opt.single ? FT__SCOPE_ALL : FT__SCOPE_KIND;

    for (size_t i = 0; i < r->n; i++) {
        const ft_op *op = &s->v[r->index[i]].op;

        rows_of[ft__kind_number(op)][op->phase]++;
    }
    for (int scope = first; scope <= FT__SCOPE_ALL; scope++)
        for (uint32_t i = 0; i < scope_size((ft__scope)scope); i++)
            for (int phase = 0; phase < FT_PHASE_COUNT && !st; phase++) {
                const ft__regressor wanted = {
                    .scope = (ft__scope)scope, .which = i, .phase = (ft_phase)phase};

                /* Most kinds have none: not every row is looked at for each of them. */
                if (scope == FT__SCOPE_KIND && rows_of[i][phase] < LEAST_ROWS &&
                    !regressor_before(l, &wanted))
                    continue;
                if ((scope != FT__SCOPE_ALL ||
                     ft__model_set_pooled(l, wanted.phase) == l->n_regressors) &&
                    is_asked(l, &wanted, s, ask, n_ask))
                    st = add_regressor(l, r, s, &wanted, err);
            }
    return st;
}

/* Tails of regressors with few rows are shrunk to those of all, as if of EVEN_ROWS more
 * rows; not of stored ones, which were, nor of intervals between kinds. */
enum { EVEN_ROWS = 40 };
static void even_tails(ft__model_set *l)
{
    for (uint32_t i = 0; i < l->n_regressors; i++) {
        ft__fit *f = &l->part[i].fit;
        const double own = (double)f->n_rows / ((double)f->n_rows + EVEN_ROWS);

        if (l->part[i].stored.section || l->part[i].by_kind)
            continue;
        f->low = own * f->low + (1 - own) * l->low;
        f->high = own * f->high + (1 - own) * l->high;
    }
}

/* l->low and l->high: between which the standardised residuals of all parts lie. */
static ft_status share_tails(ft__model_set *l, struct regressor_rows *r,
                             const ft__samples *s, ft_error *err)
{
    size_t n = 0;
    ft_status st = FT_OK;

    if (l->opt.unseen)
        return ft__transfer_tails(l, r, s, err);
    for (size_t i = 0; i < r->n; i++)
        if (isfinite(r->out[i]) && r->residual_scale[i] > 0)
            r->pout[n++] = (r->y[i] - r->out[i]) / r->residual_scale[i];
    if (n && !l->opt.before)
        st = ft__conformal(&l->low, &l->high, r->pout, n, FT__COVERAGE, err);
    if (!st && (n || l->opt.before))
        even_tails(l);
    return st;
}

bool ft__tells_of_others(const ft__dataset *d, ft__metric metric)
{
    return metric != FT__METRIC_POWER || isnan(ft__loop_calls(d->setting));
}

/* Rows with a value of the metric, and a time for the base. */
static size_t usable(uint32_t *out, const ft__samples *s, const uint32_t *row, size_t n,
                     ft__metric metric, bool unseen)
{
    size_t m = 0;

    for (size_t i = 0; i < n; i++) {
        const ft__sample *v = &s->v[row[i]];
        double value = v->value[metric];

        if (unseen && !ft__tells_of_others(&s->dataset[v->dataset], metric))
            continue;
        if (value > 0 || (metric >= FT__METRIC_MEMORY && value == 0))
            out[m++] = row[i];
    }
    return m;
}

/* Power lies between what a device draws at rest and its cap, which many operations are
 * at: a little beyond what was seen. */
static const double below_least = 0.8, above_most = 1.1;

static void know_targets(ft__model_set *l, const double *y, size_t n)
{
    double least = INFINITY, most = -INFINITY;

    /* Bytes may be 0, of which any error is without end. */
    l->opt.fit.relative = !l->opt.unseen && l->opt.metric < FT__METRIC_MEMORY;
    if (l->opt.unseen || l->opt.metric != FT__METRIC_POWER)
        return;
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, y[i]);
        most = fmax(most, y[i]);
    }
    l->opt.fit.least = least + log(below_least);
    l->opt.fit.most = most + log(above_most);
}

static ft_status learn(ft__model_set *l, const ft__samples *s, const uint32_t *row,
                       size_t n, const uint32_t *ask, size_t n_ask, ft_error *err)
{
    struct regressor_rows r;
    ft_status st;

    l->rows_of = calloc(s->n_datasets + 1u, sizeof(*l->rows_of));
    st = l->rows_of ? ft__rows_make(&r, l, s, row, n, err)
                    : ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", n);
    if (st)
        return st;
    know_targets(l, r.y, n);
    for (size_t i = 0; i < n; i++)
        l->rows_of[s->v[row[i]].dataset]++;
    memcpy(r.py, r.y, n * sizeof(*r.py));
    l->centre = l->opt.before ? l->opt.before->centre : ft__median(r.py, n);
    st = add_regressors(l, &r, s, ask, n_ask, err);
    for (size_t i = 0; i < n && l->opt.held; i++)
        l->opt.held[row[i]] = ft__model_set_value(l, r.out[i], r.scale[i]);
    l->opt.held = NULL;
    if (!st)
        st = share_tails(l, &r, s, err);
    ft__rows_free(&r);
    return st;
}

static ft_status find_base(ft__model_set *l, const ft__samples *s, const uint32_t *row,
                           size_t n, ft_error *err)
{
    const ft__base *known = l->opt.before ? &l->opt.before->base : l->opt.base;

    return known ? ft__base_extend(&l->base, known, s, row, n, err)
                 : ft__base_fit(&l->base, s, row, n, l->opt.fit.seed, err);
}

static ft_status find_columns(ft__model_set *l, const ft__samples *s,
                              const uint32_t *row, size_t n, ft_error *err)
{
    const ft__columns *before = l->opt.before ? &l->opt.before->columns : NULL;
    bool common = false;

    for (int phase = 0; phase < FT_PHASE_COUNT && !before; phase++)
        common |= l->opt.metric == FT__METRIC_POWER &&
                  is_shared(l, s, row, n, (ft_phase)phase);
    return ft__columns_make(&l->columns, before, s, row, n, l->opt.unseen, common, err);
}

ft_status ft__model_set_fit(ft__model_set *out, const ft__samples *s,
                            const uint32_t *row, size_t n, const uint32_t *ask,
                            size_t n_ask, const ft__model_set_options *opt,
                            ft_error *err)
{
    uint32_t *own = calloc(n + 1, sizeof(*own));
    size_t m = 0;
    ft_status st = FT_OK;

    *out = (ft__model_set){.opt = *opt,
                           .low = opt->before ? opt->before->low : -1,
                           .high = opt->before ? opt->before->high : 1};
    /* Trees stay within what they were shown. */
    if (opt->unseen && !opt->fit.methods)
        out->opt.fit.methods = 1u << FT_METHOD_EXTRA;
    if (!own)
        return ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", n);
    m = usable(own, s, row, n, FT__METRIC_TIME, opt->unseen);
    st = find_base(out, s, own, m, err);
    if (!st) {
        m = usable(own, s, row, n, opt->metric, opt->unseen);
        if (m == 0)
            st = ft_fail(err, FT_ENOTFOUND, 0, "no row with a %s to learn from",
                         ft__metric_name(opt->metric));
    }
    if (!st)
        st = find_columns(out, s, own, m, err);
    if (!st)
        st = learn(out, s, own, m, ask, n_ask, err);
    free(own);
    if (st)
        ft__model_set_free(out);
    return st;
}

void ft__model_set_free(ft__model_set *l)
{
    for (uint32_t i = 0; i < l->n_regressors; i++)
        ft__regressor_free(&l->part[i]);
    free(l->part);
    free(l->rows_of);
    l->part = NULL;
    l->rows_of = NULL;
    l->n_regressors = 0;
    ft__columns_free(&l->columns);
    ft__base_free(&l->base);
}

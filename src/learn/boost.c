/* Gradient boosting (Friedman 2001; Chen, Guestrin 2016). XGBoost grows the trees; its
 * dump of them becomes a forest of our own, whose trees are added up. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "learn/forest.h"
#include "learn/lesson.h"
#include "learn/xgboost.h"

/* A body: this, the columns seen in the mirror too, the image of a forest. A forest
 * sends missing values left. Where XGBoost learned to send them right, the node asks
 * for the column's negative, a column of its own behind the others, and left and right
 * are exchanged. */
struct boost {
    double base;
    double scale; /* prediction = base + scale x sum of the trees */
    uint32_t n_mirrors;
    uint32_t zero;
};

enum { BATCH_VALUES = 1 << 14 };

static const uint32_t *mirrors(const struct boost *b)
{
    return (const uint32_t *)(b + 1);
}

/* Padded, so that the forest behind them is aligned to 8 bytes. */
static size_t mirror_bytes(uint32_t n)
{
    return (n + n % 2) * sizeof(uint32_t);
}

/* ---- from XGBoost's trees to ours ---- */

/* A node as it is dumped: "3:[f7<0.5] yes=5,no=6,missing=5" or "6:leaf=-0.1". */
struct dumped {
    bool leaf;
    uint32_t column;
    float value; /* of the leaf, or the threshold: below it is yes */
    uint32_t yes, no, missing;
};

struct convert {
    uint32_t width;
    uint32_t mirror[FT__MAX_COLUMNS]; /* by column: its mirror's number + 1, or 0 */
    uint32_t n_mirrors;
    struct dumped *node; /* by XGBoost's number */
    uint32_t n, cap;
    bool no_memory;
};

static struct dumped *node_at(struct convert *c, uint32_t id)
{
    if (id >= c->cap) {
        const uint32_t cap = 2 * id + 1024;
        struct dumped *grown =
            id < FT__MAX_TREE_NODES ? realloc(c->node, cap * sizeof(*grown)) : NULL;

        if (!grown) {
            c->no_memory = true;
            return NULL;
        }
        c->node = grown;
        c->cap = cap;
    }
    for (; c->n <= id; c->n++)
        c->node[c->n] = (struct dumped){0};
    return &c->node[id];
}

/* A number that ends at `end`; behind it in *at. */
static bool take_float(const char **at, char end, float *out)
{
    char text[FT__NUMBER_TEXT];
    const size_t len = strcspn(*at, (char[]){end, '\n', 0});
    double v;

    if (len >= sizeof(text))
        return false;
    memcpy(text, *at, len);
    text[len] = 0;
    if (!ft__number_parse(text, &v))
        return false;
    *out = (float)v;
    *at += len;
    return true;
}

static bool take_number(const char **at, const char *before, uint32_t *out)
{
    const size_t len = strlen(before);
    char *end;

    if (strncmp(*at, before, len))
        return false;
    *out = (uint32_t)strtoul(*at + len, &end, 10);
    if (end == *at + len)
        return false;
    *at = end;
    return true;
}

static bool take_split(const char **at, struct dumped *d)
{
    if (!take_number(at, "[f", &d->column) || **at != '<')
        return false;
    (*at)++;
    if (!take_float(at, ']', &d->value) || **at != ']')
        return false;
    (*at)++;
    return take_number(at, " yes=", &d->yes) && take_number(at, ",no=", &d->no) &&
           take_number(at, ",missing=", &d->missing);
}

static bool read_line(struct convert *c, const char **at)
{
    struct dumped d = {0}, *node;
    uint32_t id;

    *at += strspn(*at, "\t ");
    if (!take_number(at, "", &id) || **at != ':')
        return false;
    (*at)++;
    d.leaf = strncmp(*at, "leaf=", 5) == 0;
    if (d.leaf) {
        *at += 5;
        if (!take_float(at, ',', &d.value))
            return false;
    } else if (!take_split(at, &d) || d.column >= c->width) {
        return false;
    }
    *at += strcspn(*at, "\n");
    *at += **at == '\n';
    node = node_at(c, id);
    if (node)
        *node = d;
    return node != NULL;
}

static bool read_tree(struct convert *c, const char *text)
{
    c->n = 0;
    for (const char *at = text; *at;)
        if (!read_line(c, &at))
            return false;
    return c->n > 0;
}

/* A node whose mirror is asked sends missing values right. */
static void note_mirrors(struct convert *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const struct dumped *d = &c->node[i];

        if (!d->leaf && d->missing != d->yes && !c->mirror[d->column])
            c->mirror[d->column] = ++c->n_mirrors;
    }
}

/* Which of XGBoost's nodes stands where. */
struct placed {
    uint32_t id;
    uint32_t at;
};

static void write_split(const struct convert *c, ft__node *node, const struct dumped *d,
                        uint32_t children, struct placed pair[2])
{
    const bool mirrored = d->missing != d->yes;
    const uint32_t column = mirrored ? c->width + c->mirror[d->column] - 1 : d->column;

    /* x < v is: not above the float before v; and -x > -v. */
    node->value = mirrored ? -d->value : nextafterf(d->value, -INFINITY);
    node->link = children << FT__LINK_SHIFT | column;
    pair[0].id = mirrored ? d->no : d->yes;
    pair[1].id = mirrored ? d->yes : d->no;
}

/* false: numbers that make no tree. */
static bool place(const struct convert *c, ft__node *out, struct placed *stack,
                  uint32_t *used)
{
    uint32_t waiting = 1;

    *used = 1;
    while (waiting) {
        const struct placed p = stack[--waiting];
        const struct dumped *d = &c->node[p.id];

        if (d->leaf) {
            out[p.at] = (ft__node){d->value, c->width + c->n_mirrors};
            continue;
        }
        if (*used + 2 > c->n || d->yes >= c->n || d->no >= c->n)
            return false;
        write_split(c, &out[p.at], d, *used - p.at, &stack[waiting]);
        stack[waiting++].at = (*used)++;
        stack[waiting++].at = (*used)++;
    }
    return true;
}

/* Lay a dumped tree out as ours. */
static bool write_tree(struct convert *c, ft__tree *out)
{
    struct placed *stack = calloc((size_t)c->n + 1, sizeof(*stack));
    bool good;

    out->node = calloc(c->n, sizeof(*out->node));
    c->no_memory = !stack || !out->node;
    good = !c->no_memory && place(c, out->node, stack, &out->n);
    free(stack);
    return good;
}

static ft_status no_tree(const struct convert *c, uint64_t i, ft_error *err)
{
    if (c->no_memory)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a boosted tree");
    return ft_fail(
        err, FT_EBACKEND, 0,
        "XGBoost's tree %llu is written in a way not known here: apt install "
        "libxgboost0",
        (unsigned long long)i);
}

/* Twice over the text: which columns need mirrors decides what a leaf looks like. */
static ft_status convert_trees(ft_forest **out, struct convert *c, const char **text,
                               uint64_t n, ft_error *err)
{
    ft__tree *tree = calloc(n, sizeof(*tree));
    ft_status st = FT_OK;

    *out = NULL;
    if (!tree)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for boosted trees");
    for (uint64_t i = 0; !st && i < n; i++) {
        if (read_tree(c, text[i]))
            note_mirrors(c);
        else
            st = no_tree(c, i, err);
    }
    if (!st && c->width + c->n_mirrors > FT__MAX_COLUMNS)
        st = ft_fail(err, FT_EINVAL, 0, "%u columns are too many for boosting",
                     c->width);
    for (uint64_t i = 0; !st && i < n; i++)
        if (!read_tree(c, text[i]) || !write_tree(c, &tree[i]))
            st = no_tree(c, i, err);
    if (!st)
        st = ft__forest_join(out, c->width + c->n_mirrors, tree, (uint32_t)n, err);
    for (uint64_t i = 0; i < n; i++)
        free(tree[i].node);
    free(tree);
    return st;
}

/* ---- fitting ---- */

/* One fit: everything that has to be given back. */
struct fit {
    const ft__task *t;
    ft__lesson l;
    ft__xgboost xgb;
    void *matrix;
    void *booster;
    float *x; /* the rows of weight above 0 */
    float *label;
    float *weight;
};

static void fit_free(struct fit *f)
{
    if (f->booster)
        f->xgb.booster_free(f->booster);
    if (f->matrix)
        f->xgb.matrix_free(f->matrix);
    ft__xgboost_close(&f->xgb);
    ft__lesson_free(&f->l);
    free(f->x);
    free(f->label);
    free(f->weight);
}

static ft_status copy_rows(struct fit *f, ft_error *err)
{
    const ft_matrix *x = f->t->x;
    float *to;
    ft_status st = ft__lesson_targets(&f->l, f->t, err);

    if (st)
        return st;
    to = f->x = calloc(f->l.n_rows * x->n_cols, sizeof(*f->x));
    f->label = calloc(f->l.n_rows, sizeof(*f->label));
    f->weight = calloc(f->l.n_rows, sizeof(*f->weight));
    if (!f->x || !f->label || !f->weight)
        return ft_fail(err, FT_ENOMEM, 0, "no memory to boost %u rows", f->l.n_rows);
    for (size_t i = 0; i < x->n_rows; i++) {
        if (f->t->weights && !(f->t->weights[i] > 0))
            continue;
        memcpy(to, x->x + i * x->n_cols, x->n_cols * sizeof(*to));
        to += x->n_cols;
    }
    for (uint32_t i = 0; i < f->l.n_rows; i++) {
        f->label[i] = (float)((f->l.y[i] - f->l.mean) / f->l.sd);
        f->weight[i] = (float)f->l.w[i];
    }
    return FT_OK;
}

static ft_status complain(const struct fit *f, ft_error *err)
{
    return ft_fail(err, FT_EBACKEND, 0, "XGBoost: %.300s", f->xgb.last_error());
}

/* One thread: its sums depend on how many there are. */
static bool set_options(struct fit *f)
{
    const ft_model_options *o = f->t->opt;
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"eta", ft__or(o->rate, 0.1)},
        {"lambda", ft__or(o->penalty, 1)},
        {"max_depth", ft__or_u32(o->depth, 6)},
        {"subsample", ft__or(o->share, 0.8)},
        {"colsample_bytree", ft__or(o->share, 0.8)},
        {"seed", (double)(o->seed % 1000000007)},
        {"base_score", 0},
        {"nthread", 1},
        {"verbosity", 0},
    };
    bool bad = f->xgb.booster_set(f->booster, "tree_method", "hist") ||
               f->xgb.booster_set(f->booster, "objective", "reg:squarederror");

    for (size_t i = 0; !bad && i < sizeof(numbers) / sizeof(*numbers); i++) {
        char text[FT__NUMBER_TEXT];

        ft__number_text(text, numbers[i].value);
        bad = f->xgb.booster_set(f->booster, numbers[i].name, text);
    }
    return !bad;
}

static ft_status grow(struct fit *f, ft_error *err)
{
    const uint32_t n = f->l.n_rows, rounds = ft__or_u32(f->t->opt->rounds, 300);
    ft__xgboost *x = &f->xgb;

    if (x->matrix_new(f->x, n, f->t->x->n_cols, NAN, &f->matrix) ||
        x->matrix_set(f->matrix, "label", f->label, n) ||
        x->matrix_set(f->matrix, "weight", f->weight, n) ||
        x->booster_new(&f->matrix, 1, &f->booster) || !set_options(f))
        return complain(f, err);
    for (uint32_t i = 0; i < rounds; i++)
        if (x->booster_update(f->booster, (int)i, f->matrix))
            return complain(f, err);
    return FT_OK;
}

static ft_status write_body(ft__draft *out, const struct fit *f,
                            const struct convert *c, const ft_forest *forest,
                            ft_error *err)
{
    const size_t mirrored = mirror_bytes(c->n_mirrors);
    size_t len;
    const void *image = ft_forest_image(forest, &len);
    struct boost *b = ft__draft_body(out, sizeof(*b) + mirrored + len);
    uint32_t *mirror;

    if (!b)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu bytes of trees", len);
    *b = (struct boost){f->l.mean, f->l.sd, c->n_mirrors, 0};
    mirror = (uint32_t *)(b + 1);
    for (uint32_t j = 0; j < c->width; j++)
        if (c->mirror[j])
            mirror[c->mirror[j] - 1] = j;
    memcpy((char *)mirror + mirrored, image, len);
    return FT_OK;
}

static ft_status boost_fit(ft__draft *out, const ft__task *t, ft_error *err)
{
    struct fit f = {.t = t};
    struct convert c = {.width = (uint32_t)t->x->n_cols};
    const char *why = ft__xgboost_open(&f.xgb), **text;
    ft_forest *forest = NULL;
    uint64_t n;
    ft_status st = why ? ft_fail(err, FT_EUNSUPPORTED, 0, "%s", why) : FT_OK;

    if (!st)
        st = copy_rows(&f, err);
    if (!st)
        st = grow(&f, err);
    if (!st && f.xgb.booster_dump(f.booster, "", 0, &n, &text))
        st = complain(&f, err);
    if (!st)
        st = convert_trees(&forest, &c, text, n, err);
    if (!st)
        st = write_body(out, &f, &c, forest, err);
    ft_forest_free(forest);
    free(c.node);
    fit_free(&f);
    return st;
}

static const char *boost_missing(void)
{
    ft__xgboost x;
    const char *why = ft__xgboost_open(&x);

    ft__xgboost_close(&x);
    return why;
}

/* ---- loading, predicting ---- */

static ft_status boost_open(ft_model *m, ft_error *err)
{
    const struct boost *b = m->body;
    ft_error inner = {0};
    size_t before;
    ft_status st;

    if (m->len < sizeof(*b) || b->n_mirrors > m->head->width ||
        m->len < sizeof(*b) + mirror_bytes(b->n_mirrors))
        return ft__model_damaged(m, m->body, err, "%zu bytes", m->len);
    if (!isfinite(b->base) || !isfinite(b->scale))
        return ft__model_damaged(m, m->body, err, "%g + %g x sum", b->base, b->scale);
    for (uint32_t i = 0; i < b->n_mirrors; i++)
        if (mirrors(b)[i] >= m->head->width)
            return ft__model_damaged(m, &mirrors(b)[i], err, "column %u of %u",
                                     mirrors(b)[i], m->head->width);
    before = sizeof(*b) + mirror_bytes(b->n_mirrors);
    st = ft_forest_load(&m->forest, (const char *)b + before, m->len - before, &inner);
    if (st)
        return ft_fail(err, st, sizeof(*m->head) + before + inner.pos, "%s", inner.msg);
    if (ft_forest_width(m->forest) != m->head->width + b->n_mirrors)
        return ft__model_damaged(m, b, err, "its trees are for %u columns",
                                 ft_forest_width(m->forest));
    return FT_OK;
}

static void with_mirrors(float *to, const ft_model *m, const float *rows, size_t n)
{
    const struct boost *b = m->body;
    const uint32_t width = m->head->width;

    for (size_t i = 0; i < n; i++, to += width + b->n_mirrors) {
        const float *row = rows + i * width;

        memcpy(to, row, width * sizeof(*to));
        for (uint32_t j = 0; j < b->n_mirrors; j++)
            to[width + j] = -row[mirrors(b)[j]];
    }
}

static void boost_predict(const ft_model *m, const float *rows, size_t n, double *out)
{
    const struct boost *b = m->body;
    const uint32_t width = m->head->width;
    const size_t at_once = BATCH_VALUES / (width + b->n_mirrors);
    const double scale = b->scale * ft_forest_trees(m->forest);
    float seen[BATCH_VALUES];

    for (size_t i = 0; i < n; i += at_once) {
        const size_t some = n - i < at_once ? n - i : at_once;

        if (b->n_mirrors == 0) {
            ft_forest_predict_rows(m->forest, rows + i * width, some, out + i);
        } else {
            with_mirrors(seen, m, rows + i * width, some);
            ft_forest_predict_rows(m->forest, seen, some, out + i);
        }
        for (size_t j = i; j < i + some; j++)
            out[j] = b->base + scale * out[j];
    }
}

const ft__method_ops ft__method_boost = {boost_missing, boost_fit, boost_open,
                                         boost_predict};

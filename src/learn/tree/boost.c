/* Gradient boosting (Friedman 2001; Chen, Guestrin 2016). XGBoost grows the trees; its
 * dump of them becomes a forest of our own, which is the body. */
#include "learn/tree/boost.h"

#include <dlfcn.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "learn/learn_inside.h"
#include "learn/training_set.h"
#include "learn/tree/forest.h"

const char *ft__xgboost_open(ft__xgboost *x)
{
    static const char *const files[] = {"libxgboost.so.0", "libxgboost.so"};

    *x = (ft__xgboost){0};
    /* It keeps threads and what belongs to them: once here, it stays. */
    for (size_t i = 0; !x->dl && i < sizeof(files) / sizeof(*files); i++)
        x->dl = dlopen(files[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!x->dl)
        return "boosting needs XGBoost, which is not installed: apt install "
               "libxgboost0";
    *(void **)&x->matrix_new = dlsym(x->dl, "XGDMatrixCreateFromMat");
    *(void **)&x->matrix_set = dlsym(x->dl, "XGDMatrixSetFloatInfo");
    *(void **)&x->matrix_free = dlsym(x->dl, "XGDMatrixFree");
    *(void **)&x->booster_new = dlsym(x->dl, "XGBoosterCreate");
    *(void **)&x->booster_set = dlsym(x->dl, "XGBoosterSetParam");
    *(void **)&x->booster_update = dlsym(x->dl, "XGBoosterUpdateOneIter");
    *(void **)&x->booster_dump = dlsym(x->dl, "XGBoosterDumpModel");
    *(void **)&x->booster_free = dlsym(x->dl, "XGBoosterFree");
    *(void **)&x->last_error = dlsym(x->dl, "XGBGetLastError");
    return x->matrix_new && x->matrix_set && x->matrix_free && x->booster_new &&
                   x->booster_set && x->booster_update && x->booster_dump &&
                   x->booster_free && x->last_error
               ? NULL
               : "the XGBoost found here lacks functions of its C interface: apt "
                 "install libxgboost0";
}

void ft__xgboost_close(ft__xgboost *x)
{
    if (x->dl)
        dlclose(x->dl);
    x->dl = NULL;
}

/* A node as it is dumped: "3:[f7<0.5] yes=5,no=6,missing=5" or "6:leaf=-0.1". */
struct dumped {
    bool leaf;
    uint32_t column;
    float value; /* of the leaf, or the threshold: below it is yes */
    uint32_t yes, no, missing;
};

struct convert {
    uint32_t width;
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

/* Which of XGBoost's nodes stands where. */
struct placed {
    uint32_t id, at;
};

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
            out[p.at].value = d->value;
            continue;
        }
        if (*used + 2 > c->n || d->yes >= c->n || d->no >= c->n)
            return false;
        /* x < v is: not above the float before v. */
        out[p.at] = (ft__node){.value = nextafterf(d->value, -INFINITY),
                               .left = *used,
                               .col = (uint16_t)d->column,
                               .missing_right = d->missing != d->yes};
        stack[waiting++] = (struct placed){d->yes, (*used)++};
        stack[waiting++] = (struct placed){d->no, (*used)++};
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

/* A prediction is base + scale x sum of the trees. */
static ft_status convert_trees(ft__forest **out, struct convert *c, const char **text,
                               uint64_t n, double base, double scale, ft_error *err)
{
    ft__tree *tree = calloc(n, sizeof(*tree));
    ft_status st = FT_OK;

    *out = NULL;
    if (!tree)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for boosted trees");
    for (uint64_t i = 0; !st && i < n; i++)
        if (!read_tree(c, text[i]) || !write_tree(c, &tree[i]))
            st = no_tree(c, i, err);
    if (!st)
        st = ft__forest_join(out, c->width, tree, (uint32_t)n, base, 1 / scale, err);
    for (uint64_t i = 0; i < n; i++)
        free(tree[i].node);
    free(tree);
    return st;
}

/* One fit: everything that has to be given back. */
struct boost_fit {
    const ft__task *t;
    ft__training_set l;
    ft__xgboost xgb;
    void *matrix, *booster;
    float *x; /* the rows of weight above 0 */
    float *label, *weight;
};

static void fit_free(struct boost_fit *f)
{
    if (f->booster)
        f->xgb.booster_free(f->booster);
    if (f->matrix)
        f->xgb.matrix_free(f->matrix);
    ft__xgboost_close(&f->xgb);
    ft__training_set_free(&f->l);
    free(f->x);
    free(f->label);
    free(f->weight);
}

static ft_status copy_rows(struct boost_fit *f, ft_error *err)
{
    const ft__matrix *x = f->t->x;
    float *to;
    ft_status st = ft__training_set_targets(&f->l, f->t, err);

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

static ft_status complain(const struct boost_fit *f, ft_error *err)
{
    return ft_fail(err, FT_EBACKEND, 0, "XGBoost: %.300s", f->xgb.last_error());
}

/* One thread: its sums depend on how many there are. */
static bool set_options(struct boost_fit *f)
{
    const ft__learn_model_options *o = f->t->opt;
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

static ft_status grow(struct boost_fit *f, ft_error *err)
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

static ft_status boost_fit(ft__draft *out, const ft__task *t, ft_error *err)
{
    struct boost_fit f = {.t = t};
    struct convert c = {.width = (uint32_t)t->x->n_cols};
    const char *why = ft__xgboost_open(&f.xgb), **text;
    ft__forest *forest = NULL;
    uint64_t n;
    ft_status st = why ? ft_fail(err, FT_EUNSUPPORTED, 0, "%s", why) : FT_OK;

    if (!st)
        st = copy_rows(&f, err);
    if (!st)
        st = grow(&f, err);
    if (!st && f.xgb.booster_dump(f.booster, "", 0, &n, &text))
        st = complain(&f, err);
    if (!st)
        st = convert_trees(&forest, &c, text, n, f.l.mean, f.l.sd, err);
    if (!st)
        st = ft__trees_write(out, forest, err);
    ft__forest_free(forest);
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

const ft__method_ops ft__method_boost = {boost_missing, boost_fit, ft__trees_open,
                                         ft__trees_predict};

/* Support vector regression with a tube (Drucker et al. 1997) and radial basis
 * functions. libsvm finds the vectors; they are kept, and asked, here. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

#include "learn/vectors.h"

/* The part of libsvm (Chang, Lin 2011) that fitting needs, found when it is needed.
 * The structs begin as those of its svm.h, versions 3.x; what follows is never used. */

struct svm_node {
    int index; /* from 1; -1 ends the row */
    double value;
};

struct svm_problem {
    int l;
    double *y;
    struct svm_node **x;
};

enum { EPSILON_SVR = 3, RBF = 2 };

struct svm_parameter {
    int svm_type;
    int kernel_type;
    int degree;
    double gamma;
    double coef0;
    double cache_size; /* MB */
    double eps;
    double C;
    int nr_weight;
    int *weight_label;
    double *weight;
    double nu;
    double p;
    int shrinking;
    int probability;
};

struct svm_model {
    struct svm_parameter param;
    int nr_class;
    int l;
    struct svm_node **sv; /* rows of the problem, which must outlive the model */
    double **sv_coef;
    double *rho;
};

struct libsvm {
    void *dl;
    struct svm_model *(*train)(const struct svm_problem *,
                               const struct svm_parameter *);
    const char *(*check)(const struct svm_problem *, const struct svm_parameter *);
    void (*free)(struct svm_model **);
    void (*set_print)(void (*)(const char *));
};

static const char absent[] =
    "support vectors need libsvm 3, which is not installed: apt install libsvm3";

static void quiet(const char *text)
{
    (void)text;
}

/* NULL, or what is missing. Close it in either case. */
static const char *libsvm_open(struct libsvm *s)
{
    const int *version;

    *s = (struct libsvm){.dl = dlopen("libsvm.so.3", RTLD_NOW | RTLD_LOCAL)};
    if (!s->dl)
        return absent;
    *(void **)&s->train = dlsym(s->dl, "svm_train");
    *(void **)&s->check = dlsym(s->dl, "svm_check_parameter");
    *(void **)&s->free = dlsym(s->dl, "svm_free_and_destroy_model");
    *(void **)&s->set_print = dlsym(s->dl, "svm_set_print_string_function");
    version = dlsym(s->dl, "libsvm_version");
    if (!s->train || !s->check || !s->free || !s->set_print || !version ||
        *version / 100 != 3)
        return absent;
    s->set_print(quiet);
    return NULL;
}

static void libsvm_close(struct libsvm *s)
{
    if (s->dl)
        dlclose(s->dl);
    s->dl = NULL;
}

enum { CACHE_MB = 256 };

struct svr_fit {
    ft__training_set l;
    struct libsvm svm;
    struct svm_problem problem;
    struct svm_node *node; /* n_cols + 1 of each row */
    struct svm_model *model;
};

static void fit_free(struct svr_fit *f)
{
    if (f->model)
        f->svm.free(&f->model);
    libsvm_close(&f->svm);
    free(f->problem.x);
    free(f->problem.y);
    free(f->node);
    ft__training_set_free(&f->l);
}

static ft_status make_problem(struct svr_fit *f, ft_error *err)
{
    const uint32_t n = f->l.n_rows, cols = f->l.n_cols;
    struct svm_node *to;

    f->problem.l = (int)n;
    f->problem.x = calloc(n, sizeof(*f->problem.x));
    f->problem.y = calloc(n, sizeof(*f->problem.y));
    to = f->node = calloc((size_t)n * (cols + 1), sizeof(*f->node));
    if (!f->problem.x || !f->problem.y || !f->node)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %u rows", n);
    for (uint32_t i = 0; i < n; i++) {
        f->problem.y[i] = (f->l.y[i] - f->l.mean) / f->l.sd;
        f->problem.x[i] = to;
        for (uint32_t j = 0; j < cols; j++)
            *to++ = (struct svm_node){(int)j + 1, (double)f->l.u[(size_t)i * cols + j]};
        (to++)->index = -1;
    }
    return FT_OK;
}

static ft_status train(struct svr_fit *f, const ft__learn_model_options *o,
                       ft_error *err)
{
    const struct svm_parameter p = {
        .svm_type = EPSILON_SVR,
        .kernel_type = RBF,
        .gamma = 1.0 / (f->l.n_cols ? f->l.n_cols : 1),
        .cache_size = CACHE_MB,
        .eps = 1e-3,
        .C = ft__or(o->penalty, 10),
        .p = ft__or(o->epsilon, 0.02),
        .shrinking = 1,
    };
    const char *why = f->svm.check(&f->problem, &p);

    if (why)
        return ft_fail(err, FT_EBACKEND, 0, "libsvm: %s", why);
    f->model = f->svm.train(&f->problem, &p);
    return f->model ? FT_OK : ft_fail(err, FT_EBACKEND, 0, "libsvm fitted nothing");
}

static ft_status write_body(ft__draft *out, const struct svr_fit *f, ft_error *err)
{
    const uint32_t n = (uint32_t)f->model->l;
    const ft__vectors h = {.mean = f->l.mean,
                           .sd = f->l.sd,
                           .scale = f->model->param.gamma,
                           .rho = f->model->rho[0],
                           .n_columns = f->l.n_cols};
    float u[FT__MAX_COLUMNS];
    char *blocks;
    ft_status st = ft__vectors_write(out, &blocks, &h, f->l.column, n, err);

    for (uint32_t i = 0; !st && i < n; i++) {
        for (uint32_t j = 0; j < h.n_columns; j++)
            u[j] = (float)f->model->sv[i][j].value;
        ft__vectors_put(blocks, &h, i, f->model->sv_coef[0][i], u);
    }
    return st;
}

static ft_status svr_fit(ft__draft *out, const ft__task *t, ft_error *err)
{
    struct svr_fit f = {0};
    const char *why = libsvm_open(&f.svm);
    ft_status st = why ? ft_fail(err, FT_EUNSUPPORTED, 0, "%s", why) : FT_OK;

    if (!st)
        st = ft__training_set_new(&f.l, t, err);
    if (!st)
        st = make_problem(&f, err);
    if (!st)
        st = train(&f, t->opt, err);
    if (!st)
        st = write_body(out, &f, err);
    fit_free(&f);
    return st;
}

static const char *svr_missing(void)
{
    struct libsvm s;
    const char *why = libsvm_open(&s);

    libsvm_close(&s);
    return why;
}

static void svr_predict(const ft__learn_model *m, const float *rows, size_t n,
                        double *out)
{
    ft__vectors_predict(m, rows, n, out, FT__KERNEL_DECAY);
}

const ft__method_ops ft__method_svr = {svr_missing, svr_fit, ft__vectors_open,
                                       svr_predict};

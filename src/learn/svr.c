/* Support vector regression with a tube (Drucker et al. 1997) and radial basis
 * functions. libsvm finds the vectors; they are kept, and asked, here. */
#include <stdlib.h>

#include "learn/decay.h"
#include "learn/libsvm.h"
#include "learn/vectors.h"

enum { CACHE_MB = 256 };

/* ---- fitting ---- */

struct fit {
    ft__lesson l;
    ft__libsvm svm;
    ft__svm_problem problem;
    ft__svm_node *node; /* n_cols + 1 of each row */
    ft__svm_model *model;
};

static void fit_free(struct fit *f)
{
    if (f->model)
        f->svm.free(&f->model);
    ft__libsvm_close(&f->svm);
    free(f->problem.x);
    free(f->problem.y);
    free(f->node);
    ft__lesson_free(&f->l);
}

static ft_status make_problem(struct fit *f, ft_error *err)
{
    const uint32_t n = f->l.n_rows, cols = f->l.n_cols;
    ft__svm_node *to;

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
            *to++ = (ft__svm_node){(int)j + 1, (double)f->l.u[(size_t)i * cols + j]};
        (to++)->index = -1;
    }
    return FT_OK;
}

static ft_status train(struct fit *f, const ft_model_options *o, ft_error *err)
{
    const ft__svm_parameter p = {
        .svm_type = FT__SVM_EPSILON_SVR,
        .kernel_type = FT__SVM_RBF,
        .gamma = ft__or(o->gamma, 1.0 / (f->l.n_cols ? f->l.n_cols : 1)),
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

static ft_status write_body(ft__draft *out, const struct fit *f, ft_error *err)
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
    struct fit f = {0};
    const char *why = ft__libsvm_open(&f.svm);
    ft_status st = why ? ft_fail(err, FT_EUNSUPPORTED, 0, "%s", why) : FT_OK;

    if (!st)
        st = ft__lesson_new(&f.l, t, err);
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
    ft__libsvm s;
    const char *why = ft__libsvm_open(&s);

    ft__libsvm_close(&s);
    return why;
}

static void svr_predict(const ft_model *m, const float *rows, size_t n, double *out)
{
    ft__vectors_predict(m, rows, n, out, ft__decay, ft__wide_decay());
}

const ft__method_ops ft__method_svr = {svr_missing, svr_fit, ft__vectors_open,
                                       svr_predict};

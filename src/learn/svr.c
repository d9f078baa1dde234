/* Support vector regression with a tube (Drucker et al. 1997) and radial basis
 * functions. libsvm finds the vectors; they are kept, and asked, here. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/lesson.h"
#include "learn/libsvm.h"

enum { LANES = 8, CACHE_MB = 256 };

/* A body: this, columns, n_blocks blocks of LANES vectors: their coefficients, then
 * their values, column by column. */
struct svr {
    double mean; /* of the target */
    double sd;
    double gamma;
    double rho;
    uint32_t n_columns;
    uint32_t n_blocks;
};

static size_t block_bytes(const struct svr *h)
{
    return LANES * (sizeof(double) + h->n_columns * sizeof(float));
}

static size_t body_bytes(const struct svr *h)
{
    return sizeof(*h) + h->n_columns * sizeof(ft__column) +
           h->n_blocks * block_bytes(h);
}

static const ft__column *columns(const struct svr *h)
{
    return (const ft__column *)(h + 1);
}

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

static void write_block(char *to, const struct fit *f, uint32_t first)
{
    const uint32_t cols = f->l.n_cols, n = (uint32_t)f->model->l;
    double *coef = (double *)to;
    float *x = (float *)(coef + LANES);

    for (uint32_t i = 0; i < LANES && first + i < n; i++) {
        const ft__svm_node *v = f->model->sv[first + i];

        coef[i] = f->model->sv_coef[0][first + i];
        for (uint32_t j = 0; j < cols; j++)
            x[j * LANES + i] = (float)v[j].value;
    }
}

static ft_status write_body(ft__draft *out, const struct fit *f, ft_error *err)
{
    const struct svr made = {.mean = f->l.mean,
                             .sd = f->l.sd,
                             .gamma = f->model->param.gamma,
                             .rho = f->model->rho[0],
                             .n_columns = f->l.n_cols,
                             .n_blocks = ((uint32_t)f->model->l + LANES - 1) / LANES};
    char *body = ft__draft_body(out, body_bytes(&made)), *at = body;

    if (!body)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %d support vectors",
                       f->model->l);
    memcpy(at, &made, sizeof(made));
    at += sizeof(made);
    memcpy(at, f->l.column, made.n_columns * sizeof(*f->l.column));
    at += made.n_columns * sizeof(*f->l.column);
    for (uint32_t i = 0; i < made.n_blocks; i++)
        write_block(at + i * block_bytes(&made), f, i * LANES);
    return FT_OK;
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

/* ---- loading, predicting ---- */

static ft_status check_block(const ft_model *m, const char *at, ft_error *err)
{
    const struct svr *h = m->body;
    const double *coef = (const double *)at;
    const float *x = (const float *)(coef + LANES);

    for (uint32_t i = 0; i < LANES; i++)
        if (!isfinite(coef[i]))
            return ft__model_damaged(m, &coef[i], err, "a coefficient is %g", coef[i]);
    for (uint32_t i = 0; i < LANES * h->n_columns; i++)
        if (!isfinite(x[i]))
            return ft__model_damaged(m, &x[i], err, "a support vector holds %g",
                                     (double)x[i]);
    return FT_OK;
}

static ft_status svr_open(ft_model *m, ft_error *err)
{
    const struct svr *h = m->body;
    ft_status st;

    if (m->len < sizeof(*h) || h->n_columns > m->head->width ||
        h->n_blocks > m->len / sizeof(double) || m->len != body_bytes(h))
        return ft__model_damaged(m, m->body, err, "%zu bytes", m->len);
    if (!isfinite(h->mean) || !isfinite(h->sd) || !isfinite(h->rho) ||
        !(h->gamma >= 0 && isfinite(h->gamma)))
        return ft__model_damaged(m, h, err, "gamma %g, rho %g", h->gamma, h->rho);
    st = ft__columns_check(m, columns(h), h->n_columns, err);
    for (uint32_t i = 0; !st && i < h->n_blocks; i++)
        st = check_block(
            m, (const char *)(columns(h) + h->n_columns) + i * block_bytes(h), err);
    return st;
}

/* exp(-t) for t >= 0, to 2^-50 relative, from + and * alone: libraries' exp differs in
 * its last bit. t = k ln 2 + r; the series of exp(-r), |r| <= ln 2 / 2, then 2^-k. */
static double decay(double t)
{
    const double ln2_high = 6.93147180369123816490e-01;
    const double ln2_low = 1.90821492927058770002e-10;
    double k, r, sum = 1;
    uint64_t bits;

    if (!(t < 700))
        return 0;
    k = (double)(int)(t * 1.44269504088896338700 + 0.5);
    r = t - k * ln2_high - k * ln2_low;
    for (int i = 13; i > 0; i--)
        sum = 1 - sum * r / i;
    bits = (uint64_t)(1023 - (int)k) << 52;
    memcpy(&k, &bits, sizeof(k));
    return sum * k;
}

static double predict_row(const struct svr *h, const float *u)
{
    const char *at = (const char *)(columns(h) + h->n_columns);
    double sum = -h->rho;

    for (uint32_t b = 0; b < h->n_blocks; b++, at += block_bytes(h)) {
        const double *coef = (const double *)at;
        const float *x = (const float *)(coef + LANES);
        double d[LANES] = {0};

        for (uint32_t j = 0; j < h->n_columns; j++, x += LANES) {
            for (uint32_t i = 0; i < LANES; i++) {
                const double t = (double)x[i] - (double)u[j];

                d[i] += t * t;
            }
        }
        for (uint32_t i = 0; i < LANES; i++)
            sum += coef[i] * decay(h->gamma * d[i]);
    }
    return h->mean + h->sd * sum;
}

static void svr_predict(const ft_model *m, const float *rows, size_t n, double *out)
{
    const struct svr *h = m->body;
    float u[FT__MAX_COLUMNS];

    for (size_t i = 0; i < n; i++) {
        ft__columns_apply(u, columns(h), h->n_columns, rows + i * m->head->width);
        out[i] = predict_row(h, u);
    }
}

const ft__method_ops ft__method_svr = {svr_missing, svr_fit, svr_open, svr_predict};

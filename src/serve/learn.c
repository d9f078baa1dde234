/* Factors of prompts' and of decoding steps with which a simulated run shows what was
 * measured. */
#include <math.h>
#include <string.h>

#include "serve/serve.h"

enum { PROMPTS, DECODING, N_FACTORS };
static const double most = 2.0794415416798357; /* log 8 */
static const double toward_one = 1e-3; /* what nothing tells of stays as it is */

struct fit {
    const ft_serve_steps *s;
    ft_serve_load load;
    double kv_tokens;
    ft_serve_point point[FT_SERVE_METRIC_COUNT];
    const ft_serve_measured *m;
    double r[FT_SERVE_METRIC_COUNT]; /* log(shown / measured); 0: not measured */
    double best[N_FACTORS], least;   /* logarithms that came closest, and how close */
};

/* End to end follows from the others; tokens a second stand in for them. */
static const ft_serve_metric fitted[] = {FT_SERVE_TTFT, FT_SERVE_TPOT, FT_SERVE_ITL};

static bool find_measured(struct fit *f)
{
    bool any = false;

    for (int m = 0; m < FT_SERVE_METRIC_COUNT; m++) {
        f->point[m] = FT_SERVE_MEAN;
        if (!isfinite(f->m->latency[m][FT_SERVE_MEAN]))
            f->point[m] = FT_SERVE_P50;
    }
    for (size_t i = 0; i < sizeof(fitted) / sizeof(*fitted); i++)
        any = any || isfinite(f->m->latency[fitted[i]][f->point[fitted[i]]]);
    return any;
}

/* A run changes in leaps, as requests meet in other steps: a round may lead away. */
static void keep_best(struct fit *f, const double x[N_FACTORS])
{
    double off = 0;

    for (int i = 0; i < FT_SERVE_METRIC_COUNT; i++)
        off += f->r[i] * f->r[i];
    for (int k = 0; k < N_FACTORS; k++)
        off += toward_one * x[k] * x[k];
    if (!(off < f->least))
        return;
    f->least = off;
    memcpy(f->best, x, sizeof(f->best));
}

static ft_status show(struct fit *f, const double x[N_FACTORS], ft_error *err)
{
    ft__serve_run run;
    ft_status st;
    bool any = false;

    f->load.prompt_factor = exp(x[PROMPTS]);
    f->load.decode_factor = exp(x[DECODING]);
    st = ft__serve_simulate(&run, f->s, &f->load, f->kv_tokens, FT__SERVE_VALUE, err);
    memset(f->r, 0, sizeof(f->r));
    if (st)
        return st;
    for (size_t i = 0; i < sizeof(fitted) / sizeof(*fitted); i++) {
        const ft_serve_metric m = fitted[i];
        const double r =
            log(run.latency[m][f->point[m]] / f->m->latency[m][f->point[m]]);

        if (isfinite(r)) {
            f->r[m] = r;
            any = true;
        }
    }
    if (!any)
        f->r[FT_SERVE_E2E] = -log(run.generated / run.duration_s / f->m->tokens_per_s);
    keep_best(f, x);
    return FT_OK;
}

/* x by a step of Gauss and Newton, of at most half an e-fold. */
static ft_status better(struct fit *f, double x[N_FACTORS], ft_error *err)
{
    enum { N = FT_SERVE_METRIC_COUNT };
    static const double small = 0.02;
    double r[N], j[N_FACTORS][N], a = toward_one, b = 0, c = toward_one, g[N_FACTORS];
    ft_status st = show(f, x, err);

    memcpy(r, f->r, sizeof(r));
    for (int k = 0; k < N_FACTORS && !st; k++) {
        double y[N_FACTORS] = {x[PROMPTS], x[DECODING]};

        y[k] += small;
        st = show(f, y, err);
        g[k] = -toward_one * x[k];
        for (int i = 0; i < N; i++) {
            j[k][i] = (f->r[i] - r[i]) / small;
            g[k] -= j[k][i] * r[i];
        }
    }
    if (st)
        return st;
    for (int i = 0; i < N; i++) {
        a += j[PROMPTS][i] * j[PROMPTS][i];
        b += j[PROMPTS][i] * j[DECODING][i];
        c += j[DECODING][i] * j[DECODING][i];
    }
    x[PROMPTS] +=
        fmax(-0.5, fmin(0.5, (c * g[PROMPTS] - b * g[DECODING]) / (a * c - b * b)));
    x[DECODING] +=
        fmax(-0.5, fmin(0.5, (a * g[DECODING] - b * g[PROMPTS]) / (a * c - b * b)));
    for (int k = 0; k < N_FACTORS; k++)
        x[k] = fmax(-most, fmin(most, x[k]));
    return FT_OK;
}

ft_status ft_serve_learn(double *prompt_factor, double *decode_factor,
                         const ft_serve_steps *s, const ft_serve_load *load,
                         const ft_serve_measured *m, ft_error *err)
{
    enum { ROUNDS = 8 };
    struct fit f = {.s = s, .m = m, .least = INFINITY};
    double x[N_FACTORS] = {0, 0};
    ft_served out;
    ft_status st = ft__serve_prepare(&f.load, &out, s, load, err);

    *prompt_factor = *decode_factor = 1;
    if (!st && !find_measured(&f) && !(m->tokens_per_s > 0))
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "nothing was measured that tells how long steps take");
    f.kv_tokens = out.kv_tokens;
    for (int i = 0; i < ROUNDS && !st; i++)
        st = better(&f, x, err);
    if (!st)
        st = show(&f, x, err);
    if (st)
        return st;
    *prompt_factor = exp(f.best[PROMPTS]);
    *decode_factor = exp(f.best[DECODING]);
    return FT_OK;
}

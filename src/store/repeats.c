/* How well measurements that were taken twice agree. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "store/store.h"

/* Keys are long; of the row before only these are kept. */
struct before {
    char *text; /* its key, parts joined */
    double value;
    double error;
    double calibration_s;
    int64_t taken_at;
};

struct pairs {
    struct before last;
    double *raw; /* later / earlier - 1 */
    double *calibrated;
    double *apart;
    size_t n, n_calibrated, cap;
    size_t stated, covered; /* with errors; and within them */
    bool bad;
};

static char *join(const ft_key *k)
{
    const char *const part[] = {k->device,         k->setting, k->engine,
                                k->engine_version, k->spec,    k->phase,
                                k->dtype_policy,   k->metric};
    size_t len = 1;
    char *s, *at;

    for (int i = 0; i < 8; i++)
        len += strlen(part[i]) + 1;
    s = at = malloc(len);
    for (int i = 0; s && i < 8; i++) {
        size_t n = strlen(part[i]);

        memcpy(at, part[i], n);
        at[n] = '\n';
        at += n + 1;
    }
    if (s)
        *at = '\0';
    return s;
}

static bool grow(struct pairs *p)
{
    size_t cap = p->cap ? 2 * p->cap : 64;
    double **all[] = {&p->raw, &p->calibrated, &p->apart};

    if (p->n < p->cap)
        return true;
    for (int i = 0; i < 3; i++) {
        double *v = realloc(*all[i], cap * sizeof(*v));

        if (!v)
            return false;
        *all[i] = v;
    }
    p->cap = cap;
    return true;
}

static void add_pair(struct pairs *p, const struct before *now)
{
    const struct before *was = &p->last;
    double ratio = now->value / was->value, difference = ratio;
    double sigma = hypot(now->error / now->value, was->error / was->value);

    if (!grow(p)) {
        p->bad = true;
        return;
    }
    p->apart[p->n] = (double)(now->taken_at - was->taken_at);
    p->raw[p->n++] = ratio - 1;
    /* Further apart than any disturbance: not of the same calibration operation. */
    if (now->calibration_s > 0 && was->calibration_s > 0 &&
        fabs(log(now->calibration_s / was->calibration_s)) < log(3)) {
        difference = ratio * was->calibration_s / now->calibration_s;
        p->calibrated[p->n_calibrated++] = difference - 1;
    }
    p->stated += isnan(sigma) ? 0 : 1;
    p->covered += (size_t)(fabs(log(difference)) <= 1.645 * sigma);
}

static int note(void *user, const ft_row *row)
{
    struct pairs *p = user;
    struct before now = {join(&row->key), row->m.value, row->m.error,
                         row->m.calibration_s, row->taken_at};

    if (!now.text) {
        p->bad = true;
        return 1;
    }
    /* A value that is missing or not positive has no ratio, and sizes are exact. */
    if (!(now.value > 0) || now.error == 0) {
        free(now.text);
        return 0;
    }
    if (p->last.text && strcmp(p->last.text, now.text) == 0)
        add_pair(p, &now);
    free(p->last.text);
    p->last = now;
    return p->bad;
}

static void sizes(double *median, double *p90, double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = fabs(v[i]);
    *median = ft__median(v, n);
    *p90 = ft__quantile(v, n, 0.9);
}

ft_status ft_store_repeats(ft_repeats *out, ft_store *s, const ft_key *filter,
                           ft_error *err)
{
    struct pairs p = {0};
    ft_status st = ft_store_each(s, filter, 0, note, &p, err);

    *out = (ft_repeats){.pairs = p.n, .calibrated = p.n_calibrated};
    sizes(&out->median, &out->p90, p.raw, p.n);
    sizes(&out->calibrated_median, &out->calibrated_p90, p.calibrated, p.n_calibrated);
    out->apart_s = ft__median(p.apart, p.n);
    out->covered = p.stated ? (double)p.covered / (double)p.stated : NAN;
    /* Of a normal difference of two, |d| has the median 0.6745 sqrt(2) sigma. */
    out->scatter = out->calibrated_median / (0.6744897501960817 * 1.4142135623730951);
    free(p.last.text);
    free(p.raw);
    free(p.calibrated);
    free(p.apart);
    if (!st && p.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "repeats");
    return st;
}

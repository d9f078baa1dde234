/* Measurements -> regressors -> one predictor image. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "predict/family.h"

/* Fewer rows than this make no regressor of their own. */
enum { LEAST_ROWS = 12, MAX_FOLDS = 10 };
/* What a machine draws is known from less than how long it takes. */
enum { LEAST_POWERED = 3 };
/* Workspace comes in few steps: few trees. */
enum { WORKSPACE_TREES = 16 };

struct sample {
    ft_op op;
    uint64_t hash;
    double time_s;
    double error_s;
    double workspace;         /* NaN: not measured */
    double power_w;           /* the same */
    double base_s;            /* roofline */
    bool left_out;            /* in nobody's training set */
    uint64_t sum[FT__N_TOLD]; /* of what is told: ft__sample_sum() */
    float row[FT__N_FEATURES];
};

/* A regressor before it is written: its tails are known when all are there. */
struct trained {
    ft__regressor_image image;
    uint64_t rows;               /* which it was made of */
    const ft__regressor *before; /* taken over from another predictor; or NULL */
    ft__fit fit;
};

/* Residuals of all regressors of one metric, in spreads. */
struct tails {
    double *residual;
    size_t n;
    double low; /* between which 90 % lie */
    double high;
    bool known; /* of the predictor that measurements are added to */
};

struct training {
    const ft_train_options *opt;
    struct sample *sample;
    size_t n;
    ft__info_image info;
    struct trained *trained;
    uint32_t n_trained;
    struct tails tails[FT__N_TOLD];
    ft__writer writer;
};

/* ---- reading the store ---- */

static int take_fact(void *user, const ft_row *row)
{
    *(double *)user = row->m.value;
    return 0;
}

/* The newest value of a metric that is of no operation. */
static ft_status read_fact(double *out, const struct training *t, ft_store *store,
                           const char *metric, ft_error *err)
{
    ft_key filter = t->opt->filter;

    filter.metric = metric;
    return ft_store_each(store, &filter, 1, take_fact, out, err);
}

static bool is_left_out(const struct training *t, const ft_op *op)
{
    for (size_t i = 0; i < t->opt->n_without; i++)
        if (ft_op_equal(op, &t->opt->without[i]))
            return true;
    return false;
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = ((const struct sample *)a)->hash, y = ((const struct sample *)b)->hash;

    return (x > y) - (x < y);
}

/* What they are samples of. */
static ft_status take_source(struct training *t, const ft__samples *s, ft_error *err)
{
    const ft__dataset *d = s->dataset;
    ft__info_image *i = &t->info;

    if (s->n_datasets > 1)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "the store holds measurements of several devices, engines or "
                       "settings: choose one with --device, --engine or --threads, or "
                       "learn from all with --family");
    if (t->n == 0)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "the store holds no measurements that fit; \"foretell collect\" "
                       "makes some");
    if (!d->roof)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "the store lacks the measurements of the machine itself; "
                       "\"foretell collect\" makes them");
    i->roof = *d->roof;
    snprintf(i->device, sizeof(i->device), "%s", d->device);
    snprintf(i->setting, sizeof(i->setting), "%s", d->setting);
    snprintf(i->engine, sizeof(i->engine), "%s", d->engine);
    snprintf(i->engine_version, sizeof(i->engine_version), "%s", d->engine_version);
    return FT_OK;
}

static ft_status take_samples(struct training *t, const ft__samples *s, ft_error *err)
{
    t->sample = calloc(s->n + 1, sizeof(*t->sample));
    if (!t->sample)
        return ft_fail(err, FT_ENOMEM, 0, "training set");
    for (size_t i = 0; i < s->n; i++) {
        const ft__sample *v = &s->v[i];

        if (v->op.phase == FT_PHASE_FORWARD_BACKWARD || v->op.phase == FT_PHASE_STEP ||
            !(v->value[FT__METRIC_TIME] > 0))
            continue;
        t->sample[t->n++] = (struct sample){
            .op = v->op,
            .hash = v->hash,
            .time_s = v->value[FT__METRIC_TIME],
            .error_s = v->error_s,
            .workspace = v->value[FT__METRIC_WORKSPACE],
            .power_w = v->value[FT__METRIC_POWER],
            .sum = {[FT__TOLD_TIME] = ft__sample_sum(s, (uint32_t)i, FT__METRIC_TIME),
                    [FT__TOLD_WORKSPACE] =
                        ft__sample_sum(s, (uint32_t)i, FT__METRIC_WORKSPACE),
                    [FT__TOLD_POWER] =
                        ft__sample_sum(s, (uint32_t)i, FT__METRIC_POWER)}};
    }
    qsort(t->sample, t->n, sizeof(*t->sample), by_hash);
    return take_source(t, s, err);
}

static ft__told told_of(const ft__regressor_image *r)
{
    int t = 0;

    while (strcmp(r->metric, ft__told_name((ft__told)t)) != 0)
        t++;
    return (ft__told)t;
}

/* Measurements are added to what was learned of the same machine: what times are told
 * relative to stays, or nothing could be kept. */
static ft_status take_before(struct training *t, ft_error *err)
{
    const ft_predictor *p = t->opt->add;
    ft__info_image *i = &t->info;

    if (!p->info)
        return ft_fail(err, FT_EINVAL, 0, "the predictor is of a family of devices");
    if (strcmp(p->info->device, i->device) || strcmp(p->info->setting, i->setting) ||
        strcmp(p->info->engine, i->engine))
        return ft_fail(
            err, FT_EINVAL, 0,
            "the predictor is of %s, %s, %s, the measurements are of %s, %s, "
            "%s",
            p->info->device, p->info->setting, p->info->engine, i->device, i->setting,
            i->engine);
    i->roof = p->info->roof;
    for (uint32_t k = 0; k < p->n_regressors; k++) {
        struct tails *of = &t->tails[told_of(p->regressor[k].image)];
        const double *tails = p->regressor[k].mixture->tails;

        of->low = tails[0];
        of->high = tails[1];
        of->known = true;
    }
    return FT_OK;
}

static ft_status gather(struct training *t, ft_store *store, ft_error *err)
{
    ft__samples s;
    ft_status st = ft__samples_read_key(&s, store, &t->opt->filter, true, err);

    if (st)
        return st;
    st = ft__samples_know(&s, NULL, err);
    if (!st)
        st = take_samples(t, &s, err);
    ft__samples_free(&s);
    if (!st)
        st = read_fact(&t->info.context_bytes, t, store, "context", err);
    if (!st)
        st = read_fact(&t->info.context_per_op_bytes, t, store, "context_per_operation",
                       err);
    if (!st && t->opt->add)
        st = take_before(t, err);
    return st;
}

static void describe(struct training *t)
{
    bool layouts = false;

    t->info.n_features = FT__N_FEATURES;
    for (size_t i = 0; i < t->n; i++) {
        struct sample *s = &t->sample[i];

        s->base_s = ft__roofline(&s->op, &t->info.roof);
        s->left_out = is_left_out(t, &s->op);
        ft__features(s->row, &s->op, &t->info.roof);
        layouts |= s->op.layout == FT_LAYOUT_CHANNELS_LAST;
    }
    /* Without a fact any of the operations, which are lowered, shows the policy. */
    if (!t->info.policy && layouts)
        t->info.policy = FT_POLICY_CHANNELS_LAST;
}

/* How the engine runs graphs, where the collection told. */
static ft_status read_policy(struct training *t, ft_store *store, ft_error *err)
{
    char fact[64];
    double policy;
    ft_status st;

    snprintf(fact, sizeof(fact), "policy:%s", t->info.engine);
    st = ft_store_fact(store, t->info.device, fact, &policy, err);
    if (!st && policy > 0)
        t->info.policy = (uint32_t)policy;
    return st;
}

/* ---- what was measured ---- */

static int by_measured_hash(const void *a, const void *b)
{
    uint64_t x = ((const ft__measured_image *)a)->hash,
             y = ((const ft__measured_image *)b)->hash;

    return (x > y) - (x < y);
}

/* Of the predictor that measurements are added to: what the store does not hold. */
static size_t take_measured(ft__measured_image *m, size_t n, const ft_predictor *before)
{
    size_t own = n;

    for (uint32_t i = 0; before && i < before->n_measured; i++)
        if (!bsearch(&before->measured[i], m, own, sizeof(*m), by_measured_hash))
            m[n++] = before->measured[i];
    qsort(m, n, sizeof(*m), by_measured_hash);
    return n;
}

static ft_status add_measured(struct training *t, ft_error *err)
{
    size_t most = t->n + (t->opt->add ? t->opt->add->n_measured : 0), n = 0;
    ft__measured_image *m = calloc(most + 1, sizeof(*m));
    ft_status st;

    if (!m)
        return ft_fail(err, FT_ENOMEM, 0, "measured values");
    for (size_t i = 0; i < t->n && !t->opt->forget; i++) {
        const struct sample *s = &t->sample[i];

        if (s->left_out || (n && m[n - 1].hash == s->hash))
            continue;
        m[n++] = (ft__measured_image){.hash = s->hash,
                                      .time_s = s->time_s,
                                      .error_s = s->error_s,
                                      .workspace_bytes = s->workspace};
    }
    if (!t->opt->forget)
        n = take_measured(m, n, t->opt->add);
    st = ft__writer_section(&t->writer, FT__SECTION_MEASURED, m, n * sizeof(*m), err);
    free(m);
    return st;
}

/* ---- one regressor ---- */

/* The rows of one kind or class, and the figures made from them. */
struct rows {
    size_t n;
    uint64_t sum; /* of the rows' ft__sample_sum() */
    float *x;
    double
        *target;  /* what is learned: log ratio to the roofline, or log of 1 + bytes */
    double *base; /* prediction = base * exp(target) */
    double *truth;
    double *out; /* cross-validated target */
    double *spread;
    double *scratch;
    uint64_t *group;
};

static void rows_free(struct rows *f)
{
    free(f->x);
    free(f->target);
    free(f->base);
    free(f->truth);
    free(f->out);
    free(f->spread);
    free(f->scratch);
    free(f->group);
}

static ft_status rows_make(struct rows *f, size_t n, ft_error *err)
{
    *f = (struct rows){0};
    f->x = malloc((n + 1) * FT__N_FEATURES * sizeof(*f->x));
    f->target = calloc(n + 1, sizeof(double));
    f->base = calloc(n + 1, sizeof(double));
    f->truth = calloc(n + 1, sizeof(double));
    f->out = calloc(n + 1, sizeof(double));
    f->spread = calloc(n + 1, sizeof(double));
    f->scratch = calloc(n + 1, sizeof(double));
    f->group = calloc(n + 1, sizeof(*f->group));
    if (f->x && f->target && f->base && f->truth && f->out && f->spread && f->scratch &&
        f->group)
        return FT_OK;
    rows_free(f);
    return ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", n);
}

static double value_of(const struct sample *s, ft__told what)
{
    return what == FT__TOLD_TIME        ? s->time_s
           : what == FT__TOLD_WORKSPACE ? s->workspace
                                        : s->power_w;
}

/* Power is told in watts: a machine draws much the same whatever it runs. */
static void add_row(struct rows *f, const struct sample *s, ft__told what)
{
    double value = value_of(s, what), base = what == FT__TOLD_TIME ? s->base_s : 1;

    memcpy(f->x + f->n * FT__N_FEATURES, s->row, sizeof(s->row));
    f->truth[f->n] = value;
    f->base[f->n] = base;
    f->sum += s->sum[what];
    f->target[f->n] = what == FT__TOLD_WORKSPACE ? log(1 + value) : log(value / base);
    f->group[f->n++] = s->hash;
}

static ft_status score(double v[FT__N_ERRORS], const struct rows *f, size_t n,
                       const double *predicted, ft_error *err)
{
    ft_errors e;
    ft_status st = ft_errors_compute(&e, f->truth, predicted, n, FT__N_FEATURES, err);

    if (!st)
        ft__errors_put(v, &e);
    return st;
}

/* Errors out of fold, of the best constant and of the roofline. */
static ft_status evaluate(ft__regressor_image *r, struct rows *f, double constant,
                          ft__told what, ft_error *err)
{
    const double one = what == FT__TOLD_WORKSPACE;
    double *p = f->scratch;
    ft_status st;

    for (size_t i = 0; i < f->n; i++)
        p[i] = f->base[i] * exp(f->out[i]) - one;
    st = score(r->forest, f, f->n, p, err);
    for (size_t i = 0; i < f->n; i++)
        p[i] = f->base[i] * exp(constant) - one;
    if (!st)
        st = score(r->constant, f, f->n, p, err);
    /* A roofline says nothing of power. */
    return st ? st
              : score(r->roofline, f, what == FT__TOLD_POWER ? 0 : f->n, f->base, err);
}

static void range_of(ft__regressor_image *r, const struct rows *f)
{
    for (uint32_t j = 0; j < FT__N_FEATURES; j++) {
        r->least[j] = r->most[j] = f->x[j];
        for (size_t i = 1; i < f->n; i++) {
            float v = f->x[i * FT__N_FEATURES + j];

            r->least[j] = v < r->least[j] ? v : r->least[j];
            r->most[j] = v > r->most[j] ? v : r->most[j];
        }
    }
}

/* Keep a kind's residuals; those of its class are the same operations again. */
static ft_status keep_tails(struct tails *t, const struct rows *f, ft_error *err)
{
    double *grown = realloc(t->residual, (t->n + f->n) * sizeof(*grown));

    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "residuals");
    t->residual = grown;
    for (size_t i = 0; i < f->n; i++)
        if (isfinite(f->out[i]) && f->spread[i] > 0)
            grown[t->n++] = (f->target[i] - f->out[i]) / f->spread[i];
    return FT_OK;
}

static ft_status fit(struct training *t, struct rows *f, struct trained *r,
                     ft__told what, ft_error *err)
{
    const ft__importance_to to = {t->opt->importance, t->opt->importance_user};
    const ft_regressor_attributes of = {.kind = r->image.kind,
                                        .metric = r->image.metric,
                                        .phase = "",
                                        .n = FT__N_FEATURES};
    ft__fit_options how = {
        .methods = t->opt->methods ? t->opt->methods : 1u << FT_METHOD_EXTRA,
        .mix = t->opt->mix,
        .tune = t->opt->tune != 0,
        .n_folds = t->opt->n_folds ? t->opt->n_folds : MAX_FOLDS,
        .most_rows = SIZE_MAX,
        .n_trees = what == FT__TOLD_WORKSPACE ? WORKSPACE_TREES : t->opt->n_trees,
        .seed = t->opt->seed,
        .threads = t->opt->threads};
    const ft_matrix x = {f->x, f->n, FT__N_FEATURES};
    ft_status st = ft__importance_want(&how, to.tell ? &to : NULL, FT__N_FEATURES, err);

    if (!st)
        st = ft__fit_make(&r->fit, f->out, f->spread, &x, f->target, f->group, &how,
                          err);
    if (!st)
        st = ft__importance_tell(to.tell ? &to : NULL, &of, how.importance, NULL, err);
    free(how.importance);
    if (st)
        return st;
    range_of(&r->image, f);
    st = evaluate(&r->image, f, r->fit.centre, what, err);
    return st || r->image.whole_class ? st : keep_tails(&t->tails[what], f, err);
}

/* The regressor of the same name that measurements are added to, or NULL. */
static const ft__regressor *find_before(const struct training *t, const char *name,
                                        ft__told what)
{
    const ft_predictor *p = t->opt->add;

    for (uint32_t i = 0; p && i < p->n_regressors; i++)
        if (strcmp(p->regressor[i].image->kind, name) == 0 &&
            strcmp(p->regressor[i].image->metric, ft__told_name(what)) == 0)
            return &p->regressor[i];
    return NULL;
}

/* It stays as it was when its rows did. *kept says so. */
static ft_status keep(bool *kept, struct training *t, const ft__regressor *before,
                      const struct rows *f, ft_error *err)
{
    struct trained *r;

    *kept = before && (f->n == 0 || before->mixture->rows == f->sum);
    if (before && f->n && (double)f->n < before->image->forest[0])
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "%s was learned from %.0f operations, of which the store holds "
                       "%zu: old and new ones have to be in one store",
                       before->image->kind, before->image->forest[0], f->n);
    if (!*kept)
        return FT_OK;
    r = realloc(t->trained, (t->n_trained + 1) * sizeof(*t->trained));
    if (!r)
        return ft_fail(err, FT_ENOMEM, 0, "regressors");
    t->trained = r;
    r[t->n_trained++] = (struct trained){.image = *before->image, .before = before};
    return FT_OK;
}

static ft_status fit_and_add(struct training *t, struct rows *f, const char *name,
                             uint32_t scope, ft__told what, ft_error *err)
{
    struct trained *r = realloc(t->trained, (t->n_trained + 1) * sizeof(*t->trained));

    if (!r)
        return ft_fail(err, FT_ENOMEM, 0, "regressors");
    t->trained = r;
    r += t->n_trained++;
    *r = (struct trained){.image = {.whole_class = scope}, .rows = f->sum};
    snprintf(r->image.kind, sizeof(r->image.kind), "%s", name);
    snprintf(r->image.metric, sizeof(r->image.metric), "%s", ft__told_name(what));
    return fit(t, f, r, what, err);
}

enum { KIND, CLASS, ALL }; /* ft__regressor_image.whole_class */

static bool is_told(const struct sample *s, ft__told what)
{
    double v = value_of(s, what);

    return what == FT__TOLD_WORKSPACE ? v >= 0 : v > 0;
}

/* Train on the rows of a kind, a class or all, if there are enough. */
static ft_status train_one(struct training *t, int which, uint32_t scope, bool backward,
                           ft__told what, ft_error *err)
{
    char name[sizeof(((ft__regressor_image *)0)->kind)];
    double most = 0;
    struct rows f;
    bool kept;
    ft_status st = rows_make(&f, t->n, err);

    if (st)
        return st;
    snprintf(name, sizeof(name), "%s%s",
             scope == KIND    ? ft_kind_name((ft_kind)which)
             : scope == CLASS ? ft_class_name((ft_class)which)
                              : FT__ALL_KINDS,
             backward ? FT__BACKWARD : "");
    for (size_t i = 0; i < t->n; i++) {
        const struct sample *s = &t->sample[i];
        int of = scope == KIND    ? (int)s->op.kind
                 : scope == CLASS ? (int)ft_kind_class(s->op.kind)
                                  : which;

        if (s->left_out || of != which ||
            backward != (s->op.phase == FT_PHASE_BACKWARD) || !is_told(s, what))
            continue;
        add_row(&f, s, what);
        most = fmax(most, f.truth[f.n - 1]);
    }
    st = keep(&kept, t, find_before(t, name, what), &f, err);
    /* A kind that never needs workspace needs no regressor to say so. */
    if (!st && !kept && f.n >= (scope == ALL ? LEAST_POWERED : LEAST_ROWS) &&
        (what != FT__TOLD_WORKSPACE || most > 0)) {
        ft__log(t->opt->log, FT_LOG_DEBUG, "%s %s: %zu rows", name, ft__told_name(what),
                f.n);
        st = fit_and_add(t, &f, name, scope, what, err);
    }
    rows_free(&f);
    return st;
}

/* ---- all regressors ---- */

static ft_status share_tails(struct training *t, ft__told what, ft_error *err)
{
    ft__fit **of = calloc(t->n_trained + 1u, sizeof(ft__fit *));
    const char *metric = ft__told_name(what);
    struct tails *tails = &t->tails[what];
    size_t n = 0;
    ft_status st = FT_OK;

    if (!of)
        return ft_fail(err, FT_ENOMEM, 0, "regressors");
    for (uint32_t i = 0; i < t->n_trained; i++)
        if (strcmp(t->trained[i].image.metric, metric) == 0 && !t->trained[i].before)
            of[n++] = &t->trained[i].fit;
    if (tails->n && !tails->known)
        st = ft_conformal(&tails->low, &tails->high, tails->residual, tails->n, 0.9,
                          err);
    if (!st && (tails->n || tails->known))
        ft__fit_share_tails(of, n, tails->low, tails->high);
    free(of);
    return st;
}

static ft_status write_regressor(struct training *t, struct trained *r, ft_error *err)
{
    struct {
        ft__regressor_image image;
        ft__mixture_image mixture;
    } head = {r->image, {.rows = r->rows}};
    const struct tails *tails = &t->tails[told_of(&r->image)];
    ft__writer *w = &t->writer;
    size_t begin = w->body.len;

    if (r->before)
        return ft__writer_section(w, FT__SECTION_REGRESSOR, r->before->image,
                                  r->before->section->bytes, err);
    head.mixture.tails[0] = tails->low;
    head.mixture.tails[1] = tails->high;
    head.image.interval_low = r->fit.low;
    head.image.interval_high = r->fit.high;
    head.image.typical_spread = r->fit.typical;
    ft__writer_add(w, &head, sizeof(head));
    ft__writer_models(w, &head.mixture, &r->fit);
    if (!w->body.bad) /* now with the sizes */
        memcpy(w->body.s + begin, &head, sizeof(head));
    return ft__writer_end(w, FT__SECTION_REGRESSOR, begin, w->body.len - begin, err);
}

static ft_status train_each(struct training *t, int which, uint32_t scope,
                            ft_error *err)
{
    ft_status st = FT_OK;

    for (int backward = 0; backward < 2; backward++)
        for (int what = 0; what < FT__N_TOLD && !st; what++)
            st = train_one(t, which, scope, backward, (ft__told)what, err);
    return st;
}

static ft_status train_all(struct training *t, ft_error *err)
{
    ft_status st = FT_OK;
    int total = FT_KIND_COUNT + FT_CLASS_COUNT;

    for (int i = 0; i < total && !st; i++) {
        const uint32_t scope = i < FT_KIND_COUNT ? KIND : CLASS;

        ft__progress(t->opt->log, (uint64_t)i, (uint64_t)total, "training");
        st = train_each(t, scope == CLASS ? i - FT_KIND_COUNT : i, scope, err);
    }
    /* Power is measured of a share of the operations, which is few of most kinds. */
    for (int backward = 0; backward < 2 && !st; backward++)
        st = train_one(t, 0, ALL, backward, FT__TOLD_POWER, err);
    ft__progress(t->opt->log, (uint64_t)total, (uint64_t)total, "");
    for (int what = 0; what < FT__N_TOLD && !st; what++)
        st = share_tails(t, (ft__told)what, err);
    for (uint32_t i = 0; i < t->n_trained && !st; i++)
        st = write_regressor(t, &t->trained[i], err);
    return st;
}

static void training_free(struct training *t)
{
    for (uint32_t i = 0; i < t->n_trained; i++)
        ft__fit_free(&t->trained[i].fit);
    free(t->trained);
    for (int what = 0; what < FT__N_TOLD; what++)
        free(t->tails[what].residual);
    free(t->sample);
    ft__writer_free(&t->writer);
}

ft_status ft_predictor_train(ft_predictor **out, ft_store *store,
                             const ft_train_options *opt, ft_error *err)
{
    struct training t = {.opt = opt};
    ft_status st;

    *out = NULL;
    if (opt->family)
        return ft__family_predictor(out, store, opt, err);
    t.info.context_bytes = NAN;
    st = gather(&t, store, err);
    if (!st)
        st = read_policy(&t, store, err);
    if (!st) {
        describe(&t);
        st = ft__writer_section(&t.writer, FT__SECTION_INFO, &t.info, sizeof(t.info),
                                err);
    }
    if (!st)
        st = add_measured(&t, err);
    if (!st)
        st = train_all(&t, err);
    if (!st)
        st = ft__writer_finish(out, &t.writer, err);
    training_free(&t);
    return st;
}

#include "predict/prices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/pairs.h"
#include "base/prng.h"
#include "base/stats.h"
#include "predict/whole.h"

/* Fewer rows of a kind say nothing of it. */
enum { LEAST_ROWS = 3, LEAST_FOR_FLOOR = 5 };
/* Rows of one kind that are learned from, and that cross-validation looks at. */
enum { KIND_ROWS = 2500, LOOKED_AT = 1500 };
/* Times up to this multiple of the lowest are taken to be the host's. */
static const double floor_above = 1.5;
static const double floor_quantile = 0.03;

/* ---- rows ---- */

struct fit {
    const ft__samples *s;
    const ft__prices_options *opt;
    uint32_t *row;
    size_t n;
    double *held[2]; /* per sample, of time and of power */
    double *scratch;
};

static void fit_free(struct fit *f)
{
    free(f->row);
    free(f->held[0]);
    free(f->held[1]);
    free(f->scratch);
}

static void count_kinds(uint32_t count[FT_PHASE_COUNT][FT_KIND_COUNT],
                        const ft__samples *s, const uint32_t *row, size_t n)
{
    memset(count, 0, sizeof(uint32_t[FT_PHASE_COUNT][FT_KIND_COUNT]));
    for (size_t i = 0; i < n; i++)
        count[s->v[row[i]].op.phase][s->v[row[i]].op.kind]++;
}

static void find_layouts(ft__prices *p, const ft__samples *s, const uint32_t *row,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        p->relaid[s->v[row[i]].op.kind] |= s->v[row[i]].op.layout != FT_LAYOUT_PLAIN;
}

static ft_status fit_make(struct fit *f, ft__prices *p, const uint32_t *row, size_t n,
                          ft_error *err)
{
    const size_t most = f->opt->kind_rows ? f->opt->kind_rows : KIND_ROWS;
    const ft__samples *s = f->s;

    f->row = calloc(n + 1, sizeof(*f->row));
    f->held[0] = calloc(s->n + 1, sizeof(double));
    f->held[1] = calloc(s->n + 1, sizeof(double));
    f->scratch = calloc(n + 1, sizeof(double));
    if (!f->row || !f->held[0] || !f->held[1] || !f->scratch)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    count_kinds(p->rows_of, s, row, n);
    find_layouts(p, s, row, n);
    for (size_t i = 0; i < n; i++) {
        const ft__sample *v = &s->v[row[i]];
        const uint32_t of = p->rows_of[v->op.phase][v->op.kind];
        ft__prng r = ft__prng_stream(f->opt->seed, v->hash);

        if (of <= most || ft__prng_unit(&r) * (double)of < (double)most)
            f->row[f->n++] = row[i];
    }
    for (size_t i = 0; i < s->n; i++)
        f->held[0][i] = f->held[1][i] = NAN;
    return FT_OK;
}

/* ---- sessions ---- */

static uint32_t session_of(const ft__prices *p, const char *setting)
{
    uint32_t i = 0;

    while (i < p->n_sessions && strcmp(p->session[i], setting) != 0)
        i++;
    return i;
}

static ft_status add_session(ft__prices *p, const char *setting, ft_error *err)
{
    char **v = realloc(p->session, (p->n_sessions + 1u) * sizeof(*v));

    if (v)
        p->session = v;
    if (!v || !(v[p->n_sessions] = strdup(setting)))
        return ft_fail(err, FT_ENOMEM, 0, "settings");
    p->n_sessions++;
    return FT_OK;
}

static ft_status find_sessions(ft__prices *p, const struct fit *f, ft_error *err)
{
    size_t *rows = calloc(f->s->n_datasets + 1u, sizeof(*rows));
    ft_status st = rows ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "settings");

    for (size_t i = 0; i < f->n && !st; i++) {
        const char *setting = f->s->dataset[f->s->v[f->row[i]].dataset].setting;
        uint32_t at = session_of(p, setting);

        if (at == p->n_sessions)
            st = add_session(p, setting, err);
        for (rows[at]++; !st && at > 0 && rows[at] > rows[at - 1]; at--) {
            char *text = p->session[at];
            size_t n = rows[at];

            p->session[at] = p->session[at - 1];
            p->session[at - 1] = text;
            rows[at] = rows[at - 1];
            rows[at - 1] = n;
        }
    }
    free(rows);
    return st;
}

/* ---- learners ---- */

/* One row of each kind and phase that is to be known: nothing else gets regressors. */
static size_t find_asked(uint32_t *out, const ft__prices *p, const struct fit *f)
{
    bool done[FT_PHASE_COUNT][FT_KIND_COUNT] = {{false}};
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++) {
        const ft_op *op = &f->s->v[f->row[i]].op;

        if (!done[op->phase][op->kind] && ft__prices_know(p, op)) {
            done[op->phase][op->kind] = true;
            out[n++] = f->row[i];
        }
    }
    return n;
}

/* What regressors of known devices say of an unknown one is not worth having, nor is
 * the typical residual of a kind (docs/notes/networks.md): no gain is enough, and the
 * estimate itself is the answer. */
static const double gain_across = 1;

static ft_status fit_learners(ft__prices *p, const struct fit *f, const ft__base *base,
                              ft_error *err)
{
    ft__learn_options how = {.metric = FT__METRIC_TIME,
                             /* Trees alone: they are fitted once more for each network
                              * that is left out. Nobody asks how sure a price is. */
                             .fit = {.methods = 1u << FT_METHOD_EXTRA,
                                     .n_trees = f->opt->n_trees,
                                     .most_rows = LOOKED_AT,
                                     .no_spread = true,
                                     .gain = f->opt->unseen ? gain_across : 0,
                                     .seed = f->opt->seed,
                                     .threads = 1},
                             .plain = true,
                             .unseen = f->opt->unseen,
                             .held = f->held[0],
                             .base = base};
    uint32_t *ask = calloc(f->n + 1, sizeof(*ask));
    size_t n = 0, n_ask;
    ft_status st;

    if (!ask)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", f->n);
    n_ask = find_asked(ask, p, f);
    st = ft__learner_fit(&p->time, f->s, f->row, f->n, ask, n_ask, &how, err);
    for (size_t i = 0; i < f->n; i++)
        n += f->s->v[f->row[i]].value[FT__METRIC_POWER] > 0;
    how.metric = FT__METRIC_POWER;
    how.held = f->held[1];
    p->has_power = !st && n > 0;
    if (p->has_power)
        st = ft__learner_fit(&p->power, f->s, f->row, f->n, ask, n_ask, &how, err);
    free(ask);
    return st;
}

static int by_hash(const void *a, const void *b)
{
    const ft__unseen_price *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->session > y->session) - (x->session < y->session);
}

static uint64_t hash_of(const ft_op *op)
{
    ft_op key = ft__part_key(op);

    key.phase = op->phase;
    return ft_op_hash(&key);
}

static ft_status keep_unseen(ft__prices *p, const struct fit *f, ft_error *err)
{
    p->unseen = calloc(f->n + 1, sizeof(*p->unseen));
    if (!p->unseen)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", f->n);
    for (size_t i = 0; i < f->n; i++) {
        const ft__sample *v = &f->s->v[f->row[i]];

        p->unseen[i] = (ft__unseen_price){
            hash_of(&v->op), session_of(p, f->s->dataset[v->dataset].setting),
            f->held[0][f->row[i]], f->held[1][f->row[i]]};
    }
    p->n_unseen = f->n;
    qsort(p->unseen, f->n, sizeof(*p->unseen), by_hash);
    return FT_OK;
}

/* ---- tables ---- */

/* Every kind has a host time of its own: what surrounds a kernel differs. */
static void find_floors(ft__prices *p, const struct fit *f)
{
    double sum = 0;
    size_t n_kinds = 0;

    for (int phase = 0; phase < FT_PHASE_COUNT; phase++)
        for (int k = 0; k < FT_KIND_COUNT; k++) {
            size_t n = 0;
            double least;

            if (p->rows_of[phase][k] < LEAST_FOR_FLOOR)
                continue;
            for (size_t i = 0; i < f->n; i++) {
                const ft__sample *v = &f->s->v[f->row[i]];

                if ((int)v->op.phase == phase && (int)v->op.kind == k)
                    f->scratch[n++] = v->value[FT__METRIC_TIME];
            }
            if (n == 0)
                continue;
            ft__sort(f->scratch, n);
            least = ft__quantile(f->scratch, n, floor_quantile);
            p->floor_s[phase][k] = floor_above * least;
            sum += log(least);
            n_kinds++;
        }
    p->launch_s = n_kinds ? exp(sum / (double)n_kinds) : 0;
}

static void find_powers(ft__prices *p, const struct fit *f)
{
    size_t n = 0;

    p->idle_w = NAN;
    for (size_t i = 0; i < f->n; i++) {
        const ft__sample *v = &f->s->v[f->row[i]];
        double w = v->value[FT__METRIC_POWER];

        p->idle_w = fmin(p->idle_w, w);
        if (w > 0 && v->value[FT__METRIC_TIME] > p->floor_s[v->op.phase][v->op.kind])
            f->scratch[n++] = w;
    }
    p->busy_w = ft__median(f->scratch, n);
}

/* ---- all of it ---- */

static ft_status check_devices(const ft__prices *p, const struct fit *f, ft_error *err)
{
    for (size_t i = 0; i < f->n; i++) {
        const ft__sample *v = &f->s->v[f->row[i]];
        const ft__dataset *d = &f->s->dataset[v->dataset];

        if (!(ft__prices_bare(p, &v->op, d) > 0))
            return ft_fail(err, FT_ENOTFOUND, 0,
                           "%s: its file lacks what an estimate needs; see "
                           "\"foretell devices %s\"",
                           d->device, d->device);
    }
    return FT_OK;
}

ft_status ft__prices_fit(ft__prices *out, const ft__samples *s, const uint32_t *row,
                         size_t n, const ft__prices_options *opt, ft_error *err)
{
    struct fit f = {.s = s, .opt = opt};
    ft__base base = {0};
    ft_status st;

    *out = (ft__prices){0};
    if (n == 0)
        return ft_fail(err, FT_ENOTFOUND, 0, "no operations are left to learn from");
    st = fit_make(&f, out, row, n, err);
    if (!st)
        st = find_sessions(out, &f, err);
    if (!st)
        st = ft__base_fit(&base, s, f.row, f.n, opt->unseen, opt->seed, err);
    if (!st)
        st = fit_learners(out, &f, &base, err);
    ft__base_free(&base);
    if (!st)
        st = check_devices(out, &f, err);
    if (!st)
        st = keep_unseen(out, &f, err);
    if (!st) {
        find_floors(out, &f);
        find_powers(out, &f);
    }
    fit_free(&f);
    if (st)
        ft__prices_free(out);
    return st;
}

void ft__prices_free(ft__prices *p)
{
    ft__learner_free(&p->time);
    if (p->has_power)
        ft__learner_free(&p->power);
    for (uint32_t i = 0; i < p->n_sessions; i++)
        free(p->session[i]);
    free(p->session);
    free(p->unseen);
    *p = (ft__prices){0};
}

/* ---- asking ---- */

double ft__prices_bare(const ft__prices *p, const ft_op *op, const ft__dataset *on)
{
    ft__chip chip;
    ft__terms t;

    ft__chip_make(&chip, ft_device_get(on->file), on->setting, on->policy, op);
    ft__physics(&t, op, &chip, &p->time.base.theta[ft__group_of(op)]);
    return t.busy_s;
}

bool ft__prices_know(const ft__prices *p, const ft_op *op)
{
    return p->rows_of[op->phase][op->kind] >= LEAST_ROWS;
}

struct name {
    char text[64];
};

/* The next pair of a setting: its name, and where it ends; false: none is left. */
static bool next_pair(struct name *name, size_t *len, const char *at)
{
    size_t named = strcspn(at, "= ");

    *len = strcspn(at, " ");
    if (named >= *len || named >= sizeof(name->text))
        named = 0;
    memcpy(name->text, at, named);
    name->text[named] = '\0';
    return *at != '\0';
}

static bool same_pair(const char *a, const char *b, const char *name)
{
    size_t m, n;
    const char *x = ft__pair(a, name, &m), *y = ft__pair(b, name, &n);

    return x && y && m == n && memcmp(x, y, m) == 0;
}

/* Does a network's own pair say anything to regressors or to the estimate? That of a
 * session nobody measured operations in does not. */
static bool is_told(const ft__prices *p, const char *own, const char *name)
{
    static const char *const physical[] = {"clock", "memory", "power"};

    for (size_t i = 0; i < sizeof(physical) / sizeof(*physical); i++)
        if (strcmp(name, physical[i]) == 0)
            return true;
    for (uint32_t i = 0; i < p->n_sessions; i++)
        if (same_pair(own, p->session[i], name))
            return true;
    return false;
}

static void add_pair(ft__buf *b, const char *pair, size_t len)
{
    ft__buf_add(b, " ", b->len > 0);
    ft__buf_add(b, pair, len);
}

/* "clock=1200MHz" of a network's setting, and of the session's what that leaves out or
 * nobody knows. NULL: no memory. The caller frees. */
static char *setting_in(const ft__prices *p, const char *own, const char *session)
{
    ft__buf b = {0};
    struct name name;
    size_t len, unused;

    ft__buf_add(&b, "", 0);
    for (const char *at = own; next_pair(&name, &len, at); at += len + (at[len] == ' '))
        if (is_told(p, own, name.text) || !ft__pair(session, name.text, &unused))
            add_pair(&b, at, len);
    for (const char *at = session; next_pair(&name, &len, at);
         at += len + (at[len] == ' '))
        if (!is_told(p, own, name.text) || !ft__pair(own, name.text, &unused))
            add_pair(&b, at, len);
    if (b.bad)
        ft__buf_free(&b);
    return b.s;
}

/* Answers of one learner, into times or powers. */
static ft_status ask(const ft__learner *l, ft__price *out, bool power,
                     const ft__samples *s, const uint32_t *row, ft_error *err)
{
    ft__answer *said = calloc(s->n + 1, sizeof(*said));
    ft_status st;

    if (!said)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", s->n);
    st = ft__learner_predict(l, said, s, row, s->n, err);
    for (size_t i = 0; i < s->n && !st; i++)
        *(power ? &out[i].power_w : &out[i].time_s) =
            l->opt.unseen && !power ? said[i].base : said[i].value;
    free(said);
    return st;
}

static void take_unseen(const ft__prices *p, ft__price *out, const ft_op *op,
                        uint32_t session)
{
    const ft__unseen_price wanted = {.hash = hash_of(op), .session = session};
    const ft__unseen_price *found =
        bsearch(&wanted, p->unseen, p->n_unseen, sizeof(wanted), by_hash);

    if (found && isfinite(found->time_s))
        out->time_s = found->time_s;
    if (found && isfinite(found->power_w))
        out->power_w = found->power_w;
}

static ft_status ask_all(const ft__prices *p, ft__price *out, ft__samples *s,
                         uint32_t *row, const ft_op *op, size_t n, ft_error *err)
{
    ft_status st;

    for (size_t i = 0; i < n; i++) {
        s->v[i] = (ft__sample){.op = op[i], .hash = ft_op_hash(&op[i])};
        for (int m = 0; m < FT__N_METRICS; m++)
            s->v[i].value[m] = NAN;
        row[i] = (uint32_t)i;
        out[i] = (ft__price){NAN, NAN};
    }
    st = ask(&p->time, out, false, s, row, err);
    if (!st && p->has_power)
        st = ask(&p->power, out, true, s, row, err);
    return st;
}

ft_status ft__prices_ask(const ft__prices *p, ft__price *out, const ft_op *op, size_t n,
                         const ft__dataset *on, const char *session, bool blind,
                         ft_error *err)
{
    ft__dataset here = *on;
    ft__samples s = {
        .v = calloc(n + 1, sizeof(*s.v)), .n = n, .dataset = &here, .n_datasets = 1};
    uint32_t *row = calloc(n + 1, sizeof(*row));
    ft_status st;

    here.roof = NULL;
    here.setting = setting_in(p, on->setting, session);
    if (!s.v || !row || !here.setting)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    else
        st = ask_all(p, out, &s, row, op, n, err);
    for (size_t i = 0; i < n && blind && !st; i++)
        take_unseen(p, &out[i], &op[i], session_of(p, session));
    free(here.setting);
    free(s.v);
    free(row);
    return st;
}

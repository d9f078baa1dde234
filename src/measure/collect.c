/* Many operations into a store, the most informative first, until time is over or they
 * are known well enough. */
#include "measure/collection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "foretell/evaluate.h"
#include "graph/graph_inside.h"
#include "graph/op_inside.h"
#include "measure/measure_inside.h"
#include "store/store_inside.h"

static int by_hash(const void *a, const void *b)
{
    uint64_t x = ft__op_hash(&((const ft__candidate *)a)->op);
    uint64_t y = ft__op_hash(&((const ft__candidate *)b)->op);

    return (x > y) - (x < y);
}

/* Lower, drop repeats (adding their counts). */
static void take_unique(struct ft__collection *k, const ft_op *ops,
                        const uint64_t *count, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (ft_kind_class(ops[i].kind) == FT_CLASS_VIEW ||
            ops[i].kind == FT_KIND_generic)
            continue;
        k->c[k->n].op = ops[i];
        ft__op_lower(&k->c[k->n].op, k->session->engine->policy);
        k->c[k->n++].count = count ? (double)count[i] : 1;
    }
    qsort(k->c, k->n, sizeof(*k->c), by_hash);
    n = k->n;
    k->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (k->n && ft_op_equal(&k->c[k->n - 1].op, &k->c[i].op))
            k->c[k->n - 1].count += k->c[i].count;
        else
            k->c[k->n++] = k->c[i];
    }
}

static size_t part_size(const struct ft__collection *k)
{
    size_t left = k->n - k->from;

    return left < FT__MOST_CHOOSABLE ? left : FT__MOST_CHOOSABLE;
}

/* Choose among those from k->from on. */
static ft_status open_part(struct ft__collection *k, ft_error *err)
{
    size_t n = part_size(k);
    ft_op *ops = calloc(n + 1, sizeof(*ops));
    double *count = calloc(n + 1, sizeof(*count));
    ft_status st =
        ops && count ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);

    ft__choosing_free(&k->choosing);
    for (size_t i = 0; i < n && !st; i++) {
        ops[i] = k->c[k->from + i].op;
        count[i] = k->c[k->from + i].count;
    }
    if (!st)
        st = ft__choosing_make(&k->choosing, ops, count, n, k->opt->choose,
                               k->session->seed, err);
    for (size_t i = 0; i < n && !st; i++)
        if (k->c[k->from + i].known || k->c[k->from + i].chosen)
            ft__choosing_know(&k->choosing, i);
    free(ops);
    free(count);
    return st;
}

static ft_status candidates_make(struct ft__collection *k, const ft_op *ops,
                                 const uint64_t *count, size_t n, ft_error *err)
{
    k->c = calloc(n + 1, sizeof(*k->c));
    if (!k->c)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    take_unique(k, ops, count, n);
    for (size_t i = 0; i < k->n; i++) {
        ft__candidate *c = &k->c[i];

        c->work_s = c->count * ft__choosing_work(&c->op);
        c->series = ft__op_layer_hash(&c->op);
        c->batch = ft_op_at(&c->op, FT_K_x, 0);
    }
    return open_part(k, err);
}

static void candidates_free(struct ft__collection *k)
{
    ft__choosing_free(&k->choosing);
    free(k->c);
}

/* Those near it are worth less from now on. */
static void candidate_near(struct ft__collection *k, size_t i)
{
    if (i >= k->from && i < k->from + k->choosing.n)
        ft__choosing_know(&k->choosing, i - k->from);
}

/* Known from now on. */
static void candidate_known(struct ft__collection *k, size_t i)
{
    k->c[i].known = true;
    candidate_near(k, i);
}

/* A smaller one of its series is still to come, or being measured. */
static bool must_wait(const struct ft__collection *k, size_t i)
{
    for (size_t j = 0; k->opt->ascending && j < k->n; j++)
        if (k->c[j].series == k->c[i].series && k->c[j].batch < k->c[i].batch &&
            !k->c[j].done && !k->c[j].known)
            return true;
    return false;
}

static bool may_be_next(const void *user, size_t i)
{
    const struct ft__collection *k = user;
    const ft__candidate *c = &k->c[k->from + i];

    return !c->known && !c->done && !c->chosen && !must_wait(k, k->from + i);
}

/* The most informative one that may be tried now; k->n: there is none.
 *
 * There may be more than can be chosen among at once: then the next part follows when
 * nothing of this one is left that may be tried. */
static ft_status candidate_next(struct ft__collection *k, size_t *next, ft_error *err)
{
    ft_status st = FT_OK;

    *next = k->n;
    for (size_t tried = 0; tried <= k->n / FT__MOST_CHOOSABLE + 1 && !st; tried++) {
        size_t i = ft__choosing_next(&k->choosing, may_be_next, k);

        if (i < k->choosing.n) {
            *next = k->from + i;
            return FT_OK;
        }
        if (k->n <= FT__MOST_CHOOSABLE)
            return FT_OK;
        k->from += FT__MOST_CHOOSABLE;
        if (k->from >= k->n)
            k->from = 0;
        st = open_part(k, err);
    }
    return st;
}

/* It failed: the larger ones of its series are not tried; how many. */
static size_t candidate_end_series(struct ft__collection *k, size_t i)
{
    size_t ended = 0;

    for (size_t j = 0; k->opt->ascending && j < k->n; j++) {
        if (k->c[j].series != k->c[i].series || k->c[j].batch <= k->c[i].batch ||
            k->c[j].done || k->c[j].known)
            continue;
        k->c[j].done = true;
        ended++;
    }
    return ended;
}

/* Where the budget is shorter than this for each operation wanted, many operations
 * measured roughly say more than few measured well: fewer rounds, hardly any redone,
 * and more operations beside one calibration. */
static const double hasty_below_s = 0.1;
enum { DEFAULT_GROUP = 6, HASTY_GROUP = 12, MOST_GROUP = 32 };
static const double default_power_share = 0.1;
/* Of the budget, for measuring once more what was measured. */
static const double repeats_take = 0.1;

static ft_status mark_present(struct ft__collection *k, ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < k->n && !st; i++) {
        ft__op_key key;
        int has = 0;

        ft__op_key_make(&key, k->session, &k->c[i].op, "time");
        if (!k->opt->again)
            st = ft__store_has(k->store, &key.key, &has, err);
        if (has) {
            candidate_known(k, i);
            k->report->present++;
        }
    }
    return st;
}

/* Time for one operation: the budget shared out, within reason. */
static double share_of_time(const struct ft__collection *k, size_t left)
{
    double share =
        (k->end_s - ft__clock_now(k->clock)) / (double)(left ? left : 1) * 0.5;

    if (k->opt->op_time_s > 0)
        return k->opt->op_time_s;
    return fmin(0.3, fmax(k->hasty ? 0.015 : 0.03, share));
}

/* What came of one that was tried. What is unknown stays to be measured another
 * time: nothing is stored of a failure. */
static ft_status judge(struct ft__collection *k, size_t i, const ft_error *why,
                       ft_error *err)
{
    ft__candidate *c = &k->c[i];
    char spec[2048];
    size_t ended = 0;

    c->chosen = false;
    c->done = true;
    ft_op_print(&c->op, spec, sizeof(spec));
    if (why->status)
        ended = candidate_end_series(k, i);
    switch (why->status) {
    case FT_OK:
        k->report->measured++;
        c->measured = true;
        return FT_OK;
    case FT_EUNSUPPORTED:
        k->report->refused++;
        k->report->skipped += ended;
        ft__log(k->opt->log, FT_LOG_INFO, "not run by the engine: %s: %s", spec,
                why->msg);
        return FT_OK;
    case FT_ENOMEM:
        k->report->failed++;
        k->report->too_large += ended;
        ft__log(k->opt->log, FT_LOG_WARN, "failed: %s: %s", spec, why->msg);
        return FT_OK;
    case FT_EBACKEND:
        k->report->failed++;
        k->report->skipped += ended;
        ft__log(k->opt->log, FT_LOG_WARN, "failed: %s: %s", spec, why->msg);
        return FT_OK;
    default:
        if (err)
            *err = *why;
        return why->status;
    }
}

/* The next few, each as if those chosen before it were known; one alone where the time
 * is over. */
static ft_status choose(struct ft__collection *k, bool over, size_t *at, ft_op *ops,
                        size_t *chosen, ft_error *err)
{
    size_t usual = k->hasty ? HASTY_GROUP : DEFAULT_GROUP;
    size_t want = over ? 1 : k->opt->group ? k->opt->group : usual, n = 0, i = 0;
    ft_status st = FT_OK;

    while (n < want && n < MOST_GROUP && !st) {
        st = candidate_next(k, &i, err);
        if (st || i == k->n)
            break;
        k->c[i].chosen = true;
        candidate_near(k, i);
        ops[n] = k->c[i].op;
        at[n++] = i;
    }
    *chosen = n;
    return st;
}

static size_t count_left(const struct ft__collection *k)
{
    size_t left = 0;

    for (size_t i = 0; i < k->n; i++)
        left += !k->c[i].known && !k->c[i].done;
    return left;
}

static int heaviest_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* Power needs seconds each: of the heaviest operations only, unless asked otherwise. */
static ft_status choose_powered(struct ft__collection *k, ft_error *err)
{
    double share = k->opt->power_share != 0 ? k->opt->power_share : default_power_share;
    size_t n = share > 0 ? (size_t)ceil(share * (double)k->n) : 0;
    double *work;

    k->power_from_s = INFINITY;
    if (!k->opt->meter || !n || !k->n)
        return FT_OK;
    work = calloc(k->n, sizeof(*work));
    if (!work)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", k->n);
    for (size_t i = 0; i < k->n; i++)
        work[i] = k->c[i].work_s;
    qsort(work, k->n, sizeof(*work), heaviest_first);
    k->power_from_s = work[(n < k->n ? n : k->n) - 1];
    free(work);
    return FT_OK;
}

/* Judged first when so many are known, then each time when there are a quarter more. */
enum { FIRST_JUDGED = 40 };
static const double judged_again = 1.25;

/* What was measured with this device, engine and setting. */
static void where_of(char where[512], const struct ft__collection *k)
{
    const ft_session *s = k->session;

    snprintf(where, 512, "device=%s engine=%s version=%s policy=%s %s", s->device,
             s->engine->name, s->engine->version(), s->dtype_policy, s->setting);
}

/* Cross-validated error, five folds. Operations were chosen to be unlike each other:
 * those not measured yet are likely to be predicted better. */
static ft_status held_out_error(struct ft__collection *k, double *mape, ft_error *err)
{
    ft_evaluate_options how = {.protocol = FT_PROTOCOL_FOLDS, .seed = 1, .threads = 1};
    ft_evaluation e;
    char where[512];
    ft_status st;

    where_of(where, k);
    how.where = where;
    *mape = NAN;
    st = ft_evaluate(&e, k->store, NULL, &how, err);
    if (st)
        return st == FT_ENOTFOUND ? FT_OK : st;
    *mape = e.all.learned.mape;
    ft_evaluation_free(&e);
    return FT_OK;
}

/* Which operations are hard to predict, learned from those measured. */
static ft_status learn_from_measured(struct ft__collection *k, ft_error *err)
{
    ft_key key = ft__session_key(k->session);
    ft__samples s = {0};
    uint32_t *row;
    ft_status st;

    st = ft__samples_read(&s, k->store, &key, NULL, err);
    if (st)
        return st;
    row = calloc(s.n + 1, sizeof(*row));
    st = row ? ft__samples_know(&s, NULL, err)
             : ft_fail(err, FT_ENOMEM, 0, "%zu measurements", s.n);
    for (size_t i = 0; row && i < s.n; i++)
        row[i] = (uint32_t)i;
    if (!st)
        st = ft__choosing_learn(&k->choosing, &s, row, s.n, 1, err);
    free(row);
    ft__samples_free(&s);
    return st;
}

/* Without it the order is the one before: nothing that is measured is worse for it. */
static void learn_to_choose(struct ft__collection *k)
{
    ft_error why;

    if (!ft__choosing_is_due(&k->choosing) || !learn_from_measured(k, &why))
        return;
    k->choosing.learn_at = SIZE_MAX;
    ft__log(k->opt->log, FT_LOG_WARN,
            "what to measure next follows no errors from here on: %s", why.msg);
}

static ft_status check_error(struct ft__collection *k, bool at_end, ft_error *err)
{
    size_t known = k->report->present + k->report->measured;
    ft_status st;

    if (!(k->opt->until_error > 0) || known < FIRST_JUDGED ||
        (!at_end && (double)known < k->judge_at) || known == k->judged)
        return FT_OK;
    k->judged = known;
    k->judge_at = judged_again * (double)known;
    st = held_out_error(k, &k->report->error, err);
    k->report->reached = k->report->error <= k->opt->until_error;
    return st;
}

/* How much of the collection is done, by operations or by time. */
static double progress(const struct ft__collection *k, size_t left, size_t total,
                       double begin_s, double until_s)
{
    const double spent = (ft__clock_now(k->clock) - begin_s) / (until_s - begin_s);

    return fmax(total ? 1 - (double)left / (double)total : 1, spent);
}

/* One at least, however little time the machine itself has left: who gives the same
 * budget again gets further each time. */
static ft_status measure_all(struct ft__collection *k, double until_s, ft_error *err)
{
    const double begin_s = ft__clock_now(k->clock);
    bool over = begin_s >= until_s;
    size_t left = count_left(k), total = left;
    ft_status st = FT_OK;

    while (left && !st && (!over || k->report->measured + k->report->failed == 0)) {
        ft_error why[MOST_GROUP];
        ft_op ops[MOST_GROUP];
        unsigned char powered[MOST_GROUP];
        size_t at[MOST_GROUP], n;

        st = choose(k, over, at, ops, &n, err);
        if (st || n == 0)
            break;
        ft__progress(k->opt->log, total - left, total, ft_kind_name(ops[0].kind));
        for (size_t i = 0; i < n; i++)
            powered[i] = k->c[at[i]].work_s >= k->power_from_s;
        st = ft__measure_into_store(k, ops, n, powered, share_of_time(k, left), why,
                                    err);
        for (size_t i = 0; i < n && !st; i++)
            st = judge(k, at[i], &why[i], err);
        left = count_left(k);
        if (!st)
            st = ft__measure_networks(k, progress(k, left, total, begin_s, until_s),
                                      err);
        if (!st)
            st = check_error(k, false, err);
        if (k->report->reached)
            break;
        over = ft__clock_now(k->clock) >= until_s;
        if (!st && left && !over)
            learn_to_choose(k);
    }
    ft__progress(k->opt->log, total, total, "");
    k->report->left = left;
    return st ? st : ft__measure_networks(k, 1, err);
}

/* Nothing is left for operations, or next to nothing: why, and what to do. */
static void warn_of_budget(const struct ft__collection *k, double begin_s,
                           double until_s)
{
    const double took_s = ft__clock_now(k->clock) - begin_s;

    if (begin_s + took_s >= until_s)
        ft__log(k->opt->log, FT_LOG_WARN,
                "what is measured of the machine itself, once, took %.2g s of a budget "
                "of %.2g s: it is kept, so that the same collection again measures "
                "operations; or give it more than %.2g s",
                took_s, k->opt->budget_s, 2 * took_s);
}

static ft_status begin_run(struct ft__collection *k, ft_error *err)
{
    const ft_session *s = k->session;
    char environment[512];

    snprintf(environment, sizeof(environment),
             "{\"device\": \"%s\", \"engine\": \"%s %s\", \"setting\": \"%s\", "
             "\"dtype_policy\": \"%s\"}",
             s->device, s->engine->name, s->engine->version(), s->setting,
             s->dtype_policy);
    return ft__store_begin_run(
        k->store, &k->run, k->opt->command ? k->opt->command : "", environment, err);
}

ft_status ft_collect(ft_collect_report *out, ft_session *s, ft_store *store,
                     const ft_op *ops, const uint64_t *count, size_t n,
                     const ft_collect_options *opt, ft_error *err)
{
    struct ft__collection k = {.session = s,
                               .store = store,
                               .opt = opt,
                               .report = out,
                               .clock = ft__session_clock(s)};
    double begin_s = ft__clock_now(k.clock), until_s, time_s;
    ft_status st;

    *out = (ft_collect_report){.error = NAN};
    k.end_s = opt->budget_s > 0 ? begin_s + opt->budget_s : INFINITY;
    k.hasty = opt->budget_s > 0 && opt->budget_s < hasty_below_s * (double)n;
    until_s = k.end_s - (opt->repeat_share < 0 ? 0 : repeats_take * opt->budget_s);
    st = ft__notes_check(opt->note, opt->n_notes, err);
    if (!st)
        st = begin_run(&k, err);
    /* Before anything else takes memory that would count as the engine's. */
    if (!st)
        st = ft__measure_machine(&k, err);
    if (!st)
        warn_of_budget(&k, begin_s, until_s);
    if (!st)
        st = candidates_make(&k, ops, count, n, err);
    out->wanted = k.n;
    if (!st)
        st = choose_powered(&k, err);
    if (!st)
        st = mark_present(&k, err);
    time_s = share_of_time(&k, count_left(&k));
    if (!st)
        st = measure_all(&k, until_s, err);
    if (!st)
        st = check_error(&k, true, err);
    if (!st)
        st = ft__measure_doubtful(&k, err);
    if (!st)
        st = ft__measure_again(&k, time_s, err);
    if (!st)
        st = ft__keep_usual(&k, err);
    candidates_free(&k);
    out->seconds = ft__clock_now(k.clock) - begin_s;
    return st;
}

/* foretell validate --outliers: slow operations of a store, and what tuning them gains.
 */
#include "cli/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/session.h"
#include "foretell/measure.h"
#include "report/units.h"

enum { SPEC_MAX = 2048 };

void ft__slow_ops_free(ft__slow_ops *s)
{
    free(s->op);
    free(s->retuned);
}

/* "0.27.0.post1+rules" -> "rules"; NULL: the engine has no schedules. */
static const char *schedule_of(const ft_slow_op *op)
{
    const char *plus = strchr(op->engine_version, '+');

    return plus ? plus + 1 : NULL;
}

static bool is_tunable(const ft_slow_op *op)
{
    return schedule_of(op) && strncmp(schedule_of(op), "tuned", 5) != 0;
}

static bool of_one_dataset(const ft_slow_op *a, const ft_slow_op *b)
{
    return strcmp(a->device, b->device) == 0 && strcmp(a->setting, b->setting) == 0 &&
           strcmp(a->engine, b->engine) == 0 &&
           strcmp(a->engine_version, b->engine_version) == 0;
}

/* With the options that were given and this schedule behind them. */
static int open_with(ft__cli *c, ft_session **out, const ft__slow_ops *s,
                     const ft_slow_op *op, const char *schedule)
{
    const size_t len = strlen(op->engine);
    const bool given = s->engine && strncmp(s->engine, op->engine, len) == 0;
    unsigned threads = 1;
    char engine[FT__PATH_MAX];

    (void)sscanf(op->setting, "threads=%u", &threads);
    if ((size_t)snprintf(engine, sizeof(engine), "%s%s%s",
                         given ? s->engine : op->engine, schedule ? ",schedule=" : "",
                         schedule ? schedule : "") >= sizeof(engine))
        return ft__usage(c, "--engine %.60s...: too long", engine);
    return ft__session_open(c, out, engine, threads, NULL, 0);
}

static int take_newest(void *user, const ft_row *row)
{
    *(double *)user = row->m.value;
    return 1;
}

/* Those of a dataset: op[n] of s->op, at[n] where each stands there. */
struct retuning {
    ft__cli *c;
    ft__slow_ops *s;
    ft_store *store;
    ft_op *op;
    size_t *at;
    double *time_s;
    bool *kept; /* the store has its tuned time: an earlier call was interrupted */
    size_t n;
};

/* time_s[n] of what the store holds of a version; NaN: nothing. */
static ft_status read_times(struct retuning *r, const ft_session_facts *facts)
{
    char spec[SPEC_MAX];
    ft_status st = FT_OK;

    for (size_t i = 0; i < r->n && !st; i++) {
        const ft_key key = {.device = facts->device,
                            .setting = facts->setting,
                            .engine = facts->engine,
                            .engine_version = facts->engine_version,
                            .spec = spec,
                            .metric = "time"};

        r->time_s[i] = NAN;
        ft_op_print(&r->op[i], spec, sizeof(spec));
        st = ft_store_each(r->store, &key, 1, take_newest, &r->time_s[i], &r->c->err);
    }
    return st;
}

/* As they were: beside each other, those whose tuned time is missing. Tuned: one after
 * the other, each kept before the next is tuned. */
static ft_status measure(struct retuning *r, ft_session *session, bool tuned)
{
    const ft_collect_options how = {.op_time_s = 0.1,
                                    .again = !tuned,
                                    .group = tuned,
                                    .repeat_share = -1,
                                    .choose = FT_CRITERION_RANDOM,
                                    .command = r->c->line,
                                    .log = &r->c->log};
    ft_collect_report report;
    ft_op *ops = calloc(r->n, sizeof(*ops));
    size_t n = 0;
    ft_status st = FT_OK;

    if (!ops)
        return ft_fail(&r->c->err, FT_ENOMEM, 0, "%zu operations", r->n);
    for (size_t i = 0; i < r->n; i++)
        if (!r->kept[i])
            ops[n++] = r->op[i];
    if (n)
        st = ft_collect(&report, session, r->store, ops, NULL, n, &how, &r->c->err);
    free(ops);
    return st ? st : read_times(r, ft_session_get(session));
}

/* Measured with the session; where the dataset is another machine's it says so. */
static int measure_with(struct retuning *r, ft_session *session, bool tuned)
{
    const ft_session_facts *facts = ft_session_get(session);
    const char *plus = strchr(facts->engine_version, '+');
    const ft_slow_op *first = &r->s->op[r->at[0]];
    const bool here = strcmp(facts->device, first->device) == 0 &&
                      strcmp(facts->setting, first->setting) == 0;
    ft_status st = here ? measure(r, session, tuned) : FT_OK;

    for (size_t i = 0; i < r->n; i++) {
        ft__retuned *to = &r->s->retuned[r->at[i]];

        *(tuned ? &to->after_s : &to->before_s) = here ? r->time_s[i] : NAN;
        if (tuned)
            snprintf(to->schedule, sizeof(to->schedule), "%s", plus ? plus + 1 : "");
        if (!here)
            snprintf(to->why, sizeof(to->why),
                     "measured on another machine or setting: retune it there");
        else if (isnan(r->time_s[i]))
            snprintf(to->why, sizeof(to->why), "the engine failed");
    }
    return ft__cli_check(r->c, st);
}

static int find_kept(struct retuning *r, ft_session *tuned)
{
    ft_status st = read_times(r, ft_session_get(tuned));

    for (size_t i = 0; i < r->n && !st; i++)
        r->kept[i] = !isnan(r->time_s[i]);
    return ft__cli_check(r->c, st);
}

static int retune(struct retuning *r)
{
    const ft_slow_op *first = &r->s->op[r->at[0]];
    const bool given = r->s->engine && strstr(r->s->engine, "schedule=");
    const char *found = given ? NULL : "tuned", *was = schedule_of(first);

    for (int step = 0; step < 3 && !r->s->retuned[r->at[0]].why[0]; step++) {
        ft_session *session = NULL;
        int code = open_with(r->c, &session, r->s, first, step == 1 ? was : found);

        if (!code && step == 0)
            code = find_kept(r, session);
        else if (!code)
            code = measure_with(r, session, step == 2);
        ft_session_close(session);
        if (code)
            return code;
    }
    return FT__EXIT_GOOD;
}

/* Of one dataset after the other, until `most` are done. */
static int retune_all(struct retuning *r, uint64_t most)
{
    ft__slow_ops *s = r->s;
    int code = FT__EXIT_GOOD;
    size_t end = 0;

    for (uint64_t n = 0; end < s->n && n < most; end++)
        n += is_tunable(&s->op[end]);
    for (size_t i = 0; i < end && !code; i++) {
        if (!is_tunable(&s->op[i]) || s->retuned[i].schedule[0] || s->retuned[i].why[0])
            continue;
        r->n = 0;
        for (size_t k = i; k < end; k++)
            if (of_one_dataset(&s->op[i], &s->op[k])) {
                r->op[r->n] = s->op[k].op;
                r->at[r->n++] = k;
            }
        code = retune(r);
    }
    return code;
}

int ft__slow_ops_tune(ft__cli *c, ft__slow_ops *s, ft_store *store, uint64_t most)
{
    struct retuning r = {.c = c,
                         .s = s,
                         .store = store,
                         .op = calloc(s->n + 1, sizeof(*r.op)),
                         .at = calloc(s->n + 1, sizeof(*r.at)),
                         .time_s = calloc(s->n + 1, sizeof(*r.time_s)),
                         .kept = calloc(s->n + 1, sizeof(*r.kept))};
    int code;

    s->retuned = calloc(s->n + 1, sizeof(*s->retuned));
    for (size_t i = 0; i < s->n && s->retuned; i++)
        s->retuned[i].before_s = s->retuned[i].after_s = NAN;
    code = r.op && r.at && r.time_s && r.kept && s->retuned ? retune_all(&r, most)
                                                            : ft__cli_done(c, false);
    free(r.op);
    free(r.at);
    free(r.time_s);
    free(r.kept);
    return code;
}

static bool print_slow(const ft__slow_ops *s, uint64_t top)
{
    ft__table *t = ft__table_new("slow operation|times slower>.1|time>s|alone>.2|on");

    for (size_t i = 0; i < s->n && i < top; i++) {
        const ft_slow_op *op = &s->op[i];
        const char *schedule = schedule_of(op);
        char spec[SPEC_MAX], on[FT__PATH_MAX];

        ft_op_print(&op->op, spec, sizeof(spec));
        snprintf(on, sizeof(on), "%s %s %s%s%s", op->device, op->setting, op->engine,
                 schedule ? " " : "", schedule ? schedule : "");
        ft__table_row(t, spec, op->slower, op->time_s, op->isolation, on);
    }
    return ft__table_print_take(t, stdout);
}

static double gain_of(const ft__retuned *r)
{
    return r->before_s / r->after_s;
}

/* What tuning gained most is said in a sentence as well. */
static bool print_retuned(const ft__slow_ops *s)
{
    ft__table *t = ft__table_new("retuned|times slower>.1|before>s|expected>s|after>s|"
                                 "times faster>.1|schedule");
    size_t n = 0, best = s->n;
    char spec[SPEC_MAX];

    for (size_t i = 0; i < s->n; i++) {
        const ft_slow_op *op = &s->op[i];
        const ft__retuned *r = &s->retuned[i];

        if (!r->schedule[0] && !r->why[0])
            continue;
        ft_op_print(&op->op, spec, sizeof(spec));
        ft__table_row(t, spec, op->slower, r->before_s, op->time_s / op->slower,
                      r->after_s, gain_of(r), r->why[0] ? r->why : r->schedule);
        if (gain_of(r) > (best < s->n ? gain_of(&s->retuned[best]) : 1.1))
            best = i;
        n++;
    }
    if (!n) {
        (void)ft__table_print_take(t, NULL);
        puts("Nothing to retune: none of these was measured by an engine that has "
             "schedules (tvm).");
        return true;
    }
    if (!ft__table_print_take(t, stdout))
        return false;
    if (best < s->n) {
        const ft__retuned *r = &s->retuned[best];

        ft_op_print(&s->op[best].op, spec, sizeof(spec));
        printf("%s is %.1f times slower than its neighbours; retuned it took %s, %.1f "
               "times faster\n",
               spec, s->op[best].slower, ft__text_seconds(r->after_s).s, gain_of(r));
    }
    return true;
}

static void print_hint(const ft__cli *c, const ft__slow_ops *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += is_tunable(&s->op[i]);
    if (!s->next || !n)
        return;
    printf("next: foretell validate --from-store --outliers --tune %zu%s",
           n < 3 ? n : (size_t)3, s->next);
    ft__put_store(c);
    putchar('\n');
}

bool ft__slow_ops_print(const ft__cli *c, const ft__slow_ops *s, uint64_t top)
{
    if (s->n_datasets == 0) {
        puts("Too few operations are measured to say which are slow: 20 of one "
             "device, setting and\nengine are needed.");
        return true;
    }
    if (s->n == 0) {
        puts("No operation is slower than chance and others like it allow.");
        return true;
    }
    if (!print_slow(s, top))
        return false;
    if (s->n > top)
        printf("and %zu more\n", s->n - (size_t)top);
    puts(
        "Slower than operations like it, by their sizes, in the same dataset: tune it, "
        "or measure it\nagain. alone: from 0.6 on there are few like it, and the "
        "factor says less.");
    if (s->retuned) {
        putchar('\n');
        return print_retuned(s);
    }
    print_hint(c, s);
    return true;
}

static json_t *retuned_json(const ft__retuned *r)
{
    return ft__json("schedule:z before:g after:g faster:g why:z", r->schedule,
                    r->before_s, r->after_s, gain_of(r), r->why);
}

json_t *ft__slow_ops_json(const ft__slow_ops *s)
{
    json_t *all = json_array();

    for (size_t i = 0; i < s->n; i++) {
        const ft_slow_op *op = &s->op[i];
        const ft__retuned *r = s->retuned ? &s->retuned[i] : NULL;
        json_t *one;
        char spec[SPEC_MAX];

        ft_op_print(&op->op, spec, sizeof(spec));
        one = ft__json("spec:s device:s setting:s engine:s engine_version:s time:g "
                       "slower:g isolation:g",
                       spec, op->device, op->setting, op->engine, op->engine_version,
                       op->time_s, op->slower, op->isolation);
        if (r && (r->schedule[0] || r->why[0]))
            one = ft__json_join_take(one, ft__json("retuned:o", retuned_json(r)));
        ft__json_append_take(&all, one);
    }
    return ft__json("slow:o", all);
}

static const char slow_fields[] =
    "spec:s device:s setting:s engine:s engine_version:s time:g slower:g isolation:g "
    "schedule:z before:g after:g faster:g why:z";

void ft__slow_ops_csv(const ft__slow_ops *s)
{
    static const ft__retuned none = {.before_s = NAN, .after_s = NAN};

    ft__csv_head(stdout, slow_fields);
    for (size_t i = 0; i < s->n; i++) {
        const ft_slow_op *op = &s->op[i];
        const ft__retuned *r = s->retuned ? &s->retuned[i] : &none;
        char spec[SPEC_MAX];

        ft_op_print(&op->op, spec, sizeof(spec));
        ft__csv_row(stdout, slow_fields, spec, op->device, op->setting, op->engine,
                    op->engine_version, op->time_s, op->slower, op->isolation,
                    r->schedule, r->before_s, r->after_s, gain_of(r), r->why);
    }
}

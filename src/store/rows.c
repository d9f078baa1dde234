/* Rows of a store, one after the other: measurements that fit a key, what networks
 * consist of; all of them as CSV; how well measurements that were taken twice agree. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/number.h"
#include "base/output.h"
#include "base/stats.h"
#include "store/columns.h"
#include "store/store.h"

/* The statement of ft_store_each(): only the members that are asked for appear,
 * so that the index can serve them. */
static void each_text(ft__buf *sql, const ft_key *f, int latest)
{
    const struct {
        const char *value, *condition;
    } part[] = {
        {f ? f->device : NULL, " AND d.name = ?1"},
        {f ? f->setting : NULL, " AND s.name = ?2"},
        {f ? f->engine : NULL, " AND e.name = ?3"},
        {f ? f->engine_version : NULL, " AND e.version = ?4"},
        {f ? f->spec : NULL, " AND o.spec = ?5"},
        {f ? f->phase : NULL, " AND m.phase = ?6"},
        {f ? f->dtype_policy : NULL, " AND m.dtype_policy = ?7"},
        {f ? f->metric : NULL, " AND m.metric = ?8"},
    };

    ft__buf_str(sql,
                "SELECT d.name, s.name, e.name, e.version, o.spec, m.phase,"
                " m.dtype_policy, m.metric, m.unit, m.value, m.error, m.mad, m.mean,"
                " m.std, m.n, m.iterations, m.id, m.run_id, m.taken_at, m.calibration,"
                " m.conditions" FT__STORE_JOINED " WHERE true");
    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
        if (part[i].value && *part[i].value)
            ft__buf_str(sql, part[i].condition);
    if (latest)
        ft__buf_str(sql, " AND NOT EXISTS(SELECT 1 FROM measurement x"
                         " WHERE x.operation_id = m.operation_id"
                         " AND x.device_id = m.device_id AND x.engine_id = m.engine_id"
                         " AND x.setting_id = m.setting_id AND x.phase = m.phase"
                         " AND x.dtype_policy = m.dtype_policy AND x.metric = m.metric"
                         " AND (x.taken_at, x.id) > (m.taken_at, m.id))");
    ft__buf_str(sql, " ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, m.taken_at, m.id");
}

static ft_row row_of(ft__query *q)
{
    return (ft_row){
        .key = {.device = ft__text(q, 0),
                .setting = ft__text(q, 1),
                .engine = ft__text(q, 2),
                .engine_version = ft__text(q, 3),
                .spec = ft__text(q, 4),
                .phase = ft__text(q, 5),
                .dtype_policy = ft__text(q, 6),
                .metric = ft__text(q, 7)},
        .m = {.unit = ft__text(q, 8),
              .value = ft__f64(q, 9),
              .error = ft__f64(q, 10),
              .mad = ft__f64(q, 11),
              .mean = ft__f64(q, 12),
              .std = ft__f64(q, 13),
              .n = (uint64_t)ft__i64(q, 14),
              .iterations = (uint64_t)ft__i64(q, 15),
              .calibration_s = ft__f64(q, 19),
              .conditions = ft__text(q, 20)},
        .id = ft__i64(q, 16),
        .run = ft__i64(q, 17),
        .taken_at = ft__i64(q, 18),
    };
}

ft_status ft_store_each(ft_store *s, const ft_key *filter, int latest,
                        int (*each)(void *user, const ft_row *row), void *user,
                        ft_error *err)
{
    ft__query *q = NULL;
    ft__buf sql = {0};
    bool more = true;
    ft_status st = FT_OK;

    /* A statement of its own, so that `each` may call us again. */
    each_text(&sql, filter, latest);
    if (!sql.bad)
        q = ft__query_new(s, sql.s, FT__ROWS);
    ft__buf_free(&sql);
    if (filter)
        ft__bind_key(q, filter);
    while (!st && more) {
        st = ft__step(q, &more, err);
        if (!st && more) {
            ft_row row = row_of(q);

            /* Where a text found no memory, the next step says so. */
            more = q->bad || !each(user, &row);
        }
    }
    return ft__finish(q, st, err);
}

ft_status ft_store_each_member(ft_store *s, const char *source, const char *whole,
                               int (*each)(void *user, const ft_member *member),
                               void *user, ft_error *err)
{
    static const char sql[] =
        "SELECT source, whole, phase, part, count, note FROM member"
        " WHERE (?1 = '' OR source = ?1) AND (?2 = '' OR whole = ?2) ORDER BY id";
    ft__query *q = ft__query_new(s, sql, FT__ROWS);
    bool more = true;
    ft_status st = FT_OK;

    ft__bind_text(q, 1, source ? source : "");
    ft__bind_text(q, 2, whole ? whole : "");
    while (!st && more) {
        st = ft__step(q, &more, err);
        if (!st && more) {
            ft_member m = {.source = ft__text(q, 0),
                           .whole = ft__text(q, 1),
                           .phase = ft__text(q, 2),
                           .part = ft__text(q, 3),
                           .count = ft__f64(q, 4),
                           .note = ft__text(q, 5)};

            more = !each(user, &m);
        }
    }
    return ft__finish(q, st, err);
}

struct writer {
    ft_store *s;
    FILE *fp;
    const char *path;
    int readings;
    ft__buf line;
    ft_status st;
    ft_error *err;
};

static void add_text(ft__buf *b, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        ft__buf_str(b, text);
        return;
    }
    ft__buf_str(b, "\"");
    for (const char *p = text; *p; p++)
        ft__buf_add(b, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    ft__buf_str(b, "\"");
}

static void add_number(ft__buf *b, double v)
{
    char text[FT__NUMBER_TEXT];

    if (isnan(v))
        return;
    ft__number_text(text, v);
    ft__buf_str(b, text);
}

static ft_status add_readings(struct writer *w, int64_t id)
{
    ft_reading *r;
    size_t n;
    ft_status st = ft__store_readings(w->s, id, &r, &n, w->err);

    for (size_t i = 0; i < n; i++) {
        ft__buf_str(&w->line, i ? " " : "");
        add_number(&w->line, r[i].value);
        ft__buf_fmt(&w->line, ":%llu", (unsigned long long)r[i].iterations);
        if (!isnan(r[i].start_s) || r[i].round || r[i].marks)
            ft__buf_str(&w->line, ":");
        add_number(&w->line, r[i].start_s);
        if (r[i].round || r[i].marks)
            ft__buf_fmt(&w->line, ":%u", r[i].round);
        if (r[i].marks)
            ft__buf_fmt(&w->line, ":%u", r[i].marks);
    }
    free(r);
    return st;
}

static int write_row(void *user, const ft_row *row)
{
    struct writer *w = user;
    const ft_key *k = &row->key;
    const ft_measurement *m = &row->m;
    const char *const text[] = {k->device,         k->setting, k->engine,
                                k->engine_version, k->spec,    k->phase,
                                k->dtype_policy,   k->metric,  m->unit};
    const double figure[] = {m->value, m->error, m->mad, m->mean, m->std};

    w->line.len = 0;
    for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
        add_text(&w->line, text[i]);
        ft__buf_str(&w->line, ",");
    }
    for (size_t i = 0; i < sizeof(figure) / sizeof(*figure); i++) {
        add_number(&w->line, figure[i]);
        ft__buf_str(&w->line, ",");
    }
    ft__buf_fmt(&w->line, "%llu,%llu,%lld,%lld,", (unsigned long long)m->n,
                (unsigned long long)m->iterations, (long long)row->taken_at,
                (long long)row->run);
    add_number(&w->line, m->calibration_s);
    ft__buf_str(&w->line, ",");
    add_text(&w->line, m->conditions);
    if (w->readings)
        ft__buf_str(&w->line, ",");
    if (w->readings && row->id)
        w->st = add_readings(w, row->id);
    ft__buf_str(&w->line, "\n");
    if (w->st == FT_OK && w->line.bad)
        w->st = ft_fail(w->err, FT_ENOMEM, 0, "writing %s", w->path);
    return w->st != FT_OK || fwrite(w->line.s, 1, w->line.len, w->fp) != w->line.len;
}

static int write_member(void *user, const ft_member *m)
{
    return write_row(user, &(ft_row){
                               .key = {"", m->whole, m->source, "", m->part, m->phase,
                                       "", FT__MEMBER},
                               .m = {.unit = "1",
                                     .value = m->count,
                                     .error = NAN,
                                     .mad = NAN,
                                     .mean = NAN,
                                     .std = NAN,
                                     .calibration_s = NAN,
                                     .conditions = m->note},
                           });
}

/* Parts of networks belong to no device, engine or metric that could be asked for. */
static bool asks_for_all(const ft_key *f)
{
    const char *const part[] = {f->device,         f->setting, f->engine,
                                f->engine_version, f->phase,   f->dtype_policy,
                                f->metric,         f->spec};

    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
        if (part[i] && *part[i])
            return false;
    return true;
}

ft_status ft_store_export_csv(ft_store *s, const char *path, const ft_key *filter,
                              int readings, ft_error *err)
{
    struct writer w = {.s = s, .path = path, .readings = readings, .err = err};
    int n = readings ? FT__N_COLUMNS : FT__N_COLUMNS - 1;
    ft__output file;
    ft_status st = ft__output_open(&file, path, err);

    if (st)
        return st;
    w.fp = file.fp;
    for (int i = 0; i < n; i++)
        fprintf(w.fp, "%s%s", i ? "," : "", ft__column_name[i]);
    fputc('\n', w.fp);
    st = ft_store_each(s, filter, 0, write_row, &w, err);
    if (!st && !w.st && (!filter || asks_for_all(filter)))
        st = ft_store_each_member(s, NULL, NULL, write_member, &w, err);
    ft__buf_free(&w.line);
    return ft__output_close(&file, st ? st : w.st, err);
}

/* Keys are long; of the row before only these are kept. */
struct before {
    char *text; /* its key, parts joined */
    double value, error, calibration_s;
    int64_t taken_at;
};

struct pairs {
    struct before last;
    double *raw; /* later / earlier - 1 */
    double *calibrated, *apart;
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
    p->covered += (size_t)(fabs(log(difference)) <= FT__Z90 * sigma);
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

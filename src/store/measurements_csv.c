/* Measurements as CSV, out of a store and back into one. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/number.h"
#include "store/csv.h"
#include "store/store.h"
#include "store/store_inside.h"

/* One list of columns: the header line, and the place of each field. */
/* clang-format off */
#define COLUMNS(X)                                                                     \
    X(device) X(setting) X(engine) X(engine_version) X(spec) X(phase) X(dtype_policy)  \
    X(metric) X(unit) X(value) X(error) X(mad) X(mean) X(std) X(n) X(iterations)       \
    X(taken_at) X(run) X(calibration) X(conditions) X(readings)
/* clang-format on */

enum csv_column {
#define X(name) COL_##name,
    COLUMNS(X)
#undef X
        N_COLUMNS
};

static const char *const column_name[N_COLUMNS] = {
#define X(name) #name,
    COLUMNS(X)
#undef X
};

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
    struct writer w = {
        .s = s, .fp = fopen(path, "w"), .path = path, .readings = readings, .err = err};
    int n = readings ? N_COLUMNS : N_COLUMNS - 1, bad;
    ft_status st;

    if (!w.fp)
        return ft_fail(err, FT_EIO, 0, "cannot write %s: %s", path, strerror(errno));
    for (int i = 0; i < n; i++)
        fprintf(w.fp, "%s%s", i ? "," : "", column_name[i]);
    fputc('\n', w.fp);
    st = ft_store_each(s, filter, 0, write_row, &w, err);
    if (!st && !w.st && (!filter || asks_for_all(filter)))
        st = ft_store_each_member(s, NULL, NULL, write_member, &w, err);
    ft__buf_free(&w.line);
    bad = ferror(w.fp);
    bad = fclose(w.fp) || bad;
    if (st == FT_OK)
        st = w.st;
    if (st == FT_OK && bad)
        st = ft_fail(err, FT_EIO, 0, "cannot write all of %s: is the disk full?", path);
    return st;
}

/* What is read: where each column stands, the number of columns: nowhere. */
struct reader {
    ft__csv *csv;
    const char *source;
    size_t at[N_COLUMNS];
    ft_error *err;
};

/* "" where the file has no such column. */
static const char *text_of(const struct reader *c, enum csv_column column)
{
    size_t at = c->at[column];

    return at < ft__csv_n_columns(c->csv) ? ft__csv_text(c->csv, at) : "";
}

/* Complain about a field of the row. */
static ft_status bad_field(const struct reader *c, enum csv_column column,
                           const char *what)
{
    return ft__csv_bad(c->csv, c->at[column], what, c->err);
}

/* Files of earlier versions lack these, and readings are a choice. */
static bool may_lack(enum csv_column c)
{
    return c == COL_calibration || c == COL_conditions || c == COL_readings;
}

static const char line_ends[] = "the line ends here, further columns are missing";

static ft_status bad_header(const struct reader *c, size_t at, enum csv_column wanted,
                            const char *what)
{
    return ft_fail(c->err, FT_EFORMAT, 1, "%s, line 1, column %zu (%s): %s", c->source,
                   at + 1, column_name[wanted], what);
}

/* Which columns there are follows from their number: 18 that there must be, and what
 * may be there besides, in order. */
static ft_status place_columns(struct reader *c)
{
    size_t n = ft__csv_n_columns(c->csv), at = 0;
    size_t lacking = n < N_COLUMNS ? N_COLUMNS - n : 0;

    if (lacking > 3)
        return bad_header(c, n - 1, (enum csv_column)n - 1, line_ends);
    if (n > N_COLUMNS)
        return bad_header(c, N_COLUMNS - 1, N_COLUMNS - 1,
                          "more follows, but this is the last column");
    for (enum csv_column i = 0; i < N_COLUMNS; i++) {
        bool readings = lacking == 0 || lacking == 2, before = lacking >= 2;

        c->at[i] = n;
        if (i == COL_readings ? !readings : may_lack(i) && before)
            continue;
        if (strcmp(ft__csv_column_name(c->csv, at), column_name[i]) != 0)
            return bad_header(c, at, i, "the header has another name here");
        c->at[i] = at++;
    }
    return FT_OK;
}

static bool parse_number(const char *s, double *v)
{
    if (*s)
        return ft__number_parse(s, v);
    *v = NAN;
    return true;
}

static bool parse_count(const char *s, uint64_t *v)
{
    errno = 0;
    *v = strtoull(s, NULL, 10);
    return *s && !s[strspn(s, "0123456789")] && errno == 0 && *v <= INT64_MAX;
}

/* The piece up to the next colon of *rest, cut off; NULL: there is none left. */
static char *cut_piece(char **rest)
{
    char *piece = *rest, *colon = piece ? strchr(piece, ':') : NULL;

    if (colon)
        *colon++ = '\0';
    *rest = colon;
    return piece;
}

static bool parse_u32(const char *s, uint32_t *v)
{
    uint64_t wide;

    if (!parse_count(s, &wide) || wide > UINT32_MAX)
        return false;
    *v = (uint32_t)wide;
    return true;
}

static bool parse_reading(char *text, ft_reading *r)
{
    char *value = cut_piece(&text), *iterations = cut_piece(&text);
    char *start = cut_piece(&text), *round = cut_piece(&text);
    char *marks = cut_piece(&text);

    *r = (ft_reading){.start_s = NAN};
    return !text && iterations && parse_number(value, &r->value) &&
           parse_count(iterations, &r->iterations) &&
           (!start || (round && !*start) || ft__number_parse(start, &r->start_s)) &&
           (!round || parse_u32(round, &r->round)) &&
           (!marks || parse_u32(marks, &r->marks));
}

/* Readings with one blank between them; `text` is cut into pieces.
 * *out is the caller's to free. NULL or what is wrong. */
static const char *parse_readings(char *text, ft_reading **out, size_t *n)
{
    size_t most = *text != '\0';

    for (const char *p = text; *p; p++)
        most += *p == ' ';
    *n = 0;
    *out = most ? malloc(most * sizeof(**out)) : NULL;
    if (most && !*out)
        return "memory is short";
    for (char *next = most ? text : NULL; next;) {
        char *one = next;

        next = strchr(one, ' ');
        if (next)
            *next++ = '\0';
        if (!parse_reading(one, &(*out)[(*n)++]))
            return "readings are value:iterations[:start_s[:round[:marks]]], with "
                   "one blank between them";
    }
    return NULL;
}

/* What one record says; text is borrowed from the cursor. */
struct record {
    ft_key key;
    ft_measurement m;
    uint64_t taken_at;
    uint64_t run;
    ft_reading *readings;
    size_t n_readings;
};

static ft_status read_measurement(const struct reader *c, struct record *r)
{
    const struct {
        enum csv_column column;
        double *number;
        uint64_t *count;
    } part[] = {
        {COL_value, &r->m.value, NULL},
        {COL_error, &r->m.error, NULL},
        {COL_mad, &r->m.mad, NULL},
        {COL_mean, &r->m.mean, NULL},
        {COL_std, &r->m.std, NULL},
        {COL_n, NULL, &r->m.n},
        {COL_iterations, NULL, &r->m.iterations},
        {COL_taken_at, NULL, &r->taken_at},
        {COL_run, NULL, &r->run},
        {COL_calibration, &r->m.calibration_s, NULL},
    };
    const char *wrong = NULL;

    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++) {
        const char *text = text_of(c, part[i].column);

        if (part[i].number && !parse_number(text, part[i].number))
            return bad_field(c, part[i].column, "not a finite decimal number");
        if (part[i].count && !parse_count(text, part[i].count))
            return bad_field(c, part[i].column, "not a whole number from 0 to 2^63-1");
    }
    if (*text_of(c, COL_readings))
        wrong = parse_readings(ft__csv_text(c->csv, c->at[COL_readings]), &r->readings,
                               &r->n_readings);
    if (wrong)
        return bad_field(c, COL_readings, wrong);
    r->key = (ft_key){text_of(c, COL_device),       text_of(c, COL_setting),
                      text_of(c, COL_engine),       text_of(c, COL_engine_version),
                      text_of(c, COL_spec),         text_of(c, COL_phase),
                      text_of(c, COL_dtype_policy), text_of(c, COL_metric)};
    r->m.unit = text_of(c, COL_unit);
    r->m.conditions = text_of(c, COL_conditions);
    return FT_OK;
}

/* A part of a network is written as a row of no device: docs/data.md. */
static bool is_member(const ft_key *k)
{
    return strcmp(k->metric, FT__MEMBER) == 0 && !*k->device;
}

static ft_status add_member(ft_store *s, const struct reader *c, const struct record *r)
{
    const ft_member m = {.source = r->key.engine,
                         .whole = r->key.setting,
                         .phase = r->key.phase,
                         .part = r->key.spec,
                         .count = r->m.value,
                         .note = r->m.conditions};

    if (isnan(m.count))
        return bad_field(c, COL_value, "a member needs a count");
    return ft__store_add_member(s, &m, c->err);
}

/* Runs of the file become runs here, found again when the rest of the same file
 * comes later. */
static ft_status add_record(ft_store *s, ft__bulk *b, const struct reader *c,
                            const struct record *r, uint64_t *n_rows)
{
    ft__bulk_row row = {.taken_at = (int64_t)r->taken_at,
                        .key = r->key,
                        .m = r->m,
                        .readings = r->readings,
                        .n_readings = r->n_readings};
    ft__buf command = {0};
    ft_status st;
    bool fresh;

    if (is_member(&r->key))
        return add_member(s, c, r);
    ft__buf_fmt(&command, "import %s, run %llu", c->source, (unsigned long long)r->run);
    if (command.bad)
        return ft_fail(c->err, FT_ENOMEM, 0, "%s", c->source);
    row.command = command.s;
    st = ft__bulk_put(b, &row, &fresh, c->err);
    ft__buf_free(&command);
    *n_rows += fresh;
    return st;
}

static ft_status add_records(ft_store *s, ft__bulk *b, const struct reader *c,
                             uint64_t *n_rows)
{
    bool more = true;
    ft_status st = ft__csv_next(c->csv, &more, c->err);

    while (st == FT_OK && more) {
        struct record r = {0};

        st = read_measurement(c, &r);
        if (st == FT_OK)
            st = add_record(s, b, c, &r, n_rows);
        free(r.readings);
        if (st == FT_OK)
            st = ft__csv_next(c->csv, &more, c->err);
    }
    return st;
}

ft_status ft_store_import_csv(ft_store *s, const void *csv, size_t len,
                              const char *source, uint64_t *n_rows, ft_error *err)
{
    struct reader c = {.source = source, .err = err};
    uint64_t taken = 0;
    ft__bulk *b = NULL;
    ft_status st = len ? ft__csv_open(&c.csv, csv, len, source, err)
                       : bad_header(&c, 0, COL_device, line_ends);

    *n_rows = 0;
    if (st == FT_OK)
        st = place_columns(&c);
    if (st == FT_OK)
        st = ft__bulk_begin(&b, s, err);
    if (st == FT_OK)
        st = add_records(s, b, &c, &taken);
    st = ft__bulk_end(b, st, err);
    ft__csv_close(c.csv);
    if (st == FT_OK)
        *n_rows = taken;
    return st;
}

ft_status ft_store_import_file(ft_store *s, const char *path, uint64_t *n_rows,
                               ft_error *err)
{
    size_t len = 0;
    char *bytes;
    ft_status st = ft__csv_load(&bytes, &len, path, err);

    *n_rows = 0;
    if (st == FT_OK)
        st = ft_store_import_csv(s, bytes, len, path, n_rows, err);
    free(bytes);
    return st;
}

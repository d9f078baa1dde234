/* Traces: what a meter read, as text and back, and a recorded one played as a source of
 * power. */
#include "device/power/trace.h"
#include "foretell/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/number.h"
#include "device/power/source.h"
#include "device/sysfs.h"

void ft_trace_free(ft_trace *t)
{
    for (uint32_t i = 0; i < t->n_domains; i++)
        free(t->reading[i]);
    if (t->memory)
        ft__arena_free(t->memory);
    free(t->memory);
    *t = (ft_trace){.cpu_share = NAN};
}

/* Room for n domains without readings. */
static ft_status new_trace(ft_trace *out, uint32_t n, ft_error *err)
{
    ft__arena *memory = calloc(1, sizeof(*memory));

    *out = (ft_trace){.cpu_share = NAN, .memory = memory};
    if (memory) {
        out->domain = ft__arena_alloc(memory, (n + 1) * sizeof(*out->domain));
        out->n = ft__arena_alloc(memory, (n + 1) * sizeof(*out->n));
        out->reading = ft__arena_alloc(memory, (n + 1) * sizeof(*out->reading));
        out->why = ft__arena_alloc(memory, (n + 1) * sizeof(*out->why));
    }
    if (!memory || !out->domain || !out->n || !out->reading || !out->why) {
        ft_trace_free(out);
        return ft_fail(err, FT_ENOMEM, 0, "a trace of %u domains", (unsigned)n);
    }
    for (uint32_t i = 0; i < n; i++) {
        out->n[i] = 0;
        out->reading[i] = NULL;
        out->why[i] = "";
    }
    out->n_domains = n;
    return FT_OK;
}

/* Text that lives as long as the trace; NULL when memory is short. */
static const char *keep(ft_trace *t, const char *text)
{
    return ft__arena_strndup(t->memory, text, strlen(text));
}

/* Copies text; false when memory is short. */
static bool set_domain(ft_trace *t, uint32_t i, const ft_domain *d)
{
    t->domain[i] = *d;
    t->domain[i].name = keep(t, d->name);
    t->domain[i].part_of = keep(t, d->part_of);
    t->domain[i].note = keep(t, d->note);
    return t->domain[i].name && t->domain[i].part_of && t->domain[i].note;
}

ft_status ft__trace_new(ft_trace *out, const ft_domain *d, uint32_t n, ft_error *err)
{
    ft_status st = new_trace(out, n, err);

    for (uint32_t i = 0; i < n && !st; i++)
        if (!set_domain(out, i, &d[i]))
            st = ft_fail(err, FT_ENOMEM, 0, "a trace");
    if (st)
        ft_trace_free(out);
    return st;
}

static const char header[] =
    "# foretell trace 1\n"
    "# domain,part_of,counts,tells_power,all_fresh,period_s,window_s,duty,least_s\n";
static const char columns[] = "at_s,domain,watts,joules\n";

static void put_number(ft__buf *b, char before, double v)
{
    char text[FT__NUMBER_TEXT] = "";

    if (isfinite(v))
        ft__number_text(text, v);
    ft__buf_fmt(b, "%c%s", before, text);
}

static void put_domain(ft__buf *b, const ft_domain *d)
{
    ft__buf_fmt(b, "# %s,%s,%d,%d,%d", d->name, d->part_of, d->counts, d->tells_power,
                d->all_fresh);
    put_number(b, ',', d->period_s);
    put_number(b, ',', d->window_s);
    put_number(b, ',', d->duty);
    put_number(b, ',', d->least_s);
    ft__buf_str(b, "\n");
}

/* Rows of all domains in the order of their time. */
static void put_rows(ft__buf *b, const ft_trace *t, size_t *next)
{
    for (;;) {
        uint32_t first = t->n_domains;
        const ft_power_reading *r;
        char at[FT__NUMBER_TEXT];

        for (uint32_t i = 0; i < t->n_domains; i++)
            if (next[i] < t->n[i] &&
                (first == t->n_domains ||
                 t->reading[i][next[i]].at_s < t->reading[first][next[first]].at_s))
                first = i;
        if (first == t->n_domains)
            return;
        r = &t->reading[first][next[first]++];
        ft__number_text(at, r->at_s);
        ft__buf_fmt(b, "%s,%s", at, t->domain[first].name);
        put_number(b, ',', r->watts);
        put_number(b, ',', r->joules);
        ft__buf_str(b, "\n");
    }
}

ft_status ft__trace_write(const ft_trace *t, const char *path, ft_error *err)
{
    size_t *next = calloc(t->n_domains + 1, sizeof(*next));
    ft__buf b = {.bad = !next};
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < t->n_domains; i++)
        if (strpbrk(t->domain[i].name, ",\n"))
            st = ft_fail(err, FT_EINVAL, 0, "%s: a domain's name holds a comma", path);
    ft__buf_str(&b, header);
    for (uint32_t i = 0; i < t->n_domains; i++)
        put_domain(&b, &t->domain[i]);
    ft__buf_str(&b, columns);
    if (!b.bad)
        put_rows(&b, t, next);
    if (!st && b.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "%s", path);
    if (!st)
        st = ft_file_write(path, b.s, b.len, err);
    ft__buf_free(&b);
    free(next);
    return st;
}

enum { MOST_DOMAINS = 256, MOST_FIELDS = 9 };

struct trace_reader {
    ft_trace *t;
    const char *path;
    size_t line;
    size_t cap[MOST_DOMAINS];
    bool known[MOST_DOMAINS]; /* described, not to be inferred from rows */
    bool described, titled;
    ft_error *err;
};

static ft_status bad(struct trace_reader *r, const char *what)
{
    return ft_fail(r->err, FT_EFORMAT, 0, "%s:%zu: %s", r->path, r->line, what);
}

/* Cuts the line at its commas. */
static size_t split(char *line, char *field[MOST_FIELDS])
{
    size_t n = 0;

    do {
        char *comma = strchr(line, ',');

        field[n++] = line;
        if (comma)
            *comma = '\0';
        line = comma ? comma + 1 : NULL;
    } while (line && n < MOST_FIELDS);
    return line ? MOST_FIELDS + 1 : n;
}

/* An empty field is not known. */
static bool number(const char *text, double *v)
{
    *v = NAN;
    return !*text || ft__number_parse(text, v);
}

static ft_status find_domain(struct trace_reader *r, const char *name, uint32_t *i)
{
    ft_trace *t = r->t;
    ft_domain d = {.name = name,
                   .part_of = "",
                   .note = "",
                   .period_s = NAN,
                   .window_s = NAN,
                   .duty = 1,
                   .least_s = NAN};

    for (*i = 0; *i < t->n_domains; (*i)++)
        if (strcmp(t->domain[*i].name, name) == 0)
            return FT_OK;
    if (!*name || t->n_domains == MOST_DOMAINS)
        return bad(r, *name ? "more than 256 domains" : "a domain without a name");
    if (!set_domain(t, *i, &d))
        return ft_fail(r->err, FT_ENOMEM, 0, "%s", r->path);
    t->n[*i] = 0;
    t->reading[*i] = NULL;
    t->why[*i] = "";
    t->n_domains++;
    return FT_OK;
}

static ft_status read_domain(struct trace_reader *r, char *line)
{
    char *field[MOST_FIELDS];
    double v[7];
    uint32_t i;
    ft_domain *d;

    if (split(line, field) != 9)
        return FT_OK; /* any other comment */
    if (strcmp(field[0], "domain") == 0) {
        r->described = true;
        return FT_OK;
    }
    if (!r->described)
        return FT_OK;
    for (int j = 0; j < 7; j++)
        if (!number(field[j + 2], &v[j]))
            return bad(r, "a domain has a number that is none");
    if (find_domain(r, field[0], &i))
        return r->err ? r->err->status : FT_EFORMAT;
    d = &r->t->domain[i];
    d->part_of = keep(r->t, field[1]);
    r->known[i] = true;
    d->counts = v[0] == 1;
    d->tells_power = v[1] == 1;
    d->all_fresh = v[2] == 1;
    d->period_s = v[3] > 0 ? v[3] : NAN;
    d->window_s = v[4] >= 0 ? v[4] : NAN;
    d->duty = v[5] > 0 && v[5] <= 1 ? v[5] : 1;
    d->least_s = v[6] > 0 ? v[6] : NAN;
    return d->part_of ? FT_OK : ft_fail(r->err, FT_ENOMEM, 0, "%s", r->path);
}

static ft_status append(struct trace_reader *r, uint32_t i, const ft_power_reading *x)
{
    ft_trace *t = r->t;
    ft_power_reading *more =
        ft__list_grow(t->reading[i], t->n[i], &r->cap[i], sizeof(*more));

    if (!more)
        return ft_fail(r->err, FT_ENOMEM, 0, "%s", r->path);
    t->reading[i] = more;
    t->reading[i][t->n[i]++] = *x;
    return FT_OK;
}

static ft_status read_row(struct trace_reader *r, char *line)
{
    char *field[MOST_FIELDS];
    ft_power_reading x;
    ft_status st;
    uint32_t i;

    if (split(line, field) != 4)
        return bad(r, "a row is at_s,domain,watts,joules");
    if (!r->titled && strcmp(field[0], "at_s") == 0) {
        r->titled = true;
        return FT_OK;
    }
    if (!number(field[0], &x.at_s) || isnan(x.at_s) || !number(field[2], &x.watts) ||
        !number(field[3], &x.joules))
        return bad(r, "a number is none");
    st = find_domain(r, field[1], &i);
    if (st)
        return st;
    if (r->t->n[i] && x.at_s < r->t->reading[i][r->t->n[i] - 1].at_s)
        return bad(r, "its time lies before that of the row above");
    if (!r->known[i]) {
        r->t->domain[i].tells_power |= isfinite(x.watts);
        r->t->domain[i].counts |= isfinite(x.joules);
    }
    return append(r, i, &x);
}

static ft_status read_lines(struct trace_reader *r, char *text)
{
    ft_status st = FT_OK;

    for (char *line = text; line && *line && !st; r->line++) {
        char *end = strchr(line, '\n');

        if (end)
            *end = '\0';
        if (strncmp(line, "# ", 2) == 0)
            st = read_domain(r, line + 2);
        else if (*line && *line != '#')
            st = read_row(r, line);
        line = end ? end + 1 : NULL;
    }
    return st;
}

ft_status ft__trace_parse(ft_trace *out, char *text, size_t len, const char *path,
                          ft_error *err)
{
    ft_error here = {0};
    struct trace_reader r = {.t = out, .path = path, .line = 1, .err = &here};
    ft_status st;

    *out = (ft_trace){.cpu_share = NAN};
    st = strlen(text) == len ? new_trace(out, MOST_DOMAINS, &here)
                             : bad(&r, "no text: it has zero bytes");
    if (!st) {
        out->n_domains = 0;
        st = read_lines(&r, text);
    }
    if (!st && !out->n_domains)
        st = bad(&r, "no readings");
    if (st) {
        ft_trace_free(out);
        return ft_fail(err, st, 0, "%s", here.msg);
    }
    return FT_OK;
}

ft_status ft__trace_read(ft_trace *out, const char *path, ft_error *err)
{
    char *text;
    size_t len;
    ft_status st = ft__file_read(&text, &len, path, FT__MAX_TEXT_FILE, err);

    *out = (ft_trace){.cpu_share = NAN};
    if (!st)
        st = ft__trace_parse(out, text, len, path, err);
    free(text);
    return st;
}

/* A recorded trace, played at the speed it was recorded. Sources of one file share
 * it; the first one frees it. */
struct replay {
    ft_trace trace;
    double first_s, began_s;
};

static ft__read play_row(ft__power_source *s, ft_power_reading *out)
{
    const struct replay *p = s->state;
    const ft_power_reading *r = p->trace.reading[s->index];
    size_t n = p->trace.n[s->index], at = (size_t)s->unit;
    double now = ft__clock_now(s->all->clock) - p->began_s + p->first_s;

    if (at >= n) {
        snprintf(s->why, sizeof(s->why), "the recording has ended");
        return FT__READ_FAILED;
    }
    if (r[at].at_s > now)
        return FT__READ_SAME;
    while (at + 1 < n && r[at + 1].at_s <= now)
        at++;
    out->watts = r[at].watts;
    out->joules = r[at].joules;
    s->unit = (double)(at + 1);
    return FT__READ_GOOD;
}

static void begin_replay(ft__power_source *s)
{
    struct replay *p = s->state;

    p->began_s = ft__clock_now(s->all->clock);
    s->unit = 0; /* rows played */
}

static void close_replay(ft__power_source *s)
{
    struct replay *p = s->state;

    if (s->index == 0) {
        ft_trace_free(&p->trace);
        free(p);
    }
}

static void add_domain(ft__sources *all, struct replay *p, uint32_t i)
{
    ft__power_source *s = ft__source_add(all, "");

    if (!s)
        return;
    s->d = p->trace.domain[i];
    s->state = p;
    s->index = i;
    s->read = play_row;
    s->begin = begin_replay;
    s->hands_over = true;
    s->close = close_replay;
    if (p->trace.n[i] < 2)
        ft__source_refuse(s, "the recording has less than two readings of it", "");
}

static ft_status open_replay(ft__sources *all, const char *path, ft_error *err)
{
    struct replay *p = calloc(1, sizeof(*p));
    ft_status st = p ? ft__trace_read(&p->trace, path, err)
                     : ft_fail(err, FT_ENOMEM, 0, "%s", path);

    if (st) {
        free(p);
        return st;
    }
    p->first_s = INFINITY;
    for (uint32_t i = 0; i < p->trace.n_domains; i++)
        if (p->trace.n[i])
            p->first_s = fmin(p->first_s, p->trace.reading[i][0].at_s);
    for (uint32_t i = 0; i < p->trace.n_domains; i++)
        add_domain(all, p, i);
    if (all->n == 0 || all->bad) {
        if (!all->n) {
            ft_trace_free(&p->trace);
            free(p);
        }
        return ft_fail(err, all->bad ? FT_ENOMEM : FT_EFORMAT, 0, "%s: no readings",
                       path);
    }
    return FT_OK;
}

const ft__power_kind ft__sources_replay = {.name = "replay:", .open = open_replay};

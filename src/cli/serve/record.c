/* Requests that were recorded, from a file. */
#include "cli/serve/serve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE = 1 << 20, MOST_FIELDS = 64, MOST = 1000000 };

enum field {
    ARRIVAL,
    PROMPT,
    OUTPUT,
    QUEUED,
    FIRST,
    LAST,
    N_FIELDS,
    N_NEEDED = QUEUED
};
/* Azure's traces have TIMESTAMP, ContextTokens and GeneratedTokens, BurstGPT's
 * Timestamp, Request tokens and Response tokens. */
enum { NAMES = 7 };
static const char *const names[N_FIELDS][NAMES] = {
    [ARRIVAL] = {"arrival", "arrival_s", "arrival_time", "timestamp"},
    [PROMPT] = {"prompt", "prompt_tokens", "input_toks", "input_length",
                "contexttokens", "request tokens"},
    [OUTPUT] = {"output", "output_tokens", "output_toks", "output_length", "generate",
                "generatedtokens", "response tokens"},
    [QUEUED] = {"queued_ts"},
    [FIRST] = {"first_token", "first_token_ts"},
    [LAST] = {"last_token", "last_token_ts"},
};

/* With what its tokens took, NaN: it does not say. */
struct timed {
    ft_serve_request request;
    double ttft_s, e2e_s;
};

struct record {
    ft__cli *c;
    const char *path;
    uint64_t line;
    int column[N_FIELDS]; /* of CSV; -1: it has none */
    bool headed;
    struct timed *request;
    size_t n, cap;
};

static int field_of(const char *name, size_t len)
{
    for (int f = 0; f < N_FIELDS; f++)
        for (int i = 0; i < NAMES && names[f][i]; i++)
            if (strlen(names[f][i]) == len && strncasecmp(names[f][i], name, len) == 0)
                return f;
    return -1;
}

static int complain(const struct record *r, const char *what)
{
    return ft__cli_exit(r->c, FT__EXIT_INPUT, "%s, line %llu: %s", r->path,
                        (unsigned long long)r->line, what);
}

static int add(struct record *r, const double value[N_FIELDS])
{
    double begun;

    if (!isfinite(value[ARRIVAL]) || !(value[PROMPT] >= 1 && value[PROMPT] < 1e9) ||
        !(value[OUTPUT] >= 1 && value[OUTPUT] < 1e9))
        return complain(r, "a request wants an arrival in s and at least one token of "
                           "prompt and of output");
    if (r->n == MOST)
        return complain(r, "more than 1000000 requests");
    if (r->n == r->cap) {
        const size_t cap = r->cap ? 2 * r->cap : 256;
        struct timed *grown = realloc(r->request, cap * sizeof(*grown));

        if (!grown)
            return ft__cli_done(r->c, false);
        r->request = grown;
        r->cap = cap;
    }
    begun = isfinite(value[QUEUED]) ? value[QUEUED] : value[ARRIVAL];
    r->request[r->n++] = (struct timed){
        {value[ARRIVAL], (uint64_t)value[PROMPT], (uint64_t)value[OUTPUT]},
        value[FIRST] - begun,
        value[LAST] - begun};
    return FT__EXIT_GOOD;
}

/* The next field of a line, "" behind the last. */
static char *next_field(char **at)
{
    char *field = *at, *end = field + strcspn(field, ",\r\n");

    *at = *end == ',' ? end + 1 : end;
    *end = '\0';
    return field;
}

static int read_head(struct record *r, char *line)
{
    static const char *const what[N_NEEDED] = {"arrival", "prompt", "output"};

    for (int f = 0; f < N_FIELDS; f++)
        r->column[f] = -1;
    for (int i = 0; i < MOST_FIELDS && *line; i++) {
        const char *name = next_field(&line);
        const int f = field_of(name, strlen(name));

        if (f >= 0)
            r->column[f] = i;
    }
    for (int f = 0; f < N_NEEDED; f++)
        if (r->column[f] < 0)
            return ft__cli_exit(r->c, FT__EXIT_INPUT,
                                "%s: no column \"%s\": requests want arrival, prompt "
                                "and output",
                                r->path, what[f]);
    r->headed = true;
    return FT__EXIT_GOOD;
}

/* A number, or s of "2023-11-16 18:15:46.6805900", UTC; NaN: neither. */
static double number_of(const char *text)
{
    int y, m, d, hour, minute, used = 0;
    double s, days;
    char *end;
    const double x = strtod(text, &end);

    if (end != text && !*end)
        return x;
    if (sscanf(text, "%4d-%2d-%2d%*1[ T]%2d:%2d:%lf%n", &y, &m, &d, &hour, &minute, &s,
               &used) != 6 ||
        (text[used] && strcmp(text + used, "+00:00") != 0))
        return NAN;
    y -= m <= 2; /* years from March on: their months' days are regular */
    m += m <= 2 ? 9 : -3;
    days = 365.0 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + d;
    return ((days * 24 + hour) * 60 + minute) * 60 + s;
}

static int read_csv(struct record *r, char *line)
{
    double value[N_FIELDS] = {NAN, NAN, NAN, NAN, NAN, NAN};

    for (int i = 0; i < MOST_FIELDS && *line; i++) {
        const double x = number_of(next_field(&line));

        for (int f = 0; f < N_FIELDS; f++)
            if (r->column[f] == i)
                value[f] = x;
    }
    return add(r, value);
}

static int read_json(struct record *r, const char *line)
{
    double value[N_FIELDS] = {NAN, NAN, NAN, NAN, NAN, NAN};
    json_t *object = json_loads(line, 0, NULL), *of;
    const char *name;

    if (!json_is_object(object)) {
        json_decref(object);
        return complain(r, "no JSON object");
    }
    json_object_foreach(object, name, of)
    {
        const int f = field_of(name, strlen(name));

        if (f >= 0 && json_is_number(of))
            value[f] = json_number_value(of);
    }
    /* Mooncake's traces have ms. */
    if (json_object_get(object, "hash_ids") && json_object_get(object, "timestamp"))
        value[ARRIVAL] /= 1000;
    json_decref(object);
    return add(r, value);
}

static int read_line(struct record *r, char *line)
{
    line += strspn(line, " \t\r\n");
    if (!*line)
        return FT__EXIT_GOOD;
    if (*line == '{')
        return read_json(r, line);
    return r->headed ? read_csv(r, line) : read_head(r, line);
}

static int by_arrival(const void *a, const void *b)
{
    const double x = ((const struct timed *)a)->request.arrival_s;
    const double y = ((const struct timed *)b)->request.arrival_s;

    return (x > y) - (x < y);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Mean and percentiles by nearest rank, as of a run. */
static void points_of(double out[FT_SERVE_POINT_COUNT], double *v, size_t n)
{
    static const double share[FT_SERVE_POINT_COUNT] = {[FT_SERVE_P50] = 0.5,
                                                       [FT_SERVE_P90] = 0.9,
                                                       [FT_SERVE_P95] = 0.95,
                                                       [FT_SERVE_P99] = 0.99};
    double sum = 0;

    qsort(v, n, sizeof(*v), by_size);
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    out[FT_SERVE_MEAN] = n ? sum / (double)n : NAN;
    for (int p = FT_SERVE_P50; p < FT_SERVE_POINT_COUNT; p++)
        out[p] = n ? v[(size_t)ceil(share[p] * (double)n) - 1] : NAN;
}

static bool measure(ft_serve_measured *m, const struct record *r, size_t n)
{
    double *v = calloc(n + 1, sizeof(*v));
    size_t some = 0;

    if (!v)
        return false;
    for (size_t i = 0; i < n; i++)
        v[i] = r->request[i].ttft_s;
    points_of(m->latency[FT_SERVE_TTFT], v, n);
    for (size_t i = 0; i < n; i++)
        v[i] = r->request[i].e2e_s;
    points_of(m->latency[FT_SERVE_E2E], v, n);
    for (size_t i = 0; i < n; i++)
        if (r->request[i].request.generate > 1)
            v[some++] = (r->request[i].e2e_s - r->request[i].ttft_s) /
                        (double)(r->request[i].request.generate - 1);
    points_of(m->latency[FT_SERVE_TPOT], v, some);
    free(v);
    return true;
}

static int read_file(struct record *r, const char *path)
{
    char *line = malloc(LINE);
    FILE *fp = fopen(path, "r");
    int code = FT__EXIT_GOOD;

    if (!fp)
        code = ft__cli_exit(r->c, FT__EXIT_INPUT, "%s: %s", path, strerror(errno));
    else if (!line)
        code = ft__cli_done(r->c, false);
    while (!code && fgets(line, LINE, fp)) {
        r->line++;
        code = read_line(r, line);
    }
    if (!code && !r->n)
        code = ft__cli_exit(r->c, FT__EXIT_INPUT, "%s: no requests", path);
    if (fp)
        fclose(fp);
    free(line);
    if (!code)
        qsort(r->request, r->n, sizeof(*r->request), by_arrival);
    return code;
}

static int take(const struct record *r, ft_serve_request **out, uint64_t *n)
{
    *out = calloc(r->n + 1, sizeof(**out));
    if (!*out)
        return ft__cli_done(r->c, false);
    for (size_t i = 0; i < r->n; i++) {
        (*out)[i] = r->request[i].request;
        (*out)[i].arrival_s -= r->request[0].request.arrival_s;
    }
    *n = r->n;
    return FT__EXIT_GOOD;
}

int ft__requests_read(ft__cli *c, ft_serve_request **out, uint64_t *n, const char *path)
{
    struct record r = {.c = c, .path = path};
    int code = read_file(&r, path);

    *out = NULL;
    if (!code)
        code = take(&r, out, n);
    free(r.request);
    return code;
}

int ft__requests_measured(ft__cli *c, ft_serve_request **out, uint64_t *n,
                          ft_serve_measured *m, uint64_t first, const char *path)
{
    struct record r = {.c = c, .path = path};
    int code = read_file(&r, path);
    const size_t shown = first && first < r.n ? (size_t)first : r.n;

    *out = NULL;
    for (size_t i = 0; i < shown && !code; i++)
        if (!(r.request[i].ttft_s >= 0 && r.request[i].e2e_s >= r.request[i].ttft_s))
            code = ft__cli_exit(c, FT__EXIT_INPUT,
                                "%s: request %zu does not say when its first and last "
                                "token came",
                                path, i + 1);
    if (!code)
        code = ft__cli_done(c, measure(m, &r, shown));
    if (!code)
        code = take(&r, out, n);
    free(r.request);
    return code;
}

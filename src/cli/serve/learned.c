/* How much longer steps of a server take than predicted: a file that verify --learn
 * adds to and --correct of what is served reads. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/serve/serve.h"

static const char head[] = "device,ranks,engine,prompt_factor,decode_factor,requests";
enum { LINE = 512, MOST = 4096 };

bool ft__learned_is(const char *path)
{
    char line[sizeof(head)] = "";
    FILE *fp = path ? fopen(path, "r") : NULL;
    const size_t n = fp ? fread(line, 1, sizeof(head) - 1, fp) : 0;

    if (fp)
        fclose(fp);
    return n == sizeof(head) - 1 && memcmp(line, head, n) == 0;
}

int ft__learned_add(ft__cli *c, const char *path, const ft__learned_row *row)
{
    FILE *fp;
    bool good;

    if (!ft__learned_is(path)) {
        if ((fp = fopen(path, "r"))) {
            const bool empty = fgetc(fp) == EOF;

            fclose(fp);
            if (!empty)
                return ft__cli_exit(c, FT__EXIT_INPUT,
                                    "%s: holds something other than what verify "
                                    "--learn writes",
                                    path);
        }
        fp = fopen(path, "w");
        good = fp && fprintf(fp, "%s\n", head) > 0;
    } else {
        fp = fopen(path, "a");
        good = fp;
    }
    good =
        good && fprintf(fp, "%s,%llu,%s,%.6g,%.6g,%llu\n", row->device,
                        (unsigned long long)row->ranks, row->engine, row->prompt_factor,
                        row->decode_factor, (unsigned long long)row->requests) > 0;
    good = (!fp || fclose(fp) == 0) && good;
    return good ? FT__EXIT_GOOD
                : ft__cli_exit(c, FT__EXIT_INPUT, "%s: %s", path, strerror(errno));
}

/* "h100-sxm,2,vllm,1.1,0.9,320" */
static bool read_row(ft__learned_row *out, char *line)
{
    char *field[6], *end, *at = line;

    line[strcspn(line, "\r\n")] = '\0';
    for (size_t i = 0; i < 6; i++) {
        field[i] = at;
        at += strcspn(at, ",");
        if ((i < 5) != (*at == ','))
            return false;
        if (*at)
            *at++ = '\0';
    }
    snprintf(out->device, sizeof(out->device), "%.127s", field[0]);
    out->ranks = strtoull(field[1], &end, 10);
    if (end == field[1] || *end)
        return false;
    snprintf(out->engine, sizeof(out->engine), "%.63s", field[2]);
    out->prompt_factor = strtod(field[3], &end);
    if (*end || !(out->prompt_factor >= 0.01 && out->prompt_factor <= 100))
        return false;
    out->decode_factor = strtod(field[4], &end);
    return !*end && out->decode_factor >= 0.01 && out->decode_factor <= 100;
}

int ft__learned_read(ft__cli *c, ft__learned *out, const char *path)
{
    FILE *fp = fopen(path, "r");
    char line[LINE];
    int code = FT__EXIT_GOOD;

    *out = (ft__learned){.path = path, .row = calloc(MOST, sizeof(*out->row))};
    if (!fp || !out->row || !fgets(line, LINE, fp))
        code = ft__cli_exit(c, FT__EXIT_INPUT, "%s: %s", path, strerror(errno));
    while (!code && fgets(line, LINE, fp)) {
        if (out->n == MOST || !read_row(&out->row[out->n], line))
            code = ft__cli_exit(c, FT__EXIT_INPUT,
                                "%s, line %zu: it wants a device, ranks, an engine and "
                                "factors of prompts and decoding",
                                path, out->n + 2);
        else
            out->n++;
    }
    if (fp)
        fclose(fp);
    return code;
}

void ft__learned_free(ft__learned *l)
{
    free(l->row);
    l->row = NULL;
}

/* Devices of a group, as verify counts them. */
static uint64_t ranks_of(const ft_query *q)
{
    uint64_t n = 1;

    for (size_t i = 0; i < q->n_dims; i++)
        if (strcmp(q->dims[i].name, "tp") == 0 || strcmp(q->dims[i].name, "pp") == 0 ||
            strcmp(q->dims[i].name, "dp") == 0)
            n *= (uint64_t)q->dims[i].value;
    return n;
}

size_t ft__learned_take(ft_serve_load *load, const ft__learned *l, const char *device,
                        const ft_query *q)
{
    const char *engine = q->engine ? q->engine : "";
    const uint64_t ranks = ranks_of(q);
    double prompt = 0, decode = 0;
    size_t n = 0;

    for (int same = 1; same >= 0 && !n; same--)
        for (size_t i = 0; i < l->n; i++) {
            const ft__learned_row *r = &l->row[i];

            if (strcmp(r->device, device) != 0 || (same && r->ranks != ranks) ||
                strcmp(r->engine, engine) != 0)
                continue;
            prompt += log(r->prompt_factor);
            decode += log(r->decode_factor);
            n++;
        }
    if (n) {
        load->prompt_factor = exp(prompt / (double)n);
        load->decode_factor = exp(decode / (double)n);
    }
    return n;
}

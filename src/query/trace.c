/* An answer as trace events: the JSON that Chrome's and Perfetto's viewers read. */
#include <inttypes.h>
#include <math.h>

#include "base/number.h"
#include "base/output.h"
#include "foretell/names.h"
#include "foretell/timeline.h"

enum { HOST = 1, DEVICE, MODULES };

struct trace {
    FILE *fp;
    const ft_answer *a;
    const ft_timeline *t;
};

/* A string; what is no printable ASCII, and what HTML reads, in escapes or as '?'. */
static void put_text(FILE *fp, const char *s)
{
    fputc('"', fp);
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;

        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\' || c == '<')
            fprintf(fp, c < 0x80 ? "\\u%04x" : "?", c);
        else
            fputc(c, fp);
    }
    fputc('"', fp);
}

/* Nanoseconds: ends and beginnings that meet do so in the file as well. */
static int64_t ns(double seconds)
{
    return (int64_t)llround(seconds * 1e9);
}

static void put_us(FILE *fp, const char *name, int64_t v)
{
    fprintf(fp, ",\"%s\":%" PRId64 ".%03d", name, v / 1000, (int)(v % 1000));
}

/* An event up to its arguments, which the caller puts between braces. */
static void begin_slice(const struct trace *x, int track, const char *name, double from,
                        double to)
{
    fputs(",\n{\"ph\":\"X\",\"name\":", x->fp);
    put_text(x->fp, name);
    fprintf(x->fp, ",\"pid\":1,\"tid\":%d", track);
    put_us(x->fp, "ts", ns(from));
    put_us(x->fp, "dur", ns(to) - ns(from));
    fputs(",\"args\":{", x->fp);
}

static void slice(const struct trace *x, int track, const char *name, double from,
                  double to)
{
    if (ns(to) == ns(from))
        return;
    begin_slice(x, track, name, from, to);
    fputs("}}", x->fp);
}

static void name_track(const struct trace *x, int track, const char *name)
{
    fprintf(x->fp,
            ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%d,\"args\":"
            "{\"name\":\"%s\"}}",
            track, name);
}

static const char *kind_of(const struct trace *x, uint32_t node)
{
    return ft_kind_name(x->a->graph->op[x->a->graph->node[node].op].kind);
}

static void put_device(const struct trace *x)
{
    double end = 0;

    for (uint32_t i = 0; i < x->t->n_runs; i++) {
        const ft_run *run = &x->t->run[i];
        const ft_node *node = &x->a->graph->node[i];
        const ft_answer_op *op = x->a->op[node->op];

        if (!(run->time_s > 0))
            continue;
        slice(x, DEVICE, "idle", end, run->begin_s);
        end = run->begin_s + run->time_s;
        begin_slice(x, DEVICE, kind_of(x, i), run->begin_s, end);
        fputs("\"name\":", x->fp);
        put_text(x->fp, node->name);
        fputs(",\"module\":", x->fp);
        put_text(x->fp, x->t->module[run->module].path);
        fputs(",\"spec\":", x->fp);
        put_text(x->fp, op->spec);
        fprintf(x->fp, ",\"phase\":\"%s\",\"count\":%" PRIu64 ",\"basis\":\"%s\"}}",
                ft_name(FT_NAMES_PHASE, node->phase), node->repeat,
                ft_name(FT_NAMES_BASIS, op->time.basis));
    }
    slice(x, DEVICE, "idle", end, x->t->time_s);
}

static void put_host(const struct trace *x)
{
    double end = 0;

    for (uint32_t i = 0; i < x->t->n_runs; i++) {
        const ft_run *run = &x->t->run[i];

        if (!(run->time_s > 0))
            continue;
        slice(x, HOST, kind_of(x, i), end, run->issued_s);
        end = fmax(end, run->issued_s);
    }
}

/* The modules around a node, outermost first; how many. */
static uint32_t modules_of(uint32_t *around, const ft_timeline *t, uint32_t node)
{
    uint32_t m = t->run[node].module;
    const uint32_t n = t->module[m].depth;

    for (uint32_t k = n; k-- > 0; m = t->module[m].parent)
        around[k] = m;
    return n;
}

/* A slice as long as operations that follow each other are of the module. */
static void put_modules(const struct trace *x)
{
    uint32_t open[FT_MAX_MODULE_DEPTH], around[FT_MAX_MODULE_DEPTH], n_open = 0;
    double begin[FT_MAX_MODULE_DEPTH], end = 0;

    for (uint32_t i = 0; i <= x->t->n_runs; i++) {
        const ft_run *run = &x->t->run[i];
        uint32_t n = 0, same = 0;

        if (i < x->t->n_runs && !(run->time_s > 0))
            continue;
        if (i < x->t->n_runs)
            n = modules_of(around, x->t, i);
        while (same < n && same < n_open && open[same] == around[same])
            same++;
        while (n_open > same) {
            n_open--;
            slice(x, MODULES, x->t->module[open[n_open]].path, begin[n_open], end);
        }
        for (; n_open < n; n_open++) {
            open[n_open] = around[n_open];
            begin[n_open] = run->begin_s;
        }
        if (i < x->t->n_runs)
            end = run->begin_s + run->time_s;
    }
}

static void begin_counter(const struct trace *x, const char *name, double at)
{
    fprintf(x->fp, ",\n{\"ph\":\"C\",\"name\":\"%s\",\"pid\":1", name);
    put_us(x->fp, "ts", ns(at));
    fputs(",\"args\":{", x->fp);
}

static void put_memory(const struct trace *x)
{
    for (uint32_t i = 0; i < x->t->n_runs; i++) {
        const ft_run *run = &x->t->run[i];
        const char *comma = "";

        if (!(run->time_s > 0))
            continue;
        begin_counter(x, "memory, bytes", run->begin_s);
        for (uint32_t p = 0; p < FT_PART_COUNT; p++) {
            if (isnan(run->bytes[p]))
                continue;
            fprintf(x->fp, "%s\"%s\":%.0f", comma, ft_name(FT_NAMES_PART, p),
                    run->bytes[p]);
            comma = ",";
        }
        fputs("}}", x->fp);
    }
}

static void put_watts(const struct trace *x, double at, double watts)
{
    begin_counter(x, "power, W", at);
    fprintf(x->fp, "\"power\":%.4f}}", watts);
}

static void put_power(const struct trace *x)
{
    double end = 0;

    for (uint32_t i = 0; i < x->t->n_runs && x->a->energy.value > 0; i++) {
        const ft_run *run = &x->t->run[i];

        if (!(run->time_s > 0) || isnan(run->power_w))
            continue;
        if (ns(run->begin_s) > ns(end))
            put_watts(x, end, x->t->idle_w);
        put_watts(x, run->begin_s, run->power_w);
        end = run->begin_s + run->time_s;
    }
    if (end > 0)
        put_watts(x, end, ns(x->t->time_s) > ns(end) ? x->t->idle_w : 0);
}

static void put_all(const struct trace *x)
{
    const ft_answer *a = x->a;

    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"model\":", x->fp);
    put_text(x->fp, a->model);
    fputs(",\"device\":", x->fp);
    put_text(x->fp, a->device);
    fprintf(x->fp, ",\"time_s\":%.9g", a->time.value);
    if (a->energy.value > 0)
        fprintf(x->fp, ",\"energy_j\":%.9g", a->energy.value);
    fputs("},\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,"
          "\"args\":{\"name\":",
          x->fp);
    put_text(x->fp, a->title);
    fputs("}}", x->fp);
    name_track(x, HOST, "host");
    name_track(x, DEVICE, "device");
    name_track(x, MODULES, "modules");
    if (a->host_s > 0)
        put_host(x);
    put_device(x);
    put_modules(x);
    put_memory(x);
    put_power(x);
    fputs("\n]}\n", x->fp);
}

ft_status ft_answer_trace(const ft_answer *a, const char *path, ft_error *err)
{
    ft_timeline *t = NULL;
    ft__output o;
    ft_status st = ft_timeline_make(&t, a->graph, a, err);

    if (!st)
        st = ft__output_open(&o, path, err);
    if (!st) {
        const locale_t before = ft__locale_plain();

        put_all(&(struct trace){o.fp, a, t});
        ft__locale_back(before);
        st = ft__output_close(&o, FT_OK, err);
    }
    ft_timeline_free(t);
    return st;
}

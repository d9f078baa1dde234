/* What holds of every answer, whatever is asked: random operations on every device,
 * with the predictors that are shipped and from specifications, through the public API.
 *
 * usage: test_properties SOURCE_ROOT [ANSWERS [SEED]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "foretell/op.h"
#include "foretell/query.h"

enum { ROOM = 160, AT_ONCE = 50, SHOWN = 40 };

/* What forests learned falls between the sizes that they saw, of few questions and not
 * to the half. */
static const double LEAST_OF_TWICE = 0.9, LEAST_OF_ANY = 0.5;
enum { FALLEN_OF = 500, FALLEN_MORE = 5 };

static unsigned failures, doubled, fallen;

/* A random operation, as text, with the batch left open: "%d". */

static int among(ft__prng *r, int n, const int *v)
{
    return v[ft__prng_below(r, (uint32_t)n)];
}
#define ONE_OF(r, ...)                                                                 \
    among(r, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]){__VA_ARGS__})

/* Channels, features: often round, sometimes not. */
static int size(ft__prng *r)
{
    const int round =
        ONE_OF(r, 16, 32, 64, 96, 128, 192, 256, 320, 512, 768, 1024, 2048);

    return ft__prng_below(r, 4) ? round : 1 + (int)ft__prng_below(r, 1500);
}

static void convolution(char *s, ft__prng *r)
{
    const int channels = size(r), side = ONE_OF(r, 7, 14, 28, 56, 112, 224),
              kernel = ONE_OF(r, 1, 1, 3, 3, 5, 7), depthwise = !ft__prng_below(r, 4);
    const int out = depthwise ? channels : size(r);
    char groups[32] = "";

    if (depthwise)
        snprintf(groups, sizeof(groups), " groups=%d", channels);
    snprintf(s, ROOM,
             "conv2d x=%%dx%dx%dx%d out=%d kernel=%dx%d stride=%dx%d pad=%dx%d%s",
             channels, side, side, out, kernel, kernel, 1 + side % 2, 1 + side % 2,
             kernel / 2, kernel / 2, groups);
}

static void linear(char *s, ft__prng *r)
{
    if (ft__prng_below(r, 2))
        snprintf(s, ROOM, "linear x=%%dx%d out=%d", size(r), size(r));
    else
        snprintf(s, ROOM, "linear x=%%dx%dx%d out=%d", ONE_OF(r, 1, 16, 128, 512, 2048),
                 size(r), 4 * size(r));
}

static void product(char *s, ft__prng *r)
{
    const int k = size(r);

    snprintf(s, ROOM, "matmul x=%%dx%dx%d y=%%dx%dx%d", size(r), k, k, size(r));
}

static void attention(char *s, ft__prng *r)
{
    const int queries = ONE_OF(r, 1, 128, 512, 2048),
              keys = queries > 1 ? queries : 1024;
    const int heads = ONE_OF(r, 8, 16, 32), head = ONE_OF(r, 64, 128);
    const int kv = heads / ONE_OF(r, 1, 1, 4);

    snprintf(s, ROOM,
             "attention x=%%dx%dx%dx%d y=%%dx%dx%dx%d z=%%dx%dx%dx%d causal=%d", heads,
             queries, head, kv, keys, head, kv, keys, head, (int)ft__prng_below(r, 2));
}

static void elementwise(char *s, ft__prng *r)
{
    static const char *const one[] = {"relu", "gelu",    "tanh", "silu",
                                      "exp",  "sigmoid", "sqrt", "copy"},
                             *const two[] = {"add", "mul", "div", "sub"};
    const int a = size(r), b = ONE_OF(r, 1, 14, 49, 196, 3136);

    if (ft__prng_below(r, 2))
        snprintf(s, ROOM, "%s x=%%dx%dx%d", one[ft__prng_below(r, 8)], a, b);
    else
        snprintf(s, ROOM, "%s x=%%dx%dx%d y=%%dx%dx%d", two[ft__prng_below(r, 4)], a, b,
                 a, b);
}

static void row_wise(char *s, ft__prng *r)
{
    const int rows = ONE_OF(r, 1, 64, 197, 512, 2048), row = size(r);

    switch (ft__prng_below(r, 4)) {
    case 0: snprintf(s, ROOM, "layernorm x=%%dx%dx%d norm=1", rows, row); break;
    case 1: snprintf(s, ROOM, "rmsnorm x=%%dx%dx%d norm=1", rows, row); break;
    case 2: snprintf(s, ROOM, "softmax x=%%dx%dx%d axis=2", rows, row); break;
    default: snprintf(s, ROOM, "reduce_mean x=%%dx%dx%d axes=2", rows, row);
    }
}

static void image_wise(char *s, ft__prng *r)
{
    const int side = ONE_OF(r, 7, 14, 28, 56, 112), c = size(r);

    switch (ft__prng_below(r, 4)) {
    case 0: snprintf(s, ROOM, "batchnorm x=%%dx%dx%dx%d", c, side, side); break;
    case 1: snprintf(s, ROOM, "global_avgpool x=%%dx%dx%dx%d", c, side, side); break;
    default:
        snprintf(s, ROOM, "%spool2d x=%%dx%dx%dx%d kernel=2x2 stride=2x2 pad=0x0",
                 ft__prng_below(r, 2) ? "max" : "avg", c, side, side);
    }
}

static void others(char *s, ft__prng *r)
{
    const int d = size(r), n = ONE_OF(r, 1, 16, 512);

    switch (ft__prng_below(r, 4)) {
    case 0: snprintf(s, ROOM, "embedding x=%%dx%d rows=%d dim=%d", n, 50 * d, d); break;
    case 1: snprintf(s, ROOM, "view x=%%dx%dx%d out=%%dx%d", n, d, n * d); break;
    case 2:
        snprintf(s, ROOM, "lstm x=%dx%%dx%d hidden=%d", ONE_OF(r, 1, 50), d, d);
        break;
    default:
        snprintf(s, ROOM, "moe x=%%dx%d hidden=%d experts=%d topk=%d",
                 ONE_OF(r, 1024, 2048, 4096), ONE_OF(r, 768, 1536, 14336),
                 ONE_OF(r, 8, 64, 128), ONE_OF(r, 1, 2, 8));
    }
}

static void random_spec(char *s, ft__prng *r)
{
    static void (*const make[])(char *, ft__prng *) = {
        convolution, convolution, linear,   linear,     product, attention,
        elementwise, elementwise, row_wise, image_wise, others};

    make[ft__prng_below(r, sizeof(make) / sizeof(*make))](s, r);
}

static int put(char *s, const char *spec, int batch, const char *dtype)
{
    char of[ROOM];

    snprintf(of, sizeof(of), "%s", spec);
    for (char *at; (at = strstr(of, "%d"));) {
        char rest[ROOM];

        snprintf(rest, sizeof(rest), "%s", at + 2);
        snprintf(at, (size_t)(of + sizeof(of) - at), "%d%s", batch, rest);
    }
    return snprintf(s, 2 * ROOM, "%s dtype=%s", of, dtype);
}

static void fail(const char *what, const ft_query *q, const char *spec,
                 const ft_estimate *e, double against)
{
    if (failures++ < SHOWN)
        fprintf(stderr, "%s: %s %s %s \"%s\": %.4g (%.4g .. %.4g) against %.4g\n", what,
                q->device, q->method ? q->method : "shipped", q->run_mode, spec,
                e->value, e->low, e->high, against);
}

/* How many multiplications an algorithm may save: convolutions those of Winograd's
 * F(4x4, 3x3), wider ones those of transforms of 32 x 32; causal attention half. */
static double saved(const ft_op *op)
{
    const double kernel = (double)ft_op_at(op, FT_K_kernel, 0);

    if (op->kind == FT_KIND_attention)
        return ft_op_at(op, FT_K_causal, 0) ? 2 : 1;
    return ft_kind_class(op->kind) != FT_CLASS_CONV || kernel < 2 ? 1
           : kernel < 4                                           ? 4
                                                                  : kernel * kernel / 3;
}

/* FLOP/s at the highest clock, on tensor cores where they may serve. */
static double most_flops(const ft_device_facts *d, const ft_op *op)
{
    const ft_class c = ft_kind_class(op->kind);
    const int bits = (int)ft_dtype_bits(op->dtype);
    const int cpu = strcmp(d->type, "cpu") == 0;
    double peak = d->peak_fp32;

    if (c == FT_CLASS_CONV && bits == 32)
        peak = fmax(peak, d->peak_tf32);
    if ((c == FT_CLASS_CONV || c == FT_CLASS_MATMUL) && bits == 16)
        peak = fmax(peak, fmax(d->peak_fp16, d->peak_bf16));
    if (strcmp(d->vendor, "AMD") == 0 && !cpu)
        peak *= 2; /* matrix cores, which peaks of fp32 leave out */
    if (cpu && d->base_clock_hz > 0)
        peak *= d->boost_clock_hz / d->base_clock_hz;
    return peak;
}

/* Bytes that no cache can hold. */
static double least_bytes(const ft_device_facts *d, const ft_cost *c)
{
    double caches = d->l2_bytes > 0 ? d->l2_bytes : 0;

    if (strcmp(d->type, "cpu") == 0)
        caches = caches * d->cores + (d->l3_bytes > 0 ? d->l3_bytes : 0);
    return fmax(0, c->bytes_read + c->bytes_written - caches);
}

static void check_one(const ft_query *q, const ft_device_facts *d,
                      const ft_answer_op *o)
{
    const ft_estimate *e = &o->time, *on = &o->device_time;
    ft_cost cost;
    double least;

    ft_op_cost(o->op, &cost);
    if (o->op->kind == FT_KIND_view) {
        if (!(e->value == 0))
            fail("a view takes time", q, o->spec, e, 0);
        return;
    }
    if (!(e->low > 0 && e->low <= e->value && e->value <= e->high &&
          isfinite(e->high))) {
        fail("interval", q, o->spec, e, 0);
        return;
    }
    if (e->high > 50 * e->low)
        fail("interval too wide", q, o->spec, e, e->high / e->low);
    least = cost.flops / saved(o->op) / most_flops(d, o->op);
    if (on->value < 0.999 * least)
        fail("above the peak", q, o->spec, on, least);
    least = least_bytes(d, &cost) / d->bandwidth_bytes_per_s;
    if (on->value < 0.999 * least)
        fail("above the bandwidth", q, o->spec, on, least);
}

struct subject {
    char device[64];
    ft_device *file;
};

static const ft_answer_op *answer_to(const ft_answer *a, const char *line)
{
    char spec[2 * ROOM];
    ft_op op;

    if (ft_op_parse(&op, line, strlen(line), NULL) != FT_OK)
        return NULL;
    ft_op_print(&op, spec, sizeof(spec));
    for (uint32_t i = 0; i < a->n_ops; i++)
        if (strcmp(a->op[i]->spec, spec) == 0)
            return a->op[i];
    return NULL;
}

/* AT_ONCE operations, each at a batch and twice that. How many were answered. */
static unsigned ask(ft_data *data, const struct subject *on, ft__prng *r)
{
    static const char *const dtypes[] = {"fp32", "fp32", "fp16", "bf16"};
    static char list[AT_ONCE][2][2 * ROOM], text[AT_ONCE * 4 * ROOM];
    const char *dtype = dtypes[ft__prng_below(r, 4)];
    ft_query q = FT_QUERY_INIT;
    ft_answer *a = NULL;
    ft_error err = {0};
    size_t len = 0;
    unsigned n = 0;

    for (int i = 0; i < AT_ONCE; i++) {
        char spec[ROOM];
        const int batch = 1 << ft__prng_below(r, 7);

        random_spec(spec, r);
        for (int k = 0; k < 2; k++) {
            put(list[i][k], spec, batch << k, dtype);
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s\n", list[i][k]);
        }
    }
    q.list = text;
    q.list_len = len;
    q.model = "properties";
    q.device = on->device;
    q.method = ft__prng_below(r, 3) ? NULL : "physics";
    q.run_mode = ft__prng_below(r, 2) ? "eager" : "graph";
    if (ft_query_ask(&a, data, &q, &err) != FT_OK) {
        if (!strstr(err.msg, "does not say")) { /* the file of a phone's CPU */
            fprintf(stderr, "%s: %s\n", on->device, err.msg);
            failures++;
        }
        return 0;
    }
    for (int i = 0; i < AT_ONCE; i++) {
        const ft_answer_op *once = answer_to(a, list[i][0]),
                           *twice = answer_to(a, list[i][1]);

        if (!once || !twice) {
            fprintf(stderr, "no answer to \"%s\"\n", list[i][once != NULL]);
            failures++;
            continue;
        }
        check_one(&q, ft_device_get(on->file), once);
        check_one(&q, ft_device_get(on->file), twice);
        doubled++;
        fallen += twice->time.value < LEAST_OF_TWICE * once->time.value;
        if (twice->time.value <
            (q.method ? LEAST_OF_TWICE : LEAST_OF_ANY) * once->time.value)
            fail("twice the batch is faster", &q, once->spec, &once->time,
                 twice->time.value);
        n += 2;
    }
    ft_answer_free(a);
    return n;
}

int main(int argc, char **argv)
{
    const long wanted = argc > 2 ? atol(argv[2]) : 5000;
    const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    char data_dir[1024], **name;
    ft_data *data;
    ft_error err = {0};
    size_t n_devices;
    long n = 0;

    if (argc < 2)
        return 2;
    snprintf(data_dir, sizeof(data_dir), "%s/data", argv[1]);
    CHECK(EQ(ft_data_open(&data, data_dir, NULL, &err), FT_OK));
    CHECK(EQ(ft_device_names(&name, &n_devices, data_dir, &err), FT_OK));
    for (uint64_t i = 0; n < wanted && i < 10 * (uint64_t)wanted; i++) {
        ft__prng r = ft__prng_stream(seed, i);
        struct subject on;

        snprintf(on.device, sizeof(on.device), "%s",
                 name[ft__prng_below(&r, (uint32_t)n_devices)]);
        CHECK(EQ(ft_device_load(&on.file, data_dir, on.device, &err), FT_OK));
        n += ask(data, &on, &r);
        ft_device_free(on.file);
    }
    printf("%ld answers; of %u doubled batches %u are faster\n", n, doubled, fallen);
    CHECK(CMP(n, >=, wanted) && EQ(failures, 0));
    CHECK(CMP(fallen, <=, FALLEN_MORE + doubled / FALLEN_OF));
    ft_device_names_free(name, n_devices);
    ft_data_close(data);
    CHECK_DONE();
}

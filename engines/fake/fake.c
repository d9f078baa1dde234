/* An engine that runs nothing: each run moves a clock of its own forward by what
 * a simple machine would need, so that everything above an engine is tested
 * quickly and gives the same figures everywhere.
 *
 *   t = (2e-6 + flops / (50e9 * threads * e) + bytes / 10e9) * slow * (1 + noise * u)
 *       * (1 + drift * sin(clock / 1 s + phase))
 *
 * e is the class's efficiency, for convolutions times c / (c + 8) with c input
 * channels per group; u is in [-1, 1), from the seed and the number of runs so
 * far, and phase from the seed. Options, "name=value" joined by commas:
 *
 * - noise=F: 0.02 unless given
 * - drift=F: the machine is slowly up to F faster and slower, 0 unless given
 * - burst=P:F: in a share P of all stretches of 5 ms of its clock it is slower, by a
 *   factor between 1 and F; never unless given
 * - sleep=F: really sleep F times the virtual time, 0 unless given
 * - foreign=F: other processes keep F CPUs busy, and to feel them time is real: the
 *   clock is the system's and running keeps a CPU busy for so long
 * - ahead=F: issuing takes F of the time, sync() the rest, 1 unless given
 * - between=S: an operation that another one ran before takes S seconds more
 * - slow=TEXT:F: operations whose spec contains TEXT take F times as long
 * - fail_kind=NAME: preparing an operation of this kind fails
 * - fail_after=N: every run after the first N fails
 * - gpu=NAME: it runs on a device of this name, beside the processor
 * - oom_above=BYTES: there is no more memory than this for one block or buffer (2^46
 *   unless given, for a block) */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "foretell/engine.h"
#include "host.h"
#include "random.h"

enum { MOST_OTHERS = 8 };

typedef struct options {
    double noise, drift;
    double burst_share, burst_factor;
    double sleep, foreign, ahead, between_s;
    double slow;
    char slow_text[128], fail_kind[32], gpu[64];
    uint64_t fail_after, oom_above;
} options;

struct ft_engine_context {
    options opt;
    uint32_t threads;
    uint64_t seed, runs;
    const ft_block *last; /* that ran */
    double clock_s;
    double behind_s; /* issued, not yet run */
    double phase;
    pid_t others[MOST_OTHERS];
    unsigned n_others;
};

struct ft_block {
    ft_engine_context *ctx;
    uint32_t instances;
    double time_s; /* without noise */
};

static int read_number(double *out, const char *text)
{
    char *end;

    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out >= 0;
}

static int read_count(uint64_t *out, const char *text)
{
    char *end;

    *out = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

static int read_text(char *out, size_t size, const char *text)
{
    return (size_t)snprintf(out, size, "%s", text) < size && *text;
}

static int read_slow(options *o, char *text)
{
    char *colon = strrchr(text, ':');

    if (!colon)
        return 0;
    *colon = '\0';
    return read_text(o->slow_text, sizeof(o->slow_text), text) &&
           read_number(&o->slow, colon + 1);
}

static int read_burst(options *o, char *text)
{
    char *colon = strchr(text, ':');

    if (!colon)
        return 0;
    *colon = '\0';
    return read_number(&o->burst_share, text) && o->burst_share <= 1 &&
           read_number(&o->burst_factor, colon + 1) && o->burst_factor >= 1;
}

static int read_option(options *o, const char *name, char *value)
{
    if (strcmp(name, "noise") == 0)
        return read_number(&o->noise, value) && o->noise < 1;
    if (strcmp(name, "drift") == 0)
        return read_number(&o->drift, value) && o->drift < 1;
    if (strcmp(name, "burst") == 0)
        return read_burst(o, value);
    if (strcmp(name, "foreign") == 0)
        return read_number(&o->foreign, value) && o->foreign <= MOST_OTHERS;
    if (strcmp(name, "ahead") == 0)
        return read_number(&o->ahead, value) && o->ahead <= 1;
    if (strcmp(name, "between") == 0)
        return read_number(&o->between_s, value);
    if (strcmp(name, "sleep") == 0)
        return read_number(&o->sleep, value);
    if (strcmp(name, "slow") == 0)
        return read_slow(o, value);
    if (strcmp(name, "fail_kind") == 0)
        return read_text(o->fail_kind, sizeof(o->fail_kind), value);
    if (strcmp(name, "gpu") == 0)
        return read_text(o->gpu, sizeof(o->gpu), value);
    if (strcmp(name, "fail_after") == 0)
        return read_count(&o->fail_after, value);
    if (strcmp(name, "oom_above") == 0)
        return read_count(&o->oom_above, value);
    return 0;
}

static ft_status read_options(options *o, const char *text, ft_error *err)
{
    *o = (options){.noise = 0.02,
                   .slow = 1,
                   .ahead = 1,
                   .fail_after = UINT64_MAX,
                   .oom_above = UINT64_MAX};
    while (text && *text) {
        size_t len = strcspn(text, ",");
        char pair[192], *value;

        snprintf(pair, sizeof(pair), "%.*s", (int)(len < 191 ? len : 191), text);
        value = strchr(pair, '=');
        if (value)
            *value++ = '\0';
        if (!value || !read_option(o, pair, value))
            return ft_fail(err, FT_EINVAL, 0,
                           "fake: bad option \"%.*s\"; it knows noise=F, drift=F, "
                           "burst=P:F, sleep=F, foreign=F, ahead=F, between=S, "
                           "slow=TEXT:F, fail_kind=NAME, gpu=NAME, fail_after=N, "
                           "oom_above=BYTES",
                           (int)(len < 191 ? len : 191), text);
        text += len + (text[len] == ',');
    }
    return FT_OK;
}

static const char *version(void)
{
    return "1";
}

static int score(ft_error *err)
{
    (void)err;
    return 1;
}

/* A process that is busy for that part of every hundredth of a second, as long as
 * its parent lives. */
static void be_busy(double part, pid_t parent)
{
    while (getppid() == parent) {
        double begin = ft__host_now(NULL);
        struct timespec rest = {0, (long)((1 - part) * 1e7)};

        while (ft__host_now(NULL) < begin + part * 1e-2)
            ;
        nanosleep(&rest, NULL);
    }
    _exit(0);
}

static void start_others(ft_engine_context *c)
{
    double left = c->opt.foreign;
    pid_t self = getpid();

    while (left > 0) {
        pid_t pid = fork();

        if (pid == 0)
            be_busy(left < 1 ? left : 1, self);
        if (pid > 0)
            c->others[c->n_others++] = pid;
        left -= 1;
    }
}

static ft_status engine_open(ft_engine_context **out, const ft_engine_config *cfg,
                             ft_error *err)
{
    ft_engine_context *c;
    options opt;
    float phase;
    ft_status st;

    *out = NULL;
    if (cfg->threads < 1)
        return ft_fail(err, FT_EINVAL, 0, "fake: at least one thread is needed");
    st = read_options(&opt, cfg->options, err);
    if (st)
        return st;
    c = calloc(1, sizeof(*c));
    if (!c)
        return ft_fail(err, FT_ENOMEM, 0, "fake: out of memory");
    ft__random_floats(&phase, 1, 0, 6.2831853F, cfg->seed);
    *c = (ft_engine_context){
        .opt = opt, .threads = cfg->threads, .seed = cfg->seed, .phase = (double)phase};
    start_others(c);
    *out = c;
    return FT_OK;
}

static void engine_close(ft_engine_context *c)
{
    while (c && c->n_others) {
        kill(c->others[--c->n_others], SIGKILL);
        waitpid(c->others[c->n_others], NULL, 0);
    }
    free(c);
}

static double engine_now(ft_engine_context *c)
{
    return c->opt.foreign > 0 ? ft__host_now(NULL) : c->clock_s;
}

static ft_status engine_sync(ft_engine_context *c, ft_error *err)
{
    (void)err;
    c->clock_s += c->behind_s;
    c->behind_s = 0;
    return FT_OK;
}

static void *engine_alloc(ft_engine_context *c, uint64_t bytes)
{
    return bytes > c->opt.oom_above ? NULL : ft__host_alloc(c, bytes);
}

/* The processor, and the GPU there is with gpu=NAME. */
static ft_status engine_device(ft_engine_context *c, uint32_t i, ft_engine_device *out,
                               ft_error *err)
{
    if (!*c->opt.gpu || i > 1)
        return ft_fail(err, FT_ENOTFOUND, 0, "fake: no device %u", i);
    *out = (ft_engine_device){.is_host = i == 0,
                              .is_used = i == 1,
                              .units = i ? 8 : c->threads,
                              .clock_hz = 1e9,
                              .memory_bytes = 0x1p30};
    snprintf(out->name, sizeof(out->name), "%s", i ? c->opt.gpu : "processor");
    return FT_OK;
}

static double efficiency(const ft_op *op)
{
    static const double of_class[FT_CLASS_COUNT] = {
        [FT_CLASS_CONV] = 0.8,   [FT_CLASS_MATMUL] = 0.9,  [FT_CLASS_POOL] = 0.3,
        [FT_CLASS_NORM] = 0.25,  [FT_CLASS_SOFTMAX] = 0.1, [FT_CLASS_UNARY] = 0.2,
        [FT_CLASS_BINARY] = 0.5, [FT_CLASS_REDUCE] = 0.4,  [FT_CLASS_MOVE] = 1,
        [FT_CLASS_VIEW] = 1,     [FT_CLASS_GENERIC] = 1};
    ft_class class = ft_kind_class(op->kind);
    double e = of_class[class], channels;

    if (class != FT_CLASS_CONV)
        return e;
    channels = (double)ft_op_at(op, FT_K_x, 1) / (double)ft_op_at(op, FT_K_groups, 0);
    return e * channels / (channels + 8);
}

static double time_of(const ft_engine_context *c, const ft_op *op, const ft_cost *cost)
{
    char spec[1024];
    double t = 2e-6 + cost->flops / (50e9 * c->threads * efficiency(op)) +
               (cost->bytes_read + cost->bytes_written) / 10e9;

    ft_op_print(op, spec, sizeof(spec));
    return c->opt.slow_text[0] && strstr(spec, c->opt.slow_text) ? t * c->opt.slow : t;
}

static ft_status check(const ft_engine_context *c, const ft_op *op, uint32_t instances,
                       const ft_cost *cost, ft_error *err)
{
    ft_class class = ft_kind_class(op->kind);
    double weights = cost->weight_bytes * instances;

    if (instances < 1)
        return ft_fail(err, FT_EINVAL, 0, "fake: at least one instance is needed");
    if (op->phase != FT_PHASE_FORWARD || class == FT_CLASS_VIEW ||
        class == FT_CLASS_GENERIC)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "fake: only forward operations with work of their own");
    if (strcmp(c->opt.fail_kind, ft_kind_name(op->kind)) == 0)
        return ft_fail(err, FT_EBACKEND, 0, "fake: failure of %s as planned",
                       ft_kind_name(op->kind));
    if (weights > (double)c->opt.oom_above || weights > 0x1p46)
        return ft_fail(err, FT_ENOMEM, 0, "fake: no memory for %u instances of %s",
                       instances, ft_kind_name(op->kind));
    return FT_OK;
}

static ft_status prepare(ft_engine_context *c, ft_block **out, ft_block_info *info,
                         const ft_op *op, uint32_t instances,
                         const float *const *params, uint32_t n_params, ft_error *err)
{
    ft_block *b;
    ft_cost cost;
    ft_status st;

    (void)params, (void)n_params;
    *out = NULL;
    st = ft_op_check(op, err);
    if (st)
        return st;
    ft_op_cost(op, &cost);
    st = check(c, op, instances, &cost, err);
    if (st)
        return st;
    b = calloc(1, sizeof(*b));
    if (!b)
        return ft_fail(err, FT_ENOMEM, 0, "fake: out of memory");
    *b = (ft_block){c, instances, time_of(c, op, &cost)};
    *info = (ft_block_info){.weight_bytes = (uint64_t)cost.weight_bytes,
                            .workspace_bytes = ft_kind_class(op->kind) == FT_CLASS_CONV
                                                   ? (uint64_t)cost.bytes_written / 4
                                                   : 0,
                            .implementation = "none"};
    *out = b;
    return FT_OK;
}

static void really_sleep(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds};

    t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
    nanosleep(&t, NULL);
}

static double cpu_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What others have the CPU for meanwhile comes on top. */
static void keep_busy(double seconds)
{
    const double end = cpu_time() + seconds;

    while (cpu_time() < end)
        ;
}

/* How many times as long everything takes now. */
static double slowed(const ft_engine_context *c)
{
    const double stretch_s = 5e-3;
    uint64_t stretch = (uint64_t)(c->clock_s / stretch_s);
    float u[2];

    if (!(c->opt.burst_share > 0))
        return 1;
    ft__random_floats(u, 2, 0, 1,
                      (c->seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + stretch);
    return (double)u[0] < c->opt.burst_share
               ? 1 + (double)u[1] * (c->opt.burst_factor - 1)
               : 1;
}

static ft_status run(ft_block *b, uint32_t instance, const void *const *in,
                     void *const *out, void *workspace, ft_error *err)
{
    ft_engine_context *c = b->ctx;
    float noise;
    double t;

    (void)in, (void)out, (void)workspace;
    if (instance >= b->instances)
        return ft_fail(err, FT_EINVAL, 0, "fake: instance %u of %u", instance,
                       b->instances);
    if (c->runs >= c->opt.fail_after)
        return ft_fail(err, FT_EBACKEND, 0, "fake: failure after %llu runs as planned",
                       (unsigned long long)c->runs);
    ft__random_floats(&noise, 1, -1, 1, c->seed + ++c->runs);
    t = (b->time_s + (c->last == b ? 0 : c->opt.between_s)) *
        (1 + c->opt.noise * (double)noise) *
        (1 + c->opt.drift * sin(c->clock_s + c->phase)) * slowed(c);
    c->last = b;
    c->clock_s += t * c->opt.ahead;
    c->behind_s += t * (1 - c->opt.ahead);
    if (c->opt.foreign > 0)
        keep_busy(t);
    if (c->opt.sleep > 0)
        really_sleep(t * c->opt.sleep);
    return FT_OK;
}

static void free_block(ft_block *b)
{
    free(b);
}

FT_API const ft_engine *ft_engine_entry(void);

const ft_engine *ft_engine_entry(void)
{
    static const ft_engine fake = {
        .abi = FT_ENGINE_ABI,
        .name = "fake",
        .policy = FT_POLICY_CHANNELS_LAST,
        .version = version,
        .score = score,
        .open = engine_open,
        .close = engine_close,
        .now = engine_now,
        .sync = engine_sync,
        .alloc = engine_alloc,
        .release = ft__host_release,
        .fill = ft__host_fill,
        .prepare = prepare,
        .run = run,
        .free_block = free_block,
        .device = engine_device,
    };

    return &fake;
}

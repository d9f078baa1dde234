/* Settings as text -> what they say of a chip: clocks, run mode, how it was measured.
 */
#include "physics/setting.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/pairs.h"

enum {
    CLOCK,
    MEMORY,
    POWER,
    N_OPERATING_POINT,
    OPTIMIZER = N_OPERATING_POINT,
    ACTIVATION,
    CACHE,
    PICKS,
    CALLS,
    LOOP,
    RUN_MODE,
    THREADS,
    CUDA,
    MIOPEN,
    N_NAMES
};
static const char *const names[N_NAMES] = {
    "clock", "memory", "power",    "optimizer", "activation", "cache", "picks",
    "calls", "loop",   "run_mode", "threads",   "cuda",       "miopen"};

/* reads: passes over parameters by TensorFlow 1, which has a kernel for each array that
 * it writes (Eigen's statements in its training_ops_gpu.cu.cc). */
static const struct optimizer {
    const char *name;
    double slots, reads;
} optimizers[] = {
    {"none", 0, 2},     {"sgd", 0, 2},     {"gradientdescent", 0, 2},
    {"momentum", 1, 4}, {"adagrad", 1, 5}, {"rmsprop", 2, 7},
    {"adadelta", 2, 9}, {"adam", 2, 7},    {"adamw", 2, 7},
};

static struct optimizer optimizer_of(const ft__pair_value *v)
{
    for (size_t i = 0; v->s && i < sizeof(optimizers) / sizeof(*optimizers); i++)
        if (strlen(optimizers[i].name) == v->len) {
            size_t j = 0;

            while (j < v->len && (v->s[j] | 32) == optimizers[i].name[j])
                j++;
            if (j == v->len)
                return optimizers[i];
        }
    return (struct optimizer){.slots = FT__UNNAMED_SLOTS, .reads = 4};
}

static bool is(const ft__pair_value *v, const char *word)
{
    return v->s && v->len == strlen(word) && memcmp(v->s, word, v->len) == 0;
}

static bool activated(const ft__pair_value *v)
{
    return v->s && !(v->len == 4 && (v->s[0] | 32) == 'n') && v->len > 0;
}

/* Its era: of cuBLAS before 8.0, before 8.0.88, or later, as those that no setting
 * names and what is no version. What follows the patch is ignored. */
static double cuda_era(const ft__pair_value *v)
{
    unsigned major, minor = 0, patch = 0;

    if (!v->s || sscanf(v->s, "%3u.%3u.%3u", &major, &minor, &patch) < 1)
        return INFINITY;
    if (major < 8)
        return 7.5;
    return major == 8 && minor == 0 && patch < 88 ? 8 : INFINITY;
}

/* v[]: of the first names. */
static ft__operating_point operating_point_of(const ft__pair_value *v)
{
    return (ft__operating_point){.clock_hz = ft__pair_value_number(&v[CLOCK]),
                                 .memory_hz = ft__pair_value_number(&v[MEMORY]),
                                 .power_w = ft__pair_value_number(&v[POWER])};
}

ft__operating_point ft__operating_point_of(const char *setting)
{
    ft__pair_value v[N_OPERATING_POINT];

    ft__pairs_find(v, setting, names, N_OPERATING_POINT);
    return operating_point_of(v);
}

static bool differs(double asked, double measured)
{
    return isfinite(asked) && !(fabs(asked - measured) <= 1e-3 * asked);
}

bool ft__operating_point_differs(const ft__operating_point *asked,
                                 const ft__operating_point *measured)
{
    return differs(asked->clock_hz, measured->clock_hz) ||
           differs(asked->memory_hz, measured->memory_hz) ||
           differs(asked->power_w, measured->power_w);
}

bool ft__setting_differs(const char *asked, const char *measured)
{
    const ft__operating_point a = ft__operating_point_of(asked),
                              b = ft__operating_point_of(measured);

    return ft__operating_point_differs(&a, &b);
}

bool ft__is_same_operating_point(const char *a, const char *b)
{
    const ft__operating_point of_a = ft__operating_point_of(a),
                              of_b = ft__operating_point_of(b);

    return !ft__operating_point_differs(&of_a, &of_b) &&
           !ft__operating_point_differs(&of_b, &of_a);
}

ft__chip_setting ft__setting_read(const char *setting)
{
    ft__pair_value v[N_NAMES];
    struct optimizer o;
    bool both, apart;

    ft__pairs_find(v, setting, names, N_NAMES);
    o = optimizer_of(&v[OPTIMIZER]);
    both = is(&v[RUN_MODE], "compiled-graph");
    apart = is(&v[CALLS], "single");
    return (ft__chip_setting){.at = operating_point_of(v),
                              .threads = ft__pair_value_number(&v[THREADS]),
                              .slots = o.slots,
                              .reads = v[ACTIVATION].s ? o.reads : 2 + o.slots,
                              .tensorflow = v[ACTIVATION].s != NULL,
                              .activated = activated(&v[ACTIVATION]),
                              .cuda = cuda_era(&v[CUDA]),
                              .early_miopen = ft__pair_value_number(&v[MIOPEN]) < 2,
                              .caches = is(&v[CACHE], "written"),
                              .packed = is(&v[CACHE], "packed"),
                              .masked = is(&v[PICKS], "all"),
                              .apart = apart,
                              .bare = apart || is(&v[CALLS], "library"),
                              .short_loop = is(&v[LOOP], "short"),
                              .graph = both || is(&v[RUN_MODE], "graph") ||
                                       is(&v[RUN_MODE], "cudagraphs"),
                              .fused = both || is(&v[RUN_MODE], "compiled")};
}

bool ft__is_same_library(const char *a, const char *b)
{
    return ft__setting_read(a).cuda == ft__setting_read(b).cuda;
}

bool ft__is_same_run_mode(const char *a, const char *b)
{
    return ft__setting_read(a).graph == ft__setting_read(b).graph;
}

double ft__loop_calls(const char *setting)
{
    const double calls = ft__pair_number(setting, "loop");

    return calls >= 1 ? calls : (double)NAN;
}

bool ft__is_same_loop(const char *a, const char *b)
{
    const double of_a = ft__loop_calls(a), of_b = ft__loop_calls(b);

    return of_a == of_b || (isnan(of_a) && isnan(of_b));
}

bool ft__has_default_hardware(const char *setting)
{
    ft__pair_value v[N_NAMES];
    size_t i = 0;

    ft__pairs_find(v, setting, names, N_NAMES);
    while (i < N_NAMES && (i == RUN_MODE || i == LOOP || i == PICKS || !v[i].s))
        i++;
    return i == N_NAMES;
}

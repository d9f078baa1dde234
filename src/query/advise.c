/* Commands that measure what was asked for. */
#include "query/advise.h"

#include <inttypes.h>
#include <string.h>

#include "base/pairs.h"

void ft__advise_option(ft__buf *b, const char *option, const char *value)
{
    if (!value)
        return;
    ft__buf_fmt(b, " %s ", option);
    ft__buf_word(b, value, strlen(value));
}

void ft__advise_count(ft__buf *b, const char *option, uint64_t n)
{
    if (n)
        ft__buf_fmt(b, " %s %" PRIu64, option, n);
}

/* What was asked for beside the model. */
static void add_shapes(ft__buf *b, const ft_query *q)
{
    ft__buf word = {0};

    for (size_t i = 0; i < q->n_dims; i++) {
        if (strcmp(q->dims[i].name, "once") == 0) /* every layer is run */
            continue;
        word.len = 0;
        ft__buf_fmt(&word, "%s=%" PRId64, q->dims[i].name, q->dims[i].value);
        ft__advise_option(b, "--dim", word.s);
    }
    for (size_t i = 0; i < q->n_inputs; i++) {
        const ft_input_shape *in = &q->inputs[i];
        const bool named = in->name && *in->name;

        word.len = 0;
        ft__buf_fmt(&word, "%s%s", named ? in->name : "", named ? "=" : "");
        for (uint32_t k = 0; k < in->shape.rank; k++)
            ft__buf_fmt(&word, "%s%" PRId64, k ? "x" : "", in->shape.dim[k]);
        ft__advise_option(b, "--input", word.s);
    }
    b->bad = b->bad || word.bad;
    ft__buf_free(&word);
}

/* Clocks and caps that are held while it is measured. */
static void add_operating_point(ft__buf *b, const char *setting)
{
    static const char *const of[][2] = {
        {"clock", "--clocks"}, {"memory", "--memory-clock"}, {"power", "--power-cap"}};

    for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
        size_t len;
        const char *value = ft__pair(setting, of[i][0], &len);

        if (!value)
            continue;
        ft__buf_fmt(b, " %s ", of[i][1]);
        ft__buf_word(b, value, len);
    }
}

bool ft__advise(ft__buf *b, const ft__question *a, const ft_graph *g, const char *verb)
{
    const bool training = g->mode == FT_MODE_TRAINING;
    const ft_query *q = &a->q;
    const char *model = q->model ? q->model : g->name;

    if (!*a->s.run_by || (training && strncmp(a->s.run_by, "torch", 5) != 0))
        return false;
    ft__buf_fmt(b, "foretell %s ", verb);
    ft__buf_word(b, model, strlen(model));
    ft__advise_option(b, "--engine", a->s.run_by);
    ft__advise_option(b, "--mode", q->mode);
    ft__advise_option(b, "--optimizer", q->optimizer);
    ft__advise_option(b, "--loss", q->loss);
    ft__advise_option(b, "--loss-on", q->loss_on);
    ft__advise_option(b, "--dtype", a->half ? "fp16" : q->dtype);
    ft__advise_count(b, "--threads", a->s.threads);
    ft__advise_count(b, "--batch", (uint64_t)q->batch);
    ft__advise_count(b, "--trips", (uint64_t)q->trips);
    add_shapes(b, q);
    add_operating_point(b, a->s.setting);
    return true;
}

/* A margin for rounding: ft__clock_under_cap() halves the range of clocks 24 times, by
 * which power is off by far less. */
static const double cap_rounding = 1.001;

ft__cap ft__cap_of(const ft_device *device, const char *setting, double power_w)
{
    const double cap_w = ft__pair_number(setting, "power");

    if (device && cap_w > cap_rounding * ft_device_get(device)->tdp_w)
        return FT__CAP_ABOVE;
    return power_w > cap_rounding * cap_w ? FT__CAP_BELOW : FT__CAP_HOLDS;
}

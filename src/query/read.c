/* The question, read and checked; its model, imported. */
#include <string.h>

#include "base/buf.h"
#include "base/pairs.h"
#include "foretell/version.h"
#include "graph/graph_inside.h"
#include "graph/op_inside.h"
#include "import/graph_inside.h"
#include "import/llm/llm.h"
#include "query/data.h"

/* Words of NAME=VALUE; clocks and caps are numbers above 0. */
static ft_status check_setting(const char *setting, ft_error *err)
{
    static const char *const driven[] = {"clock", "memory", "power"};
    size_t len;

    for (size_t i = 0; i < sizeof(driven) / sizeof(*driven); i++)
        if (ft__pair(setting, driven[i], &len) &&
            !(ft__pair_number(setting, driven[i]) > 0))
            return ft_fail(err, FT_EINVAL, 0,
                           "setting \"%.100s\": %s wants a number above 0, as in "
                           "clock=1200MHz memory=877MHz power=250W",
                           setting, driven[i]);
    for (const char *at = setting; at && *at;) {
        size_t name = strcspn(at, "= ");

        len = strcspn(at, " ");
        if (name == 0 || name + 1 >= len)
            return ft_fail(err, FT_EINVAL, 0,
                           "setting \"%.100s\": it wants words such as clock=1200MHz",
                           setting);
        for (const char *next = at; (next = strchr(next, ' '));)
            if (strncmp(++next, at, name + 1) == 0)
                return ft_fail(err, FT_EINVAL, 0,
                               "setting \"%.100s\": %.*s is twice in it", setting,
                               (int)name, at);
        at += len + (at[len] == ' ');
    }
    return FT_OK;
}

static ft_status check_run_mode(const char *mode, ft_error *err)
{
    if (!mode || ft__run_mode_find(mode, strlen(mode)) != FT__NO_RUN_MODE)
        return FT_OK;
    return ft_fail(
        err, FT_EINVAL, 0,
        "--run-mode is eager, compiled, graph, compiled-graph or cudagraphs, not "
        "\"%s\"",
        mode);
}

static ft_status check_policy(const char *policy, ft_error *err)
{
    if (!policy || strcmp(policy, "default") == 0 || strcmp(policy, "tf32") == 0 ||
        strcmp(policy, "ieee") == 0)
        return FT_OK;
    return ft_fail(err, FT_EINVAL, 0, "--policy is default, tf32 or ieee, not \"%s\"",
                   policy);
}

/* Many settings, or many lists, in place of one. */
static ft_status check_many(const ft_query *q, ft_error *err)
{
    const bool lists = q->n_lists, settings = q->n_settings;

    if (!lists && !settings)
        return FT_OK;
    if (q->run_mode && strncmp(q->run_mode, "compiled", 8) == 0)
        return ft_fail(err, FT_EINVAL, 0,
                       "--run-mode %s: operations are fused in one network at one "
                       "setting, not in many",
                       q->run_mode);
    if ((lists && settings) || q->max_batch || (settings && q->setting))
        return ft_fail(err, FT_EINVAL, 0,
                       "ft_query: many settings, or many lists, and neither with the "
                       "largest batch nor with another setting");
    if (lists && (q->model || q->graph || q->list || q->batch || q->n_dims ||
                  q->n_inputs || q->dtype || q->mode || q->correct))
        return ft_fail(
            err, FT_EINVAL, 0,
            "ft_query: lists have their sizes in their lines: no other model, "
            "no batch, type, mode or measurements go with them");
    return FT_OK;
}

ft_status ft__read_sized(void *out, size_t size, const void *in, const char *type,
                         const char *init, ft_error *err)
{
    const unsigned char *byte = in;
    size_t given;

    memset(out, 0, size);
    memcpy(&given, in, sizeof(given));
    if (given < sizeof(given))
        return ft_fail(err, FT_EINVAL, 0, "%s: begin with %s", type, init);
    for (size_t i = size; i < given; i++)
        if (byte[i])
            return ft_fail(err, FT_EINVAL, 0,
                           "%s: a field is set that foretell %s does not know", type,
                           ft_version());
    memcpy(out, in, given < size ? given : size);
    return FT_OK;
}

ft_status ft__query_read(ft_query *out, const ft_query *q, ft_error *err)
{
    ft_status st =
        ft__read_sized(out, sizeof(*out), q, "ft_query", "FT_QUERY_INIT", err);

    if (st)
        return st;
    out->size = sizeof(*out);
    st = check_setting(out->setting, err);
    for (size_t i = 0; i < out->n_settings && !st; i++)
        st = check_setting(out->settings[i], err);
    if (!st)
        st = check_run_mode(out->run_mode, err);
    if (!st && out->host &&
        (!*out->host || strchr(out->host, ' ') || strlen(out->host) > 100))
        st = ft_fail(err, FT_EINVAL, 0,
                     "--host wants a name without blanks, not \"%.100s\"", out->host);
    if (!st && out->launch_s != 0 && !(out->launch_s >= 1e-9 && out->launch_s < 1))
        st = ft_fail(err, FT_EINVAL, 0,
                     "the host takes microseconds for a launch, such as 9us: not %g s",
                     out->launch_s);
    if (!st)
        st = check_many(out, err);
    return st ? st : check_policy(out->policy, err);
}

ft_status ft__query_step(ft_step *out, const ft_query *q, ft_error *err)
{
    const ft_step_names names = {q->mode, q->optimizer, q->loss, q->loss_on};

    return ft_step_read(out, &names, err);
}

/* Behind "amp-", in which products are computed; NULL: no mixed precision. */
static const char *mixed(const char *dtype)
{
    return strncmp(dtype, "amp-", 4) == 0 ? dtype + 4 : NULL;
}

static ft_status check_dtype(const char *dtype, ft_error *err)
{
    const char *narrow = mixed(dtype);

    if (narrow ? strcmp(narrow, "fp16") == 0 || strcmp(narrow, "bf16") == 0
               : ft__dtype_from_name(dtype, strlen(dtype)) != FT_DTYPE_NONE)
        return FT_OK;
    if (strcmp(dtype, "fp8") == 0)
        return ft_fail(err, FT_EINVAL, 0,
                       "networks are predicted in fp64, fp32, fp16 or bf16, not in "
                       "fp8, which weights of a language model's config.json may have");
    if (strcmp(dtype, "tf32") == 0)
        return ft_fail(
            err, FT_EINVAL, 0,
            "TF32 is how products of fp32 are computed, not a type: --policy "
            "tf32 (all products), default (convolutions) or ieee (none)");
    return narrow
               ? ft_fail(err, FT_EINVAL, 0,
                         "mixed precision is amp-bf16 or amp-fp16, not \"%s\"", dtype)
               : ft_fail(err, FT_EINVAL, 0,
                         "there is no element type \"%s\": fp64, fp32, fp16, bf16, "
                         "amp-bf16, amp-fp16",
                         dtype);
}

/* `made` in place of *g. */
static void take(ft_graph **g, ft_graph *made)
{
    ft_graph_free(*g);
    *g = made;
}

/* In place of *g. */
static ft_status cast(ft_graph **g, const char *dtype, ft_error *err)
{
    const char *narrow = mixed(dtype), *to = narrow ? "fp32" : dtype;
    ft_graph *made;
    ft_status st = FT_OK;

    if (!narrow || ft__graph_dtype(*g) != FT_DTYPE_fp32) {
        st = ft__graph_cast(&made, *g, ft__dtype_from_name(to, strlen(to)), err);
        take(g, made);
    }
    if (st || !narrow)
        return st;
    st = ft__graph_amp(&made, *g, ft__dtype_from_name(narrow, strlen(narrow)), err);
    take(g, made);
    return st;
}

static ft_status import(ft_graph **out, const ft_query *q, const ft__llm *read,
                        ft_error *err)
{
    const ft_import_options how = {.batch = q->batch,
                                   .dims = q->dims,
                                   .n_dims = q->n_dims,
                                   .inputs = q->inputs,
                                   .n_inputs = q->n_inputs,
                                   .trips = q->trips};

    if (read)
        return ft__llm_step_of(out, read, ft__base_name(q->model), &how, err);
    if (!q->list)
        return ft__import_file(out, q->model, &how, err);
    if (q->batch || q->n_dims || q->n_inputs)
        return ft_fail(err, FT_EINVAL, 0,
                       "%s: a list of operations has its sizes in its lines: --batch, "
                       "--dim and --input do not apply",
                       q->model);
    return ft_import_ops(out, q->list, q->list_len, q->model, err);
}

/* Nothing is missing here: the file holds what is not taken. */
static ft_status as_format(ft_status st)
{
    return st == FT_EUNSUPPORTED ? FT_EFORMAT : st;
}

static ft_status check_model(const ft_query *q, ft_error *err)
{
    return q->model ? FT_OK
                    : ft_fail(err, FT_EINVAL, 0, "ft_query: there is no model%s",
                              q->list ? ", which names the list" : "");
}

ft_status ft__query_read_llm(ft__llm *out, const ft_query *q, ft_error *err)
{
    ft_status st = check_model(q, err);

    out->layers = 0; /* no language model */
    if (!st && !q->list)
        st = ft__import_read_llm(out, q->model, err);
    if (!st && !out->layers)
        st = ft_fail(err, FT_EINVAL, 0,
                     "%s: only language models (a config.json or GGUF file) are served",
                     q->model);
    return as_format(st);
}

ft_status ft_query_import(ft_graph **out, const ft_query *q, ft_error *err)
{
    return ft__query_import(out, q, NULL, err);
}

ft_status ft__query_import(ft_graph **out, const ft_query *asked, const ft__llm *read,
                           ft_error *err)
{
    ft_query q;
    ft_status st = ft__query_read(&q, asked, err);

    *out = NULL;
    if (!st)
        st = check_model(&q, err);
    if (!st && q.dtype)
        st = check_dtype(q.dtype, err);
    if (!st)
        st = import(out, &q, read, err);
    if (!st && q.dtype)
        st = cast(out, q.dtype, err);
    return as_format(st);
}

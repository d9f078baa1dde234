/* The question about one launch of a kernel. */
#include "foretell/kernels.h"

#include <math.h>
#include <string.h>

#include "predict/model/kernels.h"
#include "query/data.h"

static ft_status read_query(ft_kernel_query *out, const ft_kernel_query *q,
                            ft_error *err)
{
    ft_status st = ft__read_sized(out, sizeof(*out), q, "ft_kernel_query",
                                  "FT_KERNEL_QUERY_INIT", err);

    if (st)
        return st;
    if (!out->device || !out->launch || !out->counts)
        return ft_fail(err, FT_EINVAL, 0,
                       "ft_kernel_query: device, launch or counts are missing");
    if (!out->launch->module)
        return ft_fail(err, FT_EINVAL, 0,
                       "a library's call has no kernel to ask about");
    if (out->method && strcmp(out->method, "physics") != 0)
        return ft_fail(err, FT_EINVAL, 0,
                       "the method of kernels is physics, not \"%s\"", out->method);
    if (out->method && (out->predictor || out->loaded))
        return ft_fail(err, FT_EINVAL, 0, "the method %s uses no predictor",
                       out->method);
    return FT_OK;
}

/* The first that has kernels in PTX, the user's own before others; *out NULL: none. */
static ft_status find_kernels(const ft_predictor **out, const char **path, ft_data *d,
                              ft_error *err)
{
    const ft__families *f;
    ft_status st;

    *out = NULL;
    *path = "";
    st = ft__data_families(&f, d, err);
    for (size_t i = 0; !st && i < f->n && !*out; i++) {
        ft_predictor_info info;

        ft_predictor_get_info(f->predictor[i]->thing, &info);
        if (!info.n_launches)
            continue;
        *out = f->predictor[i]->thing;
        *path = f->predictor[i]->asked;
    }
    return st;
}

/* The one that is named, otherwise the best there is. */
static ft_status find_predictor(const ft_predictor **out, const char **path, ft_data *d,
                                const ft_kernel_query *q, ft_error *err)
{
    ft_predictor_info info;
    ft_status st = FT_OK;

    *path = q->predictor ? q->predictor : "";
    *out = q->loaded;
    if (q->method)
        return FT_OK;
    if (!q->loaded && !q->predictor)
        return d ? find_kernels(out, path, d, err) : FT_OK;
    if (!q->loaded)
        st = d ? ft__data_predictor(out, d, q->predictor, err)
               : ft_fail(err, FT_EINVAL, 0, "%s: there is no ft_data to keep it",
                         q->predictor);
    if (st)
        return st;
    ft_predictor_get_info(*out, &info);
    return info.n_launches
               ? FT_OK
               : ft_fail(
                     err, FT_ENOTFOUND, 0,
                     "%s has nothing of kernels; foretell train --kernels makes one "
                     "that has",
                     *path);
}

/* Intervals are calibrated on launches whose parameters are all known. Where one is not
 * and decides what is executed, they reach as far as the counts do. */
static void widen(ft_kernel_estimate *out, const ft_ptx_counts *c)
{
    double value = 0, low = 0, high = 0;

    for (int i = 0; i < FT_PTX_CLASSES; i++) {
        value += (double)c->warp[i].value;
        low += (double)c->warp[i].low;
        high += c->warp[i].high == UINT64_MAX ? INFINITY : (double)c->warp[i].high;
    }
    if (!(value > 0))
        return;
    out->time.low *= low / value;
    out->time.high *= high / value;
    out->energy.low *= low / value;
    out->energy.high *= high / value;
}

ft_status ft_kernel_ask(ft_kernel_estimate *out, ft_data *d,
                        const ft_kernel_query *asked, ft_error *err)
{
    const ft_predictor *p = NULL;
    const char *path = "";
    ft_kernel_query q;
    ft_status st = read_query(&q, asked, err);

    if (!st)
        st = find_predictor(&p, &path, d, &q, err);
    if (!st)
        st = ft__predict_kernel(out, p, &q, err);
    if (!st && q.launch->n_open && !q.counts->exact)
        widen(out, q.counts);
    if (!st)
        out->predictor = p ? path : "";
    return st;
}

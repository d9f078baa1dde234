/* The question about one launch of a kernel. */
#include "foretell/kernels.h"

#include <math.h>
#include <string.h>

#include "foretell/version.h"
#include "predict/kernels_inside.h"

static ft_status read_query(ft_kernel_query *out, const ft_kernel_query *q,
                            ft_error *err)
{
    const unsigned char *byte = (const void *)q;

    *out = (ft_kernel_query){0};
    if (q->size < sizeof(q->size))
        return ft_fail(err, FT_EINVAL, 0,
                       "ft_kernel_query: begin with FT_KERNEL_QUERY_INIT");
    for (size_t i = sizeof(*out); i < q->size; i++)
        if (byte[i])
            return ft_fail(err, FT_EINVAL, 0,
                           "ft_kernel_query: a field is set that foretell %s does not "
                           "know",
                           ft_version());
    memcpy(out, q, q->size < sizeof(*out) ? q->size : sizeof(*out));
    if (!out->device || !out->module || !out->counts)
        return ft_fail(err, FT_EINVAL, 0,
                       "ft_kernel_query: device, module or counts are missing");
    return FT_OK;
}

ft_status ft_kernel_ask(ft_kernel_estimate *out, uint32_t *registers,
                        const ft_kernel_query *asked, ft_error *err)
{
    ft_kernel_query q;
    ft_kernel_work work;
    ft_kernel_space space;
    ft_status st = read_query(&q, asked, err);

    if (st)
        return st;
    space = (ft_kernel_space){.registers = (uint32_t)q.registers,
                              .shared_bytes = q.shared_bytes,
                              .distinct_bytes = q.distinct_bytes,
                              .block_bytes = q.block_bytes};
    if (!space.registers)
        st = ft_ptx_registers(&space.registers, q.module, (uint32_t)q.kernel, err);
    if (registers)
        *registers = space.registers;
    if (st)
        return st;
    ft_kernel_work_make(&work, q.counts, &space);
    return ft__kernel_predict(out, q.learned, &work, q.device,
                              q.call_s > 0 ? q.call_s : (double)NAN, err);
}

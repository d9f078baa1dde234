#ifndef PREDICT_KERNELS_INSIDE_H
#define PREDICT_KERNELS_INSIDE_H

#include "foretell/kernels.h"

/* learned: NULL for the physical estimate with its default constants. call_s: what the
 * host needs for a call where launches are timed one by one from there; NaN: they
 * follow each other without a gap. FT_EUNSUPPORTED: not a GPU of NVIDIA's;
 * FT_ENOTFOUND: its file lacks what is needed. */
ft_status ft__kernel_predict(ft_kernel_estimate *out, const ft_kernels *learned,
                             const ft_kernel_work *work, const ft_device_facts *device,
                             double call_s, ft_error *err);
void ft__kernels_free(ft_kernels *k);
/* FT_EIO: not there; FT_EFORMAT: damaged, or of another version. */
ft_status ft__kernels_load(ft_kernels **out, const char *path, ft_error *err);
/* FT_EIO: not there; FT_EFORMAT: damaged, or of another version. */
ft_status ft__kernels_save(const ft_kernels *k, const char *path, ft_error *err);
/* FT_ENOTFOUND: too few rows, of fewer than two devices (kernels). */
ft_status ft__kernels_train(ft_kernels **out, const ft_kernel_row *row, size_t n,
                            const ft_kernels_options *opt, ft_error *err);

#endif

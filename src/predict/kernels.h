#ifndef PREDICT_KERNELS_H
#define PREDICT_KERNELS_H

#include <stdbool.h>

#include "predict/fit.h"
#include "predict/kernel.h"
#include "predict/kernels_inside.h"

struct ft_kernels {
    ft__kernel_theta theta;
    ft__hosts hosts;
    ft__fit fit;          /* of log(time / estimate) */
    int of_gpu;           /* its columns have the GPU's */
    unsigned char *bytes; /* of a file: what the fit's models lie in */
};
/* As ft__kernels_load(), from bytes that are copied. */
ft_status ft__kernels_load_image(ft_kernels **out, const void *image, size_t len,
                                 ft_error *err);

typedef struct ft__names {
    char **v;
    uint32_t n;
} ft__names;
void ft__names_free(ft__names *names);

/* Measured launches, devices, kernels and calls by number. */
typedef struct ft__launches {
    const ft_kernel_row *row; /* borrowed */
    size_t n;
    uint32_t *device, *kernel, *call; /* of each; UINT32_MAX: no call */
    ft__gpu *gpu;                     /* of each device */
    ft__names devices, kernels, calls;
} ft__launches;
ft_status ft__launches_make(ft__launches *out, const ft_kernel_row *row, size_t n,
                            ft_error *err);
void ft__launches_free(ft__launches *s);
/* known[devices x calls]: logarithms of what the smallest launches of each call take,
 * NaN where the device has none among those of use[] or is busy all the while. */
ft_status ft__launches_calls(double *known, const ft__launches *s, const char *use,
                             ft_error *err);

/* What a call keeps the host busy, s. guessed: nothing is known of that host. */
double ft__hosts_call(const ft__hosts *h, uint32_t device, uint32_t call,
                      bool *guessed);

/* From the rows of use[]; what is known of hosts may be more than they tell. */
ft_status ft__kernels_learn(ft_kernels **out, const ft__launches *s, const char *use,
                            const double *known, const ft_kernels_options *opt,
                            ft_error *err);
/* On a GPU, `launches` of them for a call of call_s, which may be off by e^low to
 * e^high: time, power and energy. */
typedef struct ft__kernel_call {
    double launches, call_s, low, high;
} ft__kernel_call;
void ft__kernels_ask(ft_kernel_estimate *out, const ft_kernels *k,
                     const ft_kernel_work *work, const ft__gpu *gpu,
                     const ft__kernel_call *call);

#endif

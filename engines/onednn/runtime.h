#ifndef ONEDNN_RUNTIME_H
#define ONEDNN_RUNTIME_H

#include <stdint.h>

/* The OpenMP runtime that libdnnl brings, and the floating-point mode. The
 * number of threads belongs to the calling thread, so that every entry into
 * the engine sets it and every exit gives it back. */
typedef struct ft__guard {
    int threads;
    uint32_t mode;
} ft__guard;

/* From here on this thread treats denormals as zero: products of small
 * activations reach them in deep chains, and an operation that is a hundred
 * times slower for its values would not be a function of its shape. */
void ft__enter(ft__guard *g, uint32_t threads);
void ft__leave(const ft__guard *g);
/* Start the pool and set the same mode in every worker. How many threads there
 * really are: kernels of oneDNN leave work undone when they get fewer than they
 * were made for. */
uint32_t ft__start_workers(uint32_t threads);

/* Split 0 .. n-1 into one range per thread, as long as each is worth it: an
 * index stands for `work` elements. */
void ft__parallel(uint32_t threads, int64_t n, int64_t work,
                  void (*body)(void *arg, int64_t begin, int64_t end), void *arg);

#endif

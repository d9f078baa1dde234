#include "runtime.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* Found in whatever OpenMP runtime libdnnl was linked with; compiling with
 * -fopenmp could bring a second one. Absent: libdnnl is sequential, so are we. */
#define WEAK __attribute__((weak))
extern WEAK void omp_set_num_threads(int n);
extern WEAK void omp_set_dynamic(int on);
extern WEAK int omp_get_max_threads(void);
extern WEAK int omp_get_thread_num(void);
extern WEAK int omp_get_num_threads(void);
extern WEAK void GOMP_parallel(void (*fn)(void *), void *arg, unsigned threads,
                               unsigned flags);

enum { GRAIN = 1 << 15 }; /* elements below which a second thread costs more */

#if defined(__x86_64__)
static uint32_t flush_denormals(void)
{
    uint32_t old = _mm_getcsr();

    _mm_setcsr(old | 0x8040u); /* flush to zero, denormals are zero */
    return old;
}

static void restore(uint32_t mode)
{
    _mm_setcsr(mode);
}
#else
static uint32_t flush_denormals(void)
{
    return 0;
}

static void restore(uint32_t mode)
{
    (void)mode;
}
#endif

void ft__enter(ft__guard *g, uint32_t threads)
{
    g->mode = flush_denormals();
    g->threads = omp_get_max_threads ? omp_get_max_threads() : 1;
    if (omp_set_num_threads) {
        omp_set_num_threads((int)threads);
        omp_set_dynamic(0);
    }
}

void ft__leave(const ft__guard *g)
{
    if (omp_set_num_threads)
        omp_set_num_threads(g->threads);
    restore(g->mode);
}

static void flush_in_worker(void *arg)
{
    uint32_t *there = arg;

    if (omp_get_thread_num() == 0)
        *there = (uint32_t)omp_get_num_threads();
    else
        (void)flush_denormals();
}

uint32_t ft__start_workers(uint32_t threads)
{
    uint32_t there = 1;

    if (GOMP_parallel && threads > 1)
        GOMP_parallel(flush_in_worker, &there, threads, 0);
    return there;
}

typedef struct team {
    int64_t n;
    void (*body)(void *arg, int64_t begin, int64_t end);
    void *arg;
} team;

static void work_share(void *arg)
{
    const team *t = arg;
    int64_t i = omp_get_thread_num(), of = omp_get_num_threads();

    t->body(t->arg, t->n * i / of, t->n * (i + 1) / of);
}

void ft__parallel(uint32_t threads, int64_t n, int64_t work,
                  void (*body)(void *arg, int64_t begin, int64_t end), void *arg)
{
    team t = {n, body, arg};
    int64_t worth = n * work / GRAIN;

    if (worth < threads)
        threads = (uint32_t)worth;
    if (n < threads)
        threads = (uint32_t)n;
    if (threads > 1 && GOMP_parallel)
        GOMP_parallel(work_share, &t, threads, 0);
    else
        body(arg, 0, n);
}

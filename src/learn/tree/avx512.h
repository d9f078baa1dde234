#ifndef LEARN_TREE_AVX512_H
#define LEARN_TREE_AVX512_H

#include <stdbool.h>

#if defined(__x86_64__)

#include <immintrin.h>

#define FT__AVX512 __attribute__((target("avx512f,avx512vl,avx512dq")))
#define FT__INLINE_AVX512 FT__AVX512 __attribute__((always_inline)) static inline

/* Whether there is AVX-512 that fetches many values fast: processors without bfloat16
 * do not since the mitigation of Gather Data Sampling (CVE-2022-40982); plain code is
 * faster there. */
static inline bool ft__has_avx512(void)
{
    return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bf16");
}

#endif

#endif

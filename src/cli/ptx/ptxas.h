#ifndef CLI_PTXAS_H
#define CLI_PTXAS_H

#include "cli/cli.h"
#include "foretell/ptx_launches.h"

/* What NVIDIA's assembler says of kernels, where it is on PATH. Nothing it makes is
 * kept, and without it, or where it refuses, there is no answer but no failure. */

typedef struct ft__ptxas_entry {
    char arch[16];                      /* what it was assembled for, "sm_80" */
    uint32_t registers;                 /* of a thread */
    uint64_t stack_bytes;               /* of a thread */
    uint64_t spill_stores, spill_loads; /* bytes, in the code, not executed ones */
    uint64_t shared_bytes;              /* of a block, without dynamic ones */
} ft__ptxas_entry;

/* Launches whose kernels will be asked about; borrowed. */
typedef struct ft__ptxas ft__ptxas;
/* NULL: out of memory. capability: of the GPU, 8.0. limit_s: for all of them. */
ft__ptxas *ft__ptxas_new(ft__cli *c, const ft_ptx_listed *v, size_t n,
                         double capability, double limit_s);
void ft__ptxas_free(ft__ptxas *p);
bool ft__ptxas_found(const ft__ptxas *p); /* there is one */
/* Of the kernel of one of the launches; NULL: it says nothing. Assembles all kernels of
 * its module that are launched, once; what goes wrong goes to the log. */
const ft__ptxas_entry *ft__ptxas_ask(ft__ptxas *p, const ft_ptx_listed *launch);

/* ---- ptxas_run.c ---- */
typedef enum ft__ran {
    FT__RAN_GOOD,
    FT__RAN_REFUSED, /* its exit code is not 0 */
    FT__RAN_LATE,
    FT__RAN_LOUD, /* it prints without end */
    FT__RAN_NOT,  /* it cannot be started: errno says why */
} ft__ran;
/* argv[0] is a path; `in` is what stands on its standard input, a file. *out is what it
 * prints, terminated, for the caller to free; NULL: FT__RAN_NOT. */
ft__ran ft__ptxas_run(char **out, char *const argv[], const char *in, size_t len,
                      double limit_s);

#endif

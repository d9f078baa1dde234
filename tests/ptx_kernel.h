#ifndef PTX_KERNEL_H
#define PTX_KERNEL_H

#include "ptx/ptx_inside.h"

/* A kernel in text, to be launched, counted and run. */

#define HEAD ".version 8.3\n.target sm_90\n.address_size 64\n"
#define KERNEL(params, body)                                                           \
    HEAD ".entry k(" params ")\n{\n"                                                   \
         ".reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<32>;\n"                    \
         ".reg .b64 %d<16>;\n.reg .f32 %f<16>;\n" body "}\n"
#define TID "mov.u32 %r0, %tid.x;\n"
/* %r1: number of the thread in the grid. */
#define INDEX                                                                          \
    TID "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"                              \
        "mad.lo.s32 %r1, %r2, %r3, %r0;\n"

enum { ARGS = 4 };

typedef struct kernel {
    ft_ptx *m;
    ft__ptx_counter *c;
    ft_ptx_launch launch;
    ft_ptx_arg arg[ARGS];
    ft_ptx_counts n;
    ft_error err;
    ft_status st;
} kernel;

/* Parsed, with one row of blocks and of threads. */
void begin(kernel *k, const char *text, uint32_t grid, uint32_t block);
/* The text with something else for '?'. */
void begin_with(kernel *k, const char *text, const char *with, uint32_t grid,
                uint32_t block);
void give(kernel *k, uint32_t index, const void *bytes, uint32_t size);
void count(kernel *k);
void end(kernel *k);
/* Counts as running gives them, where all of that is known. */
void check_ran(kernel *k);
/* Is it known to be n? Says so if not. */
int is(const ft_ptx_tally *t, uint64_t n);

#endif

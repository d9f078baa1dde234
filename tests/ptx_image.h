#ifndef PTX_IMAGE_H
#define PTX_IMAGE_H

#include <stdlib.h>
#include <string.h>

#include "launches.h"
#include "ptx_interpret/interpret.h"

/* A launch of a launch file with its memory filled, ready to be run thread by thread.
 */

typedef struct image {
    ft__ptx_memory memory[LAUNCH_PARAMS];
    uint64_t address[LAUNCH_PARAMS];
    ft_ptx_arg arg[LAUNCH_PARAMS];
    uint32_t n_memory;
    ft_ptx_launch launch;
} image;

static inline void image_prepare(image *im, const launch *l)
{
    memset(im, 0, sizeof *im);
    for (uint32_t i = 0; i < l->n_args; i++) {
        const argument *a = &l->arg[i];

        im->arg[i] = (ft_ptx_arg){.index = i, .bytes = a->bytes, .size = a->size};
        if (a->memory) {
            ft__ptx_memory *m = &im->memory[im->n_memory++];

            *m =
                (ft__ptx_memory){(uint64_t)(i + 1) << 36, malloc(a->memory), a->memory};
            fill_bytes(m->bytes, a->memory, 0, &a->fill);
            im->address[i] = m->address + a->offset;
            im->arg[i].bytes = &im->address[i];
            im->arg[i].size = sizeof im->address[i];
        }
    }
    im->launch = (ft_ptx_launch){.kernel = l->kernel,
                                 .dynamic_shared = l->shared,
                                 .arg = im->arg,
                                 .n_args = l->n_args};
    memcpy(im->launch.grid, l->grid, sizeof l->grid);
    memcpy(im->launch.block, l->block, sizeof l->block);
}

static inline void image_drop(image *im)
{
    for (uint32_t i = 0; i < im->n_memory; i++)
        free(im->memory[i].bytes);
}

/* Is launch i one of those that are run: of each kernel the first, and each every-th?
 * (A file may list kernels in turn, so that each every-th row would miss some.) */
static inline int launch_is_run(const launches *all, size_t i, size_t every)
{
    size_t before = 0;

    for (size_t k = 0; k < i; k++)
        before += strcmp(all->row[k].kernel, all->row[i].kernel) == 0 &&
                  strcmp(all->row[k].module, all->row[i].module) == 0;
    return before % every == 0;
}

#endif

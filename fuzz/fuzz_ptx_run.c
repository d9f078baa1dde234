#include <stdlib.h>
#include <string.h>

#include "ptx_interpret/interpret.h"
#include "ptx/ptx_inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES = 4096, ARGS = 8 };

/* Whatever the module: its first kernel runs or is refused, in few steps, and what ran
 * can be counted. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t address = (uint64_t)1 << 32;
    ft_ptx_launch l = {.grid = {2, 1, 1}, .block = {40, 1, 1}, .dynamic_shared = 64};
    ft__ptx_run_options opt = {.n_memory = 1, .most_steps = 2000};
    ft__ptx_memory memory = {.address = address, .size = BYTES};
    ft_ptx_arg arg[ARGS];
    const ft_ptx_kernel *k;
    ft_ptx_counter *counter = NULL;
    ft_ptx_counts c;
    ft_ptx *m;

    if (ft__ptx_parse(&m, (const char *)data, size, "fuzz", NULL))
        return 0;
    memory.bytes = calloc(BYTES, 1);
    opt.memory = &memory;
    k = ft_ptx_get(m)->kernel;
    if (ft_ptx_get(m)->n_kernels > 0 && memory.bytes != NULL) {
        l.kernel = k[0].name;
        l.arg = arg;
        for (; l.n_args < ARGS && l.n_args < k[0].n_params; l.n_args++)
            arg[l.n_args] = (ft_ptx_arg){
                .index = l.n_args,
                .bytes = &address,
                .size = k[0].param[l.n_args].size < 8 ? k[0].param[l.n_args].size : 8};
        if (ft__ptx_run(&c, m, &l, &opt, NULL) == FT_OK &&
            ft__ptx_counter_new(&counter, m, NULL) == FT_OK)
            ft__ptx_count(&c, counter, &l, NULL);
    }
    ft__ptx_counter_free(counter);
    free(memory.bytes);
    ft__ptx_free(m);
    return 0;
}

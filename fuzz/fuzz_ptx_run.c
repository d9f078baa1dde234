#include <stdlib.h>

#include "foretell/ptx.h"
#include "ptx/ptx_inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARGS = 8, MOST_TEXT = 1 << 16 };

static void count(const ft_ptx *m, const ft_ptx_kernel *k)
{
    static const uint64_t address = (uint64_t)1 << 32;
    ft_ptx_launch l = {.kernel = k->name,
                       .grid = {3, 2, 1},
                       .block = {40, 1, 1},
                       .dynamic_shared = 64};
    ft_ptx_arg arg[ARGS];
    ft__ptx_counter *counter = NULL;
    ft__ptx_parts parts;
    ft_ptx_counts c;

    l.arg = arg;
    for (; l.n_args < ARGS && l.n_args < k->n_params; l.n_args++)
        arg[l.n_args] = (ft_ptx_arg){
            .index = l.n_args,
            .bytes = &address,
            .size = k->param[l.n_args].size < 8 ? k->param[l.n_args].size : 8};
    if (ft__ptx_counter_new(&counter, m, NULL) == FT_OK &&
        ft__ptx_count(&c, &parts, counter, &l, NULL) == FT_OK) {
        if (c.exact && c.warp[FT_PTX_INT].low != c.warp[FT_PTX_INT].high)
            abort();
        for (size_t n = parts.n_blocks; n-- > 0;)
            if (parts.block[n].warp.low > parts.block[n].warp.high)
                abort();
        for (size_t n = parts.n_accesses; n-- > 0;)
            if (parts.access[n].requests.low > parts.access[n].requests.high)
                abort();
    }
    ft__ptx_counter_free(counter);
}

/* Whatever the module, also one that no assembler takes: its first kernel is counted or
 * refused, and has registers. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t registers;
    ft_ptx *m;

    if (size > MOST_TEXT || ft__ptx_parse(&m, (const char *)data, size, "fuzz", NULL))
        return 0;
    if (ft_ptx_get(m)->n_kernels > 0) {
        count(m, &ft_ptx_get(m)->kernel[0]);
        ft_ptx_registers(&registers, m, 0, NULL);
    }
    ft__ptx_free(m);
    return 0;
}

#include <string.h>

#include "check.h"
#include "ptx/ptx_inside.h"
#include "ptx_interpret/interpret.h"
#include "ptx_random.h"
#include "refuse.h"

/* Whichever allocation is refused, running says that memory is short and gives back
 * what it had. */
static void running_short_of_memory_is_told(uint64_t seed)
{
    static uint8_t bytes[PTX_RANDOM_BYTES];
    ft__ptx_memory memory = {.bytes = bytes, .size = sizeof bytes};
    const ft__ptx_run_options opt = {
        .memory = &memory, .n_memory = 1, .most_steps = 1 << 20};
    ft_ptx_counts c;
    ft_error err = {0};
    ft_status st = FT_ENOMEM;
    ptx_random p;
    ft_ptx *m;
    int n = 0;

    CHECK(ptx_random_make(&p, seed, 20, 0));
    memory.address = p.address;
    CHECK_EQ(ft__ptx_parse(&m, p.text, strlen(p.text), "random", &err), FT_OK);
    for (; st == FT_ENOMEM && n < 100000; n++) {
        allocs_left = n + 1;
        st = ft__ptx_run(&c, m, &p.launch, &opt, &err);
        allocs_left = -1;
        CHECK(EQ(st, FT_OK) || (EQ(st, FT_ENOMEM) && HAS(err.msg, "out of memory")));
    }
    CHECK(EQ(st, FT_OK) && CMP(n, >, 20));
    ft__ptx_free(m);
    ptx_random_free(&p);
}

int main(void)
{
    for (uint64_t seed = 0; seed < 4; seed++)
        running_short_of_memory_is_told(seed);
    CHECK_DONE();
}

/* Let one allocation after the other fail while kernels are learned from, kept and read
 * again: every failure must come back as FT_ENOMEM and leak nothing (run under ASan).
 */
#include <stdio.h>

#include "check.h"
#include "kernel_rows.h"
#include "predict/train/train.h"
#include "refuse.h"

static ft_status once(const struct rows *r)
{
    static const char path[] = "test_kernels_oom.ftp";
    const ft__kernels_options opt = {.seed = 1, .threads = 1};
    ft_predictor *p = NULL, *again = NULL;
    ft_status st = ft__family_of_kernels(&p, r->row, NULL, r->n, &opt, NULL);

    CHECK_EQ((st == FT_OK), (p != NULL));
    if (!st)
        st = ft_predictor_save(p, path, NULL);
    if (!st)
        st = ft_predictor_load(&again, path, NULL);
    allocs_left = -1;
    ft_predictor_free(p);
    ft_predictor_free(again);
    remove(path);
    return st;
}

int main(void)
{
    static struct rows r;
    const ft__kernel_params theta = ft__kernel_default();
    ft_status st = FT_ENOMEM;
    int n = 0;

    make_rows(&r, 3, 4, &theta, 1, 0.2);
    for (n = 1; st != FT_OK && n < 100000; n += 1 + n / 8) {
        allocs_left = n;
        st = once(&r);
        /* A file that cannot be opened for want of memory is not there. */
        CHECK(EQ(st, FT_OK) || EQ(st, FT_ENOMEM) || EQ(st, FT_EIO));
    }
    CHECK(EQ(st, FT_OK) && CMP(n, >, 50));
    CHECK_DONE();
}

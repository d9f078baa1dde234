#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/predictor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the bytes: refused cleanly, or a predictor that answers. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const specs[] = {
        "conv2d x=1x16x28x28 out=32 kernel=3x3 stride=1x1 pad=1x1 layout=channels_last",
        "linear x=1x128 out=10", "relu x=1x16", "softmax x=2x10 axis=1"};
    enum { N = sizeof(specs) / sizeof(*specs) };
    void *copy = malloc(size ? size : 1);
    ft_estimate time[N], workspace[N];
    ft_regressor_info r;
    ft_predictor_info info;
    ft_predictor *p;
    ft_op ops[N];

    if (!copy)
        return 0;
    /* malloc's alignment is what a mapped file has. */
    memcpy(copy, data, size);
    for (int i = 0; i < N; i++)
        (void)ft_op_parse(&ops[i], specs[i], strlen(specs[i]), NULL);
    if (ft_predictor_load_image(&p, copy, size, NULL) == FT_OK) {
        ft_predictor_get_info(p, &info);
        for (uint32_t i = 0; i < info.n_regressors; i++)
            ft_predictor_regressor(p, i, &r);
        (void)ft_predict_ops(p, ops, N, time, workspace, NULL);
        ft_predictor_free(p);
    }
    free(copy);
    return 0;
}

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/learn_inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 9, MAX_WIDTH = 1024 };

/* Whatever the bytes, loading must fail cleanly or give a model that predicts without
 * leaving its arrays, the same for single rows and for a batch. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static float rows[ROWS * MAX_WIDTH];
    double out[ROWS], single;
    void *image = malloc(size ? size : 1); /* aligned, and exactly as long */
    ft__learn_model *m;
    ft_error err;

    if (!image)
        return 0;
    if (size)
        memcpy(image, data, size);
    for (size_t i = 0; i < ROWS * MAX_WIDTH; i++)
        rows[i] = i % 7 ? (float)(i % 13) - 6 : NAN;
    if (ft__model_load(&m, image, size, &err) == FT_OK) {
        const size_t width = ft__model_width(m);

        ft__model_predict(m, rows, ROWS, out);
        for (size_t i = 0; i < ROWS; i++) {
            ft__model_predict(m, rows + i * width, 1, &single);
            if (memcmp(&single, &out[i], sizeof(single)))
                abort();
        }
        ft__model_free(m);
    } else if (err.pos > size || !err.msg[0]) {
        abort();
    }
    free(image);
    return 0;
}

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/learn_inside.h"
#include "learn/tree/forest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 9, MAX_WIDTH = 1024 };

/* Whatever the bytes, loading must fail cleanly or give a forest that predicts
 * without leaving its arrays, the same for single rows and for a batch. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static float rows[ROWS * MAX_WIDTH];
    double out[ROWS];
    void *image = malloc(size ? size : 1); /* aligned, and exactly as long */
    ft__forest *f;
    ft_error err;

    if (!image)
        return 0;
    if (size)
        memcpy(image, data, size);
    for (size_t i = 0; i < ROWS * MAX_WIDTH; i++)
        rows[i] = i % 7 ? (float)(i % 13) - 6 : NAN;
    if (ft__forest_load(&f, image, size, &err) == FT_OK) {
        const size_t width = f->head->width;

        ft__forest_predict_rows(f, rows, ROWS, out);
        for (size_t i = 0; i < ROWS; i++)
            if (ft__forest_predict(f, rows + i * width) != out[i])
                abort();
        ft__forest_free(f);
    } else if (err.pos > size || !err.msg[0]) {
        abort();
    }
    free(image);
    return 0;
}

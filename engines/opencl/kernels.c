/* The kernels' source, as the build embeds it. */
#include <string.h>

#include "opencl.h"

static const char common[] = {
#include "common.cl.inc"
};
static const char elementwise[] = {
#include "elementwise.cl.inc"
};
static const char move[] = {
#include "move.cl.inc"
};
static const char products[] = {
#include "products.cl.inc"
};
static const char rows[] = {
#include "rows.cl.inc"
};
static const char windows[] = {
#include "windows.cl.inc"
};

const char *ft__kernel_text(const char *file, size_t *len)
{
    static const struct {
        const char *name, *text;
        size_t len;
    } files[] = {
        {"common", common, sizeof(common)},
        {"elementwise", elementwise, sizeof(elementwise)},
        {"move", move, sizeof(move)},
        {"products", products, sizeof(products)},
        {"rows", rows, sizeof(rows)},
        {"windows", windows, sizeof(windows)},
    };

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (strcmp(files[i].name, file) == 0) {
            *len = files[i].len;
            return files[i].text;
        }
    *len = 0;
    return "";
}

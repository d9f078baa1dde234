#include <math.h>
#include <stdlib.h>

#include "explore/space/params.h"
#include "explore/space/space.h"
#include "foretell/exploration.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the bytes, an exploration comes out whole or not at all, and its points are
 * text that reads back. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ft_exploration *x;
    ft_error err;
    double unit[256], point[256], back[256];
    char text[1 << 14], **words;
    size_t n, n_words;

    if (ft__exploration_read(&x, (const char *)data, size, "fuzz", &err)) {
        if (x)
            abort();
        return 0;
    }
    n = ft_exploration_get(x)->n_params;
    if (n == 0 || n > 256 || ft_exploration_get(x)->n_objectives == 0)
        abort();
    for (int round = 0; round < 4; round++) {
        for (size_t k = 0; k < n; k++)
            unit[k] = fmod(0.37 * (double)(k + 1) * (round + 1), 1);
        ft__space_from_unit(ft_exploration_get(x)->space, point, unit);
        if (ft_point_print(x, point, text, sizeof(text)) >= sizeof(text))
            continue;
        if (ft__point_parse(x, back, text, &err))
            abort();
        if (ft_exploration_get(x)->n_words &&
            ft_exploration_words(&words, &n_words, x, 0, point, &err))
            abort();
        if (ft_exploration_get(x)->n_words)
            free(words);
        for (size_t k = 0; k < n; k++)
            if (!(back[k] == point[k] || (isnan(back[k]) && isnan(point[k]))))
                abort();
    }
    ft_exploration_free(x);
    return 0;
}

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/power/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a domain says of the middle of its readings: a number or a reason. */
static void ask(const ft_trace *t, uint32_t i)
{
    size_t n = t->n[i];
    ft_power w;

    if (n < 2)
        return;
    ft_power_of(&w, t, i, t->reading[i][n / 4].at_s, t->reading[i][n - 1 - n / 4].at_s);
    if (isnan(w.joules) != (*w.reason != '\0'))
        abort();
}

/* Whatever the bytes, a trace comes out whole or not at all. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    ft_trace t;

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (ft__trace_parse(&t, text, size, "fuzz", NULL) != FT_OK && t.n_domains)
        abort();
    for (uint32_t i = 0; i < t.n_domains; i++)
        ask(&t, i);
    ft_trace_free(&t);
    free(text);
    return 0;
}

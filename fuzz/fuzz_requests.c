/* A record of requests (--requests): whatever the file, one sentence or a load that the
 * simulator takes. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/serve/serve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const ft_serve_request *r, uint64_t n)
{
    if (!n || r[0].arrival_s != 0)
        abort();
    for (uint64_t i = 0; i < n; i++)
        if (!isfinite(r[i].arrival_s) || (i && r[i].arrival_s < r[i - 1].arrival_s) ||
            !r[i].prompt || !r[i].generate)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ft__reply reply = {.value = NULL};
    ft__cli c = {.reply = &reply};
    FILE *file = tmpfile();
    ft_serve_request *r;
    ft_serve_measured m;
    char path[64];
    uint64_t n;

    if (!file || fwrite(data, 1, size, file) != size || fflush(file))
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
    if (!ft__requests_read(&c, &r, &n, path))
        check(r, n);
    else if (!reply.message[0])
        abort();
    free(r);
    if (!ft__requests_measured(&c, &r, &n, &m, 0, path))
        check(r, n);
    free(r);
    fclose(file);
    return 0;
}

/* How fast PTX is read, checks included, in seconds of the processor, since others may
 * use it, too: bench_ptx FILE...
 * What is said of files, a line each, for bench/ptx-oracle: bench_ptx check FILE... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "cpu_time.h"
#include "foretell/ptx.h"
#include "ptx/ptx_inside.h"

enum { ROUNDS = 15 };

static char *read_all(const char *path, size_t *len)
{
    FILE *fp = fopen(path, "rb");
    char *text = NULL;
    long size;

    *len = 0;
    if (fp && !fseek(fp, 0, SEEK_END) && (size = ftell(fp)) >= 0 &&
        !fseek(fp, 0, SEEK_SET) && (text = malloc((size_t)size + 1)))
        *len = fread(text, 1, (size_t)size, fp);
    if (fp)
        fclose(fp);
    return text;
}

static int speed(const char *path)
{
    double seconds[ROUNDS];
    size_t len, n = 0;
    char *text = read_all(path, &len);
    ft_error err;
    ft_ptx *m;

    if (!text)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        const double begin = cpu_s();

        if (ft__ptx_parse(&m, text, len, path, &err)) {
            printf("%s\n", err.msg);
            free(text);
            return 1;
        }
        seconds[i] = cpu_s() - begin;
        n = ft_ptx_get(m)->n_kernels;
        ft__ptx_free(m);
    }
    printf("%s: %.2f MB, %zu kernels, %.2f ms, %.0f MB/s\n", path, (double)len * 1e-6,
           n, 1e3 * ft__median(seconds, ROUNDS),
           (double)len * 1e-6 / ft__median(seconds, ROUNDS));
    free(text);
    return 0;
}

static void check(const char *path)
{
    ft_error err;
    ft_ptx *m;

    if (ft__ptx_open(&m, path, &err))
        printf("no\t%s\t%s\n", path, err.msg);
    else
        printf("yes\t%s\t\n", path);
    ft__ptx_free(m);
}

int main(int argc, char **argv)
{
    int bad = 0;

    if (argc > 1 && strcmp(argv[1], "check") == 0)
        for (int i = 2; i < argc; i++)
            check(argv[i]);
    else
        for (int i = 1; i < argc; i++)
            bad |= speed(argv[i]);
    return bad;
}

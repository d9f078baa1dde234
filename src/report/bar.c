#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "report/text.h"

enum { BAR_WIDTH = 30 };

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void ft__bar_clear(ft__bar *b)
{
    if (b->shown)
        fputs("\r\033[K", stderr);
    b->shown = false;
}

void ft__bar_draw(ft__bar *b, uint64_t done, uint64_t total, const char *what)
{
    double now = now_s();
    int filled;

    if (!isatty(STDERR_FILENO))
        return;
    if (done >= total) {
        ft__bar_clear(b);
        return;
    }
    if (b->shown && now - b->last_s < 0.1)
        return;
    filled = (int)((double)done / (double)total * BAR_WIDTH);
    fputs("\r\033[K[", stderr);
    for (int i = 0; i < BAR_WIDTH; i++)
        fputc(i < filled ? '#' : '.', stderr);
    fprintf(stderr, "] %" PRIu64 "/%" PRIu64 " ", done, total);
    ft__put_clean(stderr, what);
    fflush(stderr);
    b->shown = true;
    b->last_s = now;
}

/* Text and bars for terminals. */
#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>
#include <unistd.h>

void ft__put_clean(FILE *fp, const char *s)
{
    for (; *s; s++)
        fputc((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s, fp);
}

void ft__put_line(FILE *fp, const char *lead, const char *s)
{
    fputs(lead, fp);
    ft__put_clean(fp, s);
    fputc('\n', fp);
}

/* One is this wide, and what passes the right end ends in '>'. */
enum { ONE = 30, MOST = 45 };

void ft__bar_print(FILE *fp, const char *name, double ratio, const char *value)
{
    int n = ratio * ONE < MOST ? (int)lround(ratio * ONE) : MOST;

    fprintf(fp, "  %-10s ", name);
    for (int i = 0; i < n; i++)
        fputc(i + 1 == MOST && ratio * ONE > MOST ? '>' : '#', fp);
    fprintf(fp, "%*s %s\n", n < ONE ? ONE - n : 0, "", value);
}

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

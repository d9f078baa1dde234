#include <math.h>

#include "report/text.h"

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

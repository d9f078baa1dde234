#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "report/text.h"

static void put_text(FILE *fp, const char *s)
{
    if (!s[strcspn(s, ",\"\r\n")]) {
        fputs(s, fp);
        return;
    }
    fputc('"', fp);
    for (; *s; s++) {
        if (*s == '"')
            fputc('"', fp);
        fputc(*s, fp);
    }
    fputc('"', fp);
}

static void put_real(FILE *fp, double v)
{
    char text[32];

    if (isnan(v))
        return;
    for (int digits = 15; digits <= 17; digits++) {
        double back;

        snprintf(text, sizeof(text), "%.*g", digits, v);
        if (sscanf(text, "%lf", &back) == 1 && !(back < v) && !(back > v))
            break;
    }
    fputs(text, fp);
}

/* A bound; empty where there is none. */
static void put_most(FILE *fp, uint64_t n)
{
    if (n != UINT64_MAX)
        fprintf(fp, "%" PRIu64, n);
}

void ft__csv_row(FILE *fp, const char *types, ...)
{
    va_list ap;

    va_start(ap, types);
    for (size_t i = 0; types[i]; i++) {
        if (i)
            fputc(',', fp);
        switch (types[i]) {
        case 's': put_text(fp, va_arg(ap, const char *)); break;
        case 'g': put_real(fp, va_arg(ap, double)); break;
        case 'm': put_most(fp, va_arg(ap, uint64_t)); break;
        default: fprintf(fp, "%" PRIu64, va_arg(ap, uint64_t)); break;
        }
    }
    va_end(ap);
    fputc('\n', fp);
}

/* The row of an import, field by field. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/number.h"
#include "measure/dataset_import.h"

void ft__wrong(ft__import *im, ft__column c, const char *what)
{
    if (!im->st)
        im->st = ft__rows_bad(im->rows, im->place[c], what, im->err);
}

const char *ft__text(ft__import *im, ft__column c)
{
    int i = im->place[c];

    if (i < 0)
        return "";
    im->used[i] = true;
    return ft__rows_text(im->rows, (size_t)i);
}

void ft__keep(ft__import *im, ft__column c)
{
    if (im->place[c] >= 0)
        im->used[im->place[c]] = false;
}

bool ft__is(ft__import *im, ft__column c, const char *text)
{
    return strcmp(ft__text(im, c), text) == 0;
}

/* Whole numbers may be written as "64.0", as tables with empty fields have them. */
static bool whole(const char *s, int64_t *out)
{
    double v;

    if (!ft__number_parse(s, &v) || !(v >= 0) || v > (double)FT__MAX_ELEMENTS ||
        v != floor(v))
        return false;
    *out = (int64_t)v;
    return true;
}

int64_t ft__whole(ft__import *im, ft__column c)
{
    const char *s = ft__text(im, c);
    int64_t v = 1;

    if (!*s)
        ft__wrong(im, c,
                  im->place[c] < 0 ? "a column that is needed here is missing"
                                   : "a number is needed here");
    else if (!whole(s, &v))
        ft__wrong(im, c, "not a whole number from 0 to 2^52");
    return v;
}

int64_t ft__whole_or(ft__import *im, ft__column c, int64_t otherwise)
{
    return *ft__text(im, c) ? ft__whole(im, c) : otherwise;
}

double ft__real(ft__import *im, ft__column c)
{
    const char *s = ft__text(im, c);
    double v = NAN;

    if (*s && !ft__number_parse(s, &v)) {
        ft__wrong(im, c, "not a finite decimal number");
        v = NAN;
    }
    return v;
}

ft_shape ft__shape(ft__import *im, ft__column c)
{
    const char *s = ft__text(im, c);
    ft_shape out;

    if (!ft__shape_read(&out, &s) || *s) {
        ft__wrong(im, c, "a shape is needed here, as 32x3x224x224 or (32,3,224,224)");
        out = (ft_shape){.rank = 1, .dim = {1}};
    }
    return out;
}

bool ft__shape_read(ft_shape *out, const char **text)
{
    const char *s = *text;
    bool round = *s == '(';

    out->rank = 0;
    for (s += round; out->rank < FT_MAX_RANK;) {
        size_t n = strspn(s, "0123456789");

        if (n == 0 || n > 15)
            return false;
        out->dim[out->rank++] = strtoll(s, NULL, 10);
        s += n;
        if (*s != (round ? ',' : 'x'))
            break;
        s += 1 + strspn(s + 1, " ");
        if (round && *s == ')') /* "(1,)" */
            break;
    }
    if (round && *s++ != ')')
        return false;
    *text = s;
    return ft_shape_elements(out) >= 0;
}

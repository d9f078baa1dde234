/* Where the elements of a tensor lie: plain, channels-last, views and copies. */
#include "graph/strides.h"

ft__strides ft__strides_plain(const ft_shape *s)
{
    ft__strides t = {{0}};
    int64_t step = 1;

    for (uint32_t i = s->rank; i-- > 0;) {
        t.of[i] = step;
        step *= s->dim[i] > 1 ? s->dim[i] : 1;
    }
    return t;
}

ft__strides ft__strides_channels_last(const ft_shape *s)
{
    ft__strides t = {{0}};
    int64_t step = s->rank > 1 ? s->dim[1] : 1;

    for (uint32_t i = s->rank; i-- > 2;) {
        t.of[i] = step;
        step *= s->dim[i];
    }
    if (s->rank > 1)
        t.of[1] = 1;
    t.of[0] = step;
    return t;
}

static bool same(const ft_shape *s, const ft__strides *a, const ft__strides *b)
{
    for (uint32_t i = 0; i < s->rank; i++)
        if (s->dim[i] != 1 && a->of[i] != b->of[i])
            return false;
    return true;
}

bool ft__strides_are_plain(const ft_shape *s, const ft__strides *t)
{
    ft__strides plain = ft__strides_plain(s);

    return same(s, t, &plain);
}

bool ft__strides_are_channels_last(const ft_shape *s, const ft__strides *t)
{
    ft__strides last = ft__strides_channels_last(s);

    return s->rank > 2 && same(s, t, &last) && !ft__strides_are_plain(s, t);
}

ft__strides ft__strides_like(const ft_shape *s, const ft__strides *like)
{
    ft__strides t = {{0}};
    bool done[FT_MAX_RANK] = {false};
    int64_t step = 1;

    for (uint32_t n = 0; n < s->rank; n++) {
        uint32_t next = FT_MAX_RANK;

        /* The innermost axis of those left; of equals the last one. */
        for (uint32_t i = s->rank; i-- > 0;)
            if (!done[i] && (next == FT_MAX_RANK || like->of[i] < like->of[next]))
                next = i;
        done[next] = true;
        t.of[next] = step;
        step *= s->dim[next] > 1 ? s->dim[next] : 1;
    }
    return t;
}

/* Axes of `from` from the last one on are joined as long as they lie in one run;
 * the axes of `to` must divide each run. */
bool ft__strides_view(const ft_shape *from, const ft__strides *t, const ft_shape *to,
                      ft__strides *out)
{
    int64_t base = from->rank ? t->of[from->rank - 1] : 1, run = 1, used = 1;
    uint32_t j = to->rank;

    *out = ft__strides_plain(to);
    if (ft__strides_are_plain(from, t))
        return true;
    for (uint32_t i = from->rank; i-- > 0;) {
        run *= from->dim[i];
        if (i > 0 && (from->dim[i - 1] == 1 || t->of[i - 1] == run * base))
            continue;
        for (; j > 0 && (used < run || to->dim[j - 1] == 1); j--) {
            out->of[j - 1] = used * base;
            used *= to->dim[j - 1];
        }
        if (used != run)
            return false;
        if (i > 0)
            base = t->of[i - 1];
        run = used = 1;
    }
    return j == 0;
}

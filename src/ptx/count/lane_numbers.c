/* Values of lanes as numbers of so many bits: their ends, and bounds that keep them so.
 */
#include "ptx/count/ruling.h"

static int64_t key_of(const ft__number_keys *k, uint64_t v)
{
    return (int64_t)(((v & k->mask) ^ k->flip) - k->less);
}

/* Of whole words of lanes in 32 bits, which a machine compares four at a time. */
static void ends_32(const uint64_t *lane, const ft__number_keys *how, int32_t *low,
                    int32_t *high)
{
    const uint32_t mask = (uint32_t)how->mask, flip = (uint32_t)how->flip;
    const uint32_t less = (uint32_t)how->less;
    int32_t least = *low, most = *high;

    for (uint32_t l = 0; l < 64; l++) {
        const int32_t x = (int32_t)((((uint32_t)lane[l] & mask) ^ flip) - less);

        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    *low = least;
    *high = most;
}

void ft__number_ends(const ft__run *r, const ft__lane_value *v, uint32_t bits,
                     bool is_signed, const ft__set *who, ft__i128 *least,
                     ft__i128 *most)
{
    const uint32_t width = bits > 32 ? 64 : 32;
    const ft__number_keys how = ft__number_keys_of(bits, is_signed, width);
    const ft__i128 more = bits == width && !is_signed ? (ft__i128)1 << (width - 1) : 0;
    int64_t low = INT64_MAX, high = INT64_MIN;
    int32_t low_32 = INT32_MAX, high_32 = INT32_MIN;
    bool any = false, wide = false;

    *least = *most = ft__number(v->base, bits, is_signed);
    if (!v->lane)
        return;
    for (uint32_t k = 0; k < r->words; k++) {
        const uint64_t *lane = v->lane + (size_t)k * 64;

        any |= who->w[k] != 0;
        if (who->w[k] == UINT64_MAX && width == 32) {
            ends_32(lane, &how, &low_32, &high_32);
            wide = true;
            continue;
        }
        for (uint64_t m = who->w[k]; m; m &= m - 1) {
            const uint64_t one = lane[__builtin_ctzll(m)];
            const int64_t x =
                width == 32 ? (int32_t)key_of(&how, one) : key_of(&how, one);

            low = x < low ? x : low;
            high = x > high ? x : high;
        }
    }
    low = wide && low_32 < low ? low_32 : low;
    high = wide && high_32 > high ? high_32 : high;
    *least = any ? low + more : (ft__i128)1 << 100;
    *most = any ? high + more : -((ft__i128)1 << 100);
}

void ft__ruling_hold_inside(ft__run *r, uint32_t affine, uint32_t bits, bool is_signed,
                            ft__i128 least, ft__i128 most)
{
    const ft__i128 top = (ft__i128)1 << (is_signed ? bits - 1 : bits);

    if (least <= most)
        ft__affine_hold(&r->affines, affine, ft__held((is_signed ? -top : 0) - least),
                        ft__held(top - 1 - most));
}

void ft__ruling_no_wrap(const ft__ruling *w, uint32_t k, uint32_t bits, bool is_signed)
{
    ft__i128 least, most;

    if (!w->a[k].affine)
        return;
    ft__number_ends(w->r, &w->a[k], bits, is_signed, w->who, &least, &most);
    ft__ruling_hold_inside(w->r, w->a[k].affine, bits, is_signed, least, most);
}

uint32_t ft__number_keys_in(int64_t out[FT__MOST_THREADS], const ft__run *r,
                            const ft__lane_value *v, const ft__number_keys *how,
                            const ft__set *who)
{
    uint32_t n = 0;

    if (!v->lane) {
        out[0] = key_of(how, v->base);
        return 1;
    }
    for (uint32_t k = 0; k < r->words; k++) {
        const uint64_t *lane = v->lane + (size_t)k * 64;

        if (who->w[k] == UINT64_MAX) {
            for (uint32_t l = 0; l < 64; l++)
                out[n + l] = key_of(how, lane[l]);
            n += 64;
            continue;
        }
        for (uint64_t m = who->w[k]; m; m &= m - 1)
            out[n++] = key_of(how, lane[__builtin_ctzll(m)]);
    }
    return n;
}

/* Values of all threads as numbers. In: a value and a set of threads; out: the least
 * and the greatest number, remainders, differences. */
#include "ptx/count/numbers.h"

/* Numbers as they are kept in 32 or 64 bits with a sign: as they are, or where there
 * are as many bits and no sign, less 2^31 or 2^63. */
struct keys {
    uint64_t mask, flip, less;
};

static struct keys keys_of(uint32_t bits, bool is_signed, uint32_t width)
{
    const uint64_t top = (uint64_t)1 << (bits - 1);

    return (struct keys){ft__ptx_mask(bits), is_signed || bits == width ? top : 0,
                         is_signed ? top : 0};
}

static int64_t key(const struct keys *k, uint64_t v)
{
    return (int64_t)(((v & k->mask) ^ k->flip) - k->less);
}

/* Keys of a value, of the threads of `who` in order; one where all have the same. */
static uint32_t keys(int64_t out[FT__MOST_THREADS], const ft__run *r,
                     const ft__lane_value *v, const struct keys *how,
                     const ft__set *who)
{
    uint32_t n = 0;

    if (!v->lane) {
        out[0] = key(how, v->base);
        return 1;
    }
    for (uint32_t k = 0; k < r->words; k++) {
        const uint64_t *lane = v->lane + (size_t)k * 64;

        if (who->w[k] == UINT64_MAX) {
            for (uint32_t l = 0; l < 64; l++)
                out[n + l] = key(how, lane[l]);
            n += 64;
            continue;
        }
        for (uint64_t m = who->w[k]; m; m &= m - 1)
            out[n++] = key(how, lane[__builtin_ctzll(m)]);
    }
    return n;
}

/* Of whole words of lanes in 32 bits, which a machine compares four at a time. */
static void ends_32(const uint64_t *lane, const struct keys *how, int32_t *low,
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
    const struct keys how = keys_of(bits, is_signed, width);
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
            const int64_t x = width == 32 ? (int32_t)key(&how, one) : key(&how, one);

            low = x < low ? x : low;
            high = x > high ? x : high;
        }
    }
    low = wide && low_32 < low ? low_32 : low;
    high = wide && high_32 > high ? high_32 : high;
    *least = any ? low + more : (ft__i128)1 << 100;
    *most = any ? high + more : -((ft__i128)1 << 100);
}

/* ---- remainders ---- */

static int64_t remainder_of(int64_t key, const struct keys *how, int64_t d)
{
    const bool plain = how->less || !how->flip;
    const int64_t r =
        plain ? key % d : (int64_t)(((uint64_t)key ^ how->flip) % (uint64_t)d);

    return r < 0 ? r + d : r;
}

void ft__number_remainders(const ft__run *r, const ft__lane_value *v, uint32_t bits,
                           bool is_signed, const ft__set *who, int64_t d,
                           uint64_t *last, int64_t *least, int64_t *most)
{
    const struct keys how = keys_of(bits, is_signed, 64);
    int64_t key[FT__MOST_THREADS], low = INT64_MAX, high = INT64_MIN;
    const uint32_t n = keys(key, r, v, &how, who);

    for (uint32_t k = 0; k < n; k++) {
        low = key[k] < low ? key[k] : low;
        high = key[k] > high ? key[k] : high;
    }
    if (!n)
        return;
    *last = (uint64_t)key[n - 1] ^ (how.less ? 0 : how.flip);
    *least = remainder_of(low, &how, d);
    *most = remainder_of(high, &how, d);
    if ((ft__i128)high - low == *most - *least) /* no multiple of d lies between */
        return;
    *least = d;
    *most = 0;
    for (uint32_t k = 0; k < n; k++) {
        const int64_t x = remainder_of(key[k], &how, d);

        *least = x < *least ? x : *least;
        *most = x > *most ? x : *most;
    }
}

/* ---- differences ---- */

/* a - b, or the end of what 64 bits hold. */
static int64_t held_difference(int64_t a, int64_t b)
{
    int64_t d;

    return !__builtin_sub_overflow(a, b, &d) ? d : a < b ? INT64_MIN : INT64_MAX;
}

uint32_t ft__number_differences(int64_t out[FT__MOST_THREADS], const ft__run *r,
                                const ft__lane_value *a, const ft__lane_value *b,
                                uint32_t bits, bool is_signed, const ft__set *who)
{
    const struct keys how = keys_of(bits, is_signed, 64);
    int64_t other[FT__MOST_THREADS];
    const uint32_t of_a = keys(out, r, a, &how, who);
    const uint32_t of_b = keys(other, r, b, &how, who);
    const uint32_t n = a->lane ? of_a : of_b;
    const int64_t first = out[0];

    for (uint32_t l = 0; l < n && !a->lane; l++)
        out[l] = first;
    if (bits < 64)
        for (uint32_t l = 0; l < n; l++)
            out[l] -= other[b->lane ? l : 0];
    else
        for (uint32_t l = 0; l < n; l++)
            out[l] = held_difference(out[l], other[b->lane ? l : 0]);
    return n;
}

/* Memory that is accessed. In: a step, its addresses and who takes part; out: sectors
 * of 32 bytes that warps touch in global memory, and cycles that banks of shared memory
 * take. Both depend on how a warp's addresses lie to each other and on where they
 * begin; other blocks and rounds only move them together. */
#include <string.h>

#include "ptx/count/reach.h"
#include "ptx/count/record.h"

enum { SECTOR = 32, BANKS = 32, WORD = 4 };

struct shape {
    uint64_t at[32]; /* of the threads that take part */
    uint32_t n, bytes;
};

static void sort(uint64_t *v, uint32_t n)
{
    for (uint32_t k = 1; k < n; k++) { /* nearly always in order already */
        const uint64_t x = v[k];
        uint32_t to = k;

        for (; to && v[to - 1] > x; to--)
            v[to] = v[to - 1];
        v[to] = x;
    }
}

static uint32_t distinct(uint64_t *v, uint32_t n)
{
    uint32_t kept = 0;

    sort(v, n);
    for (uint32_t k = 0; k < n; k++)
        if (!kept || v[kept - 1] != v[k])
            v[kept++] = v[k];
    return kept;
}

/* Of addresses in order. */
static uint32_t sectors(const struct shape *s, const uint64_t *at, uint64_t shift)
{
    uint64_t behind = 0; /* the last one touched, plus one */
    uint32_t n = 0;

    for (uint32_t k = 0; k < s->n; k++) {
        const uint64_t first = (at[k] + shift) / SECTOR;
        const uint64_t end = (at[k] + shift + s->bytes - 1) / SECTOR + 1;

        if (end > behind) {
            n += (uint32_t)(end - (first > behind ? first : behind));
            behind = end;
        }
    }
    return n;
}

/* The most words that one bank has to give to threads that are served together: all
 * of a warp, a half of 8 bytes each, a quarter of 16. */
static uint32_t cycles_of(const uint64_t *at, uint32_t n, uint32_t bytes)
{
    uint64_t words[32 * 8];
    uint32_t count = 0, most = 0;
    uint8_t of[BANKS] = {0};

    for (uint32_t k = 0; k < n; k++)
        for (uint64_t w = at[k] / WORD; w <= (at[k] + bytes - 1) / WORD; w++)
            if (count < sizeof(words) / sizeof(*words))
                words[count++] = w;
    count = distinct(words, count);
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t now = ++of[words[k] % BANKS];

        most = now > most ? now : most;
    }
    return most;
}

static uint32_t wavefronts(const struct shape *s, const uint8_t *lane)
{
    const uint32_t together = s->bytes <= 4 ? 32 : s->bytes <= 8 ? 16 : 8;
    uint32_t n = 0;

    for (uint32_t k = 0; k < s->n;) {
        const uint32_t first = k, group = lane[k] / together;

        while (k < s->n && lane[k] / together == group)
            k++;
        n += cycles_of(s->at + first, k - first, s->bytes);
    }
    return n;
}

/* The largest power of two, up to 32, that moves of all others are multiples of. */
static uint64_t grain(const ft__run *r, uint32_t affine)
{
    const ft__affine *f = ft__affine_at(&r->affines, affine);
    uint64_t any = SECTOR;

    for (uint32_t k = 0; k < FT__SYMBOLS; k++)
        any |= (uint64_t)f->a[k];
    return any & (0 - any);
}

/* Fewest, usual, most. */
static void measure(const ft__run *r, uint64_t out[FT__SETS], const struct shape *s,
                    const uint8_t *lane, const ft__plan_step *step, uint32_t affine)
{
    const uint64_t by = affine ? grain(r, affine) : SECTOR;
    uint64_t sum = 0, times = 0, at[32];

    if (step->space == FT_PTX_SHARED) {
        const uint32_t n = wavefronts(s, lane);

        out[FT__SURE] = by < WORD ? 1 : n;
        out[FT__GUESS] = n;
        out[FT__MAYBE] = by < WORD ? 2 * (uint64_t)n : n;
        return;
    }
    out[FT__SURE] = UINT64_MAX;
    out[FT__MAYBE] = 0;
    memcpy(at, s->at, s->n * sizeof(*at));
    sort(at, s->n);
    for (uint64_t shift = 0; shift < SECTOR; shift += by, times++) {
        const uint64_t n = sectors(s, at, shift);

        out[FT__SURE] = n < out[FT__SURE] ? n : out[FT__SURE];
        out[FT__MAYBE] = n > out[FT__MAYBE] ? n : out[FT__MAYBE];
        sum += n;
    }
    out[FT__GUESS] = (sum + times / 2) / times;
}

static uint64_t pieces(uint64_t bytes, uint64_t each)
{
    return (bytes + each - 1) / each;
}

/* Nothing is known of the addresses but how many there are. */
static void assume(uint64_t out[FT__SETS], const ft__plan_step *s, uint32_t n)
{
    const uint64_t each =
        s->space == FT_PTX_SHARED ? pieces(s->bytes, WORD) : pieces(s->bytes, SECTOR);

    out[FT__SURE] = 1;
    out[FT__GUESS] = s->space == FT_PTX_SHARED
                         ? pieces((uint64_t)n * s->bytes, BANKS * WORD)
                         : pieces((uint64_t)n * s->bytes, SECTOR);
    out[FT__MAYBE] = n * (each + (s->space != FT_PTX_SHARED));
}

static void one_warp(ft__run *r, uint64_t out[FT__SETS], const ft__lane_value *v,
                     const ft__plan_step *s, uint32_t warp, uint32_t who)
{
    struct shape shape = {.bytes = s->bytes};
    uint8_t lane[32];
    bool unknown = v->nothing || s->bytes > SECTOR;

    for (uint32_t m = who; m; m &= m - 1) {
        const uint32_t k = (uint32_t)__builtin_ctz(m), l = warp * 32 + k;

        unknown |= v->unknown && ft__set_has(v->unknown, l);
        lane[shape.n] = (uint8_t)k;
        shape.at[shape.n++] = (v->lane ? v->lane[l] : v->base) + s->at;
    }
    if (unknown) {
        assume(out, s, shape.n);
        return;
    }
    measure(r, out, &shape, lane, s, v->affine);
    if (v->rough) {
        uint64_t wide[FT__SETS];

        assume(wide, s, shape.n);
        out[FT__SURE] = 1;
        out[FT__MAYBE] =
            wide[FT__MAYBE] > out[FT__MAYBE] ? wide[FT__MAYBE] : out[FT__MAYBE];
    }
}

/* Addresses that lie to each other as they did when this step was executed last, and
 * have moved by what makes no difference, give what they gave. */
struct ft__measured {
    uint64_t *at;
    ft__active on;
    uint64_t base, by, total[FT__SETS];
    uint64_t stamp; /* of the value */
    bool each;
};

static uint64_t step_of(const ft__run *r, const ft__plan_step *s, uint32_t affine)
{
    const uint64_t by = affine ? grain(r, affine) : SECTOR;

    return s->space == FT_PTX_SHARED && by > WORD ? WORD : by;
}

static bool as_before(const ft__run *r, const struct ft__measured *m,
                      const ft__lane_value *v, uint64_t by, const ft__active *on)
{
    uint64_t moved, other = 0;

    if (v->stamp && v->stamp == m->stamp)
        return ft__active_same(r, &m->on, on);
    if (m->by != by || m->each != (v->lane != NULL) || !ft__active_same(r, &m->on, on))
        return false;
    if (!v->lane)
        return (v->base - m->base) % by == 0;
    moved = 0;
    for (uint32_t k = 0; k < r->words; k++)
        if (on->of[FT__MAYBE].w[k]) {
            const uint32_t l =
                k * 64 + (uint32_t)__builtin_ctzll(on->of[FT__MAYBE].w[k]);

            moved = v->lane[l] - m->at[l];
            break;
        }
    for (uint32_t k = 0; k < r->words; k++) {
        const uint64_t who = on->of[FT__MAYBE].w[k];

        for (uint32_t l = 0; l < 64; l++)
            other |= (v->lane[k * 64 + l] - m->at[k * 64 + l] - moved) &
                     (0 - (who >> l & 1));
    }
    return other == 0 && moved % by == 0;
}

static struct ft__measured *measured_at(ft__run *r, ft__frame *f,
                                        const ft__plan_step *s)
{
    struct ft__measured **at =
        &r->measured[(size_t)f->part->first_step + (size_t)(s - f->part->step)];

    if (!*at) {
        *at = ft__arena_alloc(&r->arena, sizeof(**at));
        if (*at)
            (*at)->at =
                ft__arena_array(&r->arena, (size_t)r->words * 64, sizeof(uint64_t));
        if (!*at || !(*at)->at) {
            r->short_of_memory = true;
            *at = NULL;
        }
    }
    return *at;
}

static void remember(const ft__run *r, struct ft__measured *m, const ft__lane_value *v,
                     uint64_t by, const ft__active *on, const uint64_t total[FT__SETS])
{
    m->by = by;
    m->on = *on;
    m->base = v->base;
    m->each = v->lane != NULL;
    if (v->lane)
        memcpy(m->at, v->lane, r->threads * sizeof(*m->at));
    memcpy(m->total, total, sizeof(m->total));
    m->stamp = v->stamp;
}

static void all_warps(ft__run *r, uint64_t total[FT__SETS], const ft__plan_step *s,
                      const ft__lane_value *v, const ft__active *on)
{
    for (uint32_t warp = 0; warp < r->warps; warp++) {
        uint32_t who[FT__SETS];
        uint64_t one[FT__SETS];

        for (unsigned set = 0; set < FT__SETS; set++)
            who[set] =
                (uint32_t)(ft__active_set(on, set)->w[warp / 2] >> warp % 2 * 32) &
                (s->matrix ? s->matrix : UINT32_MAX);
        if (!who[FT__MAYBE])
            continue;
        one_warp(r, one, v, s, warp, who[FT__MAYBE]);
        total[FT__MAYBE] += one[FT__MAYBE];
        if (who[FT__GUESS] && who[FT__GUESS] != who[FT__MAYBE])
            one_warp(r, one, v, s, warp, who[FT__GUESS]);
        total[FT__GUESS] += who[FT__GUESS] ? one[FT__GUESS] : 0;
        if (who[FT__SURE] && who[FT__SURE] != who[FT__GUESS])
            one_warp(r, one, v, s, warp, who[FT__SURE]);
        total[FT__SURE] += who[FT__SURE] ? one[FT__SURE] : 0;
    }
    r->steps += r->threads * 8;
}

void ft__step_measure(ft__run *r, uint64_t total[FT__SETS], const ft__plan_step *s,
                      const ft__lane_value *v, const ft__active *on)
{
    ft__reach_access(r, s, v, on);
    all_warps(r, total, s, v, on);
}

void ft__step_access(ft__run *r, ft__frame *f, const ft__plan_step *s,
                     const ft__active *on)
{
    uint64_t total[FT__SETS] = {0};
    struct ft__measured *m = NULL;
    ft__lane_value v = {.nothing = true};
    ft__trace_entry *entry;
    uint64_t by;

    if (s->n_source)
        ft__value_get(r, &v, f, &f->part->source[s->source]);
    entry = ft__trace_access(r, f, s, &v, on);
    ft__reach_access(r, s, &v, on);
    by = step_of(r, s, v.affine);
    if (!v.nothing && !v.unknown && !v.rough && !(m = measured_at(r, f, s)))
        return;
    if (m && as_before(r, m, &v, by, on)) {
        memcpy(total, m->total, sizeof(total));
        m->stamp = v.stamp;
    } else {
        all_warps(r, total, s, &v, on);
        if (m)
            remember(r, m, &v, by, on, total);
    }
    r->steps += r->threads / 4;
    ft__run_tally(r, s->item, on, FT__WARPS);
    ft__run_count(r, s->item + 1, total);
    if (entry)
        memcpy(entry->took, total, sizeof(entry->took));
}

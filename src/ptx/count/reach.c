/* Addresses of an access are sums of multiples of strides: those of threads in a block,
 * of rounds of loops, of blocks in the grid. Taken from the smallest up, these say
 * which sectors are touched, however often. */
#include "ptx/count/reach.h"

#include <math.h>

enum { SECTOR = 32 };

static void add_stride(ft__reach *w, double by, double n)
{
    by = fabs(by);
    if (by < 0.5 || n < 1.001)
        return;
    for (uint32_t k = 0; k < w->n_strides; k++)
        if (w->stride[k].by == by) {
            w->stride[k].n = fmax(w->stride[k].n, n);
            return;
        }
    if (w->n_strides == FT__MOST_STRIDES || by > 0x1p62)
        w->unknown = true;
    else
        w->stride[w->n_strides++] = (ft__stride){by, n};
}

static bool linear(const ft__run *r, const uint64_t *lane, const ft__set *who,
                   uint64_t origin, const uint64_t by[3])
{
    for (uint32_t l = 0; l < r->threads; l++)
        if (ft__set_has(who->w, l) && lane[l] != origin + by[0] * r->tid[0][l] +
                                                     by[1] * r->tid[1][l] +
                                                     by[2] * r->tid[2][l])
            return false;
    return true;
}

/* Multiples of the thread's place in its block. */
static bool of_places(ft__reach *out, const ft__run *r, const uint64_t *lane,
                      const ft__set *who, uint32_t first)
{
    const uint32_t apart[3] = {1, r->block[0], r->block[0] * r->block[1]};
    uint64_t by[3] = {0}, origin = lane[first];

    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t l = first; r->block[k] > 1 && l + apart[k] < r->threads; l++)
            if (ft__set_has(who->w, l) && ft__set_has(who->w, l + apart[k]) &&
                r->tid[k][l] + 1 < r->block[k]) {
                by[k] = lane[l + apart[k]] - lane[l];
                break;
            }
    for (uint32_t k = 0; k < 3; k++)
        origin -= by[k] * r->tid[k][first];
    if (!linear(r, lane, who, origin, by))
        return false;
    for (uint32_t k = 0; k < 3; k++)
        add_stride(out, (double)(int64_t)by[k], r->block[k]);
    return true;
}

/* Multiples of each bit of the thread's number. */
static bool of_bits(ft__reach *out, const ft__run *r, const uint64_t *lane,
                    const ft__set *who, uint32_t first)
{
    uint64_t by[10] = {0};

    for (uint32_t b = 0; b < 10; b++)
        for (uint32_t l = first; l + (1u << b) < r->threads; l++)
            if (!(l >> b & 1) && ft__set_has(who->w, l) &&
                ft__set_has(who->w, l + (1u << b))) {
                by[b] = lane[l + (1u << b)] - lane[l];
                break;
            }
    for (uint32_t l = first; l < r->threads; l++) {
        uint64_t at = lane[first];

        for (uint32_t b = 0; b < 10; b++)
            at += by[b] * (l >> b & 1) - by[b] * (first >> b & 1);
        if (ft__set_has(who->w, l) && at != lane[l])
            return false;
    }
    for (uint32_t b = 0; b < 10; b++)
        add_stride(out, (double)(int64_t)by[b], 2);
    return true;
}

static uint32_t first_of(const ft__run *r, const ft__set *who)
{
    uint32_t l = 0;

    while (l + 1 < r->threads && !ft__set_has(who->w, l))
        l++;
    return l;
}

static void begin(ft__reach *w, ft__run *r, const ft__plan_step *s,
                  const ft__lane_value *v, const ft__set *who, uint64_t at)
{
    uint32_t lanes = 0;

    *w = (ft__reach){.launch = r->launch,
                     .executed = r->executed,
                     .at = at,
                     .last = at,
                     .each = s->bytes,
                     .store = s->store};
    for (uint32_t k = 0; k < r->warps; k++) {
        const uint32_t here = (uint32_t)(who->w[k / 2] >> k % 2 * 32);

        lanes += (uint32_t)__builtin_popcount(here);
        w->warps += here != 0;
    }
    w->bytes = (double)lanes * s->bytes / (w->warps ? w->warps : 1);
    w->unknown = s->matrix != 0;
    if (v->nothing || !v->lane)
        return;
    r->steps += r->threads;
    if (!of_places(w, r, v->lane, who, first_of(r, who)) &&
        !of_bits(w, r, v->lane, who, first_of(r, who)))
        w->unknown = true;
    w->lanes = w->n_strides;
}

void ft__reach_access(ft__run *r, const ft__plan_step *s, const ft__lane_value *v,
                      const ft__active *on)
{
    ft__reach *w = &r->reach[s->reach];
    const ft__set *who = &on->of[FT__MAYBE];
    double hop;
    uint64_t at;

    if (s->space != FT_PTX_GLOBAL || !ft__set_any(r, who))
        return;
    at = (v->lane ? v->lane[first_of(r, who)] : v->base) + s->at;
    if (w->launch != r->launch || w->executed != r->executed)
        begin(w, r, s, v, who, at);
    w->unknown |= v->nothing || v->unknown || v->rough;
    w->affine = v->affine;
    hop = fabs((double)(int64_t)(at - w->last));
    if (hop > 0 && (w->hop == 0 || hop < w->hop))
        w->hop = hop;
    w->last = at;
}

void ft__reach_rounds(ft__run *r, const ft__summary *t, uint64_t n)
{
    const ft__loop *loop = t->loop;

    for (uint32_t k = 0; k < r->p->n_reaches; k++) {
        ft__reach *w = &r->reach[k];
        const uint32_t item = r->p->reach_item[k];

        if (w->launch != r->launch || w->executed != r->executed ||
            item < loop->first_item || item >= loop->end_item)
            continue;
        /* Two rounds came before this one. */
        add_stride(w, (double)ft__affine_at(&r->affines, w->affine)->a[t->symbol],
                   (double)n + 3);
    }
}

/* strides from `lanes` on are those of loops; as many places together as there were
 * executions. */
static void fit_rounds(ft__reach *w, uint32_t lanes, double executions)
{
    double all = 1;
    uint32_t far = lanes;

    for (uint32_t k = lanes; k < w->n_strides; k++) {
        all *= w->stride[k].n;
        far = w->stride[k].by > w->stride[far].by ? k : far;
    }
    if (all > executions && far < w->n_strides)
        w->stride[far].n = fmax(1, w->stride[far].n * executions / all);
    else if (executions > all * 1.01)
        add_stride(w, w->hop, executions / all);
}

/* value = source over `over` / `scale`, rounded down: 0 for what is no quotient. */
static double over(const ft__affine_variable *s)
{
    if (!s->i)
        return (double)s->divisor;
    if (s->n_source < 2 || s->affine[1])
        return 0;
    switch (s->i->opcode) {
    case FT__PTX_DIV: return (double)s->source[1];
    case FT__PTX_SHR: return s->source[1] < 63 ? ldexp(1, (int)s->source[1]) : 0;
    case FT__PTX_MUL:
        return ft__ptx_has(s->f, s->i, FT__MOD_HI) && s->source[1]
                   ? ldexp(1, (int)s->bits) / (double)s->source[1]
                   : 0;
    default: return 0;
    }
}

/* Of each symbol the place in the grid that it is a quotient of, and by what. */
struct digits {
    uint32_t place[FT__SYMBOLS]; /* 3: of none */
    double period[FT__SYMBOLS];
};

static void find_digits(struct digits *d, const ft__affines *w)
{
    for (uint32_t k = 0; k < FT__SYMBOLS; k++) {
        d->place[k] = k < 3 ? k : 3;
        d->period[k] = 1;
    }
    for (uint32_t k = FT__FIRST_DERIVED; k < w->n_symbols; k++) {
        const ft__affine *from = ft__affine_at(w, w->symbol[k].affine[0]);
        const uint32_t of = from->symbols ? (uint32_t)__builtin_ctz(from->symbols) : 0;

        if (!(over(&w->symbol[k]) > 0) || __builtin_popcount(from->symbols) != 1 ||
            of >= k)
            continue;
        d->place[k] = d->place[of];
        d->period[k] = d->period[of] * over(&w->symbol[k]) / fabs((double)from->a[of]);
    }
}

/* How an address moves with one place in the grid: at once, and each time that a
 * quotient of it grows. */
static void along(ft__reach *w, const struct digits *d, const ft__affine *f,
                  uint32_t place, double n)
{
    double rate = (double)f->a[place], done = 1;
    uint32_t rest = 0;

    for (uint32_t k = FT__FIRST_DERIVED; k < FT__FIRST_LOOP; k++) {
        if (d->place[k] != place || !f->a[k])
            continue;
        if (d->period[k] <= 1)
            rate += (double)f->a[k] / d->period[k];
        else
            rest |= 1u << k;
    }
    while (rest) {
        uint32_t least = (uint32_t)__builtin_ctz(rest);

        for (uint32_t m = rest; m; m &= m - 1)
            if (d->period[__builtin_ctz(m)] < d->period[least])
                least = (uint32_t)__builtin_ctz(m);
        rest &= ~(1u << least);
        if (d->period[least] >= n)
            break;
        add_stride(w, rate * done, d->period[least] / done);
        done = d->period[least];
        rate += (double)f->a[least] / done;
    }
    add_stride(w, rate * done, n / done);
}

static void over_grid(ft__reach *w, const ft__run *r, const struct digits *d)
{
    const ft__affine *f = ft__affine_at(&r->affines, w->affine);

    for (uint32_t k = 0; k < FT__FIRST_LOOP; k++) {
        const uint32_t place = d->place[k];

        w->unknown |= f->a[k] && place == 3;
        if (f->a[k] && place < 3) /* as the first block of the grid begins */
            w->at -=
                (uint64_t)f->a[k] * (uint64_t)fmin(r->at[place] / d->period[k], 0x1p62);
    }
    for (uint32_t k = 0; k < 3; k++)
        along(w, d, f, k, r->grid[k]);
}

void ft__reach_class(ft__reach *to, ft__run *r, uint64_t blocks)
{
    struct digits d;

    find_digits(&d, &r->affines);
    for (uint32_t k = 0; k < r->p->n_reaches; k++) {
        ft__reach w = r->reach[k];
        const double requests =
            (double)r->count[(size_t)r->p->reach_item[k] * FT__SETS + FT__GUESS];

        w.weight = requests * (double)blocks;
        if (w.launch != r->launch || w.executed != r->executed ||
            w.weight <= to[k].weight)
            continue;
        if (!w.unknown) {
            fit_rounds(&w, w.lanes, requests / (w.warps ? w.warps : 1));
            over_grid(&w, r, &d);
        }
        to[k] = w;
    }
}

/* Of pieces of so many bytes that lie at multiples of `apart` from `at`. */
static double sectors_of_piece(double bytes, uint64_t at, uint64_t apart)
{
    const uint64_t by = (apart | SECTOR) & (0 - (apart | SECTOR));
    double sum = 0, times = 0;

    for (uint64_t shift = at % by; shift < SECTOR; shift += by, times++)
        sum += floor(((double)shift + bytes + SECTOR - 1) / SECTOR);
    return by < SECTOR ? sum / times
                       : floor(((double)(at % SECTOR) + bytes + SECTOR - 1) / SECTOR);
}

/* Strides from the smallest up: one that leaves no sector out makes a piece longer, one
 * beyond all that is there repeats it, one on a lattice that is there extends that. */
static double sectors_of(const ft__reach *w, double bytes)
{
    double piece = bytes, pieces = 1, extent = bytes, last = 0, last_n = 1;
    uint64_t apart = 0;

    for (uint32_t k = 0; k < w->n_strides; k++) {
        const double by = w->stride[k].by, n = w->stride[k].n;
        const double times = last > 0 ? by / last : 0;

        if (pieces == 1 && by < piece + SECTOR) {
            extent = piece += (n - 1) * by;
            continue;
        }
        if (by < extent && times == floor(times)) {
            pieces *= (last_n + (n - 1) * times) / last_n;
            last_n += (n - 1) * times;
        } else {
            pieces *= n;
            last = by;
            last_n = n;
        }
        apart |= (uint64_t)by;
        extent += (n - 1) * by;
    }
    return fmin(pieces * sectors_of_piece(piece, w->at, apart), extent / SECTOR + 1);
}

static int by_size(const void *a, const void *b)
{
    const ft__stride *p = a, *q = b;

    return (p->by > q->by) - (p->by < q->by);
}

/* Pointers are multiples of 2^40 (ft__step_param()); an access may lie before its own.
 */
static uint64_t buffer(const ft__reach *w)
{
    return (w->at + ((uint64_t)1 << 39)) >> 40;
}

/* Accesses of one buffer that move alike are next to each other, by address. */
static int alike(const ft__reach *a, const ft__reach *b)
{
    int c = (a->store > b->store) - (a->store < b->store);

    c = c ? c : (int)a->unknown - (int)b->unknown;
    c = c ? c : (buffer(a) > buffer(b)) - (buffer(a) < buffer(b));
    c = c ? c : (a->n_strides > b->n_strides) - (a->n_strides < b->n_strides);
    for (uint32_t k = 0; !c && k < a->n_strides; k++) {
        c = by_size(&a->stride[k], &b->stride[k]);
        c = c ? c
              : (a->stride[k].n > b->stride[k].n) - (a->stride[k].n < b->stride[k].n);
    }
    return c;
}

static int by_place(const void *a, const void *b)
{
    const ft__reach *p = a, *q = b;
    const int c = alike(p, q);

    return c ? c : (p->at > q->at) - (p->at < q->at);
}

/* Of n accesses that move alike, as if they were equally far from each other. */
static double sectors_together(ft__reach *w, size_t n)
{
    double most = 0, places = 1, bytes = w->each;

    for (size_t k = 0; k < n; k++) {
        most += w[k].most;
        places += k > 0 && w[k].at != w[k - 1].at;
        bytes = fmax(bytes, w[k].each);
    }
    if (w->unknown)
        return most;
    if (places > 1)
        add_stride(w, (double)(w[n - 1].at - w->at) / (places - 1), places);
    qsort(w->stride, w->n_strides, sizeof(*w->stride), by_size);
    return fmin(most, sectors_of(w, bytes));
}

void ft__reach_sum(uint64_t out[2], const ft__count_plan *p, ft__reach *reach,
                   const ft_ptx_tally *item)
{
    const size_t n = p->n_reaches;

    out[0] = out[1] = 0;
    for (size_t k = 0; k < n; k++) {
        ft__reach *w = &reach[k];
        const double requests = (double)item[p->reach_item[k]].value;
        const double took = (double)item[p->reach_item[k] + 1].value;

        qsort(w->stride, w->n_strides, sizeof(*w->stride), by_size);
        w->most = w->unknown ? fmin(took, ceil(requests * w->bytes / SECTOR)) : took;
    }
    qsort(reach, n, sizeof(*reach), by_place);
    for (size_t k = 0, end; k < n; k = end) {
        for (end = k + 1; end < n && alike(&reach[k], &reach[end]) == 0;)
            end++;
        out[reach[k].store] +=
            (uint64_t)fmin(0x1p62, sectors_together(&reach[k], end - k));
    }
}

#include <math.h>
#include <string.h>

#include "foretell/names.h"
#include "ptx/eval/lanes.h"
#include "ptx_interpret/machine.h"

/* Loads, stores, atomics and copies. */

static uint8_t *within(uint8_t *base, uint64_t have, uint64_t offset, uint32_t size)
{
    return base != NULL && offset <= have && size <= have - offset ? base + offset
                                                                   : NULL;
}

static uint8_t *in_global(const ft__ptx_machine *k, uint64_t address, uint32_t size)
{
    if (address >= FT__PTX_GLOBAL_BASE)
        return within(k->global, k->global_size, address - FT__PTX_GLOBAL_BASE, size);
    for (uint32_t n = 0; n < k->opt->n_memory; n++) {
        const ft__ptx_memory *m = &k->opt->memory[n];

        if (address >= m->address && address - m->address < m->size)
            return within(m->bytes, m->size, address - m->address, size);
    }
    return NULL;
}

/* Of .local the call's depth is in bits 32 and up. */
static uint8_t *in_local(const ft__ptx_step *s, int lane, uint64_t address,
                         uint32_t size)
{
    const uint64_t depth = address >> 32, at = address & 0xffffffff;
    const ft__ptx_frame *f = depth < s->w->n ? &s->w->frame[depth] : NULL;

    const uint64_t bytes = f == NULL ? 0 : ft__ptx_local_bytes(s->k, f->code->f);

    if (bytes == 0)
        return NULL;
    return within(f->local + (size_t)lane * bytes, bytes, at, size);
}

static uint8_t *in_param(const ft__ptx_step *s, int lane, uint64_t address,
                         uint32_t size)
{
    const ft__ptx_code *c = s->frame->code;

    return within(s->frame->param + (size_t)lane * c->param_size, c->param_size,
                  address, size);
}

/* The space of a generic address, which becomes one of that space. */
static unsigned resolve(uint64_t *address)
{
    static const uint8_t space[] = {FT_PTX_SHARED, FT_PTX_LOCAL, FT_PTX_CONST,
                                    FT_PTX_PARAM};

    if (*address < FT__PTX_WINDOW_SHARED ||
        *address >= FT__PTX_WINDOW_PARAM + FT__PTX_WINDOW_SIZE)
        return FT_PTX_GLOBAL;
    return space[((*address >> 48) - (FT__PTX_WINDOW_SHARED >> 48)) & 3];
}

static uint64_t offset_in(unsigned space, uint64_t address)
{
    return space == FT_PTX_GLOBAL ? address : address & (FT__PTX_WINDOW_SIZE - 1);
}

static uint8_t *place(const ft__ptx_step *s, unsigned space, int lane, uint64_t address,
                      uint32_t size)
{
    switch (space) {
    case FT_PTX_GLOBAL: return in_global(s->k, address, size);
    case FT_PTX_SHARED: return within(s->k->shared, s->k->shared_size, address, size);
    case FT_PTX_CONST:
        return within(s->k->constant, s->k->constant_size, address, size);
    case FT_PTX_LOCAL: return in_local(s, lane, address, size);
    case FT_PTX_PARAM: return in_param(s, lane, address, size);
    default: return NULL;
    }
}

uint8_t *ft__ptx_bytes_at(ft__ptx_step *s, unsigned space, int lane, uint64_t address,
                          uint32_t size)
{
    const bool generic = space == FT_PTX_GENERIC;
    uint64_t at = address;
    uint8_t *p;

    if (generic) {
        space = resolve(&at);
        at = offset_in(space, at);
    }
    p = place(s, space, lane, at, size);
    if (p == NULL)
        ft__ptx_stop(s, lane, "%u bytes at 0x%llx of %s memory are outside of it", size,
                     (unsigned long long)at, ft_name(FT_NAMES_PTX_SPACE, space));
    return p;
}

void ft__ptx_addresses(ft__ptx_step *s, const ft__ptx_operand *o, ft__ptx_access *a)
{
    const ft__ptx_operand *base =
        o->kind == FT__PTX_ADDRESS ? &s->f->operand[o->index] : o;
    const uint64_t add = o->kind == FT__PTX_ADDRESS ? o->bits : 0;
    const bool narrow = base->kind == FT__PTX_REG &&
                        ft__ptx_type_bits(s->f->reg[base->index].type) == 32;
    uint64_t own[FT__PTX_LANES];
    const uint64_t *v = ft__ptx_value(s, base, own);

    for (int l = 0; l < FT__PTX_LANES; l++)
        a->address[l] = narrow ? (uint32_t)(v[l] + add) : v[l] + add;
    if (a->space == FT_PTX_GENERIC && base->kind == FT__PTX_VARIABLE)
        a->space = s->k->m->variable[base->index].space;
}

typedef struct words {
    uint64_t at[FT__PTX_LANES * 8];
    uint32_t n;
} words;

static void add_word(words *w, uint64_t v)
{
    for (uint32_t k = 0; k < w->n; k++)
        if (w->at[k] == v)
            return;
    w->at[w->n++] = v;
}

/* Distinct stretches of 32 bytes. */
static uint32_t sectors(const ft__ptx_access *a, uint32_t mask)
{
    words w = {.n = 0};

    for (int l = 0; l < FT__PTX_LANES; l++)
        if (mask >> l & 1) {
            add_word(&w, a->address[l] / 32);
            add_word(&w, (a->address[l] + a->size - 1) / 32);
        }
    return w.n;
}

/* The most distinct words that one of the 32 banks has to give to these lanes. */
static uint32_t conflicts(const ft__ptx_access *a, uint32_t mask)
{
    uint32_t in_bank[32] = {0}, most = 0;
    words w = {.n = 0};

    for (int l = 0; l < FT__PTX_LANES; l++)
        for (uint32_t b = 0; b < a->size && (mask >> l & 1); b += 4)
            add_word(&w, (a->address[l] + b) / 4);
    for (uint32_t k = 0; k < w.n; k++) {
        const uint32_t now = ++in_bank[w.at[k] % 32];

        most = now > most ? now : most;
    }
    return most;
}

/* Lanes of 8 bytes take turns by halves of a warp, of 16 by quarters. */
static uint32_t wavefronts(const ft__ptx_access *a, uint32_t mask)
{
    const int together = a->size <= 4 ? 32 : a->size <= 8 ? 16 : 8;
    uint32_t n = 0;

    for (int from = 0; from < 32; from += together)
        n += conflicts(a, mask & (uint32_t)(ft__ptx_mask((uint32_t)together) << from));
    return n;
}

static void count_width(ft_ptx_counts *c, unsigned space, int way, uint32_t size,
                        uint32_t lanes)
{
    unsigned width = 0;

    while (width + 1 < FT_PTX_WIDTHS && 1u << width < size)
        width++;
    c->bytes[space][way].value += (uint64_t)size * lanes;
    c->access[space][way][width].value += lanes;
}

static void count_way(ft__ptx_step *s, const ft__ptx_access *a,
                      const uint32_t by_space[], int way)
{
    ft_ptx_counts *c = s->k->count;

    for (unsigned space = 0; space < FT_PTX_SPACES; space++)
        if (by_space[space] != 0)
            count_width(c, space, way, a->size, ft__ptx_count_lanes(by_space[space]));
    if (by_space[FT_PTX_GLOBAL] != 0) {
        c->requests[way].value++;
        c->sectors[way].value += sectors(a, by_space[FT_PTX_GLOBAL]);
    }
    if (by_space[FT_PTX_SHARED] != 0) {
        c->shared[way].value++;
        c->wavefronts[way].value += wavefronts(a, by_space[FT_PTX_SHARED]);
    }
}

void ft__ptx_count_access(ft__ptx_step *s, const ft__ptx_access *a)
{
    uint32_t by_space[FT_PTX_SPACES] = {0};

    for (int l = 0; l < FT__PTX_LANES; l++) {
        uint64_t at = a->address[l];
        const unsigned space = a->space == FT_PTX_GENERIC ? resolve(&at) : a->space;

        by_space[space] |= a->mask & (uint32_t)1 << l;
    }
    if (a->loads)
        count_way(s, a, by_space, FT_PTX_LOADED);
    if (a->stores)
        count_way(s, a, by_space, FT_PTX_STORED);
}

/* Counts, and finds the bytes of each lane. False: stopped. */
static bool reach(ft__ptx_step *s, const ft__ptx_access *a, uint8_t *p[FT__PTX_LANES])
{
    for (int l = 0; l < FT__PTX_LANES; l++) {
        p[l] = NULL;
        if (!(a->mask >> l & 1))
            continue;
        if (a->address[l] % a->size != 0) {
            ft__ptx_stop(s, l, "0x%llx is no address for %u bytes",
                         (unsigned long long)a->address[l], a->size);
            return false;
        }
        p[l] = ft__ptx_bytes_at(s, a->space, l, a->address[l], a->size);
        if (p[l] == NULL)
            return false;
    }
    ft__ptx_count_access(s, a);
    return true;
}

static uint64_t read_bytes(const uint8_t *p, uint32_t n)
{
    uint64_t v = 0;

    memcpy(&v, p, n);
    return v;
}

/* The address is the first operand behind the destination, where there is one. */
static const ft__ptx_operand *operand(const ft__ptx_step *s, uint32_t n)
{
    return &s->f->operand[s->i->operands + n];
}

static bool begin_access(ft__ptx_step *s, ft__ptx_access *a, uint32_t which,
                         uint32_t elements)
{
    const uint32_t bits = ft__ptx_type_bits(s->i->type[0]);

    if (bits > 64 || bits < 8) {
        ft__ptx_unsupported(s, "accesses of %u bits", bits);
        return false;
    }
    *a = (ft__ptx_access){
        .mask = s->on, .size = bits / 8 * elements, .space = s->i->space};
    ft__ptx_addresses(s, operand(s, which), a);
    return true;
}

void ft__ptx_do_load(ft__ptx_step *s)
{
    const uint32_t bits = ft__ptx_type_bits(s->i->type[0]), n = s->leaf->n_d;
    const bool is_signed = ft__ptx_type_kind(s->i->type[0]) == FT__KIND_SIGNED;
    uint8_t *p[FT__PTX_LANES];
    ft__ptx_access a;

    if (!begin_access(s, &a, 1, n))
        return;
    a.loads = true;
    if (!reach(s, &a, p))
        return;
    for (uint32_t e = 0; e < n; e++) {
        uint64_t v[FT__PTX_LANES] = {0};

        for (int l = 0; l < FT__PTX_LANES; l++)
            if (p[l] != NULL) {
                v[l] = read_bytes(p[l] + e * bits / 8, bits / 8);
                v[l] = is_signed ? (uint64_t)ft__ptx_signed(v[l], bits) : v[l];
            }
        ft__ptx_put(s, s->leaf->d[e], v, s->on);
    }
}

void ft__ptx_do_store(ft__ptx_step *s)
{
    const uint32_t bytes = ft__ptx_type_bits(s->i->type[0]) / 8;
    const ft__ptx_operand *o = operand(s, 1);
    const uint32_t n = o->kind == FT__PTX_VECTOR ? o->n : 1;
    uint8_t *p[FT__PTX_LANES];
    ft__ptx_access a;

    if (!begin_access(s, &a, 0, n))
        return;
    a.stores = true;
    if (!reach(s, &a, p))
        return;
    for (uint32_t e = 0; e < n; e++) {
        uint64_t own[FT__PTX_LANES];
        const ft__ptx_operand *part =
            o->kind == FT__PTX_VECTOR ? &s->f->operand[o->index + e] : o;
        const uint64_t *v = ft__ptx_value(s, part, own);

        for (int l = 0; l < FT__PTX_LANES; l++)
            if (p[l] != NULL)
                memcpy(p[l] + e * bytes, &v[l], bytes);
    }
}

static uint64_t combine_floats(const ft__ptx_step *s, unsigned type, uint64_t old,
                               uint64_t b)
{
    const double x = ft__ptx_to_double(type, old), y = ft__ptx_to_double(type, b);
    double r = x + y;

    if (ft__ptx_has(s->f, s->i, FT__MOD_MIN))
        r = fmin(x, y);
    else if (ft__ptx_has(s->f, s->i, FT__MOD_MAX))
        r = fmax(x, y);
    return ft__ptx_from_double(type, r, FT__ROUND_NEAREST, false);
}

static uint64_t combine_integers(const ft__ptx_step *s, uint32_t bits, bool is_signed,
                                 uint64_t old, uint64_t b)
{
    const bool less =
        is_signed ? ft__ptx_signed(old, bits) < ft__ptx_signed(b, bits) : old < b;

#define HAS(mod) ft__ptx_has(s->f, s->i, FT__MOD_##mod)
    if (HAS(ADD))
        return old + b;
    if (HAS(MIN))
        return less ? old : b;
    if (HAS(MAX))
        return less ? b : old;
    if (HAS(INC))
        return old >= b ? 0 : old + 1;
    if (HAS(DEC))
        return old == 0 || old > b ? b : old - 1;
    if (HAS(AND))
        return old & b;
    if (HAS(OR))
        return old | b;
    return HAS(XOR) ? old ^ b : b;
#undef HAS
}

static uint64_t combine(const ft__ptx_step *s, uint64_t old, uint64_t b, uint64_t c)
{
    const unsigned type = s->i->type[0];
    const uint32_t bits = ft__ptx_type_bits(type);
    const unsigned half = type == FT__TYPE_F16X2 ? FT__TYPE_F16 : FT__TYPE_BF16;

    b &= ft__ptx_mask(bits);
    if (ft__ptx_has(s->f, s->i, FT__MOD_CAS))
        return old == b ? c & ft__ptx_mask(bits) : old;
    if (ft__ptx_has(s->f, s->i, FT__MOD_EXCH))
        return b;
    if (type == FT__TYPE_F16X2 || type == FT__TYPE_BF16X2)
        return combine_floats(s, half, old, b) |
               combine_floats(s, half, old >> 16, b >> 16) << 16;
    if (ft__ptx_type_kind(type) == FT__KIND_FLOAT)
        return combine_floats(s, type, old, b);
    return combine_integers(s, bits, ft__ptx_type_kind(type) == FT__KIND_SIGNED, old,
                            b) &
           ft__ptx_mask(bits);
}

/* The lanes come one after the other, the first one first. */
static void apply(ft__ptx_step *s, uint8_t *p[FT__PTX_LANES], uint32_t bytes,
                  const uint64_t *b, const uint64_t *c, uint64_t old[FT__PTX_LANES])
{
    for (int l = 0; l < FT__PTX_LANES; l++) {
        uint64_t now;

        if (p[l] == NULL)
            continue;
        old[l] = read_bytes(p[l], bytes);
        now = combine(s, old[l], b[l], c[l]);
        memcpy(p[l], &now, bytes);
    }
}

void ft__ptx_do_atomic(ft__ptx_step *s)
{
    const bool returns = s->i->opcode == FT__PTX_ATOM;
    const uint32_t first = returns ? 1 : 0;
    uint64_t own_b[FT__PTX_LANES], own_c[FT__PTX_LANES], old[FT__PTX_LANES] = {0};
    const uint64_t *b, *c;
    uint8_t *p[FT__PTX_LANES];
    ft__ptx_access a;

    if (s->i->vector > 1) {
        ft__ptx_unsupported(s, "atomics of vectors");
        return;
    }
    if (!begin_access(s, &a, first, 1))
        return;
    a.loads = a.stores = true;
    b = ft__ptx_value(s, operand(s, first + 1), own_b);
    c = s->i->n_operands > first + 2 ? ft__ptx_value(s, operand(s, first + 2), own_c)
                                     : b;
    if (!reach(s, &a, p))
        return;
    apply(s, p, ft__ptx_type_bits(s->i->type[0]) / 8, b, c, old);
    if (returns)
        ft__ptx_put(s, operand(s, 0), old, s->on);
}

/* Bytes that are read: all, or as many as the fourth operand says, which may be a
 * predicate that says none. */
static uint64_t wanted(const ft__ptx_step *s, const uint64_t *v, int lane,
                       uint32_t size)
{
    const ft__ptx_operand *o = s->i->n_operands > 3 ? operand(s, 3) : NULL;

    if (o == NULL)
        return size;
    if (o->kind == FT__PTX_REG && s->f->reg[o->index].type == FT__TYPE_PRED)
        return v[lane] != o->negated ? 0 : size;
    if (o->kind == FT__PTX_REG && ft__ptx_type_bits(s->f->reg[o->index].type) == 64)
        return size; /* a cache policy */
    return (uint32_t)v[lane] < size ? (uint32_t)v[lane] : size;
}

static void copy_lane(ft__ptx_step *s, const ft__ptx_access *to,
                      const ft__ptx_access *from, int lane, uint64_t n)
{
    uint8_t *d = ft__ptx_bytes_at(s, to->space, lane, to->address[lane], to->size);
    uint8_t *src =
        n > 0 && d != NULL
            ? ft__ptx_bytes_at(s, from->space, lane, from->address[lane], (uint32_t)n)
            : d;

    if (d == NULL || src == NULL)
        return;
    if (n > 0)
        memcpy(d, src, n);
    memset(d + n, 0, to->size - n);
}

/* At once: there is nothing that could be seen of doing it later. */
void ft__ptx_do_copy(ft__ptx_step *s)
{
    ft__ptx_access to = {.mask = s->on, .space = FT_PTX_SHARED, .stores = true};
    ft__ptx_access from = {.mask = s->on, .space = FT_PTX_GLOBAL, .loads = true};
    uint64_t own[FT__PTX_LANES];
    const uint64_t *v = own;

    if (ft__ptx_has(s->f, s->i, FT__MOD_COMMIT_GROUP) ||
        ft__ptx_has(s->f, s->i, FT__MOD_WAIT_GROUP) ||
        ft__ptx_has(s->f, s->i, FT__MOD_WAIT_ALL))
        return;
    if (ft__ptx_has(s->f, s->i, FT__MOD_BULK) ||
        ft__ptx_has(s->f, s->i, FT__MOD_MBARRIER) || s->i->n_operands < 3) {
        ft__ptx_unsupported(s, "copies other than cp.async of 4 to 16 bytes");
        return;
    }
    to.size = from.size = (uint32_t)operand(s, 2)->bits;
    ft__ptx_addresses(s, operand(s, 0), &to);
    ft__ptx_addresses(s, operand(s, 1), &from);
    if (s->i->n_operands > 3)
        v = ft__ptx_value(s, operand(s, 3), own);
    ft__ptx_count_access(s, &to);
    ft__ptx_count_access(s, &from);
    for (int l = 0; l < FT__PTX_LANES; l++)
        if (s->on >> l & 1)
            copy_lane(s, &to, &from, l, wanted(s, v, l, to.size));
}

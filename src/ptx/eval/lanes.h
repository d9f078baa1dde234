#ifndef PTX_EVAL_LANES_H
#define PTX_EVAL_LANES_H

#include <math.h>

#include "ptx/eval/eval.h"

/* One instruction on many lanes: what the files behind ft__ptx_eval() share. Sources
 * that an instruction does not have point to the first one, so that a loop may read
 * them all. */
typedef struct ft__ptx_lanes {
    const ft__ptx_function *f;
    const ft__ptx_insn *i;
    uint64_t *d, *q;               /* destinations; q: of p|q, else NULL */
    const uint64_t *a, *b, *c, *e; /* sources */
    const uint64_t *o;             /* the fifth; NULL: none */
    uint32_t n, sources;           /* lanes; sources there are */
    uint32_t bits;                 /* of the first type */
    ft__ptx_kind kind;
} ft__ptx_lanes;

/* d[l] = value, an expression of A, B, C, on all lanes. Compilers make vectors of it.
 */
#define FT__PTX_EACH(w, value)                                                         \
    do {                                                                               \
        uint64_t *d_ = (w)->d;                                                         \
        const uint64_t *a_ = (w)->a, *b_ = (w)->b, *c_ = (w)->c;                       \
                                                                                       \
        for (uint32_t l = 0, n_ = (w)->n; l < n_; l++) {                               \
            const uint64_t A = a_[l], B = b_[l], C = c_[l];                            \
                                                                                       \
            (void)B;                                                                   \
            (void)C;                                                                   \
            d_[l] = (value);                                                           \
        }                                                                              \
    } while (0)

static inline uint64_t ft__ptx_mask(uint32_t bits)
{
    return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
}

/* The low bits as a signed number. */
static inline int64_t ft__ptx_signed(uint64_t v, uint32_t bits)
{
    const uint64_t top = (uint64_t)1 << (bits - 1);

    return (int64_t)(((v & ft__ptx_mask(bits)) ^ top) - top);
}

static inline bool ft__ptx_lanes_has(const ft__ptx_lanes *w, unsigned mod)
{
    return ft__ptx_has(w->f, w->i, mod);
}

/* Each computes what it knows and says whether it did; with n == 0 that is all. */
bool ft__ptx_eval_int(const ft__ptx_lanes *w);
bool ft__ptx_eval_float(const ft__ptx_lanes *w);
bool ft__ptx_eval_convert(const ft__ptx_lanes *w); /* address spaces, too */

typedef enum ft__ptx_round {
    FT__ROUND_NEAREST, /* ties to even */
    FT__ROUND_AWAY,    /* nearest, ties away from zero */
    FT__ROUND_ZERO,
    FT__ROUND_DOWN,
    FT__ROUND_UP,
} ft__ptx_round;

/* Of .rn .rz .rm .rp .rna and the integer ones, .rni ...; `usual` where there is none.
 */
static inline ft__ptx_round ft__ptx_lanes_round(const ft__ptx_lanes *w,
                                                ft__ptx_round usual)
{
    for (uint32_t k = 0; k < w->i->n_mods; k++)
        switch (w->f->mod[w->i->mods + k]) {
        case FT__MOD_RN:
        case FT__MOD_RNI: return FT__ROUND_NEAREST;
        case FT__MOD_RNA: return FT__ROUND_AWAY;
        case FT__MOD_RZ:
        case FT__MOD_RZI: return FT__ROUND_ZERO;
        case FT__MOD_RM:
        case FT__MOD_RMI: return FT__ROUND_DOWN;
        case FT__MOD_RP:
        case FT__MOD_RPI: return FT__ROUND_UP;
        default: break;
        }
    return usual;
}

/* Is `type` a float of one value that the two below know? F16 BF16 TF32 F32 F64 and
 * those of 8 bits, E4M3 and E5M2. */
bool ft__ptx_is_float(unsigned type);
double ft__ptx_to_double(unsigned type, uint64_t bits);

/* Denormal numbers of 32 bits are zeros under .ftz. */
static inline double ft__ptx_flushed(double x, bool ftz)
{
    return ftz && fabs(x) < 0x1p-126 ? copysign(0, x) : x;
}

/* Rounded from v. NaN is the type's own one; beyond the largest: infinity or, `finite`
 * and for E4M3, the largest. */
uint64_t ft__ptx_from_double(unsigned type, double v, ft__ptx_round r, bool finite);
/* From sign and magnitude, each bit of which counts. */
uint64_t ft__ptx_from_integer(unsigned type, uint64_t magnitude, bool negative,
                              ft__ptx_round r);

#endif

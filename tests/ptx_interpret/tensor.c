#include <string.h>

#include "ptx/eval/lanes.h"
#include "ptx_interpret/machine.h"

/* Matrices that a warp holds together. */

enum { MOST = 64 * 64, REGS = 16 }; /* elements of a matrix; registers of a lane */

static bool has(const ft__ptx_step *s, unsigned mod)
{
    return ft__ptx_has(s->f, s->i, mod);
}

static const ft__ptx_operand *operand(const ft__ptx_step *s, uint32_t n)
{
    return &s->f->operand[s->i->operands + n];
}

/* Registers of an operand that is a vector, or one. */
static uint32_t width_of(const ft__ptx_operand *o)
{
    return o->kind == FT__PTX_VECTOR ? o->n : 1;
}

static const ft__ptx_operand *part(const ft__ptx_step *s, const ft__ptx_operand *o,
                                   uint32_t n)
{
    return o->kind == FT__PTX_VECTOR ? &s->f->operand[o->index + n] : o;
}

static bool gather(ft__ptx_step *s, uint64_t v[REGS][FT__PTX_LANES],
                   const ft__ptx_operand *o)
{
    if (width_of(o) > REGS) {
        ft__ptx_unsupported(s, "fragments of %u registers", width_of(o));
        return false;
    }
    for (uint32_t r = 0; r < width_of(o); r++) {
        uint64_t own[FT__PTX_LANES];
        const uint64_t *p = ft__ptx_value(s, part(s, o, r), own);

        memcpy(v[r], p, sizeof v[r]);
    }
    return true;
}

/* ldmatrix, stmatrix, movmatrix: matrices of 8 x 8 elements of 16 bits. */

/* Lane and half of a register that hold row r, column c. */
static uint32_t lane_of(uint32_t r, uint32_t c, bool transposed)
{
    return transposed ? c * 4 + r / 2 : r * 4 + c / 2;
}

static void set_half(uint64_t *v, uint32_t half, uint16_t x)
{
    *v = (*v & ~((uint64_t)0xffff << 16 * half)) | (uint64_t)x << 16 * half;
}

/* Each quarter of the warp gives the rows of one matrix. False: stopped. */
static bool count_rows(ft__ptx_step *s, const ft__ptx_access *rows, uint32_t n,
                       bool loads)
{
    ft__ptx_access a = *rows;

    a.loads = loads;
    a.stores = !loads;
    a.size = 16;
    a.mask = n == 4 ? 0xffffffff : ((uint32_t)1 << 8 * n) - 1;
    for (int l = 0; l < FT__PTX_LANES; l++)
        if ((a.mask >> l & 1) && a.address[l] % 16 != 0) {
            ft__ptx_stop(s, l, "0x%llx is no address for a row of 16 bytes",
                         (unsigned long long)a.address[l]);
            return false;
        }
    ft__ptx_count_access(s, &a);
    /* the conflicts are those of rows, the bytes those that lanes get */
    s->k->count->bytes[FT_PTX_SHARED][!loads].value -= (uint64_t)16 * 8 * n;
    s->k->count->access[FT_PTX_SHARED][!loads][4].value -= (uint64_t)8 * n;
    s->k->count->bytes[FT_PTX_SHARED][!loads].value +=
        (uint64_t)4 * n * ft__ptx_count_lanes(s->on);
    s->k->count->access[FT_PTX_SHARED][!loads][n == 4   ? 4
                                               : n == 2 ? 3
                                                        : 2]
        .value += ft__ptx_count_lanes(s->on);
    return true;
}

static bool rows_of(ft__ptx_step *s, uint32_t which, uint32_t n, bool loads,
                    ft__ptx_access *a)
{
    if (s->i->type[0] != FT__TYPE_B16 || !(n == 1 || n == 2 || n == 4)) {
        ft__ptx_unsupported(s, "matrices other than of 8 x 8 elements of 16 bits");
        return false;
    }
    *a = (ft__ptx_access){.space = s->i->space};
    ft__ptx_addresses(s, operand(s, which), a);
    return count_rows(s, a, n, loads);
}

static void load_matrices(ft__ptx_step *s)
{
    const ft__ptx_operand *o = operand(s, 0);
    const uint32_t n = width_of(o);
    ft__ptx_access a;

    if (!rows_of(s, 1, n, true, &a))
        return;
    for (uint32_t m = 0; m < n; m++) {
        uint64_t v[FT__PTX_LANES] = {0};

        for (uint32_t r = 0; r < 8; r++) {
            const uint8_t *p = ft__ptx_bytes_at(s, a.space, (int)(m * 8 + r),
                                                a.address[m * 8 + r], 16);

            for (uint32_t c = 0; p != NULL && c < 8; c++) {
                uint16_t x;

                memcpy(&x, p + 2 * c, 2);
                if (has(s, FT__MOD_TRANS))
                    set_half(&v[lane_of(r, c, true)], r % 2, x);
                else
                    set_half(&v[lane_of(r, c, false)], c % 2, x);
            }
        }
        ft__ptx_put(s, part(s, o, m), v, s->on);
    }
}

static void store_matrices(ft__ptx_step *s)
{
    const ft__ptx_operand *o = operand(s, 1);
    const uint32_t n = width_of(o);
    const bool t = has(s, FT__MOD_TRANS);
    uint64_t v[REGS][FT__PTX_LANES];
    ft__ptx_access a;

    if (!rows_of(s, 0, n, false, &a) || !gather(s, v, o))
        return;
    for (uint32_t m = 0; m < n; m++)
        for (uint32_t r = 0; r < 8; r++) {
            uint8_t *p = ft__ptx_bytes_at(s, a.space, (int)(m * 8 + r),
                                          a.address[m * 8 + r], 16);

            for (uint32_t c = 0; p != NULL && c < 8; c++) {
                const uint16_t x =
                    (uint16_t)(v[m][lane_of(r, c, t)] >> 16 * (t ? r % 2 : c % 2));

                memcpy(p + 2 * c, &x, 2);
            }
        }
}

static void transpose(ft__ptx_step *s)
{
    uint64_t v[REGS][FT__PTX_LANES], d[FT__PTX_LANES] = {0};

    if (!gather(s, v, operand(s, 1)))
        return;
    for (uint32_t r = 0; r < 8; r++)
        for (uint32_t c = 0; c < 8; c++)
            set_half(&d[lane_of(c, r, false)], r % 2,
                     (uint16_t)(v[0][lane_of(r, c, false)] >> 16 * (c % 2)));
    ft__ptx_put(s, operand(s, 0), d, s->on);
}

void ft__ptx_do_matrix(ft__ptx_step *s)
{
    if (s->on == 0)
        return;
    if (s->i->opcode == FT__PTX_LDMATRIX)
        load_matrices(s);
    else if (s->i->opcode == FT__PTX_STMATRIX)
        store_matrices(s);
    else
        transpose(s);
}

/* A matrix of whatever type, row by row. */
typedef struct matrix {
    double at[MOST];
    uint32_t rows, cols;
} matrix;

static double number(unsigned type, uint64_t v)
{
    const uint32_t bits = ft__ptx_type_bits(type);

    if (ft__ptx_type_kind(type) == FT__KIND_FLOAT)
        return ft__ptx_to_double(type, v & ft__ptx_mask(bits));
    return ft__ptx_type_kind(type) == FT__KIND_SIGNED
               ? (double)ft__ptx_signed(v, bits)
               : (double)(v & ft__ptx_mask(bits));
}

static uint64_t bits_of(unsigned type, double v, bool finite)
{
    if (ft__ptx_type_kind(type) == FT__KIND_FLOAT)
        return ft__ptx_from_double(type, v, FT__ROUND_NEAREST, false);
    if (finite)
        v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
    return (uint32_t)(int64_t)v;
}

static bool known_type(unsigned type)
{
    return ft__ptx_is_float(type) ||
           (ft__ptx_type_kind(type) == FT__KIND_SIGNED &&
            ft__ptx_type_bits(type) >= 4) ||
           (ft__ptx_type_kind(type) == FT__KIND_UNSIGNED &&
            ft__ptx_type_bits(type) >= 4);
}

/* Sums in doubles: exact for integers, and of floats more exact than any GPU's. */
static void multiply(matrix *d, const matrix *a, const matrix *b)
{
    for (uint32_t i = 0; i < d->rows; i++)
        for (uint32_t j = 0; j < d->cols; j++)
            for (uint32_t k = 0; k < a->cols; k++)
                d->at[i * d->cols + j] +=
                    a->at[i * a->cols + k] * b->at[k * b->cols + j];
}

/* mma: which lane holds what, as the tables of PTX have it. */

/* The elements of fragment register r, part j, in lane l: of a, of b, and of c and d.
 */
typedef enum which { OF_A, OF_B, OF_C } which;

static uint32_t index_of(which w, const uint16_t shape[3], uint32_t l, uint32_t r,
                         uint32_t j, uint32_t per)
{
    const uint32_t group = l / 4, in = l % 4;
    uint32_t row, col;

    if (w == OF_A) {
        row = group + (shape[0] > 8 ? r % 2 * 8 : 0);
        col = in * per + j + (shape[0] > 8 ? r / 2 : r) * 4 * per;
        return row * shape[2] + col;
    }
    if (w == OF_B)
        return (in * per + j + r * 4 * per) * shape[1] + group;
    row = group + (per == 2 ? r : r / 2) * 8;
    col = in * 2 + (per == 2 ? j : r % 2);
    return row * shape[1] + col;
}

static uint32_t per_register(unsigned type)
{
    const uint32_t bits = type == FT__TYPE_TF32 ? 32 : ft__ptx_type_bits(type);

    return bits >= 32 ? 1 : 32 / bits;
}

static bool into_matrix(ft__ptx_step *s, matrix *m, which w, const ft__ptx_operand *o,
                        unsigned type)
{
    const uint32_t per = per_register(type), bits = ft__ptx_type_bits(type);
    uint64_t v[REGS][FT__PTX_LANES];

    m->rows = w == OF_B ? s->i->shape[2] : s->i->shape[0];
    m->cols = w == OF_A ? s->i->shape[2] : s->i->shape[1];
    if (width_of(o) * per * FT__PTX_LANES != m->rows * m->cols ||
        m->rows * m->cols > MOST) {
        ft__ptx_unsupported(s, "fragments of this shape");
        return false;
    }
    if (!gather(s, v, o))
        return false;
    for (uint32_t l = 0; l < FT__PTX_LANES; l++)
        for (uint32_t r = 0; r < width_of(o); r++)
            for (uint32_t j = 0; j < per; j++)
                m->at[index_of(w, s->i->shape, l, r, j, per)] =
                    number(type, v[r][l] >> j * bits);
    return true;
}

static void out_of_matrix(ft__ptx_step *s, const matrix *m, const ft__ptx_operand *o,
                          unsigned type)
{
    const uint32_t per = per_register(type), bits = ft__ptx_type_bits(type);
    const bool finite = has(s, FT__MOD_SATFINITE);

    for (uint32_t r = 0; r < width_of(o); r++) {
        uint64_t v[FT__PTX_LANES] = {0};

        for (uint32_t l = 0; l < FT__PTX_LANES; l++)
            for (uint32_t j = 0; j < per; j++)
                v[l] |= bits_of(type, m->at[index_of(OF_C, s->i->shape, l, r, j, per)],
                                finite)
                        << j * bits;
        ft__ptx_put(s, part(s, o, r), v, s->on);
    }
}

void ft__ptx_do_mma(ft__ptx_step *s)
{
    const uint8_t *type = s->i->type;
    matrix a, b, d;

    if (s->on == 0)
        return;
    if (s->i->n_types != 4 || s->i->n_operands != 4 || !known_type(type[0]) ||
        !known_type(type[1]) || !known_type(type[2]) || has(s, FT__MOD_SP) ||
        has(s, FT__MOD_BLOCK_SCALE) || !has(s, FT__MOD_ROW) || !has(s, FT__MOD_COL)) {
        ft__ptx_unsupported(s, "this kind of mma");
        return;
    }
    if (into_matrix(s, &a, OF_A, operand(s, 1), type[1]) &&
        into_matrix(s, &b, OF_B, operand(s, 2), type[2]) &&
        into_matrix(s, &d, OF_C, operand(s, 3), type[3])) {
        multiply(&d, &a, &b);
        out_of_matrix(s, &d, operand(s, 0), type[0]);
    }
}

/* wmma: fragments are opaque, so lane l has the l-th 32nd of the matrix. */

static bool spread(ft__ptx_step *s, matrix *m, const ft__ptx_operand *o, unsigned type)
{
    const uint32_t per = per_register(type), each = m->rows * m->cols / FT__PTX_LANES;
    uint64_t v[REGS][FT__PTX_LANES];

    if (each > width_of(o) * per || m->rows * m->cols > MOST) {
        ft__ptx_unsupported(s, "fragments of this shape");
        return false;
    }
    if (!gather(s, v, o))
        return false;
    for (uint32_t n = 0; n < each * FT__PTX_LANES; n++) {
        const uint32_t e = n % each;

        m->at[n] =
            number(type, v[e / per][n / each] >> e % per * ft__ptx_type_bits(type));
    }
    return true;
}

static void collect(ft__ptx_step *s, const matrix *m, const ft__ptx_operand *o,
                    unsigned type)
{
    const uint32_t per = per_register(type), each = m->rows * m->cols / FT__PTX_LANES;
    const bool finite = has(s, FT__MOD_SATFINITE);

    for (uint32_t r = 0; r < width_of(o); r++) {
        uint64_t v[FT__PTX_LANES] = {0};

        for (uint32_t e = r * per; e < each && e < (r + 1) * per; e++)
            for (uint32_t l = 0; l < FT__PTX_LANES; l++)
                v[l] |= (bits_of(type, m->at[l * each + e], finite) &
                         ft__ptx_mask(ft__ptx_type_bits(type)))
                        << e % per * ft__ptx_type_bits(type);
        ft__ptx_put(s, part(s, o, r), v, s->on);
    }
}

static void shape_of(const ft__ptx_step *s, matrix *m)
{
    const uint16_t *n = s->i->shape;

    m->rows = has(s, FT__MOD_B) ? n[2] : n[0];
    m->cols = has(s, FT__MOD_A) ? n[2] : n[1];
}

/* Address of the element at row i, column j, `stride` elements a row, or a column. */
static uint64_t element_at(const ft__ptx_step *s, const matrix *m, uint64_t base,
                           uint64_t stride, uint32_t n, uint32_t bytes)
{
    const uint32_t i = n / m->cols, j = n % m->cols;

    return base + (has(s, FT__MOD_ROW) ? i * stride + j : j * stride + i) * bytes;
}

/* Sectors of all rows together; the warp asks once. */
static void count_matrix(ft__ptx_step *s, const matrix *m, const uint64_t at[],
                         unsigned space, uint32_t bytes, bool loads)
{
    const uint32_t each = m->rows * m->cols / FT__PTX_LANES;
    ft__ptx_access a = {
        .mask = s->on, .space = (uint8_t)space, .loads = loads, .stores = !loads};
    ft_ptx_tally *sectors = &s->k->count->sectors[!loads];
    uint64_t before = sectors->value, seen[MOST], n = 0;

    a.size = each * bytes;
    for (int l = 0; l < FT__PTX_LANES; l++)
        a.address[l] = at[(uint32_t)l * each];
    ft__ptx_count_access(s, &a);
    if (sectors->value == before)
        return;
    for (uint32_t e = 0; e < m->rows * m->cols; e++) {
        uint64_t k = 0;

        while (k < n && seen[k] != at[e] / 32)
            k++;
        if (k == n)
            seen[n++] = at[e] / 32;
    }
    sectors->value = before + n;
}

static uint64_t stride_of(ft__ptx_step *s, uint32_t at, const matrix *m)
{
    uint64_t own[FT__PTX_LANES];

    if (s->i->n_operands > at)
        return (uint32_t)ft__ptx_value(s, operand(s, at), own)[ft__ptx_lowest(s->on)];
    return has(s, FT__MOD_ROW) ? m->cols : m->rows;
}

/* The first and the last operand are address and fragment, either way round. */
static void move_matrix(ft__ptx_step *s, bool loads)
{
    const unsigned type = s->i->type[0];
    const uint32_t bytes = ft__ptx_type_bits(type) / 8;
    ft__ptx_access a = {.mask = s->on, .space = s->i->space};
    uint64_t at[MOST], stride;
    const unsigned space = s->i->space;
    matrix m;

    shape_of(s, &m);
    if (bytes == 0 || !known_type(type) || m.rows * m.cols > MOST) {
        ft__ptx_unsupported(s, "this kind of wmma");
        return;
    }
    if (!loads && !spread(s, &m, operand(s, 1), type))
        return;
    ft__ptx_addresses(s, operand(s, loads ? 1 : 0), &a);
    stride = stride_of(s, 2, &m);
    for (uint32_t n = 0; n < m.rows * m.cols; n++) {
        uint8_t *p;
        uint64_t v = 0;

        at[n] = element_at(s, &m, a.address[ft__ptx_lowest(s->on)], stride, n, bytes);
        p = ft__ptx_bytes_at(s, space, ft__ptx_lowest(s->on), at[n], bytes);
        if (p == NULL)
            return;
        if (loads) {
            memcpy(&v, p, bytes);
            m.at[n] = number(type, v);
        } else {
            v = bits_of(type, m.at[n], false);
            memcpy(p, &v, bytes);
        }
    }
    count_matrix(s, &m, at, space, bytes, loads);
    if (loads)
        collect(s, &m, operand(s, 0), type);
}

/* Types of d, a, b, c: all stand there but for halves, where those of d and c do. */
static void product_of_matrices(ft__ptx_step *s)
{
    const bool halves = s->i->n_types == 2;
    const unsigned ta = halves ? FT__TYPE_F16 : s->i->type[1];
    const unsigned tb = halves ? FT__TYPE_F16 : s->i->type[2];
    const unsigned tc = halves ? s->i->type[1] : s->i->type[3];
    const uint16_t *n = s->i->shape;
    matrix a = {.rows = n[0], .cols = n[2]}, b = {.rows = n[2], .cols = n[1]};
    matrix d = {.rows = n[0], .cols = n[1]};

    if (!known_type(ta) || !known_type(tb) || !known_type(tc)) {
        ft__ptx_unsupported(s, "this kind of wmma");
        return;
    }
    if (spread(s, &a, operand(s, 1), ta) && spread(s, &b, operand(s, 2), tb) &&
        spread(s, &d, operand(s, 3), tc)) {
        multiply(&d, &a, &b);
        collect(s, &d, operand(s, 0), s->i->type[0]);
    }
}

void ft__ptx_do_wmma(ft__ptx_step *s)
{
    if (s->on == 0)
        return;
    if (has(s, FT__MOD_LOAD))
        move_matrix(s, true);
    else if (has(s, FT__MOD_STORE))
        move_matrix(s, false);
    else
        product_of_matrices(s);
}

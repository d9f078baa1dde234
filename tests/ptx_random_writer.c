/* The statements of random programs. */
#include "ptx_random_writer.h"

#include <stdio.h>

#include "ptx_random.h"

typedef struct name {
    char text[24];
} name;

#define NAME(...)                                                                      \
    do {                                                                               \
        snprintf(n.text, sizeof n.text, __VA_ARGS__);                                  \
        return n;                                                                      \
    } while (0)

/* The same in all threads of a block. */
static name uniform_value(writer *w)
{
    static const int which[] = {3, 4, 5, 6, 7, 8, 9};
    name n;

    if (chance(w, 25))
        NAME("%d", (int)below(w, 40) - 4);
    NAME("%%r%d", which[below(w, 7)]);
}

static name value(writer *w)
{
    const uint32_t kind = below(w, 10);
    name n;

    if (kind < 2 && w->n_loops > 0 && w->loops[w->n_loops - 1].at >= 0)
        NAME("%%c%d", w->loops[w->n_loops - 1].at);
    if (kind < 6)
        NAME("%%v%u", below(w, VARIABLES));
    if (kind < 9)
        NAME("%%r%u", below(w, FIXED));
    NAME("%d", (int)below(w, 200) - 20);
}

static name condition_value(writer *w)
{
    name n;

    if (w->depends && chance(w, 30))
        NAME("%%d%u", below(w, DATA));
    return w->uniform > 1 ? uniform_value(w) : value(w);
}

/* A register that holds a value's low bits, at most `most`. */
static uint32_t bounded(writer *w, uint32_t most, int uniform)
{
    const name v = uniform ? uniform_value(w) : value(w);
    const uint32_t t = w->t++;

    if (chance(w, 50))
        ADD("\tand.b32 %%t%u, %s, %u;\n", t, v.text, most);
    else if (chance(w, 50))
        ADD("\trem.u32 %%t%u, %s, %u;\n", t, v.text, most + 1);
    else
        ADD("\tmin.u32 %%t%u, %s, %u;\n", t, v.text, most);
    return t;
}

static const char *comparison(writer *w)
{
    static const char *const all[] = {"eq.s32", "ne.s32", "lt.s32", "le.s32", "gt.s32",
                                      "ge.s32", "lt.u32", "ge.u32", "gt.u32", "le.u32"};

    return all[below(w, 10)];
}

/* Is one of two numbers negative, or are both: as compilers ask it. */
static void either_sign(writer *w, uint32_t p, uint32_t t, name a, name b)
{
    static const char *const asks[] = {"lt.s32", "ge.s32", "gt.s32", "le.s32"};
    const uint32_t x = w->t++, y = w->t++, which = t / 2 % 4;

    ADD("\tmov.b32 %%t%u, %s;\n\tsub.s32 %%t%u, %%t%u, %u;\n", x, a.text, x, x, t % 40);
    ADD("\tmov.b32 %%t%u, %s;\n\tsub.s32 %%t%u, %%t%u, %u;\n", y, b.text, y, y, t % 29);
    ADD("\t%s.b32 %%t%u, %%t%u, %%t%u;\n", t % 2 ? "or" : "and", t, x, y);
    ADD("\tsetp.%s %%p%u, %%t%u, %d;\n", asks[which], p, t, which < 2 ? 0 : -1);
}

/* What is left of a division by 3, 5, 7 or 9, by products as compilers write it. */
static void left_of_division(writer *w, uint32_t p, uint32_t t, name a, const char *how)
{
    static const struct {
        uint32_t by;
        int32_t magic;
        uint32_t shift;
    } divisors[] = {
        {3, 1431655766, 0}, {5, 1717986919, 1}, {7, -1840700269, 2}, {9, 954437177, 1}};
    const uint32_t x = w->t++, y = w->t++, which = t / 3 % 4;

    ADD("\tmov.b32 %%t%u, %s;\n", x, a.text);
    ADD("\tmul.hi.s32 %%t%u, %%t%u, %d;\n", y, x, divisors[which].magic);
    if (divisors[which].magic < 0)
        ADD("\tadd.s32 %%t%u, %%t%u, %%t%u;\n", y, y, x);
    ADD("\tshr.u32 %%t%u, %%t%u, 31;\n", t, y);
    ADD("\tshr.s32 %%t%u, %%t%u, %u;\n", y, y, divisors[which].shift);
    ADD("\tadd.s32 %%t%u, %%t%u, %%t%u;\n", t, t, y);
    ADD("\tmul.lo.s32 %%t%u, %%t%u, %u;\n\tsub.s32 %%t%u, %%t%u, %%t%u;\n", t, t,
        divisors[which].by, t, x, t);
    ADD("\tsetp.%s %%p%u, %%t%u, %u;\n", how, p, t, t % divisors[which].by);
}

/* Something that is true of some threads and false of others, often. */
static uint32_t simple_condition(writer *w)
{
    const uint32_t p = w->p++, t = w->t++;
    name a = condition_value(w), b = condition_value(w);

    if (chance(w, 30)) {
        ADD("\tand.b32 %%t%u, %s, %u;\n", t, a.text, 1 + below(w, 15));
        ADD("\tsetp.%s %%p%u, %%t%u, %u;\n", comparison(w), p, t, below(w, 6));
    } else if (chance(w, 25)) {
        ADD("\tbfe.u32 %%t%u, %s, %u, %u;\n", t, a.text, below(w, 6), 1 + below(w, 5));
        ADD("\tsetp.%s %%p%u, %%t%u, %u;\n", comparison(w), p, t, below(w, 20));
    } else if (chance(w, 25)) {
        ADD("\t%s.%s %%t%u, %s, %u;\n", chance(w, 50) ? "div" : "rem",
            chance(w, 50) ? "u32" : "s32", t, a.text, 1 + below(w, 12));
        ADD("\tsetp.%s %%p%u, %%t%u, %u;\n", comparison(w), p, t, below(w, 9));
    } else if (chance(w, 15)) {
        ADD("\tmov.b32 %%t%u, %s;\n\tcvt.rn.f32.s32 %%g%u, %%t%u;\n", t, a.text, t, t);
        ADD("\tmul.f32 %%g%u, %%g%u, 0f3E800000;\n", t, t);
        ADD("\tsetp.%s.f32 %%p%u, %%g%u, 0f40%02X0000;\n", chance(w, 50) ? "lt" : "geu",
            p, t, below(w, 256));
    } else if (chance(w, 15) && w->uniform < 2) {
        ADD("\tsetp.%s.%c64 %%p%u, %%l%u, %d;\n", chance(w, 50) ? "lt" : "ge",
            chance(w, 50) ? 's' : 'u', p, below(w, WIDE), (int)below(w, 100) - 20);
    } else {
        const char *how = comparison(w);

        if (t % 3 == 0)
            either_sign(w, p, t, a, b);
        else if (t % 3 == 1)
            left_of_division(w, p, t, a, how);
        else
            ADD("\tmov.b32 %%t%u, %s;\n\tsetp.%s %%p%u, %%t%u, %s;\n", t, a.text, how,
                p, t, b.text);
    }
    return p;
}

static uint32_t condition(writer *w)
{
    static const char *const ops[] = {"and", "or", "xor"};
    uint32_t p = simple_condition(w), q, r;

    if (!chance(w, 30))
        return p;
    r = w->p++;
    if (chance(w, 40)) {
        ADD("\tsetp.%s.%s %%p%u, %%r%u, %u, %s%%p%u;\n", "lt",
            chance(w, 50) ? "and.s32" : "or.u32", r,
            w->uniform > 1 ? 3 + below(w, 7) : below(w, FIXED), below(w, 60),
            chance(w, 50) ? "!" : "", p);
    } else if (chance(w, 20)) {
        ADD("\tnot.pred %%p%u, %%p%u;\n", r, p);
    } else {
        q = simple_condition(w);
        ADD("\t%s.pred %%p%u, %%p%u, %%p%u;\n", ops[below(w, 3)], r, p, q);
    }
    return r;
}

static const char *maybe_not(writer *w)
{
    return chance(w, 50) ? "!" : "";
}

static void guard(writer *w)
{
    if (chance(w, 15)) {
        const uint32_t p = condition(w);

        ADD("\t@%s%%p%u ", maybe_not(w), p);
    } else {
        ADD("\t");
    }
}

static void arithmetic(writer *w)
{
    static const char *const two[] = {
        "add.s32",    "sub.s32", "mul.lo.s32", "and.b32", "or.b32",  "xor.b32",
        "min.s32",    "max.u32", "min.u32",    "max.s32", "add.u32", "mul.hi.u32",
        "mul.hi.s32", "rem.u32", "div.u32",    "div.s32", "rem.s32", "mul24.lo.u32"};
    static const char *const one[] = {
        "popc.b32", "clz.b32", "brev.b32",  "not.b32",    "neg.s32",
        "abs.s32",  "mov.b32", "bfind.u32", "cvt.u32.u8", "cvt.s32.s16"};
    static const char *const shift[] = {"shl.b32", "shr.u32", "shr.s32"};
    const uint32_t d = below(w, VARIABLES), kind = below(w, 10);
    const name a = value(w), b = value(w), c = value(w);

    guard(w);
    if (kind < 4)
        ADD("%s %%v%u, %s, %s;\n", two[below(w, 18)], d, a.text, b.text);
    else if (kind < 5)
        ADD("mad.lo.s32 %%v%u, %s, %s, %s;\n", d, a.text, b.text, c.text);
    else if (kind < 6)
        ADD("%s %%v%u, %%v%u;\n", one[below(w, 10)], d, below(w, VARIABLES));
    else if (kind < 7)
        ADD("%s %%v%u, %s, %u;\n", shift[below(w, 3)], d, a.text, below(w, 36));
    else if (kind < 8)
        ADD("lop3.b32 %%v%u, %%v%u, %s, %s, %u;\n", d, below(w, VARIABLES), b.text,
            c.text, below(w, 256));
    else if (kind < 9)
        ADD("prmt.b32 %%v%u, %%v%u, %%r%u, %u;\n", d, below(w, VARIABLES),
            below(w, FIXED), below(w, 65536));
    else
        ADD("bfi.b32 %%v%u, %s, %%v%u, %u, %u;\n", d, a.text, below(w, VARIABLES),
            below(w, 33), below(w, 33));
}

static void select_one(writer *w)
{
    const uint32_t p = condition(w);
    const name a = value(w), b = value(w);

    ADD("\tselp.b32 %%v%u, %s, %s, %%p%u;\n", below(w, VARIABLES), a.text, b.text, p);
}

static void wide(writer *w)
{
    const uint32_t d = below(w, WIDE), s = below(w, WIDE);

    guard(w);
    switch (below(w, 6)) {
    case 0: ADD("cvt.u64.u32 %%l%u, %%v%u;\n", d, below(w, VARIABLES)); break;
    case 1: ADD("cvt.s64.s32 %%l%u, %%r%u;\n", d, below(w, FIXED)); break;
    case 2:
        ADD("mul.wide.u32 %%l%u, %%v%u, %%r%u;\n", d, below(w, VARIABLES),
            below(w, FIXED));
        break;
    case 3:
        ADD("mad.lo.s64 %%l%u, %%l%u, %%l%u, %u;\n", d, s, below(w, WIDE),
            below(w, 99));
        break;
    case 4: ADD("shr.u64 %%l%u, %%l%u, %u;\n", d, s, below(w, 50)); break;
    default: ADD("cvt.u32.u64 %%v%u, %%l%u;\n", below(w, VARIABLES), s); break;
    }
}

static void floats(writer *w)
{
    static const char *const all[] = {"add.f32", "sub.f32", "mul.f32", "max.f32",
                                      "div.approx.f32"};
    const uint32_t d = below(w, FLOATS), a = below(w, FLOATS), b = below(w, FLOATS);

    guard(w);
    switch (below(w, 6)) {
    case 0:
    case 1:
        ADD("fma.rn.f32 %%f%u, %%f%u, %%f%u, %%f%u;\n", d, a, b, below(w, FLOATS));
        break;
    case 2: ADD("cvt.rn.f32.s32 %%f%u, %%v%u;\n", d, below(w, VARIABLES)); break;
    case 3: ADD("ex2.approx.f32 %%f%u, %%f%u;\n", d, a); break;
    case 4:
        ADD("fma.rn.f16x2 %%h%u, %%h%u, %%h%u, %%h%u;\n", d % HALVES, a % HALVES,
            b % HALVES, below(w, HALVES));
        break;
    default: ADD("%s %%f%u, %%f%u, %%f%u;\n", all[below(w, 5)], d, a, b); break;
    }
}

/* Bytes an access takes, and how it is written. */
typedef struct width {
    uint32_t bytes;
    const char *type, *regs;
} width;

static width some_width(writer *w)
{
    static const width all[] = {
        {4, "u32", "%d0"},
        {4, "f32", "%f1"},
        {8, "v2.u32", "{%d1, %d2}"},
        {16, "v4.u32", "{%d0, %d1, %d2, %d3}"},
        {1, "u8", "%d3"},
        {2, "s16", "%d4"},
        {16, "v4.f32", "{%f0, %f1, %f2, %f3}"},
        {4, "b32", "%d5"},
    };

    return all[below(w, 8)];
}

/* A register with the address of something of that many bytes within `size` bytes. */
static uint32_t address(writer *w, uint32_t bytes, uint32_t size, const char *base)
{
    const uint32_t t = w->t, a = w->a;
    const name v = value(w);

    w->t += 2;
    w->a += 2;
    if (chance(w, 40))
        ADD("\tmad.lo.s32 %%t%u, %%r%u, %u, %u;\n", t, chance(w, 80) ? 10 : below(w, 3),
            1 + below(w, chance(w, 50) ? 2 : 9), below(w, 64));
    else
        ADD("\tadd.s32 %%t%u, %s, %u;\n", t, v.text, below(w, 100));
    ADD("\tand.b32 %%t%u, %%t%u, %u;\n", t + 1, t, size / bytes - 1);
    ADD("\tmul.wide.u32 %%a%u, %%t%u, %u;\n", a, t + 1, bytes);
    ADD("\tadd.s64 %%a%u, %%a%u, %s;\n", a + 1, a, base);
    return a + 1;
}

static void atomic(writer *w, const char *space, uint32_t a)
{
    guard(w);
    switch (below(w, 4)) {
    case 0:
        ADD("red.%s.add.u32 [%%a%u], %%v%u;\n", space, a, below(w, VARIABLES));
        break;
    case 1:
        ADD("atom.%s.add.f32 %%f4, [%%a%u], %%f%u;\n", space, a, below(w, FLOATS));
        break;
    case 2: ADD("atom.%s.cas.b32 %%d5, [%%a%u], %%d1, %%d2;\n", space, a); break;
    default:
        ADD("atom.%s.max.s32 %%d4, [%%a%u], %%v%u;\n", space, a, below(w, VARIABLES));
        break;
    }
}

static void memory(writer *w)
{
    const uint32_t kind = below(w, 8);
    const char *space = kind < 5 ? "global" : kind < 7 ? "shared" : "local";
    const char *base = kind < 5 ? "%buffer" : kind < 7 ? "%block" : "%own";
    const uint32_t size = kind < 5 ? PTX_RANDOM_BYTES / 2 : kind < 7 ? 2048 : 64;
    width t = some_width(w);
    uint32_t a;

    if (w->in_function)
        return;
    if (kind < 7 && chance(w, 15)) {
        atomic(w, space, address(w, 4, size, base));
        return;
    }
    a = address(w, t.bytes, size, base);
    guard(w);
    if (chance(w, 60))
        ADD("ld.%s.%s %s, [%%a%u];\n", space, t.type, t.regs, a);
    else
        ADD("st.%s.%s [%%a%u], %s;\n", space, t.type, a, t.regs);
}

static void across(writer *w)
{
    guard(w);
    if (chance(w, 50))
        ADD("shfl.sync.bfly.b32 %%d%u, %%v%u, %u, 31, -1;\n", below(w, DATA),
            below(w, VARIABLES), 1 + below(w, 31));
    else
        ADD("activemask.b32 %%d%u;\n", below(w, DATA));
}

static void barrier(writer *w)
{
    if (w->uniform && !w->in_function)
        ADD("\tbar.sync 0;\n");
    else
        ADD("\tbar.warp.sync -1;\n");
}

/* What follows one side of a branch holds for some threads only, unless the condition
 * is the same in all of them. */
typedef struct state {
    int uniform;
} state;

static state enter(writer *w, int same)
{
    const state s = {w->uniform};

    w->uniform = s.uniform && same ? 1 : 0;
    w->depth++;
    return s;
}

static void leave(writer *w, state s)
{
    w->uniform = s.uniform;
    w->depth--;
}

/* A condition that is the same in all threads of a block, or not. */
static uint32_t any_condition(writer *w, int *same)
{
    const int before = w->uniform;
    uint32_t p;

    *same = before && chance(w, 30) && !w->depends;
    w->uniform = *same ? 2 : before;
    p = condition(w);
    w->uniform = before;
    return p;
}

static void branch(writer *w)
{
    const uint32_t other = w->labels++, end = w->labels++;
    int same;
    const uint32_t p = any_condition(w, &same);
    state s;

    ADD("\t@%s%%p%u bra%s L%u;\n", maybe_not(w), p, same && chance(w, 50) ? ".uni" : "",
        other);
    s = enter(w, same);
    ptx_random_statements(w, 1 + below(w, 4));
    if (chance(w, 50)) {
        ADD("\tbra.uni L%u;\nL%u:\n", end, other);
        ptx_random_statements(w, 1 + below(w, 4));
        ADD("L%u:\n", end);
    } else {
        ADD("L%u:\n", other);
    }
    leave(w, s);
}

static void leave_loop(writer *w)
{
    const uint32_t which = below(w, w->n_loops);
    uint32_t p;

    for (uint32_t k = which; k < w->n_loops; k++)
        if (!w->loops[k].breaks)
            return;
    p = condition(w);
    ADD("\t@%s%%p%u bra L%u;\n", maybe_not(w), p, w->loops[which].end);
}

static void leave_all(writer *w)
{
    static const char *const how[] = {"ret", "exit"};
    const uint32_t p = condition(w), q = w->p++, t = w->t++;

    /* few threads, else little is left */
    ADD("\tand.b32 %%t%u, %%r%u, 7;\n", t, below(w, FIXED));
    ADD("\tsetp.eq.and.u32 %%p%u, %%t%u, %u, %%p%u;\n", q, t, below(w, 8), p);
    if (chance(w, 70)) {
        ADD("\t@%%p%u %s;\n", q, how[below(w, 2)]);
    } else {
        ADD("\t@!%%p%u bra L%u;\n\t%s;\nL%u:\n", q, w->labels, how[below(w, 2)],
            w->labels);
        w->labels++;
    }
}

static void indexed(writer *w)
{
    const uint32_t n = 2 + below(w, 3), end = w->labels++, list = w->lists++;
    const uint32_t first = w->labels, t = bounded(w, n - 1, 0);
    const state s = enter(w, 0);

    w->labels += n;
    ADD("T%u: .branchtargets L%u", list, first);
    for (uint32_t k = 1; k < n; k++)
        ADD(", L%u", first + k);
    ADD(";\n\tbrx.idx %%t%u, T%u;\n", t, list);
    for (uint32_t k = 0; k < n; k++) {
        ADD("L%u:\n", first + k);
        ptx_random_statements(w, 1 + below(w, 2));
        if (k + 1 < n && chance(w, 75))
            ADD("\tbra L%u;\n", end);
    }
    ADD("L%u:\n", end);
    leave(w, s);
}

/* c = a; while (c < b) { ...; c += s; }, with the test in front or behind, up or down,
 * or until it is met exactly. */
static void affine(writer *w, int c, int uniform, uint32_t top)
{
    static const char *const below_or[] = {"ge.s32", "ge.u32", "gt.s32"};
    const uint32_t n = bounded(w,
                               1 + below(w, w->n_loops > 2   ? 3
                                            : w->n_loops > 1 ? 6
                                                             : 11),
                               uniform),
                   step = 1 + below(w, 4);
    const uint32_t start = w->t++, end = w->t++, p = w->p++, here = w->n_loops - 1;
    const int exact = chance(w, 30), down = chance(w, 30), behind = chance(w, 40);
    const int by = (int)step * (down ? -1 : 1);

    if (chance(w, 50))
        ADD("\tmov.b32 %%t%u, %d;\n", start, (int)below(w, 50) - 10);
    else
        ADD("\tadd.s32 %%t%u, %s, %d;\n", start,
            uniform ? uniform_value(w).text : value(w).text,
            exact ? (int)below(w, 1000) - 500 : 0);
    if (!exact && !down) /* bounds that are compared with must not be too far away */
        ADD("\tand.b32 %%t%u, %%t%u, 1023;\n", start, start);
    else if (!exact)
        ADD("\tand.b32 %%t%u, %%t%u, 1023;\n\tadd.s32 %%t%u, %%t%u, 64;\n", start,
            start, start, start);
    ADD("\tmad.lo.s32 %%t%u, %%t%u, %d, %%t%u;\n", end, n, by, start);
    ADD("\tmov.b32 %%c%d, %%t%u;\n", c, start);
    ADD("L%u:\n", top);
    if (!behind) {
        ADD("\tsetp.%s %%p%u, %%c%d, %%t%u;\n",
            exact  ? "eq.s32"
            : down ? "le.s32"
                   : below_or[below(w, 2)],
            p, c, end);
        ADD("\t@%%p%u bra L%u;\n", p, w->loops[here].end);
    }
    ptx_random_statements(w, 1 + below(w, 4));
    ADD("\tadd.s32 %%c%d, %%c%d, %d;\n", c, c, by);
    if (!behind) {
        ADD("\tbra L%u;\n", top);
    } else {
        /* n = 0 would go on for long: then once is enough */
        ADD("\tsetp.%s %%p%u, %%c%d, %%t%u;\n", down ? "gt.s32" : "lt.s32", p, c, end);
        ADD("\t@%%p%u bra L%u;\n", p, top);
    }
}

/* c is halved, doubled, or goes where it goes, a few times. */
static void other_steps(writer *w, int c, int uniform, uint32_t top)
{
    const uint32_t start = bounded(w, 255, uniform), p = w->p++, kind = below(w, 3);
    const uint32_t turns = w->t++, here = w->n_loops - 1, t = w->t++;

    ADD("\tmov.b32 %%c%d, %%t%u;\n\tmov.b32 %%t%u, 0;\n", c, start, turns);
    ADD("L%u:\n", top);
    ADD("\tadd.s32 %%t%u, %%t%u, 1;\n", turns, turns);
    ptx_random_statements(w, 1 + below(w, 3));
    if (kind == 0)
        ADD("\tshr.u32 %%c%d, %%c%d, 1;\n\tsetp.eq.u32 %%p%u, %%c%d, 0;\n", c, c, p, c);
    else if (kind == 1)
        ADD("\tmad.lo.s32 %%c%d, %%c%d, 2, 1;\n\tsetp.gt.u32 %%p%u, %%c%d, 600;\n", c,
            c, p, c);
    else
        ADD("\tmad.lo.s32 %%t%u, %%c%d, 5, 3;\n\tand.b32 %%c%d, %%t%u, 31;\n"
            "\tsetp.eq.u32 %%p%u, %%c%d, 7;\n",
            t, c, c, t, p, c);
    ADD("\t@%%p%u bra L%u;\n", p, w->loops[here].end);
    ADD("\tsetp.lt.u32 %%p%u, %%t%u, 8;\n\t@%%p%u bra L%u;\n", w->p, turns, w->p, top);
    w->p++;
}

static void repeat(writer *w)
{
    const uint32_t top = w->labels++, end = w->labels++;
    const int uniform = w->uniform && chance(w, 40), breaks = chance(w, 40);
    const int c = (int)w->n_loops;
    state s;

    if (w->n_loops >= COUNTERS || w->depth >= 4)
        return;
    w->loops[w->n_loops++] = (loop){end, breaks, c};
    s = enter(w, uniform && !breaks);
    if (chance(w, 70))
        affine(w, c, uniform, top);
    else
        other_steps(w, c, uniform, top);
    leave(w, s);
    w->n_loops--;
    ADD("L%u:\n", end);
}

/* What lanes may jump out of, to its end, as out of a loop. */
static void block(writer *w)
{
    const uint32_t end = w->labels++;
    state s;

    if (w->n_loops >= COUNTERS || w->depth >= 4)
        return;
    w->loops[w->n_loops++] = (loop){end, 1, -1};
    s = enter(w, 0);
    ptx_random_statements(w, 2 + below(w, 5));
    leave(w, s);
    w->n_loops--;
    ADD("L%u:\n", end);
}

static void call(writer *w)
{
    const name a = value(w), b = value(w);
    const uint32_t which = below(w, w->functions > 0 ? w->functions : 1);

    if (w->functions == 0)
        return;
    ADD("\t{\n\t.param .b32 first;\n\t.param .b32 second;\n\t.param .b32 answer;\n");
    ADD("\tst.param.b32 [first+0], %s;\n\tst.param.b32 [second+0], %s;\n", a.text,
        b.text);
    ADD("\tcall (answer), f%u, (first, second);\n", which);
    ADD("\tld.param.b32 %%v%u, [answer+0];\n\t}\n", below(w, VARIABLES));
}

static void statement(writer *w)
{
    const uint32_t kind = below(w, 100);

    if (kind < 12 && w->depth < 4)
        branch(w);
    else if (kind < 22)
        repeat(w);
    else if (kind < 26 && w->n_loops > 0)
        leave_loop(w);
    else if (kind < 29 && w->depth > 0)
        leave_all(w);
    else if (kind < 32 && w->depth < 3)
        indexed(w);
    else if (kind < 34)
        block(w);
    else if (kind < 37)
        call(w);
    else if (kind < 40)
        barrier(w);
    else if (kind < 42)
        across(w);
    else if (kind < 46)
        select_one(w);
    else if (kind < 50)
        wide(w);
    else if (kind < 60)
        floats(w);
    else if (kind < 78)
        memory(w);
    else
        arithmetic(w);
}

void ptx_random_statements(writer *w, uint32_t n)
{
    for (; n > 0 && w->left > 0; n--) {
        w->left--;
        statement(w);
    }
}

/* An operation as a list of calls: written down by the builders, then run. */
#include "block.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One more element of an array; NULL: the block is bad. */
static void *more(ft_block *b, void **array, uint32_t *n, uint32_t *cap, size_t size)
{
    if (*n == *cap) {
        uint32_t wider = *cap ? 2 * *cap : 16;
        void *p = realloc(*array, wider * size);

        if (!p) {
            b->bad = true;
            return NULL;
        }
        *array = p;
        *cap = wider;
    }
    return memset((char *)*array + size * (*n)++, 0, size);
}

static ft__step *new_step(ft_block *b, ft__step_kind kind)
{
    void *all = b->step;
    ft__step *s = more(b, &all, &b->n_steps, &b->cap_steps, sizeof(*s));

    b->step = all;
    if (s)
        *s = (ft__step){.kind = (uint8_t)kind, .first_arg = b->n_args};
    return s;
}

static ft__arg *new_arg(ft_block *b, ft__arg_kind kind)
{
    static ft__arg nowhere; /* written where there is no room, never read */
    void *all = b->arg;
    ft__arg *a = more(b, &all, &b->n_args, &b->cap_args, sizeof(*a));

    b->arg = all;
    if (!a || !b->n_steps || b->step[b->n_steps - 1].n_args == FT__MAX_ARGS) {
        b->bad = true;
        return &nowhere;
    }
    b->step[b->n_steps - 1].n_args++;
    a->kind = (uint8_t)kind;
    return a;
}

static void new_number(ft_block *b, int64_t v)
{
    void *all = b->number;
    int64_t *p = more(b, &all, &b->n_numbers, &b->cap_numbers, sizeof(*p));

    b->number = all;
    if (p)
        *p = v;
}

ft__reg ft__in(ft_block *b, uint32_t i)
{
    b->bad |= i >= b->n_in;
    return (ft__reg)i;
}

ft__reg ft__param(ft_block *b, uint32_t i)
{
    return i < b->n_params ? (ft__reg)(b->n_in + i) : FT__NO_REG;
}

ft__reg ft__kept_in(ft_block *b, uint32_t i)
{
    b->bad |= i >= FT__MAX_KEPT;
    return (ft__reg)(FT__FIRST_KEPT + i);
}

ft__reg ft__constant(ft_block *b, ft__tensor *t)
{
    if (!t || b->n_constants == FT__MAX_CONSTANTS) {
        if (t)
            b->ctx->api.aoti_torch_delete_tensor_object(t);
        b->bad = true;
        return FT__FIRST_CONSTANT;
    }
    b->constant[b->n_constants] = t;
    return (ft__reg)(FT__FIRST_CONSTANT + b->n_constants++);
}

ft__reg ft__number(ft_block *b, double v)
{
    const ft__api *api = &b->ctx->api;
    ft__tensor *t = NULL;
    void *data;

    if (!api->aoti_torch_empty_strided(0, NULL, NULL, api->dtype[FT_DTYPE_fp64],
                                       api->aoti_torch_device_type_cpu(), 0, &t) &&
        !api->aoti_torch_get_data_ptr(t, &data))
        memcpy(data, &v, sizeof(v));
    return ft__constant(b, t);
}

void ft__out(ft_block *b, uint32_t i, ft__reg r)
{
    if (i < b->n_out)
        b->out[i].reg = r;
    b->bad |= i >= b->n_out;
}

void ft__keep(ft_block *b, ft__reg r)
{
    if (b->n_kept < FT__MAX_KEPT)
        b->kept[b->n_kept++].reg = r;
    else
        b->bad = true;
}

void ft__call(ft_block *b, const char *op, const char *overload)
{
    ft__step *s = new_step(b, FT__STEP_DISPATCH);

    if (!s)
        return;
    s->op = op;
    s->overload = overload;
}

static void call_symbol(ft_block *b, ft__step_kind kind, const char *symbol)
{
    ft__step *s = new_step(b, kind);

    if (!s)
        return;
    s->op = symbol;
    if (b->ctx->api.scalars_work || kind == FT__STEP_ADD)
        s->fn = ft__api_symbol(&b->ctx->api, symbol);
    if (!s->fn)
        b->missing = symbol;
}

void ft__call_native(ft_block *b, const char *symbol)
{
    call_symbol(b, FT__STEP_NATIVE, symbol);
}

void ft__call_native_over(ft_block *b, const char *symbol)
{
    call_symbol(b, FT__STEP_OVER, symbol);
}

/* Either way it is the same kernel; through the dispatcher when that can be. */
ft__reg ft__call_add(ft_block *b, ft__reg x, ft__reg y, double alpha)
{
    const ft__api *api = &b->ctx->api;
    const char *symbol = "_ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_RKN3c106ScalarE";
    const char *plain = b->ctx->opt.device >= 0 ? "aoti_torch_cuda_add_Tensor"
                                                : "aoti_torch_cpu_add_Tensor";

    if (!ft__is_whole(b->op.dtype) &&
        (!api->scalars_work || !ft__api_symbol(api, symbol)))
        call_symbol(b, FT__STEP_ADD, plain);
    else
        call_symbol(b, FT__STEP_NATIVE, symbol);
    ft__args(b, FT__TENSOR(x), FT__TENSOR(y),
             ft__is_whole(b->op.dtype) ? FT__SCALAR_INT((int64_t)alpha)
                                       : FT__SCALAR(alpha));
    return ft__result(b);
}

ft__reg ft__call1(ft_block *b, const char *op, ft__reg x)
{
    return ft__made(b, op, "", FT__TENSOR(x));
}

ft__reg ft__call2(ft_block *b, const char *op, const char *overload, ft__reg x,
                  ft__reg y)
{
    return ft__made(b, op, overload, FT__TENSOR(x), FT__TENSOR(y));
}

static int64_t number_of(const ft_block *b, const ft__given *g, uint32_t i)
{
    if (g->kind == FT__ARG_TENSORS || g->kind == FT__ARG_OPT_TENSORS)
        return g->v.regs[i];
    return g->v.ints ? g->v.ints[i] : ft_op_at(&b->op, g->key, i);
}

void ft__arg_list(ft_block *b, const ft__given *g, size_t n)
{
    for (; n--; g++) {
        const bool none = g->kind == FT__ARG_OPT_TENSOR && g->reg == FT__NO_REG;
        ft__arg *a = new_arg(b, none ? FT__ARG_BITS : g->kind);

        b->bad |= g->kind == FT__ARG_TENSOR && g->reg == FT__NO_REG;
        switch (g->kind) {
        case FT__ARG_TENSOR:
        case FT__ARG_OPT_TENSOR: a->reg = none ? 0 : g->reg; break;
        case FT__ARG_STRING:
        case FT__ARG_OPT_STRING: a->text = g->v.text; break;
        case FT__ARG_TENSORS:
        case FT__ARG_OPT_TENSORS:
        case FT__ARG_INTS:
        case FT__ARG_OPT_INTS: /* in numbers[] */
            a->first = b->n_numbers;
            a->n = g->n;
            for (uint32_t i = 0; i < g->n; i++)
                new_number(b, number_of(b, g, i));
            break;
        default: a->bits = g->v.bits; break;
        }
    }
}

uint32_t ft__arg_scalar(ft_block *b, double v)
{
    ft__args(b, FT__SCALAR(v));
    return b->n_args - 1;
}

void ft__set_scalar(ft_block *b, uint32_t arg, double v)
{
    memcpy(&b->arg[arg].bits, &v, sizeof(v));
}

bool ft__is_whole(ft_dtype t)
{
    return t == FT_DTYPE_int8 || t == FT_DTYPE_int16 || t == FT_DTYPE_int32 ||
           t == FT_DTYPE_int64 || t == FT_DTYPE_uint8;
}

uint32_t ft__spatial(const ft_op *op)
{
    ft_shape s = ft_op_shape(op, FT_K_x);

    return s.rank > 2 ? s.rank - 2 : 0;
}

static ft__reg take_results(ft_block *b, uint32_t n, bool list)
{
    ft__reg first = (ft__reg)b->n_regs;

    if (!b->n_steps || b->n_regs + n >= FT__NO_REG || (!list && n > FT__MAX_ARGS)) {
        b->bad = true;
        return first;
    }
    b->step[b->n_steps - 1].first_result = first;
    b->step[b->n_steps - 1].n_results = (uint16_t)n;
    b->step[b->n_steps - 1].makes_list = list;
    b->n_regs += n;
    return first;
}

ft__reg ft__result(ft_block *b)
{
    return take_results(b, 1, false);
}

ft__reg ft__results(ft_block *b, uint32_t n)
{
    return take_results(b, n, false);
}

void ft__out_and_keep(ft_block *b, uint32_t n)
{
    ft__reg r = ft__results(b, n);

    ft__out(b, 0, r);
    for (uint32_t i = 1; i < n; i++)
        ft__keep(b, (ft__reg)(r + i));
}

ft__reg ft__result_list(ft_block *b, uint32_t n)
{
    return take_results(b, n, true);
}

void ft__result_numbers(ft_block *b, uint32_t bits)
{
    if (b->n_steps)
        b->step[b->n_steps - 1].numbers = bits;
}

ft_status ft__unsupported(const ft_block *b, const char *why, ...)
{
    char spec[1024], text[512];
    va_list args;

    va_start(args, why);
    vsnprintf(text, sizeof(text), why, args);
    va_end(args);
    ft_op_print(&b->op, spec, sizeof(spec));
    return ft_fail(b->err, FT_EUNSUPPORTED, 0, "torch: cannot run %.400s: %s", spec,
                   text);
}

/* Where a register is used last, filled in from the back: the first that asks
 * moves it. */
static bool moves(bool *used, int64_t reg)
{
    bool last;

    if (reg == FT__NO_REG)
        return false;
    last = reg >= FT__FIRST_MADE && !used[reg];
    used[reg] = true;
    return last;
}

static void mark_arg(ft_block *b, ft__arg *a, bool *used)
{
    switch ((ft__arg_kind)a->kind) {
    case FT__ARG_TENSOR:
    case FT__ARG_OPT_TENSOR: a->moves = moves(used, a->reg); break;
    case FT__ARG_TENSORS:
    case FT__ARG_OPT_TENSORS:
        for (uint32_t i = a->n; i-- > 0;) {
            int64_t *r = &b->number[a->first + i];

            if (moves(used, *r))
                *r = -1 - *r;
        }
        break;
    default: break;
    }
}

static void mark_last_uses(ft_block *b, bool *used)
{
    for (uint32_t i = b->n_kept; i-- > 0;)
        b->kept[i].moves = moves(used, b->kept[i].reg);
    for (uint32_t i = b->n_out; i-- > 0;)
        b->out[i].moves = moves(used, b->out[i].reg);
    for (uint32_t i = b->n_args; i-- > 0;)
        mark_arg(b, &b->arg[i], used);
}

/* Fewer arguments than a C++ function is called with here. */
static bool natives_are_short(const ft_block *b)
{
    for (uint32_t i = 0; i < b->n_steps; i++)
        if (b->step[i].kind != FT__STEP_DISPATCH && b->step[i].n_args > FT__MAX_NATIVE)
            return false;
    return true;
}

static bool results_are_there(const ft_block *b)
{
    for (uint32_t i = 0; i < b->n_out; i++)
        if (b->out[i].reg >= b->n_regs && b->op.phase != FT_PHASE_OPTIMIZER)
            return false;
    for (uint32_t i = 0; i < b->n_kept; i++)
        if (b->kept[i].reg >= b->n_regs)
            return false;
    return true;
}

/* What the calls are, for whoever reads the measurements. */
static void name_calls(ft_block *b)
{
    size_t at = 0;

    for (uint32_t i = 0; i < b->n_steps && at < sizeof(b->implementation); i++)
        at += (size_t)ft__step_name(&b->step[i], b->implementation + at,
                                    sizeof(b->implementation) - at, i > 0);
    if (!b->n_steps)
        snprintf(b->implementation, sizeof(b->implementation), "view");
}

ft_status ft__block_finish(ft_block *b)
{
    bool *used = calloc(b->n_regs + 1u, sizeof(*used));

    b->reg = calloc(b->n_regs + 1u, sizeof(*b->reg));
    b->bad |= !used || !b->reg;
    if (b->missing) {
        free(used);
        return ft__unsupported(b, "this libtorch has no %s", b->missing);
    }
    b->bad |= !results_are_there(b) || !natives_are_short(b);
    if (!b->bad)
        mark_last_uses(b, used);
    free(used);
    if (b->bad)
        return ft_fail(b->err, FT_ENOMEM, 0, "torch: no room for %s",
                       ft_kind_name(b->op.kind));
    for (uint32_t i = 0; i < b->n_constants; i++)
        b->reg[FT__FIRST_CONSTANT + i] = b->constant[i];
    name_calls(b);
    return FT_OK;
}

void ft__block_free(ft_block *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < b->n_constants; i++)
        b->ctx->api.aoti_torch_delete_tensor_object(b->constant[i]);
    free(b->step);
    free(b->arg);
    free(b->number);
    free(b->reg);
    free(b);
}

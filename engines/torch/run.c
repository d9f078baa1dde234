/* Going through the calls of a block. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"

/* c10::Scalar: a tag (0: a double, 1: an int64_t) and sixteen bytes of value. */
typedef struct scalar {
    _Alignas(16) int32_t tag;
    int32_t unused[3];
    double value[2];
} scalar;

/* at::Tensor comes back in memory of the caller's whose address goes where the
 * platform passes it for large structures: more than 16 bytes make this one. */
typedef struct returned {
    ft__tensor *impl;
    void *room[3];
} returned;

typedef returned native_fn(const void *, const void *, const void *, const void *,
                           const void *, const void *, const void *);
typedef void *over_fn(void *, const void *, const void *, const void *, const void *,
                      const void *, const void *);
typedef int32_t add_fn(ft__tensor *, ft__tensor *, double, ft__tensor **);

static ft__ivalue of_pointer(const void *p)
{
    return (ft__ivalue)(uintptr_t)p;
}

static ft__tensor *to_tensor(ft__ivalue v)
{
    return (ft__tensor *)(uintptr_t)v;
}

/* The dispatcher takes what it is given: a handle of its own unless it is the
 * register's last use. */
static ft__tensor *hand_over(ft_block *b, ft__reg r, bool move, int32_t *bad)
{
    ft__tensor *t = r == FT__NO_REG ? NULL : b->reg[r];

    if (!t)
        return NULL;
    if (move)
        b->reg[r] = NULL;
    else
        *bad |= b->ctx->api.aoti_torch_new_tensor_handle(t, &t);
    return t;
}

/* An optional that is there: the dispatcher frees the box. */
static ft__ivalue boxed(const ft__api *api, ft__ivalue v, int32_t *bad)
{
    ft__ivalue *box = NULL;

    if (api->torch_new_stable_ivalue)
        *bad |= api->torch_new_stable_ivalue(&box);
    else
        box = api->operator_new(sizeof(*box));
    if (!box)
        *bad |= 1;
    else
        *box = v;
    return of_pointer(box);
}

static ft__ivalue list_of(ft_block *b, const ft__arg *a, int32_t *bad)
{
    const ft__api *api = &b->ctx->api;
    void *list = NULL;

    *bad |= api->torch_new_list_reserve_size(a->n, &list);
    for (uint32_t i = 0; i < a->n && !*bad; i++) {
        int64_t n = b->number[a->first + i];
        ft__ivalue v = (ft__ivalue)n;

        if (a->kind == FT__ARG_OPT_TENSORS && n == FT__NO_REG)
            v = 0;
        else if (a->kind == FT__ARG_TENSORS || a->kind == FT__ARG_OPT_TENSORS)
            v = of_pointer(hand_over(b, (ft__reg)(n < 0 ? -1 - n : n), n < 0, bad));
        if (a->kind == FT__ARG_OPT_TENSORS && n != FT__NO_REG)
            v = boxed(api, v, bad);
        *bad |= api->torch_list_push_back(list, v);
    }
    return of_pointer(list);
}

static ft__ivalue string_of(const ft__api *api, const char *text, int32_t *bad)
{
    void *s = NULL;

    *bad |= api->torch_new_string_handle(text, strlen(text), &s);
    return of_pointer(s);
}

static ft__ivalue value_of(ft_block *b, const ft__arg *a, int32_t *bad)
{
    const ft__api *api = &b->ctx->api;

    switch ((ft__arg_kind)a->kind) {
    case FT__ARG_TENSOR: return of_pointer(hand_over(b, a->reg, a->moves, bad));
    case FT__ARG_OPT_TENSOR:
        if (!b->reg[a->reg])
            return 0;
        return boxed(api, of_pointer(hand_over(b, a->reg, a->moves, bad)), bad);
    case FT__ARG_OPT_BITS: return boxed(api, a->bits, bad);
    case FT__ARG_INTS:
    case FT__ARG_TENSORS:
    case FT__ARG_OPT_TENSORS: return list_of(b, a, bad);
    case FT__ARG_OPT_INTS: return boxed(api, list_of(b, a, bad), bad);
    case FT__ARG_STRING: return string_of(api, a->text, bad);
    case FT__ARG_OPT_STRING: return boxed(api, string_of(api, a->text, bad), bad);
    default: return a->bits;
    }
}

static int32_t unpack_list(ft_block *b, const ft__step *s, void *list)
{
    const ft__api *api = &b->ctx->api;
    size_t n = 0;
    int32_t bad = api->torch_list_size(list, &n);

    for (uint32_t i = 0; i < s->n_results && i < n; i++) {
        ft__ivalue v = 0;

        bad |= api->torch_list_get_item(list, i, &v);
        b->reg[s->first_result + i] = to_tensor(v);
    }
    return bad | api->torch_delete_list(list) | (n != s->n_results);
}

static int32_t call_dispatcher(ft_block *b, const ft__step *s)
{
    ft__ivalue stack[FT__MAX_ARGS];
    int32_t bad = 0;

    for (uint32_t i = 0; i < s->n_args && !bad; i++)
        stack[i] = value_of(b, &b->arg[s->first_arg + i], &bad);
    if (bad)
        return bad;
    bad = b->ctx->api.torch_call_dispatcher(s->op, s->overload, stack,
                                            FT__SCHEMA_VERSION);
    if (bad)
        return bad;
    if (s->makes_list)
        return unpack_list(b, s, (void *)to_tensor(stack[0]));
    for (uint32_t i = 0; i < s->n_results; i++)
        if (!(s->numbers >> i & 1))
            b->reg[s->first_result + i] = to_tensor(stack[i]);
    return 0;
}

static void drop_moved(ft_block *b, const ft__step *s)
{
    for (uint32_t i = 0; i < s->n_args; i++) {
        const ft__arg *a = &b->arg[s->first_arg + i];

        if (a->kind == FT__ARG_TENSOR && a->moves) {
            b->ctx->api.aoti_torch_delete_tensor_object(b->reg[a->reg]);
            b->reg[a->reg] = NULL;
        }
    }
}

/* Tensors and Scalars go by reference, a handle being the address of a tensor;
 * whole numbers in registers. */
static void native_args(ft_block *b, const ft__step *s, scalar *number, const void **p)
{
    memset(p, 0, FT__MAX_NATIVE * sizeof(*p));
    for (uint32_t i = 0; i < s->n_args; i++) {
        const ft__arg *a = &b->arg[s->first_arg + i];

        p[i] = (const void *)(uintptr_t)a->bits;
        if (a->kind == FT__ARG_TENSOR)
            p[i] = b->reg[a->reg];
        if (a->kind == FT__ARG_SCALAR || a->kind == FT__ARG_SCALAR_INT) {
            number[i] = (scalar){.tag = a->kind == FT__ARG_SCALAR_INT};
            memcpy(number[i].value, &a->bits, sizeof(a->bits));
            p[i] = &number[i];
        }
    }
}

/* The tensor that comes back moves into a handle. */
static int32_t call_native(ft_block *b, const ft__step *s)
{
    const void *p[FT__MAX_NATIVE];
    scalar number[FT__MAX_NATIVE];
    native_fn *fn;
    ft__tensor **handle;
    returned r;

    native_args(b, s, number, p);
    *(const void **)&fn = s->fn;
    r = fn(p[0], p[1], p[2], p[3], p[4], p[5], p[6]);
    handle = b->ctx->api.operator_new(sizeof(*handle));
    *handle = r.impl;
    b->reg[s->first_result] = (ft__tensor *)(void *)handle;
    drop_moved(b, s);
    return 0;
}

static int32_t call_over(ft_block *b, const ft__step *s)
{
    ft__tensor *first = b->reg[b->arg[s->first_arg].reg];
    const void *p[FT__MAX_NATIVE];
    scalar number[FT__MAX_NATIVE];
    over_fn *fn;
    int32_t bad;

    native_args(b, s, number, p);
    *(const void **)&fn = s->fn;
    fn(first, p[1], p[2], p[3], p[4], p[5], p[6]);
    bad = b->ctx->api.aoti_torch_new_tensor_handle(first, &b->reg[s->first_result]);
    drop_moved(b, s);
    return bad;
}

static int32_t call_add(ft_block *b, const ft__step *s)
{
    const ft__arg *a = &b->arg[s->first_arg];
    add_fn *fn;
    double alpha;
    int32_t bad;

    memcpy(&alpha, &a[2].bits, sizeof(alpha));
    *(const void **)&fn = s->fn;
    bad = fn(b->reg[a[0].reg], b->reg[a[1].reg], alpha, &b->reg[s->first_result]);
    drop_moved(b, s);
    return bad;
}

/* A C++ function may throw, and no C function can stop that: the first time it is
 * called by an operation of our own, whose caller, the dispatcher, does. */
typedef struct guarded {
    ft_block *b;
    const ft__step *s;
} guarded;

void ft__run_guarded(ft__ivalue *stack, uint64_t n_args, uint64_t n_results)
{
    const guarded *g = (const guarded *)(uintptr_t)stack[0];

    (void)n_args, (void)n_results;
    stack[0] = (ft__ivalue)(g->s->kind == FT__STEP_OVER ? call_over(g->b, g->s)
                                                        : call_native(g->b, g->s));
}

static int32_t call_native_guarded(ft_block *b, const ft__step *s)
{
    const ft__api *api = &b->ctx->api;
    guarded g = {b, s};
    ft__ivalue stack[1] = {of_pointer(&g)};
    int32_t bad =
        api->torch_call_dispatcher(api->guard_name, "", stack, FT__SCHEMA_VERSION);

    return bad ? bad : (int32_t)stack[0];
}

enum { LACKS_OPERAND = -1 }; /* beside libtorch's own 1 */

/* Operands may be left out where an operation does not look at them. */
static bool tensors_are_there(const ft_block *b, const ft__step *s)
{
    for (uint32_t i = 0; i < s->n_args; i++) {
        const ft__arg *a = &b->arg[s->first_arg + i];

        if (a->kind == FT__ARG_TENSOR && !b->reg[a->reg])
            return false;
    }
    return true;
}

static int32_t call(ft_block *b, const ft__step *s)
{
    if (!tensors_are_there(b, s))
        return LACKS_OPERAND;
    switch ((ft__step_kind)s->kind) {
    case FT__STEP_NATIVE:
        return b->tried ? call_native(b, s) : call_native_guarded(b, s);
    case FT__STEP_OVER: return b->tried ? call_over(b, s) : call_native_guarded(b, s);
    case FT__STEP_ADD: return call_add(b, s);
    default: return call_dispatcher(b, s);
    }
}

int ft__step_name(const ft__step *s, char *buf, size_t size, bool plus)
{
    const char *name = s->op;
    int len = (int)strlen(name);

    if (s->kind == FT__STEP_NATIVE ||
        s->kind == FT__STEP_OVER) { /* _ZN2at4_ops10leaky_relu4callE... */
        char *end;

        len = (int)strtol(name + strlen("_ZN2at4_ops"), &end, 10);
        name = end;
    } else if (s->kind == FT__STEP_ADD) {
        name = "add";
        len = 3;
    } else if (strncmp(name, "aten::", 6) == 0) {
        name += 6;
        len -= 6;
    }
    return snprintf(buf, size, "%s%.*s", plus ? "+" : "", len, name);
}

/* Operands from in[]; what forward kept, where there is such a thing, stands
 * between activations and weights. */
static void bind(ft_block *b, const void *const *in)
{
    bool backward = b->op.phase == FT_PHASE_BACKWARD;
    const ft__kept *kept = backward ? ft__value_kept(in[b->n_in]) : NULL;
    const void *const *weights = in + b->n_in + backward;

    memcpy(b->reg, in, b->n_in * sizeof(*in));
    memcpy(b->reg + b->n_in, weights, b->n_params * sizeof(*in));
    for (uint32_t i = 0; kept && i < kept->n; i++)
        b->reg[FT__FIRST_KEPT + i] = kept->tensor[i];
}

static void drop_made(ft_block *b)
{
    for (uint32_t i = FT__FIRST_MADE; i < b->n_regs; i++)
        if (b->reg[i]) {
            b->ctx->api.aoti_torch_delete_tensor_object(b->reg[i]);
            b->reg[i] = NULL;
        }
}

static void *kept_value(ft_block *b, int32_t *bad)
{
    ft__kept *k = malloc(sizeof(*k) + b->n_kept * sizeof(*k->tensor));

    if (!k) {
        *bad |= 1;
        return NULL;
    }
    k->n = b->n_kept;
    for (uint32_t i = 0; i < b->n_kept; i++)
        k->tensor[i] = hand_over(b, b->kept[i].reg, b->kept[i].moves, bad);
    return ft__value_of_kept(k);
}

static int32_t hand_out(ft_block *b, void **out)
{
    int32_t bad = 0;

    for (uint32_t i = 0; i < b->n_out; i++)
        out[i] = hand_over(b, b->out[i].reg, b->out[i].moves, &bad);
    if (b->how & FT_VALUES_KEEP)
        out[b->n_out] = b->n_kept ? kept_value(b, &bad) : NULL;
    return bad;
}

static ft_status failed(ft_block *b, const ft__step *s, int32_t code, ft_error *err)
{
    char spec[512], name[64];

    ft_op_print(&b->op, spec, sizeof(spec));
    ft__step_name(s, name, sizeof(name), false);
    if (code == LACKS_OPERAND)
        return ft_fail(err, FT_EINVAL, 0, "torch: %s in %.300s lacks an operand", name,
                       spec);
    return ft_fail(err, FT_EBACKEND, 0, "torch: %s fails in %.300s: %.400s", name, spec,
                   ft__api_reason(&b->ctx->api));
}

ft_status ft__block_run(ft_block *b, uint32_t instance, const void *const *in,
                        void *const *out, void *workspace, ft_error *err)
{
    ft_status st = FT_OK;

    (void)workspace;
    if (instance)
        return ft_fail(err, FT_EINVAL, 0, "torch: instance %u of 1", instance);
    bind(b, in);
    if (b->before_run)
        b->before_run(b);
    for (uint32_t i = 0; i < b->n_steps && !st; i++) {
        int32_t code = call(b, &b->step[i]);

        if (code)
            st = failed(b, &b->step[i], code, err);
    }
    /* The array is the caller's to write to, whatever its type says. */
    if (!st && hand_out(b, (void **)(uintptr_t)out))
        st = ft_fail(err, FT_ENOMEM, 0, "torch: results of %s",
                     ft_kind_name(b->op.kind));
    drop_made(b);
    b->tried |= !st;
    return st;
}

#ifndef TORCH_H
#define TORCH_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda.h"
#include "foretell/engine.h"

/* An at::Tensor on the heap, and a number, handle or nothing as the dispatcher
 * takes it: AtenTensorHandle and StableIValue of libtorch's C interface. */
typedef struct ft__tensor ft__tensor;
typedef uint64_t ft__ivalue;

/* Whose schemas the calls are written for: PyTorch 2.10.0. */
#define FT__SCHEMA_VERSION ((uint64_t)2 << 56 | (uint64_t)10 << 48)

/* Functions by name; NULL where this libtorch has none and none is needed. */
typedef struct ft__api {
    void *lib;
    char file[4200];  /* where it was opened */
    void *cuda;       /* libtorch_cuda.so; NULL: not loaded */
    uint64_t version; /* of libtorch, as aoti_torch_abi_version() says */
    void *(*operator_new)(size_t bytes);
    void (*set_num_threads)(int n);
    int32_t dtype[FT_DTYPE_COUNT]; /* ScalarType of a dtype; -1: none */
    char without[512];             /* "+symbol+symbol+" taken as missing */
    bool scalars_work;             /* C++ functions take Scalars as we lay them out */
    void *guard[2];                /* libraries that define guard_name */
    char guard_name[48];
#define FT_SYMBOL(needed, result, name, parameters) result(*name) parameters;
#include "api.def"
#undef FT_SYMBOL
} ft__api;

/* `path`: of libtorch_cpu.so, or a folder with it or with torch/lib/ in it; "":
 * where the loader looks. */
ft_status ft__api_load(ft__api *api, const char *path, const char *without,
                       ft_error *err);
bool ft__api_lacks(const ft__api *api, const char *name); /* taken as missing */
/* NULL: not there, or taken as missing. */
void *ft__api_symbol(const ft__api *api, const char *name);
void ft__api_close(ft__api *api);
/* What libtorch said last, or where it says it; borrowed. */
const char *ft__api_reason(const ft__api *api);

typedef struct ft__options {
    char lib[4096], without[512];
    int device; /* of CUDA; -1: the CPU */
    int tf32;   /* -1: as PyTorch has it */
} ft__options;

struct ft_engine_context {
    ft__api api;
    ft__options opt;
    uint32_t threads;
    uint64_t seed;
    int32_t device_type; /* as libtorch numbers them */
    int32_t device;
    ft__cuda cuda;
    bool counts_heap; /* heap.h */
};

extern const ft_engine_values ft__torch_values;
ft_status ft__value_fill(ft_engine_context *c, void *value, ft_dtype dtype,
                         uint64_t elements, int64_t limit, uint64_t seed,
                         ft_error *err);
/* A value is a tensor, or what a forward operation keeps for its backward one:
 * several, told apart by the lowest bit of the pointer. */
typedef struct ft__kept {
    uint32_t n;
    ft__tensor *tensor[];
} ft__kept;
ft__kept *ft__value_kept(const void *value); /* NULL: it is a tensor */
void *ft__value_of_kept(ft__kept *k);
/* On the context's device; NULL: no memory. */
ft__tensor *ft__tensor_zeros(ft_engine_context *c, const ft_shape *s, ft_dtype t);
/* Row-major strides of a shape in that layout. */
void ft__strides_for(int64_t *strides, const ft_shape *s, ft_layout layout);

/* An operation as calls.
 *
 * An operation is written down once, when it is prepared, as calls that read and
 * make registers, each of which holds a tensor; running fills in the operands and
 * goes down the list. A register made by a call is released at its last use.
 *
 *   ft__reg x = ft__in(b, 0);
 *   ft__out(b, 0, ft__made(b, "aten::relu", "", FT__TENSOR(x)));
 *
 * Arguments stand in the order of PyTorch's schema (native_functions.yaml), none
 * left out. Building is sticky: without memory, ft__block_finish() fails. */
typedef uint16_t ft__reg;
enum { FT__NO_REG = 0xffff, FT__MAX_ARGS = 32 };

/* Activation i of in[] as ft_engine_values has them. */
ft__reg ft__in(ft_block *b, uint32_t i);
/* Weight i of ft_op_param(); FT__NO_REG when there is none of that number. */
ft__reg ft__param(ft_block *b, uint32_t i);
/* Backward: piece i of what the forward operation kept. */
ft__reg ft__kept_in(ft_block *b, uint32_t i);
/* Result i is in r; what is kept of it for the backward operation, in order. */
void ft__out(ft_block *b, uint32_t i, ft__reg r);
void ft__keep(ft_block *b, ft__reg r);

/* One more call, through the dispatcher. Names are static text. */
void ft__call(ft_block *b, const char *op, const char *overload);
/* The same by the C++ function at::_ops::NAME::call, for schemas with Scalar
 * arguments, which the dispatcher's C interface refuses. `symbol`: the mangled
 * name; FT_EUNSUPPORTED at ft__block_finish() where it is not there. */
void ft__call_native(ft_block *b, const char *symbol);
/* One that writes over its first argument, which it gives back. */
void ft__call_native_over(ft_block *b, const char *symbol);
/* x + alpha * y: by the C++ function, or by the one libtorch has for its compiler,
 * which adds no whole numbers. */
ft__reg ft__call_add(ft_block *b, ft__reg x, ft__reg y, double alpha);

typedef enum ft__arg_kind {
    FT__ARG_BITS, /* as they are: int, bool, double, None */
    FT__ARG_OPT_BITS,
    FT__ARG_TENSOR,
    FT__ARG_OPT_TENSOR,
    FT__ARG_TENSORS,
    FT__ARG_OPT_TENSORS,
    FT__ARG_INTS,
    FT__ARG_OPT_INTS,
    FT__ARG_STRING,
    FT__ARG_OPT_STRING,
    FT__ARG_SCALAR, /* a double's bits */
    FT__ARG_SCALAR_INT,
} ft__arg_kind;

/* An argument of a call; FT__INTS also of bool[], FT__INT also of bool and
 * enumerations.
 */
typedef struct ft__given {
    ft__arg_kind kind;
    ft__reg reg;
    uint32_t n;
    ft_key_id key; /* of FT__ARG_INTS without a list: its values */
    union {
        int64_t i;
        double d;
        ft__ivalue bits;
        const char *text;
        const int64_t *ints;
        const ft__reg *regs;
    } v;
} ft__given;
#define FT__GIVEN(...) ((ft__given){__VA_ARGS__})
#define FT__NONE FT__GIVEN(.kind = FT__ARG_BITS)
/* FT__MAYBE, FT__MAYBES: FT__NO_REG is None. */
#define FT__TENSOR(r) FT__GIVEN(.kind = FT__ARG_TENSOR, .reg = (r))
#define FT__MAYBE(r) FT__GIVEN(.kind = FT__ARG_OPT_TENSOR, .reg = (r))
#define FT__TENSORS(r, count)                                                          \
    FT__GIVEN(.kind = FT__ARG_TENSORS, .v.regs = (r), .n = (count))
#define FT__MAYBES(r, count)                                                           \
    FT__GIVEN(.kind = FT__ARG_OPT_TENSORS, .v.regs = (r), .n = (count))
#define FT__INT(x) FT__GIVEN(.kind = FT__ARG_BITS, .v.i = (x))
#define FT__REAL(x) FT__GIVEN(.kind = FT__ARG_BITS, .v.d = (x))
#define FT__INTS(x, count) FT__GIVEN(.kind = FT__ARG_INTS, .v.ints = (x), .n = (count))
#define FT__KEY(which, count)                                                          \
    FT__GIVEN(.kind = FT__ARG_INTS, .key = (which), .n = (count))
#define FT__OPT_INT(x) FT__GIVEN(.kind = FT__ARG_OPT_BITS, .v.i = (x))
#define FT__OPT_REAL(x) FT__GIVEN(.kind = FT__ARG_OPT_BITS, .v.d = (x))
#define FT__OPT_INTS(x, count)                                                         \
    FT__GIVEN(.kind = FT__ARG_OPT_INTS, .v.ints = (x), .n = (count))
#define FT__TEXT(s) FT__GIVEN(.kind = FT__ARG_STRING, .v.text = (s))
#define FT__OPT_TEXT(s) FT__GIVEN(.kind = FT__ARG_OPT_STRING, .v.text = (s))
/* Native calls only. */
#define FT__SCALAR(x) FT__GIVEN(.kind = FT__ARG_SCALAR, .v.d = (x))
#define FT__SCALAR_INT(x) FT__GIVEN(.kind = FT__ARG_SCALAR_INT, .v.i = (x))

/* Arguments of the last call, behind those it has. */
void ft__arg_list(ft_block *b, const ft__given *given, size_t n);
#define ft__args(b, ...)                                                               \
    ft__arg_list(b, (const ft__given[]){__VA_ARGS__},                                  \
                 sizeof((const ft__given[]){__VA_ARGS__}) / sizeof(ft__given))
/* A call and its arguments; its only result; that as the operation's. Arguments make no
 * calls: they are evaluated when this one has begun. */
#define ft__call_with(b, op, overload, ...)                                            \
    (ft__call(b, op, overload), ft__args(b, __VA_ARGS__))
#define ft__made(b, op, overload, ...)                                                 \
    (ft__call_with(b, op, overload, __VA_ARGS__), ft__result(b))
#define ft__out_made(b, op, overload, ...)                                             \
    (ft__call_with(b, op, overload, __VA_ARGS__), ft__out_result(b))
/* A scalar's number among the arguments, by which it is set anew before a run. */
uint32_t ft__arg_scalar(ft_block *b, double v);
void ft__set_scalar(ft_block *b, uint32_t arg, double v);

/* Results of the last call: the only one, the first of n, a list of n. */
ft__reg ft__result(ft_block *b);
ft__reg ft__results(ft_block *b, uint32_t n);
ft__reg ft__result_list(ft_block *b, uint32_t n);
/* Of the results of the last call those that are numbers: bits; their registers stay
 * empty. */
void ft__result_numbers(ft_block *b, uint32_t bits);

/* The last call's first result of n is the operation's; the others are kept. */
void ft__out_and_keep(ft_block *b, uint32_t n);
/* The last call's only result is the operation's. */
static inline ft_status ft__out_result(ft_block *b)
{
    ft__out(b, 0, ft__result(b));
    return FT_OK;
}

/* A call with only tensors in and one out. */
ft__reg ft__call1(ft_block *b, const char *op, ft__reg x);
ft__reg ft__call2(ft_block *b, const char *op, const char *overload, ft__reg x,
                  ft__reg y);

bool ft__is_whole(ft_dtype t); /* an integer type that PyTorch computes with */

uint32_t ft__spatial(const ft_op *op); /* axes of x behind the channels */

/* A tensor made once, with the block, and held by it: a constant operand. */
ft__reg ft__constant(ft_block *b, ft__tensor *t); /* takes t; NULL: no memory */
/* A number as Python's would be: a tensor without axes, on the CPU, of a type that
 * changes no other's. */
ft__reg ft__number(ft_block *b, double v);

/* "torch: cannot run SPEC: why". */
FT_PRINTF(2, 3)
ft_status ft__unsupported(const ft_block *b, const char *why, ...);

typedef struct ft__arg {
    uint8_t kind;
    bool moves; /* the last use of a register that a call made */
    ft__reg reg;
    uint32_t first, n; /* in numbers[] */
    ft__ivalue bits;
    const char *text;
} ft__arg;

typedef struct ft__step {
    uint8_t kind;
    const char *op, *overload;
    void *fn;
    uint32_t first_arg, n_args;
    ft__reg first_result;
    uint16_t n_results;
    uint32_t numbers; /* results that are none: bits */
    bool makes_list;
} ft__step;

/* A result: which register, and whether it leaves the register empty. */
typedef struct ft__take {
    ft__reg reg;
    bool moves;
} ft__take;

/* Registers: operands with the weights behind them, what forward kept, constants,
 * and from FT__FIRST_MADE on what calls make. */
enum {
    FT__MAX_OPERANDS = 2 * FT_OP_MAX_OPERANDS,
    FT__MAX_KEPT = 16,
    FT__MAX_CONSTANTS = 8,
    FT__FIRST_KEPT = FT__MAX_OPERANDS,
    FT__FIRST_CONSTANT = FT__FIRST_KEPT + FT__MAX_KEPT,
    FT__FIRST_MADE = FT__FIRST_CONSTANT + FT__MAX_CONSTANTS,
};

struct ft_block {
    ft_engine_context *ctx;
    ft_op op;
    int how; /* FT_VALUES_ bits */
    uint32_t n_in, n_params, n_out;
    ft__step *step;
    uint32_t n_steps, cap_steps;
    ft__arg *arg;
    uint32_t n_args, cap_args;
    int64_t *number; /* of lists: whole numbers, or registers (-1 - r: it moves) */
    uint32_t n_numbers, cap_numbers;
    ft__tensor **reg; /* while running; constants always */
    uint32_t n_regs, n_constants;
    ft__tensor *constant[FT__MAX_CONSTANTS];
    ft__take out[FT_OP_MAX_OPERANDS], kept[FT__MAX_KEPT];
    uint32_t n_kept;
    void (*before_run)(ft_block *b); /* sets what differs from run to run, or NULL */
    uint64_t n_runs;                 /* counted by whoever needs it */
    uint32_t varying[2];             /* arguments that before_run() sets */
    bool in_place;                   /* what FT_VALUES_IN_PLACE asks for is done */
    ft_error *err;                   /* while it is built */
    const char *missing;             /* a symbol that libtorch lacks */
    bool bad;                        /* building ran out of memory or of room */
    bool tried;                      /* it has run once */
    char implementation[64];
};

/* The operation of ours through which C++ functions are called first. */
void ft__run_guarded(ft__ivalue *stack, uint64_t n_args, uint64_t n_results);
ft_status ft__block_finish(ft_block *b);
ft_status ft__block_run(ft_block *b, uint32_t instance, const void *const *in,
                        void *const *out, void *workspace, ft_error *err);
void ft__block_free(ft_block *b);

/* FT_EUNSUPPORTED through ft__unsupported(); failures of building come later. */
typedef ft_status ft__build_fn(ft_block *b);
/* NULL: a kind that is not listed in kinds.def. */
ft__build_fn *ft__builder(const ft_op *op);

#endif

# What an operation computes, in TVM's tensor expressions: a function of its operands, then its
# weights, for each kind. Shapes are logical, as in the spec; bool operands are bytes.
import functools
import math

from tvm import te, tirx, topi

DTYPES = {"fp32": "float32", "fp64": "float64", "fp16": "float16", "bf16": "bfloat16",
          "bool": "uint8", "int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16",
          "int32": "int32", "uint32": "uint32", "int64": "int64", "uint64": "uint64"}


class Refused(Exception):
    """This engine does not run such an operation."""


class Op:
    """A spec's words, and the shapes of its operands, weights and results."""

    def __init__(self, spec, inputs, params, outputs):
        words = spec.split()
        self.kind, self.spec = words[0], spec
        self.words = dict(w.split("=", 1) for w in words[1:])
        self.inputs, self.params, self.outputs = inputs, params, outputs

    def at(self, key, default=0):
        return int(self.words.get(key, default))

    def list(self, key, n, default=1):
        values = [int(v) for v in self.words[key].split("x")] if key in self.words else [default] * n
        return values

    def windows(self):
        """Kernel, stride, dilation and padding (begin, end) of each spatial axis."""
        n = len(self.inputs[0][1]) - 2
        pad = self.list("pad", n, 0)
        return (self.list("kernel", n), self.list("stride", n), self.list("dilation", n),
                pad[:n], pad[-n:])


def type_of(x):
    """The dtype of a tensor or of an element, by name."""
    return str(x.dtype if hasattr(x, "dtype") else x.ty)


def is_real(x):
    return type_of(x).startswith(("float", "bfloat"))


def const(x, value):
    return tirx.const(value, type_of(x))


def elementwise(f):
    """A kind of one operand from a function of one element."""
    def make(op, x):
        return te.compute(x.shape, lambda *i: f(x(*i)), name="elementwise")
    return make


def broadcast(f, compares=False):
    """A kind of several operands from a function of one element each."""
    def make(op, *operands):
        shape = op.outputs[0][1]

        def element(x, i):
            lead = len(shape) - len(x.shape)
            # What has the result's shape is read at its place, axes of 1 too: else relax fuses it with no product.
            return x(*[i[lead + d] if int(x.shape[d]) == shape[lead + d] else 0 for d in range(len(x.shape))])

        def result(*i):
            v = f(*[element(x, i) for x in operands])
            return v.astype("uint8") if compares else v
        return te.compute(shape, result, name="elementwise")
    return make


def power(x, n):
    return functools.reduce(lambda a, b: a * b, [x] * n)


def sigmoid(x):
    return const(x, 1) / (const(x, 1) + tirx.exp(-x))


def erf(x):
    return tirx.erf(x) if type_of(x) in ("float32", "float64") else tirx.erf(x.astype("float32")).astype(type_of(x))


def clamp(x, low, high):
    return te.min(te.max(x, const(x, low)), const(x, high))


def choose(condition, a, b):
    return tirx.Select(condition, a, b)


def expm1(x):
    # exp(x) - 1 loses what is small of x: tanh does not.
    t = tirx.tanh(x / const(x, 2))
    return choose(x > const(x, 1), tirx.exp(x) - const(x, 1), const(x, 2) * t / (const(x, 1) - t))


def softplus(x):
    return te.max(x, const(x, 0)) + tirx.log(const(x, 1) + tirx.exp(-tirx.abs(x)))


def asinh(x):
    a = tirx.abs(x)
    return choose(x < const(x, 0), const(x, -1), const(x, 1)) * tirx.log(a + tirx.sqrt(a * a + const(x, 1)))


def tan(x):
    return tirx.sin(x) / tirx.cos(x)


def elu(x, alpha, scale):
    return const(x, scale) * choose(x < const(x, 0), const(x, alpha) * (tirx.exp(te.min(x, const(x, 0))) - const(x, 1)), x)


def gelu_tanh(x):
    inner = const(x, math.sqrt(2 / math.pi)) * (x + const(x, 0.044715) * power(x, 3))
    return const(x, 0.5) * x * (const(x, 1) + tirx.tanh(inner))


UNARY = {
    "relu": lambda x: te.max(x, const(x, 0)),
    "leaky_relu": lambda x: choose(x < const(x, 0), const(x, 0.01) * x, x),
    "elu": lambda x: elu(x, 1, 1),
    "selu": lambda x: elu(x, 1.67326324, 1.05070099),
    "clip": lambda x: clamp(x, 0, 6),
    "sigmoid": sigmoid,
    "hardsigmoid": lambda x: clamp(x / const(x, 5) + const(x, 0.5), 0, 1),
    "tanh": tirx.tanh,
    "silu": lambda x: x * sigmoid(x),
    "hardswish": lambda x: x * clamp(x + const(x, 3), 0, 6) / const(x, 6),
    "gelu": lambda x: const(x, 0.5) * x * (const(x, 1) + erf(x * const(x, math.sqrt(0.5)))),
    "gelu_tanh": gelu_tanh,
    "mish": lambda x: x * tirx.tanh(softplus(x)),
    "softplus": softplus,
    "softsign": lambda x: x / (const(x, 1) + tirx.abs(x)),
    "erf": erf,
    "exp": tirx.exp,
    "log": tirx.log,
    "sqrt": tirx.sqrt,
    "rsqrt": lambda x: const(x, 1) / tirx.sqrt(x),
    "abs": tirx.abs,
    "neg": lambda x: -x,
    "sign": lambda x: choose(x > const(x, 0), const(x, 1), choose(x < const(x, 0), const(x, -1), const(x, 0))),
    "reciprocal": lambda x: const(x, 1) / x,
    "floor": tirx.floor,
    "ceil": tirx.ceil,
    "round": tirx.nearbyint,
    "sin": tirx.sin,
    "cos": tirx.cos,
    "tan": tan,
    "sinh": lambda x: (tirx.exp(x) - tirx.exp(-x)) / const(x, 2),
    "cosh": lambda x: (tirx.exp(x) + tirx.exp(-x)) / const(x, 2),
    "asin": tirx.asin,
    "acos": tirx.acos,
    "atan": tirx.atan,
    "asinh": asinh,
    "acosh": lambda x: tirx.log(x + tirx.sqrt(x * x - const(x, 1))),
    "atanh": lambda x: const(x, 0.5) * tirx.log((const(x, 1) + x) / (const(x, 1) - x)),
    "expm1": expm1,
    "log1p": lambda x: tirx.log(const(x, 1) + x),
    "thresholded_relu": lambda x: choose(x > const(x, 1), x, const(x, 0)),
    "shrink": lambda x: choose(tirx.abs(x) > const(x, 0.5), x, const(x, 0)),
    "bitwise_not": lambda x: tirx.bitwise_not(x),
    "logical_not": lambda x: (x == const(x, 0)).astype("uint8"),
    "isnan": lambda x: tirx.isnan(x).astype("uint8"),
    "isinf": lambda x: (tirx.abs(x) == const(x, math.inf)).astype("uint8"),
    "copy": lambda x: x,
}


def quotient(x, y):
    if is_real(x):
        return x / y
    return tirx.if_then_else(y == const(y, 0), const(x, 0), tirx.truncdiv(x, y))


def remainder(x, y):
    if is_real(x):
        return x - y * tirx.trunc(x / y)
    return tirx.if_then_else(y == const(y, 0), const(x, 0), tirx.floormod(x, y))


def raised(x, y):
    if is_real(x):
        return tirx.pow(x, y)
    return tirx.trunc(tirx.pow(x.astype("float64"), y.astype("float64"))).astype(type_of(x))


def atan2(x, y):
    """atan2(y=x, x=y): the quadrant by the signs."""
    a = tirx.atan(x / choose(y == const(y, 0), const(y, 1), y))
    half = choose(x < const(x, 0), const(x, -math.pi / 2), const(x, math.pi / 2))
    around = choose(x < const(x, 0), const(x, -math.pi), const(x, math.pi))
    side = choose(y > const(y, 0), a, a + around)
    return choose(y == const(y, 0), choose(x == const(x, 0), const(x, 0), half), side)


BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": quotient,
    "pow": raised,
    "mod": remainder,
    "minimum": te.min,
    "maximum": te.max,
    "prelu": lambda x, y: choose(x < const(x, 0), x * y, x),
    "atan2": atan2,
    "bitwise": lambda x, y: x & y,
    "where": lambda c, y, z: choose(c != const(c, 0), y, z),
}
COMPARISONS = {
    "equal": lambda x, y: x == y,
    "less": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y,
    "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y,
    "logical_and": lambda x, y: tirx.all(x != const(x, 0), y != const(y, 0)),
    "logical_or": lambda x, y: tirx.any(x != const(x, 0), y != const(y, 0)),
    "logical_xor": lambda x, y: (x != const(x, 0)).astype("int32") != (y != const(y, 0)).astype("int32"),
}


# ---- windows and products ----

LAYOUTS = {1: ("NCW", "OIW"), 2: ("NCHW", "OIHW"), 3: ("NCDHW", "OIDHW")}


def add_bias(y, bias=None):
    return y if bias is None else te.compute(y.shape, lambda *i: y(*i) + bias[i[1]], name="bias")


def conv(op, x, w, *bias):
    kernel, stride, dilation, begin, end = op.windows()
    data, filters = LAYOUTS[len(kernel)]
    y = topi.nn.conv(x, w, stride, begin + end, dilation, op.at("groups", 1), data, filters)
    return add_bias(y, *bias)


def conv_transpose(op, x, w, *bias):
    """A convolution of the operand with zeros between its elements, the filter turned."""
    kernel, stride, dilation, begin, end = op.windows()
    n, groups = len(kernel), op.at("groups", 1)
    outpad = op.list("outpad", n, 0)
    reach = [d * (k - 1) for d, k in zip(dilation, kernel)]
    if any(r < b or r - e + o < 0 for r, b, e, o in zip(reach, begin, end, outpad)):
        raise Refused("padding beyond the filter is not written here")
    wide = topi.nn.dilate(x, [1, 1] + stride)
    ins, outs = int(w.shape[0]) // groups, int(w.shape[1])

    def turned(*i):
        return w(*([i[0] // outs * ins + i[1], i[0] % outs]
                   + [k - 1 - j for k, j in zip(kernel, i[2:])]))
    filters = te.compute([outs * groups, ins] + kernel, turned, name="turned")
    padding = ([r - b for r, b in zip(reach, begin)]
               + [r - e + o for r, e, o in zip(reach, end, outpad)])
    y = topi.nn.conv(wide, filters, [1] * n, padding, dilation, groups, *LAYOUTS[n])
    return add_bias(y, *bias)


def deform_conv2d(op, x, offset, w, *bias):
    kernel, stride, dilation, begin, end = op.windows()
    if begin != end:
        raise Refused("a deformable convolution with asymmetric padding")
    groups = int(offset.shape[1]) // (2 * kernel[0] * kernel[1])
    y = topi.nn.deformable_conv2d_nchw(x, offset, w, stride, begin, dilation, groups, op.at("groups", 1), type_of(x))
    return add_bias(y, *bias)


def pool(how):
    def make(op, x):
        kernel, stride, dilation, begin, _ = op.windows()
        n, out = len(kernel), op.outputs[0][1][2:]
        end = [max(0, (o - 1) * s + d * (k - 1) + 1 - int(i) - b) for o, s, d, k, i, b
               in zip(out, stride, dilation, kernel, x.shape[2:], begin)]
        pools = {1: topi.nn.pool1d, 2: topi.nn.pool2d, 3: topi.nn.pool3d}
        return pools[n](x, kernel, stride, dilation, begin + end, how, False, LAYOUTS[n][0], False)
    return make


def global_pool(how):
    def make(op, x):
        axes = list(range(2, len(x.shape)))
        if how == "max":
            return topi.max(x, axes, True)
        count = math.prod(int(x.shape[a]) for a in axes)
        total = topi.sum(x, axes, True)
        return te.compute(total.shape, lambda *i: total(*i) / const(x, count), name="mean")
    return make


def product(op):
    if op.at("block") or op.at("order") or op.words.get("weights", op.words.get("dtype", "fp32")) != op.words.get("dtype", "fp32"):
        raise Refused("operands packed in blocks, of other types or transposed are not written here")
    return DTYPES[op.outputs[0][0]]


def linear(op, x, w, *bias):
    """Weights lie in x out, as deployed: the plug-in turns them."""
    out = product(op)
    k = te.reduce_axis((0, w.shape[0]), name="k")
    y = te.compute(op.outputs[0][1], lambda *i: te.sum(
        x(*i[:-1], k).astype(out) * w[k, i[-1]].astype(out), axis=k), name="linear")
    if not bias:
        return y
    return te.compute(y.shape, lambda *i: y(*i) + bias[0][i[-1]].astype(out), name="bias")


def matmul(op, x, y):
    out, shape = product(op), op.outputs[0][1]
    k = te.reduce_axis((0, x.shape[-1]), name="k")

    def element(t, i, last):
        lead = len(shape) - len(t.shape)
        at = [0 if int(t.shape[d]) == 1 else i[lead + d] for d in range(len(t.shape) - 2)]
        return t(*at, *last).astype(out)
    return te.compute(shape, lambda *i: te.sum(
        element(x, i, (i[-2], k)) * element(y, i, (k, i[-1])), axis=k), name="matmul")


def attention(op, q, k, v):
    if op.at("train") or op.at("mask") or op.at("shared"):
        raise Refused("attention with a mask, with dropout or with shared values is not written here")
    batch, heads, length, size = (int(d) for d in q.shape)
    shared = heads // int(k.shape[1])
    near = te.reduce_axis((0, size), name="d")
    scale = const(q, 1 / math.sqrt(size))
    scores = te.compute((batch, heads, length, k.shape[2]), lambda b, h, i, j: te.sum(
        q[b, h, i, near] * k[b, h // shared, j, near], axis=near), name="scores")

    def masked(b, h, i, j):
        s = scores[b, h, i, j] * scale
        return choose(j > i, const(q, -1e9), s) if op.at("causal") else s
    weights = topi.nn.softmax(te.compute(scores.shape, masked, name="masked"), 3)
    j = te.reduce_axis((0, k.shape[2]), name="j")
    return te.compute(op.outputs[0][1], lambda b, h, i, d: te.sum(
        weights[b, h, i, j] * v[b, h // shared, j, d], axis=j), name="attended")


# ---- norms and reductions ----

def batchnorm(op, x, scale, shift, mean, variance):
    if op.at("train"):
        raise Refused("statistics of a batch are training")
    return te.compute(x.shape, lambda *i: (x(*i) - mean[i[1]]) / tirx.sqrt(
        variance[i[1]] + const(x, 1e-5)) * scale[i[1]] + shift[i[1]], name="batchnorm")


def reshaped(x, shape):
    return topi.reshape(x, shape)


def normalised(x, axes, centred=True):
    """x less its mean over the axes, over its deviation: two passes, as the others do."""
    n = const(x, math.prod(int(x.shape[a]) for a in axes))
    if centred:
        total = topi.sum(x, axes, True)
        x = te.compute(x.shape, lambda *i: x(*i) - total(*[0 if d in axes else v for d, v in enumerate(i)]) / n,
                       name="centred")
    square = te.compute(x.shape, lambda *i: x(*i) * x(*i), name="square")
    power_sum = topi.sum(square, axes, True)
    return te.compute(x.shape, lambda *i: x(*i) / tirx.sqrt(
        power_sum(*[0 if d in axes else v for d, v in enumerate(i)]) / n + const(x, 1e-5)), name="normalised")


def layernorm(op, x, scale, *shift):
    rank = len(x.shape)
    axes = list(range(rank - op.at("norm"), rank))
    y = normalised(x, axes, centred=bool(shift))

    def result(*i):
        last = [i[a] for a in axes]
        return y(*i) * scale(*last) + shift[0](*last) if shift else y(*i) * scale(*last)
    return te.compute(x.shape, result, name="scaled")


def groupnorm(op, x, scale, shift):
    groups = int(x.shape[1]) if op.kind == "instancenorm" else op.at("groups")
    shape = [int(d) for d in x.shape]
    grouped = reshaped(x, [shape[0], groups, math.prod(shape[1:]) // groups])
    y = reshaped(normalised(grouped, [2]), shape)
    return te.compute(shape, lambda *i: y(*i) * scale[i[1]] + shift[i[1]], name="scaled")


def lrn(op, x):
    size, channels = op.at("size"), int(x.shape[1])
    r = te.reduce_axis((0, size), name="r")
    first = (size - 1) // 2

    def near(i):
        c = i[1] + r - first
        v = x(i[0], c, *i[2:])
        return tirx.if_then_else(tirx.all(c >= 0, c < channels), v * v, const(x, 0))
    total = te.compute(x.shape, lambda *i: te.sum(near(i), axis=r), name="near")
    return te.compute(x.shape, lambda *i: x(*i) / tirx.pow(
        const(x, 1) + const(x, 1e-4 / size) * total(*i), const(x, 0.75)), name="lrn")


def l2norm(op, x):
    axis = op.at("axis")
    square = te.compute(x.shape, lambda *i: x(*i) * x(*i), name="square")
    total = topi.sum(square, axis, True)
    return te.compute(x.shape, lambda *i: x(*i) / tirx.sqrt(
        total(*[0 if d == axis else v for d, v in enumerate(i)]) + const(x, 1e-12)), name="l2norm")


def reduction(before, reducer, after=lambda v, n: v):
    def make(op, x):
        axes, keep = op.list("axes", 0), bool(op.at("keep", 1))
        n = math.prod(int(x.shape[a]) for a in axes)
        if before:
            whole = x
            x = te.compute(x.shape, lambda *i: before(whole(*i)), name="before")
        y = reducer(x, axes, keep)
        y = te.compute(y.shape, lambda *i: after(y(*i), n), name="after")
        return reshaped(y, op.outputs[0][1])
    return make


def log_sum_exp(x, axes):
    """With axes of one element where sums were taken."""
    def at(t, i):
        return t(*[0 if d in axes else v for d, v in enumerate(i)])
    most = topi.max(x, axes, True)
    exps = te.compute(x.shape, lambda *i: tirx.exp(x(*i) - at(most, i)), name="exps")
    total = topi.sum(exps, axes, True)
    return te.compute(total.shape, lambda *i: most(*i) + tirx.log(total(*i)), name="logsumexp")


def logsoftmax(op, x):
    return topi.subtract(x, log_sum_exp(x, [op.at("axis")]))


REDUCTIONS = {
    "reduce_mean": reduction(None, topi.sum, lambda v, n: v / const(v, n)),
    "reduce_sum": reduction(None, topi.sum),
    "reduce_max": reduction(None, topi.max),
    "reduce_min": reduction(None, topi.min),
    "reduce_prod": reduction(None, topi.prod),
    "reduce_l1": reduction(tirx.abs, topi.sum),
    "reduce_l2": reduction(lambda v: v * v, topi.sum, lambda v, n: tirx.sqrt(v)),
    "reduce_logsumexp": lambda op, x: reshaped(log_sum_exp(x, op.list("axes", 0)), op.outputs[0][1]),
}


def arg(choice):
    def make(op, x):
        y = choice(x, op.at("axes"), bool(op.at("keep", 1)))
        y = te.compute(y.shape, lambda *i: y(*i).astype("int64"), name="cast")
        return reshaped(y, op.outputs[0][1])
    return make


def mse_loss(op, x, y):
    square = te.compute(x.shape, lambda *i: (x(*i) - y(*i)) * (x(*i) - y(*i)), name="square")
    n = math.prod(int(d) for d in x.shape)
    total = topi.sum(square, list(range(len(x.shape))), True)
    mean = te.compute(total.shape, lambda *i: total(*i) / const(x, n), name="mean")
    return reshaped(mean, op.outputs[0][1])


# ---- moves ----

def cast(op, x):
    to = op.words["to"]
    if to == "bool":
        return te.compute(x.shape, lambda *i: (x(*i) != const(x, 0)).astype("uint8"), name="cast")
    return te.compute(x.shape, lambda *i: x(*i).astype(DTYPES[to]), name="cast")


def quantize(op, x):
    low = -128 if op.words["to"] == "int8" else 0
    return te.compute(x.shape, lambda *i: clamp(tirx.nearbyint(
        x(*i) * const(x, 16)), low, low + 255).astype(op.words["to"]), name="quantize")


def dequantize(op, x):
    to = DTYPES[op.words["to"]]
    return te.compute(x.shape, lambda *i: x(*i).astype(to) / tirx.const(16, to), name="dequantize")


def concat(op, *parts):
    return topi.concatenate(list(parts), op.at("axis"))


def split(op, x):
    axis = op.at("axis")

    def part(begin):
        return lambda *i: x(*[v + begin if d == axis else v for d, v in enumerate(i)])
    sizes = [shape[axis] for _, shape in op.outputs]
    return [te.compute(shape, part(sum(sizes[:n])), name="part") for n, (_, shape) in enumerate(op.outputs)]


def slice_(op, x):
    shape, out, step, axis = [int(d) for d in x.shape], op.outputs[0][1], op.at("step", 1), []
    at = 0
    for d, extent in enumerate(shape):  # an axis of x that the result lacks has one element left
        spare = len(shape) - d > len(out) - at
        dropped = spare and (at == len(out) or out[at] != extent)
        axis.append(None if dropped else at)
        at += not dropped
    if at != len(out):
        raise Refused("the result is no part of x")

    def element(*i):
        where = []
        for d, extent in enumerate(shape):
            kept = 1 if axis[d] is None else out[axis[d]]
            if kept > extent:
                raise Refused("the result is no part of x")
            s = step if (kept - 1) * step < extent else 1
            where.append(0 if axis[d] is None else i[axis[d]] * s)
        return x(*where)
    return te.compute(out, element, name="slice")


def pad(op, x):
    out = op.outputs[0][1]
    before = [(o - int(i)) // 2 if o >= int(i) else -((int(i) - o) // 2) for o, i in zip(out, x.shape)]

    def element(*i):
        at = [v - b for v, b in zip(i, before)]
        inside = [c for a, d in zip(at, x.shape) for c in (a >= 0, a < d)]
        return tirx.if_then_else(tirx.all(*inside), x(*at), const(x, 0))
    return te.compute(out, element, name="pad")


def tile(op, x):
    out = op.outputs[0][1]
    lead = len(out) - len(x.shape)
    return te.compute(out, lambda *i: x(*[i[lead + d] % x.shape[d] for d in range(len(x.shape))]), name="tile")


def resize_axis(x, axis, size, mode):
    """One axis with half-pixel centres, edges clamped."""
    old = int(x.shape[axis])
    shape = [size if d == axis else int(n) for d, n in enumerate(x.shape)]
    ratio = tirx.const(old / size, "float32")

    def at(i, where):
        where = te.max(te.min(where, old - 1), 0)
        return x(*[where if d == axis else v for d, v in enumerate(i)])

    def element(*i):
        if mode == 0:
            return at(i, (i[axis] * 2 + 1) * old // (2 * size))
        centre = (i[axis].astype("float32") + tirx.const(0.5, "float32")) * ratio - tirx.const(0.5, "float32")
        low = tirx.floor(centre)
        t = (centre - low).astype(type_of(x))
        first = low.astype("int32")
        if mode == 1:
            return at(i, first) * (const(x, 1) - t) + at(i, first + 1) * t
        a, u = const(x, -0.75), const(x, 1) - t

        def inner(s):
            return ((a + const(x, 2)) * s - (a + const(x, 3))) * s * s + const(x, 1)

        def outer(s):
            return ((a * s - a * const(x, 5)) * s + a * const(x, 8)) * s - a * const(x, 4)
        return (at(i, first - 1) * outer(t + const(x, 1)) + at(i, first) * inner(t)
                + at(i, first + 1) * inner(u) + at(i, first + 2) * outer(u + const(x, 1)))
    return te.compute(shape, element, name="resize")


def resize(op, x):
    for axis, size in enumerate(op.outputs[0][1]):
        if size != int(x.shape[axis]):
            x = resize_axis(x, axis, size, op.at("mode"))
    return te.compute(x.shape, lambda *i: x(*i), name="result")


def space_to_depth(op, x):
    return topi.nn.space_to_depth(x, int(x.shape[2]) // op.outputs[0][1][2])


def depth_to_space(op, x):
    return topi.nn.depth_to_space(x, op.outputs[0][1][2] // int(x.shape[2]))


def wrapped(index, extent):
    return tirx.floormod(index, tirx.const(int(extent), type_of(index)))


def gather(op, x, y):
    axis, n = op.at("axis"), len(y.shape)
    return te.compute(op.outputs[0][1], lambda *i: x(
        *i[:axis], wrapped(y(*i[axis:axis + n]), x.shape[axis]), *i[axis + n:]), name="gather")


def embedding(op, x, w):
    return te.compute(op.outputs[0][1], lambda *i: w[wrapped(x(*i[:-1]), w.shape[0]), i[-1]], name="embedding")


def gather_elements(op, x, y):
    axis = op.at("axis")
    return te.compute(y.shape, lambda *i: x(
        *[wrapped(y(*i), x.shape[d]) if d == axis else i[d] for d in range(len(i))]), name="gather")


def gather_nd(op, x, y):
    lead, n = len(y.shape) - 1, int(y.shape[-1])
    return te.compute(op.outputs[0][1], lambda *i: x(
        *[wrapped(y(*i[:lead], k), x.shape[k]) for k in range(n)], *i[lead:]), name="gather")


def one_hot(op, x):
    dtype, n = DTYPES[op.outputs[0][0]], len(x.shape)
    depth = op.outputs[0][1][-1]
    return te.compute(op.outputs[0][1], lambda *i: (
        wrapped(x(*i[:n]), depth) == i[-1].astype(type_of(x))).astype(dtype), name="one_hot")


def fill(op):
    dtype = DTYPES[op.outputs[0][0]]
    return te.compute(op.outputs[0][1], lambda *i: tirx.const(0, dtype), name="fill")


def hardmax(op, x):
    axis = op.at("axis")
    first = topi.argmax(x, axis, True)
    return te.compute(x.shape, lambda *i: (first(*[0 if d == axis else v for d, v in enumerate(i)])
                                           == i[axis]).astype(type_of(x)), name="hardmax")


def cumsum(op, x):
    """A sum of all that come before: quadratic, as nothing of topi's is a block here."""
    axis = op.at("axis")
    r = te.reduce_axis((0, x.shape[axis]), name="r")
    return te.compute(x.shape, lambda *i: te.sum(tirx.if_then_else(
        r <= i[axis], x(*[r if d == axis else v for d, v in enumerate(i)]), const(x, 0)), axis=r), name="cumsum")


KINDS = {
    **{k: elementwise(f) for k, f in UNARY.items()},
    **{k: broadcast(f) for k, f in BINARY.items()},
    **{k: broadcast(f, compares=True) for k, f in COMPARISONS.items()},
    **REDUCTIONS,
    **{f"conv{n}d": conv for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": conv_transpose for n in (1, 2, 3)},
    **{f"maxpool{n}d": pool("max") for n in (1, 2, 3)},
    **{f"avgpool{n}d": pool("avg") for n in (1, 2, 3)},
    "deform_conv2d": deform_conv2d, "linear": linear, "matmul": matmul, "attention": attention,
    "global_avgpool": global_pool("avg"), "global_maxpool": global_pool("max"),
    "batchnorm": batchnorm, "layernorm": layernorm, "rmsnorm": layernorm, "groupnorm": groupnorm,
    "instancenorm": groupnorm, "lrn": lrn, "l2norm": l2norm, "hardmax": hardmax, "mse_loss": mse_loss,
    "softmax": lambda op, x: topi.nn.softmax(x, op.at("axis")),
    "logsoftmax": logsoftmax,
    "argmax": arg(topi.argmax), "argmin": arg(topi.argmin), "cumsum": cumsum,
    "cast": cast, "quantize": quantize, "dequantize": dequantize, "concat": concat, "split": split,
    "transpose": lambda op, x: topi.transpose(x, op.list("perm", 0)),
    "slice": slice_, "pad": pad, "tile": tile, "resize": resize, "fill": fill,
    "expand": lambda op, x: broadcast(lambda v: v)(op, x),
    "depth_to_space": depth_to_space, "space_to_depth": space_to_depth, "gather": gather,
    "embedding": embedding, "gather_elements": gather_elements, "gather_nd": gather_nd, "one_hot": one_hot,
}


def expression(op):
    """Placeholders of operands and weights, then the results."""
    if op.kind not in KINDS:
        raise Refused("TVM's operator inventory has none that this engine would use for it")
    operands = [te.placeholder(shape, DTYPES[dtype], name=f"p{i}")
                for i, (dtype, shape) in enumerate(op.inputs + op.params)]
    results = KINDS[op.kind](op, *operands)
    return operands, results if isinstance(results, list) else [results]

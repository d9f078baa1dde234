"""Kernels in Triton, as networks' compilers write them: a program a block of a result."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, inside) + tl.load(y + i, inside), inside)


@triton.jit
def softmax(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * stride + i, e / tl.sum(e, 0), i < n)


@triton.jit
def layer_norm(x, weight, bias, out, n, eps, BLOCK: tl.constexpr):
    """Rows of any length, in blocks: a loop over a parameter."""
    row = tl.program_id(0)
    x += row * n
    out += row * n
    total = tl.zeros([BLOCK], tl.float32)
    for at in range(0, n, BLOCK):
        i = at + tl.arange(0, BLOCK)
        total += tl.load(x + i, i < n, other=0.0)
    mean = tl.sum(total, 0) / n
    squares = tl.zeros([BLOCK], tl.float32)
    for at in range(0, n, BLOCK):
        i = at + tl.arange(0, BLOCK)
        d = tl.where(i < n, tl.load(x + i, i < n, other=0.0) - mean, 0.0)
        squares += d * d
    scale = 1.0 / tl.sqrt(tl.sum(squares, 0) / n + eps)
    for at in range(0, n, BLOCK):
        i = at + tl.arange(0, BLOCK)
        inside = i < n
        v = (tl.load(x + i, inside) - mean) * scale
        tl.store(out + i, v * tl.load(weight + i, inside) + tl.load(bias + i, inside), inside)


@triton.jit
def matmul(a, b, c, m, n, k, stride_a, stride_b, stride_c, M: tl.constexpr,
           N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0) * M + tl.arange(0, M)
    col = tl.program_id(1) * N + tl.arange(0, N)
    i = tl.arange(0, K)
    x = a + row[:, None] * stride_a + i[None, :]
    y = b + i[:, None] * stride_b + col[None, :]
    total = tl.zeros([M, N], tl.float32)
    for at in range(0, k, K):
        p = tl.load(x, (row[:, None] < m) & (at + i[None, :] < k), other=0.0)
        q = tl.load(y, (at + i[:, None] < k) & (col[None, :] < n), other=0.0)
        total = tl.dot(p, q, total)
        x += K
        y += K * stride_b
    to = c + row[:, None] * stride_c + col[None, :]
    tl.store(to, total.to(tl.float16), (row[:, None] < m) & (col[None, :] < n))


@triton.jit
def attention(q, k, v, out, n, scale, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """Causal, one head a program of the second axis; keys in blocks."""
    first = tl.program_id(0) * M
    head = tl.program_id(1) * n * D
    row = first + tl.arange(0, M)
    d = tl.arange(0, D)
    x = tl.load(q + head + row[:, None] * D + d[None, :], row[:, None] < n, other=0.0)
    most = tl.full([M], -float("inf"), tl.float32)
    total = tl.zeros([M], tl.float32)
    result = tl.zeros([M, D], tl.float32)
    for at in range(0, tl.minimum(n, first + M), N):
        col = at + tl.arange(0, N)
        keys = tl.load(k + head + col[None, :] * D + d[:, None], col[None, :] < n, other=0.0)
        s = tl.dot(x, keys) * scale
        s = tl.where((row[:, None] >= col[None, :]) & (col[None, :] < n), s, -float("inf"))
        now = tl.maximum(most, tl.max(s, 1))
        p = tl.exp(s - now[:, None])
        old = tl.exp(most - now)
        total = total * old + tl.sum(p, 1)
        values = tl.load(v + head + col[:, None] * D + d[None, :], col[:, None] < n, other=0.0)
        result = tl.dot(p.to(tl.float16), values, result * old[:, None])
        most = now
    result /= total[:, None]
    tl.store(out + head + row[:, None] * D + d[None, :], result.to(tl.float16),
             row[:, None] < n)


@triton.jit
def gelu_dropout(x, out, n, drop, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n)
    v = 0.5 * v * (1.0 + tl.erf(v * 0.70710678))
    tl.store(out + i, tl.where(tl.rand(seed, i) > drop, v / (1.0 - drop), 0.0), i < n)


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n, other=0)
    tl.atomic_add(bins + v, 1, i < n)

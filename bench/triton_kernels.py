"""Kernels of the kind that Triton's tutorials have, to compare with. Importing
this file needs Triton."""

import triton
import triton.language as tl

# Longer rows are processed in pieces.
LONGEST_ROW = 16384
PIECE = 8192


@triton.jit
def _add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(z + at, total, mask=inside)


@triton.jit
def _softmax(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    at = tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + row + at, mask=inside, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row + at, (e / tl.sum(e, 0)).to(y.dtype.element_ty), mask=inside)


@triton.jit
def _softmax_long(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    highest = tl.full([BLOCK], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        v = tl.load(x + row + at, mask=at < n, other=-1e30).to(tl.float32)
        higher = tl.maximum(highest, v)
        total = total * tl.exp(highest - higher) + tl.exp(v - higher)
        highest = higher
    top = tl.max(highest, 0)
    scale = 1 / tl.sum(total * tl.exp(highest - top), 0)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        v = tl.load(x + row + at, mask=at < n, other=0).to(tl.float32)
        result = (tl.exp(v - top) * scale).to(y.dtype.element_ty)
        tl.store(y + row + at, result, mask=at < n)


@triton.jit
def _rmsnorm(x, w, y, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    at = tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + row + at, mask=inside, other=0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    weight = tl.load(w + at, mask=inside, other=0).to(tl.float32)
    tl.store(y + row + at, (v * scale * weight).to(y.dtype.element_ty), mask=inside)


@triton.jit
def _rmsnorm_long(x, w, y, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    squares = tl.zeros([BLOCK], tl.float32)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        v = tl.load(x + row + at, mask=at < n, other=0).to(tl.float32)
        squares += v * v
    scale = tl.rsqrt(tl.sum(squares, 0) / n + eps)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        inside = at < n
        v = tl.load(x + row + at, mask=inside, other=0).to(tl.float32)
        weight = tl.load(w + at, mask=inside, other=0).to(tl.float32)
        tl.store(y + row + at, (v * scale * weight).to(y.dtype.element_ty), mask=inside)


@triton.jit
def _matmul(
    a,
    b,
    c,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
):
    program = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    in_group = GROUP * columns
    first = program // in_group * GROUP
    size = tl.minimum(rows - first, GROUP)
    row = first + program % in_group % size
    column = program % in_group // size
    m = (row * BM + tl.arange(0, BM)) % M
    n = (column * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    a_at = a + m[:, None] * K + k[None, :]
    b_at = b + k[:, None] * N + n[None, :]
    total = tl.zeros([BM, BN], tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = K - step * BK
        total = tl.dot(
            tl.load(a_at, mask=k[None, :] < left, other=0.0),
            tl.load(b_at, mask=k[:, None] < left, other=0.0),
            total,
        )
        a_at += BK
        b_at += BK * N
    m = row * BM + tl.arange(0, BM)
    n = column * BN + tl.arange(0, BN)
    inside = (m[:, None] < M) & (n[None, :] < N)
    at = c + m[:, None] * N + n[None, :]
    tl.store(at, total.to(c.dtype.element_ty), mask=inside)


# Row-major tensors all. Each returns its last argument.


def add(x, y, z):
    n = z.numel()
    _add[(triton.cdiv(n, 1024),)](x, y, z, n, BLOCK=1024)
    return z


def softmax(x, y):
    m, n = x.shape
    if n > LONGEST_ROW:
        _softmax_long[(m,)](x, y, n, BLOCK=PIECE, num_warps=16)
    else:
        _softmax[(m,)](x, y, n, BLOCK=triton.next_power_of_2(n), num_warps=8)
    return y


def rmsnorm(x, w, y):
    m, n = x.shape
    if n > LONGEST_ROW:
        _rmsnorm_long[(m,)](x, w, y, n, 1e-6, BLOCK=PIECE, num_warps=16)
    else:
        block = triton.next_power_of_2(n)
        _rmsnorm[(m,)](x, w, y, n, 1e-6, BLOCK=block, num_warps=8)
    return y


def matmul(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    grid = (triton.cdiv(m, 128) * triton.cdiv(n, 256),)
    _matmul[grid](
        a, b, c, m, n, k, BM=128, BN=256, BK=64, GROUP=8, num_warps=8, num_stages=3
    )
    return c

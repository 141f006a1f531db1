"""What bench/gpu.py compares: for each case a kernel of std/, its arrays, what
the result must be, and how PyTorch and Triton compute the same."""

import dataclasses
import math
import types

import tilec

try:
    import torch
except ImportError:  # bench/gpu.py says what to do.
    torch = None

BYTES = {"bf16": 2, "f32": 4, "i64": 8}


@dataclasses.dataclass
class Param:
    """A tensor of a kernel. Inputs are random unless a case says otherwise."""

    name: str
    dtype: str
    shape: tuple
    is_output: bool = False

    @property
    def bytes(self):
        return math.prod(self.shape) * BYTES[self.dtype]


@dataclasses.dataclass
class Case:
    name: str
    file: str
    kernel: str
    params: list  # Of Param and tilec.DEFAULT, in the order of the kernel.
    # Takes the inputs in order; the expected first output in f32.
    reference: object
    # Takes the inputs; PyTorch's own way, which torch.compile takes too.
    torch: object
    compiles: bool = True
    others: object = None  # Takes Triton's kernels or None, and tensors; a dict.
    defines: dict = dataclasses.field(default_factory=dict)
    flops: float = 0
    fill: dict = dataclasses.field(default_factory=dict)  # Special inputs.

    @property
    def tensors(self):
        return [p for p in self.params if isinstance(p, Param)]

    @property
    def bytes(self):
        return sum(p.bytes for p in self.tensors)

    def make(self):
        """Tensors by name, on the GPU; outputs are NaN."""
        dtypes = {"bf16": torch.bfloat16, "f32": torch.float32, "i64": torch.int64}
        made = types.SimpleNamespace()
        for p in self.tensors:
            options = {"dtype": dtypes[p.dtype], "device": "cuda"}
            if p.is_output:
                value = torch.full(p.shape, float("nan"), **options)
            elif p.name in self.fill:
                value = self.fill[p.name](p.shape)
            else:
                value = torch.randn(p.shape, **options)
            setattr(made, p.name, value)
        return made

    def arguments(self, tensors):
        """For a launch with `tensors`, by name."""
        return tilec.Arguments(
            *[
                getattr(tensors, p.name) if isinstance(p, Param) else p
                for p in self.params
            ]
        )

    def stand_ins(self):
        """Arguments as those of a launch, but without memory: to compile for."""
        address, tensors = 1 << 40, types.SimpleNamespace()
        for p in self.tensors:
            setattr(tensors, p.name, tilec.Tensor(address, p.dtype, p.shape))
            address += (p.bytes + (1 << 20)) >> 12 << 12
        return self.arguments(tensors)


# PyTorch's ways ---------------------------------------------------------------


def add(x, y):
    return x + y


def matmul(a, b):
    return torch.matmul(a, b)


def rmsnorm(x, w):
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), w, eps=1e-6)


def layernorm(x, w, b):
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), w, b, eps=1e-5)


def softmax(x):
    return torch.softmax(x, dim=-1)


def cross_entropy(x, target):
    return torch.nn.functional.cross_entropy(x, target, reduction="none")


def bias_gelu(x, bias):
    return torch.nn.functional.gelu(x + bias)


def silu_mul(gate, up):
    return torch.nn.functional.silu(gate) * up


def rope(x, cosine, sine):
    c, s = cosine[None, :, None, :], sine[None, :, None, :]
    x1, x2 = x[..., 0, :], x[..., 1, :]
    return torch.stack([x1 * c - x2 * s, x2 * c + x1 * s], dim=-2).to(x.dtype)


def _in_float(function):
    """The same in f32, which is exact enough for results of bf16."""

    def reference(*inputs):
        wide = [t.float() if t.is_floating_point() else t for t in inputs]
        return function(*wide)

    return reference


# Families ---------------------------------------------------------------------


def _row_case(title, m, n, file, kernel, params, function, others=None, fill=None):
    return Case(
        f"{title} {m}×{n}",
        file,
        kernel,
        params,
        _in_float(function),
        function,
        others=others,
        fill=fill or {},
        defines={"T": "bf16"},
    )


def _row_cases(m, n):
    def tensor(name, is_output=False):
        return Param(name, "bf16", (m, n), is_output)

    def row(name):
        return Param(name, "bf16", (n,))

    def triton_rmsnorm(kernels, t):
        y = torch.empty_like(t.Y)
        return {"Triton": lambda: kernels.rmsnorm(t.X, t.w, y)} if kernels else {}

    def triton_softmax(kernels, t):
        y = torch.empty_like(t.Y)
        return {"Triton": lambda: kernels.softmax(t.X, y)} if kernels else {}

    def classes(shape):
        return torch.randint(0, n, shape, device="cuda")

    x, y, default = tensor("X"), tensor("Y", True), tilec.DEFAULT
    yield _row_case(
        "RMSNorm",
        m,
        n,
        "norms",
        "rmsnorm",
        [x, row("w"), default, y],
        rmsnorm,
        triton_rmsnorm,
    )
    yield _row_case(
        "LayerNorm",
        m,
        n,
        "norms",
        "layernorm",
        [x, row("w"), row("b"), default, y],
        layernorm,
    )
    yield _row_case(
        "softmax", m, n, "softmax", "softmax_rows", [x, y], softmax, triton_softmax
    )
    yield _row_case(
        "cross-entropy",
        m,
        n,
        "softmax",
        "cross_entropy",
        [
            tensor("logits"),
            Param("target", "i64", (m,)),
            Param("loss", "f32", (m,), True),
        ],
        cross_entropy,
        fill={"target": classes},
    )
    yield _row_case(
        "bias + GELU",
        m,
        n,
        "elementwise",
        "bias_gelu",
        [x, row("bias"), y],
        bias_gelu,
    )
    yield _row_case(
        "SiLU·mul",
        m,
        n,
        "elementwise",
        "silu_mul",
        [tensor("gate"), tensor("up"), y],
        silu_mul,
    )


def _rope_case(b, s, h, p):
    def angles(function):
        def fill(shape):
            positions = torch.arange(s, device="cuda", dtype=torch.float64)
            exponents = torch.arange(p, device="cuda", dtype=torch.float64) / p
            table = positions[:, None] * 10000.0 ** -exponents[None, :]
            return getattr(torch, function)(table).float()

        return fill

    x_shape = (b, s, h, 2, p)
    return Case(
        f"RoPE {b}×{s}×{h}×{2 * p}",
        "rope",
        "rope",
        [
            Param("X", "bf16", x_shape),
            Param("cosine", "f32", (s, p)),
            Param("sine", "f32", (s, p)),
            Param("Y", "bf16", x_shape, True),
        ],
        _in_float(rope),
        rope,
        defines={"T": "bf16"},
        fill={"cosine": angles("cos"), "sine": angles("sin")},
    )


def _transpose_case(m, n):
    return Case(
        f"transposition {m}×{n}",
        "transpose",
        "transpose",
        [Param("X", "bf16", (m, n)), Param("Y", "bf16", (n, m), True)],
        lambda x: x.t().float(),
        lambda x: x.t().contiguous(),
        defines={"T": "bf16"},
    )


def _matmul_case(n):
    def others(kernels, t):
        c = torch.empty_like(t.C)
        return {"Triton": lambda: kernels.matmul(t.A, t.B, c)} if kernels else {}

    def reference(a, b):
        # TF32 is off unless a program asks for it.
        return torch.matmul(a.float(), b.float())

    shape = (n, n)
    return Case(
        f"matmul {n}³",
        "matmul",
        "matmul",
        [
            Param("A", "bf16", shape),
            Param("B", "bf16", shape),
            Param("C", "bf16", shape, True),
        ],
        reference,
        matmul,
        compiles=False,
        others=others,
        defines={"T": "bf16"},
        flops=2 * n**3,
    )


def _attention_case(heads, length, d, causal):
    def attend(backend, q, k, v):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        with sdpa_kernel(getattr(SDPBackend, backend)):
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=causal
            )

    def others(kernels, t):
        return {"cuDNN": lambda: attend("CUDNN_ATTENTION", t.Q, t.K, t.V)}

    def reference(q, k, v):
        result = torch.empty(q.shape, dtype=torch.float32, device="cuda")
        hidden = torch.ones(length, length, dtype=torch.bool, device="cuda").triu(1)
        for h in range(heads):  # The products of one head are 256 MB.
            s = q[0, h].float() @ k[0, h].float().t() / math.sqrt(d)
            if causal:
                s.masked_fill_(hidden, -math.inf)
            result[0, h] = torch.softmax(s, dim=-1) @ v[0, h].float()
        return result

    shape = (1, heads, length, d)
    pairs = length * (length + 1) / 2 if causal else length**2
    return Case(
        f"attention 1×{heads}×{length}×{d}" + (" causal" if causal else ""),
        "attention",
        "attention_forward",
        [
            Param("Q", "bf16", shape),
            Param("K", "bf16", shape),
            Param("V", "bf16", shape),
            Param("O", "bf16", shape, True),
            Param("lse", "f32", shape[:-1], True),
        ],
        reference,
        lambda q, k, v: attend("FLASH_ATTENTION", q, k, v),
        compiles=False,
        others=others,
        defines={"T": "bf16", "mask": "causal" if causal else "no_mask"},
        flops=4 * heads * pairs * d,
    )


def all_cases():
    cases = [_matmul_case(4096), _matmul_case(8192)]
    for heads, d in ((16, 128), (32, 64)):
        for causal in (False, True):
            cases.append(_attention_case(heads, 8192, d, causal))
    for m, n in ((32768, 4096), (32768, 4095), (8192, 128256)):
        cases.extend(_row_cases(m, n))
    cases.append(_rope_case(8, 4096, 32, 64))
    cases.append(_transpose_case(16384, 8192))
    return cases

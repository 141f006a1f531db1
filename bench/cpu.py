#!/usr/bin/env python3
"""Compares kernels on the cpu target with NumPy, on the cores of this machine.

    scripts/bench-cpu [--rounds N]

Each case is run alternately: one round of NumPy, one of tilec (a median over
repetitions within one process), and so on; the table has the median of the
rounds and the ratio NumPy / tilec, above 1 where tilec is faster. Inputs are
random. Compile times are those of the same runs.
"""

import argparse
import os
import re
import statistics
import subprocess
import time

# OpenBLAS is told on some machines which processor to assume; what it finds by
# itself is the fair peer. It reads these when NumPy is loaded.
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)

import numpy as np  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TILEC = os.path.join(ROOT, "build", "release", "bin", "tilec")


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def rmsnorm(x, w):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * w


def attention(q, k, v):
    s = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)) @ v


def random(*shape):
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def cases():
    a, b = random(1024, 1024), random(1024, 1024)
    x, w = random(4096, 4096), random(4096)
    q = random(1, 8, 1024, 64)
    yield ("matmul f32 1024x1024x1024", lambda: a @ b,
           ["std/matmul.tile", "matmul", "--size", "M=1024,N=1024,K=1024"],
           2 * 1024**3)
    yield ("softmax f32 4096x4096", lambda: softmax(x),
           ["std/softmax.tile", "softmax_rows", "--size", "M=4096,N=4096"],
           None)
    yield ("rmsnorm f32 4096x4096", lambda: rmsnorm(x, w),
           ["std/norms.tile", "rmsnorm", "--size", "M=4096,N=4096"], None)
    yield ("attention f32 1x8x1024x64", lambda: attention(q, q, q),
           ["std/attention.tile", "attention_forward", "--size",
            "B=1,H=8,G=8,S=1024,KV=1024,D=64,E=64"], 4 * 8 * 1024 * 1024 * 64)


def time_numpy(function, seconds=0.5):
    function()
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def time_tilec(arguments, repeat):
    output = subprocess.run(
        [TILEC, "run", *arguments, "--repeat", str(repeat), "--unchecked"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = re.search(
        r"compiled in ([\d.e+-]+) (us|ms|s), ran in ([\d.e+-]+) (us|ms|s)",
        output)
    unit = {"us": 1e-3, "ms": 1, "s": 1e3}
    return float(found[1]) * unit[found[2]], float(found[3]) * unit[found[4]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(f"{'case':28} {'NumPy ms':>9} {'tilec ms':>9} {'ratio':>6} "
          f"{'GFLOP/s':>8} {'compile ms':>10}")
    for name, function, arguments, flops in cases():
        peer, own, compiles = [], [], []
        for _ in range(rounds):
            peer.append(time_numpy(function))
            compiled, ran = time_tilec(arguments, 20)
            own.append(ran)
            compiles.append(compiled)
        a, b = statistics.median(peer), statistics.median(own)
        rate = f"{flops / b / 1e6:8.1f}" if flops else " " * 8
        print(f"{name:28} {a:9.2f} {b:9.2f} {a / b:6.2f} {rate} "
              f"{statistics.median(compiles):10.0f}", flush=True)


if __name__ == "__main__":
    main()

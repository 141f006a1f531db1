"""What bench/gpu.py measures besides the time of kernels: how long it takes from
source text to a first result, in a process that has compiled nothing before, and
what a launch costs the host."""

import concurrent.futures
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import gpu_cases
import tilec

try:
    import torch
except ImportError:  # bench/gpu.py says what to do.
    torch = None

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SYSTEMS = {"tilec": "tilec", "triton": "Triton", "inductor": "torch.compile"}
TIMEOUT_S = 100
FIRST = "vector add, the first of the process"


def kernel_of(file, name, **defines):
    path = os.path.join(ROOT, "std", file + ".tile")
    return tilec.Module(path).kernel(name, **defines)


# In the process that is measured ----------------------------------------------


def steps(system, kernels):
    """Names, and functions that compile and launch; arrays are there before."""

    def random(*shape):
        return torch.randn(shape, dtype=torch.bfloat16, device="cuda")

    x, y, w = random(256, 4096), random(256, 4096), random(4096)
    v, u = random(1 << 20), random(1 << 20)
    a, b, c = random(1024, 1024), random(1024, 1024), random(1024, 1024)
    target = torch.randint(0, 4096, (256,), device="cuda")
    loss = torch.empty(256, device="cuda")
    q, k, o = (random(1, 2, 1024, 128) for _ in range(3))
    lse = torch.empty(1, 2, 1024, device="cuda")
    result = torch.empty_like(v)

    def run_tilec(file, name, *values, **defines):
        return lambda: kernel_of(file, name, T="bf16", **defines).launch(*values)

    def run_inductor(function, *values):
        return lambda: torch.compile(function, dynamic=False)(*values)

    if system == "tilec":
        return {
            FIRST: run_tilec("elementwise", "add_arrays", v, u, result),
            "RMSNorm": run_tilec("norms", "rmsnorm", x, w, tilec.DEFAULT, y),
            "softmax": run_tilec("softmax", "softmax_rows", x, y),
            "cross-entropy": run_tilec("softmax", "cross_entropy", x, target, loss),
            "matmul": run_tilec("matmul", "matmul", a, b, c),
            "attention": run_tilec(
                "attention", "attention_forward", q, k, k, o, lse, mask="causal"
            ),
        }
    if system == "triton":
        return {
            FIRST: lambda: kernels.add(v, u, result),
            "RMSNorm": lambda: kernels.rmsnorm(x, w, y),
            "softmax": lambda: kernels.softmax(x, y),
            "matmul": lambda: kernels.matmul(a, b, c),
        }
    return {
        FIRST: run_inductor(gpu_cases.add, v, u),
        "RMSNorm": run_inductor(gpu_cases.rmsnorm, x, w),
        "softmax": run_inductor(gpu_cases.softmax, x),
        "cross-entropy": run_inductor(gpu_cases.cross_entropy, x, target),
    }


def work(system, kernels):
    """Prints the milliseconds of each step as JSON."""
    times = {}
    for name, step in steps(system, kernels).items():
        torch.cuda.synchronize()
        start = time.perf_counter()
        try:
            step()
            torch.cuda.synchronize()
        except Exception as error:  # The others may work.
            print(f"{system}, {name}: {error}", file=sys.stderr)
            continue
        times[name] = 1e3 * (time.perf_counter() - start)
    print(json.dumps(times))


# In the process that asks -----------------------------------------------------


def run_worker(system, library, folder):
    environment = dict(os.environ)
    for name in ("TILEC_CACHE_DIR", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
        environment[name] = os.path.join(folder, name.lower())
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu.py")
    command = [sys.executable, program, "--worker", system, "--library", library]
    try:
        output = subprocess.run(
            command,
            env=environment,
            timeout=TIMEOUT_S,
            check=True,
            capture_output=True,
            text=True,
        )
        sys.stderr.write(output.stderr[-2000:])
        return json.loads(output.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        problem = f"took more than {TIMEOUT_S} s"
    except subprocess.CalledProcessError as error:
        problem = error.stderr[-2000:]
    except (IndexError, ValueError):
        problem = "printed no figures"
    print(f"compile times of {SYSTEMS[system]}: {problem}", file=sys.stderr)
    return {}


def cold_and_warm(system, library):
    """Two processes, the second with the cache that the first has filled."""
    with tempfile.TemporaryDirectory() as folder:
        cold = run_worker(system, library, folder)
        return {"cold": cold, "warm": run_worker(system, library, folder)}


def compile_times(library, has_triton):
    systems = [s for s in SYSTEMS if has_triton or s == "tilec"]
    with concurrent.futures.ThreadPoolExecutor(len(systems)) as pool:
        times = pool.map(lambda system: cold_and_warm(system, library), systems)
        return dict(zip(systems, times))


def format_times(times, table):
    """The compile times as a table."""
    names = []
    for both in times.values():
        names += [n for n in both["cold"] if n not in names]
    head = ["source to first result, ms"]
    for system in times:
        head += [f"{SYSTEMS[system]} {how}" for how in ("cold", "warm")]
    rows = []
    for name in names:
        row = [name]
        for both in times.values():
            for how in ("cold", "warm"):
                value = both[how].get(name)
                row.append("" if value is None else f"{value:.1f}")
        rows.append(row)
    return table(head, rows)


def microseconds(function):
    """Until the host goes on: the median of many, a few at a time."""
    samples = []
    for _ in range(40):
        torch.cuda.synchronize()
        for _ in range(16):
            start = time.perf_counter()
            function()
            samples.append(1e6 * (time.perf_counter() - start))
    return statistics.median(samples[160:])


def launch_overhead(kernels):
    """Of RMSNorm on a small array, in µs."""
    x = torch.randn(64, 4096, dtype=torch.bfloat16, device="cuda")
    w = torch.randn(4096, dtype=torch.bfloat16, device="cuda")
    y = torch.empty_like(x)
    ways = {"an empty call through ctypes": tilec.version}
    try:
        kernel = kernel_of("norms", "rmsnorm", T="bf16")
        arguments = tilec.Arguments(x, w, tilec.DEFAULT, y)
        prepared = kernel.prepare(arguments)
        ways["tilec direct, through ctypes"] = lambda: kernel.launch(arguments)
        ways["tilec prepared, through ctypes"] = prepared.run
    except tilec.Error as error:
        print(f"launches of tilec: {error}", file=sys.stderr)
    if kernels:
        ways["Triton"] = lambda: kernels.rmsnorm(x, w, y)
    ways["PyTorch"] = lambda: gpu_cases.rmsnorm(x, w)
    result = {}
    for name, way in ways.items():
        try:
            result[name] = microseconds(way)
        except Exception as error:  # Triton without a C compiler, say.
            print(f"launches of {name}: {error}", file=sys.stderr)
    return result

#!/usr/bin/env python3
"""Compares kernels on a GPU with PyTorch and Triton, in one process.

    scripts/bench-gpu [--only NAME] [--rounds N] [--library PATH] [--json FILE]

All of a case get the same random arrays, and their results are compared with one
in f32 before anything is timed. They then take turns in random order; before each
run 256 MB are written, so that nothing of the arrays is left in the second-level
cache, and the device's clock counts. A copy of arrays that move as many bytes
takes its turns too. Times are medians. Afterwards: compile times in processes of
their own, without a cache and then with the one left behind, and what a launch
costs the host. Prints Markdown and writes JSON.
"""

import argparse
import concurrent.futures
import glob
import importlib.util
import json
import math
import os
import random
import statistics
import sys
import time

import gpu_cases
import gpu_compile
import tilec

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Where scripts/dist, scripts/build and the packed folder have it.
LIBRARIES = ["build/dist/lib", "build/release/lib", "lib"]
JSON = os.path.join(ROOT, "build", "bench-gpu.json")
FLUSH_BYTES = 256 << 20
WARMUPS = 2
# The largest relative distance of a row of bf16 from the same row in f32, in the
# Euclidean norm. Rounding once gives 0.002.
TOLERANCE = 0.01
# torch.compile takes seconds for each case; what is over this is left out.
COMPILE_SECONDS = 80
PEERS = ["PyTorch", "torch.compile", "Triton", "cuDNN"]


def note(text):
    print(text, file=sys.stderr, flush=True)


def find_library():
    for folder in LIBRARIES:
        path = os.path.join(ROOT, folder, "libtilec.so")
        if os.path.exists(path):
            return path
    sys.exit(
        "error: there is no libtilec.so in " + ", ".join(LIBRARIES) + "\n"
        "  help: scripts/build release tilec_shared, or name it with --library"
    )


def import_torch():
    """PyTorch, or the end of the program."""
    if importlib.util.find_spec("torch") is None:
        sys.exit(
            "error: PyTorch is not installed for " + sys.executable + "\n"
            "  help: run bench/gpu.py with a Python that has torch (and triton); "
            "'tilec bench' measures without them"
        )
    import torch

    if not torch.cuda.is_available():
        sys.exit(
            "error: PyTorch sees no GPU\n"
            "  help: see whether nvidia-smi lists one, and torch.version.cuda"
        )
    return torch


def import_triton():
    """The kernels in Triton, or None and why."""
    try:
        import triton_kernels

        return triton_kernels, ""
    except Exception as error:  # Whatever a broken installation raises.
        return None, f"Triton is left out: {first_line(error)}"


def first_line(error):
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]


def point_to_nvrtc():
    """The NVRTC that comes with PyTorch, if there is no other."""
    places = ["/usr/local/cuda*/lib64", os.path.join(ROOT, "third_party/nvrtc/lib")]
    if "TILEC_NVRTC" in os.environ or any(
        glob.glob(os.path.join(place, "libnvrtc.so*")) for place in places
    ):
        return
    for folder in sys.path:
        pattern = os.path.join(folder, "nvidia", "**", "libnvrtc.so.[0-9]*")
        found = sorted(glob.glob(pattern, recursive=True))
        if found:
            os.environ["TILEC_NVRTC"] = found[-1]
            return


# Compilation ------------------------------------------------------------------


def compile_case(case):
    """The kernel of a case with its code, or an error."""
    try:
        module = tilec.Module(
            os.path.join(ROOT, "std", case.file + ".tile"), cache_folder=""
        )
        kernel = module.kernel(case.kernel, **case.defines)
        code = kernel.compile(case.stand_ins())
        return kernel, code, None
    except tilec.Error as error:
        return None, None, str(error)


def compile_all(cases):
    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        compiled = list(pool.map(compile_case, cases))
    note(f"compiled {len(cases)} kernels in {time.perf_counter() - start:.1f} s")
    return compiled


# Measurement ------------------------------------------------------------------


class Bench:
    def __init__(self, torch, kernels, rounds):
        self.torch, self.kernels, self.rounds = torch, kernels, rounds
        self.flushed = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
        self.compile_seconds = 0.0

    def distance(self, actual, expected):
        """The largest of a row; whole tensors of one dimension are a row."""
        width = expected.shape[-1]
        rows = max(1, (1 << 28) // width)  # 1 GiB at a time.
        total = 0.0
        for a, e in zip(
            actual.reshape(-1, width).split(rows),
            expected.reshape(-1, width).split(rows),
        ):
            off = (a.float() - e).norm(dim=1) / e.norm(dim=1).clamp_min(1e-20)
            worst = off.max().item()
            if math.isnan(worst):
                return worst
            total = max(total, worst)
        return total

    def candidates(self, case, t, compiled, problems):
        """What takes turns: name -> (function, its result or None)."""
        torch, result = self.torch, {}
        inputs = [getattr(t, p.name) for p in case.tensors if not p.is_output]
        output = getattr(t, [p for p in case.tensors if p.is_output][0].name)
        kernel, _, problem = compiled
        try:
            prepared = kernel.prepare(case.arguments(t)) if kernel else None
        except tilec.Error as error:
            problem = str(error)
        if problem:
            problems["tilec"] = problem
        else:

            def run():
                prepared.run()
                return output

            result["tilec"] = run
        result["PyTorch"] = lambda: case.torch(*inputs)
        if case.compiles and self.compile_seconds < COMPILE_SECONDS:
            torch.compiler.reset()
            compiled_way = torch.compile(case.torch, dynamic=False)
            result["torch.compile"] = lambda: compiled_way(*inputs)
        if case.others:
            result.update(case.others(self.kernels, t))
        return result

    def check(self, case, t, candidates, problems):
        """Leaves out what fails or is wrong, and says so."""
        torch = self.torch
        inputs = [getattr(t, p.name) for p in case.tensors if not p.is_output]
        expected = case.reference(*inputs)
        distances = {}
        for name, run in list(candidates.items()):
            start = time.perf_counter()
            try:
                actual = run()
                torch.cuda.synchronize()
                distances[name] = self.distance(actual, expected)
                del actual
                if not distances[name] <= TOLERANCE:
                    problems[name] = f"wrong by {distances[name]:.3g}"
            except torch.cuda.OutOfMemoryError:
                problems[name] = "out of memory"
            except Exception as error:  # A peer that does not work here.
                problems[name] = first_line(error)
            if name == "torch.compile":
                self.compile_seconds += time.perf_counter() - start
            if name in problems:
                del candidates[name]
        return distances

    def add_copy(self, case, candidates):
        half = int(case.bytes) // 2
        source = self.torch.randint(
            0, 256, (half,), dtype=self.torch.uint8, device="cuda"
        )
        target = self.torch.empty_like(source)
        candidates["copy"] = lambda: target.copy_(source)

    def measure(self, candidates):
        torch = self.torch
        times = {name: [] for name in candidates}
        order = list(candidates.items())
        for turn in range(WARMUPS + self.rounds):
            random.shuffle(order)
            events = []
            for name, run in order:
                self.flushed.fill_(turn & 255)
                begin = torch.cuda.Event(enable_timing=True)
                end = torch.cuda.Event(enable_timing=True)
                # Keeps the device busy while the host puts the run on the stream.
                torch.cuda._sleep(200000)
                begin.record()
                run()
                end.record()
                events.append((name, begin, end))
            torch.cuda.synchronize()
            if turn >= WARMUPS:
                for name, begin, end in events:
                    times[name].append(begin.elapsed_time(end))
        return times

    def run(self, case, compiled):
        """The figures of a case, as they go to the file."""
        torch = self.torch
        problems = {}
        torch.manual_seed(0)
        t = case.make()
        candidates = self.candidates(case, t, compiled, problems)
        distances = self.check(case, t, candidates, problems)
        torch.cuda.empty_cache()
        self.add_copy(case, candidates)
        times = self.measure(candidates)
        candidates.clear()
        del t
        torch.cuda.empty_cache()
        figures = {
            "name": case.name,
            "bytes": case.bytes,
            "flops": case.flops,
            "distances": distances,
            "problems": problems,
            "milliseconds": {
                name: {
                    "median": statistics.median(values),
                    "min": min(values),
                    "max": max(values),
                }
                for name, values in times.items()
            },
        }
        if compiled[1]:
            info = compiled[1].info
            figures["code"] = {
                "registers": info.registers,
                "threads": info.threads,
                "sharedBytes": info.shared_bytes,
                "compileMilliseconds": info.milliseconds,
            }
        return figures


# Report -----------------------------------------------------------------------


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def milliseconds(figures, name):
    found = figures["milliseconds"].get(name)
    if found:
        return f"{found['median']:.4g}"
    return "failed" if name in figures["problems"] else ""


def case_row(figures):
    medians = {n: v["median"] for n, v in figures["milliseconds"].items()}
    own, copy = medians.get("tilec"), medians.get("copy")
    peers = {n: medians[n] for n in PEERS if n in medians}
    rate = of_copy = best = ""
    if own:
        rate = f"{figures['bytes'] / own / 1e9:.3g} TB/s"
        of_copy = f"{copy / own:.2f}"
        if figures["flops"]:
            rate = f"{figures['flops'] / own / 1e9:.0f} TFLOP/s"
            of_copy = ""
        if peers:
            fastest = min(peers, key=peers.get)
            best = f"{peers[fastest] / own:.2f} ({fastest})"
    return (
        [figures["name"], milliseconds(figures, "tilec"), rate, f"{copy:.4g}", of_copy]
        + [milliseconds(figures, name) for name in PEERS]
        + [best]
    )


def print_cases(all_figures):
    print(
        "Times in ms; the last column is the fastest peer's time / tilec's. Of causal "
        "attention the visible pairs alone count.\n"
    )
    head = ["bf16", "tilec", "rate", "copy", "of copy", *PEERS, "peer / tilec"]
    print(table(head, [case_row(figures) for figures in all_figures]))
    for figures in all_figures:
        for name, problem in figures["problems"].items():
            print(f"- {figures['name']}, {name}: {problem.strip()}")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="cases whose names contain this")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--library", help="the libtilec.so to measure")
    parser.add_argument("--json", default=JSON, help="what to write")
    parser.add_argument(
        "--no-compile-times", action="store_true", help="run the cases alone"
    )
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    cases = [c for c in gpu_cases.all_cases() if (options.only or "") in c.name]
    if not cases:
        names = ", ".join(c.name for c in gpu_cases.all_cases())
        sys.exit(f"error: no case has '{options.only}' in its name: {names}")
    if options.rounds < 1:
        sys.exit("error: --rounds expects 1 or more")
    library = options.library or find_library()
    torch = import_torch()
    point_to_nvrtc()
    tilec.load(os.path.abspath(library))
    kernels, problem = import_triton()
    if options.worker:
        gpu_compile.work(options.worker, kernels)
        return
    if problem:
        note(problem)

    start = time.perf_counter()
    os.makedirs(os.path.dirname(os.path.abspath(options.json)), exist_ok=True)
    torch.zeros(1, device="cuda")  # Makes the context current.
    compiled = compile_all(cases)
    bench = Bench(torch, kernels, options.rounds)
    report = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "triton": kernels.triton.__version__ if kernels else None,
        "tilec": tilec.version(),
        "date": time.strftime("%Y-%m-%d"),
        "rounds": options.rounds,
        "cases": [],
    }

    def save():
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1, ensure_ascii=False)

    for case, code in zip(cases, compiled):
        began = time.perf_counter()
        try:
            figures = bench.run(case, code)
            report["cases"].append(figures)
            result = ", ".join(
                f"{name} {value['median']:.4g} ms"
                for name, value in figures["milliseconds"].items()
            )
        except Exception as error:  # Out of memory, or a broken context.
            result = "left out: " + first_line(error)
        note(f"{case.name}: {result}; took {time.perf_counter() - began:.1f} s")
        torch.cuda.empty_cache()
    save()
    print(
        f"{report['device']}, {report['date']}; PyTorch {report['torch']}, "
        f"Triton {report['triton']}, tilec {report['tilec']}; "
        f"median of {options.rounds}\n"
    )
    print_cases(report["cases"])
    report["launch"] = gpu_compile.launch_overhead(kernels)
    save()
    print(
        table(
            ["launch, µs of the host", "median"],
            [[n, f"{v:.2f}"] for n, v in report["launch"].items()],
        ),
        flush=True,
    )
    if not options.no_compile_times:
        report["compile"] = gpu_compile.compile_times(library, kernels is not None)
        save()
        print(gpu_compile.format_times(report["compile"], table))
    note(f"wrote {options.json}; {time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()

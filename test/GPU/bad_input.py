#!/usr/bin/env python3
"""What can go wrong between a program and a GPU, provoked on a machine that has one.

    bad_input.py [FOLDER [TARGET]]

FOLDER holds bin/tilec and lib/libtilec.so (build/release unless given), TARGET is
sm_90a unless given. Each case makes a fault happen and looks for a message with a
place, a cause and a remedy, for the exit code 1, and that nothing was written. A
line is printed for each; the exit code is 1 if any is not as it should be. The
same cases with a driver that computes nothing are in test/Tools and test/Unit.

It needs Python alone: GPU memory comes from the driver, by ctypes. Cases that need
what the machine does not have (a second GPU, leave to mount, a C compiler) are
counted as skipped.
"""

import contextlib
import ctypes
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import tilec

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release")
TARGET = sys.argv[2] if len(sys.argv) > 2 else "sm_90a"
TILEC = BUILD / "bin/tilec"
LIBRARY = BUILD / "lib/libtilec.so"

COPY = """kernel copy(X: f32[M, N], Y: out f32[M, N]) {
  grid m in tile(M), n in tile(N)
  Y[m, n] = X[m, n]
}
"""
PRODUCT = """kernel product(A: f32[M, K], B: f32[K, N], C: out f32[M, N]) {
  grid m in tile(M), n in tile(N)
  acc = zeros f32[m, n]
  for k in tile(K) { acc += dot(A[m, k], B[k, n], precision = tf32) }
  C[m, n] = acc
}
"""


class Skip(Exception):
    """The machine has not what the case needs."""


class Wrong(Exception):
    """Something was not as it should be."""


def expect(text, *parts):
    for part in parts:
        if part not in text:
            raise Wrong(f"expected {part!r} in:\n{text}")
    return next((line for line in text.splitlines() if "error:" in line), "")


class Machine:
    """The driver, as far as the cases need it."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        self.contexts = []
        for ordinal in range(self.count()):
            context = ctypes.c_void_p()
            self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ordinal)
            self.contexts.append(context)
        self.use(0)

    def call(self, name, *arguments):
        result = getattr(self.cuda, name)(*arguments)
        if result != 0:
            raise Wrong(f"{name} returned {result}")

    def count(self):
        number = ctypes.c_int()
        self.call("cuDeviceGetCount", ctypes.byref(number))
        return number.value

    def use(self, ordinal):
        self.call("cuCtxSetCurrent", self.contexts[ordinal])

    def allocate(self, values):
        """The address of a copy of `values`, f32, in the current device."""
        data = (ctypes.c_float * len(values))(*values)
        address = ctypes.c_uint64()
        size = ctypes.c_size_t(ctypes.sizeof(data))
        self.call("cuMemAlloc_v2", ctypes.byref(address), size)
        self.call("cuMemcpyHtoD_v2", address, data, size)
        return address.value

    def read(self, address, count):
        data = (ctypes.c_float * count)()
        size = ctypes.c_size_t(ctypes.sizeof(data))
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), size)
        return list(data)


def run(folder, *arguments, code=1, **environment):
    """Standard error of tilec, which must end with `code`."""
    variables = {**os.environ, "TILEC_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [TILEC, *arguments],
        cwd=folder,
        env={**variables, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    if done.returncode != code:
        raise Wrong(f"exit code {done.returncode}, not {code}:\n{done.stderr}")
    return done.stderr + done.stdout


def run_copy(folder, *arguments, code=1, **environment):
    return run(
        folder,
        *("run", "copy.tile", f"--target={TARGET}", "--size", "M=20,N=32"),
        *("--out", "Y=y.npy", *arguments),
        code=code,
        **environment,
    )


def written(folder):
    if (folder / "y.npy").exists():
        raise Wrong("y.npy was written")


def no_driver(folder, _):
    text = run_copy(folder, TILEC_CUDA_DRIVER="/nonexistent/libcuda.so")
    written(folder)
    return expect(text, "copy.tile:1:8: error:", "cannot be opened", "help:")


def no_gpu(folder, _):
    text = run_copy(folder, CUDA_VISIBLE_DEVICES="")
    written(folder)
    return expect(text, "copy.tile:1:8: error:", "help:")


def no_nvrtc(folder, _):
    text = run_copy(folder, TILEC_NVRTC="/nonexistent/libnvrtc.so")
    written(folder)
    return expect(text, "copy.tile:1:8: error:", "no such file", "help:")


def tile_too_large(folder, _):
    text = run(
        folder,
        *("run", "product.tile", f"--target={TARGET}", "--size", "M=64,N=64,K=64"),
        *("--schedule", "m=64,n=64,k=64,stages=32"),
    )
    return expect(text, "product.tile:1:8: error:", "shared memory", "bytes: 'A'")


def too_many_registers(folder, _):
    text = run(
        folder,
        *("run", "product.tile", f"--target={TARGET}", "--size", "M=128,N=128,K=64"),
        *("--schedule", "m=128,n=128,warps=1"),
    )
    return expect(text, "product.tile:1:8: error:", "spilled", "help:")


def kernel_of(folder, text="copy.tile", name=None):
    cache = str(folder / "cache")
    return tilec.Module(str(folder / text), TARGET, cache_folder=cache).kernel(name)


def refused(launch, *parts):
    try:
        launch()
    except tilec.Error as error:
        return expect(str(error), *parts)
    raise Wrong("no error")


def host_pointer(folder, machine):
    host = (ctypes.c_float * 64)()
    x = tilec.Tensor(ctypes.addressof(host), "f32", (8, 8))
    y = tilec.Tensor(machine.allocate([0.0] * 64), "f32", (8, 8))
    return refused(lambda: kernel_of(folder).launch(x, y), "error:", "host", "help:")


def wrong_device(folder, machine):
    if machine.count() < 2:
        raise Skip("one GPU")
    x = tilec.Tensor(machine.allocate([1.0] * 64), "f32", (8, 8))
    machine.use(1)
    try:
        y = tilec.Tensor(machine.allocate([0.0] * 64), "f32", (8, 8))
        return refused(
            lambda: kernel_of(folder).launch(x, y),
            *("error:", "got memory of GPU 0", "help:"),
        )
    finally:
        machine.use(0)


SHIM = """#include "copy.h"
const char *launch(copy_tensor x, copy_tensor y);
const char *launch(copy_tensor x, copy_tensor y) { return copy_launch(0, x, y); }
"""


class HeaderTensor(ctypes.Structure):
    """copy_tensor of the header."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.c_void_p),  # Null: row-major.
    ]

    def __init__(self, address):
        super().__init__(address, (ctypes.c_int64 * 2)(8, 8), None)


def unaligned(folder, machine):
    """Code compiled for arrays at multiples of 16 bytes, launched with others."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        raise Skip("no C compiler")
    run(
        folder,
        *("copy.tile", f"--target={TARGET}", "--emit=header", "-o", "copy.h"),
        *("--size", "M=8,N=8"),
        code=0,
    )
    (folder / "shim.c").write_text(SHIM)
    command = [compiler, "-shared", "-fPIC", "shim.c", "-o", "shim.so", "-ldl"]
    subprocess.run(command, cwd=folder, check=True)
    launch = ctypes.CDLL(str(folder / "shim.so")).launch
    launch.argtypes, launch.restype = [HeaderTensor] * 2, ctypes.c_char_p
    x, y = (machine.allocate([value] * 80) for value in (3.0, 0.0))
    said = launch(HeaderTensor(x), HeaderTensor(y))
    if said or machine.read(y, 64) != [3.0] * 64:
        raise Wrong(f"aligned arrays: {said}")
    said = launch(HeaderTensor(x + 4), HeaderTensor(y + 64)) or b"no message"
    if machine.read(y + 256, 16) != [0.0] * 16:
        raise Wrong("something was written")
    return expect(said.decode(), "multiples of 16 bytes") or said.decode()


def cache_file(folder):
    files = [p for p in (folder / "cache").rglob("*") if p.is_file()]
    if not files:
        raise Wrong("nothing in the cache")
    return max(files, key=lambda path: path.stat().st_size)


def damaged_entry(folder, damage):
    run_copy(folder, code=0)
    (folder / "y.npy").unlink()
    path = cache_file(folder)
    path.write_bytes(damage(path.read_bytes()))
    text = run_copy(folder, "--check", code=0)
    expect(text, "ok")
    if "loaded from the cache" in text:
        raise Wrong("a damaged entry was loaded")
    expect(run_copy(folder, code=0), "loaded from the cache")
    return "compiled anew, and kept"


def corrupt_entry(folder, _):
    def damage(data):
        data = bytearray(data)
        for _ in range(20):
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        return bytes(data)

    return damaged_entry(folder, damage)


def truncated_entry(folder, _):
    return damaged_entry(folder, lambda data: data[: random.randrange(len(data))])


@contextlib.contextmanager
def mounted(folder, options):
    cache = folder / "cache"
    cache.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", cache]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        raise Skip("no leave to mount")
    try:
        yield cache
    finally:
        subprocess.run(["umount", cache], check=True)


def read_only_cache(folder, _):
    with mounted(folder, "ro,size=1m"):
        text = run_copy(folder, "--check", code=0)
    expect(text, "warning:", "ok")
    return next(line for line in text.splitlines() if "warning:" in line)


def full_cache(folder, _):
    with mounted(folder, "size=16k") as cache:
        with contextlib.suppress(OSError), open(cache / "filler", "wb") as filler:
            filler.write(bytes(1 << 20))
        text = run_copy(folder, "--check", code=0)
        left = [p.name for p in cache.rglob("*") if p.is_file()]
    expect(text, "ok")
    if left != ["filler"]:
        raise Wrong(f"left in a full cache: {left}")
    return next((l for l in text.splitlines() if "warning:" in l), "no warning")


RACER = """
import sys, threading
sys.argv = [sys.argv[0], *sys.argv[1:]]
sys.path.insert(0, {here!r})
import bad_input, tilec, pathlib
machine = bad_input.Machine()
folder = pathlib.Path({folder!r})
failures = []
def work(number):
    try:
        machine.use(0)
        kernel = bad_input.kernel_of(folder)
        x = machine.allocate([float(number)] * 640)
        y = machine.allocate([0.0] * 640)
        kernel.launch(tilec.Tensor(x, "f32", (20, 32)), tilec.Tensor(y, "f32", (20, 32)))
        if machine.read(y, 640) != [float(number)] * 640:
            failures.append("wrong numbers")
    except Exception as error:
        failures.append(str(error))
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print(*failures, sep="\\n")
sys.exit(1 if failures else 0)
"""


def cache_entries(folder):
    """What is in the cache, files that were left among it."""
    return {p: p.read_bytes() for p in (folder / "cache").rglob("*") if p.is_file()}


def racing(folder, _):
    """Two processes with eight threads each that want one kernel at once.

    The library's build id is in the keys of its entries, so bin/tilec, which has
    another, would compile anew: what is kept is asked of the library.
    """
    code = RACER.format(here=str(HERE), folder=str(folder))
    arguments = [sys.executable, "-c", code, str(BUILD), TARGET]
    for _ in range(3):
        shutil.rmtree(folder / "cache", ignore_errors=True)
        both = [
            subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        for process in both:
            output, _ = process.communicate(timeout=120)
            if process.returncode != 0:
                raise Wrong(output)
        entries = cache_entries(folder)
        # The code, and which NVRTC it is of.
        if len(entries) != 2:
            raise Wrong(f"entries of the cache: {sorted(map(str, entries))}")
        later = subprocess.run(
            arguments,
            env={**os.environ, "TILEC_NVRTC": "/nonexistent/libnvrtc.so"},
            stdout=subprocess.PIPE,
            text=True,
            timeout=120,
        )
        if later.returncode != 0:
            raise Wrong(f"without NVRTC:\n{later.stdout}")
        if cache_entries(folder) != entries:
            raise Wrong("a later process wrote to the cache")
    return "all sixteen right, three times"


def killed(folder, _):
    """kill -9 at any time leaves a cache that works."""
    command = [TILEC, "run", "copy.tile", f"--target={TARGET}", "--size", "M=20,N=32"]
    variables = {**os.environ, "TILEC_CACHE_DIR": str(folder / "cache")}
    kills = 0
    for _ in range(25):
        shutil.rmtree(folder / "cache", ignore_errors=True)
        process = subprocess.Popen(
            command, cwd=folder, env=variables, stdout=subprocess.DEVNULL
        )
        # Most of the time the kill meets the moments around publication.
        deadline = time.monotonic() + 20
        while process.poll() is None and time.monotonic() < deadline:
            if any(p.is_file() for p in (folder / "cache").rglob("*")):
                break
            time.sleep(0.0005)
        time.sleep(random.random() * 0.002)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
        expect(run_copy(folder, "--check", code=0), "ok")
    return f"{kills} of 25 killed; every run after it is right"


CASES = [
    no_driver,
    no_gpu,
    no_nvrtc,
    wrong_device,
    host_pointer,
    unaligned,
    tile_too_large,
    too_many_registers,
    corrupt_entry,
    truncated_entry,
    read_only_cache,
    full_cache,
    racing,
    killed,
]


def main():
    tilec.load(str(LIBRARY))
    machine = Machine()
    failed = skipped = 0
    for case in CASES:
        name = case.__name__.replace("_", " ")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "copy.tile").write_text(COPY)
            (folder / "product.tile").write_text(PRODUCT)
            try:
                print(f"{name}: {case(folder, machine)}", flush=True)
            except Skip as reason:
                skipped += 1
                print(f"{name}: skipped: {reason}", flush=True)
            except (Wrong, tilec.Error, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"{name}: FAILED: {error}", flush=True)
    print(f"{len(CASES) - failed - skipped} right, {failed} wrong, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
elif LIBRARY.exists():
    tilec.load(str(LIBRARY))

"""Records what a GPU computes for the programs of this folder.

Each kernel of each *.cu (Common.cuh says how they are described) is compiled
with NVRTC and run on a GPU of compute capability 9.0; its output goes into
NAME.expected beside the program: a line with the kernel's name, the number of
words, and the words, compressed with zlib and written in base64. The test of
the emulator, test/Emulator/Validation/ValidationTest.cpp, compares with these files.

Nothing but Python, the driver and NVRTC is needed. Kernels run in a process of
their own with a time limit each, so one that fails or hangs stops no other.

    record.py [--check] [--only PATTERN] [--library libnvrtc.so]

--check compares with the files in place of writing them.
"""

import argparse
import base64
import ctypes
import fnmatch
import glob
import json
import os
import select
import struct
import subprocess
import sys
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS_PER_KERNEL = 10
GUARD_WORDS = 4096
UNWRITTEN = 0xCDCDCDCD
MASK64 = (1 << 64) - 1

# --- Programs ----------------------------------------------------------------


class Kernel:
    def __init__(self, file, words):
        self.file = file
        self.name = words[0]
        self.block, self.grid, self.cluster, self.shared = [1, 1, 1], 1, 1, 0
        self.maps = []
        for word in words[1:]:
            key, _, value = word.partition("=")
            if key == "in":
                self.kind, count = value.split(":")
                self.inputs = int(count)
            elif key == "out":
                self.outputs = int(value)
            elif key == "block":
                numbers = [int(x) for x in value.split("x")]
                self.block = numbers + [1] * (3 - len(numbers))
            elif key in ("grid", "cluster", "shared"):
                setattr(self, key, int(value))
            elif key == "map":
                self.maps.append(value)
            elif key != "compare":
                raise ValueError(f"{file}: {self.name}: what is '{word}'?")

    @property
    def seed(self):
        """FNV-1a of "File.kernel"."""
        value = 0xCBF29CE484222325
        for byte in f"{self.file}.{self.name}".encode():
            value = ((value ^ byte) * 0x100000001B3) & MASK64
        return value


def kernels_of(path):
    file = os.path.splitext(os.path.basename(path))[0]
    with open(path) as text:
        return [
            Kernel(file, line[3:].split())
            for line in text
            if line.startswith("//!")
        ]


def source_of(path):
    with open(os.path.join(HERE, "Common.cuh")) as common, open(path) as text:
        return common.read() + text.read()


# --- Input: the same numbers as test/Emulator/Validation/Programs.cpp -----


class Random:
    """splitmix64."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK64
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
        return z ^ (z >> 31)


FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def draw_float(random, exponent_bits, fraction_bits):
    bias = (1 << (exponent_bits - 1)) - 1
    most = (1 << exponent_bits) - 1
    ones = (1 << fraction_bits) - 1
    choice, fraction = random.next(), random.next() & ones
    pick, sign = choice & 15, choice >> 4 & 1
    shape, number = choice >> 5 & 3, choice >> 16
    if shape == 0:  # Few bits.
        fraction &= ~(ones >> 3)
    elif shape == 1:  # Many ones.
        fraction |= ones >> 2
    near = min(8, bias // 2)
    if pick < 8:
        exponent = bias - near + number % (2 * near + 1)
    elif pick < 11:
        exponent = number % (most + 1)
    elif pick < 13:
        exponent = number % min(fraction_bits + 2, bias)
    elif pick == 13:
        exponent = 0
    elif pick == 14:
        exponent = most - number % 3
    else:
        exponent, fraction = [
            (0, 0),  # Zero.
            (most, 0),  # Infinity.
            (most, (ones + 1) >> 1),  # NaN.
            (bias, 0),  # One.
            (1, 0),  # The smallest normal number,
            (most - 1, ones),  # the largest finite one,
            (0, 1),  # the smallest of all.
            (bias - 1, 0),  # A half.
        ][number % 8]
    return (sign << exponent_bits | exponent) << fraction_bits | fraction


def input_words(kernel):
    random = Random(kernel.seed)
    words = []
    while len(words) < kernel.inputs:
        if kernel.kind == "bits":
            words.append(random.next() >> 32)
            continue
        exponent, fraction = FORMATS[kernel.kind]
        value = draw_float(random, exponent, fraction)
        if kernel.kind == "f64":
            words += [value & 0xFFFFFFFF, value >> 32]
        elif kernel.kind == "f32":
            words.append(value)
        else:
            words.append(value | draw_float(random, exponent, fraction) << 16)
    return words[: kernel.inputs]


# --- The compiler and the driver ----------------------------------------------


class NVRTC:
    def __init__(self, library):
        names = [library] if library else []
        names += ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"]
        names += sorted(glob.glob("/usr/local/cuda*/lib64/libnvrtc.so*"))
        names += sorted(
            glob.glob(os.path.join(HERE, "../../../third_party/nvrtc/lib/lib*"))
        )
        for folder in sys.path:
            names += glob.glob(
                os.path.join(folder, "nvidia/*/lib/libnvrtc.so.*")
            )
        for name in names:
            try:
                self.library = ctypes.CDLL(name)
                self.library.nvrtcCreateProgram
                return
            except (OSError, AttributeError):
                pass
        raise RuntimeError("no NVRTC was found; name one with --library")

    def compile(self, source, name):
        lib, program = self.library, ctypes.c_void_p()
        lib.nvrtcCreateProgram(
            ctypes.byref(program), source.encode(), name.encode(), 0, None, None
        )
        options = [b"-arch=sm_90a", b"-std=c++17", b"-default-device"]
        array = (ctypes.c_char_p * len(options))(*options)
        status = lib.nvrtcCompileProgram(program, len(options), array)
        size = ctypes.c_size_t()
        if status:
            lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            lib.nvrtcGetProgramLog(program, log)
            raise RuntimeError(log.value.decode())
        lib.nvrtcGetCUBINSize(program, ctypes.byref(size))
        cubin = ctypes.create_string_buffer(size.value)
        lib.nvrtcGetCUBIN(program, cubin)
        return cubin


class LaunchConfig(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("count", ctypes.c_uint),
    ]


class LaunchAttribute(ctypes.Structure):
    _fields_ = [
        ("id", ctypes.c_int),
        ("padding", ctypes.c_char * 4),
        ("value", ctypes.c_uint * 16),
    ]


MAP_TYPES = {
    "u8": 0, "u16": 1, "u32": 2, "s32": 3, "u64": 4, "s64": 5, "f16": 6,
    "f32": 7, "f64": 8, "bf16": 9,
}  # fmt: skip


class GPU:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        # The names with _v2 are those of the functions with 64-bit sizes.
        status = getattr(self.cuda, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(status, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'?').decode()}")

    def load(self, cubin):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), cubin)
        return module

    def allocate(self, words):
        data = struct.pack(f"<{len(words)}I", *words)
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
        return address

    def tensor_map(self, text, buffers):
        parts = text.split(",")
        where, type_name = parts[0], parts[1]
        dims, strides, box, steps = (
            [int(x) for x in part.split("x")] for part in parts[2:6]
        )
        swizzle = {"0": 0, "32": 1, "64": 2, "128": 3}[parts[6]]
        fill, offset = 0, 0
        for part in parts[7:]:
            if part == "nan":
                fill = 1
            else:
                offset = int(part)
        rank = len(dims)
        storage = ctypes.create_string_buffer(192)
        at = (ctypes.addressof(storage) + 63) // 64 * 64
        self.call(
            "cuTensorMapEncodeTiled",
            ctypes.c_void_p(at),
            MAP_TYPES[type_name],
            rank,
            ctypes.c_void_p(buffers[where].value + offset),
            (ctypes.c_uint64 * rank)(*dims),
            (ctypes.c_uint64 * max(rank - 1, 1))(*strides),
            (ctypes.c_uint32 * rank)(*box),
            (ctypes.c_uint32 * rank)(*steps),
            0,
            swizzle,
            0,
            fill,
        )
        return storage, at

    def run(self, module, kernel):
        function = ctypes.c_void_p()
        self.call(
            "cuModuleGetFunction",
            ctypes.byref(function),
            module,
            kernel.name.encode(),
        )
        inputs = self.allocate(input_words(kernel))
        outputs = self.allocate(
            [UNWRITTEN] * (kernel.outputs + GUARD_WORDS)
        )
        buffers = {"in": inputs, "out": outputs}
        maps = [self.tensor_map(text, buffers) for text in kernel.maps]
        pointers = [ctypes.addressof(inputs), ctypes.addressof(outputs)]
        pointers += [at for _, at in maps]
        array = (ctypes.c_void_p * len(pointers))(*pointers)
        if kernel.shared > 48 * 1024:
            self.call("cuFuncSetAttribute", function, 8, kernel.shared)
        attribute = LaunchAttribute(id=4)
        attribute.value[0:3] = [kernel.cluster, 1, 1]
        config = LaunchConfig(
            (ctypes.c_uint * 3)(kernel.grid, 1, 1),
            (ctypes.c_uint * 3)(*kernel.block),
            kernel.shared,
            None,
            ctypes.addressof(attribute),
            1 if kernel.cluster > 1 else 0,
        )
        self.call(
            "cuLaunchKernelEx", ctypes.byref(config), function, array, None
        )
        self.call("cuCtxSynchronize")
        size = 4 * (kernel.outputs + GUARD_WORDS)
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, outputs, ctypes.c_size_t(size))
        self.call("cuMemFree_v2", inputs)
        self.call("cuMemFree_v2", outputs)
        words = struct.unpack(f"<{size // 4}I", data.raw)
        if any(word != UNWRITTEN for word in words[kernel.outputs :]):
            raise RuntimeError("it writes past its output")
        return data.raw[: 4 * kernel.outputs]


# --- Worker: the kernels of one program, from one of them on ------------------


def work(path, first, library):
    gpu = GPU()
    module = gpu.load(NVRTC(library).compile(source_of(path), path))
    print(json.dumps({"ready": True}), flush=True)
    for kernel in kernels_of(path)[first:]:
        try:
            data = gpu.run(module, kernel)
        except RuntimeError as error:
            print(json.dumps({"kernel": kernel.name, "error": str(error)}))
            sys.stdout.flush()
            # After an error of the GPU the process is of no more use.
            os._exit(0)
        text = base64.b64encode(zlib.compress(data, 9)).decode()
        print(json.dumps({"kernel": kernel.name, "data": text}), flush=True)


# --- All programs --------------------------------------------------------------


def read_line(process, buffer, seconds):
    """A line of the process, or None at its end, or "" when time is up."""
    end = time.time() + seconds
    while b"\n" not in buffer:
        ready, _, _ = select.select(
            [process.stdout], [], [], max(0, end - time.time())
        )
        if not ready:
            return ""
        chunk = os.read(process.stdout.fileno(), 1 << 20)
        if not chunk:
            return None
        buffer += chunk
    line, _, rest = bytes(buffer).partition(b"\n")
    buffer[:] = rest
    return line.decode()


def record(path, library):
    """Results by kernel, and messages about those that failed."""
    kernels, results, problems = kernels_of(path), {}, []
    first = 0
    while first < len(kernels):
        command = [sys.executable, os.path.abspath(__file__), "--worker", path]
        command += ["--first", str(first)]
        command += ["--library", library] if library else []
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        buffer = bytearray()
        line = read_line(process, buffer, 60)
        if not line:
            process.kill()
            error = process.stderr.read().decode().strip()
            problems.append(f"{path}: not started:\n{error[-2000:]}")
            return results, problems
        while first < len(kernels):
            name = kernels[first].name
            line = read_line(process, buffer, SECONDS_PER_KERNEL)
            first += 1
            if not line:
                why = "it hangs" if line == "" else "the process died"
                problems.append(f"{kernels[first - 1].file}.{name}: {why}")
                break
            answer = json.loads(line)
            if "error" in answer:
                problems.append(
                    f"{kernels[first - 1].file}.{name}: {answer['error']}"
                )
                break
            results[name] = answer["data"]
        process.kill()
        process.wait()
    return results, problems


def words_of(text):
    data = zlib.decompress(base64.b64decode(text))
    return struct.unpack(f"<{len(data) // 4}I", data)


def compare(path, kernels, results):
    expected = {}
    with open(path) as lines:
        for line in lines:
            if not line.startswith("#"):
                name, _, data = line.split()
                expected[name] = data
    different = []
    for kernel in kernels:
        if kernel.name not in results:
            continue
        new = words_of(results[kernel.name])
        old = words_of(expected.get(kernel.name, "eJwDAAAAAAE="))
        if new != old:
            at = next(
                (i for i, (x, y) in enumerate(zip(new, old)) if x != y), None
            )
            different.append(f"{kernel.file}.{kernel.name}: word {at}")
    return different


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="*", help="file names, as a pattern")
    parser.add_argument("--library", help="the NVRTC library")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return work(arguments.worker, arguments.first, arguments.library)
    start, done, problems = time.time(), 0, []
    for path in sorted(glob.glob(os.path.join(HERE, "*.cu"))):
        stem = os.path.splitext(path)[0]
        if not fnmatch.fnmatch(os.path.basename(stem), arguments.only):
            continue
        kernels = kernels_of(path)
        results, wrong = record(path, arguments.library)
        problems += wrong
        done += len(results)
        print(f"{os.path.basename(path)}: {len(results)} of {len(kernels)}")
        sys.stdout.flush()
        target = stem + ".expected"
        if arguments.check:
            problems += compare(target, kernels, results)
            continue
        if not results:
            continue
        with open(target, "w") as out:
            out.write("# Recorded on a GPU by record.py: kernel, words, data.\n")
            for kernel in kernels:
                if kernel.name in results:
                    data = results[kernel.name]
                    out.write(f"{kernel.name} {kernel.outputs} {data}\n")
    for problem in problems:
        print("problem:", problem)
    verb = "compared" if arguments.check else "recorded"
    print(f"{verb} {done} kernels in {time.time() - start:.1f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

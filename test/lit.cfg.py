"""Configuration of the lit tests: text in, text out, checked by FileCheck.

Tests run straight from the source tree:

    lit -v test/Frontend/parse.tile            against build/release
    lit -v --param tilec_build=build/dev test  against another build

Runs at the same time write to folders of their own, build/release/test-2 and so
on for all but the first.

A RUN line names its tools plainly (tilec, tilec-opt, FileCheck, not, count,
split-file, diff). Substitutions beside lit's own:

    %tilec, %tilec-opt, %FileCheck   the same tools by their full paths
    %round-trip    prints and re-parses this file in three forms (custom, custom
                   twice, generic), each checked by the file's CHECK lines;
                   `RUN: %round-trip` is a whole RUN line
    %fake-gpu      runs a command with the driver and the NVRTC of the unit tests,
                   which compute nothing
    %std, %examples, %repo           those folders
    %libtilec      the library for programs
    %python        the interpreter of scripts/setup's virtual environment

Features for REQUIRES and UNSUPPORTED: `gpu` (an NVIDIA driver and device),
`nvrtc` (its library is installed), `numpy` (%python has it), `fake-gpu` (the unit
tests are built), `libtilec` (%libtilec is built, and a program without sanitizers can
load it).
"""

import fcntl
import glob
import itertools
import os
import re
import subprocess
import sys

import lit.formats

repo = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = os.path.abspath(
    lit_config.params.get("tilec_build", os.path.join(repo, "build/release"))
)
llvm_tools = lit_config.params.get("llvm_tools", "/usr/lib/llvm-22/bin")
bin_dir = os.path.join(build, "bin")

config.name = "tilec"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".tile", ".test", ".ptx"]
config.excludes = ["Emulator", "Inputs", "Unit", "Integration", "fuzz"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))


def folder_of_this_run(base):
    """`base`, or `base-2` and so on while others run: what tests write is theirs."""
    for number in itertools.count(1):
        folder = base if number == 1 else f"{base}-{number}"
        os.makedirs(folder, exist_ok=True)
        # A plain descriptor: it stays open, and the lock held, until the end.
        lock = os.open(os.path.join(folder, ".lock"), os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        return folder


config.test_exec_root = folder_of_this_run(os.path.join(build, "test"))

# Environment --------------------------------------------------------------

path = [bin_dir, llvm_tools, os.environ.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)
# No test may read or fill the user's own cache of compiled kernels.
cache = os.path.join(config.test_exec_root, "cache")
config.environment["XDG_CACHE_HOME"] = cache
config.environment["TILEC_CACHE_DIR"] = os.path.join(cache, "tilec")
for name in (
    "CUDA_HOME",
    "CUDA_PATH",
    "LD_LIBRARY_PATH",
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Substitutions ------------------------------------------------------------

tilec = os.path.join(bin_dir, "tilec")
tilec_opt = os.path.join(bin_dir, "tilec-opt")
file_check = os.path.join(llvm_tools, "FileCheck")
venv_python = os.path.join(repo, ".venv/bin/python")
python = venv_python if os.path.exists(venv_python) else sys.executable

fakes = [
    os.path.join(build, "lib", name)
    for name in ("libTilecFakeDriver.so", "libTilecFakeNVRTC.so")
]

libtilec = os.path.join(build, "lib", "libtilec.so")

round_trip = " && ".join(
    [
        f"{tilec_opt} %s | {file_check} %s",
        f"{tilec_opt} %s | {tilec_opt} | {file_check} %s",
        f"{tilec_opt} --mlir-print-op-generic %s | {tilec_opt} | {file_check} %s",
    ]
)

# The first match wins, so a name comes before its own prefixes.
config.substitutions += [
    ("%round-trip", round_trip),
    ("%fake-gpu", "env TILEC_CUDA_DRIVER={} TILEC_NVRTC={}".format(*fakes)),
    ("%tilec-opt", tilec_opt),
    ("%tilec", tilec),
    ("%FileCheck", file_check),
    ("%examples", os.path.join(repo, "examples")),
    ("%std", os.path.join(repo, "std")),
    ("%libtilec", libtilec),
    ("%repo", repo),
    ("%python", python),
]

# Features -----------------------------------------------------------------


def has_nvrtc():
    """Looks where the run time looks: the project's copy, then a toolkit."""
    folders = [os.path.join(repo, "third_party/nvrtc/lib")]
    for root in (
        os.environ.get("CUDA_HOME"),
        os.environ.get("CUDA_PATH"),
        "/usr/local/cuda",
    ):
        if root:
            folders.append(os.path.join(root, "lib64"))
    folders += os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    return any(glob.glob(os.path.join(f, "libnvrtc.so.*")) for f in folders if f)


def has_numpy():
    command = [python, "-c", "import numpy"]
    return subprocess.run(command, capture_output=True).returncode == 0


def is_sanitized():
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        return re.search(r"^TILEC_SANITIZE:\w+=.", cache.read(), re.MULTILINE)


if has_nvrtc():
    config.available_features.add("nvrtc")
if has_numpy():
    config.available_features.add("numpy")
if all(map(os.path.exists, fakes)):
    config.available_features.add("fake-gpu")
if os.path.exists(libtilec) and not is_sanitized():
    config.available_features.add("libtilec")
if os.path.exists("/dev/nvidia0"):
    config.available_features.add("gpu")

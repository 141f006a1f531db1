//===- NVRTCTest.cpp - Finding and calling NVRTC ----------------*- C++ -*-===//
//
// The tests that compile need NVRTC and say so when they have none.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/GPU/NVRTC.h"
#include "lib/Runtime/GPU/ResourceLog.h"
#include "test/Unit/GPURuntime/Scratch.h"
#include "llvm/ADT/StringExtras.h"
#include <catch2/catch.hpp>
#include <thread>

using namespace tilec::gpu;
using namespace tilec::test;
using Catch::Matchers::Contains;

/// NVRTC, or null with a warning.
static const NVRTC *compiler() {
  llvm::Expected<const NVRTC &> nvrtc = NVRTC::get();
  if (nvrtc)
    return &*nvrtc;
  WARN("skipped: " << llvm::toString(nvrtc.takeError()));
  return nullptr;
}

static constexpr const char *addKernel =
    "extern \"C\" __global__ void add(float *x, float y) {\n"
    "  x[threadIdx.x] += y;\n"
    "}\n";

static std::string failure(const NVRTC &nvrtc, llvm::StringRef source,
                           llvm::StringRef arch, NVRTCOptions options = {}) {
  llvm::Expected<NVRTCResult> result =
      nvrtc.compile(source, "k.cu", arch, options);
  return result ? "no failure" : llvm::toString(result.takeError());
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

static NVRTCPlaces in(std::vector<std::string> folders) {
  NVRTCPlaces places;
  places.folders = std::move(folders);
  return places;
}

TEST_CASE("the newest NVRTC comes first") {
  Scratch scratch;
  scratch.write("a/libnvrtc.so.12", "a");
  scratch.write("a/libnvrtc-builtins.so.12.4", "");
  scratch.write("b/libnvrtc.so.13", "b");
  scratch.write("b/libnvrtc-builtins.so.13.1", "");
  scratch.write("c/libnvrtc.so.12.6.85", "c");
  scratch.link("libnvrtc.so.12.6.85", "c/libnvrtc.so.12");
  scratch.write("d/libnvrtc.so", "d");
  scratch.write("e/libnvrtc.so.13", "e");
  scratch.write("e/libnvrtc-builtins.so.13.1.80", "");
  std::vector<NVRTCFile> found =
      findNVRTC(in({scratch / "d", scratch / "a", scratch / "missing",
                    scratch / "b", scratch / "c", scratch / "e"}));
  REQUIRE(found.size() == 5);
  CHECK(found[0].path == scratch / "b/libnvrtc.so.13");
  CHECK(found[0].version == std::pair(13, 1));
  CHECK(found[1].path == scratch / "e/libnvrtc.so.13");
  CHECK(found[2].version == std::pair(12, 6));
  CHECK(found[3].version == std::pair(12, 4));
  CHECK(found[4].path == scratch / "d/libnvrtc.so");
  CHECK_FALSE(found[4].version);
}

TEST_CASE("what is not NVRTC is not found") {
  Scratch scratch;
  scratch.write("libnvrtc-builtins.so.13.0", "");
  scratch.write("libnvrtc.alt.so.13", "");
  scratch.write("libnvrtc_static.a", "");
  scratch.write("libnvrtc.so_old", "");
  scratch.write("libnvrtc.so.14/readme", "a folder");
  scratch.write("libnvrtc.so.11", "too old");
  CHECK(findNVRTC(in({scratch.path()})).empty());
  CHECK_FALSE(inspectNVRTC(scratch / "none"));
}

TEST_CASE("a file behind links is found once") {
  Scratch scratch;
  scratch.write("real/libnvrtc.so.13", "x");
  scratch.link("libnvrtc.so.13", "real/libnvrtc.so");
  scratch.link("real", "other");
  std::vector<NVRTCFile> found =
      findNVRTC(in({scratch / "real", scratch / "other"}));
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == scratch / "real/libnvrtc.so.13");
}

TEST_CASE("built-in functions of the same version belong to a library") {
  Scratch scratch;
  scratch.write("libnvrtc.so.12", "x");
  scratch.write("libnvrtc-builtins.so.13.0", "");
  auto inspect = [&](llvm::StringRef name) {
    return *inspectNVRTC(scratch / name);
  };
  CHECK_FALSE(inspect("libnvrtc.so.12").version);
  CHECK(inspect("libnvrtc.so.12").builtins == "");
  scratch.write("libnvrtc-builtins.so.12.2", "");
  scratch.write("libnvrtc-builtins.so.12.8", "");
  CHECK(inspect("libnvrtc.so.12").version == std::pair(12, 8));
  CHECK(inspect("libnvrtc.so.12").builtins ==
        scratch / "libnvrtc-builtins.so.12.8");
  scratch.write("libnvrtc.so.12.2.140", "x");
  CHECK(inspect("libnvrtc.so.12.2.140").version == std::pair(12, 2));
  CHECK(inspect("libnvrtc.so.12.2.140").builtins ==
        scratch / "libnvrtc-builtins.so.12.2");
  scratch.write("libnvrtc.so.12.4.1", "x");
  CHECK(inspect("libnvrtc.so.12.4.1").version == std::pair(12, 4));
  CHECK(inspect("libnvrtc.so.12.4.1").builtins == "");
  scratch.write("libnvrtc.so", "x");
  CHECK(inspect("libnvrtc.so").version == std::pair(13, 0));
}

TEST_CASE("identity follows the content of the file") {
  Scratch scratch;
  scratch.write("libnvrtc.so.13", "one");
  std::string one = inspectNVRTC(scratch / "libnvrtc.so.13")->identity;
  CHECK_THAT(one, Catch::StartsWith("size 3 changed "));
  scratch.write("libnvrtc.so.13", "three");
  CHECK(inspectNVRTC(scratch / "libnvrtc.so.13")->identity != one);
}

TEST_CASE("build ids of ELF files") {
  Scratch scratch;
  // A header, one note segment, and the note.
  std::string file(64 + 56 + 16 + 20, '\0');
  auto put = [&](size_t at, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
      file[at + i] = char(value >> (8 * i));
  };
  file.replace(0, 5,
               "\x7f"
               "ELF\x02");
  put(32, 64, 8);      // Offset of segments,
  put(54, 56, 2);      // size and
  put(56, 1, 2);       // number.
  put(64, 4, 4);       // PT_NOTE
  put(64 + 8, 120, 8); // at
  put(64 + 32, 36, 8); // of size.
  put(120, 4, 4);      // Name,
  put(124, 20, 4);     // content and
  put(128, 3, 4);      // type of note.
  file.replace(132, 3, "GNU");
  for (int i = 0; i < 20; ++i)
    file[136 + i] = char(0xA0 + i);
  scratch.write("good", file);
  CHECK(elfBuildID(scratch / "good") ==
        "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3");
  CHECK(inspectNVRTC(scratch / "good")->identity ==
        "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3");
  // Every prefix, and notes that claim more than there is.
  for (size_t length = 0; length < file.size(); ++length) {
    scratch.write("cut", file.substr(0, length));
    CHECK(elfBuildID(scratch / "cut") == "");
  }
  put(124, 0xFFFFFFF0, 4);
  scratch.write("long", file);
  CHECK(elfBuildID(scratch / "long") == "");
  put(64 + 32, 1ull << 40, 8);
  scratch.write("huge", file);
  CHECK(elfBuildID(scratch / "huge") == "");
}

TEST_CASE("the environment gives the places") {
  Environment environment;
  environment.set("TILEC_NVRTC", "/x/libnvrtc.so");
  environment.set("CUDA_HOME", "/cuda/home");
  environment.set("CUDA_PATH", "/cuda/path");
  environment.set("LD_LIBRARY_PATH", "/l/one::/l/two");
  NVRTCPlaces places = NVRTCPlaces::fromEnvironment();
  CHECK(places.demanded == "/x/libnvrtc.so");
  auto position = [&](llvm::StringRef folder) {
    return llvm::find(places.folders, folder) - places.folders.begin();
  };
  CHECK_THAT(places.folders.front(), Contains("third_party/nvrtc/lib"));
  CHECK(position("/cuda/home/lib64") < position("/cuda/path/lib64"));
  CHECK(position("/cuda/path/lib64") < position("/l/one"));
  CHECK(position("/l/one") < position("/l/two"));
  CHECK(position("/l/two") < position("/usr/lib64"));
  CHECK(position("/usr/lib64") < int64_t(places.folders.size()));
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static std::string openFailure(const NVRTCPlaces &places) {
  llvm::Expected<std::unique_ptr<NVRTC>> nvrtc = NVRTC::open(places);
  if (nvrtc)
    return "no failure";
  llvm::Error error = nvrtc.takeError();
  CHECK(kindOf(error) == ErrorKind::NoCompiler);
  return llvm::toString(std::move(error));
}

TEST_CASE("messages about an NVRTC that cannot be used") {
  Scratch scratch;
  NVRTCPlaces places;
  places.demanded = scratch / "libnvrtc.so";
  CHECK_THAT(openFailure(places),
             Contains("TILEC_NVRTC names a library that cannot be used") &&
                 Contains(places.demanded + ": no such file") &&
                 Contains("\nhelp: set TILEC_NVRTC"));
  scratch.write("libnvrtc.so", "not a library");
  CHECK_THAT(openFailure(places),
             Contains("invalid ELF header") || Contains("file too short"));
  CHECK_THAT(openFailure(in({scratch.path()})),
             Contains("no usable NVRTC") && Contains("\nhelp: run "
                                                     "scripts/setup"));
  // A library, but another one.
  places.demanded = TILEC_FAKE_DRIVER;
  CHECK_THAT(openFailure(places), Contains("it has no function nvrtcVersion"));
}

TEST_CASE("a library that cannot be used gives way to the next") {
  const NVRTC *nvrtc = compiler();
  if (!nvrtc)
    return;
  Scratch scratch;
  scratch.write("libnvrtc.so.29", "not a library");
  scratch.write("libnvrtc-builtins.so.29.0", "");
  llvm::Expected<std::unique_ptr<NVRTC>> opened =
      NVRTC::open(in({scratch.path(),
                      llvm::StringRef(nvrtc->path()).rsplit('/').first.str()}));
  REQUIRE(!!opened);
  CHECK((*opened)->path() == nvrtc->path());
  CHECK((*opened)->version() == nvrtc->version());
}

TEST_CASE("identity without opening is the identity") {
  const NVRTC *nvrtc = compiler();
  if (!nvrtc)
    return;
  std::optional<std::string> early =
      NVRTC::identityWithoutOpening(NVRTCPlaces::fromEnvironment());
  if (early)
    CHECK(*early == nvrtc->identity());
  CHECK_THAT(nvrtc->identity(), Catch::StartsWith("NVRTC 1"));
  CHECK_FALSE(NVRTC::identityWithoutOpening(in({"/nowhere"})));
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

TEST_CASE("options for the versions of NVRTC") {
  NVRTCOptions options;
  options.lineInfo = true;
  options.extra = {"--device-int128"};
  CHECK(options.list("sm_90a", {13, 0}) ==
        std::vector<std::string>{
            "-arch=sm_90a", "-std=c++17", "-default-device", "--no-cache",
            "-lineinfo", "--ptxas-options=-v",
            "--ptxas-options=--warn-on-spills", "--device-int128"});
  // No option that the version or the kind of result has not.
  CHECK(NVRTCOptions().list("sm_80", {12, 8}) ==
        std::vector<std::string>{"-arch=sm_80", "-std=c++17", "-default-device",
                                 "--ptxas-options=-v",
                                 "--ptxas-options=--warn-on-spills"});
  CHECK(NVRTCOptions().list("compute_90a", {13, 0}) ==
        std::vector<std::string>{"-arch=compute_90a", "-std=c++17",
                                 "-default-device", "--no-cache"});
}

TEST_CASE("a kernel becomes PTX and machine code") {
  const NVRTC *nvrtc = compiler();
  if (!nvrtc)
    return;
  // Twice: the log must not come from a cache that has none.
  for (int i = 0; i < 2; ++i) {
    NVRTCResult result =
        llvm::cantFail(nvrtc->compile(addKernel, "add.cu", "sm_90a"));
    CHECK_THAT(result.ptx,
               Contains(".target sm_90a") && Contains(".visible .entry add("));
    REQUIRE(result.cubin.size() > 100);
    CHECK(llvm::StringRef(result.cubin.data(), 4) == "\x7f"
                                                     "ELF");
    CHECK(result.milliseconds > 0);
    const ResourceLog log = parseResourceLog(result.log);
    REQUIRE(log.find("add"));
    CHECK(log.find("add")->registers > 0);
    CHECK(log.defects(result.ptx).empty());
  }
  NVRTCResult virtualOnly =
      llvm::cantFail(nvrtc->compile(addKernel, "add.cu", "compute_90a"));
  CHECK_FALSE(virtualOnly.ptx.empty());
  CHECK(virtualOnly.cubin.empty());
}

TEST_CASE("line information makes a larger cubin of the same code") {
  const NVRTC *nvrtc = compiler();
  if (!nvrtc)
    return;
  NVRTCOptions lines;
  lines.lineInfo = true;
  NVRTCResult plain =
      llvm::cantFail(nvrtc->compile(addKernel, "add.cu", "sm_90a"));
  NVRTCResult lined =
      llvm::cantFail(nvrtc->compile(addKernel, "add.cu", "sm_90a", lines));
  CHECK(lined.cubin.size() > plain.cubin.size());
  CHECK_THAT(lined.ptx, Contains(".loc"));
  CHECK_THAT(plain.ptx, !Contains(".loc"));
}

TEST_CASE("errors of compilation") {
  const NVRTC *nvrtc = compiler();
  if (!nvrtc)
    return;
  CHECK_THAT(failure(*nvrtc, "__global__ void f() { x = 1; }", "sm_90a"),
             Contains("'k.cu': NVRTC finds errors in it") &&
                 Contains("k.cu(1): error: identifier \"x\" is undefined") &&
                 Contains("\nhelp: correct the CUDA source"));
  NVRTCOptions wrong;
  wrong.extra = {"--no-such-option"};
  CHECK_THAT(failure(*nvrtc, addKernel, "sm_90a", wrong),
             Contains("refuses an option") && Contains("--no-such-option"));
  for (const char *arch : {"sm_11", "sm_", "x86", "", "sm_x", "90a"})
    CHECK_THAT(failure(*nvrtc, addKernel, arch),
               Contains("does not know the architecture '" + std::string(arch) +
                        "'; it knows ") &&
                   Contains("sm_90"));
  // What only the assembler finds.
  CHECK_THAT(failure(*nvrtc,
                     "extern \"C\" __global__ void f() { asm(\"bad.op;\"); }",
                     "sm_90a"),
             Contains("NVRTC finds errors in it") && Contains("ptxas"));
}

TEST_CASE("defects that NVRTC reports") {
  const NVRTC *nvrtc = compiler();
  if (!nvrtc)
    return;
  std::string ptx; // Of the last one.
  auto logOf = [&](const char *source) {
    NVRTCResult result =
        llvm::cantFail(nvrtc->compile(source, "k.cu", "sm_90a"));
    ptx = result.ptx;
    return parseResourceLog(result.log);
  };
  ResourceLog local =
      logOf("extern \"C\" __global__ void k(float *x, int n) {\n"
            "  float a[20];\n"
            "  for (int i = 0; i < 20; i++) a[i] = x[i * n];\n"
            "  for (int i = 0; i < n; i++) a[i * 7 % 20] += a[i * n % 20];\n"
            "  x[0] = a[n % 20];\n"
            "}\n");
  REQUIRE(local.find("k"));
  CHECK(local.find("k")->stackBytes == 80);
  CHECK(local.defects(ptx) ==
        std::vector<std::string>{"'k': 80 bytes of local arrays"});

  ResourceLog spill =
      logOf("extern \"C\" __global__ __launch_bounds__(1024, 2)\n"
            "void k(const float *x, float *y, int n) {\n"
            "  float a[96];\n"
            "#pragma unroll\n"
            "  for (int i = 0; i < 96; i++) a[i] = x[i * n];\n"
            "  __syncthreads();\n"
            "#pragma unroll\n"
            "  for (int i = 0; i < 96; i++) y[i * n] = a[i] * a[95 - i];\n"
            "}\n");
  REQUIRE(spill.find("k"));
  CHECK(spill.find("k")->registers == 32);
  CHECK(spill.find("k")->spills());
  REQUIRE(spill.defects(ptx).size() == 1);
  CHECK_THAT(spill.defects(ptx)[0], Contains("registers are spilled"));

  ResourceLog budget =
      logOf("extern \"C\" __global__ void k(float *y) {\n"
            "  asm volatile(\"setmaxnreg.inc.sync.aligned.u32 240;\");\n"
            "  y[threadIdx.x] = 1;\n"
            "}\n");
  REQUIRE(budget.messages.size() == 1);
  CHECK(budget.messages[0].isIgnoredRegisterBudget());
}

TEST_CASE("threads compile at the same time") {
  const NVRTC *nvrtc = compiler();
  if (!nvrtc)
    return;
  constexpr int count = 8;
  std::vector<NVRTCResult> results(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      std::string name = "kernel" + std::to_string(i);
      std::string source = "extern \"C\" __global__ void " + name +
                           "(int *x) { *x = " + std::to_string(1000 + i) +
                           "; }";
      results[i] = llvm::cantFail(nvrtc->compile(source, name, "sm_90a"));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int i = 0; i < count; ++i) {
    CHECK_THAT(results[i].ptx,
               Contains(".entry kernel" + std::to_string(i) + "(") &&
                   Contains(std::to_string(1000 + i)));
    CHECK(parseResourceLog(results[i].log).find("kernel" + std::to_string(i)));
  }
}

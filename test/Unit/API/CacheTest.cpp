//===- CacheTest.cpp - The API and the cache on disk ------------*- C++ -*-===//
//
// What is in the key, and what happens to a kernel when the folder is not as it
// should be. How entries get there and are shared is tested in DiskCacheTest.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/API/FakeMachine.h"
#include <sys/wait.h>

using namespace tilec;
using namespace tilec::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

static const char *const copy = "kernel copy<T: dtype = f32>(X: T[M, N], "
                                "Y: out T[M, N]) {\n"
                                "  grid m in tile(M)\n"
                                "  Y[m] = X[m]\n"
                                "}\n";

namespace {
struct Result {
  Origin origin;
  int compiles;
  std::string cuda, cubin, image;
};
} // namespace

/// Compiles the copy anew, as another process would, ahead of time for sm_90a.
static Result compileCopy(FakeMachine &machine, const Options &options,
                          const std::string &text = copy, int64_t n = 64,
                          const Defines &defines = {}) {
  int before = machine.compiler().compiles;
  Module module = compileText(text, options);
  Kernel kernel = take(module.kernel("copy", defines));
  Code code = take(kernel.compileFor({{"N", n}}));
  return {code.origin(), machine.compiler().compiles - before,
          std::string(code.cuda()), std::string(code.cubin()),
          std::string(code.image())};
}

static Options hopper(FakeMachine &machine) {
  Options options = machine.options();
  options.target = "sm_90a";
  return options;
}

TEST_CASE("what was compiled once is loaded") {
  FakeMachine machine;
  Options options = hopper(machine);
  Result first = compileCopy(machine, options);
  CHECK(first.origin == Origin::Compiled);
  CHECK(first.compiles == 1);
  Result second = compileCopy(machine, options);
  CHECK(second.origin == Origin::Disk);
  CHECK(second.compiles == 0);
  CHECK(second.cuda == first.cuda);
  CHECK(second.cubin == first.cubin);
  CHECK(second.image == first.image);

  options.cacheFolder = "";
  CHECK(compileCopy(machine, options).origin == Origin::Compiled);
}

TEST_CASE("a cached kernel launches as a new one does") {
  FakeMachine machine;
  for (Origin expected : {Origin::Compiled, Origin::Disk}) {
    Module module = compileText(copy, machine.options());
    Kernel kernel = take(module.kernel());
    TensorView x = machine.tensor(DType::F32, {48, 64});
    TensorView y = machine.tensor(DType::F32, {48, 64});
    Code code = take(kernel.compile(x, y));
    CHECK(code.origin() == expected);
    succeed(kernel.launch(nullptr, x, y));
    TensorView odd = machine.tensor(DType::F32, {47, 64});
    CHECK_THAT(
        failure(code.launch(nullptr, odd, machine.tensor(DType::F32, {47, 64})),
                TILEC_ERROR_SPECIALIZATION),
        Contains("multiple of 16"));
  }
  CHECK(machine.compiles() == 1);
  CHECK(machine.launches() == 2);
}

TEST_CASE("what is in the key") {
  FakeMachine machine;
  Options options = hopper(machine);
  compileCopy(machine, options);
  auto isNew = [&](const Result &result) {
    return result.origin == Origin::Compiled;
  };
  CHECK(isNew(compileCopy(machine, options, copy, 65)));
  CHECK(isNew(compileCopy(machine, options, copy, 64, {{"T", "f16"}})));
  CHECK_FALSE(isNew(compileCopy(machine, options, copy, 64, {{"T", "f16"}})));
  CHECK(isNew(compileCopy(machine, options, std::string(copy) + "// more\n")));
  Options other = options;
  other.target = "sm_80";
  CHECK(isNew(compileCopy(machine, other)));
  other = options;
  other.schedule = {{"m", 8}};
  CHECK(isNew(compileCopy(machine, other)));
  CHECK_FALSE(isNew(compileCopy(machine, other)));
  other.schedule = {{"m", 4}};
  CHECK(isNew(compileCopy(machine, other)));
  CHECK_FALSE(isNew(compileCopy(machine, options)));

  // What a kernel imports, but not where it lies.
  const char *importing = "import \"scale.tile\"\n"
                          "kernel copy(X: f32[M, N], Y: out f32[M, N]) {\n"
                          "  grid m in tile(M)\n"
                          "  Y[m] = scale(X[m])\n"
                          "}\n";
  Scratch here, there, elsewhere;
  here.write("scale.tile", "fn scale(x: f32) -> f32 { 2 * x }\n");
  there.write("scale.tile", "fn scale(x: f32) -> f32 { 2 * x }\n");
  elsewhere.write("scale.tile", "fn scale(x: f32) -> f32 { 3 * x }\n");
  other = options;
  other.includePaths = {here.path()};
  CHECK(isNew(compileCopy(machine, other, importing)));
  other.includePaths = {there.path()};
  CHECK_FALSE(isNew(compileCopy(machine, other, importing)));
  other.includePaths = {elsewhere.path()};
  CHECK(isNew(compileCopy(machine, other, importing)));
}

static std::string warnings;
static void collect(const char *text, void *user) {
  CHECK(user == &warnings);
  warnings += text;
}

TEST_CASE("a damaged entry is compiled again") {
  FakeMachine machine;
  Options options = hopper(machine);
  options.warn = collect;
  options.user = &warnings;
  warnings.clear();
  Result first = compileCopy(machine, options);
  int damaged = 0;
  for (const std::string &name : machine.folder.list()) {
    std::string bytes = machine.folder.read(name);
    bytes[bytes.size() / 2] ^= 1;
    machine.folder.write(name, bytes);
    ++damaged;
  }
  CHECK(damaged == 2); // The code, and its name for machines without NVRTC.
  CHECK(warnings.empty());
  Result second = compileCopy(machine, options);
  CHECK(second.origin == Origin::Compiled);
  CHECK(second.cubin == first.cubin);
  CHECK_THAT(warnings, Contains("is damaged"));
  CHECK(compileCopy(machine, options).origin == Origin::Disk);
}

TEST_CASE("a folder that cannot be used is a warning") {
  FakeMachine machine;
  machine.folder.write("file", "not a folder");
  Options options = hopper(machine);
  options.cacheFolder = machine.folder / "file";
  options.warn = collect;
  options.user = &warnings;
  warnings.clear();
  CHECK(compileCopy(machine, options).origin == Origin::Compiled);
  CHECK_THAT(warnings, Contains("the cache of kernels cannot be"));
  CHECK(compileCopy(machine, options).origin == Origin::Compiled);
}

/// What CompileFor prints in a process of its own, after its exit status, which
/// is the kind of an error.
static std::string compileInProcess(FakeMachine &machine,
                                    const std::string &environment,
                                    const std::string &arguments) {
  machine.folder.write("copy.tile", copy);
  std::string command = "cd '" + machine.folder.path() + "' && " + environment +
                        " '" TILEC_COMPILE_FOR "' copy.tile . " + arguments +
                        " >output 2>&1";
  int status = std::system(command.c_str()); // NOLINT: a test's own text.
  return std::to_string(WEXITSTATUS(status)) + " " +
         machine.folder.read("output");
}

TEST_CASE("a machine without NVRTC runs what is in the cache") {
  FakeMachine machine;
  compileCopy(machine, hopper(machine));
  CHECK(compileInProcess(machine, "TILEC_NVRTC=/nonexistent", "64 sm_90a") ==
        "0 from disk\n");
  CHECK_THAT(compileInProcess(machine, "TILEC_NVRTC=/nonexistent", "65 sm_90a"),
             StartsWith("30 copy.tile:1:8: error: TILEC_NVRTC names a library "
                        "that cannot be used:") &&
                 Contains("help: set TILEC_NVRTC"));
  CHECK(compileInProcess(machine, "TILEC_NVRTC='" TILEC_FAKE_NVRTC "'",
                         "65 sm_90a") == "0 compiled\n");
}

TEST_CASE("a machine without a driver") {
  FakeMachine machine;
  // Without a target there is nothing to compile for.
  CHECK_THAT(compileInProcess(machine, "TILEC_CUDA_DRIVER=/nonexistent", "64"),
             StartsWith("31 error: NVIDIA's driver cannot be opened:") &&
                 Contains("help: install NVIDIA's driver"));
  // With one there is.
  CHECK(compileInProcess(machine, "TILEC_CUDA_DRIVER=/nonexistent",
                         "64 sm_90a") == "0 compiled\n");
}

TEST_CASE("processes race for one kernel") {
  FakeMachine machine;
  constexpr int numProcesses = 6;
  machine.folder.write("copy.tile", copy);
  std::string command = "cd '" + machine.folder.path() + "'; ";
  for (int i = 0; i < numProcesses; ++i)
    command += "'" TILEC_COMPILE_FOR "' copy.tile cache 64 sm_90a >output" +
               std::to_string(i) + " 2>&1 & ";
  int status = std::system((command + "wait").c_str()); // NOLINT: as above.
  REQUIRE(status == 0);
  for (int i = 0; i < numProcesses; ++i) {
    std::string output = machine.folder.read("output" + std::to_string(i));
    CHECK((output == "compiled\n" || output == "from disk\n"));
  }
  // One entry for the code and one for machines without NVRTC, and no more.
  std::error_code error;
  int entries = 0;
  for (llvm::sys::fs::directory_iterator at(machine.folder / "cache", error),
       end;
       !error && at != end; at.increment(error))
    ++entries;
  CHECK(entries == 2);
  Options options = hopper(machine);
  options.cacheFolder = machine.folder / "cache";
  CHECK(compileCopy(machine, options).origin == Origin::Disk);
}

//===- FakeNVRTC.cpp - Stands in for NVIDIA's compiler ----------*- C++ -*-===//

#include "test/Unit/GPURuntime/FakeNVRTC.h"
#include <cstring>
#include <string>

using namespace tilec::test;

static FakeCompiler compiler;

FakeCompiler *tilecFakeCompiler() { return &compiler; }

namespace {
/// What NVRTC's handles point to.
struct OpaqueProgram {
  std::string source, arch, cubin, ptx, log;
};
} // namespace
using Program = OpaqueProgram *;

static constexpr int success = 0;
static constexpr int compilationError = 6;

/// Bytes of a parameter, by its type in CUDA C++.
static int sizeOf(const std::string &parameter) {
  auto has = [&](const char *word) {
    return parameter.find(word) != std::string::npos;
  };
  if (has("*") || has("long long") || has("double"))
    return 8;
  if (has("16") || has("short"))
    return 2;
  if (has("bool") || has("char") || has("f8"))
    return 1;
  return 4;
}

/// "name:8,8,4" of the kernel in a source; empty if there is none.
static std::string entryOf(const std::string &source, std::string &name) {
  size_t at = source.find("__global__");
  if (at == std::string::npos)
    return "";
  at = source.find(")\n", at) + 2; // Behind the launch bounds.
  size_t open = source.find('(', at), close = source.find(") {", open);
  name = source.substr(at, open - at);
  std::string entry = name + ":";
  std::string list = source.substr(open + 1, close - open - 1);
  for (size_t begin = 0; begin < list.size();) {
    size_t end = std::min(list.find(',', begin), list.size());
    entry += std::to_string(sizeOf(list.substr(begin, end - begin))) + ",";
    begin = end + 1;
  }
  entry.pop_back();
  return entry;
}

static int give(const std::string &text, char *to) {
  std::memcpy(to, text.c_str(), text.size() + 1);
  return success;
}

// The names are NVIDIA's. NOLINTBEGIN(readability-identifier-naming)
extern "C" {

int nvrtcVersion(int *major, int *minor) {
  *major = 13;
  *minor = 0;
  return success;
}
int nvrtcGetNumSupportedArchs(int *count) {
  *count = 4;
  return success;
}
int nvrtcGetSupportedArchs(int *archs) {
  for (int arch : {80, 86, 89, 90})
    *archs++ = arch;
  return success;
}

int nvrtcCreateProgram(Program *program, const char *source, const char *, int,
                       const char *const *, const char *const *) {
  *program = new OpaqueProgram{source, "", "", "", ""};
  return success;
}
int nvrtcDestroyProgram(Program *program) {
  delete *program;
  *program = nullptr;
  return success;
}

int nvrtcCompileProgram(Program program, int numOptions,
                        const char *const *options) {
  ++compiler.compiles;
  if (compiler.onCompile)
    compiler.onCompile();
  for (int i = 0; i < numOptions; ++i)
    if (std::strncmp(options[i], "-arch=", 6) == 0)
      program->arch = options[i] + 6;
  std::string name, entry = entryOf(program->source, name);
  if (entry.empty()) {
    program->log = "no kernel\n";
    return compilationError;
  }
  program->cubin = "FAKE " + program->arch + ";" + entry;
  program->ptx = "// fake PTX of " + name + "\n";
  program->log = "ptxas info    : 0 bytes gmem\n"
                 "ptxas info    : Compiling entry function '" +
                 name + "' for '" + program->arch +
                 "'\nptxas info    : Function properties for " + name +
                 "\nptxas         .     0 bytes stack frame, 0 bytes spill "
                 "stores, 0 bytes spill loads\n"
                 "ptxas info    : Used 42 registers, used 1 barriers\n";
  return success;
}

int nvrtcGetProgramLogSize(Program program, size_t *size) {
  *size = program->log.size() + 1;
  return success;
}
int nvrtcGetProgramLog(Program program, char *log) {
  return give(program->log, log);
}
int nvrtcGetPTXSize(Program program, size_t *size) {
  *size = program->ptx.size() + 1;
  return success;
}
int nvrtcGetPTX(Program program, char *ptx) { return give(program->ptx, ptx); }
int nvrtcGetCUBINSize(Program program, size_t *size) {
  *size = program->cubin.size() + 1;
  return success;
}
int nvrtcGetCUBIN(Program program, char *cubin) {
  return give(program->cubin, cubin);
}
const char *nvrtcGetErrorString(int result) {
  return result == success ? "success" : "fake failure";
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)

//===- NVRTC.cpp - Compiling CUDA C++ at run time ---------------*- C++ -*-===//

#include "lib/Runtime/GPU/NVRTC.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>
#include <mutex>

using namespace tilec;
using namespace tilec::gpu;

/// The first one that can generate code for Hopper, and the first that keeps
/// what it compiled: then it would give no log when asked for the same again.
static constexpr std::pair<int, int> oldestVersion = {12, 0};
static constexpr std::pair<int, int> cachingVersion = {12, 9};

static constexpr llvm::StringLiteral installHelp =
    "run scripts/setup, install a CUDA toolkit of version 12 or newer, or set "
    "TILEC_NVRTC to the path of libnvrtc.so";

//===----------------------------------------------------------------------===//
// NVRTC's interface
//===----------------------------------------------------------------------===//

namespace {
using Program = struct OpaqueProgram *;
constexpr int success = 0;
constexpr int errorOutOfMemory = 1;
constexpr int errorInvalidOption = 5;
constexpr int errorCompilation = 6;
constexpr int errorBuiltins = 7;
} // namespace

struct NVRTC::Functions {
  int (*version)(int *major, int *minor);
  int (*countArchs)(int *count);
  int (*listArchs)(int *archs);
  int (*create)(Program *program, const char *source, const char *name,
                int numHeaders, const char *const *headers,
                const char *const *includeNames);
  int (*compile)(Program program, int numOptions, const char *const *options);
  int (*destroy)(Program *program);
  int (*logSize)(Program program, size_t *size);
  int (*log)(Program program, char *log);
  int (*ptxSize)(Program program, size_t *size);
  int (*ptx)(Program program, char *ptx);
  int (*cubinSize)(Program program, size_t *size);
  int (*cubin)(Program program, char *cubin);
  const char *(*errorString)(int result);

  /// The name of a function that is missing, or null.
  const char *load(const SharedLibrary &library) {
    const char *missing = nullptr;
    auto get = [&](const char *name, auto *&function) {
      if (!library.get(name, function) && !missing)
        missing = name;
    };
    get("nvrtcVersion", version);
    get("nvrtcGetNumSupportedArchs", countArchs);
    get("nvrtcGetSupportedArchs", listArchs);
    get("nvrtcCreateProgram", create);
    get("nvrtcCompileProgram", compile);
    get("nvrtcDestroyProgram", destroy);
    get("nvrtcGetProgramLogSize", logSize);
    get("nvrtcGetProgramLog", log);
    get("nvrtcGetPTXSize", ptxSize);
    get("nvrtcGetPTX", ptx);
    get("nvrtcGetCUBINSize", cubinSize);
    get("nvrtcGetCUBIN", cubin);
    get("nvrtcGetErrorString", errorString);
    return missing;
  }
};

static std::string versionText(std::pair<int, int> version) {
  return std::to_string(version.first) + "." + std::to_string(version.second);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

NVRTC::NVRTC() = default;
NVRTC::~NVRTC() = default;

llvm::Expected<std::unique_ptr<NVRTC>> NVRTC::openFile(const NVRTCFile &file) {
  llvm::Expected<SharedLibrary> library = SharedLibrary::open(file.path);
  if (!library)
    return library.takeError();
  std::unique_ptr<NVRTC> nvrtc(new NVRTC);
  if (!file.builtins.empty()) {
    // Without it NVRTC still has its own ways, and messages, of finding it.
    llvm::Expected<SharedLibrary> builtins = SharedLibrary::open(file.builtins);
    if (builtins)
      nvrtc->builtins = std::move(*builtins);
    else
      llvm::consumeError(builtins.takeError());
  }
  nvrtc->library = std::move(*library);
  nvrtc->file = file;
  nvrtc->functions = std::make_unique<Functions>();
  Functions &functions = *nvrtc->functions;
  if (const char *missing = functions.load(nvrtc->library))
    return llvm::createStringError(llvm::Twine("it has no function ") +
                                   missing);
  std::pair<int, int> &version = nvrtc->versionNumber;
  int numArchs = 0;
  if (functions.version(&version.first, &version.second) != success ||
      functions.countArchs(&numArchs) != success || numArchs < 0)
    return llvm::createStringError("it does not tell its version");
  if (version < oldestVersion)
    return llvm::createStringError("expected version " +
                                   versionText(oldestVersion) +
                                   " or newer, got " + versionText(version));
  nvrtc->architectures.resize(numArchs);
  if (functions.listArchs(nvrtc->architectures.data()) != success)
    return llvm::createStringError("it does not tell its architectures");
  return nvrtc;
}

llvm::Expected<std::unique_ptr<NVRTC>> NVRTC::open(const NVRTCPlaces &places) {
  std::vector<NVRTCFile> files = findNVRTC(places);
  if (places.demanded.empty() && files.empty()) {
    // What remains are folders that only the dynamic linker knows of.
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
      if (llvm::Expected<SharedLibrary> library = SharedLibrary::open(name)) {
        if (std::optional<NVRTCFile> file = inspectNVRTC(library->path()))
          files.push_back(*file);
      } else {
        llvm::consumeError(library.takeError());
      }
  }
  std::string tried;
  for (const NVRTCFile &file : files) {
    llvm::Expected<std::unique_ptr<NVRTC>> nvrtc = openFile(file);
    if (nvrtc)
      return nvrtc;
    tried += "\n  " + file.path + ": " + llvm::toString(nvrtc.takeError());
  }
  if (!places.demanded.empty()) {
    if (files.empty())
      tried = "\n  " + places.demanded + ": no such file";
    return gpuError(ErrorKind::NoCompiler,
                    "TILEC_NVRTC names a library that cannot be used:" + tried,
                    "set TILEC_NVRTC to the path of a libnvrtc.so of version "
                    "12 or newer, or unset it to have one looked for");
  }
  if (!tried.empty())
    return gpuError(ErrorKind::NoCompiler,
                    "no usable NVRTC (NVIDIA's run-time compiler) was found:" +
                        tried,
                    installHelp);
  std::string looked;
  for (const std::string &folder : places.folders)
    looked += "\n  " + folder;
  return gpuError(ErrorKind::NoCompiler,
                  "NVRTC (NVIDIA's run-time compiler) was not found; looked "
                  "for libnvrtc.so in:" +
                      looked,
                  installHelp);
}

llvm::Expected<const NVRTC &> NVRTC::get() {
  static std::mutex mutex;
  // Never destroyed: threads may still compile when the process exits.
  static const NVRTC *instance = nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  if (!instance) {
    llvm::Expected<std::unique_ptr<NVRTC>> opened =
        open(NVRTCPlaces::fromEnvironment());
    if (!opened)
      return opened.takeError();
    instance = opened->release();
  }
  return *instance;
}

static std::string identityText(std::pair<int, int> version,
                                const NVRTCFile &file) {
  return "NVRTC " + versionText(version) + " " + file.identity;
}

std::string NVRTC::identity() const {
  return identityText(versionNumber, file);
}

std::optional<std::string>
NVRTC::identityWithoutOpening(const NVRTCPlaces &places) {
  std::vector<NVRTCFile> files = findNVRTC(places);
  if (files.empty() || !files.front().version)
    return std::nullopt;
  return identityText(*files.front().version, files.front());
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

std::vector<std::string> NVRTCOptions::list(llvm::StringRef arch,
                                            std::pair<int, int> version) const {
  std::vector<std::string> options = {"-arch=" + arch.str(), "-std=c++17",
                                      "-default-device"};
  if (version >= cachingVersion)
    options.push_back("--no-cache");
  if (lineInfo)
    options.push_back("-lineinfo");
  // One option for each: a list after one comma is not split on this path.
  if (arch.starts_with("sm_")) {
    options.push_back("--ptxas-options=-v");
    options.push_back("--ptxas-options=--warn-on-spills");
  }
  options.insert(options.end(), extra.begin(), extra.end());
  return options;
}

llvm::Error NVRTC::checkArch(llvm::StringRef arch) const {
  llvm::StringRef digits = arch;
  int number = 0;
  bool known = digits.consume_front("sm_") || digits.consume_front("compute_");
  digits = digits.take_while(llvm::isDigit);
  if (known && !digits.getAsInteger(10, number) &&
      llvm::is_contained(architectures, number))
    return llvm::Error::success();
  std::string list = llvm::join(
      llvm::map_range(architectures,
                      [](int arch) { return "sm_" + std::to_string(arch); }),
      ", ");
  return gpuError(ErrorKind::NoCompiler,
                  "NVRTC " + versionText(versionNumber) +
                      " does not know the architecture '" + arch +
                      "'; it knows " + list,
                  "choose one of those as the target, or install a newer "
                  "CUDA toolkit");
}

/// A text or a binary that NVRTC returns by a function for its size and one for
/// its content.
template <typename Buffer>
static bool fetch(Program program, int (*sizeOf)(Program, size_t *),
                  int (*get)(Program, char *), Buffer &buffer) {
  size_t size = 0;
  if (sizeOf(program, &size) != success)
    return false;
  buffer.resize(size);
  return size == 0 || get(program, buffer.data()) == success;
}

static void dropFinalNull(std::string &text) {
  if (!text.empty() && text.back() == '\0')
    text.pop_back();
}

llvm::Expected<NVRTCResult> NVRTC::compile(llvm::StringRef source,
                                           llvm::StringRef name,
                                           llvm::StringRef arch,
                                           const NVRTCOptions &options) const {
  if (llvm::Error error = checkArch(arch))
    return std::move(error);
  auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> list = options.list(arch, versionNumber);
  std::vector<const char *> pointers;
  pointers.reserve(list.size());
  for (const std::string &option : list)
    pointers.push_back(option.c_str());

  auto failure = [&](int status, const llvm::Twine &what,
                     const llvm::Twine &help) {
    return gpuError(ErrorKind::Compile,
                    "'" + name + "': " + what + " (" +
                        functions->errorString(status) + ")",
                    help);
  };
  Program program = nullptr;
  int status = functions->create(&program, source.str().c_str(),
                                 name.str().c_str(), 0, nullptr, nullptr);
  if (status != success)
    return failure(status, "NVRTC cannot start to compile it",
                   "free some memory");
  llvm::scope_exit destroy([&] { functions->destroy(&program); });

  status = functions->compile(program, pointers.size(), pointers.data());
  NVRTCResult result;
  fetch(program, functions->logSize, functions->log, result.log);
  dropFinalNull(result.log);
  llvm::StringRef log = llvm::StringRef(result.log).rtrim();
  switch (status) {
  case success:
    break;
  case errorCompilation:
    return failure(status, "NVRTC finds errors in it:\n" + log + "\n",
                   "correct the CUDA source; if tilec generated it, this is an "
                   "error of tilec");
  case errorInvalidOption:
    return failure(status,
                   "NVRTC refuses an option of " + llvm::join(list, " ") +
                       ":\n" + log + "\n",
                   "remove that option");
  case errorOutOfMemory:
    return failure(status, "NVRTC ran out of memory", "free some memory");
  case errorBuiltins:
    return failure(status,
                   "NVRTC cannot open its library of built-in functions, "
                   "libnvrtc-builtins.so",
                   "put it beside " + path());
  default:
    return failure(status, "NVRTC failed:\n" + log + "\n",
                   "try another version of NVRTC: set TILEC_NVRTC");
  }

  bool good =
      fetch(program, functions->ptxSize, functions->ptx, result.ptx) &&
      fetch(program, functions->cubinSize, functions->cubin, result.cubin);
  dropFinalNull(result.ptx);
  if (!good || (arch.starts_with("sm_") && result.cubin.empty()))
    return failure(status, "NVRTC compiled it, but does not give the result",
                   "try another version of NVRTC: set TILEC_NVRTC");
  result.milliseconds = std::chrono::duration<double, std::milli>(
                            std::chrono::steady_clock::now() - begin)
                            .count();
  return result;
}

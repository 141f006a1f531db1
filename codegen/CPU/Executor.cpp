//===- Executor.cpp - Runs machine code over a grid -------------*- C++ -*-===//
//
// Programs are handed out in ranges from a shared counter: a thread that is
// done early takes more. Ranges are a fraction of the rest, so that they are
// large at first and small at the end.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Executor.h"
#include "codegen/CPU/RuntimeFunctions.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace tilec::cpu {

CompiledKernel::~CompiledKernel() = default;

Executor::~Executor() {
  for (void *scratch : idleScratch)
    std::free(scratch);
}

Argument Argument::tensor(void *data, llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<int64_t> strides) {
  Argument argument;
  argument.data = data;
  argument.shape.assign(shape.begin(), shape.end());
  argument.strides.assign(strides.begin(), strides.end());
  argument.isTensor = true;
  return argument;
}

Argument Argument::tensor(void *data, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t, 6> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return tensor(data, shape, strides);
}

Argument Argument::f64(double value) {
  Argument argument;
  std::memcpy(&argument.scalar, &value, sizeof(value));
  return argument;
}

Argument Argument::f32(float value) {
  Argument argument;
  std::memcpy(&argument.scalar, &value, sizeof(value));
  return argument;
}

Argument Argument::integer(int64_t value) {
  Argument argument;
  argument.scalar = uint64_t(value);
  return argument;
}

llvm::Error Executor::check(llvm::ArrayRef<Argument> arguments) const {
  auto fail = [](const llvm::Twine &message) {
    return llvm::createStringError(message);
  };
  if (arguments.size() != parameters.size())
    return fail("expected " + llvm::Twine(parameters.size()) +
                " arguments, found " + llvm::Twine(arguments.size()));
  for (auto [argument, parameter] : llvm::zip_equal(arguments, parameters)) {
    std::string who = "argument '" + parameter.name + "': ";
    if (argument.isTensor != parameter.isTensor)
      return fail(who + (parameter.isTensor
                             ? "expected a tensor, found a scalar"
                             : "expected a scalar, found a tensor"));
    if (!argument.isTensor)
      continue;
    if (argument.shape.size() != parameter.shape.size() ||
        argument.strides.size() != parameter.shape.size())
      return fail(who + "expected rank " + llvm::Twine(parameter.shape.size()) +
                  ", found " + llvm::Twine(argument.shape.size()));
    for (size_t d = 0; d < parameter.shape.size(); ++d)
      if (parameter.shape[d] >= 0 && parameter.shape[d] != argument.shape[d])
        return fail(who + "expected extent " + llvm::Twine(parameter.shape[d]) +
                    " of dimension " + llvm::Twine(d) + ", found " +
                    llvm::Twine(argument.shape[d]));
    int64_t unit = parameter.unitStride;
    if (unit >= 0 && argument.strides[unit] != 1 && argument.shape[unit] > 1)
      return fail(who + "expected stride 1 of dimension " + llvm::Twine(unit) +
                  ", found " + llvm::Twine(argument.strides[unit]));
  }
  return llvm::Error::success();
}

/// The words that an entry point reads (see Passes.td).
static llvm::SmallVector<uint64_t, 32>
packArguments(llvm::ArrayRef<Argument> arguments) {
  // What an empty tensor points to: something that may be read.
  alignas(64) static const char readable[64] = {};
  llvm::SmallVector<uint64_t, 32> words;
  for (const Argument &argument : arguments) {
    if (!argument.isTensor) {
      words.push_back(argument.scalar);
      continue;
    }
    bool isEmpty = llvm::is_contained(argument.shape, 0);
    const void *data = isEmpty ? readable : argument.data;
    words.push_back(uint64_t(reinterpret_cast<uintptr_t>(data)));
    words.append(argument.shape.begin(), argument.shape.end());
    words.append(argument.strides.begin(), argument.strides.end());
  }
  return words;
}

void *Executor::takeScratch() const {
  {
    std::lock_guard<std::mutex> lock(scratchMutex);
    if (!idleScratch.empty()) {
      void *scratch = idleScratch.back();
      idleScratch.pop_back();
      return scratch;
    }
  }
  constexpr size_t alignment = 64;
  return std::aligned_alloc(alignment, llvm::alignTo(scratchSize, alignment));
}

void Executor::returnScratch(void *scratch) const {
  std::lock_guard<std::mutex> lock(scratchMutex);
  idleScratch.push_back(scratch);
}

int64_t Executor::numPrograms(llvm::ArrayRef<Argument> arguments) const {
  return programCount(packArguments(arguments).data());
}

/// The threads of all launches of this process. They are never joined: a
/// process may exit from anywhere.
static llvm::ThreadPoolInterface &workers() {
  static auto *pool = new llvm::DefaultThreadPool(llvm::hardware_concurrency());
  return *pool;
}

llvm::Error Executor::run(llvm::ArrayRef<Argument> arguments,
                          ReportSink &reports,
                          const RunOptions &options) const {
  if (llvm::Error error = check(arguments))
    return error;
  llvm::SmallVector<uint64_t, 32> words = packArguments(arguments);
  int64_t programs = programCount(words.data());
  unsigned threads = options.threads;
  if (threads == 0)
    threads = llvm::hardware_concurrency().compute_thread_count();
  // Prints come in the order of the programs.
  bool prints = llvm::any_of(
      sites, [](const Site &site) { return site.kind == SiteKind::Print; });
  if (prints)
    threads = 1;
  threads = unsigned(std::min<int64_t>(threads, programs));

  RunContext context{sites, &reports};
  std::atomic<int64_t> next(0);
  std::atomic<bool> outOfMemory(false);
  auto work = [&] {
    void *scratch = nullptr;
    if (scratchSize) {
      scratch = takeScratch();
      if (!scratch) {
        outOfMemory = true;
        return;
      }
    }
    for (int64_t begin = next; begin < programs;) {
      int64_t share = (programs - begin) / (4 * int64_t(threads));
      int64_t end = begin + std::max<int64_t>(share, 1);
      if (!next.compare_exchange_weak(begin, end))
        continue;
      entry(words.data(), begin, end, scratch, &context);
      begin = next;
    }
    if (scratch)
      returnScratch(scratch);
  };
  if (threads <= 1) {
    work();
  } else {
    llvm::ThreadPoolTaskGroup group(workers());
    for (unsigned i = 1; i < threads; ++i)
      group.async(work);
    work();
    group.wait();
  }
  if (outOfMemory)
    return llvm::createStringError(
        "out of memory: a thread needs " + llvm::Twine(scratchSize) +
        " bytes for temporary tiles; smaller tile sizes need less");
  return llvm::Error::success();
}

} // namespace tilec::cpu

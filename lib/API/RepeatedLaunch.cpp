//===- RepeatedLaunch.cpp - Launches like earlier ones ----------*- C++ -*-===//

#include "lib/API/RepeatedLaunch.h"
#include "lib/Runtime/GPU/Driver.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/xxhash.h"
#include <mutex>

using namespace tilec;
using namespace tilec::api;

size_t KeyHash::operator()(const Key &key) const {
  return llvm::xxh3_64bits(llvm::ArrayRef(
      reinterpret_cast<const uint8_t *>(key.data()), key.size_in_bytes()));
}

/// Alignment matters up to this many bytes.
static constexpr uintptr_t mostAligned = 16;

static uintptr_t addressOf(const tilec_arg &arg) {
  return reinterpret_cast<uintptr_t>(arg.value.tensor.data);
}

std::optional<Key> api::patternOf(const gpu::Device &device,
                                  llvm::ArrayRef<tilec_arg> args) {
  Key pattern;
  pattern.push_back(device.ordinal());
  for (const tilec_arg &arg : args) {
    pattern.push_back(arg.kind);
    switch (arg.kind) {
    case TILEC_ARG_DEFAULT:
      continue;
    case TILEC_ARG_INTEGER:
      pattern.push_back(arg.value.integer);
      continue;
    case TILEC_ARG_REAL:
      pattern.push_back(llvm::bit_cast<int64_t>(arg.value.real));
      continue;
    case TILEC_ARG_TENSOR: {
      const tilec_tensor &tensor = arg.value.tensor;
      if (tensor.rank > 0 && !tensor.shape)
        return std::nullopt;
      uintptr_t address = addressOf(arg);
      pattern.append({tensor.dtype, static_cast<int64_t>(tensor.rank),
                      address == 0, static_cast<int64_t>(address % mostAligned),
                      tensor.strides != nullptr});
      pattern.append(tensor.shape, tensor.shape + tensor.rank);
      if (tensor.strides)
        pattern.append(tensor.strides, tensor.strides + tensor.rank);
      continue;
    }
    }
    return std::nullopt;
  }
  return pattern;
}

//===----------------------------------------------------------------------===//
// One launch
//===----------------------------------------------------------------------===//

RepeatedLaunch::RepeatedLaunch(std::shared_ptr<const Code> code,
                               gpu::PreparedLaunch prepared,
                               const typed::Kernel &kernel,
                               const BoundLaunch &bound)
    : prepared(std::move(prepared)), code(std::move(code)) {
  for (const typed::Param *param : kernel.params)
    if (const auto *view = std::get_if<TensorView>(&bound.args[param->index]);
        view && !view->isEmpty())
      spans.push_back(
          {param->index, param->access != ast::Access::In, *byteExtent(*view)});
}

bool RepeatedLaunch::accepts(llvm::ArrayRef<tilec_arg> args) const {
  auto begin = [&](const Span &span) {
    return addressOf(args[span.arg]) + static_cast<uintptr_t>(span.bytes.low);
  };
  auto end = [&](const Span &span) {
    return addressOf(args[span.arg]) + static_cast<uintptr_t>(span.bytes.high);
  };
  for (const Span &span : spans) {
    // Not past the end of the address space.
    if (end(span) < begin(span))
      return false;
    for (const Span &other : spans)
      if (span.isWritten && &other != &span && begin(span) < end(other) &&
          begin(other) < end(span))
        return false;
  }
  const gpu::Device &device = prepared.device();
  for (const Span &span : spans) {
    llvm::Expected<gpu::PointerInfo> info =
        device.driver().inspect(args[span.arg].value.tensor.data);
    if (!info) {
      llvm::consumeError(info.takeError());
      return false;
    }
    if (info->kind == gpu::PointerInfo::Kind::Host ||
        (info->kind == gpu::PointerInfo::Kind::Device &&
         info->device != device.ordinal()))
      return false;
  }
  return true;
}

llvm::Error RepeatedLaunch::run(gpu::StreamRef stream,
                                llvm::ArrayRef<tilec_arg> args) const {
  return prepared.run(
      stream, [&](unsigned arg) { return args[arg].value.tensor.data; });
}

//===----------------------------------------------------------------------===//
// All of a kernel
//===----------------------------------------------------------------------===//

std::shared_ptr<const RepeatedLaunch>
RepeatedLaunches::find(const Key &pattern) const {
  std::shared_lock<std::shared_mutex> lock(mutex);
  auto found = launches.find(pattern);
  return found == launches.end() ? nullptr : found->second;
}

void RepeatedLaunches::add(Key pattern,
                           std::shared_ptr<const RepeatedLaunch> launch) {
  // Where extents change all the time, none is worth keeping for long.
  constexpr size_t most = 256;
  std::lock_guard<std::shared_mutex> lock(mutex);
  if (launches.size() >= most)
    launches.clear();
  launches.insert_or_assign(std::move(pattern), std::move(launch));
}

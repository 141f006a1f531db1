//===- RuntimeFunctions.cpp - What compiled kernels call --------*- C++ -*-===//
//
// Called from machine code, possibly from several threads at once.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/RuntimeFunctions.h"
#include "codegen/TileToLinalg/Passes.h"

#include "llvm/ADT/APFloat.h"

#include <atomic>

using llvm::APFloat;

namespace tilec::cpu {
namespace {

/// Adds in f32 to a float of two bytes, atomically.
void atomicAdd(int64_t address, float value,
               const llvm::fltSemantics &semantics) {
  auto *element = reinterpret_cast<uint16_t *>(address);
  std::atomic_ref<uint16_t> atomic(*element);
  uint16_t before = atomic.load(std::memory_order_relaxed);
  uint16_t after;
  do {
    APFloat sum(semantics, llvm::APInt(16, before));
    bool inexact;
    sum.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
    sum = APFloat(sum.convertToFloat() + value);
    sum.convert(semantics, APFloat::rmNearestTiesToEven, &inexact);
    after = uint16_t(sum.bitcastToAPInt().getZExtValue());
  } while (
      !atomic.compare_exchange_weak(before, after, std::memory_order_relaxed));
}

void atomicAddF16(int64_t address, float value) {
  atomicAdd(address, value, APFloat::IEEEhalf());
}

void atomicAddBF16(int64_t address, float value) {
  atomicAdd(address, value, APFloat::BFloat());
}

void reportIndex(const RunContext *ctx, int64_t site, int64_t index,
                 int64_t extent) {
  ctx->reports->recordIndex(ctx->sites[site], index, extent);
}

void reportAssert(const RunContext *ctx, int64_t site) {
  ctx->reports->recordAssert(ctx->sites[site]);
}

void print(const RunContext *ctx, int64_t number, int64_t value,
           int64_t elements, int64_t extents) {
  const Site &site = ctx->sites[number];
  llvm::ArrayRef<int64_t> valid;
  if (extents)
    valid = {reinterpret_cast<const int64_t *>(extents),
             site.values[value].shape.size()};
  ctx->reports->recordPrint(site, value,
                            reinterpret_cast<const char *>(elements), valid);
}

} // namespace

llvm::ArrayRef<RuntimeFunction> runtimeFunctions() {
  static const RuntimeFunction functions[] = {
      {runtime::kReportIndex, reinterpret_cast<void *>(&reportIndex)},
      {runtime::kReportAssert, reinterpret_cast<void *>(&reportAssert)},
      {runtime::kPrint, reinterpret_cast<void *>(&print)},
      {runtime::kAtomicAddF16, reinterpret_cast<void *>(&atomicAddF16)},
      {runtime::kAtomicAddBF16, reinterpret_cast<void *>(&atomicAddBF16)},
  };
  return functions;
}

} // namespace tilec::cpu

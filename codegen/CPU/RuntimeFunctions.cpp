//===- RuntimeFunctions.cpp - What compiled kernels call --------*- C++ -*-===//
//
// Called from machine code, possibly from several threads at once.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/RuntimeFunctions.h"
#include "codegen/TileToLinalg/Passes.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <cstring>

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

/// One element of a type that MLIR calls `type`, read from and past `bytes`.
void printElement(llvm::raw_ostream &os, llvm::StringRef type,
                  const char *&bytes) {
  auto read = [&](auto &value) {
    std::memcpy(&value, bytes, sizeof(value));
    bytes += sizeof(value);
  };
  auto integer = [&](auto value) {
    read(value);
    os << int64_t(value);
  };
  if (type == "i64")
    return integer(int64_t());
  if (type == "i32")
    return integer(int32_t());
  if (type == "i16")
    return integer(int16_t());
  if (type == "i8")
    return integer(int8_t());
  if (type == "i1") {
    os << (*bytes++ ? "true" : "false");
    return;
  }
  const llvm::fltSemantics *semantics =
      llvm::StringSwitch<const llvm::fltSemantics *>(type)
          .Case("f64", &APFloat::IEEEdouble())
          .Case("f16", &APFloat::IEEEhalf())
          .Case("bf16", &APFloat::BFloat())
          .Case("f8E4M3FN", &APFloat::Float8E4M3FN())
          .Case("f8E5M2", &APFloat::Float8E5M2())
          .Default(&APFloat::IEEEsingle());
  unsigned bits = APFloat::getSizeInBits(*semantics);
  uint64_t word = 0;
  std::memcpy(&word, bytes, bits / 8);
  bytes += bits / 8;
  llvm::SmallString<32> digits;
  // The fewest digits that read back as the same number.
  APFloat(*semantics, llvm::APInt(bits, word)).toString(digits, 0, 3);
  os << digits;
}

void printTile(llvm::raw_ostream &os, llvm::StringRef type,
               llvm::ArrayRef<int64_t> shape, const char *&bytes) {
  if (shape.empty())
    return printElement(os, type, bytes);
  os << '[';
  for (int64_t i = 0; i < shape.front(); ++i) {
    if (i)
      os << ", ";
    printTile(os, type, shape.drop_front(), bytes);
  }
  os << ']';
}

void print(const RunContext *ctx, int64_t number, int64_t value,
           int64_t elements) {
  const Site &site = ctx->sites[number];
  std::string line;
  llvm::raw_string_ostream os(line);
  os << site.text;
  if (value >= 0) {
    if (!site.text.empty())
      os << ' ';
    const PrintedValue &printed = site.values[value];
    auto *bytes = reinterpret_cast<const char *>(elements);
    printTile(os, printed.type, printed.shape, bytes);
  }
  ctx->reports->printLine(line);
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

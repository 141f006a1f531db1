//===- RuntimeFunctions.cpp - What compiled kernels call --------*- C++ -*-===//
//
// Called from machine code, possibly from several threads at once.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/RuntimeFunctions.h"
#include "codegen/TileToLinalg/Passes.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
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

/// The fewest digits that read back as the same number of its type.
void printFloat(llvm::raw_ostream &os, const APFloat &number) {
  APFloat exact = number;
  bool inexact;
  exact.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  double value = exact.convertToDouble();
  if (!number.isFinite()) {
    os << (number.isNaN() ? "nan" : number.isNegative() ? "-inf" : "inf");
    return;
  }
  int precision = 0;
  char text[32];
  do
    std::snprintf(text, sizeof(text), "%.*g", ++precision, value);
  while (precision < 17 &&
         !APFloat(number.getSemantics(), text).bitwiseIsEqual(number));
  // Few digits are no reason for an exponent: 20 rather than 2e+01.
  os << llvm::format("%.*g", std::max(precision, 6),
                     std::strtod(text, nullptr));
}

/// One element of a type that MLIR calls `type`.
void printElement(llvm::raw_ostream &os, llvm::StringRef type,
                  const char *bytes) {
  auto integer = [&](auto value) {
    std::memcpy(&value, bytes, sizeof(value));
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
    os << (*bytes ? "true" : "false");
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
  APFloat number(*semantics, llvm::APInt(bits, word));
  printFloat(os, number);
}

/// A tile in memory, of whose elements only some are printed.
struct PrintedTile {
  llvm::StringRef type;
  llvm::ArrayRef<int64_t> shape;   // In memory.
  llvm::ArrayRef<int64_t> extents; // Of what is valid.
  int64_t elementBytes;
  bool isShortened;
};

constexpr int64_t maxElements = 64; // More than that are shortened:
constexpr int64_t maxAlongAxis = 8; // so many along each axis.

/// Prints what begins at `bytes` and extends along the axes from `axis` on.
void printTile(llvm::raw_ostream &os, const PrintedTile &tile, size_t axis,
               const char *bytes) {
  if (axis == tile.shape.size())
    return printElement(os, tile.type, bytes);
  int64_t stride = tile.elementBytes;
  for (int64_t inner : tile.shape.drop_front(axis + 1))
    stride *= inner;
  int64_t extent = tile.extents[axis];
  bool isShortened = tile.isShortened && extent > maxAlongAxis;
  os << '[';
  for (int64_t i = 0; i < extent; ++i) {
    if (i)
      os << ", ";
    if (isShortened && i == maxAlongAxis / 2) {
      os << "..., ";
      i = extent - maxAlongAxis / 2;
    }
    printTile(os, tile, axis + 1, bytes + i * stride);
  }
  os << ']';
}

int64_t bytesOf(llvm::StringRef type) {
  return llvm::StringSwitch<int64_t>(type)
      .Cases({"i64", "f64"}, 8)
      .Cases({"i32", "f32"}, 4)
      .Cases({"i16", "f16", "bf16"}, 2)
      .Default(1);
}

void print(const RunContext *ctx, int64_t number, int64_t value,
           int64_t elements, int64_t extents) {
  const Site &site = ctx->sites[number];
  std::string line;
  llvm::raw_string_ostream os(line);
  os << site.text;
  if (value >= 0) {
    if (!site.text.empty())
      os << ' ';
    const PrintedValue &printed = site.values[value];
    PrintedTile tile;
    tile.type = printed.type;
    tile.shape = tile.extents = printed.shape;
    if (extents)
      tile.extents = {reinterpret_cast<const int64_t *>(extents),
                      printed.shape.size()};
    tile.elementBytes = bytesOf(printed.type);
    int64_t count = 1;
    for (int64_t extent : tile.extents)
      count *= extent;
    tile.isShortened = count > maxElements;
    printTile(os, tile, 0, reinterpret_cast<const char *>(elements));
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

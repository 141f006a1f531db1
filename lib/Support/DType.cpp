//===- DType.cpp - The element types of the language ------------*- C++ -*-===//
//
// One table holds everything known about an element type, so that adding a
// type is adding a row.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/DType.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>
#include <iterator>

using namespace tilec;

namespace {

enum class Kind : uint8_t { Float, Signed, Unsigned, Bool };

struct Row {
  DType dtype;
  llvm::StringLiteral name;
  unsigned bytes;
  Kind kind;
  FloatFormat format; // floats only
};

// Exponent bits, fraction bits, infinity, largest finite value, smallest normal
// value, epsilon.
constexpr FloatFormat f64Format{11,        52,     true, 0x1.fffffffffffffp1023,
                                0x1p-1022, 0x1p-52};
constexpr FloatFormat f32Format{8, 23, true, 0x1.fffffep127, 0x1p-126, 0x1p-23};
constexpr FloatFormat tf32Format{8, 10, true, 0x1.ffcp127, 0x1p-126, 0x1p-10};
constexpr FloatFormat f16Format{5, 10, true, 65504.0, 0x1p-14, 0x1p-10};
constexpr FloatFormat bf16Format{8, 7, true, 0x1.fep127, 0x1p-126, 0x1p-7};
constexpr FloatFormat f8e4m3Format{4, 3, false, 448.0, 0x1p-6, 0x1p-3};
constexpr FloatFormat f8e5m2Format{5, 2, true, 57344.0, 0x1p-14, 0x1p-2};
constexpr FloatFormat noFormat{};

constexpr Row table[] = {
    {DType::F64, "f64", 8, Kind::Float, f64Format},
    {DType::F32, "f32", 4, Kind::Float, f32Format},
    {DType::TF32, "tf32", 4, Kind::Float, tf32Format},
    {DType::F16, "f16", 2, Kind::Float, f16Format},
    {DType::BF16, "bf16", 2, Kind::Float, bf16Format},
    {DType::F8E4M3, "f8e4m3", 1, Kind::Float, f8e4m3Format},
    {DType::F8E5M2, "f8e5m2", 1, Kind::Float, f8e5m2Format},
    {DType::I64, "i64", 8, Kind::Signed, noFormat},
    {DType::I32, "i32", 4, Kind::Signed, noFormat},
    {DType::I16, "i16", 2, Kind::Signed, noFormat},
    {DType::I8, "i8", 1, Kind::Signed, noFormat},
    {DType::U8, "u8", 1, Kind::Unsigned, noFormat},
    {DType::Bool, "bool", 1, Kind::Bool, noFormat},
};

constexpr bool tableInEnumOrder() {
  for (size_t i = 0; i < std::size(table); ++i)
    if (static_cast<size_t>(table[i].dtype) != i)
      return false;
  return true;
}
static_assert(tableInEnumOrder(), "the table is indexed by the enumeration");
static_assert(std::size(table) == static_cast<size_t>(DType::Bool) + 1);

const Row &row(DType dtype) {
  size_t index = static_cast<size_t>(dtype);
  assert(index < std::size(table) && "not a DType");
  return table[index];
}

} // namespace

llvm::ArrayRef<DType> tilec::allDTypes() {
  static constexpr DType all[] = {
      DType::F64,    DType::F32,    DType::TF32, DType::F16, DType::BF16,
      DType::F8E4M3, DType::F8E5M2, DType::I64,  DType::I32, DType::I16,
      DType::I8,     DType::U8,     DType::Bool};
  static_assert(std::size(all) == std::size(table));
  return all;
}

llvm::StringRef tilec::dtypeName(DType dtype) { return row(dtype).name; }

std::optional<DType> tilec::parseDType(llvm::StringRef name) {
  for (const Row &candidate : table)
    if (candidate.name == name)
      return candidate.dtype;
  return std::nullopt;
}

std::string tilec::listDTypes() {
  std::string text;
  for (const Row &entry : table) {
    if (!text.empty())
      text += ", ";
    text += entry.name;
  }
  return text;
}

unsigned tilec::byteSize(DType dtype) { return row(dtype).bytes; }

bool tilec::isFloat(DType dtype) { return row(dtype).kind == Kind::Float; }

bool tilec::isInteger(DType dtype) {
  return row(dtype).kind == Kind::Signed || row(dtype).kind == Kind::Unsigned;
}

bool tilec::isSignedInteger(DType dtype) {
  return row(dtype).kind == Kind::Signed;
}

bool tilec::isNarrowFloat(DType dtype) {
  return isFloat(dtype) && byteSize(dtype) <= 2;
}

bool tilec::isFloat8(DType dtype) {
  return isFloat(dtype) && byteSize(dtype) == 1;
}

const FloatFormat &tilec::floatFormat(DType dtype) {
  assert(isFloat(dtype) && "only floats have a float format");
  return row(dtype).format;
}

IntegerRange tilec::integerRange(DType dtype) {
  assert(!isFloat(dtype) && "a float has no integer range");
  const Row &entry = row(dtype);
  if (entry.kind == Kind::Bool)
    return {0, 1};
  unsigned bits = entry.bytes * 8;
  if (entry.kind == Kind::Unsigned)
    return {0, static_cast<int64_t>((uint64_t(1) << bits) - 1)};
  int64_t max = static_cast<int64_t>((uint64_t(1) << (bits - 1)) - 1);
  return {-max - 1, max};
}

std::string tilec::describe(DType dtype) {
  std::string text;
  llvm::raw_string_ostream os(text);
  unsigned bytes = byteSize(dtype);
  os << dtypeName(dtype) << ": " << bytes << (bytes == 1 ? " byte" : " bytes");
  if (!isFloat(dtype)) {
    IntegerRange range = integerRange(dtype);
    os << ", " << range.min << " to " << range.max;
    return text;
  }
  const FloatFormat &format = floatFormat(dtype);
  os << ", " << format.fractionBits + 1 << " significant bits, |x| <= ";
  // The small formats end at a round number worth printing in full.
  if (format.maxFinite < 1e6)
    os << static_cast<int64_t>(format.maxFinite);
  else
    os << llvm::format("%.6g", format.maxFinite);
  os << (format.hasInfinity ? ", with infinity" : ", no infinity");
  return text;
}

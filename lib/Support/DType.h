//===- DType.h - The element types of the language --------------*- C++ -*-===//
//
// The closed list of element types a tensor or scalar can have, and the facts
// about each that do not depend on a target: its name in the language, how
// many bytes one element takes in memory, and which values it can hold.
//
// Three groups matter to the rest of the compiler:
//
//   * Arithmetic floats: f64 and f32. Arithmetic happens in these types.
//   * Storage floats: f16, bf16, f8e4m3, f8e5m2 (the *narrow* floats, two bytes
//     or one) and tf32. They exist in memory and as operands of `dot`; any
//     other arithmetic on them is f32, and a store rounds to nearest even.
//     tf32 is f32 with its last thirteen significand bits zero, so it occupies
//     four bytes and every tf32 is also a valid f32.
//   * Integers: i64, i32, i16, i8 (two's complement) and u8. `bool` is a group
//     of its own: one byte that is 0 or 1.
//
// The two fp8 formats are those of the OCP 8-bit floating point specification.
// f8e4m3 is the variant often called "fn": it has no infinities, its only NaNs
// are 0x7F and 0xFF, and its largest finite value is 448. f8e5m2 follows
// IEEE 754: infinities, NaNs, and 57344 as the largest finite value.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_SUPPORT_DTYPE_H
#define TILEC_LIB_SUPPORT_DTYPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tilec {

enum class DType : uint8_t {
  F64,
  F32,
  TF32,
  F16,
  BF16,
  F8E4M3,
  F8E5M2,
  I64,
  I32,
  I16,
  I8,
  U8,
  Bool,
};

/// Every element type, in the order of the enumeration, for loops over all of
/// them and for lists in messages.
llvm::ArrayRef<DType> allDTypes();

/// The name in the language: "f64", "f8e4m3", "bool".
llvm::StringRef dtypeName(DType dtype);

/// The inverse of dtypeName; nothing for any other string. Names are matched
/// exactly, as the language is case sensitive.
std::optional<DType> parseDType(llvm::StringRef name);

/// "f64, f32, tf32, ...": all names, for the remedy of a message.
std::string listDTypes();

/// Bytes one element takes in memory: 8, 4, 2 or 1. Never 0.
unsigned byteSize(DType dtype);

/// Any floating point type, storage types included.
bool isFloat(DType dtype);

/// i64, i32, i16, i8 or u8. bool is not an integer.
bool isInteger(DType dtype);

/// An integer that can be negative: every integer but u8.
bool isSignedInteger(DType dtype);

/// f16, bf16, f8e4m3 or f8e5m2: stored in two bytes or one. tf32 is not
/// narrow: its bits are those of an f32.
bool isNarrowFloat(DType dtype);

/// f8e4m3 or f8e5m2.
bool isFloat8(DType dtype);

/// Floats only: the shape of the format. All of them are sign, exponent,
/// fraction from the top bit down, with subnormals.
struct FloatFormat {
  unsigned exponentBits;
  /// Stored fraction bits; the significand has one more, the hidden bit.
  unsigned fractionBits;
  bool hasInfinity;
  double maxFinite;
  /// The smallest positive normal value, 2^(2 - 2^(exponentBits - 1)).
  double minNormal;
  /// The gap between 1 and the next larger value: 2^-fractionBits.
  double epsilon;
};
const FloatFormat &floatFormat(DType dtype);

/// Integers and bool only: the closed range of values.
struct IntegerRange {
  int64_t min;
  int64_t max;
};
IntegerRange integerRange(DType dtype);

/// One line for documentation and messages, such as "f8e4m3: 1 byte, 4
/// significant bits, |x| <= 448, no infinity".
std::string describe(DType dtype);

} // namespace tilec

#endif // TILEC_LIB_SUPPORT_DTYPE_H

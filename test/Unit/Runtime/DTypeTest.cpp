//===- DTypeTest.cpp - Tests of the element types ---------------*- C++ -*-===//
//
// Names round trip, and the table's numbers agree with the C++ types and with
// the fp8 specification.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/DType.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace tilec;

TEST_CASE("every dtype's name parses back to it", "[dtype]") {
  CHECK(allDTypes().size() == 13);
  for (DType dtype : allDTypes())
    CHECK(parseDType(dtypeName(dtype)) == dtype);
  CHECK(parseDType("f8e4m3") == DType::F8E4M3);
  CHECK(parseDType("bool") == DType::Bool);
}

TEST_CASE("other names are not dtypes", "[dtype]") {
  for (const char *name : {"", "F32", "f32 ", "float", "f8", "u16", "f8e4m3fn"})
    CHECK(!parseDType(name));
}

TEST_CASE("dtypes have the sizes of memory", "[dtype]") {
  CHECK(byteSize(DType::F64) == 8);
  CHECK(byteSize(DType::F32) == 4);
  CHECK(byteSize(DType::TF32) == 4);
  CHECK(byteSize(DType::F16) == 2);
  CHECK(byteSize(DType::BF16) == 2);
  CHECK(byteSize(DType::F8E4M3) == 1);
  CHECK(byteSize(DType::F8E5M2) == 1);
  CHECK(byteSize(DType::I64) == 8);
  CHECK(byteSize(DType::I32) == 4);
  CHECK(byteSize(DType::I16) == 2);
  CHECK(byteSize(DType::I8) == 1);
  CHECK(byteSize(DType::U8) == 1);
  CHECK(byteSize(DType::Bool) == 1);
}

TEST_CASE("dtypes fall into groups", "[dtype]") {
  auto count = [](bool (*predicate)(DType)) {
    unsigned count = 0;
    for (DType dtype : allDTypes())
      count += predicate(dtype);
    return count;
  };
  CHECK(count(isFloat) == 7);
  CHECK(count(isInteger) == 5);
  CHECK(count(isSignedInteger) == 4);
  CHECK(count(isNarrowFloat) == 4);
  CHECK(count(isFloat8) == 2);
  CHECK(isFloat(DType::TF32));
  CHECK(!isNarrowFloat(DType::TF32));
  CHECK(!isInteger(DType::Bool));
  CHECK(!isFloat(DType::Bool));
  CHECK(!isSignedInteger(DType::U8));
}

TEST_CASE("float formats agree with C++ and the specifications", "[dtype]") {
  const FloatFormat &f64 = floatFormat(DType::F64);
  CHECK(f64.maxFinite == std::numeric_limits<double>::max());
  CHECK(f64.minNormal == std::numeric_limits<double>::min());
  CHECK(f64.epsilon == std::numeric_limits<double>::epsilon());
  const FloatFormat &f32 = floatFormat(DType::F32);
  CHECK(f32.maxFinite == std::numeric_limits<float>::max());
  CHECK(f32.minNormal == std::numeric_limits<float>::min());
  CHECK(f32.epsilon == std::numeric_limits<float>::epsilon());
  CHECK(floatFormat(DType::F16).maxFinite == 65504);
  CHECK(floatFormat(DType::F8E4M3).maxFinite == 448);
  CHECK(floatFormat(DType::F8E5M2).maxFinite == 57344);
  CHECK(!floatFormat(DType::F8E4M3).hasInfinity);
  CHECK(floatFormat(DType::F8E5M2).hasInfinity);
  // Sign, exponent and fraction fill the element; tf32 has 13 bits to spare.
  for (DType dtype : allDTypes()) {
    if (!isFloat(dtype))
      continue;
    const FloatFormat &format = floatFormat(dtype);
    unsigned unused = dtype == DType::TF32 ? 13 : 0;
    CHECK(1 + format.exponentBits + format.fractionBits + unused ==
          8 * byteSize(dtype));
  }
}

TEST_CASE("integer ranges", "[dtype]") {
  CHECK(integerRange(DType::I64).min == std::numeric_limits<int64_t>::min());
  CHECK(integerRange(DType::I64).max == std::numeric_limits<int64_t>::max());
  CHECK(integerRange(DType::I8).min == -128);
  CHECK(integerRange(DType::I8).max == 127);
  CHECK(integerRange(DType::U8).min == 0);
  CHECK(integerRange(DType::U8).max == 255);
  CHECK(integerRange(DType::Bool).max == 1);
}

TEST_CASE("descriptions name the size and the range", "[dtype]") {
  CHECK(describe(DType::F8E4M3) ==
        "f8e4m3: 1 byte, 4 significant bits, |x| <= 448, no infinity");
  CHECK(describe(DType::I16) == "i16: 2 bytes, -32768 to 32767");
}

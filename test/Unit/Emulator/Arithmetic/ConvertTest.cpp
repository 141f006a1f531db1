//===- ConvertTest.cpp - Conversions against LLVM's -----------------------===//

#include "test/Unit/Emulator/Arithmetic/Numbers.h"
#include "llvm/ADT/APSInt.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace tilec::test;
using namespace tilec::emulator;
using llvm::APFloat;
using llvm::APInt;
using llvm::APSInt;

namespace {

constexpr Type integers[] = {Type::S8,  Type::U8,  Type::S16, Type::U16,
                             Type::S32, Type::U32, Type::S64, Type::U64};
constexpr Type floats[] = {Type::F16, Type::BF16, Type::F32, Type::F64};

uint64_t maskOf(unsigned bits) {
  return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}

} // namespace

TEST_CASE("Floats become integers within their range") {
  for (Type from : floats)
    for (Type to : integers)
      for (Rounding rounding : directions) {
        Numbers numbers(uint64_t(from) * 64 + uint64_t(to));
        unsigned bits = ptx::bitsOf(to);
        for (unsigned i = 0; i < 1500; ++i) {
          uint64_t a = numbers.next(from);
          ConvertMode mode;
          mode.rounding = rounding;
          mode.integerRounding = true;
          uint64_t found = convert(to, from, a, mode);
          APFloat value = toAP(from, a);
          INFO(nameOf(from).str()
               << " to " << nameOf(to).str() << std::hex << " " << a);
          if (value.isNaN()) {
            bool hasTop = from == Type::F64 || bits == 64;
            REQUIRE(found == (hasTop ? uint64_t(1) << (bits - 1) : 0));
            continue;
          }
          // LLVM saturates, too.
          APSInt expected(bits, !ptx::isSigned(to));
          bool isExact;
          value.convertToInteger(expected, modeOf(rounding), &isExact);
          REQUIRE(found == expected.getZExtValue());
        }
      }
}

TEST_CASE("Integers become floats, rounded as asked") {
  for (Type from : integers)
    for (Type to : floats)
      for (Rounding rounding : directions) {
        Numbers numbers(uint64_t(from) * 64 + uint64_t(to));
        unsigned bits = ptx::bitsOf(from);
        for (unsigned i = 0; i < 1500; ++i) {
          // Of all sizes; what is above the type's bits is not looked at.
          uint64_t a = numbers.bits() >> (numbers.bits() % 64);
          if (i % 4 == 0)
            a = ~a;
          if (i < 3)
            a = i == 0 ? 0 : i == 1 ? maskOf(bits) : uint64_t(1) << (bits - 1);
          ConvertMode mode;
          mode.rounding = rounding;
          APFloat expected(semanticsOf(to));
          expected.convertFromAPInt(APInt(bits, a & maskOf(bits)),
                                    ptx::isSigned(from), modeOf(rounding));
          INFO(nameOf(from).str()
               << " to " << nameOf(to).str() << std::hex << " " << a);
          REQUIRE(convert(to, from, a, mode) == bitsOf(expected));
        }
      }
}

TEST_CASE("Floats become other floats, rounded as asked") {
  for (Type from : floats)
    for (Type to : {Type::F16, Type::BF16, Type::F32, Type::F64})
      for (Rounding rounding : directions) {
        if (from == to)
          continue;
        Numbers numbers(uint64_t(from) * 64 + uint64_t(to));
        for (unsigned i = 0; i < 5000; ++i) {
          uint64_t a = numbers.next(from);
          ConvertMode mode;
          mode.rounding = rounding;
          APFloat expected = toAP(from, a);
          bool losesInfo;
          if (expected.isNaN()) {
            REQUIRE(toAP(to, convert(to, from, a, mode)).isNaN());
            continue;
          }
          expected.convert(semanticsOf(to), modeOf(rounding), &losesInfo);
          INFO(nameOf(from).str()
               << " to " << nameOf(to).str() << std::hex << " " << a);
          REQUIRE(convert(to, from, a, mode) == bitsOf(expected));
        }
      }
}

TEST_CASE("Floats are rounded to whole numbers") {
  for (Type type : {Type::F16, Type::F32, Type::F64})
    for (Rounding rounding : directions) {
      Numbers numbers{uint64_t(type)};
      for (unsigned i = 0; i < 5000; ++i) {
        uint64_t a = numbers.next(type);
        APFloat expected = toAP(type, a);
        if (expected.isNaN())
          continue;
        expected.roundToIntegral(modeOf(rounding));
        ConvertMode mode;
        mode.rounding = rounding;
        mode.integerRounding = true;
        INFO(std::hex << a);
        REQUIRE(convert(type, type, a, mode) == bitsOf(expected));
      }
    }
}

TEST_CASE("Integers change their width") {
  auto check = [](Type to, Type from, uint64_t a, bool saturate) {
    ConvertMode mode;
    mode.saturate = saturate;
    return convert(to, from, a, mode);
  };
  CHECK(check(Type::S32, Type::S8, 0x80, false) == 0xffffff80);
  CHECK(check(Type::U32, Type::U8, 0x180, false) == 0x80);
  CHECK(check(Type::U64, Type::S32, 0x80000000, false) == 0xffffffff80000000);
  CHECK(check(Type::S8, Type::S32, 0x12345680, false) == 0x80);
  CHECK(check(Type::S8, Type::S32, 1000, true) == 0x7f);
  CHECK(check(Type::S8, Type::S32, 0xffff0000, true) == 0x80);
  CHECK(check(Type::U8, Type::S32, 0xffffffff, true) == 0);
  CHECK(check(Type::U32, Type::S64, ~uint64_t(0), true) == 0);
  CHECK(check(Type::S64, Type::U64, ~uint64_t(0), true) == INT64_MAX);
}

TEST_CASE("fp8 has every number to nearest, and saturates") {
  for (Type type : {Type::E4M3, Type::E5M2}) {
    Type pair = type == Type::E4M3 ? Type::E4M3x2 : Type::E5M2x2;
    Numbers numbers{uint64_t(type)};
    ConvertMode mode;
    mode.saturateFinite = true;
    for (unsigned i = 0; i < 50000; ++i) {
      uint64_t a = numbers.next(Type::F32), b = numbers.next(Type::F32);
      if (i % 2) // Into the range.
        a = (a & 0x807fffff) | (127 - 20 + (a >> 23) % 40) << 23;
      uint64_t found = convertPair(pair, a, b, mode);
      for (auto [bits, result] :
           {std::pair(a, found >> 8), std::pair(b, found & 0xff)}) {
        APFloat value = toAP(Type::F32, bits);
        INFO(std::hex << bits);
        if (value.isNaN()) {
          REQUIRE(result == 0x7f);
          continue;
        }
        APFloat largest = APFloat::getLargest(semanticsOf(type));
        bool losesInfo;
        APFloat limit = largest;
        limit.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                      &losesInfo);
        APFloat expected = value;
        if (abs(value) > limit) {
          expected = largest;
          expected.copySign(value);
        } else {
          expected.convert(semanticsOf(type), APFloat::rmNearestTiesToEven,
                           &losesInfo);
        }
        REQUIRE(result == bitsOf(expected));
      }
    }
    // And back: every code.
    for (unsigned code = 0; code < 256; ++code) {
      APFloat value = toAP(type, code);
      float found = toFloat(type, code);
      if (value.isNaN()) {
        CHECK(std::isnan(found));
        continue;
      }
      CHECK(found == value.convertToFloat());
      CHECK(std::signbit(found) == value.isNegative());
      bool losesInfo;
      value.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
      uint64_t half = convert(Type::F16x2, pair, code << 8 | code, {});
      CHECK(half == (bitsOf(value) << 16 | bitsOf(value)));
    }
  }
}

TEST_CASE("All f16 and bf16 are floats, and come back") {
  for (Type type : {Type::F16, Type::BF16})
    for (unsigned code = 0; code < 65536; ++code) {
      APFloat value = toAP(type, code);
      float found = toFloat(type, code);
      if (value.isNaN()) {
        REQUIRE(std::isnan(found));
        continue;
      }
      bool losesInfo;
      value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
      REQUIRE(llvm::bit_cast<uint32_t>(found) == bitsOf(value));
      REQUIRE(fromFloat(type, found) == code);
    }
}

TEST_CASE("Floats become f16, bf16 and tf32 to nearest") {
  for (Type type : {Type::F16, Type::BF16, Type::TF32})
    for (Rounding rounding : {Rounding::NearestEven, Rounding::NearestAway}) {
      Numbers numbers{uint64_t(type)};
      for (unsigned i = 0; i < 100000; ++i) {
        uint64_t a = numbers.next(Type::F32);
        if (i % 2) {
          a = (a & 0x807fffff) | (112 - 14 + (a >> 23) % 48) << 23;
          a &= i % 4 == 1 ? ~uint64_t(0xfff) : ~uint64_t(0);
        }
        APFloat value = toAP(Type::F32, a);
        if (value.isNaN())
          continue;
        bool losesInfo;
        value.convert(semanticsOf(type), modeOf(rounding), &losesInfo);
        uint64_t expected = bitsOf(value) << (type == Type::TF32 ? 13 : 0);
        INFO(nameOf(type).str() << std::hex << " " << a);
        REQUIRE(fromFloat(type, llvm::bit_cast<float>(uint32_t(a)), rounding) ==
                expected);
      }
    }
}

TEST_CASE("Packed integers saturate") {
  CHECK(packIntegers(Type::S16, Type::S32, 70000, uint32_t(-70000), 0) ==
        0x7fff8000);
  CHECK(packIntegers(Type::U8, Type::S32, 300, uint32_t(-3), 0x1234) ==
        0x1234ff00);
  CHECK(packIntegers(Type::S4, Type::S32, uint32_t(-100), 5, 0xabcdef12) ==
        0xcdef1285);
}

//===- FloatTest.cpp - Arithmetic against LLVM's --------------------------===//

#include "test/Unit/Emulator/Arithmetic/Numbers.h"
#include <catch2/catch.hpp>

using namespace tilec::test;
using namespace tilec::emulator;
using llvm::APFloat;

namespace {

constexpr Type types[] = {Type::F16, Type::BF16, Type::F32, Type::F64};

/// Results that are NaN are the type's own; f64's have payloads, which the
/// recorded results test.
bool isSame(Type type, uint64_t found, const APFloat &expected) {
  if (!expected.isNaN())
    return found == bitsOf(expected);
  if (type == Type::F64)
    return toAP(type, found).isNaN();
  return found == (type == Type::F32 ? 0x7fffffff : 0x7fff);
}

template <typename Found, typename Expected>
void check(Type type, Rounding rounding, unsigned count, unsigned numOperands,
           Found found, Expected expected) {
  Numbers numbers(uint64_t(type) * 8 + uint64_t(rounding));
  for (unsigned i = 0; i < count; ++i) {
    uint64_t a = numbers.next(type), b = numbers.next(type),
             c = numbers.next(type);
    FloatMode mode;
    mode.rounding = rounding;
    uint64_t result = found(a, b, c, mode);
    APFloat exact = expected(toAP(type, a), toAP(type, b), toAP(type, c));
    if (!isSame(type, result, exact)) {
      INFO(nameOf(type).str() << " " << int(rounding) << std::hex << " " << a
                              << " " << b << " " << (numOperands > 2 ? c : 0));
      CHECK(result == bitsOf(exact));
      return;
    }
  }
  SUCCEED();
}

constexpr unsigned samples = 20000;

} // namespace

TEST_CASE("Sums are rounded as asked") {
  for (Type type : types)
    for (Rounding rounding : directions)
      check(
          type, rounding, samples, 2,
          [&](uint64_t a, uint64_t b, uint64_t, FloatMode mode) {
            return addFloat(type, a, b, mode);
          },
          [&](APFloat a, const APFloat &b, const APFloat &) {
            a.add(b, modeOf(rounding));
            return a;
          });
}

TEST_CASE("Differences are rounded as asked") {
  for (Type type : types)
    for (Rounding rounding : directions)
      check(
          type, rounding, samples, 2,
          [&](uint64_t a, uint64_t b, uint64_t, FloatMode mode) {
            return subFloat(type, a, b, mode);
          },
          [&](APFloat a, const APFloat &b, const APFloat &) {
            a.subtract(b, modeOf(rounding));
            return a;
          });
}

TEST_CASE("Products are rounded as asked") {
  for (Type type : types)
    for (Rounding rounding : directions)
      check(
          type, rounding, samples, 2,
          [&](uint64_t a, uint64_t b, uint64_t, FloatMode mode) {
            return mulFloat(type, a, b, mode);
          },
          [&](APFloat a, const APFloat &b, const APFloat &) {
            a.multiply(b, modeOf(rounding));
            return a;
          });
}

TEST_CASE("Fused sums are rounded once") {
  for (Type type : types)
    for (Rounding rounding : directions)
      check(
          type, rounding, samples, 3,
          [&](uint64_t a, uint64_t b, uint64_t c, FloatMode mode) {
            return fmaFloat(type, a, b, c, mode);
          },
          [&](APFloat a, const APFloat &b, const APFloat &c) {
            a.fusedMultiplyAdd(b, c, modeOf(rounding));
            return a;
          });
}

TEST_CASE("Fused sums that cancel are exact") {
  for (Type type : types)
    for (Rounding rounding : directions) {
      Numbers numbers{uint64_t(type)};
      for (unsigned i = 0; i < samples; ++i) {
        uint64_t a = numbers.next(type), b = numbers.next(type);
        FloatMode mode;
        // c is minus the product, or a place beside it.
        uint64_t c = (mulFloat(type, a, b, mode) ^
                      (uint64_t(1) << (widthOf(type) - 1))) +
                     i % 3 - 1;
        mode.rounding = rounding;
        APFloat exact = toAP(type, a);
        exact.fusedMultiplyAdd(toAP(type, b), toAP(type, c), modeOf(rounding));
        c &= widthOf(type) == 64 ? ~uint64_t(0)
                                 : (uint64_t(1) << widthOf(type)) - 1;
        INFO(nameOf(type).str()
             << std::hex << " " << a << " " << b << " " << c);
        REQUIRE(isSame(type, fmaFloat(type, a, b, c, mode), exact));
      }
    }
}

TEST_CASE("Quotients are rounded as asked") {
  for (Type type : {Type::F32, Type::F64})
    for (Rounding rounding : directions)
      check(
          type, rounding, samples, 2,
          [&](uint64_t a, uint64_t b, uint64_t, FloatMode mode) {
            return divFloat(type, a, b, mode);
          },
          [&](APFloat a, const APFloat &b, const APFloat &) {
            a.divide(b, modeOf(rounding));
            return a;
          });
}

// r is the root rounded towards zero if r * r <= a < next(r) * next(r), which
// an exact product decides.
TEST_CASE("Roots are rounded as asked") {
  auto square = [](APFloat value) {
    bool losesInfo;
    value.convert(APFloat::IEEEquad(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    APFloat::opStatus status = value.multiply(value, APFloat::rmTowardZero);
    REQUIRE(status == APFloat::opOK);
    return value;
  };
  for (Type type : {Type::F32, Type::F64}) {
    Numbers numbers(3);
    for (unsigned i = 0; i < samples; ++i) {
      uint64_t a = numbers.next(type) & ~(uint64_t(1) << (widthOf(type) - 1));
      APFloat value = toAP(type, a);
      if (value.isNaN() || value.isInfinity() || value.isZero())
        continue;
      bool losesInfo;
      value.convert(APFloat::IEEEquad(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
      auto root = [&](Rounding rounding) {
        FloatMode mode;
        mode.rounding = rounding;
        return sqrtFloat(type, a, mode);
      };
      uint64_t down = root(Rounding::Zero);
      INFO(std::hex << a);
      REQUIRE(square(toAP(type, down)) <= value);
      REQUIRE(square(toAP(type, down + 1)) > value);
      REQUIRE(root(Rounding::Down) == down);
      bool isExact = square(toAP(type, down)) == value;
      REQUIRE(root(Rounding::Up) == down + !isExact);
      uint64_t nearest = root(Rounding::NearestEven);
      REQUIRE((nearest == down || nearest == root(Rounding::Up)));
    }
  }
  FloatMode mode;
  for (Rounding rounding : directions) {
    mode.rounding = rounding;
    CHECK(sqrtFloat(Type::F32, 0x80000000, mode) == 0x80000000);
    CHECK(sqrtFloat(Type::F32, 0xbf800000, mode) == 0x7fffffff);
    CHECK(sqrtFloat(Type::F32, 0x7f800000, mode) == 0x7f800000);
    CHECK(sqrtFloat(Type::F32, 0, mode) == 0);
  }
}

TEST_CASE("Packed values are computed apart") {
  Numbers numbers(5);
  for (auto [pair, single] : {std::pair(Type::F16x2, Type::F16),
                              std::pair(Type::BF16x2, Type::BF16)}) {
    for (unsigned i = 0; i < 1000; ++i) {
      uint64_t a[2], b[2], c[2];
      for (unsigned h = 0; h < 2; ++h)
        a[h] = numbers.next(single), b[h] = numbers.next(single),
        c[h] = numbers.next(single);
      auto pack = [](const uint64_t *x) { return x[0] | x[1] << 16; };
      uint64_t found = fmaFloat(pair, pack(a), pack(b), pack(c), {});
      for (unsigned h = 0; h < 2; ++h)
        REQUIRE((found >> (16 * h) & 0xffff) ==
                fmaFloat(single, a[h], b[h], c[h], {}));
      REQUIRE(found >> 32 == 0);
    }
  }
}

TEST_CASE("Subnormal numbers are flushed with their signs") {
  FloatMode flush;
  flush.flush = true;
  // Operands.
  CHECK(addFloat(Type::F32, 0x00000001, 0x3f800000, flush) == 0x3f800000);
  CHECK(addFloat(Type::F32, 0x807fffff, 0x80000000, flush) == 0x80000000);
  CHECK(mulFloat(Type::F32, 0x007fffff, 0x7f000000, flush) == 0);
  CHECK(mulFloat(Type::F32, 0x007fffff, 0x7f000000, {}) != 0);
  // Results: 2^-100 * 2^-30.
  CHECK(mulFloat(Type::F32, 0x0d800000, 0xb0800000, flush) == 0x80000000);
  CHECK(mulFloat(Type::F32, 0x0d800000, 0xb0800000, {}) == 0x80080000);
  // f16 has subnormal numbers unless flushed: 2^-14 * 2^-1.
  CHECK(mulFloat(Type::F16, 0x0400, 0x3800, flush) == 0);
  CHECK(mulFloat(Type::F16, 0x0400, 0x3800, {}) == 0x0200);
}

// 2^-126 is what the product rounds to: of more than 2^-126 - 2^-151, it is the
// result; of less it was subnormal, although it rounds to the same number.
TEST_CASE("What is rounded up to a normal number is flushed by its own size") {
  FloatMode flush;
  flush.flush = true;
  Numbers numbers(9);
  unsigned doubtful = 0;
  for (unsigned i = 0; i < 200000; ++i) {
    uint32_t a = 0x1f800000 | (numbers.bits() & 0x7fffff); // 2^-64.
    double quotient =
        0x1p-126 / double(llvm::bit_cast<float>(a)) * (1 - 0x1p-25);
    uint32_t b = llvm::bit_cast<uint32_t>(float(quotient)) + i % 3 - 1;
    double exact = double(llvm::bit_cast<float>(a)) * llvm::bit_cast<float>(b);
    uint64_t plain = mulFloat(Type::F32, a, b, {});
    uint64_t found = mulFloat(Type::F32, a, b, flush);
    INFO(std::hex << a << " " << b);
    if (exact >= 0x1p-126) {
      REQUIRE(found == plain);
    } else if (exact >= 0x1p-126 - 0x1p-151) {
      REQUIRE(found == 0x00800000);
      ++doubtful;
    } else {
      REQUIRE(found == 0);
    }
  }
  CHECK(doubtful > 100);
}

TEST_CASE("Saturation is to between zero and one") {
  FloatMode saturate;
  saturate.saturate = true;
  CHECK(addFloat(Type::F32, 0x3f800000, 0x3f800000, saturate) == 0x3f800000);
  CHECK(addFloat(Type::F32, 0xbf800000, 0, saturate) == 0);
  CHECK(addFloat(Type::F32, 0x7fc00000, 0, saturate) == 0);
  CHECK(addFloat(Type::F32, 0x3e800000, 0x3e800000, saturate) == 0x3f000000);
  CHECK(addFloat(Type::F16, 0x4000, 0, saturate) == 0x3c00);
  CHECK(addFloat(Type::F16, 0x7e00, 0, saturate) == 0);
  FloatMode relu;
  relu.relu = true;
  CHECK(fmaFloat(Type::BF16, 0xbf80, 0x3f80, 0, relu) == 0);
  CHECK(fmaFloat(Type::BF16, 0x7fc0, 0x3f80, 0, relu) == 0x7fff);
  CHECK(fmaFloat(Type::BF16, 0x3f80, 0x3f80, 0, relu) == 0x3f80);
}

//===- NarrowFloatCodeTest.cpp - Generated float conversions ----*- C++ -*-===//
//
// Every pattern of every narrow float to f32 and f64, and back from every value
// that rounds differently: each narrow number, its neighbors in the wide type,
// the middles between numbers and their neighbors.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"
#include "llvm/ADT/ArrayRef.h"

#include "llvm/ADT/APFloat.h"

#include <catch2/catch.hpp>

using namespace tilec;
using namespace tilec::test;
using llvm::APFloat;

namespace {

struct Format {
  std::string type;
  const llvm::fltSemantics &semantics;
  unsigned bits;
};

llvm::ArrayRef<Format> formats() {
  static const Format table[] = {{"bf16", APFloat::BFloat(), 16},
                                 {"f16", APFloat::IEEEhalf(), 16},
                                 {"f8E4M3FN", APFloat::Float8E4M3FN(), 8},
                                 {"f8E5M2", APFloat::Float8E5M2(), 8}};
  return table;
}

std::string conversion(const std::string &op, const std::string &from,
                       const std::string &to) {
  return fill(R"(
tile.kernel @convert($X, $Y) {
  %N = tile.dim %X, 0 : !tile.view<?x$F>
  scf.forall (%n) = (0) to (%N) step (128) {
    %v = tile.valid %n to %N size 128
    %x = tile.load %X[%n] dims [0] valid [%v] pad zero
        : !tile.view<?x$F> -> tensor<128x$F>
    %y = arith.$OP %x : tensor<128x$F> to tensor<128x$T>
    tile.store %y, %Y[%n] dims [0] valid [%v]
        : tensor<128x$T>, !tile.view<?x$T>
  }
  tile.return
})",
              {{"X", view("X", "?x" + from, "in", 0)},
               {"Y", view("Y", "?x" + to, "out", 0)},
               {"OP", op},
               {"F", from},
               {"T", to}});
}

cpu::CompileOptions optionsFor(const std::string &processor) {
  cpu::CompileOptions options = Kernel::defaultOptions();
  options.cpu = processor;
  return options;
}

double toDouble(const Format &format, uint64_t bits) {
  APFloat number(format.semantics, llvm::APInt(format.bits, bits));
  bool inexact;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return number.convertToDouble();
}

uint64_t fromDouble(const Format &format, double value) {
  APFloat number(value);
  bool inexact;
  number.convert(format.semantics, APFloat::rmNearestTiesToEven, &inexact);
  return number.bitcastToAPInt().getZExtValue();
}

template <typename Bits, typename Wide>
void checkWidening(const Format &format, const std::string &wide,
                   const std::string &processor) {
  Kernel kernel(conversion("extf", format.type, wide), optionsFor(processor));
  int64_t count = 1 << format.bits;
  Tensor<Bits> x({count});
  Tensor<Wide> y({count});
  for (int64_t i = 0; i < count; ++i)
    x[i] = Bits(i);
  kernel.run({x.argument(), y.argument()});
  for (int64_t i = 0; i < count; ++i) {
    double expected = toDouble(format, i);
    INFO(format.type << " bits " << i);
    if (expected != expected)
      REQUIRE(y[i] != y[i]);
    else
      REQUIRE((y[i] == Wide(expected) &&
               std::signbit(y[i]) == std::signbit(expected)));
  }
}

template <typename Bits, typename Wide>
void checkNarrowing(const Format &format, const std::string &wide,
                    const std::string &processor) {
  Kernel kernel(conversion("truncf", wide, format.type), optionsFor(processor));
  std::vector<Wide> inputs = {Wide(NAN),
                              Wide(-NAN),
                              Wide(INFINITY),
                              Wide(-INFINITY),
                              std::numeric_limits<Wide>::max(),
                              -std::numeric_limits<Wide>::max(),
                              std::numeric_limits<Wide>::min(),
                              std::numeric_limits<Wide>::denorm_min(),
                              Wide(1e-30),
                              Wide(1e30)};
  auto addAround = [&](Wide x) {
    inputs.push_back(x);
    inputs.push_back(std::nextafter(x, Wide(INFINITY)));
    inputs.push_back(std::nextafter(x, Wide(-INFINITY)));
  };
  for (int64_t i = 0; i + 1 < (1 << format.bits); ++i) {
    double here = toDouble(format, i), next = toDouble(format, i + 1);
    if (here != here)
      continue;
    addAround(Wide(here));
    if (next == next && !std::isinf(next))
      addAround(Wide((here + next) / 2));
  }
  // Beyond the largest finite number.
  for (double x : {464.0, 463.9, 465.0, 480.0, 61440.0, 61439.0, 65519.0,
                   65520.0, 3.39e38})
    addAround(Wide(x));
  int64_t count = inputs.size();
  Tensor<Wide> x({count});
  std::copy(inputs.begin(), inputs.end(), x.data());
  Tensor<Bits> y({count});
  kernel.run({x.argument(), y.argument()});
  for (int64_t i = 0; i < count; ++i) {
    uint64_t expected = fromDouble(format, double(x[i]));
    INFO(format.type << " from " << wide << " " << double(x[i]));
    double value = toDouble(format, expected);
    if (value != value) {
      double found = toDouble(format, uint64_t(y[i]));
      REQUIRE(found != found);
    } else {
      REQUIRE(uint64_t(y[i]) == expected);
    }
  }
}

} // namespace

TEST_CASE("narrow floats widen exactly", "[cpu]") {
  // The oldest has no instructions for f16.
  std::string processor = GENERATE("", "x86-64");
  for (const Format &format : formats()) {
    if (format.bits == 8) {
      checkWidening<uint8_t, float>(format, "f32", processor);
      checkWidening<uint8_t, double>(format, "f64", processor);
    } else {
      checkWidening<uint16_t, float>(format, "f32", processor);
      checkWidening<uint16_t, double>(format, "f64", processor);
    }
  }
}

TEST_CASE("wide floats round once, to nearest even", "[cpu]") {
  std::string processor = GENERATE("", "x86-64");
  for (const Format &format : formats()) {
    if (format.bits == 8) {
      checkNarrowing<uint8_t, float>(format, "f32", processor);
      checkNarrowing<uint8_t, double>(format, "f64", processor);
    } else {
      checkNarrowing<uint16_t, float>(format, "f32", processor);
      checkNarrowing<uint16_t, double>(format, "f64", processor);
    }
  }
}

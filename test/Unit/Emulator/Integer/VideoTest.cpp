//===- VideoTest.cpp - Instructions on parts of registers -----------------===//

#include "Running.h"
#include <algorithm>

using namespace tilec::test;

/// A part as its type has it.
static int64_t partOf(uint64_t from, unsigned index, unsigned bits,
                      bool isSigned) {
  int64_t span = int64_t(1) << bits;
  int64_t value = int64_t(from >> (index * bits)) & (span - 1);
  return isSigned && value >= span / 2 ? value - span : value;
}

TEST_CASE("vabsdiff4 and its like", "[integer]") {
  struct Operation {
    const char *name;
    int64_t (*compute)(int64_t, int64_t);
  };
  const Operation operations[] = {
      {"vadd", [](int64_t a, int64_t b) { return a + b; }},
      {"vsub", [](int64_t a, int64_t b) { return a - b; }},
      {"vavrg",
       [](int64_t a, int64_t b) {
         int64_t sum = a + b; // Halves away from zero.
         return sum / 2 + (sum % 2);
       }},
      {"vabsdiff", [](int64_t a, int64_t b) { return a > b ? a - b : b - a; }},
      {"vmin", [](int64_t a, int64_t b) { return a < b ? a : b; }},
      {"vmax", [](int64_t a, int64_t b) { return a < b ? b : a; }},
  };
  for (const Operation &operation : operations)
    for (unsigned parts : {2u, 4u})
      for (unsigned form = 0; form < 12; ++form) {
        bool isSigned = form & 1, isSignedB = form & 2;
        bool saturates = form / 4 == 1, accumulates = form / 4 == 2;
        unsigned bits = 32 / parts;
        std::string type = isSigned ? ".s32" : ".u32";
        check(operation.name + std::to_string(parts) + type + type +
                  (isSignedB ? ".s32" : ".u32") + (saturates ? ".sat" : "") +
                  (accumulates ? ".add" : "") + " %d, %a, %b, %c;",
              Type::B32, {Type::B32, Type::B32, Type::B32}, [=](Operands in) {
                uint64_t merged = 0, sum = in[2];
                for (unsigned i = 0; i < parts; ++i) {
                  int64_t value =
                      operation.compute(partOf(in[0], i, bits, isSigned),
                                        partOf(in[1], i, bits, isSignedB));
                  int64_t half = int64_t(1) << (bits - 1);
                  if (saturates && isSigned)
                    value = std::min(std::max(value, -half), half - 1);
                  if (saturates && !isSigned)
                    value = std::min(std::max<int64_t>(value, 0), 2 * half - 1);
                  merged |= (uint64_t(value) & (2 * uint64_t(half) - 1))
                            << (i * bits);
                  sum += uint64_t(value);
                }
                return accumulates ? sum : merged;
              });
      }
}

TEST_CASE("what is not known of them", "[integer]") {
  CHECK(errorOf("vabsdiff4.u64.u32.u32 %r0, %r1, %r2, %r3;")
            .find("not with these types") != std::string::npos);
  CHECK(errorOf("vadd4.u32.u32.u32.foo %r0, %r1, %r2, %r3;")
            .find("'.foo' is not known here") != std::string::npos);
}

//===- IntegerTest.cpp - Integer arithmetic -------------------------------===//

#include "Running.h"
#include "llvm/ADT/APInt.h"

using namespace tilec::test;
using llvm::APInt;

namespace {

/// Types of integer arithmetic, with what they are in C++ words.
struct IntegerType {
  Type type;
  unsigned bits;
  bool isSigned;
  const char *name;
};
constexpr IntegerType types[] = {
    {Type::U16, 16, false, "u16"}, {Type::S16, 16, true, "s16"},
    {Type::U32, 32, false, "u32"}, {Type::S32, 32, true, "s32"},
    {Type::U64, 64, false, "u64"}, {Type::S64, 64, true, "s64"},
};

/// A value as an exact number of 160 bits, so that nothing ever overflows.
APInt exact(uint64_t value, const IntegerType &type) {
  APInt narrow(type.bits, value, false, /*implicitTrunc=*/true);
  return type.isSigned ? narrow.sext(160) : narrow.zext(160);
}
uint64_t low(const APInt &value) { return value.trunc(64).getZExtValue(); }

int64_t extended(uint64_t value, unsigned bits) {
  return int64_t(value << (64 - bits)) >> (64 - bits);
}

} // namespace

TEST_CASE("sums, differences and products wrap", "[integer]") {
  for (const IntegerType &type : types) {
    auto both = [&](auto operation) {
      return [=](Operands in) {
        return low(operation(exact(in[0], type), exact(in[1], type)));
      };
    };
    auto test = [&](const std::string &opcode, auto operation) {
      check(opcode + "." + type.name + " %d, %a, %b;", type.type,
            {type.type, type.type}, both(operation));
    };
    test("add", [](APInt a, APInt b) { return a + b; });
    test("sub", [](APInt a, APInt b) { return a - b; });
    test("mul.lo", [](APInt a, APInt b) { return a * b; });
    test("mul.hi", [&](APInt a, APInt b) { return (a * b).ashr(type.bits); });
    test("min", [](APInt a, APInt b) { return a.slt(b) ? a : b; });
    test("max", [](APInt a, APInt b) { return a.sgt(b) ? a : b; });
  }
}

TEST_CASE("mad and sad", "[integer]") {
  for (const IntegerType &type : types) {
    auto test = [&](const std::string &opcode, auto operation) {
      check(opcode + "." + type.name + " %d, %a, %b, %c;", type.type,
            {type.type, type.type, type.type}, [=](Operands in) {
              return low(operation(exact(in[0], type), exact(in[1], type),
                                   exact(in[2], type)));
            });
    };
    test("mad.lo", [](APInt a, APInt b, APInt c) { return a * b + c; });
    test("mad.hi", [&](APInt a, APInt b, APInt c) {
      return (a * b).ashr(type.bits) + c;
    });
    test("sad", [](APInt a, APInt b, APInt c) {
      return (a.slt(b) ? b - a : a - b) + c;
    });
  }
}

TEST_CASE("wide products have all bits", "[integer]") {
  const std::pair<unsigned, Type> wider[] = {
      {0, Type::U32}, {1, Type::S32}, {2, Type::U64}, {3, Type::S64}};
  for (const auto &[index, result] : wider) {
    const IntegerType &type = types[index];
    check(std::string("mul.wide.") + type.name + " %d, %a, %b;", result,
          {type.type, type.type}, [&](Operands in) {
            return low(exact(in[0], type) * exact(in[1], type));
          });
    IntegerType sum = type;
    sum.bits *= 2;
    check(std::string("mad.wide.") + type.name + " %d, %a, %b, %c;", result,
          {type.type, type.type, result}, [&](Operands in) {
            return low(exact(in[0], type) * exact(in[1], type) +
                       exact(in[2], sum));
          });
  }
}

TEST_CASE("division truncates, and by zero gives all ones", "[integer]") {
  for (const IntegerType &type : types) {
    check(std::string("div.") + type.name + " %d, %a, %b;", type.type,
          {type.type, type.type}, [&](Operands in) {
            APInt a = exact(in[0], type), b = exact(in[1], type);
            return b.isZero() ? ~uint64_t(0) : low(a.sdiv(b));
          });
    check(std::string("rem.") + type.name + " %d, %a, %b;", type.type,
          {type.type, type.type}, [&](Operands in) {
            APInt a = exact(in[0], type), b = exact(in[1], type);
            return b.isZero() ? ~uint64_t(0) : low(a.srem(b));
          });
  }
}

TEST_CASE("abs and neg", "[integer]") {
  for (const IntegerType &type : types) {
    if (!type.isSigned)
      continue;
    check(std::string("abs.") + type.name + " %d, %a;", type.type, {type.type},
          [&](Operands in) { return low(exact(in[0], type).abs()); });
    check(std::string("neg.") + type.name + " %d, %a;", type.type, {type.type},
          [&](Operands in) { return -in[0]; });
  }
}

TEST_CASE("saturation", "[integer]") {
  auto clamped = [](int64_t value) {
    return uint64_t(
        std::min<int64_t>(std::max<int64_t>(value, INT32_MIN), INT32_MAX));
  };
  std::vector<Type> two = {Type::S32, Type::S32};
  check("add.sat.s32 %d, %a, %b;", Type::S32, two, [&](Operands in) {
    return clamped(int64_t(int32_t(in[0])) + int32_t(in[1]));
  });
  check("sub.sat.s32 %d, %a, %b;", Type::S32, two, [&](Operands in) {
    return clamped(int64_t(int32_t(in[0])) - int32_t(in[1]));
  });
  check("mad.hi.sat.s32 %d, %a, %b, %c;", Type::S32,
        {Type::S32, Type::S32, Type::S32}, [&](Operands in) {
          int64_t product = int64_t(int32_t(in[0])) * int32_t(in[1]);
          return clamped((product >> 32) + int32_t(in[2]));
        });
}

TEST_CASE("carries go from one instruction to the next", "[integer]") {
  // Numbers of 128 bits in two halves, and of 64 in two quarters.
  auto wide = [](uint64_t high, uint64_t low) {
    return (unsigned __int128)(high) << 64 | low;
  };
  for (bool isHigh : {false, true}) {
    std::string result = isHigh ? "mov.b64 %d, %x1;" : "mov.b64 %d, %x0;";
    unsigned shift = isHigh ? 64 : 0;
    std::vector<Type> four = {Type::U64, Type::U64, Type::U64, Type::U64};
    std::vector<Operands> inputs;
    for (uint64_t a : valuesOf(Type::U64, 2))
      for (uint64_t b : valuesOf(Type::U64, 2))
        for (uint64_t c : {uint64_t(0), uint64_t(5), ~uint64_t(0)})
          for (uint64_t e : {uint64_t(0), uint64_t(1), ~uint64_t(0)})
            inputs.push_back({a, c, b, e});
    check("add.cc.u64 %x0, %a, %c; addc.u64 %x1, %b, %e;" + result, Type::U64,
          four, inputs, [&](Operands in) {
            return uint64_t((wide(in[1], in[0]) + wide(in[3], in[2])) >> shift);
          });
    check("sub.cc.u64 %x0, %a, %c; subc.u64 %x1, %b, %e;" + result, Type::U64,
          four, inputs, [&](Operands in) {
            return uint64_t((wide(in[1], in[0]) - wide(in[3], in[2])) >> shift);
          });
    check("mad.lo.cc.u64 %x0, %a, %b, %c; madc.hi.u64 %x1, %a, %b, %e;" +
              result,
          Type::U64, four, inputs, [&](Operands in) {
            return uint64_t(
                ((unsigned __int128)(in[0]) * in[1] + wide(in[3], in[2])) >>
                shift);
          });
  }
  // Three words: the middle one takes a carry and gives one.
  check("{ .reg .b32 l, m, h, x, y;\n"
        "mov.b64 {l, m}, %a; mov.b64 {x, y}, %b;\n"
        "add.cc.u32 l, l, x; addc.cc.u32 m, m, y; addc.u32 h, 0, 0;\n"
        "mov.u32 %d, h; }",
        Type::U32, {Type::U64, Type::U64},
        [](Operands in) { return in[0] + in[1] < in[0] ? 1 : 0; });
  check("{ .reg .b32 l, m, h, x, y;\n"
        "mov.b64 {l, m}, %a; mov.b64 {x, y}, %b;\n"
        "sub.cc.u32 l, l, x; subc.cc.s32 m, m, y; subc.u32 h, 0, 0;\n"
        "mov.u32 %d, h; }",
        Type::U32, {Type::U64, Type::U64},
        [](Operands in) { return in[0] < in[1] ? ~uint64_t(0) : 0; });
  // A signed upper half of a product, with a carry in and out.
  check("{ .reg .b32 h; add.cc.u32 h, %a, %b;\n"
        "madc.hi.cc.s32 h, %a, %b, %c; addc.u32 %d, 0, 0; }",
        Type::U32, {Type::U32, Type::U32, Type::U32}, [](Operands in) {
          int64_t product = int64_t(int32_t(in[0])) * int32_t(in[1]);
          uint64_t sum = uint32_t(product >> 32) + in[2] +
                         (in[0] + in[1] > UINT32_MAX ? 1 : 0);
          return sum >> 32;
        });
}

TEST_CASE("24 bits", "[integer]") {
  for (bool isSigned : {false, true}) {
    Type type = isSigned ? Type::S32 : Type::U32;
    std::string name = isSigned ? "s32" : "u32";
    auto narrow = [=](uint64_t value) {
      value &= 0xffffff;
      return isSigned ? extended(value, 24) : int64_t(value);
    };
    check("mul24.lo." + name + " %d, %a, %b;", type, {type, type},
          [=](Operands in) { return narrow(in[0]) * narrow(in[1]); });
    check("mul24.hi." + name + " %d, %a, %b;", type, {type, type},
          [=](Operands in) { return (narrow(in[0]) * narrow(in[1])) >> 16; });
    check("mad24.lo." + name + " %d, %a, %b, %c;", type, {type, type, type},
          [=](Operands in) { return narrow(in[0]) * narrow(in[1]) + in[2]; });
    check("mad24.hi." + name + " %d, %a, %b, %c;", type, {type, type, type},
          [=](Operands in) {
            return ((narrow(in[0]) * narrow(in[1])) >> 16) + in[2];
          });
  }
}

TEST_CASE("pairs of 16 bits", "[integer]") {
  auto halves = [](auto operation) {
    return [=](Operands in) {
      auto lower = uint16_t(operation(uint16_t(in[0]), uint16_t(in[1])));
      auto upper =
          uint16_t(operation(uint16_t(in[0] >> 16), uint16_t(in[1] >> 16)));
      return uint64_t(upper) << 16 | lower;
    };
  };
  std::vector<Operands> inputs = combinations({Type::B32, Type::B32});
  for (uint64_t a : valuesOf(Type::U16))
    for (uint64_t b : valuesOf(Type::U16))
      inputs.push_back({a << 16 | b, b << 16 | a});
  auto test = [&](const std::string &opcode, auto operation) {
    check(opcode + " %d, %a, %b;", Type::B32, {Type::B32, Type::B32}, inputs,
          halves(operation));
  };
  using U = uint16_t;
  test("add.u16x2", [](U a, U b) { return a + b; });
  test("add.s16x2", [](U a, U b) { return a + b; });
  test("sub.s16x2", [](U a, U b) { return a - b; });
  test("min.u16x2", [](U a, U b) { return std::min(a, b); });
  test("max.u16x2", [](U a, U b) { return std::max(a, b); });
  test("min.s16x2", [](int16_t a, int16_t b) { return std::min(a, b); });
  test("max.s16x2", [](int16_t a, int16_t b) { return std::max(a, b); });
  test("min.relu.s16x2",
       [](int16_t a, int16_t b) { return std::max(0, int(std::min(a, b))); });
  test("max.relu.s16x2",
       [](int16_t a, int16_t b) { return std::max(0, int(std::max(a, b))); });
  check("min.relu.s32 %d, %a, %b;", Type::S32, {Type::S32, Type::S32},
        [](Operands in) {
          return std::max(0, std::min(int32_t(in[0]), int32_t(in[1])));
        });
  check("max.relu.s32 %d, %a, %b;", Type::S32, {Type::S32, Type::S32},
        [](Operands in) {
          return std::max({0, int32_t(in[0]), int32_t(in[1])});
        });
}

TEST_CASE("dot products of bytes", "[integer]") {
  auto byte = [](uint64_t value, unsigned index, bool isSigned) {
    value = value >> (8 * index) & 0xff;
    return isSigned ? extended(value, 8) : int64_t(value);
  };
  auto half = [](uint64_t value, unsigned index, bool isSigned) {
    value = value >> (16 * index) & 0xffff;
    return isSigned ? extended(value, 16) : int64_t(value);
  };
  for (bool isA : {false, true})
    for (bool isB : {false, true}) {
      std::string suffix = std::string(isA ? ".s32" : ".u32") +
                           (isB ? ".s32" : ".u32") + " %d, %a, %b, %c;";
      std::vector<Type> three = {Type::B32, Type::B32, Type::B32};
      check("dp4a" + suffix, Type::B32, three, [=](Operands in) {
        auto sum = int64_t(in[2]);
        for (unsigned i = 0; i != 4; ++i)
          sum += byte(in[0], i, isA) * byte(in[1], i, isB);
        return uint64_t(sum);
      });
      for (bool isHigh : {false, true})
        check(std::string("dp2a.") + (isHigh ? "hi" : "lo") + suffix, Type::B32,
              three, [=](Operands in) {
                auto sum = int64_t(in[2]);
                for (unsigned i = 0; i != 2; ++i)
                  sum += half(in[0], i, isA) *
                         byte(in[1], i + (isHigh ? 2 : 0), isB);
                return uint64_t(sum);
              });
    }
}

TEST_CASE("lanes that do not execute keep their values", "[integer]") {
  check("mov.u32 %d, 77; setp.lt.u32 %p0, %a, %b;\n"
        "@%p0 add.u32 %d, %a, %b;\n@!%p0 sub.u32 %d, %a, %b;",
        Type::U32, {Type::U32, Type::U32}, [](Operands in) {
          return in[0] < in[1] ? in[0] + in[1] : in[0] - in[1];
        });
  check("mov.u32 %d, 77; setp.lt.u32 %p0, %a, 32;\n"
        "@%p0 mul.lo.u32 %d, %d, %a;",
        Type::U32, {Type::U32},
        [](Operands in) { return in[0] < 32 ? 77 * in[0] : 77; });
  // A result that is an operand too.
  check("mov.u32 %d, %a; add.u32 %d, %d, %d; sub.u32 %d, %b, %d;", Type::U32,
        {Type::U32, Type::U32}, [](Operands in) { return in[1] - 2 * in[0]; });
}

TEST_CASE("integer instructions that do not exist", "[integer]") {
  CHECK(errorOf("add.sat.u32 %r0, %r1, %r2;") ==
        "t.ptx:3: unsupported instruction 'add.sat.u32': not with this type");
  CHECK(errorOf("add.u32.rn %r0, %r1, %r2;") ==
        "t.ptx:3: unsupported instruction 'add.u32.rn': '.rn' is not known "
        "here");
  CHECK(errorOf("mul.u32 %r0, %r1, %r2;") ==
        "t.ptx:3: malformed instruction 'mul.u32': without .lo, .hi or .wide");
  CHECK(errorOf("mul.wide.u64 %x0, %x1, %x2;") ==
        "t.ptx:3: unsupported instruction 'mul.wide.u64': not with this type");
  CHECK(errorOf("add.u32 %r0, %r1;") ==
        "t.ptx:3: malformed instruction 'add.u32': 2 operands instead of 3");
  CHECK(errorOf("add.u32 %r0, %r1, %x2;") ==
        "t.ptx:3: malformed instruction 'add.u32': operand 3 is a .b64 instead "
        "of a .u32");
  CHECK(errorOf("add.u32 %x0, %r1, %r2;") ==
        "t.ptx:3: malformed instruction 'add.u32': operand 1 is a .b64 instead "
        "of a .u32");
  CHECK(errorOf("add.u32 5, %r1, %r2;") ==
        "t.ptx:3: malformed instruction 'add.u32': a result that is not a "
        "register");
  CHECK(errorOf("add.u32 %r0, 0f3F800000, %r2;") ==
        "t.ptx:3: malformed instruction 'add.u32': an operand of type .u32 is "
        "a number of another type");
  CHECK(errorOf("add.u32 %r0, _, %r2;") ==
        "t.ptx:3: malformed instruction 'add.u32': an operand that is not a "
        "value");
  CHECK(errorOf("add.u32 _, %r1, %r2;") == "no error");
  CHECK(errorOf("abs.u32 %r0, %r1;") ==
        "t.ptx:3: unsupported instruction 'abs.u32': not with this type");
  CHECK(errorOf("addc.u16 %h0, %h1, %h2;") ==
        "t.ptx:3: unsupported instruction 'addc.u16': not with this type");
  CHECK(errorOf("add %r0, %r1, %r2;") ==
        "t.ptx:3: unsupported instruction 'add': not with this type");
}

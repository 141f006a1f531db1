//===- ComparisonTest.cpp - setp and set ----------------------------------===//

#include "Running.h"
#include <cmath>
#include <cstring>

using namespace tilec::test;

namespace {

enum class Order { Less, Equal, Greater, Unordered };

/// What a relation says of two values that stand in this order.
bool holds(const std::string &relation, Order order) {
  bool less = order == Order::Less, equal = order == Order::Equal,
       greater = order == Order::Greater, nan = order == Order::Unordered;
  if (relation == "eq")
    return equal;
  if (relation == "ne")
    return less || greater;
  if (relation == "lt" || relation == "lo")
    return less;
  if (relation == "le" || relation == "ls")
    return less || equal;
  if (relation == "gt" || relation == "hi")
    return greater;
  if (relation == "ge" || relation == "hs")
    return greater || equal;
  if (relation == "equ")
    return equal || nan;
  if (relation == "neu")
    return less || greater || nan;
  if (relation == "ltu")
    return less || nan;
  if (relation == "leu")
    return less || equal || nan;
  if (relation == "gtu")
    return greater || nan;
  if (relation == "geu")
    return greater || equal || nan;
  if (relation == "num")
    return !nan;
  REQUIRE(relation == "nan");
  return nan;
}

template <typename T> Order orderOf(T a, T b) {
  if (a < b)
    return Order::Less;
  if (a > b)
    return Order::Greater;
  return a == b ? Order::Equal : Order::Unordered;
}

constexpr const char *floatRelations[] = {"eq",  "ne",  "lt",  "le",  "gt",
                                          "ge",  "equ", "neu", "ltu", "leu",
                                          "gtu", "geu", "num", "nan"};

/// Numbers, infinities, subnormals, zeros and NaNs.
constexpr double floats[] = {0.0,     -0.0,     1.0,       -1.0,   1.5,
                             2.0,     -2.0,     1e-40,     -1e-40, 3e-41,
                             65504.0, INFINITY, -INFINITY, NAN};

uint64_t bitsOfFloat(double value) {
  auto narrow = float(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, 4);
  return bits;
}
float floatOf(uint64_t bits) {
  auto word = uint32_t(bits);
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}
uint64_t bitsOfDouble(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}

/// Some halves, with their values; and the same of bfloat16.
constexpr std::pair<uint64_t, double> halves[] = {
    {0x0000, 0.0}, {0x8000, -0.0},    {0x3c00, 1.0},      {0xbc00, -1.0},
    {0x3e00, 1.5}, {0x7bff, 65504.0}, {0x7c00, INFINITY}, {0xfc00, -INFINITY},
    {0x7e00, NAN}, {0x0001, 0x1p-24}};
constexpr std::pair<uint64_t, double> brains[] = {
    {0x0000, 0.0}, {0x8000, -0.0},     {0x3f80, 1.0},       {0xbf80, -1.0},
    {0x3fc0, 1.5}, {0x7f80, INFINITY}, {0xff80, -INFINITY}, {0x7fc0, NAN},
    {0xffff, NAN}, {0x0001, 0x1p-133}};

} // namespace

TEST_CASE("comparisons of integers", "[comparison]") {
  struct Integer {
    Type type;
    unsigned bits;
    bool isSigned;
    std::vector<std::string> relations;
  };
  std::vector<std::string> bits = {"eq", "ne"};
  std::vector<std::string> sign = {"eq", "ne", "lt", "le", "gt", "ge"};
  std::vector<std::string> none = sign;
  none.insert(none.end(), {"lo", "ls", "hi", "hs"});
  const Integer integers[] = {
      {Type::B16, 16, false, bits}, {Type::B32, 32, false, bits},
      {Type::B64, 64, false, bits}, {Type::U16, 16, false, none},
      {Type::U32, 32, false, none}, {Type::U64, 64, false, none},
      {Type::S16, 16, true, sign},  {Type::S32, 32, true, sign},
      {Type::S64, 64, true, sign}};
  for (const Integer &integer : integers)
    for (const std::string &relation : integer.relations)
      check("setp." + relation + "." +
                tilec::emulator::ptx::nameOf(integer.type).str() +
                " %d, %a, %b;",
            Type::Pred, {integer.type, integer.type}, [&](Operands in) {
              unsigned shift = 64 - integer.bits;
              Order order = integer.isSigned ? orderOf(int64_t(in[0] << shift),
                                                       int64_t(in[1] << shift))
                                             : orderOf(in[0], in[1]);
              return holds(relation, order);
            });
}

TEST_CASE("comparisons of floats", "[comparison]") {
  std::vector<Operands> singles, doubles;
  for (double a : floats)
    for (double b : floats) {
      singles.push_back({bitsOfFloat(a), bitsOfFloat(b)});
      doubles.push_back({bitsOfDouble(a), bitsOfDouble(b)});
    }
  auto flushed = [](float value) {
    return std::abs(value) < 0x1p-126f ? 0.0f : value;
  };
  for (std::string relation : floatRelations) {
    check("setp." + relation + ".f32 %d, %a, %b;", Type::Pred,
          {Type::F32, Type::F32}, singles, [&](Operands in) {
            return holds(relation, orderOf(floatOf(in[0]), floatOf(in[1])));
          });
    check("setp." + relation + ".ftz.f32 %d, %a, %b;", Type::Pred,
          {Type::F32, Type::F32}, singles, [&](Operands in) {
            return holds(relation, orderOf(flushed(floatOf(in[0])),
                                           flushed(floatOf(in[1]))));
          });
    check("setp." + relation + ".f64 %d, %a, %b;", Type::Pred,
          {Type::F64, Type::F64}, doubles, [&](Operands in) {
            double a, b;
            std::memcpy(&a, &in[0], 8);
            std::memcpy(&b, &in[1], 8);
            return holds(relation, orderOf(a, b));
          });
  }
}

TEST_CASE("comparisons of halves", "[comparison]") {
  for (bool isBrain : {false, true}) {
    const auto &list = isBrain ? brains : halves;
    std::string type = isBrain ? "bf16" : "f16";
    auto valueOf = [&](uint64_t bits) {
      for (const auto &[known, value] : list)
        if (known == bits)
          return value;
      FAIL("not one of those that are compared");
      return 0.0;
    };
    std::vector<Operands> singles, pairs;
    for (const auto &[a, _] : list)
      for (const auto &[b, _] : list) {
        singles.push_back({a, b});
        pairs.push_back({a | b << 16,
                         b | 0x3f800000u * isBrain | 0x3c000000u * !isBrain,
                         a & 1});
      }
    for (std::string relation : floatRelations) {
      auto expected = [&](uint64_t a, uint64_t b) {
        return holds(relation,
                     orderOf(valueOf(a & 0xffff), valueOf(b & 0xffff)));
      };
      check("setp." + relation + "." + type + " %d, %a, %b;", Type::Pred,
            {Type::B16, Type::B16}, singles,
            [&](Operands in) { return expected(in[0], in[1]); });
      check("setp." + relation + "." + type + "x2 %d|%p0, %a, %b;", Type::Pred,
            {Type::B32, Type::B32}, pairs,
            [&](Operands in) { return expected(in[0], in[1]); });
      check("setp." + relation + ".or." + type + "x2 %p0|%d, %a, %b, %c;",
            Type::Pred, {Type::B32, Type::B32, Type::Pred}, pairs,
            [&](Operands in) {
              return expected(in[0] >> 16, in[1] >> 16) || in[2];
            });
      check("set." + relation + ".u32." + type + "x2 %d, %a, %b;", Type::B32,
            {Type::B32, Type::B32}, pairs, [&](Operands in) {
              return (expected(in[0], in[1]) ? 0xffffu : 0) |
                     (expected(in[0] >> 16, in[1] >> 16) ? 0xffff0000u : 0);
            });
      uint64_t one = isBrain ? 0x3f80 : 0x3c00;
      check("set." + relation + "." + type + "x2." + type + "x2 %d, %a, %b;",
            Type::B32, {Type::B32, Type::B32}, pairs, [&](Operands in) {
              return expected(in[0], in[1]) * one |
                     (expected(in[0] >> 16, in[1] >> 16) * one << 16);
            });
      check("set." + relation + "." + type + "." + type + " %d, %a, %b;",
            Type::B16, {Type::B16, Type::B16}, singles,
            [&](Operands in) { return expected(in[0], in[1]) * one; });
    }
  }
  // Subnormals are zeros for .ftz.
  check("setp.gt.ftz.f16 %d, %a, 0x0000;", Type::Pred, {Type::B16},
        {{0x0001}, {0x03ff}, {0x0400}, {0x8001}},
        [](Operands in) { return in[0] == 0x0400; });
}

TEST_CASE("comparisons are combined with a predicate", "[comparison]") {
  struct Operation {
    const char *name;
    bool (*combine)(bool, bool);
  };
  const Operation operations[] = {
      {"and", [](bool a, bool b) { return a && b; }},
      {"or", [](bool a, bool b) { return a || b; }},
      {"xor", [](bool a, bool b) { return a != b; }},
  };
  std::vector<Type> types = {Type::S32, Type::S32, Type::Pred};
  auto isLess = [](Operands in) { return int32_t(in[0]) < int32_t(in[1]); };
  for (const Operation &operation : operations)
    for (bool isNegated : {false, true}) {
      auto other = [=](Operands in) { return bool(in[2]) != isNegated; };
      std::string opcode = std::string("setp.lt.") + operation.name + ".s32 ";
      std::string values =
          std::string(", %a, %b, ") + (isNegated ? "!" : "") + "%c;";
      check(opcode + "%d" + values, Type::Pred, types, [&](Operands in) {
        return operation.combine(isLess(in), other(in));
      });
      check(opcode + "%d|%p1" + values, Type::Pred, types, [&](Operands in) {
        return operation.combine(isLess(in), other(in));
      });
      check(opcode + "%p1|%d" + values, Type::Pred, types, [&](Operands in) {
        return operation.combine(!isLess(in), other(in));
      });
      // The first result is the predicate that both are combined with.
      check(opcode + "%c|%p1" + values + " mov.pred %d, %p1;", Type::Pred,
            types, [&](Operands in) {
              return operation.combine(!isLess(in), other(in));
            });
      check(std::string("set.lt.") + operation.name + ".u32.s32 %d" + values,
            Type::U32, types, [&](Operands in) {
              return operation.combine(isLess(in), other(in)) ? ~0ull : 0;
            });
    }
  check("setp.lt.s32 %p1|%d, %a, %b;", Type::Pred, {Type::S32, Type::S32},
        [&](Operands in) { return !isLess(in); });
  check("setp.lt.s32 _|%d, %a, %b;", Type::Pred, {Type::S32, Type::S32},
        [&](Operands in) { return !isLess(in); });
}

TEST_CASE("set gives numbers", "[comparison]") {
  auto isLess = [](Operands in) { return in[0] < in[1]; };
  std::vector<Type> two = {Type::U32, Type::U32};
  check("set.lt.s32.u32 %d, %a, %b;", Type::S32, two,
        [&](Operands in) { return isLess(in) ? 0xffffffff : 0; });
  check("set.lt.f32.u32 %d, %a, %b;", Type::F32, two,
        [&](Operands in) { return isLess(in) ? 0x3f800000 : 0; });
  check("set.lt.u32.f32 %d, 0f3F800000, %a;", Type::U32, {Type::F32},
        {{bitsOfFloat(2)}, {bitsOfFloat(1)}, {bitsOfFloat(NAN)}},
        [](Operands in) { return floatOf(in[0]) > 1 ? 0xffffffff : 0; });
  check("set.eq.u16.f16 %d, %a, %b;", Type::U16, {Type::B16, Type::B16},
        {{0x3c00, 0x3c00}, {0x3c00, 0x3c01}, {0x8000, 0}, {0x7e00, 0x7e00}},
        [](Operands in) {
          bool isEqual = in[0] == in[1] || (in[0] == 0x8000 && in[1] == 0);
          return isEqual && in[0] != 0x7e00 ? 0xffff : 0;
        });
}

TEST_CASE("comparisons that do not exist", "[comparison]") {
  std::string reason = ": not with this relation and type";
  CHECK(errorOf("setp.lo.s32 %p0, %r1, %r2;") ==
        "t.ptx:3: unsupported instruction 'setp.lo.s32'" + reason);
  CHECK(errorOf("setp.lt.b32 %p0, %r1, %r2;") ==
        "t.ptx:3: unsupported instruction 'setp.lt.b32'" + reason);
  CHECK(errorOf("setp.equ.u32 %p0, %r1, %r2;") ==
        "t.ptx:3: unsupported instruction 'setp.equ.u32'" + reason);
  CHECK(errorOf("setp.lt.ftz.u32 %p0, %r1, %r2;") ==
        "t.ptx:3: unsupported instruction 'setp.lt.ftz.u32'" + reason);
  CHECK(errorOf("setp %p0, %r1, %r2;") ==
        "t.ptx:3: unsupported instruction 'setp'" + reason);
  CHECK(errorOf("setp.lt.s32 %p0, %r1, %r2, %p1;") ==
        "t.ptx:3: malformed instruction 'setp.lt.s32': the wrong number of "
        "operands");
  CHECK(errorOf("setp.lt.and.s32 %p0, %r1, %r2;") ==
        "t.ptx:3: malformed instruction 'setp.lt.and.s32': the wrong number of "
        "operands");
  CHECK(errorOf("setp.lt.and.s32 %p0, %r1, %r2, %r3;") ==
        "t.ptx:3: malformed instruction 'setp.lt.and.s32': operand 4 is a .b32 "
        "instead of a .pred");
  CHECK(errorOf("setp.lt.s32 %r0, %r1, %r2;") ==
        "t.ptx:3: malformed instruction 'setp.lt.s32': operand 1 is a .b32 "
        "instead of a .pred");
  CHECK(errorOf("set.lt.u64.s32 %x0, %r1, %r2;") ==
        "t.ptx:3: unsupported instruction 'set.lt.u64.s32': not with these "
        "types");
  CHECK(errorOf("set.lt.f16.f16x2 %h0, %r1, %r2;") ==
        "t.ptx:3: unsupported instruction 'set.lt.f16.f16x2': not with these "
        "types");
}

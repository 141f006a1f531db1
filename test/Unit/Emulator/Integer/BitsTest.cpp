//===- BitsTest.cpp - Shifts, logic, fields of bits -----------------------===//
//
// What is expected is worked out bit by bit, as the definitions of PTX are
// written, and not with the shifts of C++.
//
//===----------------------------------------------------------------------===//

#include "Running.h"

using namespace tilec::test;

namespace {

struct Width {
  unsigned bits;
  Type b, u, s;
};
const Width widths[] = {{16, Type::B16, Type::U16, Type::S16},
                        {32, Type::B32, Type::U32, Type::S32},
                        {64, Type::B64, Type::U64, Type::S64}};

bool bit(uint64_t value, unsigned i) { return value >> i & 1; }

std::string number(const Width &width) { return std::to_string(width.bits); }

} // namespace

TEST_CASE("logic", "[bits]") {
  for (const Width &width : widths) {
    auto test = [&](const std::string &opcode, auto operation) {
      check(opcode + ".b" + number(width) + " %d, %a, %b;", width.b,
            {width.b, width.b},
            [=](Operands in) { return operation(in[0], in[1]); });
    };
    test("and", [](uint64_t a, uint64_t b) { return a & b; });
    test("or", [](uint64_t a, uint64_t b) { return a | b; });
    test("xor", [](uint64_t a, uint64_t b) { return a ^ b; });
    check("not.b" + number(width) + " %d, %a;", width.b, {width.b},
          [](Operands in) { return ~in[0]; });
    check("cnot.b" + number(width) + " %d, %a;", width.b, {width.b},
          [](Operands in) { return uint64_t(in[0] == 0); });
  }
  auto test = [&](const std::string &opcode, auto operation) {
    check(opcode + ".pred %d, %a, %b;", Type::Pred, {Type::Pred, Type::Pred},
          [=](Operands in) { return uint64_t(operation(in[0], in[1])); });
  };
  test("and", [](bool a, bool b) { return a && b; });
  test("or", [](bool a, bool b) { return a || b; });
  test("xor", [](bool a, bool b) { return a != b; });
  check("not.pred %d, %a;", Type::Pred, {Type::Pred},
        [](Operands in) { return uint64_t(!in[0]); });
}

TEST_CASE("shifts clamp their amounts", "[bits]") {
  for (const Width &width : widths) {
    unsigned bits = width.bits;
    auto left = [=](Operands in) {
      uint64_t result = 0;
      for (unsigned i = 0; i != bits; ++i)
        if (i >= in[1] && bit(in[0], i - unsigned(in[1])))
          result |= uint64_t(1) << i;
      return result;
    };
    auto right = [=](bool isSigned) {
      return [=](Operands in) {
        uint64_t result = 0;
        for (unsigned i = 0; i != bits; ++i) {
          uint64_t source = i + in[1];
          bool value = source < bits ? bit(in[0], unsigned(source))
                                     : isSigned && bit(in[0], bits - 1);
          result |= uint64_t(value) << i;
        }
        return result;
      };
    };
    check("shl.b" + number(width) + " %d, %a, %b;", width.b,
          {width.b, Type::U32}, left);
    check("shr.u" + number(width) + " %d, %a, %b;", width.u,
          {width.u, Type::U32}, right(false));
    check("shr.b" + number(width) + " %d, %a, %b;", width.b,
          {width.b, Type::U32}, right(false));
    check("shr.s" + number(width) + " %d, %a, %b;", width.s,
          {width.s, Type::U32}, right(true));
  }
}

TEST_CASE("funnel shifts", "[bits]") {
  for (bool isLeft : {false, true})
    for (bool wraps : {false, true})
      check(std::string("shf.") + (isLeft ? "l." : "r.") +
                (wraps ? "wrap" : "clamp") + ".b32 %d, %a, %b, %c;",
            Type::B32, {Type::B32, Type::B32, Type::U32}, [=](Operands in) {
              uint64_t amount =
                  wraps ? in[2] % 32 : std::min<uint64_t>(in[2], 32);
              uint64_t both = in[1] << 32 | in[0];
              for (uint64_t i = 0; i != amount; ++i)
                both = isLeft ? both << 1 : both >> 1;
              return isLeft ? both >> 32 : both;
            });
}

TEST_CASE("counting and finding bits", "[bits]") {
  for (const Width &width : llvm::ArrayRef(widths).drop_front()) {
    unsigned bits = width.bits;
    check("popc.b" + number(width) + " %d, %a;", Type::U32, {width.b},
          [=](Operands in) {
            uint64_t count = 0;
            for (unsigned i = 0; i != bits; ++i)
              count += bit(in[0], i);
            return count;
          });
    check("clz.b" + number(width) + " %d, %a;", Type::U32, {width.b},
          [=](Operands in) {
            unsigned count = 0;
            while (count != bits && !bit(in[0], bits - 1 - count))
              ++count;
            return uint64_t(count);
          });
    check("brev.b" + number(width) + " %d, %a;", width.b, {width.b},
          [=](Operands in) {
            uint64_t result = 0;
            for (unsigned i = 0; i != bits; ++i)
              result |= uint64_t(bit(in[0], i)) << (bits - 1 - i);
            return result;
          });
    for (bool isSigned : {false, true})
      for (bool isShift : {false, true})
        check(std::string("bfind") + (isShift ? ".shiftamt" : "") +
                  (isSigned ? ".s" : ".u") + number(width) + " %d, %a;",
              Type::U32, {isSigned ? width.s : width.u}, [=](Operands in) {
                bool sign = isSigned && bit(in[0], bits - 1);
                for (unsigned i = bits; i-- != 0;)
                  if (bit(in[0], i) != sign)
                    return uint64_t(isShift ? bits - 1 - i : i);
                return ~uint64_t(0);
              });
  }
}

TEST_CASE("fields of bits", "[bits]") {
  for (const Width &width : llvm::ArrayRef(widths).drop_front()) {
    int top = int(width.bits) - 1;
    for (bool isSigned : {false, true})
      check(std::string("bfe.") + (isSigned ? "s" : "u") + number(width) +
                " %d, %a, %b, %c;",
            isSigned ? width.s : width.u,
            {isSigned ? width.s : width.u, Type::U32, Type::U32},
            [=](Operands in) {
              int position = int(in[1] & 0xff), length = int(in[2] & 0xff);
              bool sign =
                  isSigned && length != 0 &&
                  bit(in[0], unsigned(std::min(position + length - 1, top)));
              uint64_t result = 0;
              for (int i = 0; i <= top; ++i) {
                bool value = i < length && position + i <= top
                                 ? bit(in[0], unsigned(position + i))
                                 : sign;
                result |= uint64_t(value) << i;
              }
              return result;
            });
    check("bfi.b" + number(width) + " %d, %a, %b, %c, %e;", width.b,
          {width.b, width.b, Type::U32, Type::U32}, [=](Operands in) {
            int position = int(in[2] & 0xff), length = int(in[3] & 0xff);
            uint64_t result = in[1];
            for (int i = 0; i < length && position + i <= top; ++i) {
              result &= ~(uint64_t(1) << (position + i));
              result |= uint64_t(bit(in[0], unsigned(i))) << (position + i);
            }
            return result;
          });
  }
}

TEST_CASE("the n-th bit that is set", "[bits]") {
  std::vector<Operands> inputs;
  for (uint64_t mask :
       {0x0u, 0x1u, 0x80000000u, 0xffffffffu, 0x5555u, 0xf00f0u})
    for (uint64_t base : {0, 1, 4, 16, 31})
      for (int offset : {-40, -3, -2, -1, 0, 1, 2, 3, 8, 32, INT32_MIN})
        inputs.push_back({mask, base, uint32_t(offset), 0});
  check("fns.b32 %d, %a, %b, %c;", Type::B32, {Type::B32, Type::U32, Type::S32},
        inputs, [](Operands in) {
          auto offset = int32_t(in[2]);
          if (offset == 0)
            return bit(in[0], unsigned(in[1])) ? in[1] : ~uint64_t(0);
          int64_t left = std::abs(int64_t(offset));
          for (int i = int(in[1]); i >= 0 && i < 32; i += offset > 0 ? 1 : -1)
            if (bit(in[0], unsigned(i)) && --left == 0)
              return uint64_t(i);
          return ~uint64_t(0);
        });
}

TEST_CASE("masks and extensions", "[bits]") {
  for (bool clamps : {false, true}) {
    std::string mode = clamps ? ".clamp" : ".wrap";
    check("bmsk" + mode + ".b32 %d, %a, %b;", Type::B32, {Type::U32, Type::U32},
          [=](Operands in) {
            uint64_t position = clamps ? in[0] : in[0] % 32;
            uint64_t length = clamps ? in[1] : in[1] % 32;
            uint64_t result = 0;
            for (uint64_t i = 0; i != 32; ++i)
              if (i >= position && i < position + length)
                result |= uint64_t(1) << i;
            return result;
          });
    for (bool isSigned : {false, true}) {
      Type type = isSigned ? Type::S32 : Type::U32;
      check("szext" + mode + (isSigned ? ".s32" : ".u32") + " %d, %a, %b;",
            type, {type, Type::U32}, [=](Operands in) {
              uint64_t length =
                  clamps ? std::min<uint64_t>(in[1], 32) : in[1] % 32;
              uint64_t result = 0;
              for (unsigned i = 0; i != 32; ++i) {
                bool value = i < length ? bit(in[0], i)
                                        : isSigned && length != 0 &&
                                              bit(in[0], unsigned(length - 1));
                result |= uint64_t(value) << i;
              }
              return result;
            });
    }
  }
}

TEST_CASE("any function of three bits", "[bits]") {
  std::vector<Type> three = {Type::B32, Type::B32, Type::B32};
  std::vector<Operands> inputs = {{0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0},
                                  {0x12345678, 0x9abcdef0, 0x0f1e2d3c, 0}};
  auto expected = [](Operands in, unsigned table) {
    uint64_t result = 0;
    for (unsigned i = 0; i != 32; ++i) {
      unsigned row = bit(in[0], i) * 4u + bit(in[1], i) * 2u + bit(in[2], i);
      result |= uint64_t(bit(table, row)) << i;
    }
    return result;
  };
  for (unsigned table :
       {0x00u, 0x80u, 0xfeu, 0x96u, 0xe8u, 0xcau, 0x1bu, 0xffu})
    check("lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";", Type::B32,
          three, inputs, [=](Operands in) { return expected(in, table); });

  inputs.push_back({0, 0, 0, 0});
  inputs.push_back({0, 0, 0, 1});
  inputs.push_back({0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 1});
  std::vector<Type> four = {Type::B32, Type::B32, Type::B32, Type::Pred};
  check("lop3.or.b32 %r0|%d, %a, %b, %c, 0x96, %e;", Type::Pred, four, inputs,
        [&](Operands in) { return expected(in, 0x96) != 0 || in[3]; });
  check("lop3.and.b32 %r0|%d, %a, %b, %c, 0x96, !%e;", Type::Pred, four, inputs,
        [&](Operands in) { return expected(in, 0x96) != 0 && !in[3]; });
  check("lop3.and.b32 %d|%p0, %a, %b, %c, 0x96, %e;", Type::B32, four, inputs,
        [&](Operands in) { return expected(in, 0x96); });
}

TEST_CASE("instructions on bits that do not exist", "[bits]") {
  CHECK(errorOf("and.u32 %r0, %r1, %r2;") ==
        "t.ptx:3: unsupported instruction 'and.u32': not with this type");
  CHECK(errorOf("shl.u32 %r0, %r1, %r2;") ==
        "t.ptx:3: unsupported instruction 'shl.u32': not with this type");
  CHECK(errorOf("shf.l.b32 %r0, %r1, %r2, 1;") ==
        "t.ptx:3: malformed instruction 'shf.l.b32': without a direction and a "
        "mode");
  CHECK(errorOf("lop3.b32 %r0, %r1, %r2, %r3, 256;") ==
        "t.ptx:3: malformed instruction 'lop3.b32': a table of more than 8 "
        "bits");
  CHECK(errorOf("lop3.b32 %r0, %r1, %r2, %r3, %r4;") ==
        "t.ptx:3: malformed instruction 'lop3.b32': an operand that must be an "
        "integer constant");
  CHECK(errorOf("lop3.or.b32 %r0, %r1, %r2, %r3, 1, %p0;") ==
        "t.ptx:3: malformed instruction 'lop3.or.b32': without a predicate as "
        "second result");
  CHECK(errorOf("lop3.or.b32 %r0|%p1, %r1, %r2, %r3, 1, %r2;") ==
        "t.ptx:3: malformed instruction 'lop3.or.b32': an operand that is not "
        "a predicate");
  CHECK(errorOf("popc.b16 %r0, %h1;") ==
        "t.ptx:3: unsupported instruction 'popc.b16': not with this type");
  CHECK(errorOf("and.pred %p0, %p1, !%p2;") ==
        "t.ptx:3: malformed instruction 'and.pred': an operand with '!' that "
        "may not have it");
}

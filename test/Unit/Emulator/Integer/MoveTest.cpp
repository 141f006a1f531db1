//===- MoveTest.cpp - mov, selp, slct, prmt -------------------------------===//

#include "Running.h"
#include <cmath>
#include <cstring>

using namespace tilec::test;

TEST_CASE("mov copies registers and constants", "[moves]") {
  for (Type type : {Type::B16, Type::U32, Type::S64, Type::F32, Type::F64})
    check("mov." + tilec::emulator::ptx::nameOf(type).str() + " %d, %a;", type,
          {type}, [](Operands in) { return in[0]; });
  check("mov.pred %d, %a;", Type::Pred, {Type::Pred},
        [](Operands in) { return in[0]; });
  // Constants are as wide as the type, whatever their sign.
  check("mov.u32 %d, -1;", Type::U32, {Type::U32},
        [](Operands) { return 0xffffffff; });
  check("mov.u16 %h0, -2; cvt.u32.u16 %d, %h0;", Type::U32, {Type::U32},
        [](Operands) { return 0xfffe; });
  check("mov.b32 %d, 0f3F800000;", Type::B32, {Type::B32},
        [](Operands) { return 0x3f800000; });
  check("mov.f32 %d, 0d3FF0000000000000;", Type::F32, {Type::F32},
        [](Operands) { return 0x3f800000; });
  check("mov.f64 %d, 0f40000000;", Type::F64, {Type::F64},
        [](Operands) { return 0x4000000000000000; });
  // A write of 32 bits leaves nothing of what was there before.
  check("cvt.u32.u64 %d, %a; mov.u32 %d, 5;", Type::U32, {Type::U64},
        [](Operands) { return 5; });
}

TEST_CASE("mov packs and unpacks", "[moves]") {
  check("mov.b64 %d, {%a, %b};", Type::B64, {Type::B32, Type::B32},
        [](Operands in) { return in[1] << 32 | in[0]; });
  check("mov.b32 %d, {%a, %b};", Type::B32, {Type::B16, Type::B16},
        [](Operands in) { return in[1] << 16 | in[0]; });
  check("mov.b64 %d, {%a, %b, %c, 0x8000};", Type::B64,
        {Type::B16, Type::B16, Type::B16}, [](Operands in) {
          return uint64_t(0x8000) << 48 | in[2] << 32 | in[1] << 16 | in[0];
        });
  check("mov.b64 {%d, %r1}, %a;", Type::B32, {Type::B64},
        [](Operands in) { return in[0]; });
  check("mov.b64 {_, %d}, %a;", Type::B32, {Type::B64},
        [](Operands in) { return in[0] >> 32; });
  check("mov.b64 {%h0, %h1, %d, %h2}, %a;", Type::B16, {Type::B64},
        [](Operands in) { return in[0] >> 32; });
  check("mov.b32 {%h0, %d}, %a;", Type::B16, {Type::B32},
        [](Operands in) { return in[0] >> 16; });
  check("{ .reg .b8 t, u; mov.b16 {t, u}, %a; mov.b16 %d, {u, t}; }", Type::B16,
        {Type::B16}, [](Operands in) { return in[0] >> 8 | in[0] << 8; });
  // Some lanes only.
  check("mov.u32 %d, 1; mov.u32 %r1, 2; setp.eq.u32 %p0, 0, 0;\n"
        "@%a mov.b64 {%d, %r1}, %b;",
        Type::B32, {Type::Pred, Type::B64},
        [](Operands in) { return in[0] ? in[1] : 1; });
}

TEST_CASE("mov of 128 bits", "[moves]") {
  std::string text = "{ .reg .b128 q, s; mov.b128 q, {%a, %b};\n"
                     "mov.b128 s, q; mov.b128 {%x0, %x1}, s; }\n";
  check(text + "mov.b64 %d, %x0;", Type::B64, {Type::B64, Type::B64},
        [](Operands in) { return in[0]; });
  check(text + "mov.b64 %d, %x1;", Type::B64, {Type::B64, Type::B64},
        [](Operands in) { return in[1]; });
  text = "{ .reg .b128 q; mov.b128 q, {%a, %b, %c, %e};\n"
         "mov.b128 {%x0, %x1}, q; mov.b128 {%r0, %r1, %r2, %r3}, q; }\n";
  std::vector<Type> four(4, Type::B32);
  check(text + "mov.b64 %d, %x1;", Type::B64, four,
        [](Operands in) { return in[3] << 32 | in[2]; });
  check(text + "mov.b64 %d, {%r3, %r0};", Type::B64, four,
        [](Operands in) { return in[0] << 32 | in[3]; });
}

TEST_CASE("selp and slct", "[moves]") {
  for (Type type : {Type::B16, Type::S32, Type::B64, Type::F32})
    check("selp." + tilec::emulator::ptx::nameOf(type).str() +
              " %d, %a, %b, %c;",
          type, {type, type, Type::Pred},
          [](Operands in) { return in[2] ? in[0] : in[1]; });
  check("selp.f32 %d, 0f3F800000, 0f00000000, %a;", Type::F32, {Type::Pred},
        [](Operands in) { return in[0] ? 0x3f800000 : 0; });
  check("slct.b32.s32 %d, %a, %b, %c;", Type::B32,
        {Type::B32, Type::B32, Type::S32},
        [](Operands in) { return int32_t(in[2]) >= 0 ? in[0] : in[1]; });
  std::vector<Operands> inputs;
  for (uint64_t c :
       {0x00000000u, 0x80000000u, 0x3f800000u, 0xbf800000u, 0x00000001u,
        0x80000001u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u})
    inputs.push_back({1, 2, c, 0});
  auto isLess = [](uint64_t bits) {
    auto word = uint32_t(bits);
    float value;
    std::memcpy(&value, &word, 4);
    return std::pair(value < 0 || std::isnan(value), value);
  };
  check("slct.u64.f32 %d, %a, %b, %c;", Type::U64,
        {Type::U64, Type::U64, Type::F32}, inputs,
        [&](Operands in) { return isLess(in[2]).first ? in[1] : in[0]; });
  check("slct.ftz.u64.f32 %d, %a, %b, %c;", Type::U64,
        {Type::U64, Type::U64, Type::F32}, inputs, [&](Operands in) {
          auto [less, value] = isLess(in[2]);
          bool isTiny = std::abs(value) < 1e-38f;
          return less && !isTiny ? in[1] : in[0];
        });
}

TEST_CASE("prmt chooses bytes", "[moves]") {
  auto byte = [](Operands in, unsigned index) {
    return (index < 4 ? in[0] : in[1]) >> (8 * (index % 4)) & 0xff;
  };
  std::vector<Operands> inputs;
  for (uint64_t control :
       {0x3210, 0x7654, 0x0000, 0xba98, 0xfedc, 0x1234, 0x8f07, 0xffff, 0x4321})
    for (unsigned high : {0u, 0xabcd0000u}) {
      inputs.push_back({0x80a1b2c3, 0x017f80ff, control | high, 0});
      inputs.push_back({0x12345678, 0x9abcdef0, control | high, 0});
    }
  std::vector<Type> three(3, Type::B32);
  check("prmt.b32 %d, %a, %b, %c;", Type::B32, three, inputs, [=](Operands in) {
    uint64_t result = 0;
    for (unsigned i = 0; i != 4; ++i) {
      unsigned selector = in[2] >> (4 * i) & 15;
      uint64_t value = byte(in, selector % 8);
      if (selector >= 8)
        value = value >= 128 ? 255 : 0;
      result |= value << (8 * i);
    }
    return result;
  });

  // The bytes of the results from the upper one down, as PTX lists them.
  struct Mode {
    const char *name;
    unsigned bytes[4][4];
  };
  const Mode modes[] = {
      {"f4e", {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}},
      {"b4e", {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}},
      {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
      {"ecl", {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}},
      {"ecr", {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}},
      {"rc16", {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}},
  };
  for (uint64_t control = 0; control != 6; ++control)
    inputs.push_back({0x80a1b2c3, 0x017f80ff, control, 0});
  for (const Mode &mode : modes)
    check(std::string("prmt.b32.") + mode.name + " %d, %a, %b, %c;", Type::B32,
          three, inputs, [&](Operands in) {
            uint64_t result = 0;
            for (unsigned i = 0; i != 4; ++i)
              result = result << 8 | byte(in, mode.bytes[in[2] & 3][i]);
            return result;
          });
}

TEST_CASE("special registers", "[moves]") {
  std::vector<Operands> inputs(300);
  for (unsigned i = 0; i != 300; ++i)
    inputs[i][0] = i;
  // Blocks of 128 threads, as Running.cpp has them.
  auto test = [&](const std::string &name, auto expected) {
    check("mov.u32 %d, " + name + ";", Type::U32, {Type::U32}, inputs,
          [=](Operands in) { return uint64_t(expected(unsigned(in[0]))); });
  };
  test("%tid.x", [](unsigned i) { return i % 128; });
  test("%tid.y", [](unsigned) { return 0; });
  test("%ntid.x", [](unsigned) { return 128; });
  test("%ctaid.x", [](unsigned i) { return i / 128; });
  test("%nctaid.x", [](unsigned) { return 3; });
  test("%laneid", [](unsigned i) { return i % 32; });
  test("%warpid", [](unsigned i) { return i % 128 / 32; });
  test("%lanemask_lt", [](unsigned i) { return (1u << (i % 32)) - 1; });
  test("%cluster_ctarank", [](unsigned) { return 0; });
  // Clocks do not go back.
  check("mov.u64 %x0, %clock64; mov.u64 %x1, %clock64;\n"
        "setp.ge.u64 %p0, %x1, %x0; selp.u32 %d, 1, 0, %p0;",
        Type::U32, {Type::U32}, inputs, [](Operands) { return 1; });
  // Those that do not change may be operands of anything.
  check("add.u32 %d, %tid.x, 1;", Type::U32, {Type::U32}, inputs,
        [](Operands in) { return in[0] % 128 + 1; });
}

TEST_CASE("moves that do not exist", "[moves]") {
  CHECK(errorOf("mov.b64 %x0, {%r0, %h0};") ==
        "t.ptx:3: malformed instruction 'mov.b64': an element of another size");
  CHECK(errorOf("mov.b64 %r0, {%r1, %r2};") ==
        "t.ptx:3: malformed instruction 'mov.b64': a register of another size");
  CHECK(errorOf("mov.b64 %x0, {%r0, %r1, %r2};") ==
        "t.ptx:3: unsupported instruction 'mov.b64': not with these vectors");
  CHECK(errorOf("mov.b64 {%r0, %r1}, {%r2, %r3};") ==
        "t.ptx:3: unsupported instruction 'mov.b64': not with these vectors");
  CHECK(errorOf("mov.b64 %x0, {%r0, _};") ==
        "t.ptx:3: malformed instruction 'mov.b64': an operand that is not a "
        "value");
  CHECK(errorOf("mov.b128 %q0, 5;") ==
        "t.ptx:3: malformed instruction 'mov.b128': an operand that is not of "
        "128 bits");
  CHECK(errorOf("mov.f32 %f0, 1;") ==
        "t.ptx:3: malformed instruction 'mov.f32': an operand of type .f32 is "
        "a number of another type");
  CHECK(errorOf("mov.u32 %r0, %x0;") ==
        "t.ptx:3: malformed instruction 'mov.u32': operand 2 is a .b64 instead "
        "of a .u32");
  CHECK(errorOf("mov.u32 %r0;") ==
        "t.ptx:3: malformed instruction 'mov.u32': the wrong number of "
        "operands");
  CHECK(errorOf("mov.b8 %r0, %r1;") ==
        "t.ptx:3: unsupported instruction 'mov.b8': not with this type");
  CHECK(errorOf("mov.u32 %r0, %pm3;") ==
        "t.ptx:3: unsupported instruction 'mov.u32': %pm3 is not known");
  CHECK(errorOf("add.u32 %r0, %clock, 1;") ==
        "t.ptx:3: unsupported instruction 'add.u32': %clock outside of mov");
  CHECK(errorOf("selp.b32 %r0, %r1, %r2, %r3;") ==
        "t.ptx:3: malformed instruction 'selp.b32': operand 4 is a .b32 "
        "instead of a .pred");
}

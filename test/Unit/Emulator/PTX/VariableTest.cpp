//===- VariableTest.cpp - Variables and their initial values --------------===//

#include "Parsing.h"

using namespace tilec::emulator::ptx;
using namespace tilec::test;

namespace {

/// The variables of a module of these lines.
std::vector<Variable> parseVariables(const std::string &lines) {
  return parse(head() + lines).variables;
}

std::vector<unsigned> bytesOf(const Variable &variable) {
  std::vector<unsigned> result;
  for (char c : variable.initial)
    result.push_back(static_cast<unsigned char>(c));
  return result;
}

using Bytes = std::vector<unsigned>;

} // namespace

TEST_CASE("variables of a module", "[ptx]") {
  std::vector<Variable> list =
      parseVariables(".visible .global .align 16 .b8 a[20];\n"
                     ".const .f32 b;\n.shared .align 1024 .b8 c[2][3];\n"
                     ".extern .shared .align 128 .b8 d[];\n"
                     ".weak .global .attribute(.managed) .v4 .u32 e[3], f;\n");
  REQUIRE(list.size() == 6);
  CHECK(list[0].space == Space::Global);
  CHECK(list[0].alignment == 16);
  CHECK(list[0].bytes == 20);
  CHECK(list[0].initial.empty());
  CHECK(list[0].ptxLine == 2);
  CHECK(list[1].space == Space::Const);
  CHECK(list[1].alignment == 4);
  CHECK(list[2].bytes == 6);
  CHECK(list[2].alignment == 1024);
  CHECK(list[3].isExtern);
  CHECK(list[3].bytes == 0);
  CHECK(list[3].alignment == 128);
  CHECK(list[4].bytes == 48);
  CHECK(list[4].alignment == 16);
  CHECK(list[5].bytes == 16);
}

TEST_CASE("variables of a function", "[ptx]") {
  Module module = parse(
      head() + ".entry f() {\n.local .align 16 .b8 depot[40];\n"
               ".shared .b32 s[4], t;\n.param .b64 x;\n"
               ".global .u32 counter = 7;\n.extern .shared .b8 dynamic[];\n"
               ".reg .b64 %d<6>;\n"
               "mov.u64 %d0, depot; mov.u64 %d1, t; mov.u64 %d2, x;\n"
               "mov.u64 %d3, counter; mov.u64 %d4, dynamic;\n}\n");
  const Function &f = module.functions[0];
  REQUIRE(f.variables.size() == 4);
  CHECK(f.variables[0].space == Space::Local);
  CHECK(f.variables[1].bytes == 16);
  CHECK(f.variables[3].space == Space::Param);
  REQUIRE(module.variables.size() == 2);
  CHECK(module.variables[0].name == "counter");
  auto operand = [&](unsigned i) { return f.instructions[i].operands[1]; };
  CHECK(operand(0).index == 0);
  CHECK(operand(1).index == 2);
  CHECK(operand(2).index == 3);
  CHECK_FALSE(operand(2).isGlobal);
  CHECK(operand(3).isGlobal);
  CHECK(operand(3).index == 0);
  CHECK(operand(4).isGlobal);
  CHECK(operand(4).index == 1);
}

TEST_CASE("initial values of numbers", "[ptx]") {
  std::vector<Variable> list =
      parseVariables(".global .u32 a = 0x01020304;\n"
                     ".global .s16 b[3] = {-1, 2};\n"
                     ".global .f32 c[2] = {0f3F800000, 2.0};\n"
                     ".global .f64 d = 0d3FF0000000000000;\n"
                     ".const .b8 e[] = {1, 2, 3};\n"
                     ".global .b8 f[2][3] = {{1}, {4, 5, 6}};\n"
                     ".global .v2 .u16 g[2] = {{1, 2}, {3, 4}};\n"
                     ".global .f64 h = 0f40000000;\n");
  REQUIRE(list.size() == 8);
  CHECK(bytesOf(list[0]) == Bytes{4, 3, 2, 1});
  CHECK(bytesOf(list[1]) == Bytes{255, 255, 2, 0, 0, 0});
  CHECK(bytesOf(list[2]) == Bytes{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40});
  CHECK(bytesOf(list[3]) == Bytes{0, 0, 0, 0, 0, 0, 0xf0, 0x3f});
  CHECK(bytesOf(list[4]) == Bytes{1, 2, 3});
  CHECK(list[4].bytes == 3);
  CHECK(bytesOf(list[5]) == Bytes{1, 0, 0, 4, 5, 6});
  CHECK(bytesOf(list[6]) == Bytes{1, 0, 2, 0, 3, 0, 4, 0});
  CHECK(bytesOf(list[7]) == Bytes{0, 0, 0, 0, 0, 0, 0, 0x40});
}

TEST_CASE("initial values that are addresses", "[ptx]") {
  std::vector<Variable> list = parseVariables(
      ".global .u32 x[4];\n.func f();\n"
      ".global .u64 a[4] = {x, generic(x)+8, f, x-4};\n"
      ".global .b8 b[3] = {9, 0xFF(x), 0xFF00(generic(x)+1)};\n");
  REQUIRE(list.size() == 3);
  const auto &a = list[1].relocations;
  REQUIRE(a.size() == 4);
  CHECK(a[0].symbol == "x");
  CHECK(a[0].offset == 0);
  CHECK_FALSE(a[0].isGeneric);
  CHECK(a[1].isGeneric);
  CHECK(a[1].offset == 8);
  CHECK(a[1].addend == 8);
  CHECK(a[2].symbol == "f");
  CHECK(a[3].addend == -4);
  CHECK(a[3].bytes == 8);
  const auto &b = list[2].relocations;
  REQUIRE(b.size() == 2);
  CHECK(b[0].offset == 1);
  CHECK(b[0].bytes == 1);
  CHECK(b[0].shift == 0);
  CHECK(b[1].shift == 8);
  CHECK(b[1].addend == 1);
  CHECK(bytesOf(list[2]) == Bytes{9, 0, 0});
}

TEST_CASE("a definition takes the place of .extern", "[ptx]") {
  std::vector<Variable> list =
      parseVariables(".extern .global .u32 x;\n.global .u64 y = x;\n"
                     ".visible .global .u32 x = 5;\n.extern .global .u32 x;\n");
  REQUIRE(list.size() == 2);
  CHECK_FALSE(list[0].isExtern);
  CHECK(bytesOf(list[0]) == Bytes{5, 0, 0, 0});
}

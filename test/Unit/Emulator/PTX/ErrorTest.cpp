//===- ErrorTest.cpp - What is no PTX -------------------------------------===//

#include "Parsing.h"

using namespace tilec::emulator::ptx;
using namespace tilec::test;
using Catch::Matchers::StartsWith;

TEST_CASE("errors name the place", "[ptx]") {
  CHECK(errorOf("") == "t.ptx:1:1: a module begins with .version, and this one "
                       "has none");
  CHECK(errorOfBody("  mov.b32 %r1, 0;") ==
        "t.ptx:3:11: '%r1' is not declared");
  CHECK(errorOfBody("\n\tbra L;") == "t.ptx:4:6: 'L' is not declared");
  CHECK(errorOfBody("ret") == "t.ptx:4:1: '}', expected an operand");
  CHECK(errorOf(head() + ".visible .foo x;") ==
        "t.ptx:2:10: '.foo', expected a variable, a function or another "
        "directive");
}

TEST_CASE("errors of words", "[ptx]") {
  auto word = [](const std::string &text) {
    return errorOfBody(".reg .b64 a;\nmov.b64 a, " + text + ";");
  };
  CHECK(word("0f123") == "t.ptx:4:12: 0f without 8 hexadecimal digits");
  CHECK(word("0f3F8000001") == "t.ptx:4:12: 0f without 8 hexadecimal digits");
  CHECK(word("0d3F800000") == "t.ptx:4:12: 0d without 16 hexadecimal digits");
  std::string number =
      "t.ptx:4:12: a malformed number, or one of more than 64 bits";
  CHECK(word("0x") == number);
  CHECK(word("12x") == number);
  CHECK(word("089") == number);
  CHECK(word("18446744073709551616") == number);
  CHECK(word("1.5x") == "t.ptx:4:12: a malformed number");
  CHECK(word("1e") == "t.ptx:4:12: an exponent without digits");
  CHECK(word("\xff") == "t.ptx:4:12: a character that PTX does not have");
  CHECK(errorOf(head() + "/* never closed") ==
        "t.ptx:2:1: a comment without an end");
  CHECK(errorOf(head() + ".file 1 \"a\n\"") ==
        "t.ptx:2:9: a string without an end");
}

TEST_CASE("errors of constants", "[ptx]") {
  auto constant = [](const std::string &text) {
    return errorOfBody(".reg .b64 a;\nmov.b64 a, " + text + ";");
  };
  CHECK(constant("1 / 0") == "t.ptx:4:14: a division by zero in a constant");
  CHECK(constant("1 % (2 - 2)") ==
        "t.ptx:4:14: a division by zero in a constant");
  CHECK(constant("1.0 + 2") ==
        "t.ptx:4:16: an operation of floats in a constant");
  CHECK(constant(std::string(100, '(') + "1") ==
        "t.ptx:4:77: a constant with too many parts within each other");
  CHECK(constant(std::string(100000, '-') + "1") ==
        "t.ptx:4:77: a constant with too many parts within each other");
}

TEST_CASE("errors of functions", "[ptx]") {
  CHECK(errorOf(head() + ".func f() { ret; }\n.func f() { ret; }") ==
        "t.ptx:3:7: 'f' is defined twice");
  CHECK(errorOf(head() + ".func f();\n.entry f() { ret; }") ==
        "t.ptx:3:8: 'f' is declared as something else already");
  CHECK(errorOf(head() + ".global .u32 f;\n.func f();") ==
        "t.ptx:3:7: 'f' is a variable already");
  CHECK(errorOf(head() + ".func f() .wrong 3 { ret; }") ==
        "t.ptx:2:11: '.wrong' is not a directive of functions");
  CHECK(errorOf(head() + ".func f(.reg .b32 x) { ret; }") ==
        "t.ptx:2:9: parameters in registers are not supported");
  CHECK(errorOf(head() + ".func f() {") ==
        "t.ptx:2:12: the end of the text, expected an instruction, a "
        "declaration or '}'");
  CHECK(errorOf(head() + ".func f(.param .b32 a, .param .b32 a);") ==
        "t.ptx:2:36: 'a' is declared twice");
  CHECK(errorOf(".version 9.0 .target sm_90a .address_size 32") ==
        "t.ptx:1:43: only addresses of 64 bits are supported");
}

TEST_CASE("errors of statements", "[ptx]") {
  CHECK(errorOfBody("L: nop;\nL: nop;") ==
        "t.ptx:4:1: label 'L' is declared twice");
  CHECK(errorOfBody("{ L: nop; }\nbra L;") == "t.ptx:4:5: 'L' is not declared");
  CHECK(errorOfBody(".reg .b32 a, a;") == "t.ptx:3:14: 'a' is declared twice");
  CHECK(errorOfBody(".reg .b32 %r<4>; .reg .b64 %r<2>;") ==
        "t.ptx:3:28: registers '%r' are declared twice");
  CHECK(errorOfBody(".reg .b32 %r<4>; mov.b32 %r4, 0;") ==
        "t.ptx:3:26: '%r4' is not declared");
  CHECK(errorOfBody(".reg .b32 %r<4>; mov.b32 %r03, 0;") ==
        "t.ptx:3:26: '%r03' is not declared");
  CHECK(errorOfBody(".reg .tf32 a;") ==
        "t.ptx:3:6: '.tf32', expected the type of a register");
  CHECK(errorOfBody(".reg .v4 .b32 a;") ==
        "t.ptx:3:6: '.v4', expected the type of a register");
  CHECK(errorOfBody(".reg .b32 a; @a ret;") ==
        "t.ptx:3:15: 'a' is not a predicate");
  CHECK(errorOfBody(".reg .b32 a; mov.b32 a, !a;") ==
        "t.ptx:3:25: '!' of what is not a predicate");
  CHECK(errorOfBody("nop; }") == "t.ptx:4:1: '}', expected a directive");
  CHECK(errorOfBody("ts: .branchtargets L, ts;\nL: nop;") ==
        "t.ptx:3:23: 'ts' is not the label of an instruction");
}

TEST_CASE("errors of operands", "[ptx]") {
  auto operand = [](const std::string &text) {
    return errorOfBody(".reg .b64 a;\nst.b64 " + text + ";");
  };
  CHECK(operand("[ret]") == "t.ptx:4:9: 'ret' is not declared");
  CHECK(operand("[f], a") == "t.ptx:4:9: 'f' is not an address");
  CHECK(operand("[1.0], a") == "t.ptx:4:9: '1.0' is not an address");
  CHECK(operand("[a+1.0], a") ==
        "t.ptx:4:10: an offset that is not an integer");
  CHECK(operand("[a, a") == "t.ptx:4:13: ';', expected ']' after an address");
  CHECK(operand("{a, b}") == "t.ptx:4:12: 'b' is not declared");
  CHECK(operand("{a, {a}}") == "t.ptx:4:12: '{', expected an operand");
  CHECK(operand("a|1") == "t.ptx:4:10: '1' is not a register");
  CHECK(operand("%tid") == "t.ptx:4:8: '%tid' is not declared");
  CHECK(operand("%tid.w") == "t.ptx:4:8: '%tid' is not declared");
  CHECK(operand("a.x") == "t.ptx:4:9: vectors of registers are not supported");
}

TEST_CASE("errors of variables", "[ptx]") {
  auto variable = [](const std::string &text) {
    return errorOf(head() + text);
  };
  CHECK(variable(".global .b32 x[];") == "t.ptx:2:14: an array without a size");
  CHECK(variable(".global .b32 x[2][];") ==
        "t.ptx:2:19: ']', expected the size of an array");
  CHECK(variable(".global .b32 x[2][0];") == "t.ptx:2:14: an array of nothing");
  CHECK(variable(".global .b8 x[99999999999];") ==
        "t.ptx:2:15: the size of an array must be a number from 0 to "
        "1073741824");
  CHECK(variable(".global .b64 x[65536][65536];") ==
        "t.ptx:2:14: a variable of more than 1 GiB");
  CHECK(variable(".global .b8 x[1000000000] = {0};") ==
        "t.ptx:2:29: more than 128 MiB of initial values");
  CHECK(variable(".global .align 3 .b8 x;") ==
        "t.ptx:2:16: an alignment must be a power of two");
  CHECK(variable(".global .align 0 .b8 x;") ==
        "t.ptx:2:16: an alignment must be a power of two");
  CHECK(variable(".global .pred x;") ==
        "t.ptx:2:9: '.pred' is not the type of a variable");
  CHECK(variable(".global .texref x;") ==
        "t.ptx:2:9: '.texref' is not the type of a variable");
  CHECK(variable(".local .b32 x;") ==
        "t.ptx:2:1: only functions have variables in .local");
  CHECK(variable(".shared .b32 x = 1;") ==
        "t.ptx:2:18: only .global and .const variables have initial values");
  CHECK(variable(".global .b32 x[2] = {1, 2, 3};") ==
        "t.ptx:2:28: more initial values than elements");
  CHECK(variable(".global .u64 x = y;") == "t.ptx:2:18: 'y' is not declared");
  CHECK(variable(".global .u64 x = 0xF0F(x);") ==
        "t.ptx:2:18: a mask that is not some adjacent bits");
  CHECK(variable(".global .u32 x;\n.global .u32 x;") ==
        "t.ptx:3:14: 'x' is declared twice");
  CHECK(variable(".global .b16 x = 1.0;") ==
        "t.ptx:2:18: a float in a variable of another type");
}

TEST_CASE("limits keep text from taking all memory", "[ptx]") {
  CHECK(errorOfBody(".reg .b32 %r<4000000000>;") ==
        "t.ptx:3:11: more than 1048576 registers");
  CHECK(errorOfBody(".reg .b32 %r<18446744073709551615>, %s<2>;") ==
        "t.ptx:3:11: more than 1048576 registers");
  CHECK_THAT(errorOfBody(".reg .b32 %r<600000>, %s<600000>;"),
             StartsWith("t.ptx:3:23: more than"));
  CHECK(errorOfBody(std::string(1000, '{')) ==
        "t.ptx:3:256: too many scopes within each other");
  std::string vector = "{a";
  for (int i = 0; i != 600; ++i)
    vector += ",a";
  CHECK_THAT(errorOfBody(".reg .b32 a; foo " + vector + "};"),
             Catch::Matchers::Contains("a vector of too many elements"));
  std::string opcode = "a";
  for (int i = 0; i != 40; ++i)
    opcode += ".a";
  CHECK_THAT(errorOfBody(opcode + ";"),
             Catch::Matchers::Contains("an instruction of too many parts"));
  CHECK(errorOf(head() + ".file 70000 \"x\"") ==
        "t.ptx:2:7: the number of a file must be a number from 0 to 65535");
}

TEST_CASE("any beginning of a module is a module or an error", "[ptx]") {
  std::string text =
      head() + ".global .u64 a[2] = {generic(a)+8, 0xFF00(a)};\n"
               ".file 1 \"k.tile\"\n"
               ".visible .entry f(.param .u64 p) .maxntid 32, 1 {\n"
               ".reg .pred %p<2>; .reg .b32 %r<4>;\n.loc 1 2 3\n"
               "{ .reg .b64 t; L: ld.param.u64 t, [p+4]; @!%p1 bra L; }\n"
               "mov.b64 {%r1, _}, 0d3FF0000000000000; /* c */\n"
               "ts: .branchtargets M, M; brx.idx %r1, ts;\n"
               "M: setp.lt.or.s32 %p0|%p1, %r1, (3 - -2) << 1, !%p1;\n}\n";
  REQUIRE(errorOf(text) == "no error");
  for (size_t size = 0; size != text.size(); ++size) {
    auto module = parseModule(llvm::StringRef(text).take_front(size), "t.ptx");
    if (!module)
      CHECK_THAT(llvm::toString(module.takeError()), StartsWith("t.ptx:"));
  }
}

//===- ParserTest.cpp - Functions, statements, operands -------------------===//

#include "Parsing.h"

using namespace tilec::emulator::ptx;
using namespace tilec::test;
using Kind = Operand::Kind;

namespace {

/// The operands of the only instruction after declarations of some registers
/// (in the order of their indices: p, q, r0...r9, d0...d4, f0...f3).
Instruction parseOne(const std::string &text) {
  Function function =
      parseBody(".reg .pred %p, %q; .reg .b32 %r<10>; .reg .b64 %d<5>;\n"
                ".reg .f32 %f<4>; .shared .align 4 .b8 buffer[64];\n" +
                text);
  // And the ret that was added.
  REQUIRE(function.instructions.size() == 2);
  return function.instructions.front();
}

constexpr unsigned r = 2, d = 12;

} // namespace

TEST_CASE("a module has its directives", "[ptx]") {
  Module module = parse(".version 8.7\n.target sm_80, debug\n"
                        ".address_size 64\n.file 1 \"a b.cu\"\n"
                        ".file 3 \"k.tile\", 1234, 56\n");
  CHECK(module.version == 87);
  CHECK(module.target == "sm_80");
  CHECK(module.name == "t.ptx");
  REQUIRE(module.files.size() == 4);
  CHECK(module.files[1] == "a b.cu");
  CHECK(module.files[3] == "k.tile");
  CHECK(module.functions.empty());
}

TEST_CASE("types have names, sizes and signs", "[ptx]") {
  CHECK(typeNamed("bf16x2") == Type::BF16x2);
  CHECK(typeNamed("e4m3x2") == Type::E4M3x2);
  CHECK(typeNamed("v4") == Type::None);
  CHECK(typeNamed("") == Type::None);
  for (auto type = unsigned(Type::Pred); type <= unsigned(Type::B1); ++type)
    CHECK(typeNamed(nameOf(Type(type))) == Type(type));
  CHECK(bitsOf(Type::Pred) == 1);
  CHECK(bytesOf(Type::Pred) == 1);
  CHECK(bitsOf(Type::B128) == 128);
  CHECK(bytesOf(Type::U4) == 1);
  CHECK(bitsOf(Type::S16x2) == 32);
  CHECK(isSigned(Type::S16));
  CHECK_FALSE(isSigned(Type::B32));
  CHECK(isFloat(Type::TF32));
  CHECK_FALSE(isFloat(Type::U16x2));
}

TEST_CASE("a kernel has parameters and directives", "[ptx]") {
  Module module = parse(
      head() + ".visible .entry k(\n .param .u64 .ptr .global .align 16 k_0,\n"
               " .param .align 64 .b8 k_1[128],\n .param .v2 .f32 k_2\n)\n"
               ".maxntid 384, 1, 1\n.minnctapersm 2 .maxnreg 168\n"
               ".reqntid 128, 2 .reqnctapercluster 2, 1, 1 .explicitcluster\n"
               ".maxclusterrank 8 .noreturn\n{ ret; }\n");
  REQUIRE(module.functions.size() == 1);
  CHECK(module.functionIndex.lookup("k") == 0);
  const Function &k = module.functions[0];
  CHECK(k.isEntry);
  CHECK(k.hasBody);
  CHECK(k.ptxLine == 2);
  REQUIRE(k.params.size() == 3);
  // The alignment is of what the pointer points at.
  CHECK(k.params[0].alignment == 8);
  CHECK(k.params[0].bytes == 8);
  CHECK(k.params[1].alignment == 64);
  CHECK(k.params[1].bytes == 128);
  CHECK(k.params[2].alignment == 8);
  CHECK(k.params[2].bytes == 8);
  CHECK(k.params[2].space == Space::Param);
  CHECK(k.maxThreads == std::array<unsigned, 3>{384, 1, 1});
  CHECK(k.requiredThreads == std::array<unsigned, 3>{128, 2, 1});
  CHECK(k.requiredCluster == std::array<unsigned, 3>{2, 1, 1});
  CHECK(k.minBlocks == 2);
  CHECK(k.maxRegisters == 168);
}

TEST_CASE("functions are declared and defined", "[ptx]") {
  Module module = parse(
      head() +
      ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
      ".func (.param .b32 out) twice(.param .b32 in);\n"
      ".weak .func none() .noreturn;\n"
      ".visible .entry k() {\n"
      " .param .b32 a; .param .b32 b;\n"
      " call.uni (b), twice, (a); call none; call none, ();\n}\n"
      ".func (.param .b32 out) twice(.param .b32 x) { ret; }\n");
  REQUIRE(module.functions.size() == 4);
  CHECK_FALSE(module.functions[0].hasBody);
  CHECK(module.functions[0].results.size() == 1);
  CHECK(module.functions[0].params.size() == 2);
  unsigned twice = module.functionIndex.lookup("twice");
  CHECK(module.functions[twice].hasBody);
  CHECK(module.functions[twice].params[0].name == "x");

  const Instruction &call = module.functions[3].instructions[0];
  CHECK(call.name() == "call.uni");
  REQUIRE(call.operands.size() == 3);
  CHECK(call.operands[0].kind == Kind::Vector);
  REQUIRE(call.operands[0].elements.size() == 1);
  CHECK(call.operands[0].elements[0].kind == Kind::Variable);
  CHECK(call.operands[0].elements[0].index == 1);
  CHECK(call.operands[1].kind == Kind::Function);
  CHECK(call.operands[1].index == twice);
  REQUIRE(call.operands[2].elements.size() == 1);
  CHECK(call.operands[2].elements[0].index == 0);
  for (unsigned i = 1; i != 3; ++i) {
    const Instruction &bare = module.functions[3].instructions[i];
    REQUIRE(bare.operands.size() == 3);
    CHECK(bare.operands[0].elements.empty());
    CHECK(bare.operands[2].elements.empty());
  }
}

TEST_CASE("an indirect call has a prototype", "[ptx]") {
  Function f =
      parseBody(".reg .b64 %d; .param .b32 a, b;\n"
                "call (a), %d, (b), proto;\n"
                "proto : .callprototype (.param .b32 _) _ (.param .b32 _);\n");
  const Instruction &call = f.instructions[0];
  REQUIRE(call.operands.size() == 4);
  CHECK(call.operands[1].kind == Kind::Register);
  CHECK(call.operands[3].kind == Kind::Prototype);
  CHECK(call.operands[3].name == "proto");
}

TEST_CASE("opcodes are taken apart at their dots", "[ptx]") {
  Instruction copy = parseOne(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
      "bytes.L2::cache_hint [%r1], [%d1, {%r2, %r3}], [%r4], %d2;");
  llvm::SmallVector<std::string, 6> pieces = {"cp",
                                              "async",
                                              "bulk",
                                              "tensor",
                                              "2d",
                                              "shared::cluster",
                                              "global",
                                              "mbarrier::complete_tx::bytes",
                                              "L2::cache_hint"};
  CHECK(copy.pieces == pieces);
  CHECK(copy.opcode() == "cp");
  CHECK(copy.has("2d"));
  CHECK_FALSE(copy.has("cp"));
  CHECK_FALSE(copy.has("shared"));
  REQUIRE(copy.operands.size() == 4);
  REQUIRE(copy.operands[1].elements.size() == 2);
  CHECK(copy.operands[1].elements[0].index == d + 1);
  CHECK(copy.operands[1].elements[1].kind == Kind::Vector);
  CHECK(copy.operands[1].elements[1].elements[1].index == r + 3);
}

TEST_CASE("addresses have offsets", "[ptx]") {
  auto offset = [](const std::string &address) {
    Instruction load = parseOne("ld.b32 %r0, [" + address + "];");
    REQUIRE(load.operands.size() == 2);
    CHECK(load.operands[1].kind == Kind::Address);
    return std::pair(load.operands[1].elements[0].kind,
                     int64_t(load.operands[1].bits));
  };
  CHECK(offset("%d1") == std::pair(Kind::Register, int64_t(0)));
  CHECK(offset("%d1+8") == std::pair(Kind::Register, int64_t(8)));
  CHECK(offset("%d1+-8") == std::pair(Kind::Register, int64_t(-8)));
  CHECK(offset("%d1 - 0x10") == std::pair(Kind::Register, int64_t(-16)));
  CHECK(offset("%d1+4*8+2") == std::pair(Kind::Register, int64_t(34)));
  CHECK(offset("buffer+4") == std::pair(Kind::Variable, int64_t(4)));
  CHECK(offset("buffer") == std::pair(Kind::Variable, int64_t(0)));
  CHECK(offset("p") == std::pair(Kind::Parameter, int64_t(0)));
  CHECK(offset("q+16") == std::pair(Kind::Parameter, int64_t(16)));
  Instruction load = parseOne("ld.b32 %r0, [4096];");
  CHECK(load.operands[1].elements[0].kind == Kind::Immediate);
  CHECK(load.operands[1].elements[0].bits == 4096);
}

TEST_CASE("operands of all kinds", "[ptx]") {
  Instruction shuffle = parseOne("shfl.sync.bfly.b32 %r1|%p, %r2, 1, 31, -1;");
  REQUIRE(shuffle.operands.size() == 5);
  CHECK(shuffle.operands[0].kind == Kind::Pair);
  CHECK(shuffle.operands[0].elements[0].index == r + 1);
  CHECK(shuffle.operands[0].elements[1].index == 0);
  CHECK(shuffle.operands[4].bits == ~uint64_t(0));

  Instruction elect = parseOne("elect.sync _|%q, 0xffffffff;");
  CHECK(elect.operands[0].elements[0].kind == Kind::Sink);
  CHECK(elect.operands[0].elements[1].index == 1);
  CHECK(elect.operands[1].bits == 0xffffffff);

  Instruction set = parseOne("setp.lt.and.s32 %p|%q, %r1, -5, !%q;");
  CHECK(set.operands[2].bits == uint64_t(-5));
  CHECK(set.operands[3].isNegated);
  CHECK(set.operands[3].index == 1);

  Instruction load = parseOne("ld.v4.b32 {%r1, _, %r3, %r4}, [%d0];");
  CHECK(load.operands[0].kind == Kind::Vector);
  REQUIRE(load.operands[0].elements.size() == 4);
  CHECK(load.operands[0].elements[1].kind == Kind::Sink);

  Instruction special = parseOne("mov.u32 %r0, %ctaid.y;");
  CHECK(special.operands[1].kind == Kind::Special);
  CHECK(special.operands[1].name == "%ctaid.y");

  Instruction move = parseOne("mov.u64 %d0, buffer+12;");
  CHECK(move.operands[1].kind == Kind::Variable);
  CHECK_FALSE(move.operands[1].isGlobal);
  CHECK(move.operands[1].bits == 12);

  Instruction pointer = parseOne("mov.u64 %d0, f;");
  CHECK(pointer.operands[1].kind == Kind::Function);
}

TEST_CASE("constants", "[ptx]") {
  auto value = [](const std::string &text) {
    Instruction move = parseOne("mov.b64 %d0, " + text + ";");
    CHECK(move.operands[1].kind == Kind::Immediate);
    return std::pair(move.operands[1].immediateType,
                     int64_t(move.operands[1].bits));
  };
  auto integer = [](int64_t bits) { return std::pair(Type::None, bits); };
  CHECK(value("12") == integer(12));
  CHECK(value("0x1F") == integer(31));
  CHECK(value("017") == integer(15));
  CHECK(value("0b101") == integer(5));
  CHECK(value("0") == integer(0));
  CHECK(value("7U") == integer(7));
  CHECK(value("-1") == integer(-1));
  CHECK(value("0xffffffffffffffff") == integer(-1));
  CHECK(value("-0x8000000000000000") == integer(INT64_MIN));
  CHECK(value("2 + 3 * 4") == integer(14));
  CHECK(value("(2 + 3) * 4") == integer(20));
  CHECK(value("10 - 3 - 2") == integer(5));
  CHECK(value("1 << 4 | 3") == integer(19));
  CHECK(value("~0 ^ 5") == integer(~0 ^ 5));
  CHECK(value("-7 / 2") == integer(-3));
  CHECK(value("-7 % 4") == integer(-3));
  CHECK(value("-8 >> 1") == integer(-4));
  CHECK(value("-8U >> 1") == integer(INT64_MAX - 3));
  CHECK(value("-1 < 1") == integer(1));
  CHECK(value("-1 < 1U") == integer(0));
  CHECK(value("1 == 2 || 3 >= 3 && 1") == integer(1));
  CHECK(value("1 ? 5 : 6") == integer(5));
  CHECK(value("(.s64)-1 < 0") == integer(1));
  CHECK(value("(.s64)0x8000000000000000 / -1") == integer(INT64_MIN));
  CHECK(value("WARP_SZ * 2") == integer(64));
  CHECK(value("0f3F800000") == std::pair(Type::F32, int64_t(0x3f800000)));
  CHECK(value("0F3f800000") == std::pair(Type::F32, int64_t(0x3f800000)));
  CHECK(value("-0f3F800000") == std::pair(Type::F32, int64_t(0xbf800000)));
  CHECK(value("0d3FF0000000000000") ==
        std::pair(Type::F64, int64_t(0x3ff0000000000000)));
  CHECK(value("1.5") == std::pair(Type::F64, int64_t(0x3ff8000000000000)));
  CHECK(value("25e-1") == std::pair(Type::F64, int64_t(0x4004000000000000)));
}

TEST_CASE("registers of scopes hide those outside", "[ptx]") {
  Function f = parseBody(".reg .b32 %a, t;\n"
                         "mov.b32 %a, t;\n"
                         "{ .reg .pred t; @t bra L; }\n"
                         "{.reg .b32 t; {.reg .b64 %a;mov.b64 %a, 0;} "
                         "mov.b32 %a, t;}\n"
                         "mov.b32 %a, t;\nL: ret;");
  REQUIRE(f.registers.size() == 5);
  CHECK(f.registers[2].type == Type::Pred);
  REQUIRE(f.instructions.size() == 6);
  CHECK(f.instructions[0].operands[1].index == 1);
  CHECK(f.instructions[1].guard->index == 2);
  CHECK(f.instructions[2].operands[0].index == 4);
  CHECK(f.instructions[3].operands[0].index == 0);
  CHECK(f.instructions[3].operands[1].index == 3);
  CHECK(f.instructions[4].operands[1].index == 1);
}

TEST_CASE("labels belong to their scopes", "[ptx]") {
  // The text of one asm statement, twice, as inlining pastes it.
  std::string loop = "{\n.reg .pred P;\nTRY:\nsetp.eq.u32 P, 0, 0;\n"
                     "@P bra DONE;\n@!P bra OUT;\nbra TRY;\nDONE:\n}\n";
  Function f = parseBody(loop + loop + "OUT:\nret;");
  REQUIRE(f.instructions.size() == 9);
  auto target = [&](unsigned i) {
    CHECK(f.instructions[i].operands[0].kind == Kind::Label);
    return f.instructions[i].operands[0].index;
  };
  CHECK(target(1) == 4);
  CHECK(target(2) == 8);
  CHECK(target(3) == 0);
  CHECK(target(5) == 8);
  CHECK(target(6) == 8);
  CHECK(target(7) == 4);
  CHECK(f.instructions[2].guard->isNegated);
  CHECK(f.labels.size() == 5);
}

TEST_CASE("branches through a table", "[ptx]") {
  Function f = parseBody(".reg .b32 %i;\nA: nop;\n"
                         "ts: .branchtargets A, B, A;\n"
                         "brx.idx.uni %i, ts;\nB: ret;");
  REQUIRE(f.tables.size() == 1);
  CHECK(f.tables[0] == std::vector<unsigned>{0, 2, 0});
  CHECK(f.instructions[1].operands[1].kind == Kind::Table);
  CHECK(f.instructions[1].operands[1].index == 0);
}

TEST_CASE("the last instruction ends the function", "[ptx]") {
  CHECK(parseBody("").instructions.size() == 1);
  CHECK(parseBody("ret;").instructions.size() == 1);
  CHECK(parseBody("exit;").instructions.size() == 1);
  CHECK(parseBody("trap;").instructions.back().name() == "ret");
  CHECK(parseBody(".reg .pred %p; @%p ret;").instructions.size() == 2);
  // A label in front of the brace names the ret that is added.
  Function f = parseBody("bra L; ret;\nL:");
  REQUIRE(f.instructions.size() == 3);
  CHECK(f.instructions[0].operands[0].index == 2);
  CHECK(f.instructions[2].location.ptxLine == 5);
}

TEST_CASE("places in the text and in the source", "[ptx]") {
  Function f = parseBody(
      "nop;\n.loc 2 14 3\nnop; nop;\n"
      ".loc 1 20 5, function_name $L__info0, inlined_at 2 15 7\nnop;\n"
      ".loc 3 1 1, function_name L+8, inlined_at 1 2 3 nop;");
  REQUIRE(f.instructions.size() == 6);
  CHECK(f.instructions[0].location.ptxLine == 3);
  CHECK(f.instructions[0].location.file == 0);
  CHECK(f.instructions[2].location.ptxLine == 5);
  CHECK(f.instructions[2].location.file == 2);
  CHECK(f.instructions[2].location.line == 14);
  CHECK(f.instructions[2].location.column == 3);
  CHECK(f.instructions[3].location.file == 1);
  CHECK(f.instructions[3].location.line == 20);
  CHECK(f.instructions[4].location.file == 3);
}

TEST_CASE("inlined code knows the line that called it first", "[ptx]") {
  Function f = parseBody(
      ".loc 2 15 7\nnop;\n.loc 1 20 5, function_name L, inlined_at 2 15 7\n"
      "nop;\n.loc 3 8 1, function_name L, inlined_at 1 20 5\nnop;\n"
      ".loc 2 16 1\nnop;");
  auto outer = [&](unsigned i) {
    const Location &location = f.instructions[i].location;
    return std::pair(location.outerFile, location.outerLine);
  };
  CHECK(outer(0) == std::pair(2u, 15u));
  CHECK(outer(1) == std::pair(2u, 15u));
  CHECK(f.instructions[2].location.line == 8);
  CHECK(outer(2) == std::pair(2u, 15u));
  CHECK(outer(3) == std::pair(2u, 16u));
}

TEST_CASE("comments, sections and pragmas say nothing", "[ptx]") {
  Module module =
      parse(head() +
            "/* one\n two */ .pragma \"nounroll\"; // rest\n"
            ".section .debug_abbrev\n{\n.b8 1\n.b8 17 {}\n.b64 $L__x + 4\n}\n"
            ".func f() { .pragma \"used_bytes_mask 15\"; nop; }\n"
            "\t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 70\n\t}\n");
  CHECK(module.functions.size() == 1);
  // Lines are counted in comments too.
  CHECK(module.functions[0].ptxLine == 10);
}

TEST_CASE("registers without a body's order", "[ptx]") {
  Function f = parseBody(".reg .b16 %rs<3>, x, %h<1>;\n"
                         ".reg .b128 %q<2>;\n"
                         "mov.b16 x, %rs2; mov.b16 %h0, %rs0;");
  REQUIRE(f.registers.size() == 7);
  CHECK(f.registers[2].name == "%rs2");
  CHECK(f.registers[3].name == "x");
  CHECK(f.registers[5].type == Type::B128);
  CHECK(f.instructions[0].operands[0].index == 3);
  CHECK(f.instructions[0].operands[1].index == 2);
  CHECK(f.instructions[1].operands[0].index == 4);
}

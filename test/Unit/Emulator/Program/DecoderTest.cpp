//===- DecoderTest.cpp - Slots, constants, pieces -------------------------===//

#include "lib/Emulator/Machine/Decoder.h"
#include "Loading.h"

using namespace tilec::emulator;
using namespace tilec::test;

namespace {

/// A program of one kernel.
struct Decoded : Loaded {
  explicit Decoded(const std::string &statements)
      : Loaded(kernelOf(statements)) {}
  const Instruction &at(unsigned i) const { return (*this)->instructions[i]; }
  /// The slot of a register: %p0, %r0, %x0, %f0 and %h0 are 0, 4, 12, 20, 24.
  Slot slot(unsigned index) const {
    return (*this)->functions[0].registers[index];
  }
  uint64_t constant(Slot slot) const {
    REQUIRE(slot >= Program::firstConstant);
    const Row &row = (*this)->constants[slot - Program::firstConstant];
    for (uint64_t value : row)
      CHECK(value == row[0]);
    return row[0];
  }
};
constexpr unsigned p = 0, r = 4, x = 12;

} // namespace

TEST_CASE("operands have slots", "[decoder]") {
  Decoded program("@!%p1 add.s32 %r1, %r2, -3;\nmov.u32 %r3, %ntid.y;\n"
                  "add.u32 %r1, %r1, 0xfffffffd; add.u16 %h1, %h2, -3;");
  const Instruction &add = program.at(0);
  CHECK(add.guard == program.slot(p + 1));
  CHECK(add.isGuardNegated);
  CHECK(add.numResults == 1);
  CHECK(add.numValues() == 2);
  CHECK(add.result(0) == program.slot(r + 1));
  CHECK(add.value(0) == program.slot(r + 2));
  CHECK(program.constant(add.value(1)) == 0xfffffffd);
  CHECK(add.type == ptx::Type::S32);
  CHECK(add.source->location.ptxLine == 3);
  CHECK(program.at(1).value(0) == Slot(Special::NtidY));
  CHECK(program.at(1).guard == noSlot);
  // The same bits are the same constant.
  CHECK(program.at(2).value(1) == add.value(1));
  CHECK(program.constant(program.at(3).value(1)) == 0xfffd);
}

TEST_CASE("vectors and addresses are flattened", "[decoder]") {
  Decoded program(".reg .b128 %q<2>; .shared .align 16 .b8 s[64];\n"
                  "ld.shared.v4.u32 {%r0, %r1, _, %r3}, [%r5+-8];\n"
                  "st.shared.v2.u32 [s+16], {%r1, 7};\n"
                  "mov.b128 %q1, {%x0, %x1};\nld.param.u64 %x1, [p];\n");
  const Instruction &load = program.at(0);
  CHECK(load.numResults == 4);
  CHECK(load.result(0) == program.slot(r));
  CHECK(load.result(2) == noSlot);
  CHECK(load.value(0) == program.slot(r + 5));
  CHECK(load.offset == -8);
  const Instruction &store = program.at(1);
  CHECK(store.numResults == 0);
  REQUIRE(store.numValues() == 3);
  CHECK(program.constant(store.value(0)) + uint64_t(store.offset) ==
        sharedOrigin + 16);
  CHECK(program.constant(store.value(2)) == 7);
  const Instruction &wide = program.at(2);
  CHECK(wide.numResults == 2);
  CHECK(wide.result(1) == wide.result(0) + 1);
  CHECK(wide.value(0) == program.slot(x));
  CHECK(program.constant(program.at(3).value(0)) == paramWindow);
}

TEST_CASE("instructions are aligned by name", "[decoder]") {
  Decoded program("bar.sync 0;\nbarrier.sync 0;\nbarrier.sync.aligned 0;\n"
                  "bar.warp.sync -1;\nadd.u32 %r0, %r1, %r2;");
  CHECK(program.at(0).isAligned);
  CHECK_FALSE(program.at(1).isAligned);
  CHECK(program.at(2).isAligned);
  CHECK_FALSE(program.at(3).isAligned);
  CHECK_FALSE(program.at(4).isAligned);
}

TEST_CASE("the first unsupported instruction is named", "[decoder]") {
  CHECK(Decoded("ret;\ntex.2d.v4.f32.f32 {%f0}, [%x0, {%f1}];\nfoo;").error ==
        "t.ptx:4: unsupported instruction 'tex.2d.v4.f32.f32': textures and "
        "surfaces are not emulated");
  CHECK(Decoded("ret;\nfoo.u32 %r0;").error ==
        "t.ptx:4: unsupported instruction 'foo.u32': no such opcode is known");
  using Catch::Matchers::Contains;
  CHECK_THAT(
      Decoded("multimem.st.global.f32 [%x0], %f0;").error,
      Contains("t.ptx:3: unsupported instruction 'multimem.st.global.") &&
          Contains("multicast memory of several GPUs"));
  CHECK_THAT(
      Decoded("tensormap.replace.tile.rank.global.b1024.b32 [%x0], 1;").error,
      Contains("tensor maps that the device changes"));
  CHECK_THAT(Decoded("mov.u32 %r0, %envreg2;").error,
             Contains("t.ptx:3: ") && Contains("%envreg2 is not known"));
  // Functions are looked at in the order of the text, run or not.
  CHECK(Loaded(".func g() { ret; }\n.func h() { foo.bar; ret; }\n" +
               kernelOf("baz;"))
            .error ==
        "t.ptx:3: unsupported instruction 'foo.bar': no such opcode is known");
}

TEST_CASE("pieces are taken one by one", "[decoder]") {
  ptx::Instruction from;
  from.pieces = {"cvt", "rn", "sat", "f16", "f32", "rn"};
  Pieces pieces(from);
  CHECK(pieces.next() == "rn");
  CHECK(pieces.take("sat"));
  CHECK_FALSE(pieces.take("sat"));
  CHECK_FALSE(pieces.take("cvt"));
  CHECK(pieces.takeType() == ptx::Type::F16);
  CHECK(pieces.takeNext() == "rn");
  CHECK(pieces.takeType() == ptx::Type::F32);
  CHECK(pieces.takeType() == ptx::Type::None);
  CHECK(pieces.take("rn"));
  CHECK(pieces.next() == "");
  CHECK(pieces.takeNext() == "");
}

TEST_CASE("numbers are of the operand's type", "[decoder]") {
  auto constant = [](const std::string &statement) {
    Decoded program(statement);
    return program.constant(program.at(0).value(0));
  };
  CHECK(constant("mov.f32 %f0, 0f40000000;") == 0x40000000);
  CHECK(constant("mov.f32 %f0, 2.0;") == 0x40000000);
  CHECK(constant("mov.b32 %r0, 0f40000000;") == 0x40000000);
  CHECK(constant("mov.b64 %x0, 0d4000000000000000;") == 0x4000000000000000);
  CHECK(constant("mov.f64 %x0, 0f40000000;") == 0x4000000000000000);
  CHECK(constant("mov.u16 %h0, 65537;") == 1);
  CHECK(constant("not.pred %p0, 2;") == 1);
  std::string end = "is a number of another type";
  using Catch::Matchers::EndsWith;
  CHECK_THAT(Decoded("mov.f32 %f0, 2;").error, EndsWith(end));
  CHECK_THAT(Decoded("mov.f64 %x0, 2;").error, EndsWith(end));
  CHECK_THAT(Decoded("mov.u32 %r0, 2.0;").error, EndsWith(end));
  CHECK_THAT(Decoded("mov.b16 %h0, 0f40000000;").error, EndsWith(end));
}

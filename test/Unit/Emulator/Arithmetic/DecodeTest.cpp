//===- DecodeTest.cpp - Float instructions that are refused ---------------===//

#include "lib/Emulator/Emulator.h"
#include <catch2/catch.hpp>

using namespace tilec::emulator;

/// "" or the error of a kernel with one instruction.
static std::string decode(llvm::StringRef instruction) {
  std::string text = R"(.version 8.8
.target sm_90a
.address_size 64
.visible .entry f() {
.reg .pred %p<4>;
.reg .b16 %h<8>;
.reg .b32 %r<40>;
.reg .b64 %d<20>;
)";
  text += instruction.str() + "\nret;\n}\n";
  DeviceMemory memory;
  auto program = loadProgram(text, "test.ptx", memory);
  return program ? "" : llvm::toString(program.takeError());
}

TEST_CASE("Float instructions in all their forms are taken") {
  for (
      const char *text : {
          R"(add.f32 %r1, %r2, %r3;)",
          R"(add.rz.ftz.sat.f32 %r1, %r2, 0f3F800000;)",
          R"(fma.rn.relu.bf16x2 %r1, %r2, %r3, %r4;)",
          R"(mad.rp.f64 %d1, %d2, %d3, %d4;)",
          R"(max.NaN.xorsign.abs.f16 %h1, %h2, %h3;)",
          R"(min.f32 %r1, %r2, %r3, %r4;)",
          R"(div.full.ftz.f32 %r1, %r2, %r3;)",
          R"(rcp.approx.ftz.f64 %d1, %d2;)",
          R"(tanh.approx.bf16x2 %r1, %r2;)",
          R"(testp.subnormal.f64 %p1, %d1;)",
          R"(cvt.rn.satfinite.relu.e4m3x2.f32 %h1, %r1, %r2;)",
          R"(cvt.rna.tf32.f32 %r1, %r2;)",
          R"(cvt.s64.s8 %d1, %r1;)",
          R"(cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4;)",
          R"(ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%r1, %r2}, [%r3+16];)",
          R"(stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%r1};)",
          R"(movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;)",
          R"(mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, {%r5}, {%r6, %r7};)",
          R"(mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r9, %r10}, {%r11, %r12, %r13, %r14};)",
      }) {
    INFO(text);
    CHECK(decode(text) == "");
  }
}

TEST_CASE("What is not known is refused, with its line") {
  struct {
    const char *text, *message;
  } cases[] = {
      {R"(mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r9, %r10, %r11, %r12}, {%r13, %r14, %r15, %r16}, %r17, 0;)",
       "sparse matrices are not emulated"},
      {R"(mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, {%r5}, {%r6}, {%r7, %r8, %r9, %r10};)",
       "this shape is not known for these types and layouts"},
      {R"(mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3}, {%r5}, {%r6, %r7};)",
       "its fragments have"},
      {R"(ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%r3];)",
       "only the shape m8n8"},
      {R"(ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2}, [%r3];)",
       "4 registers and an address"},
      {R"(add.rm.f16 %h1, %h2, %h3;)", "rounded to nearest only"},
      {R"(add.rn.strange.f32 %r1, %r2, %r3;)", "'.strange' is not known here"},
      {R"(sin.approx.f16 %h1, %h2;)", "not known for this type"},
      {R"(ex2.f32 %r1, %r2;)", "it must be .approx"},
      {R"(div.rn.approx.f32 %r1, %r2, %r3;)", "cannot be both"},
      {R"(cvt.f32.pred %r1, %p1;)", "these types are not known together"},
      {R"(cvt.rn.satfinite.e4m3x2.f32 %h1, %r1;)", "operands"},
      {R"(cvt.u64.u32 %r1, %r2;)", "too narrow"},
      {R"(cvt.rn %r1, %r2;)", "these types are not known together"},
      {R"(fma.rn.f32 %r1, %r2, %r3;)", "operands"},
      {R"(fma.rn.f64 %r1, %d2, %d3, %d4;)", "operand 1"},
  };
  for (auto [text, message] : cases) {
    std::string error = decode(text);
    INFO(text << "\n" << error);
    CHECK(error.find("test.ptx:9: ") == 0);
    CHECK(error.find(message) != std::string::npos);
  }
}

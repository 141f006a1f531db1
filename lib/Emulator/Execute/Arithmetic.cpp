//===- Arithmetic.cpp - Opcodes of integers and floats --------------------===//

#include "lib/Emulator/Execute/Families.h"

namespace tilec::emulator {

namespace {

/// By the first piece that names a type: "add.rn.f32" is a float's, and so is
/// one that mixes types, "add.f32.bf16".
llvm::Error decodeShared(Decoder &decoder, const ptx::Instruction &from,
                         Instruction &to) {
  ptx::Type type = Pieces(from).takeType();
  return ptx::isFloat(type) ? decodeFloat(decoder, from, to)
                            : decodeInteger(decoder, from, to);
}

} // namespace

void addSharedArithmetic(InstructionSet &set) {
  for (const char *opcode :
       {"add", "sub", "mul", "mad", "div", "abs", "neg", "min", "max"})
    set.add(opcode, decodeShared);
}

} // namespace tilec::emulator

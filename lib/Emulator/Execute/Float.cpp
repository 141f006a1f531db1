//===- Float.cpp ----------------------------------------------------------===//

#include "lib/Emulator/Execute/Families.h"

namespace tilec::emulator {

llvm::Error decodeFloat(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  return decoder.unsupported(from, "no float instruction is known");
}

void addFloatInstructions(InstructionSet &) {}

} // namespace tilec::emulator

//===- Integer.cpp --------------------------------------------------------===//

#include "lib/Emulator/Execute/Families.h"

namespace tilec::emulator {

llvm::Error decodeInteger(Decoder &decoder, const ptx::Instruction &from,
                          Instruction &to) {
  return decoder.unsupported(from, "no integer instruction is known");
}

void addIntegerInstructions(InstructionSet &) {}

} // namespace tilec::emulator

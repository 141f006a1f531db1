//===- Integer.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Decoder.h"

namespace tilec::emulator {

void addIntegerInstructions(InstructionSet &) {}

} // namespace tilec::emulator

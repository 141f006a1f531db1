//===- Memory.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Decoder.h"

namespace tilec::emulator {

void addMemoryInstructions(InstructionSet &) {}

} // namespace tilec::emulator

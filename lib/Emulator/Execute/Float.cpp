//===- Float.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Decoder.h"

namespace tilec::emulator {

void addFloatInstructions(InstructionSet &) {}

} // namespace tilec::emulator

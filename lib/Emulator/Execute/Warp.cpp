//===- Warp.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Decoder.h"

namespace tilec::emulator {

void addWarpInstructions(InstructionSet &) {}

} // namespace tilec::emulator

//===- ControlFlow.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Decoder.h"

namespace tilec::emulator {

void addControlFlow(InstructionSet &) {}

} // namespace tilec::emulator

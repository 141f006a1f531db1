//===- Wgmma.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Decoder.h"

namespace tilec::emulator {

void addWgmma(InstructionSet &) {}

} // namespace tilec::emulator

//===- Barriers.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Decoder.h"

namespace tilec::emulator {

void addBarriers(InstructionSet &) {}

} // namespace tilec::emulator

//===- MemoryBarrier.cpp
//----------------------------------------------------===//

#include "lib/Emulator/Machine/Decoder.h"

namespace tilec::emulator {

void addMemoryBarriers(InstructionSet &) {}

} // namespace tilec::emulator

//===- Moves.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Decoder.h"

namespace tilec::emulator {

void addMoves(InstructionSet &) {}

} // namespace tilec::emulator

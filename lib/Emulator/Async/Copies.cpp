//===- Copies.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Decoder.h"

namespace tilec::emulator {

void addCopies(InstructionSet &) {}

} // namespace tilec::emulator

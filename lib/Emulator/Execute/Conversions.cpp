//===- Conversions.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Decoder.h"

namespace tilec::emulator {

void addConversions(InstructionSet &) {}

} // namespace tilec::emulator

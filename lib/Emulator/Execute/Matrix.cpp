//===- Matrix.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Decoder.h"

namespace tilec::emulator {

void addMatrixInstructions(InstructionSet &) {}

} // namespace tilec::emulator

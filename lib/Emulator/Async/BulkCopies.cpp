//===- BulkCopies.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Decoder.h"

namespace tilec::emulator {

void addBulkCopies(InstructionSet &) {}

} // namespace tilec::emulator

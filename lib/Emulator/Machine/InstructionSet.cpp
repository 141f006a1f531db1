//===- InstructionSet.cpp - All that the emulator knows -------------------===//

#include "lib/Emulator/Execute/Families.h"
#include <cassert>

namespace tilec::emulator {

void InstructionSet::add(llvm::StringRef opcode, DecodeFunction decode) {
  [[maybe_unused]] bool isNew = decoders.try_emplace(opcode, decode).second;
  assert(isNew && "two families have the same opcode");
}

DecodeFunction InstructionSet::find(llvm::StringRef opcode) const {
  return decoders.lookup(opcode);
}

const InstructionSet &InstructionSet::all() {
  static const InstructionSet set = [] {
    InstructionSet result;
    for (auto *add :
         {addSharedArithmetic, addIntegerInstructions, addFloatInstructions,
          addConversions, addMoves, addMemoryInstructions, addControlFlow,
          addWarpInstructions, addBarriers, addMatrixInstructions, addCopies,
          addMemoryBarriers, addWgmma})
      add(result);
    return result;
  }();
  return set;
}

} // namespace tilec::emulator

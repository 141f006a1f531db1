//===- World.h - A detector without a machine -------------------*- C++ -*-===//
//
// What tests of the detector need around it: instructions with a line each, a
// reporter, and places in memory.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_UNIT_EMULATOR_RACE_WORLD_H
#define TILEC_TEST_UNIT_EMULATOR_RACE_WORLD_H

#include "lib/Emulator/Machine/Instruction.h"
#include "lib/Emulator/Machine/Memory.h"
#include "lib/Emulator/Race/Detector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <deque>
#include <memory>
#include <vector>

namespace tilec::test {

using namespace tilec::emulator;

class World {
public:
  /// Clusters of so many blocks with so many threads each.
  explicit World(unsigned blockThreads, unsigned numBlocks = 1,
                 unsigned numClusters = 1, uint64_t sharedBytes = 4096) {
    for (unsigned i = 0; i < numClusters; ++i) {
      detectors.push_back(std::make_unique<Detector>(
          blockThreads, numBlocks, i, sharedBytes, global, reporter));
      for (unsigned rank = 0; rank < numBlocks; ++rank) {
        detectors[i]->setBlockPosition(rank, {i * numBlocks + rank, 0, 0});
        detectors[i]->forget(shared(0, rank), sharedBytes, true);
      }
    }
  }

  Detector *operator->() { return detectors[0].get(); }
  Detector &cluster(unsigned i) { return *detectors[i]; }

  /// An instruction, each time with a line of its own.
  const Instruction &at(llvm::StringRef name) {
    ptx::Instruction &source = sources.emplace_back();
    llvm::SmallVector<llvm::StringRef> pieces;
    name.split(pieces, '.');
    for (llvm::StringRef piece : pieces)
      source.pieces.push_back(piece.str());
    source.location.ptxLine = sources.size();
    Instruction &result = instructions.emplace_back();
    result.source = &source;
    return result;
  }

  static uint64_t shared(uint64_t offset, unsigned rank = 0) {
    return canonicalShared(rank, sharedOrigin + offset);
  }
  static uint64_t device(uint64_t offset) { return 0x10'0000 + offset; }

  /// What was found since the last call.
  std::vector<Report> reports() { return reporter.take(); }
  bool isClean() const { return reporter.empty(); }

private:
  std::deque<ptx::Instruction> sources;
  std::deque<Instruction> instructions;
  Reporter reporter;
  GlobalShadow global;
  std::vector<std::unique_ptr<Detector>> detectors;
};

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_EMULATOR_RACE_WORLD_H

//===- Counters.h - What a launch did, counted ------------------*- C++ -*-===//
//
// Numbers that do not depend on the speed of a machine. All are sums over the
// launch. Global traffic is counted the way the hardware moves it: a warp's
// access touches so many different sectors of 32 bytes; shared memory, in
// *wavefronts*: 32 banks of 4 bytes each answer one word a wavefront, so an
// access without conflicts by 32 lanes takes one for each 4 bytes of a lane.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_MACHINE_COUNTERS_H
#define TILEC_EMULATOR_MACHINE_COUNTERS_H

#include "llvm/Support/JSON.h"
#include <cstdint>
#include <map>
#include <string>

namespace tilec::emulator {

struct Counters {
  uint64_t warpInstructions = 0, threadInstructions = 0;
  std::map<std::string, uint64_t> byOpcode; // Of a warp, by the first piece.
  uint64_t globalLoadBytes = 0, globalLoadSectors = 0;
  uint64_t globalStoreBytes = 0, globalStoreSectors = 0;
  uint64_t globalAtomics = 0;
  uint64_t bulkLoadBytes = 0, bulkStoreBytes = 0; // Between global and shared.
  uint64_t sharedLoadWavefronts = 0, sharedLoadIdeal = 0;
  uint64_t sharedStoreWavefronts = 0, sharedStoreIdeal = 0;
  uint64_t mmaOperations = 0, wgmmaOperations = 0; // Of a warp; of a warpgroup.
  uint64_t mmaFlops = 0, wgmmaFlops = 0;           // 2 * m * n * k each.

  Counters &operator+=(const Counters &other);
};

/// For people, a line each; and for programs.
std::string format(const Counters &counters);
llvm::json::Value toJSON(const Counters &counters);

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_MACHINE_COUNTERS_H

//===- SimulatedBanks.h - The banks of shared memory -----------*- C++ -*-===//

#ifndef TILEC_TEST_UNIT_LAYOUT_SIMULATEDBANKS_H
#define TILEC_TEST_UNIT_LAYOUT_SIMULATEDBANKS_H

#include "lib/Layout/SharedLayout.h"

#include <set>

namespace tilec::test {

/// What bankAccess should find: the lanes of a quarter, half or whole warp ask
/// for words byte by byte, and each of 32 banks serves one word a cycle.
inline layout::BankAccess simulateBanks(llvm::ArrayRef<uint64_t> addresses,
                                        unsigned accessBytes) {
  unsigned lanes = accessBytes == 16 ? 8 : accessBytes == 8 ? 16 : 32;
  layout::BankAccess result;
  for (unsigned first = 0; first < addresses.size(); first += lanes) {
    std::set<uint64_t> words;
    for (unsigned lane = first; lane < first + lanes && lane < addresses.size();
         ++lane)
      for (unsigned byte = 0; byte < accessBytes; ++byte)
        words.insert((addresses[lane] + byte) / 4);
    unsigned cycles = 0;
    while (!words.empty()) {
      ++cycles;
      for (unsigned bank = 0; bank < 32; ++bank)
        for (uint64_t word : words)
          if (word % 32 == bank) {
            words.erase(word);
            break;
          }
    }
    result.wavefronts += cycles;
    result.degree = std::max(result.degree, cycles);
  }
  return result;
}

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_LAYOUT_SIMULATEDBANKS_H

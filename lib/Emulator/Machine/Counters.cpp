//===- Counters.cpp - What a launch did, counted --------------------------===//

#include "lib/Emulator/Machine/Counters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <tuple>
#include <vector>

namespace tilec::emulator {

namespace {

struct Field {
  const char *name; // In JSON.
  const char *text; // For people.
  uint64_t Counters::*count;
};

constexpr Field fields[] = {
    {"warp_instructions", "instructions of warps", &Counters::warpInstructions},
    {"thread_instructions", "instructions of threads",
     &Counters::threadInstructions},
    {"global_load_bytes", "bytes loaded from global memory",
     &Counters::globalLoadBytes},
    {"global_load_sectors", "sectors loaded from global memory",
     &Counters::globalLoadSectors},
    {"global_store_bytes", "bytes stored to global memory",
     &Counters::globalStoreBytes},
    {"global_store_sectors", "sectors stored to global memory",
     &Counters::globalStoreSectors},
    {"global_atomics", "atomic operations of threads on global memory",
     &Counters::globalAtomics},
    {"bulk_load_bytes", "bytes copied in bulk from global to shared memory",
     &Counters::bulkLoadBytes},
    {"bulk_store_bytes", "bytes copied in bulk from shared to global memory",
     &Counters::bulkStoreBytes},
    {"shared_load_wavefronts", "wavefronts of loads from shared memory",
     &Counters::sharedLoadWavefronts},
    {"shared_load_ideal", "wavefronts of these without bank conflicts",
     &Counters::sharedLoadIdeal},
    {"shared_store_wavefronts", "wavefronts of stores to shared memory",
     &Counters::sharedStoreWavefronts},
    {"shared_store_ideal", "wavefronts of these without bank conflicts",
     &Counters::sharedStoreIdeal},
    {"mma_operations", "mma operations of warps", &Counters::mmaOperations},
    {"wgmma_operations", "wgmma operations of warpgroups",
     &Counters::wgmmaOperations},
    {"mma_flops", "floating-point operations of mma", &Counters::mmaFlops},
    {"wgmma_flops", "floating-point operations of wgmma",
     &Counters::wgmmaFlops},
};

} // namespace

Counters &Counters::operator+=(const Counters &other) {
  for (const Field &field : fields)
    this->*field.count += other.*field.count;
  for (const auto &[opcode, count] : other.byOpcode)
    byOpcode[opcode] += count;
  return *this;
}

std::string format(const Counters &counters) {
  std::string result;
  llvm::raw_string_ostream os(result);
  for (const Field &field : fields)
    if (uint64_t count = counters.*field.count)
      os << count << ' ' << field.text << '\n';
  std::vector<std::pair<std::string, uint64_t>> opcodes(
      counters.byOpcode.begin(), counters.byOpcode.end());
  llvm::sort(opcodes, [](const auto &a, const auto &b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  if (!opcodes.empty())
    os << "by opcode:";
  for (const auto &[opcode, count] : opcodes)
    os << ' ' << opcode << ' ' << count;
  if (!opcodes.empty())
    os << '\n';
  return result;
}

llvm::json::Value toJSON(const Counters &counters) {
  llvm::json::Object result;
  for (const Field &field : fields)
    result[field.name] = counters.*field.count;
  llvm::json::Object opcodes;
  for (const auto &[opcode, count] : counters.byOpcode)
    opcodes[opcode] = count;
  result["by_opcode"] = std::move(opcodes);
  return result;
}

} // namespace tilec::emulator

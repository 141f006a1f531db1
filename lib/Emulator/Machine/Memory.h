//===- Memory.h - Addresses and device memory -------------------*- C++ -*-===//
//
// Addresses are 64-bit numbers that mean the same in every run; they are not
// pointers of the host. One space has them all, with a window for each kind of
// memory, so a generic address tells its space by its value:
//
//   sharedWindow + (rank << 24) + offset   shared memory of a block of the
//                                cluster. As 32-bit addresses of .shared these
//                                are the low bits, where field `rank` is 0 for
//                                the block itself and rank + 1 for a block that
//                                mapa has named.
//   localWindow + offset         local memory of the thread
//   paramWindow + offset         parameters of the kernel
//   anything else                global memory: an allocation, or nothing
//
// The *canonical* address of a byte of shared memory has rank + 1 in the field
// always, so bytes have one address however they are reached. The detector and
// messages use canonical addresses.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_MACHINE_MEMORY_H
#define TILEC_EMULATOR_MACHINE_MEMORY_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <shared_mutex>
#include <string>
#include <vector>

namespace tilec::emulator {

constexpr uint64_t sharedWindow = 0x7f00'0000'0000;
constexpr uint64_t localWindow = 0x7e00'0000'0000;
constexpr uint64_t paramWindow = 0x7d00'0000'0000;
constexpr uint64_t windowBytes = 0x100'0000'0000;
constexpr unsigned sharedRankShift = 24;
/// Where a block's shared memory begins; below it is the system's own KiB.
constexpr uint64_t sharedOrigin = 1024;

/// The canonical address of an offset of the shared memory of block `rank`.
constexpr uint64_t canonicalShared(unsigned rank, uint64_t offset) {
  return sharedWindow + (uint64_t(rank + 1) << sharedRankShift) + offset;
}
constexpr bool isShared(uint64_t address) {
  return address >= sharedWindow && address < sharedWindow + windowBytes;
}

/// What memory holds that nobody wrote: every float type has a NaN there.
constexpr unsigned char poisonByte = 0xff;

/// Of an allocation's bytes on the host: as strict as any access is.
constexpr size_t hostAlignment = 128;
struct AlignedDelete {
  void operator()(char *bytes) const {
    ::operator delete[](bytes, std::align_val_t(hostAlignment));
  }
};

struct Allocation {
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::string name; // For messages; may be empty.
  std::unique_ptr<char[], AlignedDelete> data;
};

/// Where an allocation is, for those who look up many addresses.
struct AllocationRange {
  uint64_t begin = 0, end = 0;
  char *data = nullptr;
};

/// Global memory. Allocations are apart from each other, so that reaching past
/// the end of one never finds another. New memory is filled with a pattern that
/// is a NaN in every float type. Thread-safe; but what kernels do to the bytes
/// is theirs, and nothing may be freed while a launch runs.
class DeviceMemory {
public:
  DeviceMemory();
  ~DeviceMemory();

  /// Bytes at an address that is a multiple of `alignment`, a power of two; 0
  /// bytes have an address too. 0 if the host has no memory left.
  uint64_t allocate(uint64_t bytes, llvm::StringRef name = "",
                    uint64_t alignment = 256);
  /// False if no allocation begins there.
  bool free(uint64_t address);
  /// The bytes on the host if they all belong to one allocation, else null.
  char *find(uint64_t address, uint64_t bytes) const;
  /// The allocation of a byte, or the nearest one below; null if there is none.
  const Allocation *nearest(uint64_t address) const;
  /// All allocations in the order of their addresses.
  std::vector<AllocationRange> ranges() const;

private:
  mutable std::shared_mutex mutex;
  std::map<uint64_t, Allocation> allocations;
  uint64_t next;
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_MACHINE_MEMORY_H

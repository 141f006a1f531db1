//===- Memory.cpp - Addresses and device memory ---------------------------===//

#include "lib/Emulator/Machine/Memory.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

namespace tilec::emulator {

namespace {
// Far from 0, where wrong pointers of small value lead, and from the windows.
constexpr uint64_t firstAddress = 0x7'0000'0000;
// At least this far apart: an index that is wrong by a little finds nothing.
constexpr uint64_t gap = 4096;
} // namespace

DeviceMemory::DeviceMemory() : next(firstAddress) {}
DeviceMemory::~DeviceMemory() = default;

uint64_t DeviceMemory::allocate(uint64_t bytes, llvm::StringRef name,
                                uint64_t alignment) {
  if (!llvm::isPowerOf2_64(alignment) || bytes >= paramWindow)
    return 0;
  Allocation made;
  made.bytes = bytes;
  made.name = name.str();
  // The host's bytes are as aligned as the device's, up to what any access
  // asks for, so that atomic accesses of the host work.
  made.data.reset(static_cast<char *>(
      ::operator new[](std::max<uint64_t>(bytes, 1),
                       std::align_val_t(hostAlignment), std::nothrow)));
  if (!made.data)
    return 0;
  std::memset(made.data.get(), poisonByte, bytes);
  std::unique_lock lock(mutex);
  uint64_t address =
      llvm::alignTo(next, std::max<uint64_t>(alignment, hostAlignment));
  if (address < next || address + bytes + gap >= paramWindow)
    return 0;
  next = address + bytes + gap;
  made.address = address;
  allocations.emplace(address, std::move(made));
  return address;
}

bool DeviceMemory::free(uint64_t address) {
  std::unique_lock lock(mutex);
  return allocations.erase(address) != 0;
}

const Allocation *DeviceMemory::nearest(uint64_t address) const {
  std::shared_lock lock(mutex);
  auto after = allocations.upper_bound(address);
  return after == allocations.begin() ? nullptr : &std::prev(after)->second;
}

char *DeviceMemory::find(uint64_t address, uint64_t bytes) const {
  const Allocation *found = nearest(address);
  if (!found)
    return nullptr;
  uint64_t offset = address - found->address;
  if (offset > found->bytes || bytes > found->bytes - offset)
    return nullptr;
  return found->data.get() + offset;
}

std::vector<AllocationRange> DeviceMemory::ranges() const {
  std::shared_lock lock(mutex);
  std::vector<AllocationRange> result;
  result.reserve(allocations.size());
  for (const auto &[address, allocation] : allocations)
    result.push_back(
        {address, address + allocation.bytes, allocation.data.get()});
  return result;
}

} // namespace tilec::emulator

//===- GuardedMemory.h - Memory between inaccessible pages ------*- C++ -*-===//
//
// Where the tests put tensors: bytes that end right before a page that cannot
// be accessed, or begin right after one. A kernel that reads or writes one byte
// beyond dies on the spot. The rest of the first or last page is filled with
// poison (NaN for floats), so that on that side a read spoils the result and a
// write is seen.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_INTEGRATION_GUARDEDMEMORY_H
#define TILEC_TEST_INTEGRATION_GUARDEDMEMORY_H

#include "lib/Runtime/TensorView.h"
#include "llvm/ADT/ArrayRef.h"

namespace tilec::test {

class GuardedMemory {
public:
  enum class Place { AtEnd, AtBegin };

  GuardedMemory() = default;
  /// `bytes` for elements of `dtype`, all of them poisoned.
  GuardedMemory(DType dtype, size_t bytes, Place place);
  GuardedMemory(GuardedMemory &&other) { *this = std::move(other); }
  GuardedMemory &operator=(GuardedMemory &&other) {
    std::swap(mapped, other.mapped);
    std::swap(pages, other.pages);
    std::swap(bytes, other.bytes);
    return *this;
  }
  ~GuardedMemory();

  /// What was asked for.
  uint8_t *data() const { return bytes; }
  /// That and the poisoned rest of the pages.
  llvm::MutableArrayRef<uint8_t> accessible() const { return pages; }

private:
  llvm::MutableArrayRef<uint8_t> mapped, pages;
  uint8_t *bytes = nullptr;
};

} // namespace tilec::test

#endif // TILEC_TEST_INTEGRATION_GUARDEDMEMORY_H

//===- GuardedMemory.cpp - Memory between inaccessible pages ----*- C++ -*-===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/GuardedMemory.h"
#include "lib/Runtime/Array.h"

#include <catch2/catch.hpp>
#include <sys/mman.h>
#include <unistd.h>

using namespace tilec;
using namespace tilec::test;

GuardedMemory::GuardedMemory(DType dtype, size_t size, Place place) {
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t usable = std::max<size_t>(1, (size + page - 1) / page) * page;
  void *memory = mmap(nullptr, usable + 2 * page, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    FAIL("no memory");
  mapped = {static_cast<uint8_t *>(memory), usable + 2 * page};
  pages = mapped.drop_front(page).drop_back(page);
  if (mprotect(pages.data(), usable, PROT_READ | PROT_WRITE) != 0)
    FAIL("mprotect failed");
  bytes = place == Place::AtEnd ? pages.end() - size : pages.begin();
  poison(TensorView::contiguous(
      pages.data(), dtype, {static_cast<int64_t>(usable / byteSize(dtype))}));
}

GuardedMemory::~GuardedMemory() {
  if (!mapped.empty())
    munmap(mapped.data(), mapped.size());
}

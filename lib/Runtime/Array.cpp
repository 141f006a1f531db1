//===- Array.cpp - An owned tensor in host memory ---------------*- C++ -*-===//
//
// One allocation holds, in this order, the front guard, the storage, and the
// back guard. Poison is laid out in whole elements counted from the begin of
// the storage, so that every misplaced read of an aligned element is a NaN.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Array.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

using namespace tilec;

uint64_t tilec::poisonBits(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return 0xFFFDA5A5A5A5A5A5;
  case DType::F32:
  case DType::TF32:
    return 0xFFE5A5A5;
  case DType::F16:
    return 0xFFA5;
  case DType::BF16:
    return 0xFFE5;
  case DType::F8E4M3:
  case DType::F8E5M2:
    return 0xFF;
  default:
    return 0xA5A5A5A5A5A5A5A5 >> (64 - 8 * byteSize(dtype));
  }
}

namespace {

/// The byte of the poison pattern at a position relative to the storage.
class PoisonPattern {
public:
  explicit PoisonPattern(DType dtype)
      : bytes(byteSize(dtype)), bits(poisonBits(dtype)) {}

  uint8_t at(int64_t position) const {
    // Element sizes are powers of two, so masking also works before 0.
    unsigned byte = static_cast<unsigned>(position & (bytes - 1));
    return static_cast<uint8_t>(bits >> (8 * byte));
  }

private:
  unsigned bytes;
  uint64_t bits;
};

/// Which bytes of the storage belong to an element.
std::vector<bool> elementBytes(const Array &array) {
  llvm::MutableArrayRef<uint8_t> storage = array.storage();
  std::vector<bool> covered(storage.size());
  unsigned bytes = byteSize(array.dtype());
  forEachElement(array, [&](void *element, int64_t) {
    size_t begin = static_cast<uint8_t *>(element) - storage.data();
    for (unsigned byte = 0; byte < bytes; ++byte)
      covered[begin + byte] = true;
  });
  return covered;
}

/// Calls `body(position, byte)` for each byte outside the elements, in order of
/// address, until it returns false.
template <typename Body>
void forEachCanary(const Array &array, size_t guardBytes, Body body) {
  llvm::MutableArrayRef<uint8_t> storage = array.storage();
  int64_t guard = static_cast<int64_t>(guardBytes);
  int64_t size = static_cast<int64_t>(storage.size());
  for (int64_t position = -guard; position < 0; ++position)
    if (!body(position, storage.data()[position]))
      return;
  // Looking for gaps costs a pass over the elements; most arrays have none.
  if (!array.view().isContiguous()) {
    std::vector<bool> covered = elementBytes(array);
    for (int64_t position = 0; position < size; ++position)
      if (!covered[position] && !body(position, storage.data()[position]))
        return;
  }
  for (int64_t position = size; position < size + guard; ++position)
    if (!body(position, storage.data()[position]))
      return;
}

} // namespace

void Array::FreeDeleter::operator()(void *memory) const { std::free(memory); }

Array::Array() : tensor(TensorView::contiguous(nullptr, DType::F32, {0})) {}

llvm::Expected<Array> Array::create(DType dtype, llvm::ArrayRef<int64_t> shape,
                                    size_t guardBytes) {
  // The strides of too large a shape would overflow.
  if (!checkedNumElements(shape))
    return llvm::createStringError(
        "expected extents of 0 or more whose product fits 64 bits, found " +
        toString(dtype, shape));
  return allocate(TensorView::contiguous(nullptr, dtype, shape), guardBytes);
}

llvm::Expected<Array> Array::createStrided(DType dtype,
                                           llvm::ArrayRef<int64_t> shape,
                                           llvm::ArrayRef<int64_t> strides,
                                           size_t guardBytes) {
  return allocate({nullptr, dtype, Extents(shape), Extents(strides)},
                  guardBytes);
}

llvm::Expected<Array> Array::allocate(TensorView view, size_t guardBytes) {
  std::optional<ByteExtent> extent = byteExtent(view);
  if (!extent || !checkedNumElements(view.shape))
    return llvm::createStringError(
        "expected one stride for each extent, extents of 0 or more, and a size "
        "in bytes that fits 64 bits, found " +
        toString(view));

  Array array;
  array.storageBytes = extent->size();
  array.guardBytes = llvm::alignTo(guardBytes, alignment);
  // aligned_alloc wants a multiple of the alignment, and not zero.
  __int128 total = static_cast<__int128>(array.storageBytes) +
                   2 * static_cast<__int128>(array.guardBytes);
  total = std::max<__int128>((total + alignment - 1) / alignment * alignment,
                             alignment);
  if (total <= std::numeric_limits<ptrdiff_t>::max())
    array.memory.reset(static_cast<uint8_t *>(
        std::aligned_alloc(alignment, static_cast<size_t>(total))));
  if (!array.memory)
    return llvm::createStringError(
        "cannot allocate " + llvm::Twine(array.storageBytes) + " bytes for " +
        toString(view) +
        "\nhelp: use smaller sizes or a machine with more "
        "memory");
  array.storageBegin = array.memory.get() + array.guardBytes;
  std::memset(array.storageBegin, 0, array.storageBytes);
  array.tensor = std::move(view);
  array.tensor.data = array.storageBegin - extent->low;
  array.repairCanaries();
  return array;
}

llvm::Expected<Array> Array::copyOf(const TensorView &source,
                                    std::optional<DType> dtype) {
  llvm::Expected<Array> copy =
      create(dtype.value_or(source.dtype), source.shape);
  if (copy)
    copyElements(*copy, source);
  return copy;
}

int64_t Array::offset() const {
  if (!storageBegin)
    return 0;
  return (static_cast<uint8_t *>(tensor.data) - storageBegin) /
         int64_t(byteSize(dtype()));
}

std::optional<int64_t> Array::firstBrokenCanary() const {
  std::optional<int64_t> broken;
  if (!isGuarded())
    return broken;
  PoisonPattern pattern(dtype());
  forEachCanary(*this, guardBytes, [&](int64_t position, uint8_t &byte) {
    if (byte != pattern.at(position))
      broken = position;
    return !broken;
  });
  return broken;
}

void Array::repairCanaries() {
  if (!isGuarded())
    return;
  PoisonPattern pattern(dtype());
  forEachCanary(*this, guardBytes, [&](int64_t position, uint8_t &byte) {
    byte = pattern.at(position);
    return true;
  });
}

void tilec::poison(const TensorView &view) {
  uint64_t bits = poisonBits(view.dtype);
  unsigned bytes = byteSize(view.dtype);
  forEachElement(view, [&](void *element, int64_t) {
    for (unsigned byte = 0; byte < bytes; ++byte)
      static_cast<uint8_t *>(element)[byte] =
          static_cast<uint8_t>(bits >> (8 * byte));
  });
}

void tilec::poison(Array &array) {
  PoisonPattern pattern(array.dtype());
  int64_t position = 0;
  for (uint8_t &byte : array.storage())
    byte = pattern.at(position++);
}

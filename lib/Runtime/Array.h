//===- Array.h - An owned tensor in host memory -----------------*- C++ -*-===//
//
// A buffer in host memory together with the view of it: what `tilec run` makes
// its inputs and outputs from, what the .npy reader returns, and what tests put
// around a kernel. The first element is aligned to 64 bytes, a cache line and
// more than any vector load needs, unless negative strides move it.
//
// The layout may be any: strided arrays own the whole range their elements
// reach over, gaps included. A fresh array is all zeros.
//
// A *guarded* array catches a kernel that writes where it should not. It has a
// zone before the first and after the last byte an element can occupy, and the
// zones and the gaps between strided elements are filled with poison: values
// that are unlikely to be written by chance, and NaN for every float, so that a
// result that depends on a read from there is spoiled too. canariesIntact()
// tells afterwards whether they still hold what they held.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_RUNTIME_ARRAY_H
#define TILEC_LIB_RUNTIME_ARRAY_H

#include "lib/Runtime/TensorView.h"

#include <cstddef>
#include <memory>

namespace tilec {

/// The bits of a poisoned element. A NaN with a payload of its own for floats,
/// 0xA5 in each byte for integers and bool (far out of range as an index, and
/// not a proper bool).
uint64_t poisonBits(DType dtype);

class Array {
public:
  /// Zone sizes are rounded up to keep the alignment. A page is more than the
  /// overrun of any vector or tile row worth finding.
  static constexpr size_t defaultGuardBytes = 4096;
  static constexpr size_t alignment = 64;

  /// An empty f32 array of shape [0].
  Array();
  Array(Array &&) = default;
  Array &operator=(Array &&) = default;

  /// A row-major array of zeros. Fails if the size does not fit 64 bits or the
  /// memory cannot be had. `guardBytes` of 0 means no guards.
  static llvm::Expected<Array>
  create(DType dtype, llvm::ArrayRef<int64_t> shape, size_t guardBytes = 0);

  /// The same with strides of the caller's, in elements, of any sign. The
  /// buffer covers exactly what the view reaches.
  static llvm::Expected<Array> createStrided(DType dtype,
                                             llvm::ArrayRef<int64_t> shape,
                                             llvm::ArrayRef<int64_t> strides,
                                             size_t guardBytes = 0);

  /// A row-major copy of a view, converted to `dtype` if given.
  static llvm::Expected<Array> copyOf(const TensorView &source,
                                      std::optional<DType> dtype = {});

  /// The elements. Valid until the array is destroyed; moving the array does
  /// not move them.
  const TensorView &view() const { return tensor; }
  operator const TensorView &() const { return tensor; }

  DType dtype() const { return tensor.dtype; }
  llvm::ArrayRef<int64_t> shape() const { return tensor.shape; }
  llvm::ArrayRef<int64_t> strides() const { return tensor.strides; }
  int64_t numElements() const { return tensor.numElements(); }

  /// The element of index (0, 0, ...).
  void *data() const { return tensor.data; }
  /// The bytes the elements reach over, gaps included, guards not.
  llvm::MutableArrayRef<uint8_t> storage() const {
    return {storageBegin, storageBytes};
  }
  /// Elements between the begin of the storage and data(): not 0 only if a
  /// stride is negative.
  int64_t offset() const;

  // Element access, as in TensorView.
  double getDouble(llvm::ArrayRef<int64_t> index) const {
    return tensor.getDouble(index);
  }
  int64_t getInt(llvm::ArrayRef<int64_t> index) const {
    return tensor.getInt(index);
  }
  void setDouble(llvm::ArrayRef<int64_t> index, double value) {
    tensor.setDouble(index, value);
  }
  void setInt(llvm::ArrayRef<int64_t> index, int64_t value) {
    tensor.setInt(index, value);
  }

  bool isGuarded() const { return guardBytes != 0; }

  /// Whether guards and gaps still hold what create() put there. True for an
  /// unguarded array.
  bool canariesIntact() const { return !firstBrokenCanary(); }

  /// The lowest byte of a guard or gap that changed, relative to the begin of
  /// the storage: negative before it, storage().size() or more after it.
  std::optional<int64_t> firstBrokenCanary() const;

  /// Overwrites guards and gaps with poison again.
  void repairCanaries();

private:
  struct FreeDeleter {
    void operator()(void *memory) const;
  };

  static llvm::Expected<Array> allocate(TensorView view, size_t guardBytes);

  std::unique_ptr<uint8_t, FreeDeleter> memory;
  size_t guardBytes = 0;
  uint8_t *storageBegin = nullptr;
  size_t storageBytes = 0;
  TensorView tensor;
};

/// Sets every element to poison, so that one the kernel should have written and
/// did not is found out: a float is NaN until it is written.
void poison(const TensorView &view);

/// The same, and the gaps between the elements too.
void poison(Array &array);

} // namespace tilec

#endif // TILEC_LIB_RUNTIME_ARRAY_H

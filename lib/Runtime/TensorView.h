//===- TensorView.h - A strided view of memory ------------------*- C++ -*-===//
//
// How the run time speaks of a tensor it does not own: a pointer, an element
// type, a shape, and one stride per dimension. The element at index (i, j, ...)
// is at data + (i * strides[0] + j * strides[1] + ...) * byteSize(dtype).
//
//   * Strides count elements, not bytes. They may be zero (a broadcast) or
//     negative (a reversed dimension); `data` is always the element of index
//     (0, 0, ...), not the lowest address.
//   * Rank 0 is a scalar: one element, empty shape. An extent of 0 makes the
//     view empty: nothing is addressed and `data` may be null.
//   * A view is a span: copying it copies no element, and a const view still
//     lets the elements be written.
//
// Everything here works in 64 bits. A view from outside (a user's launch, a
// file) must pass verify() first; it is the one place that looks for negative
// extents and offsets beyond 64 bits, and the other functions rely on it.
// Element access moves bytes, so `data` need not be aligned.
//
// `data` may also be a device address. Then only the functions that do not
// touch elements apply: verify, byteExtent, the shape queries, the views, and
// the overlap tests of Overlap.h.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_RUNTIME_TENSORVIEW_H
#define TILEC_LIB_RUNTIME_TENSORVIEW_H

#include "lib/Support/DType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tilec {

/// A shape or a list of strides. Ranks above six are rare, but work.
using Extents = llvm::SmallVector<int64_t, 6>;

/// A half-open range of bytes relative to a view's `data`.
struct ByteExtent {
  int64_t low;
  int64_t high;

  /// At most 2^64 - 1, so it needs the unsigned type.
  uint64_t size() const { return uint64_t(high) - uint64_t(low); }
};

struct TensorView {
  void *data = nullptr;
  DType dtype = DType::F32;
  Extents shape;
  Extents strides; // in elements, as many as extents

  /// A row-major view.
  static TensorView contiguous(void *data, DType dtype,
                               llvm::ArrayRef<int64_t> shape);

  unsigned rank() const { return static_cast<unsigned>(shape.size()); }
  bool isEmpty() const { return llvm::is_contained(shape, 0); }
  int64_t numElements() const;

  /// Whether the elements lie one after the other in row-major order. Strides
  /// of dimensions of extent 1 do not matter, and an empty view is contiguous.
  bool isContiguous() const;

  /// The address of an element. Indices must be in range.
  void *at(llvm::ArrayRef<int64_t> index) const;

  // Element access, converting as loadAsDouble and its relatives below do.
  double getDouble(llvm::ArrayRef<int64_t> index) const;
  int64_t getInt(llvm::ArrayRef<int64_t> index) const;
  void setDouble(llvm::ArrayRef<int64_t> index, double value) const;
  void setInt(llvm::ArrayRef<int64_t> index, int64_t value) const;

  // Views of the same memory. Arguments must be in range.

  /// Dimension d of the result is dimension order[d] of this view.
  TensorView permuted(llvm::ArrayRef<unsigned> order) const;
  /// The last two dimensions exchanged.
  TensorView transposed() const;
  /// Positions begin, begin + step, ... before `end` along `dim`. A negative
  /// step walks down from `begin` and stops after `end + 1`, so that the whole
  /// dimension reversed is (extent - 1, -1, -1).
  TensorView sliced(unsigned dim, int64_t begin, int64_t end,
                    int64_t step = 1) const;
  /// One position along `dim`, which disappears from the shape.
  TensorView selected(unsigned dim, int64_t index) const;
  /// A dimension of extent 1 repeated `extent` times, by a stride of zero.
  TensorView broadcast(unsigned dim, int64_t extent) const;
};

/// The product of the extents; nothing if an extent is negative or the product
/// of the nonzero extents does not fit. (With a zero among them the product
/// fits trivially, but row-major strides would not.)
std::optional<int64_t> checkedNumElements(llvm::ArrayRef<int64_t> shape);

/// Row-major strides. The shape must pass checkedNumElements.
Extents rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// The bytes a view touches, from the lowest address of an element to the end
/// of the highest; {0, 0} if it is empty. Nothing if that is beyond 64 bits,
/// the ranks of shape and strides differ, or an extent is negative.
std::optional<ByteExtent> byteExtent(const TensorView &view);

/// Whether the view makes sense at all: as many strides as extents, no negative
/// extent, a number of elements and offsets that fit 64 bits, no wrap around
/// the end of the address space, and a pointer if there are elements. `name` is
/// how the message calls the tensor.
llvm::Error verify(const TensorView &view, llvm::StringRef name);

/// "f32[2, 3]", and for a view that is not contiguous "f32[2, 3] strides [1,
/// 2]".
std::string toString(DType dtype, llvm::ArrayRef<int64_t> shape);
std::string toString(const TensorView &view);

// One element, at any alignment. Between floats and integers:
//
//   * A load as double is exact, except for an i64 beyond 2^53, which rounds.
//   * A load as integer truncates toward zero and saturates; NaN is 0.
//   * A store to a float rounds once, as NarrowFloat.h says.
//   * A store to an integer type truncates toward zero and saturates; NaN is 0.
//   * A bool stores as 1 whatever is not zero, NaN included.
double loadAsDouble(DType dtype, const void *element);
int64_t loadAsInt(DType dtype, const void *element);
void storeDouble(DType dtype, void *element, double value);
void storeInt(DType dtype, void *element, int64_t value);

/// Calls `body` with the address and the row-major position of each element, in
/// row-major order.
void forEachElement(const TensorView &view,
                    llvm::function_ref<void(void *, int64_t)> body);

/// Copies the elements of `source` to `target`, which has the same shape and
/// does not overlap it. Equal types keep their bits, NaN payloads included;
/// others convert like a load and a store.
void copyElements(const TensorView &target, const TensorView &source);

} // namespace tilec

#endif // TILEC_LIB_RUNTIME_TENSORVIEW_H

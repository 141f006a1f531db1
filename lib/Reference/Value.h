//===- Value.h - Dense values with named axes -------------------*- C++ -*-===//
//
// The values the reference evaluator computes with: dense row-major arrays of
// doubles (float types) or 64-bit integers (integer types and bool) over a list
// of axes. Broadcasting is by axis, as in the language.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_REFERENCE_VALUE_H
#define TILEC_REFERENCE_VALUE_H

#include "lib/Frontend/TypedAST.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace tilec::reference {

using Axes = llvm::SmallVector<const typed::Axis *, 4>;
using Shape = llvm::SmallVector<int64_t, 4>;

struct Value {
  DType dtype = DType::F32;
  Axes axes;
  Shape shape; // The extent of each axis.
  std::vector<double> floats;
  std::vector<int64_t> ints; // Integers and bool.

  Value() = default;
  Value(DType dtype, Axes axes, Shape shape);

  static Value ofDouble(DType dtype, double value);
  static Value ofInt(DType dtype, int64_t value);

  int64_t size() const;
  double asDouble(int64_t i) const {
    return isFloat(dtype) ? floats[i] : static_cast<double>(ints[i]);
  }
  int64_t scalarInt() const { return ints.front(); }
  bool scalarBool() const { return ints.front() != 0; }
};

/// The axes of values that are combined elementwise, with their extents: those
/// of the first, then what the others add.
struct Space {
  Axes axes;
  Shape shape;
  void add(const Value &value);
  int64_t size() const;
};

/// For each axis of `space`, how far one step along it moves in `value`; 0
/// where the value is constant.
Shape stridesIn(const Value &value, const Space &space);

/// Calls `body` for every position of `space`, in row-major order, with the
/// offsets of that position in each of the strided operands.
void forEachPosition(
    const Shape &shape, llvm::ArrayRef<Shape> strides,
    llvm::function_ref<void(int64_t position, llvm::ArrayRef<int64_t> offsets)>
        body);

/// `value` on the axes of `space`, in their order.
Value broadcastTo(const Value &value, const Space &space);

/// An integer as a value of `dtype` holds it: wrapped to its width.
int64_t wrapTo(DType dtype, uint64_t value);

} // namespace tilec::reference

#endif // TILEC_REFERENCE_VALUE_H

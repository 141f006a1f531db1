//===- F2.h - Vectors of bits and the spaces they span ---------*- C++ -*-===//
//
// The little linear algebra that layouts need. A vector over F2 (the field of
// 0 and 1, where 1 + 1 = 0) is a word of at most 63 bits, and adding two
// vectors is XOR:
//
//   0b0110 + 0b0011 = 0b0101
//
// A Span is the set of all sums of some vectors. It is built by inserting one
// vector after the other and answers which of them were needed, and which of
// them add up to a given vector:
//
//   Span span;
//   span.insert(0b0110);      true: new
//   span.insert(0b0011);      true: new
//   span.insert(0b0101);      false: the sum of the first two
//   span.express(0b0101)      0b011: inserted vectors 0 and 1
//   span.express(0b1000)      nothing: not a sum of them
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LAYOUT_F2_H
#define TILEC_LAYOUT_F2_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"

#include <cassert>
#include <cstdint>
#include <optional>

namespace tilec::layout {

/// All sums of the vectors inserted so far (at most 64 of them).
class Span {
public:
  Span() = default;
  explicit Span(llvm::ArrayRef<uint64_t> vectors) {
    for (uint64_t vector : vectors)
      insert(vector);
  }

  /// Adds a vector; false if it was already in the span.
  bool insert(uint64_t vector) {
    assert(inserted < 64 && "a combination is a mask of 64 bits");
    uint64_t combination = uint64_t(1) << inserted++;
    reduce(vector, combination);
    if (vector == 0)
      return false;
    rows.push_back({vector, combination});
    return true;
  }

  /// The number of vectors that were new when inserted.
  unsigned dimension() const { return rows.size(); }

  /// The number of calls of insert.
  unsigned numInserted() const { return inserted; }

  bool contains(uint64_t vector) const {
    uint64_t combination = 0;
    reduce(vector, combination);
    return vector == 0;
  }

  /// The mask of inserted vectors (bit i is the i-th call of insert) that add
  /// up to `vector`. It uses only those that were new when inserted, which
  /// makes it unique. Nothing if `vector` is outside of the span.
  std::optional<uint64_t> express(uint64_t vector) const {
    uint64_t combination = 0;
    reduce(vector, combination);
    if (vector != 0)
      return std::nullopt;
    return combination;
  }

private:
  struct Row {
    uint64_t vector;
    uint64_t combination;
  };

  /// Clears the leading bit of every row from `vector`. A row has no earlier
  /// row's leading bit, so going through them in order leaves none.
  void reduce(uint64_t &vector, uint64_t &combination) const {
    for (const Row &row : rows)
      if (vector & llvm::bit_floor(row.vector)) {
        vector ^= row.vector;
        combination ^= row.combination;
      }
  }

  llvm::SmallVector<Row, 16> rows;
  unsigned inserted = 0;
};

/// The sum of the columns that the set bits of `index` select: the product of
/// a matrix, given by its columns, and a vector.
template <typename T>
T multiply(llvm::ArrayRef<T> columns, uint64_t index, T zero = T()) {
  T sum = zero;
  for (; index != 0; index &= index - 1) {
    unsigned bit = llvm::countr_zero(index);
    assert(bit < columns.size() && "index past the columns");
    sum = sum ^ columns[bit];
  }
  return sum;
}

} // namespace tilec::layout

#endif // TILEC_LAYOUT_F2_H

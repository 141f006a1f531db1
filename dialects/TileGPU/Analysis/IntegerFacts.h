//===- IntegerFacts.h - What is known about integers ------------*- C++ -*-===//
//
// Two facts about integer values, scalars and lanes of fragments alike: an
// interval that they lie in, and a power of two that divides them. The first
// says which 64-bit integers fit into 32 bits (the positions of a mask, for
// example, if the offsets of the kernel do) and which additions cannot
// overflow; the second, which addresses are multiples of a vector.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_DIALECTS_TILEGPU_ANALYSIS_INTEGERFACTS_H
#define TILEC_DIALECTS_TILEGPU_ANALYSIS_INTEGERFACTS_H

#include "dialects/TileGPU/IR/TileGPU.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace mlir::tilegpu {

struct IntegerRange {
  int64_t low, high;

  bool fits(unsigned bits) const;
  static IntegerRange ofBits(unsigned bits);
  bool operator==(const IntegerRange &) const = default;
};

class IntegerFacts {
public:
  /// With `tilegpu.index32` every `index` is within 31 bits and a sign, unless
  /// the kernel computes with an index that it makes of any 64-bit number.
  explicit IntegerFacts(mlir::tile::KernelOp kernel);

  /// Whether the kernel's indices fit into 32 bits.
  bool hasIndex32() const { return index32; }
  /// The interval of an integer or `index`, or of every lane of a tensor of
  /// those.
  IntegerRange rangeOf(mlir::Value value);
  /// Whether an integer op other than on `index` may go beyond its type.
  bool mayWrap(mlir::Operation *op);
  /// The greatest power of two, at most 2^20, that is known to divide it.
  int64_t divisorOf(mlir::Value value);

  /// What the tile.dim of a slice or an argument is called: the argument's name
  /// for that dimension, "" for none; and the argument and its dimension.
  struct Extent {
    unsigned arg, dim;
    llvm::StringRef name;
  };
  Extent extentOf(mlir::Value view, unsigned dim) const;

private:
  IntegerRange compute(mlir::Value value);
  std::optional<IntegerRange> computeOp(mlir::Operation *op);
  /// The range of a value where a condition on it is false.
  IntegerRange rangeUnless(mlir::Value condition, mlir::Value value);
  int64_t computeDivisor(mlir::Value value);

  mlir::tile::KernelOp kernel;
  bool index32;
  llvm::DenseMap<mlir::Value, IntegerRange> ranges;
  llvm::DenseMap<mlir::Value, int64_t> divisors;
};

} // namespace mlir::tilegpu

#endif // TILEC_DIALECTS_TILEGPU_ANALYSIS_INTEGERFACTS_H

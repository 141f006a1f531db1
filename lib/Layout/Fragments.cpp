//===- Fragments.cpp - Layouts of blocks and tensor cores ------*- C++ -*-===//
//
// The usual layouts, each built bit by bit: every bit of an index takes the
// next free bit of an axis, in the order that the hardware prescribes. A bit
// that finds its axis used up moves nothing.
//
//===----------------------------------------------------------------------===//

#include "lib/Layout/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tilec::layout {

namespace {

/// Collects the bases of a layout.
class Builder {
public:
  explicit Builder(llvm::ArrayRef<int64_t> shape) : shape(shape) {}

  /// Adds a bit that moves `axis` by `distance`. Where that is outside of the
  /// tensor there is no such register, and a lane or warp holds a copy.
  void add(InDim dim, unsigned axis, int64_t distance) {
    bool inside = distance < shape[axis];
    if (!inside && dim == InDim::Register)
      return;
    Basis basis(shape.size(), 0);
    basis[axis] = inside ? distance : 0;
    bases[static_cast<unsigned>(dim)].push_back(basis);
  }

  /// Bits that move `axis` by begin, 2 begin, ... as long as it is below end.
  void addRange(InDim dim, unsigned axis, int64_t begin, int64_t end) {
    for (int64_t distance = begin; distance < end; distance *= 2)
      add(dim, axis, distance);
  }

  /// Bits that hold copies.
  void addCopies(InDim dim, int64_t count) {
    for (; count > 1; count /= 2)
      bases[static_cast<unsigned>(dim)].push_back(Basis(shape.size(), 0));
  }

  LinearLayout build() const {
    return LinearLayout(shape, bases[0], bases[1], bases[2]);
  }

private:
  llvm::ArrayRef<int64_t> shape;
  std::array<llvm::SmallVector<Basis>, 3> bases;
};

} // namespace

/// The part of an axis that each of `parts` holders gets, at least `least`.
static int64_t partOf(int64_t extent, unsigned parts, int64_t least) {
  assert(llvm::isPowerOf2_32(parts) && "numbers of warps are powers of two");
  return std::max<int64_t>(extent / parts, least);
}

/// The register bits of an accumulator over a tile of rows and columns: pairs
/// of columns, rows eight apart, columns, then instructions along m.
static void addAccumulator(Builder &builder, int64_t instructionRows,
                           int64_t tileM, int64_t tileN) {
  builder.add(InDim::Register, 1, 1);
  builder.add(InDim::Register, 0, 8);
  builder.addRange(InDim::Register, 1, 8, tileN);
  builder.addRange(InDim::Register, 0, instructionRows, tileM);
  builder.addRange(InDim::Lane, 1, 2, 8);
  builder.addRange(InDim::Lane, 0, 1, 8);
}

/// The register and lane bits of a left operand, likewise.
static void addOperandA(Builder &builder, int64_t instructionRows,
                        int64_t kWidth, int64_t tileM, int64_t extentK) {
  builder.addRange(InDim::Register, 1, 1, kWidth);
  builder.add(InDim::Register, 0, 8);
  builder.addRange(InDim::Register, 1, 4 * kWidth, extentK);
  builder.addRange(InDim::Register, 0, instructionRows, tileM);
  builder.addRange(InDim::Lane, 1, kWidth, 4 * kWidth);
  builder.addRange(InDim::Lane, 0, 1, 8);
}

LinearLayout LinearLayout::blocked(llvm::ArrayRef<int64_t> shape,
                                   llvm::ArrayRef<unsigned> sizePerThread,
                                   llvm::ArrayRef<unsigned> threadsPerWarp,
                                   llvm::ArrayRef<unsigned> warpsPerCTA,
                                   llvm::ArrayRef<unsigned> order) {
  Builder builder(shape);
  // The distance to the next box, per axis.
  llvm::SmallVector<int64_t> next(shape.size(), 1);
  auto addAll = [&](InDim dim, llvm::ArrayRef<unsigned> sizes) {
    assert(sizes.size() == shape.size() && "one size an axis");
    for (unsigned axis : order) {
      assert(llvm::isPowerOf2_32(sizes[axis]) && "sizes are powers of two");
      builder.addRange(dim, axis, next[axis], next[axis] * sizes[axis]);
      next[axis] *= sizes[axis];
    }
  };
  assert(order.size() == shape.size() && "the order names every axis");
  addAll(InDim::Register, sizePerThread);
  addAll(InDim::Lane, threadsPerWarp);
  addAll(InDim::Warp, warpsPerCTA);
  for (unsigned axis : order)
    builder.addRange(InDim::Register, axis, next[axis], shape[axis]);
  return builder.build();
}

LinearLayout LinearLayout::mmaAccumulator(llvm::ArrayRef<int64_t> shape,
                                          unsigned warpsM, unsigned warpsN) {
  assert(shape.size() == 2 && "an accumulator is a matrix");
  int64_t tileM = partOf(shape[0], warpsM, 16);
  int64_t tileN = partOf(shape[1], warpsN, 8);
  Builder builder(shape);
  addAccumulator(builder, 16, tileM, tileN);
  builder.addRange(InDim::Warp, 1, tileN, tileN * warpsN);
  builder.addRange(InDim::Warp, 0, tileM, tileM * warpsM);
  return builder.build();
}

LinearLayout LinearLayout::mmaOperandA(llvm::ArrayRef<int64_t> shape,
                                       unsigned kWidth, unsigned warpsM,
                                       unsigned warpsN) {
  assert(shape.size() == 2 && "an operand is a matrix");
  int64_t tileM = partOf(shape[0], warpsM, 16);
  Builder builder(shape);
  addOperandA(builder, 16, kWidth, tileM, shape[1]);
  builder.addCopies(InDim::Warp, warpsN);
  builder.addRange(InDim::Warp, 0, tileM, tileM * warpsM);
  return builder.build();
}

LinearLayout LinearLayout::mmaOperandB(llvm::ArrayRef<int64_t> shape,
                                       unsigned kWidth, unsigned warpsM,
                                       unsigned warpsN) {
  assert(shape.size() == 2 && "an operand is a matrix");
  int64_t tileN = partOf(shape[1], warpsN, 8);
  int64_t quadK = int64_t(4) * kWidth;
  Builder builder(shape);
  builder.addRange(InDim::Register, 0, 1, kWidth);
  builder.addRange(InDim::Register, 0, quadK, shape[0]);
  builder.addRange(InDim::Register, 1, 8, tileN);
  builder.addRange(InDim::Lane, 0, kWidth, quadK);
  builder.addRange(InDim::Lane, 1, 1, 8);
  builder.addRange(InDim::Warp, 1, tileN, tileN * warpsN);
  builder.addCopies(InDim::Warp, warpsM);
  return builder.build();
}

LinearLayout LinearLayout::wgmmaAccumulator(llvm::ArrayRef<int64_t> shape,
                                            unsigned warpgroupsM,
                                            unsigned warpgroupsN) {
  assert(shape.size() == 2 && "an accumulator is a matrix");
  int64_t tileM = partOf(shape[0], warpgroupsM, 64);
  int64_t tileN = partOf(shape[1], warpgroupsN, 8);
  Builder builder(shape);
  addAccumulator(builder, 64, tileM, tileN);
  builder.addRange(InDim::Warp, 0, 16, 64);
  builder.addRange(InDim::Warp, 1, tileN, tileN * warpgroupsN);
  builder.addRange(InDim::Warp, 0, tileM, tileM * warpgroupsM);
  return builder.build();
}

LinearLayout LinearLayout::wgmmaOperandA(llvm::ArrayRef<int64_t> shape,
                                         unsigned kWidth, unsigned warpgroupsM,
                                         unsigned warpgroupsN) {
  assert(shape.size() == 2 && "an operand is a matrix");
  int64_t tileM = partOf(shape[0], warpgroupsM, 64);
  Builder builder(shape);
  addOperandA(builder, 64, kWidth, tileM, shape[1]);
  builder.addRange(InDim::Warp, 0, 16, 64);
  builder.addCopies(InDim::Warp, warpgroupsN);
  builder.addRange(InDim::Warp, 0, tileM, tileM * warpgroupsM);
  return builder.build();
}

} // namespace tilec::layout

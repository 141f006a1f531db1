//===- Microkernels.cpp - Contractions become matrix products ---*- C++ -*-===//
//
// A contraction may have any number of batch, free and contracted loops. One
// free loop of each operand and one contracted loop become a matrix product
// (MatrixKernel.h); the others are plain loops around it.
//
// Products with a vector are left to LLVM: they are bound by memory, and a
// reduction or an update along a row vectorizes as it is.
//
// Copies that transpose profit from the same blocks as packing does, so they
// are lowered here too.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/MatrixKernel.h"
#include "codegen/CPU/Passes.h"
#include "codegen/TileToLinalg/IndexMath.h"
#include "codegen/TileToLinalg/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilec {

#define GEN_PASS_DEF_CPUMICROKERNELS
#include "codegen/CPU/Passes.h.inc"

namespace {

/// An operand of a nest of loops: where it is, and how far it moves with each
/// of the loops.
struct Operand {
  Value flat;
  OpFoldResult offset;
  SmallVector<OpFoldResult> strides;
  bool isUnsigned = false;
};

class NestLowering {
public:
  NestLowering(linalg::GenericOp op, const VectorMachine &machine)
      : op(op), machine(machine), b(op), loc(op.getLoc()),
        ranges(op.getStaticLoopRanges()), maps(op.getIndexingMapsArray()) {}

  /// Replaces a contraction if a matrix product pays.
  void runContraction();
  /// Replaces a copy that transposes.
  void runCopy();

private:
  bool moves(unsigned operand, unsigned loop) const {
    return maps[operand].isFunctionOfDim(loop);
  }
  bool unitStride(const Operand &operand, unsigned loop) const {
    return isConstantIntValue(operand.strides[loop], 1);
  }
  Operand readOperand(unsigned number);
  int choose(const Operand &first, const Operand &second,
             ArrayRef<unsigned> loops) const;
  Matrix matrix(const Operand &operand, int row, int column) const;
  void addLoops(ArrayRef<unsigned> loops, ArrayRef<Operand *> operands);

  linalg::GenericOp op;
  VectorMachine machine;
  OpBuilder b;
  Location loc;
  SmallVector<int64_t> ranges;
  SmallVector<AffineMap> maps;
};

Operand NestLowering::readOperand(unsigned number) {
  Value memref = op->getOperand(number);
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  auto layout = StridedLayoutAttr::get(b.getContext(), 0, {1});
  // The extent of a flat view is not used; any will do.
  auto type = MemRefType::get({ShapedType::kDynamic}, element, layout);
  Value extent = arith::ConstantIndexOp::create(b, loc, INT64_MAX);
  Operand operand;
  operand.flat = memref::ReinterpretCastOp::create(
      b, loc, type, metadata.getBaseBuffer(), b.getIndexAttr(0),
      ArrayRef<OpFoldResult>{extent},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  operand.offset = metadata.getConstifiedMixedOffset();
  operand.strides.assign(ranges.size(), b.getIndexAttr(0));
  AffineMap map = maps[number];
  for (auto [result, stride] :
       llvm::zip_equal(map.getResults(), metadata.getConstifiedMixedStrides()))
    operand.strides[cast<AffineDimExpr>(result).getPosition()] = stride;
  for (Operation *user : op.getBody()->getArgument(number).getUsers())
    operand.isUnsigned |= isa<arith::ExtUIOp>(user);
  return operand;
}

/// Of some loops that play the same part, the one for the matrix product: the
/// longest, and of those one along which the operands are contiguous. -1 if
/// there is none.
int NestLowering::choose(const Operand &first, const Operand &second,
                         ArrayRef<unsigned> loops) const {
  int best = -1;
  auto score = [&](unsigned loop) {
    return std::tuple(ranges[loop], unitStride(first, loop),
                      unitStride(second, loop));
  };
  for (unsigned loop : loops)
    if (best < 0 || score(loop) >= score(best))
      best = int(loop);
  return best;
}

Matrix NestLowering::matrix(const Operand &operand, int row, int column) const {
  return {operand.flat, operand.offset, operand.strides[row],
          operand.strides[column], operand.isUnsigned};
}

void NestLowering::runContraction() {
  if (llvm::is_contained(ranges, 0)) // A sum of nothing.
    return op.erase();
  // Equal operands have become one, constant ones part of the body.
  if (op.getNumDpsInputs() != 2)
    return;
  SmallVector<unsigned> rows, columns, sums;
  for (unsigned loop = 0; loop < ranges.size(); ++loop) {
    bool left = moves(0, loop), right = moves(1, loop), out = moves(2, loop);
    if (left && out && !right)
      rows.push_back(loop);
    else if (right && out && !left)
      columns.push_back(loop);
    else if (left && right && !out)
      sums.push_back(loop);
    else if (!(left && right && out))
      return; // Nothing a tile.dot lowers to; loops will do.
  }
  auto longest = [&](ArrayRef<unsigned> loops) {
    int64_t most = 1;
    for (unsigned loop : loops)
      most = std::max(most, ranges[loop]);
    return most;
  };
  if (longest(rows) < 2 || longest(columns) < 2 || sums.empty())
    return;

  Operand lhs = readOperand(0), rhs = readOperand(1), out = readOperand(2);
  int m = choose(lhs, out, rows), n = choose(rhs, out, columns);
  int k = choose(lhs, rhs, sums);
  // The transposed product, if the result is contiguous along its rows.
  if (unitStride(out, m) && !unitStride(out, n)) {
    std::swap(lhs, rhs);
    std::swap(m, n);
  }

  // The other loops, those that only sum inside the others.
  SmallVector<Operand *> operands = {&lhs, &rhs, &out};
  SmallVector<unsigned> others;
  for (bool reductions : {false, true})
    for (unsigned loop = 0; loop < ranges.size(); ++loop)
      if (int(loop) != m && int(loop) != n && int(loop) != k &&
          llvm::is_contained(sums, loop) == reductions)
        others.push_back(loop);
  OpBuilder::InsertionGuard guard(b);
  addLoops(others, {&lhs, &rhs, &out});
  MatrixKernel(b, loc, machine)
      .emit(matrix(lhs, m, k), matrix(rhs, k, n), matrix(out, m, n), ranges[m],
            ranges[n], ranges[k]);
  op.erase();
}

/// Makes loops and moves the operands along with them. The next op goes inside.
void NestLowering::addLoops(ArrayRef<unsigned> loops,
                            ArrayRef<Operand *> operands) {
  for (unsigned loop : loops) {
    if (ranges[loop] == 1)
      continue;
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value end = arith::ConstantIndexOp::create(b, loc, ranges[loop]);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    auto outer = scf::ForOp::create(b, loc, zero, end, one);
    b.setInsertionPointToStart(outer.getBody());
    for (Operand *operand : operands)
      operand->offset = addIndex(b, loc, operand->offset,
                                 multiplyIndex(b, loc, outer.getInductionVar(),
                                               operand->strides[loop]));
  }
}

void NestLowering::runCopy() {
  if (ShapedType::isDynamicShape(ranges) || llvm::is_contained(ranges, 0))
    return;
  Operand from = readOperand(0), to = readOperand(1);
  int row = -1, column = -1;
  SmallVector<unsigned> others;
  for (unsigned loop = 0; loop < ranges.size(); ++loop) {
    // A block of a few elements a side is not worth the code.
    bool isLong = ranges[loop] >= 8;
    if (isLong && unitStride(from, loop) && !unitStride(to, loop))
      row = int(loop);
    else if (isLong && unitStride(to, loop) && !unitStride(from, loop) &&
             !isConstantIntValue(from.strides[loop], 0))
      column = int(loop);
    else
      others.push_back(loop);
  }
  if (row < 0 || column < 0)
    return;
  OpBuilder::InsertionGuard guard(b);
  addLoops(others, {&from, &to});
  MatrixKernel(b, loc, machine)
      .copy(matrix(from, row, column), matrix(to, row, column), ranges[row],
            ranges[column]);
  op.erase();
}

/// Whether the op moves elements from one buffer to another as they are.
bool isCopy(linalg::GenericOp op) {
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  // An i1 is not a byte yet, and a vector of them would be something else.
  if (getElementTypeOrSelf(op->getOperand(0)).isInteger(1))
    return false;
  return op.getNumDpsInputs() == 1 && op.getNumDpsInits() == 1 &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         yield.getOperand(0) == op.getBody()->getArgument(0) &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

struct MicrokernelsPass : impl::CPUMicrokernelsBase<MicrokernelsPass> {
  using CPUMicrokernelsBase::CPUMicrokernelsBase;
  void runOnOperation() override {
    VectorMachine machine = {vectorBytes, vectorRegisters};
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureBufferSemantics())
        ops.push_back(op);
    });
    for (linalg::GenericOp op : ops) {
      if (op->hasAttr(kContractionAttr))
        NestLowering(op, machine).runContraction();
      else if (isCopy(op))
        NestLowering(op, machine).runCopy();
    }
  }
};

} // namespace
} // namespace tilec

//===- ContractedAxes.cpp - Long products piece by piece --------*- C++ -*-===//
//
// Several contracted axes are contracted as one, but together they may be long:
// the operands' tiles are in shared memory as a whole. Where both operands are
// loads, which can be made in pieces, a product over a, b, ... becomes a loop
// over the positions of a with the product over b, ... in it. Its copies then
// are those of a loop, and run ahead.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToTileGPU/Products.h"
#include "codegen/TileToTileGPU/Views.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilec;
using tile::DotOp;
using tile::LoadOp;

/// Both operands of a product, in bytes; above it there is a loop.
static constexpr int64_t mostOperandBytes = 32 << 10;
/// What is left to contract in the loop should be worth a step of tensor cores.
static constexpr int64_t leastContracted = 16;

static int64_t bytesOf(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  return type.getNumElements() *
         tilegpu::getElementBytes(type.getElementType());
}

/// The load that is an operand, if it can be made anew where the product is.
static LoadOp loadOf(Value operand) {
  auto load = operand.getDefiningOp<LoadOp>();
  if (!load || load.getPad() != tile::Pad::Zero)
    return {};
  ViewOrigin origin = ViewOrigin::of(load.getView());
  bool isReadOnly = origin.kernel().getArgAccess(
                        origin.argument.getArgNumber()) == tile::Access::In;
  return isReadOnly ? load : LoadOp();
}

static bool isContiguous(LoadOp load, int64_t axis) {
  return load.getDims()[axis] == ViewOrigin::of(load.getView()).unitDim();
}

/// The number, among the contracted axes, of the one to loop over: the longest
/// that is contiguous in neither operand, or else in one at most. Nothing if
/// there is no need or none.
static std::optional<size_t> axisToLoop(DotOp dot) {
  LoadOp lhs = loadOf(dot.getLhs()), rhs = loadOf(dot.getRhs());
  if (!lhs || !rhs || dot.getLhsContract().size() < 2 ||
      bytesOf(lhs) + bytesOf(rhs) <= mostOperandBytes)
    return std::nullopt;
  int64_t all = 1;
  for (int64_t axis : dot.getLhsContract())
    all *= lhs.getType().getDimSize(axis);
  for (int most : {0, 1}) {
    int64_t longest = 1;
    std::optional<size_t> found;
    for (auto [i, axis] : llvm::enumerate(dot.getLhsContract())) {
      int64_t extent = lhs.getType().getDimSize(axis);
      int contiguous =
          isContiguous(lhs, axis) + isContiguous(rhs, dot.getRhsContract()[i]);
      if (extent <= longest || all / extent < leastContracted ||
          contiguous > most)
        continue;
      longest = extent;
      found = i;
    }
    if (found)
      return found;
  }
  return std::nullopt;
}

/// The part of a load at one position of an axis, which the result lacks.
static LoadOp loadAt(OpBuilder &b, LoadOp load, int64_t axis, Value position) {
  Location loc = load.getLoc();
  SmallVector<Value> indices(load.getIndices()), valid(load.getValid());
  SmallVector<int64_t> dims(load.getDims()), shape(load.getType().getShape());
  Value &index = indices[dims[axis]];
  index = arith::AddIOp::create(b, loc, index, position);
  dims.erase(dims.begin() + axis);
  shape.erase(shape.begin() + axis);
  if (!valid.empty())
    valid.erase(valid.begin() + axis);
  return LoadOp::create(
      b, loc, RankedTensorType::get(shape, load.getType().getElementType()),
      load.getView(), indices, valid, load.getPredicate(), dims, load.getPad());
}

/// The numbers of axes when `axis` is taken away.
static SmallVector<int64_t> without(ArrayRef<int64_t> axes, int64_t axis) {
  SmallVector<int64_t> result;
  for (int64_t other : axes)
    if (other != axis)
      result.push_back(other > axis ? other - 1 : other);
  return result;
}

static DotOp loopOver(DotOp dot, size_t number) {
  IRRewriter b(dot);
  Location loc = dot.getLoc();
  auto lhs = dot.getLhs().getDefiningOp<LoadOp>();
  auto rhs = dot.getRhs().getDefiningOp<LoadOp>();
  int64_t lhsAxis = dot.getLhsContract()[number],
          rhsAxis = dot.getRhsContract()[number];
  RankedTensorType type = dot.getType();
  Value acc = dot.getAcc();
  if (!acc)
    acc = arith::ConstantOp::create(
        b, loc, type,
        DenseElementsAttr::get(type, b.getZeroAttr(type.getElementType())));
  // What lies beyond either valid extent adds zero.
  Value end;
  if (!lhs.getValid().empty())
    end = lhs.getValid()[lhsAxis];
  else if (!rhs.getValid().empty())
    end = rhs.getValid()[rhsAxis];
  else
    end = arith::ConstantIndexOp::create(b, loc,
                                         lhs.getType().getDimSize(lhsAxis));
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, zero, end, one, acc);
  b.setInsertionPointToStart(loop.getBody());
  Value position = loop.getInductionVar();
  LoadOp left = loadAt(b, lhs, lhsAxis, position);
  LoadOp right = loadAt(b, rhs, rhsAxis, position);
  auto part = DotOp::create(
      b, loc, type, left, right, loop.getRegionIterArg(0),
      without(dot.getLhsContract(), lhsAxis),
      without(dot.getRhsContract(), rhsAxis),
      without(dot.getLhsBatch(), lhsAxis), without(dot.getRhsBatch(), rhsAxis),
      dot.getPrecision(), dot.getLhsUnsigned(), dot.getRhsUnsigned());
  scf::YieldOp::create(b, loc, part.getResult());
  b.replaceOp(dot, loop.getResults());
  for (LoadOp load : {lhs, rhs})
    if (load->use_empty())
      b.eraseOp(load);
  return part;
}

void tilec::loopContractedAxes(tile::KernelOp kernel) {
  SmallVector<DotOp> dots;
  kernel.walk([&](DotOp dot) { dots.push_back(dot); });
  for (DotOp dot : dots)
    while (std::optional<size_t> number = axisToLoop(dot))
      dot = loopOver(dot, *number);
}

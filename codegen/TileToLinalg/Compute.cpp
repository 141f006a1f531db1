//===- Compute.cpp - Contractions, reductions, scans ------------*- C++ -*-===//
//
// Each op becomes one linalg.generic over all the axes involved. Sums and
// products may be reordered ("reassoc"), which is what lets LLVM vectorize
// them; nothing else is relaxed, so NaN, infinity and the sign of zero behave.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToLinalg/KernelLowering.h"

using namespace mlir;

namespace tilec {

Value KernelLowering::combine(tile::ReduceKind kind, Value x, Value y) {
  bool isFloat = llvm::isa<FloatType>(x.getType());
  // A sum of products may also use multiply-adds.
  auto reorderable =
      arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
  switch (kind) {
  case tile::ReduceKind::Sum:
    if (isFloat)
      return arith::AddFOp::create(b, loc, x, y, reorderable);
    return arith::AddIOp::create(b, loc, x, y);
  case tile::ReduceKind::Prod:
    if (isFloat)
      return arith::MulFOp::create(b, loc, x, y, reorderable);
    return arith::MulIOp::create(b, loc, x, y);
  case tile::ReduceKind::Max:
    if (isFloat)
      return arith::MaximumFOp::create(b, loc, x, y);
    return arith::MaxSIOp::create(b, loc, x, y);
  case tile::ReduceKind::Min:
    if (isFloat)
      return arith::MinimumFOp::create(b, loc, x, y);
    return arith::MinSIOp::create(b, loc, x, y);
  case tile::ReduceKind::FMax:
    return arith::MaxNumFOp::create(b, loc, x, y);
  case tile::ReduceKind::FMin:
    return arith::MinNumFOp::create(b, loc, x, y);
  case tile::ReduceKind::Any:
    return arith::OrIOp::create(b, loc, x, y);
  case tile::ReduceKind::All:
    return arith::AndIOp::create(b, loc, x, y);
  }
  llvm_unreachable("unknown reduction");
}

Value KernelLowering::neutral(tile::ReduceKind kind, Type type) {
  switch (kind) {
  case tile::ReduceKind::Sum:
  case tile::ReduceKind::Any:
    return padConstant(tile::Pad::Zero, type);
  case tile::ReduceKind::Prod:
  case tile::ReduceKind::All:
    return padConstant(tile::Pad::One, type);
  case tile::ReduceKind::Max:
  case tile::ReduceKind::FMax:
    return padConstant(tile::Pad::Lowest, type);
  case tile::ReduceKind::Min:
  case tile::ReduceKind::FMin:
    return padConstant(tile::Pad::Highest, type);
  }
  llvm_unreachable("unknown reduction");
}

void KernelLowering::lower(tile::DotOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  // Loops: batch, free axes of lhs, of rhs, contracted. The result's axes are
  // the first three groups in that order.
  SmallVector<int64_t> lhsFree = op.getLhsFree(), rhsFree = op.getRhsFree();
  unsigned result = type.getRank();
  unsigned count = result + op.getLhsContract().size();
  SmallVector<AffineExpr> lhsExprs(op.getLhs().getType().getRank());
  SmallVector<AffineExpr> rhsExprs(op.getRhs().getType().getRank());
  unsigned loop = 0;
  for (auto [left, right] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch()))
    lhsExprs[left] = rhsExprs[right] = b.getAffineDimExpr(loop++);
  for (int64_t axis : lhsFree)
    lhsExprs[axis] = b.getAffineDimExpr(loop++);
  for (int64_t axis : rhsFree)
    rhsExprs[axis] = b.getAffineDimExpr(loop++);
  SmallVector<int64_t> reductions;
  for (auto [left, right] :
       llvm::zip_equal(op.getLhsContract(), op.getRhsContract())) {
    reductions.push_back(loop);
    lhsExprs[left] = rhsExprs[right] = b.getAffineDimExpr(loop++);
  }
  MLIRContext *ctx = b.getContext();
  AffineMap lhsMap = AffineMap::get(count, 0, lhsExprs, ctx);
  AffineMap rhsMap = AffineMap::get(count, 0, rhsExprs, ctx);
  // The major submap of no results would be no map.
  AffineMap resultMap = result == 0
                            ? AffineMap::get(count, 0, ctx)
                            : AffineMap::getMultiDimIdentityMap(count, ctx)
                                  .getMajorSubMap(result);

  Type element = type.getElementType();
  Value lhs = op.getLhs(), rhs = op.getRhs();
  if (op.getPrecision() == tile::Precision::TF32) {
    // Rounded here, each element once. tf32x3 recovers what this loses, so
    // that on a host it is simply f32.
    for (Value *operand : {&lhs, &rhs})
      *operand = elementwise(
          *operand, cast<RankedTensorType>(operand->getType()).getShape(),
          b.getF32Type(), [&](ValueRange lanes) {
            return SmallVector<Value>{roundTF32(lanes.front())};
          });
  }
  auto widen = [&](Value lane, bool isUnsigned) -> Value {
    if (lane.getType() == element)
      return lane;
    if (isa<FloatType>(element))
      return arith::ExtFOp::create(b, loc, element, lane);
    if (isUnsigned)
      return arith::ExtUIOp::create(b, loc, element, lane);
    return arith::ExtSIOp::create(b, loc, element, lane);
  };
  // A narrow left operand is widened as a tile: that merges with what computes
  // it, and moves out of loops, neither of which packing would.
  if (auto from = cast<RankedTensorType>(lhs.getType());
      from.getElementType() != element)
    lhs = elementwise(lhs, from.getShape(), element, [&](ValueRange lanes) {
      return SmallVector<Value>{widen(lanes[0], op.getLhsUnsigned())};
    });
  Value init = op.getAcc();
  if (!init)
    init = filled(type.getShape(), padConstant(tile::Pad::Zero, element));

  auto made =
      generic({lhs, rhs}, init, {lhsMap, rhsMap, resultMap}, reductions,
              [&](ValueRange lanes) {
                Value left = widen(lanes[0], op.getLhsUnsigned());
                Value right = widen(lanes[1], op.getRhsUnsigned());
                Value product;
                if (isa<FloatType>(element))
                  product = arith::MulFOp::create(
                      b, loc, left, right, arith::FastMathFlags::contract);
                else
                  product = arith::MulIOp::create(b, loc, left, right);
                return SmallVector<Value>{
                    combine(tile::ReduceKind::Sum, lanes[2], product)};
              });
  made->setAttr(kContractionAttr, b.getUnitAttr());
  b.replaceAllUsesWith(op.getResult(), made.getResult(0));
}

/// The identity on `rank` loops without the ones in `dropped`.
static AffineMap mapWithout(MLIRContext *ctx, unsigned rank,
                            ArrayRef<int64_t> dropped) {
  SmallVector<AffineExpr> exprs;
  for (unsigned loop = 0; loop < rank; ++loop)
    if (!llvm::is_contained(dropped, int64_t(loop)))
      exprs.push_back(getAffineDimExpr(loop, ctx));
  return AffineMap::get(rank, 0, exprs, ctx);
}

void KernelLowering::lower(tile::ReduceOp op) {
  auto from = cast<RankedTensorType>(op.getValue().getType());
  auto type = cast<RankedTensorType>(op.getType());
  Value init =
      filled(type.getShape(), neutral(op.getKind(), type.getElementType()));
  AffineMap whole = b.getMultiDimIdentityMap(from.getRank());
  AffineMap kept = mapWithout(b.getContext(), from.getRank(), op.getAxes());
  auto made = generic(
      op.getValue(), init, {whole, kept}, op.getAxes(), [&](ValueRange lanes) {
        return SmallVector<Value>{combine(op.getKind(), lanes[1], lanes[0])};
      });
  b.replaceAllUsesWith(op.getResult(), made.getResult(0));
}

void KernelLowering::lower(tile::ArgReduceOp op) {
  auto from = cast<RankedTensorType>(op.getValue().getType());
  auto type = cast<RankedTensorType>(op.getType());
  Type element = from.getElementType(), i64 = b.getI64Type();
  int64_t axis = op.getAxis();
  Value bests = filled(type.getShape(), neutral(op.getKind(), element));
  Value places = filled(type.getShape(), constantInt(i64, -1));
  AffineMap whole = b.getMultiDimIdentityMap(from.getRank());
  AffineMap kept = mapWithout(b.getContext(), from.getRank(), {axis});
  bool isMax = op.getKind() == tile::ReduceKind::Max;

  auto body = [&](ValueRange lanes) {
    Value lane = lanes[0], best = lanes[1], place = lanes[2];
    Value better;
    if (isa<FloatType>(element)) {
      auto compare = [&](arith::CmpFPredicate predicate, Value x, Value y) {
        return arith::CmpFOp::create(b, loc, predicate, x, y).getResult();
      };
      // The first NaN wins over all numbers, and stays.
      better =
          compare(isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT,
                  lane, best);
      Value isNaN = compare(arith::CmpFPredicate::UNO, lane, lane);
      Value bestIsNumber = compare(arith::CmpFPredicate::ORD, best, best);
      better = arith::OrIOp::create(b, loc, better, both(isNaN, bestIsNumber));
    } else {
      better = arith::CmpIOp::create(
          b, loc, isMax ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt,
          lane, best);
    }
    // The first lane counts even if it is not better than the neutral element.
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                          place, constantInt(i64, 0));
    better = arith::OrIOp::create(b, loc, better, isFirst);
    Value at = linalg::IndexOp::create(b, loc, axis);
    if (op.getValid())
      better =
          both(better, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                             at, op.getValid()));
    Value atInt = arith::IndexCastOp::create(b, loc, i64, at);
    return SmallVector<Value>{
        arith::SelectOp::create(b, loc, better, lane, best).getResult(),
        arith::SelectOp::create(b, loc, better, atInt, place).getResult()};
  };
  auto made = generic(op.getValue(), {bests, places}, {whole, kept, kept},
                      {axis}, body);
  // "First" is a matter of the order of the loops.
  made->setAttr(kPinnedAttr, b.getUnitAttr());
  b.replaceAllUsesWith(op.getResult(), made.getResult(1));
}

/// A reduction that also writes every intermediate result. Loops run in
/// ascending order, so this is what linalg's loops compute, although it is not
/// a reduction that could be tiled in parallel.
void KernelLowering::lower(tile::ScanOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  int64_t axis = op.getAxis();
  AffineMap whole = b.getMultiDimIdentityMap(type.getRank());
  AffineMap kept = mapWithout(b.getContext(), type.getRank(), {axis});
  SmallVector<int64_t> others(type.getShape());
  others.erase(others.begin() + axis);
  Value running = filled(others, neutral(op.getKind(), type.getElementType()));
  Value output = empty(type.getShape(), type.getElementType());
  auto made = generic(op.getValue(), {output, running}, {whole, whole, kept},
                      {axis}, [&](ValueRange lanes) {
                        Value next = combine(op.getKind(), lanes[2], lanes[0]);
                        return SmallVector<Value>{next, next};
                      });
  made->setAttr(kPinnedAttr, b.getUnitAttr());
  b.replaceAllUsesWith(op.getResult(), made.getResult(0));
}

} // namespace tilec

//===- TileCanonicalize.cpp - Canonicalization of tile ops -----*- C++ -*-===//
//
// Rewrites towards the form that passes expect: accesses without needless
// bounds or slices, contractions that carry their accumulator, and broadcasts
// that read the original value.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/Tile.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static RankedTensorType tileType(LoadOp op) { return op.getType(); }
static RankedTensorType tileType(StoreOp op) { return op.getValue().getType(); }
static RankedTensorType tileType(AtomicAddOp op) {
  return op.getValue().getType();
}

namespace {

/// Bounds that cut nothing off are dropped, so that "no valid extents" means
/// "every lane is valid" and nobody needs to look at constants.
template <typename OpTy> struct DropFullValid : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (op.getValid().empty())
      return failure();
    for (auto [valid, extent] :
         llvm::zip(op.getValid(), tileType(op).getShape())) {
      std::optional<int64_t> constant = getConstantIntValue(valid);
      if (!constant || ShapedType::isDynamic(extent) || *constant < extent)
        return failure();
    }
    rewriter.modifyOpInPlace(op, [&] { op.getValidMutable().clear(); });
    return success();
  }
};

template <typename OpTy> struct DropTruePredicate : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op.getPredicate() || !matchPattern(op.getPredicate(), m_One()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getPredicateMutable().clear(); });
    return success();
  }
};

template <typename OpTy> struct EraseFalsePredicate : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op.getPredicate() || !matchPattern(op.getPredicate(), m_Zero()))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct LoadFalsePredicate : OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LoadOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    if (!op.getPredicate() || !matchPattern(op.getPredicate(), m_Zero()) ||
        !type.hasStaticShape())
      return failure();
    Pad pad = op.getPad() == Pad::Undef ? Pad::Zero : op.getPad();
    TypedAttr element = getPadValue(pad, type.getElementType());
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, SplatElementsAttr::get(type, element));
    return success();
  }
};

/// Access through a slice becomes access to the view it was cut from: later
/// passes then see the argument's own dimensions and strides.
template <typename OpTy> struct AccessThroughSlice : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto slice = op.getView().template getDefiningOp<SliceOp>();
    if (!slice)
      return failure();
    SmallVector<Value> indices(slice.getIndices());
    for (auto [dim, index] : llvm::zip(slice.getDims(), op.getIndices()))
      indices[dim] = index;
    SmallVector<int64_t> dims;
    for (int64_t dim : op.getDims())
      dims.push_back(slice.getDims()[dim]);
    Value predicate = op.getPredicate();
    if (Value outer = slice.getPredicate())
      predicate = predicate ? arith::AndIOp::create(rewriter, op.getLoc(),
                                                    outer, predicate)
                            : outer;
    rewriter.modifyOpInPlace(op, [&] {
      op.getViewMutable().assign(slice.getView());
      op.getIndicesMutable().assign(indices);
      if (predicate)
        op.getPredicateMutable().assign(predicate);
      op.setDims(dims);
    });
    return success();
  }
};

} // namespace

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<DropFullValid<LoadOp>, DropTruePredicate<LoadOp>,
               LoadFalsePredicate, AccessThroughSlice<LoadOp>>(context);
}

void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<DropFullValid<StoreOp>, DropTruePredicate<StoreOp>,
               EraseFalsePredicate<StoreOp>, AccessThroughSlice<StoreOp>>(
      context);
}

void AtomicAddOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns
      .add<DropFullValid<AtomicAddOp>, DropTruePredicate<AtomicAddOp>,
           EraseFalsePredicate<AtomicAddOp>, AccessThroughSlice<AtomicAddOp>>(
          context);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {

struct DropTrueMask : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &rewriter) const override {
    // m_One() also matches a splat of true.
    if (!op.getMask() || !matchPattern(op.getMask(), m_One()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
};

} // namespace

void GatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<DropTrueMask>(context);
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

namespace {

/// acc + dot(a, b) becomes a dot that starts from acc, which is what tensor
/// cores do. Only where both are in one block: moving a contraction into a loop
/// would repeat it.
template <typename AddOp> struct AddIntoDot : OpRewritePattern<AddOp> {
  using OpRewritePattern<AddOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [dotOperand, acc] : {std::pair(op.getLhs(), op.getRhs()),
                                   std::pair(op.getRhs(), op.getLhs())}) {
      auto dot = dotOperand.template getDefiningOp<DotOp>();
      if (!dot || dot.getAcc() || !dot->hasOneUse() ||
          dot->getBlock() != op->getBlock())
        continue;
      rewriter.replaceOpWithNewOp<DotOp>(
          op, dot.getType(), dot.getLhs(), dot.getRhs(), acc,
          dot.getLhsContractAttr(), dot.getRhsContractAttr(),
          dot.getLhsBatchAttr(), dot.getRhsBatchAttr(), dot.getPrecisionAttr(),
          dot.getLhsUnsignedAttr(), dot.getRhsUnsignedAttr());
      return success();
    }
    return failure();
  }
};

/// A sum that starts from zero is a sum.
struct DropZeroAcc : OpRewritePattern<DotOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DotOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getAcc() || !(matchPattern(op.getAcc(), m_PosZeroFloat()) ||
                          matchPattern(op.getAcc(), m_Zero())))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getAccMutable().clear(); });
    return success();
  }
};

} // namespace

void DotOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *context) {
  patterns
      .add<AddIntoDot<arith::AddFOp>, AddIntoDot<arith::AddIOp>, DropZeroAcc>(
          context);
}

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

namespace {

struct BroadcastOfBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BroadcastOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getValue().getDefiningOp<BroadcastOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> dims;
    for (int64_t dim : inner.getDims())
      dims.push_back(op.getDims()[dim]);
    rewriter.modifyOpInPlace(op, [&] {
      op.getValueMutable().assign(inner.getValue());
      op.setDims(dims);
    });
    return success();
  }
};

struct BroadcastOfSplat : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BroadcastOp op,
                                PatternRewriter &rewriter) const override {
    auto splat = op.getValue().getDefiningOp<tensor::SplatOp>();
    if (!splat)
      return failure();
    rewriter.replaceOpWithNewOp<tensor::SplatOp>(op, splat.getInput(),
                                                 op.getType(), op.getSizes());
    return success();
  }
};

} // namespace

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<BroadcastOfBroadcast, BroadcastOfSplat>(context);
}

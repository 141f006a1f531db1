//===- BoolsToBytes.cpp - Buffers of i1 become bytes ------------*- C++ -*-===//
//
// An i1 in memory takes a byte anyway, but LLVM considers its size irregular
// and leaves loops over such arrays scalar.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace tilec {

#define GEN_PASS_DEF_CPUBOOLSTOBYTES
#include "codegen/CPU/Passes.h.inc"

namespace {

struct LoadPattern : OpConversionPattern<memref::LoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value byte = memref::LoadOp::create(
        rewriter, op.getLoc(), adaptor.getMemref(), adaptor.getIndices());
    rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, op.getType(), byte);
    return success();
  }
};

struct StorePattern : OpConversionPattern<memref::StoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value byte = arith::ExtUIOp::create(
        rewriter, op.getLoc(), rewriter.getI8Type(), adaptor.getValue());
    rewriter.replaceOpWithNewOp<memref::StoreOp>(op, byte, adaptor.getMemref(),
                                                 adaptor.getIndices());
    return success();
  }
};

/// Allocations and views: the same op on the other type.
struct RetypePattern : ConversionPattern {
  RetypePattern(const TypeConverter &types, MLIRContext *ctx)
      : ConversionPattern(types, MatchAnyOpTypeTag(), /*benefit=*/1, ctx) {}
  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (op->getNumRegions() || !isa<memref::MemRefDialect>(op->getDialect()))
      return failure();
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), results)))
      return failure();
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(operands);
    state.addTypes(results);
    state.addAttributes(op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

struct BoolsToBytesPass : impl::CPUBoolsToBytesBase<BoolsToBytesPass> {
  void runOnOperation() override {
    MLIRContext *ctx = &getContext();
    TypeConverter types;
    types.addConversion([](Type type) { return type; });
    types.addConversion([](MemRefType type) -> Type {
      if (!type.getElementType().isInteger(1))
        return type;
      return MemRefType::Builder(type).setElementType(
          IntegerType::get(type.getContext(), 8));
    });
    ConversionTarget target(*ctx);
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      return types.isLegal(op->getOperandTypes()) &&
             types.isLegal(op->getResultTypes());
    });
    RewritePatternSet patterns(ctx);
    patterns.add<LoadPattern, StorePattern>(types, ctx, /*benefit=*/2);
    patterns.add<RetypePattern>(types, ctx);
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns,
                                                         target);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilec

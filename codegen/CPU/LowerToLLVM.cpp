//===- LowerToLLVM.cpp - The last conversion --------------------*- C++ -*-===//
//
// One conversion for all the dialects that are left. One pass, rather than one
// a dialect, saves the casts between half-converted values and their removal.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Passes.h"

#include "mlir/Analysis/DataLayoutAnalysis.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilec {

#define GEN_PASS_DEF_CPULOWERTOLLVM
#include "codegen/CPU/Passes.h.inc"

namespace {

struct LowerToLLVMPass : impl::CPULowerToLLVMBase<LowerToLLVMPass> {
  void runOnOperation() override {
    MLIRContext *ctx = &getContext();
    // Masks of constant length become constants; the conversion below knows
    // only comparisons.
    RewritePatternSet masks(ctx);
    vector::populateVectorMaskOpLoweringPatterns(masks);
    vector::populateVectorMaskMaterializationPatterns(
        masks,
        /*force32BitVectorIndices=*/true);
    if (failed(applyPatternsGreedily(getOperation(), std::move(masks))))
      return signalPassFailure();

    LowerToLLVMOptions options(ctx);
    LLVMTypeConverter types(ctx, options);
    RewritePatternSet patterns(ctx);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    index::populateIndexToLLVMConversionPatterns(types, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
    populateFuncToLLVMConversionPatterns(types, patterns);
    populateMathToLLVMConversionPatterns(types, patterns);
    // What LLVM has no intrinsic for: erf of f64.
    populateMathToLibmConversionPatterns(patterns, /*benefit=*/0);
    populateVectorToLLVMConversionPatterns(types, patterns);
    ub::populateUBToLLVMConversionPatterns(types, patterns);

    LLVMConversionTarget target(*ctx);
    target.addLegalOp<ModuleOp>();
    if (failed(
            applyFullConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilec

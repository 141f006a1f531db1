//===- OrderLoops.cpp - Contiguous memory innermost -------------*- C++ -*-===//
//
// Each operand of a generic op is contiguous along at most one loop. The loop
// along which most operands are contiguous (or do not move at all) becomes the
// innermost, where LLVM vectorizes; the others keep their order.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Passes.h"
#include "codegen/TileToLinalg/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace tilec {

#define GEN_PASS_DEF_CPUORDERLOOPS
#include "codegen/CPU/Passes.h.inc"

namespace {

/// How an operand moves when a loop takes a step.
enum class Step { None, Unit, Large };

Step stepAlong(OpOperand &operand, AffineMap map, unsigned loop) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return Step::None;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return Step::Large;
  for (auto [result, stride] : llvm::zip_equal(map.getResults(), strides)) {
    if (!result.isFunctionOfDim(loop))
      continue;
    return stride == 1 && isa<AffineDimExpr>(result) ? Step::Unit : Step::Large;
  }
  return Step::None;
}

struct OrderLoopsPass : impl::CPUOrderLoopsBase<OrderLoopsPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops)
      order(rewriter, op);
  }

private:
  void order(IRRewriter &rewriter, linalg::GenericOp op) {
    unsigned count = op.getNumLoops();
    if (count < 2 || op->hasAttr(kPinnedAttr))
      return;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    unsigned best = count - 1;
    int64_t bestScore = scoreOf(op, best, ranges[best]);
    for (unsigned loop = count - 1; loop-- > 0;) {
      int64_t score = scoreOf(op, loop, ranges[loop]);
      if (score > bestScore) {
        best = loop;
        bestScore = score;
      }
    }
    if (best == count - 1)
      return;
    SmallVector<unsigned> permutation;
    for (unsigned loop = 0; loop < count; ++loop)
      if (loop != best)
        permutation.push_back(loop);
    permutation.push_back(best);
    rewriter.setInsertionPoint(op);
    (void)linalg::interchangeGenericOp(rewriter, op, permutation);
  }

  /// Higher is better as the innermost loop.
  static int64_t scoreOf(linalg::GenericOp op, unsigned loop, int64_t range) {
    // A loop of one iteration is no loop.
    if (range == 1)
      return INT64_MIN;
    int64_t score = 0;
    for (OpOperand &operand : op->getOpOperands()) {
      switch (stepAlong(operand, op.getMatchingIndexingMap(&operand), loop)) {
      case Step::None:
        score += 1;
        break;
      case Step::Unit:
        score += 2;
        break;
      case Step::Large:
        // Scattered stores are worse than gathered loads.
        score -= op.isDpsInit(&operand) ? 6 : 4;
        break;
      }
    }
    return score;
  }
};

} // namespace
} // namespace tilec

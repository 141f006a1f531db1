//===- FuseElementwise.cpp - Fewer passes over tiles ------------*- C++ -*-===//
//
// MLIR can merge a producer into a user. What is decided here is when. Merging
// saves a store and a load for each element, but a producer with several users
// is computed once for each of them, and a producer that is broadcast is
// computed for every element of the larger tile. So:
//
//   * One user that needs every element once: always merged.
//   * Several users, or a broadcast: merged if computing an element again is
//     about as cheap as loading it. The cost counts everything that would be
//     computed again, up to the next tile that is stored.
//
// A producer with several users is copied first, one copy a user, after which
// MLIR sees only producers with one.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Passes.h"
#include "codegen/TileToLinalg/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilec {

#define GEN_PASS_DEF_CPUFUSEELEMENTWISE
#include "codegen/CPU/Passes.h.inc"

namespace {

/// A unit is one simple vector instruction. A store and a load of an element
/// are worth a few of them; with the buffer in the second-level cache, more.
constexpr int64_t cheap = 8;
/// A tile computed from positions alone (a mask, say) has no operand to load.
constexpr int64_t cheapWithoutOperands = 16;

int64_t costOf(Operation &op) {
  if (isa<linalg::YieldOp, linalg::IndexOp, arith::ConstantOp>(op))
    return 0;
  if (isa<arith::DivFOp, math::SqrtOp>(op))
    return 8;
  if (isa<math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp,
          math::RoundEvenOp, math::FmaOp>(op))
    return 1;
  if (isa<math::MathDialect>(op.getDialect()) ||
      isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::FloorDivSIOp, arith::CeilDivSIOp>(op))
    return 30;
  if (isa<arith::TruncFOp>(op))
    return 5;
  if (isa<arith::ExtFOp>(op))
    return op.getOperand(0).getType().getIntOrFloatBitWidth() == 8 ? 8 : 1;
  if (isa<arith::ArithDialect>(op.getDialect()))
    return 1;
  return 20; // A gather, or something unknown.
}

/// Can be merged into a user at all.
bool isProducer(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op->getNumResults() == 1 &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         !op->hasAttr(kContractionAttr) && !op->hasAttr(kPinnedAttr) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation();
}

/// Can have producers merged into it.
bool isConsumer(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.hasPureTensorSemantics() &&
         !generic->hasAttr(kContractionAttr) && !generic->hasAttr(kPinnedAttr);
}

int64_t numElements(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements();
}

int64_t numIterations(linalg::LinalgOp op) {
  int64_t product = 1;
  for (int64_t range : op.getStaticLoopRanges())
    product *= range;
  return product;
}

class Fusion {
public:
  explicit Fusion(func::FuncOp func) : func(func) {}
  LogicalResult run();

private:
  struct Cost {
    int64_t compute = 0;
    int64_t operands = 0; // Loads of full tiles.

    bool isCheap() const {
      return compute <= (operands == 0 ? cheapWithoutOperands : cheap) &&
             operands <= 1;
    }
  };
  Cost costOfRecomputing(linalg::GenericOp op);
  bool mayFuse(OpOperand &use);
  void copySharedProducers();

  func::FuncOp func;
  llvm::DenseMap<Operation *, Cost> costs;
};

/// The cost of an element of a producer, with what would be merged into it.
Fusion::Cost Fusion::costOfRecomputing(linalg::GenericOp op) {
  auto known = costs.find(op);
  if (known != costs.end())
    return known->second;
  Cost cost;
  for (Operation &inner : *op.getBody())
    cost.compute += costOf(inner);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    if (producer && isProducer(producer) && mayFuse(*operand)) {
      Cost inner = costOfRecomputing(producer);
      cost.compute += inner.compute;
      cost.operands += inner.operands;
    } else if (isa<RankedTensorType>(operand->get().getType()) &&
               2 * numElements(operand->get()) > numIterations(op)) {
      ++cost.operands;
    }
  }
  costs[op] = cost;
  return cost;
}

bool Fusion::mayFuse(OpOperand &use) {
  auto producer = use.get().getDefiningOp<linalg::GenericOp>();
  if (!isProducer(producer) || !isConsumer(use.getOwner()))
    return false;
  auto consumer = cast<linalg::LinalgOp>(use.getOwner());
  if (!consumer.isDpsInput(&use))
    return false;
  if (costOfRecomputing(producer).isCheap())
    return true;
  // Not in a loop that the producer is outside of, nor for a broadcast.
  return use.get().hasOneUse() &&
         producer->getBlock() == consumer->getBlock() &&
         numElements(use.get()) >= numIterations(consumer);
}

/// Gives each user a copy of a cheap producer. Users come first, so that the
/// copies count as users of what they are computed from.
void Fusion::copySharedProducers() {
  SmallVector<linalg::GenericOp> producers;
  func.walk([&](linalg::GenericOp op) {
    if (isProducer(op))
      producers.push_back(op);
  });
  for (linalg::GenericOp op : llvm::reverse(producers)) {
    if (op->hasOneUse() || op->use_empty())
      continue;
    // If it has to be stored for one user, the others can load it.
    Cost cost = costOfRecomputing(op);
    bool stored = llvm::any_of(
        op->getUsers(), [&](Operation *user) { return !isConsumer(user); });
    if (!cost.isCheap() || (stored && cost.operands > 0))
      continue;
    llvm::SmallSetVector<Operation *, 4> users(op->user_begin(),
                                               op->user_end());
    for (Operation *user : ArrayRef(users.getArrayRef()).drop_front()) {
      OpBuilder b(op);
      b.setInsertionPointAfter(op);
      Operation *copy = b.clone(*op);
      costs[copy] = cost;
      user->replaceUsesOfWith(op.getResult(0), copy->getResult(0));
    }
  }
}

LogicalResult Fusion::run() {
  MLIRContext *ctx = func.getContext();
  {
    // An operand used twice becomes one input, so that it has one user.
    RewritePatternSet patterns(ctx);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    if (failed(applyPatternsGreedily(func, std::move(patterns))))
      return failure();
  }
  copySharedProducers();
  RewritePatternSet patterns(ctx);
  linalg::populateElementwiseOpsFusionPatterns(patterns, [&](OpOperand *use) {
    // Merged ops are new, and an address may be used again for one.
    costs.clear();
    return mayFuse(*use) && use->get().hasOneUse();
  });
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, ctx);
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(true);
  return applyPatternsGreedily(func, std::move(patterns), config);
}

struct FuseElementwisePass : impl::CPUFuseElementwiseBase<FuseElementwisePass> {
  void runOnOperation() override {
    if (failed(Fusion(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilec

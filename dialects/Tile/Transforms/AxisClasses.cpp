//===- AxisClasses.cpp - Which axes of tiles are the same ------*- C++ -*-===//
//
// See AxisClasses.h. Every op says which axes of its tiles go together; classes
// are what follows from all of them.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/AxisClasses.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::tile;

static bool isTile(Value value) {
  return isa<RankedTensorType>(value.getType());
}

static int64_t rankOf(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getRank();
}

void mlir::tile::separateSources(KernelOp kernel) {
  SmallVector<Operation *> sources;
  kernel.walk([&](Operation *op) {
    if (isa<arith::ConstantOp, tensor::SplatOp, tensor::EmptyOp, IotaOp>(op) &&
        isTile(op->getResult(0)))
      sources.push_back(op);
  });
  for (Operation *op : sources) {
    OpBuilder builder(op);
    // All uses but one, which keeps the op itself.
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses()))
      if (!op->hasOneUse())
        use.set(builder.clone(*op)->getResult(0));
  }
}

void AxisClasses::tie(Value a, int64_t axisOfA, Value b, int64_t axisOfB) {
  classes.join(first.lookup(a) + axisOfA, first.lookup(b) + axisOfB);
}

void AxisClasses::tieAll(Value a, Value b) {
  for (int64_t axis = 0; axis < rankOf(a); ++axis)
    tie(a, axis, b, axis);
}

void AxisClasses::tieRest(Value whole, ArrayRef<int64_t> dropped, Value rest) {
  int64_t kept = 0;
  for (int64_t axis = 0; axis < rankOf(whole); ++axis)
    if (!llvm::is_contained(dropped, axis))
      tie(whole, axis, rest, kept++);
}

void AxisClasses::tieDot(DotOp op) {
  int64_t axis = 0;
  for (auto [l, r] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch())) {
    tie(op.getLhs(), l, op.getRhs(), r);
    tie(op.getLhs(), l, op.getResult(), axis++);
  }
  for (int64_t l : op.getLhsFree())
    tie(op.getLhs(), l, op.getResult(), axis++);
  for (int64_t r : op.getRhsFree())
    tie(op.getRhs(), r, op.getResult(), axis++);
  for (auto [l, r] : llvm::zip_equal(op.getLhsContract(), op.getRhsContract()))
    tie(op.getLhs(), l, op.getRhs(), r);
  if (op.getAcc())
    tieAll(op.getAcc(), op.getResult());
}

void AxisClasses::tieLoop(scf::ForOp op) {
  for (auto [result, argument, init, yielded] :
       llvm::zip_equal(op.getResults(), op.getRegionIterArgs(), op.getInits(),
                       op.getYieldedValues())) {
    if (!isTile(result))
      continue;
    tieAll(result, argument);
    tieAll(result, init);
    tieAll(result, yielded);
  }
}

void AxisClasses::tieBranch(scf::IfOp op) {
  if (op.getNumResults() == 0)
    return;
  for (auto [result, yes, no] :
       llvm::zip_equal(op.getResults(), op.thenYield().getOperands(),
                       op.elseYield().getOperands()))
    if (isTile(result)) {
      tieAll(result, yes);
      tieAll(result, no);
    }
}

LogicalResult AxisClasses::add(Operation *op, StringRef passName) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    tieLoop(loop);
    return success();
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    tieBranch(branch);
    return success();
  }
  // Its operands are tied by the op that it ends.
  if (isa<scf::YieldOp>(op) && isa<scf::ForOp, scf::IfOp>(op->getParentOp()))
    return success();

  SmallVector<Value> all;
  llvm::copy_if(op->getOperands(), std::back_inserter(all), isTile);
  llvm::copy_if(op->getResults(), std::back_inserter(all), isTile);
  if (all.empty() || llvm::all_of(all, [](Value v) { return !rankOf(v); }))
    return success();
  if (isa<LoadOp, StoreOp, AtomicAddOp, IotaOp, PrintOp, AssertOp,
          arith::ConstantOp, tensor::SplatOp, tensor::EmptyOp,
          tensor::ExtractOp>(op))
    return success();
  if (isa<GatherOp, ScatterAddOp, SelectValidOp, ScanOp, RandomOp, RoundTF32Op>(
          op) ||
      OpTrait::hasElementwiseMappableTraits(op)) {
    for (Value value : llvm::drop_begin(all))
      tieAll(all.front(), value);
    return success();
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (auto [axis, dim] : llvm::enumerate(broadcast.getDims()))
      tie(broadcast.getValue(), axis, broadcast.getResult(), dim);
    return success();
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    tieRest(reduce.getValue(), reduce.getAxes(), reduce.getResult());
    return success();
  }
  if (auto reduce = dyn_cast<ArgReduceOp>(op)) {
    tieRest(reduce.getValue(), static_cast<int64_t>(reduce.getAxis()),
            reduce.getResult());
    return success();
  }
  if (auto dot = dyn_cast<DotOp>(op)) {
    tieDot(dot);
    return success();
  }
  if (isa<AttentionOp>(op))
    return op->emitError() << "expected no '" << op->getName() << "' before "
                           << passName << "; run tile-expand-attention first";
  return op->emitError() << "expected only ops whose axes " << passName
                         << " knows (tile, elementwise, scf.for, scf.if), "
                            "found '"
                         << op->getName()
                         << "' on tensors; rewrite it with those first";
}

FailureOr<AxisClasses> AxisClasses::compute(KernelOp kernel,
                                            StringRef passName) {
  AxisClasses result;
  unsigned count = 0;
  auto number = [&](Value value) -> LogicalResult {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return success();
    if (!type.hasStaticShape())
      return emitError(value.getLoc())
             << "expected static extents for " << passName << ", found " << type
             << "; compile the kernel for given extents of its whole axes";
    result.first[value] = count;
    count += type.getRank();
    return success();
  };
  WalkResult numbered = kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value value : op->getResults())
      if (failed(number(value)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        if (failed(number(argument)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (numbered.wasInterrupted())
    return failure();
  result.classes.grow(count);
  WalkResult tied = kernel->walk<WalkOrder::PreOrder>(
      [&](Operation *op) { return WalkResult(result.add(op, passName)); });
  if (tied.wasInterrupted())
    return failure();
  result.classes.compress();
  return result;
}

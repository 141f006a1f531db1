//===- PipelineLoops.cpp - tilegpu-pipeline-loops ---------------*- C++ -*-===//
//
// One loop at a time: find the copies that can be made ahead, give their
// buffers slots, clone the copies in front of the loop and ahead of the
// iteration, and carry the numbers of the slots around.
//
//===----------------------------------------------------------------------===//

#include "dialects/TileGPU/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::tilegpu {
#define GEN_PASS_DEF_TILEGPUPIPELINELOOPS
#include "dialects/TileGPU/Transforms/Passes.h.inc"
} // namespace mlir::tilegpu

using namespace mlir;
using namespace mlir::tilegpu;

namespace {

class LoopPipeliner {
public:
  LoopPipeliner(tile::KernelOp kernel, scf::ForOp loop, int64_t budget,
                int64_t limit)
      : kernel(kernel), loop(loop), budget(budget), limit(limit),
        b(kernel.getContext()) {}
  void run();

private:
  bool collectCopies();
  bool writesWhatItCopies();
  bool hasInnerCopies();
  bool collectAddresses(Value value, Operation *copy);
  int64_t chooseStages();
  void giveSlots(int64_t stages);
  void emitCopies(Value iv, Value slot);
  void emitPrologue(int64_t stages);
  void rewriteLoop(int64_t stages);
  void remark(bool done, StringRef name, const Twine &text);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loop.getLoc(), value);
  }

  tile::KernelOp kernel;
  scf::ForOp loop;
  int64_t budget, limit;
  IRRewriter b;
  SmallVector<AsyncCopyOp> copies;
  /// The commits and waits that belong to them.
  SmallVector<Operation *> order;
  llvm::SetVector<Operation *> buffers;
  /// What computes their positions, in program order.
  llvm::SetVector<Operation *> addresses;
};

} // namespace

void LoopPipeliner::remark(bool done, StringRef name, const Twine &text) {
  remark::RemarkOpts options =
      remark::RemarkOpts::name(name).category("tilegpu-pipeline-loops");
  if (done)
    remark::passed(loop.getLoc(), options) << text.str();
  else
    remark::missed(loop.getLoc(), options) << text.str();
}

//===----------------------------------------------------------------------===//
// Which copies
//===----------------------------------------------------------------------===//

/// Collects what computes `value` in the loop. False if that is not a function
/// of the loop's position alone.
bool LoopPipeliner::collectAddresses(Value value, Operation *copy) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != loop.getBody() ||
        argument == loop.getInductionVar())
      return true;
    remark(false, "not-pipelined",
           "the position of a copy depends on what the loop computes");
    return false;
  }
  Operation *op = value.getDefiningOp();
  if (!loop->isProperAncestor(op))
    return true;
  if (op->getBlock() != loop.getBody() || op->getNumRegions() != 0 ||
      (!isMemoryEffectFree(op) && !isa<tile::InBoundsOp>(op))) {
    remark(false, "not-pipelined",
           "the position of a copy is read from memory");
    return false;
  }
  for (Value operand : op->getOperands())
    if (!collectAddresses(operand, copy))
      return false;
  addresses.insert(op);
  return true;
}

/// The argument that a view is, or is a slice of.
static Value argumentOf(Value view) {
  while (auto slice = view.getDefiningOp<tile::SliceOp>())
    view = slice.getView();
  return view;
}

/// A tensor that the loop writes must not be read ahead of that. Different
/// arguments never overlap if one of them is written.
bool LoopPipeliner::writesWhatItCopies() {
  llvm::SmallPtrSet<Value, 4> read;
  for (AsyncCopyOp copy : copies)
    read.insert(argumentOf(copy.getView()));
  return loop
      .walk([&](Operation *op) {
        Value view;
        if (auto store = dyn_cast<tile::StoreOp>(op))
          view = store.getView();
        else if (auto add = dyn_cast<tile::AtomicAddOp>(op))
          view = add.getView();
        else if (auto add = dyn_cast<tile::ScatterAddOp>(op))
          view = add.getView();
        return view && read.contains(argumentOf(view)) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Groups of copies complete in the order of their commits, whichever loop or
/// branch these are in. So they can only be counted where there is one source.
bool LoopPipeliner::hasInnerCopies() {
  return loop
      .walk([&](Operation *op) {
        return isa<AsyncCopyOp, CommitOp, WaitOp>(op) &&
                       op->getBlock() != loop.getBody()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool LoopPipeliner::collectCopies() {
  for (Operation &op : *loop.getBody()) {
    if (auto copy = dyn_cast<AsyncCopyOp>(op)) {
      // Copies of few bytes are complete at once; making them ahead would only
      // hold registers.
      auto alloc = copy.getBuffer().getDefiningOp<AllocOp>();
      if (copy.getVector() < 4 || alloc->getBlock() != loop.getBody())
        return false;
      for (Value operand : copy->getOperands())
        if (operand != copy.getBuffer() && operand != copy.getSlot() &&
            !collectAddresses(operand, copy))
          return false;
      copies.push_back(copy);
      buffers.insert(alloc);
    } else if (isa<CommitOp, WaitOp>(op)) {
      order.push_back(&op);
    }
  }
  return !copies.empty();
}

int64_t LoopPipeliner::chooseStages() {
  if (int64_t stages = kernel.getSchedule().get("stages", 0))
    return std::max<int64_t>(1, stages);
  // What is used beside these buffers counts too.
  int64_t each = 0, others = 0;
  kernel.walk([&](AllocOp alloc) {
    (buffers.contains(alloc) ? each : others) += alloc.getType().getBytes();
  });
  each = std::max<int64_t>(1, each);
  int64_t fit = std::clamp<int64_t>((budget - others) / each, 2, 4);
  return std::min(fit, (limit - others) / each);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

void LoopPipeliner::giveSlots(int64_t stages) {
  for (Operation *op : buffers) {
    auto alloc = cast<AllocOp>(op);
    alloc->moveBefore(loop);
    alloc.getResult().setType(alloc.getType().withSlots(stages));
  }
}

/// The copies of the iteration at `iv`, into `slot`, at the insertion point.
void LoopPipeliner::emitCopies(Value iv, Value slot) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iv);
  for (Operation *op : addresses) {
    Operation *clone = b.clone(*op, mapping);
    // The iteration itself will report what is out of range.
    if (isa<tile::InBoundsOp>(clone))
      clone->setAttr("quiet", b.getUnitAttr());
  }
  // The number of the slot may be an index, or an extent, of the copy as well.
  for (AsyncCopyOp copy : copies)
    cast<AsyncCopyOp>(b.clone(*copy.getOperation(), mapping))
        .getSlotMutable()
        .assign(slot);
}

/// `if (iv < bound) copies` and a commit, which is there in any case so that
/// groups can be counted.
static void guarded(OpBuilder &b, Location loc, Value iv, Value bound,
                    function_ref<void()> emit) {
  Value exists =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, iv, bound);
  auto branch = scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    emit();
  }
  CommitOp::create(b, loc);
}

void LoopPipeliner::emitPrologue(int64_t stages) {
  b.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  Value iv = loop.getLowerBound();
  for (int64_t stage = 0; stage + 1 < stages; ++stage) {
    if (stage > 0)
      iv = b.createOrFold<arith::AddIOp>(loc, iv, loop.getStep());
    Value slot = constant(stage);
    guarded(b, loc, iv, loop.getUpperBound(), [&] { emitCopies(iv, slot); });
  }
}

void LoopPipeliner::rewriteLoop(int64_t stages) {
  Location loc = loop.getLoc();
  b.setInsertionPoint(loop);
  Value zero = constant(0), one = constant(1), count = constant(stages);
  auto named = [&](StringRef name) {
    return NameLoc::get(b.getStringAttr(name), loc);
  };
  Value ahead = b.createOrFold<arith::MulIOp>(named("ahead"), loop.getStep(),
                                              constant(stages - 1));
  Value inits[] = {zero, constant(stages - 1)};
  auto locations = llvm::map_to_vector(
      loop.getBody()->getArguments(),
      [](BlockArgument argument) { return argument.getLoc(); });
  auto result = loop.replaceWithAdditionalYields(
      b, inits, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &builder, Location, ArrayRef<BlockArgument> slots) {
        SmallVector<Value> next;
        for (Value slot : slots) {
          Value up = arith::AddIOp::create(builder, loc, slot, one);
          Value wraps = arith::CmpIOp::create(
              builder, loc, arith::CmpIPredicate::eq, up, count);
          next.push_back(
              arith::SelectOp::create(builder, loc, wraps, zero, up));
        }
        return next;
      });
  loop = cast<scf::ForOp>(**result);
  // With their names.
  for (auto [argument, location] :
       llvm::zip(loop.getBody()->getArguments(), locations))
    argument.setLoc(location);
  size_t numArgs = loop.getRegionIterArgs().size();
  Value readSlot = loop.getRegionIterArgs()[numArgs - 2];
  Value writeSlot = loop.getRegionIterArgs()[numArgs - 1];

  b.setInsertionPointToStart(loop.getBody());
  WaitOp::create(b, loc, stages - 2);
  BarrierOp::create(b, loc);
  readSlot.setLoc(named("read_slot"));
  writeSlot.setLoc(named("write_slot"));
  Value iv =
      arith::AddIOp::create(b, named("next"), loop.getInductionVar(), ahead);
  guarded(b, loc, iv, loop.getUpperBound(), [&] { emitCopies(iv, writeSlot); });
  for (AsyncCopyOp copy : copies)
    b.eraseOp(copy);
  for (Operation *op : order)
    b.eraseOp(op);
  // Whoever read slot 0 now reads the slot whose turn it is.
  loop.getBody()->walk([&](Operation *op) {
    auto redirect = [&](Value buffer, OpOperand *slot) {
      if (slot && buffers.contains(buffer.getDefiningOp()))
        slot->set(readSlot);
    };
    auto operand = [](const MutableOperandRange &range) -> OpOperand * {
      return range.empty() ? nullptr : &range[0];
    };
    if (auto mma = dyn_cast<MMAOp>(op)) {
      redirect(mma.getLhs(), operand(mma.getLhsSlotMutable()));
      redirect(mma.getRhs(), operand(mma.getRhsSlotMutable()));
    } else if (auto fma = dyn_cast<FMADotOp>(op)) {
      redirect(fma.getLhs(), &fma.getLhsSlotMutable());
      redirect(fma.getRhs(), &fma.getRhsSlotMutable());
    } else if (auto load = dyn_cast<LocalLoadOp>(op)) {
      redirect(load.getBuffer(), &load.getSlotMutable());
    }
  });
  b.setInsertionPointAfter(loop);
  WaitOp::create(b, loc, 0);
}

void LoopPipeliner::run() {
  if (!collectCopies())
    return;
  if (hasInnerCopies())
    return remark(false, "not-pipelined",
                  "a loop or branch within it copies too");
  if (writesWhatItCopies())
    return remark(false, "not-pipelined",
                  "the loop writes a tensor that it copies");
  int64_t stages = chooseStages();
  if (stages < 2)
    return;
  giveSlots(stages);
  emitPrologue(stages);
  rewriteLoop(stages);
  remark(true, "pipelined",
         "copies run " + Twine(stages - 1) +
             (stages == 2 ? " iteration ahead" : " iterations ahead"));
}

namespace {
struct TileGPUPipelineLoops
    : mlir::tilegpu::impl::TileGPUPipelineLoopsBase<TileGPUPipelineLoops> {
  using TileGPUPipelineLoopsBase::TileGPUPipelineLoopsBase;
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      LoopPipeliner(getOperation(), loop, sharedBudget, limit).run();
  }
};
} // namespace

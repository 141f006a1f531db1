//===- InsertBarriers.cpp - tilegpu-insert-barriers -------------*- C++ -*-===//
//
// A walk in program order that keeps, as ranges of shared memory, what was read
// and written since the last barrier. A loop's body is walked until its end
// leaves nothing behind that its beginning did not know of.
//
//===----------------------------------------------------------------------===//

#include "dialects/TileGPU/Transforms/Passes.h"
#include "dialects/TileGPU/Transforms/Scratch.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tilegpu {
#define GEN_PASS_DEF_TILEGPUINSERTBARRIERS
#include "dialects/TileGPU/Transforms/Passes.h.inc"
} // namespace mlir::tilegpu

using namespace mlir;
using namespace mlir::tilegpu;

namespace {

/// Bytes [first, second) of shared memory.
using ByteRange = std::pair<int64_t, int64_t>;
using Ranges = llvm::SetVector<ByteRange>;

/// What happened since the last barrier.
struct State {
  Ranges reads, writes;
  /// Targets of copies that may not have arrived.
  Ranges inFlight;

  void meet(const State &other) {
    reads.insert_range(other.reads);
    writes.insert_range(other.writes);
    inFlight.insert_range(other.inFlight);
  }
  void barrier() {
    reads.clear();
    writes.clear();
  }
  bool covers(const State &other) const {
    auto within = [](const Ranges &small, const Ranges &large) {
      return llvm::all_of(small,
                          [&](ByteRange r) { return large.contains(r); });
    };
    return within(other.reads, reads) && within(other.writes, writes) &&
           within(other.inFlight, inFlight);
  }
};

class BarrierInserter {
public:
  void run(tile::KernelOp kernel) {
    State state;
    visit(kernel.getBody().front(), state);
  }

private:
  void visit(Block &block, State &state);
  void visitOp(Operation *op, State &state);
  void visitLoop(scf::ForOp loop, State &state);
  void visitBranch(scf::IfOp branch, State &state);
  void read(Operation *op, ByteRange range, State &state);
  void write(Operation *op, ByteRange range, State &state);
  void insertBefore(Operation *op, State &state);
};

} // namespace

static ByteRange rangeOf(Value buffer) {
  auto alloc = buffer.getDefiningOp<AllocOp>();
  auto offset = static_cast<int64_t>(*alloc.getOffset());
  return {offset, offset + alloc.getType().getBytes()};
}

static bool meets(const Ranges &ranges, ByteRange range) {
  return llvm::any_of(ranges, [&](ByteRange other) {
    return other.first < range.second && range.first < other.second;
  });
}

void BarrierInserter::insertBefore(Operation *op, State &state) {
  OpBuilder b(op);
  BarrierOp::create(b, op->getLoc());
  state.barrier();
}

void BarrierInserter::read(Operation *op, ByteRange range, State &state) {
  if (meets(state.writes, range))
    insertBefore(op, state);
}

void BarrierInserter::write(Operation *op, ByteRange range, State &state) {
  if (meets(state.reads, range) || meets(state.writes, range))
    insertBefore(op, state);
}

void BarrierInserter::visitOp(Operation *op, State &state) {
  if (isa<BarrierOp>(op))
    return state.barrier();
  if (isa<WaitOp>(op)) {
    // What arrived for this thread is not there for the others yet.
    state.writes.insert_range(state.inFlight);
    if (cast<WaitOp>(op).getPending() == 0)
      state.inFlight.clear();
    return;
  }
  if (auto copy = dyn_cast<AsyncCopyOp>(op)) {
    ByteRange range = rangeOf(copy.getBuffer());
    write(op, range, state);
    state.inFlight.insert(range);
    return;
  }
  if (auto store = dyn_cast<LocalStoreOp>(op)) {
    ByteRange range = rangeOf(store.getBuffer());
    write(op, range, state);
    state.writes.insert(range);
    return;
  }
  if (isa<LocalLoadOp, MMAOp, FMADotOp>(op)) {
    SmallVector<ByteRange> ranges;
    for (Value operand : op->getOperands())
      if (isa<BufferType>(operand.getType()))
        ranges.push_back(rangeOf(operand));
    // One barrier serves all operands, and clears what the first of them met.
    for (ByteRange range : ranges)
      read(op, range, state);
    for (ByteRange range : ranges)
      state.reads.insert(range);
    return;
  }
  auto scratch = op->getAttrOfType<IntegerAttr>(TileGPUDialect::kScratchAttr);
  if (!scratch)
    return;
  ByteRange range{scratch.getInt(), scratch.getInt() + getScratchBytes(op)};
  write(op, range, state);
  // It writes, has a barrier of its own, and reads.
  state.barrier();
  state.reads.insert(range);
}

void BarrierInserter::visitLoop(scf::ForOp loop, State &state) {
  State before = state, atStart = state;
  do {
    atStart.meet(state);
    state = atStart;
    visit(*loop.getBody(), state);
  } while (!atStart.covers(state));
  state.meet(before); // There may be no iteration at all.
}

void BarrierInserter::visitBranch(scf::IfOp branch, State &state) {
  State otherwise = state;
  visit(*branch.thenBlock(), state);
  if (Block *block = branch.elseBlock())
    visit(*block, otherwise);
  state.meet(otherwise);
}

void BarrierInserter::visit(Block &block, State &state) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      visitLoop(loop, state);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      visitBranch(branch, state);
    else if (auto grid = dyn_cast<scf::ForallOp>(op))
      visit(*grid.getBody(), state);
    else
      visitOp(&op, state);
  }
}

namespace {
struct TileGPUInsertBarriers
    : mlir::tilegpu::impl::TileGPUInsertBarriersBase<TileGPUInsertBarriers> {
  void runOnOperation() override { BarrierInserter().run(getOperation()); }
};
} // namespace

//===- InsertBarriers.cpp - tilegpu-insert-barriers -------------*- C++ -*-===//
//
// A walk in program order that keeps, as ranges of shared memory, what was read
// and written since the last barrier; and the accesses to arguments that the
// kernel writes, which threads of a block share, too. A loop's body is walked
// until its end leaves nothing behind that its beginning did not know of.
//
//===----------------------------------------------------------------------===//

#include "dialects/TileGPU/Transforms/Passes.h"
#include "dialects/TileGPU/Transforms/Scratch.h"

#include "dialects/Tile/IR/Tile.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

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

/// An access to an argument. If it is of an earlier iteration of a loop, its
/// operands may have had other values then.
struct GlobalAccess {
  Operation *op;
  bool isEarlier;

  bool operator==(const GlobalAccess &) const = default;
};
using GlobalAccesses = SmallVector<GlobalAccess, 4>;

/// What happened since the last barrier.
struct State {
  Ranges reads, writes;
  /// Targets of copies that may not have arrived.
  Ranges inFlight;
  GlobalAccesses global;

  void add(GlobalAccess access) {
    if (!llvm::is_contained(global, access))
      global.push_back(access);
  }
  void meet(const State &other) {
    reads.insert_range(other.reads);
    writes.insert_range(other.writes);
    inFlight.insert_range(other.inFlight);
    for (GlobalAccess access : other.global)
      add(access);
  }
  void barrier() {
    reads.clear();
    writes.clear();
    global.clear();
  }
  bool covers(const State &other) const {
    auto within = [](const auto &small, const auto &large) {
      return llvm::all_of(
          small, [&](const auto &r) { return llvm::is_contained(large, r); });
    };
    return within(other.reads, reads) && within(other.writes, writes) &&
           within(other.inFlight, inFlight) && within(other.global, global);
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
  void accessGlobal(Operation *op, State &state);
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

/// The view that `op` reads or writes, without its slices, if the kernel writes
/// it with stores; null otherwise. Atomic additions order themselves, and what
/// they add into is never read.
static Value getWrittenArgument(Operation *op) {
  Value view =
      llvm::TypeSwitch<Operation *, Value>(op)
          .Case<tile::LoadOp, tile::StoreOp, tile::GatherOp, AsyncCopyOp>(
              [](auto access) { return access.getView(); })
          .Default(nullptr);
  if (!view)
    return nullptr;
  while (auto slice = view.getDefiningOp<tile::SliceOp>())
    view = slice.getView();
  auto argument = dyn_cast<BlockArgument>(view);
  auto kernel =
      argument ? dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp())
               : nullptr;
  if (!kernel)
    return nullptr;
  tile::Access access = kernel.getArgAccess(argument.getArgNumber());
  return access == tile::Access::Out || access == tile::Access::InOut ? view
                                                                      : nullptr;
}

namespace {
/// The block that a load or a store moves.
struct Moved {
  RankedTensorType type;
  Value view;
  OperandRange indices;
  ArrayRef<int64_t> dims;

  bool operator==(const Moved &other) const {
    return type == other.type && view == other.view &&
           llvm::equal(indices, other.indices) && dims == other.dims;
  }
};
} // namespace

/// Nothing for what reads element by element, or copies.
static std::optional<Moved> getMoved(Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return Moved{load.getType(), load.getView(), load.getIndices(),
                 load.getDims()};
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return Moved{store.getValue().getType(), store.getView(),
                 store.getIndices(), store.getDims()};
  return std::nullopt;
}

/// Whether each element is accessed by one thread alone. Of equal copies of a
/// tile one is stored, but all are loaded.
static bool isByOneThread(Operation *op, RankedTensorType type) {
  if (isa<tile::StoreOp>(op))
    return true;
  if (!getLayout(type))
    return false;
  tilec::layout::LinearLayout layout = getLinearLayout(type);
  return layout.freeBits(tilec::layout::InDim::Lane) == 0 &&
         layout.freeBits(tilec::layout::InDim::Warp) == 0;
}

/// Positions of the block along a dimension of its view.
static int64_t getExtent(const Moved &moved, int64_t dim) {
  const auto *axis = llvm::find(moved.dims, dim);
  return axis == moved.dims.end()
             ? 1
             : moved.type.getDimSize(axis - moved.dims.begin());
}

/// Whether two accesses never meet: along a dimension both begin at constants
/// that are further apart than the first is long.
static bool areApart(Operation *a, Operation *b) {
  std::optional<Moved> first = getMoved(a), second = getMoved(b);
  if (!first || !second || first->view != second->view)
    return false;
  for (int64_t dim = 0, e = first->indices.size(); dim != e; ++dim) {
    std::optional<int64_t> at = getConstantIntValue(first->indices[dim]);
    std::optional<int64_t> other = getConstantIntValue(second->indices[dim]);
    if (at && other &&
        (*at + getExtent(*first, dim) <= *other ||
         *other + getExtent(*second, dim) <= *at))
      return true;
  }
  return false;
}

/// Whether two accesses are to the same block in the same way, so that each
/// element is accessed by the same thread in both.
static bool areBySameThreads(Operation *a, Operation *b) {
  std::optional<Moved> first = getMoved(a), second = getMoved(b);
  return first && second && *first == *second &&
         isByOneThread(a, first->type) && isByOneThread(b, second->type);
}

/// Whether an access in `loop` reaches other places in each iteration: an index
/// is the loop's variable, which moves on by no less than the tile is long.
static bool movesOn(Operation *op, scf::ForOp loop) {
  std::optional<Moved> moved = getMoved(op);
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!moved || !step)
    return false;
  for (auto [dim, index] : llvm::enumerate(moved->indices)) {
    if (index == loop.getInductionVar() &&
        *step >= getExtent(*moved, static_cast<int64_t>(dim)))
      return true;
  }
  return false;
}

void BarrierInserter::accessGlobal(Operation *op, State &state) {
  Value argument = getWrittenArgument(op);
  if (!argument)
    return;
  bool meets = llvm::any_of(state.global, [&](GlobalAccess other) {
    if (getWrittenArgument(other.op) != argument ||
        (!isa<tile::StoreOp>(op) && !isa<tile::StoreOp>(other.op)) ||
        areApart(op, other.op))
      return false;
    return other.isEarlier || !areBySameThreads(op, other.op);
  });
  if (meets)
    insertBefore(op, state);
  state.add({op, /*isEarlier=*/false});
}

void BarrierInserter::visitOp(Operation *op, State &state) {
  if (isa<BarrierOp>(op))
    return state.barrier();
  accessGlobal(op, state);
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
  // Of what an iteration did, the next one must fear what is not by the same
  // threads then: its indices may have moved to another thread's elements.
  auto intoNext = [&](State end) {
    for (GlobalAccess &access : end.global) {
      bool isFixed = llvm::all_of(access.op->getOperands(), [&](Value operand) {
        return loop.isDefinedOutsideOfLoop(operand) ||
               !isa<IndexType>(operand.getType());
      });
      if (loop->isProperAncestor(access.op) && !isFixed &&
          !movesOn(access.op, loop))
        access.isEarlier = true;
    }
    return end;
  };
  do {
    atStart.meet(intoNext(state));
    state = atStart;
    visit(*loop.getBody(), state);
  } while (!atStart.covers(intoNext(state)));
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

//===- AllocateShared.cpp - tilegpu-allocate-shared -------------*- C++ -*-===//
//
// Every buffer and exchange is in use during an interval of the kernel's ops,
// numbered in program order. Largest first, each gets the lowest offset at
// which it meets nothing that is in use at the same time.
//
//===----------------------------------------------------------------------===//

#include "dialects/TileGPU/Transforms/Passes.h"
#include "dialects/TileGPU/Transforms/Scratch.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tilegpu {
#define GEN_PASS_DEF_TILEGPUALLOCATESHARED
#include "dialects/TileGPU/Transforms/Passes.h.inc"
} // namespace mlir::tilegpu

using namespace mlir;
using namespace mlir::tilegpu;

/// Exchanges up to this many bytes get a place of their own, as long as all of
/// them together stay below the second number.
static constexpr int64_t smallExchange = 1024, allSmallExchanges = 8192;
/// Every place begins at a multiple of this: a row of all banks.
static constexpr int64_t alignment = 128;

namespace {

struct Item {
  Operation *op;
  int64_t bytes;
  unsigned first, last; // In use from op `first` to op `last`.
  int64_t offset = 0;

  bool overlaps(const Item &other) const {
    return first <= other.last && other.first <= last;
  }
};

class SharedAllocator {
public:
  SharedAllocator(tile::KernelOp kernel, int64_t limit)
      : kernel(kernel), limit(limit) {}
  LogicalResult run();

private:
  void number();
  void collect();
  Item lifetime(AllocOp alloc);
  unsigned endOf(Operation *op) const { return ends.lookup(op); }
  void place();
  LogicalResult checkLimit(int64_t bytes);

  tile::KernelOp kernel;
  int64_t limit;
  /// The number of an op, and of the last op within it.
  DenseMap<Operation *, unsigned> numbers, ends;
  SmallVector<Operation *> order;
  SmallVector<Item> items;
};

} // namespace

void SharedAllocator::number() {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    numbers[op] = order.size();
    order.push_back(op);
  });
  kernel.walk<WalkOrder::PostOrder>([&](Operation *op) {
    unsigned end = numbers[op];
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!block.empty())
          end = std::max(end, ends[&block.back()]);
    ends[op] = end;
  });
}

/// The outermost loop around `user` that `alloc` is not in; `user` if there is
/// none.
static Operation *outermostUse(Operation *user, Operation *alloc) {
  Operation *result = user;
  for (Operation *op = user;
       op && !op->getBlock()->getParentOp()->isProperAncestor(alloc);
       op = op->getParentOp())
    if (isa<scf::ForOp>(op->getParentOp()) &&
        !op->getParentOp()->isProperAncestor(alloc))
      result = op->getParentOp();
  return result;
}

Item SharedAllocator::lifetime(AllocOp alloc) {
  Item item{alloc, alloc.getType().getBytes(), numbers[alloc], numbers[alloc]};
  for (Operation *user : alloc->getUsers()) {
    unsigned last = endOf(outermostUse(user, alloc));
    // A copy may still arrive until all have been waited for.
    if (isa<AsyncCopyOp>(user))
      while (last + 1 < order.size()) {
        auto wait = dyn_cast<WaitOp>(order[last]);
        if (wait && wait.getPending() == 0)
          break;
        ++last;
      }
    item.last = std::max(item.last, last);
  }
  return item;
}

void SharedAllocator::collect() {
  int64_t smallBytes = 0;
  for (Operation *op : order) {
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      items.push_back(lifetime(alloc));
      continue;
    }
    int64_t bytes = getScratchBytes(op);
    if (bytes == 0)
      continue;
    Item item{op, bytes, numbers[op], numbers[op]};
    if (bytes <= smallExchange && smallBytes + bytes <= allSmallExchanges) {
      smallBytes += llvm::alignTo(bytes, alignment);
      item.first = 0;
      item.last = order.size();
    }
    items.push_back(item);
  }
}

void SharedAllocator::place() {
  llvm::sort(items, [&](const Item &a, const Item &b) {
    return std::make_pair(-a.bytes, numbers.lookup(a.op)) <
           std::make_pair(-b.bytes, numbers.lookup(b.op));
  });
  for (size_t i = 0; i < items.size(); ++i) {
    // Candidates are 0 and the ends of what is placed.
    Item &item = items[i];
    SmallVector<int64_t> candidates{0};
    for (const Item &other : ArrayRef(items).take_front(i))
      candidates.push_back(
          llvm::alignTo(other.offset + other.bytes, alignment));
    llvm::sort(candidates);
    for (int64_t offset : candidates) {
      bool isFree =
          llvm::none_of(ArrayRef(items).take_front(i), [&](const Item &other) {
            return item.overlaps(other) &&
                   offset < other.offset + other.bytes &&
                   other.offset < offset + item.bytes;
          });
      if (isFree) {
        item.offset = offset;
        break;
      }
    }
  }
}

LogicalResult SharedAllocator::checkLimit(int64_t bytes) {
  if (bytes <= limit)
    return success();
  InFlightDiagnostic error =
      kernel.emitError()
      << "kernel '" << kernel.getSymName()
      << "' needs more shared memory than a thread block has: expected at most "
      << limit << " bytes, found " << bytes;
  for (const Item &item : items) {
    Diagnostic &note = error.attachNote(item.op->getLoc());
    if (auto alloc = dyn_cast<AllocOp>(item.op)) {
      BufferType type = alloc.getType();
      std::string element;
      llvm::raw_string_ostream(element) << type.getElementType();
      note << item.bytes << " bytes: '" << alloc.getName() << "', ";
      if (type.getSlots() > 1)
        note << type.getSlots() << " stages of ";
      note << type.getRows() << " x " << type.getColumns() << " elements of "
           << element;
    } else if (isa<tile::PrintOp>(item.op)) {
      note << item.bytes << " bytes: the place of a print in the text";
    } else {
      note << item.bytes << " bytes: exchange of values between warps";
    }
  }
  error.attachNote() << "help: take smaller tiles or fewer stages in the "
                        "schedule";
  return failure();
}

LogicalResult SharedAllocator::run() {
  number();
  collect();
  place();
  int64_t bytes = 0;
  Builder b(kernel.getContext());
  for (Item &item : items) {
    bytes = std::max(bytes, item.offset + item.bytes);
    if (auto alloc = dyn_cast<AllocOp>(item.op))
      alloc.setOffset(item.offset);
    else
      item.op->setAttr(TileGPUDialect::kScratchAttr,
                       b.getI64IntegerAttr(item.offset));
  }
  kernel->setAttr(TileGPUDialect::kSharedBytesAttr, b.getI64IntegerAttr(bytes));
  return checkLimit(bytes);
}

namespace {
struct TileGPUAllocateShared
    : mlir::tilegpu::impl::TileGPUAllocateSharedBase<TileGPUAllocateShared> {
  using TileGPUAllocateSharedBase::TileGPUAllocateSharedBase;
  void runOnOperation() override {
    if (failed(SharedAllocator(getOperation(), limit).run()))
      signalPassFailure();
  }
};
} // namespace

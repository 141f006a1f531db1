//===- PlanBuffers.cpp - Static placement of temporaries --------*- C++ -*-===//
//
// Number all ops in program order. A buffer is live from its allocation to the
// last use of anything that may be a view of it, where a use inside a loop that
// the allocation is outside of lasts until the loop ends. Buffers are then
// placed greedily, largest first, each in the first slot that has no buffer
// live at the same time.
//
// Loops do not complicate this: a buffer allocated in a loop body is dead at
// the end of the body, which bufferization guarantees and this pass checks.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

#include <tuple>

using namespace mlir;

namespace tilec {

#define GEN_PASS_DEF_CPUPLANBUFFERS
#include "codegen/CPU/Passes.h.inc"

SmallVector<int64_t> placeSlots(ArrayRef<int64_t> sizes, int64_t &total) {
  constexpr int64_t line = 64;
  SmallVector<int64_t> offsets;
  total = 0;
  for (int64_t size : sizes) {
    offsets.push_back(total);
    // Sizes are often multiples of the page size. Some lines between the slots
    // keep element i of all of them from falling into one set of the cache.
    total += llvm::alignTo(size, line) + 5 * line;
  }
  return offsets;
}

namespace {

struct Buffer {
  memref::AllocOp alloc;
  int64_t bytes;
  int64_t begin, end; // Both inclusive.
  unsigned slot = 0;
};

struct PlanBuffersPass : impl::CPUPlanBuffersBase<PlanBuffersPass> {
  void runOnOperation() override;

private:
  LogicalResult measure(Buffer &buffer);
  int64_t lastNumberIn(Operation *op);

  llvm::DenseMap<Operation *, int64_t> numbers;
};

/// The greatest number of `op` and everything inside it.
int64_t PlanBuffersPass::lastNumberIn(Operation *op) {
  int64_t last = numbers.lookup(op);
  op->walk(
      [&](Operation *inner) { last = std::max(last, numbers.lookup(inner)); });
  return last;
}

/// `buffer` and every value that may be it or a view of it. An op that is not
/// known to do otherwise may pass any operand on as any result.
SetVector<Value> aliasesOf(Value buffer) {
  SetVector<Value> aliases;
  aliases.insert(buffer);
  auto add = [&](ValueRange values) {
    for (Value value : values)
      if (isa<MemRefType>(value.getType()))
        aliases.insert(value);
  };
  for (size_t i = 0; i < aliases.size(); ++i)
    for (OpOperand &use : aliases[i].getUses()) {
      Operation *user = use.getOwner();
      if (auto loop = dyn_cast<scf::ForOp>(user)) {
        add({loop.getTiedLoopRegionIterArg(&use),
             loop.getTiedLoopResult(&use)});
        continue;
      }
      add(user->getResults());
      if (!isa<scf::YieldOp>(user))
        continue;
      Operation *parent = user->getParentOp();
      add(parent->getResult(use.getOperandNumber()));
      if (auto loop = dyn_cast<scf::ForOp>(parent))
        add(loop.getRegionIterArg(use.getOperandNumber()));
    }
  return aliases;
}

LogicalResult PlanBuffersPass::measure(Buffer &buffer) {
  memref::AllocOp alloc = buffer.alloc;
  auto homeLoop = alloc->getParentOfType<LoopLikeOpInterface>();
  buffer.begin = buffer.end = numbers.lookup(alloc);
  for (Value alias : aliasesOf(alloc.getResult()))
    for (Operation *user : alias.getUsers()) {
      int64_t last = numbers.lookup(user);
      // Who knows where an address goes: assume the end of the block.
      if (isa<memref::ExtractAlignedPointerAsIndexOp>(user))
        last = lastNumberIn(user->getBlock()->getTerminator());
      Operation *loop = user->getParentOfType<LoopLikeOpInterface>();
      for (; loop && loop != homeLoop;
           loop = loop->getParentOfType<LoopLikeOpInterface>()) {
        last = std::max(last, lastNumberIn(loop));
        if (homeLoop && !homeLoop->isAncestor(loop))
          return alloc.emitOpError("outlives an iteration of its loop");
      }
      if (homeLoop && !homeLoop->isProperAncestor(user))
        return alloc.emitOpError("outlives an iteration of its loop");
      buffer.end = std::max(buffer.end, last);
    }
  return success();
}

void PlanBuffersPass::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isExternal())
    return;
  numbers.clear();
  int64_t next = 0;
  SmallVector<Buffer> buffers;
  WalkResult walked =
      func.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
        numbers[op] = next++;
        auto alloc = dyn_cast<memref::AllocOp>(op);
        if (!alloc)
          return WalkResult::advance();
        MemRefType type = alloc.getType();
        if (!type.hasStaticShape() || !type.getLayout().isIdentity())
          return alloc.emitOpError("has no static size");
        int64_t bits = type.getElementTypeBitWidth();
        int64_t bytes = type.getNumElements() * llvm::divideCeil(bits, 8);
        buffers.push_back({alloc, std::max<int64_t>(bytes, 1), 0, 0});
        return WalkResult::advance();
      });
  if (walked.wasInterrupted())
    return signalPassFailure();

  for (Buffer &buffer : buffers)
    if (failed(measure(buffer)))
      return signalPassFailure();

  SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers)
    order.push_back(&buffer);
  llvm::sort(order, [](Buffer *a, Buffer *b) {
    return std::tie(b->bytes, a->begin) < std::tie(a->bytes, b->begin);
  });
  SmallVector<SmallVector<Buffer *>> slots;
  for (Buffer *buffer : order) {
    auto fits = [&](const SmallVector<Buffer *> &slot) {
      return llvm::none_of(slot, [&](Buffer *other) {
        return buffer->begin <= other->end && other->begin <= buffer->end;
      });
    };
    auto *slot = llvm::find_if(slots, fits);
    buffer->slot = slot - slots.begin();
    if (slot == slots.end())
      slots.emplace_back();
    slots[buffer->slot].push_back(buffer);
  }

  OpBuilder b(func.getContext());
  SmallVector<int64_t> sizes;
  SmallVector<Value> arguments;
  for (const SmallVector<Buffer *> &slot : slots) {
    sizes.push_back(slot.front()->bytes);
    auto type = MemRefType::get({sizes.back()}, b.getI8Type());
    unsigned at = func.getNumArguments();
    if (failed(func.insertArgument(at, type, {}, func.getLoc())))
      return signalPassFailure();
    arguments.push_back(func.getArgument(at));
  }
  func->setAttr(kSlotsAttr, b.getDenseI64ArrayAttr(sizes));
  for (Buffer &buffer : buffers) {
    b.setInsertionPoint(buffer.alloc);
    Location loc = buffer.alloc.getLoc();
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value view =
        memref::ViewOp::create(b, loc, buffer.alloc.getType(),
                               arguments[buffer.slot], zero, ValueRange{});
    buffer.alloc.getResult().replaceAllUsesWith(view);
    buffer.alloc.erase();
  }
}

} // namespace
} // namespace tilec

//===- LoopLongAxes.cpp - Whole axes longer than a tile --------*- C++ -*-===//
//
// Chooses the axes that are processed in chunks, one after the other: while
// some tile has too many elements, one of its whole axes is. LongAxis.h lists
// the parts that do it.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/LongAxis.h"
#include "dialects/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILELOOPLONGAXES
#include "dialects/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

namespace {

/// What there is to know about a class of axes.
struct AxisFacts {
  int64_t extent = 1;
  std::string name;
  /// All accesses begin at a constant: it is no tile of a longer axis.
  bool isWhole = true;
  /// Neighbors along it are neighbors in some view.
  bool isContiguous = false;
  /// The op for which all of the axis must be there at once, and why; null if
  /// it can be divided.
  Operation *obstacle = nullptr;
  StringRef reason;

  bool canDivide() const { return isWhole && !obstacle && extent > 1; }
};

class LongAxisLooper {
public:
  LongAxisLooper(KernelOp kernel, int64_t maxElements, int64_t maxCarried,
                 int64_t operandBytes)
      : kernel(kernel), maxElements(maxElements), maxCarried(maxCarried),
        operandBytes(operandBytes) {}
  LogicalResult run();

private:
  void collectFacts();
  void collectAccess(Value view, ValueRange indices, ArrayRef<int64_t> dims,
                     Value tile);
  void collectOp(Operation *op);
  AxisFacts &factsOf(Value tile, int64_t axis) {
    return facts[classes->classOf(tile, axis)];
  }
  void block(Value tile, int64_t axis, Operation *op, StringRef reason);
  void blockAll(ValueRange tiles, Operation *op, StringRef reason);

  int64_t operandSize(Value tile);
  bool canShorten(Value tile, int64_t axis);
  Value findTooLong();
  unsigned chooseAxis(Value tile);
  int64_t countConflicts(unsigned number);
  SmallVector<unsigned, 2> namesakesOf(unsigned number);
  int64_t chooseChunk(const LongAxis &axis);
  LogicalResult divide(unsigned number);
  LogicalResult checkRest();
  LogicalResult reportTooLong(Value tile);

  KernelOp kernel;
  int64_t maxElements, maxCarried, operandBytes;
  const AxisClasses *classes = nullptr;
  SmallVector<AxisFacts> facts;
  unsigned numLoops = 0;
};

} // namespace

static int64_t countElements(Value tile) {
  int64_t count = 1;
  for (int64_t extent : cast<RankedTensorType>(tile.getType()).getShape())
    if (llvm::MulOverflow(count, extent, count))
      return INT64_MAX;
  return count;
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

void LongAxisLooper::block(Value tile, int64_t axis, Operation *op,
                           StringRef reason) {
  AxisFacts &of = factsOf(tile, axis);
  if (of.obstacle)
    return;
  of.obstacle = op;
  of.reason = reason;
}

void LongAxisLooper::blockAll(ValueRange tiles, Operation *op,
                              StringRef reason) {
  for (Value tile : tiles)
    if (auto type = dyn_cast<RankedTensorType>(tile.getType()))
      for (int64_t axis = 0; axis < type.getRank(); ++axis)
        block(tile, axis, op, reason);
}

void LongAxisLooper::collectAccess(Value view, ValueRange indices,
                                   ArrayRef<int64_t> dims, Value tile) {
  auto root = cast<BlockArgument>(getRootView(view));
  auto kernelDim = [&](int64_t dim) {
    for (Value at = view; auto slice = at.getDefiningOp<SliceOp>();
         at = slice.getView())
      dim = slice.getDims()[dim];
    return dim;
  };
  int64_t unit = cast<ViewType>(root.getType()).getRank() - 1;
  if (auto attr = kernel.getArgAttrOfType<IntegerAttr>(root.getArgNumber(),
                                                       "tile.unit_stride"))
    unit = attr.getInt();
  auto names = kernel.getArgAttrOfType<ArrayAttr>(root.getArgNumber(),
                                                  KernelOp::kDimsAttr);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    AxisFacts &of = factsOf(tile, axis);
    of.isWhole &= getConstantIntValue(indices[dim]).has_value();
    of.isContiguous |= kernelDim(dim) == unit;
    if (names && of.name.empty())
      of.name = cast<StringAttr>(names[kernelDim(dim)]).str();
  }
}

void LongAxisLooper::collectOp(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](LoadOp load) {
        collectAccess(load.getView(), load.getIndices(), load.getDims(),
                      load.getResult());
      })
      .Case<StoreOp, AtomicAddOp>([&](auto access) {
        collectAccess(access.getView(), access.getIndices(), access.getDims(),
                      access.getValue());
      })
      .Case([&](IotaOp iota) {
        factsOf(iota.getResult(), 0).isWhole &=
            getConstantIntValue(iota.getBegin()).has_value();
      })
      .Case([&](arith::ConstantOp constant) {
        if (!isa<SplatElementsAttr>(constant.getValue()))
          blockAll(constant->getResults(), op, "this constant has it");
      })
      .Case([&](PrintOp print) {
        blockAll(print.getValues(), op, "it is printed");
      })
      .Case([&](tensor::ExtractOp extract) {
        blockAll(extract.getTensor(), op, "one of its lanes is taken");
      })
      .Case<scf::ForOp, scf::IfOp>([&](Operation *) {
        blockAll(op->getResults(), op,
                 isa<scf::ForOp>(op) ? "this loop carries it"
                                     : "both branches give it");
      });
}

void LongAxisLooper::collectFacts() {
  facts.assign(classes->size(), {});
  for (Value tile : classes->tiles()) {
    auto type = cast<RankedTensorType>(tile.getType());
    llvm::SmallDenseSet<unsigned> seen;
    for (auto [axis, extent] : llvm::enumerate(type.getShape())) {
      factsOf(tile, axis).extent = extent;
      // Both would have to be divided at once.
      if (!seen.insert(classes->classOf(tile, axis)).second)
        block(tile, axis, tile.getDefiningOp(), "it is both axes of one tile");
    }
  }
  kernel.walk([&](Operation *op) {
    if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) ||
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
      collectOp(op);
  });
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// What the axis of an operand of a product is padded to at least: 16 for
/// tensor cores, but not so batches. 0 if the tile is no operand.
static int64_t leastExtent(Value tile, int64_t axis) {
  int64_t least = 0;
  for (OpOperand &use : tile.getUses()) {
    auto dot = dyn_cast<DotOp>(use.getOwner());
    if (!dot || use.getOperandNumber() > 1)
      continue;
    ArrayRef<int64_t> batch =
        use.getOperandNumber() == 0 ? dot.getLhsBatch() : dot.getRhsBatch();
    least = std::max<int64_t>(least, llvm::is_contained(batch, axis) ? 1 : 16);
  }
  return least;
}

static int64_t paddedExtent(Value tile, int64_t axis) {
  int64_t extent = cast<RankedTensorType>(tile.getType()).getDimSize(axis);
  return std::max<int64_t>(llvm::PowerOf2Ceil(extent), leastExtent(tile, axis));
}

/// Bytes that a tile takes in shared memory as an operand of a product; 0 if it
/// is none, or nothing is known of shared memory.
int64_t LongAxisLooper::operandSize(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (operandBytes == 0 || type.getRank() == 0 || leastExtent(tile, 0) == 0)
    return 0;
  int64_t size = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    size *= paddedExtent(tile, axis);
  return size;
}

/// Whether chunks of an axis make a tile shorter that is too long.
bool LongAxisLooper::canShorten(Value tile, int64_t axis) {
  return factsOf(tile, axis).canDivide() &&
         (countElements(tile) > maxElements ||
          paddedExtent(tile, axis) > leastExtent(tile, axis));
}

/// The largest tile with too many elements and an axis that can be divided. So
/// has an operand of which two have no place in shared memory.
Value LongAxisLooper::findTooLong() {
  auto canDivide = [&](Value tile) {
    int64_t rank = cast<RankedTensorType>(tile.getType()).getRank();
    return llvm::any_of(llvm::seq(rank),
                        [&](int64_t axis) { return canShorten(tile, axis); });
  };
  Value largest;
  int64_t most = 0;
  for (Value tile : classes->tiles()) {
    int64_t count = countElements(tile);
    bool isTooLong =
        count > maxElements || operandSize(tile) > operandBytes / 2;
    if (isTooLong && count > most && canDivide(tile)) {
      most = count;
      largest = tile;
    }
  }
  return largest;
}

/// In how many sinks of the axis the result has another axis that may have to
/// be divided. That one is divided first: its loop is then around, and the
/// result is a chunk too.
int64_t LongAxisLooper::countConflicts(unsigned number) {
  LongAxis axis{*classes, {number}, 0, 0, ""};
  int64_t conflicts = 0;
  kernel.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
        !axis.isSink(op))
      return;
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type)
      return;
    for (int64_t i = 0; i < type.getRank(); ++i)
      conflicts += factsOf(op->getResult(0), i).canDivide();
  });
  return conflicts;
}

/// Of the axes that can be divided, of which there is one.
unsigned LongAxisLooper::chooseAxis(Value tile) {
  using Key = std::tuple<int64_t, bool, int64_t>;
  std::pair<Key, unsigned> best({INT64_MAX, true, 0}, 0);
  int64_t rank = cast<RankedTensorType>(tile.getType()).getRank();
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (!canShorten(tile, axis))
      continue;
    unsigned number = classes->classOf(tile, axis);
    const AxisFacts &of = facts[number];
    Key key = {countConflicts(number), of.isContiguous, -of.extent};
    best = std::min(best, std::pair(key, number));
  }
  return best.second;
}

/// The classes of the same dimension that can be divided too, as far as no tile
/// has two of them.
SmallVector<unsigned, 2> LongAxisLooper::namesakesOf(unsigned number) {
  SmallVector<unsigned, 2> numbers = {number};
  auto isBeside = [&](unsigned other) {
    return llvm::any_of(classes->tiles(), [&](Value tile) {
      int64_t count = 0;
      for (int64_t axis = 0;
           axis < cast<RankedTensorType>(tile.getType()).getRank(); ++axis) {
        unsigned of = classes->classOf(tile, axis);
        count += of == other || llvm::is_contained(numbers, of);
      }
      return count > 1;
    });
  };
  for (auto [other, of] : llvm::enumerate(facts))
    if (other != number && !of.name.empty() && of.name == facts[number].name &&
        of.extent == facts[number].extent && of.canDivide() && !isBeside(other))
      numbers.push_back(other);
  return numbers;
}

/// The greatest power of two with which all tiles are short enough, as far as
/// that is in the hands of this axis. Operands are to have place for two chunks
/// each, so that one is loaded while the other is used.
int64_t LongAxisLooper::chooseChunk(const LongAxis &axis) {
  int64_t most = maxElements;
  for (Value tile : classes->tiles()) {
    if (!axis.isLong(tile))
      continue;
    int64_t at = axis.axisOf(tile);
    most = std::min(most, maxElements / (countElements(tile) / axis.extent));
    // A chunk that is shorter than it is padded to would save nothing.
    if (int64_t bytes = operandSize(tile) / paddedExtent(tile, at))
      most = std::min(
          most, std::max(operandBytes / 4 / bytes, leastExtent(tile, at)));
  }
  return static_cast<int64_t>(
      llvm::bit_floor(static_cast<uint64_t>(std::max<int64_t>(most, 1))));
}

LogicalResult LongAxisLooper::divide(unsigned number) {
  const AxisFacts &of = facts[number];
  LongAxis axis{*classes, namesakesOf(number), of.extent, 0, of.name};
  axis.chunk = chooseChunk(axis);
  SmallVector<Operation *> slice, sinks;
  SetVector<Block *> blocks;
  kernel.walk([&](Operation *op) {
    if (axis.isSliceOp(op))
      slice.push_back(op);
    if (!axis.isSink(op))
      return;
    sinks.push_back(op);
    for (Block *block = op->getBlock(); block != &kernel.getBody().back();
         block = block->getParentOp()->getBlock())
      blocks.insert(block);
    blocks.insert(&kernel.getBody().back());
  });
  SmallVector<BlockPlan> plans;
  for (Block *block : blocks) {
    FailureOr<BlockPlan> plan = planBlock(*block, axis);
    if (failed(plan))
      return failure();
    plans.push_back(std::move(*plan));
  }
  unsigned before = numLoops;
  for (const BlockPlan &plan : plans)
    applyPlan(plan, axis, numLoops);
  unsigned made = numLoops - before;
  remark::passed(kernel.getLoc(), remark::RemarkOpts::name("looped")
                                      .category("tile-loop-long-axes")
                                      .function(kernel.getName()))
      << axis.describe() + " in chunks of " + std::to_string(axis.chunk) +
             ", " + std::to_string(made) + (made == 1 ? " loop" : " loops");
  // Only now, so that no new op was mistaken for one of these.
  for (Operation *op : llvm::concat<Operation *>(sinks, slice))
    op->dropAllReferences();
  for (Operation *op : llvm::concat<Operation *>(sinks, slice))
    op->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// What is left
//===----------------------------------------------------------------------===//

LogicalResult LongAxisLooper::reportTooLong(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  InFlightDiagnostic error = emitError(tile.getLoc());
  error << "expected tiles of at most " << maxCarried << " elements, found "
        << type;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    AxisFacts &of = factsOf(tile, i);
    if (!of.obstacle || !of.isWhole || of.extent <= 1)
      continue;
    std::string name = of.name.empty() ? "" : "'" + of.name + "' ";
    error << "; axis " << name << "(extent " << of.extent
          << ") cannot be processed in chunks, as " << of.reason
          << "; write a loop over its tiles";
    if (of.obstacle->getLoc() != tile.getLoc())
      error.attachNote(of.obstacle->getLoc()) << "here";
    return error;
  }
  error << "; choose smaller tiles in the schedule";
  return error;
}

LogicalResult LongAxisLooper::checkRest() {
  for (Value tile : classes->tiles())
    if (countElements(tile) > std::max(maxCarried, maxElements))
      return reportTooLong(tile);
  return success();
}

LogicalResult LongAxisLooper::run() {
  while (true) {
    separateSources(kernel);
    FailureOr<AxisClasses> made =
        AxisClasses::compute(kernel, "tile-loop-long-axes");
    if (failed(made))
      return failure();
    classes = &*made;
    collectFacts();
    Value tile = findTooLong();
    if (!tile)
      return checkRest();
    if (failed(divide(chooseAxis(tile))))
      return failure();
  }
}

namespace {

struct LoopLongAxesPass : tile::impl::TileLoopLongAxesBase<LoopLongAxesPass> {
  using TileLoopLongAxesBase::TileLoopLongAxesBase;

  void runOnOperation() override {
    if (maxElements < 1 || maxCarried < 1 || operandBytes < 0) {
      getOperation()->emitError()
          << "expected max-elements and max-carried of at least 1 and "
             "operand-bytes of at least 0, found "
          << maxElements.getValue() << ", " << maxCarried.getValue() << " and "
          << operandBytes.getValue();
      return signalPassFailure();
    }
    SmallVector<KernelOp> kernels;
    getOperation()->walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    for (KernelOp kernel : kernels)
      if (failed(LongAxisLooper(kernel, maxElements, maxCarried, operandBytes)
                     .run()))
        return signalPassFailure();
  }
};

} // namespace

//===- PadExtents.cpp - Extents of tiles to powers of two ------*- C++ -*-===//
//
// Grows every axis of every tile to a power of two, and those of matrix
// products to what a matrix unit takes at least. First all types change at
// once, class of axes by class (AxisClasses); then each op that would notice
// the new lanes is told where they begin: accesses by valid extents, ops that
// combine lanes by a tile.select_valid in front.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/AxisClasses.h"
#include "dialects/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILEPADEXTENTS
#include "dialects/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

namespace {

/// Rows, columns and 16-bit elements of the contracted axes that a matrix unit
/// takes at least.
struct DotMinima {
  int64_t rows = 16, columns = 16, contracted = 16;
};

class ExtentPadder {
public:
  ExtentPadder(KernelOp kernel, const AxisClasses &classes, DotMinima minima)
      : kernel(kernel), classes(classes), minima(minima),
        builder(kernel.getLoc(), kernel.getContext()) {}
  void run();

private:
  void chooseExtents();
  void growForDot(DotOp op);
  void growProduct(Value tile, ArrayRef<int64_t> axes, int64_t least);
  void changeTypes();

  int64_t &extentOf(Value tile, int64_t axis) {
    return extents[classes.classOf(tile, axis)];
  }
  RankedTensorType oldType(Value tile) { return oldTypes.lookup(tile); }
  bool grew(Value tile, int64_t axis) {
    return oldType(tile).getDimSize(axis) != extentOf(tile, axis);
  }
  bool grew(Value tile) {
    return isa<RankedTensorType>(tile.getType()) &&
           oldType(tile) != tile.getType();
  }

  void fix(Operation *op);
  template <typename AccessOp> void limitAccess(AccessOp op, Value tile);
  template <typename AccessOp> void limitElements(AccessOp op, Value tile);
  void limitPrint(PrintOp op);
  void neutralize(OpOperand &operand, ArrayRef<int64_t> axes, Pad pad);
  Value oldExtent(Value tile, int64_t axis) {
    return arith::ConstantIndexOp::create(builder,
                                          oldType(tile).getDimSize(axis));
  }

  KernelOp kernel;
  const AxisClasses &classes;
  DotMinima minima;
  ImplicitLocOpBuilder builder;
  SmallVector<int64_t> extents; // By class.
  DenseMap<Value, RankedTensorType> oldTypes;
};

} // namespace

//===----------------------------------------------------------------------===//
// Extents and types
//===----------------------------------------------------------------------===//

/// Grows the last of `axes` so that together they have at least `least` lanes.
void ExtentPadder::growProduct(Value tile, ArrayRef<int64_t> axes,
                               int64_t least) {
  int64_t others = 1;
  for (int64_t axis : axes.drop_back())
    others *= extentOf(tile, axis);
  int64_t &last = extentOf(tile, axes.back());
  while (others * last < least)
    last *= 2;
}

void ExtentPadder::growForDot(DotOp op) {
  Type element = op.getLhs().getType().getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  bool isNarrow = width <= 16 && (isa<FloatType>(element) || width == 8);
  if (!isNarrow && op.getPrecision() == Precision::IEEE)
    return;
  // A product with a vector is no work for a matrix unit.
  SmallVector<int64_t> rows = op.getLhsFree(), columns = op.getRhsFree();
  if (rows.empty() || columns.empty())
    return;
  growProduct(op.getLhs(), rows, minima.rows);
  growProduct(op.getRhs(), columns, minima.columns);
  growProduct(op.getLhs(), op.getLhsContract(), minima.contracted * 16 / width);
}

void ExtentPadder::chooseExtents() {
  extents.assign(classes.size(), 1);
  for (Value tile : classes.tiles()) {
    auto type = cast<RankedTensorType>(tile.getType());
    oldTypes[tile] = type;
    for (auto [axis, extent] : llvm::enumerate(type.getShape())) {
      int64_t &chosen = extentOf(tile, axis);
      chosen = std::max(
          chosen, static_cast<int64_t>(llvm::PowerOf2Ceil(uint64_t(extent))));
    }
  }
  kernel.walk([&](DotOp op) { growForDot(op); });
}

/// A constant of a larger type. What the new lanes hold does not matter.
static ElementsAttr growConstant(ElementsAttr value, RankedTensorType type) {
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    return splat.resizeSplat(type);
  auto from = cast<RankedTensorType>(value.getType());
  auto old = llvm::to_vector(value.getValues<Attribute>());
  SmallVector<Attribute> lanes(type.getNumElements(),
                               getPadValue(Pad::Zero, type.getElementType()));
  for (auto [number, lane] : llvm::enumerate(old)) {
    int64_t rest = number, place = 0, stride = 1;
    for (int64_t axis = from.getRank() - 1; axis >= 0; --axis) {
      place += rest % from.getDimSize(axis) * stride;
      rest /= from.getDimSize(axis);
      stride *= type.getDimSize(axis);
    }
    lanes[place] = lane;
  }
  return DenseElementsAttr::get(type, lanes);
}

void ExtentPadder::changeTypes() {
  for (Value tile : classes.tiles()) {
    RankedTensorType from = oldType(tile);
    SmallVector<int64_t> shape;
    for (int64_t axis = 0; axis < from.getRank(); ++axis)
      shape.push_back(extentOf(tile, axis));
    RankedTensorType to = from.clone(shape);
    tile.setType(to);
    if (auto constant = tile.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(
          growConstant(cast<ElementsAttr>(constant.getValue()), to));
  }
}

//===----------------------------------------------------------------------===//
// Ops that would notice
//===----------------------------------------------------------------------===//

/// Valid extents of an access in block form. Those that are there are at most
/// the old extents, unless they are constants that say "all".
template <typename AccessOp>
void ExtentPadder::limitAccess(AccessOp op, Value tile) {
  if (!grew(tile))
    return;
  SmallVector<Value> valid;
  for (int64_t axis = 0; axis < oldType(tile).getRank(); ++axis) {
    Value given = op.getValid().empty() ? Value() : op.getValid()[axis];
    std::optional<int64_t> known =
        given ? getConstantIntValue(given) : std::nullopt;
    if (!given || (known && *known > oldType(tile).getDimSize(axis)))
      given = oldExtent(tile, axis);
    valid.push_back(given);
  }
  op.getValidMutable().assign(valid);
}

/// The mask of an access to elements, without the new lanes.
template <typename AccessOp>
void ExtentPadder::limitElements(AccessOp op, Value tile) {
  if (!grew(tile))
    return;
  auto type = cast<RankedTensorType>(tile.getType()).clone(builder.getI1Type());
  Value mask = op.getMask();
  if (!mask)
    mask = arith::ConstantOp::create(
        builder, cast<TypedAttr>(DenseElementsAttr::get(type, true)));
  else if (!isa<RankedTensorType>(mask.getType()))
    mask = tensor::SplatOp::create(builder, mask, type);
  SmallVector<Value> valid;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    valid.push_back(oldExtent(tile, axis));
  op.getMaskMutable().assign(
      SelectValidOp::create(builder, type, mask, valid, Pad::Zero));
}

/// Sets what the new lanes along `axes` hold.
void ExtentPadder::neutralize(OpOperand &operand, ArrayRef<int64_t> axes,
                              Pad pad) {
  Value tile = operand.get();
  if (llvm::none_of(axes, [&](int64_t axis) { return grew(tile, axis); }))
    return;
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<Value> valid;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    valid.push_back(
        llvm::is_contained(axes, axis)
            ? oldExtent(tile, axis)
            : arith::ConstantIndexOp::create(builder, type.getDimSize(axis)));
  operand.set(SelectValidOp::create(builder, type, tile, valid, pad));
}

/// Like limitAccess, for the axes of all printed tiles.
void ExtentPadder::limitPrint(PrintOp op) {
  SmallVector<Value> valid;
  for (Value value : op.getValues())
    if (isa<RankedTensorType>(value.getType()))
      for (int64_t axis = 0; axis < oldType(value).getRank(); ++axis)
        valid.push_back(oldExtent(value, axis));
  if (op.getValid().empty() &&
      llvm::any_of(op.getValues(), [&](Value value) { return grew(value); }))
    op.getValidMutable().assign(valid);
}

void ExtentPadder::fix(Operation *op) {
  builder.setInsertionPoint(op);
  builder.setLoc(op->getLoc());
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](LoadOp load) {
        limitAccess(load, load.getResult());
        if (grew(load.getResult()) && load.getPad() == Pad::Undef)
          load.setPad(Pad::Zero);
      })
      .Case([&](StoreOp store) { limitAccess(store, store.getValue()); })
      .Case([&](AtomicAddOp add) { limitAccess(add, add.getValue()); })
      .Case([&](GatherOp gather) { limitElements(gather, gather.getResult()); })
      .Case([&](ScatterAddOp scatter) {
        limitElements(scatter, scatter.getValue());
      })
      .Case([&](DotOp dot) {
        neutralize(dot.getLhsMutable(), dot.getLhsContract(), Pad::Zero);
        neutralize(dot.getRhsMutable(), dot.getRhsContract(), Pad::Zero);
      })
      .Case([&](ReduceOp reduce) {
        neutralize(reduce.getValueMutable(), reduce.getAxes(),
                   *getNeutralPad(reduce.getKind()));
      })
      .Case([&](ArgReduceOp reduce) {
        Value tile = reduce.getValue();
        int64_t axis = reduce.getAxis();
        if (grew(tile, axis) && !reduce.getValid())
          reduce.getValidMutable().assign(oldExtent(tile, axis));
      })
      .Case([&](ScanOp scan) {
        neutralize(scan.getValueMutable(), static_cast<int64_t>(scan.getAxis()),
                   *getNeutralPad(scan.getKind()));
      })
      .Case([&](PrintOp print) { limitPrint(print); })
      .Case([&](AssertOp assertion) {
        Value condition = assertion.getCondition();
        if (auto type = dyn_cast<RankedTensorType>(condition.getType()))
          neutralize(assertion.getConditionMutable(),
                     llvm::to_vector(llvm::seq(type.getRank())), Pad::One);
      });
}

void ExtentPadder::run() {
  chooseExtents();
  changeTypes();
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    fix(op);
}

namespace {

struct PadExtentsPass : tile::impl::TilePadExtentsBase<PadExtentsPass> {
  using TilePadExtentsBase::TilePadExtentsBase;

  void runOnOperation() override {
    DotMinima minima;
    if (failed(readMinima(minima)))
      return signalPassFailure();
    SmallVector<KernelOp> kernels;
    getOperation()->walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    for (KernelOp kernel : kernels) {
      separateSources(kernel);
      FailureOr<AxisClasses> classes =
          AxisClasses::compute(kernel, getArgument());
      if (failed(classes))
        return signalPassFailure();
      ExtentPadder(kernel, *classes, minima).run();
    }
  }

  LogicalResult readMinima(DotMinima &minima) {
    if (minDot.empty())
      return success();
    auto isPossible = [](int64_t least) {
      return least > 0 && llvm::isPowerOf2_64(uint64_t(least));
    };
    if (minDot.size() != 3 || !llvm::all_of(minDot, isPossible))
      return getOperation()->emitError()
             << "expected three powers of two as min-dot (rows, columns, "
                "contracted), found "
             << ArrayRef<int64_t>(minDot);
    minima = {minDot[0], minDot[1], minDot[2]};
    return success();
  }
};

} // namespace

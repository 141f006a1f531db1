//===- Pass.cpp - convert-tile-to-tilegpu -----------------------*- C++ -*-===//
//
// The three decisions in order (Warps.h, Products.h, LayoutAssignment.h), then
// types of values are replaced and conversions put where operands are not in
// the layout that their op takes them in.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToTileGPU/LayoutAssignment.h"
#include "codegen/TileToTileGPU/Passes.h"
#include "codegen/TileToTileGPU/Products.h"
#include "codegen/TileToTileGPU/Warps.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace tilec {
#define GEN_PASS_DEF_CONVERTTILETOTILEGPU
#include "codegen/TileToTileGPU/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using layout::LinearLayout;

/// All extents are powers of two, there is a grid, and nothing is left of what
/// earlier passes remove.
static LogicalResult verifyInput(tile::KernelOp kernel) {
  if (!kernel.getGrid())
    return kernel.emitError()
           << "expected a kernel with a grid, found none; kernels without one "
              "run on the cpu target only: write 'grid' and tiles";
  WalkResult result = kernel.walk([&](Operation *op) {
    if (isa<tile::AttentionOp>(op)) {
      op->emitOpError() << "expected attention to be expanded; run "
                           "tile-expand-attention first";
      return WalkResult::interrupt();
    }
    for (Value value : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        continue;
      for (int64_t extent : type.getShape())
        if (ShapedType::isDynamic(extent) || !llvm::isPowerOf2_64(extent)) {
          op->emitOpError() << "expected extents that are powers of two, found "
                            << type << "; run tile-pad-extents first";
          return WalkResult::interrupt();
        }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {

class LayoutApplier {
public:
  LayoutApplier(tile::KernelOp kernel, const LayoutAssignment &assignment)
      : kernel(kernel), assignment(assignment), b(kernel.getContext()) {}
  void run();

private:
  void setType(Value value);
  Value convert(Value value, const LinearLayout &layout, Operation *before);
  Value remake(Value value, const LinearLayout &layout);

  tile::KernelOp kernel;
  const LayoutAssignment &assignment;
  OpBuilder b;
  DenseMap<std::pair<Value, Type>, Value> remade;
};

} // namespace

static bool isTile(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0;
}

void LayoutApplier::setType(Value value) {
  if (!isTile(value))
    return;
  auto type = cast<RankedTensorType>(value.getType());
  RankedTensorType typed = tilegpu::withLayout(type, assignment.of(value));
  value.setType(typed);
  // A constant's attribute has the type too.
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    constant.setValueAttr(
        cast<DenseElementsAttr>(constant.getValue()).resizeSplat(typed));
}

/// Makes a value without operands of its own again in another layout, or null:
/// positions, constants, and what is cheaply made of them.
Value LayoutApplier::remake(Value value, const LinearLayout &layout) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  auto type =
      tilegpu::withLayout(cast<RankedTensorType>(value.getType()), layout);
  auto [place, isNew] = remade.try_emplace({value, type});
  if (!isNew)
    return place->second;
  Value result;
  b.setInsertionPointAfter(op);
  if (isa<tile::IotaOp, tensor::SplatOp, arith::ConstantOp>(op)) {
    Operation *clone = b.clone(*op);
    clone->getResult(0).setType(type);
    if (auto constant = dyn_cast<arith::ConstantOp>(clone))
      constant.setValueAttr(
          cast<DenseElementsAttr>(constant.getValue()).resizeSplat(type));
    result = clone->getResult(0);
  } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    Value operand = broadcast.getValue();
    LinearLayout inner = operandOfBroadcast(layout, broadcast.getDims());
    if (!isTile(operand)) {
      Operation *clone = b.clone(*op);
      clone->getResult(0).setType(type);
      result = clone->getResult(0);
    } else if (tilegpu::getLinearLayout(
                   cast<RankedTensorType>(operand.getType())) == inner ||
               remake(operand, inner)) {
      Value again = convert(operand, inner, op->getNextNode());
      b.setInsertionPointAfter(op);
      if (Operation *def = again.getDefiningOp();
          def && def->getBlock() == op->getBlock() && op->isBeforeInBlock(def))
        b.setInsertionPointAfter(def);
      Operation *clone = b.clone(*op);
      clone->setOperand(0, again);
      clone->getResult(0).setType(type);
      result = clone->getResult(0);
    }
  }
  remade[{value, type}] = result;
  return result;
}

Value LayoutApplier::convert(Value value, const LinearLayout &layout,
                             Operation *before) {
  auto type = cast<RankedTensorType>(value.getType());
  auto wanted = tilegpu::withLayout(type, layout);
  if (type == wanted)
    return value;
  if (Value again = remake(value, layout))
    return again;
  b.setInsertionPoint(before);
  return tilegpu::ConvertLayoutOp::create(b, value.getLoc(), wanted, value);
}

void LayoutApplier::run() {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  // What operands have to be is asked while types are still bare, since both
  // come from the same assignment.
  for (Operation *op : ops) {
    for (Value result : op->getResults())
      setType(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          setType(argument);
  }
  for (Operation *op : ops)
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isTile(operand.get()))
        continue;
      if (std::optional<LinearLayout> layout = assignment.required(operand))
        operand.set(convert(operand.get(), *layout, op));
    }
}

/// Thread blocks that run at the same time should share operands in the
/// second-level cache: those of a product go through the grid in groups of
/// rows.
static void chooseOrder(tile::KernelOp kernel) {
  scf::ForallOp grid = kernel.getGrid();
  ArrayRef<int64_t> steps = grid.getStaticStep();
  bool hasProduct =
      kernel.walk([](tile::DotOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  bool isMatrix =
      steps.size() >= 2 && steps.back() > 1 && steps[steps.size() - 2] > 1;
  int64_t group =
      kernel.getSchedule().get("group", hasProduct && isMatrix ? 8 : 1);
  if (group > 1 && steps.size() >= 2)
    grid->setAttr("tilegpu.group",
                  Builder(kernel.getContext()).getI64IntegerAttr(group));
}

namespace {
struct ConvertTileToTileGPU
    : tilec::impl::ConvertTileToTileGPUBase<ConvertTileToTileGPU> {
  using ConvertTileToTileGPUBase::ConvertTileToTileGPUBase;

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    if (failed(verifyInput(kernel)))
      return signalPassFailure();
    loopContractedAxes(kernel);
    int64_t warps = chooseWarps(kernel);
    chooseOrder(kernel);
    Anchors anchors;
    if (failed(placeProducts(kernel, warps, arch, anchors)))
      return signalPassFailure();
    LayoutAssignment assignment(kernel, warps, anchors);
    assignment.run();
    LayoutApplier(kernel, assignment).run();
    kernel->setAttr(tilegpu::TileGPUDialect::kWarpsAttr,
                    Builder(&getContext()).getI64IntegerAttr(warps));
  }
};
} // namespace

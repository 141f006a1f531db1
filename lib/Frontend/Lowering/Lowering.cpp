//===- Lowering.cpp - The kernel around the body ----------------*- C++ -*-===//
//
// The driver of the lowering: makes the tile.kernel with its arguments, their
// attributes and the schedule, the grid, and verifies the result.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering/LoweringImpl.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilec::lowering {

KernelLowering::KernelLowering(const typed::Kernel &kernel,
                               const LoweringOptions &options,
                               MLIRContext &context,
                               const SourceManager &sources)
    : kernel(kernel), options(options), sources(sources),
      b(UnknownLoc::get(&context), &context) {}

Location KernelLowering::locate(SourceRange range) {
  LineColumn place = sources.getLineColumn(range.begin);
  if (!place.isValid())
    return UnknownLoc::get(b.getContext());
  return FileLineColLoc::get(b.getContext(), place.file, place.line,
                             place.column);
}

Location KernelLowering::locate(StringRef name, SourceRange range) {
  return NameLoc::get(b.getStringAttr(name), locate(range));
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

Type KernelLowering::paramType(const typed::Param &param) {
  if (!param.isTensor)
    return elementType(param.dtype);
  SmallVector<int64_t> shape;
  for (const typed::Param::Extent &extent : param.shape)
    shape.push_back(
        extent.dim ? staticExtent(extent.dim).value_or(ShapedType::kDynamic)
                   : extent.constant);
  return tile::ViewType::get(shape, storageType(param.dtype));
}

static tile::Access accessOf(ast::Access access) {
  switch (access) {
  case ast::Access::In:
    return tile::Access::In;
  case ast::Access::Out:
    return tile::Access::Out;
  case ast::Access::InOut:
    return tile::Access::InOut;
  case ast::Access::Add:
    return tile::Access::Add;
  }
  llvm_unreachable("unknown access");
}

DictionaryAttr KernelLowering::paramAttrs(const typed::Param &param) {
  NamedAttrList attrs;
  attrs.append(tile::KernelOp::kNameAttr, b.getStringAttr(param.name));
  if (param.isTensor) {
    SmallVector<StringRef> dims;
    for (const typed::Param::Extent &extent : param.shape)
      dims.push_back(extent.dim ? extent.dim->name : "");
    attrs.append(tile::KernelOp::kAccessAttr,
                 tile::AccessAttr::get(b.getContext(), accessOf(param.access)));
    attrs.append(tile::KernelOp::kDimsAttr, b.getStrArrayAttr(dims));
    if (param.index < options.unitStride.size() &&
        options.unitStride[param.index] >= 0)
      attrs.append(unitStrideAttrName,
                   b.getI64IntegerAttr(options.unitStride[param.index]));
  }
  return attrs.getDictionary(b.getContext());
}

/// The knobs as written, and the sizes that the axes have in fact: what the
/// schedule says about a tile may have come from elsewhere.
tile::ScheduleAttr KernelLowering::scheduleAttr() {
  NamedAttrList entries;
  for (const typed::ScheduleEntry &entry : kernel.schedule) {
    Attribute value = entry.text.empty()
                          ? Attribute(b.getI64IntegerAttr(entry.value))
                          : Attribute(b.getStringAttr(entry.text));
    entries.set(entry.key, value);
  }
  // Two loops may use one name; the first one is what the schedule is about.
  llvm::StringMap<int64_t> sizes;
  for (const typed::Axis *axis : kernel.axes)
    if (axis->isTile())
      sizes.try_emplace(axis->name, axis->tileSize);
  for (const auto &[name, size] : sizes)
    entries.set(name, b.getI64IntegerAttr(size));
  if (!kernel.attentions.empty())
    entries.set("kv", b.getI64IntegerAttr(kernel.attentions.front()->kvTile));
  return tile::ScheduleAttr::get(b.getContext(),
                                 entries.getDictionary(b.getContext()));
}

void KernelLowering::createKernel() {
  SmallVector<Type> types;
  SmallVector<Attribute> attrs;
  for (const typed::Param *param : kernel.params) {
    types.push_back(paramType(*param));
    attrs.push_back(paramAttrs(*param));
  }
  kernelOp =
      tile::KernelOp::create(b, kernel.name, b.getFunctionType(types, {}));
  kernelOp.setArgAttrsAttr(b.getArrayAttr(attrs));
  tile::ScheduleAttr schedule = scheduleAttr();
  if (!schedule.getEntries().empty())
    kernelOp->setAttr(tile::KernelOp::kScheduleAttr, schedule);
  entry = &kernelOp.getBody().front();
  for (auto [param, argument] : llvm::zip(kernel.params, entry->getArguments()))
    argument.setLoc(locate(param->name, param->range));
}

//===----------------------------------------------------------------------===//
// Grid
//===----------------------------------------------------------------------===//

void KernelLowering::lowerGrid() {
  if (kernel.grid.empty()) {
    lowerBody(kernel.body);
    return;
  }
  SmallVector<Value> extents;
  SmallVector<OpFoldResult> lower, upper, steps;
  for (const typed::LoopVar *var : kernel.grid) {
    LocScope scope(*this, var->range);
    Value extent = loopExtent(var);
    // A dimension is never negative; an expression may be.
    if (!var->dim)
      extent = emit<arith::MaxSIOp>(extent, indexConstant(0));
    extents.push_back(extent);
    lower.push_back(b.getIndexAttr(0));
    upper.push_back(getAsOpFoldResult(extent));
    steps.push_back(b.getIndexAttr(loopStep(var)));
  }
  LocScope scope(*this, kernel.grid.front()->range);
  auto grid = scf::ForallOp::create(b, lower, upper, steps,
                                    /*outputs=*/ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(grid.getBody());
  for (auto [var, begin, extent] :
       llvm::zip(kernel.grid, grid.getInductionVars(), extents))
    enterLoop(var, begin, extent, grid.getBody());
  lowerBody(kernel.body);
}

//===----------------------------------------------------------------------===//
// Driver
//===----------------------------------------------------------------------===//

/// Whoever calls the lowering settles the schedule; to forget it is a mistake
/// that must not go unnoticed until some pass meets a tile of size 0.
bool KernelLowering::isScheduleSettled() {
  for (const typed::Axis *axis : kernel.axes)
    if (axis->isTile() && axis->tileSize < 1) {
      emitError(locate(axis->var ? axis->var->range : kernel.range))
          << "internal error: the tile size of '" << axis->name
          << "' is not settled";
      return false;
    }
  for (const typed::Attention *attention : kernel.attentions)
    if (attention->kvTile < 1) {
      emitError(locate(attention->range))
          << "internal error: the tile size 'kv' of the attention is not "
             "settled";
      return false;
    }
  return true;
}

/// Values are made before it is known whether they are used: a scalar that
/// turns out to be a splat, a condition under which nothing is read.
static void eraseDeadOps(ModuleOp module) {
  module->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

OwningOpRef<ModuleOp> KernelLowering::run() {
  if (!isScheduleSettled())
    return nullptr;
  LocScope scope(*this, kernel.range);
  OwningOpRef<ModuleOp> module = ModuleOp::create(b.getLoc());
  b.setInsertionPointToStart(module->getBody());
  createKernel();
  b.setInsertionPointToStart(entry);
  tile::ReturnOp::create(b);
  b.setInsertionPoint(&entry->back());
  lowerGrid();
  eraseDeadOps(*module);
  if (failed(verify(*module))) {
    emitError(b.getLoc()) << "internal error: the lowering of kernel '"
                          << kernel.name << "' is invalid";
    return nullptr;
  }
  return module;
}

} // namespace tilec::lowering

OwningOpRef<ModuleOp> tilec::lowerKernel(const typed::Kernel &kernel,
                                         const LoweringOptions &options,
                                         MLIRContext &context,
                                         const SourceManager &sources) {
  // The dialects it depends on are loaded along with it.
  context.loadDialect<tile::TileDialect>();
  return lowering::KernelLowering(kernel, options, context, sources).run();
}

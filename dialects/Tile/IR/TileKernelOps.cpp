//===- TileKernelOps.cpp - Kernel structure --------------------*- C++ -*-===//
//
// Text form and verifier of tile.kernel, and the verifiers of the ops about
// extents: tile.dim, tile.valid, tile.slice.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/TileVerify.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// tile.kernel
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     FunctionType type) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  // With its entry block at once: a kernel without a body does not exist.
  OpBuilder::InsertionGuard guard(builder);
  Region *body = state.addRegion();
  SmallVector<Location> locs(type.getNumInputs(), state.location);
  builder.createBlock(body, body->end(), type.getInputs(), locs);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

void KernelOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  if (region.empty())
    return;
  for (BlockArgument argument : region.getArguments())
    if (StringRef name = getArgName(argument.getArgNumber()); !name.empty())
      setName(argument, name);
}

static LogicalResult verifyArgAttrs(KernelOp kernel, unsigned i, Type type) {
  auto view = dyn_cast<ViewType>(type);
  auto error = [&]() {
    return kernel.emitOpError() << "argument " << i << ": ";
  };
  if (Attribute name = kernel.getArgAttr(i, KernelOp::kNameAttr))
    if (!isa<StringAttr>(name))
      return error() << "expected a string as '" << KernelOp::kNameAttr
                     << "', found " << name;
  if (Attribute access = kernel.getArgAttr(i, KernelOp::kAccessAttr)) {
    if (!isa<AccessAttr>(access))
      return error() << "expected #tile.access as '" << KernelOp::kAccessAttr
                     << "', found " << access;
    if (!view)
      return error() << "expected a view for '" << KernelOp::kAccessAttr
                     << "', found " << type;
  }
  Attribute dims = kernel.getArgAttr(i, KernelOp::kDimsAttr);
  if (!dims)
    return success();
  if (!view)
    return error() << "expected a view for '" << KernelOp::kDimsAttr
                   << "', found " << type;
  auto names = dyn_cast<ArrayAttr>(dims);
  if (!names || !llvm::all_of(names, llvm::IsaPred<StringAttr>))
    return error() << "expected an array of strings as '" << KernelOp::kDimsAttr
                   << "', found " << dims;
  if (static_cast<int64_t>(names.size()) != view.getRank())
    return error() << "expected a name per dimension (" << view.getRank()
                   << ") in '" << KernelOp::kDimsAttr << "', found "
                   << names.size();
  return success();
}

LogicalResult KernelOp::verify() {
  FunctionType type = getFunctionType();
  if (type.getNumResults() != 0)
    return emitOpError() << "expected no results, found "
                         << type.getNumResults();
  if (!getBody().hasOneBlock())
    return emitOpError() << "expected one block, found "
                         << getBody().getBlocks().size();
  for (auto [i, argument] : llvm::enumerate(type.getInputs())) {
    if (!isa<ViewType>(argument) && !argument.isIntOrFloat())
      return emitOpError() << "argument " << i
                           << ": expected a view or a scalar, found "
                           << argument;
    if (failed(verifyArgAttrs(*this, i, argument)))
      return failure();
  }
  Attribute schedule = (*this)->getAttr(kScheduleAttr);
  if (schedule && !isa<ScheduleAttr>(schedule))
    return emitOpError() << "expected #tile.schedule as '" << kScheduleAttr
                         << "', found " << schedule;

  Operation *terminator =
      getBody().front().empty() ? nullptr : &getBody().front().back();
  if (!isa_and_nonnull<ReturnOp>(terminator))
    return emitOpError() << "expected tile.return at the end";

  scf::ForallOp grid;
  for (auto forall : getBody().front().getOps<scf::ForallOp>()) {
    if (forall->getNumResults() != 0)
      return forall.emitOpError() << "expected a grid without results, found "
                                  << forall->getNumResults();
    if (grid) {
      InFlightDiagnostic diagnostic = forall.emitOpError()
                                      << "expected one grid, found a second";
      diagnostic.attachNote(grid.getLoc()) << "the first is here";
      return diagnostic;
    }
    grid = forall;
  }
  return success();
}

scf::ForallOp KernelOp::getGrid() {
  auto grids = getBody().front().getOps<scf::ForallOp>();
  return grids.empty() ? scf::ForallOp() : *grids.begin();
}

ScheduleAttr KernelOp::getSchedule() {
  if (auto schedule = (*this)->getAttrOfType<ScheduleAttr>(kScheduleAttr))
    return schedule;
  return ScheduleAttr::get(getContext(), DictionaryAttr::get(getContext()));
}

StringRef KernelOp::getArgName(unsigned i) {
  auto name = getArgAttrOfType<StringAttr>(i, kNameAttr);
  return name ? name.getValue() : StringRef();
}

Access KernelOp::getArgAccess(unsigned i) {
  auto access = getArgAttrOfType<AccessAttr>(i, kAccessAttr);
  return access ? access.getValue() : Access::In;
}

//===----------------------------------------------------------------------===//
// Extents and slices
//===----------------------------------------------------------------------===//

LogicalResult DimOp::verify() {
  int64_t rank = getView().getType().getRank();
  if (static_cast<int64_t>(getDim()) < 0 ||
      static_cast<int64_t>(getDim()) >= rank)
    return emitOpError() << "expected a dimension below " << rank << ", found "
                         << static_cast<int64_t>(getDim());
  return success();
}

LogicalResult ValidOp::verify() {
  if (static_cast<int64_t>(getSize()) < 1)
    return emitOpError() << "expected a size of at least 1, found "
                         << static_cast<int64_t>(getSize());
  return success();
}

LogicalResult SliceOp::verify() {
  ViewType view = getView().getType(), result = getType();
  if (static_cast<int64_t>(getIndices().size()) != view.getRank())
    return emitOpError() << "expected one index per dimension of the view ("
                         << view.getRank() << "), found "
                         << getIndices().size();
  if (failed(verifyAxes(*this, "dims", getDims(), view.getRank())))
    return failure();
  SmallVector<int64_t> expected;
  for (int64_t dim : getDims())
    expected.push_back(view.getDimSize(dim));
  // Exactly: a slice neither learns nor forgets an extent.
  if (expected != result.getShape())
    return emitOpError() << "expected a result of shape " << shapeText(expected)
                         << ", found " << shapeText(result.getShape());
  if (view.getElementType() != result.getElementType())
    return emitOpError() << "expected a result with elements of "
                         << view.getElementType() << ", found "
                         << result.getElementType();
  return success();
}

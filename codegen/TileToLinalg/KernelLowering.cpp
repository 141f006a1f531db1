//===- KernelLowering.cpp - The function and the grid -----------*- C++ -*-===//
//
// Makes the two functions of a kernel, turns the grid into a loop over a range
// of program numbers, and walks the body. Also the small builders the other
// parts use.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToLinalg/KernelLowering.h"
#include "codegen/TileToLinalg/IndexMath.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec {

KernelLowering::KernelLowering(tile::KernelOp kernel, SiteTable &sites,
                               bool checked)
    : kernel(kernel), sites(sites), checked(checked), b(kernel.getContext()),
      loc(kernel.getLoc()) {}

LogicalResult KernelLowering::run() {
  if (failed(check()) || failed(createFunctions()))
    return failure();
  if (failed(lowerGrid()) || failed(lowerBody(func)))
    return failure();
  hoistAddresses();
  kernel.erase();
  return success();
}

/// Everything this lowering cannot do is found here, before any change.
LogicalResult KernelLowering::check() {
  auto argumentOf = [&](Value view) {
    while (auto slice = view.getDefiningOp<tile::SliceOp>())
      view = slice.getView();
    return dyn_cast<BlockArgument>(view);
  };
  WalkResult result = kernel->walk([&](Operation *op) -> WalkResult {
    if (isa<tile::AttentionOp>(op))
      return op->emitOpError("must be expanded before the lowering to linalg");
    for (Value result : op->getResults())
      if (auto tensor = dyn_cast<RankedTensorType>(result.getType()))
        if (!tensor.hasStaticShape())
          return op->emitOpError("has a result of dynamic shape; tiling and "
                                 "specialization make every tile static");
    for (Value operand : op->getOperands())
      if (isa<tile::ViewType>(operand.getType())) {
        BlockArgument argument = argumentOf(operand);
        if (!argument || argument.getOwner() != &kernel.getBody().front())
          return op->emitOpError("takes a view that is neither an argument of "
                                 "the kernel nor a slice of one");
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

Type KernelLowering::lowerArgumentType(unsigned argument) {
  auto view =
      dyn_cast<tile::ViewType>(kernel.getFunctionType().getInput(argument));
  if (!view)
    return kernel.getFunctionType().getInput(argument);
  SmallVector<int64_t> strides(view.getRank(), ShapedType::kDynamic);
  if (auto unit =
          kernel.getArgAttrOfType<IntegerAttr>(argument, kUnitStrideArgAttr))
    if (unit.getInt() >= 0 && unit.getInt() < view.getRank())
      strides[unit.getInt()] = 1;
  auto layout = StridedLayoutAttr::get(kernel.getContext(), 0, strides);
  return MemRefType::get(view.getShape(), view.getElementType(), layout);
}

/// Relates the kernel's arguments to those of a function made for it.
void KernelLowering::lowerArguments(func::FuncOp to, tile::KernelOp from) {
  b.setInsertionPointToStart(&to.getBody().front());
  for (auto [i, argument] : llvm::enumerate(from.getArguments())) {
    Value lowered = to.getArgument(i);
    auto type = dyn_cast<MemRefType>(lowered.getType());
    if (!type)
      continue;
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, lowered);
    LoweredView view;
    view.base = metadata.getBaseBuffer();
    view.offset = b.getIndexAttr(0);
    view.sizes = metadata.getConstifiedMixedSizes();
    view.strides = metadata.getConstifiedMixedStrides();
    view.access = from.getArgAccess(i);
    view.argument = i;
    views[argument] = view;
  }
}

LogicalResult KernelLowering::createFunctions() {
  MLIRContext *ctx = kernel.getContext();
  SmallVector<Type> types;
  SmallVector<int64_t> ranks, aliasing;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    types.push_back(lowerArgumentType(i));
    auto view = dyn_cast<tile::ViewType>(kernel.getArgument(i).getType());
    ranks.push_back(view ? view.getRank() : -1);
    if (view && kernel.getArgAccess(i) == tile::Access::InOut)
      aliasing.push_back(i);
  }

  auto create = [&](StringRef name, ArrayRef<Type> inputs,
                    ArrayRef<Type> results) {
    b.setInsertionPoint(kernel);
    auto made = func::FuncOp::create(b, loc, name,
                                     FunctionType::get(ctx, inputs, results));
    made.addEntryBlock();
    made->setAttr(kKernelFuncAttr, b.getDenseI64ArrayAttr(ranks));
    made->setAttr(kAliasingAttr, b.getDenseI64ArrayAttr(aliasing));
    return made;
  };

  // How many programs there are is a matter of the grid's bounds alone, so the
  // function for it gets a copy of what they are computed from.
  func::FuncOp programs =
      create((kernel.getName() + ".programs").str(), types, {b.getIndexType()});
  lowerArguments(programs, kernel);
  scf::ForallOp grid = kernel.getGrid();
  Value count;
  if (grid) {
    SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.inclusive = true;
    options.omitBlockArguments = true;
    for (Value bound : grid->getOperands())
      if (Operation *def = bound.getDefiningOp())
        if (failed(getBackwardSlice(def, &slice, options)))
          return grid.emitOpError("has bounds that cannot be traced");
    IRMapping mapping;
    // Views are looked up by the kernel's arguments; scalars are used as they
    // are.
    for (auto [i, argument] : llvm::enumerate(kernel.getArguments()))
      if (!isa<tile::ViewType>(argument.getType()))
        mapping.map(argument, programs.getArgument(i));
    for (Operation *op : topologicalSort(slice)) {
      if (!isPure(op))
        return op->emitOpError("computes a bound of the grid, so it may not "
                               "have effects");
      b.clone(*op, mapping);
    }
    auto copy = cast<scf::ForallOp>(b.cloneWithoutRegions(*grid, mapping));
    count = emitProgramCount(copy, nullptr);
    copy.erase();
    b.setInsertionPointToEnd(&programs.getBody().front());
  } else {
    count = index(1);
  }
  func::ReturnOp::create(b, loc, count);
  if (failed(lowerBody(programs)))
    return failure();

  types.append(
      {b.getIndexType(), b.getIndexType(), LLVM::LLVMPointerType::get(ctx)});
  func = create((kernel.getName() + ".run").str(), types, {});
  context = func.getArguments().back();
  views.clear();
  lowerArguments(func, kernel);
  for (auto [i, argument] : llvm::enumerate(kernel.getArguments()))
    if (!isa<tile::ViewType>(argument.getType()))
      argument.replaceAllUsesWith(func.getArgument(i));
  Block &from = kernel.getBody().front(), &to = func.getBody().front();
  from.getTerminator()->erase();
  to.getOperations().splice(to.end(), from.getOperations());
  b.setInsertionPointToEnd(&to);
  func::ReturnOp::create(b, loc);
  return success();
}

/// The product of the grid's extents, and each of them if asked for. Inserts
/// before `grid`.
Value KernelLowering::emitProgramCount(scf::ForallOp grid,
                                       SmallVectorImpl<Value> *counts) {
  b.setInsertionPoint(grid);
  Value product = index(1);
  for (auto [lower, upper, step] :
       llvm::zip_equal(grid.getMixedLowerBound(), grid.getMixedUpperBound(),
                       grid.getMixedStep())) {
    Value extent = arith::SubIOp::create(b, loc, value(upper), value(lower));
    Value count = arith::CeilDivSIOp::create(b, loc, extent, value(step));
    count = arith::MaxSIOp::create(b, loc, count, index(0));
    product = arith::MulIOp::create(b, loc, product, count);
    if (counts)
      counts->push_back(count);
  }
  return product;
}

LogicalResult KernelLowering::lowerGrid() {
  Value begin = func.getArgument(kernel.getNumArguments());
  Value end = func.getArgument(kernel.getNumArguments() + 1);
  Block &entry = func.getBody().front();
  auto grids = entry.getOps<scf::ForallOp>();
  if (grids.empty()) {
    // One program; the whole body becomes its loop's.
    Operation *first = entry.getTerminator();
    for (Operation &op : entry)
      if (!isa<memref::ExtractStridedMetadataOp>(op)) {
        first = &op;
        break;
      }
    b.setInsertionPoint(first);
    auto loop = scf::ForOp::create(b, loc, begin, end, index(1));
    loop.getBody()->getOperations().splice(
        loop.getBody()->begin(), entry.getOperations(),
        std::next(loop->getIterator()), entry.getTerminator()->getIterator());
    return success();
  }

  scf::ForallOp grid = *grids.begin();
  loc = grid.getLoc();
  SmallVector<Value> counts;
  emitProgramCount(grid, &counts);
  SmallVector<Value> lowers, steps;
  for (OpFoldResult lower : grid.getMixedLowerBound())
    lowers.push_back(value(lower));
  for (OpFoldResult step : grid.getMixedStep())
    steps.push_back(value(step));
  auto loop = scf::ForOp::create(b, loc, begin, end, index(1));
  b.setInsertionPointToStart(loop.getBody());
  Value rest = loop.getInductionVar();
  SmallVector<Value> positions(counts.size());
  for (int64_t d = int64_t(counts.size()) - 1; d >= 0; --d) {
    Value number = rest;
    if (d > 0) {
      number = arith::RemUIOp::create(b, loc, rest, counts[d]);
      rest = arith::DivUIOp::create(b, loc, rest, counts[d]);
    }
    Value scaled = arith::MulIOp::create(b, loc, number, steps[d]);
    positions[d] = arith::AddIOp::create(b, loc, scaled, lowers[d]);
  }
  Block *body = grid.getBody();
  body->getTerminator()->erase();
  for (auto [from, to] : llvm::zip_equal(body->getArguments(), positions))
    from.replaceAllUsesWith(to);
  for (auto [position, step] : llvm::zip_equal(positions, steps))
    programAxes.push_back({position, getConstantIntValue(step).value_or(0)});
  loop.getBody()->getOperations().splice(
      loop.getBody()->getTerminator()->getIterator(), body->getOperations());
  grid.erase();
  return success();
}

LogicalResult KernelLowering::lowerBody(Operation *root) {
  SmallVector<Operation *> ops;
  SmallVector<tile::SliceOp> slices;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    ops.push_back(op);
    if (auto slice = dyn_cast<tile::SliceOp>(op))
      slices.push_back(slice);
  });
  for (Operation *op : ops)
    if (op != root && failed(lowerOp(op)))
      return failure();
  // Views are used by slices and lowered ops only, so these are dead now.
  for (tile::SliceOp slice : llvm::reverse(slices))
    slice.erase();
  return success();
}

/// Rewrites one op, and erases it unless it stays.
LogicalResult KernelLowering::lowerOp(Operation *op) {
  b.setInsertionPoint(op);
  loc = op->getLoc();
  bool isTensor = op->getNumResults() == 1 &&
                  isa<RankedTensorType>(op->getResult(0).getType());
  bool lowered =
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case<tile::DimOp, tile::ValidOp, tile::LoadOp, tile::StoreOp,
                tile::AtomicAddOp, tile::GatherOp, tile::ScatterAddOp,
                tile::IotaOp, tile::BroadcastOp, tile::SelectValidOp,
                tile::DotOp, tile::ReduceOp, tile::ArgReduceOp, tile::ScanOp,
                tile::RandomOp, tile::RoundTF32Op, tile::GeluOp,
                tile::InBoundsOp, tile::AssertOp, tile::PrintOp>(
              [&](auto typed) {
                lower(typed);
                return true;
              })
          .Case<tensor::SplatOp, arith::ConstantOp>([&](auto typed) {
            if (isTensor)
              lower(typed);
            return isTensor;
          })
          .Case([&](tile::SliceOp slice) {
            lower(slice);
            return false; // Erased after its users.
          })
          .Default([&](Operation *) {
            if (!isTensor || !op->hasTrait<OpTrait::Elementwise>() ||
                !op->hasTrait<OpTrait::Tensorizable>())
              return false;
            lowerElementwise(op);
            return true;
          });
  if (!lowered) {
    if (isa<tile::TileDialect>(op->getDialect()) && !isa<tile::SliceOp>(op))
      return op->emitOpError("has no lowering to linalg");
    return success();
  }
  b.eraseOp(op);
  return success();
}

void KernelLowering::lower(tile::DimOp op) {
  b.replaceAllUsesWith(op.getResult(),
                       value(views.at(op.getView()).sizes[op.getDim()]));
}

void KernelLowering::lower(tile::ValidOp op) {
  Value left = arith::SubIOp::create(b, loc, op.getExtent(), op.getBegin());
  left = arith::MaxSIOp::create(b, loc, left, index(0));
  b.replaceAllUsesWith(op.getResult(), arith::MinSIOp::create(
                                           b, loc, left, index(op.getSize())));
}

void KernelLowering::lower(tile::SliceOp op) {
  const LoweredView &from = views.at(op.getView());
  LoweredView slice = from;
  slice.sizes.clear();
  slice.strides.clear();
  for (unsigned d = 0; d < from.rank(); ++d)
    if (!llvm::is_contained(op.getDims(), int64_t(d))) {
      Value position = op.getIndices()[d];
      slice.fixed.push_back(position);
      slice.offset = add(
          slice.offset, multiply(getAsOpFoldResult(position), from.strides[d]));
    }
  for (int64_t d : op.getDims()) {
    slice.sizes.push_back(from.sizes[d]);
    slice.strides.push_back(from.strides[d]);
  }
  slice.predicate = both(from.predicate, op.getPredicate());
  views[op.getResult()] = slice;
}

/// Moves the computation of addresses as early as it can be. What computes a
/// tile can then be made to write to its destination directly: the destination
/// has to be known before.
void KernelLowering::hoistAddresses() {
  func.walk([&](Block *block) {
    if (isa<linalg::LinalgOp>(block->getParentOp()))
      return;
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      bool isAddress = op.getNumResults() > 0 &&
                       llvm::all_of(op.getResultTypes(), [](Type type) {
                         return isa<IndexType, IntegerType, MemRefType>(type);
                       });
      bool isFree = isPure(&op) || isa<memref::AllocOp>(op);
      if (!isAddress || !isFree || op.hasTrait<OpTrait::IsTerminator>())
        continue;
      SetVector<Value> operands(op.operand_begin(), op.operand_end());
      getUsedValuesDefinedAbove(op.getRegions(), operands);
      Operation *last = nullptr;
      for (Value operand : operands)
        if (Operation *def = operand.getDefiningOp())
          if (Operation *here = block->findAncestorOpInBlock(*def))
            if (!last || last->isBeforeInBlock(here))
              last = here;
      if (last)
        op.moveAfter(last);
      else
        op.moveBefore(block, block->begin());
    }
  });
}

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

Value KernelLowering::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value KernelLowering::constant(Type type, double value) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
}

Value KernelLowering::constantInt(Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

Value KernelLowering::toIndex(Value i64) {
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), i64);
}

Value KernelLowering::value(OpFoldResult size) {
  return indexValue(b, loc, size);
}

OpFoldResult KernelLowering::multiply(OpFoldResult x, OpFoldResult y) {
  return multiplyIndex(b, loc, x, y);
}

OpFoldResult KernelLowering::add(OpFoldResult x, OpFoldResult y) {
  return addIndex(b, loc, x, y);
}

Value KernelLowering::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

Value KernelLowering::empty(ArrayRef<int64_t> shape, Type element) {
  return tensor::EmptyOp::create(b, loc, shape, element);
}

Value KernelLowering::filled(ArrayRef<int64_t> shape, Value scalar) {
  Value init = empty(shape, scalar.getType());
  return linalg::FillOp::create(b, loc, scalar, init).getResult(0);
}

SmallVector<utils::IteratorType>
KernelLowering::iterators(unsigned count, ArrayRef<int64_t> reductions) {
  SmallVector<utils::IteratorType> types(count, utils::IteratorType::parallel);
  for (int64_t loop : reductions)
    types[loop] = utils::IteratorType::reduction;
  return types;
}

linalg::GenericOp KernelLowering::generic(ValueRange inputs, ValueRange outputs,
                                          ArrayRef<AffineMap> maps,
                                          ArrayRef<int64_t> reductions,
                                          Body body) {
  SmallVector<Type> results;
  for (Value output : outputs)
    if (isa<RankedTensorType>(output.getType()))
      results.push_back(output.getType());
  return linalg::GenericOp::create(
      b, loc, results, inputs, outputs, maps,
      iterators(maps.front().getNumDims(), reductions),
      [&](OpBuilder &nested, Location, ValueRange operands) {
        OpBuilder::InsertionGuard guard(b);
        b.restoreInsertionPoint(nested.saveInsertionPoint());
        linalg::YieldOp::create(b, loc, body(operands));
      });
}

Value KernelLowering::elementwise(ValueRange inputs, ArrayRef<int64_t> shape,
                                  Type element, Body body) {
  AffineMap identity = b.getMultiDimIdentityMap(shape.size());
  SmallVector<AffineMap> maps(inputs.size() + 1, identity);
  return generic(inputs, empty(shape, element), maps, {}, body).getResult(0);
}

void KernelLowering::loops(ArrayRef<OpFoldResult> sizes,
                           function_ref<void(ValueRange)> body) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> positions;
  for (OpFoldResult size : sizes) {
    auto loop = scf::ForOp::create(b, loc, index(0), value(size), index(1));
    positions.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  body(positions);
}

} // namespace tilec

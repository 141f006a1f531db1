//===- Debug.cpp - What reports to the host ---------------------*- C++ -*-===//
//
// Bounds of scalar indices, assertions and prints become calls of functions of
// the run time, which get the number of the place. The table of places is
// written down as an attribute of the module, so it survives every later pass.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToLinalg/KernelLowering.h"
#include "dialects/Tile/IR/SourcePlace.h"

using namespace mlir;

namespace tilec {

SiteTable::SiteTable(ModuleOp module) : module(module) {
  if (auto table = module->getAttrOfType<ArrayAttr>(kSitesAttr))
    sites.assign(table.begin(), table.end());
}

int64_t SiteTable::add(Operation *op, StringRef kind, StringRef text,
                       ValueRange values) {
  Builder b(module.getContext());
  FileLineColLoc file = tile::findFile(op->getLoc());
  SmallVector<Attribute> types;
  for (Value value : values)
    types.push_back(TypeAttr::get(value.getType()));
  sites.push_back(b.getDictionaryAttr(
      {b.getNamedAttr("kind", b.getStringAttr(kind)),
       b.getNamedAttr(
           "file", b.getStringAttr(file ? file.getFilename().getValue() : "")),
       b.getNamedAttr("line", b.getI64IntegerAttr(file ? file.getLine() : 0)),
       b.getNamedAttr("column",
                      b.getI64IntegerAttr(file ? file.getColumn() : 0)),
       b.getNamedAttr("text", b.getStringAttr(text)),
       b.getNamedAttr("types", b.getArrayAttr(types))}));
  return int64_t(sites.size()) - 1;
}

void SiteTable::finish() {
  if (!sites.empty())
    module->setAttr(kSitesAttr, ArrayAttr::get(module.getContext(), sites));
}

/// Calls a function of the run time, declaring it if it is new.
void KernelLowering::callRuntime(StringRef name, ValueRange operands) {
  auto module = func->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<func::FuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    callee = func::FuncOp::create(b, loc, name,
                                  b.getFunctionType(TypeRange(operands), {}));
    callee.setPrivate();
  }
  func::CallOp::create(b, loc, callee, operands);
}

void KernelLowering::lower(tile::InBoundsOp op) {
  Value extent =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), op.getExtent());
  // Unsigned, so that a negative index is out of range too.
  Value inRange = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                        op.getIndex(), extent);
  if (checked && !op->hasAttr("quiet")) {
    Value violated =
        arith::XOrIOp::create(b, loc, inRange, constantInt(b.getI1Type(), 1));
    auto branch = scf::IfOp::create(b, loc, both(violated, op.getActive()),
                                    /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    int64_t site = sites.add(op, "out_of_range", "");
    callRuntime(
        runtime::kReportIndex,
        {context, constantInt(b.getI64Type(), site), op.getIndex(), extent});
  }
  b.replaceAllUsesWith(op.getResult(), both(inRange, op.getActive()));
}

void KernelLowering::lower(tile::AssertOp op) {
  Value holds = op.getCondition();
  if (auto type = dyn_cast<RankedTensorType>(holds.getType())) {
    SmallVector<int64_t> all =
        llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    AffineMap whole = b.getMultiDimIdentityMap(type.getRank());
    AffineMap none = AffineMap::get(type.getRank(), 0, b.getContext());
    Value init = filled({}, constantInt(b.getI1Type(), 1));
    auto made = generic(holds, init, {whole, none}, all, [&](ValueRange lanes) {
      return SmallVector<Value>{
          combine(tile::ReduceKind::All, lanes[1], lanes[0])};
    });
    holds = tensor::ExtractOp::create(b, loc, made.getResult(0), ValueRange{});
  }
  Value fails =
      arith::XOrIOp::create(b, loc, holds, constantInt(b.getI1Type(), 1));
  auto branch = scf::IfOp::create(b, loc, fails, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  int64_t site = sites.add(op, "assert", op.getMessage());
  callRuntime(runtime::kReportAssert,
              {context, constantInt(b.getI64Type(), site)});
}

void KernelLowering::lower(tile::PrintOp op) {
  int64_t site = sites.add(op, "print", op.getLabel(), op.getValues());
  Type i64 = b.getI64Type();
  // With a value number of -1 the label is printed alone.
  if (op.getValues().empty())
    callRuntime(runtime::kPrint,
                {context, constantInt(i64, site), constantInt(i64, -1),
                 constantInt(i64, 0), constantInt(i64, 0)});
  auto addressOf = [&](Value memory) -> Value {
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
    return arith::IndexCastOp::create(b, loc, i64, address);
  };
  OperandRange valid = op.getValid();
  for (auto [number, printed] : llvm::enumerate(op.getValues())) {
    // The run time reads the elements from memory, in row-major order. An i1
    // goes there as a byte.
    auto type = dyn_cast<RankedTensorType>(printed.getType());
    Type element = type ? type.getElementType() : printed.getType();
    ArrayRef<int64_t> shape = type ? type.getShape() : ArrayRef<int64_t>();
    Type stored = element.isInteger(1) ? b.getI8Type() : element;
    Value memory =
        memref::AllocOp::create(b, loc, MemRefType::get(shape, stored));
    auto convert = [&](Value lane) -> Value {
      if (stored == element)
        return lane;
      return arith::ExtUIOp::create(b, loc, stored, lane);
    };
    if (type) {
      Value tile = printed;
      if (stored != element)
        tile = elementwise(tile, shape, stored, [&](ValueRange lanes) {
          return SmallVector<Value>{convert(lanes.front())};
        });
      auto made = bufferization::MaterializeInDestinationOp::create(
          b, loc, tile, memory);
      made.setWritable(true);
    } else {
      memref::StoreOp::create(b, loc, convert(printed), memory);
    }
    // How many elements there are along each axis; all of them if it says
    // nothing.
    Value extents = constantInt(i64, 0);
    if (!valid.empty() && !shape.empty()) {
      int64_t rank = int64_t(shape.size());
      Value list = memref::AllocOp::create(b, loc, MemRefType::get(rank, i64));
      for (auto [axis, extent] : llvm::enumerate(valid.take_front(rank)))
        memref::StoreOp::create(
            b, loc, arith::IndexCastOp::create(b, loc, i64, extent), list,
            ValueRange(arith::ConstantIndexOp::create(b, loc, int64_t(axis))));
      valid = valid.drop_front(rank);
      extents = addressOf(list);
    }
    callRuntime(runtime::kPrint,
                {context, constantInt(i64, site), constantInt(i64, number),
                 addressOf(memory), extents});
  }
}

} // namespace tilec

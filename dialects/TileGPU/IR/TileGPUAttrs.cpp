//===- TileGPUAttrs.cpp - The layout of a fragment --------------*- C++ -*-===//
//
// Text form, invariants and conversion of `#tilegpu.layout`.
//
//===----------------------------------------------------------------------===//

#include "dialects/TileGPU/IR/TileGPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tilegpu;
using tilec::layout::Basis;
using tilec::layout::InDim;
using tilec::layout::LinearLayout;

#define GET_ATTRDEF_CLASSES
#include "dialects/TileGPU/IR/TileGPUAttrs.cpp.inc"

void TileGPUDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/TileGPU/IR/TileGPUAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Parses `name = [[0, 1], [2, 0]]` onto `bases`; `rank` is 0 until known.
static ParseResult parseBases(AsmParser &parser, StringRef name,
                              SmallVectorImpl<int32_t> &bases, unsigned &rank) {
  auto parseBasis = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    unsigned count = 0;
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
          ++count;
          return parser.parseInteger(bases.emplace_back());
        }))
      return failure();
    if (rank == 0)
      rank = count;
    if (count != rank || count == 0)
      return parser.emitError(loc)
             << "expected " << rank << " coordinates, found " << count;
    return success();
  };
  return failure(
      parser.parseKeyword(name) || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseBasis));
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int32_t> registers, lanes, warps;
  unsigned rank = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseBases(parser, "registers", registers, rank) ||
      parser.parseComma() || parseBases(parser, "lanes", lanes, rank) ||
      parser.parseComma() || parseBases(parser, "warps", warps, rank) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    rank, registers, lanes, warps);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  auto printBases = [&](StringRef name, ArrayRef<int32_t> bases) {
    printer << name << " = [";
    for (size_t i = 0; i < bases.size(); i += getRank()) {
      printer << (i ? ", [" : "[");
      llvm::interleaveComma(bases.slice(i, getRank()), printer);
      printer << ']';
    }
    printer << ']';
  };
  printer << '<';
  printBases("registers", getRegisters());
  printer << ", ";
  printBases("lanes", getLanes());
  printer << ", ";
  printBases("warps", getWarps());
  printer << '>';
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 unsigned rank, ArrayRef<int32_t> registers,
                                 ArrayRef<int32_t> lanes,
                                 ArrayRef<int32_t> warps) {
  if (rank == 0)
    return emitError() << "expected bases of at least 1 coordinate, found 0";
  if (lanes.size() != size_t(5) * rank)
    return emitError() << "expected 5 bases of lanes, found "
                       << lanes.size() / rank;
  for (ArrayRef<int32_t> bases : {registers, lanes, warps})
    for (int32_t coordinate : bases)
      if (coordinate < 0)
        return emitError() << "expected coordinates of at least 0, found "
                           << coordinate;
  return success();
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

LinearLayout LayoutAttr::toLinear(ArrayRef<int64_t> shape) const {
  auto split = [&](ArrayRef<int32_t> flat) {
    SmallVector<Basis> bases;
    for (size_t i = 0; i < flat.size(); i += getRank())
      bases.emplace_back(flat.slice(i, getRank()));
    return bases;
  };
  return LinearLayout(shape, split(getRegisters()), split(getLanes()),
                      split(getWarps()));
}

LayoutAttr LayoutAttr::get(MLIRContext *context, const LinearLayout &layout) {
  auto flatten = [&](InDim dim) {
    SmallVector<int32_t> flat;
    for (const Basis &basis : layout.bases(dim))
      llvm::append_range(flat, basis);
    return flat;
  };
  return get(context, layout.rank(), flatten(InDim::Register),
             flatten(InDim::Lane), flatten(InDim::Warp));
}

LayoutAttr mlir::tilegpu::getLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_if_present<LayoutAttr>(tensor.getEncoding())
                : LayoutAttr();
}

RankedTensorType mlir::tilegpu::withLayout(RankedTensorType type,
                                           const LinearLayout &layout) {
  if (type.getRank() == 0)
    return type;
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               LayoutAttr::get(type.getContext(), layout));
}

LinearLayout mlir::tilegpu::getLinearLayout(RankedTensorType type) {
  return getLayout(type).toLinear(type.getShape());
}

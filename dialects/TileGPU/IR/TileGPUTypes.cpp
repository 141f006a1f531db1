//===- TileGPUTypes.cpp - The shared buffer type ----------------*- C++ -*-===//
//
// Text form, invariants and sizes of `!tilegpu.buffer`.
//
//===----------------------------------------------------------------------===//

#include "dialects/TileGPU/IR/TileGPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tilegpu;

#define GET_TYPEDEF_CLASSES
#include "dialects/TileGPU/IR/TileGPUTypes.cpp.inc"

void TileGPUDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/TileGPU/IR/TileGPUTypes.cpp.inc"
      >();
}

int64_t mlir::tilegpu::getElementBytes(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  int64_t slots, phaseRows, phases;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseInteger(slots) ||
      parser.parseKeyword("x") ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false,
                                /*withTrailingX=*/true) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parser.parseKeyword("phase_rows") || parser.parseEqual() ||
      parser.parseInteger(phaseRows) || parser.parseComma() ||
      parser.parseKeyword("phases") || parser.parseEqual() ||
      parser.parseInteger(phases) || parser.parseGreater())
    return {};
  if (shape.size() != 2) {
    parser.emitError(loc) << "expected rows and columns, found " << shape.size()
                          << " extents";
    return {};
  }
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    slots, shape[0], shape[1], elementType, phaseRows, phases);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<' << getSlots() << " x " << getRows() << 'x' << getColumns()
          << 'x' << getElementType() << ", phase_rows = " << getPhaseRows()
          << ", phases = " << getPhases() << '>';
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t slots, int64_t rows, int64_t columns,
                                 Type elementType, int64_t phaseRows,
                                 int64_t phases) {
  if (slots < 1)
    return emitError() << "expected at least 1 slot, found " << slots;
  if (!elementType.isIntOrFloat())
    return emitError() << "expected elements of a number type, found "
                       << elementType;
  for (int64_t value : {rows, columns, phaseRows, phases})
    if (value < 1 || !llvm::isPowerOf2_64(value))
      return emitError() << "expected extents and phases that are powers of "
                            "two, found "
                         << value;
  int64_t chunks = columns * mlir::tilegpu::getElementBytes(elementType) / 16;
  if (phases > 1 && phases > chunks)
    return emitError() << "expected at most as many phases as 16-byte chunks "
                          "in a row ("
                       << chunks << "), found " << phases;
  return success();
}

int64_t BufferType::getElementBytes() const {
  return mlir::tilegpu::getElementBytes(getElementType());
}

int64_t BufferType::getSlotBytes() const {
  return llvm::alignTo(getRows() * getColumns() * getElementBytes(), 16);
}

BufferType BufferType::withSlots(int64_t slots) const {
  return get(getContext(), slots, getRows(), getColumns(), getElementType(),
             getPhaseRows(), getPhases());
}

BufferType BufferType::forTile(ArrayRef<int64_t> shape, Type elementType) {
  int64_t columns = shape.empty() ? 1 : shape.back(), rows = 1;
  for (int64_t extent : shape.drop_back(shape.empty() ? 0 : 1))
    rows *= extent;
  // Eight rows of one chunk each, which is what ldmatrix reads at a time, are
  // to fall into the eight different groups of four banks. A row of 128 bytes
  // or more covers all groups, so every row shifts the chunks by one; shorter
  // rows share the 128 bytes.
  int64_t rowBytes = columns * mlir::tilegpu::getElementBytes(elementType);
  int64_t chunks = rowBytes / 16;
  int64_t phases = std::clamp<int64_t>(chunks, 1, 8);
  int64_t phaseRows = phases == 1 ? 1 : std::max<int64_t>(1, 128 / rowBytes);
  return get(elementType.getContext(), 1, rows, columns, elementType, phaseRows,
             phases);
}

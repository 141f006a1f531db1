//===- MatrixPacking.cpp - Operands made good to read -----------*- C++ -*-===//
//
// Copies operands of a matrix product into the order in which the innermost
// loop reads them. A copy along contiguous memory is left to LLVM, as a
// linalg.generic. Where the source is contiguous the other way, square blocks
// are transposed in registers: log2(T) stages, in stage d of which rows i and
// i + d exchange their blocks of d elements.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/MatrixKernel.h"
#include "codegen/TileToLinalg/IndexMath.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace tilec {

Value MatrixKernel::widen(Value x, Type target, bool isUnsigned) {
  Type from = getElementTypeOrSelf(x);
  if (from == target)
    return x;
  Type type = target;
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    type = vector.clone(target);
  if (isa<FloatType>(target))
    return arith::ExtFOp::create(b, loc, type, x);
  if (isUnsigned)
    return arith::ExtUIOp::create(b, loc, type, x);
  return arith::ExtSIOp::create(b, loc, type, x);
}

/// A matrix as a memref of two dimensions.
Value MatrixKernel::view(const Matrix &matrix, int64_t rows, int64_t columns) {
  SmallVector<int64_t> strides = {knownOrDynamic(matrix.rowStride),
                                  knownOrDynamic(matrix.columnStride)};
  auto layout =
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides);
  auto type = MemRefType::get({rows, columns}, matrix.element(), layout);
  SmallVector<OpFoldResult> sizes = {index(rows), index(columns)};
  SmallVector<OpFoldResult> steps = {foldIndex(b, matrix.rowStride),
                                     foldIndex(b, matrix.columnStride)};
  return memref::ReinterpretCastOp::create(b, loc, type, matrix.flat,
                                           OpFoldResult(value(matrix.offset)),
                                           sizes, steps);
}

Matrix MatrixKernel::allocate(int64_t rows, int64_t columns) {
  Value flat = memref::AllocOp::create(
      b, loc, MemRefType::get({rows * columns}, element));
  return {flat, index(0), index(columns), index(1)};
}

/// Whether B cannot be read as it is: columns apart, narrow, or in a layout in
/// which the rows of a panel fall into few sets of the cache, read often.
bool MatrixKernel::mustPack(const Matrix &bMatrix, int64_t m) const {
  if (!isConstantIntValue(bMatrix.columnStride, 1) ||
      bMatrix.element() != element)
    return true;
  std::optional<int64_t> stride = getConstantIntValue(bMatrix.rowStride);
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  bool crowded = !stride || *stride * bytes % 1024 == 0;
  return crowded && m > 2 * blockRows;
}

MatrixKernel::Panels MatrixKernel::pack(const Matrix &from, int64_t k,
                                        int64_t n) {
  int64_t width = panelWidth();
  int64_t whole = n / width, tail = n % width;
  int64_t tailWidth = llvm::alignTo(tail, lanes);
  Matrix buffer = allocate(k, whole * width + tailWidth);
  loop(whole, [&](Value panel) {
    OpFoldResult number = foldIndex(b, panel);
    Matrix to = buffer;
    to.offset = times(number, index(k * width));
    to.rowStride = index(width);
    packPart(at(from, index(0), times(number, index(width))), to, k, width);
  });
  Matrix last = buffer;
  last.offset = index(whole * k * width);
  last.rowStride = index(tailWidth);
  if (tail) {
    packPart(at(from, index(0), index(whole * width)), last, k, tail);
    if (tailWidth > tail)
      fillZero(at(last, index(0), index(tail)), k, tailWidth - tail);
  }
  return {buffer.flat, index(0),       index(width),   index(k * width),
          last.offset, last.rowStride, /*padded=*/true};
}

void MatrixKernel::copy(const Matrix &from, const Matrix &to, int64_t rows,
                        int64_t columns) {
  element = to.element();
  lanes = machine.vectorBytes / (element.getIntOrFloatBitWidth() / 8);
  // A vector of bytes has so many lanes that the shuffles would be endless.
  lanes = std::min<int64_t>(lanes, 16);
  packPart(from, to, rows, columns);
}

void MatrixKernel::packPart(const Matrix &from, const Matrix &to, int64_t rows,
                            int64_t columns) {
  bool alongRows = isConstantIntValue(from.rowStride, 1) &&
                   !isConstantIntValue(from.columnStride, 1);
  // Blocks of as many rows and columns as a vector has lanes.
  bool isPower = llvm::isPowerOf2_64(lanes);
  int64_t wholeRows = alongRows && isPower ? rows / lanes * lanes : 0;
  int64_t wholeColumns = wholeRows ? columns / lanes * lanes : 0;
  if (wholeRows && wholeColumns)
    transposeBlocks(from, to, wholeRows, wholeColumns);
  else
    wholeRows = wholeColumns = 0;
  // Below the blocks, and to the right of them.
  if (rows > wholeRows && wholeColumns)
    copyPart(at(from, index(wholeRows), index(0)),
             at(to, index(wholeRows), index(0)), rows - wholeRows,
             wholeColumns);
  if (columns > wholeColumns)
    copyPart(at(from, index(0), index(wholeColumns)),
             at(to, index(0), index(wholeColumns)), rows,
             columns - wholeColumns);
}

void MatrixKernel::copyPart(const Matrix &from, const Matrix &to, int64_t rows,
                            int64_t columns) {
  AffineMap identity = b.getMultiDimIdentityMap(2);
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  linalg::GenericOp::create(
      b, loc, view(from, rows, columns), view(to, rows, columns),
      ArrayRef<AffineMap>{identity, identity}, loops,
      [&](OpBuilder &nested, Location, ValueRange operands) {
        OpBuilder::InsertionGuard guard(b);
        b.restoreInsertionPoint(nested.saveInsertionPoint());
        linalg::YieldOp::create(
            b, loc, widen(operands.front(), element, from.isUnsigned));
      });
}

void MatrixKernel::fillZero(const Matrix &matrix, int64_t rows,
                            int64_t columns) {
  Value zero =
      arith::ConstantOp::create(b, loc, element, b.getZeroAttr(element));
  linalg::FillOp::create(b, loc, zero, view(matrix, rows, columns));
}

/// to += from
void MatrixKernel::accumulate(const Matrix &from, const Matrix &to,
                              int64_t rows, int64_t columns) {
  AffineMap identity = b.getMultiDimIdentityMap(2);
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  linalg::GenericOp::create(
      b, loc, view(from, rows, columns), view(to, rows, columns),
      ArrayRef<AffineMap>{identity, identity}, loops,
      [&](OpBuilder &nested, Location loc, ValueRange lanes) {
        Value sum;
        if (isa<FloatType>(element))
          sum = arith::AddFOp::create(nested, loc, lanes[1], lanes[0]);
        else
          sum = arith::AddIOp::create(nested, loc, lanes[1], lanes[0]);
        linalg::YieldOp::create(nested, loc, sum);
      });
}

void MatrixKernel::transposeBlocks(const Matrix &from, const Matrix &to,
                                   int64_t rows, int64_t columns) {
  auto narrow = VectorType::get({lanes}, from.element());
  loop(columns / lanes, [&](Value columnBlock) {
    loop(rows / lanes, [&](Value rowBlock) {
      OpFoldResult row = times(foldIndex(b, rowBlock), index(lanes));
      OpFoldResult column = times(foldIndex(b, columnBlock), index(lanes));
      Matrix source = at(from, row, column), target = at(to, row, column);
      SmallVector<Value> vectors;
      for (int64_t i = 0; i < lanes; ++i) {
        OpFoldResult offset = at(source, index(0), index(i)).offset;
        Value read =
            vector::LoadOp::create(b, loc, narrow, from.flat, value(offset));
        vectors.push_back(widen(read, element, from.isUnsigned));
      }
      for (int64_t d = lanes / 2; d >= 1; d /= 2) {
        SmallVector<int64_t> low, high;
        for (int64_t lane = 0; lane < lanes; ++lane) {
          bool second = lane & d;
          low.push_back(second ? lanes + lane - d : lane);
          high.push_back(second ? lanes + lane : lane + d);
        }
        for (int64_t i = 0; i < lanes; ++i) {
          if (i & d)
            continue;
          Value x = vectors[i], y = vectors[i + d];
          vectors[i] = vector::ShuffleOp::create(b, loc, x, y, low);
          vectors[i + d] = vector::ShuffleOp::create(b, loc, x, y, high);
        }
      }
      for (int64_t i = 0; i < lanes; ++i) {
        OpFoldResult offset = at(target, index(i), index(0)).offset;
        vector::StoreOp::create(b, loc, vectors[i], to.flat, value(offset));
      }
    });
  });
}

} // namespace tilec

//===- MatrixKernel.cpp - A register-blocked matrix product -----*- C++ -*-===//
//
// Blocking for the caches and for the registers, and the innermost loop.
// MatrixPacking.cpp has the packing.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/MatrixKernel.h"
#include "codegen/TileToLinalg/IndexMath.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilec {

/// What a block may take of the caches: a panel of B half of a first-level
/// cache of 32 KB, all of B and of A each a part of a second-level one.
static constexpr int64_t maxBlockK = 256;
static constexpr int64_t maxBlockN = 512;
static constexpr int64_t maxBlockM = 256;

OpFoldResult MatrixKernel::times(OpFoldResult x, OpFoldResult y) {
  return multiplyIndex(b, loc, x, y);
}
OpFoldResult MatrixKernel::plus(OpFoldResult x, OpFoldResult y) {
  return addIndex(b, loc, x, y);
}
Value MatrixKernel::value(OpFoldResult x) { return indexValue(b, loc, x); }

Matrix MatrixKernel::at(Matrix matrix, OpFoldResult row, OpFoldResult column) {
  matrix.offset = plus(matrix.offset, plus(times(row, matrix.rowStride),
                                           times(column, matrix.columnStride)));
  return matrix;
}

void MatrixKernel::loop(int64_t count, function_ref<void(Value)> body) {
  if (count == 0)
    return;
  if (count == 1)
    return body(value(index(0)));
  auto loop = scf::ForOp::create(b, loc, value(index(0)), value(index(count)),
                                 value(index(1)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void MatrixKernel::blocked(
    int64_t total, int64_t block,
    function_ref<void(OpFoldResult begin, int64_t size)> body) {
  int64_t whole = total / block;
  if (whole == 1)
    body(index(0), block);
  else
    loop(whole,
         [&](Value number) { body(times(number, index(block)), block); });
  if (int64_t rest = total % block)
    body(index(whole * block), rest);
}

/// The accumulators fill most registers; a few are for the vectors of B and
/// the broadcast element. With few rows the block is wider instead: it takes
/// about eight independent sums to hide the latency of a multiply-add.
void MatrixKernel::chooseBlocks(int64_t m, int64_t n) {
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  lanes = std::max<int64_t>(machine.vectorBytes / bytes, 1);
  int64_t vectors = llvm::divideCeil(n, lanes);
  bool many = machine.vectorRegisters >= 32;
  blockRows = many ? 8 : 4;
  blockVectors = 2;
  if (many && vectors == 1)
    blockRows = 14;
  if (m < blockRows) {
    blockRows = m;
    blockVectors = (many ? 24 : 10) / (m + 1);
  }
  blockVectors = std::min(std::max<int64_t>(blockVectors, 1), vectors);
}

/// The greatest size of at most `most` that divides `total`, if there is one
/// near; every remainder costs code.
static int64_t evenBlock(int64_t total, int64_t most, int64_t multiple) {
  if (total <= most)
    return total;
  for (int64_t block = most; block >= most / 2; block -= multiple)
    if (total % block == 0)
      return block;
  return most;
}

void MatrixKernel::emit(const Matrix &a, const Matrix &bMatrix, const Matrix &c,
                        int64_t m, int64_t n, int64_t k) {
  element = c.element();
  Matrix left = a, sum = c;
  if (a.element() != element) {
    left = allocate(m, k);
    copyPart(a, left, m, k);
  }
  // The sums are loaded and stored as vectors along the columns.
  bool contiguous = isConstantIntValue(c.columnStride, 1);
  if (!contiguous) {
    sum = allocate(m, n);
    fillZero(sum, m, n);
  }
  emitBlocks(left, bMatrix, sum, m, n, k);
  if (!contiguous)
    accumulate(sum, c, m, n);
}

void MatrixKernel::emitBlocks(const Matrix &a, const Matrix &bMatrix,
                              const Matrix &c, int64_t m, int64_t n,
                              int64_t k) {
  chooseBlocks(m, n);
  int64_t blockK = evenBlock(k, maxBlockK, 8);
  int64_t blockN = evenBlock(n, maxBlockN, panelWidth());
  int64_t blockM = evenBlock(m, maxBlockM, blockRows);
  blockN -= blockN < n ? blockN % panelWidth() : 0;
  blockM -= blockM < m ? blockM % blockRows : 0;
  blocked(n, blockN, [&](OpFoldResult firstN, int64_t sizeN) {
    blocked(k, blockK, [&](OpFoldResult firstK, int64_t sizeK) {
      blocked(m, blockM, [&](OpFoldResult firstM, int64_t sizeM) {
        // B is packed again for each block of rows, which is rare: a tile with
        // more than one has hundreds of rows to spread that over.
        emitBlock(at(a, firstM, firstK), at(bMatrix, firstK, firstN),
                  at(c, firstM, firstN), sizeM, sizeN, sizeK);
      });
    });
  });
}

void MatrixKernel::emitBlock(const Matrix &a, const Matrix &bMatrix,
                             const Matrix &c, int64_t m, int64_t n, int64_t k) {
  int64_t width = panelWidth();
  int64_t wholePanels = n / width, tail = n % width;
  Panels panels;
  if (mustPack(bMatrix, m)) {
    panels = pack(bMatrix, k, n);
  } else {
    OpFoldResult tailOffset = plus(bMatrix.offset, index(wholePanels * width));
    panels = {bMatrix.flat, bMatrix.offset,    bMatrix.rowStride, index(width),
              tailOffset,   bMatrix.rowStride, /*padded=*/false};
  }
  loop(wholePanels, [&](Value panel) {
    OpFoldResult number = foldIndex(b, panel);
    emitPanel(a, panels.flat,
              plus(panels.offset, times(number, panels.panelStride)),
              panels.rowStride, panels.padded,
              at(c, index(0), times(number, index(width))), m, width, k);
  });
  if (tail)
    emitPanel(a, panels.flat, panels.tailOffset, panels.tailRowStride,
              panels.padded, at(c, index(0), index(wholePanels * width)), m,
              tail, k);
}

/// All rows of a block with one panel.
void MatrixKernel::emitPanel(const Matrix &a, Value panelFlat,
                             OpFoldResult panelOffset, OpFoldResult rowStride,
                             bool padded, const Matrix &c, int64_t m,
                             int64_t columns, int64_t k) {
  blocked(m, blockRows, [&](OpFoldResult first, int64_t rows) {
    emitRegisters(at(a, first, index(0)), panelFlat, panelOffset, rowStride,
                  padded, at(c, first, index(0)), rows, columns, k);
  });
}

void MatrixKernel::emitRegisters(const Matrix &a, Value panelFlat,
                                 OpFoldResult panelOffset,
                                 OpFoldResult rowStride, bool padded,
                                 const Matrix &c, int64_t rows, int64_t columns,
                                 int64_t k) {
  auto type = VectorType::get({lanes}, element);
  int64_t vectors = llvm::divideCeil(columns, lanes);
  int64_t lastLanes = columns - (vectors - 1) * lanes;
  Value mask, zeros;
  if (lastLanes != lanes) {
    mask = vector::ConstantMaskOp::create(
        b, loc, VectorType::get({lanes}, b.getI1Type()),
        ArrayRef<int64_t>{lastLanes});
    zeros = arith::ConstantOp::create(b, loc, type, b.getZeroAttr(type));
  }
  auto load = [&](Value flat, OpFoldResult offset, bool masked) -> Value {
    if (masked)
      return vector::MaskedLoadOp::create(b, loc, type, flat, value(offset),
                                          mask, zeros);
    return vector::LoadOp::create(b, loc, type, flat, value(offset));
  };
  auto isMasked = [&](int64_t v) { return mask && v == vectors - 1; };
  auto positionInC = [&](int64_t row, int64_t v) {
    return at(c, index(row), index(v * lanes)).offset;
  };

  SmallVector<Value> sums;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t v = 0; v < vectors; ++v)
      sums.push_back(load(c.flat, positionInC(row, v), isMasked(v)));

  // Where each row of A begins; the loop adds what k contributes.
  SmallVector<OpFoldResult> rowOffsets;
  for (int64_t row = 0; row < rows; ++row)
    rowOffsets.push_back(at(a, index(row), index(0)).offset);
  auto step = [&](OpFoldResult position, ValueRange before) {
    OpFoldResult inPanel = plus(panelOffset, times(position, rowStride));
    SmallVector<Value> after, row;
    for (int64_t v = 0; v < vectors; ++v)
      row.push_back(load(panelFlat, plus(inPanel, index(v * lanes)),
                         !padded && isMasked(v)));
    for (int64_t r = 0; r < rows; ++r) {
      OpFoldResult inRow = plus(rowOffsets[r], times(position, a.columnStride));
      Value lane = memref::LoadOp::create(b, loc, a.flat, value(inRow));
      Value all = vector::BroadcastOp::create(b, loc, type, lane);
      for (int64_t v = 0; v < vectors; ++v) {
        Value sum = before[r * vectors + v];
        if (isa<FloatType>(element)) {
          // Becomes one instruction where the host has it.
          auto contract = arith::FastMathFlags::contract;
          Value product = arith::MulFOp::create(b, loc, all, row[v], contract);
          sum = arith::AddFOp::create(b, loc, sum, product, contract);
        } else {
          Value product = arith::MulIOp::create(b, loc, all, row[v]);
          sum = arith::AddIOp::create(b, loc, sum, product);
        }
        after.push_back(sum);
      }
    }
    return after;
  };
  auto inner = scf::ForOp::create(
      b, loc, value(index(0)), value(index(k)), value(index(1)), sums,
      [&](OpBuilder &nested, Location, Value position, ValueRange before) {
        OpBuilder::InsertionGuard guard(b);
        b.restoreInsertionPoint(nested.saveInsertionPoint());
        scf::YieldOp::create(b, loc, step(position, before));
      });

  for (int64_t row = 0; row < rows; ++row)
    for (int64_t v = 0; v < vectors; ++v) {
      Value sum = inner.getResult(row * vectors + v);
      Value position = value(positionInC(row, v));
      if (isMasked(v))
        vector::MaskedStoreOp::create(b, loc, c.flat, position, mask, sum);
      else
        vector::StoreOp::create(b, loc, sum, c.flat, position);
    }
}

} // namespace tilec

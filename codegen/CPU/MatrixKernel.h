//===- MatrixKernel.h - A register-blocked matrix product -------*- C++ -*-===//
//
// Emits C += A * B for matrices in memory with any strides, sizes known, as
// loops over vectors. The scheme is that of every fast matrix product on a
// processor:
//
//   for each panel of B, NR columns wide          (stays in the nearest cache)
//     for each MR rows of A
//       MR x NR accumulators, in vector registers
//       for each k: row k of the panel is NR / lanes vectors; each element of
//                   column k of A is broadcast and multiplied with them
//
// B is repacked, so that a panel is one contiguous stretch, unless it already
// is good to read that way; narrow elements become wide on the way. A is read
// element by element, so its layout matters little. What is left of M and N
// after whole blocks gets code of its own, with masked vectors for the last
// columns.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CPU_MATRIXKERNEL_H
#define TILEC_CODEGEN_CPU_MATRIXKERNEL_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tilec {

/// A matrix: element (i, j) is flat[offset + i * rowStride + j * columnStride].
struct Matrix {
  /// memref<?xT, strided<[1]>>, from the beginning of the allocation.
  mlir::Value flat;
  mlir::OpFoldResult offset, rowStride, columnStride;
  bool isUnsigned = false; // Of narrow integers.

  mlir::Type element() const {
    return llvm::cast<mlir::MemRefType>(flat.getType()).getElementType();
  }
};

/// The machine, as far as it matters here.
struct VectorMachine {
  unsigned vectorBytes;
  unsigned vectorRegisters;
};

class MatrixKernel {
public:
  MatrixKernel(mlir::OpBuilder &b, mlir::Location loc,
               const VectorMachine &machine)
      : b(b), loc(loc), machine(machine) {}

  /// C[m, n] += A[m, k] * B[k, n], in the element type of C.
  void emit(const Matrix &a, const Matrix &bMatrix, const Matrix &c, int64_t m,
            int64_t n, int64_t k);

  /// to[i, j] = from[i, j], of one element type, where the rows of `to` and the
  /// columns of `from` are contiguous.
  void copy(const Matrix &from, const Matrix &to, int64_t rows,
            int64_t columns);

private:
  /// B as the innermost loops read it.
  struct Panels {
    mlir::Value flat;
    mlir::OpFoldResult offset;
    mlir::OpFoldResult rowStride;   // From one k to the next.
    mlir::OpFoldResult panelStride; // From one panel to the next.
    /// Of the last panel, which is narrower.
    mlir::OpFoldResult tailOffset, tailRowStride;
    bool padded; // Vectors may be read whole at the end of a row.
  };

  void chooseBlocks(int64_t m, int64_t n);
  void emitBlocks(const Matrix &a, const Matrix &bMatrix, const Matrix &c,
                  int64_t m, int64_t n, int64_t k);
  void emitBlock(const Matrix &a, const Matrix &bMatrix, const Matrix &c,
                 int64_t m, int64_t n, int64_t k);
  bool mustPack(const Matrix &bMatrix, int64_t m) const;
  Panels pack(const Matrix &from, int64_t k, int64_t n);
  void packPart(const Matrix &from, const Matrix &to, int64_t rows,
                int64_t columns);
  void copyPart(const Matrix &from, const Matrix &to, int64_t rows,
                int64_t columns);
  void transposeBlocks(const Matrix &from, const Matrix &to, int64_t rows,
                       int64_t columns);
  void emitPanel(const Matrix &a, mlir::Value panelFlat,
                 mlir::OpFoldResult panelOffset, mlir::OpFoldResult rowStride,
                 bool padded, const Matrix &c, int64_t m, int64_t columns,
                 int64_t k);
  void emitRegisters(const Matrix &a, mlir::Value panelFlat,
                     mlir::OpFoldResult panelOffset,
                     mlir::OpFoldResult rowStride, bool padded, const Matrix &c,
                     int64_t rows, int64_t columns, int64_t k);

  /// Calls `body` for stretches of at most `block` of `total`: in a loop for
  /// the whole ones, once more for the rest.
  void blocked(
      int64_t total, int64_t block,
      llvm::function_ref<void(mlir::OpFoldResult begin, int64_t size)> body);
  void loop(int64_t count, llvm::function_ref<void(mlir::Value)> body);

  mlir::OpFoldResult times(mlir::OpFoldResult x, mlir::OpFoldResult y);
  mlir::OpFoldResult plus(mlir::OpFoldResult x, mlir::OpFoldResult y);
  mlir::OpFoldResult index(int64_t value) { return b.getIndexAttr(value); }
  mlir::Value value(mlir::OpFoldResult x);
  /// The part of a matrix that begins at a row and a column.
  Matrix at(Matrix matrix, mlir::OpFoldResult row, mlir::OpFoldResult column);
  mlir::Value view(const Matrix &matrix, int64_t rows, int64_t columns);
  mlir::Value widen(mlir::Value lanes, mlir::Type element, bool isUnsigned);
  Matrix allocate(int64_t rows, int64_t columns);
  void fillZero(const Matrix &matrix, int64_t rows, int64_t columns);
  void accumulate(const Matrix &from, const Matrix &to, int64_t rows,
                  int64_t columns);

  mlir::OpBuilder &b;
  mlir::Location loc;
  VectorMachine machine;
  mlir::Type element; // Of C, in which all is computed.
  int64_t lanes = 1;  // Of a vector.
  int64_t blockRows = 1, blockVectors = 1;

  int64_t panelWidth() const { return blockVectors * lanes; }
};

} // namespace tilec

#endif // TILEC_CODEGEN_CPU_MATRIXKERNEL_H

//===- KernelLowering.h - Lowers one kernel (internal) ----------*- C++ -*-===//
//
// The state that the parts of `convert-tile-to-linalg` share. The kernel's body
// is moved into a function, then every tile op is rewritten where it stands, in
// program order: an op sees its operands already lowered. There are no
// patterns, because nothing here depends on what comes later, and because a
// view becomes several values.
//
// The parts: KernelLowering.cpp the function and the grid, BlockAccess.cpp
// loads and stores of blocks, Gather.cpp computed positions, Shape.cpp and
// Compute.cpp the ops on tiles, Random.cpp Philox and tf32, Elementwise.cpp
// arith and math, Debug.cpp what reports.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_TILETOLINALG_KERNELLOWERING_H
#define TILEC_CODEGEN_TILETOLINALG_KERNELLOWERING_H

#include "codegen/TileToLinalg/Passes.h"
#include "dialects/Tile/IR/Tile.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tilec {

/// A view after lowering: where it begins, how far it reaches, how to step.
struct LoweredView {
  /// The first element's allocation, a rank-0 memref, and what to skip.
  mlir::Value base;
  mlir::OpFoldResult offset;
  llvm::SmallVector<mlir::OpFoldResult> sizes, strides;
  /// The positions of the argument's dimensions that slices have fixed.
  llvm::SmallVector<mlir::Value> fixed;
  /// If given and false, the view is empty.
  mlir::Value predicate;
  mlir::tile::Access access;
  /// Number of the kernel's argument.
  unsigned argument;

  unsigned rank() const { return sizes.size(); }
};

/// The places in a module that report, and their table.
class SiteTable {
public:
  explicit SiteTable(mlir::ModuleOp module);
  /// Adds a site at an op's location and returns its number.
  int64_t add(mlir::Operation *op, llvm::StringRef kind, llvm::StringRef text,
              mlir::ValueRange values = {});
  /// Writes the table to the module.
  void finish();

private:
  mlir::ModuleOp module;
  llvm::SmallVector<mlir::Attribute> sites;
};

class KernelLowering {
public:
  KernelLowering(mlir::tile::KernelOp kernel, SiteTable &sites, bool checked);
  mlir::LogicalResult run();

private:
  // The function and the grid (KernelLowering.cpp).
  mlir::LogicalResult check();
  mlir::LogicalResult createFunctions();
  mlir::Type lowerArgumentType(unsigned argument);
  void lowerArguments(mlir::func::FuncOp func, mlir::tile::KernelOp from);
  mlir::Value emitProgramCount(mlir::scf::ForallOp grid,
                               llvm::SmallVectorImpl<mlir::Value> *counts);
  mlir::LogicalResult lowerGrid();
  mlir::LogicalResult lowerBody(mlir::Operation *root);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  void lower(mlir::tile::DimOp op);
  void lower(mlir::tile::ValidOp op);
  void lower(mlir::tile::SliceOp op);
  void hoistAddresses();

  // Blocks of views (BlockAccess.cpp).
  struct TileBlock;
  TileBlock blockOf(mlir::Value view, mlir::ValueRange indices,
                    mlir::ValueRange valid, mlir::Value predicate,
                    llvm::ArrayRef<int64_t> dims,
                    llvm::ArrayRef<int64_t> shape);
  mlir::Value blockMemRef(const TileBlock &block,
                          llvm::ArrayRef<mlir::OpFoldResult> sizes);
  mlir::Value allocateLike(const TileBlock &block);
  void copyValid(const TileBlock &block, mlir::Value buffer, bool toBuffer);
  mlir::Value blockOrBuffer(const TileBlock &block, mlir::Value buffer,
                            llvm::function_ref<void()> prepare);
  void lower(mlir::tile::LoadOp op);
  /// Whether no other program writes an element that the store writes.
  bool isOwn(mlir::tile::StoreOp op) const;
  void lower(mlir::tile::StoreOp op);
  void lower(mlir::tile::AtomicAddOp op);
  void emitAtomicAdd(mlir::Value value, mlir::Value memref,
                     mlir::ValueRange indices);

  // Computed positions (Gather.cpp).
  /// A block of `view` that is the whole of it.
  mlir::Value viewMemRef(const LoweredView &view);
  /// From the indices of one lane: the position to access, and whether it may
  /// be. Reports a violation in a checked build.
  mlir::Value checkIndices(const LoweredView &view, mlir::ValueRange indices,
                           mlir::Value mask, int64_t site,
                           llvm::SmallVectorImpl<mlir::Value> &position);
  void lower(mlir::tile::GatherOp op);
  void lower(mlir::tile::ScatterAddOp op);

  // Ops on tiles (Shape.cpp, Compute.cpp, Random.cpp).
  void lower(mlir::tile::IotaOp op);
  void lower(mlir::tile::BroadcastOp op);
  void lower(mlir::tile::SelectValidOp op);
  void lower(mlir::tensor::SplatOp op);
  void lower(mlir::arith::ConstantOp op);
  void lower(mlir::tile::DotOp op);
  void lower(mlir::tile::ReduceOp op);
  void lower(mlir::tile::ArgReduceOp op);
  void lower(mlir::tile::ScanOp op);
  void lower(mlir::tile::RandomOp op);
  void lower(mlir::tile::RoundTF32Op op);
  void lower(mlir::tile::GeluOp op);
  /// An op of one operand, as a function of its lanes.
  void lowerUnary(mlir::Operation *op,
                  llvm::function_ref<mlir::Value(mlir::Value)> compute);
  void lowerElementwise(mlir::Operation *op);

  // What reports (Debug.cpp).
  void lower(mlir::tile::InBoundsOp op);
  void lower(mlir::tile::AssertOp op);
  void lower(mlir::tile::PrintOp op);
  void callRuntime(llvm::StringRef name, mlir::ValueRange operands);

  // Small builders. All insert at `b`'s insertion point with `loc`.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::ValueRange operands)>;
  mlir::Value index(int64_t value);
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value constantInt(mlir::Type type, int64_t value);
  mlir::Value padConstant(mlir::tile::Pad pad, mlir::Type type);
  mlir::Value toIndex(mlir::Value i64);
  mlir::Value value(mlir::OpFoldResult size);
  mlir::OpFoldResult multiply(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult add(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::Value both(mlir::Value a, mlir::Value b); // Either may be null.
  mlir::Value empty(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  mlir::Value filled(llvm::ArrayRef<int64_t> shape, mlir::Value scalar);
  /// A linalg.generic whose loops are those of `maps`, one map per input and
  /// output; `reductions` are the loops that are not parallel.
  mlir::linalg::GenericOp generic(mlir::ValueRange inputs,
                                  mlir::ValueRange outputs,
                                  llvm::ArrayRef<mlir::AffineMap> maps,
                                  llvm::ArrayRef<int64_t> reductions,
                                  Body body);
  /// One result of `shape`, every lane computed from the lanes of `inputs`.
  mlir::Value elementwise(mlir::ValueRange inputs,
                          llvm::ArrayRef<int64_t> shape, mlir::Type element,
                          Body body);
  /// Loops from 0 to each size around `body`.
  void loops(llvm::ArrayRef<mlir::OpFoldResult> sizes,
             llvm::function_ref<void(mlir::ValueRange)> body);
  mlir::Value roundTF32(mlir::Value scalar);
  mlir::Value philox(mlir::Value seed, mlir::Value offset);
  /// The combination of two scalars by a reduction, and its neutral element.
  mlir::Value combine(mlir::tile::ReduceKind kind, mlir::Value a,
                      mlir::Value b);
  mlir::Value neutral(mlir::tile::ReduceKind kind, mlir::Type type);
  llvm::SmallVector<mlir::utils::IteratorType>
  iterators(unsigned count, llvm::ArrayRef<int64_t> reductions);

  mlir::tile::KernelOp kernel;
  SiteTable &sites;
  bool checked;
  mlir::IRRewriter b;
  mlir::Location loc;
  mlir::func::FuncOp func;
  mlir::Value context;
  llvm::DenseMap<mlir::Value, LoweredView> views;
  /// An axis of the grid: where a program's tiles along it begin, and how far
  /// the next program's are from there, 0 if that is not known.
  struct ProgramAxis {
    mlir::Value position;
    int64_t step;
  };
  llvm::SmallVector<ProgramAxis> programAxes;
};

} // namespace tilec

#endif // TILEC_CODEGEN_TILETOLINALG_KERNELLOWERING_H

//===- LoweringImpl.h - The lowering's state and parts ----------*- C++ -*-===//
//
// One object lowers one kernel. Its members are spread over files by what they
// lower:
//
//   Lowering.cpp        the driver: signature, schedule, grid
//   LoweringValues.cpp  axes as shapes: extents, positions, broadcasts, pads
//   LowerStmt.cpp       statements, loops, branches
//   LowerExpr.cpp       constants and elementwise expressions
//   LowerCast.cpp       conversions between element types
//   LowerAccess.cpp     reads and writes of tensors, and their checks
//   LowerReduce.cpp     what combines lanes: reductions, scans, dot
//   LowerAttention.cpp  attention
//
// A value of the tree is a `TileValue`: an MLIR scalar if it has no axes, else
// a tensor with one dimension per axis, in order. A tile axis is as long as its
// tile; a whole axis has the extent of its dimension, static if that is known.
//
// All emission goes through `b`, whose location is that of the expression or
// statement being lowered (see LocScope). Values that do not depend on where
// they are computed, such as extents and the positions of a tile, are made once
// at the start of the kernel or of the loop body; see `atEntry`, `positions`.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_LOWERING_LOWERINGIMPL_H
#define TILEC_FRONTEND_LOWERING_LOWERINGIMPL_H

#include "dialects/Tile/IR/Tile.h"
#include "lib/Frontend/Lowering/Lowering.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace tilec::lowering {

using AxisList = llvm::SmallVector<typed::Axis *, 4>;
using Axes = llvm::ArrayRef<typed::Axis *>;

struct TileValue {
  mlir::Value value;
  AxisList axes;
  TileValue() = default;
  explicit TileValue(mlir::Value value, Axes axes = {})
      : value(value), axes(axes.begin(), axes.end()) {}
  bool isScalar() const { return axes.empty(); }
};

/// What stands for a loop variable in its loop's body.
struct LoopState {
  mlir::Value begin; // index: the position, or the tile's first one.
  mlir::Value valid; // index: positions inside the axis; tile variables only.
  mlir::Block *body = nullptr;
  mlir::Value asInteger; // `begin` as i64, once somebody asked.
  mlir::Value positions; // tensor<Txi64>, once somebody asked.
};

/// Reads are made only where `condition` is `!negated`.
struct Predicate {
  TileValue condition;
  bool negated = false;
};

/// A block of a parameter, as the block access ops have it.
struct BlockAccess {
  llvm::SmallVector<mlir::Value, 4> indices;
  llvm::SmallVector<mlir::Value, 4> valid; // Empty: every lane is valid.
  mlir::Value predicate;                   // Null: always.
  llvm::SmallVector<int64_t, 4> dims;
  AxisList axes;
};

/// Positions of a parameter, as the element access ops have them.
struct ElementAccess {
  llvm::SmallVector<mlir::Value, 4> indices;
  mlir::Value mask; // Null: all lanes.
};

class KernelLowering {
public:
  KernelLowering(const typed::Kernel &kernel, const LoweringOptions &options,
                 mlir::MLIRContext &context, const SourceManager &sources);
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  //===--------------------------------------------------------------------===//
  // Lowering.cpp
  //===--------------------------------------------------------------------===//

  bool isScheduleSettled();
  mlir::Type paramType(const typed::Param &param);
  void createKernel();
  mlir::DictionaryAttr paramAttrs(const typed::Param &param);
  mlir::tile::ScheduleAttr scheduleAttr();
  void lowerGrid();

  mlir::Location locate(SourceRange range);
  mlir::Location locate(llvm::StringRef name, SourceRange range);

  /// Gives `b` the location of a node while it is being lowered.
  class LocScope {
  public:
    LocScope(KernelLowering &lowering, SourceRange range)
        : b(lowering.b), saved(b.getLoc()) {
      if (range.isValid())
        b.setLoc(lowering.locate(range));
    }
    LocScope(const LocScope &) = delete;
    LocScope &operator=(const LocScope &) = delete;
    ~LocScope() { b.setLoc(saved); }

  private:
    mlir::ImplicitLocOpBuilder &b;
    mlir::Location saved;
  };

  //===--------------------------------------------------------------------===//
  // LoweringValues.cpp
  //===--------------------------------------------------------------------===//

  std::optional<int64_t> staticExtent(const typed::Dimension *dim) const;
  std::optional<int64_t> staticExtent(const typed::Axis *axis) const;
  mlir::Type elementType(DType dtype);
  mlir::Type storageType(DType dtype);
  mlir::RankedTensorType tensorType(Axes axes, mlir::Type element);
  /// A scalar's type is the element's.
  mlir::Type valueType(Axes axes, mlir::Type element);

  /// Makes a value at the start of the kernel, where it dominates everything.
  mlir::Value atEntry(llvm::function_ref<mlir::Value()> make);
  mlir::Value indexConstant(int64_t value);
  /// The extent of a dimension, as index and as i64.
  mlir::Value dimension(const typed::Dimension *dim);
  mlir::Value dimensionAsInteger(const typed::Dimension *dim);
  /// The extent of one dimension of a parameter, as index.
  mlir::Value extentOf(const typed::Param &param, unsigned dim);
  /// How many lanes a value has along an axis, as index.
  mlir::Value lanes(const typed::Axis *axis);
  llvm::SmallVector<mlir::Value> dynamicSizes(Axes axes);

  /// The positions along an axis, a tensor of i64 with that axis.
  TileValue positions(typed::Axis *axis);
  mlir::Value positionAsInteger(const typed::LoopVar *var);
  /// i64 to index and back, seeing through conversions the other way.
  mlir::Value toIndex(mlir::Value integer);
  mlir::Value toInteger(mlir::Value index);

  /// A constant with these axes.
  mlir::Value constant(Axes axes, mlir::TypedAttr element);
  mlir::Value constantFloat(Axes axes, mlir::Type element, double value);
  mlir::Value constantInt(Axes axes, mlir::Type element, int64_t value);

  TileValue broadcast(const TileValue &value, Axes axes);
  /// A tensor without dimensions, and back to the scalar.
  mlir::Value toTensor(const TileValue &value);
  TileValue fromTensor(mlir::Value tensor, Axes axes);

  /// The positions inside an axis of the tile; null if that is every lane.
  mlir::Value partialExtent(const typed::Axis *axis);
  /// `limits` (null: all lanes) as the operand list `valid`: empty if nothing
  /// is cut off.
  llvm::SmallVector<mlir::Value, 4>
  validOperands(Axes axes, llvm::ArrayRef<mlir::Value> limits);
  /// Sets the lanes invalid along any of `over` to `pad`.
  TileValue selectValid(const TileValue &value, Axes over, mlir::tile::Pad pad);

  //===--------------------------------------------------------------------===//
  // LowerStmt.cpp
  //===--------------------------------------------------------------------===//

  void lowerBody(const typed::Body &body);
  void lowerStmt(const typed::Stmt *stmt);
  void lowerAssign(const typed::Assign *assign);
  void lowerAttentionStmt(const typed::AttentionStmt *stmt);
  void lowerFor(const typed::For *loop);
  void lowerConditionalBody(const typed::For *loop,
                            llvm::ArrayRef<typed::Var *> carried);
  void lowerIf(const typed::If *branch);
  void lowerPrint(const typed::Print *print);
  void lowerAssert(const typed::Assert *assertion);

  /// The variables defined outside `bodies` and assigned in them, in order of
  /// definition.
  llvm::SmallVector<typed::Var *>
  assignedIn(llvm::ArrayRef<const typed::Body *> bodies);
  llvm::SmallVector<mlir::Value> currentValues(llvm::ArrayRef<typed::Var *>);
  void define(typed::Var *var, const TileValue &value);
  /// Extent and step of a loop variable.
  mlir::Value loopExtent(const typed::LoopVar *var);
  int64_t loopStep(const typed::LoopVar *var);
  void enterLoop(const typed::LoopVar *var, mlir::Value begin,
                 mlir::Value extent, mlir::Block *body);

  //===--------------------------------------------------------------------===//
  // LowerExpr.cpp, LowerCast.cpp
  //===--------------------------------------------------------------------===//

  TileValue lowerExpr(const typed::Expr *expr);
  mlir::Value lowerScalar(const typed::Expr *expr);
  mlir::Value lowerConstant(const typed::Expr *expr);
  TileValue lowerUnary(const typed::Unary *unary);
  TileValue lowerBinary(const typed::Binary *binary);
  mlir::Value lowerArithmetic(const typed::Binary *binary, mlir::Value lhs,
                              mlir::Value rhs);
  mlir::Value lowerCompare(typed::BinaryOp op, DType dtype, mlir::Value lhs,
                           mlir::Value rhs);
  TileValue lowerMath(const typed::Math *math);
  TileValue lowerWhere(const typed::Where *where);
  TileValue lowerRandom(const typed::Random *random);
  TileValue lowerLet(const typed::Let *let);
  mlir::Value sigmoid(const TileValue &x);
  void reportZeroDivisor(const TileValue &divisor, Axes axes);
  template <typename OpTy, typename... Args> mlir::Value emit(Args &&...args) {
    return b.createOrFold<OpTy>(std::forward<Args>(args)...);
  }

  TileValue lowerCast(const typed::Cast *cast);
  mlir::Value convert(const TileValue &value, DType from, DType to);
  mlir::Value convertFloat(const TileValue &value, DType from, DType to);
  mlir::Value truncateToOdd(const TileValue &value);
  mlir::Value convertFloatToInt(const TileValue &value, DType to);
  mlir::Value convertInt(mlir::Value value, DType from, DType to);
  mlir::Type withElement(mlir::Value like, mlir::Type element);

  //===--------------------------------------------------------------------===//
  // LowerAccess.cpp
  //===--------------------------------------------------------------------===//

  TileValue lowerLoad(const typed::Load *load);
  TileValue lowerGather(const typed::Load *load);
  TileValue fromStorage(mlir::Value loaded, Axes axes, DType dtype);
  mlir::Value toStorage(mlir::Value value, DType dtype);
  void lowerStore(const typed::Store *store);
  void lowerScatter(const typed::Store *store);

  BlockAccess lowerBlock(const typed::Param &param,
                         llvm::ArrayRef<typed::Index> indices);
  ElementAccess lowerElements(const typed::Param &param,
                              llvm::ArrayRef<typed::Index> indices, Axes axes);
  /// Clamps a tile to an extent that is not its own axis's.
  mlir::Value clampToExtent(typed::Axis *axis, mlir::Value extent);
  mlir::Value checkInBounds(mlir::Value index, mlir::Value extent,
                            mlir::Value active);

  /// Where reads are allowed for a value with `axes`: null if everywhere. A
  /// predicate with more axes allows a lane if it holds anywhere along them.
  mlir::Value predicateOver(Axes axes);
  /// `mask` (or everything, if null) without the invalid lanes; null if that
  /// is everything.
  mlir::Value excludeInvalid(mlir::Value mask, Axes axes);

  //===--------------------------------------------------------------------===//
  // LowerReduce.cpp
  //===--------------------------------------------------------------------===//

  TileValue lowerReduce(const typed::Reduce *reduce);
  TileValue lowerScan(const typed::Scan *scan);
  TileValue lowerDot(const typed::Dot *dot);
  /// Combines the valid lanes of `value` along `over`.
  TileValue reduce(mlir::tile::ReduceKind kind, const TileValue &value,
                   Axes over);
  TileValue argReduce(mlir::tile::ReduceKind kind, const TileValue &value,
                      typed::Axis *over);
  TileValue mean(const TileValue &value, Axes over);
  TileValue logSumExp(const TileValue &value, typed::Axis *over);
  TileValue softmax(const TileValue &value, typed::Axis *over);

  //===--------------------------------------------------------------------===//
  // LowerAttention.cpp
  //===--------------------------------------------------------------------===//

  struct AttentionResults {
    TileValue result, lse;
  };
  AttentionResults lowerAttention(const typed::Attention *attention);
  mlir::Value lowerAttentionView(const typed::Load *load, typed::Axis *first,
                                 typed::Axis *second);
  void lowerLambda(mlir::Region &region, const typed::Lambda &lambda);

  //===--------------------------------------------------------------------===//
  // State
  //===--------------------------------------------------------------------===//

  const typed::Kernel &kernel;
  const LoweringOptions &options;
  const SourceManager &sources;
  mlir::ImplicitLocOpBuilder b;
  mlir::tile::KernelOp kernelOp;

  mlir::Block *entry = nullptr;
  mlir::Operation *lastAtEntry = nullptr; // Where atEntry goes on.
  llvm::DenseMap<int64_t, mlir::Value> indexConstants;
  llvm::DenseMap<const typed::Dimension *, mlir::Value> dimensions;
  llvm::DenseMap<const typed::Dimension *, mlir::Value> dimensionIntegers;
  llvm::DenseMap<const typed::Axis *, mlir::Value> wholePositions;

  llvm::DenseMap<const typed::LoopVar *, LoopState> loops;
  /// Variables in scope, in order of definition, and their current values.
  llvm::MapVector<typed::Var *, TileValue> variables;
  llvm::SmallVector<Predicate, 4> predicates;
  llvm::SmallVector<mlir::tile::InBoundsOp> boundsChecks; // So far.
  bool inLambda = false;
};

} // namespace tilec::lowering

#endif // TILEC_FRONTEND_LOWERING_LOWERINGIMPL_H

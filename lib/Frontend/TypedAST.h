//===- TypedAST.h - An elaborated kernel ------------------------*- C++ -*-===//
//
// What semantic analysis makes of one kernel with its compile-time parameters
// bound: every name is resolved to an object, every expression has an element
// type and a list of axes, functions are inlined, implicit conversions are
// explicit casts, and compile-time branches are gone. Nothing below this tree
// reports an error about the program; lowering to the tile dialect only
// translates.
//
// Three ideas carry the whole:
//
//   * A `Dimension` is a symbolic extent, such as M, bound once per launch by
//     the shapes of the arguments.
//   * An `Axis` is what a value extends along: either a tile of positions that
//     a loop variable covers (`m in tile(M)`), or a whole dimension. Axes are
//     compared by identity, and an axis never occurs twice in one value.
//   * A `ValueType` is an element type and an ordered list of axes; no axes
//     means a scalar. Operands of one node may have different axes: they
//     broadcast, by identity, to those of the node.
//
//     kernel f(A: bf16[M, K], s: f32[M], Y: out f32[M, K]) {
//       grid m in tile(M)
//       Y[m] = A[m] * s[m]
//     }
//
// gives Store(Y[m, :], Binary(Mul, Cast(f32, Load(A[m, :])), Load(s[m]))),
// where the load of A has axes [m, K], that of s [m], and the product [m, K].
//
// Nodes live in a KernelArena and are never freed one by one; they may hold
// SmallVectors, so the arena runs their destructors.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_TYPEDAST_H
#define TILEC_FRONTEND_TYPEDAST_H

#include "lib/Frontend/AST.h"
#include "lib/Support/DType.h"
#include "lib/Support/Diagnostics.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilec::typed {

struct Expr;
struct LoopVar;

//===----------------------------------------------------------------------===//
// Dimensions, axes, types
//===----------------------------------------------------------------------===//

/// A symbolic extent of the kernel's arguments.
struct Dimension {
  llvm::StringRef name;
  SourceRange range;    // First occurrence.
  unsigned index = 0;   // In Kernel::dims.
  bool isWhole = false; // Some value has it as a whole axis, so a target that
                        // needs static tiles specializes on it.
};

/// What a value extends along.
struct Axis {
  enum class Kind { Tile, Whole };
  Kind kind = Kind::Whole;
  llvm::StringRef name;     // "m" or "N"; for a constant extent, its digits.
  Dimension *dim = nullptr; // Whole: null for a constant extent. Tile: null if
                            // the extent is a scalar expression.
  int64_t constant = -1;    // Whole with a constant extent.
  LoopVar *var = nullptr;   // Tile.
  int64_t tileSize = 0;     // Tile: 0 until the schedule is settled.
  bool isTile() const { return kind == Kind::Tile; }
};

struct ValueType {
  DType dtype = DType::F32;
  llvm::SmallVector<Axis *, 4> axes;
  bool isScalar() const { return axes.empty(); }
  bool hasAxis(const Axis *axis) const {
    return llvm::is_contained(axes, axis);
  }
};

/// A grid or for variable.
struct LoopVar {
  llvm::StringRef name;
  SourceRange range;
  bool isTile = false;
  Axis *axis = nullptr;     // isTile.
  Dimension *dim = nullptr; // The extent is this dimension, or else
  Expr *extent = nullptr;   // this i64 scalar. Never null.
  int64_t fixedSize = 0;    // `tile(M, 128)`; 0 leaves it to the schedule.
};

/// A parameter of the kernel.
struct Param {
  llvm::StringRef name;
  SourceRange range;
  unsigned index = 0;
  ast::Access access = ast::Access::In;
  DType dtype = DType::F32;
  bool isTensor = false;
  struct Extent {
    Dimension *dim = nullptr; // Or null, and
    int64_t constant = -1;    // the extent is this.
    llvm::StringRef name;     // As written: "M", "D" or "64".
  };
  llvm::SmallVector<Extent, 4> shape; // isTensor.
  Expr *defaultValue = nullptr;       // Scalars: a constant, or null.
};

/// A variable of the kernel, a parameter of a lambda, or a value computed once
/// by a Let. All assignments to one have its type.
struct Var {
  llvm::StringRef name;
  SourceRange range;
  ValueType type;
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

enum class UnaryOp { Neg, Not, Abs };
enum class BinaryOp {
  Add,
  Sub,
  Mul,
  Div, // Floats.
  FloorDiv,
  FloorMod, // Integers; by zero gives 0.
  Min,
  Max, // NaN wins.
  FMin,
  FMax, // NaN loses.
  And,
  Or, // bool
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge, // Result is bool.
  Pow,
};
/// Functions of one f32 or f64.
enum class MathFn {
  Exp,
  Exp2,
  Log,
  Log2,
  Sqrt,
  Rsqrt,
  Tanh,
  Sigmoid,
  Erf,
  Gelu,
  Silu,
  Relu,
  Floor,
  Ceil,
  Round,
  Sin,
  Cos,
};
enum class ReduceKind {
  Sum,
  Prod,
  Max,
  Min,
  FMax,
  FMin,
  Any,
  All,
  ArgMax,
  ArgMin,
  Mean,
  LogSumExp,
};
enum class ScanKind { CumSum, Softmax };
enum class Precision { IEEE, TF32, TF32x3 };

/// How one dimension of a tensor is subscripted.
struct Index {
  enum class Kind {
    Tile,   // The positions of a tile variable: `axis` (and `provable`).
    Whole,  // All positions: `axis`.
    Scalar, // One position: `expr`, an i64 scalar.
    Gather, // `expr`, an i64 value with axes.
  };
  Kind kind = Kind::Whole;
  Axis *axis = nullptr;
  Expr *expr = nullptr;
  /// In range by construction: a variable over this very dimension, or a
  /// constant below a constant extent. Otherwise the access is checked.
  bool proven = false;
  SourceRange range;
};

struct Expr {
  enum class Kind {
    IntConst,
    FloatConst,
    BoolConst,
    DimExtent,
    ScalarParam,
    VarRef,
    Position,
    Load,
    Unary,
    Binary,
    Math,
    Cast,
    Where,
    Full,
    Reduce,
    Scan,
    Dot,
    Random,
    Let,
    Attention,
  };
  const Kind kind;
  SourceRange range;
  ValueType type;

protected:
  explicit Expr(Kind kind) : kind(kind) {}
};

template <Expr::Kind K> struct ExprBase : Expr {
  ExprBase() : Expr(K) {}
  static bool classof(const Expr *e) { return e->kind == K; }
};

/// Constants are scalars of any numeric dtype (Int: also of a float dtype is
/// not allowed; the analysis has converted it).
struct IntConst : ExprBase<Expr::Kind::IntConst> {
  int64_t value = 0;
};
struct FloatConst : ExprBase<Expr::Kind::FloatConst> {
  double value = 0;
};
struct BoolConst : ExprBase<Expr::Kind::BoolConst> {
  bool value = false;
};
/// The extent of a dimension, i64.
struct DimExtent : ExprBase<Expr::Kind::DimExtent> {
  Dimension *dim = nullptr;
};
struct ScalarParam : ExprBase<Expr::Kind::ScalarParam> {
  Param *param = nullptr;
};
struct VarRef : ExprBase<Expr::Kind::VarRef> {
  Var *var = nullptr;
};
/// A loop variable as a value: i64; a tile variable has its own axis, a
/// position variable is a scalar.
struct Position : ExprBase<Expr::Kind::Position> {
  LoopVar *var = nullptr;
};

/// A read of a tensor parameter. Without Gather indices it is a block; its axes
/// are those of the indices in order. With Gather indices the node's axes are
/// the union of theirs and the others'. The dtype is the parameter's own.
struct Load : ExprBase<Expr::Kind::Load> {
  Param *param = nullptr;
  llvm::SmallVector<Index, 4> indices; // One per dimension.
  bool isGather() const {
    return llvm::any_of(
        indices, [](const Index &i) { return i.kind == Index::Kind::Gather; });
  }
};

struct Unary : ExprBase<Expr::Kind::Unary> {
  UnaryOp op = UnaryOp::Neg;
  Expr *operand = nullptr;
};
/// Both operands have one dtype: the node's, or for comparisons any.
struct Binary : ExprBase<Expr::Kind::Binary> {
  BinaryOp op = BinaryOp::Add;
  Expr *lhs = nullptr, *rhs = nullptr;
};
/// The operand has the node's dtype, f32 or f64.
struct Math : ExprBase<Expr::Kind::Math> {
  MathFn fn = MathFn::Exp;
  Expr *operand = nullptr;
};
/// To the node's dtype, by the rules of the language.
struct Cast : ExprBase<Expr::Kind::Cast> {
  Expr *operand = nullptr;
};
/// Reads inside `onTrue` are made only where the condition holds, inside
/// `onFalse` only where it does not.
struct Where : ExprBase<Expr::Kind::Where> {
  Expr *condition = nullptr, *onTrue = nullptr, *onFalse = nullptr;
};
/// A scalar on all positions of the node's axes (`zeros`, `full`).
struct Full : ExprBase<Expr::Kind::Full> {
  Expr *value = nullptr;
};

/// Over `axes` of the operand (at least one; exactly one for ArgMax, ArgMin and
/// LogSumExp). Operand dtype: f32, f64, i32, i64, or bool for Any/All; Mean of
/// floats only. ArgMax/ArgMin give i64 positions, absolute for tile axes.
struct Reduce : ExprBase<Expr::Kind::Reduce> {
  ReduceKind op = ReduceKind::Sum;
  Expr *operand = nullptr;
  llvm::SmallVector<Axis *, 2> over;
};
struct Scan : ExprBase<Expr::Kind::Scan> {
  ScanKind op = ScanKind::CumSum;
  Expr *operand = nullptr;
  Axis *over = nullptr;
};
/// Contracts `contract` (one or more axes that both operands have); the other
/// shared axes are batch. Node axes: batch (lhs order), lhs free, rhs free.
/// Operand dtypes go together as the tile.dot op wants them.
struct Dot : ExprBase<Expr::Kind::Dot> {
  Expr *lhs = nullptr, *rhs = nullptr;
  llvm::SmallVector<Axis *, 2> contract;
  Precision precision = Precision::IEEE;
};
/// Philox; seed is an i64 scalar, offset i64 with the node's axes.
struct Random : ExprBase<Expr::Kind::Random> {
  Expr *seed = nullptr, *offset = nullptr;
};
/// `var = value; body`: what inlining a function makes of its arguments and its
/// local variables. The bindings are made in order: a value may use the
/// variables before it.
struct Let : ExprBase<Expr::Kind::Let> {
  llvm::SmallVector<std::pair<Var *, Expr *>, 2> bindings;
  Expr *body = nullptr;
};

/// A lambda of scalars: its parameters are Vars without axes.
struct Lambda {
  llvm::SmallVector<Var *, 3> params;
  Expr *body = nullptr;
};

/// Softmax attention. As an expression its value is the first result (f32, axes
/// [row, E] or [E]); an AttentionStmt takes both.
struct Attention : ExprBase<Expr::Kind::Attention> {
  Expr *query = nullptr;  // Axes [row, D] or [D], storage dtype.
  Load *keys = nullptr;   // Axes [kv, D], a block.
  Load *values = nullptr; // Axes [kv, E], a block.
  Axis *row = nullptr;    // Null: one row.
  Axis *kv = nullptr, *d = nullptr, *e = nullptr;
  /// With one row: its position, i64 scalar (what the lambdas see as q).
  Expr *rowPosition = nullptr;
  Expr *scale = nullptr;       // f32 scalar.
  std::optional<Lambda> score; // (f32 s, i64 q, i64 kv) -> f32
  std::optional<Lambda> mask;  // (i64 q, i64 kv) -> bool
  int64_t kvTile = 0;          // 0 until the schedule is settled.
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

struct Stmt {
  enum class Kind { Assign, Store, Attention, For, If, Print, Assert };
  const Kind kind;
  SourceRange range;

protected:
  explicit Stmt(Kind kind) : kind(kind) {}
};
template <Stmt::Kind K> struct StmtBase : Stmt {
  StmtBase() : Stmt(K) {}
  static bool classof(const Stmt *s) { return s->kind == K; }
};
using Body = llvm::SmallVector<Stmt *, 8>;

/// Defines `var` (its first assignment) or gives it a new value. The value has
/// the variable's dtype; its axes are a subset of the variable's.
struct Assign : StmtBase<Stmt::Kind::Assign> {
  Var *var = nullptr;
  bool isDefinition = false;
  Expr *value = nullptr;
};
/// Writes a block (Tile, Whole and Scalar indices), or adds to it (`add`
/// parameters; there Gather indices may occur too). The value has the
/// parameter's dtype and a subset of the indices' axes.
struct Store : StmtBase<Stmt::Kind::Store> {
  Param *param = nullptr;
  llvm::SmallVector<Index, 4> indices;
  Expr *value = nullptr;
  bool isAdd = false;
};
/// Both results of an attention at once, into two new variables.
struct AttentionStmt : StmtBase<Stmt::Kind::Attention> {
  Attention *attention = nullptr;
  Var *result = nullptr, *lse = nullptr;
};
struct For : StmtBase<Stmt::Kind::For> {
  LoopVar *var = nullptr;
  /// Visit only iterations in which this holds (a bool scalar; typically a
  /// Reduce Any over a mask). May be null.
  Expr *condition = nullptr;
  Body body;
};
struct If : StmtBase<Stmt::Kind::If> {
  Expr *condition = nullptr; // A bool scalar.
  Body thenBody, elseBody;
};
struct Print : StmtBase<Stmt::Kind::Print> {
  std::string label;
  llvm::SmallVector<Expr *, 2> values;
};
struct Assert : StmtBase<Stmt::Kind::Assert> {
  Expr *condition = nullptr; // bool, any axes.
  std::string message;
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A knob or tile size of the schedule, in source order.
struct ScheduleEntry {
  llvm::StringRef key;
  int64_t value = 0;
  llvm::StringRef text; // For values that are names, e.g. order = zigzag.
  SourceRange range;
};

/// Owns the nodes of one kernel.
class KernelArena {
public:
  template <typename T, typename... Args> T *make(Args &&...args) {
    auto owned = std::make_unique<Holder<T>>(std::forward<Args>(args)...);
    T *node = &owned->node;
    nodes.push_back(std::move(owned));
    return node;
  }
  /// Text that lives as long as the kernel.
  llvm::StringRef intern(llvm::StringRef text) {
    return *make<std::string>(text.str());
  }

private:
  struct Base {
    virtual ~Base() = default;
  };
  template <typename T> struct Holder : Base {
    template <typename... Args>
    explicit Holder(Args &&...args) : node(std::forward<Args>(args)...) {}
    T node;
  };
  std::vector<std::unique_ptr<Base>> nodes;
};

/// One kernel with its compile-time parameters bound.
struct Kernel {
  KernelArena arena;
  std::string name;
  SourceRange range;
  std::vector<Param *> params;
  std::vector<Dimension *> dims;
  /// Boolean scalars over dimensions and scalar parameters, checked at launch.
  std::vector<Expr *> requirements;
  /// Grid variables, outermost first; empty for an untiled kernel.
  std::vector<LoopVar *> grid;
  Body body;
  /// Every axis in the order it came up, and every tile axis.
  std::vector<Axis *> axes;
  std::vector<ScheduleEntry> schedule;
  std::vector<Attention *> attentions;

  Param *findParam(llvm::StringRef name) const {
    for (Param *param : params)
      if (param->name == name)
        return param;
    return nullptr;
  }
  Dimension *findDim(llvm::StringRef name) const {
    for (Dimension *dim : dims)
      if (dim->name == name)
        return dim;
    return nullptr;
  }
};

} // namespace tilec::typed

#endif // TILEC_FRONTEND_TYPEDAST_H

//===- AST.h - The syntax tree of a .tile program ---------------*- C++ -*-===//
//
// What the parser found, nothing more: names are text, nothing is resolved,
// no types are computed. Every node knows the range of source it came from.
//
// The tree in one picture:
//
//   Program ── File ── ImportDecl                 import "softmax.tile"
//                   ├─ FnDecl ──── Block          fn f(x: f32) -> f32 { x }
//                   ├─ KernelDecl ─ Block         kernel k<p: bool>(…) { … }
//                   └─ ScheduleDecl               schedule k for sm_90a { … }
//
//   Block ── AssignStmt (=, +=, -=, *=, /=), ForStmt, GridStmt, IfStmt,
//            ScheduleStmt, ExprStmt
//
//   Expr ─── IntLiteral, FloatLiteral, BoolLiteral, InfLiteral, NanLiteral,
//            StringLiteral, NameExpr, DTypeExpr, UnaryExpr, BinaryExpr,
//            CallExpr, SubscriptExpr, CastExpr, LambdaExpr, ZerosExpr, FullExpr
//
// Invariants a reader of a tree may rely on when the parser reported no error:
//
//   * No pointer is null unless its comment says "or null".
//   * `Expr::getHeight()` never exceeds `maxExprHeight` and blocks nest at most
//     `maxNesting` deep, so recursion over the tree is safe.
//   * A GridStmt occurs only among the statements of a kernel's outermost
//     block, at most once, and only a ScheduleStmt may come before it; it has
//     no body of its own: the statements after it are its body. A ScheduleStmt
//     occurs at most once, also only in that block.
//   * A string of the program (names, literal texts) is interned: it lives as
//     long as the ASTContext.
//   * `int` never reaches the tree as a type: it is DType::I64.
//   * A type that names a compile-time parameter names one of kind DType of
//     the declaration around it, and T(x) with such a T is a CastExpr.
//
// Nodes live in the arena of an ASTContext and are never destroyed one by one;
// they therefore hold only trivially destructible data. Use llvm::isa, cast and
// dyn_cast on Expr, Stmt and Decl.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_AST_H
#define TILEC_FRONTEND_AST_H

#include "lib/Frontend/ASTContext.h"
#include "lib/Frontend/ASTExpr.h"

namespace tilec::ast {

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

class Stmt {
public:
  enum class Kind : uint8_t { Assign, For, Grid, If, Schedule, Expr };
  Kind getKind() const { return kind; }
  SourceRange getRange() const { return range; }

protected:
  Stmt(Kind kind, SourceRange range) : kind(kind), range(range) {}

private:
  Kind kind;
  SourceRange range;
};

/// `{ … }`; the range includes the braces.
class Block {
public:
  Block(SourceRange range, llvm::ArrayRef<Stmt *> stmts)
      : range(range), stmts(stmts) {}
  SourceRange getRange() const { return range; }
  llvm::ArrayRef<Stmt *> getStmts() const { return stmts; }

private:
  SourceRange range;
  llvm::ArrayRef<Stmt *> stmts;
};

/// `m in tile(M, 128)` or `b in B`.
struct Binding {
  Ident name;
  bool isTile = false;
  Expr *extent = nullptr;
  Expr *size = nullptr; // Or null: the schedule decides. Only if isTile.
  SourceRange range;
};

/// The left side of an assignment: `x` or `C[m, n]`.
struct Target {
  Ident name;
  bool hasSubscripts = false; // Brackets were written; never empty.
  llvm::ArrayRef<Subscript> subscripts;
  SourceRange range;
};

enum class AssignOp : uint8_t { Set, Add, Sub, Mul, Div };

/// "=", "+=", …
llvm::StringRef spelling(AssignOp op);

/// `O[i], lse[i] = …` or `acc += …`. Only `=` can have several targets.
class AssignStmt : public Stmt {
public:
  AssignStmt(SourceRange range, llvm::ArrayRef<Target> targets, AssignOp op,
             SourceRange opRange, Expr *value)
      : Stmt(Kind::Assign, range), targets(targets), op(op), opRange(opRange),
        value(value) {}
  llvm::ArrayRef<Target> getTargets() const { return targets; }
  AssignOp getOp() const { return op; }
  SourceRange getOpRange() const { return opRange; }
  Expr *getValue() const { return value; }
  static bool classof(const Stmt *s) { return s->getKind() == Kind::Assign; }

private:
  llvm::ArrayRef<Target> targets;
  AssignOp op;
  SourceRange opRange;
  Expr *value;
};

/// `for j in tile(T) if any(i >= j) { … }`.
class ForStmt : public Stmt {
public:
  ForStmt(SourceRange range, llvm::ArrayRef<Binding> bindings, Expr *condition,
          Block *body)
      : Stmt(Kind::For, range), bindings(bindings), condition(condition),
        body(body) {}
  llvm::ArrayRef<Binding> getBindings() const { return bindings; }
  /// Or null: every iteration is made.
  Expr *getCondition() const { return condition; }
  Block *getBody() const { return body; }
  static bool classof(const Stmt *s) { return s->getKind() == Kind::For; }

private:
  llvm::ArrayRef<Binding> bindings;
  Expr *condition;
  Block *body;
};

/// `grid m in tile(M), n in tile(N)`; the statements after it are its body.
class GridStmt : public Stmt {
public:
  GridStmt(SourceRange range, llvm::ArrayRef<Binding> bindings)
      : Stmt(Kind::Grid, range), bindings(bindings) {}
  llvm::ArrayRef<Binding> getBindings() const { return bindings; }
  static bool classof(const Stmt *s) { return s->getKind() == Kind::Grid; }

private:
  llvm::ArrayRef<Binding> bindings;
};

/// `if c { … } else { … }`; `else if` is an else block of one IfStmt.
class IfStmt : public Stmt {
public:
  IfStmt(SourceRange range, Expr *condition, Block *thenBlock, Block *elseBlock)
      : Stmt(Kind::If, range), condition(condition), thenBlock(thenBlock),
        elseBlock(elseBlock) {}
  Expr *getCondition() const { return condition; }
  Block *getThen() const { return thenBlock; }
  /// Or null: there is no else.
  Block *getElse() const { return elseBlock; }
  static bool classof(const Stmt *s) { return s->getKind() == Kind::If; }

private:
  Expr *condition;
  Block *thenBlock;
  Block *elseBlock;
};

/// `stages = 4`, `order = zigzag`, `persistent = true`.
struct ScheduleItem {
  enum class Kind : uint8_t { Int, Name, Bool };
  Ident key;
  Kind kind = Kind::Int;
  int64_t intValue = 0;
  llvm::StringRef nameValue;
  bool boolValue = false;
  SourceRange valueRange;
};

/// `schedule { m = 128, stages = 4 }` within a kernel.
class ScheduleStmt : public Stmt {
public:
  ScheduleStmt(SourceRange range, llvm::ArrayRef<ScheduleItem> items)
      : Stmt(Kind::Schedule, range), items(items) {}
  llvm::ArrayRef<ScheduleItem> getItems() const { return items; }
  static bool classof(const Stmt *s) { return s->getKind() == Kind::Schedule; }

private:
  llvm::ArrayRef<ScheduleItem> items;
};

/// A call made for its effect (print, assert), or the value of a function.
class ExprStmt : public Stmt {
public:
  explicit ExprStmt(Expr *expr)
      : Stmt(Kind::Expr, expr->getRange()), expr(expr) {}
  Expr *getExpr() const { return expr; }
  static bool classof(const Stmt *s) { return s->getKind() == Kind::Expr; }

private:
  Expr *expr;
};

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

struct File;

class Decl {
public:
  enum class Kind : uint8_t { Import, Fn, Kernel, Schedule };
  Kind getKind() const { return kind; }
  /// The whole declaration.
  SourceRange getRange() const { return range; }

protected:
  Decl(Kind kind, SourceRange range) : kind(kind), range(range) {}

private:
  Kind kind;
  SourceRange range;
};

/// `import "softmax.tile"`.
class ImportDecl : public Decl {
public:
  ImportDecl(SourceRange range, llvm::StringRef path, SourceRange pathRange)
      : Decl(Kind::Import, range), path(path), pathRange(pathRange) {}
  /// As written, with escapes replaced.
  llvm::StringRef getPath() const { return path; }
  SourceRange getPathRange() const { return pathRange; }
  /// The imported file; null until loadProgram resolved it, or if it failed.
  File *getFile() const { return file; }
  void setFile(File *f) { file = f; }
  static bool classof(const Decl *d) { return d->getKind() == Kind::Import; }

private:
  llvm::StringRef path;
  SourceRange pathRange;
  File *file = nullptr;
};

/// `causal: bool = true`, `D: int`, `T: dtype`, `score: fn(f32, int) -> f32`.
struct CtParam {
  enum class Kind : uint8_t { Bool, Int, DType, Fn };
  Ident name;
  Kind kind = Kind::Bool;
  SourceRange kindRange;
  llvm::ArrayRef<TypeSpec> fnParams; // Fn: scalar types.
  TypeSpec fnResult;                 // Fn: a scalar type.
  Expr *defaultValue = nullptr;      // Or null.
  SourceRange range;
};

enum class Access : uint8_t { In, Out, InOut, Add };

/// "in", "out", "inout" or "add".
llvm::StringRef spelling(Access access);

/// `A: bf16[M, K]`, `C: out f32[M]`, `eps: f32 = 1e-6`.
struct Param {
  Ident name;
  Access access = Access::In;
  SourceRange accessRange; // Invalid if no access was written.
  TypeSpec type;
  Expr *defaultValue = nullptr; // Or null.
  SourceRange range;
};

/// A scalar function. The last statement of the body is its value: an ExprStmt,
/// or an IfStmt (on compile-time values) whose branches end so in turn.
class FnDecl : public Decl {
public:
  FnDecl(SourceRange range, Ident name, llvm::ArrayRef<CtParam> ctParams,
         llvm::ArrayRef<Param> params, TypeSpec result, Block *body)
      : Decl(Kind::Fn, range), name(name), ctParams(ctParams), params(params),
        result(result), body(body) {}
  llvm::StringRef getName() const { return name.name; }
  SourceRange getNameRange() const { return name.range; }
  llvm::ArrayRef<CtParam> getCtParams() const { return ctParams; }
  /// Scalar types only, access In, no defaults.
  llvm::ArrayRef<Param> getParams() const { return params; }
  const TypeSpec &getResult() const { return result; }
  Block *getBody() const { return body; }
  static bool classof(const Decl *d) { return d->getKind() == Kind::Fn; }

private:
  Ident name;
  llvm::ArrayRef<CtParam> ctParams;
  llvm::ArrayRef<Param> params;
  TypeSpec result;
  Block *body;
};

class KernelDecl : public Decl {
public:
  KernelDecl(SourceRange range, Ident name, llvm::ArrayRef<CtParam> ctParams,
             llvm::ArrayRef<Param> params, llvm::ArrayRef<Expr *> requirements,
             Block *body)
      : Decl(Kind::Kernel, range), name(name), ctParams(ctParams),
        params(params), requirements(requirements), body(body) {}
  llvm::StringRef getName() const { return name.name; }
  SourceRange getNameRange() const { return name.range; }
  llvm::ArrayRef<CtParam> getCtParams() const { return ctParams; }
  llvm::ArrayRef<Param> getParams() const { return params; }
  /// The constraints after `requires`.
  llvm::ArrayRef<Expr *> getRequirements() const { return requirements; }
  /// All statements, the grid and the schedule included.
  Block *getBody() const { return body; }
  /// The grid, or null: the compiler chooses one.
  GridStmt *findGrid() const;
  /// The schedule block, or null.
  ScheduleStmt *findSchedule() const;
  static bool classof(const Decl *d) { return d->getKind() == Kind::Kernel; }

private:
  Ident name;
  llvm::ArrayRef<CtParam> ctParams;
  llvm::ArrayRef<Param> params;
  llvm::ArrayRef<Expr *> requirements;
  Block *body;
};

/// `schedule attend for sm_90a { … }`.
class ScheduleDecl : public Decl {
public:
  ScheduleDecl(SourceRange range, Ident kernel, Ident target,
               llvm::ArrayRef<ScheduleItem> items)
      : Decl(Kind::Schedule, range), kernel(kernel), target(target),
        items(items) {}
  Ident getKernel() const { return kernel; }
  Ident getTarget() const { return target; }
  llvm::ArrayRef<ScheduleItem> getItems() const { return items; }
  static bool classof(const Decl *d) { return d->getKind() == Kind::Schedule; }

private:
  Ident kernel, target;
  llvm::ArrayRef<ScheduleItem> items;
};

/// One parsed source file; its declarations in source order.
struct File {
  unsigned index = 0; // In the SourceManager.
  llvm::ArrayRef<Decl *> decls;
};

/// A main file and everything it imports, each file once. `files[0]` is the
/// main file; the others follow in the order their imports were met.
struct Program {
  llvm::ArrayRef<File *> files;
  File &main() const { return *files.front(); }
};

} // namespace tilec::ast

#endif // TILEC_FRONTEND_AST_H

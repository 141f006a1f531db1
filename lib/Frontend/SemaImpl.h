//===- SemaImpl.h - The analyzer of one kernel ------------------*- C++ -*-===//
//
// The class behind Sema.h, split over several files by role:
//
//   SemaProgram.cpp      names of a program, checkProgram
//   Sema.cpp             one kernel: parameters, dimensions, requirements
//   SemaScope.cpp        looking names up; messages about unknown ones
//   SemaStmt.cpp         assignments, loops, branches
//   SemaSchedule.cpp     schedule blocks and declarations
//   SemaExpr.cpp         operators, literals, names
//   SemaTypes.cpp        conversions, broadcasting, descriptions of types
//   SemaAccess.cpp       subscripts, loads, stores
//   SemaBuiltins.cpp     the table of built-in functions
//   SemaCalls.cpp        their analysis
//   SemaReduce.cpp       reductions, scans, dot
//   SemaAttention.cpp    attention and lambdas
//   SemaInline.cpp       functions become expressions
//   SemaCompileTime.cpp  the parameters between < and >
//
// Two conventions keep one mistake from causing several messages. Whatever
// could not be analyzed is a null value, reported by whoever found it; an
// operation on a null value is null without a word. And a variable whose first
// value is null is defined all the same, as a poisoned one.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_SEMAIMPL_H
#define TILEC_FRONTEND_SEMAIMPL_H

#include "lib/Frontend/Evaluate.h"
#include "lib/Frontend/Sema.h"
#include "lib/Frontend/SemaBuiltins.h"
#include "lib/Frontend/SemaProgram.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"

namespace tilec::sema {

using namespace tilec::typed;

struct Choice;

/// An analyzed expression, or null.
struct Value {
  Expr *expr = nullptr;
  /// A number without a type of its own (expr has i64 or f64): it takes that
  /// of the operand it meets.
  bool literal = false;
  /// For a float written in the source: its digits, to be rounded only once.
  llvm::StringRef digits;
  bool negative = false;
  /// Of an integer literal: the first division on the way to it that left a
  /// remainder.
  SourceRange truncated;
  /// A `where` of literals, which adapts as they do; `expr` is what it is
  /// without anything to adapt to, i64 or f32.
  const Choice *choice = nullptr;

  Value() = default;
  Value(Expr *expr) : expr(expr) {}
  explicit operator bool() const { return expr != nullptr; }
  /// Takes the type of what it meets.
  bool adapts() const { return literal || choice; }
  const ValueType &type() const { return expr->type; }
  DType dtype() const { return expr->type.dtype; }
  SourceRange range() const { return expr->range; }
};

/// The operands of a `where` whose choices are literals or choices themselves,
/// both integers or both floats.
struct Choice {
  Expr *condition = nullptr;
  Value onTrue, onFalse;
};

/// What a name of a function is bound to: one of the program or a builtin.
struct Callee {
  const ast::FnDecl *fn = nullptr;
  const Builtin *builtin = nullptr;
  /// Of a builtin that is the value of a compile-time parameter: the types of
  /// that parameter, to which it keeps as a declared function would.
  llvm::SmallVector<DType, 2> paramTypes = {};
  std::optional<DType> resultType = std::nullopt;
  explicit operator bool() const { return fn || builtin; }
  llvm::StringRef name() const {
    return fn ? fn->getName() : llvm::StringRef(builtin->name);
  }
};

/// What a name stands for.
struct Symbol {
  enum class Kind {
    Var,     // var
    Loop,    // loop
    Param,   // param
    Dim,     // dim
    CtInt,   // ctInt
    CtBool,  // ctBool
    CtDType, // ctDType
    CtFn,    // callee
    Alias,   // expr: a function's parameter bound to a simple argument
    Poison,  // a mistake reported already
  };
  Kind kind = Kind::Poison;
  llvm::StringRef name;
  SourceRange range;
  Var *var = nullptr;
  LoopVar *loop = nullptr;
  Param *param = nullptr;
  Dimension *dim = nullptr;
  int64_t ctInt = 0;
  bool ctBool = false;
  DType ctDType = DType::F32;
  Callee callee;
  Expr *expr = nullptr;
};

/// A value for a compile-time parameter.
struct CtValue {
  int64_t ctInt = 0;
  bool ctBool = false;
  DType ctDType = DType::F32;
  Callee callee;
};

/// The names visible at one place of a kernel or function.
struct Environment {
  std::vector<llvm::StringMap<Symbol>> scopes;
  const ast::File *file = nullptr;
  const ast::FnDecl *fn = nullptr; // Null: the kernel.
  Environment *caller = nullptr;   // Of a function being inlined.
  /// Names whose block has ended.
  struct Closed {
    SourceRange range;
    bool isLoop;
  };
  llvm::StringMap<Closed> closed;
  /// Names assigned anywhere.
  llvm::StringMap<SourceRange> assigned;
};

class Analyzer {
public:
  Analyzer(const ProgramIndex &index, DiagnosticEngine &diags)
      : index(index), diags(diags) {}

  std::unique_ptr<Kernel> analyzeKernel(const ast::KernelDecl &decl,
                                        const CompileTimeArgs &args,
                                        llvm::StringRef target);
  /// Analyzes a function on its own, its compile-time parameters having their
  /// defaults.
  void checkFn(const ast::FnDecl &decl);

private:
  //===--- Messages (SemaScope.cpp) ---------------------------------------===//

  /// Both report once: the same function is analyzed wherever it is inlined.
  Diagnostic &error(SourceRange range, const llvm::Twine &message);
  Diagnostic &warning(SourceRange range, const llvm::Twine &message);
  /// Reports, in the kernel, that inlining went past a limit at `range`.
  void giveUp(SourceRange range, const llvm::Twine &message,
              const llvm::Twine &remedy);
  /// True once the analysis should be given up.
  bool stopped() const { return aborted || diags.tooManyErrors(); }

  //===--- Names (SemaScope.cpp) ------------------------------------------===//

  void pushScope() { env->scopes.emplace_back(); }
  void popScope();
  Symbol *lookup(llvm::StringRef name);
  /// The symbol, or null after an error that says what might be meant.
  /// `otherwise`: the remedy if no name is near.
  Symbol *require(llvm::StringRef name, SourceRange range,
                  const llvm::Twine &otherwise = "");
  void reportUnknown(llvm::StringRef name, SourceRange range,
                     const llvm::Twine &otherwise = "");
  void define(const Symbol &symbol);
  /// Defines `name`, if it is new, as something a mistake was made with: its
  /// uses are silent.
  void definePoison(const ast::Ident &name);
  /// False after an error: `name` already stands for something else.
  bool checkUnused(const ast::Ident &name, llvm::StringRef what);
  /// Adds where `symbol` comes from.
  void noteSymbol(Diagnostic &diagnostic, const Symbol &symbol);
  static llvm::StringRef describeSymbol(const Symbol &symbol);
  /// A function by name: a compile-time parameter, one of the program, or a
  /// builtin. Null after an error.
  Callee requireCallee(llvm::StringRef name, SourceRange range);

  //===--- Kernels (Sema.cpp) ---------------------------------------------===//

  void analyzeParams(const ast::KernelDecl &decl);
  Param::Extent analyzeDim(const ast::Dim &dim);
  void analyzeParam(const ast::Param &param, Param &typedParam);
  /// The types that hardware can add to atomically.
  static bool isAddable(DType dtype);
  bool bindCompileTimeArgs(const ast::KernelDecl &decl,
                           const CompileTimeArgs &args);
  void analyzeDefault(const ast::Param &param, Param &typedParam);
  void analyzeRequirements(const ast::KernelDecl &decl);
  void warnIfNothingIsWritten();
  /// True if `expr` can be computed before a launch; else an error.
  bool checkLaunchConstant(Expr &expr, const llvm::Twine &what);
  Axis *wholeAxis(Dimension *dim);
  Axis *constantAxis(llvm::StringRef name, int64_t extent);
  Axis *wholeAxis(const Param &param, unsigned dim);

  //===--- Schedules (SemaSchedule.cpp) -----------------------------------===//

  void analyzeSchedules(const ast::KernelDecl &decl, llvm::StringRef target);
  bool checkScheduleItem(const ast::ScheduleItem &item);
  void addSchedule(llvm::ArrayRef<ast::ScheduleItem> items, bool apply);

  //===--- Statements (SemaStmt.cpp) --------------------------------------===//

  void analyzeBlock(llvm::ArrayRef<ast::Stmt *> stmts);
  void analyzeStmt(ast::Stmt *stmt);
  void analyzeAssign(const ast::AssignStmt &stmt);
  void assignVariable(const ast::AssignStmt &stmt, const ast::Target &target);
  void setVariable(const ast::Target &target, Value value, SourceRange range);
  void reassign(const ast::Target &target, Var *var, Value value,
                SourceRange range);
  void reportNotAssignable(const ast::Target &target, const Symbol &symbol);
  void analyzeTwoTargets(const ast::AssignStmt &stmt);
  void analyzeFor(const ast::ForStmt &stmt, unsigned binding);
  LoopVar *analyzeBinding(const ast::Binding &binding, bool isGrid);
  bool analyzeExtent(const ast::Binding &binding, LoopVar &var);
  void analyzeGrid(const ast::GridStmt &stmt);
  void analyzeIf(const ast::IfStmt &stmt);
  void analyzeCallStmt(const ast::ExprStmt &stmt);
  void analyzePrint(const ast::CallExpr &call);
  void analyzeAssert(const ast::CallExpr &call);
  /// A bool scalar; null after an error. `what`: "the condition of 'if'".
  Value analyzeCondition(ast::Expr *expr, llvm::StringRef what);
  void recordDependencies(Var *var, Expr &value);
  void collectLoopVars(Expr &expr, llvm::SmallPtrSetImpl<LoopVar *> &vars);

  //===--- Expressions (SemaExpr.cpp) -------------------------------------===//

  /// The value of an expression; may be a literal.
  Value analyze(const ast::Expr *expr);
  /// The same, with literals made i64 or f32.
  Value analyzeTyped(const ast::Expr *expr) { return settle(analyze(expr)); }
  Value analyzeUncounted(const ast::Expr *expr);
  Value analyzeName(const ast::NameExpr &name);
  Value analyzeUnary(const ast::UnaryExpr &unary);
  Value analyzeBinary(const ast::BinaryExpr &binary);
  Value analyzeLogical(const ast::BinaryExpr &binary);
  std::optional<DType> asDType(const ast::Expr *expr);
  Value compareDTypes(const ast::BinaryExpr &binary, DType lhs, DType rhs);
  Value analyzeCast(const ast::CastExpr &cast);
  Value analyzeFull(SourceRange range, const ast::TypeSpec &type,
                    const ast::Expr *value);
  /// `a op b` for arithmetic and comparisons.
  Value binary(ast::BinaryOp op, Value a, Value b, SourceRange range);
  Value negate(Value operand, SourceRange range);
  bool requireBool(Value value, const llvm::Twine &what);

  //===--- Types (SemaTypes.cpp) ------------------------------------------===//

  Value intLiteral(int64_t value, SourceRange range);
  Value floatLiteral(double value, SourceRange range);
  Expr *boolConst(bool value, SourceRange range);
  Expr *constant(ScalarValue value, SourceRange range);
  /// If all operands are constants: the constant `expr` is, else `expr`.
  Expr *fold(Expr *expr);
  Value foldLiteral(Expr *expr, bool literal);
  /// Makes what adapts i64 or f32.
  Value settle(Value value);
  /// Makes an integer that adapts a float that does.
  Value asFloatLiteral(Value value);
  /// `where(condition, onTrue, onFalse)` for operands of one element type.
  Expr *makeWhere(Expr *condition, Expr *onTrue, Expr *onFalse,
                  SourceRange range);
  /// The same of two values that adapt.
  Value makeChoice(Expr *condition, Value onTrue, Value onFalse,
                   SourceRange range);
  /// Warns of a quotient of integers that lost its fraction, and now becomes a
  /// float without having been asked to.
  void warnIfTruncated(const Value &value);
  /// `value` as `dtype`; the conversion must be allowed.
  Expr *convert(Value value, DType dtype);
  /// Where a conversion need not be written: storing may round, assigning to a
  /// variable may not.
  enum class Conversion { Store, Assign };
  /// Converts or reports; `what` names the destination: "the parameter 'C'".
  Expr *convertImplicitly(Value value, DType dtype, Conversion how,
                          const llvm::Twine &what, SourceRange declared);
  /// Gives both one arithmetic type (or bool, if `allowBool`).
  bool unify(Value &a, Value &b, const llvm::Twine &what, bool allowBool);
  static DType arithmeticType(DType dtype);
  static DType commonType(DType a, DType b);
  /// f32 or f64 for the argument of a function of reals; false after an error.
  bool toReal(Value &value, const llvm::Twine &what);
  bool toNumber(Value &value, const llvm::Twine &what);
  static void joinAxes(llvm::SmallVector<Axis *, 4> &axes,
                       llvm::ArrayRef<Axis *> more);
  Axis *findAxis(llvm::StringRef name, SourceRange range);
  Axis *findAxis(const ast::TypeArg &arg);
  std::optional<DType> resolveDType(const ast::TypeSpec &type);

  //===--- Tensors (SemaAccess.cpp) ---------------------------------------===//

  enum class AccessKind { Read, Write, Add };
  struct Place {
    Param *param = nullptr;
    llvm::SmallVector<Index, 4> indices;
    llvm::SmallVector<Axis *, 4> axes;
    SourceRange range;
  };
  Value analyzeSubscript(const ast::SubscriptExpr &subscript);
  std::optional<Place> analyzePlace(Param *param, SourceRange range,
                                    llvm::ArrayRef<ast::Subscript> subscripts,
                                    AccessKind kind);
  bool analyzeIndex(const ast::Subscript &subscript, Param *param, unsigned dim,
                    AccessKind kind, Index &index);
  bool analyzeComputedIndex(Value value, Param *param, unsigned dim,
                            AccessKind kind, Index &index);
  bool addIndexAxes(Place &place, const Index &index);
  bool checkReadable(const Param &param, SourceRange range);
  /// Warns of a tile of one dimension as a subscript of another.
  void warnIfForeign(const LoopVar &var, const Param &param, unsigned dim,
                     AccessKind kind, SourceRange range);
  Value load(const Place &place);
  /// `target op= expr` for a tensor.
  void store(const ast::Target &target, Param *param,
             const ast::AssignStmt &stmt);
  /// False after an error: `op` must not be applied to `param`.
  bool checkWritable(const ast::Target &target, const Param &param,
                     ast::AssignOp op);
  /// `target = value` for a value analyzed already.
  void storeValue(const ast::Target &target, Param *param, Value value,
                  SourceRange range);
  void emitStore(const Place &place, Value value, bool isAdd,
                 SourceRange range);
  bool checkRaces(const Place &place);

  //===--- Calls (SemaCalls.cpp, SemaReduce.cpp) --------------------------===//

  Value analyzeCall(const ast::CallExpr &call);
  Value callBuiltin(const ast::CallExpr &call, const Builtin &builtin);
  /// Calls a builtin by the name of a compile-time parameter.
  Value callBound(const ast::CallExpr &call, const Callee &callee);
  Value callBound(const Callee &callee, llvm::ArrayRef<Value> args,
                  SourceRange range);
  bool checkArguments(const ast::CallExpr &call, const Builtin &builtin);
  /// A builtin that works element by element on `args`, all analyzed.
  Value elementwise(const Builtin &builtin, llvm::ArrayRef<Value> args,
                    SourceRange range);
  Value mathCall(MathFn fn, llvm::StringRef name, Value arg, SourceRange range);
  Value absCall(Value arg, SourceRange range);
  Value combine(BinaryOp op, llvm::StringRef name, Value a, Value b,
                SourceRange range);
  bool unifyChoices(Value &a, Value &b);
  /// Whether a value that adapts is, in all its choices, one of `dtype`.
  bool isExactIn(const Value &value, DType dtype);
  Value whereCall(Value condition, Value a, Value b, SourceRange range);
  Value randomCall(const ast::CallExpr &call);
  Value reduceCall(const ast::CallExpr &call, const Builtin &builtin);
  Value scanCall(const ast::CallExpr &call, const Builtin &builtin);
  Value dotCall(const ast::CallExpr &call);
  bool contractedAxes(const ast::CallExpr &call, Value lhs, Value rhs,
                      llvm::SmallVectorImpl<Axis *> &contract);
  bool unifyDotOperands(const ast::CallExpr &call, Value &lhs, Value &rhs,
                        Dot &dot);
  std::optional<Precision> analyzePrecision(const ast::CallExpr &call);
  bool reductionAxes(const ast::CallExpr &call, Value operand, bool single,
                     llvm::SmallVectorImpl<Axis *> &axes);
  void reportMissingAxis(const ast::TypeArg &arg, Axis *axis, Value operand,
                         llvm::StringRef what);
  /// Warns of axes that are tiles and were not named.
  void warnIfOverTiles(const ast::CallExpr &call, Value operand,
                       llvm::ArrayRef<Axis *> axes);
  /// Whether the results of all tiles of `axis` are put together on the spot.
  bool isAddedUp(const ast::CallExpr &call, const Axis &axis);

  //===--- Attention and lambdas (SemaAttention.cpp) ----------------------===//

  Attention *attentionCall(const ast::CallExpr &call);
  bool attentionAxes(const ast::CallExpr &call, Attention &attention,
                     Value query);
  bool attentionTypes(const ast::CallExpr &call, Attention &attention);
  Load *attentionOperand(const ast::CallExpr &call, unsigned arg,
                         llvm::StringRef what);
  Expr *attentionScale(const ast::Expr *given, Attention &attention,
                       SourceRange range);
  std::optional<Lambda> analyzeLambda(const ast::Expr *expr,
                                      llvm::StringRef what,
                                      llvm::ArrayRef<DType> params,
                                      llvm::ArrayRef<llvm::StringRef> names,
                                      DType result);
  /// In a lambda: false after an error if `type` has axes.
  bool checkCapture(const ValueType &type, const llvm::Twine &what,
                    SourceRange range, SourceRange declared);

  //===--- Functions (SemaInline.cpp) -------------------------------------===//

  /// Calls `callee` with arguments already analyzed.
  Value call(const Callee &callee, llvm::ArrayRef<ast::TypeArg> typeArgs,
             llvm::ArrayRef<Value> args, SourceRange range);
  Value callFn(const ast::CallExpr &call, const ast::FnDecl &fn);
  Value inlineFn(const ast::FnDecl &fn, llvm::ArrayRef<ast::TypeArg> typeArgs,
                 llvm::ArrayRef<Value> args, SourceRange range);
  Value analyzeFn(const ast::FnDecl &fn, llvm::ArrayRef<Value> args,
                  SourceRange range);
  bool bindArguments(const ast::FnDecl &fn, llvm::ArrayRef<Value> args,
                     Let *let);
  /// From here on `name` is `value`, computed once.
  void bindName(const ast::Ident &name, Expr *value, Let *let);
  Value analyzeFnBody(const ast::Block &block, Let *let);
  void analyzeFnStmt(ast::Stmt *stmt, Let *let);
  void analyzeFnAssign(const ast::AssignStmt &stmt, Let *let);
  bool decideFnIf(const ast::IfStmt &stmt, const ast::Block *&taken);
  /// Notes which names are assigned anywhere, for messages about unknown ones.
  void collectAssigned(const ast::Block &block);

  //===--- Compile-time parameters (SemaCompileTime.cpp) ------------------===//

  /// Defines compile-time parameters in the current environment.
  bool bindCtParams(llvm::ArrayRef<ast::CtParam> params,
                    llvm::ArrayRef<std::optional<CtValue>> given,
                    const ast::Decl &decl, SourceRange range);
  std::optional<CtValue> ctFromArg(const ast::CtParam &param,
                                   const ast::TypeArg &arg);
  std::optional<CtValue> ctFromText(const ast::CtParam &param,
                                    llvm::StringRef text, SourceRange range);
  std::optional<CtValue> ctFromDefault(const ast::CtParam &param);
  bool checkFnMatches(const ast::CtParam &param, const Callee &callee,
                      SourceRange range);
  /// Gives a builtin the types of the parameter whose value it is.
  void bindBuiltin(const ast::CtParam &param, Callee &callee);
  /// Null: a mistake was reported.
  void defineCt(const ast::CtParam &param, const CtValue *value);

  //===--- State ----------------------------------------------------------===//

  /// Makes a node. Their number is limited: functions that call one another
  /// twice each grow exponentially.
  template <typename T> T *make(SourceRange range) {
    countNode(range);
    T *node = kernel->arena.make<T>();
    node->range = range;
    return node;
  }
  void countNode(SourceRange range);

  const ProgramIndex &index;
  DiagnosticEngine &diags;
  std::unique_ptr<Kernel> kernel;
  Environment *env = nullptr;
  Body *body = nullptr; // Where statements go.
  /// The assignment that is being analyzed.
  const ast::AssignStmt *assignment = nullptr;
  bool inLoopCondition = false;
  llvm::DenseMap<Dimension *, Axis *> wholeAxes;
  llvm::StringMap<Axis *> constantAxes;
  /// Grid and loop variables a scalar variable was computed from.
  llvm::DenseMap<Var *, llvm::SmallPtrSet<LoopVar *, 2>> dependencies;
  llvm::SmallVector<std::pair<const ast::FnDecl *, SourceRange>, 8> inlining;
  unsigned depth = 0;    // Of nested analyze().
  unsigned numNodes = 0; // Made by inlining so far.
  bool inLambda = false;
  bool aborted = false;
  Diagnostic discarded; // What error() gives for a repeated message.
};

/// The operation of `+=`, `-=`, `*=` or `/=`.
ast::BinaryOp arithmeticOp(ast::AssignOp op);

/// Whether two constants are the same number.
bool isSameNumber(const Expr &a, const Expr &b);

/// "f32[m, n]", or "f32" for a scalar.
std::string describe(const ValueType &type);
/// "[m, n]"
std::string describeAxes(llvm::ArrayRef<Axis *> axes);
/// "m, n or k"
std::string joinNames(llvm::ArrayRef<llvm::StringRef> names,
                      llvm::StringRef last = " or ");
/// "did you mean 'x'?" or else `otherwise`.
std::string suggest(llvm::StringRef name,
                    llvm::ArrayRef<llvm::StringRef> candidates,
                    const llvm::Twine &otherwise = "");

} // namespace tilec::sema

#endif // TILEC_FRONTEND_SEMAIMPL_H

//===- ASTSourcePrinter.cpp - Syntax trees as source text -------*- C++ -*-===//
//
// Brackets are written exactly where the grammar needs them: around an operand
// that binds less strongly than its operator, around a lambda that is an
// operand (its body would swallow what follows), and around the default of a
// compile-time parameter, where a bare `>` would close the list.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ASTPrinter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace tilec;
using namespace tilec::ast;
using llvm::StringRef;

namespace {

/// How strongly an expression holds together, as in the grammar.
enum Strength : unsigned {
  LambdaStrength,
  OrStrength,
  AndStrength,
  CompareStrength,
  AddStrength,
  MulStrength,
  UnaryStrength,
  PrimaryStrength,
};

class SourcePrinter {
public:
  explicit SourcePrinter(llvm::raw_ostream &os) : os(os) {}

  void print(const File &file);
  void print(const Decl &decl);
  void print(const Expr &expr, Strength needed = LambdaStrength);
  void print(const TypeSpec &type);

private:
  void print(const Block &block);
  void print(const Stmt &stmt);
  void print(const IfStmt &stmt);
  void print(const Param &param);
  void print(const CtParam &param);
  void print(const Binding &binding);
  void printItems(llvm::ArrayRef<ScheduleItem> items);
  void printSubscripts(llvm::ArrayRef<Subscript> subscripts);
  void printCtParams(llvm::ArrayRef<CtParam> params);

  /// Expressions with commas between them; `before` is called ahead of each.
  void printExprs(llvm::ArrayRef<const Expr *> exprs,
                  llvm::function_ref<void(size_t)> before = nullptr);
  template <typename List> void commaSeparated(const List &list) {
    llvm::interleaveComma(list, os, [&](const auto &item) { print(item); });
  }
  llvm::raw_ostream &line() { return os.indent(indent); }

  llvm::raw_ostream &os;
  unsigned indent = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Expressions and types
//===----------------------------------------------------------------------===//

static Strength strengthOf(BinaryOp op) {
  switch (op) {
  case BinaryOp::Or:
    return OrStrength;
  case BinaryOp::And:
    return AndStrength;
  case BinaryOp::Add:
  case BinaryOp::Sub:
    return AddStrength;
  case BinaryOp::Mul:
  case BinaryOp::Div:
  case BinaryOp::Mod:
    return MulStrength;
  default:
    return CompareStrength;
  }
}

static Strength strengthOf(const Expr &expr) {
  switch (expr.getKind()) {
  case Expr::Kind::Lambda:
    return LambdaStrength;
  case Expr::Kind::Binary:
    return strengthOf(llvm::cast<BinaryExpr>(expr).getOp());
  case Expr::Kind::Unary:
    return UnaryStrength;
  default:
    return PrimaryStrength;
  }
}

static void printString(llvm::raw_ostream &os, StringRef text) {
  os << '"';
  for (char c : text) {
    switch (c) {
    case '\n':
      os << "\\n";
      break;
    case '\r':
      os << "\\r";
      break;
    case '\t':
      os << "\\t";
      break;
    case '"':
    case '\\':
      os << '\\' << c;
      break;
    default:
      os << c;
    }
  }
  os << '"';
}

void SourcePrinter::print(const TypeSpec &type) {
  os << (type.dtype ? dtypeName(*type.dtype) : type.dtypeParam);
  if (!type.hasDims)
    return;
  os << '[';
  llvm::interleaveComma(type.dims, os, [&](const Dim &dim) {
    if (dim.isName())
      os << dim.name;
    else
      os << dim.value;
  });
  os << ']';
}

/// Whether an operator stands in the text of an expression outside of brackets.
static bool hasBare(const Expr &expr, BinaryOp op) {
  if (auto *lambda = llvm::dyn_cast<LambdaExpr>(&expr))
    return hasBare(*lambda->getBody(), op);
  auto *binary = llvm::dyn_cast<BinaryExpr>(&expr);
  if (!binary || strengthOf(binary->getOp()) > CompareStrength)
    return false;
  return binary->getOp() == op || hasBare(*binary->getLHS(), op) ||
         hasBare(*binary->getRHS(), op);
}

void SourcePrinter::printExprs(llvm::ArrayRef<const Expr *> exprs,
                               llvm::function_ref<void(size_t)> before) {
  // In `a < b, c > (d)` the parser sees a call of `a`.
  size_t lastGreater = 0;
  for (size_t i = 0; i < exprs.size(); ++i)
    if (exprs[i] && hasBare(*exprs[i], BinaryOp::Gt))
      lastGreater = i;
  for (size_t i = 0; i < exprs.size(); ++i) {
    if (i != 0)
      os << ", ";
    if (before)
      before(i);
    if (!exprs[i])
      os << ':'; // A whole axis.
    else if (i < lastGreater && hasBare(*exprs[i], BinaryOp::Lt))
      print(*exprs[i], PrimaryStrength);
    else
      print(*exprs[i]);
  }
}

void SourcePrinter::printSubscripts(llvm::ArrayRef<Subscript> subscripts) {
  llvm::SmallVector<const Expr *> exprs;
  for (const Subscript &subscript : subscripts)
    exprs.push_back(subscript.index);
  os << '[';
  printExprs(exprs);
  os << ']';
}

void SourcePrinter::print(const Expr &expr, Strength needed) {
  if (strengthOf(expr) < needed) {
    os << '(';
    print(expr);
    os << ')';
    return;
  }
  switch (expr.getKind()) {
  case Expr::Kind::IntLiteral:
    // INT64_MIN stands for 2^63 under a minus.
    os << static_cast<uint64_t>(llvm::cast<IntLiteral>(expr).getValue());
    break;
  case Expr::Kind::FloatLiteral:
    os << llvm::cast<FloatLiteral>(expr).getText();
    break;
  case Expr::Kind::BoolLiteral:
    os << (llvm::cast<BoolLiteral>(expr).getValue() ? "true" : "false");
    break;
  case Expr::Kind::InfLiteral:
    os << "inf";
    break;
  case Expr::Kind::NanLiteral:
    os << "nan";
    break;
  case Expr::Kind::StringLiteral:
    printString(os, llvm::cast<StringLiteral>(expr).getValue());
    break;
  case Expr::Kind::Name:
    os << llvm::cast<NameExpr>(expr).getName();
    break;
  case Expr::Kind::DType:
    os << dtypeName(llvm::cast<DTypeExpr>(expr).getDType());
    break;
  case Expr::Kind::Unary: {
    auto &unary = llvm::cast<UnaryExpr>(expr);
    os << spelling(unary.getOp());
    print(*unary.getOperand(), UnaryStrength);
    break;
  }
  case Expr::Kind::Binary: {
    auto &binary = llvm::cast<BinaryExpr>(expr);
    Strength own = strengthOf(binary.getOp());
    // All operators group to the left, comparisons not at all.
    print(*binary.getLHS(), own == CompareStrength ? Strength(own + 1) : own);
    os << ' ' << spelling(binary.getOp()) << ' ';
    print(*binary.getRHS(), Strength(own + 1));
    break;
  }
  case Expr::Kind::Call: {
    auto &call = llvm::cast<CallExpr>(expr);
    os << call.getCallee();
    if (call.hasTypeArgs()) {
      os << '<';
      llvm::interleaveComma(call.getTypeArgs(), os,
                            [&](const TypeArg &arg) { os << toSource(arg); });
      os << '>';
    }
    os << '(';
    llvm::SmallVector<const Expr *> args;
    for (const CallArg &arg : call.getArgs())
      args.push_back(arg.value);
    printExprs(args, [&](size_t i) {
      if (call.getArgs()[i].isNamed())
        os << call.getArgs()[i].name << " = ";
    });
    os << ')';
    break;
  }
  case Expr::Kind::Subscript: {
    auto &subscript = llvm::cast<SubscriptExpr>(expr);
    os << subscript.getBase()->getName();
    printSubscripts(subscript.getSubscripts());
    break;
  }
  case Expr::Kind::Cast: {
    auto &cast = llvm::cast<CastExpr>(expr);
    print(cast.getType());
    os << '(';
    print(*cast.getOperand());
    os << ')';
    break;
  }
  case Expr::Kind::Lambda: {
    auto &lambda = llvm::cast<LambdaExpr>(expr);
    os << '|';
    llvm::interleaveComma(lambda.getParams(), os,
                          [&](const Ident &param) { os << param.name; });
    os << "| ";
    print(*lambda.getBody());
    break;
  }
  case Expr::Kind::Zeros:
    os << "zeros ";
    print(llvm::cast<ZerosExpr>(expr).getType());
    break;
  case Expr::Kind::Full: {
    auto &full = llvm::cast<FullExpr>(expr);
    os << "full ";
    print(full.getType());
    os << ' ';
    print(*full.getValue(), UnaryStrength);
    break;
  }
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void SourcePrinter::print(const Block &block) {
  os << "{\n";
  indent += 2;
  for (const Stmt *stmt : block.getStmts()) {
    line();
    print(*stmt);
    os << '\n';
  }
  indent -= 2;
  line() << '}';
}

void SourcePrinter::print(const Binding &binding) {
  os << binding.name.name << " in ";
  if (binding.isTile)
    os << "tile(";
  if (binding.size)
    printExprs({binding.extent, binding.size});
  else
    print(*binding.extent);
  if (binding.isTile)
    os << ')';
}

void SourcePrinter::printItems(llvm::ArrayRef<ScheduleItem> items) {
  if (items.empty()) {
    os << "{ }";
    return;
  }
  os << "{ ";
  llvm::interleaveComma(items, os, [&](const ScheduleItem &item) {
    os << item.key.name << " = " << valueToSource(item);
  });
  os << " }";
}

void SourcePrinter::print(const IfStmt &stmt) {
  os << "if ";
  print(*stmt.getCondition());
  os << ' ';
  print(*stmt.getThen());
  if (!stmt.getElse())
    return;
  os << " else ";
  llvm::ArrayRef<Stmt *> inner = stmt.getElse()->getStmts();
  if (inner.size() == 1 && llvm::isa<IfStmt>(inner[0]))
    print(llvm::cast<IfStmt>(*inner[0]));
  else
    print(*stmt.getElse());
}

void SourcePrinter::print(const Stmt &stmt) {
  switch (stmt.getKind()) {
  case Stmt::Kind::Assign: {
    auto &assign = llvm::cast<AssignStmt>(stmt);
    llvm::interleaveComma(assign.getTargets(), os, [&](const Target &target) {
      os << target.name.name;
      if (target.hasSubscripts)
        printSubscripts(target.subscripts);
    });
    os << ' ' << spelling(assign.getOp()) << ' ';
    print(*assign.getValue());
    break;
  }
  case Stmt::Kind::For: {
    auto &loop = llvm::cast<ForStmt>(stmt);
    os << "for ";
    commaSeparated(loop.getBindings());
    if (loop.getCondition()) {
      os << " if ";
      print(*loop.getCondition());
    }
    os << ' ';
    print(*loop.getBody());
    break;
  }
  case Stmt::Kind::Grid:
    os << "grid ";
    commaSeparated(llvm::cast<GridStmt>(stmt).getBindings());
    break;
  case Stmt::Kind::If:
    print(llvm::cast<IfStmt>(stmt));
    break;
  case Stmt::Kind::Schedule:
    os << "schedule ";
    printItems(llvm::cast<ScheduleStmt>(stmt).getItems());
    break;
  case Stmt::Kind::Expr:
    print(*llvm::cast<ExprStmt>(stmt).getExpr());
    break;
  }
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void SourcePrinter::print(const Param &param) {
  os << param.name.name << ": ";
  // `in` is what a parameter is anyway.
  if (param.access != Access::In)
    os << spelling(param.access) << ' ';
  print(param.type);
  if (param.defaultValue) {
    os << " = ";
    print(*param.defaultValue);
  }
}

void SourcePrinter::print(const CtParam &param) {
  os << param.name.name << ": " << kindToSource(param);
  if (param.defaultValue) {
    os << " = ";
    print(*param.defaultValue, PrimaryStrength);
  }
}

void SourcePrinter::printCtParams(llvm::ArrayRef<CtParam> params) {
  if (params.empty())
    return;
  os << '<';
  commaSeparated(params);
  os << '>';
}

void SourcePrinter::print(const Decl &decl) {
  switch (decl.getKind()) {
  case Decl::Kind::Import:
    os << "import ";
    printString(os, llvm::cast<ImportDecl>(decl).getPath());
    break;
  case Decl::Kind::Fn: {
    auto &fn = llvm::cast<FnDecl>(decl);
    os << "fn " << fn.getName();
    printCtParams(fn.getCtParams());
    os << '(';
    commaSeparated(fn.getParams());
    os << ") -> ";
    print(fn.getResult());
    os << ' ';
    print(*fn.getBody());
    break;
  }
  case Decl::Kind::Kernel: {
    auto &kernel = llvm::cast<KernelDecl>(decl);
    os << "kernel " << kernel.getName();
    printCtParams(kernel.getCtParams());
    os << '(';
    commaSeparated(kernel.getParams());
    os << ") ";
    if (!kernel.getRequirements().empty()) {
      os << "requires ";
      llvm::SmallVector<const Expr *> requirements(kernel.getRequirements());
      printExprs(requirements);
      os << ' ';
    }
    print(*kernel.getBody());
    break;
  }
  case Decl::Kind::Schedule: {
    auto &schedule = llvm::cast<ScheduleDecl>(decl);
    os << "schedule " << schedule.getKernel().name << " for "
       << schedule.getTarget().name << ' ';
    printItems(schedule.getItems());
    break;
  }
  }
  os << '\n';
}

void SourcePrinter::print(const File &file) {
  const Decl *previous = nullptr;
  for (const Decl *decl : file.decls) {
    bool bothImports = llvm::isa_and_nonnull<ImportDecl>(previous) &&
                       llvm::isa<ImportDecl>(decl);
    if (previous && !bothImports)
      os << '\n';
    print(*decl);
    previous = decl;
  }
}

void tilec::printSource(const File &file, llvm::raw_ostream &os) {
  SourcePrinter(os).print(file);
}

void tilec::printSource(const Decl &decl, llvm::raw_ostream &os) {
  SourcePrinter(os).print(decl);
}

std::string tilec::toSource(const Expr &expr) {
  std::string text;
  llvm::raw_string_ostream os(text);
  SourcePrinter(os).print(expr);
  return text;
}

std::string tilec::toSource(const TypeSpec &type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  SourcePrinter(os).print(type);
  return text;
}

std::string tilec::toSource(const TypeArg &arg) {
  switch (arg.kind) {
  case TypeArg::Kind::Name:
    return arg.name.str();
  case TypeArg::Kind::Int:
    return std::to_string(arg.intValue);
  case TypeArg::Kind::Bool:
    return arg.boolValue ? "true" : "false";
  case TypeArg::Kind::DType:
    return dtypeName(arg.dtype).str();
  }
  llvm_unreachable("not a kind of argument");
}

std::string tilec::kindToSource(const CtParam &param) {
  switch (param.kind) {
  case CtParam::Kind::Bool:
    return "bool";
  case CtParam::Kind::Int:
    return "int";
  case CtParam::Kind::DType:
    return "dtype";
  case CtParam::Kind::Fn:
    break;
  }
  std::string text = "fn(";
  for (const TypeSpec &type : param.fnParams)
    text += (&type == param.fnParams.begin() ? "" : ", ") + toSource(type);
  return text + ") -> " + toSource(param.fnResult);
}

std::string tilec::valueToSource(const ScheduleItem &item) {
  switch (item.kind) {
  case ScheduleItem::Kind::Int:
    return std::to_string(item.intValue);
  case ScheduleItem::Kind::Name:
    return item.nameValue.str();
  case ScheduleItem::Kind::Bool:
    return item.boolValue ? "true" : "false";
  }
  llvm_unreachable("not a kind of value");
}

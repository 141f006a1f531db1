//===- ASTPrinter.cpp - Syntax trees as an indented list --------*- C++ -*-===//
//
// One node a line, children indented by two. A child whose role is not plain
// from its place is introduced by a line that names the role.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ASTPrinter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tilec::ast;
using llvm::StringRef;

namespace {

class Dumper {
public:
  Dumper(llvm::raw_ostream &os, const SourceManager *sources)
      : os(os), sources(sources) {}

  void dump(const File &file);

private:
  void dump(const Decl &decl);
  void dump(const CtParam &param);
  void dump(const Param &param);
  void dump(const ScheduleItem &item);
  void dump(const Block &block);
  void dump(const Stmt &stmt);
  void dump(const Binding &binding);
  void dump(const Target &target);
  void dump(const Expr &expr);
  void dump(const Subscript &subscript);
  void dump(const CallArg &arg);

  template <typename List> void dumpAll(const List &list) {
    for (const auto &item : list)
      dump(item);
  }
  /// A line that only names what is below it.
  template <typename Body> void group(StringRef title, Body body) {
    os.indent(indent) << title << '\n';
    Nested nested(*this);
    body();
  }
  llvm::raw_ostream &begin() { return os.indent(indent); }
  void end(SourceRange range) {
    if (sources) {
      LineColumn at = sources->getLineColumn(range.begin);
      os << ' ' << at.line << ':' << at.column;
    }
    os << '\n';
  }

  struct Nested {
    explicit Nested(Dumper &dumper) : dumper(dumper) { dumper.indent += 2; }
    ~Nested() { dumper.indent -= 2; }
    Dumper &dumper;
  };

  llvm::raw_ostream &os;
  const SourceManager *sources;
  unsigned indent = 0;
};

} // namespace

void Dumper::dump(const File &file) {
  begin() << "File";
  if (sources)
    os << " '" << sources->getName(file.index) << "'";
  os << '\n';
  Nested nested(*this);
  for (const Decl *decl : file.decls)
    dump(*decl);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Dumper::dump(const CtParam &param) {
  begin() << "CtParam '" << param.name.name << "' " << kindToSource(param);
  end(param.range);
  Nested nested(*this);
  if (param.defaultValue)
    dump(*param.defaultValue);
}

void Dumper::dump(const Param &param) {
  begin() << "Param '" << param.name.name << "' " << spelling(param.access)
          << ' ' << toSource(param.type);
  end(param.range);
  Nested nested(*this);
  if (param.defaultValue)
    dump(*param.defaultValue);
}

void Dumper::dump(const ScheduleItem &item) {
  begin() << "Item '" << item.key.name << "' = ";
  // A name is not to be taken for a bool.
  bool isName = item.kind == ScheduleItem::Kind::Name;
  os << (isName ? "'" : "") << valueToSource(item) << (isName ? "'" : "");
  end(item.key.range);
}

void Dumper::dump(const Decl &decl) {
  switch (decl.getKind()) {
  case Decl::Kind::Import: {
    begin() << "Import \"";
    llvm::printEscapedString(llvm::cast<ImportDecl>(decl).getPath(), os);
    os << '"';
    end(decl.getRange());
    return;
  }
  case Decl::Kind::Fn: {
    auto &fn = llvm::cast<FnDecl>(decl);
    begin() << "Fn '" << fn.getName() << "' -> " << toSource(fn.getResult());
    end(decl.getRange());
    Nested nested(*this);
    dumpAll(fn.getCtParams());
    dumpAll(fn.getParams());
    dump(*fn.getBody());
    return;
  }
  case Decl::Kind::Kernel: {
    auto &kernel = llvm::cast<KernelDecl>(decl);
    begin() << "Kernel '" << kernel.getName() << "'";
    end(decl.getRange());
    Nested nested(*this);
    dumpAll(kernel.getCtParams());
    dumpAll(kernel.getParams());
    if (!kernel.getRequirements().empty())
      group("Requires", [&] {
        for (const Expr *expr : kernel.getRequirements())
          dump(*expr);
      });
    dump(*kernel.getBody());
    return;
  }
  case Decl::Kind::Schedule: {
    auto &schedule = llvm::cast<ScheduleDecl>(decl);
    begin() << "ScheduleDecl '" << schedule.getKernel().name << "' for '"
            << schedule.getTarget().name << "'";
    end(decl.getRange());
    Nested nested(*this);
    dumpAll(schedule.getItems());
    return;
  }
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Dumper::dump(const Block &block) {
  // Without a place: an `else if` has a block, but no brace to point at.
  group("Block", [&] {
    for (const Stmt *stmt : block.getStmts())
      dump(*stmt);
  });
}

void Dumper::dump(const Binding &binding) {
  begin() << "Binding '" << binding.name.name << "'"
          << (binding.isTile ? " tile" : "");
  end(binding.range);
  Nested nested(*this);
  dump(*binding.extent);
  if (binding.size)
    group("Size", [&] { dump(*binding.size); });
}

void Dumper::dump(const Target &target) {
  begin() << "Target '" << target.name.name << "'";
  end(target.range);
  Nested nested(*this);
  dumpAll(target.subscripts);
}

void Dumper::dump(const Stmt &stmt) {
  switch (stmt.getKind()) {
  case Stmt::Kind::Assign: {
    auto &assign = llvm::cast<AssignStmt>(stmt);
    begin() << "Assign '" << spelling(assign.getOp()) << "'";
    end(stmt.getRange());
    Nested nested(*this);
    dumpAll(assign.getTargets());
    dump(*assign.getValue());
    return;
  }
  case Stmt::Kind::For: {
    auto &loop = llvm::cast<ForStmt>(stmt);
    begin() << "For";
    end(stmt.getRange());
    Nested nested(*this);
    dumpAll(loop.getBindings());
    if (loop.getCondition())
      group("Condition", [&] { dump(*loop.getCondition()); });
    dump(*loop.getBody());
    return;
  }
  case Stmt::Kind::Grid: {
    begin() << "Grid";
    end(stmt.getRange());
    Nested nested(*this);
    dumpAll(llvm::cast<GridStmt>(stmt).getBindings());
    return;
  }
  case Stmt::Kind::If: {
    auto &branch = llvm::cast<IfStmt>(stmt);
    begin() << "If";
    end(stmt.getRange());
    Nested nested(*this);
    dump(*branch.getCondition());
    dump(*branch.getThen());
    if (branch.getElse())
      group("Else", [&] { dump(*branch.getElse()); });
    return;
  }
  case Stmt::Kind::Schedule: {
    begin() << "Schedule";
    end(stmt.getRange());
    Nested nested(*this);
    dumpAll(llvm::cast<ScheduleStmt>(stmt).getItems());
    return;
  }
  case Stmt::Kind::Expr: {
    begin() << "ExprStmt";
    end(stmt.getRange());
    Nested nested(*this);
    dump(*llvm::cast<ExprStmt>(stmt).getExpr());
    return;
  }
  }
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

void Dumper::dump(const Subscript &subscript) {
  if (subscript.index) {
    dump(*subscript.index);
    return;
  }
  begin() << "WholeAxis";
  end(subscript.range);
}

void Dumper::dump(const CallArg &arg) {
  if (!arg.isNamed()) {
    dump(*arg.value);
    return;
  }
  begin() << "Arg '" << arg.name << "'";
  end(arg.nameRange);
  Nested nested(*this);
  dump(*arg.value);
}

void Dumper::dump(const Expr &expr) {
  begin();
  auto leaf = [&](const llvm::Twine &text) {
    os << text;
    end(expr.getRange());
  };
  switch (expr.getKind()) {
  case Expr::Kind::IntLiteral:
    return leaf("Int " + llvm::Twine(static_cast<uint64_t>(
                             llvm::cast<IntLiteral>(expr).getValue())));
  case Expr::Kind::FloatLiteral:
    return leaf("Float " + llvm::cast<FloatLiteral>(expr).getText());
  case Expr::Kind::BoolLiteral:
    return leaf(llvm::cast<BoolLiteral>(expr).getValue() ? "Bool true"
                                                         : "Bool false");
  case Expr::Kind::InfLiteral:
    return leaf("Inf");
  case Expr::Kind::NanLiteral:
    return leaf("Nan");
  case Expr::Kind::StringLiteral:
    os << "String \"";
    llvm::printEscapedString(llvm::cast<StringLiteral>(expr).getValue(), os);
    return leaf("\"");
  case Expr::Kind::Name:
    return leaf("Name '" + llvm::cast<NameExpr>(expr).getName() + "'");
  case Expr::Kind::DType:
    return leaf("DType " + dtypeName(llvm::cast<DTypeExpr>(expr).getDType()));
  case Expr::Kind::Unary: {
    auto &unary = llvm::cast<UnaryExpr>(expr);
    leaf("Unary '" + spelling(unary.getOp()) + "'");
    Nested nested(*this);
    return dump(*unary.getOperand());
  }
  case Expr::Kind::Binary: {
    auto &binary = llvm::cast<BinaryExpr>(expr);
    leaf("Binary '" + spelling(binary.getOp()) + "'");
    Nested nested(*this);
    dump(*binary.getLHS());
    return dump(*binary.getRHS());
  }
  case Expr::Kind::Call: {
    auto &call = llvm::cast<CallExpr>(expr);
    os << "Call '" << call.getCallee() << "'";
    if (call.hasTypeArgs()) {
      os << " <";
      llvm::interleaveComma(call.getTypeArgs(), os,
                            [&](const TypeArg &arg) { os << toSource(arg); });
      os << '>';
    }
    leaf("");
    Nested nested(*this);
    return dumpAll(call.getArgs());
  }
  case Expr::Kind::Subscript: {
    auto &subscript = llvm::cast<SubscriptExpr>(expr);
    leaf("Subscript '" + subscript.getBase()->getName() + "'");
    Nested nested(*this);
    return dumpAll(subscript.getSubscripts());
  }
  case Expr::Kind::Cast: {
    auto &cast = llvm::cast<CastExpr>(expr);
    leaf("Cast " + toSource(cast.getType()));
    Nested nested(*this);
    return dump(*cast.getOperand());
  }
  case Expr::Kind::Lambda: {
    auto &lambda = llvm::cast<LambdaExpr>(expr);
    os << "Lambda |";
    llvm::interleaveComma(lambda.getParams(), os,
                          [&](const Ident &param) { os << param.name; });
    leaf("|");
    Nested nested(*this);
    return dump(*lambda.getBody());
  }
  case Expr::Kind::Zeros:
    return leaf("Zeros " + toSource(llvm::cast<ZerosExpr>(expr).getType()));
  case Expr::Kind::Full: {
    auto &full = llvm::cast<FullExpr>(expr);
    leaf("Full " + toSource(full.getType()));
    Nested nested(*this);
    return dump(*full.getValue());
  }
  }
}

void tilec::printAST(const File &file, const SourceManager &sources,
                     llvm::raw_ostream &os) {
  Dumper(os, &sources).dump(file);
}

void tilec::printAST(const File &file, llvm::raw_ostream &os) {
  Dumper(os, nullptr).dump(file);
}

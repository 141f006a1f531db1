//===- TypedASTPrinter.cpp - Elaborated kernels as text ---------*- C++ -*-===//
//
// See the header for the form.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/TypedASTPrinter.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace tilec;
using namespace tilec::typed;
using llvm::cast;
using llvm::StringRef;

static StringRef nameOf(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
    return "+";
  case BinaryOp::Sub:
    return "-";
  case BinaryOp::Mul:
    return "*";
  case BinaryOp::Div:
    return "/";
  case BinaryOp::FloorDiv:
    return "floordiv";
  case BinaryOp::FloorMod:
    return "floormod";
  case BinaryOp::Min:
    return "min";
  case BinaryOp::Max:
    return "max";
  case BinaryOp::FMin:
    return "fmin";
  case BinaryOp::FMax:
    return "fmax";
  case BinaryOp::And:
    return "&&";
  case BinaryOp::Or:
    return "||";
  case BinaryOp::Eq:
    return "==";
  case BinaryOp::Ne:
    return "!=";
  case BinaryOp::Lt:
    return "<";
  case BinaryOp::Le:
    return "<=";
  case BinaryOp::Gt:
    return ">";
  case BinaryOp::Ge:
    return ">=";
  case BinaryOp::Pow:
    return "pow";
  }
  llvm_unreachable("not a binary operation");
}

static StringRef nameOf(MathFn fn) {
  switch (fn) {
  case MathFn::Exp:
    return "exp";
  case MathFn::Exp2:
    return "exp2";
  case MathFn::Log:
    return "log";
  case MathFn::Log2:
    return "log2";
  case MathFn::Sqrt:
    return "sqrt";
  case MathFn::Rsqrt:
    return "rsqrt";
  case MathFn::Tanh:
    return "tanh";
  case MathFn::Sigmoid:
    return "sigmoid";
  case MathFn::Erf:
    return "erf";
  case MathFn::Gelu:
    return "gelu";
  case MathFn::Silu:
    return "silu";
  case MathFn::Relu:
    return "relu";
  case MathFn::Floor:
    return "floor";
  case MathFn::Ceil:
    return "ceil";
  case MathFn::Round:
    return "round";
  case MathFn::Sin:
    return "sin";
  case MathFn::Cos:
    return "cos";
  }
  llvm_unreachable("not a math function");
}

static StringRef nameOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return "sum";
  case ReduceKind::Prod:
    return "prod";
  case ReduceKind::Max:
    return "max";
  case ReduceKind::Min:
    return "min";
  case ReduceKind::FMax:
    return "fmax";
  case ReduceKind::FMin:
    return "fmin";
  case ReduceKind::Any:
    return "any";
  case ReduceKind::All:
    return "all";
  case ReduceKind::ArgMax:
    return "argmax";
  case ReduceKind::ArgMin:
    return "argmin";
  case ReduceKind::Mean:
    return "mean";
  case ReduceKind::LogSumExp:
    return "logsumexp";
  }
  llvm_unreachable("not a reduction");
}

static std::string axisList(llvm::ArrayRef<Axis *> axes) {
  std::string text;
  for (const Axis *axis : axes)
    text += (text.empty() ? "" : ", ") + axis->name.str();
  return text;
}

std::string tilec::formatTyped(const ValueType &type) {
  std::string text = dtypeName(type.dtype).str();
  return type.isScalar() ? text : text + "[" + axisList(type.axes) + "]";
}

namespace {
class Printer {
public:
  explicit Printer(llvm::raw_ostream &os) : os(os) {}
  void print(const Kernel &kernel);
  void print(const Expr *expr);

private:
  void print(const LoopVar &var);
  void print(const Param &param);
  void print(const Stmt &stmt, unsigned indent);
  void print(const Body &body, unsigned indent);
  void printAccess(const Param &param, llvm::ArrayRef<Index> indices);
  void printBinary(const Binary &binary);
  void printAttention(const Attention &attention);
  void print(const Lambda &lambda);
  void printFloat(double value, DType dtype);
  void printList(llvm::ArrayRef<Expr *> exprs);
  llvm::raw_ostream &line(unsigned indent) { return os.indent(2 * indent); }
  llvm::raw_ostream &os;
};
} // namespace

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

void Printer::printFloat(double value, DType dtype) {
  if (std::isnan(value)) {
    os << "nan";
  } else if (std::isinf(value)) {
    os << (value < 0 ? "-inf" : "inf");
  } else {
    // The shortest digits that give this number back.
    llvm::SmallString<32> text;
    for (int precision : {6, 9, 17}) {
      char buffer[40];
      snprintf(buffer, sizeof(buffer), "%.*g", precision, value);
      text = buffer;
      double back = strtod(buffer, nullptr);
      if (back == value ||
          (dtype != DType::F64 &&
           static_cast<float>(back) == static_cast<float>(value)))
        break;
    }
    os << text;
    if (StringRef(text).find_first_of(".e") == StringRef::npos)
      os << ".0";
  }
  if (dtype != DType::F32)
    os << ":" << dtypeName(dtype);
}

void Printer::printList(llvm::ArrayRef<Expr *> exprs) {
  os << "(";
  llvm::interleaveComma(exprs, os, [&](const Expr *expr) { print(expr); });
  os << ")";
}

void Printer::printAccess(const Param &param, llvm::ArrayRef<Index> indices) {
  os << param.name << "[";
  llvm::interleaveComma(indices, os, [&](const Index &index) {
    switch (index.kind) {
    case Index::Kind::Tile:
      os << index.axis->name;
      break;
    case Index::Kind::Whole:
      os << ":" << index.axis->name;
      break;
    case Index::Kind::Gather:
      os << "@";
      [[fallthrough]];
    case Index::Kind::Scalar:
      print(index.expr);
      break;
    }
    if (!index.proven)
      os << "?";
  });
  os << "]";
}

void Printer::printBinary(const Binary &binary) {
  switch (binary.op) {
  case BinaryOp::Min:
  case BinaryOp::Max:
  case BinaryOp::FMin:
  case BinaryOp::FMax:
  case BinaryOp::Pow:
    os << nameOf(binary.op);
    return printList({binary.lhs, binary.rhs});
  default:
    os << "(";
    print(binary.lhs);
    os << " " << nameOf(binary.op) << " ";
    print(binary.rhs);
    os << ")";
  }
}

void Printer::print(const Lambda &lambda) {
  os << "|";
  llvm::interleaveComma(lambda.params, os,
                        [&](const Var *var) { os << var->name; });
  os << "| ";
  print(lambda.body);
}

void Printer::printAttention(const Attention &attention) {
  os << "attention(";
  print(attention.query);
  os << ", ";
  print(attention.keys);
  os << ", ";
  print(attention.values);
  os << ", scale = ";
  print(attention.scale);
  if (attention.rowPosition) {
    os << ", row = ";
    print(attention.rowPosition);
  }
  if (attention.mask) {
    os << ", mask = ";
    print(*attention.mask);
  }
  if (attention.score) {
    os << ", score = ";
    print(*attention.score);
  }
  os << ")";
}

void Printer::print(const Expr *expr) {
  if (!expr) {
    os << "<null>";
    return;
  }
  switch (expr->kind) {
  case Expr::Kind::IntConst:
    os << cast<IntConst>(expr)->value;
    if (expr->type.dtype != DType::I64)
      os << ":" << dtypeName(expr->type.dtype);
    return;
  case Expr::Kind::FloatConst:
    return printFloat(cast<FloatConst>(expr)->value, expr->type.dtype);
  case Expr::Kind::BoolConst:
    os << (cast<BoolConst>(expr)->value ? "true" : "false");
    return;
  case Expr::Kind::DimExtent:
    os << cast<DimExtent>(expr)->dim->name;
    return;
  case Expr::Kind::ScalarParam:
    os << cast<ScalarParam>(expr)->param->name;
    return;
  case Expr::Kind::VarRef:
    os << cast<VarRef>(expr)->var->name;
    return;
  case Expr::Kind::Position:
    os << cast<Position>(expr)->var->name;
    return;
  case Expr::Kind::Load:
    return printAccess(*cast<Load>(expr)->param, cast<Load>(expr)->indices);
  case Expr::Kind::Unary: {
    const auto *unary = cast<Unary>(expr);
    os << (unary->op == UnaryOp::Neg   ? "-"
           : unary->op == UnaryOp::Not ? "!"
                                       : "abs(");
    print(unary->operand);
    if (unary->op == UnaryOp::Abs)
      os << ")";
    return;
  }
  case Expr::Kind::Binary:
    return printBinary(*cast<Binary>(expr));
  case Expr::Kind::Math:
    os << nameOf(cast<Math>(expr)->fn);
    return printList({cast<Math>(expr)->operand});
  case Expr::Kind::Cast:
    os << dtypeName(expr->type.dtype);
    return printList({cast<Cast>(expr)->operand});
  case Expr::Kind::Where: {
    const auto *where = cast<Where>(expr);
    os << "where";
    return printList({where->condition, where->onTrue, where->onFalse});
  }
  case Expr::Kind::Full:
    os << "full " << formatTyped(expr->type) << " ";
    return print(cast<Full>(expr)->value);
  case Expr::Kind::Reduce: {
    const auto *reduce = cast<Reduce>(expr);
    os << nameOf(reduce->op) << "<" << axisList(reduce->over) << ">";
    return printList({reduce->operand});
  }
  case Expr::Kind::Scan: {
    const auto *scan = cast<Scan>(expr);
    os << (scan->op == ScanKind::CumSum ? "cumsum" : "softmax") << "<"
       << scan->over->name << ">";
    return printList({scan->operand});
  }
  case Expr::Kind::Dot: {
    const auto *dot = cast<Dot>(expr);
    os << "dot<" << axisList(dot->contract) << ">(";
    print(dot->lhs);
    os << ", ";
    print(dot->rhs);
    if (dot->precision != Precision::IEEE)
      os << ", " << (dot->precision == Precision::TF32 ? "tf32" : "tf32x3");
    os << ")";
    return;
  }
  case Expr::Kind::Random:
    os << "random";
    return printList({cast<Random>(expr)->seed, cast<Random>(expr)->offset});
  case Expr::Kind::Let: {
    const auto *let = cast<Let>(expr);
    os << "{";
    for (auto [var, value] : let->bindings) {
      os << var->name << " = ";
      print(value);
      os << "; ";
    }
    print(let->body);
    os << "}";
    return;
  }
  case Expr::Kind::Attention:
    return printAttention(*cast<Attention>(expr));
  }
}

//===----------------------------------------------------------------------===//
// Statements and kernels
//===----------------------------------------------------------------------===//

void Printer::print(const LoopVar &var) {
  os << var.name << " in ";
  if (var.isTile)
    os << "tile(";
  if (var.dim)
    os << var.dim->name;
  else
    print(var.extent);
  if (var.isTile) {
    int64_t size = var.fixedSize ? var.fixedSize : var.axis->tileSize;
    if (size)
      os << ", " << size;
    os << ")";
  }
}

void Printer::print(const Stmt &stmt, unsigned indent) {
  switch (stmt.kind) {
  case Stmt::Kind::Assign: {
    const auto &assign = cast<Assign>(stmt);
    line(indent) << assign.var->name << (assign.isDefinition ? " := " : " = ");
    print(assign.value);
    os << " : " << formatTyped(assign.var->type) << "\n";
    return;
  }
  case Stmt::Kind::Store: {
    const auto &store = cast<Store>(stmt);
    line(indent) << (store.isAdd ? "add " : "store ");
    printAccess(*store.param, store.indices);
    os << " = ";
    print(store.value);
    os << " : " << formatTyped(store.value->type) << "\n";
    return;
  }
  case Stmt::Kind::Attention: {
    const auto &attention = cast<AttentionStmt>(stmt);
    line(indent) << attention.result->name << ", " << attention.lse->name
                 << " := ";
    print(attention.attention);
    os << " : " << formatTyped(attention.result->type) << ", "
       << formatTyped(attention.lse->type) << "\n";
    return;
  }
  case Stmt::Kind::For: {
    const auto &loop = cast<For>(stmt);
    line(indent) << "for ";
    print(*loop.var);
    if (loop.condition) {
      os << " if ";
      print(loop.condition);
    }
    os << "\n";
    return print(loop.body, indent + 1);
  }
  case Stmt::Kind::If: {
    const auto &branch = cast<If>(stmt);
    line(indent) << "if ";
    print(branch.condition);
    os << "\n";
    print(branch.thenBody, indent + 1);
    if (!branch.elseBody.empty()) {
      line(indent) << "else\n";
      print(branch.elseBody, indent + 1);
    }
    return;
  }
  case Stmt::Kind::Print: {
    const auto &statement = cast<Print>(stmt);
    line(indent) << "print \"" << statement.label << "\" ";
    printList(statement.values);
    os << "\n";
    return;
  }
  case Stmt::Kind::Assert: {
    const auto &statement = cast<Assert>(stmt);
    line(indent) << "assert \"" << statement.message << "\" ";
    print(statement.condition);
    os << " : " << formatTyped(statement.condition->type) << "\n";
    return;
  }
  }
}

void Printer::print(const Body &body, unsigned indent) {
  for (const Stmt *stmt : body)
    print(*stmt, indent);
}

void Printer::print(const Param &param) {
  os << param.name << ": " << ast::spelling(param.access) << " "
     << dtypeName(param.dtype);
  if (param.isTensor) {
    os << "[";
    llvm::interleaveComma(param.shape, os, [&](const Param::Extent &extent) {
      if (extent.dim)
        os << extent.dim->name;
      else
        os << extent.constant;
    });
    os << "]";
  }
  if (param.defaultValue) {
    os << " = ";
    print(param.defaultValue);
  }
}

void Printer::print(const Kernel &kernel) {
  os << "kernel " << kernel.name << "(";
  llvm::interleaveComma(kernel.params, os,
                        [&](const Param *param) { print(*param); });
  os << ")\n";
  if (!kernel.dims.empty()) {
    line(1) << "dims ";
    llvm::interleaveComma(kernel.dims, os, [&](const Dimension *dim) {
      os << dim->name << (dim->isWhole ? " (whole)" : "");
    });
    os << "\n";
  }
  for (const Expr *requirement : kernel.requirements) {
    line(1) << "requires ";
    print(requirement);
    os << "\n";
  }
  if (!kernel.schedule.empty()) {
    line(1) << "schedule ";
    llvm::interleaveComma(kernel.schedule, os, [&](const ScheduleEntry &entry) {
      os << entry.key << " = ";
      if (entry.text.empty())
        os << entry.value;
      else
        os << entry.text;
    });
    os << "\n";
  }
  for (const Attention *attention : kernel.attentions)
    if (attention->kvTile)
      line(1) << "tile kv = " << attention->kvTile << "\n";
  if (!kernel.grid.empty()) {
    line(1) << "grid ";
    llvm::interleaveComma(kernel.grid, os,
                          [&](const LoopVar *var) { print(*var); });
    os << "\n";
  }
  print(kernel.body, 1);
}

void tilec::printTyped(const Kernel &kernel, llvm::raw_ostream &os) {
  Printer(os).print(kernel);
}

std::string tilec::formatTyped(const Expr &expr) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Printer(os).print(&expr);
  return text;
}

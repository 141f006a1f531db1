//===- SemaBuiltins.cpp - The built-in functions ----------------*- C++ -*-===//
//
// The table; see the header.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/SemaBuiltins.h"

#include "llvm/ADT/STLExtras.h"

using namespace tilec;
using namespace tilec::sema;
using typed::BinaryOp;
using typed::MathFn;
using typed::ReduceKind;
using typed::ScanKind;
using Kind = Builtin::Kind;
using llvm::StringLiteral;

static constexpr Builtin math(StringLiteral name, MathFn fn,
                              StringLiteral usage) {
  Builtin row{name, Kind::Math, usage, 1, 1};
  row.math = fn;
  return row;
}

static constexpr Builtin minMax(StringLiteral name, BinaryOp binary,
                                ReduceKind reduce, StringLiteral usage) {
  Builtin row{name, Kind::MinMax, usage, 1, maxCombinedArgs, true};
  row.binary = binary;
  row.reduce = reduce;
  return row;
}

static constexpr Builtin reduction(StringLiteral name, ReduceKind reduce,
                                   StringLiteral usage) {
  Builtin row{name, Kind::Reduce, usage, 1, 1, true};
  row.reduce = reduce;
  return row;
}

static constexpr Builtin scan(StringLiteral name, ScanKind kind,
                              StringLiteral usage) {
  Builtin row{name, Kind::Scan, usage, 1, 1, true};
  row.scan = kind;
  return row;
}

static constexpr Builtin table[] = {
    math("exp", MathFn::Exp, "exp(x)"),
    math("exp2", MathFn::Exp2, "exp2(x)"),
    math("log", MathFn::Log, "log(x)"),
    math("log2", MathFn::Log2, "log2(x)"),
    math("sqrt", MathFn::Sqrt, "sqrt(x)"),
    math("rsqrt", MathFn::Rsqrt, "rsqrt(x)"),
    math("tanh", MathFn::Tanh, "tanh(x)"),
    math("sigmoid", MathFn::Sigmoid, "sigmoid(x)"),
    math("erf", MathFn::Erf, "erf(x)"),
    math("gelu", MathFn::Gelu, "gelu(x)"),
    math("silu", MathFn::Silu, "silu(x)"),
    math("relu", MathFn::Relu, "relu(x)"),
    math("floor", MathFn::Floor, "floor(x)"),
    math("ceil", MathFn::Ceil, "ceil(x)"),
    math("round", MathFn::Round, "round(x)"),
    math("sin", MathFn::Sin, "sin(x)"),
    math("cos", MathFn::Cos, "cos(x)"),
    {"abs", Kind::Abs, "abs(x)", 1, 1},
    {"pow", Kind::Pow, "pow(x, y)", 2, 2},
    {"where", Kind::Where, "where(condition, a, b)", 3, 3},
    minMax("max", BinaryOp::Max, ReduceKind::Max, "max(x, y) or max<axis>(x)"),
    minMax("min", BinaryOp::Min, ReduceKind::Min, "min(x, y) or min<axis>(x)"),
    minMax("fmax", BinaryOp::FMax, ReduceKind::FMax,
           "fmax(x, y) or fmax<axis>(x)"),
    minMax("fmin", BinaryOp::FMin, ReduceKind::FMin,
           "fmin(x, y) or fmin<axis>(x)"),
    reduction("sum", ReduceKind::Sum, "sum<axis>(x)"),
    reduction("prod", ReduceKind::Prod, "prod<axis>(x)"),
    reduction("mean", ReduceKind::Mean, "mean<axis>(x)"),
    reduction("any", ReduceKind::Any, "any<axis>(condition)"),
    reduction("all", ReduceKind::All, "all<axis>(condition)"),
    reduction("argmax", ReduceKind::ArgMax, "argmax<axis>(x)"),
    reduction("argmin", ReduceKind::ArgMin, "argmin<axis>(x)"),
    reduction("logsumexp", ReduceKind::LogSumExp, "logsumexp<axis>(x)"),
    scan("cumsum", ScanKind::CumSum, "cumsum<axis>(x)"),
    scan("softmax", ScanKind::Softmax, "softmax<axis>(x)"),
    {"dot", Kind::Dot, "dot<axis>(a, b)", 2, 2, true},
    {"random", Kind::Random, "random(seed, offset)", 2, 2},
    {"attention", Kind::Attention,
     "attention(q, k, v, scale = ..., mask = |q, kv| ..., score = |s, q, kv| "
     "...)",
     3, 3},
    {"print", Kind::Print, "print(\"text\", values...)", 1, maxCombinedArgs},
    {"assert", Kind::Assert, "assert(condition, \"text\")", 1, 2},
};

llvm::ArrayRef<llvm::StringRef> Builtin::namedArgs() const {
  static const llvm::StringRef dot[] = {"precision"};
  static const llvm::StringRef attention[] = {"scale", "mask", "score"};
  if (kind == Kind::Dot)
    return dot;
  if (kind == Kind::Attention)
    return attention;
  return {};
}

llvm::ArrayRef<Builtin> sema::allBuiltins() { return table; }

const Builtin *sema::findBuiltin(llvm::StringRef name) {
  const auto *found = llvm::find_if(
      table, [&](const Builtin &builtin) { return builtin.name == name; });
  return found == std::end(table) ? nullptr : found;
}

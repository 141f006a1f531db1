//===- IndexExpr.cpp - Nodes of symbolic integer expressions ---*- C++ -*-===//
//
// How an expression is stored, compared, evaluated and printed. What is known
// of a node (range, divisor, size) is worked out once, when it is made, so that
// the simplifier can ask in constant time. The rules by which expressions
// shrink are in IndexExprSimplify.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/Analysis/IndexExpr.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <numeric>

namespace tilec {

using Kind = IndexExpr::Kind;

struct IndexExpr::Node {
  Kind kind;
  bool speculatable = true;
  unsigned size = 1;
  uint64_t hash = 0;
  /// A constant, a sum's constant term, or a leaf's number.
  int64_t value = 0;
  int64_t multipleOf = 1;
  Interval range;
  std::string name;
  std::vector<IndexExpr> operands;
  std::vector<int64_t> coefficients;
};

/// The greatest common divisor as a non-negative number; 1, which always
/// divides, where that does not fit.
static int64_t commonDivisor(int64_t a, int64_t b) {
  if (a == Interval::negInf || b == Interval::negInf)
    return 1;
  return std::gcd(a, b);
}

static int64_t productOfDivisors(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product) || product == Interval::negInf)
    return 1;
  return product < 0 ? -product : product;
}

/// Mixes by multiplication, as FNV does. Not llvm::hash_combine, which may be
/// seeded per process.
static uint64_t mixHash(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15ull ^ (hash >> 29);
}

static Interval rangeOf(Kind kind, int64_t constant,
                        llvm::ArrayRef<IndexExpr> operands,
                        llvm::ArrayRef<int64_t> coefficients) {
  auto combine = [&](auto operation) {
    Interval range = operands[0].range();
    for (const IndexExpr &operand : operands.drop_front())
      range = operation(range, operand.range());
    return range;
  };
  switch (kind) {
  case Kind::Constant:
    return Interval::point(constant);
  case Kind::Symbol:
  case Kind::Opaque:
    return Interval::all();
  case Kind::Sum: {
    Interval range = Interval::point(constant);
    for (auto [operand, coefficient] : llvm::zip(operands, coefficients))
      range = range + Interval::point(coefficient) * operand.range();
    return range;
  }
  case Kind::Product:
    return combine([](Interval a, Interval b) { return a * b; });
  case Kind::FloorDiv:
    return combine([](Interval a, Interval b) { return floorDiv(a, b); });
  case Kind::Mod:
    return combine([](Interval a, Interval b) { return mod(a, b); });
  case Kind::Min:
    return combine([](Interval a, Interval b) { return min(a, b); });
  case Kind::Max:
    return combine([](Interval a, Interval b) { return max(a, b); });
  case Kind::Select:
    return hull(operands[1].range(), operands[2].range());
  }
  llvm_unreachable("unknown kind");
}

static int64_t multipleOf(Kind kind, int64_t constant,
                          llvm::ArrayRef<IndexExpr> operands,
                          llvm::ArrayRef<int64_t> coefficients) {
  auto common = [](llvm::ArrayRef<IndexExpr> operands) {
    int64_t divisor = 0;
    for (const IndexExpr &operand : operands)
      divisor = commonDivisor(divisor, operand.multipleOf());
    return divisor;
  };
  switch (kind) {
  case Kind::Constant:
    return commonDivisor(constant, 0);
  case Kind::Symbol:
  case Kind::Opaque:
    return 1;
  case Kind::Sum: {
    int64_t divisor = commonDivisor(constant, 0);
    for (auto [operand, coefficient] : llvm::zip(operands, coefficients))
      divisor = commonDivisor(
          divisor, productOfDivisors(coefficient, operand.multipleOf()));
    return divisor;
  }
  case Kind::Product: {
    int64_t divisor = 1;
    for (const IndexExpr &operand : operands)
      divisor = productOfDivisors(divisor, operand.multipleOf());
    return divisor;
  }
  case Kind::FloorDiv: {
    int64_t divisor = operands[0].multipleOf();
    if (!operands[1].isConstant() || operands[1].constant() <= 0 ||
        divisor % operands[1].constant() != 0)
      return 1;
    return divisor / operands[1].constant();
  }
  case Kind::Mod:
  case Kind::Min:
  case Kind::Max:
    return common(operands);
  case Kind::Select:
    return common(operands.drop_front());
  }
  llvm_unreachable("unknown kind");
}

IndexExpr IndexExpr::make(Kind kind, int64_t constant,
                          std::vector<IndexExpr> operands,
                          std::vector<int64_t> coefficients) {
  Node node;
  node.kind = kind;
  node.value = constant;
  node.range = rangeOf(kind, constant, operands, coefficients);
  node.multipleOf = tilec::multipleOf(kind, constant, operands, coefficients);
  node.hash = mixHash(uint64_t(kind) + 1, uint64_t(constant));
  if (kind == Kind::FloorDiv || kind == Kind::Mod)
    node.speculatable = operands[1].range().lo >= 1;
  for (const IndexExpr &operand : operands) {
    node.hash = mixHash(node.hash, operand.node->hash);
    node.speculatable &= operand.isSpeculatable();
    node.size = std::min<unsigned>(node.size + operand.size(), 1u << 20);
  }
  for (int64_t coefficient : coefficients)
    node.hash = mixHash(node.hash, uint64_t(coefficient));
  node.operands = std::move(operands);
  node.coefficients = std::move(coefficients);
  return IndexExpr(std::make_shared<const Node>(std::move(node)));
}

IndexExpr::IndexExpr(int64_t constant)
    : node(make(Kind::Constant, constant, {}).node) {}

IndexExpr IndexExpr::symbol(uint32_t id, llvm::StringRef name, Interval range,
                            int64_t multipleOf) {
  assert(!range.isEmpty() && multipleOf > 0 && "a symbol has some value");
  if (range.isPoint())
    return IndexExpr(range.lo);
  Node leaf(*make(Kind::Symbol, id, {}).node);
  leaf.name = name.str();
  leaf.range = range;
  leaf.multipleOf = multipleOf;
  return IndexExpr(std::make_shared<const Node>(std::move(leaf)));
}

IndexExpr IndexExpr::opaque(uint32_t id, llvm::StringRef name, Interval range) {
  assert(!range.isEmpty() && "an opaque integer has some value");
  if (range.isPoint())
    return IndexExpr(range.lo);
  Node leaf(*make(Kind::Opaque, id, {}).node);
  leaf.name = name.str();
  leaf.range = range;
  return IndexExpr(std::make_shared<const Node>(std::move(leaf)));
}

Kind IndexExpr::kind() const { return node->kind; }

int64_t IndexExpr::constant() const {
  assert((isConstant() || kind() == Kind::Sum) && "has no constant");
  return node->value;
}

uint32_t IndexExpr::symbolId() const {
  assert(isLeafVariable() && "has no number");
  return uint32_t(node->value);
}

llvm::StringRef IndexExpr::name() const { return node->name; }
llvm::ArrayRef<IndexExpr> IndexExpr::operands() const { return node->operands; }
llvm::ArrayRef<int64_t> IndexExpr::coefficients() const {
  return node->coefficients;
}
Interval IndexExpr::range() const { return node->range; }
int64_t IndexExpr::multipleOf() const { return node->multipleOf; }
bool IndexExpr::isSpeculatable() const { return node->speculatable; }
unsigned IndexExpr::size() const { return node->size; }

bool IndexExpr::operator==(const IndexExpr &other) const {
  return node == other.node ||
         (node->hash == other.node->hash && compare(other) == 0);
}

int IndexExpr::compare(const IndexExpr &other) const {
  const Node &a = *node, &b = *other.node;
  if (&a == &b)
    return 0;
  auto order = [](const auto &x, const auto &y) { return x < y ? -1 : x > y; };
  if (a.kind != b.kind)
    return order(a.kind, b.kind);
  if (isLeafVariable() || isConstant())
    return order(a.value, b.value);
  if (a.operands.size() != b.operands.size())
    return order(a.operands.size(), b.operands.size());
  for (auto [x, y] : llvm::zip(a.operands, b.operands))
    if (int difference = x.compare(y))
      return difference;
  if (a.coefficients != b.coefficients)
    return order(a.coefficients, b.coefficients);
  return order(a.value, b.value);
}

bool IndexExpr::mentions(
    llvm::function_ref<bool(const IndexExpr &)> predicate) const {
  llvm::DenseSet<const Node *> seen;
  auto visit = [&](auto &self, const IndexExpr &expr) -> bool {
    if (!seen.insert(expr.node.get()).second)
      return false;
    if (expr.isLeafVariable())
      return predicate(expr);
    return llvm::any_of(expr.operands(), [&](const IndexExpr &operand) {
      return self(self, operand);
    });
  };
  return visit(visit, *this);
}

IndexExpr IndexExpr::substitute(
    llvm::function_ref<std::optional<IndexExpr>(const IndexExpr &)> replacement)
    const {
  llvm::DenseMap<const Node *, IndexExpr> done;
  auto rebuild = [&](auto &self, const IndexExpr &expr) -> IndexExpr {
    if (expr.isConstant())
      return expr;
    if (expr.isLeafVariable()) {
      std::optional<IndexExpr> value = replacement(expr);
      return value ? *value : expr;
    }
    if (auto it = done.find(expr.node.get()); it != done.end())
      return it->second;
    std::vector<IndexExpr> parts;
    for (const IndexExpr &operand : expr.operands())
      parts.push_back(self(self, operand));
    auto combine = [&](auto operation) {
      IndexExpr value = parts[0];
      for (const IndexExpr &part : llvm::drop_begin(parts))
        value = operation(value, part);
      return value;
    };
    using E = const IndexExpr &;
    IndexExpr value;
    switch (expr.kind()) {
    case Kind::Constant:
    case Kind::Symbol:
    case Kind::Opaque:
      llvm_unreachable("leaves are done above");
    case Kind::Sum:
      value = IndexExpr(expr.constant());
      for (auto [part, coefficient] : llvm::zip(parts, expr.coefficients()))
        value = value + IndexExpr(coefficient) * part;
      break;
    case Kind::Product:
      value = combine([](E a, E b) { return a * b; });
      break;
    case Kind::FloorDiv:
      value = tilec::floorDiv(parts[0], parts[1]);
      break;
    case Kind::Mod:
      value = tilec::mod(parts[0], parts[1]);
      break;
    case Kind::Min:
      value = combine([](E a, E b) { return tilec::min(a, b); });
      break;
    case Kind::Max:
      value = combine([](E a, E b) { return tilec::max(a, b); });
      break;
    case Kind::Select:
      value = tilec::select(parts[0], parts[1], parts[2]);
      break;
    }
    done.try_emplace(expr.node.get(), value);
    return value;
  };
  return rebuild(rebuild, *this);
}

namespace {
struct Evaluator final : IndexExprEmitter<int64_t> {
  explicit Evaluator(llvm::function_ref<int64_t(uint32_t)> valueOf)
      : valueOf(valueOf) {}

  int64_t constant(int64_t value) override { return value; }
  int64_t symbol(const IndexExpr &leaf) override {
    return valueOf(leaf.symbolId());
  }
  int64_t add(int64_t a, int64_t b) override { return saturatingAdd(a, b); }
  int64_t sub(int64_t a, int64_t b) override {
    return saturatingAdd(a, saturatingMul(b, -1));
  }
  int64_t mul(int64_t a, int64_t b) override { return saturatingMul(a, b); }
  int64_t floorDiv(int64_t a, int64_t b) override { return floorDivide(a, b); }
  int64_t mod(int64_t a, int64_t b) override { return floorModulo(a, b); }
  int64_t min(int64_t a, int64_t b) override { return std::min(a, b); }
  int64_t max(int64_t a, int64_t b) override { return std::max(a, b); }
  int64_t selectNonNegative(int64_t c, int64_t a, int64_t b) override {
    return c >= 0 ? a : b;
  }

  llvm::function_ref<int64_t(uint32_t)> valueOf;
};
} // namespace

int64_t
IndexExpr::evaluate(llvm::function_ref<int64_t(uint32_t)> valueOf) const {
  return Evaluator(valueOf).emit(*this);
}

static void printInfix(llvm::raw_ostream &os, const IndexExpr &expr,
                       llvm::StringRef symbol) {
  for (auto [k, operand] : llvm::enumerate(expr.operands())) {
    if (k != 0)
      os << ' ' << symbol << ' ';
    bool isCall = operand.kind() == Kind::Min || operand.kind() == Kind::Max;
    bool atom = operand.isConstant() || operand.isLeafVariable() || isCall;
    os << (atom ? "" : "(") << operand << (atom ? "" : ")");
  }
}

static void printSum(llvm::raw_ostream &os, const IndexExpr &sum) {
  bool first = true;
  auto printSign = [&](bool negative) {
    os << (first ? (negative ? "-" : "") : (negative ? " - " : " + "));
    first = false;
  };
  auto magnitude = [](int64_t x) { return x < 0 ? -uint64_t(x) : uint64_t(x); };
  auto printTerms = [&](bool negative) {
    for (auto [term, k] : llvm::zip(sum.operands(), sum.coefficients())) {
      if ((k < 0) != negative)
        continue;
      printSign(negative);
      bool isInfix = term.kind() == Kind::FloorDiv ||
                     term.kind() == Kind::Mod || term.kind() == Kind::Sum ||
                     term.kind() == Kind::Product;
      if (magnitude(k) != 1)
        os << magnitude(k) << " * ";
      os << (isInfix ? "(" : "") << term << (isInfix ? ")" : "");
    }
  };
  printTerms(/*negative=*/false);
  if (first && sum.constant() != 0) {
    os << sum.constant();
    first = false;
    printTerms(/*negative=*/true);
    return;
  }
  printTerms(/*negative=*/true);
  if (sum.constant() != 0) {
    printSign(sum.constant() < 0);
    os << magnitude(sum.constant());
  }
}

void IndexExpr::print(llvm::raw_ostream &os) const {
  switch (kind()) {
  case Kind::Constant:
    os << constant();
    return;
  case Kind::Symbol:
  case Kind::Opaque:
    os << name();
    return;
  case Kind::Sum:
    return printSum(os, *this);
  case Kind::Product:
    return printInfix(os, *this, "*");
  case Kind::FloorDiv:
    return printInfix(os, *this, "/");
  case Kind::Mod:
    return printInfix(os, *this, "%");
  case Kind::Min:
  case Kind::Max:
    os << (kind() == Kind::Min ? "min(" : "max(");
    llvm::interleaveComma(operands(), os);
    os << ')';
    return;
  case Kind::Select:
    os << "select(" << operands()[0] << " >= 0, " << operands()[1] << ", "
       << operands()[2] << ')';
    return;
  }
}

std::string IndexExpr::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const IndexExpr &expr) {
  expr.print(os);
  return os;
}

} // namespace tilec

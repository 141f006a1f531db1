//===- Text.cpp - Pieces of CUDA C++ as text --------------------*- C++ -*-===//

#include "codegen/CUDA/Text.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec::cuda {

//===--- Expressions -----------------------------------------------------===//

static bool isBitwise(Prec prec) {
  return prec == Prec::Shift || prec == Prec::BitAnd || prec == Prec::BitXor ||
         prec == Prec::BitOr;
}

/// Whether a reader wants parentheses although the grammar needs none: around
/// operators among bitwise ones, and around && in ||.
static bool isConfusing(Prec inner, Prec outer) {
  if (inner >= Prec::Unary)
    return false;
  if (isBitwise(outer) || (isBitwise(inner) && outer >= Prec::Equality))
    return true;
  return inner == Prec::LogicalAnd && outer == Prec::LogicalOr;
}

static std::string inParentheses(const Expr &a, bool needed) {
  return needed ? "(" + a.text + ")" : a.text;
}

std::string parenthesized(const Expr &a, Prec prec) {
  return inParentheses(a, a.prec < prec || isConfusing(a.prec, prec));
}

Expr binary(const Expr &a, llvm::StringRef op, const Expr &b, Prec prec,
            CType type) {
  bool sameLeft = a.prec == prec && isBitwise(prec) && prec != Prec::Shift;
  std::string lhs = sameLeft ? a.text : parenthesized(a, prec);
  std::string rhs =
      inParentheses(b, b.prec <= prec || isConfusing(b.prec, prec));
  return {(lhs + " " + op + " " + rhs).str(), prec, type};
}

bool isZero(const Expr &a) {
  return llvm::is_contained({"0", "0ll", "0.0f", "0.0", "false"}, a.text);
}

std::optional<Expr> both(const std::optional<Expr> &a,
                         const std::optional<Expr> &b) {
  auto holds = [](const std::optional<Expr> &e) {
    return !e || e->text == "true";
  };
  if (holds(a) && holds(b))
    return std::nullopt;
  if (holds(a) || holds(b))
    return holds(a) ? b : a;
  return binary(*a, "&&", *b, Prec::LogicalAnd, CType::Bool);
}

Expr unary(llvm::StringRef op, const Expr &a, CType type) {
  // "- -x" must not become "--x".
  bool needed = a.prec < Prec::Unary || a.text.front() == op.back();
  return {(op + inParentheses(a, needed)).str(), Prec::Unary, type};
}

Expr ternary(const Expr &c, const Expr &a, const Expr &b, CType type) {
  if (a.text == "true" && b.text == "false")
    return c;
  if (a.text == "false" && b.text == "true")
    return unary("!", c, type);
  auto branch = [](const Expr &e) {
    return inParentheses(e, e.prec == Prec::Ternary);
  };
  return {branch(c) + " ? " + branch(a) + " : " + branch(b), Prec::Ternary,
          type};
}

Expr cast(const Expr &a, CType type) {
  if (a.type == type)
    return a;
  return {("(" + spelling(type) + ")" + inParentheses(a, a.prec < Prec::Unary))
              .str(),
          Prec::Unary, type};
}

Expr asType(const Expr &a, CType type) {
  if (a.isAtom && a.type == CType::I64 && type == CType::I32 &&
      llvm::StringRef(a.text).ends_with("ll")) {
    Expr shorter = a;
    shorter.text.resize(a.text.size() - 2);
    shorter.type = type;
    return shorter;
  }
  if (a.isAtom && a.type == CType::I32 && type == CType::I64 &&
      a.prec >= Prec::Unary && llvm::isDigit(a.text.back()) &&
      (llvm::isDigit(a.text.front()) || a.text.front() == '-'))
    return {a.text + "ll", a.prec, type, {}, true};
  return cast(a, type);
}

Expr intLiteral(int64_t value, CType type) {
  switch (type) {
  case CType::Bool:
    return Expr::atom(value ? "true" : "false", type);
  case CType::I64:
    if (value == INT64_MIN)
      return {"-9223372036854775807ll - 1", Prec::Additive, type, {}, true};
    return {std::to_string(value) + "ll",
            value < 0 ? Prec::Unary : Prec::Primary,
            type,
            {},
            true};
  default:
    if (value == INT32_MIN)
      return {"-2147483647 - 1", Prec::Additive, type, {}, true};
    return {std::to_string(value),
            value < 0 ? Prec::Unary : Prec::Primary,
            type,
            {},
            true};
  }
}

static std::string hex(uint64_t bits, unsigned digits) {
  return "0x" + llvm::utohexstr(bits, /*LowerCase=*/true, digits);
}

Expr floatLiteral(const llvm::APFloat &value, CType type) {
  uint64_t bits = value.bitcastToAPInt().getZExtValue();
  if (isNarrowFloat(type)) {
    Expr raw{("(" + spelling(type) + ")" + hex(bits, 2 * byteSize(type))).str(),
             Prec::Unary,
             type,
             {},
             true};
    llvm::APFloat f32 = value;
    bool inexact;
    f32.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
                &inexact);
    if (!value.isNaN())
      raw.wide = floatLiteral(f32, CType::F32).text;
    return raw;
  }
  bool isDouble = type == CType::F64;
  if (value.isNaN())
    return Expr::atom(isDouble ? "__longlong_as_double(" + hex(bits, 16) + "ll)"
                               : "__int_as_float(" + hex(bits, 8) + ")",
                      type);
  if (value.isInfinity()) {
    std::string text = isDouble ? "infinity_f64()" : "infinity()";
    return {value.isNegative() ? "-" + text : text,
            value.isNegative() ? Prec::Unary : Prec::Primary,
            type,
            {},
            true};
  }
  llvm::SmallString<32> digits;
  value.toString(digits);
  std::string text = digits.str().lower();
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  if (!isDouble)
    text += "f";
  return {
      text, value.isNegative() ? Prec::Unary : Prec::Primary, type, {}, true};
}

//===--- Identifiers -----------------------------------------------------===//

void forEachIdentifier(llvm::StringRef code,
                       llvm::function_ref<void(llvm::StringRef)> visit) {
  size_t i = 0, size = code.size();
  while (i < size) {
    char c = code[i];
    if (code.substr(i).starts_with("//")) {
      i = std::min(code.find('\n', i), size);
    } else if (c == '"') {
      for (++i; i < size && code[i] != '"'; ++i)
        if (code[i] == '\\')
          ++i;
      ++i;
    } else if (llvm::isAlpha(c) || c == '_') {
      size_t begin = i;
      while (i < size && (llvm::isAlnum(code[i]) || code[i] == '_'))
        ++i;
      visit(code.slice(begin, i));
    } else if (llvm::isDigit(c)) {
      // With its suffix, which is no identifier.
      while (i < size && (llvm::isAlnum(code[i]) || code[i] == '.'))
        ++i;
    } else {
      ++i;
    }
  }
}

//===--- Writer ----------------------------------------------------------===//

static constexpr size_t longestLine = 100;

void Writer::add(std::string text, std::string declares) {
  Line line;
  line.text = std::move(text);
  line.indent = braces.size();
  line.declares = std::move(declares);
  lines.push_back(std::move(line));
}

void Writer::raw(const llvm::Twine &text) {
  add(text.str(), {});
  lines.back().isRaw = true;
}

void Writer::place(const llvm::Twine &directive) {
  raw(directive);
  lines.back().isPlace = true;
}

void Writer::blank() {
  if (!lines.empty() && !lines.back().text.empty())
    raw("");
}

void Writer::open(const llvm::Twine &head, bool optional) {
  std::string text = head.str();
  add(text.empty() ? "{" : text + " {", {});
  braces.push_back({lines.size() - 1, optional});
}

void Writer::close() {
  Brace brace = braces.pop_back_val();
  size_t inside = lines.size() - brace.line - 1;
  if (brace.optional && inside == 1 && lines.back().declares.empty() &&
      !lines.back().isRaw) {
    std::string &head = lines[brace.line].text;
    head.resize(head.size() - 2);
    return;
  }
  add("}", {});
}

void Writer::reopen(const llvm::Twine &text) {
  Brace brace = braces.pop_back_val();
  add(("} " + text + " {").str(), {});
  brace.optional = false;
  braces.push_back(brace);
}

void Writer::prune() {
  llvm::StringMap<unsigned> counts;
  auto count = [&](const Line &line, int change) {
    forEachIdentifier(line.text, [&](llvm::StringRef name) {
      counts[name] =
          static_cast<unsigned>(static_cast<int>(counts[name]) + change);
    });
  };
  for (const Line &line : lines)
    count(line, 1);
  // Backwards: a declaration is used by later lines only.
  for (Line &line : llvm::reverse(lines)) {
    if (line.declares.empty() || counts[line.declares] > 1)
      continue;
    count(line, -1);
    line.isDropped = true;
  }
}

llvm::StringSet<> Writer::identifiers() const {
  llvm::StringSet<> names;
  for (const Line &line : lines)
    if (!line.isDropped)
      forEachIdentifier(line.text,
                        [&](llvm::StringRef name) { names.insert(name); });
  return names;
}

/// Cuts a line that is too long behind operators and commas; what follows is
/// indented.
static void appendWrapped(std::string &text, llvm::StringRef line,
                          unsigned indent) {
  text.append(indent, ' ');
  bool isComment = line.starts_with("//"), isContinued = false;
  while (!isComment && indent + line.size() > longestLine) {
    // The last place within the fewest parentheses.
    size_t best = 0;
    int depth = 0, bestDepth = 1000;
    bool inString = false;
    for (size_t i = 0; i + 1 < line.size() && indent + i < longestLine; ++i) {
      char c = line[i];
      inString ^= c == '"';
      depth += (c == '(' || c == '[') - (c == ')' || c == ']');
      bool isOperator = llvm::StringRef(",+-*|&^?:=<").contains(c);
      // Behind the condition is the best place of all.
      if (c == ')' && depth == 0 && line.starts_with("if (") &&
          bestDepth >= 0) {
        best = i + 2;
        bestDepth = -1;
      }
      if (!inString && isOperator && i > 20 && line[i + 1] == ' ' &&
          depth <= bestDepth) {
        best = i + 2;
        bestDepth = depth;
      }
    }
    if (best == 0)
      break;
    text += line.take_front(best).rtrim();
    text += '\n';
    line = line.drop_front(best);
    if (!isContinued)
      indent += 4;
    isContinued = true;
    text.append(indent, ' ');
  }
  text += line;
  text += '\n';
}

/// Whether a line of text is counted by the compiler, so must have its place.
static bool isCode(llvm::StringRef line) {
  line = line.ltrim();
  return !line.empty() && !line.starts_with("//") && line[0] != '#';
}

std::string Writer::str() const {
  std::string text;
  llvm::StringRef place; // The last one.
  bool isPlaced = false; // It is the line before.
  for (const Line &line : lines) {
    if (line.isDropped)
      continue;
    std::string own;
    if (line.isRaw)
      own = line.text + "\n";
    else
      appendWrapped(own, line.text, 2 * line.indent);
    if (line.isPlace) {
      place = line.text;
    } else if (!place.empty()) {
      for (llvm::StringRef rest = own; !rest.empty();) {
        auto [first, after] = rest.split('\n');
        rest = after;
        if (isCode(first) && !isPlaced)
          text += (place + "\n").str();
        text += (first + "\n").str();
        isPlaced = false;
      }
      continue;
    }
    isPlaced = line.isPlace;
    text += own;
  }
  return text;
}

} // namespace tilec::cuda

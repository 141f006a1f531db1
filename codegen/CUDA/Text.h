//===- Text.h - Pieces of CUDA C++ as text ----------------------*- C++ -*-===//
//
// What the emitter writes with: expressions that know how tightly they bind, so
// that parentheses stand only where they are needed or help a reader, and a
// buffer of lines from which declarations that nobody uses are dropped.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CUDA_TEXT_H
#define TILEC_CODEGEN_CUDA_TEXT_H

#include "codegen/CUDA/Types.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

#include <optional>
#include <string>
#include <vector>

namespace tilec::cuda {

/// How tightly an operator binds, loosest first.
enum class Prec {
  Ternary,
  LogicalOr,
  LogicalAnd,
  BitOr,
  BitXor,
  BitAnd,
  Equality,
  Relational,
  Shift,
  Additive,
  Multiplicative,
  Unary,
  Primary,
};

/// An expression of C++ and the type that its value has.
struct Expr {
  std::string text;
  Prec prec = Prec::Primary;
  CType type = CType::I32;
  /// For an element of a narrow float, whose text gives the raw bits: the text
  /// of its value as an f32, if there is a direct one.
  std::string wide = {};
  /// A literal or a name, which may be written any number of times.
  bool isAtom = false;

  static Expr atom(llvm::Twine text, CType type) {
    return {text.str(), Prec::Primary, type, {}, true};
  }
  static Expr call(llvm::Twine text, CType type) {
    return {text.str(), Prec::Primary, type, {}, false};
  }
};

/// `a op b`, of `type`.
Expr binary(const Expr &a, llvm::StringRef op, const Expr &b, Prec prec,
            CType type);
/// `a && b`. Nothing stands for what always holds, and literals become it.
std::optional<Expr> both(const std::optional<Expr> &a,
                         const std::optional<Expr> &b);
/// `op a`, of `type`.
Expr unary(llvm::StringRef op, const Expr &a, CType type);
/// `c ? a : b`.
Expr ternary(const Expr &c, const Expr &a, const Expr &b, CType type);
/// `a` as a value of `type`; the same text where it is of that type already.
Expr cast(const Expr &a, CType type);
/// The same, but a literal gets the suffix of `type`, or loses the one that it
/// does not need. C++ widens the operands of operators itself; arguments of
/// overloaded functions must all be of one type.
Expr asType(const Expr &a, CType type);
/// The text of `a` where an operator of `prec` takes it.
std::string parenthesized(const Expr &a, Prec prec);

/// Whether it is a literal of the value 0.
bool isZero(const Expr &a);

/// Literals. An integer of 64 bits has a suffix.
Expr intLiteral(int64_t value, CType type);
Expr floatLiteral(const llvm::APFloat &value, CType type);

/// Calls `visit` for each identifier of C++ text, comments and literals left
/// out.
void forEachIdentifier(llvm::StringRef code,
                       llvm::function_ref<void(llvm::StringRef)> visit);

/// Lines of code, indented by the braces that are open.
class Writer {
public:
  void line(const llvm::Twine &text) { add(text.str(), {}); }
  /// A line that declares `name` and has no other effect.
  void declare(llvm::StringRef name, const llvm::Twine &text) {
    add(text.str(), name.str());
  }
  /// Directives and the like, at the start of the line.
  void raw(const llvm::Twine &text);
  /// A `#line` for what follows. str() repeats it before each line of code, or
  /// the lines of one statement would count on from that of the source.
  void place(const llvm::Twine &directive);
  void blank();
  /// Writes `head {` and indents until `close`. Braces around a single line
  /// are left out if `optional`.
  void open(const llvm::Twine &head, bool optional = false);
  void close();
  /// `} text {`, as in if-else.
  void reopen(const llvm::Twine &text);
  /// Takes back the reopen that was the last line.
  void dropReopened() { lines.pop_back(); }
  /// Lines so far.
  size_t size() const { return lines.size(); }

  /// Drops the declarations of names that nothing else refers to.
  void prune();
  /// The identifiers in all lines.
  llvm::StringSet<> identifiers() const;
  std::string str() const;
  bool empty() const { return lines.empty(); }

private:
  struct Line {
    std::string text;
    unsigned indent = 0;
    std::string declares;
    bool isRaw = false;
    bool isPlace = false;
    bool isDropped = false;
  };
  struct Brace {
    size_t line;
    bool optional;
  };
  void add(std::string text, std::string declares);

  std::vector<Line> lines;
  llvm::SmallVector<Brace> braces;
};

} // namespace tilec::cuda

#endif // TILEC_CODEGEN_CUDA_TEXT_H

//===- MaskExpr.h - Boolean expressions over positions ---------*- C++ -*-===//
//
// A mask as the analysis sees it: comparisons of integer expressions, combined
// by and, or and not. Positions are ordinary symbols of IndexExpr; which of
// them is the loop's and which belong to rows is said when the mask is analyzed
// (MaskIntervals.h), so one mask serves several loops.
//
//   auto i = IndexExpr::symbol(0, "i", Interval::atLeast(0));
//   auto j = IndexExpr::symbol(1, "j", Interval::atLeast(0));
//   auto w = IndexExpr::symbol(2, "w");
//
//   MaskExpr causal   = ge(i, j);
//   MaskExpr window   = causal && lt(i - j, w);
//   MaskExpr chunked  = eq(floorDiv(i, 64), floorDiv(j, 64));
//   MaskExpr document = causal && MaskExpr::opaque(3, "doc[i] == doc[j]");
//
// Every comparison is stored as one of `e >= 0`, `e == 0` and `e != 0`, which
// for integers loses nothing (a < b is b - a - 1 >= 0), and a negation is moved
// to the comparisons as it is applied. So four kinds of leaf and two of node
// are all that an analysis has to handle.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_ANALYSIS_MASKEXPR_H
#define TILEC_ANALYSIS_MASKEXPR_H

#include "lib/Analysis/IndexExpr.h"

namespace tilec {

class MaskExpr {
public:
  enum class Kind : uint8_t {
    Constant,    ///< isTrue() tells which
    NonNegative, ///< expr() >= 0
    Zero,        ///< expr() == 0
    NonZero,     ///< expr() != 0
    Opaque,      ///< nothing is known; opaqueId(), isNegated()
    And,         ///< of operands()
    Or,          ///< of operands()
  };

  /// The mask that hides nothing.
  MaskExpr() : MaskExpr(true) {}
  explicit MaskExpr(bool value);
  /// A condition about which nothing is known and which may differ from one
  /// position to the next. Equal ids are the same condition.
  static MaskExpr opaque(uint32_t id, llvm::StringRef name);

  Kind kind() const;
  bool isTrue() const;
  bool isFalse() const;
  const IndexExpr &expr() const;
  uint32_t opaqueId() const;
  bool isNegated() const;
  llvm::ArrayRef<MaskExpr> operands() const;

  bool operator==(const MaskExpr &other) const;

  /// This with leaves of its integer expressions replaced.
  MaskExpr
  substitute(llvm::function_ref<std::optional<IndexExpr>(const IndexExpr &leaf)>
                 replacement) const;
  /// The value where symbols and opaque conditions have the given values.
  bool evaluate(llvm::function_ref<int64_t(uint32_t id)> valueOf,
                llvm::function_ref<bool(uint32_t id)> conditionOf) const;

  void print(llvm::raw_ostream &os) const;
  std::string str() const;

  friend MaskExpr lt(const IndexExpr &a, const IndexExpr &b);
  friend MaskExpr le(const IndexExpr &a, const IndexExpr &b);
  friend MaskExpr gt(const IndexExpr &a, const IndexExpr &b);
  friend MaskExpr ge(const IndexExpr &a, const IndexExpr &b);
  friend MaskExpr eq(const IndexExpr &a, const IndexExpr &b);
  friend MaskExpr ne(const IndexExpr &a, const IndexExpr &b);
  friend MaskExpr operator&&(const MaskExpr &a, const MaskExpr &b);
  friend MaskExpr operator||(const MaskExpr &a, const MaskExpr &b);
  friend MaskExpr operator!(const MaskExpr &a);

private:
  struct Node;
  explicit MaskExpr(std::shared_ptr<const Node> node) : node(std::move(node)) {}
  static MaskExpr compare(Kind kind, const IndexExpr &expr);
  static MaskExpr connect(Kind kind, const MaskExpr &a, const MaskExpr &b);

  std::shared_ptr<const Node> node;
};

MaskExpr lt(const IndexExpr &a, const IndexExpr &b);
MaskExpr le(const IndexExpr &a, const IndexExpr &b);
MaskExpr gt(const IndexExpr &a, const IndexExpr &b);
MaskExpr ge(const IndexExpr &a, const IndexExpr &b);
MaskExpr eq(const IndexExpr &a, const IndexExpr &b);
MaskExpr ne(const IndexExpr &a, const IndexExpr &b);
/// Note that both sides are always built: these do not short-circuit.
MaskExpr operator&&(const MaskExpr &a, const MaskExpr &b);
MaskExpr operator||(const MaskExpr &a, const MaskExpr &b);
MaskExpr operator!(const MaskExpr &a);

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const MaskExpr &mask);

} // namespace tilec

#endif // TILEC_ANALYSIS_MASKEXPR_H

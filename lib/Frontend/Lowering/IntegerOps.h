//===- IntegerOps.h - Integer division as the language has it ---*- C++ -*-===//
//
// Division and remainder of the language floor, give 0 for a divisor of 0, and
// wrap for the least integer divided by -1. arith.floordivsi floors but leaves
// those two cases undefined, so a divisor that may be 0 or -1 is replaced by 1
// in front of it and the results are patched up behind.
//
// Masks and tile bounds are full of divisions by constants (`i / block`), and
// passes reason about them. For those the form is fixed:
//
//     n / c   is   %q = arith.floordivsi %n, %c
//     n % c   is   %q = arith.floordivsi %n, %c
//                  %p = arith.muli %q, %c
//                  %r = arith.subi %n, %p
//
// for every constant c but 0 and -1, on scalars and on tensors alike. This
// header has both sides of the agreement: what the front end emits, and the
// matchers that passes use. (arith.remsi is never emitted.)
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_LOWERING_INTEGEROPS_H
#define TILEC_FRONTEND_LOWERING_INTEGEROPS_H

#include "dialects/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace tilec {

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The integer that every lane of `value` is, looking through splats and
/// broadcasts; nothing if that is not known.
inline std::optional<int64_t> getConstantLanes(mlir::Value value) {
  while (mlir::Operation *op = value.getDefiningOp()) {
    if (auto splat = llvm::dyn_cast<mlir::tensor::SplatOp>(op))
      value = splat.getInput();
    else if (auto broadcast = llvm::dyn_cast<mlir::tile::BroadcastOp>(op))
      value = broadcast.getValue();
    else
      break;
  }
  llvm::APInt constant;
  if (!mlir::matchPattern(value, mlir::m_ConstantInt(&constant)) ||
      constant.getBitWidth() > 64)
    return std::nullopt;
  return constant.getSExtValue();
}

/// `numerator / divisor` or `numerator % divisor`.
struct ConstantDivision {
  mlir::Value numerator;
  int64_t divisor = 1;
};

/// Matches `n / c` for a constant c.
inline std::optional<ConstantDivision> matchFloorDiv(mlir::Value value) {
  auto div = value.getDefiningOp<mlir::arith::FloorDivSIOp>();
  if (!div)
    return std::nullopt;
  std::optional<int64_t> divisor = getConstantLanes(div.getRhs());
  if (!divisor || *divisor == 0)
    return std::nullopt;
  return ConstantDivision{div.getLhs(), *divisor};
}

/// Matches `n % c` for a constant c.
inline std::optional<ConstantDivision> matchFloorMod(mlir::Value value) {
  auto sub = value.getDefiningOp<mlir::arith::SubIOp>();
  if (!sub)
    return std::nullopt;
  auto mul = sub.getRhs().getDefiningOp<mlir::arith::MulIOp>();
  if (!mul)
    return std::nullopt;
  // Canonicalization may swap the factors.
  for (auto [quotient, factor] : {std::pair(mul.getLhs(), mul.getRhs()),
                                  std::pair(mul.getRhs(), mul.getLhs())}) {
    std::optional<ConstantDivision> div = matchFloorDiv(quotient);
    std::optional<int64_t> constant = getConstantLanes(factor);
    if (div && constant && div->numerator == sub.getLhs() &&
        div->divisor == *constant)
      return div;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Makes a constant of the type of the operands; a callback because a tensor
/// with dynamic extents needs their values.
using ConstantMaker = llvm::function_ref<mlir::Value(int64_t)>;

namespace detail {

/// `divisor` with 0 and -1 replaced by 1, and where it was which.
struct SafeDivisor {
  mlir::Value isZero, isMinusOne, value;
};

inline SafeDivisor makeSafe(mlir::ImplicitLocOpBuilder &b, mlir::Value divisor,
                            ConstantMaker constant) {
  using namespace mlir::arith;
  mlir::Value isZero =
      b.createOrFold<CmpIOp>(CmpIPredicate::eq, divisor, constant(0));
  mlir::Value isMinusOne =
      b.createOrFold<CmpIOp>(CmpIPredicate::eq, divisor, constant(-1));
  mlir::Value unsafe = b.createOrFold<OrIOp>(isZero, isMinusOne);
  return {isZero, isMinusOne,
          b.createOrFold<SelectOp>(unsafe, constant(1), divisor)};
}

} // namespace detail

/// `numerator / divisor`, two integers (or tensors of them) of one type.
inline mlir::Value createFloorDiv(mlir::ImplicitLocOpBuilder &b,
                                  mlir::Value numerator, mlir::Value divisor,
                                  ConstantMaker constant) {
  using namespace mlir::arith;
  std::optional<int64_t> known = getConstantLanes(divisor);
  if (known == 0)
    return constant(0);
  if (known == -1)
    return b.createOrFold<SubIOp>(constant(0), numerator);
  if (known)
    return b.createOrFold<FloorDivSIOp>(numerator, divisor);
  detail::SafeDivisor safe = detail::makeSafe(b, divisor, constant);
  mlir::Value quotient = b.createOrFold<FloorDivSIOp>(numerator, safe.value);
  mlir::Value negated = b.createOrFold<SubIOp>(constant(0), numerator);
  quotient = b.createOrFold<SelectOp>(safe.isMinusOne, negated, quotient);
  return b.createOrFold<SelectOp>(safe.isZero, constant(0), quotient);
}

/// `numerator % divisor`; the result has the divisor's sign.
inline mlir::Value createFloorMod(mlir::ImplicitLocOpBuilder &b,
                                  mlir::Value numerator, mlir::Value divisor,
                                  ConstantMaker constant) {
  using namespace mlir::arith;
  std::optional<int64_t> known = getConstantLanes(divisor);
  if (known == 0 || known == -1)
    return constant(0);
  // By 1, as which 0 and -1 are taken, the remainder is 0, as it is for them.
  mlir::Value safe =
      known ? divisor : detail::makeSafe(b, divisor, constant).value;
  mlir::Value quotient = b.createOrFold<FloorDivSIOp>(numerator, safe);
  mlir::Value product = b.createOrFold<MulIOp>(quotient, safe);
  return b.createOrFold<SubIOp>(numerator, product);
}

} // namespace tilec

#endif // TILEC_FRONTEND_LOWERING_INTEGEROPS_H

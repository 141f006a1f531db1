//===- Coordinates.cpp - Which element a register is ------------*- C++ -*-===//
//
// A coordinate is a part of the thread, computed once in the kernel's prologue,
// and a part of the register, a constant once loops over registers are
// unrolled. Where the two share no bits, their sum is what the layout means by
// XOR, and addresses can be added up from both.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/KernelEmitter.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilec::cuda {

using layout::InDim;
using layout::LinearLayout;

static BitMap basesAlong(const LinearLayout &layout, InDim dim, unsigned axis) {
  BitMap map;
  for (const layout::Basis &basis : layout.bases(dim))
    map.images.push_back(static_cast<uint64_t>(basis[axis]));
  return map;
}

Expr KernelEmitter::threadExpr(const BitMap &lanes, const BitMap &warps,
                               StringRef wish) {
  bool hasLanes = !lanes.isZero(), hasWarps = !warps.isZero();
  Expr text = textOf(lanes, "lane");
  if (hasWarps) {
    bool disjoint = (lanes.span() & warps.span()) == 0;
    Expr warp = textOf(warps, "warp");
    text = hasLanes ? binary(text, disjoint ? "|" : "^", warp,
                             disjoint ? Prec::BitOr : Prec::BitXor, CType::I32)
                    : warp;
  }
  text.isAtom = text.prec == Prec::Primary;
  if (text.isAtom) // 0, lane or warp itself.
    return text;
  for (const auto &[known, name] : coordinates)
    if (known == text.text)
      return Expr::atom(name, CType::I32);
  std::string name = fresh(wish);
  coordinates.push_back({text.text, name});
  return Expr::atom(name, CType::I32);
}

Expr KernelEmitter::threadCoordinate(const LinearLayout &layout,
                                     unsigned axis) {
  static constexpr StringLiteral wishes[] = {"column", "row", "plane"};
  unsigned fromLast = layout.rank() - 1 - axis;
  return threadExpr(basesAlong(layout, InDim::Lane, axis),
                    basesAlong(layout, InDim::Warp, axis),
                    wishes[std::min(fromLast, 2u)]);
}

BitMap KernelEmitter::registerCoordinate(const LinearLayout &layout,
                                         unsigned axis, const BitMap &reg) {
  return reg.then(basesAlong(layout, InDim::Register, axis));
}

int64_t KernelEmitter::greatestCoordinate(const LinearLayout &layout,
                                          unsigned axis, unsigned reg) {
  return static_cast<int64_t>(
      basesAlong(layout, InDim::Lane, axis).span() |
      basesAlong(layout, InDim::Warp, axis).span() |
      basesAlong(layout, InDim::Register, axis).apply(reg));
}

bool KernelEmitter::isSeparable(const LinearLayout &layout, unsigned axis) {
  uint64_t thread = basesAlong(layout, InDim::Lane, axis).span() |
                    basesAlong(layout, InDim::Warp, axis).span();
  return (thread & basesAlong(layout, InDim::Register, axis).span()) == 0;
}

Expr KernelEmitter::coordinate(const LinearLayout &layout, unsigned axis,
                               const BitMap &reg, StringRef variable) {
  Expr thread = threadCoordinate(layout, axis);
  BitMap map = registerCoordinate(layout, axis, reg);
  if (map.isZero())
    return thread;
  Expr part = textOf(map, variable);
  if (thread.text == "0")
    return part;
  if (isSeparable(layout, axis))
    return binary(thread, "+", part, Prec::Additive, CType::I32);
  return binary(thread, "^", part, Prec::BitXor, CType::I32);
}

std::optional<Expr> KernelEmitter::ownsElements(const LinearLayout &layout) {
  std::optional<Expr> owns;
  for (auto [dim, name] : {std::pair(InDim::Lane, StringRef("lane")),
                           std::pair(InDim::Warp, StringRef("warp"))}) {
    uint64_t free = layout.freeBits(dim);
    if (free == 0)
      continue;
    uint64_t all = layout.size(dim) - 1;
    Expr bits = Expr::atom(name, CType::I32);
    if (free != all)
      bits =
          binary(bits, "&", intLiteral(static_cast<int64_t>(free), CType::I32),
                 Prec::BitAnd, CType::I32);
    Expr isFirst = binary(bits, "==", intLiteral(0, CType::I32), Prec::Equality,
                          CType::Bool);
    owns = both(owns, isFirst);
  }
  return owns;
}

/// The bits of the loop variable any of which, when 0, keeps the coordinate
/// along `axis` below `end`, whatever the thread.
static uint64_t bitsBelow(const LinearLayout &layout, unsigned axis,
                          const BitMap &reg, int64_t end) {
  uint64_t threads = basesAlong(layout, InDim::Lane, axis).span() |
                     basesAlong(layout, InDim::Warp, axis).span();
  BitMap map = reg.then(basesAlong(layout, InDim::Register, axis));
  if (!map.isDisjoint() || (threads & map.span()) || map.offset)
    return 0;
  uint64_t greatest = threads | map.span(), mask = 0;
  for (auto [bit, image] : llvm::enumerate(map.images))
    if (static_cast<int64_t>(greatest - image) < end)
      mask |= uint64_t(1) << bit;
  return mask;
}

std::optional<Expr> KernelEmitter::isInside(const LinearLayout &layout,
                                            ValueRange valid,
                                            const BitMap &reg) {
  std::optional<Expr> inside;
  for (auto [axis, end] : llvm::enumerate(valid)) {
    if (facts.rangeOf(end).low >= layout.shape()[axis])
      continue;
    Expr test = binary(coordinate(layout, axis, reg), "<", scalar(end),
                       Prec::Relational, CType::Bool);
    // Most registers need no test, which the unrolled loop finds out.
    if (uint64_t mask = bitsBelow(layout, axis, reg, facts.rangeOf(end).low)) {
      Expr bits = intLiteral(static_cast<int64_t>(mask), CType::I32);
      Expr r = Expr::atom("r", CType::I32);
      bool isAll = mask + 1 == uint64_t(1) << reg.images.size();
      test = binary(
          binary(isAll ? r : binary(r, "&", bits, Prec::BitAnd, CType::I32),
                 "!=", bits, Prec::Equality, CType::Bool),
          "||", test, Prec::LogicalOr, CType::Bool);
    }
    inside = both(inside, test);
  }
  return inside;
}

} // namespace tilec::cuda

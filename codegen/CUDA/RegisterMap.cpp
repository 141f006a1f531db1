//===- RegisterMap.cpp - Linear maps of bits as C++ text --------*- C++ -*-===//

#include "codegen/CUDA/RegisterMap.h"

#include "lib/Layout/F2.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tilec::cuda {

using layout::Basis;
using layout::InDim;
using layout::LinearLayout;

BitMap BitMap::identity(unsigned bits) {
  BitMap map;
  for (unsigned bit = 0; bit < bits; ++bit)
    map.images.push_back(uint64_t(1) << bit);
  return map;
}

uint64_t BitMap::apply(uint64_t number) const {
  return layout::multiply<uint64_t>(images, number) ^ offset;
}

bool BitMap::isZero() const {
  return offset == 0 &&
         llvm::all_of(images, [](uint64_t image) { return image == 0; });
}

bool BitMap::isIdentity() const { return *this == identity(images.size()); }

uint64_t BitMap::span() const {
  uint64_t bits = offset;
  for (uint64_t image : images)
    bits |= image;
  return bits;
}

bool BitMap::isDisjoint() const {
  uint64_t seen = offset;
  for (uint64_t image : images) {
    if (image & seen)
      return false;
    seen |= image;
  }
  return true;
}

BitMap BitMap::then(const BitMap &next) const {
  uint64_t known = llvm::maskTrailingOnes<uint64_t>(next.images.size());
  BitMap result;
  for (uint64_t image : images)
    result.images.push_back(
        layout::multiply<uint64_t>(next.images, image & known));
  result.offset = next.apply(offset & known);
  return result;
}

BitMap BitMap::shiftedRight(unsigned bits) const {
  BitMap result;
  for (uint64_t image : images)
    result.images.push_back(image >> bits);
  result.offset = offset >> bits;
  return result;
}

//===--- Text ------------------------------------------------------------===//

static std::string number(uint64_t value) {
  return value < 10 ? std::to_string(value)
                    : "0x" + llvm::utohexstr(value, /*LowerCase=*/true);
}

Expr textOf(const BitMap &map, llvm::StringRef variable) {
  // A term for each distance by which bits are shifted.
  struct Term {
    int shift;
    uint64_t mask;
  };
  llvm::SmallVector<Term> terms;
  unsigned count = map.images.size();
  for (auto [bit, image] : llvm::enumerate(map.images))
    for (uint64_t rest = image; rest != 0; rest &= rest - 1) {
      int shift = llvm::countr_zero(rest) - static_cast<int>(bit);
      auto *known =
          llvm::find_if(terms, [&](Term term) { return term.shift == shift; });
      if (known == terms.end())
        terms.push_back({shift, uint64_t(1) << bit});
      else
        known->mask |= uint64_t(1) << bit;
    }
  auto small = [&](uint64_t value) {
    return Expr::atom(value < 1024 ? std::to_string(value) : number(value),
                      CType::I32);
  };
  if (terms.empty())
    return small(map.offset);

  Expr name = Expr::atom(variable, CType::I32);
  auto textOfTerm = [&](Term term) -> Expr {
    uint64_t all = llvm::maskTrailingOnes<uint64_t>(count);
    bool reachesTop = (term.mask >> llvm::countr_zero(term.mask)) ==
                      (all >> llvm::countr_zero(term.mask));
    if (term.shift < 0) {
      Expr shifted =
          binary(name, ">>", small(-term.shift), Prec::Shift, CType::I32);
      // The shift itself removes the bits below.
      if (reachesTop && llvm::countr_zero(term.mask) == -term.shift)
        return shifted;
      return {shifted.text + " & " + small(term.mask >> -term.shift).text,
              Prec::BitAnd, CType::I32};
    }
    Expr masked = term.mask == all ? name
                                   : binary(name, "&", small(term.mask),
                                            Prec::BitAnd, CType::I32);
    if (term.shift == 0)
      return masked;
    return binary(masked, "<<", small(term.shift), Prec::Shift, CType::I32);
  };
  bool disjoint = map.isDisjoint();
  std::optional<Expr> result;
  auto append = [&](const Expr &term) {
    result = result ? binary(*result, disjoint ? "|" : "^", term,
                             disjoint ? Prec::BitOr : Prec::BitXor, CType::I32)
                    : term;
  };
  for (Term term : terms)
    append(textOfTerm(term));
  if (map.offset)
    append(small(map.offset));
  return *result;
}

//===--- Layouts ---------------------------------------------------------===//

std::optional<BitMap> registerMap(const LinearLayout &from,
                                  const LinearLayout &to,
                                  llvm::ArrayRef<int64_t> dims) {
  auto project = [&](const Basis &basis) {
    uint64_t flat = 0;
    for (auto [axis, dim] : llvm::enumerate(dims))
      flat = flat * from.shape()[axis] + basis[dim];
    return flat;
  };
  for (InDim dim : {InDim::Lane, InDim::Warp}) {
    llvm::SmallVector<uint64_t> held = from.flatBases(dim);
    if (held.size() != to.numBits(dim))
      return std::nullopt;
    for (auto [basis, expected] : llvm::zip_equal(to.bases(dim), held))
      if (project(basis) != expected)
        return std::nullopt;
  }
  layout::Span held(from.flatBases(InDim::Register));
  BitMap map;
  for (const Basis &basis : to.bases(InDim::Register)) {
    std::optional<uint64_t> source = held.express(project(basis));
    if (!source)
      return std::nullopt;
    map.images.push_back(*source);
  }
  return map;
}

} // namespace tilec::cuda

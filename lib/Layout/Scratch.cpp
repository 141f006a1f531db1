//===- Scratch.cpp - Exchanging a tensor through shared memory -*- C++ -*-===//

#include "lib/Layout/Scratch.h"

#include "lib/Layout/F2.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tilec::layout {

using Vectors = llvm::SmallVector<uint64_t>;

namespace {

/// One of the two layouts during the choice.
struct Side {
  explicit Side(const LinearLayout &layout)
      : layout(layout), registers(layout.flatBases(InDim::Register)),
        lanes(layout.flatBases(InDim::Lane)),
        warps(layout.flatBases(InDim::Warp)) {}

  const LinearLayout &layout;
  Vectors registers, lanes, warps;
  /// What ScratchSide says.
  llvm::SmallVector<unsigned, 4> vectorBits, roundBits;

  std::optional<unsigned> findRegister(uint64_t basis) const {
    const uint64_t *found = llvm::find(registers, basis);
    if (found == registers.end())
      return std::nullopt;
    return found - registers.begin();
  }
  /// Whether a basis other than that of register bit `bit` has the bits of
  /// `mask`.
  bool othersTouch(unsigned bit, uint64_t mask) const {
    for (auto [number, basis] : llvm::enumerate(registers))
      if (number != bit && (basis & mask))
        return true;
    return llvm::any_of(llvm::concat<const uint64_t>(lanes, warps),
                        [&](uint64_t basis) { return (basis & mask) != 0; });
  }
  /// What is neither within an access nor a round.
  Vectors rest() const {
    Vectors result;
    for (auto [bit, basis] : llvm::enumerate(registers))
      if (!llvm::is_contained(vectorBits, bit) &&
          !llvm::is_contained(roundBits, bit))
        result.push_back(basis);
    llvm::append_range(result, warps);
    llvm::append_range(result, lanes);
    return result;
  }
};

class Chooser {
public:
  Chooser(const LinearLayout &from, const LinearLayout &to,
          unsigned elementBytes)
      : from(from), to(to), elementBytes(elementBytes),
        numBits(llvm::Log2_64(static_cast<uint64_t>(from.numElements()))) {}

  ScratchLayout run(uint64_t maxBytes) {
    chooseRounds(maxBytes);
    chooseVector();
    chooseBanks();
    // `order` is a basis of the elements; the i-th is at 2^i elements.
    Span basis(order);
    llvm::SmallVector<uint64_t> offsets;
    for (unsigned bit = 0; bit < numBits; ++bit) {
      uint64_t element = uint64_t(1) << bit;
      offsets.push_back(
          rounds & element ? 0 : *basis.express(element) * elementBytes);
    }
    SharedLayout layout(from.layout.shape(), elementBytes, offsets);
    unsigned bytes = vectorBytes();
    auto finish = [&](Side &side) {
      return ScratchSide{side.vectorBits, side.roundBits,
                         bankAccess(side.layout, layout, bytes)};
    };
    return {layout, bytes, finish(from), finish(to)};
  }

private:
  unsigned vectorBytes() const { return elementBytes << vector.size(); }

  /// Register bits that move by one coordinate bit, the same in both layouts
  /// and in no other basis; the highest first.
  void chooseRounds(uint64_t maxBytes) {
    uint64_t bytes = uint64_t(elementBytes) << numBits;
    for (unsigned bit = from.registers.size(); bit-- > 0 && bytes > maxBytes;) {
      uint64_t basis = from.registers[bit];
      std::optional<unsigned> other = to.findRegister(basis);
      if (!other || !llvm::isPowerOf2_64(basis) ||
          from.othersTouch(bit, basis) || to.othersTouch(*other, basis))
        continue;
      from.roundBits.push_back(bit);
      to.roundBits.push_back(*other);
      rounds |= basis;
      bytes /= 2;
    }
  }

  /// Register bits that both have in common, lowest first, up to 16 bytes.
  void chooseVector() {
    Span span;
    for (auto [bit, basis] : llvm::enumerate(from.registers)) {
      std::optional<unsigned> other = to.findRegister(basis);
      if (!other || vectorBytes() == 16 ||
          llvm::is_contained(from.roundBits, bit) || !span.insert(basis))
        continue;
      vector.push_back(basis);
      from.vectorBits.push_back(bit);
      to.vectorBits.push_back(*other);
    }
    // Nothing else may move within an access.
    while (!vector.empty()) {
      Span others(from.rest());
      for (uint64_t basis : to.rest())
        others.insert(basis);
      unsigned dimension = others.dimension();
      if (dimension + vector.size() + from.roundBits.size() == numBits)
        break;
      vector.pop_back();
      from.vectorBits.pop_back();
      to.vectorBits.pop_back();
    }
  }

  /// Lists the basis of the elements by the address bits they move: those of an
  /// access, of a word of 4 bytes, of a bank, and of a row of banks.
  void chooseBanks() {
    unsigned bytes = std::max(vectorBytes(), 4u);
    unsigned served = llvm::Log2_32(128 / bytes); // lanes served together
    llvm::ArrayRef<uint64_t> a = llvm::ArrayRef(from.lanes).take_front(served);
    llvm::ArrayRef<uint64_t> b = llvm::ArrayRef(to.lanes).take_front(served);
    Vectors others = from.rest();
    llvm::append_range(others, to.rest());

    order = vector;
    Span placed(vector);
    auto place = [&](uint64_t basis) {
      if (placed.contains(basis))
        return;
      placed.insert(basis);
      order.push_back(basis);
    };
    // Lanes that share a word do not conflict.
    for (uint64_t basis : llvm::concat<const uint64_t>(a, b, others)) {
      if ((elementBytes << order.size()) >= 4)
        break;
      place(basis);
    }

    Vectors common, onlyA, onlyB;
    split(a, b, placed, common, onlyA, onlyB);
    Vectors rows;
    for (auto [basisA, basisB] : llvm::zip(onlyA, onlyB))
      rows.push_back(basisA ^ basisB);
    for (uint64_t basis : common)
      place(basis);
    for (uint64_t basis : onlyA.size() >= onlyB.size() ? onlyA : onlyB)
      place(basis);
    // The banks that are left take what neither lanes contain.
    Span all = placed;
    for (uint64_t basis : rows)
      all.insert(basis);
    Vectors spare;
    for (uint64_t basis : others)
      if (!all.contains(basis)) {
        all.insert(basis);
        spare.push_back(basis);
      }
    while (!spare.empty() && (elementBytes << order.size()) < 128) {
      place(spare.front());
      spare.erase(spare.begin());
    }
    for (uint64_t basis : llvm::concat<const uint64_t>(rows, spare))
      place(basis);
  }

  /// What a and b have in common, and what completes it to each, up to sums of
  /// `modulo`.
  static void split(llvm::ArrayRef<uint64_t> a, llvm::ArrayRef<uint64_t> b,
                    const Span &modulo, Vectors &common, Vectors &onlyA,
                    Vectors &onlyB) {
    // An element of b in the sum of a and of what came before in b gives an
    // element of a that is also in b.
    Span sum = modulo;
    llvm::SmallVector<std::pair<unsigned, uint64_t>> ofA;
    for (uint64_t basis : a) {
      ofA.push_back({sum.numInserted(), basis});
      sum.insert(basis);
    }
    Span shared = modulo;
    for (uint64_t basis : b) {
      std::optional<uint64_t> mask = sum.express(basis);
      if (!mask) {
        sum.insert(basis);
        onlyB.push_back(basis);
        continue;
      }
      uint64_t part = 0;
      for (auto [number, vector] : ofA)
        if (*mask >> number & 1)
          part ^= vector;
      if (shared.insert(part))
        common.push_back(part);
    }
    for (uint64_t basis : a)
      if (shared.insert(basis))
        onlyA.push_back(basis);
  }

  Side from, to;
  unsigned elementBytes, numBits;
  /// The coordinate bits of rounds.
  uint64_t rounds = 0;
  Vectors vector, order;
};

} // namespace

ScratchLayout optimalScratch(const LinearLayout &from, const LinearLayout &to,
                             unsigned elementBytes, uint64_t maxBytes) {
  assert(from.shape() == to.shape() && "layouts of different tensors");
  assert(from.isSurjective() && to.isSurjective() &&
         "an element that is held nowhere cannot be exchanged");
  return Chooser(from, to, elementBytes).run(maxBytes);
}

} // namespace tilec::layout

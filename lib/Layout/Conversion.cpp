//===- Conversion.cpp - From one layout to another -------------*- C++ -*-===//
//
// Within a warp, let S map a register and lane (r, l) of the result to where
// the source holds that element:
//
//   source register = A r ^ B l        source lane = C r ^ D l
//
// If round t were register t of every lane, two lanes could read different
// registers of the same lane. Instead lane l receives register t ^ G l in round
// t, for a matrix G such that E = D ^ C G is invertible: then in each round
// every lane is read by exactly one,
//
//   lane l reads from lane C t ^ E l,
//   lane m is read by l = E^-1 (m ^ C t) and gives A (t ^ G l) ^ B l.
//
// Such a G exists if the source lanes C r ^ D l are all lanes. Where the source
// holds copies, the bits that tell them apart are additional freedom (K): any
// combination of them may be added to S.
//
//===----------------------------------------------------------------------===//

#include "lib/Layout/Conversion.h"

#include "lib/Layout/F2.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace tilec::layout {

namespace {

/// A register and a lane.
struct Place {
  unsigned reg = 0;
  unsigned lane = 0;

  friend Place operator^(Place a, Place b) {
    return {a.reg ^ b.reg, a.lane ^ b.lane};
  }
};

/// Where a layout holds elements within a warp.
class WarpInverse {
public:
  explicit WarpInverse(const LinearLayout &layout)
      : laneBases(layout.flatBases(InDim::Lane)) {
    for (auto [bit, basis] : llvm::enumerate(layout.flatBases(InDim::Register)))
      add(basis, {1u << bit, 0}, registers);
    for (auto [bit, basis] : llvm::enumerate(laneBases))
      add(basis, {0, 1u << bit}, all);
  }

  /// The place of an element, in the lane `lane` (a single bit, or none) if it
  /// is there in some register.
  std::optional<Place> find(uint64_t element, unsigned laneBit) const {
    Place own{0, 1u << laneBit};
    if (std::optional<uint64_t> rest =
            registers.express(element ^ laneBases[laneBit]))
      return multiply<Place>(places, *rest) ^ own;
    return find(element);
  }
  std::optional<Place> find(uint64_t element) const {
    std::optional<uint64_t> combination = all.express(element);
    if (!combination)
      return std::nullopt;
    return multiply<Place>(places, *combination);
  }

  /// A basis of the places that hold element 0.
  llvm::ArrayRef<Place> kernel() const { return copies; }

private:
  void add(uint64_t basis, Place place, Span &span) {
    // A copy is told from what it is a copy of by the difference of places.
    if (std::optional<Place> other = find(basis))
      copies.push_back(*other ^ place);
    places.push_back(place);
    all.insert(basis);
    if (&span == &registers)
      registers.insert(basis);
  }

  llvm::SmallVector<uint64_t> laneBases;
  Span registers, all;
  llvm::SmallVector<Place> places, copies;
};

/// Chooses G and the additions from K such that E is invertible.
class LaneMatching {
public:
  LaneMatching(llvm::ArrayRef<Place> registerImages,
               llvm::ArrayRef<Place> laneImages, llvm::ArrayRef<Place> kernel)
      : images(laneImages), take(laneImages.size(), 0) {
    for (Place place : kernel)
      addFreedom(place, 0);
    for (auto [bit, place] : llvm::enumerate(registerImages))
      addFreedom(place, 1u << bit);
  }

  /// False if there is no such choice.
  bool run() {
    // Lanes that can be told apart as they are stay as they are, those that
    // read from themselves first.
    llvm::SmallVector<bool> done(images.size(), false);
    auto settle = [&](unsigned bit) { done[bit] = chosen.insert(lane(bit)); };
    for (unsigned bit = 0; bit < images.size(); ++bit)
      if (lane(bit) == 1u << bit)
        settle(bit);
    for (unsigned bit = 0; bit < images.size(); ++bit)
      if (!done[bit])
        settle(bit);
    // The others are moved apart; to their own lane if that is possible.
    for (unsigned bit = 0; bit < images.size(); ++bit) {
      uint64_t own = uint64_t(1) << bit;
      if (done[bit] || chosen.contains(own))
        continue;
      if (std::optional<uint64_t> mask = freedom.express(lane(bit) ^ own)) {
        move(bit, *mask);
        settle(bit);
      }
    }
    for (unsigned bit = 0; bit < images.size(); ++bit) {
      if (done[bit])
        continue;
      for (unsigned number = 0; number < moves.size() && !done[bit]; ++number)
        if (!chosen.contains(moves[number].image.lane)) {
          move(bit, uint64_t(1) << number);
          settle(bit);
        }
      if (!done[bit])
        return false;
    }
    return true;
  }

  /// (A G + B) l and E l, per bit of l, and G itself.
  llvm::SmallVector<Place> images;
  llvm::SmallVector<unsigned> take;

private:
  struct Move {
    Place image;
    unsigned reg;
  };

  uint64_t lane(unsigned bit) const { return images[bit].lane; }

  void addFreedom(Place image, unsigned reg) {
    moves.push_back({image, reg});
    freedom.insert(image.lane);
  }

  void move(unsigned bit, uint64_t mask) {
    for (auto [number, entry] : llvm::enumerate(moves))
      if (mask >> number & 1) {
        images[bit] = images[bit] ^ entry.image;
        take[bit] ^= entry.reg;
      }
  }

  llvm::SmallVector<Move> moves;
  Span freedom; // of the lanes of `moves`
  Span chosen;  // the columns of E that are settled
};

} // namespace

//===--- ShufflePlan -----------------------------------------------------===//

bool ShufflePlan::isButterfly() const {
  for (auto [bit, image] : llvm::enumerate(source))
    if (image != 1u << bit)
      return false;
  return true;
}

unsigned ShufflePlan::sourceLane(const ShuffleRound &round,
                                 unsigned lane) const {
  return round.lane ^ multiply<unsigned>(source, lane);
}

unsigned ShufflePlan::numShuffles(unsigned elementBits) const {
  unsigned packed = 0;
  while (packed < packedBits && (elementBits << (packed + 1)) <= 32)
    ++packed;
  unsigned count = 0;
  for (unsigned t = 0; t < rounds.size(); t += 1u << packed)
    count += moves(rounds[t]);
  return count * ((elementBits + 31) / 32);
}

unsigned ShufflePlan::numSelectStages() const {
  auto isSet = [](unsigned image) { return image != 0; };
  return llvm::count_if(give, isSet) + llvm::count_if(take, isSet);
}

//===--- Planning --------------------------------------------------------===//

/// The number of low register bits that `plan`, whose result has the registers
/// at `registerImages`, leaves alone.
static unsigned packedBits(const ShufflePlan &plan,
                           llvm::ArrayRef<Place> registerImages) {
  unsigned others = 0;
  for (unsigned bit = 0; bit < 5; ++bit)
    others |= plan.give[bit] | plan.take[bit];
  unsigned packed = 0;
  for (auto [bit, image] : llvm::enumerate(registerImages)) {
    if (image.reg != 1u << bit || image.lane != 0 || (others >> bit & 1))
      break;
    ++packed;
  }
  // Rounds of higher bits must give whole packs.
  for (unsigned bit = packed; bit < registerImages.size(); ++bit)
    if (unsigned reg = plan.rounds[1u << bit].give)
      packed = std::min<unsigned>(packed, llvm::countr_zero(reg));
  return packed;
}

static std::optional<ShufflePlan> planShuffle(const LinearLayout &from,
                                              const LinearLayout &to) {
  if (from.bases(InDim::Warp) != to.bases(InDim::Warp))
    return std::nullopt;
  WarpInverse inverse(from);
  llvm::SmallVector<Place> registerImages, laneImages;
  for (uint64_t basis : to.flatBases(InDim::Register)) {
    std::optional<Place> place = inverse.find(basis);
    if (!place)
      return std::nullopt;
    registerImages.push_back(*place);
  }
  for (auto [bit, basis] : llvm::enumerate(to.flatBases(InDim::Lane))) {
    std::optional<Place> place = inverse.find(basis, bit);
    if (!place)
      return std::nullopt;
    laneImages.push_back(*place);
  }
  LaneMatching matching(registerImages, laneImages, inverse.kernel());
  if (!matching.run())
    return std::nullopt;

  ShufflePlan plan;
  Span columns; // of E
  for (auto [bit, image] : llvm::enumerate(matching.images)) {
    plan.source[bit] = image.lane;
    plan.take[bit] = matching.take[bit];
    columns.insert(image.lane);
  }
  // What lane m gives depends on who reads it: (A G + B) E^-1 m.
  auto giveOf = [&](unsigned lane) {
    return multiply<Place>(matching.images, *columns.express(lane)).reg;
  };
  for (unsigned bit = 0; bit < 5; ++bit)
    plan.give[bit] = giveOf(1u << bit);
  for (unsigned t = 0; t < to.size(InDim::Register); ++t) {
    Place image = multiply<Place>(registerImages, t);
    plan.rounds.push_back({image.reg ^ giveOf(image.lane), image.lane});
  }
  plan.packedBits = packedBits(plan, registerImages);
  return plan;
}

ConversionPlan planConversion(const LinearLayout &from,
                              const LinearLayout &to) {
  assert(from.shape() == to.shape() && "layouts of different tensors");
  assert(from.numBits(InDim::Warp) == to.numBits(InDim::Warp) &&
         "layouts over different numbers of warps");
  using Kind = ConversionPlan::Kind;
  if (from == to) {
    auto all = llvm::seq(0u, to.size(InDim::Register));
    return {Kind::Identity, {all.begin(), all.end()}, {}};
  }
  if (auto sources = registerPermutation(from, to))
    return {Kind::Registers, *sources, {}};
  if (std::optional<ShufflePlan> shuffle = planShuffle(from, to))
    return {Kind::Shuffle, {}, *shuffle};
  return {Kind::Shared, {}, {}};
}

} // namespace tilec::layout

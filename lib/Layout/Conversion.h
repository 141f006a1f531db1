//===- Conversion.h - From one layout to another ---------------*- C++ -*-===//
//
// How to move a tensor from the places of one layout to those of another, by
// the cheapest means that do:
//
//   Identity    nothing moves
//   Registers   every thread renames its registers, all in the same way
//   Shuffle     values move between the lanes of a warp
//   Shared      values move between warps, through shared memory (Scratch.h)
//
// Shuffles
// --------
// In one shuffle every lane offers one register and receives what one lane
// offers. So a lane can give different registers to different lanes only in
// different shuffles, and which register it offers in a round must suit whoever
// reads from it. The plan has one round for each register of the result, and
// three steps:
//
//   1. u[r] = from[r ^ give(lane)]                       for each register r
//   2. v[t] = shuffle(u[round.give], source lane)        for each round t
//      with source lane = round.lane ^ source(lane)
//   3. to[r] = v[r ^ take(lane)]                         for each register r
//
// give, take and source are linear in the lane (an XOR of one constant for each
// set bit). Steps 1 and 3 renumber a thread's registers depending on its lane:
// for each bit of the lane whose constant is not 0, exchange registers r and
// r ^ constant if the bit is set (two selects for each pair). Where
// source(lane) is the lane itself, a round is a butterfly (shfl.xor) by
// round.lane, or no shuffle at all if that is 0.
//
// Example: 64 elements in two registers of 32 lanes, from pairs of neighbours
// in a lane to neighbours in neighbouring lanes:
//
//   from: register bit 0 -> 1,   lane bits -> 2, 4, 8, 16, 32
//   to:   register bit 0 -> 32,  lane bits -> 1, 2, 4, 8, 16
//
// Lane bit i + 1 of the result comes from lane bit i; the lowest comes from a
// register, and the register from lane bit 4.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LAYOUT_CONVERSION_H
#define TILEC_LAYOUT_CONVERSION_H

#include "lib/Layout/LinearLayout.h"

namespace tilec::layout {

/// One step of an exchange within a warp, as lane 0 sees it.
struct ShuffleRound {
  /// The number of the renumbered register (u) that the lanes offer.
  unsigned give;
  /// The lane that lane 0 reads from.
  unsigned lane;
};

/// An exchange within each warp, the same in all warps.
struct ShufflePlan {
  /// What each bit of the lane contributes to give(lane), source(lane) and
  /// take(lane); see the head of this file.
  std::array<unsigned, 5> give = {}, source = {}, take = {};
  /// rounds[t] fills v[t]; there is one for each register of the result.
  llvm::SmallVector<ShuffleRound> rounds;
  /// log2 of the number of consecutive registers, from each multiple on, that
  /// move as one: give, take and the rounds leave these bits of a register's
  /// number alone. Narrow elements can be packed that many to a shuffle; only
  /// rounds at multiples are then carried out.
  unsigned packedBits = 0;

  /// Whether lanes read from lane ^ round.lane.
  bool isButterfly() const;
  /// Whether a round moves anything between lanes.
  bool moves(const ShuffleRound &round) const {
    return !isButterfly() || round.lane != 0;
  }
  unsigned sourceLane(const ShuffleRound &round, unsigned lane) const;
  /// The number of shuffle instructions for elements of this width, which are
  /// packed into 32 bits where possible.
  unsigned numShuffles(unsigned elementBits) const;
  /// The number of bits of the lane on which steps 1 and 3 depend, each of
  /// which costs a select for every register.
  unsigned numSelectStages() const;
};

struct ConversionPlan {
  enum class Kind { Identity, Registers, Shuffle, Shared };

  Kind kind;
  /// Identity, Registers: for each register of the result, that of the source.
  llvm::SmallVector<unsigned> registerSource;
  /// Shuffle only.
  ShufflePlan shuffle;
};

/// How to bring a tensor from one layout to another over as many warps. Every
/// element that `to` holds must be held by `from`. Of the copies that `from`
/// holds of an element, those in the same lane are preferred.
ConversionPlan planConversion(const LinearLayout &from, const LinearLayout &to);

} // namespace tilec::layout

#endif // TILEC_LAYOUT_CONVERSION_H

//===- Instruction.h - Decoded instructions ---------------------*- C++ -*-===//
//
// What the executor runs. Decoding turns names into numbers once, so that
// execution is a call through a pointer:
//
//   * All functions of a module become one list; a program counter is an index
//     into it. Functions do not recurse, so each register of each function has
//     a *slot* of its own and calls need no frames, only return addresses.
//     (Kernels, which never call each other, share slots.)
//   * A slot holds a value for each of the 32 lanes of a warp (a Row). A value
//     narrower than 64 bits is in the low bits and the others are zero; a
//     predicate is 0 or 1; a .b128 takes two slots, the low half first.
//   * Immediates and addresses of variables are slots too, of constants that
//     all warps share, and so are special registers. A handler reads an operand
//     by its slot and does not ask what it is.
//
// A *handler* executes one instruction for some lanes of a warp, those for
// which the guard holds. It must leave the registers of others alone.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_MACHINE_INSTRUCTION_H
#define TILEC_EMULATOR_MACHINE_INSTRUCTION_H

#include "lib/Emulator/PTX/Module.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>
#include <memory>

namespace tilec::emulator {

class Warp;
struct Instruction;

constexpr unsigned warpSize = 32;
using LaneMask = uint32_t;
/// One register of a warp: a value for each lane.
using Row = std::array<uint64_t, warpSize>;
using Slot = uint32_t;

/// The slot of `_`, and of operands that are not there. Never read; what is
/// written there is lost.
constexpr Slot noSlot = ~0u;

/// What became of an instruction.
enum class Outcome : uint8_t {
  Next,   // Done: the lanes go on with the instruction after it.
  Jumped, // The handler has said where the lanes go (Warp::jump, exit).
  Wait,   // Nothing happened: the lanes stay, and try again when something
          // changes or others of the warp come. Those that the handler has
          // given to Warp::advance are done and go on.
};

using Handler = Outcome (*)(Warp &warp, const Instruction &instruction,
                            LaneMask lanes);

/// What a family of instructions needs besides; made by its decoder.
struct Details {
  virtual ~Details() = default;
};

struct Instruction {
  Handler execute = nullptr;
  /// The guard's slot, or noSlot.
  Slot guard = noSlot;
  bool isGuardNegated = false;
  /// The whole warp must execute it together (.aligned).
  bool isAligned = false;
  /// The type of the instruction, and a second where it has two (cvt: to,
  /// from).
  ptx::Type type = ptx::Type::None, from = ptx::Type::None;
  /// The space of an access.
  ptx::Space space = ptx::Space::Generic;
  /// Rounding, saturation, comparison, ...: bits with a meaning of each family.
  uint64_t flags = 0;
  /// Results, then values, flattened: vectors are as many slots as they have
  /// elements, an address is its base.
  llvm::SmallVector<Slot, 6> slots;
  unsigned numResults = 0;
  int64_t offset = 0;  // Of the address.
  uint32_t target = 0; // Of a branch or a call: a program counter.
  std::shared_ptr<const Details> details;
  /// Where it comes from; lives as long as the program.
  const ptx::Instruction *source = nullptr;

  Slot result(unsigned i) const { return slots[i]; }
  Slot value(unsigned i) const { return slots[numResults + i]; }
  unsigned numValues() const { return slots.size() - numResults; }
  template <typename T> const T &as() const {
    return static_cast<const T &>(*details);
  }
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_MACHINE_INSTRUCTION_H

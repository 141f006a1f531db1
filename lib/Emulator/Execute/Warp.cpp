//===- Warp.cpp - shfl, vote, match, redux, elect, activemask -------------===//
//
// WarpSync.h says how member masks are obeyed.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Execute/Lanes.h"
#include "lib/Emulator/Execute/WarpSync.h"
#include "lib/Emulator/Machine/Decoder.h"
#include "lib/Emulator/Machine/Machine.h"

namespace tilec::emulator {

std::string nameLanes(LaneMask lanes) {
  std::string result;
  forEachLane(lanes, [&](unsigned lane) {
    bool isFirst = lane == 0 || !(lanes >> (lane - 1) & 1);
    bool isLast = lane == 31 || !(lanes >> (lane + 1) & 1);
    if (isFirst)
      result += (result.empty() ? "" : ", ") + std::to_string(lane);
    else if (isLast)
      result += "-" + std::to_string(lane);
  });
  return result;
}

namespace {

using Kind = ptx::Operand::Kind;
using ptx::Type;

//===----------------------------------------------------------------------===//
// shfl.sync
//===----------------------------------------------------------------------===//

enum class Shuffle : uint64_t { Up, Down, Butterfly, Index };

// Slots: value and predicate; then a, b, c and the member mask.
template <Shuffle mode>
void shuffle(Warp &warp, const Instruction &at, LaneMask group) {
  Row from;
  std::copy_n(warp.values(at.value(0)), warpSize, from.begin());
  const uint64_t *b = warp.values(at.value(1)), *c = warp.values(at.value(2));
  uint64_t *to = warp.row(at.result(0)), *valid = warp.row(at.result(1));
  Row result, isValid;
  bool isBad = false;
  unsigned badLane = 0;
  forEachLane(group, [&](unsigned lane) {
    unsigned offset = b[lane] & 31;
    unsigned clamp = c[lane] & 31, segment = c[lane] >> 8 & 31;
    unsigned highest = (lane & segment) | (clamp & ~segment);
    unsigned lowest = lane & segment;
    unsigned source = 0;
    bool isIn = false;
    switch (mode) {
    case Shuffle::Up:
      source = lane - offset;
      isIn = int(source) >= int(highest);
      break;
    case Shuffle::Down:
      source = lane + offset;
      isIn = source <= highest;
      break;
    case Shuffle::Butterfly:
      source = lane ^ offset;
      isIn = source <= highest;
      break;
    case Shuffle::Index:
      source = lowest | (offset & ~segment);
      isIn = source <= highest;
      break;
    }
    if (!isIn)
      source = lane;
    if (!(group >> source & 1)) {
      isBad = true;
      badLane = lane;
      source = lane;
    }
    result[lane] = from[source];
    isValid[lane] = isIn;
  });
  forEachLane(group, [&](unsigned lane) {
    to[lane] = result[lane];
    valid[lane] = isValid[lane];
  });
  if (isBad) [[unlikely]]
    warp.report(ReportKind::BadOperand, badLane, at,
                "a thread reads the value of a lane that does not take part");
}

template <Shuffle mode>
Outcome runShuffle(Warp &warp, const Instruction &at, LaneMask lanes) {
  return forEachSync(warp, at, lanes, at.value(3), [&](LaneMask group) {
    shuffle<mode>(warp, at, group);
    warp.exchangeLoads(group);
  });
}

llvm::Error checkWidth(Decoder &decoder, const ptx::Instruction &from,
                       const ptx::Operand &operand, unsigned bits) {
  if (operand.kind != Kind::Register)
    return llvm::Error::success();
  Type type = decoder.function().registers[operand.index].type;
  bool isPredicate = type == Type::Pred;
  if (isPredicate != (bits == 1) || ptx::bitsOf(type) > 64 ||
      ptx::bitsOf(type) < bits)
    return decoder.malformed(from, "a register of the wrong type");
  return llvm::Error::success();
}

// Adds a result, which may be the first of a pair with a predicate.
llvm::Error appendResults(Decoder &decoder, const ptx::Instruction &from,
                          Instruction &to, unsigned bits) {
  if (from.operands.empty())
    return decoder.malformed(from, "it has no result");
  const ptx::Operand &operand = from.operands[0];
  const ptx::Operand *value = &operand, *predicate = nullptr;
  if (operand.kind == Kind::Pair && operand.elements.size() == 2) {
    value = &operand.elements[0];
    predicate = &operand.elements[1];
  }
  if (llvm::Error error = checkWidth(decoder, from, *value, bits))
    return error;
  llvm::Expected<Slot> slot = decoder.result(from, *value);
  if (!slot)
    return slot.takeError();
  to.slots = {*slot, noSlot};
  to.numResults = 2;
  if (!predicate)
    return llvm::Error::success();
  if (llvm::Error error = checkWidth(decoder, from, *predicate, 1))
    return error;
  llvm::Expected<Slot> second = decoder.result(from, *predicate);
  if (!second)
    return second.takeError();
  to.slots[1] = *second;
  return llvm::Error::success();
}

llvm::Error appendValue(Decoder &decoder, const ptx::Instruction &from,
                        const ptx::Operand &operand, Type type,
                        Instruction &to) {
  if (llvm::Error error = checkWidth(decoder, from, operand, ptx::bitsOf(type)))
    return error;
  llvm::Expected<Slot> slot = decoder.value(from, operand, type);
  if (!slot)
    return slot.takeError();
  to.slots.push_back(*slot);
  return llvm::Error::success();
}

llvm::Error expectOperands(Decoder &decoder, const ptx::Instruction &from,
                           size_t count) {
  if (from.operands.size() == count)
    return llvm::Error::success();
  return decoder.malformed(from,
                           "it needs " + llvm::Twine(count) + " operands");
}

llvm::Error requireSync(Decoder &decoder, const ptx::Instruction &from,
                        Pieces &pieces) {
  if (pieces.take("sync"))
    return llvm::Error::success();
  return decoder.unsupported(from, "the form without .sync was removed from "
                                   "targets since sm_70");
}

llvm::Error decodeShuffle(Decoder &decoder, const ptx::Instruction &from,
                          Instruction &to) {
  Pieces pieces(from);
  if (llvm::Error error = requireSync(decoder, from, pieces))
    return error;
  if (pieces.take("up"))
    to.execute = &runShuffle<Shuffle::Up>;
  else if (pieces.take("down"))
    to.execute = &runShuffle<Shuffle::Down>;
  else if (pieces.take("bfly"))
    to.execute = &runShuffle<Shuffle::Butterfly>;
  else if (pieces.take("idx"))
    to.execute = &runShuffle<Shuffle::Index>;
  to.type = pieces.takeType();
  if (!to.execute || to.type != Type::B32)
    return decoder.malformed(from, "it needs a mode and .b32");
  if (llvm::Error error = expectOperands(decoder, from, 5))
    return error;
  if (llvm::Error error = appendResults(decoder, from, to, 32))
    return error;
  for (unsigned i = 1; i != 5; ++i)
    if (llvm::Error error =
            appendValue(decoder, from, from.operands[i], Type::B32, to))
      return error;
  return pieces.finish(decoder);
}

//===----------------------------------------------------------------------===//
// vote.sync, match.sync, redux.sync
//===----------------------------------------------------------------------===//

enum class Vote : uint64_t { All, Any, Uniform, Ballot };

// Slots: result; then the predicate and the member mask. The lowest bit of the
// flags negates the predicate.
template <Vote mode>
Outcome runVote(Warp &warp, const Instruction &at, LaneMask lanes) {
  return forEachSync(warp, at, lanes, at.value(1), [&](LaneMask group) {
    warp.exchangeLoads(group);
    LaneMask holds = lanesOf(warp.values(at.value(0)));
    if (at.flags & 1)
      holds = ~holds;
    holds &= group;
    uint64_t result = 0;
    switch (mode) {
    case Vote::All:
      result = holds == group;
      break;
    case Vote::Any:
      result = holds != 0;
      break;
    case Vote::Uniform:
      result = holds == 0 || holds == group;
      break;
    case Vote::Ballot:
      result = holds;
      break;
    }
    uint64_t *to = warp.row(at.result(0));
    forEachLane(group, [&](unsigned lane) { to[lane] = result; });
  });
}

llvm::Error decodeVote(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  Pieces pieces(from);
  if (llvm::Error error = requireSync(decoder, from, pieces))
    return error;
  unsigned bits = 1;
  if (pieces.take("all"))
    to.execute = &runVote<Vote::All>;
  else if (pieces.take("any"))
    to.execute = &runVote<Vote::Any>;
  else if (pieces.take("uni"))
    to.execute = &runVote<Vote::Uniform>;
  else if (pieces.take("ballot")) {
    to.execute = &runVote<Vote::Ballot>;
    bits = 32;
  }
  to.type = pieces.takeType();
  if (!to.execute || to.type != (bits == 1 ? Type::Pred : Type::B32))
    return decoder.malformed(from, "it needs a mode and its type");
  if (llvm::Error error = expectOperands(decoder, from, 3))
    return error;
  if (llvm::Error error = appendResults(decoder, from, to, bits))
    return error;
  to.slots.pop_back();
  to.numResults = 1;
  bool isNegated = false;
  llvm::Expected<Slot> predicate =
      decoder.predicate(from, from.operands[1], isNegated);
  if (!predicate)
    return predicate.takeError();
  to.flags = isNegated;
  to.slots.push_back(*predicate);
  if (llvm::Error error =
          appendValue(decoder, from, from.operands[2], Type::B32, to))
    return error;
  return pieces.finish(decoder);
}

// Slots: result and predicate; then the value and the member mask.
template <bool isAll>
Outcome runMatch(Warp &warp, const Instruction &at, LaneMask lanes) {
  return forEachSync(warp, at, lanes, at.value(1), [&](LaneMask group) {
    warp.exchangeLoads(group);
    Row value;
    std::copy_n(warp.values(at.value(0)), warpSize, value.begin());
    uint64_t *to = warp.row(at.result(0)), *same = warp.row(at.result(1));
    auto equalTo = [&](uint64_t wanted) {
      LaneMask result = 0;
      forEachLane(group, [&](unsigned lane) {
        result |= LaneMask(value[lane] == wanted) << lane;
      });
      return result;
    };
    bool areAll = equalTo(value[firstLane(group)]) == group;
    forEachLane(group, [&](unsigned lane) {
      to[lane] = isAll ? (areAll ? group : 0) : equalTo(value[lane]);
      if (isAll)
        same[lane] = areAll;
    });
  });
}

llvm::Error decodeMatch(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  Pieces pieces(from);
  if (llvm::Error error = requireSync(decoder, from, pieces))
    return error;
  if (pieces.take("all"))
    to.execute = &runMatch<true>;
  else if (pieces.take("any"))
    to.execute = &runMatch<false>;
  to.type = pieces.takeType();
  if (!to.execute || (to.type != Type::B32 && to.type != Type::B64))
    return decoder.malformed(from, "it needs a mode, and .b32 or .b64");
  if (llvm::Error error = expectOperands(decoder, from, 3))
    return error;
  if (llvm::Error error = appendResults(decoder, from, to, 32))
    return error;
  if (llvm::Error error =
          appendValue(decoder, from, from.operands[1], to.type, to))
    return error;
  if (llvm::Error error =
          appendValue(decoder, from, from.operands[2], Type::B32, to))
    return error;
  return pieces.finish(decoder);
}

enum class Reduction : uint64_t { Add, Min, Max, And, Or, Xor };

// Slots: result; then the value and the member mask.
Outcome runRedux(Warp &warp, const Instruction &at, LaneMask lanes) {
  return forEachSync(warp, at, lanes, at.value(1), [&](LaneMask group) {
    warp.exchangeLoads(group);
    const uint64_t *value = warp.values(at.value(0));
    uint32_t result = uint32_t(value[firstLane(group)]);
    // Signed numbers have the order of unsigned ones with the sign flipped.
    uint32_t flip = at.type == Type::S32 ? 0x8000'0000 : 0;
    forEachLane(group & (group - 1), [&](unsigned lane) {
      uint32_t next = uint32_t(value[lane]);
      switch (Reduction(at.flags)) {
      case Reduction::Add:
        result += next;
        break;
      case Reduction::Min:
        result = (next ^ flip) < (result ^ flip) ? next : result;
        break;
      case Reduction::Max:
        result = (next ^ flip) > (result ^ flip) ? next : result;
        break;
      case Reduction::And:
        result &= next;
        break;
      case Reduction::Or:
        result |= next;
        break;
      case Reduction::Xor:
        result ^= next;
        break;
      }
    });
    uint64_t *to = warp.row(at.result(0));
    forEachLane(group, [&](unsigned lane) { to[lane] = result; });
  });
}

llvm::Error decodeRedux(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  Pieces pieces(from);
  if (llvm::Error error = requireSync(decoder, from, pieces))
    return error;
  bool isBitwise = true, isKnown = false;
  for (auto [name, reduction] : {std::pair("and", Reduction::And),
                                 {"or", Reduction::Or},
                                 {"xor", Reduction::Xor},
                                 {"add", Reduction::Add},
                                 {"min", Reduction::Min},
                                 {"max", Reduction::Max}})
    if (pieces.take(name)) {
      isKnown = true;
      isBitwise = reduction == Reduction::And || reduction == Reduction::Or ||
                  reduction == Reduction::Xor;
      to.flags = uint64_t(reduction);
    }
  to.type = pieces.takeType();
  if (to.type == Type::F32)
    return decoder.unsupported(from, "reductions of .f32 need sm_100a");
  bool isInteger = to.type == Type::U32 || to.type == Type::S32;
  if (!isKnown || (isBitwise ? to.type != Type::B32 : !isInteger))
    return decoder.malformed(from, "it needs an operation and its type");
  if (llvm::Error error = expectOperands(decoder, from, 3))
    return error;
  if (llvm::Error error = appendResults(decoder, from, to, 32))
    return error;
  to.slots.pop_back();
  to.numResults = 1;
  for (unsigned i = 1; i != 3; ++i)
    if (llvm::Error error = appendValue(decoder, from, from.operands[i],
                                        i == 1 ? to.type : Type::B32, to))
      return error;
  to.execute = &runRedux;
  return pieces.finish(decoder);
}

//===----------------------------------------------------------------------===//
// elect.sync, activemask
//===----------------------------------------------------------------------===//

// Slots: the leader's lane and the predicate; then the member mask. PTX says
// that the choice is the same each time; here as on hardware, the lowest lane.
Outcome runElect(Warp &warp, const Instruction &at, LaneMask lanes) {
  return forEachSync(warp, at, lanes, at.value(0), [&](LaneMask group) {
    unsigned leader = firstLane(group);
    uint64_t *to = warp.row(at.result(0)), *isLeader = warp.row(at.result(1));
    forEachLane(group, [&](unsigned lane) {
      to[lane] = leader;
      isLeader[lane] = lane == leader;
    });
  });
}

llvm::Error decodeElect(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  Pieces pieces(from);
  if (llvm::Error error = requireSync(decoder, from, pieces))
    return error;
  if (llvm::Error error = expectOperands(decoder, from, 2))
    return error;
  if (from.operands[0].kind != Kind::Pair)
    return decoder.malformed(from, "it needs a register and a predicate");
  if (llvm::Error error = appendResults(decoder, from, to, 32))
    return error;
  if (llvm::Error error =
          appendValue(decoder, from, from.operands[1], Type::B32, to))
    return error;
  to.execute = &runElect;
  return pieces.finish(decoder);
}

Outcome runActiveMask(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  forEachLane(lanes, [&](unsigned lane) { to[lane] = lanes; });
  return Outcome::Next;
}

llvm::Error decodeActiveMask(Decoder &decoder, const ptx::Instruction &from,
                             Instruction &to) {
  Pieces pieces(from);
  to.type = pieces.takeType();
  if (to.type != Type::B32)
    return decoder.malformed(from, "it needs .b32");
  if (llvm::Error error = expectOperands(decoder, from, 1))
    return error;
  if (llvm::Error error = appendResults(decoder, from, to, 32))
    return error;
  to.execute = &runActiveMask;
  return pieces.finish(decoder);
}

} // namespace

void addWarpInstructions(InstructionSet &set) {
  set.add("shfl", &decodeShuffle);
  set.add("vote", &decodeVote);
  set.add("match", &decodeMatch);
  set.add("redux", &decodeRedux);
  set.add("elect", &decodeElect);
  set.add("activemask", &decodeActiveMask);
}

} // namespace tilec::emulator

//===- Comparisons.cpp - setp and set -------------------------------------===//
//
// A comparison is a function of two values as registers have them. There is one
// for each type and each relation; handlers are made of it or call it.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Arithmetic/Float.h"
#include "lib/Emulator/Execute/Elementwise.h"
#include "lib/Emulator/Execute/Families.h"
#include "llvm/ADT/bit.h"

namespace tilec::emulator {

using Kind = ptx::Operand::Kind;
using ptx::Type;

namespace {

//===----------------------------------------------------------------------===//
// Relations
//===----------------------------------------------------------------------===//

// Of numbers. `ne` is here the opposite of `eq`; of floats it is not.
constexpr auto equal = [](auto a, auto b) { return a == b; };
constexpr auto notEqual = [](auto a, auto b) { return a != b; };
constexpr auto less = [](auto a, auto b) { return a < b; };
constexpr auto lessOrEqual = [](auto a, auto b) { return a <= b; };
constexpr auto greater = [](auto a, auto b) { return a > b; };
constexpr auto greaterOrEqual = [](auto a, auto b) { return a >= b; };

// Of floats: those above are false where an operand is a NaN, those with `Or`
// true.
constexpr auto isNumber = [](auto a, auto b) { return a < b || a >= b; };
constexpr auto isNaN = [](auto a, auto b) { return !(a < b || a >= b); };
constexpr auto different = [](auto a, auto b) { return a < b || a > b; };
constexpr auto equalOrNaN = [](auto a, auto b) { return !(a < b || a > b); };
constexpr auto lessOrNaN = [](auto a, auto b) { return !(a >= b); };
constexpr auto lessOrEqualOrNaN = [](auto a, auto b) { return !(a > b); };
constexpr auto greaterOrNaN = [](auto a, auto b) { return !(a <= b); };
constexpr auto greaterOrEqualOrNaN = [](auto a, auto b) { return !(a < b); };

using Comparison = bool (*)(uint64_t a, uint64_t b);

template <Comparison compare>
Outcome runSetp(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1));
  setLanes(to, lanes,
           [=](unsigned i) { return uint64_t(compare(a[i], b[i])); });
  return Outcome::Next;
}

/// A comparison, and the handler that does nothing else.
struct Choice {
  Comparison compare = nullptr;
  Handler handler = nullptr;
};

template <typename Read, auto relation> bool compareAs(uint64_t a, uint64_t b) {
  return relation(Read()(a), Read()(b));
}
template <typename Read, auto relation> Choice choose() {
  return {compareAs<Read, relation>, runSetp<compareAs<Read, relation>>};
}

template <typename T> struct ReadInteger {
  T operator()(uint64_t bits) const { return T(bits); }
};
template <bool flushes> struct ReadFloat {
  float operator()(uint64_t bits) const {
    auto word = uint32_t(bits);
    if (flushes && (word & 0x7f800000) == 0)
      word = 0;
    return llvm::bit_cast<float>(word);
  }
};
struct ReadDouble {
  double operator()(uint64_t bits) const {
    return llvm::bit_cast<double>(bits);
  }
};
template <Type type, bool flushes> struct ReadHalf {
  float operator()(uint64_t bits) const {
    constexpr uint64_t exponent = type == Type::F16 ? 0x7c00 : 0x7f80;
    if (flushes && (bits & exponent) == 0)
      return 0;
    return toFloat(type, bits & 0xffff);
  }
};

template <typename T> Choice chooseInteger(llvm::StringRef relation) {
  using Read = ReadInteger<T>;
  if (relation == "eq")
    return choose<Read, equal>();
  if (relation == "ne")
    return choose<Read, notEqual>();
  // Names of their own for unsigned numbers, which have the usual ones too.
  constexpr bool isUnsigned = std::is_unsigned_v<T>;
  if (relation == "lt" || (isUnsigned && relation == "lo"))
    return choose<Read, less>();
  if (relation == "le" || (isUnsigned && relation == "ls"))
    return choose<Read, lessOrEqual>();
  if (relation == "gt" || (isUnsigned && relation == "hi"))
    return choose<Read, greater>();
  if (relation == "ge" || (isUnsigned && relation == "hs"))
    return choose<Read, greaterOrEqual>();
  return {};
}

template <typename T> Choice chooseBits(llvm::StringRef relation) {
  if (relation != "eq" && relation != "ne")
    return {};
  return chooseInteger<T>(relation);
}

template <typename Read> Choice chooseFloat(llvm::StringRef relation) {
  if (relation == "eq")
    return choose<Read, equal>();
  if (relation == "ne")
    return choose<Read, different>();
  if (relation == "lt")
    return choose<Read, less>();
  if (relation == "le")
    return choose<Read, lessOrEqual>();
  if (relation == "gt")
    return choose<Read, greater>();
  if (relation == "ge")
    return choose<Read, greaterOrEqual>();
  if (relation == "equ")
    return choose<Read, equalOrNaN>();
  if (relation == "neu")
    return choose<Read, notEqual>();
  if (relation == "ltu")
    return choose<Read, lessOrNaN>();
  if (relation == "leu")
    return choose<Read, lessOrEqualOrNaN>();
  if (relation == "gtu")
    return choose<Read, greaterOrNaN>();
  if (relation == "geu")
    return choose<Read, greaterOrEqualOrNaN>();
  if (relation == "num")
    return choose<Read, isNumber>();
  if (relation == "nan")
    return choose<Read, isNaN>();
  return {};
}

/// For a packed type: that of one half. Nothing if the type does not have the
/// relation, or no flushing.
Choice chooseComparison(llvm::StringRef relation, Type type, bool flushes) {
  switch (type) {
  case Type::F32:
    return flushes ? chooseFloat<ReadFloat<true>>(relation)
                   : chooseFloat<ReadFloat<false>>(relation);
  case Type::F16:
  case Type::F16x2:
    return flushes ? chooseFloat<ReadHalf<Type::F16, true>>(relation)
                   : chooseFloat<ReadHalf<Type::F16, false>>(relation);
  default:
    break;
  }
  if (flushes)
    return {};
  switch (type) {
  case Type::B16:
    return chooseBits<uint16_t>(relation);
  case Type::B32:
    return chooseBits<uint32_t>(relation);
  case Type::B64:
    return chooseBits<uint64_t>(relation);
  case Type::U16:
    return chooseInteger<uint16_t>(relation);
  case Type::U32:
    return chooseInteger<uint32_t>(relation);
  case Type::U64:
    return chooseInteger<uint64_t>(relation);
  case Type::S16:
    return chooseInteger<int16_t>(relation);
  case Type::S32:
    return chooseInteger<int32_t>(relation);
  case Type::S64:
    return chooseInteger<int64_t>(relation);
  case Type::F64:
    return chooseFloat<ReadDouble>(relation);
  case Type::BF16:
  case Type::BF16x2:
    return chooseFloat<ReadHalf<Type::BF16, false>>(relation);
  default:
    return {};
  }
}

//===----------------------------------------------------------------------===//
// Handlers for all that is more than a comparison
//===----------------------------------------------------------------------===//

enum class Combination : uint8_t { None, And, Or, Xor };

struct ComparisonDetails : Details {
  Comparison compare = nullptr;
  Combination combination = Combination::None;
  bool isNegated = false; // The predicate that it is combined with.
  uint64_t whenTrue = 1;  // What `set` gives; for one half of a packed type.

  bool combined(bool first, const uint64_t *second, unsigned lane) const {
    if (combination == Combination::None)
      return first;
    bool other = bool(second[lane] & 1) != isNegated;
    switch (combination) {
    case Combination::And:
      return first && other;
    case Combination::Or:
      return first || other;
    default:
      return first != other;
    }
  }
};

/// The predicate that the comparison is combined with; null if there is none.
const uint64_t *combinedWith(Warp &warp, const Instruction &at) {
  return at.numValues() > 2 ? warp.values(at.value(2)) : nullptr;
}

/// A second result is that of the opposite comparison.
Outcome runSetpCombined(Warp &warp, const Instruction &at, LaneMask lanes) {
  const auto &details = at.as<ComparisonDetails>();
  uint64_t *p = warp.row(at.result(0));
  uint64_t *q = warp.row(at.numResults > 1 ? at.result(1) : noSlot);
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1)),
                 *c = combinedWith(warp, at);
  forEachLane(lanes, [&](unsigned i) {
    bool holds = details.compare(a[i], b[i]);
    // Both before either is written: c may be the same register.
    bool first = details.combined(holds, c, i);
    bool second = details.combined(!holds, c, i);
    p[i] = first;
    q[i] = second;
  });
  return Outcome::Next;
}

/// Of packed types: a result for each half.
Outcome runSetpPacked(Warp &warp, const Instruction &at, LaneMask lanes) {
  const auto &details = at.as<ComparisonDetails>();
  uint64_t *p = warp.row(at.result(0));
  uint64_t *q = warp.row(at.numResults > 1 ? at.result(1) : noSlot);
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1)),
                 *c = combinedWith(warp, at);
  forEachLane(lanes, [&](unsigned i) {
    bool lower = details.compare(a[i] & 0xffff, b[i] & 0xffff);
    bool upper = details.compare(a[i] >> 16, b[i] >> 16);
    bool first = details.combined(lower, c, i);
    bool second = details.combined(upper, c, i);
    p[i] = first;
    q[i] = second;
  });
  return Outcome::Next;
}

Outcome runSet(Warp &warp, const Instruction &at, LaneMask lanes) {
  const auto &details = at.as<ComparisonDetails>();
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1)),
                 *c = combinedWith(warp, at);
  forEachLane(lanes, [&](unsigned i) {
    bool holds = details.compare(a[i], b[i]);
    to[i] = details.combined(holds, c, i) ? details.whenTrue : 0;
  });
  return Outcome::Next;
}

Outcome runSetPacked(Warp &warp, const Instruction &at, LaneMask lanes) {
  const auto &details = at.as<ComparisonDetails>();
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1)),
                 *c = combinedWith(warp, at);
  forEachLane(lanes, [&](unsigned i) {
    bool lower = details.compare(a[i] & 0xffff, b[i] & 0xffff);
    bool upper = details.compare(a[i] >> 16, b[i] >> 16);
    to[i] = (details.combined(lower, c, i) ? details.whenTrue : 0) |
            (details.combined(upper, c, i) ? details.whenTrue << 16 : 0);
  });
  return Outcome::Next;
}

//===----------------------------------------------------------------------===//
// Decoders
//===----------------------------------------------------------------------===//

bool isPacked(Type type) { return type == Type::F16x2 || type == Type::BF16x2; }

/// The operands, with the results one by one and without the `!` of the
/// predicate, so that all are plain ones.
ptx::Instruction plain(const ptx::Instruction &from) {
  ptx::Instruction result = from;
  std::vector<ptx::Operand> &list = result.operands;
  if (!list.empty() && list.front().kind == Kind::Pair) {
    std::vector<ptx::Operand> elements = std::move(list.front().elements);
    list.erase(list.begin());
    list.insert(list.begin(), elements.begin(), elements.end());
  }
  if (!list.empty())
    list.back().isNegated = false;
  return result;
}

/// What setp and set share: the relation, what it is combined with, and the
/// operands; `result` is the type of the results. The handler is left to the
/// caller, who has taken the other pieces.
llvm::Error decodeComparison(Decoder &decoder, const ptx::Instruction &from,
                             Instruction &to, Pieces &pieces,
                             llvm::StringRef relation, Type result,
                             ComparisonDetails &details, Choice &choice) {
  details.combination = pieces.take("and")   ? Combination::And
                        : pieces.take("or")  ? Combination::Or
                        : pieces.take("xor") ? Combination::Xor
                                             : Combination::None;
  bool flushes = pieces.take("ftz");
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  choice = chooseComparison(relation, to.from, flushes);
  if (!choice.compare)
    return decoder.unsupported(from, "not with this relation and type");
  details.compare = choice.compare;

  bool isCombined = details.combination != Combination::None;
  if (from.operands.size() != (isCombined ? 4 : 3))
    return decoder.malformed(from, "the wrong number of operands");
  details.isNegated = isCombined && from.operands.back().isNegated;
  bool hasPair = from.operands.front().kind == Kind::Pair;
  llvm::SmallVector<Type, 5> types = {result, to.from, to.from};
  if (hasPair)
    types.insert(types.begin(), result);
  if (isCombined)
    types.push_back(Type::Pred);
  bool isPlain = !hasPair && !details.isNegated;
  return decoder.operands(isPlain ? from : plain(from), to, hasPair ? 2 : 1,
                          types);
}

llvm::Error decodeSetp(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  Pieces pieces(from);
  llvm::StringRef relation = pieces.takeNext();
  to.type = to.from = pieces.takeType();
  auto details = std::make_shared<ComparisonDetails>();
  Choice choice;
  if (llvm::Error error = decodeComparison(decoder, from, to, pieces, relation,
                                           Type::Pred, *details, choice))
    return error;
  if (isPacked(to.from))
    to.execute = runSetpPacked;
  else if (to.numResults > 1 || details->combination != Combination::None)
    to.execute = runSetpCombined;
  else
    to.execute = choice.handler;
  to.details = std::move(details);
  return llvm::Error::success();
}

/// What `set` gives where the comparison holds; nothing if it does not have
/// these types.
std::optional<uint64_t> whenTrue(Type type, Type compared) {
  bool isHalf = compared == Type::F16 || compared == Type::BF16;
  switch (type) {
  case Type::U32:
  case Type::S32:
    return isPacked(compared) ? 0xffff : 0xffffffff;
  case Type::F32:
    return isPacked(compared) || isHalf ? std::nullopt
                                        : std::optional<uint64_t>(0x3f800000);
  case Type::U16:
  case Type::S16:
    return isHalf ? std::optional<uint64_t>(0xffff) : std::nullopt;
  case Type::F16:
    return isPacked(compared) ? std::nullopt : std::optional<uint64_t>(0x3c00);
  case Type::BF16:
    return isPacked(compared) ? std::nullopt : std::optional<uint64_t>(0x3f80);
  case Type::F16x2:
    return isPacked(compared) ? std::optional<uint64_t>(0x3c00) : std::nullopt;
  case Type::BF16x2:
    return isPacked(compared) ? std::optional<uint64_t>(0x3f80) : std::nullopt;
  default:
    return std::nullopt;
  }
}

llvm::Error decodeSet(Decoder &decoder, const ptx::Instruction &from,
                      Instruction &to) {
  Pieces pieces(from);
  llvm::StringRef relation = pieces.takeNext();
  to.type = pieces.takeType();
  to.from = pieces.takeType();
  auto details = std::make_shared<ComparisonDetails>();
  std::optional<uint64_t> bits = whenTrue(to.type, to.from);
  if (!bits)
    return decoder.unsupported(from, "not with these types");
  details->whenTrue = *bits;
  Choice choice;
  if (llvm::Error error = decodeComparison(decoder, from, to, pieces, relation,
                                           to.type, *details, choice))
    return error;
  if (to.numResults > 1)
    return decoder.malformed(from, "two results");
  to.execute = isPacked(to.from) ? runSetPacked : runSet;
  to.details = std::move(details);
  return llvm::Error::success();
}

} // namespace

void addComparisons(InstructionSet &set) {
  set.add("setp", decodeSetp);
  set.add("set", decodeSet);
}

} // namespace tilec::emulator

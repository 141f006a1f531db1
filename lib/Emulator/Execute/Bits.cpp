//===- Bits.cpp - Shifts, logic, fields of bits ---------------------------===//

#include "lib/Emulator/Execute/Elementwise.h"
#include "lib/Emulator/Execute/Families.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace tilec::emulator {

using ptx::Type;

namespace {

//===----------------------------------------------------------------------===//
// What the instructions compute
//===----------------------------------------------------------------------===//

template <typename T> constexpr unsigned width = sizeof(T) * 8;

// Amounts beyond the width shift everything out.
template <typename T> constexpr T shiftLeft(T a, uint32_t amount) {
  return amount < width<T> ? T(uint64_t(a) << amount) : T(0);
}
template <typename T> constexpr T shiftRight(T a, uint32_t amount) {
  if constexpr (std::is_signed_v<T>)
    return T(a >> std::min(amount, width<T> - 1));
  else
    return amount < width<T> ? T(a >> amount) : T(0);
}

// Shifts of the 64 bits that b (the upper ones) and a are together.
template <bool isLeft, bool wraps>
constexpr uint32_t funnel(uint32_t a, uint32_t b, uint32_t amount) {
  amount = wraps ? amount & 31 : std::min(amount, 32u);
  uint64_t both = uint64_t(b) << 32 | a;
  return isLeft ? uint32_t((both << amount) >> 32) : uint32_t(both >> amount);
}

template <typename T> constexpr uint32_t population(T a) {
  return uint32_t(llvm::popcount(std::make_unsigned_t<T>(a)));
}
template <typename T> constexpr uint32_t leadingZeros(T a) {
  return uint32_t(llvm::countl_zero(std::make_unsigned_t<T>(a)));
}
/// Where the highest bit is that is not as the sign; all ones if there is none.
template <typename T> constexpr uint32_t highestBit(T a) {
  using U = std::make_unsigned_t<T>;
  U bits = a < 0 ? U(~a) : U(a);
  return bits ? width<T> - 1 - uint32_t(llvm::countl_zero(bits)) : ~0u;
}
/// The same as the amount by which to shift that bit to the top.
template <typename T> constexpr uint32_t highestBitShift(T a) {
  uint32_t position = highestBit(a);
  return position == ~0u ? position : width<T> - 1 - position;
}
template <typename T> constexpr T reversed(T a) { return llvm::reverseBits(a); }

/// `count` ones at the low end.
template <typename T> constexpr T ones(uint32_t count) {
  return count >= width<T> ? T(~T(0)) : T((T(1) << count) - 1);
}

/// The field of `length` bits at `position`; past its end, and past that of the
/// value, its sign.
template <typename T>
constexpr T extract(T a, uint32_t position, uint32_t length) {
  using U = std::make_unsigned_t<T>;
  position &= 0xff;
  length &= 0xff;
  U field = position < width<T> ? U(U(a) >> position) : U(0);
  // How many bits of the field there are before the value ends.
  uint32_t present =
      position < width<T> ? std::min(length, width<T> - position) : 0;
  U mask = ones<U>(present);
  bool isNegative = false;
  if constexpr (std::is_signed_v<T>)
    if (length)
      isNegative = U(a) >> std::min(position + length - 1, width<T> - 1) & 1;
  return T((field & mask) | (isNegative ? U(~mask) : U(0)));
}

/// b with `length` bits at `position` from a.
template <typename T>
constexpr T insert(T a, T b, uint32_t position, uint32_t length) {
  position &= 0xff;
  length &= 0xff;
  if (position >= width<T>)
    return b;
  T mask = T(ones<T>(length) << position);
  return T((b & ~mask) | (T(a << position) & mask));
}

/// The `offset`-th bit that is set, from bit `base` upwards, or downwards if
/// it is negative; all ones if there is none.
constexpr uint32_t findNthSet(uint32_t mask, uint32_t base, int32_t offset) {
  if (base >= 32)
    return ~0u;
  if (offset == 0)
    return mask >> base & 1 ? base : ~0u;
  int step = offset > 0 ? 1 : -1;
  int64_t count = offset > 0 ? int64_t(offset) : -int64_t(offset);
  for (int position = int(base); position >= 0 && position < 32;
       position += step)
    if ((mask >> position & 1) && --count == 0)
      return uint32_t(position);
  return ~0u;
}

/// The low `bits` bits of a, extended with zeros or their sign.
template <bool isSigned, bool clamps>
constexpr uint32_t extended(uint32_t a, uint32_t bits) {
  // All of a, which is also what 0 bits are when they do not wrap.
  if (clamps && bits >= 32)
    return a;
  bits &= 31;
  if (bits == 0)
    return 0;
  uint32_t mask = ones<uint32_t>(bits);
  bool isNegative = isSigned && (a >> (bits - 1) & 1);
  return (a & mask) | (isNegative ? ~mask : 0);
}

/// `length` ones at `position`.
template <bool clamps>
constexpr uint32_t bitMask(uint32_t position, uint32_t length) {
  if (clamps) {
    if (position >= 32)
      return 0;
  } else {
    position &= 31;
    length &= 31;
  }
  return ones<uint32_t>(length) << position;
}

/// Any function of three bits: bit 4a + 2b + c of the table.
constexpr uint32_t lookUp(uint32_t table, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (unsigned row = 0; row != 8; ++row)
    if (table >> row & 1)
      result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  return result;
}

template <typename T> constexpr T conjunction(T a, T b) { return T(a & b); }
template <typename T> constexpr T disjunction(T a, T b) { return T(a | b); }
template <typename T> constexpr T exclusive(T a, T b) { return T(a ^ b); }

//===----------------------------------------------------------------------===//
// Handlers that are not a function of a lane's values alone
//===----------------------------------------------------------------------===//

Outcome runLookUp(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1)),
                 *c = warp.values(at.value(2));
  auto table = uint32_t(at.flags);
  setLanes(to, lanes, [=](unsigned i) {
    return lookUp(table, uint32_t(a[i]), uint32_t(b[i]), uint32_t(c[i]));
  });
  return Outcome::Next;
}

/// lop3 with a predicate besides, whether the result is not zero, combined with
/// another predicate. Bit 8 of the flags is set for .or, bit 9 if the other one
/// is negated.
Outcome runLookUpPredicate(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0)), *predicate = warp.row(at.result(1));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1)),
                 *c = warp.values(at.value(2)),
                 *other = warp.values(at.value(3));
  auto table = uint32_t(at.flags & 0xff);
  bool isOr = at.flags >> 8 & 1;
  uint64_t negation = at.flags >> 9 & 1;
  forEachLane(lanes, [=](unsigned i) {
    uint32_t value =
        lookUp(table, uint32_t(a[i]), uint32_t(b[i]), uint32_t(c[i]));
    uint64_t condition = other[i] ^ negation;
    to[i] = value;
    predicate[i] = isOr ? uint64_t(value != 0) | condition
                        : uint64_t(value != 0) & condition;
  });
  return Outcome::Next;
}

template <typename T>
Outcome runInsert(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1)),
                 *c = warp.values(at.value(2)), *d = warp.values(at.value(3));
  setLanes(to, lanes, [=](unsigned i) {
    return insert(T(a[i]), T(b[i]), uint32_t(c[i]), uint32_t(d[i]));
  });
  return Outcome::Next;
}

//===----------------------------------------------------------------------===//
// Decoders
//===----------------------------------------------------------------------===//

llvm::Error finish(Decoder &decoder, const ptx::Instruction &from,
                   Instruction &to, const Pieces &pieces, Handler handler,
                   llvm::ArrayRef<Type> types) {
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  if (!handler)
    return decoder.unsupported(from, "not with this type");
  to.execute = handler;
  return decoder.operands(from, to, 1, types);
}

/// The unsigned type of as many bits, for handlers that look at bits; types
/// that are not there stay as they are, and no handler has them.
Type unsignedOf(Type type) {
  switch (type) {
  case Type::B16:
    return Type::U16;
  case Type::B32:
    return Type::U32;
  case Type::B64:
    return Type::U64;
  default:
    return type;
  }
}

bool isBits(Type type) {
  return type == Type::B16 || type == Type::B32 || type == Type::B64;
}

llvm::Error decodeLogic(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  llvm::StringRef opcode = from.opcode();
  bool isAnd = opcode == "and", isOr = opcode == "or";
  Handler handler = nullptr;
  // Wider rows work as well: what is above the value is zero in both.
  if (isBits(type) || type == Type::Pred)
    handler = isAnd  ? runBinary<uint64_t, conjunction<uint64_t>>
              : isOr ? runBinary<uint64_t, disjunction<uint64_t>>
                     : runBinary<uint64_t, exclusive<uint64_t>>;
  return finish(decoder, from, to, pieces, handler, {type, type, type});
}

llvm::Error decodeNot(Decoder &decoder, const ptx::Instruction &from,
                      Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  bool isConditional = from.opcode() == "cnot";
  Handler handler = nullptr;
  if (type == Type::Pred && !isConditional)
    handler = runUnary<uint64_t, [](uint64_t a) { return a ^ 1; }>;
  else if (isBits(type))
    handler = byType(unsignedOf(type), [&]<typename T>() -> Handler {
      return isConditional ? runUnary<T, [](T a) { return T(a == 0); }>
                           : runUnary<T, [](T a) { return T(~a); }>;
    });
  return finish(decoder, from, to, pieces, handler, {type, type});
}

llvm::Error decodeShift(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  bool isLeft = from.opcode() == "shl";
  Handler handler = nullptr;
  if (isBits(type) || !isLeft)
    handler = byType(unsignedOf(type), [&]<typename T>() -> Handler {
      return isLeft ? runBinary<T, shiftLeft<T>, uint32_t>
                    : runBinary<T, shiftRight<T>, uint32_t>;
    });
  return finish(decoder, from, to, pieces, handler, {type, type, Type::U32});
}

llvm::Error decodeFunnel(Decoder &decoder, const ptx::Instruction &from,
                         Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  bool isLeft = pieces.take("l"), wraps = pieces.take("wrap");
  if ((!isLeft && !pieces.take("r")) || (!wraps && !pieces.take("clamp")))
    return decoder.malformed(from, "without a direction and a mode");
  Handler handler = nullptr;
  if (type == Type::B32)
    handler = isLeft ? (wraps ? runTernary<uint32_t, funnel<true, true>>
                              : runTernary<uint32_t, funnel<true, false>>)
                     : (wraps ? runTernary<uint32_t, funnel<false, true>>
                              : runTernary<uint32_t, funnel<false, false>>);
  return finish(decoder, from, to, pieces, handler,
                {type, type, type, Type::U32});
}

llvm::Error decodeCount(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  bool isClz = from.opcode() == "clz";
  Handler handler = nullptr;
  if (type == Type::B32 || type == Type::B64)
    handler = byType(unsignedOf(type), [&]<typename T>() -> Handler {
      return isClz ? runUnary<T, leadingZeros<T>> : runUnary<T, population<T>>;
    });
  return finish(decoder, from, to, pieces, handler, {Type::U32, type});
}

llvm::Error decodeFind(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  bool isShift = pieces.take("shiftamt");
  Handler handler = nullptr;
  if (ptx::bitsOf(type) >= 32)
    handler = byType(type, [&]<typename T>() -> Handler {
      return isShift ? runUnary<T, highestBitShift<T>>
                     : runUnary<T, highestBit<T>>;
    });
  return finish(decoder, from, to, pieces, handler, {Type::U32, type});
}

llvm::Error decodeReverse(Decoder &decoder, const ptx::Instruction &from,
                          Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  Handler handler = type == Type::B32   ? runUnary<uint32_t, reversed<uint32_t>>
                    : type == Type::B64 ? runUnary<uint64_t, reversed<uint64_t>>
                                        : nullptr;
  return finish(decoder, from, to, pieces, handler, {type, type});
}

llvm::Error decodeExtract(Decoder &decoder, const ptx::Instruction &from,
                          Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  Handler handler = nullptr;
  if (ptx::bitsOf(type) >= 32)
    handler = byType(type, []<typename T>() -> Handler {
      return runTernary<T, extract<T>, uint32_t, uint32_t>;
    });
  return finish(decoder, from, to, pieces, handler,
                {type, type, Type::U32, Type::U32});
}

llvm::Error decodeInsert(Decoder &decoder, const ptx::Instruction &from,
                         Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  Handler handler = type == Type::B32   ? runInsert<uint32_t>
                    : type == Type::B64 ? runInsert<uint64_t>
                                        : nullptr;
  return finish(decoder, from, to, pieces, handler,
                {type, type, type, Type::U32, Type::U32});
}

llvm::Error decodeFindNthSet(Decoder &decoder, const ptx::Instruction &from,
                             Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  Handler handler = type == Type::B32
                        ? runTernary<uint32_t, findNthSet, uint32_t, int32_t>
                        : nullptr;
  return finish(decoder, from, to, pieces, handler,
                {type, type, Type::U32, Type::S32});
}

llvm::Error decodeMaskOrExtend(Decoder &decoder, const ptx::Instruction &from,
                               Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  bool clamps = pieces.take("clamp");
  if (!clamps && !pieces.take("wrap"))
    return decoder.malformed(from, "without .clamp or .wrap");
  Handler handler = nullptr;
  if (from.opcode() == "bmsk") {
    if (type == Type::B32)
      handler = clamps ? runBinary<uint32_t, bitMask<true>>
                       : runBinary<uint32_t, bitMask<false>>;
  } else if (type == Type::U32) {
    handler = clamps ? runBinary<uint32_t, extended<false, true>>
                     : runBinary<uint32_t, extended<false, false>>;
  } else if (type == Type::S32) {
    handler = clamps ? runBinary<uint32_t, extended<true, true>>
                     : runBinary<uint32_t, extended<true, false>>;
  }
  return finish(decoder, from, to, pieces, handler, {type, type, Type::U32});
}

llvm::Error decodeLookUp(Decoder &decoder, const ptx::Instruction &from,
                         Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  bool isOr = pieces.take("or");
  bool hasPredicate = isOr || pieces.take("and");
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  if (type != Type::B32)
    return decoder.unsupported(from, "not with this type");
  if (from.operands.size() != (hasPredicate ? 6 : 5))
    return decoder.malformed(from, "the wrong number of operands");
  llvm::Expected<int64_t> table = decoder.immediate(from, from.operands[4]);
  if (!table)
    return table.takeError();
  if (*table < 0 || *table > 255)
    return decoder.malformed(from, "a table of more than 8 bits");
  to.flags = uint64_t(*table);
  to.execute = runLookUp;

  // The result, or the pair of results, then the three values.
  const ptx::Operand &first = from.operands[0];
  llvm::ArrayRef<ptx::Operand> results(first);
  if (hasPredicate) {
    if (first.kind != ptx::Operand::Kind::Pair)
      return decoder.malformed(from, "without a predicate as second result");
    results = first.elements;
    to.execute = runLookUpPredicate;
  }
  for (const ptx::Operand &operand : results) {
    llvm::Expected<Slot> slot = decoder.result(from, operand);
    if (!slot)
      return slot.takeError();
    to.slots.push_back(*slot);
  }
  to.numResults = to.slots.size();
  for (unsigned i = 1; i != 4; ++i) {
    llvm::Expected<Slot> slot = decoder.value(from, from.operands[i], type);
    if (!slot)
      return slot.takeError();
    to.slots.push_back(*slot);
  }
  if (!hasPredicate)
    return llvm::Error::success();
  bool isNegated = false;
  llvm::Expected<Slot> slot =
      decoder.predicate(from, from.operands[5], isNegated);
  if (!slot)
    return slot.takeError();
  to.slots.push_back(*slot);
  to.flags |= uint64_t(isOr) << 8 | uint64_t(isNegated) << 9;
  return llvm::Error::success();
}

} // namespace

void addBitInstructions(InstructionSet &set) {
  set.add("and", decodeLogic);
  set.add("or", decodeLogic);
  set.add("xor", decodeLogic);
  set.add("not", decodeNot);
  set.add("cnot", decodeNot);
  set.add("shl", decodeShift);
  set.add("shr", decodeShift);
  set.add("shf", decodeFunnel);
  set.add("popc", decodeCount);
  set.add("clz", decodeCount);
  set.add("bfind", decodeFind);
  set.add("brev", decodeReverse);
  set.add("bfe", decodeExtract);
  set.add("bfi", decodeInsert);
  set.add("fns", decodeFindNthSet);
  set.add("szext", decodeMaskOrExtend);
  set.add("bmsk", decodeMaskOrExtend);
  set.add("lop3", decodeLookUp);
}

} // namespace tilec::emulator

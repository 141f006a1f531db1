//===- Moves.cpp - Moving, selecting and permuting ------------------------===//

#include "lib/Emulator/Execute/Elementwise.h"
#include "lib/Emulator/Execute/Families.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace tilec::emulator {

using Kind = ptx::Operand::Kind;
using ptx::Type;

namespace {

//===----------------------------------------------------------------------===//
// mov
//===----------------------------------------------------------------------===//

Outcome runMov(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0));
  if (lanes == allLanes)
    std::memmove(to, a, sizeof(Row));
  else
    forEachLane(lanes, [=](unsigned i) { to[i] = a[i]; });
  return Outcome::Next;
}

Outcome runMovWide(Warp &warp, const Instruction &at, LaneMask lanes) {
  for (unsigned half = 0; half != 2; ++half) {
    uint64_t *to = warp.row(at.result(half));
    const uint64_t *a = warp.values(at.value(half));
    forEachLane(lanes, [=](unsigned i) { to[i] = a[i]; });
  }
  return Outcome::Next;
}

/// A special register that changes while the warp runs.
Outcome runMovSpecial(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  auto which = Special(at.value(0));
  forEachLane(lanes, [&](unsigned i) { to[i] = warp.special(which, i); });
  return Outcome::Next;
}

/// Elements of at.flags bits each, put together in one register, or in the two
/// slots of one of 128 bits. Registers of another width are other registers, so
/// nothing is overwritten that is still to be read.
Outcome runPack(Warp &warp, const Instruction &at, LaneMask lanes) {
  auto bits = unsigned(at.flags);
  unsigned numElements = at.numValues() / at.numResults;
  for (unsigned part = 0; part != at.numResults; ++part) {
    Row made = {};
    for (unsigned element = 0; element != numElements; ++element) {
      const uint64_t *a = warp.values(at.value(part * numElements + element));
      for (unsigned i = 0; i != warpSize; ++i)
        made[i] |= a[i] << (element * bits);
    }
    uint64_t *to = warp.row(at.result(part));
    forEachLane(lanes, [&](unsigned i) { to[i] = made[i]; });
  }
  return Outcome::Next;
}

Outcome runUnpack(Warp &warp, const Instruction &at, LaneMask lanes) {
  auto bits = unsigned(at.flags);
  auto mask = llvm::maskTrailingOnes<uint64_t>(bits);
  unsigned numElements = at.numResults / at.numValues();
  for (unsigned part = 0; part != at.numValues(); ++part) {
    const uint64_t *a = warp.values(at.value(part));
    for (unsigned element = 0; element != numElements; ++element) {
      uint64_t *to = warp.row(at.result(part * numElements + element));
      setLanes(to, lanes,
               [=](unsigned i) { return a[i] >> (element * bits) & mask; });
    }
  }
  return Outcome::Next;
}

/// The bits of a register operand; 0 for others.
unsigned registerBits(const Decoder &decoder, const ptx::Operand &operand) {
  return operand.kind == Kind::Register
             ? ptx::bitsOf(decoder.function().registers[operand.index].type)
             : 0;
}

/// `mov.b64 {%r1, %r2}, %rd1`, and the other way round.
llvm::Error decodeVectorMov(Decoder &decoder, const ptx::Instruction &from,
                            Instruction &to) {
  bool isPack = from.operands[1].kind == Kind::Vector;
  const ptx::Operand &vector = from.operands[isPack ? 1 : 0];
  const ptx::Operand &scalar = from.operands[isPack ? 0 : 1];
  unsigned bits = ptx::bitsOf(to.type);
  size_t count = vector.elements.size();
  if (scalar.kind == Kind::Vector || (count != 2 && count != 4 && count != 8))
    return decoder.unsupported(from, "not with these vectors");
  unsigned elementBits = bits / count;
  if (elementBits < 8 || elementBits > 64)
    return decoder.unsupported(from, "not with these vectors");
  if (registerBits(decoder, scalar) != bits)
    return decoder.malformed(from, "a register of another size");
  for (const ptx::Operand &element : vector.elements) {
    unsigned given = registerBits(decoder, element);
    if (given && given != elementBits)
      return decoder.malformed(from, "an element of another size");
  }
  to.flags = elementBits;
  to.execute = isPack ? runPack : runUnpack;
  Type elementType = elementBits == 8    ? Type::B8
                     : elementBits == 16 ? Type::B16
                     : elementBits == 32 ? Type::B32
                                         : Type::B64;
  return decoder.operands(from, to, 1, elementType);
}

llvm::Error decodeMov(Decoder &decoder, const ptx::Instruction &from,
                      Instruction &to) {
  Pieces pieces(from);
  to.type = pieces.takeType();
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  unsigned bits = ptx::bitsOf(to.type);
  if (to.type != Type::Pred && bits < 16)
    return decoder.unsupported(from, "not with this type");
  if (from.operands.size() != 2)
    return decoder.malformed(from, "the wrong number of operands");
  if (from.operands[0].kind == Kind::Vector ||
      from.operands[1].kind == Kind::Vector)
    return decodeVectorMov(decoder, from, to);
  if (bits == 128) {
    if (registerBits(decoder, from.operands[0]) != 128 ||
        registerBits(decoder, from.operands[1]) != 128)
      return decoder.malformed(from, "an operand that is not of 128 bits");
    to.execute = runMovWide;
    return decoder.operands(from, to, 1);
  }
  if (llvm::Error error = decoder.operands(from, to, 1, {to.type, to.type}))
    return error;
  bool isChanging =
      from.operands[1].kind == Kind::Special && changes(Special(to.value(0)));
  to.execute = isChanging ? runMovSpecial : runMov;
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// selp, slct
//===----------------------------------------------------------------------===//

Outcome runSelp(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1)),
                 *p = warp.values(at.value(2));
  // Without a branch, whichever it is.
  setLanes(to, lanes, [=](unsigned i) {
    uint64_t mask = -(p[i] & 1);
    return (a[i] & mask) | (b[i] & ~mask);
  });
  return Outcome::Next;
}

bool isNotNegative(uint64_t c) { return int32_t(c) >= 0; }
/// Of a float: -0 is not, and a NaN is.
bool isFloatNotNegative(uint64_t c) {
  return llvm::bit_cast<float>(uint32_t(c)) >= 0;
}
bool isFlushedNotNegative(uint64_t c) {
  return (c & 0x7f800000) == 0 || isFloatNotNegative(c);
}

template <bool (*condition)(uint64_t)>
Outcome runSlct(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1)),
                 *c = warp.values(at.value(2));
  setLanes(to, lanes,
           [=](unsigned i) { return condition(c[i]) ? a[i] : b[i]; });
  return Outcome::Next;
}

/// Types that selections have: everything of a register but a predicate.
bool isSelectable(Type type) {
  switch (type) {
  case Type::F32:
  case Type::F64:
    return true;
  default:
    return !ptx::isFloat(type) && ptx::bitsOf(type) >= 16 &&
           ptx::bitsOf(type) <= 64 && type != Type::U16x2 &&
           type != Type::S16x2;
  }
}

llvm::Error decodeSelp(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  if (!isSelectable(type))
    return decoder.unsupported(from, "not with this type");
  to.execute = runSelp;
  return decoder.operands(from, to, 1, {type, type, type, Type::Pred});
}

llvm::Error decodeSlct(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  Type condition = to.from = pieces.takeType();
  bool flushes = condition == Type::F32 && pieces.take("ftz");
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  if (!isSelectable(type) || (condition != Type::S32 && condition != Type::F32))
    return decoder.unsupported(from, "not with these types");
  to.execute = condition == Type::S32 ? runSlct<isNotNegative>
               : flushes              ? runSlct<isFlushedNotNegative>
                                      : runSlct<isFloatNotNegative>;
  return decoder.operands(from, to, 1, {type, type, type, condition});
}

//===----------------------------------------------------------------------===//
// prmt
//===----------------------------------------------------------------------===//

/// A byte for each of four selectors: its number among those of b and a, with
/// bit 3 set to have its sign instead.
constexpr uint32_t permuted(uint32_t a, uint32_t b, uint32_t selectors) {
  uint64_t both = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (unsigned i = 0; i != 4; ++i) {
    unsigned selector = selectors >> (4 * i) & 15;
    auto byte = uint32_t(both >> (8 * (selector & 7)) & 0xff);
    if (selector & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

/// The modes with names have one set of selectors for each value of the two low
/// bits of the third operand.
template <uint16_t c0, uint16_t c1, uint16_t c2, uint16_t c3>
constexpr uint32_t permutedBy(uint32_t a, uint32_t b, uint32_t control) {
  constexpr uint16_t selectors[] = {c0, c1, c2, c3};
  return permuted(a, b, selectors[control & 3]);
}

llvm::Error decodePrmt(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  Pieces pieces(from);
  Type type = to.type = pieces.takeType();
  to.execute = runTernary<uint32_t, permuted>;
  if (pieces.take("f4e"))
    to.execute =
        runTernary<uint32_t, permutedBy<0x3210, 0x4321, 0x5432, 0x6543>>;
  else if (pieces.take("b4e"))
    to.execute =
        runTernary<uint32_t, permutedBy<0x5670, 0x6701, 0x7012, 0x0123>>;
  else if (pieces.take("rc8"))
    to.execute =
        runTernary<uint32_t, permutedBy<0x0000, 0x1111, 0x2222, 0x3333>>;
  else if (pieces.take("ecl"))
    to.execute =
        runTernary<uint32_t, permutedBy<0x3210, 0x3211, 0x3222, 0x3333>>;
  else if (pieces.take("ecr"))
    to.execute =
        runTernary<uint32_t, permutedBy<0x0000, 0x1110, 0x2210, 0x3210>>;
  else if (pieces.take("rc16"))
    to.execute =
        runTernary<uint32_t, permutedBy<0x1010, 0x3232, 0x1010, 0x3232>>;
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  if (type != Type::B32)
    return decoder.unsupported(from, "not with this type");
  return decoder.operands(from, to, 1, {type, type, type, Type::B32});
}

} // namespace

void addMoves(InstructionSet &set) {
  set.add("mov", decodeMov);
  set.add("selp", decodeSelp);
  set.add("slct", decodeSlct);
  set.add("prmt", decodePrmt);
  addComparisons(set);
  addAddressInstructions(set);
  addStackInstructions(set);
  addVideoInstructions(set);
}

} // namespace tilec::emulator

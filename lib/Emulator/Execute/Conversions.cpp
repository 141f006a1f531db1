//===- Conversions.cpp - cvt and cvt.pack ---------------------------------===//
//
// What they compute is in Arithmetic/Float.h. Here a result is widened to its
// register: an integer with its sign.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Arithmetic/Float.h"
#include "lib/Emulator/Execute/Elementwise.h"
#include "lib/Emulator/Machine/Decoder.h"
#include <cstring>

namespace tilec::emulator {

using ptx::Type;

namespace {

static_assert(sizeof(ConvertMode) <= 8);

ConvertMode modeOf(const Instruction &at) {
  ConvertMode mode;
  std::memcpy(&mode, &at.flags, sizeof(mode));
  return mode;
}

/// A result of fewer bits than its register. `offset`, which cvt has no other
/// use for, has the bits of the register if the result must be extended.
uint64_t extended(uint64_t value, Type type, int64_t registerBits) {
  if (registerBits == 0)
    return value;
  unsigned unused = 64 - ptx::bitsOf(type);
  value = uint64_t(int64_t(value << unused) >> unused);
  return registerBits == 64 ? value
                            : value & ((uint64_t(1) << registerBits) - 1);
}

Outcome runConvert(Warp &warp, const Instruction &at, LaneMask lanes) {
  ConvertMode mode = modeOf(at);
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0));
  setLanes(to, lanes, [&](unsigned i) {
    return extended(convert(at.type, at.from, a[i], mode), at.type, at.offset);
  });
  return Outcome::Next;
}

Outcome runConvertPair(Warp &warp, const Instruction &at, LaneMask lanes) {
  ConvertMode mode = modeOf(at);
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1));
  setLanes(to, lanes,
           [&](unsigned i) { return convertPair(at.type, a[i], b[i], mode); });
  return Outcome::Next;
}

Outcome runPack(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1));
  const uint64_t *c = at.numValues() > 2 ? warp.values(at.value(2)) : nullptr;
  setLanes(to, lanes, [&](unsigned i) {
    return packIntegers(at.type, at.from, a[i], b[i], c ? c[i] : 0);
  });
  return Outcome::Next;
}

void takeRounding(Pieces &pieces, ConvertMode &mode) {
  static constexpr struct {
    const char *name;
    Rounding rounding;
    bool isInteger;
  } names[] = {
      {"rn", Rounding::NearestEven, false},
      {"rna", Rounding::NearestAway, false},
      {"rz", Rounding::Zero, false},
      {"rm", Rounding::Down, false},
      {"rp", Rounding::Up, false},
      {"rni", Rounding::NearestEven, true},
      {"rzi", Rounding::Zero, true},
      {"rmi", Rounding::Down, true},
      {"rpi", Rounding::Up, true},
  };
  for (const auto &[name, rounding, isInteger] : names) {
    if (pieces.take(name)) {
      mode.rounding = rounding;
      mode.integerRounding = isInteger;
      return;
    }
  }
}

/// cvt.pack.sat.u8.s32.b32 d, a, b, c, where .b32 and c are for results of less
/// than 16 bits.
llvm::Error decodePack(Decoder &decoder, const ptx::Instruction &from,
                       Pieces &pieces, Instruction &to) {
  pieces.take("sat");
  to.type = pieces.takeType();
  to.from = pieces.takeType();
  bool hasThird = pieces.takeType() == Type::B32;
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  unsigned bits = ptx::bitsOf(to.type);
  if (to.from != Type::S32 || ptx::isFloat(to.type) || bits == 0 || bits > 16 ||
      hasThird != (bits < 16))
    return decoder.unsupported(from, "these types are not known together");
  to.execute = runPack;
  llvm::SmallVector<Type, 4> types = {Type::B32, Type::S32, Type::S32};
  if (hasThird)
    types.push_back(Type::B32);
  return decoder.operands(from, to, 1, types);
}

bool isPacked(Type type) {
  return type == Type::F16x2 || type == Type::BF16x2 || type == Type::E4M3x2 ||
         type == Type::E5M2x2;
}
bool isFp8Pair(Type type) {
  return type == Type::E4M3x2 || type == Type::E5M2x2;
}
/// Types that cvt converts one value of.
bool isSingle(Type type) {
  switch (type) {
  case Type::U8:
  case Type::S8:
  case Type::U16:
  case Type::S16:
  case Type::U32:
  case Type::S32:
  case Type::U64:
  case Type::S64:
  case Type::F16:
  case Type::BF16:
  case Type::TF32:
  case Type::F32:
  case Type::F64:
    return true;
  default:
    return false;
  }
}

llvm::Error decodeConvert(Decoder &decoder, const ptx::Instruction &from,
                          Instruction &to) {
  Pieces pieces(from);
  if (pieces.take("pack"))
    return decodePack(decoder, from, pieces, to);
  ConvertMode mode;
  takeRounding(pieces, mode);
  mode.flush = pieces.take("ftz");
  mode.saturate = pieces.take("sat");
  mode.saturateFinite = pieces.take("satfinite");
  mode.relu = pieces.take("relu");
  to.type = pieces.takeType();
  to.from = pieces.takeType();
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  std::memcpy(&to.flags, &mode, sizeof(mode));

  if (isPacked(to.type) && to.from == Type::F32) {
    to.execute = runConvertPair;
    return decoder.operands(from, to, 1, {to.type, Type::F32, Type::F32});
  }
  bool isPair = (isFp8Pair(to.type) && to.from == Type::F16x2) ||
                (to.type == Type::F16x2 && isFp8Pair(to.from));
  if (!isPair && (!isSingle(to.type) || !isSingle(to.from)))
    return decoder.unsupported(from, "these types are not known together");
  to.execute = runConvert;
  if (llvm::Error error = decoder.operands(from, to, 1, to.from))
    return error;
  if (to.slots.size() != 2)
    return decoder.malformed(from, "it has one result and one value");
  const ptx::Operand &result = from.operands.front();
  if (result.kind != ptx::Operand::Kind::Register)
    return llvm::Error::success();
  unsigned registerBits =
      ptx::bitsOf(decoder.function().registers[result.index].type);
  if (registerBits < ptx::bitsOf(to.type))
    return decoder.malformed(from, "the register is too narrow");
  if (!ptx::isFloat(to.type) && ptx::isSigned(to.type) &&
      registerBits > ptx::bitsOf(to.type))
    to.offset = registerBits;
  return llvm::Error::success();
}

} // namespace

void addConversions(InstructionSet &set) { set.add("cvt", decodeConvert); }

} // namespace tilec::emulator

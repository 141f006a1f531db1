//===- Integer.cpp - Integer arithmetic -----------------------------------===//
//
// Sums, products, quotients. Everything wraps, as the hardware's does. Shifts,
// logic and what else looks at bits is in Bits.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Execute/Elementwise.h"
#include "lib/Emulator/Execute/Families.h"
#include <algorithm>
#include <limits>

namespace tilec::emulator {

using ptx::Type;

namespace {

//===----------------------------------------------------------------------===//
// What the instructions compute
//===----------------------------------------------------------------------===//

template <typename T> using Unsigned = std::make_unsigned_t<T>;

/// Wide enough for any product of two values, and unsigned where T is.
template <typename T>
using Product = std::conditional_t<
    sizeof(T) == 8,
    std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
    std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <typename T> constexpr unsigned width = sizeof(T) * 8;

template <typename T> constexpr T sum(T a, T b) {
  return T(Unsigned<T>(a) + Unsigned<T>(b));
}
template <typename T> constexpr T difference(T a, T b) {
  return T(Unsigned<T>(a) - Unsigned<T>(b));
}
template <typename T> constexpr T low(T a, T b) {
  return T(Product<Unsigned<T>>(a) * Product<Unsigned<T>>(b));
}
template <typename T> constexpr T high(T a, T b) {
  return T((Product<T>(a) * Product<T>(b)) >> width<T>);
}
/// All bits of the product; values of 64 bits have no type for that.
template <typename T>
using Wide = std::conditional_t<
    sizeof(T) != 2, std::conditional_t<sizeof(T) == 4, Product<T>, T>,
    std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>;
template <typename T> constexpr Wide<T> wide(T a, T b) {
  return Wide<T>(Product<T>(a) * Product<T>(b));
}

// The hardware has no division; the code that stands for it gives all ones when
// it divides by zero.
template <typename T> constexpr T quotient(T a, T b) {
  if (b == 0)
    return T(~T(0));
  if constexpr (std::is_signed_v<T>)
    if (b == -1)
      return difference(T(0), a);
  return T(a / b);
}
template <typename T> constexpr T remainder(T a, T b) {
  if (b == 0)
    return T(~T(0));
  if constexpr (std::is_signed_v<T>)
    if (b == -1)
      return 0;
  return T(a % b);
}

template <typename T> constexpr T absolute(T a) {
  return a < 0 ? difference(T(0), a) : a;
}
template <typename T> constexpr T distanceSum(T a, T b, T c) {
  return sum(c, a < b ? difference(b, a) : difference(a, b));
}
constexpr int32_t saturated(int64_t value) {
  return int32_t(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
}

/// A number of 24 bits, in the low bits of a register.
template <typename T> constexpr int64_t narrow24(T a) {
  uint32_t bits = uint32_t(a) & 0xffffff;
  return std::is_signed_v<T> && bits >> 23 ? int64_t(bits) - (1 << 24)
                                           : int64_t(bits);
}
template <typename T> constexpr T low24(T a, T b) {
  return T(uint64_t(narrow24(a) * narrow24(b)));
}
/// Bits 16 to 47 of the product.
template <typename T> constexpr T high24(T a, T b) {
  return T(uint64_t(narrow24(a) * narrow24(b)) >> 16);
}

/// Applies a function to both halves of 32 bits.
template <typename T, auto function>
constexpr uint32_t halves(uint32_t a, uint32_t b) {
  uint32_t lower = uint16_t(function(T(a), T(b)));
  uint32_t upper = uint16_t(function(T(a >> 16), T(b >> 16)));
  return lower | upper << 16;
}

template <typename T> constexpr T smaller(T a, T b) { return b < a ? b : a; }
template <typename T> constexpr T larger(T a, T b) { return a < b ? b : a; }
template <typename T> constexpr T smallerRelu(T a, T b) {
  return larger(smaller(a, b), T(0));
}
template <typename T> constexpr T largerRelu(T a, T b) {
  return larger(larger(a, b), T(0));
}

/// Sum of products of four bytes, of which A and B tell the signs.
template <typename A, typename B>
constexpr uint32_t dot4(uint32_t a, uint32_t b, uint32_t c) {
  for (unsigned i = 0; i != 32; i += 8)
    c += uint32_t(int32_t(A(a >> i)) * int32_t(B(b >> i)));
  return c;
}
/// Of two values of 16 bits and two bytes, the lower ones or the upper ones.
template <typename A, typename B, bool isHigh>
constexpr uint32_t dot2(uint32_t a, uint32_t b, uint32_t c) {
  b >>= isHigh ? 16 : 0;
  c += uint32_t(int32_t(A(a)) * int32_t(B(b)));
  return c + uint32_t(int32_t(A(a >> 16)) * int32_t(B(b >> 8)));
}

//===----------------------------------------------------------------------===//
// Handlers with the carry flag
//===----------------------------------------------------------------------===//

/// Which of the two ways the carry flag goes.
struct Carry {
  bool in, out;
};

/// The flag of a difference is a borrow.
template <typename T, bool isDifference, Carry carry>
Outcome runCarry(Warp &warp, const Instruction &at, LaneMask lanes) {
  using U = Unsigned<T>;
  uint64_t *to = warp.row(at.result(0)), *flag = warp.row(carrySlot);
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1));
  forEachLane(lanes, [=](unsigned i) {
    unsigned __int128 x = U(a[i]), y = U(b[i]), in = carry.in ? flag[i] & 1 : 0;
    unsigned __int128 value = isDifference ? x - y - in : x + y + in;
    to[i] = U(value);
    if (carry.out)
      flag[i] = uint64_t(value >> width<T>) & 1;
  });
  return Outcome::Next;
}

template <typename T, bool isHigh, Carry carry>
Outcome runMadCarry(Warp &warp, const Instruction &at, LaneMask lanes) {
  using U = Unsigned<T>;
  uint64_t *to = warp.row(at.result(0)), *flag = warp.row(carrySlot);
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1)),
                 *c = warp.values(at.value(2));
  forEachLane(lanes, [=](unsigned i) {
    T product = isHigh ? high(T(a[i]), T(b[i])) : low(T(a[i]), T(b[i]));
    unsigned __int128 value = U(product);
    value += U(c[i]);
    value += carry.in ? flag[i] & 1 : 0;
    to[i] = U(value);
    if (carry.out)
      flag[i] = uint64_t(value >> width<T>) & 1;
  });
  return Outcome::Next;
}

//===----------------------------------------------------------------------===//
// Decoders
//===----------------------------------------------------------------------===//

/// The integer type of twice as many bits.
Type wider(Type type) {
  switch (type) {
  case Type::U16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
    return Type::U64;
  case Type::S32:
    return Type::S64;
  default:
    return Type::None;
  }
}

/// The parts that all decoders here share.
struct Parts {
  Decoder &decoder;
  const ptx::Instruction &from;
  Instruction &to;
  Pieces pieces{from};

  /// Takes the operands: a result of `result`, and values of the types that
  /// follow. What no handler was found for is an error, and so are pieces that
  /// nobody took.
  llvm::Error finish(Handler handler, Type result,
                     llvm::ArrayRef<Type> values) {
    if (llvm::Error error = pieces.finish(decoder))
      return error;
    if (!handler)
      return decoder.unsupported(from, "not with this type");
    to.execute = handler;
    llvm::SmallVector<Type, 4> types = {result};
    types.append(values.begin(), values.end());
    return decoder.operands(from, to, 1, types);
  }
};

llvm::Error decodeAdd(Parts parts, bool isDifference) {
  Type type = parts.to.type;
  Handler handler = nullptr;
  if (parts.pieces.take("sat")) {
    if (type == Type::S32)
      handler =
          isDifference
              ? runBinary<int32_t,
                          [](int64_t a, int64_t b) { return saturated(a - b); }>
              : runBinary<int32_t, [](int64_t a, int64_t b) {
                  return saturated(a + b);
                }>;
  } else if (type == Type::U16x2 || type == Type::S16x2) {
    // The bits are the same whether signed or not.
    handler = isDifference
                  ? runBinary<uint32_t, halves<uint16_t, difference<uint16_t>>>
                  : runBinary<uint32_t, halves<uint16_t, sum<uint16_t>>>;
  } else {
    handler = byType(type, [&]<typename T>() -> Handler {
      return isDifference ? runBinary<T, difference<T>> : runBinary<T, sum<T>>;
    });
  }
  return parts.finish(handler, type, {type, type});
}

/// add.cc, addc, addc.cc and the same of sub.
llvm::Error decodeCarry(Parts parts, bool isDifference, bool readsCarry) {
  Type type = parts.to.type;
  bool writesCarry = parts.pieces.take("cc");
  Handler handler = nullptr;
  if (ptx::bitsOf(type) >= 32)
    handler = byType(type, [&]<typename T>() -> Handler {
      constexpr Carry in{true, false}, out{false, true}, both{true, true};
      if (isDifference)
        return !readsCarry    ? runCarry<T, true, out>
               : !writesCarry ? runCarry<T, true, in>
                              : runCarry<T, true, both>;
      return !readsCarry    ? runCarry<T, false, out>
             : !writesCarry ? runCarry<T, false, in>
                            : runCarry<T, false, both>;
    });
  return parts.finish(handler, type, {type, type});
}

llvm::Error decodeMul(Parts parts) {
  Type type = parts.to.type;
  Handler handler = nullptr;
  if (parts.pieces.take("wide")) {
    if (ptx::bitsOf(type) < 64)
      handler = byType(
          type, []<typename T>() -> Handler { return runBinary<T, wide<T>>; });
    return parts.finish(handler, wider(type), {type, type});
  }
  bool isHigh = parts.pieces.take("hi");
  if (!isHigh && !parts.pieces.take("lo"))
    return parts.decoder.malformed(parts.from, "without .lo, .hi or .wide");
  handler = byType(type, [&]<typename T>() -> Handler {
    return isHigh ? runBinary<T, high<T>> : runBinary<T, low<T>>;
  });
  return parts.finish(handler, type, {type, type});
}

llvm::Error decodeMad(Parts parts, bool readsCarry) {
  Type type = parts.to.type;
  if (parts.pieces.take("wide")) {
    Handler handler = nullptr;
    if (ptx::bitsOf(type) < 64)
      handler = byType(type, []<typename T>() -> Handler {
        return runTernary<
            T, [](T a, T b, Wide<T> c) { return sum<Wide<T>>(wide(a, b), c); },
            T, Wide<T>>;
      });
    return parts.finish(readsCarry ? nullptr : handler, wider(type),
                        {type, type, wider(type)});
  }
  bool isHigh = parts.pieces.take("hi");
  if (!isHigh && !parts.pieces.take("lo"))
    return parts.decoder.malformed(parts.from, "without .lo, .hi or .wide");
  Handler handler = nullptr;
  bool writesCarry = parts.pieces.take("cc");
  if (readsCarry || writesCarry) {
    if (ptx::bitsOf(type) >= 32)
      handler = byType(type, [&]<typename T>() -> Handler {
        constexpr Carry in{true, false}, out{false, true}, both{true, true};
        if (isHigh)
          return !readsCarry    ? runMadCarry<T, true, out>
                 : !writesCarry ? runMadCarry<T, true, in>
                                : runMadCarry<T, true, both>;
        return !readsCarry    ? runMadCarry<T, false, out>
               : !writesCarry ? runMadCarry<T, false, in>
                              : runMadCarry<T, false, both>;
      });
  } else if (parts.pieces.take("sat")) {
    if (isHigh && type == Type::S32)
      handler = runTernary<int32_t, [](int32_t a, int32_t b, int64_t c) {
        return saturated(high(a, b) + c);
      }>;
  } else {
    handler = byType(type, [&]<typename T>() -> Handler {
      return isHigh ? runTernary<T, [](T a, T b,
                                       T c) { return sum<T>(high(a, b), c); }>
                    : runTernary<T, [](T a, T b, T c) {
                        return sum<T>(low(a, b), c);
                      }>;
    });
  }
  return parts.finish(handler, type, {type, type, type});
}

llvm::Error decodeMinMax(Parts parts, bool isMax) {
  Type type = parts.to.type;
  bool isRelu = parts.pieces.take("relu");
  Handler handler = nullptr;
  if (type == Type::U16x2 && !isRelu)
    handler = isMax ? runBinary<uint32_t, halves<uint16_t, larger<uint16_t>>>
                    : runBinary<uint32_t, halves<uint16_t, smaller<uint16_t>>>;
  else if (type == Type::S16x2 && !isRelu)
    handler = isMax ? runBinary<uint32_t, halves<int16_t, larger<int16_t>>>
                    : runBinary<uint32_t, halves<int16_t, smaller<int16_t>>>;
  else if (type == Type::S16x2)
    handler = isMax
                  ? runBinary<uint32_t, halves<int16_t, largerRelu<int16_t>>>
                  : runBinary<uint32_t, halves<int16_t, smallerRelu<int16_t>>>;
  else if (isRelu && type == Type::S32)
    handler = isMax ? runBinary<int32_t, largerRelu<int32_t>>
                    : runBinary<int32_t, smallerRelu<int32_t>>;
  else if (!isRelu)
    handler = byType(type, [&]<typename T>() -> Handler {
      return isMax ? runBinary<T, larger<T>> : runBinary<T, smaller<T>>;
    });
  return parts.finish(handler, type, {type, type});
}

llvm::Error decodeDivision(Parts parts, bool isRemainder) {
  Type type = parts.to.type;
  Handler handler = byType(type, [&]<typename T>() -> Handler {
    return isRemainder ? runBinary<T, remainder<T>> : runBinary<T, quotient<T>>;
  });
  return parts.finish(handler, type, {type, type});
}

llvm::Error decodeSign(Parts parts, bool isAbs) {
  Type type = parts.to.type;
  Handler handler = nullptr;
  if (ptx::isSigned(type))
    handler = byType(type, [&]<typename T>() -> Handler {
      if constexpr (std::is_signed_v<T>)
        return isAbs ? runUnary<T, absolute<T>>
                     : runUnary<T, [](T a) { return difference<T>(0, a); }>;
      return nullptr;
    });
  return parts.finish(handler, type, {type});
}

llvm::Error decodeMul24(Parts parts, bool isMad) {
  Type type = parts.to.type;
  bool isHigh = parts.pieces.take("hi");
  if (!isHigh && !parts.pieces.take("lo"))
    return parts.decoder.malformed(parts.from, "without .lo or .hi");
  bool saturates = isMad && isHigh && parts.pieces.take("sat");
  auto choose = [&]<typename T>() -> Handler {
    if (!isMad)
      return isHigh ? runBinary<T, high24<T>> : runBinary<T, low24<T>>;
    return isHigh ? runTernary<T, [](T a, T b,
                                     T c) { return sum<T>(high24(a, b), c); }>
                  : runTernary<T, [](T a, T b, T c) {
                      return sum<T>(low24(a, b), c);
                    }>;
  };
  Handler handler = nullptr;
  if (saturates) {
    if (type == Type::S32)
      handler = runTernary<int32_t, [](int32_t a, int32_t b, int64_t c) {
        return saturated(high24(a, b) + c);
      }>;
  } else if (type == Type::U32) {
    handler = choose.operator()<uint32_t>();
  } else if (type == Type::S32) {
    handler = choose.operator()<int32_t>();
  }
  if (isMad)
    return parts.finish(handler, type, {type, type, type});
  return parts.finish(handler, type, {type, type});
}

llvm::Error decodeSad(Parts parts) {
  Type type = parts.to.type;
  Handler handler = byType(type, []<typename T>() -> Handler {
    return runTernary<T, distanceSum<T>>;
  });
  return parts.finish(handler, type, {type, type, type});
}

/// dp4a and dp2a have two types: of the parts of the one operand and the other.
llvm::Error decodeDot(Decoder &decoder, const ptx::Instruction &from,
                      Instruction &to) {
  Parts parts{decoder, from, to};
  Type a = parts.to.type = parts.pieces.takeType();
  Type b = parts.to.from = parts.pieces.takeType();
  bool isA = a == Type::S32, isB = b == Type::S32;
  if ((!isA && a != Type::U32) || (!isB && b != Type::U32))
    return decoder.unsupported(from, "not with these types");
  Handler handler = nullptr;
  if (from.opcode() == "dp4a") {
    handler = isA ? (isB ? runTernary<uint32_t, dot4<int8_t, int8_t>>
                         : runTernary<uint32_t, dot4<int8_t, uint8_t>>)
                  : (isB ? runTernary<uint32_t, dot4<uint8_t, int8_t>>
                         : runTernary<uint32_t, dot4<uint8_t, uint8_t>>);
  } else {
    auto choose = [&]<bool isHigh>() -> Handler {
      return isA ? (isB ? runTernary<uint32_t, dot2<int16_t, int8_t, isHigh>>
                        : runTernary<uint32_t, dot2<int16_t, uint8_t, isHigh>>)
                 : (isB ? runTernary<uint32_t, dot2<uint16_t, int8_t, isHigh>>
                        : runTernary<uint32_t,
                                     dot2<uint16_t, uint8_t, isHigh>>);
    };
    if (parts.pieces.take("hi"))
      handler = choose.operator()<true>();
    else if (parts.pieces.take("lo"))
      handler = choose.operator()<false>();
    else
      return decoder.malformed(from, "without .lo or .hi");
  }
  return parts.finish(handler, Type::U32, {Type::U32, Type::U32, Type::U32});
}

} // namespace

llvm::Error decodeInteger(Decoder &decoder, const ptx::Instruction &from,
                          Instruction &to) {
  Parts parts{decoder, from, to};
  to.type = parts.pieces.takeType();
  llvm::StringRef opcode = from.opcode();
  if (opcode == "add" || opcode == "sub") {
    if (from.has("cc"))
      return decodeCarry(parts, opcode == "sub", /*readsCarry=*/false);
    return decodeAdd(parts, opcode == "sub");
  }
  if (opcode == "addc" || opcode == "subc")
    return decodeCarry(parts, opcode == "subc", /*readsCarry=*/true);
  if (opcode == "mul")
    return decodeMul(parts);
  if (opcode == "mad" || opcode == "madc")
    return decodeMad(parts, opcode == "madc");
  if (opcode == "min" || opcode == "max")
    return decodeMinMax(parts, opcode == "max");
  if (opcode == "div" || opcode == "rem")
    return decodeDivision(parts, opcode == "rem");
  if (opcode == "abs" || opcode == "neg")
    return decodeSign(parts, opcode == "abs");
  if (opcode == "mul24" || opcode == "mad24")
    return decodeMul24(parts, opcode == "mad24");
  if (opcode == "sad")
    return decodeSad(parts);
  return decoder.unsupported(from, "not with this type");
}

void addIntegerInstructions(InstructionSet &set) {
  for (const char *opcode :
       {"addc", "subc", "madc", "rem", "mul24", "mad24", "sad"})
    set.add(opcode, decodeInteger);
  for (const char *opcode : {"dp4a", "dp2a"})
    set.add(opcode, decodeDot);
  addBitInstructions(set);
}

} // namespace tilec::emulator

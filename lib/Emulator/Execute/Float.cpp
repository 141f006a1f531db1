//===- Float.cpp - Float arithmetic ---------------------------------------===//
//
// What the instructions compute is in Arithmetic/Float.h. A handler gets the
// modes from `flags`. f32 with rounding to nearest, which is nearly all that
// runs, has handlers of its own.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Arithmetic/Float.h"
#include "lib/Emulator/Arithmetic/Host.h"
#include "lib/Emulator/Execute/Elementwise.h"
#include "lib/Emulator/Execute/Families.h"
#include <cmath>
#include <cstring>
#include <optional>

namespace tilec::emulator {

using ptx::Type;

namespace {

//===----------------------------------------------------------------------===//
// Modes in `flags`
//===----------------------------------------------------------------------===//

template <typename Mode> uint64_t toFlags(Mode mode) {
  static_assert(sizeof(Mode) <= 8 && std::is_trivially_copyable_v<Mode>);
  uint64_t flags = 0;
  std::memcpy(&flags, &mode, sizeof(Mode));
  return flags;
}

template <typename Mode> Mode fromFlags(uint64_t flags) {
  Mode mode;
  std::memcpy(&mode, &flags, sizeof(Mode));
  return mode;
}

/// Functions that PTX bounds, and how to compute them.
struct ApproximateMode {
  Approximate function = Approximate::Reciprocal;
  bool flush = false;
};

struct QuotientMode {
  bool isFull = false, flush = false;
};

//===----------------------------------------------------------------------===//
// f32, rounded to nearest
//===----------------------------------------------------------------------===//

float asFloat(uint64_t bits) { return llvm::bit_cast<float>(uint32_t(bits)); }

template <bool flush> uint32_t operand(uint64_t bits) {
  uint32_t value = bits;
  return !flush || (value & 0x7f800000) ? value : value & 0x80000000;
}

template <bool flush> uint64_t result(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  bits = (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : bits;
  return operand<flush>(bits);
}

/// With .ftz the smallest normal number may have come from below by rounding,
/// and then is zero: rare, and left to the functions for any mode.
template <bool flush> bool isDoubtful(uint64_t bits) {
  return flush && (bits & 0x7fffffff) == 0x00800000;
}

template <bool flush, auto function>
Outcome runFast2(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1));
  setLanes(to, lanes, [=](unsigned i) {
    return result<flush>(
        function(asFloat(operand<flush>(a[i])), asFloat(operand<flush>(b[i]))));
  });
  return Outcome::Next;
}

template <bool flush>
Outcome runFastProduct(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1));
  setLanes(to, lanes, [=](unsigned i) {
    uint64_t product = result<flush>(asFloat(operand<flush>(a[i])) *
                                     asFloat(operand<flush>(b[i])));
    if (isDoubtful<flush>(product))
      product = mulFloat(Type::F32, a[i], b[i], {.flush = true});
    return product;
  });
  return Outcome::Next;
}

template <bool flush>
[[gnu::always_inline]] inline void fuseRow(Warp &warp, const Instruction &at,
                                           LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1)),
                 *c = warp.values(at.value(2));
  setLanes(to, lanes, [=](unsigned i) {
    uint64_t sum = result<flush>(__builtin_fmaf(asFloat(operand<flush>(a[i])),
                                                asFloat(operand<flush>(b[i])),
                                                asFloat(operand<flush>(c[i]))));
    if (isDoubtful<flush>(sum))
      sum = fmaFloat(Type::F32, a[i], b[i], c[i], {.flush = true});
    return sum;
  });
}

template <bool flush>
Outcome runFastFma(Warp &warp, const Instruction &at, LaneMask lanes) {
  fuseRow<flush>(warp, at, lanes);
  return Outcome::Next;
}

/// With the host's own instruction, where the other calls a function.
template <bool flush>
TILEC_FOR_AVX2 Outcome runHostFma(Warp &warp, const Instruction &at,
                                  LaneMask lanes) {
  fuseRow<flush>(warp, at, lanes);
  return Outcome::Next;
}

template <auto function> Handler fast2(bool flush) {
  return flush ? runFast2<true, function> : runFast2<false, function>;
}

//===----------------------------------------------------------------------===//
// Any type
//===----------------------------------------------------------------------===//

template <auto function>
Outcome runUnaryFloat(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0));
  setLanes(to, lanes,
           [&](unsigned i) { return function(at.type, a[i], at.flags); });
  return Outcome::Next;
}

template <auto function>
Outcome runBinaryFloat(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1));
  setLanes(to, lanes,
           [&](unsigned i) { return function(at.type, a[i], b[i], at.flags); });
  return Outcome::Next;
}

template <auto function>
Outcome runTernaryFloat(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1)),
                 *c = warp.values(at.value(2));
  setLanes(to, lanes, [&](unsigned i) {
    return function(at.type, a[i], b[i], c[i], at.flags);
  });
  return Outcome::Next;
}

// Functions of a lane with `flags` in place of a mode.

template <auto function>
uint64_t binary(Type type, uint64_t a, uint64_t b, uint64_t flags) {
  return function(type, a, b, fromFlags<FloatMode>(flags));
}
uint64_t fused(Type type, uint64_t a, uint64_t b, uint64_t c, uint64_t flags) {
  return fmaFloat(type, a, b, c, fromFlags<FloatMode>(flags));
}
uint64_t quotient(Type, uint64_t a, uint64_t b, uint64_t flags) {
  auto mode = fromFlags<QuotientMode>(flags);
  return divApproximate(a, b, mode.isFull, mode.flush);
}
uint64_t root(Type type, uint64_t a, uint64_t flags) {
  return sqrtFloat(type, a, fromFlags<FloatMode>(flags));
}
uint64_t reciprocal(Type type, uint64_t a, uint64_t flags) {
  uint64_t one = type == Type::F64 ? 0x3ff0000000000000 : 0x3f800000;
  return divFloat(type, one, a, fromFlags<FloatMode>(flags));
}
uint64_t approximated(Type type, uint64_t a, uint64_t flags) {
  auto mode = fromFlags<ApproximateMode>(flags);
  return approximate(mode.function, type, a, mode.flush);
}

template <auto function>
uint64_t chosen(Type type, uint64_t a, uint64_t b, uint64_t flags) {
  return function(type, a, b, fromFlags<MinMaxMode>(flags));
}
template <auto function>
uint64_t chosenOfThree(Type type, uint64_t a, uint64_t b, uint64_t c,
                       uint64_t flags) {
  auto mode = fromFlags<MinMaxMode>(flags);
  return function(type, function(type, a, b, mode), c, mode);
}

/// The sign bits of a type: of both halves, if it is a packed one.
uint64_t signsOf(Type type) {
  switch (type) {
  case Type::F64:
    return uint64_t(1) << 63;
  case Type::F16x2:
  case Type::BF16x2:
    return 0x80008000;
  case Type::F16:
  case Type::BF16:
    return 0x8000;
  default:
    return 0x80000000;
  }
}

/// Zeros in place of subnormal numbers.
uint64_t flushed(Type type, uint64_t a) {
  auto narrow = [](uint64_t value, uint64_t exponent) {
    return value & exponent ? value : value & ~exponent & 0x8000;
  };
  switch (type) {
  case Type::F32:
    return operand<true>(a);
  case Type::F16:
    return narrow(a, 0x7c00);
  case Type::F16x2:
    return narrow(a & 0xffff, 0x7c00) | narrow(a >> 16, 0x7c00) << 16;
  default:
    return a;
  }
}

template <bool isNegation>
uint64_t withSign(Type type, uint64_t a, uint64_t flush) {
  if (flush)
    a = flushed(type, a);
  return isNegation ? a ^ signsOf(type) : a & ~signsOf(type);
}

uint64_t signCopied(Type type, uint64_t a, uint64_t b, uint64_t) {
  uint64_t signs = signsOf(type);
  return (a & signs) | (b & ~signs);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

std::optional<Rounding> takeRounding(Pieces &pieces) {
  if (pieces.take("rn"))
    return Rounding::NearestEven;
  if (pieces.take("rz"))
    return Rounding::Zero;
  if (pieces.take("rm"))
    return Rounding::Down;
  if (pieces.take("rp"))
    return Rounding::Up;
  return std::nullopt;
}

bool isNarrow(Type type) {
  return type == Type::F16 || type == Type::F16x2 || type == Type::BF16 ||
         type == Type::BF16x2;
}

bool isArithmetic(Type type) {
  return type == Type::F32 || type == Type::F64 || isNarrow(type);
}

/// All of `count` operands and the result are of the instruction's type.
llvm::Error operandsOfOneType(Decoder &decoder, const ptx::Instruction &from,
                              Instruction &to, unsigned count) {
  llvm::SmallVector<Type, 5> types(count + 1, to.type);
  return decoder.operands(from, to, 1, types);
}

/// What is left: the type, and nothing after it.
llvm::Error finishPieces(Decoder &decoder, const ptx::Instruction &from,
                         Pieces &pieces, Instruction &to) {
  to.type = pieces.takeType();
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  if (!isArithmetic(to.type))
    return decoder.unsupported(from, "it is not known for this type");
  return llvm::Error::success();
}

/// add, sub, mul, mad, fma.
llvm::Error decodeSum(Decoder &decoder, const ptx::Instruction &from,
                      Instruction &to) {
  Pieces pieces(from);
  FloatMode mode;
  if (std::optional<Rounding> rounding = takeRounding(pieces))
    mode.rounding = *rounding;
  mode.flush = pieces.take("ftz");
  pieces.take("noftz");
  mode.saturate = pieces.take("sat");
  mode.relu = pieces.take("relu");
  if (llvm::Error error = finishPieces(decoder, from, pieces, to))
    return error;
  if (isNarrow(to.type) && mode.rounding != Rounding::NearestEven)
    return decoder.unsupported(from, "this type is rounded to nearest only");
  to.flags = toFlags(mode);
  bool isFast = to.type == Type::F32 && !mode.saturate && !mode.relu &&
                mode.rounding == Rounding::NearestEven;
  llvm::StringRef opcode = from.opcode();
  if (opcode == "add")
    to.execute = isFast
                     ? fast2<[](float a, float b) { return a + b; }>(mode.flush)
                     : runBinaryFloat<binary<addFloat>>;
  else if (opcode == "sub")
    to.execute = isFast
                     ? fast2<[](float a, float b) { return a - b; }>(mode.flush)
                     : runBinaryFloat<binary<subFloat>>;
  else if (opcode == "mul")
    to.execute = !isFast      ? runBinaryFloat<binary<mulFloat>>
                 : mode.flush ? runFastProduct<true>
                              : runFastProduct<false>;
  else if (isFast)
    to.execute = hostHasAVX2()
                     ? (mode.flush ? runHostFma<true> : runHostFma<false>)
                     : (mode.flush ? runFastFma<true> : runFastFma<false>);
  else
    to.execute = runTernaryFloat<fused>;
  bool hasThree = opcode == "fma" || opcode == "mad";
  return operandsOfOneType(decoder, from, to, hasThree ? 3 : 2);
}

llvm::Error decodeMinMax(Decoder &decoder, const ptx::Instruction &from,
                         Instruction &to) {
  Pieces pieces(from);
  MinMaxMode mode;
  mode.flush = pieces.take("ftz");
  mode.propagateNaN = pieces.take("NaN");
  if (pieces.take("xorsign")) {
    mode.xorSign = true;
    pieces.take("abs");
  }
  if (llvm::Error error = finishPieces(decoder, from, pieces, to))
    return error;
  to.flags = toFlags(mode);
  bool isMin = from.opcode() == "min";
  bool hasThree = from.operands.size() == 4;
  if (hasThree)
    to.execute = isMin ? runTernaryFloat<chosenOfThree<minFloat>>
                       : runTernaryFloat<chosenOfThree<maxFloat>>;
  else
    to.execute = isMin ? runBinaryFloat<chosen<minFloat>>
                       : runBinaryFloat<chosen<maxFloat>>;
  return operandsOfOneType(decoder, from, to, hasThree ? 3 : 2);
}

llvm::Error decodeSign(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  Pieces pieces(from);
  to.flags = pieces.take("ftz");
  if (llvm::Error error = finishPieces(decoder, from, pieces, to))
    return error;
  to.execute = from.opcode() == "neg" ? runUnaryFloat<withSign<true>>
                                      : runUnaryFloat<withSign<false>>;
  return operandsOfOneType(decoder, from, to, 1);
}

/// div, rcp, sqrt: exact with a rounding, or .approx, or .full.
llvm::Error decodeQuotient(Decoder &decoder, const ptx::Instruction &from,
                           Instruction &to) {
  Pieces pieces(from);
  bool isApproximate = pieces.take("approx"), isFull = pieces.take("full");
  std::optional<Rounding> rounding = takeRounding(pieces);
  bool flush = pieces.take("ftz");
  if (llvm::Error error = finishPieces(decoder, from, pieces, to))
    return error;
  if (isNarrow(to.type))
    return decoder.unsupported(from, "it is not known for this type");
  llvm::StringRef opcode = from.opcode();
  bool isDivision = opcode == "div";
  if (int(isApproximate) + int(isFull) + int(rounding.has_value()) > 1 ||
      (isFull && !isDivision))
    return decoder.malformed(from, "it cannot be both of these");
  if (isDivision && (isApproximate || isFull)) {
    if (to.type != Type::F32)
      return decoder.unsupported(from, "it is not known for this type");
    to.flags = toFlags(QuotientMode{isFull, flush});
    to.execute = runBinaryFloat<quotient>;
  } else if (isApproximate) {
    to.flags = toFlags(ApproximateMode{
        opcode == "rcp" ? Approximate::Reciprocal : Approximate::SquareRoot,
        flush});
    to.execute = runUnaryFloat<approximated>;
  } else {
    FloatMode mode;
    mode.rounding = rounding.value_or(Rounding::NearestEven);
    mode.flush = flush;
    to.flags = toFlags(mode);
    to.execute = isDivision        ? runBinaryFloat<binary<divFloat>>
                 : opcode == "rcp" ? runUnaryFloat<reciprocal>
                                   : runUnaryFloat<root>;
  }
  return operandsOfOneType(decoder, from, to, isDivision ? 2 : 1);
}

/// Functions that are there as approximations alone.
llvm::Error decodeApproximate(Decoder &decoder, const ptx::Instruction &from,
                              Instruction &to) {
  Pieces pieces(from);
  ApproximateMode mode;
  llvm::StringRef opcode = from.opcode();
  mode.function = opcode == "rsqrt" ? Approximate::ReciprocalSquareRoot
                  : opcode == "sin" ? Approximate::Sine
                  : opcode == "cos" ? Approximate::Cosine
                  : opcode == "lg2" ? Approximate::Log2
                  : opcode == "ex2" ? Approximate::Exp2
                                    : Approximate::Tanh;
  if (!pieces.take("approx"))
    return decoder.malformed(from, "it must be .approx");
  mode.flush = pieces.take("ftz");
  if (llvm::Error error = finishPieces(decoder, from, pieces, to))
    return error;
  if (isNarrow(to.type) && opcode != "ex2" && opcode != "tanh")
    return decoder.unsupported(from, "it is not known for this type");
  if (to.type == Type::F64 && opcode != "rsqrt")
    return decoder.unsupported(from, "it is not known for this type");
  to.flags = toFlags(mode);
  to.execute = runUnaryFloat<approximated>;
  return operandsOfOneType(decoder, from, to, 1);
}

//===----------------------------------------------------------------------===//
// testp, copysign
//===----------------------------------------------------------------------===//

enum class Test : uint8_t {
  Finite,
  Infinite,
  Number,
  NotANumber,
  Normal,
  Subnormal,
};

uint64_t tested(Type type, uint64_t a, uint64_t flags) {
  double value =
      type == Type::F64 ? llvm::bit_cast<double>(a) : double(asFloat(a));
  uint64_t exponent = type == Type::F64 ? a >> 52 & 0x7ff : a >> 23 & 0xff;
  switch (Test(flags)) {
  case Test::Finite:
    return std::isfinite(value);
  case Test::Infinite:
    return std::isinf(value);
  case Test::Number:
    return !std::isnan(value);
  case Test::NotANumber:
    return std::isnan(value);
  case Test::Normal:
    return std::isfinite(value) && (exponent != 0 || value == 0); // Zero, too.
  case Test::Subnormal:
    return value != 0 && exponent == 0;
  }
  return 0;
}

llvm::Error decodeTest(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  Pieces pieces(from);
  static constexpr std::pair<const char *, Test> names[] = {
      {"finite", Test::Finite}, {"infinite", Test::Infinite},
      {"number", Test::Number}, {"notanumber", Test::NotANumber},
      {"normal", Test::Normal}, {"subnormal", Test::Subnormal},
  };
  for (auto [name, test] : names)
    if (pieces.take(name))
      to.flags = uint64_t(test);
  if (llvm::Error error = finishPieces(decoder, from, pieces, to))
    return error;
  if (isNarrow(to.type))
    return decoder.unsupported(from, "it is not known for this type");
  to.execute = runUnaryFloat<tested>;
  return decoder.operands(from, to, 1, {Type::Pred, to.type});
}

llvm::Error decodeCopySign(Decoder &decoder, const ptx::Instruction &from,
                           Instruction &to) {
  Pieces pieces(from);
  if (llvm::Error error = finishPieces(decoder, from, pieces, to))
    return error;
  to.execute = runBinaryFloat<signCopied>;
  return operandsOfOneType(decoder, from, to, 2);
}

} // namespace

llvm::Error decodeFloat(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  llvm::StringRef opcode = from.opcode();
  if (opcode == "min" || opcode == "max")
    return decodeMinMax(decoder, from, to);
  if (opcode == "abs" || opcode == "neg")
    return decodeSign(decoder, from, to);
  if (opcode == "div")
    return decodeQuotient(decoder, from, to);
  return decodeSum(decoder, from, to);
}

void addFloatInstructions(InstructionSet &set) {
  set.add("fma", decodeSum);
  set.add("rcp", decodeQuotient);
  set.add("sqrt", decodeQuotient);
  for (const char *opcode : {"rsqrt", "sin", "cos", "lg2", "ex2", "tanh"})
    set.add(opcode, decodeApproximate);
  set.add("testp", decodeTest);
  set.add("copysign", decodeCopySign);
}

} // namespace tilec::emulator

//===- ExpandNarrowFloats.cpp - bf16, f16, fp8 by integers ------*- C++ -*-===//
//
// Left alone, LLVM would call helper functions of the compiler's runtime (which
// the process may not have), or use instructions that flush subnormal numbers
// (vcvtneps2bf16). Here a conversion is a few integer operations, which
// vectorize, and the same bits come out everywhere.
//
// From f32 to a narrow float, rounding to nearest even happens once. From f64
// it would happen twice, by way of f32. Rounding the first time *to odd* avoids
// that: an inexact result gets an odd significand, so that it cannot be a tie
// the second time, nor look like one.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilec {

#define GEN_PASS_DEF_CPUEXPANDNARROWFLOATS
#include "codegen/CPU/Passes.h.inc"

namespace {

/// Builds operations on the bits of f32 numbers, scalars or vectors.
class BitBuilder {
public:
  BitBuilder(OpBuilder &b, Location loc, Type shape)
      : b(b), loc(loc), vector(dyn_cast<VectorType>(shape)) {}

  Type like(Type element) const {
    return vector ? Type(VectorType(vector).clone(element)) : element;
  }
  Type i32() const { return like(b.getI32Type()); }
  Type f32() const { return like(b.getF32Type()); }

  Value number(uint32_t bits) {
    return constant(b.getIntegerAttr(b.getI32Type(), int32_t(bits)), i32());
  }
  Value real(float value) { return constant(b.getF32FloatAttr(value), f32()); }

  Value bits(Value value) { // Of f32, as i32.
    return arith::BitcastOp::create(b, loc, i32(), value);
  }
  Value fromBits(Value value) {
    return arith::BitcastOp::create(b, loc, f32(), value);
  }
  /// Of a narrow float, zero-extended to i32.
  Value narrowBits(Value value) {
    unsigned width = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
    Value word =
        arith::BitcastOp::create(b, loc, like(b.getIntegerType(width)), value);
    return arith::ExtUIOp::create(b, loc, i32(), word);
  }
  /// The low bits of an i32 as a narrow float.
  Value narrowFromBits(Value value, Type element) {
    Type word = like(b.getIntegerType(element.getIntOrFloatBitWidth()));
    return arith::BitcastOp::create(
        b, loc, like(element), arith::TruncIOp::create(b, loc, word, value));
  }

  Value operator()(Value x, char op, Value y) {
    switch (op) {
    case '&':
      return arith::AndIOp::create(b, loc, x, y);
    case '|':
      return arith::OrIOp::create(b, loc, x, y);
    case '+':
      return arith::AddIOp::create(b, loc, x, y);
    case '-':
      return arith::SubIOp::create(b, loc, x, y);
    case '<':
      return arith::ShLIOp::create(b, loc, x, y);
    default:
      return arith::ShRUIOp::create(b, loc, x, y);
    }
  }
  Value operator()(Value x, char op, uint32_t y) {
    return (*this)(x, op, number(y));
  }
  Value addReal(Value x, Value y) {
    return arith::AddFOp::create(b, loc, x, y);
  }
  Value timesReal(Value x, Value y) {
    return arith::MulFOp::create(b, loc, x, y);
  }
  Value isLess(Value x, Value y) { // Unsigned.
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, y);
  }
  Value isEqual(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }

  OpBuilder &b;
  Location loc;

private:
  Value constant(TypedAttr attr, Type type) {
    if (vector)
      attr = DenseElementsAttr::get(cast<ShapedType>(type), Attribute(attr));
    return arith::ConstantOp::create(b, loc, type, attr);
  }

  VectorType vector;
};

/// The shape of a narrow float.
struct Format {
  unsigned width, fraction;
  unsigned bias;
  uint32_t infinity; // The first pattern that is not a finite number, unsigned.
  uint32_t nan;      // The quiet NaN.
  uint32_t overflow; // What a number beyond the finite ones becomes.

  static std::optional<Format> of(Type type) {
    if (type.isBF16())
      return Format{16, 7, 127, 0x7F80, 0x7FC0, 0x7F80};
    if (type.isF16())
      return Format{16, 10, 15, 0x7C00, 0x7E00, 0x7C00};
    if (llvm::isa<Float8E5M2Type>(type))
      return Format{8, 2, 15, 0x7C, 0x7E, 0x7C};
    if (llvm::isa<Float8E4M3FNType>(type))
      return Format{8, 3, 7, 0x7F, 0x7F, 0x7F};
    return std::nullopt;
  }
};

float powerOfTwo(int exponent) { return std::ldexp(1.0f, exponent); }

/// Narrow to f32; every value is exact.
Value widen(BitBuilder &bit, Value value, const Format &format) {
  Value word = bit.narrowBits(value);
  if (format.bias == 127) // bf16 is the upper half of an f32.
    return bit.fromBits(bit(word, '<', 16));
  uint32_t signMask = 1u << (format.width - 1);
  Value magnitude = bit(word, '&', signMask - 1);
  Value sign = bit(bit(word, '&', signMask), '<', 32 - format.width);
  // The fields in their places in an f32, whose exponent is then off by the
  // difference of the biases. A product corrects it, subnormals included.
  Value shifted = bit(magnitude, '<', 23 - format.fraction);
  Value number = bit.timesReal(bit.fromBits(shifted),
                               bit.real(powerOfTwo(127 - int(format.bias))));
  Value bits = bit.bits(number);
  // Infinity and NaN: the exponent is all ones in f32 as well.
  Value special = bit(shifted, '|', 0x7F800000);
  if (format.infinity == format.nan) // No infinity.
    special = bit.number(0x7FC00000);
  Value isFinite = bit.isLess(magnitude, bit.number(format.infinity));
  bits = bit.select(isFinite, bits, special);
  return bit.fromBits(bit(bits, '|', sign));
}

/// f32 to narrow, to nearest, ties to even.
Value narrow(BitBuilder &bit, Value value, Type element, const Format &format) {
  unsigned dropped = 23 - format.fraction;
  Value word = bit.bits(value);
  Value magnitude = bit(word, '&', 0x7FFFFFFF);
  Value sign =
      bit(bit(word, '>', 32 - format.width), '&', 1u << (format.width - 1));

  // Half a unit less one, plus the lowest bit that stays: a tie is rounded up
  // exactly if that bit is odd. A carry into the exponent is right too.
  Value lowest = bit(bit(magnitude, '>', dropped), '&', 1);
  Value rounded = bit(magnitude, '+', (1u << (dropped - 1)) - 1);
  rounded = bit(bit(rounded, '+', lowest), '>', dropped);
  if (format.bias != 127) {
    rounded = bit(rounded, '-', (127 - format.bias) << format.fraction);
    // The result is subnormal: let an f32 addition round. The unit in the last
    // place of `shift` is the narrow format's smallest subnormal number.
    float shift = powerOfTwo(24 - int(format.bias) - int(format.fraction));
    Value sum = bit.addReal(bit.fromBits(magnitude), bit.real(shift));
    Value subnormal = bit(bit.bits(sum), '-', llvm::bit_cast<uint32_t>(shift));
    float smallest = powerOfTwo(1 - int(format.bias));
    Value isSmall =
        bit.isLess(magnitude, bit.number(llvm::bit_cast<uint32_t>(smallest)));
    // Not small, so `rounded` did not wrap; beyond the largest finite number?
    Value fits = bit.isLess(rounded, bit.number(format.infinity));
    rounded = bit.select(fits, rounded, bit.number(format.overflow));
    rounded = bit.select(isSmall, subnormal, rounded);
  }
  Value isNaN = bit.isLess(bit.number(0x7F800000), magnitude);
  rounded = bit.select(isNaN, bit.number(format.nan), rounded);
  return bit.narrowFromBits(bit(rounded, '|', sign), element);
}

/// f64 to f32, inexact results to the neighbor with an odd significand.
Value roundToOdd(BitBuilder &bit, Value value) {
  OpBuilder &b = bit.b;
  Location loc = bit.loc;
  Value nearest = arith::TruncFOp::create(b, loc, bit.f32(), value);
  Value back = arith::ExtFOp::create(b, loc, value.getType(), nearest);
  Type i64 = bit.like(b.getI64Type());
  auto magnitude = [&](Value x) -> Value {
    Value word = arith::BitcastOp::create(b, loc, i64, x);
    return arith::ShLIOp::create(b, loc, word, [&]() -> Value {
      TypedAttr one = b.getI64IntegerAttr(1);
      if (auto vector = llvm::dyn_cast<VectorType>(i64))
        one = DenseElementsAttr::get(vector, Attribute(one));
      return arith::ConstantOp::create(b, loc, i64, one);
    }());
  };
  Value wanted = magnitude(value), found = magnitude(back);
  auto compare = [&](arith::CmpIPredicate predicate) {
    Value holds = arith::CmpIOp::create(b, loc, predicate, found, wanted);
    return arith::ExtUIOp::create(b, loc, bit.i32(), holds).getResult();
  };
  // One step toward zero if it was rounded away, then odd if inexact. A NaN
  // lost payload bits at most; it stays a NaN either way.
  Value word = bit.bits(nearest);
  Value down = bit(word, '-', compare(arith::CmpIPredicate::ugt));
  Value odd = bit(down, '|', compare(arith::CmpIPredicate::ne));
  Value isNaN =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  return bit.fromBits(bit.select(isNaN, word, odd));
}

struct WidenPattern : OpRewritePattern<arith::ExtFOp> {
  WidenPattern(MLIRContext *ctx, bool f16c)
      : OpRewritePattern(ctx), f16c(f16c) {}
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn());
    std::optional<Format> format = Format::of(from);
    bool toF32 = getElementTypeOrSelf(op.getOut()).isF32();
    if (!format || (f16c && from.isF16() && toF32))
      return failure();
    BitBuilder bit(rewriter, op.getLoc(), op.getType());
    Value wide;
    if (f16c && from.isF16())
      wide =
          arith::ExtFOp::create(rewriter, op.getLoc(), bit.f32(), op.getIn());
    else
      wide = widen(bit, op.getIn(), *format);
    Type to = op.getType();
    if (toF32)
      rewriter.replaceOp(op, wide);
    else if (getElementTypeOrSelf(to).isF64())
      rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, to, wide);
    else
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, to, wide);
    return success();
  }
  bool f16c;
};

struct NarrowPattern : OpRewritePattern<arith::TruncFOp> {
  NarrowPattern(MLIRContext *ctx, bool f16c)
      : OpRewritePattern(ctx), f16c(f16c) {}
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type to = getElementTypeOrSelf(op.getOut());
    Type from = getElementTypeOrSelf(op.getIn());
    std::optional<Format> format = Format::of(to);
    if (!format || (f16c && to.isF16() && from.isF32()))
      return failure();
    BitBuilder bit(rewriter, op.getLoc(), op.getType());
    Value value = op.getIn();
    if (from.isF64())
      value = roundToOdd(bit, value);
    else if (!from.isF32())
      value = arith::ExtFOp::create(rewriter, op.getLoc(), bit.f32(), value);
    if (f16c && to.isF16())
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), value);
    else
      rewriter.replaceOp(op, narrow(bit, value, to, *format));
    return success();
  }
  bool f16c;
};

struct ExpandNarrowFloatsPass
    : impl::CPUExpandNarrowFloatsBase<ExpandNarrowFloatsPass> {
  using CPUExpandNarrowFloatsBase::CPUExpandNarrowFloatsBase;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<WidenPattern, NarrowPattern>(&getContext(), f16c);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilec

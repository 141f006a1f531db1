//===- ExpandMath.cpp - f32 functions as arithmetic -------------*- C++ -*-===//
//
// A call of the C library in a loop keeps LLVM from vectorizing it. What
// kernels use most is therefore written out without branches: reduce the
// argument to a small interval, evaluate a polynomial there (coefficients
// fitted for the least greatest error), put the result together.
//
// Multiplications and additions may be contracted to one step ("contract"): on
// hosts that can, they are. Nothing is exact only because of that.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <limits>

using namespace mlir;

namespace tilec {

#define GEN_PASS_DEF_CPUEXPANDMATH
#include "codegen/CPU/Passes.h.inc"

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Builds f32 arithmetic.
class RealBuilder {
public:
  RealBuilder(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value real(float value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value word(int32_t value) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  }
  Value add(Value x, Value y) {
    return arith::AddFOp::create(b, loc, x, y, arith::FastMathFlags::contract);
  }
  Value subtract(Value x, Value y) {
    return arith::SubFOp::create(b, loc, x, y, arith::FastMathFlags::contract);
  }
  Value multiply(Value x, Value y) {
    return arith::MulFOp::create(b, loc, x, y, arith::FastMathFlags::contract);
  }
  Value multiplyAdd(Value x, Value y, Value z) {
    return add(multiply(x, y), z);
  }
  Value divide(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  /// A constant times a power of x and so on, lowest power first.
  Value polynomial(Value x, ArrayRef<float> coefficients) {
    Value sum = real(coefficients.back());
    for (float coefficient : llvm::reverse(coefficients.drop_back()))
      sum = multiplyAdd(sum, x, real(coefficient));
    return sum;
  }
  Value absolute(Value x) { return math::AbsFOp::create(b, loc, x); }
  Value withSignOf(Value magnitude, Value x) {
    return math::CopySignOp::create(b, loc, magnitude, x);
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  /// x brought into [low, high]; NaN stays.
  Value clamp(Value x, float low, float high) {
    Value limit = real(high);
    x = select(compare(arith::CmpFPredicate::OGT, x, limit), limit, x);
    limit = real(low);
    return select(compare(arith::CmpFPredicate::OLT, x, limit), limit, x);
  }
  Value bits(Value x) {
    return arith::BitcastOp::create(b, loc, b.getI32Type(), x);
  }
  Value fromBits(Value x) {
    return arith::BitcastOp::create(b, loc, b.getF32Type(), x);
  }

  Value exp(Value x);
  Value exp2(Value x);
  Value log(Value x, bool base2);
  Value tanh(Value x);
  Value erf(Value x);

  OpBuilder &b;
  Location loc;

private:
  struct Rounded {
    Value integer; // i32
    Value real;
  };
  Rounded round(Value x, float scale);
  Value scale(Value x, Value exponent);
};

/// x * scale rounded to an integer, for magnitudes below 2^22. In an f32 of
/// about 1.5 * 2^23 the units are the lowest bits.
RealBuilder::Rounded RealBuilder::round(Value x, float scale) {
  constexpr float shift = 0x1.8p23f;
  Value shifted = multiplyAdd(x, real(scale), real(shift));
  Value integer = arith::SubIOp::create(b, loc, bits(shifted),
                                        word(llvm::bit_cast<int32_t>(shift)));
  return {integer, subtract(shifted, real(shift))};
}

/// x * 2^exponent, in two steps, as the power alone may be out of range.
Value RealBuilder::scale(Value x, Value exponent) {
  Value half = arith::ShRSIOp::create(b, loc, exponent, word(1));
  Value rest = arith::SubIOp::create(b, loc, exponent, half);
  for (Value part : {half, rest}) {
    Value biased = arith::AddIOp::create(b, loc, part, word(127));
    Value power = arith::ShLIOp::create(b, loc, biased, word(23));
    // Not contracted: the first product must not be part of anything.
    x = arith::MulFOp::create(b, loc, x, fromBits(power));
  }
  return x;
}

Value RealBuilder::exp(Value x) {
  // Beyond these the result is 0 or infinity.
  x = clamp(x, -104.0f, 89.0f);
  Rounded n = round(x, 0x1.715476p+0f); // 1 / log 2
  // log 2 in two parts, the first short, so that its multiples are exact.
  Value r = multiplyAdd(n.real, real(-0x1.62ep-1f), x);
  r = multiplyAdd(n.real, real(-0x1.0bfbe8p-15f), r);
  Value q = polynomial(r, {0x1.fffffcp-2f, 0x1.55549p-3f, 0x1.5558f8p-5f,
                           0x1.123b04p-7f, 0x1.6a2246p-10f});
  Value p = multiplyAdd(multiply(r, r), q, r);
  return scale(add(p, real(1.0f)), n.integer);
}

Value RealBuilder::exp2(Value x) {
  x = clamp(x, -151.0f, 129.0f);
  Rounded n = round(x, 1.0f);
  Value r = subtract(x, n.real); // Exact.
  Value q = polynomial(r, {0x1.62e43p-1f, 0x1.ebfbdcp-3f, 0x1.c6aee6p-5f,
                           0x1.3b2d52p-7f, 0x1.5f4012p-10f, 0x1.41fa98p-13f});
  return scale(multiplyAdd(r, q, real(1.0f)), n.integer);
}

Value RealBuilder::log(Value x, bool base2) {
  // x = 2^e * (1 + f) with 1 + f between the square roots of 1/2 and of 2.
  Value isSubnormal = compare(arith::CmpFPredicate::OLT, x, real(0x1p-126f));
  Value normal =
      select(isSubnormal, arith::MulFOp::create(b, loc, x, real(0x1p23f)), x);
  Value integer = bits(normal);
  constexpr int32_t root = 0x3F3504F3; // The square root of 1/2.
  Value above = arith::SubIOp::create(b, loc, integer, word(root));
  Value exponent = arith::ShRSIOp::create(b, loc, above, word(23));
  Value mantissa = arith::SubIOp::create(
      b, loc, integer, arith::ShLIOp::create(b, loc, exponent, word(23)));
  Value f = subtract(fromBits(mantissa), real(1.0f));
  exponent = arith::SubIOp::create(b, loc, exponent,
                                   select(isSubnormal, word(23), word(0)));
  Value e = arith::SIToFPOp::create(b, loc, b.getF32Type(), exponent);

  Value square = multiply(f, f);
  Value p = polynomial(f, {0x1.555548p-2f, -0x1.000006p-2f, 0x1.99a4b6p-3f,
                           -0x1.555c4cp-3f, 0x1.23376p-3f, -0x1.fc222p-4f,
                           0x1.e6f0fp-4f, -0x1.de3bb4p-4f, 0x1.145614p-4f});
  p = multiply(multiply(square, f), p);
  Value result;
  if (base2) {
    // log(1 + f) = f + p; its product with log2(e) = 1 + rest, small parts
    // first.
    p = multiplyAdd(square, real(-0.5f), p);
    Value rest = real(0x1.c551dap-2f);
    result = multiply(p, rest);
    result = multiplyAdd(f, rest, result);
    result = add(add(add(result, p), f), e);
  } else {
    // log 2 in two parts again.
    p = multiplyAdd(e, real(-0x1.bd0106p-13f), p);
    p = multiplyAdd(square, real(-0.5f), p);
    result = multiplyAdd(e, real(0.693359375f), add(p, f));
  }
  // Infinity and NaN are their own logarithms; 0 and negative numbers.
  Value isOrdinary = compare(arith::CmpFPredicate::OLT, x, real(infinity));
  result = select(isOrdinary, result, x);
  Value zero = real(0.0f);
  Value atZero =
      select(compare(arith::CmpFPredicate::OLT, x, zero),
             real(std::numeric_limits<float>::quiet_NaN()), real(-infinity));
  return select(compare(arith::CmpFPredicate::OLE, x, zero), atZero, result);
}

Value RealBuilder::tanh(Value x) {
  Value t = absolute(x);
  Value z = multiply(x, x);
  Value p = polynomial(z, {-0x1.55553p-2f, 0x1.110692p-3f, -0x1.b827f8p-5f,
                           0x1.519c6cp-6f, -0x1.736384p-8f});
  Value small = multiplyAdd(multiply(z, x), p, x);
  // 1 - 2 / (exp(2 t) + 1)
  Value power = exp(add(t, t));
  Value large =
      subtract(real(1.0f), divide(real(2.0f), add(power, real(1.0f))));
  large = withSignOf(large, x);
  return select(compare(arith::CmpFPredicate::OLT, t, real(0.625f)), small,
                large);
}

Value RealBuilder::erf(Value x) {
  Value t = absolute(x);
  Value z = multiply(x, x);
  Value p = polynomial(z, {0x1.06eba6p-3f, -0x1.8126dcp-2f, 0x1.ce1904p-4f,
                           -0x1.b676c8p-6f, 0x1.46c22ap-8f, -0x1.3825a2p-11f});
  Value small = multiplyAdd(x, p, x);
  // 1 - exp(log(erfc(t))); at 4 the result has become 1.
  Value bounded = clamp(t, 0.0f, 4.0f);
  Value q =
      polynomial(bounded, {-0x1.9a493p-13f, -0x1.20af5cp+0f, -0x1.463cb6p-1f,
                           -0x1.a9b476p-4f, 0x1.6c2b0ap-6f, -0x1.8ee2aep-9f,
                           0x1.9aeb3p-13f});
  Value large = withSignOf(subtract(real(1.0f), exp(q)), x);
  return select(compare(arith::CmpFPredicate::OLT, t, real(0.925f)), small,
                large);
}

/// Replaces an f32 op by what `build` makes of its operand.
template <typename Op> struct ExpandPattern : OpRewritePattern<Op> {
  using Build = Value (*)(RealBuilder &, Value);
  ExpandPattern(MLIRContext *ctx, Build build)
      : OpRewritePattern<Op>(ctx), build(build) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    RealBuilder builder(rewriter, op.getLoc());
    rewriter.replaceOp(op, build(builder, op.getOperand()));
    return success();
  }
  Build build;
};

/// The greater or less of two numbers, of which a NaN is none, as comparisons.
/// LLVM 22 has an intrinsic for it, but vectorizes a reduction with that
/// wrongly: where the length is no multiple of the vector the rest is left out.
template <typename Op> struct ExpandNumberPattern : OpRewritePattern<Op> {
  ExpandNumberPattern(MLIRContext *ctx, arith::CmpFPredicate predicate)
      : OpRewritePattern<Op>(ctx), predicate(predicate) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    RealBuilder b(rewriter, op.getLoc());
    Value x = op.getLhs(), y = op.getRhs();
    Value isBetter = b.compare(predicate, x, y);
    Value isNaN = b.compare(arith::CmpFPredicate::UNO, y, y);
    rewriter.replaceOp(op, b.select(isNaN, x, b.select(isBetter, x, y)));
    return success();
  }
  arith::CmpFPredicate predicate;
};

struct ExpandMathPass : impl::CPUExpandMathBase<ExpandMathPass> {
  void runOnOperation() override {
    MLIRContext *ctx = &getContext();
    RewritePatternSet patterns(ctx);
    patterns.add<ExpandPattern<math::ExpOp>>(
        ctx, [](RealBuilder &b, Value x) { return b.exp(x); });
    patterns.add<ExpandPattern<math::Exp2Op>>(
        ctx, [](RealBuilder &b, Value x) { return b.exp2(x); });
    patterns.add<ExpandPattern<math::LogOp>>(
        ctx, [](RealBuilder &b, Value x) { return b.log(x, false); });
    patterns.add<ExpandPattern<math::Log2Op>>(
        ctx, [](RealBuilder &b, Value x) { return b.log(x, true); });
    patterns.add<ExpandPattern<math::TanhOp>>(
        ctx, [](RealBuilder &b, Value x) { return b.tanh(x); });
    patterns.add<ExpandPattern<math::ErfOp>>(
        ctx, [](RealBuilder &b, Value x) { return b.erf(x); });
    patterns.add<ExpandPattern<math::ErfcOp>>(ctx, [](RealBuilder &b, Value x) {
      return b.subtract(b.real(1.0f), b.erf(x));
    });
    patterns.add<ExpandNumberPattern<arith::MaxNumFOp>>(
        ctx, arith::CmpFPredicate::OGT);
    patterns.add<ExpandNumberPattern<arith::MinNumFOp>>(
        ctx, arith::CmpFPredicate::OLT);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilec

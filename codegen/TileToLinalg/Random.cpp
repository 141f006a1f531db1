//===- Random.cpp - Philox and tf32 -----------------------------*- C++ -*-===//
//
// Two scalar computations written out, so that they vectorize like any other:
// the generator defined by lib/Support/Philox.h, and rounding to tf32.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToLinalg/KernelLowering.h"

using namespace mlir;

namespace tilec {

Value KernelLowering::philox(Value seed, Value offset) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto low = [&](Value word) -> Value {
    return arith::TruncIOp::create(b, loc, i32, word);
  };
  auto high = [&](Value word) -> Value {
    return low(arith::ShRUIOp::create(b, loc, word, constantInt(i64, 32)));
  };
  auto exclusiveOr = [&](Value x, Value y) -> Value {
    return arith::XOrIOp::create(b, loc, x, y);
  };
  auto product = [&](Value word, uint32_t multiplier) -> Value {
    Value wide = arith::ExtUIOp::create(b, loc, i64, word);
    return arith::MulIOp::create(b, loc, wide,
                                 constantInt(i64, int64_t(multiplier)));
  };
  Value zero = constantInt(i32, 0);
  Value counter[4] = {low(offset), high(offset), zero, zero};
  Value key[2] = {low(seed), high(seed)};
  for (int round = 0; round < 10; ++round) {
    Value product0 = product(counter[0], 0xD2511F53);
    Value product1 = product(counter[2], 0xCD9E8D57);
    Value next0 = exclusiveOr(exclusiveOr(high(product1), counter[1]), key[0]);
    Value next2 = exclusiveOr(exclusiveOr(high(product0), counter[3]), key[1]);
    counter[0] = next0;
    counter[1] = low(product1);
    counter[2] = next2;
    counter[3] = low(product0);
    key[0] = arith::AddIOp::create(b, loc, key[0],
                                   constantInt(i32, int32_t(0x9E3779B9)));
    key[1] = arith::AddIOp::create(b, loc, key[1],
                                   constantInt(i32, int32_t(0xBB67AE85)));
  }
  Value bits = arith::ShRUIOp::create(b, loc, counter[0], constantInt(i32, 8));
  // Below 2^24, so the signed conversion, which every host has, is right.
  Value number = arith::SIToFPOp::create(b, loc, b.getF32Type(), bits);
  return arith::MulFOp::create(b, loc, number,
                               constant(b.getF32Type(), 0x1p-24));
}

void KernelLowering::lower(tile::RandomOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type) {
    b.replaceAllUsesWith(op.getResult(), philox(op.getSeed(), op.getOffset()));
    return;
  }
  Value numbers = elementwise(
      op.getOffset(), type.getShape(), b.getF32Type(), [&](ValueRange lanes) {
        return SmallVector<Value>{philox(op.getSeed(), lanes.front())};
      });
  b.replaceAllUsesWith(op.getResult(), numbers);
}

Value KernelLowering::roundTF32(Value scalar) {
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  Value bits = arith::BitcastOp::create(b, loc, i32, scalar);
  // To nearest, ties to even: half a unit less one, plus the lowest bit kept.
  Value lowest = arith::ShRUIOp::create(b, loc, bits, constantInt(i32, 13));
  lowest = arith::AndIOp::create(b, loc, lowest, constantInt(i32, 1));
  Value rounded = arith::AddIOp::create(b, loc, bits, constantInt(i32, 0xFFF));
  rounded = arith::AddIOp::create(b, loc, rounded, lowest);
  rounded = arith::AndIOp::create(b, loc, rounded,
                                  constantInt(i32, ~int32_t(0x1FFF)));
  Value number = arith::BitcastOp::create(b, loc, f32, rounded);
  // A NaN's significand could be carried away, so it stays as it is, but with
  // the bits that tf32 does not have cleared, and quiet.
  Value quiet = arith::OrIOp::create(b, loc, bits, constantInt(i32, 1 << 22));
  quiet =
      arith::AndIOp::create(b, loc, quiet, constantInt(i32, ~int32_t(0x1FFF)));
  Value nan = arith::BitcastOp::create(b, loc, f32, quiet);
  Value isNaN =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, scalar, scalar);
  return arith::SelectOp::create(b, loc, isNaN, nan, number);
}

void KernelLowering::lower(tile::RoundTF32Op op) {
  lowerUnary(op, [&](Value lane) { return roundTF32(lane); });
}

} // namespace tilec

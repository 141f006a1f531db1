//===- ExpandAttention.cpp - Attention as an online softmax ----*- C++ -*-===//
//
// Writes tile.attention out as a loop over tiles of keys. With x a score, m the
// greatest of a row so far, l and o the sums relative to it, one step is
//
//     m' = max(m, max_j x_j)       p_j = 2^(c (x_j - m'))
//     a  = 2^(c (m - m'))          l'  = l a + sum_j p_j
//                                  o'  = o a + sum_j p_j v_j
//
// and in the end the row is o / l. Base 2, because that is the exponential
// which GPUs have: e^y is 2^(c y) with c = log2 e. The factor c takes in the
// scale where no score function comes between:
//
//   score function    x is          c is             needs
//   yes               score(scale s)  log2 e
//   no                s             scale log2 e     scale a positive constant
//   no                c s           -                nothing
//
// (s is the product of query and key. The largest s has the largest score only
// if the scale is positive, hence the third row.)
//
// Masked scores are -inf. A row in which all are has m' = -inf, and there
// x - m' would be NaN: it subtracts 0 instead, so that p = 2^-inf = 0, and l
// and o are 0.
//
// Values have the names that people give them, since code for GPUs takes over
// the names of locations.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/Passes.h"
#include "dialects/Tile/Transforms/RegionTensorizer.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

namespace mlir::tile {
#define GEN_PASS_DEF_TILEEXPANDATTENTION
#include "dialects/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

static constexpr double log2E = 1.44269504088896340736;

/// The number that a scalar is, where it is computed from constants by what the
/// front end makes of `rsqrt(D)` and the like.
static std::optional<double> evaluateConstant(Value value) {
  FloatAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.getValueAsDouble();
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<arith::SIToFPOp>(op)) {
    APInt integer;
    if (matchPattern(op->getOperand(0), m_ConstantInt(&integer)))
      return integer.roundToDouble(/*isSigned=*/true);
    return std::nullopt;
  }
  if (!isa<math::RsqrtOp, math::SqrtOp, arith::DivFOp, arith::MulFOp>(op))
    return std::nullopt;
  SmallVector<double, 2> operands;
  for (Value operand : op->getOperands()) {
    std::optional<double> x = evaluateConstant(operand);
    if (!x)
      return std::nullopt;
    operands.push_back(*x);
  }
  if (isa<math::RsqrtOp>(op))
    return 1 / std::sqrt(operands[0]);
  if (isa<math::SqrtOp>(op))
    return std::sqrt(operands[0]);
  if (isa<arith::DivFOp>(op))
    return operands[0] / operands[1];
  return operands[0] * operands[1];
}

/// The place of a location that may have a name.
static Location withoutName(Location loc) {
  while (auto named = dyn_cast<NameLoc>(loc))
    loc = named.getChildLoc();
  return loc;
}

namespace {

/// What a row carries from tile to tile.
struct Carried {
  Value greatest, sum, weighted;
};

class AttentionExpander {
public:
  explicit AttentionExpander(AttentionOp op)
      : op(op), before(withoutName(op.getLoc()), op),
        in(withoutName(op.getLoc()), op.getContext()),
        rows(op.getQuery().getType().getDimSize(0)), keys(op.getKvTile()),
        headDim(op.getQuery().getType().getDimSize(1)),
        valueDim(op.getResult().getType().getDimSize(1)),
        regions(rows, keys, before, in) {}

  LogicalResult expand();

private:
  void chooseExponent();
  LogicalResult buildBody(Value begin, Value extent, Carried carried);
  FailureOr<Value> buildMask();
  FailureOr<Carried> buildStep(Value begin, Carried carried);
  FailureOr<Value> buildScores(Value begin);
  Carried accumulate(Value scores, Value begin, Carried carried);
  void finish(Carried carried);

  Value loadTile(Value view, Value begin, int64_t extent);
  Value dotF32(Value lhs, Value rhs, int64_t contractedOfRhs, Value acc);
  Lanes readableLanes(unsigned axes);
  Lanes visibleLanes(unsigned axes);

  RankedTensorType f32Type(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, in.getF32Type());
  }
  Value constant(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape, float x) {
    return arith::ConstantOp::create(
        b, cast<TypedAttr>(DenseElementsAttr::get(f32Type(shape), x)));
  }
  Value constantIndex(ImplicitLocOpBuilder &b, int64_t x) {
    return arith::ConstantIndexOp::create(b, x);
  }
  /// Gives a value a name.
  Value named(const Twine &name, Value value) {
    value.setLoc(NameLoc::get(in.getStringAttr(name), in.getLoc()));
    return value;
  }
  Value broadcastRows(ImplicitLocOpBuilder &b, Value value, int64_t columns) {
    auto type = cast<RankedTensorType>(value.getType());
    return BroadcastOp::create(
        b, RankedTensorType::get({rows, columns}, type.getElementType()), value,
        ValueRange(), ArrayRef<int64_t>(0));
  }
  Value splat(ImplicitLocOpBuilder &b, Value scalar, ArrayRef<int64_t> shape) {
    return tensor::SplatOp::create(
        b, scalar, RankedTensorType::get(shape, scalar.getType()));
  }

  bool hasScore() { return !op.getScore().empty(); }
  bool hasMask() { return !op.getMask().empty(); }

  AttentionOp op;
  /// In front of the loop, and in its body.
  ImplicitLocOpBuilder before, in;
  int64_t rows, keys, headDim, valueDim;
  RegionTensorizer regions;

  /// The scalar that products are multiplied by to give x; null for none.
  Value productScale;
  /// The factor c above, if exponents have one.
  std::optional<float> factor;
  /// x times this is the natural logarithm's scale.
  float toNatural = 1;

  Lanes rowPositions, keyPositions;
  /// How many keys of the tile at hand exist.
  Value validKeys;
  /// [rows, keys]: where the mask holds, for keys that exist; or null.
  Value visible;
};

} // namespace

/// See the table at the top.
void AttentionExpander::chooseExponent() {
  Value scale = op.getScale();
  std::optional<double> constantScale = evaluateConstant(scale);
  if (hasScore()) {
    if (!constantScale || static_cast<float>(*constantScale) != 1.0f)
      productScale = scale;
    factor = static_cast<float>(log2E);
    return;
  }
  if (constantScale) {
    auto combined = static_cast<float>(*constantScale * log2E);
    if (combined > 0 && std::isnormal(combined)) {
      factor = combined;
      toNatural = static_cast<float>(*constantScale);
      return;
    }
  }
  Value toBase2 = arith::ConstantOp::create(
      before, before.getF32FloatAttr(static_cast<float>(log2E)));
  productScale = arith::MulFOp::create(before, scale, toBase2);
  toNatural = static_cast<float>(1 / log2E);
}

/// Where a gather of the mask region may read.
Lanes AttentionExpander::readableLanes(unsigned axes) {
  Value validRows = axes & Lanes::Rows ? op.getValidRows() : Value();
  bool needsKeys = axes & Lanes::Keys;
  if (!validRows && !needsKeys)
    return {};
  ImplicitLocOpBuilder &b = needsKeys ? in : before;
  auto type = cast<RankedTensorType>(regions.typeAlong(axes, b.getI1Type()));
  SmallVector<Value, 2> valid;
  if (axes & Lanes::Rows)
    valid.push_back(validRows ? validRows : constantIndex(b, rows));
  if (needsKeys)
    valid.push_back(validKeys);
  Value all = arith::ConstantOp::create(
      b, cast<TypedAttr>(DenseElementsAttr::get(type, true)));
  Value mask = SelectValidOp::create(b, type, all, valid, Pad::Zero);
  return {mask, axes, /*hoisted=*/!needsKeys};
}

/// Where a gather of the score region may read: only where the mask holds.
Lanes AttentionExpander::visibleLanes(unsigned axes) {
  if (!visible || axes == Lanes::None)
    return readableLanes(axes);
  Value mask = visible;
  if (op.getValidRows())
    mask = SelectValidOp::create(
        in, mask.getType(), mask,
        ValueRange{op.getValidRows(), constantIndex(in, keys)}, Pad::Zero);
  if (axes != Lanes::Both)
    mask = ReduceOp::create(in, regions.typeAlong(axes, in.getI1Type()),
                            ReduceKind::Any, mask,
                            ArrayRef<int64_t>(axes == Lanes::Rows ? 1 : 0));
  return {mask, axes, /*hoisted=*/false};
}

LogicalResult AttentionExpander::expand() {
  if (!op.getQuery().getType().hasStaticShape() ||
      !op.getResult().getType().hasStaticShape())
    return op.emitOpError()
           << "expected static extents to expand, found "
           << op.getQuery().getType() << " and " << op.getResult().getType();
  chooseExponent();
  Value zero = constantIndex(before, 0);
  Value step = constantIndex(before, keys);
  Value extent = before.createOrFold<DimOp>(op.getKeys(), 0);
  if (hasScore() || hasMask())
    rowPositions = {
        IotaOp::create(before, RankedTensorType::get(rows, before.getI64Type()),
                       op.getRowBegin(), ValueRange()),
        Lanes::Rows, /*hoisted=*/true};
  Carried start{named("row_max", constant(before, rows, -INFINITY)),
                named("row_sum", constant(before, rows, 0)),
                named("acc", constant(before, {rows, valueDim}, 0))};
  auto loop =
      scf::ForOp::create(before, zero, extent, step,
                         ValueRange{start.greatest, start.sum, start.weighted});
  named("kv", loop.getInductionVar());
  // Ops that do not depend on the keys go in front of the loop.
  before.setInsertionPoint(loop);
  in.setInsertionPointToStart(loop.getBody());
  ValueRange carried = loop.getRegionIterArgs();
  if (failed(buildBody(loop.getInductionVar(), extent,
                       {carried[0], carried[1], carried[2]})))
    return failure();
  before.setInsertionPointAfter(loop);
  finish({loop.getResult(0), loop.getResult(1), loop.getResult(2)});
  return success();
}

LogicalResult AttentionExpander::buildBody(Value begin, Value extent,
                                           Carried carried) {
  validKeys = named("valid_kv", ValidOp::create(in, begin, extent, keys));
  if (hasScore() || hasMask())
    keyPositions = {IotaOp::create(in,
                                   RankedTensorType::get(keys, in.getI64Type()),
                                   begin, ValueRange()),
                    Lanes::Keys, /*hoisted=*/false};
  auto yield = [&](const Carried &next) {
    scf::YieldOp::create(in,
                         ValueRange{next.greatest, next.sum, next.weighted});
  };
  if (!hasMask()) {
    FailureOr<Carried> next = buildStep(begin, carried);
    if (failed(next))
      return failure();
    yield(*next);
    return success();
  }

  FailureOr<Value> mask = buildMask();
  if (failed(mask))
    return failure();
  // Rows beyond the valid ones are left in: no harm comes of them, and with a
  // constant extent the op folds away where every key exists.
  visible = SelectValidOp::create(
      in, named("visible", *mask).getType(), *mask,
      ValueRange{constantIndex(in, rows), validKeys}, Pad::Zero);
  named("visible", visible);
  Value any =
      ReduceOp::create(in, RankedTensorType::get({}, in.getI1Type()),
                       ReduceKind::Any, visible, ArrayRef<int64_t>{0, 1});
  named("any_visible", any);
  Value visit = tensor::ExtractOp::create(in, any, ValueRange());
  // A tile in which nothing is visible changes nothing; tile-split-loops finds
  // out which those are, and the test goes.
  SmallVector<Type> types = {carried.greatest.getType(), carried.sum.getType(),
                             carried.weighted.getType()};
  auto guard = scf::IfOp::create(in, types, visit, /*withElseRegion=*/true);
  in.setInsertionPointToStart(guard.thenBlock());
  FailureOr<Carried> next = buildStep(begin, carried);
  if (failed(next))
    return failure();
  yield(*next);
  in.setInsertionPointToStart(guard.elseBlock());
  yield(carried);
  in.setInsertionPointAfter(guard);
  scf::YieldOp::create(in, guard.getResults());
  return success();
}

FailureOr<Value> AttentionExpander::buildMask() {
  return regions.run(op.getMask(), {rowPositions, keyPositions},
                     [&](unsigned axes) { return readableLanes(axes); });
}

FailureOr<Carried> AttentionExpander::buildStep(Value begin, Carried carried) {
  FailureOr<Value> scores = buildScores(begin);
  if (failed(scores))
    return failure();
  return accumulate(*scores, begin, carried);
}

/// The x of the table at the top, -inf where nothing is visible.
FailureOr<Value> AttentionExpander::buildScores(Value begin) {
  Value k = loadTile(op.getKeys(), begin, headDim);
  Value scores = named("scores", dotF32(op.getQuery(), k,
                                        /*contractedOfRhs=*/1, Value()));
  if (productScale)
    scores =
        named("scores", arith::MulFOp::create(
                            in, scores, splat(in, productScale, {rows, keys})));
  if (hasScore()) {
    FailureOr<Value> result = regions.run(
        op.getScore(),
        {{scores, Lanes::Both, /*hoisted=*/false}, rowPositions, keyPositions},
        [&](unsigned axes) { return visibleLanes(axes); });
    if (failed(result))
      return failure();
    scores = named("scores", *result);
  }
  if (visible)
    return named("scores", arith::SelectOp::create(
                               in, visible, scores,
                               constant(in, {rows, keys}, -INFINITY)));
  return named("scores", SelectValidOp::create(
                             in, scores.getType(), scores,
                             ValueRange{constantIndex(in, rows), validKeys},
                             Pad::Lowest));
}

Carried AttentionExpander::accumulate(Value scores, Value begin,
                                      Carried carried) {
  Value ofTile = ReduceOp::create(in, f32Type(rows), ReduceKind::Max, scores,
                                  ArrayRef<int64_t>(1));
  named("tile_max", ofTile);
  Value greatest =
      named("new_max", arith::MaximumFOp::create(in, carried.greatest, ofTile));
  Value isEmpty = arith::CmpFOp::create(in, arith::CmpFPredicate::OEQ, greatest,
                                        constant(in, rows, -INFINITY));
  Value reference =
      arith::SelectOp::create(in, isEmpty, constant(in, rows, 0), greatest);

  Value exponents =
      arith::SubFOp::create(in, scores, broadcastRows(in, reference, keys));
  Value shrink = arith::SubFOp::create(in, carried.greatest, reference);
  if (factor) {
    // Subtract first: c s - c m as one fused operation rounds c m, which for
    // scores of large magnitude (-1e10 stands for "hidden" in many programs) is
    // off by more than an exponent can be, and may overflow.
    exponents = arith::MulFOp::create(in, exponents,
                                      constant(in, {rows, keys}, *factor));
    shrink = arith::MulFOp::create(in, shrink, constant(in, rows, *factor));
  }
  named("reference", reference);
  Value p = named("weights", math::Exp2Op::create(in, exponents));
  shrink = named("correction", math::Exp2Op::create(in, shrink));

  Value ofRow = ReduceOp::create(in, f32Type(rows), ReduceKind::Sum, p,
                                 ArrayRef<int64_t>(1));
  named("tile_sum", ofRow);
  Value sum = arith::AddFOp::create(
      in, arith::MulFOp::create(in, carried.sum, shrink), ofRow);
  named("new_sum", sum);

  Value v = loadTile(op.getValues(), begin, valueDim);
  auto element = cast<RankedTensorType>(v.getType()).getElementType();
  if (element.isBF16() || element.isF16())
    p = named(Twine("weights_") + Twine(element.isBF16() ? "bf16" : "f16"),
              arith::TruncFOp::create(
                  in, RankedTensorType::get({rows, keys}, element), p));
  Value rescaled =
      named("acc", arith::MulFOp::create(in, carried.weighted,
                                         broadcastRows(in, shrink, valueDim)));
  Value weighted = named("acc", dotF32(p, v, /*contractedOfRhs=*/0, rescaled));
  return {greatest, sum, weighted};
}

void AttentionExpander::finish(Carried carried) {
  ImplicitLocOpBuilder &b = before;
  Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                        carried.sum, constant(b, rows, 0));
  named("is_empty", isEmpty);
  Value inverse = named(
      "inverse", arith::DivFOp::create(b, constant(b, rows, 1), carried.sum));
  Value result = arith::MulFOp::create(b, carried.weighted,
                                       broadcastRows(b, inverse, valueDim));
  result = arith::SelectOp::create(b, broadcastRows(b, isEmpty, valueDim),
                                   constant(b, {rows, valueDim}, 0), result);
  result.setLoc(op.getLoc());
  op.getResult().replaceAllUsesWith(result);

  if (!op.getLse().use_empty()) {
    Value natural = carried.greatest;
    if (toNatural != 1)
      natural = arith::MulFOp::create(b, natural, constant(b, rows, toNatural));
    Value log = math::LogOp::create(b, carried.sum);
    Value lse = arith::AddFOp::create(b, natural, log);
    lse =
        arith::SelectOp::create(b, isEmpty, constant(b, rows, -INFINITY), lse);
    op.getLse().replaceAllUsesWith(named("lse", lse));
  }
  op.erase();
}

/// The tile of keys or values at `begin`; keys that do not exist are zero,
/// which is what tile.dot asks of contracted axes.
Value AttentionExpander::loadTile(Value view, Value begin, int64_t extent) {
  auto type = cast<ViewType>(view.getType());
  return LoadOp::create(
      in, RankedTensorType::get({keys, extent}, type.getElementType()), view,
      ValueRange{begin, constantIndex(in, 0)},
      ValueRange{validKeys, constantIndex(in, extent)}, /*predicate=*/Value(),
      ArrayRef<int64_t>{0, 1}, Pad::Zero);
}

static Value toF32(ImplicitLocOpBuilder &b, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  auto result = RankedTensorType::get(type.getShape(), b.getF32Type());
  if (element.isF32())
    return value;
  if (element.isF64())
    return arith::TruncFOp::create(b, result, value);
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(b, result, value);
  return arith::SIToFPOp::create(b, result, value);
}

/// `lhs` times `rhs` in f32; on their own types if those multiply into f32.
Value AttentionExpander::dotF32(Value lhs, Value rhs, int64_t contractedOfRhs,
                                Value acc) {
  Type element =
      getDotResultElement(getElementTypeOrSelf(lhs), getElementTypeOrSelf(rhs));
  if (!element || !element.isF32()) {
    lhs = toF32(in, lhs);
    rhs = toF32(in, rhs);
  }
  int64_t columns =
      cast<RankedTensorType>(rhs.getType()).getDimSize(1 - contractedOfRhs);
  return DotOp::create(in, f32Type({rows, columns}), lhs, rhs, acc,
                       ArrayRef<int64_t>(1), contractedOfRhs,
                       ArrayRef<int64_t>(), ArrayRef<int64_t>());
}

namespace {

struct ExpandAttentionPass
    : tile::impl::TileExpandAttentionBase<ExpandAttentionPass> {
  void runOnOperation() override {
    SmallVector<AttentionOp> ops;
    getOperation()->walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops)
      if (failed(AttentionExpander(op).expand()))
        return signalPassFailure();
  }
};

} // namespace

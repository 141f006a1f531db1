//===- LoweringNumericTest.cpp - What scalar code computes ------*- C++ -*-===//
//
// Scalar expressions of the language are lowered with parameters as operands,
// the parameters are then replaced by constants, and MLIR's own folders compute
// the result. So the expansions (casts, division, functions) are compared with
// plain C++ without a backend.
//
//===----------------------------------------------------------------------===//

#include "TreeBuilder.h"
#include "dialects/Tile/IR/Tile.h"
#include "lib/Frontend/Lowering/IntegerOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>
#include <limits>

using namespace tilec;
using namespace tilec::test;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

struct Operand {
  DType dtype;
  double real = 0;
  int64_t integer = 0;
  Operand(DType dtype, double value) : dtype(dtype), real(value) {}
  Operand(DType dtype, int64_t value) : dtype(dtype), integer(value) {}
};

struct Result {
  double real = 0;
  int64_t integer = 0;
};

using Build = llvm::function_ref<Expr *(Tree &, llvm::ArrayRef<Expr *>)>;

mlir::TypedAttr constantOf(const Operand &operand, mlir::Type type) {
  if (auto real = llvm::dyn_cast<mlir::FloatType>(type))
    return mlir::FloatAttr::get(real, operand.real);
  unsigned width = type.getIntOrFloatBitWidth();
  return mlir::IntegerAttr::get(
      type, llvm::APInt(64, operand.integer).sextOrTrunc(width));
}

void fold(mlir::ModuleOp module) {
  mlir::MLIRContext *context = module.getContext();
  mlir::RewritePatternSet patterns(context);
  for (mlir::Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (mlir::RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, context);
  mlir::LogicalResult folded =
      mlir::applyPatternsGreedily(module, std::move(patterns));
  REQUIRE(mlir::succeeded(folded));
}

/// What `build`, a value of type `dtype`, of parameters with these values is.
Result evaluate(llvm::ArrayRef<Operand> operands, DType dtype, Build build) {
  Tree t;
  llvm::SmallVector<Expr *> params;
  for (const Operand &operand : operands)
    params.push_back(t.param(t.scalar("p", operand.dtype)));
  Param *y = t.tensor("Y", dtype, {t.dim("N")}, ast::Access::Out);
  t.store(t.body(), y, {t.at(t.integer(0), true)}, build(t, params));
  auto module = t.lower();
  REQUIRE(module);
  auto kernel = *module->getOps<mlir::tile::KernelOp>().begin();
  mlir::OpBuilder b(&kernel.getBody());
  for (auto [argument, operand] : llvm::zip(kernel.getArguments(), operands))
    argument.replaceAllUsesWith(mlir::arith::ConstantOp::create(
        b, kernel.getLoc(), constantOf(operand, argument.getType())));
  fold(*module);

  Result result;
  kernel.walk([&](mlir::tile::StoreOp store) {
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    INFO(text);
    mlir::DenseElementsAttr elements;
    REQUIRE(mlir::matchPattern(store.getValue(), mlir::m_Constant(&elements)));
    if (isFloat(dtype))
      result.real =
          (*elements.getValues<mlir::FloatAttr>().begin()).getValueAsDouble();
    else
      result.integer =
          (*elements.getValues<llvm::APInt>().begin()).getSExtValue();
  });
  return result;
}

double castToFloat(DType from, double value, DType to) {
  return evaluate({Operand(from, value)}, to,
                  [&](Tree &t, auto p) { return t.cast(to, p[0]); })
      .real;
}

int64_t castToInt(DType from, double value, DType to) {
  return evaluate({Operand(from, value)}, to,
                  [&](Tree &t, auto p) { return t.cast(to, p[0]); })
      .integer;
}

int64_t castInt(DType from, int64_t value, DType to) {
  return evaluate({Operand(from, value)}, to,
                  [&](Tree &t, auto p) { return t.cast(to, p[0]); })
      .integer;
}

double function(MathFn fn, double x, DType dtype = DType::F32) {
  return evaluate({Operand(dtype, x)}, dtype,
                  [&](Tree &t, auto p) { return t.math(fn, p[0]); })
      .real;
}

/// Floored division, the long way round.
int64_t floorDiv(int64_t n, int64_t d) {
  if (d == 0)
    return 0;
  if (d == -1)
    return static_cast<int64_t>(0 - static_cast<uint64_t>(n));
  return n / d - (n % d != 0 && (n % d < 0) != (d < 0));
}
int64_t floorMod(int64_t n, int64_t d) {
  if (d == 0 || d == -1)
    return 0;
  return n % d + (n % d != 0 && (n % d < 0) != (d < 0) ? d : 0);
}

} // namespace

TEST_CASE("integer division floors and is defined everywhere") {
  int64_t least = std::numeric_limits<int64_t>::min();
  for (int64_t n : {int64_t(0), int64_t(7), int64_t(-7), int64_t(8),
                    int64_t(-8), least, -(least + 1)})
    for (int64_t d : {int64_t(0), int64_t(1), int64_t(-1), int64_t(4),
                      int64_t(-4), int64_t(3), least})
      for (bool isConstant : {false, true}) {
        CAPTURE(n, d, isConstant);
        auto divide = [&](BinaryOp op) {
          return evaluate({Operand(DType::I64, n), Operand(DType::I64, d)},
                          DType::I64,
                          [&](Tree &t, auto p) {
                            return t.binary(op, p[0],
                                            isConstant ? t.integer(d) : p[1]);
                          })
              .integer;
        };
        CHECK(divide(BinaryOp::FloorDiv) == floorDiv(n, d));
        CHECK(divide(BinaryOp::FloorMod) == floorMod(n, d));
      }
}

TEST_CASE("division by a constant has the form that passes match") {
  Tree t;
  Dimension *n = t.dim("N");
  Param *y = t.tensor("Y", DType::I64, {n}, ast::Access::Out);
  Axis *an = t.tile("n", n, 8, true);
  Expr *mod = t.binary(BinaryOp::FloorMod, t.pos(an), t.integer(5));
  Expr *div = t.binary(BinaryOp::FloorDiv, t.pos(an), t.integer(5));
  t.store(t.body(), y, {t.at(an)}, mod);
  t.store(t.body(), y, {t.at(an)}, div);
  auto module = t.lower();
  REQUIRE(module);
  llvm::SmallVector<mlir::Value> stored;
  module->walk(
      [&](mlir::tile::StoreOp store) { stored.push_back(store.getValue()); });
  auto matchedMod = matchFloorMod(stored[0]),
       matchedDiv = matchFloorDiv(stored[1]);
  REQUIRE(matchedMod);
  REQUIRE(matchedDiv);
  CHECK(matchedMod->divisor == 5);
  CHECK(matchedDiv->divisor == 5);
  CHECK(matchedMod->numerator.getDefiningOp<mlir::tile::IotaOp>());
  CHECK(!matchFloorMod(stored[1]));
  CHECK(!matchFloorDiv(stored[0]));
}

TEST_CASE("floats become integers by truncation and saturation") {
  struct Case {
    DType to;
    double from;
    int64_t expected;
  };
  int64_t least = std::numeric_limits<int64_t>::min();
  for (Case c :
       {Case{DType::I32, 2.9, 2}, Case{DType::I32, -2.9, -2},
        Case{DType::I32, notANumber, 0}, Case{DType::I32, inf, INT32_MAX},
        Case{DType::I32, -inf, INT32_MIN},
        Case{DType::I32, 2147483648.0, INT32_MAX},
        Case{DType::I32, -2147483648.0, INT32_MIN},
        Case{DType::I64, 0x1p63, -(least + 1)},
        Case{DType::I64, -0x1p63, least}, Case{DType::I64, -0x1p80, least},
        Case{DType::I64, 1e15, 999999986991104}, Case{DType::I8, 127.5, 127},
        Case{DType::I8, 128, 127}, Case{DType::I8, -128.5, -128},
        Case{DType::I8, -200, -128}, Case{DType::I16, 40000, 32767},
        // As signed bits.
        Case{DType::U8, 255.9, -1}, Case{DType::U8, 256, -1},
        Case{DType::U8, 200, -56}, Case{DType::U8, -0.5, 0},
        Case{DType::U8, -3, 0}, Case{DType::U8, notANumber, 0}}) {
    CAPTURE(dtypeName(c.to).str(), c.from);
    CHECK(castToInt(DType::F32, c.from, c.to) == c.expected);
  }
  CHECK(castToInt(DType::F64, 1e15 + 0.75, DType::I64) == 1000000000000000);
  CHECK(castToInt(DType::BF16, 3.75, DType::I16) == 3);
}

TEST_CASE("integers become integers by wrapping") {
  CHECK(castInt(DType::I64, 0x1ffffffffll, DType::I32) == -1);
  CHECK(castInt(DType::I32, 300, DType::U8) == 44);
  CHECK(castInt(DType::U8, -1, DType::I32) == 255);
  CHECK(castInt(DType::I8, -1, DType::I32) == -1);
  CHECK(castInt(DType::U8, -1, DType::I8) == -1);
  CHECK(castInt(DType::Bool, 1, DType::I64) == 1);
  CHECK(evaluate({Operand(DType::U8, int64_t(-1))}, DType::F32,
                 [](Tree &t, auto p) { return t.cast(DType::F32, p[0]); })
            .real == 255);
  CHECK(evaluate({Operand(DType::Bool, int64_t(1))}, DType::BF16,
                 [](Tree &t, auto p) { return t.cast(DType::BF16, p[0]); })
            .real == 1);
  CHECK(evaluate({Operand(DType::I32, int64_t(-5))}, DType::F64,
                 [](Tree &t, auto p) { return t.cast(DType::F64, p[0]); })
            .real == -5);
}

TEST_CASE("floats become bool by comparison with zero") {
  auto toBool = [](double x) {
    return evaluate({Operand(DType::F32, x)}, DType::I32,
                    [](Tree &t, auto p) {
                      return t.cast(DType::I32, t.cast(DType::Bool, p[0]));
                    })
        .integer;
  };
  CHECK(toBool(0) == 0);
  CHECK(toBool(-0.0) == 0);
  CHECK(toBool(0.25) == 1);
  CHECK(toBool(notANumber) == 1);
}

TEST_CASE("floats become narrower floats") {
  CHECK(castToFloat(DType::F32, 500, DType::F8E4M3) == 448);
  CHECK(castToFloat(DType::F32, -inf, DType::F8E4M3) == -448);
  CHECK(castToFloat(DType::F32, inf, DType::F8E5M2) == 57344);
  // NaN is left alone by the clamp; that truncf keeps it is not folded.
  CHECK(std::isnan(castToFloat(DType::F32, notANumber, DType::F16)));
  CHECK(castToFloat(DType::F16, 1000, DType::F8E4M3) == 448);
  CHECK(castToFloat(DType::F16, 1.5, DType::BF16) == 1.5);
  CHECK(castToFloat(DType::F32, 1.1, DType::F64) == double(1.1f));
}

TEST_CASE("f64 becomes a narrow float in one rounding") {
  for (DType to : {DType::F16, DType::BF16}) {
    Tree t;
    Param *p = t.scalar("p", DType::F64);
    Param *y = t.tensor("Y", to, {t.dim("N")}, ast::Access::Out);
    t.store(t.body(), y, {t.at(t.integer(0), true)}, t.cast(to, t.param(p)));
    requireInOrder(t.text(), {"arith.truncf %p : f64 to "});
  }
}

TEST_CASE("constants are rounded to their type") {
  auto constant = [](double value, DType dtype) {
    return evaluate({}, dtype,
                    [&](Tree &t, auto) { return t.real(value, dtype); })
        .real;
  };
  CHECK(constant(0.1, DType::F32) == double(0.1f));
  CHECK(constant(1e9, DType::F8E4M3) == 448);
  CHECK(constant(-inf, DType::F32) == -inf);
  CHECK(constant(1 + 0x1p-11, DType::TF32) == 1);
  CHECK(constant(1 + 0x1p-10, DType::TF32) == 1 + 0x1p-10);
}

TEST_CASE("functions are right at the ends of the range") {
  for (DType dtype : {DType::F32, DType::F64}) {
    CHECK(function(MathFn::Sigmoid, -inf, dtype) == 0);
    CHECK(function(MathFn::Sigmoid, inf, dtype) == 1);
    CHECK(function(MathFn::Silu, -inf, dtype) == 0);
    CHECK(function(MathFn::Silu, inf, dtype) == inf);
    CHECK(std::isnan(function(MathFn::Silu, notANumber, dtype)));
    CHECK(function(MathFn::Gelu, -inf, dtype) == 0);
    CHECK(function(MathFn::Gelu, inf, dtype) == inf);
    CHECK(std::isnan(function(MathFn::Gelu, notANumber, dtype)));
    CHECK(function(MathFn::Relu, -1, dtype) == 0);
    CHECK(function(MathFn::Relu, 2, dtype) == 2);
    CHECK(std::isnan(function(MathFn::Relu, notANumber, dtype)));
    for (double x : {-4.0, -0.5, 0.0, 0.25, 3.0}) {
      CAPTURE(x);
      double sigmoid = 1 / (1 + std::exp(-x));
      CHECK(function(MathFn::Sigmoid, x, dtype) == Approx(sigmoid));
      CHECK(function(MathFn::Silu, x, dtype) == Approx(x * sigmoid));
      CHECK(function(MathFn::Gelu, x, dtype) ==
            Approx(x * (1 + std::erf(x / std::sqrt(2.0))) / 2).margin(1e-6));
    }
  }
  CHECK(function(MathFn::Round, 2.5) == 2);
  CHECK(function(MathFn::Round, -3.5) == -4);
}

TEST_CASE("comparisons and extremes treat NaN as the language says") {
  auto compare = [](BinaryOp op, double a, double b) {
    return evaluate({Operand(DType::F32, a), Operand(DType::F32, b)},
                    DType::I32,
                    [&](Tree &t, auto p) {
                      return t.cast(DType::I32, t.binary(op, p[0], p[1]));
                    })
        .integer;
  };
  CHECK(compare(BinaryOp::Eq, notANumber, notANumber) == 0);
  CHECK(compare(BinaryOp::Ne, notANumber, notANumber) == 1);
  CHECK(compare(BinaryOp::Ge, notANumber, 0) == 0);
  CHECK(compare(BinaryOp::Lt, 1, 2) == 1);
  auto extreme = [](BinaryOp op, double a, double b) {
    return evaluate({Operand(DType::F32, a), Operand(DType::F32, b)},
                    DType::F32,
                    [&](Tree &t, auto p) { return t.binary(op, p[0], p[1]); })
        .real;
  };
  CHECK(std::isnan(extreme(BinaryOp::Max, notANumber, 1)));
  CHECK(extreme(BinaryOp::FMax, notANumber, 1) == 1);
  CHECK(extreme(BinaryOp::FMin, 2, notANumber) == 2);
  // false < true, although the one bit of true is -1.
  CHECK(evaluate({Operand(DType::Bool, int64_t(0)),
                  Operand(DType::Bool, int64_t(1))},
                 DType::I32,
                 [](Tree &t, auto p) {
                   return t.cast(DType::I32,
                                 t.binary(BinaryOp::Lt, p[0], p[1]));
                 })
            .integer == 1);
}

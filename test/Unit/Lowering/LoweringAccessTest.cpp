//===- LoweringAccessTest.cpp - Reads, writes and their checks --*- C++ -*-===//
//
// Subscripts that cannot be proven, gathers and scatters and their masks, and
// the element types that memory holds differently.
//
//===----------------------------------------------------------------------===//

#include "TreeBuilder.h"

using namespace tilec;
using namespace tilec::test;

namespace {

/// X: f32[N], Y: out f32[M], grid m in tile(M, 8).
struct Shift : Tree {
  Dimension *n = dim("N"), *m = dim("M");
  Param *x = tensor("X", DType::F32, {n});
  Param *index = tensor("index", DType::I64, {m});
  Param *y = tensor("Y", DType::F32, {m}, ast::Access::Out);
  Axis *am = tile("m", m, 8, true);
};

} // namespace

TEST_CASE("a tile of another dimension is clamped and reported") {
  Shift t;
  t.store(t.body(), t.y, {t.at(t.am)}, t.load(t.x, {t.at(t.am, false)}));
  requireInOrder(t.text(),
                 {"%2 = tile.valid %arg0 to %0 size 8",
                  "tile.valid %arg0 to %1 size 8", "arith.addi %arg0, %2",
                  "arith.subi", "tile.in_bounds", " of %1", "arith.minsi %2",
                  "tile.load %X", "tile.store"});
}

TEST_CASE("inside where, only positions that are used are reported") {
  Shift t;
  Expr *inside = t.binary(BinaryOp::Lt, t.pos(t.am), t.extent(t.n));
  t.store(t.body(), t.y, {t.at(t.am)},
          t.where(inside, t.load(t.x, {t.at(t.am, false)}), t.real(0)));
  requireInOrder(t.text(), {"arith.cmpi slt", "tile.reduce any", "arith.select",
                            "tile.reduce max", "tile.in_bounds", " if ",
                            "tile.load %X", "arith.select"});
}

TEST_CASE("a scalar index guards the access, and is active in its branch") {
  Shift t;
  Param *flag = t.scalar("flag", DType::Bool);
  Param *i = t.scalar("i", DType::I64);
  Expr *read = t.load(t.x, {t.at(t.param(i))});
  t.store(t.body(), t.y, {t.at(t.am)}, t.where(t.param(flag), t.real(1), read));
  requireInOrder(t.text(),
                 {"%true", "arith.xori %flag", "tile.in_bounds %i of %", " if ",
                  "tile.load %X[", "dims [] if ", "tensor.extract",
                  "arith.select %flag"});
}

TEST_CASE("a gather is masked by validity and by where") {
  for (bool negated : {false, true}) {
    Shift t;
    Expr *position = t.load(t.index, {t.at(t.am)});
    Expr *condition = t.binary(BinaryOp::Ge, position, t.integer(0));
    Load *gather = t.load(t.x, {t.at(position)});
    REQUIRE(gather->isGather());
    t.store(t.body(), t.y, {t.at(t.am)},
            negated ? t.where(condition, t.real(0), gather)
                    : t.where(condition, gather, t.real(0)));
    std::string text = t.text();
    requireInOrder(text, {"arith.cmpi sge", "tile.select_valid",
                          "pad zero : tensor<8xi1>", "tile.gather %X[",
                          "mask %", "arith.select"});
    REQUIRE((text.find("arith.xori") != std::string::npos) == negated);
  }
}

TEST_CASE("a condition with more axes allows a lane if it holds anywhere") {
  Shift t;
  Dimension *k = t.dim("K");
  Param *w = t.tensor("W", DType::Bool, {t.m, k});
  Param *z = t.tensor("Z", DType::F32, {t.m, k}, ast::Access::Out);
  Axis *ak = t.tile("k", k, 4, true);
  Expr *condition = t.load(w, {t.at(t.am), t.at(ak)});
  Expr *gather = t.load(t.x, {t.at(t.load(t.index, {t.at(t.am)}))});
  t.store(t.body(), z, {t.at(t.am), t.at(ak)},
          t.where(condition, gather, t.real(0)));
  requireInOrder(t.text(),
                 {"tensor<8x4xi8>", "arith.cmpi ne", "tile.select_valid",
                  "tile.reduce any", "axes [1]", "tensor<8xi1>",
                  "tile.select_valid", "tile.gather", "mask"});
}

TEST_CASE("a whole axis among gather indices is iota") {
  Tree t;
  Dimension *n = t.dim("N"), *d = t.dim("D"), *m = t.dim("M");
  Param *x = t.tensor("X", DType::BF16, {n, d});
  Param *index = t.tensor("index", DType::I64, {m});
  Param *y = t.tensor("Y", DType::BF16, {m, d}, ast::Access::Out);
  Axis *am = t.whole(m), *ad = t.whole(d);
  t.options.dims["M"] = 3;
  t.store(t.body(), y, {t.at(am), t.at(ad)},
          t.load(x, {t.at(t.load(index, {t.at(am)})), t.at(ad)}));
  std::string text = t.text();
  requireInOrder(text, {"tile.dim %X, 1", "tile.iota %c0 size %",
                        "tile.gather %X", "tensor<3x?xbf16>"});
  requireAbsent(text, "mask");
}

TEST_CASE("scatter-add broadcasts its indices to the union of their axes") {
  Tree t;
  Dimension *m = t.dim("M"), *d = t.dim("D"), *n = t.dim("N");
  Param *index = t.tensor("index", DType::I64, {m});
  Param *y = t.tensor("Y", DType::F32, {n, d}, ast::Access::Add);
  Axis *am = t.tile("m", m, 4, true), *ad = t.whole(d);
  t.options.dims["D"] = 2;
  t.store(t.body(), y, {t.at(t.load(index, {t.at(am)})), t.at(ad)}, t.real(1),
          /*isAdd=*/true);
  requireInOrder(t.text(),
                 {"dense<1.000000e+00> : tensor<4x2xf32>", "tile.select_valid",
                  "tensor<4x2xi1>", "tile.scatter_add", "mask"});
}

TEST_CASE("add into a block is atomic") {
  Tree t;
  Dimension *n = t.dim("N");
  Param *y = t.tensor("Y", DType::F32, {n}, ast::Access::Add);
  Axis *an = t.tile("n", n, 4, true);
  t.store(t.body(), y, {t.at(an)}, t.real(1), /*isAdd=*/true);
  requireInOrder(t.text(), {"tile.atomic_add", "%Y[", "valid["});
}

TEST_CASE("memory holds bool as a byte, u8 as i8 and tf32 as f32") {
  Tree t;
  Dimension *n = t.dim("N");
  Param *flags = t.tensor("flags", DType::Bool, {n});
  Param *bytes = t.tensor("bytes", DType::U8, {n});
  Param *out = t.tensor("out", DType::Bool, {n}, ast::Access::Out);
  Param *wide = t.tensor("wide", DType::TF32, {n}, ast::Access::Out);
  Axis *an = t.tile("n", n, 4, true);
  t.store(t.body(), out, {t.at(an)},
          t.unary(UnaryOp::Not, t.load(flags, {t.at(an)})));
  Expr *number = t.cast(DType::F32, t.load(bytes, {t.at(an)}));
  t.store(t.body(), wide, {t.at(an)},
          t.cast(DType::TF32, t.binary(BinaryOp::Mul, number, t.real(0.1))));
  requireInOrder(t.text(),
                 {"%flags: !tile.view<?xi8>", "%bytes: !tile.view<?xi8>",
                  "%out: !tile.view<?xi8>", "%wide: !tile.view<?xf32>",
                  "tile.load %flags", "arith.cmpi ne", "arith.xori",
                  "arith.extui", "tile.store", "arith.uitofp",
                  "tile.round_tf32", "tile.store"});
}

TEST_CASE("assert holds in lanes outside the axis") {
  Tree t;
  Dimension *n = t.dim("N");
  Param *x = t.tensor("X", DType::F32, {n});
  Axis *an = t.tile("n", n, 4, true);
  auto *assertion = t.makeStmt<Assert>(t.body());
  assertion->condition =
      t.binary(BinaryOp::Gt, t.load(x, {t.at(an)}), t.real(0));
  assertion->message = "positive";
  auto *print = t.makeStmt<Print>(t.body());
  print->label = "x";
  print->values = {t.load(x, {t.at(an)})};
  requireInOrder(t.text(), {"arith.cmpf ogt", "tile.select_valid",
                            "pad one : tensor<4xi1>", "tile.assert",
                            "\"positive\"", "tile.print \"x\", %"});
}

TEST_CASE("division by zero is reported on request, where it counts") {
  for (bool report : {false, true}) {
    Shift t;
    t.options.reportDivisionByZero = report;
    Param *z = t.tensor("Z", DType::I64, {t.m}, ast::Access::Out);
    Expr *divisor = t.load(t.index, {t.at(t.am)});
    Expr *quotient = t.binary(BinaryOp::FloorDiv, t.integer(100), divisor);
    t.store(t.body(), z, {t.at(t.am)}, quotient);
    std::string text = t.text();
    if (report)
      requireInOrder(text, {"arith.cmpi eq", "tile.select_valid", "arith.andi",
                            "arith.xori", "tile.assert", "\"division by zero\"",
                            "arith.floordivsi"});
    else
      requireAbsent(text, "tile.assert");
  }
}

//===- LoweringTest.cpp - Structure of lowered kernels ----------*- C++ -*-===//
//
// Whole kernels, built as trees: signatures, grids, loops and branches, the
// forms of reductions and contractions, and attention.
//
//===----------------------------------------------------------------------===//

#include "TreeBuilder.h"

using namespace tilec;
using namespace tilec::test;

TEST_CASE("a copy has a grid, valid extents and the attributes of the launch") {
  Tree t;
  Dimension *n = t.dim("N");
  Param *x = t.tensor("X", DType::F32, {n});
  Param *y = t.tensor("Y", DType::F32, {n}, ast::Access::Out);
  Axis *an = t.tile("n", n, 128, true);
  t.store(t.body(), y, {t.at(an)}, t.load(x, {t.at(an)}));
  t.kernel.schedule.push_back({"stages", 3, "", t.range(8)});
  t.kernel.schedule.push_back({"order", 0, "zigzag", t.range(8)});
  t.options.unitStride = {0, -1};
  requireInOrder(
      t.text(),
      {"tile.kernel @k(%X: !tile.view<?xf32>", "tile.access = #tile.access<in>",
       "tile.dims = [\"N\"]", "tile.name = \"X\"", "tile.unit_stride = 0",
       "%Y: ", "#tile.access<out>", "tile.schedule", "n = 128",
       "order = \"zigzag\"", "stages = 3", "%0 = tile.dim %X, 0",
       "scf.forall (%arg0) = (0) to (%0) step (128)",
       "%1 = tile.valid %arg0 to %0 size 128",
       "%2 = tile.load %X[%arg0] dims [0] valid[%1] pad zero",
       "tile.store %2, %Y[%arg0] dims [0] valid[%1]", "tile.return"});
}

TEST_CASE("bound extents become static where an axis is whole") {
  for (bool all : {false, true}) {
    Tree t;
    Dimension *m = t.dim("M"), *n = t.dim("N");
    Param *x = t.tensor("X", DType::F32, {m, n});
    Param *y = t.tensor("Y", DType::F32, {m, n}, ast::Access::Out);
    Axis *am = t.tile("m", m, 16, true), *an = t.whole(n);
    t.store(t.body(), y, {t.at(am), t.at(an)}, t.load(x, {t.at(am), t.at(an)}));
    t.options.dims["M"] = 64;
    t.options.dims["N"] = 100;
    t.options.specializeAll = all;
    std::string text = t.text();
    if (all) {
      // 64 is a multiple of 16: there are no tails.
      requireInOrder(text, {"!tile.view<64x100xf32>", "to (64) step (16)",
                            "tile.load %X", "dims [0, 1] pad zero",
                            "tensor<16x100xf32>"});
      requireAbsent(text, "tile.valid");
    } else {
      requireInOrder(text, {"!tile.view<?x100xf32>", "tile.valid",
                            "tile.load %X", "valid[", "pad zero"});
    }
  }
}

TEST_CASE("an untiled kernel works on whole tensors") {
  Tree t;
  Dimension *m = t.dim("M"), *n = t.dim("N");
  Param *x = t.tensor("X", DType::F32, {m, n});
  Param *y = t.tensor("Y", DType::F32, {m, n}, ast::Access::Out);
  Axis *am = t.whole(m), *an = t.whole(n);
  Load *load = t.load(x, {t.at(am), t.at(an)});
  Expr *mean = t.reduce(ReduceKind::Mean, load, {an});
  t.store(t.body(), y, {t.at(am), t.at(an)},
          t.binary(BinaryOp::Sub, load, mean));
  t.options.dims["N"] = 8;
  std::string text = t.text();
  requireInOrder(text, {"%0 = tile.dim %X, 0", "tile.load %X",
                        "tensor<?x8xf32>", "tile.reduce sum", "axes [1]",
                        "tensor.splat", "arith.divf", "tile.broadcast",
                        "dims [0] sizes[%0]", "arith.subf", "tile.store"});
  requireAbsent(text, "scf.");
  requireAbsent(text, "valid");
}

TEST_CASE("a matrix product carries its accumulator and pads both operands") {
  Tree t;
  Dimension *m = t.dim("M"), *n = t.dim("N"), *k = t.dim("K");
  Param *a = t.tensor("A", DType::BF16, {m, k});
  Param *b = t.tensor("B", DType::BF16, {k, n});
  Param *c = t.tensor("C", DType::BF16, {m, n}, ast::Access::Out);
  Axis *am = t.tile("m", m, 64, true), *an = t.tile("n", n, 32, true);
  Axis *ak = t.tile("k", k, 16, false);
  Var *acc = t.define(t.body(), "acc", t.full(t.real(0), {am, an}));
  For *loop = t.loop(t.body(), ak->var);
  Dot *dot = t.dot(DType::F32, t.load(a, {t.at(am), t.at(ak)}),
                   t.load(b, {t.at(ak), t.at(an)}), {ak}, {am, an});
  t.assign(loop->body, acc, t.binary(BinaryOp::Add, t.ref(acc), dot));
  t.store(t.body(), c, {t.at(am), t.at(an)}, t.cast(DType::BF16, t.ref(acc)));
  std::string text = t.text(/*locations=*/true);
  requireInOrder(
      text,
      {"scf.forall (%arg0, %arg1) = (0, 0) to (%0, %1) step (64, 32)",
       "arith.constant dense<0.000000e+00> : tensor<64x32xf32> \"acc\"(#loc",
       "scf.for %arg2 = %c0 to %2 step %c16 iter_args(%arg3 = ",
       "tile.valid %arg2 to %2 size 16", "tile.select_valid", "pad zero",
       "tensor<64x16xbf16>", "tile.select_valid", "pad zero",
       "tensor<16x32xbf16>", "tile.dot", "contract [1] x [0] batch [] x []",
       "arith.addf %arg3", "\"acc\"(#loc", "scf.yield", "arith.truncf",
       "tile.store"});
}

TEST_CASE("a dot keeps batch axes first and contracts by name") {
  Tree t;
  Dimension *b = t.dim("B"), *m = t.dim("M"), *n = t.dim("N"), *k = t.dim("K");
  Param *x = t.tensor("X", DType::I8, {m, b, k});
  Param *y = t.tensor("Y", DType::U8, {k, n, b});
  Param *z = t.tensor("Z", DType::I32, {n, b, m}, ast::Access::Out);
  Axis *ab = t.whole(b), *am = t.whole(m), *an = t.whole(n), *ak = t.whole(k);
  Dot *dot =
      t.dot(DType::I32, t.load(x, {t.at(am), t.at(ab), t.at(ak)}),
            t.load(y, {t.at(ak), t.at(an), t.at(ab)}), {ak}, {ab, am, an});
  t.store(t.body(), z, {t.at(an), t.at(ab), t.at(am)}, dot);
  for (auto [name, extent] : {std::pair("B", 2), std::pair("M", 3),
                              std::pair("N", 5), std::pair("K", 7)})
    t.options.dims[name] = extent;
  requireInOrder(t.text(),
                 {"contract [2] x [0] batch [1] x [2]", "rhs_unsigned",
                  "-> tensor<2x3x5xi32>", "tile.broadcast", "dims [1, 2, 0]",
                  "tensor<5x2x3xi32>", "tile.store"});
}

TEST_CASE("a conditional loop yields the carried values where it skips") {
  Tree t;
  Dimension *m = t.dim("M"), *k = t.dim("K");
  Param *x = t.tensor("X", DType::F32, {m, k});
  Param *y = t.tensor("Y", DType::F32, {m}, ast::Access::Out);
  Axis *am = t.tile("m", m, 8, true), *ak = t.tile("k", k, 16, false);
  Var *acc = t.define(t.body(), "acc", t.full(t.real(0), {am}));
  Expr *mask = t.binary(BinaryOp::Ge, t.pos(am), t.pos(ak));
  For *loop =
      t.loop(t.body(), ak->var, t.reduce(ReduceKind::Any, mask, {am, ak}));
  Expr *sum = t.reduce(ReduceKind::Sum, t.load(x, {t.at(am), t.at(ak)}), {ak});
  t.assign(loop->body, acc, t.binary(BinaryOp::Add, t.ref(acc), sum));
  t.store(t.body(), y, {t.at(am)}, t.ref(acc));
  requireInOrder(t.text(),
                 {"iter_args(%arg2 = ", "tile.iota %arg1", "arith.cmpi sge",
                  "tile.select_valid", "pad zero", "tile.reduce any",
                  "axes [0, 1]", "tensor.extract", "scf.if", "tile.load",
                  "tile.select_valid", "pad zero", "tile.reduce sum",
                  "arith.addf %arg2", "scf.yield", "} else {",
                  "scf.yield %arg2", "scf.yield", "tile.store"});
}

TEST_CASE("a branch gives the variables it assigns, in order of definition") {
  Tree t;
  Dimension *n = t.dim("N");
  Param *flag = t.scalar("flag", DType::Bool);
  Param *y = t.tensor("Y", DType::F32, {n}, ast::Access::Out);
  Axis *an = t.tile("n", n, 8, true);
  Var *a = t.define(t.body(), "a", t.real(1), {an});
  Var *b = t.define(t.body(), "b", t.real(2));
  auto *branch = t.makeStmt<If>(t.body());
  branch->condition = t.param(flag);
  t.assign(branch->thenBody, b, t.real(3));
  t.define(branch->thenBody, "inner", t.real(4));
  t.assign(branch->elseBody, a, t.real(5));
  t.store(t.body(), y, {t.at(an)}, t.binary(BinaryOp::Add, t.ref(a), t.ref(b)));
  requireInOrder(t.text(),
                 {"dense<1.000000e+00> : tensor<8xf32>", "2.000000e+00 : f32",
                  ":2 = scf.if %flag -> (tensor<8xf32>, f32)", "3.000000e+00",
                  "scf.yield %cst, %", "else",
                  "dense<5.000000e+00> : tensor<8xf32>", "scf.yield", "#0",
                  "tile.store"});
}

TEST_CASE("softmax and logsumexp over a tile mask its tail twice") {
  for (bool isSoftmax : {true, false}) {
    Tree t;
    Dimension *n = t.dim("N");
    Param *x = t.tensor("X", DType::F32, {n});
    Param *y = t.tensor("Y", DType::F32, {n}, ast::Access::Out);
    Axis *an = t.tile("n", n, 8, true);
    Expr *load = t.load(x, {t.at(an)});
    Expr *value = isSoftmax ? t.scan(ScanKind::Softmax, load, an)
                            : t.reduce(ReduceKind::LogSumExp, load, {an});
    t.store(t.body(), y, {t.at(an)}, value);
    requireInOrder(t.text(),
                   {"tile.select_valid", "pad lowest", "tile.reduce max",
                    "arith.cmpf oeq", "arith.select", "arith.subf", "math.exp",
                    "tile.select_valid", "pad zero", "tile.reduce sum",
                    isSoftmax ? llvm::StringRef("arith.divf")
                              : llvm::StringRef("math.log"),
                    "tile.store"});
  }
}

TEST_CASE("argmax is absolute and counts valid lanes only") {
  Tree t;
  Dimension *m = t.dim("M"), *n = t.dim("N");
  Param *x = t.tensor("X", DType::F32, {m, n});
  Param *y = t.tensor("Y", DType::I64, {m}, ast::Access::Out);
  Axis *am = t.tile("m", m, 4, true), *an = t.tile("n", n, 8, false);
  For *loop = t.loop(t.body(), an->var);
  t.store(loop->body, y, {t.at(am)},
          t.reduce(ReduceKind::ArgMax, t.load(x, {t.at(am), t.at(an)}), {an}));
  requireInOrder(t.text(), {
                               "scf.for %arg1",
                               "arith.index_cast %arg1",
                               "tile.valid %arg1",
                               "tile.arg_reduce max",
                               "axis 1 valid %",
                           });
}

TEST_CASE("the mean over a tile divides by the valid positions") {
  Tree t;
  Dimension *n = t.dim("N");
  Param *x = t.tensor("X", DType::F32, {n});
  Param *y = t.tensor("Y", DType::F32, {n}, ast::Access::Out);
  Axis *an = t.tile("n", n, 8, true);
  t.store(t.body(), y, {t.at(an)},
          t.reduce(ReduceKind::Mean, t.load(x, {t.at(an)}), {an}));
  requireInOrder(t.text(), {"%1 = tile.valid", "tile.select_valid", "pad zero",
                            "tile.reduce sum", "arith.index_cast %1",
                            "arith.sitofp", "arith.divf"});
}

TEST_CASE("attention has scalar regions over slices") {
  Tree t;
  Dimension *h = t.dim("H"), *s = t.dim("S"), *d = t.dim("D"),
            *kvd = t.dim("T");
  Param *q = t.tensor("Q", DType::BF16, {h, s, d});
  Param *k = t.tensor("K", DType::BF16, {h, kvd, d});
  Param *v = t.tensor("V", DType::BF16, {h, kvd, d});
  Param *slope = t.tensor("slope", DType::F32, {h});
  Param *o = t.tensor("O", DType::F32, {h, s, d}, ast::Access::Out);
  Param *lse = t.tensor("lse", DType::F32, {h, s}, ast::Access::Out);
  t.options.dims["D"] = 64;
  LoopVar *hv = t.position("h", h, true);
  Axis *as = t.tile("i", s, 32, true);
  Axis *ad = t.whole(d), *akv = t.whole(kvd);
  auto *attention = t.make<Attention>(DType::F32, {as, ad});
  attention->query = t.load(q, {t.at(t.pos(hv), true), t.at(as), t.at(ad)});
  attention->keys = t.load(k, {t.at(t.pos(hv)), t.at(akv), t.at(ad)});
  attention->values = t.load(v, {t.at(t.pos(hv), true), t.at(akv), t.at(ad)});
  attention->row = as;
  attention->kv = akv;
  attention->d = attention->e = ad;
  attention->scale = t.real(0.125);
  attention->kvTile = 64;
  Var *sv = t.var("s", DType::F32), *qv = t.var("q", DType::I64),
      *kvv = t.var("kv", DType::I64);
  Expr *bias = t.load(slope, {t.at(t.pos(hv), true)});
  Expr *visible = t.binary(BinaryOp::Ge, t.ref(qv), t.ref(kvv));
  attention->score = Lambda{
      {sv, qv, kvv},
      t.where(visible, t.binary(BinaryOp::Sub, t.ref(sv), bias), t.ref(sv))};
  attention->mask = Lambda{{qv, kvv}, visible};
  t.kernel.attentions.push_back(attention);
  auto *stmt = t.makeStmt<AttentionStmt>(t.body());
  stmt->attention = attention;
  stmt->result = t.var("out", DType::F32, {as, ad});
  stmt->lse = t.var("l", DType::F32, {as});
  t.store(t.body(), o, {t.at(t.pos(hv), true), t.at(as), t.at(ad)},
          t.ref(stmt->result));
  t.store(t.body(), lse, {t.at(t.pos(hv), true), t.at(as)}, t.ref(stmt->lse));
  requireInOrder(t.text(), {"kv = 64",
                            "tile.load %Q",
                            "tile.in_bounds",
                            "tile.slice %K[",
                            "dims [1, 2] if %",
                            "tile.slice %V[",
                            "dims [1, 2]",
                            "= tile.attention",
                            "rows %arg1 valid %",
                            "kv_tile 64 score {",
                            "^bb0(%arg2: f32, %arg3: i64, %arg4: i64)",
                            "arith.cmpi sge, %arg3, %arg4",
                            "tile.gather %slope[",
                            "mask %",
                            "tile.yield",
                            "mask {",
                            "arith.cmpi sge",
                            "tile.yield",
                            "tile.store %result, %O[",
                            "tile.store %lse_0, %lse["});
}

TEST_CASE("attention of one row takes its axis off again") {
  Tree t;
  Dimension *d = t.dim("D"), *kvd = t.dim("T");
  Param *q = t.tensor("Q", DType::F32, {d});
  Param *k = t.tensor("K", DType::F32, {kvd, d});
  Param *o = t.tensor("O", DType::F32, {d}, ast::Access::Out);
  Axis *ad = t.whole(d), *akv = t.whole(kvd);
  t.options.dims["D"] = 16;
  auto *attention = t.make<Attention>(DType::F32, {ad});
  attention->query = t.load(q, {t.at(ad)});
  attention->keys = attention->values = t.load(k, {t.at(akv), t.at(ad)});
  attention->kv = akv;
  attention->d = attention->e = ad;
  attention->rowPosition = t.integer(7);
  attention->scale = t.real(1);
  attention->kvTile = 8;
  t.kernel.attentions.push_back(attention);
  t.store(t.body(), o, {t.at(ad)}, attention);
  requireInOrder(t.text(),
                 {"tile.broadcast", "tensor<16xf32> -> tensor<1x16xf32>",
                  "tile.attention", ", %K, %K", "rows %c7 kv_tile 8",
                  "tile.reduce max", "axes [0]", "tensor<16xf32>",
                  "tile.store"});
}

TEST_CASE("an unsettled schedule is an internal error") {
  Tree t;
  Dimension *n = t.dim("N");
  Param *y = t.tensor("Y", DType::F32, {n}, ast::Access::Out);
  Axis *an = t.tile("n", n, 0, true);
  t.store(t.body(), y, {t.at(an)}, t.real(0));
  REQUIRE(!t.lower());
  REQUIRE(t.diagnostics ==
          "internal error: the tile size of 'n' is not settled\n");
}

TEST_CASE("a grid over an expression is clamped at zero") {
  Tree t;
  Param *count = t.scalar("count", DType::I64);
  Param *y = t.tensor("Y", DType::F32, {t.dim("N")}, ast::Access::Out);
  LoopVar *var = t.position("i", nullptr, true);
  var->extent = t.param(count);
  t.store(t.body(), y, {t.at(t.pos(var))}, t.real(0));
  requireInOrder(t.text(),
                 {"arith.index_cast %count", "arith.maxsi", "scf.forall",
                  "tile.in_bounds", "tensor.from_elements", "tile.store",
                  "dims [] if %"});
}

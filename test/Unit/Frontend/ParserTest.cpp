//===- ParserTest.cpp - What programs parse to ------------------*- C++ -*-===//
//
// The shape of trees: precedence, newlines, every statement and declaration,
// and the two texts a tree can be printed as.
//
//===----------------------------------------------------------------------===//

#include "Parsing.h"

using namespace tilec;
using namespace tilec::test;
using namespace tilec::ast;

static std::string listOf(llvm::ArrayRef<Subscript> subscripts) {
  std::string text;
  for (const Subscript &subscript : subscripts)
    text += " " + (subscript.index ? treeOf(*subscript.index) : ":");
  return text;
}

std::string test::treeOf(const Expr &expr) {
  switch (expr.getKind()) {
  case Expr::Kind::IntLiteral:
    return std::to_string(llvm::cast<IntLiteral>(expr).getValue());
  case Expr::Kind::FloatLiteral:
    return llvm::cast<FloatLiteral>(expr).getText().str();
  case Expr::Kind::BoolLiteral:
    return llvm::cast<BoolLiteral>(expr).getValue() ? "true" : "false";
  case Expr::Kind::InfLiteral:
    return "inf";
  case Expr::Kind::NanLiteral:
    return "nan";
  case Expr::Kind::StringLiteral:
    return "\"" + llvm::cast<StringLiteral>(expr).getValue().str() + "\"";
  case Expr::Kind::Name:
    return llvm::cast<NameExpr>(expr).getName().str();
  case Expr::Kind::DType:
    return dtypeName(llvm::cast<DTypeExpr>(expr).getDType()).str();
  case Expr::Kind::Unary: {
    auto &unary = llvm::cast<UnaryExpr>(expr);
    return "(" + spelling(unary.getOp()).str() + " " +
           treeOf(*unary.getOperand()) + ")";
  }
  case Expr::Kind::Binary: {
    auto &binary = llvm::cast<BinaryExpr>(expr);
    return "(" + spelling(binary.getOp()).str() + " " +
           treeOf(*binary.getLHS()) + " " + treeOf(*binary.getRHS()) + ")";
  }
  case Expr::Kind::Call: {
    auto &call = llvm::cast<CallExpr>(expr);
    std::string text = "(call " + call.getCallee().str();
    for (const TypeArg &arg : call.getTypeArgs()) {
      text += " <";
      switch (arg.kind) {
      case TypeArg::Kind::Name:
        text += arg.name;
        break;
      case TypeArg::Kind::Int:
        text += std::to_string(arg.intValue);
        break;
      case TypeArg::Kind::Bool:
        text += arg.boolValue ? "true" : "false";
        break;
      case TypeArg::Kind::DType:
        text += dtypeName(arg.dtype);
        break;
      }
      text += ">";
    }
    for (const CallArg &arg : call.getArgs())
      text += " " + (arg.isNamed() ? arg.name.str() + "=" : "") +
              treeOf(*arg.value);
    return text + ")";
  }
  case Expr::Kind::Subscript: {
    auto &subscript = llvm::cast<SubscriptExpr>(expr);
    return "(at " + subscript.getBase()->getName().str() +
           listOf(subscript.getSubscripts()) + ")";
  }
  case Expr::Kind::Cast: {
    auto &cast = llvm::cast<CastExpr>(expr);
    return "(cast " + toSource(cast.getType()) + " " +
           treeOf(*cast.getOperand()) + ")";
  }
  case Expr::Kind::Lambda: {
    auto &lambda = llvm::cast<LambdaExpr>(expr);
    std::string text = "(lambda";
    for (const Ident &param : lambda.getParams())
      text += " " + param.name.str();
    return text + " " + treeOf(*lambda.getBody()) + ")";
  }
  case Expr::Kind::Zeros:
    return "(zeros " + toSource(llvm::cast<ZerosExpr>(expr).getType()) + ")";
  case Expr::Kind::Full: {
    auto &full = llvm::cast<FullExpr>(expr);
    return "(full " + toSource(full.getType()) + " " +
           treeOf(*full.getValue()) + ")";
  }
  }
  return "?";
}

/// The first statement of the last declaration, which must be a kernel.
static const Stmt &firstStmt(const Parsed &parsed) {
  auto *kernel = llvm::cast<KernelDecl>(parsed.file.decls.back());
  REQUIRE(!kernel->getBody()->getStmts().empty());
  return *kernel->getBody()->getStmts().front();
}

std::string test::exprTree(const std::string &text) {
  std::string program = "kernel k<T: dtype>() {\n  x = " + text + "\n}\n";
  requireRoundTrip(program);
  Parsed parsed(program);
  return treeOf(*llvm::cast<AssignStmt>(firstStmt(parsed)).getValue());
}

TEST_CASE("precedence and grouping", "[parser]") {
  REQUIRE(exprTree("a + b * c - d") == "(- (+ a (* b c)) d)");
  REQUIRE(exprTree("a - b - c") == "(- (- a b) c)");
  REQUIRE(exprTree("a / b % c * d") == "(* (% (/ a b) c) d)");
  REQUIRE(exprTree("a || b && c || d") == "(|| (|| a (&& b c)) d)");
  REQUIRE(exprTree("a == b && c < d") == "(&& (== a b) (< c d))");
  REQUIRE(exprTree("a + b < c * d") == "(< (+ a b) (* c d))");
  REQUIRE(exprTree("-a * b") == "(* (- a) b)");
  REQUIRE(exprTree("a - -b") == "(- a (- b))");
  REQUIRE(exprTree("!a && !!b") == "(&& (! a) (! (! b)))");
  REQUIRE(exprTree("-A[i]") == "(- (at A i))");
  REQUIRE(exprTree("a * (b + c)") == "(* a (+ b c))");
  REQUIRE(exprTree("a - (b - c)") == "(- a (- b c))");
  REQUIRE(exprTree("(a < b) == (c < d)") == "(== (< a b) (< c d))");
  REQUIRE(exprTree("((((a))))") == "a");
  REQUIRE(exprTree("a != b") == "(!= a b)");
  REQUIRE(exprTree("a <= b || a >= b") == "(|| (<= a b) (>= a b))");
}

TEST_CASE("literals", "[parser]") {
  REQUIRE(exprTree("0x1F + 1_000") == "(+ 31 1000)");
  REQUIRE(exprTree("9223372036854775807") == "9223372036854775807");
  REQUIRE(exprTree("-9223372036854775808") == "(- -9223372036854775808)");
  REQUIRE(exprTree("0x7fff_ffff_ffff_ffff") == "9223372036854775807");
  REQUIRE(exprTree("1_0.5e-1_0 + 2.") == "(+ 10.5e-10 2.)");
  REQUIRE(exprTree("-inf + nan") == "(+ (- inf) nan)");
  REQUIRE(exprTree("true || false") == "(|| true false)");
  Parsed parsed("fn f() -> f32 { 0.1 }\nfn g() -> f64 { 1e-400 }\n"
                "fn h() -> f64 { 1.7976931348623157e308 }\n"
                "fn i() -> f64 { 2.e3 }");
  REQUIRE(parsed.ok);
  auto value = [&](unsigned i) {
    auto *fn = llvm::cast<FnDecl>(parsed.file.decls[i]);
    auto *stmt = llvm::cast<ExprStmt>(fn->getBody()->getStmts()[0]);
    return llvm::cast<FloatLiteral>(stmt->getExpr())->getValue();
  };
  REQUIRE(value(0) == 0.1);
  REQUIRE(value(1) == 0.0);
  REQUIRE(value(2) == 1.7976931348623157e308);
  REQUIRE(value(3) == 2000.0);
}

TEST_CASE("calls and their arguments", "[parser]") {
  REQUIRE(exprTree("f()") == "(call f)");
  REQUIRE(exprTree("f(a, g(b), s = 1 + c)") ==
          "(call f a (call g b) s=(+ 1 c))");
  REQUIRE(exprTree("max<j>(s)") == "(call max <j> s)");
  REQUIRE(exprTree("f<j, 3, -4, true, false, bf16, T>(s)") ==
          "(call f <j> <3> <-4> <true> <false> <bf16> <T> s)");
  REQUIRE(exprTree("f<-9223372036854775808>(s)") ==
          "(call f <-9223372036854775808> s)");
  REQUIRE(exprTree("dot(a, b, precision = tf32)") ==
          "(call dot a b precision=tf32)");
  REQUIRE(exprTree("max<j>(s) - max<k>(t)") ==
          "(- (call max <j> s) (call max <k> t))");
  REQUIRE(exprTree("f(|q, kv| q >= kv, |x| x)") ==
          "(call f (lambda q kv (>= q kv)) (lambda x x))");
  REQUIRE(exprTree("f(a,)") == "(call f a)");
  REQUIRE(exprTree("assert(x, \"a\\n\\\"b\")") == "(call assert x \"a\n\"b\")");
}

TEST_CASE("a comparison is no type argument", "[parser]") {
  REQUIRE(exprTree("a < b") == "(< a b)");
  REQUIRE(exprTree("(a < b) && (c > (d))") == "(&& (< a b) (> c d))");
  REQUIRE(exprTree("f(a < b, c > d)") == "(call f (< a b) (> c d))");
  REQUIRE(exprTree("f(a < b + 1, c > (d))") ==
          "(call f (< a (+ b 1)) (> c d))");
  // The rule says call, however it is spaced.
  REQUIRE(exprTree("f(a < b, c > (d))") == "(call f (call a <b> <c> d))");
  // And the printer must not turn two comparisons into one.
  REQUIRE(exprTree("f((a < b), c > (d + e))") ==
          "(call f (< a b) (> c (+ d e)))");
  REQUIRE(exprTree("A[(x + a < b), c > (d + e)]") ==
          "(at A (< (+ x a) b) (> c (+ d e)))");
  REQUIRE(exprTree("f((|x| a < b), s = |x| c > (d + e))") ==
          "(call f (lambda x (< a b)) s=(lambda x (> c (+ d e))))");
}

TEST_CASE("subscripts, casts, tiles", "[parser]") {
  REQUIRE(exprTree("A[m, :, idx[k] + 1]") == "(at A m : (+ (at idx k) 1))");
  REQUIRE(exprTree("A[:]") == "(at A :)");
  REQUIRE(exprTree("bf16(x) + T(y)") == "(+ (cast bf16 x) (cast T y))");
  REQUIRE(exprTree("int(x)") == "(cast i64 x)");
  REQUIRE(exprTree("U(x)") == "(call U x)");
  REQUIRE(exprTree("zeros f32[m, 16] + zeros T") ==
          "(+ (zeros f32[m, 16]) (zeros T))");
  REQUIRE(exprTree("full f32[i] -inf") == "(full f32[i] (- inf))");
  REQUIRE(exprTree("full f32[i] 1 + 2") == "(+ (full f32[i] 1) 2)");
  REQUIRE(exprTree("full T (1 + 2)") == "(full T (+ 1 2))");
  REQUIRE(exprTree("full f32 full f32 0") == "(full f32 (full f32 0))");
}

TEST_CASE("lambdas reach as far as they can", "[parser]") {
  REQUIRE(exprTree("|a| |b| a + b") == "(lambda a (lambda b (+ a b)))");
  REQUIRE(exprTree("1 + (|x| x) + 2") == "(+ (+ 1 (lambda x x)) 2)");
  REQUIRE(exprTree("1 + |x| x + 2") == "(+ 1 (lambda x (+ x 2)))");
  REQUIRE(exprTree("-(|x| x)") == "(- (lambda x x))");
}

TEST_CASE("newlines end statements only where they can", "[parser]") {
  Parsed parsed(R"(
kernel k(A: f32[M],
         B: out f32[M])
    requires M > 0,
             M < 10
{
  a = 1 +
      2 *
      3
  b = f(1
        , 2
        + 3
  )
  c = (1
       - 2)
  d = A[
    m
  ]
  -d
  e, f =
    g()
  if a <
     b
  {
    x = 1
  }
  else
  {
  }
  q = max<
    j
  >(s)
}
)");
  // `-d` is a statement of its own, which a kernel has no use for.
  REQUIRE(parsed.messages() ==
          "test.tile:19:3: error: a line cannot begin with '-'\n"
          "  -d\n"
          "  ^\n"
          "  help: a line goes on after an operator, not before one: write the "
          "'-' at the end of the line before\n");
  auto *kernel = llvm::cast<KernelDecl>(parsed.file.decls[0]);
  REQUIRE(kernel->getRequirements().size() == 2);
  auto stmts = kernel->getBody()->getStmts();
  REQUIRE(stmts.size() == 7);
  auto value = [&](unsigned i) {
    return treeOf(*llvm::cast<AssignStmt>(stmts[i])->getValue());
  };
  REQUIRE(value(0) == "(+ 1 (* 2 3))");
  REQUIRE(value(1) == "(call f 1 (+ 2 3))");
  REQUIRE(value(2) == "(- 1 2)");
  REQUIRE(value(3) == "(at A m)");
  REQUIRE(value(4) == "(call g)");
  REQUIRE(llvm::isa<IfStmt>(stmts[5]));
  REQUIRE(value(6) == "(call max <j> s)");
}

TEST_CASE("statements", "[parser]") {
  std::string printed = requireRoundTrip(R"(
kernel k(A: f32[M], n: i64) {
  schedule { m = 128, order = zigzag
    persistent = true
    stages = 4, }
  grid m in tile(M, 64), b in n * 2
  x = A[m]
  x += 1
  x -= 1
  x *= 2
  x /= 2
  A[m], y = f(x)
  for k in tile(K), j in 3 if any(k > j) && x > 0 { print("k", k) }
  if a { } else if b { x = 1 } else { x = 2 }
  if a { } else { if b { x = 1 } }
}
)");
  REQUIRE(printed == R"(kernel k(A: f32[M], n: i64) {
  schedule { m = 128, order = zigzag, persistent = true, stages = 4 }
  grid m in tile(M, 64), b in n * 2
  x = A[m]
  x += 1
  x -= 1
  x *= 2
  x /= 2
  A[m], y = f(x)
  for k in tile(K), j in 3 if any(k > j) && x > 0 {
    print("k", k)
  }
  if a {
  } else if b {
    x = 1
  } else {
    x = 2
  }
  if a {
  } else if b {
    x = 1
  }
}
)");
}

TEST_CASE("declarations", "[parser]") {
  std::string printed = requireRoundTrip(R"(
import "a.tile"
import "dir/b \"c\".tile"
fn f<D: int, T: dtype>(x: f32, i: int) -> T { y = x * D
  if D > 2 { y } else { z = 1
    z } }
kernel k<p: bool = true, D: int = 2 * 64, T: dtype = bf16,
         score: fn(f32, int, int) -> f32 = (|s, q, kv| s > 0),
         g: fn() -> T = one,>
        (A: in T[M, D], B: out bf16[M], C: inout f8e4m3[1], D2: add f32,
         eps: f32 = 1e-6,) requires M % D == 0, M > 1 { }
schedule k for sm_90a { m = 64, kv = 0x80
}
schedule k for cpu { }
)");
  REQUIRE(printed == R"(import "a.tile"
import "dir/b \"c\".tile"

fn f<D: int, T: dtype>(x: f32, i: i64) -> T {
  y = x * D
  if D > 2 {
    y
  } else {
    z = 1
    z
  }
}

kernel k<p: bool = true, D: int = (2 * 64), T: dtype = bf16, score: fn(f32, i64, i64) -> f32 = (|s, q, kv| s > 0), g: fn() -> T = one>(A: T[M, D], B: out bf16[M], C: inout f8e4m3[1], D2: add f32, eps: f32 = 1e-6) requires M % D == 0, M > 1 {
}

schedule k for sm_90a { m = 64, kv = 128 }

schedule k for cpu { }
)");
  requireRoundTrip("");
  requireRoundTrip("// nothing\n");
}

TEST_CASE("the tree of a kernel", "[parser]") {
  Parsed parsed("kernel k(A: f32[M], C: out f32[M]) {\n"
                "  grid m in tile(M)\n"
                "  C[m] = f<m>(-A[m], s = |q| q)\n"
                "}\n");
  REQUIRE(parsed.ok);
  std::string text;
  llvm::raw_string_ostream os(text);
  printAST(parsed.file, parsed.sources, os);
  REQUIRE(text == R"(File 'test.tile'
  Kernel 'k' 1:1
    Param 'A' in f32[M] 1:10
    Param 'C' out f32[M] 1:21
    Block
      Grid 2:3
        Binding 'm' tile 2:8
          Name 'M' 2:18
      Assign '=' 3:3
        Target 'C' 3:3
          Name 'm' 3:5
        Call 'f' <m> 3:10
          Unary '-' 3:15
            Subscript 'A' 3:16
              Name 'm' 3:18
          Arg 's' 3:22
            Lambda |q| 3:26
              Name 'q' 3:30
)");
  auto *kernel = llvm::cast<KernelDecl>(parsed.file.decls[0]);
  REQUIRE(kernel->findGrid());
  REQUIRE(!kernel->findSchedule());
  REQUIRE(toSource(kernel->getParams()[1].type) == "f32[M]");
}

TEST_CASE("ranges cover what they should", "[parser]") {
  Parsed parsed("kernel k(A: f32[M]) {\n  x = (a + b) * f<i>(c)[0]\n}\n");
  // The subscript is a mistake, and its own range is reported.
  REQUIRE(parsed.diags.getNumErrors() == 1);
  REQUIRE(parsed.sources.getText(parsed.diags.all()[0]->range) == "[");

  Parsed good("kernel k(A: f32[M]) {\n  x, A[m] = (a + b) * -f<i>(c)\n}\n");
  REQUIRE(good.ok);
  auto text = [&](SourceRange range) { return good.sources.getText(range); };
  auto *kernel = llvm::cast<KernelDecl>(good.file.decls[0]);
  auto &assign = llvm::cast<AssignStmt>(firstStmt(good));
  auto *product = llvm::cast<BinaryExpr>(assign.getValue());
  REQUIRE(text(assign.getRange()) == "x, A[m] = (a + b) * -f<i>(c)");
  REQUIRE(text(assign.getTargets()[1].range) == "A[m]");
  REQUIRE(text(product->getRange()) == "(a + b) * -f<i>(c)");
  REQUIRE(text(product->getOpRange()) == "*");
  REQUIRE(text(product->getLHS()->getRange()) == "a + b");
  REQUIRE(text(product->getRHS()->getRange()) == "-f<i>(c)");
  REQUIRE(text(kernel->getNameRange()) == "k");
  REQUIRE(text(kernel->getParams()[0].range) == "A: f32[M]");
  REQUIRE(text(kernel->getParams()[0].type.dims[0].range) == "M");
  REQUIRE(text(kernel->getBody()->getRange()).starts_with("{\n"));
  REQUIRE(text(kernel->getRange()).ends_with("}"));
}

TEST_CASE("equal texts for the eye give equal canonical texts", "[parser]") {
  std::string a =
      requireRoundTrip("kernel k(A: in f32[M]) { x = ((a))+b*(c) }");
  std::string b =
      requireRoundTrip("// A comment.\nkernel k(\n  A: f32[ M ],\n)\n"
                       "{\n\n  x = a +   // why\n      b * c\n}\n");
  REQUIRE(a == b);
  REQUIRE(requireRoundTrip("kernel k() { x = 0x10 }") ==
          requireRoundTrip("kernel k() { x = 1_6 }"));
  REQUIRE(requireRoundTrip("kernel k() { x = a - (b - c) }") !=
          requireRoundTrip("kernel k() { x = a - b - c }"));
}

/// The language's own examples.
static const char *const examples = R"(
// Matrix product with a fused epilogue.
kernel linear_gelu(A: bf16[M, K], B: bf16[K, N], bias: f32[N], C: out bf16[M, N]) {
  grid m in tile(M), n in tile(N)
  acc = zeros f32[m, n]
  for k in tile(K) { acc += dot(A[m, k], B[k, n]) }
  C[m, n] = gelu(acc + bias[n])
}

// The same thing without a grid: the compiler fuses, tiles and picks the grid.
kernel linear_gelu2(A: bf16[M, K], B: bf16[K, N], bias: f32[N], C: out bf16[M, N]) {
  C = gelu(dot(A, B) + bias)
}

kernel rmsnorm(X: bf16[M, N], w: bf16[N], eps: f32 = 1e-6, Y: out bf16[M, N]) {
  Y = X * rsqrt(mean<N>(X * X) + eps) * w
}

fn softcap(s: f32, cap: f32) -> f32 { cap * tanh(s / cap) }

// Attention as one operation, with a score function and a mask.
kernel attend(Q: bf16[B, H, S, D], K: bf16[B, G, T, D], V: bf16[B, G, T, E], slope: f32[H],
              O: out bf16[B, H, S, E], lse: out f32[B, H, S]) requires H % G == 0 {
  grid b in B, h in H, i in tile(S)
  g = h / (H / G)
  O[b, h, i], lse[b, h, i] = attention(Q[b, h, i], K[b, g], V[b, g], scale = rsqrt(D),
      mask  = |q, kv| q >= kv,
      score = |s, q, kv| softcap(s - slope[h] * (q - kv), 50.0))
}

// Attention in the open form: the online softmax written out. Same speed: it meets the same passes.
kernel attend_open(Q: bf16[B, H, S, D], K: bf16[B, H, T, D], V: bf16[B, H, T, E], O: out bf16[B, H, S, E]) {
  grid b in B, h in H, i in tile(S)
  m = full f32[i] -inf
  l = zeros f32[i]
  o = zeros f32[i, E]
  for j in tile(T) if any(i >= j) {          // tiles in which nothing is visible are never visited
    s = where(i >= j, dot(Q[b, h, i], K[b, h, j]) * rsqrt(D), -inf)     // contracts D, gives [i, j]
    mj = max(m, max<j>(s))
    r = where(mj == -inf, 0, mj)              // a row with nothing visible yet stays 0, not NaN
    p = exp(s - r)
    a = exp(m - r)
    l = l * a + sum<j>(p)
    o = o * a + dot(bf16(p), V[b, h, j])
    m = mj
  }
  O[b, h, i] = where(l > 0, o / l, 0)
}

// Attention as mathematics: the fusion pass finds the online form.
kernel attend_naive(Q: bf16[B, H, S, D], K: bf16[B, H, T, D], V: bf16[B, H, T, E], O: out bf16[B, H, S, E]) {
  O = dot<T>(softmax<T>(dot<D>(Q, K) * rsqrt(D)), V)
}

kernel f<causal: bool, score: fn(f32, int, int) -> f32>(A: f32[M], table: f32[R], y: out f32[M]) {
  schedule { m = 128, n = 256, k = 64, stages = 4, consumers = 2, cluster = 2 }
  y = g(A, |s, q, kv| s + table[kv - q + 128])
}
schedule linear_gelu for sm_90a { m = 128 }
)";

TEST_CASE("the examples of the language", "[parser]") {
  requireRoundTrip(examples);
  Parsed parsed(examples);
  REQUIRE(parsed.file.decls.size() == 9);
  auto *attend = llvm::cast<KernelDecl>(parsed.file.decls[4]);
  REQUIRE(attend->getName() == "attend");
  REQUIRE(attend->getParams().size() == 6);
  auto *assign = llvm::cast<AssignStmt>(attend->getBody()->getStmts().back());
  REQUIRE(treeOf(*assign->getValue()) ==
          "(call attention (at Q b h i) (at K b g) (at V b g) "
          "scale=(call rsqrt D) mask=(lambda q kv (>= q kv)) "
          "score=(lambda s q kv (call softcap (- s (* (at slope h) (- q kv))) "
          "50.0)))");
  auto *open = llvm::cast<KernelDecl>(parsed.file.decls[5]);
  auto *loop = llvm::cast<ForStmt>(open->getBody()->getStmts()[4]);
  REQUIRE(loop->getBindings()[0].isTile);
  REQUIRE(treeOf(*loop->getCondition()) == "(call any (>= i j))");
  REQUIRE(loop->getBody()->getStmts().size() == 8);
}

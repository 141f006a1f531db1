//===- SemaTest.cpp - Semantic analysis -------------------------*- C++ -*-===//
//
// What the lit tests do not see: the objects behind the text, the number of
// messages, limits. The rules themselves are tested in test/Frontend.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Sema.h"

#include "test/Unit/Frontend/Analyzing.h"

using namespace tilec;
using namespace tilec::test;
using Catch::Matchers::Contains;
using llvm::cast;

/// The error messages alone, one a line.
static std::vector<std::string> errorsOf(const Analyzed &program) {
  std::vector<std::string> errors;
  for (const auto &diagnostic : program.diags.all())
    if (diagnostic->severity == Severity::Error)
      errors.push_back(diagnostic->message);
  return errors;
}

TEST_CASE("axes and dimensions are compared by identity", "[sema]") {
  Analyzed program(R"(
kernel k<D: int = 8, E: int = 8>(A: f32[M, D, E], B: f32[M, 8], Y: out f32[M]) {
  for i in tile(M) { x = A[i] }
  for i in tile(M) { x = A[i] }
  Y = 0
})");
  INFO(program.messages());
  REQUIRE(program.kernel);
  const typed::Kernel &kernel = *program.kernel;
  CHECK(findViolation(kernel) == "");
  REQUIRE(kernel.dims.size() == 1);
  CHECK(kernel.dims[0]->name == "M");
  CHECK(kernel.params[0]->shape[0].dim == kernel.params[1]->shape[0].dim);
  CHECK(kernel.params[0]->shape[1].constant == 8);
  // Two loops have two axes of one name; D and E are two axes of one extent.
  const auto *first = cast<typed::For>(kernel.body[0]);
  const auto *second = cast<typed::For>(kernel.body[1]);
  CHECK(first->var->axis != second->var->axis);
  const auto &x = cast<typed::Assign>(first->body[0])->var->type;
  REQUIRE(x.axes.size() == 3);
  CHECK(x.axes[0] == first->var->axis);
  CHECK(x.axes[1] != x.axes[2]);
  CHECK(x.axes[1]->constant == 8);
  CHECK(x.axes[1]->dim == nullptr);
}

TEST_CASE("isWhole marks the dimensions some value has entire", "[sema]") {
  Analyzed program(R"(
kernel k(A: f32[M, N, P], B: f32[Q], Y: out f32[M, R]) requires Q > R {
  grid m in tile(M)
  x = zeros f32[P]
  Y[m] = sum(A[m, 0, :]) + B[0] + Q
})");
  REQUIRE(program.kernel);
  auto isWhole = [&](llvm::StringRef name) {
    return program.kernel->findDim(name)->isWhole;
  };
  CHECK_FALSE(isWhole("M"));
  CHECK_FALSE(isWhole("N"));
  CHECK(isWhole("P"));
  CHECK_FALSE(isWhole("Q"));
  CHECK(isWhole("R"));
}

TEST_CASE("one mistake gives one message", "[sema]") {
  SECTION("uses of what was wrong are silent") {
    Analyzed program(R"(
kernel k(A: f32[M], Y: out f32[M]) {
  grid m in tile(M)
  x = unknown + 1
  y = x * 2
  for j in tile(nothing) {
    z = A[j] + y
    w = sum<j>(z)
  }
  y = exp(x)
  x += y
  Y[m] = y
})");
    CHECK(errorsOf(program) ==
          std::vector<std::string>{"unknown name 'unknown'",
                                   "unknown name 'nothing'"});
  }
  SECTION("a function's mistake is told once, wherever it is called") {
    Analyzed program(R"(
fn f(x: f32) -> f32 { x + unknown }
fn g(x: f32) -> f32 { f(x) + f(x + 1) }
kernel k(A: f32[M], Y: out f32[M]) { Y = f(A) + g(A) + f(A * 2) })");
    program.check();
    CHECK(errorsOf(program).size() == 1);
  }
  SECTION("the argument's mistake is the caller's") {
    Analyzed program(R"(
fn f(x: f32) -> f32 { x }
kernel k(A: f32[M], Y: out f32[M]) { Y = f(A > 0) })");
    REQUIRE(program.diags.all().size() == 1);
    CHECK(program.sources.getLineColumn(program.diags.all()[0]->range.begin)
              .line == 3);
  }
  SECTION("independent mistakes are all told") {
    Analyzed program(R"(
kernel k(A: f32[M], Y: out f32[M]) {
  Y = unknown1 + unknown2 * exp(unknown3)
  Y = sum<M>(A > 0)
  Z[0] = 1
})");
    CHECK(errorsOf(program).size() == 5);
  }
}

TEST_CASE("the analysis stops after 20 errors", "[sema]") {
  std::string text = "kernel k(A: f32[M], Y: out f32[M]) {\n";
  for (int i = 0; i < 100; ++i)
    text += "  Y = unknown" + std::to_string(i) + "\n";
  Analyzed program(text + "}");
  CHECK(errorsOf(program).size() == 20);
  CHECK_FALSE(program.kernel);
}

TEST_CASE("messages within functions say where they are called", "[sema]") {
  Analyzed program(R"(
fn inner<T: dtype>(x: T) -> T { x % 2 }
fn outer<T: dtype>(x: T) -> T { inner<T>(x) }
kernel k(A: f32[M], Y: out f32[M]) { Y = outer<f32>(A) })");
  CHECK_THAT(program.messages(), Contains("expected integers for '%'"));
  CHECK_THAT(program.messages(), Contains("in this call of 'inner'"));
  CHECK_THAT(program.messages(), Contains("in this call of 'outer'"));
}

TEST_CASE("compile-time arguments are checked", "[sema]") {
  std::string text = R"(
fn half(x: f32) -> f32 { x / 2 }
kernel k<causal: bool, D: int, T: dtype, act: fn(f32) -> f32>(A: T[D], Y: out f32[D]) {
  Y = act(A)
})";
  CompileTimeArgs good;
  good["causal"] = "true";
  good["D"] = "0x10";
  good["T"] = "bf16";
  good["act"] = "half";
  Analyzed fine(text, good);
  INFO(fine.messages());
  REQUIRE(fine.kernel);
  CHECK(fine.kernel->params[0]->shape[0].constant == 16);
  CHECK(fine.kernel->params[0]->dtype == DType::BF16);

  auto with = [&](llvm::StringRef name, llvm::StringRef value) {
    CompileTimeArgs args = good;
    args[name] = value.str();
    Analyzed program(text, args);
    CHECK_FALSE(program.kernel);
    return program.messages();
  };
  CHECK_THAT(with("causal", "maybe"),
             Contains("expected a bool for 'causal', found 'maybe'"));
  CHECK_THAT(with("D", "bf16"),
             Contains("expected an integer for 'D', found 'bf16'"));
  CHECK_THAT(with("D", "99999999999999999999"), Contains("for 'D'"));
  CHECK_THAT(with("D", "-1"), Contains("expected an extent of 0 or more"));
  CHECK_THAT(with("T", "bf61"), Contains("did you mean 'bf16'?"));
  CHECK_THAT(with("act", "halv"), Contains("did you mean 'half'?"));
  CHECK_THAT(with("act", "k"), Contains("is a kernel"));
  CHECK_THAT(with("act", ""), Contains("unknown function ''"));
  CHECK_THAT(with("casual", "true"), Contains("did you mean 'causal'?"));

  good.erase("D");
  Analyzed missing(text, good);
  CHECK_FALSE(missing.kernel);
  CHECK_THAT(missing.messages(),
             Contains("the compile-time parameter 'D' of 'k' has no value"));
  CHECK_THAT(missing.messages(), Contains("-D D=..."));
}

TEST_CASE("what a compile-time condition excludes is not looked at", "[sema]") {
  Analyzed program(R"(
kernel k<fast: bool = true>(A: f32[M], Y: out f32[M]) {
  if fast || nonsense { Y = A } else { Y = nonsense }
  if !fast && nonsense { Y = nonsense }
})");
  INFO(program.messages());
  CHECK(program.kernel);
}

TEST_CASE("inlining is bounded", "[sema]") {
  SECTION("in depth") {
    std::string text = "fn f0(x: f32) -> f32 { x + 1 }\n";
    for (int i = 1; i < 200; ++i)
      text += "fn g" + std::to_string(i) + "(x: f32) -> f32 { " +
              (i == 1 ? std::string("f0") : "g" + std::to_string(i - 1)) +
              "(x) }\n";
    Analyzed deep(text + "kernel k(A: f32[M], Y: out f32[M]) { Y = g199(A) }");
    CHECK_FALSE(deep.kernel);
    CHECK_THAT(deep.messages(), Contains("more than 100 levels deep"));
    Analyzed shallow(text +
                     "kernel k(A: f32[M], Y: out f32[M]) { Y = g50(A) }");
    CHECK(shallow.kernel);
    CHECK(deep.diags.getNumErrors() == 1);
  }
  SECTION("in height") {
    std::string sum;
    for (int i = 0; i < 400; ++i)
      sum += " + 1";
    std::string text = "fn g0(x: f32) -> f32 { x + 1 }\n";
    for (int i = 1; i < 20; ++i)
      text += "fn g" + std::to_string(i) + "(x: f32) -> f32 { g" +
              std::to_string(i - 1) + "(x)" + sum + " }\n";
    Analyzed program(text +
                     "kernel k(A: f32[M], Y: out f32[M]) { Y = g19(A) }");
    CHECK_FALSE(program.kernel);
    CHECK_THAT(program.messages(), Contains("levels deep once functions are"));
  }
  SECTION("but nested calls of one function are fine") {
    std::string value = "A";
    for (int i = 0; i < 60; ++i)
      value = "f(" + value + ")";
    Analyzed program("fn f(x: f32) -> f32 { x * x }\n"
                     "kernel k(A: f32[M], Y: out f32[M]) { Y = " +
                     value + " }");
    REQUIRE(program.kernel);
    CHECK(findViolation(*program.kernel) == "");
  }
}

TEST_CASE("grid variables reach a subscript through variables", "[sema]") {
  std::string head = "kernel k(A: f32[B, H], index: i32[B], Y: out f32[P]) {\n"
                     "  grid b in B, h in H\n";
  CHECK(Analyzed(head + "  row = b * H + h\n  Y[row] = 1\n}").kernel);
  CHECK(Analyzed(head + "  row = i64(index[b])\n  row += h\n  Y[row] = 1\n}")
            .kernel);
  CHECK(Analyzed(head + "  Y[index[b] + h] = 1\n}").kernel);
  Analyzed racy(head + "  row = b * H\n  Y[row] = 1\n}");
  CHECK_FALSE(racy.kernel);
  CHECK_THAT(racy.messages(), Contains("programs of the grid that differ in "
                                       "'h'"));
}

TEST_CASE("schedules of the main file win over those of imports", "[sema]") {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  ASTContext context;
  sources.addFile("library.tile", "kernel k(A: f32[M], Y: out f32[M]) {\n"
                                  "  grid m in tile(M)\n  Y[m] = A[m]\n}\n"
                                  "schedule k for cpu { m = 1, stages = 2 }\n");
  unsigned main =
      sources.addFile("main.tile", "import \"library.tile\"\n"
                                   "schedule k for cpu { m = 3 }\n");
  ast::Program *program = loadProgram(main, {}, sources, context, diags);
  REQUIRE(program);
  const auto *decl = cast<ast::KernelDecl>(program->files[1]->decls[0]);
  auto kernel = analyzeKernel(*program, *decl, {}, "cpu", diags);
  REQUIRE(kernel);
  REQUIRE(kernel->schedule.size() == 2);
  CHECK(kernel->schedule[0].key == "m");
  CHECK(kernel->schedule[0].value == 3);
  CHECK(kernel->schedule[1].key == "stages");
  CHECK(kernel->schedule[1].value == 2);
}

TEST_CASE("analysis is repeatable", "[sema]") {
  std::string text = R"(
fn cap(s: f32, c: f32) -> f32 { c * tanh(s / c) }
kernel k(Q: bf16[S, D], K: bf16[T, D], V: bf16[T, E], b: f32[P], O: out bf16[S, E]) requires S > 0 {
  grid i in tile(S)
  O[i] = attention(Q[i], K, V, score = |s, q, kv| cap(s + b[q - kv], 3.0))
})";
  Analyzed first(text), second(text);
  REQUIRE(first.kernel);
  CHECK(first.typedText() == second.typedText());
  CHECK(findViolation(*first.kernel) == "");
}

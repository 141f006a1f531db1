//===- CpuTest.cpp - The API on the host ------------------------*- C++ -*-===//
//
// Modules, signatures, and launches with arrays of the host against plain
// loops.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/API/FakeMachine.h"
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

using namespace tilec;
using namespace tilec::test;
using Catch::Matchers::Contains;

static Options onCpu() {
  Options options;
  options.target = "cpu";
  return options;
}

static const char *const text = R"(
fn twice(x: f32) -> f32 { 2 * x }
fn square(x: f32) -> f32 { x * x }
kernel map<f: fn(f32) -> f32>(X: f32[M, N], Y: out f32[M, N]) {
  grid m in tile(M), n in tile(N)
  Y[m, n] = f(X[m, n])
}
kernel pick(X: f32[N], I: i64[M], bias: f32 = 0.5, Y: inout f32[M], C: add i32[4]) {
  grid m in tile(M)
  Y[m] = Y[m] + X[I[m]] + bias
}
)";

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

TEST_CASE("kernels and their signatures") {
  Module module = compileText(text, onCpu());
  CHECK(module.kernelNames() == std::vector<std::string>{"map", "pick"});
  Kernel pick = take(module.kernel("pick"));
  CHECK(pick.name() == "pick");
  std::vector<Parameter> all = pick.parameters();
  REQUIRE(all.size() == 5);
  CHECK(all[0].name == "X");
  CHECK(all[0].dtype == DType::F32);
  CHECK(all[0].access == Access::In);
  CHECK(all[0].isTensor);
  CHECK(all[0].axes == std::vector<std::string>{"N"});
  CHECK(all[0].extents == std::vector<int64_t>{-1});
  CHECK(all[1].dtype == DType::I64);
  CHECK_FALSE(all[2].isTensor);
  CHECK(all[2].hasDefault);
  CHECK(all[2].axes.empty());
  CHECK(all[3].access == Access::InOut);
  CHECK(all[4].access == Access::Add);
  CHECK(all[4].dtype == DType::I32);
  CHECK(all[4].axes == std::vector<std::string>{"4"});
  CHECK(all[4].extents == std::vector<int64_t>{4});
}

TEST_CASE("programs that are wrong") {
  auto fails = [](const char *source, ErrorKind kind = TILEC_ERROR_PROGRAM) {
    return failure(compileString("wrong.tile", source, onCpu()).takeError(),
                   kind);
  };
  CHECK_THAT(fails("kernel k(X: f32[N], Y: out f32[N]) {\n  Y = x\n}\n"),
             Contains("wrong.tile:2:7: error: unknown name 'x'\n") &&
                 Contains("\n  Y = x\n      ^\n") &&
                 Contains("help: did you mean 'X'?"));
  CHECK_THAT(failure(compileFile("/nonexistent.tile", onCpu()).takeError(),
                     TILEC_ERROR_PROGRAM),
             Contains("cannot read '/nonexistent.tile'"));
  Expected<Module> bad = compileString("wrong.tile", "kernel", onCpu());
  REQUIRE_FALSE(bad);
  CHECK_THAT(bad.error().json(), Contains("\"severity\": \"error\"") &&
                                     Contains("\"file\": \"wrong.tile\""));
}

TEST_CASE("warnings") {
  static std::string warnings;
  warnings.clear();
  Options options = onCpu();
  options.user = &warnings;
  options.warn = [](const char *warning, void *user) {
    *static_cast<std::string *>(user) += warning;
  };
  Module module = compileText("kernel half<n: int>(Y: out f32[N]) {\n"
                              "  grid i in tile(N)\n"
                              "  Y[i] = 1 / n + zeros f32[i]\n"
                              "}\n"
                              "kernel nothing(X: f32[N]) {\n"
                              "  grid i in tile(N)\n"
                              "}\n",
                              options);
  CHECK_THAT(
      warnings,
      Contains("test.tile:5:8: warning: kernel 'nothing' writes nothing"));
  // Those of a kernel that was not complete come with it.
  warnings.clear();
  (void)take(module.kernel("half", {{"n", "2"}}));
  CHECK_THAT(warnings, Contains("test.tile:3:10: warning:") &&
                           Contains("drops the fraction"));
}

TEST_CASE("names that are wrong") {
  Module module = compileText(text, onCpu());
  CHECK_THAT(failure(module.kernel("pik").takeError(), TILEC_ERROR_PROGRAM),
             Contains("did you mean 'pick'?"));
  CHECK_THAT(failure(module.kernel().takeError(), TILEC_ERROR_PROGRAM),
             Contains("several kernels"));
  CHECK_THAT(failure(module.kernel("map").takeError(), TILEC_ERROR_PROGRAM),
             Contains("'f'"));
  CHECK_THAT(failure(module.kernel("map", {{"g", "twice"}}).takeError(),
                     TILEC_ERROR_USAGE),
             Contains("kernel 'map' has no compile-time parameter 'g'"));
  Options options = onCpu();
  options.defines = {{"unknown", "1"}};
  CHECK_THAT(failure(compileText(text, options).kernel("pick").takeError(),
                     TILEC_ERROR_USAGE),
             Contains("the kernels have no compile-time parameter 'unknown'"));
  options = onCpu();
  options.target = "sm_1";
  CHECK_THAT(
      failure(compileString("a", text, options).takeError(), TILEC_ERROR_USAGE),
      Contains("unknown target 'sm_1'") &&
          Contains("cpu, sm_80, sm_86, sm_89, sm_90a"));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

TEST_CASE("functions as parameters, of the module and of a kernel") {
  Options options = onCpu();
  options.defines = {{"f", "twice"}}; // Of 'map'; 'pick' has none.
  Module module = compileText(text, options);
  (void)take(module.kernel("pick"));
  Kernel twice = take(module.kernel("map"));
  Kernel square = take(module.kernel("map", {{"f", "square"}}));
  std::vector<float> x(7 * 9), y(x), z(x);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i) - 20;
  succeed(twice.launch(nullptr, TensorView(x.data(), {7, 9}),
                       TensorView(y.data(), {7, 9})));
  // Transposed views of the same arrays.
  succeed(square.launch(nullptr, TensorView(x.data(), {9, 7}, {1, 9}),
                        TensorView(z.data(), {9, 7}, {1, 9})));
  for (size_t i = 0; i < x.size(); ++i) {
    CHECK(y[i] == 2 * x[i]);
    CHECK(z[i] == x[i] * x[i]);
  }
}

TEST_CASE("defaults, integers, in place") {
  Kernel pick = take(compileText(text, onCpu()).kernel("pick"));
  std::vector<float> x = {10, 20, 30};
  std::vector<int64_t> index = {2, 0, 1, 2};
  std::vector<float> y = {1, 2, 3, 4};
  std::vector<int32_t> c(4);
  auto launch = [&](Arg bias) {
    return pick.launchWith(
        nullptr, {TensorView(x.data(), {3}), TensorView(index.data(), {4}),
                  bias, TensorView(y.data(), {4}), TensorView(c.data(), {4})});
  };
  succeed(launch(Default()));
  CHECK(y == std::vector<float>{31.5, 12.5, 23.5, 34.5});
  succeed(launch(1));
  CHECK(y == std::vector<float>{62.5, 23.5, 44.5, 65.5});
}

TEST_CASE("what happens in a kernel on the host is an error") {
  Kernel pick = take(compileText(text, onCpu()).kernel("pick"));
  std::vector<float> x = {10, 20, 30}, y(1);
  std::vector<int64_t> index = {3};
  std::vector<int32_t> c(4);
  auto launch = [&](const Kernel &kernel) {
    return kernel.launch(nullptr, TensorView(x.data(), {3}),
                         TensorView(index.data(), {1}), Default(),
                         TensorView(y.data(), {1}), TensorView(c.data(), {4}));
  };
  CHECK_THAT(failure(launch(pick), TILEC_ERROR_REPORT),
             Contains("test.tile:10:") &&
                 Contains("index 3 is out of range, the extent is 3"));
  Options options = onCpu();
  options.unchecked = true;
  succeed(launch(take(compileText(text, options).kernel("pick"))));

  char stream = 0;
  CHECK_THAT(
      failure(pick.launch(&stream, TensorView(x.data(), {3}),
                          TensorView(index.data(), {1}), Default(),
                          TensorView(y.data(), {1}), TensorView(c.data(), {4})),
              TILEC_ERROR_USAGE),
      Contains("stream"));
}

TEST_CASE("code and prepared launches on the host") {
  Module module = compileText(text, onCpu());
  std::optional<Prepared> ready;
  std::vector<float> x(12), y(12);
  TensorView xView(x.data(), {3, 4}), yView(y.data(), {3, 4});
  {
    Kernel twice = take(module.kernel("map", {{"f", "twice"}}));
    Code code = take(twice.compile(xView, yView));
    CHECK(code.target() == "cpu");
    CHECK(code.origin() == Origin::Compiled);
    CHECK(code.cuda().empty());
    CHECK(code.cubin().empty());
    CHECK(code.registers() == 0);
    CHECK_THAT(code.specialization(), Contains("X: stride 1 in dimension 1\n"));
    CHECK(take(twice.compile(xView, yView)).origin() == Origin::Memory);
    CHECK_THAT(failure(code.launch(nullptr, xView, yView), TILEC_ERROR_USAGE),
               Contains("cpu"));
    ready = take(twice.prepare(xView, yView));
  }
  for (float value : {1.0f, 5.0f}) {
    x.assign(12, value);
    succeed(ready->run(nullptr));
    CHECK(y == std::vector<float>(12, 2 * value));
  }
}

TEST_CASE("threads launch one kernel on the host") {
  Options options = onCpu();
  options.threads = 1;
  Module module = compileText(text, options);
  Kernel square = take(module.kernel("map", {{"f", "square"}}));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> x(64, float(t)), y(64);
      for (int round = 0; round < 20; ++round) {
        // Half the threads need code of another kind.
        std::vector<int64_t> strides = {t % 2 ? 1 : 8, t % 2 ? 8 : 1};
        wrong +=
            bool(square.launch(nullptr, TensorView(x.data(), {8, 8}, strides),
                               TensorView(y.data(), {8, 8}, strides)));
        for (float value : y)
          wrong += value != float(t * t);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
}

//===----------------------------------------------------------------------===//
// Versions of structures
//===----------------------------------------------------------------------===//

TEST_CASE("structures of another size") {
  // A program of an older version knows fewer options, whatever lies behind.
  tilec_options options;
  std::memset(&options, 0xFF, sizeof(options));
  options.size = offsetof(tilec_options, defines);
  options.target = "cpu";
  tilec_module *module = nullptr;
  succeed(Error(tilec_compile_string("a", text, &options, &module)));
  tilec_kernel *kernel = nullptr;
  succeed(Error(tilec_module_kernel(module, "pick", nullptr, 0, &kernel)));
  tilec_module_destroy(module);

  tilec_parameter parameter;
  std::memset(&parameter, 0xFF, sizeof(parameter));
  parameter.size = offsetof(tilec_parameter, rank);
  succeed(Error(tilec_kernel_parameter(kernel, 1, &parameter)));
  CHECK(parameter.size == offsetof(tilec_parameter, rank));
  CHECK(std::string(parameter.name) == "I");
  CHECK(parameter.rank == SIZE_MAX); // Not touched.
  CHECK_THAT(failure(Error(tilec_kernel_parameter(kernel, 5, &parameter)),
                     TILEC_ERROR_USAGE),
             Contains("has 5 parameters, and was asked for number 5"));
  CHECK_THAT(failure(Error(tilec_kernel_launch(kernel, nullptr, nullptr, 5)),
                     TILEC_ERROR_USAGE),
             Contains("NULL"));
  tilec_kernel_destroy(kernel);
}

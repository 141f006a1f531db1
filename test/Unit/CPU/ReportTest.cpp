//===- ReportTest.cpp - What kernels report to the host ---------*- C++ -*-===//
//
// Assertions and prints, with their places in the source, and the errors and
// dumps of a compilation.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"

#include "dialects/Tile/IR/Tile.h"
#include "lib/Runtime/NarrowFloat.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace tilec;
using namespace tilec::test;

TEST_CASE("assertions report their place and count", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @checks($X, %flag: i1 {tile.name = "flag"}) {
  %N = tile.dim %X, 0 : !tile.view<?xf32>
  scf.forall (%n) = (0) to (%N) step (4) {
    %v = tile.valid %n to %N size 4
    %x = tile.load %X[%n] dims [0] valid [%v] pad one
        : !tile.view<?xf32> -> tensor<4xf32>
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %ok = arith.cmpf ogt, %x, %zero : tensor<4xf32>
    tile.assert %ok, "x is positive" : tensor<4xi1> loc("model.tile":12:5)
    tile.assert %flag, "" : i1 loc("model.tile":3:7)
  }
  tile.return
})",
                     {{"X", view("X", "?xf32", "in", 0)}}));
  Tensor<float> x({18}, 1);
  kernel.run({x.argument(), cpu::Argument::integer(1)});
  CHECK(kernel.reports.empty());
  x[5] = -1;
  x[6] = 0;
  x[17] = NAN;
  kernel.run({x.argument(), cpu::Argument::integer(0)});
  auto reports = kernel.reports.reports();
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].site.file == "model.tile");
  CHECK(reports[0].site.line == 3);
  CHECK(reports[0].message() == "assertion failed (5 times)");
  CHECK(reports[1].site.line == 12);
  CHECK(reports[1].site.column == 5);
  CHECK(reports[1].message() == "x is positive (2 times)");
}

TEST_CASE("prints come in order, whatever the number of threads", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @prints($X, %s: i64 {tile.name = "s"}) {
  %N = tile.dim %X, 0 : !tile.view<?x3xbf16>
  scf.forall (%n) = (0) to (%N) step (2) {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%n, %c0] dims [0, 1] pad zero
        : !tile.view<?x3xbf16> -> tensor<2x3xbf16>
    %y = arith.extf %x : tensor<2x3xbf16> to tensor<2x3xf32>
    %zero = arith.constant dense<0.0> : tensor<2x3xf32>
    %b = arith.cmpf ogt, %y, %zero : tensor<2x3xf32>
    tile.print "x =", %x, %b, %s
        : tensor<2x3xbf16>, tensor<2x3xi1>, i64
    tile.print "done"
  }
  tile.return
})",
                     {{"X", view("X", "?x3xbf16", "in", 1)}}));
  Tensor<uint16_t> x({4, 3});
  for (int i = 0; i < 12; ++i)
    x[i] = doubleToBF16(i % 2 ? i * 0.5 : -i);
  kernel.run({x.argument(), cpu::Argument::integer(-7)}, 4);
  std::vector<std::string> expected = {
      "x = [[0, 0.5, -2], [1.5, -4, 2.5]]",
      "x = [[false, true, false], [true, false, true]]",
      "x = -7",
      "done",
      "x = [[-6, 3.5, -8], [4.5, -10, 5.5]]",
      "x = [[false, true, false], [true, false, true]]",
      "x = -7",
      "done"};
  CHECK(kernel.printed == expected);
}

TEST_CASE("stages can be looked at", "[cpu]") {
  cpu::CompileOptions options = Kernel::defaultOptions();
  std::map<std::string, std::string> texts;
  options.wantsStage = [](llvm::StringRef stage) { return stage != "loops"; };
  options.onStage = [&](llvm::StringRef stage, llvm::StringRef text) {
    texts[stage.str()] = text.str();
  };
  Kernel kernel(fill(R"(
tile.kernel @f($X) {
  %x = tile.load %X[] dims [] pad zero : !tile.view<f32> -> tensor<f32>
  tile.print "", %x : tensor<f32>
  tile.return
})",
                     {{"X", view("X", "f32", "in", -1)}}),
                options);
  CHECK(texts["linalg"].find("tensor<f32>") != std::string::npos);
  CHECK(texts["bufferized"].find("memref") != std::string::npos);
  CHECK(texts.count("loops") == 0);
  CHECK(texts["llvm"].find("define") != std::string::npos);
  CHECK(texts["llvm-optimized"].find("define") != std::string::npos);
  CHECK(texts["assembly"].find("f.run.entry") != std::string::npos);
  cpu::Timings times = kernel.compiled->timings();
  CHECK(times.total >= times.codegen);
}

TEST_CASE("what cannot be compiled is said", "[cpu]") {
  mlir::DialectRegistry registry;
  cpu::registerCPUDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "tile.kernel @f() { tile.return }", &context);
  REQUIRE(module);
  auto result = cpu::compile(*module, "g");
  REQUIRE(!result);
  CHECK(llvm::toString(result.takeError()) == "the module has no kernel 'g'");
}

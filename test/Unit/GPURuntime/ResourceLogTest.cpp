//===- ResourceLogTest.cpp - Logs of ptxas ----------------------*- C++ -*-===//
//
// The logs are what NVRTC 13.0 wrote for small kernels, unchanged.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/GPU/ResourceLog.h"
#include <catch2/catch.hpp>
#include <random>

using namespace tilec::gpu;
using Severity = ResourceMessage::Severity;

static constexpr const char *threeKernels = R"(
ptxas warning : Local memory used for function 'spill', size of stack frame: 272 bytes
ptxas warning : Registers are spilled to local memory in function 'spill', 380 bytes spill stores, 420 bytes spill loads
ptxas warning : Local memory used for function 'dyn', size of stack frame: 80 bytes
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'spill' for 'sm_90a'
ptxas info    : Function properties for spill
ptxas         .     272 bytes stack frame, 380 bytes spill stores, 420 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 272 bytes cumulative stack size
ptxas info    : Compile time = 67.615 ms
ptxas info    : Compiling entry function 'dyn' for 'sm_90a'
ptxas info    : Function properties for dyn
ptxas         .     80 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 33 registers, used 0 barriers, 80 bytes cumulative stack size
ptxas info    : Compile time = 17.439 ms
ptxas info    : Compiling entry function 'rows' for 'sm_90a'
ptxas info    : Function properties for rows
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 1 barriers, 256 bytes smem
ptxas info    : Compile time = 2.370 ms
)";

static constexpr const char *serialized = R"(
ptxas info    : (C7519) warpgroup.arrive is injected in around line 124 by compiler to allow use of registers in GMMA in function 'product'
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to wgmma pipeline crossing function boundary at a function call in the function 'product'
ptxas info    : 5 bytes gmem
ptxas info    : Compiling entry function 'product' for 'sm_90a'
ptxas info    : Function properties for product
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 58 registers, used 0 barriers
ptxas info    : Compile time = 26.770 ms
)";

static constexpr const char *calledFunction = R"(
ptxas info    : (C7520) Potential Performance Loss: wgmma.mma_async instructions are serialized due to program dependence on compiler-inserted WG.AR in divergent path in the function '_Z3mmaRA32_fyy'
ptxas warning : Registers are spilled to local memory in function '_Z3mmaRA32_fyy', 64 bytes spill stores, 64 bytes spill loads
ptxas info    : (C7504) Potential Performance Loss: 'setmaxnreg' ignored to maintain compatibility across compilation units.
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'product' for 'sm_90a'
ptxas info    : Function properties for product
ptxas         .     128 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 102 registers, used 0 barriers, 192 bytes cumulative stack size
ptxas info    : Compile time = 13.071 ms
ptxas info    : Function properties for _Z3mmaRA32_fyy
ptxas         .     64 bytes stack frame, 64 bytes spill stores, 48 bytes spill loads
ptxas info    : Compile time = 14.782 ms
)";

TEST_CASE("resources of several kernels") {
  ResourceLog log = parseResourceLog(threeKernels);
  REQUIRE(log.functions.size() == 3);
  CHECK(log.globalBytes == 0);

  const FunctionResources *spill = log.find("spill");
  REQUIRE(spill);
  CHECK(spill->isKernel);
  CHECK(spill->registers == 32);
  CHECK(spill->barriers == 1);
  CHECK(spill->stackBytes == 272);
  CHECK(spill->spillStoreBytes == 380);
  CHECK(spill->spillLoadBytes == 420);
  CHECK(spill->sharedBytes == 0);
  CHECK(spill->compileMilliseconds == 67.615);
  CHECK(spill->spills());

  const FunctionResources *dyn = log.find("dyn");
  REQUIRE(dyn);
  CHECK(dyn->registers == 33);
  CHECK(dyn->barriers == 0);
  CHECK(dyn->stackBytes == 80);
  CHECK_FALSE(dyn->spills());

  const FunctionResources *rows = log.find("rows");
  REQUIRE(rows);
  CHECK(rows->registers == 12);
  CHECK(rows->sharedBytes == 256);
  CHECK(rows->stackBytes == 0);
  CHECK(log.find("row") == nullptr);

  REQUIRE(log.messages.size() == 3);
  CHECK(log.messages[0].severity == Severity::Warning);
  CHECK(log.messages[0].code == 0);
  CHECK(log.messages[0].function == "spill");
  CHECK(log.messages[2].function == "dyn");

  // Each defect once, although the log says some of them twice.
  CHECK(log.defects(".local .align 4 .b8 __local_depot0[80];") ==
        std::vector<std::string>{"'spill': registers are spilled: 380 bytes of "
                                 "stores, 420 bytes of loads",
                                 "'dyn': 80 bytes of local arrays"});
  // Without arrays the stack is what calls within ptxas's code take.
  CHECK(log.defects("").size() == 1);
}

TEST_CASE("products that are serialized") {
  ResourceLog log = parseResourceLog(serialized);
  CHECK(log.globalBytes == 5);
  REQUIRE(log.messages.size() == 2);
  const ResourceMessage &arrive = log.messages[0];
  CHECK(arrive.severity == Severity::Info);
  CHECK(arrive.code == 7519);
  CHECK(arrive.line == 124);
  CHECK(arrive.function == "product");
  CHECK_THAT(arrive.text, Catch::StartsWith("warpgroup.arrive is injected"));
  CHECK_FALSE(arrive.isSerialization());
  const ResourceMessage &call = log.messages[1];
  CHECK(call.code == 7510);
  CHECK(call.line == 0);
  CHECK(call.function == "product");
  CHECK(call.isSerialization());
  CHECK_FALSE(call.isIgnoredRegisterBudget());
  REQUIRE(log.defects("").size() == 2);
  CHECK_THAT(log.defects("")[1], Catch::StartsWith("C7510: Potential"));
  CHECK(log.find("product")->registers == 58);
}

TEST_CASE("functions that kernels call") {
  ResourceLog log = parseResourceLog(calledFunction);
  REQUIRE(log.functions.size() == 2);
  const FunctionResources *product = log.find("product");
  REQUIRE(product);
  CHECK(product->isKernel);
  CHECK(product->registers == 102);
  CHECK(product->stackBytes == 128);
  CHECK(product->spillStoreBytes == 0);
  CHECK(product->compileMilliseconds == 13.071);
  const FunctionResources *mma = log.find("_Z3mmaRA32_fyy");
  REQUIRE(mma);
  CHECK_FALSE(mma->isKernel);
  CHECK(mma->registers == 0);
  CHECK(mma->spillStoreBytes == 64);
  CHECK(mma->spillLoadBytes == 48);
  REQUIRE(log.messages.size() == 3);
  CHECK(log.messages[2].code == 7504);
  CHECK(log.messages[2].isIgnoredRegisterBudget());
  CHECK(log.messages[2].function == "");
}

TEST_CASE("other forms of lines") {
  // Older versions: constant banks, no word before the properties.
  ResourceLog log = parseResourceLog(
      "ptxas info    : 24 bytes gmem, 8 bytes cmem[4]\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
      "ptxas info    : Function properties for k\n"
      "    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 255 registers, 1024 bytes smem, 400 bytes cmem[0], "
      "12 bytes cmem[2]\n"
      "ptxas k.ptx, line 31; warning : something is odd\n"
      "ptxas k.ptx, line 7; error   : Unknown symbol 'x'\n"
      "ptxas fatal   : Unknown option 'v,--warn-on-spills'\n");
  CHECK(log.globalBytes == 24);
  const FunctionResources *k = log.find("k");
  REQUIRE(k);
  CHECK(k->stackBytes == 16);
  CHECK(k->spillLoadBytes == 8);
  CHECK(k->registers == 255);
  CHECK(k->sharedBytes == 1024);
  CHECK(k->constantBytes == 412);
  REQUIRE(log.messages.size() == 3);
  CHECK(log.messages[0].severity == Severity::Warning);
  CHECK(log.messages[0].line == 31);
  CHECK(log.messages[0].text == "something is odd");
  CHECK(log.messages[1].severity == Severity::Error);
  CHECK(log.messages[1].line == 7);
  CHECK(log.messages[2].severity == Severity::Error);
}

TEST_CASE("a clean log has no defects") {
  ResourceLog log = parseResourceLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes "
      "spill loads\n"
      "ptxas info    : Used 10 registers, used 0 barriers\n");
  CHECK(log.defects("").empty());
  CHECK(log.messages.empty());
}

TEST_CASE("text that is no log does no harm") {
  for (const char *text :
       {"", "\n\n", "hello", "ptxas", "ptxas info", "ptxas info :",
        "ptxas info : Used 12 registers", "ptxas info : Used registers",
        "ptxas info : (C", "ptxas info : (C)", "ptxas info : (C99999999999999)",
        "ptxas info : Compiling entry function 'x",
        "ptxas info : Function properties for", "ptxas . bytes stack frame",
        "ptxas info : 99999999999999999999999 bytes gmem",
        "ptxas info : Compile time = ms", ", line ; ptxas",
        "ptxas , line 1; "}) {
    ResourceLog log = parseResourceLog(text);
    INFO(text);
    CHECK(log.globalBytes == 0);
    for (const FunctionResources &function : log.functions)
      CHECK(function.registers == 0);
  }
  // A number too large for its field is not taken for another number.
  ResourceLog log = parseResourceLog("ptxas info : (C99999999999999) odd\n");
  REQUIRE(log.messages.size() == 1);
  CHECK(log.messages[0].code == 0);

  // Cut and damaged at random; sanitizers watch.
  std::string good = std::string(threeKernels) + calledFunction;
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string text = good.substr(random() % good.size());
    for (int j = 0; j < 5 && !text.empty(); ++j)
      text[random() % text.size()] = char(random());
    ResourceLog log = parseResourceLog(text);
    CHECK(log.functions.size() <= 8);
  }
}

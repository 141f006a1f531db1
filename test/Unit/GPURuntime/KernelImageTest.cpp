//===- KernelImageTest.cpp - Kernel images and their JSON -------*- C++ -*-===//

#include "lib/Runtime/GPU/KernelImage.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>

using namespace tilec;
using namespace tilec::gpu;
using Catch::Matchers::Contains;

/// One that has something of everything.
static KernelImage sample() {
  KernelImage image;
  image.name = "scale_rows";
  image.arch = "sm_90a";
  image.threads = 384;
  image.sharedBytes = 200 * 1024;
  image.registers = 168;
  image.params = {KernelParam::pointer(0),
                  KernelParam::stride(0, 1),
                  KernelParam::pointer(2),
                  KernelParam::stride(2, 0, false),
                  KernelParam::extentOf("M"),
                  KernelParam::extentOf("N", false),
                  KernelParam::scalar(1, DType::BF16),
                  KernelParam::reports()};
  image.grid = {{"M", 0, 128}, {"", 7, 2}};
  image.tensors = {{0, "X", DType::F32, 2, 1, 16, true, 127},
                   {2, "Y", DType::F8E4M3, 1, -1, 1, false, 0}};
  image.extents = {{"K", 4096}};
  image.divisors = {{"M", 16}};
  image.sites = {
      {SiteKind::OutOfRange, "a.tile", 3, 7, "", {}},
      {SiteKind::Print, "a.tile", 4, 3, "x =", {{"f32", {4, 8}}, {"i64", {}}}}};
  return image;
}

static std::string text(const KernelImage &image) {
  return llvm::formatv("{0:2}", toJSON(image)).str();
}

static std::string failure(llvm::StringRef json) {
  llvm::Expected<KernelImage> image = kernelImageFromJSON(json);
  return image ? "no failure" : llvm::toString(image.takeError());
}

static std::string invalidity(const KernelImage &image) {
  return llvm::toString(verify(image));
}

TEST_CASE("an image survives its JSON") {
  KernelImage image = sample();
  CHECK(invalidity(image) == "");
  KernelImage back = llvm::cantFail(kernelImageFromJSON(text(image)));
  CHECK(back == image);

  KernelImage least;
  least.name = "k";
  least.arch = "sm_80";
  back = llvm::cantFail(kernelImageFromJSON(text(least)));
  CHECK(back == least);
  CHECK_FALSE(back == image);
}

TEST_CASE("every field is part of the JSON") {
  // Each change must change the text, or a cached kernel would lose it.
  std::string before = text(sample());
  auto changes = [&](auto change) {
    KernelImage image = sample();
    change(image);
    return text(image) != before;
  };
  CHECK(changes([](auto &i) { i.name = "other"; }));
  CHECK(changes([](auto &i) { i.arch = "sm_80"; }));
  CHECK(changes([](auto &i) { i.threads = 128; }));
  CHECK(changes([](auto &i) { i.sharedBytes = 0; }));
  CHECK(changes([](auto &i) { i.registers = 0; }));
  CHECK(changes([](auto &i) { i.params[1].is64 = false; }));
  CHECK(changes([](auto &i) { i.params[1].dim = 0; }));
  CHECK(changes([](auto &i) { i.params[0].arg = 2; }));
  CHECK(changes([](auto &i) { i.params[4].extent = "N"; }));
  CHECK(changes([](auto &i) { i.params[6].dtype = DType::F64; }));
  CHECK(changes([](auto &i) { i.grid[0].tile = 64; }));
  CHECK(changes([](auto &i) { i.grid[1].constant = 8; }));
  CHECK(changes([](auto &i) { i.tensors[0].name = "Z"; }));
  CHECK(changes([](auto &i) { i.tensors[0].dtype = DType::F16; }));
  CHECK(changes([](auto &i) { i.tensors[0].rank = 3; }));
  CHECK(changes([](auto &i) { i.tensors[0].unitStride = 0; }));
  CHECK(changes([](auto &i) { i.tensors[0].alignment = 8; }));
  CHECK(changes([](auto &i) { i.tensors[0].index32 = false; }));
  CHECK(changes([](auto &i) { i.tensors[0].slack = 0; }));
  CHECK(changes([](auto &i) { i.extents[0].value = 1; }));
  CHECK(changes([](auto &i) { i.divisors[0].dim = "N"; }));
  CHECK(changes([](auto &i) { i.divisors[0].divisor = 8; }));
  CHECK(changes([](auto &i) { i.sites[0].kind = SiteKind::Assert; }));
  CHECK(changes([](auto &i) { i.sites[0].file = "b.tile"; }));
  CHECK(changes([](auto &i) { i.sites[0].line = 4; }));
  CHECK(changes([](auto &i) { i.sites[0].column = 8; }));
  CHECK(changes([](auto &i) { i.sites[1].text = "y ="; }));
  CHECK(changes([](auto &i) { i.sites[1].values[0].type = "f16"; }));
  CHECK(changes([](auto &i) { i.sites[1].values[0].shape[1] = 16; }));
}

TEST_CASE("damaged JSON is refused") {
  std::string good = text(sample());
  // Every prefix, and every field taken away.
  for (size_t length = 0; length < good.size(); length += 7)
    CHECK(failure(llvm::StringRef(good).take_front(length)) != "no failure");
  for (const char *field :
       {"format", "name", "arch", "threads", "sharedBytes", "registers",
        "params", "grid", "tensors", "extents", "divisors", "sites"}) {
    llvm::json::Value value = toJSON(sample());
    value.getAsObject()->erase(field);
    CHECK_THAT(failure(llvm::formatv("{0}", value).str()), Contains(field));
  }
  auto replaced = [&](llvm::StringRef from, llvm::StringRef to) {
    size_t at = good.find(from);
    REQUIRE(at != std::string::npos);
    std::string changed = good;
    changed.replace(at, from.size(), to);
    return failure(changed);
  };
  CHECK_THAT(replaced("\"format\": 2", "\"format\": 1"),
             Contains("of another version of tilec"));
  CHECK_THAT(replaced("\"stride\"", "\"strife\""),
             Contains("expected a kind of parameter"));
  CHECK_THAT(replaced("\"bits\": 64", "\"bits\": 48"),
             Contains("expected 32 or 64"));
  CHECK_THAT(replaced("\"bf16\"", "\"bf17\""),
             Contains("expected an element type"));
  CHECK_THAT(replaced("\"threads\": 384", "\"threads\": -1"),
             Contains("threads"));
  CHECK_THAT(replaced("\"threads\": 384", "\"threads\": 2048"),
             Contains("expected 1 to 1024 threads, got 2048"));
}

TEST_CASE("images that make no sense are refused") {
  auto with = [](auto change) {
    KernelImage image = sample();
    change(image);
    return invalidity(image);
  };
  CHECK_THAT(with([](auto &i) { i.name = ""; }), Contains("no name"));
  CHECK_THAT(with([](auto &i) { i.arch = "x86"; }),
             Contains("expected an architecture such as sm_90a, got 'x86'"));
  CHECK_THAT(with([](auto &i) { i.threads = 0; }),
             Contains("expected 1 to 1024 threads, got 0"));
  CHECK_THAT(with([](auto &i) { i.params[0].arg = 5; }),
             Contains("refers to tensor 5, which has no facts"));
  CHECK_THAT(with([](auto &i) { i.params[1].dim = 2; }),
             Contains("stride 2 of tensor 0, which has rank 2"));
  CHECK_THAT(with([](auto &i) { i.params[4].extent = ""; }),
             Contains("names no dimension"));
  CHECK_THAT(with([](auto &i) { i.params[6].arg = 2; }),
             Contains("argument 2 is both a tensor and a scalar"));
  CHECK_THAT(with([](auto &i) { i.tensors[1].arg = 0; }),
             Contains("tensor 0 has facts twice"));
  CHECK_THAT(with([](auto &i) { i.tensors[0].unitStride = 2; }),
             Contains("from -1 to 1, got 2"));
  CHECK_THAT(with([](auto &i) { i.tensors[0].unitStride = -2; }),
             Contains("got -2"));
  for (unsigned alignment : {0u, 3u, 32u})
    CHECK_THAT(with([&](auto &i) { i.tensors[0].alignment = alignment; }),
               Contains("alignment of 1, 2, 4, 8 or 16, got " +
                        std::to_string(alignment)));
  CHECK_THAT(with([](auto &i) { i.tensors[0].slack = -1; }),
             Contains("negative slack"));
  CHECK_THAT(with([](auto &i) { i.grid[0].tile = 0; }),
             Contains("tile of at least 1, got 0"));
  CHECK_THAT(with([](auto &i) { i.grid[1].constant = -1; }),
             Contains("has the extent -1"));
  CHECK_THAT(with([](auto &i) { i.extents[0].value = -4; }),
             Contains("dimension 'K' has the extent -4"));
  CHECK_THAT(with([](auto &i) { i.divisors[0].divisor = 0; }),
             Contains("dimension 'M' is to be a multiple of 0"));
  CHECK_THAT(with([](auto &i) { i.divisors[0].dim = ""; }),
             Contains("dimension '' is to be a multiple of 16"));
  CHECK_THAT(
      with([](auto &i) { i.params.assign(513, KernelParam::extentOf("M")); }),
      Contains("at most 4096 bytes, got 4104"));
  CHECK(with([](auto &i) {
          i.params.assign(512, KernelParam::extentOf("M"));
        }).empty());
}

TEST_CASE("parameters are aligned to their own size") {
  std::vector<unsigned> offsets;
  std::vector<KernelParam> params = {KernelParam::scalar(0, DType::Bool),
                                     KernelParam::scalar(1, DType::F16),
                                     KernelParam::scalar(2, DType::I8),
                                     KernelParam::extentOf("M", false),
                                     KernelParam::pointer(3),
                                     KernelParam::scalar(4, DType::U8)};
  CHECK(packedSize(params, &offsets) == 25);
  CHECK(offsets == std::vector<unsigned>{0, 2, 4, 8, 16, 24});
  CHECK(packedSize({}) == 0);
}

//===- TensorMapTest.cpp - Encoding and walking tensor maps ---------------===//

#include "lib/Emulator/Async/TensorMap.h"
#include <catch2/catch.hpp>
#include <set>

using namespace tilec::emulator;

namespace {

/// Arguments that are right, to be made wrong one at a time.
struct Sample {
  std::vector<uint64_t> dims = {64, 10, 3};
  std::vector<uint64_t> strides = {128, 1280};
  std::vector<uint32_t> box = {32, 4, 2};
  std::vector<uint32_t> elementStrides = {1, 1, 1};
  TensorMapArguments arguments;

  Sample() {
    arguments.dataType = unsigned(TensorMapType::BFloat16);
    arguments.rank = 3;
    arguments.globalAddress = 0x1000;
    arguments.swizzle = unsigned(Swizzle::Bytes64);
  }
  std::string error() {
    arguments.globalDim = dims;
    arguments.globalStrides = strides;
    arguments.boxDim = box;
    arguments.elementStrides = elementStrides;
    auto map = encodeTensorMap(arguments);
    return map ? "" : llvm::toString(map.takeError());
  }
};

} // namespace

TEST_CASE("The encoder refuses what the driver refuses") {
  Sample sample;
  std::string expected;
  SECTION("right") {}
  SECTION("address") {
    sample.arguments.globalAddress += 8;
    expected = "multiple of 16";
  }
  SECTION("rank 0") {
    sample.arguments.rank = 0;
    expected = "rank is 0";
  }
  SECTION("rank 6") {
    sample.arguments.rank = 6;
    expected = "rank is 6";
  }
  SECTION("stride of 8") {
    sample.strides[0] = 136;
    expected = "globalStrides[0]";
  }
  SECTION("stride of 2^40") {
    sample.strides[1] = uint64_t(1) << 40;
    expected = "below 2^40";
  }
  SECTION("no elements") {
    sample.dims[2] = 0;
    expected = "globalDim[2]";
  }
  SECTION("2^32 elements") { sample.dims[2] = uint64_t(1) << 32; }
  SECTION("more elements") {
    sample.dims[2] = (uint64_t(1) << 32) + 1;
    expected = "globalDim[2]";
  }
  SECTION("box of 256") { sample.box[1] = 256; }
  SECTION("box of 257") {
    sample.box[1] = 257;
    expected = "boxDim[1]";
  }
  SECTION("box of 0") {
    sample.box[2] = 0;
    expected = "boxDim[2]";
  }
  SECTION("inner box not of 16 bytes") {
    sample.box[0] = 12;
    expected = "multiple of 16";
  }
  SECTION("inner box beyond the swizzle") {
    sample.box[0] = 40;
    expected = "at most 64";
  }
  SECTION("element stride of 9") {
    sample.elementStrides[1] = 9;
    expected = "elementStrides[1]";
  }
  SECTION("swizzle") {
    sample.arguments.swizzle = 4;
    expected = "swizzle 4";
  }
  SECTION("interleave") {
    sample.arguments.interleave = 1;
    expected = "interleaved";
  }
  SECTION("NaN of integers") {
    sample.arguments.dataType = unsigned(TensorMapType::Int32);
    sample.box[0] = 16;
    sample.arguments.oobFill = 1;
    expected = "NaN";
  }
  std::string error = sample.error();
  INFO(error);
  if (expected.empty())
    CHECK(error.empty());
  else
    CHECK(error.find(expected) != std::string::npos);
}

TEST_CASE("A map is the same after encoding and decoding") {
  Sample sample;
  sample.dims[2] = uint64_t(1) << 32;
  sample.elementStrides = {1, 3, 8};
  sample.box[1] = 256;
  sample.arguments.oobFill = 1;
  REQUIRE(sample.error().empty());
  auto encoded = encodeTensorMap(sample.arguments);
  REQUIRE(bool(encoded));
  auto map = decodeTensorMap(*encoded);
  REQUIRE(bool(map));
  CHECK(map->type == TensorMapType::BFloat16);
  CHECK(map->rank == 3);
  CHECK(map->address == 0x1000);
  CHECK(map->dims[2] == uint64_t(1) << 32);
  CHECK(map->strides[0] == 2);
  CHECK(map->strides[2] == 1280);
  CHECK(map->box[1] == 256);
  CHECK(map->copied(1) == 86);
  CHECK(map->copied(2) == 1);
  CHECK(map->boxBytes() == 64 * 86);
  CHECK(map->swizzle == Swizzle::Bytes64);
  CHECK(map->fillBits() == 0x7ff7'7ff7'7ff7'7ff7);
}

TEST_CASE("Other bytes are no map") {
  std::vector<char> zeros(tensorMapBytes, 0), ones(tensorMapBytes, char(0xff));
  for (const auto &bytes : {zeros, ones}) {
    auto map = decodeTensorMap(bytes);
    REQUIRE(!map);
    llvm::consumeError(map.takeError());
  }
}

TEST_CASE("Swizzles permute pieces within spans of eight rows") {
  // What row of its pattern and which piece of it an address is, in words of
  // the patterns.
  for (uint64_t address = 0; address < 4096; ++address) {
    uint64_t line = address / 128, piece = address / 16 % 8;
    CHECK(swizzled(address, Swizzle::None) == address);
    CHECK(swizzled(address, Swizzle::Bytes128) ==
          line * 128 + (piece ^ (line % 8)) * 16 + address % 16);
    CHECK(swizzled(address, Swizzle::Bytes64) ==
          line * 128 + (piece ^ (line % 4)) * 16 + address % 16);
    CHECK(swizzled(address, Swizzle::Bytes32) ==
          line * 128 + (piece ^ (line % 2)) * 16 + address % 16);
  }
}

TEST_CASE("Pieces of shared memory cover what a part of a box covers") {
  auto swizzle = Swizzle(GENERATE(0, 1, 2, 3));
  for (uint64_t base : {1024u, 1152u, 2048u + 640u})
    for (uint64_t begin = 0; begin < 512; begin += 16)
      for (uint64_t end = begin; end <= 512; end += 48) {
        std::set<uint64_t> expected, found;
        for (uint64_t at = begin; at < end; ++at)
          expected.insert(swizzled(base + at, swizzle));
        bool isTwice = false;
        forEachSharedPiece(base, begin, end, swizzle,
                           [&](uint64_t at, uint64_t bytes) {
                             for (uint64_t i = 0; i < bytes; ++i)
                               isTwice |= !found.insert(at + i).second;
                           });
        CHECK(!isTwice);
        CHECK(found == expected);
      }
}

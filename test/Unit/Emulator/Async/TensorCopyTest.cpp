//===- TensorCopyTest.cpp - Boxes of tensors, by their instructions -------===//
//
// Each test runs the instruction and compares with loops over elements that
// know only what the box is.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Async/TensorMap.h"
#include "test/Unit/Emulator/Async/Run.h"
#include <catch2/catch.hpp>
#include <random>

using namespace tilec::emulator;

namespace {

constexpr unsigned bufferBytes = 16384;

struct Box {
  unsigned rank = 1;
  TensorMapType type = TensorMapType::UInt16;
  unsigned elementBytes = 2;
  std::vector<uint64_t> dims, strides; // Strides in bytes, without the first.
  std::vector<uint32_t> box, elementStrides;
  std::vector<int32_t> coordinates;
  Swizzle swizzle = Swizzle::None;
  bool fillsNaN = false;
  unsigned offset = 0; // Of the buffer in shared memory.
};

EncodedTensorMap encoded(const Box &box, uint64_t address) {
  TensorMapArguments arguments;
  arguments.dataType = unsigned(box.type);
  arguments.rank = box.rank;
  arguments.globalAddress = address;
  arguments.globalDim = box.dims;
  arguments.globalStrides = box.strides;
  arguments.boxDim = box.box;
  arguments.elementStrides = box.elementStrides;
  arguments.swizzle = unsigned(box.swizzle);
  arguments.oobFill = box.fillsNaN;
  auto map = encodeTensorMap(arguments);
  if (!map)
    FAIL(llvm::toString(map.takeError()));
  return *map;
}

uint64_t tensorBytes(const Box &box) {
  uint64_t bytes = box.dims[0] * box.elementBytes;
  for (unsigned i = 1; i < box.rank; ++i)
    bytes = std::max(bytes, box.dims[i] * box.strides[i - 1]);
  return bytes;
}

std::string coordinateList(const Box &box) {
  std::string text;
  for (unsigned i = 0; i < box.rank; ++i)
    text += (i ? ", " : "") + std::string("%c") + std::to_string(i);
  return text;
}

std::string loadCoordinates(const Box &box) {
  std::string text;
  for (unsigned i = 0; i < box.rank; ++i)
    text += "mov.b32 %c" + std::to_string(i) + ", " +
            std::to_string(box.coordinates[i]) + ";\n";
  return text;
}

/// Calls visit(place in the box, place in the tensor or -1) for each element in
/// the order of shared memory.
template <typename Visit> void forEachElement(const Box &box, Visit visit) {
  std::vector<uint32_t> at(box.rank, 0);
  for (uint64_t number = 0;; ++number) {
    int64_t offset = 0;
    bool isInside = true;
    for (unsigned i = 0; i < box.rank; ++i) {
      int64_t stride = i == 0 ? 1 : box.elementStrides[i];
      int64_t where = int64_t(box.coordinates[i]) + at[i] * stride;
      isInside &= where >= 0 && where < int64_t(box.dims[i]);
      offset += where * (i == 0 ? box.elementBytes : box.strides[i - 1]);
    }
    visit(number, isInside ? offset : -1);
    unsigned i = 0;
    for (; i < box.rank; ++i) {
      uint32_t stride = i == 0 ? 1 : box.elementStrides[i];
      if (++at[i] * stride < box.box[i])
        break;
      at[i] = 0;
    }
    if (i == box.rank)
      return;
  }
}

/// Where a byte of an element is in the buffer before the swizzle: with one
/// each row has a whole span.
uint64_t denseOf(const Box &box, uint64_t number, unsigned byte) {
  uint64_t span = box.swizzle == Swizzle::None
                      ? uint64_t(box.box[0]) * box.elementBytes
                      : 16u << unsigned(box.swizzle);
  return box.offset + number / box.box[0] * span +
         number % box.box[0] * box.elementBytes + byte;
}

/// Where a swizzle puts a byte, by the picture of it: in lines of 128 bytes
/// pieces of 16 change places.
uint64_t placeOf(uint64_t address, Swizzle swizzle) {
  unsigned lines = swizzle == Swizzle::Bytes128  ? 8
                   : swizzle == Swizzle::Bytes64 ? 4
                   : swizzle == Swizzle::Bytes32 ? 2
                                                 : 1;
  uint64_t line = address / 128, piece = address / 16 % 8;
  return line * 128 + (piece ^ (line % lines)) * 16 + address % 16;
}

std::vector<unsigned char> randomBytes(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<unsigned char> bytes(count);
  for (auto &byte : bytes)
    byte = uint8_t(random());
  return bytes;
}

const char *copyOut = R"(
  mov.u32 %r1, 0;
out:
  add.u32 %r2, %r0, %r1;
  ld.shared.u32 %r3, [%r2];
  cvt.u64.u32 %rd2, %r1;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  add.u32 %r1, %r1, 4;
  setp.lt.u32 %p1, %r1, 16384;
  @%p1 bra out;
  ret;
}
)";

const char *start = R"(
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 memory) {
  .reg .pred %p<8>;
  .reg .b32 %r<16>, %c<8>;
  .reg .b64 %rd<16>;
  .shared .align 1024 .b8 buffer[16384];
  .shared .align 8 .b64 bar;
  mov.u32 %r0, buffer;
  mov.u32 %r10, bar;
  ld.param.u64 %rd0, [memory];
  cvta.to.global.u64 %rd1, %rd0;
  mov.b64 %rd4, map;
  cvta.param.u64 %rd5, %rd4;
)";

void checkLoad(const Box &box, unsigned seed) {
  DeviceMemory memory;
  auto tensor = randomBytes(tensorBytes(box), seed);
  uint64_t address = upload(memory, tensor, "tensor");
  std::vector<unsigned char> before(bufferBytes, 0x55);
  uint64_t out = upload(memory, before, "out");

  // The buffer is all 0x55 before.
  std::vector<unsigned char> expected = before;
  uint64_t boxBytes = 0;
  forEachElement(box, [&](uint64_t number, int64_t from) {
    boxBytes += box.elementBytes;
    for (unsigned i = 0; i < box.elementBytes; ++i) {
      uint64_t to = placeOf(denseOf(box, number, i), box.swizzle);
      // The NaN is written as halves, whatever the type.
      unsigned char outside = !box.fillsNaN ? 0 : i % 2 == 0 ? 0xf7 : 0x7f;
      expected[to] = from >= 0 ? tensor[from + i] : outside;
    }
  });
  std::string text = fill(std::string(start) + R"(
  mov.u32 %r1, 0;
init:
  add.u32 %r2, %r0, %r1;
  mov.b32 %r3, 0x55555555;
  st.shared.u32 [%r2], %r3;
  add.u32 %r1, %r1, 4;
  setp.lt.u32 %p1, %r1, 16384;
  @%p1 bra init;
  mbarrier.init.shared::cta.b64 [%r10], 1;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], $0;
  $1
  cp.async.bulk.tensor.$2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [buffer+$3], [%rd5, {$4}], [%r10];
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r10], 0;
  @!%p0 bra wait;
)" + copyOut,
                          {std::to_string(boxBytes), loadCoordinates(box),
                           std::to_string(box.rank), std::to_string(box.offset),
                           coordinateList(box)});
  LaunchOptions options;
  options.seed = seed;
  LaunchResult result = run(
      text, Params().add(encoded(box, address), 64).add(out), options, memory);
  CHECK(describe(result) == "");
  CHECK((download<unsigned char>(memory, out, bufferBytes) == expected));
  CHECK(result.counters.bulkLoadBytes == boxBytes);
}

void checkStore(const Box &box, unsigned seed, const std::string &reduction) {
  DeviceMemory memory;
  auto tensor = randomBytes(tensorBytes(box), seed);
  uint64_t address = upload(memory, tensor, "tensor");
  auto buffer = randomBytes(bufferBytes, seed + 1);
  uint64_t source = upload(memory, buffer, "source");
  std::vector<unsigned char> expected = tensor;
  forEachElement(box, [&](uint64_t number, int64_t to) {
    if (to < 0)
      return;
    uint64_t value = 0, old = 0;
    for (unsigned i = 0; i < box.elementBytes; ++i)
      value |= uint64_t(buffer[placeOf(denseOf(box, number, i), box.swizzle)])
               << (8 * i);
    std::memcpy(&old, &tensor[to], box.elementBytes);
    uint64_t now = reduction == "add"   ? old + value
                   : reduction == "max" ? std::max(old, value)
                   : reduction == "xor" ? old ^ value
                                        : value;
    std::memcpy(&expected[to], &now, box.elementBytes);
  });
  std::string text = fill(std::string(start) + R"(
  mov.u32 %r1, 0;
in:
  add.u32 %r2, %r0, %r1;
  cvt.u64.u32 %rd2, %r1;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  st.shared.u32 [%r2], %r3;
  add.u32 %r1, %r1, 4;
  setp.lt.u32 %p1, %r1, 16384;
  @%p1 bra in;
  fence.proxy.async;
  $0
  $4.async.bulk.tensor.$1d.global.shared::cta.$5tile.bulk_group [%rd5, {$3}], [buffer+$2];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
)",
                          {loadCoordinates(box), std::to_string(box.rank),
                           std::to_string(box.offset), coordinateList(box),
                           reduction.empty() ? "cp" : "cp.reduce",
                           reduction.empty() ? "" : reduction + "."});
  LaunchOptions options;
  options.seed = seed;
  LaunchResult result =
      run(text, Params().add(encoded(box, address), 64).add(source), options,
          memory);
  CHECK(describe(result) == "");
  CHECK((download<unsigned char>(memory, address, tensor.size()) == expected));
}

/// A random box of a rank that may reach beyond the tensor on each side, if it
/// is of a load.
Box randomBox(unsigned rank, Swizzle swizzle, std::mt19937 &random,
              bool isStore = false) {
  Box box;
  box.rank = rank;
  box.swizzle = swizzle;
  struct {
    TensorMapType type;
    unsigned bytes;
    bool isFloat;
  } types[] = {
      {TensorMapType::UInt8, 1, false},   {TensorMapType::UInt16, 2, false},
      {TensorMapType::BFloat16, 2, true}, {TensorMapType::Float32, 4, true},
      {TensorMapType::UInt32, 4, false},  {TensorMapType::UInt64, 8, false},
      {TensorMapType::Float64, 8, true}};
  auto type = types[random() % std::size(types)];
  box.type = type.type;
  box.elementBytes = type.bytes;
  box.fillsNaN = type.isFloat && random() % 2;
  uint64_t stride = 0;
  for (unsigned i = 0; i < rank; ++i) {
    uint64_t dim = i == 0 ? 1 + random() % 40 : 1 + random() % 6;
    uint32_t extent = 1 + random() % (rank > 3 ? 3 : 5);
    if (i == 0) {
      unsigned span = spanOf(swizzle);
      unsigned pieces = swizzle == Swizzle::None ? 8 : span / 16;
      extent = (1 + random() % pieces) * 16 / type.bytes;
      stride = (dim * type.bytes + 15) / 16 * 16;
    } else {
      box.strides.push_back(stride);
      stride = stride * dim + 16 * (random() % 2);
    }
    box.dims.push_back(dim);
    box.box.push_back(extent);
    box.elementStrides.push_back(1 + random() % 3);
    int32_t at = int32_t(random() % (dim + extent)) - int32_t(extent) + 1;
    if (i == 0) // A multiple of 16 bytes.
      at = at / int32_t(16 / type.bytes) * int32_t(16 / type.bytes);
    // Stores may not begin before the tensor.
    box.coordinates.push_back(isStore ? std::max(at, 0) : at);
  }
  box.offset = 128 * (random() % 9);
  return box;
}

} // namespace

TEST_CASE("Loads of boxes of every rank and swizzle") {
  unsigned rank = GENERATE(1u, 2u, 3u, 4u, 5u);
  auto swizzle = Swizzle(GENERATE(0, 1, 2, 3));
  std::mt19937 random(rank * 4 + unsigned(swizzle));
  for (unsigned i = 0; i < 6; ++i) {
    CAPTURE(rank, unsigned(swizzle), i);
    checkLoad(randomBox(rank, swizzle, random), random());
  }
}

TEST_CASE("Stores of boxes of every rank and swizzle") {
  unsigned rank = GENERATE(1u, 2u, 3u, 4u, 5u);
  auto swizzle = Swizzle(GENERATE(0, 1, 2, 3));
  std::mt19937 random(100 + rank * 4 + unsigned(swizzle));
  for (unsigned i = 0; i < 6; ++i) {
    CAPTURE(rank, unsigned(swizzle), i);
    checkStore(randomBox(rank, swizzle, random, /*isStore=*/true), random(),
               "");
  }
}

TEST_CASE("Reductions of boxes") {
  std::string reduction = GENERATE("add", "max", "xor");
  std::mt19937 random(7);
  for (unsigned i = 0; i < 8; ++i) {
    Box box = randomBox(1 + i % 5, Swizzle(i % 4), random, /*isStore=*/true);
    while (box.type != TensorMapType::UInt32 &&
           box.type != TensorMapType::UInt64)
      box = randomBox(1 + i % 5, Swizzle(i % 4), random, /*isStore=*/true);
    CAPTURE(reduction, i);
    checkStore(box, random(), reduction);
  }
}

TEST_CASE("A tile of an odd matrix in the swizzle of 128 bytes") {
  Box box;
  box.rank = 2;
  box.type = TensorMapType::BFloat16;
  box.dims = {70, 37};
  box.strides = {144};
  box.box = {64, 32};
  box.elementStrides = {1, 1};
  box.coordinates = {64, 32};
  box.swizzle = Swizzle::Bytes128;
  checkLoad(box, 1);
  box.coordinates = {0, 0};
  checkLoad(box, 2);
  checkStore(box, 3, "");
}

TEST_CASE("Stores leave out what is outside of the tensor") {
  // What they leave out nobody needs to have written.
  auto swizzle = GENERATE(Swizzle::None, Swizzle::Bytes32);
  unsigned columns = GENERATE(3u, 5u, 8u), rows = GENERATE(1u, 6u, 8u);
  bool isLacking = GENERATE(false, true);
  Box box;
  box.rank = 2;
  box.type = TensorMapType::UInt32;
  box.swizzle = swizzle;
  box.dims = {columns, rows};
  box.strides = {32};
  box.box = {8, 8};
  box.elementStrides = {1, 1};
  box.coordinates = {0, 0};
  DeviceMemory memory;
  uint64_t address =
      upload(memory, std::vector<unsigned char>(32 * rows), "tensor");
  std::string stores;
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned column = 0; column < columns; ++column) {
      unsigned at = row * 32 + column * 4;
      if (swizzle == Swizzle::Bytes32)
        at ^= at >> 3 & 16;
      if (!isLacking || row + 1 < rows || column + 1 < columns)
        stores += "st.shared.u32 [buffer+" + std::to_string(at) + "], " +
                  std::to_string(100 * row + column) + ";\n";
    }
  std::string text = fill(std::string(start) + R"(
  $0
  fence.proxy.async;
  $1
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd5, {$2}], [buffer];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
)",
                          {stores, loadCoordinates(box), coordinateList(box)});
  CAPTURE(columns, rows, unsigned(swizzle));
  LaunchResult result = run(
      text, Params().add(encoded(box, address), 64).add(address), {}, memory);
  if (isLacking) {
    CHECK(count(result, ReportKind::Uninitialized) == 1);
    return;
  }
  CHECK(describe(result) == "");
  auto found = download<uint32_t>(memory, address, 8 * rows);
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned column = 0; column < 8; ++column)
      CHECK(found[8 * row + column] ==
            (column < columns ? 100 * row + column : 0));
}

TEST_CASE("Boxes that the hardware does not copy are reported") {
  struct Case {
    std::vector<uint32_t> box;
    std::vector<int32_t> coordinates;
    bool isStore;
    ReportKind kind;
  };
  const Case &test =
      GENERATE(Case{{16, 4}, {4, 1}, false, ReportKind::Misaligned},
               Case{{16, 4}, {4, 1}, true, ReportKind::Misaligned},
               Case{{16, 4}, {0, -1}, true, ReportKind::OutOfBounds},
               Case{{16, 4}, {-8, 0}, true, ReportKind::OutOfBounds},
               Case{{256, 256}, {0, 0}, false, ReportKind::OutOfBounds});
  Box box;
  box.rank = 2;
  box.dims = {64, 8};
  box.strides = {128};
  box.box = test.box;
  box.elementStrides = {1, 1};
  box.coordinates = test.coordinates;
  DeviceMemory memory;
  uint64_t address = upload(memory, randomBytes(1024, 1), "tensor");
  std::string text =
      fill(std::string(start) + R"(
  mbarrier.init.shared::cta.b64 [%r10], 1;
  $0
  $2
  ret;
}
)",
           {loadCoordinates(box), coordinateList(box),
            test.isStore ? "cp.async.bulk.tensor.2d.global.shared::cta."
                           "bulk_group [%rd5, {$1}], [buffer];"
                         : "cp.async.bulk.tensor.2d.shared::cluster."
                           "global.mbarrier::complete_tx::bytes "
                           "[buffer], [%rd5, {$1}], [%r10];"});
  LaunchResult result = run(
      text, Params().add(encoded(box, address), 64).add(address), {}, memory);
  INFO(describe(result));
  CHECK(result.reports.size() == 1);
  CHECK(count(result, test.kind) == 1);
  CHECK(result.counters.bulkLoadBytes == 0);
  CHECK(result.counters.bulkStoreBytes == 0);
}

//===- WgmmaTest.cpp - Products of matrices by warpgroups -----------------===//
//
// The test places the elements of A and B in an image of shared memory by what
// each layout is, element by element, runs the instruction, and compares with
// the sums of products. Elements are small integers, so sums are exact.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/Emulator/Async/Run.h"
#include <catch2/catch.hpp>
#include <random>

using namespace tilec::emulator;

namespace {

constexpr unsigned imageBytes = 65536;

struct Type {
  const char *name;
  unsigned bits;
  bool isFloat;
  int low, high; // Of the test's elements.
};
const Type f16 = {"f16", 16, true, -8, 8}, bf16 = {"bf16", 16, true, -8, 8},
           tf32 = {"tf32", 32, true, -8, 8}, e4m3 = {"e4m3", 8, true, -4, 4},
           e5m2 = {"e5m2", 8, true, -3, 3}, s8 = {"s8", 8, false, -128, 127},
           u8 = {"u8", 8, false, 0, 255};

/// The bits of a small integer.
uint32_t bitsOf(const Type &type, int value) {
  if (!type.isFloat)
    return uint32_t(value) & 0xff;
  if (value == 0)
    return 0;
  unsigned sign = value < 0, magnitude = unsigned(std::abs(value));
  unsigned exponent = 0;
  while (magnitude >> (exponent + 1))
    ++exponent;
  struct Layout {
    unsigned exponentBits, fractionBits;
  };
  std::string name = type.name;
  Layout layout = name == "f16"    ? Layout{5, 10}
                  : name == "bf16" ? Layout{8, 7}
                  : name == "tf32" ? Layout{8, 23}
                  : name == "e4m3" ? Layout{4, 3}
                                   : Layout{5, 2};
  unsigned bias = (1u << (layout.exponentBits - 1)) - 1;
  uint32_t fraction = (uint32_t(magnitude) << layout.fractionBits >> exponent) &
                      ((1u << layout.fractionBits) - 1);
  return sign << (layout.exponentBits + layout.fractionBits) |
         (bias + exponent) << layout.fractionBits | fraction;
}

/// A matrix of `outer` rows (or columns) of k elements, and where it lies.
struct Layout {
  unsigned span = 128; // Of the swizzle; 16: none.
  bool isMNMajor = false;
  unsigned start = 0, leading = 0, stride = 0; // Bytes.

  uint64_t descriptor(uint64_t base) const {
    uint64_t mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    return ((base + start) >> 4 & 0x3fff) | uint64_t(leading >> 4) << 16 |
           uint64_t(stride >> 4) << 32 | mode << 62;
  }
  /// The byte of an element in the image, which is at a multiple of 1024.
  unsigned byteOf(unsigned outer, unsigned k, unsigned elementBytes) const {
    unsigned units = span / 16, at = start;
    unsigned fast = isMNMajor ? outer : k, slow = isMNMajor ? k : outer;
    unsigned unit = fast * elementBytes / 16;
    unsigned inUnit = fast * elementBytes % 16;
    if (span == 16) {
      // Cores of eight times 16 bytes; the roles of the strides differ.
      at += slow % 8 * 16 + inUnit;
      at += isMNMajor ? slow / 8 * leading + unit * stride
                      : slow / 8 * stride + unit * leading;
      return at;
    }
    at += slow / 8 * stride + slow % 8 * span + unit / units * leading +
          unit % units * 16 + inUnit;
    // In each line of 128 bytes pieces change places.
    unsigned line = at / 128, piece = at / 16 % 8;
    piece ^= line % (span / 16);
    return line * 128 + piece * 16 + at % 16;
  }
};

/// Strides by which a matrix lies densely, atom after atom.
Layout denseLayout(unsigned span, bool isMNMajor, unsigned outer,
                   unsigned start) {
  Layout layout;
  layout.span = span;
  layout.isMNMajor = isMNMajor;
  layout.start = start;
  if (span == 16) {
    layout.leading = isMNMajor ? outer / 8 * 128 : 128;
    layout.stride = isMNMajor ? 128 : 256;
  } else if (isMNMajor) {
    layout.stride = 8 * span;
    layout.leading = 16 * span;
  } else {
    layout.stride = 8 * span;
    layout.leading = 16;
  }
  return layout;
}

struct Product {
  Type a = bf16, b = bf16;
  std::string d = "f32";
  unsigned n = 8;
  bool isARegister = false;
  Layout layoutA, layoutB;
  int signA = 1, signB = 1;
  bool accumulates = true;
};

std::string list(const std::string &prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i);
  return text + "}";
}

void check(const Product &product, unsigned seed) {
  std::mt19937 random(seed);
  unsigned n = product.n, k = 256 / product.a.bits;
  auto draw = [&](const Type &type) {
    return type.low + int(random() % unsigned(type.high - type.low + 1));
  };
  std::vector<int> a(64 * k), b(size_t(n) * k), c(64 * n);
  for (int &value : a)
    value = draw(product.a);
  for (int &value : b)
    value = draw(product.b);
  for (int &value : c)
    value = int(random() % 201) - 100;

  std::vector<unsigned char> image(imageBytes);
  for (auto &byte : image)
    byte = uint8_t(random()) & 0x3f;
  auto place = [&](const Layout &layout, const Type &type, unsigned outer,
                   unsigned at, int value) {
    uint32_t bits = bitsOf(type, value);
    std::memcpy(&image[layout.byteOf(outer, at, type.bits / 8)], &bits,
                type.bits / 8);
  };
  for (unsigned i = 0; i < 64 && !product.isARegister; ++i)
    for (unsigned j = 0; j < k; ++j)
      place(product.layoutA, product.a, i, j, a[i * k + j]);
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < k; ++j)
      place(product.layoutB, product.b, i, j, b[i * k + j]);

  // Registers of A and of D, by thread.
  std::vector<uint32_t> fragment(128 * 4, 0);
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned r = 0; r < 4; ++r) {
      unsigned per = 32 / product.a.bits;
      unsigned row = 16 * (t / 32) + t % 32 / 4 + 8 * (r & 1);
      for (unsigned i = 0; i < per; ++i) {
        unsigned column = per * (t % 4) + i + 4 * per * (r >> 1);
        fragment[t * 4 + r] |= bitsOf(product.a, a[row * k + column])
                               << (i * product.a.bits);
      }
    }
  bool isHalf = product.d == "f16", isInteger = product.d == "s32";
  unsigned registers = isHalf ? n / 4 : n / 2;
  auto elementOf = [&](unsigned t, unsigned v) {
    unsigned row = 16 * (t / 32) + t % 32 / 4 + 8 * (v >> 1 & 1);
    return row * n + 8 * (v >> 2) + 2 * (t % 4) + (v & 1);
  };
  auto pack = [&](double value) -> uint32_t {
    if (isInteger)
      return uint32_t(int32_t(value));
    if (isHalf) {
      // Exact: below 2048.
      return bitsOf(f16, int(value));
    }
    float number = float(value);
    uint32_t bits;
    std::memcpy(&bits, &number, 4);
    return bits;
  };
  auto accumulators = [&](auto valueOf) {
    std::vector<uint32_t> words(128 * registers, 0);
    for (unsigned t = 0; t < 128; ++t)
      for (unsigned v = 0; v < n / 2; ++v) {
        uint32_t bits = pack(valueOf(elementOf(t, v)));
        if (isHalf)
          words[t * registers + v / 2] |= bits << (v % 2 * 16);
        else
          words[t * registers + v] = bits;
      }
    return words;
  };
  auto before = accumulators([&](unsigned at) { return c[at]; });
  auto expected = accumulators([&](unsigned at) {
    double sum = product.accumulates ? c[at] : 0;
    for (unsigned j = 0; j < k; ++j)
      sum += double(product.signA * a[at / n * k + j]) *
             (product.signB * b[at % n * k + j]);
    return sum;
  });

  std::string loadD, storeD;
  for (unsigned r = 0; r < registers; ++r) {
    std::string place = "[%rd4+" + std::to_string(4 * r) + "]";
    loadD += "ld.global.b32 %d" + std::to_string(r) + ", " + place + ";\n";
    storeD += "st.global.b32 " + place + ", %d" + std::to_string(r) + ";\n";
  }
  std::string immediates;
  if (product.a.isFloat)
    immediates = ", " + std::to_string(product.signA) + ", " +
                 std::to_string(product.signB);
  if (product.a.bits == 16) {
    if (!product.isARegister)
      immediates += product.layoutA.isMNMajor ? ", 1" : ", 0";
    immediates += product.layoutB.isMNMajor ? ", 1" : ", 0";
  }
  std::string text =
      fill(R"(
.extern .shared .align 1024 .b8 stage[];
.visible .entry k(.param .u64 image, .param .u64 fragment, .param .u64 d,
                  .param .u64 da, .param .u64 db, .param .u32 scale) {
  .reg .pred %p<8>;
  .reg .b32 %r<16>, %d<128>, %a<4>;
  .reg .b64 %rd<16>;
  ld.param.u64 %rd0, [image];
  ld.param.u64 %rd1, [fragment];
  ld.param.u64 %rd2, [d];
  ld.param.u64 %rd6, [da];
  ld.param.u64 %rd7, [db];
  ld.param.u32 %r8, [scale];
  setp.ne.u32 %p2, %r8, 0;
  mov.u32 %r0, %tid.x;
  mov.u32 %r4, stage;
  shl.b32 %r1, %r0, 2;
in:
  cvt.u64.u32 %rd3, %r1;
  add.u64 %rd3, %rd3, %rd0;
  ld.global.u32 %r2, [%rd3];
  add.u32 %r3, %r4, %r1;
  st.shared.u32 [%r3], %r2;
  add.u32 %r1, %r1, 512;
  setp.lt.u32 %p1, %r1, 65536;
  @%p1 bra in;
  fence.proxy.async;
  bar.sync 0;
  mul.wide.u32 %rd5, %r0, 16;
  add.u64 %rd5, %rd5, %rd1;
  ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%rd5];
  mul.wide.u32 %rd4, %r0, $0;
  add.u64 %rd4, %rd4, %rd2;
  $1
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n$2k$3.$4.$5.$6 $7, $8, %rd7, %p2$9;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
)" + storeD + "ret;\n}\n",
           {std::to_string(4 * registers), loadD, std::to_string(n),
            std::to_string(k), product.d, product.a.name, product.b.name,
            list("%d", registers),
            product.isARegister ? "{%a0, %a1, %a2, %a3}" : "%rd6", immediates});
  DeviceMemory memory;
  uint64_t dAddress = upload(memory, before, "d");
  Params params;
  params.add(upload(memory, image, "image"))
      .add(upload(memory, fragment, "fragment"))
      .add(dAddress)
      .add(product.layoutA.descriptor(1024))
      .add(product.layoutB.descriptor(1024))
      .add(uint32_t(product.accumulates));
  LaunchOptions options;
  options.block = {128, 1, 1};
  options.dynamicShared = imageBytes;
  options.seed = seed;
  LaunchResult result = run(text, params, options, memory);
  CHECK(describe(result) == "");
  auto found = download<uint32_t>(memory, dAddress, expected.size());
  size_t wrong = 0;
  for (size_t i = 0; i < found.size(); ++i)
    wrong += found[i] != expected[i];
  CHECK(wrong == 0);
  CHECK(result.counters.wgmmaOperations == 1);
  CHECK(result.counters.wgmmaFlops == 2ull * 64 * n * k);
}

/// A and B with the same span, apart from each other.
Product product(const Type &a, const Type &b, std::string d, unsigned n,
                unsigned span, bool transposesA, bool transposesB) {
  Product result;
  result.a = a;
  result.b = b;
  result.d = std::move(d);
  result.n = n;
  result.layoutA = denseLayout(span, transposesA, 64, 0);
  result.layoutB = denseLayout(span, transposesB, n, 16384);
  return result;
}

} // namespace

TEST_CASE("wgmma of 16-bit floats, both majors, every swizzle") {
  const Type &type = GENERATE(f16, bf16);
  unsigned span = GENERATE(16u, 32u, 64u, 128u);
  bool transposesA = GENERATE(false, true), transposesB = GENERATE(false, true);
  for (unsigned n : {8u, 72u, 256u}) {
    CAPTURE(type.name, span, transposesA, transposesB, n);
    check(product(type, type, "f32", n, span, transposesA, transposesB), n);
  }
}

TEST_CASE("wgmma of other types is K-major") {
  unsigned span = GENERATE(16u, 32u, 64u, 128u);
  CAPTURE(span);
  check(product(tf32, tf32, "f32", 24, span, false, false), 1);
  check(product(e4m3, e4m3, "f32", 40, span, false, false), 2);
  check(product(e4m3, e5m2, "f32", 16, span, false, false), 3);
  check(product(e5m2, e4m3, "f16", 8, span, false, false), 4);
  check(product(s8, s8, "s32", 24, span, false, false), 5);
  check(product(u8, s8, "s32", 32, span, false, false), 6);
  check(product(u8, u8, "s32", 8, span, false, false), 7);
  check(product(f16, f16, "f16", 16, span, false, false), 8);
}

TEST_CASE("wgmma with A in registers") {
  for (const auto &[a, b, d] :
       {std::tuple(bf16, bf16, "f32"), std::tuple(f16, f16, "f16"),
        std::tuple(tf32, tf32, "f32"), std::tuple(e5m2, e5m2, "f32"),
        std::tuple(s8, u8, "s32")}) {
    CAPTURE(a.name, b.name, d);
    Product made = product(a, b, d, 64, 128, false, false);
    made.isARegister = true;
    check(made, 1);
  }
  Product made = product(bf16, bf16, "f32", 128, 64, false, true);
  made.isARegister = true;
  check(made, 2);
}

TEST_CASE("wgmma without accumulators, and with signs") {
  Product made = product(bf16, bf16, "f32", 32, 128, false, false);
  made.accumulates = false;
  check(made, 1);
  made.signA = -1;
  check(made, 2);
  made.signB = -1;
  check(made, 3);
  made.accumulates = true;
  made.signA = 1;
  check(made, 4);
}

TEST_CASE("wgmma of strides of all kinds") {
  // K-major: the second k-step of a row of 128 bytes, groups of rows apart.
  Product made = product(bf16, bf16, "f32", 64, 128, false, false);
  made.layoutA.start += 32;
  made.layoutB.start += 96;
  made.layoutA.stride = 2048;
  made.layoutB.stride = 3072;
  check(made, 1);
  // K-major without swizzle: both units far apart.
  made = product(bf16, bf16, "f32", 64, 16, false, false);
  made.layoutA.leading = 4096;
  made.layoutA.stride = 144;
  made.layoutB.leading = 272;
  made.layoutB.stride = 1040;
  check(made, 2);
  // MN-major: atoms along MN apart, and eight k apart.
  made = product(bf16, bf16, "f32", 128, 128, false, true);
  made.layoutB.leading = 8192;
  made.layoutB.stride = 2048;
  check(made, 3);
  // MN-major without swizzle: the roles of the strides are the other ones.
  made = product(f16, f16, "f32", 32, 16, true, true);
  made.layoutA.leading = 160;
  made.layoutA.stride = 512;
  made.layoutB.leading = 4096;
  made.layoutB.stride = 256;
  check(made, 4);
  // A tile that does not begin at a multiple of the swizzle's pattern: its
  // phase is that of the address.
  made = product(bf16, bf16, "f32", 16, 128, false, false);
  made.layoutA.start = 384;
  made.layoutB.start = 16384 + 128;
  check(made, 5);
}

//===- Programs.cpp - The programs of the validation suite ----------------===//

#include "test/Emulator/Validation/Programs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

using namespace tilec;
using namespace tilec::test;

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

template <typename T> static T number(llvm::StringRef text) {
  T value = 0;
  INFO(text.str());
  REQUIRE(!text.getAsInteger(10, value));
  return value;
}

template <typename T> static std::vector<T> list(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef, 5> parts;
  text.split(parts, 'x');
  std::vector<T> values;
  for (llvm::StringRef part : parts)
    values.push_back(number<T>(part));
  return values;
}

static MapDirective parseMap(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef, 9> parts;
  text.split(parts, ',');
  REQUIRE(parts.size() >= 7);
  MapDirective map;
  map.isOutput = parts[0] == "out";
  map.type = llvm::StringSwitch<unsigned>(parts[1])
                 .Case("u8", 0)
                 .Case("u16", 1)
                 .Case("u32", 2)
                 .Case("s32", 3)
                 .Case("u64", 4)
                 .Case("s64", 5)
                 .Case("f16", 6)
                 .Case("f32", 7)
                 .Case("f64", 8)
                 .Case("bf16", 9);
  map.dims = list<uint64_t>(parts[2]);
  if (map.dims.size() > 1)
    map.strides = list<uint64_t>(parts[3]);
  map.box = list<uint32_t>(parts[4]);
  map.elementStrides = list<uint32_t>(parts[5]);
  map.swizzle = llvm::StringSwitch<unsigned>(parts[6])
                    .Case("0", 0)
                    .Case("32", 1)
                    .Case("64", 2)
                    .Case("128", 3);
  for (llvm::StringRef part : llvm::drop_begin(parts, 7)) {
    if (part.consume_front("+"))
      map.offset = number<uint64_t>(part);
    else
      map.fillsNaN = part == "nan";
  }
  return map;
}

static Comparison parseComparison(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef, 3> parts;
  text.split(parts, ':');
  Comparison comparison;
  comparison.type = llvm::StringSwitch<Comparison::Type>(parts[0])
                        .Case("bits", Comparison::Bits)
                        .Case("f16", Comparison::F16)
                        .Case("bf16", Comparison::BF16)
                        .Case("f32", Comparison::F32)
                        .Case("f64", Comparison::F64);
  if (parts.size() > 1)
    REQUIRE(!parts[1].getAsDouble(comparison.relative));
  if (parts.size() > 2)
    REQUIRE(!parts[2].getAsDouble(comparison.absolute));
  return comparison;
}

static ValidationKernel parseKernel(llvm::StringRef program,
                                    llvm::StringRef line) {
  llvm::SmallVector<llvm::StringRef, 10> words;
  line.split(words, ' ', -1, /*KeepEmpty=*/false);
  ValidationKernel kernel;
  kernel.program = program.str();
  kernel.name = words.front().str();
  for (llvm::StringRef word : llvm::drop_begin(words)) {
    auto [key, value] = word.split('=');
    INFO(word.str());
    if (key == "in") {
      auto [kind, count] = value.split(':');
      kernel.inputKind = kind.str();
      kernel.inputWords = number<size_t>(count);
    } else if (key == "out") {
      kernel.outputWords = number<size_t>(value);
    } else if (key == "block") {
      std::vector<unsigned> extents = list<unsigned>(value);
      llvm::copy(extents, kernel.block.begin());
    } else if (key == "grid") {
      kernel.grid = number<unsigned>(value);
    } else if (key == "cluster") {
      kernel.cluster = number<unsigned>(value);
    } else if (key == "shared") {
      kernel.shared = number<uint64_t>(value);
    } else if (key == "compare") {
      kernel.comparison = parseComparison(value);
    } else if (key == "map") {
      kernel.maps.push_back(parseMap(value));
    } else {
      FAIL("no such directive");
    }
  }
  return kernel;
}

std::vector<ValidationKernel> test::kernelsOf(llvm::StringRef program,
                                              llvm::StringRef text) {
  std::vector<ValidationKernel> kernels;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (line.consume_front("//!"))
      kernels.push_back(parseKernel(program, line));
  return kernels;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

namespace {

/// splitmix64.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    state += 0x9e3779b97f4a7c15;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

private:
  uint64_t state;
};

/// A float as record.py draws it.
uint64_t drawFloat(Random &random, unsigned exponentBits,
                   unsigned fractionBits) {
  uint64_t bias = (uint64_t(1) << (exponentBits - 1)) - 1;
  uint64_t most = (uint64_t(1) << exponentBits) - 1;
  uint64_t ones = (uint64_t(1) << fractionBits) - 1;
  uint64_t choice = random.next();
  uint64_t fraction = random.next() & ones;
  unsigned pick = choice & 15, sign = choice >> 4 & 1, shape = choice >> 5 & 3;
  uint64_t drawn = choice >> 16;
  if (shape == 0)
    fraction &= ~(ones >> 3);
  else if (shape == 1)
    fraction |= ones >> 2;
  uint64_t near = std::min<uint64_t>(8, bias / 2);
  uint64_t exponent = 0;
  if (pick < 8) {
    exponent = bias - near + drawn % (2 * near + 1);
  } else if (pick < 11) {
    exponent = drawn % (most + 1);
  } else if (pick < 13) {
    exponent = drawn % std::min<uint64_t>(fractionBits + 2, bias);
  } else if (pick == 13) {
    exponent = 0;
  } else if (pick == 14) {
    exponent = most - drawn % 3;
  } else {
    const std::pair<uint64_t, uint64_t> special[] = {
        {0, 0},    {most, 0},    {most, (ones + 1) >> 1},
        {bias, 0}, {1, 0},       {most - 1, ones},
        {0, 1},    {bias - 1, 0}};
    std::tie(exponent, fraction) = special[drawn % 8];
  }
  return (uint64_t(sign) << exponentBits | exponent) << fractionBits | fraction;
}

} // namespace

std::vector<uint32_t> ValidationKernel::input() const {
  uint64_t seed = 0xcbf29ce484222325; // FNV-1a.
  for (char c : program + "." + name)
    seed = (seed ^ uint8_t(c)) * 0x100000001b3;
  Random random(seed);
  std::vector<uint32_t> words;
  while (words.size() < inputWords) {
    if (inputKind == "bits") {
      words.push_back(random.next() >> 32);
    } else if (inputKind == "f32") {
      words.push_back(drawFloat(random, 8, 23));
    } else if (inputKind == "f64") {
      uint64_t value = drawFloat(random, 11, 52);
      words.push_back(value);
      words.push_back(value >> 32);
    } else {
      unsigned exponentBits = inputKind == "f16" ? 5 : 8;
      uint64_t low = drawFloat(random, exponentBits, 15 - exponentBits);
      uint64_t high = drawFloat(random, exponentBits, 15 - exponentBits);
      words.push_back(low | high << 16);
    }
  }
  words.resize(inputWords);
  return words;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

llvm::StringMap<std::vector<uint32_t>>
test::readExpected(llvm::StringRef path) {
  llvm::StringMap<std::vector<uint32_t>> results;
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return results;
  llvm::SmallVector<llvm::StringRef> lines;
  (*file)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    if (line.starts_with("#"))
      continue;
    auto [name, rest] = line.split(' ');
    auto [count, base64] = rest.split(' ');
    INFO(path.str() << ": " << name.str());
    std::vector<char> compressed;
    REQUIRE(!llvm::errorToBool(llvm::decodeBase64(base64, compressed)));
    std::vector<uint32_t> words(number<size_t>(count));
    llvm::SmallVector<uint8_t, 0> bytes;
    REQUIRE(!llvm::errorToBool(llvm::compression::zlib::decompress(
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(compressed.data()),
                       compressed.size()),
        bytes, 4 * words.size())));
    REQUIRE(bytes.size() == 4 * words.size());
    std::memcpy(words.data(), bytes.data(), bytes.size());
    results[name] = std::move(words);
  }
  return results;
}

/// A float of any width up to 64 bits, from its bits.
static double valueOf(uint64_t bits, unsigned exponentBits,
                      unsigned fractionBits) {
  int bias = (1 << (exponentBits - 1)) - 1;
  int exponent = bits >> fractionBits & ((1 << exponentBits) - 1);
  uint64_t fraction = bits & ((uint64_t(1) << fractionBits) - 1);
  double value;
  if (exponent == (1 << exponentBits) - 1)
    value = fraction ? NAN : HUGE_VAL;
  else if (exponent == 0)
    value = std::ldexp(double(fraction), 1 - bias - int(fractionBits));
  else
    value = std::ldexp(double(fraction | uint64_t(1) << fractionBits),
                       exponent - bias - int(fractionBits));
  return bits >> (exponentBits + fractionBits) & 1 ? -value : value;
}

static bool isNear(const Comparison &how, double expected, double found) {
  if (std::isnan(expected))
    return std::isnan(found);
  if (std::isinf(expected) || std::isinf(found))
    return expected == found;
  double error = std::fabs(found - expected);
  return error <= how.relative * std::fabs(expected) || error <= how.absolute;
}

/// Whether the words at `i` (and the one after, for f64) are the same.
static bool areSame(const Comparison &how, const std::vector<uint32_t> &x,
                    const std::vector<uint32_t> &y, size_t i) {
  if (x[i] == y[i])
    return true;
  auto both = [&](unsigned exponentBits, unsigned fractionBits, auto bitsOf) {
    return isNear(how, valueOf(bitsOf(x), exponentBits, fractionBits),
                  valueOf(bitsOf(y), exponentBits, fractionBits));
  };
  auto half = [&](unsigned shift) {
    return [=](const std::vector<uint32_t> &words) -> uint64_t {
      return words[i] >> shift & 0xffff;
    };
  };
  switch (how.type) {
  case Comparison::Bits:
    return false;
  case Comparison::F16:
    return both(5, 10, half(0)) && both(5, 10, half(16));
  case Comparison::BF16:
    return both(8, 7, half(0)) && both(8, 7, half(16));
  case Comparison::F32:
    return both(8, 23, [=](auto &words) -> uint64_t { return words[i]; });
  case Comparison::F64:
    // Only the upper word tells how near they are.
    return both(11, 20, [=](auto &words) -> uint64_t { return words[i]; });
  }
  return false;
}

std::string test::difference(const ValidationKernel &kernel,
                             const std::vector<uint32_t> &expected,
                             const std::vector<uint32_t> &found) {
  if (expected.size() != found.size())
    return "other sizes";
  constexpr unsigned shown = 6;
  unsigned count = 0;
  std::string text;
  unsigned threads =
      kernel.grid * kernel.block[0] * kernel.block[1] * kernel.block[2];
  std::vector<uint32_t> in = kernel.input();
  for (size_t i = 0; i < expected.size(); ++i) {
    if (areSame(kernel.comparison, expected, found, i))
      continue;
    if (++count > shown)
      continue;
    unsigned thread = i % threads;
    text += llvm::formatv(
        "\n  word {0} (row {1}, thread {2}): {3:x8} instead of {4:x8}", i,
        i / threads, thread, found[i], expected[i]);
    if (in.size() >= threads)
      text += "; input";
    for (unsigned at = thread, n = 0; at < in.size() && n < 3;
         at += threads, ++n)
      text += llvm::formatv(" {0:x8}", in[at]);
  }
  if (count == 0)
    return "";
  return llvm::formatv("{0} of {1} words differ:{2}", count, expected.size(),
                       text);
}

//===- Running.cpp - One instruction on many values, for tests ------------===//

#include "Running.h"
#include "lib/Emulator/Emulator.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <random>

using namespace tilec;
using namespace tilec::emulator;
using tilec::test::Operands;
using tilec::test::Type;

namespace {

constexpr const char *names[] = {"%a", "%b", "%c", "%e"};
constexpr unsigned blockSize = 128;

std::string typeName(Type type) { return ptx::nameOf(type).str(); }

/// The name of the type that has as many bits and nothing else: what ld and st
/// have.
std::string bitsName(Type type) {
  return "b" + std::to_string(ptx::bitsOf(type));
}

std::string load(const std::string &name, Type type, unsigned offset) {
  std::string address = "[%in+" + std::to_string(offset) + "];\n";
  if (type == Type::Pred)
    return "ld.global.b32 %word, " + address + "setp.ne.b32 " + name +
           ", %word, 0;\n";
  return "ld.global." + bitsName(type) + " " + name + ", " + address;
}

std::string kernel(const std::string &statements, Type result,
                   llvm::ArrayRef<Type> types) {
  std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n"
                     ".visible .entry f(.param .u64 in, .param .u64 out) {\n"
                     ".reg .b64 %in, %out, %offset;\n"
                     ".reg .b32 %i, %j, %word, %r<10>;\n"
                     ".reg .b16 %h<10>; .reg .b64 %x<10>; .reg .pred %p<10>;\n";
  text += ".reg ." + typeName(result) + " %d;\n";
  for (unsigned i = 0; i != types.size(); ++i)
    text += ".reg ." + typeName(types[i]) + " " + names[i] + ";\n";
  text += "ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n"
          "mov.u32 %i, %tid.x; mov.u32 %j, %ctaid.x;\n"
          "mad.lo.u32 %i, %j, " +
          std::to_string(blockSize) +
          ", %i;\n"
          "mul.wide.u32 %offset, %i, 32; add.u64 %in, %in, %offset;\n"
          "mul.wide.u32 %offset, %i, 8; add.u64 %out, %out, %offset;\n";
  for (unsigned i = 0; i != types.size(); ++i)
    text += load(names[i], types[i], 8 * i);
  text += statements + "\n";
  if (result == Type::Pred)
    text += "selp.u32 %word, 1, 0, %d;\nst.global.b32 [%out], %word;\n";
  else
    text += "st.global." + bitsName(result) + " [%out], %d;\n";
  return text + "ret;\n}\n";
}

uint64_t lowBits(uint64_t value, Type type) {
  unsigned bits = ptx::bitsOf(type);
  return bits >= 64 ? value : value & llvm::maskTrailingOnes<uint64_t>(bits);
}

} // namespace

std::vector<uint64_t> test::run(const std::string &statements, Type result,
                                llvm::ArrayRef<Type> types,
                                llvm::ArrayRef<Operands> inputs) {
  INFO(statements);
  DeviceMemory memory;
  auto program =
      loadProgram(kernel(statements, result, types), "t.ptx", memory);
  if (!program) {
    FAIL(llvm::toString(program.takeError()));
    return {};
  }
  // Whole blocks: the last threads repeat the first operands.
  std::vector<Operands> padded(inputs);
  while (padded.size() % blockSize)
    padded.push_back(inputs.front());
  uint64_t in = memory.allocate(padded.size() * sizeof(Operands), "in");
  uint64_t out = memory.allocate(padded.size() * 8, "out");
  std::memcpy(memory.find(in, 1), padded.data(),
              padded.size() * sizeof(Operands));
  char *results = memory.find(out, 1);
  std::memset(results, 0, padded.size() * 8);
  uint64_t params[] = {in, out};
  LaunchOptions options;
  options.grid[0] = unsigned(padded.size() / blockSize);
  options.block[0] = blockSize;
  options.detectRaces = false;
  auto launched = launch(
      **program, "f",
      llvm::ArrayRef(reinterpret_cast<const char *>(params), sizeof(params)),
      options, memory);
  if (!launched) {
    FAIL(llvm::toString(launched.takeError()));
    return {};
  }
  for (const Report &report : launched->reports)
    FAIL_CHECK(format(report, (*program)->module()));
  std::vector<uint64_t> values(inputs.size());
  std::memcpy(values.data(), results, values.size() * 8);
  return values;
}

std::vector<uint64_t> test::valuesOf(Type type, unsigned numRandom) {
  if (type == Type::Pred)
    return {0, 1};
  unsigned bits = ptx::bitsOf(type);
  uint64_t top = uint64_t(1) << (bits - 1);
  std::vector<uint64_t> values = {
      0,        1,        2,        3,
      7,        31,       32,       bits,
      bits + 1, 255,      top - 1,  top,
      top + 1,  0 - 2ull, 0 - 1ull, 0x5555555555555555};
  std::mt19937_64 random(bits);
  // Of all sizes, not only large ones.
  for (unsigned i = 0; i != numRandom; ++i)
    values.push_back(random() >> (random() % bits));
  for (uint64_t &value : values)
    value = lowBits(value, type);
  return values;
}

std::vector<test::Operands> test::combinations(llvm::ArrayRef<Type> types) {
  std::vector<Operands> result(1);
  for (unsigned i = 0; i != types.size(); ++i) {
    // Not more than some ten thousand in all.
    std::vector<uint64_t> values =
        valuesOf(types[i], types.size() < 3 ? 20 : 4);
    std::vector<Operands> extended;
    for (const Operands &operands : result)
      for (uint64_t value : values) {
        extended.push_back(operands);
        extended.back()[i] = value;
      }
    result = std::move(extended);
  }
  return result;
}

void test::check(const std::string &statements, Type result,
                 llvm::ArrayRef<Type> types,
                 const std::function<uint64_t(Operands)> &expected) {
  check(statements, result, types, combinations(types), expected);
}

void test::check(const std::string &statements, Type result,
                 llvm::ArrayRef<Type> types, llvm::ArrayRef<Operands> inputs,
                 const std::function<uint64_t(Operands)> &expected) {
  std::vector<uint64_t> found = run(statements, result, types, inputs);
  REQUIRE(found.size() == inputs.size());
  size_t numWrong = 0;
  for (size_t i = 0; i != inputs.size() && numWrong != 3; ++i) {
    const Operands &in = inputs[i];
    uint64_t wanted = lowBits(expected(in), result);
    if (found[i] == wanted)
      continue;
    ++numWrong;
    INFO(statements << std::hex << " of " << in[0] << ", " << in[1] << ", "
                    << in[2] << ", " << in[3]);
    CHECK(found[i] == wanted);
  }
  CHECK(numWrong == 0);
}

std::string test::errorOf(const std::string &statements) {
  DeviceMemory memory;
  auto program =
      loadProgram(".version 9.0 .target sm_90a .address_size 64 .entry f() {\n"
                  ".reg .b32 %r<10>; .reg .b16 %h<10>; .reg .b64 %x<10>;"
                  ".reg .pred %p<10>; .reg .f32 %f<10>; .reg .b128 %q<4>;\n" +
                      statements + "\n}\n",
                  "t.ptx", memory);
  if (program)
    return "no error";
  return llvm::toString(program.takeError());
}

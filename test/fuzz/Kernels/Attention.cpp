//===- Attention.cpp - Random attention kernels -----------------*- C++ -*-===//
//
// The part of the generator that makes kernels around an attention: element
// types, groups of heads, masks and scores with captured arrays and scalars.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Kernels/Generator.h"

using namespace tilec;
using namespace tilec::fuzz;

namespace {
class AttentionGenerator {
public:
  AttentionGenerator(Random &random, Case &test) : random(random), test(test) {}
  void run();

private:
  unsigned addDim(std::string name, int64_t size) {
    test.dims.push_back({std::move(name), size});
    return static_cast<unsigned>(test.dims.size() - 1);
  }
  TensorParam &addTensor(const std::string &name, DType dtype,
                         std::vector<unsigned> dims, int64_t low, int64_t high);
  std::string mask();
  std::string simpleMask();
  std::string score();

  Random &random;
  Case &test;
  unsigned b = 0, h = 0, s = 0, t = 0;
};
} // namespace

TensorParam &AttentionGenerator::addTensor(const std::string &name, DType dtype,
                                           std::vector<unsigned> dims,
                                           int64_t low, int64_t high) {
  for (TensorParam &tensor : test.tensors)
    if (tensor.name == name)
      return tensor;
  TensorParam &tensor = test.tensors.emplace_back();
  tensor.name = name;
  tensor.dtype = dtype;
  tensor.layout = randomLayout(random, dims.size(), /*isOutput=*/false);
  tensor.dims = std::move(dims);
  tensor.low = low;
  tensor.high = high;
  return tensor;
}

std::string AttentionGenerator::simpleMask() {
  const int64_t keys = test.dims[t].size, queries = test.dims[s].size;
  switch (random.below(11)) {
  case 0:
  case 1:
    return "q >= kv";
  case 2:
    return "abs(q - kv) <= " + std::to_string(random.below(40));
  case 3:
    addTensor("L", DType::I64, {b}, 0, keys + 1);
    return "kv < L[b]";
  case 4:
    // Positions of both as indices of one array.
    addDim("W", std::max(keys, queries));
    addTensor("doc", DType::I32, {static_cast<unsigned>(test.dims.size() - 1)},
              0, 3);
    return "doc[q] == doc[kv]";
  case 5:
    return "(q + kv) % 3 != 0";
  case 6:
    addTensor("seen", DType::Bool, {s, t}, 0, 2);
    return "seen[q, kv]";
  case 7:
    return "q / 8 >= kv / 8";
  case 8:
    return "kv >= " + std::to_string(random.below(keys + 1));
  case 9:
    return "q - kv < " + std::to_string(1 + random.below(30));
  default:
    return "kv % 2 == q % 2";
  }
}

std::string AttentionGenerator::mask() {
  std::string text = simpleMask();
  if (random.chance(35))
    text = "(" + text + (random.chance(60) ? ") && (" : ") || (") +
           simpleMask() + ")";
  return text;
}

std::string AttentionGenerator::score() {
  switch (random.below(6)) {
  case 0:
    return "s * 0.25";
  case 1:
    addTensor("slope", DType::F32, {h}, 0, 3);
    return "s - slope[h] * 0.125 * (q - kv)";
  case 2:
    return "8 * tanh(s / 8)";
  case 3:
    addTensor("bias", random.pick({DType::F32, DType::BF16}), {s, t}, -2, 3);
    return "s + bias[q, kv]";
  case 4:
    // Indices beyond the end read 0.
    addDim("R", 1 + random.below(60));
    addTensor("table", DType::F32,
              {static_cast<unsigned>(test.dims.size() - 1)}, -2, 3);
    return "s + table[abs(kv - q)]";
  default:
    return "where(q > kv, s, s * 0.5)";
  }
}

void AttentionGenerator::run() {
  const int64_t groups = random.pick({1, 1, 2}), perGroup = 1 + random.below(3);
  b = addDim("B", 1 + random.below(2));
  h = addDim("H", groups * perGroup);
  unsigned g = addDim("G", groups);
  s = addDim("S", randomSize(random, 200));
  t = addDim("T", randomSize(random, 300));
  unsigned d = addDim("D", random.pick({1, 3, 8, 16, 17, 32, 40, 64, 64, 65, 80,
                                        96, 128, 128}));
  unsigned e =
      random.chance(70) ? d : addDim("E", random.pick({1, 8, 20, 33, 64, 128}));
  test.requirement = "H % G == 0";
  DType type = random.pick({DType::F32, DType::F32, DType::BF16, DType::BF16,
                            DType::BF16, DType::F16, DType::F16, DType::TF32,
                            DType::F8E4M3});
  bool isTile = random.chance(85);
  std::string row = isTile ? "tile(S)" : "S";
  if (!isTile)
    test.dims[s].size = std::min<int64_t>(test.dims[s].size, 20);
  addTensor("Q", type, {b, h, s, d}, -2, 3);
  addTensor("K", type, {b, g, t, d}, -2, 3);
  addTensor("V", type, {b, g, t, e}, -3, 4);

  std::string call = "attention(Q[b, h, i], K[b, g], V[b, g]";
  if (random.chance(20))
    call += ", scale = 0.125";
  if (random.chance(70))
    call += ", mask = |q, kv| " + mask();
  if (random.chance(50))
    call += ", score = |s, q, kv| " + score();
  call += ")";
  bool wantsSum = random.chance(50);
  test.body = {{"grid b in B, h in H, i in " + row, {}},
               {"g = h / (H / G)", {}}};
  if (wantsSum)
    test.body.push_back({"O[b, h, i], lse[b, h, i] = " + call, {}});
  else if (random.chance(70))
    test.body.push_back({"O[b, h, i] = " + call, {}});
  else
    test.body.push_back({"O[b, h, i] = relu(" + call + ") * 2", {}});

  auto addOutput = [&](const std::string &name, DType dtype,
                       std::vector<unsigned> dims) {
    TensorParam &output = addTensor(name, dtype, std::move(dims), 0, 1);
    output.access = TensorParam::Access::Out;
    output.layout = randomLayout(random, output.dims.size(), /*isOutput=*/true);
    output.error = -1;
  };
  addOutput("O", random.pick({DType::F32, DType::BF16, DType::F16}),
            {b, h, s, e});
  if (wantsSum)
    addOutput("lse", DType::F32, {b, h, s});
  if (isTile && random.chance(90))
    test.schedule.emplace_back("i", randomTile(random));
  if (random.chance(80))
    test.schedule.emplace_back("kv", randomTile(random));
  constexpr int64_t elements = 4096;
  addKnobs(random, test, elements);
}

void fuzz::generateAttention(Random &random, Case &test) {
  AttentionGenerator(random, test).run();
}

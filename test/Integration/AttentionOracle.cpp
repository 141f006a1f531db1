//===- AttentionOracle.cpp - Attention by plain loops -----------*- C++ -*-===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/AttentionOracle.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

AttentionResult test::attentionOf(const Tensor &Q, const Tensor &K,
                                  const Tensor &V, const AttentionRule &rule) {
  bool hasHeads = Q.shape().size() == 4;
  int64_t B = hasHeads ? Q.shape()[0] : 1, H = hasHeads ? Q.shape()[1] : 1,
          G = hasHeads ? K.shape()[1] : 1;
  int64_t S = Q.shape().drop_back().back(), D = Q.shape().back(),
          T = K.shape().drop_back().back(), E = V.shape().back();
  double scale = rule.scale != 0 ? rule.scale : 1 / std::sqrt(double(D));
  const double *q = Q.values().data(), *k = K.values().data(),
               *v = V.values().data();
  AttentionResult result;
  std::vector<double> scores(static_cast<size_t>(T));
  for (int64_t b = 0; b < B; ++b)
    for (int64_t h = 0; h < H; ++h)
      for (int64_t i = 0; i < S; ++i) {
        int64_t g = b * G + h / (H / G);
        const double *row = q + ((b * H + h) * S + i) * D;
        double top = -INFINITY;
        for (int64_t j = 0; j < T; ++j) {
          double &score = scores[static_cast<size_t>(j)];
          score = -INFINITY;
          if (rule.mask && !rule.mask({b, h, i, j}))
            continue;
          const double *key = k + (g * T + j) * D;
          double sum = 0;
          for (int64_t d = 0; d < D; ++d)
            sum += row[d] * key[d];
          score = sum * scale;
          if (rule.score)
            score = rule.score(score, {b, h, i, j});
          top = std::max(top, score);
        }
        std::vector<double> o(static_cast<size_t>(E), 0.0);
        double total = 0;
        for (int64_t j = 0; j < T && top > -INFINITY; ++j) {
          double p = std::exp(scores[static_cast<size_t>(j)] - top);
          if (p == 0)
            continue;
          total += p;
          const double *value = v + (g * T + j) * E;
          for (int64_t e = 0; e < E; ++e)
            o[static_cast<size_t>(e)] += p * value[e];
        }
        for (double x : o)
          result.O.push_back(total > 0 ? x / total : 0);
        result.lse.push_back(total > 0 ? top + std::log(total) : -INFINITY);
      }
  return result;
}

void test::expectAttention(const Tensor &Q, const Tensor &K, const Tensor &V,
                           const Tensor &O, const Tensor *lse,
                           const AttentionRule &rule) {
  AttentionResult expected = attentionOf(Q, K, V, rule);
  double weights = V.dtype() == DType::F32
                       ? 0
                       : std::min(floatFormat(V.dtype()).epsilon, 0x1p-8);
  Tolerance tolerance = toleranceOf(O.dtype());
  tolerance.relative += 1e-5;
  tolerance.absolute += 5e-6 + weights;
  size_t at = 0;
  expectClose(O, [&](Index) { return expected.O[at++]; }, tolerance);
  if (!lse)
    return;
  at = 0;
  expectClose(*lse, [&](Index) { return expected.lse[at++]; }, {2e-5, 5e-6});
}

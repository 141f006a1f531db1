//===- AttentionOracle.h - Attention by plain loops -------------*- C++ -*-===//
//
// Softmax attention in double precision, one row at a time: every score, the
// largest, the exponentials, the weighted sum. Keys that the mask excludes take
// no part, whatever their values hold.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_INTEGRATION_ATTENTIONORACLE_H
#define TILEC_TEST_INTEGRATION_ATTENTIONORACLE_H

#include "test/Integration/Harness.h"

namespace tilec::test {

/// The position of one score: batch, head, query, key.
struct Position {
  int64_t b, h, q, kv;
};

/// How attention is to be computed. The shapes come from the tensors, which are
/// Q [B, H, S, D], K [B, G, T, D], V [B, G, T, E], or the same without B and H.
struct AttentionRule {
  std::function<bool(Position)> mask = nullptr;            // Null: all.
  std::function<double(double, Position)> score = nullptr; // Null: as it is.
  double scale = 0;                                        // 0: 1 / sqrt(D).
};

struct AttentionResult {
  std::vector<double> O, lse; // Row-major [B, H, S, E] and [B, H, S].
};

AttentionResult attentionOf(const Tensor &Q, const Tensor &K, const Tensor &V,
                            const AttentionRule &rule);

/// Compares O, and lse if it is not null, with the oracle. Weights are rounded
/// to the type of V before they multiply it, which is what the tolerance is.
void expectAttention(const Tensor &Q, const Tensor &K, const Tensor &V,
                     const Tensor &O, const Tensor *lse,
                     const AttentionRule &rule);

/// Options for data with logits of a natural size.
inline FillOptions normal(double scale = 1) {
  FillOptions options;
  options.scale = scale;
  return options;
}

inline bool isCausal(Position p) { return p.q >= p.kv; }

} // namespace tilec::test

#endif // TILEC_TEST_INTEGRATION_ATTENTIONORACLE_H

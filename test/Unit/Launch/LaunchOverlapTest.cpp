//===- LaunchOverlapTest.cpp - Arguments that share memory ------*- C++ -*-===//
//
// What is written may share memory with nothing; inputs may with one another.
// Whether two views do is the concern of Overlap.h.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/Launch/Launching.h"

using namespace tilec;
using namespace tilec::test;
using Catch::Matchers::Contains;

static constexpr const char *add =
    "kernel add2(X: f32[N], Y: f32[N], Z: out f32[N]) {\n"
    "  grid n in tile(N)\n"
    "  Z[n] = X[n] + Y[n]\n"
    "}\n";

TEST_CASE("inputs may share memory") {
  Launching launching(add);
  CHECK(launching.binds({view({10}), view({10}), view({10}, 10)}));
  CHECK(launching.binds({view({10}), view({10}, 5), view({10}, 15)}));
  CHECK(launching.binds(
      {strided({10}, {0}), strided({10}, {-1}, 9), view({10}, 10)}));
}

TEST_CASE("an output shares memory with an input") {
  Launching launching(add);
  std::string same =
      launching.failure({view({10}), view({10}, 50), view({10})});
  CHECK_THAT(same, Contains("k.tile:1:35: error: arguments 'Z' and 'X' share "
                            "memory, and 'Z' is written"));
  CHECK_THAT(same, Contains("k.tile:1:13: note: 'X' is declared here"));
  CHECK_THAT(same, Contains("help: pass separate arrays, or make it one "
                            "'inout' parameter"));
  CHECK_THAT(same, !Contains("'Y'"));

  // A part is enough, from either side; touching is not.
  CHECK_FALSE(launching.binds({view({10}), view({10}, 50), view({10}, 9)}));
  CHECK_FALSE(launching.binds({view({10}, 9), view({10}, 50), view({10})}));
  CHECK(launching.binds({view({10}), view({10}, 50), view({10}, 10)}));
  CHECK(launching.binds({view({10}, 10), view({10}, 50), view({10})}));

  // With both inputs there are two messages.
  std::string both = launching.failure({view({10}), view({10}), view({10}, 5)});
  CHECK_THAT(both, Contains("'Z' and 'X'"));
  CHECK_THAT(both, Contains("'Z' and 'Y'"));
}

TEST_CASE("interleaved arrays are separate") {
  Launching launching(add);
  // The even, the odd, and the far elements.
  CHECK(launching.binds(
      {strided({10}, {2}), strided({10}, {2}, 30), strided({10}, {2}, 1)}));
  CHECK_FALSE(launching.binds(
      {strided({10}, {2}), strided({10}, {2}, 30), strided({10}, {2}, 2)}));
}

TEST_CASE("bytes count, not elements") {
  Launching launching("kernel k(X: i8[N], Y: out f32[N]) {\n"
                      "  grid n in tile(N)\n  Y[n] = f32(X[n])\n}\n");
  auto bytes = [](int64_t offset) {
    return TensorView::contiguous(reinterpret_cast<int8_t *>(memory) + offset,
                                  DType::I8, {4});
  };
  CHECK_FALSE(launching.binds({bytes(15), view({4})}));
  CHECK(launching.binds({bytes(16), view({4})}));
}

TEST_CASE("an output whose elements coincide") {
  Launching launching("kernel k(X: f32[M, N], Y: out f32[M, N]) { Y = X }\n");
  CHECK_THAT(
      launching.failure({view({3, 4}), strided({3, 4}, {0, 1}, 100)}),
      Contains("k.tile:1:24: error: argument 'Y' is written, but several of "
               "its indices are one element: f32[3, 4] strides [0, 1]") &&
          Contains("help: pass an array without broadcast (zero-stride) "
                   "dimensions"));
  CHECK_FALSE(launching.binds({view({3, 4}), strided({3, 4}, {2, 1}, 100)}));
  // A stride of 0 is nothing where the extent is 1.
  CHECK(launching.binds({view({1, 4}), strided({1, 4}, {0, 1}, 100)}));
  CHECK(launching.binds({view({3, 4}), strided({3, 4}, {1, 3}, 100)}));
}

TEST_CASE("two outputs share memory") {
  Launching launching("kernel k(X: f32[N], Y: out f32[N], Z: add f32[N]) {\n"
                      "  grid n in tile(N)\n  Y[n] = X[n]\n  Z[n] += X[n]\n"
                      "}\n");
  CHECK(launching.binds({view({9}), view({9}, 10), view({9}, 20)}));
  std::string text =
      launching.failure({view({9}), view({9}, 10), view({9}, 12)});
  CHECK_THAT(text, Contains("arguments 'Y' and 'Z' share memory, and 'Y' is "
                            "written"));
  // Once, not once for each of the two.
  CHECK(launching.diags.getNumErrors() == 1);
  // An `add` parameter is written as well as an `out` one.
  CHECK_THAT(launching.failure({view({9}), view({9}, 10), view({9}, 8)}),
             Contains("arguments 'Z' and 'X'"));
}

TEST_CASE("an inout parameter is read and written by itself alone") {
  Launching launching("kernel k(X: f32[N], Y: inout f32[N]) {\n"
                      "  grid n in tile(N)\n  Y[n] = Y[n] + X[n]\n}\n");
  CHECK(launching.binds({view({9}), view({9}, 9)}));
  CHECK_THAT(launching.failure({view({9}), view({9})}),
             Contains("arguments 'Y' and 'X' share memory"));
}

TEST_CASE("arrays without elements share nothing") {
  Launching launching(add);
  CHECK(launching.binds({view({0}), view({0}), view({0})}));
}

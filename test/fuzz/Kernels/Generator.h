//===- Generator.h - Random kernels -----------------------------*- C++ -*-===//
//
// Makes the case of a seed and an index. A case has a grid, loops and branches,
// expressions over the axes that exist at each place, and stores; inputs are
// made as expressions ask for them. One case in eight is an attention.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_FUZZ_KERNELS_GENERATOR_H
#define TILEC_TEST_FUZZ_KERNELS_GENERATOR_H

#include "test/fuzz/Kernels/Case.h"
#include "test/fuzz/Kernels/Values.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <random>

namespace tilec::fuzz {

/// A source of decisions.
class Random {
public:
  Random(uint64_t seed, uint64_t index);

  /// From 0 to n - 1.
  int64_t below(int64_t n) {
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(n));
  }
  bool chance(int64_t percent) { return below(100) < percent; }
  template <typename T> T pick(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int64_t>(list.size()))];
  }
  template <typename T> const T &pick(const std::vector<T> &list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }
  template <typename T> void shuffle(std::vector<T> &list) {
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1],
                list[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
  }

private:
  std::mt19937_64 engine;
};

Case generate(uint64_t seed, uint64_t index);

/// An extent: small, near a multiple of a tile, prime, or none.
int64_t randomSize(Random &random, int64_t most);
int64_t randomTile(Random &random);
Layout randomLayout(Random &random, size_t rank, bool isOutput);
/// "warps", "stages" and "group", for tiles of so many elements.
void addKnobs(Random &random, Case &test, int64_t elements);
/// A kernel around an attention.
void generateAttention(Random &random, Case &test);

/// Writes one kernel.
class Generator {
public:
  Generator(Random &random, Case &test) : random(random), test(test) {}
  void run();

private:
  struct Axis {
    std::string name;
    unsigned dim;
    bool isTile;
    int64_t covered; // Positions at a time, at most.
    int64_t padded;  // What a tile on a GPU has of it.
  };

  // Generator.cpp: the kernel's parts.
  void makeDims();
  void makeGrid();
  void fillBlock(int count);
  void addLoop();
  void addBranch();
  void addStore();
  void assign(Value value);
  unsigned addAxis(std::string name, unsigned dim, bool isTile, int64_t size);
  std::string loopRange(const std::string &name, unsigned dim,
                        const std::string &extent, int64_t most, int64_t &tile);
  std::string otherExtent(unsigned dim);
  void accumulate(unsigned loopAxis, int64_t trips, bool isTile);

  // Expressions.cpp: values.
  Value expression();
  Value elementwise();
  Value reduction();
  Value product();
  Value gather();
  Value shifted();
  Value number(); // An operand: of the pool, read from a tensor, or a scalar.
  Value exactNumber();
  Value condition();
  Value position();
  Value scalar();
  Value randomNumber();
  Value load(unsigned axes, std::optional<DType> dtype = {});
  Value loadFrom(size_t tensor, llvm::ArrayRef<std::string> subscripts,
                 unsigned axes);
  size_t makeInput(std::vector<unsigned> dims, DType dtype, int64_t low,
                   int64_t high);
  DType randomDType();
  unsigned randomAxes();
  unsigned randomSubset(unsigned axes);
  bool fits(const Value &value) const;
  bool isSmall(llvm::ArrayRef<unsigned> dims) const;

  int64_t covered(unsigned axes) const;
  int64_t padded(unsigned axes) const;
  std::string namesOf(unsigned axes) const;

  Random &random;
  Case &test;
  std::vector<Axis> axes;
  unsigned visible = 0; // Axes that exist here.
  std::vector<Value> pool;
  std::vector<ScalarParam> extents; // Of the grid, where not a dimension's.
  /// Positions that exist here: the name of the variable, its dimension.
  std::vector<std::pair<std::string, unsigned>> positions;
  std::vector<Statement> *block = nullptr;
  size_t numGridPositions = 0;
  unsigned gridAxes = 0;
  int64_t largestTile = 1; // Of what was assigned, in elements.
  bool allowsSpecial = false, hasTiles = true;
  int numVariables = 0, numLoops = 0, depth = 0;
  /// Of what the innermost loop accumulates; they stand in front of it.
  std::vector<std::string> pendingDefinitions;
};

} // namespace tilec::fuzz

#endif // TILEC_TEST_FUZZ_KERNELS_GENERATOR_H

//===- KernelFixture.h - Compiles and runs kernels in tests -----*- C++ -*-===//
//
// Kernels in these tests are text in the tile dialect, compiled by the cpu
// target and run on arrays made here. What they should compute is always worked
// out by plain loops in the test.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_UNIT_CPU_KERNELFIXTURE_H
#define TILEC_TEST_UNIT_CPU_KERNELFIXTURE_H

#include "codegen/CPU/JIT.h"

#include "mlir/IR/MLIRContext.h"

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tilec::test {

/// A kernel from text. Fails the running test if it does not compile.
class Kernel {
public:
  explicit Kernel(const std::string &text,
                  cpu::CompileOptions options = defaultOptions());

  /// Runs and fails the test if that does not work.
  void run(llvm::ArrayRef<cpu::Argument> arguments, unsigned threads = 2);

  ReportSink reports;
  std::vector<std::string> printed;
  std::unique_ptr<cpu::CompiledKernel> compiled;

  static cpu::CompileOptions defaultOptions();
};

/// Replaces every $NAME in `text`.
std::string fill(std::string text,
                 const std::map<std::string, std::string> &values);

/// An argument `NAME: view<EXTENTSxTYPE>` of a kernel as text. `unit` is the
/// contiguous dimension, -1 for none.
std::string view(const std::string &name, const std::string &type,
                 const std::string &access, int unit);

/// Row-major memory with poison around it, which a run must not touch.
template <typename T> class Tensor {
public:
  static constexpr size_t guard = 512;

  explicit Tensor(llvm::ArrayRef<int64_t> shape, T fill = T())
      : shape(shape.begin(), shape.end()) {
    int64_t total = 1;
    for (int64_t extent : shape)
      total *= extent;
    memory.assign(total + 2 * guard, T(77));
    size = total;
    std::fill_n(data(), size, fill);
  }

  T *data() { return memory.data() + guard; }
  T &operator[](int64_t i) { return data()[i]; }
  cpu::Argument argument() { return cpu::Argument::tensor(data(), shape); }
  bool guardsIntact() const {
    for (size_t i = 0; i < guard; ++i)
      if (memory[i] != T(77) || memory[guard + size + i] != T(77))
        return false;
    return true;
  }
  /// Small integers, so that sums are exact in any order.
  void randomIntegers(unsigned seed, int low = -4, int high = 4) {
    std::mt19937 generator(seed);
    std::uniform_int_distribution<int> number(low, high);
    for (int64_t i = 0; i < size; ++i)
      data()[i] = T(number(generator));
  }
  void randomReals(unsigned seed, double low = -1, double high = 1) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> number(low, high);
    for (int64_t i = 0; i < size; ++i)
      data()[i] = T(number(generator));
  }

  std::vector<int64_t> shape;
  int64_t size = 0;

private:
  std::vector<T> memory;
};

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_CPU_KERNELFIXTURE_H

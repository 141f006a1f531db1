//===- Harness.h - Runs kernels and compares the results --------*- C++ -*-===//
//
// What the numeric tests have in common. A test says which kernel of which
// .tile file to run, makes arguments, runs it, and compares the results with
// loops of its own in double precision:
//
//   Launch launch("std/matmul.tile", "matmul", {{"T", "bf16"}});
//   Tensor &A = launch.in("A", {M, K});
//   Tensor &B = launch.in("B", {K, N}, Layout::Transposed);
//   Tensor &C = launch.out("C", {M, N});
//   launch.run();
//   expectClose(C, [&](Index i) {
//     double sum = 0;
//     for (int64_t k = 0; k < K; ++k)
//       sum += A(i[0], k) * B(k, i[1]);
//     return sum;
//   });
//
// Every run is watched: arrays end at pages that cannot be accessed, and have
// poisoned surroundings and gaps that must survive; outputs are poisoned
// beforehand so that an element that was not written is NaN; inputs must not
// change by one bit. A failure names the kernel, the
// shapes and layouts, the schedule and the seed of the data; `--rng-seed N`
// repeats it, and `--rng-seed time` tries other data.
//
// A kernel is compiled once for each specialization in a process.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_INTEGRATION_HARNESS_H
#define TILEC_TEST_INTEGRATION_HARNESS_H

#include "lib/Compiler/CpuTarget.h"
#include "lib/Runtime/RandomFill.h"
#include "test/Integration/GuardedMemory.h"

#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tilec::test {

/// How an argument lies in memory. All but RowMajor mean something else only
/// for arrays that have the dimensions it takes.
enum class Layout {
  RowMajor,
  Transposed, // The last two dimensions exchanged in memory.
  Gaps2,      // Inner stride 2.
  Gaps3,      // Inner stride 3, and a gap after each row.
  Padded,     // Inner stride 1, a gap after each row; begins at a page.
  Offset,     // Padded, and begins in the middle of poison.
  Reversed,   // All strides negative.
  Broadcast,  // First dimension has stride 0 (inputs only).
  BroadcastLast,
};
llvm::StringRef layoutName(Layout layout);
/// All that an output may have.
llvm::ArrayRef<Layout> outputLayouts();
llvm::ArrayRef<Layout> inputLayouts();

using Shape = std::vector<int64_t>;
using Index = llvm::ArrayRef<int64_t>;

class Launch;

/// Calls `body` with each index of a shape, in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(Index)> body);

/// A tensor argument of a launch.
class Tensor {
public:
  /// The element as it was before the run, which is what oracles read.
  template <typename... I> double operator()(I... index) const {
    return before[offsetOf({static_cast<int64_t>(index)...})];
  }
  /// The element after the run.
  template <typename... I> double result(I... index) const {
    return after[offsetOf({static_cast<int64_t>(index)...})];
  }
  const std::vector<double> &results() const { return after; }

  /// Sets one element, before the run.
  void set(std::initializer_list<int64_t> index, double value);
  void setInt(std::initializer_list<int64_t> index, int64_t value);
  /// Sets every element, in row-major order.
  void setAll(llvm::ArrayRef<double> values);
  void setAll(const std::function<double(Index)> &value);
  void fill(double value);
  /// After changes through view(): what operator() gives is read again.
  void refresh() { before = read(); }

  const TensorView &view() const { return tensor; }
  /// What operator() reads, in row-major order.
  llvm::ArrayRef<double> values() const { return before; }
  DType dtype() const { return tensor.dtype; }
  llvm::ArrayRef<int64_t> shape() const { return tensor.shape; }
  int64_t numElements() const { return tensor.numElements(); }
  llvm::StringRef name() const { return argName; }
  /// The launch it belongs to, for messages.
  std::string describeLaunch() const;

private:
  friend class Launch;
  size_t offsetOf(std::initializer_list<int64_t> index) const {
    size_t offset = 0, d = 0;
    for (int64_t i : index)
      offset = offset * static_cast<size_t>(tensor.shape[d++]) +
               static_cast<size_t>(i);
    return offset;
  }
  std::vector<double> read() const;

  const Launch *launch = nullptr;
  std::string argName, layout;
  bool isInput = false, isOutput = false;
  GuardedMemory memory;
  TensorView tensor;
  std::vector<uint8_t> initial; // All of the memory before the run.
  std::vector<uint8_t> bytes;   // The same, with results where they belong.
  std::vector<double> before, after;
};

using CtArgs = std::vector<std::pair<std::string, std::string>>;
using ScheduleArgs = std::vector<std::pair<std::string, int64_t>>;

/// Whether kernels that have a grid run on a GPU; see Launch::run.
bool runsOnGpu();

/// One launch of one kernel.
class Launch {
public:
  /// `file` is relative to the repository; one without a folder is in Inputs.
  Launch(llvm::StringRef file, llvm::StringRef kernel, CtArgs ctArgs = {},
         ScheduleArgs schedule = {});
  ~Launch();

  /// An argument with random data: `fill` says which.
  Tensor &in(llvm::StringRef param, Shape shape,
             Layout layout = Layout::RowMajor, FillOptions fill = {});
  /// A poisoned output.
  Tensor &out(llvm::StringRef param, Shape shape,
              Layout layout = Layout::RowMajor);
  /// For `inout` and `add`: random data that the kernel may change.
  Tensor &inout(llvm::StringRef param, Shape shape,
                Layout layout = Layout::RowMajor, FillOptions fill = {});
  /// Memory of the caller's, for what is too large to be guarded.
  void adopt(llvm::StringRef param, const TensorView &view);
  void scalar(llvm::StringRef param, double value);
  void scalarInt(llvm::StringRef param, int64_t value);

  /// Compiles if need be and runs; fails the test on any error. With a GPU
  /// target in the environment's TILEC_TEST_TARGET ("sm_90a") kernels that have
  /// a grid run there; with "emulator" those whose arrays are small.
  void run();
  /// run(), and then as often on the same arguments: every run has to give the
  /// same bits. Threads that race give others now and then.
  void runRepeatedly(unsigned times);
  /// The same for a kernel that reports errors while it runs: returns their
  /// text, which is empty if there were none.
  std::string runReporting();
  /// Behind run(): every output is what the reference evaluator gives.
  void expectReference();
  /// Binds only, and returns the text of the errors.
  std::string bindErrors();

  unsigned threads = 0;
  bool checked = true;
  /// More passes on the tile dialect, in MLIR's textual form; first those of
  /// the environment's TILEC_TEST_PASSES, which so applies to any test.
  std::string passes;
  /// How many programs the last run had.
  int64_t numPrograms = 0;

  std::string describe() const;

private:
  Tensor &make(llvm::StringRef param, const Shape &shape, Layout layout);
  const typed::Param &param(llvm::StringRef name) const;
  std::vector<Argument> arguments() const;
  void keepMemory();
  void verifyMemory();
  bool isSmall() const;
  std::string runOnGpu(llvm::StringRef target);

  struct Source;
  struct Executable;
  struct DeviceExecutable;
  static Source &sourceOf(llvm::StringRef file, llvm::StringRef kernel,
                          const CtArgs &ctArgs);
  static std::unique_ptr<Source> loadSource(llvm::StringRef file,
                                            llvm::StringRef kernel,
                                            const CtArgs &ctArgs);
  Executable &executableFor(const Specialization &specialization);

  std::string file, kernelName;
  CtArgs ctArgs;
  ScheduleArgs schedule;
  Source *source;
  std::unique_ptr<DeviceExecutable> onDevice; // Of the last run on a GPU.
  std::deque<Tensor> tensors;                 // References stay good.
  std::map<std::string, Argument> others;     // Scalars and adopted tensors.
};

/// Integer values small enough that every sum in these tests is exact.
FillOptions integers(int64_t min = -4, int64_t maxExclusive = 5);

/// How far a result may be from the oracle: `relative` to the element's own
/// magnitude, `absolute` to the largest magnitude of the whole array (what
/// cancellation within a sum leaves), and `least`, whatever the magnitudes.
struct Tolerance {
  double relative, absolute, least = 0;
};
/// One rounding to the dtype, and the f32 (f64) arithmetic before it.
Tolerance toleranceOf(DType dtype);

using Oracle = std::function<double(Index)>;
void expectClose(const Tensor &actual, const Oracle &oracle);
void expectClose(const Tensor &actual, const Oracle &oracle,
                 Tolerance tolerance);
/// The value the oracle gives, rounded once to the dtype.
void expectExact(const Tensor &actual, const Oracle &oracle);
/// All the same to the bit, values of NaN apart.
void expectSame(const Tensor &a, const Tensor &b);

/// The extents tests choose from.
inline constexpr int64_t extents[] = {0, 1, 7, 77, 1000, 1025};

} // namespace tilec::test

#endif // TILEC_TEST_INTEGRATION_HARNESS_H

//===- BenchOnHost.cpp - Measuring on the target cpu ------------*- C++ -*-===//
//
// Times whole launches, as `tilec run --repeat` does.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/BenchTarget.h"
#include "tools/tilec/CpuRuns.h"

using namespace tilec;
using namespace tilec::cli;

namespace {
class CpuBench : public BenchTarget {
public:
  bool makeArguments(Program &, const typed::Kernel &,
                     RunArguments &arguments) override {
    return arguments.prepare();
  }
  bool compile(BenchCase &item, const BoundLaunch &bound) override;
  bool measure(llvm::ArrayRef<BenchCase *> cases, const BoundLaunch &bound,
               RunArguments &arguments, BenchReport &report) override;
};
} // namespace

bool CpuBench::compile(BenchCase &item, const BoundLaunch &bound) {
  typed::Kernel &kernel = *item.subject.kernel;
  item.onCpu = CpuExecutable::create(*item.program, kernel,
                                     Specialization::of(kernel, bound),
                                     makeCompileOptions(item.options));
  if (!item.onCpu)
    return false;
  item.figures.compileMilliseconds = item.onCpu->compileMilliseconds();
  item.figures.programs = item.onCpu->numPrograms(kernel, bound);
  return true;
}

bool CpuBench::measure(llvm::ArrayRef<BenchCase *> cases,
                       const BoundLaunch &bound, RunArguments &arguments,
                       BenchReport &report) {
  report.device = "cpu";
  for (BenchCase *item : cases) {
    std::optional<std::vector<double>> times =
        timeOnCpu(*item->program, *item->subject.kernel, *item->onCpu, bound,
                  arguments, item->options);
    if (!times)
      return false;
    item->figures.milliseconds = Spread::of(std::move(*times));
  }
  return true;
}

std::unique_ptr<BenchTarget> cli::makeCpuBench() {
  return std::make_unique<CpuBench>();
}

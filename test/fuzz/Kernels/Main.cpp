//===- Main.cpp - Random kernels on all targets -----------------*- C++ -*-===//
//
// tilec-fuzz makes random kernels, schedules, extents and strides, runs them on
// a target, and compares with the reference evaluator: bit for bit where the
// results are exact. See Case.h, Generator.h, Runner.h and Campaign.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Pipelines.h"
#include "test/fuzz/Kernels/Campaign.h"
#include "test/fuzz/Kernels/Generator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <thread>

using namespace tilec;
using namespace tilec::fuzz;
namespace cl = llvm::cl;

static cl::OptionCategory category("Options of tilec-fuzz");
static cl::opt<std::string> target("target", cl::init("cpu"),
                                   cl::desc("cpu, sm_90a and the like, or "
                                            "emulator:sm_90a and the like"),
                                   cl::cat(category));
static cl::opt<uint64_t> seed("seed", cl::init(1),
                              cl::desc("the seed of all cases"),
                              cl::cat(category));
static cl::opt<double> seconds("seconds", cl::init(20),
                               cl::desc("how long to go on"),
                               cl::cat(category));
static cl::opt<uint64_t> cases("cases", cl::init(UINT64_MAX),
                               cl::desc("how many cases at most"),
                               cl::cat(category));
static cl::opt<int64_t> only("case", cl::init(-1),
                             cl::desc("this case and no other"),
                             cl::cat(category));
static cl::opt<unsigned> jobs("jobs", cl::init(0),
                              cl::desc("processes; 0 for one a core"),
                              cl::cat(category));
static cl::opt<double> limit("case-seconds", cl::init(120),
                             cl::desc("a case that takes longer hangs"),
                             cl::cat(category));
static cl::opt<double> shrinkSeconds("shrink-seconds", cl::init(30),
                                     cl::desc("for making one case smaller"),
                                     cl::cat(category));
static cl::opt<bool> compileOnly("compile-only",
                                 cl::desc("as far as machine code"),
                                 cl::cat(category));
static cl::opt<bool> print("print", cl::desc("print --case and do not run it"),
                           cl::cat(category));
static cl::opt<std::string> folder("folder", cl::init("fuzz-failures"),
                                   cl::desc("where failing kernels go"),
                                   cl::cat(category));

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Random kernels against the reference\n");
  CampaignOptions options;
  options.run.target = target;
  options.run.compileOnly = compileOnly;
  llvm::StringRef architecture = target;
  if (architecture.consume_front("emulator")) {
    options.run.emulated = true;
    options.run.target =
        architecture.consume_front(":") ? architecture.str() : "sm_90a";
  }
  if (target != "cpu" && !gpuLimitsOf(options.run.target)) {
    llvm::errs() << "error: unknown target '" << target
                 << "'; write cpu, emulator, or sm_80, sm_86, sm_89 or sm_90a, "
                    "with or without emulator: in front\n";
    return 2;
  }
  if (print) {
    Case test =
        generate(seed, static_cast<uint64_t>(std::max<int64_t>(only, 0)));
    llvm::outs() << test.describe() << "// " << test.command("FILE", target)
                 << '\n';
    return 0;
  }
  options.seed = seed;
  if (only >= 0)
    options.only = static_cast<uint64_t>(only);
  options.numCases = cases;
  options.seconds = seconds;
  options.numProcesses =
      jobs > 0 ? jobs : std::max(1U, std::thread::hardware_concurrency());
  options.secondsPerCase = limit;
  options.shrinkSeconds = shrinkSeconds;
  options.folder = folder;
  return runCampaign(options) ? 0 : 1;
}

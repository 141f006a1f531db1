//===- Runner.h - Runs a case and judges the results ------------*- C++ -*-===//
//
// Compiles a case for a target, runs it on arrays with poisoned surroundings,
// and compares with the reference evaluator.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_FUZZ_KERNELS_RUNNER_H
#define TILEC_TEST_FUZZ_KERNELS_RUNNER_H

#include "test/fuzz/Kernels/Case.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tilec::fuzz {

struct RunOptions {
  std::string target = "cpu";
  /// As far as machine code, without a run.
  bool compileOnly = false;
  /// Code for a GPU runs on the emulator, and what that finds is a failure.
  bool emulated = false;

  /// As --target names it.
  std::string targetText() const {
    return emulated ? "emulator:" + target : target;
  }
};

struct Outcome {
  enum class Kind {
    Agrees,    // With the reference; or compiled, if that was all.
    Resources, // Takes more registers or shared memory than there are.
    Invalid,   // No program, or arguments that do not fit: the generator's bug.
    Rejected,  // The target does not take what the front end took.
    Differs,   // From the reference.
    Stray,     // Memory changed that the kernel must not write.
    Fault,     // The run failed.
    Finding,   // The emulator found a race or the like.
    Crash,     // The process died; set by who watches it.
    Hang,
  };
  Kind kind = Kind::Agrees;
  /// What is counted together: "registers spill".
  std::string what;
  std::string message;

  /// The same for failures that probably have one cause.
  std::string signature() const;

  bool isFailure() const {
    return kind != Kind::Agrees && kind != Kind::Resources;
  }
};
llvm::StringRef kindText(Outcome::Kind kind);

/// Calls `atReference`, if there is one, when the target is done and the
/// reference begins, which takes much longer for some cases.
Outcome runCase(const Case &test, const RunOptions &options,
                llvm::function_ref<void()> atReference = nullptr);

} // namespace tilec::fuzz

#endif // TILEC_TEST_FUZZ_KERNELS_RUNNER_H

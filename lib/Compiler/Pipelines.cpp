//===- Pipelines.cpp - Which passes run, in which order ---------*- C++ -*-===//
//
// See Pipelines.h. The order is the table below.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Pipelines.h"
#include "codegen/CPU/JIT.h"
#include "dialects/Tile/IR/Tile.h"
#include "dialects/Tile/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include <mutex>

using namespace tilec;

static constexpr PipelineStep steps[] = {
    {"simplify", "canonicalize,cse",
     "the front end emits one op per source operation and repeats extents"},
    {"tile-expand-attention", "tile-expand-attention",
     "splitting wants to see the loop over the keys and its mask"},
    {"simplify-attention", "canonicalize,cse",
     "positions and masks that the expansion made twice become one, so that "
     "splitting recognizes them"},
    {"tile-split-loops", "tile-split-loops",
     "after it, full tiles have no valid extents and no masks"},
    {"simplify-split", "canonicalize,cse",
     "folds the valid extents that splitting made constant"},
    {"tile-simplify-pads", "tile-simplify-pads",
     "last, as it removes what the folds above have made needless"},
    {"simplify-pads", "canonicalize,cse", "removes what became dead"},
};

llvm::ArrayRef<PipelineStep> tilec::tilePipeline() { return steps; }

/// Runs `pm` so that a failure, a crash included, leaves a file that tilec-opt
/// takes, and is reported with that file.
static mlir::LogicalResult runStep(llvm::StringRef name, mlir::PassManager &pm,
                                   mlir::ModuleOp module) {
  llvm::SmallString<128> reproducer;
  if (!llvm::sys::fs::getPotentiallyUniqueTempFileName("tilec", "mlir",
                                                       reproducer))
    pm.enableCrashReproducerGeneration(reproducer);
  mlir::Location loc = module.getBody()->empty()
                           ? module.getLoc()
                           : module.getBody()->front().getLoc();
  bool crashed = false;
  {
    // MLIR's own summaries of a failure say less than the one below.
    mlir::ScopedDiagnosticHandler summaries(
        module.getContext(), [&](mlir::Diagnostic &diagnostic) {
          std::string text = diagnostic.str();
          bool isCrash = llvm::StringRef(text).starts_with(
              "A signal was caught while processing");
          crashed |= isCrash;
          return mlir::success(isCrash || llvm::StringRef(text).starts_with(
                                              "Failures have been detected"));
        });
    if (mlir::succeeded(pm.run(module)))
      return mlir::success();
  }
  mlir::InFlightDiagnostic error = mlir::emitError(loc)
                                   << "internal error: pass '" << name << "' "
                                   << (crashed ? "crashed" : "failed");
  error.attachNote() << "help: this is a bug of tilec; please report it with "
                        "the program and '"
                     << reproducer
                     << "', which tilec-opt takes with --run-reproducer";
  return mlir::failure();
}

PipelineResult tilec::runTilePipeline(mlir::ModuleOp module,
                                      const PipelineOptions &options,
                                      llvm::raw_ostream &os) {
  registerPasses();
  auto run = [&](llvm::StringRef name, llvm::StringRef pipeline) {
    mlir::PassManager pm(module.getContext(), module.getOperationName());
    std::string error;
    llvm::raw_string_ostream errorStream(error);
    if (mlir::failed(mlir::parsePassPipeline(pipeline, pm, errorStream)))
      return mlir::LogicalResult(module.emitError("internal error: pipeline '")
                                 << pipeline << "' does not parse: " << error);
    return runStep(name, pm, module);
  };
  for (const PipelineStep &step : steps) {
    if (mlir::failed(run(step.name, step.pipeline)))
      return PipelineResult::Failed;

    if (options.printAfter == step.name || options.printAfter == "all") {
      os << "// IR after " << step.name << '\n';
      module.print(os);
      os << '\n';
    }
    if (options.stopAfter == step.name)
      return PipelineResult::Stopped;
  }
  if (!options.extraPasses.empty() &&
      mlir::failed(run("extra-passes", options.extraPasses)))
    return PipelineResult::Failed;
  return PipelineResult::Done;
}

void tilec::registerPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    mlir::registerCanonicalizerPass();
    mlir::registerCSEPass();
    mlir::tile::registerTilePasses();
  });
}

void tilec::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::tile::TileDialect>();
  cpu::registerCPUDialects(registry);
}

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

PipelineResult tilec::runTilePipeline(mlir::ModuleOp module,
                                      const PipelineOptions &options,
                                      llvm::raw_ostream &os) {
  registerPasses();
  for (const PipelineStep &step : steps) {
    mlir::PassManager pm(module.getContext(), module.getOperationName());
    std::string error;
    llvm::raw_string_ostream errorStream(error);
    if (mlir::failed(mlir::parsePassPipeline(step.pipeline, pm, errorStream))) {
      module.emitError("internal error: pipeline '")
          << step.pipeline << "' does not parse: " << error;
      return PipelineResult::Failed;
    }
    // A failing pass leaves a file that tilec-opt takes with --run-reproducer.
    llvm::SmallString<128> reproducer;
    if (!llvm::sys::fs::getPotentiallyUniqueTempFileName("tilec", "mlir",
                                                         reproducer))
      pm.enableCrashReproducerGeneration(reproducer);
    if (mlir::failed(pm.run(module)))
      return PipelineResult::Failed;

    if (options.printAfter == step.name || options.printAfter == "all") {
      os << "// IR after " << step.name << '\n';
      module.print(os);
      os << '\n';
    }
    if (options.stopAfter == step.name)
      return PipelineResult::Stopped;
  }
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

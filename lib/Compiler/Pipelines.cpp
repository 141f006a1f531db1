//===- Pipelines.cpp - Which passes run, in which order ---------*- C++ -*-===//
//
// See Pipelines.h. The order is the table below.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Pipelines.h"
#include "codegen/CPU/JIT.h"
#include "codegen/TileToTileGPU/Passes.h"
#include "dialects/Tile/IR/Tile.h"
#include "dialects/Tile/Transforms/Passes.h"
#include "dialects/TileGPU/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include <mutex>

using namespace tilec;

static constexpr PipelineStep cpuSteps[] = {
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

static constexpr PipelineStep gpuSteps[] = {
    {"simplify", "canonicalize,cse",
     "the front end emits one op per source operation and repeats extents"},
    {"tile-expand-attention", "tile-expand-attention",
     "splitting wants to see the loop over the keys and its mask"},
    {"simplify-attention", "canonicalize,cse",
     "positions and masks that the expansion made twice become one, so that "
     "splitting recognizes them"},
    {"tile-loop-long-axes",
     "tile-loop-long-axes{max-elements=@tile@ operand-bytes=@shared@},"
     "canonicalize,cse",
     "attention has its loop by now, and the loops over parts of an axis are "
     "to be split like others",
     /*mayReject=*/true},
    {"tile-split-loops", "tile-split-loops{keep-copies=true}",
     "after it, full tiles have no valid extents and no masks; copies to "
     "shared "
     "memory fill up what is missing at no cost"},
    {"simplify-split", "canonicalize,cse",
     "folds the valid extents that splitting made constant"},
    {"tile-pad-extents", "tile-pad-extents",
     "layouts want powers of two; what becomes invalid is marked as at the end "
     "of an axis, for the next pass"},
    {"tile-simplify-pads", "tile-simplify-pads",
     "removes what the folds above have made needless"},
    {"simplify-pads", "canonicalize,cse", "removes what became dead"},
    {"convert-tile-to-tilegpu",
     "tile.kernel(convert-tile-to-tilegpu{arch=@capability@})",
     "from here on tiles have layouts, which canonicalization does not know",
     /*mayReject=*/true},
    {"tilegpu-pipeline-loops",
     "tile.kernel(tilegpu-pipeline-loops{limit=@shared@},cse)",
     "before places in shared memory are given, as it makes more slots"},
    {"tilegpu-allocate-shared",
     "tile.kernel(tilegpu-allocate-shared{limit=@shared@})",
     "all buffers and exchanges are there now", /*mayReject=*/true},
    {"tilegpu-insert-barriers", "tile.kernel(tilegpu-insert-barriers)",
     "last, as buffers that share a place need barriers between them"},
};

static constexpr GpuLimits gpuLimits[] = {
    {"sm_80", 80, 166912},
    {"sm_86", 86, 101376},
    {"sm_89", 89, 101376},
    {"sm_90a", 90, 232448},
};

llvm::ArrayRef<GpuLimits> tilec::allGpuLimits() { return gpuLimits; }

const GpuLimits *tilec::gpuLimitsOf(llvm::StringRef target) {
  const auto *found = llvm::find_if(gpuLimits, [&](const GpuLimits &limits) {
    return limits.target == target;
  });
  return found == std::end(gpuLimits) ? nullptr : found;
}

llvm::ArrayRef<PipelineStep> tilec::pipelineFor(llvm::StringRef target) {
  return gpuLimitsOf(target) ? llvm::ArrayRef(gpuSteps)
                             : llvm::ArrayRef(cpuSteps);
}

/// Elements of the longest tile. Rows stay in registers, several of them at a
/// time; operands of products are in shared memory, and heads of 256 are to
/// fit.
static int64_t longestTile(mlir::ModuleOp module) {
  bool hasProduct =
      module
          .walk([](mlir::tile::DotOp) { return mlir::WalkResult::interrupt(); })
          .wasInterrupted();
  return hasProduct ? 32768 : 16384;
}

/// The text of a step's passes for a target and a module.
static std::string passesOf(llvm::StringRef pipeline, const GpuLimits *limits,
                            mlir::ModuleOp module) {
  std::string text = pipeline.str();
  auto substitute = [&](llvm::StringRef name, int64_t value) {
    size_t at = text.find(name.str());
    if (at != std::string::npos)
      text.replace(at, name.size(), std::to_string(value));
  };
  if (limits) {
    substitute("@capability@", limits->capability);
    substitute("@shared@", limits->sharedBytes);
    substitute("@tile@", longestTile(module));
  }
  return text;
}

/// Runs `pm` so that a failure, a crash included, leaves a file that tilec-opt
/// takes, and is reported with that file; but not where the pass reports an
/// error of the program, as it may if `mayReject`.
static mlir::LogicalResult runPasses(llvm::StringRef name, bool mayReject,
                                     mlir::PassManager &pm,
                                     mlir::ModuleOp module) {
  llvm::SmallString<128> reproducer;
  if (!llvm::sys::fs::getPotentiallyUniqueTempFileName("tilec", "mlir",
                                                       reproducer))
    pm.enableCrashReproducerGeneration(reproducer);
  mlir::Location loc = module.getBody()->empty()
                           ? module.getLoc()
                           : module.getBody()->front().getLoc();
  bool crashed = false, rejected = false;
  {
    // MLIR's own summaries of a failure say less than the one below.
    mlir::ScopedDiagnosticHandler summaries(
        module.getContext(), [&](mlir::Diagnostic &diagnostic) {
          std::string text = diagnostic.str();
          bool isCrash = llvm::StringRef(text).starts_with(
              "A signal was caught while processing");
          bool isSummary = isCrash || llvm::StringRef(text).starts_with(
                                          "Failures have been detected");
          crashed |= isCrash;
          rejected |= !isSummary && diagnostic.getSeverity() ==
                                        mlir::DiagnosticSeverity::Error;
          return mlir::success(isSummary);
        });
    if (mlir::succeeded(pm.run(module)))
      return mlir::success();
  }
  if (mayReject && rejected && !crashed) {
    // It is of no use to anyone; left behind, it does no harm either.
    if (llvm::sys::fs::remove(reproducer))
      return mlir::failure();
    return mlir::failure();
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

PipelineResult tilec::runPipeline(mlir::ModuleOp module, llvm::StringRef target,
                                  const PipelineOptions &options,
                                  llvm::raw_ostream &os) {
  registerPasses();
  auto run = [&](llvm::StringRef name, llvm::StringRef pipeline,
                 bool mayReject) {
    mlir::PassManager pm(module.getContext(), module.getOperationName());
    std::string error;
    llvm::raw_string_ostream errorStream(error);
    std::string passes = passesOf(pipeline, gpuLimitsOf(target), module);
    if (mlir::failed(mlir::parsePassPipeline(passes, pm, errorStream)))
      return mlir::LogicalResult(module.emitError("internal error: pipeline '")
                                 << passes << "' does not parse: " << error);
    return runPasses(name, mayReject, pm, module);
  };
  for (const PipelineStep &step : pipelineFor(target)) {
    if (mlir::failed(run(step.name, step.pipeline, step.mayReject)))
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
      mlir::failed(run("extra-passes", options.extraPasses, false)))
    return PipelineResult::Failed;
  return PipelineResult::Done;
}

void tilec::registerPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    mlir::registerCanonicalizerPass();
    mlir::registerCSEPass();
    mlir::tile::registerTilePasses();
    registerTileToTileGPUPasses();
    mlir::tilegpu::registerTileGPUPasses();
  });
}

void tilec::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::tile::TileDialect, mlir::tilegpu::TileGPUDialect>();
  cpu::registerCPUDialects(registry);
}

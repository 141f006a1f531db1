//===- GpuTarget.cpp - From a typed kernel to code for a GPU ----*- C++ -*-===//
//
// See GpuTarget.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/GpuTarget.h"

#include "dialects/TileGPU/IR/TileGPU.h"
#include "lib/Runtime/GPU/GPUError.h"
#include "lib/Runtime/GPU/NVRTC.h"
#include "lib/Runtime/GPU/ResourceLog.h"
#include "lib/Runtime/GPU/TensorFacts.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <tuple>

using namespace tilec;
using mlir::tilegpu::TileGPUDialect;

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

Specialization tilec::gpuSpecialization(const typed::Kernel &kernel,
                                        const BoundLaunch &launch) {
  Specialization result = Specialization::of(kernel, launch);
  for (const typed::Param *param : kernel.params)
    if (const auto *view = std::get_if<TensorView>(&launch.args[param->index]))
      result.unitStride[param->index] =
          gpu::factsOf(*view, param->index, param->name, 0).unitStride;
  return result;
}

llvm::SmallVector<int> tilec::rowMajorUnitStrides(const typed::Kernel &kernel) {
  llvm::SmallVector<int> dims;
  for (const typed::Param *param : kernel.params)
    dims.push_back(param->isTensor ? static_cast<int>(param->shape.size()) - 1
                                   : -1);
  return dims;
}

/// The longest tile: how far a last tile may reach over an end.
static int64_t longestTile(const typed::Kernel &kernel) {
  int64_t longest = 1;
  for (const typed::Axis *axis : kernel.axes)
    if (axis->isTile())
      longest = std::max(longest, axis->tileSize);
  return longest;
}

GpuFacts GpuFacts::of(const typed::Kernel &kernel, const BoundLaunch &launch,
                      const Specialization &specialization) {
  // Tiles whose size the schedule is yet to choose are no longer than this.
  constexpr int64_t usualTile = 32768;
  int64_t slack = std::max(usualTile, longestTile(kernel));
  GpuFacts facts;
  for (const typed::Param *param : kernel.params) {
    const auto *view = std::get_if<TensorView>(&launch.args[param->index]);
    if (!view) {
      facts.alignment.push_back(0);
      continue;
    }
    gpu::TensorFacts found =
        gpu::factsOf(*view, param->index, param->name, slack);
    facts.alignment.push_back(found.alignment);
    facts.index32 &= found.index32;
  }
  for (const auto &extent : launch.extents)
    if (extent.second % 16 == 0)
      facts.divisible[extent.first()] = 16;
  return facts;
}

/// The power of two up to 16 that divides the length of a row in bytes. Extents
/// that are not known are taken for multiples of it.
static int64_t rowAlignment(const typed::Param &param,
                            const Specialization &specialization) {
  constexpr int64_t most = 16;
  if (param.shape.size() < 2)
    return most;
  const typed::Param::Extent &last = param.shape.back();
  int64_t extent = last.dim ? specialization.extents.lookup(last.dim->name)
                            : last.constant; // 0: not known.
  auto bytes = static_cast<int64_t>(byteSize(param.dtype)) * extent;
  return bytes > 0 ? std::min(most, bytes & -bytes) : most;
}

GpuFacts GpuFacts::assumed(const typed::Kernel &kernel,
                           const Specialization &specialization) {
  GpuFacts facts;
  for (const typed::Param *param : kernel.params)
    facts.alignment.push_back(
        param->isTensor ? rowAlignment(*param, specialization) : 0);
  return facts;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

mlir::OwningOpRef<mlir::ModuleOp>
tilec::buildGpuModule(Program &program, typed::Kernel &kernel,
                      const Specialization &specialization,
                      const GpuFacts &facts, const CompileOptions &options,
                      mlir::MLIRContext &context) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      buildTileModule(program, kernel, specialization, options, context);
  if (!module)
    return nullptr;
  mlir::Builder b(&context);
  module->walk([&](mlir::tile::KernelOp op) {
    if (mlir::scf::ForallOp grid = op.getGrid()) {
      llvm::SmallVector<mlir::Attribute> axes;
      for (int64_t axis = 0; axis < grid.getRank(); ++axis)
        axes.push_back(mlir::tilegpu::GridAxisAttr::get(&context, axis));
      grid.setMappingAttr(b.getArrayAttr(axes));
    }
    for (auto [i, alignment] : llvm::enumerate(facts.alignment))
      if (alignment > 0 && i < op.getNumArguments())
        op.setArgAttr(i, TileGPUDialect::kAlignAttr,
                      b.getI64IntegerAttr(alignment));
    llvm::SmallVector<mlir::NamedAttribute> divisible;
    for (const auto &entry : facts.divisible)
      divisible.push_back(
          b.getNamedAttr(entry.first(), b.getI64IntegerAttr(entry.second)));
    op->setAttr(TileGPUDialect::kDivisibleAttr, b.getDictionaryAttr(divisible));
    if (facts.index32)
      op->setAttr(TileGPUDialect::kIndex32Attr, b.getUnitAttr());
  });
  return module;
}

std::optional<cuda::EmittedKernel>
tilec::emitGpuKernel(Program &program, const typed::Kernel &kernel,
                     mlir::ModuleOp module, const CompileOptions &options) {
  cuda::EmitOptions emitOptions;
  emitOptions.checked = options.checked;
  emitOptions.lineDirectives = options.emulated;
  if (program.sources.getNumFiles() > 0) {
    emitOptions.source = program.sources.getText(0).str();
    emitOptions.sourceName = program.sources.getName(0).str();
  }
  std::optional<cuda::EmittedKernel> result;
  module.walk([&](mlir::tile::KernelOp op) {
    llvm::Expected<cuda::EmittedKernel> emitted =
        cuda::emitCUDA(op, emitOptions);
    if (emitted) {
      result = std::move(*emitted);
      result->image.arch = options.target;
      // The IR does not tell bool, u8 and tf32 from what they are kept in.
      for (gpu::TensorFacts &tensor : result->image.tensors)
        tensor.dtype = kernel.params[tensor.arg]->dtype;
      return;
    }
    std::string message = llvm::toString(emitted.takeError());
    if (!program.diags.hasErrors())
      program.diags.error(kernel.range, "internal error: " + message);
  });
  return result;
}

/// Adds the bill to a message about registers: the tiles that take the most of
/// them, one of each line of the source.
static void noteLargestTiles(Program &program, Diagnostic &error,
                             std::vector<cuda::HeldTile> tiles) {
  constexpr size_t most = 4;
  llvm::sort(tiles, [](const cuda::HeldTile &a, const cuda::HeldTile &b) {
    return std::tie(b.registers, a.line, a.column, a.name) <
           std::tie(a.registers, b.line, b.column, b.name);
  });
  llvm::SmallSet<std::tuple<std::string, unsigned, std::string>, 8> seen;
  for (const cuda::HeldTile &tile : tiles) {
    if (seen.size() == most)
      break;
    if (!seen.insert({tile.file, tile.line, tile.type}).second)
      continue;
    error.note(findWord(program.sources, tile.file, tile.line, tile.column),
               llvm::Twine(tile.registers) + " registers of a thread: '" +
                   tile.name + "', " + tile.type);
  }
}

/// Why tiles cannot be kept in registers, or nothing if it takes the assembler
/// to tell. Far beyond what a thread has, that takes minutes and says the same:
/// of 1500 random kernels none that had room for its tiles took more than half
/// of this limit.
static std::optional<std::string>
excessOf(llvm::ArrayRef<cuda::HeldTile> tiles) {
  constexpr unsigned perThread = 255;
  constexpr unsigned most = 9 * perThread;
  unsigned largest = 0, all = 0;
  for (const cuda::HeldTile &tile : tiles) {
    largest = std::max<unsigned>(largest, tile.registers);
    all += tile.registers;
  }
  if (largest <= perThread || all <= most)
    return std::nullopt;
  return llvm::formatv("its tiles take {0} registers of a thread, the "
                       "largest of them {1}, and a thread has {2}",
                       all, largest, perThread);
}

/// Machine code from CUDA C++, and the registers it takes into
/// `emitted.image`. Defects of the code are errors; but if it only spills and
/// `spills` is given, that is set and nothing reported.
static std::optional<gpu::NVRTCResult> assemble(Program &program,
                                                const typed::Kernel &kernel,
                                                cuda::EmittedKernel &emitted,
                                                const CompileOptions &options,
                                                bool *spills) {
  auto report = [&](llvm::Error error) {
    reportError(program, kernel.range, "", std::move(error));
    return std::nullopt;
  };
  auto reportDefect = [&](llvm::StringRef defect, bool isOfRegisters) {
    Diagnostic &error = program.diags.error(
        kernel.range, "the code for '" + llvm::Twine(kernel.name) +
                          "' would be slow: " + defect);
    if (isOfRegisters)
      noteLargestTiles(program, error, emitted.tiles);
    error.remedy("take smaller tiles or more warps in the schedule");
  };
  if (std::optional<std::string> excess = excessOf(emitted.tiles)) {
    if (spills)
      *spills = true;
    else
      reportDefect(*excess, /*isOfRegisters=*/true);
    return std::nullopt;
  }
  llvm::Expected<const gpu::NVRTC &> nvrtc = gpu::NVRTC::get();
  if (!nvrtc)
    return report(nvrtc.takeError());
  gpu::NVRTCOptions nvrtcOptions;
  nvrtcOptions.lineInfo = options.emulated;
  llvm::Expected<gpu::NVRTCResult> result = nvrtc->compile(
      emitted.source, kernel.name + ".cu", options.target, nvrtcOptions);
  if (!result)
    return report(result.takeError());
  gpu::ResourceLog log = gpu::parseResourceLog(result->log);
  const gpu::FunctionResources *function = log.find(emitted.image.name);
  if (function)
    emitted.image.registers = function->registers;
  bool isSpilled = function && function->spills();
  if (spills && isSpilled) {
    *spills = true;
    return std::nullopt;
  }
  std::vector<std::string> defects = log.defects(result->ptx);
  for (const std::string &defect : defects)
    reportDefect(defect, isSpilled);
  if (!defects.empty())
    return std::nullopt;
  return std::move(*result);
}

namespace {
/// What to try where registers spill: more warps, and when there are as many as
/// a thread block may have, smaller tiles. Nobody's choice is changed, only
/// what the schedule leaves open.
class SpillRemedy {
public:
  SpillRemedy(const typed::Kernel &kernel,
              const llvm::StringMap<int64_t> &options) {
    for (const typed::ScheduleEntry &entry : kernel.schedule)
      given.insert(entry.key);
    for (const auto &entry : options)
      given.insert(entry.first());
  }

  /// Changes `schedule` to the next attempt after one of `warps`, whose tiles
  /// the kernel has. False if there is none.
  bool next(const typed::Kernel &kernel, int64_t warps,
            llvm::StringMap<int64_t> &schedule) {
    if (!given.contains("warps") && warps < mostWarps) {
      schedule["warps"] = 2 * warps;
      return true;
    }
    if (numSmaller == mostSmaller)
      return false;
    llvm::StringRef longest;
    int64_t size = 0;
    auto consider = [&](llvm::StringRef key, int64_t positions) {
      // Of several as long, the last: that of an inner loop.
      if (!given.contains(key) && positions >= std::max(size, 2 * smallest)) {
        longest = key;
        size = positions;
      }
    };
    for (const typed::Axis *axis : kernel.axes)
      if (axis->isTile() && axis->var->fixedSize == 0)
        consider(axis->name, axis->tileSize);
    for (const typed::Attention *attention : kernel.attentions)
      consider("kv", attention->kvTile);
    if (size == 0)
      return false;
    ++numSmaller;
    schedule[longest] = llvm::PowerOf2Ceil(size) / 2;
    if (!given.contains("warps"))
      schedule.erase("warps");
    return true;
  }

private:
  static constexpr int64_t mostWarps = 32; // Of a thread block.
  static constexpr int64_t smallest = 16;  // Of a tile: a fragment's rows.
  static constexpr unsigned mostSmaller = 4;
  llvm::StringSet<> given; // Keys of the schedule.
  unsigned numSmaller = 0;
};
} // namespace

std::optional<GpuCode>
tilec::compileForGpu(Program &program, typed::Kernel &kernel,
                     const Specialization &specialization,
                     const GpuFacts &facts, CompileOptions options) {
  const auto scheduleOfSource = kernel.schedule;
  SpillRemedy remedy(kernel, options.schedule);
  llvm::StringMap<int64_t> next = options.schedule;
  while (true) {
    std::unique_ptr<mlir::MLIRContext> context = makeContext();
    DiagnosticBridge bridge(*context, program, options.pipeline.remarks);
    mlir::OwningOpRef<mlir::ModuleOp> module = buildGpuModule(
        program, kernel, specialization, facts, options, *context);
    llvm::raw_ostream &dump = options.dump ? *options.dump : llvm::errs();
    if (!module || runPipeline(*module, options.target, options.pipeline,
                               dump) != PipelineResult::Done)
      return std::nullopt;
    std::optional<cuda::EmittedKernel> emitted =
        emitGpuKernel(program, kernel, *module, options);
    if (!emitted)
      return std::nullopt;
    int64_t warps = emitted->image.threads / 32;
    bool mayRetry = remedy.next(kernel, warps, next), spills = false;
    std::optional<gpu::NVRTCResult> code = assemble(
        program, kernel, *emitted, options, mayRetry ? &spills : nullptr);
    if (code)
      return GpuCode{std::move(emitted->image), std::move(emitted->source),
                     std::move(code->ptx),
                     std::string(code->cubin.begin(), code->cubin.end())};
    if (!spills)
      return std::nullopt;
    options.schedule = next;
    // As the source has it, or what this attempt chose would stay.
    kernel.schedule = scheduleOfSource;
    // What they print was printed the first time.
    options.pipeline.printAfter.clear();
    options.pipeline.remarks.clear();
  }
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

llvm::Error tilec::bindGrid(const typed::Kernel &kernel,
                            const gpu::KernelImage &image,
                            BoundLaunch &launch) {
  ScalarBindings bindings;
  for (auto [axis, var] : llvm::zip(image.grid, kernel.grid)) {
    if (axis.dim.empty() || launch.extents.count(axis.dim))
      continue;
    if (bindings.dims.empty()) {
      bindings.dims = launch.extents;
      for (const typed::Param *param : kernel.params)
        if (const auto *scalar =
                std::get_if<ScalarValue>(&launch.args[param->index]))
          bindings.params[param->name] = *scalar;
    }
    llvm::Expected<ScalarValue> value = evaluateScalar(*var->extent, bindings);
    if (!value)
      return value.takeError();
    launch.extents[axis.dim] = std::max<int64_t>(0, value->integer);
  }
  return llvm::Error::success();
}

Diagnostic &tilec::reportLaunchError(Program &program,
                                     const typed::Kernel &kernel,
                                     llvm::Error error) {
  std::optional<unsigned> argument = gpu::argumentOf(error);
  return reportError(program,
                     argument ? kernel.params[*argument]->range : kernel.range,
                     "", std::move(error));
}

llvm::Expected<llvm::StringRef> tilec::targetOf(const gpu::Device &device) {
  const gpu::DeviceProperties &properties = device.properties();
  llvm::SmallVector<llvm::StringRef> names; // The newest first.
  for (const GpuLimits &limits : llvm::reverse(allGpuLimits())) {
    if (gpu::ptxRunsOn(limits.target, properties.major, properties.minor))
      return limits.target;
    names.push_back(limits.target);
  }
  return gpu::gpuError(gpu::ErrorKind::NoDevice,
                       "GPU " + llvm::Twine(device.ordinal()) + " (" +
                           properties.name + ", " + properties.arch() +
                           ") runs code of none of the targets " +
                           llvm::join(names, ", "),
                       "use another GPU, or the target cpu");
}

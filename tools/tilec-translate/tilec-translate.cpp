//===- tilec-translate.cpp - IR files to other languages -------*- C++ -*-===//
//
// The usual MLIR translation driver over tilec's dialects. It is how the
// emitter is tested:
//
//   tilec-translate --tilegpu-to-cuda kernel.mlir
//
// prints the CUDA C++ of every kernel of the module. With --image each is
// preceded by how it is launched, as a comment. With --assemble=sm_80 it is
// compiled as well, by NVRTC, and what ptxas says about its resources follows
// as comments; spills and local memory are errors.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/Emitter.h"
#include "dialects/TileGPU/IR/TileGPU.h"
#include "lib/Runtime/GPU/NVRTC.h"
#include "lib/Runtime/GPU/ResourceLog.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

static llvm::cl::opt<bool>
    printImage("image", llvm::cl::desc("Print how kernels are launched"));
static llvm::cl::opt<std::string>
    sourceFile("source", llvm::cl::desc("The file that locations refer to"));
static llvm::cl::opt<bool>
    lineDirectives("lines", llvm::cl::desc("Write #line directives"));

static llvm::cl::opt<std::string>
    assembleFor("assemble", llvm::cl::desc("Compile for this architecture"));

static llvm::cl::opt<bool>
    checked("checked", llvm::cl::desc("Report indices out of range"));

static LogicalResult assemble(tile::KernelOp kernel, StringRef name,
                              StringRef source, raw_ostream &os) {
  auto nvrtc = tilec::gpu::NVRTC::get();
  if (!nvrtc)
    return kernel.emitError() << llvm::toString(nvrtc.takeError());
  auto result = nvrtc->compile(source, kernel.getSymName(), assembleFor);
  if (!result)
    return kernel.emitError() << llvm::toString(result.takeError());
  tilec::gpu::ResourceLog log = tilec::gpu::parseResourceLog(result->log);
  std::vector<std::string> defects = log.defects(result->ptx);
  for (const std::string &defect : defects)
    kernel.emitError() << defect;
  if (const auto *resources = log.find(name))
    os << "// " << assembleFor << ": " << resources->registers << " registers, "
       << resources->stackBytes << " bytes of stack\n";
  return success(defects.empty());
}

static LogicalResult emitModule(Operation *module, raw_ostream &os) {
  tilec::cuda::EmitOptions options;
  options.lineDirectives = lineDirectives;
  options.checked = checked;
  if (!sourceFile.empty()) {
    auto buffer = llvm::MemoryBuffer::getFile(sourceFile);
    if (!buffer)
      return module->emitError() << "cannot read '" << sourceFile
                                 << "': " << buffer.getError().message();
    options.source = (*buffer)->getBuffer().str();
  }
  WalkResult result = module->walk([&](tile::KernelOp kernel) {
    llvm::Expected<tilec::cuda::EmittedKernel> emitted =
        tilec::cuda::emitCUDA(kernel, options);
    if (!emitted) {
      llvm::consumeError(emitted.takeError()); // The diagnostic says more.
      return WalkResult::interrupt();
    }
    if (printImage)
      os << "// " << tilec::gpu::toJSON(emitted->image) << "\n\n";
    os << emitted->source;
    if (!assembleFor.empty() &&
        failed(assemble(kernel, emitted->image.name, emitted->source, os)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

int main(int argc, char **argv) {
  TranslateFromMLIRRegistration registration(
      "tilegpu-to-cuda", "translate kernels to CUDA C++", emitModule,
      [](DialectRegistry &registry) {
        registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                        tensor::TensorDialect>();
        tile::registerTileDialect(registry);
        tilegpu::registerTileGPUDialect(registry);
      });
  return failed(mlirTranslateMain(argc, argv, "tilec's translation driver"));
}

//===- AssembleTest.cpp - The kernels of std as machine code ----*- C++ -*-===//
//
// Every kernel of std and of the examples, for two generations of GPUs, several
// element types, extents and alignments, through NVRTC: the assembler must find
// neither spilled registers nor anything else that makes code slow. Nothing is
// run, so this needs no GPU; without NVRTC it says how much was left out.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/GpuTarget.h"
#include "lib/Runtime/GPU/NVRTC.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>

using namespace tilec;

namespace {
struct Variant {
  llvm::StringRef dtype; // Of the parameter T, if there is one.
  int64_t extent;        // Of all dimensions.
  bool isPlain;          // Row-major, rows at multiples of 16 bytes.
};
} // namespace

/// A kernel with a grid for `variant`; the rest runs on the cpu target only.
static std::unique_ptr<typed::Kernel> analyze(Program &program,
                                              const ast::KernelDecl &decl,
                                              llvm::StringRef target,
                                              const Variant &variant) {
  CompileTimeArgs args;
  for (const ast::CtParam &param : decl.getCtParams())
    if (param.name.name == "T")
      args["T"] = variant.dtype.str();
  std::unique_ptr<typed::Kernel> kernel = program.analyze(decl, args, target);
  REQUIRE(kernel);
  return kernel->grid.empty() ? nullptr : std::move(kernel);
}

static void assemble(Program &program, typed::Kernel &kernel,
                     llvm::StringRef target, const Variant &variant) {
  Specialization specialization;
  for (const typed::Dimension *dim : kernel.dims)
    if (dim->isWhole)
      specialization.extents[dim->name] = variant.extent;
  GpuFacts facts = GpuFacts::assumed(kernel, specialization);
  for (const typed::Param *param : kernel.params) {
    auto last = static_cast<int>(param->shape.size()) - 1;
    specialization.unitStride.push_back(
        param->isTensor && variant.isPlain ? last : -1);
    if (param->isTensor && !variant.isPlain)
      facts.alignment[param->index] = byteSize(param->dtype);
  }
  facts.index32 = variant.isPlain;
  CompileOptions options;
  options.target = target.str();
  if (compileForGpu(program, kernel, specialization, facts, options))
    return;
  std::string messages;
  llvm::raw_string_ostream os(messages);
  program.diags.print(os);
  FAIL_CHECK(messages);
}

/// All kernels of a folder; returns how many were assembled.
static unsigned assembleFolder(llvm::StringRef folder, llvm::StringRef target,
                               const Variant &variant) {
  std::vector<std::string> files;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator
           entry(TILEC_SOURCE_DIR "/" + folder.str(), code),
       end;
       entry != end && !code; entry.increment(code))
    if (llvm::StringRef(entry->path()).ends_with(".tile"))
      files.push_back(entry->path());
  REQUIRE_FALSE(code);
  llvm::sort(files);
  unsigned count = 0;
  for (const std::string &file : files) {
    std::unique_ptr<Program> program = Program::load(file, {});
    REQUIRE(program->tree);
    for (const ast::KernelDecl *decl : program->getKernels()) {
      INFO(file << " " << decl->getName().str() << " for " << target.str()
                << ", T=" << variant.dtype.str() << ", extents "
                << variant.extent << (variant.isPlain ? "" : ", any strides"));
      program->diags.clear();
      if (std::unique_ptr<typed::Kernel> kernel =
              analyze(*program, *decl, target, variant)) {
        assemble(*program, *kernel, target, variant);
        ++count;
      }
    }
  }
  return count;
}

TEST_CASE("kernels of std and examples as machine code", "[assemble]") {
  // One for each way that types, extents and alignments change the code.
  static constexpr Variant variants[] = {
      {"f32", 64, true}, {"bf16", 128, true}, {"f16", 77, false}};
  llvm::Expected<const gpu::NVRTC &> nvrtc = gpu::NVRTC::get();
  if (!nvrtc) {
    WARN("skipped, no kernel was assembled: "
         << llvm::toString(nvrtc.takeError()));
    return;
  }
  for (const char *target : {"sm_80", "sm_90a"})
    for (const Variant &variant : variants) {
      CHECK(assembleFolder("std", target, variant) >= 20);
      CHECK(assembleFolder("examples", target, variant) >= 4);
    }
}

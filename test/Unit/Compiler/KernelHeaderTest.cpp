//===- KernelHeaderTest.cpp - Kernels as headers ----------------*- C++ -*-===//
//
// What --emit=header does not come to: facts of code that was made for given
// arguments. The headers themselves are compiled and run in
// test/Unit/KernelHeader.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/KernelHeader.h"
#include <catch2/catch.hpp>

using namespace tilec;
using Catch::Matchers::Contains;

/// The header of a kernel with an image made by hand.
static std::string headerFor(const char *arch,
                             std::vector<gpu::DivisorFact> divisors) {
  std::unique_ptr<Program> program = Program::loadText(
      "folder/k.tile",
      "kernel k(X: f32[M, N], Y: out f32[M, N]) {\n"
      "  grid m in tile(M), n in tile(N)\n  Y[m, n] = X[m, n]\n}\n",
      {});
  std::unique_ptr<typed::Kernel> kernel =
      program->analyze(*program->findKernel("k"), {}, arch);
  REQUIRE(kernel);
  GpuCode code;
  code.cubin = std::string("\x7f"
                           "ELF\0\xff",
                           6);
  code.image.name = "k1"; // In the cubin it may have another name.
  code.image.arch = arch;
  code.image.sharedBytes = 1024;
  code.image.params = {gpu::KernelParam::pointer(0),
                       gpu::KernelParam::extentOf("M", false)};
  code.image.grid = {{"M", 0, 16}, {"", 100, 8}};
  code.image.tensors = {{0, "X", DType::F32, 2, 1, 1, false, 0},
                        {1, "Y", DType::F32, 2, -1, 4, false, 0}};
  code.image.divisors = std::move(divisors);
  llvm::cantFail(verify(code.image));
  std::optional<std::string> header =
      printKernelHeader(*program, *kernel, code);
  REQUIRE(header);
  return *header;
}

TEST_CASE("a header has every fact of its image") {
  std::string header = headerFor("sm_86", {{"M", 16}});
  CHECK_THAT(header, Contains("/* The kernel 'k' of k.tile as machine code for "
                              "sm_86"));
  CHECK_THAT(header, Contains("M is a multiple of 16") &&
                         Contains("if (M % 16 != 0)\n"));
  CHECK_THAT(header, Contains("major == 8 && minor >= 6"));
  CHECK_THAT(header, Contains("127,69,76,70,0,255,"));
  CHECK_THAT(header, Contains("function, module, \"k1\""));
  CHECK_THAT(header, Contains("set_attribute(*function, 8, 1024)"));
  CHECK_THAT(header, Contains("along = 100 == 0 ? 0 : (100 - 1) / 8 + 1;"));
  // An extent of 32 bits has to fit.
  CHECK_THAT(header, Contains("if (M != (int32_t)M)\n"));
  // Nothing is asked of an address or of strides that the code leaves open.
  CHECK_THAT(header, !Contains("k_is_aligned(&X") &&
                         Contains("k_is_aligned(&Y, Y_strides, 2, -1, 4, 4)") &&
                         !Contains("Y.shape[-1]"));
  CHECK_THAT(headerFor("sm_90a", {}), Contains("major == 9 && minor == 0") &&
                                          !Contains("multiple of 16"));
}

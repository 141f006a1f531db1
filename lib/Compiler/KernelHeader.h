//===- KernelHeader.h - A kernel as a header for C and C++ ------*- C++ -*-===//
//
// What `--emit=header` writes: one file with the machine code of a kernel and a
// function that launches it, for programs that are built and run without tilec.
// It needs NVIDIA's driver alone, which it opens itself.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_COMPILER_KERNELHEADER_H
#define TILEC_COMPILER_KERNELHEADER_H

#include "lib/Compiler/GpuTarget.h"

namespace tilec {

/// The header. Nothing after reporting to `program.diags` a kernel that prints
/// or asserts, or a requirement or an extent that cannot be computed in C.
std::optional<std::string> printKernelHeader(Program &program,
                                             const typed::Kernel &kernel,
                                             const GpuCode &code);

/// What a scalar is in C. Narrow floats are passed as their bits.
llvm::StringRef typeInC(DType dtype);

/// A scalar expression over dimensions and scalar parameters in C, with
/// evaluateScalar's results; `names` says what those are called there. Uses
/// PREFIX_floor_div and PREFIX_floor_mod. Nothing if C would need a function of
/// its mathematical library, or rounding to a narrow type.
std::optional<std::string>
printCExpression(const typed::Expr &expr,
                 const llvm::StringMap<std::string> &names,
                 llvm::StringRef prefix);

} // namespace tilec

#endif // TILEC_COMPILER_KERNELHEADER_H

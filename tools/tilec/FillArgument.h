//===- FillArgument.h - Making an argument's elements -----------*- C++ -*-===//
//
// What `--arg` asks for, made for a parameter of a kernel. Errors have their
// remedy after "\nhelp: ", as those of the .npy reader do.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_FILLARGUMENT_H
#define TILEC_TOOLS_TILEC_FILLARGUMENT_H

#include "lib/Frontend/TypedAST.h"
#include "lib/Runtime/TensorView.h"
#include "tools/tilec/ArgumentSpec.h"
#include "llvm/ADT/StringMap.h"

namespace tilec::cli {

/// Whether the number of `spec` is a value of `dtype`. Floats take any number
/// and round it.
llvm::Error checkNumber(const ArgumentSpec &spec, DType dtype);

/// Fills the elements of `view` as `spec` says. Random values are a function of
/// the parameter's name and `seed`. Kind::Random makes integers that `kernel`
/// uses as an index in range.
llvm::Error fillArgument(const TensorView &view, const typed::Kernel &kernel,
                         const typed::Param &param, const ArgumentSpec &spec,
                         const llvm::StringMap<int64_t> &extents,
                         uint64_t seed);

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_FILLARGUMENT_H

//===- ArgumentSpec.h - Where an argument's value comes from ----*- C++ -*-===//
//
// The right side of `--arg NAME=WHAT`: a number, a file, or a way to make
// values.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_ARGUMENTSPEC_H
#define TILEC_TOOLS_TILEC_ARGUMENTSPEC_H

#include "lib/Frontend/TypedAST.h"
#include "lib/Runtime/Array.h"
#include "llvm/ADT/StringMap.h"
#include <string>

namespace tilec::cli {

struct ArgumentSpec {
  enum class Kind { Random, Number, File, Zeros, Ones, Iota, Uniform, RandInt };
  Kind kind = Kind::Random;
  std::string text; // As written.
  double number = 0;
  int64_t integer = 0;
  bool isInteger = false;
  std::string low, high; // Uniform, RandInt: numbers or dimension names.
};

/// Reads a specification; an error says what is understood.
llvm::Expected<ArgumentSpec> parseArgumentSpec(llvm::StringRef text);

/// Fills `array` as `spec` says. Random values are a function of the
/// parameter's name and `seed`. Without a specification, integers that `kernel`
/// uses as an index are made in range.
llvm::Error fillArgument(Array &array, const typed::Kernel &kernel,
                         const typed::Param &param, const ArgumentSpec &spec,
                         const llvm::StringMap<int64_t> &extents,
                         uint64_t seed);

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_ARGUMENTSPEC_H

//===- ArgumentSpec.h - Where an argument's value comes from ----*- C++ -*-===//
//
// The right side of `--arg NAME=WHAT`: a number, a file, or a way to make
// values.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_ARGUMENTSPEC_H
#define TILEC_TOOLS_TILEC_ARGUMENTSPEC_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace tilec::cli {

struct ArgumentSpec {
  enum class Kind { Random, Number, File, Zeros, Ones, Iota, Uniform, RandInt };
  Kind kind = Kind::Random;
  std::string text; // As written.
  double number = 0;
  int64_t integer = 0; // If isInteger.
  bool isInteger = false;
  std::string low, high; // Uniform, RandInt: numbers or dimension names.
};

/// Reads a specification; nothing if it is none.
std::optional<ArgumentSpec> parseArgumentSpec(llvm::StringRef text);

/// What parseArgumentSpec understands, for messages.
extern const char *const argumentSpecHelp;

/// A whole number, decimal or 0x...; nothing if it is none or does not fit.
/// (LLVM's own choice of a radix would read 010 as 8.)
template <typename T> std::optional<T> parseInteger(llvm::StringRef text) {
  llvm::StringRef digits = text;
  digits.consume_front("-");
  T value = 0;
  if (text.getAsInteger(digits.starts_with_insensitive("0x") ? 0 : 10, value))
    return std::nullopt;
  return value;
}

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_ARGUMENTSPEC_H

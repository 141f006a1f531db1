//===- ArgumentSpec.cpp - Where an argument's value comes from --*- C++ -*-===//
//
// Parsing the right side of `--arg`.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/ArgumentSpec.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace tilec;
using namespace tilec::cli;

const char *const cli::argumentSpecHelp =
    "it is a number, a path that ends in .npy, or one of zeros, ones, iota, "
    "normal, uniform(LO,HI), randint(LO,HI)";

std::optional<ArgumentSpec> cli::parseArgumentSpec(llvm::StringRef text) {
  using Kind = ArgumentSpec::Kind;
  ArgumentSpec spec;
  spec.text = text.str();
  if (text.ends_with(".npy")) {
    spec.kind = Kind::File;
    return spec;
  }
  std::optional<int64_t> integer = parseInteger<int64_t>(text);
  if (text == "true" || text == "false")
    integer = text == "true";
  if (integer) {
    spec.kind = Kind::Number;
    spec.isInteger = true;
    spec.integer = *integer;
    spec.number = static_cast<double>(*integer);
    return spec;
  }
  // Words for infinity and NaN are numbers too; 1e999 is a mistake.
  bool isNumber = !text.getAsDouble(spec.number);
  if (isNumber && (!std::isinf(spec.number) || llvm::none_of(text, [](char c) {
        return llvm::isDigit(c);
      }))) {
    spec.kind = Kind::Number;
    return spec;
  }

  auto [name, rest] = text.split('(');
  std::optional<Kind> kind =
      llvm::StringSwitch<std::optional<Kind>>(name.trim())
          .Case("zeros", Kind::Zeros)
          .Case("ones", Kind::Ones)
          .Case("iota", Kind::Iota)
          .Case("normal", Kind::Random)
          .Case("uniform", Kind::Uniform)
          .Case("randint", Kind::RandInt)
          .Default(std::nullopt);
  bool hasRange = kind == Kind::Uniform || kind == Kind::RandInt;
  if (!kind || hasRange != text.contains('('))
    return std::nullopt;
  spec.kind = *kind;
  if (!hasRange)
    return spec;
  if (!rest.consume_back(")"))
    return std::nullopt;
  auto [low, high] = rest.split(',');
  spec.low = low.trim().str();
  spec.high = high.trim().str();
  if (spec.low.empty() || spec.high.empty())
    return std::nullopt;
  return spec;
}

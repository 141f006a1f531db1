//===- RunReport.cpp - What a run gave, in words ----------------*- C++ -*-===//
//
// See RunReport.h.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/RunReport.h"
#include "lib/Runtime/Array.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace tilec;
using namespace tilec::cli;

std::string cli::formatMilliseconds(double milliseconds) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (milliseconds < 100)
    os << llvm::format("%.3g ms", milliseconds);
  else if (milliseconds < 1000)
    os << llvm::format("%.0f ms", milliseconds);
  else
    os << llvm::format("%.3g s", milliseconds / 1000);
  return text;
}

std::string cli::describeFindings(size_t count) {
  if (count == 0)
    return "no race, no deadlock, no access out of bounds";
  return std::to_string(count) + (count == 1 ? " finding" : " findings");
}

/// Whether an element still is what an output starts as.
static bool isPoison(DType dtype, const void *element) {
  uint64_t poison = poisonBits(dtype);
  return std::memcmp(element, &poison, byteSize(dtype)) == 0;
}

void cli::printOutput(llvm::raw_ostream &os, llvm::StringRef name,
                      const TensorView &view, bool startsAsPoison) {
  os << "  " << name << " = " << toString(view.dtype, view.shape);
  int64_t finite = 0, nans = 0, infinities = 0, unwritten = 0;
  double sum = 0, low = std::numeric_limits<double>::infinity(), high = -low;
  // The poison of an integer may be a result; that of a float hardly is.
  bool canTell = startsAsPoison && isFloat(view.dtype);
  forEachElement(view, [&](void *element, int64_t) {
    double value = loadAsDouble(view.dtype, element);
    if (std::isnan(value)) {
      ++nans;
      if (canTell && isPoison(view.dtype, element))
        ++unwritten;
      return;
    }
    low = std::min(low, value);
    high = std::max(high, value);
    if (std::isinf(value)) {
      ++infinities;
      return;
    }
    ++finite;
    sum += value;
  });
  if (finite || infinities)
    os << "  min " << llvm::format("%.6g", low);
  if (finite)
    os << "  mean " << llvm::format("%.6g", sum / static_cast<double>(finite));
  if (finite || infinities)
    os << "  max " << llvm::format("%.6g", high);
  if (nans - unwritten)
    os << "  NaN in " << nans - unwritten;
  if (infinities)
    os << "  infinite in " << infinities;
  if (unwritten)
    os << "  never written in " << unwritten;
  os << '\n';
}

/// "Y[2, 7]" for a row-major position.
static std::string elementName(llvm::StringRef name,
                               llvm::ArrayRef<int64_t> shape,
                               int64_t position) {
  std::string indices;
  for (int64_t extent : llvm::reverse(shape)) {
    if (!indices.empty())
      indices.insert(0, ", ");
    indices.insert(0, std::to_string(position % extent));
    position /= extent;
  }
  return (name + "[" + indices + "]").str();
}

static std::string formatNumber(DType dtype, double value) {
  if (std::isnan(value))
    return "NaN";
  std::string text;
  // As many digits as tell any two values apart.
  int digits = !isFloat(dtype) || dtype == DType::F64 ? 17 : 9;
  llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, value);
  return text;
}

/// The name of an array that can be given other values.
static llvm::StringRef exampleInput(const typed::Kernel &kernel) {
  for (const typed::Param *param : kernel.params)
    if (param->isTensor && isFloat(param->dtype) &&
        param->access != ast::Access::Out)
      return param->name;
  return "X";
}

std::string cli::compareOutput(Program &program, const typed::Kernel &kernel,
                               const typed::Param &param,
                               const TensorView &actual,
                               const TensorView &expected,
                               const RoundingFacts &facts) {
  auto added = facts.additions.find(&param);
  Comparison result =
      compareArrays(actual, expected, coarsestFloat(kernel),
                    added == facts.additions.end() ? nullptr : &added->second,
                    facts.cancellation);
  std::string line;
  llvm::raw_string_ostream os(line);
  os << "check " << param.name << ": largest error "
     << llvm::format("%.2e", result.maxAbsolute) << " (relative "
     << llvm::format("%.2e", result.maxRelative) << ", tolerance "
     << llvm::format("%.0e", result.tolerance) << "), "
     << (result.agrees() ? "ok" : "WRONG");
  if (result.agrees())
    return line;

  double found = 0, wanted = 0;
  int64_t strayNans = 0, missingNans = 0;
  std::vector<bool> nans;
  nans.reserve(static_cast<size_t>(expected.numElements()));
  forEachElement(expected, [&](void *element, int64_t i) {
    double value = loadAsDouble(expected.dtype, element);
    nans.push_back(std::isnan(value));
    if (i == result.firstMismatch)
      wanted = value;
  });
  forEachElement(actual, [&](void *element, int64_t i) {
    double value = loadAsDouble(actual.dtype, element);
    strayNans += std::isnan(value) && !nans[i];
    missingNans += !std::isnan(value) && nans[i];
    if (i == result.firstMismatch)
      found = value;
  });
  Diagnostic &error = program.diags.error(
      param.range,
      "'" + param.name + "' differs from the reference in " +
          llvm::Twine(result.mismatches) + " of " +
          llvm::Twine(actual.numElements()) + " elements; the first is " +
          elementName(param.name, actual.shape, result.firstMismatch) +
          ", expected " + formatNumber(expected.dtype, wanted) + ", found " +
          formatNumber(actual.dtype, found));
  if (strayNans)
    error.note("NaN in " + llvm::Twine(strayNans) +
               " elements that are numbers in the reference");
  if (missingNans)
    error.note("a number in " + llvm::Twine(missingNans) +
               " elements that are NaN in the reference");
  error.remedy("sums that cancel enlarge rounding errors; try arguments that "
               "add up exactly, e.g. --arg " +
               exampleInput(kernel) +
               "='randint(-3,4)'. What differs then is a bug of tilec: please "
               "report it");
  return line;
}

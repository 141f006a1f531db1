//===- Values.cpp - Expressions with bounds ---------------------*- C++ -*-===//
//
// See Values.h.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Kernels/Values.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cmath>

using namespace tilec;
using namespace tilec::fuzz;

/// Two roundings of a float type, which also allows for the reference's own.
static double epsilonOf(DType dtype) {
  return floatFormat(dtype == DType::F64 ? DType::F64 : DType::F32).epsilon;
}

DType fuzz::arithmeticType(DType dtype) {
  if (isFloat(dtype))
    return dtype == DType::F64 ? DType::F64 : DType::F32;
  return dtype == DType::I64 || dtype == DType::Bool ? dtype : DType::I32;
}

DType fuzz::commonType(DType a, DType b) {
  DType x = arithmeticType(a), y = arithmeticType(b);
  for (DType wider : {DType::F64, DType::F32, DType::I64})
    if (x == wider || y == wider)
      return wider;
  return x;
}

Value fuzz::rounded(Value value, DType to, double steps) {
  value.dtype = to;
  if (!isFloat(to)) {
    auto most = static_cast<double>(integerRange(to).max);
    if (value.bound > most)
      value.bound = most + 1;
    value.unit = 1;
    return value;
  }
  double significand = 2 / epsilonOf(to);
  if (!value.isExact() || value.bound > value.unit * significand)
    value.error += value.bound * epsilonOf(to) * steps;
  return value;
}

Value fuzz::operandOf(Value value, DType to) {
  constexpr double mostExact = 1 << 20;
  if (isFloat(to) && !isFloat(value.dtype) && value.bound > mostExact) {
    value.text = "(" + value.text + " % 97)";
    value.bound = 97;
  }
  return value;
}

static Value binary(llvm::StringRef op, const Value &x, const Value &y) {
  Value result;
  result.text = ("(" + x.text + " " + op + " " + y.text + ")").str();
  result.axes = x.axes | y.axes;
  result.special = x.special || y.special;
  result.unit = std::min(x.unit, y.unit);
  return result;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Value fuzz::negate(const Value &x) {
  Value result = x;
  result.text = "(-" + x.text + ")";
  return rounded(result, arithmeticType(x.dtype));
}

Value fuzz::absolute(const Value &x) {
  Value result = x;
  result.text = "abs(" + x.text + ")";
  return rounded(result, arithmeticType(x.dtype));
}

static Value addOrSubtract(llvm::StringRef op, const Value &x, const Value &y) {
  DType type = commonType(x.dtype, y.dtype);
  Value a = operandOf(x, type), b = operandOf(y, type);
  Value result = binary(op, a, b);
  result.bound = a.bound + b.bound;
  result.error = a.error + b.error;
  return rounded(result, type);
}

Value fuzz::add(const Value &x, const Value &y) {
  return addOrSubtract("+", x, y);
}

Value fuzz::subtract(const Value &x, const Value &y) {
  return addOrSubtract("-", x, y);
}

Value fuzz::multiply(const Value &x, const Value &y) {
  DType type = commonType(x.dtype, y.dtype);
  Value a = operandOf(x, type), b = operandOf(y, type);
  Value result = binary("*", a, b);
  result.bound = a.bound * b.bound;
  result.unit = a.unit * b.unit;
  result.error = a.error * b.bound + b.error * a.bound + a.error * b.error;
  return rounded(result, type);
}

Value fuzz::divide(const Value &x, const Value &y) {
  DType type = commonType(x.dtype, y.dtype);
  Value a = operandOf(x, type), b = operandOf(y, type);
  if (!isFloat(type)) {
    Value result = binary("/", a, b);
    result.bound = a.bound + 1;
    return rounded(result, type);
  }
  Value result = binary("/", a, b);
  result.text = "(" + a.text + " / (1 + abs(" + b.text + ")))";
  result.bound = a.bound;
  result.error = a.error + a.bound * (b.error + 4 * epsilonOf(type));
  return rounded(result, type);
}

Value fuzz::remainder(const Value &x, const Value &y) {
  Value result = binary("%", x, y);
  result.bound = y.bound;
  return rounded(result, commonType(x.dtype, y.dtype));
}

Value fuzz::extremum(llvm::StringRef function, const Value &x, const Value &y) {
  DType type = commonType(x.dtype, y.dtype);
  Value a = operandOf(x, type), b = operandOf(y, type);
  Value result = binary(",", a, b);
  result.text = (function + "(" + a.text + ", " + b.text + ")").str();
  result.bound = std::max(a.bound, b.bound);
  result.error = std::max(a.error, b.error);
  return rounded(result, type);
}

Value fuzz::clamp(const Value &x, int64_t limit) {
  Value result = x;
  std::string c = std::to_string(limit);
  result.text = "max(-" + c + ", min(" + x.text + ", " + c + "))";
  result.bound = std::min(x.bound, static_cast<double>(limit));
  // Infinities become limits.
  if (x.special)
    result.bound = static_cast<double>(limit);
  return rounded(result, arithmeticType(x.dtype));
}

Value fuzz::roundHalf(llvm::StringRef function, const Value &x) {
  Value a = operandOf(x, commonType(x.dtype, DType::F32));
  Value result = a;
  result.text = (function + "(" + a.text + " * 0.5)").str();
  result.bound = std::ceil(a.bound / 2);
  result.unit = 1;
  return rounded(result, commonType(x.dtype, DType::F32));
}

Value fuzz::compare(llvm::StringRef op, const Value &x, const Value &y) {
  DType type = commonType(x.dtype, y.dtype);
  Value result = binary(op, operandOf(x, type), operandOf(y, type));
  result.dtype = DType::Bool;
  result.special = false;
  return result;
}

Value fuzz::logical(llvm::StringRef op, const Value &x, const Value &y) {
  Value result = binary(op, x, y);
  result.dtype = DType::Bool;
  return result;
}

Value fuzz::invert(const Value &x) {
  Value result = x;
  result.text = "(!" + x.text + ")";
  return result;
}

Value fuzz::where(const Value &condition, const Value &x, const Value &y) {
  DType type = x.dtype == y.dtype ? x.dtype : commonType(x.dtype, y.dtype);
  Value a = operandOf(x, type), b = operandOf(y, type);
  Value result = binary(",", a, b);
  result.text = "where(" + condition.text + ", " + a.text + ", " + b.text + ")";
  result.axes |= condition.axes;
  result.bound = std::max(a.bound, b.bound);
  result.error = std::max(a.error, b.error);
  if (a.dtype == b.dtype) {
    result.dtype = type;
    return result;
  }
  return rounded(result, type);
}

Value fuzz::cast(const Value &x, DType to) {
  Value result = x;
  result.text = (dtypeName(to) + "(" + x.text + ")").str();
  result.dtype = to;
  if (to == DType::Bool) {
    result.special = false;
    return result;
  }
  if (x.dtype == DType::Bool) {
    result.bound = result.unit = 1;
    return result;
  }
  if (!isFloat(to)) {
    auto most = static_cast<double>(integerRange(to).max);
    if (x.bound > most || x.special)
      result.bound = most + 1;
    result.unit = 1;
    result.special = false;
    return result;
  }
  const FloatFormat &format = floatFormat(to);
  if (isFloat8(to)) {
    // Saturates.
    result.bound =
        x.special ? format.maxFinite : std::min(x.bound, format.maxFinite);
  }
  if (!x.isExact())
    result.error += result.bound * format.epsilon;
  else if (x.bound / x.unit * format.epsilon > 1)
    result.bound *= 1 + format.epsilon; // Rounded, by everyone alike.
  return result;
}

namespace {
struct FunctionRow {
  llvm::StringLiteral before, after; // Around the argument.
  double slope;                      // At most.
  double bound;                      // Or less than 0: that of the argument.
};
} // namespace

Value fuzz::function(unsigned which, const Value &x) {
  static constexpr FunctionRow rows[numFunctions] = {
      {"exp(min(", ", 2))", 7.4, 7.4},
      {"exp2(min(", ", 3))", 5.6, 8},
      {"log(1 + abs(", "))", 1, -1},
      {"log2(1 + abs(", "))", 1.45, -1},
      {"sqrt(1 + abs(", "))", 0.5, -1},
      {"rsqrt(1 + abs(", "))", 0.5, 1},
      {"sin(", ")", 1, 1},
      {"cos(", ")", 1, 1},
      {"tanh(", ")", 1, 1},
      {"erf(", ")", 1.13, 1},
      {"sigmoid(", ")", 0.25, 1},
      {"silu(", ")", 1.1, -1},
      {"gelu(", ")", 1.13, -1},
      {"relu(", ")", 1, -1},
      {"pow(min(abs(", "), 8), 1.5)", 4.3, 23},
  };
  const FunctionRow &row = rows[which];
  DType type = commonType(x.dtype, DType::F32);
  Value a = operandOf(x, type), result = a;
  result.text = (row.before + a.text + row.after).str();
  if (row.before == "relu(")
    return rounded(result, type);
  result.bound = row.bound < 0 ? 1.5 * a.bound + 1 : row.bound;
  // A few units in the last place, of the argument's arithmetic too.
  constexpr double units = 8;
  result.error = row.slope * (a.error + a.bound * epsilonOf(type)) +
                 units * result.bound * epsilonOf(type);
  return rounded(result, type);
}

//===----------------------------------------------------------------------===//
// Along axes
//===----------------------------------------------------------------------===//

Value fuzz::accumulated(Value value, double count) {
  DType type = arithmeticType(value.dtype);
  value.bound *= count;
  value.error *= count;
  return rounded(value, type, std::min(count, 1000.0));
}

static std::string callText(llvm::StringRef function, llvm::StringRef names,
                            llvm::StringRef argument) {
  return (function + "<" + names + ">(" + argument + ")").str();
}

Value fuzz::reduce(llvm::StringRef function, const Value &x, unsigned axes,
                   llvm::StringRef names, int64_t count) {
  auto n = static_cast<double>(count);
  DType type = arithmeticType(x.dtype);
  Value result = x;
  if (function == "sum") {
    result = accumulated(x, n);
  } else if (function == "prod") {
    // Of -1, 0 and 1 the product is one of these.
    result = isFloat(type) ? clamp(x, 1) : x;
    if (!isFloat(type)) {
      result.bound = static_cast<double>(integerRange(type).max);
    } else if (!result.isExact() || result.unit < 1) {
      result.error = n * (result.error + epsilonOf(type));
    }
    result.text = callText(function, names, result.text);
    result.axes &= ~axes;
    return rounded(result, type);
  } else if (count == 0 || x.special) {
    // Of nothing, or nothing but NaN.
    result.special = isFloat(type);
    if (!isFloat(type))
      result.bound = static_cast<double>(integerRange(type).max);
  }
  result.text = callText(function, names, x.text);
  result.axes = x.axes & ~axes;
  result.dtype = type;
  return result;
}

Value fuzz::reduceOther(llvm::StringRef function, const Value &x, unsigned axes,
                        llvm::StringRef names, int64_t count) {
  auto n = static_cast<double>(count);
  bool keeps = function == "cumsum" || function == "softmax";
  Value result = x;
  result.text = callText(function, names, x.text);
  if (!keeps)
    result.axes &= ~axes;
  if (function == "any" || function == "all")
    return result;
  if (function == "argmax" || function == "argmin") {
    // A position, -1 of nothing.
    result.bound = std::max(n - 1, 1.0);
    result.unit = 1;
    result.special = false;
    return rounded(result, DType::I64);
  }
  if (function == "cumsum") {
    Value sums = accumulated(x, n);
    sums.text = result.text;
    return sums;
  }
  DType type = commonType(x.dtype, DType::F32);
  double epsilon = epsilonOf(type);
  Value a = operandOf(x, type);
  result.text = callText(function, names, a.text);
  result.special |= count == 0;
  if (function == "mean") {
    result.bound = a.bound;
    result.error = a.error + a.bound * epsilon * (4 + std::min(n, 1000.0));
  } else if (function == "logsumexp") {
    result.bound = a.bound + std::log(std::max(n, 1.0));
    result.error = a.error + (a.bound * 4 + n + 16) * epsilon;
    result.special = true; // -inf of nothing.
  } else {
    result.bound = 1;
    result.error = 2 * a.error + (a.bound * 8 + n + 16) * epsilon;
  }
  return rounded(result, type);
}

Value fuzz::dot(const Value &x, const Value &y, unsigned axes,
                llvm::StringRef names, int64_t count,
                llvm::StringRef precision) {
  auto n = static_cast<double>(count);
  DType type = commonType(x.dtype, y.dtype);
  Value a = operandOf(x, type), b = operandOf(y, type);
  Value result = binary(",", a, b);
  result.text = ("dot<" + names + ">(" + a.text + ", " + b.text +
                 (precision.empty() ? "" : ", precision = ") + precision + ")")
                    .str();
  result.axes = (a.axes | b.axes) & ~axes;
  result.bound = n * a.bound * b.bound;
  result.unit = a.unit * b.unit;
  result.error =
      n * (a.error * b.bound + b.error * a.bound + a.error * b.error);
  double perProduct = 0;
  auto isNarrowed = [](const Value &value) {
    return !value.isExact() || value.bound / value.unit > 2048;
  };
  bool narrowed = isNarrowed(a) || isNarrowed(b);
  if (narrowed &&
      (precision == "tf32" || x.dtype == DType::TF32 || y.dtype == DType::TF32))
    perProduct = 2 * floatFormat(DType::TF32).epsilon;
  else if (narrowed && precision == "tf32x3")
    perProduct = 0x1p-19;
  // Tensor cores keep fewer bits of sums of fp8 products.
  if (isFloat8(a.dtype) && isFloat8(b.dtype) &&
      result.bound / result.unit > 4096)
    perProduct = std::max(perProduct, 0x1p-11);
  result.error += perProduct * result.bound;
  return rounded(result, type, std::min(n, 1000.0));
}

//===- Case.cpp - One case of the kernel fuzzer -----------------*- C++ -*-===//
//
// See Case.h.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Kernels/Case.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using namespace tilec::fuzz;

bool Layout::isRowMajor() const {
  return llvm::is_sorted(order) && innerStride == 1 && gap == 0 &&
         offset == 0 && reversed == 0 && repeated == 0;
}

std::string Layout::text() const {
  if (isRowMajor())
    return "row-major";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "order " << llvm::interleaved(order) << ", inner stride " << innerStride
     << ", gap " << gap << ", offset " << offset;
  for (unsigned d = 0; d < order.size(); ++d) {
    if (reversed >> d & 1)
      os << ", dimension " << d << " reversed";
    if (repeated >> d & 1)
      os << ", dimension " << d << " repeated";
  }
  return text;
}

static llvm::StringRef accessText(TensorParam::Access access) {
  switch (access) {
  case TensorParam::Access::In:
    return "";
  case TensorParam::Access::Out:
    return "out ";
  case TensorParam::Access::InOut:
    return "inout ";
  case TensorParam::Access::Add:
    return "add ";
  }
  llvm_unreachable("not an access");
}

static void print(llvm::raw_ostream &os,
                  const std::vector<Statement> &statements, unsigned indent) {
  for (const Statement &statement : statements) {
    os.indent(indent) << statement.text;
    if (statement.body.empty()) {
      os << '\n';
      continue;
    }
    os << " {\n";
    print(os, statement.body, indent + 2);
    os.indent(indent) << "}\n";
  }
}

std::string Case::source() const {
  std::vector<std::string> params;
  for (const TensorParam &tensor : tensors) {
    std::string shape;
    for (unsigned dim : tensor.dims)
      shape += (shape.empty() ? "" : ", ") + dims[dim].name;
    params.push_back((tensor.name + ": " + accessText(tensor.access) +
                      dtypeName(tensor.dtype) + "[" + shape + "]")
                         .str());
  }
  for (const ScalarParam &scalar : scalars)
    params.push_back((scalar.name + ": " + dtypeName(scalar.dtype)).str());
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "kernel k(" << llvm::join(params, ",\n         ") << ")";
  if (!requirement.empty())
    os << " requires " << requirement;
  os << " {\n";
  print(os, body, 2);
  os << "}\n";
  return text;
}

std::string Case::command(llvm::StringRef file, llvm::StringRef target) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "tilec run " << file << " --target=" << target << " --check --unchecked"
     << " --seed " << seed;
  std::vector<std::string> parts;
  for (const Dim &dim : dims)
    if (!llvm::isDigit(dim.name[0]))
      parts.push_back(dim.name + "=" + std::to_string(dim.size));
  if (!parts.empty())
    os << " --size " << llvm::join(parts, ",");
  parts.clear();
  for (const auto &[name, value] : schedule)
    parts.push_back(name + "=" + std::to_string(value));
  if (!parts.empty())
    os << " --schedule " << llvm::join(parts, ",");
  for (const TensorParam &tensor : tensors)
    if (tensor.access != TensorParam::Access::Out)
      os << " --arg " << tensor.name << "='randint(" << tensor.low << ","
         << tensor.high << ")'";
  for (const ScalarParam &scalar : scalars)
    os << " --arg " << scalar.name << "=" << scalar.value;
  return text;
}

std::string Case::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << source();
  for (const Dim &dim : dims)
    os << "// " << dim.name << " = " << dim.size << '\n';
  for (const TensorParam &tensor : tensors) {
    os << "// " << tensor.name << ": " << tensor.layout.text();
    if (tensor.access != TensorParam::Access::Out)
      os << ", from " << tensor.low << " to below " << tensor.high;
    if (tensor.special)
      os << (isFloat8(tensor.dtype) ? ", some NaN" : ", some NaN and infinite");
    if (tensor.isOutput() && tensor.error > 0)
      os << ", within " << tensor.error;
    if (tensor.isOutput() && tensor.error == 0)
      os << ", exact";
    os << '\n';
  }
  for (const ScalarParam &scalar : scalars)
    os << "// " << scalar.name << " = " << scalar.value << '\n';
  if (!schedule.empty()) {
    os << "// schedule";
    for (const auto &[name, value] : schedule)
      os << ' ' << name << '=' << value;
    os << '\n';
  }
  return text;
}

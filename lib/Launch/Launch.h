//===- Launch.h - Matching arguments with a kernel --------------*- C++ -*-===//
//
// Everything that must be true of the arguments of a launch and can only be
// checked when they are there: dtypes, ranks, extents (each dimension name has
// one value in the whole signature), `requires` constraints, and that no tensor
// that is written shares memory with another.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LAUNCH_LAUNCH_H
#define TILEC_LAUNCH_LAUNCH_H

#include "lib/Frontend/Evaluate.h"
#include "lib/Frontend/TypedAST.h"
#include "lib/Runtime/TensorView.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <variant>

namespace tilec {

/// One argument; monostate stands for a scalar's default. A scalar is converted
/// to the parameter's dtype, unless that would lose more than rounding does.
using Argument = std::variant<std::monostate, TensorView, ScalarValue>;

/// A launch whose arguments have been found right.
struct BoundLaunch {
  llvm::StringMap<int64_t> extents; // Of every dimension.
  std::vector<Argument> args;       // Defaults filled in.
};

/// Checks `args`, one per parameter of `kernel`, and gives every dimension its
/// extent. Nothing after reporting errors that name the arguments.
std::optional<BoundLaunch> bindLaunch(const typed::Kernel &kernel,
                                      llvm::ArrayRef<Argument> args,
                                      DiagnosticEngine &diags);

/// The shape of a tensor parameter for given extents; nothing if a dimension
/// has none.
std::optional<Extents> shapeOf(const typed::Param &param,
                               const llvm::StringMap<int64_t> &extents);

/// "bf16[M, K]": the type of a parameter as the source writes it.
std::string typeText(const typed::Param &param);

} // namespace tilec

#endif // TILEC_LAUNCH_LAUNCH_H

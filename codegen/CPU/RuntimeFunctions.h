//===- RuntimeFunctions.h - What compiled kernels call ----------*- C++ -*-===//
//
// The functions of the host that kernels call (named in
// codegen/TileToLinalg/Passes.h), and the context they pass along.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CPU_RUNTIMEFUNCTIONS_H
#define TILEC_CODEGEN_CPU_RUNTIMEFUNCTIONS_H

#include "lib/Runtime/Reports.h"

#include "llvm/ADT/ArrayRef.h"

namespace tilec::cpu {

/// What `ctx` points to during a run.
struct RunContext {
  llvm::ArrayRef<Site> sites;
  ReportSink *reports;
};

struct RuntimeFunction {
  llvm::StringRef name;
  void *address;
};
llvm::ArrayRef<RuntimeFunction> runtimeFunctions();

} // namespace tilec::cpu

#endif // TILEC_CODEGEN_CPU_RUNTIMEFUNCTIONS_H

//===- Passes.td - From tile to linalg -----------------*- tablegen -*-===//
//
// The pass that takes kernels out of the tile dialect, for the `cpu` target.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_TILETOLINALG_PASSES_TD
#define TILEC_CODEGEN_TILETOLINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTileToLinalg : Pass<"convert-tile-to-linalg", "::mlir::ModuleOp"> {
  let summary = "lowers kernels to functions of linalg on tensors";
  let description = [{
    Every `tile.kernel` becomes two functions:

    * `@NAME.run(views as memrefs, scalars, %begin: index, %end: index, %ctx:
      !llvm.ptr)` runs the programs of the grid with numbers in `[begin, end)`.
      (The suffix keeps a kernel called `exp` apart from the C library's.)
      Programs are numbered in row-major order of the grid, so the last
      dimension of the grid varies fastest. `%ctx` is passed on to the functions
      of the run time that report and print.
    * `@NAME.programs(the same views and scalars) -> index` is how many programs
      there are.

    A view is a memref with dynamic strides, except that the dimension named by
    the argument attribute `tile.unit_stride` has stride 1.

    Inside, tiles are tensors, and computation is `linalg.generic` on them (a
    contraction carries the unit attribute `tilec.contraction`). Reading a whole
    block of an `in` argument costs nothing: it is a tensor that *is* that
    memory. A block that may be cut off at an edge is that memory too, unless it
    is cut off, which is found out at run time and leads to a padded copy.

    Places that report get a number; the module attribute `tilec.sites` is the
    table of them, and the functions `tilec_cpu_...` are declared for it.
  }];
  let options = [
    Option<"checked", "checked", "bool", "false",
           "report indices out of range">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

#endif // TILEC_CODEGEN_TILETOLINALG_PASSES_TD

//===- Passes.td - Passes of the cpu target ------------*- tablegen -*-===//
//
// What the `cpu` target adds to MLIR's own passes. Pipeline.cpp has the order
// they run in, and why.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CPU_PASSES_TD
#define TILEC_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def CPUMergeVersions : Pass<"cpu-merge-versions", "::mlir::ModuleOp"> {
  let summary = "drops the grid's body for full tiles where it gains nothing";
  let description = [{
    Of a branch marked `tile.versioned`, the side for partial tiles, which is
    right for all of them, replaces the whole, unless it masks lanes and the
    other does not.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def CPUFuseElementwise : Pass<"cpu-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "merges linalg.generic ops into the ones that use their result";
  let description = [{
    A producer with one user is merged into it. One with several users is
    computed again in each if that is cheaper than storing and loading it.
    Contractions are left alone, for the microkernels, and so are pinned ops.
    A producer that is expensive is never merged into a user that would compute
    an element more than once.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CPUReuseOperands : Pass<"cpu-reuse-operands", "::mlir::func::FuncOp"> {
  let summary = "lets elementwise ops overwrite an operand they use last";
  let description = [{
    An elementwise op whose result goes to a fresh tensor takes instead, as the
    tensor to write to, an operand of the same type that nobody reads later.
    Bufferization then needs one buffer less, and the cache holds one less.
  }];
}

def CPUBufferize : Pass<"cpu-bufferize", "::mlir::ModuleOp"> {
  let summary = "one-shot bufferization with the options this target needs";
  let description = [{
    Buffers never leave the loop body they are allocated in, copies are
    linalg.generic, and a tensor without a buffer gets the identity layout.

    A tile that scf.for carries keeps its buffer. Where the value yielded for it
    would be in another, a copy brings it there, in a branch if one chooses it:

    Before: `%r = scf.for ... iter_args(%x = %x0) { %y = scf.if %c -> ... {
    yield %new } else { yield %x }; yield %y }`.
    Then: the first branch yields a copy of `%new` into `%x`.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CPUOrderLoops : Pass<"cpu-order-loops", "::mlir::func::FuncOp"> {
  let summary = "makes the innermost loop run along contiguous memory";
  let description = [{
    Interchanges the loops of linalg.generic ops on buffers. Pinned ops, whose
    loops must run in order, stay as they are.
  }];
}

def CPUMicrokernels : Pass<"cpu-microkernels", "::mlir::func::FuncOp"> {
  let summary = "register-blocked loops for contractions";
  let description = [{
    Replaces a contraction on buffers by loops over blocks of MR rows and NR
    columns of the result, which stay in vector registers while the loop over
    the contracted axis multiplies a broadcast element of the left operand with
    a vector of the right one. Operands that are narrow, or not laid out for
    that, are packed first.
  }];
  let options = [
    Option<"vectorBytes", "vector-bytes", "unsigned", "64",
           "bytes in a vector register">,
    Option<"vectorRegisters", "vector-registers", "unsigned", "32",
           "how many vector registers there are">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def CPUBoolsToBytes : Pass<"cpu-bools-to-bytes", "::mlir::func::FuncOp"> {
  let summary = "stores i1 as bytes";
  let description = [{
    LLVM's vectorizer refuses to touch arrays of i1, so buffers of them become
    buffers of i8 that hold 0 or 1. Runs on loops: the only ops that may access
    such a buffer are memref.load and memref.store.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def CPUPlanBuffers : Pass<"cpu-plan-buffers", "::mlir::func::FuncOp"> {
  let summary = "places all temporary buffers in memory the caller provides";
  let description = [{
    Every memref.alloc of static size is replaced by a part of a *slot*, an
    extra argument of the function. Buffers that are never live at the same time
    share a slot. There is nothing to free, nothing on the stack, and as slots
    are arguments that do not alias, LLVM can tell buffers apart.

    The function attribute `tilec.slots` has the size of each slot in bytes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def CPUExpandMath : Pass<"cpu-expand-math", "::mlir::func::FuncOp"> {
  let summary = "writes f32 functions out as arithmetic that vectorizes";
  let description = [{
    exp, exp2, log, log2, tanh and erf of f32 become polynomials of at most a
    few units in the last place of error, right for infinities, NaN, subnormal
    numbers and any magnitude. Also expands the maximum and minimum that ignore
    NaN, and integer divisions that round down or up. Functions of f64, sin, cos and pow are left to the C library.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def CPUExpandNarrowFloats
    : Pass<"cpu-expand-narrow-floats", "::mlir::func::FuncOp"> {
  let summary = "converts bf16, f16 and fp8 by integer arithmetic";
  let description = [{
    arith.extf and arith.truncf from and to a narrow float become operations on
    the bits, rounding once to nearest even, and keeping NaN and subnormal
    numbers. Where the host has them (`f16c`), f16 uses its own instructions.
  }];
  let options = [
    Option<"f16c", "f16c", "bool", "false",
           "the host converts f16 in hardware">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CPULowerToLLVM : Pass<"cpu-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "everything that is left to the LLVM dialect";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CPUEntryPoints : Pass<"cpu-entry-points", "::mlir::ModuleOp"> {
  let summary = "makes the functions that the launcher calls";
  let description = [{
    Every kernel gets a function `NAME.run.entry(ptr arguments, i64 begin, i64
    end, ptr scratch, ptr ctx)`, and every count of programs a function
    `NAME.programs.entry(ptr arguments) -> i64`. `arguments` is an array of
    64-bit words: for a view the address, the extents and the strides, for a
    scalar one word that holds it in the low bytes.

    Also marks what does not alias, and removes the claims of MLIR's lowering
    that addresses are unsigned, which negative strides break.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // TILEC_CODEGEN_CPU_PASSES_TD

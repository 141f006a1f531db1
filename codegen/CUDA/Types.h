//===- Types.h - How elements are held in CUDA C++ --------------*- C++ -*-===//
//
// The C++ types of values. A scalar or one element of a fragment has a CType.
// A fragment of R registers is an array: of R elements where these take 32 bits
// or more, or are bools; narrower ones are packed into 32-bit words, low bits
// first, because that is what vector accesses and tensor cores want.
//
// The narrow floats are storage, so as values they are their bits. Whoever
// computes with them converts first.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CUDA_TYPES_H
#define TILEC_CODEGEN_CUDA_TYPES_H

#include "lib/Support/DType.h"

#include "mlir/IR/Types.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringRef.h"

namespace tilec::cuda {

enum class CType { Bool, I8, I16, I32, I64, F32, F64, F16, BF16, E4M3, E5M2 };

/// The type of elements of `type`, a number type of the tile dialect; `index`
/// is i64 here.
CType ctypeOf(mlir::Type type);

/// "float", "long long", "bf16" (declared by the prelude), ...
llvm::StringRef spelling(CType type);
/// A short name for functions of the prelude: "f32", "s64", "bf16", ...
llvm::StringRef shortName(CType type);
/// Bytes of an element in memory.
unsigned byteSize(CType type);
bool isFloatType(CType type);
/// f16, bf16 and the fp8 types.
bool isNarrowFloat(CType type);
/// Elements in a 32-bit word of a fragment, or 1 if they are not packed.
unsigned elementsPerWord(CType type);
inline bool isPacked(CType type) { return elementsPerWord(type) > 1; }
/// The type of one entry of a fragment's array: "float", "unsigned".
llvm::StringRef arraySpelling(CType type);
/// Entries of the array of a fragment of `registers` elements.
unsigned arraySize(CType type, unsigned registers);

/// The dtype of elements in memory. The IR does not tell u8 and bool from i8,
/// nor tf32 from f32; they are of one size.
DType dtypeOf(CType type);

} // namespace tilec::cuda

#endif // TILEC_CODEGEN_CUDA_TYPES_H

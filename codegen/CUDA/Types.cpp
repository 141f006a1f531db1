//===- Types.cpp - How elements are held in CUDA C++ ------------*- C++ -*-===//

#include "codegen/CUDA/Types.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::cuda {

CType ctypeOf(Type type) {
  if (type.isF32())
    return CType::F32;
  if (type.isF64())
    return CType::F64;
  if (type.isF16())
    return CType::F16;
  if (type.isBF16())
    return CType::BF16;
  if (isa<Float8E4M3FNType>(type))
    return CType::E4M3;
  if (isa<Float8E5M2Type>(type))
    return CType::E5M2;
  if (type.isInteger(1))
    return CType::Bool;
  if (type.isInteger(8))
    return CType::I8;
  if (type.isInteger(16))
    return CType::I16;
  if (type.isInteger(32))
    return CType::I32;
  if (type.isInteger(64) || type.isIndex())
    return CType::I64;
  llvm_unreachable("not an element type of tiles");
}

llvm::StringRef spelling(CType type) {
  switch (type) {
  case CType::Bool:
    return "bool";
  case CType::I8:
    return "signed char";
  case CType::I16:
    return "short";
  case CType::I32:
    return "int";
  case CType::I64:
    return "long long";
  case CType::F32:
    return "float";
  case CType::F64:
    return "double";
  case CType::F16:
    return "f16";
  case CType::BF16:
    return "bf16";
  case CType::E4M3:
    return "e4m3";
  case CType::E5M2:
    return "e5m2";
  }
  llvm_unreachable("unknown type");
}

llvm::StringRef shortName(CType type) {
  switch (type) {
  case CType::Bool:
    return "b1";
  case CType::I8:
    return "s8";
  case CType::I16:
    return "s16";
  case CType::I32:
    return "s32";
  case CType::I64:
    return "s64";
  case CType::F32:
    return "f32";
  case CType::F64:
    return "f64";
  case CType::F16:
  case CType::BF16:
  case CType::E4M3:
  case CType::E5M2:
    return spelling(type);
  }
  llvm_unreachable("unknown type");
}

unsigned byteSize(CType type) {
  switch (type) {
  case CType::Bool:
  case CType::I8:
  case CType::E4M3:
  case CType::E5M2:
    return 1;
  case CType::I16:
  case CType::F16:
  case CType::BF16:
    return 2;
  case CType::I32:
  case CType::F32:
    return 4;
  case CType::I64:
  case CType::F64:
    return 8;
  }
  llvm_unreachable("unknown type");
}

bool isNarrowFloat(CType type) {
  return type == CType::F16 || type == CType::BF16 || type == CType::E4M3 ||
         type == CType::E5M2;
}

bool isFloatType(CType type) {
  return type == CType::F32 || type == CType::F64 || isNarrowFloat(type);
}

unsigned elementsPerWord(CType type) {
  return type == CType::Bool ? 1 : std::max(1u, 4 / byteSize(type));
}

llvm::StringRef arraySpelling(CType type) {
  return isPacked(type) ? "unsigned" : spelling(type);
}

unsigned arraySize(CType type, unsigned registers) {
  return llvm::divideCeil(registers, elementsPerWord(type));
}

DType dtypeOf(CType type) {
  switch (type) {
  case CType::Bool:
    return DType::Bool;
  case CType::I8:
    return DType::I8;
  case CType::I16:
    return DType::I16;
  case CType::I32:
    return DType::I32;
  case CType::I64:
    return DType::I64;
  case CType::F32:
    return DType::F32;
  case CType::F64:
    return DType::F64;
  case CType::F16:
    return DType::F16;
  case CType::BF16:
    return DType::BF16;
  case CType::E4M3:
    return DType::F8E4M3;
  case CType::E5M2:
    return DType::F8E5M2;
  }
  llvm_unreachable("unknown type");
}

} // namespace tilec::cuda

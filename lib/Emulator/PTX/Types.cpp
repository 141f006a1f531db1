//===- Types.cpp - Types and names of PTX ---------------------------------===//

#include "lib/Emulator/PTX/Module.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tilec::emulator::ptx {

namespace {
struct TypeTraits {
  Type type;
  const char *name;
  unsigned bits;
};
constexpr TypeTraits traits[] = {
    {Type::None, "", 0},          {Type::Pred, "pred", 1},
    {Type::B8, "b8", 8},          {Type::B16, "b16", 16},
    {Type::B32, "b32", 32},       {Type::B64, "b64", 64},
    {Type::B128, "b128", 128},    {Type::U8, "u8", 8},
    {Type::U16, "u16", 16},       {Type::U32, "u32", 32},
    {Type::U64, "u64", 64},       {Type::S8, "s8", 8},
    {Type::S16, "s16", 16},       {Type::S32, "s32", 32},
    {Type::S64, "s64", 64},       {Type::F16, "f16", 16},
    {Type::F16x2, "f16x2", 32},   {Type::BF16, "bf16", 16},
    {Type::BF16x2, "bf16x2", 32}, {Type::TF32, "tf32", 32},
    {Type::F32, "f32", 32},       {Type::F64, "f64", 64},
    {Type::U16x2, "u16x2", 32},   {Type::S16x2, "s16x2", 32},
    {Type::E4M3, "e4m3", 8},      {Type::E5M2, "e5m2", 8},
    {Type::E4M3x2, "e4m3x2", 16}, {Type::E5M2x2, "e5m2x2", 16},
    {Type::U4, "u4", 4},          {Type::S4, "s4", 4},
    {Type::B1, "b1", 1},
};

constexpr bool areInOrder() {
  for (unsigned i = 0; i != std::size(traits); ++i)
    if (unsigned(traits[i].type) != i)
      return false;
  return std::size(traits) == unsigned(Type::B1) + 1;
}
static_assert(areInOrder(), "indexed by the type");
} // namespace

Type typeNamed(llvm::StringRef name) {
  if (name.empty())
    return Type::None;
  for (const TypeTraits &entry : traits)
    if (name == entry.name)
      return entry.type;
  return Type::None;
}

llvm::StringRef nameOf(Type type) { return traits[unsigned(type)].name; }
unsigned bitsOf(Type type) { return traits[unsigned(type)].bits; }
unsigned bytesOf(Type type) { return std::max(1u, bitsOf(type) / 8); }

bool isSigned(Type type) {
  switch (type) {
  case Type::S4:
  case Type::S8:
  case Type::S16:
  case Type::S16x2:
  case Type::S32:
  case Type::S64:
    return true;
  default:
    return isFloat(type);
  }
}

bool isFloat(Type type) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
  case Type::BF16:
  case Type::BF16x2:
  case Type::TF32:
  case Type::F32:
  case Type::F64:
  case Type::E4M3:
  case Type::E5M2:
  case Type::E4M3x2:
  case Type::E5M2x2:
    return true;
  default:
    return false;
  }
}

bool Instruction::has(llvm::StringRef piece) const {
  return llvm::is_contained(llvm::drop_begin(pieces), piece);
}

std::string Instruction::name() const { return llvm::join(pieces, "."); }

} // namespace tilec::emulator::ptx

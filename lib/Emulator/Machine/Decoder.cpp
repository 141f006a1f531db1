//===- Decoder.cpp - From parsed to decoded instructions ------------------===//

#include "lib/Emulator/Machine/Decoder.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace tilec::emulator {

using Kind = ptx::Operand::Kind;
using ptx::Type;

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

Pieces::Pieces(const ptx::Instruction &from) : from(from) {}

bool Pieces::take(llvm::StringRef piece) {
  for (unsigned i = 1; i < from.pieces.size(); ++i)
    if (!(taken >> i & 1) && from.pieces[i] == piece) {
      taken |= uint64_t(1) << i;
      return true;
    }
  return false;
}

Type Pieces::takeType() {
  for (unsigned i = 1; i < from.pieces.size(); ++i) {
    if (taken >> i & 1)
      continue;
    if (Type type = ptx::typeNamed(from.pieces[i]); type != Type::None) {
      taken |= uint64_t(1) << i;
      return type;
    }
  }
  return Type::None;
}

llvm::StringRef Pieces::next() const {
  unsigned i = llvm::countr_one(taken);
  return i < from.pieces.size() ? llvm::StringRef(from.pieces[i]) : "";
}

llvm::StringRef Pieces::takeNext() {
  llvm::StringRef piece = next();
  if (!piece.empty())
    taken |= taken + 1; // The lowest bit that is not set.
  return piece;
}

llvm::Error Pieces::finish(const Decoder &decoder) const {
  llvm::StringRef left = next();
  if (left.empty())
    return llvm::Error::success();
  return decoder.unsupported(from, "'." + left + "' is not known here");
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Decoder::Decoder(Program &program, unsigned function)
    : program(program), index(function) {}

const ptx::Function &Decoder::function() const {
  return program.source.functions[index];
}

llvm::Error Decoder::run() {
  for (const ptx::Instruction &from : function().instructions) {
    Instruction to;
    if (llvm::Error error = instruction(from, to))
      return error;
    program.instructions.push_back(std::move(to));
  }
  return llvm::Error::success();
}

/// Why an opcode is not known.
static llvm::StringRef reasonFor(llvm::StringRef opcode) {
  static const std::pair<llvm::StringRef, llvm::StringRef> reasons[] = {
      {"wmma", "fragments of wmma are not emulated; mma, ldmatrix and wgmma "
               "are"},
      {"multimem", "multicast memory of several GPUs is not emulated"},
      {"tensormap", "tensor maps that the device changes are not emulated"},
      {"tcgen05", "it is for targets after sm_90a"},
      {"clusterlaunchcontrol", "it is for targets after sm_90a"},
  };
  for (auto [name, reason] : reasons)
    if (opcode == name)
      return reason;
  for (llvm::StringRef name :
       {"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"})
    if (opcode == name)
      return "textures and surfaces are not emulated";
  return "no such opcode is known";
}

llvm::Error Decoder::instruction(const ptx::Instruction &from,
                                 Instruction &to) {
  to.source = &from;
  if (from.guard) {
    to.guard = code().registers[from.guard->index];
    to.isGuardNegated = from.guard->isNegated;
  }
  // `bar` is short for the aligned forms of `barrier`, but for bar.warp.
  to.isAligned =
      from.has("aligned") || (from.opcode() == "bar" && !from.has("warp"));
  DecodeFunction decode = InstructionSet::all().find(from.opcode());
  if (!decode)
    return unsupported(from, reasonFor(from.opcode()));
  if (llvm::Error error = decode(*this, from, to))
    return error;
  if (!to.execute)
    return unsupported(from, "it is not implemented");
  return llvm::Error::success();
}

llvm::Error Decoder::complain(const ptx::Instruction &from,
                              llvm::StringRef what,
                              const llvm::Twine &reason) const {
  return llvm::createStringError(
      program.source.name + ":" + llvm::Twine(from.location.ptxLine) + ": " +
      what + " instruction '" + from.name() + "': " + reason);
}

llvm::Error Decoder::unsupported(const ptx::Instruction &from,
                                 const llvm::Twine &reason) const {
  return complain(from, "unsupported", reason);
}

llvm::Error Decoder::malformed(const ptx::Instruction &from,
                               const llvm::Twine &reason) const {
  return complain(from, "malformed", reason);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Slot Decoder::constant(uint64_t bits) {
  auto [place, isNew] = constants.try_emplace(
      bits, Program::firstConstant + Slot(program.constants.size()));
  if (isNew) {
    program.constants.emplace_back();
    program.constants.back().fill(bits);
  }
  return place->second;
}

static std::optional<Special> specialNamed(llvm::StringRef name) {
  static const llvm::StringMap<Special> names = [] {
    llvm::StringMap<Special> result = {
        {"%is_explicit_cluster", Special::IsExplicitCluster},
        {"%cluster_ctarank", Special::ClusterCtarank},
        {"%cluster_nctarank", Special::ClusterNctarank},
        {"%laneid", Special::Laneid},
        {"%warpid", Special::Warpid},
        {"%nwarpid", Special::Nwarpid},
        {"%smid", Special::Smid},
        {"%nsmid", Special::Nsmid},
        {"%gridid", Special::Gridid},
        {"%lanemask_eq", Special::LanemaskEq},
        {"%lanemask_le", Special::LanemaskLe},
        {"%lanemask_lt", Special::LanemaskLt},
        {"%lanemask_ge", Special::LanemaskGe},
        {"%lanemask_gt", Special::LanemaskGt},
        {"%dynamic_smem_size", Special::DynamicSmemSize},
        {"%total_smem_size", Special::TotalSmemSize},
        {"%clock", Special::Clock},
        {"%clock_hi", Special::ClockHi},
        {"%clock64", Special::Clock64},
        {"%globaltimer", Special::Globaltimer},
        {"%globaltimer_lo", Special::GlobaltimerLo},
        {"%globaltimer_hi", Special::GlobaltimerHi},
    };
    const std::pair<const char *, Special> vectors[] = {
        {"%tid", Special::TidX},
        {"%ntid", Special::NtidX},
        {"%ctaid", Special::CtaidX},
        {"%nctaid", Special::NctaidX},
        {"%clusterid", Special::ClusteridX},
        {"%nclusterid", Special::NclusteridX},
        {"%cluster_ctaid", Special::ClusterCtaidX},
        {"%cluster_nctaid", Special::ClusterNctaidX},
    };
    for (const auto &[stem, first] : vectors)
      for (unsigned i = 0; i != 3; ++i)
        result[(llvm::Twine(stem) + "." + llvm::Twine("xyz"[i])).str()] =
            Special(unsigned(first) + i);
    return result;
  }();
  auto found = names.find(name);
  if (found == names.end())
    return std::nullopt;
  return found->second;
}

uint64_t Decoder::addressOf(const ptx::Operand &variable) const {
  const FunctionCode &own = code();
  switch (variable.kind) {
  case Kind::Parameter:
    return own.params[variable.index];
  case Kind::Result:
    return own.results[variable.index];
  default:
    break;
  }
  if (!variable.isGlobal)
    return own.variables[variable.index];
  const ptx::Variable &global = program.source.variables[variable.index];
  if (global.space == ptx::Space::Shared && global.isExtern)
    return program.dynamicShared(own);
  return program.globals[variable.index];
}

bool Decoder::isWide(const ptx::Operand &operand) const {
  return operand.kind == Kind::Register &&
         ptx::bitsOf(function().registers[operand.index].type) > 64;
}

/// The low bits of a number, as many as a value of the type has.
static uint64_t truncated(uint64_t bits, Type type) {
  if (type == Type::Pred)
    return bits != 0;
  unsigned width = ptx::bitsOf(type);
  return width == 0 || width >= 64
             ? bits
             : bits & llvm::maskTrailingOnes<uint64_t>(width);
}

llvm::Expected<uint64_t> Decoder::immediateBits(const ptx::Instruction &from,
                                                const ptx::Operand &operand,
                                                Type type) const {
  uint64_t bits = operand.bits;
  bool isBits = type == Type::None || type == Type::B32 || type == Type::B64 ||
                type == Type::B128;
  switch (operand.immediateType) {
  case Type::F32:
    if (type == Type::F32 || type == Type::TF32 || isBits)
      return bits;
    if (type == Type::F64)
      return llvm::bit_cast<uint64_t>(
          double(llvm::bit_cast<float>(uint32_t(bits))));
    break;
  case Type::F64:
    if (type == Type::F64 || type == Type::B64 || type == Type::None)
      return bits;
    if (type == Type::F32 || type == Type::B32)
      return llvm::bit_cast<uint32_t>(float(llvm::bit_cast<double>(bits)));
    break;
  default:
    // Narrower floats have no literals of their own, and take bits.
    if (type != Type::F32 && type != Type::F64 && type != Type::TF32)
      return truncated(bits, type);
    break;
  }
  return malformed(from, "an operand of type ." + ptx::nameOf(type) +
                             " is a number of another type");
}

llvm::Expected<Slot> Decoder::result(const ptx::Instruction &from,
                                     const ptx::Operand &operand) {
  if (operand.kind == Kind::Register && !operand.isNegated)
    return code().registers[operand.index];
  if (operand.kind == Kind::Sink)
    return noSlot;
  return malformed(from, "a result that is not a register");
}

llvm::Expected<Slot> Decoder::value(const ptx::Instruction &from,
                                    const ptx::Operand &operand, Type type) {
  if (operand.isNegated)
    return malformed(from, "an operand with '!' that may not have it");
  switch (operand.kind) {
  case Kind::Register:
    return code().registers[operand.index];
  case Kind::Special: {
    std::optional<Special> which = specialNamed(operand.name);
    if (!which)
      return unsupported(from, operand.name + " is not known");
    if (changes(*which) && from.opcode() != "mov")
      return unsupported(from, operand.name + " outside of mov");
    return Slot(*which);
  }
  case Kind::Immediate: {
    llvm::Expected<uint64_t> bits = immediateBits(from, operand, type);
    if (!bits)
      return bits.takeError();
    return constant(*bits);
  }
  case Kind::Variable:
  case Kind::Parameter:
  case Kind::Result:
    return constant(truncated(addressOf(operand) + operand.bits, type));
  case Kind::Function:
    return constant(truncated(functionAddress(operand.index), type));
  default:
    return malformed(from, "an operand that is not a value");
  }
}

llvm::Expected<Slot> Decoder::predicate(const ptx::Instruction &from,
                                        const ptx::Operand &operand,
                                        bool &isNegated) {
  isNegated = operand.isNegated;
  if (operand.kind == Kind::Register) {
    if (function().registers[operand.index].type != Type::Pred)
      return malformed(from, "an operand that is not a predicate");
    return code().registers[operand.index];
  }
  return value(from, operand, Type::Pred);
}

llvm::Expected<Slot> Decoder::address(const ptx::Instruction &from,
                                      const ptx::Operand &operand,
                                      int64_t &offset) {
  if (operand.kind != Kind::Address)
    return malformed(from, "an operand that is not an address");
  const ptx::Operand &base = operand.elements.front();
  offset = int64_t(operand.bits);
  if (base.kind == Kind::Register || base.kind == Kind::Immediate)
    return value(from, base, Type::B64);
  return constant(addressOf(base) + base.bits);
}

llvm::Expected<int64_t> Decoder::immediate(const ptx::Instruction &from,
                                           const ptx::Operand &operand) {
  if (operand.kind == Kind::Immediate && operand.immediateType == Type::None)
    return int64_t(operand.bits);
  return malformed(from, "an operand that must be an integer constant");
}

llvm::Error Decoder::appendAddress(const ptx::Instruction &from,
                                   const ptx::Operand &operand, Type type,
                                   Instruction &to, unsigned &numAddresses) {
  int64_t offset = 0;
  llvm::Expected<Slot> base = address(from, operand, offset);
  if (!base)
    return base.takeError();
  if (numAddresses++ == 0) {
    to.offset = offset;
  } else if (offset != 0) {
    if (*base < Program::firstConstant)
      return unsupported(from, "an offset in more than one address");
    uint64_t bits = program.constants[*base - Program::firstConstant][0];
    *base = constant(bits + uint64_t(offset));
  }
  to.slots.push_back(*base);
  for (const ptx::Operand &part : llvm::drop_begin(operand.elements)) {
    if (part.kind == Kind::Address)
      return malformed(from, "an address in an address");
    if (llvm::Error error =
            append(from, part, /*isResult=*/false, type, to, numAddresses))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error Decoder::append(const ptx::Instruction &from,
                            const ptx::Operand &operand, bool isResult,
                            Type type, Instruction &to,
                            unsigned &numAddresses) {
  if (operand.kind == Kind::Vector || operand.kind == Kind::Pair) {
    for (const ptx::Operand &element : operand.elements)
      if (llvm::Error error =
              append(from, element, isResult, type, to, numAddresses))
        return error;
    return llvm::Error::success();
  }
  if (operand.kind == Kind::Address) {
    if (isResult)
      return malformed(from, "a result that is an address");
    return appendAddress(from, operand, type, to, numAddresses);
  }
  llvm::Expected<Slot> slot =
      isResult ? result(from, operand) : value(from, operand, type);
  if (!slot)
    return slot.takeError();
  to.slots.push_back(*slot);
  if (isWide(operand))
    to.slots.push_back(*slot + 1);
  return llvm::Error::success();
}

llvm::Error Decoder::operands(const ptx::Instruction &from, Instruction &to,
                              unsigned numResults, Type type) {
  if (type == Type::None)
    type = to.type;
  if (from.operands.size() < numResults)
    return malformed(from, "too few operands");
  to.slots.clear();
  unsigned numAddresses = 0;
  for (unsigned i = 0; i != from.operands.size(); ++i) {
    if (llvm::Error error = append(from, from.operands[i], i < numResults, type,
                                   to, numAddresses))
      return error;
    if (i + 1 == numResults)
      to.numResults = to.slots.size();
  }
  if (numResults == 0)
    to.numResults = 0;
  return llvm::Error::success();
}

llvm::Error Decoder::operands(const ptx::Instruction &from, Instruction &to,
                              unsigned numResults, llvm::ArrayRef<Type> types) {
  if (from.operands.size() != types.size())
    return malformed(from, llvm::Twine(from.operands.size()) +
                               " operands instead of " +
                               llvm::Twine(types.size()));
  to.slots.clear();
  to.numResults = numResults;
  for (unsigned i = 0; i != types.size(); ++i) {
    const ptx::Operand &operand = from.operands[i];
    if (operand.kind == Kind::Register) {
      Type type = function().registers[operand.index].type;
      if (ptx::bitsOf(type) != ptx::bitsOf(types[i]))
        return malformed(from, "operand " + llvm::Twine(i + 1) + " is a ." +
                                   ptx::nameOf(type) + " instead of a ." +
                                   ptx::nameOf(types[i]));
    }
    llvm::Expected<Slot> slot =
        i < numResults ? result(from, operand) : value(from, operand, types[i]);
    if (!slot)
      return slot.takeError();
    to.slots.push_back(*slot);
  }
  return llvm::Error::success();
}

} // namespace tilec::emulator

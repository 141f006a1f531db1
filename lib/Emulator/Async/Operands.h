//===- Operands.h - Operands of asynchronous instructions -------*- C++ -*-===//
//
// Asynchronous instructions have more addresses than one, so they keep their
// operands in Details of their own. All slots are in Instruction::slots too,
// where those who look at what an instruction reads find them.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_ASYNC_OPERANDS_H
#define TILEC_EMULATOR_ASYNC_OPERANDS_H

#include "lib/Emulator/Execute/Lanes.h"
#include "lib/Emulator/Machine/Decoder.h"
#include "lib/Emulator/Machine/Machine.h"

namespace tilec::emulator {

struct AddressOperand {
  Slot base = noSlot;
  int64_t offset = 0;

  uint64_t of(const Warp &warp, unsigned lane) const {
    return warp.values(base)[lane] + uint64_t(offset);
  }
};

/// Takes the operands of an instruction from the left.
class OperandReader {
public:
  OperandReader(Decoder &decoder, const ptx::Instruction &from, Instruction &to)
      : decoder(decoder), from(from), to(to) {}

  size_t left() const { return from.operands.size() - next; }

  llvm::Error address(AddressOperand &operand) {
    const ptx::Operand *source = nullptr;
    if (llvm::Error error = take(source))
      return error;
    return read(*source, operand);
  }

  /// `[base, {coordinates}]`.
  llvm::Error tensor(AddressOperand &operand,
                     llvm::SmallVectorImpl<Slot> &coordinates) {
    const ptx::Operand *source = nullptr;
    if (llvm::Error error = take(source))
      return error;
    if (source->kind != ptx::Operand::Kind::Address ||
        source->elements.size() != 2)
      return decoder.malformed(from, "a tensor with coordinates is expected");
    ptx::Operand base = *source;
    base.elements.resize(1);
    if (llvm::Error error = read(base, operand))
      return error;
    const ptx::Operand &vector = source->elements[1];
    bool isVector = vector.kind == ptx::Operand::Kind::Vector;
    for (const ptx::Operand &element :
         isVector ? llvm::ArrayRef<ptx::Operand>(vector.elements)
                  : llvm::ArrayRef<ptx::Operand>(vector)) {
      llvm::Expected<Slot> slot = decoder.value(from, element, ptx::Type::S32);
      if (!slot)
        return slot.takeError();
      to.slots.push_back(*slot);
      coordinates.push_back(*slot);
    }
    return llvm::Error::success();
  }

  llvm::Error value(Slot &slot, ptx::Type type) {
    const ptx::Operand *source = nullptr;
    if (llvm::Error error = take(source))
      return error;
    llvm::Expected<Slot> found = decoder.value(from, *source, type);
    if (!found)
      return found.takeError();
    slot = *found;
    to.slots.push_back(slot);
    return llvm::Error::success();
  }

  /// A number from 0 on that the program names.
  llvm::Error number(uint64_t &value) {
    const ptx::Operand *source = nullptr;
    if (llvm::Error error = take(source))
      return error;
    llvm::Expected<int64_t> found = decoder.immediate(from, *source);
    if (!found)
      return found.takeError();
    if (*found < 0)
      return decoder.malformed(from, "the number is negative");
    value = uint64_t(*found);
    return llvm::Error::success();
  }

  /// The operand as it was parsed.
  llvm::Error take(const ptx::Operand *&operand) {
    if (left() == 0)
      return decoder.malformed(from, "too few operands");
    operand = &from.operands[next++];
    return llvm::Error::success();
  }

  /// A cache policy, which changes no result.
  llvm::Error cachePolicy(bool hasPolicy) {
    Slot ignored = noSlot;
    return hasPolicy ? value(ignored, ptx::Type::B64) : llvm::Error::success();
  }

  llvm::Error finish() const {
    return left() == 0 ? llvm::Error::success()
                       : decoder.malformed(from, "too many operands");
  }

private:
  llvm::Error read(const ptx::Operand &source, AddressOperand &operand) {
    llvm::Expected<Slot> base = decoder.address(from, source, operand.offset);
    if (!base)
      return base.takeError();
    operand.base = *base;
    to.slots.push_back(*base);
    return llvm::Error::success();
  }

  Decoder &decoder;
  const ptx::Instruction &from;
  Instruction &to;
  size_t next = 0;
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_ASYNC_OPERANDS_H

//===- Families.h - Opcodes that two families share -------------*- C++ -*-===//
//
// An opcode has one decoder, but `add`, `sub`, `mul`, `mad`, `div`, `abs`,
// `neg`, `min` and `max` are integer instructions or float ones, which their
// type tells. Arithmetic.cpp has the decoders of these opcodes and passes each
// instruction on to one of the functions here; opcodes of one family alone are
// registered by that family.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_EXECUTE_FAMILIES_H
#define TILEC_EMULATOR_EXECUTE_FAMILIES_H

#include "lib/Emulator/Machine/Decoder.h"

namespace tilec::emulator {

/// Float.cpp: any shared opcode of a float type, packed or not: "add.rn.f32",
/// "min.NaN.bf16x2", "neg.f16x2", "mad.rn.f64".
llvm::Error decodeFloat(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to);

/// Integer.cpp: any shared opcode of an integer type: "mul.wide.s32",
/// "add.cc.u32", "max.relu.s16x2".
llvm::Error decodeInteger(Decoder &decoder, const ptx::Instruction &from,
                          Instruction &to);

/// Bits.cpp: shifts, logic, and what else looks at bits.
void addBitInstructions(InstructionSet &set);

/// Comparisons.cpp: setp and set. Addresses.cpp: cvta, isspacep, mapa.
void addComparisons(InstructionSet &set);
void addAddressInstructions(InstructionSet &set);

/// Stack.cpp: alloca and its like. Video.cpp: vabsdiff4 and its like.
void addStackInstructions(InstructionSet &set);
void addVideoInstructions(InstructionSet &set);

/// Arithmetic.cpp: registers the shared opcodes.
void addSharedArithmetic(InstructionSet &set);

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_EXECUTE_FAMILIES_H

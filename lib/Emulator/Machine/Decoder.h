//===- Decoder.h - From parsed to decoded instructions ----------*- C++ -*-===//
//
// Each family of instructions (Execute/, Async/) has a function that knows its
// opcodes and adds them to an InstructionSet: a decoder for each first piece,
// "fma", that looks at the other pieces, refuses those it does not know, and
// fills in an Instruction. The Decoder gives it slots for operands.
//
//   llvm::Error decodeFma(Decoder &decoder, const ptx::Instruction &from,
//                         Instruction &to) {
//     ...
//     to.execute = &runFma<float>;
//     return decoder.operands(from, to, /*numResults=*/1);
//   }
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_MACHINE_DECODER_H
#define TILEC_EMULATOR_MACHINE_DECODER_H

#include "lib/Emulator/Machine/Instruction.h"
#include "lib/Emulator/Machine/Program.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <map>

namespace tilec::emulator {

class Decoder;
using DecodeFunction = llvm::Error (*)(Decoder &decoder,
                                       const ptx::Instruction &from,
                                       Instruction &to);

/// Decoders by the first piece of an opcode.
class InstructionSet {
public:
  /// All that the emulator knows.
  static const InstructionSet &all();

  void add(llvm::StringRef opcode, DecodeFunction decode);
  DecodeFunction find(llvm::StringRef opcode) const; // Null if not known.

private:
  llvm::StringMap<DecodeFunction> decoders;
};

// The families.
void addIntegerInstructions(InstructionSet &set);
void addFloatInstructions(InstructionSet &set);
void addConversions(InstructionSet &set);
void addMoves(InstructionSet &set); // mov, selp, setp, prmt, cvta, ...
void addMemoryInstructions(InstructionSet &set); // ld, st, atom, red, prefetch.
void addControlFlow(InstructionSet &set);        // bra, call, ret, exit, trap.
void addWarpInstructions(InstructionSet &set); // shfl, vote, match, redux, ...
void addBarriers(InstructionSet &set);         // bar, barrier, fence, membar.
void addMatrixInstructions(InstructionSet &set); // mma, ldmatrix, stmatrix.
void addCopies(InstructionSet &set);             // cp.
void addMemoryBarriers(InstructionSet &set);     // mbarrier.
void addWgmma(InstructionSet &set);              // wgmma, setmaxnreg.

/// Gives operands their slots while one function is decoded.
class Decoder {
public:
  Decoder(Program &program, unsigned function);

  /// Decodes the whole function into the program.
  llvm::Error run();

  const ptx::Function &function() const;

  /// The whole module, and functions as far as they are placed: where each
  /// begins and where its variables are.
  const Program &owner() const { return program; }
  const FunctionCode &code() const { return program.functions[index]; }
  /// The program counter of an instruction of this function, which a Label
  /// operand or an entry of a table names.
  uint32_t counterOf(unsigned instruction) const {
    return code().entry + instruction;
  }

  /// All operands of `from` in order: the first `numResults` as results, then
  /// the values; vectors and pairs flattened (to.numResults counts slots), a
  /// register of 128 bits as two slots, an address as its base with the offset
  /// in `to.offset` and then what else is in its brackets. Immediates become
  /// values of `type`, which is `to.type` if not given. Where two addresses
  /// have registers with offsets, take operands one at a time.
  llvm::Error operands(const ptx::Instruction &from, Instruction &to,
                       unsigned numResults, ptx::Type type = ptx::Type::None);

  /// The same for an instruction without vectors and addresses, with a type for
  /// each operand. There must be as many of them, and registers as wide.
  llvm::Error operands(const ptx::Instruction &from, Instruction &to,
                       unsigned numResults, llvm::ArrayRef<ptx::Type> types);

  // One operand at a time, for instructions that need more. A negated operand
  // (`!%p`) is an error but for `predicate`.
  llvm::Expected<Slot> result(const ptx::Instruction &from,
                              const ptx::Operand &operand);
  llvm::Expected<Slot> value(const ptx::Instruction &from,
                             const ptx::Operand &operand, ptx::Type type);
  /// A value that is a predicate, which may be negated.
  llvm::Expected<Slot> predicate(const ptx::Instruction &from,
                                 const ptx::Operand &operand, bool &isNegated);
  /// An Address: its base, with the offset in `offset`. What else is in its
  /// brackets is in operand.elements from 1 on.
  llvm::Expected<Slot> address(const ptx::Instruction &from,
                               const ptx::Operand &operand, int64_t &offset);
  /// An immediate operand that must be one.
  llvm::Expected<int64_t> immediate(const ptx::Instruction &from,
                                    const ptx::Operand &operand);
  /// A slot that has the same bits in all lanes of all warps.
  Slot constant(uint64_t bits);

  // Errors "MODULE:LINE: unsupported instruction 'ex2.approx.x': REASON".
  llvm::Error unsupported(const ptx::Instruction &from,
                          const llvm::Twine &reason) const;
  llvm::Error malformed(const ptx::Instruction &from,
                        const llvm::Twine &reason) const;

private:
  llvm::Error instruction(const ptx::Instruction &from, Instruction &to);
  llvm::Error append(const ptx::Instruction &from, const ptx::Operand &operand,
                     bool isResult, ptx::Type type, Instruction &to,
                     unsigned &numAddresses);
  llvm::Error appendAddress(const ptx::Instruction &from,
                            const ptx::Operand &operand, ptx::Type type,
                            Instruction &to, unsigned &numAddresses);
  llvm::Expected<uint64_t> immediateBits(const ptx::Instruction &from,
                                         const ptx::Operand &operand,
                                         ptx::Type type) const;
  uint64_t addressOf(const ptx::Operand &variable) const;
  bool isWide(const ptx::Operand &operand) const;
  llvm::Error complain(const ptx::Instruction &from, llvm::StringRef what,
                       const llvm::Twine &reason) const;

  Program &program;
  unsigned index;
  std::map<uint64_t, Slot> constants; // By bits.
};

/// The pieces of an opcode, taken one by one. What is not taken is an error at
/// the end, so that nothing is ignored by mistake.
class Pieces {
public:
  explicit Pieces(const ptx::Instruction &from);
  /// Takes `piece` if it is there, anywhere.
  bool take(llvm::StringRef piece);
  /// Takes the first piece that names a type; None if there is none.
  ptx::Type takeType();
  /// Takes the next piece whatever it is; "" at the end.
  llvm::StringRef takeNext();
  /// The next one without taking it.
  llvm::StringRef next() const;
  /// Success if all are taken; else an error that names the first that is not.
  llvm::Error finish(const Decoder &decoder) const;

private:
  const ptx::Instruction &from;
  uint64_t taken = 1; // A bit for each piece; the opcode's is set.
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_MACHINE_DECODER_H

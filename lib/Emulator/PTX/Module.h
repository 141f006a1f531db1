//===- Module.h - A PTX program as text has it ------------------*- C++ -*-===//
//
// The parsed form of a PTX module: what NVRTC writes, name for name. Symbols
// are resolved (an operand knows which register, variable, function or label it
// means), opcodes are not: `wgmma.mma_async.sync.aligned...` is a list of
// pieces, and what they mean is the decoder's business (Machine/Decoder.h).
//
// How the pieces belong together:
//
//   * A Module has variables (.global, .const, and .shared outside functions)
//     and functions. A Function has parameters, variables of its own (.local,
//     .shared, .param of calls), registers, and a flat list of instructions.
//   * PTX has scopes: `{ .reg .pred p; ... }` declares a register that hides
//     one of the same name outside. Here each has a place of its own in the
//     function's list, and names are for messages.
//   * `.loc` lines say which line of the CUDA C++, or through #line of the
//     .tile file, the instructions after them come from. Each instruction
//     carries that, and the line of the PTX itself. Of a function that was
//     inlined it is a line of that function; the line of the kernel that the
//     calls started from is the outer one.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_PTX_MODULE_H
#define TILEC_EMULATOR_PTX_MODULE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilec::emulator::ptx {

/// The types of registers, variables and instructions. Those that only
/// instructions have (TF32, E4M3x2, ...) are there too, under the names that
/// PTX uses.
enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F64,
  U16x2,
  S16x2,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  U4,
  S4,
  B1,
};

/// The type of a piece of an opcode, "bf16x2"; None if it names no type.
Type typeNamed(llvm::StringRef name);
llvm::StringRef nameOf(Type type);
/// Bits of a value: 1 for Pred.
unsigned bitsOf(Type type);
/// Bytes in memory: at least 1.
unsigned bytesOf(Type type);
bool isSigned(Type type);
bool isFloat(Type type);

/// Where a variable is. Generic is what an access without a space means.
enum class Space : uint8_t { Generic, Const, Global, Local, Param, Shared };

/// A place in the text and in what it was compiled from.
struct Location {
  unsigned ptxLine = 0; // From 1.
  unsigned file = 0;    // A number of Module::files; 0 if there is no .loc.
  unsigned line = 0;
  unsigned column = 0;
  unsigned outerFile = 0; // As file and line where nothing was inlined.
  unsigned outerLine = 0;
};

struct Register {
  std::string name; // "%r12".
  Type type = Type::None;
};

/// A variable, or the parameter of a function.
struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::B8;
  unsigned alignment = 1;
  uint64_t bytes = 0; // 0 for `extern .shared x[]`: dynamic shared memory.
  bool isExtern = false;
  std::vector<char> initial; // As many bytes as it has, or none: zeros.
  /// Initial values that are addresses: `bytes` bytes at `offset` are that of
  /// `symbol`, a variable of the module or a function, plus `addend`, shifted
  /// right by `shift` bits. All addresses of PTX that can be here are generic
  /// ones, or the same as generic ones.
  struct Relocation {
    uint64_t offset = 0;
    std::string symbol;
    bool isGeneric = false; // Written as generic(symbol).
    int64_t addend = 0;
    unsigned bytes = 8;
    unsigned shift = 0; // 8 for 0xFF00(symbol).
    unsigned ptxLine = 0;
  };
  std::vector<Relocation> relocations;
  unsigned ptxLine = 0;
};

/// One operand. `[%rd1+8]` is an Address whose first element is the base and
/// whose `bits` are the offset; `[%rd1, {%r1, %r2}]` of a tensor copy has the
/// coordinates as second element, a Vector. `{%f1, %f2}` is a Vector; `%r1|%p1`
/// a Pair.
struct Operand {
  enum class Kind : uint8_t {
    Register,  // `index` in Function::registers.
    Special,   // `name` is that of a special register: "%tid.x".
    Immediate, // `bits`, as an integer (sign-extended) or a float.
    Variable,  // The address of variable `index`; `isGlobal` tells of which
               // list, the module's or the function's; plus `bits`.
    Parameter, // The same of `index` in Function::params.
    Result,    // The same of `index` in Function::results.
    Function,  // The address of function `index`.
    Label,     // An instruction: `index` in Function::instructions.
    Table,     // A list of labels: `index` in Function::tables.
    Prototype, // Of an indirect call: `name`.
    Address,   // See above.
    Vector,
    Pair,
    Sink, // `_`.
  };
  Kind kind = Kind::Sink;
  bool isNegated = false; // `!%p`.
  bool isGlobal = false;
  /// Immediate: written as 0f... (Type::F32), 0d... (F64), or an integer
  /// (None).
  Type immediateType = Type::None;
  unsigned index = 0;
  uint64_t bits = 0;
  std::string name;
  std::vector<Operand> elements;
};

/// `@%p` or `@!%p`.
struct Guard {
  unsigned index = 0;
  bool isNegated = false;
};

struct Instruction {
  /// The opcode at its dots: {"ld", "global", "v4", "u32"}. `shared::cta` is
  /// one piece.
  llvm::SmallVector<std::string, 6> pieces;
  std::optional<Guard> guard;
  /// As written. Those of a call are always a Vector of results, the callee, a
  /// Vector of values, and after these for an indirect one its Prototype or
  /// Table; the Vectors are empty where the call has no such list.
  std::vector<Operand> operands;
  Location location;

  llvm::StringRef opcode() const { return pieces.front(); }
  /// Whether `piece` follows the opcode somewhere.
  bool has(llvm::StringRef piece) const;
  /// "ld.global.v4.u32".
  std::string name() const;
};

struct Function {
  std::string name;
  bool isEntry = false;
  bool hasBody = true; // vprintf, __assertfail and malloc have none.
  std::vector<Variable> params, results;
  std::vector<Register> registers;
  std::vector<Variable> variables;
  /// The last one is a ret or an exit without a guard; one is added where the
  /// text has none.
  std::vector<Instruction> instructions;
  /// Names of labels, for messages, and the instruction after each.
  std::vector<std::pair<std::string, unsigned>> labels;
  std::vector<std::vector<unsigned>> tables; // .branchtargets.
  // Directives; 0 where there is none.
  std::array<unsigned, 3> maxThreads = {}, requiredThreads = {};
  std::array<unsigned, 3> requiredCluster = {};
  unsigned maxRegisters = 0, minBlocks = 0;
  unsigned ptxLine = 0;
};

struct Module {
  std::string name;     // For messages: "rmsnorm.ptx".
  unsigned version = 0; // 90 for 9.0.
  std::string target;   // "sm_90a".
  llvm::StringMap<unsigned> functionIndex;
  std::vector<std::string> files; // files[1] is what .loc 1 means.
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

} // namespace tilec::emulator::ptx

#endif // TILEC_EMULATOR_PTX_MODULE_H

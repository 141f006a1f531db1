//===- PTXFuzzer.cpp - Any text as PTX --------------------------*- C++ -*-===//
//
// Any text at all must be either a sound module or an error that names a line;
// and a module either a program or an error. No crash, no hang, no index out of
// range: indices are checked here, since nobody checks them later.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Machine/Memory.h"
#include "lib/Emulator/Machine/Program.h"
#include "lib/Emulator/PTX/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace tilec::emulator;
using Kind = ptx::Operand::Kind;

namespace {

void require(bool condition, const llvm::Twine &what) {
  if (condition)
    return;
  llvm::errs() << what << '\n';
  std::abort();
}

void checkOperand(const ptx::Operand &operand, const ptx::Module &module,
                  const ptx::Function &function, unsigned depth) {
  require(depth < 4, "operands within each other");
  size_t limit = ~size_t(0);
  switch (operand.kind) {
  case Kind::Register:
    limit = function.registers.size();
    break;
  case Kind::Variable:
    limit =
        operand.isGlobal ? module.variables.size() : function.variables.size();
    break;
  case Kind::Parameter:
    limit = function.params.size();
    break;
  case Kind::Result:
    limit = function.results.size();
    break;
  case Kind::Function:
    limit = module.functions.size();
    break;
  case Kind::Label:
    limit = function.instructions.size();
    break;
  case Kind::Table:
    limit = function.tables.size();
    break;
  case Kind::Address:
    require(!operand.elements.empty(), "an address without a base");
    break;
  case Kind::Pair:
    require(operand.elements.size() == 2, "a pair that is not one");
    break;
  default:
    break;
  }
  require(operand.index < limit, "an index out of range");
  for (const ptx::Operand &element : operand.elements)
    checkOperand(element, module, function, depth + 1);
}

void checkFunction(const ptx::Function &function, const ptx::Module &module) {
  if (!function.hasBody)
    return;
  size_t count = function.instructions.size();
  require(count != 0, "a body without instructions");
  const ptx::Instruction &last = function.instructions.back();
  require(!last.guard && (last.opcode() == "ret" || last.opcode() == "exit"),
          "a body without an end");
  for (const ptx::Instruction &instruction : function.instructions) {
    require(!instruction.guard ||
                instruction.guard->index < function.registers.size(),
            "a guard out of range");
    for (const ptx::Operand &operand : instruction.operands)
      checkOperand(operand, module, function, 0);
  }
  for (const auto &[name, index] : function.labels)
    require(index < count, "a label out of range");
  for (const auto &table : function.tables)
    for (unsigned index : table)
      require(index < count, "an entry of a table out of range");
}

/// Large variables are fine, but they take the time that others need.
bool isSmall(const ptx::Module &module) {
  uint64_t bytes = 0;
  for (const ptx::Variable &variable : module.variables)
    bytes += variable.bytes;
  size_t registers = 0;
  for (const ptx::Function &function : module.functions)
    registers += function.registers.size();
  return bytes < 1 << 20 && registers < 1 << 16;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  auto module = ptx::parseModule(text, "fuzz.ptx");
  if (!module) {
    std::string error = llvm::toString(module.takeError());
    require(llvm::StringRef(error).starts_with("fuzz.ptx:"), error);
    return 0;
  }
  for (const ptx::Variable &variable : module->variables)
    require(variable.initial.empty() ||
                variable.initial.size() == variable.bytes,
            "initial values of another size");
  for (const ptx::Function &function : module->functions)
    checkFunction(function, *module);
  if (!isSmall(*module))
    return 0;

  DeviceMemory memory;
  auto program = Program::create(std::move(*module), memory);
  if (!program) {
    std::string error = llvm::toString(program.takeError());
    require(llvm::StringRef(error).starts_with("fuzz.ptx:"), error);
    return 0;
  }
  for (const Instruction &instruction : (*program)->instructions)
    for (Slot slot : instruction.slots)
      require(
          slot == noSlot || slot < (*program)->numRegisters ||
              (slot >= Program::firstConstant &&
               slot - Program::firstConstant < (*program)->constants.size()),
          "a slot out of range");
  return 0;
}

//===- Program.cpp - A decoded module -------------------------------------===//

#include "lib/Emulator/Machine/Program.h"
#include "lib/Emulator/Machine/Decoder.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

namespace tilec::emulator {

using Kind = ptx::Operand::Kind;
using ptx::Space;

namespace {

// What the hardware has at most, of a thread; and the field that offsets of
// shared memory have in addresses.
constexpr uint64_t maxLocalBytes = uint64_t(512) * 1024;
constexpr uint64_t maxParamBytes = uint64_t(512) * 1024;
constexpr uint64_t maxSharedBytes =
    (uint64_t(1) << sharedRankShift) - sharedOrigin;

llvm::Error errorAt(const ptx::Module &module, unsigned line,
                    const llvm::Twine &message) {
  return llvm::createStringError(module.name + ":" + llvm::Twine(line) + ": " +
                                 message);
}

/// Gives out addresses one after the other.
class Layout {
public:
  explicit Layout(uint64_t begin) : next(begin) {}
  uint64_t place(const ptx::Variable &variable) {
    uint64_t address = llvm::alignTo(next, variable.alignment);
    next = address + variable.bytes;
    return address;
  }
  uint64_t next;
};

/// Where the variables of one function begin.
struct Origins {
  uint64_t shared = sharedOrigin, local = 0, param = 0;
  Origins maximum(const Origins &other) const {
    return {std::max(shared, other.shared), std::max(local, other.local),
            std::max(param, other.param)};
  }
};

Origins placeFunction(FunctionCode &code, Origins origins) {
  const ptx::Function &source = *code.source;
  Layout shared(origins.shared), local(origins.local), param(origins.param);
  // The parameters of a kernel are in memory that the whole grid shares.
  Layout window(paramWindow);
  for (const ptx::Variable &variable : source.params)
    code.params.push_back((source.isEntry ? window : param).place(variable));
  code.parameterBytes = window.next - paramWindow;
  for (const ptx::Variable &variable : source.results)
    code.results.push_back(param.place(variable));
  for (const ptx::Variable &variable : source.variables) {
    Layout &layout = variable.space == Space::Shared  ? shared
                     : variable.space == Space::Local ? local
                                                      : param;
    code.variables.push_back(layout.place(variable));
  }
  return {shared.next, local.next, param.next};
}

bool isDynamicShared(const ptx::Variable &variable) {
  return variable.space == Space::Shared && variable.isExtern;
}

bool mentionsDynamicShared(const ptx::Operand &operand,
                           const ptx::Module &module) {
  if (operand.kind == Kind::Variable && operand.isGlobal)
    return isDynamicShared(module.variables[operand.index]);
  return llvm::any_of(operand.elements, [&](const ptx::Operand &element) {
    return mentionsDynamicShared(element, module);
  });
}

bool mentionsDynamicShared(const ptx::Function &function,
                           const ptx::Module &module) {
  return llvm::any_of(function.instructions, [&](const ptx::Instruction &each) {
    return llvm::any_of(each.operands, [&](const ptx::Operand &operand) {
      return mentionsDynamicShared(operand, module);
    });
  });
}

} // namespace

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

llvm::Error Program::allocateGlobals() {
  globals.assign(source.variables.size(), 0);
  for (unsigned i = 0; i != globals.size(); ++i) {
    const ptx::Variable &variable = source.variables[i];
    if (variable.space == Space::Shared)
      continue;
    if (variable.isExtern)
      return errorAt(source, variable.ptxLine,
                     "'" + variable.name +
                         "' is declared .extern, and nothing defines it");
    globals[i] = memory->allocate(variable.bytes, variable.name,
                                  std::max(variable.alignment, 16u));
    if (!globals[i])
      return errorAt(source, variable.ptxLine,
                     "there is no memory for '" + variable.name + "'");
  }
  return llvm::Error::success();
}

/// What an initial value that is an address comes to; `indices` are those of
/// the module's variables.
static llvm::Expected<uint64_t>
addressOf(const ptx::Variable::Relocation &relocation,
          const ptx::Module &source, llvm::ArrayRef<uint64_t> globals,
          const llvm::StringMap<unsigned> &indices) {
  auto function = source.functionIndex.find(relocation.symbol);
  if (function != source.functionIndex.end())
    return functionAddress(function->second) + uint64_t(relocation.addend);
  auto known = indices.find(relocation.symbol);
  if (known == indices.end())
    return errorAt(source, relocation.ptxLine,
                   "'" + relocation.symbol + "' is not declared");
  const ptx::Variable &target = source.variables[known->second];
  if (isDynamicShared(target))
    return errorAt(source, relocation.ptxLine,
                   "the address of dynamic shared memory as an initial value");
  uint64_t address = globals[known->second] + uint64_t(relocation.addend);
  if (target.space == Space::Shared && relocation.isGeneric)
    address += sharedWindow;
  return address;
}

llvm::Error Program::initializeGlobals() {
  llvm::StringMap<unsigned> indices;
  for (unsigned i = 0; i != globals.size(); ++i)
    indices.try_emplace(source.variables[i].name, i);
  for (unsigned i = 0; i != globals.size(); ++i) {
    const ptx::Variable &variable = source.variables[i];
    if (variable.space == Space::Shared || !variable.bytes)
      continue;
    char *data = memory->find(globals[i], variable.bytes);
    if (!data)
      return errorAt(source, variable.ptxLine,
                     "there is no memory for '" + variable.name + "'");
    std::memset(data, 0, variable.bytes);
    if (!variable.initial.empty())
      std::memcpy(data, variable.initial.data(),
                  std::min<size_t>(variable.initial.size(), variable.bytes));
    for (const ptx::Variable::Relocation &each : variable.relocations) {
      llvm::Expected<uint64_t> address =
          addressOf(each, source, globals, indices);
      if (!address)
        return address.takeError();
      uint64_t bits = *address >> each.shift;
      if (each.bytes <= sizeof(bits) &&
          each.offset + each.bytes <= variable.bytes)
        std::memcpy(data + each.offset, &bits, each.bytes);
    }
  }
  return llvm::Error::success();
}

uint64_t Program::dynamicShared(const FunctionCode &function) const {
  return sharedOrigin + function.staticShared;
}

llvm::Error Program::placeVariables() {
  // What several functions can reach has one place, below what kernels have
  // for themselves. Kernels do not run together, so these places may overlap.
  Layout common(sharedOrigin);
  uint64_t dynamicAlignment = 16;
  for (unsigned i = 0; i != globals.size(); ++i) {
    const ptx::Variable &variable = source.variables[i];
    if (isDynamicShared(variable))
      dynamicAlignment =
          std::max<uint64_t>(dynamicAlignment, variable.alignment);
    else if (variable.space == Space::Shared)
      globals[i] = common.place(variable);
  }
  Origins origins;
  origins.shared = common.next;
  for (FunctionCode &code : functions)
    if (!code.source->isEntry)
      origins = placeFunction(code, origins);

  Origins ends = origins;
  for (FunctionCode &code : functions)
    if (code.source->isEntry) {
      Origins end = placeFunction(code, origins);
      code.staticShared =
          llvm::alignTo(end.shared, dynamicAlignment) - sharedOrigin;
      ends = ends.maximum(end);
    }
  // A function that kernels call sees dynamic shared memory at one address, so
  // all kernels have it there.
  bool isCommon = llvm::any_of(source.functions, [&](const auto &function) {
    return !function.isEntry && mentionsDynamicShared(function, source);
  });
  if (isCommon)
    for (FunctionCode &code : functions)
      code.staticShared =
          llvm::alignTo(ends.shared, dynamicAlignment) - sharedOrigin;

  localBytes = ends.local;
  paramBytes = ends.param;
  if (localBytes > maxLocalBytes || paramBytes > maxParamBytes)
    return errorAt(source, 1, "more than 512 KiB of local memory for a thread");
  if (ends.shared - sharedOrigin > maxSharedBytes)
    return errorAt(source, 1, "more than 16 MiB of shared memory");
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Registers and variables of a function have one place, not one for each call,
/// so no function may be in a call of itself. Of calls through registers that
/// cannot be known here.
llvm::Error Program::checkCalls() const {
  enum class State : uint8_t { New, Open, Done };
  std::vector<State> states(functions.size(), State::New);
  // A function, and the next of its instructions to look at.
  std::vector<std::pair<unsigned, size_t>> open;
  for (unsigned root = 0; root != functions.size(); ++root) {
    if (states[root] != State::New)
      continue;
    states[root] = State::Open;
    open.emplace_back(root, 0);
    while (!open.empty()) {
      auto &[index, position] = open.back();
      const auto &instructions = source.functions[index].instructions;
      if (position == instructions.size()) {
        states[index] = State::Done;
        open.pop_back();
        continue;
      }
      const ptx::Instruction &instruction = instructions[position++];
      if (instruction.opcode() != "call" || instruction.operands.size() < 2 ||
          instruction.operands[1].kind != Kind::Function)
        continue;
      unsigned callee = instruction.operands[1].index;
      if (states[callee] == State::Open)
        return errorAt(source, instruction.location.ptxLine,
                       "unsupported instruction '" + instruction.name() +
                           "': '" + source.functions[callee].name +
                           "' calls itself, at once or through others");
      if (states[callee] == State::New) {
        states[callee] = State::Open;
        open.emplace_back(callee, 0);
      }
    }
  }
  return llvm::Error::success();
}

void Program::assignSlots() {
  uint32_t counter = 0;
  for (FunctionCode &code : functions) {
    code.entry = counter;
    counter += code.source->instructions.size();
    code.end = counter;
  }
  auto assign = [](FunctionCode &code, Slot next) {
    code.firstRegister = next;
    for (const ptx::Register &each : code.source->registers) {
      code.registers.push_back(next);
      next += ptx::bitsOf(each.type) > 64 ? 2 : 1;
    }
    return next;
  };
  // As with variables: kernels do not run together.
  Slot common = carrySlot + 1;
  for (FunctionCode &code : functions)
    if (!code.source->isEntry)
      common = assign(code, common);
  numRegisters = common;
  for (FunctionCode &code : functions)
    if (code.source->isEntry)
      numRegisters = std::max(numRegisters, assign(code, common));
}

llvm::Expected<std::shared_ptr<const Program>>
Program::create(ptx::Module module, DeviceMemory &memory) {
  std::shared_ptr<Program> program(new Program);
  program->source = std::move(module);
  program->memory = &memory;
  for (const ptx::Function &function : program->source.functions)
    program->functions.emplace_back().source = &function;
  if (llvm::Error error = program->checkCalls())
    return error;
  if (llvm::Error error = program->allocateGlobals())
    return error;
  if (llvm::Error error = program->placeVariables())
    return error;
  if (llvm::Error error = program->initializeGlobals())
    return error;
  program->assignSlots();
  program->instructions.reserve(
      program->functions.empty() ? 0 : program->functions.back().end);
  for (unsigned i = 0; i != program->functions.size(); ++i)
    if (llvm::Error error = Decoder(*program, i).run())
      return error;
  return program;
}

Program::~Program() {
  for (unsigned i = 0; i != globals.size(); ++i)
    if (globals[i] && source.variables[i].space != Space::Shared)
      memory->free(globals[i]);
}

const FunctionCode *Program::kernel(llvm::StringRef name) const {
  auto found = source.functionIndex.find(name);
  if (found == source.functionIndex.end())
    return nullptr;
  const FunctionCode &code = functions[found->second];
  return code.source->isEntry && code.source->hasBody ? &code : nullptr;
}

} // namespace tilec::emulator

//===- ControlFlow.cpp - bra, brx, call, ret, exit, trap ------------------===//
//
// A call copies the bytes of its arguments from the variables of the caller to
// the parameters of the callee, for each lane; the return copies the results
// back. Both have places of their own in the thread's param space.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Async/BulkCopies.h"
#include "lib/Emulator/Async/Wgmma.h"
#include "lib/Emulator/Execute/Lanes.h"
#include "lib/Emulator/Execute/SystemCalls.h"
#include "lib/Emulator/Machine/Decoder.h"
#include "lib/Emulator/Machine/Machine.h"
#include <cstring>

namespace tilec::emulator {

namespace {

using Kind = ptx::Operand::Kind;

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

Outcome runBranch(Warp &warp, const Instruction &at, LaneMask lanes) {
  warp.jump(at.target);
  return Outcome::Jumped;
}

llvm::Error decodeBranch(Decoder &decoder, const ptx::Instruction &from,
                         Instruction &to) {
  Pieces pieces(from);
  pieces.take("uni");
  if (from.operands.size() != 1 || from.operands[0].kind != Kind::Label)
    return decoder.malformed(from, "it needs a label");
  to.target = decoder.counterOf(from.operands[0].index);
  to.execute = &runBranch;
  return pieces.finish(decoder);
}

struct BranchTable : Details {
  std::vector<uint32_t> targets;
};

Outcome runIndexedBranch(Warp &warp, const Instruction &at, LaneMask lanes) {
  const auto &targets = at.as<BranchTable>().targets;
  const uint64_t *index = warp.values(at.value(0));
  forEachLane(lanes, [&](unsigned lane) {
    if (index[lane] < targets.size())
      return warp.jump(lane, targets[index[lane]]);
    warp.report(ReportKind::BadOperand, lane, at,
                "an index of " + std::to_string(index[lane]) +
                    " in a table of " + std::to_string(targets.size()) +
                    " branch targets");
    warp.jump(lane, warp.counterOf(at) + 1);
  });
  return Outcome::Jumped;
}

llvm::Error decodeIndexedBranch(Decoder &decoder, const ptx::Instruction &from,
                                Instruction &to) {
  Pieces pieces(from);
  pieces.take("idx");
  pieces.take("uni");
  if (from.operands.size() != 2 || from.operands[1].kind != Kind::Table)
    return decoder.malformed(from, "it needs an index and a table of labels");
  llvm::Expected<Slot> index =
      decoder.value(from, from.operands[0], ptx::Type::U32);
  if (!index)
    return index.takeError();
  auto table = std::make_shared<BranchTable>();
  for (unsigned target : decoder.function().tables[from.operands[1].index])
    table->targets.push_back(decoder.counterOf(target));
  to.slots = {*index};
  to.details = std::move(table);
  to.execute = &runIndexedBranch;
  return pieces.finish(decoder);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// An argument or result in the caller.
struct Passed {
  Slot slot = noSlot;      // The address of a .param variable, or a value.
  bool isVariable = false; // The former.
};

struct Call : Details {
  const Program *program = nullptr;
  unsigned caller = 0;
  int callee = -1; // -1: an address that slots[0] has.
  SystemCall system = SystemCall::None;
  llvm::SmallVector<Passed, 4> results, arguments;
};

char *paramBytes(Warp &warp, unsigned lane, uint64_t address, uint64_t bytes) {
  return warp.find(lane, ptx::Space::Param, address, bytes).data;
}

// Lists that do not match are found when the call is decoded, or, for indirect
// calls, here: the shorter one counts.
void passArguments(Warp &warp, unsigned lane, const Call &call,
                   const FunctionCode &callee) {
  size_t count = std::min(call.arguments.size(), callee.params.size());
  for (size_t i = 0; i != count; ++i) {
    const Passed &passed = call.arguments[i];
    uint64_t bytes = callee.source->params[i].bytes;
    char *to = paramBytes(warp, lane, callee.params[i], bytes);
    uint64_t value = warp.values(passed.slot)[lane];
    const char *from = passed.isVariable
                           ? paramBytes(warp, lane, value, bytes)
                           : reinterpret_cast<const char *>(&value);
    if (from && to)
      std::memcpy(to, from,
                  passed.isVariable ? bytes
                                    : std::min<uint64_t>(bytes, sizeof(value)));
  }
}

void passResults(Warp &warp, unsigned lane, const Call &call,
                 const FunctionCode &callee) {
  size_t count = std::min(call.results.size(), callee.results.size());
  for (size_t i = 0; i != count; ++i) {
    const Passed &passed = call.results[i];
    uint64_t bytes = callee.source->results[i].bytes;
    const char *from = paramBytes(warp, lane, callee.results[i], bytes);
    if (!from)
      continue;
    if (passed.isVariable) {
      if (char *to =
              paramBytes(warp, lane, warp.values(passed.slot)[lane], bytes))
        std::memcpy(to, from, bytes);
    } else {
      uint64_t value = 0;
      std::memcpy(&value, from, std::min<uint64_t>(bytes, sizeof(value)));
      warp.row(passed.slot)[lane] = value;
    }
  }
}

bool isActive(const Warp &warp, unsigned lane, const FunctionCode &function,
              uint32_t counter) {
  auto contains = [&](uint32_t pc) {
    return pc >= function.entry && pc < function.end;
  };
  return contains(counter) || llvm::any_of(warp.returnStack[lane], contains);
}

// Whether the lane may enter the function.
bool enter(Warp &warp, unsigned lane, const Instruction &at,
           const FunctionCode &callee) {
  uint32_t counter = warp.counterOf(at);
  if (isActive(warp, lane, callee, counter)) {
    warp.report(ReportKind::BadOperand, lane, at,
                "a recursive call of '" + callee.source->name +
                    "', which the emulator does not support");
    warp.block.cluster.launch.isStopped = true;
    return false;
  }
  passArguments(warp, lane, at.as<Call>(), callee);
  warp.returnStack[lane].push_back(counter + 1);
  return true;
}

Outcome runCall(Warp &warp, const Instruction &at, LaneMask lanes) {
  const Call &call = at.as<Call>();
  const FunctionCode &callee = call.program->functions[unsigned(call.callee)];
  bool areAllIn = true;
  forEachLane(
      lanes, [&](unsigned lane) { areAllIn &= enter(warp, lane, at, callee); });
  if (!areAllIn)
    return Outcome::Next;
  warp.jump(callee.entry);
  return Outcome::Jumped;
}

Outcome runIndirectCall(Warp &warp, const Instruction &at, LaneMask lanes) {
  const Call &call = at.as<Call>();
  const auto &functions = call.program->functions;
  const uint64_t *address = warp.values(at.value(0));
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t offset = address[lane] - functionWindow;
    uint64_t index = offset / functionStride;
    bool isFunction =
        offset % functionStride == 0 && index < functions.size() &&
        functions[index].source->hasBody && !functions[index].source->isEntry;
    if (!isFunction)
      warp.report(ReportKind::BadOperand, lane, at,
                  "a call through an address that is not that of a function "
                  "with a body");
    if (isFunction && enter(warp, lane, at, functions[index]))
      warp.jump(lane, functions[index].entry);
    else
      warp.jump(lane, warp.counterOf(at) + 1);
  });
  return Outcome::Jumped;
}

Outcome runSystemCall(Warp &warp, const Instruction &at, LaneMask lanes) {
  const Call &call = at.as<Call>();
  const FunctionCode &callee = call.program->functions[unsigned(call.callee)];
  forEachLane(lanes, [&](unsigned lane) {
    passArguments(warp, lane, call, callee);
    uint64_t arguments[maxSystemArguments] = {};
    for (size_t i = 0; i != callee.params.size(); ++i) {
      uint64_t bytes = std::min<uint64_t>(callee.source->params[i].bytes, 8);
      if (const char *from = paramBytes(warp, lane, callee.params[i], bytes))
        std::memcpy(&arguments[i], from, bytes);
    }
    uint64_t value = runSystemCall(call.system, warp, lane, at, arguments);
    if (callee.results.empty())
      return;
    uint64_t bytes = std::min<uint64_t>(callee.source->results[0].bytes, 8);
    if (char *to = paramBytes(warp, lane, callee.results[0], bytes))
      std::memcpy(to, &value, bytes);
    passResults(warp, lane, call, callee);
  });
  return Outcome::Next;
}

llvm::Error decodePassed(Decoder &decoder, const ptx::Instruction &from,
                         const ptx::Operand &operand, bool isResult,
                         llvm::SmallVectorImpl<Passed> &to) {
  Passed passed;
  passed.isVariable = operand.kind == Kind::Parameter ||
                      operand.kind == Kind::Result ||
                      operand.kind == Kind::Variable;
  if (operand.kind == Kind::Variable &&
      (operand.isGlobal ||
       decoder.function().variables[operand.index].space != ptx::Space::Param))
    return decoder.malformed(from, "it passes a variable that is not .param");
  llvm::Expected<Slot> slot =
      isResult && !passed.isVariable
          ? decoder.result(from, operand)
          : decoder.value(from, operand, ptx::Type::B64);
  if (!slot)
    return slot.takeError();
  passed.slot = *slot;
  to.push_back(passed);
  return llvm::Error::success();
}

llvm::Error decodeCall(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  Pieces pieces(from);
  pieces.take("uni");
  if (from.operands.size() < 3)
    return decoder.malformed(from, "it needs a function");
  auto call = std::make_shared<Call>();
  call->program = &decoder.owner();
  for (const ptx::Operand &operand : from.operands[0].elements)
    if (llvm::Error error =
            decodePassed(decoder, from, operand, true, call->results))
      return error;
  for (const ptx::Operand &operand : from.operands[2].elements)
    if (llvm::Error error =
            decodePassed(decoder, from, operand, false, call->arguments))
      return error;
  const ptx::Operand &callee = from.operands[1];
  if (callee.kind != Kind::Function) {
    llvm::Expected<Slot> address = decoder.value(from, callee, ptx::Type::B64);
    if (!address)
      return address.takeError();
    to.slots = {*address};
    to.execute = &runIndirectCall;
    to.details = std::move(call);
    return pieces.finish(decoder);
  }
  const FunctionCode &code = decoder.owner().functions[callee.index];
  const ptx::Function &function = *code.source;
  if (function.isEntry)
    return decoder.unsupported(from, "a kernel is called");
  if (call->arguments.size() != function.params.size() ||
      call->results.size() != function.results.size())
    return decoder.malformed(
        from, "'" + function.name + "' has " +
                  llvm::Twine(function.params.size()) + " parameters and " +
                  llvm::Twine(function.results.size()) + " results");
  call->callee = int(callee.index);
  to.execute = &runCall;
  if (!function.hasBody) {
    call->system = systemCallNamed(function.name);
    if (call->system == SystemCall::None ||
        function.params.size() > maxSystemArguments)
      return decoder.unsupported(from, "'" + function.name +
                                           "' has no body and is not known");
    to.execute = &runSystemCall;
  }
  to.details = std::move(call);
  return pieces.finish(decoder);
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

void leave(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint32_t counter = warp.counterOf(at);
  forEachLane(lanes, [&](unsigned lane) { warp.jump(lane, counter); });
  warp.exit(lanes);
}

/// The shared memory of a block ends with its last thread. Only other blocks
/// of a cluster can mind.
void noteEnd(Warp &warp, const Instruction &at, LaneMask lanes) {
  Block &block = warp.block;
  Detector *detector = block.cluster.detector();
  if (!detector || block.cluster.blocks.size() == 1)
    return;
  forEachLane(lanes, [&](unsigned lane) {
    detector->releaseAfterLoads(warp.thread(lane), block.ended);
  });
  if (block.liveThreads == unsigned(llvm::popcount(lanes)))
    detector->endBlock(warp.thread(firstLane(lanes)), block.ended, at);
}

/// The end that a program means: what was started must be done.
void endThreads(Warp &warp, const Instruction &at, LaneMask lanes) {
  checkCopiesAtExit(warp, lanes, at);
  noteEnd(warp, at, lanes);
  leave(warp, at, lanes);
  if (warp.exited == warp.all)
    checkStepsAtExit(warp, at);
}

Outcome runReturn(Warp &warp, const Instruction &at, LaneMask lanes) {
  const Program &program = warp.block.cluster.launch.program;
  LaneMask exits = 0;
  forEachLane(lanes, [&](unsigned lane) {
    auto &stack = warp.returnStack[lane];
    if (stack.empty()) {
      exits |= LaneMask(1) << lane;
      return;
    }
    uint32_t to = stack.pop_back_val();
    uint32_t counter = warp.counterOf(at);
    const Call &call = program.instructions[to - 1].as<Call>();
    if (call.callee >= 0) {
      passResults(warp, lane, call, program.functions[unsigned(call.callee)]);
    } else {
      for (const FunctionCode &function : program.functions)
        if (counter >= function.entry && counter < function.end)
          passResults(warp, lane, call, function);
    }
    warp.jump(lane, to);
  });
  if (exits)
    endThreads(warp, at, exits);
  return Outcome::Jumped;
}

Outcome runExit(Warp &warp, const Instruction &at, LaneMask lanes) {
  endThreads(warp, at, lanes);
  return Outcome::Jumped;
}

Outcome runTrap(Warp &warp, const Instruction &at, LaneMask lanes) {
  warp.report(ReportKind::AssertFailed, firstLane(lanes), at,
              "a thread executes trap, which ends the kernel");
  warp.block.cluster.launch.isStopped = true;
  leave(warp, at, lanes);
  return Outcome::Jumped;
}

// A breakpoint without a debugger does nothing here.
Outcome runNothing(Warp &, const Instruction &, LaneMask) {
  return Outcome::Next;
}

template <Handler handler>
llvm::Error decodePlain(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  Pieces pieces(from);
  if (handler == &runReturn)
    pieces.take("uni");
  if (!from.operands.empty())
    return decoder.malformed(from, "it has operands");
  to.execute = handler;
  return pieces.finish(decoder);
}

} // namespace

void addControlFlow(InstructionSet &set) {
  set.add("bra", &decodeBranch);
  set.add("brx", &decodeIndexedBranch);
  set.add("call", &decodeCall);
  set.add("ret", &decodePlain<&runReturn>);
  set.add("exit", &decodePlain<&runExit>);
  set.add("trap", &decodePlain<&runTrap>);
  set.add("brkpt", &decodePlain<&runNothing>);
}

} // namespace tilec::emulator

//===- Stack.cpp - alloca, stacksave, stackrestore ------------------------===//
//
// A thread's local memory begins with the variables of functions, each in a
// place of its own. What alloca makes lies behind them, and goes with
// stackrestore; that it ends with the call that made it is not modeled.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Execute/Families.h"
#include "lib/Emulator/Execute/Lanes.h"
#include "lib/Emulator/Machine/Machine.h"
#include "llvm/Support/MathExtras.h"

namespace tilec::emulator {

namespace {

using ptx::Type;

constexpr uint64_t mostBytes = uint64_t(512) * 1024; // Of a GPU's thread.

Outcome runAlloca(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *sizes = warp.values(at.value(0));
  forEachLane(lanes, [&](unsigned lane) {
    std::vector<char> &stack = warp.local[lane];
    uint64_t begin = llvm::alignTo(stack.size(), uint64_t(at.offset));
    uint64_t size = sizes[lane];
    to[lane] = begin;
    if (begin > mostBytes || size > mostBytes - begin)
      return warp.report(ReportKind::OutOfBounds, lane, at,
                         std::to_string(size) +
                             " bytes do not fit in the local memory of a "
                             "thread, of which " +
                             std::to_string(begin) + " bytes are in use",
                         "a thread has at most 512 KiB");
    stack.resize(begin + size, char(poisonByte));
  });
  return Outcome::Next;
}

Outcome runSave(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  forEachLane(lanes,
              [&](unsigned lane) { to[lane] = warp.local[lane].size(); });
  return Outcome::Next;
}

Outcome runRestore(Warp &warp, const Instruction &at, LaneMask lanes) {
  const uint64_t *tops = warp.values(at.value(0));
  uint64_t least = warp.block.cluster.launch.program.localBytes;
  forEachLane(lanes, [&](unsigned lane) {
    std::vector<char> &stack = warp.local[lane];
    if (tops[lane] < least || tops[lane] > stack.size())
      return warp.report(ReportKind::BadOperand, lane, at,
                         "the stack was not so large when it was saved",
                         "restore what stacksave gave, the last one first");
    stack.resize(tops[lane]);
  });
  return Outcome::Next;
}

llvm::Error takeType(Decoder &decoder, Pieces &pieces,
                     const ptx::Instruction &from, Instruction &to) {
  to.type = pieces.takeType();
  if (to.type != Type::U32 && to.type != Type::U64)
    return decoder.unsupported(from, "not with this type");
  return pieces.finish(decoder);
}

llvm::Error decodeAlloca(Decoder &decoder, const ptx::Instruction &from,
                         Instruction &to) {
  Pieces pieces(from);
  if (llvm::Error error = takeType(decoder, pieces, from, to))
    return error;
  if (from.operands.size() != 2 && from.operands.size() != 3)
    return decoder.malformed(from, "wrong number of operands");
  llvm::Expected<Slot> result = decoder.result(from, from.operands[0]);
  if (!result)
    return result.takeError();
  llvm::Expected<Slot> size = decoder.value(from, from.operands[1], to.type);
  if (!size)
    return size.takeError();
  to.slots = {*result, *size};
  to.numResults = 1;
  to.offset = 8;
  if (from.operands.size() == 3) {
    llvm::Expected<int64_t> alignment =
        decoder.immediate(from, from.operands[2]);
    if (!alignment)
      return alignment.takeError();
    if (*alignment <= 0 || !llvm::isPowerOf2_64(uint64_t(*alignment)) ||
        uint64_t(*alignment) > mostBytes)
      return decoder.malformed(from, "the alignment is not a power of two");
    to.offset = *alignment;
  }
  to.execute = &runAlloca;
  return llvm::Error::success();
}

llvm::Error decodeStack(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  Pieces pieces(from);
  if (llvm::Error error = takeType(decoder, pieces, from, to))
    return error;
  bool saves = from.opcode() == "stacksave";
  to.execute = saves ? &runSave : &runRestore;
  return decoder.operands(from, to, saves ? 1 : 0, llvm::ArrayRef(to.type));
}

} // namespace

void addStackInstructions(InstructionSet &set) {
  set.add("alloca", &decodeAlloca);
  set.add("stacksave", &decodeStack);
  set.add("stackrestore", &decodeStack);
}

} // namespace tilec::emulator

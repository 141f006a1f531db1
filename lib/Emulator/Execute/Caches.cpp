//===- Caches.cpp - Instructions that only tune ---------------------------===//
//
// Prefetches, policies of caches, sleeping, the dependence of grids on earlier
// ones: what they name is checked, and most do nothing.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Execute/Access.h"
#include "lib/Emulator/Execute/Lanes.h"
#include <cstring>

namespace tilec::emulator {

namespace {

using ptx::Space;
using ptx::Type;

Outcome runNothing(Warp &, const Instruction &, LaneMask) {
  return Outcome::Next;
}

// Takes all pieces, and looks at the operands as values or addresses.
llvm::Error decodeHint(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  for (const ptx::Operand &operand : from.operands) {
    int64_t offset = 0;
    llvm::Expected<Slot> slot = operand.kind == ptx::Operand::Kind::Address
                                    ? decoder.address(from, operand, offset)
                                    : decoder.value(from, operand, Type::B64);
    if (!slot)
      return slot.takeError();
  }
  to.execute = &runNothing;
  return llvm::Error::success();
}

Outcome runPolicy(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  forEachLane(lanes, [&](unsigned lane) { to[lane] = 0; });
  return Outcome::Next;
}

llvm::Error decodePolicy(Decoder &decoder, const ptx::Instruction &from,
                         Instruction &to) {
  if (from.operands.empty())
    return decoder.malformed(from, "it has no result");
  llvm::Expected<Slot> result = decoder.result(from, from.operands[0]);
  if (!result)
    return result.takeError();
  to.slots = {*result};
  to.numResults = 1;
  to.execute = &runPolicy;
  return llvm::Error::success();
}

// What was in the line is lost.
Outcome runDiscard(Warp &warp, const Instruction &at, LaneMask lanes) {
  constexpr unsigned line = 128;
  const uint64_t *base = warp.values(at.value(0));
  Cluster &cluster = warp.block.cluster;
  forEachLane(lanes, [&](unsigned lane) {
    Place place = warp.resolve(lane, at.space, base[lane] + uint64_t(at.offset),
                               line, line, /*isWrite=*/true, at);
    if (!place.data)
      return;
    std::memset(place.data, poisonByte, line);
    cluster.wrote();
    if (Detector *detector = cluster.detector())
      detector->write(warp.thread(lane), place.address, line, at);
  });
  return Outcome::Next;
}

llvm::Error decodeDiscard(Decoder &decoder, const ptx::Instruction &from,
                          Instruction &to) {
  Pieces pieces(from);
  pieces.take("L2");
  if (pieces.take("global"))
    to.space = Space::Global;
  if (from.operands.size() != 2)
    return decoder.malformed(from, "it needs an address and a size");
  llvm::Expected<Slot> base =
      decoder.address(from, from.operands[0], to.offset);
  if (!base)
    return base.takeError();
  llvm::Expected<int64_t> size = decoder.immediate(from, from.operands[1]);
  if (!size)
    return size.takeError();
  if (*size != 128)
    return decoder.malformed(from, "its size must be 128");
  to.slots = {*base};
  to.execute = &runDiscard;
  return pieces.finish(decoder);
}

} // namespace

void addCacheInstructions(InstructionSet &set) {
  for (const char *opcode : {"prefetch", "prefetchu", "applypriority",
                             "nanosleep", "griddepcontrol", "pmevent"})
    set.add(opcode, &decodeHint);
  set.add("createpolicy", &decodePolicy);
  set.add("discard", &decodeDiscard);
}

} // namespace tilec::emulator

//===- Addresses.cpp - From one space to another --------------------------===//
//
// cvta, isspacep, mapa, getctarank: arithmetic on addresses as Memory.h lays
// them out. An address of a space and the generic one of the same byte differ
// by where the window begins; in global and param space not at all.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Execute/Elementwise.h"
#include "lib/Emulator/Execute/Families.h"

namespace tilec::emulator {

using ptx::Type;

namespace {

/// Spaces by their names in opcodes. Shared memory is that of the block itself,
/// or with ::cluster of any block of the cluster.
enum class Named : uint8_t { Const, Global, Local, Param, Shared, Cluster };

std::optional<Named> takeSpace(Pieces &pieces) {
  if (pieces.take("const"))
    return Named::Const;
  if (pieces.take("global"))
    return Named::Global;
  if (pieces.take("local"))
    return Named::Local;
  if (pieces.take("param") || pieces.take("param::entry"))
    return Named::Param;
  if (pieces.take("shared") || pieces.take("shared::cta"))
    return Named::Shared;
  if (pieces.take("shared::cluster"))
    return Named::Cluster;
  return std::nullopt;
}

bool isWord(Type type) { return type == Type::U32 || type == Type::U64; }

//===----------------------------------------------------------------------===//
// cvta
//===----------------------------------------------------------------------===//

llvm::Error decodeCvta(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  Pieces pieces(from);
  bool isFromGeneric = pieces.take("to");
  std::optional<Named> space = takeSpace(pieces);
  Type type = to.type = pieces.takeType();
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  if (!space || type != Type::U64)
    return decoder.unsupported(from, "not with this space and type");
  if (*space == Named::Shared || *space == Named::Cluster)
    to.execute =
        isFromGeneric
            ? runUnary<uint64_t, [](uint64_t a) { return a - sharedWindow; }>
            : runUnary<uint64_t, [](uint64_t a) { return a + sharedWindow; }>;
  else if (*space == Named::Local)
    to.execute =
        isFromGeneric
            ? runUnary<uint64_t, [](uint64_t a) { return a - localWindow; }>
            : runUnary<uint64_t, [](uint64_t a) { return a + localWindow; }>;
  else
    to.execute = runUnary<uint64_t, [](uint64_t a) { return a; }>;
  // `cvta.shared.u64 %rd, variable` and `variable+4` are values like others.
  return decoder.operands(from, to, 1, {type, type});
}

//===----------------------------------------------------------------------===//
// isspacep
//===----------------------------------------------------------------------===//

struct SpaceDetails : Details {
  Named space = Named::Global;
  /// Where constants are, from and to; in the emulator they are in the midst of
  /// global memory.
  std::vector<std::pair<uint64_t, uint64_t>> constants;

  bool isConstant(uint64_t address) const {
    return llvm::any_of(constants, [&](const auto &range) {
      return address >= range.first && address < range.second;
    });
  }
};

bool isWithin(uint64_t address, uint64_t window) {
  return address >= window && address < window + windowBytes;
}

bool isInSpace(const SpaceDetails &details, uint64_t address, unsigned rank) {
  switch (details.space) {
  case Named::Const:
    return details.isConstant(address);
  case Named::Global:
    return address < paramWindow && !details.isConstant(address);
  case Named::Local:
    return isWithin(address, localWindow);
  case Named::Param:
    return isWithin(address, paramWindow);
  case Named::Shared: {
    uint64_t field = (address - sharedWindow) >> sharedRankShift;
    return isShared(address) && (field == 0 || field == rank + 1);
  }
  case Named::Cluster:
    return isShared(address);
  }
  return false;
}

Outcome runIsspacep(Warp &warp, const Instruction &at, LaneMask lanes) {
  const auto &details = at.as<SpaceDetails>();
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0));
  forEachLane(lanes, [&](unsigned i) {
    to[i] = isInSpace(details, a[i], warp.block.rank);
  });
  return Outcome::Next;
}

llvm::Error decodeIsspacep(Decoder &decoder, const ptx::Instruction &from,
                           Instruction &to) {
  Pieces pieces(from);
  std::optional<Named> space = takeSpace(pieces);
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  if (!space)
    return decoder.unsupported(from, "not with this space");
  auto details = std::make_shared<SpaceDetails>();
  details->space = *space;
  const Program &program = decoder.owner();
  for (unsigned i = 0; i != program.globals.size(); ++i) {
    const ptx::Variable &variable = program.source.variables[i];
    if (variable.space == ptx::Space::Const)
      details->constants.emplace_back(program.globals[i],
                                      program.globals[i] + variable.bytes);
  }
  to.details = std::move(details);
  to.execute = runIsspacep;
  return decoder.operands(from, to, 1, {Type::Pred, Type::U64});
}

//===----------------------------------------------------------------------===//
// mapa, getctarank
//===----------------------------------------------------------------------===//

constexpr uint64_t offsetMask = (uint64_t(1) << sharedRankShift) - 1;

/// The same place in the shared memory of another block of the cluster.
template <bool isGeneric>
Outcome runMapa(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1));
  size_t numBlocks = warp.block.cluster.blocks.size();
  forEachLane(lanes, [&](unsigned i) {
    uint64_t address = a[i];
    auto rank = uint32_t(b[i]);
    if (rank >= numBlocks) {
      warp.report(ReportKind::BadOperand, i, at,
                  "mapa names block " + std::to_string(rank) +
                      " of a cluster that has " + std::to_string(numBlocks));
      // An address that nobody has: no block has so high a rank.
      rank = 0xfe;
    }
    if (isGeneric && !isShared(address))
      warp.report(ReportKind::BadOperand, i, at,
                  "mapa of an address that is not in shared memory");
    uint64_t mapped = canonicalShared(rank, address & offsetMask);
    to[i] = isGeneric ? mapped : mapped - sharedWindow;
  });
  return Outcome::Next;
}

template <bool isGeneric>
Outcome runGetctarank(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0));
  forEachLane(lanes, [&](unsigned i) {
    uint64_t address = a[i];
    if (isGeneric && !isShared(address))
      warp.report(ReportKind::BadOperand, i, at,
                  "getctarank of an address that is not in shared memory");
    uint64_t field =
        (isGeneric ? address - sharedWindow : address) >> sharedRankShift;
    to[i] = field == 0 ? warp.block.rank : uint32_t(field - 1);
  });
  return Outcome::Next;
}

llvm::Error decodeMapa(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  Pieces pieces(from);
  bool isMapa = from.opcode() == "mapa";
  bool isGeneric = !pieces.take("shared::cluster");
  Type type = to.type = pieces.takeType();
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  if (!isWord(type) || (isGeneric && type != Type::U64))
    return decoder.unsupported(from, "not with this type");
  if (!isMapa) {
    to.execute = isGeneric ? runGetctarank<true> : runGetctarank<false>;
    return decoder.operands(from, to, 1, {Type::U32, type});
  }
  to.execute = isGeneric ? runMapa<true> : runMapa<false>;
  return decoder.operands(from, to, 1, {type, type, Type::U32});
}

} // namespace

void addAddressInstructions(InstructionSet &set) {
  set.add("cvta", decodeCvta);
  set.add("isspacep", decodeIsspacep);
  set.add("mapa", decodeMapa);
  set.add("getctarank", decodeMapa);
}

} // namespace tilec::emulator

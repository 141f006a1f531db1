//===- Memory.cpp - Loads and stores --------------------------------------===//

#include "lib/Emulator/Async/BulkCopies.h"
#include "lib/Emulator/Execute/Access.h"
#include "lib/Emulator/Execute/Lanes.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <type_traits>

namespace tilec::emulator {

namespace {

using Kind = ptx::Operand::Kind;
using ptx::Space;
using ptx::Type;

/// An element, as the host has it.
template <unsigned bytes>
using Word = std::conditional_t<
    bytes == 1, uint8_t,
    std::conditional_t<bytes == 2, uint16_t,
                       std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

template <unsigned bytes>
uint64_t extend(Word<bytes> value, const MemoryAccess &access) {
  if (!access.isSigned)
    return value;
  using Signed = std::make_signed_t<decltype(value)>;
  return uint64_t(int64_t(Signed(value))) & access.mask;
}

/// Those of whose access the detector is told.
LaneMask watchedLanes(const MemoryAccess &access, const LanePlaces &places) {
  if (access.space != Space::Generic)
    return isWatched(access.space, 0) ? places.lanes : 0;
  LaneMask watched = 0;
  forEachLane(places.lanes, [&](unsigned lane) {
    watched |= LaneMask(isWatched(access.space, places.address[lane])) << lane;
  });
  return watched;
}

/// Loads from shared memory are queued: PendingLoads.h.
void queueLoads(Warp &warp, const Instruction &at, const LanePlaces &places) {
  LaneMask fromShared = 0;
  forEachLane(places.lanes, [&](unsigned lane) {
    fromShared |= LaneMask(isShared(places.address[lane])) << lane;
  });
  if (fromShared)
    warp.issueLoad(at, fromShared);
}

void tellRead(Warp &warp, const Instruction &at, const MemoryAccess &access,
              const LanePlaces &places) {
  Detector *detector = warp.block.cluster.detector();
  if (!detector || access.space == Space::Param ||
      access.space == Space::Local || access.space == Space::Const)
    return;
  queueLoads(warp, at, places);
  LaneMask watched = watchedLanes(access, places);
  if (watched && access.isReadOnly)
    detector->readOnlyPath(warp.thread(0), watched, places.address.data(),
                           access.total(), at);
  else if (watched)
    detector->read(warp.thread(0), watched, places.address.data(),
                   access.total(), at);
}

// Elements of 16 bytes are two of 8: `slots` has two for each.
template <unsigned bytes>
Outcome runLoad(Warp &warp, const Instruction &at, LaneMask lanes) {
  using T = Word<bytes>;
  const MemoryAccess &access = at.as<MemoryAccess>();
  LanePlaces places;
  resolveLanes(warp, at, access, warp.values(at.value(0)), lanes, false,
               places);
  for (unsigned i = 0; i != at.numResults; ++i) {
    uint64_t *to = warp.row(at.result(i));
    forEachLane(places.lanes, [&](unsigned lane) {
      T value;
      std::memcpy(&value, places.data[lane] + size_t(i) * bytes, bytes);
      to[lane] = extend<bytes>(value, access);
    });
    // What is not there reads as zero.
    if (LaneMask missing = lanes & ~places.lanes)
      forEachLane(missing, [&](unsigned lane) { to[lane] = 0; });
  }
  tellRead(warp, at, access, places);
  countAccess(warp.block.cluster, at, access, places, false);
  return Outcome::Next;
}

// The parameters of the kernel are the same for all lanes.
template <unsigned bytes>
Outcome runLoadParam(Warp &warp, const Instruction &at, LaneMask lanes) {
  using T = Word<bytes>;
  const MemoryAccess &access = at.as<MemoryAccess>();
  const std::vector<char> &params = warp.block.cluster.launch.params;
  uint64_t offset =
      warp.values(at.value(0))[0] + uint64_t(at.offset) - paramWindow;
  unsigned total = access.total();
  if (offset % total || offset > params.size() ||
      total > params.size() - offset)
    return runLoad<bytes>(warp, at, lanes);
  for (unsigned i = 0; i != at.numResults; ++i) {
    T value;
    std::memcpy(&value, params.data() + offset + size_t(i) * bytes, bytes);
    uint64_t extended = extend<bytes>(value, access);
    uint64_t *to = warp.row(at.result(i));
    forEachLane(lanes, [&](unsigned lane) { to[lane] = extended; });
  }
  return Outcome::Next;
}

template <unsigned bytes>
Outcome runStrongLoad(Warp &warp, const Instruction &at, LaneMask lanes) {
  using T = Word<bytes>;
  const MemoryAccess &access = at.as<MemoryAccess>();
  Cluster &cluster = warp.block.cluster;
  Detector *detector = cluster.detector();
  LanePlaces places;
  resolveLanes(warp, at, access, warp.values(at.value(0)), lanes, false,
               places);
  // What comes after an acquire waits for it.
  if (detector && access.order != Order::Acquire)
    queueLoads(warp, at, places);
  forEachLane(lanes, [&](unsigned lane) {
    if (!(places.lanes >> lane & 1)) {
      for (unsigned i = 0; i != at.numResults; ++i)
        warp.row(at.result(i))[lane] = 0;
      return;
    }
    uint64_t address = places.address[lane];
    bool isDetecting = detector && isWatched(access.space, address);
    auto lock = lockStrong(cluster.launch, isDetecting, address);
    for (unsigned i = 0; i != at.numResults; ++i) {
      T value = __atomic_load_n(
          reinterpret_cast<const T *>(places.data[lane] + size_t(i) * bytes),
          __ATOMIC_ACQUIRE);
      warp.row(at.result(i))[lane] = extend<bytes>(value, access);
    }
    if (isDetecting)
      detector->strong(warp.thread(lane), address, access.total(),
                       Detector::Strong::Load, access.order, access.scope, at);
  });
  countAccess(cluster, at, access, places, false);
  return Outcome::Next;
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

template <unsigned bytes>
Outcome runStore(Warp &warp, const Instruction &at, LaneMask lanes) {
  using T = Word<bytes>;
  const MemoryAccess &access = at.as<MemoryAccess>();
  Cluster &cluster = warp.block.cluster;
  LanePlaces places;
  resolveLanes(warp, at, access, warp.values(at.value(0)), lanes, true, places);
  for (unsigned i = 1; i != at.numValues(); ++i) {
    const uint64_t *from = warp.values(at.value(i));
    forEachLane(places.lanes, [&](unsigned lane) {
      T value = T(from[lane]);
      std::memcpy(places.data[lane] + size_t(i - 1) * bytes, &value, bytes);
    });
  }
  if (access.space == Space::Param || access.space == Space::Local)
    return Outcome::Next;
  cluster.wrote();
  if (Detector *detector = cluster.detector())
    if (LaneMask watched = watchedLanes(access, places))
      detector->write(warp.thread(0), watched, places.address.data(),
                      access.total(), at);
  countAccess(cluster, at, access, places, true);
  return Outcome::Next;
}

template <unsigned bytes>
Outcome runStrongStore(Warp &warp, const Instruction &at, LaneMask lanes) {
  using T = Word<bytes>;
  const MemoryAccess &access = at.as<MemoryAccess>();
  Cluster &cluster = warp.block.cluster;
  Detector *detector = cluster.detector();
  LanePlaces places;
  resolveLanes(warp, at, access, warp.values(at.value(0)), lanes, true, places);
  forEachLane(places.lanes, [&](unsigned lane) {
    uint64_t address = places.address[lane];
    bool isDetecting = detector && isWatched(access.space, address);
    auto lock = lockStrong(cluster.launch, isDetecting, address);
    if (isDetecting)
      detector->strong(warp.thread(lane), address, access.total(),
                       Detector::Strong::Store, access.order, access.scope, at);
    for (unsigned i = 1; i != at.numValues(); ++i)
      __atomic_store_n(
          reinterpret_cast<T *>(places.data[lane] + size_t(i - 1) * bytes),
          T(warp.values(at.value(i))[lane]), __ATOMIC_RELEASE);
  });
  cluster.wrote();
  countAccess(cluster, at, access, places, true);
  return Outcome::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

template <template <unsigned> class Of> Handler bySize(unsigned bytes) {
  switch (bytes) {
  case 1:
    return Of<1>::handler;
  case 2:
    return Of<2>::handler;
  case 4:
    return Of<4>::handler;
  default:
    return Of<8>::handler;
  }
}
template <unsigned bytes> struct Load {
  static constexpr Handler handler = &runLoad<bytes>;
};
template <unsigned bytes> struct LoadParam {
  static constexpr Handler handler = &runLoadParam<bytes>;
};
template <unsigned bytes> struct StrongLoad {
  static constexpr Handler handler = &runStrongLoad<bytes>;
};
template <unsigned bytes> struct Store {
  static constexpr Handler handler = &runStore<bytes>;
};
template <unsigned bytes> struct StrongStore {
  static constexpr Handler handler = &runStrongStore<bytes>;
};

bool isMemoryType(Type type) {
  switch (type) {
  case Type::B8:
  case Type::U8:
  case Type::S8:
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
  case Type::B32:
  case Type::U32:
  case Type::S32:
  case Type::F32:
  case Type::F16x2:
  case Type::BF16x2:
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
  case Type::B128:
    return true;
  default:
    return false;
  }
}

// The vector and the type; how many operands of a lane that is.
llvm::Error takeShape(Decoder &decoder, const ptx::Instruction &from,
                      Pieces &pieces, Instruction &to, MemoryAccess &access) {
  for (auto [name, count] : {std::pair("v2", 2u), {"v4", 4u}, {"v8", 8u}})
    if (pieces.take(name))
      access.count = count;
  to.type = pieces.takeType();
  if (!isMemoryType(to.type))
    return decoder.malformed(from, "it needs a type of memory");
  access.bytes = ptx::bytesOf(to.type);
  if (access.total() > 32)
    return decoder.unsupported(from, "more than 32 bytes of a thread");
  return llvm::Error::success();
}

// The registers of a scalar or a vector: `count` of them, wide enough.
llvm::Expected<llvm::ArrayRef<ptx::Operand>>
elementsOf(Decoder &decoder, const ptx::Instruction &from,
           const ptx::Operand &operand, unsigned count, Type type) {
  llvm::ArrayRef<ptx::Operand> result(operand);
  if (operand.kind == Kind::Vector)
    result = operand.elements;
  if (result.size() != count)
    return decoder.malformed(from, "it needs a vector of " +
                                       llvm::Twine(count) + " elements");
  for (const ptx::Operand &element : result) {
    if (element.kind != Kind::Register)
      continue;
    Type own = decoder.function().registers[element.index].type;
    if (own == Type::Pred || ptx::bitsOf(own) < ptx::bitsOf(type))
      return decoder.malformed(from, "a register that is too narrow");
  }
  return result;
}

llvm::Error checkPolicy(Decoder &decoder, const ptx::Instruction &from,
                        size_t numOperands, bool hasPolicy) {
  if (from.operands.size() != numOperands + hasPolicy)
    return decoder.malformed(from, "the wrong number of operands");
  if (!hasPolicy)
    return llvm::Error::success();
  return decoder.value(from, from.operands.back(), Type::B64).takeError();
}

llvm::Error decodeLoad(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  Pieces pieces(from);
  auto access = std::make_shared<MemoryAccess>();
  bool hasPolicy = false;
  takeAccess(pieces, *access, hasPolicy);
  if (llvm::Error error = takeShape(decoder, from, pieces, to, *access))
    return error;
  if (llvm::Error error = checkPolicy(decoder, from, 2, hasPolicy))
    return error;
  auto elements =
      elementsOf(decoder, from, from.operands[0], access->count, to.type);
  if (!elements)
    return elements.takeError();
  access->isSigned = ptx::isSigned(to.type);
  unsigned width = 64;
  for (const ptx::Operand &element : *elements) {
    llvm::Expected<Slot> slot = decoder.result(from, element);
    if (!slot)
      return slot.takeError();
    to.slots.push_back(*slot);
    if (to.type == Type::B128)
      to.slots.push_back(*slot == noSlot ? noSlot : *slot + 1);
    if (element.kind == Kind::Register)
      width = std::min(
          width, ptx::bitsOf(decoder.function().registers[element.index].type));
  }
  access->mask = llvm::maskTrailingOnes<uint64_t>(std::min(width, 64u));
  to.numResults = unsigned(to.slots.size());
  llvm::Expected<Slot> base =
      decoder.address(from, from.operands[1], to.offset);
  if (!base)
    return base.takeError();
  to.slots.push_back(*base);
  to.space = access->space;
  unsigned bytes = access->bytes;
  // A parameter of the kernel by its name.
  bool isParam = from.operands[1].elements[0].kind == Kind::Parameter &&
                 decoder.function().isEntry && access->space == Space::Param;
  if (access->order != Order::Weak)
    to.execute = bySize<StrongLoad>(bytes);
  else if (isParam)
    to.execute = bySize<LoadParam>(bytes);
  else
    to.execute = bySize<Load>(bytes);
  to.details = std::move(access);
  return pieces.finish(decoder);
}

llvm::Error decodeStore(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  if (from.has("async"))
    return decodeAsyncStore(decoder, from, to);
  Pieces pieces(from);
  auto access = std::make_shared<MemoryAccess>();
  bool hasPolicy = false;
  takeAccess(pieces, *access, hasPolicy);
  if (access->space == Space::Const)
    return decoder.malformed(from, "constant memory is not written");
  if (llvm::Error error = takeShape(decoder, from, pieces, to, *access))
    return error;
  if (llvm::Error error = checkPolicy(decoder, from, 2, hasPolicy))
    return error;
  llvm::Expected<Slot> base =
      decoder.address(from, from.operands[0], to.offset);
  if (!base)
    return base.takeError();
  to.slots.push_back(*base);
  auto elements =
      elementsOf(decoder, from, from.operands[1], access->count, to.type);
  if (!elements)
    return elements.takeError();
  for (const ptx::Operand &element : *elements) {
    llvm::Expected<Slot> slot = decoder.value(from, element, to.type);
    if (!slot)
      return slot.takeError();
    to.slots.push_back(*slot);
    if (to.type == Type::B128) {
      if (element.kind != Kind::Register)
        return decoder.malformed(from, "128 bits that are not a register");
      to.slots.push_back(*slot + 1);
    }
  }
  to.space = access->space;
  to.execute = access->order != Order::Weak ? bySize<StrongStore>(access->bytes)
                                            : bySize<Store>(access->bytes);
  to.details = std::move(access);
  return pieces.finish(decoder);
}

} // namespace

void addMemoryInstructions(InstructionSet &set) {
  set.add("ld", &decodeLoad);
  set.add("ldu", &decodeLoad);
  set.add("st", &decodeStore);
  addAtomics(set);
  addCacheInstructions(set);
}

} // namespace tilec::emulator

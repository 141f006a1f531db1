//===- Atomics.cpp - atom and red -----------------------------------------===//
//
// Lanes go one after the other, beginning with one that is drawn: programs must
// not rely on an order. In global memory other host threads may be at the same
// word, so what is done there is atomic for the host too; shared memory is that
// of one host thread.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Arithmetic/Float.h"
#include "lib/Emulator/Async/BulkCopies.h"
#include "lib/Emulator/Async/Reduction.h"
#include "lib/Emulator/Execute/Access.h"
#include "lib/Emulator/Execute/Lanes.h"
#include <cstring>

namespace tilec::emulator {

namespace {

using Kind = ptx::Operand::Kind;
using ptx::Space;
using ptx::Type;

struct Atomic : MemoryAccess {
  enum class Operation : uint8_t { Reduce, Exchange, CompareAndSwap };
  Operation operation = Operation::Reduce;
  ReduceOperation reduction = ReduceOperation::Add;
  bool returns = true; // atom; red does not.
};

uint64_t combine(const Atomic &atomic, Type type, bool isGlobal, uint64_t old,
                 uint64_t b, uint64_t c) {
  switch (atomic.operation) {
  case Atomic::Operation::Exchange:
    return b;
  case Atomic::Operation::CompareAndSwap:
    return old == b ? c : old;
  case Atomic::Operation::Reduce:
    break;
  }
  // Only in global memory does the addition of f32 flush subnormals.
  if (type == Type::F32 && !isGlobal)
    return addFloat(type, old, b, {});
  return reduce(atomic.reduction, type, old, b);
}

// Does it for one element; what was there.
template <typename T>
uint64_t update(char *data, const Atomic &atomic, Type type, bool isGlobal,
                uint64_t b, uint64_t c, bool &isChanged) {
  T *place = reinterpret_cast<T *>(data);
  T old = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  for (;;) {
    T next = T(combine(atomic, type, isGlobal, old, b, c));
    isChanged |= next != old;
    if (!isGlobal) {
      std::memcpy(data, &next, sizeof next);
      return old;
    }
    if (__atomic_compare_exchange_n(place, &old, next, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
      return old;
  }
}

uint64_t update(char *data, unsigned bytes, const Atomic &atomic, Type type,
                bool isGlobal, uint64_t b, uint64_t c, bool &isChanged) {
  switch (bytes) {
  case 2:
    return update<uint16_t>(data, atomic, type, isGlobal, b, c, isChanged);
  case 4:
    return update<uint32_t>(data, atomic, type, isGlobal, b, c, isChanged);
  default:
    return update<uint64_t>(data, atomic, type, isGlobal, b, c, isChanged);
  }
}

void countAtomics(Warp &warp, const Atomic &atomic, const LanePlaces &places) {
  Counters &counters = warp.block.cluster.counters;
  bool isGlobal = !isShared(places.address[firstLane(places.lanes)]);
  if (isGlobal)
    counters.globalAtomics += unsigned(llvm::popcount(places.lanes));
}

// Calls `body` for each lane that has a place, with what is needed around it.
template <typename Body>
Outcome forEachPlace(Warp &warp, const Instruction &at, LaneMask lanes,
                     Body body) {
  const auto &atomic = at.as<Atomic>();
  Cluster &cluster = warp.block.cluster;
  Detector *detector = cluster.detector();
  LanePlaces places;
  resolveLanes(warp, at, atomic, warp.values(at.value(0)), lanes, true, places);
  // Results of lanes without a place are zero.
  forEachLane(lanes & ~places.lanes, [&](unsigned lane) {
    for (unsigned i = 0; i != at.numResults; ++i)
      warp.row(at.result(i))[lane] = 0;
  });
  if (!places.lanes)
    return Outcome::Next;
  bool isChanged = false;
  auto run = [&](unsigned lane) {
    uint64_t address = places.address[lane];
    bool isDetecting = detector && isWatched(atomic.space, address);
    // Pairs of words are atomic for the host under the lock alone.
    auto lock =
        lockStrong(cluster.launch, isDetecting || atomic.bytes == 16, address);
    body(lane, places.data[lane], !isShared(address), isChanged);
    if (isDetecting)
      detector->strong(warp.thread(lane), address, atomic.total(),
                       Detector::Strong::ReadModifyWrite, atomic.order,
                       atomic.scope, at);
  };
  unsigned start = unsigned(cluster.random() % warpSize);
  LaneMask before = (LaneMask(1) << start) - 1;
  forEachLane(places.lanes & ~before, run);
  forEachLane(places.lanes & before, run);
  if (isChanged)
    cluster.wrote();
  countAtomics(warp, atomic, places);
  return Outcome::Next;
}

Outcome runAtomic(Warp &warp, const Instruction &at, LaneMask lanes) {
  const auto &atomic = at.as<Atomic>();
  bool isCas = atomic.operation == Atomic::Operation::CompareAndSwap;
  return forEachPlace(
      warp, at, lanes,
      [&](unsigned lane, char *data, bool isGlobal, bool &isChanged) {
        for (unsigned i = 0; i != atomic.count; ++i) {
          uint64_t b = warp.values(at.value(1 + i))[lane];
          uint64_t c = isCas ? warp.values(at.value(2))[lane] : 0;
          uint64_t old = update(data + size_t(i) * atomic.bytes, atomic.bytes,
                                atomic, at.type, isGlobal, b, c, isChanged);
          if (atomic.returns)
            warp.row(at.result(i))[lane] = old;
        }
      });
}

// exch and cas of 128 bits: each value is two slots.
Outcome runWideAtomic(Warp &warp, const Instruction &at, LaneMask lanes) {
  const auto &atomic = at.as<Atomic>();
  bool isCas = atomic.operation == Atomic::Operation::CompareAndSwap;
  return forEachPlace(
      warp, at, lanes,
      [&](unsigned lane, char *data, bool isGlobal, bool &isChanged) {
        uint64_t old[2], b[2], c[2] = {};
        std::memcpy(old, data, sizeof old);
        for (unsigned i = 0; i != 2; ++i) {
          b[i] = warp.values(at.value(1 + i))[lane];
          if (isCas)
            c[i] = warp.values(at.value(3 + i))[lane];
        }
        const uint64_t *next = b;
        if (isCas)
          next = std::memcmp(old, b, sizeof old) == 0 ? c : old;
        isChanged |= std::memcmp(old, next, sizeof old) != 0;
        std::memcpy(data, next, sizeof old);
        for (unsigned i = 0; i != 2 && atomic.returns; ++i)
          warp.row(at.result(i))[lane] = old[i];
      });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

bool isAtomicType(const Atomic &atomic, Type type) {
  switch (atomic.operation) {
  case Atomic::Operation::Exchange:
    return type == Type::B32 || type == Type::B64 || type == Type::B128;
  case Atomic::Operation::CompareAndSwap:
    return type == Type::B16 || type == Type::B32 || type == Type::B64 ||
           type == Type::B128;
  case Atomic::Operation::Reduce:
    break;
  }
  bool isPacked = type == Type::F16x2 || type == Type::BF16x2;
  if (isPacked)
    return atomic.reduction == ReduceOperation::Add ||
           atomic.reduction == ReduceOperation::Min ||
           atomic.reduction == ReduceOperation::Max;
  return isReducible(atomic.reduction, type);
}

bool takeOperation(Pieces &pieces, Atomic &atomic) {
  if (pieces.take("exch")) {
    atomic.operation = Atomic::Operation::Exchange;
    return true;
  }
  if (pieces.take("cas")) {
    atomic.operation = Atomic::Operation::CompareAndSwap;
    return true;
  }
  for (const char *name :
       {"add", "min", "max", "and", "or", "xor", "inc", "dec"})
    if (pieces.take(name)) {
      atomic.reduction = *reduceOperation(name);
      return true;
    }
  return false;
}

llvm::Error checkRegister(Decoder &decoder, const ptx::Instruction &from,
                          const ptx::Operand &operand, Type type) {
  if (operand.kind != Kind::Register)
    return type == Type::B128 && operand.kind != Kind::Sink
               ? decoder.malformed(from, "128 bits that are not a register")
               : llvm::Error::success();
  Type own = decoder.function().registers[operand.index].type;
  if (own == Type::Pred || ptx::bitsOf(own) < ptx::bitsOf(type))
    return decoder.malformed(from, "a register that is too narrow");
  return llvm::Error::success();
}

// Adds the slots of an operand, which has `count` elements.
llvm::Error append(Decoder &decoder, const ptx::Instruction &from,
                   const ptx::Operand &operand, unsigned count, bool isResult,
                   Instruction &to) {
  llvm::ArrayRef<ptx::Operand> elements(operand);
  if (operand.kind == Kind::Vector)
    elements = operand.elements;
  bool isSink = isResult && operand.kind == Kind::Sink;
  if (!isSink && elements.size() != count)
    return decoder.malformed(from, "it needs a vector of " +
                                       llvm::Twine(count) + " elements");
  for (unsigned i = 0; i != count; ++i) {
    const ptx::Operand &element = isSink ? operand : elements[i];
    if (llvm::Error error = checkRegister(decoder, from, element, to.type))
      return error;
    llvm::Expected<Slot> slot = isResult
                                    ? decoder.result(from, element)
                                    : decoder.value(from, element, to.type);
    if (!slot)
      return slot.takeError();
    to.slots.push_back(*slot);
    if (to.type == Type::B128)
      to.slots.push_back(*slot == noSlot ? noSlot : *slot + 1);
  }
  return llvm::Error::success();
}

llvm::Error decodeAtomic(Decoder &decoder, const ptx::Instruction &from,
                         Instruction &to) {
  bool returns = from.opcode() == "atom";
  if (!returns && from.has("async"))
    return decodeAsyncReduction(decoder, from, to);
  Pieces pieces(from);
  auto atomic = std::make_shared<Atomic>();
  atomic->returns = returns;
  atomic->order = Order::Relaxed;
  bool hasPolicy = false;
  takeAccess(pieces, *atomic, hasPolicy);
  if (atomic->order == Order::Weak)
    return decoder.malformed(from, "atomic operations are not weak");
  if (atomic->space != Space::Generic && atomic->space != Space::Global &&
      atomic->space != Space::Shared)
    return decoder.malformed(from, "memory that has no atomic operations");
  if (!takeOperation(pieces, *atomic))
    return decoder.unsupported(from, "its operation is not known");
  pieces.take("noftz");
  for (auto [name, count] : {std::pair("v2", 2u), {"v4", 4u}, {"v8", 8u}})
    if (pieces.take(name))
      atomic->count = count;
  to.type = pieces.takeType();
  if (!isAtomicType(*atomic, to.type))
    return decoder.malformed(from, "the operation does not have this type");
  atomic->bytes = ptx::bytesOf(to.type);
  bool isVectorType = ptx::isFloat(to.type) && to.type != Type::F64;
  if (atomic->count > 1 && (!isVectorType || atomic->total() > 16 ||
                            atomic->operation != Atomic::Operation::Reduce ||
                            atomic->space == Space::Shared))
    return decoder.malformed(from, "no vector of this type and space");
  bool isCas = atomic->operation == Atomic::Operation::CompareAndSwap;
  if (!returns && (isCas || atomic->operation == Atomic::Operation::Exchange))
    return decoder.malformed(from, "red has no such operation");
  unsigned first = returns ? 1 : 0;
  size_t numOperands = first + 2;
  numOperands += isCas + hasPolicy;
  if (from.operands.size() != numOperands)
    return decoder.malformed(from, "the wrong number of operands");
  if (returns)
    if (llvm::Error error =
            append(decoder, from, from.operands[0], atomic->count, true, to))
      return error;
  to.numResults = unsigned(to.slots.size());
  llvm::Expected<Slot> base =
      decoder.address(from, from.operands[first], to.offset);
  if (!base)
    return base.takeError();
  to.slots.push_back(*base);
  for (unsigned i = 0; i != 1u + isCas; ++i)
    if (llvm::Error error = append(decoder, from, from.operands[first + 1 + i],
                                   atomic->count, false, to))
      return error;
  if (hasPolicy)
    if (llvm::Error error =
            decoder.value(from, from.operands.back(), Type::B64).takeError())
      return error;
  to.space = atomic->space;
  to.execute = to.type == Type::B128 ? &runWideAtomic : &runAtomic;
  to.details = std::move(atomic);
  return pieces.finish(decoder);
}

} // namespace

void addAtomics(InstructionSet &set) {
  set.add("atom", &decodeAtomic);
  set.add("red", &decodeAtomic);
}

} // namespace tilec::emulator

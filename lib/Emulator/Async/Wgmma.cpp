//===- Wgmma.cpp - Products of matrices by warpgroups ---------------------===//

#include "lib/Emulator/Async/Wgmma.h"
#include "lib/Emulator/Arithmetic/TensorCore.h"
#include "lib/Emulator/Async/MemoryBarrier.h"
#include "lib/Emulator/Async/Operands.h"
#include <cstring>

namespace tilec::emulator {

namespace {

constexpr unsigned rowsOfWarp = 16;

struct WgmmaDetails : Details {
  unsigned n = 0, k = 0;
  ptx::Type d = ptx::Type::None, a = ptx::Type::None, b = ptx::Type::None;
  llvm::SmallVector<Slot, 128> accumulators;
  llvm::SmallVector<Slot, 4> registersOfA; // Empty: descriptorOfA.
  Slot descriptorOfA = noSlot, descriptorOfB = noSlot;
  Slot scale = noSlot; // Whether D is added to.
  bool isScaleNegated = false;
  bool negatesA = false, negatesB = false;
  bool transposesA = false, transposesB = false;
  bool saturates = false;

  /// Tells layouts of accumulators apart.
  unsigned shape() const { return n * 4 + (d == ptx::Type::F16); }
};

//===----------------------------------------------------------------------===//
// Operands in shared memory
//===----------------------------------------------------------------------===//

/// Units of 16 bytes of shared memory that were read, to be told as few ranges.
class UnitSet {
public:
  void add(uint32_t address) {
    uint32_t unit = address / 16;
    words[unit / 64] |= uint64_t(1) << unit % 64;
  }
  /// Calls `range(offset, bytes)` for runs of units.
  template <typename Visit> void forEachRange(Visit range) const {
    uint32_t begin = 0, end = 0; // In units.
    for (uint32_t i = 0; i < words.size(); ++i)
      for (uint64_t word = words[i]; word; word &= word - 1) {
        uint32_t unit = i * 64 + uint32_t(llvm::countr_zero(word));
        if (unit != end) {
          if (begin != end)
            range(begin * 16, (end - begin) * 16);
          begin = unit;
        }
        end = unit + 1;
      }
    if (begin != end)
      range(begin * 16, (end - begin) * 16);
  }

private:
  std::array<uint64_t, (1 << 18) / 16 / 64> words = {};
};

/// Calls `unit(bytes, outer, k)` for the units of a matrix, and notes them.
/// False, reported, if some are not in the block's shared memory.
template <typename Visit>
bool readUnits(Warp &warp, const Instruction &at, LaneMask lanes,
               const MatrixDescriptor &descriptor, const MatrixShape &shape,
               UnitSet &units, Visit unit) {
  const std::vector<char> &shared = warp.block.shared;
  bool isInside = true;
  uint32_t outside = 0;
  forEachUnit(descriptor, shape,
              [&](uint32_t address, unsigned outer, unsigned k) {
                if (address < sharedOrigin ||
                    address + 16 > sharedOrigin + shared.size()) {
                  outside = address;
                  isInside = false;
                  return;
                }
                units.add(address);
                unit(&shared[address - sharedOrigin], outer, k);
              });
  if (!isInside)
    warp.report(ReportKind::OutOfBounds, firstLane(lanes), at,
                "a wgmma reads shared memory at " + std::to_string(outside) +
                    ", but the block's is from " +
                    std::to_string(sharedOrigin) + " to " +
                    std::to_string(sharedOrigin + shared.size()),
                "the matrix descriptor's address and offsets are in units of "
                "16 bytes");
  return isInside;
}

bool readMatrix(Warp &warp, const Instruction &at, LaneMask lanes,
                uint64_t descriptor, const MatrixShape &shape, bool negates,
                UnitSet &units, TensorOperand &to) {
  unsigned perWord = 32 / ptx::bitsOf(shape.type);
  to.reset(shape.type, shape.outer, shape.k);
  return readUnits(warp, at, lanes, MatrixDescriptor::decode(descriptor), shape,
                   units, [&](const char *bytes, unsigned outer, unsigned k) {
                     uint32_t words[4];
                     std::memcpy(words, bytes, sizeof(words));
                     for (unsigned i = 0; i < 4; ++i)
                       to.setWord(outer + (shape.isMNMajor ? i * perWord : 0),
                                  k + (shape.isMNMajor ? 0 : i * perWord),
                                  words[i], negates,
                                  /*isAcross=*/shape.isMNMajor);
                   });
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

void readFragmentA(const Warp &warp, const WgmmaDetails &details,
                   TensorOperand &to) {
  unsigned bits = ptx::bitsOf(details.a);
  unsigned perRegister = 32 / bits;
  to.reset(details.a, rowsOfWarp, details.k);
  for (unsigned r = 0; r < details.registersOfA.size(); ++r) {
    const uint64_t *values = warp.values(details.registersOfA[r]);
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      Element at = elementOfA(rowsOfWarp, bits, lane, r * perRegister);
      to.setWord(at.row, at.column, uint32_t(values[lane]), details.negatesA);
    }
  }
}

/// Calls `visit(register, lane, bits to shift, element of D)`. The accumulators
/// are those of mma.sync, eight columns after eight.
template <typename Visit>
void forEachAccumulator(const WgmmaDetails &details, Visit visit) {
  unsigned perRegister = details.d == ptx::Type::F16 ? 2 : 1;
  for (unsigned r = 0; r < details.accumulators.size(); ++r)
    for (unsigned i = 0; i < perRegister; ++i) {
      unsigned index = r * perRegister + i;
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        Element at = elementOfC(lane, index % 4);
        visit(r, lane, 16 * i, at.row * details.n + at.column + index / 4 * 8);
      }
    }
}

void readAccumulators(const Warp &warp, const WgmmaDetails &details,
                      std::vector<uint32_t> &d) {
  uint32_t mask = details.d == ptx::Type::F16 ? 0xffff : ~0u;
  forEachAccumulator(details, [&](unsigned r, unsigned lane, unsigned shift,
                                  unsigned at) {
    d[at] =
        uint32_t(warp.values(details.accumulators[r])[lane] >> shift) & mask;
  });
}

void writeAccumulators(Warp &warp, const WgmmaDetails &details, LaneMask lanes,
                       llvm::ArrayRef<uint32_t> d) {
  forEachAccumulator(
      details, [&](unsigned r, unsigned lane, unsigned shift, unsigned at) {
        if (!(lanes >> lane & 1))
          return;
        uint64_t &value = warp.row(details.accumulators[r])[lane];
        value = shift == 0 ? d[at] : (value | uint64_t(d[at]) << shift);
      });
}

//===----------------------------------------------------------------------===//
// Products of bits
//===----------------------------------------------------------------------===//

/// Rows of 256 bits each.
using BitRows = std::vector<std::array<uint64_t, 4>>;

bool readBits(Warp &warp, const Instruction &at, LaneMask lanes,
              uint64_t descriptor, unsigned first, unsigned outer,
              UnitSet &units, BitRows &rows) {
  rows.assign(outer, {});
  MatrixShape shape;
  shape.type = ptx::Type::B8; // Units of 16 bytes, whatever is in them.
  shape.firstOuter = first;
  shape.outer = outer;
  shape.k = 32;
  return readUnits(warp, at, lanes, MatrixDescriptor::decode(descriptor), shape,
                   units, [&](const char *bytes, unsigned row, unsigned k) {
                     std::memcpy(&rows[row][k / 8], bytes, 16);
                   });
}

void readBitFragment(const Warp &warp, const WgmmaDetails &details,
                     BitRows &rows) {
  rows.assign(rowsOfWarp, {});
  for (unsigned r = 0; r < details.registersOfA.size(); ++r)
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      // 32 bits of k each, as one element would be.
      Element at = elementOfA(rowsOfWarp, 32, lane, r);
      rows[at.row][at.column / 2] |=
          (warp.values(details.registersOfA[r])[lane] & ~0u)
          << (at.column % 2 * 32);
    }
}

void multiplyBits(const BitRows &a, const BitRows &b, std::vector<uint32_t> &d,
                  bool accumulates) {
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) {
      uint32_t sum = 0;
      for (unsigned word = 0; word < 4; ++word)
        sum += uint32_t(llvm::popcount(a[i][word] & b[j][word]));
      uint32_t &to = d[i * b.size() + j];
      to = accumulates ? to + sum : sum;
    }
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

RegisterWatch &watchOf(Warp &warp) {
  if (!warp.registerWatch)
    warp.registerWatch = std::make_shared<RegisterWatch>(
        warp.block.cluster.launch.program.numRegisters);
  return *warp.registerWatch;
}

/// What all lanes must have the same; reported if they do not.
uint64_t uniform(Warp &warp, const Instruction &at, LaneMask lanes, Slot slot,
                 const char *what) {
  const uint64_t *values = warp.values(slot);
  uint64_t value = values[firstLane(lanes)];
  bool isSame = true;
  forEachLane(lanes, [&](unsigned lane) { isSame &= values[lane] == value; });
  if (!isSame)
    warp.report(ReportKind::BadOperand, firstLane(lanes), at,
                std::string(what) + " differs among the lanes of a warp");
  return value;
}

Outcome runMultiply(Warp &warp, const Instruction &at, LaneMask lanes) {
  const auto &details = at.as<WgmmaDetails>();
  Cluster &cluster = warp.block.cluster;
  bool isShared = details.registersOfA.empty();
  uint64_t a = isShared ? uniform(warp, at, lanes, details.descriptorOfA,
                                  "the descriptor of A")
                        : 0;
  uint64_t b =
      uniform(warp, at, lanes, details.descriptorOfB, "the descriptor of B");
  bool accumulates =
      uniform(warp, at, lanes, details.scale, "scale-d of a wgmma") & 1;
  accumulates ^= details.isScaleNegated;
  takeStep(warp, lanes, {&at, {a, b * 2 + accumulates}});

  RegisterWatch &watch = watchOf(warp);
  watch.issue(warp, at, lanes, details.accumulators, details.registersOfA,
              details.shape(), accumulates);

  // Kept from one to the next, since they are large.
  thread_local TensorOperand operandA, operandB;
  thread_local BitRows bitsA, bitsB;
  thread_local std::vector<uint32_t> d;
  unsigned firstRow = warp.index % warpsOfWarpgroup * rowsOfWarp;
  bool isBits = details.a == ptx::Type::B1;
  UnitSet units;
  bool isRead = true;
  if (isBits) {
    if (isShared)
      isRead &=
          readBits(warp, at, lanes, a, firstRow, rowsOfWarp, units, bitsA);
    else
      readBitFragment(warp, details, bitsA);
    isRead &= readBits(warp, at, lanes, b, 0, details.n, units, bitsB);
  } else {
    if (isShared)
      isRead &= readMatrix(
          warp, at, lanes, a,
          {details.a, firstRow, rowsOfWarp, details.k, details.transposesA},
          details.negatesA, units, operandA);
    else
      readFragmentA(warp, details, operandA);
    isRead &=
        readMatrix(warp, at, lanes, b,
                   {details.b, 0, details.n, details.k, details.transposesB},
                   details.negatesB, units, operandB);
  }

  if (Detector *detector = cluster.detector()) {
    AsyncOperation operation =
        detector->start(warp.thread(firstLane(lanes)), Proxy::Async, at,
                        Completion::WgmmaGroup);
    units.forEachRange([&](uint32_t offset, uint32_t bytes) {
      detector->read(operation, canonicalShared(warp.block.rank, offset),
                     bytes);
    });
    watch.addOperation(operation);
  }
  if (isRead) {
    d.assign(size_t(rowsOfWarp) * details.n, 0);
    if (accumulates)
      readAccumulators(warp, details, d);
    if (isBits)
      multiplyBits(bitsA, bitsB, d, accumulates);
    else
      multiplyAccumulate(operandA, operandB, details.d, d.data(), accumulates,
                         details.saturates,
                         sumModel(details.a, /*isWarpgroup=*/true));
    writeAccumulators(warp, details, lanes, d);
  }
  if (warp.index % warpsOfWarpgroup == 0) {
    ++cluster.counters.wgmmaOperations;
    cluster.counters.wgmmaFlops += 2ull * 64 * details.n * details.k;
  }
  issuedWgmma(warp);
  return Outcome::Next;
}

Outcome runFence(Warp &warp, const Instruction &, LaneMask) {
  watchOf(warp).fence();
  return Outcome::Next;
}

Outcome runCommit(Warp &warp, const Instruction &, LaneMask) {
  watchOf(warp).commit();
  return Outcome::Next;
}

Outcome runWait(Warp &warp, const Instruction &at, LaneMask lanes) {
  RegisterWatch &watch = watchOf(warp);
  uint32_t covered = watch.coveredBy(at.flags);
  bool isNew = covered > watch.numComplete();
  if (isNew && !isIssuedByAll(warp, at, lanes, covered))
    return Outcome::Wait;
  watch.wait(at.flags);
  Detector *detector = warp.block.cluster.detector();
  if (!detector || !isNew)
    return Outcome::Next;
  SyncPoint point;
  completeParts(warp, covered, point);
  forEachLane(lanes, [&](unsigned lane) {
    detector->acquire(warp.thread(lane), point);
  });
  return Outcome::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

bool isEightBitFloat(ptx::Type type) {
  return type == ptx::Type::E4M3 || type == ptx::Type::E5M2;
}
bool isEightBitInteger(ptx::Type type) {
  return type == ptx::Type::S8 || type == ptx::Type::U8;
}

/// "m64n128k16".
bool parseShape(llvm::StringRef piece, WgmmaDetails &details) {
  return piece.consume_front("m64n") && !piece.consumeInteger(10, details.n) &&
         piece.consume_front("k") && !piece.consumeInteger(10, details.k) &&
         piece.empty();
}

/// Whether PTX has the types together, and the shape with them.
bool isValid(const WgmmaDetails &details) {
  ptx::Type a = details.a, b = details.b, d = details.d;
  bool isHalf = a == ptx::Type::F16, isFloat8 = isEightBitFloat(a);
  bool isInteger = isEightBitInteger(a), isBits = a == ptx::Type::B1;
  bool areTypes = a == b || (isFloat8 && isEightBitFloat(b)) ||
                  (isInteger && isEightBitInteger(b));
  bool isFloat =
      isHalf || isFloat8 || a == ptx::Type::BF16 || a == ptx::Type::TF32;
  if (isFloat)
    areTypes &=
        d == ptx::Type::F32 || (d == ptx::Type::F16 && (isHalf || isFloat8));
  else
    areTypes &= (isInteger || isBits) && d == ptx::Type::S32;
  unsigned bits = isBits ? 1 : ptx::bitsOf(a);
  bool isWidth = details.n >= 8 && details.n <= 256 && details.n % 8 == 0;
  if (!isFloat)
    isWidth &= details.n <= 24 || details.n % 16 == 0;
  return areTypes && isWidth && details.k * bits == 256;
}

/// A vector of 32-bit registers, or one.
llvm::Error takeRegisters(Decoder &decoder, const ptx::Instruction &from,
                          const ptx::Operand &operand, bool areResults,
                          size_t count, Instruction &to,
                          llvm::SmallVectorImpl<Slot> &slots) {
  bool isVector = operand.kind == ptx::Operand::Kind::Vector;
  for (const ptx::Operand &element :
       isVector ? llvm::ArrayRef<ptx::Operand>(operand.elements)
                : llvm::ArrayRef<ptx::Operand>(operand)) {
    llvm::Expected<Slot> slot =
        areResults ? decoder.result(from, element)
                   : decoder.value(from, element, ptx::Type::B32);
    if (!slot)
      return slot.takeError();
    if (*slot == noSlot)
      return decoder.malformed(from, "a matrix has all its registers");
    slots.push_back(*slot);
    to.slots.push_back(*slot);
  }
  if (slots.size() != count)
    return decoder.malformed(from, "the shape has " + llvm::Twine(count) +
                                       " registers of a matrix, not " +
                                       llvm::Twine(slots.size()));
  return llvm::Error::success();
}

/// What follows the predicate: signs, and which matrices are MN-major.
llvm::Error takeImmediates(Decoder &decoder, const ptx::Instruction &from,
                           OperandReader &operands, WgmmaDetails &details) {
  if (details.d == ptx::Type::S32)
    return operands.finish();
  auto take = [&](int64_t low, int64_t high, bool &isSet) -> llvm::Error {
    const ptx::Operand *operand = nullptr;
    if (llvm::Error error = operands.take(operand))
      return error;
    llvm::Expected<int64_t> value = decoder.immediate(from, *operand);
    if (!value)
      return value.takeError();
    if (*value != low && *value != high)
      return decoder.malformed(from, "an immediate is neither " +
                                         llvm::Twine(low) + " nor " +
                                         llvm::Twine(high));
    isSet = *value == high;
    return llvm::Error::success();
  };
  if (llvm::Error error = take(1, -1, details.negatesA))
    return error;
  if (llvm::Error error = take(1, -1, details.negatesB))
    return error;
  if (ptx::bitsOf(details.a) == 16) {
    if (details.registersOfA.empty())
      if (llvm::Error error = take(0, 1, details.transposesA))
        return error;
    if (llvm::Error error = take(0, 1, details.transposesB))
      return error;
  }
  return operands.finish();
}

llvm::Error decodeMultiply(Decoder &decoder, Pieces &pieces,
                           const ptx::Instruction &from, Instruction &to) {
  auto details = std::make_shared<WgmmaDetails>();
  if (pieces.take("sp"))
    return decoder.unsupported(from, "sparse matrices are not supported");
  pieces.take("sync");
  pieces.take("aligned");
  if (!parseShape(pieces.takeNext(), *details))
    return decoder.unsupported(from, "no such shape");
  details->saturates = pieces.take("satfinite");
  details->d = pieces.takeType();
  details->a = pieces.takeType();
  details->b = pieces.takeType();
  if (details->a == ptx::Type::B1 &&
      (!pieces.take("and") || !pieces.take("popc")))
    return decoder.unsupported(from, "bits are multiplied with .and.popc only");
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  if (!isValid(*details) ||
      (details->saturates && !isEightBitInteger(details->a)))
    return decoder.unsupported(from, "no such shape of these types");

  to.execute = &runMultiply;
  OperandReader operands(decoder, from, to);
  const ptx::Operand *operand = nullptr;
  if (llvm::Error error = operands.take(operand))
    return error;
  bool isPacked = details->d == ptx::Type::F16;
  if (llvm::Error error =
          takeRegisters(decoder, from, *operand, /*areResults=*/true,
                        isPacked ? details->n / 4 : details->n / 2, to,
                        details->accumulators))
    return error;
  to.numResults = unsigned(details->accumulators.size());
  if (llvm::Error error = operands.take(operand))
    return error;
  if (operand->kind == ptx::Operand::Kind::Vector) {
    if (llvm::Error error =
            takeRegisters(decoder, from, *operand, /*areResults=*/false, 4, to,
                          details->registersOfA))
      return error;
  } else {
    llvm::Expected<Slot> slot = decoder.value(from, *operand, ptx::Type::B64);
    if (!slot)
      return slot.takeError();
    details->descriptorOfA = *slot;
    to.slots.push_back(*slot);
  }
  if (llvm::Error error =
          operands.value(details->descriptorOfB, ptx::Type::B64))
    return error;
  if (llvm::Error error = operands.take(operand))
    return error;
  llvm::Expected<Slot> scale =
      decoder.predicate(from, *operand, details->isScaleNegated);
  if (!scale)
    return scale.takeError();
  details->scale = *scale;
  to.slots.push_back(*scale);
  if (llvm::Error error = takeImmediates(decoder, from, operands, *details))
    return error;
  to.details = std::move(details);
  return llvm::Error::success();
}

llvm::Error decodeWgmma(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  Pieces pieces(from);
  llvm::StringRef operation = pieces.takeNext();
  if (operation == "mma_async")
    return decodeMultiply(decoder, pieces, from, to);
  pieces.take("sync");
  pieces.take("aligned");
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  OperandReader operands(decoder, from, to);
  if (operation == "fence") {
    to.execute = &runFence;
  } else if (operation == "commit_group") {
    to.execute = &runCommit;
  } else if (operation == "wait_group") {
    to.execute = &runWait;
    if (llvm::Error error = operands.number(to.flags))
      return error;
  } else {
    return decoder.unsupported(from, "no such operation of a warpgroup");
  }
  return operands.finish();
}

} // namespace

bool isWgmma(const Instruction &at) { return at.execute == &runMultiply; }

void addWgmma(InstructionSet &set) {
  set.add("wgmma", decodeWgmma);
  set.add("setmaxnreg", decodeRegisterCount);
}

} // namespace tilec::emulator

//===- TensorCopies.cpp - Bulk copies of boxes of tensors -----------------===//
//
// A part is a range of rows of the box. Rows outside of the tensor are filled
// by loads, and count as bytes that were delivered; stores leave them out. A
// box may begin anywhere but in the innermost dimension, where it begins at a
// multiple of 16 bytes, or the hardware traps; and stores may not begin before
// the tensor.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Async/BulkCopies.h"
#include <algorithm>
#include <cstring>

namespace tilec::emulator {

namespace {

struct BoxTransfer final : BulkTransfer {
  TensorMap map;
  std::array<int32_t, maxTensorRank> coordinates = {};
  uint64_t source = 0; // Of a Store, in shared memory.

  uint64_t bytesOf(const BulkPart &part) const override {
    return (part.end - part.begin) * map.rowBytes();
  }
  BoxRow row(uint64_t index) const {
    return boxRow(map, llvm::ArrayRef(coordinates).take_front(map.rank),
                  uint32_t(index));
  }
  /// The bytes of a row inside the tensor; null if they are in no allocation.
  char *globalBytes(const BoxRow &row) const {
    return issuer.warp
        ->find(issuer.lane, ptx::Space::Global, row.address, row.inside)
        .data;
  }
  bool isStore() const { return details().kind == BulkKind::Store; }

  void noteSource(const BulkPart &part,
                  const AsyncOperation &operation) const override {
    isStore() ? noteShared(part, source, operation)
              : noteGlobal(part, operation);
  }
  void noteTarget(const BulkPart &part, uint64_t to,
                  const AsyncOperation &operation) const override {
    isStore() ? noteGlobal(part, operation) : noteShared(part, to, operation);
  }
  void read(const BulkPart &part, std::vector<char> &bytes) const override {
    bytes.resize(bytesOf(part));
    isStore() ? readShared(part, bytes) : readGlobal(part, bytes);
  }
  void write(const BulkPart &part, llvm::ArrayRef<char> bytes,
             uint64_t to) const override {
    isStore() ? writeGlobal(part, bytes) : writeShared(part, bytes, to);
  }

  /// Whether nothing of a part is outside of the tensor.
  bool isInside(const BulkPart &part) const;
  void noteGlobal(const BulkPart &part, const AsyncOperation &operation) const;
  void noteShared(const BulkPart &part, uint64_t at,
                  const AsyncOperation &operation) const;
  void readGlobal(const BulkPart &part, std::vector<char> &bytes) const;
  void writeGlobal(const BulkPart &part, llvm::ArrayRef<char> bytes) const;
  void readShared(const BulkPart &part, std::vector<char> &bytes) const;
  void writeShared(const BulkPart &part, llvm::ArrayRef<char> bytes,
                   uint64_t to) const;
  /// Calls `visit(offset in bytes, address, size)` for the pieces of a part in
  /// shared memory.
  template <typename Visit>
  void forEachPiece(const BulkPart &part, uint64_t base, Visit visit) const;
  /// Whether the rows of a part are in allocations; reported if not.
  bool isAllocated(const BulkPart &part) const;
};

bool BoxTransfer::isAllocated(const BulkPart &part) const {
  for (uint64_t index = part.begin; index < part.end; ++index) {
    BoxRow at = row(index);
    if (at.inside == 0 || globalBytes(at))
      continue;
    issuer.report(ReportKind::OutOfBounds,
                  "a tensor map describes memory outside of its allocation",
                  "its dimensions and strides must be those of the tensor");
    return false;
  }
  return true;
}

void BoxTransfer::noteGlobal(const BulkPart &part,
                             const AsyncOperation &operation) const {
  Detector &detector = *cluster().detector();
  for (uint64_t index = part.begin; index < part.end; ++index) {
    BoxRow at = row(index);
    if (at.inside == 0 || !globalBytes(at))
      continue;
    if (!isStore())
      detector.read(operation, at.address, at.inside);
    else if (details().reduction)
      detector.reduce(operation, at.address, at.inside);
    else
      detector.write(operation, at.address, at.inside);
  }
}

bool BoxTransfer::isInside(const BulkPart &part) const {
  for (uint64_t index = part.begin; index < part.end; ++index)
    if (row(index).inside != map.rowBytes())
      return false;
  return true;
}

void BoxTransfer::noteShared(const BulkPart &part, uint64_t at,
                             const AsyncOperation &operation) const {
  Detector &detector = *cluster().detector();
  auto note = [&](uint64_t address, uint64_t size) {
    isStore() ? detector.read(operation, address, size)
              : detector.write(operation, address, size);
  };
  uint64_t row = map.rowBytes(), pitch = map.pitchBytes();
  if (isStore() && !isInside(part)) {
    // What is outside of the tensor goes nowhere, so it may be anything.
    for (uint64_t index = part.begin; index < part.end; ++index) {
      BoxRow box = this->row(index);
      uint64_t first = index * pitch + box.skipped, last = first + box.inside;
      for (uint64_t piece = first; piece < last;
           piece = std::min(last, piece / 16 * 16 + 16)) {
        uint64_t end = std::min(last, piece / 16 * 16 + 16);
        uint64_t begin = piece % 16;
        note(swizzled(at + piece - begin, map.swizzle) + begin, end - piece);
      }
    }
    return;
  }
  if (row == pitch)
    return forEachSharedPiece(at, part.begin * row, part.end * row, map.swizzle,
                              note);
  for (uint64_t index = part.begin; index < part.end; ++index)
    forEachSharedPiece(at, index * pitch, index * pitch + row, map.swizzle,
                       note);
}

void BoxTransfer::readGlobal(const BulkPart &part,
                             std::vector<char> &bytes) const {
  uint64_t fill = map.fillBits();
  unsigned elementBytes = map.elementBytes();
  for (uint64_t at = 0; fill != 0 && at < bytes.size(); at += elementBytes)
    std::memcpy(&bytes[at], &fill, elementBytes);
  for (uint64_t index = part.begin; index < part.end; ++index) {
    BoxRow from = row(index);
    const char *data = from.inside == 0 ? nullptr : globalBytes(from);
    if (data)
      std::memcpy(&bytes[(index - part.begin) * map.rowBytes() + from.skipped],
                  data, from.inside);
  }
}

void BoxTransfer::writeGlobal(const BulkPart &part,
                              llvm::ArrayRef<char> bytes) const {
  const BulkDetails &how = details();
  for (uint64_t index = part.begin; index < part.end; ++index) {
    BoxRow to = row(index);
    char *data = to.inside == 0 ? nullptr : globalBytes(to);
    if (!data)
      continue;
    const char *from =
        &bytes[(index - part.begin) * map.rowBytes() + to.skipped];
    if (how.reduction)
      reduceElements(*how.reduction, elementType(map.type), data, from,
                     to.inside);
    else
      std::memcpy(data, from, to.inside);
  }
}

template <typename Visit>
void BoxTransfer::forEachPiece(const BulkPart &part, uint64_t base,
                               Visit visit) const {
  uint64_t row = map.rowBytes();
  if (map.swizzle == Swizzle::None)
    return visit(0, base + part.begin * row, (part.end - part.begin) * row);
  for (uint64_t index = part.begin; index < part.end; ++index)
    for (uint64_t at = 0; at < row; at += 16)
      visit((index - part.begin) * row + at,
            swizzled(base + index * map.pitchBytes() + at, map.swizzle), 16);
}

void BoxTransfer::readShared(const BulkPart &part,
                             std::vector<char> &bytes) const {
  forEachPiece(part, source,
               [&](uint64_t offset, uint64_t address, uint64_t size) {
                 std::memcpy(&bytes[offset],
                             sharedBytes(cluster(), address, size), size);
               });
}

void BoxTransfer::writeShared(const BulkPart &part, llvm::ArrayRef<char> bytes,
                              uint64_t to) const {
  forEachPiece(part, to, [&](uint64_t offset, uint64_t address, uint64_t size) {
    std::memcpy(sharedBytes(cluster(), address, size), &bytes[offset], size);
  });
}

/// The map that an operand points to.
std::optional<TensorMap> mapOf(Warp &warp, unsigned lane, const Instruction &at,
                               const AddressOperand &operand, unsigned rank) {
  Place place =
      warp.resolve(lane, ptx::Space::Generic, operand.of(warp, lane),
                   tensorMapBytes, tensorMapAlignment, /*isWrite=*/false, at);
  if (!place.data)
    return std::nullopt;
  llvm::Expected<TensorMap> map =
      decodeTensorMap(llvm::ArrayRef(place.data, tensorMapBytes));
  if (!map) {
    warp.report(ReportKind::BadOperand, lane, at,
                llvm::toString(map.takeError()),
                "pass the address of a tensor map that the host encoded, a "
                "__grid_constant__ parameter for example");
    return std::nullopt;
  }
  if (map->rank != rank) {
    warp.report(ReportKind::BadOperand, lane, at,
                "the tensor map has " + std::to_string(map->rank) +
                    " dimensions, the copy " + std::to_string(rank));
    return std::nullopt;
  }
  return *map;
}

void runTensor(Warp &warp, unsigned lane, const Instruction &at) {
  const auto &details = at.as<BulkDetails>();
  Cluster &cluster = warp.block.cluster;
  bool isStore = details.kind == BulkKind::Store;
  std::optional<TensorMap> map =
      mapOf(warp, lane, at, isStore ? details.to : details.from, details.rank);
  if (!map)
    return;
  auto transfer = std::make_shared<BoxTransfer>();
  transfer->issuer = {&warp, lane, &at};
  transfer->map = *map;
  for (unsigned i = 0; i < details.rank; ++i)
    transfer->coordinates[i] =
        int32_t(warp.values(details.coordinates[i])[lane]);
  // Only whole units of 16 bytes are fetched, wherever the box begins.
  int64_t inner = int64_t(transfer->coordinates[0]) * map->elementBytes();
  if (inner % 16 != 0) {
    warp.report(ReportKind::Misaligned, lane, at,
                "the innermost coordinate of a tensor copy is " +
                    std::to_string(transfer->coordinates[0]) + ", which is " +
                    std::to_string(inner) +
                    " bytes, but must be a multiple of 16 bytes; the hardware "
                    "traps",
                "move the box to a multiple of 16 bytes, and leave out what is "
                "too much");
    return;
  }
  bool isBelow = llvm::any_of(
      llvm::ArrayRef(transfer->coordinates).take_front(details.rank),
      [](int32_t coordinate) { return coordinate < 0; });
  if (isStore && isBelow) {
    warp.report(ReportKind::OutOfBounds, lane, at,
                "a tensor copy to global memory has a negative coordinate; the "
                "hardware traps",
                "only loads may begin before the tensor: move the box");
    return;
  }
  if (details.kind == BulkKind::Prefetch)
    return;
  if (details.reduction &&
      !isReducible(*details.reduction, elementType(map->type))) {
    warp.report(ReportKind::BadOperand, lane, at,
                "elements of the tensor map's type have no such reduction");
    return;
  }

  uint64_t bytes = map->boxBytes();
  uint64_t covered = map->numRows() * map->pitchBytes();
  if (covered > warp.block.shared.size()) {
    warp.report(ReportKind::OutOfBounds, lane, at,
                "the box of a tensor map has " + std::to_string(covered) +
                    " bytes in shared memory, more than the block has");
    return;
  }
  if (!transfer->isAllocated({0, map->numRows()}))
    return;
  auto parts = divide(cluster, map->numRows(), 1);
  if (!isStore) {
    auto targets = targetsOf(warp, lane, at, covered, 128);
    cluster.counters.bulkLoadBytes += bytes;
    startLoad(transfer, parts, targets);
    return;
  }
  Place source =
      warp.resolve(lane, ptx::Space::Shared, details.from.of(warp, lane),
                   unsigned(covered), 128, /*isWrite=*/false, at);
  if (!source.data)
    return;
  transfer->source = source.address;
  cluster.counters.bulkStoreBytes += bytes;
  startStore(transfer, parts);
}

} // namespace

Outcome runBulkTensor(Warp &warp, const Instruction &at, LaneMask lanes) {
  forEachLane(lanes, [&](unsigned lane) { runTensor(warp, lane, at); });
  return Outcome::Next;
}

} // namespace tilec::emulator

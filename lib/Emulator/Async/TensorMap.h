//===- TensorMap.h - What tensor copies copy --------------------*- C++ -*-===//
//
// A tensor map describes a tensor in global memory and the *box* that one
// instruction copies: cp.async.bulk.tensor has only coordinates and an address
// of shared memory, everything else is in the map. The host encodes it, through
// cuTensorMapEncodeTiled, into 128 bytes that only the hardware reads; here the
// emulator's encoder takes the same arguments, in the driver's numbers, checks
// what the driver checks, and writes 128 bytes of its own.
//
//   dims, strides   of the tensor, dimension 0 first; dimension 0 is dense, so
//                   strides begin with that of dimension 1, in bytes
//   box             elements that one instruction spans in each dimension
//   element strides of what the box spans, one of so many is copied; not in
//                   dimension 0
//   swizzle         how shared memory has the box, see below
//   fill            what a load gives for elements outside of the tensor; a
//                   store leaves them out
//
// A box is walked *row* by row: a row is the part along dimension 0, and the
// dense order of the rows, dimension 1 first, is their order in shared memory.
// There they follow each other without gaps; but with a swizzle each begins a
// span, so that a box narrower than that leaves gaps.
//
// *Swizzle.* Pieces of 16 bytes are permuted within a span of 32, 64 or 128
// bytes so that a column of them lies in different banks: bits 4 to 6 of an
// address (fewer for narrower spans) are exclusive-ored with bits 7 to 9. They
// are bits of the address in shared memory, not of the place in the box, so a
// buffer that is not aligned to 8 spans has another phase.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_ASYNC_TENSORMAP_H
#define TILEC_EMULATOR_ASYNC_TENSORMAP_H

#include "lib/Emulator/PTX/Module.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>

namespace tilec::emulator {

/// Numbered as CUtensorMapDataType. The types after these, which flush or round
/// while they are copied, and those of 4 and 6 bits are not supported.
enum class TensorMapType : uint8_t {
  UInt8,
  UInt16,
  UInt32,
  Int32,
  UInt64,
  Int64,
  Float16,
  Float32,
  Float64,
  BFloat16,
};

/// Numbered as CUtensorMapSwizzle.
enum class Swizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };

/// Bytes of the span within which pieces of 16 bytes move; 16 for None.
constexpr unsigned spanOf(Swizzle swizzle) { return 16u << unsigned(swizzle); }

/// Where the byte of an address is with a swizzle. Its own inverse.
constexpr uint64_t swizzled(uint64_t address, Swizzle swizzle) {
  return address ^ ((address >> 3) & (spanOf(swizzle) - 16));
}

constexpr unsigned maxTensorRank = 5;

struct TensorMap {
  TensorMapType type = TensorMapType::UInt8;
  unsigned rank = 1;
  uint64_t address = 0;
  std::array<uint64_t, maxTensorRank> dims = {1, 1, 1, 1, 1};
  /// In bytes; that of dimension 0 is the size of an element.
  std::array<uint64_t, maxTensorRank> strides = {};
  std::array<uint32_t, maxTensorRank> box = {1, 1, 1, 1, 1};
  std::array<uint32_t, maxTensorRank> elementStrides = {1, 1, 1, 1, 1};
  Swizzle swizzle = Swizzle::None;
  bool fillsNaN = false;

  unsigned elementBytes() const;
  /// Elements that are copied along a dimension.
  uint32_t copied(unsigned dimension) const;
  uint32_t rowBytes() const { return copied(0) * elementBytes(); }
  uint64_t numRows() const;
  /// From row to row in shared memory: with a swizzle each has a whole span,
  /// and a narrow box leaves the rest of it alone.
  uint32_t pitchBytes() const {
    return swizzle == Swizzle::None ? rowBytes() : spanOf(swizzle);
  }
  /// What a load writes, and what it tells an mbarrier.
  uint64_t boxBytes() const { return rowBytes() * numRows(); }
  /// The bits of an element outside.
  uint64_t fillBits() const;
};

/// Arguments of cuTensorMapEncodeTiled, in its numbers.
struct TensorMapArguments {
  unsigned dataType = 0;
  unsigned rank = 0;
  uint64_t globalAddress = 0;
  llvm::ArrayRef<uint64_t> globalDim;      // rank
  llvm::ArrayRef<uint64_t> globalStrides;  // rank - 1, bytes
  llvm::ArrayRef<uint32_t> boxDim;         // rank
  llvm::ArrayRef<uint32_t> elementStrides; // rank
  unsigned interleave = 0;
  unsigned swizzle = 0;
  unsigned l2Promotion = 0;
  unsigned oobFill = 0;
};

constexpr size_t tensorMapBytes = 128;
constexpr size_t tensorMapAlignment = 64;
using EncodedTensorMap = std::array<char, tensorMapBytes>;

/// Checks the arguments as the driver does. The error says which of them is
/// wrong and what is asked of it.
llvm::Expected<TensorMap> makeTensorMap(const TensorMapArguments &arguments);
EncodedTensorMap encode(const TensorMap &map);
/// Both at once: the driver's function.
llvm::Expected<EncodedTensorMap>
encodeTensorMap(const TensorMapArguments &arguments);
/// The error says that the bytes are no tensor map.
llvm::Expected<TensorMap> decodeTensorMap(llvm::ArrayRef<char> bytes);

/// The type in which reductions of such elements are made.
ptx::Type elementType(TensorMapType type);

/// A row of a box at some coordinates.
struct BoxRow {
  uint64_t position = 0; // Of its first byte in the box, without swizzle.
  uint64_t address = 0;  // Of its first byte inside the tensor.
  uint32_t skipped = 0;  // Bytes before that, outside of the tensor.
  uint32_t inside = 0;   // Bytes inside; 0 if there are none.
};

/// Row `index` of the box at `coordinates`, of which there are `rank`.
BoxRow boxRow(const TensorMap &map, llvm::ArrayRef<int32_t> coordinates,
              uint32_t index);

/// Calls `piece(offset, bytes)` for the pieces of shared memory in which bytes
/// [begin, end) of a box at offset `base` lie, as few as the swizzle allows.
/// Offsets are addresses in shared memory; `begin` and `end` are multiples of
/// 16. Not in the order of the box.
void forEachSharedPiece(uint64_t base, uint64_t begin, uint64_t end,
                        Swizzle swizzle,
                        llvm::function_ref<void(uint64_t, uint64_t)> piece);

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_ASYNC_TENSORMAP_H

//===- SharedLayout.cpp - Tiles in shared memory ---------------*- C++ -*-===//

#include "lib/Layout/SharedLayout.h"

#include "lib/Layout/F2.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tilec::layout {

static constexpr unsigned numBanks = 32;
static constexpr unsigned bankBytes = 4;

//===--- SharedLayout ----------------------------------------------------===//

SharedLayout::SharedLayout(llvm::ArrayRef<int64_t> shape, unsigned elementBytes,
                           llvm::ArrayRef<uint64_t> bases)
    : extents(shape), bytesPerElement(elementBytes), offsets(bases) {
  assert(llvm::isPowerOf2_32(elementBytes) && "elements of 1, 2, 4, ... bytes");
  assert(
      llvm::all_of(bases,
                   [&](uint64_t basis) { return basis % elementBytes == 0; }) &&
      "elements are aligned");
}

uint64_t SharedLayout::offset(llvm::ArrayRef<int64_t> coordinates) const {
  uint64_t element = 0;
  for (auto [extent, coordinate] : llvm::zip_equal(extents, coordinates)) {
    assert(coordinate >= 0 && coordinate < extent && "outside of the tensor");
    element = element * extent + coordinate;
  }
  return offsetFlat(element);
}

uint64_t SharedLayout::offsetFlat(uint64_t element) const {
  return multiply<uint64_t>(offsets, element);
}

uint64_t SharedLayout::sizeBytes() const {
  // The greatest sum: from the highest bit on, add what sets it.
  llvm::SmallVector<uint64_t, 16> rest(offsets);
  uint64_t last = 0;
  for (unsigned bit = 64; bit-- > 0;) {
    auto *pivot =
        llvm::find_if(rest, [&](uint64_t basis) { return basis >> bit & 1; });
    if (pivot == rest.end())
      continue;
    uint64_t row = *pivot;
    rest.erase(pivot);
    for (uint64_t &other : rest)
      if (other >> bit & 1)
        other ^= row;
    if (!(last >> bit & 1))
      last ^= row;
  }
  return last + bytesPerElement;
}

llvm::SmallVector<uint64_t> SharedLayout::compose(const LinearLayout &layout,
                                                  InDim dim) const {
  assert(layout.shape() == shape() && "layouts of different tensors");
  return llvm::map_to_vector(layout.flatBases(dim), [&](uint64_t element) {
    return offsetFlat(element);
  });
}

//===--- SwizzledTile ----------------------------------------------------===//

int64_t SwizzledTile::offset(int64_t row, int64_t col) const {
  int64_t byte = col * elementBytes;
  int64_t chunk = byte / vecBytes ^ (row / perPhase % maxPhase);
  return row * rowBytes() + chunk * vecBytes + byte % vecBytes;
}

SharedLayout SwizzledTile::linear(llvm::ArrayRef<int64_t> shape) const {
  assert((maxPhase == 1 || maxPhase * int64_t(vecBytes) <= rowBytes()) &&
         "more phases than chunks in a row");
  llvm::SmallVector<uint64_t> bases;
  for (int64_t col = 1; col < cols; col *= 2)
    bases.push_back(offset(0, col));
  for (int64_t row = 1; row < rows; row *= 2)
    bases.push_back(offset(row, 0));
  SharedLayout layout(shape, elementBytes, bases);
  assert(layout.shape().size() >= 1 && shape.back() == cols &&
         "rows may be split, columns not");
  return layout;
}

SwizzledTile SwizzledTile::optimal(int64_t rows, int64_t cols,
                                   unsigned elementBytes) {
  SwizzledTile tile{rows, cols, elementBytes};
  int64_t allBanks = int64_t(numBanks) * bankBytes;
  if (tile.rowBytes() <= tile.vecBytes)
    return tile; // eight rows are 128 bytes or less
  tile.perPhase = std::max<int64_t>(1, allBanks / tile.rowBytes());
  tile.maxPhase = std::min(allBanks, tile.rowBytes()) / tile.vecBytes;
  return tile;
}

//===--- The hardware's swizzles -----------------------------------------===//

unsigned spanBytes(SwizzleMode mode) {
  return 16u << static_cast<unsigned>(mode);
}

uint64_t swizzleAddress(SwizzleMode mode, uint64_t address) {
  uint64_t mask = spanBytes(mode) - 16;
  return address ^ (address >> 3 & mask);
}

SharedLayout boxedTile(int64_t rows, int64_t cols, unsigned elementBytes,
                       SwizzleMode mode) {
  int64_t rowBytes = cols * elementBytes;
  int64_t span = mode == SwizzleMode::None ? rowBytes : spanBytes(mode);
  assert(rowBytes % span == 0 && "rows of whole spans");
  llvm::SmallVector<uint64_t> bases;
  for (int64_t byte = elementBytes; byte < rowBytes; byte *= 2)
    bases.push_back(byte < span ? byte : byte / span * rows * span);
  for (int64_t row = 1; row < rows; row *= 2)
    bases.push_back(swizzleAddress(mode, row * span));
  return SharedLayout({rows, cols}, elementBytes, bases);
}

//===--- Bank conflicts --------------------------------------------------===//

BankAccess bankAccess(llvm::ArrayRef<uint64_t> addresses,
                      unsigned accessBytes) {
  assert(llvm::isPowerOf2_32(accessBytes) && accessBytes <= 16 &&
         "no such access");
  // Lanes that are served together ask for at most 128 bytes.
  unsigned group = numBanks * bankBytes / std::max(accessBytes, bankBytes);
  BankAccess result;
  for (; !addresses.empty(); addresses = addresses.drop_front(
                                 std::min<size_t>(group, addresses.size()))) {
    std::array<llvm::SmallVector<uint64_t, 4>, numBanks> words;
    for (uint64_t address : addresses.take_front(group))
      for (uint64_t word = address / bankBytes;
           word <= (address + accessBytes - 1) / bankBytes; ++word)
        if (auto &bank = words[word % numBanks];
            !llvm::is_contained(bank, word))
          bank.push_back(word);
    unsigned cycles = 0;
    for (const auto &bank : words)
      cycles = std::max<unsigned>(cycles, bank.size());
    result.wavefronts += cycles;
    result.degree = std::max(result.degree, cycles);
  }
  return result;
}

unsigned vectorBytes(const LinearLayout &layout, const SharedLayout &shared,
                     unsigned maxBytes) {
  unsigned bytes = shared.elementBytes();
  assert(bytes <= maxBytes && "an element is more than an access");
  llvm::SmallVector<uint64_t> registers =
      shared.compose(layout, InDim::Register);
  unsigned bits = 0;
  while (bits < registers.size() && bytes * 2 <= maxBytes &&
         registers[bits] == bytes) {
    ++bits;
    bytes *= 2;
  }
  // Everything else must move by whole vectors.
  uint64_t others = 0;
  for (InDim dim : allInDims)
    for (auto [bit, offset] : llvm::enumerate(shared.compose(layout, dim)))
      if (dim != InDim::Register || bit >= bits)
        others |= offset;
  return others == 0
             ? bytes
             : std::min<uint64_t>(bytes, others & (~others + uint64_t(1)));
}

BankAccess bankAccess(const LinearLayout &layout, const SharedLayout &shared,
                      unsigned accessBytes) {
  llvm::SmallVector<uint64_t> lanes = shared.compose(layout, InDim::Lane);
  llvm::SmallVector<uint64_t> addresses;
  for (unsigned lane = 0; lane < lanesPerWarp; ++lane)
    addresses.push_back(multiply<uint64_t>(lanes, lane));
  return bankAccess(addresses, accessBytes);
}

} // namespace tilec::layout

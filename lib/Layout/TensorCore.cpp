//===- TensorCore.cpp - What the matrix instructions accept ----*- C++ -*-===//

#include "lib/Layout/TensorCore.h"

#include "lib/Layout/F2.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tilec::layout {

static constexpr unsigned wordBytes = 4;
/// A row of a matrix of ldmatrix, and the unit of descriptors.
static constexpr unsigned chunkBytes = 16;

//===--- ldmatrix and stmatrix -------------------------------------------===//

HardwareIndex MatrixAccess::row(unsigned firstWord, unsigned lane) const {
  // Lanes 8 i to 8 i + 7 name the rows of matrix i; those that the instruction
  // ignores repeat them.
  unsigned word = firstWord + lane / 8 % wordsPerInstruction();
  unsigned row = lane % 8;
  if (transposed)
    return {word * elementsPerWord + row % 2, row / 2, 0};
  return {word * elementsPerWord, row * 4, 0};
}

std::optional<MatrixAccess> canLdmatrix(const LinearLayout &layout,
                                        const SharedLayout &shared) {
  unsigned elementBytes = shared.elementBytes();
  if (elementBytes > wordBytes)
    return std::nullopt;
  llvm::SmallVector<uint64_t> registers =
      shared.compose(layout, InDim::Register);
  llvm::SmallVector<uint64_t> lanes = shared.compose(layout, InDim::Lane);
  unsigned inWord = llvm::Log2_32(wordBytes / elementBytes);
  if (registers.size() < inWord)
    return std::nullopt;

  // The offsets that make up a row, from the lowest bit; all else moves by
  // whole rows.
  auto matches = [&](bool transposed) {
    llvm::SmallVector<uint64_t> row, rest;
    if (transposed) {
      row.append(lanes.begin() + 2, lanes.end());
      rest.append(lanes.begin(), lanes.begin() + 2);
      rest.append(registers);
    } else {
      row.append(registers.begin(), registers.begin() + inWord);
      row.append(lanes.begin(), lanes.begin() + 2);
      rest.append(registers.begin() + inWord, registers.end());
      rest.append(lanes.begin() + 2, lanes.end());
    }
    rest.append(shared.compose(layout, InDim::Warp));
    uint64_t expected = elementBytes;
    for (uint64_t offset : row) {
      if (offset != expected)
        return false;
      expected *= 2;
    }
    assert(expected == chunkBytes && "words of 4 bytes in four lanes");
    return llvm::all_of(
        rest, [](uint64_t offset) { return offset % chunkBytes == 0; });
  };
  for (bool transposed : {false, true})
    if ((!transposed || elementBytes == 2) && matches(transposed))
      return MatrixAccess{transposed, 1u << (registers.size() - inWord),
                          1u << inWord};
  return std::nullopt;
}

std::optional<MatrixAccess> canStmatrix(const LinearLayout &layout,
                                        const SharedLayout &shared) {
  if (layout.freeBits(InDim::Lane) != 0)
    return std::nullopt;
  return canLdmatrix(layout, shared);
}

//===--- mma and wgmma in registers --------------------------------------===//

std::optional<MmaTiling> canMma(const LinearLayout &accumulator,
                                const LinearLayout &a, const LinearLayout &b,
                                unsigned elementBits) {
  if (accumulator.rank() != 2 || a.rank() != 2 || b.rank() != 2 ||
      elementBits < 8 || elementBits > 32)
    return std::nullopt;
  int64_t m = accumulator.shape()[0], n = accumulator.shape()[1];
  int64_t k = a.shape()[1];
  unsigned kWidth = 32 / elementBits;
  unsigned instructionK = 8 * kWidth;
  if (a.shape()[0] != m || b.shape()[0] != k || b.shape()[1] != n || m < 16 ||
      n < 8 || k < instructionK)
    return std::nullopt;
  unsigned warps = accumulator.size(InDim::Warp);
  for (unsigned warpsN = 1; warpsN <= warps; warpsN *= 2) {
    unsigned warpsM = warps / warpsN;
    if (accumulator != LinearLayout::mmaAccumulator({m, n}, warpsM, warpsN) ||
        a != LinearLayout::mmaOperandA({m, k}, kWidth, warpsM, warpsN) ||
        b != LinearLayout::mmaOperandB({k, n}, kWidth, warpsM, warpsN))
      continue;
    auto count = [](int64_t extent, unsigned parts, int64_t least) {
      return static_cast<unsigned>(
          std::max(extent / parts / least, int64_t(1)));
    };
    return MmaTiling{warpsM,
                     warpsN,
                     instructionK,
                     count(m, warpsM, 16),
                     count(n, warpsN, 8),
                     static_cast<unsigned>(k / instructionK)};
  }
  return std::nullopt;
}

std::optional<std::pair<unsigned, unsigned>>
wgmmaWarpgroups(const LinearLayout &accumulator) {
  unsigned groups = accumulator.size(InDim::Warp) / 4;
  if (accumulator.rank() != 2 || accumulator.shape()[0] < 64 ||
      accumulator.shape()[1] < 8)
    return std::nullopt;
  for (unsigned groupsN = 1; groupsN <= groups; groupsN *= 2) {
    unsigned groupsM = groups / groupsN;
    if (accumulator ==
        LinearLayout::wgmmaAccumulator(accumulator.shape(), groupsM, groupsN))
      return std::pair(groupsM, groupsN);
  }
  return std::nullopt;
}

//===--- wgmma in shared memory ------------------------------------------===//

uint64_t WgmmaOperand::descriptor(uint64_t address) const {
  auto field = [](uint64_t bytes) { return (bytes & 0x3FFFF) >> 4; };
  uint64_t code = 0;
  switch (mode) {
  case SwizzleMode::None:
    code = 0;
    break;
  case SwizzleMode::Bytes128:
    code = 1;
    break;
  case SwizzleMode::Bytes64:
    code = 2;
    break;
  case SwizzleMode::Bytes32:
    code = 3;
    break;
  }
  return field(address) | field(leadingBytes) << 16 | field(strideBytes) << 32 |
         code << 62;
}

namespace {

/// Reads the offsets of one axis bit by bit, undoing the swizzle.
class AxisOffsets {
public:
  AxisOffsets(llvm::ArrayRef<uint64_t> bases, SwizzleMode mode)
      : bases(bases), mode(mode) {}

  bool atEnd() const { return next == bases.size(); }
  /// Whether the next bits, while their distance is below `end`, move by
  /// begin, 2 begin, ...
  bool takeRange(uint64_t begin, uint64_t end) {
    for (uint64_t distance = begin; distance < end && !atEnd(); distance *= 2)
      if (swizzleAddress(mode, bases[next++]) != distance)
        return false;
    return true;
  }
  /// The next bit's distance and that of the bits up to `endBit` by doubling;
  /// `otherwise` if there is no such bit, nothing if they are not so.
  std::optional<uint64_t> takeStride(unsigned endBit, uint64_t otherwise) {
    if (atEnd() || next >= endBit)
      return otherwise;
    uint64_t stride = swizzleAddress(mode, bases[next]);
    for (uint64_t distance = stride; next < endBit && !atEnd(); distance *= 2)
      if (swizzleAddress(mode, bases[next++]) != distance)
        return std::nullopt;
    return stride;
  }

private:
  llvm::ArrayRef<uint64_t> bases;
  SwizzleMode mode;
  unsigned next = 0;
};

} // namespace

/// The operand if its rows lie along the axis `contiguous`, and successive rows
/// along `other`.
static std::optional<WgmmaOperand>
matchOperand(llvm::ArrayRef<uint64_t> contiguous,
             llvm::ArrayRef<uint64_t> other, SwizzleMode mode, bool mnMajor,
             unsigned elementBytes, unsigned mnPerInstruction) {
  uint64_t span = spanBytes(mode);
  unsigned mnBits = llvm::Log2_32_Ceil(mnPerInstruction);
  unsigned kBits = llvm::Log2_32(32 / elementBytes);
  AxisOffsets along(contiguous, mode), across(other, mode);
  // An atom: rows of one span, eight of them.
  if (!along.takeRange(elementBytes, span) || !across.takeRange(span, 8 * span))
    return std::nullopt;
  std::optional<uint64_t> alongStride =
      along.takeStride(mnMajor ? mnBits : kBits, chunkBytes);
  std::optional<uint64_t> acrossStride =
      across.takeStride(mnMajor ? kBits : mnBits, 8 * span);
  if (!alongStride || !acrossStride)
    return std::nullopt;
  // Distances are added, not XORed: they must be different bits. As an atom
  // takes all bits of the swizzle's phase, the rest then moves whole atoms.
  uint64_t seen = 0;
  for (llvm::ArrayRef<uint64_t> bases : {contiguous, other})
    for (uint64_t basis : bases) {
      uint64_t distance = swizzleAddress(mode, basis);
      if (!llvm::isPowerOf2_64(distance) || (seen & distance))
        return std::nullopt;
      seen |= distance;
    }
  WgmmaOperand operand{mode, mnMajor, *alongStride, *acrossStride};
  // Without a swizzle the two distances of an mn-major operand are exchanged.
  if (mnMajor && mode == SwizzleMode::None)
    std::swap(operand.leadingBytes, operand.strideBytes);
  return operand;
}

std::optional<WgmmaOperand> canWgmma(const SharedLayout &shared,
                                     unsigned mnAxis,
                                     unsigned mnPerInstruction) {
  assert(mnPerInstruction >= 8 && "no instruction is smaller");
  if (shared.shape().size() != 2 || shared.elementBytes() > 4)
    return std::nullopt;
  unsigned elementBytes = shared.elementBytes();
  int64_t extentMN = shared.shape()[mnAxis],
          extentK = shared.shape()[1 - mnAxis];
  if (extentMN < mnPerInstruction || extentK * elementBytes < 32)
    return std::nullopt;
  llvm::ArrayRef<uint64_t> bases = shared.bases();
  unsigned lastBits = llvm::Log2_64(static_cast<uint64_t>(shared.shape()[1]));
  llvm::ArrayRef<uint64_t> last = bases.take_front(lastBits);
  llvm::ArrayRef<uint64_t> first = bases.drop_front(lastBits);
  llvm::ArrayRef<uint64_t> mn = mnAxis == 1 ? last : first;
  llvm::ArrayRef<uint64_t> k = mnAxis == 1 ? first : last;
  for (SwizzleMode mode : {SwizzleMode::Bytes128, SwizzleMode::Bytes64,
                           SwizzleMode::Bytes32, SwizzleMode::None}) {
    if (auto operand = matchOperand(k, mn, mode, /*mnMajor=*/false,
                                    elementBytes, mnPerInstruction))
      return operand;
    if (elementBytes != 2)
      continue;
    if (auto operand = matchOperand(mn, k, mode, /*mnMajor=*/true, elementBytes,
                                    mnPerInstruction))
      return operand;
  }
  return std::nullopt;
}

} // namespace tilec::layout

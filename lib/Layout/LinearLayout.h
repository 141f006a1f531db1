//===- LinearLayout.h - Which thread holds which element -------*- C++ -*-===//
//
// A block of threads holds a tensor in registers. A layout says where: it maps
// a register number, a lane (the thread's place in its warp, 0 to 31) and a
// warp number to the coordinates of the element found there.
//
// Linear maps over F2
// -------------------
// All layouts that GPUs like have one form. Write each number in binary. Every
// bit that is set contributes a fixed coordinate vector, its basis, and the
// contributions are combined by XOR. So a layout is a list of bases for the
// bits of the register number, one for the lane's five bits, and one for the
// warp's. The extents of the tensor are powers of two. This is a linear map
// between vector spaces over F2, the field of the bits, and questions about
// layouts become linear algebra with small matrices of bits (F2.h).
//
// An example: the 16 x 8 result of the tensor-core instruction m16n8k16, four
// registers in each of 32 lanes (coordinates are row, column):
//
//   register bit 0 -> (0,1)    lane bit 0 -> (0,2)    lane bit 3 -> (2,0)
//   register bit 1 -> (8,0)    lane bit 1 -> (0,4)    lane bit 4 -> (4,0)
//                              lane bit 2 -> (1,0)
//
// Register 3 = 0b11 of lane 13 = 0b01101 holds
//   (0,1) ^ (8,0) ^ (0,2) ^ (1,0) ^ (2,0) = (11,3).
// Who holds the first rows (L is the lane, r the register):
//
//   row | col 0     1     2     3     4     5     6     7
//   ----+------------------------------------------------
//    0  |  L0r0  L0r1  L1r0  L1r1  L2r0  L2r1  L3r0  L3r1
//    1  |  L4r0  L4r1  L5r0  L5r1  L6r0  L6r1  L7r0  L7r1
//    .. |
//    8  |  L0r2  L0r3  L1r2  L1r3  L2r2  L2r3  L3r2  L3r3
//
// What is read off the bases:
//   - a row lies in one group of four lanes, those that differ in lane bits 0
//     and 1: its sum is two butterfly steps, XOR 1 and XOR 2, after each thread
//     added its own registers;
//   - registers 0 and 1 are neighbours in a row: two elements a memory access
//     (vectorWidth);
//   - in a 32 x 8 tensor over two warps, warp bit 0 -> (16,0).
//
// Replication
// -----------
// A basis of zero moves nothing: two lanes that differ in such a bit hold the
// same element. So does a basis that is the sum of others. `freeBits` names,
// for each kind of index, bits that can be held at 0 without losing an
// element, such that what is left holds each element once. Who stores a tensor
// to memory stores it where the free bits are 0.
//
// Slices
// ------
// Reducing the example over its columns leaves a vector of 16 elements. Its
// layout is the slice along axis 1: the column is dropped from all bases.
//
//   register bit 0 -> (8)      lane bits 0, 1 -> (0)  lane bits 2, 3, 4 -> 1,
//   2, 4
//
// Register bit 0 of the tensor moved only the column, so the vector has no
// such bit (sliceRegister: bit 0 -> none, bit 1 -> bit 0). Lanes cannot vanish;
// the four that shared a row all hold its sum. Going back, a vector in this
// layout is broadcast to the tensor without moving any data: register r of the
// tensor reads register sliceRegister(r) of the same thread.
//
// Conversions
// -----------
// An operation may want its operand elsewhere than it is. `compose` answers
// where: for an index of one layout, the index at which another holds the same
// element. It depends on what moves how dear that is (Conversion.h):
//
//   nothing                                  the layouts are one
//   registers, each thread among its own     renaming, free
//   registers and lanes, not warps           shuffles
//   warps                                    through shared memory
//
// The accumulator above and the left operand of a 16-bit tensor-core product
// are the prime example: with the accumulator's columns as the operand's k,
//
//   accumulator, 16 columns: register bits -> (0,1) (8,0) (0,8)
//   operand A, k = 16:       register bits -> (0,1) (8,0) (0,8)
//
// they are equal, and so the weights of attention go from the first product to
// the second without leaving their registers.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LAYOUT_LINEARLAYOUT_H
#define TILEC_LAYOUT_LINEARLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilec::layout {

/// The numbers that name a place in the registers of a block of threads.
enum class InDim : uint8_t { Register, Lane, Warp };

/// All of them, for loops.
inline constexpr std::array<InDim, 3> allInDims = {InDim::Register, InDim::Lane,
                                                   InDim::Warp};

inline constexpr unsigned lanesPerWarp = 32;

/// The coordinates, one an axis, that one bit of an index contributes.
using Basis = llvm::SmallVector<int32_t, 4>;

/// A place in the registers of a block of threads.
struct HardwareIndex {
  unsigned reg = 0;
  unsigned lane = 0;
  unsigned warp = 0;

  unsigned &operator[](InDim dim) {
    return dim == InDim::Register ? reg : dim == InDim::Lane ? lane : warp;
  }
  unsigned operator[](InDim dim) const {
    return dim == InDim::Register ? reg : dim == InDim::Lane ? lane : warp;
  }
  friend HardwareIndex operator^(HardwareIndex a, HardwareIndex b) {
    return {a.reg ^ b.reg, a.lane ^ b.lane, a.warp ^ b.warp};
  }
  friend bool operator==(HardwareIndex a, HardwareIndex b) {
    return a.reg == b.reg && a.lane == b.lane && a.warp == b.warp;
  }
};

/// Where a layout holds an element, by coordinates: the other direction of a
/// LinearLayout, and as linear as that.
class InverseLayout {
public:
  /// `bases[i]` is the place of the element whose row-major number is 2^i.
  InverseLayout(llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<HardwareIndex> bases);

  llvm::ArrayRef<int64_t> shape() const { return extents; }
  /// The places of the elements with the row-major numbers 1, 2, 4, ...
  llvm::ArrayRef<HardwareIndex> bases() const { return images; }

  HardwareIndex apply(llvm::ArrayRef<int64_t> coordinates) const;
  /// The same by the element's number in row-major order.
  HardwareIndex applyFlat(uint64_t element) const;

private:
  llvm::SmallVector<int64_t, 4> extents;
  llvm::SmallVector<HardwareIndex, 16> images;
};

/// A linear map from places to places; see LinearLayout::compose.
struct IndexMap {
  /// Per kind of index, the place that each of its bits contributes.
  std::array<llvm::SmallVector<HardwareIndex, 8>, 3> bases;

  HardwareIndex apply(HardwareIndex index) const;
};

class LinearLayout {
public:
  /// The layout of a tensor of the extents `shape` (powers of two; none for a
  /// scalar), one basis of rank coordinates for each bit. There are five lane
  /// bases. `validate` must find nothing.
  LinearLayout(llvm::ArrayRef<int64_t> shape,
               llvm::ArrayRef<Basis> registerBases,
               llvm::ArrayRef<Basis> laneBases,
               llvm::ArrayRef<Basis> warpBases);

  /// What is wrong with these as arguments of the constructor, in a form fit
  /// for a diagnostic; empty if they make a layout.
  static std::string validate(llvm::ArrayRef<int64_t> shape,
                              llvm::ArrayRef<Basis> registerBases,
                              llvm::ArrayRef<Basis> laneBases,
                              llvm::ArrayRef<Basis> warpBases);

  //===--- Constructors of the usual layouts ------------------------------===//

  /// Each thread holds a box of `sizePerThread` neighbours, a warp a grid of
  /// `threadsPerWarp` (32 in all) such boxes, the block a grid of `warpsPerCTA`
  /// of those. order[0] is the axis along which numbers run fastest, in all
  /// three. A larger tensor is covered by repeating the whole, in further
  /// registers; in a smaller one the lanes and warps that would lie outside
  /// hold copies. All sizes are powers of two.
  static LinearLayout blocked(llvm::ArrayRef<int64_t> shape,
                              llvm::ArrayRef<unsigned> sizePerThread,
                              llvm::ArrayRef<unsigned> threadsPerWarp,
                              llvm::ArrayRef<unsigned> warpsPerCTA,
                              llvm::ArrayRef<unsigned> order);

  /// The M x N accumulator of mma m16n8 (32-bit elements; PTX ISA, "Matrix
  /// fragments for mma.m16n8k16": c0 to c3), warpsM x warpsN warps. Each warp
  /// has M / warpsM neighbouring rows and N / warpsN columns; a warp's number
  /// counts along N first. Registers: those of one instruction, then n, then m.
  /// Warps that find no rows or columns left hold copies.
  static LinearLayout mmaAccumulator(llvm::ArrayRef<int64_t> shape,
                                     unsigned warpsM, unsigned warpsN);
  /// The M x K left operand of mma m16n8, for the accumulator of the same
  /// warps. kWidth is the number of elements in 32 bits: 1 for tf32 (k8), 2 for
  /// 16 bits (k16), 4 for 8 bits (k32). Registers: the fragment of one
  /// instruction in the order of the PTX ISA (a0, a1, ...), then k, then m.
  /// Warps that differ along N hold copies.
  static LinearLayout mmaOperandA(llvm::ArrayRef<int64_t> shape,
                                  unsigned kWidth, unsigned warpsM,
                                  unsigned warpsN);
  /// The K x N right operand, likewise: registers b0, b1, ..., then k, then n.
  /// Warps that differ along M hold copies.
  static LinearLayout mmaOperandB(llvm::ArrayRef<int64_t> shape,
                                  unsigned kWidth, unsigned warpsM,
                                  unsigned warpsN);
  /// The M x N accumulator of wgmma (32-bit elements), over warpgroups of four
  /// warps: each has M / warpgroupsM rows and N / warpgroupsN columns, numbered
  /// along N first. Registers: those of one instruction of 64 rows and all of
  /// the warpgroup's columns (d0, d1, ...), then m.
  static LinearLayout wgmmaAccumulator(llvm::ArrayRef<int64_t> shape,
                                       unsigned warpgroupsM,
                                       unsigned warpgroupsN = 1);
  /// The M x K left operand of wgmma in registers; kWidth as for mma.
  /// Registers: those of one instruction, then k, then m.
  static LinearLayout wgmmaOperandA(llvm::ArrayRef<int64_t> shape,
                                    unsigned kWidth, unsigned warpgroupsM,
                                    unsigned warpgroupsN = 1);

  //===--- The map --------------------------------------------------------===//

  llvm::ArrayRef<int64_t> shape() const { return extents; }
  unsigned rank() const { return extents.size(); }
  int64_t numElements() const;

  /// What each bit of an index contributes, lowest bit first.
  llvm::ArrayRef<Basis> bases(InDim dim) const {
    return basesOf[static_cast<unsigned>(dim)];
  }
  /// The same as row-major numbers of elements. As the extents are powers of
  /// two, these bits are the coordinates' bits, the last axis' lowest.
  llvm::SmallVector<uint64_t> flatBases(InDim dim) const;
  unsigned numBits(InDim dim) const { return bases(dim).size(); }
  /// How many registers, lanes or warps there are.
  unsigned size(InDim dim) const { return 1u << numBits(dim); }

  /// The coordinates of the element that register `reg` of the thread holds.
  llvm::SmallVector<int64_t> apply(unsigned reg, unsigned lane,
                                   unsigned warp) const;
  /// The same as the element's number in row-major order.
  uint64_t applyFlat(HardwareIndex index) const;

  //===--- Questions ------------------------------------------------------===//

  /// Whether every element is held somewhere.
  bool isSurjective() const;
  /// Whether no element is held twice.
  bool isInjective() const;
  /// A mask of bits of the index such that the places where all free bits (of
  /// registers, lanes and warps) are 0 hold each element that is held at all
  /// exactly once. Of bits that move the same the first is kept, registers
  /// before lanes before warps.
  unsigned freeBits(InDim dim) const;
  /// The number of neighbours along `axis`, aligned to their number, that every
  /// thread holds in consecutive registers from each multiple of that number
  /// on: what one memory access can move, up to maxBits.
  unsigned vectorWidth(unsigned axis, unsigned elementBits,
                       unsigned maxBits = 128) const;

  //===--- Other layouts from this one ------------------------------------===//

  /// The layout without an axis: of the result of a reduction along it.
  /// Register bits that then move nothing are left out; lanes and warps stay
  /// and hold copies.
  LinearLayout slice(unsigned axis) const;
  /// For each register bit of this layout the bit of slice(axis)'s register
  /// that it becomes, or -1 if it moves nothing but that axis.
  llvm::SmallVector<int> sliceRegisterBits(unsigned axis) const;
  /// For each register of this layout the register of slice(axis) that holds
  /// the same remaining coordinates.
  llvm::SmallVector<unsigned> sliceRegister(unsigned axis) const;
  /// The layout with a further axis of extent 1 before `axis`.
  LinearLayout expandDims(unsigned axis) const;
  /// The layout of `extent` such tensors, numbered along a new first axis, over
  /// `warps` times the warps, each of which has `extent / warps` of them, in
  /// further registers. Warps that find none left hold copies.
  LinearLayout repeat(int64_t extent, unsigned warps) const;
  /// The layout with result axis i being axis perm[i] of this.
  LinearLayout transpose(llvm::ArrayRef<int64_t> perm) const;
  /// The same elements, in row-major order, under other extents.
  LinearLayout reshape(llvm::ArrayRef<int64_t> shape) const;

  //===--- Between layouts ------------------------------------------------===//

  /// Where each element is held, at 0 in all free bits. The layout must be
  /// surjective.
  InverseLayout invert() const;
  /// For each place of this layout, the place at which `other`, given by its
  /// inverse, holds the same element.
  IndexMap compose(const InverseLayout &other) const;

  bool operator==(const LinearLayout &other) const {
    return extents == other.extents && basesOf == other.basesOf;
  }
  bool operator!=(const LinearLayout &other) const { return !(*this == other); }
  // LLVM looks for this name. NOLINTNEXTLINE(readability-identifier-naming)
  friend llvm::hash_code hash_value(const LinearLayout &layout);

  /// One line: `16x8: reg (0,1) (8,0) | lane (0,2) (0,4) ... | warp`.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

private:
  /// The bases of all registers, then lanes, then warps, as flat numbers.
  llvm::SmallVector<uint64_t> allFlatBases() const;

  llvm::SmallVector<int64_t, 4> extents;
  std::array<llvm::SmallVector<Basis, 0>, 3> basesOf;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const LinearLayout &layout);

/// For each register of `to` the register of `from` in which the same thread
/// has the same element; nothing unless all threads agree on it.
std::optional<llvm::SmallVector<unsigned>>
registerPermutation(const LinearLayout &from, const LinearLayout &to);

} // namespace tilec::layout

#endif // TILEC_LAYOUT_LINEARLAYOUT_H

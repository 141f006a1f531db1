//===- LinearLayout.cpp - Which thread holds which element -----*- C++ -*-===//

#include "lib/Layout/LinearLayout.h"

#include "lib/Layout/F2.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec::layout {

static llvm::StringRef nameOf(InDim dim) {
  switch (dim) {
  case InDim::Register:
    return "reg";
  case InDim::Lane:
    return "lane";
  case InDim::Warp:
    return "warp";
  }
  llvm_unreachable("all kinds of index are handled");
}

static void printBasis(llvm::raw_ostream &os, llvm::ArrayRef<int32_t> basis) {
  os << '(';
  llvm::interleave(basis, os, ",");
  os << ')';
}

static uint64_t flatten(llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int32_t> coordinates) {
  uint64_t flat = 0;
  for (auto [extent, coordinate] : llvm::zip_equal(shape, coordinates))
    flat = flat * extent + coordinate;
  return flat;
}

static Basis unflatten(llvm::ArrayRef<int64_t> shape, uint64_t flat) {
  Basis coordinates(shape.size());
  for (unsigned axis = shape.size(); axis-- > 0;) {
    coordinates[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return coordinates;
}

//===--- InverseLayout and IndexMap --------------------------------------===//

InverseLayout::InverseLayout(llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<HardwareIndex> bases)
    : extents(shape), images(bases) {}

HardwareIndex InverseLayout::apply(llvm::ArrayRef<int64_t> coordinates) const {
  uint64_t flat = 0;
  for (auto [extent, coordinate] : llvm::zip_equal(extents, coordinates)) {
    assert(coordinate >= 0 && coordinate < extent && "outside of the tensor");
    flat = flat * extent + coordinate;
  }
  return applyFlat(flat);
}

HardwareIndex InverseLayout::applyFlat(uint64_t element) const {
  return multiply<HardwareIndex>(images, element);
}

HardwareIndex IndexMap::apply(HardwareIndex index) const {
  HardwareIndex result;
  for (InDim dim : allInDims)
    result = result ^ multiply<HardwareIndex>(bases[static_cast<unsigned>(dim)],
                                              index[dim]);
  return result;
}

//===--- Construction ----------------------------------------------------===//

std::string LinearLayout::validate(llvm::ArrayRef<int64_t> shape,
                                   llvm::ArrayRef<Basis> registerBases,
                                   llvm::ArrayRef<Basis> laneBases,
                                   llvm::ArrayRef<Basis> warpBases) {
  std::string text;
  llvm::raw_string_ostream os(text);
  unsigned bits = 0;
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    if (extent < 1 || !llvm::isPowerOf2_64(extent) || extent > (1 << 30)) {
      os << "expected extents that are powers of two up to 2^30, found "
         << extent << " on axis " << axis;
      return text;
    }
    bits += llvm::Log2_64(extent);
  }
  if (bits > 62) {
    os << "expected at most 2^62 elements, found 2^" << bits;
    return text;
  }
  if (laneBases.size() != 5) {
    os << "expected five lane bases (32 lanes), found " << laneBases.size();
    return text;
  }
  if (registerBases.size() > 20) {
    os << "expected at most 20 register bases, found " << registerBases.size();
    return text;
  }
  if (warpBases.size() > 5) {
    os << "expected at most five warp bases (32 warps), found "
       << warpBases.size();
    return text;
  }
  for (auto [dim, bases] :
       {std::pair(InDim::Register, registerBases),
        std::pair(InDim::Lane, laneBases), std::pair(InDim::Warp, warpBases)})
    for (auto [bit, basis] : llvm::enumerate(bases)) {
      if (basis.size() != shape.size()) {
        os << "expected bases of " << shape.size()
           << " coordinates, one an axis, found " << basis.size() << " in "
           << nameOf(dim) << " basis " << bit;
        return text;
      }
      for (auto [coordinate, extent] : llvm::zip_equal(basis, shape))
        if (coordinate < 0 || coordinate >= extent) {
          os << "expected coordinates below the extents, found ";
          printBasis(os, basis);
          os << " as " << nameOf(dim) << " basis " << bit;
          return text;
        }
    }
  return text;
}

LinearLayout::LinearLayout(llvm::ArrayRef<int64_t> shape,
                           llvm::ArrayRef<Basis> registerBases,
                           llvm::ArrayRef<Basis> laneBases,
                           llvm::ArrayRef<Basis> warpBases)
    : extents(shape) {
  assert(validate(shape, registerBases, laneBases, warpBases).empty() &&
         "not a layout; see validate");
  basesOf[0].assign(registerBases.begin(), registerBases.end());
  basesOf[1].assign(laneBases.begin(), laneBases.end());
  basesOf[2].assign(warpBases.begin(), warpBases.end());
}

//===--- The map ---------------------------------------------------------===//

int64_t LinearLayout::numElements() const {
  int64_t product = 1;
  for (int64_t extent : extents)
    product *= extent;
  return product;
}

llvm::SmallVector<uint64_t> LinearLayout::flatBases(InDim dim) const {
  return llvm::map_to_vector(
      bases(dim), [&](const Basis &basis) { return flatten(extents, basis); });
}

llvm::SmallVector<uint64_t> LinearLayout::allFlatBases() const {
  llvm::SmallVector<uint64_t> all;
  for (InDim dim : allInDims)
    llvm::append_range(all, flatBases(dim));
  return all;
}

uint64_t LinearLayout::applyFlat(HardwareIndex index) const {
  uint64_t flat = 0;
  for (InDim dim : allInDims)
    flat ^= multiply<uint64_t>(flatBases(dim), index[dim]);
  return flat;
}

llvm::SmallVector<int64_t> LinearLayout::apply(unsigned reg, unsigned lane,
                                               unsigned warp) const {
  Basis coordinates = unflatten(extents, applyFlat({reg, lane, warp}));
  return llvm::SmallVector<int64_t>(coordinates.begin(), coordinates.end());
}

//===--- Questions -------------------------------------------------------===//

bool LinearLayout::isSurjective() const {
  return Span(allFlatBases()).dimension() ==
         llvm::Log2_64(static_cast<uint64_t>(numElements()));
}

bool LinearLayout::isInjective() const {
  llvm::SmallVector<uint64_t> all = allFlatBases();
  return Span(all).dimension() == all.size();
}

unsigned LinearLayout::freeBits(InDim dim) const {
  Span span;
  for (InDim other : allInDims) {
    unsigned free = 0;
    for (auto [bit, basis] : llvm::enumerate(flatBases(other)))
      if (!span.insert(basis))
        free |= 1u << bit;
    if (other == dim)
      return free;
  }
  llvm_unreachable("all kinds of index are handled");
}

unsigned LinearLayout::vectorWidth(unsigned axis, unsigned elementBits,
                                   unsigned maxBits) const {
  assert(axis < rank() && "no such axis");
  llvm::ArrayRef<Basis> registers = bases(InDim::Register);
  auto movesOnlyBy = [&](const Basis &basis, int64_t distance) {
    for (auto [otherAxis, coordinate] : llvm::enumerate(basis))
      if (coordinate != (otherAxis == axis ? distance : 0))
        return false;
    return true;
  };
  unsigned bits = 0;
  while (bits < registers.size() && (elementBits << (bits + 1)) <= maxBits &&
         movesOnlyBy(registers[bits], int64_t(1) << bits))
    ++bits;
  // Other bases must move by whole vectors.
  for (InDim dim : allInDims)
    for (auto [bit, basis] : llvm::enumerate(bases(dim)))
      if (basis[axis] != 0 && (dim != InDim::Register || bit >= bits))
        bits =
            std::min<unsigned>(bits, llvm::countr_zero<uint32_t>(basis[axis]));
  return 1u << bits;
}

//===--- Other layouts from this one -------------------------------------===//

static bool isZero(llvm::ArrayRef<int32_t> basis) {
  return llvm::all_of(basis,
                      [](int32_t coordinate) { return coordinate == 0; });
}

static Basis without(llvm::ArrayRef<int32_t> basis, unsigned axis) {
  Basis rest(basis);
  rest.erase(rest.begin() + axis);
  return rest;
}

llvm::SmallVector<int> LinearLayout::sliceRegisterBits(unsigned axis) const {
  assert(axis < rank() && "no such axis");
  int next = 0;
  return llvm::map_to_vector(
      bases(InDim::Register), [&](const Basis &basis) -> int {
        return isZero(without(basis, axis)) ? -1 : next++;
      });
}

llvm::SmallVector<unsigned> LinearLayout::sliceRegister(unsigned axis) const {
  llvm::SmallVector<unsigned> images;
  for (int bit : sliceRegisterBits(axis))
    images.push_back(bit < 0 ? 0 : 1u << bit);
  llvm::SmallVector<unsigned> registers;
  for (unsigned reg = 0; reg < size(InDim::Register); ++reg)
    registers.push_back(multiply<unsigned>(images, reg));
  return registers;
}

LinearLayout LinearLayout::slice(unsigned axis) const {
  llvm::SmallVector<int> registerBits = sliceRegisterBits(axis);
  llvm::SmallVector<int64_t, 4> shape(extents);
  shape.erase(shape.begin() + axis);
  std::array<llvm::SmallVector<Basis>, 3> rest;
  for (InDim dim : allInDims)
    for (auto [bit, basis] : llvm::enumerate(bases(dim)))
      if (dim != InDim::Register || registerBits[bit] >= 0)
        rest[static_cast<unsigned>(dim)].push_back(without(basis, axis));
  return LinearLayout(shape, rest[0], rest[1], rest[2]);
}

LinearLayout LinearLayout::expandDims(unsigned axis) const {
  assert(axis <= rank() && "no such place for an axis");
  llvm::SmallVector<int64_t, 4> shape(extents);
  shape.insert(shape.begin() + axis, 1);
  LinearLayout result = *this;
  result.extents = shape;
  for (llvm::SmallVector<Basis, 0> &list : result.basesOf)
    for (Basis &basis : list)
      basis.insert(basis.begin() + axis, 0);
  return result;
}

LinearLayout LinearLayout::repeat(int64_t extent, unsigned warps) const {
  assert(llvm::isPowerOf2_64(extent) && llvm::isPowerOf2_32(warps) &&
         "numbers of tensors and warps are powers of two");
  LinearLayout result = expandDims(0);
  result.extents[0] = extent;
  auto add = [&](InDim dim, int64_t position) {
    Basis basis(result.rank(), 0);
    basis[0] = static_cast<int32_t>(position);
    result.basesOf[static_cast<unsigned>(dim)].push_back(basis);
  };
  int64_t each = std::max<int64_t>(extent / warps, 1);
  for (int64_t position = 1; position < each; position *= 2)
    add(InDim::Register, position);
  for (int64_t position = each; position < each * warps; position *= 2)
    add(InDim::Warp, position < extent ? position : 0);
  return result;
}

LinearLayout LinearLayout::transpose(llvm::ArrayRef<int64_t> perm) const {
  assert(perm.size() == rank() && "one number an axis");
  LinearLayout result = *this;
  for (auto [axis, source] : llvm::enumerate(perm)) {
    assert(llvm::count(perm, source) == 1 && "not a permutation");
    result.extents[axis] = extents[source];
  }
  for (auto [to, from] : llvm::zip_equal(result.basesOf, basesOf))
    for (auto [toBasis, fromBasis] : llvm::zip_equal(to, from))
      for (auto [axis, source] : llvm::enumerate(perm))
        toBasis[axis] = fromBasis[source];
  return result;
}

LinearLayout LinearLayout::reshape(llvm::ArrayRef<int64_t> shape) const {
  LinearLayout result = *this;
  result.extents.assign(shape.begin(), shape.end());
  assert(result.numElements() == numElements() && "other elements");
  for (llvm::SmallVector<Basis, 0> &list : result.basesOf)
    for (Basis &basis : list)
      basis = unflatten(shape, flatten(extents, basis));
  return result;
}

//===--- Between layouts -------------------------------------------------===//

InverseLayout LinearLayout::invert() const {
  assert(isSurjective() && "an element that is held nowhere has no place");
  llvm::SmallVector<HardwareIndex> places;
  for (InDim dim : allInDims)
    for (unsigned bit = 0; bit < numBits(dim); ++bit)
      places.emplace_back()[dim] = 1u << bit;
  Span span(allFlatBases());
  llvm::SmallVector<HardwareIndex> images;
  for (uint64_t element = 1; element < static_cast<uint64_t>(numElements());
       element <<= 1)
    images.push_back(multiply<HardwareIndex>(places, *span.express(element)));
  return InverseLayout(extents, images);
}

IndexMap LinearLayout::compose(const InverseLayout &other) const {
  assert(shape() == other.shape() && "layouts of different tensors");
  IndexMap map;
  for (InDim dim : allInDims)
    for (uint64_t basis : flatBases(dim))
      map.bases[static_cast<unsigned>(dim)].push_back(other.applyFlat(basis));
  return map;
}

llvm::hash_code hash_value(const LinearLayout &layout) {
  llvm::hash_code hash =
      llvm::hash_combine_range(layout.extents.begin(), layout.extents.end());
  for (InDim dim : allInDims) {
    llvm::SmallVector<uint64_t> flat = layout.flatBases(dim);
    hash = llvm::hash_combine(hash, llvm::ArrayRef(flat));
  }
  return hash;
}

void LinearLayout::print(llvm::raw_ostream &os) const {
  if (extents.empty())
    os << "scalar";
  llvm::interleave(extents, os, "x");
  os << ':';
  for (InDim dim : allInDims) {
    os << (dim == InDim::Register ? " " : " | ") << nameOf(dim);
    for (const Basis &basis : bases(dim)) {
      os << ' ';
      printBasis(os, basis);
    }
  }
}

std::string LinearLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const LinearLayout &layout) {
  layout.print(os);
  return os;
}

std::optional<llvm::SmallVector<unsigned>>
registerPermutation(const LinearLayout &from, const LinearLayout &to) {
  assert(from.shape() == to.shape() && "layouts of different tensors");
  if (from.bases(InDim::Lane) != to.bases(InDim::Lane) ||
      from.bases(InDim::Warp) != to.bases(InDim::Warp))
    return std::nullopt;
  Span held(from.flatBases(InDim::Register));
  llvm::SmallVector<unsigned> images;
  for (uint64_t basis : to.flatBases(InDim::Register)) {
    std::optional<uint64_t> source = held.express(basis);
    if (!source)
      return std::nullopt;
    images.push_back(*source);
  }
  llvm::SmallVector<unsigned> sources;
  for (unsigned reg = 0; reg < to.size(InDim::Register); ++reg)
    sources.push_back(multiply<unsigned>(images, reg));
  return sources;
}

} // namespace tilec::layout

//===- TensorView.cpp - A strided view of memory ----------------*- C++ -*-===//
//
// Address arithmetic and element access for views. Offsets are summed in 128
// bits where they are not yet known to fit, and in 64 bits after that.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/TensorView.h"

#include "lib/Runtime/NarrowFloat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

using namespace tilec;

namespace {

constexpr int64_t int64Max = std::numeric_limits<int64_t>::max();
constexpr int64_t int64Min = std::numeric_limits<int64_t>::min();

template <typename T> T load(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <typename T> void store(void *element, T value) {
  std::memcpy(element, &value, sizeof(T));
}

uint64_t loadBits(unsigned bytes, const void *element) {
  switch (bytes) {
  case 1:
    return load<uint8_t>(element);
  case 2:
    return load<uint16_t>(element);
  case 4:
    return load<uint32_t>(element);
  default:
    return load<uint64_t>(element);
  }
}

void storeBits(unsigned bytes, void *element, uint64_t bits) {
  switch (bytes) {
  case 1:
    return store(element, static_cast<uint8_t>(bits));
  case 2:
    return store(element, static_cast<uint16_t>(bits));
  case 4:
    return store(element, static_cast<uint32_t>(bits));
  default:
    return store(element, bits);
  }
}

int64_t truncateSaturating(double value) {
  if (std::isnan(value))
    return 0;
  // 2^63 is the first double that does not fit; -2^63 fits.
  if (value >= 0x1p63)
    return int64Max;
  if (value < -0x1p63)
    return int64Min;
  return static_cast<int64_t>(value);
}

/// A double that rounds to every narrower float exactly as `value` does.
/// Cutting to 53 bits and recording in the last of them whether anything was
/// cut
/// ("rounding to odd") cannot turn into a tie what was none, nor the reverse.
double toDoubleRoundingToOdd(int64_t value) {
  uint64_t magnitude =
      value < 0 ? uint64_t(0) - uint64_t(value) : uint64_t(value);
  unsigned shift = 0;
  uint64_t kept = magnitude;
  while (kept >> 53) {
    kept >>= 1;
    ++shift;
  }
  if (kept << shift != magnitude)
    kept |= 1;
  double result = std::ldexp(static_cast<double>(kept), shift);
  return value < 0 ? -result : result;
}

/// Bytes between neighbors in the last dimension. With fewer than two of them
/// the stride may be anything, so it is not multiplied.
int64_t innerStep(const TensorView &view) {
  if (view.rank() == 0 || view.shape.back() < 2)
    return 0;
  return view.strides.back() * int64_t(byteSize(view.dtype));
}

[[maybe_unused]] bool sameShape(const TensorView &a, const TensorView &b) {
  return llvm::ArrayRef(a.shape) == llvm::ArrayRef(b.shape);
}

void printList(llvm::raw_ostream &os, llvm::ArrayRef<int64_t> values) {
  os << '[';
  llvm::interleaveComma(values, os);
  os << ']';
}

} // namespace

//===----------------------------------------------------------------------===//
// Shapes and addresses
//===----------------------------------------------------------------------===//

std::optional<int64_t>
tilec::checkedNumElements(llvm::ArrayRef<int64_t> shape) {
  int64_t product = 1;
  bool isEmpty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    if (extent == 0)
      isEmpty = true;
    else if (__builtin_mul_overflow(product, extent, &product))
      return std::nullopt;
  }
  return isEmpty ? 0 : product;
}

Extents tilec::rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  Extents strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= std::max<int64_t>(shape[dim], 1);
  }
  return strides;
}

std::optional<ByteExtent> tilec::byteExtent(const TensorView &view) {
  if (view.shape.size() != view.strides.size())
    return std::nullopt;
  if (llvm::any_of(view.shape, [](int64_t extent) { return extent < 0; }))
    return std::nullopt;
  if (view.isEmpty())
    return ByteExtent{0, 0};
  __int128 low = 0, high = 1;
  for (auto [extent, stride] : llvm::zip_equal(view.shape, view.strides)) {
    __int128 reach = static_cast<__int128>(extent - 1) * stride;
    (reach < 0 ? low : high) += reach;
    // Checked each time, so that many huge dimensions cannot overflow 128 bits.
    if (low < int64Min || high > int64Max)
      return std::nullopt;
  }
  low *= byteSize(view.dtype);
  high *= byteSize(view.dtype);
  if (low < int64Min || high > int64Max)
    return std::nullopt;
  return ByteExtent{static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

llvm::Error tilec::verify(const TensorView &view, llvm::StringRef name) {
  auto error = [&](const llvm::Twine &text) {
    return llvm::createStringError("tensor '" + name + "': " + text);
  };
  if (view.shape.size() != view.strides.size())
    return error("expected " + llvm::Twine(view.shape.size()) +
                 " strides, one for each extent, found " +
                 llvm::Twine(view.strides.size()));
  for (auto [dim, extent] : llvm::enumerate(view.shape))
    if (extent < 0)
      return error("expected an extent of 0 or more, found " +
                   llvm::Twine(extent) + " for dimension " + llvm::Twine(dim));
  if (!checkedNumElements(view.shape))
    return error("expected a number of elements that fits 64 bits, found " +
                 toString(view.dtype, view.shape));
  if (view.isEmpty())
    return llvm::Error::success();
  if (!view.data)
    return error("expected the address of " + toString(view) +
                 ", found a null pointer");
  std::optional<ByteExtent> extent = byteExtent(view);
  if (!extent)
    return error("expected offsets that fit 64 bits, found " + toString(view));
  __int128 address = reinterpret_cast<uintptr_t>(view.data);
  if (address + extent->low < 0 ||
      address + extent->high > static_cast<__int128>(UINTPTR_MAX))
    return error("expected memory inside the address space, found " +
                 toString(view) + " at address 0x" +
                 llvm::Twine::utohexstr(static_cast<uint64_t>(address)));
  return llvm::Error::success();
}

std::string tilec::toString(DType dtype, llvm::ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << dtypeName(dtype);
  printList(os, shape);
  return text;
}

std::string tilec::toString(const TensorView &view) {
  std::string text = toString(view.dtype, view.shape);
  if (view.shape.size() == view.strides.size() && view.isContiguous())
    return text;
  llvm::raw_string_ostream os(text);
  os << " strides ";
  printList(os, view.strides);
  return text;
}

TensorView TensorView::contiguous(void *data, DType dtype,
                                  llvm::ArrayRef<int64_t> shape) {
  return {data, dtype, Extents(shape), rowMajorStrides(shape)};
}

int64_t TensorView::numElements() const {
  std::optional<int64_t> count = checkedNumElements(shape);
  assert(count && "the view was not verified");
  return *count;
}

bool TensorView::isContiguous() const {
  if (isEmpty())
    return true;
  int64_t expected = 1;
  for (unsigned dim = rank(); dim-- > 0;) {
    if (shape[dim] == 1)
      continue;
    if (strides[dim] != expected)
      return false;
    // A product that does not fit cannot be anyone's stride.
    if (__builtin_mul_overflow(expected, shape[dim], &expected))
      return false;
  }
  return true;
}

void *TensorView::at(llvm::ArrayRef<int64_t> index) const {
  assert(index.size() == shape.size() && "one index for each dimension");
  int64_t offset = 0;
  for (unsigned dim = 0; dim < rank(); ++dim) {
    assert(index[dim] >= 0 && index[dim] < shape[dim] && "index out of range");
    offset += index[dim] * strides[dim];
  }
  return static_cast<char *>(data) + offset * int64_t(byteSize(dtype));
}

//===----------------------------------------------------------------------===//
// Derived views
//===----------------------------------------------------------------------===//

/// Moves `data` without forming a pointer from an empty view's null.
static void *advance(const TensorView &view, int64_t elements) {
  if (elements == 0)
    return view.data;
  return static_cast<char *>(view.data) +
         elements * int64_t(byteSize(view.dtype));
}

TensorView TensorView::permuted(llvm::ArrayRef<unsigned> order) const {
  assert(order.size() == shape.size() && "one entry for each dimension");
  TensorView result{data, dtype, {}, {}};
  for (unsigned dim : order) {
    result.shape.push_back(shape[dim]);
    result.strides.push_back(strides[dim]);
  }
  return result;
}

TensorView TensorView::transposed() const {
  assert(rank() >= 2 && "nothing to exchange");
  TensorView result = *this;
  std::swap(result.shape[rank() - 1], result.shape[rank() - 2]);
  std::swap(result.strides[rank() - 1], result.strides[rank() - 2]);
  return result;
}

TensorView TensorView::sliced(unsigned dim, int64_t begin, int64_t end,
                              int64_t step) const {
  assert(step != 0 && "a slice needs a direction");
  assert(step > 0 ? begin >= 0 && end <= shape[dim]
                  : begin < shape[dim] && end >= -1);
  int64_t distance = step > 0 ? end - begin : begin - end;
  int64_t stride = step > 0 ? step : -step;
  TensorView result = *this;
  result.shape[dim] = distance <= 0 ? 0 : (distance - 1) / stride + 1;
  // A slice of one position may have a step of any size; its stride is unused.
  result.strides[dim] =
      result.shape[dim] <= 1 ? strides[dim] : strides[dim] * step;
  if (!result.isEmpty())
    result.data = advance(*this, begin * strides[dim]);
  return result;
}

TensorView TensorView::selected(unsigned dim, int64_t index) const {
  assert(index >= 0 && index < shape[dim] && "index out of range");
  TensorView result = *this;
  if (!isEmpty())
    result.data = advance(*this, index * strides[dim]);
  result.shape.erase(result.shape.begin() + dim);
  result.strides.erase(result.strides.begin() + dim);
  return result;
}

TensorView TensorView::broadcast(unsigned dim, int64_t extent) const {
  assert(shape[dim] == 1 && "only one position can be repeated");
  TensorView result = *this;
  result.shape[dim] = extent;
  result.strides[dim] = 0;
  return result;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

double tilec::loadAsDouble(DType dtype, const void *element) {
  switch (dtype) {
  case DType::F64:
    return load<double>(element);
  case DType::F32:
  case DType::TF32:
    return load<float>(element);
  case DType::F16:
  case DType::BF16:
  case DType::F8E4M3:
  case DType::F8E5M2:
    return decodeFloat(dtype, loadBits(byteSize(dtype), element));
  default:
    return static_cast<double>(loadAsInt(dtype, element));
  }
}

int64_t tilec::loadAsInt(DType dtype, const void *element) {
  switch (dtype) {
  case DType::I64:
    return load<int64_t>(element);
  case DType::I32:
    return load<int32_t>(element);
  case DType::I16:
    return load<int16_t>(element);
  case DType::I8:
    return load<int8_t>(element);
  case DType::U8:
    return load<uint8_t>(element);
  case DType::Bool:
    return load<uint8_t>(element) != 0;
  default:
    return truncateSaturating(loadAsDouble(dtype, element));
  }
}

void tilec::storeDouble(DType dtype, void *element, double value) {
  if (isFloat(dtype))
    return storeBits(byteSize(dtype), element, encodeFloat(dtype, value));
  if (dtype == DType::Bool)
    return store<uint8_t>(element, value != 0);
  storeInt(dtype, element, truncateSaturating(value));
}

void tilec::storeInt(DType dtype, void *element, int64_t value) {
  if (dtype == DType::F64)
    return store(element, static_cast<double>(value));
  if (isFloat(dtype))
    return storeDouble(dtype, element, toDoubleRoundingToOdd(value));
  if (dtype == DType::Bool)
    return store<uint8_t>(element, value != 0);
  IntegerRange range = integerRange(dtype);
  storeBits(byteSize(dtype), element,
            static_cast<uint64_t>(std::clamp(value, range.min, range.max)));
}

double TensorView::getDouble(llvm::ArrayRef<int64_t> index) const {
  return loadAsDouble(dtype, at(index));
}

int64_t TensorView::getInt(llvm::ArrayRef<int64_t> index) const {
  return loadAsInt(dtype, at(index));
}

void TensorView::setDouble(llvm::ArrayRef<int64_t> index, double value) const {
  storeDouble(dtype, at(index), value);
}

void TensorView::setInt(llvm::ArrayRef<int64_t> index, int64_t value) const {
  storeInt(dtype, at(index), value);
}

void tilec::forEachElement(const TensorView &view,
                           llvm::function_ref<void(void *, int64_t)> body) {
  if (view.isEmpty())
    return;
  int64_t bytes = byteSize(view.dtype);
  unsigned rank = view.rank();
  int64_t rowLength = rank ? view.shape.back() : 1;
  int64_t rowStep = innerStep(view);
  Extents index(rank, 0);
  char *row = static_cast<char *>(view.data);
  int64_t position = 0;
  while (true) {
    for (int64_t i = 0; i < rowLength; ++i)
      body(row + i * rowStep, position++);
    // Step to the next row like an odometer.
    int dim = static_cast<int>(rank) - 2;
    for (; dim >= 0; --dim) {
      if (++index[dim] < view.shape[dim]) {
        row += view.strides[dim] * bytes;
        break;
      }
      row -= (view.shape[dim] - 1) * view.strides[dim] * bytes;
      index[dim] = 0;
    }
    if (dim < 0)
      return;
  }
}

void tilec::copyElements(const TensorView &target, const TensorView &source) {
  assert(sameShape(target, source) && "shapes differ");
  if (target.isEmpty())
    return;
  unsigned bytes = byteSize(target.dtype);
  bool sameType = target.dtype == source.dtype;
  if (sameType && target.isContiguous() && source.isContiguous()) {
    std::memcpy(target.data, source.data, target.numElements() * bytes);
    return;
  }
  // The target's walk drives; the source's row is found anew when one begins.
  int64_t rowLength = target.rank() ? target.shape.back() : 1;
  int64_t rowStep = innerStep(source);
  Extents index(source.rank(), 0);
  const char *row = nullptr;
  int64_t column = 0;
  forEachElement(target, [&](void *element, int64_t position) {
    if (column == 0) {
      int64_t rest = position / rowLength;
      for (int dim = static_cast<int>(source.rank()) - 2; dim >= 0; --dim) {
        index[dim] = rest % source.shape[dim];
        rest /= source.shape[dim];
      }
      row = static_cast<const char *>(source.at(index));
    }
    const char *from = row + column * rowStep;
    column = column + 1 == rowLength ? 0 : column + 1;
    if (sameType)
      std::memcpy(element, from, bytes);
    else if (isFloat(source.dtype))
      storeDouble(target.dtype, element, loadAsDouble(source.dtype, from));
    else
      storeInt(target.dtype, element, loadAsInt(source.dtype, from));
  });
}

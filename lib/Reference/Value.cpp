//===- Value.cpp - Dense values with named axes -----------------*- C++ -*-===//
//
// See Value.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Reference/Value.h"

using namespace tilec;
using namespace tilec::reference;

static int64_t product(const Shape &shape) {
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  return size;
}

Value::Value(DType dtype, Axes axes, Shape shape)
    : dtype(dtype), axes(std::move(axes)), shape(std::move(shape)) {
  if (isFloat(dtype))
    floats.resize(size());
  else
    ints.resize(size());
}

Value Value::ofDouble(DType dtype, double value) {
  Value result(dtype, {}, {});
  result.floats[0] = value;
  return result;
}

Value Value::ofInt(DType dtype, int64_t value) {
  Value result(dtype, {}, {});
  result.ints[0] = value;
  return result;
}

int64_t Value::size() const { return product(shape); }

int64_t Space::size() const { return product(shape); }

void Space::add(const Value &value) {
  for (auto [axis, extent] : llvm::zip(value.axes, value.shape))
    if (!llvm::is_contained(axes, axis)) {
      axes.push_back(axis);
      shape.push_back(extent);
    }
}

Shape reference::stridesIn(const Value &value, const Space &space) {
  Shape strides(space.axes.size(), 0);
  int64_t stride = 1;
  for (size_t i = value.axes.size(); i-- > 0;) {
    const auto *found = llvm::find(space.axes, value.axes[i]);
    strides[found - space.axes.begin()] = stride;
    stride *= value.shape[i];
  }
  return strides;
}

void reference::forEachPosition(
    const Shape &shape, llvm::ArrayRef<Shape> strides,
    llvm::function_ref<void(int64_t, llvm::ArrayRef<int64_t>)> body) {
  int64_t size = product(shape);
  llvm::SmallVector<int64_t, 4> offsets(strides.size(), 0);
  Shape index(shape.size(), 0);
  for (int64_t position = 0; position < size; ++position) {
    body(position, offsets);
    for (size_t d = shape.size(); d-- > 0;) {
      for (size_t o = 0; o < strides.size(); ++o)
        offsets[o] += strides[o][d];
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
      for (size_t o = 0; o < strides.size(); ++o)
        offsets[o] -= strides[o][d] * shape[d];
    }
  }
}

Value reference::broadcastTo(const Value &value, const Space &space) {
  Value result(value.dtype, space.axes, space.shape);
  forEachPosition(space.shape, stridesIn(value, space),
                  [&](int64_t i, llvm::ArrayRef<int64_t> at) {
                    if (isFloat(value.dtype))
                      result.floats[i] = value.floats[at[0]];
                    else
                      result.ints[i] = value.ints[at[0]];
                  });
  return result;
}

int64_t reference::wrapTo(DType dtype, uint64_t value) {
  switch (dtype) {
  case DType::I32:
    return static_cast<int32_t>(value);
  case DType::I16:
    return static_cast<int16_t>(value);
  case DType::I8:
    return static_cast<int8_t>(value);
  case DType::U8:
    return static_cast<uint8_t>(value);
  default:
    return static_cast<int64_t>(value);
  }
}

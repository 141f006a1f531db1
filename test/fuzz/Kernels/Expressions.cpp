//===- Expressions.cpp - Random expressions ---------------------*- C++ -*-===//
//
// The part of the generator that makes values. Every function gives one whose
// axes exist at the place where it is called.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Kernels/Generator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace tilec;
using namespace tilec::fuzz;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

int64_t Generator::covered(unsigned set) const {
  int64_t count = 1;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (set >> i & 1)
      count *= axis.covered;
  return count;
}

int64_t Generator::padded(unsigned set) const {
  int64_t count = 1;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (set >> i & 1)
      count *= axis.padded;
  return count;
}

std::string Generator::namesOf(unsigned set) const {
  std::vector<std::string> names;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (set >> i & 1)
      names.push_back(axis.name);
  return llvm::join(names, ", ");
}

unsigned Generator::randomSubset(unsigned set) {
  unsigned subset = 0;
  for (size_t i = 0; i < axes.size(); ++i)
    if ((set >> i & 1) && random.chance(50))
      subset |= 1U << i;
  return subset;
}

/// Axes for a value, few enough that a tile of them is kept in registers.
unsigned Generator::randomAxes() {
  constexpr int64_t most = 4096;
  unsigned set = 0;
  std::vector<unsigned> order;
  for (unsigned i = 0; i < axes.size(); ++i)
    if (visible >> i & 1)
      order.push_back(i);
  random.shuffle(order);
  auto wanted = static_cast<size_t>(1 + random.below(3));
  for (unsigned i : order) {
    if (static_cast<size_t>(llvm::popcount(set)) == wanted)
      break;
    if (padded(set | 1U << i) <= most)
      set |= 1U << i;
  }
  return set;
}

bool Generator::fits(const Value &value) const {
  constexpr int64_t mostElements = 8192;
  constexpr double mostBound = 1e9, mostError = 0.02;
  return padded(value.axes) <= mostElements && value.bound <= mostBound &&
         value.error <= mostError * std::max(1.0, value.bound);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

DType Generator::randomDType() {
  return random.pick(
      {DType::F32, DType::F32, DType::F32, DType::BF16, DType::BF16, DType::F16,
       DType::F16, DType::F64, DType::TF32, DType::F8E4M3, DType::F8E5M2,
       DType::I32, DType::I32, DType::I64, DType::I16, DType::I8, DType::U8});
}

/// Few enough elements for an array.
bool Generator::isSmall(llvm::ArrayRef<unsigned> dims) const {
  constexpr double mostElements = 1 << 20;
  double count = 1;
  for (unsigned dim : dims)
    count *= static_cast<double>(test.dims[dim].size);
  return count <= mostElements;
}

size_t Generator::makeInput(std::vector<unsigned> dims, DType dtype,
                            int64_t low, int64_t high) {
  TensorParam &tensor = test.tensors.emplace_back();
  tensor.name = "X" + std::to_string(test.tensors.size());
  tensor.dtype = dtype;
  tensor.layout = randomLayout(random, dims.size(), /*isOutput=*/false);
  tensor.dims = std::move(dims);
  tensor.low = dtype == DType::Bool ? 0 : low;
  tensor.high = dtype == DType::Bool ? 2 : high;
  tensor.special = isFloat(dtype) && allowsSpecial && random.chance(50);
  return test.tensors.size() - 1;
}

Value Generator::loadFrom(size_t tensor, llvm::ArrayRef<std::string> subscripts,
                          unsigned set) {
  const TensorParam &param = test.tensors[tensor];
  size_t count = subscripts.size();
  // Whole axes at the end can be left out.
  while (count > 0 && subscripts[count - 1] == ":" && random.chance(70))
    --count;
  Value value;
  value.text = param.name;
  if (count > 0)
    value.text += "[" + llvm::join(subscripts.take_front(count), ", ") + "]";
  value.dtype = param.dtype;
  value.axes = set;
  value.bound = static_cast<double>(
      std::max(std::abs(param.low), std::abs(param.high - 1)));
  value.special = param.special;
  return value;
}

Value Generator::load(unsigned set, std::optional<DType> dtype) {
  // Pairs of a dimension and what stands for it.
  std::vector<std::pair<unsigned, std::string>> dims;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (set >> i & 1)
      dims.emplace_back(axis.dim, axis.isTile ? axis.name : ":");
  for (const auto &[name, dim] : positions)
    if (dims.size() < 4 && random.chance(60))
      dims.emplace_back(dim, name);
  random.shuffle(dims);
  if (dims.empty()) {
    // A tensor has a dimension at least.
    if (positions.empty())
      return scalar();
    dims.emplace_back(positions[0].second, positions[0].first);
  }
  std::vector<unsigned> shape;
  std::vector<std::string> subscripts;
  for (auto &[dim, text] : dims) {
    shape.push_back(dim);
    subscripts.push_back(text);
  }
  if (!isSmall(shape))
    return scalar();
  for (size_t i = 0; i < test.tensors.size(); ++i)
    if (test.tensors[i].access == TensorParam::Access::In &&
        test.tensors[i].dims == shape &&
        (dtype ? test.tensors[i].dtype == *dtype
               : test.tensors[i].dtype != DType::Bool) &&
        random.chance(40))
      return loadFrom(i, subscripts, set);
  DType type = dtype ? *dtype : randomDType();
  int64_t low = type == DType::U8 ? 0 : -random.below(4);
  size_t input = makeInput(shape, type, low, low + 1 + random.below(5));
  return loadFrom(input, subscripts, set);
}

Value Generator::scalar() {
  auto i = static_cast<size_t>(random.below(3));
  while (test.scalars.size() <= i) {
    ScalarParam &param = test.scalars.emplace_back();
    param.name = "c" + std::to_string(test.scalars.size());
    param.dtype =
        random.pick({DType::F32, DType::I32, DType::I64, DType::BF16});
    param.value = random.below(7) - 3;
  }
  Value value;
  value.text = test.scalars[i].name;
  value.dtype = test.scalars[i].dtype;
  value.bound = 3;
  return value;
}

/// Where the program is: a number that differs from place to place.
Value Generator::position() {
  Value value;
  value.dtype = DType::I64;
  std::vector<unsigned> tiles;
  for (unsigned i = 0; i < axes.size(); ++i)
    if ((visible >> i & 1) && axes[i].isTile)
      tiles.push_back(i);
  if (!tiles.empty() && random.chance(70)) {
    unsigned i = random.pick(tiles);
    value.text = axes[i].name;
    value.axes = 1U << i;
    value.bound = static_cast<double>(test.dims[axes[i].dim].size);
    return value;
  }
  if (!positions.empty()) {
    const auto &[name, dim] = random.pick(positions);
    value.text = name;
    value.bound = static_cast<double>(test.dims[dim].size);
    return value;
  }
  return scalar();
}

/// The same number on every target, of 24 bits.
Value Generator::randomNumber() {
  Value offset = position();
  if (!isInteger(offset.dtype))
    return offset;
  Value value = offset;
  value.text =
      "random(" + std::to_string(random.below(100)) + ", " + offset.text + ")";
  value.dtype = DType::F32;
  value.bound = 1;
  value.unit = 0x1p-24;
  return value;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Value Generator::number() {
  int64_t choice = random.below(10);
  if (choice < 5 && !pool.empty()) {
    const Value &value = random.pick(pool);
    if (value.isNumber())
      return value;
  }
  if (choice == 5)
    return position();
  if (choice == 6)
    return random.chance(75) ? scalar() : randomNumber();
  if (choice == 7) {
    // Not alone: what is known when compiled has no axes.
    Value literal;
    int64_t n = random.below(6);
    literal.text = n == 5 ? "f32(0.5)" : "f32(" + std::to_string(n) + ")";
    literal.bound = n == 5 ? 0.5 : static_cast<double>(n);
    literal.unit = n == 5 ? 0.5 : 1;
    Value value = load(randomAxes());
    return random.chance(50) ? add(value, literal) : multiply(value, literal);
  }
  return load(randomAxes());
}

Value Generator::exactNumber() {
  for (int tries = 0; tries < 8; ++tries) {
    Value value = number();
    if (value.isExact())
      return value;
  }
  return load(randomAxes());
}

Value Generator::condition() {
  for (const Value &value : pool)
    if (!value.isNumber() && random.chance(20))
      return value;
  if (random.chance(15)) {
    Value value = load(randomAxes(), DType::Bool);
    if (value.dtype == DType::Bool)
      return value;
  }
  std::string op = random.pick({"<", "<=", ">", ">=", "==", "!="});
  Value value = random.chance(40) ? compare(op, position(), position())
                                  : compare(op, exactNumber(), exactNumber());
  if (random.chance(15))
    value = invert(value);
  if (random.chance(20))
    value = logical(random.pick({"&&", "||"}), value,
                    compare("<", position(), exactNumber()));
  return value;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Value Generator::elementwise() {
  Value x = number();
  switch (random.below(15)) {
  case 0:
    return negate(x);
  case 1:
    return absolute(x);
  case 2:
  case 3:
    return add(x, number());
  case 4:
    return subtract(x, number());
  case 5:
  case 6:
    return multiply(x, number());
  case 7:
    return divide(x, number());
  case 8:
    return extremum(random.pick({"max", "min", "fmax", "fmin"}), x, number());
  case 9:
    return where(condition(), x, number());
  case 10: {
    Value y = exactNumber();
    if (isFloat(y.dtype))
      return roundHalf(random.pick({"floor", "ceil", "round"}), y);
    Value z = exactNumber();
    return isFloat(z.dtype) ? z : remainder(y, z);
  }
  case 11: {
    DType to = random.chance(10) ? DType::Bool : randomDType();
    Value y = isFloat(to) ? x : exactNumber();
    // Beyond its range f16 has infinities, for the reference alike; a value
    // with an error may be on either side.
    if (to == DType::F16 && y.bound > 30000)
      y = clamp(y, 1024);
    if (to == DType::Bool && !y.isExact())
      return y;
    return cast(y, to);
  }
  case 12:
    return clamp(x, 1 + random.below(40));
  default: {
    Value y = operandOf(x, DType::F32);
    // Functions of large arguments say little.
    if (y.bound > 1000)
      y = clamp(y, 100);
    return function(static_cast<unsigned>(random.below(numFunctions)), y);
  }
  }
}

Value Generator::reduction() {
  Value x = number();
  for (int tries = 0; tries < 10 && x.axes == 0; ++tries)
    x = number();
  if (x.axes == 0)
    return x;
  std::vector<unsigned> candidates;
  for (unsigned i = 0; i < axes.size(); ++i)
    if (x.axes >> i & 1)
      candidates.push_back(i);
  unsigned one = 1U << random.pick(candidates);
  unsigned set = one | randomSubset(x.axes);
  std::string names = namesOf(set), name = namesOf(one);
  int64_t count = covered(set), length = covered(one);
  switch (random.below(12)) {
  case 0:
  case 1:
    return reduce("sum", x, set, names, count);
  case 2:
    return reduce("prod", x, set, names, count);
  case 3:
  case 4:
    return reduce(random.pick({"max", "min", "fmax", "fmin"}), x, set, names,
                  count);
  case 5: {
    Value c = condition();
    unsigned all = c.axes;
    if (all == 0)
      return reduce("sum", x, set, names, count);
    return reduceOther(random.pick({"any", "all"}), c, all, namesOf(all),
                       covered(all));
  }
  case 6:
  case 7:
    if (!x.isExact())
      x = load(x.axes);
    if (!x.isExact() || !(x.axes & one))
      return x;
    // Of a tile too, the position is one in the whole dimension.
    return reduceOther(random.pick({"argmax", "argmin"}), x, one, name,
                       test.dims[axes[llvm::countr_zero(one)].dim].size);
  case 8:
    return reduceOther("cumsum", x, one, name, length);
  case 9:
    return reduceOther("mean", x, set, names, count);
  default: {
    Value y = operandOf(x, DType::F32);
    if (y.bound > 1000)
      y = clamp(y, 100);
    return reduceOther(random.pick({"softmax", "logsumexp"}), y, one, name,
                       length);
  }
  }
}

/// A dot of two tiles read from memory or computed.
Value Generator::product() {
  constexpr int64_t mostProducts = 1 << 20;
  std::vector<unsigned> order;
  for (unsigned i = 0; i < axes.size(); ++i)
    if (visible >> i & 1)
      order.push_back(i);
  if (order.empty())
    return number();
  random.shuffle(order);
  // Loops are over what is contracted.
  if (depth > 0)
    llvm::partition(order, [&](unsigned i) { return !(gridAxes >> i & 1); });
  unsigned contracted = 1U << order[0], batch = 0, left = 0, right = 0;
  for (unsigned i : llvm::ArrayRef(order).drop_front()) {
    if (padded(contracted | batch | left | right | 1U << i) > mostProducts)
      continue;
    int64_t choice = random.below(10);
    if (choice == 0 && llvm::popcount(contracted) < 2)
      contracted |= 1U << i;
    else if (choice == 1)
      batch |= 1U << i;
    else if (left == 0 || (right != 0 && choice < 5))
      left |= 1U << i;
    else if (right == 0 || choice < 8)
      right |= 1U << i;
  }
  if (random.chance(50))
    std::swap(left, right);
  constexpr int64_t mostElements = 8192;
  if (padded(batch | left | right) > mostElements ||
      padded(batch | left | contracted) > mostElements ||
      padded(batch | contracted | right) > mostElements)
    return number();
  // What no tensor core takes is written out, one multiplication at a time.
  constexpr int64_t mostScalarProducts = 1 << 15;
  const bool isPlain =
      batch == 0 && llvm::popcount(contracted) == 1 && left != 0 && right != 0;
  if (!isPlain &&
      padded(contracted | batch | left | right) > mostScalarProducts)
    return number();
  using Types = std::pair<DType, DType>;
  auto [a, b] = random.pick<Types>({{DType::BF16, DType::BF16},
                                    {DType::BF16, DType::BF16},
                                    {DType::F16, DType::F16},
                                    {DType::F16, DType::F16},
                                    {DType::F32, DType::F32},
                                    {DType::F32, DType::F32},
                                    {DType::TF32, DType::TF32},
                                    {DType::F8E4M3, DType::F8E4M3},
                                    {DType::F8E4M3, DType::F8E5M2},
                                    {DType::F8E5M2, DType::F8E5M2},
                                    {DType::I8, DType::I8},
                                    {DType::U8, DType::I8},
                                    {DType::U8, DType::U8},
                                    {DType::F64, DType::F64},
                                    {DType::I32, DType::I32},
                                    {DType::BF16, DType::F32},
                                    {DType::I16, DType::F16}});
  auto operand = [&](unsigned set, DType type) {
    Value value = load(set, type);
    if (random.chance(25)) {
      Value changed =
          random.chance(50) ? add(value, number()) : multiply(value, number());
      if (changed.axes == set && changed.bound < 500 &&
          (isFloat(type) || !isFloat(changed.dtype)) && fits(changed))
        value = cast(changed, type);
    } else if (random.chance(10)) {
      Value c = condition(), other = load(set, type);
      if (((c.axes | other.axes) & ~set) == 0)
        value = where(c, value, other);
    }
    return value;
  };
  Value x = operand(contracted | batch | left, a),
        y = operand(contracted | batch | right, b);
  std::string precision;
  if (x.dtype == DType::F32 && y.dtype == DType::F32) {
    precision = random.pick({"ieee", "tf32", "tf32x3"});
    // Its parts of an infinity are NaN.
    if (x.special || y.special)
      precision = "ieee";
  }
  if ((x.axes & y.axes & contracted) != contracted)
    return x;
  // Other shared axes are batch axes.
  return dot(x, y, contracted, namesOf(contracted), covered(contracted),
             precision);
}

/// A read at computed positions, some of them out of range.
Value Generator::gather() {
  auto dim = static_cast<unsigned>(test.dims.size());
  int64_t size = 1 + random.below(40);
  test.dims.push_back({"V" + std::to_string(dim), size});
  std::string text, extent = test.dims[dim].name;
  unsigned set = 0;
  if (random.chance(50)) {
    unsigned wanted = randomAxes();
    Value index = load(wanted, random.pick({DType::I32, DType::I64}));
    // What was loaded may be a number of another type than asked for.
    if (!isInteger(index.dtype))
      index.text = "i32(" + index.text + ")";
    text = random.chance(50) ? "((" + index.text + " * 3 + 1) % " + extent + ")"
                             : "(" + index.text + ")";
    set = index.axes;
  } else {
    Value index = position();
    if (!isInteger(index.dtype))
      index.text = "i64(" + index.text + ")";
    text = random.chance(50) ? "(" + index.text + " * 5 + 2) % " + extent
                             : "(" + index.text + " - 1)";
    set = index.axes;
  }
  std::vector<unsigned> shape{dim};
  std::vector<std::string> subscripts{text};
  unsigned more = randomAxes() & ~set;
  for (auto [i, axis] : llvm::enumerate(axes))
    if ((more >> i & 1) && padded(set | 1U << i) <= 4096) {
      set |= 1U << i;
      bool front = random.chance(50);
      shape.insert(front ? shape.begin() : shape.end(), axis.dim);
      subscripts.insert(front ? subscripts.begin() : subscripts.end(),
                        axis.isTile ? axis.name : ":");
    }
  if (!isSmall(shape))
    return scalar();
  DType type = randomDType();
  int64_t low = type == DType::U8 ? 0 : -random.below(4);
  size_t input = makeInput(shape, type, low, low + 1 + random.below(5));
  return loadFrom(input, subscripts, set);
}

/// A neighbor, read where there is one.
Value Generator::shifted() {
  std::vector<unsigned> tiles;
  for (unsigned i = 0; i < axes.size(); ++i)
    if ((visible >> i & 1) && axes[i].isTile)
      tiles.push_back(i);
  if (tiles.empty())
    return number();
  const Axis &axis = axes[random.pick(tiles)];
  unsigned set = 1U << (&axis - axes.data());
  std::string extent = test.dims[axis.dim].name;
  std::string shift = std::to_string(1 + random.below(3));
  size_t input = makeInput({axis.dim}, DType::F32, -3, 4);
  Value there, other = load(set);
  Value guard;
  guard.dtype = DType::Bool;
  guard.axes = set;
  switch (random.below(3)) {
  case 0:
    there = loadFrom(input, {axis.name + " + " + shift}, set);
    guard.text = "(" + axis.name + " + " + shift + " < " + extent + ")";
    break;
  case 1:
    there = loadFrom(input, {axis.name + " - " + shift}, set);
    guard.text = "(" + axis.name + " >= " + shift + ")";
    break;
  default:
    return loadFrom(input, {extent + " - 1 - " + axis.name}, set);
  }
  return where(guard, there, other);
}

Value Generator::expression() {
  Value value;
  for (int tries = 0; tries < 20; ++tries) {
    int64_t choice = random.below(20);
    if (choice < 9)
      value = elementwise();
    else if (choice < 13)
      value = reduction();
    else if (choice < 16)
      value = product();
    else if (choice == 16)
      value = gather();
    else if (choice == 17)
      value = shifted();
    else if (choice == 18)
      value = condition();
    else
      value = load(randomAxes());
    if (fits(value))
      return value;
  }
  return load(randomAxes());
}

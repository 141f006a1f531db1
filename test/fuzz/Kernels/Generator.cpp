//===- Generator.cpp - Random kernels ---------------------------*- C++ -*-===//
//
// See Generator.h.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Kernels/Generator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace tilec;
using namespace tilec::fuzz;

Random::Random(uint64_t seed, uint64_t index) {
  std::seed_seq sequence{seed & 0xFFFFFFFF, seed >> 32, index & 0xFFFFFFFF,
                         index >> 32};
  engine.seed(sequence);
}

Case fuzz::generate(uint64_t seed, uint64_t index) {
  Random random(seed, index);
  while (true) {
    Case test;
    test.seed = seed;
    test.index = index;
    if (random.below(8) == 0)
      generateAttention(random, test);
    else
      Generator(random, test).run();
    // There is none if all that it computed was too large to be stored.
    if (llvm::any_of(test.tensors,
                     [](const TensorParam &t) { return t.isOutput(); }))
      return test;
  }
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

int64_t fuzz::randomSize(Random &random, int64_t most) {
  int64_t size = 0;
  switch (random.below(10)) {
  case 0:
    size = random.pick({0, 1, 1, 2});
    break;
  case 1:
  case 2:
    size = random.pick({3, 5, 7, 13, 31, 61, 127, 251});
    break;
  case 3:
  case 4:
  case 5:
    size = random.pick({8, 16, 32, 64, 128}) * (1 + random.below(3)) +
           random.below(3) - 1;
    break;
  case 6:
    size = random.pick({16, 32, 64, 128, 256});
    break;
  default:
    size = 1 + random.below(150);
  }
  return std::min(size, most);
}

int64_t fuzz::randomTile(Random &random) {
  if (random.chance(60))
    return random.pick({8, 16, 16, 32, 32, 64, 64, 128});
  return random.pick({1, 3, 5, 12, 20, 24, 40, 48, 77, 96, 100});
}

Layout fuzz::randomLayout(Random &random, size_t rank, bool isOutput) {
  Layout layout;
  for (unsigned d = 0; d < rank; ++d)
    layout.order.push_back(d);
  if (random.chance(50))
    return layout;
  if (random.chance(40))
    random.shuffle(layout.order);
  layout.innerStride = random.pick({1, 1, 1, 1, 2, 3});
  layout.gap = random.pick({0, 0, 1, 5, 8});
  layout.offset = random.pick({0, 0, 1, 3, 8});
  for (unsigned d = 0; d < rank; ++d) {
    if (random.chance(12))
      layout.reversed |= 1U << d;
    else if (!isOutput && random.chance(6))
      layout.repeated |= 1U << d;
  }
  return layout;
}

void fuzz::addKnobs(Random &random, Case &test, int64_t elements) {
  // What a thread has in registers.
  constexpr int64_t usual = 64, threads = 32;
  int64_t fewest = std::min<int64_t>(
      8, llvm::PowerOf2Ceil(llvm::divideCeil(elements, usual * threads)));
  if (random.chance(50))
    test.schedule.emplace_back(
        "warps", std::max<int64_t>(fewest, random.pick({1, 2, 4, 8})));
  if (random.chance(60))
    test.schedule.emplace_back("stages", 1 + random.below(5));
  if (random.chance(20))
    test.schedule.emplace_back("group", random.pick({1, 2, 3, 8}));
}

//===----------------------------------------------------------------------===//
// Dimensions and grid
//===----------------------------------------------------------------------===//

/// Of the tiles of all axes of a grid, which stores cover.
static constexpr int64_t mostElements = 4096;
static constexpr llvm::StringLiteral dimNames[] = {"M", "N", "K", "P"};
static constexpr llvm::StringLiteral varNames[] = {"m", "n", "k", "p"};

void Generator::makeDims() {
  auto count = static_cast<size_t>(1 + random.below(4));
  for (size_t i = 0; i < count; ++i)
    test.dims.push_back({dimNames[i].str(), randomSize(random, 400)});
  // A long axis, by itself.
  if (random.chance(5))
    test.dims.back().size = 1000 + random.below(9000);
  // Few enough elements for a slow evaluation.
  while (true) {
    double work = 1;
    for (const Dim &dim : test.dims)
      work *= static_cast<double>(std::max<int64_t>(dim.size, 1));
    if (work <= 2e5)
      break;
    auto largest = llvm::max_element(
        test.dims, [](const Dim &a, const Dim &b) { return a.size < b.size; });
    largest->size = largest->size / 2 + 1;
  }
  // Extents that the kernel says, all of them different.
  for (Dim &dim : test.dims) {
    std::string number = std::to_string(dim.size);
    if (random.chance(12) && dim.size > 0 &&
        llvm::none_of(test.dims,
                      [&](const Dim &other) { return other.name == number; }))
      dim.name = number;
  }
}

/// `size`: of the tile, or of the dimension.
unsigned Generator::addAxis(std::string name, unsigned dim, bool isTile,
                            int64_t size) {
  // Longer axes are processed in pieces.
  constexpr int64_t longest = 4096;
  const int64_t extent = test.dims[dim].size;
  axes.push_back({std::move(name), dim, isTile, std::min(size, extent),
                  static_cast<int64_t>(llvm::PowerOf2Ceil(
                      std::clamp<int64_t>(size, 1, longest)))});
  auto index = static_cast<unsigned>(axes.size() - 1);
  visible |= 1U << index;
  return index;
}

/// "tile(M)", with an entry in the schedule, or "tile(M, 24)"; of at most so
/// many positions.
std::string Generator::loopRange(const std::string &name, unsigned dim,
                                 const std::string &extent, int64_t most,
                                 int64_t &tile) {
  do
    tile = randomTile(random);
  while (static_cast<int64_t>(llvm::PowerOf2Ceil(tile)) > most);
  if (!hasTiles) {
    tile = std::max<int64_t>(test.dims[dim].size, 1);
    return "tile(" + extent + ")";
  }
  if (random.chance(20))
    return "tile(" + extent + ", " + std::to_string(tile) + ")";
  test.schedule.emplace_back(name, tile);
  return "tile(" + extent + ")";
}

/// A scalar about as large as the dimension, and at most one larger: what is
/// beyond either end is neither read nor written.
std::string Generator::otherExtent(unsigned dim) {
  const int64_t size = test.dims[dim].size;
  ScalarParam param;
  param.name = "e" + std::to_string(dim);
  param.dtype = DType::I64;
  param.value = random.pick({size, size - 1, size + 1, size / 2, int64_t(-1)});
  extents.push_back(param);
  return param.name;
}

void Generator::makeGrid() {
  std::vector<unsigned> order;
  for (unsigned i = 0; i < test.dims.size(); ++i)
    order.push_back(i);
  random.shuffle(order);
  auto count = static_cast<size_t>(
      1 +
      random.below(std::min<int64_t>(3, static_cast<int64_t>(order.size()))));
  std::vector<std::string> parts;
  for (unsigned dim : llvm::ArrayRef(order).take_front(count)) {
    std::string name = varNames[dim].str(), extent = test.dims[dim].name;
    if (random.chance(10))
      extent = otherExtent(dim);
    constexpr int64_t mostPositions = 12;
    if (test.dims[dim].size <= mostPositions && random.chance(60)) {
      positions.emplace_back(name, dim);
      parts.push_back(name + " in " + extent);
      continue;
    }
    int64_t tile = 0;
    int64_t most = std::max<int64_t>(1, mostElements / padded(gridAxes));
    parts.push_back(name + " in " + loopRange(name, dim, extent, most, tile));
    gridAxes |= 1U << addAxis(name, dim, /*isTile=*/true, tile);
  }
  numGridPositions = positions.size();
  block->push_back({"grid " + llvm::join(parts, ", "), {}});
  for (unsigned dim : order) {
    bool inGrid =
        llvm::is_contained(llvm::ArrayRef(order).take_front(count), dim);
    if (random.chance(inGrid ? 8 : 75))
      addAxis(test.dims[dim].name, dim, /*isTile=*/false, test.dims[dim].size);
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Generator::assign(Value value) {
  largestTile = std::max(largestTile, padded(value.axes));
  std::string name = "v" + std::to_string(numVariables++);
  block->push_back({name + " = " + value.text, {}});
  value.text = name;
  pool.push_back(std::move(value));
}

/// `acc += e`, `acc = max(acc, e)` and the like behind the statements of a
/// loop's body, with the definition in `pool` for what follows the loop.
void Generator::accumulate(unsigned loopAxis, int64_t trips, bool isTile) {
  Value value;
  for (int tries = 0; tries < 10; ++tries) {
    value = isTile && random.chance(60) ? product() : expression();
    if (!value.isNumber())
      value = cast(value, DType::I32);
    if (value.bound > 1000)
      value = clamp(value, 50);
    unsigned along = isTile ? value.axes & 1U << loopAxis : 0;
    if (along)
      value = reduce(random.pick({"sum", "max", "min"}), value, along,
                     namesOf(along), covered(along));
    if (fits(value) && (value.axes & ~visible) == 0)
      break;
  }
  DType type = arithmeticType(value.dtype);
  Value result = value;
  std::string name = "a" + std::to_string(numVariables++), update;
  int64_t start = random.below(5) - 2;
  Value first;
  first.dtype = type;
  first.bound = static_cast<double>(std::abs(start));
  switch (random.below(6)) {
  case 0:
    result = extremum("max", value, first);
    update = name + " = max(" + name + ", " + value.text + ")";
    break;
  case 1: {
    Value c = condition();
    if (c.axes & 1U << loopAxis && isTile)
      c = reduceOther("any", c, 1U << loopAxis, namesOf(1U << loopAxis), 1);
    result = where(c, value, first);
    update =
        name + " = where(" + c.text + ", " + value.text + ", " + name + ")";
    break;
  }
  case 2:
    result = accumulated(value, static_cast<double>(trips) + 1);
    result.bound += 2;
    update = name + " = " + value.text + " - " + name;
    break;
  default:
    result = accumulated(value, static_cast<double>(trips));
    result.bound += 2;
    update = name + " += " + value.text;
  }
  result = rounded(result, type);
  result.text = name;
  // An infinity less an infinity, for one.
  result.special |= value.special;
  Statement statement{update, {}};
  if (random.chance(15))
    statement = {"if " + scalar().text + " >= " + scalar().text, {statement}};
  block->push_back(statement);
  pool.push_back(result);
  std::string shape = namesOf(result.axes);
  pendingDefinitions.push_back(
      name + " = " + (start == 0 ? "zeros " : "full ") + dtypeName(type).str() +
      (shape.empty() ? "" : "[" + shape + "]") +
      (start == 0 ? "" : " " + std::to_string(start)));
}

void Generator::addLoop() {
  std::vector<unsigned> order;
  for (unsigned i = 0; i < test.dims.size(); ++i)
    if (!llvm::StringRef(test.dims[i].name).starts_with("V"))
      order.push_back(i);
  unsigned dim = random.pick(order);
  const int64_t size = test.dims[dim].size;
  std::string name = "j" + std::to_string(numVariables++);
  bool isTile = random.chance(75) || size > 24;
  size_t poolSize = pool.size(), numPositions = positions.size();
  unsigned outside = visible;
  std::vector<Statement> body, *parent = block;
  Statement loop;
  unsigned axis = 0;
  int64_t trips = size;
  std::vector<std::string> outerDefinitions;
  std::swap(outerDefinitions, pendingDefinitions);
  std::string range = test.dims[dim].name;
  if (isTile) {
    int64_t tile = 0;
    range = loopRange(name, dim, test.dims[dim].name, mostElements, tile);
    trips = llvm::divideCeil(size, tile);
    // The number of positions may come from memory; then every subscript is
    // checked.
    if (random.chance(12) && !positions.empty() && hasTiles) {
      size_t lengths =
          makeInput({positions[0].second}, DType::I64, 0, size + 1);
      range = "tile(" + test.tensors[lengths].name + "[" + positions[0].first +
              "]" + ", " + std::to_string(tile) + ")";
      llvm::erase_if(test.schedule,
                     [&](const auto &entry) { return entry.first == name; });
    }
    axis = addAxis(name, dim, /*isTile=*/true, tile);
  } else {
    positions.emplace_back(name, dim);
  }
  loop.text = "for " + name + " in " + range;
  if (random.chance(20)) {
    Value c = compare(random.pick({">=", "<=", "<"}), position(), position());
    loop.text += c.axes == 0 ? " if " + c.text : " if any(" + c.text + ")";
  }
  block = &body;
  ++depth;
  fillBlock(static_cast<int>(random.below(3)));
  size_t behindBody = pool.size();
  for (int64_t i = 1 + random.below(2); i > 0; --i)
    accumulate(axis, trips, isTile);
  --depth;
  block = parent;
  for (const std::string &definition : pendingDefinitions)
    block->push_back({definition, {}});
  std::swap(outerDefinitions, pendingDefinitions);
  loop.body = std::move(body);
  block->push_back(std::move(loop));
  // What the loop defined is gone, but for what it accumulated.
  pool.erase(pool.begin() + static_cast<ptrdiff_t>(poolSize),
             pool.begin() + static_cast<ptrdiff_t>(behindBody));
  positions.resize(numPositions);
  visible = outside;
}

/// A variable gets another value on one side of a branch, or on both.
void Generator::addBranch() {
  if (pool.empty())
    return;
  auto index =
      static_cast<size_t>(random.below(static_cast<int64_t>(pool.size())));
  Value variable = pool[index];
  if (!variable.isNumber() || depth > 0)
    return;
  auto side = [&](std::vector<Statement> &body) {
    Value value = expression();
    if ((value.axes & ~variable.axes) != 0 || !value.isNumber() ||
        (!isFloat(variable.dtype) && !value.isExact()))
      value = scalar();
    value = cast(value, variable.dtype);
    if (variable.dtype == DType::F16 && value.bound > 30000)
      value = cast(scalar(), variable.dtype);
    body.push_back({variable.text + " = " + value.text, {}});
    Value &target = pool[index];
    target.bound = std::max(target.bound, value.bound);
    target.unit = std::min(target.unit, value.unit);
    target.error = std::max(target.error, value.error);
    target.special |= value.special;
  };
  Value c = compare(random.pick({"<", ">=", "=="}), scalar(), scalar());
  if (random.chance(40)) {
    Value tiles = condition();
    c = tiles.axes == 0 ? tiles
                        : reduceOther(random.pick({"any", "all"}), tiles,
                                      tiles.axes, namesOf(tiles.axes), 1);
  }
  Statement branch{"if " + c.text, {}};
  side(branch.body);
  block->push_back(std::move(branch));
}

void Generator::fillBlock(int count) {
  for (int i = 0; i < count; ++i) {
    int64_t choice = random.below(100);
    if (choice < 15 && depth < 2 && numLoops < 3) {
      ++numLoops;
      addLoop();
    } else if (choice < 22) {
      addBranch();
    } else {
      assign(expression());
    }
  }
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

void Generator::addStore() {
  using Access = TensorParam::Access;
  Value value =
      pool.empty() || random.chance(10) ? expression() : random.pick(pool);
  if (padded(value.axes | gridAxes) > 2 * mostElements)
    return;
  bool isAdd = random.chance(20);
  // Pairs of a dimension and its subscript.
  std::vector<std::pair<unsigned, std::string>> dims;
  double programs = 1;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    bool inValue = value.axes >> i & 1, inGrid = gridAxes >> i & 1;
    auto size = static_cast<double>(test.dims[axis.dim].size);
    if (inGrid)
      programs *= size / static_cast<double>(std::max<int64_t>(
                             1, hasTiles ? axis.covered : 1)) +
                  1;
    if (inValue || (inGrid && (!isAdd || random.chance(50))))
      dims.emplace_back(axis.dim, axis.isTile ? axis.name : ":");
  }
  for (size_t i = 0; i < numGridPositions; ++i) {
    const auto &[name, dim] = positions[i];
    programs *= static_cast<double>(test.dims[dim].size);
    if (!isAdd || random.chance(50))
      dims.emplace_back(dim, name);
  }
  if (dims.empty()) {
    isAdd = false;
    for (size_t i = 0; i < numGridPositions; ++i)
      dims.emplace_back(positions[i].second, positions[i].first);
    for (auto [i, axis] : llvm::enumerate(axes))
      if (gridAxes >> i & 1)
        dims.emplace_back(axis.dim, axis.name);
  }
  // Some positions of a scatter are out of range, and many are the same.
  if (isAdd && random.chance(40))
    for (auto &[dim, text] : dims) {
      auto axis = llvm::find_if(axes, [&, &text = text](const Axis &axis) {
        return axis.isTile && axis.name == text;
      });
      if (axis == axes.end())
        continue;
      programs *= static_cast<double>(axis->covered);
      dim = static_cast<unsigned>(test.dims.size());
      std::string extent = "V" + std::to_string(dim);
      test.dims.push_back({extent, 1 + random.below(40)});
      text = random.chance(50) ? "(" + text + " * 5 + 2) % " + extent
                               : text + " - 1";
      break;
    }
  random.shuffle(dims);
  if (!isSmall(llvm::to_vector(llvm::make_first_range(dims))))
    return;

  TensorParam output;
  output.name = "Y" + std::to_string(test.tensors.size());
  std::vector<std::string> subscripts;
  for (const auto &[dim, text] : dims) {
    output.dims.push_back(dim);
    subscripts.push_back(text);
  }
  std::string target = output.name + "[" + llvm::join(subscripts, ", ") + "]";
  output.layout = randomLayout(random, dims.size(), /*isOutput=*/true);
  if (isAdd) {
    output.access = Access::Add;
    if (!value.isNumber())
      value = cast(value, DType::I32);
    output.dtype = random.pick({DType::F32, DType::F16, DType::BF16});
    if (!isFloat(value.dtype) && random.chance(60))
      output.dtype = DType::I32;
    if (output.dtype != DType::F32 && isFloat(output.dtype) &&
        value.bound > 100)
      value = clamp(value, 8);
    value = operandOf(value, output.dtype);
    if (output.dtype == DType::I32)
      value = cast(value, DType::I32);
    Value total = accumulated(value, programs);
    total.bound += 4;
    output.low = -2;
    output.high = 3;
    // In a narrow type each addition rounds.
    double significand =
        2 /
        floatFormat(isFloat(output.dtype) ? output.dtype : DType::F64).epsilon;
    output.error =
        rounded(total, isFloat(output.dtype) ? DType::F32 : output.dtype).error;
    if (isNarrowFloat(output.dtype) &&
        (!total.isExact() || total.bound / total.unit > significand))
      output.error = -1;
    block->push_back({target + " += " + value.text, {}});
    test.tensors.push_back(std::move(output));
    return;
  }
  if (!value.isNumber()) {
    output.dtype = DType::Bool;
  } else {
    output.dtype = randomDType();
    if (!value.isExact() && !isFloat(output.dtype))
      output.dtype = DType::F32;
    if (output.dtype == DType::F16 && value.bound > 30000)
      output.dtype = DType::F32;
    if (!isFloat(output.dtype))
      value = cast(value, output.dtype);
    if (!isFloat(value.dtype))
      value = operandOf(value, output.dtype);
  }
  if (value.isNumber() && isFloat(output.dtype) &&
      floatFormat(output.dtype).epsilon < floatFormat(DType::F16).epsilon &&
      random.chance(25)) {
    output.access = Access::InOut;
    output.low = -3;
    output.high = 4;
    Value old;
    old.text = target;
    old.dtype = output.dtype;
    old.bound = 3;
    Value changed =
        random.chance(50) ? add(old, value) : extremum("max", old, value);
    changed.axes = value.axes;
    value = changed;
  } else {
    output.access = Access::Out;
  }
  // Rounded once more, by the store.
  value = output.dtype == DType::Bool
              ? value
              : rounded(value, output.dtype == DType::F64
                                   ? commonType(value.dtype, DType::F32)
                               : isFloat(output.dtype) ? DType::F32
                                                       : output.dtype);
  output.error = value.error;
  block->push_back({target + " = " + value.text, {}});
  test.tensors.push_back(std::move(output));
}

void Generator::run() {
  hasTiles = random.chance(90);
  allowsSpecial = random.chance(12);
  block = &test.body;
  makeDims();
  makeGrid();
  fillBlock(static_cast<int>(1 + random.below(6)));
  for (int64_t i = 1 + random.below(2); i > 0; --i)
    addStore();
  llvm::append_range(test.scalars, extents);
  // A dimension is known by the tensors that have it.
  for (unsigned dim = 0; dim < test.dims.size(); ++dim)
    if (llvm::none_of(test.tensors, [&](const TensorParam &tensor) {
          return llvm::is_contained(tensor.dims, dim);
        }))
      makeInput({dim}, DType::F32, 0, 1);
  addKnobs(random, test, largestTile);
}

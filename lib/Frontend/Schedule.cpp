//===- Schedule.cpp - Tile sizes of a kernel --------------------*- C++ -*-===//
//
// Finds out what each tile axis is used for and looks its size up; see the
// header for the rule.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Schedule.h"

#include "lib/Frontend/TypedVisitor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <deque>

using namespace tilec;
using namespace tilec::typed;
using llvm::dyn_cast;

namespace {

/// The numbers of the table in the header.
struct Sizes {
  int64_t attentionRows, attentionKeys;
  int64_t dotRows, dotColumns, dotContracted;
  int64_t besideWhole, maxBesideWhole;
  int64_t alone, contiguous, next, transposed;
};
constexpr Sizes cpuSizes = {64, 128,  128, 128, 128, 16384,
                            64, 8192, 256, 32,  64};
constexpr Sizes gpuSizes = {64, 64, 128, 128, 64, 4096, 16, 1024, 512, 4, 64};

constexpr int64_t maxElements = 32768;
constexpr int64_t unknownExtent = 256;

/// What a tile axis is used for.
struct Use {
  bool isAttentionRow = false;
  bool isDotRow = false, isDotColumn = false, isContracted = false,
       isBatch = false;
  bool isContiguous = false; // Last in some tensor.
  bool isStrided = false;    // Not last in some tensor.
  int64_t dotBytes = 0;      // Of the widest element of its dots.
  int64_t beside = 1;        // Most elements of whole axes beside it.
  /// Tile axes beside it in some value, in the order of the kernel.
  llvm::SmallVector<Axis *, 4> others;
  bool isInDot() const {
    return isDotRow || isDotColumn || isContracted || isBatch;
  }
};

class Scheduler {
public:
  Scheduler(Kernel &kernel, llvm::StringRef target,
            const llvm::StringMap<int64_t> &knownExtents)
      : kernel(kernel), isCpu(target == "cpu"),
        sizes(isCpu ? cpuSizes : gpuSizes), knownExtents(knownExtents) {}
  void run();

private:
  void collect();
  void collectValue(const ValueType &type);
  void collectDot(const Dot &dot);
  void collectAttention(const Attention &attention);
  void collectAccess(llvm::ArrayRef<Index> indices);
  int64_t defaultSize(const Axis *axis);
  int64_t elementwiseSize(const Axis *axis, const Use &use);
  int64_t clampToExtent(int64_t size, const Axis &axis) const;
  int64_t mostElements(const ValueType &type) const;
  void shrink();
  std::optional<int64_t> scheduled(llvm::StringRef key) const;
  /// The extent of an axis, or nothing if it is not known.
  std::optional<int64_t> knownExtent(const Axis &axis) const;
  int64_t wholeExtent(const Axis &axis) const {
    return std::max<int64_t>(1, knownExtent(axis).value_or(unknownExtent));
  }

  Kernel &kernel;
  bool isCpu;
  const Sizes &sizes;
  const llvm::StringMap<int64_t> &knownExtents;
  llvm::MapVector<const Axis *, Use> uses;
  llvm::SmallVector<const ValueType *> values;
  llvm::DenseSet<const ValueType *> products; // Of them, the results of dots.
  std::deque<ValueType> targets;              // Pointers to them stay good.
  llvm::SmallVector<Axis *> free;             // Tile axes with a default size.
};

} // namespace

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

std::optional<int64_t> Scheduler::knownExtent(const Axis &axis) const {
  if (axis.dim) {
    auto found = knownExtents.find(axis.dim->name);
    if (found != knownExtents.end())
      return found->second;
    return std::nullopt;
  }
  if (!axis.isTile())
    return axis.constant;
  if (const auto *number = dyn_cast<IntConst>(axis.var->extent))
    return number->value;
  return std::nullopt;
}

void Scheduler::collectValue(const ValueType &type) {
  int64_t whole = 1;
  for (const Axis *axis : type.axes)
    if (!axis->isTile())
      whole = llvm::SaturatingMultiply<uint64_t>(whole, wholeExtent(*axis)) >
                      uint64_t(INT64_MAX)
                  ? INT64_MAX
                  : whole * wholeExtent(*axis);
  for (const Axis *axis : type.axes) {
    if (!axis->isTile())
      continue;
    Use &use = uses[axis];
    use.beside = std::max(use.beside, whole);
    for (Axis *other : type.axes)
      if (other != axis && other->isTile() &&
          !llvm::is_contained(use.others, other))
        use.others.push_back(other);
  }
  if (!type.isScalar())
    values.push_back(&type);
}

void Scheduler::collectDot(const Dot &dot) {
  products.insert(&dot.type);
  auto bytes = static_cast<int64_t>(byteSize(dot.lhs->type.dtype));
  for (const Expr *operand : {dot.lhs, dot.rhs})
    for (const Axis *axis : operand->type.axes)
      if (axis->isTile())
        uses[axis].dotBytes = std::max(uses[axis].dotBytes, bytes);
  for (const Axis *axis : dot.lhs->type.axes) {
    if (!axis->isTile())
      continue;
    if (llvm::is_contained(dot.contract, axis))
      uses[axis].isContracted = true;
    else if (dot.rhs->type.hasAxis(axis))
      uses[axis].isBatch = true;
    else
      uses[axis].isDotRow = true;
  }
  for (const Axis *axis : dot.rhs->type.axes)
    if (axis->isTile() && !dot.lhs->type.hasAxis(axis))
      uses[axis].isDotColumn = true;
}

void Scheduler::collectAttention(const Attention &attention) {
  Use &use = uses[attention.row];
  use.isAttentionRow = true;
  use.dotBytes = byteSize(attention.query->type.dtype);
}

void Scheduler::collectAccess(llvm::ArrayRef<Index> indices) {
  for (const Index &index : indices) {
    if (index.kind != Index::Kind::Tile)
      continue;
    bool isLast = &index == &indices.back();
    uses[index.axis].isContiguous |= isLast;
    uses[index.axis].isStrided |= !isLast;
  }
}

void Scheduler::collect() {
  for (Axis *axis : kernel.axes)
    if (axis->isTile())
      uses[axis];
  walkExprs(kernel.body, [&](Expr &expr) {
    collectValue(expr.type);
    if (const auto *dot = dyn_cast<Dot>(&expr))
      collectDot(*dot);
    else if (const auto *load = dyn_cast<Load>(&expr))
      collectAccess(load->indices);
    else if (const auto *attention = dyn_cast<Attention>(&expr))
      if (attention->row && attention->row->isTile())
        collectAttention(*attention);
  });
  walkStmts(kernel.body, [&](Stmt &stmt) {
    if (const auto *store = dyn_cast<Store>(&stmt)) {
      collectAccess(store->indices);
      // What is stored is broadcast to the axes of the target.
      ValueType &target = targets.emplace_back(store->value->type);
      for (const Index &index : store->indices) {
        if (index.axis && !target.hasAxis(index.axis))
          target.axes.push_back(index.axis);
        if (index.expr)
          for (Axis *axis : index.expr->type.axes)
            if (!target.hasAxis(axis))
              target.axes.push_back(axis);
      }
      collectValue(target);
    }
    if (const auto *assign = dyn_cast<Assign>(&stmt))
      collectValue(assign->var->type);
  });
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::optional<int64_t> Scheduler::scheduled(llvm::StringRef key) const {
  for (const ScheduleEntry &entry : kernel.schedule)
    if (entry.key == key)
      return entry.value;
  return std::nullopt;
}

int64_t Scheduler::elementwiseSize(const Axis *axis, const Use &use) {
  // Of the tile axes in one value, later ones are contiguous more likely.
  auto rank = [&](const Axis *a) {
    const Use &other = uses[a];
    return (other.isContiguous ? 2 : 0) + (other.isStrided ? 0 : 1);
  };
  unsigned before = 0; // How many of the others are to be longer.
  for (const Axis *other : use.others)
    if (rank(other) > rank(axis) ||
        (rank(other) == rank(axis) &&
         llvm::find(kernel.axes, other) > llvm::find(kernel.axes, axis)))
      ++before;
  if (use.beside > 1) {
    if (before > 0)
      return 1;
    int64_t rows = sizes.besideWhole / use.beside;
    return rows < 1 ? 1
                    : std::min<int64_t>(llvm::bit_floor<uint64_t>(rows),
                                        sizes.maxBesideWhole);
  }
  if (use.others.empty())
    return sizes.alone;
  bool isTransposed =
      use.isContiguous && use.isStrided &&
      llvm::any_of(use.others, [&](const Axis *other) {
        return uses[other].isContiguous && uses[other].isStrided;
      });
  if (isTransposed)
    return before < 2 ? sizes.transposed : 1;
  return before == 0 ? sizes.contiguous : before == 1 ? sizes.next : 1;
}

int64_t Scheduler::defaultSize(const Axis *axis) {
  const Use use = uses[axis];
  int64_t size = INT64_MAX;
  Sizes sizes = this->sizes;
  if (!isCpu && use.dotBytes > 0) {
    // A row of operands is one line of memory; tensor cores take no wide
    // elements, and without them fewer results keep a multiprocessor busy.
    sizes.dotContracted = std::max<int64_t>(16, 128 / use.dotBytes);
    if (use.dotBytes >= 4)
      sizes.dotRows = sizes.dotColumns = sizes.attentionRows = 64;
  }
  if (use.isAttentionRow)
    size = std::min(size, sizes.attentionRows);
  if (use.isContracted)
    size = std::min(size, sizes.dotContracted);
  if (use.isDotRow)
    size = std::min(size, sizes.dotRows);
  if (use.isDotColumn)
    size = std::min(size, sizes.dotColumns);
  if (size == INT64_MAX && use.isBatch)
    size = 1;
  return size == INT64_MAX ? elementwiseSize(axis, use) : size;
}

int64_t Scheduler::clampToExtent(int64_t size, const Axis &axis) const {
  std::optional<int64_t> extent = knownExtent(axis);
  if (!extent)
    return size;
  int64_t longest = std::max<int64_t>(1, *extent);
  // Tensor cores want at least 16, and powers of two.
  if (!isCpu)
    longest = std::max<int64_t>(16, llvm::PowerOf2Ceil(longest));
  return std::min(size, longest);
}

int64_t Scheduler::mostElements(const ValueType &type) const {
  // Several products at a time share the registers of one.
  bool isSeveral = products.contains(&type) && type.axes.size() > 2;
  return !isCpu && isSeveral ? maxElements / 4 : maxElements;
}

void Scheduler::shrink() {
  for (const ValueType *type : values) {
    int64_t most = mostElements(*type);
    while (true) {
      int64_t elements = 1;
      Axis *longest = nullptr;
      for (Axis *axis : type->axes) {
        int64_t extent = axis->isTile() ? axis->tileSize : wholeExtent(*axis);
        elements = elements > most ? elements : elements * extent;
        if (llvm::is_contained(free, axis) && axis->tileSize > 1 &&
            (!longest || axis->tileSize > longest->tileSize))
          longest = axis;
      }
      if (elements <= most || !longest)
        break;
      longest->tileSize /= 2;
    }
  }
}

void Scheduler::run() {
  collect();
  for (Axis *axis : kernel.axes) {
    if (!axis->isTile())
      continue;
    if (axis->var->fixedSize > 0) {
      axis->tileSize = axis->var->fixedSize;
    } else if (std::optional<int64_t> size = scheduled(axis->name)) {
      axis->tileSize = *size;
    } else {
      axis->tileSize = clampToExtent(defaultSize(axis), *axis);
      free.push_back(axis);
    }
  }
  shrink();
  for (Attention *attention : kernel.attentions) {
    bool isWide = !isCpu && byteSize(attention->query->type.dtype) >= 4;
    int64_t keys = isWide ? sizes.attentionKeys / 2 : sizes.attentionKeys;
    attention->kvTile =
        scheduled("kv").value_or(clampToExtent(keys, *attention->kv));
  }
}

void tilec::assignSchedule(Kernel &kernel, llvm::StringRef target,
                           const llvm::StringMap<int64_t> &knownExtents) {
  Scheduler(kernel, target, knownExtents).run();
}

//===- LayoutAssignment.cpp - A layout for every tile -----------*- C++ -*-===//
//
// See LayoutAssignment.h.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToTileGPU/LayoutAssignment.h"

#include "codegen/TileToTileGPU/Views.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;
using layout::InDim;
using layout::LinearLayout;

/// Tiles below this many bytes have no say: loading them twice, or in pieces,
/// costs little.
static constexpr int64_t smallBytes = 1024;

static bool isTile(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0;
}

//===----------------------------------------------------------------------===//
// Layouts from layouts
//===----------------------------------------------------------------------===//

LinearLayout tilec::sliceAxes(const LinearLayout &layout,
                              ArrayRef<int64_t> axes) {
  SmallVector<int64_t> descending(axes);
  llvm::sort(descending, std::greater<>());
  LinearLayout result = layout;
  for (int64_t axis : descending)
    result = result.slice(static_cast<unsigned>(axis));
  return result;
}

LinearLayout tilec::operandOfBroadcast(const LinearLayout &layout,
                                       ArrayRef<int64_t> dims) {
  SmallVector<int64_t> kept(dims), dropped;
  llvm::sort(kept);
  for (int64_t axis = 0; axis < static_cast<int64_t>(layout.rank()); ++axis)
    if (!llvm::is_contained(kept, axis))
      dropped.push_back(axis);
  SmallVector<int64_t> order;
  for (int64_t dim : dims)
    order.push_back(llvm::find(kept, dim) - kept.begin());
  return sliceAxes(layout, dropped).transpose(order);
}

/// The other direction, for a broadcast that only orders axes.
static LinearLayout resultOfTransposition(const LinearLayout &layout,
                                          ArrayRef<int64_t> dims) {
  SmallVector<int64_t> inverse(dims.size());
  for (auto [from, to] : llvm::enumerate(dims))
    inverse[to] = static_cast<int64_t>(from);
  return layout.transpose(inverse);
}

LinearLayout LayoutAssignment::coalesced(RankedTensorType type,
                                         int64_t contiguous,
                                         int64_t accessBytes) const {
  ArrayRef<int64_t> shape = type.getShape();
  int64_t rank = type.getRank();
  SmallVector<unsigned> order;
  if (contiguous >= 0)
    order.push_back(contiguous);
  for (int64_t axis = rank; axis-- > 0;)
    if (axis != contiguous)
      order.push_back(axis);
  // Not so wide that threads are left without work.
  int64_t bytes = tilegpu::getElementBytes(type.getElementType());
  int64_t each = std::max<int64_t>(1, type.getNumElements() / (32 * warps));
  int64_t vector =
      std::min({std::max<int64_t>(1, accessBytes / bytes), shape[order[0]],
                static_cast<int64_t>(llvm::bit_floor<uint64_t>(each))});
  SmallVector<unsigned> size(rank, 1), threads(rank, 1), warpsOf(rank, 1);
  size[order[0]] = vector;
  int64_t lanesLeft = 32, warpsLeft = warps;
  for (unsigned axis : order) {
    int64_t places = shape[axis] / size[axis];
    int64_t lanes = std::min(lanesLeft, places);
    threads[axis] = lanes;
    lanesLeft /= lanes;
    int64_t numWarps = std::min(warpsLeft, places / lanes);
    warpsOf[axis] = numWarps;
    warpsLeft /= numWarps;
  }
  // What is left over makes copies.
  threads[order[0]] *= lanesLeft;
  warpsOf[order[0]] *= warpsLeft;
  return LinearLayout::blocked(shape, size, threads, warpsOf, order);
}

/// All of the axis in as few threads as it takes, in order: registers, then
/// lanes, then warps.
static LinearLayout scanLayout(RankedTensorType type, int64_t axis,
                               int64_t warps) {
  int64_t rank = type.getRank();
  SmallVector<unsigned> order{static_cast<unsigned>(axis)}, size(rank, 1),
      threads(rank, 1), warpsOf(rank, 1);
  for (int64_t other = rank; other-- > 0;)
    if (other != axis)
      order.push_back(other);
  int64_t extent = type.getDimSize(axis);
  int64_t total = type.getNumElements();
  // Enough elements a thread that the axis needs no second round.
  int64_t each = std::min(extent, std::max<int64_t>(1, total / (32 * warps)));
  each = std::max<int64_t>(each, extent / (32 * warps));
  size[axis] = each;
  int64_t lanesLeft = 32, warpsLeft = warps;
  for (unsigned a : order) {
    int64_t places = type.getDimSize(a) / size[a];
    int64_t lanes = std::min(lanesLeft, places);
    threads[a] = lanes;
    lanesLeft /= lanes;
    int64_t numWarps = std::min(warpsLeft, places / lanes);
    warpsOf[a] = numWarps;
    warpsLeft /= numWarps;
  }
  threads[axis] *= lanesLeft;
  warpsOf[axis] *= warpsLeft;
  return LinearLayout::blocked(type.getShape(), size, threads, warpsOf, order);
}

//===----------------------------------------------------------------------===//
// Values that share a layout
//===----------------------------------------------------------------------===//

Value LayoutAssignment::representative(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return value;
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument == loop.getInductionVar())
    return value;
  return loop.getTiedLoopResult(argument);
}

const LayoutAssignment::Wish &LayoutAssignment::wish(Value value) {
  return wishes[representative(value)];
}

void LayoutAssignment::spread(Value value, Care care,
                              const std::optional<LinearLayout> &layout) {
  if (!isTile(value) || !layout || care == Care::None)
    return;
  Wish &current = wishes[representative(value)];
  if (current.care >= care)
    return;
  current.care = care;
  current.layout = layout;
  changed = true;
}

/// Ops whose operands and results, as far as they are tiles, share a layout.
static bool sharesLayout(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() ||
         isa<tile::SelectValidOp, tile::RandomOp, tile::RoundTF32Op,
             tile::GatherOp>(op);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// The bytes of one access to a row of `type`. Vectors that memory is not
/// aligned to would be taken apart, and then neighbouring threads better have
/// neighbouring elements; but those of narrow elements in long rows, of which
/// there are several, are loaded and stored shifted, unless the kernel both
/// reads and writes them.
static int64_t accessBytes(const ViewOrigin &origin, RankedTensorType type,
                           int64_t axis) {
  constexpr int64_t vectorBytes = 16, longRow = 16 * vectorBytes;
  int64_t bytes = tilegpu::getElementBytes(type.getElementType());
  int64_t alignment = origin.alignment();
  tile::Access access =
      origin.kernel().getArgAccess(origin.argument.getArgNumber());
  bool isShifted = alignment < 4 && bytes < 4 &&
                   origin.dims[origin.unitDim()] > 0 &&
                   type.getDimSize(axis) * bytes >= longRow &&
                   (access == tile::Access::In || access == tile::Access::Out);
  return isShifted ? vectorBytes : alignment;
}

/// What a load or scan wants by itself.
std::optional<LinearLayout> LayoutAssignment::preference(Operation *op,
                                                         Value result) const {
  auto type = cast<RankedTensorType>(result.getType());
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    ViewOrigin origin = ViewOrigin::of(load.getView());
    const auto *found = llvm::find(load.getDims(), origin.unitDim());
    if (found == load.getDims().end())
      return coalesced(type, -1);
    int64_t axis = found - load.getDims().begin();
    return coalesced(type, axis, accessBytes(origin, type, axis));
  }
  if (auto scan = dyn_cast<tile::ScanOp>(op))
    return scanLayout(type, static_cast<int64_t>(scan.getAxis()), warps);
  return std::nullopt;
}

void LayoutAssignment::forward(Operation *op) {
  for (Value result : op->getResults())
    if (auto anchor = anchors.results.find(result);
        anchor != anchors.results.end())
      spread(result, Care::Product, anchor->second);

  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [result, init, yielded] : llvm::zip(
             loop.getResults(), loop.getInitArgs(), loop.getYieldedValues())) {
      Wish initial = wish(init), next = wish(yielded);
      spread(result, initial.care, initial.layout);
      spread(result, next.care, next.layout);
    }
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (auto [i, result] : llvm::enumerate(branch.getResults())) {
      Wish a = wish(branch.thenYield().getOperand(i));
      Wish e = wish(branch.elseYield().getOperand(i));
      spread(result, a.care, a.layout);
      spread(result, e.care, e.layout);
    }
  } else if (isa<tile::LoadOp, tile::ScanOp>(op)) {
    Value result = op->getResult(0);
    if (!isTile(result))
      return;
    auto type = cast<RankedTensorType>(result.getType());
    int64_t bytes =
        type.getNumElements() * tilegpu::getElementBytes(type.getElementType());
    bool isSmall =
        isa<tile::LoadOp>(op) && (type.getRank() == 1 || bytes < smallBytes);
    spread(result, isSmall ? Care::Weak : Care::Access, preference(op, result));
  } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    Wish operand = wish(reduce.getValue());
    if (operand.care >= Care::Access)
      spread(reduce.getResult(), operand.care,
             sliceAxes(*operand.layout, reduce.getAxes()));
  } else if (auto reduce = dyn_cast<tile::ArgReduceOp>(op)) {
    Wish operand = wish(reduce.getValue());
    if (operand.care >= Care::Access)
      spread(
          reduce.getResult(), operand.care,
          sliceAxes(*operand.layout, static_cast<int64_t>(reduce.getAxis())));
  } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    Wish operand = wish(broadcast.getValue());
    if (operand.layout && broadcast.getType().getRank() ==
                              broadcast.getValue().getType().getRank())
      spread(broadcast.getResult(), operand.care,
             resultOfTransposition(*operand.layout, broadcast.getDims()));
  } else if (sharesLayout(op)) {
    Wish best;
    for (Value operand : op->getOperands()) {
      if (!isTile(operand))
        continue;
      const Wish &candidate = wish(operand);
      if (candidate.care > best.care)
        best = candidate;
    }
    for (Value result : op->getResults())
      spread(result, best.care, best.layout);
  }
}

void LayoutAssignment::forwardToFixpoint() {
  // Cares only grow, so this ends.
  do {
    changed = false;
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { forward(op); });
  } while (changed);
}

/// The layout of a user that has one of its own, if there is such a user: a
/// mask that is tested as a whole is also what selects the results of a
/// product.
std::optional<LinearLayout> LayoutAssignment::wantedByUsers(Value value) {
  for (Operation *user : value.getUsers()) {
    if (!sharesLayout(user) || user->getNumResults() != 1)
      continue;
    const Wish &result = wish(user->getResult(0));
    if (result.care >= Care::Access)
      return result.layout;
  }
  return std::nullopt;
}

/// A reduction of something that has no layout of its own settles it, since
/// the layout of the result follows. One at a time: the first may settle the
/// others.
bool LayoutAssignment::settleReductions() {
  return kernel
      .walk([&](Operation *op) {
        if (!isa<tile::ReduceOp, tile::ArgReduceOp>(op))
          return WalkResult::advance();
        Value operand = op->getOperand(0);
        Wish current = wish(operand);
        if (current.care >= Care::Access)
          return WalkResult::advance();
        auto type = cast<RankedTensorType>(operand.getType());
        std::optional<LinearLayout> layout = wantedByUsers(operand);
        if (!layout)
          layout = current.layout;
        if (!layout)
          layout = coalesced(type, type.getRank() - 1);
        spread(operand, Care::Access, layout);
        return WalkResult::interrupt();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// Neighbours in memory that a warp touches at a time, in bytes.
static int64_t runBytes(const LinearLayout &layout, int64_t axis,
                        int64_t elementBytes) {
  int64_t run = 1;
  auto extend = [&](InDim dim) {
    for (const layout::Basis &basis : layout.bases(dim)) {
      bool isNext = basis[axis] == run;
      for (auto [i, coordinate] : llvm::enumerate(basis))
        isNext &= static_cast<int64_t>(i) == axis || coordinate == 0;
      if (isNext)
        run *= 2;
    }
  };
  extend(InDim::Register);
  extend(InDim::Lane);
  return run * elementBytes;
}

/// Whether accesses in `layout` along `axis` fill sectors of memory.
static bool fillsSectors(const LinearLayout &layout, RankedTensorType type,
                         int64_t axis, const ViewOrigin &origin) {
  int64_t bytes = tilegpu::getElementBytes(type.getElementType());
  int64_t wanted = std::min<int64_t>(32, type.getDimSize(axis) * bytes);
  // A register's part of the run counts only as far as one access goes.
  int64_t width = bytes * layout.vectorWidth(axis, 8 * bytes);
  int64_t access = accessBytes(origin, type, axis);
  return runBytes(layout, axis, bytes) >= wanted &&
         width >= std::min({int64_t(4), wanted, access}) &&
         (access >= 4 || width <= access);
}

/// The layout of all users of a load, if they agree and it suits memory: better
/// narrower accesses than an exchange between threads.
std::optional<LinearLayout> LayoutAssignment::loadLayout(tile::LoadOp load) {
  ViewOrigin origin = ViewOrigin::of(load.getView());
  const auto *found = llvm::find(load.getDims(), origin.unitDim());
  if (found == load.getDims().end() || load->use_empty())
    return std::nullopt;
  std::optional<LinearLayout> common;
  for (OpOperand &use : load->getUses()) {
    std::optional<LinearLayout> layout = required(use);
    if (!layout || (common && *common != *layout))
      return std::nullopt;
    common = layout;
  }
  if (!fillsSectors(*common, load.getType(), found - load.getDims().begin(),
                    origin))
    return std::nullopt;
  return common;
}

/// The layout to store in: the value's own, if it fills sectors of memory.
LinearLayout LayoutAssignment::storeLayout(tile::StoreOp store,
                                           const LinearLayout &value) const {
  RankedTensorType type = store.getValue().getType();
  ViewOrigin origin = ViewOrigin::of(store.getView());
  const auto *found = llvm::find(store.getDims(), origin.unitDim());
  if (found == store.getDims().end())
    return value;
  int64_t axis = found - store.getDims().begin();
  int64_t bytes = tilegpu::getElementBytes(type.getElementType());
  if (type.getNumElements() * bytes < smallBytes)
    return value;
  if (fillsSectors(value, type, axis, origin))
    return value;
  return coalesced(type, axis, accessBytes(origin, type, axis));
}

std::optional<LinearLayout>
LayoutAssignment::required(OpOperand &operand) const {
  Operation *op = operand.getOwner();
  if (!isTile(operand.get()))
    return std::nullopt;
  if (auto anchor = anchors.operands.find(&operand);
      anchor != anchors.operands.end())
    return anchor->second;
  unsigned number = operand.getOperandNumber();
  if (auto mma = dyn_cast<tilegpu::MMAOp>(op))
    return of(mma.getResult()); // The accumulator; others are anchored.
  if (auto fma = dyn_cast<tilegpu::FMADotOp>(op))
    return of(fma.getResult());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return of(loop.getTiedLoopResult(&operand));
  if (isa<scf::YieldOp>(op))
    return of(op->getParentOp()->getResult(number));
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op))
    return operandOfBroadcast(of(broadcast.getResult()), broadcast.getDims());
  if (auto scan = dyn_cast<tile::ScanOp>(op))
    return of(scan.getResult());
  if (auto store = dyn_cast<tile::StoreOp>(op)) {
    if (auto found = final.find(representative(operand.get()));
        found != final.end())
      return storeLayout(store, found->second);
    auto type = cast<RankedTensorType>(operand.get().getType());
    return storeLayout(store, coalesced(type, type.getRank() - 1));
  }
  if (sharesLayout(op) && op->getNumResults() == 1 && isTile(op->getResult(0)))
    return of(op->getResult(0));
  if (auto scatter = dyn_cast<tile::ScatterAddOp>(op))
    if (isTile(scatter.getValue()) &&
        final.contains(representative(scatter.getValue())))
      return of(scatter.getValue());
  return std::nullopt;
}

/// Gives a value its final layout, if it has none.
void LayoutAssignment::settle(Value value) {
  if (!isTile(value) || final.contains(representative(value)))
    return;
  const Wish &current = wish(value);
  auto type = cast<RankedTensorType>(value.getType());
  final.try_emplace(representative(value),
                    current.layout ? *current.layout
                                   : coalesced(type, type.getRank() - 1));
}

/// All users have their layouts.
void LayoutAssignment::settleLoad(tile::LoadOp load) {
  Value tile = load.getResult();
  if (!isTile(tile) || final.contains(tile))
    return;
  std::optional<LinearLayout> layout = loadLayout(load);
  if (!layout && wish(tile).care < Care::Access)
    for (OpOperand &use : tile.getUses()) {
      layout = required(use);
      if (layout)
        break;
    }
  if (layout)
    final.try_emplace(tile, *layout);
  else
    settle(tile);
}

void LayoutAssignment::backward(Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    settleLoad(load);
  for (Value result : op->getResults())
    settle(result);
  // A store of what has no layout settles it by its own target.
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isTile(value) || final.contains(representative(value)) ||
        value.getDefiningOp<tile::LoadOp>())
      continue;
    if (wish(value).care >= Care::Access) {
      settle(value);
      continue;
    }
    if (std::optional<LinearLayout> layout = required(operand))
      final.try_emplace(representative(value), *layout);
    else
      settle(value);
  }
}

void LayoutAssignment::run() {
  do
    forwardToFixpoint();
  while (settleReductions());

  // Users before definitions: blocks and regions in reverse, an op with regions
  // before what is in them.
  std::function<void(Block &)> visit = [&](Block &block) {
    for (Operation &op : llvm::reverse(block)) {
      backward(&op);
      for (Region &region : llvm::reverse(op.getRegions()))
        for (Block &inner : llvm::reverse(region))
          visit(inner);
    }
  };
  for (Block &block : llvm::reverse(kernel.getBody()))
    visit(block);
}

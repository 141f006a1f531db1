//===- LongAxisPlan.cpp - Which sinks share a loop -------------*- C++ -*-===//
//
// Sinks that need nothing of each other share a loop, so that one pass over
// memory serves all. To find them, every op of a block gets a level: what
// depends on a sink has a greater one than that sink. The block then is, level
// by level, the ops that stay and one loop for the sinks:
//
//     m = max x                      level 0      loop 0: m
//     r = sqrt m                           1      r
//     store x * r                          1      loop 1: store x * r
//     s = sum x                            0      loop 0 too: s
//
// Dependences are those of values, through slice ops, and those of memory: a
// slice op that loads is done again in the loop, so that whatever overwrites
// what it loads has to come after all loops that need it. One exception makes
// in-place updates possible: a store to the very block that is loaded may be in
// the same loop, since a chunk of it belongs to no other chunk.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/LongAxis.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::tile;

namespace {

/// `position` is that of the op in the block at hand; -1 if it stands in front
/// of the block.
struct Access {
  Value root; // Null: the host's standard error.
  Operation *op;
  int64_t position;
  bool writes;
};

struct Node {
  ChunkSink ops; // What it is, with more than one op only for sinks.
  int64_t position;
  bool isSink;
  int64_t level = 0;
  SmallVector<Access> accesses;
};

/// `to` comes after `from`: in a later loop, or (weak) at least not an earlier.
struct Edge {
  unsigned from, to;
  bool isWeak;
};

class Planner {
public:
  Planner(Block &block, const LongAxis &axis) : block(block), axis(axis) {}
  FailureOr<BlockPlan> run();

private:
  void makeNodes();
  void addDependences(unsigned node);
  void addValue(unsigned node, Value value);
  void addAccess(unsigned node, Operation *op, int64_t position);
  LogicalResult orderMemory();
  LogicalResult orderPair(unsigned a, const Access &x, unsigned b,
                          const Access &y);
  LogicalResult findLevels();
  FailureOr<SmallVector<unsigned>> sortLevel(ArrayRef<unsigned> ops);
  LogicalResult reportConflict(const Access &read, const Access &write);
  LogicalResult checkCircle(const Edge &edge);

  Block &block;
  const LongAxis &axis;
  SmallVector<Node> nodes;
  DenseMap<Operation *, unsigned> nodeOf;
  DenseMap<Operation *, int64_t> positions;
  SmallVector<Edge> edges;
  DenseSet<Operation *> visited; // Slice ops, for the node at hand.
};

} // namespace

int64_t LongAxis::axisOf(Value tile) const {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type || !classes.contains(tile))
    return -1;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (llvm::is_contained(numbers, classes.classOf(tile, axis)))
      return axis;
  return -1;
}

bool LongAxis::isSliceOp(Operation *op) const {
  return llvm::any_of(op->getResults(),
                      [&](Value result) { return isLong(result); });
}

bool LongAxis::isSink(Operation *op) const {
  return !isSliceOp(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
    return isLong(operand);
  });
}

std::string LongAxis::describe() const {
  return (Twine("axis ") + (name.empty() ? "" : "'" + name + "' ") +
          "(extent " + Twine(extent) + ")")
      .str();
}

Value mlir::tile::getRootView(Value view) {
  while (auto slice = view.getDefiningOp<SliceOp>())
    view = slice.getView();
  return view;
}

//===----------------------------------------------------------------------===//
// Nodes and dependences of values
//===----------------------------------------------------------------------===//

/// One for each op that is no slice op; sums of exponentials join their
/// maximum.
void Planner::makeNodes() {
  int64_t position = 0;
  for (Operation &op : block)
    positions[&op] = position++;
  for (Operation &op : block.without_terminator()) {
    if (axis.isSliceOp(&op))
      continue;
    if (auto reduce = dyn_cast<ReduceOp>(op))
      if (std::optional<OnlineSum> sum = matchOnlineSum(reduce, axis)) {
        nodeOf[&op] = nodeOf.lookup(sum->max);
        nodes[nodeOf[&op]].ops.sums.push_back(*sum);
        continue;
      }
    nodeOf[&op] = nodes.size();
    nodes.push_back({{&op, {}}, positions[&op], axis.isSink(&op), 0, {}});
  }
}

void Planner::addAccess(unsigned node, Operation *op, int64_t position) {
  SmallVector<Access> &accesses = nodes[node].accesses;
  if (auto load = dyn_cast<LoadOp>(op))
    accesses.push_back({getRootView(load.getView()), op, position, false});
  else if (auto gather = dyn_cast<GatherOp>(op))
    accesses.push_back({getRootView(gather.getView()), op, position, false});
  else if (auto store = dyn_cast<StoreOp>(op))
    accesses.push_back({getRootView(store.getView()), op, position, true});
  else if (auto add = dyn_cast<AtomicAddOp>(op))
    accesses.push_back({getRootView(add.getView()), op, position, true});
  else if (auto scatter = dyn_cast<ScatterAddOp>(op))
    accesses.push_back({getRootView(scatter.getView()), op, position, true});
  else if (isa<PrintOp>(op))
    accesses.push_back({Value(), op, position, true});
}

/// That `node` uses `value`, through slice ops.
void Planner::addValue(unsigned node, Value value) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return;
  Operation *here = block.findAncestorOpInBlock(*def);
  if (here == nodes[node].ops.op)
    return; // Inside of it.
  if (axis.isSliceOp(def)) {
    if (!visited.insert(def).second)
      return;
    addAccess(node, def, here ? positions.lookup(here) : -1);
    for (Value operand : def->getOperands())
      addValue(node, operand);
  } else if (here && nodeOf.lookup(here) != node) {
    edges.push_back({nodeOf.lookup(here), node, /*isWeak=*/false});
  }
}

void Planner::addDependences(unsigned node) {
  visited.clear();
  int64_t position = nodes[node].position;
  // The sums' own operands depend on the maximum; in the loop they are computed
  // from these.
  for (const OnlineSum &sum : nodes[node].ops.sums) {
    addValue(node, sum.shifted);
    for (SelectValidOp select : sum.selects)
      for (Value valid : select.getValid())
        addValue(node, valid);
  }
  nodes[node].ops.op->walk([&](Operation *op) {
    addAccess(node, op, position);
    for (Value operand : op->getOperands())
      addValue(node, operand);
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The view, dims and indices of an access to a block.
static std::optional<std::tuple<Value, ArrayRef<int64_t>, OperandRange>>
blockOf(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return std::tuple(load.getView(), load.getDims(), load.getIndices());
  if (auto store = dyn_cast<StoreOp>(op))
    return std::tuple(store.getView(), store.getDims(), store.getIndices());
  return std::nullopt;
}

/// Whether two accesses are to the same elements, lane by lane.
static bool isSameBlock(Operation *x, Operation *y) {
  auto a = blockOf(x), b = blockOf(y);
  if (!a || !b || std::get<0>(*a) != std::get<0>(*b) ||
      std::get<1>(*a) != std::get<1>(*b))
    return false;
  return llvm::all_of(
      llvm::zip_equal(std::get<2>(*a), std::get<2>(*b)), [](auto pair) {
        return isEqualConstantIntOrValue(std::get<0>(pair), std::get<1>(pair));
      });
}

LogicalResult Planner::reportConflict(const Access &read, const Access &write) {
  auto kernel = write.op->getParentOfType<KernelOp>();
  StringRef view =
      kernel.getArgName(cast<BlockArgument>(write.root).getArgNumber());
  InFlightDiagnostic error = write.op->emitError();
  error << "expected " << (view.empty() ? "the tensor" : "'" + view.str() + "'")
        << " not to be overwritten before its old values are used for the last "
           "time: "
        << axis.describe() << " is processed in chunks of " << axis.chunk
        << ", and each use reads them again; write to another tensor";
  error.attachNote(read.op->getLoc()) << "they are read here";
  return error;
}

/// `x` of node `a` stood in front of `y` of node `b`, and one of them writes.
LogicalResult Planner::orderPair(unsigned a, const Access &x, unsigned b,
                                 const Access &y) {
  bool isInPlace =
      nodes[a].isSink && nodes[b].isSink && isSameBlock(x.op, y.op);
  if (a != b) {
    edges.push_back({a, b, isInPlace});
    return success();
  }
  // What an scf.if does itself is a matter of its own blocks.
  if (isInPlace || x.writes || isa<scf::IfOp>(nodes[a].ops.op))
    return success();
  return reportConflict(x, y);
}

LogicalResult Planner::orderMemory() {
  for (auto [a, first] : llvm::enumerate(nodes))
    for (auto [b, second] : llvm::enumerate(nodes))
      for (const Access &x : first.accesses)
        for (const Access &y : second.accesses)
          if (x.root == y.root && (x.writes || y.writes) &&
              x.position < y.position && failed(orderPair(a, x, b, y)))
            return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

/// Edges lead from earlier to later ops, except from one that reads again what
/// was read in front of the op that overwrites it. Only such an edge closes a
/// circle, and is then an error; else nothing happens.
LogicalResult Planner::checkCircle(const Edge &edge) {
  const Node &from = nodes[edge.from], &to = nodes[edge.to];
  for (const Access &read : from.accesses)
    for (const Access &write : to.accesses)
      if (write.writes && write.root == read.root &&
          read.position < write.position && from.position > to.position)
        return reportConflict(read, write);
  return success();
}

LogicalResult Planner::findLevels() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Edge &edge : edges) {
      const Node &from = nodes[edge.from];
      int64_t least = from.level + (from.isSink && !edge.isWeak);
      if (nodes[edge.to].level >= least)
        continue;
      nodes[edge.to].level = least;
      changed = true;
      // More levels than nodes: they go round in a circle.
      if (least > static_cast<int64_t>(nodes.size()) &&
          failed(checkCircle(edge)))
        return failure();
    }
  }
  return success();
}

/// The ops that stay, of one level, each behind those that it needs.
FailureOr<SmallVector<unsigned>> Planner::sortLevel(ArrayRef<unsigned> ops) {
  DenseMap<unsigned, SmallVector<unsigned>> needs;
  for (const Edge &edge : edges)
    if (llvm::is_contained(ops, edge.from) && llvm::is_contained(ops, edge.to))
      needs[edge.to].push_back(edge.from);
  SmallVector<unsigned> sorted;
  DenseSet<unsigned> done, open;
  bool isCircle = false;
  std::function<void(unsigned)> visit = [&](unsigned node) {
    if (done.contains(node))
      return;
    if (!open.insert(node).second) {
      isCircle = true;
      return;
    }
    for (unsigned needed : needs.lookup(node))
      visit(needed);
    done.insert(node);
    sorted.push_back(node);
  };
  for (unsigned node : ops)
    visit(node);
  for (const Edge &edge : edges)
    if (isCircle && open.contains(edge.from) && open.contains(edge.to) &&
        failed(checkCircle(edge)))
      return failure();
  return sorted;
}

FailureOr<BlockPlan> Planner::run() {
  makeNodes();
  for (unsigned node = 0; node < nodes.size(); ++node)
    addDependences(node);
  if (failed(orderMemory()) || failed(findLevels()))
    return failure();
  int64_t last = 0;
  for (const Node &node : nodes)
    last = std::max(last, node.level);
  BlockPlan plan{&block, {}};
  for (int64_t level = 0; level <= last; ++level) {
    SmallVector<unsigned> staying;
    PlanStep loop;
    for (auto [number, node] : llvm::enumerate(nodes)) {
      if (node.level != level)
        continue;
      if (node.isSink)
        loop.sinks.push_back(node.ops);
      else
        staying.push_back(number);
    }
    FailureOr<SmallVector<unsigned>> sorted = sortLevel(staying);
    if (failed(sorted))
      return failure();
    for (unsigned node : *sorted)
      plan.steps.push_back({nodes[node].ops.op, {}});
    if (!loop.sinks.empty())
      plan.steps.push_back(std::move(loop));
  }
  return plan;
}

FailureOr<BlockPlan> mlir::tile::planBlock(Block &block, const LongAxis &axis) {
  return Planner(block, axis).run();
}

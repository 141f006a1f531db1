//===- Statements.cpp - Blocks, loops, branches -----------------*- C++ -*-===//
//
// Ops in their order. Values that a loop carries, and results of branches, are
// variables and arrays that change; all others are constant once computed.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/KernelEmitter.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec::cuda {

/// Single-use scalars up to this length become part of what uses them.
static constexpr size_t shortText = 40;

void KernelEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (hasFailed)
      return;
    emitOp(&op);
  }
}

void KernelEmitter::leaveScope(Block &block, size_t mark) {
  for (size_t i = mark; i < declared.size(); ++i)
    if (!block.getParentOp()->isAncestor(
            declared[i].getParentBlock()->getParentOp()))
      fragments.erase(declared[i]);
  declared.resize(mark);
}

void KernelEmitter::emitOp(Operation *op) {
  if (isDeferred(op))
    return;
  if (op->getNumRegions() > 0 && !isa<scf::ForallOp>(op))
    materializeForRegions(op);
  if (isa<tile::LoadOp, tile::GatherOp, tilegpu::AsyncCopyOp>(op))
    orderAccess(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](scf::ForallOp grid) { emitGrid(grid); })
      .Case([&](scf::ForOp loop) { emitFor(loop); })
      .Case([&](scf::IfOp branch) { emitIf(branch); })
      .Case([&](tile::SliceOp slice) { emitSlice(slice); })
      .Case([&](tile::LoadOp load) { emitLoad(load); })
      .Case([&](tile::StoreOp store) { emitStore(store); })
      .Case([&](tile::ReduceOp reduce) { emitReduce(reduce); })
      .Case([&](tile::ArgReduceOp reduce) { emitArgReduce(reduce); })
      .Case([&](tile::ScanOp scan) { emitScan(scan); })
      .Case([&](tile::GatherOp gather) { emitGather(gather); })
      .Case([&](tile::ScatterAddOp scatter) { emitScatterAdd(scatter); })
      .Case([&](tile::AtomicAddOp add) { emitAtomicAdd(add); })
      .Case([&](tile::InBoundsOp test) { emitInBounds(test); })
      .Case([&](tile::AssertOp assertion) { emitAssert(assertion); })
      .Case([&](tile::PrintOp print) { emitPrint(print); })
      .Case<tilegpu::AllocOp>([&](auto) {})
      .Case([&](tilegpu::AsyncCopyOp copy) { emitAsyncCopy(copy); })
      .Case<tilegpu::CommitOp>([&](auto) { out.line("copy_async_commit();"); })
      .Case([&](tilegpu::WaitOp wait) {
        out.line("copy_async_wait<" +
                 Twine(static_cast<int64_t>(wait.getPending())) + ">();");
      })
      .Case<tilegpu::BarrierOp>([&](auto) { out.line("__syncthreads();"); })
      .Case([&](tilegpu::LocalStoreOp store) { emitLocalStore(store); })
      .Case([&](tilegpu::LocalLoadOp load) { emitLocalLoad(load); })
      .Case([&](tilegpu::ConvertLayoutOp convert) { emitConversion(convert); })
      .Case([&](tilegpu::MMAOp mma) { emitMMA(mma); })
      .Case([&](tilegpu::FMADotOp dot) { emitFMADot(dot); })
      .Default([&](Operation *other) {
        bool isScalar =
            other->getNumResults() == 1 && isMemoryEffectFree(other) &&
            !isFragment(other->getResult(0)) &&
            llvm::none_of(other->getOperands(),
                          [&](Value value) { return isFragment(value); });
        if (isScalar)
          return emitScalarOp(other);
        fail(other, "expected an op that has a form in CUDA C++, found '" +
                        other->getName().getStringRef() + "'");
      });
}

void KernelEmitter::materializeForRegions(Operation *op) {
  op->walk([&](Operation *inner) {
    if (inner == op)
      return;
    for (Value operand : inner->getOperands())
      if (isFragment(operand) && !fragments.contains(operand) &&
          !op->isAncestor(operand.getParentBlock()->getParentOp()) &&
          !isCheap(operand))
        materialize(operand);
  });
}

//===--- Scalars ---------------------------------------------------------===//

/// Whether `begin` is a tile's or a position's begin on the axis of `extent`,
/// and so before its end.
static bool isBefore(Value begin, Value extent) {
  auto argument = dyn_cast<BlockArgument>(begin);
  if (!argument)
    return matchPattern(begin, m_Zero());
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return begin == loop.getInductionVar() && loop.getUpperBound() == extent;
  if (auto grid = dyn_cast<scf::ForallOp>(parent)) {
    OpFoldResult end = grid.getMixedUpperBound()[argument.getArgNumber()];
    if (auto known = dyn_cast<Value>(end))
      return known == extent;
    return getConstantIntValue(end) == getConstantIntValue(extent);
  }
  return false;
}

Expr KernelEmitter::validExtent(tile::ValidOp op) {
  CType type = indexType();
  // A known extent is an int, so its difference would be one too.
  Expr begin = scalar(op.getBegin()),
       extent = asType(scalar(op.getExtent()), type);
  Expr left = begin.text == "0"
                  ? extent
                  : binary(extent, "-", begin, Prec::Additive, type);
  if (!isBefore(op.getBegin(), op.getExtent()))
    left = Expr::call(
        "max(" + left.text + ", " + intLiteral(0, type).text + ")", type);
  return Expr::call(
      "min(" + left.text + ", " +
          intLiteral(static_cast<int64_t>(op.getSize()), type).text + ")",
      type);
}

Expr KernelEmitter::scalar(Value value) {
  if (auto known = scalars.find(value); known != scalars.end())
    return known->second;
  if (auto literal = value.getDefiningOp<arith::ConstantOp>())
    return constant(literal.getValue(), typeOf(value));
  if (Operation *op = value.getDefiningOp())
    fail(op, "internal error: expected a scalar that was computed");
  else
    fail(kernel, "internal error: expected a known argument");
  return intLiteral(0, CType::I32);
}

void KernelEmitter::emitScalarOp(Operation *op) {
  Value result = op->getResult(0);
  if (isa<arith::ConstantOp>(op) || op->use_empty())
    return;
  std::string wish = "t";
  Expr value;
  if (auto dim = dyn_cast<tile::DimOp>(op)) {
    value = extent(dim.getView(), dim.getDim());
  } else if (auto valid = dyn_cast<tile::ValidOp>(op)) {
    value = validExtent(valid);
    wish = "valid";
    if (Expr begin = scalar(valid.getBegin());
        begin.isAtom && !llvm::isDigit(begin.text.front()))
      wish += "_" + begin.text;
  } else if (isa<tensor::ExtractOp, tensor::FromElementsOp, tensor::SplatOp,
                 tile::BroadcastOp>(op)) {
    value = scalar(op->getOperand(0));
  } else {
    SmallVector<Expr> operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalar(operand));
    value = compute(op, operands);
  }
  value = cast(value, typeOf(result));
  bool isInlined = result.hasOneUse() && value.text.size() <= shortText &&
                   result.getUsers().begin()->getBlock() == op->getBlock() &&
                   wishFor(result, "").empty();
  if (!value.isAtom && !isInlined) {
    comment(op);
    std::string name = fresh(wishFor(result, wish));
    out.declare(name, "const " + spelling(value.type) + " " + name + " = " +
                          value.text + ";");
    value = Expr::atom(name, value.type);
  }
  scalars.insert({result, value});
}

//===--- Loops -----------------------------------------------------------===//

void KernelEmitter::declareVariable(Value value, StringRef wish) {
  if (isFragment(value)) {
    fragments.insert_or_assign(value, declareFragment(value, wish));
    return;
  }
  std::string name = fresh(wishFor(value, wish));
  CType type = typeOf(value);
  out.line(spelling(type) + " " + name + ";");
  scalars.insert_or_assign(value, Expr::atom(name, type));
}

void KernelEmitter::emitFor(scf::ForOp loop) {
  comment(loop);
  for (auto [init, argument] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
    if (!isFragment(argument)) {
      CType type = typeOf(argument);
      std::string name = fresh(wishFor(argument, "carried"));
      out.line(spelling(type) + " " + name + " = " + scalar(init).text + ";");
      scalars.insert({argument, Expr::atom(name, type)});
      continue;
    }
    CType type = typeOf(argument);
    auto known = fragments.find(init);
    // An array that nobody else reads is carried on as it is.
    if (known != fragments.end() && !known->second.isShared &&
        known->second.type == type && diesAt(init, loop) &&
        llvm::count(loop->getOperands(), init) == 1) {
      Fragment fragment = known->second;
      fragments.insert({argument, fragment});
      continue;
    }
    if (known == fragments.end() && !init.hasOneUse() && !isCheap(init))
      materialize(init, loop);
    fragments.insert({argument, declareCopy(argument, "carried", init, loop)});
  }

  CType type = typeOf(loop.getInductionVar());
  std::string name = fresh(wishFor(loop.getInductionVar(), "i"));
  scalars.insert({loop.getInductionVar(), Expr::atom(name, type)});
  Expr step = scalar(loop.getStep());
  out.raw("#pragma unroll 1");
  out.open("for (" + spelling(type) + " " + name + " = " +
           scalar(loop.getLowerBound()).text + "; " + name + " < " +
           parenthesized(scalar(loop.getUpperBound()), Prec::Additive) + "; " +
           (step.text == "1" ? "++" + name : name + " += " + step.text) + ")");
  size_t mark = declared.size();
  emitBlock(*loop.getBody());
  emitYield(loop.getBody()->getTerminator(), loop.getRegionIterArgs());
  out.close();
  leaveScope(*loop.getBody(), mark);
  for (auto [argument, result] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults())) {
    if (isFragment(argument))
      fragments.insert({result, fragments.lookup(argument)});
    else
      scalars.insert({result, scalars.lookup(argument)});
  }
}

/// The names that the text of a value, computed now, will contain. `isMoved` is
/// set if an array is read at another register than is written.
void KernelEmitter::collectNames(Value value, bool isMoved,
                                 llvm::StringMap<bool> &read) {
  auto add = [&](StringRef name) { read[name] |= isMoved; };
  if (!isFragment(value)) {
    forEachIdentifier(scalar(value).text, add);
    return;
  }
  if (auto known = fragments.find(value); known != fragments.end())
    return add(known->second.name);
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  isMoved |= isa<tile::BroadcastOp, tilegpu::ConvertLayoutOp>(op);
  for (Value operand : op->getOperands())
    collectNames(operand, isMoved, read);
}

bool KernelEmitter::diesAt(Value value, Operation *reader) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (user == reader)
      continue;
    // `else` yields what `then` changes.
    auto branch = dyn_cast<scf::IfOp>(user->getParentOp());
    if (!branch || !isa<scf::YieldOp>(user) ||
        !branch->isProperAncestor(reader) ||
        user->getParentRegion()->isAncestor(reader->getParentRegion()))
      return false;
  }
  // It must be of this iteration.
  Block *block = reader->getBlock();
  while (block != value.getParentBlock()) {
    auto branch = dyn_cast<scf::IfOp>(block->getParentOp());
    if (!branch)
      return false;
    block = branch->getBlock();
  }
  return true;
}

void KernelEmitter::emitYield(Operation *yield, ValueRange targets) {
  if (hasFailed)
    return;
  struct Assignment {
    Value value, target;
    std::string name;
    Fragment fragment;
    llvm::StringMap<bool> reads;
  };
  auto fragmentsBefore = llvm::map_to_vector(
      targets, [&](Value target) { return fragments.lookup(target); });
  auto scalarsBefore = llvm::map_to_vector(
      targets, [&](Value target) { return scalars.lookup(target); });
  SmallVector<Assignment> pending;
  for (auto [value, target] : llvm::zip_equal(yield->getOperands(), targets)) {
    std::string name = isFragment(target) ? fragments.lookup(target).name
                                          : scalars.lookup(target).text;
    Assignment assignment{value, target, name, fragments.lookup(target), {}};
    collectNames(value, false, assignment.reads);
    bool isThere = isFragment(value) ? fragments.contains(value) &&
                                           fragments.lookup(value).name == name
                                     : scalar(value).text == name;
    if (!isThere)
      pending.push_back(std::move(assignment));
  }
  // All happen at once, so nothing is overwritten that another one reads.
  while (!pending.empty() && !hasFailed) {
    auto isFree = [&](const Assignment &candidate) {
      for (const Assignment &other : pending) {
        auto read = other.reads.find(candidate.name);
        if (read == other.reads.end())
          continue;
        if (&other != &candidate || read->second)
          return false;
      }
      return true;
    };
    auto *next = llvm::find_if(pending, isFree);
    if (next == pending.end()) {
      // A cycle: one value waits elsewhere.
      Assignment &first = pending.front();
      if (isFragment(first.value)) {
        if (fragments.contains(first.value)) {
          Fragment copy = declareFragment(first.value, "previous");
          assignFragment(copy, first.value, yield);
          fragments.insert_or_assign(first.value, copy);
        } else {
          materialize(first.value, yield);
        }
      } else {
        Expr value = scalar(first.value);
        std::string name = fresh("previous");
        out.line("const " + spelling(value.type) + " " + name + " = " +
                 value.text + ";");
        scalars.insert_or_assign(first.value, Expr::atom(name, value.type));
      }
      for (Assignment &assignment : pending) {
        assignment.reads.clear();
        collectNames(assignment.value, false, assignment.reads);
      }
      continue;
    }
    if (isFragment(next->target))
      assignFragment(next->fragment, next->value, yield);
    else
      out.line(next->name + " = " + scalar(next->value).text + ";");
    pending.erase(next);
  }
  // A variable may have stood for a copy of it.
  for (auto [target, fragment, name] :
       llvm::zip_equal(targets, fragmentsBefore, scalarsBefore)) {
    if (isFragment(target))
      fragments.insert_or_assign(target, fragment);
    else
      scalars.insert_or_assign(target, name);
  }
}

//===--- Branches --------------------------------------------------------===//

void KernelEmitter::emitIf(scf::IfOp branch) {
  comment(branch);
  // What the other branch only passes on is changed in place.
  auto passedOn = [&](unsigned i) -> Value {
    Value value = branch.elseBlock()->getTerminator()->getOperand(i);
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != branch->getBlock() ||
        !isa<scf::ForOp>(argument.getOwner()->getParentOp()) ||
        typeOf(value) != typeOf(branch.getResult(i)))
      return {};
    bool isInside = llvm::all_of(value.getUsers(), [&](Operation *user) {
      return branch->isProperAncestor(user);
    });
    bool isOnce = llvm::count(branch.elseYield().getOperands(), value) == 1;
    return isInside && isOnce ? value : Value();
  };
  for (OpResult result : branch.getResults()) {
    Value source = passedOn(result.getResultNumber());
    if (!source) {
      declareVariable(result, "result");
    } else if (isFragment(result)) {
      fragments.insert({result, fragments.lookup(source)});
    } else {
      scalars.insert({result, scalars.lookup(source)});
    }
  }
  auto emitBranch = [&](Block &block) {
    size_t mark = declared.size();
    emitBlock(block);
    emitYield(block.getTerminator(), branch.getResults());
    leaveScope(block, mark);
  };
  out.open("if (" + scalar(branch.getCondition()).text + ")");
  emitBranch(*branch.thenBlock());
  if (branch.elseBlock()) {
    size_t before = out.size();
    out.reopen("else");
    emitBranch(*branch.elseBlock());
    if (out.size() == before + 1)
      out.dropReopened();
  }
  out.close();
}

} // namespace tilec::cuda

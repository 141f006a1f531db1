//===- VersionGrid.cpp - A body for full grid tiles ------------*- C++ -*-===//
//
// Doubles the body of the grid: one for the programs all of whose tiles lie
// inside their axes, where valid extents are constants, and one for the others,
// few on large problems, which stays as it was.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/SplitLoops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::tile;

/// The valid extents of the grid's own tiles that could be asked for in front
/// of the body.
static SmallVector<ValidOp> gridValids(scf::ForallOp grid) {
  SmallVector<ValidOp> valids;
  for (auto valid : grid.getBody()->getOps<ValidOp>()) {
    auto begin = dyn_cast<BlockArgument>(valid.getBegin());
    bool isGridTile = begin && begin.getOwner() == grid.getBody();
    bool isDefinedBefore =
        !grid->isAncestor(valid.getExtent().getParentRegion()->getParentOp());
    if (isGridTile && isDefinedBefore)
      valids.push_back(valid);
  }
  return valids;
}

bool mlir::tile::versionGrid(KernelOp kernel) {
  scf::ForallOp grid = kernel.getGrid();
  if (!grid)
    return false;
  SmallVector<ValidOp> valids = gridValids(grid);
  if (valids.empty())
    return false;

  Block *body = grid.getBody();
  Location loc = grid.getLoc();
  OpBuilder builder(body, body->begin());
  Value allFull;
  for (ValidOp valid : valids) {
    valid->moveBefore(body, builder.getInsertionPoint());
    builder.setInsertionPointAfter(valid);
    Value size = arith::ConstantIndexOp::create(builder, loc, valid.getSize());
    Value isFull = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         valid, size);
    allFull =
        allFull ? arith::AndIOp::create(builder, loc, allFull, isFull) : isFull;
    builder.setInsertionPointAfter(allFull.getDefiningOp());
  }

  auto version = scf::IfOp::create(builder, loc, TypeRange(), allFull,
                                   /*withElseRegion=*/true);
  version->setAttr(kVersionedAttr, builder.getUnitAttr());
  Block *other = version.elseBlock();
  other->getOperations().splice(other->begin(), body->getOperations(),
                                std::next(Block::iterator(version)),
                                Block::iterator(body->getTerminator()));

  OpBuilder full = version.getThenBodyBuilder();
  IRMapping mapping;
  for (ValidOp valid : valids)
    mapping.map(
        valid.getResult(),
        arith::ConstantIndexOp::create(full, loc, valid.getSize()).getResult());
  for (Operation &op : other->without_terminator())
    full.clone(op, mapping);

  remark::passed(loc, remark::RemarkOpts::name("grid-versioned")
                          .category(kSplitLoopsCategory)
                          .function(kernel.getName()))
      << "the grid has a body for full tiles and one for others";
  return true;
}

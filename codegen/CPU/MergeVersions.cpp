//===- MergeVersions.cpp - One body for full and partial tiles --*- C++ -*-===//
//
// The passes on tiles give the grid two bodies: one for programs whose tiles
// are all full, one for the others. For a GPU that is worth it even if only the
// loads differ. Here a load of a block finds out at run time whether the block
// is full, at the cost of a comparison, so the body for the others serves all
// programs equally well unless it has more to compute: lanes to mask, or loops
// that are not split. Half the code compiles in half the time.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Passes.h"
#include "dialects/Tile/IR/Tile.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tilec {

#define GEN_PASS_DEF_CPUMERGEVERSIONS
#include "codegen/CPU/Passes.h.inc"

namespace {

/// How often a region has each op that computes on tiles.
struct Work {
  llvm::StringMap<unsigned> ops;
  bool masks = false;

  explicit Work(Region &region) {
    region.walk([&](Operation *op) {
      bool onTiles =
          llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
      // Loads and stores of blocks choose their way as they run.
      if (!onTiles || isa<tile::LoadOp>(op) ||
          op->hasTrait<OpTrait::ConstantLike>())
        return;
      ++ops[op->getName().getStringRef()];
      masks |= isa<tile::SelectValidOp, arith::SelectOp>(op);
    });
  }

  bool sameAs(const Work &other) const {
    return ops.size() == other.ops.size() && llvm::all_of(ops, [&](auto &op) {
             return other.ops.lookup(op.first()) == op.second;
           });
  }
};

struct MergeVersionsPass : impl::CPUMergeVersionsBase<MergeVersionsPass> {
  void runOnOperation() override {
    SmallVector<scf::IfOp> versions;
    getOperation()->walk([&](scf::IfOp op) {
      if (op->hasAttr("tile.versioned") && op.elseBlock() &&
          op->getNumResults() == 0)
        versions.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (scf::IfOp op : versions) {
      Work full(op.getThenRegion()), other(op.getElseRegion());
      // Without masks, what the full version has more is a loop split in two.
      if (other.masks && !other.sameAs(full))
        continue;
      Operation *end = op.elseBlock()->getTerminator();
      rewriter.eraseOp(end);
      rewriter.inlineBlockBefore(op.elseBlock(), op);
      rewriter.eraseOp(op);
    }
  }
};

} // namespace
} // namespace tilec

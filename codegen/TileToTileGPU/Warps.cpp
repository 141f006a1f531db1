//===- Warps.cpp - How many warps, and how they share a product -*- C++ -*-===//
//
// See Warps.h for the rules.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToTileGPU/Warps.h"

#include "codegen/TileToTileGPU/Views.h"
#include "dialects/TileGPU/IR/TileGPU.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

/// Whether an operand of `dot` was computed from another product: its rows are
/// where that product has them.
static bool followsAnother(tile::DotOp dot) {
  llvm::SetVector<Value> work;
  work.insert(dot.getLhs());
  for (unsigned i = 0; i < work.size(); ++i) {
    Operation *op = work[i].getDefiningOp();
    if (!op)
      continue;
    if (isa<tile::DotOp, tilegpu::MMAOp, tilegpu::FMADotOp>(op))
      return true; // The second and third are what became of a dot.
    if (op->hasTrait<OpTrait::Elementwise>() || isa<tile::SelectValidOp>(op))
      for (Value operand : op->getOperands())
        work.insert(operand);
  }
  return false;
}

/// Warps for which no accumulator takes more registers of a thread than it
/// should.
static int64_t warpsForProducts(tile::KernelOp kernel) {
  bool isChain = kernel
                     .walk([](tile::DotOp dot) {
                       return followsAnother(dot) ? WalkResult::interrupt()
                                                  : WalkResult::advance();
                     })
                     .wasInterrupted();
  int64_t warps = 0;
  kernel.walk([&](tile::DotOp dot) {
    Type element = dot.getLhs().getType().getElementType();
    bool is16Bit = element.isF16() || element.isBF16();
    int64_t registers = is16Bit && !isChain ? 128 : 64;
    warps = std::max<int64_t>(
        warps, llvm::PowerOf2Ceil(llvm::divideCeil(
                   dot.getType().getNumElements(), 32 * registers)));
  });
  return std::min<int64_t>(warps, 8);
}

/// The 16-byte vectors of the largest tile that is loaded or stored.
static int64_t largestVectors(tile::KernelOp kernel) {
  int64_t bytes = 16;
  auto consider = [&](RankedTensorType type) {
    int64_t element =
        llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
    bytes = std::max(bytes, type.getNumElements() * element);
  };
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      consider(load.getType());
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      consider(store.getValue().getType());
  });
  return bytes / 16;
}

template <typename... Ops> static bool contains(tile::KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<Ops...>(op) ? WalkResult::interrupt()
                               : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether some rows begin at addresses that are no multiples of 4: shifting
/// them into place takes more instructions and more registers.
static bool isHardlyAligned(tile::KernelOp kernel) {
  return kernel
      .walk([](tile::LoadOp load) {
        return ViewOrigin::of(load.getView()).alignment() < 4
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// How many rows a tile has at most that is reduced along them.
static int64_t rowsReduced(tile::KernelOp kernel) {
  int64_t rows = 1;
  kernel.walk([&](tile::ReduceOp reduce) {
    rows = std::max(rows, reduce.getType().getNumElements());
  });
  return rows;
}

int64_t tilec::chooseWarps(tile::KernelOp kernel) {
  if (int64_t warps = kernel.getSchedule().get("warps", 0))
    return std::clamp<int64_t>(llvm::PowerOf2Ceil(warps), 1, 32);
  if (int64_t forProducts = warpsForProducts(kernel))
    return forProducts;
  bool reduces =
      contains<tile::ReduceOp, tile::ArgReduceOp, tile::ScanOp>(kernel);
  int64_t vectors = llvm::PowerOf2Ceil(largestVectors(kernel));
  int64_t threads = vectors;
  if (reduces && isHardlyAligned(kernel)) {
    threads =
        vectors > 128 ? std::clamp<int64_t>(vectors / 4, 128, 1024) : vectors;
  } else if (reduces) {
    // Sums of exponentials take two exchanges between threads, and few
    // registers in between.
    if (vectors > 128)
      threads = contains<math::ExpOp, math::Exp2Op>(kernel)
                    ? std::clamp<int64_t>(vectors / 8, 64, 256)
                    : std::clamp<int64_t>(vectors / 2, 128, 256);
    // What is computed of each row takes registers of every thread, which more
    // threads have fewer of. Rows in one go keep all threads busy; loops over
    // longer ones want several blocks, of which one reduces while others read.
    constexpr int64_t fewRows = 2;
    if (vectors > 1024 && rowsReduced(kernel) <= fewRows)
      threads = std::clamp<int64_t>(
          vectors / 8, contains<scf::ForOp>(kernel) ? 256 : 512, 1024);
  } else if (vectors > 128) {
    threads = std::clamp<int64_t>(vectors / 4, 128, 256);
  }
  return std::max<int64_t>(1, threads / 32);
}

/// Whether the rows of the product are reduced, or it is an operand of another
/// product: looks through what keeps the tile's elements where they are.
static bool wantsWholeRows(tile::DotOp dot) {
  int64_t firstColumn =
      dot.getType().getRank() - static_cast<int64_t>(dot.getRhsFree().size());
  llvm::SetVector<Value> work;
  work.insert(dot.getResult());
  for (unsigned i = 0; i < work.size(); ++i) {
    for (OpOperand &use : work[i].getUses()) {
      Operation *user = use.getOwner();
      if (auto reduce = dyn_cast<tile::ReduceOp>(user)) {
        if (llvm::any_of(reduce.getAxes(),
                         [&](int64_t axis) { return axis >= firstColumn; }))
          return true;
      } else if (auto other = dyn_cast<tile::DotOp>(user)) {
        if (other.getLhs() == work[i])
          return true;
      } else if (auto yield = dyn_cast<scf::YieldOp>(user)) {
        if (auto branch = dyn_cast<scf::IfOp>(yield->getParentOp()))
          work.insert(branch.getResult(use.getOperandNumber()));
      } else if (user->hasTrait<OpTrait::Elementwise>() ||
                 isa<tile::SelectValidOp>(user)) {
        for (Value result : user->getResults())
          work.insert(result);
      }
    }
  }
  return false;
}

WarpGrid tilec::chooseWarpGrid(tile::DotOp dot, int64_t warps) {
  auto [batches, m, n] = tilegpu::getMatrixShape(
      dot.getType(), static_cast<int64_t>(dot.getLhsBatch().size()),
      static_cast<int64_t>(dot.getLhsFree().size()));
  auto most = static_cast<unsigned>(std::max<int64_t>(1, m / 16));
  auto batch = static_cast<unsigned>(std::min(batches, warps));
  unsigned all = static_cast<unsigned>(warps) / batch;
  if (wantsWholeRows(dot) || followsAnother(dot)) {
    unsigned along = std::min(most, all);
    return {batch, along, all / along};
  }
  WarpGrid best{batch, 1, all};
  int64_t bestCost = INT64_MAX;
  for (unsigned along = 1; along <= all; along *= 2) {
    // Elements of both operands that one warp reads for one k; a split finer
    // than one instruction makes copies.
    int64_t rows = std::max<int64_t>(16, m / along);
    int64_t columns = std::max<int64_t>(8, n / (all / along));
    int64_t cost = rows + columns + (along > most ? 1 << 20 : 0);
    if (cost < bestCost) {
      bestCost = cost;
      best = {batch, along, all / along};
    }
  }
  return best;
}

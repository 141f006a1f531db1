//===- ChunkLoop.h - A loop over the chunks of an axis ---------*- C++ -*-===//
//
// Private to tile-loop-long-axes (LongAxis.h). LongAxisLoops.cpp has what does
// not depend on the kind of sink, LongAxisResults.cpp the rest.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_DIALECTS_TILE_TRANSFORMS_CHUNKLOOP_H
#define TILEC_DIALECTS_TILE_TRANSFORMS_CHUNKLOOP_H

#include "dialects/Tile/Transforms/LongAxis.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::tile {

class ChunkLoop {
public:
  /// `number` counts the loops of the kernel.
  ChunkLoop(const LongAxis &axis, ArrayRef<ChunkSink> sinks, Operation *before,
            unsigned number)
      : axis(axis), sinks(sinks), b(before->getLoc(), before), number(number) {}

  /// Builds the loop, and replaces the results of the sinks by its own.
  void build();

private:
  void collectOps();
  void addToSlice(Value tile);

  // The frame. Values are carried in the order in which carry() is called, for
  // inits in front of the loop; next() then gives the values after an
  // iteration in the same order.
  void carry(Value init) { inits.push_back(init); }
  Value carried(unsigned i) { return loop.getRegionIterArg(i); }
  void next(Value value) { nexts.push_back(value); }
  Value finished(unsigned i) { return loop.getResult(i); }

  void carrySink(const ChunkSink &sink);
  void carryScan(ScanOp op);
  void computeSlice(Operation *op);
  void computeScan(ScanOp op);
  void computeSink(const ChunkSink &sink);
  unsigned finishSink(const ChunkSink &sink, unsigned i);

  // Slice ops and stores, on one chunk.
  Operation *cloneOnChunk(Operation *op);
  template <typename AccessOp> void moveBlock(AccessOp op, Value tile);
  template <typename AccessOp> void maskElements(AccessOp op, Value tile);
  void limitSelect(SelectValidOp op, SelectValidOp original);
  /// How many positions of the chunk exist, of `valid` (null: all) in the whole
  /// axis; null for the whole chunk.
  Value validInChunk(Value valid);
  SmallVector<Value> validExtents(RankedTensorType type, int64_t axis,
                                  Value valid);
  /// Sets the lanes beyond the axis's end to `pad`.
  Value neutralize(Value chunk, int64_t axis, Pad pad);

  // Sinks with results (LongAxisResults.cpp).
  void computeReduce(ReduceOp op);
  void computeArgReduce(ArgReduceOp op);
  void computeDot(DotOp op);
  void computeOnline(const ChunkSink &sink);
  Value reduceChunk(ReduceOp op, Value chunk);
  Value combine(ReduceKind kind, Value x, Value y);
  Value repeat(Value held, RankedTensorType type, ArrayRef<int64_t> dropped);
  Value constantLike(Type type, Pad pad);
  /// What stands for a tile in the loop's values and in what is computed of
  /// them: of rank 0, its element.
  Value held(Value tile);
  Type heldType(RankedTensorType tile);
  Value referenceOf(Value max, OnlineReference reference);
  Value isInfinite(Value x, bool negativeOnly);

  Value chunkOf(Value tile) { return mapping.lookupOrDefault(tile); }
  RankedTensorType chunkType(Value tile);
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  const LongAxis &axis;
  ArrayRef<ChunkSink> sinks;
  ImplicitLocOpBuilder b;
  unsigned number;
  /// A slice op, or a sink (with sums: where the last of them stands).
  struct LoopOp {
    Operation *op;
    const ChunkSink *sink;
  };
  SmallVector<LoopOp> ops; // In program order.
  SetVector<Operation *> slice;
  SmallVector<Value> inits, nexts;
  scf::ForOp loop;
  Value begin; // Of the chunk.
  IRMapping mapping;
  DenseMap<Value, Value> validCache;
};

/// Whether a scan runs along the long axis.
inline bool isLongScan(Operation *op, const LongAxis &axis) {
  auto scan = dyn_cast<ScanOp>(op);
  return scan &&
         axis.axisOf(scan.getValue()) == static_cast<int64_t>(scan.getAxis());
}

} // namespace mlir::tile

#endif // TILEC_DIALECTS_TILE_TRANSFORMS_CHUNKLOOP_H

//===- TileDebugOps.cpp - Checks and messages ------------------*- C++ -*-===//
//
// Verifiers of the ops that report to the host.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/SourcePlace.h"
#include "dialects/Tile/IR/TileVerify.h"

using namespace mlir;
using namespace mlir::tile;

FileLineColLoc mlir::tile::findFile(Location location) {
  FileLineColLoc found;
  location->walk([&](Location part) {
    if (auto file = dyn_cast<FileLineColLoc>(part)) {
      found = file;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}

LogicalResult PrintOp::verify() {
  size_t axes = 0;
  for (Value value : getValues())
    if (auto tile = dyn_cast<RankedTensorType>(value.getType()))
      axes += static_cast<size_t>(tile.getRank());
  if (getValid().empty() || getValid().size() == axes)
    return success();
  return emitOpError() << "expected no valid extent or one per axis of the "
                          "tiles ("
                       << axes << "), found " << getValid().size();
}

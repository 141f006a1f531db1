//===- TileDialect.cpp - Registration of the tile dialect ------*- C++ -*-===//
//
// Brings the generated definitions of all ops into one translation unit and
// registers them. Verifiers are in the file of each op group, folds and
// canonicalization patterns in TileFolds.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::tile;

#include "dialects/Tile/IR/TileDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Tile/IR/TileOps.cpp.inc"

void TileDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/Tile/IR/TileOps.cpp.inc"
      >();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

void mlir::tile::registerTileDialect(DialectRegistry &registry) {
  registry.insert<TileDialect>();
}

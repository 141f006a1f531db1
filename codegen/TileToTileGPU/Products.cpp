//===- Products.cpp - Operands of products go where they are read -*- C++ -===//
//
// See Products.h. A product of two matrices has one axis of each operand that
// is free and one that is contracted; whatever else the language allows is
// brought to that form or computed without tensor cores.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToTileGPU/Products.h"

#include "codegen/CUDA/IntegerFacts.h"
#include "codegen/TileToTileGPU/Views.h"
#include "codegen/TileToTileGPU/Warps.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;
using layout::LinearLayout;
using tile::DotOp;
using tilegpu::BufferType;

namespace {

/// An operand where a product reads it.
struct Placed {
  Value value; // A buffer or a fragment.
  Value slot;  // Of a buffer.
  bool transposed = false;
};

/// The role of an operand's axes.
struct Axes {
  int64_t free, contracted;
  ArrayRef<int64_t> batch;
};

class ProductPlacer {
public:
  ProductPlacer(tile::KernelOp kernel, int64_t warps, int64_t arch,
                Anchors &anchors)
      : kernel(kernel), warps(warps), arch(arch), anchors(anchors),
        facts(kernel), b(kernel.getContext()) {}
  LogicalResult run();

private:
  LogicalResult lower(DotOp dot);
  void expandToReduction(DotOp dot);
  void widenFloat8(DotOp dot);
  bool fitsTensorCores(DotOp dot, int64_t m, int64_t n, int64_t k);
  Value accumulator(DotOp dot);
  Placed place(OpOperand &operand, Axes axes, bool isLhs);
  std::optional<Placed> copyLoad(OpOperand &operand, Axes axes, bool isLhs);
  Placed storeToBuffer(OpOperand &operand, Axes axes, bool isLhs);
  int64_t copyVector(tile::LoadOp load, int64_t contiguousDim);
  Value zeroIndex();
  void remark(Operation *op, StringRef name, const Twine &reason);

  tile::KernelOp kernel;
  int64_t warps, arch;
  Anchors &anchors;
  cuda::IntegerFacts facts;
  IRRewriter b;
  /// Loads that have been copied to a buffer, and how.
  DenseMap<std::pair<Operation *, int64_t>, Placed> copies;
  SmallVector<Operation *> replacedLoads;
};

} // namespace

void ProductPlacer::remark(Operation *op, StringRef name, const Twine &reason) {
  remark::missed(op->getLoc(), remark::RemarkOpts::name(name).category(
                                   "convert-tile-to-tilegpu"))
      << reason.str();
}

Value ProductPlacer::zeroIndex() {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&kernel.getBody().front());
  return arith::ConstantIndexOp::create(b, kernel.getLoc(), 0);
}

//===----------------------------------------------------------------------===//
// Forms that are no product of matrices
//===----------------------------------------------------------------------===//

/// A tile of `type`'s shape and `element` elements, all of them zero.
static Value zeros(OpBuilder &b, Location loc, RankedTensorType type) {
  return arith::ConstantOp::create(
      b, loc, type,
      DenseElementsAttr::get(type, b.getZeroAttr(type.getElementType())));
}

/// The elements of a product's operand in the type of its sums.
static Value widen(OpBuilder &b, Location loc, Value value, Type element,
                   bool isUnsigned) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  auto wide = RankedTensorType::get(type.getShape(), element);
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(b, loc, wide, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(b, loc, wide, value);
  return arith::ExtSIOp::create(b, loc, wide, value);
}

/// Multiplies elementwise and reduces; all axes of both operands get a place in
/// one tile: batch, lhs free, rhs free, contracted.
void ProductPlacer::expandToReduction(DotOp dot) {
  Location loc = dot.getLoc();
  RankedTensorType result = dot.getType();
  Type element = result.getElementType();
  int64_t numBatch = dot.getLhsBatch().size();
  SmallVector<int64_t> lhsFree = dot.getLhsFree(), rhsFree = dot.getRhsFree();
  auto numFreeLhs = static_cast<int64_t>(lhsFree.size());
  int64_t firstContracted = result.getRank();

  SmallVector<int64_t> shape(result.getShape());
  for (int64_t axis : dot.getLhsContract())
    shape.push_back(dot.getLhs().getType().getDimSize(axis));
  auto full = RankedTensorType::get(shape, element);

  auto spread = [&](Value operand, ArrayRef<int64_t> batch,
                    ArrayRef<int64_t> free, int64_t firstFree,
                    ArrayRef<int64_t> contracted, bool isUnsigned) {
    SmallVector<int64_t> dims(
        cast<RankedTensorType>(operand.getType()).getRank());
    for (auto [i, axis] : llvm::enumerate(batch))
      dims[axis] = i;
    for (auto [i, axis] : llvm::enumerate(free))
      dims[axis] = firstFree + i;
    for (auto [i, axis] : llvm::enumerate(contracted))
      dims[axis] = firstContracted + i;
    Value wide = widen(b, loc, operand, element, isUnsigned);
    return tile::BroadcastOp::create(b, loc, full, wide, ValueRange(), dims);
  };
  Value lhs = spread(dot.getLhs(), dot.getLhsBatch(), lhsFree, numBatch,
                     dot.getLhsContract(), dot.getLhsUnsigned());
  Value rhs =
      spread(dot.getRhs(), dot.getRhsBatch(), rhsFree, numBatch + numFreeLhs,
             dot.getRhsContract(), dot.getRhsUnsigned());
  bool isFloat = isa<FloatType>(element);
  Value product = isFloat ? Value(arith::MulFOp::create(b, loc, lhs, rhs))
                          : Value(arith::MulIOp::create(b, loc, lhs, rhs));
  SmallVector<int64_t> axes;
  for (size_t i = 0; i < dot.getLhsContract().size(); ++i)
    axes.push_back(firstContracted + static_cast<int64_t>(i));
  Value sum = tile::ReduceOp::create(b, loc, result, tile::ReduceKind::Sum,
                                     product, axes);
  if (Value acc = dot.getAcc())
    sum = isFloat ? Value(arith::AddFOp::create(b, loc, acc, sum))
                  : Value(arith::AddIOp::create(b, loc, acc, sum));
  b.replaceOp(dot, sum);
}

/// Before sm_89 no instruction takes 8-bit floats; f16 holds all of them.
void ProductPlacer::widenFloat8(DotOp dot) {
  for (OpOperand *operand : {&dot.getLhsMutable(), &dot.getRhsMutable()}) {
    auto type = cast<RankedTensorType>(operand->get().getType());
    operand->set(arith::ExtFOp::create(
        b, dot.getLoc(), RankedTensorType::get(type.getShape(), b.getF16Type()),
        operand->get()));
  }
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The permutation that puts an operand's axes into the order of its buffer:
/// batch, then rows, then columns, which are contiguous.
static SmallVector<int64_t> storageOrder(Axes axes, bool freeIsContiguous) {
  SmallVector<int64_t> order(axes.batch);
  order.push_back(freeIsContiguous ? axes.contracted : axes.free);
  order.push_back(freeIsContiguous ? axes.free : axes.contracted);
  return order;
}

/// lhs is M x K and rhs K x N: whether the storage is the other way around.
static bool isTransposed(bool isLhs, bool freeIsContiguous) {
  return isLhs == freeIsContiguous;
}

static SmallVector<int64_t> permuted(ArrayRef<int64_t> values,
                                     ArrayRef<int64_t> order) {
  SmallVector<int64_t> result;
  for (int64_t i : order)
    result.push_back(values[i]);
  return result;
}

/// Bytes that one copy may move: addresses of rows and the first column are
/// multiples of them.
int64_t ProductPlacer::copyVector(tile::LoadOp load, int64_t contiguousDim) {
  ViewOrigin origin = ViewOrigin::of(load.getView());
  int64_t element =
      tilegpu::getElementBytes(load.getView().getType().getElementType());
  if (contiguousDim < 0 || contiguousDim != origin.unitDim())
    return element;
  int64_t bytes = std::min<int64_t>(16, origin.alignment());
  int64_t start = facts.divisorOf(load.getIndices()[contiguousDim]) * element;
  return std::max(element, std::min(bytes, start));
}

/// An operand that is a load and nothing else is copied to shared memory as it
/// is, the axis along which memory is contiguous in the rows.
std::optional<Placed> ProductPlacer::copyLoad(OpOperand &operand, Axes axes,
                                              bool isLhs) {
  auto load = operand.get().getDefiningOp<tile::LoadOp>();
  if (!load || load.getPad() != tile::Pad::Zero)
    return std::nullopt;
  auto isProduct = [](Operation *user) { return isa<DotOp>(user); };
  if (!llvm::all_of(load->getUsers(), isProduct))
    return std::nullopt;
  int64_t unit = ViewOrigin::of(load.getView()).unitDim();
  bool freeIsContiguous =
      unit >= 0 ? load.getDims()[axes.free] == unit : !isLhs;
  SmallVector<int64_t> order = storageOrder(axes, freeIsContiguous);
  SmallVector<int64_t> shape = permuted(load.getType().getShape(), order);
  auto type = BufferType::forTile(shape, load.getType().getElementType());
  int64_t vector = copyVector(load, load.getDims()[order.back()]);
  vector = std::min(vector, type.getColumns() * type.getElementBytes());
  if (vector < 16 && type.getColumns() * type.getElementBytes() >= 16)
    remark(load, "narrow-copy",
           "copies " + Twine(vector) +
               " bytes at a time: for 16, the tensor '" +
               ViewOrigin::of(load.getView()).name() +
               "' needs a contiguous axis of the product and rows that begin "
               "at multiples of 16 bytes");

  // A product that has another role for the axes may want another order.
  auto key = std::make_pair(load.getOperation(), order.back());
  if (auto found = copies.find(key); found != copies.end()) {
    Placed placed = found->second;
    placed.transposed = isTransposed(isLhs, freeIsContiguous);
    return placed;
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(load);
  Location loc = load.getLoc();
  Placed placed;
  placed.value = tilegpu::AllocOp::create(
      b, loc, type, b.getStringAttr(ViewOrigin::of(load.getView()).name()),
      IntegerAttr());
  placed.slot = zeroIndex();
  placed.transposed = isTransposed(isLhs, freeIsContiguous);
  SmallVector<Value> valid;
  if (!load.getValid().empty())
    for (int64_t axis : order)
      valid.push_back(load.getValid()[axis]);
  tilegpu::AsyncCopyOp::create(b, loc, load.getView(), load.getIndices(), valid,
                               load.getPredicate(), placed.value, placed.slot,
                               permuted(load.getDims(), order), vector, shape);
  tilegpu::CommitOp::create(b, loc);
  tilegpu::WaitOp::create(b, loc, 0);
  copies[key] = placed;
  replacedLoads.push_back(load);
  return placed;
}

/// Any other operand is written to shared memory from registers.
Placed ProductPlacer::storeToBuffer(OpOperand &operand, Axes axes, bool isLhs) {
  Location loc = operand.getOwner()->getLoc();
  auto type = cast<RankedTensorType>(operand.get().getType());
  bool freeIsContiguous = axes.free == type.getRank() - 1;
  SmallVector<int64_t> order = storageOrder(axes, freeIsContiguous);
  Value value = operand.get();
  SmallVector<int64_t> shape = permuted(type.getShape(), order);
  if (!llvm::is_sorted(order)) {
    SmallVector<int64_t> dims(order.size());
    for (auto [to, from] : llvm::enumerate(order))
      dims[from] = to;
    value = tile::BroadcastOp::create(
        b, loc, RankedTensorType::get(shape, type.getElementType()), value,
        ValueRange(), dims);
  }
  auto bufferType = BufferType::forTile(shape, type.getElementType());
  Placed placed;
  placed.value = tilegpu::AllocOp::create(
      b, loc, bufferType, b.getStringAttr("operand"), IntegerAttr());
  placed.slot = zeroIndex();
  placed.transposed = isTransposed(isLhs, freeIsContiguous);
  tilegpu::LocalStoreOp::create(b, loc, value, placed.value, placed.slot);
  return placed;
}

Placed ProductPlacer::place(OpOperand &operand, Axes axes, bool isLhs) {
  if (std::optional<Placed> placed = copyLoad(operand, axes, isLhs))
    return *placed;
  return storeToBuffer(operand, axes, isLhs);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool ProductPlacer::fitsTensorCores(DotOp dot, int64_t m, int64_t n,
                                    int64_t k) {
  Type element = dot.getLhs().getType().getElementType();
  Type other = dot.getRhs().getType().getElementType();
  auto isFloat8 = [](Type type) {
    return isa<Float8E4M3FNType, Float8E5M2Type>(type);
  };
  if (element.isF64() || (element.isInteger() && !element.isInteger(8))) {
    remark(dot, "no-tensor-cores",
           "tensor cores take 16- and 8-bit operands and tf32; these do not "
           "fit");
    return false;
  }
  if (element.isF32() && dot.getPrecision() == tile::Precision::IEEE) {
    remark(dot, "no-tensor-cores",
           "exact f32 products are not for tensor cores; 'precision = tf32' "
           "or 'tf32x3' are");
    return false;
  }
  if (isFloat8(element) != isFloat8(other))
    return false;
  for (int64_t axis : dot.getLhsBatch())
    if (dot.getLhs().getType().getDimSize(axis) != 1) {
      remark(dot, "no-tensor-cores",
             "batch axes of a product on tensor cores have a tile of 1");
      return false;
    }
  int64_t instructionK = 256 / element.getIntOrFloatBitWidth();
  if (m % 16 == 0 && n % 8 == 0 && k % instructionK == 0)
    return true;
  remark(dot, "no-tensor-cores",
         "expected multiples of 16 x 8 x " + Twine(instructionK) +
             ", found a product of " + Twine(m) + " x " + Twine(n) + " x " +
             Twine(k));
  return false;
}

Value ProductPlacer::accumulator(DotOp dot) {
  if (Value acc = dot.getAcc())
    return acc;
  return zeros(b, dot.getLoc(), dot.getType());
}

/// Rows of 4 to 8 threads by 8 to 4 threads, up to 8 x 8 results each.
static LinearLayout fmaLayout(ArrayRef<int64_t> shape, WarpGrid grid) {
  unsigned rank = shape.size();
  SmallVector<unsigned> size(rank, 1), threads(rank, 1), warpsOf(rank, 1),
      order;
  auto along = [&](unsigned axis, unsigned lanes, unsigned numWarps) {
    int64_t each = shape[axis] / (int64_t(lanes) * numWarps);
    return static_cast<unsigned>(std::clamp<int64_t>(each, 1, 4));
  };
  unsigned row = rank - 2, column = rank - 1;
  threads[row] = 4;
  threads[column] = 8;
  warpsOf[row] = grid.m;
  warpsOf[column] = grid.n;
  size[row] = along(row, 4, grid.m);
  size[column] = along(column, 8, grid.n);
  for (unsigned i = rank; i-- > 0;)
    order.push_back(i);
  return LinearLayout::blocked(shape, size, threads, warpsOf, order);
}

LogicalResult ProductPlacer::lower(DotOp dot) {
  b.setInsertionPoint(dot);
  SmallVector<int64_t> lhsFree = dot.getLhsFree(), rhsFree = dot.getRhsFree();
  if (lhsFree.size() != 1 || rhsFree.size() != 1 ||
      dot.getLhsContract().size() != 1) {
    remark(dot, "no-tensor-cores",
           "expected one free axis of each operand and one contracted, found " +
               Twine(lhsFree.size()) + ", " + Twine(rhsFree.size()) + " and " +
               Twine(dot.getLhsContract().size()));
    expandToReduction(dot);
    return success();
  }
  RankedTensorType type = dot.getType();
  int64_t m = type.getDimSize(type.getRank() - 2);
  int64_t n = type.getDimSize(type.getRank() - 1);
  int64_t k = dot.getLhs().getType().getDimSize(dot.getLhsContract()[0]);
  Type element = dot.getLhs().getType().getElementType();
  if (arch < 89 && isa<Float8E4M3FNType, Float8E5M2Type>(element)) {
    widenFloat8(dot);
    element = b.getF16Type();
  }
  bool useTensorCores = fitsTensorCores(dot, m, n, k);
  WarpGrid grid = chooseWarpGrid(dot, warps, m, n);
  Axes lhsAxes{lhsFree[0], dot.getLhsContract()[0], dot.getLhsBatch()};
  Axes rhsAxes{rhsFree[0], dot.getRhsContract()[0], dot.getRhsBatch()};

  // A left operand that is computed stays where it is if all its rows are in
  // one warp, as the weights of attention are.
  unsigned kWidth = std::max(1u, 32 / element.getIntOrFloatBitWidth());
  bool isComputed = !dot.getLhs().getDefiningOp<tile::LoadOp>();
  bool inRegisters = useTensorCores && isComputed && grid.n == 1 &&
                     type.getRank() == 2 && lhsAxes.free == 0;
  Placed lhs = inRegisters ? Placed{dot.getLhs(), Value(), false}
                           : place(dot.getLhsMutable(), lhsAxes, true);
  Placed rhs = place(dot.getRhsMutable(), rhsAxes, false);

  Value acc = accumulator(dot);
  Operation *product;
  if (useTensorCores) {
    auto mma = tilegpu::MMAOp::create(
        b, dot.getLoc(), type, acc, lhs.value, lhs.slot, rhs.value, rhs.slot,
        dot.getPrecision(), lhs.transposed, rhs.transposed,
        dot.getLhsUnsigned(), dot.getRhsUnsigned());
    LinearLayout layout = LinearLayout::mmaAccumulator({m, n}, grid.m, grid.n);
    while (layout.rank() < static_cast<unsigned>(type.getRank()))
      layout = layout.expandDims(0);
    anchors.results.try_emplace(mma.getResult(), layout);
    if (inRegisters)
      anchors.operands.try_emplace(
          &mma.getLhsMutable(),
          LinearLayout::mmaOperandA({m, k}, kWidth, grid.m, grid.n));
    product = mma;
  } else {
    auto fma = tilegpu::FMADotOp::create(
        b, dot.getLoc(), type, acc, lhs.value, lhs.slot, rhs.value, rhs.slot,
        dot.getLhsBatch().size(), lhs.transposed, rhs.transposed,
        dot.getLhsUnsigned(), dot.getRhsUnsigned());
    anchors.results.try_emplace(fma.getResult(),
                                fmaLayout(type.getShape(), grid));
    product = fma;
  }
  b.replaceOp(dot, product->getResults());
  return success();
}

LogicalResult ProductPlacer::run() {
  SmallVector<DotOp> dots;
  kernel.walk([&](DotOp dot) { dots.push_back(dot); });
  for (DotOp dot : dots)
    if (failed(lower(dot)))
      return failure();
  for (Operation *load : replacedLoads)
    if (load->use_empty())
      b.eraseOp(load);
  return success();
}

LogicalResult tilec::placeProducts(tile::KernelOp kernel, int64_t warps,
                                   int64_t arch, Anchors &anchors) {
  return ProductPlacer(kernel, warps, arch, anchors).run();
}

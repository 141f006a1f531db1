//===- Products.cpp - Operands of products go where they are read -*- C++ -===//
//
// See Products.h. What the language contracts are tiles with any number of
// free, contracted and batch axes. All extents are powers of two, so several
// axes that lie side by side are as good as one: an operand becomes matrices by
// the order in which its axes are stored, one matrix a position of the batch
// axes. Only a product without a free axis on one side, a matrix times a
// vector, is none of matrices.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToTileGPU/Products.h"

#include "codegen/TileToTileGPU/Views.h"
#include "codegen/TileToTileGPU/Warps.h"
#include "dialects/TileGPU/Analysis/IntegerFacts.h"

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

/// The role of an operand's axes. Batch and contracted axes are listed as the
/// other operand lists them, free ones in the order of the result.
struct Axes {
  SmallVector<int64_t> free, contracted, batch;
};

/// How an operand is stored.
struct Storage {
  /// Its axes from outermost to innermost.
  SmallVector<int64_t> order;
  BufferType type;
  /// Whether the axes of the rows are the free ones.
  bool freeIsContiguous = false;
};

/// A load that was copied to a buffer.
struct Copy {
  tile::LoadOp load;
  SmallVector<int64_t> order;
  Placed placed;
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
  void orderContracted(DotOp dot, Axes &lhs, Axes &rhs);
  void widenFloat8(DotOp dot);
  bool fitsTensorCores(DotOp dot, int64_t m, int64_t n, int64_t k);
  Value accumulator(DotOp dot);
  Placed place(OpOperand &operand, const Axes &axes, bool isLhs);
  std::optional<Placed> copyLoad(OpOperand &operand, const Axes &axes,
                                 bool isLhs);
  Placed storeToBuffer(OpOperand &operand, const Axes &axes, bool isLhs);
  int64_t copyVector(tile::LoadOp load, int64_t contiguousDim);
  Value zeroIndex();
  void remark(Operation *op, StringRef name, const Twine &reason);

  tile::KernelOp kernel;
  int64_t warps, arch;
  Anchors &anchors;
  tilegpu::IntegerFacts facts;
  IRRewriter b;
  /// Loads that have been copied to a buffer, and how.
  SmallVector<Copy> copies;
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

/// The number of positions of some axes.
static int64_t numPositions(RankedTensorType type, ArrayRef<int64_t> axes) {
  int64_t positions = 1;
  for (int64_t axis : axes)
    positions *= type.getDimSize(axis);
  return positions;
}

/// Batches, then the rows of each, then columns, which are contiguous.
static Storage storageOf(RankedTensorType type, const Axes &axes,
                         bool freeIsContiguous) {
  ArrayRef<int64_t> rows = axes.free, columns = axes.contracted;
  if (freeIsContiguous)
    std::swap(rows, columns);
  Storage storage;
  storage.freeIsContiguous = freeIsContiguous;
  storage.order = axes.batch;
  llvm::append_range(storage.order, rows);
  llvm::append_range(storage.order, columns);
  storage.type = BufferType::forTile(
      {numPositions(type, axes.batch) * numPositions(type, rows),
       numPositions(type, columns)},
      type.getElementType());
  return storage;
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
std::optional<Placed> ProductPlacer::copyLoad(OpOperand &operand,
                                              const Axes &axes, bool isLhs) {
  auto load = operand.get().getDefiningOp<tile::LoadOp>();
  if (!load || load.getPad() != tile::Pad::Zero)
    return std::nullopt;
  auto isProduct = [](Operation *user) { return isa<DotOp>(user); };
  if (!llvm::all_of(load->getUsers(), isProduct))
    return std::nullopt;
  int64_t unit = ViewOrigin::of(load.getView()).unitDim();
  bool freeIsContiguous =
      unit >= 0 ? load.getDims()[axes.free.back()] == unit : !isLhs;
  Storage storage = storageOf(load.getType(), axes, freeIsContiguous);
  ArrayRef<int64_t> order = storage.order;
  SmallVector<int64_t> shape = permuted(load.getType().getShape(), order);
  BufferType type = storage.type;
  int64_t vector = copyVector(load, load.getDims()[order.back()]);
  vector = std::min(vector, shape.back() * type.getElementBytes());
  if (vector < 16 && type.getColumns() * type.getElementBytes() >= 16)
    remark(load, "narrow-copy",
           "copies " + Twine(vector) +
               " bytes at a time: for 16, the tensor '" +
               ViewOrigin::of(load.getView()).name() +
               "' needs a contiguous axis of the product and rows that begin "
               "at multiples of 16 bytes");

  // A product that has another role for the axes may want another order.
  for (const Copy &copy : copies)
    if (copy.load == load && copy.order == order &&
        copy.placed.value.getType() == type) {
      Placed placed = copy.placed;
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
  copies.push_back({load, storage.order, placed});
  replacedLoads.push_back(load);
  return placed;
}

/// Any other operand is written to shared memory from registers.
Placed ProductPlacer::storeToBuffer(OpOperand &operand, const Axes &axes,
                                    bool isLhs) {
  Location loc = operand.getOwner()->getLoc();
  auto type = cast<RankedTensorType>(operand.get().getType());
  bool freeIsContiguous = axes.free.back() == type.getRank() - 1;
  Storage storage = storageOf(type, axes, freeIsContiguous);
  ArrayRef<int64_t> order = storage.order;
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
  Placed placed;
  placed.value = tilegpu::AllocOp::create(
      b, loc, storage.type, b.getStringAttr("operand"), IntegerAttr());
  placed.slot = zeroIndex();
  placed.transposed = isTransposed(isLhs, freeIsContiguous);
  tilegpu::LocalStoreOp::create(b, loc, value, placed.value, placed.slot);
  return placed;
}

Placed ProductPlacer::place(OpOperand &operand, const Axes &axes, bool isLhs) {
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

/// A warp has 4 rows of 8 threads, each with up to 4 x 4 neighboring results.
static LinearLayout fmaLayout(int64_t m, int64_t n, WarpGrid grid) {
  auto each = [](int64_t extent, unsigned threads) {
    return static_cast<unsigned>(
        std::clamp<int64_t>(extent / threads, int64_t(1), int64_t(4)));
  };
  return LinearLayout::blocked({m, n},
                               {each(m, 4 * grid.m), each(n, 8 * grid.n)},
                               {4, 8}, {grid.m, grid.n}, {1, 0});
}

/// Of the axes that both operands contract, the innermost should be one along
/// which memory is contiguous, so that copies move several elements at a time.
void ProductPlacer::orderContracted(DotOp dot, Axes &lhs, Axes &rhs) {
  auto isContiguous = [](Value operand, int64_t axis) {
    auto load = operand.getDefiningOp<tile::LoadOp>();
    return load &&
           load.getDims()[axis] == ViewOrigin::of(load.getView()).unitDim();
  };
  size_t last = lhs.contracted.size() - 1;
  for (size_t i = 0; i < last; ++i)
    if (isContiguous(dot.getLhs(), lhs.contracted[i]) ||
        (isContiguous(dot.getRhs(), rhs.contracted[i]) &&
         !isContiguous(dot.getLhs(), lhs.contracted[last]))) {
      std::swap(lhs.contracted[i], lhs.contracted[last]);
      std::swap(rhs.contracted[i], rhs.contracted[last]);
    }
}

LogicalResult ProductPlacer::lower(DotOp dot) {
  b.setInsertionPoint(dot);
  Axes lhsAxes{dot.getLhsFree(), SmallVector<int64_t>(dot.getLhsContract()),
               SmallVector<int64_t>(dot.getLhsBatch())};
  Axes rhsAxes{dot.getRhsFree(), SmallVector<int64_t>(dot.getRhsContract()),
               SmallVector<int64_t>(dot.getRhsBatch())};
  if (lhsAxes.free.empty() || rhsAxes.free.empty()) {
    remark(dot, "no-tensor-cores",
           "a product with a vector takes no time beyond reading its operands");
    expandToReduction(dot);
    return success();
  }
  orderContracted(dot, lhsAxes, rhsAxes);
  RankedTensorType type = dot.getType();
  auto batchAxes = static_cast<int64_t>(lhsAxes.batch.size());
  auto rowAxes = static_cast<int64_t>(lhsAxes.free.size());
  auto [batches, m, n] = tilegpu::getMatrixShape(type, batchAxes, rowAxes);
  int64_t k = numPositions(dot.getLhs().getType(), lhsAxes.contracted);
  Type element = dot.getLhs().getType().getElementType();
  if (arch < 89 && isa<Float8E4M3FNType, Float8E5M2Type>(element)) {
    widenFloat8(dot);
    element = b.getF16Type();
  }
  bool useTensorCores = fitsTensorCores(dot, m, n, k);
  WarpGrid grid = chooseWarpGrid(dot, warps);
  auto inTile = [&](const LinearLayout &matrix, ArrayRef<int64_t> shape) {
    return matrix.repeat(batches, grid.batch).reshape(shape);
  };

  // A left operand that is computed stays where it is if all its rows are in
  // one warp, as the weights of attention are.
  RankedTensorType lhsType = dot.getLhs().getType();
  unsigned kWidth = std::max(1u, 32 / element.getIntOrFloatBitWidth());
  bool isComputed = !dot.getLhs().getDefiningOp<tile::LoadOp>();
  bool inRegisters = useTensorCores && isComputed && grid.n == 1 &&
                     llvm::is_sorted(storageOf(lhsType, lhsAxes, false).order);
  Placed lhs = inRegisters ? Placed{dot.getLhs(), Value(), false}
                           : place(dot.getLhsMutable(), lhsAxes, true);
  Placed rhs = place(dot.getRhsMutable(), rhsAxes, false);

  Value acc = accumulator(dot);
  Operation *product;
  if (useTensorCores) {
    auto mma = tilegpu::MMAOp::create(
        b, dot.getLoc(), type, acc, lhs.value, lhs.slot, rhs.value, rhs.slot,
        dot.getPrecision(), batchAxes, rowAxes, lhs.transposed, rhs.transposed,
        dot.getLhsUnsigned(), dot.getRhsUnsigned());
    anchors.results.try_emplace(
        mma.getResult(),
        inTile(LinearLayout::mmaAccumulator({m, n}, grid.m, grid.n),
               type.getShape()));
    if (inRegisters)
      anchors.operands.try_emplace(
          &mma.getLhsMutable(),
          inTile(LinearLayout::mmaOperandA({m, k}, kWidth, grid.m, grid.n),
                 lhsType.getShape()));
    product = mma;
  } else {
    auto fma = tilegpu::FMADotOp::create(
        b, dot.getLoc(), type, acc, lhs.value, lhs.slot, rhs.value, rhs.slot,
        batchAxes, rowAxes, lhs.transposed, rhs.transposed,
        dot.getLhsUnsigned(), dot.getRhsUnsigned());
    anchors.results.try_emplace(fma.getResult(),
                                inTile(fmaLayout(m, n, grid), type.getShape()));
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

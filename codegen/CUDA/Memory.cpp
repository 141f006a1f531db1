//===- Memory.cpp - Blocks of global memory ---------------------*- C++ -*-===//
//
// tile.load and tile.store. Each thread has a pointer to its first element; a
// register is at a distance from it that is a constant or a multiple of a
// stride. Elements that lie side by side in memory and in registers are moved
// up to 16 bytes at a time, as far as the alignment of everything that goes
// into the address is known. Where the valid extent may end within such a
// vector, the whole ones are moved first and the rest element by element; the
// latter is skipped by the whole block unless some extent is odd.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/BlockAccess.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using mlir::tilegpu::TileGPUDialect;

namespace tilec::cuda {

using layout::InDim;
using layout::LinearLayout;
using tilegpu::getLinearLayout;

static Expr plus(const std::optional<Expr> &sum, const Expr &term) {
  if (!sum || sum->text == "0")
    return term;
  if (term.text == "0")
    return *sum;
  return binary(*sum, "+", term, Prec::Additive,
                sum->type == CType::I64 ? CType::I64 : term.type);
}

static Expr times(const Expr &a, const Expr &b) {
  if (a.text == "0" || b.text == "1")
    return a;
  if (b.text == "0" || a.text == "1")
    return b;
  return binary(a, "*", b, Prec::Multiplicative,
                a.type == CType::I64 ? CType::I64 : b.type);
}

//===--- Views -----------------------------------------------------------===//

View KernelEmitter::viewOf(Value view) {
  auto known = views.find(view);
  assert(known != views.end() && "a view is an argument or a slice");
  return known->second;
}

void KernelEmitter::emitSlice(tile::SliceOp op) {
  View view = viewOf(op.getView());
  View result = view;
  result.dims.clear();
  for (int64_t dim : op.getDims())
    result.dims.push_back(view.dims[dim]);
  auto arg = view.arg;
  auto unitAttr =
      kernel.getArgAttrOfType<IntegerAttr>(arg, TileGPUDialect::kUnitDimAttr);
  std::optional<Expr> offset;
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    if (llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
      continue;
    Expr at = scalar(index);
    offset = plus(offset, times(at, stride(arg, view.dims[dim])));
    result.fixed.insert({view.dims[dim], at});
    if (unitAttr && unitAttr.getInt() == view.dims[dim])
      result.unitDivisor = std::min(result.unitDivisor, facts.divisorOf(index));
  }
  if (offset && offset->text != "0") {
    result.pointer = fresh(view.pointer + "_part");
    out.declare(result.pointer,
                Twine(view.isReadOnly ? "const " : "") + spelling(view.type) +
                    " *" + result.pointer + " = " + view.pointer + " + " +
                    parenthesized(*offset, Prec::Additive) + ";");
  }
  if (op.getPredicate())
    result.predicate = both(view.predicate, scalar(op.getPredicate()));
  views.insert({op.getResult(), result});
}

//===--- Order -----------------------------------------------------------===//

/// What a block access reads or writes and with which threads: two of the same
/// touch an element with the same thread.
static std::optional<
    std::tuple<Value, SmallVector<Value>, SmallVector<int64_t>, LinearLayout>>
accessKey(Operation *op) {
  auto key = [](auto access, RankedTensorType type) {
    return std::tuple(
        Value(access.getView()), SmallVector<Value>(access.getIndices()),
        SmallVector<int64_t>(access.getDims()), getLinearLayout(type));
  };
  if (auto load = dyn_cast<tile::LoadOp>(op);
      load && tilegpu::getLayout(load.getType()))
    return key(load, load.getType());
  if (auto store = dyn_cast<tile::StoreOp>(op);
      store && tilegpu::getLayout(store.getValue().getType()))
    return key(store, store.getValue().getType());
  return std::nullopt;
}

/// The view that an op accesses, or null.
static Value viewIn(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<tile::LoadOp, tile::StoreOp, tile::GatherOp, tile::ScatterAddOp,
            tile::AtomicAddOp, tilegpu::AsyncCopyOp>(
          [](auto access) -> Value { return access.getView(); })
      .Default([](Operation *) { return Value(); });
}

void KernelEmitter::findUnordered() {
  llvm::DenseMap<unsigned, SmallVector<Operation *>> accesses;
  kernel->walk([&](Operation *op) {
    Value view = viewIn(op);
    if (!view)
      return;
    while (auto slice = view.getDefiningOp<tile::SliceOp>())
      view = slice.getView();
    unsigned arg = cast<BlockArgument>(view).getArgNumber();
    if (kernel.getArgAccess(arg) == tile::Access::InOut)
      accesses[arg].push_back(op);
  });
  for (auto &[arg, ops] : accesses) {
    auto first = accessKey(ops.front());
    // Each thread keeps to elements of its own.
    if (first && std::get<LinearLayout>(*first).freeBits(InDim::Lane) == 0 &&
        std::get<LinearLayout>(*first).freeBits(InDim::Warp) == 0 &&
        llvm::all_of(ops,
                     [&](Operation *op) { return accessKey(op) == first; }))
      continue;
    for (Operation *op : ops)
      if (op != ops.front() || op->getParentOfType<scf::ForOp>())
        unordered.insert(op);
  }
}

void KernelEmitter::orderAccess(Operation *op) {
  if (unordered.contains(op))
    out.line("__syncthreads();");
}

//===--- Planning --------------------------------------------------------===//

/// A number of elements, a power of two, that `bytes` are multiples of.
static int64_t inElements(int64_t bytes, CType type) {
  return std::max<int64_t>(1, bytes / byteSize(type));
}

KernelEmitter::BlockAccess
KernelEmitter::planAccess(Value viewValue, ValueRange indices, ValueRange valid,
                          Value predicate, ArrayRef<int64_t> dims,
                          const LinearLayout &layout, unsigned wantedVector) {
  View view = viewOf(viewValue);
  BlockAccess access(view, layout);
  access.valid.assign(valid.begin(), valid.end());
  access.predicate = view.predicate;
  if (predicate)
    access.predicate = both(access.predicate, scalar(predicate));

  // Vectors, along the axis of stride 1.
  auto unit = kernel.getArgAttrOfType<IntegerAttr>(
      view.arg, TileGPUDialect::kUnitDimAttr);
  auto align = kernel.getArgAttrOfType<IntegerAttr>(view.arg,
                                                    TileGPUDialect::kAlignAttr);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    if (!unit || unit.getInt() != view.dims[dim])
      continue;
    int64_t vector = layout.vectorWidth(axis, 8 * byteSize(view.type));
    vector =
        std::min(vector, inElements(align ? align.getInt() : 1, view.type));
    vector =
        std::min({vector, facts.divisorOf(indices[dim]), view.unitDivisor});
    if (wantedVector)
      vector = wantedVector;
    // What is narrower than a register is moved element by element.
    if (vector * byteSize(view.type) < 4)
      vector = 1;
    access.vector = static_cast<unsigned>(vector);
    access.vectorAxis = axis;
    access.alongUnit = true;
    access.hasTail = !valid.empty() && vector > 1 &&
                     facts.rangeOf(valid[axis]).low < layout.shape()[axis] &&
                     facts.divisorOf(valid[axis]) < vector;
  }

  // The thread's first element.
  std::optional<Expr> offset;
  SmallVector<Expr> starts;
  for (Value index : indices)
    starts.push_back(scalar(index));
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    access.strides.push_back(stride(view.arg, view.dims[dim]));
    access.isSeparable.push_back(isSeparable(layout, axis));
    if (access.isSeparable.back())
      starts[dim] = plus(starts[dim], threadCoordinate(layout, axis));
  }
  for (auto [dim, start] : llvm::enumerate(starts))
    offset = plus(offset, times(start, stride(view.arg, view.dims[dim])));
  if (!offset || offset->text == "0") {
    access.pointer = view.pointer;
    return access;
  }
  access.pointer = fresh(kernel.getArgName(view.arg).lower() + "_tile");
  out.line(Twine(view.isReadOnly ? "const " : "") + spelling(view.type) + " *" +
           access.pointer + " = " + view.pointer + " + " +
           parenthesized(*offset, Prec::Additive) + ";");
  return access;
}

/// A pointer to the element of a register.
std::string KernelEmitter::addressOf(const BlockAccess &access,
                                     const BitMap &reg) {
  std::optional<Expr> offset;
  for (unsigned axis = 0; axis < access.layout.rank(); ++axis) {
    Expr part = access.isSeparable[axis]
                    ? textOf(registerCoordinate(access.layout, axis, reg), "r")
                    : coordinate(access.layout, axis, reg);
    // Known to be small, unlike its product with a stride.
    offset = plus(offset, times(part, access.strides[axis]));
  }
  if (!offset || offset->text == "0")
    return access.pointer;
  return access.pointer + " + " + parenthesized(*offset, Prec::Additive);
}

/// Whether the whole vector at a register may be accessed.
std::optional<Expr> KernelEmitter::mayAccess(const BlockAccess &access,
                                             const BitMap &reg) {
  std::optional<Expr> condition = access.predicate;
  for (auto [axis, end] : llvm::enumerate(access.valid)) {
    if (facts.rangeOf(end).low >= access.layout.shape()[axis])
      continue;
    Expr position = coordinate(access.layout, axis, reg);
    bool isVector = access.hasTail && axis == access.vectorAxis;
    if (isVector)
      position = plus(position, intLiteral(access.vector, CType::I32));
    condition =
        both(condition, binary(position, isVector ? "<=" : "<", scalar(end),
                               Prec::Relational, CType::Bool));
  }
  return condition;
}

/// Whether a register is inside along all axes but that of vectors.
std::optional<Expr> KernelEmitter::insideElsewhere(const BlockAccess &access,
                                                   const BitMap &reg) {
  std::optional<Expr> condition = access.predicate;
  for (auto [axis, end] : llvm::enumerate(access.valid))
    if (axis != access.vectorAxis && axis != access.wholeAxis &&
        facts.rangeOf(end).low < access.layout.shape()[axis])
      condition =
          both(condition, binary(coordinate(access.layout, axis, reg), "<",
                                 scalar(end), Prec::Relational, CType::Bool));
  return condition;
}

unsigned KernelEmitter::firstPartial(const BlockAccess &access,
                                     unsigned vector) {
  unsigned axis = access.vectorAxis;
  unsigned registers = access.layout.size(InDim::Register);
  if (access.valid.empty())
    return registers;
  int64_t inside = facts.rangeOf(access.valid[axis]).low;
  for (unsigned reg = 0; reg < registers; reg += vector)
    if (greatestCoordinate(access.layout, axis, reg) + vector > inside)
      return reg;
  return registers;
}

/// How many elements of the vector at a register may be accessed; more than
/// `vector` or less than 0 mean all or none.
Expr KernelEmitter::countInside(const BlockAccess &access, const BitMap &reg) {
  ArrayRef<int64_t> shape = access.layout.shape();
  std::optional<Expr> condition = insideElsewhere(access, reg);
  Expr end = access.valid.empty()
                 ? intLiteral(shape[access.vectorAxis], CType::I32)
                 : scalar(access.valid[access.vectorAxis]);
  Expr position = coordinate(access.layout, access.vectorAxis, reg);
  Expr count = position.text == "0"
                   ? end
                   : binary(end, "-", position, Prec::Additive, end.type);
  count = cast(count, CType::I32);
  return condition
             ? ternary(*condition, count, intLiteral(0, CType::I32), CType::I32)
             : count;
}

std::string KernelEmitter::scalarPointer(const View &view, ValueRange indices) {
  std::optional<Expr> offset;
  for (auto [dim, index] : llvm::enumerate(indices))
    offset =
        plus(offset, times(scalar(index), stride(view.arg, view.dims[dim])));
  if (!offset || offset->text == "0")
    return view.pointer;
  return view.pointer + " + " + parenthesized(*offset, Prec::Additive);
}

//===--- Loads -----------------------------------------------------------===//

/// The 32-bit words of an array filled with an element.
static std::string packedFill(const Expr &pad, CType type) {
  if (byteSize(type) == 1)
    return "0x1010101u * (unsigned char)" + parenthesized(pad, Prec::Unary);
  if (type == CType::I16) // Not to borrow from the high half.
    return "0x10001u * (unsigned short)" + parenthesized(pad, Prec::Unary);
  return "0x10001u * " + parenthesized(pad, Prec::Multiplicative);
}

void KernelEmitter::emitLoad(tile::LoadOp op) {
  auto type = op.getType();
  comment(op);
  if (type.getRank() == 0)
    return emitScalarLoad(op);
  BlockAccess access =
      planAccess(op.getView(), op.getIndices(), op.getValid(),
                 op.getPredicate(), op.getDims(), getLinearLayout(type));
  bool guarded = mayAccess(access, BitMap::constant(0)).has_value();
  Expr pad = padValue(op.getPad(), type.getElementType());
  bool isZero = pad.text == "0" || pad.text == "0.0f" || pad.text == "0.0" ||
                StringRef(pad.text).ends_with(")0x0000") ||
                StringRef(pad.text).ends_with(")0x00");
  std::string wish = kernel.getArgName(access.view.arg).lower();
  if (wish == kernel.getArgName(access.view.arg))
    wish += "_block";
  Fragment fragment =
      declareFragment(op.getResult(), wish, guarded && isZero ? " = {}" : "");
  fragments.insert({op.getResult(), fragment});
  unsigned bytes = access.vector * byteSize(fragment.type);
  unsigned shifted = access.view.isReadOnly ? shiftedVector(access) : 0;
  StringRef load = access.view.isReadOnly ? "load" : "reload";
  StringRef suffix = guarded ? "_if" : "";

  if (bytes < 4 && !shifted) {
    // One by one, then packed.
    std::string raw = fresh(fragment.name + "_raw");
    out.line(spelling(fragment.type) + " " + raw + "[" +
             Twine(fragment.registers) + "]" +
             (guarded && isZero ? " = {}" : "") + ";");
    if (guarded && !isZero)
      out.line("fill(" + raw + ", " + pad.text + ");");
    access.vector = 1;
    forRegisters(fragment.registers, 1, [&](const RegisterLoop &loop) {
      std::string entry = raw + (loop.hasVariable ? "[r]" : "[0]");
      std::optional<Expr> may = mayAccess(access, loop.reg);
      out.line((may ? "if (" + may->text + ") " : "") + entry + " = " + load +
               "_value(" + addressOf(access, loop.reg) + ");");
    });
    out.line("pack_" + Twine(8 * byteSize(fragment.type)) + "(" +
             fragment.name + ", " + raw + ");");
    return;
  }
  if (guarded && !isZero)
    out.line(
        "fill(" + fragment.name + ", " +
        (isPacked(fragment.type) ? packedFill(pad, fragment.type) : pad.text) +
        ");");
  if (shifted)
    return emitShiftedLoad(op, access, fragment, shifted, pad);
  forRegisters(fragment.registers, access.vector,
               [&](const RegisterLoop &loop) {
                 std::optional<Expr> may = mayAccess(access, loop.reg);
                 out.line(load + "_" + Twine(bytes) + suffix + "(" +
                          entryPointer(fragment, loop) + ", " +
                          addressOf(access, loop.reg) +
                          (may ? ", " + may->text : std::string()) + ");");
               });
  if (!access.hasTail)
    return;
  openTail(access);
  forRegisters(
      fragment.registers, access.vector,
      [&](const RegisterLoop &loop) {
        out.line(load + "_part<" + spelling(fragment.type) + ", " +
                 Twine(access.vector) + ">(" + entryPointer(fragment, loop) +
                 ", " + addressOf(access, loop.reg) + ", " +
                 countInside(access, loop.reg).text + ");");
      },
      firstPartial(access, access.vector));
  out.close();
}

void KernelEmitter::openTail(const BlockAccess &access) {
  out.open("if (" +
               binary(binary(scalar(access.valid[access.vectorAxis]), "%",
                             intLiteral(access.vector, CType::I32),
                             Prec::Multiplicative, CType::I32),
                      "!=", intLiteral(0, CType::I32), Prec::Equality,
                      CType::Bool)
                   .text +
               ")",
           /*optional=*/true);
}

void KernelEmitter::emitScalarLoad(tile::LoadOp op) {
  View view = viewOf(op.getView());
  std::optional<Expr> predicate = view.predicate;
  if (op.getPredicate())
    predicate = both(predicate, scalar(op.getPredicate()));
  std::string load = (view.isReadOnly ? "load_value(" : "reload_value(") +
                     scalarPointer(view, op.getIndices()) + ")";
  std::string name = fresh(
      wishFor(op.getResult(), kernel.getArgName(view.arg).lower() + "_value"));
  Expr value = Expr::call(load, view.type);
  if (predicate)
    value = ternary(*predicate, value,
                    padValue(op.getPad(), op.getType().getElementType()),
                    view.type);
  out.line("const " + spelling(view.type) + " " + name + " = " + value.text +
           ";");
  scalars.insert({op.getResult(), Expr::atom(name, view.type)});
}

//===--- Stores ----------------------------------------------------------===//

void KernelEmitter::emitStore(tile::StoreOp op) {
  RankedTensorType type = op.getValue().getType();
  if (type.getRank() == 0)
    return emitScalarStore(op);
  Fragment fragment = fragmentAs(op.getValue(), ctypeOf(type.getElementType()));
  comment(op);
  BlockAccess access =
      planAccess(op.getView(), op.getIndices(), op.getValid(),
                 op.getPredicate(), op.getDims(), getLinearLayout(type));
  // Of several threads that hold an element, one stores it.
  std::optional<Expr> owns = ownsElements(access.layout);
  unsigned copies = access.layout.freeBits(InDim::Register);
  unsigned bytes = access.vector * byteSize(fragment.type);
  if (owns)
    out.open("if (" + owns->text + ")", /*optional=*/true);
  auto guard = [&](const RegisterLoop &loop,
                   std::optional<Expr> may) -> std::string {
    if (copies && loop.hasVariable)
      may = both(binary(binary(Expr::atom("r", CType::I32), "&",
                               intLiteral(copies, CType::I32), Prec::BitAnd,
                               CType::I32),
                        "==", intLiteral(0, CType::I32), Prec::Equality,
                        CType::Bool),
                 may);
    return may ? "if (" + may->text + ") " : "";
  };
  if (bytes < 4)
    access.vector = 1;
  if (unsigned lanes = lanesForShiftedStore(access)) {
    emitShiftedStore(access, fragment, lanes);
    if (owns)
      out.close();
    return;
  }
  forRegisters(fragment.registers, access.vector,
               [&](const RegisterLoop &loop) {
                 std::string prefix = guard(loop, mayAccess(access, loop.reg));
                 std::string address = addressOf(access, loop.reg);
                 if (bytes < 4)
                   out.line(prefix + "store_value(" + address + ", " +
                            element(fragment, loop.reg).text + ");");
                 else
                   out.line(prefix + "store_" + Twine(bytes) + "(" + address +
                            ", " + entryPointer(fragment, loop) + ");");
               });
  if (access.hasTail && bytes >= 4) {
    openTail(access);
    forRegisters(
        fragment.registers, access.vector,
        [&](const RegisterLoop &loop) {
          out.line(guard(loop, std::nullopt) + "store_part<" +
                   spelling(fragment.type) + ", " + Twine(access.vector) +
                   ">(" + addressOf(access, loop.reg) + ", " +
                   entryPointer(fragment, loop) + ", " +
                   countInside(access, loop.reg).text + ");");
        },
        firstPartial(access, access.vector));
    out.close();
  }
  if (owns)
    out.close();
}

void KernelEmitter::emitScalarStore(tile::StoreOp op) {
  comment(op);
  orderAccess(op);
  View view = viewOf(op.getView());
  std::optional<Expr> condition =
      binary(Expr::atom("threadIdx.x", CType::I32),
             "==", intLiteral(0, CType::I32), Prec::Equality, CType::Bool);
  condition = both(condition, view.predicate);
  if (op.getPredicate())
    condition = both(condition, scalar(op.getPredicate()));
  Expr value = cast(scalar(op.getValue()), view.type);
  out.line("if (" + condition->text + ") store_value(" +
           scalarPointer(view, op.getIndices()) + ", " + value.text + ");");
}

} // namespace tilec::cuda

//===- Shared.cpp - Buffers in shared memory --------------------*- C++ -*-===//
//
// Addresses of buffers, copies from global memory, and fragments written to and
// read from buffers.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/BlockAccess.h"
#include "codegen/CUDA/SharedAddress.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::cuda {

using layout::Basis;
using layout::InDim;
using layout::LinearLayout;
using layout::SharedLayout;
using tilegpu::BufferType;
using tilegpu::getLinearLayout;

//===--- Addresses -------------------------------------------------------===//

SharedLayout layoutOf(BufferType buffer) {
  layout::SwizzledTile tile;
  tile.rows = buffer.getRows();
  tile.cols = buffer.getColumns();
  tile.elementBytes = static_cast<unsigned>(buffer.getElementBytes());
  tile.perPhase = static_cast<unsigned>(buffer.getPhaseRows());
  tile.maxPhase = static_cast<unsigned>(buffer.getPhases());
  return tile.linear();
}

BitMap offsetsOf(const SharedLayout &layout, ArrayRef<uint64_t> elements) {
  BitMap map;
  for (uint64_t element : elements)
    map.images.push_back(layout.offsetFlat(element));
  return map;
}

std::string KernelEmitter::SharedAddress::at(StringRef base) const {
  Expr inner = thread;
  for (const OffsetPart &part : flipped)
    if (!part.offsets.isZero())
      inner = binary(inner, "^", textOf(part.offsets, part.variable),
                     Prec::BitXor, CType::I32);
  Expr sum = Expr::atom(base, CType::I32);
  if (inner.text != "0")
    sum = binary(sum, "+", inner, Prec::Additive, CType::I32);
  for (const OffsetPart &part : added)
    if (!part.offsets.isZero())
      sum = binary(sum, "+", textOf(part.offsets, part.variable),
                   Prec::Additive, CType::I32);
  return sum.text;
}

KernelEmitter::SharedAddress
KernelEmitter::planAddress(const BitMap &lane, const BitMap &warp,
                           ArrayRef<OffsetPart> parts, StringRef wish) {
  SharedAddress address;
  address.thread = threadExpr(lane, warp, wish);
  // Bits that more than one contribution moves.
  uint64_t seen = lane.span() | warp.span(), shared = 0;
  for (const OffsetPart &part : parts)
    for (uint64_t image : part.offsets.images) {
      shared |= seen & image;
      seen |= image;
    }
  for (const OffsetPart &part : parts) {
    OffsetPart flip = part, add = part;
    for (uint64_t &image : flip.offsets.images)
      image &= shared;
    for (uint64_t &image : add.offsets.images)
      image &= ~shared;
    if (!flip.offsets.isZero())
      address.flipped.push_back(flip);
    if (!add.offsets.isZero())
      address.added.push_back(add);
  }
  return address;
}

std::string KernelEmitter::bufferBase(Value buffer, Value slot,
                                      SharedAddress &address) {
  auto alloc = buffer.getDefiningOp<tilegpu::AllocOp>();
  if (!alloc || !alloc.getOffset()) {
    fail(alloc ? alloc : buffer.getDefiningOp(),
         "expected a buffer with a place in shared memory; run "
         "tilegpu-allocate-shared first");
    return "shared_base";
  }
  usesShared = true;
  auto offset = static_cast<int64_t>(*alloc.getOffset());
  int64_t bytes = alloc.getType().getSlotBytes();
  // A slot whose number is known is part of the offset.
  std::optional<int64_t> known =
      slot ? getConstantIntValue(slot) : std::optional<int64_t>(0);
  if (known)
    offset += *known * bytes;
  Expr base = Expr::atom("shared_base", CType::I32);
  if (offset)
    base = binary(base, "+", intLiteral(offset, CType::I32), Prec::Additive,
                  CType::I32);
  if (!known && alloc.getType().getSlots() > 1)
    base = binary(base, "+",
                  binary(cast(scalar(slot), CType::I32), "*",
                         intLiteral(bytes, CType::I32), Prec::Multiplicative,
                         CType::I32),
                  Prec::Additive, CType::I32);
  // Nothing is to be flipped in what the thread adds, so it can be added once.
  if (address.flipped.empty() && address.thread.text != "0") {
    base = binary(base, "+", address.thread, Prec::Additive, CType::I32);
    address.thread = intLiteral(0, CType::I32);
  }
  if (base.isAtom)
    return base.text;
  std::string name = fresh(alloc.getName().lower() + "_at");
  out.declare(name, "const unsigned " + name + " = " + base.text + ";");
  return name;
}

//===--- Copies ----------------------------------------------------------===//

/// The layout in which all threads together move a tile, `vector` elements at a
/// time, side by side along its rows.
static LinearLayout copyLayout(ArrayRef<int64_t> shape, int64_t vector,
                               int64_t warps) {
  SmallVector<int64_t> extents(shape);
  auto basisOf = [&](int64_t element) {
    Basis basis(shape.size(), 0);
    for (unsigned axis = shape.size(); axis-- > 0; element /= extents[axis])
      basis[axis] = static_cast<int32_t>(element % extents[axis]);
    return basis;
  };
  int64_t total = 1;
  for (int64_t extent : shape)
    total *= extent;
  SmallVector<Basis> registers, lanes, warpBases;
  int64_t next = 1;
  for (; next < vector; next *= 2)
    registers.push_back(basisOf(next));
  auto take = [&](SmallVector<Basis> &bases, int64_t count) {
    for (; count > 1; count /= 2, next *= 2)
      bases.push_back(next < total ? basisOf(next) : Basis(shape.size(), 0));
  };
  take(lanes, layout::lanesPerWarp);
  take(warpBases, warps);
  for (; next < total; next *= 2)
    registers.push_back(basisOf(next));
  return LinearLayout(shape, registers, lanes, warpBases);
}

void KernelEmitter::emitAsyncCopy(tilegpu::AsyncCopyOp op) {
  comment(op);
  BufferType buffer = op.getBuffer().getType();
  CType type = ctypeOf(buffer.getElementType());
  auto bytes = static_cast<unsigned>(op.getVector());
  unsigned vector = bytes / byteSize(type);
  LinearLayout layout =
      copyLayout(op.getShape(), vector, image.threads / layout::lanesPerWarp);
  BlockAccess access =
      planAccess(op.getView(), op.getIndices(), op.getValid(),
                 op.getPredicate(), op.getDims(), layout, vector);
  SharedLayout shared = layoutOf(buffer);
  SharedAddress address =
      planAddress(offsetsOf(shared, layout.flatBases(InDim::Lane)),
                  offsetsOf(shared, layout.flatBases(InDim::Warp)),
                  {{"r", offsetsOf(shared, layout.flatBases(InDim::Register))}},
                  bufferName(op.getBuffer()) + "_copy");
  std::string base = bufferBase(op.getBuffer(), op.getSlot(), address);
  std::optional<Expr> owns = ownsElements(layout);
  if (owns)
    out.open("if (" + owns->text + ")", /*optional=*/true);
  unsigned count = layout.size(InDim::Register);
  auto addressAt = [&](const RegisterLoop &loop) {
    SharedAddress here = address;
    for (auto *parts : {&here.flipped, &here.added})
      for (OffsetPart &part : *parts)
        part.offsets = loop.reg.then(part.offsets);
    llvm::erase_if(here.flipped,
                   [](const OffsetPart &p) { return p.offsets.isZero(); });
    llvm::erase_if(here.added,
                   [](const OffsetPart &p) { return p.offsets.isZero(); });
    return here.at(base);
  };

  if (bytes < 4) {
    // Through registers: all loads, then all stores.
    std::string name = fresh(bufferName(op.getBuffer()) + "_raw");
    out.line(spelling(type) + " " + name + "[" + Twine(count) + "] = {};");
    StringRef load = access.view.isReadOnly ? "load" : "reload";
    forRegisters(count, 1, [&](const RegisterLoop &loop) {
      std::optional<Expr> may = mayAccess(access, loop.reg);
      out.line((may ? "if (" + may->text + ") " : "") + name +
               (loop.hasVariable ? "[r] = " : "[0] = ") + load + "_value(" +
               addressOf(access, loop.reg) + ");");
    });
    forRegisters(count, 1, [&](const RegisterLoop &loop) {
      out.line("store_shared_value(" + addressAt(loop) + ", " + name +
               (loop.hasVariable ? "[r]" : "[0]") + ");");
    });
  } else {
    forRegisters(count, vector, [&](const RegisterLoop &loop) {
      std::optional<Expr> may = mayAccess(access, loop.reg);
      std::string part;
      if (access.hasTail) {
        Expr inside = countInside(access, loop.reg);
        part = ", clamp(" + inside.text + ", 0, " + std::to_string(vector) +
               ") * " + std::to_string(byteSize(type));
      } else if (may) {
        part = ", " + ternary(*may, intLiteral(bytes, CType::I32),
                              intLiteral(0, CType::I32), CType::I32)
                          .text;
      }
      out.line("copy_async_" + Twine(bytes) + (part.empty() ? "" : "_part") +
               "(" + addressAt(loop) + ", " + addressOf(access, loop.reg) +
               part + ");");
    });
  }
  if (owns)
    out.close();
}

std::string KernelEmitter::bufferName(Value buffer) {
  auto alloc = buffer.getDefiningOp<tilegpu::AllocOp>();
  return alloc ? alloc.getName().lower() : "buffer";
}

//===--- Fragments -------------------------------------------------------===//

/// The registers of a fragment, numbered such that those of one access are
/// neighbors.
static BitMap vectorOrder(unsigned bits, ArrayRef<unsigned> vectorBits) {
  BitMap order;
  for (unsigned bit : vectorBits)
    order.images.push_back(uint64_t(1) << bit);
  for (unsigned bit = 0; bit < bits; ++bit)
    if (!llvm::is_contained(vectorBits, bit))
      order.images.push_back(uint64_t(1) << bit);
  return order;
}

static BitMap inverseOf(const BitMap &order) {
  BitMap inverse;
  inverse.images.resize(order.images.size());
  for (auto [bit, image] : llvm::enumerate(order.images))
    inverse.images[llvm::countr_zero(image)] = uint64_t(1) << bit;
  return inverse;
}

static LinearLayout reordered(const LinearLayout &layout, const BitMap &order) {
  SmallVector<Basis> registers;
  for (uint64_t image : order.images)
    registers.push_back(
        layout.bases(InDim::Register)[llvm::countr_zero(image)]);
  return LinearLayout(layout.shape(), registers, layout.bases(InDim::Lane),
                      layout.bases(InDim::Warp));
}

void KernelEmitter::moveFragment(bool isStore, const Fragment &fragment,
                                 const LinearLayout &layout,
                                 const SharedLayout &shared,
                                 ArrayRef<unsigned> vectorBits,
                                 const SharedAddress &plan, StringRef base) {
  CType type = fragment.type;
  unsigned vector = 1u << vectorBits.size();
  unsigned bytes = vector * byteSize(type);
  // Of several threads that hold an element, one stores it: writes that nothing
  // orders are a race even if they are of the same value.
  std::optional<Expr> owns;
  if (isStore)
    owns = ownsElements(layout);
  if (owns)
    out.open("if (" + owns->text + ")", /*optional=*/true);
  llvm::scope_exit closeOwned([&] {
    if (owns)
      out.close();
  });
  auto at = [&](const RegisterLoop &loop) {
    SharedAddress here = plan;
    for (auto *parts : {&here.flipped, &here.added}) {
      for (OffsetPart &part : *parts)
        part.offsets = loop.reg.then(part.offsets);
      llvm::erase_if(*parts,
                     [](const OffsetPart &p) { return p.offsets.isZero(); });
    }
    return here.at(base);
  };
  if (bytes >= 4 && type != CType::Bool) {
    forRegisters(fragment.registers, vector, [&](const RegisterLoop &loop) {
      std::string entry = entryPointer(fragment, loop);
      if (isStore)
        out.line("store_shared_" + Twine(bytes) + "(" + at(loop) + ", " +
                 entry + ");");
      else
        out.line("load_shared_" + Twine(bytes) + "(" + entry + ", " + at(loop) +
                 ");");
    });
    return;
  }
  std::string raw = fragment.name;
  if (!isStore && isPacked(type)) {
    raw = fresh(fragment.name + "_raw");
    out.line(spelling(type) + " " + raw + "[" + Twine(fragment.registers) +
             "];");
  }
  forRegisters(fragment.registers, 1, [&](const RegisterLoop &loop) {
    if (isStore)
      out.line("store_shared_value(" + at(loop) + ", " +
               cast(element(fragment, loop.reg), type).text + ");");
    else
      out.line(raw + (loop.hasVariable ? "[r]" : "[0]") +
               " = load_shared_value<" + spelling(type) + ">(" + at(loop) +
               ");");
  });
  if (!isStore && isPacked(type))
    out.line("pack_" + Twine(8 * byteSize(type)) + "(" + fragment.name + ", " +
             raw + ");");
}

/// The low register bits that run over neighbors in a buffer.
static SmallVector<unsigned> lowVectorBits(const LinearLayout &layout,
                                           const SharedLayout &shared) {
  unsigned elements =
      layout::vectorBytes(layout, shared) / shared.elementBytes();
  return llvm::to_vector(llvm::seq<unsigned>(0, llvm::Log2_32(elements)));
}

KernelEmitter::SharedAddress
KernelEmitter::fragmentAddress(const LinearLayout &layout,
                               const SharedLayout &shared, StringRef wish) {
  // A tensor of a higher rank has the same elements in the same order.
  return planAddress(
      offsetsOf(shared, layout.flatBases(InDim::Lane)),
      offsetsOf(shared, layout.flatBases(InDim::Warp)),
      {{"r", offsetsOf(shared, layout.flatBases(InDim::Register))}}, wish);
}

void KernelEmitter::emitLocalStore(tilegpu::LocalStoreOp op) {
  RankedTensorType type = op.getValue().getType();
  SharedLayout shared = layoutOf(op.getBuffer().getType());
  if (type.getRank() == 0) {
    SharedAddress address = planAddress({}, {}, {}, "");
    std::string base = bufferBase(op.getBuffer(), op.getSlot(), address);
    out.line("if (threadIdx.x == 0) store_shared_value(" + base + ", " +
             cast(scalar(op.getValue()), ctypeOf(type.getElementType())).text +
             ");");
    return;
  }
  Fragment fragment = fragmentAs(op.getValue(), ctypeOf(type.getElementType()));
  comment(op);
  LinearLayout layout = getLinearLayout(type);
  LinearLayout matrix = layout.reshape(shared.shape());
  SharedAddress address =
      fragmentAddress(matrix, shared, bufferName(op.getBuffer()) + "_store");
  std::string base = bufferBase(op.getBuffer(), op.getSlot(), address);
  moveFragment(/*isStore=*/true, fragment, matrix, shared,
               lowVectorBits(matrix, shared), address, base);
}

void KernelEmitter::emitLocalLoad(tilegpu::LocalLoadOp op) {
  comment(op);
  RankedTensorType type = op.getType();
  SharedLayout shared = layoutOf(op.getBuffer().getType());
  if (type.getRank() == 0) {
    SharedAddress address = planAddress({}, {}, {}, "");
    std::string base = bufferBase(op.getBuffer(), op.getSlot(), address);
    CType element = ctypeOf(type.getElementType());
    std::string name = fresh(wishFor(op.getResult(), "t"));
    out.line("const " + spelling(element) + " " + name +
             " = load_shared_value<" + spelling(element) + ">(" + base + ");");
    scalars.insert({op.getResult(), Expr::atom(name, element)});
    return;
  }
  LinearLayout matrix = getLinearLayout(type).reshape(shared.shape());
  Fragment fragment =
      declareFragment(op.getResult(), bufferName(op.getBuffer()) + "_tile");
  SharedAddress address =
      fragmentAddress(matrix, shared, bufferName(op.getBuffer()) + "_load");
  std::string base = bufferBase(op.getBuffer(), op.getSlot(), address);
  moveFragment(/*isStore=*/false, fragment, matrix, shared,
               lowVectorBits(matrix, shared), address, base);
  fragments.insert({op.getResult(), fragment});
}

//===--- Conversions through shared memory -------------------------------===//

void KernelEmitter::permuteRegisters(const Fragment &target,
                                     const Fragment &source,
                                     const BitMap &order) {
  CType type = target.type;
  out.line(arraySpelling(type) + " " + target.name + "[" +
           Twine(arraySize(type, target.registers)) + "];");
  std::string entries = target.name;
  if (isPacked(type)) {
    entries = fresh(target.name + "_raw");
    out.line(spelling(type) + " " + entries + "[" + Twine(target.registers) +
             "];");
  }
  forRegisters(target.registers, 1, [&](const RegisterLoop &loop) {
    out.line(entries + (loop.hasVariable ? "[r] = " : "[0] = ") +
             element(source, loop.reg.then(order)).text + ";");
  });
  if (isPacked(type))
    out.line("pack_" + Twine(8 * byteSize(type)) + "(" + target.name + ", " +
             entries + ");");
}

void KernelEmitter::emitSharedConversion(tilegpu::ConvertLayoutOp op) {
  CType type = typeOf(op.getValue());
  LinearLayout from = getLinearLayout(op.getValue().getType()),
               to = getLinearLayout(op.getType());
  layout::ScratchLayout plan = layout::optimalScratch(from, to, byteSize(type));
  Fragment source = fragment(op.getValue());
  comment(op);
  std::string place = scratch(op).substr(StringRef("shared").size());
  std::string base = "shared_base" + place;
  auto vectorBits =
      llvm::to_vector(llvm::seq<unsigned>(0, plan.store.vectorBits.size()));

  // Registers are renumbered such that those of one access are neighbors.
  BitMap order =
      vectorOrder(from.numBits(InDim::Register), plan.store.vectorBits);
  if (!order.isIdentity()) {
    Fragment moved{fresh(source.name + "_moved"), type, source.registers,
                   false};
    permuteRegisters(moved, source, order);
    source = moved;
  }
  LinearLayout stored = reordered(from, order);
  moveFragment(/*isStore=*/true, source, stored, plan.layout, vectorBits,
               fragmentAddress(stored, plan.layout, "from"), base);
  out.line("__syncthreads();");

  order = vectorOrder(to.numBits(InDim::Register), plan.load.vectorBits);
  LinearLayout loaded = reordered(to, order);
  Fragment result{fresh(wishFor(op.getResult(), "t")), type,
                  to.size(InDim::Register), false};
  Fragment target = result;
  if (!order.isIdentity())
    target.name = fresh(result.name + "_moved");
  out.line(arraySpelling(type) + " " + target.name + "[" +
           Twine(arraySize(type, target.registers)) + "];");
  moveFragment(/*isStore=*/false, target, loaded, plan.layout, vectorBits,
               fragmentAddress(loaded, plan.layout, "to"), base);
  if (!order.isIdentity())
    permuteRegisters(result, target, inverseOf(order));
  fragments.insert({op.getResult(), result});
}

} // namespace tilec::cuda

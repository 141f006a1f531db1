//===- Gather.cpp - Computed positions and atomic additions -----*- C++ -*-===//
//
// tile.gather, tile.scatter_add and tile.atomic_add, and the scalar tests of
// indices. An element is accessed only if its mask holds and every index is in
// range. Of several threads that hold an element, one adds it.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/BlockAccess.h"

using namespace mlir;

namespace tilec::cuda {

using layout::InDim;
using layout::LinearLayout;
using tilegpu::getLinearLayout;

/// `0 <= index < extent`, for an index whose interval is known; nothing if it
/// always holds.
std::optional<Expr> KernelEmitter::isInRange(Value index, const Expr &at,
                                             const Expr &extent,
                                             std::optional<int64_t> known) {
  tilegpu::IntegerRange range = facts.rangeOf(index);
  if (range.low >= 0 && known && range.high < *known)
    return std::nullopt;
  if (range.low >= 0)
    return binary(at, "<", extent, Prec::Relational, CType::Bool);
  // One comparison without signs is two with them.
  bool isWide = at.type == CType::I64 || extent.type == CType::I64;
  auto plain = [&](const Expr &e) -> Expr {
    // A literal has no sign to lose.
    if (e.isAtom && llvm::isDigit(e.text.front()))
      return e;
    return {(isWide ? "(unsigned long long)" : "(unsigned)") +
                parenthesized(e, Prec::Unary),
            Prec::Unary, e.type};
  };
  return binary(plain(at), "<", plain(extent), Prec::Relational, CType::Bool);
}

KernelEmitter::ElementAccess KernelEmitter::accessElement(Value viewValue,
                                                          ValueRange indices,
                                                          ArrayRef<Expr> at,
                                                          const Expr *mask) {
  View view = viewOf(viewValue);
  ElementAccess access;
  access.wanted = view.predicate;
  if (mask)
    access.wanted = both(access.wanted, *mask);
  access.condition = access.wanted;
  std::optional<Expr> offset;
  auto type = cast<tile::ViewType>(viewValue.getType());
  for (auto [dim, index] : llvm::enumerate(indices)) {
    std::optional<int64_t> known;
    if (!type.isDynamicDim(dim))
      known = type.getDimSize(dim);
    Expr end = extent(viewValue, dim);
    if (std::optional<Expr> test = isInRange(index, at[dim], end, known)) {
      access.condition = both(access.condition, test);
      access.tests.push_back({*test, at[dim], end});
    }
    // In range, it fits the type of offsets.
    Expr place = cast(at[dim], indexType());
    Expr step = stride(view.arg, view.dims[dim]);
    Expr term = step.text == "1" ? place
                                 : binary(place, "*", step,
                                          Prec::Multiplicative, indexType());
    offset =
        offset ? binary(*offset, "+", term, Prec::Additive, indexType()) : term;
  }
  access.pointer = view.pointer;
  if (offset && offset->text != "0")
    access.pointer += " + " + parenthesized(*offset, Prec::Additive);
  return access;
}

void KernelEmitter::emitGather(tile::GatherOp op) {
  View view = viewOf(op.getView());
  std::string load = view.isReadOnly ? "load_value(" : "reload_value(";
  SmallVector<Value> wanted(op.getIndices());
  if (op.getMask())
    wanted.push_back(op.getMask());
  size_t count = op.getIndices().size();
  std::string wish = argumentName(view.arg);
  wish = StringRef(wish).lower() + "_value";

  if (!isFragment(op.getResult())) {
    comment(op);
    SmallVector<Expr> at;
    for (Value value : wanted)
      at.push_back(scalar(value));
    ElementAccess access = accessElement(op.getView(), op.getIndices(),
                                         ArrayRef(at).take_front(count),
                                         op.getMask() ? &at.back() : nullptr);
    reportIndices(op, access, isFirstThread());
    std::string name = fresh(wishFor(op.getResult(), wish));
    Expr value = Expr::call(load + access.pointer + ")", view.type);
    if (access.condition)
      value = ternary(*access.condition, value, intLiteral(0, CType::I32),
                      view.type);
    out.line("const " + spelling(view.type) + " " + name + " = " + value.text +
             ";");
    scalars.insert({op.getResult(), Expr::atom(name, view.type)});
    return;
  }

  auto type = cast<RankedTensorType>(op.getResult().getType());
  LinearLayout layout = getLinearLayout(type);
  for (Value value : wanted)
    prepareFragment(value);
  comment(op);
  Fragment result =
      declareFragment(op.getResult(), wish, isPacked(view.type) ? "" : " = {}");
  std::string entries = result.name;
  if (isPacked(view.type)) {
    entries = fresh(result.name + "_raw");
    out.line(spelling(view.type) + " " + entries + "[" +
             Twine(result.registers) + "] = {};");
  }
  loopOver(
      type, wanted, op, [&](const RegisterLoop &loop, ArrayRef<Expr> elements) {
        ElementAccess access = accessElement(
            op.getView(), op.getIndices(), elements.take_front(count),
            op.getMask() ? &elements.back() : nullptr);
        reportIndices(op, access,
                      both(ownsElements(layout), ownsRegister(layout, loop)));
        out.line(guard(access.condition) + entries +
                 (loop.hasVariable ? "[r] = " : "[0] = ") + load +
                 access.pointer + ");");
      });
  if (isPacked(view.type))
    out.line("pack_" + Twine(8 * byteSize(view.type)) + "(" + result.name +
             ", " + entries + ");");
  fragments.insert({op.getResult(), result});
}

/// The condition under which a thread handles a register of a layout that
/// holds copies.
std::optional<Expr> KernelEmitter::ownsRegister(const LinearLayout &layout,
                                                const RegisterLoop &loop) {
  if (!loop.hasVariable)
    return std::nullopt;
  return bitsAreZero("r", layout.freeBits(InDim::Register),
                     layout.size(InDim::Register) - 1);
}

/// The function that adds to elements of a type.
static std::string atomicAdd(CType type) {
  return isNarrowFloat(type) ? "atomic_add_" + shortName(type).str() + "("
                             : std::string("atomic_add(");
}

void KernelEmitter::emitScatterAdd(tile::ScatterAddOp op) {
  View view = viewOf(op.getView());
  orderAccess(op);
  SmallVector<Value> wanted(op.getIndices());
  size_t count = op.getIndices().size();
  wanted.push_back(op.getValue());
  if (op.getMask())
    wanted.push_back(op.getMask());
  auto add = [&](ArrayRef<Expr> elements,
                 const std::optional<Expr> &condition) {
    ElementAccess access =
        accessElement(op.getView(), op.getIndices(), elements.take_front(count),
                      op.getMask() ? &elements.back() : nullptr);
    reportIndices(op, access, condition);
    out.line(guard(both(condition, access.condition)) + atomicAdd(view.type) +
             access.pointer + ", " + cast(elements[count], view.type).text +
             ");");
  };
  if (!isFragment(op.getValue())) {
    comment(op);
    SmallVector<Expr> elements;
    for (Value value : wanted)
      elements.push_back(scalar(value));
    add(elements, isFirstThread());
    return;
  }
  auto type = cast<RankedTensorType>(op.getValue().getType());
  LinearLayout layout = getLinearLayout(type);
  for (Value value : wanted)
    prepareFragment(value);
  comment(op);
  std::optional<Expr> owns = ownsElements(layout);
  loopOver(type, wanted, op,
           [&](const RegisterLoop &loop, ArrayRef<Expr> elements) {
             add(elements, both(owns, ownsRegister(layout, loop)));
           });
}

void KernelEmitter::emitAtomicAdd(tile::AtomicAddOp op) {
  orderAccess(op);
  RankedTensorType type = op.getValue().getType();
  View view = viewOf(op.getView());
  if (type.getRank() == 0) {
    comment(op);
    std::optional<Expr> condition = both(isFirstThread(), view.predicate);
    if (op.getPredicate())
      condition = both(condition, scalar(op.getPredicate()));
    out.line(guard(condition) + atomicAdd(view.type) +
             scalarPointer(view, op.getIndices()) + ", " +
             cast(scalar(op.getValue()), view.type).text + ");");
    return;
  }
  prepareFragment(op.getValue());
  comment(op);
  BlockAccess access =
      planAccess(op.getView(), op.getIndices(), op.getValid(),
                 op.getPredicate(), op.getDims(), getLinearLayout(type));
  access.hasTail = false; // One by one.
  std::optional<Expr> owns = ownsElements(access.layout);
  loopOver(type, op.getValue(), op,
           [&](const RegisterLoop &loop, ArrayRef<Expr> elements) {
             std::optional<Expr> condition =
                 both(both(owns, ownsRegister(access.layout, loop)),
                      mayAccess(access, loop.reg));
             out.line(guard(condition) + atomicAdd(view.type) +
                      addressOf(access, loop.reg) + ", " +
                      cast(elements.front(), view.type).text + ");");
           });
}

} // namespace tilec::cuda

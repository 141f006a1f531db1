//===- Reduce.cpp - Reductions ----------------------------------*- C++ -*-===//
//
// A reduction goes through the levels of the layout: each thread combines its
// registers, the lanes that differ along the reduced axes exchange by
// butterflies of shuffles, and warps that do so meet in shared memory. Every
// thread that holds a copy of a result has it in the end.
//
// Scratch memory holds the partial results of each warp along the axes: first
// those of warp 0, numbered by the coordinates of the result, then of warp 1.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/ReducedBits.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using mlir::tilegpu::TileGPUDialect;

namespace tilec::cuda {

using layout::Basis;
using layout::InDim;
using layout::LinearLayout;
using tilegpu::getLinearLayout;

//===--- Which bits are reduced ------------------------------------------===//

std::optional<ReducedBits> ReducedBits::of(const LinearLayout &layout,
                                           ArrayRef<int64_t> axes) {
  ReducedBits bits;
  for (InDim dim : layout::allInDims) {
    unsigned free = layout.freeBits(dim);
    for (auto [bit, basis] : llvm::enumerate(layout.bases(dim))) {
      bool reduced = false, kept = false;
      for (auto [axis, coordinate] : llvm::enumerate(basis)) {
        bool isReduced = llvm::is_contained(axes, static_cast<int64_t>(axis));
        (isReduced ? reduced : kept) |= coordinate != 0;
      }
      bool isFree = (free >> bit & 1) != 0;
      // A bit that moves both, or one whose move others make as well, would
      // count elements twice or leave some out.
      if ((reduced && kept) || (isFree && (reduced || kept)))
        return std::nullopt;
      unsigned mask = 1u << bit;
      if (reduced)
        bits.reduced[static_cast<unsigned>(dim)] |= mask;
      else if (!kept)
        bits.copies[static_cast<unsigned>(dim)] |= mask;
    }
  }
  return bits;
}

std::optional<ReducedBits>
KernelEmitter::reducedBits(Operation *op, const LinearLayout &layout,
                           ArrayRef<int64_t> axes) {
  std::optional<ReducedBits> bits = ReducedBits::of(layout, axes);
  if (!bits)
    fail(op, "expected a layout whose bits move either along the reduced axes "
             "or across them, each by itself, found " +
                 Twine(layout.str()));
  return bits;
}

//===--- Scratch memory --------------------------------------------------===//

std::string KernelEmitter::scratch(Operation *op) {
  auto offset = op->getAttrOfType<IntegerAttr>(TileGPUDialect::kScratchAttr);
  if (!offset) {
    fail(op, "expected '" + Twine(TileGPUDialect::kScratchAttr) +
                 "', a place in shared memory, found none; run "
                 "tilegpu-allocate-shared first");
    return "shared";
  }
  usesShared = true;
  return offset.getInt() ? "shared + " + std::to_string(offset.getInt())
                         : "shared";
}

//===--- tile.reduce -----------------------------------------------------===//

/// The result's register, and the coordinates of what it holds, from a
/// register of the operand.
BitMap keptRegisters(const LinearLayout &from, const LinearLayout &to,
                     ArrayRef<int64_t> axes) {
  layout::Span held(to.flatBases(InDim::Register));
  BitMap map;
  for (const Basis &basis : from.bases(InDim::Register)) {
    uint64_t flat = 0;
    unsigned next = 0;
    for (auto [axis, coordinate] : llvm::enumerate(basis))
      if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
        flat = flat * to.shape()[next++] + coordinate;
    map.images.push_back(held.express(flat).value_or(0));
  }
  return map;
}

static LinearLayout sliceAll(LinearLayout layout, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> sorted(axes);
  llvm::sort(sorted, std::greater<>());
  for (int64_t axis : sorted)
    layout = layout.slice(axis);
  return layout;
}

Expr KernelEmitter::flatCoordinateOf(const LinearLayout &layout,
                                     const BitMap &reg, StringRef variable) {
  std::optional<Expr> flat;
  int64_t scale = layout.numElements();
  for (auto [axis, extent] : llvm::enumerate(layout.shape())) {
    scale /= extent;
    Expr position = coordinate(layout, axis, reg, variable);
    if (position.text == "0")
      continue;
    if (scale > 1)
      position = binary(position, "*", intLiteral(scale, CType::I32),
                        Prec::Multiplicative, CType::I32);
    flat = flat ? binary(*flat, "+", position, Prec::Additive, CType::I32)
                : position;
  }
  return flat ? *flat : intLiteral(0, CType::I32);
}

/// The bits of `mask` of a number, moved together.
static BitMap gatherBits(unsigned mask, unsigned count) {
  BitMap map;
  unsigned next = 0;
  for (unsigned bit = 0; bit < count; ++bit)
    map.images.push_back(mask >> bit & 1 ? uint64_t(1) << next++ : 0);
  return map;
}

/// `lane & copies == 0` and the like; nothing for no bits.
std::optional<Expr> KernelEmitter::bitsAreZero(StringRef variable,
                                               unsigned mask, unsigned all) {
  if (mask == 0)
    return std::nullopt;
  Expr bits = Expr::atom(variable, CType::I32);
  if (mask != all)
    bits = binary(bits, "&", intLiteral(mask, CType::I32), Prec::BitAnd,
                  CType::I32);
  return binary(bits, "==", intLiteral(0, CType::I32), Prec::Equality,
                CType::Bool);
}

/// Has the warps that differ along the reduced axes exchange their partial
/// results: `write` puts that of a register of the result into a slot; `read`
/// takes one from a slot, once for each such warp.
void KernelEmitter::exchangeParts(
    const LinearLayout &from, const LinearLayout &to, const ReducedBits &bits,
    bool isScalar,
    llvm::function_ref<void(const std::string &, const std::string &)> write,
    llvm::function_ref<void(const std::string &, const std::string &, bool)>
        read) {
  unsigned lanes = bits.get(InDim::Lane), warps = bits.get(InDim::Warp);
  unsigned count = to.size(InDim::Register);
  int64_t elements = to.numElements();
  auto place = [&](const RegisterLoop &loop, const std::string &part) {
    Expr flat = isScalar ? intLiteral(0, CType::I32)
                         : flatCoordinateOf(to, loop.reg, "r");
    std::string slot = part == "0"     ? ""
                       : elements == 1 ? part
                       : part == "1" ? std::to_string(elements)
                                     : part + " * " + std::to_string(elements);
    if (flat.text == "0")
      return slot.empty() ? "0" : slot;
    return slot.empty() ? flat.text : slot + " + " + flat.text;
  };
  auto index = [](const RegisterLoop &loop) -> std::string {
    return loop.hasVariable ? "r" : "0";
  };
  std::optional<Expr> writes = both(
      bitsAreZero("lane", lanes | bits.copies[1], layout::lanesPerWarp - 1),
      bitsAreZero("warp", bits.copies[2], from.size(InDim::Warp) - 1));
  Expr number = textOf(gatherBits(warps, from.numBits(InDim::Warp)), "warp");
  if (writes)
    out.open("if (" + writes->text + ")", /*optional=*/true);
  forRegisters(count, 1, [&](const RegisterLoop &loop) {
    write(index(loop),
          place(loop,
                parenthesized(number, elements == 1 ? Prec::Ternary
                                                    : Prec::Multiplicative)));
  });
  if (writes)
    out.close();
  out.line("__syncthreads();");
  unsigned parts = 1u << llvm::popcount(warps);
  forRegisters(count, 1, [&](const RegisterLoop &loop) {
    read(index(loop), place(loop, "0"), true);
    if (parts == 2)
      return read(index(loop), place(loop, "1"), false);
    out.raw("#pragma unroll");
    out.open("for (int part = 1; part < " + Twine(parts) + "; ++part)",
             /*optional=*/true);
    read(index(loop), place(loop, "part"), false);
    out.close();
  });
}

static StringRef nameOf(tile::ReduceKind kind) {
  switch (kind) {
  case tile::ReduceKind::Sum:
    return "sum";
  case tile::ReduceKind::Prod:
    return "product";
  case tile::ReduceKind::Max:
  case tile::ReduceKind::FMax:
    return "greatest";
  case tile::ReduceKind::Min:
  case tile::ReduceKind::FMin:
    return "least";
  case tile::ReduceKind::Any:
    return "any";
  case tile::ReduceKind::All:
    return "all";
  }
  llvm_unreachable("unknown kind");
}

void KernelEmitter::emitReduce(tile::ReduceOp op) {
  RankedTensorType type = op.getValue().getType();
  if (type.getRank() == 0 || !isFragment(op.getValue()))
    return fail(op, "expected an operand with a layout");
  ArrayRef<int64_t> axes = op.getAxes();
  LinearLayout from = getLinearLayout(type), to = sliceAll(from, axes);
  std::optional<ReducedBits> bits = reducedBits(op, from, axes);
  if (!bits)
    return;
  RankedTensorType resultType = op.getType();
  bool isScalar = resultType.getRank() == 0;
  if (!isScalar && getLinearLayout(resultType) != to)
    return fail(op, "expected a result in the operand's layout without the "
                    "reduced axes, " +
                        Twine(to.str()) + ", found " +
                        getLinearLayout(resultType).str());

  tile::ReduceKind kind = op.getKind();
  CType ctype = typeOf(op.getResult());
  Expr start = neutral(kind, ctype);
  prepareFragment(op.getValue());
  comment(op);
  // One variable, or an array of those that the thread keeps.
  std::string name = fresh(wishFor(op.getResult(), nameOf(kind)));
  unsigned count = to.size(InDim::Register);
  auto entry = [&](const std::string &index) {
    return Expr::call(isScalar ? name : name + "[" + index + "]", ctype);
  };
  if (isScalar) {
    out.line(spelling(ctype) + " " + name + " = " + start.text + ";");
  } else {
    out.line(spelling(ctype) + " " + name + "[" + Twine(count) + "]" +
             (isZero(start) ? " = {};" : ";"));
    if (!isZero(start))
      out.line("fill(" + name + ", " + start.text + ");");
  }
  auto accumulate = [&](const Expr &into, const Expr &value) {
    if (kind == tile::ReduceKind::Sum && isFloatType(ctype))
      out.line(into.text + " += " + value.text + ";");
    else if (kind == tile::ReduceKind::Prod && isFloatType(ctype))
      out.line(into.text + " *= " + value.text + ";");
    else
      out.line(into.text + " = " + combine(kind, ctype, into, value).text +
               ";");
  };

  // Registers. Copies among them count once.
  BitMap kept = keptRegisters(from, to, axes);
  std::optional<Expr> counts =
      bitsAreZero("r", bits->copies[0], from.size(InDim::Register) - 1);
  loopOver(type, op.getValue(), op,
           [&](const RegisterLoop &loop, ArrayRef<Expr> elements) {
             if (counts && loop.hasVariable)
               out.open("if (" + counts->text + ")", /*optional=*/true);
             BitMap target = loop.reg.then(kept);
             accumulate(entry(textOf(target, "r").text),
                        cast(elements.front(), ctype));
             if (counts && loop.hasVariable)
               out.close();
           });

  // Lanes.
  unsigned lanes = bits->get(InDim::Lane), warps = bits->get(InDim::Warp);
  if (lanes)
    forRegisters(count, 1, [&](const RegisterLoop &loop) {
      Expr value = entry(loop.hasVariable ? "r" : "0");
      for (unsigned mask = 1; mask < 32; mask *= 2)
        if (lanes & mask)
          accumulate(value, Expr::call("from_lane_xor(" + value.text + ", " +
                                           Twine(mask) + ")",
                                       ctype));
    });

  // Warps.
  if (warps) {
    std::string parts = fresh(name + "_parts");
    out.line(spelling(ctype) + " *" + parts + " = (" + spelling(ctype) +
             " *)(" + scratch(op) + ");");
    exchangeParts(
        from, to, *bits, isScalar,
        [&](const std::string &index, const std::string &slot) {
          out.line(parts + "[" + slot + "] = " + entry(index).text + ";");
        },
        [&](const std::string &index, const std::string &slot, bool isFirst) {
          Expr part = Expr::call(parts + "[" + slot + "]", ctype);
          if (isFirst)
            out.line(entry(index).text + " = " + part.text + ";");
          else
            accumulate(entry(index), part);
        });
  }

  if (isScalar)
    scalars.insert({op.getResult(), Expr::atom(name, ctype)});
  else
    fragments.insert({op.getResult(), Fragment{name, ctype, count, false}});
}

} // namespace tilec::cuda

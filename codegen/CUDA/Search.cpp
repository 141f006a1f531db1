//===- Search.cpp - Where the greatest or least element is ------*- C++ -*-===//
//
// tile.arg_reduce. As a reduction (Reduce.cpp), of pairs of a value and its
// lane: -1 for none. Which of two pairs is kept does not depend on the order in
// which they are met, as equal values are told apart by their lanes.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/ReducedBits.h"

using namespace mlir;

namespace tilec::cuda {

using layout::InDim;
using layout::LinearLayout;
using tilegpu::getLinearLayout;

void KernelEmitter::emitArgReduce(tile::ArgReduceOp op) {
  RankedTensorType type = op.getValue().getType();
  if (!isFragment(op.getValue()))
    return fail(op, "expected an operand with a layout");
  int64_t axis = static_cast<int64_t>(op.getAxis());
  LinearLayout from = getLinearLayout(type), to = from.slice(axis);
  std::optional<ReducedBits> bits = reducedBits(op, from, axis);
  if (!bits)
    return;
  RankedTensorType resultType = op.getType();
  bool isScalar = resultType.getRank() == 0;
  if (!isScalar && getLinearLayout(resultType) != to)
    return fail(op, "expected a result in the operand's layout without the "
                    "reduced axis, " +
                        Twine(to.str()) + ", found " +
                        getLinearLayout(resultType).str());
  CType element = typeOf(op.getValue());
  bool isNarrow = isNarrowFloat(element);
  if (isNarrow)
    element = CType::F32;
  std::string keep =
      op.getKind() == tile::ReduceKind::Min ? "keep_least(" : "keep_greatest(";

  prepareFragment(op.getValue());
  comment(op);
  // The lane of the best value so far, and that value.
  std::string place = fresh(wishFor(op.getResult(), "place"));
  std::string best = fresh(place + "_value");
  unsigned count = to.size(InDim::Register);
  out.line("int " + place + "[" + Twine(count) + "];");
  out.line("fill(" + place + ", -1);");
  out.line(spelling(element) + " " + best + "[" + Twine(count) + "] = {};");
  auto entry = [&](StringRef array, const std::string &index) {
    return array.str() + "[" + index + "]";
  };

  BitMap kept = keptRegisters(from, to, axis);
  std::optional<Expr> counts =
      bitsAreZero("r", bits->copies[0], from.size(InDim::Register) - 1);
  bool isCut =
      op.getValid() && facts.rangeOf(op.getValid()).low < from.shape()[axis];
  loopOver(type, op.getValue(), op,
           [&](const RegisterLoop &loop, ArrayRef<Expr> elements) {
             Expr lane = coordinate(from, axis, loop.reg);
             std::optional<Expr> condition;
             if (counts && loop.hasVariable)
               condition = counts;
             if (isCut) {
               Expr inside = binary(lane, "<", scalar(op.getValid()),
                                    Prec::Relational, CType::Bool);
               condition = both(condition, inside);
             }
             std::string index = textOf(loop.reg.then(kept), "r").text;
             Expr value = isNarrow ? widen(elements.front())
                                   : cast(elements.front(), element);
             out.line((condition ? "if (" + condition->text + ") " : "") +
                      keep + entry(best, index) + ", " + entry(place, index) +
                      ", " + value.text + ", " + lane.text + ");");
           });

  unsigned lanes = bits->get(InDim::Lane), warps = bits->get(InDim::Warp);
  if (lanes)
    forRegisters(count, 1, [&](const RegisterLoop &loop) {
      std::string index = loop.hasVariable ? "r" : "0";
      for (unsigned mask = 1; mask < layout::lanesPerWarp; mask *= 2)
        if (lanes & mask)
          out.line(keep + entry(best, index) + ", " + entry(place, index) +
                   ", from_lane_xor(" + entry(best, index) + ", " +
                   Twine(mask) + "), from_lane_xor(" + entry(place, index) +
                   ", " + Twine(mask) + "));");
    });

  if (warps) {
    std::string parts = fresh(place + "_parts");
    std::string candidate = "Candidate<" + spelling(element).str() + ">";
    out.line(candidate + " *" + parts + " = (" + candidate + " *)(" +
             scratch(op) + ");");
    exchangeParts(
        from, to, *bits, isScalar,
        [&](const std::string &index, const std::string &slot) {
          out.line(parts + "[" + slot + "] = {" + entry(best, index) + ", " +
                   entry(place, index) + "};");
        },
        [&](const std::string &index, const std::string &slot, bool isFirst) {
          if (isFirst)
            out.line(entry(place, index) + " = -1;");
          out.line(keep + entry(best, index) + ", " + entry(place, index) +
                   ", " + parts + "[" + slot + "].value, " + parts + "[" +
                   slot + "].place);");
        });
  }
  if (isScalar)
    scalars.insert({op.getResult(), Expr::call(place + "[0]", CType::I32)});
  else
    fragments.insert(
        {op.getResult(), Fragment{place, CType::I32, count, false}});
}

} // namespace tilec::cuda

//===- Conversion.cpp - From one layout to another --------------*- C++ -*-===//
//
// tilegpu.convert_layout. Renamed registers are no statements at all: they are
// part of the runs that read them (Fragments.cpp). Exchanges within a warp are
// shuffles, as lib/Layout/Conversion.h plans them; others go through shared
// memory (Shared.cpp).
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/KernelEmitter.h"

#include "lib/Layout/Conversion.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::cuda {

using tilegpu::getLinearLayout;

void KernelEmitter::emitConversion(tilegpu::ConvertLayoutOp op) {
  layout::ConversionPlan plan = layout::planConversion(
      getLinearLayout(op.getValue().getType()), getLinearLayout(op.getType()));
  switch (plan.kind) {
  case layout::ConversionPlan::Kind::Identity:
  case layout::ConversionPlan::Kind::Registers: {
    // Of layouts whose copies differ; otherwise it is deferred.
    BitMap order;
    for (unsigned bit = 1; bit < plan.registerSource.size(); bit *= 2)
      order.images.push_back(plan.registerSource[bit]);
    Fragment source = fragment(op.getValue());
    comment(op);
    Fragment result{fresh(wishFor(op.getResult(), "t")), source.type,
                    static_cast<unsigned>(plan.registerSource.size()), false};
    permuteRegisters(result, source, order);
    fragments.insert({op.getResult(), result});
    return;
  }
  case layout::ConversionPlan::Kind::Shuffle:
    return emitShuffles(op, plan.shuffle);
  case layout::ConversionPlan::Kind::Shared:
    return emitSharedConversion(op);
  }
}

/// Exchanges registers r and r ^ constant in the lanes in which a bit is set,
/// for each bit of the lane that has a constant.
void KernelEmitter::exchangeRegisters(StringRef array, unsigned count,
                                      ArrayRef<unsigned> constants) {
  for (auto [bit, constant] : llvm::enumerate(constants))
    if (constant)
      out.line("exchange<" + Twine(constant) + ">(" + array + ", lane & " +
               Twine(1u << bit) + ");");
}

void KernelEmitter::emitShuffles(tilegpu::ConvertLayoutOp op,
                                 const layout::ShufflePlan &plan) {
  CType type = typeOf(op.getValue());
  Fragment source = fragment(op.getValue());
  comment(op);
  unsigned targets = plan.rounds.size();
  // Narrow elements that move together do so as words.
  unsigned perWord = elementsPerWord(type);
  bool asWords = perWord > 1 && (1u << plan.packedBits) >= perWord &&
                 source.registers >= perWord && targets >= perWord;
  unsigned shift = asWords ? llvm::Log2_32(perWord) : 0;
  StringRef entryType = asWords ? "unsigned" : spelling(type);
  auto shifted = [&](const std::array<unsigned, 5> &masks) {
    SmallVector<unsigned> result;
    for (unsigned mask : masks)
      result.push_back(mask >> shift);
    return result;
  };

  // 1. Renumbered by the lane that gives.
  std::string give = fresh("given");
  unsigned gives = source.registers >> shift;
  out.line(entryType + " " + give + "[" + Twine(gives) + "];");
  forRegisters(gives, 1, [&](const RegisterLoop &loop) {
    std::string value = asWords || !isPacked(type)
                            ? source.name + (loop.hasVariable ? "[r]" : "[0]")
                            : element(source, loop.reg).text;
    out.line(give + (loop.hasVariable ? "[r] = " : "[0] = ") + value + ";");
  });
  exchangeRegisters(give, gives, shifted(plan.give));

  // 2. From lane to lane, one round for each register of the result.
  std::string take = fresh("taken");
  unsigned takes = targets >> shift;
  out.line(entryType + " " + take + "[" + Twine(takes) + "];");
  BitMap lanes;
  for (unsigned mask : plan.source)
    lanes.images.push_back(mask);
  Expr from = plan.isButterfly() ? Expr::atom("lane", CType::I32)
                                 : threadExpr(lanes, {}, "from_lane");
  for (unsigned i = 0; i < takes; ++i) {
    const layout::ShuffleRound &round = plan.rounds[i << shift];
    std::string value = give + "[" + std::to_string(round.give >> shift) + "]";
    if (plan.moves(round)) {
      if (plan.isButterfly()) {
        value =
            ("from_lane_xor(" + Twine(value) + ", " + Twine(round.lane) + ")")
                .str();
      } else {
        Expr lane = from;
        if (round.lane)
          lane = binary(from, "^", intLiteral(round.lane, CType::I32),
                        Prec::BitXor, CType::I32);
        value = ("from_lane(" + Twine(value) + ", " + lane.text + ")").str();
      }
    }
    out.line(take + "[" + Twine(i) + "] = " + value + ";");
  }

  // 3. Renumbered by the lane that takes.
  exchangeRegisters(take, takes, shifted(plan.take));
  Fragment result{take, type, targets, false};
  if (isPacked(type) && !asWords) {
    result.name = fresh(wishFor(op.getResult(), "t"));
    out.line("unsigned " + result.name + "[" + Twine(arraySize(type, targets)) +
             "];");
    out.line("pack_" + Twine(8 * byteSize(type)) + "(" + result.name + ", " +
             take + ");");
  }
  fragments.insert({op.getResult(), result});
}

} // namespace tilec::cuda

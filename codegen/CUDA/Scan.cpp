//===- Scan.cpp - Running combinations --------------------------*- C++ -*-===//
//
// tile.scan along one axis. Its layout has the axis' coordinate, from the low
// bits on, in registers, then lanes, then warps, then registers again (the
// repetition of the whole over a longer axis). So a thread first runs over its
// own neighbors; then the totals of threads are combined bit by bit of the
// lane, each lane keeping what comes before it; then those of warps, through
// shared memory; and the repetitions carry on from one another.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/ReducedBits.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::cuda {

using layout::InDim;
using layout::LinearLayout;
using tilegpu::getLinearLayout;

namespace {

/// Which bits hold the coordinate along the axis, lowest first.
struct ScanBits {
  SmallVector<unsigned> low, lanes, warps, repeats;
  /// Registers of different lines.
  SmallVector<unsigned> lines;

  static std::optional<ScanBits> of(const LinearLayout &layout, unsigned axis);
};

} // namespace

std::optional<ScanBits> ScanBits::of(const LinearLayout &layout,
                                     unsigned axis) {
  ScanBits bits;
  std::optional<ReducedBits> along =
      ReducedBits::of(layout, static_cast<int64_t>(axis));
  if (!along || along->copies[0])
    return std::nullopt;
  // The bit of an index that moves the axis by a distance.
  auto find = [&](InDim dim, int64_t distance) -> std::optional<unsigned> {
    for (auto [bit, basis] : llvm::enumerate(layout.bases(dim)))
      if ((along->get(dim) >> bit & 1) && basis[axis] == distance)
        return bit;
    return std::nullopt;
  };
  int64_t distance = 1, extent = layout.shape()[axis];
  auto take = [&](InDim dim, SmallVector<unsigned> &into) {
    for (; distance < extent; distance *= 2) {
      std::optional<unsigned> bit = find(dim, distance);
      if (!bit)
        return;
      into.push_back(*bit);
    }
  };
  take(InDim::Register, bits.low);
  take(InDim::Lane, bits.lanes);
  take(InDim::Warp, bits.warps);
  take(InDim::Register, bits.repeats);
  if (distance < extent)
    return std::nullopt;
  for (unsigned bit = 0; bit < layout.numBits(InDim::Register); ++bit)
    if (!llvm::is_contained(bits.low, bit) &&
        !llvm::is_contained(bits.repeats, bit))
      bits.lines.push_back(bit);
  return bits;
}

/// The register number that a number gives whose bits stand for these.
static BitMap spread(ArrayRef<unsigned> bits) {
  BitMap map;
  for (unsigned bit : bits)
    map.images.push_back(uint64_t(1) << bit);
  return map;
}

void KernelEmitter::emitScan(tile::ScanOp op) {
  RankedTensorType type = op.getType();
  if (!isFragment(op.getValue()))
    return fail(op, "expected an operand with a layout");
  LinearLayout layout = getLinearLayout(type);
  unsigned axis = static_cast<unsigned>(op.getAxis());
  std::optional<ScanBits> bits = ScanBits::of(layout, axis);
  if (!bits)
    return fail(op, "expected a layout whose axis " + Twine(axis) +
                        " runs over registers, then lanes, then warps, found " +
                        layout.str());
  CType element = typeOf(op.getResult());
  tile::ReduceKind kind = op.getKind();
  std::string start = neutral(kind, element).text;
  auto combined = [&](const std::string &a, const std::string &b) {
    return combine(kind, element, Expr::call(a, element),
                   Expr::call(b, element))
        .text;
  };

  prepareFragment(op.getValue());
  comment(op);
  Fragment result = declareFragment(op.getResult(), "scan");
  loopOver(type, op.getValue(), op,
           [&](const RegisterLoop &loop, ArrayRef<Expr> elements) {
             out.line(result.name + (loop.hasVariable ? "[r] = " : "[0] = ") +
                      cast(elements.front(), element).text + ";");
           });

  unsigned lines = 1u << bits->lines.size(), steps = 1u << bits->low.size();
  unsigned repeats = 1u << bits->repeats.size();
  StringRef spelled = spelling(element);
  std::string before = fresh("before"), total = fresh("total"),
              carry = fresh("carry");
  bool carries = repeats > 1;
  if (carries) {
    out.line(spelled + " " + carry + "[" + Twine(lines) + "];");
    out.line("fill(" + carry + ", " + start + ");");
    out.raw("#pragma unroll");
    out.open("for (int repeat = 0; repeat < " + Twine(repeats) + "; ++repeat)");
  }
  auto overLines = [&](llvm::function_ref<void()> body) {
    out.raw("#pragma unroll");
    out.open("for (int line = 0; line < " + Twine(lines) + "; ++line)");
    body();
    out.close();
  };
  // The register of a line, a repetition and a step.
  std::string place;
  auto addPart = [&](ArrayRef<unsigned> part, StringRef variable) {
    if (part.empty())
      return;
    Expr text = textOf(spread(part), variable);
    place += (place.empty() ? "" : " | ") + parenthesized(text, Prec::BitAnd);
  };
  addPart(bits->lines, "line");
  addPart(bits->repeats, "repeat");
  addPart(bits->low, "step");
  std::string entry = result.name + "[" + (place.empty() ? "0" : place) + "]";
  auto overSteps = [&](llvm::function_ref<void()> body) {
    out.raw("#pragma unroll");
    out.open("for (int step = 0; step < " + Twine(steps) + "; ++step)",
             /*optional=*/true);
    body();
    out.close();
  };

  // What comes before each thread's part, and the total of what was combined.
  out.line(spelled + " " + before + "[" + Twine(lines) + "], " + total + "[" +
           Twine(lines) + "];");
  std::string beforeLine = before + "[line]", totalLine = total + "[line]";
  overLines([&] {
    out.line(beforeLine + " = " + start + ";");
    out.line(totalLine + " = " + start + ";");
    overSteps([&] {
      out.line(entry + " = " + totalLine + " = " + combined(totalLine, entry) +
               ";");
    });
    for (unsigned bit : bits->lanes) {
      unsigned mask = 1u << bit;
      std::string other = "other";
      out.open("");
      out.line(spelled + " other = from_lane_xor(" + totalLine + ", " +
               Twine(mask) + ");");
      out.line("if (lane & " + Twine(mask) + ") " + beforeLine + " = " +
               combined(beforeLine, other) + ";");
      out.line(totalLine + " = " + combined(totalLine, other) + ";");
      out.close();
    }
  });

  if (!bits->warps.empty()) {
    // Lines are numbered as they lie across the axis.
    LinearLayout across = layout.slice(axis);
    std::optional<BitMap> kept =
        keptRegisters(layout, across, static_cast<int64_t>(axis));
    BitMap lineMap = spread(bits->lines).then(*kept);
    std::string parts = fresh("parts");
    out.line(spelled + " *" + parts + " = (" + spelled + " *)(" + scratch(op) +
             ");");
    int64_t numLines = across.numElements();
    BitMap warpPart;
    warpPart.images.assign(layout.numBits(InDim::Warp), 0);
    for (auto [i, bit] : llvm::enumerate(bits->warps))
      warpPart.images[bit] = uint64_t(1) << i;
    Expr number = textOf(warpPart, "warp");
    std::string flat = flatCoordinateOf(across, lineMap, "line").text;
    auto slot = [&](const std::string &part) {
      return parts + "[" + part + " * " + std::to_string(numLines) +
             (flat == "0" ? "" : " + " + flat) + "]";
    };
    // A lane of each line writes, in one of the warps that hold copies.
    unsigned laneMask = 0;
    for (unsigned bit : bits->lanes)
      laneMask |= 1u << bit;
    ReducedBits along = *ReducedBits::of(layout, static_cast<int64_t>(axis));
    std::optional<Expr> writes = both(
        bitsAreZero("lane", laneMask | along.copies[1], 31),
        bitsAreZero("warp", along.copies[2], layout.size(InDim::Warp) - 1));
    if (writes)
      out.open("if (" + writes->text + ")");
    overLines([&] {
      out.line(slot(parenthesized(number, Prec::Multiplicative)) + " = " +
               totalLine + ";");
    });
    if (writes)
      out.close();
    out.line("__syncthreads();");
    overLines([&] {
      out.line(totalLine + " = " + start + ";");
      out.raw("#pragma unroll");
      out.open("for (int part = 0; part < " + Twine(1u << bits->warps.size()) +
               "; ++part)");
      out.line("if (part < " + parenthesized(number, Prec::Additive) + ") " +
               beforeLine + " = " + combined(beforeLine, slot("part")) + ";");
      out.line(totalLine + " = " + combined(totalLine, slot("part")) + ";");
      out.close();
    });
    if (carries)
      out.line("__syncthreads();");
  }

  overLines([&] {
    if (carries) {
      std::string carryLine = carry + "[line]";
      out.line(beforeLine + " = " + combined(carryLine, beforeLine) + ";");
      out.line(carryLine + " = " + combined(carryLine, totalLine) + ";");
    }
    overSteps(
        [&] { out.line(entry + " = " + combined(beforeLine, entry) + ";"); });
  });
  if (carries)
    out.close();
  fragments.insert({op.getResult(), result});
}

} // namespace tilec::cuda

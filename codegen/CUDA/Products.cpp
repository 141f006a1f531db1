//===- Products.cpp - Matrix products ---------------------------*- C++ -*-===//
//
// tilegpu.mma: loops over the instructions m16n8k of a warp. For each step
// along k the fragments of both operands are read, then all products made:
//
//   for kk:  for mi: a[mi] = ...   for ni: b[ni] = ...
//            for mi, ni: acc[mi][ni] += a[mi] * b[ni]
//
// Around it is a loop over bi where a warp has several products.
//
// An operand in shared memory whose rows run along k is read by ldmatrix, 16
// bytes of a row at a time; in units of 16 bytes all element types are alike.
// If its rows run across k, ldmatrix transposes 16-bit elements; others are
// read one by one. An operand in registers has the layout of the fragments.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/SharedAddress.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::cuda {

using layout::Basis;
using layout::InDim;
using layout::LinearLayout;
using tilegpu::BufferType;
using tilegpu::getLinearLayout;

/// How a warp computes its part of a product.
struct KernelEmitter::Tiling {
  /// Instructions along each axis, and the k of one.
  unsigned countM = 1, countN = 1, countK = 1, instructionK = 16;
  /// All of the block's products, and the extents of one.
  int64_t batches = 1, extentM = 1, extentK = 1;
  unsigned countB = 1; // Products of the warp.
  unsigned warpsB = 1, warpsM = 1, warpsN = 1;
  /// Batches, rows and columns by which a warp's bits move it.
  SmallVector<Basis> warps;

  bool findWarps(const LinearLayout &acc);
};

/// Finds the warps along each axis of the accumulators of mma.
bool KernelEmitter::Tiling::findWarps(const LinearLayout &acc) {
  unsigned all = acc.size(InDim::Warp);
  for (warpsB = 1; warpsB <= all; warpsB *= 2)
    for (warpsM = 1; warpsM * warpsB <= all; warpsM *= 2) {
      warpsN = all / (warpsB * warpsM);
      if (acc ==
          LinearLayout::mmaAccumulator(acc.shape().drop_front(), warpsM, warpsN)
              .repeat(acc.shape()[0], warpsB))
        return true;
    }
  return false;
}

Fragment KernelEmitter::accumulator(Value acc, Operation *product,
                                    Value result) {
  if (diesAt(acc, product)) {
    Fragment fragment = this->fragment(acc);
    if (!fragment.isShared)
      return fragment;
  } else if (!isCheap(acc)) {
    materialize(acc);
  }
  prepareFragment(acc);
  return declareCopy(result, "acc", acc, product);
}

/// The name of the instruction's wrapper.
static std::string instructionName(CType lhs, CType rhs, bool lhsUnsigned,
                                   bool rhsUnsigned) {
  if (lhs == CType::F32)
    return "mma_tf32";
  if (lhs == CType::BF16 || lhs == CType::F16)
    return "mma_" + shortName(lhs).str();
  auto name = [](CType type, bool isUnsigned) {
    return isUnsigned ? std::string("u8") : shortName(type).str();
  };
  return "mma_" + name(lhs, lhsUnsigned) + "_" + name(rhs, rhsUnsigned);
}

//===--- Operands --------------------------------------------------------===//

struct KernelEmitter::MMAOperand {
  enum class Kind { Registers, Matrix, TransposedMatrix, Elements };
  Kind kind = Kind::Registers;
  bool isLeft = true;
  CType type = CType::BF16;
  /// The array of one step along k.
  std::string name;
  /// Instructions across k, and those that one load is for.
  unsigned countAcross = 1, perLoad = 1;
  Fragment fragment;
  std::shared_ptr<SharedAddress> address;
  std::string base;
};

void KernelEmitter::declareOperand(const MMAOperand &operand,
                                   const Tiling &tiling) {
  bool isA = operand.isLeft;
  unsigned words = (isA ? 4 : 2) * (isA ? tiling.countM : tiling.countN);
  out.line("unsigned " + operand.name + "[" + Twine(words) + "];");
}

KernelEmitter::MMAOperand KernelEmitter::planOperand(Value value, Value slot,
                                                     bool transposed,
                                                     bool isLeft,
                                                     const Tiling &tiling,
                                                     tilegpu::MMAOp op) {
  MMAOperand operand;
  operand.isLeft = isLeft;
  auto buffer = dyn_cast<BufferType>(value.getType());
  operand.type = ctypeOf(buffer ? buffer.getElementType()
                                : getElementTypeOrSelf(value.getType()));
  operand.countAcross = isLeft ? tiling.countM : tiling.countN;
  operand.name = fresh(isLeft ? "a" : "b");
  unsigned bytes = byteSize(operand.type), perWord = 4 / bytes;
  int64_t k = tiling.instructionK, halfK = k / 2, across = isLeft ? 16 : 8;
  if (!buffer) {
    operand.fragment = fragment(value);
    // Names like those of the accumulator's warps: each holds its own part.
    RankedTensorType type = cast<RankedTensorType>(value.getType());
    std::array<int64_t, 2> matrix = tilegpu::getStoredShape(
        type, tiling.batches, isLeft ? tiling.extentM : tiling.extentK);
    LinearLayout held =
        getLinearLayout(type).reshape({tiling.batches, matrix[0], matrix[1]});
    LinearLayout wanted =
        (isLeft ? LinearLayout::mmaOperandA(matrix, perWord, tiling.warpsM,
                                            tiling.warpsN)
                : LinearLayout::mmaOperandB(matrix, perWord, tiling.warpsM,
                                            tiling.warpsN))
            .repeat(tiling.batches, tiling.warpsB);
    if (held != wanted)
      fail(op, "expected " + Twine(isLeft ? "lhs" : "rhs") +
                   " in the layout of the instruction, " +
                   wanted.reshape(type.getShape()).str() + ", found " +
                   getLinearLayout(type).str());
    return operand;
  }

  // The coordinates (across, k) as elements of the buffer, and their offsets.
  layout::SharedLayout shared = layoutOf(buffer);
  int64_t batchElements =
      buffer.getRows() / tiling.batches * buffer.getColumns();
  bool kAlongRows = isLeft != transposed;
  auto offsets = [&](ArrayRef<std::pair<int64_t, int64_t>> places) {
    SmallVector<uint64_t> elements;
    for (auto [x, z] : places) {
      int64_t row = kAlongRows ? x : z, column = kAlongRows ? z : x;
      elements.push_back(
          static_cast<uint64_t>(row * buffer.getColumns() + column));
    }
    return offsetsOf(shared, elements);
  };
  auto steps = [&](int64_t first, unsigned count, bool isK) {
    SmallVector<std::pair<int64_t, int64_t>> places;
    for (unsigned i = 1; i < count; i *= 2)
      places.push_back(isK ? std::pair<int64_t, int64_t>(0, first * i)
                           : std::pair<int64_t, int64_t>(first * i, 0));
    return offsets(places);
  };
  SmallVector<uint64_t> warpElements, batchSteps;
  for (const Basis &basis : tiling.warps) {
    int64_t own = isLeft ? basis[1] : basis[2];
    warpElements.push_back(
        static_cast<uint64_t>(basis[0] * batchElements +
                              own * (kAlongRows ? buffer.getColumns() : 1)));
  }
  for (unsigned i = 1; i < tiling.countB; i *= 2)
    batchSteps.push_back(static_cast<uint64_t>(i * batchElements));
  BitMap warpOffsets = offsetsOf(shared, warpElements);
  OffsetPart alongB{"bi", offsetsOf(shared, batchSteps)};
  OffsetPart alongK{"kk", steps(k, tiling.countK, /*isK=*/true)};

  bool byMatrix = kAlongRows || bytes == 2;
  if (byMatrix) {
    // Which row of which matrix a lane names.
    operand.kind = kAlongRows ? MMAOperand::Kind::Matrix
                              : MMAOperand::Kind::TransposedMatrix;
    operand.perLoad = isLeft || operand.countAcross == 1 ? 1 : 2;
    SmallVector<std::pair<int64_t, int64_t>> lanes;
    for (int64_t i = 1; i < 8; i *= 2)
      lanes.push_back(kAlongRows ? std::pair(i, int64_t(0))
                                 : std::pair(int64_t(0), i));
    if (isLeft) {
      lanes.push_back({8, 0});
      lanes.push_back({0, halfK});
    } else {
      lanes.push_back({0, halfK});
      lanes.push_back({operand.perLoad == 2 ? 8 : 0, 0});
    }
    OffsetPart step{isLeft ? "mi" : "ni",
                    steps(across, operand.countAcross, /*isK=*/false)};
    operand.address = std::make_shared<SharedAddress>(
        planAddress(offsets(lanes), warpOffsets, {alongB, alongK, step},
                    bufferName(value) + "_lane"));
  } else {
    operand.kind = MMAOperand::Kind::Elements;
    int64_t width = perWord;
    SmallVector<std::pair<int64_t, int64_t>> lanes = {
        {0, width}, {0, 2 * width}, {1, 0}, {2, 0}, {4, 0}};
    OffsetPart step{isLeft ? "mi" : "ni",
                    steps(across, operand.countAcross, /*isK=*/false)};
    SmallVector<std::pair<int64_t, int64_t>> words;
    if (isLeft)
      words.push_back({8, 0});
    words.push_back({0, halfK});
    OffsetPart word{"word", offsets(words)};
    OffsetPart byte{"e", steps(1, perWord, /*isK=*/true)};
    operand.address = std::make_shared<SharedAddress>(planAddress(
        offsets(lanes), warpOffsets, {alongB, alongK, step, word, byte},
        bufferName(value) + "_lane"));
  }
  operand.base = bufferBase(value, slot, *operand.address);
  return operand;
}

void KernelEmitter::loadOperand(const MMAOperand &operand,
                                const Tiling &tiling) {
  unsigned words = operand.isLeft ? 4 : 2;
  StringRef index = operand.isLeft ? "mi" : "ni";
  std::string entry =
      operand.name + " + " + std::to_string(words) + " * " + index.str();
  auto overAcross = [&](unsigned step, llvm::function_ref<void()> body) {
    out.raw("#pragma unroll");
    out.open("for (int " + index + " = 0; " + index + " < " +
                 Twine(operand.countAcross) + "; " +
                 (step == 1 ? "++" + index : index + " += " + Twine(step)) +
                 ")",
             /*optional=*/true);
    body();
    out.close();
  };
  switch (operand.kind) {
  case MMAOperand::Kind::Registers: {
    // Words lie by instruction, then k, then across, then product.
    std::string across = index.str();
    if (tiling.countB > 1)
      across =
          "(bi * " + std::to_string(operand.countAcross) + " + " + across + ")";
    std::string place = operand.fragment.name + "[" + std::to_string(words) +
                        " * (" + across + " * " +
                        std::to_string(tiling.countK) + " + kk) + word]";
    if (operand.type == CType::F32)
      place = "__float_as_uint(" + place + ")";
    overAcross(1, [&] {
      out.raw("#pragma unroll");
      out.open("for (int word = 0; word < " + Twine(words) + "; ++word)",
               /*optional=*/true);
      out.line(operand.name + "[" + Twine(words) + " * " + index +
               " + word] = " + place + ";");
      out.close();
    });
    return;
  }
  case MMAOperand::Kind::Matrix:
  case MMAOperand::Kind::TransposedMatrix: {
    std::string function =
        words * operand.perLoad == 4 ? "ldmatrix_x4" : "ldmatrix_x2";
    if (operand.kind == MMAOperand::Kind::TransposedMatrix)
      function += "_trans";
    overAcross(operand.perLoad, [&] {
      out.line(function + "(" + entry + ", " +
               operand.address->at(operand.base) + ");");
    });
    return;
  }
  case MMAOperand::Kind::Elements:
    overAcross(1, [&] {
      out.raw("#pragma unroll");
      out.open("for (int word = 0; word < " + Twine(words) + "; ++word)",
               /*optional=*/true);
      std::string target = operand.name + "[" + std::to_string(words) + " * " +
                           index.str() + " + word] = ";
      if (byteSize(operand.type) == 4) {
        out.line(target + "load_shared_value<unsigned>(" +
                 operand.address->at(operand.base) + ");");
      } else {
        std::string bytes;
        for (unsigned e = 0; e < 4; ++e) {
          SharedAddress here = *operand.address;
          for (auto *parts : {&here.flipped, &here.added})
            for (OffsetPart &part : *parts)
              if (part.variable == "e")
                part.offsets = BitMap::constant(part.offsets.apply(e));
          bytes += (e ? ", " : "") + here.at(operand.base);
        }
        out.line(target + "gather_bytes(" + bytes + ");");
      }
      out.close();
    });
    return;
  }
}

//===--- tilegpu.mma -----------------------------------------------------===//

void KernelEmitter::emitMMA(tilegpu::MMAOp op) {
  comment(op);
  RankedTensorType accType = op.getAcc().getType();
  auto [batches, m, n] =
      tilegpu::getMatrixShape(accType, static_cast<int64_t>(op.getBatch()),
                              static_cast<int64_t>(op.getRowAxes()));
  LinearLayout layout = getLinearLayout(accType).reshape({batches, m, n});
  Tiling tiling;
  if (!tiling.findWarps(layout))
    return fail(op, "expected an accumulator in the layout of mma, found " +
                        Twine(getLinearLayout(accType).str()));
  tiling.batches = batches;
  tiling.countB =
      static_cast<unsigned>(std::max<int64_t>(batches / tiling.warpsB, 1));
  tiling.warps.assign(layout.bases(InDim::Warp).begin(),
                      layout.bases(InDim::Warp).end());
  tiling.instructionK = static_cast<unsigned>(op.getInstructionK());
  auto [lhsRows, lhsColumns] =
      tilegpu::getStoredShape(op.getLhs().getType(), batches, m);
  int64_t extentK = op.getLhsTransposed() ? lhsRows : lhsColumns;
  tiling.extentM = m;
  tiling.extentK = extentK;
  int64_t tileM = m / tiling.warpsM, tileN = n / tiling.warpsN;
  tiling.countM = static_cast<unsigned>(std::max<int64_t>(tileM, 16) / 16);
  tiling.countN = static_cast<unsigned>(std::max<int64_t>(tileN, 8) / 8);
  tiling.countK = static_cast<unsigned>(extentK / tiling.instructionK);
  if (m < 16 || n < 8 || tiling.countK == 0)
    return fail(op, "expected at least one instruction m16n8k" +
                        Twine(tiling.instructionK) + ", found a product of " +
                        Twine(m) + " x " + Twine(n) + " x " + Twine(extentK));

  Fragment acc = accumulator(op.getAcc(), op, op.getResult());
  comment(op);
  MMAOperand a =
      planOperand(op.getLhs(), op.getLhsSlot(), op.getLhsTransposed(),
                  /*isLeft=*/true, tiling, op);
  MMAOperand b =
      planOperand(op.getRhs(), op.getRhsSlot(), op.getRhsTransposed(),
                  /*isLeft=*/false, tiling, op);
  std::string name =
      instructionName(a.type, b.type, op.getLhsUnsigned(), op.getRhsUnsigned());
  bool isTF32 = a.type == CType::F32;
  bool threeTimes = op.getPrecision() == tile::Precision::TF32x3;

  if (tiling.countB > 1) {
    out.raw("#pragma unroll");
    out.open("for (int bi = 0; bi < " + Twine(tiling.countB) + "; ++bi)");
  }
  out.raw("#pragma unroll");
  out.open("for (int kk = 0; kk < " + Twine(tiling.countK) + "; ++kk)");
  declareOperand(a, tiling);
  declareOperand(b, tiling);
  loadOperand(a, tiling);
  loadOperand(b, tiling);
  std::string restA = a.name + "_rest", restB = b.name + "_rest";
  if (threeTimes) {
    out.line("unsigned " + restA + "[" + Twine(4 * tiling.countM) + "], " +
             restB + "[" + Twine(2 * tiling.countN) + "];");
    out.line("split_tf32(" + a.name + ", " + restA + ");");
    out.line("split_tf32(" + b.name + ", " + restB + ");");
  } else if (isTF32) {
    out.line("to_tf32(" + a.name + ");");
    out.line("to_tf32(" + b.name + ");");
  }
  out.raw("#pragma unroll");
  out.open("for (int mi = 0; mi < " + Twine(tiling.countM) + "; ++mi)",
           /*optional=*/false);
  out.raw("#pragma unroll");
  out.open("for (int ni = 0; ni < " + Twine(tiling.countN) + "; ++ni)",
           /*optional=*/true);
  std::string rows = tiling.countB > 1
                         ? "(bi * " + std::to_string(tiling.countM) + " + mi)"
                         : std::string("mi");
  auto product = [&](StringRef lhs, StringRef rhs) {
    out.line(name + "(" + acc.name + " + 4 * (" + rows + " * " +
             Twine(tiling.countN) + " + ni), " + lhs + " + 4 * mi, " + rhs +
             " + 2 * ni);");
  };
  if (threeTimes) {
    // The small products first.
    product(restA, b.name);
    product(a.name, restB);
  }
  product(a.name, b.name);
  out.close();
  out.close();
  out.close();
  if (tiling.countB > 1)
    out.close();
  fragments.insert({op.getResult(), acc});
}

} // namespace tilec::cuda

//===- FMADot.cpp - Matrix products on the ordinary units -------*- C++ -*-===//
//
// tilegpu.fma_dot: every thread computes the elements of the accumulator that
// it holds. Its registers are a grid of rows and columns (and batches), so for
// each k it needs as many elements of the left operand as it has rows, and of
// the right one as it has columns. k advances by the elements of 16 bytes; an
// operand whose rows run along k is read 16 bytes at a time, and so is one
// whose rows run across it if the thread has neighbors there.
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

/// One operand: an array of the elements of some k by the thread's rows (or
/// columns).
struct KernelEmitter::FMAOperand {
  Fragment fragment;
  bool isUnsigned = false;
  /// log2 of the k in the array, and whether k has the low bits of its index.
  unsigned kBits = 0;
  bool kFirst = false;
  /// From a register of the accumulator to the index across k.
  BitMap across;
  unsigned acrossBits = 0;
  /// Elements of one access, along the low bits of the index.
  unsigned vector = 1;
  std::shared_ptr<SharedAddress> address;
  std::string base;
};

KernelEmitter::FMAOperand
KernelEmitter::planFMAOperand(Value value, Value slot, bool transposed,
                              bool isLeft, unsigned kBits,
                              const LinearLayout &acc) {
  auto buffer = cast<BufferType>(value.getType());
  layout::SharedLayout shared = layoutOf(buffer);
  FMAOperand operand;
  operand.kBits = kBits;
  operand.kFirst = isLeft != transposed;
  operand.fragment.type = ctypeOf(buffer.getElementType());

  // The place of an element in its buffer, without k.
  int64_t rowsPerBatch = buffer.getRows() / acc.shape()[0];
  auto placeOf = [&](const Basis &basis) {
    int64_t own = basis[isLeft ? 1 : 2];
    int64_t row = basis[0] * rowsPerBatch + (operand.kFirst ? own : 0);
    return static_cast<uint64_t>(row * buffer.getColumns() +
                                 (operand.kFirst ? 0 : own));
  };
  auto places = [&](InDim dim) {
    SmallVector<uint64_t> elements;
    for (const Basis &basis : acc.bases(dim))
      elements.push_back(placeOf(basis));
    return elements;
  };
  // Registers that move the operand, each place once.
  SmallVector<uint64_t> distinct;
  for (uint64_t place : places(InDim::Register)) {
    if (place == 0) {
      operand.across.images.push_back(0);
      continue;
    }
    distinct.push_back(place);
    operand.across.images.push_back(uint64_t(1) << (distinct.size() - 1));
  }
  operand.acrossBits = distinct.size();
  operand.fragment.registers = 1u << (distinct.size() + kBits);

  auto alongK = [&](int64_t k) {
    return static_cast<uint64_t>(operand.kFirst ? k : k * buffer.getColumns());
  };
  // The index of the array: k and the place, whichever is along rows first.
  SmallVector<uint64_t> steps;
  for (unsigned bit = 0; bit < kBits; ++bit)
    steps.push_back(alongK(int64_t(1) << bit));
  steps.insert(operand.kFirst ? steps.end() : steps.begin(), distinct.begin(),
               distinct.end());
  BitMap index = offsetsOf(shared, steps);
  unsigned bytes = byteSize(operand.fragment.type);
  while (operand.vector * bytes < 16 &&
         operand.vector < operand.fragment.registers &&
         index.images[llvm::Log2_32(operand.vector)] ==
             uint64_t(operand.vector) * bytes)
    operand.vector *= 2;
  // Nothing else may move within an access.
  SmallVector<uint64_t> others = places(InDim::Lane);
  llvm::append_range(others, places(InDim::Warp));
  others.append(steps.begin() + llvm::Log2_32(operand.vector), steps.end());
  while (operand.vector > 1 && llvm::any_of(others, [&](uint64_t place) {
           return (place & (operand.vector - 1)) != 0;
         }))
    operand.vector /= 2;

  SmallVector<uint64_t> kSteps;
  int64_t extentK = operand.kFirst ? buffer.getColumns() : rowsPerBatch;
  for (int64_t k = 1; k < extentK; k *= 2)
    kSteps.push_back(k < (int64_t(1) << kBits) ? 0 : alongK(k));
  operand.address = std::make_shared<SharedAddress>(
      planAddress(offsetsOf(shared, places(InDim::Lane)),
                  offsetsOf(shared, places(InDim::Warp)),
                  {{"k0", offsetsOf(shared, kSteps)}, {"r", index}},
                  bufferName(value) + "_lane"));
  operand.base = bufferBase(value, slot, *operand.address);
  operand.fragment.name = fresh(isLeft ? "a" : "b");
  return operand;
}

void KernelEmitter::loadFMAOperand(const FMAOperand &operand) {
  const Fragment &fragment = operand.fragment;
  CType type = fragment.type;
  unsigned bytes = operand.vector * byteSize(type);
  auto at = [&](const RegisterLoop &loop) {
    SharedAddress here = *operand.address;
    for (auto *parts : {&here.flipped, &here.added}) {
      for (OffsetPart &part : *parts)
        if (part.variable == "r")
          part.offsets = loop.reg.then(part.offsets);
      llvm::erase_if(*parts,
                     [](const OffsetPart &p) { return p.offsets.isZero(); });
    }
    return here.at(operand.base);
  };
  out.line(arraySpelling(type) + " " + fragment.name + "[" +
           Twine(arraySize(type, fragment.registers)) + "];");
  if (bytes >= 4) {
    forRegisters(
        fragment.registers, operand.vector, [&](const RegisterLoop &loop) {
          out.line("load_shared_" + Twine(bytes) + "(" +
                   entryPointer(fragment, loop) + ", " + at(loop) + ");");
        });
    return;
  }
  std::string raw =
      isPacked(type) ? fresh(fragment.name + "_raw") : fragment.name;
  if (isPacked(type))
    out.line(spelling(type) + " " + raw + "[" + Twine(fragment.registers) +
             "];");
  forRegisters(fragment.registers, 1, [&](const RegisterLoop &loop) {
    out.line(raw + (loop.hasVariable ? "[r]" : "[0]") +
             " = load_shared_value<" + spelling(type) + ">(" + at(loop) + ");");
  });
  if (isPacked(type))
    out.line("pack_" + Twine(8 * byteSize(type)) + "(" + fragment.name + ", " +
             raw + ");");
}

void KernelEmitter::emitFMADot(tilegpu::FMADotOp op) {
  comment(op);
  RankedTensorType type = op.getAcc().getType();
  auto [batches, m, n] =
      tilegpu::getMatrixShape(type, static_cast<int64_t>(op.getBatch()),
                              static_cast<int64_t>(op.getRowAxes()));
  LinearLayout layout = getLinearLayout(type).reshape({batches, m, n});
  BufferType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  int64_t extentK =
      op.getLhsTransposed() ? lhs.getRows() / batches : lhs.getColumns();
  int64_t elementBytes = std::max(lhs.getElementBytes(), rhs.getElementBytes());
  auto kBits = static_cast<unsigned>(
      llvm::Log2_64(std::min<int64_t>(extentK, 16 / elementBytes)));

  Fragment acc = accumulator(op.getAcc(), op, op.getResult());
  comment(op);
  CType sumType = acc.type;
  // Narrow integers are summed as int and packed in the end.
  std::string sums = acc.name;
  CType wide = isPacked(sumType) ? CType::I32 : sumType;
  if (isPacked(sumType)) {
    sums = fresh(acc.name + "_sums");
    out.line("int " + sums + "[" + Twine(acc.registers) + "];");
    forRegisters(acc.registers, 1, [&](const RegisterLoop &loop) {
      out.line(sums + (loop.hasVariable ? "[r] = " : "[0] = ") +
               element(acc, loop.reg).text + ";");
    });
  }
  FMAOperand a =
      planFMAOperand(op.getLhs(), op.getLhsSlot(), op.getLhsTransposed(),
                     /*isLeft=*/true, kBits, layout);
  FMAOperand b =
      planFMAOperand(op.getRhs(), op.getRhsSlot(), op.getRhsTransposed(),
                     /*isLeft=*/false, kBits, layout);
  a.isUnsigned = op.getLhsUnsigned();
  b.isUnsigned = op.getRhsUnsigned();

  out.raw("#pragma unroll 1");
  out.open("for (int k0 = 0; k0 < " + Twine(extentK) +
           "; k0 += " + Twine(1u << kBits) + ")");
  loadFMAOperand(a);
  loadFMAOperand(b);
  out.raw("#pragma unroll");
  out.open("for (int k = 0; k < " + Twine(1u << kBits) + "; ++k)");
  // The text of an operand's element for step k and register r.
  auto elementOf = [&](const FMAOperand &operand, const RegisterLoop &loop) {
    BitMap across = loop.reg.then(operand.across);
    unsigned shift = operand.kFirst ? operand.kBits : 0;
    for (uint64_t &image : across.images)
      image <<= shift;
    Expr place = textOf(across, "r");
    if (kBits > 0) {
      Expr k = Expr::atom("k", CType::I32);
      if (!operand.kFirst && operand.acrossBits > 0)
        k = binary(k, "<<", intLiteral(operand.acrossBits, CType::I32),
                   Prec::Shift, CType::I32);
      place = place.text == "0"
                  ? k
                  : binary(place, "|", k, Prec::BitOr, CType::I32);
    }
    const std::string &index = place.text;
    Expr value = elementAt(operand.fragment, index);
    if (operand.isUnsigned)
      value = Expr::call(
          "byte_at(" + operand.fragment.name + ", " + index + ")", CType::I32);
    return cast(widen(value), wide).text;
  };
  forRegisters(acc.registers, 1, [&](const RegisterLoop &loop) {
    std::string entry = sums + (loop.hasVariable ? "[r]" : "[0]");
    std::string x = elementOf(a, loop), y = elementOf(b, loop);
    if (wide == CType::F32)
      out.line(entry + " = fmaf(" + x + ", " + y + ", " + entry + ");");
    else if (wide == CType::F64)
      out.line(entry + " = fma(" + x + ", " + y + ", " + entry + ");");
    else
      out.line(entry + " = wrap_add(" + entry + ", wrap_mul(" + x + ", " + y +
               "));");
  });
  out.close();
  out.close();
  if (isPacked(sumType))
    out.line("pack_" + Twine(8 * byteSize(sumType)) + "(" + acc.name + ", " +
             sums + ");");
  fragments.insert({op.getResult(), acc});
}

} // namespace tilec::cuda

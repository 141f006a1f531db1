//===- TensorFacts.cpp - What is true of a tensor argument ------*- C++ -*-===//

#include "lib/Runtime/GPU/TensorFacts.h"
#include "lib/Runtime/GPU/GPUError.h"
#include "llvm/Support/MathExtras.h"

using namespace tilec;
using namespace tilec::gpu;

static constexpr unsigned maxAlignment = 16;

/// The largest power of two up to 16 that divides the value.
static unsigned alignmentOf(uint64_t value) {
  return value == 0 ? maxAlignment
                    : 1u << std::min(llvm::countr_zero(value), 4);
}

/// Of a stride in bytes. The low bits are those of the product, whatever
/// overflows above them, and negation keeps what divides.
static unsigned strideAlignment(const TensorView &view, unsigned dim) {
  return alignmentOf(uint64_t(view.strides[dim]) * byteSize(view.dtype));
}

bool gpu::fitsIndex32(const TensorView &view, int64_t slack) {
  if (view.isEmpty())
    return true;
  unsigned __int128 sum = 0;
  for (unsigned i = 0; i < view.rank(); ++i) {
    if (view.shape[i] <= 1)
      continue;
    uint64_t stride = view.strides[i] < 0 ? -uint64_t(view.strides[i])
                                          : uint64_t(view.strides[i]);
    uint64_t last = uint64_t(view.shape[i]) - 1 + uint64_t(slack);
    sum += (unsigned __int128)stride * last;
    if (sum >= (uint64_t(1) << 31))
      return false;
  }
  return true;
}

TensorFacts gpu::factsOf(const TensorView &view, unsigned arg,
                         llvm::StringRef name, int64_t slack) {
  TensorFacts facts;
  facts.arg = arg;
  facts.name = name.str();
  facts.dtype = view.dtype;
  facts.rank = view.rank();
  // A dimension of one position has any stride that suits.
  int candidate = -1;
  for (unsigned i = 0; i < view.rank(); ++i) {
    if (view.strides[i] == 1 && view.shape[i] > 1)
      facts.unitStride = i;
    if (view.shape[i] <= 1)
      candidate = i;
  }
  if (facts.unitStride < 0)
    facts.unitStride = candidate;
  facts.alignment = view.isEmpty()
                        ? maxAlignment
                        : alignmentOf(reinterpret_cast<uintptr_t>(view.data));
  for (unsigned i = 0; i < view.rank(); ++i)
    if (int(i) != facts.unitStride && view.shape[i] > 1 && !view.isEmpty())
      facts.alignment = std::min(facts.alignment, strideAlignment(view, i));
  facts.index32 = fitsIndex32(view, slack);
  facts.slack = slack;
  return facts;
}

static constexpr llvm::StringLiteral againHelp =
    "compile the kernel for these arguments, or ";

llvm::Error gpu::checkFacts(const TensorFacts &facts, const TensorView &view) {
  auto bad = [&](const llvm::Twine &what, const llvm::Twine &help) {
    return gpuError(ErrorKind::BadArgument,
                    "argument '" + facts.name + "' is expected to " + what,
                    help);
  };
  if (view.dtype != facts.dtype || view.rank() != facts.rank)
    return bad("be " + dtypeName(facts.dtype) + " of " +
                   llvm::Twine(facts.rank) + " dimensions, got " +
                   toString(view),
               "pass such an array");
  if (view.isEmpty())
    return llvm::Error::success();
  if (facts.unitStride >= 0) {
    unsigned unit = facts.unitStride;
    if (view.shape[unit] > 1 && view.strides[unit] != 1)
      return bad("have stride 1 in dimension " + llvm::Twine(unit) +
                     ", got stride " + llvm::Twine(view.strides[unit]),
                 againHelp + "copy the array to row-major order");
  }
  uint64_t address = reinterpret_cast<uintptr_t>(view.data);
  if (alignmentOf(address) < facts.alignment)
    return bad("begin at a multiple of " + llvm::Twine(facts.alignment) +
                   " bytes, got address 0x" + llvm::Twine::utohexstr(address),
               againHelp + "pass an array that begins at such an address");
  for (unsigned i = 0; i < facts.rank; ++i)
    if (int(i) != facts.unitStride && view.shape[i] > 1 &&
        strideAlignment(view, i) < facts.alignment)
      return bad("have strides that are multiples of " +
                     llvm::Twine(facts.alignment) + " bytes, got stride " +
                     llvm::Twine(view.strides[i]) + " of " +
                     llvm::Twine(byteSize(view.dtype)) +
                     " bytes in dimension " + llvm::Twine(i),
                 againHelp + "pad the rows of the array");
  if (facts.index32 && !fitsIndex32(view, facts.slack))
    return bad("have offsets within 31 bits (with " + llvm::Twine(facts.slack) +
                   " positions beyond the end of each dimension), got " +
                   toString(view),
               againHelp + "pass a smaller array");
  return llvm::Error::success();
}

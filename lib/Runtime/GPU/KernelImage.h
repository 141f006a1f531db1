//===- KernelImage.h - What a compiled GPU kernel is ------------*- C++ -*-===//
//
// Everything a launch must know about a kernel besides its machine code: how
// its parameters are made from the arguments, how many blocks there are, and
// what the code was specialized on and therefore relies upon. The code
// generator fills it in, the cache keeps it as JSON beside the cubin, and the
// Launcher obeys it.
//
// The conventions of a kernel:
//
//   * Parameters are passed by value in the order of `params`, each aligned to
//     its own size: pointers and i64 take 8 bytes, i32 4, a scalar byteSize of
//     its dtype (tf32: 4, bool: one byte that is 0 or 1).
//   * Arguments are counted as in the kernel's signature, tensors and scalars
//     together.
//   * The pointer of a tensor is the address of its element of index (0, 0,
//     ...). Strides count elements and may be zero or negative. Those of
//     dimensions of extent 1, and all of an empty tensor, are passed as 0: no
//     address depends on them, and so they break no rule.
//   * One block computes one program. Blocks form one row: blockIdx.x runs over
//     the axes of `grid` with the last one fastest. No programs, no launch.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_GPU_KERNELIMAGE_H
#define TILEC_RUNTIME_GPU_KERNELIMAGE_H

#include "lib/Runtime/Reports.h"
#include "lib/Support/DType.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tilec::gpu {

/// One parameter of the machine code.
struct KernelParam {
  enum class Kind {
    Pointer, // The address of tensor `arg`.
    Stride,  // The stride of dimension `dim` of tensor `arg`, in elements.
    Extent,  // The extent of the dimension called `extent`.
    Scalar,  // The value of scalar `arg`, as a `dtype`.
    Reports, // The address of the area for reports (ReportLog.h).
  };
  Kind kind = Kind::Pointer;
  unsigned arg = 0;         // Pointer, Stride, Scalar.
  unsigned dim = 0;         // Stride.
  bool is64 = true;         // Stride, Extent: i64, or else i32.
  std::string extent;       // Extent: "M".
  DType dtype = DType::F32; // Scalar.

  static KernelParam pointer(unsigned arg);
  static KernelParam stride(unsigned arg, unsigned dim, bool is64 = true);
  static KernelParam extentOf(std::string name, bool is64 = true);
  static KernelParam scalar(unsigned arg, DType dtype);
  static KernelParam reports();

  /// Bytes it takes, which is also its alignment: 1, 2, 4 or 8.
  unsigned size() const;

  bool operator==(const KernelParam &) const = default;
};

/// One axis of the grid: ceil(extent / tile) programs. The extent is that of a
/// dimension or a constant. An extent that is computed (a scalar argument, an
/// expression) is given a name of its own here, and whoever launches binds it
/// in BoundLaunch::extents under that name.
struct GridAxis {
  std::string dim;      // "M", or empty:
  int64_t constant = 0; // then this many positions.
  int64_t tile = 1;     // Positions of one program, at least 1.

  bool operator==(const GridAxis &) const = default;
};

/// What the machine code assumes about a tensor argument. A launch whose tensor
/// is otherwise fails with a message.
struct TensorFacts {
  unsigned arg = 0;
  std::string name; // For messages.
  DType dtype = DType::F32;
  unsigned rank = 0;
  /// The dimension whose stride is 1 (so it is no parameter), or -1.
  int unitStride = -1;
  /// The address, and the strides of all dimensions but unitStride in bytes,
  /// are multiples of this: 1, 2, 4, 8 or 16. Not so for an empty
  /// tensor, whose address may even be null.
  unsigned alignment = 1;
  /// The code computes element offsets in i32: for every position, also up to
  /// `slack` positions beyond the end of each dimension (what a last, partial
  /// tile reaches over without accessing it), the offset and each of its terms
  /// is within 31 bits.
  bool index32 = false;
  int64_t slack = 0;

  bool operator==(const TensorFacts &) const = default;
};

/// An extent that was a constant at compile time.
struct ExtentFact {
  std::string dim;
  int64_t value = 0;

  bool operator==(const ExtentFact &) const = default;
};

/// An extent that the code takes to be a multiple of something, to know that no
/// vector access is partial.
struct DivisorFact {
  std::string dim;
  int64_t divisor = 1;

  bool operator==(const DivisorFact &) const = default;
};

struct KernelImage {
  std::string name;         // Of the entry point in the cubin, not mangled.
  std::string arch;         // "sm_90a": what the cubin is for.
  unsigned threads = 128;   // In a block: 1 to 1024.
  unsigned sharedBytes = 0; // Dynamic shared memory of a block.
  unsigned registers = 0;   // Of a thread, as ptxas says; 0 if not known.
  std::vector<KernelParam> params;
  std::vector<GridAxis> grid;       // Empty: one program.
  std::vector<TensorFacts> tensors; // One for each tensor argument.
  std::vector<ExtentFact> extents;
  std::vector<DivisorFact> divisors;
  std::vector<Site> sites; // What can report, by the numbers in the code.

  /// The facts of tensor `arg`, or null.
  const TensorFacts *tensor(unsigned arg) const;

  bool operator==(const KernelImage &) const = default;
};

/// Whether the image makes sense in itself: parameters refer to tensors that
/// have facts and dimensions they have, sizes are in range, alignment is a
/// power of two. The message says what does not.
llvm::Error verify(const KernelImage &image);

/// The image as JSON, and back. fromJSON verifies, so whatever text it is given
/// it returns a sound image or an error.
llvm::json::Value toJSON(const KernelImage &image);
llvm::Expected<KernelImage> kernelImageFromJSON(llvm::StringRef text);

/// Bytes of all parameters packed as the conventions say, for sizing a buffer;
/// `offsets`, if given, receives where each begins.
unsigned packedSize(llvm::ArrayRef<KernelParam> params,
                    std::vector<unsigned> *offsets = nullptr);

} // namespace tilec::gpu

#endif // TILEC_RUNTIME_GPU_KERNELIMAGE_H

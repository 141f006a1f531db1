//===- Npy.h - Reading and writing NumPy .npy files -------------*- C++ -*-===//
//
// The file format by which tensors enter and leave `tilec run`. Reading covers
// versions 1.0 to 3.0, both orders of elements and both of bytes; NpyHeader.h
// lists the element types and explains how the ones NumPy lacks are stored:
//
//   * bf16 is written as '<V2' and fp8 as '|V1', which is what numpy.save does
//     with arrays of the ml_dtypes package. NumPy loads them as raw bytes;
//     `.view(ml_dtypes.bfloat16)` makes numbers of them.
//   * Raw bytes ('V2', 'V1', 'f1') and unsigned integers of the same size
//     ('u2', 'u1') are read as bf16 or fp8 only if the caller states which, by
//     NpyReadOptions::dtype. A file whose descr is 'bfloat16', 'float8_e4m3fn'
//     or 'float8_e5m2' speaks for itself.
//   * tf32 is written as f4; an f4 read as tf32 is rounded to it.
//
// Memory is allocated only after the header has been found to agree with the
// size of the file. Bytes after the elements are ignored, as NumPy does:
// several arrays may follow each other in one file.
//
// A write puts everything into a new file in the same directory, flushes it to
// the disk, and renames it over the old one. Whoever reads the path sees the
// old array or the new one, and a write that fails leaves no trace.
//
// Every error names the file, what was expected, what was found, and, on a line
// that begins with "help: ", what to do.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_RUNTIME_NPY_H
#define TILEC_LIB_RUNTIME_NPY_H

#include "lib/Runtime/Array.h"
#include "lib/Runtime/NpyHeader.h"
#include <memory>

namespace tilec {

struct NpyReadOptions {
  /// The element type the caller needs. A file of another type is an error;
  /// values are never converted.
  std::optional<DType> dtype = std::nullopt;
  /// Leave a Fortran-order array in its order, with strides to match, instead
  /// of copying it into row-major order.
  bool keepOrder = false;
  /// Guard zones around the result; see Array.
  size_t guardBytes = 0;
};

struct NpyWriteOptions {
  bool fortranOrder = false;
  bool bigEndian = false;
  unsigned majorVersion = 1;
  /// Wait until the disk has it, so that it survives a crash of the machine.
  bool sync = true;
};

/// Reads and checks the header alone, and that the file is long enough for the
/// elements: a cheap test of an argument before anything is computed.
llvm::Expected<NpyHeader> readNpyHeader(llvm::StringRef path,
                                        std::optional<DType> dtype = {});

/// Reads an array.
llvm::Expected<Array> readNpy(llvm::StringRef path,
                              const NpyReadOptions &options = {});

/// A file that is complete, but not yet in its place: for several that are to
/// be written all or not at all. Without place() nothing is left of it.
class PendingNpy {
public:
  /// Writes the elements of a view, whatever its strides.
  static llvm::Expected<PendingNpy> write(llvm::StringRef path,
                                          const TensorView &view,
                                          const NpyWriteOptions &options = {});
  PendingNpy(PendingNpy &&other);
  ~PendingNpy();

  llvm::Error place();

private:
  PendingNpy() = default;
  struct File;
  std::unique_ptr<File> file; // Until it is in its place.
};

/// Writes the elements of a view into a file.
llvm::Error writeNpy(llvm::StringRef path, const TensorView &view,
                     const NpyWriteOptions &options = {});

} // namespace tilec

#endif // TILEC_LIB_RUNTIME_NPY_H

//===- NpyHeader.h - The header of a NumPy .npy file ------------*- C++ -*-===//
//
// A .npy file is a magic string, a version, the length of the header, the
// header, and the raw elements. The header is a Python dictionary in text:
//
//     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
//
// padded with spaces and a newline so that the elements begin at a multiple of
// 64 bytes. Version 1.0 has a 16-bit length; 2.0 has a 32-bit one; 3.0 is 2.0
// with UTF-8 text instead of Latin-1, which differs only in names of fields.
//
// The parser reads just the literals a header can hold, trusts nothing, and
// allocates no more than the header's own size, which is at most a megabyte.
//
// Types that NumPy has: f8 f4 f2 i8 i4 i2 i1 u1 b1, in either byte order. It
// has none for bf16 and fp8, and how they are stored depends on the writer:
// the ml_dtypes package writes raw bytes ('V2', 'V1'), or 'f1', others write
// unsigned integers ('u2', 'u1') or the type's name ('bfloat16'). Only the last
// says which type it is, so for the rest the reader has to be told.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_RUNTIME_NPYHEADER_H
#define TILEC_LIB_RUNTIME_NPYHEADER_H

#include "lib/Runtime/TensorView.h"

namespace tilec {

struct NpyHeader {
  /// The element type as written, for messages: "<f4".
  std::string descr;
  /// The type `descr` names, or the one the caller expects if `descr` allows
  /// it. Nothing if descr is raw bytes and the caller expects nothing.
  std::optional<DType> dtype;
  unsigned elementBytes = 0;
  bool bigEndian = false;
  bool fortranOrder = false;
  Extents shape;
  /// Both checked to fit 64 bits.
  int64_t numElements = 0;
  uint64_t dataBytes = 0;
  /// Where the elements begin in the file.
  uint64_t dataOffset = 0;
  unsigned majorVersion = 1;
};

/// Magic, version and length: what must be read to know how much to read.
struct NpyPrefix {
  unsigned majorVersion;
  uint64_t textOffset;
  uint64_t textBytes;
};

/// A prefix is at most this long.
inline constexpr size_t npyPrefixBytes = 12;
/// Far more than the header of any array takes.
inline constexpr uint64_t npyMaxHeaderBytes = 1 << 20;
/// NumPy's own limit on the number of dimensions.
inline constexpr size_t npyMaxRank = 64;

/// Parses the begin of a file of `fileBytes` bytes, of which `bytes` holds the
/// first npyPrefixBytes (or all, if the file is shorter). `path` is for
/// messages.
llvm::Expected<NpyPrefix>
parseNpyPrefix(llvm::StringRef bytes, uint64_t fileBytes, llvm::StringRef path);

/// Parses the dictionary. If `expected` is given, a header that cannot be read
/// as that type is an error.
llvm::Expected<NpyHeader> parseNpyHeaderText(llvm::StringRef text,
                                             NpyPrefix prefix,
                                             llvm::StringRef path,
                                             std::optional<DType> expected);

/// How the writer names a type, in little-endian order unless `bigEndian`:
/// "<f4". bf16 is "<V2" and fp8 "|V1", as ml_dtypes has them; tf32 is "<f4".
std::string npyDescr(DType dtype, bool bigEndian);

/// Magic, version, length, dictionary and padding, ready to be written. The
/// rank is at most npyMaxRank, so every version can hold the shape.
std::string makeNpyHeader(DType dtype, llvm::ArrayRef<int64_t> shape,
                          bool fortranOrder, bool bigEndian,
                          unsigned majorVersion);

} // namespace tilec

#endif // TILEC_LIB_RUNTIME_NPYHEADER_H

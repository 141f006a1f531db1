//===- TensorMap.cpp ------------------------------------------------------===//

#include "lib/Emulator/Async/TensorMap.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <cstring>

namespace tilec::emulator {

namespace {

/// What the first bytes of an encoded map say. Bytes that nobody encoded, or
/// that the real driver did, do not have it.
constexpr uint64_t signature = 0x7061'6d63'656c'6974;

/// The 128 bytes.
struct Encoded {
  uint64_t signature;
  uint64_t address;
  uint64_t strides[maxTensorRank - 1];
  uint32_t dims[maxTensorRank]; // Less 1: a dimension has up to 2^32 elements.
  uint16_t box[maxTensorRank];
  uint8_t elementStrides[maxTensorRank];
  uint8_t type, rank, swizzle, fillsNaN;
  uint8_t unused[maxTensorRank + 32];
};
static_assert(sizeof(Encoded) <= tensorMapBytes);

llvm::Error invalid(const llvm::Twine &what) {
  return llvm::createStringError("tensor map: " + what);
}

llvm::Error checkShape(const TensorMapArguments &from, unsigned elementBytes) {
  unsigned rank = from.rank;
  for (unsigned i = 0; i < rank; ++i) {
    if (from.globalDim[i] == 0 || from.globalDim[i] > (uint64_t(1) << 32))
      return invalid("globalDim[" + llvm::Twine(i) + "] is " +
                     llvm::Twine(from.globalDim[i]) +
                     ", but must be 1 to 2^32");
    if (from.boxDim[i] == 0 || from.boxDim[i] > 256)
      return invalid("boxDim[" + llvm::Twine(i) + "] is " +
                     llvm::Twine(from.boxDim[i]) + ", but must be 1 to 256");
    if (from.elementStrides[i] == 0 || from.elementStrides[i] > 8)
      return invalid("elementStrides[" + llvm::Twine(i) + "] is " +
                     llvm::Twine(from.elementStrides[i]) +
                     ", but must be 1 to 8");
  }
  for (unsigned i = 0; i + 1 < rank; ++i) {
    uint64_t stride = from.globalStrides[i];
    if (stride % 16 != 0)
      return invalid("globalStrides[" + llvm::Twine(i) + "] is " +
                     llvm::Twine(stride) + " bytes, but must be a multiple " +
                     "of 16");
    if (stride >= uint64_t(1) << 40)
      return invalid("globalStrides[" + llvm::Twine(i) + "] is " +
                     llvm::Twine(stride) + " bytes, but must be below 2^40");
  }
  uint64_t inner = uint64_t(from.boxDim[0]) * elementBytes;
  if (inner % 16 != 0)
    return invalid("boxDim[0] is " + llvm::Twine(inner) +
                   " bytes, but must be a multiple of 16");
  unsigned span = spanOf(Swizzle(from.swizzle));
  if (from.swizzle != 0 && inner > span)
    return invalid("boxDim[0] is " + llvm::Twine(inner) +
                   " bytes, but with this swizzle it must be at most " +
                   llvm::Twine(span));
  return llvm::Error::success();
}

} // namespace

unsigned TensorMap::elementBytes() const {
  return ptx::bytesOf(elementType(type));
}

uint32_t TensorMap::copied(unsigned dimension) const {
  uint32_t stride = dimension == 0 ? 1 : elementStrides[dimension];
  return (box[dimension] + stride - 1) / stride;
}

uint64_t TensorMap::numRows() const {
  uint64_t rows = 1;
  for (unsigned i = 1; i < rank; ++i)
    rows *= copied(i);
  return rows;
}

uint64_t TensorMap::fillBits() const {
  // One NaN for all types: it is written as halves.
  return fillsNaN ? 0x7ff7'7ff7'7ff7'7ff7 : 0;
}

ptx::Type elementType(TensorMapType type) {
  switch (type) {
  case TensorMapType::UInt8:
    return ptx::Type::U8;
  case TensorMapType::UInt16:
    return ptx::Type::U16;
  case TensorMapType::UInt32:
    return ptx::Type::U32;
  case TensorMapType::Int32:
    return ptx::Type::S32;
  case TensorMapType::UInt64:
    return ptx::Type::U64;
  case TensorMapType::Int64:
    return ptx::Type::S64;
  case TensorMapType::Float16:
    return ptx::Type::F16;
  case TensorMapType::BFloat16:
    return ptx::Type::BF16;
  case TensorMapType::Float64:
    return ptx::Type::F64;
  case TensorMapType::Float32:
    return ptx::Type::F32;
  }
  return ptx::Type::None;
}

llvm::Expected<TensorMap> makeTensorMap(const TensorMapArguments &from) {
  if (from.dataType > unsigned(TensorMapType::BFloat16))
    return invalid("data type " + llvm::Twine(from.dataType) +
                   " is not supported");
  if (from.interleave != 0)
    return invalid("interleaved layouts are not supported");
  if (from.swizzle > unsigned(Swizzle::Bytes128))
    return invalid("swizzle " + llvm::Twine(from.swizzle) +
                   " is not supported");
  if (from.l2Promotion > 3)
    return invalid("L2 promotion " + llvm::Twine(from.l2Promotion) +
                   " does not exist");
  if (from.oobFill > 1)
    return invalid("fill " + llvm::Twine(from.oobFill) + " does not exist");
  if (from.rank < 1 || from.rank > maxTensorRank)
    return invalid("the rank is " + llvm::Twine(from.rank) +
                   ", but must be 1 to 5");
  if (from.globalDim.size() < from.rank || from.boxDim.size() < from.rank ||
      from.elementStrides.size() < from.rank ||
      from.globalStrides.size() + 1 < from.rank)
    return invalid("there are fewer sizes than dimensions");
  if (from.globalAddress % 16 != 0)
    return invalid("the global address is not a multiple of 16");

  TensorMap map;
  map.type = TensorMapType(from.dataType);
  unsigned elementBytes = map.elementBytes();
  if (llvm::Error error = checkShape(from, elementBytes))
    return error;
  if (from.oobFill == 1 && !ptx::isFloat(elementType(map.type)))
    return invalid("only floating-point elements can be filled with NaN");

  map.rank = from.rank;
  map.address = from.globalAddress;
  map.swizzle = Swizzle(from.swizzle);
  map.fillsNaN = from.oobFill == 1;
  map.strides[0] = elementBytes;
  for (unsigned i = 0; i < from.rank; ++i) {
    map.dims[i] = from.globalDim[i];
    map.box[i] = from.boxDim[i];
    map.elementStrides[i] = from.elementStrides[i];
    if (i > 0)
      map.strides[i] = from.globalStrides[i - 1];
  }
  return map;
}

EncodedTensorMap encode(const TensorMap &map) {
  Encoded to = {};
  to.signature = signature;
  to.address = map.address;
  to.type = uint8_t(map.type);
  to.rank = uint8_t(map.rank);
  to.swizzle = uint8_t(map.swizzle);
  to.fillsNaN = map.fillsNaN;
  for (unsigned i = 0; i < maxTensorRank; ++i) {
    to.dims[i] = uint32_t(map.dims[i] - 1);
    to.box[i] = uint16_t(map.box[i]);
    to.elementStrides[i] = uint8_t(map.elementStrides[i]);
    if (i > 0)
      to.strides[i - 1] = map.strides[i];
  }
  EncodedTensorMap bytes = {};
  std::memcpy(bytes.data(), &to, sizeof to);
  return bytes;
}

llvm::Expected<EncodedTensorMap>
encodeTensorMap(const TensorMapArguments &arguments) {
  llvm::Expected<TensorMap> map = makeTensorMap(arguments);
  if (!map)
    return map.takeError();
  return encode(*map);
}

llvm::Expected<TensorMap> decodeTensorMap(llvm::ArrayRef<char> bytes) {
  Encoded from = {};
  if (bytes.size() < tensorMapBytes)
    return invalid("fewer than 128 bytes");
  std::memcpy(&from, bytes.data(), sizeof from);
  if (from.signature != signature)
    return invalid("these 128 bytes are none");

  // What a program writes over a map may be anything, so all is checked again.
  std::array<uint64_t, maxTensorRank> dims = {}, strides = {};
  std::array<uint32_t, maxTensorRank> box = {}, elementStrides = {};
  for (unsigned i = 0; i < maxTensorRank; ++i) {
    dims[i] = uint64_t(from.dims[i]) + 1;
    box[i] = from.box[i];
    elementStrides[i] = from.elementStrides[i];
    if (i + 1 < maxTensorRank)
      strides[i] = from.strides[i];
  }
  return makeTensorMap({.dataType = from.type,
                        .rank = from.rank,
                        .globalAddress = from.address,
                        .globalDim = dims,
                        .globalStrides = strides,
                        .boxDim = box,
                        .elementStrides = elementStrides,
                        .swizzle = from.swizzle,
                        .oobFill = from.fillsNaN});
}

BoxRow boxRow(const TensorMap &map, llvm::ArrayRef<int32_t> coordinates,
              uint32_t index) {
  BoxRow row;
  row.position = uint64_t(index) * map.pitchBytes();
  row.address = map.address;
  for (unsigned i = 1; i < map.rank; ++i) {
    uint32_t extent = map.copied(i);
    int64_t at =
        coordinates[i] + int64_t(index % extent) * map.elementStrides[i];
    index /= extent;
    if (at < 0 || uint64_t(at) >= map.dims[i])
      return row;
    row.address += uint64_t(at) * map.strides[i];
  }
  int64_t first = std::max<int64_t>(coordinates[0], 0);
  int64_t last = std::min<int64_t>(int64_t(coordinates[0]) + map.box[0],
                                   int64_t(map.dims[0]));
  if (first >= last)
    return row;
  unsigned bytes = map.elementBytes();
  row.skipped = uint32_t(first - coordinates[0]) * bytes;
  row.inside = uint32_t(last - first) * bytes;
  row.address += uint64_t(first) * bytes;
  return row;
}

void forEachSharedPiece(uint64_t base, uint64_t begin, uint64_t end,
                        Swizzle swizzle,
                        llvm::function_ref<void(uint64_t, uint64_t)> piece) {
  begin += base;
  end += base;
  uint64_t span = spanOf(swizzle);
  // Whole spans map onto themselves: what they have is only permuted.
  uint64_t wholeBegin = std::min(end, (begin + span - 1) / span * span);
  uint64_t wholeEnd = std::max(wholeBegin, end / span * span);
  for (uint64_t at = begin; at < wholeBegin; at += 16)
    piece(swizzled(at, swizzle), 16);
  if (wholeBegin < wholeEnd)
    piece(wholeBegin, wholeEnd - wholeBegin);
  for (uint64_t at = wholeEnd; at < end; at += 16)
    piece(swizzled(at, swizzle), 16);
}

} // namespace tilec::emulator

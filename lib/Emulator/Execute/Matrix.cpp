//===- Matrix.cpp - mma.sync, ldmatrix, stmatrix, movmatrix ---------------===//
//
// Thin: where elements are and what products are is in
// Arithmetic/TensorCore.h. A product gathers the fragments of all 32 lanes into
// matrices and scatters the result.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Arithmetic/Float.h"
#include "lib/Emulator/Arithmetic/TensorCore.h"
#include "lib/Emulator/Execute/Lanes.h"
#include "lib/Emulator/Machine/Decoder.h"
#include "lib/Emulator/Machine/Machine.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace tilec::emulator {

using ptx::Type;

namespace {

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

struct Product : Details {
  unsigned m = 0, n = 0, k = 0;
  Type a = Type::None, b = Type::None, d = Type::None;
  bool saturate = false;
  bool isXor = false; // Of bits: xor in place of and.
  /// Where the first element of each register of each lane is.
  std::vector<Element> placesOfA, placesOfB;

  // Registers of a lane. f64 has one element in each, as 32 bits have.
  unsigned bitsOfA() const { return std::min(32u, ptx::bitsOf(a)); }
  unsigned registersOfA() const { return m * k * bitsOfA() / (32 * warpSize); }
  unsigned registersOfB() const { return n * k * bitsOfA() / (32 * warpSize); }
  unsigned registersOfD() const {
    return m * n * std::min(32u, ptx::bitsOf(d)) / (32 * warpSize);
  }
  unsigned elementsOfD() const { return m * n / warpSize; }
};

constexpr unsigned maxRows = 16, maxColumns = 8;

void countProduct(Warp &warp, const Product &product) {
  Counters &counters = warp.block.cluster.counters;
  ++counters.mmaOperations;
  counters.mmaFlops += uint64_t(2) * product.m * product.n * product.k;
}

/// Writes the elements of D to the registers of the lanes.
void scatter(Warp &warp, const Instruction &at, const Product &product,
             const uint32_t *d, LaneMask lanes) {
  bool isHalf = product.d == Type::F16;
  for (unsigned reg = 0; reg < product.registersOfD(); ++reg) {
    uint64_t *to = warp.row(at.result(reg));
    forEachLane(lanes, [=](unsigned lane) {
      auto element = [=](unsigned index) {
        Element place = elementOfC(lane, index);
        return d[place.row * maxColumns + place.column];
      };
      to[lane] =
          isHalf ? element(2 * reg) | element(2 * reg + 1) << 16 : element(reg);
    });
  }
}

void gatherAccumulators(Warp &warp, const Instruction &at,
                        const Product &product, uint32_t *d) {
  unsigned first = product.registersOfA() + product.registersOfB();
  bool isHalf = product.d == Type::F16;
  for (unsigned reg = 0; reg < product.registersOfD(); ++reg) {
    const uint64_t *values = warp.values(at.value(first + reg));
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      uint32_t word = uint32_t(values[lane]);
      auto set = [&](unsigned index, uint32_t value) {
        Element place = elementOfC(lane, index);
        d[place.row * maxColumns + place.column] = value;
      };
      if (isHalf) {
        set(2 * reg, word & 0xffff);
        set(2 * reg + 1, word >> 16);
      } else {
        set(reg, word);
      }
    }
  }
}

/// Gathers A and B. `set` is given an operand, the element along its other
/// axis, the first along k, and a register with elements from there on.
template <typename Set>
void gatherOperands(Warp &warp, const Instruction &at, const Product &product,
                    TensorOperand &a, TensorOperand &b, Set set) {
  a.reset(product.a, product.m, product.k);
  b.reset(product.b, product.n, product.k);
  unsigned numA = product.registersOfA(), numB = product.registersOfB();
  for (unsigned reg = 0; reg < numA; ++reg) {
    const uint64_t *values = warp.values(at.value(reg));
    const Element *places = &product.placesOfA[size_t(reg) * warpSize];
    for (unsigned lane = 0; lane < warpSize; ++lane)
      set(a, places[lane].row, places[lane].column, uint32_t(values[lane]));
  }
  for (unsigned reg = 0; reg < numB; ++reg) {
    const uint64_t *values = warp.values(at.value(numA + reg));
    const Element *places = &product.placesOfB[size_t(reg) * warpSize];
    for (unsigned lane = 0; lane < warpSize; ++lane)
      set(b, places[lane].column, places[lane].row, uint32_t(values[lane]));
  }
}

Outcome runProduct(Warp &warp, const Instruction &at, LaneMask lanes) {
  thread_local TensorOperand a, b;
  const Product &product = at.as<Product>();
  gatherOperands(warp, at, product, a, b,
                 [](TensorOperand &to, unsigned index, unsigned k,
                    uint32_t word) { to.setWord(index, k, word); });
  uint32_t d[maxRows * maxColumns];
  gatherAccumulators(warp, at, product, d);
  multiplyAccumulate(a, b, product.d, d, /*accumulates=*/true, product.saturate,
                     sumModel(product.a, /*isWarpgroup=*/false));
  scatter(warp, at, product, d, lanes);
  countProduct(warp, product);
  return Outcome::Next;
}

/// fp8, for which sm_90 has only wgmma: the assembler makes two products of f16
/// of it, of the lower halves of all registers and of the upper ones, from
/// zero; the accumulators are added at the end.
Outcome runFp8(Warp &warp, const Instruction &at, LaneMask lanes) {
  thread_local TensorOperand a, b;
  const Product &product = at.as<Product>();
  unsigned half = product.k / 2;
  gatherOperands(
      warp, at, product, a, b,
      [=](TensorOperand &to, unsigned index, unsigned k, uint32_t word) {
        for (unsigned i = 0; i < 4; ++i)
          to.set(index, k / 2 + i % 2 + (i < 2 ? 0 : half), word >> (8 * i));
      });
  uint32_t c[maxRows * maxColumns], d[maxRows * maxColumns];
  gatherAccumulators(warp, at, product, c);
  SumModel model = sumModel(product.a, /*isWarpgroup=*/false);
  model.depth = half;
  multiplyAccumulate(a, b, product.d, d, /*accumulates=*/false,
                     /*saturate=*/false, model);
  for (unsigned i = 0; i < product.m * product.n; ++i)
    d[i] = addFloat(product.d, d[i], c[i], {});
  scatter(warp, at, product, d, lanes);
  countProduct(warp, product);
  return Outcome::Next;
}

/// Products of bits: what is counted are bits of whole words.
Outcome runBits(Warp &warp, const Instruction &at, LaneMask lanes) {
  const Product &product = at.as<Product>();
  constexpr unsigned maxWords = 8;
  uint32_t a[maxRows][maxWords], b[maxColumns][maxWords];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    for (unsigned reg = 0; reg < product.registersOfA(); ++reg) {
      Element place = elementOfA(product.m, 1, lane, 32 * reg);
      a[place.row][place.column / 32] = warp.values(at.value(reg))[lane];
    }
    for (unsigned reg = 0; reg < product.registersOfB(); ++reg) {
      Element place = elementOfB(1, lane, 32 * reg);
      b[place.column][place.row / 32] =
          warp.values(at.value(product.registersOfA() + reg))[lane];
    }
  }
  uint32_t d[maxRows * maxColumns];
  gatherAccumulators(warp, at, product, d);
  for (unsigned i = 0; i < product.m; ++i)
    for (unsigned j = 0; j < product.n; ++j)
      for (unsigned word = 0; word < product.k / 32; ++word) {
        uint32_t both =
            product.isXor ? a[i][word] ^ b[j][word] : a[i][word] & b[j][word];
        d[i * maxColumns + j] += llvm::popcount(both);
      }
  scatter(warp, at, product, d, lanes);
  countProduct(warp, product);
  return Outcome::Next;
}

/// f64: fused multiply-adds along k.
Outcome runDoubles(Warp &warp, const Instruction &at, LaneMask lanes) {
  const Product &product = at.as<Product>();
  constexpr unsigned maxDepth = 16;
  double a[maxRows][maxDepth], b[maxDepth][maxColumns], d[maxRows][maxColumns];
  unsigned numA = product.registersOfA(), numB = product.registersOfB(),
           numD = product.elementsOfD();
  auto value = [&](unsigned index, unsigned lane) {
    return llvm::bit_cast<double>(warp.values(at.value(index))[lane]);
  };
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    for (unsigned i = 0; i < numA; ++i) {
      Element place = elementOfA(product.m, 32, lane, i);
      a[place.row][place.column] = value(i, lane);
    }
    for (unsigned i = 0; i < numB; ++i) {
      Element place = elementOfB(32, lane, i);
      b[place.row][place.column] = value(numA + i, lane);
    }
    for (unsigned i = 0; i < numD; ++i) {
      Element place = elementOfC(lane, i);
      d[place.row][place.column] = value(numA + numB + i, lane);
    }
  }
  for (unsigned i = 0; i < product.m; ++i)
    for (unsigned j = 0; j < product.n; ++j)
      for (unsigned k = 0; k < product.k; ++k)
        d[i][j] = std::fma(a[i][k], b[k][j], d[i][j]);
  for (unsigned i = 0; i < numD; ++i) {
    uint64_t *to = warp.row(at.result(i));
    forEachLane(lanes, [&](unsigned lane) {
      Element place = elementOfC(lane, i);
      to[lane] = llvm::bit_cast<uint64_t>(d[place.row][place.column]);
    });
  }
  countProduct(warp, product);
  return Outcome::Next;
}

bool isByte(Type type) { return type == Type::S8 || type == Type::U8; }
bool isNibble(Type type) { return type == Type::S4 || type == Type::U4; }
bool isFp8(Type type) { return type == Type::E4M3 || type == Type::E5M2; }

/// Whether the hardware has a product of these types and this shape.
bool isKnown(const Product &product) {
  Type a = product.a, b = product.b, d = product.d;
  unsigned m = product.m, k = product.k;
  if (product.n != 8 || (m != 8 && m != 16))
    return false;
  bool isWide = m == 16;
  if ((a == Type::F16 || a == Type::BF16) && a == b)
    return isWide && (k == 8 || k == 16) &&
           (d == Type::F32 || (d == Type::F16 && a == Type::F16));
  if (a == Type::TF32 && b == a)
    return isWide && (k == 4 || k == 8) && d == Type::F32;
  if (isFp8(a) && isFp8(b))
    return isWide && (k == 16 || k == 32) && (d == Type::F32 || d == Type::F16);
  if (isByte(a) && isByte(b))
    return d == Type::S32 && (isWide ? k == 16 || k == 32 : k == 16);
  if (isNibble(a) && isNibble(b))
    return d == Type::S32 && (isWide ? k == 32 || k == 64 : k == 32);
  if (a == Type::B1 && b == a)
    return d == Type::S32 && (isWide ? k == 128 || k == 256 : k == 128);
  if (a == Type::F64 && b == a)
    return d == a && (isWide ? k == 4 || k == 8 || k == 16 : k == 4);
  return false;
}

/// "m16n8k16".
bool parseShape(llvm::StringRef text, Product &product) {
  return text.consume_front("m") && !text.consumeInteger(10, product.m) &&
         text.consume_front("n") && !text.consumeInteger(10, product.n) &&
         text.consume_front("k") && !text.consumeInteger(10, product.k) &&
         text.empty();
}

llvm::Error decodeProduct(Decoder &decoder, const ptx::Instruction &from,
                          Instruction &to) {
  Pieces pieces(from);
  if (pieces.take("sp") || pieces.take("sp::ordered_metadata"))
    return decoder.unsupported(from, "sparse matrices are not emulated");
  pieces.take("sync");
  pieces.take("aligned");
  auto product = std::make_shared<Product>();
  llvm::StringRef shape = pieces.takeNext();
  if (!parseShape(shape, *product))
    return decoder.malformed(from, "'." + shape + "' is not a shape");
  bool isRowColumn = pieces.take("row") && pieces.take("col");
  product->saturate = pieces.take("satfinite");
  product->isXor = pieces.take("xor");
  bool isAnd = pieces.take("and"), isCounted = pieces.take("popc");
  product->d = pieces.takeType();
  product->a = pieces.takeType();
  product->b = pieces.takeType();
  Type c = pieces.takeType();
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  bool isBits = product->a == Type::B1;
  if (!isRowColumn || c != product->d || !isKnown(*product) ||
      isBits != isCounted || isBits != (isAnd != product->isXor))
    return decoder.unsupported(
        from, "this shape is not known for these types and layouts");
  to.type = product->d;
  to.execute = isBits                    ? runBits
               : product->a == Type::F64 ? runDoubles
               : isFp8(product->a)       ? runFp8
                                         : runProduct;
  for (unsigned reg = 0; reg < product->registersOfA(); ++reg)
    for (unsigned lane = 0; lane < warpSize; ++lane)
      product->placesOfA.push_back(elementOfA(
          product->m, product->bitsOfA(), lane, reg * 32 / product->bitsOfA()));
  for (unsigned reg = 0; reg < product->registersOfB(); ++reg)
    for (unsigned lane = 0; lane < warpSize; ++lane)
      product->placesOfB.push_back(
          elementOfB(product->bitsOfA(), lane, reg * 32 / product->bitsOfA()));
  unsigned numResults = product->registersOfD();
  unsigned numValues = product->registersOfA() + product->registersOfB() +
                       product->registersOfD();
  to.details = std::move(product);
  if (llvm::Error error = decoder.operands(from, to, 1, to.type))
    return error;
  if (to.numResults != numResults || to.numValues() != numValues)
    return decoder.malformed(from, "its fragments have " +
                                       llvm::Twine(numResults) + " and " +
                                       llvm::Twine(numValues) + " registers");
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Matrices of 8 x 8 in memory
//===----------------------------------------------------------------------===//

constexpr unsigned rowBytes = 16, matrixRows = 8;

/// Of ldmatrix and stmatrix.
struct MatrixAccess : Details {
  unsigned count = 1;
  bool isTransposed = false;
};

/// The rows that the lanes name, eight a matrix.
struct Rows {
  std::array<char *, warpSize> data = {};
};

void resolveRows(Warp &warp, const Instruction &at, const MatrixAccess &access,
                 bool isWrite, Rows &rows) {
  const uint64_t *base = warp.values(at.value(0));
  Detector *detector = warp.block.cluster.detector();
  Counters &counters = warp.block.cluster.counters;
  if (!isWrite)
    warp.issueLoad(at, ~LaneMask(0));
  for (unsigned matrix = 0; matrix < access.count; ++matrix) {
    // Rows of a matrix that are in the same eighth of the banks take turns.
    unsigned turns[8] = {}, most = 1;
    for (unsigned row = 0; row < matrixRows; ++row) {
      unsigned lane = matrix * matrixRows + row;
      Place place = warp.resolve(lane, at.space, base[lane] + at.offset,
                                 rowBytes, rowBytes, isWrite, at);
      rows.data[matrix * matrixRows + row] = place.data;
      if (!place.data)
        continue;
      most = std::max(most, ++turns[place.address / rowBytes % 8]);
      if (detector && isWrite)
        detector->write(warp.thread(lane), place.address, rowBytes, at);
      else if (detector)
        detector->read(warp.thread(lane), place.address, rowBytes, at);
    }
    (isWrite ? counters.sharedStoreWavefronts
             : counters.sharedLoadWavefronts) += most;
    ++(isWrite ? counters.sharedStoreIdeal : counters.sharedLoadIdeal);
  }
}

/// Where element `half` of a lane's register is in its matrix.
Element elementOfMatrix(unsigned lane, unsigned half, bool isTransposed) {
  Element place = {lane / 4, 2 * (lane % 4) + half};
  if (isTransposed)
    std::swap(place.row, place.column);
  return place;
}

Outcome runLoad(Warp &warp, const Instruction &at, LaneMask lanes) {
  const MatrixAccess &access = at.as<MatrixAccess>();
  Rows rows;
  resolveRows(warp, at, access, /*isWrite=*/false, rows);
  // An address may be in the register of a result; all have been read by now.
  for (unsigned matrix = 0; matrix < access.count; ++matrix) {
    uint64_t *to = warp.row(at.result(matrix));
    forEachLane(lanes, [&](unsigned lane) {
      uint32_t word = 0;
      for (unsigned half = 0; half < 2; ++half) {
        Element place = elementOfMatrix(lane, half, access.isTransposed);
        uint16_t value = 0;
        if (char *row = rows.data[matrix * matrixRows + place.row])
          std::memcpy(&value, row + size_t(2) * place.column, 2);
        word |= uint32_t(value) << (16 * half);
      }
      to[lane] = word;
    });
  }
  return Outcome::Next;
}

Outcome runStore(Warp &warp, const Instruction &at, LaneMask) {
  const MatrixAccess &access = at.as<MatrixAccess>();
  Rows rows;
  resolveRows(warp, at, access, /*isWrite=*/true, rows);
  for (unsigned matrix = 0; matrix < access.count; ++matrix) {
    const uint64_t *from = warp.values(at.value(1 + matrix));
    for (unsigned lane = 0; lane < warpSize; ++lane)
      for (unsigned half = 0; half < 2; ++half) {
        Element place = elementOfMatrix(lane, half, access.isTransposed);
        uint16_t value = from[lane] >> (16 * half);
        if (char *row = rows.data[matrix * matrixRows + place.row])
          std::memcpy(row + size_t(2) * place.column, &value, 2);
      }
  }
  return Outcome::Next;
}

/// movmatrix: a transposition across the lanes.
Outcome runMove(Warp &warp, const Instruction &at, LaneMask lanes) {
  Row from;
  std::memcpy(from.data(), warp.values(at.value(0)), sizeof(Row));
  uint64_t *to = warp.row(at.result(0));
  forEachLane(lanes, [&](unsigned lane) {
    uint32_t word = 0;
    for (unsigned half = 0; half < 2; ++half) {
      Element place = elementOfMatrix(lane, half, /*isTransposed=*/true);
      unsigned source = place.row * 4 + place.column / 2;
      uint32_t value = from[source] >> (16 * (place.column % 2)) & 0xffff;
      word |= value << (16 * half);
    }
    to[lane] = word;
  });
  return Outcome::Next;
}

/// The pieces of ldmatrix and stmatrix, whose operands differ in their order.
llvm::Error decodeAccess(Decoder &decoder, const ptx::Instruction &from,
                         Instruction &to, bool isWrite) {
  Pieces pieces(from);
  auto access = std::make_shared<MatrixAccess>();
  pieces.take("sync");
  pieces.take("aligned");
  if (!pieces.take("m8n8"))
    return decoder.unsupported(from, "only the shape m8n8 is of this target");
  access->count = pieces.take("x4") ? 4 : pieces.take("x2") ? 2 : 1;
  if (access->count == 1)
    pieces.take("x1");
  access->isTransposed = pieces.take("trans");
  if (pieces.take("shared") || pieces.take("shared::cta"))
    to.space = ptx::Space::Shared;
  to.type = pieces.takeType();
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  if (to.type != Type::B16)
    return decoder.unsupported(from, "only elements of 16 bits are emulated");
  to.execute = isWrite ? runStore : runLoad;
  unsigned count = access->count;
  to.details = std::move(access);
  if (llvm::Error error =
          decoder.operands(from, to, isWrite ? 0 : 1, Type::B32))
    return error;
  if (from.operands.size() != 2 || to.numResults != (isWrite ? 0 : count) ||
      to.numValues() != (isWrite ? 1 + count : 1))
    return decoder.malformed(from, llvm::Twine(count) +
                                       " registers and an address are needed");
  return llvm::Error::success();
}

llvm::Error decodeLoad(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  return decodeAccess(decoder, from, to, /*isWrite=*/false);
}

llvm::Error decodeStore(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  return decodeAccess(decoder, from, to, /*isWrite=*/true);
}

llvm::Error decodeMove(Decoder &decoder, const ptx::Instruction &from,
                       Instruction &to) {
  Pieces pieces(from);
  for (const char *piece : {"sync", "aligned", "m8n8", "trans"})
    pieces.take(piece);
  to.type = pieces.takeType();
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  to.execute = runMove;
  return decoder.operands(from, to, 1, {Type::B32, Type::B32});
}

} // namespace

void addMatrixInstructions(InstructionSet &set) {
  set.add("mma", decodeProduct);
  set.add("ldmatrix", decodeLoad);
  set.add("stmatrix", decodeStore);
  set.add("movmatrix", decodeMove);
}

} // namespace tilec::emulator

//===- ShiftedAccess.cpp - Vectors of rows that begin anywhere --*- C++ -*-===//
//
// Elements narrower than 4 bytes in memory that is aligned to less than 4: rows
// of odd length, say. Moved one by one they take one instruction each. Where a
// thread holds 16 bytes of neighbours, it loads the aligned words that these
// lie in and shifts them into place; stores get the missing part of an aligned
// vector from the lane before. prelude/shifted.cuh has the details. All of it
// is cheaper where every element of a block is there, which is the usual case.
//
// The words of a row's ends also hold bytes of what is in front of the row or
// behind it, up to the rows next to it. So tiles that touch the first or last
// row are loaded one by one: nothing before the first element of a tensor or
// behind its last one is read. Only memory that nobody writes is loaded so, and
// only tensors that are not read are stored so: a thread may read and write
// what belongs to another.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/BlockAccess.h"

using namespace mlir;

namespace tilec::cuda {

using layout::InDim;
using layout::LinearLayout;

static constexpr unsigned vectorBytes = 16;

/// How many lanes, from each multiple of that number on, hold vectors of
/// `vector` elements that follow each other along `axis`.
static unsigned lanesInRun(const LinearLayout &layout, unsigned axis,
                           unsigned vector) {
  unsigned lanes = 1;
  for (const layout::Basis &basis : layout.bases(InDim::Lane)) {
    for (auto [i, coordinate] : llvm::enumerate(basis))
      if (coordinate != (i == axis ? int64_t(vector) * lanes : 0))
        return lanes;
    lanes *= 2;
  }
  return lanes;
}

unsigned KernelEmitter::shiftedVector(const BlockAccess &access) {
  unsigned size = byteSize(access.view.type);
  if (!access.alongUnit || size >= 4 || access.vector > 1)
    return 0;
  unsigned held = access.layout.vectorWidth(access.vectorAxis, 8 * size);
  return held * size >= vectorBytes ? vectorBytes / size : 0;
}

std::optional<Expr> KernelEmitter::isPartial(const BlockAccess &access) {
  std::optional<Expr> isPartial;
  auto add = [&](const Expr &condition) {
    isPartial = isPartial ? binary(*isPartial, "||", condition, Prec::LogicalOr,
                                   CType::Bool)
                          : condition;
  };
  if (access.predicate)
    add(unary("!", *access.predicate, CType::Bool));
  for (auto [axis, end] : llvm::enumerate(access.valid)) {
    int64_t size = access.layout.shape()[axis];
    auto range = facts.rangeOf(end);
    if (axis == access.wholeAxis || range.low >= size)
      continue;
    if (range.high < size)
      return Expr::atom("true", CType::Bool);
    add(binary(scalar(end), "<", intLiteral(size, CType::I32), Prec::Relational,
               CType::Bool));
  }
  return isPartial;
}

std::optional<Expr> KernelEmitter::isAmongRows(tile::LoadOp op,
                                               BlockAccess &access) {
  const View &view = access.view;
  unsigned unit = view.dims[op.getDims()[access.vectorAxis]];
  if (unit == 0)
    return std::nullopt;
  // The first and the last row of the tile, along the dimension before.
  unsigned dim = unit - 1;
  std::optional<Expr> first;
  if (auto fixed = view.fixed.find(dim); fixed != view.fixed.end())
    first = fixed->second;
  int64_t count = 1;
  Value begin;
  for (auto [i, index] : llvm::enumerate(op.getIndices()))
    if (view.dims[i] == dim) {
      first = scalar(index);
      begin = index;
    }
  Value argument = kernel.getBody().getArgument(view.arg);
  Expr length = extent(argument, unit), rows = extent(argument, dim);
  for (auto [axis, i] : llvm::enumerate(op.getDims()))
    if (view.dims[i] == dim) {
      count = access.layout.shape()[axis];
      // Among others, all rows of the tile are there.
      auto valid = access.valid.empty()
                       ? tile::ValidOp()
                       : access.valid[axis].getDefiningOp<tile::ValidOp>();
      if (valid && valid.getBegin() == begin &&
          static_cast<int64_t>(valid.getSize()) == count &&
          scalar(valid.getExtent()).text == rows.text)
        access.wholeAxis = axis;
    }
  Expr behind = binary(*first, "+", intLiteral(count, CType::I32),
                       Prec::Additive, first->type);
  auto compare = [](const Expr &a, StringRef sign, const Expr &b) {
    return binary(a, sign, b, Prec::Relational, CType::Bool);
  };
  auto both = [](const Expr &a, const Expr &b) {
    return binary(a, "&&", b, Prec::LogicalAnd, CType::Bool);
  };
  Expr isAmong = both(compare(*first, ">", intLiteral(0, CType::I32)),
                      compare(behind, "<", rows));
  isAmong = both(compare(stride(view.arg, dim), ">=", length), isAmong);
  // What is loaded of a neighbour must not reach beyond it.
  constexpr int64_t reach = int64_t(2) * vectorBytes;
  auto type = cast<tile::ViewType>(argument.getType());
  if (type.isDynamicDim(unit) || type.getDimSize(unit) < reach)
    isAmong =
        both(compare(length, ">=", intLiteral(reach, CType::I32)), isAmong);
  return isAmong;
}

void KernelEmitter::emitShiftedLoad(tile::LoadOp op, const BlockAccess &access,
                                    const Fragment &fragment, unsigned vector,
                                    const Expr &pad) {
  auto each =
      [&](llvm::function_ref<void(const RegisterLoop &, std::string)> body) {
        forRegisters(fragment.registers, vector, [&](const RegisterLoop &loop) {
          body(loop, addressOf(access, loop.reg));
        });
      };
  BlockAccess among = access;
  std::optional<Expr> isAmong = isAmongRows(op, among);
  if (isAmong) {
    // Five of every eight are used.
    unsigned numWords = fragment.registers / vector * 8;
    std::string words = fresh(fragment.name + "_words");
    auto wordsAt = [&](const RegisterLoop &loop) {
      if (!loop.hasVariable)
        return words;
      return words + " + r" + (vector == 16 ? " / 2" : "");
    };
    auto count = [&](const RegisterLoop &loop) {
      return countInside(among, loop.reg);
    };
    std::optional<Expr> partial = isPartial(among);
    bool mayBeWhole = !partial || partial->text != "true";
    auto load = [&](bool isWhole) {
      each([&](const RegisterLoop &loop, const std::string &address) {
        Expr any = binary(count(loop), ">", intLiteral(0, CType::I32),
                          Prec::Relational, CType::Bool);
        out.line("load_around(" + wordsAt(loop) + ", " + address +
                 (isWhole ? std::string() : ", " + any.text) + ");");
      });
    };
    out.open("if (" + isAmong->text + ")");
    out.line("unsigned " + words + "[" + Twine(numWords) + "];");
    // All vectors are on their way before the first is waited for.
    if (partial && mayBeWhole) {
      out.open("if (" + partial->text + ")");
      load(/*isWhole=*/false);
      out.reopen("else");
      load(/*isWhole=*/true);
      out.close();
    } else {
      load(/*isWhole=*/!partial);
    }
    each([&](const RegisterLoop &loop, const std::string &address) {
      out.line("take_shifted(" + entryPointer(fragment, loop) + ", " +
               wordsAt(loop) + ", " + address + ");");
    });
    if (partial) {
      if (mayBeWhole)
        out.open("if (" + partial->text + ")");
      bool isInside = !insideElsewhere(among, BitMap::constant(0));
      forRegisters(
          fragment.registers, vector,
          [&](const RegisterLoop &loop) {
            out.line("cut_behind<" + spelling(fragment.type) + ">(" +
                     entryPointer(fragment, loop) + ", " + count(loop).text +
                     ", " + pad.text + ");");
          },
          isInside ? firstPartial(among, vector) : 0);
      if (mayBeWhole)
        out.close();
    }
    out.reopen("else");
  }
  each([&](const RegisterLoop &loop, const std::string &address) {
    out.line("load_elements(" + entryPointer(fragment, loop) + ", " + address +
             ", " + countInside(access, loop.reg).text + ");");
  });
  if (isAmong)
    out.close();
}

unsigned KernelEmitter::lanesForShiftedStore(const BlockAccess &access) {
  constexpr unsigned fewLanes = 4;
  unsigned vector = shiftedVector(access);
  if (!vector || kernel.getArgAccess(access.view.arg) != tile::Access::Out ||
      access.layout.freeBits(InDim::Lane) ||
      access.layout.freeBits(InDim::Register) ||
      !access.isSeparable[access.vectorAxis])
    return 0;
  unsigned lanes = lanesInRun(access.layout, access.vectorAxis, vector);
  return lanes < fewLanes ? 0 : lanes;
}

void KernelEmitter::emitShiftedStore(const BlockAccess &access,
                                     const Fragment &fragment, unsigned lanes) {
  auto each = [&](const Twine &function, bool isCounted) {
    forRegisters(fragment.registers, shiftedVector(access),
                 [&](const RegisterLoop &loop) {
                   out.line(function + "(" + addressOf(access, loop.reg) +
                            ", " + entryPointer(fragment, loop) +
                            (isCounted
                                 ? ", " + countInside(access, loop.reg).text
                                 : std::string()) +
                            ");");
                 });
  };
  std::optional<Expr> partial = isPartial(access);
  constexpr unsigned lanesOfWarp = 32;
  if (lanes < lanesOfWarp || (partial && partial->text == "true"))
    return each("store_shifted<" + Twine(lanes) + ">", true);
  if (!partial)
    return each("store_run", false);
  out.open("if (" + partial->text + ")");
  each("store_shifted<" + Twine(lanes) + ">", true);
  out.reopen("else");
  each("store_run", false);
  out.close();
}

} // namespace tilec::cuda

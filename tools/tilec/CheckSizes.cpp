//===- CheckSizes.cpp - Extents that exercise a kernel ----------*- C++ -*-===//
//
// See CheckSizes.h.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/CheckSizes.h"
#include "lib/Frontend/Evaluate.h"

using namespace tilec;
using namespace tilec::cli;

/// The attention whose keys a dimension counts, or null.
static const typed::Attention *attentionOver(const typed::Kernel &kernel,
                                             const typed::Dimension &dim) {
  for (const typed::Attention *attention : kernel.attentions)
    if (attention->kv && attention->kv->dim == &dim)
      return attention;
  return nullptr;
}

void cli::chooseWholeExtents(const typed::Kernel &kernel, SizeStyle style,
                             llvm::StringMap<int64_t> &extents) {
  // Keys are visited in tiles that are not known yet, of 32 to 64.
  constexpr int64_t aligned = 64, odd = 77, alignedKeys = 96, oddKeys = 97;
  for (const typed::Dimension *dim : kernel.dims) {
    if (!dim->isWhole)
      continue;
    bool isOfKeys = attentionOver(kernel, *dim);
    extents.try_emplace(dim->name, style == SizeStyle::Multiples
                                       ? (isOfKeys ? alignedKeys : aligned)
                                       : (isOfKeys ? oddKeys : odd));
  }
}

/// The longest tile along a dimension; 0 if it has none.
static int64_t tileAlong(const typed::Kernel &kernel,
                         const typed::Dimension &dim) {
  int64_t tile = 0;
  for (const typed::Axis *axis : kernel.axes)
    if (axis->isTile() && axis->var && axis->var->dim == &dim)
      tile = std::max(tile, axis->tileSize);
  if (const typed::Attention *attention = attentionOver(kernel, dim))
    tile = std::max(tile, attention->kvTile);
  return tile;
}

/// One and a half tiles, or a few positions where there are no tiles.
static int64_t preferredExtent(const typed::Kernel &kernel,
                               const typed::Dimension &dim, SizeStyle style) {
  int64_t tile = tileAlong(kernel, dim);
  bool isOdd = style == SizeStyle::Odd;
  if (tile > 1) {
    constexpr int64_t vector = 16;
    int64_t extent = tile + tile / 2;
    if (isOdd)
      return extent | 1;
    return tile < vector ? extent : (extent + vector - 1) / vector * vector;
  }
  // The innermost axis of the grid gets more positions than those around it.
  const typed::LoopVar *innermost = nullptr;
  bool isInGrid = false;
  for (const typed::LoopVar *var : kernel.grid)
    if (var->dim && tileAlong(kernel, *var->dim) <= 1) {
      innermost = var;
      isInGrid |= var->dim == &dim;
    }
  if (innermost && innermost->dim == &dim)
    return isOdd ? 3 : 4;
  if (isInGrid)
    return isOdd ? 1 : 2;
  return isOdd ? 5 : 8;
}

/// Whether the kernel's requirements hold, as far as dimensions tell.
static bool meetsRequirements(const typed::Kernel &kernel,
                              const llvm::StringMap<int64_t> &extents) {
  ScalarBindings bindings;
  bindings.dims = extents;
  for (const typed::Expr *requirement : kernel.requirements) {
    llvm::Expected<bool> holds = evaluateRequirement(*requirement, bindings);
    if (!holds)
      llvm::consumeError(holds.takeError()); // It is about scalars, too.
    else if (!*holds)
      return false;
  }
  return true;
}

namespace {
/// A dimension to vary, with what to try: the first is the best.
struct Choice {
  llvm::StringRef name;
  llvm::SmallVector<int64_t> candidates;
};
} // namespace

/// Tries the candidates of `choices` from `next` on whose ranks add up to
/// `rank`.
static bool tryRank(const typed::Kernel &kernel, llvm::ArrayRef<Choice> choices,
                    size_t rank, llvm::StringMap<int64_t> &extents,
                    unsigned &attempts) {
  constexpr unsigned mostAttempts = 100000;
  if (choices.empty())
    return rank == 0 && ++attempts <= mostAttempts &&
           meetsRequirements(kernel, extents);
  const Choice &first = choices.front();
  for (size_t i = 0; i <= rank && i < first.candidates.size(); ++i) {
    extents[first.name] = first.candidates[i];
    if (tryRank(kernel, choices.drop_front(), rank - i, extents, attempts))
      return true;
    if (attempts > mostAttempts)
      return false;
  }
  return false;
}

bool cli::chooseExtents(const typed::Kernel &kernel, SizeStyle style,
                        const llvm::StringMap<int64_t> &given,
                        llvm::StringMap<int64_t> &extents) {
  std::vector<Choice> choices;
  size_t mostRank = 0;
  for (const typed::Dimension *dim : kernel.dims) {
    if (given.count(dim->name)) {
      extents[dim->name] = given.lookup(dim->name);
      continue;
    }
    auto known = extents.find(dim->name);
    int64_t best = known != extents.end()
                       ? known->second
                       : preferredExtent(kernel, *dim, style);
    Choice choice{dim->name, {best}};
    // Where a large one is too large, a few elements would not be a test.
    if (best > 128)
      choice.candidates.push_back(style == SizeStyle::Odd ? 77 : 64);
    for (int64_t other : {int64_t(2), int64_t(1), best + 1, best - 1, 2 * best,
                          int64_t(3), int64_t(4), int64_t(8), int64_t(16),
                          int64_t(32), int64_t(64), int64_t(128)})
      if (other > 0 && !llvm::is_contained(choice.candidates, other))
        choice.candidates.push_back(other);
    // Few dimensions are in the way of a requirement; small changes come first.
    mostRank += choice.candidates.size() - 1;
    choices.push_back(std::move(choice));
  }
  unsigned attempts = 0;
  for (size_t rank = 0; rank <= mostRank; ++rank)
    if (tryRank(kernel, choices, rank, extents, attempts))
      return true;
  return false;
}

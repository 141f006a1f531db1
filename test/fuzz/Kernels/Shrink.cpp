//===- Shrink.cpp - Making a failing case smaller ---------------*- C++ -*-===//
//
// Tries simpler cases one after the other and keeps those that fail in the same
// way. What no longer is a program does not fail in that way, so nothing here
// needs to know what depends on what.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Kernels/Campaign.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>
#include <functional>

using namespace tilec;
using namespace tilec::fuzz;

namespace {
class Shrinker {
public:
  Shrinker(Case test, llvm::StringRef signature, const CampaignOptions &options)
      : best(std::move(test)), signature(signature), options(options),
        deadline(Clock::now() +
                 std::chrono::duration_cast<Clock::duration>(
                     std::chrono::duration<double>(options.shrinkSeconds))) {}
  Case run();

private:
  using Clock = std::chrono::steady_clock;

  /// Keeps what `change` makes of the best case if it still fails.
  bool attempt(llvm::function_ref<void(Case &)> change);
  bool dropStatements();
  bool dropTensors();
  bool simplifyArguments();
  bool halveDims();

  Case best;
  llvm::StringRef signature;
  const CampaignOptions &options;
  Clock::time_point deadline;
};
} // namespace

bool Shrinker::attempt(llvm::function_ref<void(Case &)> change) {
  if (Clock::now() > deadline)
    return false;
  Case candidate = best;
  change(candidate);
  if (candidate.describe() == best.describe() ||
      runWatched(candidate, options).signature() != signature)
    return false;
  best = std::move(candidate);
  return true;
}

/// The blocks of a case, by the indices of the statements that lead to them.
static void listStatements(const std::vector<Statement> &body,
                           std::vector<size_t> path,
                           std::vector<std::vector<size_t>> &paths) {
  for (size_t i = 0; i < body.size(); ++i) {
    path.push_back(i);
    listStatements(body[i].body, path, paths);
    paths.push_back(path);
    path.pop_back();
  }
}

bool Shrinker::dropStatements() {
  std::vector<std::vector<size_t>> paths;
  listStatements(best.body, {}, paths);
  bool changed = false;
  // From the end, so that paths in front stay what they are.
  for (const std::vector<size_t> &path : llvm::reverse(paths))
    changed |= attempt([&](Case &test) {
      std::vector<Statement> *body = &test.body;
      for (size_t i : llvm::ArrayRef(path).drop_back()) {
        if (i >= body->size())
          return;
        body = &(*body)[i].body;
      }
      // Without a grid it would be another kind of kernel.
      if (path.back() < body->size() &&
          !llvm::StringRef((*body)[path.back()].text).starts_with("grid "))
        body->erase(body->begin() + static_cast<ptrdiff_t>(path.back()));
    });
  return changed;
}

/// Whether the name occurs in the text as a whole word.
static bool uses(const std::vector<Statement> &body, llvm::StringRef name) {
  auto isName = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  return llvm::any_of(body, [&](const Statement &statement) {
    llvm::StringRef text = statement.text;
    for (size_t at = text.find(name); at != llvm::StringRef::npos;
         at = text.find(name, at + 1)) {
      size_t end = at + name.size();
      if ((at == 0 || !isName(text[at - 1])) &&
          (end == text.size() || !isName(text[end])))
        return true;
    }
    return uses(statement.body, name);
  });
}

/// Parameters that nothing mentions go together: alone, one may be all that
/// gives a dimension its extent.
bool Shrinker::dropTensors() {
  return attempt([](Case &test) {
    auto isUnused = [&](const auto &param) {
      return !uses(test.body, param.name);
    };
    llvm::erase_if(test.tensors, isUnused);
    llvm::erase_if(test.scalars, isUnused);
    auto isFree = [&](unsigned dim) {
      return llvm::none_of(test.tensors, [&](const TensorParam &tensor) {
        return llvm::is_contained(tensor.dims, dim);
      });
    };
    for (auto dim = static_cast<unsigned>(test.dims.size()); dim-- > 0;) {
      if (!isFree(dim))
        continue;
      test.dims.erase(test.dims.begin() + dim);
      for (TensorParam &tensor : test.tensors)
        for (unsigned &other : tensor.dims)
          other -= other > dim;
    }
  });
}

bool Shrinker::simplifyArguments() {
  bool changed = attempt([](Case &test) { test.schedule.clear(); });
  for (size_t i = best.schedule.size(); i-- > 0;)
    changed |= attempt([&](Case &test) {
      if (i < test.schedule.size())
        test.schedule.erase(test.schedule.begin() + static_cast<ptrdiff_t>(i));
    });
  for (size_t i = 0; i < best.tensors.size(); ++i) {
    changed |= attempt([&](Case &test) {
      Layout &layout = test.tensors[i].layout;
      Layout plain;
      plain.order = layout.order;
      llvm::sort(plain.order);
      layout = plain;
    });
    changed |= attempt([&](Case &test) { test.tensors[i].special = false; });
  }
  return changed;
}

bool Shrinker::halveDims() {
  bool changed = false;
  for (size_t i = 0; i < best.dims.size(); ++i) {
    while (attempt([&](Case &test) { test.dims[i].size /= 2; }))
      changed = true;
    changed |= attempt([&](Case &test) {
      test.dims[i].size = std::max<int64_t>(0, test.dims[i].size - 1);
    });
  }
  return changed;
}

Case Shrinker::run() {
  bool changed = true;
  while (changed) {
    changed = dropStatements();
    changed |= dropTensors();
    changed |= simplifyArguments();
    changed |= halveDims();
  }
  return best;
}

Case fuzz::shrink(Case test, llvm::StringRef signature,
                  const CampaignOptions &options) {
  return Shrinker(std::move(test), signature, options).run();
}

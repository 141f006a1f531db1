//===- ASTContext.h - The arena of syntax trees -----------------*- C++ -*-===//
//
// Nodes and lists of a tree are allocated in one arena and freed together,
// and each string is kept once. Nothing is destroyed one by one, so that only
// trivially destructible types may be put here.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_ASTCONTEXT_H
#define TILEC_FRONTEND_ASTCONTEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace tilec {

/// Owns every node of the trees of one compilation.
class ASTContext {
public:
  ASTContext() = default;
  ASTContext(const ASTContext &) = delete;
  ASTContext &operator=(const ASTContext &) = delete;

  template <typename T, typename... Args> T *create(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>,
                  "the arena never runs destructors");
    return new (allocator.Allocate(sizeof(T), alignof(T)))
        T(std::forward<Args>(args)...);
  }

  /// Copies a list into the arena.
  template <typename T> llvm::ArrayRef<T> copy(llvm::ArrayRef<T> list) {
    static_assert(std::is_trivially_destructible_v<T>,
                  "the arena never runs destructors");
    if (list.empty())
      return {};
    T *data = static_cast<T *>(
        allocator.Allocate(sizeof(T) * list.size(), alignof(T)));
    std::uninitialized_copy(list.begin(), list.end(), data);
    return {data, list.size()};
  }
  template <typename T, unsigned N>
  llvm::ArrayRef<T> copy(const llvm::SmallVector<T, N> &list) {
    return copy(llvm::ArrayRef<T>(list));
  }

  /// The one copy of a string; equal strings have equal data pointers.
  llvm::StringRef intern(llvm::StringRef text) {
    auto known = strings.find(text);
    if (known != strings.end())
      return *known;
    llvm::StringRef owned = text.copy(allocator);
    strings.insert(owned);
    return owned;
  }

private:
  llvm::BumpPtrAllocator allocator;
  llvm::DenseSet<llvm::StringRef> strings;
};

} // namespace tilec

#endif // TILEC_FRONTEND_ASTCONTEXT_H

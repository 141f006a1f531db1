//===- Prelude.h - Device functions in front of a kernel --------*- C++ -*-===//
//
// The functions that emitted code calls, from the .cuh files in prelude/. An
// item of such a file is what stands between two empty lines: comments and one
// declaration, or several of one name. An emitted kernel is preceded by the
// items it uses and those that they use, in their order.
//
// An item is used if its name occurs, so no other names of a kernel may be
// those of items.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CUDA_PRELUDE_H
#define TILEC_CODEGEN_CUDA_PRELUDE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace tilec::cuda {

class Prelude {
public:
  static const Prelude &get();

  void forEachName(llvm::function_ref<void(llvm::StringRef)> visit) const;
  /// The text of all items that code with these identifiers needs. `macros` has
  /// other values for macros.
  std::string select(const llvm::StringSet<> &used,
                     const llvm::StringMap<llvm::StringRef> &macros = {}) const;

private:
  Prelude();
  void add(llvm::StringRef text);

  struct Item {
    llvm::StringRef text;
    std::string name;
    std::vector<std::string> mentions;
  };
  std::vector<Item> items;
};

/// The files, one after the other; generated from prelude/.
extern const char *const preludeFiles[];
extern const unsigned preludeFileCount;

} // namespace tilec::cuda

#endif // TILEC_CODEGEN_CUDA_PRELUDE_H

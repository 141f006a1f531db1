//===- SemaProgram.h - What the names of a program mean ---------*- C++ -*-===//
//
// Functions and kernels by name, seen from a file. A file sees its own
// declarations and, behind them, those of the files it imports, directly or
// not. So a library's helper never collides with one of the user's of the same
// name, but two imported ones of one name must not be used.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_SEMAPROGRAM_H
#define TILEC_FRONTEND_SEMAPROGRAM_H

#include "lib/Frontend/AST.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace tilec::sema {

/// The name of a function, kernel or schedule's kernel; empty for an import.
ast::Ident declName(const ast::Decl &decl);

class ProgramIndex {
public:
  explicit ProgramIndex(const ast::Program &program);

  const ast::Program &getProgram() const { return program; }
  /// The file that has `decl`.
  const ast::File *fileOf(const ast::Decl &decl) const {
    return files.lookup(&decl);
  }
  /// The functions and kernels that `name` may mean in `from`: its own one, or
  /// all those of its imports.
  llvm::SmallVector<const ast::Decl *, 2> find(llvm::StringRef name,
                                               const ast::File *from) const;
  /// The names of all functions visible in `from`.
  void listFunctions(const ast::File *from,
                     llvm::SmallVectorImpl<llvm::StringRef> &names) const;
  /// `from` and everything it imports, `from` first.
  llvm::ArrayRef<const ast::File *> visibleFrom(const ast::File *from) const {
    return visible.find(from)->second;
  }

private:
  const ast::Program &program;
  llvm::DenseMap<const ast::Decl *, const ast::File *> files;
  llvm::DenseMap<const ast::File *, std::vector<const ast::File *>> visible;
  using ByName = llvm::DenseMap<llvm::StringRef, const ast::Decl *>;
  llvm::DenseMap<const ast::File *, ByName> byName;
};

} // namespace tilec::sema

#endif // TILEC_FRONTEND_SEMAPROGRAM_H

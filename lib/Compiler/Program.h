//===- Program.h - A .tile program, loaded ----------------------*- C++ -*-===//
//
// The first stage of every use of the compiler: the text of a file and of all
// it imports, parsed, with the diagnostics found so far. Kernels of it are then
// analyzed, any number of times with different compile-time parameters.
//
//   auto program = Program::load("attend.tile", {});
//   if (program->diags.hasErrors()) ...
//   const ast::KernelDecl *decl = program->findKernel("attend");
//   std::unique_ptr<typed::Kernel> kernel = program->analyze(*decl, args,
//   "cpu");
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_COMPILER_PROGRAM_H
#define TILEC_COMPILER_PROGRAM_H

#include "lib/Frontend/AST.h"
#include "lib/Frontend/Sema.h"
#include "lib/Support/Diagnostics.h"
#include <memory>
#include <string>
#include <vector>

namespace tilec {

class Program {
  /// What load() makes and nothing changes afterwards.
  struct Text {
    SourceManager sources;
    ASTContext context;
    ast::Program *tree = nullptr;
  };
  std::shared_ptr<Text> text;

  explicit Program(std::shared_ptr<Text> text);

public:
  /// Reads and parses a file and its imports, which are looked for next to the
  /// importing file, then in `searchPaths`, then in the standard library.
  /// Never null: errors, a missing file included, are in `diags`.
  static std::unique_ptr<Program> load(llvm::StringRef path,
                                       llvm::ArrayRef<std::string> searchPaths);
  /// The same for text in memory; `name` is what messages print.
  static std::unique_ptr<Program>
  loadText(llvm::StringRef name, llvm::StringRef text,
           llvm::ArrayRef<std::string> searchPaths);

  /// The same program with messages of its own, none at first: for one of
  /// several threads.
  std::unique_ptr<Program> fork() const;

  /// The kernels of the main file, in source order.
  std::vector<const ast::KernelDecl *> getKernels() const;

  /// The kernel called `name` in any file of the program. With an empty name
  /// the only kernel of the main file. Null after reporting an error that lists
  /// the kernels there are.
  const ast::KernelDecl *findKernel(llvm::StringRef name);

  /// See analyzeKernel. Null after reporting errors.
  std::unique_ptr<typed::Kernel> analyze(const ast::KernelDecl &decl,
                                         const CompileTimeArgs &args,
                                         llvm::StringRef target);

  const SourceManager &sources;
  DiagnosticEngine diags;
  /// Null if the main file could not be read.
  const ast::Program *tree;
};

/// Reports an error of a library, which may have its remedy after "\nhelp: ".
/// `about` comes before it unless it is empty. Those of gpu::GPUError keep
/// their kind.
Diagnostic &reportError(Program &program, SourceRange range,
                        const llvm::Twine &about, llvm::Error error);

/// Where the standard library is: TILEC_STD_PATH from the environment, the
/// folder `std` or `share/tilec/std` beside the folder of libtilec.so or of the
/// executable, or the one of the source tree.
std::string standardLibraryPath();

} // namespace tilec

#endif // TILEC_COMPILER_PROGRAM_H

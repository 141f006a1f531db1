//===- Parser.h - From text to a syntax tree --------------------*- C++ -*-===//
//
// The two entrances to the front end: one file, or a file with everything it
// imports.
//
// Both report what is wrong to a DiagnosticEngine, as many independent
// mistakes as they can find in one go, and give back a tree that is complete
// for the parts that were right. A tree may only be analyzed further if
// nothing was reported: see the invariants in AST.h.
//
// No input makes the parser crash, hang or take more than linear time. The
// language has no limits but these: 64 MiB a file, brackets and blocks nested
// 256 deep, expressions 512 levels high, 1024 characters a number.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_PARSER_H
#define TILEC_FRONTEND_PARSER_H

#include "lib/Frontend/AST.h"
#include "lib/Support/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tilec {

/// Parses one file that the SourceManager already has, without its imports.
/// True if no error was reported.
bool parseFile(const SourceManager &sources, unsigned fileIndex,
               ASTContext &context, DiagnosticEngine &diags, ast::File &file);

/// Parses a file and, once each, all files it imports, directly or not.
///
/// An import is looked up relative to the importing file, then in each of the
/// search paths in order; files the SourceManager already has under that very
/// name come before those on disk. Files may import one another in a circle.
/// A file that cannot be opened is an error at the import.
///
/// The result is null only if the main file could not be opened; it must not
/// be analyzed if `diags` has errors.
ast::Program *loadProgram(llvm::StringRef path,
                          llvm::ArrayRef<std::string> searchPaths,
                          SourceManager &sources, ASTContext &context,
                          DiagnosticEngine &diags);

/// The same for a main file that the SourceManager already has, for text that
/// is not on disk.
ast::Program *loadProgram(unsigned mainFile,
                          llvm::ArrayRef<std::string> searchPaths,
                          SourceManager &sources, ASTContext &context,
                          DiagnosticEngine &diags);

} // namespace tilec

#endif // TILEC_FRONTEND_PARSER_H

//===- Analyzing.h - Helpers for tests of the analysis ----------*- C++ -*-===//
//
// A program analyzed from a string, and the invariants of TypedAST.h spelled
// out: what the lowering relies on without looking.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_UNIT_FRONTEND_ANALYZING_H
#define TILEC_TEST_UNIT_FRONTEND_ANALYZING_H

#include "lib/Frontend/Parser.h"
#include "lib/Frontend/Sema.h"
#include "lib/Frontend/TypedAST.h"
#include <catch2/catch.hpp>
#include <string>

namespace tilec::test {

struct Analyzed {
  SourceManager sources;
  DiagnosticEngine diags{sources};
  ASTContext context;
  ast::Program *program = nullptr;
  std::unique_ptr<typed::Kernel> kernel;

  /// Parses, and analyzes the last kernel of the text if there is one.
  explicit Analyzed(std::string text, CompileTimeArgs args = {},
                    llvm::StringRef target = "cpu");

  std::string typedText() const;
  std::string messages() const;
  /// The messages of checkProgram, which sees the whole file.
  std::string check();
};

/// The first violated invariant of `kernel`, or "".
std::string findViolation(const typed::Kernel &kernel);

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_FRONTEND_ANALYZING_H

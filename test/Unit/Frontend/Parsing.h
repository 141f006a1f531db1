//===- Parsing.h - Helpers for tests of the front end -----------*- C++ -*-===//
//
// A file parsed from a string, with all that its tree refers to, and the
// round trip that every tree must survive.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_UNIT_FRONTEND_PARSING_H
#define TILEC_TEST_UNIT_FRONTEND_PARSING_H

#include "lib/Frontend/ASTPrinter.h"
#include "lib/Frontend/Parser.h"
#include <catch2/catch.hpp>
#include <string>

namespace tilec::test {

struct Parsed {
  SourceManager sources;
  DiagnosticEngine diags{sources};
  ASTContext context;
  ast::File file;
  bool ok;

  explicit Parsed(std::string text) {
    unsigned index = sources.addFile("test.tile", std::move(text));
    ok = parseFile(sources, index, context, diags, file);
  }

  /// The tree without places.
  std::string dump() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    printAST(file, os);
    return text;
  }

  std::string source() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    printSource(file, os);
    return text;
  }

  std::string messages() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    diags.print(os);
    return text;
  }
};

/// Printing a tree and parsing the text gives the same tree, and printing that
/// the same text. Returns the canonical text.
inline std::string requireRoundTrip(const std::string &text) {
  Parsed first(text);
  INFO("source:\n" << text << "\nmessages:\n" << first.messages());
  REQUIRE(first.ok);
  std::string printed = first.source();
  Parsed second(printed);
  INFO("printed:\n" << printed << "\nmessages:\n" << second.messages());
  REQUIRE(second.ok);
  REQUIRE(second.dump() == first.dump());
  REQUIRE(second.source() == printed);
  return printed;
}

/// The tree of one expression, on one line: (+ a (* b c)).
std::string treeOf(const ast::Expr &expr);

/// The tree of an expression given as text.
std::string exprTree(const std::string &text);

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_FRONTEND_PARSING_H

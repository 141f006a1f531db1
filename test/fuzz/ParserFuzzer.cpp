//===- ParserFuzzer.cpp - Any bytes through the front end -------*- C++ -*-===//
//
// Parses arbitrary bytes. Whatever is accepted must print to text that parses
// to an equal tree, and that prints to the same text again; whatever is not
// must have been explained, in text and in JSON.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ASTPrinter.h"
#include "lib/Frontend/Parser.h"
#include <cstdlib>

using namespace tilec;

namespace {

struct Run {
  SourceManager sources;
  DiagnosticEngine diags{sources};
  ASTContext context;
  ast::File file;
  bool ok;

  explicit Run(std::string text) {
    unsigned index = sources.addFile("fuzz.tile", std::move(text));
    ok = parseFile(sources, index, context, diags, file);
  }
  std::string dump() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    printAST(file, os);
    return text;
  }
  std::string print() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    printSource(file, os);
    return text;
  }
};

void require(bool condition, const char *what, const std::string &text) {
  if (condition)
    return;
  llvm::errs() << what << ":\n" << text << '\n';
  std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Run first(std::string(reinterpret_cast<const char *>(data), size));
  std::string rendered;
  llvm::raw_string_ostream os(rendered);
  first.diags.print(os, /*color=*/size % 2);
  first.diags.printJson(os);
  if (!first.ok) {
    require(first.diags.hasErrors(), "failed without a message", "");
    return 0;
  }
  std::string printed = first.print();
  Run second(printed);
  require(second.ok, "printed text does not parse", printed);
  require(second.dump() == first.dump(), "tree changed", printed);
  require(second.print() == printed, "printing is not stable", printed);
  return 0;
}

//===- ASTPrinter.h - Syntax trees as text ----------------------*- C++ -*-===//
//
// Two ways to look at a tree. `printAST` shows its structure, one node a line,
// for people and tests (`tilec --emit=ast`). `printSource` writes the program
// it stands for in canonical form: without comments, with the same blanks and
// line breaks everywhere, only the brackets it needs, and integers in decimal.
// Two texts that differ in no more than that print the same, and the printed
// text parses to an equal tree.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_ASTPRINTER_H
#define TILEC_FRONTEND_ASTPRINTER_H

#include "lib/Frontend/AST.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace tilec {

/// Prints the structure of a file, every node with its `line:column`.
void printAST(const ast::File &file, const SourceManager &sources,
              llvm::raw_ostream &os);
/// The same without places and the file's name: equal trees give equal text.
void printAST(const ast::File &file, llvm::raw_ostream &os);

/// Prints canonical source text, ending in a newline unless it is empty.
void printSource(const ast::File &file, llvm::raw_ostream &os);
void printSource(const ast::Decl &decl, llvm::raw_ostream &os);

/// One expression or type as source text, for messages.
std::string toSource(const ast::Expr &expr);
std::string toSource(const ast::TypeSpec &type);
/// What stands between < and > in a call: "n", "-4", "true", "bf16".
std::string toSource(const ast::TypeArg &arg);
/// The kind of a compile-time parameter: "int", "fn(f32) -> f32".
std::string kindToSource(const ast::CtParam &param);
/// The value of an entry of a schedule: "64", "true", "zigzag".
std::string valueToSource(const ast::ScheduleItem &item);

} // namespace tilec

#endif // TILEC_FRONTEND_ASTPRINTER_H

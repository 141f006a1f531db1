//===- FrontendFuzzer.cpp - Any text through the front end ------*- C++ -*-===//
//
// Any text at all must be either a checked program or messages: no crash, no
// hang, no sanitizer report. What is reported is also rendered, since a caret
// under the wrong place reads outside its line.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Parser.h"
#include "lib/Frontend/Sema.h"
#include "lib/Support/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  // An import would make the result depend on what is on this disk.
  if (text.contains("import"))
    return -1;

  tilec::SourceManager sources;
  tilec::DiagnosticEngine diags(sources);
  tilec::ASTContext context;
  unsigned file = sources.addFile("fuzz.tile", text.str());
  tilec::ast::Program *program =
      tilec::loadProgram(file, {}, sources, context, diags);
  if (program && !diags.hasErrors())
    tilec::checkProgram(*program, diags);
  // Without a program there must be a reason.
  if (!program && !diags.hasErrors())
    std::abort();

  diags.print(llvm::nulls());
  diags.printJson(llvm::nulls());
  return 0;
}

//===- DiagnosticBridge.cpp - MLIR's messages as tilec's --------*- C++ -*-===//
//
// See DiagnosticBridge.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/DiagnosticBridge.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;

SourceRange tilec::findWord(const SourceManager &sources, llvm::StringRef name,
                            unsigned line, unsigned column) {
  for (unsigned file = 0; file < sources.getNumFiles(); ++file) {
    if (sources.getName(file) != name)
      continue;
    llvm::StringRef text = sources.getText(file);
    size_t offset = 0;
    for (; line > 1; --line) {
      offset = text.find('\n', offset);
      if (offset == llvm::StringRef::npos)
        return {};
      ++offset;
    }
    offset = std::min<size_t>(offset + (column ? column - 1 : 0), text.size());
    size_t length =
        text.substr(offset)
            .take_while([](char c) { return llvm::isAlnum(c) || c == '_'; })
            .size();
    size_t end = std::min(offset + std::max<size_t>(length, 1), text.size());
    return {sources.getLoc(file, offset), sources.getLoc(file, end)};
  }
  return {};
}

static SourceRange rangeOf(mlir::Location loc, const SourceManager &sources) {
  auto place = loc->findInstanceOf<mlir::FileLineColLoc>();
  if (!place)
    return {};
  return findWord(sources, place.getFilename().getValue(), place.getLine(),
                  place.getColumn());
}

static void translate(mlir::Diagnostic &diagnostic, Program &program) {
  SourceRange range = rangeOf(diagnostic.getLocation(), program.sources);
  Diagnostic *made = nullptr;
  switch (diagnostic.getSeverity()) {
  case mlir::DiagnosticSeverity::Error:
    made = &program.diags.error(range, diagnostic.str());
    break;
  case mlir::DiagnosticSeverity::Warning:
    made = &program.diags.warning(range, diagnostic.str());
    break;
  case mlir::DiagnosticSeverity::Note:
  case mlir::DiagnosticSeverity::Remark:
    made = &program.diags.remark(range, diagnostic.str());
    break;
  }
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    std::string text = note.str();
    llvm::StringRef help = text;
    if (help.consume_front("help: "))
      made->remedy(help);
    else
      made->note(rangeOf(note.getLocation(), program.sources), text);
  }
}

namespace {
/// Takes remarks as data, since MLIR's own rendering of them is for machines.
class RemarkStreamer final
    : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkStreamer(Program &program) : program(program) {}

  void streamOptimizationRemark(
      const mlir::remark::detail::Remark &remark) override {
    std::string text;
    for (const mlir::remark::detail::Remark::Arg &arg : remark.getArgs())
      text += arg.val;
    program.diags.remark(rangeOf(remark.getLocation(), program.sources),
                         text + " [" + remark.getCombinedCategoryName() + "]");
  }

private:
  Program &program;
};
} // namespace

DiagnosticBridge::DiagnosticBridge(mlir::MLIRContext &context, Program &program,
                                   llvm::StringRef remarks)
    : context(context) {
  handler = context.getDiagEngine().registerHandler(
      [&program](mlir::Diagnostic &diagnostic) {
        translate(diagnostic, program);
      });
  if (remarks.empty())
    return;
  // MLIR matches whole names, and each kind of remark by itself.
  std::string pattern = (".*(" + remarks + ").*").str();
  mlir::remark::RemarkCategories categories{pattern, pattern, pattern, pattern,
                                            pattern};
  // A failure to set them up only means that there are none.
  (void)mlir::remark::enableOptimizationRemarks(
      context, std::make_unique<RemarkStreamer>(program),
      std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories);
}

DiagnosticBridge::~DiagnosticBridge() {
  context.getDiagEngine().eraseHandler(handler);
}

bool tilec::reportFailures(Program &program, const ReportSink &reports) {
  for (const Report &report : reports.reports()) {
    const Site &site = report.site;
    Diagnostic &error = program.diags.error(
        findWord(program.sources, site.file, site.line, site.column),
        report.message());
    if (site.kind == SiteKind::OutOfRange)
      error.remedy("guard the access with 'where', or correct the index; such "
                   "reads give 0");
    else if (site.text == "division by zero")
      error.remedy("guard it with 'where', or correct the divisor; such "
                   "divisions give 0");
    else
      error.remedy("the arguments do not meet this assert of the program");
  }
  return !reports.empty();
}

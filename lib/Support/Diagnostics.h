//===- Diagnostics.h - Messages with a place and a remedy -------*- C++ -*-===//
//
// Every message tilec gives about a program has the same four parts:
//
//     attend.tile:12:9: error: axis 'j' is not an axis of the value
//         s = sum<j>(acc)
//             ^~~~~~~~~~~
//       found: axes [m, n]                       <- notes, each with a place
//       help: name one of m, n                   <- what to do about it
//
// A `SourceManager` owns the text of all files of a compilation, a `SourceLoc`
// is a byte in one of them (4 bytes, cheap to keep in every AST node), and a
// `DiagnosticEngine` collects messages in order. Rendering, as text or as JSON,
// is separate from reporting, so that a library user gets data.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_SUPPORT_DIAGNOSTICS_H
#define TILEC_SUPPORT_DIAGNOSTICS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilec {

/// A byte position in one of the files of a SourceManager; 0 is "nowhere".
class SourceLoc {
public:
  SourceLoc() = default;
  explicit SourceLoc(uint32_t offset) : offset(offset) {}
  bool isValid() const { return offset != 0; }
  uint32_t getOffset() const { return offset; }
  SourceLoc advanced(uint32_t bytes) const { return SourceLoc(offset + bytes); }
  friend bool operator==(SourceLoc a, SourceLoc b) {
    return a.offset == b.offset;
  }

private:
  uint32_t offset = 0;
};

/// The half-open range of bytes [begin, end) of one file.
struct SourceRange {
  SourceLoc begin, end;
  SourceRange() = default;
  SourceRange(SourceLoc begin, SourceLoc end) : begin(begin), end(end) {}
  bool isValid() const { return begin.isValid(); }
};

/// A position as people write it; line and column count from 1, columns in
/// bytes.
struct LineColumn {
  llvm::StringRef file;
  unsigned line = 0;
  unsigned column = 0;
  bool isValid() const { return line != 0; }
};

/// Owns the text of every file of one compilation.
class SourceManager {
public:
  /// Adds a file's text and returns its index. `name` is what messages print.
  unsigned addFile(std::string name, std::string text);

  /// Reads a file from disk (at most 64 MiB). The error says why it could not
  /// be read: absent, a directory, no permission, too large, not UTF-8 text.
  llvm::Expected<unsigned> openFile(llvm::StringRef path);

  unsigned getNumFiles() const { return files.size(); }
  llvm::StringRef getName(unsigned file) const { return files[file]->name; }
  llvm::StringRef getText(unsigned file) const { return files[file]->text; }
  /// The location of byte `offset` of a file (its length is allowed: the end).
  SourceLoc getLoc(unsigned file, size_t offset) const;

  /// Where a location is; an invalid result for an invalid location.
  LineColumn getLineColumn(SourceLoc loc) const;
  /// The whole source line a location is in, without the line break.
  llvm::StringRef getLine(SourceLoc loc) const;
  /// The text of a range.
  llvm::StringRef getText(SourceRange range) const;

private:
  struct File {
    std::string name, text;
    uint32_t base; // Location of the first byte.
    std::vector<uint32_t> lineStarts;
  };
  const File *find(SourceLoc loc) const;
  // Files are never moved: names and texts are referred to.
  std::vector<std::unique_ptr<File>> files;
  uint32_t nextBase = 1;
};

enum class Severity { Error, Warning, Remark };

/// A secondary place or sentence that belongs to a diagnostic.
struct DiagnosticNote {
  SourceRange range; // May be invalid: then it is only a sentence.
  std::string message;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  SourceRange range; // May be invalid, e.g. for a command-line mistake.
  std::string message;
  std::vector<DiagnosticNote> notes;
  std::string help; // What to do; empty if there is nothing to say.
  /// What is wrong, for callers that act upon it: "overlap", "no-driver". Empty
  /// where only people do. A literal.
  llvm::StringRef kind;

  /// Builders, so that one statement reports a whole message:
  ///   diags.error(range, "…").note(other, "declared here").remedy("…");
  Diagnostic &note(SourceRange where, const llvm::Twine &text) {
    notes.push_back({where, text.str()});
    return *this;
  }
  Diagnostic &note(const llvm::Twine &text) { return note({}, text); }
  Diagnostic &remedy(const llvm::Twine &text) {
    help = text.str();
    return *this;
  }
  Diagnostic &of(llvm::StringRef literal) {
    kind = literal;
    return *this;
  }
};

/// Collects the diagnostics of one compilation, in the order they were found.
class DiagnosticEngine {
public:
  explicit DiagnosticEngine(const SourceManager &sources) : sources(sources) {}

  /// Reports; the reference is good until the next report.
  Diagnostic &error(SourceRange range, const llvm::Twine &message);
  Diagnostic &warning(SourceRange range, const llvm::Twine &message);
  Diagnostic &remark(SourceRange range, const llvm::Twine &message);

  bool hasErrors() const { return numErrors != 0; }
  unsigned getNumErrors() const { return numErrors; }
  /// After this many errors a front end should give up.
  bool tooManyErrors() const { return numErrors >= 20; }

  const std::vector<std::unique_ptr<Diagnostic>> &all() const { return list; }
  const SourceManager &getSources() const { return sources; }
  void clear();

  /// Renders all messages as text with the source line and a caret.
  void print(llvm::raw_ostream &os, bool color = false) const;
  /// Renders all messages as one JSON array of objects {severity, file, line,
  /// column, endLine, endColumn, message, notes, help, kind}; without a place
  /// or a kind where there is none.
  void printJson(llvm::raw_ostream &os) const;

private:
  Diagnostic &report(Severity severity, SourceRange range,
                     const llvm::Twine &message);
  const SourceManager &sources;
  std::vector<std::unique_ptr<Diagnostic>> list;
  unsigned numErrors = 0;
};

/// The candidate nearest to `name` by edit distance, or "" if none is near
/// enough to be a likely misspelling (a third of the length, at least 1).
llvm::StringRef nearestName(llvm::StringRef name,
                            llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace tilec

#endif // TILEC_SUPPORT_DIAGNOSTICS_H

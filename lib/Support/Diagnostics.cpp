//===- Diagnostics.cpp - Messages with a place and a remedy -----*- C++ -*-===//
//
// Three parts: the texts and where a byte is in them, the list of messages, and
// the two renderings.
//
// The text rendering shows one source line under each message. That line comes
// from an arbitrary file, so it is not printed as it is: tabs are expanded,
// control and other invisible characters and bytes that are not UTF-8 are shown
// as <1B>, <U+202E>, and only a window of a long line is looked at at all.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Unicode.h"
#include <algorithm>

using namespace tilec;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// SourceManager
//===----------------------------------------------------------------------===//

static constexpr size_t maxFileSize = size_t(64) << 20;

unsigned SourceManager::addFile(std::string name, std::string text) {
  if (text.size() >= UINT32_MAX - nextBase)
    llvm::report_fatal_error("more than 4 GiB of source text");
  auto file = std::make_unique<File>();
  file->name = std::move(name);
  file->text = std::move(text);
  file->base = nextBase;
  file->lineStarts.push_back(0);
  for (size_t at = file->text.find('\n'); at != std::string::npos;
       at = file->text.find('\n', at + 1))
    file->lineStarts.push_back(static_cast<uint32_t>(at + 1));
  // One more than the text has bytes, as the end of a file is a place too.
  nextBase += static_cast<uint32_t>(file->text.size() + 1);
  files.push_back(std::move(file));
  return static_cast<unsigned>(files.size() - 1);
}

static llvm::Error cannotRead(StringRef path, std::error_code code,
                              const llvm::Twine &why) {
  return llvm::createStringError(code, "cannot read '" + path + "': " + why);
}

/// Length of the longest prefix that is UTF-8 text.
static size_t validUtf8Prefix(StringRef text) {
  auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  const llvm::UTF8 *at = begin;
  llvm::isLegalUTF8String(&at, begin + text.size());
  return static_cast<size_t>(at - begin);
}

llvm::Expected<unsigned> SourceManager::openFile(StringRef path) {
  namespace fs = llvm::sys::fs;
  fs::file_status status;
  if (std::error_code error = fs::status(path, status)) {
    if (error == std::errc::no_such_file_or_directory)
      return cannotRead(path, error, "no such file");
    return cannotRead(path, error, StringRef(error.message()).lower());
  }
  if (fs::is_directory(status))
    return cannotRead(path, std::make_error_code(std::errc::is_a_directory),
                      "it is a directory");

  llvm::Expected<fs::file_t> file = fs::openNativeFileForRead(path);
  if (!file) {
    std::error_code error = llvm::errorToErrorCode(file.takeError());
    return cannotRead(path, error, StringRef(error.message()).lower());
  }
  // Read until the end rather than by the size: a pipe has none, and a device
  // may have no end.
  std::string text;
  std::error_code error;
  while (text.size() <= maxFileSize) {
    constexpr size_t chunk = size_t(64) << 10;
    size_t size = text.size();
    text.resize(size + chunk);
    llvm::Expected<size_t> got = fs::readNativeFile(
        *file, llvm::MutableArrayRef<char>(&text[size], chunk));
    if (!got) {
      error = llvm::errorToErrorCode(got.takeError());
      break;
    }
    text.resize(size + *got);
    if (*got == 0)
      break;
  }
  std::error_code closed = fs::closeFile(*file);
  if (!error)
    error = closed;
  if (error)
    return cannotRead(path, error, StringRef(error.message()).lower());
  if (text.size() > maxFileSize)
    return cannotRead(path, std::make_error_code(std::errc::file_too_large),
                      "it is larger than 64 MiB");
  if (size_t valid = validUtf8Prefix(text); valid != text.size()) {
    unsigned line =
        static_cast<unsigned>(StringRef(text).take_front(valid).count('\n')) +
        1;
    std::string why;
    llvm::raw_string_ostream(why)
        << "it is not UTF-8 text (byte "
        << llvm::format_hex(static_cast<unsigned char>(text[valid]), 4, true)
        << " in line " << line << ")";
    return cannotRead(
        path, std::make_error_code(std::errc::illegal_byte_sequence), why);
  }
  return addFile(path.str(), std::move(text));
}

SourceLoc SourceManager::getLoc(unsigned file, size_t offset) const {
  assert(file < files.size() && offset <= files[file]->text.size());
  return SourceLoc(files[file]->base + static_cast<uint32_t>(offset));
}

const SourceManager::File *SourceManager::find(SourceLoc loc) const {
  if (!loc.isValid() || loc.getOffset() >= nextBase)
    return nullptr;
  auto after =
      llvm::upper_bound(files, loc.getOffset(),
                        [](uint32_t offset, const std::unique_ptr<File> &file) {
                          return offset < file->base;
                        });
  return std::prev(after)->get();
}

LineColumn SourceManager::getLineColumn(SourceLoc loc) const {
  const File *file = find(loc);
  if (!file)
    return {};
  uint32_t offset = loc.getOffset() - file->base;
  auto after = llvm::upper_bound(file->lineStarts, offset);
  return {file->name, static_cast<unsigned>(after - file->lineStarts.begin()),
          offset - *std::prev(after) + 1};
}

StringRef SourceManager::getLine(SourceLoc loc) const {
  const File *file = find(loc);
  if (!file)
    return {};
  uint32_t offset = loc.getOffset() - file->base;
  auto after = llvm::upper_bound(file->lineStarts, offset);
  uint32_t begin = *std::prev(after);
  StringRef line =
      after == file->lineStarts.end()
          ? StringRef(file->text).substr(begin)
          : StringRef(file->text).substr(begin, *after - 1 - begin);
  line.consume_back("\r");
  return line;
}

StringRef SourceManager::getText(SourceRange range) const {
  const File *file = find(range.begin);
  if (!file || range.end.getOffset() < range.begin.getOffset())
    return {};
  return StringRef(file->text)
      .substr(range.begin.getOffset() - file->base,
              range.end.getOffset() - range.begin.getOffset());
}

//===----------------------------------------------------------------------===//
// DiagnosticEngine
//===----------------------------------------------------------------------===//

Diagnostic &DiagnosticEngine::report(Severity severity, SourceRange range,
                                     const llvm::Twine &message) {
  auto diagnostic = std::make_unique<Diagnostic>();
  diagnostic->severity = severity;
  diagnostic->range = range;
  diagnostic->message = message.str();
  list.push_back(std::move(diagnostic));
  if (severity == Severity::Error)
    ++numErrors;
  return *list.back();
}

Diagnostic &DiagnosticEngine::error(SourceRange range,
                                    const llvm::Twine &message) {
  return report(Severity::Error, range, message);
}

Diagnostic &DiagnosticEngine::warning(SourceRange range,
                                      const llvm::Twine &message) {
  return report(Severity::Warning, range, message);
}

Diagnostic &DiagnosticEngine::remark(SourceRange range,
                                     const llvm::Twine &message) {
  return report(Severity::Remark, range, message);
}

void DiagnosticEngine::clear() {
  list.clear();
  numErrors = 0;
}

//===----------------------------------------------------------------------===//
// Rendering as text
//===----------------------------------------------------------------------===//

namespace {

constexpr size_t maxColumns = 120; // Of source text in a message.
constexpr unsigned tabStop = 4;

/// ANSI escapes, or nothing.
struct Palette {
  bool on;
  StringRef bold() const { return on ? "\033[1m" : ""; }
  StringRef green() const { return on ? "\033[1;32m" : ""; }
  StringRef cyan() const { return on ? "\033[1;36m" : ""; }
  StringRef reset() const { return on ? "\033[0m" : ""; }
  StringRef of(Severity severity) const {
    if (!on)
      return "";
    switch (severity) {
    case Severity::Error:
      return "\033[1;31m";
    case Severity::Warning:
      return "\033[1;35m";
    case Severity::Remark:
      return "\033[1;34m";
    }
    llvm_unreachable("not a severity");
  }
};

/// What one character of the source looks like.
struct Cell {
  llvm::SmallString<8> shown;
  unsigned columns;
  size_t byte; // Offset in the line.
};

/// Splits off the first character of `rest` and says how to show it.
Cell takeCharacter(StringRef &rest, size_t byte, unsigned column) {
  Cell cell{{}, 0, byte};
  auto *data = reinterpret_cast<const llvm::UTF8 *>(rest.data());
  unsigned length = llvm::getUTF8SequenceSize(data, data + rest.size());
  StringRef character = rest.take_front(std::max(length, 1u));
  rest = rest.drop_front(character.size());
  if (character == "\t") {
    cell.columns = tabStop - column % tabStop;
    cell.shown.append(cell.columns, ' ');
    return cell;
  }
  llvm::raw_svector_ostream os(cell.shown);
  int width = length == 0 ? -1 : llvm::sys::unicode::columnWidthUTF8(character);
  if (width >= 0) {
    cell.columns = static_cast<unsigned>(width);
    cell.shown = character;
    return cell;
  }
  if (length <= 1) {
    os << llvm::format("<%02X>", static_cast<unsigned char>(character[0]));
  } else {
    const llvm::UTF8 *at = data;
    llvm::UTF32 code = 0;
    llvm::convertUTF8Sequence(&at, data + length, &code,
                              llvm::strictConversion);
    os << llvm::format("<U+%04X>", code);
  }
  cell.columns = static_cast<unsigned>(cell.shown.size());
  return cell;
}

/// Prints the line a range begins in with the range marked under it.
void printSnippet(llvm::raw_ostream &os, const SourceManager &sources,
                  SourceRange range, const Palette &palette) {
  StringRef line = sources.getLine(range.begin);
  if (line.trim().empty())
    return;
  size_t first = sources.getLineColumn(range.begin).column - 1;
  size_t length = range.end.getOffset() > range.begin.getOffset()
                      ? range.end.getOffset() - range.begin.getOffset()
                      : 0;
  first = std::min(first, line.size());
  size_t last = first + std::min(length, line.size() - first);

  // Bytes far from the mark cannot be shown; the window begins at the beginning
  // of a character.
  constexpr size_t windowBefore = 40, windowAfter = 4 * maxColumns;
  size_t begin = line.size() <= maxColumns || first <= maxColumns * 3 / 4
                     ? 0
                     : first - windowBefore;
  while (begin > 0 && (static_cast<unsigned char>(line[begin]) & 0xC0) == 0x80)
    --begin;
  bool cutBefore = begin != 0;
  StringRef rest = line.drop_front(begin).take_front(windowAfter);
  bool cutAfter = begin + rest.size() < line.size();

  std::string text = cutBefore ? "..." : "", marks = cutBefore ? "   " : "";
  unsigned column = static_cast<unsigned>(text.size());
  bool marked = false;
  while (!rest.empty()) {
    size_t byte = static_cast<size_t>(rest.data() - line.data());
    Cell cell = takeCharacter(rest, byte, column);
    if (column + cell.columns > maxColumns) {
      cutAfter = true;
      break;
    }
    text += cell.shown;
    column += cell.columns;
    // Marks go under every column of a character that is within the range.
    bool inside = byte >= first && byte < last;
    for (unsigned i = 0; i < cell.columns; ++i) {
      bool caret = byte >= first && !marked;
      marks += caret ? '^' : inside ? '~' : ' ';
      marked |= caret;
    }
  }
  if (!marked)
    marks += '^'; // At the end of the line.
  if (cutAfter)
    text += "...";
  os << StringRef(text).rtrim() << '\n'
     << palette.green() << StringRef(marks).rtrim(' ') << palette.reset()
     << '\n';
}

/// Prints text whose further lines line up with its first.
void printIndented(llvm::raw_ostream &os, unsigned indent, StringRef text) {
  for (bool first = true; first || !text.empty(); first = false) {
    auto [line, rest] = text.split('\n');
    if (!first)
      os.indent(indent);
    os << line << '\n';
    text = rest;
  }
}

void printPlace(llvm::raw_ostream &os, const SourceManager &sources,
                SourceRange range, const Palette &palette) {
  LineColumn at = sources.getLineColumn(range.begin);
  if (at.isValid())
    os << palette.bold() << at.file << ':' << at.line << ':' << at.column
       << ": " << palette.reset();
}

StringRef severityName(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  }
  llvm_unreachable("not a severity");
}

} // namespace

void DiagnosticEngine::print(llvm::raw_ostream &os, bool color) const {
  Palette palette{color};
  for (const auto &diagnostic : list) {
    printPlace(os, sources, diagnostic->range, palette);
    os << palette.of(diagnostic->severity) << severityName(diagnostic->severity)
       << ": " << palette.reset() << palette.bold();
    printIndented(os, 2, diagnostic->message);
    os << palette.reset();
    printSnippet(os, sources, diagnostic->range, palette);
    for (const DiagnosticNote &note : diagnostic->notes) {
      if (sources.getLineColumn(note.range.begin).isValid()) {
        printPlace(os, sources, note.range, palette);
        os << palette.cyan() << "note: " << palette.reset();
        printIndented(os, 2, note.message);
        printSnippet(os, sources, note.range, palette);
      } else {
        os << "  ";
        printIndented(os, 2, note.message);
      }
    }
    if (!diagnostic->help.empty()) {
      os << palette.cyan() << "  help: " << palette.reset();
      printIndented(os, 8, diagnostic->help);
    }
  }
  if (tooManyErrors())
    os << "stopped after " << numErrors << " errors\n";
}

//===----------------------------------------------------------------------===//
// Rendering as JSON
//===----------------------------------------------------------------------===//

/// JSON must be UTF-8; a message may quote a file name that is not.
static std::string asUtf8(StringRef text) {
  return llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text);
}

static void placeAttributes(llvm::json::OStream &json,
                            const SourceManager &sources, SourceRange range) {
  LineColumn begin = sources.getLineColumn(range.begin);
  if (!begin.isValid())
    return;
  bool hasEnd = range.end.getOffset() > range.begin.getOffset();
  LineColumn end = sources.getLineColumn(hasEnd ? range.end : range.begin);
  json.attribute("file", asUtf8(begin.file));
  json.attribute("line", begin.line);
  json.attribute("column", begin.column);
  json.attribute("endLine", end.line);
  json.attribute("endColumn", end.column);
}

void DiagnosticEngine::printJson(llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, 2);
  json.array([&] {
    for (const auto &diagnostic : list)
      json.object([&] {
        json.attribute("severity", severityName(diagnostic->severity));
        placeAttributes(json, sources, diagnostic->range);
        json.attribute("message", asUtf8(diagnostic->message));
        json.attributeArray("notes", [&] {
          for (const DiagnosticNote &note : diagnostic->notes)
            json.object([&] {
              placeAttributes(json, sources, note.range);
              json.attribute("message", asUtf8(note.message));
            });
        });
        json.attribute("help", asUtf8(diagnostic->help));
        if (!diagnostic->kind.empty())
          json.attribute("kind", diagnostic->kind);
      });
  });
  os << '\n';
}

//===----------------------------------------------------------------------===//
// Misspellings
//===----------------------------------------------------------------------===//

/// The number of insertions, deletions, replacements and swaps of neighbors
/// that lead from one word to the other.
static unsigned wordDistance(StringRef from, StringRef to) {
  llvm::SmallVector<unsigned> before, above(to.size() + 1), row(to.size() + 1);
  for (size_t j = 0; j <= to.size(); ++j)
    above[j] = static_cast<unsigned>(j);
  for (size_t i = 1; i <= from.size(); ++i) {
    row[0] = static_cast<unsigned>(i);
    for (size_t j = 1; j <= to.size(); ++j) {
      unsigned replaced = above[j - 1] + (from[i - 1] != to[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] &&
          from[i - 2] == to[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    above = row;
  }
  return above[to.size()];
}

StringRef tilec::nearestName(StringRef name,
                             llvm::ArrayRef<StringRef> candidates) {
  // Nobody misspells a name this long; the distance takes quadratic time.
  if (name.empty() || name.size() > 64)
    return "";
  size_t limit = std::max<size_t>(1, name.size() / 3);
  // Replacing every letter is not a misspelling.
  limit = std::min(limit, name.size() - 1);
  StringRef nearest = "";
  // Twice the distance, less one if the difference is in case alone.
  size_t best = std::max<size_t>(2, 2 * limit + 1);
  std::string lower = name.lower();
  for (StringRef candidate : candidates) {
    size_t longer = std::max(name.size(), candidate.size());
    size_t shorter = std::min(name.size(), candidate.size());
    if (candidate.empty() || longer - shorter > limit)
      continue;
    size_t distance = size_t(2) * wordDistance(name, candidate);
    if (distance != 0 && candidate.lower() == lower)
      distance = 1;
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

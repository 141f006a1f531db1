//===- ParserImports.cpp - A file and all that it imports -------*- C++ -*-===//
//
// Files are parsed breadth first, each once: what makes two paths the same file
// is the file system's own identity, so that links and `a/../b` do not read a
// file twice.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lexer.h"
#include "lib/Frontend/Parser.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace tilec;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Reports that a file cannot be read, with what to do about the reason.
static void reportUnreadable(DiagnosticEngine &diags, SourceRange range,
                             llvm::Error error) {
  std::error_code code;
  std::string message;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    code = info.convertToErrorCode();
    message = info.message();
  });
  StringRef help = "check the disk or network the file is on";
  if (code == std::errc::no_such_file_or_directory)
    help = "check the name and the folder";
  else if (code == std::errc::is_a_directory)
    help = "name a .tile file in it";
  else if (code == std::errc::permission_denied)
    help = "make it readable, as in chmod u+r";
  else if (code == std::errc::illegal_byte_sequence)
    help = "name a .tile file; it is plain text";
  else if (code == std::errc::file_too_large)
    help = "divide it into files that import one another";
  diags.error(range, message).remedy(help);
}

namespace {

class Loader {
public:
  Loader(llvm::ArrayRef<std::string> searchPaths, SourceManager &sources,
         ASTContext &context, DiagnosticEngine &diags)
      : searchPaths(searchPaths), sources(sources), context(context),
        diags(diags) {}

  ast::Program *load(unsigned mainFile);

private:
  /// Makes a file part of the program, unless it is.
  ast::File *add(unsigned index);
  /// Parses a file and resolves its imports.
  void parse(ast::File &file);
  void resolve(ast::ImportDecl &import, StringRef importer);
  /// The file at a path, if there is one. An error has been reported if it
  /// exists but cannot be read.
  enum class Found { No, Yes, Unreadable };
  Found open(StringRef candidate, const ast::ImportDecl &import,
             ast::File *&file);

  llvm::ArrayRef<std::string> searchPaths;
  SourceManager &sources;
  ASTContext &context;
  DiagnosticEngine &diags;

  llvm::SmallVector<ast::File *> files;
  llvm::StringMap<ast::File *> byName;
  std::map<fs::UniqueID, ast::File *> byIdentity;
};

} // namespace

ast::File *Loader::add(unsigned index) {
  StringRef name = sources.getName(index);
  auto *file = context.create<ast::File>();
  file->index = index;
  files.push_back(file);
  byName[name] = file;
  fs::UniqueID identity;
  if (!fs::getUniqueID(name, identity))
    byIdentity.emplace(identity, file);
  return file;
}

ast::Program *Loader::load(unsigned mainFile) {
  add(mainFile);
  // The list grows as imports are resolved.
  for (size_t i = 0; i < files.size(); ++i)
    parse(*files[i]);
  auto *program = context.create<ast::Program>();
  program->files = context.copy(files);
  return program;
}

void Loader::parse(ast::File &file) {
  if (diags.tooManyErrors())
    return;
  parseFile(sources, file.index, context, diags, file);
  StringRef importer = sources.getName(file.index);
  for (ast::Decl *decl : file.decls)
    if (auto *import = llvm::dyn_cast<ast::ImportDecl>(decl))
      resolve(*import, importer);
}

Loader::Found Loader::open(StringRef candidate, const ast::ImportDecl &import,
                           ast::File *&file) {
  if (auto known = byName.find(candidate); known != byName.end()) {
    file = known->second;
    return Found::Yes;
  }
  // Text that never was on disk, or was read before.
  for (unsigned i = 0; i < sources.getNumFiles(); ++i)
    if (sources.getName(i) == candidate) {
      file = add(i);
      return Found::Yes;
    }
  fs::UniqueID identity;
  if (fs::getUniqueID(candidate, identity))
    return Found::No;
  if (auto known = byIdentity.find(identity); known != byIdentity.end()) {
    file = known->second;
    return Found::Yes;
  }
  llvm::Expected<unsigned> index = sources.openFile(candidate);
  if (!index) {
    reportUnreadable(diags, import.getPathRange(), index.takeError());
    return Found::Unreadable;
  }
  file = add(*index);
  return Found::Yes;
}

void Loader::resolve(ast::ImportDecl &import, StringRef importer) {
  llvm::SmallVector<std::string> candidates;
  auto addCandidate = [&](StringRef directory) {
    llvm::SmallString<128> candidate(directory);
    path::append(candidate, import.getPath());
    path::remove_dots(candidate, /*remove_dot_dot=*/false);
    if (!llvm::is_contained(candidates, candidate))
      candidates.push_back(candidate.str().str());
  };
  if (path::is_absolute(import.getPath())) {
    addCandidate("");
  } else {
    addCandidate(path::parent_path(importer));
    for (const std::string &directory : searchPaths)
      addCandidate(directory);
  }

  std::string tried;
  for (const std::string &candidate : candidates) {
    ast::File *file = nullptr;
    Found found = open(candidate, import, file);
    if (found == Found::Yes)
      import.setFile(file);
    if (found != Found::No)
      return;
    if (!tried.empty())
      tried += ", ";
    tried += candidate;
  }
  Diagnostic &error =
      diags.error(import.getPathRange(),
                  "cannot find the imported file " + quoted(import.getPath()));
  error.note("tried: " + tried);
  if (path::extension(import.getPath()).empty())
    error.remedy("did you mean " + quoted((import.getPath() + ".tile").str()) +
                 "?");
  else
    error.remedy("a path is relative to the importing file or to a search "
                 "path");
}

ast::Program *tilec::loadProgram(unsigned mainFile,
                                 llvm::ArrayRef<std::string> searchPaths,
                                 SourceManager &sources, ASTContext &context,
                                 DiagnosticEngine &diags) {
  return Loader(searchPaths, sources, context, diags).load(mainFile);
}

ast::Program *tilec::loadProgram(StringRef path,
                                 llvm::ArrayRef<std::string> searchPaths,
                                 SourceManager &sources, ASTContext &context,
                                 DiagnosticEngine &diags) {
  llvm::Expected<unsigned> index = sources.openFile(path);
  if (!index) {
    reportUnreadable(diags, {}, index.takeError());
    return nullptr;
  }
  return loadProgram(*index, searchPaths, sources, context, diags);
}

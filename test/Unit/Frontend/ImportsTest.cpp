//===- ImportsTest.cpp - Programs of several files --------------*- C++ -*-===//
//
// How imports find their files: relative to the importer, on the search path,
// once each however they are spelled, and in a circle.
//
//===----------------------------------------------------------------------===//

#include "Parsing.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tilec;
using namespace tilec::test;
namespace fs = llvm::sys::fs;

namespace {

/// A folder of files that exists for the time of a test.
struct Folder {
  llvm::SmallString<64> path;
  Folder() { REQUIRE(!fs::createUniqueDirectory("tilec-imports", path)); }
  ~Folder() { CHECK(!fs::remove_directories(path)); }
  std::string operator/(llvm::StringRef name) const {
    llvm::SmallString<128> full(path);
    llvm::sys::path::append(full, name);
    return full.str().str();
  }
  void write(llvm::StringRef name, llvm::StringRef text) const {
    std::string full = *this / name;
    REQUIRE(!fs::create_directories(llvm::sys::path::parent_path(full)));
    std::error_code error;
    llvm::raw_fd_ostream os(full, error);
    REQUIRE(!error);
    os << text;
  }
};

struct Loaded {
  SourceManager sources;
  DiagnosticEngine diags{sources};
  ASTContext context;
  ast::Program *program = nullptr;

  void load(llvm::StringRef path, std::vector<std::string> searchPaths = {}) {
    program = loadProgram(path, searchPaths, sources, context, diags);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const ast::File *file : program->files)
      list.push_back(
          llvm::sys::path::filename(sources.getName(file->index)).str());
    return list;
  }
  std::string messages() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    diags.print(os);
    return text;
  }
};

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("imports are found and loaded once", "[imports]") {
  Folder folder;
  folder.write("main.tile", "import \"sub/a.tile\"\n"
                            "import \"sub/../sub/a.tile\"\n"
                            "import \"lib.tile\"\n"
                            "fn f(x: f32) -> f32 { x }\n");
  // `b.tile` is beside its importer, not beside the main file.
  folder.write("sub/a.tile", "import \"b.tile\"\n");
  folder.write("sub/b.tile", "import \"../main.tile\"\nimport \"b.tile\"\n");
  folder.write("search/lib.tile", "");
  Loaded loaded;
  loaded.load(folder / "main.tile", {folder / "nowhere", folder / "search"});
  INFO(loaded.messages());
  REQUIRE(!loaded.diags.hasErrors());
  REQUIRE(loaded.names() == Names{"main.tile", "a.tile", "lib.tile", "b.tile"});

  const ast::File &main = loaded.program->main();
  REQUIRE(main.decls.size() == 4);
  auto *first = llvm::cast<ast::ImportDecl>(main.decls[0]);
  auto *second = llvm::cast<ast::ImportDecl>(main.decls[1]);
  REQUIRE(first->getFile() == loaded.program->files[1]);
  REQUIRE(second->getFile() == first->getFile());
  auto *back = llvm::cast<ast::ImportDecl>(loaded.program->files[3]->decls[0]);
  REQUIRE(back->getFile() == &main);
}

TEST_CASE("the folder of the importer comes before the search path",
          "[imports]") {
  Folder folder;
  folder.write("main.tile", "import \"a.tile\"\n");
  folder.write("a.tile", "fn near(x: f32) -> f32 { x }\n");
  folder.write("search/a.tile", "fn far(x: f32) -> f32 { x }\n");
  Loaded loaded;
  loaded.load(folder / "main.tile", {folder / "search"});
  REQUIRE(loaded.program->files.size() == 2);
  auto *fn = llvm::cast<ast::FnDecl>(loaded.program->files[1]->decls[0]);
  REQUIRE(fn->getName() == "near");
}

TEST_CASE("text that is not on disk can be imported and can import",
          "[imports]") {
  Loaded loaded;
  unsigned main = loaded.sources.addFile("<text>", "import \"std/a.tile\"\n");
  loaded.sources.addFile("std/a.tile", "import \"b.tile\"\n");
  loaded.sources.addFile("std/b.tile", "");
  loaded.program =
      loadProgram(main, {}, loaded.sources, loaded.context, loaded.diags);
  INFO(loaded.messages());
  REQUIRE(!loaded.diags.hasErrors());
  REQUIRE(loaded.names() == Names{"<text>", "a.tile", "b.tile"});
}

TEST_CASE("imports that fail", "[imports]") {
  Folder folder;
  SECTION("the main file is missing") {
    Loaded loaded;
    loaded.load(folder / "main.tile");
    REQUIRE(!loaded.program);
    REQUIRE(loaded.messages() == "error: cannot read '" +
                                     (folder / "main.tile") +
                                     "': no such file\n"
                                     "  help: check the name and the "
                                     "folder\n");
  }
  SECTION("an imported file is missing") {
    folder.write("main.tile", "\nimport \"a.tile\"\nfn f( { }\n");
    Loaded loaded;
    loaded.load(folder / "main.tile", {folder / "search"});
    REQUIRE(loaded.program);
    // The rest of the file is checked all the same.
    REQUIRE(loaded.diags.getNumErrors() == 2);
    const Diagnostic &error = *loaded.diags.all()[1];
    LineColumn at = loaded.sources.getLineColumn(error.range.begin);
    REQUIRE(at.line == 2);
    REQUIRE(at.column == 8);
    REQUIRE(error.message == "cannot find the imported file 'a.tile'");
    REQUIRE(error.notes.size() == 1);
    REQUIRE(error.notes[0].message == "tried: " + (folder / "a.tile") + ", " +
                                          (folder / "search/a.tile"));
  }
  SECTION("the ending was left out") {
    folder.write("main.tile", "import \"a\"\n");
    Loaded loaded;
    loaded.load(folder / "main.tile");
    REQUIRE(loaded.diags.all()[0]->help == "did you mean 'a.tile'?");
  }
  SECTION("a folder is not a file") {
    folder.write("main.tile", "import \"sub\"\n");
    folder.write("sub/a.tile", "");
    Loaded loaded;
    loaded.load(folder / "main.tile");
    REQUIRE(loaded.diags.all()[0]->message ==
            "cannot read '" + (folder / "sub") + "': it is a directory");
  }
  SECTION("an imported file has a mistake") {
    folder.write("main.tile", "import \"a.tile\"\n");
    folder.write("a.tile", "\n\nkernel 3\n");
    Loaded loaded;
    loaded.load(folder / "main.tile");
    REQUIRE(llvm::StringRef(loaded.messages())
                .starts_with((folder / "a.tile") +
                             ":3:8: error: expected the name of the kernel, "
                             "found '3'\n"));
  }
}

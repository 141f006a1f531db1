//===- DiagnosticsTest.cpp - Places, rendering, misspellings ----*- C++ -*-===//
//
// Where a byte is, what a message looks like in odd places (tabs, wide
// characters, long lines, the end of the file), and which misspellings are
// recognized.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/Diagnostics.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <catch2/catch.hpp>

using namespace tilec;

namespace {

/// The rendering of one error over [begin, end) of a text.
std::string render(std::string text, size_t begin, size_t end,
                   bool color = false) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  unsigned file = sources.addFile("t.tile", std::move(text));
  diags.error({sources.getLoc(file, begin), sources.getLoc(file, end)}, "bad");
  std::string out;
  llvm::raw_string_ostream os(out);
  diags.print(os, color);
  return out;
}

/// A file that exists for the time of a test.
struct TemporaryFile {
  llvm::SmallString<64> path;
  explicit TemporaryFile(llvm::StringRef text) {
    int fd = -1;
    REQUIRE(!llvm::sys::fs::createTemporaryFile("tilec", "tile", fd, path));
    llvm::raw_fd_ostream(fd, /*shouldClose=*/true) << text;
  }
  ~TemporaryFile() { CHECK(!llvm::sys::fs::remove(path)); }
};

} // namespace

TEST_CASE("lines and columns", "[diagnostics]") {
  SourceManager sources;
  sources.addFile("empty", "");
  unsigned file = sources.addFile("a", "ab\n\ncde\r\nf");
  auto at = [&](size_t offset) {
    LineColumn place = sources.getLineColumn(sources.getLoc(file, offset));
    REQUIRE(place.file == "a");
    return std::make_pair(place.line, place.column);
  };
  REQUIRE(at(0) == std::make_pair(1u, 1u));
  REQUIRE(at(2) == std::make_pair(1u, 3u)); // The newline ends its line.
  REQUIRE(at(3) == std::make_pair(2u, 1u));
  REQUIRE(at(4) == std::make_pair(3u, 1u));
  REQUIRE(at(9) == std::make_pair(4u, 1u));
  REQUIRE(at(10) == std::make_pair(4u, 2u)); // The end of the file.
  REQUIRE(sources.getLine(sources.getLoc(file, 2)) == "ab");
  REQUIRE(sources.getLine(sources.getLoc(file, 3)) == "");
  REQUIRE(sources.getLine(sources.getLoc(file, 6)) == "cde");
  REQUIRE(sources.getLine(sources.getLoc(file, 10)) == "f");

  // The end of one file is not the beginning of the next.
  SourceLoc end = sources.getLoc(0, 0);
  REQUIRE(sources.getLineColumn(end).file == "empty");
  REQUIRE(!(end == sources.getLoc(file, 0)));

  REQUIRE(!sources.getLineColumn(SourceLoc()).isValid());
  REQUIRE(!sources.getLineColumn(SourceLoc(1000)).isValid());
  REQUIRE(sources.getText(SourceRange(sources.getLoc(file, 4),
                                      sources.getLoc(file, 7))) == "cde");
  REQUIRE(sources.getText(SourceRange()) == "");
}

TEST_CASE("a message shows its line with the range underlined",
          "[diagnostics]") {
  REQUIRE(render("x = foo(y)\nz", 4, 7) == "t.tile:1:5: error: bad\n"
                                           "x = foo(y)\n"
                                           "    ^~~\n");
  SECTION("an empty range is a caret") {
    REQUIRE(render("abc", 1, 1) == "t.tile:1:2: error: bad\nabc\n ^\n");
  }
  SECTION("the end of a line and of the file") {
    REQUIRE(render("abc\nd", 3, 3) == "t.tile:1:4: error: bad\nabc\n   ^\n");
    REQUIRE(render("abc", 3, 3) == "t.tile:1:4: error: bad\nabc\n   ^\n");
    REQUIRE(render("abc\n", 4, 4) == "t.tile:2:1: error: bad\n");
    REQUIRE(render("", 0, 0) == "t.tile:1:1: error: bad\n");
  }
  SECTION("a range over several lines is marked in its first") {
    REQUIRE(render("ab cd\nef", 3, 8) ==
            "t.tile:1:4: error: bad\nab cd\n   ^~\n");
  }
  SECTION("Windows line ends") {
    REQUIRE(render("ab\r\ncd\r\n", 4, 6) == "t.tile:2:1: error: bad\ncd\n^~\n");
  }
}

TEST_CASE("the caret stands under what it points at", "[diagnostics]") {
  SECTION("tabs") {
    REQUIRE(render("\ta\tb", 3, 4) == "t.tile:1:4: error: bad\n"
                                      "    a   b\n"
                                      "        ^\n");
  }
  SECTION("characters of several bytes") {
    REQUIRE(render("é = b", 5, 6) == "t.tile:1:6: error: bad\n"
                                     "é = b\n"
                                     "    ^\n");
  }
  SECTION("wide characters take two columns") {
    REQUIRE(render("名 x", 4, 5) == "t.tile:1:5: error: bad\n名 x\n   ^\n");
    REQUIRE(render("名 x", 0, 3) == "t.tile:1:1: error: bad\n名 x\n^~\n");
  }
  SECTION("invisible characters are shown by their code") {
    REQUIRE(render("a\x1B[1mb", 1, 2) == "t.tile:1:2: error: bad\n"
                                         "a<1B>[1mb\n"
                                         " ^~~~\n");
    REQUIRE(render("a\u202Eb\u202C", 4, 5) == "t.tile:1:5: error: bad\n"
                                              "a<U+202E>b<U+202C>\n"
                                              "         ^\n");
    REQUIRE(render("a\xFFz", 1, 2) == "t.tile:1:2: error: bad\n"
                                      "a<FF>z\n"
                                      " ^~~~\n");
    REQUIRE(render(std::string("a\0b", 3), 2, 3) ==
            "t.tile:1:3: error: bad\na<00>b\n     ^\n");
  }
  SECTION("a location within a character") {
    REQUIRE(render("aé b", 2, 3) == "t.tile:1:3: error: bad\naé b\n  ^\n");
  }
}

TEST_CASE("long lines are clipped", "[diagnostics]") {
  const size_t size = 1 << 20;
  for (size_t begin : {size_t(0), size_t(50), size_t(100), size_t(1000),
                       size / 2, size - 130, size - 10, size}) {
    std::string text(size, 'a');
    for (size_t i = begin; i < std::min(begin + 5, size); ++i)
      text[i] = 'X';
    std::string out = render(text, begin, std::min(begin + 5, size));
    INFO(out);
    REQUIRE(out.size() < 400);
    // The marks are under the Xs.
    auto [message, rest] = llvm::StringRef(out).split('\n');
    auto [line, marks] = rest.rtrim('\n').split('\n');
    if (begin == size) {
      REQUIRE(marks.find('^') == line.size());
    } else {
      size_t shown = std::min<size_t>(5, size - begin);
      REQUIRE(marks.find('^') == line.find('X'));
      REQUIRE(line.count('X') == shown);
      REQUIRE(marks.size() == line.find('X') + shown);
    }
    REQUIRE(line.starts_with("...") == (begin > 90));
    REQUIRE(line.ends_with("...") == (begin < size - 100));
  }
  SECTION("not within a character") {
    std::string wide;
    for (int i = 0; i < 1000; ++i)
      wide += "é";
    std::string out = render(wide, 1000, 1002);
    REQUIRE(!llvm::StringRef(out).contains('<'));
    REQUIRE(llvm::json::isUTF8(out));
  }
}

TEST_CASE("notes, help and color", "[diagnostics]") {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  unsigned file = sources.addFile("t.tile", "abc\ndef\n");
  SourceRange abc(sources.getLoc(file, 0), sources.getLoc(file, 3));
  SourceRange def(sources.getLoc(file, 4), sources.getLoc(file, 7));
  diags.warning(abc, "first").note(def, "here").note("found: axes [m, n]");
  diags.error({}, "second\nline").remedy("do this\nor that");
  diags.remark(def, "third");
  std::string out;
  llvm::raw_string_ostream os(out);
  diags.print(os);
  REQUIRE(out == "t.tile:1:1: warning: first\n"
                 "abc\n"
                 "^~~\n"
                 "t.tile:2:1: note: here\n"
                 "def\n"
                 "^~~\n"
                 "  found: axes [m, n]\n"
                 "error: second\n"
                 "  line\n"
                 "  help: do this\n"
                 "        or that\n"
                 "t.tile:2:1: remark: third\n"
                 "def\n"
                 "^~~\n");
  REQUIRE(diags.getNumErrors() == 1);

  std::string colored = render("abc", 0, 1, /*color=*/true);
  REQUIRE(colored.find("\033[") != std::string::npos);
  // Without the escapes it is the same text.
  std::string plain;
  for (size_t i = 0; i < colored.size(); ++i) {
    if (colored[i] == '\033')
      i = colored.find('m', i);
    else
      plain += colored[i];
  }
  REQUIRE(plain == render("abc", 0, 1));

  diags.clear();
  REQUIRE(!diags.hasErrors());
  REQUIRE(diags.all().empty());
}

TEST_CASE("messages as JSON", "[diagnostics]") {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  unsigned file = sources.addFile("a\xFF.tile", "abc\ndef\n");
  diags
      .error({sources.getLoc(file, 1), sources.getLoc(file, 6)},
             "quote \" and \xFF")
      .note("only text")
      .remedy("fix it");
  diags.remark({}, "nowhere");
  std::string out;
  llvm::raw_string_ostream os(out);
  diags.printJson(os);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(out);
  REQUIRE(bool(value));
  auto *list = value->getAsArray();
  REQUIRE(list);
  REQUIRE(list->size() == 2);
  auto &first = *(*list)[0].getAsObject();
  REQUIRE(first.getString("severity") == llvm::StringRef("error"));
  REQUIRE(first.getInteger("line") == 1);
  REQUIRE(first.getInteger("column") == 2);
  REQUIRE(first.getInteger("endLine") == 2);
  REQUIRE(first.getInteger("endColumn") == 3);
  REQUIRE(first.getString("message")->starts_with("quote \" and "));
  REQUIRE(first.getString("help") == llvm::StringRef("fix it"));
  REQUIRE(first.getArray("notes")->size() == 1);
  auto &second = *(*list)[1].getAsObject();
  REQUIRE(second.getString("severity") == llvm::StringRef("remark"));
  REQUIRE(!second.get("line"));

  diags.clear();
  out.clear();
  diags.printJson(os);
  REQUIRE(out == "[]\n");
}

TEST_CASE("opening files", "[diagnostics]") {
  SourceManager sources;
  auto failure = [&](llvm::StringRef path) {
    llvm::Expected<unsigned> file = sources.openFile(path);
    REQUIRE(!file);
    return llvm::toString(file.takeError());
  };
  TemporaryFile good("kernel k() { }\n");
  llvm::Expected<unsigned> file = sources.openFile(good.path);
  REQUIRE(bool(file));
  REQUIRE(sources.getText(*file) == "kernel k() { }\n");
  REQUIRE(sources.getName(*file) == good.path);

  std::string missing = (good.path + ".missing").str();
  REQUIRE(failure(missing) == "cannot read '" + missing + "': no such file");
  std::string folder = llvm::sys::path::parent_path(good.path).str();
  REQUIRE(failure(folder) == "cannot read '" + folder + "': it is a directory");
  TemporaryFile latin1("x\ny\xE9z\n");
  REQUIRE(failure(latin1.path) ==
          "cannot read '" + latin1.path.str().str() +
              "': it is not UTF-8 text (byte 0xE9 in line 2)");
  // Endless, but not read for ever.
  if (llvm::sys::fs::exists("/dev/zero"))
    REQUIRE(failure("/dev/zero") ==
            "cannot read '/dev/zero': it is larger than 64 MiB");
}

TEST_CASE("misspelled names", "[diagnostics]") {
  auto nearest = [](llvm::StringRef name,
                    std::initializer_list<llvm::StringRef> candidates) {
    return nearestName(name, candidates).str();
  };
  REQUIRE(nearest("stages", {"warps", "stages"}) == "stages");
  REQUIRE(nearest("stage", {"warps", "stages"}) == "stages");
  REQUIRE(nearest("stagse", {"warps", "stages"}) == "stages");
  REQUIRE(nearest("consumer", {"consumers", "producers"}) == "consumers");
  REQUIRE(nearest("BF16", {"f16", "bf16"}) == "bf16");
  REQUIRE(nearest("f3", {"f64", "f32"}) == "f32");
  REQUIRE(nearest("softmx", {"sum", "softmax"}) == "softmax");
  // The nearest, not the first near enough.
  REQUIRE(nearest("logsumexpo", {"logsumex", "logsumexp"}) == "logsumexp");
  // The first of equally near ones.
  REQUIRE(nearest("fat", {"cat", "bat"}) == "cat");
  // Too different.
  REQUIRE(nearest("x", {"y", "z"}).empty());
  REQUIRE(nearest("x", {"X"}) == "X");
  REQUIRE(nearest("abc", {"xyz"}).empty());
  REQUIRE(nearest("", {"a"}).empty());
  REQUIRE(nearest("abc", {""}).empty());
  REQUIRE(nearest("abc", {}).empty());
  REQUIRE(nearest(std::string(100, 'a'), {"aaaa"}).empty());
}

//===- LexerTest.cpp - Tokens, numbers, strings, foreign text ---*- C++ -*-===//
//
// What the lexer makes of each kind of text, and what it says about text that
// is no token.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lexer.h"
#include <catch2/catch.hpp>
#include <vector>

using namespace tilec;

namespace {

struct Lexed {
  SourceManager sources;
  DiagnosticEngine diags{sources};
  std::vector<Token> tokens; // Without the end of the file.

  explicit Lexed(std::string text) {
    unsigned file = sources.addFile("test.tile", std::move(text));
    Lexer lexer(sources, file, diags);
    for (Token token = lexer.next(); token.isNot(TokenKind::EndOfFile);
         token = lexer.next())
      tokens.push_back(token);
  }

  std::vector<TokenKind> kinds() const {
    std::vector<TokenKind> list;
    for (const Token &token : tokens)
      list.push_back(token.kind);
    return list;
  }

  /// "line:column: message | help" of the only error.
  std::string error() const {
    if (diags.all().size() != 1)
      return std::to_string(diags.all().size()) + " errors";
    const Diagnostic &only = *diags.all()[0];
    LineColumn at = sources.getLineColumn(only.range.begin);
    return std::to_string(at.line) + ":" + std::to_string(at.column) + ": " +
           only.message + " | " + only.help;
  }
};

} // namespace

TEST_CASE("every fixed token is recognized by its spelling", "[lexer]") {
  for (unsigned i = 0; i <= unsigned(TokenKind::KwFull); ++i) {
    auto kind = static_cast<TokenKind>(i);
    std::string text = spelling(kind).str();
    if (text.empty())
      continue;
    INFO(text);
    Lexed alone(text);
    REQUIRE(alone.kinds() == std::vector<TokenKind>{kind});
    REQUIRE(alone.tokens[0].text == text);
    REQUIRE(isKeyword(kind) == (text[0] >= 'a' && text[0] <= 'z'));
  }
}

TEST_CASE("the longest token wins", "[lexer]") {
  using K = TokenKind;
  REQUIRE(Lexed("a<=b").kinds() ==
          std::vector<K>{K::Identifier, K::LessEqual, K::Identifier});
  REQUIRE(Lexed("a->b").kinds() ==
          std::vector<K>{K::Identifier, K::Arrow, K::Identifier});
  REQUIRE(Lexed("===").kinds() == std::vector<K>{K::EqualEqual, K::Equal});
  REQUIRE(Lexed("|||").kinds() == std::vector<K>{K::PipePipe, K::Pipe});
  REQUIRE(Lexed("<-1").kinds() ==
          std::vector<K>{K::Less, K::Minus, K::Integer});
}

TEST_CASE("words", "[lexer]") {
  using K = TokenKind;
  REQUIRE(Lexed("for form For _for f32 f33 int dtype bool").kinds() ==
          std::vector<K>{K::KwFor, K::Identifier, K::Identifier, K::Identifier,
                         K::DTypeName, K::Identifier, K::Identifier,
                         K::Identifier, K::DTypeName});
}

TEST_CASE("numbers", "[lexer]") {
  auto check = [](std::string text, TokenKind kind) {
    INFO(text);
    Lexed lexed(text);
    REQUIRE(lexed.kinds() == std::vector<TokenKind>{kind});
    REQUIRE(lexed.tokens[0].text == text);
    REQUIRE(lexed.diags.all().empty());
  };
  for (std::string text : {"0", "123", "1_000", "0x1F", "0XaB_c", "007"})
    check(text, TokenKind::Integer);
  for (std::string text :
       {"1.5", "2.", "1e5", "1e-6", "1.5E+3", "1_0.2_5", "2.e3"})
    check(text, TokenKind::Float);
  // A point belongs to the number only if no second one follows.
  using K = TokenKind;
  REQUIRE(Lexed("0..8").kinds() ==
          std::vector<K>{K::Integer, K::Unknown, K::Integer});
}

TEST_CASE("malformed numbers", "[lexer]") {
  REQUIRE(Lexed("12abc").error() == "1:1: invalid end 'abc' of a number | a "
                                    "name cannot begin with a digit");
  REQUIRE(Lexed("2.5f").error() ==
          "1:1: invalid end 'f' of a number | a literal takes the type it is "
          "used with; write '2.5'");
  REQUIRE(Lexed("1_").error() == "1:1: invalid end '_' of a number | an "
                                 "underscore stands between two digits");
  REQUIRE(Lexed("1e").error() == "1:1: invalid end 'e' of a number | an "
                                 "exponent needs digits, such as '1e-6'");
  REQUIRE(Lexed("0x").error() == "1:1: expected digits after '0x' | ");
  REQUIRE(Lexed("0x1G").error() ==
          "1:1: invalid digit 'G' in a hexadecimal number | ");
  REQUIRE(Lexed(std::string(1025, '1')).error() ==
          "1:1: number with 1025 characters; at most 1024 are allowed | ");
  REQUIRE(Lexed(std::string(1024, '1')).diags.all().empty());
}

TEST_CASE("strings and their escapes", "[lexer]") {
  Lexed lexed(R"("a\n\t\r\"\\é" "")");
  REQUIRE(lexed.diags.all().empty());
  REQUIRE(lexed.tokens.size() == 2);
  REQUIRE(unescapeString(lexed.tokens[0].text) == "a\n\t\r\"\\é");
  REQUIRE(unescapeString(lexed.tokens[1].text).empty());

  REQUIRE(Lexed("x = \"abc\ny").error() ==
          "1:5: unterminated string | close it with '\"' on the same line");
  REQUIRE(Lexed("\"abc\\\"").error() ==
          "1:1: unterminated string | close it with '\"' on the same line");
  REQUIRE(Lexed("\"\\").error() ==
          "1:1: unterminated string | close it with '\"' on the same line");
  REQUIRE(Lexed(R"("a\q")").error() ==
          R"(1:3: unknown escape '\q' in a string | )"
          R"(the escapes are \n \r \t \" \\)");
  REQUIRE(Lexed(R"("a\é")").error() ==
          R"(1:3: unknown escape '\é' in a string | )"
          R"(the escapes are \n \r \t \" \\)");
  REQUIRE(Lexed("\"a\x01\"").error() == "1:3: control character in a string | "
                                        "write an escape such as \\n");
  REQUIRE(Lexed("\"\xFF\xFF\xFF\"").error() ==
          "1:2: this byte is not UTF-8 text | save the file as UTF-8");
}

TEST_CASE("comments and the beginnings of lines", "[lexer]") {
  Lexed lexed("a // b\n  // c\r\n\td e // no newline at the end");
  REQUIRE(lexed.tokens.size() == 3);
  REQUIRE(lexed.tokens[0].startsLine);
  REQUIRE(lexed.tokens[1].text == "d");
  REQUIRE(lexed.tokens[1].startsLine);
  REQUIRE(!lexed.tokens[2].startsLine);

  Lexed block("a /* b\n */ c");
  REQUIRE(block.error() ==
          "1:3: comments between '/*' and '*/' are not part of the language | "
          "begin each line of a comment with '//'");
  REQUIRE(block.tokens.size() == 2);
  REQUIRE(block.tokens[1].startsLine);
  REQUIRE(Lexed("a /* b").error() ==
          "1:3: unterminated comment | a comment begins with '//' and ends "
          "with its line");
}

TEST_CASE("text that is not ASCII", "[lexer]") {
  // Comments may hold anything; a byte order mark is nothing.
  REQUIRE(Lexed("\xEF\xBB\xBF// naïve → ∞\n").diags.all().empty());
  REQUIRE(Lexed("\xEF\xBB\xBFx").tokens[0].startsLine);

  REQUIRE(Lexed("a ≥ b").error() ==
          "1:3: unexpected character '≥' | write '>='");
  REQUIRE(Lexed("a − b").error() ==
          "1:3: unexpected character '−' | write '-'");
  REQUIRE(Lexed("a\u00A0b").error() ==
          "1:2: unexpected character '\u00A0' | replace this no-break space by "
          "a plain one");
  REQUIRE(Lexed("a\u200Bb").error() ==
          "1:2: unexpected character '\u200B' | remove this invisible "
          "character");
  // A misspelled name is one token, wherever the foreign letter stands.
  for (std::string name : {"größe", "αx", "x_β", "名前"}) {
    Lexed lexed(name + " = 1");
    REQUIRE(lexed.error() ==
            "1:1: unexpected character in '" + name +
                "' | a name is made of the letters A-Z and a-z, digits and "
                "'_'");
    REQUIRE(lexed.tokens.size() == 3);
    REQUIRE(lexed.tokens[0].is(TokenKind::Identifier));
  }
  // A word before an operator from another keyboard is just a word.
  REQUIRE(Lexed("for≥").kinds() == std::vector<TokenKind>{TokenKind::KwFor});
}

TEST_CASE("bytes that are no text", "[lexer]") {
  using namespace std::string_literals;
  REQUIRE(Lexed("a \0\0\x01 b"s).error() ==
          "1:3: unexpected control character 0x00 | remove it; a .tile file is "
          "plain text");
  REQUIRE(Lexed("a \xFF\xFE b").error() ==
          "1:3: these bytes are not UTF-8 text | save the file as UTF-8");
  REQUIRE(Lexed("a \x80 b").error() ==
          "1:3: this byte is not UTF-8 text | save the file as UTF-8");
  // The beginning of a character, cut off by the end of the file.
  REQUIRE(Lexed("a \xE2\x82").error() ==
          "1:3: these bytes are not UTF-8 text | save the file as UTF-8");
  // Tabs, form feeds and carriage returns are blanks.
  REQUIRE(Lexed("a\t\f\v\r\nb").kinds().size() == 2);
}

TEST_CASE("the lexer stops after too many errors", "[lexer]") {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "x \xFF ";
  Lexed lexed(text);
  REQUIRE(lexed.diags.getNumErrors() == 20);
  REQUIRE(lexed.tokens.size() == 20);
}

TEST_CASE("long texts are clipped in messages", "[lexer]") {
  REQUIRE(quoted("abc") == "'abc'");
  REQUIRE(quoted(std::string(1000, 'a')) ==
          "'" + std::string(40, 'a') + "...'");
  // Not within a character.
  std::string clipped = quoted(std::string(39, 'a') + "ééé");
  REQUIRE(clipped == "'" + std::string(39, 'a') + "...'");
}

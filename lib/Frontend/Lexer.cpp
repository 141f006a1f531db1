//===- Lexer.cpp - From text to tokens --------------------------*- C++ -*-===//
//
// Every path through the loop below either moves forward by at least one byte
// or returns the end of the file, which is why the lexer always terminates and
// takes linear time.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lexer.h"

#include "lib/Support/DType.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace tilec;
using llvm::StringRef;

/// Long enough for every digit of every double; longer ones would take the
/// conversion quadratic time.
static constexpr size_t maxNumberLength = 1024;

static bool isWordStart(char c) { return llvm::isAlpha(c) || c == '_'; }
static bool isWordPart(char c) { return llvm::isAlnum(c) || c == '_'; }
static bool isAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

/// Whether `text` begins with a well-formed character, and how long it is.
/// 0 for a byte that is not UTF-8.
static size_t characterLength(StringRef text) {
  auto *data = reinterpret_cast<const llvm::UTF8 *>(text.data());
  return llvm::getUTF8SequenceSize(data, data + text.size());
}

std::string tilec::quoted(StringRef text) {
  constexpr size_t limit = 40;
  if (text.size() <= limit)
    return ("'" + text + "'").str();
  size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  return ("'" + text.take_front(end) + "...'").str();
}

Lexer::Lexer(const SourceManager &sources, unsigned fileIndex,
             DiagnosticEngine &diags)
    : sources(sources), fileIndex(fileIndex), diags(diags),
      text(sources.getText(fileIndex)) {
  if (text.starts_with("\xEF\xBB\xBF")) // A byte order mark means nothing.
    at = 3;
}

SourceRange Lexer::range(size_t begin, size_t end) const {
  return {sources.getLoc(fileIndex, begin), sources.getLoc(fileIndex, end)};
}

Token Lexer::make(TokenKind kind, size_t begin) const {
  return {kind, startsLine, range(begin, at), text.slice(begin, at)};
}

Token Lexer::next() {
  for (;;) {
    skipTrivia();
    if (diags.tooManyErrors())
      at = text.size();
    if (at >= text.size()) {
      startsLine = true;
      return make(TokenKind::EndOfFile, at);
    }
    char c = text[at];
    Token token;
    if (isWordStart(c))
      token = lexWord();
    else if (llvm::isDigit(c))
      token = lexNumber();
    else if (c == '"')
      token = lexString();
    else if (c < ' ' || !isAscii(c) || c == 0x7F) {
      if (!lexForeign(token))
        continue;
    } else
      token = lexPunctuation();
    startsLine = false;
    return token;
  }
}

void Lexer::skipTrivia() {
  while (at < text.size()) {
    char c = text[at];
    if (c == '\n') {
      startsLine = true;
      ++at;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at;
    } else if (c == '/' && peek(1) == '/') {
      size_t end = std::min(text.find('\n', at), text.size());
      warnIfDivision(at, end);
      at = end;
    } else if (c == '/' && peek(1) == '*') {
      skipBlockComment();
    } else {
      return;
    }
  }
}

void Lexer::warnIfDivision(size_t begin, size_t end) {
  // Behind an operand, a comment of nothing but a number is no comment.
  StringRef line = text.take_front(begin).rtrim(" \t");
  if (startsLine || line.empty() ||
      !(isWordPart(line.back()) || line.ends_with(")") || line.ends_with("]")))
    return;
  StringRef comment = text.slice(begin + 2, end).trim();
  if (comment.empty() || !llvm::all_of(comment, llvm::isDigit))
    return;
  diags
      .warning(range(begin, end),
               "this is a comment: '//' is not the division of integers")
      .remedy("integers are divided by '/', which rounds down");
}

void Lexer::skipBlockComment() {
  size_t begin = at;
  size_t end = text.find("*/", at + 2);
  if (end == StringRef::npos) {
    diags.error(range(begin, begin + 2), "unterminated comment")
        .remedy("a comment begins with '//' and ends with its line");
    at = text.size();
    return;
  }
  diags
      .error(range(begin, begin + 2),
             "comments between '/*' and '*/' are not part of the language")
      .remedy("begin each line of a comment with '//'");
  at = end + 2;
  startsLine |= text.slice(begin, at).contains('\n');
}

Token Lexer::lexWord() {
  size_t begin = at;
  while (isWordPart(peek()))
    ++at;
  // A word that goes on in another script is one misspelled name, not two.
  if (at < text.size() && !isAscii(text[at])) {
    Token token;
    at = begin;
    lexForeign(token);
    return token;
  }
  return make(classifyWord(text.slice(begin, at)), begin);
}

Token Lexer::lexHexNumber() {
  size_t begin = at;
  at += 2;
  while (isWordPart(peek()))
    ++at;
  StringRef digits = text.slice(begin + 2, at);
  const char *bad = llvm::find_if_not(
      digits, [](char c) { return llvm::isHexDigit(c) || c == '_'; });
  if (bad != digits.end())
    diags.error(range(begin, at), "invalid digit " + quoted(StringRef(bad, 1)) +
                                      " in a hexadecimal number");
  else if (digits.empty() || digits.starts_with("_"))
    diags.error(range(begin, at), "expected digits after '0x'");
  return make(TokenKind::Integer, begin);
}

Token Lexer::lexNumber() {
  size_t begin = at;
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X'))
    return lexHexNumber();

  auto digits = [&] {
    while (llvm::isDigit(peek()) || (peek() == '_' && llvm::isDigit(peek(1))))
      ++at;
  };
  TokenKind kind = TokenKind::Integer;
  digits();
  // In `0..8` the first point belongs to the range someone meant.
  if (peek() == '.' && peek(1) != '.') {
    kind = TokenKind::Float;
    ++at;
    digits();
  }
  if (peek() == 'e' || peek() == 'E') {
    size_t sign = peek(1) == '+' || peek(1) == '-';
    if (llvm::isDigit(peek(1 + sign))) {
      kind = TokenKind::Float;
      at += 1 + sign;
      digits();
    }
  }
  size_t numberEnd = at;
  while (isWordPart(peek()))
    ++at;
  StringRef number = text.slice(begin, numberEnd);
  StringRef suffix = text.slice(numberEnd, at);
  if (number.size() > maxNumberLength) {
    diags.error(range(begin, at), "number with " + llvm::Twine(number.size()) +
                                      " characters; at most " +
                                      llvm::Twine(maxNumberLength) +
                                      " are allowed");
  } else if (!suffix.empty()) {
    Diagnostic &error = diags.error(
        range(begin, at), "invalid end " + quoted(suffix) + " of a number");
    std::optional<DType> dtype = parseDType(suffix.ltrim('_'));
    if (dtype)
      error.remedy("a literal takes the type it is used with; write '" +
                   number + "', or '" + dtypeName(*dtype) + "(" + number +
                   ")' to choose one");
    else if (suffix == "f" || suffix == "F")
      error.remedy("a literal takes the type it is used with; write '" +
                   number + "'");
    else if (suffix.trim('_').empty())
      error.remedy("an underscore stands between two digits");
    else if (suffix == "e" || suffix == "E")
      error.remedy("an exponent needs digits, such as '" + number + "e-6'");
    else
      error.remedy("a name cannot begin with a digit");
  }
  Token token = make(kind, begin);
  // What the parser reads is the number without its mistake.
  token.text = number.take_front(maxNumberLength);
  return token;
}

Token Lexer::lexString() {
  size_t begin = at++;
  for (; at < text.size() && text[at] != '\n' && text[at] != '"'; ++at) {
    char c = text[at];
    if (c == '\\' && at + 1 < text.size() && text[at + 1] != '\n') {
      if (!StringRef("nrt\"\\").contains(text[at + 1])) {
        size_t length =
            std::max<size_t>(1, characterLength(text.substr(at + 1)));
        diags
            .error(range(at, at + 1 + length),
                   "unknown escape " + quoted(text.substr(at, 1 + length)) +
                       " in a string")
            .remedy("the escapes are \\n \\r \\t \\\" \\\\");
      }
      if (isAscii(text[at + 1]))
        ++at;
    } else if (size_t length = characterLength(text.substr(at)); length == 0) {
      diags.error(range(at, at + 1), "this byte is not UTF-8 text")
          .remedy("save the file as UTF-8");
      // One report a string: binary garbage would give thousands.
      at = std::min(text.find_first_of("\"\n", at), text.size()) - 1;
    } else if ((c >= 0 && c < ' ' && c != '\t' && c != '\r') || c == 0x7F) {
      diags.error(range(at, at + 1), "control character in a string")
          .remedy("write an escape such as \\n");
    } else {
      at += length - 1;
    }
  }
  if (peek() == '"') {
    ++at;
  } else {
    diags.error(range(begin, begin + 1), "unterminated string")
        .remedy("close it with '\"' on the same line");
  }
  return make(TokenKind::String, begin);
}

std::string tilec::unescapeString(StringRef token) {
  StringRef body = token.drop_front();
  std::string value;
  for (size_t i = 0; i < body.size() && body[i] != '"'; ++i) {
    if (body[i] != '\\') {
      value += body[i];
      continue;
    }
    if (++i == body.size())
      break;
    switch (body[i]) {
    case 'n':
      value += '\n';
      break;
    case 'r':
      value += '\r';
      break;
    case 't':
      value += '\t';
      break;
    default:
      value += body[i];
    }
  }
  return value;
}

Token Lexer::lexPunctuation() {
  size_t begin = at;
  StringRef rest = text.substr(at);
  static constexpr TokenKind longOnes[] = {
      TokenKind::Arrow,     TokenKind::PlusEqual,   TokenKind::MinusEqual,
      TokenKind::StarEqual, TokenKind::SlashEqual,  TokenKind::PipePipe,
      TokenKind::AmpAmp,    TokenKind::EqualEqual,  TokenKind::BangEqual,
      TokenKind::LessEqual, TokenKind::GreaterEqual};
  for (TokenKind kind : longOnes)
    if (rest.starts_with(spelling(kind))) {
      at += 2;
      return make(kind, begin);
    }
  static constexpr TokenKind shortOnes[] = {
      TokenKind::LParen,   TokenKind::RParen,  TokenKind::LBracket,
      TokenKind::RBracket, TokenKind::LBrace,  TokenKind::RBrace,
      TokenKind::Comma,    TokenKind::Colon,   TokenKind::Equal,
      TokenKind::Less,     TokenKind::Greater, TokenKind::Plus,
      TokenKind::Minus,    TokenKind::Star,    TokenKind::Slash,
      TokenKind::Percent,  TokenKind::Bang,    TokenKind::Pipe};
  // `:=` is a habit the parser answers.
  bool walrus = rest.starts_with(":=");
  if (!walrus)
    for (TokenKind kind : shortOnes)
      if (rest.starts_with(spelling(kind))) {
        ++at;
        return make(kind, begin);
      }
  at += walrus || rest.starts_with("..") ? 2 : 1;
  return make(TokenKind::Unknown, begin);
}

namespace {
/// A character people paste or type for an ASCII one.
struct LookAlike {
  llvm::StringLiteral character;
  llvm::StringLiteral ascii;
};
} // namespace

static constexpr LookAlike lookAlikes[] = {
    {"\u2264", "<="}, {"\u2265", ">="}, {"\u2260", "!="},  {"\u00D7", "*"},
    {"\u22C5", "*"},  {"\u00F7", "/"},  {"\u2212", "-"},   {"\u2013", "-"},
    {"\u2014", "-"},  {"\u2192", "->"}, {"\u221E", "inf"}, {"\u2227", "&&"},
    {"\u2228", "||"}, {"\u00AC", "!"},  {"\u201C", "\""},  {"\u201D", "\""},
    {"\u2018", "\""}, {"\u2019", "\""}, {"\uFF08", "("},   {"\uFF09", ")"},
    {"\uFF0C", ","},  {"\uFF1A", ":"},  {"\uFF1D", "="},   {"\u00A0", " "},
    {"\u3000", " "},  {"\u200B", ""},   {"\uFEFF", ""},
};

bool Lexer::lexForeign(Token &token) {
  size_t begin = at;
  StringRef rest = text.substr(at);
  if (isAscii(rest[0]) && !isWordStart(rest[0])) {
    // NUL and its like, usually many of them: a binary file.
    while (at < text.size() && isAscii(text[at]) &&
           (text[at] < ' ' || text[at] == 0x7F) && text[at] != '\n')
      ++at;
    std::string code;
    llvm::raw_string_ostream(code)
        << llvm::format_hex(static_cast<unsigned char>(rest[0]), 4, true);
    diags.error(range(begin, at), "unexpected control character " + code)
        .remedy("remove it; a .tile file is plain text");
    return false;
  }
  if (characterLength(rest) == 0) {
    while (at < text.size() && characterLength(text.substr(at)) == 0)
      ++at;
    diags
        .error(range(begin, at), at - begin == 1
                                     ? "this byte is not UTF-8 text"
                                     : "these bytes are not UTF-8 text")
        .remedy("save the file as UTF-8");
    return false;
  }
  for (const LookAlike &entry : lookAlikes) {
    if (!rest.starts_with(entry.character))
      continue;
    at += entry.character.size();
    Diagnostic &error = diags.error(
        range(begin, at), "unexpected character " + quoted(entry.character));
    if (entry.ascii.empty())
      error.remedy("remove this invisible character");
    else if (entry.ascii == " ")
      error.remedy("replace this no-break space by a plain one");
    else
      error.remedy("write " + quoted(entry.ascii));
    return false;
  }
  // The rest of a name in another script, or of one with one letter of it.
  while (at < text.size()) {
    if (isWordPart(text[at])) {
      ++at;
      continue;
    }
    StringRef tail = text.substr(at);
    size_t length = characterLength(tail);
    bool known = llvm::any_of(lookAlikes, [&](const LookAlike &entry) {
      return tail.starts_with(entry.character);
    });
    if (isAscii(text[at]) || length == 0 || known)
      break;
    at += length;
  }
  StringRef word = text.slice(begin, at);
  bool foreign = llvm::any_of(word, [](char c) { return !isAscii(c); });
  if (foreign)
    diags.error(range(begin, at), "unexpected character in " + quoted(word))
        .remedy("a name is made of the letters A-Z and a-z, digits and '_'");
  token = make(foreign ? TokenKind::Identifier : classifyWord(word), begin);
  return true;
}

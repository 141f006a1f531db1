//===- Parser.cpp - Modules and variables of PTX --------------------------===//

#include "lib/Emulator/PTX/Parser.h"
#include "lib/Emulator/PTX/ParserState.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tilec::emulator::ptx {

using Kind = Token::Kind;

llvm::Expected<Module> parseModule(llvm::StringRef text, llvm::StringRef name) {
  return Parser(text, name).run();
}

Parser::Parser(llvm::StringRef text, llvm::StringRef name) : lexer(text) {
  module.name = name.str();
}

llvm::Expected<Module> Parser::run() {
  advance();
  while (!token.is(Kind::End) && parseModuleStatement()) {
  }
  if (error.empty() && !module.version)
    fail(token, "a module begins with .version, and this one has none");
  if (!error.empty())
    return llvm::createStringError(error);
  return std::move(module);
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// Text of the program in a message: short, on one line, printable.
static std::string quote(llvm::StringRef text) {
  std::string result;
  for (char c : text.take_front(40))
    result += llvm::isPrint(c) ? c : '?';
  return "'" + result + (text.size() > 40 ? "...'" : "'");
}

bool Parser::fail(const Token &at, const llvm::Twine &message) {
  if (!error.empty())
    return false;
  // What cannot be read is the reason, whatever was expected there.
  std::string text =
      at.is(Kind::Error) ? std::string(at.message) : message.str();
  error = (module.name + ":" + llvm::Twine(at.line) + ":" +
           llvm::Twine(at.column) + ": " + text)
              .str();
  return false;
}

bool Parser::unexpected(const llvm::Twine &expected) {
  std::string found = token.is(Kind::End)      ? "the end of the text"
                      : token.is(Kind::String) ? "a string"
                                               : quote(token.text);
  return fail(token, found + llvm::Twine(", expected ") + expected);
}

bool Parser::consume(llvm::StringRef what) {
  if (!token.is(what))
    return false;
  advance();
  return true;
}

bool Parser::expect(llvm::StringRef what, llvm::StringRef where) {
  return consume(what) || unexpected("'" + what + "' " + where);
}

bool Parser::parseIdentifier(llvm::StringRef &name, const char *what) {
  if (!token.is(Kind::Identifier))
    return unexpected(what);
  name = token.text;
  advance();
  return true;
}

bool Parser::parseUnsigned(uint64_t &value, uint64_t limit, const char *what) {
  Token at = token;
  Constant constant;
  if (!parseConstant(constant))
    return false;
  if (constant.type != Type::None || constant.bits > limit)
    return fail(at, llvm::Twine(what) + " must be a number from 0 to " +
                        llvm::Twine(limit));
  value = constant.bits;
  return true;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

std::optional<Space> Parser::spaceNamed(llvm::StringRef directive) {
  if (directive == ".global")
    return Space::Global;
  if (directive == ".const")
    return Space::Const;
  if (directive == ".shared")
    return Space::Shared;
  if (directive == ".local")
    return Space::Local;
  if (directive == ".param")
    return Space::Param;
  return std::nullopt;
}

bool Parser::parseModuleStatement() {
  if (consume(";"))
    return true;
  if (!token.is(Kind::Directive))
    return unexpected("a directive");
  if (consume(".version"))
    return parseVersion();
  if (consume(".target"))
    return parseTarget();
  if (consume(".address_size")) {
    Token at = token;
    uint64_t size = 0;
    if (!parseUnsigned(size, 64, "the size of addresses"))
      return false;
    return size == 64 || fail(at, "only addresses of 64 bits are supported");
  }
  if (consume(".file"))
    return parseFile();
  if (consume(".loc"))
    return parseLocation();
  if (consume(".section"))
    return skipSection();
  if (consume(".pragma") || consume(".alias"))
    return skipToSemicolon();

  Linkage linkage;
  for (;; advance()) {
    if (token.is(".extern"))
      linkage.isExtern = true;
    else if (token.is(".weak") || token.is(".common"))
      linkage.isWeak = true;
    else if (!token.is(".visible"))
      break;
  }
  if (consume(".entry"))
    return parseFunction(/*isEntry=*/true, linkage);
  if (consume(".func"))
    return parseFunction(/*isEntry=*/false, linkage);
  std::optional<Space> space =
      token.is(Kind::Directive) ? spaceNamed(token.text) : std::nullopt;
  if (!space)
    return unexpected("a variable, a function or another directive");
  if (*space == Space::Local || *space == Space::Param)
    return fail(token, "only functions have variables in " + token.text);
  advance();
  return parseVariables(*space, linkage);
}

bool Parser::parseVersion() {
  llvm::StringRef major, minor;
  std::tie(major, minor) = token.text.split('.');
  unsigned first = 0, second = 0;
  if (!token.is(Kind::Float64) || major.getAsInteger(10, first) ||
      minor.getAsInteger(10, second) || first > 99 || second > 9)
    return unexpected("a version such as 9.0");
  module.version = first * 10 + second;
  advance();
  return true;
}

bool Parser::parseTarget() {
  bool isFirst = true;
  do {
    llvm::StringRef name;
    if (!parseIdentifier(name, "the name of a target"))
      return false;
    if (isFirst)
      module.target = name.str();
    isFirst = false;
  } while (consume(","));
  return true;
}

bool Parser::parseFile() {
  uint64_t index = 0;
  if (!parseUnsigned(index, Limits::files - 1, "the number of a file"))
    return false;
  if (!token.is(Kind::String))
    return unexpected("the name of a file");
  if (module.files.size() <= index)
    module.files.resize(index + 1);
  module.files[index] = token.text.str();
  advance();
  // A time and a size, which say nothing here.
  while (consume(",")) {
    uint64_t value = 0;
    if (!parseUnsigned(value, ~uint64_t(0), "a part of .file"))
      return false;
  }
  return true;
}

bool Parser::parsePlacePart(unsigned &value) {
  uint64_t number = 0;
  if (!parseUnsigned(number, UINT32_MAX, "a part of .loc"))
    return false;
  value = number;
  return true;
}

bool Parser::parseLocation() {
  if (!parsePlacePart(location.file) || !parsePlacePart(location.line) ||
      !parsePlacePart(location.column))
    return false;
  // `, function_name $L__info_string0+8, inlined_at 1 20 3`: what was inlined
  // where. Where that line was inlined in turn, a .loc before has said.
  Place place = {location.file, location.line, location.column};
  Place outer = place;
  while (consume(",")) {
    llvm::StringRef name;
    if (!parseIdentifier(name, "function_name or inlined_at"))
      return false;
    if (name == "function_name") {
      uint64_t offset = 0;
      if (!parseIdentifier(name, "a label") || !parseOffset(offset))
        return false;
    } else if (name == "inlined_at") {
      for (unsigned &part : outer)
        if (!parsePlacePart(part))
          return false;
    } else {
      return fail(token, "'" + name + "' is not known in .loc");
    }
  }
  auto known = outerPlaces.find(outer);
  if (outer != place && known != outerPlaces.end())
    outer = known->second;
  outerPlaces[place] = outer;
  location.outerFile = outer[0];
  location.outerLine = outer[1];
  return true;
}

bool Parser::skipSection() {
  while (!token.is("{")) {
    if (token.is(Kind::End) || token.is(Kind::Error) || token.is("}"))
      return unexpected("'{' of a section");
    advance();
  }
  unsigned depth = 0;
  do {
    if (token.is(Kind::End) || token.is(Kind::Error))
      return unexpected("'}' at the end of a section");
    depth += token.is("{");
    depth -= token.is("}");
    advance();
  } while (depth);
  return true;
}

bool Parser::skipToSemicolon() {
  while (!token.is(";")) {
    if (token.is(Kind::End) || token.is(Kind::Error) || token.is("}"))
      return unexpected("';'");
    advance();
  }
  advance();
  return true;
}

bool Parser::skipAttribute() {
  if (!expect("(", "after .attribute"))
    return false;
  for (unsigned depth = 1; depth; advance()) {
    if (token.is(Kind::End) || token.is(Kind::Error) || token.is(";"))
      return unexpected("')' after an attribute");
    depth += token.is("(");
    depth -= token.is(")");
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

bool Parser::parseVariableHead(VariableHead &head, bool isParameter) {
  while (token.is(Kind::Directive)) {
    Token at = token;
    advance();
    if (at.text == ".align") {
      Token where = token;
      uint64_t alignment = 0;
      if (!parseUnsigned(alignment, Limits::alignment, "an alignment"))
        return false;
      if (!llvm::isPowerOf2_64(alignment))
        return fail(where, "an alignment must be a power of two");
      // `.ptr .global .align 4` is of what the parameter points at.
      if (head.type == Type::None)
        head.alignment = alignment;
    } else if (at.text == ".attribute") {
      if (!skipAttribute())
        return false;
    } else if (at.text == ".v2" || at.text == ".v4" || at.text == ".v8") {
      head.elements = at.text[2] - '0';
    } else if (isParameter && head.type != Type::None &&
               (at.text == ".ptr" || spaceNamed(at.text))) {
      // What it points at: `.ptr .global`.
    } else {
      Type type = typeNamed(at.text.drop_front());
      bool isOfVariables = type != Type::None && type != Type::Pred &&
                           bitsOf(type) >= 8 && type != Type::TF32;
      if (!isOfVariables)
        return fail(at, "'" + at.text + "' is not the type of a variable");
      head.type = type;
    }
  }
  if (head.type == Type::None)
    return unexpected("the type of a variable");
  if (!head.alignment)
    head.alignment = bytesOf(head.type) * head.elements;
  return true;
}

bool Parser::parseDeclarator(const VariableHead &head, Variable &variable,
                             std::vector<uint64_t> &extents) {
  Token at = token;
  llvm::StringRef name;
  if (!parseIdentifier(name, "the name of a variable"))
    return false;
  variable.name = name.str();
  variable.type = head.type;
  variable.alignment = head.alignment;
  variable.ptxLine = at.line;
  while (consume("[")) {
    uint64_t extent = 0;
    bool isOpen = token.is("]");
    if (isOpen && !extents.empty())
      return unexpected("the size of an array");
    if (!isOpen &&
        !parseUnsigned(extent, Limits::variableBytes, "the size of an array"))
      return false;
    if (!extent && !extents.empty())
      return fail(at, "an array of nothing");
    extents.push_back(extent);
    if (extents.size() > 8)
      return fail(at, "an array of more than 8 dimensions");
    if (!expect("]", "after the size of an array"))
      return false;
  }
  variable.bytes = uint64_t(bytesOf(head.type)) * head.elements;
  for (uint64_t extent : extents) {
    variable.bytes *= extent; // Below 2^60: one more than the limit each time.
    if (variable.bytes > Limits::variableBytes)
      return fail(at, "a variable of more than 1 GiB");
  }
  return true;
}

bool Parser::parseVariables(Space space, Linkage linkage) {
  VariableHead head;
  if (!parseVariableHead(head, /*isParameter=*/false))
    return false;
  do {
    Token at = token;
    Variable variable;
    variable.space = space;
    variable.isExtern = linkage.isExtern;
    std::vector<uint64_t> extents;
    if (!parseDeclarator(head, variable, extents))
      return false;
    if (consume("=") && !parseInitializer(head, variable, extents))
      return false;
    bool isDynamic = linkage.isExtern && space == Space::Shared;
    if (!variable.bytes && !extents.empty() && !extents.front() && !isDynamic &&
        !linkage.isExtern)
      return fail(at, "an array without a size");
    bool isOfModule = space == Space::Global || space == Space::Const ||
                      !function || isDynamic;
    if (isOfModule) {
      if (!declareGlobal(std::move(variable), at))
        return false;
    } else {
      Symbol symbol{Operand::Kind::Variable, false,
                    unsigned(function->variables.size())};
      function->variables.push_back(std::move(variable));
      if (!declare(at, symbol))
        return false;
    }
  } while (consume(","));
  return expect(";", "after a variable");
}

bool Parser::declareGlobal(Variable variable, const Token &at) {
  unsigned index = module.variables.size();
  if (function) {
    // A name of the function's, for what lives as long as the module.
    module.variables.push_back(std::move(variable));
    return declare(at, {Operand::Kind::Variable, true, index});
  }
  if (module.functionIndex.contains(at.text))
    return fail(at, "'" + at.text + "' is a function already");
  auto [place, isNew] = variableIndex.try_emplace(at.text, index);
  if (isNew) {
    module.variables.push_back(std::move(variable));
    return true;
  }
  Variable &known = module.variables[place->second];
  if (known.space != variable.space)
    return fail(at, "'" + at.text + "' is declared in another space already");
  if (variable.isExtern)
    return true;
  if (!known.isExtern)
    return fail(at, "'" + at.text + "' is declared twice");
  known = std::move(variable);
  return true;
}

} // namespace tilec::emulator::ptx

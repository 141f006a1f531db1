//===- ParserFunction.cpp - Functions and statements of PTX ---------------===//

#include "lib/Emulator/PTX/ParserState.h"
#include "llvm/ADT/StringExtras.h"

namespace tilec::emulator::ptx {

using Kind = Token::Kind;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool Parser::parseParameters(std::vector<Variable> &list) {
  if (!consume("("))
    return true;
  if (consume(")"))
    return true;
  do {
    if (token.is(".reg"))
      return fail(token, "parameters in registers are not supported");
    if (!expect(".param", "before a parameter"))
      return false;
    VariableHead head;
    Variable variable;
    variable.space = Space::Param;
    std::vector<uint64_t> extents;
    Token at = token;
    if (!parseVariableHead(head, /*isParameter=*/true))
      return false;
    // `_` in prototypes has no name to be called by.
    at = token;
    if (!parseDeclarator(head, variable, extents))
      return false;
    Operand::Kind kind = &list == &function->params ? Operand::Kind::Parameter
                                                    : Operand::Kind::Result;
    if (at.text != "_" && !declare(at, {kind, false, unsigned(list.size())}))
      return false;
    list.push_back(std::move(variable));
  } while (consume(","));
  return expect(")", "after the parameters");
}

bool Parser::parseDimensions(std::array<unsigned, 3> &values) {
  values = {1, 1, 1};
  for (unsigned i = 0; i != 3; ++i) {
    uint64_t value = 0;
    if (!parseUnsigned(value, INT32_MAX, "a number of threads or blocks"))
      return false;
    values[i] = value;
    if (i == 2 || !consume(","))
      break;
  }
  return true;
}

bool Parser::parseFunctionDirectives() {
  std::array<unsigned, 3> ignored = {};
  while (token.is(Kind::Directive)) {
    Token at = token;
    advance();
    llvm::StringRef name = at.text;
    bool isRead = true;
    if (name == ".maxntid") {
      isRead = parseDimensions(function->maxThreads);
    } else if (name == ".reqntid") {
      isRead = parseDimensions(function->requiredThreads);
    } else if (name == ".reqnctapercluster") {
      isRead = parseDimensions(function->requiredCluster);
    } else if (name == ".minnctapersm" || name == ".maxnreg") {
      uint64_t value = 0;
      isRead = parseUnsigned(value, UINT32_MAX, "a limit of a function");
      (name == ".maxnreg" ? function->maxRegisters : function->minBlocks) =
          value;
    } else if (name == ".maxnctapersm" || name == ".maxclusterrank") {
      isRead = parseDimensions(ignored);
    } else if (name == ".pragma") {
      isRead = skipToSemicolon();
    } else if (name == ".attribute") {
      isRead = skipAttribute();
    } else if (name == ".abi_preserve" || name == ".abi_preserve_control") {
      uint64_t value = 0;
      isRead = parseUnsigned(value, UINT32_MAX, "a number of registers");
    } else if (name != ".explicitcluster" && name != ".noreturn" &&
               name != ".blocksareclusters" && name != ".unified") {
      return fail(at, "'" + name + "' is not a directive of functions");
    }
    if (!isRead)
      return false;
  }
  return true;
}

bool Parser::parseFunction(bool isEntry, Linkage linkage) {
  Function made;
  made.isEntry = isEntry;
  function = &made;
  location = {};
  outerPlaces.clear();
  scopes.clear();
  scopes.emplace_back();
  while (consume(".attribute"))
    if (!skipAttribute())
      return false;
  if (!isEntry && !parseParameters(made.results))
    return false;
  Token at = token;
  llvm::StringRef name;
  if (!parseIdentifier(name, "the name of a function"))
    return false;
  made.name = name.str();
  made.ptxLine = at.line;
  if (!parseParameters(made.params) || !parseFunctionDirectives())
    return false;

  if (variableIndex.contains(name))
    return fail(at, "'" + name + "' is a variable already");
  // Known before its body, which may name it.
  auto [place, isNew] =
      module.functionIndex.try_emplace(name, module.functions.size());
  unsigned index = place->second;
  if (isNew) {
    Function declared;
    declared.name = made.name;
    declared.isEntry = isEntry;
    declared.hasBody = false;
    declared.ptxLine = made.ptxLine;
    module.functions.push_back(std::move(declared));
  } else if (module.functions[index].isEntry != isEntry) {
    return fail(at, "'" + name + "' is declared as something else already");
  }
  bool wasDefined = module.functions[index].hasBody;
  if (consume(";")) {
    made.hasBody = false;
  } else {
    if (wasDefined && !linkage.isWeak)
      return fail(at, "'" + name + "' is defined twice");
    if (!parseBody())
      return false;
  }
  // After a definition, neither a declaration nor a weak one says anything.
  if (!wasDefined)
    module.functions[index] = std::move(made);
  function = nullptr;
  scopes.clear();
  return true;
}

/// Whether nothing ever goes on to the instruction after it.
static bool isEnd(const Instruction &instruction) {
  return !instruction.guard &&
         (instruction.opcode() == "ret" || instruction.opcode() == "exit");
}

void Parser::addFinalReturn(unsigned line) {
  std::vector<Instruction> &list = function->instructions;
  bool isNamed = !function->labels.empty() &&
                 function->labels.back().second == list.size();
  if (!list.empty() && isEnd(list.back()) && !isNamed)
    return;
  Instruction instruction;
  instruction.pieces.push_back("ret");
  instruction.location = location;
  instruction.location.ptxLine = line;
  list.push_back(std::move(instruction));
}

bool Parser::parseBody() {
  if (!token.is("{"))
    return unexpected("'{' of a function's body, or ';'");
  size_t outermost = scopes.size();
  unsigned endLine = 0;
  do {
    if (token.is("{")) {
      if (scopes.size() > Limits::scopes)
        return fail(token, "too many scopes within each other");
      scopes.emplace_back();
      advance();
    } else if (token.is("}")) {
      endLine = token.line;
      advance();
      if (!closeScope())
        return false;
    } else if (!parseStatement()) {
      return false;
    }
  } while (scopes.size() > outermost);
  // Those in the scope of the parameters: nobody declares them any more.
  if (!scopes.back().pending.empty()) {
    const Token &at = scopes.back().pending.front().token;
    return fail(at, "'" + at.text + "' is not declared");
  }
  addFinalReturn(endLine);
  return true;
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

bool Parser::declare(const Token &name, Symbol symbol) {
  Scope &scope = scopes.back();
  if (scope.symbols.try_emplace(name.text, symbol).second)
    return true;
  return fail(name, "'" + name.text + "' is declared twice");
}

bool Parser::declareLabel(const Token &name, Symbol symbol) {
  if (scopes.back().labels.try_emplace(name.text, symbol).second)
    return true;
  return fail(name, "label '" + name.text + "' is declared twice");
}

std::optional<Parser::Symbol> Parser::lookUp(llvm::StringRef name) const {
  // "%r12" as "%r" and 12, if it is written the way ranges name registers.
  llvm::StringRef stem = name.rtrim("0123456789");
  llvm::StringRef digits = name.drop_front(stem.size());
  unsigned number = 0;
  bool mayBeInRange = !digits.empty() && !digits.getAsInteger(10, number) &&
                      (digits.size() == 1 || digits.front() != '0');
  for (const Scope &scope : llvm::reverse(scopes)) {
    auto found = scope.symbols.find(name);
    if (found != scope.symbols.end())
      return found->second;
    if (!mayBeInRange)
      continue;
    auto range = scope.ranges.find(stem);
    if (range != scope.ranges.end() && number < range->second.count)
      return Symbol{Operand::Kind::Register, false,
                    range->second.first + number};
  }
  auto variable = variableIndex.find(name);
  if (variable != variableIndex.end())
    return Symbol{Operand::Kind::Variable, true, variable->second};
  auto called = module.functionIndex.find(name);
  if (called != module.functionIndex.end())
    return Symbol{Operand::Kind::Function, true, called->second};
  return std::nullopt;
}

bool Parser::closeScope() {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  for (const Pending &pending : scope.pending) {
    auto found = scope.labels.find(pending.token.text);
    if (found == scope.labels.end()) {
      scopes.back().pending.push_back(pending);
      continue;
    }
    const Symbol &symbol = found->second;
    if (pending.isTable) {
      if (symbol.kind != Operand::Kind::Label)
        return fail(pending.token, "'" + pending.token.text +
                                       "' is not the label of an instruction");
      function->tables[pending.owner][pending.index] = symbol.index;
      continue;
    }
    Operand &operand =
        function->instructions[pending.owner].operands[pending.index];
    operand.kind = symbol.kind;
    operand.index = symbol.index;
    operand.name = pending.token.text.str();
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

bool Parser::parseStatement() {
  if (consume(";"))
    return true;
  if (token.is(Kind::Identifier)) {
    Token name = token;
    advance();
    if (consume(":"))
      return parseLabelled(name);
    return parseInstruction(name, std::nullopt);
  }
  if (consume("@")) {
    std::optional<Guard> guard;
    if (!parseGuard(guard))
      return false;
    Token name = token;
    if (!token.is(Kind::Identifier))
      return unexpected("an instruction");
    advance();
    return parseInstruction(name, guard);
  }
  if (consume(".reg"))
    return parseRegisters();
  if (consume(".loc"))
    return parseLocation();
  if (consume(".file"))
    return parseFile();
  if (consume(".pragma"))
    return skipToSemicolon();
  if (consume(".section"))
    return skipSection();
  Linkage linkage;
  linkage.isExtern = consume(".extern");
  std::optional<Space> space =
      token.is(Kind::Directive) ? spaceNamed(token.text) : std::nullopt;
  if (!space)
    return unexpected("an instruction, a declaration or '}'");
  advance();
  return parseVariables(*space, linkage);
}

bool Parser::parseRegisters() {
  Token at = token;
  Type type = token.is(Kind::Directive) ? typeNamed(token.text.drop_front())
                                        : Type::None;
  // Instructions have more types than registers.
  bool isOfRegisters =
      type == Type::Pred || (bitsOf(type) >= 8 && type != Type::TF32);
  if (!isOfRegisters)
    return unexpected("the type of a register");
  advance();
  do {
    at = token;
    llvm::StringRef name;
    if (!parseIdentifier(name, "the name of a register"))
      return false;
    unsigned first = function->registers.size();
    uint64_t count = 1;
    bool isRange = consume("<");
    if (isRange) {
      // Not any constant expression: `>` would be taken for a comparison.
      if (!token.is(Kind::Integer))
        return unexpected("a number of registers");
      count = token.bits;
      advance();
      if (!expect(">", "after the number of registers"))
        return false;
    }
    if (count > Limits::registers - numRegisters)
      return fail(at,
                  "more than " + llvm::Twine(Limits::registers) + " registers");
    numRegisters += count;
    if (!isRange) {
      function->registers.push_back({name.str(), type});
      if (!declare(at, {Operand::Kind::Register, false, first}))
        return false;
      continue;
    }
    RegisterRange range{first, unsigned(count)};
    if (!scopes.back().ranges.try_emplace(name, range).second)
      return fail(at, "registers '" + name + "' are declared twice");
    for (uint64_t i = 0; i != count; ++i)
      function->registers.push_back({(name + llvm::Twine(i)).str(), type});
  } while (consume(","));
  return expect(";", "after registers");
}

bool Parser::parseLabelled(const Token &name) {
  if (consume(".branchtargets"))
    return parseBranchTargets(name);
  if (consume(".callprototype") || consume(".calltargets"))
    return parsePrototype(name);
  unsigned index = function->instructions.size();
  function->labels.emplace_back(name.text.str(), index);
  return declareLabel(name, {Operand::Kind::Label, false, index});
}

bool Parser::parseBranchTargets(const Token &name) {
  unsigned table = function->tables.size();
  function->tables.emplace_back();
  do {
    Pending pending{true, table, unsigned(function->tables.back().size()),
                    token};
    llvm::StringRef label;
    if (!parseIdentifier(label, "a label"))
      return false;
    function->tables.back().push_back(0);
    scopes.back().pending.push_back(pending);
  } while (consume(","));
  return expect(";", "after labels") &&
         declareLabel(name, {Operand::Kind::Table, false, table});
}

bool Parser::parsePrototype(const Token &name) {
  // What an indirect call passes is in the call itself.
  return skipToSemicolon() &&
         declareLabel(name, {Operand::Kind::Prototype, false, 0});
}

bool Parser::parseGuard(std::optional<Guard> &guard) {
  guard.emplace();
  guard->isNegated = consume("!");
  Token at = token;
  llvm::StringRef name;
  if (!parseIdentifier(name, "a predicate"))
    return false;
  std::optional<Symbol> symbol = lookUp(name);
  if (!symbol || symbol->kind != Operand::Kind::Register ||
      function->registers[symbol->index].type != Type::Pred)
    return fail(at, "'" + name + "' is not a predicate");
  guard->index = symbol->index;
  return true;
}

bool Parser::parseInstruction(const Token &name, std::optional<Guard> guard) {
  function->instructions.emplace_back();
  // Operands do not add instructions, so the reference stays good.
  Instruction &instruction = function->instructions.back();
  instruction.guard = guard;
  instruction.location = location;
  instruction.location.ptxLine = name.line;
  instruction.pieces.push_back(name.text.str());
  while (token.is(Kind::Directive)) {
    if (instruction.pieces.size() == Limits::pieces)
      return fail(token, "an instruction of too many parts");
    instruction.pieces.push_back(token.text.drop_front().str());
    advance();
  }
  if (name.text == "call")
    return parseCallOperands(instruction) &&
           expect(";", "after an instruction");
  if (consume(";"))
    return true;
  do {
    Pending pending{false, unsigned(function->instructions.size() - 1),
                    unsigned(instruction.operands.size()), token};
    instruction.operands.emplace_back();
    if (!parseOperand(instruction.operands.back(), &pending))
      return false;
  } while (consume(","));
  return expect(";", "after an instruction");
}

} // namespace tilec::emulator::ptx

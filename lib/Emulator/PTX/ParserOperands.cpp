//===- ParserOperands.cpp - Operands and constants of PTX -----------------===//

#include "lib/Emulator/PTX/ParserState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace tilec::emulator::ptx {

using Kind = Token::Kind;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// How tightly an operation binds; 0 if it is none.
static unsigned precedenceOf(const Token &token) {
  if (!token.is(Kind::Punctuator))
    return 0;
  static constexpr std::pair<const char *, unsigned> operations[] = {
      {"*", 10}, {"/", 10}, {"%", 10}, {"+", 9},  {"-", 9},  {"<<", 8},
      {">>", 8}, {"<", 7},  {">", 7},  {"<=", 7}, {">=", 7}, {"==", 6},
      {"!=", 6}, {"&", 5},  {"^", 4},  {"|", 3},  {"&&", 2}, {"||", 1},
  };
  for (const auto &[text, precedence] : operations)
    if (token.text == text)
      return precedence;
  return 0;
}

bool Parser::parseConstant(Constant &value, unsigned depth) {
  if (!parseBinary(value, 1, depth))
    return false;
  if (!token.is("?"))
    return true;
  Token at = token;
  advance();
  if (value.type != Type::None)
    return fail(at, "a condition that is not an integer");
  if (depth > Limits::depth)
    return fail(at, "a constant with too many parts within each other");
  Constant first, second;
  if (!parseConstant(first, depth + 1) || !expect(":", "after '?'") ||
      !parseConstant(second, depth + 1))
    return false;
  value = value.bits ? first : second;
  return true;
}

bool Parser::parseBinary(Constant &value, unsigned precedence, unsigned depth) {
  if (!parseUnary(value, depth))
    return false;
  while (unsigned found = precedenceOf(token)) {
    if (found < precedence)
      break;
    Token at = token;
    advance();
    Constant right;
    // At most as deep as there are precedences, besides parentheses.
    if (!parseBinary(right, found + 1, depth) ||
        !evaluate(at.text, at, value, right))
      return false;
  }
  return true;
}

bool Parser::evaluate(llvm::StringRef operation, const Token &at,
                      Constant &left, const Constant &right) {
  if (left.type != Type::None || right.type != Type::None)
    return fail(at, "an operation of floats in a constant");
  bool isUnsigned = left.isUnsigned || right.isUnsigned;
  uint64_t a = left.bits, b = right.bits;
  auto less = [&](uint64_t x, uint64_t y) {
    return isUnsigned ? x < y : int64_t(x) < int64_t(y);
  };
  bool isNegative = !isUnsigned && int64_t(a) < 0;
  std::optional<uint64_t> result;
  if (operation == "+")
    result = a + b;
  else if (operation == "-")
    result = a - b;
  else if (operation == "*")
    result = a * b;
  else if (operation == "<<")
    result = b < 64 ? a << b : 0;
  else if (operation == ">>")
    // The sign comes in where a signed number is shifted.
    result = (!left.isUnsigned && int64_t(a) < 0)
                 ? uint64_t(int64_t(a) >> std::min<uint64_t>(b, 63))
                 : (b < 64 ? a >> b : 0);
  else if (operation == "&")
    result = a & b;
  else if (operation == "|")
    result = a | b;
  else if (operation == "^")
    result = a ^ b;
  else if (operation == "<")
    result = less(a, b);
  else if (operation == ">")
    result = less(b, a);
  else if (operation == "<=")
    result = !less(b, a);
  else if (operation == ">=")
    result = !less(a, b);
  else if (operation == "==")
    result = a == b;
  else if (operation == "!=")
    result = a != b;
  else if (operation == "&&")
    result = a && b;
  else if (operation == "||")
    result = a || b;
  if (!result) {
    if (!b)
      return fail(at, "a division by zero in a constant");
    bool isDivision = operation == "/";
    // The most negative number has no opposite, and wraps.
    if (!isUnsigned && int64_t(b) == -1)
      result = isDivision ? -a : 0;
    else if (isNegative || (!isUnsigned && int64_t(b) < 0))
      result = isDivision ? int64_t(a) / int64_t(b) : int64_t(a) % int64_t(b);
    else
      result = isDivision ? a / b : a % b;
  }
  left.bits = *result;
  left.isUnsigned = isUnsigned;
  return true;
}

bool Parser::parseUnary(Constant &value, unsigned depth) {
  Token at = token;
  if (depth > Limits::depth)
    return fail(at, "a constant with too many parts within each other");
  if (token.is(Kind::Integer) || token.is(Kind::Float32) ||
      token.is(Kind::Float64)) {
    value.type = token.is(Kind::Integer)   ? Type::None
                 : token.is(Kind::Float32) ? Type::F32
                                           : Type::F64;
    value.bits = token.bits;
    // What does not fit in a signed number is an unsigned one.
    value.isUnsigned = token.isUnsigned || int64_t(token.bits) < 0;
    advance();
    return true;
  }
  if (token.is(Kind::Identifier) && token.text == "WARP_SZ") {
    value = {Type::None, false, 32};
    advance();
    return true;
  }
  if (consume("(")) {
    if (token.is(".s64") || token.is(".u64")) {
      bool isUnsigned = token.is(".u64");
      advance();
      if (!expect(")", "after a type") || !parseUnary(value, depth + 1))
        return false;
      if (value.type != Type::None)
        return fail(at, "a cast of a float in a constant");
      value.isUnsigned = isUnsigned;
      return true;
    }
    return parseConstant(value, depth + 1) && expect(")", "after a constant");
  }
  bool isMinus = token.is("-"), isPlus = token.is("+");
  bool isComplement = token.is("~"), isNot = token.is("!");
  if (!isMinus && !isPlus && !isComplement && !isNot)
    return unexpected("a number");
  advance();
  if (!parseUnary(value, depth + 1))
    return false;
  if (value.type != Type::None) {
    if (isComplement || isNot)
      return fail(at, "an operation of integers with a float");
    if (isMinus)
      value.bits ^= uint64_t(1) << (bitsOf(value.type) - 1);
    return true;
  }
  if (isMinus)
    value.bits = -value.bits;
  else if (isComplement)
    value.bits = ~value.bits;
  else if (isNot)
    value = {Type::None, false, !value.bits};
  return true;
}

bool Parser::parseOffset(uint64_t &offset) {
  offset = 0;
  while (token.is("+") || token.is("-")) {
    bool isMinus = token.is("-");
    Token at = token;
    advance();
    Constant value;
    if (!parseBinary(value, precedenceOf(at) + 1, 0))
      return false;
    if (value.type != Type::None)
      return fail(at, "an offset that is not an integer");
    offset += isMinus ? -value.bits : value.bits;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool isSpecialRegister(llvm::StringRef name) {
  if (!name.consume_front("%"))
    return false;
  auto [stem, component] = name.split('.');
  static constexpr llvm::StringRef vectors[] = {
      "tid",       "ntid",       "ctaid",         "nctaid",
      "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"};
  if (llvm::is_contained(vectors, stem))
    return component == "x" || component == "y" || component == "z";
  static constexpr llvm::StringRef scalars[] = {"laneid",
                                                "warpid",
                                                "nwarpid",
                                                "smid",
                                                "nsmid",
                                                "gridid",
                                                "is_explicit_cluster",
                                                "cluster_ctarank",
                                                "cluster_nctarank",
                                                "lanemask_eq",
                                                "lanemask_le",
                                                "lanemask_lt",
                                                "lanemask_ge",
                                                "lanemask_gt",
                                                "clock",
                                                "clock_hi",
                                                "clock64",
                                                "globaltimer",
                                                "globaltimer_lo",
                                                "globaltimer_hi",
                                                "total_smem_size",
                                                "aggr_smem_size",
                                                "dynamic_smem_size",
                                                "current_graph_exec",
                                                "reserved_smem_offset_begin",
                                                "reserved_smem_offset_end",
                                                "reserved_smem_offset_cap"};
  if (!component.empty())
    return false;
  if (llvm::is_contained(scalars, stem))
    return true;
  unsigned number = 0;
  for (llvm::StringRef counted : {"envreg", "pm", "reserved_smem_offset_"}) {
    llvm::StringRef rest = stem;
    if (rest.consume_front(counted) && !rest.getAsInteger(10, number))
      return true;
  }
  return false;
}

bool Parser::parseOperand(Operand &operand, const Pending *pending) {
  if (consume("{"))
    return parseVector(operand, "}");
  if (consume("["))
    return parseAddress(operand);
  if (!parseSimpleOperand(operand, pending))
    return false;
  bool canBePair = operand.kind == Operand::Kind::Register ||
                   operand.kind == Operand::Kind::Sink;
  if (!canBePair || !consume("|"))
    return true;
  Token at = token;
  Operand second;
  if (!parseSimpleOperand(second, nullptr))
    return false;
  if (second.kind != Operand::Kind::Register &&
      second.kind != Operand::Kind::Sink)
    return fail(at, "'" + at.text + "' is not a register");
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.elements.push_back(std::move(operand));
  pair.elements.push_back(std::move(second));
  operand = std::move(pair);
  return true;
}

/// A register, a constant, a name or `_`. `pending` is where to note a name
/// that may be declared later, null where none may be.
bool Parser::parseSimpleOperand(Operand &operand, const Pending *pending) {
  if (token.is(Kind::Identifier) && token.text != "WARP_SZ")
    return parseNamedOperand(operand, pending);
  Token at = token;
  if (token.is("!")) {
    // Of a predicate; constants that begin with ! are not written.
    advance();
    if (!parseNamedOperand(operand, nullptr))
      return false;
    if (operand.kind != Operand::Kind::Register ||
        function->registers[operand.index].type != Type::Pred)
      return fail(at, "'!' of what is not a predicate");
    operand.isNegated = true;
    return true;
  }
  // A constant begins with its first operand.
  bool isConstant = token.is(Kind::Integer) || token.is(Kind::Float32) ||
                    token.is(Kind::Float64) || token.is(Kind::Identifier) ||
                    token.is("-") || token.is("+") || token.is("~") ||
                    token.is("(");
  if (!isConstant)
    return unexpected("an operand");
  Constant value;
  if (!parseConstant(value))
    return false;
  operand.kind = Operand::Kind::Immediate;
  operand.immediateType = value.type;
  operand.bits = value.bits;
  return true;
}

bool Parser::parseNamedOperand(Operand &operand, const Pending *pending) {
  Token at = token;
  llvm::StringRef name;
  if (!parseIdentifier(name, "a name"))
    return false;
  if (name == "_") {
    operand.kind = Operand::Kind::Sink;
    return true;
  }
  if (std::optional<Symbol> symbol = lookUp(name)) {
    operand.kind = symbol->kind;
    operand.isGlobal = symbol->isGlobal;
    operand.index = symbol->index;
    bool isVariable = symbol->kind == Operand::Kind::Variable ||
                      symbol->kind == Operand::Kind::Parameter ||
                      symbol->kind == Operand::Kind::Result;
    if (token.is(Kind::Directive))
      return fail(token, "vectors of registers are not supported");
    return !isVariable || parseOffset(operand.bits);
  }
  std::string special = name.str();
  if (name.starts_with("%") && token.is(Kind::Directive)) {
    special += token.text.str();
    advance();
  }
  if (isSpecialRegister(special)) {
    operand.kind = Operand::Kind::Special;
    operand.name = std::move(special);
    return true;
  }
  if (!pending || name.starts_with("%"))
    return fail(at, "'" + name + "' is not declared");
  scopes.back().pending.push_back(*pending);
  scopes.back().pending.back().token = at;
  return true;
}

bool Parser::parseVector(Operand &operand, llvm::StringRef close) {
  operand.kind = Operand::Kind::Vector;
  if (close == ")" && consume(close))
    return true;
  do {
    if (operand.elements.size() == Limits::elements)
      return fail(token, "a vector of too many elements");
    operand.elements.emplace_back();
    if (!parseSimpleOperand(operand.elements.back(), nullptr))
      return false;
  } while (consume(","));
  return expect(close, "after the elements of a vector");
}

bool Parser::parseAddress(Operand &operand) {
  operand.kind = Operand::Kind::Address;
  Token at = token;
  Operand base;
  if (!parseSimpleOperand(base, nullptr))
    return false;
  switch (base.kind) {
  case Operand::Kind::Register:
    if (!parseOffset(operand.bits))
      return false;
    break;
  case Operand::Kind::Variable:
  case Operand::Kind::Parameter:
  case Operand::Kind::Result:
    // Its own offset is that of the address.
    std::swap(operand.bits, base.bits);
    break;
  case Operand::Kind::Immediate:
    if (base.immediateType == Type::None)
      break;
    [[fallthrough]];
  default:
    return fail(at, "'" + at.text + "' is not an address");
  }
  operand.elements.push_back(std::move(base));
  // Coordinates of a tensor, and what else follows in the same brackets.
  while (consume(",")) {
    if (operand.elements.size() > 3)
      return fail(token, "an address of too many parts");
    operand.elements.emplace_back();
    Operand &part = operand.elements.back();
    if (!(consume("{") ? parseVector(part, "}")
                       : parseSimpleOperand(part, nullptr)))
      return false;
  }
  return expect("]", "after an address");
}

bool Parser::parseCallOperands(Instruction &instruction) {
  instruction.operands.resize(3);
  Operand &results = instruction.operands[0], &values = instruction.operands[2];
  results.kind = values.kind = Operand::Kind::Vector;
  if (consume("(") &&
      (!parseVector(results, ")") || !expect(",", "after the results")))
    return false;
  Token at = token;
  Operand &callee = instruction.operands[1];
  if (!parseSimpleOperand(callee, nullptr))
    return false;
  if (callee.kind != Operand::Kind::Function &&
      callee.kind != Operand::Kind::Register)
    return fail(at, "'" + at.text + "' is not a function");
  if (!consume(","))
    return true;
  if (consume("(")) {
    if (!parseVector(values, ")"))
      return false;
    if (!consume(","))
      return true;
  }
  Pending pending{false, unsigned(function->instructions.size() - 1), 3, token};
  instruction.operands.emplace_back();
  return parseNamedOperand(instruction.operands.back(), &pending);
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

bool Parser::parseInitializer(const VariableHead &head, Variable &variable,
                              llvm::ArrayRef<uint64_t> extents) {
  Token at = token;
  if (variable.space != Space::Global && variable.space != Space::Const)
    return fail(at, "only .global and .const variables have initial values");
  bool isOpen = !extents.empty() && !extents.front();
  if (isOpen && (!token.is("{") || extents.size() > 1))
    return fail(at, "an array without a size");
  if (!isOpen) {
    initialBytes += variable.bytes;
    if (initialBytes > Limits::initialBytes)
      return fail(at, "more than 128 MiB of initial values");
    variable.initial.resize(variable.bytes);
  }
  return parseInitialList(head, variable, extents, 0);
}

bool Parser::parseInitialList(const VariableHead &head, Variable &variable,
                              llvm::ArrayRef<uint64_t> extents,
                              uint64_t offset) {
  // The elements of a vector are one more dimension.
  bool isVector = extents.empty() && head.elements > 1;
  VariableHead element = head;
  if (isVector)
    element.elements = 1;
  if (extents.empty() && !isVector) {
    return parseInitialValue(head, variable, offset);
  }
  llvm::ArrayRef<uint64_t> inner = isVector ? extents : extents.drop_front();
  uint64_t count = isVector ? head.elements : extents.front();
  uint64_t stride = uint64_t(bytesOf(element.type)) * element.elements;
  for (uint64_t extent : inner)
    stride *= extent;
  bool isOpen = !isVector && !count;
  if (!expect("{", "before initial values"))
    return false;
  for (uint64_t i = 0; !token.is("}"); ++i) {
    if (!isOpen && i == count)
      return fail(token, "more initial values than elements");
    if (isOpen) {
      initialBytes += stride;
      if (initialBytes > Limits::initialBytes)
        return fail(token, "more than 128 MiB of initial values");
      variable.bytes += stride;
      variable.initial.resize(variable.bytes);
    }
    if (!parseInitialList(element, variable, inner, offset + i * stride))
      return false;
    if (!consume(","))
      break;
  }
  return expect("}", "after initial values");
}

bool Parser::parseInitialValue(const VariableHead &head, Variable &variable,
                               uint64_t offset) {
  Token at = token;
  Variable::Relocation relocation;
  relocation.offset = offset;
  relocation.bytes = bytesOf(head.type);
  relocation.ptxLine = at.line;
  if (token.is(Kind::Identifier) && token.text != "WARP_SZ")
    return parseInitialAddress(variable, relocation);
  Constant value;
  if (!parseConstant(value))
    return false;
  // 0xFF00(symbol): one byte of an address.
  if (value.type == Type::None && consume("(")) {
    if (!llvm::isShiftedMask_64(value.bits))
      return fail(at, "a mask that is not some adjacent bits");
    relocation.shift = llvm::countr_zero(value.bits);
    return parseInitialAddress(variable, relocation) &&
           expect(")", "after an address");
  }
  return storeInitial(variable, offset, head.type, value, at);
}

bool Parser::parseInitialAddress(Variable &variable,
                                 Variable::Relocation relocation) {
  Token at = token;
  llvm::StringRef name;
  if (!parseIdentifier(name, "the name of a variable or function"))
    return false;
  if (name == "generic" && consume("(")) {
    relocation.isGeneric = true;
    at = token;
    if (!parseIdentifier(name, "the name of a variable") ||
        !expect(")", "after a variable"))
      return false;
  }
  if (!variableIndex.contains(name) && !module.functionIndex.contains(name) &&
      name != variable.name)
    return fail(at, "'" + name + "' is not declared");
  uint64_t addend = 0;
  if (!parseOffset(addend))
    return false;
  if (relocation.bytes > 8)
    return fail(at, "an address in a variable of another type");
  relocation.symbol = name.str();
  relocation.addend = addend;
  variable.relocations.push_back(std::move(relocation));
  return true;
}

bool Parser::storeInitial(Variable &variable, uint64_t offset, Type type,
                          const Constant &value, const Token &at) {
  uint64_t bits = value.bits;
  if (value.type == Type::F64 && bitsOf(type) == 32)
    bits = llvm::bit_cast<uint32_t>(float(llvm::bit_cast<double>(bits)));
  else if (value.type == Type::F32 && bitsOf(type) == 64)
    bits =
        llvm::bit_cast<uint64_t>(double(llvm::bit_cast<float>(uint32_t(bits))));
  else if (value.type != Type::None && bitsOf(type) < 32)
    return fail(at, "a float in a variable of another type");
  // Also where the type is a float's: the bits, as ptxas has it.
  for (unsigned i = 0; i != bytesOf(type); ++i)
    variable.initial[offset + i] = i < 8 ? char(bits >> (8 * i)) : 0;
  return true;
}

} // namespace tilec::emulator::ptx

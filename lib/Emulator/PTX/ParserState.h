//===- ParserState.h - The parser of PTX, inside ----------------*- C++ -*-===//
//
// One class in three files: Parser.cpp has the module and its variables,
// ParserFunction.cpp functions and their statements, ParserOperands.cpp
// operands, constants and initial values.
//
// Each parse... method takes what it is named after from the token where it
// stands, and returns whether that went well. If not, the error is recorded,
// and everybody returns at once.
//
// Text that nobody would write must not take all memory or time: hence the
// limits below, far above what real programs need.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_PTX_PARSERSTATE_H
#define TILEC_EMULATOR_PTX_PARSERSTATE_H

#include "lib/Emulator/PTX/Lexer.h"
#include "lib/Emulator/PTX/Module.h"
#include "llvm/Support/Error.h"
#include <map>

namespace tilec::emulator::ptx {

struct Limits {
  static constexpr uint64_t variableBytes = uint64_t(1) << 30;
  static constexpr uint64_t initialBytes = uint64_t(1) << 27; // All together.
  static constexpr uint64_t alignment = 1 << 16;
  static constexpr unsigned registers = 1 << 20; // All together.
  static constexpr unsigned scopes = 256;        // Within each other.
  static constexpr unsigned depth = 64;          // Of parentheses.
  static constexpr unsigned elements = 512;      // Of a vector.
  static constexpr unsigned pieces = 32;         // Of an opcode.
  static constexpr unsigned files = 1 << 16;
};

/// A value known while parsing: an integer (None), or a float (F32, F64).
struct Constant {
  Type type = Type::None;
  bool isUnsigned = false;
  uint64_t bits = 0;
};

class Parser {
public:
  Parser(llvm::StringRef text, llvm::StringRef name);
  llvm::Expected<Module> run();

private:
  /// What a name in a function means.
  struct Symbol {
    Operand::Kind kind = Operand::Kind::Register;
    bool isGlobal = false;
    unsigned index = 0;
  };
  struct RegisterRange {
    unsigned first = 0, count = 0;
  };
  /// An operand, or an entry of a table of labels, whose name may be declared
  /// further down.
  struct Pending {
    bool isTable = false;
    unsigned owner = 0; // An instruction or a table.
    unsigned index = 0; // An operand or an entry.
    Token token;
  };
  /// What `{` begins, names and all.
  struct Scope {
    llvm::StringMap<Symbol> symbols;
    llvm::StringMap<RegisterRange> ranges; // "%r" of .reg .b32 %r<8>.
    llvm::StringMap<Symbol> labels;        // Labels, tables, prototypes.
    std::vector<Pending> pending;
  };
  struct Linkage {
    bool isExtern = false, isWeak = false;
  };

  // Parser.cpp: tokens.
  void advance() { token = lexer.next(); }
  bool consume(llvm::StringRef what);
  bool expect(llvm::StringRef what, llvm::StringRef where);
  bool parseIdentifier(llvm::StringRef &name, const char *what);
  bool parseUnsigned(uint64_t &value, uint64_t limit, const char *what);
  bool fail(const Token &at, const llvm::Twine &message);
  bool unexpected(const llvm::Twine &expected);

  // Parser.cpp: the module.
  bool parseModuleStatement();
  bool parseVersion();
  bool parseTarget();
  bool parseFile();
  bool parseLocation();
  bool skipSection();
  bool skipToSemicolon();
  bool skipAttribute();
  bool parsePlacePart(unsigned &value);
  static std::optional<Space> spaceNamed(llvm::StringRef directive);

  // Parser.cpp: variables.
  /// `.global .align 4 .b8 x[8] = {...}, y;` from after the space.
  bool parseVariables(Space space, Linkage linkage);
  struct VariableHead {
    Type type = Type::None;
    unsigned alignment = 0, elements = 1;
  };
  bool parseVariableHead(VariableHead &head, bool isParameter);
  bool parseDeclarator(const VariableHead &head, Variable &variable,
                       std::vector<uint64_t> &extents);
  bool declareGlobal(Variable variable, const Token &at);

  // ParserOperands.cpp.
  bool parseInitializer(const VariableHead &head, Variable &variable,
                        llvm::ArrayRef<uint64_t> extents);
  bool parseInitialList(const VariableHead &head, Variable &variable,
                        llvm::ArrayRef<uint64_t> extents, uint64_t offset);
  bool parseInitialValue(const VariableHead &head, Variable &variable,
                         uint64_t offset);
  bool parseInitialAddress(Variable &variable, Variable::Relocation relocation);
  bool storeInitial(Variable &variable, uint64_t offset, Type type,
                    const Constant &value, const Token &at);
  bool parseConstant(Constant &value, unsigned depth = 0);
  bool parseBinary(Constant &value, unsigned precedence, unsigned depth);
  bool parseUnary(Constant &value, unsigned depth);
  bool evaluate(llvm::StringRef operation, const Token &at, Constant &left,
                const Constant &right);
  bool parseOffset(uint64_t &offset);
  bool parseOperand(Operand &operand, const Pending *pending);
  bool parseSimpleOperand(Operand &operand, const Pending *pending);
  bool parseNamedOperand(Operand &operand, const Pending *pending);
  bool parseVector(Operand &operand, llvm::StringRef close);
  bool parseAddress(Operand &operand);
  bool parseCallOperands(Instruction &instruction);

  // ParserFunction.cpp.
  bool parseFunction(bool isEntry, Linkage linkage);
  bool parseParameters(std::vector<Variable> &list);
  bool parseFunctionDirectives();
  bool parseDimensions(std::array<unsigned, 3> &values);
  bool parseBody();
  bool parseStatement();
  bool parseRegisters();
  bool parseLabelled(const Token &name);
  bool parseBranchTargets(const Token &name);
  bool parsePrototype(const Token &name);
  bool parseInstruction(const Token &name, std::optional<Guard> guard);
  bool parseGuard(std::optional<Guard> &guard);
  bool declare(const Token &name, Symbol symbol);
  bool declareLabel(const Token &name, Symbol symbol);
  std::optional<Symbol> lookUp(llvm::StringRef name) const;
  bool closeScope();
  void addFinalReturn(unsigned line);

  Lexer lexer;
  Token token;
  Module module;
  std::string error;
  unsigned numRegisters = 0;
  uint64_t initialBytes = 0;
  llvm::StringMap<unsigned> variableIndex; // Of the module.

  // Of the function that is being parsed.
  Function *function = nullptr;
  std::vector<Scope> scopes;
  Location location;
  /// A file, a line and a column; and where in the kernel those of inlined code
  /// are, as the last .loc of each says.
  using Place = std::array<unsigned, 3>;
  std::map<Place, Place> outerPlaces;
};

/// Whether PTX has a special register of that name, component included:
/// "%tid.x", "%clock64".
bool isSpecialRegister(llvm::StringRef name);

} // namespace tilec::emulator::ptx

#endif // TILEC_EMULATOR_PTX_PARSERSTATE_H

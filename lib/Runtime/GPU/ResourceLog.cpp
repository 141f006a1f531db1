//===- ResourceLog.cpp - What ptxas says about a kernel ---------*- C++ -*-===//

#include "lib/Runtime/GPU/ResourceLog.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tilec::gpu;
using Severity = ResourceMessage::Severity;

bool ResourceMessage::isSerialization() const {
  return llvm::StringRef(text).contains("are serialized");
}

bool ResourceMessage::isIgnoredRegisterBudget() const {
  return llvm::StringRef(text).contains("'setmaxnreg' ignored");
}

const FunctionResources *ResourceLog::find(llvm::StringRef name) const {
  for (const FunctionResources &function : functions)
    if (function.name == name)
      return &function;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Pieces of a line
//===----------------------------------------------------------------------===//

/// The number at the begin of `text`, which it is taken from.
template <typename Int>
static bool takeNumber(llvm::StringRef &text, Int &number) {
  return !text.consumeInteger(10, number);
}

/// What is between the quotes after `marker`.
static llvm::StringRef quotedAfter(llvm::StringRef text,
                                   llvm::StringRef marker) {
  size_t at = text.rfind(marker);
  if (at == llvm::StringRef::npos)
    return "";
  llvm::StringRef rest = text.drop_front(at + marker.size());
  if (!rest.consume_front("'"))
    return "";
  size_t end = rest.find('\'');
  return end == llvm::StringRef::npos ? "" : rest.take_front(end);
}

/// The number after `marker`, or 0.
static unsigned numberAfter(llvm::StringRef text, llvm::StringRef marker) {
  size_t at = text.find(marker);
  unsigned number = 0;
  if (at != llvm::StringRef::npos) {
    llvm::StringRef rest = text.drop_front(at + marker.size());
    if (!takeNumber(rest, number))
      return 0;
  }
  return number;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

namespace {
class Parser {
public:
  void parseLine(llvm::StringRef line);

  ResourceLog log;

private:
  FunctionResources &enter(llvm::StringRef name);
  bool parseInfo(llvm::StringRef text);
  bool parseProperties(llvm::StringRef text);
  void parseUsage(llvm::StringRef text);
  void parseMessage(Severity severity, unsigned line, llvm::StringRef text);

  /// Index of the function that lines are about: the vector moves.
  std::optional<size_t> current;
};
} // namespace

FunctionResources &Parser::enter(llvm::StringRef name) {
  for (size_t i = 0; i < log.functions.size(); ++i)
    if (log.functions[i].name == name) {
      current = i;
      return log.functions[i];
    }
  current = log.functions.size();
  log.functions.emplace_back();
  log.functions.back().name = name.str();
  return log.functions.back();
}

/// "272 bytes stack frame, 380 bytes spill stores, 420 bytes spill loads".
bool Parser::parseProperties(llvm::StringRef text) {
  if (!current || !text.contains("bytes stack frame"))
    return false;
  FunctionResources &function = log.functions[*current];
  for (llvm::StringRef part : llvm::split(text, ',')) {
    part = part.trim();
    uint64_t bytes = 0;
    if (!takeNumber(part, bytes))
      continue;
    part = part.trim();
    if (part == "bytes stack frame")
      function.stackBytes = bytes;
    else if (part == "bytes spill stores")
      function.spillStoreBytes = bytes;
    else if (part == "bytes spill loads")
      function.spillLoadBytes = bytes;
  }
  return true;
}

/// "Used 32 registers, used 1 barriers, 256 bytes smem, 400 bytes cmem[0]".
void Parser::parseUsage(llvm::StringRef text) {
  FunctionResources &function = log.functions[*current];
  for (llvm::StringRef part : llvm::split(text, ',')) {
    part = part.trim();
    if (!part.consume_front("Used "))
      part.consume_front("used ");
    uint64_t number = 0;
    if (!takeNumber(part, number))
      continue;
    part = part.trim();
    if (part == "registers")
      function.registers = number;
    else if (part == "barriers")
      function.barriers = number;
    else if (part == "bytes smem")
      function.sharedBytes = number;
    else if (part.starts_with("bytes cmem["))
      function.constantBytes += number;
  }
}

/// A line of severity info that is not a message; false if it is one.
bool Parser::parseInfo(llvm::StringRef text) {
  if (text.starts_with("Compiling entry function '")) {
    enter(quotedAfter(text, "entry function ")).isKernel = true;
    return true;
  }
  if (text.consume_front("Function properties for ")) {
    enter(text.trim().trim('\''));
    return true;
  }
  if (text.starts_with("Used ") && text.contains("registers")) {
    if (current)
      parseUsage(text);
    return true;
  }
  if (text.consume_front("Compile time = ")) {
    double milliseconds = 0;
    if (current && !text.split(' ').first.getAsDouble(milliseconds))
      log.functions[*current].compileMilliseconds = milliseconds;
    return true;
  }
  llvm::StringRef rest = text;
  uint64_t bytes = 0;
  if (takeNumber(rest, bytes) && rest.starts_with(" bytes gmem")) {
    log.globalBytes = bytes;
    return true;
  }
  return parseProperties(text);
}

void Parser::parseMessage(Severity severity, unsigned line,
                          llvm::StringRef text) {
  ResourceMessage message;
  message.severity = severity;
  llvm::StringRef rest = text;
  unsigned code = 0;
  if (rest.consume_front("(C") && takeNumber(rest, code) &&
      rest.consume_front(")")) {
    message.code = code;
    text = rest.trim();
  }
  message.line = line ? line : numberAfter(text, "around line ");
  message.function = quotedAfter(text, "function ").str();
  message.text = text.str();
  log.messages.push_back(std::move(message));
}

/// "ptxas info    : text", "ptxas file.ptx, line 3; warning : text", or the
/// continuation "ptxas         .     text", which some versions write without
/// "ptxas".
void Parser::parseLine(llvm::StringRef line) {
  llvm::StringRef text = line.trim();
  if (!text.consume_front("ptxas")) {
    parseProperties(text);
    return;
  }
  text = text.ltrim();
  if (text.consume_front(".")) {
    parseProperties(text.trim());
    return;
  }
  unsigned number = 0;
  size_t place = text.find("; ");
  if (place != llvm::StringRef::npos &&
      text.take_front(place).contains(", line ")) {
    number = numberAfter(text, ", line ");
    text = text.drop_front(place + 2).ltrim();
  }
  auto [word, rest] = text.split(':');
  word = word.trim();
  rest = rest.trim();
  if (word == "info" || word == "Info") {
    if (rest.starts_with("(C") || !parseInfo(rest))
      parseMessage(Severity::Info, number, rest);
  } else if (word == "warning" || word == "Warning") {
    parseMessage(Severity::Warning, number, rest);
  } else if (word == "error" || word == "fatal") {
    parseMessage(Severity::Error, number, rest);
  }
}

ResourceLog gpu::parseResourceLog(llvm::StringRef text) {
  Parser parser;
  for (llvm::StringRef line : llvm::split(text, '\n'))
    parser.parseLine(line);
  return std::move(parser.log);
}

std::vector<std::string> ResourceLog::defects(llvm::StringRef ptx) const {
  // What NVVM calls the arrays of a function that have to be in memory.
  bool hasArrays = ptx.contains("__local_depot");
  std::vector<std::string> list;
  for (const FunctionResources &function : functions) {
    std::string where = "'" + function.name + "': ";
    if (function.spills())
      list.push_back(
          where + "registers are spilled: " +
          std::to_string(function.spillStoreBytes) + " bytes of stores, " +
          std::to_string(function.spillLoadBytes) + " bytes of loads");
    else if (function.stackBytes && hasArrays)
      list.push_back(where + std::to_string(function.stackBytes) +
                     " bytes of local arrays");
  }
  for (const ResourceMessage &message : messages) {
    // Said above, with the sizes.
    llvm::StringRef text = message.text;
    if (text.starts_with("Registers are spilled") ||
        text.starts_with("Local memory used"))
      continue;
    if (message.code || message.severity != Severity::Info)
      list.push_back((message.code ? "C" + std::to_string(message.code) + ": "
                                   : std::string()) +
                     message.text);
  }
  return list;
}

//===- ParserRobustnessTest.cpp - Any input at all --------------*- C++ -*-===//
//
// Deep nesting, long chains, random tokens, programs with tokens lost, doubled
// and swapped: the parser must end, and whatever it accepts must survive the
// round trip. Random programs come from a fixed seed.
//
//===----------------------------------------------------------------------===//

#include "Parsing.h"
#include "llvm/ADT/StringExtras.h"
#include <random>
#include <vector>

using namespace tilec;
using namespace tilec::test;

namespace {

std::string repeat(llvm::StringRef text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i)
    result += text;
  return result;
}

std::string inKernel(const std::string &statement) {
  return "kernel k() {\n" + statement + "\n}\n";
}

void requireTooDeep(const std::string &text) {
  Parsed parsed(text);
  REQUIRE(parsed.diags.getNumErrors() == 1);
  REQUIRE(parsed.diags.all()[0]->message ==
          "nesting is deeper than 256 levels");
}

/// Accepted text must survive the round trip; other text must be explained.
void requireSane(const std::string &text) {
  Parsed parsed(text);
  if (parsed.ok) {
    requireRoundTrip(text);
    return;
  }
  INFO(text);
  REQUIRE(parsed.diags.hasErrors());
  REQUIRE(parsed.diags.getNumErrors() <= 20);
  for (const auto &diagnostic : parsed.diags.all()) {
    REQUIRE(!diagnostic->message.empty());
    REQUIRE(diagnostic->range.isValid());
    REQUIRE(diagnostic->range.begin.getOffset() <=
            diagnostic->range.end.getOffset());
  }
  parsed.messages();
}

const std::vector<std::string> &vocabulary() {
  static const std::vector<std::string> words = {
      "kernel",   "fn",       "import",
      "schedule", "for",      "grid",
      "in",       "out",      "inout",
      "add",      "if",       "else",
      "tile",     "requires", "true",
      "false",    "inf",      "nan",
      "zeros",    "full",     "f32",
      "bf16",     "bool",     "int",
      "dtype",    "a",        "b",
      "k",        "M",        "N",
      "x",        "1",        "42",
      "1.5",      "1e-6",     "\"s\"",
      "(",        ")",        "[",
      "]",        "{",        "}",
      ",",        ":",        "->",
      "=",        "+=",       "-=",
      "*=",       "/=",       "||",
      "&&",       "==",       "!=",
      "<",        "<=",       ">",
      ">=",       "+",        "-",
      "*",        "/",        "%",
      "!",        "|",        "\n",
      "\n",       "\n",       ";",
      "?",        ":=",       "return",
      "let",      "and",      "not",
      "elif",     "lambda",   "\xFF",
      "é",        "0x",       "9999999999999999999",
      "..",       "@",        "while",
      "_"};
  return words;
}

/// The tokens of a program that uses all of the language.
const std::vector<std::string> &sampleTokens() {
  static const std::vector<std::string> sample = [] {
    llvm::StringRef text = R"(
import "a.tile" ~
fn f < D : int , T : dtype = bf16 > ( x : f32 , i : int ) -> T { ~
  y = x * D ~
  if D > 2 { y } else if D == 1 { - y } else { T ( y ) } ~
} ~
kernel k < p : bool = true , s : fn ( f32 , int ) -> f32 > ( A : bf16 [ M , K ] ,
    B : out f32 [ M ] , n : i64 = 3 ) requires M % 2 == 0 , K > 1 { ~
  schedule { m = 128 , stages = 4 ~ order = zig } ~
  grid m in tile ( M , 64 ) , b in n ~
  acc = zeros f32 [ m , 16 ] ~
  r = full f32 [ m ] - inf ~
  for k in tile ( K ) if any ( k >= m ) && ! p { ~
    acc += dot < k > ( A [ m , : ] , A [ m , k + 1 ] , precision = tf32 ) ~
    print ( "x" , acc ) ~
  } ~
  B [ m ] , r = g ( acc , mask = | q , kv | q >= kv , score = ( | s | s ) ) ~
} ~
schedule k for sm_90a { m = 64 } ~
)";
    std::vector<std::string> tokens;
    llvm::SmallVector<llvm::StringRef> words;
    llvm::SplitString(text, words, " \n");
    for (llvm::StringRef word : words)
      tokens.push_back(word == "~" ? "\n" : word.str());
    return tokens;
  }();
  return sample;
}

std::string join(const std::vector<std::string> &tokens) {
  std::string text;
  for (const std::string &token : tokens)
    text += token + " ";
  return text;
}

/// An expression with every bracket written, and random blanks.
class RandomExpr {
public:
  explicit RandomExpr(unsigned seed) : random(seed) {}

  std::string make(unsigned depth) {
    if (depth == 0 || pick(6) == 0)
      return leaf();
    switch (pick(9)) {
    case 0:
    case 1:
    case 2:
    case 3: {
      static const char *const ops[] = {"||", "&&", "==", "!=", "<", "<=", ">",
                                        ">=", "+",  "-",  "*",  "/", "%"};
      return "(" + make(depth - 1) + ")" + ops[pick(13)] + "(" +
             make(depth - 1) + ")";
    }
    case 4:
      return (pick(2) ? "-(" : "!(") + make(depth - 1) + ")";
    case 5: {
      std::string text = pick(2) ? "f(" : "g<a, 3>(";
      unsigned count = pick(4);
      for (unsigned i = 0; i < count; ++i)
        text += (i ? ", (" : "(") + make(depth - 1) + ")";
      if (pick(2))
        text +=
            std::string(count ? ", " : "") + "s = (" + make(depth - 1) + ")";
      return text + ")";
    }
    case 6:
      return "A[(" + make(depth - 1) + ")" + (pick(2) ? ", :" : "") + ", (" +
             make(depth - 1) + ")]";
    case 7:
      return "|p, q| (" + make(depth - 1) + ")";
    default:
      return (pick(2) ? "f32(" : "full f32[m] (") + make(depth - 1) + ")";
    }
  }

private:
  unsigned pick(unsigned n) {
    return std::uniform_int_distribution<unsigned>(0, n - 1)(random);
  }
  std::string leaf() {
    static const char *const leaves[] = {"a",    "b",    "1",           "2.5",
                                         "true", "inf",  "nan",         "A[m]",
                                         "f()",  "bf16", "zeros f32[m]"};
    return leaves[pick(11)];
  }
  std::mt19937 random;
};

} // namespace

TEST_CASE("nesting is limited, not crashed into", "[robustness]") {
  const size_t many = 100000;
  for (std::string open : {"(", "[", "{", "-", "!", "f(", "A[", "f32(", "|x| ",
                           "full f32 ", "f<a>(", "(-", "if x {", "{ x = ("}) {
    INFO(open);
    Parsed parsed(inKernel("x = " + repeat(open, many)));
    REQUIRE(!parsed.ok);
    REQUIRE(parsed.diags.getNumErrors() <= 20);
  }
  requireTooDeep(
      inKernel("x = " + repeat("(", many) + "1" + repeat(")", many)));
  requireTooDeep(inKernel("x = " + repeat("-", many) + "1"));
  requireTooDeep(inKernel("x = " + repeat("|x| ", many) + "1"));
  requireTooDeep(inKernel(repeat("if x {\n", many) + repeat("}\n", many)));
  requireTooDeep(inKernel("if x { }" + repeat(" else if x { }", many)));
  requireTooDeep(inKernel(repeat("for x in X { ", many) + repeat("}\n", many)));
  // The limit itself is fine: one block and 255 brackets.
  requireRoundTrip(
      inKernel("x = " + repeat("(-", 127) + "1" + repeat(")", 127)));
  requireRoundTrip(
      inKernel("x = " + repeat("(", 255) + "1" + repeat(")", 255)));
  requireTooDeep(inKernel("x = " + repeat("(", 256) + "1" + repeat(")", 256)));
  requireRoundTrip(inKernel(repeat("if x {\n", 255) + repeat("}\n", 255)));
}

TEST_CASE("long chains are limited by the height of their tree",
          "[robustness]") {
  requireRoundTrip(inKernel("x = 1" + repeat(" + 1", 511)));
  for (size_t count : {size_t(512), size_t(100000)}) {
    Parsed parsed(inKernel("x = 1" + repeat(" + 1", count) + "\ny = )"));
    REQUIRE(parsed.diags.getNumErrors() == 2);
    REQUIRE(parsed.diags.all()[0]->message ==
            "expression has more than 512 operations within one another");
  }
  // Over several lines within brackets it is still one error.
  Parsed lines(inKernel("x = (1" + repeat(" +\n 1", 600) + ")\ny = 2"));
  REQUIRE(lines.diags.getNumErrors() == 1);
}

TEST_CASE("wide inputs are fine", "[robustness]") {
  const size_t many = 20000;
  requireRoundTrip(inKernel("x = f(1" + repeat(", 1", many) + ")"));
  requireRoundTrip(inKernel(repeat("x = 1\n", many)));
  requireRoundTrip(inKernel("x = f(" + repeat("a, ", many) + "b)"));
  // Looking ahead for type arguments again and again would be quadratic.
  requireSane(inKernel("x = f(" + repeat("a < b, ", many) + "b)"));
  requireSane(inKernel("x = a < " + repeat("b, ", many)));
  requireSane(inKernel("x = " + repeat("a < ", many)));
  requireSane(repeat("kernel k() { }\n", many));
  requireSane(std::string(1 << 20, 'x'));
  requireSane(inKernel("x = " + std::string(1 << 20, '1')));
  requireSane(inKernel("x = \"" + std::string(1 << 20, 's') + "\""));
  requireSane(repeat("}", many));
  requireSane(repeat("kernel k(", many));
  requireSane(inKernel(repeat("x = f(\n", many)));
}

TEST_CASE("random tokens", "[robustness]") {
  std::mt19937 random(12345);
  auto pick = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> tokens;
    for (size_t n = pick(80); n > 0; --n)
      tokens.push_back(vocabulary()[pick(vocabulary().size())]);
    std::string text = join(tokens);
    requireSane(round % 2 ? text : inKernel(text));
  }
}

TEST_CASE("programs with a few tokens lost, doubled or replaced",
          "[robustness]") {
  requireRoundTrip(join(sampleTokens()));
  std::mt19937 random(54321);
  auto pick = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  unsigned accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> tokens = sampleTokens();
    for (size_t n = 1 + pick(3); n > 0; --n) {
      size_t at = pick(tokens.size());
      switch (pick(4)) {
      case 0:
        tokens.erase(tokens.begin() + at);
        break;
      case 1:
        tokens.insert(tokens.begin() + at, tokens[pick(tokens.size())]);
        break;
      case 2:
        tokens[at] = vocabulary()[pick(vocabulary().size())];
        break;
      default:
        std::swap(tokens[at], tokens[pick(tokens.size())]);
      }
    }
    std::string text = join(tokens);
    requireSane(text);
    accepted += Parsed(text).ok;
  }
  // Both outcomes are common, or the test would be testing little.
  REQUIRE(accepted > 100);
  REQUIRE(accepted < 2900);
}

TEST_CASE("every single deletion and truncation", "[robustness]") {
  for (size_t i = 0; i < sampleTokens().size(); ++i) {
    std::vector<std::string> tokens = sampleTokens();
    tokens.erase(tokens.begin() + i);
    requireSane(join(tokens));
    tokens.assign(sampleTokens().begin(), sampleTokens().begin() + i);
    requireSane(join(tokens));
  }
  std::string text = join(sampleTokens());
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = '\xE2';
    requireSane(changed);
    changed[i] = '\0';
    requireSane(changed);
  }
}

TEST_CASE("printing keeps the tree of any expression", "[robustness]") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::string text = RandomExpr(seed).make(2 + seed % 5);
    requireRoundTrip(inKernel("x = " + text));
    requireRoundTrip("kernel k<f: fn() -> f32 = (" + text + ")>() requires (" +
                     text + "), (" + text + ") {\nfor m in tile((" + text +
                     "), (" + text + ")) if (" + text + ") { }\n}\n");
  }
}

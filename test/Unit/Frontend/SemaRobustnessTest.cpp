//===- SemaRobustnessTest.cpp - Analysis of mutilated programs --*- C++ -*-===//
//
// Programs made by deleting, repeating and swapping the words of good ones.
// Whatever still parses is analyzed: it must end, not crash, either give a
// kernel that keeps the invariants of the typed tree, or say what is wrong,
// each message with a place and a remedy.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/Frontend/Analyzing.h"

#include <random>

using namespace tilec;
using namespace tilec::test;

static const char *programs[] = {
    R"(
fn cap ( s : f32 , c : f32 ) -> f32 { t = s / c
 c * tanh ( t ) }
fn twice < f : fn ( f32 ) -> f32 > ( x : f32 ) -> f32 { f ( f ( x ) ) }
kernel attend < causal : bool = true , act : fn ( f32 ) -> f32 = exp > ( Q : bf16 [ B , H , S , D ] , K : bf16 [ B , G , T , D ] , V : bf16 [ B , G , T , E ] , slope : f32 [ H ] , O : out bf16 [ B , H , S , E ] , L : out f32 [ B , H , S ] ) requires H % G == 0 {
 schedule { i = 64 , kv = 32 , stages = 2 }
 grid b in B , h in H , i in tile ( S )
 g = h / ( H / G )
 if causal {
 O [ b , h , i ] , L [ b , h , i ] = attention ( Q [ b , h , i ] , K [ b , g ] , V [ b , g ] , scale = rsqrt ( D ) , mask = | q , kv | q >= kv , score = | s , q , kv | cap ( s - slope [ h ] * ( q - kv ) , 50.0 ) )
 } else {
 O [ b , h , i ] = act ( 0.5 )
 L [ b , h , i ] = twice < act > ( slope [ h ] )
 }
})",
    R"(
kernel open ( Q : bf16 [ S , D ] , K : bf16 [ T , D ] , V : bf16 [ T , E ] , x : i32 [ S ] , n : i64 , e : f32 = 1e-6 , O : inout f32 [ S , E ] , C : add f32 [ P ] ) {
 grid i in tile ( S , 32 )
 m = full f32 [ i ] -inf
 o = zeros f32 [ i , E ]
 for j in tile ( T ) if any ( i >= j ) {
 s = where ( i >= j , dot ( Q [ i ] , K [ j ] ) * rsqrt ( D ) , - inf )
 mj = max ( m , max < j > ( s ) )
 p = exp ( s - mj )
 o = o * exp ( m - mj ) + dot ( bf16 ( p ) , V [ j ] )
 m = mj
 }
 if n > 3 && e < 1 { o += 1
 } else if n == 0 { o *= 2
 }
 assert ( n > 0 , "n" )
 print ( "o" , o , m )
 O [ i ] += o / sum < E > ( o ) + random ( 3 , i )
 C [ x [ i ] ] += mean < E > ( o )
})",
    R"(
kernel norm ( X : bf16 [ M , N ] , w : f16 [ N ] , i : i64 [ M ] , Y : out f32 [ M , N ] , Z : out i64 [ M ] , B : out bool [ M ] ) {
 r = X * rsqrt ( mean < N > ( X * X ) + 1e-5 ) * w
 Y = softmax < N > ( r ) + cumsum < M > ( r )
 Z = argmax < N > ( X ) + i % 3 - i / 2
 B = all < N > ( X > 0 || ! ( X != X ) ) && i [ 0 ] == 3
})"};

static std::vector<std::string> wordsOf(llvm::StringRef text) {
  std::vector<std::string> words;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    llvm::SmallVector<llvm::StringRef> parts;
    line.split(parts, ' ', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef part : parts)
      words.push_back(part.str());
    words.push_back("\n");
  }
  return words;
}

static std::string join(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += word + (word == "\n" ? "" : " ");
  return text;
}

/// Analyzes and checks what must hold of any program. True if it parsed.
static bool survives(const std::string &text) {
  Analyzed program(text);
  // Only a program that parses is one for the analysis.
  SourceManager sources;
  DiagnosticEngine parseDiags(sources);
  ASTContext context;
  ast::File file;
  bool parses = parseFile(sources, sources.addFile("test.tile", text), context,
                          parseDiags, file);
  if (!parses)
    return false;
  bool failed = program.diags.hasErrors();
  program.check();
  INFO(text << "\n" << program.messages());
  CHECK(failed == (program.kernel == nullptr));
  if (program.kernel)
    CHECK(findViolation(*program.kernel) == "");
  for (const auto &diagnostic : program.diags.all()) {
    CHECK(diagnostic->range.isValid());
    CHECK_FALSE(diagnostic->help.empty());
    CHECK_FALSE(diagnostic->message.empty());
  }
  return true;
}

TEST_CASE("the programs to be mutilated are good", "[sema][robust]") {
  for (const char *text : programs) {
    Analyzed program(text);
    INFO(text << "\n" << program.check());
    CHECK(program.kernel);
    CHECK(survives(text));
  }
}

TEST_CASE("mutilated programs are survived", "[sema][robust]") {
  std::mt19937 random(20240701);
  auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  std::vector<std::vector<std::string>> all;
  for (const char *text : programs)
    all.push_back(wordsOf(text));
  unsigned parsed = 0;
  for (int round = 0; round < 6000; ++round) {
    std::vector<std::string> words = all[below(all.size())];
    for (size_t changes = 1 + below(3); changes-- > 0;) {
      size_t at = below(words.size()), other = below(words.size());
      switch (below(5)) {
      case 0:
        words.erase(words.begin() + static_cast<ptrdiff_t>(at));
        break;
      case 1:
        words.insert(words.begin() + static_cast<ptrdiff_t>(at), words[other]);
        break;
      case 2:
        std::swap(words[at], words[other]);
        break;
      default: {
        // A name for a name leaves most programs parsable.
        if (!isalpha(static_cast<unsigned char>(words[at][0])))
          break;
        const auto &source = all[below(all.size())];
        for (int tries = 0; tries < 20; ++tries) {
          const std::string &word = source[below(source.size())];
          if (isalnum(static_cast<unsigned char>(word[0]))) {
            words[at] = word;
            break;
          }
        }
        break;
      }
      }
    }
    parsed += survives(join(words));
  }
  // Else this would not test the analysis.
  CHECK(parsed > 1000);
}

//===- ControlFlowTest.cpp - Branches, calls, printf, assert --------------===//

#include "test/Unit/Emulator/Machine/Launching.h"
#include <cstdio>

using namespace tilec::emulator;

TEST_CASE("lanes diverge, loop and meet") {
  // Collatz steps: every lane takes another path.
  Runner runner(R"(
    mul.wide.u32 %rd4, %r0, 4;
    add.s64 %rd4, %rd1, %rd4;
    add.u32 %r1, %r0, 1;
    mov.u32 %r2, 0;
  LOOP:
    setp.eq.u32 %p1, %r1, 1;
    @%p1 bra DONE;
    and.b32 %r3, %r1, 1;
    setp.ne.u32 %p2, %r3, 0;
    @%p2 bra ODD;
    shr.u32 %r1, %r1, 1;
    bra.uni NEXT;
  ODD:
    mad.lo.u32 %r1, %r1, 3, 1;
  NEXT:
    add.u32 %r2, %r2, 1;
    bra.uni LOOP;
  DONE:
    st.global.u32 [%rd4], %r2;
    ret;)");
  runner.options.block = {100, 1, 1};
  uint64_t out = runner.array(std::vector<uint32_t>(100));
  auto result = runner.run(out);
  CHECK_SOUND(result);
  auto steps = runner.read<uint32_t>(out, 100);
  unsigned longest = 0;
  for (unsigned i = 0; i != 100; ++i) {
    unsigned n = i + 1, expected = 0;
    for (; n != 1; ++expected)
      n = n % 2 ? 3 * n + 1 : n / 2;
    CHECK(steps[i] == expected);
    longest = std::max(longest, expected);
  }
  // Lanes go together: not each for itself.
  CHECK(result.counters.warpInstructions < 4 * 11 * (longest + 2));
}

TEST_CASE("branch tables, and an index beyond") {
  Runner runner(R"(
    TABLE: .branchtargets A, B, C;
    mul.wide.u32 %rd4, %r0, 4;
    add.s64 %rd4, %rd1, %rd4;
    rem.u32 %r1, %r0, 3;
    cvt.u32.u64 %r3, %rd2;
    add.u32 %r1, %r1, %r3;
    brx.idx %r1, TABLE;
    mov.u32 %r2, 40;
    bra END;
  A: mov.u32 %r2, 10; bra END;
  B: mov.u32 %r2, 20; bra END;
  C: mov.u32 %r2, 30;
  END:
    st.global.u32 [%rd4], %r2;
    ret;)");
  runner.options.block = {32, 1, 1};
  uint64_t out = runner.array(std::vector<uint32_t>(32));
  CHECK_SOUND(runner.run(out));
  auto values = runner.read<uint32_t>(out, 32);
  for (unsigned i = 0; i != 32; ++i)
    CHECK(values[i] == 10 * (i % 3 + 1));
  CHECK_REPORT(runner.run(out, 1), ReportKind::BadOperand,
               "an index of 3 in a table of 3");
}

namespace {
constexpr char functions[] = R"(
.func (.param .b32 result) twice(.param .b32 x) {
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [x];
  add.u32 %r1, %r1, %r1;
  st.param.b32 [result], %r1;
  ret;
}
.func (.param .b32 result) sum(.param .b32 x, .param .b64 y) {
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .reg .pred %p<4>;
  ld.param.u32 %r1, [x];
  ld.param.u64 %rd1, [y];
  cvt.u32.u64 %r2, %rd1;
  {
    .param .b32 a; .param .b32 r;
    st.param.b32 [a], %r1;
    call.uni (r), twice, (a);
    ld.param.b32 %r3, [r];
  }
  setp.gt.u32 %p1, %r3, 20;
  @%p1 bra L;
  add.u32 %r3, %r3, %r2;
L:
  st.param.b32 [result], %r3;
  ret;
}
.func (.param .b32 result) two(.param .b32 x) {
  st.param.b32 [result], 2;
  ret;
}
.global .align 8 .u64 table[2] = {twice, two};
)";
} // namespace

TEST_CASE("calls, direct and through addresses") {
  Runner runner(R"(
    mul.wide.u32 %rd4, %r0, 4;
    add.s64 %rd4, %rd1, %rd4;
    {
      .param .b32 a; .param .b64 b; .param .b32 r;
      st.param.b32 [a], %r0;
      st.param.b64 [b], 1000;
      call (r), sum, (a, b);
      ld.param.b32 %r1, [r];
    }
    and.b32 %r2, %r0, 1;
    mul.wide.u32 %rd5, %r2, 8;
    mov.u64 %rd6, table;
    add.s64 %rd6, %rd6, %rd5;
    ld.global.u64 %rd7, [%rd6];
    {
      .param .b32 a; .param .b32 r;
      st.param.b32 [a], %r0;
      prototype : .callprototype (.param .b32 _) _ (.param .b32 _);
      call (r), %rd7, (a), prototype;
      ld.param.b32 %r2, [r];
    }
    mad.lo.u32 %r1, %r2, 10000, %r1;
    st.global.u32 [%rd4], %r1;
    ret;)",
                functions);
  runner.options.block = {40, 1, 1};
  uint64_t out = runner.array(std::vector<uint32_t>(40));
  CHECK_SOUND(runner.run(out));
  auto values = runner.read<uint32_t>(out, 40);
  for (unsigned i = 0; i != 40; ++i) {
    unsigned sum = 2 * i > 20 ? 2 * i : 2 * i + 1000;
    CHECK(values[i] == (i % 2 ? 2 : 2 * i) * 10000 + sum);
  }
}

TEST_CASE("a call of what is not a function") {
  Runner runner(R"(
    {
      .param .b32 a; .param .b32 r;
      st.param.b32 [a], %r0;
      prototype : .callprototype (.param .b32 _) _ (.param .b32 _);
      call (r), %rd1, (a), prototype;
    }
    ret;)");
  CHECK_REPORT(runner.run(12345), ReportKind::BadOperand,
               "not that of a function");
}

TEST_CASE("recursion is refused") {
  DeviceMemory memory;
  std::string direct = R"(
.func f(.param .b32 x) {
  .param .b32 a;
  st.param.b32 [a], 1;
  call f, (a);
  ret;
})";
  auto loaded = loadProgram(header() + direct, "bad.ptx", memory);
  REQUIRE(!bool(loaded));
  CHECK_THAT(llvm::toString(loaded.takeError()),
             Catch::Contains("calls itself"));

  Runner runner(R"(
    mov.u64 %rd5, f;
    { .param .b64 a; st.param.b64 [a], %rd5; call f, (a); }
    ret;)",
                R"(
.func f(.param .b64 x) {
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [x];
  { .param .b64 a;
  st.param.b64 [a], %rd1;
  prototype : .callprototype _ (.param .b64 _);
  call %rd1, (a), prototype; }
  ret;
}
)");
  CHECK_REPORT(runner.run(), ReportKind::BadOperand, "a recursive call of 'f'");
}

namespace {
constexpr char declarations[] = R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l,
                           .param .b64 n, .param .b64 s);
)";

std::string text(const std::string &name, const std::string &value) {
  std::string result = ".global .align 1 .b8 " + name + "[" +
                       std::to_string(value.size() + 1) + "] = {";
  for (char c : value)
    result += std::to_string(int(c)) + ", ";
  return result + "0};\n";
}

constexpr char print[] = R"(
    { .param .b64 f; .param .b64 a; .param .b32 r;
      st.param.b64 [f], %rd6; st.param.b64 [a], %rd7;
      call (r), vprintf, (f, a);
      ld.param.b32 %r9, [r]; }
)";
} // namespace

TEST_CASE("printf formats as C does") {
  Runner runner(
      R"(
    .local .align 8 .b8 l[96];
    mov.u64 %rd5, l;
    cvta.local.u64 %rd7, %rd5;
    mov.u64 %rd6, format;
    cvta.global.u64 %rd6, %rd6;
    st.local.u32 [%rd5], -5;
    st.local.u64 [%rd5+8], 0x123456789abc;
    st.local.f64 [%rd5+16], 0d400921FB54442D18;
    mov.u64 %rd8, word;
    cvta.global.u64 %rd8, %rd8;
    st.local.u64 [%rd5+24], %rd8;
    st.local.u32 [%rd5+32], 65;
    st.local.u32 [%rd5+36], 7;
    st.local.u32 [%rd5+40], 3;
    st.local.f64 [%rd5+48], 0d3FE0000000000000;
    st.local.u32 [%rd5+56], 255;
    st.local.u64 [%rd5+64], -1;
)" + std::string(print) +
          "ret;",
      declarations +
          text("format", "%d|%llx|%8.3f|%-6s|%c|%*.*f|%#X|%lld|%%|%5") +
          text("word", "abc"));
  auto result = runner.run();
  CHECK_SOUND(result);
  char expected[200];
  std::snprintf(
      expected, sizeof expected, "%d|%llx|%8.3f|%-6s|%c|%*.*f|%#X|%lld|%%|", -5,
      0x123456789abcull, 3.141592653589793, "abc", 'A', 7, 3, 0.5, 255u, -1ll);
  CHECK(result.printed == std::string(expected) + "%5");
}

TEST_CASE("every thread prints, and a pointer that is wrong prints nothing") {
  Runner runner(R"(
    .local .align 8 .b8 l[8];
    mov.u64 %rd5, l;
    cvta.local.u64 %rd7, %rd5;
    mov.u64 %rd6, format;
    cvta.global.u64 %rd6, %rd6;
    st.local.u64 [%rd5], 0;
)" + std::string(print) +
                    "ret;",
                declarations + text("format", "<%s>"));
  runner.options.block = {3, 1, 1};
  auto result = runner.run();
  CHECK(result.printed == "<><><>");
}

TEST_CASE("a failed assert names its place and ends the run") {
  Runner runner(R"(
    setp.ne.u32 %p1, %r0, 35;
    @%p1 bra GOOD;
    mov.u64 %rd5, message; cvta.global.u64 %rd5, %rd5;
    mov.u64 %rd6, file; cvta.global.u64 %rd6, %rd6;
    mov.u64 %rd7, name; cvta.global.u64 %rd7, %rd7;
    { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;
      st.param.b64 [m], %rd5; st.param.b64 [f], %rd6; st.param.b32 [l], 77;
      st.param.b64 [n], %rd7; st.param.b64 [s], 1;
      call __assertfail, (m, f, l, n, s); }
  GOOD:
    ret;)",
                declarations + text("message", "n < 3") + text("file", "x.cu") +
                    text("name", "void k()"));
  runner.options.block = {64, 1, 1};
  runner.options.grid = {3, 1, 1};
  auto result = runner.run();
  CHECK_REPORT(result, ReportKind::AssertFailed, "'n < 3' failed at x.cu:77",
               "in 'void k()'", "thread 35");
}

TEST_CASE("trap is reported; brkpt is nothing") {
  Runner runner("brkpt; setp.eq.u32 %p1, %r0, 3; @%p1 trap; ret;");
  runner.options.block = {32, 1, 1};
  CHECK_REPORT(runner.run(), ReportKind::AssertFailed, "trap", "thread 3");
  runner.options.block = {3, 1, 1};
  CHECK_SOUND(runner.run());
}

TEST_CASE("functions that the system does not have are refused") {
  DeviceMemory memory;
  auto loaded = loadProgram(
      header() + ".extern .func (.param .b64 r) malloc(.param .b64 n);\n" +
          kernel("{ .param .b64 n; .param .b64 r; st.param.b64 [n], 8;\n"
                 "call (r), malloc, (n); } ret;"),
      "bad.ptx", memory);
  REQUIRE(!bool(loaded));
  CHECK_THAT(llvm::toString(loaded.takeError()), Catch::Contains("malloc"));
}

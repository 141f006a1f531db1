//===- StackTest.cpp - alloca, stacksave, stackrestore --------------------===//

#include "Launching.h"

using namespace tilec::emulator;

TEST_CASE("alloca gives each thread memory of its own") {
  // Of different sizes in each thread, and behind its variables.
  Runner runner(R"(
    .local .align 4 .b8 variable[4];
    mov.u64 %rd4, variable;
    st.local.u32 [%rd4], 7;
    mul.wide.u32 %rd5, %r0, 4;
    add.u64 %rd6, %rd5, 8;
    alloca.u64 %rd7, %rd6, 64;
    and.b64 %rd8, %rd7, 63;
    st.local.u32 [%rd7], %r0;
    add.u64 %rd9, %rd7, %rd5;
    st.local.u32 [%rd9+4], 100;
    alloca.u64 %rd10, 0;
    alloca.u64 %rd11, 16;
    cvta.local.u64 %rd12, %rd11;
    st.u64 [%rd12+8], %rd8;
    ld.local.u32 %r1, [%rd7];
    ld.local.u32 %r2, [%rd4];
    ld.local.u32 %r3, [%rd9+4];
    ld.u32 %r4, [%rd12+8];
    add.u32 %r1, %r1, %r2;
    add.u32 %r1, %r1, %r3;
    add.u32 %r1, %r1, %r4;
    add.u64 %rd13, %rd1, %rd5;
    st.global.u32 [%rd13], %r1;
    ret;)");
  runner.options.block = {70, 1, 1};
  uint64_t out = runner.array(std::vector<uint32_t>(70));
  CHECK(summary(runner.run(out)).empty());
  auto found = runner.read<uint32_t>(out, 70);
  for (uint32_t i = 0; i < 70; ++i)
    CHECK(found[i] == i + 107);
}

TEST_CASE("the stack goes back to where it was") {
  // Without stackrestore it would not fit.
  std::string text = R"(
    mov.u32 %r1, 0;
    again:
    stacksave.u64 %rd4;
    alloca.u64 %rd5, 300000;
    st.local.u32 [%rd5+299996], %r1;
    stackrestore.u64 %rd4;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 3;
    @%p1 bra again;
    ret;)";
  CHECK(summary(Runner(text).run()).empty());
  size_t at = text.find("stackrestore");
  text.erase(at, text.find('\n', at) - at);
  auto result = Runner(text).run();
  INFO(summary(result));
  REQUIRE(!result.reports.empty());
  CHECK(result.reports[0].kind == ReportKind::OutOfBounds);
  CHECK(contains(result.reports[0].message,
                 "300000 bytes do not fit in the local memory of a thread"));
}

TEST_CASE("misuse of the stack") {
  // Memory that was given back is not there.
  CHECK_REPORT(Runner("stacksave.u64 %rd4; alloca.u64 %rd5, 8;\n"
                      "stackrestore.u64 %rd4; ld.local.u32 %r1, [%rd5]; ret;")
                   .run(),
               ReportKind::OutOfBounds, "of local memory at 0 of 0 bytes");
  CHECK_REPORT(
      Runner("alloca.u64 %rd5, 8; ld.local.u32 %r1, [%rd5+8]; ret;").run(),
      ReportKind::OutOfBounds, "of local memory at 8 of 8 bytes");
  CHECK_REPORT(Runner("mov.u64 %rd4, 8; stackrestore.u64 %rd4; ret;").run(),
               ReportKind::BadOperand, "the stack was not so large");
}

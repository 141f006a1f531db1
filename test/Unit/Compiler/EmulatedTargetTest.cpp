//===- EmulatedTargetTest.cpp - Findings as diagnostics ---------*- C++ -*-===//

#include "lib/Compiler/EmulatedTarget.h"
#include <catch2/catch.hpp>

using namespace tilec;
using emulator::EmulatedRun;
using emulator::ReportKind;

static constexpr const char *kernelText =
    R"(kernel copy(X: f32[N], Y: out f32[N]) {
  grid n in tile(N)
  x = X[n]   // The load.
  Y[n] = x
}
)";

/// File 1 is the CUDA code, with a function that is inlined at line 3 of the
/// program, by way of another one; file 2 is the program.
static constexpr const char *ptxText = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry copy()
{
.reg .b32 %r<3>;
.loc 2 3 7
.loc 1 20 3, function_name $L__info_string0, inlined_at 2 3 7
.loc 1 10 5, function_name $L__info_string1, inlined_at 1 20 3
mov.u32 %r1, 1;
.loc 2 4 3
mov.u32 %r2, 2;
.loc 1 99 3
ret;
}
.file 1 "copy.cu"
.file 2 "/elsewhere/../somewhere/copy.tile"
)";

namespace {
struct Fixture {
  Fixture()
      : program(Program::loadText("/somewhere/copy.tile", kernelText, {})),
        kernel(program->analyze(*program->findKernel(""), {}, "sm_80")),
        code(llvm::cantFail(
            emulator::loadProgram(ptxText, "copy.ptx", memory))) {
    REQUIRE(kernel);
  }

  /// A report of two threads that execute instructions `a` and `b`.
  EmulatedRun run(unsigned a, unsigned b, uint64_t seed) const {
    EmulatedRun result;
    result.program = code;
    result.options.seed = seed;
    emulator::Report report;
    report.kind = ReportKind::SharedRace;
    report.message = "two threads write";
    report.remedy = "order them";
    report.buffer = "shared memory at 16";
    report.count = 2;
    for (unsigned index : {a, b}) {
      const emulator::ptx::Instruction &at =
          code->module().functions[0].instructions[index];
      report.participants.push_back(
          {at.location, at.name(), {1, 0, 2}, int(index), "writes"});
    }
    result.result.reports.push_back(report);
    return result;
  }
  std::string text() const {
    std::string result;
    llvm::raw_string_ostream os(result);
    program->diags.print(os);
    return result;
  }

  emulator::DeviceMemory memory;
  std::unique_ptr<Program> program;
  std::unique_ptr<typed::Kernel> kernel;
  std::shared_ptr<const emulator::Program> code;
};
} // namespace

TEST_CASE("a finding is an error at the line of the program") {
  Fixture f;
  EmulationFindings findings;
  findings.add(f.run(0, 1, 5));
  CHECK(findings.report(*f.program, *f.kernel));
  CHECK(f.text() ==
        "/somewhere/copy.tile:3:3: error: two threads write\n"
        "  x = X[n]   // The load.\n"
        "  ^~~~~~~~~~~~~~~~~~~~~~~\n"
        "  thread 0 of block (1, 0, 2) writes: mov.u32, line 10 of copy.ptx\n"
        "/somewhere/copy.tile:4:3: note: thread 1 of block (1, 0, 2) writes: "
        "mov.u32, line 12 of copy.ptx\n"
        "  Y[n] = x\n"
        "  ^~~~~~~~\n"
        "  in shared memory at 16\n"
        "  found 2 times\n"
        "  help: nothing in a .tile program can cause this: it is a bug of "
        "tilec; please report it with the program; in terms of PTX: order "
        "them\n");
  CHECK(f.program->diags.all()[0]->kind == "shared-race");
}

TEST_CASE("what several runs find is told once") {
  Fixture f;
  EmulationFindings findings;
  CHECK(findings.empty());
  EmulatedRun clean = f.run(0, 1, 3);
  clean.result.reports.clear();
  findings.add(clean, "with N=1");
  findings.add(f.run(0, 1, 4), "with N=7");
  findings.add(f.run(0, 1, 5), "with N=7");
  findings.add(f.run(1, 0, 6), "with N=7"); // Another pair of lines.
  CHECK(findings.size() == 2);
  CHECK(findings.report(*f.program, *f.kernel));
  CHECK_THAT(f.text(),
             Catch::Contains("found 4 times, in 2 of 4 runs; first with N=7 "
                             "and seed 4\n") &&
                 Catch::Contains("found 2 times, in 1 of 4 runs; first with "
                                 "N=7 and seed 6\n"));
}

TEST_CASE("code of no line of the program is told of at the kernel") {
  Fixture f;
  EmulationFindings findings;
  findings.add(f.run(2, 2, 0));
  CHECK(findings.report(*f.program, *f.kernel));
  CHECK_THAT(f.text(), Catch::StartsWith("/somewhere/copy.tile:1:8: error: two "
                                         "threads write\n"));
  CHECK_FALSE(EmulationFindings().report(*f.program, *f.kernel));
}

TEST_CASE("the help says what the author of a program can do") {
  Fixture f;
  auto helpFor = [&](ReportKind kind, bool sameBlock) {
    Fixture fresh;
    EmulatedRun run = f.run(0, 1, 0);
    emulator::Report &report = run.result.reports[0];
    report.kind = kind;
    if (!sameBlock)
      report.participants[1].block = {2, 0, 2};
    EmulationFindings findings;
    findings.add(run);
    findings.report(*fresh.program, *fresh.kernel);
    std::string text = fresh.text();
    return text.substr(text.find("  help: ") + 8);
  };
  // Of programs of the grid the kernel says which elements they write.
  CHECK_THAT(helpFor(ReportKind::GlobalRace, false),
             Catch::StartsWith("let no program of the grid write") &&
                 Catch::Contains("in terms of PTX: order them\n"));
  // In a block all order is the compiler's.
  CHECK_THAT(helpFor(ReportKind::GlobalRace, true),
             Catch::StartsWith("nothing in a .tile program can cause this"));
  CHECK(helpFor(ReportKind::AssertFailed, true) == "order them\n");
}

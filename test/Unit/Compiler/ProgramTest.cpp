//===- ProgramTest.cpp - Programs, and errors of libraries ------*- C++ -*-===//

#include "lib/Compiler/Program.h"
#include "lib/Compiler/Version.h"
#include "lib/Runtime/GPU/GPUError.h"
#include <catch2/catch.hpp>

using namespace tilec;

static const char *const text =
    "kernel k(X: f32[N], Y: out f32[N]) { Y = X }\n"
    "kernel bad(X: f32[N], Y: out f32[N]) { Y = x }\n";

TEST_CASE("a fork shares the text and has its own messages") {
  std::unique_ptr<Program> program = Program::loadText("k.tile", text, {});
  REQUIRE(program->tree);
  std::unique_ptr<Program> fork = program->fork();
  CHECK(fork->tree == program->tree);
  CHECK(fork->sources.getText(0) == text);
  const ast::KernelDecl *bad = fork->findKernel("bad");
  REQUIRE(bad);
  CHECK_FALSE(fork->analyze(*bad, {}, "cpu"));
  CHECK(fork->diags.getNumErrors() == 1);
  CHECK(program->diags.all().empty());

  // Neither needs the other.
  program = nullptr;
  std::unique_ptr<Program> next = fork->fork();
  CHECK(next->diags.all().empty());
  fork = nullptr;
  std::unique_ptr<typed::Kernel> good =
      next->analyze(*next->findKernel("k"), {}, "cpu");
  REQUIRE(good);
  CHECK(good->name == "k");
}

TEST_CASE("errors of libraries become messages") {
  std::unique_ptr<Program> program = Program::loadText("k.tile", text, {});
  Diagnostic &plain = reportError(*program, {}, "argument 'X'",
                                  llvm::createStringError("too bad"));
  CHECK(plain.message == "argument 'X': too bad");
  CHECK(plain.help.empty());
  CHECK(plain.kind.empty());
  Diagnostic &ofGPU = reportError(
      *program, {}, "",
      gpu::gpuError(gpu::ErrorKind::NoDriver, "no driver here", "install one"));
  CHECK(ofGPU.message == "no driver here");
  CHECK(ofGPU.help == "install one");
  CHECK(ofGPU.kind == "no-driver");
  std::string json;
  llvm::raw_string_ostream os(json);
  program->diags.printJson(os);
  CHECK_THAT(json, Catch::Contains("\"kind\": \"no-driver\""));
}

TEST_CASE("this build has an identity") {
  const std::string &identity = buildIdentity();
  CHECK_THAT(identity, Catch::StartsWith("tilec "));
  CHECK_THAT(identity, Catch::Contains(" LLVM 22."));
  // A SHA-1 in hexadecimal digits at the end.
  REQUIRE(identity.size() > 41);
  CHECK(identity[identity.size() - 41] == ' ');
  CHECK(identity.find_first_not_of("0123456789abcdef", identity.size() - 40) ==
        std::string::npos);
}

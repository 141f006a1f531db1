//===- PipelinesTest.cpp - Passes that fail, and remarks --------*- C++ -*-===//
//
// No program makes a pass fail, so the stages are run here without what they
// need, to see that the message says what happened, and that the files it names
// are there.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/CpuTarget.h"
#include "llvm/Support/FileSystem.h"
#include <catch2/catch.hpp>

using namespace tilec;
using Catch::Matchers::Contains;

namespace {
/// An attention lowered for given extents.
struct Lowered {
  explicit Lowered(llvm::StringMap<int64_t> extents,
                   llvm::StringRef remarks = "") {
    program = Program::loadText(
        "k.tile",
        "kernel attend(Q: f32[S, D], K: f32[T, D], V: f32[T, D],\n"
        "              O: out f32[S, D]) {\n"
        "  grid i in tile(S)\n"
        "  O[i] = attention(Q[i], K, V, mask = |q, kv| q >= kv)\n"
        "}\n",
        {});
    kernel = program->analyze(*program->findKernel("attend"), {}, "cpu");
    REQUIRE(kernel);
    Specialization specialization;
    specialization.extents = std::move(extents);
    specialization.unitStride.assign(kernel->params.size(), 1);
    context = makeContext();
    bridge = std::make_unique<DiagnosticBridge>(*context, *program, remarks);
    module =
        buildTileModule(*program, *kernel, specialization, options, *context);
    REQUIRE(module);
  }

  PipelineResult run(const PipelineOptions &pipeline = {}) {
    return runPipeline(*module, "cpu", pipeline, llvm::nulls());
  }

  std::string messages() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    program->diags.print(os);
    return text;
  }

  /// The file that the help of the last message names, deleted.
  std::string takeFile() const {
    const std::string &help = program->diags.all().back()->help;
    size_t begin = help.find('\''), end = help.find('\'', begin + 1);
    REQUIRE(end != std::string::npos);
    std::string path = help.substr(begin + 1, end - begin - 1);
    auto file = llvm::MemoryBuffer::getFile(path);
    REQUIRE(file);
    std::string text = (*file)->getBuffer().str();
    CHECK_FALSE(llvm::sys::fs::remove(path));
    return text;
  }

  std::unique_ptr<Program> program;
  std::unique_ptr<typed::Kernel> kernel;
  CompileOptions options;
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<DiagnosticBridge> bridge;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
} // namespace

static llvm::StringMap<int64_t> wholeAxes() { return {{"T", 300}, {"D", 16}}; }

TEST_CASE("the tile pipeline runs, and stops where it should") {
  Lowered all(wholeAxes());
  CHECK(all.run() == PipelineResult::Done);
  CHECK(all.messages() == "");

  Lowered some(wholeAxes());
  PipelineOptions stop;
  stop.stopAfter = "tile-expand-attention";
  CHECK(some.run(stop) == PipelineResult::Stopped);
}

TEST_CASE("a failed pass leaves a reproducer and says so") {
  Lowered lowered({}); // Expanding an attention takes the extents.
  CHECK(lowered.run() == PipelineResult::Failed);
  std::string text = lowered.messages();
  CHECK_THAT(text, Contains("k.tile:4:10: error: 'tile.attention' op expected "
                            "static extents"));
  CHECK_THAT(text, Contains("error: internal error: pass "
                            "'tile-expand-attention' failed"));
  CHECK_THAT(text, Contains("help: this is a bug of tilec; please report it "
                            "with the program and '"));
  // Only what concerns a user.
  CHECK_THAT(text, !Contains("MLIR pass pipeline"));
  CHECK(lowered.program->diags.getNumErrors() == 2);

  std::string reproducer = lowered.takeFile();
  CHECK_THAT(reproducer, Contains("tile.attention"));
  CHECK_THAT(reproducer, Contains("mlir_reproducer"));
  CHECK_THAT(reproducer, Contains("tile-expand-attention"));
}

TEST_CASE("a failure of code generation leaves the module") {
  Lowered lowered(wholeAxes()); // The code generator wants expanded attention.
  CHECK_FALSE(emitLLVM(*lowered.program, *lowered.kernel, *lowered.module,
                       lowered.options));
  CHECK_THAT(lowered.messages(),
             Contains("k.tile:1:8: error: internal error: cannot lower kernel "
                      "'attend'"));
  CHECK(lowered.program->diags.getNumErrors() == 1);
  CHECK_THAT(lowered.takeFile(), Contains("tile.attention"));
}

TEST_CASE("remarks of the passes whose names match") {
  for (const char *regex : {"split", "^tile-split-loops$", "."}) {
    Lowered lowered(wholeAxes(), regex);
    REQUIRE(lowered.run() == PipelineResult::Done);
    CHECK_THAT(lowered.messages(),
               Contains("k.tile:4:10: remark: split into full, partial") &&
                   Contains(" [tile-split-loops]\n"));
  }
  for (const char *regex : {"", "fuse", "^split"}) {
    Lowered lowered(wholeAxes(), regex);
    REQUIRE(lowered.run() == PipelineResult::Done);
    CHECK(lowered.messages() == "");
  }
}

TEST_CASE("messages of MLIR find their places") {
  Lowered lowered(wholeAxes());
  mlir::MLIRContext &context = *lowered.context;
  auto at = [&](llvm::StringRef file, unsigned line, unsigned column) {
    return mlir::FileLineColLoc::get(&context, file, line, column);
  };
  {
    mlir::InFlightDiagnostic error = mlir::emitError(at("k.tile", 4, 10))
                                     << "something";
    error.attachNote(at("k.tile", 3, 8)) << "because of this";
    error.attachNote() << "help: do something else";
  }
  CHECK_THAT(lowered.messages(),
             Contains("k.tile:4:10: error: something\n") &&
                 Contains("^~~~~~~~~\n") &&
                 Contains("k.tile:3:8: note: because of this\n") &&
                 Contains("  help: do something else\n"));

  // Places that are not in the program are left out.
  mlir::emitWarning(at("other.tile", 1, 1)) << "from elsewhere";
  mlir::emitWarning(at("k.tile", 1000, 1)) << "beyond the end";
  mlir::emitWarning(at("k.tile", 1, 1000)) << "beyond the line";
  mlir::emitWarning(mlir::UnknownLoc::get(&context)) << "from nowhere";
  std::string text = lowered.messages();
  CHECK_THAT(text, Contains("warning: from elsewhere"));
  CHECK_THAT(text, Contains("warning: beyond the end"));
  CHECK_THAT(text, Contains("warning: beyond the line"));
  CHECK_THAT(text, Contains("warning: from nowhere"));
}

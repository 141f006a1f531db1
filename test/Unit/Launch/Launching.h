//===- Launching.h - Helpers for tests of launches --------------*- C++ -*-===//
//
// A kernel from a string, bound to arguments.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_UNIT_LAUNCH_LAUNCHING_H
#define TILEC_TEST_UNIT_LAUNCH_LAUNCHING_H

#include "lib/Frontend/Parser.h"
#include "lib/Frontend/Sema.h"
#include "lib/Launch/Launch.h"
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

namespace tilec::test {

/// A kernel and the messages of its last binding.
class Launching {
public:
  explicit Launching(std::string text) {
    unsigned file = sources.addFile("k.tile", std::move(text));
    ast::Program *program = loadProgram(file, {}, sources, context, diags);
    const auto *decl =
        llvm::cast<ast::KernelDecl>(program->main().decls.front());
    kernel = analyzeKernel(*program, *decl, {}, "cpu", diags);
    INFO(messages());
    REQUIRE(kernel);
  }

  std::optional<BoundLaunch> bind(std::vector<Argument> args) {
    diags.clear();
    std::optional<BoundLaunch> bound = bindLaunch(*kernel, args, diags);
    // Either a launch or at least one message.
    CHECK(bound.has_value() != diags.hasErrors());
    return bound;
  }
  bool binds(std::vector<Argument> args) { return bool(bind(args)); }

  /// Binds what is wrong, and returns the messages.
  std::string failure(std::vector<Argument> args) {
    bool isBound = binds(std::move(args));
    CHECK_FALSE(isBound);
    for (const auto &diagnostic : diags.all()) {
      CHECK(diagnostic->range.isValid());
      CHECK_FALSE(diagnostic->help.empty());
    }
    return messages();
  }

  std::string messages() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    diags.print(os);
    return text;
  }

  SourceManager sources;
  DiagnosticEngine diags{sources};
  ASTContext context;
  std::unique_ptr<typed::Kernel> kernel;
};

/// f32 numbers that views are made of.
inline float memory[4096];

inline TensorView view(std::initializer_list<int64_t> shape, int64_t offset = 0,
                       DType dtype = DType::F32) {
  return TensorView::contiguous(memory + offset, dtype, shape);
}

inline TensorView strided(std::initializer_list<int64_t> shape,
                          std::initializer_list<int64_t> strides,
                          int64_t offset = 0) {
  return {memory + offset, DType::F32, Extents(shape), Extents(strides)};
}

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_LAUNCH_LAUNCHING_H

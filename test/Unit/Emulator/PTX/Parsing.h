//===- Parsing.h - Modules from text, for tests -----------------*- C++ -*-===//

#ifndef TILEC_TEST_UNIT_EMULATOR_PTX_PARSING_H
#define TILEC_TEST_UNIT_EMULATOR_PTX_PARSING_H

#include "lib/Emulator/PTX/Parser.h"
#include <catch2/catch.hpp>

namespace tilec::test {

/// The module of a text that must be right.
inline emulator::ptx::Module parse(const std::string &text) {
  auto module = emulator::ptx::parseModule(text, "t.ptx");
  if (!module)
    FAIL(llvm::toString(module.takeError()));
  return std::move(*module);
}

/// The error of a text that must be wrong.
inline std::string errorOf(const std::string &text) {
  auto module = emulator::ptx::parseModule(text, "t.ptx");
  if (module)
    return "no error";
  return llvm::toString(module.takeError());
}

/// What stands at the head of every module: one line.
inline std::string head() {
  return ".version 9.0 .target sm_90a "
         ".address_size 64\n";
}

/// The function of a module that has a kernel with these statements. Its first
/// line is line 2, and the statements begin in line 3.
inline emulator::ptx::Function parseBody(const std::string &statements) {
  emulator::ptx::Module module =
      parse(head() +
            ".visible .entry f(.param .u64 p, .param .align 8 .b8 q[24])"
            " {\n" +
            statements + "\n}\n");
  REQUIRE(module.functions.size() == 1);
  return module.functions.front();
}
inline std::string errorOfBody(const std::string &statements) {
  return errorOf(head() + ".visible .entry f(.param .u64 p) {\n" + statements +
                 "\n}\n");
}

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_EMULATOR_PTX_PARSING_H

//===- Loading.h - Programs from text, for tests ----------------*- C++ -*-===//

#ifndef TILEC_TEST_UNIT_EMULATOR_PROGRAM_LOADING_H
#define TILEC_TEST_UNIT_EMULATOR_PROGRAM_LOADING_H

#include "lib/Emulator/Emulator.h"
#include <catch2/catch.hpp>

namespace tilec::test {

/// A program, and the memory in which its variables are.
struct Loaded {
  explicit Loaded(const std::string &text) {
    auto made = emulator::loadProgram(
        ".version 9.0 .target sm_90a .address_size 64\n" + text, "t.ptx",
        memory);
    if (made)
      program = std::move(*made);
    else
      error = llvm::toString(made.takeError());
  }
  const emulator::Program *operator->() const {
    if (!program)
      FAIL(error);
    return program.get();
  }

  emulator::DeviceMemory memory;
  std::shared_ptr<const emulator::Program> program;
  std::string error = "no error";
};

/// A kernel of these statements, which begin in line 3.
inline std::string kernelOf(const std::string &statements) {
  return ".visible .entry f(.param .u64 p) { .reg .pred %p<4>; "
         ".reg .b32 %r<8>; .reg .b64 %x<8>; .reg .f32 %f<4>; .reg .b16 "
         "%h<4>;\n" +
         statements + "\n}\n";
}

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_EMULATOR_PROGRAM_LOADING_H

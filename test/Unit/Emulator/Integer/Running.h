//===- Running.h - One instruction on many values, for tests ----*- C++ -*-===//
//
// Runs statements of PTX in a kernel that gives each thread operands of its
// own, and returns what the threads computed:
//
//     check("add.s32 %d, %a, %b;", Type::S32, {Type::S32, Type::S32},
//           [](Operands in) { return uint32_t(in[0] + in[1]); });
//
// The operands are %a, %b, %c, %e in their order, the result is %d. Which
// values they take is every combination of some that are near where things
// change, and some that are random.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_UNIT_EMULATOR_INTEGER_RUNNING_H
#define TILEC_TEST_UNIT_EMULATOR_INTEGER_RUNNING_H

#include "lib/Emulator/PTX/Module.h"
#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

namespace tilec::test {

using emulator::ptx::Type;
/// The operands of a thread, in the low bits.
using Operands = std::array<uint64_t, 4>;

/// What each thread computes from its operands. The test fails if the program
/// is refused or there are reports.
std::vector<uint64_t> run(const std::string &statements, Type result,
                          llvm::ArrayRef<Type> types,
                          llvm::ArrayRef<Operands> inputs);

/// Values of a type: edges and random ones. Predicates are 0 and 1.
std::vector<uint64_t> valuesOf(Type type, unsigned numRandom = 6);
/// Every combination of the values of the types.
std::vector<Operands> combinations(llvm::ArrayRef<Type> types);

/// Compares what threads compute with what `expected` does, of which the low
/// bits count.
void check(const std::string &statements, Type result,
           llvm::ArrayRef<Type> types,
           const std::function<uint64_t(Operands)> &expected);
void check(const std::string &statements, Type result,
           llvm::ArrayRef<Type> types, llvm::ArrayRef<Operands> inputs,
           const std::function<uint64_t(Operands)> &expected);

/// The error of statements that the decoder does not take.
std::string errorOf(const std::string &statements);

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_EMULATOR_INTEGER_RUNNING_H

//===- Wgmma.h - Products of matrices by warpgroups -------------*- C++ -*-===//
//
// wgmma.mma_async multiplies a matrix of 64 rows by one of up to 256 columns.
// The four warps of a warpgroup execute it, each for 16 rows of its own: warp w
// reads rows 16w to 16w+15 of A and all of B, and has those rows of D in its
// registers. Nothing is exchanged, so here each warp computes its rows when it
// comes, and what the four execute is compared afterwards: they must come to
// the same instructions with the same operands in the same order.
//
// The result is in the registers at once; RegisterWatch.h has what may be done
// with them. For the detector shared memory is read from then on until a wait
// that covers it.
//
// *A wait stands for the warpgroup.* A wgmma is one operation of four warps:
// hardware executes none before the last of them has issued it, and what
// wait_group waits for is the completion of that operation. So a warp that goes
// on past wait_group knows more than that its own rows of A, and B for them,
// have been read: the parts of the other three warps are done as well. Kernels
// rely on it; after the wait one elected thread of a warpgroup tells the
// producer that a stage may be filled again.
//
// Hence wait_group waits here until the other warps have issued the wgmmas that
// it covers, and acquires the completion of all four parts of each. It asks
// that they be issued, not committed, as that is all the tensor cores need.
// What it does not give is order between the warps themselves: the completion
// of a part carries the accesses of the part, nothing that its warp did before.
// Nor are registers concerned, which are a warp's own: they are free by its own
// wait alone.
//
// A warp that has exited is not awaited; if it has left out a wgmma,
// checkStepsAtExit says so. One that lives and never comes is a deadlock.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_ASYNC_WGMMA_H
#define TILEC_EMULATOR_ASYNC_WGMMA_H

#include "lib/Emulator/Async/MatrixDescriptor.h"
#include "lib/Emulator/Async/RegisterWatch.h"
#include "lib/Emulator/Machine/Decoder.h"
#include <deque>

namespace tilec::emulator {

constexpr unsigned warpsOfWarpgroup = 4;

/// What the warps of a warpgroup, all warps from a multiple of four on, do
/// together.
struct WarpgroupState {
  /// One instruction that all four must execute.
  struct Step {
    const Instruction *at = nullptr;
    std::array<uint64_t, 2> operands = {};
    bool operator==(const Step &) const = default;
  };
  /// Steps that not all warps have come to, the first of which is number
  /// `first`; and how many each warp has done.
  std::deque<Step> steps;
  uint64_t first = 0;
  std::array<uint64_t, warpsOfWarpgroup> done = {};
  /// A warp is in a wait_group until another one has issued a wgmma.
  bool isAwaited = false;
  /// Registers of a thread, as setmaxnreg last said.
  std::array<unsigned, warpsOfWarpgroup> registers = {};
};

WarpgroupState &warpgroupOf(Warp &warp);

/// Notes that a warp executes a step, and reports if another warp executed
/// another one. False, reported, if the warpgroup is not whole.
bool takeStep(Warp &warp, LaneMask lanes, const WarpgroupState::Step &step);

/// Whether all warps of the warpgroup that have not exited have issued wgmma
/// `number`, counted from 1. If not, lanes are to wait: issuedWgmma, or the end
/// of a warp, lets them look again.
bool isIssuedByAll(Warp &warp, const Instruction &at, LaneMask lanes,
                   uint32_t number);
void issuedWgmma(Warp &warp);

/// Releases into `to` that the parts of all four warps of wgmma `number` are
/// done, and those of the ones before it.
void completeParts(Warp &warp, uint32_t number, SyncPoint &to);

/// A warp has exited: reports what the others of its warpgroup executed and it
/// did not.
void checkStepsAtExit(Warp &warp, const Instruction &at);

/// setmaxnreg.
llvm::Error decodeRegisterCount(Decoder &decoder, const ptx::Instruction &from,
                                Instruction &to);
/// For a deadlock: whether a warp waits for registers; reported.
bool reportRegisterPool(Cluster &cluster);

/// Whether it is wgmma.mma_async, which tells the watch itself.
bool isWgmma(const Instruction &at);

/// A matrix of wgmma, or the part of it that a warp reads.
struct MatrixShape {
  ptx::Type type = ptx::Type::None;
  unsigned firstOuter = 0, outer = 0; // Rows of A or columns of B.
  unsigned k = 0;
  bool isMNMajor = false;
};

/// Reads a matrix: calls `unit(address, outer, k)` for each unit of 16 bytes,
/// of which `outer` and `k` are those of its first element.
template <typename Visit>
void forEachUnit(const MatrixDescriptor &descriptor, const MatrixShape &shape,
                 Visit unit) {
  unsigned perUnit = 128 / ptx::bitsOf(shape.type);
  if (shape.isMNMajor) {
    for (unsigned k = 0; k < shape.k; ++k)
      for (unsigned i = 0; i < shape.outer; i += perUnit)
        unit(descriptor.unitMNMajor((shape.firstOuter + i) / perUnit, k), i, k);
    return;
  }
  for (unsigned i = 0; i < shape.outer; ++i)
    for (unsigned k = 0; k < shape.k; k += perUnit)
      unit(descriptor.unitKMajor(shape.firstOuter + i, k / perUnit), i, k);
}

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_ASYNC_WGMMA_H

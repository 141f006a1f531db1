//===- Program.h - A decoded module -----------------------------*- C++ -*-===//
//
// A module ready to run: instructions of all its functions in one list, slots
// for their registers, and where its variables are. See Instruction.h for the
// ideas. A Program does not change once it is made, and any number of launches
// may share it; it is bound to the DeviceMemory in which its global variables
// are.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_MACHINE_PROGRAM_H
#define TILEC_EMULATOR_MACHINE_PROGRAM_H

#include "lib/Emulator/Machine/Instruction.h"
#include "lib/Emulator/Machine/Memory.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <vector>

namespace tilec::emulator {

/// Special registers have the first slots of every warp, in this order; the
/// executor fills them in when a warp starts. Those that change while it runs
/// are brought up to date by whoever reads them.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  ClusteridX,
  ClusteridY,
  ClusteridZ,
  NclusteridX,
  NclusteridY,
  NclusteridZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
  ClusterNctarank,
  IsExplicitCluster,
  Laneid,
  Warpid,
  Nwarpid,
  Smid,
  Nsmid,
  Gridid,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  DynamicSmemSize,
  TotalSmemSize,
  Clock,
  ClockHi,
  Clock64,
  Globaltimer,
  GlobaltimerLo,
  GlobaltimerHi,
  Count,
};

/// One function as it was decoded.
struct FunctionCode {
  const ptx::Function *source = nullptr;
  uint32_t entry = 0;          // Its first instruction.
  uint32_t end = 0;            // Past its last, which is an exit or a ret.
  Slot firstRegister = 0;      // Slots of its registers, in their order.
  std::vector<Slot> registers; // The slot of each (a .b128 takes two).
  /// Where its variables are in their windows: shared, local or param offsets.
  std::vector<uint64_t> variables, params, results;
};

class Program {
public:
  /// Decodes a module. The error names the line of an instruction that is not
  /// supported. Its global variables are allocated in `memory`, which must
  /// outlive it.
  static llvm::Expected<std::shared_ptr<const Program>>
  create(ptx::Module module, DeviceMemory &memory);
  ~Program();

  const ptx::Module &module() const { return source; }
  /// The kernel of that name, or null.
  const FunctionCode *kernel(llvm::StringRef name) const;

  ptx::Module source;
  std::vector<Instruction> instructions;
  std::vector<FunctionCode> functions;
  /// Slots from 0 are registers of a warp; from firstConstant on, constants.
  Slot numRegisters = 0;
  static constexpr Slot firstConstant = 1u << 30;
  std::vector<Row> constants;
  /// Bytes of static shared memory; dynamic shared memory comes after it. Both
  /// begin at sharedOrigin in the window.
  uint64_t staticShared = 0;
  uint64_t sharedAlignment = 16;
  /// Bytes of local memory and of the param space of a thread, all functions
  /// together; the parameters of the kernel are in a window of their own.
  uint64_t localBytes = 0, paramBytes = 0;
  std::vector<uint64_t> globals; // Addresses of the module's variables.

private:
  Program() = default;
  DeviceMemory *memory = nullptr;
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_MACHINE_PROGRAM_H

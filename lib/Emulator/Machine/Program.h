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

/// Whether a special register changes while a warp runs. Only `mov` reads
/// those, by Warp::special.
constexpr bool changes(Special which) {
  return which >= Special::Clock && which <= Special::GlobaltimerHi;
}

/// The carry flag of add.cc and its kin, 0 or 1; after the special registers.
constexpr Slot carrySlot = Slot(Special::Count);

/// What the address of a function is, for calls through a register.
constexpr uint64_t functionWindow = 0x7c00'0000'0000;
constexpr uint64_t functionStride = 16;
constexpr uint64_t functionAddress(unsigned index) {
  return functionWindow + index * functionStride;
}

/// One function as it was decoded.
struct FunctionCode {
  const ptx::Function *source = nullptr;
  uint32_t entry = 0;          // Its first instruction.
  uint32_t end = 0;            // Past its last, which is an exit or a ret.
  Slot firstRegister = 0;      // Slots of its registers, in their order.
  std::vector<Slot> registers; // The slot of each (a .b128 takes two).
  /// The addresses of its variables, as instructions see them: in .shared, from
  /// sharedOrigin on; in .local and .param, offsets in the thread's memory, but
  /// for a kernel's parameters, which are in paramWindow.
  std::vector<uint64_t> variables, params, results;
  /// Of a kernel: bytes of its parameters; and of shared memory from
  /// sharedOrigin to where dynamic shared memory begins.
  uint64_t parameterBytes = 0, staticShared = 0;
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
  /// Bytes of local memory and of the param space of a thread, enough for any
  /// kernel and all functions that are called; the parameters of the kernel are
  /// in a window of their own.
  uint64_t localBytes = 0, paramBytes = 0;
  /// Addresses of the module's variables; for .shared ones from sharedOrigin
  /// on, and 0 for dynamic ones, whose address each kernel has for itself.
  std::vector<uint64_t> globals;
  /// The address that `extern .shared` variables have in a function.
  uint64_t dynamicShared(const FunctionCode &function) const;

private:
  Program() = default;
  llvm::Error allocateGlobals();
  llvm::Error initializeGlobals();
  llvm::Error placeVariables();
  llvm::Error checkCalls() const;
  void assignSlots();

  DeviceMemory *memory = nullptr;
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_MACHINE_PROGRAM_H

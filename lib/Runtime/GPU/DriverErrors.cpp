//===- DriverErrors.cpp - What the driver's errors mean ---------*- C++ -*-===//

#include "lib/Runtime/GPU/Driver.h"

using namespace tilec;
using namespace tilec::gpu;

namespace {
struct Explanation {
  cuda::Result result;
  ErrorKind kind;
  llvm::StringLiteral meaning;
  llvm::StringLiteral help;
};
} // namespace

static constexpr llvm::StringLiteral restartHelp =
    "start the process again, nothing can be run on the GPU in this one; "
    "to find the kernel, run with CUDA_LAUNCH_BLOCKING=1 or under "
    "compute-sanitizer";
static constexpr llvm::StringLiteral updateHelp =
    "install a newer driver, or a compiler (NVRTC) that is not newer than it";

static constexpr Explanation explanations[] = {
    {cuda::InvalidValue, ErrorKind::Driver, "an argument is out of range",
     "this is an error of tilec, or a pointer or stream that is not valid"},
    {cuda::OutOfMemory, ErrorKind::OutOfMemory,
     "the GPU has not enough free memory",
     "use smaller arrays, free others, or see with nvidia-smi which processes "
     "use the memory"},
    {cuda::NotInitialized, ErrorKind::Driver,
     "CUDA is not initialized in this process",
     "do not use the GPU in a process forked from one that used it; start the "
     "child with exec, or fork before"},
    {cuda::Deinitialized, ErrorKind::Driver,
     "CUDA has been shut down, as the process is exiting",
     "finish work on the GPU before the process exits"},
    {cuda::StubLibrary, ErrorKind::NoDriver,
     "the library is the stub for linking, not the driver",
     "remove the toolkit's folder 'stubs' from LD_LIBRARY_PATH"},
    {cuda::CallRequiresNewerDriver, ErrorKind::DriverTooOld,
     "the driver is too old for this call", "install a newer driver"},
    {cuda::DeviceUnavailable, ErrorKind::NoDevice,
     "another process has the GPU for itself, or it is busy",
     "see with nvidia-smi what uses it and which compute mode it is in"},
    {cuda::NoDevice, ErrorKind::NoDevice, "there is no GPU that CUDA can use",
     "check nvidia-smi and CUDA_VISIBLE_DEVICES; in a container, start it with "
     "access to the GPU; or use the target cpu"},
    {cuda::InvalidDevice, ErrorKind::NoDevice, "there is no such GPU",
     "check CUDA_VISIBLE_DEVICES"},
    {cuda::InvalidImage, ErrorKind::DriverTooOld,
     "the driver does not take the machine code", updateHelp},
    {cuda::InvalidContext, ErrorKind::Driver,
     "the context is not valid, or of another GPU than the stream",
     "pass a stream of the GPU that the arrays are on"},
    {cuda::NoBinaryForGPU, ErrorKind::WrongDevice,
     "the machine code is for another GPU",
     "compile the kernel for the architecture of this GPU"},
    {cuda::ECCUncorrectable, ErrorKind::KernelFailed,
     "the GPU found a memory error that it cannot correct",
     "see nvidia-smi -q -d ECC; the GPU may need a reset or repair"},
    {cuda::InvalidPTX, ErrorKind::Driver, "the driver finds errors in the PTX",
     "this is an error of tilec"},
    {cuda::JITCompilerNotFound, ErrorKind::Driver,
     "the driver's library for compiling PTX was not found",
     "install libnvidia-ptxjitcompiler of the driver's version"},
    {cuda::UnsupportedPTXVersion, ErrorKind::DriverTooOld,
     "the PTX is of a newer version than the driver knows", updateHelp},
    {cuda::InvalidHandle, ErrorKind::Driver,
     "a stream, event or module is not valid",
     "pass a stream that has not been destroyed, of the GPU that the arrays "
     "are on"},
    {cuda::NotFound, ErrorKind::Driver, "no such name",
     "this is an error of tilec"},
    {cuda::IllegalAddress, ErrorKind::KernelFailed,
     "a kernel accessed memory that is not there", restartHelp},
    {cuda::LaunchOutOfResources, ErrorKind::TooLarge,
     "a block takes more registers or shared memory than there are",
     "use smaller tiles or fewer threads"},
    {cuda::LaunchTimeout, ErrorKind::KernelFailed,
     "a kernel ran longer than the system allows",
     "use a GPU without a display, or smaller arrays"},
    {cuda::Assert, ErrorKind::KernelFailed, "a kernel's assertion failed",
     restartHelp},
    {cuda::HardwareStackError, ErrorKind::KernelFailed,
     "a kernel ran out of stack or damaged it", restartHelp},
    {cuda::IllegalInstruction, ErrorKind::KernelFailed,
     "a kernel came to an instruction that is not allowed (or to a trap)",
     restartHelp},
    {cuda::MisalignedAddress, ErrorKind::KernelFailed,
     "a kernel accessed memory at an address that is not aligned", restartHelp},
    {cuda::InvalidAddressSpace, ErrorKind::KernelFailed,
     "a kernel accessed memory of the wrong kind", restartHelp},
    {cuda::InvalidPC, ErrorKind::KernelFailed,
     "a kernel jumped to where no code is", restartHelp},
    {cuda::LaunchFailed, ErrorKind::KernelFailed, "a kernel failed",
     restartHelp},
    {cuda::NotPermitted, ErrorKind::Driver, "the call is not permitted here",
     "do not allocate, load or synchronize while a stream is captured"},
    {cuda::NotSupported, ErrorKind::Driver,
     "this GPU or driver does not support the call", "install a newer driver"},
    {cuda::SystemNotReady, ErrorKind::NoDevice,
     "a service that the GPU needs is not running",
     "start NVIDIA's Fabric Manager (nvidia-fabricmanager), and see "
     "nvidia-smi"},
    {cuda::SystemDriverMismatch, ErrorKind::NoDriver,
     "the driver's library and its kernel module are of different versions",
     "reboot, or load the module of the library's version"},
    {cuda::CompatNotSupportedOnDevice, ErrorKind::NoDriver,
     "the forward compatibility library does not support this GPU",
     "remove cuda-compat from LD_LIBRARY_PATH"},
    {cuda::StreamCaptureUnsupported, ErrorKind::Driver,
     "the call cannot be made while the stream is captured into a graph",
     "prepare the launch before the capture begins"},
    {cuda::StreamCaptureInvalidated, ErrorKind::Driver,
     "the capture of the stream has failed before",
     "look for the first error during the capture"},
    {cuda::Unknown, ErrorKind::Driver, "the driver does not know why",
     "see dmesg for messages that begin with NVRM or Xid"},
};

llvm::Error Driver::check(cuda::Result result, const llvm::Twine &doing) const {
  if (result == cuda::Success)
    return llvm::Error::success();
  const char *name = nullptr, *text = nullptr;
  if (result == cuda::Explained &&
      functions.getErrorString(result, &text) == cuda::Success && text) {
    auto [what, help] = llvm::StringRef(text).split("\nhelp: ");
    return gpuError(ErrorKind::Driver, "cannot " + doing + ": " + what, help);
  }
  if (!functions.getErrorName ||
      functions.getErrorName(result, &name) != cuda::Success || !name)
    name = "unknown error";
  std::string number = std::string(name) + ", " + std::to_string(result);
  for (const Explanation &known : explanations)
    if (known.result == result)
      return gpuError(known.kind,
                      "cannot " + doing + ": " + known.meaning + " (" + number +
                          ")",
                      known.help);
  if (functions.getErrorString(result, &text) != cuda::Success || !text)
    text = "the driver does not explain it";
  return gpuError(ErrorKind::Driver,
                  "cannot " + doing + ": " + text + " (" + number + ")",
                  "see NVIDIA's list of the driver's errors under that name");
}

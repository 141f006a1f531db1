//===- Driver.cpp - NVIDIA's driver -----------------------------*- C++ -*-===//

#include "lib/Runtime/GPU/Driver.h"
#include <cstdlib>
#include <mutex>

using namespace tilec;
using namespace tilec::gpu;

static constexpr llvm::StringLiteral driverName = "libcuda.so.1";

const char *cuda::Functions::load(const SharedLibrary &library) {
  const char *missing = nullptr;
#define TILEC_LOAD(member, symbol, parameters)                                 \
  if (!library.get(#symbol, member) && !missing)                               \
    missing = #symbol;
  TILEC_CUDA_FUNCTIONS(TILEC_LOAD)
#undef TILEC_LOAD
  return missing;
}

std::string gpu::cudaVersionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

Driver::~Driver() = default;

llvm::Expected<std::unique_ptr<Driver>> Driver::open(const std::string &path) {
  llvm::Expected<SharedLibrary> library = SharedLibrary::open(path);
  if (!library)
    return gpuError(ErrorKind::NoDriver,
                    "NVIDIA's driver cannot be opened: " +
                        llvm::toString(library.takeError()),
                    "install NVIDIA's driver; in a container, start it with "
                    "access to the GPU; or use the target cpu");
  std::unique_ptr<Driver> driver(new Driver);
  driver->library = std::move(*library);
  if (const char *missing = driver->functions.load(driver->library))
    return gpuError(ErrorKind::DriverTooOld,
                    "expected a driver of CUDA 11.8 or newer, but " + path +
                        " has no function " + missing,
                    "install a newer driver");
  if (llvm::Error error = driver->initialize())
    return std::move(error);
  return driver;
}

llvm::Expected<std::unique_ptr<Driver>>
Driver::adopt(const cuda::Functions &functions) {
  std::unique_ptr<Driver> driver(new Driver);
  driver->functions = functions;
  if (llvm::Error error = driver->initialize())
    return std::move(error);
  return driver;
}

llvm::Error Driver::initialize() {
  if (llvm::Error error =
          check(functions.init(0), "initialize NVIDIA's driver"))
    return error;
  int count = 0;
  if (llvm::Error error = check(functions.driverGetVersion(&versionNumber),
                                "get the driver's version"))
    return error;
  if (llvm::Error error =
          check(functions.deviceGetCount(&count), "count the GPUs"))
    return error;
  if (count <= 0)
    return check(cuda::NoDevice, "use a GPU");
  for (int i = 0; i < count; ++i) {
    devices.push_back(std::make_unique<Device>(*this, i));
    if (llvm::Error error = devices.back()->readProperties())
      return error;
  }
  return llvm::Error::success();
}

llvm::Expected<Driver &> Driver::get() {
  static std::mutex mutex;
  // Never destroyed: other threads may use it while the process exits.
  static Driver *instance = nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  if (!instance) {
    const char *demanded = std::getenv("TILEC_CUDA_DRIVER");
    llvm::Expected<std::unique_ptr<Driver>> opened =
        open(demanded && *demanded ? demanded : driverName.str());
    if (!opened)
      return opened.takeError();
    instance = opened->release();
  }
  return *instance;
}

llvm::Expected<Device &> Driver::device(unsigned ordinal) {
  if (ordinal >= devices.size())
    return gpuError(ErrorKind::NoDevice,
                    "expected a GPU from 0 to " +
                        llvm::Twine(devices.size() - 1) + ", got " +
                        llvm::Twine(ordinal),
                    "check nvidia-smi and CUDA_VISIBLE_DEVICES");
  return *devices[ordinal];
}

Device *Driver::findDevice(cuda::DeviceHandle handle) const {
  for (const std::unique_ptr<Device> &device : devices)
    if (device->handle == handle)
      return device.get();
  return nullptr;
}

llvm::Expected<Device &> Driver::currentDevice() {
  cuda::Context context = nullptr;
  cuda::DeviceHandle current = 0;
  if (functions.ctxGetCurrent(&context) == cuda::Success && context &&
      functions.ctxGetDevice(&current) == cuda::Success)
    if (Device *found = findDevice(current))
      return *found;
  return device(0);
}

llvm::Expected<StreamRef> Driver::streamOf(cuda::StreamHandle stream) {
  constexpr uintptr_t lastDefault = 2;
  if (reinterpret_cast<uintptr_t>(stream) <= lastDefault) {
    llvm::Expected<Device &> device = currentDevice();
    if (!device)
      return device.takeError();
    return StreamRef{&*device, stream};
  }
  if (devices.size() == 1)
    return StreamRef{devices.front().get(), stream};
  cuda::Context context = nullptr;
  cuda::DeviceHandle handle = 0;
  cuda::Result result = functions.streamGetCtx(stream, &context);
  if (result == cuda::Success)
    result = functions.ctxPushCurrent(context);
  if (result == cuda::Success) {
    result = functions.ctxGetDevice(&handle);
    functions.ctxPopCurrent(&context);
  }
  if (llvm::Error error = check(result, "find out which GPU a stream is of"))
    return std::move(error);
  return StreamRef{findDevice(handle), stream};
}

llvm::Expected<PointerInfo> Driver::inspect(const void *pointer) const {
  unsigned type = 0;
  unsigned managed = 0;
  int ordinal = 0;
  cuda::PointerAttribute attributes[] = {cuda::PointerMemoryType,
                                         cuda::PointerIsManaged,
                                         cuda::PointerDeviceOrdinal};
  void *values[] = {&type, &managed, &ordinal};
  // Of memory that CUDA does not know this call says nothing, without failing.
  if (llvm::Error error = check(
          functions.pointerGetAttributes(3, attributes, values,
                                         reinterpret_cast<uintptr_t>(pointer)),
          "find out what a pointer points to"))
    return std::move(error);
  PointerInfo info;
  if (managed)
    info.kind = PointerInfo::Kind::Managed;
  else if (type == cuda::MemoryDevice)
    info.kind = PointerInfo::Kind::Device;
  else if (type == cuda::MemoryHost)
    info.kind = PointerInfo::Kind::Pinned;
  if (ordinal > 0)
    info.device = ordinal;
  return info;
}

//===- KernelLaunch.cpp - Launches on streams and on the host ---*- C++ -*-===//

#include "lib/API/Kernel.h"
#include "lib/Compiler/DiagnosticBridge.h"
#include "lib/Runtime/GPU/Driver.h"

using namespace tilec;
using namespace tilec::api;

//===----------------------------------------------------------------------===//
// Where
//===----------------------------------------------------------------------===//

ErrorPtr Kernel::checkStream(tilec_stream stream) const {
  if (!stream)
    return nullptr;
  return errorOf("usage", "a stream was given for the target cpu",
                 "pass a null stream: on the cpu a kernel has run when the "
                 "launch returns");
}

ErrorPtr Kernel::findStream(tilec_stream stream, Call &call,
                            gpu::StreamRef &result) const {
  llvm::Expected<gpu::Driver &> driver = gpu::Driver::get();
  if (!driver)
    return call.fail(*this, driver.takeError());
  llvm::Expected<gpu::StreamRef> found =
      driver->streamOf(static_cast<gpu::cuda::StreamHandle>(stream));
  if (!found)
    return call.fail(*this, found.takeError());
  result = *found;
  return nullptr;
}

static std::optional<gpu::StreamRef> streamIfAny(tilec_stream stream) {
  llvm::Expected<gpu::Driver &> driver = gpu::Driver::get();
  if (!driver) {
    llvm::consumeError(driver.takeError());
    return std::nullopt;
  }
  llvm::Expected<gpu::StreamRef> found =
      driver->streamOf(static_cast<gpu::cuda::StreamHandle>(stream));
  if (!found) {
    llvm::consumeError(found.takeError());
    return std::nullopt;
  }
  return *found;
}

/// The device that the tensors are on or, if they leave that open, the current
/// one.
ErrorPtr Kernel::findDevice(Call &call, gpu::Device *&result) const {
  llvm::Expected<gpu::Driver &> driver = gpu::Driver::get();
  if (!driver)
    return call.fail(*this, driver.takeError());
  for (const Argument &arg : call.bound.args) {
    const auto *view = std::get_if<TensorView>(&arg);
    if (!view || view->isEmpty())
      continue;
    llvm::Expected<gpu::PointerInfo> info = driver->inspect(view->data);
    if (!info)
      return call.fail(*this, info.takeError());
    if (info->kind != gpu::PointerInfo::Kind::Device)
      continue;
    llvm::Expected<gpu::Device &> device = driver->device(info->device);
    if (!device)
      return call.fail(*this, device.takeError());
    result = &*device;
    return nullptr;
  }
  llvm::Expected<gpu::Device &> device = driver->currentDevice();
  if (!device)
    return call.fail(*this, device.takeError());
  result = &*device;
  return nullptr;
}

ErrorPtr Kernel::targetFor(const gpu::Device &device, Call &call,
                           llvm::StringRef &target) const {
  target = module->target;
  if (!target.empty())
    return nullptr;
  llvm::Expected<llvm::StringRef> best = targetOf(device);
  if (!best)
    return call.fail(*this, best.takeError());
  target = *best;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// What
//===----------------------------------------------------------------------===//

/// Reports that become errors have their place already.
static ErrorPtr errorOfReports(const Program &program) {
  for (const auto &diagnostic : program.diags.all())
    if (diagnostic->kind.empty())
      diagnostic->of("report");
  return errorOf(program.diags);
}

static ErrorPtr runOnCpu(const Code &code, const typed::Kernel &kernel,
                         const BoundLaunch &bound, unsigned threads,
                         Program &program) {
  if (code.cpu->run(program, kernel, bound, threads))
    return nullptr;
  return errorOfReports(program);
}

ErrorPtr Kernel::start(const Code &code, gpu::StreamRef where,
                       Call &call) const {
  if (llvm::Error error = bindGrid(*typedKernel, code.gpu.image, call.bound))
    return call.fail(*this, std::move(error));
  if (llvm::Error error = code.launcher->launch(where, call.bound))
    return call.fail(*this, std::move(error));
  return nullptr;
}

ErrorPtr Kernel::launchCode(const Code &code, tilec_stream stream,
                            llvm::ArrayRef<tilec_arg> args) const {
  if (code.cpu)
    return errorOf("usage", "code for the target cpu does not launch by itself",
                   "launch the kernel, which finds the code for the arguments");
  Call call(*this);
  if (ErrorPtr error = bind(args, call))
    return error;
  gpu::StreamRef where;
  if (ErrorPtr error = findStream(stream, call, where))
    return error;
  return start(code, where, call);
}

ErrorPtr Kernel::launchOnCpu(tilec_stream stream,
                             llvm::ArrayRef<tilec_arg> args) const {
  Call call(*this);
  if (ErrorPtr error = bind(args, call))
    return error;
  if (ErrorPtr error = checkStream(stream))
    return error;
  FoundCode found;
  if (ErrorPtr error = find(call, "cpu", found))
    return error;
  return runOnCpu(*found.code, *typedKernel, call.bound, module->threads,
                  *call.program);
}

bool Kernel::launchAgain(gpu::StreamRef where, const Key &pattern,
                         llvm::ArrayRef<tilec_arg> args,
                         ErrorPtr &error) const {
  std::shared_ptr<const RepeatedLaunch> known = repeated.find(pattern);
  if (!known || !known->accepts(args))
    return false;
  if (llvm::Error failed = known->run(where, args)) {
    Call call(*this);
    error = call.fail(*this, std::move(failed));
  }
  return true;
}

ErrorPtr Kernel::launch(tilec_stream stream,
                        llvm::ArrayRef<tilec_arg> args) const {
  if (module->isCpu())
    return launchOnCpu(stream, args);
  std::optional<Key> pattern;
  if (std::optional<gpu::StreamRef> where = streamIfAny(stream)) {
    pattern = patternOf(*where->device, args);
    ErrorPtr error;
    if (pattern && launchAgain(*where, *pattern, args, error))
      return error;
  }
  Call call(*this);
  if (ErrorPtr error = bind(args, call))
    return error;
  gpu::StreamRef where;
  if (ErrorPtr error = findStream(stream, call, where))
    return error;
  llvm::StringRef target;
  if (ErrorPtr error = targetFor(*where.device, call, target))
    return error;
  FoundCode found;
  if (ErrorPtr error = find(call, target, found))
    return error;
  const Code &code = *found.code;
  if (llvm::Error error = bindGrid(*typedKernel, code.gpu.image, call.bound))
    return call.fail(*this, std::move(error));
  llvm::Expected<gpu::PreparedLaunch> prepared =
      code.launcher->prepare(*where.device, call.bound);
  if (!prepared)
    return call.fail(*this, prepared.takeError());
  if (llvm::Error error = prepared->run(where))
    return call.fail(*this, std::move(error));
  if (pattern)
    repeated.add(std::move(*pattern),
                 std::make_shared<RepeatedLaunch>(std::move(found.code),
                                                  std::move(*prepared),
                                                  *typedKernel, call.bound));
  return nullptr;
}

ErrorPtr Kernel::collectReports(tilec_stream stream) const {
  if (module->isCpu())
    return checkStream(stream);
  Call call(*this);
  gpu::StreamRef where;
  if (ErrorPtr error = findStream(stream, call, where))
    return error;
  std::vector<std::shared_ptr<const Code>> all;
  {
    std::shared_lock<std::shared_mutex> lock(mutex);
    for (const auto &entry : codes)
      all.push_back(entry.second);
  }
  ReportSink sink;
  for (const std::shared_ptr<const Code> &code : all)
    if (llvm::Error error = code->launcher->collectReports(*where.device, sink))
      return call.fail(*this, std::move(error));
  return reportFailures(*call.program, sink) ? errorOfReports(*call.program)
                                             : nullptr;
}

ErrorPtr Kernel::compile(llvm::ArrayRef<tilec_arg> args,
                         FoundCode &result) const {
  Call call(*this);
  if (ErrorPtr error = bind(args, call))
    return error;
  if (module->isCpu())
    return find(call, "cpu", result);
  gpu::Device *device = nullptr;
  if (ErrorPtr error = findDevice(call, device))
    return error;
  llvm::StringRef target;
  if (ErrorPtr error = targetFor(*device, call, target))
    return error;
  return find(call, target, result);
}

ErrorPtr Kernel::prepare(llvm::ArrayRef<tilec_arg> args,
                         Prepared &result) const {
  Call call(*this);
  if (ErrorPtr error = bind(args, call))
    return error;
  FoundCode found;
  if (module->isCpu()) {
    if (ErrorPtr error = find(call, "cpu", found))
      return error;
    result.bound = std::move(call.bound);
  } else {
    gpu::Device *device = nullptr;
    if (ErrorPtr error = findDevice(call, device))
      return error;
    llvm::StringRef target;
    if (ErrorPtr error = targetFor(*device, call, target))
      return error;
    if (ErrorPtr error = find(call, target, found))
      return error;
    const Code &code = *found.code;
    if (llvm::Error error = bindGrid(*typedKernel, code.gpu.image, call.bound))
      return call.fail(*this, std::move(error));
    llvm::Expected<gpu::PreparedLaunch> prepared =
        code.launcher->prepare(*device, call.bound);
    if (!prepared)
      return call.fail(*this, prepared.takeError());
    result.onGpu = std::move(*prepared);
  }
  result.kernel = shared_from_this();
  result.code = std::move(found.code);
  return nullptr;
}

ErrorPtr Prepared::run(tilec_stream stream) const {
  const Module &module = *kernel->module;
  if (!onGpu) {
    if (ErrorPtr error = kernel->checkStream(stream))
      return error;
    std::unique_ptr<Program> program = module.program->fork();
    return runOnCpu(*code, *kernel->typedKernel, bound, module.threads,
                    *program);
  }
  // Null is the default stream of the device, not of the current one.
  auto *handle = static_cast<gpu::cuda::StreamHandle>(stream);
  gpu::StreamRef where{&onGpu->device(), handle};
  auto attempt = [&]() -> llvm::Error {
    gpu::Driver &driver = const_cast<gpu::Driver &>(where.device->driver());
    if (stream) {
      llvm::Expected<gpu::StreamRef> found = driver.streamOf(handle);
      if (!found)
        return found.takeError();
      where = *found;
    }
    return onGpu->run(where);
  };
  if (llvm::Error error = attempt()) {
    Kernel::Call call(*kernel);
    return call.fail(*kernel, std::move(error));
  }
  return nullptr;
}

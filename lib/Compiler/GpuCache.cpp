//===- GpuCache.cpp - GPU code from the cache on disk -----------*- C++ -*-===//
//
// See GpuCache.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/GpuCache.h"
#include "lib/Compiler/Version.h"
#include "lib/Runtime/GPU/NVRTC.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tilec;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// The entries of a map in the order of their names, as text.
template <typename Map> static std::string sorted(const Map &map) {
  std::vector<std::pair<llvm::StringRef, std::string>> entries;
  for (const auto &entry : map)
    entries.emplace_back(entry.getKey(), (llvm::Twine(entry.getValue())).str());
  llvm::sort(entries);
  std::string text;
  for (const auto &[name, value] : entries)
    text += llvm::formatv("{0}:{1}={2}\n", name, value.size(), value);
  return text;
}

template <typename Range> static std::string joined(const Range &numbers) {
  std::string text;
  for (auto number : numbers)
    text += std::to_string(number) + " ";
  return text;
}

std::string
tilec::gpuCacheKey(const Program &program, const typed::Kernel &kernel,
                   const CompileTimeArgs &args,
                   const Specialization &specialization, const GpuFacts &facts,
                   const CompileOptions &options, llvm::StringRef build) {
  gpu::CacheKey key;
  key.add("build", build);
  for (unsigned i = 0; i < program.sources.getNumFiles(); ++i) {
    key.add("text", program.sources.getText(i));
    // Checks name the place that they are made for, and so do lines.
    if (options.checked || options.emulated)
      key.add("checked file", program.sources.getName(i));
  }
  return key.add("kernel", kernel.name)
      .add("arguments", sorted(args))
      .add("target", options.target)
      .add("extents", sorted(specialization.extents))
      .add("unit strides", joined(specialization.unitStride))
      .add("alignment", joined(facts.alignment))
      .add("divisible", sorted(facts.divisible))
      .add("lines", options.emulated ? "yes" : "no")
      .add("index32", facts.index32 ? "yes" : "no")
      .add("schedule", sorted(options.schedule))
      .add("passes", options.pipeline.extraPasses)
      .digits();
}

/// Which NVRTC compiles, without opening it if its files tell. Nothing if there
/// is none. Looked up once in a process: NVRTC::get() does not change its
/// choice either.
static std::optional<std::string> nvrtcIdentity() {
  static std::mutex mutex;
  static std::optional<std::string> found;
  std::lock_guard<std::mutex> lock(mutex);
  if (!found)
    found =
        gpu::NVRTC::identityWithoutOpening(gpu::NVRTCPlaces::fromEnvironment());
  if (!found) {
    if (llvm::Expected<const gpu::NVRTC &> nvrtc = gpu::NVRTC::get())
      found = nvrtc->identity();
    else
      llvm::consumeError(nvrtc.takeError());
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static gpu::CacheEntry toEntry(const GpuCode &code) {
  return {{"image", llvm::formatv("{0}", toJSON(code.image)).str()},
          {"cuda", code.source},
          {"ptx", code.ptx},
          {"cubin", code.cubin}};
}

/// Nothing if the entry is not one of this version of tilec, which cannot be as
/// the version is in the key.
static std::optional<GpuCode> fromEntry(gpu::CacheEntry entry) {
  llvm::Expected<gpu::KernelImage> image =
      gpu::kernelImageFromJSON(entry["image"]);
  if (!image) {
    llvm::consumeError(image.takeError());
    return std::nullopt;
  }
  return GpuCode{std::move(*image), std::move(entry["cuda"]),
                 std::move(entry["ptx"]), std::move(entry["cubin"])};
}

std::optional<CachedGpuCode> tilec::findOrCompile(
    Program &program, typed::Kernel &kernel, const CompileTimeArgs &args,
    const Specialization &specialization, const GpuFacts &facts,
    const CompileOptions &options, gpu::DiskCache &cache) {
  // Code that was kept has no pipeline to do it.
  if (!settleSchedule(program, kernel, specialization, options))
    return std::nullopt;
  auto compile = [&]() -> std::optional<CachedGpuCode> {
    std::optional<GpuCode> code =
        compileForGpu(program, kernel, specialization, facts, options);
    if (!code)
      return std::nullopt;
    return CachedGpuCode{std::move(*code)};
  };
  bool prints = !options.pipeline.printAfter.empty() ||
                !options.pipeline.stopAfter.empty() ||
                !options.pipeline.remarks.empty();
  const std::string &build = buildIdentity();
  if (prints || build.empty() || cache.folder().empty())
    return compile();

  // A second entry, under the key without NVRTC, names the key with it, for
  // machines that have none.
  std::string anyNVRTC =
      gpuCacheKey(program, kernel, args, specialization, facts, options, build);
  std::string key;
  std::optional<std::string> nvrtc = nvrtcIdentity();
  if (nvrtc)
    key = gpu::CacheKey().add("code", anyNVRTC).add("nvrtc", *nvrtc).digits();
  else if (std::optional<gpu::CacheEntry> entry = cache.find(anyNVRTC))
    key = (*entry)["key"];

  if (!key.empty())
    if (std::optional<gpu::CacheEntry> entry = cache.find(key))
      if (std::optional<GpuCode> code = fromEntry(std::move(*entry)))
        return CachedGpuCode{std::move(*code), /*isFromCache=*/true};
  std::optional<CachedGpuCode> code = compile();
  if (!code || !nvrtc)
    return code;
  // Another process may have been faster; then all run its code.
  llvm::Expected<gpu::CacheEntry> kept = cache.findOrMake(
      key, [&]() -> llvm::Expected<gpu::CacheEntry> { return toEntry(*code); });
  cache.keep(anyNVRTC, {{"key", key}});
  if (std::optional<GpuCode> first = fromEntry(llvm::cantFail(std::move(kept))))
    static_cast<GpuCode &>(*code) = std::move(*first);
  return code;
}

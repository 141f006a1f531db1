//===- Kernel.cpp - Kernels that compile themselves -------------*- C++ -*-===//
//
// Making kernels, and finding or compiling code for a launch. KernelLaunch.cpp
// has what happens with the code.
//
//===----------------------------------------------------------------------===//

#include "lib/API/Kernel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace tilec;
using namespace tilec::api;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static bool hasCtParam(const ast::KernelDecl &decl, llvm::StringRef name) {
  return llvm::any_of(decl.getCtParams(), [&](const ast::CtParam &param) {
    return param.name.name == name;
  });
}

/// Whether any kernel of the program, imported ones included, has a
/// compile-time parameter of that name.
static bool isCtParamOfAny(const ast::Program &tree, llvm::StringRef name) {
  for (const ast::File *file : tree.files)
    for (const ast::Decl *decl : file->decls)
      if (const auto *kernel = llvm::dyn_cast<ast::KernelDecl>(decl))
        if (hasCtParam(*kernel, name))
          return true;
  return false;
}

ErrorPtr Kernel::make(std::shared_ptr<const Module> module,
                      llvm::StringRef name,
                      llvm::ArrayRef<tilec_define> defines,
                      std::shared_ptr<const Kernel> &result) {
  std::unique_ptr<Program> program = module->program->fork();
  const ast::KernelDecl *decl = program->findKernel(name);
  if (!decl)
    return errorOf(program->diags);

  auto unknown = [&](llvm::StringRef name, llvm::StringRef where) {
    program->diags
        .error(decl->getNameRange(),
               where + " no compile-time parameter '" + name + "'")
        .of("usage")
        .remedy("correct the name or leave the define out; extents come with "
                "the arguments");
    return errorOf(program->diags);
  };
  std::shared_ptr<Kernel> kernel(new Kernel());
  // Those of the module are for whichever kernels have such parameters.
  for (const auto &define : module->defines) {
    if (hasCtParam(*decl, define.getKey()))
      kernel->defines[define.getKey()] = define.getValue();
    else if (!isCtParamOfAny(*program->tree, define.getKey()))
      return unknown(define.getKey(), "the kernels have");
  }
  for (const tilec_define &define : defines) {
    if (!hasCtParam(*decl, define.name))
      return unknown(define.name,
                     ("kernel '" + decl->getName() + "' has").str());
    kernel->defines[define.name] = define.value;
  }

  std::unique_ptr<typed::Kernel> typedKernel =
      program->analyze(*decl, kernel->defines, module->analysisTarget);
  if (!typedKernel)
    return errorOf(program->diags);
  // Those of a kernel with defaults only came with the module.
  if (!kernel->defines.empty())
    module->warnOf(program->diags);
  for (const typed::Param *param : typedKernel->params) {
    Shape &shape = kernel->shapes.emplace_back();
    shape.name = param->name.str();
    for (const typed::Param::Extent &extent : param->shape) {
      shape.texts.push_back(extent.dim ? extent.dim->name.str()
                                       : std::to_string(extent.constant));
      shape.extents.push_back(extent.dim ? -1 : extent.constant);
    }
    for (const std::string &text : shape.texts)
      shape.axes.push_back(text.c_str());
  }
  kernel->module = std::move(module);
  kernel->decl = decl;
  kernel->typedKernel = std::move(typedKernel);
  result = std::move(kernel);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Nothing if the argument breaks the rules of the interface.
static std::optional<Argument> toArgument(const tilec_arg &arg) {
  switch (arg.kind) {
  case TILEC_ARG_DEFAULT:
    return Argument();
  case TILEC_ARG_INTEGER:
    return ScalarValue::ofInt(arg.value.integer);
  case TILEC_ARG_REAL:
    return ScalarValue::ofFloat(arg.value.real, DType::F64);
  case TILEC_ARG_TENSOR: {
    const tilec_tensor &tensor = arg.value.tensor;
    if (static_cast<size_t>(tensor.dtype) >= allDTypes().size() ||
        (tensor.rank > 0 && !tensor.shape))
      return std::nullopt;
    TensorView view;
    view.data = tensor.data;
    view.dtype = static_cast<DType>(tensor.dtype);
    view.shape.assign(tensor.shape, tensor.shape + tensor.rank);
    if (tensor.strides)
      view.strides.assign(tensor.strides, tensor.strides + tensor.rank);
    else if (checkedNumElements(view.shape))
      view.strides = rowMajorStrides(view.shape);
    else
      view.strides.assign(tensor.rank, 0); // The check of the shape will fail.
    return view;
  }
  }
  return std::nullopt;
}

ErrorPtr Kernel::bind(llvm::ArrayRef<tilec_arg> args, Call &call) const {
  llvm::SmallVector<Argument, 8> arguments;
  for (auto [i, arg] : llvm::enumerate(args)) {
    std::optional<Argument> argument = toArgument(arg);
    if (!argument)
      return errorOf("usage",
                     "argument " + llvm::Twine(i) + " of kernel '" +
                         typedKernel->name +
                         "' has an unknown kind or element type, no shape, or "
                         "strides that are not as many as extents",
                     "make arguments with tilec_tensor_arg and its relatives");
    arguments.push_back(std::move(*argument));
  }
  std::optional<BoundLaunch> bound =
      bindLaunch(*typedKernel, arguments, call.program->diags);
  if (!bound)
    return call.fail();
  call.bound = std::move(*bound);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Finding code
//===----------------------------------------------------------------------===//

Key Kernel::keyOf(llvm::StringRef target, const Specialization &specialization,
                  const GpuFacts &facts) const {
  Key key;
  const GpuLimits *gpu = gpuLimitsOf(target);
  key.push_back(gpu ? gpu->capability : 0);
  key.push_back(facts.index32);
  for (const typed::Dimension *dim : typedKernel->dims) {
    auto extent = specialization.extents.find(dim->name);
    bool isFixed = extent != specialization.extents.end();
    key.push_back(isFixed ? extent->second : -1);
    key.push_back(gpu && !isFixed ? facts.divisible.lookup(dim->name) : 0);
  }
  llvm::append_range(key, specialization.unitStride);
  if (gpu)
    llvm::append_range(key, facts.alignment);
  return key;
}

std::string Kernel::describe(llvm::StringRef target,
                             const Specialization &specialization,
                             const GpuFacts &facts) const {
  bool isGpu = gpuLimitsOf(target);
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const typed::Dimension *dim : typedKernel->dims) {
    auto extent = specialization.extents.find(dim->name);
    if (extent != specialization.extents.end())
      os << dim->name << " = " << extent->second << '\n';
    else if (int64_t divisor = isGpu ? facts.divisible.lookup(dim->name) : 0)
      os << dim->name << " % " << divisor << " == 0\n";
  }
  for (const typed::Param *param : typedKernel->params) {
    if (!param->isTensor)
      continue;
    os << param->name << ": ";
    int unit = specialization.unitStride[param->index];
    if (unit < 0)
      os << "no stride of 1";
    else
      os << "stride 1 in dimension " << unit;
    if (isGpu)
      os << ", aligned to " << facts.alignment[param->index] << " bytes";
    os << '\n';
  }
  if (isGpu && facts.index32)
    os << "offsets in 31 bits\n";
  return text;
}

std::shared_ptr<const Code>
Kernel::compile(Call &call, llvm::StringRef target,
                const Specialization &specialization, const GpuFacts &facts,
                bool &isFromDisk) const {
  std::unique_ptr<typed::Kernel> kernel =
      call.program->analyze(*decl, defines, target);
  if (!kernel)
    return nullptr;
  CompileOptions options = module->compileOptions(target);
  auto code = std::make_shared<Code>();
  code->target = target.str();
  code->specialization = describe(target, specialization, facts);
  if (target == "cpu") {
    code->cpu =
        CpuExecutable::create(*call.program, *kernel, specialization, options);
    return code->cpu ? code : nullptr;
  }
  std::optional<CachedGpuCode> found =
      findOrCompile(*call.program, *kernel, defines, specialization, facts,
                    options, module->cache);
  if (!found)
    return nullptr;
  isFromDisk = found->isFromCache;
  code->gpu = std::move(*found);
  code->image = llvm::formatv("{0:2}", toJSON(code->gpu.image)).str();
  code->launcher = std::make_unique<gpu::Launcher>(
      code->gpu.image, code->gpu.cubin, code->gpu.ptx);
  return code;
}

ErrorPtr Kernel::find(Call &call, llvm::StringRef target,
                      const Specialization &specialization,
                      const GpuFacts &facts, FoundCode &result) const {
  auto begin = std::chrono::steady_clock::now();
  Key key = keyOf(target, specialization, facts);
  {
    std::shared_lock<std::shared_mutex> lock(mutex);
    auto found = codes.find(key);
    if (found != codes.end())
      result.code = found->second;
  }
  if (result.code) {
    result.origin = TILEC_FROM_MEMORY;
  } else {
    bool isFromDisk = false;
    std::shared_ptr<const Code> code =
        compile(call, target, specialization, facts, isFromDisk);
    if (!code)
      return call.fail();
    result.origin = isFromDisk ? TILEC_FROM_DISK : TILEC_COMPILED;
    std::lock_guard<std::shared_mutex> lock(mutex);
    result.code = codes.try_emplace(std::move(key), code).first->second;
    if (result.code != code)
      result.origin = TILEC_FROM_MEMORY; // Another thread was faster.
  }
  result.milliseconds = std::chrono::duration<double, std::milli>(
                            std::chrono::steady_clock::now() - begin)
                            .count();
  return nullptr;
}

ErrorPtr Kernel::find(Call &call, llvm::StringRef target,
                      FoundCode &result) const {
  if (target == "cpu")
    return find(call, target, Specialization::of(*typedKernel, call.bound),
                GpuFacts(), result);
  Specialization specialization = gpuSpecialization(*typedKernel, call.bound);
  return find(call, target, specialization,
              GpuFacts::of(*typedKernel, call.bound, specialization), result);
}

ErrorPtr Kernel::compileFor(llvm::ArrayRef<tilec_number> extents,
                            FoundCode &result) const {
  if (!gpuLimitsOf(module->target))
    return errorOf("usage",
                   "only code for a GPU target can be compiled ahead of time",
                   "name the target in the options of the module, such as "
                   "sm_90a");
  Call call(*this);
  auto fail = [&](const llvm::Twine &message, const llvm::Twine &help) {
    call.program->diags.error(typedKernel->range, message)
        .of("extent")
        .remedy(help);
    return call.fail();
  };
  Specialization specialization;
  for (const tilec_number &extent : extents) {
    if (!typedKernel->findDim(extent.name))
      return fail("kernel '" + typedKernel->name + "' has no dimension '" +
                      extent.name + "'",
                  "correct the name or leave it out");
    if (extent.value < 0)
      return fail("the extent of '" + llvm::Twine(extent.name) +
                      "' is expected to be 0 or more, got " +
                      llvm::Twine(extent.value),
                  "correct it");
    specialization.extents[extent.name] = extent.value;
  }
  for (const typed::Dimension *dim : typedKernel->dims)
    if (dim->isWhole && !specialization.extents.count(dim->name))
      return fail("the extent of '" + dim->name +
                      "' is needed: what is used as a whole axis is compiled "
                      "for one extent",
                  "give it");
  specialization.unitStride = rowMajorUnitStrides(*typedKernel);
  return find(call, module->target, specialization,
              GpuFacts::assumed(*typedKernel, specialization), result);
}

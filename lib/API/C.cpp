//===- C.cpp - The C interface ----------------------------------*- C++ -*-===//
//
// The exported functions: handles to objects and back.
//
//===----------------------------------------------------------------------===//

#include "lib/API/Kernel.h"
#include "lib/Compiler/Version.h"
#include <algorithm>
#include <cstring>

using namespace tilec;
using namespace tilec::api;

// The names are those of c.h. NOLINTBEGIN(readability-identifier-naming)
struct tilec_module {
  std::shared_ptr<const Module> module;
};
struct tilec_kernel {
  std::shared_ptr<const Kernel> kernel;
};
struct tilec_code {
  std::shared_ptr<const Kernel> kernel;
  FoundCode found;
};
struct tilec_prepared {
  Prepared prepared;
};

static_assert(static_cast<int>(DType::F64) == TILEC_F64 &&
                  static_cast<int>(DType::TF32) == TILEC_TF32 &&
                  static_cast<int>(DType::BF16) == TILEC_BF16 &&
                  static_cast<int>(DType::F8E5M2) == TILEC_F8E5M2 &&
                  static_cast<int>(DType::I64) == TILEC_I64 &&
                  static_cast<int>(DType::U8) == TILEC_U8 &&
                  static_cast<int>(DType::Bool) == TILEC_BOOL,
              "element types are numbered alike");
static_assert(static_cast<int>(ast::Access::In) == TILEC_IN &&
                  static_cast<int>(ast::Access::Out) == TILEC_OUT &&
                  static_cast<int>(ast::Access::InOut) == TILEC_INOUT &&
                  static_cast<int>(ast::Access::Add) == TILEC_ADD,
              "kinds of access are numbered alike");

/// An error of the caller's.
static tilec_error *misuse(const llvm::Twine &what) {
  return errorOf("usage", what, "see docs/api.md").release();
}

/// Copies as many bytes of a struct as the caller has room for. Both begin with
/// their size, and the caller's is kept.
template <typename Struct> static void copyOut(Struct from, Struct *to) {
  from.size = to->size;
  std::memcpy(to, &from, std::min(to->size, sizeof(Struct)));
}

/// Options of this version from those of any. What is not given is 0.
static tilec_options completed(const tilec_options *options) {
  tilec_options result = {};
  if (options)
    std::memcpy(&result, options, std::min(options->size, sizeof(result)));
  return result;
}

static tilec_error *compile(const char *path, const char *text,
                            const tilec_options *options,
                            tilec_module **result) {
  *result = nullptr;
  tilec_options complete = completed(options);
  if ((complete.num_defines && !complete.defines) ||
      (complete.num_schedule && !complete.schedule) ||
      (complete.num_include_paths && !complete.include_paths))
    return misuse("an array of the options is NULL, but its length is not 0");
  std::shared_ptr<const Module> module;
  if (ErrorPtr error = Module::make(path, text, complete, module))
    return error.release();
  *result = new tilec_module{std::move(module)};
  return nullptr;
}

/// The arguments of a call, if there are any.
static bool hasArgs(const tilec_arg *args, size_t count) {
  return args || count == 0;
}
static constexpr const char *noArgs = "the arguments are NULL";

extern "C" {

const char *tilec_version(void) { return versionText; }

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

tilec_error_kind tilec_error_get_kind(const tilec_error *error) {
  return error->kind;
}
const char *tilec_error_message(const tilec_error *error) {
  return error->message.c_str();
}
const char *tilec_error_json(const tilec_error *error) {
  return error->json.c_str();
}
void tilec_error_destroy(tilec_error *error) { delete error; }

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

tilec_error *tilec_compile_file(const char *path, const tilec_options *options,
                                tilec_module **module) {
  return compile(path, nullptr, options, module);
}
tilec_error *tilec_compile_string(const char *name, const char *text,
                                  const tilec_options *options,
                                  tilec_module **module) {
  return compile(name, text, options, module);
}
void tilec_module_destroy(tilec_module *module) { delete module; }

size_t tilec_module_num_kernels(const tilec_module *module) {
  return module->module->kernelNames.size();
}
const char *tilec_module_kernel_name(const tilec_module *module, size_t index) {
  const std::vector<std::string> &names = module->module->kernelNames;
  return index < names.size() ? names[index].c_str() : nullptr;
}

tilec_error *tilec_module_kernel(const tilec_module *module, const char *name,
                                 const tilec_define *defines,
                                 size_t num_defines, tilec_kernel **kernel) {
  *kernel = nullptr;
  std::shared_ptr<const Kernel> made;
  if (ErrorPtr error = Kernel::make(module->module, name ? name : "",
                                    llvm::ArrayRef(defines, num_defines), made))
    return error.release();
  *kernel = new tilec_kernel{std::move(made)};
  return nullptr;
}
void tilec_kernel_destroy(tilec_kernel *kernel) { delete kernel; }

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

const char *tilec_kernel_name(const tilec_kernel *kernel) {
  return kernel->kernel->signature().name.c_str();
}
size_t tilec_kernel_num_parameters(const tilec_kernel *kernel) {
  return kernel->kernel->signature().params.size();
}

tilec_error *tilec_kernel_parameter(const tilec_kernel *kernel, size_t index,
                                    tilec_parameter *parameter) {
  const typed::Kernel &signature = kernel->kernel->signature();
  if (index >= signature.params.size())
    return misuse("kernel '" + signature.name + "' has " +
                  llvm::Twine(signature.params.size()) +
                  " parameters, and was asked for number " +
                  llvm::Twine(index));
  const typed::Param &param = *signature.params[index];
  const Kernel::Shape &shape = kernel->kernel->shapeOf(index);
  tilec_parameter result = {};
  result.name = shape.name.c_str();
  result.dtype = static_cast<tilec_dtype>(param.dtype);
  result.access = static_cast<tilec_access>(param.access);
  result.is_tensor = param.isTensor;
  result.has_default = param.defaultValue != nullptr;
  result.rank = shape.extents.size();
  result.axes = shape.axes.data();
  result.extents = shape.extents.data();
  copyOut(result, parameter);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

tilec_error *tilec_kernel_launch(tilec_kernel *kernel, tilec_stream stream,
                                 const tilec_arg *args, size_t num_args) {
  if (!hasArgs(args, num_args))
    return misuse(noArgs);
  return kernel->kernel->launch(stream, llvm::ArrayRef(args, num_args))
      .release();
}

tilec_error *tilec_kernel_collect_reports(tilec_kernel *kernel,
                                          tilec_stream stream) {
  return kernel->kernel->collectReports(stream).release();
}

tilec_error *tilec_kernel_prepare(tilec_kernel *kernel, const tilec_arg *args,
                                  size_t num_args, tilec_prepared **prepared) {
  *prepared = nullptr;
  if (!hasArgs(args, num_args))
    return misuse(noArgs);
  auto made = std::make_unique<tilec_prepared>();
  if (ErrorPtr error = kernel->kernel->prepare(llvm::ArrayRef(args, num_args),
                                               made->prepared))
    return error.release();
  *prepared = made.release();
  return nullptr;
}

tilec_error *tilec_prepared_run(const tilec_prepared *prepared,
                                tilec_stream stream) {
  return prepared->prepared.run(stream).release();
}
void tilec_prepared_destroy(tilec_prepared *prepared) { delete prepared; }

//===----------------------------------------------------------------------===//
// Compiled code
//===----------------------------------------------------------------------===//

tilec_error *tilec_kernel_compile(tilec_kernel *kernel, const tilec_arg *args,
                                  size_t num_args, tilec_code **code) {
  *code = nullptr;
  if (!hasArgs(args, num_args))
    return misuse(noArgs);
  FoundCode found;
  if (ErrorPtr error =
          kernel->kernel->compile(llvm::ArrayRef(args, num_args), found))
    return error.release();
  *code = new tilec_code{kernel->kernel, std::move(found)};
  return nullptr;
}

tilec_error *tilec_kernel_compile_for(tilec_kernel *kernel,
                                      const tilec_number *extents,
                                      size_t num_extents, tilec_code **code) {
  *code = nullptr;
  FoundCode found;
  if (ErrorPtr error = kernel->kernel->compileFor(
          llvm::ArrayRef(extents, num_extents), found))
    return error.release();
  *code = new tilec_code{kernel->kernel, std::move(found)};
  return nullptr;
}

tilec_error *tilec_code_launch(const tilec_code *code, tilec_stream stream,
                               const tilec_arg *args, size_t num_args) {
  if (!hasArgs(args, num_args))
    return misuse(noArgs);
  return code->kernel
      ->launchCode(*code->found.code, stream, llvm::ArrayRef(args, num_args))
      .release();
}

void tilec_code_get_info(const tilec_code *code, tilec_code_info *info) {
  const Code &of = *code->found.code;
  tilec_code_info result = {};
  result.target = of.target.c_str();
  result.specialization = of.specialization.c_str();
  result.origin = code->found.origin;
  result.milliseconds = code->found.milliseconds;
  if (!of.cpu) {
    result.registers = of.gpu.image.registers;
    result.shared_bytes = of.gpu.image.sharedBytes;
    result.threads = of.gpu.image.threads;
    result.cuda = of.gpu.source.c_str();
    result.ptx = of.gpu.ptx.c_str();
    result.cubin = of.gpu.cubin.data();
    result.cubin_bytes = of.gpu.cubin.size();
    result.image = of.image.c_str();
  }
  copyOut(result, info);
}
void tilec_code_destroy(tilec_code *code) { delete code; }

} // extern "C"
// NOLINTEND(readability-identifier-naming)

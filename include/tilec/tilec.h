//===- tilec/tilec.h - The C++ interface of tilec ---------------*- C++ -*-===//
//
// Compiles kernels written as operations on tiles while a program runs, and
// launches them on NVIDIA GPUs or on the host:
//
//   auto module = tilec::compileFile("rows.tile");
//   if (!module)
//     return fail(module.error().message());
//   auto kernel = module->kernel("scale_rows");
//   ...
//   tilec::TensorView x(px, {4096, 1024}), y(py, {4096, 1024});
//   if (tilec::Error error = kernel->launch(stream, x, y))
//     return fail(error.message());
//
// A thin layer over tilec/c.h, in headers only: a program needs C++17, and
// neither the compiler nor the C++ library that tilec was built with. Nothing
// throws. What can fail gives an Error, which is true if there is one, or an
// Expected, which is true if there is a value. Objects can be moved, not
// copied; any number of threads may use one at the same time.
//
// docs/api.md is the reference.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILEC_H
#define TILEC_TILEC_H

#include "tilec/c.h"
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tilec {
// Not the names of tilec's own classes, for programs that are linked with both.
inline namespace api1 {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

using ErrorKind = tilec_error_kind;

/// Success, or what went wrong.
class [[nodiscard]] Error {
public:
  Error() = default;
  /// Takes over what a function of tilec/c.h returned.
  explicit Error(tilec_error *error) : handle(error) {}

  /// Whether something went wrong.
  explicit operator bool() const { return handle != nullptr; }
  /// What a program may want to act upon.
  ErrorKind kind() const { return tilec_error_get_kind(handle.get()); }
  /// Each message with its place, the line of the source and a remedy.
  std::string message() const {
    return handle ? tilec_error_message(handle.get()) : "success";
  }
  /// The same as JSON.
  std::string json() const {
    return handle ? tilec_error_json(handle.get()) : "[]";
  }

private:
  struct Destroy {
    void operator()(tilec_error *error) const { tilec_error_destroy(error); }
  };
  std::unique_ptr<tilec_error, Destroy> handle;
};

/// A value, or the error for which there is none. To use the value without
/// having looked ends the program with the error's message.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T &&value) : state(std::move(value)) {}
  Expected(Error &&error) : state(std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() {
    check();
    return *std::get_if<T>(&state);
  }
  T *operator->() { return &**this; }
  /// Of a failure only.
  const Error &error() const { return *std::get_if<Error>(&state); }
  Error takeError() {
    return *this ? Error() : std::move(*std::get_if<Error>(&state));
  }

private:
  void check() const {
    if (*this)
      return;
    std::fputs(error().message().c_str(), stderr);
    std::abort();
  }
  std::variant<T, Error> state;
};

//===----------------------------------------------------------------------===//
// Tensors and arguments
//===----------------------------------------------------------------------===//

enum class DType {
  F64 = TILEC_F64,
  F32 = TILEC_F32,
  TF32 = TILEC_TF32,
  F16 = TILEC_F16,
  BF16 = TILEC_BF16,
  F8E4M3 = TILEC_F8E4M3,
  F8E5M2 = TILEC_F8E5M2,
  I64 = TILEC_I64,
  I32 = TILEC_I32,
  I16 = TILEC_I16,
  I8 = TILEC_I8,
  U8 = TILEC_U8,
  Bool = TILEC_BOOL,
};

enum class Access {
  In = TILEC_IN,
  Out = TILEC_OUT,
  InOut = TILEC_INOUT,
  Add = TILEC_ADD,
};

/// The element type of a C++ type; 16- and 8-bit floats have none in C++17.
template <typename T> constexpr DType dtypeOf() {
  if constexpr (std::is_same_v<T, double>)
    return DType::F64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::F32;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::Bool;
  else {
    static_assert(std::is_integral_v<T> &&
                      (std::is_signed_v<T> || sizeof(T) == 1),
                  "no element type of tilec: give a DType");
    if constexpr (std::is_unsigned_v<T>)
      return DType::U8;
    else
      return sizeof(T) == 8   ? DType::I64
             : sizeof(T) == 4 ? DType::I32
             : sizeof(T) == 2 ? DType::I16
                              : DType::I8;
  }
}

/// A strided view of memory on the GPU, or for the target cpu on the host. It
/// owns nothing. `data` is the element of index (0, 0, ...), strides count
/// elements and may be 0 or negative; without strides it is row-major.
struct TensorView {
  TensorView(const void *data, DType dtype, std::vector<int64_t> shape,
             std::vector<int64_t> strides = {})
      : data(const_cast<void *>(data)), dtype(dtype), shape(std::move(shape)),
        strides(std::move(strides)) {}
  template <typename T, typename = std::enable_if_t<!std::is_void_v<T>>>
  TensorView(T *data, std::vector<int64_t> shape,
             std::vector<int64_t> strides = {})
      : TensorView(data, dtypeOf<std::remove_cv_t<T>>(), std::move(shape),
                   std::move(strides)) {}

  void *data;
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

/// Stands for a scalar's default.
struct Default {};

/// One argument of a launch: a tensor, a number, or Default. Refers to the
/// tensor that it is made of.
class Arg {
public:
  Arg(const TensorView &tensor)
      : value(tilec_tensor_arg(
            tensor.data, static_cast<tilec_dtype>(tensor.dtype),
            tensor.shape.size(), tensor.shape.data(),
            tensor.strides.empty() ? nullptr : tensor.strides.data())),
        isWellFormed(tensor.strides.empty() ||
                     tensor.strides.size() == tensor.shape.size()) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Arg(T number)
      : value(std::is_floating_point_v<T>
                  ? tilec_real_arg(static_cast<double>(number))
                  : tilec_integer_arg(static_cast<int64_t>(number))) {}
  Arg(Default) : value(tilec_default_arg()) {}

  tilec_arg value;
  bool isWellFormed = true;
};

/// What a parameter of a kernel is.
struct Parameter {
  std::string name;
  DType dtype;
  Access access;
  bool isTensor;
  bool hasDefault; // Scalars.
  /// For each dimension of a tensor its name, or the digits of a constant
  /// extent; and that extent, or -1.
  std::vector<std::string> axes;
  std::vector<int64_t> extents;
};

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

enum class Origin {
  Compiled = TILEC_COMPILED,
  Disk = TILEC_FROM_DISK,
  Memory = TILEC_FROM_MEMORY,
};

namespace detail {
template <auto Destroy> struct Destroyer {
  template <typename T> void operator()(T *handle) const { Destroy(handle); }
};
template <typename T, auto Destroy>
using Handle = std::unique_ptr<T, Destroyer<Destroy>>;

/// Arguments as C takes them, or why not.
template <size_t N> struct Args {
  std::array<tilec_arg, N> values;
  bool good = true;

  template <typename... Ts>
  explicit Args(const Ts &...args) : Args(std::array<Arg, N>{Arg(args)...}) {}
  explicit Args(const std::array<Arg, N> &args) {
    for (size_t i = 0; i < N; ++i) {
      values[i] = args[i].value;
      // The C interface does not know how many strides there are; an unknown
      // kind makes it name the argument.
      if (!args[i].isWellFormed)
        values[i].kind = static_cast<tilec_arg_kind>(-1);
    }
  }
};
} // namespace detail

/// Machine code of a kernel for one kind of arguments.
class Code {
public:
  explicit Code(tilec_code *code) : handle(code) {}

  /// "sm_90a" or "cpu".
  std::string target() const { return info().target; }
  /// What it was compiled for, one fact a line.
  std::string specialization() const { return info().specialization; }
  Origin origin() const { return static_cast<Origin>(info().origin); }
  /// What getting it took.
  double milliseconds() const { return info().milliseconds; }

  // Of GPUs; 0 and empty on the target cpu.
  unsigned registers() const { return info().registers; }
  unsigned sharedBytes() const { return info().shared_bytes; }
  unsigned threads() const { return info().threads; }
  std::string_view cuda() const { return text(info().cuda); }
  std::string_view ptx() const { return text(info().ptx); }
  std::string_view cubin() const {
    tilec_code_info all = info();
    return {static_cast<const char *>(all.cubin), all.cubin_bytes};
  }
  /// How to launch the cubin, as JSON.
  std::string_view image() const { return text(info().image); }

  /// Launches this very code, for which the arguments must be right.
  template <typename... Ts>
  Error launch(tilec_stream stream, const Ts &...args) const {
    detail::Args<sizeof...(Ts)> all(args...);
    return Error(tilec_code_launch(handle.get(), stream, all.values.data(),
                                   all.values.size()));
  }

private:
  tilec_code_info info() const {
    tilec_code_info all = {};
    all.size = sizeof(all);
    tilec_code_get_info(handle.get(), &all);
    return all;
  }
  static std::string_view text(const char *chars) {
    return chars ? std::string_view(chars) : std::string_view();
  }
  detail::Handle<tilec_code, tilec_code_destroy> handle;
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A launch with fixed arguments, whose arrays must stay where they are.
class Prepared {
public:
  explicit Prepared(tilec_prepared *prepared) : handle(prepared) {}

  /// Launches again; may be captured into a CUDA graph.
  Error run(tilec_stream stream) const {
    return Error(tilec_prepared_run(handle.get(), stream));
  }

private:
  detail::Handle<tilec_prepared, tilec_prepared_destroy> handle;
};

class Kernel {
public:
  explicit Kernel(tilec_kernel *kernel) : handle(kernel) {}

  std::string name() const { return tilec_kernel_name(handle.get()); }
  std::vector<Parameter> parameters() const {
    std::vector<Parameter> all;
    size_t count = tilec_kernel_num_parameters(handle.get());
    for (size_t i = 0; i < count; ++i) {
      tilec_parameter c = {};
      c.size = sizeof(c);
      // It cannot fail below the number of parameters.
      tilec_error_destroy(tilec_kernel_parameter(handle.get(), i, &c));
      all.push_back({c.name,
                     static_cast<DType>(c.dtype),
                     static_cast<Access>(c.access),
                     c.is_tensor != 0,
                     c.has_default != 0,
                     {c.axes, c.axes + c.rank},
                     {c.extents, c.extents + c.rank}});
    }
    return all;
  }

  /// Compiles for these arguments if that has not been done, and puts the
  /// kernel on a stream (a CUstream or cudaStream_t; null is the default one).
  /// Arguments are tensors, numbers and Default, one for each parameter.
  template <typename... Ts>
  Error launch(tilec_stream stream, const Ts &...args) const {
    detail::Args<sizeof...(Ts)> all(args...);
    return Error(tilec_kernel_launch(handle.get(), stream, all.values.data(),
                                     all.values.size()));
  }
  /// The same with a list that is made while the program runs.
  Error launchWith(tilec_stream stream, const std::vector<Arg> &args) const {
    std::vector<tilec_arg> all;
    all.reserve(args.size());
    for (const Arg &arg : args)
      all.push_back(detail::Args<1>(arg).values[0]);
    return Error(
        tilec_kernel_launch(handle.get(), stream, all.data(), all.size()));
  }

  /// Waits for the GPU of the stream. An error of kind Report if asserts did
  /// not hold in launches there since the last call; what they printed goes to
  /// standard error. No other thread may launch the kernel meanwhile.
  Error collectReports(tilec_stream stream) const {
    return Error(tilec_kernel_collect_reports(handle.get(), stream));
  }

  /// Everything but the launch, which can then be made again and again.
  template <typename... Ts>
  Expected<Prepared> prepare(const Ts &...args) const {
    detail::Args<sizeof...(Ts)> all(args...);
    tilec_prepared *prepared = nullptr;
    if (Error error{tilec_kernel_prepare(handle.get(), all.values.data(),
                                         all.values.size(), &prepared)})
      return error;
    return Prepared(prepared);
  }

  /// The code that a launch with these arguments runs, compiled if need be.
  template <typename... Ts> Expected<Code> compile(const Ts &...args) const {
    detail::Args<sizeof...(Ts)> all(args...);
    tilec_code *code = nullptr;
    if (Error error{tilec_kernel_compile(handle.get(), all.values.data(),
                                         all.values.size(), &code)})
      return error;
    return Code(code);
  }

  /// Ahead of time, for a GPU that need not be there: for these extents of the
  /// whole axes, and row-major tensors whose rows begin at multiples of 16
  /// bytes.
  Expected<Code> compileFor(
      const std::vector<std::pair<std::string, int64_t>> &extents) const {
    std::vector<tilec_number> all;
    all.reserve(extents.size());
    for (const auto &[name, value] : extents)
      all.push_back({name.c_str(), value});
    tilec_code *code = nullptr;
    if (Error error{tilec_kernel_compile_for(handle.get(), all.data(),
                                             all.size(), &code)})
      return error;
    return Code(code);
  }

private:
  detail::Handle<tilec_kernel, tilec_kernel_destroy> handle;
};

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Names with values: {{"causal", "true"}}.
using Defines = std::vector<std::pair<std::string, std::string>>;

struct Options {
  /// "cpu", or "sm_80", "sm_86", "sm_89", "sm_90a". Empty: for each launch that
  /// of its GPU.
  std::string target;
  /// Values of compile-time parameters: a number, a type, true, false, or the
  /// name of a function.
  Defines defines;
  /// Entries that win over the schedule in the source.
  std::vector<std::pair<std::string, int64_t>> schedule;
  /// Folders where imported files are looked for too.
  std::vector<std::string> includePaths;
  /// Where compiled kernels are kept; without a value TILEC_CACHE_DIR, or else
  /// tilec in the user's folder of caches. Empty: nowhere.
  std::optional<std::string> cacheFolder;
  /// Target cpu: do not report indices out of range and the like.
  bool unchecked = false;
  /// Target cpu: 0 is all cores.
  unsigned threads = 0;
  /// Receives warnings; null: standard error.
  void (*warn)(const char *text, void *user) = nullptr;
  void *user = nullptr;
};

/// The kernels of a file.
class Module {
public:
  explicit Module(tilec_module *module) : handle(module) {}

  /// The kernels of the main file, in source order.
  std::vector<std::string> kernelNames() const {
    std::vector<std::string> names;
    size_t count = tilec_module_num_kernels(handle.get());
    for (size_t i = 0; i < count; ++i)
      names.push_back(tilec_module_kernel_name(handle.get(), i));
    return names;
  }
  /// A kernel, also of an imported file; without a name the only one of the
  /// main file. `defines` go before those of the module.
  Expected<Kernel> kernel(const std::string &name = "",
                          const Defines &defines = {}) const {
    std::vector<tilec_define> all;
    all.reserve(defines.size());
    for (const auto &[key, value] : defines)
      all.push_back({key.c_str(), value.c_str()});
    tilec_kernel *kernel = nullptr;
    if (Error error{tilec_module_kernel(handle.get(), name.c_str(), all.data(),
                                        all.size(), &kernel)})
      return error;
    return Kernel(kernel);
  }

private:
  detail::Handle<tilec_module, tilec_module_destroy> handle;
};

namespace detail {
template <typename Compile>
Expected<Module> compile(const Options &options, Compile call) {
  std::vector<tilec_define> defines;
  defines.reserve(options.defines.size());
  for (const auto &[name, value] : options.defines)
    defines.push_back({name.c_str(), value.c_str()});
  std::vector<tilec_number> schedule;
  schedule.reserve(options.schedule.size());
  for (const auto &[name, value] : options.schedule)
    schedule.push_back({name.c_str(), value});
  std::vector<const char *> paths;
  paths.reserve(options.includePaths.size());
  for (const std::string &path : options.includePaths)
    paths.push_back(path.c_str());
  tilec_options all = {};
  all.size = sizeof(all);
  all.target = options.target.empty() ? nullptr : options.target.c_str();
  all.defines = defines.data();
  all.num_defines = defines.size();
  all.schedule = schedule.data();
  all.num_schedule = schedule.size();
  all.include_paths = paths.data();
  all.num_include_paths = paths.size();
  all.cache_folder =
      options.cacheFolder ? options.cacheFolder->c_str() : nullptr;
  all.unchecked = options.unchecked;
  all.threads = options.threads;
  all.warn = options.warn;
  all.user = options.user;
  tilec_module *module = nullptr;
  if (Error error{call(&all, &module)})
    return error;
  return Module(module);
}
} // namespace detail

/// Reads and checks a file with all it imports.
inline Expected<Module> compileFile(const std::string &path,
                                    const Options &options = {}) {
  return detail::compile(options,
                         [&](const tilec_options *all, tilec_module **module) {
                           return tilec_compile_file(path.c_str(), all, module);
                         });
}

/// The same for text; messages call it `name`.
inline Expected<Module> compileString(const std::string &name,
                                      const std::string &text,
                                      const Options &options = {}) {
  return detail::compile(
      options, [&](const tilec_options *all, tilec_module **module) {
        return tilec_compile_string(name.c_str(), text.c_str(), all, module);
      });
}

/// "0.1.0".
inline const char *version() { return tilec_version(); }

} // namespace api1
} // namespace tilec

#endif // TILEC_TILEC_H

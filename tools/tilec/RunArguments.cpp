//===- RunArguments.cpp - The arguments of one run --------------*- C++ -*-===//
//
// See RunArguments.h.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/RunArguments.h"
#include "lib/Runtime/Npy.h"
#include "tools/tilec/CommandSupport.h"
#include "tools/tilec/FillArgument.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include <unistd.h>

using namespace tilec;
using namespace tilec::cli;

RunArguments::RunArguments(Program &program, const typed::Kernel &kernel,
                           const Options &options,
                           llvm::StringMap<int64_t> extents)
    : values(kernel.params.size()), program(program), kernel(kernel),
      options(options), extents(std::move(extents)),
      arrays(kernel.params.size()) {}

Diagnostic &RunArguments::error(const typed::Param &param,
                                const llvm::Twine &message) {
  return program.diags.error(param.range,
                             "argument '" + param.name + "': " + message);
}

bool RunArguments::fail(const typed::Param &param, llvm::Error error) {
  reportError(program, param.range, "argument '" + param.name + "'",
              std::move(error));
  return false;
}

const ArgumentSpec *RunArguments::findSpec(const typed::Param &param) const {
  const ArgumentSpec *found = nullptr;
  for (const auto &[name, spec] : options.args)
    if (name == param.name)
      found = &spec;
  return found;
}

/// Every name on the command line is one of the kernel's.
bool RunArguments::checkNames() {
  auto check = [&](llvm::StringRef name, bool wantsOutput) {
    llvm::SmallVector<llvm::StringRef> names;
    for (const typed::Param *param : kernel.params)
      if (!wantsOutput || isOutput(*param))
        names.push_back(param->name);
    if (llvm::is_contained(names, name))
      return true;
    llvm::StringRef what = wantsOutput ? "output" : "parameter";
    Diagnostic &error = program.diags.error(
        kernel.range, "kernel '" + llvm::Twine(kernel.name) + "' has no " +
                          what + " '" + name + "'");
    llvm::StringRef nearest = nearestName(name, names);
    if (kernel.findDim(name))
      error.remedy("'" + name + "' is a dimension; give it as --size " + name +
                   "=...");
    else if (!nearest.empty())
      error.remedy("did you mean '" + nearest + "'?");
    else if (names.empty())
      error.remedy("leave it out: it has none");
    else
      error.remedy("its " + what + "s are: " + llvm::join(names, ", "));
    return false;
  };
  for (const auto &arg : options.args)
    if (!check(arg.first, /*wantsOutput=*/false))
      return false;
  for (const auto &out : options.outs)
    if (!check(out.first, /*wantsOutput=*/true))
      return false;
  return true;
}

bool RunArguments::readFiles() {
  llvm::StringMap<int64_t> given = extents; // By --size and -D.
  for (const typed::Param *param : kernel.params) {
    const ArgumentSpec *spec = findSpec(*param);
    if (!param->isTensor || !spec || spec->kind != ArgumentSpec::Kind::File)
      continue;
    NpyReadOptions readOptions;
    readOptions.dtype = param->dtype;
    readOptions.guardBytes = Array::defaultGuardBytes;
    llvm::Expected<Array> array = readNpy(spec->text, readOptions);
    if (!array)
      return fail(*param, array.takeError());
    if (array->shape().size() != param->shape.size()) {
      error(*param, "expected " + typeText(*param) + ", '" + spec->text +
                        "' holds " + toString(array->dtype(), array->shape()))
          .remedy("reshape the array, or change the parameter's type");
      return false;
    }
    // Extents of files count as given; bindLaunch compares all of them.
    for (auto [extent, actual] : llvm::zip(param->shape, array->shape())) {
      if (!extent.dim)
        continue;
      llvm::StringRef name = extent.dim->name;
      extents.try_emplace(name, actual);
      auto found = given.find(name);
      if (found == given.end() || found->second == actual)
        continue;
      error(*param, "'" + spec->text + "' has " + llvm::Twine(actual) +
                        " for the dimension '" + name + "', but " +
                        llvm::Twine(found->second) +
                        " was asked for on the command line")
          .remedy("leave out the size of '" + name + "', or pass another file");
      return false;
    }
    arrays[param->index] = std::make_unique<Array>(std::move(*array));
  }
  return true;
}

/// Every dimension has an extent by now, or never will.
bool RunArguments::checkExtents() {
  llvm::SmallVector<const typed::Dimension *> missing;
  for (const typed::Dimension *dim : kernel.dims)
    if (!extents.count(dim->name))
      missing.push_back(dim);
  return missing.empty() || reportExtents(program, missing, "not known", 100,
                                          /*canRead=*/true);
}

/// The memory that this process can have.
static double memoryLimit() {
  double limit = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                 static_cast<double>(::sysconf(_SC_PAGESIZE));
  // Of a container; absent elsewhere, and "max" where there is no limit.
  auto file = llvm::MemoryBuffer::getFile("/sys/fs/cgroup/memory.max",
                                          /*IsText=*/true);
  int64_t bytes = 0;
  if (file && !(*file)->getBuffer().trim().getAsInteger(10, bytes))
    limit = std::min(limit, static_cast<double>(bytes));
  return limit;
}

static std::string formatBytes(double bytes) {
  llvm::StringRef units[] = {"B", "kB", "MB", "GB", "TB"};
  unsigned unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit)
    bytes /= 1000;
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format(bytes < 1000 ? "%.3g " : "%.0f ", bytes) << units[unit];
  return text;
}

/// Systems promise more memory than there is and kill who makes use of it, so
/// asking for it is no test.
bool RunArguments::checkMemory() {
  double total = 0;
  const typed::Param *largest = nullptr;
  double largestBytes = -1;
  for (const typed::Param *param : kernel.params) {
    if (!param->isTensor || arrays[param->index])
      continue;
    double bytes = byteSize(param->dtype);
    Extents shape = *shapeOf(*param, extents);
    for (int64_t extent : shape)
      bytes *= static_cast<double>(extent);
    if (bytes > largestBytes) {
      largestBytes = bytes;
      largest = param;
    }
    // The reference has outputs of its own, and the comparison doubles.
    bool isCompared = options.check && isOutput(*param);
    // Besides doubles to compare with: two more and a count where it adds.
    double extra = param->access == ast::Access::Add ? 28 : 8;
    total +=
        isCompared ? 2 * bytes + bytes * extra / byteSize(param->dtype) : bytes;
  }
  // Without a grid the reference holds a few whole values, in doubles.
  if (options.check && kernel.grid.empty() && largest)
    total += 3 * 8 * largestBytes / byteSize(largest->dtype);
  double limit = memoryLimit();
  if (total <= limit)
    return true;
  error(*largest, "the arrays need " + formatBytes(total) +
                      " of memory, this machine has " + formatBytes(limit))
      .note("'" + largest->name + "' alone is " +
            toString(largest->dtype, *shapeOf(*largest, extents)) + ", " +
            formatBytes(largestBytes))
      .remedy(options.check && options.command != Command::Check
                  ? "choose smaller extents, or leave out --check"
                  : "choose smaller extents");
  return false;
}

bool RunArguments::fill(const typed::Param &param, Array &array) {
  const ArgumentSpec *spec = findSpec(param);
  if (!spec && param.access == ast::Access::Out) {
    poison(array); // NaN, so that an element that is not written shows.
    return true;
  }
  if (!spec && param.access == ast::Access::Add)
    return true; // A sum starts at 0.
  if (llvm::Error failed =
          fillArgument(array, kernel, param, spec ? *spec : ArgumentSpec(),
                       extents, options.seed))
    return fail(param, std::move(failed));
  return true;
}

std::optional<TensorView> RunArguments::makeArray(const typed::Param &param,
                                                  const Extents &shape) {
  std::unique_ptr<Array> &array = arrays[param.index];
  if (!array) {
    llvm::Expected<Array> made =
        Array::create(param.dtype, shape, Array::defaultGuardBytes);
    if (!made) {
      fail(param, made.takeError());
      return std::nullopt;
    }
    array = std::make_unique<Array>(std::move(*made));
    if (!fill(param, *array))
      return std::nullopt;
  }
  return array->view();
}

bool RunArguments::makeScalar(const typed::Param &param) {
  const ArgumentSpec *spec = findSpec(param);
  if (!spec) {
    if (param.defaultValue)
      return true;
    error(param, "a scalar without a default needs a value")
        .remedy("give it, e.g. --arg " + param.name + "=1");
    return false;
  }
  if (spec->kind != ArgumentSpec::Kind::Number) {
    error(param, "expected one number of type " + dtypeName(param.dtype) +
                     ", got '" + spec->text + "'")
        .remedy("give a number, e.g. --arg " + param.name + "=1");
    return false;
  }
  if (llvm::Error failed = checkNumber(*spec, param.dtype))
    return fail(param, std::move(failed));
  values[param.index] = isFloat(param.dtype)
                            ? ScalarValue::ofFloat(spec->number, param.dtype)
                            : ScalarValue::ofInt(spec->integer, param.dtype);
  return true;
}

bool RunArguments::makeAll(Place place) {
  for (const typed::Param *param : kernel.params) {
    if (!param->isTensor) {
      if (!makeScalar(*param))
        return false;
      continue;
    }
    std::optional<TensorView> view = place(*param, *shapeOf(*param, extents));
    if (!view)
      return false;
    values[param->index] = *view;
  }
  return true;
}

bool RunArguments::prepare() {
  return checkNames() && readFiles() && checkExtents() && checkMemory() &&
         makeAll([this](const typed::Param &param, const Extents &shape) {
           return makeArray(param, shape);
         });
}

bool RunArguments::prepareAt(Place place) {
  return checkNames() && checkExtents() && makeAll(place);
}

std::optional<std::vector<Array>> RunArguments::copyOutputs(bool onlyRead) {
  std::vector<Array> copies;
  for (const typed::Param *param : kernel.params) {
    if (!isOutput(*param) || (onlyRead && param->access == ast::Access::Out))
      continue;
    llvm::Expected<Array> copy = Array::copyOf(arrayOf(*param).view());
    if (!copy) {
      fail(*param, copy.takeError());
      return std::nullopt;
    }
    copies.push_back(std::move(*copy));
  }
  return copies;
}

void RunArguments::restoreOutputs(llvm::ArrayRef<Array> copies) {
  size_t next = 0;
  for (const typed::Param *param : kernel.params)
    if (isOutput(*param) && param->access != ast::Access::Out)
      copyElements(arrayOf(*param), copies[next++]);
}

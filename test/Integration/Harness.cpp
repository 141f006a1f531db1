//===- Harness.cpp - Runs kernels and compares the results ------*- C++ -*-===//
//
// See Harness.h. Executables and analyzed kernels are kept for the whole
// process, by everything that goes into them.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"
#include "lib/Compiler/EmulatedTarget.h"
#include "lib/Compiler/GpuExecutable.h"
#include "lib/Reference/Reference.h"
#include "lib/Runtime/Array.h"

#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>

using namespace tilec;
using namespace tilec::test;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

llvm::StringRef test::layoutName(Layout layout) {
  switch (layout) {
  case Layout::RowMajor:
    return "row-major";
  case Layout::Transposed:
    return "transposed";
  case Layout::Gaps2:
    return "gaps of 2";
  case Layout::Gaps3:
    return "gaps of 3";
  case Layout::Padded:
    return "padded";
  case Layout::Offset:
    return "offset";
  case Layout::Reversed:
    return "reversed";
  case Layout::Broadcast:
    return "broadcast";
  case Layout::BroadcastLast:
    return "broadcast last";
  }
  llvm_unreachable("not a layout");
}

llvm::ArrayRef<Layout> test::inputLayouts() {
  static constexpr Layout all[] = {
      Layout::RowMajor, Layout::Transposed, Layout::Gaps2,
      Layout::Gaps3,    Layout::Padded,     Layout::Offset,
      Layout::Reversed, Layout::Broadcast,  Layout::BroadcastLast};
  return all;
}

llvm::ArrayRef<Layout> test::outputLayouts() {
  return inputLayouts().drop_back(2);
}

/// Memory for a shape in a layout, and the view of it.
static std::pair<GuardedMemory, TensorView>
allocate(DType dtype, const Shape &shape, Layout layout, bool isWritten) {
  size_t rank = shape.size();
  TensorView view;
  view.dtype = dtype;
  view.shape.assign(shape.begin(), shape.end());
  view.strides.resize(rank);
  auto stridesFrom = [&](int64_t inner, int64_t rowGap) {
    int64_t stride = inner;
    for (size_t d = rank; d-- > 0;) {
      view.strides[d] = stride;
      stride = stride * std::max<int64_t>(shape[d], 1) + rowGap;
    }
  };
  stridesFrom(1, 0);
  auto place = GuardedMemory::Place::AtEnd;
  int64_t margin = 0; // Elements before and after.
  switch (layout) {
  case Layout::RowMajor:
    break;
  case Layout::Gaps2:
    stridesFrom(2, 0);
    break;
  case Layout::Gaps3:
    stridesFrom(3, 7);
    break;
  case Layout::Padded:
    stridesFrom(1, 5);
    place = GuardedMemory::Place::AtBegin;
    break;
  case Layout::Transposed:
    if (rank >= 2) {
      view.strides[rank - 2] = 1;
      view.strides[rank - 1] = std::max<int64_t>(shape[rank - 2], 1);
    }
    break;
  case Layout::Reversed:
    for (int64_t &stride : view.strides)
      stride = -stride;
    place = GuardedMemory::Place::AtBegin;
    break;
  case Layout::Broadcast:
    REQUIRE(!isWritten);
    view.strides.front() = 0;
    break;
  case Layout::BroadcastLast:
    REQUIRE(!isWritten);
    view.strides.back() = 0;
    break;
  case Layout::Offset:
    stridesFrom(1, 5);
    margin = 3;
    break;
  }
  ByteExtent extent = *byteExtent(view);
  auto size = static_cast<int64_t>(byteSize(dtype));
  GuardedMemory memory(dtype, extent.size() + size_t(2 * margin * size), place);
  view.data = memory.data() + margin * size - extent.low;
  return {std::move(memory), view};
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::vector<double> Tensor::read() const {
  std::vector<double> values;
  values.reserve(static_cast<size_t>(numElements()));
  forEachElement(tensor, [&](void *element, int64_t) {
    values.push_back(loadAsDouble(tensor.dtype, element));
  });
  return values;
}

void Tensor::set(std::initializer_list<int64_t> index, double value) {
  tensor.setDouble(index, value);
  refresh();
}

void Tensor::setInt(std::initializer_list<int64_t> index, int64_t value) {
  tensor.setInt(index, value);
  refresh();
}

void Tensor::setAll(llvm::ArrayRef<double> values) {
  REQUIRE(static_cast<int64_t>(values.size()) == numElements());
  forEachElement(tensor, [&](void *element, int64_t i) {
    storeDouble(tensor.dtype, element, values[static_cast<size_t>(i)]);
  });
  refresh();
}

void test::forEachIndex(llvm::ArrayRef<int64_t> shape,
                        llvm::function_ref<void(Index)> body) {
  if (llvm::is_contained(shape, 0))
    return;
  std::vector<int64_t> index(shape.size(), 0);
  while (true) {
    body(index);
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

void Tensor::setAll(const std::function<double(Index)> &value) {
  forEachIndex(tensor.shape, [&](Index i) { tensor.setDouble(i, value(i)); });
  refresh();
}

void Tensor::fill(double value) {
  fillConstant(tensor, value);
  refresh();
}

//===----------------------------------------------------------------------===//
// Kernels and executables
//===----------------------------------------------------------------------===//

static std::string messages(const DiagnosticEngine &diags) {
  std::string text;
  llvm::raw_string_ostream os(text);
  diags.print(os);
  return text;
}

static std::string keyOf(llvm::StringRef file, llvm::StringRef kernel,
                         const CtArgs &ctArgs) {
  std::string key = (file + " " + kernel).str();
  for (const auto &[name, value] : ctArgs)
    key += " " + name + "=" + value;
  return key;
}

/// A kernel, analyzed: what arguments are bound to.
struct Launch::Source {
  std::unique_ptr<Program> program;
  std::unique_ptr<typed::Kernel> kernel;
};

/// Compilation settles the tile sizes in the typed kernel, so every executable
/// has one of its own.
struct Launch::Executable {
  std::unique_ptr<Source> source;
  std::unique_ptr<CpuExecutable> code;
};

/// On a GPU one is made for the arrays of a launch.
struct Launch::DeviceExecutable {
  std::unique_ptr<Source> source;
  std::unique_ptr<GpuExecutable> code;

  bool run(const BoundLaunch &bound) {
    bool good = code->run(*source->program, *source->kernel, bound);
    EmulationFindings findings;
    if (const emulator::EmulatedRun *run = code->emulatedRun())
      findings.add(*run);
    return !findings.report(*source->program, *source->kernel) && good;
  }
};

std::unique_ptr<Launch::Source> Launch::loadSource(llvm::StringRef file,
                                                   llvm::StringRef kernel,
                                                   const CtArgs &ctArgs) {
  std::string path = TILEC_SOURCE_DIR "/";
  if (!file.contains('/'))
    path += "test/Integration/Inputs/";
  path += file;
  auto source = std::make_unique<Source>();
  source->program = Program::load(path, {});
  Program &program = *source->program;
  const ast::KernelDecl *decl =
      program.tree ? program.findKernel(kernel) : nullptr;
  CompileTimeArgs args;
  for (const auto &[name, value] : ctArgs)
    args[name] = value;
  if (decl && !program.diags.hasErrors())
    source->kernel = program.analyze(*decl, args, "cpu");
  if (!source->kernel)
    FAIL("analysis failed\n" << messages(program.diags));
  return source;
}

Launch::Source &Launch::sourceOf(llvm::StringRef file, llvm::StringRef kernel,
                                 const CtArgs &ctArgs) {
  static std::map<std::string, std::unique_ptr<Source>> sources;
  std::unique_ptr<Source> &source = sources[keyOf(file, kernel, ctArgs)];
  if (!source)
    source = loadSource(file, kernel, ctArgs);
  return *source;
}

Launch::Executable &
Launch::executableFor(const Specialization &specialization) {
  static std::map<std::string, std::unique_ptr<Executable>> executables;
  std::string key = keyOf(file, kernelName, ctArgs) + " |";
  for (const auto &[name, size] : schedule)
    key += " " + name + "=" + std::to_string(size);
  key += " |";
  for (const typed::Dimension *dim : source->kernel->dims)
    if (specialization.extents.count(dim->name))
      key += " " + dim->name.str() + "=" +
             std::to_string(specialization.extents.lookup(dim->name));
  for (int unit : specialization.unitStride)
    key += " " + std::to_string(unit);
  key += checked ? " checked" : "";
  key += " | " + passes;
  std::unique_ptr<Executable> &executable = executables[key];
  if (executable)
    return *executable;
  auto made = std::make_unique<Executable>();
  made->source = loadSource(file, kernelName, ctArgs);
  CompileOptions options;
  options.checked = checked;
  options.pipeline.extraPasses = passes;
  for (const auto &[name, size] : schedule)
    options.schedule[name] = size;
  made->code = CpuExecutable::create(
      *made->source->program, *made->source->kernel, specialization, options);
  if (!made->code)
    FAIL("compilation failed\n" << messages(made->source->program->diags));
  executable = std::move(made);
  return *executable;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Launch::Launch(llvm::StringRef file, llvm::StringRef kernel, CtArgs ctArgs,
               ScheduleArgs schedule)
    : file(file), kernelName(kernel), ctArgs(std::move(ctArgs)),
      schedule(std::move(schedule)) {
  if (const char *variable = std::getenv("TILEC_TEST_PASSES"))
    passes = variable;
  INFO(describe());
  source = &sourceOf(file, kernel, this->ctArgs);
}

Launch::~Launch() = default;

const typed::Param &Launch::param(llvm::StringRef name) const {
  const typed::Param *param = source->kernel->findParam(name);
  if (!param)
    FAIL(kernelName << " has no parameter " << name.str());
  return *param;
}

Tensor &Launch::make(llvm::StringRef name, const Shape &shape, Layout layout) {
  const typed::Param &typed = param(name);
  Tensor &tensor = tensors.emplace_back();
  tensor.launch = this;
  tensor.argName = name.str();
  tensor.layout = layoutName(layout).str();
  tensor.isInput = typed.access != ast::Access::Out;
  tensor.isOutput = typed.access != ast::Access::In;
  std::tie(tensor.memory, tensor.tensor) =
      allocate(typed.dtype, shape, layout, tensor.isOutput);
  return tensor;
}

Tensor &Launch::in(llvm::StringRef name, Shape shape, Layout layout,
                   FillOptions fill) {
  Tensor &tensor = make(name, shape, layout);
  // The kernel's name is part of the stream, so that kernels differ.
  if (llvm::Error error = fillRandom(tensor.view(), Catch::rngSeed(),
                                     kernelName + "." + name.str(), fill))
    FAIL(llvm::toString(std::move(error)));
  tensor.refresh();
  return tensor;
}

Tensor &Launch::inout(llvm::StringRef name, Shape shape, Layout layout,
                      FillOptions fill) {
  return in(name, std::move(shape), layout, fill);
}

Tensor &Launch::out(llvm::StringRef name, Shape shape, Layout layout) {
  Tensor &tensor = make(name, shape, layout);
  poison(tensor.view());
  tensor.refresh();
  return tensor;
}

void Launch::adopt(llvm::StringRef name, const TensorView &view) {
  others[name.str()] = view;
}

void Launch::scalar(llvm::StringRef name, double value) {
  others[name.str()] = ScalarValue::ofFloat(value, DType::F64);
}

void Launch::scalarInt(llvm::StringRef name, int64_t value) {
  others[name.str()] = param(name).dtype == DType::Bool
                           ? ScalarValue::ofBool(value != 0)
                           : ScalarValue::ofInt(value);
}

std::string Launch::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << file << " " << kernelName;
  for (const auto &[name, value] : ctArgs)
    os << " -D " << name << "=" << value;
  for (const auto &[name, size] : schedule)
    os << " --tile " << name << "=" << size;
  for (const Tensor &tensor : tensors)
    os << "\n  " << tensor.argName << ": " << toString(tensor.view()) << " ("
       << tensor.layout << ")";
  for (const auto &[name, value] : others)
    if (const auto *scalar = std::get_if<ScalarValue>(&value)) {
      os << "\n  " << name << " = ";
      if (isFloat(scalar->dtype))
        os << scalar->real;
      else
        os << scalar->integer;
    }
  os << "\n  seed " << Catch::rngSeed() << " (--rng-seed)";
  return text;
}

std::string Tensor::describeLaunch() const { return launch->describe(); }

std::vector<Argument> Launch::arguments() const {
  std::vector<Argument> args;
  for (const typed::Param *param : source->kernel->params) {
    const Tensor *found = nullptr;
    for (const Tensor &tensor : tensors)
      if (tensor.name() == param->name)
        found = &tensor;
    auto other = others.find(param->name.str());
    if (found)
      args.push_back(found->view());
    else if (other != others.end())
      args.push_back(other->second);
    else
      args.push_back(std::monostate{});
  }
  return args;
}

std::string Launch::bindErrors() {
  DiagnosticEngine diags(source->program->sources);
  bindLaunch(*source->kernel, arguments(), diags);
  return messages(diags);
}

static const char *gpuTarget() { return std::getenv("TILEC_TEST_TARGET"); }

bool test::runsOnGpu() { return gpuTarget() != nullptr; }

/// "emulator" or "emulator:sm_80", for which small arrays are enough.
static bool isEmulator(llvm::StringRef target) {
  return target.starts_with("emulator");
}

bool Launch::isSmall() const {
  constexpr int64_t elements = 100000;
  int64_t sum = 0;
  for (const Tensor &tensor : tensors)
    sum += tensor.numElements();
  return sum <= elements;
}

std::string Launch::runReporting() {
  const char *gpu = gpuTarget();
  if (gpu && !source->kernel->grid.empty() && (!isEmulator(gpu) || isSmall()))
    return runOnGpu(gpu);
  INFO(describe());
  DiagnosticEngine diags(source->program->sources);
  std::optional<BoundLaunch> bound =
      bindLaunch(*source->kernel, arguments(), diags);
  if (!bound)
    FAIL("binding failed\n" << messages(diags));
  Executable &executable =
      executableFor(Specialization::of(*source->kernel, *bound));
  keepMemory();
  Program &program = *executable.source->program;
  program.diags.clear();
  bool good = executable.code->run(program, *executable.source->kernel, *bound,
                                   threads);
  numPrograms =
      executable.code->numPrograms(*executable.source->kernel, *bound);
  std::string text = messages(program.diags);
  if (!good && text.empty())
    text = "failed without a message";
  program.diags.clear();
  verifyMemory();
  return text;
}

std::string Launch::runOnGpu(llvm::StringRef target) {
  INFO(describe());
  DiagnosticEngine diags(source->program->sources);
  std::optional<BoundLaunch> bound =
      bindLaunch(*source->kernel, arguments(), diags);
  if (!bound)
    FAIL("binding failed\n" << messages(diags));
  onDevice = std::make_unique<DeviceExecutable>();
  onDevice->source = loadSource(file, kernelName, ctArgs);
  Program &program = *onDevice->source->program;
  CompileOptions options;
  options.target = target.str();
  if (isEmulator(target)) {
    llvm::StringRef gpu = target.split(':').second;
    options.target = gpu.empty() ? "sm_90a" : gpu.str();
    options.emulated = true;
  }
  options.checked = checked;
  for (const auto &[name, size] : schedule)
    options.schedule[name] = size;
  keepMemory();
  onDevice->code = GpuExecutable::create(program, *onDevice->source->kernel,
                                         *bound, options);
  if (onDevice->code) {
    numPrograms = onDevice->code->numPrograms();
    onDevice->run(*bound);
  }
  std::string text = program.diags.hasErrors() ? messages(program.diags) : "";
  verifyMemory();
  return text;
}

void Launch::run() {
  std::string errors = runReporting();
  if (!errors.empty())
    FAIL("the run reported errors\n" << errors << describe());
}

void Launch::runRepeatedly(unsigned times) {
  run();
  INFO(describe());
  DiagnosticEngine diags(source->program->sources);
  std::optional<BoundLaunch> bound =
      bindLaunch(*source->kernel, arguments(), diags);
  REQUIRE(bound);
  std::vector<std::vector<uint8_t>> before, after;
  for (Tensor &tensor : tensors) {
    llvm::ArrayRef<uint8_t> memory = tensor.memory.accessible();
    after.emplace_back(memory.begin(), memory.end());
    // What run() found; verifyMemory() has put the results into `bytes`.
    before.push_back(tensor.initial);
  }
  for (unsigned i = 1; i < times; ++i) {
    for (auto [tensor, bytes] : llvm::zip(tensors, before))
      llvm::copy(bytes, tensor.memory.accessible().begin());
    if (onDevice)
      REQUIRE(onDevice->run(*bound));
    else
      REQUIRE(runReporting() == "");
    for (auto [tensor, bytes] : llvm::zip(tensors, after)) {
      INFO("argument " << tensor.argName << ", run " << i + 1);
      REQUIRE(llvm::equal(bytes, tensor.memory.accessible()));
    }
  }
}

void Launch::expectReference() {
  INFO(describe());
  DiagnosticEngine diags(source->program->sources);
  std::optional<BoundLaunch> bound =
      bindLaunch(*source->kernel, arguments(), diags);
  REQUIRE(bound);
  const typed::Kernel &kernel =
      *executableFor(Specialization::of(*source->kernel, *bound))
           .source->kernel;
  std::vector<Array> expected;
  for (const Tensor &tensor : tensors) {
    if (!tensor.isOutput)
      continue;
    llvm::Expected<Array> array = Array::create(tensor.dtype(), tensor.shape());
    if (!array)
      FAIL(llvm::toString(array.takeError()));
    forEachElement(array->view(), [&](void *element, int64_t i) {
      storeDouble(tensor.dtype(), element, tensor.before[size_t(i)]);
    });
    bound->args[param(tensor.argName).index] = array->view();
    expected.push_back(std::move(*array));
  }
  if (llvm::Error error = evaluateReference(kernel, *bound))
    FAIL(llvm::toString(std::move(error)));
  const Array *reference = expected.data();
  for (const Tensor &tensor : tensors) {
    if (!tensor.isOutput)
      continue;
    INFO("argument " << tensor.argName);
    Comparison result =
        compareArrays(tensor.view(), *reference++, coarsestFloat(kernel));
    INFO("first of " << result.mismatches
                     << " elements that differ: " << result.firstMismatch
                     << ", relative " << result.maxRelative);
    CHECK(result.agrees());
  }
}

void Launch::keepMemory() {
  for (Tensor &tensor : tensors) {
    tensor.bytes.assign(tensor.memory.accessible().begin(),
                        tensor.memory.accessible().end());
    tensor.initial = tensor.bytes;
  }
}

void Launch::verifyMemory() {
  for (Tensor &tensor : tensors) {
    INFO("argument " << tensor.argName);
    if (tensor.isOutput) {
      // Whatever is not an element of the view must not have changed.
      tensor.after = tensor.read();
      uint8_t *base = tensor.memory.accessible().data();
      size_t size = byteSize(tensor.dtype());
      forEachElement(tensor.view(), [&](void *element, int64_t) {
        std::memcpy(tensor.bytes.data() +
                        (static_cast<uint8_t *>(element) - base),
                    element, size);
      });
    }
    if (!std::equal(tensor.bytes.begin(), tensor.bytes.end(),
                    tensor.memory.accessible().begin()))
      FAIL("memory changed that the kernel must not write");
  }
}

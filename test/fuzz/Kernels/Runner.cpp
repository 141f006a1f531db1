//===- Runner.cpp - Runs a case and judges the results ----------*- C++ -*-===//
//
// See Runner.h.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Kernels/Runner.h"
#include "lib/Compiler/EmulatedTarget.h"
#include "lib/Compiler/GpuExecutable.h"
#include "lib/Reference/Reference.h"
#include "lib/Runtime/Array.h"
#include "lib/Runtime/RandomFill.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace tilec;
using namespace tilec::fuzz;

llvm::StringRef fuzz::kindText(Outcome::Kind kind) {
  switch (kind) {
  case Outcome::Kind::Agrees:
    return "agrees";
  case Outcome::Kind::Resources:
    return "takes too much";
  case Outcome::Kind::Invalid:
    return "invalid case";
  case Outcome::Kind::Rejected:
    return "rejected";
  case Outcome::Kind::Differs:
    return "differs";
  case Outcome::Kind::Stray:
    return "stray write";
  case Outcome::Kind::Fault:
    return "fault";
  case Outcome::Kind::Finding:
    return "finding";
  case Outcome::Kind::Crash:
    return "crash";
  case Outcome::Kind::Hang:
    return "hang";
  }
  llvm_unreachable("not a kind of outcome");
}

std::string Outcome::signature() const {
  std::string text = (kindText(kind) + ": " + what).str();
  // Of a comparison the message is numbers only.
  if (kind == Kind::Differs || kind == Kind::Stray)
    return text;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(message).split(lines, '\n');
  for (llvm::StringRef line : lines)
    for (llvm::StringRef word : {"error: ", "Assertion", "UNREACHABLE"}) {
      size_t at = line.find(word);
      if (at == llvm::StringRef::npos)
        continue;
      for (char c : line.substr(at))
        if (!llvm::isDigit(c))
          text += c;
      return text;
    }
  return text;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// A tensor in the middle of poison: NaN for floats, which spoils what is made
/// of it, and known bits, in which a write is seen.
class GuardedTensor {
public:
  GuardedTensor(const Case &test, const TensorParam &param);

  const TensorView &view() const { return tensor; }
  /// The elements before the run.
  const Array &initial() const { return before; }
  /// Whether anything but the elements of an output changed.
  bool intact() const;

private:
  static constexpr size_t guardBytes = 4096, alignment = 256;

  bool isOutput;
  std::vector<uint8_t> memory, snapshot;
  TensorView tensor;
  Array before;
};
} // namespace

GuardedTensor::GuardedTensor(const Case &test, const TensorParam &param)
    : isOutput(param.isOutput()) {
  const Layout &layout = param.layout;
  tensor.dtype = param.dtype;
  tensor.strides.resize(param.dims.size());
  for (unsigned dim : param.dims)
    tensor.shape.push_back(test.dims[dim].size);
  int64_t stride = layout.innerStride;
  for (unsigned d : llvm::reverse(layout.order)) {
    bool isInner = d == layout.order.back();
    if (layout.repeated >> d & 1)
      continue;
    tensor.strides[d] = layout.reversed >> d & 1 ? -stride : stride;
    stride *= std::max<int64_t>(1, tensor.shape[d]);
    if (isInner)
      stride += layout.gap;
  }
  ByteExtent extent = *byteExtent(tensor);
  size_t size = byteSize(param.dtype);
  size_t bytes = 2 * guardBytes + extent.size() + layout.offset * size;
  memory.resize(bytes + alignment);
  auto address = reinterpret_cast<uintptr_t>(memory.data());
  uint8_t *begin = memory.data() + (alignment - address % alignment);
  poison(TensorView::contiguous(begin, param.dtype,
                                {static_cast<int64_t>(bytes / size)}));
  tensor.data = begin + guardBytes + layout.offset * size - extent.low;

  if (param.access != TensorParam::Access::Out) {
    FillOptions fill;
    fill.minInclusive = param.low;
    fill.maxExclusive = param.high;
    llvm::cantFail(fillRandom(tensor, test.seed, param.name, fill));
  }
  if (param.special) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    uint64_t stream = streamSeed(test.seed, param.name + " special");
    // An infinity becomes the greatest number of 8 bits, as all conversions
    // to these types saturate; that is far above the bounds of Value.
    forEachElement(tensor, [&](void *element, int64_t i) {
      int64_t which = integerAt(stream, i, 0, 16);
      if (which < 3)
        storeDouble(param.dtype, element,
                    which == 0 || isFloat8(param.dtype) ? NAN
                    : which == 1                        ? infinity
                                                        : -infinity);
    });
  }
  before = llvm::cantFail(Array::copyOf(tensor));
  snapshot = memory;
}

bool GuardedTensor::intact() const {
  if (!isOutput)
    return memory == snapshot;
  std::vector<uint8_t> expected = snapshot;
  forEachElement(tensor, [&](void *element, int64_t) {
    std::memcpy(expected.data() +
                    (static_cast<uint8_t *>(element) - memory.data()),
                element, byteSize(tensor.dtype));
  });
  return memory == expected;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Whether `found` can be what the target makes of the exact value behind
/// `wanted`, which has been rounded to the type as well.
static bool isClose(DType dtype, double found, double wanted, double error) {
  if (std::isnan(found) || std::isnan(wanted))
    return std::isnan(found) && std::isnan(wanted);
  if (found == wanted)
    return true;
  if (error == 0 || std::isinf(found) || std::isinf(wanted))
    return false;
  double rounding = 0;
  if (isFloat(dtype))
    rounding = floatFormat(dtype).epsilon *
               std::max(std::fabs(wanted), floatFormat(dtype).minNormal);
  return std::fabs(found - wanted) <= error + rounding;
}

/// Nothing, or what differs.
static std::string compare(const TensorParam &param, const TensorView &found,
                           const TensorView &wanted, DType coarsest,
                           const Additions *additions, double cancellation) {
  int64_t first = -1, mismatches = 0;
  std::vector<double> values;
  forEachElement(wanted, [&](void *element, int64_t) {
    values.push_back(loadAsDouble(wanted.dtype, element));
  });
  double foundFirst = 0;
  if (param.error < 0) {
    Comparison result =
        compareArrays(found, wanted, coarsest, additions, cancellation);
    first = result.firstMismatch;
    mismatches = result.mismatches;
  }
  forEachElement(found, [&](void *element, int64_t i) {
    double value = loadAsDouble(found.dtype, element);
    if (param.error >= 0 &&
        !isClose(found.dtype, value, values[i], param.error)) {
      first = first < 0 ? i : first;
      ++mismatches;
    }
    if (i == first)
      foundFirst = value;
  });
  if (mismatches == 0)
    return "";
  std::string text;
  llvm::raw_string_ostream(text)
      << param.name << " differs in " << mismatches << " of "
      << found.numElements() << " elements; element " << first
      << " in row-major order: expected "
      << llvm::format("%.17g", values[first]) << ", found "
      << llvm::format("%.17g", foundFirst) << '\n';
  return text;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static std::string messages(const DiagnosticEngine &diags) {
  std::string text;
  llvm::raw_string_ostream os(text);
  diags.print(os);
  return text;
}

/// What a user can help with other tiles is no failure.
static Outcome judgeErrors(const DiagnosticEngine &diags) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> known[] =
      {{"spill", "registers spill"},
       {"registers of a thread", "registers spill"},
       {"more shared memory than", "too little shared memory"},
       {"expected tiles of at most", "tiles that must be kept are too large"},
       {"not to be overwritten before", "overwritten while a loop needs it"}};
  for (const auto &diagnostic : diags.all())
    if (diagnostic->severity == Severity::Error)
      for (const auto &[text, what] : known)
        if (llvm::StringRef(diagnostic->message).contains(text))
          return {Outcome::Kind::Resources, what.str(), messages(diags)};
  return {Outcome::Kind::Rejected, "does not compile", messages(diags)};
}

/// The part of `tilec run` that compiles and runs, with the arrays of `bound`.
static Outcome runOn(const RunOptions &options, uint64_t seed, Program &program,
                     typed::Kernel &kernel, const BoundLaunch &bound,
                     const CompileOptions &compile) {
  auto fault = [&] {
    return Outcome{Outcome::Kind::Fault, "the run fails",
                   messages(program.diags)};
  };
  if (options.target == "cpu") {
    std::unique_ptr<CpuExecutable> code = CpuExecutable::create(
        program, kernel, Specialization::of(kernel, bound), compile);
    if (!code)
      return judgeErrors(program.diags);
    if (!options.compileOnly && !code->run(program, kernel, bound))
      return fault();
    return {};
  }
  if (options.compileOnly) {
    Specialization specialization = Specialization::of(kernel, bound);
    if (!compileForGpu(program, kernel, specialization,
                       GpuFacts::of(kernel, bound, specialization), compile))
      return judgeErrors(program.diags);
    return {};
  }
  std::unique_ptr<GpuExecutable> code =
      GpuExecutable::create(program, kernel, bound, compile);
  if (!code)
    return judgeErrors(program.diags);
  emulator::EmulationSettings settings;
  settings.seed = seed;
  settings.hostThreads = 1;               // There is a process for each core.
  settings.stepLimit = uint64_t(1) << 24; // Some 10 seconds.
  code->setEmulation(settings);
  bool good = code->run(program, kernel, bound);
  if (const emulator::EmulatedRun *run = code->emulatedRun()) {
    EmulationFindings findings;
    findings.add(*run);
    for (const emulator::Report &report : run->result.reports)
      if (report.kind == emulator::ReportKind::StepLimit)
        return {Outcome::Kind::Resources, "too long for the emulator", ""};
    if (findings.report(program, kernel))
      return {Outcome::Kind::Finding,
              emulator::nameOf(run->result.reports.front().kind).str(),
              messages(program.diags)};
  }
  return good ? Outcome{} : fault();
}

Outcome fuzz::runCase(const Case &test, const RunOptions &options,
                      llvm::function_ref<void()> atReference) {
  std::unique_ptr<Program> program =
      Program::loadText("case.tile", test.source(), {});
  auto invalid = [&](llvm::StringRef what) {
    return Outcome{Outcome::Kind::Invalid, what.str(),
                   messages(program->diags)};
  };
  if (!program->tree || program->diags.hasErrors())
    return invalid("does not parse");
  const ast::KernelDecl *decl = program->findKernel("k");
  std::unique_ptr<typed::Kernel> kernel =
      decl ? program->analyze(*decl, {}, options.target) : nullptr;
  if (!kernel)
    return invalid("does not pass the front end");

  std::vector<std::unique_ptr<GuardedTensor>> tensors;
  std::vector<Argument> arguments;
  for (const TensorParam &param : test.tensors) {
    tensors.push_back(std::make_unique<GuardedTensor>(test, param));
    arguments.push_back(tensors.back()->view());
  }
  for (const ScalarParam &param : test.scalars)
    arguments.push_back(
        isFloat(param.dtype) ? ScalarValue::ofFloat(param.value, DType::F64)
        : param.dtype == DType::Bool ? ScalarValue::ofBool(param.value != 0)
                                     : ScalarValue::ofInt(param.value));
  std::optional<BoundLaunch> bound =
      bindLaunch(*kernel, arguments, program->diags);
  if (!bound)
    return invalid("arguments do not fit");

  CompileOptions compile;
  compile.target = options.target;
  compile.checked = false;
  compile.emulated = options.emulated;
  for (const auto &[name, value] : test.schedule)
    compile.schedule[name] = value;
  Outcome outcome =
      runOn(options, test.seed, *program, *kernel, *bound, compile);
  if (outcome.kind != Outcome::Kind::Agrees || options.compileOnly)
    return outcome;

  std::string stray, differing;
  for (auto [param, tensor] : llvm::zip(test.tensors, tensors))
    if (!tensor->intact())
      stray += "memory of " + param.name + " changed that is no output\n";
  if (!stray.empty())
    return {Outcome::Kind::Stray, "memory overwritten", stray};

  if (atReference)
    atReference();
  BoundLaunch reference = *bound;
  for (auto [i, tensor] : llvm::enumerate(tensors))
    reference.args[i] = tensor->initial().view();
  RoundingFacts facts;
  if (llvm::Error error = evaluateReference(*kernel, reference, &facts))
    return {Outcome::Kind::Invalid, "cannot be evaluated",
            llvm::toString(std::move(error))};
  for (auto [i, param] : llvm::enumerate(test.tensors)) {
    if (!param.isOutput())
      continue;
    auto added = facts.additions.find(kernel->params[i]);
    differing +=
        compare(param, tensors[i]->view(),
                std::get<TensorView>(reference.args[i]), coarsestFloat(*kernel),
                added == facts.additions.end() ? nullptr : &added->second,
                facts.cancellation);
  }
  if (!differing.empty())
    return {Outcome::Kind::Differs, "differs from the reference", differing};
  return {};
}

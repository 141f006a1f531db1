//===- KernelHeader.cpp - A kernel as a header for C and C++ ----*- C++ -*-===//
//
// The header's first part does not depend on the kernel but for its name, which
// all names in it begin with, so that a program can include several. The launch
// function is written out, check by check.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/KernelHeader.h"
#include "lib/Compiler/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace tilec;

//===----------------------------------------------------------------------===//
// The part that all kernels share
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral sharedPart =
#include "lib/Compiler/KernelHeaderShared.inc"
    ;

//===----------------------------------------------------------------------===//
// The part of one kernel
//===----------------------------------------------------------------------===//

namespace {
class HeaderPrinter {
public:
  HeaderPrinter(Program &program, const typed::Kernel &kernel,
                const GpuCode &code)
      : program(program), kernel(kernel), code(code), image(code.image),
        os(text) {}
  std::optional<std::string> print();

private:
  std::string fresh(llvm::StringRef wanted);
  void nameThings();
  void printHead();
  void printCubin();
  void printShared();
  void printSignature();
  void printTensors();
  void printTensor(const gpu::TensorFacts &facts);
  void printFacts();
  bool printRequirements();
  bool printGrid();
  void printParameters();
  void fail(const llvm::Twine &condition, const llvm::Twine &message);
  bool reject(const typed::Expr &expr);
  std::string deviceCondition() const;

  Program &program;
  const typed::Kernel &kernel;
  const GpuCode &code;
  const gpu::KernelImage &image;
  std::string text;
  llvm::raw_string_ostream os;
  llvm::StringSet<> taken;
  llvm::StringMap<std::string> names; // Of dimensions and scalars, in C.
  std::vector<std::string> params;    // Of parameters, by index.
  std::vector<std::string> strides;   // Arrays of strides, by parameter.
  std::string hasElements, programs, along, function, driver, error, stream,
      parameters;
};
} // namespace

/// What a parameter must not be called.
static constexpr llvm::StringLiteral reservedWords =
    "alignas alignof and asm auto bool break case catch char class const "
    "continue default delete do double else enum explicit export extern false "
    "float for friend goto if inline int int32_t int64_t long mutable "
    "namespace "
    "new not operator or private protected public register restrict return "
    "short signed sizeof static struct switch template this throw true try "
    "typedef typeid typename uint8_t uint16_t uint64_t union unsigned using "
    "virtual void volatile while xor NULL";

std::string HeaderPrinter::fresh(llvm::StringRef wanted) {
  std::string name = wanted.str();
  while (!taken.insert(name).second)
    name += '_';
  return name;
}

void HeaderPrinter::nameThings() {
  llvm::SmallVector<llvm::StringRef> words;
  reservedWords.split(words, ' ');
  taken.insert(words.begin(), words.end());
  for (const typed::Param *param : kernel.params) {
    params.push_back(fresh(param->name));
    if (!param->isTensor)
      names[param->name] = params.back();
  }
  stream = fresh("stream");
  for (const typed::Param *param : kernel.params)
    strides.push_back(param->isTensor ? fresh((param->name + "_strides").str())
                                      : "");
  for (const typed::Dimension *dim : kernel.dims)
    names[dim->name] = fresh(dim->name);
  hasElements = fresh("has_elements");
  programs = fresh("programs");
  along = fresh("along");
  function = fresh("function");
  driver = fresh("driver");
  error = fresh("error");
  parameters = fresh("parameters");
}

llvm::StringRef tilec::typeInC(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return "double";
  case DType::F32:
  case DType::TF32:
    return "float";
  case DType::F16:
  case DType::BF16:
    return "uint16_t";
  case DType::F8E4M3:
  case DType::F8E5M2:
  case DType::U8:
  case DType::Bool:
    return "uint8_t";
  case DType::I64:
    return "int64_t";
  case DType::I32:
    return "int32_t";
  case DType::I16:
    return "int16_t";
  case DType::I8:
    return "int8_t";
  }
  return "";
}

static llvm::StringRef accessWord(ast::Access access) {
  switch (access) {
  case ast::Access::In:
    return "";
  case ast::Access::Out:
    return "out ";
  case ast::Access::InOut:
    return "inout ";
  case ast::Access::Add:
    return "add ";
  }
  return "";
}

/// "X must ..." for each fact, one a line.
static void printReliance(llvm::raw_ostream &os,
                          const gpu::KernelImage &image) {
  for (const gpu::ExtentFact &fact : image.extents)
    os << " *   - " << fact.dim << " is " << fact.value << '\n';
  for (const gpu::DivisorFact &fact : image.divisors)
    os << " *   - " << fact.dim << " is a multiple of " << fact.divisor << '\n';
  for (const gpu::TensorFacts &facts : image.tensors) {
    os << " *   - " << facts.name << ":";
    if (facts.unitStride >= 0)
      os << " stride 1 in dimension " << facts.unitStride << ',';
    os << " begins at multiples of " << facts.alignment
       << " bytes,\n *     as do the other strides";
    if (facts.index32)
      os << ", offsets fit 31 bits";
    os << '\n';
  }
}

void HeaderPrinter::printHead() {
  const std::string &name = kernel.name;
  llvm::StringRef file = llvm::sys::path::filename(program.sources.getName(0));
  os << "/* The kernel '" << name << "' of " << file << " as machine code for "
     << image.arch
     << ", with a function that\n * launches it. Written by tilec "
     << versionText << ".\n *\n";
  for (const typed::Param *param : kernel.params)
    os << " *   " << param->name << ": " << accessWord(param->access)
       << typeText(*param) << '\n';
  os << " *\n * " << name << "_launch puts the kernel on a stream (a CUstream "
     << "or cudaStream_t; NULL is\n * the default one) of the current device, "
     << "whose primary context is current, as\n * the CUDA runtime makes it. "
        "It "
     << "returns NULL or what is wrong, and may be\n * called by any number of "
     << "threads. The first launch on a device loads the code.\n * What the "
     << "kernel itself does wrong shows when the stream is synchronized.\n"
     << " *\n * What the code relies on, and every launch checks:\n"
     << " *   - a GPU that runs " << image.arch << '\n';
  printReliance(os, image);
  os << " * Not checked: that addresses are of this GPU, and that what is "
     << "written shares\n * no memory with other arguments.\n *\n * C99 or "
     << "C++11; link with -ldl -lpthread where these are separate libraries.\n"
     << " */\n\n";
  std::string guard = "TILEC_KERNEL_" + llvm::StringRef(name).upper() + "_H";
  os << "#ifndef " << guard << "\n#define " << guard << "\n\n";
}

/// Aligned as the driver may want it, by its second member.
void HeaderPrinter::printCubin() {
  os << "/* An ELF file: " << code.cubin.size() << " bytes. */\nstatic const "
     << "union {\n  unsigned char bytes[" << code.cubin.size()
     << "];\n  void *aligned;\n} " << kernel.name << "_cubin = {{";
  for (auto [i, byte] : llvm::enumerate(code.cubin)) {
    if (i % 20 == 0)
      os << "\n    ";
    os << unsigned(static_cast<unsigned char>(byte)) << ',';
  }
  os << "\n}};\n\n";
}

std::string HeaderPrinter::deviceCondition() const {
  llvm::StringRef digits = llvm::StringRef(image.arch).drop_front(3);
  bool isExact = digits.consume_back("a");
  unsigned number = 0;
  digits.getAsInteger(10, number);
  return llvm::formatv("major == {0} && minor {1} {2}", number / 10,
                       isExact ? "==" : ">=", number % 10);
}

void HeaderPrinter::printShared() {
  std::pair<llvm::StringRef, std::string> tokens[] = {
      {"@DEVICE@", deviceCondition()},
      {"@ARCH@", image.arch},
      {"@ENTRY@", image.name},
      {"@SHARED@", std::to_string(image.sharedBytes)},
      {"@", kernel.name}};
  llvm::StringRef rest = sharedPart;
  while (!rest.empty()) {
    size_t at = rest.find('@');
    os << rest.take_front(at);
    rest = rest.drop_front(std::min(at, rest.size()));
    for (const auto &[token, value] : tokens)
      if (rest.consume_front(token)) {
        os << value;
        break;
      }
  }
}

void HeaderPrinter::printSignature() {
  os << "static inline const char *" << kernel.name << "_launch(void *"
     << stream;
  for (auto [param, name] : llvm::zip(kernel.params, params)) {
    os << ",\n    ";
    if (param->isTensor)
      os << kernel.name << "_tensor";
    else
      os << typeInC(param->dtype);
    os << ' ' << name;
  }
  os << ") {\n";
}

void HeaderPrinter::fail(const llvm::Twine &condition,
                         const llvm::Twine &message) {
  os << "  if (" << condition << ")\n    return \"" << message << "\";\n";
}

/// Validity and extents of all tensors.
void HeaderPrinter::printTensors() {
  llvm::StringMap<llvm::StringRef> bound; // Dimensions, and by which tensor.
  for (auto [param, name] : llvm::zip(kernel.params, params)) {
    if (!param->isTensor)
      continue;
    fail("!" + kernel.name + "_is_valid(&" + name + ", " +
             llvm::Twine(param->shape.size()) + ")",
         "argument '" + param->name +
             "' has no shape, a negative extent, or no address");
    for (auto [i, extent] : llvm::enumerate(param->shape)) {
      std::string actual = name + ".shape[" + std::to_string(i) + "]";
      if (!extent.dim) {
        fail(actual + " != " + llvm::Twine(extent.constant),
             "dimension " + llvm::Twine(i) + " of '" + param->name +
                 "' is expected to be " + llvm::Twine(extent.constant));
        continue;
      }
      llvm::StringRef dim = extent.dim->name;
      auto [entry, isNew] = bound.try_emplace(dim, param->name);
      if (isNew)
        os << "  " << names[dim] << " = " << actual << ";\n";
      else
        fail(actual + " != " + names[dim],
             "dimension '" + dim + "' disagrees between '" + entry->second +
                 "' and '" + param->name + "'");
    }
  }
}

void HeaderPrinter::printTensor(const gpu::TensorFacts &facts) {
  const std::string &name = params[facts.arg], &own = strides[facts.arg];
  std::string rank = std::to_string(facts.rank);
  std::string what = "argument '" + facts.name + "' is expected to ";
  os << "  " << hasElements << " = " << kernel.name << "_get_strides(&" << name
     << ", " << rank << ", " << own << ");\n";
  // An empty tensor is never accessed.
  if (facts.unitStride >= 0)
    fail(hasElements + " && " + name + ".shape[" +
             llvm::Twine(facts.unitStride) + "] > 1 && " + own + "[" +
             llvm::Twine(facts.unitStride) + "] != 1",
         what + "have stride 1 in dimension " + llvm::Twine(facts.unitStride));
  if (facts.alignment > 1)
    fail(hasElements + " && !" + kernel.name + "_is_aligned(&" + name + ", " +
             own + ", " + rank + ", " + llvm::Twine(facts.unitStride) + ", " +
             llvm::Twine(byteSize(facts.dtype)) + ", " +
             llvm::Twine(facts.alignment) + ")",
         what + "begin, and to have strides, at multiples of " +
             llvm::Twine(facts.alignment) + " bytes");
  if (facts.index32)
    fail(hasElements + " && !" + kernel.name + "_fits_31_bits(&" + name + ", " +
             own + ", " + rank + ", " + llvm::Twine(facts.slack) + ")",
         what + "have offsets within 31 bits");
}

void HeaderPrinter::printFacts() {
  for (const gpu::ExtentFact &fact : image.extents)
    fail(names[fact.dim] + " != " + llvm::Twine(fact.value),
         "dimension '" + fact.dim + "' is expected to be " +
             llvm::Twine(fact.value));
  for (const gpu::DivisorFact &fact : image.divisors)
    fail(names[fact.dim] + " % " + llvm::Twine(fact.divisor) + " != 0",
         "dimension '" + fact.dim + "' is expected to be a multiple of " +
             llvm::Twine(fact.divisor));
  for (const gpu::TensorFacts &facts : image.tensors)
    printTensor(facts);
}

bool HeaderPrinter::reject(const typed::Expr &expr) {
  program.diags
      .error(expr.range, "a header cannot compute this: it takes more than "
                         "arithmetic on integers, f32 and f64")
      .remedy("compute it in the program that launches, and pass the result as "
              "a scalar");
  return false;
}

bool HeaderPrinter::printRequirements() {
  for (const typed::Expr *requirement : kernel.requirements) {
    std::optional<std::string> condition =
        printCExpression(*requirement, names, kernel.name);
    if (!condition)
      return reject(*requirement);
    std::string source = program.sources.getText(requirement->range).str();
    std::string escaped;
    for (char c : source)
      escaped += c == '\n'               ? std::string(" ")
                 : c == '"' || c == '\\' ? std::string("\\") + c
                                         : std::string(1, c);
    fail("!(" + *condition + ")",
         "the arguments do not meet the requirement '" + escaped + "'");
  }
  return true;
}

bool HeaderPrinter::printGrid() {
  os << "  " << programs << " = 1;\n";
  for (auto [i, axis] : llvm::enumerate(image.grid)) {
    std::string extent = std::to_string(axis.constant);
    if (!axis.dim.empty()) {
      auto known = names.find(axis.dim);
      if (known != names.end()) {
        extent = known->second;
      } else {
        std::optional<std::string> computed =
            printCExpression(*kernel.grid[i]->extent, names, kernel.name);
        if (!computed)
          return reject(*kernel.grid[i]->extent);
        extent = names[axis.dim] = fresh("extent" + std::to_string(i));
        os << "  {\n    const int64_t computed = " << *computed << ";\n    "
           << extent << " = computed > 0 ? computed : 0;\n  }\n";
      }
    }
    os << "  " << along << " = " << extent;
    if (axis.tile > 1)
      os << " == 0 ? 0 : (" << extent << " - 1) / " << axis.tile << " + 1";
    os << ";\n";
    // No programs along one axis are none, however many along others.
    os << "  if (" << programs << " == 0 || " << along << " == 0)\n    "
       << programs << " = 0;\n  else if (" << along << " > INT32_MAX / "
       << programs << ")\n    " << programs
       << " = INT64_MAX; /* Unless it becomes 0. */\n  else\n    " << programs
       << " *= " << along << ";\n";
  }
  fail(programs + " > INT32_MAX", "the arguments need more thread blocks than "
                                  "there can be");
  return true;
}

void HeaderPrinter::printParameters() {
  using Kind = gpu::KernelParam::Kind;
  std::string list;
  for (auto [i, param] : llvm::enumerate(image.params)) {
    std::string name = fresh("p" + std::to_string(i));
    std::string value, type;
    switch (param.kind) {
    case Kind::Pointer:
      type = "void *";
      value = params[param.arg] + ".data";
      break;
    case Kind::Stride:
      value = strides[param.arg] + "[" + std::to_string(param.dim) + "]";
      break;
    case Kind::Extent:
      value = names[param.extent];
      break;
    case Kind::Reports:
      llvm_unreachable("a kernel that reports has no header");
    case Kind::Scalar:
      type = typeInC(param.dtype).str() + " ";
      value = params[param.arg];
      if (param.dtype == DType::Bool)
        value += " != 0";
      break;
    }
    if (type.empty()) {
      type = param.is64 ? "int64_t " : "int32_t ";
      if (!param.is64) {
        fail(llvm::Twine(value) + " != (int32_t)" + value,
             "an extent or a stride is expected to fit 32 bits");
        value.insert(0, "(int32_t)");
      }
    }
    os << "  " << type << name << " = " << value << ";\n";
    list += (list.empty() ? "&" : ", &") + name;
  }
  if (list.empty())
    list = "NULL";
  os << "  void *" << parameters << "[] = {" << list << "};\n";
}

std::optional<std::string> HeaderPrinter::print() {
  nameThings();
  printHead();
  printCubin();
  printShared();
  printSignature();
  size_t declarations = os.str().size();
  printTensors();
  printFacts();
  if (!printRequirements() || !printGrid())
    return std::nullopt;
  os << "  if (" << programs << " == 0)\n    return NULL;\n";
  os << "  " << error << " = " << kernel.name << "_load(&" << driver << ", &"
     << function << ");\n  if (" << error << ")\n    return " << error
     << ";\n  {\n";
  printParameters();
  os << "  return " << kernel.name << "_check(\n      " << driver << ", "
     << driver << "->launch(" << function << ", (unsigned)" << programs
     << ", 1, 1, " << image.threads << ", 1, 1, " << image.sharedBytes << ", "
     << stream << ", " << parameters << ", NULL));\n  }\n}\n\n#endif\n";

  // What is used is known now.
  std::string head;
  for (const auto &entry : names)
    if (!kernel.findParam(entry.getKey()))
      head += "  int64_t " + entry.getValue() + " = 0;\n";
  for (const gpu::TensorFacts &facts : image.tensors)
    head += "  int64_t " + strides[facts.arg] + "[" +
            std::to_string(std::max(1u, facts.rank)) + "];\n";
  head += "  int64_t " + programs + ", " + along + " = 0;\n  int " +
          hasElements + " = 0;\n  const " + kernel.name + "_driver *" + driver +
          ";\n  void *" + function + ";\n  const char *" + error + ";\n\n";
  for (const auto &name : {along, hasElements})
    head += "  (void)" + name + ";\n";
  for (const typed::Dimension *dim : kernel.dims)
    head += "  (void)" + names[dim->name] + ";\n";
  os.flush();
  text.insert(declarations, head);
  return std::move(text);
}

std::optional<std::string> tilec::printKernelHeader(Program &program,
                                                    const typed::Kernel &kernel,
                                                    const GpuCode &code) {
  if (!code.image.sites.empty()) {
    program.diags
        .error(kernel.range, "a kernel that prints or asserts has no header: "
                             "nothing would show what it reports")
        .remedy("take the 'print' and 'assert' out");
    return std::nullopt;
  }
  return HeaderPrinter(program, kernel, code).print();
}

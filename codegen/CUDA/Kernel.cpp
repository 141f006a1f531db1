//===- Kernel.cpp - The kernel around its statements ------------*- C++ -*-===//
//
// Signature, grid and prologue, names and comments. The statements are written
// first; which strides, extents and thread coordinates the kernel has follows
// from the names that occur in them.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/KernelEmitter.h"
#include "codegen/CUDA/Prelude.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using mlir::tilegpu::TileGPUDialect;

namespace tilec::cuda {

//===--- Names -----------------------------------------------------------===//

/// Names that mean something already, besides those of the prelude.
static constexpr StringLiteral reservedNames[] = {
    "alignas",   "alignof",  "and",       "asm",      "auto",      "bool",
    "break",     "case",     "catch",     "char",     "class",     "const",
    "constexpr", "continue", "decltype",  "default",  "delete",    "do",
    "double",    "else",     "enum",      "explicit", "export",    "extern",
    "false",     "float",    "for",       "friend",   "goto",      "if",
    "inline",    "int",      "long",      "mutable",  "namespace", "new",
    "noexcept",  "not",      "nullptr",   "operator", "or",        "private",
    "protected", "public",   "register",  "return",   "short",     "signed",
    "sizeof",    "static",   "struct",    "switch",   "template",  "this",
    "throw",     "true",     "try",       "typedef",  "typeid",    "typename",
    "union",     "unsigned", "using",     "virtual",  "void",      "volatile",
    "while",     "xor",      "r",         "bi",       "mi",        "ni",
    "kk",        "k0",       "lane",      "warp",     "shared",    "threadIdx",
    "blockIdx",  "blockDim", "gridDim",   "warpSize", "min",       "max",
    "abs",       "llabs",    "exp",       "exp2",     "log",       "log2",
    "sqrt",      "rsqrt",    "tanh",      "erf",      "sin",       "cos",
    "pow",       "floor",    "ceil",      "trunc",    "round",     "rint",
    "fabs",      "fma",      "fmod",      "fmax",     "fmin",      "expm1",
    "log1p",     "copysign", "expf",      "logf",     "log2f",     "tanhf",
    "erff",      "powf",     "floorf",    "ceilf",    "truncf",    "roundf",
    "rintf",     "fabsf",    "fmaf",      "fmodf",    "fmaxf",     "fminf",
    "expm1f",    "log1pf",   "copysignf", "main",     "block"};

std::string KernelEmitter::fresh(StringRef wish) {
  std::string base;
  for (char c : wish)
    base += llvm::isAlnum(c) ? c : '_';
  if (base.empty() || llvm::isDigit(base.front()) ||
      StringRef(base).starts_with("__"))
    base = "v" + base;
  std::string name = base;
  for (unsigned i = 1; !names.insert(name).second; ++i)
    name = base + (llvm::isDigit(base.back()) ? "_" : "") + std::to_string(i);
  return name;
}

/// The innermost NameLoc of a location: what the variable is called.
static StringRef nameIn(Location loc) {
  StringRef name;
  loc->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part))
      name = named.getName();
    return name.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return name;
}

std::string KernelEmitter::wishFor(Value value, StringRef otherwise) {
  StringRef name = nameIn(value.getLoc());
  return (name.empty() ? otherwise : name).str();
}

void KernelEmitter::comment(Operation *op) {
  if (!op || (options.source.empty() && !options.lineDirectives))
    return;
  FileLineColLoc place;
  op->getLoc()->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (file && (options.sourceName.empty() ||
                 file.getFilename() == options.sourceName))
      place = file;
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!place || place.getLine() == lastLine)
    return;
  lastLine = place.getLine();
  if (lastLine <= sourceLines.size()) {
    // A backslash at the end would make the next line a comment, too.
    StringRef text = sourceLines[lastLine - 1].trim(" \t\r\\");
    if (!text.empty())
      out.line("// " + text);
  }
  if (options.lineDirectives) {
    std::string file;
    llvm::raw_string_ostream os(file);
    llvm::printEscapedString(place.getFilename(), os);
    out.place("#line " + Twine(lastLine) + " \"" + file + "\"");
  }
}

void KernelEmitter::fail(Operation *op, const Twine &message) {
  if (!hasFailed)
    op->emitError() << message;
  hasFailed = true;
}

//===--- Arguments -------------------------------------------------------===//

KernelEmitter::KernelEmitter(tile::KernelOp kernel, const EmitOptions &options)
    : kernel(kernel), options(options), facts(kernel) {
  for (StringRef name : reservedNames)
    names.insert(name);
  Prelude::get().forEachName([&](StringRef name) { names.insert(name); });
  StringRef(options.source).split(sourceLines, '\n');
}

std::string KernelEmitter::argumentName(unsigned arg) {
  StringRef name = kernel.getArgName(arg);
  return name.empty() ? "arg" + std::to_string(arg) : name.str();
}

void KernelEmitter::declareArguments() {
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    unsigned arg = argument.getArgNumber();
    std::string name = fresh(argumentName(arg));
    argumentNames.push_back(name);
    auto type = dyn_cast<tile::ViewType>(argument.getType());
    if (!type) {
      scalars.insert({argument, Expr::atom(name, ctypeOf(argument.getType()))});
      continue;
    }
    View view;
    view.arg = arg;
    view.pointer = name;
    view.type = ctypeOf(type.getElementType());
    view.dims = llvm::to_vector(llvm::seq<unsigned>(0, type.getRank()));
    view.isReadOnly = kernel.getArgAccess(arg) == tile::Access::In;
    views.insert({argument, view});
  }
}

/// What a launch calls the extent of a dimension.
std::string KernelEmitter::extentKey(unsigned arg, unsigned dim,
                                     StringRef name) {
  if (!name.empty())
    return name.str();
  return argumentName(arg) + "." + std::to_string(dim);
}

Expr KernelEmitter::extent(Value viewValue, unsigned dim) {
  auto type = cast<tile::ViewType>(viewValue.getType());
  if (!type.isDynamicDim(dim))
    return intLiteral(type.getDimSize(dim), CType::I32);
  tilegpu::IntegerFacts::Extent which = facts.extentOf(viewValue, dim);
  std::string key = extentKey(which.arg, which.dim, which.name);
  for (const auto &[known, name] : extentNames)
    if (known == key)
      return Expr::atom(name, indexType());
  std::string name =
      fresh(which.name.empty() ? argumentName(which.arg) + "_extent" +
                                     std::to_string(which.dim)
                               : which.name.str());
  extentNames.push_back({key, name});
  return Expr::atom(name, indexType());
}

Expr KernelEmitter::stride(unsigned arg, unsigned dim) {
  auto unit =
      kernel.getArgAttrOfType<IntegerAttr>(arg, TileGPUDialect::kUnitDimAttr);
  if (unit && unit.getInt() == dim)
    return intLiteral(1, CType::I32);
  std::string &name = strideNames[{arg, dim}];
  if (name.empty())
    name = fresh(argumentName(arg) + "_stride" + std::to_string(dim));
  return Expr::atom(name, indexType());
}

//===--- Grid ------------------------------------------------------------===//

void KernelEmitter::emitGrid(scf::ForallOp grid) {
  comment(grid);
  auto valueOf = [&](OpFoldResult bound) -> Expr {
    if (auto value = dyn_cast<Value>(bound))
      return scalar(value);
    return intLiteral(*getConstantIntValue(bound), CType::I32);
  };
  unsigned rank = grid.getRank();
  SmallVector<Value> variables(grid.getInductionVars());
  SmallVector<std::string> axisNames, counts;
  for (Value variable : variables)
    axisNames.push_back(fresh(wishFor(variable, "i")));

  // Programs along each axis but the first, which needs no count unless the
  // order is grouped.
  auto groupAttr = grid->getAttrOfType<IntegerAttr>("tilegpu.group");
  int64_t group = groupAttr && rank >= 2 ? groupAttr.getInt() : 1;
  for (unsigned axis = 0; axis < rank; ++axis) {
    gpu::GridAxis facts;
    OpFoldResult begin = grid.getMixedLowerBound()[axis],
                 end = grid.getMixedUpperBound()[axis],
                 step = grid.getMixedStep()[axis];
    Expr length = valueOf(end);
    bool fromZero = getConstantIntValue(begin) == 0;
    std::optional<int64_t> tile = getConstantIntValue(step);
    if (!tile || *tile < 1)
      return fail(grid, "expected a grid with constant steps");
    if (!fromZero)
      length = binary(asType(length, indexType()), "-", valueOf(begin),
                      Prec::Additive, indexType());
    facts.tile = *tile;
    tile::DimOp dim;
    if (auto value = dyn_cast<Value>(end))
      dim = value.getDefiningOp<tile::DimOp>();
    if (std::optional<int64_t> known = getConstantIntValue(end);
        known && getConstantIntValue(begin)) {
      facts.constant =
          std::max<int64_t>(0, *known - *getConstantIntValue(begin));
    } else if (dim && fromZero) {
      tilegpu::IntegerFacts::Extent which =
          this->facts.extentOf(dim.getView(), dim.getDim());
      facts.dim = extentKey(which.arg, which.dim, which.name);
    } else {
      facts.dim = "grid." + std::to_string(axis);
    }
    image.grid.push_back(facts);

    Expr count = length;
    if (*tile > 1) {
      if (std::optional<int64_t> known = getConstantIntValue(end);
          known && fromZero)
        count = intLiteral((*known + *tile - 1) / *tile, CType::I32);
      else
        count =
            binary({"(" +
                        binary(length, "+", intLiteral(*tile - 1, CType::I32),
                               Prec::Additive, length.type)
                            .text +
                        ")",
                    Prec::Primary, length.type},
                   "/", intLiteral(*tile, CType::I32), Prec::Multiplicative,
                   length.type);
    }
    count = cast(count, CType::I32);
    if (count.isAtom) {
      counts.push_back(count.text);
      continue;
    }
    std::string name = fresh(axisNames[axis] + "_tiles");
    out.declare(name, "const int " + name + " = " + count.text + ";");
    counts.push_back(name);
  }

  // The number of a program, from the last axis to the first.
  SmallVector<std::string> places(rank);
  std::string rest = "blockIdx.x";
  auto declare = [&](StringRef wish, const Twine &text,
                     StringRef type = "int") {
    std::string name = fresh(wish);
    out.declare(name, "const " + type + " " + name + " = " + text + ";");
    return name;
  };
  unsigned axis = rank;
  if (group > 1) {
    // Groups of rows, column by column within each: what neighbors read stays
    // in the cache.
    const std::string &rows = counts[rank - 2], &columns = counts[rank - 1];
    std::string program = declare("program", "(int)blockIdx.x");
    if (rank > 2)
      rest = declare("outer", program + " / (" + rows + " * " + columns + ")");
    std::string inner =
        rank > 2
            ? declare("inner", program + " % (" + rows + " * " + columns + ")")
            : program;
    std::string first = declare("first", inner + " / (" + Twine(group) + " * " +
                                             columns + ") * " + Twine(group));
    std::string height = declare("height", "min(" + rows + " - " + first +
                                               ", " + Twine(group) + ")");
    std::string within = declare("within", inner + " % (" + Twine(group) +
                                               " * " + columns + ")");
    places[rank - 2] = "(" + first + " + " + within + " % " + height + ")";
    places[rank - 1] = within + " / " + height;
    axis = rank - 2;
  } else if (rank > 1) {
    // Division is cheaper without signs.
    rest = declare("program", "blockIdx.x", "unsigned");
  } else {
    rest = "(int)blockIdx.x";
  }
  while (axis-- > 0) {
    if (axis == 0) {
      places[0] = rest;
      break;
    }
    places[axis] = (Twine(rest) + " % " + counts[axis]).str();
    rest = declare("rest", Twine(rest) + " / " + counts[axis],
                   group > 1 ? "int" : "unsigned");
  }

  for (unsigned i = 0; i < rank; ++i) {
    int64_t tile = *getConstantIntValue(grid.getMixedStep()[i]);
    CType type = indexType();
    std::string place = places[i];
    if (type == CType::I64 && tile > 1)
      place = place == "(int)blockIdx.x"
                  ? std::string("(long long)blockIdx.x")
                  : ("(long long)(" + Twine(place) + ")").str();
    std::string text = tile > 1 ? place + " * " + std::to_string(tile) : place;
    OpFoldResult begin = grid.getMixedLowerBound()[i];
    if (getConstantIntValue(begin) != 0)
      text =
          (parenthesized(valueOf(begin), Prec::Additive) + Twine(" + ") + text)
              .str();
    out.declare(axisNames[i], "const " + spelling(type) + " " + axisNames[i] +
                                  " = " + text + ";");
    scalars.insert({variables[i], Expr::atom(axisNames[i], type)});
  }
  out.blank();
  emitBlock(*grid.getBody());
}

//===--- Assembly --------------------------------------------------------===//

std::string KernelEmitter::signature(const llvm::StringSet<> &used) {
  std::vector<std::string> parameters;
  auto add = [&](const Twine &text, gpu::KernelParam param) {
    parameters.push_back(text.str());
    image.params.push_back(std::move(param));
  };
  bool is64 = !facts.hasIndex32();
  std::string index = spelling(indexType()).str() + " ";
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    if (!isa<tile::ViewType>(argument.getType()))
      continue;
    const View &view = views[argument];
    gpu::KernelParam param;
    param.kind = gpu::KernelParam::Kind::Pointer;
    param.arg = view.arg;
    add(Twine(view.isReadOnly ? "const " : "") + spelling(view.type) + " *" +
            view.pointer,
        param);
  }
  for (const auto &[which, name] : strideNames) {
    if (!used.contains(name))
      continue;
    gpu::KernelParam param;
    param.kind = gpu::KernelParam::Kind::Stride;
    param.arg = which.first;
    param.dim = which.second;
    param.is64 = is64;
    add(index + name, param);
  }
  for (const auto &[key, name] : extentNames) {
    if (!used.contains(name))
      continue;
    gpu::KernelParam param;
    param.kind = gpu::KernelParam::Kind::Extent;
    param.extent = key;
    param.is64 = is64;
    add(index + name, param);
  }
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    if (isa<tile::ViewType>(argument.getType()))
      continue;
    const std::string &name = argumentNames[argument.getArgNumber()];
    if (!used.contains(name))
      continue;
    CType type = ctypeOf(argument.getType());
    gpu::KernelParam param;
    param.kind = gpu::KernelParam::Kind::Scalar;
    param.arg = argument.getArgNumber();
    param.dtype = dtypeOf(type);
    add(spelling(type) + " " + name, param);
  }
  if (used.contains(reportsName))
    add("long long *" + Twine(reportsName), gpu::KernelParam::reports());
  std::string text = image.name + "(", line;
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    std::string part = parameter + (i + 1 < parameters.size() ? ", " : "");
    if (!line.empty() && line.size() + part.size() > 72) {
      text += StringRef(line).rtrim().str() + "\n    ";
      line.clear();
    }
    line += part;
  }
  return text + line + ")";
}

std::string KernelEmitter::prologue(const llvm::StringSet<> &body) {
  Writer lines;
  lines.open("");
  llvm::StringSet<> used = body;
  for (const auto &[text, name] : coordinates)
    if (used.contains(name))
      forEachIdentifier(text, [&](StringRef part) { used.insert(part); });
  if (usesShared)
    lines.line("extern __shared__ __align__(128) unsigned char shared[];");
  // Signed: loops over what they number are then unrolled.
  if (used.contains("lane"))
    lines.line("const int lane = (int)threadIdx.x % 32;");
  if (used.contains("warp"))
    lines.line("const int warp = uniform((int)threadIdx.x / 32);");
  if (body.contains("shared_base"))
    lines.line("const unsigned shared_base = shared_address(shared);");
  for (const auto &[text, name] : coordinates)
    if (used.contains(name))
      lines.line("const int " + Twine(name) + " = " + text + ";");
  std::string text = lines.str();
  return text.substr(text.find('\n') + 1);
}

/// Of extents that are not constants, which say more.
static std::vector<gpu::DivisorFact>
divisorsOf(tile::KernelOp kernel, ArrayRef<gpu::ExtentFact> constants) {
  std::vector<gpu::DivisorFact> facts;
  auto divisible =
      kernel->getAttrOfType<DictionaryAttr>(TileGPUDialect::kDivisibleAttr);
  for (NamedAttribute entry :
       divisible ? divisible.getValue() : ArrayRef<NamedAttribute>()) {
    StringRef dim = entry.getName();
    if (llvm::none_of(constants, [&](const gpu::ExtentFact &constant) {
          return constant.dim == dim;
        }))
      facts.push_back(
          {dim.str(), cast<IntegerAttr>(entry.getValue()).getInt()});
  }
  return facts;
}

void KernelEmitter::fillImage() {
  image.name = fresh(kernel.getSymName());
  reportsName = fresh("reports");
  auto integer = [&](StringRef name, int64_t otherwise) {
    auto attr = kernel->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : otherwise;
  };
  image.threads =
      static_cast<unsigned>(32 * integer(TileGPUDialect::kWarpsAttr, 4));
  image.sharedBytes =
      static_cast<unsigned>(integer(TileGPUDialect::kSharedBytesAttr, 0));
  // A tile may reach over the end of its axis by its extent.
  int64_t slack = 0;
  kernel->walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        for (int64_t extent : tensor.getShape())
          slack = std::max(slack, extent);
    if (auto copy = dyn_cast<tilegpu::AsyncCopyOp>(op))
      for (int64_t extent : copy.getShape())
        slack = std::max(slack, extent);
  });
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto type = dyn_cast<tile::ViewType>(argument.getType());
    if (!type)
      continue;
    unsigned arg = argument.getArgNumber();
    gpu::TensorFacts tensor;
    tensor.arg = arg;
    tensor.name = argumentName(arg);
    tensor.dtype = dtypeOf(ctypeOf(type.getElementType()));
    tensor.rank = static_cast<unsigned>(type.getRank());
    if (auto unit = kernel.getArgAttrOfType<IntegerAttr>(
            arg, TileGPUDialect::kUnitDimAttr))
      tensor.unitStride = static_cast<int>(unit.getInt());
    if (auto align = kernel.getArgAttrOfType<IntegerAttr>(
            arg, TileGPUDialect::kAlignAttr))
      tensor.alignment = static_cast<unsigned>(align.getInt());
    tensor.index32 = facts.hasIndex32();
    tensor.slack = slack;
    image.tensors.push_back(tensor);
    auto dims =
        kernel.getArgAttrOfType<ArrayAttr>(arg, tile::KernelOp::kDimsAttr);
    for (unsigned dim = 0; dims && dim < tensor.rank; ++dim) {
      StringRef name = cast<StringAttr>(dims[dim]).getValue();
      gpu::ExtentFact fact{name.str(), type.getDimSize(dim)};
      if (!name.empty() && !type.isDynamicDim(dim) &&
          !llvm::is_contained(image.extents, fact))
        image.extents.push_back(fact);
    }
  }
  image.divisors = divisorsOf(kernel, image.extents);
}

/// Whether a block reads what it reads once, in whole vectors, and writes next
/// to nothing: the first-level cache is of no use then. (Where as much is
/// written, going through it is the faster way.)
static bool readsOnly(tile::KernelOp kernel) {
  constexpr int64_t factor = 8;
  int64_t read = 0, written = 0;
  bool repeats = false;
  auto bytesOf = [](RankedTensorType type) {
    return type.getNumElements() *
           tilegpu::getElementBytes(type.getElementType());
  };
  kernel->walk([&](Operation *op) {
    repeats |= isa<scf::ForOp>(op);
    if (auto load = dyn_cast<tile::LoadOp>(op))
      read = std::max(read, bytesOf(load.getType()));
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      written = std::max(written, bytesOf(store.getValue().getType()));
  });
  return !repeats && written * factor <= read;
}

/// The items of the prelude that a kernel uses.
static std::string preludeFor(tile::KernelOp kernel,
                              const llvm::StringSet<> &used) {
  llvm::StringMap<StringRef> macros;
  // Past the first-level cache, unless the words of a vector hit it.
  if (readsOnly(kernel) && !used.contains("load_around"))
    macros["LOAD_GLOBAL"] = "\"ld.global.nc.L1::no_allocate\"";
  return Prelude::get().select(used, macros);
}

llvm::Expected<EmittedKernel> KernelEmitter::emit() {
  fillImage();
  declareArguments();
  findUnordered();
  out.open("");
  emitBlock(kernel.getBody().front());
  out.close();
  if (hasFailed)
    return llvm::createStringError("kernel '" + kernel.getSymName() +
                                   "' cannot be emitted as CUDA C++");
  out.prune();
  llvm::StringSet<> used = out.identifiers();
  std::string head = prologue(used);
  // What coordinates and the prologue call counts as well.
  forEachIdentifier(head, [&](StringRef name) { used.insert(name); });
  std::string body = out.str();
  body = body.substr(body.find('\n') + 1);

  EmittedKernel result;
  std::string parameters = signature(used);
  for (const View &view : llvm::make_second_range(views))
    used.insert(spelling(view.type));
  forEachIdentifier(parameters, [&](StringRef name) { used.insert(name); });
  std::string bounds = std::to_string(image.threads);
  if (options.minBlocks)
    bounds += ", " + std::to_string(options.minBlocks);
  result.source = "// " + image.name + ": " + std::to_string(image.threads) +
                  " threads, " + std::to_string(image.sharedBytes) +
                  " bytes of shared memory. Written by tilec.\n\n" +
                  preludeFor(kernel, used) +
                  "extern \"C\" __global__ void __launch_bounds__(" + bounds +
                  ")\n" + parameters + " {\n" + head + body;
  result.image = std::move(image);
  result.tiles = std::move(heldTiles);
  return result;
}

llvm::Expected<EmittedKernel> emitCUDA(tile::KernelOp kernel,
                                       const EmitOptions &options) {
  return KernelEmitter(kernel, options).emit();
}

} // namespace tilec::cuda

//===- KernelImage.cpp - What a compiled GPU kernel is ----------*- C++ -*-===//
//
// Reading trusts nothing: a cache entry may be of another version or damaged in
// a way that its checksum was made after.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/GPU/KernelImage.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace tilec;
using namespace tilec::gpu;
namespace json = llvm::json;
using Kind = KernelParam::Kind;

/// Of the JSON: changes when what is written changes its meaning.
static constexpr int64_t formatVersion = 2;
/// What a kernel's parameters may take together on every target.
static constexpr unsigned maxParamBytes = 4096;

KernelParam KernelParam::pointer(unsigned arg) {
  KernelParam param;
  param.kind = Kind::Pointer;
  param.arg = arg;
  return param;
}

KernelParam KernelParam::stride(unsigned arg, unsigned dim, bool is64) {
  KernelParam param;
  param.kind = Kind::Stride;
  param.arg = arg;
  param.dim = dim;
  param.is64 = is64;
  return param;
}

KernelParam KernelParam::extentOf(std::string name, bool is64) {
  KernelParam param;
  param.kind = Kind::Extent;
  param.extent = std::move(name);
  param.is64 = is64;
  return param;
}

KernelParam KernelParam::scalar(unsigned arg, DType dtype) {
  KernelParam param;
  param.kind = Kind::Scalar;
  param.arg = arg;
  param.dtype = dtype;
  return param;
}

KernelParam KernelParam::reports() {
  KernelParam param;
  param.kind = Kind::Reports;
  return param;
}

unsigned KernelParam::size() const {
  switch (kind) {
  case Kind::Pointer:
  case Kind::Reports:
    return 8;
  case Kind::Stride:
  case Kind::Extent:
    return is64 ? 8 : 4;
  case Kind::Scalar:
    return byteSize(dtype);
  }
  return 8;
}

const TensorFacts *KernelImage::tensor(unsigned arg) const {
  for (const TensorFacts &facts : tensors)
    if (facts.arg == arg)
      return &facts;
  return nullptr;
}

unsigned gpu::packedSize(llvm::ArrayRef<KernelParam> params,
                         std::vector<unsigned> *offsets) {
  unsigned size = 0;
  for (const KernelParam &param : params) {
    size = llvm::alignTo(size, param.size());
    if (offsets)
      offsets->push_back(size);
    size += param.size();
  }
  return size;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static llvm::Error invalid(const llvm::Twine &what) {
  return llvm::createStringError("invalid kernel image: " + what);
}

static llvm::Error verifyTensor(const TensorFacts &facts) {
  std::string what = "tensor " + std::to_string(facts.arg);
  if (facts.unitStride < -1 || facts.unitStride >= int64_t(facts.rank))
    return invalid(what +
                   " is expected to have a unit stride dimension from "
                   "-1 to " +
                   llvm::Twine(int64_t(facts.rank) - 1) + ", got " +
                   llvm::Twine(facts.unitStride));
  if (facts.alignment > 16 || !llvm::isPowerOf2_32(facts.alignment))
    return invalid(what +
                   " is expected to have an alignment of 1, 2, 4, 8 or "
                   "16, got " +
                   llvm::Twine(facts.alignment));
  if (facts.slack < 0)
    return invalid(what + " has a negative slack");
  return llvm::Error::success();
}

static llvm::Error verifyParam(const KernelParam &param,
                               const KernelImage &image) {
  const TensorFacts *facts = image.tensor(param.arg);
  switch (param.kind) {
  case Kind::Pointer:
  case Kind::Stride:
    if (!facts)
      return invalid("a parameter refers to tensor " + llvm::Twine(param.arg) +
                     ", which has no facts");
    if (param.kind == Kind::Stride && param.dim >= facts->rank)
      return invalid("a parameter is stride " + llvm::Twine(param.dim) +
                     " of tensor " + llvm::Twine(param.arg) +
                     ", which has rank " + llvm::Twine(facts->rank));
    return llvm::Error::success();
  case Kind::Extent:
    if (param.extent.empty())
      return invalid("an extent parameter names no dimension");
    return llvm::Error::success();
  case Kind::Scalar:
    if (facts)
      return invalid("argument " + llvm::Twine(param.arg) +
                     " is both a tensor and a scalar");
    return llvm::Error::success();
  case Kind::Reports:
    if (image.sites.empty())
      return invalid("a parameter is for reports, and there are no sites");
    return llvm::Error::success();
  }
  return llvm::Error::success();
}

static llvm::Error verifySite(const Site &site) {
  for (const PrintedValue &value : site.values)
    for (int64_t extent : value.shape)
      if (extent < 0)
        return invalid("a printed value has the extent " + llvm::Twine(extent));
  return llvm::Error::success();
}

llvm::Error gpu::verify(const KernelImage &image) {
  if (image.name.empty())
    return invalid("no name");
  if (!llvm::StringRef(image.arch).starts_with("sm_"))
    return invalid("expected an architecture such as sm_90a, got '" +
                   image.arch + "'");
  if (image.threads < 1 || image.threads > 1024)
    return invalid("expected 1 to 1024 threads, got " +
                   llvm::Twine(image.threads));
  for (auto [i, facts] : llvm::enumerate(image.tensors)) {
    if (llvm::Error error = verifyTensor(facts))
      return error;
    if (image.tensor(facts.arg) != &facts)
      return invalid("tensor " + llvm::Twine(facts.arg) + " has facts twice");
  }
  for (const KernelParam &param : image.params)
    if (llvm::Error error = verifyParam(param, image))
      return error;
  if (unsigned size = packedSize(image.params); size > maxParamBytes)
    return invalid("parameters are expected to take at most " +
                   llvm::Twine(maxParamBytes) + " bytes, got " +
                   llvm::Twine(size));
  for (const GridAxis &axis : image.grid) {
    if (axis.tile < 1)
      return invalid("a grid axis is expected to have a tile of at least 1, "
                     "got " +
                     llvm::Twine(axis.tile));
    if (axis.dim.empty() && axis.constant < 0)
      return invalid("a grid axis has the extent " +
                     llvm::Twine(axis.constant));
  }
  for (const Site &site : image.sites)
    if (llvm::Error error = verifySite(site))
      return error;
  for (const ExtentFact &fact : image.extents)
    if (fact.dim.empty() || fact.value < 0)
      return invalid("dimension '" + fact.dim + "' has the extent " +
                     llvm::Twine(fact.value));
  for (const DivisorFact &fact : image.divisors)
    if (fact.dim.empty() || fact.divisor < 1)
      return invalid("dimension '" + fact.dim + "' is to be a multiple of " +
                     llvm::Twine(fact.divisor));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kindNames[] = {
    "pointer", "stride", "extent", "scalar", "reports"};

static json::Value toJSON(const KernelParam &param) {
  json::Object object{{"kind", kindNames[static_cast<unsigned>(param.kind)]}};
  if (param.kind == Kind::Reports)
    return object;
  if (param.kind == Kind::Extent)
    object["dim"] = param.extent;
  else
    object["arg"] = param.arg;
  if (param.kind == Kind::Stride)
    object["dim"] = param.dim;
  if (param.kind == Kind::Scalar)
    object["dtype"] = dtypeName(param.dtype);
  if (param.kind == Kind::Stride || param.kind == Kind::Extent)
    object["bits"] = param.is64 ? 64 : 32;
  return object;
}

static json::Value toJSON(const GridAxis &axis) {
  json::Object object{{"tile", axis.tile}};
  if (axis.dim.empty())
    object["extent"] = axis.constant;
  else
    object["dim"] = axis.dim;
  return object;
}

static json::Value toJSON(const TensorFacts &facts) {
  return json::Object{
      {"arg", facts.arg},
      {"name", facts.name},
      {"dtype", dtypeName(facts.dtype)},
      {"rank", facts.rank},
      {"unitStride", facts.unitStride},
      {"alignment", facts.alignment},
      {"index32", facts.index32},
      {"slack", facts.slack},
  };
}

static json::Value toJSON(const ExtentFact &fact) {
  return json::Object{{"dim", fact.dim}, {"value", fact.value}};
}

static json::Value toJSON(const DivisorFact &fact) {
  return json::Object{{"dim", fact.dim}, {"divisor", fact.divisor}};
}

static constexpr llvm::StringLiteral siteNames[] = {"range", "assert", "print"};

static json::Value toJSON(const PrintedValue &value) {
  return json::Object{{"type", value.type},
                      {"shape", json::Array(value.shape)}};
}

template <typename T> static json::Array listOf(const std::vector<T> &items);

static json::Value toJSON(const Site &site) {
  return json::Object{
      {"kind", siteNames[static_cast<unsigned>(site.kind)]},
      {"file", site.file},
      {"line", site.line},
      {"column", site.column},
      {"text", site.text},
      {"values", listOf(site.values)},
  };
}

template <typename T> static json::Array listOf(const std::vector<T> &items) {
  json::Array array;
  for (const T &item : items)
    array.push_back(::toJSON(item));
  return array;
}

json::Value gpu::toJSON(const KernelImage &image) {
  return json::Object{
      {"format", formatVersion},
      {"name", image.name},
      {"arch", image.arch},
      {"threads", image.threads},
      {"sharedBytes", image.sharedBytes},
      {"registers", image.registers},
      {"params", listOf(image.params)},
      {"grid", listOf(image.grid)},
      {"tensors", listOf(image.tensors)},
      {"extents", listOf(image.extents)},
      {"divisors", listOf(image.divisors)},
      {"sites", listOf(image.sites)},
  };
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

// Found by llvm::json::fromJSON's lookup, which needs them beside the types.
namespace tilec {
static bool fromJSON(const json::Value &value, DType &dtype, json::Path path) {
  std::optional<llvm::StringRef> name = value.getAsString();
  std::optional<DType> found = name ? parseDType(*name) : std::nullopt;
  if (!found) {
    path.report("expected an element type");
    return false;
  }
  dtype = *found;
  return true;
}

static bool fromJSON(const json::Value &value, PrintedValue &printed,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  std::vector<int64_t> shape;
  if (!map || !map.map("type", printed.type) || !map.map("shape", shape))
    return false;
  printed.shape.assign(shape.begin(), shape.end());
  return true;
}

static bool fromJSON(const json::Value &value, Site &site, json::Path path) {
  json::ObjectMapper map(value, path);
  std::string kind;
  if (!map || !map.map("kind", kind))
    return false;
  const auto *found = llvm::find(siteNames, kind);
  if (found == std::end(siteNames)) {
    path.field("kind").report("expected a kind of site");
    return false;
  }
  site.kind = static_cast<SiteKind>(found - std::begin(siteNames));
  return map.map("file", site.file) && map.map("line", site.line) &&
         map.map("column", site.column) && map.map("text", site.text) &&
         map.map("values", site.values);
}

namespace gpu {
static bool fromJSON(const json::Value &value, KernelParam &param,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  std::string kind;
  if (!map || !map.map("kind", kind))
    return false;
  const auto *found = llvm::find(kindNames, kind);
  if (found == std::end(kindNames)) {
    path.field("kind").report("expected a kind of parameter");
    return false;
  }
  param.kind = static_cast<Kind>(found - std::begin(kindNames));
  if (param.kind == Kind::Reports)
    return true;
  if (param.kind == Kind::Extent ? !map.map("dim", param.extent)
                                 : !map.map("arg", param.arg))
    return false;
  if (param.kind == Kind::Stride && !map.map("dim", param.dim))
    return false;
  if (param.kind == Kind::Scalar)
    return map.map("dtype", param.dtype);
  if (param.kind == Kind::Pointer)
    return true;
  unsigned bits = 0;
  if (!map.map("bits", bits))
    return false;
  if (bits != 32 && bits != 64) {
    path.field("bits").report("expected 32 or 64");
    return false;
  }
  param.is64 = bits == 64;
  return true;
}

static bool fromJSON(const json::Value &value, GridAxis &axis,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("tile", axis.tile) &&
         (value.getAsObject()->get("extent") ? map.map("extent", axis.constant)
                                             : map.map("dim", axis.dim));
}

static bool fromJSON(const json::Value &value, TensorFacts &facts,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("arg", facts.arg) && map.map("name", facts.name) &&
         map.map("dtype", facts.dtype) && map.map("rank", facts.rank) &&
         map.map("unitStride", facts.unitStride) &&
         map.map("alignment", facts.alignment) &&
         map.map("index32", facts.index32) && map.map("slack", facts.slack);
}

static bool fromJSON(const json::Value &value, ExtentFact &fact,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("dim", fact.dim) && map.map("value", fact.value);
}

static bool fromJSON(const json::Value &value, DivisorFact &fact,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("dim", fact.dim) && map.map("divisor", fact.divisor);
}

static bool fromJSON(const json::Value &value, KernelImage &image,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  int64_t format = 0;
  if (!map || !map.map("format", format))
    return false;
  if (format != formatVersion) {
    path.field("format").report("of another version of tilec");
    return false;
  }
  return map.map("name", image.name) && map.map("arch", image.arch) &&
         map.map("threads", image.threads) &&
         map.map("sharedBytes", image.sharedBytes) &&
         map.map("registers", image.registers) &&
         map.map("params", image.params) && map.map("grid", image.grid) &&
         map.map("tensors", image.tensors) &&
         map.map("extents", image.extents) &&
         map.map("divisors", image.divisors) && map.map("sites", image.sites);
}
} // namespace gpu
} // namespace tilec

llvm::Expected<KernelImage> gpu::kernelImageFromJSON(llvm::StringRef text) {
  llvm::Expected<KernelImage> image =
      json::parse<KernelImage>(text, "kernel image");
  if (!image)
    return image.takeError();
  if (llvm::Error error = verify(*image))
    return std::move(error);
  return image;
}

//===- Reports.cpp - What is reported to the host ---------------*- C++ -*-===//
//
// Tests of scalar indices, failed asserts and printed values. Every place that
// can report has a number, and the image says what the number means. What is
// computed by all threads alike is reported by one. An assert counts once for a
// program however many positions fail.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/KernelEmitter.h"
#include "dialects/Tile/IR/SourcePlace.h"
#include "lib/Runtime/GPU/ReportLog.h"

using namespace mlir;

namespace tilec::cuda {

using layout::InDim;
using layout::LinearLayout;
using tilegpu::getLinearLayout;

Expr isFirstThread() {
  return binary(Expr::atom("threadIdx.x", CType::I32),
                "==", intLiteral(0, CType::I32), Prec::Equality, CType::Bool);
}

std::string guard(const std::optional<Expr> &condition) {
  return condition ? "if (" + condition->text + ") " : "";
}

//===--- Places ----------------------------------------------------------===//

unsigned KernelEmitter::siteOf(Operation *op, SiteKind kind, StringRef text,
                               ValueRange values) {
  auto [known, isNew] = sites.try_emplace(op, image.sites.size());
  if (!isNew)
    return known->second;
  Site site;
  site.kind = kind;
  site.text = text.str();
  if (FileLineColLoc place = tile::findFile(op->getLoc())) {
    site.file = place.getFilename().str();
    site.line = place.getLine();
    site.column = place.getColumn();
  }
  for (Value value : values) {
    PrintedValue printed;
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      printed.shape.assign(type.getShape().begin(), type.getShape().end());
    llvm::raw_string_ostream(printed.type) << getElementTypeOrSelf(value);
    site.values.push_back(std::move(printed));
  }
  image.sites.push_back(std::move(site));
  return known->second;
}

std::string KernelEmitter::callReport(StringRef function, unsigned site,
                                      const Twine &arguments) {
  return (function + "(" + reportsName + ", " + Twine(site) + arguments + ")")
      .str();
}

//===--- Indices ---------------------------------------------------------===//

void KernelEmitter::reportIndices(Operation *op, const ElementAccess &access,
                                  const std::optional<Expr> &condition) {
  if (!options.checked)
    return;
  for (const ElementAccess::Test &test : access.tests) {
    unsigned site = siteOf(op, SiteKind::OutOfRange, "");
    std::optional<Expr> fails = both(both(condition, access.wanted),
                                     unary("!", test.inRange, CType::Bool));
    out.line(guard(fails) +
             callReport("report_index", site,
                        ", " + test.index.text + ", " + test.extent.text) +
             ";");
  }
}

void KernelEmitter::emitInBounds(tile::InBoundsOp op) {
  Expr index = scalar(op.getIndex()), extent = scalar(op.getExtent());
  ElementAccess access;
  if (op.getActive())
    access.wanted = both(std::nullopt, scalar(op.getActive()));
  std::optional<Expr> inside = isInRange(op.getIndex(), index, extent,
                                         facts.rangeOf(op.getExtent()).low);
  if (inside && !op->hasAttr("quiet"))
    access.tests.push_back({*inside, index, extent});
  comment(op);
  reportIndices(op, access, isFirstThread());
  inside = both(inside, access.wanted);
  if (!inside)
    inside = Expr::atom("true", CType::Bool);
  if (!inside->isAtom && !op.getResult().use_empty()) {
    std::string name = fresh(wishFor(op.getResult(), "in_range"));
    out.declare(name, "const bool " + name + " = " + inside->text + ";");
    inside = Expr::atom(name, CType::Bool);
  }
  scalars.insert({op.getResult(), *inside});
}

//===--- Asserts ---------------------------------------------------------===//

void KernelEmitter::emitAssert(tile::AssertOp op) {
  unsigned site = siteOf(op, SiteKind::Assert, op.getMessage());
  std::string report = callReport("report_failure", site) + ";";
  Value condition = op.getCondition();
  if (!isFragment(condition)) {
    comment(op);
    Expr fails = unary("!", scalar(condition), CType::Bool);
    out.line(guard(both(isFirstThread(), fails)) + report);
    return;
  }
  prepareFragment(condition);
  comment(op);
  std::string name = fresh("failed");
  out.line("bool " + name + " = false;");
  loopOver(cast<RankedTensorType>(condition.getType()), condition, op,
           [&](const RegisterLoop &, ArrayRef<Expr> elements) {
             Expr fails = unary("!", elements.front(), CType::Bool);
             out.line(name + " |= " + fails.text + ";");
           });
  out.line("if (__syncthreads_or(" + name + ") && " + isFirstThread().text +
           ") " + report);
}

//===--- Prints ----------------------------------------------------------===//

/// Writes the elements that a thread has behind the head that the first thread
/// made; `line` is where that left the address.
void KernelEmitter::printTile(unsigned site, unsigned number, Value value,
                              ValueRange valid, StringRef line) {
  auto type = cast<RankedTensorType>(value.getType());
  CType element = ctypeOf(type.getElementType());
  LinearLayout layout = getLinearLayout(type);
  // An array, as it is read within braces.
  Fragment fragment = fragmentAs(value, element);
  int64_t words = gpu::ReportLog::wordsOf(image.sites[site].values[number]);
  out.line("if (" + isFirstThread().text + ") " + line + " = " +
           callReport("begin_print", site,
                      ", " + Twine(number) + ", " + Twine(words)) +
           ";");
  out.line("__syncthreads();");
  out.open("if (" + line + ")");
  out.open("if (" + isFirstThread().text + ")", /*optional=*/true);
  for (auto [axis, extent] : llvm::enumerate(type.getShape()))
    out.line(
        line + "[" + Twine(axis) + "] = " +
        (valid.empty() ? intLiteral(extent, CType::I32) : scalar(valid[axis]))
            .text +
        ";");
  out.close();
  std::string elements = fresh("elements");
  out.line(spelling(element) + " *" + elements + " = (" + spelling(element) +
           " *)(" + line + " + " + Twine(type.getRank()) + ");");
  std::optional<Expr> owns = ownsElements(layout);
  forRegisters(layout.size(InDim::Register), 1, [&](const RegisterLoop &loop) {
    out.line(guard(both(owns, ownsRegister(layout, loop))) + elements + "[" +
             flatCoordinateOf(layout, loop.reg, "r").text + "] = " +
             cast(this->element(fragment, loop.reg), element).text + ";");
  });
  out.close();
}

void KernelEmitter::emitPrint(tile::PrintOp op) {
  unsigned site = siteOf(op, SiteKind::Print, op.getLabel(), op.getValues());
  auto printScalar = [&](int64_t number, StringRef store) {
    std::string line = fresh("line");
    int64_t words =
        number < 0 ? gpu::ReportLog::headWords
                   : gpu::ReportLog::wordsOf(image.sites[site].values[number]);
    out.open("if (" + isFirstThread().text + ")", /*optional=*/true);
    std::string call = callReport("begin_print", site,
                                  ", " + Twine(number) + ", " + Twine(words));
    if (store.empty())
      out.line(call + ";");
    else
      out.line("if (long long *" + line + " = " + call + ") " +
               StringRef(store).str().replace(store.find('$'), 1, line));
    out.close();
  };
  comment(op);
  if (op.getValues().empty())
    return printScalar(-1, "");
  // Where each tile's line is, is exchanged through shared memory.
  std::string lines;
  unsigned numTiles = 0;
  OperandRange valid = op.getValid();
  for (auto [number, value] : llvm::enumerate(op.getValues())) {
    if (isFragment(value)) {
      if (lines.empty()) {
        lines = fresh("lines");
        out.line("long long **" + lines + " = (long long **)(" + scratch(op) +
                 ");");
      }
      size_t rank = cast<RankedTensorType>(value.getType()).getRank();
      printTile(site, number, value, valid.take_front(valid.empty() ? 0 : rank),
                lines + "[" + std::to_string(numTiles++) + "]");
      valid = valid.drop_front(valid.empty() ? 0 : rank);
      continue;
    }
    CType type = ctypeOf(getElementTypeOrSelf(value.getType()));
    printScalar(static_cast<int64_t>(number),
                "*(" + spelling(type).str() +
                    " *)$ = " + cast(scalar(value), type).text + ";");
  }
}

} // namespace tilec::cuda

//===- SemaAccess.cpp - Subscripts, loads and stores ------------*- C++ -*-===//
//
// What `A[m, idx[k], :]` means: one Index for each dimension of the tensor,
// whether it is in bounds by construction, and the axes of the result. Also
// the rules for writing: who may, what, and that no two programs of a grid
// write the same element.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/SemaImpl.h"
#include "lib/Frontend/TypedVisitor.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::dyn_cast;
using llvm::StringRef;
using llvm::Twine;

/// "A[M, 64]"
static std::string describeParam(const Param &param) {
  std::string text = param.name.str() + "[";
  for (unsigned i = 0; i < param.shape.size(); ++i)
    text += (i > 0 ? ", " : "") + param.shape[i].name.str();
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Whether every position of `var` is one of the dimension.
static bool coversOnly(const LoopVar &var, const Param::Extent &extent) {
  if (extent.dim)
    return var.dim == extent.dim;
  const auto *bound = var.extent ? dyn_cast<IntConst>(var.extent) : nullptr;
  return bound && bound->value <= extent.constant;
}

/// Whether a requirement relates two dimensions.
static bool areRelated(const Kernel &kernel, const Dimension &a,
                       const Dimension &b) {
  return llvm::any_of(kernel.requirements, [&](Expr *requirement) {
    bool hasA = false, hasB = false;
    walk(*requirement, [&](Expr &node) {
      if (const auto *extent = dyn_cast<DimExtent>(&node)) {
        hasA |= extent->dim == &a;
        hasB |= extent->dim == &b;
      }
    });
    return hasA && hasB;
  });
}

void Analyzer::warnIfForeign(const LoopVar &var, const Param &param,
                             unsigned dim, AccessKind kind, SourceRange range) {
  const Dimension *own = var.dim, *other = param.shape[dim].dim;
  if (!own || !other || own == other || areRelated(*kernel, *own, *other))
    return;
  Diagnostic &diagnostic =
      warning(range, "'" + var.name + "' is a tile of '" + own->name +
                         "', and this dimension of '" + param.name + "' is '" +
                         other->name + "'");
  diagnostic.note(param.range, "declared as " + describeParam(param));
  diagnostic.note(var.range,
                  "positions beyond the end of '" + other->name + "' are " +
                      (kind == AccessKind::Read ? "read as 0" : "not written"));
  bool isSwapped = llvm::any_of(param.shape, [&](const Param::Extent &extent) {
    return extent.dim == own;
  });
  diagnostic.remedy(
      isSwapped ? "put the subscripts in the order of " + describeParam(param)
                : "if the two go together, say how, such as "
                  "'requires " +
                      own->name.str() + " == " + other->name.str() +
                      "'; if not, write '" + var.name.str() + " + 0'");
}

bool Analyzer::analyzeIndex(const ast::Subscript &subscript, Param *param,
                            unsigned dim, AccessKind kind, Index &index) {
  const Param::Extent &extent = param->shape[dim];
  index.range = subscript.range;
  const auto *name =
      subscript.index ? dyn_cast<ast::NameExpr>(subscript.index) : nullptr;
  const Symbol *symbol = name ? lookup(name->getName()) : nullptr;
  bool isOwnName = symbol && name->getName() == extent.name &&
                   (symbol->kind == Symbol::Kind::Dim ||
                    symbol->kind == Symbol::Kind::CtInt);
  if (subscript.isWholeAxis() || isOwnName) {
    index.kind = Index::Kind::Whole;
    index.axis = wholeAxis(*param, dim);
    index.proven = true;
    return true;
  }
  if (symbol && symbol->kind == Symbol::Kind::Loop && symbol->loop->isTile) {
    LoopVar *var = symbol->loop;
    if (!checkCapture({DType::I64, {var->axis}},
                      "the tile variable '" + var->name + "'", name->getRange(),
                      var->range))
      return false;
    index.kind = Index::Kind::Tile;
    index.axis = var->axis;
    index.proven = coversOnly(*var, extent);
    warnIfForeign(*var, *param, dim, kind, name->getRange());
    return true;
  }
  return analyzeComputedIndex(analyze(subscript.index), param, dim, kind,
                              index);
}

bool Analyzer::analyzeComputedIndex(Value value, Param *param, unsigned dim,
                                    AccessKind kind, Index &index) {
  if (!value)
    return false;
  const Param::Extent &extent = param->shape[dim];
  if (!isInteger(value.dtype())) {
    ValueType found = value.type();
    if (value.literal)
      found.dtype = DType::F32;
    Diagnostic &diagnostic =
        error(value.range(),
              "expected an integer for a subscript, found " + describe(found));
    if (found.dtype == DType::Bool)
      diagnostic.remedy("choose elements with where(condition, a, b)");
    else
      diagnostic.remedy("convert it with i64(...)");
    return false;
  }
  if (const auto *constant = dyn_cast<IntConst>(value.expr)) {
    int64_t position = constant->value;
    bool tooLarge = extent.constant >= 0 && position >= extent.constant;
    if (position < 0 || tooLarge) {
      Diagnostic &diagnostic = error(
          value.range(),
          "the subscript " + Twine(position) + " is out of bounds" +
              (tooLarge ? Twine(" of an extent of ") + Twine(extent.constant)
                        : Twine("")));
      diagnostic.note(param->range, "'" + param->name + "' is declared here");
      diagnostic.remedy(tooLarge
                            ? "positions count from 0"
                            : "positions count from 0; from the end, write '" +
                                  extent.name + " - " + Twine(-position) + "'");
      return false;
    }
    index.proven = extent.constant >= 0;
  }
  if (const auto *position = dyn_cast<Position>(value.expr))
    index.proven = coversOnly(*position->var, extent);
  bool isScalar = value.type().isScalar();
  index.kind = isScalar ? Index::Kind::Scalar : Index::Kind::Gather;
  index.expr = convert(value, DType::I64);
  if (isScalar)
    return true;
  if (!checkCapture(value.type(), "a tile", value.range(), value.range()))
    return false;
  if (kind == AccessKind::Write) {
    error(value.range(), "a computed subscript with axes " +
                             describeAxes(value.type().axes) +
                             " cannot be stored to: two of its positions may "
                             "be the same")
        .note(param->range, "'" + param->name + "' is declared here")
        .remedy("declare '" + param->name +
                "' as 'add' and write +=, or store to plain tile variables");
    return false;
  }
  return true;
}

bool Analyzer::addIndexAxes(Place &place, const Index &index) {
  if (index.kind == Index::Kind::Scalar)
    return true;
  if (index.kind == Index::Kind::Gather) {
    for (Axis *axis : index.expr->type.axes)
      if (!llvm::is_contained(place.axes, axis))
        place.axes.push_back(axis);
    return true;
  }
  for (const Index &other : place.indices) {
    if (other.axis != index.axis)
      continue;
    StringRef name = index.axis->name;
    Diagnostic &diagnostic =
        error(index.range, "the axis '" + name + "' occurs twice in '" +
                               place.param->name + "'");
    diagnostic.note(place.param->range,
                    "declared as " + describeParam(*place.param));
    if (index.axis->isTile())
      diagnostic.remedy("use a second loop variable; for a diagonal write one "
                        "subscript as a computed one, '" +
                        name + " + 0'");
    else if (index.axis->dim)
      diagnostic.remedy("give the dimensions different names, and "
                        "'requires " +
                        name + " == " + name + "2' to keep them equal");
    else
      diagnostic.remedy(
          "give one of the dimensions a name, such as '" + name +
          "' as N with 'requires N == " + Twine(index.axis->constant) + "'");
    return false;
  }
  if (!llvm::is_contained(place.axes, index.axis))
    place.axes.push_back(index.axis);
  return true;
}

std::optional<Analyzer::Place>
Analyzer::analyzePlace(Param *param, SourceRange range,
                       llvm::ArrayRef<ast::Subscript> subscripts,
                       AccessKind kind) {
  if (subscripts.size() > param->shape.size()) {
    error(subscripts[param->shape.size()].range,
          "'" + param->name + "' has " + Twine(param->shape.size()) +
              (param->shape.size() == 1 ? " dimension" : " dimensions") +
              ": expected at most as many subscripts, found " +
              Twine(subscripts.size()))
        .note(param->range, "declared as " + describeParam(*param))
        .remedy("leave the subscripts out that it has no dimension for");
    return std::nullopt;
  }
  Place place;
  place.param = param;
  place.range = range;
  bool valid = true;
  for (unsigned dim = 0; dim < param->shape.size(); ++dim) {
    ast::Subscript subscript;
    subscript.range = range;
    if (dim < subscripts.size())
      subscript = subscripts[dim];
    Index index;
    if (!analyzeIndex(subscript, param, dim, kind, index) ||
        !addIndexAxes(place, index)) {
      valid = false;
      continue;
    }
    place.indices.push_back(index);
  }
  if (!valid)
    return std::nullopt;
  return place;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

bool Analyzer::checkReadable(const Param &param, SourceRange range) {
  if (param.access == ast::Access::In || param.access == ast::Access::InOut)
    return true;
  bool isOut = param.access == ast::Access::Out;
  error(range, "'" + param.name + "' cannot be read: it is " +
                   (isOut ? "an 'out'" : "an 'add'") + " parameter")
      .note(param.range, "'" + param.name + "' is declared here")
      .remedy(isOut
                  ? "declare it as 'inout' to read it, or keep the value in a "
                    "variable"
                  : "programs only add to it: read it in another kernel");
  return false;
}

Value Analyzer::analyzeSubscript(const ast::SubscriptExpr &subscript) {
  const ast::NameExpr &base = *subscript.getBase();
  Symbol *symbol = require(base.getName(), base.getRange());
  if (!symbol || symbol->kind == Symbol::Kind::Poison)
    return {};
  if (symbol->kind != Symbol::Kind::Param || !symbol->param->isTensor) {
    Diagnostic &diagnostic =
        error(subscript.getRange(), "only tensors have subscripts, and '" +
                                        base.getName() + "' is " +
                                        describeSymbol(*symbol));
    noteSymbol(diagnostic, *symbol);
    if (symbol->kind == Symbol::Kind::Var && !symbol->var->type.isScalar())
      diagnostic.remedy("write '" + base.getName() + "': it is a " +
                        describe(symbol->var->type) + ", and axes go by name");
    else if (symbol->kind == Symbol::Kind::CtFn)
      diagnostic.remedy("call it with parentheses");
    else
      diagnostic.remedy("write '" + base.getName() + "' alone");
    return {};
  }
  if (!checkReadable(*symbol->param, base.getRange()))
    return {};
  std::optional<Place> place =
      analyzePlace(symbol->param, subscript.getRange(),
                   subscript.getSubscripts(), AccessKind::Read);
  return place ? load(*place) : Value();
}

Value Analyzer::load(const Place &place) {
  ValueType type{place.param->dtype, place.axes};
  if (!checkCapture(type, "several elements of '" + place.param->name + "'",
                    place.range, place.param->range))
    return {};
  auto *node = make<Load>(place.range);
  node->param = place.param;
  node->indices = place.indices;
  node->type = type;
  return node;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

bool Analyzer::checkWritable(const ast::Target &target, const Param &param,
                             ast::AssignOp op) {
  std::string name = "'" + param.name.str() + "'";
  std::string found = "'" + ast::spelling(op).str() + "'";
  std::string problem, remedy;
  bool isSet = op == ast::AssignOp::Set;
  switch (param.access) {
  case ast::Access::InOut:
    return true;
  case ast::Access::In:
    problem = name + " cannot be written: it is an 'in' parameter";
    remedy = "declare it as '" + param.name.str() +
             (isSet ? ": out ...'" : ": inout ...'");
    break;
  case ast::Access::Out:
    if (isSet)
      return true;
    problem = found + " reads " + name + ", which is an 'out' parameter";
    remedy = "sum in a variable and store that; or declare it as 'inout' to "
             "change what is there, or as 'add' to add from several programs";
    break;
  case ast::Access::Add:
    if (op == ast::AssignOp::Add)
      return true;
    problem = name + " can only be added to: expected '+=', found " + found;
    remedy = op == ast::AssignOp::Sub
                 ? "add the negated value with '+='"
                 : "write '+=', or declare it as 'out' to store";
    break;
  }
  error(target.range, problem)
      .note(param.range, name + " is declared here")
      .remedy(remedy);
  return false;
}

void Analyzer::store(const ast::Target &target, Param *param,
                     const ast::AssignStmt &stmt) {
  bool writable = checkWritable(target, *param, stmt.getOp());
  Value value = analyze(stmt.getValue());
  if (!writable)
    return;
  bool isAdd = param->access == ast::Access::Add;
  std::optional<Place> place =
      analyzePlace(param, target.range, target.subscripts,
                   isAdd ? AccessKind::Add : AccessKind::Write);
  if (!place || !value)
    return;
  // `A[i] *= x` on an inout parameter reads, computes and stores.
  if (stmt.getOp() != ast::AssignOp::Set && !isAdd)
    value = binary(arithmeticOp(stmt.getOp()), load(*place), value,
                   stmt.getRange());
  if (value)
    emitStore(*place, value, isAdd, stmt.getRange());
}

void Analyzer::storeValue(const ast::Target &target, Param *param, Value value,
                          SourceRange range) {
  if (!checkWritable(target, *param, ast::AssignOp::Set))
    return;
  std::optional<Place> place =
      analyzePlace(param, target.range, target.subscripts, AccessKind::Write);
  if (place && value)
    emitStore(*place, value, /*isAdd=*/false, range);
}

/// A tile of the same dimension as the whole axis `whole` among `axes`.
static const Axis *tileOver(const Axis &whole, llvm::ArrayRef<Axis *> axes) {
  if (whole.isTile() || !whole.dim)
    return nullptr;
  for (const Axis *axis : axes)
    if (axis->isTile() && axis->dim == whole.dim)
      return axis;
  return nullptr;
}

/// The name of a tensor that `value` reads along the whole of `axis`.
static StringRef wholeTensor(Expr &value, const Axis &axis) {
  StringRef name = "a tensor";
  walk(value, [&](Expr &expr) {
    if (const auto *load = llvm::dyn_cast<Load>(&expr))
      for (const Index &index : load->indices)
        if (index.kind == Index::Kind::Whole && index.axis == &axis)
          name = load->param->name;
  });
  return name;
}

void Analyzer::emitStore(const Place &place, Value value, bool isAdd,
                         SourceRange range) {
  Param *param = place.param;
  Expr *converted =
      convertImplicitly(value, param->dtype, Conversion::Store,
                        "the tensor '" + param->name + "'", param->range);
  if (!converted)
    return;
  for (Axis *axis : converted->type.axes) {
    if (llvm::is_contained(place.axes, axis))
      continue;
    Diagnostic &diagnostic = error(
        value.range(),
        "the value has the axis '" + axis->name +
            "', which the target lacks: expected " +
            (place.axes.empty() ? std::string("a scalar")
                                : "axes out of " + describeAxes(place.axes)) +
            ", found " + describeAxes(converted->type.axes));
    diagnostic.note(place.range, "stored here");
    if (axis->isTile() && axis->dim &&
        llvm::any_of(place.axes, [&](Axis *other) {
          return !other->isTile() && other->dim == axis->dim;
        }))
      diagnostic.remedy("write '" + axis->name + "' as a subscript of '" +
                        param->name + "'");
    else if (const Axis *tile = tileOver(*axis, place.axes))
      diagnostic.remedy("'" + wholeTensor(*converted, *axis) +
                        "' is read along the whole of '" + axis->name +
                        "'; for the tile alone write '" + tile->name +
                        "' as its subscript");
    else
      diagnostic.remedy("reduce it, for example with sum<" + axis->name +
                        ">(...), or subscript the target with it");
    return;
  }
  if (param->access != ast::Access::Add && !checkRaces(place))
    return;
  auto *node = kernel->arena.make<Store>();
  node->range = range;
  node->param = param;
  node->indices = place.indices;
  node->value = converted;
  node->isAdd = isAdd;
  body->push_back(node);
}

void Analyzer::collectLoopVars(Expr &expr,
                               llvm::SmallPtrSetImpl<LoopVar *> &vars) {
  walk(expr, [&](Expr &node) {
    if (auto *position = dyn_cast<Position>(&node)) {
      vars.insert(position->var);
    } else if (auto *ref = dyn_cast<VarRef>(&node)) {
      auto found = dependencies.find(ref->var);
      if (found != dependencies.end())
        vars.insert(found->second.begin(), found->second.end());
    }
  });
}

void Analyzer::recordDependencies(Var *var, Expr &value) {
  // Only what can be a subscript matters.
  if (!isInteger(var->type.dtype))
    return;
  llvm::SmallPtrSet<LoopVar *, 4> vars;
  collectLoopVars(value, vars);
  dependencies[var].insert(vars.begin(), vars.end());
}

bool Analyzer::checkRaces(const Place &place) {
  llvm::SmallPtrSet<LoopVar *, 4> used;
  for (const Index &index : place.indices) {
    if (index.kind == Index::Kind::Tile)
      used.insert(index.axis->var);
    else if (index.expr)
      collectLoopVars(*index.expr, used);
  }
  for (LoopVar *var : kernel->grid) {
    if (used.contains(var))
      continue;
    error(place.range, "the programs of the grid that differ in '" + var->name +
                           "' would all write the same elements of '" +
                           place.param->name + "'")
        .note(var->range, "'" + var->name + "' is a variable of the grid")
        .remedy("subscript '" + place.param->name + "' with '" + var->name +
                "'; or declare it as 'add' and write +=; or make '" +
                var->name + "' a 'for' variable");
    return false;
  }
  return true;
}

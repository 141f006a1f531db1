//===- Fragments.cpp - Elementwise ops as loops over registers --*- C++ -*-===//
//
// A run is one loop over the registers of fragments of one layout. It computes
// what somebody wants of each element, and on the way everything of the same
// layout that this needs and that is not there yet. Within the loop a value is
// part of an expression, or a scalar of its own where it is used twice; only
// what is used outside as well goes into an array.
//
// Example: for `m = max<j>(s * c)`, `p = exp2(s * c - m)` the first run
// computes s * c into an array, as both want it, and reduces it on the way; the
// second computes p from it.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/KernelEmitter.h"
#include "dialects/Tile/IR/SourcePlace.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::cuda {

using layout::InDim;
using layout::LinearLayout;
using tilegpu::getLinearLayout;

/// Expressions beyond this length are cut into named pieces.
static constexpr size_t longText = 78;
/// What computing an element again may cost, in instructions, before an array
/// is better.
static constexpr unsigned cheapCost = 8;

//===--- What is deferred ------------------------------------------------===//

bool KernelEmitter::isDeferred(Operation *op) {
  if (op->getNumResults() != 1 ||
      !tilegpu::getLayout(op->getResult(0).getType()))
    return false;
  if (auto convert = dyn_cast<tilegpu::ConvertLayoutOp>(op))
    return layout::registerPermutation(
               getLinearLayout(convert.getValue().getType()),
               getLinearLayout(convert.getType()))
        .has_value();
  return isa<tile::BroadcastOp, tile::IotaOp, tile::SelectValidOp,
             tile::RandomOp, tile::RoundTF32Op, tile::GeluOp, tensor::SplatOp,
             arith::ConstantOp>(op) ||
         isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
             op->getDialect());
}

unsigned KernelEmitter::cost(Value value, unsigned limit) {
  if (!isFragment(value) || fragments.contains(value))
    return 0;
  Operation *op = value.getDefiningOp();
  if (!op || !isDeferred(op))
    return limit + 1;
  if (isa<arith::ConstantOp, tensor::SplatOp>(op))
    return 0;
  unsigned own = 1;
  Type element = getElementTypeOrSelf(value.getType());
  if (isa<tile::BroadcastOp, tilegpu::ConvertLayoutOp>(op))
    own = 0;
  else if (auto extend = dyn_cast<arith::ExtFOp>(op))
    own = byteSize(ctypeOf(getElementTypeOrSelf(extend.getIn().getType()))) == 2
              ? 1
              : limit + 1;
  else if (isa<FloatType>(element) || isa<tile::RandomOp>(op))
    return limit + 1;
  else if (isa<arith::FloorDivSIOp, arith::RemSIOp, arith::DivSIOp,
               math::IPowIOp>(op))
    own = 6;
  unsigned sum = own;
  for (Value operand : op->getOperands()) {
    if (sum > limit)
      break;
    sum += cost(operand, limit - sum);
  }
  return std::min(sum, limit + 1);
}

bool KernelEmitter::isCheap(Value value) {
  return cost(value, cheapCost) <= cheapCost;
}

//===--- Runs ------------------------------------------------------------===//

class Run {
public:
  /// `user` is the op that the run is for.
  Run(KernelEmitter &emitter, Operation *user) : emitter(emitter), user(user) {}

  /// Makes everything available that an element of `value` needs from other
  /// layouts. Before the loop.
  void prepare(Value value);
  /// Has the loop write `value` to an array.
  void addOutput(Value value, const Fragment &target) {
    outputs.push_back({value, target, {}, {}});
    isOutput.insert(value);
  }
  /// Adds arrays for what is also used elsewhere, and declares all that the
  /// loop writes to.
  void declareOutputs();

  /// The array of a carried value that nobody reads after `value`, which is
  /// made of it register by register, so that it can take its place.
  std::optional<Fragment> dyingOperand(Value value);

  /// An element, in the loop.
  Expr element(Value value, const BitMap &reg);
  /// Writes the elements of all arrays, in the loop.
  void writeOutputs(const RegisterLoop &loop);
  /// Whether the loop has anything to write.
  bool hasLoop() const {
    return llvm::any_of(
        outputs, [](const Output &output) { return output.source.empty(); });
  }
  /// Completes the arrays, behind the loop.
  void finishOutputs();

private:
  struct Output {
    Value value;
    Fragment target;
    /// The unpacked elements of a packed fragment: its name.
    std::string staged;
    /// The array of f32 that a packed fragment is converted from, if it is
    /// there already; the loop has nothing to do then.
    std::string source;
  };

  Value wideSource(Value value);
  bool isUsedOutside(Value value);
  unsigned usesInside(Value value);
  Expr computeElement(Value value, const BitMap &reg);

  KernelEmitter &emitter;
  Operation *user;
  llvm::SetVector<Value> visited;
  llvm::SmallVector<Output> outputs;
  llvm::DenseSet<Value> isOutput;
  std::map<std::pair<void *, BitMap>, Expr> known;
};

void Run::prepare(Value value) {
  if (!emitter.isFragment(value) || emitter.fragments.contains(value) ||
      !visited.insert(value))
    return;
  Operation *op = value.getDefiningOp();
  if (!op || !KernelEmitter::isDeferred(op)) {
    emitter.fail(op ? op : user,
                 "internal error: expected a fragment that was computed");
    return;
  }
  for (Value operand : op->getOperands()) {
    if (isa<tile::BroadcastOp, tilegpu::ConvertLayoutOp>(op) &&
        !emitter.isCheap(operand))
      emitter.materialize(operand, op);
    prepare(operand);
  }
}

bool Run::isUsedOutside(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *op) {
    if (op == user)
      return false;
    if (!KernelEmitter::isDeferred(op))
      return true;
    return !op->use_empty() && !visited.contains(op->getResult(0));
  });
}

unsigned Run::usesInside(Value value) {
  return llvm::count_if(value.getUses(), [&](OpOperand &use) {
    Operation *op = use.getOwner();
    return op == user || (KernelEmitter::isDeferred(op) &&
                          visited.contains(op->getResult(0)));
  });
}

std::optional<Fragment> Run::dyingOperand(Value value) {
  Block *block = value.getParentBlock();
  while (isa<scf::IfOp>(block->getParentOp()))
    block = block->getParentOp()->getBlock();
  if (!isa<scf::ForOp>(block->getParentOp()))
    return std::nullopt;
  for (BlockArgument argument : block->getArguments()) {
    auto fragment = emitter.fragments.find(argument);
    if (fragment == emitter.fragments.end() || fragment->second.isShared ||
        argument.getType() != value.getType())
      continue;
    for (Operation *reader : argument.getUsers())
      if (KernelEmitter::isDeferred(reader) &&
          !isa<tile::BroadcastOp, tilegpu::ConvertLayoutOp>(reader) &&
          visited.contains(reader->getResult(0)) &&
          KernelEmitter::diesAt(argument, reader))
        return fragment->second;
  }
  return std::nullopt;
}

/// What a packed fragment is converted from through f32, or null.
Value Run::wideSource(Value value) {
  if (emitter.fragments.contains(value))
    return {};
  if (auto truncate = value.getDefiningOp<arith::TruncFOp>();
      truncate && emitter.typeOf(truncate.getIn()) == CType::F32)
    return truncate.getIn();
  if (auto extend = value.getDefiningOp<arith::ExtFOp>();
      extend && isNarrowFloat(emitter.typeOf(extend.getIn())))
    return extend.getIn();
  return {};
}

void Run::declareOutputs() {
  for (Value value : visited)
    if (!emitter.fragments.contains(value) && !isOutput.contains(value) &&
        isUsedOutside(value) && !emitter.isCheap(value))
      addOutput(value, emitter.declareFragment(value, "t"));
  // They were found from the wanted values on, so operands come last.
  std::reverse(outputs.begin(), outputs.end());
  for (Output &output : outputs) {
    const Fragment &target = output.target;
    if (!isPacked(target.type))
      continue;
    // Conversions are by pairs, so they wait until all is there.
    Value wide = wideSource(output.value);
    bool fromF32 = static_cast<bool>(wide);
    if (auto source =
            wide ? emitter.fragments.find(wide) : emitter.fragments.end();
        source != emitter.fragments.end() &&
        source->second.type == CType::F32) {
      output.source = source->second.name;
      continue;
    }
    output.staged = emitter.fresh(target.name + (fromF32 ? "_f32" : "_raw"));
    emitter.out.line(spelling(fromF32 ? CType::F32 : target.type) + " " +
                     output.staged + "[" + Twine(target.registers) + "];");
  }
}

void Run::writeOutputs(const RegisterLoop &loop) {
  for (Output &output : outputs) {
    if (!output.source.empty())
      continue;
    const Fragment &target = output.target;
    StringRef index = loop.hasVariable ? "r" : "0";
    if (output.staged.empty()) {
      std::pair<void *, BitMap> key(output.value.getAsOpaquePointer(),
                                    loop.reg);
      auto found = known.find(key);
      bool isThere = emitter.fragments.contains(output.value);
      Expr value = found != known.end() ? found->second
                   : isThere ? element(output.value, loop.reg)
                             : computeElement(output.value, loop.reg);
      std::string entry = (target.name + "[" + index + "]").str();
      emitter.out.line(entry + " = " + cast(value, target.type).text + ";");
      known.insert_or_assign(key, Expr::atom(entry, target.type));
      continue;
    }
    Value wide = wideSource(output.value);
    Expr value = wide ? emitter.widen(element(wide, loop.reg))
                      : element(output.value, loop.reg);
    emitter.out.line(output.staged + "[" + index + "] = " + value.text + ";");
  }
}

void Run::finishOutputs() {
  for (const Output &output : outputs) {
    const Fragment &target = output.target;
    if (!output.source.empty()) {
      emitter.out.line("pack_" + shortName(target.type) + "(" + target.name +
                       ", " + output.source + ");");
    } else if (!output.staged.empty()) {
      std::string function =
          StringRef(output.staged).contains("_f32")
              ? "pack_" + shortName(target.type).str()
              : "pack_" + std::to_string(8 * byteSize(target.type));
      emitter.out.line(function + "(" + target.name + ", " + output.staged +
                       ");");
    }
    emitter.fragments.insert({output.value, target});
    emitter.declared.push_back(output.value);
  }
}

Expr Run::element(Value value, const BitMap &reg) {
  if (!emitter.isFragment(value))
    return emitter.scalar(value);
  if (auto fragment = emitter.fragments.find(value);
      fragment != emitter.fragments.end())
    return emitter.element(fragment->second, reg);
  std::pair<void *, BitMap> key(value.getAsOpaquePointer(), reg);
  if (auto found = known.find(key); found != known.end())
    return found->second;
  Expr result = computeElement(value, reg);
  bool isNamed = result.isAtom || !result.wide.empty();
  if ((!isNamed && usesInside(value) > 1) || result.text.size() > longText) {
    std::string name = emitter.fresh(emitter.wishFor(value, "t"));
    emitter.out.declare(name, "const " + spelling(result.type) + " " + name +
                                  " = " + result.text + ";");
    result = Expr::atom(name, result.type);
  }
  known.insert({key, result});
  return result;
}

Expr Run::computeElement(Value value, const BitMap &reg) {
  Operation *op = value.getDefiningOp();
  CType type = emitter.typeOf(value);
  auto resultType = cast<RankedTensorType>(value.getType());
  if (auto iota = dyn_cast<tile::IotaOp>(op)) {
    Expr begin = emitter.scalar(iota.getBegin());
    Expr place = emitter.coordinate(getLinearLayout(resultType), 0, reg);
    if (begin.text == "0")
      return cuda::cast(place, type);
    if (place.text == "0")
      return cuda::cast(begin, type);
    if (begin.type != CType::I64 && type == CType::I64)
      begin = cuda::cast(begin, type);
    return cuda::cast(binary(begin, "+", place, Prec::Additive, begin.type),
                      type);
  }
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return emitter.scalar(splat.getInput());
  if (isa<tile::BroadcastOp, tilegpu::ConvertLayoutOp>(op)) {
    Value operand = op->getOperand(0);
    if (!emitter.isFragment(operand))
      return emitter.scalar(operand);
    llvm::SmallVector<int64_t> dims;
    if (auto broadcast = dyn_cast<tile::BroadcastOp>(op))
      dims.assign(broadcast.getDims().begin(), broadcast.getDims().end());
    else
      dims = llvm::to_vector(llvm::seq<int64_t>(0, resultType.getRank()));
    std::optional<BitMap> map =
        registerMap(getLinearLayout(cast<RankedTensorType>(operand.getType())),
                    getLinearLayout(resultType), dims);
    if (!map) {
      emitter.fail(op, "expected an operand in the layout of the result "
                       "without the new axes, found " +
                           Twine(getLinearLayout(
                                     cast<RankedTensorType>(operand.getType()))
                                     .str()) +
                           " for " + getLinearLayout(resultType).str());
      return Expr::atom("0", type);
    }
    return element(operand, reg.then(*map));
  }
  if (auto select = dyn_cast<tile::SelectValidOp>(op)) {
    Expr inside = element(select.getValue(), reg);
    std::optional<Expr> test =
        emitter.isInside(getLinearLayout(resultType), select.getValid(), reg);
    if (!test)
      return inside;
    Expr pad = emitter.padValue(select.getPad(), resultType.getElementType());
    Expr result =
        ternary(*test, cuda::cast(inside, type), cuda::cast(pad, type), type);
    if (!inside.wide.empty() && !pad.wide.empty())
      result.wide =
          "(" + test->text + " ? " + inside.wide + " : " + pad.wide + ")";
    return result;
  }
  llvm::SmallVector<Expr> operands;
  for (Value operand : op->getOperands())
    operands.push_back(element(operand, reg));
  return emitter.compute(op, operands);
}

//===--- Arrays ----------------------------------------------------------===//

Fragment KernelEmitter::declareFragment(Value value, StringRef wish,
                                        StringRef initializer) {
  Fragment fragment;
  fragment.name = fresh(wishFor(value, wish));
  fragment.type = typeOf(value);
  fragment.registers = getLinearLayout(cast<RankedTensorType>(value.getType()))
                           .size(InDim::Register);
  unsigned size = arraySize(fragment.type, fragment.registers);
  out.line(arraySpelling(fragment.type) + " " + fragment.name + "[" +
           Twine(size) + "]" + initializer + ";");
  HeldTile held;
  held.name = fragment.name;
  llvm::raw_string_ostream os(held.type);
  auto type = cast<RankedTensorType>(value.getType());
  llvm::interleave(type.getShape(), os, " x ");
  os << " elements of " << type.getElementType();
  held.registers = size * (byteSize(fragment.type) == 8 ? 2 : 1);
  if (FileLineColLoc place = tile::findFile(value.getLoc())) {
    held.file = place.getFilename().str();
    held.line = place.getLine();
    held.column = place.getColumn();
  }
  heldTiles.push_back(std::move(held));
  return fragment;
}

Fragment KernelEmitter::declareCopy(Value value, StringRef wish, Value init,
                                    Operation *user) {
  CType type = typeOf(value);
  auto literal = init.getDefiningOp<arith::ConstantOp>();
  if (literal && !isPacked(type)) {
    Expr start = constant(literal.getValue(), type);
    Fragment fragment =
        declareFragment(value, wish, isZero(start) ? " = {}" : "");
    if (!isZero(start))
      out.line("fill(" + fragment.name + ", " + start.text + ");");
    return fragment;
  }
  Fragment fragment = declareFragment(value, wish);
  assignFragment(fragment, init, user);
  return fragment;
}

Expr KernelEmitter::element(const Fragment &fragment, const BitMap &reg) {
  return elementAt(fragment, textOf(reg, "r").text);
}

Expr KernelEmitter::elementAt(const Fragment &fragment,
                              const std::string &index) {
  CType type = fragment.type;
  if (!isPacked(type))
    return Expr::call(fragment.name + "[" + index + "]", type);
  std::string arguments = "(" + fragment.name + ", " + index + ")";
  if (!isNarrowFloat(type))
    return Expr::call(shortName(type) + "_at" + arguments, type);
  Expr raw = Expr::call(
      (byteSize(type) == 2 ? "half_at" : "byte_at") + arguments, type);
  raw.wide = (shortName(type) + "_at" + arguments).str();
  return raw;
}

std::string KernelEmitter::entryPointer(const Fragment &fragment,
                                        const RegisterLoop &loop) {
  if (!loop.hasVariable)
    return fragment.name;
  unsigned perWord = elementsPerWord(fragment.type);
  return fragment.name + " + r" +
         (perWord > 1 ? " / " + std::to_string(perWord) : "");
}

void KernelEmitter::forRegisters(
    unsigned count, unsigned step,
    llvm::function_ref<void(const RegisterLoop &)> body, unsigned first) {
  if (count <= step) {
    body({BitMap::constant(0), false});
    return;
  }
  RegisterLoop loop{BitMap::identity(llvm::Log2_32(count)), true};
  for (unsigned bit = 0; bit < llvm::Log2_32(step); ++bit)
    loop.reg.images[bit] = 0;
  out.raw("#pragma unroll");
  out.open("for (int r = " + Twine(first) + "; r < " + Twine(count) + "; " +
               (step == 1 ? Twine("++r") : "r += " + Twine(step)) + ")",
           /*optional=*/true);
  body(loop);
  out.close();
}

void KernelEmitter::loopOver(
    RankedTensorType type, ValueRange wanted, Operation *user,
    llvm::function_ref<void(const RegisterLoop &, ArrayRef<Expr>)> body) {
  Run run(*this, user);
  for (Value value : wanted)
    run.prepare(value);
  run.declareOutputs();
  forRegisters(getLinearLayout(type).size(InDim::Register), 1,
               [&](const RegisterLoop &loop) {
                 run.writeOutputs(loop);
                 llvm::SmallVector<Expr> elements;
                 for (Value value : wanted)
                   elements.push_back(run.element(value, loop.reg));
                 body(loop, elements);
               });
  run.finishOutputs();
}

void KernelEmitter::materialize(Value value, Operation *user) {
  if (!isFragment(value) || fragments.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  // Renamed registers that keep their order are no new array.
  if (auto convert = dyn_cast_or_null<tilegpu::ConvertLayoutOp>(op);
      convert && isDeferred(op)) {
    LinearLayout from = getLinearLayout(convert.getValue().getType()),
                 to = getLinearLayout(convert.getType());
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, to.rank()));
    std::optional<BitMap> map = registerMap(from, to, dims);
    if (map && map->isIdentity() &&
        from.numBits(InDim::Register) == to.numBits(InDim::Register)) {
      Fragment source = fragment(convert.getValue());
      source.isShared = true;
      fragments.insert({value, source});
      declared.push_back(value);
      return;
    }
  }
  Run run(*this, user);
  run.prepare(value);
  comment(op);
  std::optional<Fragment> carried = run.dyingOperand(value);
  Fragment target = carried ? *carried : declareFragment(value, "t");
  run.addOutput(value, target);
  run.declareOutputs();
  if (run.hasLoop())
    forRegisters(target.registers, 1,
                 [&](const RegisterLoop &loop) { run.writeOutputs(loop); });
  run.finishOutputs();
}

Fragment KernelEmitter::fragment(Value value) {
  materialize(value);
  return fragments.lookup(value);
}

void KernelEmitter::prepareFragment(Value value) {
  Run(*this, nullptr).prepare(value);
}

Fragment KernelEmitter::fragmentAs(Value value, CType type) {
  if (typeOf(value) == type)
    return fragment(value);
  Fragment target;
  target.type = type;
  target.registers = getLinearLayout(cast<RankedTensorType>(value.getType()))
                         .size(InDim::Register);
  target.name = fresh(wishFor(value, "t"));
  out.line(arraySpelling(type) + " " + target.name + "[" +
           Twine(arraySize(type, target.registers)) + "];");
  loopOver(cast<RankedTensorType>(value.getType()), value, nullptr,
           [&](const RegisterLoop &loop, ArrayRef<Expr> elements) {
             out.line(target.name + (loop.hasVariable ? "[r] = " : "[0] = ") +
                      elements.front().text + ";");
           });
  return target;
}

void KernelEmitter::assignFragment(const Fragment &target, Value value,
                                   Operation *user) {
  auto known = fragments.find(value);
  if (known != fragments.end()) {
    const Fragment &source = known->second;
    if (source.name == target.name)
      return;
    unsigned size = arraySize(target.type, target.registers);
    forRegisters(size, 1, [&](const RegisterLoop &loop) {
      StringRef index = loop.hasVariable ? "r" : "0";
      out.line(target.name + "[" + index + "] = " + source.name + "[" + index +
               "];");
    });
    return;
  }
  Run run(*this, user);
  run.prepare(value);
  run.addOutput(value, target);
  run.declareOutputs();
  if (run.hasLoop())
    forRegisters(target.registers, 1,
                 [&](const RegisterLoop &loop) { run.writeOutputs(loop); });
  run.finishOutputs();
  // The array goes on to change, the value does not.
  fragments.erase(value);
}

} // namespace tilec::cuda

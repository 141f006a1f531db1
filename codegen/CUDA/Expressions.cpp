//===- Expressions.cpp - arith and math -------------------------*- C++ -*-===//
//
// What an op computes from its operands, as text. The same for scalars and for
// one element of a fragment. Functions that C++ does not have are in the
// prelude, which says how exact they are.
//
// Integers of the language wrap, those of C++ must not; where the interval of a
// result shows that it may, the prelude's wrapping functions are called.
//
//===----------------------------------------------------------------------===//

#include "codegen/CUDA/KernelEmitter.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec::cuda {

static Type elementType(Value value) {
  return getElementTypeOrSelf(value.getType());
}

CType KernelEmitter::typeOf(Value value) {
  Type type = elementType(value);
  if (type.isIndex())
    return indexType();
  CType known = ctypeOf(type);
  return known == CType::I64 && facts.rangeOf(value).fits(32) ? CType::I32
                                                              : known;
}

//===--- Constants -------------------------------------------------------===//

Expr KernelEmitter::constant(TypedAttr value, CType type) {
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    value = cast<TypedAttr>(splat.getSplatValue<Attribute>());
  if (auto real = dyn_cast<FloatAttr>(value))
    return floatLiteral(real.getValue(), type);
  APInt bits = cast<IntegerAttr>(value).getValue();
  if (bits.getBitWidth() == 1)
    return intLiteral(bits.getZExtValue() ? 1 : 0, type);
  // C++ widens where it must; a suffix would only be in the way.
  return intLiteral(bits.getSExtValue(),
                    type == CType::I64 && bits.isSignedIntN(32) ? CType::I32
                                                                : type);
}

Expr KernelEmitter::padValue(tile::Pad pad, Type element) {
  // What undefined lanes hold is free; zero is as good as anything.
  if (pad == tile::Pad::Undef)
    pad = tile::Pad::Zero;
  TypedAttr value = tile::getPadValue(pad, element);
  return constant(value, ctypeOf(element));
}

Expr KernelEmitter::widen(const Expr &raw) {
  if (!isNarrowFloat(raw.type))
    return raw;
  if (!raw.wide.empty())
    return Expr::call(raw.wide, CType::F32);
  return Expr::call(shortName(raw.type) + "_to_f32(" + raw.text + ")",
                    CType::F32);
}

//===--- Helpers ---------------------------------------------------------===//

static Expr call(const Twine &function, ArrayRef<Expr> arguments, CType type) {
  std::string text = function.str() + "(";
  for (const Expr &argument : arguments)
    text += (text.back() == '(' ? "" : ", ") + argument.text;
  return Expr::call(text + ")", type);
}

/// Operands of one type, the wider of both if these are integers.
static std::pair<Expr, Expr> unify(const Expr &a, const Expr &b) {
  if (a.type == b.type)
    return {a, b};
  CType wide = byteSize(a.type) >= byteSize(b.type) ? a.type : b.type;
  return {cast(a, wide), cast(b, wide)};
}

static StringRef unsignedSpelling(CType type) {
  switch (type) {
  case CType::I8:
    return "unsigned char";
  case CType::I16:
    return "unsigned short";
  case CType::I32:
    return "unsigned";
  default:
    return "unsigned long long";
  }
}

/// `a` as `type`, whatever its type is said to be.
static Expr alwaysCast(const Expr &a, CType type) {
  return {"(" + spelling(type).str() + ")" + parenthesized(a, Prec::Unary),
          Prec::Unary, type};
}

static Expr toUnsigned(const Expr &a) {
  if (a.type == CType::Bool)
    return a;
  return {"(" + unsignedSpelling(a.type).str() + ")" +
              parenthesized(a, Prec::Unary),
          Prec::Unary, a.type};
}

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) &&
      constant.getBitWidth() <= 64)
    return constant.getBitWidth() == 1
               ? static_cast<int64_t>(constant.getZExtValue())
               : constant.getSExtValue();
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return constantOf(splat.getInput());
  return std::nullopt;
}

//===--- Comparisons -----------------------------------------------------===//

static Expr compareFloats(arith::CmpFPredicate predicate, const Expr &a,
                          const Expr &b) {
  using P = arith::CmpFPredicate;
  auto relational = [&](StringRef op) {
    return binary(a, op, b, Prec::Relational, CType::Bool);
  };
  auto negated = [&](const Expr &e) { return unary("!", e, CType::Bool); };
  auto oneOf = [&](const Expr &x, StringRef op, const Expr &y) {
    return binary(x, op, y, op == "||" ? Prec::LogicalOr : Prec::LogicalAnd,
                  CType::Bool);
  };
  auto isNaN = [](const Expr &e) {
    return binary(e, "!=", e, Prec::Equality, CType::Bool);
  };
  auto isNumber = [](const Expr &e) {
    return binary(e, "==", e, Prec::Equality, CType::Bool);
  };
  switch (predicate) {
  case P::AlwaysFalse:
    return intLiteral(0, CType::Bool);
  case P::AlwaysTrue:
    return intLiteral(1, CType::Bool);
  case P::OEQ:
    return binary(a, "==", b, Prec::Equality, CType::Bool);
  case P::UNE:
    return binary(a, "!=", b, Prec::Equality, CType::Bool);
  case P::OGT:
    return relational(">");
  case P::OGE:
    return relational(">=");
  case P::OLT:
    return relational("<");
  case P::OLE:
    return relational("<=");
  case P::UGT:
    return negated(relational("<="));
  case P::UGE:
    return negated(relational("<"));
  case P::ULT:
    return negated(relational(">="));
  case P::ULE:
    return negated(relational(">"));
  case P::ONE:
    return oneOf(relational("<"), "||", relational(">"));
  case P::UEQ:
    return negated(oneOf(relational("<"), "||", relational(">")));
  case P::ORD:
    return oneOf(isNumber(a), "&&", isNumber(b));
  case P::UNO:
    return oneOf(isNaN(a), "||", isNaN(b));
  }
  llvm_unreachable("unknown predicate");
}

static Expr compareIntegers(arith::CmpIPredicate predicate, Expr a, Expr b) {
  using P = arith::CmpIPredicate;
  std::tie(a, b) = unify(a, b);
  bool isUnsigned = predicate == P::ult || predicate == P::ule ||
                    predicate == P::ugt || predicate == P::uge;
  if (isUnsigned)
    a = toUnsigned(a), b = toUnsigned(b);
  auto relational = [&](StringRef op) {
    return binary(a, op, b, Prec::Relational, CType::Bool);
  };
  // As a signed number true is -1, so less than false.
  bool swapped = a.type == CType::Bool && !isUnsigned;
  switch (predicate) {
  case P::eq:
    return binary(a, "==", b, Prec::Equality, CType::Bool);
  case P::ne:
    return binary(a, "!=", b, Prec::Equality, CType::Bool);
  case P::slt:
  case P::ult:
    return relational(swapped ? ">" : "<");
  case P::sle:
  case P::ule:
    return relational(swapped ? ">=" : "<=");
  case P::sgt:
  case P::ugt:
    return relational(swapped ? "<" : ">");
  case P::sge:
  case P::uge:
    return relational(swapped ? "<=" : ">=");
  }
  llvm_unreachable("unknown predicate");
}

//===--- Arithmetic ------------------------------------------------------===//

Expr KernelEmitter::computeFloat(Operation *op, ArrayRef<Expr> x) {
  CType type = typeOf(op->getResult(0));
  bool isDouble = type == CType::F64;
  if (!isDouble && type != CType::F32) {
    fail(op, "expected arithmetic on f32 or f64 (the narrow floats are storage "
             "only), found " +
                 Twine(spelling(type)));
    return x.front();
  }
  auto infix = [&](StringRef sign, Prec prec) {
    return binary(x[0], sign, x[1], prec, type);
  };
  auto function = [&](StringRef name) { return call(name, x, type); };
  // One name for f64, one for f32.
  auto select = [&](StringRef real64, StringRef real32) {
    return call(isDouble ? real64 : real32, x, type);
  };
  return llvm::TypeSwitch<Operation *, Expr>(op)
      .Case([&](arith::AddFOp) { return infix("+", Prec::Additive); })
      .Case([&](arith::SubFOp) { return infix("-", Prec::Additive); })
      .Case([&](arith::MulFOp) { return infix("*", Prec::Multiplicative); })
      .Case([&](arith::DivFOp) {
        if (isDouble)
          return infix("/", Prec::Multiplicative);
        if (x[0].text == "1.0f")
          return call("reciprocal", x[1], type);
        return function("divide");
      })
      .Case([&](arith::NegFOp) { return unary("-", x[0], type); })
      .Case([&](arith::RemFOp) { return select("fmod", "fmodf"); })
      .Case([&](arith::MaximumFOp) { return function("maximum"); })
      .Case([&](arith::MinimumFOp) { return function("minimum"); })
      .Case([&](arith::MaxNumFOp) { return select("fmax", "fmaxf"); })
      .Case([&](arith::MinNumFOp) { return select("fmin", "fminf"); })
      .Case([&](math::AbsFOp) { return select("fabs", "fabsf"); })
      .Case([&](math::FmaOp) { return select("fma", "fmaf"); })
      .Case([&](math::ExpOp) { return select("exp", "exp_f32"); })
      .Case([&](math::Exp2Op) { return select("exp2", "exp2_f32"); })
      .Case([&](math::ExpM1Op) { return select("expm1", "expm1f"); })
      .Case([&](math::LogOp) { return select("log", "logf"); })
      .Case([&](math::Log2Op) { return select("log2", "log2f"); })
      .Case([&](math::Log1pOp) { return select("log1p", "log1pf"); })
      .Case([&](math::SqrtOp) { return select("sqrt", "sqrt_f32"); })
      .Case([&](math::RsqrtOp) { return select("rsqrt", "rsqrt_f32"); })
      .Case([&](math::TanhOp) { return select("tanh", "tanhf"); })
      .Case([&](math::ErfOp) { return select("erf", "erf_f32"); })
      .Case([&](math::SinOp) { return select("sin_f64", "sin_f32"); })
      .Case([&](math::CosOp) { return select("cos_f64", "cos_f32"); })
      .Case([&](math::PowFOp) { return select("pow", "powf"); })
      .Case([&](math::FloorOp) { return select("floor", "floorf"); })
      .Case([&](math::CeilOp) { return select("ceil", "ceilf"); })
      .Case([&](math::TruncOp) { return select("trunc", "truncf"); })
      .Case([&](math::RoundOp) { return select("round", "roundf"); })
      .Case([&](math::RoundEvenOp) { return select("rint", "rintf"); })
      .Case([&](math::CopySignOp) { return select("copysign", "copysignf"); })
      .Case([&](tile::RoundTF32Op) { return function("round_tf32"); })
      .Case([&](tile::GeluOp) { return select("gelu_f64", "gelu_f32"); })
      .Default([&](Operation *) {
        fail(op, "expected an op that has a form in CUDA C++, found '" +
                     op->getName().getStringRef() + "'");
        return x.front();
      });
}

Expr KernelEmitter::computeInteger(Operation *op, ArrayRef<Expr> operands) {
  Value result = op->getResult(0);
  CType type = typeOf(result);
  bool isIndex = elementType(result).isIndex();
  SmallVector<Expr> x(operands);
  // An operation is done in the wider of the types, then cut.
  CType wide = type;
  for (const Expr &operand : x)
    if (byteSize(operand.type) > byteSize(wide))
      wide = operand.type;
  auto finish = [&](const Expr &e) { return cuda::cast(e, type); };
  auto widenAll = [&] {
    for (Expr &operand : x)
      operand = asType(operand, wide);
  };
  auto infix = [&](StringRef sign, Prec prec) {
    // C++ converts to the wider type itself, if one is of it.
    if (llvm::none_of(x, [&](const Expr &e) { return e.type == wide; }))
      x[0] = asType(x[0], wide);
    return finish(binary(x[0], sign, x[1], prec, wide));
  };
  auto function = [&](StringRef name) {
    widenAll();
    return finish(call(name, x, wide));
  };
  auto wrapping = [&](StringRef sign, StringRef name, Prec prec) {
    // What C++ promotes to int cannot overflow.
    if (byteSize(type) < 4)
      return finish(binary(x[0], sign, x[1], prec, CType::I32));
    if (!isIndex && facts.mayWrap(op))
      return function(name);
    return infix(sign, prec);
  };
  std::optional<int64_t> constant =
      op->getNumOperands() == 2 ? constantOf(op->getOperand(1)) : std::nullopt;
  bool byPowerOf2 = constant && *constant > 0 && llvm::isPowerOf2_64(*constant);
  auto logic = [&](StringRef bits, Prec bitsPrec, StringRef bools,
                   Prec boolsPrec) {
    return type == CType::Bool ? binary(x[0], bools, x[1], boolsPrec, type)
                               : infix(bits, bitsPrec);
  };
  auto shift = [&](bool isUnsigned) {
    Expr value = isUnsigned ? toUnsigned(x[0]) : x[0];
    Expr shifted = binary(value, ">>", x[1], Prec::Shift, x[0].type);
    return isUnsigned ? alwaysCast(shifted, type) : finish(shifted);
  };
  return llvm::TypeSwitch<Operation *, Expr>(op)
      .Case([&](arith::AddIOp) {
        if (type == CType::Bool)
          return binary(x[0], "!=", x[1], Prec::Equality, type);
        return wrapping("+", "wrap_add", Prec::Additive);
      })
      .Case([&](arith::SubIOp) {
        if (type == CType::Bool)
          return binary(x[0], "!=", x[1], Prec::Equality, type);
        return wrapping("-", "wrap_sub", Prec::Additive);
      })
      .Case([&](arith::MulIOp) {
        if (type == CType::Bool)
          return binary(x[0], "&&", x[1], Prec::LogicalAnd, type);
        return wrapping("*", "wrap_mul", Prec::Multiplicative);
      })
      .Case([&](arith::FloorDivSIOp) {
        if (byPowerOf2)
          return finish(binary(x[0], ">>",
                               intLiteral(llvm::Log2_64(*constant), CType::I32),
                               Prec::Shift, x[0].type));
        if (facts.rangeOf(op->getOperand(0)).low >= 0 && constant &&
            *constant > 0)
          return infix("/", Prec::Multiplicative);
        return function("floor_div");
      })
      .Case([&](arith::CeilDivSIOp) { return function("ceil_div"); })
      .Case([&](arith::DivSIOp) { return infix("/", Prec::Multiplicative); })
      .Case([&](arith::RemSIOp) { return infix("%", Prec::Multiplicative); })
      .Case<arith::DivUIOp, arith::RemUIOp>([&](auto) {
        widenAll();
        x[0] = toUnsigned(x[0]), x[1] = toUnsigned(x[1]);
        Expr e = binary(x[0], isa<arith::DivUIOp>(op) ? "/" : "%", x[1],
                        Prec::Multiplicative, wide);
        return alwaysCast(e, type);
      })
      .Case([&](arith::MaxSIOp) { return function("max"); })
      .Case([&](arith::MinSIOp) { return function("min"); })
      .Case<arith::MaxUIOp, arith::MinUIOp>([&](auto) {
        widenAll();
        Expr condition =
            binary(toUnsigned(x[0]), isa<arith::MaxUIOp>(op) ? ">" : "<",
                   toUnsigned(x[1]), Prec::Relational, CType::Bool);
        return finish(ternary(condition, x[0], x[1], wide));
      })
      .Case([&](arith::AndIOp) {
        return logic("&", Prec::BitAnd, "&&", Prec::LogicalAnd);
      })
      .Case([&](arith::OrIOp) {
        return logic("|", Prec::BitOr, "||", Prec::LogicalOr);
      })
      .Case([&](arith::XOrIOp) {
        if (type == CType::Bool && constant == 1)
          return unary("!", x[0], type);
        return logic("^", Prec::BitXor, "!=", Prec::Equality);
      })
      .Case([&](arith::ShLIOp) {
        widenAll();
        return alwaysCast(
            binary(toUnsigned(x[0]), "<<", x[1], Prec::Shift, wide), type);
      })
      .Case([&](arith::ShRSIOp) { return shift(false); })
      .Case([&](arith::ShRUIOp) { return shift(true); })
      .Case([&](arith::CmpIOp cmp) {
        return compareIntegers(cmp.getPredicate(), x[0], x[1]);
      })
      .Case([&](arith::CmpFOp cmp) {
        return compareFloats(cmp.getPredicate(), x[0], x[1]);
      })
      .Case([&](math::AbsIOp) {
        if (facts.mayWrap(op))
          return function("wrap_abs");
        return function(wide == CType::I64 ? "llabs" : "abs");
      })
      .Case([&](math::IPowIOp) { return function("int_pow"); })
      .Default([&](Operation *) {
        fail(op, "expected an op that has a form in CUDA C++, found '" +
                     op->getName().getStringRef() + "'");
        return x.front();
      });
}

Expr KernelEmitter::computeCast(Operation *op, const Expr &x) {
  CType type = typeOf(op->getResult(0));
  CType from = ctypeOf(elementType(op->getOperand(0)));
  auto unsignedOf = [&] {
    // Narrowed to fewer bits than it has, it would be extended with its sign.
    return toUnsigned(
        x.type == from || from != CType::I64 ? x : cuda::cast(x, from));
  };
  return llvm::TypeSwitch<Operation *, Expr>(op)
      .Case([&](arith::ExtFOp) {
        Expr wide = widen(x);
        // The narrow floats are not contained in one another, but f16 contains
        // the 8-bit ones.
        if (isNarrowFloat(type))
          return call("f32_to_" + shortName(type), wide, type);
        return cuda::cast(wide, type);
      })
      .Case([&](arith::TruncFOp) {
        if (!isNarrowFloat(type))
          return cuda::cast(x, type);
        return call(shortName(x.type) + "_to_" + shortName(type), x, type);
      })
      .Case<arith::ExtSIOp>([&](auto) {
        if (x.type != CType::Bool)
          return cuda::cast(x, type);
        return unary("-", cuda::cast(x, type), type);
      })
      .Case<arith::TruncIOp>([&](arith::TruncIOp) {
        if (type == CType::Bool)
          return binary(
              binary(x, "&", intLiteral(1, CType::I32), Prec::BitAnd, x.type),
              "!=", intLiteral(0, CType::I32), Prec::Equality, type);
        return cuda::cast(x, type);
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>(
          [&](auto) { return asType(x, type); })
      .Case([&](arith::ExtUIOp) {
        if (x.type == CType::Bool)
          return cuda::cast(x, type);
        return alwaysCast(unsignedOf(), type);
      })
      .Case([&](arith::SIToFPOp) {
        if (isNarrowFloat(type))
          return call("f32_to_" + shortName(type), cuda::cast(x, CType::F32),
                      type);
        if (x.type == CType::Bool)
          return unary("-", cuda::cast(x, type), type);
        return cuda::cast(x, type);
      })
      .Case([&](arith::UIToFPOp) {
        Expr number = unsignedOf();
        if (isNarrowFloat(type))
          return call("f32_to_" + shortName(type),
                      alwaysCast(number, CType::F32), type);
        return alwaysCast(number, type);
      })
      .Case([&](arith::FPToSIOp) { return cuda::cast(widen(x), type); })
      .Case([&](arith::FPToUIOp) {
        Expr number = widen(x);
        return alwaysCast({"(" + unsignedSpelling(type).str() + ")" +
                               parenthesized(number, Prec::Unary),
                           Prec::Unary, type},
                          type);
      })
      .Case([&](arith::BitcastOp) -> Expr {
        if (x.type == CType::F32 && type == CType::I32)
          return call("__float_as_int", x, type);
        if (x.type == CType::I32 && type == CType::F32)
          return call("__int_as_float", x, type);
        if (x.type == CType::F64)
          return cuda::cast(call("__double_as_longlong", x, CType::I64), type);
        if (type == CType::F64)
          return call("__longlong_as_double", asType(x, CType::I64), type);
        // The narrow floats are their bits.
        return cuda::cast({x.text, x.prec, x.type}, type);
      })
      .Default([&](Operation *) {
        fail(op, "expected a conversion that has a form in CUDA C++, found '" +
                     op->getName().getStringRef() + "'");
        return x;
      });
}

Expr KernelEmitter::compute(Operation *op, ArrayRef<Expr> operands) {
  if (auto known = dyn_cast<arith::ConstantOp>(op))
    return constant(known.getValue(), typeOf(op->getResult(0)));
  CType type = typeOf(op->getResult(0));
  if (isa<arith::SelectOp>(op)) {
    auto [a, b] = unify(operands[1], operands[2]);
    // A suffix is no reason for 64 bits.
    if (type == CType::I32)
      a = asType(operands[1], type), b = asType(operands[2], type);
    Expr chosen = ternary(operands[0], a, b, a.type);
    if (!operands[1].wide.empty() && !operands[2].wide.empty())
      chosen.wide =
          "(" +
          ternary(operands[0], Expr::call(operands[1].wide, CType::F32),
                  Expr::call(operands[2].wide, CType::F32), CType::F32)
              .text +
          ")";
    return cuda::cast(chosen, type);
  }
  if (isa<tile::RandomOp>(op))
    return call(
        "random_uniform",
        {asType(operands[0], CType::I64), asType(operands[1], CType::I64)},
        type);
  if (isa<CastOpInterface>(op))
    return computeCast(op, operands.front());
  return isFloatType(type) ? computeFloat(op, operands)
                           : computeInteger(op, operands);
}

//===--- Reductions ------------------------------------------------------===//

Expr KernelEmitter::combine(tile::ReduceKind kind, CType type, const Expr &a,
                            const Expr &b) {
  using Kind = tile::ReduceKind;
  bool real = isFloatType(type), isDouble = type == CType::F64;
  switch (kind) {
  case Kind::Sum:
    if (!real)
      return call("wrap_add", {a, b}, type);
    return binary(a, "+", b, Prec::Additive, type);
  case Kind::Prod:
    if (!real)
      return call("wrap_mul", {a, b}, type);
    return binary(a, "*", b, Prec::Multiplicative, type);
  case Kind::Max:
    return call(real ? "maximum" : "max", {a, b}, type);
  case Kind::Min:
    return call(real ? "minimum" : "min", {a, b}, type);
  case Kind::FMax:
    return call(isDouble ? "fmax" : "fmaxf", {a, b}, type);
  case Kind::FMin:
    return call(isDouble ? "fmin" : "fminf", {a, b}, type);
  // Not || and &&, which would leave out a shuffle on the right.
  case Kind::Any:
    return binary(a, "|", b, Prec::BitOr, type);
  case Kind::All:
    return binary(a, "&", b, Prec::BitAnd, type);
  }
  llvm_unreachable("unknown kind");
}

Expr KernelEmitter::neutral(tile::ReduceKind kind, CType type) {
  OpBuilder b(kernel.getContext());
  Type element = type == CType::F32   ? Type(b.getF32Type())
                 : type == CType::F64 ? Type(b.getF64Type())
                 : type == CType::I32 ? Type(b.getI32Type())
                 : type == CType::I64 ? Type(b.getI64Type())
                                      : Type(b.getI1Type());
  // fmax of nothing is what any number beats, as max is; a NaN also loses.
  std::optional<tile::Pad> pad = tile::getNeutralPad(kind);
  Expr value = padValue(*pad, element);
  return cuda::cast(value, type);
}

} // namespace tilec::cuda

//===- EntryPoints.cpp - What the launcher calls ----------------*- C++ -*-===//
//
// A kernel takes its arguments one by one, a memref as its address, extents and
// strides, so its signature differs from kernel to kernel. An entry point has
// one signature for all of them and reads the arguments from an array.
//
// Passing addresses as arguments is also how LLVM learns what does not alias:
// `noalias` is a property of arguments. So the kernel must not be inlined into
// its entry point.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Passes.h"
#include "codegen/TileToLinalg/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tilec {

#define GEN_PASS_DEF_CPUENTRYPOINTS
#include "codegen/CPU/Passes.h.inc"

namespace {

/// Adds the entry point of one function.
class EntryPointBuilder {
public:
  explicit EntryPointBuilder(LLVM::LLVMFuncOp kernel)
      : kernel(kernel), loc(kernel.getLoc()), b(kernel.getContext()),
        pointer(LLVM::LLVMPointerType::get(b.getContext())) {}

  void build();

private:
  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                                    b.getI64IntegerAttr(value));
  }
  /// The address `bytes` after `base`.
  Value advance(Value base, int64_t bytes) {
    // An operand: the constants a GEP may hold are too small for any scratch.
    return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{constant(bytes)});
  }
  Value loadWord(Value packed, Type type) {
    Value from = advance(packed, 8 * nextWord++);
    // A bool takes a whole byte, of which only one bit may be looked at.
    if (type.isInteger(1)) {
      Value byte = LLVM::LoadOp::create(b, loc, b.getI8Type(), from);
      return LLVM::TruncOp::create(b, loc, type, byte);
    }
    return LLVM::LoadOp::create(b, loc, type, from);
  }
  void passBuffer(Value address, int64_t rank, llvm::function_ref<Value()> next,
                  bool noAlias);

  LLVM::LLVMFuncOp kernel;
  Location loc;
  OpBuilder b;
  Type pointer;
  int64_t nextWord = 0;
  SmallVector<Value> operands;
};

/// Passes a memref: its allocation, its address, an offset of 0, and then the
/// words for extents and strides.
void EntryPointBuilder::passBuffer(Value address, int64_t rank,
                                   llvm::function_ref<Value()> next,
                                   bool noAlias) {
  operands.push_back(address);
  if (noAlias)
    kernel.setArgAttr(operands.size(), LLVM::LLVMDialect::getNoAliasAttrName(),
                      b.getUnitAttr());
  operands.push_back(address);
  operands.push_back(constant(0));
  for (int64_t i = 0; i < 2 * rank; ++i)
    operands.push_back(next());
}

void EntryPointBuilder::build() {
  auto ranks = kernel->getAttrOfType<DenseI64ArrayAttr>(kKernelFuncAttr);
  auto slots = kernel->getAttrOfType<DenseI64ArrayAttr>(kSlotsAttr);
  auto aliasing = kernel->getAttrOfType<DenseI64ArrayAttr>(kAliasingAttr);
  LLVM::LLVMFunctionType type = kernel.getFunctionType();
  bool isKernel = isa<LLVM::LLVMVoidType>(type.getReturnType());
  Type i64 = b.getI64Type();

  SmallVector<Type> inputs = {pointer};
  if (isKernel)
    inputs.append({i64, i64, pointer, pointer});
  b.setInsertionPointAfter(kernel);
  auto entry = LLVM::LLVMFuncOp::create(
      b, loc, (kernel.getName() + ".entry").str(),
      LLVM::LLVMFunctionType::get(type.getReturnType(), inputs));
  b.setInsertionPointToStart(entry.addEntryBlock(b));

  Value packed = entry.getArgument(0);
  auto nextWordOf = [&] { return loadWord(packed, i64); };
  for (auto [number, rank] : llvm::enumerate(ranks.asArrayRef())) {
    if (rank < 0) {
      operands.push_back(loadWord(packed, type.getParamType(operands.size())));
      continue;
    }
    Value address = loadWord(packed, pointer);
    // With one tensor that may be the same as another there is no other.
    bool noAlias = aliasing.size() < 2 ||
                   !llvm::is_contained(aliasing.asArrayRef(), int64_t(number));
    passBuffer(address, rank, nextWordOf, noAlias);
  }
  if (isKernel) {
    operands.append(
        {entry.getArgument(1), entry.getArgument(2), entry.getArgument(4)});
    int64_t total = 0;
    ArrayRef<int64_t> sizes = slots ? slots.asArrayRef() : ArrayRef<int64_t>();
    for (auto [offset, size] :
         llvm::zip_equal(placeSlots(sizes, total), sizes)) {
      Value words[] = {constant(size), constant(1)};
      unsigned next = 0;
      passBuffer(
          advance(entry.getArgument(3), offset), 1,
          [&] { return words[next++]; }, /*noAlias=*/true);
    }
  }
  auto call = LLVM::CallOp::create(b, loc, kernel, operands);
  LLVM::ReturnOp::create(b, loc, call.getResults());
  kernel.setLinkage(LLVM::Linkage::Internal);
  kernel.setNoInline(true);
}

/// MLIR takes offsets into a memref for unsigned. With a negative stride they
/// are not, and the flags that say so would make them poison.
void dropUnsignedClaims(LLVM::LLVMFuncOp func) {
  func.walk([](Operation *op) {
    if (auto address = dyn_cast<LLVM::GEPOp>(op))
      address.setNoWrapFlags(address.getNoWrapFlags() &
                             ~LLVM::GEPNoWrapFlags::nuw);
    else if (auto flagged = dyn_cast<LLVM::IntegerOverflowFlagsInterface>(op))
      flagged.setOverflowFlags(flagged.getOverflowFlags() &
                               ~LLVM::IntegerOverflowFlags::nuw);
  });
}

struct EntryPointsPass : impl::CPUEntryPointsBase<EntryPointsPass> {
  void runOnOperation() override {
    for (auto func :
         llvm::make_early_inc_range(getOperation().getOps<LLVM::LLVMFuncOp>()))
      if (func->hasAttr(kKernelFuncAttr)) {
        dropUnsignedClaims(func);
        EntryPointBuilder(func).build();
      }
  }
};

} // namespace
} // namespace tilec

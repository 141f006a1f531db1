//===- KernelEmitter.h - The emitter at work --------------------*- C++ -*-===//
//
// The state of one translation and its parts, one file each:
//
//   Kernel.cpp       signature, prologue, grid, assembly of the text
//   Statements.cpp   blocks, loops, branches
//   Expressions.cpp  arith and math, on scalars and on elements alike
//   Fragments.cpp    runs: elementwise ops as one loop over registers
//   Coordinates.cpp  which element a register is, as text
//   Memory.cpp       tile.load and tile.store
//   Reduce.cpp       reductions
//   Reports.cpp      what is reported to the host
//
// Ops are visited in order. Ops with effects, exchanges between threads and
// products are written where they stand; elementwise ops on fragments are not
// written at all until one of those needs their result. Then everything that
// it needs and that has its layout becomes one loop over registers (a run), in
// which intermediate values are scalars. A value that more than one run uses is
// kept in an array, unless it is cheap to compute again (positions, masks,
// conversions from 16 bits).
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CUDA_KERNELEMITTER_H
#define TILEC_CODEGEN_CUDA_KERNELEMITTER_H

#include "codegen/CUDA/Emitter.h"
#include "codegen/CUDA/RegisterMap.h"
#include "codegen/CUDA/Text.h"

#include "dialects/TileGPU/Analysis/IntegerFacts.h"
#include "dialects/TileGPU/IR/TileGPU.h"
#include "lib/Layout/Scratch.h"
#include "llvm/ADT/DenseSet.h"

#include <functional>
#include <map>
#include <optional>

namespace tilec::layout {
struct ShufflePlan;
} // namespace tilec::layout

namespace tilec::cuda {

struct ReducedBits;
struct OffsetPart;

/// A fragment that is held in an array.
struct Fragment {
  std::string name;
  CType type = CType::F32;
  unsigned registers = 1;
  /// Another value has the same array, so it may not be changed.
  bool isShared = false;
};

/// A tensor in global memory, an argument or a slice of one.
struct View {
  unsigned arg = 0;
  /// A pointer to its first element.
  std::string pointer;
  CType type = CType::F32;
  /// Per dimension of the view that of the argument.
  llvm::SmallVector<unsigned> dims;
  /// Whether it is there at all.
  std::optional<Expr> predicate;
  /// Per dimension of the argument that the view is without: the index there.
  llvm::SmallDenseMap<unsigned, Expr> fixed;
  /// A power of two, in elements, that divides the offset of `pointer` along
  /// the dimension of stride 1.
  int64_t unitDivisor = int64_t(1) << 20;
  bool isReadOnly = false;
};

/// The registers that one iteration of a loop over registers handles.
struct RegisterLoop {
  /// The first of them, from the bits of the loop variable.
  BitMap reg;
  /// Whether there is a variable, which is called r; else the register is 0.
  bool hasVariable = false;
};

class KernelEmitter {
public:
  KernelEmitter(mlir::tile::KernelOp kernel, const EmitOptions &options);
  llvm::Expected<EmittedKernel> emit();

private:
  friend class Run;

  //===--- Kernel.cpp ---===//
  void declareArguments();
  void emitGrid(mlir::scf::ForallOp grid);
  std::string signature(const llvm::StringSet<> &used);
  std::string prologue(const llvm::StringSet<> &used);
  void fillImage();
  std::string argumentName(unsigned arg);
  std::string extentKey(unsigned arg, unsigned dim, llvm::StringRef name);
  /// The extent of a dimension as the kernel knows it.
  Expr extent(mlir::Value view, unsigned dim);
  Expr stride(unsigned arg, unsigned dim);
  /// The type of `index` values.
  CType indexType() const {
    return facts.hasIndex32() ? CType::I32 : CType::I64;
  }

  //===--- Names and places (Kernel.cpp) ---===//
  /// A name that is not taken, as near to `wish` as possible.
  std::string fresh(llvm::StringRef wish);
  /// What the source calls a value, or `otherwise`.
  std::string wishFor(mlir::Value value, llvm::StringRef otherwise);
  /// Writes the source line that an op comes from, if it is another one than
  /// the last.
  void comment(mlir::Operation *op);
  /// Reports what cannot be translated; the text made meanwhile is not used.
  void fail(mlir::Operation *op, const llvm::Twine &message);

  //===--- Statements.cpp ---===//
  void emitBlock(mlir::Block &block);
  /// Forgets the arrays of values from outside that were declared within the
  /// braces that now end; `mark` is what `declared` counted before.
  void leaveScope(mlir::Block &block, size_t mark);
  void emitOp(mlir::Operation *op);
  void emitScalarOp(mlir::Operation *op);
  void emitFor(mlir::scf::ForOp loop);
  void emitIf(mlir::scf::IfOp branch);
  /// Assigns what a yield yields to the variables of `targets`, all at once.
  void emitYield(mlir::Operation *yield, mlir::ValueRange targets);
  /// Whether nothing reads a value after `reader`, so that its array may be
  /// changed: there are no other uses than on paths that exclude it.
  static bool diesAt(mlir::Value value, mlir::Operation *reader);
  void collectNames(mlir::Value value, bool isMoved,
                    llvm::StringMap<bool> &read);
  Expr validExtent(mlir::tile::ValidOp op);
  /// Computes what the regions of `op` use of the deferred values outside.
  void materializeForRegions(mlir::Operation *op);
  /// Declares the variable of a carried value or a result of a branch.
  void declareVariable(mlir::Value value, llvm::StringRef name);

  //===--- Expressions.cpp ---===//
  /// The type that a scalar, or an element of a fragment, has in C++.
  CType typeOf(mlir::Value value);
  /// A scalar: a number, an index, a tensor of rank 0.
  Expr scalar(mlir::Value value);
  /// The result of an elementwise op from its operands' elements.
  Expr compute(mlir::Operation *op, llvm::ArrayRef<Expr> operands);
  Expr computeInteger(mlir::Operation *op, llvm::ArrayRef<Expr> operands);
  Expr computeFloat(mlir::Operation *op, llvm::ArrayRef<Expr> operands);
  Expr computeCast(mlir::Operation *op, const Expr &operand);
  Expr constant(mlir::TypedAttr value, CType type);
  /// An element of a narrow float as f32.
  Expr widen(const Expr &raw);
  Expr padValue(mlir::tile::Pad pad, mlir::Type element);
  Expr combine(mlir::tile::ReduceKind kind, CType type, const Expr &a,
               const Expr &b);
  Expr neutral(mlir::tile::ReduceKind kind, CType type);

  //===--- Coordinates.cpp ---===//
  /// What lane and warp contribute to something, by their bits: the name of a
  /// constant of the prologue, or 0.
  Expr threadExpr(const BitMap &lanes, const BitMap &warps,
                  llvm::StringRef wish);
  /// The part of a coordinate that depends on the thread: a name or 0.
  Expr threadCoordinate(const layout::LinearLayout &layout, unsigned axis);
  /// The part that depends on the register, from the bits of a loop variable.
  BitMap registerCoordinate(const layout::LinearLayout &layout, unsigned axis,
                            const BitMap &reg);
  /// What no thread's coordinate at that register exceeds.
  int64_t greatestCoordinate(const layout::LinearLayout &layout, unsigned axis,
                             unsigned reg);
  /// Whether a coordinate is the sum of both parts.
  bool isSeparable(const layout::LinearLayout &layout, unsigned axis);
  Expr coordinate(const layout::LinearLayout &layout, unsigned axis,
                  const BitMap &reg, llvm::StringRef variable = "r");
  /// True in one of the threads that hold each element; nothing if all do so
  /// alone.
  std::optional<Expr> ownsElements(const layout::LinearLayout &layout);
  /// `position < valid` for all axes that may be cut short; nothing if none is.
  std::optional<Expr> isInside(const layout::LinearLayout &layout,
                               mlir::ValueRange valid, const BitMap &reg);

  //===--- Fragments.cpp ---===//
  bool isFragment(mlir::Value value) {
    return static_cast<bool>(mlir::tilegpu::getLayout(value.getType()));
  }
  static bool isDeferred(mlir::Operation *op);
  /// What computing an element again costs, at most `limit` + 1.
  unsigned cost(mlir::Value value, unsigned limit);
  bool isCheap(mlir::Value value);
  /// The array of a fragment, which is computed now if it is not there.
  Fragment fragment(mlir::Value value);
  /// The same with elements of the type in memory: an i64 may be held as int.
  Fragment fragmentAs(mlir::Value value, CType type);
  /// Computes now what elements of a value need from other layouts, so that it
  /// does not come between what the caller is about to write.
  void prepareFragment(mlir::Value value);
  /// Computes fragments now.
  void materialize(mlir::Value value, mlir::Operation *user = nullptr);
  /// Writes a fragment, computed now or not, to an array that exists.
  void assignFragment(const Fragment &target, mlir::Value value,
                      mlir::Operation *user);
  /// Writes a loop over the registers of fragments of `type`; `body` gets the
  /// elements of `wanted`. `user` is the op that asks.
  void
  loopOver(mlir::RankedTensorType type, mlir::ValueRange wanted,
           mlir::Operation *user,
           llvm::function_ref<void(const RegisterLoop &, llvm::ArrayRef<Expr>)>
               body);
  /// The bare loop: `count` registers in steps of `step`, both powers of two;
  /// those before `first` are left out.
  void forRegisters(unsigned count, unsigned step,
                    llvm::function_ref<void(const RegisterLoop &)> body,
                    unsigned first = 0);
  /// Declares an array for a value; `initializer` is " = {}" or nothing.
  Fragment declareFragment(mlir::Value value, llvm::StringRef wish,
                           llvm::StringRef initializer = "");
  /// Declares an array for `value` that begins as `init`, for `user`.
  Fragment declareCopy(mlir::Value value, llvm::StringRef wish,
                       mlir::Value init, mlir::Operation *user);
  Expr element(const Fragment &fragment, const BitMap &reg);
  Expr elementAt(const Fragment &fragment, const std::string &index);
  /// A pointer to the entry of an array that holds register `loop`.
  std::string entryPointer(const Fragment &fragment, const RegisterLoop &loop);

  //===--- Memory.cpp ---===//
  struct BlockAccess;
  View viewOf(mlir::Value view);
  void emitSlice(mlir::tile::SliceOp op);
  /// The plan for the elements that the threads hold by `layout`. A `vector`
  /// other than 0 is a promise that so many elements are aligned.
  BlockAccess planAccess(mlir::Value view, mlir::ValueRange indices,
                         mlir::ValueRange valid, mlir::Value predicate,
                         llvm::ArrayRef<int64_t> dims,
                         const layout::LinearLayout &layout,
                         unsigned vector = 0);
  /// Finds the accesses to `inout` tensors for which other threads than those
  /// that accessed an element before may do so.
  void findUnordered();
  /// Has all threads finish what stands before such an access.
  void orderAccess(mlir::Operation *op);
  std::string addressOf(const BlockAccess &access, const BitMap &reg);
  std::optional<Expr> mayAccess(const BlockAccess &access, const BitMap &reg);
  std::optional<Expr> insideElsewhere(const BlockAccess &access,
                                      const BitMap &reg);
  Expr countInside(const BlockAccess &access, const BitMap &reg);
  /// The first register whose vector may reach over the end, as far as is known
  /// here: that of each register before is whole in every thread.
  unsigned firstPartial(const BlockAccess &access, unsigned vector);
  /// Opens the branch for vectors that are cut short.
  void openTail(const BlockAccess &access);
  std::string scalarPointer(const View &view, mlir::ValueRange indices);
  void emitLoad(mlir::tile::LoadOp op);
  void emitScalarLoad(mlir::tile::LoadOp op);
  void emitStore(mlir::tile::StoreOp op);
  void emitScalarStore(mlir::tile::StoreOp op);

  //===--- ShiftedAccess.cpp ---===//
  /// The elements of 16 bytes, if a thread holds as many neighbours and the
  /// memory is aligned to less than 4 bytes; else 0.
  static unsigned shiftedVector(const BlockAccess &access);
  void emitShiftedLoad(mlir::tile::LoadOp op, const BlockAccess &access,
                       const Fragment &fragment, unsigned vector,
                       const Expr &pad);
  /// Whether all rows of a tile have rows of the tensor before and behind them,
  /// at higher addresses the higher they are. Notes in `access` what is known
  /// where this holds.
  std::optional<Expr> isAmongRows(mlir::tile::LoadOp op, BlockAccess &access);
  /// Whether some elements of a block may not be accessed: nothing if that
  /// never is, "true" if it always is.
  std::optional<Expr> isPartial(const BlockAccess &access);
  /// How many lanes hold vectors that follow each other, if enough do that
  /// shifted vectors may be stored; else 0.
  unsigned lanesForShiftedStore(const BlockAccess &access);
  void emitShiftedStore(const BlockAccess &access, const Fragment &fragment,
                        unsigned lanes);

  //===--- Gather.cpp ---===//
  /// One element of a view at computed indices.
  struct ElementAccess {
    std::string pointer;
    std::optional<Expr> condition;
    /// The condition without the tests of indices, and these.
    std::optional<Expr> wanted;
    struct Test {
      Expr inRange, index, extent;
    };
    llvm::SmallVector<Test> tests;
  };
  ElementAccess accessElement(mlir::Value view, mlir::ValueRange indices,
                              llvm::ArrayRef<Expr> at, const Expr *mask);
  std::optional<Expr> isInRange(mlir::Value index, const Expr &at,
                                const Expr &extent,
                                std::optional<int64_t> known);
  std::optional<Expr> ownsRegister(const layout::LinearLayout &layout,
                                   const RegisterLoop &loop);
  void emitGather(mlir::tile::GatherOp op);
  void emitScatterAdd(mlir::tile::ScatterAddOp op);
  void emitAtomicAdd(mlir::tile::AtomicAddOp op);

  //===--- Reports.cpp ---===//
  /// The number of a place that reports.
  unsigned siteOf(mlir::Operation *op, SiteKind kind, llvm::StringRef text,
                  mlir::ValueRange values = {});
  /// Calls a function of the prelude for a place.
  std::string callReport(llvm::StringRef function, unsigned site,
                         const llvm::Twine &arguments = "");
  /// In a checked build, reports the indices of a wanted access that are out of
  /// range, from threads for which `condition` holds.
  void reportIndices(mlir::Operation *op, const ElementAccess &access,
                     const std::optional<Expr> &condition);
  void emitInBounds(mlir::tile::InBoundsOp op);
  void emitAssert(mlir::tile::AssertOp op);
  void emitPrint(mlir::tile::PrintOp op);
  void printTile(unsigned site, unsigned number, mlir::Value value,
                 mlir::ValueRange valid, llvm::StringRef line);

  //===--- Search.cpp, Scan.cpp ---===//
  void emitArgReduce(mlir::tile::ArgReduceOp op);
  void emitScan(mlir::tile::ScanOp op);

  //===--- Shared.cpp ---===//
  struct SharedAddress;
  SharedAddress planAddress(const BitMap &lane, const BitMap &warp,
                            llvm::ArrayRef<OffsetPart> parts,
                            llvm::StringRef wish);
  /// The address of a slot, a name; with the thread's part, if that can be.
  std::string bufferBase(mlir::Value buffer, mlir::Value slot,
                         SharedAddress &address);
  std::string bufferName(mlir::Value buffer);
  SharedAddress fragmentAddress(const layout::LinearLayout &layout,
                                const layout::SharedLayout &shared,
                                llvm::StringRef wish);
  /// Writes a fragment to shared memory or reads it; registers that differ in
  /// `vectorBits`, the low bits, are neighbors there.
  void moveFragment(bool isStore, const Fragment &fragment,
                    const layout::LinearLayout &layout,
                    const layout::SharedLayout &shared,
                    llvm::ArrayRef<unsigned> vectorBits,
                    const SharedAddress &plan, llvm::StringRef base);
  /// Declares `target`, whose register r is register order(r) of `source`.
  void permuteRegisters(const Fragment &target, const Fragment &source,
                        const BitMap &order);
  void emitAsyncCopy(mlir::tilegpu::AsyncCopyOp op);
  void emitLocalStore(mlir::tilegpu::LocalStoreOp op);
  void emitLocalLoad(mlir::tilegpu::LocalLoadOp op);
  void emitSharedConversion(mlir::tilegpu::ConvertLayoutOp op);

  //===--- Conversion.cpp ---===//
  void emitConversion(mlir::tilegpu::ConvertLayoutOp op);
  void emitShuffles(mlir::tilegpu::ConvertLayoutOp op,
                    const layout::ShufflePlan &plan);
  void exchangeRegisters(llvm::StringRef array, unsigned count,
                         llvm::ArrayRef<unsigned> constants);

  //===--- Products.cpp, FMADot.cpp ---===//
  struct Tiling;
  struct MMAOperand;
  void emitMMA(mlir::tilegpu::MMAOp op);
  MMAOperand planOperand(mlir::Value value, mlir::Value slot, bool transposed,
                         bool isLeft, const Tiling &tiling,
                         mlir::tilegpu::MMAOp op);
  void declareOperand(const MMAOperand &operand, const Tiling &tiling);
  void loadOperand(const MMAOperand &operand, const Tiling &tiling);
  struct FMAOperand;
  FMAOperand planFMAOperand(mlir::Value value, mlir::Value slot,
                            bool transposed, bool isLeft, unsigned kBits,
                            const layout::LinearLayout &acc);
  void loadFMAOperand(const FMAOperand &operand);
  void emitFMADot(mlir::tilegpu::FMADotOp op);
  /// The accumulator, in an array that the product may change.
  Fragment accumulator(mlir::Value acc, mlir::Operation *product,
                       mlir::Value result);

  //===--- Reduce.cpp ---===//
  std::optional<ReducedBits> reducedBits(mlir::Operation *op,
                                         const layout::LinearLayout &layout,
                                         llvm::ArrayRef<int64_t> axes);
  void emitReduce(mlir::tile::ReduceOp op);
  /// The number of an element in row-major order, from its coordinates.
  Expr flatCoordinateOf(const layout::LinearLayout &layout, const BitMap &reg,
                        llvm::StringRef variable);
  void exchangeParts(
      const layout::LinearLayout &from, const layout::LinearLayout &to,
      const ReducedBits &bits, bool isScalar,
      llvm::function_ref<void(const std::string &, const std::string &)> write,
      llvm::function_ref<void(const std::string &, const std::string &, bool)>
          read);
  std::optional<Expr> bitsAreZero(llvm::StringRef variable, unsigned mask,
                                  unsigned all);
  /// The address of an op's scratch memory.
  std::string scratch(mlir::Operation *op);

  mlir::tile::KernelOp kernel;
  const EmitOptions &options;
  mlir::tilegpu::IntegerFacts facts;
  Writer out;
  bool hasFailed = false;
  bool usesShared = false;

  llvm::StringSet<> names;
  llvm::DenseMap<mlir::Value, Expr> scalars;
  llvm::DenseMap<mlir::Value, Fragment> fragments;
  /// The values whose arrays were declared, in order, for leaving scopes.
  std::vector<mlir::Value> declared;
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseSet<mlir::Operation *> unordered;
  std::vector<std::string> argumentNames;
  /// What parameters are called: extents by the name that a launch has for
  /// them, in the order of their first use, and strides.
  std::vector<std::pair<std::string, std::string>> extentNames;
  std::map<std::pair<unsigned, unsigned>, std::string> strideNames;
  /// The text of thread coordinates, and what they are called.
  std::vector<std::pair<std::string, std::string>> coordinates;
  llvm::SmallVector<llvm::StringRef> sourceLines;
  unsigned lastLine = 0;
  /// The places that report, and the parameter for them.
  llvm::DenseMap<mlir::Operation *, unsigned> sites;
  std::string reportsName;
  gpu::KernelImage image;
  std::vector<HeldTile> heldTiles;
};

/// True in one thread of the block.
Expr isFirstThread();

/// `if (condition) `, or nothing.
std::string guard(const std::optional<Expr> &condition);

} // namespace tilec::cuda

#endif // TILEC_CODEGEN_CUDA_KERNELEMITTER_H

//===- Evaluator.h - Evaluates elaborated kernels ---------------*- C++ -*-===//
//
// The evaluator's state and its parts: Evaluator.cpp runs grids, loops and
// statements and touches tensors, EvaluatorExpr.cpp computes.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_REFERENCE_EVALUATOR_H
#define TILEC_REFERENCE_EVALUATOR_H

#include "lib/Reference/Reference.h"
#include "lib/Reference/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace tilec::reference {

class Evaluator {
public:
  Evaluator(const typed::Kernel &kernel, const BoundLaunch &launch,
            RoundingFacts &facts)
      : kernel(kernel), launch(launch), facts(facts) {}

  void run();

private:
  // Evaluator.cpp
  void runGrid(size_t depth);
  void run(const typed::Body &body);
  void run(const typed::Stmt &stmt);
  void runLoop(const typed::LoopVar &var, llvm::function_ref<void()> body);
  void store(const typed::Store &store);
  void beginAdditions();
  void endAdditions();
  const TensorView &tensor(const typed::Param &param) const;
  /// The position in each dimension of a tensor as values, and the axes they
  /// have together.
  llvm::SmallVector<Value, 4> positions(llvm::ArrayRef<typed::Index> indices,
                                        Space &space);
  int64_t extentOf(const typed::LoopVar &var);
  int64_t extentOf(const typed::Axis &axis);
  /// The positions `axis` covers now: begin and count.
  std::pair<int64_t, int64_t> coverage(const typed::Axis &axis);

  // EvaluatorExpr.cpp
  Value evaluate(const typed::Expr &expr);
  Value unary(const typed::Unary &expr);
  Value binary(const typed::Binary &expr);
  Value math(const typed::Math &expr);
  Value cast(const typed::Cast &expr);
  Value where(const typed::Where &expr);
  Value full(const typed::Full &expr);
  Value load(const typed::Load &expr);
  Value reduce(const typed::Reduce &expr);
  Value scan(const typed::Scan &expr);
  Value dot(const typed::Dot &expr);
  Value random(const typed::Random &expr);
  /// Result and log-sum-exp.
  std::pair<Value, Value> attention(const typed::Attention &expr);
  Value scalarParam(const typed::ScalarParam &expr) const;
  Value along(const typed::Axis &axis);

  struct LoopState {
    int64_t begin = 0, count = 1;
  };
  const typed::Kernel &kernel;
  const BoundLaunch &launch;
  RoundingFacts &facts;
  llvm::DenseMap<const typed::LoopVar *, LoopState> loops;
  llvm::DenseMap<const typed::Var *, Value> vars;
  /// See RoundingFacts::cancellation.
  struct NarrowedSum {
    double magnitude = 0, result = 0; // The greatest of all programs.
  };
  static void noteSum(NarrowedSum &greatest, double magnitude, double result);
  llvm::DenseMap<const typed::Expr *, NarrowedSum> narrowedSums;
};

} // namespace tilec::reference

#endif // TILEC_REFERENCE_EVALUATOR_H
